#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Losses that were none.  A cable that is late or out of order has TCP send again
# what arrives all the same; TCP finds out and takes its reduction back.  quell.ko
# hears of each time it does, and the algorithm gives back what it cut.
#
# TCP's own word for it are the counters TCPLossUndo, TCPFullUndo, TCPPartialUndo and
# TCPDSACKUndo of the sender's namespace.

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./talk.sh

port=7100
sender="" router="" receiver=""
algorithms=(swift swift_vaisf smartt dcqcn dart timely hpcc hpcc_vaisf)

# delay BACK TO...: of ACKs, and netem's words for the direction to the receiver.  Not
# at the sender: TCP knows what waits there, and does not send it again.
delay()
{
	tc -n "$router" qdisc replace dev down0 root netem "${@:2}" &&
	tc -n "$router" qdisc replace dev up0 root netem delay "$1"
}

make_network()
{
	modprobe -a tcp_swift tcp_smartt tcp_dcqcn tcp_dart tcp_timely tcp_hpcc || return 1
	cable "$sender" wire0 "$router" up0 10.91.1.2/24 10.91.1.1/24 &&
	cable "$receiver" wire0 "$router" down0 10.91.2.2/24 10.91.2.1/24 &&
	ip -n "$sender" route add default via 10.91.1.1 &&
	ip -n "$receiver" route add default via 10.91.2.1 &&
	in_netns "$router" sysctl -q -w net.ipv4.ip_forward=1 &&
	ip -n "$sender" link set wire0 gso_max_segs 1 &&
	in_netns "$sender" quell cc set swift base-target 1s ai 1mbit &&
	in_netns "$sender" quell cc set swift_vaisf base-target 1s &&
	in_netns "$sender" quell cc set timely t-low 800ms t-high 900ms &&
	serve "$receiver" "$port" && talker talker "$sender"
}

# tcp_undone: how often TCP took a reduction back, of the whole namespace.
tcp_undone()
{
	in_netns "$sender" cat /proc/net/netstat | awk '
		$1 != "TcpExt:" { next }
		!seen { seen = 1; for (i = 2; i <= NF; i++) name[i] = $i; next }
		{ for (i = 2; i <= NF; i++)
			if (name[i] ~ /^TCP(Loss|Full|Partial|DSACK)Undo$/) sum += $i }
		END { print sum + 0 }'
}

# heard COMMAND...: during it TCP took something back, and quell.ko heard of each.
heard()
{
	local tcp quell

	tcp=$(tcp_undone) quell=$(quell_count "$sender" undone)
	"$@" || return 1
	tcp=$(($(tcp_undone) - tcp)) quell=$(($(quell_count "$sender" undone) - quell))
	echo "TCP took back $tcp, quell.ko heard of $quell"
	[ "$tcp" -gt 0 ] && [ "$tcp" -eq "$quell" ]
}

window_bytes()
{
	quell -n "$sender" -j flow show | jq "[.[] | select(.dport == $port)][0].window_bytes"
}

begin()
{
	delay 10ms delay 10ms &&
	say "open 4" "cc $1" "connect 10.91.2.2 $port" "xfer 300000"
}

# A twentieth of the packets is 50 ms late, looks lost, and arrives after what was sent
# again for it, which DSACK reports.  Mostly: a later recovery may be in between.
out_of_order()
{
	local before i

	before=$(tcp_undone)
	begin "$1" && delay 10ms delay 50ms reorder 95% || return 1
	for ((i = 0; i < 100; i++)); do
		say "xfer 40000" || return 1
		[ "$(tcp_undone)" -eq "$before" ] || break
	done
	delay 10ms delay 10ms && say close
}

# ACKs come after twice the least timeout.
late()
{
	delay 400ms delay 10ms && say "xfer 600000" && delay 10ms delay 10ms
}

# What a timeout leaves would take thousands of round trips to grow again.
given_back()
{
	local before after

	begin "$1" && before=$(window_bytes) && heard late && after=$(window_bytes) &&
	echo "window $before before, $after after" &&
	say close && [ "$before" -gt 10000 ] && [ "$after" -ge "$before" ]
}

new_netns sender router receiver
make_network || exit 1

plan $((${#algorithms[@]} + 2))
for algorithm in "${algorithms[@]}"; do
	check "$algorithm hears of recoveries that were needless" \
		heard out_of_order "$algorithm"
done
for algorithm in swift hpcc; do
	check "$algorithm has its window back after a timeout that was needless" \
		given_back "$algorithm"
done
finish

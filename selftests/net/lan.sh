#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What the README says, on two hosts of ordinary networks: an algorithm is loaded and made
# the default, and nothing else is set.  Each sends a bulk of data, and small messages that
# are answered, as ssh does, before it and beside it; cubic does the same.
#
#	- the bulk takes at most 1 / 0.9 of cubic's time;
#	- a message alone is answered in at most 1.2 of cubic's time, and the median beside the
#	  bulk in at most 1.2 of that, or 1 ms more: others fill the buffer.
#
# And what else happens on networks and hosts: a flow's packets are marked where its algorithm
# does not govern; its path moves, between messages or within a window, so that a timeout was
# spurious; its host has a slow card; a server refuses the data of a SYN; the algorithm of an
# open connection is changed.
#
#	$client wire --- west $router east --- wire $server
#	10.84.1.2     10.84.1.1     10.84.2.1     10.84.2.2

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./talk.sh
. ./routed.sh
. ./suited.sh

port=8400 sink_port=8401 there=10.84.2.2
serving="" begin_us=0 bulk_us=0 window_pkts=0
messages=10 message_bytes=100 think_s=0.005

make_hosts()
{
	load_all && modprobe sch_swport && talker bulk "$client" && talker ssh "$client"
}

# use ALGORITHM: both hosts, as the README has it.
use()
{
	local pid

	for pid in $serving; do
		stop "$pid"
	done
	choose_cc "$client" "$1" && choose_cc "$server" "$1" && serve "$server" "$port" || return 1
	serving=$started
	serve "$server" "$sink_port" sink
	serving+=" $started"
}

# send BYTES: one way; sent: and how long that took, into $bulk_us.
send()
{
	ordered bulk "open 4" "connect $there $sink_port" || return 1
	begin_us=$((10#${EPOCHREALTIME/.}))
	ask bulk "push $1"
}

sent()
{
	told bulk || return 1
	bulk_us=$((10#${EPOCHREALTIME/.} - begin_us))
	ordered bulk reset
}

# With a pause between them, as one types.  The middle one of so many answers' times, into $median_us.
exchange()
{
	local i begin_us times=()

	for ((i = 0; i < messages; i++)); do
		begin_us=$((10#${EPOCHREALTIME/.}))
		ordered ssh "xfer $message_bytes" >/dev/null || return 1
		times+=($((10#${EPOCHREALTIME/.} - begin_us)))
		sleep "$think_s"
	done
	median_us=$(printf '%s\n' "${times[@]}" | sort -n | sed -n "$((messages / 2))p")
}

# talk_and_send BYTES: into $alone_us, $bulk_us, $beside_us.
talk_and_send()
{
	ordered ssh "open 4" "connect $there $port" && exchange || return 1
	alone_us=$median_us
	send "$1" && exchange || return 1
	beside_us=$median_us
	sent && ordered ssh close
}

declare -A cubic

# out_of_the_box ALGORITHM RATE DELAY PACKETS BYTES
out_of_the_box()
{
	path "$2" "$3" "$4" && use "$1" && talk_and_send "$5" || return 1
	[ "$1" != cubic ] || cubic=([bulk]=$bulk_us [alone]=$alone_us [beside]=$beside_us)
	note "$1, us: bulk $bulk_us, message alone $alone_us, beside the bulk $beside_us;" \
		"dropped: $(counted drops)" >&3
	[ $((bulk_us * 9)) -le $((cubic[bulk] * 10)) ] &&
	[ $((alone_us * 10)) -le $((cubic[alone] * 12)) ] &&
	[ $((beside_us * 10)) -le $((cubic[beside] * 12 + 10000)) ]
}

# By the router's card to the server: one number of what it counted.
counted()
{
	tc -n "$router" -s -j qdisc show dev east | jq "[.[].$1 // 0] | max"
}

# marks_are_heard ALGORITHM: by a flow whose path is longer than its algorithm is for.  What
# is never dropped is never late.
marks_are_heard()
{
	local netns

	for netns in "$client" "$server"; do
		in_netns "$netns" sysctl -q -w net.ipv4.tcp_ecn=1
	done
	path 1gbit 2ms 2000 && tc -n "$router" qdisc del dev east root &&
	tc -n "$router" qdisc add dev east root handle 1: tbf rate 100mbit burst 5kb limit 1mb &&
	tc -n "$router" qdisc add dev east parent 1:1 handle 2: red limit 1mb min 20kb max 60kb \
		avpkt 1500 burst 15 probability 1 bandwidth 100mbit ecn &&
	use "$1" && send 6000000 && sent || return 1
	note "$1: marked $(counted marked), dropped $(counted drops), $bulk_us us" >&3
	[ "$(counted marked)" -gt 0 ] && [ "$(counted drops)" -eq 0 ]
}

# own_queue ALGORITHM: on a slow card, the longest there was into $own_bytes.
own_queue()
{
	path 1gbit 25us 2000 &&
	tc -n "$client" qdisc replace dev wire root swport rate 100mbit limit 4mb && use "$1" &&
	send 3000000 && sent || return 1
	own_bytes=$(tc -n "$client" -s -j qdisc show dev wire | jq '.[0].data_backlog_max_bytes')
	note "$1: $own_bytes bytes in the card's queue" >&3
	tc -n "$client" qdisc del dev wire root && [ "$own_bytes" -gt 0 ]
}

own_queue_is_short()
{
	own_queue cubic && cubic[own]=$own_bytes && own_queue "$1" &&
	[ "$own_bytes" -le $((2 * cubic[own])) ]
}

# path_moves ALGORITHM: while the stack or fq may pace; wherever in the search it happens.
path_moves()
{
	local before i took_us longest_us=0

	use "$1" && tc -n "$client" qdisc replace dev wire root fq || return 1
	for ((before = 56; before < 64; before++)); do
		path 1gbit 5us 1000 && ordered bulk "open 4" "connect $there $port" || return 1
		for ((i = 0; i < before; i++)); do
			ordered bulk "xfer 1000" >/dev/null || return 1
		done
		path 1gbit 95ms 1000
		for ((i = 0; i < 4; i++)); do
			begin_us=$((10#${EPOCHREALTIME/.}))
			ordered bulk "xfer 1000" || return 1
			took_us=$((10#${EPOCHREALTIME/.} - begin_us))
			[ "$took_us" -le "$longest_us" ] || longest_us=$took_us
		done
		ordered bulk reset
	done
	tc -n "$client" qdisc del dev wire root
	note "$1: longest answer $longest_us us" >&3
	[ "$longest_us" -lt 1000000 ]
}

# rto_min TIME: of the client.
rto_min()
{
	ip -n "$client" route change default via 10.84.1.1 rto_min "$1"
}

# has_arrived BYTES: at the router's card to the server, within 0.1 s, looked at each ms.
has_arrived()
{
	local i

	for ((i = 0; i < 100; i++)); do
		[ "$(counted bytes)" -lt "$1" ] || return 0
		sleep 0.001
	done
	return 1
}

# A timeout that was spurious ends no search.  What cubic remembers of the path would.
detour_does_no_harm()
{
	local device

	path 1gbit 1ms 20000 && use "$1" && ip -n "$client" tcp_metrics flush all &&
	rto_min 20ms && send 20000000 && has_arrived 100000 || return 1
	for device in west east; do
		tc -n "$router" qdisc change dev "$device" root netem rate 1gbit delay 30ms \
			limit 20000 || return 1
	done
	sent && rto_min 200ms || return 1
	[ "$1" != cubic ] || cubic[detour]=$bulk_us
	note "$1: $bulk_us us" >&3
	[ $((bulk_us * 9)) -le $((cubic[detour] * 10)) ]
}

# What TCP says of an open connection, into $window_pkts.
look()
{
	ordered bulk window || return 1
	window_pkts=${answer##* }
}

# A client may send data with its SYN, the server does not take it: nothing was lost.
refused_data_does_no_harm()
{
	path 1gbit 10ms 20000 && use "$1" &&
	in_netns "$client" sysctl -q -w net.ipv4.tcp_fastopen=5 &&
	in_netns "$server" sysctl -q -w net.ipv4.tcp_fastopen=0 &&
	ordered bulk "open 4" fastopen "connect $there $port" "xfer 500" fastopened || return 1
	[ "${answer##* }" = 0 ] && look && note "$1: window $window_pkts" >&3 &&
	ordered bulk reset && [ "$window_pkts" -ge 10 ]
}

# change_keeps_window ALGORITHM: of a connection of cubic's that has lost packets.
change_keeps_window()
{
	local before

	path 1gbit 2ms 100 && use cubic &&
	ordered bulk "open 4" "connect $there $port" "xfer 5000000" && look || return 1
	before=$window_pkts
	[ "$(counted drops)" -gt 1 ] && ordered bulk "cc $1" && look || return 1
	note "$1: window $before, then $window_pkts" >&3
	ordered bulk "xfer 1000000" reset && [ "$window_pkts" -ge "$before" ]
}

# beside_switches ALGORITHM: how long a bulk of cubic's takes, into $bulk_us, and what is dropped,
# beside a flow that goes from that algorithm to reno and back in the middle of its data.
beside_switches()
{
	local i

	path 100mbit 5ms 60 && use cubic &&
	ordered ssh "open 4" "cc $1" "connect $there $sink_port" && send 10000000 || return 1
	for ((i = 0; i < 30; i++)); do
		ordered ssh "send 200000" "cc reno" "cc $1" >/dev/null || return 1
	done
	sent && ordered ssh reset
}

# Who switches begins no search anew: it has what it gets of the kernel's own.
switching_gains_nothing()
{
	beside_switches cubic && cubic[switch]=$bulk_us && cubic[lost]=$(counted drops) &&
	beside_switches "$1" || return 1
	note "$1: $bulk_us us, dropped $(counted drops); cubic ${cubic[switch]} us, dropped" \
		"${cubic[lost]}" >&3
	[ $((bulk_us * 9)) -le $((cubic[switch] * 10)) ] &&
	[ "$(counted drops)" -le $((2 * cubic[lost])) ]
}

exec 3>&1
require "two hosts and a router" eval 'routed_network 84 && packets && make_hosts'
read -ra all -d "" <<<"$(algorithms)"
lan=(cubic "${all[@]}")
# Whatever has no signal of its own here is CUBIC there.
wan=(cubic swift timely hpcc)
plan $((${#lan[@]} + 2 * ${#wan[@]} + 7 + 4 + 3 + 3 + 2))
for algorithm in "${lan[@]}"; do
	check "a LAN of 1 Gbit/s: $algorithm" out_of_the_box "$algorithm" 1gbit 25us 300 5000000
done
for algorithm in "${wan[@]}"; do
	check "an uplink of 20 Mbit/s: $algorithm" out_of_the_box "$algorithm" 20mbit 2ms 100 1000000
done
for algorithm in "${wan[@]}"; do
	check "a path of 10 ms: $algorithm" out_of_the_box "$algorithm" 1gbit 5ms 1000 10000000
done
for algorithm in swift timely; do
	check "a path that becomes longer: $algorithm" path_moves "$algorithm"
done
for algorithm in swift hpcc; do
	check "a queue on the host's own card: $algorithm" own_queue_is_short "$algorithm"
done
for algorithm in cubic swift hpcc; do
	check "marks where CUBIC governs: $algorithm" marks_are_heard "$algorithm"
done
for algorithm in cubic swift smartt hpcc; do
	check "a detour within a window: $algorithm" detour_does_no_harm "$algorithm"
done
for algorithm in cubic swift smartt; do
	check "Fast Open data refused: $algorithm" refused_data_does_no_harm "$algorithm"
done
for algorithm in swift smartt hpcc; do
	check "algorithm changed: $algorithm" change_keeps_window "$algorithm"
done
for algorithm in swift smartt; do
	check "algorithm changed again and again: $algorithm" switching_gains_nothing "$algorithm"
done
finish

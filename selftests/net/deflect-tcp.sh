#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Deflection of TCP connections: by SYN, and by the Quell option's START, to a port that
# gets bursts and cuts them; below in-tree parents.  Order is what TCP at both ends says.
# shellcheck disable=SC2119,SC2153,SC2154 # of deflect-net.sh

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./deflect-net.sh
. ./talk.sh

PORT=7001
TOS=16		# DSCP 4: as many tokens

make_hosts()
{
	local netns

	modprobe tcp_swift || return 1
	for netns in "$near" "$far"; do
		choose_cc "$netns" swift &&
		in_netns "$netns" quell cc set swift base-target 100ms &&
		in_netns "$netns" quell cc set quell option 1 || return 1
	done
	serve "$far" "$PORT" && talker talker "$near"
}

# counters_of NETNS NAME...: of its TCP.
counters_of()
{
	local netns=$1
	shift

	in_netns "$netns" cat /proc/net/netstat /proc/net/snmp | awk -v wanted=" $* " '
		!($1 in keys) { keys[$1] = $0; next }
		{
			n = split(keys[$1], key)
			split($0, value)
			for (i = 2; i <= n; i++)
				if (index(wanted, " " key[i] " "))
					print key[i], value[i]
			delete keys[$1]
		}'
}

# What tells that a packet of near's overtook another, or got lost.  Far may send
# again: its tail probes wait for ACKs that have a slow packet before them.
disorder()
{
	{
		counters_of "$near" TCPSACKReorder TCPTSReorder TCPDSACKRecv RetransSegs &&
		counters_of "$far" TCPOFOQueue
	} >"$dir/disorder.$1" && [ "$(wc -l <"$dir/disorder.$1")" -eq 5 ]
}

nothing_out_of_order()
{
	disorder after && diff "$dir/disorder.before" "$dir/disorder.after"
}

# Commands with a | between.
connect4="open 4|tos $TOS|connect 10.73.30.1 $PORT"
connect6="open 6|tos $TOS|connect fd73:30::1 $PORT"

say_all()
{
	local commands

	IFS='|' read -ra commands <<<"$1"
	say "${commands[@]}"
}

# SYN, FIN, and twice 14 or 15 segments: all that is not a pure ACK goes the other way.
begins_with_the_syn()
{
	deflect=(deflect threshold 5000 idle 200ms)
	both_ports && disorder before && flood "$1" && say_all "$2" &&
	say "xfer 20000" "xfer 20000" close && ebb &&
	port_is '.deflect_flows >= 1 and .deflect_pkts >= 30 and .deflect_tokens == .deflect_pkts and
		.deflect_lost_pkts == 0 and .deflect_out_drop_pkts == 0' &&
	nothing_out_of_order && books_balance
}

# burst COUNT: segments TCP hands over as one, at most.
burst()
{
	ip -n "$near" link set near0 gso_max_segs "$1"
}

# A connection that was there before the queue: each message is a start, by START, and
# whatever is idle for less than the idle time.  Here that is not over in the test.
# begins_with_start TO CONNECT BURST [OPTION]
begins_with_start()
{
	deflect=(${4:+"$4"} deflect threshold 5000 idle 4s)
	both_ports && disorder before && burst "$3" && say_all "$2" && say "xfer 300" &&
	flood "$1" && say "xfer 20000" "xfer 20000" "xfer 300" && ebb &&
	port_is '.deflect_flows >= 3 and .deflect_pkts >= 29 and .deflect_tokens == .deflect_pkts' &&
	{ [ "$3" = 1 ] || port_is '.gso_split_pkts > 0'; } &&
	say close && nothing_out_of_order && books_balance
}

# Without the option nothing proves that the messages before have arrived.  The flood is
# little more than the port's rate: all of it waits there, and no packet is dropped.  What
# waits so long is probed for, so TCP's counters of order tell nothing here.
stays_in_the_queue()
{
	local slow=(rate 4mbit limit 100000)

	deflect=(deflect threshold 5000 idle 4s)
	both_ports && say_all "$connect4" && say "xfer 300" &&
	flood 10.73.30.1 2000 && say "xfer 3000" && long && ebb &&
	port_is '.deflect_pkts == 0 and .data_drop_pkts == 0' && say close && books_balance
}

no_option_no_start()
{
	local status=0

	in_netns "$near" quell cc set quell option 0 && stays_in_the_queue || status=1
	ebb
	in_netns "$near" quell cc set quell option 1 && return "$status"
}

# under KIND OPTION...: swport below another qdisc.
under()
{
	A_tc qdisc del dev up2 root 2>/dev/null
	A_tc qdisc del dev up1 root 2>/dev/null
	A_tc qdisc add dev up1 root handle 1: "$@" &&
	A_tc qdisc add dev up1 parent 1:1 handle 2: swport "${slow[@]}" "${deflect[@]}" \
		"${via2[@]}"
}

parents_are_quiet()
{
	A_tc -s -j qdisc show dev up1 >"$dir/all" && json 'all(.backlog == 0 and .qlen == 0)' "$dir/all"
}

deflects_below()
{
	deflect=(deflect threshold 5000 idle 200ms)
	under "$@" && disorder before && burst 44 && flood 10.73.30.1 && say_all "$connect4" &&
	say "xfer 20000" "xfer 20000" close && ebb &&
	port_is '.deflect_flows >= 1 and .deflect_pkts >= 30 and .deflect_tokens == .deflect_pkts' &&
	nothing_out_of_order && books_balance && poll 10 parents_are_quiet
}

plan 11
check "network of two leaves and two spines" make_network
check "hosts that speak the option" make_hosts
check "a connection is deflected from its SYN on" begins_with_the_syn 10.73.30.1 "$connect4"
check "one of IPv6 is" begins_with_the_syn fd73:30::1 "$connect6"
check "one that was there is from START on, packet by packet" \
	begins_with_start 10.73.30.1 "$connect4" 1
check "in bursts that the port cuts" begins_with_start 10.73.30.1 "$connect4" 44
check "in bursts that are whole until they are deflected" \
	begins_with_start 10.73.30.1 "$connect4" 44 no-split-gso
check "without the option it is not" no_option_no_start
check "below prio" deflects_below prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
check "below tbf" deflects_below tbf rate 100mbit burst 20k limit 1mb
check "below netem" deflects_below netem limit 1000 delay 20us
finish

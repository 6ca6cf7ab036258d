#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Super-packets at the switch port: which stay whole, that what becomes of them is what
# becomes of their segments, and that a burst is not taken for a queue.
#
# The device has neither TSO nor checksums: what leaves the port whole is cut behind it, so
# the far end sees the same frames.  A port with a rate splits by default, hence "no-split-gso".

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./port.sh

# A Quell option with an empty telemetry record, and a TCP-INT option.
record=fe1851550500039801020304000000000000000000000000
tcp_int=720c00000000000000000000
header=78

make_devices()
{
	make_network && in_netns "$near" ethtool -K va tx off tso off gso on >/dev/null &&
	ip -n "$near" link add alt type dummy && ip -n "$near" link set alt up &&
	ip -n "$near" addr add 10.75.0.1/24 dev alt &&
	command -v swport_pkt && command -v ip_pkt
}

## whole or cut

# Ten segments of 1054 bytes are one packet in the queue, and ten for the counters.
stays_whole()
{
	port "${held[*]}" no-split-gso limit 11540 && listen 12 && transmit udp 1 1000 &&
	transmit gso 1 10054 && transmit udp 1 1000 &&
	port_is '.qlen == 2 and .backlog == 11540 and .data_backlog_bytes == 11540 and
		.data_backlog_max_bytes == 11540 and .data_drop_pkts == 0' &&
	release &&
	frames_are '{ printf "%s%s:%s\n", $2, $3, $6 }' \
		"udp0:1000 tcp0:1054 tcp1:1054 tcp2:1054 tcp3:1054 tcp4:1054 tcp5:1054 tcp6:1054 tcp7:1054 tcp8:1054 tcp9:1054 udp0:1000 " &&
	port_is '.gso_whole_pkts == 1 and .gso_split_pkts == 0 and .data_pkts == 12 and
		.data_bytes == 12540' && books_balance
}

# One byte less, and the last segment is dropped.
cut_where_one_segment_does_not_fit()
{
	port "${held[*]}" no-split-gso limit 10539 && transmit udp 1 1000 &&
	transmit gso 1 10054 &&
	port_is '.qlen == 9 and .backlog == 9486 and .data_drop_pkts == 1 and
		.data_drop_bytes == 1054 and .gso_split_pkts == 1'
}

# whole_is WANT RATE [OPTION]...: does a super-packet stay whole?  1: yes.
whole_is()
{
	local want=$1 rate=$2
	shift 2

	port rate "$rate" "$@" && listen 10 && transmit gso 1 10054 && collect &&
	port_is ".gso_whole_pkts == $want and .gso_split_pkts == 1 - $want" && books_balance
}

rate_splits_by_default()
{
	whole_is 0 10gbit && whole_is 1 0 && whole_is 1 10gbit no-split-gso &&
	whole_is 0 0 split-gso && whole_is 0 10gbit split-gso auto &&
	port no-split-gso && change rate 1gbit &&
	near_tc qdisc show dev va | grep -q ' no-split-gso ' && port_is '.options.split_gso == false' &&
	change split-gso && near_tc qdisc show dev va | grep -q ' split-gso ' &&
	port_is '.options.split_gso == true' && change split-gso auto &&
	port_is '.options | has("split_gso") | not'
}

kernel_refuses_other_modes()
{
	port && kernel_refuses "out of range [32]" split-gso=3
}

# At 10 Mbit/s the frame behind ten segments leaves 16.432 ms after the first of them,
# whether they left together or one by one.  swport makes good for a timer 1 ms late.
wire_counts_each_segment()
{
	local mode took

	for mode in split-gso no-split-gso; do
		port rate 80bit "$mode" limit 50kb overhead 1000 && listen 12 && transmit udp 1 1000 &&
		transmit gso 1 10054 && transmit udp 1 1000 && change rate 10mbit && collect &&
		took=$(awk '$2 == "tcp" && !first { first = $1 } { last = $1 }
			END { print last - first }' "$dir/frames") &&
		echo "$mode: $took ns" && ((took >= 16432000 - 1100000)) || return 1
		is_virtual || continue
		((took >= 16432000 - 20 && took <= 16432000 + 40)) || return 1
	done
}

## the same as by segment

# What counts of a port, in $dir/port; buffers take more in pieces.
essence()
{
	jq -S 'del(.options, .qlen, .overlimits, .gso_split_pkts, .gso_whole_pkts, .data_sojourn_ns,
		.memory_used_bytes,
		.data_depth_bytes, .control_depth_bytes, .control_sojourn_ns)' "$dir/port"
}

# outcome MODE OPTIONS TRAFFIC...: what comes of it, in $dir/MODE: the counters while the
# port is held, then the counters and the frames.
outcome()
{
	local mode=$1 options=$2 words
	shift 2

	port "${held[*]}" "$mode" "$options" && transmit udp 1 1000 || return 1
	for words; do
		# shellcheck disable=SC2086 # words on purpose
		transmit $words || return 1
	done
	port_is true && essence >"$dir/$mode" && listen "${frames:=$(jq .qlen "$dir/port")}" &&
	release && poll 10 books_balance && essence >>"$dir/$mode" &&
	cut -d ' ' -f 2- "$dir/frames" >>"$dir/$mode" && grep -q '^tcp' "$dir/$mode"
}

# same WHOLE OPTIONS TRAFFIC...: with that many super-packets whole in the other mode.
# $frames is how many leave, where some are dropped late.
same()
{
	local want=$1 frames=${frames:-}
	shift

	outcome split-gso "$@" && port_is '.gso_whole_pkts == 0 and .gso_split_pkts > 0' &&
	outcome no-split-gso "$@" && port_is ".gso_whole_pkts == $want" &&
	diff "$dir/split-gso" "$dir/no-split-gso"
}

# A flow that neither starts nor is deflected; what waits would let it start.
same_with_deflection()
{
	local mode want=0

	for mode in split-gso no-split-gso; do
		port rate 1mbit "$mode" limit 50kb deflect threshold 1 tokens 0 1 idle 1s \
			via 10.75.0.2 dev alt && listen 20 && transmit gso 2 10054 0 1 && collect &&
		books_balance && port_is ".gso_whole_pkts == $want and .deflect_pkts == 0 and
			.deflect_no_token_pkts == 0 and .deflect_recent_pkts == 0" || return 1
		want=2
	done
}

## marks

# Sixty segments, and the next when they have left: on a wire of 1 Gbit/s it looks every 50 ms
# of virtual time, 1 % of load.
lone_bursts_are_not_marked()
{
	local mode

	for mode in split-gso no-split-gso; do
		port rate 1gbit "$mode" limit 1mb ecn min 22500 && listen 600 || return 1
		for ((i = 0; i < 10; i++)); do
			transmit gso 1 60054 2 && poll 10 port_is '.qlen == 0' || return 1
		done
		collect && frames_are '$4 == 3' "" && port_is '.mark_pkts == 0 and .data_pkts == 600' ||
			return 1
	done
}

# What is behind the burst is a queue; at enqueue, what is before it.
bursts_are_marked_for_others()
{
	local mode

	for mode in split-gso no-split-gso; do
		port "${held[*]}" "$mode" ecn min 2000 && listen 13 && transmit udp 1 1000 &&
		transmit gso 1 10054 2 && transmit udp 2 1000 2 && release &&
		frames_are '$4 == 3 { printf "%s%s\n", $2, $3 }' \
			"tcp0 tcp1 tcp2 tcp3 tcp4 tcp5 tcp6 tcp7 tcp8 tcp9 " &&
		port_is '.mark_pkts == 10 and .mark_bytes == 10540' &&
		port "${held[*]}" "$mode" ecn enqueue min 2000 && listen 23 && transmit udp 3 1000 2 &&
		transmit gso 2 10054 2 && release &&
		frames_are '$4 == 3' "$(awk '$4 == 3' "$dir/frames" | tr '\n' ' ')" &&
		port_is '.mark_pkts == 20 and .mark_bytes == 21080' || return 1
	done
}

## writing to segments

say()
{
	in_netns "$near" ip_pkt send va gso=946 bytes=$((header + 9460)) "$@"
}

# The burst has waited whole, and the queue it is judged by is what is behind it.
record_cuts_at_dequeue()
{
	port "${held[*]}" no-split-gso telemetry 1s limit 50kb && hear ip_pkt 11 &&
	in_netns "$near" ip_pkt send va options="$record" bytes=1024 && say options="$record" &&
	port_is '.qlen == 1 and .backlog == 10240 and .gso_split_pkts == 0' &&
	change rate 100gbit && heard &&
	packets_are 'all(.check == "good") and
		[.[].hop] == [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1] and .[10].queue == 0' &&
	port_is '.gso_split_pkts == 1 and .gso_whole_pkts == 0 and .stamp_pkts == 2' && books_balance
}

# Nobody asks for an ACK, or a worse hop has written before: nothing to be cut for.
no_record_no_cut()
{
	port "${held[*]}" no-split-gso telemetry 1s limit 50kb && hear ip_pkt 22 &&
	in_netns "$near" ip_pkt send va options="$record" bytes=1024 count=2 &&
	say options="$record" flags=10 &&
	say options="${record:0:24}01ff00000000000000000000" &&
	change rate 100gbit && heard && packets_are 'all(.check == "good")' &&
	port_is '.gso_split_pkts == 0 and .gso_whole_pkts == 2 and .stamp_pkts == 2 and
		.stamp_kept_pkts == 1' && books_balance
}

tcp_int_is_written_to_the_whole()
{
	port rate 10gbit no-split-gso tcp-int 1ms && hear ip_pkt 10 &&
	say options="$tcp_int" bytes=$((66 + 9460)) &&
	heard && packets_are 'length == 10 and all(.check == "good" and
		.options[0:4] == "720c" and .options[8:10] == "3f")' &&
	port_is '.int_pkts == 10 and .gso_whole_pkts == 1'
}

# Ten of one super-packet, which find the queue that its first segment finds.
percentiles_count_segments()
{
	port "${held[*]}" no-split-gso percentiles on && listen 13 && transmit udp 3 1000 &&
	transmit gso 1 10054 && release &&
	port_is '.data_depth_bytes.count == 13 and .data_depth_bytes.max == 2000 and
		.data_sojourn_ns.count == 13' && books_balance
}

## parents

# agree FILTER: the parent and the port have as many packets, and as many bytes, and it is
# true of the port.
agree()
{
	tree_is "[.[] | select(.handle == \"1:\" or .handle == \"2:\")] | length == 2 and
		.[0].qlen == .[1].qlen and .[0].backlog == .[1].backlog and (.[1] | $1)"
}

# parent KIND: as root, with a class 1:1 for everything.
parent()
{
	near_tc qdisc del dev va root 2>/dev/null
	case $1 in
	prio) near_tc qdisc add dev va root handle 1: prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 ;;
	tbf) near_tc qdisc add dev va root handle 1: tbf rate 1gbit burst 100kb limit 1mb ;;
	netem) near_tc qdisc add dev va root handle 1: netem limit 1000 ;;
	ets) near_tc qdisc add dev va root handle 1: ets bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 ;;
	htb) near_tc qdisc add dev va root handle 1: htb default 1 &&
		near_tc class add dev va parent 1: classid 1:1 htb rate 1gbit ceil 1gbit ;;
	esac
}

# A whole super-packet, one cut at enqueue and one cut at dequeue: as many packets and
# bytes in the parent as in the port at every step.
parent_agrees()
{
	parent "$1" &&
	near_tc qdisc add dev va parent 1:1 handle 2: swport "${held[@]}" no-split-gso \
		telemetry 1s limit 35000 &&
	in_netns "$near" ip_pkt send va options="$record" bytes=1024 &&
	say options="$record" && say options="$record" flags=10 && transmit udp 1 1000 &&
	poll 10 agree '.qlen == 3 and .backlog == 21480' && transmit gso 2 10054 &&
	agree '.qlen == 6 and .backlog == 34128 and .data_drop_pkts == 8 and
		.gso_split_pkts == 1' &&
	near_tc qdisc change dev va parent 1:1 handle 2: swport rate 8kbit &&
	poll 10 agree '.gso_split_pkts == 2' && agree '.qlen > 9' &&
	near_tc qdisc change dev va parent 1:1 handle 2: swport rate 10gbit &&
	poll 10 agree '.qlen == 0' && books_balance &&
	port_is '.gso_whole_pkts == 2 and .data_pkts == 34 and .stamp_pkts == 2'
}

## connections

# What far has received by vb: packets and bytes, headers of Ethernet included.
received()
{
	ip -n "$far" -s -j link show vb | jq -c '.[0].stats64.rx | [.packets, .bytes]'
}

# Those since $before are what the port has counted.
wire_agrees()
{
	port_is "[$before, $(received)] as [\$old, \$new] |
		.packets == \$new[0] - \$old[0] and .bytes == \$new[1] - \$old[1]"
}

takes_all='import socket, sys
listener = socket.create_server(("", int(sys.argv[1])), family=socket.AF_INET6, dualstack_ipv6=True)
taken = listener.accept()[0]
while taken.recv(1 << 20):
    pass'
sends='import socket, sys
with socket.create_connection(sys.argv[1:3]) as to:
    to.sendall(bytes(int(sys.argv[3])))'

# counts_the_wire ADDRESS COUNTER: the port's packets and bytes of a connection are those that
# come, and the counter tells of some super-packets.
counts_the_wire()
{
	local before server

	port rate 1gbit no-split-gso && before=$(received) || return 1
	in_netns "$far" python3 -c "$takes_all" 5201 >"$dir/server" 2>&1 &
	server=$!
	defer kill "$server"
	poll 10 listens "$far" 5201 &&
	in_netns "$near" python3 -c "$sends" "$1" 5201 2000000 && wait "$server" &&
	poll 10 port_is ".data_bytes > 2000000 and .$2 > 10" && poll 10 books_balance &&
	poll 10 wire_agrees
}

# IPv6 packets of up to 190000 bytes have a header that none of their segments has.
counts_big_tcp()
{
	in_netns "$near" sysctl -qw net.ipv6.conf.va.disable_ipv6=0 &&
	in_netns "$far" sysctl -qw net.ipv6.conf.vb.disable_ipv6=0 &&
	ip -n "$near" addr add fd72::1/64 dev va nodad &&
	ip -n "$far" addr add fd72::2/64 dev vb nodad && poll 10 has_no_tentative &&
	ip -n "$near" link set va gso_max_size 190000 && counts_the_wire fd72::2 gso_split_pkts
}

has_no_tentative()
{
	[ -z "$(ip -n "$near" -6 addr show tentative)$(ip -n "$far" -6 addr show tentative)" ]
}

make_addresses()
{
	ip -n "$near" addr add 10.72.0.1/24 dev va && ip -n "$far" addr add 10.72.0.2/24 dev vb
}

# A guest says where the transport begins; what the port counts is what IP says.
false_offset_has_no_length()
{
	port no-split-gso limit 50kb && listen 1 && transmit lie 1 10054 && transmit udp 1 1000 &&
	collect && books_balance &&
	port_is '.gso_whole_pkts == 0 and .alloc_fail_pkts == 1 and .data_pkts == 1'
}

parents=(prio tbf netem)
# The laboratory's other kernel has no more.  Under hfsc, drr and qfq a port may have no
# rate, by which it is held here.
! [ -e /sys/kernel/debug/kmemleak ] || parents+=(ets htb)

plan $((25 + ${#parents[@]}))
check "a network of two, and the frame makers" make_devices
loaded sch_swport || modprobe sch_swport
check "a super-packet stays whole" stays_whole
check "it is cut where one segment does not fit" cut_where_one_segment_does_not_fit
check "with a rate it is split by default, and as options say" rate_splits_by_default
check "a false place of the header makes no lengths" false_offset_has_no_length
check "the kernel refuses other modes" kernel_refuses_other_modes
check "the wire counts each segment" wire_counts_each_segment
check "the same: room for all" same 2 "limit 50kb" "gso 1 10054" "udp 2 500" "gso 1 9999"
check "the same: room for some" same 1 "limit 15kb" "gso 2 10054" "udp 1 100"
check "the same: marks by what is behind" same 3 "limit 50kb ecn min 3000" "gso 3 10054 2" "udp 2 500 2"
check "the same: marks by what is before" same 3 "limit 50kb ecn enqueue min 3000" "gso 3 10054 2"
check "the same: what cannot be marked is dropped" \
	eval 'frames=11 same 1 "limit 50kb ecn min 3000 drop" "gso 2 10054" "udp 1 1000 2"'
check "the same: a shared buffer" same 1 "buffer 20000 alpha 2" "gso 2 10054"
check "the same: trimming" same 1 "limit 15kb trim size 128 eligible all" "gso 2 10054"
check "the same: network control" same 2 "limit 50kb" "gso 2 10054 0 48"
check "the same: overhead, percentiles, telemetry, TCP-INT without options" \
	same 2 "limit 50kb overhead 24 percentiles on telemetry 1s tcp-int 1ms" "gso 2 10054"
check "the same: deflection that is idle" same_with_deflection
check "lone bursts are not marked" lone_bursts_are_not_marked
check "bursts are marked for others' packets" bursts_are_marked_for_others
check "a telemetry record cuts it as it leaves" record_cuts_at_dequeue
check "without a record to write it is not cut" no_record_no_cut
check "TCP-INT is written to the whole" tcp_int_is_written_to_the_whole
check "percentiles count each segment" percentiles_count_segments
for kind in "${parents[@]}"; do
	check "under $kind, packets and bytes are the same at every step" parent_agrees "$kind"
done
check "packets and bytes of a connection are the wire's" \
	eval "make_addresses && counts_the_wire 10.72.0.2 gso_whole_pkts"
check "and of one in packets above 64 KB" counts_big_tcp
finish

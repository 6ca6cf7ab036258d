#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# In-order flow deflection: options, refusals, table, tokens, order, and alternates
# that go away under load.

# shellcheck disable=SC2154 # new_netns sets variables by name
cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./deflect-net.sh

## options

# refused TEXT OPTION...: by the kernel or tc, and the port is as it was.
refused()
{
	local before text=$1
	shift

	before=$(option)
	refuses "$text" A_tc qdisc change dev up1 root swport "$@" &&
	[ "$(option)" = "$before" ]
}

bad_options_change_nothing()
{
	ip -n "$A" link add narrow type dummy && ip -n "$A" link set narrow mtu 1000 up &&
	port up1 limit 100kb ecn min 60kb deflect threshold 15kb "${via2[@]}" &&
	refused 'threshold must be below ecn min' deflect threshold 60kb &&
	refused 'threshold must be below ecn min' ecn min 15kb &&
	refused 'threshold must be below limit' noecn deflect threshold 100kb &&
	refused 'threshold must be below limit' noecn limit 15kb &&
	refused 'bad deflect threshold' deflect threshold 2gb &&
	refused 'threshold: at this rate more than' deflect threshold 2s rate 10gbit &&
	refused 'threshold: at this rate more than' deflect threshold 4s rate 100gbit &&
	refused 'bad deflect entries' deflect entries 65 &&
	refused 'bad deflect entries' deflect entries -1 &&
	refused "bad deflect tokens' base" deflect tokens 48 1 &&
	refused 'bad deflect tokens' deflect tokens 0 16 &&
	refused 'base plus maximum' deflect tokens 44 4 &&
	refused 'bad deflect idle' deflect idle off &&
	refused 'bad deflect idle' deflect idle 999ns &&
	refused 'bad deflect release "soon": must be idle or end' deflect release soon &&
	refused 'bad deflect choice "" *: must be random or shorter' deflect choice &&
	refused 'idle must exceed the drain time of limit at rate' rate 80mbit &&
	refused 'own device' deflect via 10.73.1.2 dev up1 &&
	ip -n "$A" link property add dev up1 altname uplink-of-more-than-15 &&
	refused 'own device' deflect via 10.73.1.2 dev uplink-of-more-than-15 &&
	refused 'name of a device' deflect via 10.73.1.2 dev up9 &&
	refused 'name of a device' deflect via 10.73.1.2 dev if999 &&
	refused 'name of a device' deflect via 10.73.1.2 &&
	refused 'IPv4 or IPv6 address' deflect via up2 &&
	refused 'loopback device' deflect via 10.73.2.2 dev lo &&
	refused "MTU of the device below the port's" deflect via 10.73.2.2 dev narrow &&
	refused "must be a unicast IPv4 or IPv6 address" deflect via 0.0.0.0 dev up2 &&
	refused "must be a unicast IPv4 or IPv6 address" deflect via 224.0.0.1 dev up2 &&
	refused "must be a unicast IPv4 or IPv6 address" deflect via ff02::1 dev up2 &&
	refused 'given twice' deflect threshold 15kb nodeflect &&
	port up1 limit 100kb &&
	refused 'needs threshold and via' deflect threshold 15kb &&
	refused 'needs threshold and via' deflect "${via2[@]}"
}

# Sums of mq, per-CPU statistics and noqueue are no queue; changes that do not name it are kept.
shorter_needs_a_backlog()
{
	local no="alternate's root qdisc has no backlog"

	ip -n "$A" link add many numtxqueues 4 type dummy && ip -n "$A" link set many up &&
	A_tc qdisc replace dev many root mq && port up2 limit 100kb &&
	port up1 limit 100kb deflect threshold 15kb "${via2[@]}" choice shorter &&
	refused "$no" deflect "${via2[@]}" via 10.73.2.2 dev many &&
	A_tc qdisc replace dev many root handle 8: prio &&
	A_tc qdisc change dev up1 root swport deflect "${via2[@]}" via 10.73.2.2 dev many &&
	A_tc qdisc replace dev many root pfifo_fast && A_tc qdisc del dev up2 root &&
	A_tc qdisc change dev up1 root swport deflect entries 7 &&
	refused "$no" deflect choice shorter && refused "$no" deflect "${via2[@]}" &&
	port up2 limit 100kb && A_tc qdisc change dev up1 root swport deflect "${via2[@]}" &&
	refused "$no" deflect via 10.73.2.2 dev many
}

too_many_alternates()
{
	local words=() i

	for ((i = 1; i <= 17; i++)); do
		words+=(via "10.73.2.$i" dev up2)
	done
	port up1 limit 100kb &&
	refused 'given 1 to 16 times' deflect threshold 15kb "${words[@]}" &&
	A_tc qdisc change dev up1 root swport deflect threshold 15kb "${words[@]:0:64}" &&
	port_is '(.options.deflect_via | length) == 16'
}

## what is deflected

# Start packets that find the queue long go the other way with all that follows, a
# token less and with the checksum right; nothing is dropped, nothing overtakes.
flows_are_deflected()
{
	both_ports && flood 10.73.30.1 && listen &&
	transmit 10.73.30.1 8 1 20 2000 0x10 && came \
		'.packets == 160 and .behind == 0 and .flows == 8 and .dscp == {"3":160}' &&
	port_is '.deflect_flows == 8 and .deflect_pkts == 160 and .deflect_tokens == 160 and
		.deflect_bytes == 160 * 1042 and .deflect_used_max == 8 and
		.deflect_lost_pkts == 0 and .deflect_out_drop_pkts == 0' &&
	ebb && books_balance
}

flows_are_deflected_6()
{
	A_tc qdisc del dev up2 root 2>/dev/null
	port up1 "${slow[@]}" "${deflect[@]}" via fd73:2::2 dev up2 && flood fd73:30::1 &&
	listen fd73:30::1 && transmit fd73:30::1 8 1 20 2000 0x11 &&
	came '.packets == 160 and .behind == 0 and .dscp == {"3":160}' &&
	port_is '.deflect_pkts == 160 and .deflect_bytes == 160 * 1062' &&
	ebb && books_balance
}

# Without a token, or with a DSCP beyond them, all of a flow stays.
no_token_no_deflection()
{
	both_ports && flood 10.73.30.1 &&
	transmit 10.73.30.1 4 1 5 2000 0 && transmit 10.73.30.1 4 1 5 2000 0x14 &&
	port_is '.deflect_pkts == 0 and .deflect_no_token_pkts == 8' && ebb
}

# A next hop would not forward them to the group's members on the link.
groups_are_not_deflected()
{
	ip -n "$A" route add multicast 239.0.0.0/8 dev up1 &&
	ip -n "$A" -6 route add multicast ff05::/16 dev up1 table local &&
	both_ports && flood 10.73.30.1 &&
	in_netns "$A" deflect_pkt send 239.1.1.1 4 1 5 2000 0x10 &&
	in_netns "$A" deflect_pkt send ff05::99 4 1 5 2000 0x10 &&
	port_is '.deflect_pkts == 0 and .deflect_no_token_pkts == 0' &&
	in_netns "$A" deflect_pkt send 10.73.30.1 4 1 5 2000 0x10 &&
	port_is '.deflect_pkts == 20' && ebb
}

below_the_threshold_no_deflection()
{
	both_ports && listen && transmit 10.73.30.1 4 2 5 4000 0x10 &&
	came '.packets == 40 and .behind == 0 and .dscp == {"4":40}' &&
	port_is '.deflect_pkts == 0 and .deflect_recent_pkts == 0'
}

# Forty flows at once into tables of all sizes: first come, first served.
sizes_bound_the_flows()
{
	local size most

	for size in 0 1 8 64; do
		most=$((size < 40 ? size : 40))
		both_ports entries "$size" && flood 10.73.30.1 &&
		transmit 10.73.30.1 40 1 4 1000 0x10 &&
		port_is ".deflect_used_max == $most and .deflect_flows == $most and
			.deflect_pkts == 4 * $most and
			.deflect_full_pkts + .deflect_recent_pkts ==
				(if $size == 0 then 0 else 40 - $most end)" || return 1
		ebb
	done
}

# A second message right behind the first could overtake it: it may not begin, nor
# may it leave the alternate before the flow was quiet.
later_messages_keep_order()
{
	both_ports && flood 10.73.30.1 && listen &&
	transmit 10.73.30.1 8 10 4 1000 0x10 && came '.packets == 320 and .behind == 0' &&
	port_is '.deflect_flows == 8 and .deflect_pkts == 320' &&
	ebb && both_ports && listen && {
		in_netns "$near" deflect_pkt send 10.73.30.1 1 100 4 5000 0x10 &
		messages=$!
	} && flood 10.73.30.1 && wait "$messages" &&
	came '.behind == 0' && port_is '.deflect_pkts == 0 and .deflect_recent_pkts > 0' && ebb
}

# Each of ten messages of a flow begins anew where its end frees the entry.
end_frees_the_entry()
{
	both_ports release end && flood 10.73.30.1 && listen &&
	transmit 10.73.30.1 8 10 4 1000 0x10 && came '.packets == 320 and .behind == 0' &&
	port_is '.deflect_flows == 80 and .deflect_pkts == 320 and .deflect_used == 0 and
		.deflect_used_max == 8' && ebb && books_balance
}

deflects_a_message()
{
	transmit 10.73.30.1 1 1 1 1000 0x10 && port_is '.deflect_flows > 0'
}

# Two seconds after deflection was turned on all starts are safe, until entries were freed early.
end_and_then_idle()
{
	port up1 "${slow[@]}" deflect threshold 5000 idle 2s "${via2[@]}" &&
	flood 10.73.30.1 && poll 20 deflects_a_message &&
	A_tc qdisc change dev up1 root swport deflect release end &&
	A_tc qdisc change dev up1 root swport deflect release idle &&
	jq '.deflect_flows, .deflect_recent_pkts' "$dir/port" >"$dir/before" &&
	transmit 10.73.30.1 8 1 2 1000 0x10 && snapshot up1 && ebb &&
	jq -e --slurpfile n "$dir/before" '.deflect_flows == $n[0] and
		.deflect_recent_pkts == $n[1] + 8' "$dir/port"
}

longer()
{
	snapshot up2 && jq -e '.data_backlog_bytes > 30000' "$dir/port" >/dev/null
}

# An alternate's queue is compared with that of the port; one that is not known is no choice.
shorter_queue_is_chosen()
{
	port up2 rate 4mbit limit 100000 &&
	port up1 "${slow[@]}" "${deflect[@]}" choice shorter "${via2[@]}" &&
	flood 10.73.30.1 && transmit 10.73.30.1 8 1 4 1000 0x10 &&
	port_is '.deflect_flows == 8 and .deflect_no_alternate_pkts == 0' &&
	start_in "$near" deflect_pkt flood 10.73.30.3 400 && poll 20 longer &&
	transmit 10.73.30.1 8 1 4 1000 0x10 && stop "$started" &&
	port_is '.deflect_flows == 8 and .deflect_no_alternate_pkts == 8' &&
	A_tc qdisc replace dev up2 root pfifo_fast && A_tc qdisc show dev up2 &&
	transmit 10.73.30.1 8 1 4 1000 0x10 &&
	port_is '.deflect_flows == 8 and .deflect_no_alternate_pkts == 16' &&
	ebb && A_tc qdisc del dev up2 root
}

used_is()
{
	port_is ".deflect_used == $1"
}

# Entries of ended messages are free after the idle time; those that lost their end
# packet are kept until another flow needs them.
entries_are_recovered()
{
	both_ports entries 4 && flood 10.73.30.1 && transmit 10.73.30.1 4 1 4 1000 0x10 &&
	used_is 4 && poll 5 used_is 0 &&
	transmit 10.73.30.1 4 1 4 1000 0x10 1000 1 && used_is 4 &&
	sleep_idle && used_is 4 &&
	transmit 10.73.30.1 4 1 4 1000 0x10 &&
	port_is '.deflect_flows == 12 and .deflect_full_pkts == 0' && ebb
}

# shown [PATTERN]...: classes of up1, a deflected flow each; as many, and so.
shown()
{
	A_tc class show dev up1 >"$dir/classes" && cat "$dir/classes" &&
	[ "$(wc -l <"$dir/classes")" -eq $# ] || return 1
	for pattern; do
		grep -Eq "^class swport $pattern *\$" "$dir/classes" || return 1
	done
}

# The table is shown: which flow, by which way, how long, how much of it.
table_is_shown()
{
	local flow='parent 1: udp 10.73.20.1:[0-9]+ > 10.73.30.1:4791 qp [0-9]+ ttl 63'
	local way='via 10.73.2.2 dev up2' time='[1-9][0-9]*ns'

	both_ports entries 4 && shown && flood 10.73.30.1 &&
	transmit 10.73.30.1 2 1 20 2000 0x10 && transmit 10.73.30.1 1 1 3 1000 0x10 1000 1 &&
	shown "1:1 $flow $way ended age [0-9]{8}ns idle [0-9]{7}ns 20 pkts" \
		"1:2 $flow $way ended age [0-9]{8}ns idle [0-9]{7}ns 20 pkts" \
		"1:3 $flow $way active age [0-9]{7}ns idle $time 2 pkts" &&
	! A_tc class add dev up1 classid 1:9 parent 1: swport &&
	A_tc qdisc change dev up1 root swport deflect via 10.73.2.77 dev up2 &&
	sleep_idle && shown "1:3 $flow active age $time idle $time 2 pkts" && ebb
}

## alternates

# Unknown, the neighbour is asked for; until it answers flows stay.
neighbour_is_asked_for()
{
	both_ports && ip -n "$A" neigh flush dev up2 && ip -n "$S2" link set left arp off &&
	A_tc qdisc change dev up1 root swport deflect via 10.73.2.9 dev up2 &&
	flood 10.73.30.1 && transmit 10.73.30.1 4 1 4 1000 0x10 &&
	port_is '.deflect_pkts == 0 and .deflect_no_alternate_pkts == 4' &&
	ip -n "$A" neigh show dev up2 | grep -E '10.73.2.9.*(INCOMPLETE|FAILED)' &&
	ip -n "$S2" link set left arp on &&
	A_tc qdisc change dev up1 root swport deflect "${via2[@]}" &&
	poll 10 neighbour_is_known && transmit 10.73.30.1 4 1 4 1000 0x10 &&
	port_is '.deflect_pkts == 16' && ebb
}

neighbour_is_known()
{
	ip -n "$A" neigh show dev up2 | grep -E '10.73.2.2.*(REACHABLE|STALE|DELAY)'
}

# stream MESSAGES: as many of each of eight flows, in the background; back when some
# were deflected.  Their order is judged.
stream()
{
	listen &&
	{
		in_netns "$near" deflect_pkt send 10.73.30.1 8 "$1" 50 200 0x10 &
		messages=$!
	} && poll 10 port_is '.deflect_pkts > 100'
}

link_down_while_deflecting()
{
	both_ports && flood 10.73.30.1 && stream 30 && ip -n "$A" link set up2 down &&
	poll 10 port_is '.deflect_lost_pkts > 0' && wait "$messages" && came '.behind == 0' &&
	port_is '.deflect_pkts + .deflect_lost_pkts < 12000' && ebb &&
	ip -n "$A" link set up2 up && restore_up2 && books_balance
}

restore_up2()
{
	ip -n "$A" route replace 10.73.30.3 via 10.73.2.2 &&
	{ ip -n "$A" -6 addr add fd73:2::1/64 dev up2 nodad || true; } &&
	ip -n "$A" -6 route replace fd73:30::3 via fd73:2::2 &&
	poll 10 in_netns "$near" busybox ping -c 1 -W 1 10.73.30.3 &&
	poll 10 in_netns "$near" busybox ping -c 1 -W 1 fd73:30::3
}

alternate_taken_away_while_deflecting()
{
	both_ports && flood 10.73.30.1 && stream 30 &&
	A_tc qdisc change dev up1 root swport deflect via 10.73.2.77 dev up2 &&
	wait "$messages" && came '.behind == 0' && port_is '.deflect_lost_pkts > 0' &&
	ebb && books_balance
}

turned_off_while_deflecting()
{
	both_ports && flood 10.73.30.1 && stream 30 &&
	A_tc qdisc change dev up1 root swport nodeflect &&
	wait "$messages" && came '.behind == 0' && port_is '.deflect_lost_pkts > 0' &&
	ebb && books_balance
}

# Options change all the time while flows come and go: no flow is reordered.
changes_under_load()
{
	local i

	both_ports && flood 10.73.30.1 && stream 40 &&
	for ((i = 0; i < 60; i++)); do
		A_tc qdisc change dev up1 root swport deflect entries $((RANDOM % 65)) \
			threshold $((RANDOM % 20000)) tokens 0 $((4 + RANDOM % 3)) &&
		A_tc qdisc change dev up1 root swport "${slow[@]}" deflect via 10.73.2.2 dev up2 \
			via 10.73.2.$((3 + i % 2)) dev up2 || return 1
	done && wait "$messages" && came '.behind == 0' && ebb && books_balance
}

# Two ports that deflect to each other, both congested, both ways at once.
two_ports_to_each_other()
{
	port up2 "${slow[@]}" "${deflect[@]}" "${via1[@]}" &&
	port up1 "${slow[@]}" "${deflect[@]}" "${via2[@]}" && flood 10.73.30.1 &&
	start_in "$near" deflect_pkt flood 10.73.30.3 800 && listen 10.73.30.1 && sleep_idle &&
	{
		in_netns "$far" deflect_pkt recv 10.73.30.3 1500 >"$dir/recv3" &
		messages=$!
	} && poll 10 grep -q ready "$dir/recv3" &&
	{ in_netns "$near" deflect_pkt send 10.73.30.3 8 200 4 500 0x10 & } &&
	transmit 10.73.30.1 8 200 4 500 0x10 && came '.behind == 0' &&
	wait "$messages" && grep -v ready "$dir/recv3" >"$dir/came" && json '.behind == 0' "$dir/came" &&
	stop "$started" && ebb && port_is '.deflect_pkts > 0' && books_balance &&
	snapshot up2 && json '.deflect_pkts > 0' "$dir/port"
}

# Its index is the same in both namespaces.
device_returns()
{
	new_netns away
	A_tc qdisc del dev up2 root 2>/dev/null
	both_ports && ip -n "$A" link set up2 netns "$away" &&
	ip -n "$away" link set up2 netns "$A" && address "$A" up2 2 1 &&
	ip -n "$A" link set up2 up && restore_up2 &&
	A_tc qdisc change dev up1 root swport deflect "${via2[@]}" && flood 10.73.30.1 &&
	transmit 10.73.30.1 4 1 4 1000 0x10 &&
	port_is '.deflect_pkts == 16 and .deflect_no_alternate_pkts == 0' && ebb && books_balance
}

# A device goes while flows go by it, and is not held on to.
device_removed_while_deflecting()
{
	A_tc qdisc del dev up2 root 2>/dev/null
	both_ports && flood 10.73.30.1 && stream 30 && ip -n "$A" link del up2 &&
	wait "$messages" && came '.behind == 0' && port_is '.deflect_lost_pkts > 0 and
		(.options.deflect_via[0].dev | startswith("if"))' &&
	ebb && A_tc qdisc change dev up1 root swport deflect entries 5 && books_balance
}

plan 24

check "network of two leaves and two spines" make_network
check "a bad option is refused by name, and nothing changes" bad_options_change_nothing
check "the shorter queue needs a backlog" shorter_needs_a_backlog
check "sixteen alternates at most" too_many_alternates
check "flows are deflected, a token less" flows_are_deflected
check "flows of IPv6 are" flows_are_deflected_6
check "no token, no deflection" no_token_no_deflection
check "packets to a group are not deflected" groups_are_not_deflected
check "below the threshold nothing is deflected" below_the_threshold_no_deflection
check "tables of 0, 1, 8 and 64 entries" sizes_bound_the_flows
check "later messages of a flow keep its order" later_messages_keep_order
check "the end of a message frees the entry" end_frees_the_entry
check "flows count as seen when entries are kept again" end_and_then_idle
check "the shorter queue is chosen" shorter_queue_is_chosen
check "entries are recovered, ended or not" entries_are_recovered
check "the table is shown" table_is_shown
check "an unknown neighbour is asked for" neighbour_is_asked_for
check "alternate goes down under load" link_down_while_deflecting
check "alternate taken away under load" alternate_taken_away_while_deflecting
check "turned off under load" turned_off_while_deflecting
check "an alternate leaves the namespace and returns" device_returns
check "changed under load" changes_under_load
check "two ports deflect to each other under load" two_ports_to_each_other
check "device removed under load" device_removed_while_deflecting
finish

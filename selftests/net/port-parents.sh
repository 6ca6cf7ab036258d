#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The switch port below parents whose children must not wait (hfsc, drr, qfq), held by a card that
# sends when it is told to: after every step parent and port have as many packets and bytes.
# And the port on devices that are made of others.  swport-gso.sh has the parents below which a
# port may have a rate.
#
# For the debug kernel, which has these (run-uml debug port-parents.sh).

# shellcheck disable=SC2154 # new_netns sets variables by name
cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./port.sh

hold_send=/sys/module/quell_holdnic/parameters/send
step=0

# A card whose queue takes six frames of 1000 bytes.  It has one, for a parent of several queues
# keeps the frame whose queue is full beside the port.
make_card()
{
	local limit

	modprobe quell_holdnic queues=1 && ip link set hold0 netns "$near" &&
	ip -n "$near" link set hold0 addrgenmode none up || return 1
	for limit in limit_min limit_max; do
		in_netns "$near" sh -c 'echo 5000 >"$0"' \
			"/sys/class/net/hold0/queues/tx-0/byte_queue_limits/$limit" || return 1
	done
}

put()
{
	in_netns "$near" swport_pkt send hold0 "$@"
}

send_all()
{
	echo 100000 >"$hold_send"
}

# parent KIND: with a class 1:1 for everything.  The card's queue limits itself anew when it has
# sent something.
parent()
{
	local class=(class add dev hold0 parent 1: classid 1:1)

	near_tc qdisc del dev hold0 root 2>/dev/null
	send_all && put udp 1 1000 && send_all &&
	near_tc qdisc add dev hold0 root handle 1: "$1" || return 1
	case $1 in
	hfsc) near_tc "${class[@]}" hfsc rt rate 8mbit ls rate 1gbit ;;
	drr) near_tc "${class[@]}" drr ;;
	qfq) near_tc "${class[@]}" qfq weight 1 maxpkt 20000 ;;
	esac && near_tc filter add dev hold0 parent 1: protocol all prio 1 matchall classid 1:1
}

# agree FILTER: the parent has as many packets and bytes as the port, of which it is true.
agree()
{
	step=$((step + 1))
	near_tc -s -j qdisc show dev hold0 >"$dir/all" || return 1
	json "[.[] | select(.handle == \"1:\" or .handle == \"2:\")] | length == 2 and
		.[0].qlen == .[1].qlen and .[0].backlog == .[1].backlog and (.[1] | $1)" \
		"$dir/all" ||
		{ echo "at step $step"; return 1; }
}

# agree_until_empty: one packet leaves, and another, until there is none.
agree_until_empty()
{
	local i

	for ((i = 0; i < 40; i++)); do
		agree true && echo 1 >"$hold_send" || return 1
	done
	agree '.qlen == 0 and .backlog == 0'
}

# Six are with the card.  Packets that wait, a super-packet whole, one cut because it has no
# room, trimmed ones, a flood that is dropped; a port that is replaced and emptied while full.
parent_agrees()
{
	step=0 && parent "$1" &&
	near_tc qdisc add dev hold0 parent 1:1 handle 2: swport limit 20000 trim size 128 \
		eligible 10 ecn min 5000 &&
	put udp 6 1000 2 && agree '.qlen == 0 and .data_pkts == 6' && put udp 3 1000 2 &&
	agree '.qlen == 3 and .backlog == 3000' && put ack 2 54 && agree '.qlen == 5' &&
	put gso 1 10054 2 && agree '.qlen == 6 and .backlog == 13648' &&
	put gso 1 10054 2 && agree '.gso_split_pkts == 1 and .data_drop_pkts > 0' &&
	in_netns "$near" ip_pkt send hold0 bytes=1000 count=4 dscp=10 ecn=2 &&
	agree '.trim_pkts == 4' && put udp 20 1000 && agree '.drops >= 20' &&
	near_tc qdisc change dev hold0 parent 1:1 handle 2: swport limit 5000 &&
	agree '.qlen > 6' &&
	agree_until_empty &&
	near_tc qdisc change dev hold0 parent 1:1 handle 2: swport limit 20000 &&
	send_all && put udp 9 1000 && agree '.qlen == 3' &&
	near_tc qdisc replace dev hold0 parent 1:1 handle 2: swport limit 30000 && agree true &&
	ip -n "$near" link set hold0 down && agree '.qlen == 0' &&
	ip -n "$near" link set hold0 up &&
	near_tc qdisc del dev hold0 parent 1:1 handle 2: &&
	near_tc qdisc del dev hold0 root
}

## devices

# on_device DEVICE: twenty frames by a port on it, which then goes with it.
on_device()
{
	ip -n "$near" link set "$1" up &&
	near_tc qdisc replace dev "$1" root handle 1: swport rate 100mbit limit 50kb ecn min 2kb \
		percentiles on || return 1
	in_netns "$near" swport_pkt send "$1" udp 20 1000 2 && poll 10 device_sent "$1" &&
	ip -n "$near" link del "$1" && ! ip -n "$near" link show dev "$1" 2>/dev/null
}

device_sent()
{
	near_tc -s -j qdisc show dev "$1" >"$dir/all" &&
	json '.[0] | .data_pkts == 20 and .packets == 20 and .qlen == 0 and .backlog == 0 and
		.mark_pkts > 10 and .drops == 0' "$dir/all"
}

bridge()
{
	ip -n "$near" link add br0 type bridge &&
	ip -n "$near" link set va master br0 && on_device br0
}

bond()
{
	ip -n "$near" link add bond0 type bond mode active-backup &&
	ip -n "$near" link set va down &&
	ip -n "$near" link set va master bond0 && on_device bond0 && ip -n "$near" link set va up
}

macvlan()
{
	ip -n "$near" link add mac0 link va type macvlan && on_device mac0
}

# In its namespace a container may set TC_PRIO_CONTROL, 7; that is no rank on the host's port, of
# segments of its bursts neither, of which the last alone has the socket.
priority_of_a_container()
{
	new_netns container
	near_tc qdisc replace dev va root handle 1: swport rate 100mbit limit 1mb &&
	ip -n "$near" link add mac0 link va netns "$container" type macvlan &&
	ip -n "$container" link set mac0 up &&
	in_netns "$container" swport_pkt send mac0 udp 3 100 0 0 7 &&
	in_netns "$container" swport_pkt send mac0 gso 1 10054 0 0 7 &&
	in_netns "$near" swport_pkt send va udp 2 100 0 0 7 && poll 10 container_sent
}

container_sent()
{
	near_tc -s -j qdisc show dev va >"$dir/all" &&
	json '.[0] | .data_pkts == 13 and .control_pkts >= 2' "$dir/all"
}

vlan()
{
	ip -n "$near" link add vlan0 link va type vlan id 9 && on_device vlan0
}

# Three hosts on ports of $near; that to "other" has room for no data.
make_ports()
{
	local name

	ip -n "$near" link add br1 up type bridge || return 1
	for name in host other silent; do
		new_netns "$name"
		cable "$near" "to-$name" "${!name}" port0 &&
		ip -n "$near" link set "to-$name" master br1 || return 1
	done
	near_tc qdisc add dev to-other root swport limit 64 trim size 128 to-sender
}

# segment [WORD...]: from "host", which requests NACKs, to an address that no host has.
segment()
{
	in_netns "$host" ip_pkt send port0 mac=02:00:00:00:00:77 bytes=1000 seq=1 ack=2 \
		options=fe0c5155010003a601020304 "$@" && heard
}

other_is()
{
	near_tc -s -j qdisc show dev to-other >"$dir/all" && json ".[0] | $1" "$dir/all"
}

# Every copy of it is flooded: the NACK of the one that was dropped does not lead the next there.
bridge_learns_no_receiver()
{
	make_ports && hear ip_pkt 1 "$host" port0 && segment && packets_are '.[0] | .payload == 0 and .flags == "00"' &&
	hear ip_pkt 1 "$silent" port0 && segment && packets_are '.[0] | .bytes == 1000' &&
	other_is '.to_sender_pkts == 2 and .trim_pkts == 0'
}

# Each port may drop a copy: one segment would cause many NACKs.
broadcast_is_trimmed()
{
	hear ip_pkt 1 "$silent" port0 && segment mac=ff:ff:ff:ff:ff:ff && packets_are '.[0] | .bytes == 1000' &&
	other_is '.to_sender_pkts == 2 and .trim_pkts == 1'
}

# As by an ifb: the receiver's packets do not come in by this device, so a NACK would be lost.
redirected_is_trimmed()
{
	ip -n "$near" link set to-host nomaster && ip -n "$near" link set to-other nomaster &&
	near_tc qdisc add dev to-host handle ffff: ingress &&
	near_tc filter add dev to-host parent ffff: matchall \
		action mirred egress redirect dev to-other &&
	hear ip_pkt 1 "$other" port0 && segment && packets_are '.[0] | .bytes == 128 and .dscp == 43' &&
	other_is '.to_sender_pkts == 2 and .trim_pkts == 2' &&
	ip -n "$near" link del br1 && ip -n "$near" link del to-other
}

nothing_stays()
{
	rmmod quell_holdnic && near_tc qdisc del dev va root 2>/dev/null
	poll 20 rmmod sch_swport
}

plan 13
check "a network of two, and a card that holds what it takes" \
	eval "make_network && modprobe sch_swport && make_card"
for kind in hfsc drr qfq; do
	check "under $kind, packets and bytes are the same at every step" parent_agrees "$kind"
done
for device in bridge bond macvlan vlan; do
	check "a port of a $device sends and marks, and goes with it" $device
done
check "a container's packets are no control by their priority" priority_of_a_container
check "a bridge does not learn the receiver from a NACK" bridge_learns_no_receiver
check "a segment to a group address causes no NACK" broadcast_is_trimmed
check "a segment that tc redirects is trimmed and sent on" redirected_is_trimmed
check "nothing stays: the module is unloaded" nothing_stays
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What a switch port does with packets in tunnels and behind tags, counted to the packet:
# bands, marks, telemetry, trimming, NACKs, deflection.  The tools of the other tests make
# and read the frames; PKT_TUNNEL puts them into the tunnel (pkt_tunnel.c).

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./port.sh

tunnels=(vlan qinq ipip ip6tnl gre gretap vxlan vxlan6 geneve)
tags="vlan qinq"
frames="vlan qinq gretap vxlan vxlan6 geneve"
# The Quell option with data section (900 bytes) and its departure, and room for a record.
option=fe0c51550100038401020304
room=fe1851550500038401020304000000000000000000000000
int=720cf0000000000000000000

# in_each FUNCTION [TUNNEL...]: with each tunnel.
in_each()
{
	local function=$1
	shift

	[ $# -gt 0 ] || set -- "${tunnels[@]}"
	for PKT_TUNNEL; do
		export PKT_TUNNEL
		"$function" || {
			echo "in $PKT_TUNNEL"
			return 1
		}
	done
	unset PKT_TUNNEL
}

# is_in LIST: of tunnels, the present one?
is_in()
{
	[[ " $1 " = *" $PKT_TUNNEL "* ]]
}

# say KEY=VALUE...
say()
{
	# shellcheck disable=SC2048,SC2086 # words on purpose
	in_netns "$near" ip_pkt send va $*
}

## bands

# bands CONTROL DATA: sent so far.
bands()
{
	port_is ".control_pkts == $1 and .data_pkts == $2" && books_balance
}

acks_go_first()
{
	port && listen 9 && transmit ack 3 54 && transmit ack6 2 74 && transmit tcp 2 1000 &&
	transmit syn 1 54 && transmit udp 1 1000 &&
	collect && bands 5 4
}

# What keeps the inner network up; ARP where frames are inside.  EAPOL is for the neighbour on the
# cable, whom a tunnel does not have.
inner_control_goes_first()
{
	local control=2 data=2

	port && listen 6 && transmit nd 1 80 && transmit mld 1 80 && transmit igmp 2 60 &&
	transmit ping6 1 80 && transmit ping6hop 1 80 && collect && bands 4 2 || return 1
	is_in "$frames" || return 0
	! is_in "$tags" || control=3 data=1
	port && listen 4 && transmit arp 2 60 && transmit other 1 60 && transmit eapol 1 60 &&
	collect && bands "$control" "$data"
}

# CS6 counts outside; a tunnel's inside may be somebody else's network.
outer_dscp_decides()
{
	port && listen 2 && transmit udp 2 1000 0 48 && collect && bands 2 0 || return 1
	is_in "$tags" && return
	export PKT_TUNNEL_DSCP=0
	port && listen 2 && transmit udp 2 1000 0 48 && collect && bands 0 2 &&
	PKT_TUNNEL_DSCP=48 && port && listen 2 && transmit udp 2 1000 && collect && bands 2 0
	local status=$?
	unset PKT_TUNNEL_DSCP
	return "$status"
}

## marks

# Outside, as the tunnel's end carries CE inside; what is not ECN-capable is counted.
marks_reach_the_inside()
{
	port ecn min 0 && listen 7 && transmit udp 3 1000 2 && transmit tcp6 2 1000 1 &&
	transmit udp 2 1000 0 && collect &&
	frames_are '{ print $4 }' "3 3 3 3 3 0 0 " &&
	port_is '.mark_pkts == 5 and .not_ect_pkts == 2' && books_balance
}

# Classes go by the DSCP outside.
classes_mark()
{
	port ecn min 0 ecn-class 10 min 100kb limit 100kb && listen 4 &&
	transmit udp 2 1000 2 10 && transmit udp 2 1000 2 11 && collect &&
	frames_are '{ print $4 }' "2 2 3 3 " &&
	port_is '.mark_pkts == 2 and .ecn_class_stats[0].pkts == 2'
}

## telemetry

# Hops count before the tunnel, one, and under way in it, one.
records_are_written()
{
	local hop=2 proto

	is_in "$tags" && hop=1
	port rate 10gbit telemetry 8us && hear ip_pkt 4 || return 1
	for proto in "" "src=2001:db8::1 dst=2001:db8::2"; do
		say options="$room" "$proto" &&
		say options="$room" partial=1 "$proto" || return 1
	done
	heard && packets_are "all(.hop == $hop and .bytes == 1000 and
		(.check == \"good\" or .check == \"partial\"))" &&
	port_is '.stamp_pkts == 4 and .stamp_fail_pkts == 0' && books_balance
}

# A host that puts a packet with its checksum into a tunnel leaves that of the tunnel to the device.
outer_check_is_left()
{
	local status

	export PKT_TUNNEL_OUTER_PARTIAL=1
	port rate 10gbit telemetry 8us && hear ip_pkt 1 &&
	say options="$room" && heard &&
	packets_are "all(.hop == 2 and .bytes == 1000 and .check == \"good\")" &&
	port_is '.stamp_pkts == 1'
	status=$?
	unset PKT_TUNNEL_OUTER_PARTIAL
	return "$status"
}

tcp_int_is_written()
{
	port rate 10gbit tcp-int 1ms && hear ip_pkt 2 &&
	say options="$int" count=2 && heard &&
	packets_are "all(.options[0:24] != \"$int\" and .check == \"good\")" &&
	port_is '.int_pkts == 2 and .int_fail_pkts == 0' && books_balance
}

## trimming

# What is inside states its payload, or the DSCP outside is eligible; at both levels the DSCP
# says that it is trimmed.  Of 1000 bytes inside the frame keeps 200 with all headers.
trims_reach_the_inside()
{
	port limit 64 trim size 200 eligible 12 && hear ip_pkt 5 &&
	say bytes=1000 options="$option" dscp=10 ecn=2 &&
	say bytes=1001 options="$option" dscp=10 v6=1 &&
	say bytes=1000 options="$option" partial=1 &&
	say bytes=1001 proto=udp dscp=12 && say bytes=1000 proto=udp v6=1 dscp=12 &&
	say bytes=1000 proto=udp dscp=13 && say bytes=1000 dscp=10 && heard &&
	packets_are 'all(.dscp == 43 and .intact and .ip_check != "bad" and .bytes <= 200 and
		(.check == "good" or .check == "partial" or .check == "none"))' &&
	port_is '.trim_pkts == 5 and .trim_sent_pkts == 5 and .trim_sent_bytes == 1000 and
		.data_drop_pkts == 7 and .control_pkts == 5'
}

# A packet that another switch trimmed before the tunnel: its DSCP is inside.
trimmed_inside_is_not_trimmed()
{
	local dscp

	port limit 64 trim size 200 eligible 12 known 40 || return 1
	for dscp in 43 40 41; do
		PKT_TUNNEL_DSCP=12 say bytes=1000 proto=udp "dscp=$dscp" || return 1
	done
	port_is '.trim_pkts == 1 and .data_drop_pkts == 3'
}

# Damage of either checksum stays: the tunnel's end, or the receiver, still sees it.
damage_stays_inside()
{
	port limit 64 trim size 200 && hear ip_pkt 1 &&
	say bytes=1000 options="$option" damage=900 && heard &&
	packets_are '.[0].check == "bad"'
}

## deflection

alternate()
{
	ip -n "$near" link add alternate type dummy && ip -n "$near" link set alternate up &&
	ip -n "$near" addr add 10.72.0.1/24 dev alternate &&
	ip -n "$near" neigh add 10.72.0.2 lladdr 02:00:00:00:00:02 dev alternate nud permanent
}

# Flows that begin above the threshold, told apart by the tunnel they are in.  A port knows that a
# flow is new only when it has seen all flows for as long as "idle" says: time has to pass.
flows_are_deflected()
{
	local pkts=4 flows=1

	is_in "$tags" && pkts=0 flows=0
	port rate 1mbit limit 20kb deflect threshold 1513 tokens 0 2 idle 200ms \
		via 10.72.0.2 dev alternate && sleep 0.25 &&
	transmit udp 20 1000 && say flags=02 bytes=60 dscp=1 &&
	say flags=10 bytes=1000 dscp=1 count=3 &&
	port_is ".deflect_flows == $flows and .deflect_pkts == $pkts and
		.deflect_tokens == $pkts and .deflect_lost_pkts == 0" || return 1
	is_in "$tags" && return
	(unset PKT_TUNNEL && say flags=10 bytes=1000 dscp=1) &&
	port_is ".deflect_pkts == $pkts" &&
	poll 10 eval "ip -n $near -s -j link show dev alternate | jq -e '.[0].stats64.tx.packets >= $pkts'"
}

plan 13
check "a network of two, and an alternate" eval "make_network && alternate"
loaded sch_swport || modprobe sch_swport
check "inner ACKs go first, and no other segment" in_each acks_go_first
check "so does what the inner network needs" in_each inner_control_goes_first qinq ipip vxlan
check "of DSCPs the outer one decides" in_each outer_dscp_decides qinq vxlan
check "marks reach the inside" in_each marks_reach_the_inside qinq ip6tnl vxlan
check "classes go by the DSCP outside" in_each classes_mark qinq geneve
check "records are written inside" in_each records_are_written qinq gre vxlan6
check "also where the device is to compute a checksum outside" in_each outer_check_is_left vxlan geneve
check "TCP-INT is written inside" in_each tcp_int_is_written qinq geneve
check "packets are trimmed inside" in_each trims_reach_the_inside qinq ip6tnl gre vxlan vxlan6 geneve
check "a packet trimmed before its tunnel is not again" \
	in_each trimmed_inside_is_not_trimmed gre vxlan
check "damage inside stays" in_each damage_stays_inside ipip geneve
check "inner flows are deflected, tagged ones are not" in_each flows_are_deflected qinq ip6tnl vxlan
finish

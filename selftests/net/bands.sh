#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Who goes first at the switch port, and how far: control's share of the wire, packets that
# other ports have trimmed, and what is dropped because it cannot be marked.

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./port.sh

## options

tc_refuses_bad_input()
{
	local share="must be a number of 2^-16 to 1" known="must be DSCPs of 1 to 63"

	port && refused "control-share 0" '"0"' "$share" &&
	refused "control-share 1.01" '"1.01"' "$share" &&
	refused "control-share nan" '"nan"' "$share" &&
	refused "control-share" '""' "$share" &&
	refused "control-share 1 control-share 1" "given twice" &&
	refused "trim size 128 known 0-3" '"0-3"' "$known" &&
	refused "trim size 128 known 64" '"64"' "$known" &&
	refused "trim size 128 known all" '"all"' "$known" &&
	refused "ecn min 1 drop drop" "given twice" &&
	refused "trim size 128 eligible 7,40 known 40" "must not include trim dscp or known"
}

kernel_checks_ranges()
{
	port trim size 128 &&
	kernel_refuses "out of range [29]" control-share=0 &&
	kernel_refuses "out of range [29]" control-share=65537 &&
	kernel_refuses "out of range [31]" ecn-drop=2 &&
	kernel_refuses "trim known must not include DSCP 0" trim-known=1
}

## who goes first

# The kernel and programs with CAP_NET_RAW or CAP_NET_ADMIN send as TC_PRIO_CONTROL, 7.
priority_decides()
{
	port && listen 2 && transmit udp 1 100 0 0 7 && transmit udp 1 100 0 0 6 && collect &&
	port_is '.control_pkts == 1 and .data_pkts == 1'
}

# A bond's LACP in a queue of data leaves next.
neighbours_overtake_data()
{
	port "${held[*]}" && listen 11 && transmit udp 9 1000 && transmit lacp 1 124 &&
	transmit stp 1 60 && release &&
	frames_are '{ printf "%s%s\n", $2, $3 }' \
		"udp0 lacp0 stp0 udp1 udp2 udp3 udp4 udp5 udp6 udp7 udp8 " && books_balance
}

# Fifty flows, four frames each, find room for 32 besides the one that leaves; ACKs go first, too.
# What the neighbours need is never lost, and leaves with the control band, before all other data.
neighbours_outlive_an_incast()
{
	local i

	port "${held[*]}" limit 48kb && listen 77 || return 1
	for i in 0 1 2 3; do
		transmit flows 50 1500 && transmit lacp 1 124 && transmit ack 10 54 || return 1
	done
	port_is '.data_drop_pkts == 167 and .drops == 167 and .qlen == 76' &&
	change rate 100mbit && collect && books_balance &&
	awk '$2 == "lacp" { lacp++; behind = data }
		$6 == 1500 { data++ }
		END { printf "%d of LACP, the last behind %d of data\n", lacp, behind
			exit lacp != 4 || behind != 1 || data != 33 }' "$dir/frames"
}

# flood SHARE BURST: 40 frames of CS6 and 20 of data wait, with that share and a limit of the
# control band, its burst, that is set when they wait already.
flood()
{
	port "${held[*]}" control-limit 40000 control-share "$1" && listen 61 &&
	transmit udp 21 1000 && transmit udp 40 1000 0 48 &&
	change control-limit "$2" && release && books_balance
}

# Ahead by 500 bytes with each frame, above 4000 with the ninth; then in turn.
half_of_the_wire()
{
	flood 0.5 4000 &&
	frames_are '{ printf "%s", $5 == 48 ? "c" : "d" } END { print "" }' \
		"dcccccccccdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcccccccccccc " &&
	port_is '.control_defer_pkts == 20'
}

# Ahead by 250 bytes with each frame, above 2000 with the ninth; data takes 750 off.
three_quarters_of_the_wire()
{
	flood 0.75 2000 &&
	frames_are '{ printf "%s", $5 == 48 ? "c" : "d" } END { print "" }' \
		"dcccccccccdcccdcccdcccdcccdcccdcccdcccdcccdcccdcccdcddddddddd "
}

all_of_the_wire()
{
	flood 1 64 &&
	frames_are '{ printf "%s", $5 == 48 ? "c" : "d" } END { print "" }' \
		"dccccccccccccccccccccccccccccccccccccccccdddddddddddddddddddd " &&
	port_is '.control_defer_pkts == 0'
}

# By default data is left a tenth: 100 bytes ahead with each frame.
default_leaves_a_tenth()
{
	port "${held[*]}" control-limit 40000 && listen 61 &&
	transmit udp 21 1000 && transmit udp 40 1000 0 48 &&
	change control-limit 1000 && release &&
	frames_are '{ printf "%s", $5 == 48 ? "c" : "d" } END { print "" }' \
		"dccccccccccdcccccccccdcccccccccdcccccccccdcccdddddddddddddddd "
}

## trimmed elsewhere

known_as_trimmed()
{
	port trim size 128 known 40-42 && listen 5 && transmit udp 1 1000 0 40 &&
	transmit udp 1 1000 0 42 && transmit udp 1 1000 0 43 && transmit udp 1 1000 0 39 &&
	transmit arp 1 60 && collect && port_is '.control_pkts == 4 and .data_pkts == 1'
}

# A data band without room, in which they wait.
not_trimmed_again()
{
	port limit 128 trim size 128 eligible all queue data known 41 && listen 1 &&
	transmit tcp 1 1000 0 41 && transmit tcp 1 1000 0 40 && collect &&
	port_is '.trim_pkts == 1 and .data_drop_pkts == 2' &&
	frames_are '{ print $5, $6 }' "43 128 "
}

## what cannot be marked

# Ten leave behind 0 (the first), then 8, 7 ... 0 frames.
dropped_at_dequeue()
{
	port "${held[*]}" ecn min 5000 drop && listen 6 && transmit udp 10 1000 0 &&
	release && frames_are '{ print $3 }' "0 5 6 7 8 9 " &&
	port_is '.mark_pkts == 0 and .not_ect_pkts == 4 and .not_ect_drop_pkts == 4 and
		.data_drop_pkts == 4 and .data_drop_bytes == 4000 and .drops == 4' &&
	books_balance
}

# Ten find 0, 0, 1, 2, 3, 4, 5 frames; from then on none is let in.
dropped_at_enqueue()
{
	port "${held[*]}" ecn enqueue min 5000 drop && listen 6 && transmit udp 10 1000 0 &&
	port_is '.not_ect_drop_pkts == 4 and .drops == 4 and .qlen == 5 and .backlog == 5000' &&
	release && frames_are '{ print $3 }' "0 1 2 3 4 5 " && books_balance
}

capable_are_marked()
{
	port "${held[*]}" ecn min 5000 drop && listen 7 && transmit udp 4 1000 0 &&
	transmit udp 6 1000 2 && release &&
	frames_are '{ print $3 "/" $4 }' "0/0 0/3 1/2 2/2 3/2 4/2 5/2 " &&
	port_is '.mark_pkts == 1 and .not_ect_drop_pkts == 3' && books_balance
}

# Below a parent, with the last packet to be marked as well: the parent's books hold.
parent_agrees()
{
	local parent=("$@")

	near_tc qdisc del dev va root 2>/dev/null
	near_tc qdisc add dev va root handle 1: "${parent[@]}" || return 1
	near_tc qdisc add dev va parent 1:1 handle 2: swport "${held[@]}" ecn min 0 drop &&
	listen 2 && transmit udp 9 1000 0 &&
	near_tc qdisc change dev va parent 1:1 handle 2: swport rate 100gbit && collect &&
	frames_are '{ print $3 }' "0 8 " &&
	tree_is '[.[] | select(.handle == "1:" or .handle == "2:")] | length == 2 and
		all(.qlen == 0 and .backlog == 0) and .[1].not_ect_drop_pkts == 7'
}

plan 17
check "a network of two, and the frame maker" \
	eval "make_network && command -v swport_pkt"
loaded sch_swport || modprobe sch_swport
check "tc refuses bad input and names value and range" tc_refuses_bad_input
check "the kernel refuses bad input and names attribute and range" kernel_checks_ranges
check "what this host sends as control is control" priority_decides
check "LACP and STP overtake data" neighbours_overtake_data
check "... and an incast of fifty, of which most is dropped" neighbours_outlive_an_incast
check "a flood of CS6 gets half of the wire" half_of_the_wire
check "... three quarters" three_quarters_of_the_wire
check "... all, where nothing is left to data" all_of_the_wire
check "... nine tenths by default" default_leaves_a_tenth
check "packets trimmed elsewhere wait with control" known_as_trimmed
check "... and are not trimmed again" not_trimmed_again
check "what is not ECN-capable is dropped where it leaves" dropped_at_dequeue
check "... or where it arrives" dropped_at_enqueue
check "... and what is, is marked" capable_are_marked
check "parents know: prio" parent_agrees prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
check "parents know: tbf, which peeks" parent_agrees tbf rate 100gbit burst 100kb latency 1s
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The switch port marks some DSCPs by thresholds of their own.

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./port.sh

## configuration

eight_fit()
{
	local words="" i

	for i in 0 1 2 3 4 5 6 7; do
		words+=" ecn-class $((8 * i))-$((8 * i + 7)) min $((1000 + i)) max 2000 prob 0.25"
	done
	port ecn min 45kb "$words" &&
	port_is '.options.ecn_classes | length == 8 and .[7].min == 1007 and
		.[7].dscp == "56-63"' &&
	text_is_valid_syntax
}

nine()
{
	local i

	for i in 0 1 2 3 4 5 6 7 8; do
		echo "ecn-class $i min 1kb"
	done
}

tc_refuses()
{
	local dscps="must be off or DSCPs of 0 to 63"

	refused "ecn-class" "$dscps" && refused "ecn-class 64 min 1kb" "$dscps" &&
	refused "ecn-class -1 min 1kb" "$dscps" && refused "ecn-class 5-4 min 1kb" "$dscps" &&
	refused "ecn-class 5- min 1kb" "$dscps" && refused "ecn-class 5, min 1kb" "$dscps" &&
	refused "ecn-class 1-2-3 min 1kb" "$dscps" && refused "ecn-class ef min 1kb" "$dscps" &&
	refused "ecn-class 5" 'ecn-class needs "min SIZE"' &&
	refused "ecn-class 5 max 1kb" 'ecn-class needs "min SIZE"' &&
	refused "ecn-class 5 min 2gb" 'bad ecn-class min "2gb": must be a size of 0b to' &&
	refused "ecn-class 5 min 2kb max 1kb" 'must be a size of ecn-class min (2kb)' &&
	refused "ecn-class 5 min 2kb prob 2" 'bad ecn-class prob "2": must be a number of 0 to 1' &&
	refused "ecn-class 5 min 2kb ecn-class 4-6 min 1kb" "a DSCP is in two classes" &&
	refused "ecn-class 5 min 2kb ecn-class off" "ecn-class or ecn-class off given twice" &&
	refused "ecn-class off ecn-class 5 min 2kb" "ecn-class or ecn-class off given twice" &&
	refused "$(nine | tr '\n' ' ')" "ecn-class may be given 8 times" &&
	refused "noecn ecn-class 5 min 2kb" "swport: ecn-class needs ecn" &&
	refused "ecn-class 5 min 2kb max 200kb" "swport: ecn-class min and max must be at most limit" &&
	refused "limit 9kb" "swport: ecn-class min and max must be at most limit"
}

# A class is DSCPS,MIN,MAX,PROB; 6=0 is noecn.
kernel_checks()
{
	local i nine=()

	for i in 0 1 2 3 4 5 6 7 8; do
		nine+=("class=$((1 << i)),1,2")
	done
	kernel_refuses "out of range [3]" class=1,1073741825,1 &&
	kernel_refuses "out of range [4]" class=1,1,1073741825 &&
	kernel_refuses "out of range [5]" class=1,1,2,65537 &&
	kernel_refuses "ecn-class min must be at most ecn-class max" class=1,3,2 &&
	kernel_refuses "ecn-class min and max must be at most limit" class=1,1,102401 &&
	kernel_refuses "needs a DSCP, ecn-class min and max" class=0,1,2 &&
	kernel_refuses "needs a DSCP, ecn-class min and max" class=1 &&
	kernel_refuses "needs a DSCP, ecn-class min and max" class=1,1 &&
	kernel_refuses "a DSCP is in two classes" class=1,1,2 class=3,1,2 &&
	kernel_refuses "ecn-class may be given 8 times" "${nine[@]}" &&
	kernel_refuses "ecn-class needs ecn" 6=0 class=1,1,2
}

kernel_accepts()
{
	port limit 100kb ecn min 5kb &&
	port_set class=0x8000000000000001,102400,102400 &&
	port_is '.options.ecn_classes == [
		{"dscp": "0,63", "min": 102400, "max": 102400, "prob": 1}]' &&
	port_set classes=none &&
	port_is '.options | has("ecn_classes") | not'
}

## marking

# Twelve, of DSCP 0, 8 and 46 in turn; the first leaves at once, the others leave
# behind 10, 9 ... 0 frames.  Class 8: from 2000; 46: never; the rest: from 7000.
mix()
{
	for _ in 1 2 3 4; do
		transmit "$1" 1 1000 2 0 && transmit "$1" 1 1000 2 8 &&
		transmit "$1" 1 1000 2 46 || return 1
	done
}

marks_by_class()
{
	port "${held[*]}" limit 100kb ecn "$2" min 7000 ecn-class 8-15 min 2000 \
		ecn-class 40-47 min 100kb &&
	listen 12 && mix "$1" && release &&
	frames_are '$4 == 3 { printf "%d:%d\n", NR - 1, $5 }' "$3" &&
	port_is '.mark_pkts == 4 and (.ecn_class_stats | map(.dscp) == ["8-15", "40-47"] and
		map(.pkts) == [4, 4] and map(.mark_pkts) == [3, 0] and
		map(.not_ect_pkts) == [0, 0]) and
		.ecn_class_stats[0].mark_bytes * 4 == .mark_bytes * 3' &&
	books_balance
}

# Behind frame 1 (DSCP 8) stay 10 ... behind 11 none: 8s are 1 4 7 10, of which 10
# leaves one; 0s are 3 6 9, of which 3 leaves 8000.
at_dequeue()
{
	marks_by_class udp dequeue "1:8 3:0 4:8 7:8 " &&
	marks_by_class udp6 dequeue "1:8 3:0 4:8 7:8 " &&
	marks_by_class vlanudp dequeue "1:8 3:0 4:8 7:8 "
}

# Frame n finds n - 1: 8s find 0 3 6 9, 0s find 2 5 8.
at_enqueue()
{
	marks_by_class udp enqueue "4:8 7:8 9:0 10:8 " &&
	marks_by_class udp6 enqueue "4:8 7:8 9:0 10:8 "
}

# No IP, no DSCP: the port's own thresholds.
others_go_by_the_port()
{
	port "${held[*]}" limit 100kb ecn min 5000 ecn-class 0-63 min 100kb &&
	listen 20 && transmit other 10 1000 2 && transmit udp 10 1000 2 && release &&
	port_is '.mark_pkts == 0 and .not_ect_pkts == 9'
}

# Each kind of packet that cannot be marked is counted with its class; what has none is
# the rest.
not_ect_is_counted()
{
	port "${held[*]}" limit 100kb ecn enqueue min 0 ecn-class 8 min 0 ecn-class 9 min 0 &&
	transmit udp 2 1000 0 8 && transmit udp 3 1000 2 9 && transmit udp 4 1000 0 0 &&
	port_is '.not_ect_pkts == 6 and .mark_pkts == 3 and
		(.ecn_class_stats | map([.pkts, .mark_pkts, .not_ect_pkts]) == [[2, 0, 2], [3, 3, 0]])'
}

# A class of the same DSCPs goes on counting, wherever it stands now.
same_dscps_go_on()
{
	local counts='.ecn_class_stats | map([.dscp, .pkts])'

	change limit 200kb && port_is "$counts"' == [["8", 2], ["9", 3]]' &&
	change ecn-class 9 min 1kb ecn-class 10 min 0 ecn-class 8,11 min 0 &&
	port_is "$counts"' == [["9", 3], ["10", 0], ["8,11", 0]]' &&
	transmit udp 1 1000 2 11 && port_is "$counts"' == [["9", 3], ["10", 0], ["8,11", 1]]' &&
	near_tc -s qdisc show dev va |
		grep -q "ecn-class 9 of 3 pkts marked 3000 bytes 3 pkts not-ect 0 pkts" &&
	change noecn && port_is 'has("ecn_class_stats") | not'
}

# The lottery of a class: half of 300 frames, all with the same queue.
class_has_its_probability()
{
	port "${held[*]}" limit 1mb seed 7 ecn min 1mb \
		ecn-class 8 min 0 max 600000 prob 1 && listen 301 &&
	transmit udp 301 1000 2 8 && release &&
	awk '$4 == 3 { marks++; late += $3 > 150 }
		END { print marks, late; exit !(marks > 50 && marks < 105 && late < marks / 2) }' \
		"$dir/frames"
}

# Figure 4 of the SMaRTT paper: five packets found the queue full, and no more come.
# A sixth, before them, keeps the wire busy.  At dequeue the first two leave with
# a mark, for three and more stay behind; of the drained queue the others tell
# nothing.  At enqueue those are marked that found three and more, and leave last.
figure_4()
{
	port "${held[*]}" ecn "$1" min 3000 && listen 6 && transmit udp 6 1000 2 &&
	release && frames_are '$4 == 3 { print $3 }' "$2"
}

marked=(limit 100kb ecn min 5kb ecn-class 7 min 10kb)
plan 13
check "a network of two, and the frame maker" \
	eval "make_network && command -v swport_pkt"
loaded sch_swport || modprobe sch_swport
check "eight classes fit, with all 64 DSCPs" eight_fit
check "tc refuses, and names value and range" unchanged_by tc_refuses "${marked[@]}"
check "the kernel refuses, and names the attribute" unchanged_by kernel_checks "${marked[@]}"
check "the kernel accepts what is just in range" kernel_accepts
check "at dequeue each class has its threshold" at_dequeue
check "at enqueue each class has its threshold" at_enqueue
check "SMaRTT Figure 4: at dequeue the drained queue is not marked" \
	figure_4 dequeue "1 2 "
check "SMaRTT Figure 4: at enqueue it still is" figure_4 enqueue "4 5 "
check "what has no DSCP goes by the port" others_go_by_the_port
check "packets that know no ECN are counted by class" not_ect_is_counted
check "classes of the same DSCPs go on counting" same_dscps_go_on
check "a class has its own probability" class_has_its_probability
finish

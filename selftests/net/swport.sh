#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The switch port, packet by packet: configuration, bands, limits, marking.

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./port.sh

## configuration

# Options as tc prints them make the same port; tdc/swport.cases has each option by itself.
text_is_valid_input()
{
	local options

	for options in "" "rate 10gbit overhead 24 limit 225kb control-limit 32kb ecn enqueue
			min 45kb max 180kb prob 0.2 seed 7 telemetry 4160ns tcp-int 5us" \
		"control-share 0.25 ecn min 5000 drop trim size 128 known 40-42,44" \
		"trim size 1kb dscp 5 queue data eligible 0,10-14,63 to-sender" \
		"ecn min 45kb max 180kb ecn-class 46 min 10kb
			ecn-class 8-15,0,63 min 20kb max 40kb prob 0.5" \
		"buffer 1mb alpha 0.125 percentiles on"; do
		port "$options" && port_is true && text_is_valid_syntax || return 1
	done
}

tc_refuses_bad_input()
{
	local size="64b to 1Gb, in whole bytes" mark="0b to 1Gb"
	local rate="8bit to 10tbit" time="off or a time of 100ns to 1s"

	refused "limit 63" '"63"' "$size" &&
	refused "limit 2gb" '"2gb"' "$size" &&
	refused "limit 1073741825" '"1073741825"' "$size" &&
	refused "limit -5" '"-5"' "$size" &&
	refused "limit 100.5" '"100.5"' "$size" &&
	refused "limit ten" '"ten"' "$size" &&
	refused "limit 10furlongs" '"10furlongs"' "$size" &&
	refused "limit nan" '"nan"' "$size" &&
	refused "limit 0x10kb" '"0x10kb"' "$size" &&
	refused "limit 1e3kb" '"1e3kb"' "$size" &&
	refused "limit +10kb" '"+10kb"' "$size" &&
	refused "timer_slack 0.4ns" '"0.4ns"' "off or a time of 0ns to 500us" &&
	refused "ecn min 5kb prob 0x1" '"0x1"' "0 to 1" &&
	refused "ecn min 5kb prob 1e-9" '"1e-9"' "0 to 1" &&
	refused "limit" 'limit ""' "$size" &&
	refused "limit 10kb limit 20kb" "limit given twice" &&
	refused "control-limit 1" 'control-limit "1"' "$size" &&
	refused "overhead 70000" '"70000"' "0b to 65535b" &&
	refused "rate fast" '"fast"' "$rate" &&
	refused "rate -1" '"-1"' "$rate" &&
	refused "rate 11tbit" '"11tbit"' "$rate" &&
	refused "rate 7bit" '"7bit"' "$rate" &&
	refused "seed 4294967296" '"4294967296"' "0 to 4294967295" &&
	refused "seed -1" '"-1"' "0 to 4294967295" &&
	refused "telemetry" 'telemetry ""' "$time" &&
	refused "telemetry 99ns" '"99ns"' "$time" &&
	refused "telemetry 0" '"0"' "$time" &&
	refused "telemetry -8us" '"-8us"' "$time" &&
	refused "telemetry 1001ms" '"1001ms"' "$time" &&
	refused "telemetry 8kb" '"8kb"' "$time" &&
	refused "telemetry nan" '"nan"' "$time" &&
	refused "telemetry 8us telemetry off" "telemetry given twice" &&
	refused "tcp-int" 'tcp-int ""' "$time" &&
	refused "tcp-int 99ns" '"99ns"' "$time" &&
	refused "tcp-int 1001ms" '"1001ms"' "$time" &&
	refused "tcp-int off tcp-int 1us" "tcp-int given twice" &&
	refused "timer_slack 501us" '"501us"' "off or a time of 0ns to 500us" &&
	refused "memory_limit 65535" '"65535"' "64Kb to 4294967295b" &&
	refused "ecn" "ecn needs" "$mark" &&
	refused "ecn enqeue min 5kb" "ecn needs" ', not "enqeue"' &&
	refused "trim 64" 'trim needs "size SIZE"' ', not "64"' &&
	refused "ecn max 5kb" "ecn needs" "$mark" &&
	refused "ecn min 2gb" 'ecn min "2gb"' "$mark" &&
	refused "ecn min 5kb max 4kb" 'ecn max "4kb"' "ecn min (5kb) to 1Gb" &&
	refused "ecn max 1.5k min 0.5mb" 'ecn max "1.5k"' 'ecn min (0.5mb) to 1Gb' &&
	refused "trim dscp 5" 'trim needs "size SIZE"' "64b to 65535b" &&
	refused "trim size 70kb" '"70kb"' "64b to 65535b" &&
	refused "deflect threshold 1kb idle 500ns" '"500ns"' "a time of 1us to 4s" &&
	refused "deflect threshold 1kb idle off" '"off"' "must be a time of 1us to 4s" &&
	refused "ecn min 5kb prob 1.5" '"1.5"' "0 to 1" &&
	refused "ecn min 5kb prob -0.1" '"-0.1"' "0 to 1" &&
	refused "ecn min 5kb prob nan" '"nan"' "0 to 1" &&
	refused "ecn min 5kb noecn" "ecn or noecn given twice" &&
	refused "min 5kb" 'unknown option "min"' "Usage" &&
	refused "limit 20kb colour blue" 'unknown option "colour"' "Usage"
}

# 2 rate 3 overhead 4 limit 5 control-limit 6 mode 7 min 8 max 9 prob 11 telemetry 12 tcp-int
kernel_checks_ranges()
{
	kernel_refuses "out of range [2]" 2=1250000000001 4=20000 &&
	kernel_refuses "out of range [3]" 4=20000 3=65536 &&
	kernel_refuses "out of range [4]" 4=63 &&
	kernel_refuses "out of range [4]" 4=1073741825 &&
	kernel_refuses "out of range [5]" 4=20000 5=0 &&
	kernel_refuses "out of range [6]" 4=20000 6=3 7=1 8=1 &&
	kernel_refuses "out of range [7]" 6=1 7=1073741825 8=1 &&
	kernel_refuses "out of range [8]" 6=1 7=1 8=1073741825 &&
	kernel_refuses "out of range [9]" 6=1 7=1 8=1 9=65537 &&
	kernel_refuses "ecn min must be at most ecn max" 4=20000 6=1 7=2 8=1 &&
	kernel_refuses "ecn min and max must be at most limit" 4=20000 6=1 7=2 8=20001 &&
	kernel_refuses "ecn min and max must be at most limit" 6=1 7=2 8=10241 &&
	kernel_refuses "needs ecn min and ecn max" 4=20000 6=1 7=2 &&
	kernel_refuses "below the minimum, and not 0 [11]" 4=20000 11=99 &&
	kernel_refuses "out of range [11]" 4=20000 11=1000000001 &&
	kernel_refuses "below the minimum, and not 0 [12]" 4=20000 12=99 &&
	kernel_refuses "out of range [12]" 4=20000 12=1000000001 &&
	kernel_refuses "below the minimum, and not 0 [36]" memory-limit=65535 &&
	kernel_refuses "out of range [35]" timer-slack=500001
}

# What the refusals came close to.
kernel_accepts_good_input()
{
	port_set 4=20000 6=2 7=1 8=2 9=65536 11=100 12=100 &&
	port_is '.options | .limit == 20000 and .ecn == "enqueue" and
		.ecn_min == 1 and .ecn_max == 2 and .ecn_prob == 1 and
		.telemetry == 100 and .tcp_int == 100' &&
	port_set 11=1000000000 &&
	port_is '.options.telemetry == 1000000000' &&
	port_set 11=0 && port_is '.options.telemetry == 0'
}

## bands

# all_go_to BAND KIND[:DSCP]...: a frame of each, all into that band, and out
# as what they were.
all_go_to()
{
	local band=$1 kind dscp want=""
	shift

	port && listen $# || return 1
	for kind; do
		dscp=0
		[[ $kind = *:* ]] && dscp=${kind#*:}
		transmit "${kind%:*}" 1 100 0 "$dscp" || return 1
		want+="${kind%:*}:$dscp "
	done
	collect && frames_are '{ printf "%s:%s\n", $2, $5 }' "$want" &&
	port_is ".${band}_pkts == $# and .packets == $#"
}

control_overtakes_data()
{
	port "${held[*]}" && listen 13 && transmit udp 8 1000 && transmit ack 5 54 &&
	port_is '.data_backlog_bytes == 7000 and .control_backlog_bytes == 270 and
		.backlog == 7270 and .qlen == 12' &&
	release &&
	frames_are '{ printf "%s%s\n", $2, $3 }' \
		"udp0 ack0 ack1 ack2 ack3 ack4 udp1 udp2 udp3 udp4 udp5 udp6 udp7 " &&
	books_balance
}

## limits

# 20 offered: one leaves, ten fit into 10500 bytes, nine are dropped.
data_limit_is_exact()
{
	port "${held[*]}" limit 10500 && listen 11 && transmit udp 20 1000 &&
	port_is '.data_pkts == 1 and .data_backlog_bytes == 10000 and
		.data_backlog_max_bytes == 10000 and .backlog == 10000 and
		.qlen == 10 and .data_drop_pkts == 9 and
		.data_drop_bytes == 9000 and .drops == 9' &&
	release && frames_are '{ print $3 }' "0 1 2 3 4 5 6 7 8 9 10 " &&
	port_is '.data_pkts == 11 and .data_bytes == 11000' && books_balance
}

control_limit_is_its_own()
{
	port "${held[*]}" limit 1000 control-limit 170 && listen 5 &&
	transmit udp 3 1000 && transmit ack 10 54 &&
	port_is '.control_backlog_bytes == 162 and .control_drop_pkts == 7 and
		.control_drop_bytes == 378 and .data_drop_pkts == 1 and
		.control_backlog_max_bytes == 162 and .drops == 8' &&
	release && books_balance
}

shrinking_keeps_packets()
{
	port "${held[*]}" limit 100kb && listen 21 && transmit udp 21 1000 &&
	change limit 5kb &&
	port_is '.data_backlog_bytes == 20000 and .drops == 0' &&
	transmit udp 1 1000 && port_is '.drops == 1' &&
	release && books_balance
}

# What a flood of small packets may hold of buffers: of data seven eighths, of control half, and
# neither takes what is the other's.
memory_is_bounded()
{
	local each

	port "${held[*]}" limit 1mb memory_limit 64kb && transmit udp 2 60 &&
	port_is '.options.memory_limit == 65536 and .qlen == 1 and .memory_used_bytes >= 500' &&
	each=$(jq .memory_used_bytes "$dir/port") && transmit udp 300 60 &&
	port_is ".qlen == (57344 / $each | floor) and .memory_used_bytes == .qlen * $each and
		.data_drop_pkts == 301 - .qlen and .memory_drop_pkts == .data_drop_pkts" &&
	transmit ack 300 54 &&
	port_is ".qlen == (65536 / $each | floor) and .memory_used_bytes == .qlen * $each and
		.control_drop_pkts > 0 and .memory_drop_pkts == .drops" &&
	change memory_limit auto &&
	port_is '.options.memory_limit == null and .memory_max_bytes == 33554432' &&
	transmit udp 200 60 && port_is '.memory_drop_pkts == .drops and .qlen > 200' &&
	change limit 10mb control-limit 1mb && port_is '.memory_max_bytes == 109051904' &&
	change rate 100gbit && poll 10 books_balance && port_is '.memory_used_bytes == 0' &&
	control_leaves_memory "$each"
}

# control_leaves_memory BYTES: of a packet
control_leaves_memory()
{
	port "${held[*]}" limit 1mb control-limit 64kb memory_limit 64kb &&
	transmit ack 300 54 && transmit udp 300 60 &&
	port_is ".control_drop_pkts == 299 - (32768 / $1 | floor) and
		.qlen == (65536 / $1 | floor) and .data_drop_pkts < 300" &&
	change rate 100gbit && poll 10 books_balance && shrinking_leaves_control "$1"
}

# Data that was queued when there was more memory takes none of control's: shrinking_leaves_control
# BYTES: of a packet
shrinking_leaves_control()
{
	port "${held[*]}" limit 1mb control-limit 64kb && transmit udp 300 60 &&
	change memory_limit 64kb && transmit ack 300 54 &&
	port_is ".control_drop_pkts == 300 - (8192 / $1 | floor) and .data_drop_pkts == 0" &&
	transmit udp 10 60 && port_is '.data_drop_pkts == 10' &&
	change rate 100gbit && poll 10 books_balance
}

## marking

# Ten leave behind 0 (the first), then 8, 7 ... 0 frames.
step_at_dequeue()
{
	port "${held[*]}" ecn min 5000 && listen 10 && transmit udp 10 1000 2 &&
	release && frames_are '$4 == 3 { print $3 }' "1 2 3 4 " &&
	frames_are '$4 == 2 { print $3 }' "0 5 6 7 8 9 " &&
	port_is '.mark_pkts == 4 and .mark_bytes == 4000' && books_balance
}

# Ten find 0, 0, 1, 2 ... 8 frames.
step_at_enqueue()
{
	port "${held[*]}" ecn enqueue min 5000 && listen 10 && transmit udp 10 1000 1 &&
	port_is '.mark_pkts == 4' &&
	release && frames_are '$4 == 3 { print $3 }' "6 7 8 9 " &&
	frames_are '$4 == 1 { print $3 }' "0 1 2 3 4 5 " && books_balance
}

not_ect_is_counted_not_dropped()
{
	port "${held[*]}" ecn min 5000 && listen 10 && transmit udp 10 1000 0 &&
	release && frames_are '$4 != 0 { print $3 }' "" &&
	port_is '.mark_pkts == 0 and .not_ect_pkts == 4 and .drops == 0'
}

# IPv6 with its flow label whole, frames with a VLAN tag, no IP at all.
marks_other_headers()
{
	port "${held[*]}" ecn min 5000 && listen 10 && transmit udp6 10 1000 2 &&
	release && frames_are '$2 == "udp6" && $4 == 3 { print $3 }' "1 2 3 4 " &&
	port "${held[*]}" ecn min 5000 && listen 10 && transmit vlanudp 10 1000 2 &&
	release && frames_are '$2 == "vlanudp" && $4 == 3 { print $3 }' "1 2 3 4 " &&
	port "${held[*]}" ecn min 5000 && listen 10 && transmit other 10 1000 2 &&
	release && port_is '.mark_pkts == 0 and .not_ect_pkts == 4'
}

# The frame at the shaper left when the queue behind it was empty: 8, 7, 6 ... frames from the next on.
marks_below_a_shaper()
{
	near_tc qdisc del dev va root 2>/dev/null
	near_tc qdisc add dev va root handle 1: tbf rate 8mbit burst 1600 limit 1mb &&
	near_tc qdisc add dev va parent 1:1 handle 2: swport ecn min 5000 && listen 10 &&
	transmit udp 10 1000 2 && collect && frames_are '$4 == 3 { print $3 }' "2 3 4 "
}

without_ecn_nothing_is_marked()
{
	port "${held[*]}" && listen 10 && transmit udp 10 1000 2 && release &&
	frames_are '$4 != 2 { print $3 }' "" && port_is '.mark_pkts == 0 and .not_ect_pkts == 0'
}

control_is_never_marked()
{
	port "${held[*]}" ecn min 0 && listen 6 && transmit ack 6 54 2 &&
	release && frames_are '$4 != 2 { print $3 }' "" && port_is '.mark_pkts == 0'
}

# red SEED: numbers of the frames marked out of 600 that leave behind 598000,
# 597000 ... 0 bytes, between 100000 and 500000 with probability up to 0.5.
red()
{
	port "${held[*]}" limit 1mb ecn min 100000 max 500000 prob 0.5 seed "$1" &&
	listen 600 && transmit udp 600 1000 2 && release &&
	awk '$4 == 3 { print $3 }' "$dir/frames" >"$dir/marks.$1"
}

# The count between the thresholds within four standard deviations of the sum
# of probabilities, in each half of the line as well.
frequencies_fit()
{
	awk -v from="$1" -v to="$2" '
	{ marked[$1] = 1 }
	END {
		for (i = 1; i < 600; i++) {
			q = (599 - i) * 1000
			if (q < 100000 || q >= 500000) {
				wrong += (i in marked) != (q >= 500000)
			} else if (q >= from && q < to) {
				p = 0.5 * (q - 100000) / 400000
				mean += p; variance += p * (1 - p)
				count += i in marked
			}
		}
		printf "%d to %d: marked %d, expected %.1f, variance %.1f, wrong %d\n",
			from, to, count, mean, variance, wrong
		off = count - mean
		exit wrong || !count || off * off > 16 * variance
	}' "$dir/marks.7"
}

red_follows_the_line()
{
	red 7 && frequencies_fit 100000 500000 &&
	frequencies_fit 100000 300000 && frequencies_fit 300000 500000
}

seed_decides_the_lottery()
{
	cp "$dir/marks.7" "$dir/marks.first" && red 7 &&
	cmp "$dir/marks.7" "$dir/marks.first" && red 8 &&
	! cmp -s "$dir/marks.7" "$dir/marks.8"
}

# netem sends each frame twice; the copies share their data.  The last copy
# leaves nothing behind and must not show the mark of its twin, which did.
marking_spares_clones()
{
	near_tc qdisc del dev va root 2>/dev/null
	near_tc qdisc add dev va root handle 1: netem duplicate 100% &&
	near_tc qdisc add dev va parent 1:1 handle 2: swport "${held[@]}" ecn min 100 &&
	listen 6 && transmit udp 3 1000 2 &&
	near_tc qdisc change dev va parent 1:1 handle 2: swport rate 100gbit &&
	collect && frames_are '$3 == 2 { print $4 }' "3 2 "
}

plan 23
check "a network of two, and the frame maker" \
	eval "make_network && command -v swport_pkt"
loaded sch_swport || modprobe sch_swport
check "text output is valid input" text_is_valid_input
check "tc refuses bad input and names value and range" unchanged_by tc_refuses_bad_input limit 10kb
check "the kernel refuses bad input and names attribute and range" \
	unchanged_by kernel_checks_ranges limit 10kb
check "the kernel accepts what is just in range" kernel_accepts_good_input
check "control band: pure ACKs, ARP, ND, CS6 and CS7" all_go_to control \
	ack ack6 vlanack arp nd udp:48 udp:56 tcp6:48
check "control band: LACP, LLDP, STP, PTP, EAPOL, IGMP, MLD" all_go_to control \
	lacp lldp stp ptp eapol igmp mld
check "data band: payload, SYN, FIN, RST, fragments and the rest" all_go_to data \
	tcp udp syn synack fin rst frag tcp6 udp6 syn6 ping6 ping6hop other group udp:46 vlanudp
check "control overtakes data" control_overtakes_data
check "data band holds its limit exactly" data_limit_is_exact
check "control band has its own limit" control_limit_is_its_own
check "memory has a limit, of which control keeps a part" memory_is_bounded
check "a smaller limit drops nothing that is queued" shrinking_keeps_packets
check "step at dequeue marks by what stays behind" step_at_dequeue
check "step at enqueue marks by what is there" step_at_enqueue
check "not-ECT is counted, not dropped" not_ect_is_counted_not_dropped
check "IPv6 and VLAN are marked, other protocols counted" marks_other_headers
check "below a shaper marks are by the port's queue" marks_below_a_shaper
check "without ecn no packet is marked" without_ecn_nothing_is_marked
check "control is never marked" control_is_never_marked
check "RED follows its line" red_follows_the_line
check "the seed decides the lottery" seed_decides_the_lottery
check "marking spares clones" marking_spares_clones
finish

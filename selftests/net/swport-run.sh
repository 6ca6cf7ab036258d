#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The switch port, packet by packet: super-packets, rate, and changes under load.
# swport-gso.sh has parents.

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./port.sh

## super-packets

gso_is_cut()
{
	port "${held[*]}" limit 50kb && listen 11 && transmit udp 1 1000 &&
	transmit gso 1 10054 &&
	port_is '.gso_split_pkts == 1 and .qlen == 10 and
		.data_backlog_bytes == 10540 and .backlog == 10540' &&
	release &&
	frames_are '{ printf "%s%s:%s\n", $2, $3, $6 }' \
		"udp0:1000 tcp0:1054 tcp1:1054 tcp2:1054 tcp3:1054 tcp4:1054 tcp5:1054 tcp6:1054 tcp7:1054 tcp8:1054 tcp9:1054 " &&
	books_balance
}

# Each segment is admitted and dropped by itself, and marked for what is behind all.
gso_is_judged_by_segment()
{
	port "${held[*]}" limit 8000 ecn min 500 && listen 9 && transmit udp 1 1000 &&
	transmit gso 1 10054 2 && transmit udp 1 600 2 &&
	port_is '.qlen == 8 and .data_drop_pkts == 3 and .backlog == 7978' &&
	release && frames_are '$4 == 3 { printf "%s%s\n", $2, $3 }' \
		"tcp0 tcp1 tcp2 tcp3 tcp4 tcp5 tcp6 " &&
	books_balance
}

## rate

rate_is_exact()
{
	port rate 30mbit limit 1mb && listen 400 && transmit udp 400 1514 &&
	collect && wire_time 3750000 0
}

overhead_counts()
{
	port rate 30mbit overhead 1000 limit 1mb && listen 200 &&
	transmit udp 200 514 && collect && wire_time 3750000 1000
}

# bursts SLACK_NS: of frames that the wire takes 40373.3 ns each for.  None is early, none later
# than the slack, into which ten fit; the clock's own interrupt lets go what is due as well.
bursts()
{
	local jitter_ns=20

	# An emulated machine has other interrupts, and is late as it likes.
	is_virtual || jitter_ns=2000000000
	awk -v slack="$1" -v jitter="$jitter_ns" '
	NR == 1 { first = $1 }
	{
		wire = (NR - 1) * 1514 * 1000000000 / 37500000
		late = $1 - first - wire
		late_max = late > late_max ? late : late_max
		late_min = late < late_min ? late : late_min
		bursts += $1 - last > 20000
		last = $1
	}
	END {
		printf "%d frames in %d bursts, late %.0f to %.0f ns\n", NR, bursts, late_min, late_max
		exit late_min < -20 || late_max > slack + jitter ||
			(jitter < 1000 && bursts > NR / 7)
	}' "$dir/frames"
}

# A timer may be late; the rate is not.
one_timer_serves_several()
{
	port rate 300mbit timer_slack 400us limit 1mb && port_is '.options.timer_slack == 400000' &&
	listen 400 && transmit udp 400 1514 && collect && bursts 400000 &&
	change timer_slack off && port_is '.options.timer_slack == null' &&
	listen 100 && transmit udp 100 1514 && collect && wire_time 37500000 0
}

without_rate_nothing_waits()
{
	port && listen 300 && transmit udp 300 1514 && collect &&
	port_is '.overlimits == 0 and .data_pkts == 300' && books_balance
}

## under load

# Flip everything while a connection is busy; the sleep sets how often.
flip_until_done()
{
	local client=$1 flips=0

	while kill -0 "$client" 2>/dev/null; do
		change rate 200mbit limit 100kb ecn min 20kb max 80kb prob 0.5 &&
		change rate 0 limit 30kb noecn control-limit 10kb &&
		change rate 1gbit overhead 24 limit 1mb ecn enqueue min 0 seed 3 ||
			return 1
		flips=$((flips + 3))
		sleep 0.02
	done
	echo "$flips changes"
	[ "$flips" -ge 6 ]
}

survives_changes_under_load()
{
	local server client

	ip -n "$near" addr replace 10.72.0.1/24 dev va &&
	ip -n "$far" addr replace 10.72.0.2/24 dev vb &&
	port rate 100mbit limit 100kb || return 1
	in_netns "$near" sysctl -q -w net.ipv4.tcp_ecn=1
	in_netns "$far" iperf3 -s -1 >"$dir/server" 2>&1 &
	server=$!
	defer kill "$server"
	poll 10 listens "$far" 5201 || return 1
	in_netns "$near" iperf3 -J -c 10.72.0.2 -n 8M >"$dir/iperf" &
	client=$!
	flip_until_done "$client" || return 1
	if ! wait "$client" || ! json '.error == null' "$dir/iperf"; then
		cat "$dir/iperf"
		return 1
	fi
	# iperf3 does not count what is on its way when the sender is done.
	json '.end.sum_sent.bytes >= 8388608 and
		.end.sum_received.bytes >= 4000000' "$dir/iperf" &&
	port_is '.control_pkts > 0 and .data_bytes > 4000000 and
		.gso_split_pkts > 0' &&
	poll 5 books_balance
}

down_empties_the_port()
{
	port "${held[*]}" && transmit udp 20 1000 && transmit gso 1 10054 &&
	port_is '.qlen == 29' &&
	ip -n "$near" link set va down && books_empty &&
	ip -n "$near" link set va up && listen 1 && transmit udp 1 1000 && collect
}

books_empty()
{
	port_is '.backlog == 0 and .qlen == 0 and .data_backlog_bytes == 0 and
		.control_backlog_bytes == 0'
}

# The plug is pulled on a full port: nothing of it stays.
deleting_a_full_port_frees_the_module()
{
	port "${held[*]}" && transmit udp 50 1000 && transmit ack 5 54 &&
	! rmmod sch_swport 2>/dev/null && loaded sch_swport &&
	near_tc qdisc del dev va root && poll 10 rmmod sch_swport
}

plan 10
check "a network of two, and the frame maker" \
	eval "make_network && command -v swport_pkt"
loaded sch_swport || modprobe sch_swport
check "a super-packet is cut" gso_is_cut
check "each segment is judged by itself" gso_is_judged_by_segment
check "the rate is the wire's" rate_is_exact
check "overhead counts" overhead_counts
check "one timer serves several packets, and the rate holds" one_timer_serves_several
check "without a rate nothing waits" without_rate_nothing_waits
check "changes under load: iperf3 completes, the books balance" survives_changes_under_load
check "link down empties the port, link up serves again" down_empties_the_port
check "unloading: refused while in use, clean when a full port is deleted" \
	deleting_a_full_port_frees_the_module
finish

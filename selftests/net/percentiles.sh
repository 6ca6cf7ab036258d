#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Depth and sojourn percentiles of the switch port's bands.

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./port.sh

# within NAME VALUE: of the quantiles in that place, to 1/32.
within()
{
	port_is "($1) as \$v | \$v >= $2 * 31 / 32 and \$v <= $2 * 33 / 32"
}

# 100 packets of 1000 bytes find 0, 0, 1000 ... 98000.
depth_is_what_arrivals_find()
{
	port "${held[*]}" percentiles on && transmit udp 100 1000 &&
	port_is '.data_depth_bytes | .max == 98000 and .count == 100' &&
	within .data_depth_bytes.p50 48000 && within .data_depth_bytes.p90 88000 &&
	within .data_depth_bytes.p99 97000 && within .data_depth_bytes.p999 98000 &&
	port_is '.control_depth_bytes.count == 0 and .data_sojourn_ns.count == 1'
}

# Those that are dropped have seen the queue too; segments count each.
dropped_and_cut_ones_count()
{
	port "${held[*]}" limit 3000 percentiles on && transmit udp 10 1000 &&
	port_is '.data_depth_bytes | .count == 10 and .max == 3000' &&
	port "${held[*]}" percentiles on && transmit udp 1 1000 && transmit gso 1 10054 &&
	port_is '.data_depth_bytes | .count == 11 and .max == 9486'
}

# near_time NAME NS: in virtual time to 1/32 and 1 us; an emulated machine is late
# without bounds, but never early by more than swport makes good for.
near_time()
{
	if is_virtual; then
		port_is "($1) as \$v | (\$v - $2 | fabs) <= $2 / 32 + 1000"
	else
		port_is "($1) as \$v | \$v >= $2 * 31 / 32 - 1100000"
	fi
}

# 1 ms each: packet n waits n ms.
sojourn_is_the_wait()
{
	port rate 8mbit percentiles on && listen 101 && transmit udp 101 1000 && collect &&
	port_is '.data_sojourn_ns | .count == 101 and .p50 <= .p90 and .p90 <= .p99 and
		.p99 <= .p999 and .p999 <= .max' &&
	near_time .data_sojourn_ns.p50 50000000 && near_time .data_sojourn_ns.p90 90000000 &&
	near_time .data_sojourn_ns.p99 99000000 && near_time .data_sojourn_ns.max 100000000
}

bands_are_apart()
{
	port "${held[*]}" percentiles on && listen 22 && transmit udp 11 1000 &&
	transmit ack 11 54 && change rate 8mbit && collect &&
	port_is '.control_depth_bytes.count == 11 and .control_sojourn_ns.count == 11 and
		.data_depth_bytes.count == 11 and .data_sojourn_ns.count == 11 and
		.control_depth_bytes.max == 540 and
		.control_sojourn_ns.max < .data_sojourn_ns.max'
}

# Off forgets; on again begins at nothing, and of what was queued before nobody
# knows since when.  On where it is on, and a link that goes down, forget nothing.
off_forgets()
{
	port "${held[*]}" percentiles on && transmit udp 10 1000 && change percentiles on &&
	port_is '.data_depth_bytes.count == 10' && change limit 1mb &&
	port_is '.data_depth_bytes.count == 10' && change percentiles off &&
	port_is 'has("data_depth_bytes") | not' && transmit udp 5 1000 && change percentiles on &&
	port_is '.data_depth_bytes.count == 0' && transmit udp 5 1000 &&
	listen 19 && change rate 100gbit && collect &&
	port_is '.data_depth_bytes.count == 5 and .data_sojourn_ns.count == 14' &&
	ip -n "$near" link set va down && port_is '.data_depth_bytes.count == 5' &&
	ip -n "$near" link set va up
}

refusals()
{
	port percentiles on && refused "percentiles maybe" 'bad percentiles "maybe": must be off or on' &&
	refused percentiles 'bad percentiles "": must be off or on' &&
	refused "percentiles on percentiles off" "percentiles given twice" &&
	kernel_refuses "out of range [20]" percentiles=2 &&
	port_is '.options.percentiles == true'
}

# Below a parent that peeks, and under change.
under_tbf()
{
	near_tc qdisc del dev va root 2>/dev/null
	near_tc qdisc add dev va root handle 1: tbf rate 8mbit burst 2000 limit 1mb &&
	near_tc qdisc add dev va parent 1:1 handle 2: swport percentiles on &&
	listen 50 && transmit udp 50 1000 &&
	near_tc qdisc change dev va parent 1:1 handle 2: swport percentiles on limit 1mb &&
	collect && port_is '.data_sojourn_ns | .count == 50 and .max > 40000000'
}

plan 8
check "a network of two, and the frame maker" \
	eval "make_network && command -v swport_pkt"
loaded sch_swport || modprobe sch_swport
check "depth is what arrivals find" depth_is_what_arrivals_find
check "dropped packets and segments count" dropped_and_cut_ones_count
check "sojourn is the wait" sojourn_is_the_wait
check "bands are apart" bands_are_apart
check "turning off forgets, nothing else does" off_forgets
check "refusals" refusals
check "under tbf, which peeks" under_tbf
finish

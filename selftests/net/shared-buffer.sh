#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Switch ports of one network namespace share a buffer with dynamic thresholds.
# shellcheck disable=SC2086,SC2048 # words

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./port.sh

# A second port beside va: vc, with vd at the other end.
make_two()
{
	make_network && cable "$near" vc "$far" vd
}

# on DEVICE add|change OPTIONS...
on()
{
	local dev=$1 verb=$2
	shift 2

	[ "$verb" = change ] || near_tc qdisc del dev "$dev" root 2>/dev/null
	near_tc qdisc "$verb" dev "$dev" root handle 1: swport $*
}

none()
{
	near_tc qdisc del dev va root 2>/dev/null
	near_tc qdisc del dev vc root 2>/dev/null
	true
}

# dev_is DEVICE FILTER
dev_is()
{
	near_tc -s -j qdisc show dev "$1" >"$dir/all" &&
	jq '.[] | select(.kind == "swport")' "$dir/all" >"$dir/$1" && json "$2" "$dir/$1"
}

fill()
{
	in_netns "$near" swport_pkt send "$1" udp "$2" 1000
}

## configuration

last_size_counts()
{
	none && on va add buffer 1mb alpha 2 && on vc add buffer 512kb &&
	dev_is va '.options | .buffer == 524288 and .alpha == 2' &&
	on va change buffer 256kb &&
	dev_is va '.options | .buffer == 262144 and .alpha == 2' &&
	dev_is vc '.options | .buffer == 262144 and .alpha == 1' &&
	on vc change limit 100kb && dev_is vc '.options | .buffer == 262144' &&
	on vc change buffer off && dev_is vc '.options | has("buffer") or has("alpha") | not' &&
	on vc change alpha 4 && dev_is vc '.options | .buffer == 262144 and .alpha == 4'
}

of_one_namespace()
{
	none && on va add buffer 20kb &&
	refuses "alpha needs buffer" tc -n "$far" qdisc add dev vb root swport alpha 1 &&
	tc -n "$far" qdisc add dev vb root swport buffer 40kb &&
	dev_is va '.options.buffer == 20480' && tc -n "$far" qdisc del dev vb root
}

refusals()
{
	local before after

	none && on va add limit 10kb || return 1
	before=$(near_tc qdisc show dev va)
	fails_with "alpha needs buffer" on va change alpha 1 limit 20kb &&
	fails_with 'bad buffer "63": must be a size of 64b to' on va change buffer 63 &&
	fails_with 'bad buffer "2gb": must be a size of 64b to' on va change buffer 2gb &&
	fails_with 'bad buffer "": must be a size of 64b to' on va change buffer &&
	fails_with 'bad alpha "0": must be a number of 2^-16 to 1024' on va change buffer 1mb alpha 0 &&
	fails_with 'bad alpha "1025": must be a number of' on va change buffer 1mb alpha 1025 &&
	fails_with 'bad alpha "-1": must be a number of' on va change buffer 1mb alpha -1 &&
	fails_with 'bad alpha "nan": must be a number of' on va change buffer 1mb alpha nan &&
	fails_with 'bad alpha "1x": must be a number of' on va change buffer 1mb alpha 1x &&
	fails_with 'alpha or buffer off given twice' on va change alpha 1 buffer off &&
	fails_with 'buffer given twice' on va change buffer off buffer 1mb &&
	fails_with 'buffer given twice' on va change buffer 1mb buffer off &&
	kernel_refuses "out of range [18]" buffer=63 &&
	kernel_refuses "out of range [18]" buffer=1073741825 &&
	kernel_refuses "out of range [19]" buffer=1000 alpha=67108865 &&
	kernel_refuses "alpha needs buffer" alpha=1 || return 1
	after=$(near_tc qdisc show dev va)
	[ "$before" = "$after" ] && on va change buffer 64 alpha 1024 &&
	on va change alpha 0.0000153 && dev_is va '.options.buffer == 64' &&
	on va change alpha 1e-5 && dev_is va '.options.alpha <= 0.00002' &&
	on va change alpha 1024.000001 && dev_is va '.options.alpha == 1024'
}

## thresholds

# Two ports held still, with frames of 1000 bytes, the first of which leave at once.
two()
{
	none
	on va add "${held[@]}" "$1" && on vc add "${held[@]}" "$2" && fill va 1 && fill vc 1 &&
	dev_is va '.buffer_used_bytes == 0 and .data_pkts == 1'
}

# q + 1000 <= 20000 - q
lone_port()
{
	two "buffer 20000" "limit 1mb" && fill va 20 &&
	dev_is va '.data_backlog_bytes == 10000 and .buffer_used_bytes == 10000 and
		.buffer_threshold_bytes == 10000 and .buffer_drop_pkts == 10 and
		.buffer_drop_bytes == 10000 and .data_drop_pkts == 10 and .drops == 10' &&
	fill vc 20 && dev_is vc '.data_backlog_bytes == 20000 and .buffer_used_bytes == 0' &&
	dev_is va '.buffer_used_bytes == 10000'
}

# What the first has taken, the second has not: q + 1000 <= 10000 - q
second_port()
{
	two "buffer 20000" "alpha 1" && fill va 20 && fill vc 20 &&
	dev_is vc '.data_backlog_bytes == 5000 and .buffer_drop_pkts == 15 and
		.buffer_used_bytes == 15000' &&
	dev_is va '.data_backlog_bytes == 10000 and .buffer_used_bytes == 15000 and
		.buffer_used_max_bytes == 15000'
}

# In turn they come to equal parts, a third each, with alpha 3 to 4 to 3/8 and 1/2.
equal_parts()
{
	two "buffer 21000" "alpha 1" || return 1
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		fill va 1 && fill vc 1
	done
	dev_is va '.data_backlog_bytes == 7000' && dev_is vc '.data_backlog_bytes == 7000 and
		.buffer_threshold_bytes == 7000 and .buffer_drop_pkts == 3'
}

# Whatever alpha, no more than there is.
never_more_than_size()
{
	two "buffer 20000 alpha 1024" "alpha 1024" || return 1
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
		fill va 1 && fill vc 1
	done
	dev_is va '.data_backlog_bytes == 10000 and .buffer_drop_pkts == 2 and
		.buffer_used_bytes == 20000 and .buffer_used_max_bytes == 20000 and
		.buffer_threshold_bytes == 0'
}

limit_still_counts()
{
	two "buffer 20000 limit 3000" "alpha 1" && fill va 20 &&
	dev_is va '.data_backlog_bytes == 3000 and .data_drop_pkts == 17 and
		.buffer_drop_pkts == 0 and .buffer_used_bytes == 3000'
}

control_is_not_counted()
{
	two "buffer 20000" "alpha 1" && in_netns "$near" swport_pkt send va ack 10 54 &&
	dev_is va '.control_backlog_bytes == 540 and .buffer_used_bytes == 0'
}

# A super-packet is counted by its segments, as far as they fit.
gso_by_segment()
{
	two "buffer 8000" "alpha 1" && in_netns "$near" swport_pkt send va gso 1 10054 &&
	dev_is va '.buffer_used_bytes == 4216 and .data_backlog_bytes == 4216 and
		.buffer_drop_pkts == 6'
}

## change and end

change_while_full()
{
	two "buffer 20000" "alpha 1" && fill va 20 && fill vc 20 &&
	on va change buffer off && dev_is vc '.buffer_used_bytes == 5000' &&
	dev_is va '.data_backlog_bytes == 10000 and .buffer_used_bytes == 0' &&
	on va change alpha 0.5 && dev_is vc '.buffer_used_bytes == 15000' &&
	on va change buffer 9000 &&
	dev_is va '.buffer_used_bytes == 15000 and .buffer_threshold_bytes == 0' && fill va 1 &&
	dev_is va '.buffer_used_bytes == 15000 and .buffer_drop_pkts == 11' &&
	on vc change buffer 1mb && fill va 1 && dev_is va '.buffer_used_bytes == 16000'
}

# reset_while_full COMMAND...: ends what va holds; vc keeps its part.
reset_while_full()
{
	two "buffer 20000" "alpha 1" && fill va 20 && fill vc 20 && "$@" &&
	dev_is vc '.data_backlog_bytes == 5000 and .buffer_used_bytes == 5000'
}

down_while_full()
{
	reset_while_full ip -n "$near" link set va down &&
	dev_is va '.data_backlog_bytes == 0 and .buffer_used_bytes == 5000' &&
	ip -n "$near" link set va up && fill va 3 && dev_is vc '.buffer_used_bytes == 7000'
}

delete_while_full()
{
	reset_while_full near_tc qdisc del dev va root && on va add alpha 1 &&
	dev_is va '.buffer_used_bytes == 5000' && none &&
	refuses "alpha needs buffer" on va add alpha 1
}

# Both at once, with changes; at the end nothing is held.
drained()
{
	dev_is va '.backlog == 0 and .buffer_used_bytes == 0' &&
	dev_is vc '.backlog == 0 and .buffer_used_bytes == 0'
}

compete()
{
	local one two i

	none
	on va add rate 200mbit buffer 60kb && on vc add rate 200mbit alpha 1 || return 1
	fill va 3000 & one=$!
	fill vc 3000 & two=$!
	for i in 1 2 3 4 5 6 7 8 9 10; do
		on va change rate $((50 + 10 * i))mbit alpha 0.$i && on vc change alpha $i || return 1
	done
	wait "$one" && wait "$two" && on va change rate 10gbit && on vc change rate 10gbit &&
	poll 20 drained &&
	dev_is va '.buffer_used_max_bytes <= 61440 and .buffer_used_max_bytes > 20000 and
		.data_pkts + .data_drop_pkts == 3000' &&
	dev_is vc '.data_pkts + .data_drop_pkts == 3000'
}

# Only then does what is sent go to its qdisc.
is_up()
{
	[ "$(ip -n "$1" -j link show "$2" | jq -r '.[0].operstate')" = UP ]
}

# A device goes with a full port; then its namespace, with a port that shares.  (A
# namespace outlives packets its own sockets sent.)
device_and_namespace_end()
{
	local gone

	gone=ns-gone-$RANDOM
	ip netns add "$gone" &&
	ip link add name vx netns "$gone" type veth peer name vy netns "$far" &&
	ip link add name vz netns "$gone" type dummy &&
	ip -n "$gone" link set vx addrgenmode none up && ip -n "$far" link set vy up &&
	tc -n "$gone" qdisc add dev vz root handle 1: swport buffer 20000 &&
	tc -n "$gone" qdisc add dev vx root handle 1: swport rate 80bit alpha 1 &&
	poll 20 is_up "$gone" vx && in_netns "$gone" swport_pkt send vx udp 9 1000 &&
	tc -n "$gone" -s -j qdisc show dev vz >"$dir/vz" &&
	json '.[0].buffer_used_bytes == 8000' "$dir/vz" && ip -n "$gone" link del vx &&
	tc -n "$gone" -s -j qdisc show dev vz >"$dir/vz" &&
	json '.[0].buffer_used_bytes == 0 and .[0].buffer_used_max_bytes == 8000' "$dir/vz" &&
	ip netns del "$gone" && none && poll 20 rmmod sch_swport && modprobe sch_swport
}

plan 18
check "a network of two with two cables, and the frame maker" \
	eval "make_two && command -v swport_pkt"
loaded sch_swport || modprobe sch_swport
check "the size named last counts for all" last_size_counts
check "each namespace has its own" of_one_namespace
check "refusals name value and range, and change nothing" refusals
check "a lone port: half, with alpha 1" lone_port
check "a second port gets half of what is left" second_port
check "in turn both get equal parts" equal_parts
check "never more than its size" never_more_than_size
check "the port's own limit still counts" limit_still_counts
check "the control band is not counted" control_is_not_counted
check "super-packets are counted by segment" gso_by_segment
check "leaving, joining and resizing with full queues" change_while_full
check "a link that goes down gives back what it held" down_while_full
check "a port deleted gives back what it held" delete_while_full
check "so does one replaced" reset_while_full near_tc qdisc replace dev va root handle 9: pfifo_fast
check "two ports compete, with changes: nothing is lost count of" compete
check "a device that goes with a full port, and its namespace" device_and_namespace_end
check "the frames' books balance at the end" eval "on va add && port_is '.drops == 0'"
finish

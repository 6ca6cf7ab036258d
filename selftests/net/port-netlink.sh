#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The switch port over netlink: what is not understood is refused by name, and whoever
# listens hears of every change, whatever the port has to say of itself.  And below other
# devices and qdiscs of stock kernels.
# shellcheck disable=SC2086,SC1083 # words

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./port.sh

# Attributes of include/uapi/linux/pkt_sched_swport.h.
options=2 limit=4 pad=1 rate=2 seed=10 telemetry=11
classes=13 class=1 dscps=2 class_min=3 class_max=4
vias=27 via_dev=1 via_addr=2
mode=6 ecn_min=7 ecn_max=8 deflect=21 threshold=22

make_all()
{
	make_network && ip -n "$near" link add other type dummy
}

## strict parsing

raw()
{
	in_netns "$near" quell_nl qdisc va 1:s:swport "$@"
}

# refused TEXT ATTRIBUTE...: options that the kernel refuses, saying TEXT; a good one among
# them has not been taken.
refused()
{
	local text=$1 answer
	shift

	answer=$(raw $options:{ $limit:u32:20000 "$@" })
	[ $? -eq 1 ] || {
		echo "accepted: $*"
		return 1
	}
	[[ $answer = *"$text"* ]] || {
		echo "$*: no '$text' in: $answer"
		return 1
	}
	port_is '.options.limit == 10240'
}

unknown_is_refused()
{
	port limit 10kb &&
	refused "Unknown attribute type [99]" 99:u32:1 &&
	refused "[0]" 0:u32:1 &&
	refused "[$pad]" $pad:u32:1 &&
	refused "[500]" 500:x: &&
	refused "[$vias]" $vias:x:
}

wrong_type_is_refused()
{
	port limit 10kb &&
	refused "invalid attribute length [$seed]" $seed:u64:7 &&
	refused "[$rate]" $rate:u32:1000 &&
	refused "[$telemetry]" $telemetry:x:01 &&
	refused "[$seed]" $((seed + 0x8000)):u32:7 &&
	refused "[$classes]" $classes:[ } && refused "[$classes]" $classes:x:00
}

nests_are_strict_too()
{
	local red=("$mode:u32:1" "$ecn_min:u32:1000" "$ecn_max:u32:2000")
	local one=("$dscps:u64:2" "$class_min:u32:1000" "$class_max:u32:2000")
	local next=("$via_dev:u32:1" "$via_addr:x:0a000001")
	local on=("$deflect:u32:1" "$threshold:u32:500")

	port limit 10kb &&
	refused "Unknown attribute type [40]" "${red[@]}" \
		$classes:{ $class:{ "${one[@]}" 40:u32:1 } } &&
	refused "[$class_min]" "${red[@]}" $classes:{ $class:{ $dscps:u64:2 $class_min:u64:1 } } &&
	refused "NLA_F_NESTED is missing" "${red[@]}" $classes:{ $class:[ "${one[@]}" } } &&
	refused "unknown attribute among ecn-classes" "${red[@]}" \
		$classes:{ $class:{ "${one[@]}" } $((class + 1)):{ "${one[@]}" } } &&
	refused "trailing bytes" "${red[@]}" $((classes + 0x8000)):x:000100000000 &&
	refused "Unknown attribute type [9]" "${on[@]}" $vias:{ 1:{ "${next[@]}" 9:u32:1 } } &&
	refused "numbered from 1" "${on[@]}" $vias:{ 7:{ "${next[@]}" } } &&
	refused "out of range [$via_dev]" "${on[@]}" \
		$vias:{ 1:{ $via_dev:u32:0 $via_addr:x:0a000001 } } &&
	refused "out of range [$via_addr]" "${on[@]}" $vias:{ 1:{ $via_dev:u32:1 $via_addr:x:0a } }
}

flag_of_options_is_needed()
{
	local answer

	port limit 10kb || return 1
	answer=$(raw $options:[ $limit:u32:20000 }) && return 1
	[[ $answer = *"NLA_F_NESTED is missing"* ]] && port_is '.options.limit == 10240'
}

# What the refusals came close to.
good_ones_are_accepted()
{
	port limit 10kb &&
	raw $options:{ $limit:u32:20000 $seed:u32:7 $rate:u64:1000 $telemetry:u32:100 \
		$mode:u32:1 $ecn_min:u32:1000 $ecn_max:u32:2000 \
		$classes:{ $class:{ $dscps:u64:2 $class_min:u32:1000 $class_max:u32:2000 } } } &&
	port_is '.options | .limit == 20000 and .seed == 7 and .rate == 1000 and
		.telemetry == 100 and .ecn_classes[0].dscp == "1"'
}

## notifications

# Whether a program of the namespace listens to RTNLGRP_TC.
has_listener()
{
	in_netns "$near" awk '$2 == 0 && $4 == "00000008" { found = 1 }
		END { exit !found }' /proc/net/netlink
}

listen_to_changes()
{
	: >"$dir/heard"
	tc -n "$near" -s monitor >"$dir/heard" 2>&1 &
	defer kill $!
	poll 10 has_listener
}

# Lines with that beginning behind the ones heard before.
is_heard()
{
	tail -n +"$1" "$dir/heard" | grep -q "^$2"
}

# tells PATTERN TC-ARGUMENT...: a change, and the listener hears of it.
tells()
{
	local pattern=$1 from
	shift

	from=$(($(wc -l <"$dir/heard") + 1))
	near_tc qdisc "$@" || return 1
	poll 5 is_heard "$from" "$pattern" || {
		echo "not heard: $pattern of $*"
		tail -n +"$from" "$dir/heard"
		return 1
	}
}

every_change_is_heard()
{
	near_tc qdisc del dev va root 2>/dev/null
	tells "qdisc swport 1: dev va root .* limit 10Kb" \
		add dev va root handle 1: swport limit 10kb "$@" &&
	transmit udp 3 1000 2 && transmit ack 3 54 &&
	tells "qdisc swport 1: dev va root .* limit 20Kb" \
		change dev va root handle 1: swport limit 20kb &&
	tells "qdisc swport 1: dev va root .* limit 30Kb" \
		replace dev va root handle 1: swport limit 30kb "$@" &&
	tells "deleted qdisc swport 1: dev va root .* limit 30Kb" \
		replace dev va root handle 2: swport limit 40kb "$@" &&
	tells "deleted qdisc swport 2: dev va root .* limit 40Kb" \
		replace dev va root handle 3: swport limit 50kb "$@" &&
	grep -q "^qdisc swport 3: dev va root .* limit 50Kb" "$dir/heard" &&
	tells "deleted qdisc swport 3: dev va root .* limit 50Kb" del dev va root
}

# The most that options can be: eight classes and sixteen alternates, of IPv6.
fill_large()
{
	local i

	large=(rate 1gbit ecn min 2000 percentiles on deflect threshold 1000)
	for i in {1..16}; do
		large+=(via "2001:db8:1234:5678:9abc:def0:1234:$i" dev other)
	done
	for i in {1..8}; do
		large+=(ecn-class "$((i + 8)),$((i + 40))" min 100 max 5000 prob 0.5)
	done
}

a_dump_has_all_of_it()
{
	port limit 10kb "${large[@]}" && transmit udp 5 1000 2 9 && transmit ack 2 54 &&
	poll 5 port_is '(.ecn_class_stats | length) == 8 and .ecn_class_stats[0].pkts == 5 and
		.data_sojourn_ns.count == 5 and .control_depth_bytes.count == 2 and
		.trim_pkts == 0 and .data_pkts == 5 and (.options.deflect_via | length) == 16'
}

# Behind another replaced port there is no room for the statistics of both.
statistics_of_a_small_port_are_heard()
{
	local from

	port limit 10kb percentiles on && transmit udp 5 1000 && poll 5 port_is '.data_pkts == 5' ||
		return 1
	from=$(($(wc -l <"$dir/heard") + 1))
	tells "qdisc swport 1: dev va root .* limit 20Kb" \
		change dev va root handle 1: swport limit 20kb &&
	poll 5 is_heard "$from" "  data sojourn ns p50 .* of 5 pkts" &&
	is_heard "$from" "  data sent 5000 bytes 5 pkts"
}

## an ifb, and cake beside

# far's cake sends to va, whose packets go by an ifb with a port before near gets them: data waits
# and is marked, an ACK overtakes it.
port_of_an_ifb()
{
	tc -n "$far" qdisc replace dev vb root cake &&
	ip -n "$near" link add ifb0 type ifb && ip -n "$near" link set ifb0 up &&
	near_tc qdisc add dev ifb0 root handle 1: swport "${held[@]}" limit 50kb ecn min 2kb &&
	near_tc qdisc add dev va handle ffff: ingress &&
	near_tc filter add dev va parent ffff: matchall action mirred egress redirect dev ifb0 &&
	in_netns "$far" swport_pkt send vb udp 20 1000 2 &&
	in_netns "$far" swport_pkt send vb ack 2 54 && poll 10 ifb_holds &&
	near_tc qdisc change dev ifb0 root swport rate 10mbit && poll 10 ifb_sent &&
	tc -n "$far" -s -j qdisc show dev vb | jq -e '.[0].packets >= 22' &&
	near_tc qdisc del dev va ingress && ip -n "$near" link del ifb0 &&
	tc -n "$far" qdisc del dev vb root
}

ifb_holds()
{
	near_tc -s -j qdisc show dev ifb0 | jq -e '.[0].qlen == 21'
}

ifb_sent()
{
	near_tc -s -j qdisc show dev ifb0 | jq -e '.[0] | .data_pkts == 20 and
		.control_pkts == 2 and .packets == 22 and .mark_pkts > 10 and .drops == 0 and
		.qlen == 0 and .backlog == 0'
}

# Debian's kernels have both as modules.
checks=11
has_ifb=false
if modprobe -q ifb numifbs=0 && modprobe -q sch_cake; then
	has_ifb=true
	checks=12
fi
plan $checks
check "a network of two, and an alternate" make_all
loaded sch_swport || modprobe sch_swport
check "an unknown attribute is refused by its number" unknown_is_refused
check "an attribute of another type or length is refused" wrong_type_is_refused
check "classes and alternates are parsed as strictly" nests_are_strict_too
check "options without the flag of a nest are refused" flag_of_options_is_needed
check "what is right is accepted" good_ones_are_accepted
fill_large
check "tc monitor listens" listen_to_changes
check "tc monitor hears of every change" every_change_is_heard
check "tc monitor hears of every change of the largest port" \
	every_change_is_heard "${large[@]}"
check "a dump of the largest port has all its statistics" a_dump_has_all_of_it
check "tc monitor hears the statistics of a small port" statistics_of_a_small_port_are_heard
if $has_ifb; then
	check "a port of an ifb, behind another host's cake" port_of_an_ifb
fi
finish

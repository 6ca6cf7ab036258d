#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The switch port over netlink: what is not understood is refused by name, and whoever
# listens hears of every change, whatever the port has to say of itself.
# shellcheck disable=SC2317,SC2086,SC1083,SC2016 # checks are called by name; words; $ is awk's

cd "$(dirname "$0")" || exit 1
# shellcheck source-path=SCRIPTDIR source=lib.sh
. ./lib.sh
# shellcheck source-path=SCRIPTDIR source=port.sh
. ./port.sh

# Attributes of include/uapi/linux/pkt_sched_swport.h.
options=2 limit=4 pad=1 rate=2 seed=10 telemetry=11
classes=13 class=1 dscps=2 class_min=3 class_max=4
vias=27 via_dev=1 via_addr=2
mode=6 ecn_min=7 ecn_max=8 deflect=21 threshold=22

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

# The number is in the message where the kernel can format it, and always beside it.
unknown_is_refused()
{
	port limit 10kb &&
	refused "swport: unknown attribute" 99:u32:1 &&
	refused "[99]" 99:u32:1 &&
	refused "[0]" 0:u32:1 &&
	refused "[$pad]" $pad:u32:1 &&
	refused "[500]" 500:x: &&
	refused "[$vias]" $vias:x:
}

wrong_type_is_refused()
{
	port limit 10kb &&
	refused "wrong type or length of attribute" $seed:u64:7 &&
	refused "[$seed]" $seed:u64:7 &&
	refused "[$rate]" $rate:u32:1000 &&
	refused "[$telemetry]" $telemetry:x:01 &&
	refused "[$seed]" $((seed + 0x8000)):u32:7 &&
	refused "[$classes]" $classes:[ } &&
	refused "wrong type or length of attribute" $classes:x:00
}

nests_are_strict_too()
{
	local red=("$mode:u32:1" "$ecn_min:u32:1000" "$ecn_max:u32:2000")
	local one=("$dscps:u64:2" "$class_min:u32:1000" "$class_max:u32:2000")
	local next=("$via_dev:u32:1" "$via_addr:x:0a000001")
	local on=("$deflect:u32:1" "$threshold:u32:500")

	port limit 10kb &&
	refused "unknown attribute" "${red[@]}" $classes:{ $class:{ "${one[@]}" 40:u32:1 } } &&
	refused "[40]" "${red[@]}" $classes:{ $class:{ "${one[@]}" 40:u32:1 } } &&
	refused "[$class_min]" "${red[@]}" $classes:{ $class:{ $dscps:u64:2 $class_min:u64:1 } } &&
	refused "NLA_F_NESTED is missing" "${red[@]}" $classes:{ $class:[ "${one[@]}" } } &&
	refused "unknown attribute among ecn-classes" "${red[@]}" \
		$classes:{ $class:{ "${one[@]}" } $((class + 1)):{ "${one[@]}" } } &&
	refused "bytes left over" "${red[@]}" $((classes + 0x8000)):x:000100000000 &&
	refused "unknown attribute" "${on[@]}" $vias:{ 1:{ "${next[@]}" 9:u32:1 } } &&
	refused "numbered from 1" "${on[@]}" $vias:{ 7:{ "${next[@]}" } } &&
	refused "no such device" "${on[@]}" \
		$vias:{ 1:{ $via_dev:u32:0 $via_addr:x:0a000001 } } &&
	refused "one host's" "${on[@]}" $vias:{ 1:{ $via_dev:u32:1 $via_addr:x:0a } }
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

plan 6
check "a network of two, and the tools" \
	eval "make_network && command -v quell_nl"
loaded sch_swport || modprobe sch_swport
check "an unknown attribute is refused by its number" unknown_is_refused
check "an attribute of another type or length is refused" wrong_type_is_refused
check "classes and alternates are parsed as strictly" nests_are_strict_too
check "options without the flag of a nest are refused" flag_of_options_is_needed
check "what is right is accepted" good_ones_are_accepted
finish

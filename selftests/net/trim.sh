#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Trimming at the switch port: which packets, what of them arrives, and that nothing
# of it is unaccounted for.
#
# A data band of 64 bytes has no room for any packet of these: with it all are trimmed
# at once.  ip_pkt makes packets and judges those that come.

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./port.sh

# Trimmed packets overtake others.
heard_by='sort_by(.number)'

# The Quell option with data section: 962 bytes, departure 0x01020304.
option=fe0c51550100
depart=01020304

# say KEY=VALUE...: packets out of near.
say()
{
	# shellcheck disable=SC2048,SC2086 # words on purpose
	in_netns "$near" ip_pkt send "${say_dev-va}" $*
}

# As books_balance, with what of the drops was trimmed.
trims_balance()
{
	books_balance && port_is '.trim_backlog_pkts == 0 and .trim_backlog_bytes == 0 and
		.trim_pkts == .trim_sent_pkts + .trim_drop_pkts and
		.trim_bytes == .trim_sent_bytes + .trim_drop_bytes and
		.trim_pkts <= .data_drop_pkts and .trim_fail_pkts == 0'
}

# trim_port OPTION...: one that trims everything.
trim_port()
{
	port limit 64 trim eligible all "$@"
}

## configuration

tc_refuses()
{
	local size="64b to 65535b" list="none, all or DSCPs of 0 to 63, like 46 or 8-15,46"

	refused "trim" 'trim needs "size SIZE"' "$size" &&
	refused "trim dscp 5" 'trim needs "size SIZE"' &&
	refused "trim size 63" 'trim size "63"' "$size" &&
	refused "trim size 65536" '"65536"' "$size" &&
	refused "trim size -1" '"-1"' "$size" &&
	refused "trim size big" '"big"' "$size" &&
	refused "trim size" 'trim size ""' "$size" &&
	refused "trim size 128 dscp 0" 'trim dscp "0"' "1 to 63" &&
	refused "trim size 128 dscp 64" '"64"' "1 to 63" &&
	refused "trim size 128 dscp 5x" '"5x"' "1 to 63" &&
	refused "trim size 128 dscp" 'trim dscp ""' "1 to 63" &&
	refused "trim size 128 queue third" '"third"' "control or data" &&
	refused "trim size 128 queue" 'trim queue ""' "control or data" &&
	refused "trim size 128 eligible 64" '"64"' "$list" &&
	refused "trim size 128 eligible 9-5" '"9-5"' "$list" &&
	refused "trim size 128 eligible 5," '"5,"' "$list" &&
	refused "trim size 128 eligible 5-" '"5-"' "$list" &&
	refused "trim size 128 eligible ,5" '",5"' "$list" &&
	refused "trim size 128 eligible some" '"some"' "$list" &&
	refused "trim size 128 eligible" 'trim eligible ""' "$list" &&
	refused "trim size 128 size 200" "trim size given twice" &&
	refused "trim size 128 notrim" "given twice" &&
	refused "trim size 128 colour blue" 'unknown option "colour"'
}

# Rules that join several options: only the kernel knows them all.
joint_rules_hold()
{
	refused "trim size 1025" "trim size must be at most control-limit" &&
	refused "control-limit 127" "trim size must be at most control-limit" &&
	refused "trim size 10241 queue data" "trim size must be at most limit" &&
	refused "trim size 128 dscp 7 eligible 5-8" "trim eligible must not include trim dscp"
}

# 4 limit 14 trim size 15 dscp 16 queue 17 eligible
kernel_checks_ranges()
{
	kernel_refuses "below the minimum, and not 0 [14]" 4=20000 14=63 &&
	kernel_refuses "out of range [14]" 4=20000 14=65536 &&
	kernel_refuses "out of range [15]" 4=20000 15=0 &&
	kernel_refuses "out of range [15]" 4=20000 15=64 &&
	kernel_refuses "out of range [16]" 4=20000 16=2
}

## what arrives

# Each of 20 lengths cut to each size; with what is left of the payload.
all_lengths()
{
	local size=$1
	shift

	trim_port size "$size" && hear ip_pkt 20 &&
	say bytes=500 count=20 grow=1 dscp=10 ecn=1 "$@" && heard && packets_are "all(.bytes == $size and .check == \"good\" and
		.ip_check != \"bad\" and .intact and .dscp == 43 and .ecn == 1 and .ttl == 63 and
		.ip_bytes == $size - 14 and (.proto == \"tcp\" or
		.udp_bytes == .payload + 8))" && port_is ".trim_pkts == 20 and
		.trim_sent_pkts == 20 and .trim_sent_bytes == 20 * $size and
		.data_drop_pkts == 20 and .data_drop_bytes == 10190 and .drops == 20 and
		.control_pkts == 20 and .data_pkts == 0" && trims_balance
}

all_sizes()
{
	local size

	for size in 128 129 301; do
		all_lengths "$size" "$@" || return 1
	done
}

# A tag in the frame is part of its length, though the far end shows it beside.
tags_stay()
{
	local kind

	for kind in proto=tcp proto=udp "proto=tcp v6=1" "proto=udp v6=1"; do
		trim_port size 131 && hear ip_pkt 1 && say "$kind" vlan=1 && heard &&
		packets_are '.[0] | .vlan == 1 and .bytes == 127 and .ip_bytes == 113 and
			.check == "good" and .ip_check != "bad" and .intact and .dscp == 43' &&
		port_is '.trim_sent_bytes == 131' && trims_balance || return 1
	done
}

tags_beside_stay()
{
	ip -n "$near" link set va5 up && trim_port size 131 && hear ip_pkt 2 &&
	say_dev=va5 say proto=tcp partial=1 && say_dev=va5 say "proto=udp v6=1" && heard &&
	packets_are 'all(.vlan == 1 and .bytes == 131 and .ip_bytes == 117 and
		(.check == "good" or .check == "partial") and .ip_check != "bad" and .intact)' &&
	trims_balance && ip -n "$near" link del va5
}

# 14 + 60 + 60, 14 + 40 + 60, 14 + 20 + 8: more than 64 allows, but for the last.
headers_stay_whole()
{
	local options=08080808080808080808080808080808080808080808080808080808080808080808080808080808

	options=${options//0808/0101}
	trim_port size 64 && hear ip_pkt 4 &&
	say "ipoptions=40 options=$options" && say "v6=1 options=$options" &&
	say "ipoptions=40 proto=udp" && say "proto=udp" && heard &&
	packets_are "([.[].bytes] | sort) == [64, 82, 114, 134] and
		all(.check == \"good\" and .ip_check != \"bad\" and .intact) and
		(map(select(.bytes >= 114)) | all(.options == \"$options\" and .payload == 0))" &&
	trims_balance
}

# In what stays, in what is cut off, at even and odd places, in the header.
damage_stays()
{
	local kind place

	trim_port size 150 && hear ip_pkt 30 || return 1
	for kind in proto=tcp proto=udp "v6=1 proto=tcp" "v6=1 proto=udp" \
			"proto=tcp bytes=999" "proto=udp bytes=997"; do
		for place in 21 30 31 300 941; do
			say "$kind damage=$place" || return 1
		done
	done
	heard && packets_are 'all(.check == "bad" and .bytes == 150)' &&
	trim_port size 150 && hear ip_pkt 2 && say ipdamage=1 && say "ipdamage=1 proto=udp" && heard &&
	packets_are 'all(.ip_check == "bad" and .check == "good")'
}

udp_without_checksum_stays_so()
{
	trim_port size 128 && hear ip_pkt 2 && say "proto=udp nocheck=1" &&
	say "proto=udp nocheck=1 v6=1" && heard &&
	packets_are 'all(.check == "none" and .bytes == 128 and .intact)'
}

# The device computes the checksum, or the kernel does it behind the port.
partial_checksums_hold()
{
	local kind tx want

	for tx in on off; do
		want=good
		[ "$tx" = off ] || want=partial
		in_netns "$near" ethtool -K va tx "$tx" >/dev/null || return 1
		for kind in proto=tcp proto=udp "v6=1 proto=tcp" "v6=1 proto=udp"; do
			trim_port size 129 && hear ip_pkt 1 && say "$kind" partial=1 && heard &&
			packets_are ".[0] | .check == \"$want\" and .bytes == 129 and
				.intact and .ip_check != \"bad\"" || return 1
		done
	done
	in_netns "$near" ethtool -K va tx on >/dev/null
}

# Super-packets of ten segments, the first of which just fits: each of its own.  Of
# them all, which come at once, the first trimmed leaves first.
gso_is_trimmed_by_segment()
{
	local kind header

	in_netns "$near" ethtool -K va tx off >/dev/null || return 1
	for kind in "" v6=1; do
		header=$((14 + 20 + 20 + ${#kind} * 5))
		port "${held[*]}" limit $((header + 1000)) trim size 128 eligible all && hear ip_pkt 10 &&
		say "bytes=$((header + 10000)) gso=1000 $kind" &&
		port_is ".gso_split_pkts == 1 and .control_pkts == 1 and .qlen == 9 and
			.trim_pkts == 9 and .trim_sent_pkts == 1 and .trim_backlog_pkts == 8 and
			.trim_backlog_bytes == 1024 and .control_backlog_bytes == 1024 and
			.backlog == 1024 + $header + 1000 and .drops == 9" &&
		change rate 100gbit && heard &&
		packets_are 'map(select(.bytes == 128)) | length == 9 and
			all(.check == "good" and .ip_check != "bad")' &&
		trims_balance || return 1
	done
	in_netns "$near" ethtool -K va tx on >/dev/null
}

# The stream does not end where the cut is.
fin_is_cleared()
{
	trim_port size 128 && hear ip_pkt 3 && say flags=19 && say "flags=11 v6=1" &&
	say "flags=19 partial=1" && heard &&
	packets_are '([.[].flags] | sort) == ["10", "18", "18"] and
		all(.check != "bad" and .bytes == 128)'
}

# The option states 900 bytes (0384) of 934, as in a burst cut by GSO, or 962 (03c2),
# as one does that was trimmed before.
option_states_the_payload()
{
	trim_port size 64 && hear ip_pkt 3 && say "options=${option}03c2$depart" &&
	say "options=${option}0384$depart" &&
	say "options=01${option}0384${depart}010101 bytes=1004" && heard &&
	packets_are 'all(.check == "good" and .payload == 0)' &&
	packets_are "([.[].options] | sort) ==
		([\"${option}03a6$depart\", \"${option}03c2$depart\",
		  \"01${option}03a6${depart}010101\"] | sort)"
}

# netem sends each packet twice; the copies share their data.  One finds room.
trimming_spares_clones()
{
	near_tc qdisc del dev va root 2>/dev/null
	near_tc qdisc add dev va root handle 1: netem duplicate 100% &&
	near_tc qdisc add dev va parent 1:1 handle 2: swport "${held[@]}" limit 1000 \
		trim size 128 eligible all &&
	hear ip_pkt 6 && say "count=3 bytes=1000" &&
	near_tc qdisc change dev va parent 1:1 handle 2: swport rate 100gbit && heard &&
	packets_are 'all(.intact and .check == "good") and
		([.[].bytes] | sort) == [128, 128, 128, 128, 128, 1000]'
}

## which packets

# whole WORDS...: a packet of each line, which is dropped and not trimmed.
whole()
{
	local line

	for line; do
		say "$line" || return 1
	done
	port_is ".trim_pkts == 0 and .trim_fail_pkts == 0 and .data_drop_pkts == $# and
		.drops == $# and .packets == 0"
}

others_are_dropped_whole()
{
	trim_port size 128 && whole flags=02 flags=12 flags=14 "flags=02 v6=1" fragment=1 \
		"fragment=1 proto=udp" "ext=1 v6=1" "ext=1 v6=1 proto=udp" proto=icmp \
		"udplen=1 proto=udp" "udplen=2 proto=udp v6=1" "inner=1 proto=udp" \
		bytes=128 "bytes=128 v6=1" "bytes=128 proto=udp" "bytes=100 proto=udp"
}

# Those of two lists, and none that has the DSCP of trimmed packets.
eligible_decides()
{
	local dscp

	port limit 64 trim size 128 eligible 0,10-12,40 && hear ip_pkt 5 || return 1
	for dscp in 0 1 9 10 11 12 13 39 40 41 47; do
		say "dscp=$dscp" || return 1
	done
	heard && packets_are 'all(.dscp == 43)' &&
	port_is '.trim_pkts == 5 and .data_drop_pkts == 11'
}

# By default what nobody has asked for is dropped whole, and trimmed what states its length; a
# DSCP that is not eligible makes no difference to that.
option_makes_eligible()
{
	port limit 64 trim size 128 && whole "" proto=udp v6=1 "v6=1 proto=udp" \
		"options=0101080a0102030405060708" "options=fe0c5155020003c201020304" &&
	port limit 64 trim size 128 && hear ip_pkt 2 && say "options=${option}0384$depart" &&
	say "v6=1 options=${option}0384$depart dscp=5" && heard &&
	packets_are 'all(.dscp == 43)' && port_is '.trim_pkts == 2' &&
	port limit 64 trim size 128 eligible 7 && hear ip_pkt 2 &&
	say "options=${option}0384$depart" && say "proto=udp dscp=7" && say proto=udp && heard &&
	port_is '.trim_pkts == 2 and .data_drop_pkts == 3' && trims_balance
}

# What another port trimmed is known by its DSCP: it overtakes data, if it is to.
trimmed_goes_first()
{
	port "${held[*]}" trim size 128 eligible all dscp 9 && hear ip_pkt 4 && say count=3 &&
	say "proto=udp dscp=9 bytes=90" &&
	port_is '.control_backlog_bytes == 90 and .data_backlog_bytes == 2000 and
		.trim_pkts == 0' &&
	change rate 100gbit && heard && port "${held[*]}" trim size 128 eligible all dscp 9 queue data &&
	hear ip_pkt 2 && say && say "proto=udp dscp=9 bytes=90" &&
	port_is '.control_backlog_bytes == 0 and .data_backlog_bytes == 90' &&
	change notrim && change rate 100gbit && heard && trims_balance
}

# Nor is it trimmed once more where its band is full.
trimmed_stays_so()
{
	port "${held[*]}" limit 64 control-limit 200 trim size 64 eligible all && hear ip_pkt 3 &&
	say "dscp=43 bytes=150 proto=udp count=3" &&
	port_is '.control_pkts == 1 and .control_backlog_bytes == 150 and
		.control_drop_pkts == 1 and .trim_pkts == 0' &&
	change rate 100gbit && poll 10 port_is '.backlog == 0' &&
	say "dscp=43 bytes=150 proto=udp" && heard && trims_balance
}

## where they wait, and the counters

# The first leaves; ten wait in the data band, three trimmed ones before them, the rest
# finds both bands full.
full_queues_drop()
{
	port "${held[*]}" limit 10000 control-limit 400 trim size 128 eligible all && hear ip_pkt 14 &&
	say "count=30 bytes=1000 proto=udp" &&
	port_is '.data_pkts == 1 and .data_backlog_bytes == 10000 and
		.data_drop_pkts == 19 and .data_drop_bytes == 19000 and
		.trim_pkts == 19 and .trim_bytes == 19 * 128 and .trim_sent_pkts == 0 and
		.trim_backlog_pkts == 3 and .trim_backlog_bytes == 384 and
		.trim_drop_pkts == 16 and .trim_drop_bytes == 2048 and
		.control_drop_pkts == 16 and .control_drop_bytes == 2048 and
		.control_backlog_bytes == 384 and .drops == 35 and .qlen == 13 and
		.backlog == 10384' &&
	change rate 100gbit && heard &&
	packets_are '[.[] | select(.bytes == 128) | .number] == [11, 12, 13]' &&
	port_is '.trim_sent_pkts == 3 and .packets == 14' && trims_balance
}

# In the data band: the first leaves, one waits, and behind it three and a half trimmed.
data_queue_holds_them()
{
	port "${held[*]}" limit 1450 trim size 128 eligible all queue data && hear ip_pkt 5 &&
	say "count=7 bytes=1000 proto=udp" &&
	port_is '.data_pkts == 1 and .data_backlog_bytes == 1384 and
		.control_backlog_bytes == 0 and .trim_pkts == 5 and .trim_backlog_pkts == 3 and
		.trim_drop_pkts == 2 and .data_drop_pkts == 7 and
		.data_drop_bytes == 5000 + 256 and .drops == 7' &&
	change rate 100gbit && heard && trims_balance
}

# Parents that count what is queued below them end at nothing.
parents_keep_count()
{
	local parent class

	for parent in "prio" "tbf rate 8gbit burst 100kb limit 1mb" "netem limit 1000"; do
		class=1:1
		[ "$parent" != prio ] || class=1:2
		near_tc qdisc del dev va root 2>/dev/null
		# shellcheck disable=SC2086 # words on purpose
		near_tc qdisc add dev va root handle 1: $parent &&
		near_tc qdisc add dev va parent $class handle 2: swport "${held[@]}" limit 2000 \
			trim size 128 eligible all &&
		hear ip_pkt 12 && say "count=2 bytes=1000 proto=udp" &&
		say "count=10 bytes=1000 proto=udp dscp=5" &&
		tree_is 'map(select(.kind == "swport"))[0] | .trim_pkts > 0 and
			.trim_backlog_pkts > 0' &&
		near_tc qdisc change dev va parent $class handle 2: swport rate 100gbit && heard &&
		tree_is 'all(.backlog == 0 and .qlen == 0) and
			(map(select(.kind == "swport"))[0].trim_sent_pkts > 0)' || return 1
	done
}

# Peeked at by tbf or not, held packets that are thrown away leave the gauges at 0.
reset_forgets_them()
{
	port "${held[*]}" limit 1000 trim size 128 eligible all && say "count=5 bytes=1000 proto=udp" &&
	port_is '.trim_backlog_pkts == 3 and .trim_backlog_bytes == 384' &&
	ip -n "$near" link set va down && ip -n "$near" link set va up &&
	port_is '.trim_backlog_pkts == 0 and .trim_backlog_bytes == 0 and .backlog == 0'
}

# Sizes, bands and eligibility change while packets pass; none is lost count of.
changes_under_traffic()
{
	local i sender options=("trim size 128 eligible all" "notrim" "trim size 300 eligible all queue data"
		"trim size 64 eligible 1-9 dscp 20" "limit 3000 trim size 100"
		"limit 30kb notrim" "control-limit 300" "control-limit 64kb" "rate 30mbit"
		"rate 100mbit")

	port rate 50mbit limit 3000 trim size 128 eligible all &&
	say count=20 bytes=900 proto=udp || return 1
	touch "$dir/go"
	while [ -e "$dir/go" ]; do
		say count=200 "dscp=$((RANDOM % 12))" "bytes=$((RANDOM % 900 + 100))" proto=udp
	done &
	sender=$!
	for ((i = 0; i < 30; i++)); do
		change "${options[RANDOM % ${#options[@]}]}" || break
	done
	rm "$dir/go"
	wait "$sender"
	[ "$i" -eq 30 ] &&
	change rate 100gbit limit 1mb control-limit 64kb notrim &&
	poll 10 port_is '.backlog == 0' && port_is '.trim_pkts > 0' && trims_balance
}

small=(limit 10kb control-limit 1kb trim size 128)
plan 28
check "a network of two, and the packet maker" eval "make_network && command -v ip_pkt"
loaded sch_swport || modprobe sch_swport
check "tc refuses bad input and names value and range" unchanged_by tc_refuses "${small[@]}"
check "the kernel refuses what does not fit together" unchanged_by joint_rules_hold "${small[@]}"
check "the kernel refuses bad input and names attribute and range" \
	unchanged_by kernel_checks_ranges "${small[@]}"
check "TCP over IPv4 is trimmed" all_sizes proto=tcp
check "UDP over IPv4 is trimmed" all_sizes proto=udp
check "TCP over IPv6 is trimmed" all_sizes proto=tcp v6=1
check "UDP over IPv6 is trimmed" all_sizes proto=udp v6=1
check "a tag in the frame stays" tags_stay
if ip -n "$near" link add link va name va5 type vlan id 5 2>/dev/null; then
	check "a tag beside the frame stays" tags_beside_stay
else
	skip "a tag beside the frame stays" "this kernel has no VLAN devices"
fi
check "headers stay whole" headers_stay_whole
check "damage stays" damage_stays
check "UDP without a checksum stays so" udp_without_checksum_stays_so
check "checksums still to be computed hold" partial_checksums_hold
check "GSO is trimmed by segment" gso_is_trimmed_by_segment
check "FIN is cleared" fin_is_cleared
check "the Quell option states the payload there was" option_states_the_payload
check "trimming spares clones" trimming_spares_clones
check "what may not be trimmed is dropped" others_are_dropped_whole
check "eligible DSCPs are trimmed, others dropped" eligible_decides
check "the Quell option makes a segment eligible" option_makes_eligible
check "trimmed packets of other ports go first" trimmed_goes_first
check "trimmed packets are not trimmed again" trimmed_stays_so
check "full queues drop them, to the packet and the byte" full_queues_drop
check "the data band holds them, if it is to" data_queue_holds_them
check "parents keep count" parents_keep_count
check "reset forgets them" reset_forgets_them
check "changes under traffic lose count of nothing" changes_under_traffic
finish

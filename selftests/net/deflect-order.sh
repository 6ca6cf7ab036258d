#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The order of deflected flows over many packets: messages of 64 queue pairs at once,
# more than their port carries, so that some start before its queue is long and stay,
# and others are deflected; then a pause, after which each flow is free again.
#
#	DEFLECT_ROUNDS	messages of each flow, 80 packets long (default 250: more than
#			a million packets, most of which are deflected)
#
# Not among the scripts that run by themselves, as it takes minutes.

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./deflect-net.sh

rounds=${DEFLECT_ROUNDS:-250}

# What came is all that was sent, less what queues dropped; most was deflected.
nothing_is_overtaken()
{
	A_tc qdisc del dev up2 root 2>/dev/null
	port up1 rate 50mbit limit 50000 deflect threshold 5000 entries 64 idle 10ms \
		"${via2[@]}" && sleep_idle && listen 10.73.30.1 &&
	transmit 10.73.30.1 64 "$rounds" 80 20 0x10 1000 0 20 &&
	came ".behind == 0 and .flows == 64" && books_balance &&
	port_is ".deflect_pkts > 3000 * $rounds and .data_pkts > 80 * $rounds and
		.deflect_flows > 40 * $rounds" &&
	[ "$(jq -s '.[0].packets == .[1].deflect_pkts - .[1].deflect_out_drop_pkts +
		.[1].data_pkts' "$dir/came" "$dir/port")" = true ]
}

plan 2
check "network of two leaves and two spines" make_network
check "$rounds messages of each of 64 flows in order" nothing_is_overtaken
sed 's/^/# /' "$dir/came"
jq -c '{deflect_flows, deflect_pkts, deflect_bytes, deflect_tokens, deflect_used_max,
	deflect_recent_pkts, deflect_full_pkts, deflect_no_alternate_pkts, deflect_out_drop_pkts,
	data_pkts, data_drop_pkts}' "$dir/port" | sed 's/^/# /'
finish

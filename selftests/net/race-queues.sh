#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A storm for KCSAN (race.sh): many flows leave by a device whose four transmit queues are one joint
# port, or four that share a buffer, while queues join and leave and their options change.
# shellcheck disable=SC2031,SC2154 # each worker draws for itself; of race.sh

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./race.sh

wire_tc()
{
	tc -n "$client" qdisc "$@"
}

make_network()
{
	modprobe -a tcp_dart tcp_hpcc tcp_swift tcp_timely tcp_dcqcn tcp_smartt sch_swport &&
	new_netns client server && two_hosts "$client" "$server" 4 || return 1
	for netns in "$client" "$server"; do
		choose_cc "$netns" dart && quell -n "$netns" cc set quell option 1 || return 1
	done
	wire_tc add dev wire root handle 1: mq || return 1
	for i in 1 2 3 4; do
		queue "$i" joint rate 400kbit limit 20kb || return 1
	done
	serve_all "$server"
}

# queue NUMBER WORD...: a new port for it, or other options.
queue()
{
	wire_tc replace dev wire parent "1:$1" handle "1$1:" swport "${@:2}"
}

change_queue()
{
	local i=$((RANDOM % 4 + 1)) words=(joint)

	case $((RANDOM % 10)) in
	0) words+=(rate "$((RANDOM % 4 * 200))kbit") ;;
	1) words+=(ecn min 2kb telemetry 8us tcp-int 8us) ;;
	2) words+=(rate 300kbit bql on) ;;
	3) words+=(telemetry off limit "$((RANDOM % 50 + 10))kb") ;;
	4) words+=(buffer 200kb alpha 1 percentiles on) ;;
	5) words+=(trim size 128) ;;
	6) words=(nojoint rate 0 telemetry off tcp-int off buffer 200kb) ;;
	7) wire_tc del dev wire parent "1:$i" ;;
	8) ip -n "$client" link set wire down; ip -n "$client" link set wire up ;;
	9) words+=(rate 400kbit overhead 24 buffer off) ;;
	esac
	queue "$i" "${words[@]}"
}

# burst: frames of many flows, which the device spreads over its queues.
burst()
{
	in_netns "$client" swport_pkt send wire flows 300 400 2
}

# The queues are one port, frames wait in it, and more than one queue has sent some.
is_joint()
{
	tc -n "$client" -s -j qdisc show dev wire >"$dir/port" &&
	jq -e 'map(select(.joint_queues > 1)) | (map(.joint_backlog_bytes) | max) > 0 and
		(map(select(.packets > 0)) | length) > 1' "$dir/port"
}

plan 2
check "two hosts, four transmit queues" make_network
check "queues change under many flows for $storm_s s" storm \
	"open_many $client 10.91.0.2 8080" "open_many $client 10.91.0.2 8080" \
	"open_many $client 10.91.0.2 8080" burst burst \
	change_queue "is_joint; has_flows $client 3; change_quell $client; is_joint; \
has_flows $client 3; list $client; list $server"
say_storm
note "queues at last: $(jq -c 'map(select(.joint_queues) |
	{joint_queues, packets, drops, joint_backlog_bytes})' "$dir/port")"
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A deflected packet is recognised whichever processor enqueues it at the next port: while one
# processor sends deflected packets to it, the other sends to it as fast as it can.  7.3 lets the
# processor that has a qdisc's lock enqueue for the others.  It takes two processors that run at the
# same time to see that.

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./deflect-net.sh

# Half the rate of others: slow machines must be able to fill the queue.
# shellcheck disable=SC2034 # deflect-net.sh's
slow=(rate 2mbit limit 25000)

if is_rt; then least_pkts=1000; else least_pkts=10000; fi

# Each message is one packet, and so the start of a flow: up2 deflects none of these again, though it
# is as full as up1, which deflects as many as its table holds.
deflected_once()
{
	# shellcheck disable=SC2154 # deflect-net.sh's
	port up2 "${slow[@]}" "${deflect[@]}" entries 64 "${via1[@]}" &&
	port up1 "${slow[@]}" "${deflect[@]}" entries 64 "${via2[@]}" && flood 10.73.30.1 &&
	start_in "$A" busybox taskset 2 deflect_pkt flood 10.73.30.3 0 && sleep_idle &&
	transmit 10.73.30.1 64 40 1 500 0x10 1000 0 220 && stop "$started" && ebb &&
	port_is '.deflect_pkts > 1000' && note "up1: $(jq .deflect_pkts "$dir/port") deflected" &&
	snapshot up2 && jq '{data_pkts, drops, deflect_pkts}' "$dir/port" &&
	json ".drops > $least_pkts and .deflect_pkts == 0" "$dir/port"
}

# Options change while packets are deflected, the alternate goes down and up, and its device goes.
# deflect.sh checks what becomes of order, in virtual time; here no packet is lost count of.
changed_while_busy()
{
	local i

	A_tc qdisc del dev up2 root && both_ports entries 64 && flood 10.73.30.1 || return 1
	for ((i = 0; i < 20; i++)); do
		transmit 10.73.30.1 64 4 1 500 0x10 &
		messages=$!
		case $((i % 5)) in
		0) A_tc qdisc change dev up1 root swport deflect entries $((RANDOM % 65)) ;;
		1) A_tc qdisc change dev up1 root swport nodeflect ;;
		2) A_tc qdisc change dev up1 root swport "${deflect[@]}" entries 64 "${via2[@]}" ;;
		3) ip -n "$A" link set up2 down ;;
		4) ip -n "$A" link set up2 up ;;
		esac && wait "$messages" || return 1
	done
	transmit 10.73.30.1 64 40 1 500 0x10 &
	messages=$!
	ip -n "$A" link del up2 && wait "$messages" && ebb && books_balance &&
	json '.deflect_flows > 0' "$dir/port"
}

plan 3

check "network of two leaves and two spines" make_network
check "a deflected packet is not deflected again, whoever enqueues it" deflected_once
check "options and the alternate change while packets are deflected" changed_while_busy
finish

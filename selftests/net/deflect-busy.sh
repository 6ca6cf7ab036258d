#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A deflected packet is recognised whichever processor enqueues it at the next port: while one
# processor sends deflected packets to it, the other sends to it as fast as it can.  7.3 lets the
# processor that has a qdisc's lock enqueue for the others.  It takes two processors that run at the
# same time to see that.
# shellcheck disable=SC2317,SC2016 # checks are called by name; $ is jq's

cd "$(dirname "$0")" || exit 1
# shellcheck source-path=SCRIPTDIR source=lib.sh
. ./lib.sh
# shellcheck source-path=SCRIPTDIR source=deflect-net.sh
. ./deflect-net.sh

# Half the rate of others: slow machines must be able to fill the queue.
# shellcheck disable=SC2034 # deflect-net.sh's
slow=(rate 2mbit limit 25000)

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
	json '.drops > 10000 and .deflect_pkts == 0' "$dir/port"
}

plan 2

check "network of two leaves and two spines" make_network
check "a deflected packet is not deflected again, whoever enqueues it" deflected_once
finish

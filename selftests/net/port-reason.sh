#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The reason of drops, as the kernel's tracepoint reports it.

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./port.sh

tracing=/sys/kernel/tracing

make_all()
{
	make_network && in_netns "$near" ethtool -K va tx off tso off gso on >/dev/null || return 1
	[ -d "$tracing/events" ] || mount -t tracefs tracefs "$tracing"
}

# One of ten segments, and a packet.  Segmentation has state of its own in skb->cb, where later
# kernels have the reason.
reasons_are_the_qdiscs()
{
	port "${held[*]}" no-split-gso limit 10539 && transmit udp 1 1000 &&
	: >"$tracing/trace" && echo 1 >"$tracing/events/skb/kfree_skb/enable" &&
	transmit gso 1 10054 && transmit udp 1 1500 &&
	echo 0 >"$tracing/events/skb/kfree_skb/enable" && port_is '.data_drop_pkts == 2' || return 1
	grep kfree_skb: "$tracing/trace"
	[ "$(grep -c 'reason: QDISC_DROP$' "$tracing/trace")" -eq 2 ]
}

plan 2
check "a network of two, and the tracepoint" make_all
loaded sch_swport || modprobe sch_swport
check "a dropped segment has the qdisc's reason" reasons_are_the_qdiscs
finish

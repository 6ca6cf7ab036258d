/* SPDX-License-Identifier: GPL-2.0 */
/*
 * quell_labnic's tap: what really happened, for who compares it with what the
 * kernel believes.  Times are those of the wire by the laboratory's true clock,
 * CLOCK_MONOTONIC, before any card's clock errs and any host is late.
 */
#ifndef _QUELL_LABNIC_TAP_H
#define _QUELL_LABNIC_TAP_H

#include <linux/ip.h>
#include <linux/netdevice.h>
#include <linux/types.h>

/**
 * enum labnic_tap_event - what happened to a packet
 * @LABNIC_TAP_LEFT: its last bit left a card
 * @LABNIC_TAP_ARRIVED: its last bit arrived at a card
 * @LABNIC_TAP_STACK: the host's stack is about to be handed it
 * @LABNIC_TAP_DONE: the stack has returned; the packet is gone
 */
enum labnic_tap_event {
	LABNIC_TAP_LEFT,
	LABNIC_TAP_ARRIVED,
	LABNIC_TAP_STACK,
	LABNIC_TAP_DONE,
};

/**
 * typedef labnic_tap_fn - told of each event
 * @event: what happened
 * @dev: at which card
 * @iph: IPv4 header, the TCP header linear behind it; NULL for all other
 *	packets and for @LABNIC_TAP_DONE
 * @time_ns: when
 *
 * Called in softirq, one at a time.
 */
typedef void (*labnic_tap_fn)(enum labnic_tap_event event, struct net_device *dev,
			      const struct iphdr *iph, u64 time_ns);

void quell_labnic_tap(labnic_tap_fn fn);
int quell_labnic_step(struct net_device *dev, s64 step_ns);

#endif /* _QUELL_LABNIC_TAP_H */

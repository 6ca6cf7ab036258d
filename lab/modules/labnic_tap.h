/* SPDX-License-Identifier: GPL-2.0 */
/*
 * quell_labnic's tap reports true events, for comparison with the kernel's view.
 * Times are those of the wire by the laboratory's true clock, CLOCK_MONOTONIC,
 * without the errors of NIC clocks and the delays of hosts.
 */
#ifndef _QUELL_LABNIC_TAP_H
#define _QUELL_LABNIC_TAP_H

#include <linux/ip.h>
#include <linux/netdevice.h>
#include <linux/types.h>

/* Event of a packet. */
enum labnic_tap_event {
	LABNIC_TAP_SENT,	/* its last bit left a NIC */
	LABNIC_TAP_RECEIVED,	/* its last bit arrived at a NIC */
	LABNIC_TAP_STACK,	/* it is about to be handed to the host's stack */
	LABNIC_TAP_DONE,	/* the stack has returned; the packet is gone */
};

/**
 * typedef labnic_tap_fn - called for each event
 * @event: kind of event
 * @dev: NIC of the event
 * @iph: IPv4 header, the TCP header linear behind it; NULL for all other
 *	packets and for @LABNIC_TAP_DONE
 * @time_ns: time of the event
 *
 * Called in softirq, one call at a time.
 */
typedef void (*labnic_tap_fn)(enum labnic_tap_event event, struct net_device *dev,
			      const struct iphdr *iph, u64 time_ns);

/* A credit of ExpressPass over IPv4, without FCS, preamble and gap, on average. */
#define LABNIC_EXPRESS_MEAN_BYTES	66
/* An acknowledgment on the wire, over IPv4; receivers of the lab send one for each packet. */
#define LABNIC_EXPRESS_ACK_BYTES	90

/* Packets that a socket may still send. */
struct quell_labnic_credits {
	u32	first_pkts;	/* of its first window, new data alone */
	u32	granted_pkts;	/* for credits, without a limit */
	/* of ExpressPass: it is to send an ACK, which says that it wants no more credits */
	bool	stops;
};

void quell_labnic_tap(labnic_tap_fn fn);
int quell_labnic_step(struct net_device *dev, s64 step_ns);
bool quell_labnic_credits(const struct sock *sk, bool is_start, struct quell_labnic_credits *left);
void quell_labnic_express_number(struct sk_buff *skb);
bool quell_labnic_is_credit(const struct sk_buff *skb);

#endif /* _QUELL_LABNIC_TAP_H */

// SPDX-License-Identifier: GPL-2.0
/*
 * ECN: setting Congestion Experienced on packets the lottery picks.
 *
 * Packets whose transport does not understand ECN are let pass and counted:
 * a switch port drops when it is full, not before.
 */
#include <net/inet_ecn.h>

#include "swport.h"

/* Bytes from skb->data that must be writable to set CE; 0: not IP. */
static int swport_ip_header_end(const struct sk_buff *skb)
{
	switch (skb_protocol(skb, true)) {
	case htons(ETH_P_IP):
		return skb_network_offset(skb) + sizeof(struct iphdr);
	case htons(ETH_P_IPV6):
		return skb_network_offset(skb) + sizeof(struct ipv6hdr);
	default:
		return 0;
	}
}

/**
 * quell_swport_mark() - set CE on a packet of the data band, and count
 * @port: the switch port
 * @skb: packet the lottery has picked
 *
 * The header is shared with whoever holds a clone (TCP's retransmission queue,
 * a packet capture), so it is made ours before it is written.  When there is
 * no memory for that, the packet goes on unmarked: the sender learns of the
 * congestion from the next one.
 *
 * Context: softirq, qdisc lock held.
 */
void quell_swport_mark(struct swport_sched *port, struct sk_buff *skb)
{
	struct swport_mark_stats *stats = &port->mark_stats;
	int end = swport_ip_header_end(skb);

	if (!end) {
		stats->not_ect_pkts++;
		return;
	}
	if (skb_ensure_writable(skb, end)) {
		stats->mark_fail_pkts++;
		return;
	}
	if (!INET_ECN_set_ce(skb)) {
		stats->not_ect_pkts++;
		return;
	}
	stats->mark_pkts++;
	stats->mark_bytes += qdisc_pkt_len(skb);
}

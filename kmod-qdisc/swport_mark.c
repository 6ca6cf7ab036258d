// SPDX-License-Identifier: GPL-2.0
/*
 * ECN: select packets at random by the queue length and the thresholds of their
 * DSCP, and set Congestion Experienced on them.
 *
 * Packets whose transport is not ECN-capable pass unmarked and are counted: a switch port
 * drops when it is full, not before.  With ECN_DROP they are dropped, as switches do that
 * call this WRED, so that they do not fill the queue that all others leave short.
 *
 * A super-packet is no queue: its own other segments do not count.  So a lone burst on an
 * idle wire is not marked.  A super-packet that is whole is judged once, by what its last
 * segment would leave behind (at enqueue: by what its first one finds), and all segments
 * are marked or none; between the thresholds each is marked with the same probability as
 * by itself.
 */
#include <net/dsfield.h>
#include <net/inet_ecn.h>

#include "swport.h"

#define SWPORT_DSCP_SHIFT	2

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
 * quell_swport_dscp() - DSCP of a packet
 * @skb: packet, network header set, VLAN tags allowed
 *
 * Context: any; does not write to @skb.
 * Return: 0 to 63; QUELL_DSCP_NONE if the packet is not IP.
 */
u32 quell_swport_dscp(const struct sk_buff *skb)
{
	union {
		struct iphdr v4;
		struct ipv6hdr v6;
	} buf;
	const void *header;

	switch (skb_protocol(skb, true)) {
	case htons(ETH_P_IP):
		header = skb_header_pointer(skb, skb_network_offset(skb), sizeof(buf.v4), &buf);
		return header ? ipv4_get_dsfield(header) >> SWPORT_DSCP_SHIFT : QUELL_DSCP_NONE;
	case htons(ETH_P_IPV6):
		header = skb_header_pointer(skb, skb_network_offset(skb), sizeof(buf.v6), &buf);
		return header ? ipv6_get_dsfield(header) >> SWPORT_DSCP_SHIFT : QUELL_DSCP_NONE;
	default:
		return QUELL_DSCP_NONE;
	}
}

/*
 * Set CE on a packet of the data band, and count.  False if it is not ECN-capable.
 *
 * The header may be shared with a clone (TCP's retransmission queue, a packet
 * capture), so make it writable first.  If there is no memory for that, the
 * packet goes on unmarked: the next marked packet signals the congestion.
 */
static bool swport_mark(struct swport_sched *port, struct sk_buff *skb,
			struct swport_class_stats *class)
{
	struct swport_mark_stats *stats = &port->mark_stats;
	u32 segments = swport_cb(skb)->segments;
	int end = swport_ip_header_end(skb);

	if (end && skb_ensure_writable(skb, end)) {
		stats->mark_fail_pkts += segments;
		return true;
	}
	if (!end || !INET_ECN_set_ce(skb)) {
		stats->not_ect_pkts += segments;
		class->not_ect_pkts += segments;
		return false;
	}
	stats->mark_pkts += segments;
	stats->mark_bytes += qdisc_pkt_len(skb);
	class->mark_pkts += segments;
	class->mark_bytes += qdisc_pkt_len(skb);
	return true;
}

/**
 * quell_swport_judge() - mark a packet of the data band if RED selects it
 * @port: the switch port, with ECN on
 * @skb: packet, before it joins the queue or after it has left
 *
 * Context: softirq, qdisc lock held.
 * Return: false if the packet is to be dropped: it cannot be marked, and is not trimmed.
 */
bool quell_swport_judge(struct swport_sched *port, struct sk_buff *skb)
{
	const struct swport_params *params = &port->params;
	const struct quell_red_params *red = &params->red;
	u32 i = QUELL_RED_CLASSES_MAX;

	if (params->red_classes.count)
		i = quell_red_class_index(&params->red_classes, quell_swport_dscp(skb));
	if (i < QUELL_RED_CLASSES_MAX)
		red = &params->red_classes.class[i].red;
	port->class_stats[i].pkts += swport_cb(skb)->segments;
	if (!quell_red_marks(red, &port->lottery,
			     port->data.backlog_bytes - swport_cb(skb)->own_bytes))
		return true;
	return swport_mark(port, skb, &port->class_stats[i]) || !params->ecn_drop ||
	       swport_cb(skb)->trimmed;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * ECN: select packets at random by the queue length and the thresholds of their
 * DSCP, and set Congestion Experienced on them.
 *
 * Packets whose transport is not ECN-capable pass unmarked and are counted: a switch port
 * drops when it is full, not before.  With ECN_DROP they are dropped, as switches do that
 * call this WRED, so that they do not fill the queue that all others leave short.
 *
 * A tunnel is marked outside: its end carries CE inside, if what is inside is ECN-capable, and
 * drops it if not (RFC 6040).  So a packet is ECN-capable here by its outer header alone.
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

/* DSCP of a packet; QUELL_DSCP_NONE if it is not IP. */
static u32 swport_dscp(const struct sk_buff *skb)
{
	const struct swport_cb *cb = swport_cb(skb);
	__be16 *header, buf;

	header = skb_header_pointer(skb, cb->ip_at, sizeof(buf), &buf);
	if (!header || (!cb->is_ipv4 && !cb->is_ipv6))
		return QUELL_DSCP_NONE;
	/* The octet with DSCP and ECN is IPv4's second, four bits earlier in IPv6. */
	return (u8)(ntohs(*header) >> (cb->is_ipv6 ? 4 : 0)) >> SWPORT_DSCP_SHIFT;
}

/* Bytes from skb->data that must be writable to set CE; 0: not IP. */
static u32 swport_ip_header_end(const struct swport_cb *cb)
{
	if (cb->is_ipv4)
		return cb->ip_at + sizeof(struct iphdr);
	return cb->is_ipv6 ? cb->ip_at + sizeof(struct ipv6hdr) : 0;
}

/* Where skb's network header is is of no account: behind a bridge it may be a tag. */
static bool swport_set_ce(struct sk_buff *skb)
{
	void *header = skb->data + swport_cb(skb)->ip_at;

	return swport_cb(skb)->is_ipv4 ? IP_ECN_set_ce(header) : IP6_ECN_set_ce(skb, header);
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
	u32 end = swport_ip_header_end(swport_cb(skb));

	if (end && skb_ensure_writable(skb, end)) {
		stats->mark_fail_pkts += segments;
		return true;
	}
	if (!end || !swport_set_ce(skb)) {
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
		i = quell_red_class_index(&params->red_classes, swport_dscp(skb));
	if (i < QUELL_RED_CLASSES_MAX)
		red = &params->red_classes.class[i].red;
	port->class_stats[i].pkts += swport_cb(skb)->segments;
	if (!quell_red_marks(red, &port->lottery,
			     port->data.backlog_bytes - swport_cb(skb)->own_bytes))
		return true;
	return swport_mark(port, skb, &port->class_stats[i]) || !params->ecn_drop ||
	       swport_cb(skb)->trimmed;
}

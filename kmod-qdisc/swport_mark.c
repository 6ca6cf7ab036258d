// SPDX-License-Identifier: GPL-2.0
/*
 * ECN: select packets by RED with the thresholds of their DSCP, and set CE on them.
 *
 * Selected packets that are not ECN-capable are counted and sent, since a switch port drops when it
 * is full.  With ECN_DROP they are dropped, as by switches' WRED, so that they do not fill the
 * queue that others keep short.  Of tunnels the outer header counts (RFC 6040).
 *
 * Other segments of the same super-packet are no queue: a lone burst on an idle wire is not marked.
 * A super-packet is marked as a whole, by the queue behind its last segment (at enqueue: before
 * its first one), so each segment is marked with the same probability as by itself.
 */
#include <net/dsfield.h>
#include <net/inet_ecn.h>

#include "swport.h"

/* The first 16 bits of the outermost IP header; 0: not IP. */
static u16 swport_first_bits(const struct sk_buff *skb)
{
	u8 ip_at = swport_cb(skb)->ip_at;
	__be16 *header, buf;

	if (ip_at == SWPORT_NOT_IP)
		return 0;
	header = skb_header_pointer(skb, ip_at, sizeof(buf), &buf);
	return header ? ntohs(*header) : 0;
}

static bool swport_is_ipv6(u16 first_bits)
{
	return first_bits >> 12 == 6;
}

static u32 swport_dscp(const struct sk_buff *skb)
{
	u16 first_bits = swport_first_bits(skb);

	if (!first_bits)
		return QUELL_DSCP_NONE;
	/* The octet with DSCP and ECN is IPv4's second, four bits earlier in IPv6. */
	return (u8)(first_bits >> (swport_is_ipv6(first_bits) ? 4 : 0)) >> SWPORT_DSCP_SHIFT;
}

/*
 * Returns false if the packet is not ECN-capable.  Its header may be shared with a clone; without
 * memory for a copy it stays unmarked, and the next marked packet signals the congestion.
 */
static bool swport_mark(struct swport_sched *port, struct sk_buff *skb,
			struct swport_class_stats *class)
{
	struct swport_mark_stats *stats = &port->mark_stats;
	u32 segments = swport_cb(skb)->segments;
	u16 first_bits = swport_first_bits(skb);
	bool is_ipv6 = swport_is_ipv6(first_bits);
	u32 ip_at = swport_cb(skb)->ip_at;
	void *header;

	if (first_bits && skb_ensure_writable(skb, ip_at + (is_ipv6 ? sizeof(struct ipv6hdr) :
								      sizeof(struct iphdr)))) {
		stats->mark_fail_pkts += segments;
		return true;
	}
	/* Not skb's network header, which behind a bridge may be a tag. */
	header = skb->data + ip_at;
	if (!first_bits ||
	    !(is_ipv6 ? IP6_ECN_set_ce(skb, header) : IP_ECN_set_ce(header))) {
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
 * quell_swport_ecn_mark() - mark a packet of the data band if RED selects it
 * @port: the switch port, with ECN on
 * @skb: packet, before enqueue or after dequeue
 * Context: softirq, qdisc lock held.
 * Return: false if the packet is to be dropped as not ECN-capable; a trimmed one is not.
 */
bool quell_swport_ecn_mark(struct swport_sched *port, struct sk_buff *skb)
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
			     swport_queue_bytes(port) - swport_cb(skb)->gso_other_bytes))
		return true;
	return swport_mark(port, skb, &port->class_stats[i]) || !params->ecn_drop ||
	       swport_cb(skb)->trimmed;
}

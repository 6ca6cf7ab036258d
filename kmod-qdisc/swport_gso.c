// SPDX-License-Identifier: GPL-2.0
/*
 * Super-packets (GSO): which may stay whole, and segmentation of the others.
 *
 * A whole one is queued, marked and sent as one packet.  Its length is that of its segments on the
 * wire from enqueue on, so that later segmentation changes the number of packets alone.
 *
 * Without `split-gso' TCP and UDP are segmented only
 *
 *	at enqueue	if not all segments fit, so that each is admitted, trimmed or dropped
 *			if a segment is deflected, or may be
 *	at dequeue	if the last segment gets a telemetry record
 *
 * Tunnels, SCTP, IPsec, UDP fragments and lists of packets are always segmented, as their segments'
 * headers are not copies of the first's; so is IPv6 with extension headers, as of BIG TCP.
 */
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <compat/net_gso.h>

#include "swport.h"

#define SWPORT_GSO_SUPPORTED	(SKB_GSO_TCPV4 | SKB_GSO_TCPV6 | SKB_GSO_UDP_L4)
#define SWPORT_GSO_UNSUPPORTED	\
	(SKB_GSO_SCTP | SKB_GSO_ESP | SKB_GSO_UDP | SKB_GSO_FRAGLIST | SKB_GSO_FCOE)

/*
 * Offset of TCP or UDP by the IP header; 0: another protocol.  quell_swport_read() rejects the
 * length of 0 of packets above 64 KB.
 */
static int swport_gso_transport_at(const struct sk_buff *skb, u8 proto)
{
	int at = skb_network_offset(skb);
	union {
		struct iphdr v4;
		struct ipv6hdr v6;
	} buf;
	const struct ipv6hdr *v6;
	const struct iphdr *v4;

	switch (skb_protocol(skb, true)) {
	case htons(ETH_P_IP):
		v4 = skb_header_pointer(skb, at, sizeof(buf.v4), &buf.v4);
		return v4 && v4->version == 4 && v4->ihl >= 5 && v4->protocol == proto ?
		       at + v4->ihl * 4 : 0;
	case htons(ETH_P_IPV6):
		v6 = skb_header_pointer(skb, at, sizeof(buf.v6), &buf.v6);
		return v6 && v6->version == 6 && v6->nexthdr == proto ?
		       at + sizeof(*v6) : 0;
	default:
		return 0;
	}
}

/*
 * Length of the headers of each segment; 0: not found.  The stack's transport offset may come from
 * a guest: IP must confirm it.
 */
static u32 swport_gso_header_bytes(const struct sk_buff *skb)
{
	bool is_udp = skb_shinfo(skb)->gso_type & SKB_GSO_UDP_L4;
	const struct tcphdr *th;
	struct tcphdr buf;
	int at;

	if (skb->encapsulation || !skb_transport_header_was_set(skb))
		return 0;
	at = swport_gso_transport_at(skb, is_udp ? IPPROTO_UDP : IPPROTO_TCP);
	if (at <= 0 || at != skb_transport_offset(skb))
		return 0;
	if (is_udp)
		return at + sizeof(struct udphdr);
	th = skb_header_pointer(skb, at, sizeof(buf), &buf);
	return th && th->doff * 4 >= sizeof(buf) ? at + th->doff * 4 : 0;
}

/**
 * quell_swport_gso_measure() - measure a super-packet on the wire
 * @port: the switch port
 * @skb: GSO packet
 * @super: set when the result is true
 * Context: softirq, qdisc lock held; does not write to @skb.
 * Return: false if it must be segmented now.
 */
bool quell_swport_gso_measure(const struct swport_sched *port, const struct sk_buff *skb,
			      struct quell_super *super)
{
	const struct skb_shared_info *shinfo = skb_shinfo(skb);
	const struct swport_params *params = &port->params;

	/* With `rate' packets are sent one by one, as from a wire, by default. */
	if (params->split_gso == SWPORT_GSO_SPLIT ||
	    (params->split_gso == SWPORT_GSO_AUTO && params->rate_bytes_ps))
		return false;
	/* The headers of one longer than IP can state (BIG TCP) are not those of its segments. */
	if (skb->len > IP_MAX_MTU &&
	    (params->telemetry_ns || params->tcp_int_ns || port->deflect))
		return false;
	if (!(shinfo->gso_type & SWPORT_GSO_SUPPORTED) || shinfo->gso_type & SWPORT_GSO_UNSUPPORTED)
		return false;
	return quell_super_measure(super, skb->len, swport_gso_header_bytes(skb),
				   shinfo->gso_size);
}

/**
 * quell_swport_gso_segment() - segment a super-packet
 * @port: the switch port
 * @skb: GSO packet, which remains the caller's
 * Context: softirq, qdisc lock held.
 * Return: list of segments, each with its length; NULL without memory or for a malformed packet.
 */
struct sk_buff *quell_swport_gso_segment(struct swport_sched *port, struct sk_buff *skb)
{
	netdev_features_t features = netif_skb_features(skb);
	struct sk_buff *segs, *seg;

	segs = skb_gso_segment(skb, features & ~NETIF_F_GSO_MASK);
	quell_qdisc_reset_reason(skb);
	if (IS_ERR_OR_NULL(segs))
		return NULL;
	port->gso_split_pkts++;
	for (seg = segs; seg; seg = seg->next) {
		quell_qdisc_set_pkt_len(seg);
		quell_qdisc_reset_reason(seg);
	}
	return segs;
}

/**
 * quell_swport_gso_account() - set ->gso_other_bytes of the segments of a super-packet
 * @queue: data band
 * @pkts: number of segments at its end
 * Context: softirq, qdisc lock held.
 */
void quell_swport_gso_account(struct sk_buff_head *queue, u32 pkts)
{
	struct sk_buff *skb = skb_peek_tail(queue);
	u32 behind_bytes = 0;

	for (; pkts; pkts--) {
		swport_cb(skb)->gso_other_bytes = behind_bytes;
		behind_bytes += qdisc_pkt_len(skb);
		skb = skb->prev;
	}
}

/* Do the segments have the length counted at enqueue? */
static bool swport_gso_is_as_measured(const struct sk_buff *whole, const struct sk_buff *segs)
{
	u32 bytes = 0;

	for (; segs; segs = segs->next)
		bytes += qdisc_pkt_len(segs);
	return bytes == qdisc_pkt_len(whole);
}

/* Replace the first packet of the data band by its segments. */
static void swport_gso_replace(struct Qdisc *sch, struct sk_buff *whole, struct sk_buff *segs)
{
	struct swport_sched *port = qdisc_priv(sch);
	u32 old_bytes = qdisc_pkt_len(whole), left_bytes = old_bytes;
	struct sk_buff *seg, *next;
	int pkts = 0;

	skb_list_walk_safe(segs, seg, next) {
		skb_mark_not_on_list(seg);
		*swport_cb(seg) = *swport_cb(whole);
		left_bytes -= qdisc_pkt_len(seg);
		swport_cb(seg)->segments = 1;
		swport_cb(seg)->gso_other_bytes = left_bytes;
		port->data.memory_bytes += seg->truesize;
		__skb_queue_before(&port->data.queue, whole, seg);
		if (pkts++)
			qdisc_qlen_inc(sch);
	}
	__skb_unlink(whole, &port->data.queue);
	qdisc_tree_reduce_backlog(sch, 1 - pkts, 0);
	consume_skb(whole);
}

/*
 * Segment the first packet of the data band.  It stays whole without memory, or if the length of
 * its segments is not as measured.  Context: softirq, qdisc lock held.
 */
void quell_swport_gso_segment_head(struct Qdisc *sch)
{
	struct swport_sched *port = qdisc_priv(sch);
	struct sk_buff *skb = skb_peek(&port->data.queue);
	struct sk_buff *segs;

	/* The last segment inherits the truesize charged to the socket. */
	port->data.memory_bytes -= skb->truesize;
	segs = quell_swport_gso_segment(port, skb);
	if (segs && swport_gso_is_as_measured(skb, segs)) {
		swport_gso_replace(sch, skb, segs);
		return;
	}
	kfree_skb_list(segs);
	port->data.memory_bytes += skb->truesize;
}

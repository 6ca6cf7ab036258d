// SPDX-License-Identifier: GPL-2.0
/*
 * Super-packets (GSO): which may stay whole, and cutting the others.
 *
 * Whole means that the segments are queued, judged and sent as one packet.  Lengths are
 * those of the segments on the wire from the moment a super-packet enters, so that
 * cutting it later changes no number of bytes, only the number of packets queued.
 *
 * Without `split-gso' a super-packet of TCP or UDP stays whole while all its segments
 * would fare alike.  It is cut
 *
 *	at enqueue	where not all segments fit, so that each is admitted, trimmed or
 *			dropped by itself
 *			where a segment is deflected, or may be
 *	at dequeue	where the last segment gets a telemetry record
 *
 * Tunnelled ones, SCTP, IPsec, fragments of UDP and lists of packets are always cut: the
 * headers of their segments are not simply those of the first.  So are IPv6 packets with other
 * headers before TCP or UDP, as that of a BIG TCP packet, which no segment has.
 */
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <compat/net_gso.h>

#include "swport.h"

#define SWPORT_GSO_PLAIN	(SKB_GSO_TCPV4 | SKB_GSO_TCPV6 | SKB_GSO_UDP_L4)
#define SWPORT_GSO_OTHER	\
	(SKB_GSO_SCTP | SKB_GSO_ESP | SKB_GSO_UDP | SKB_GSO_FRAGLIST | SKB_GSO_FCOE)

/*
 * Where IP says that TCP or UDP begins; 0 where something else follows it.  The port's own reading
 * of headers (quell_swport_read()) believes no length of 0, as packets above 64 KB state.
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
 * Bytes that are at the beginning of each segment; 0 if they are not found.  Of another host's
 * packet, a guest's, the stack's offset of the transport is that host's word: what IP says must be
 * the same.
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
 * quell_swport_gso_measure() - what a super-packet is on the wire
 * @port: the switch port
 * @skb: GSO packet
 * @super: set when the result is true
 *
 * Context: softirq, qdisc lock held; does not write to @skb.
 * Return: false if it must be cut at once, as it cannot stay whole or is to be split.
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
	if (!(shinfo->gso_type & SWPORT_GSO_PLAIN) || shinfo->gso_type & SWPORT_GSO_OTHER)
		return false;
	return quell_super_measure(super, skb->len, swport_gso_header_bytes(skb),
				   shinfo->gso_size);
}

/**
 * quell_swport_gso_cut() - segments of a super-packet
 * @port: the switch port
 * @skb: GSO packet; stays as it is, and the caller's
 *
 * Context: softirq, qdisc lock held.
 * Return: list of the segments, each with its length; NULL for lack of memory, or for a
 * malformed packet.
 */
struct sk_buff *quell_swport_gso_cut(struct swport_sched *port, struct sk_buff *skb)
{
	netdev_features_t features = netif_skb_features(skb);
	struct sk_buff *segs, *seg;

	segs = skb_gso_segment(skb, features & ~NETIF_F_GSO_MASK);
	if (IS_ERR_OR_NULL(segs))
		return NULL;
	port->gso_split_pkts++;
	for (seg = segs; seg; seg = seg->next)
		quell_qdisc_set_pkt_len(seg);
	return segs;
}

/**
 * quell_swport_gso_own() - note what each segment at the end of a queue has behind it
 * @queue: data band
 * @pkts: how many packets at its end are segments of the super-packet just cut
 *
 * Context: softirq, qdisc lock held.
 */
void quell_swport_gso_own(struct sk_buff_head *queue, u32 pkts)
{
	struct sk_buff *skb = skb_peek_tail(queue);
	u32 behind_bytes = 0;

	for (; pkts; pkts--) {
		swport_cb(skb)->own_bytes = behind_bytes;
		behind_bytes += qdisc_pkt_len(skb);
		skb = skb->prev;
	}
}

/* Whether the segments have the bytes that were counted when the packet entered. */
static bool swport_gso_is_as_measured(const struct sk_buff *whole, const struct sk_buff *segs)
{
	u32 bytes = 0;

	for (; segs; segs = segs->next)
		bytes += qdisc_pkt_len(segs);
	return bytes == qdisc_pkt_len(whole);
}

/* Put the segments of the first packet of the data band into its place. */
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
		swport_cb(seg)->own_bytes = left_bytes;
		port->data.memory_bytes += seg->truesize;
		__skb_queue_before(&port->data.queue, whole, seg);
		if (pkts++)
			qdisc_qlen_inc(sch);
	}
	__skb_unlink(whole, &port->data.queue);
	qdisc_tree_reduce_backlog(sch, 1 - pkts, 0);
	consume_skb(whole);
}

/**
 * quell_swport_gso_open() - cut the first packet of the data band
 * @sch: the port's qdisc; that packet is a super-packet
 *
 * If memory is lacking it stays whole, and if its segments are not what was measured.
 *
 * Context: softirq, qdisc lock held.
 */
void quell_swport_gso_open(struct Qdisc *sch)
{
	struct swport_sched *port = qdisc_priv(sch);
	struct sk_buff *skb = skb_peek(&port->data.queue);
	struct sk_buff *segs;

	/* The last segment takes over what the packet counted of its socket's memory. */
	port->data.memory_bytes -= skb->truesize;
	segs = quell_swport_gso_cut(port, skb);
	if (segs && swport_gso_is_as_measured(skb, segs)) {
		swport_gso_replace(sch, skb, segs);
		return;
	}
	kfree_skb_list(segs);
	port->data.memory_bytes += skb->truesize;
}

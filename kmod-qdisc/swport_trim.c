// SPDX-License-Identifier: GPL-2.0
/*
 * Packets that are cut: trimming, NACKs to the sender, and segmentation of super-packets.
 *
 * Trimming: if the data band has no room for a packet, its beginning is sent on.  The receiver, or
 * the sender, then detects loss and congestion a round trip later and not by a timeout.
 * <quell/trim.h> defines the length and the header changes; the code here handles the buffers.
 *
 * Eligible are TCP (neither SYN nor RST) and UDP, longer than `size` and their headers, of an
 * eligible DSCP and not yet trimmed.  Not supported: IP fragments, IPv6 with extension headers, and
 * tunnelled packets with a partial inner checksum.  Sizes are those of frames.
 */
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/checksum.h>
#include <net/ip.h>
#include <compat/net_gso.h>
#include <quell/trim_tunnel.h>

#include "swport.h"

/*
 * Trimming to the sender: the sender of a dropped segment gets a NACK at once.
 *
 * The NACK, built from the segment's headers (<quell/trim_nack.h>), enters the network layer as if
 * the receiver had sent it and it came in through the port's device.  So it is routed or bridged
 * as any reply, passes reverse path filters, and saves the delay to the receiver and back.  In a
 * tunnel it returns through the tunnel, <quell/trim_tunnel.h>.  Its Ethernet source is the port's,
 * so that no bridge learns the receiver's address.
 *
 * netif_rx() only queues, so it may be called with the qdisc's lock held; it drops above
 * net.core.netdev_max_backlog, which is counted.  A dropped segment causes at most one NACK, longer
 * by at most the option, and a NACK, without payload, causes no other: no amplification, no loop.
 *
 * Eligible are TCP segments with payload, of any size, with a length in the Quell option, which may
 * be trimmed and came in by Ethernet.  Locally sent ones are trimmed and sent on; they have no
 * input device, whereas skb->sk may be another namespace's socket beyond a bridge.  Nor are those
 * that tc redirected here, as to an ifb: the receiver's replies come in by another device.
 */

/* The outer headers are the segment's, to its sender. */
static int swport_nack_put_outside(struct sk_buff *nack, const struct sk_buff *skb, u32 bytes)
{
	struct ethhdr *eth = skb_put(nack, bytes);

	if (skb_copy_bits(skb, 0, eth, bytes))
		return -EINVAL;
	ether_addr_copy(eth->h_dest, eth->h_source);
	ether_addr_copy(eth->h_source, skb->dev->dev_addr);
	quell_trim_nack_source(eth->h_source);
	if (skb_vlan_tag_present(skb))
		__vlan_hwaccel_put_tag(nack, skb->vlan_proto, skb_vlan_tag_get(skb));
	return 0;
}

static struct sk_buff *swport_nack_make(const struct sk_buff *skb,
					const struct quell_frame *frame,
					const struct quell_trim *trim, u8 dscp)
{
	u32 headroom = LL_MAX_HEADER + NET_IP_ALIGN, at = quell_frame_flow(frame)->at, bytes;
	struct sk_buff *nack;

	nack = alloc_skb(headroom + QUELL_TRIM_TUNNEL_NACK_MAX_BYTES, GFP_ATOMIC | __GFP_NOWARN);
	if (!nack)
		return NULL;
	skb_reserve(nack, headroom);
	if (swport_nack_put_outside(nack, skb, at)) {
		kfree_skb(nack);
		return NULL;
	}
	bytes = quell_trim_nack(frame->data + at, trim, dscp,
				skb_put_zero(nack, QUELL_TRIM_NACK_MAX_BYTES));
	skb_trim(nack, at + bytes);
	if (frame->tunnel)
		quell_trim_return(nack->data, frame, at + bytes, dscp);
	return nack;
}

/*
 * Returns true when a NACK was sent, even if the backlog dropped it; false when the segment is not
 * eligible or without memory, so that it may be trimmed instead.  Softirq, qdisc lock.
 */
static bool swport_send_nack(struct Qdisc *sch, const struct sk_buff *skb,
			     const struct quell_frame *frame, const struct quell_trim *trim)
{
	struct swport_sched *port = qdisc_priv(sch);
	struct net_device *dev = qdisc_dev(sch);
	struct sk_buff *nack;

	/* The segment's sender has to be reachable through the port's device. */
	if (!skb->skb_iif || skb_is_redirected(skb) || dev->type != ARPHRD_ETHER ||
	    !quell_trim_tunnel_returns(frame))
		return false;
	/* Of a segment to a group address each port may drop a copy, which would cause a NACK. */
	if (frame->data[0] & 1 ||
	    !quell_trim_wants_nack(frame->data + quell_frame_flow(frame)->at, trim))
		return false;
	nack = swport_nack_make(skb, frame, trim, port->params.trim.dscp);
	if (!nack)
		return false;
	nack->protocol = eth_type_trans(nack, dev);
	if (netif_rx(nack) == NET_RX_SUCCESS)
		port->trim.to_sender_pkts++;
	else
		port->trim.to_sender_drop_pkts++;
	return true;
}

/* Read the headers of a packet that may be trimmed, in a tunnel those of the inner packet. */
static bool swport_trim_find(const struct swport_sched *port, const struct sk_buff *skb,
			     const struct quell_frame *frame, struct quell_trim *trim)
{
	const struct swport_trim_params *params = &port->params.trim;
	const struct quell_frame_ip *flow = quell_frame_flow(frame);
	bool is_partial = skb->ip_summed == CHECKSUM_PARTIAL;
	u64 trimmed = params->known | BIT_ULL(params->dscp);
	u32 dscp = frame->ip[0].dsfield >> SWPORT_DSCP_SHIFT;

	if (!quell_trim_parse(frame, trim) || !quell_trim_tunnel_may(frame, is_partial) ||
	    (trimmed >> dscp | trimmed >> trim->dscp) & 1)
		return false;
	/* It must be that of the transport header found, in its place. */
	if (is_partial && (skb_checksum_start_offset(skb) != flow->transport_at ||
			   skb->csum_offset != (flow->protocol == IPPROTO_TCP ?
						offsetof(struct tcphdr, check) :
						offsetof(struct udphdr, check))))
		return false;
	/* By its DSCP, or by an option of the sender that states the missing data. */
	return params->eligible >> dscp & 1 ||
	       quell_trim_is_stated(frame->data + flow->at, trim);
}

/* One's complement sum of a part of a packet, in the form <quell/trim.h> requires. */
static u16 swport_trim_sum(const struct sk_buff *skb, u32 at, u32 bytes)
{
	__sum16 check = csum_fold(skb_checksum(skb, at, bytes, 0));

	return ~ntohs((__force __be16)check);
}

/* Update the tunnel's headers as well. */
static void swport_trim_edit(struct sk_buff *skb, const struct quell_frame *frame,
			     const struct quell_trim *trim, const struct quell_trim_cut *cut,
			     u16 outer_sum)
{
	u32 at = quell_frame_flow(frame)->at;
	struct quell_trim_outside outside = {
		.end = at + cut->to_bytes,
		.cut_sum = outer_sum,
		.dscp = cut->dscp,
	};

	if (quell_trim_tunnel_udp_at(frame))
		outside.from_sum = quell_trim_inside_sum(skb->data, frame, trim);
	quell_trim_edit(skb->data + at, trim, cut);
	if (frame->tunnel)
		quell_trim_edit_outside(skb->data, frame, trim, &outside);
}

/* The headers may be shared with TCP's retransmit queue or a packet capture: unshare them. */
static int swport_trim_packet(struct sk_buff *skb, const struct quell_frame *frame,
			      const struct quell_trim *trim, u32 to_bytes, u8 dscp)
{
	struct quell_trim_cut cut = {
		.to_bytes = to_bytes,
		.dscp = dscp,
		.partial = skb->ip_summed == CHECKSUM_PARTIAL,
	};
	u32 at = quell_frame_flow(frame)->at, end = at + to_bytes;
	u16 outer_sum = 0;
	int err;

	err = skb_ensure_writable(skb, at + trim->header_bytes);
	if (err)
		return err;
	if (!cut.partial)
		cut.sum = swport_trim_sum(skb, end, trim->ip_bytes - to_bytes);
	if (quell_trim_tunnel_udp_at(frame))
		outer_sum = swport_trim_sum(skb, end, frame->ip[0].end - end);
	err = pskb_trim(skb, end);
	if (err)
		return err;
	/* skb->csum covered the whole packet; forwarding does not need it. */
	if (skb->ip_summed == CHECKSUM_COMPLETE)
		skb->ip_summed = CHECKSUM_NONE;
	swport_trim_edit(skb, frame, trim, &cut, outer_sum);
	quell_qdisc_set_pkt_len(skb);
	return 0;
}

/**
 * quell_swport_trim() - trim a packet instead of dropping it
 * @sch: the port's qdisc
 * @skb: packet of the data band, not GSO
 * @frame: its headers; invalid when @skb is trimmed
 * Context: softirq, qdisc lock held.
 * Return: true when @skb is now the trimmed packet; false when it must be dropped.
 */
bool quell_swport_trim(struct Qdisc *sch, struct sk_buff *skb, const struct quell_frame *frame)
{
	struct swport_sched *port = qdisc_priv(sch);
	const struct swport_trim_params *params = &port->params.trim;
	struct quell_trim trim;
	u32 to_bytes;

	if (!params->size_bytes)
		return false;
	if (!swport_trim_find(port, skb, frame, &trim) ||
	    (params->to_sender && swport_send_nack(sch, skb, frame, &trim)))
		return false;
	to_bytes = quell_trim_to_bytes(&trim, quell_frame_flow(frame)->at, params->size_bytes);
	if (!to_bytes)
		return false;
	if (swport_trim_packet(skb, frame, &trim, to_bytes, params->dscp)) {
		port->trim.fail_pkts++;
		return false;
	}
	swport_cb(skb)->trimmed = true;
	port->trim.pkts++;
	port->trim.bytes += qdisc_pkt_len(skb);
	return true;
}

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

#define SWPORT_GSO_SUPPORTED	(SKB_GSO_TCPV4 | SKB_GSO_TCPV6 | SKB_GSO_UDP_L4)
#define SWPORT_GSO_UNSUPPORTED	\
	(SKB_GSO_SCTP | SKB_GSO_ESP | SKB_GSO_UDP | SKB_GSO_FRAGLIST | SKB_GSO_FCOE)

/*
 * Offset of TCP or UDP by the IP header; 0: another protocol.  swport_read() rejects the length of
 * 0 of packets above 64 KB.
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

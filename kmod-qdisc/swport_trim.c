// SPDX-License-Identifier: GPL-2.0
/*
 * Trimming: if the data band has no room for a packet, its beginning is sent on.  The receiver, or
 * the sender, then detects loss and congestion a round trip later and not by a timeout.
 * <quell/trim.h> defines the length and the header changes; this file handles the buffers.
 *
 * Eligible are TCP (neither SYN nor RST) and UDP, longer than `size` and their headers, of an
 * eligible DSCP and not yet trimmed.  Not supported: IP fragments, IPv6 with extension headers, and
 * tunnelled packets with a partial inner checksum.  Sizes are those of frames.
 */
#include <linux/if_ether.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/checksum.h>
#include <quell/trim_tunnel.h>

#include "swport.h"

/*
 * True for the DSCP this port sets and those of @params->known: other switches may set another
 * one, or one per egress port (SONiC's asymmetric DSCP).  Context: any.
 */
bool quell_swport_is_trimmed(const struct swport_trim_params *params,
			     const struct quell_frame *frame)
{
	u32 dscp = frame->ip[0].dsfield >> SWPORT_DSCP_SHIFT;

	return frame->ip[0].version && (dscp == params->dscp || params->known >> dscp & 1);
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
	    (params->to_sender && quell_swport_send_nack(sch, skb, frame, &trim)))
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

void quell_swport_trim_queued(struct swport_sched *port, const struct sk_buff *skb)
{
	port->trim.backlog_pkts++;
	port->trim.backlog_bytes += qdisc_pkt_len(skb);
}

void quell_swport_trim_sent(struct swport_sched *port, const struct sk_buff *skb)
{
	port->trim.backlog_pkts--;
	port->trim.backlog_bytes -= qdisc_pkt_len(skb);
	port->trim.sent_pkts++;
	port->trim.sent_bytes += qdisc_pkt_len(skb);
}

void quell_swport_trim_dropped(struct swport_sched *port, const struct sk_buff *skb)
{
	port->trim.drop_pkts++;
	port->trim.drop_bytes += qdisc_pkt_len(skb);
}

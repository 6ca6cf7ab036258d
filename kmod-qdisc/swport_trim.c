// SPDX-License-Identifier: GPL-2.0
/*
 * Trimming: if the data band has no room for a packet, its beginning is sent on.
 *
 * From it the receiver, or the sender, learns what was lost and where congestion
 * is, one round trip later instead of by a timeout.  <quell/trim.h> defines the length
 * and the header changes; this file handles the buffers.
 *
 * Trimmed are packets of TCP (neither SYN nor RST) and UDP, longer than `size` and
 * their own headers, whose DSCP is eligible; never those that have a DSCP of trimmed
 * packets, this port's or one that other ports use.  Not supported: IP fragments, IPv6
 * packets with extension headers, and tunnelled packets whose inner checksum is still to
 * be computed.
 *
 * Sizes are those of frames, as everywhere in this port.
 */
#include <linux/if_ether.h>
#include <linux/skbuff.h>
#include <net/checksum.h>
#include <quell/trim.h>

#include "swport.h"

/* A checksum left to the device must be the one of the transport header found. */
static bool swport_trim_partial_fits(const struct sk_buff *skb, const struct quell_trim *trim)
{
	return skb->ip_summed != CHECKSUM_PARTIAL ||
	       skb_checksum_start_offset(skb) == skb_network_offset(skb) + trim->transport_at;
}

/**
 * quell_swport_dscp_is_trimmed() - do packets of a DSCP count as trimmed?
 * @params: how this port trims
 * @dscp: 0 to 63, or QUELL_DSCP_NONE
 *
 * A switch may set another DSCP than this port, or one by the port it sends to
 * (SONiC's asymmetric DSCP).
 *
 * Context: any.
 * Return: true for the DSCP this port sets and for those of @params->known.
 */
bool quell_swport_dscp_is_trimmed(const struct swport_trim_params *params, u32 dscp)
{
	return dscp == params->dscp ||
	       (dscp < QUELL_DSCP_NONE && params->known >> dscp & 1);
}

static bool swport_trim_is_eligible(const struct swport_trim_params *params,
				    const struct quell_trim *trim)
{
	return params->eligible >> trim->dscp & 1 &&
	       !quell_swport_dscp_is_trimmed(params, trim->dscp);
}

/*
 * Find the headers of a packet that may be trimmed, copied to @buf unless they are linear,
 * and parse them to @trim.  NULL for any other packet.
 */
static const u8 *swport_trim_find(const struct swport_sched *port, const struct sk_buff *skb,
				  struct quell_trim *trim, u8 buf[QUELL_TRIM_HEADERS_MAX])
{
	__be16 protocol = skb_protocol(skb, true);
	u32 at = skb_network_offset(skb);
	const u8 *ip;
	u32 bytes;

	if ((protocol != htons(ETH_P_IP) && protocol != htons(ETH_P_IPV6)) || at > skb->len)
		return NULL;
	bytes = min_t(u32, skb->len - at, QUELL_TRIM_HEADERS_MAX);
	ip = skb_header_pointer(skb, at, bytes, buf);
	if (!ip || !quell_trim_parse(ip, bytes, trim) || trim->ip_bytes > skb->len - at ||
	    !swport_trim_partial_fits(skb, trim) ||
	    !swport_trim_is_eligible(&port->params.trim, trim))
		return NULL;
	return ip;
}

/* One's complement sum of a part of a packet, in the form <quell/trim.h> requires. */
static u16 swport_trim_sum(const struct sk_buff *skb, u32 at, u32 bytes)
{
	__sum16 check = csum_fold(skb_checksum(skb, at, bytes, 0));

	return ~ntohs((__force __be16)check);
}

/*
 * Trim a packet.  Make the headers writable first, for they may be shared with TCP's
 * retransmission queue or a packet capture.
 */
static int swport_trim_cut(struct sk_buff *skb, const struct quell_trim *trim, u32 to_bytes,
			   u8 dscp)
{
	struct quell_trim_cut cut = {
		.to_bytes = to_bytes,
		.dscp = dscp,
		.partial = skb->ip_summed == CHECKSUM_PARTIAL,
	};
	u32 at = skb_network_offset(skb);
	int err;

	err = skb_ensure_writable(skb, at + trim->header_bytes);
	if (err)
		return err;
	if (!cut.partial)
		cut.sum = swport_trim_sum(skb, at + to_bytes, trim->ip_bytes - to_bytes);
	err = pskb_trim(skb, at + to_bytes);
	if (err)
		return err;
	/* skb->csum covered the whole packet and is now stale; forwarding does not need it. */
	if (skb->ip_summed == CHECKSUM_COMPLETE)
		skb->ip_summed = CHECKSUM_NONE;
	quell_trim_edit(skb->data + at, trim, &cut);
	quell_qdisc_set_pkt_len(skb);
	return 0;
}

/**
 * quell_swport_trim() - trim a packet that is dropped, if it may be
 * @sch: the port's qdisc
 * @skb: packet of the data band, not GSO
 *
 * Context: softirq, qdisc lock held.
 * Return: true when @skb is now the trimmed packet; false when it must be dropped.
 */
bool quell_swport_trim(struct Qdisc *sch, struct sk_buff *skb)
{
	struct swport_sched *port = qdisc_priv(sch);
	const struct swport_trim_params *params = &port->params.trim;
	u8 buf[QUELL_TRIM_HEADERS_MAX];
	struct quell_trim trim;
	const u8 *ip;
	u32 to_bytes;

	if (!params->size_bytes)
		return false;
	ip = swport_trim_find(port, skb, &trim, buf);
	if (!ip || (params->to_sender && quell_swport_answer(sch, skb, ip, &trim)))
		return false;
	to_bytes = quell_trim_to_bytes(&trim, skb_network_offset(skb), params->size_bytes);
	if (!to_bytes)
		return false;
	if (swport_trim_cut(skb, &trim, to_bytes, params->dscp)) {
		port->trim.fail_pkts++;
		return false;
	}
	swport_cb(skb)->trimmed = true;
	port->trim.pkts++;
	port->trim.bytes += qdisc_pkt_len(skb);
	return true;
}

/**
 * quell_swport_trim_queued() - a trimmed packet is about to be queued
 * @port: the switch port
 * @skb: packet trimmed by quell_swport_trim()
 *
 * Context: softirq, qdisc lock held.
 */
void quell_swport_trim_queued(struct swport_sched *port, const struct sk_buff *skb)
{
	port->trim.backlog_pkts++;
	port->trim.backlog_bytes += qdisc_pkt_len(skb);
}

/**
 * quell_swport_trim_sent() - a trimmed packet leaves
 * @port: the switch port
 * @skb: packet that was queued
 *
 * Context: softirq, qdisc lock held.
 */
void quell_swport_trim_sent(struct swport_sched *port, const struct sk_buff *skb)
{
	port->trim.backlog_pkts--;
	port->trim.backlog_bytes -= qdisc_pkt_len(skb);
	port->trim.sent_pkts++;
	port->trim.sent_bytes += qdisc_pkt_len(skb);
}

/**
 * quell_swport_trim_dropped() - a trimmed packet found its band full
 * @port: the switch port
 * @skb: packet trimmed by quell_swport_trim()
 *
 * Context: softirq, qdisc lock held.
 */
void quell_swport_trim_dropped(struct swport_sched *port, const struct sk_buff *skb)
{
	port->trim.drop_pkts++;
	port->trim.drop_bytes += qdisc_pkt_len(skb);
}

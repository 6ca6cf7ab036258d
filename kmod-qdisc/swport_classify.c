// SPDX-License-Identifier: GPL-2.0
/*
 * Parse the headers of a packet once, at enqueue (<quell/core/port/frame.h>), and classify it.
 *
 * Locally sent packets with TC_PRIO_CONTROL are control, too: the kernel's LACP, STP, IGMP and
 * MLD; programs need CAP_NET_ADMIN or CAP_NET_RAW in their namespace for it.  So those of a socket
 * of another namespace, as a container with a macvlan, are not.  A forwarded packet has no socket.
 *
 * An Ethernet frame is parsed from its first byte.  skb's network header and protocol are ignored:
 * behind a bridge that of a frame with two tags is the inner tag.
 */
#include <linux/if_arp.h>
#include <linux/pkt_sched.h>
#include <linux/skbuff.h>
#include <net/sock.h>
#include <quell/core/port/frame_control.h>

#include "swport.h"

static void swport_read(const struct sk_buff *skb, const u8 *data, u32 bytes,
			struct swport_packet *packet)
{
	struct quell_frame *frame = &packet->frame;
	int at = skb_network_offset(skb);

	quell_frame_begin(frame, data, bytes, skb->len);
	if (skb->dev->type == ARPHRD_ETHER || skb->dev->type == ARPHRD_LOOPBACK)
		quell_frame_parse(frame);
	else if (at >= 0 && at < QUELL_FRAME_BYTES_MAX)
		quell_frame_parse_ip(frame, at, ntohs(skb->protocol));
	else
		quell_frame_parse_ip(frame, 0, 0);
	packet->control = quell_frame_is_control(frame);
}

/* Headers in page fragments. */
static noinline void swport_read_copy(const struct sk_buff *skb, struct swport_packet *packet)
{
	u32 bytes = min_t(u32, skb->len, QUELL_FRAME_BYTES_MAX);

	if (!skb_copy_bits(skb, 0, packet->headers, bytes))
		swport_read(skb, packet->headers, bytes, packet);
}

/**
 * quell_swport_read() - parse the headers of a packet
 * @port: the switch port
 * @skb: packet, or super-packet, from its link-layer header on
 * Context: softirq, qdisc lock held; does not write to @skb.
 * Return: the headers, valid until @skb is changed or another packet is parsed.
 */
const struct swport_packet *quell_swport_read(struct swport_sched *port,
					      const struct sk_buff *skb)
{
	struct swport_packet *packet = &port->parsed;

	swport_read(skb, skb->data, skb_headlen(skb), packet);
	if (packet->frame.is_short)
		swport_read_copy(skb, packet);
	if (skb->priority == TC_PRIO_CONTROL &&
	    (!skb->sk || net_eq(sock_net(skb->sk), dev_net(skb->dev))))
		packet->control = true;
	return packet;
}

/* Store the headers needed at dequeue.  Context: softirq, qdisc lock held. */
void quell_swport_store_headers(struct sk_buff *skb, const struct quell_frame *frame)
{
	const struct quell_frame_ip *outer = &frame->ip[0], *flow = quell_frame_flow(frame);
	struct swport_cb *cb = swport_cb(skb);

	cb->ip_at = outer->version ? min_t(u32, outer->at, SWPORT_NOT_IP) : SWPORT_NOT_IP;
	cb->priority = outer->version ? outer->dsfield >> SWPORT_PRIORITY_SHIFT : 0;
	if (!frame->tcp_bytes || flow->transport_at > U8_MAX)
		return;
	cb->ttl = outer->ttl;
	cb->inner_ttl = frame->inner ? flow->ttl : 0;
	cb->tcp_at = flow->transport_at;
	if (!(frame->tcp_flags & QUELL_FRAME_TCP_SYN))
		cb->option_bytes = frame->tcp_bytes - QUELL_FRAME_TCP_BYTES;
	cb->linear = cb->tcp_at + frame->tcp_bytes <= skb_headlen(skb);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Dissect a packet for deflection: its flow, and whether it starts or ends a message.
 *
 *			flow			start		end
 *	TCP		addresses, ports	SYN		FIN, RST
 *	with the Quell	the same		START, clean	data without MORE,
 *	option						with PSH
 *	RoCEv2		addresses, ports,	FIRST, ONLY	LAST, ONLY
 *	(UDP 4791)	destination queue pair
 *
 * and the time to live (<quell/core/port/iofd.h>), of the outer header, which routers decrement.
 * In a tunnel the flow is the inner one, with a hash of the tunnel, as tunnels may share addresses.
 *
 * Other packets are not deflected: other protocols, IP fragments, IPv6 with extension headers,
 * packets to a group, and tagged frames, as a tag belongs to the link.  A flow that has both kinds
 * may be reordered.
 */
#include <linux/if_ether.h>
#include <linux/jhash.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <quell/option.h>

#include "swport_deflect.h"

/* Base transport header: opcode, flags, key (2), reserved, destination QP (3), ... */
#define SWPORT_BTH_QP_AT	4
#define SWPORT_BTH_QP_MASK	0xffffffU

#define SWPORT_IPV4_SADDR_AT	12
#define SWPORT_IPV6_SADDR_AT	8
#define SWPORT_IPV6_ADDR_WORDS	4
#define SWPORT_IPV4_DADDR_AT	16
#define SWPORT_IPV6_DADDR_AT	24
/* The least first octet of a multicast address; in IPv4 reserved and broadcast addresses follow. */
#define SWPORT_IPV4_GROUP	224
#define SWPORT_IPV6_GROUP	0xff

/* Network order. */
static void swport_flow_addresses(const u8 *data, const struct quell_frame_ip *ip, u32 *saddr,
				  u32 *daddr)
{
	u32 bytes = ip->version == 4 ? sizeof(u32) : SWPORT_IPV6_ADDR_WORDS * sizeof(u32);
	const u8 *from = data + ip->at +
			 (ip->version == 4 ? SWPORT_IPV4_SADDR_AT : SWPORT_IPV6_SADDR_AT);

	memcpy(saddr, from, bytes);
	memcpy(daddr, from + bytes, bytes);
}

/* Distinguish flows of different tunnels. */
static u32 swport_flow_tunnel(const struct quell_frame *frame, u32 qp)
{
	u32 words[2 * SWPORT_IPV6_ADDR_WORDS + 3] = { };

	swport_flow_addresses(frame->data, &frame->ip[0], words, words + SWPORT_IPV6_ADDR_WORDS);
	words[2 * SWPORT_IPV6_ADDR_WORDS] = frame->tunnel;
	words[2 * SWPORT_IPV6_ADDR_WORDS + 1] = frame->tunnel_id;
	words[2 * SWPORT_IPV6_ADDR_WORDS + 2] = qp;
	return jhash2(words, ARRAY_SIZE(words), 0);
}

/* Flags and stamp of the Quell option of a non-SYN segment. */
static void swport_flow_option(const struct quell_frame *frame, struct quell_iofd_packet *packet)
{
	u32 bytes = frame->tcp_bytes - QUELL_FRAME_TCP_BYTES, at, stated;
	const u8 *options = frame->data + quell_frame_flow(frame)->transport_at +
			    QUELL_FRAME_TCP_BYTES;
	struct quell_opt opt;

	if (!bytes || frame->tcp_flags & QUELL_FRAME_TCP_SYN)
		return;
	at = quell_opt_find(options, bytes, &stated);
	if (at == bytes || !quell_opt_decode(options + at, stated, false, &opt) ||
	    opt.form != QUELL_OPT_FULL || !(opt.flags & QUELL_OPT_F_DATA))
		return;
	packet->flags |= QUELL_IOFD_STAMPED;
	packet->stamp = opt.depart_ns;
	if (opt.flags & QUELL_OPT_F_START)
		packet->flags |= QUELL_IOFD_START | QUELL_IOFD_CLEAN;
	if (quell_opt_ends(opt.flags, frame->tcp_flags &
				      (QUELL_FRAME_TCP_PSH | QUELL_FRAME_TCP_FIN)))
		packet->flags |= QUELL_IOFD_END;
}

static void swport_flow_tcp(const struct quell_frame *frame, struct quell_iofd_packet *packet)
{
	swport_flow_option(frame, packet);
	if (frame->tcp_flags & QUELL_FRAME_TCP_SYN)
		packet->flags |= QUELL_IOFD_START;
	if (frame->tcp_flags & (QUELL_FRAME_TCP_FIN | QUELL_FRAME_TCP_RST))
		packet->flags |= QUELL_IOFD_END;
}

static bool swport_flow_roce(const struct quell_frame *frame, struct quell_iofd_packet *packet)
{
	u32 at = quell_frame_flow(frame)->transport_at;
	const u8 *bth = frame->data + at + QUELL_FRAME_UDP_BYTES;

	if (at + QUELL_FRAME_UDP_BYTES + QUELL_FRAME_BTH_BYTES > frame->bytes ||
	    quell_frame_u16(frame, at + 2) != QUELL_FRAME_ROCE_PORT)
		return false;
	packet->flow.word[SWPORT_FLOW_QP] = quell_opt_get_u32(bth + SWPORT_BTH_QP_AT) &
					    SWPORT_BTH_QP_MASK;
	packet->flags = quell_iofd_bth(bth[0]);
	return true;
}

/**
 * quell_swport_deflect_flow() - dissect the flow of a packet
 * @skb: packet
 * @frame: its headers
 * @packet: flow, flags and stamp are set; must be zeroed
 * Context: any; does not write to @skb.
 * Return: false for packets without a flow that could be deflected.
 */
bool quell_swport_deflect_flow(const struct sk_buff *skb, const struct quell_frame *frame,
			       struct quell_iofd_packet *packet)
{
	const struct quell_frame_ip *flow = quell_frame_flow(frame);
	const struct quell_frame_ip *outer = &frame->ip[0];
	u32 *word = packet->flow.word;

	/* The next hop's header replaces that of the frame: both must agree on its end. */
	if (!flow->transport_at || frame->tagged || skb_vlan_tag_present(skb) ||
	    skb_network_offset(skb) != outer->at ||
	    skb->protocol != (outer->version == 4 ? htons(ETH_P_IP) : htons(ETH_P_IPV6)))
		return false;
	/* A next hop does not forward to the members of a group on the port's link. */
	if (outer->version == 4 ?
	    frame->data[outer->at + SWPORT_IPV4_DADDR_AT] >= SWPORT_IPV4_GROUP :
	    frame->data[outer->at + SWPORT_IPV6_DADDR_AT] == SWPORT_IPV6_GROUP)
		return false;
	if (frame->tcp_bytes)
		swport_flow_tcp(frame, packet);
	else if (flow->protocol != IPPROTO_UDP || !swport_flow_roce(frame, packet))
		return false;
	swport_flow_addresses(frame->data, flow, &word[SWPORT_FLOW_SADDR],
			      &word[SWPORT_FLOW_DADDR]);
	word[SWPORT_FLOW_PORTS] = quell_frame_u32(frame, flow->transport_at);
	word[SWPORT_FLOW_KIND] = flow->version << SWPORT_FLOW_VERSION_SHIFT |
				 flow->protocol << SWPORT_FLOW_PROTOCOL_SHIFT | frame->ip[0].ttl;
	if (frame->tunnel)
		word[SWPORT_FLOW_QP] = swport_flow_tunnel(frame, word[SWPORT_FLOW_QP]);
	return true;
}

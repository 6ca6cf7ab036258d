// SPDX-License-Identifier: GPL-2.0
/*
 * Dissects a packet for deflection: its flow, whether it starts or ends a message,
 * and its DSCP.
 *
 *			flow			start		end
 *	TCP		addresses, ports	SYN		FIN, RST
 *	with the Quell	the same		START, clean	data without MORE,
 *	option						with PSH
 *	RoCEv2		addresses, ports,	FIRST, ONLY	LAST, ONLY
 *	(UDP 4791)	destination queue pair
 *
 * plus the time to live, see <quell/core/port/iofd.h>.  Other packets have no flow and
 * are never deflected: other protocols, IP fragments, IPv6 packets with extension
 * headers, tagged frames, and malformed packets.  A flow that mixes such packets with
 * others cannot be kept in order.
 */
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/dsfield.h>
#include <net/ip.h>
#include <quell/option.h>

#include "swport_deflect.h"

#define SWPORT_DSCP_SHIFT	2
#define SWPORT_ROCE_PORT	4791

/* Base transport header: opcode, flags, key (2), reserved, destination QP (3), ... */
#define SWPORT_BTH_BYTES	12
#define SWPORT_BTH_QP_AT	4
#define SWPORT_BTH_QP_MASK	0xffffffU

/* Offset of the transport header; 0: no supported IPv4 header. */
static u32 swport_flow_ipv4(const struct sk_buff *skb, struct quell_iofd_flow *flow,
			    u8 *protocol, u8 *dscp, u32 *end)
{
	u32 offset = skb_network_offset(skb);
	const struct iphdr *iph;
	struct iphdr buf;

	iph = skb_header_pointer(skb, offset, sizeof(buf), &buf);
	if (!iph || iph->version != 4 || iph->ihl * 4 < sizeof(buf) || ip_is_fragment(iph))
		return 0;
	flow->word[SWPORT_FLOW_SADDR] = (__force u32)iph->saddr;
	flow->word[SWPORT_FLOW_DADDR] = (__force u32)iph->daddr;
	flow->word[SWPORT_FLOW_KIND] = 4 << SWPORT_FLOW_VERSION_SHIFT |
				      iph->protocol << SWPORT_FLOW_PROTOCOL_SHIFT | iph->ttl;
	*protocol = iph->protocol;
	*dscp = iph->tos >> SWPORT_DSCP_SHIFT;
	*end = offset + ntohs(iph->tot_len);
	return offset + iph->ihl * 4;
}

static u32 swport_flow_ipv6(const struct sk_buff *skb, struct quell_iofd_flow *flow,
			    u8 *protocol, u8 *dscp, u32 *end)
{
	u32 offset = skb_network_offset(skb);
	const struct ipv6hdr *ip6h;
	struct ipv6hdr buf;

	ip6h = skb_header_pointer(skb, offset, sizeof(buf), &buf);
	if (!ip6h || ip6h->version != 6)
		return 0;
	memcpy(&flow->word[SWPORT_FLOW_SADDR], &ip6h->saddr, sizeof(ip6h->saddr));
	memcpy(&flow->word[SWPORT_FLOW_DADDR], &ip6h->daddr, sizeof(ip6h->daddr));
	flow->word[SWPORT_FLOW_KIND] = 6 << SWPORT_FLOW_VERSION_SHIFT |
				      ip6h->nexthdr << SWPORT_FLOW_PROTOCOL_SHIFT | ip6h->hop_limit;
	*protocol = ip6h->nexthdr;
	*dscp = ipv6_get_dsfield(ip6h) >> SWPORT_DSCP_SHIFT;
	*end = offset + sizeof(buf) + ntohs(ip6h->payload_len);
	return offset + sizeof(buf);
}

/* Set packet flags and stamp from the Quell option of a non-SYN segment, if it has one. */
static void swport_flow_option(const struct sk_buff *skb, const struct swport_place *place,
			       const struct tcphdr *th, struct quell_iofd_packet *packet)
{
	u8 buf[SWPORT_TCP_OPTIONS_MAX];
	struct quell_opt opt;
	u32 at, bytes, stated;
	const u8 *options;

	options = quell_swport_options(skb, place, buf, &bytes);
	if (!options)
		return;
	at = quell_opt_find(options, bytes, &stated);
	if (at == bytes || !quell_opt_decode(options + at, stated, false, &opt) ||
	    opt.form != QUELL_OPT_FULL || !(opt.flags & QUELL_OPT_F_DATA))
		return;
	packet->flags |= QUELL_IOFD_STAMPED;
	packet->stamp = opt.depart_ns;
	if (opt.flags & QUELL_OPT_F_START)
		packet->flags |= QUELL_IOFD_START | QUELL_IOFD_CLEAN;
	if (quell_opt_ends(opt.flags, th->psh || th->fin))
		packet->flags |= QUELL_IOFD_END;
}

static bool swport_flow_tcp(const struct sk_buff *skb, u32 tcp_at, u32 end,
			    struct quell_iofd_packet *packet)
{
	struct swport_place place = { .tcp_at = tcp_at, .end = end };
	const struct tcphdr *th;
	struct tcphdr buf;

	th = skb_header_pointer(skb, tcp_at, sizeof(buf), &buf);
	if (!th)
		return false;
	packet->flow.word[SWPORT_FLOW_PORTS] = ntohs(th->source) << 16 | ntohs(th->dest);
	swport_flow_option(skb, &place, th, packet);
	if (th->syn)
		packet->flags |= QUELL_IOFD_START;
	if (th->fin || th->rst)
		packet->flags |= QUELL_IOFD_END;
	return true;
}

static bool swport_flow_roce(const struct sk_buff *skb, u32 udp_at,
			     struct quell_iofd_packet *packet)
{
	const struct udphdr *uh;
	u8 bth_buf[SWPORT_BTH_BYTES];
	struct udphdr buf;
	const u8 *bth;

	uh = skb_header_pointer(skb, udp_at, sizeof(buf), &buf);
	if (!uh || uh->dest != htons(SWPORT_ROCE_PORT))
		return false;
	bth = skb_header_pointer(skb, udp_at + sizeof(buf), sizeof(bth_buf), bth_buf);
	if (!bth)
		return false;
	packet->flow.word[SWPORT_FLOW_PORTS] = ntohs(uh->source) << 16 | ntohs(uh->dest);
	packet->flow.word[SWPORT_FLOW_QP] = quell_opt_get_u32(bth + SWPORT_BTH_QP_AT) &
				     SWPORT_BTH_QP_MASK;
	packet->flags = quell_iofd_bth(bth[0]);
	return true;
}

/**
 * quell_swport_deflect_flow() - dissect the flow of a packet
 * @skb: packet
 * @packet: flow, flags and stamp are set; must be zeroed
 * @dscp: set to its DSCP
 *
 * Context: any; does not write to @skb.
 * Return: false for packets without a flow that could be deflected.
 */
bool quell_swport_deflect_flow(const struct sk_buff *skb, struct quell_iofd_packet *packet,
			       u8 *dscp)
{
	u32 at = 0, end = 0;
	u8 protocol = 0;

	if (skb_vlan_tag_present(skb))
		return false;
	if (skb->protocol == htons(ETH_P_IP))
		at = swport_flow_ipv4(skb, &packet->flow, &protocol, dscp, &end);
	else if (skb->protocol == htons(ETH_P_IPV6))
		at = swport_flow_ipv6(skb, &packet->flow, &protocol, dscp, &end);
	if (!at)
		return false;
	if (protocol == IPPROTO_TCP)
		return swport_flow_tcp(skb, at, end, packet);
	return protocol == IPPROTO_UDP && swport_flow_roce(skb, at, packet);
}

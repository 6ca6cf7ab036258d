/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The headers of a frame, read once and used by all that a switch port does with it: tags,
 * an IP header, and one level of tunnel with the headers inside.
 *
 *	tags	at most two, 802.1Q or 802.1ad, at each level
 *	tunnel	IPv4 or IPv6 in IPv4 or IPv6 (IPIP, SIT, ip6tnl), behind IPv6 also with the
 *		destination option of a tunnel (RFC 2473)
 *		GRE version 0 of IPv4, IPv6 or Ethernet; checksum, key, sequence number
 *		VXLAN (UDP 4789) of Ethernet
 *		Geneve (UDP 6081) of Ethernet, IPv4 or IPv6, but for control packets
 *
 * Every byte may be an attacker's.  No byte beyond those given is read, and lengths are used only
 * as far as they agree: those of a packet lie within the frame, of an inner one within the outer.
 * A packet with lengths that disagree has no transport header for the port, and so is data that is
 * neither trimmed, stamped nor deflected.  The same holds for fragments, for other IPv6 extension
 * headers, and for headers beyond QUELL_FRAME_BYTES_MAX.
 *
 * Like a core, this does not depend on packet buffers or clocks.
 */
#ifndef _QUELL_CORE_PORT_FRAME_H
#define _QUELL_CORE_PORT_FRAME_H

#include <quell/core/lib/types.h>

/* Bytes that are parsed: two stacks with tags, IPv6, and TCP full of options. */
#define QUELL_FRAME_BYTES_MAX		256U
#define QUELL_FRAME_TAGS_MAX		2U
/* Offset behind incomplete headers. */
#define QUELL_FRAME_CUT			(~0U)

#define QUELL_FRAME_ETHERNET_BYTES	14U
#define QUELL_FRAME_TAG_BYTES		4U
#define QUELL_FRAME_IPV4_BYTES		20U
#define QUELL_FRAME_IPV6_BYTES		40U
#define QUELL_FRAME_TCP_BYTES		20U
#define QUELL_FRAME_UDP_BYTES		8U
#define QUELL_FRAME_GRE_BYTES		4U
#define QUELL_FRAME_VXLAN_BYTES		8U
#define QUELL_FRAME_OPTION_BYTES	8U

#define QUELL_FRAME_IS_IPV4		0x0800U
#define QUELL_FRAME_IS_ARP		0x0806U
#define QUELL_FRAME_IS_ETHERNET		0x6558U
#define QUELL_FRAME_IS_8021Q		0x8100U
#define QUELL_FRAME_IS_IPV6		0x86ddU
#define QUELL_FRAME_IS_EAPOL		0x888eU
#define QUELL_FRAME_IS_8021AD		0x88a8U
#define QUELL_FRAME_IS_PTP		0x88f7U

#define QUELL_FRAME_HOP_BY_HOP		0
#define QUELL_FRAME_IGMP		2
#define QUELL_FRAME_IPIP		4
#define QUELL_FRAME_TCP			6
#define QUELL_FRAME_UDP			17
#define QUELL_FRAME_IPV6		41
#define QUELL_FRAME_GRE			47
#define QUELL_FRAME_ICMPV6		58
#define QUELL_FRAME_DESTINATION		60

#define QUELL_FRAME_VXLAN_PORT		4789U
#define QUELL_FRAME_GENEVE_PORT		6081U
#define QUELL_FRAME_ROCE_PORT		4791U
/* Base transport header of RoCEv2, behind UDP. */
#define QUELL_FRAME_BTH_BYTES		12U

#define QUELL_FRAME_TCP_FIN		0x01
#define QUELL_FRAME_TCP_SYN		0x02
#define QUELL_FRAME_TCP_RST		0x04
#define QUELL_FRAME_TCP_PSH		0x08
#define QUELL_FRAME_TCP_ACK		0x10

/* More fragments follow, or this is not the first. */
#define QUELL_FRAME_FRAGMENT_MASK	0x3fffU
/* The destination option that limits how often a packet may be encapsulated. */
#define QUELL_FRAME_TUNNEL_LIMIT	4
/* GRE: checksum, key, sequence number; bits refused by RFC 2784; the version. */
#define QUELL_FRAME_GRE_CHECKSUM	0x8000U
#define QUELL_FRAME_GRE_KEY		0x2000U
#define QUELL_FRAME_GRE_SEQUENCE	0x1000U
#define QUELL_FRAME_GRE_REFUSED		0x4c07U
/* VXLAN: the network identifier is valid, and all bits that change the payload's format. */
#define QUELL_FRAME_VXLAN_VALID		0x0800U
#define QUELL_FRAME_VXLAN_MASK		0x7fffU
/* Geneve: version and control bit, in the first 16 bits; lengths of options in words. */
#define QUELL_FRAME_GENEVE_REFUSED	0xc080U
#define QUELL_FRAME_GENEVE_LENGTH	0x3fU

enum quell_frame_tunnel {
	QUELL_FRAME_NO_TUNNEL,
	QUELL_FRAME_IN_IP,
	QUELL_FRAME_IN_GRE,
	QUELL_FRAME_IN_VXLAN,
	QUELL_FRAME_IN_GENEVE,
};

/* One IP header. */
struct quell_frame_ip {
	u32	end;	/* first byte behind the packet, by its own length */
	u16	at;
	u16	transport_at;	/* header behind it; 0: not parsed */
	u8	version;	/* 4, 6, or 0: not IP */
	u8	protocol;	/* of the header at @transport_at */
	u8	dsfield;	/* DSCP and ECN */
	u8	ttl;
};

/* A parsed frame; the first three fields are the caller's. */
struct quell_frame {
	const u8		*data;	/* from its first header on */
	u32			bytes;	/* that may be read, or QUELL_FRAME_BYTES_MAX */
	u32			len;	/* of the whole frame */
	/* Innermost Ethernet header; above @bytes: not present. */
	u32			link_at;
	u16			ethertype;	/* of the innermost header */
	u8			tunnel;	/* enum quell_frame_tunnel */
	u8			inner;	/* index in @ip of the innermost header */
	bool			tagged;	/* there are tags outside of the tunnel */
	bool			is_short;	/* more of @len is needed than @bytes */
	/* Header of the innermost packet, if that is whole; else 0. */
	u8			tcp_bytes;
	u8			tcp_flags;	/* CWR to FIN, if so */
	/* Header between the outer and the inner; without one, the inner. */
	u32			tunnel_at;
	u32			tunnel_id;	/* network identifier, or key */
	struct quell_frame_ip	ip[2];	/* outermost, and that inside a tunnel */
};

static inline u32 quell_frame_get(const u8 *from)
{
	return (u32)from[0] << 8 | from[1];
}

static inline u32 quell_frame_u16(const struct quell_frame *frame, u32 at)
{
	return quell_frame_get(frame->data + at);
}

static inline u32 quell_frame_u32(const struct quell_frame *frame, u32 at)
{
	return quell_frame_u16(frame, at) << 16 | quell_frame_u16(frame, at + 2);
}

/* May these bytes be read?  Offsets are below 2^17. */
static inline bool quell_frame_has(struct quell_frame *frame, u32 at, u32 bytes)
{
	if (at + bytes <= frame->bytes)
		return true;
	if (at + bytes <= frame->len && at + bytes <= QUELL_FRAME_BYTES_MAX)
		frame->is_short = true;
	return false;
}

/* Skip tags; returns the offset behind them, QUELL_FRAME_CUT if they are cut off. */
static inline u32 quell_frame_skip_tags(struct quell_frame *frame, u32 at)
{
	u32 tags;

	for (tags = 0; tags < QUELL_FRAME_TAGS_MAX; tags++) {
		if (frame->ethertype != QUELL_FRAME_IS_8021Q &&
		    frame->ethertype != QUELL_FRAME_IS_8021AD)
			break;
		if (!quell_frame_has(frame, at, QUELL_FRAME_TAG_BYTES))
			return QUELL_FRAME_CUT;
		frame->ethertype = quell_frame_u16(frame, at + 2);
		frame->tagged = frame->tagged || !frame->inner;
		at += QUELL_FRAME_TAG_BYTES;
	}
	return at;
}

/* Read an Ethernet header and its tags; returns the offset behind them, or QUELL_FRAME_CUT. */
static inline u32 quell_frame_read_ethernet(struct quell_frame *frame, u32 at)
{
	if (!quell_frame_has(frame, at, QUELL_FRAME_ETHERNET_BYTES))
		return QUELL_FRAME_CUT;
	frame->link_at = at;
	frame->ethertype = quell_frame_u16(frame, at + 12);
	return quell_frame_skip_tags(frame, at + QUELL_FRAME_ETHERNET_BYTES);
}

static inline void quell_frame_read_ipv4(struct quell_frame *frame, u32 at, u32 end,
					 struct quell_frame_ip *ip)
{
	const u8 *header = frame->data + at;
	u32 header_bytes, bytes;
	bool fragment;

	if (!quell_frame_has(frame, at, QUELL_FRAME_IPV4_BYTES) || header[0] >> 4 != 4)
		return;
	header_bytes = (header[0] & 0xf) * 4;
	bytes = quell_frame_get(header + 2);
	fragment = quell_frame_get(header + 6) & QUELL_FRAME_FRAGMENT_MASK;
	ip->dsfield = header[1];
	ip->ttl = header[8];
	ip->protocol = header[9];
	ip->version = 4;
	ip->at = at;
	ip->end = at + bytes;
	if (header_bytes >= QUELL_FRAME_IPV4_BYTES && bytes >= header_bytes &&
	    at + bytes <= end && !fragment)
		ip->transport_at = at + header_bytes;
}

/* ip6tnl and ip6gre put an option before the packet inside; skip it, and no other. */
static inline void quell_frame_skip_limit(struct quell_frame *frame, struct quell_frame_ip *ip)
{
	u32 at = ip->transport_at;
	u8 next;

	if (!quell_frame_has(frame, at, QUELL_FRAME_OPTION_BYTES) ||
	    at + QUELL_FRAME_OPTION_BYTES > ip->end)
		return;
	next = frame->data[at];
	if (frame->data[at + 1] || frame->data[at + 2] != QUELL_FRAME_TUNNEL_LIMIT ||
	    (next != QUELL_FRAME_IPIP && next != QUELL_FRAME_IPV6 && next != QUELL_FRAME_GRE))
		return;
	ip->protocol = next;
	ip->transport_at += QUELL_FRAME_OPTION_BYTES;
}

static inline void quell_frame_read_ipv6(struct quell_frame *frame, u32 at, u32 end,
					 struct quell_frame_ip *ip)
{
	const u8 *header = frame->data + at;
	u32 bytes;

	if (!quell_frame_has(frame, at, QUELL_FRAME_IPV6_BYTES) || header[0] >> 4 != 6)
		return;
	bytes = QUELL_FRAME_IPV6_BYTES + quell_frame_get(header + 4);
	ip->dsfield = quell_frame_get(header) >> 4;
	ip->protocol = header[6];
	ip->ttl = header[7];
	ip->version = 6;
	ip->at = at;
	ip->end = at + bytes;
	if (at + bytes > end)
		return;
	ip->transport_at = at + QUELL_FRAME_IPV6_BYTES;
	if (ip->protocol == QUELL_FRAME_DESTINATION)
		quell_frame_skip_limit(frame, ip);
}

/* Read the IP header that frame->ethertype says there is, if any; within the first @end bytes. */
static inline void quell_frame_read_ip(struct quell_frame *frame, u32 at, u32 end)
{
	struct quell_frame_ip *ip = &frame->ip[frame->inner];

	ip->version = 0;
	ip->transport_at = 0;
	ip->protocol = 0;
	ip->dsfield = 0;
	if (at == QUELL_FRAME_CUT)
		return;
	if (frame->ethertype == QUELL_FRAME_IS_IPV4)
		quell_frame_read_ipv4(frame, at, end, ip);
	else if (frame->ethertype == QUELL_FRAME_IS_IPV6)
		quell_frame_read_ipv6(frame, at, end, ip);
}

/* Enter a tunnel: its headers end at @at, and the packet inside is of that type. */
static inline void quell_frame_enter(struct quell_frame *frame, u32 at, u32 ethertype,
				     enum quell_frame_tunnel tunnel)
{
	const struct quell_frame_ip *outer = &frame->ip[0];

	if (at > outer->end)
		return;
	frame->tunnel = tunnel;
	frame->inner = 1;
	frame->ethertype = ethertype;
	if (ethertype == QUELL_FRAME_IS_ETHERNET)
		at = quell_frame_read_ethernet(frame, at);
	quell_frame_read_ip(frame, at, outer->end);
}

static inline bool quell_frame_is_carried(u32 ethertype)
{
	return ethertype == QUELL_FRAME_IS_IPV4 || ethertype == QUELL_FRAME_IS_IPV6 ||
	       ethertype == QUELL_FRAME_IS_ETHERNET;
}

static inline void quell_frame_read_gre(struct quell_frame *frame, u32 at)
{
	u32 bytes = QUELL_FRAME_GRE_BYTES, flags, ethertype;

	if (!quell_frame_has(frame, at, bytes))
		return;
	flags = quell_frame_u16(frame, at);
	ethertype = quell_frame_u16(frame, at + 2);
	if (flags & QUELL_FRAME_GRE_REFUSED || !quell_frame_is_carried(ethertype))
		return;
	if (flags & QUELL_FRAME_GRE_CHECKSUM)
		bytes += 4;
	if (flags & QUELL_FRAME_GRE_KEY) {
		if (!quell_frame_has(frame, at + bytes, 4))
			return;
		frame->tunnel_id = quell_frame_u32(frame, at + bytes);
		bytes += 4;
	}
	if (flags & QUELL_FRAME_GRE_SEQUENCE)
		bytes += 4;
	frame->tunnel_at = at;
	quell_frame_enter(frame, at + bytes, ethertype, QUELL_FRAME_IN_GRE);
}

static inline void quell_frame_read_vxlan(struct quell_frame *frame, u32 at)
{
	if ((quell_frame_u16(frame, at) & QUELL_FRAME_VXLAN_MASK) != QUELL_FRAME_VXLAN_VALID)
		return;
	frame->tunnel_at = at;
	frame->tunnel_id = quell_frame_u32(frame, at + 4) >> 8;
	quell_frame_enter(frame, at + QUELL_FRAME_VXLAN_BYTES, QUELL_FRAME_IS_ETHERNET,
			  QUELL_FRAME_IN_VXLAN);
}

static inline void quell_frame_read_geneve(struct quell_frame *frame, u32 at)
{
	u32 first = quell_frame_u16(frame, at), ethertype = quell_frame_u16(frame, at + 2);
	u32 bytes = QUELL_FRAME_VXLAN_BYTES;

	if (first & QUELL_FRAME_GENEVE_REFUSED || !quell_frame_is_carried(ethertype))
		return;
	bytes += (first >> 8 & QUELL_FRAME_GENEVE_LENGTH) * 4;
	frame->tunnel_at = at;
	frame->tunnel_id = quell_frame_u32(frame, at + 4) >> 8;
	quell_frame_enter(frame, at + bytes, ethertype, QUELL_FRAME_IN_GENEVE);
}

/* VXLAN's and Geneve's headers, without options, are equally long. */
static inline void quell_frame_read_udp(struct quell_frame *frame)
{
	u32 at = frame->ip[0].transport_at, port;

	if (!quell_frame_has(frame, at, QUELL_FRAME_UDP_BYTES))
		return;
	port = quell_frame_u16(frame, at + 2);
	if (port != QUELL_FRAME_VXLAN_PORT && port != QUELL_FRAME_GENEVE_PORT)
		return;
	if (quell_frame_u16(frame, at + 4) != frame->ip[0].end - at ||
	    !quell_frame_has(frame, at, QUELL_FRAME_UDP_BYTES + QUELL_FRAME_VXLAN_BYTES))
		return;
	if (port == QUELL_FRAME_VXLAN_PORT)
		quell_frame_read_vxlan(frame, at + QUELL_FRAME_UDP_BYTES);
	else
		quell_frame_read_geneve(frame, at + QUELL_FRAME_UDP_BYTES);
}

/* Parse the inside of a tunnel, if it is one. */
static inline void quell_frame_read_tunnel(struct quell_frame *frame)
{
	u32 at = frame->ip[0].transport_at;

	switch (frame->ip[0].protocol) {
	case QUELL_FRAME_UDP:
		quell_frame_read_udp(frame);
		break;
	case QUELL_FRAME_IPIP:
		frame->tunnel_at = at;
		quell_frame_enter(frame, at, QUELL_FRAME_IS_IPV4, QUELL_FRAME_IN_IP);
		break;
	case QUELL_FRAME_IPV6:
		frame->tunnel_at = at;
		quell_frame_enter(frame, at, QUELL_FRAME_IS_IPV6, QUELL_FRAME_IN_IP);
		break;
	case QUELL_FRAME_GRE:
		quell_frame_read_gre(frame, at);
		break;
	default:
		break;
	}
}

/* The innermost IP header. */
static inline const struct quell_frame_ip *quell_frame_flow(const struct quell_frame *frame)
{
	return &frame->ip[frame->inner];
}

static inline void quell_frame_read_tcp(struct quell_frame *frame, u32 at, u32 end)
{
	const u8 *header = frame->data + at;
	u32 bytes;

	if (!quell_frame_has(frame, at, QUELL_FRAME_TCP_BYTES))
		return;
	bytes = (header[12] >> 4) * 4;
	if (bytes < QUELL_FRAME_TCP_BYTES || at + bytes > end ||
	    !quell_frame_has(frame, at, bytes))
		return;
	frame->tcp_flags = header[13];
	frame->tcp_bytes = bytes;
}

/* Check that the fields used of the innermost header are present. */
static inline void quell_frame_read_transport(struct quell_frame *frame)
{
	const struct quell_frame_ip *flow = quell_frame_flow(frame);
	u32 at = flow->transport_at;

	if (!at)
		return;
	if (flow->protocol == QUELL_FRAME_TCP)
		quell_frame_read_tcp(frame, at, flow->end);
	else if (flow->protocol == QUELL_FRAME_UDP &&
		 quell_frame_has(frame, at, QUELL_FRAME_UDP_BYTES) &&
		 quell_frame_u16(frame, at + 2) == QUELL_FRAME_ROCE_PORT)
		quell_frame_has(frame, at, QUELL_FRAME_UDP_BYTES + QUELL_FRAME_BTH_BYTES);
}

/* Read all from the first IP header on; @at is behind the tags, or QUELL_FRAME_CUT. */
static inline void quell_frame_read(struct quell_frame *frame, u32 at)
{
	quell_frame_read_ip(frame, at, frame->len);
	if (frame->ip[0].transport_at)
		quell_frame_read_tunnel(frame);
	quell_frame_read_transport(frame);
}

static inline void quell_frame_begin(struct quell_frame *frame, const u8 *data, u32 bytes, u32 len)
{
	frame->data = data;
	frame->bytes = bytes < QUELL_FRAME_BYTES_MAX ? bytes : QUELL_FRAME_BYTES_MAX;
	frame->len = len;
	frame->link_at = ~0U;
	frame->ethertype = 0;
	frame->tunnel = QUELL_FRAME_NO_TUNNEL;
	frame->inner = 0;
	frame->tagged = false;
	frame->is_short = false;
	frame->tcp_bytes = 0;
	frame->tcp_flags = 0;
	frame->tunnel_at = 0;
	frame->tunnel_id = 0;
}

/*
 * After quell_frame_begin().  Where frame->is_short is set and more bytes can be had, up to
 * QUELL_FRAME_BYTES_MAX, the result is to be thrown away.
 */
static inline void quell_frame_parse(struct quell_frame *frame)
{
	quell_frame_read(frame, quell_frame_read_ethernet(frame, 0));
}

/* As quell_frame_parse(), for another kind of link; the network header is at @at. */
static inline void quell_frame_parse_ip(struct quell_frame *frame, u32 at, u32 ethertype)
{
	frame->ethertype = ethertype;
	quell_frame_read(frame, quell_frame_skip_tags(frame, at));
}

#endif /* _QUELL_CORE_PORT_FRAME_H */

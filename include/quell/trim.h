/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trimming: which bytes of a packet are kept, and how its headers are changed.
 *
 * A switch port that has no room for a packet sends on its beginning instead: all
 * headers, payload up to the configured size, and each length and checksum field
 * as in a packet that was never longer.
 *
 *	IP total or payload length, UDP length	those of the trimmed packet
 *	DSCP			that of trimmed packets; ECN stays
 *	IPv4 checksum		updated for the changed fields
 *	TCP, UDP checksum	updated for the changed fields and the bytes cut off
 *	TCP FIN			cleared: the stream does not end at the cut
 *	payload length in the Quell option	that of the packet before trimming
 *
 * Checksums are updated incrementally (RFC 1624), so that a packet damaged before it
 * came here stays damaged.  A TCP or UDP checksum still to be computed by a
 * device is the sum of the pseudo header, in which only the length changes.
 *
 * Like a core, this does not depend on packet buffers or clocks, and is compiled into the
 * kernel and into the user-space tests alike.
 */
#ifndef _QUELL_TRIM_H
#define _QUELL_TRIM_H

#include <quell/core/port/frame.h>
#include <quell/option.h>

#define QUELL_TRIM_IPV4_TOS_AT		1
#define QUELL_TRIM_IPV4_LENGTH_AT	2
#define QUELL_TRIM_IPV4_FRAGMENT_AT	6
#define QUELL_TRIM_IPV4_CHECK_AT	10
#define QUELL_TRIM_IPV6_LENGTH_AT	4
#define QUELL_TRIM_TCP_FLAGS_AT		12
#define QUELL_TRIM_TCP_CHECK_AT		16
#define QUELL_TRIM_UDP_LENGTH_AT	4
#define QUELL_TRIM_UDP_CHECK_AT		6

/* In the 16 bits at QUELL_TRIM_TCP_FLAGS_AT. */
#define QUELL_TRIM_TCP_FIN		0x01U

/* DSCP in the octet it shares with ECN, and the shift of that octet in IPv6's first 16 bits. */
#define QUELL_TRIM_DSCP_SHIFT		2
#define QUELL_TRIM_ECN_MASK		3U
#define QUELL_TRIM_IPV6_TOS_SHIFT	4

/**
 * struct quell_trim - parsed headers of a packet that may be trimmed
 * @ip_bytes:	packet length from the IP header on
 * @transport_at: offset of the TCP or UDP header from the IP header
 * @header_bytes: length of all headers, the minimum length after trimming
 * @protocol:	QUELL_FRAME_TCP or QUELL_FRAME_UDP
 * @ipv6:	the packet is IPv6, not IPv4
 * @dscp:	0 to 63
 */
struct quell_trim {
	u32	ip_bytes;
	u32	transport_at;
	u32	header_bytes;
	u8	protocol;
	bool	ipv6;
	u8	dscp;
};

/**
 * quell_trim_parse() - read the headers of a packet that may be trimmed
 * @frame: headers of the frame, in a tunnel of the packet inside
 * @trim:  set in full when the result is true
 *
 * A SYN or RST carries information that no later packet repeats: it must be dropped whole.  A
 * datagram that ends before its packet has UDP options, which are not supported (RFC 9868).
 *
 * Context: any.
 * Return: true for TCP (neither SYN nor RST) and UDP directly behind an IPv4 or IPv6
 * header, unfragmented and well-formed.
 */
static inline bool quell_trim_parse(const struct quell_frame *frame, struct quell_trim *trim)
{
	const struct quell_frame_ip *ip = quell_frame_flow(frame);
	u32 at = ip->transport_at;

	if (!at)
		return false;
	trim->ip_bytes = ip->end - ip->at;
	trim->transport_at = at - ip->at;
	trim->header_bytes = trim->transport_at + QUELL_FRAME_UDP_BYTES;
	trim->protocol = ip->protocol;
	trim->ipv6 = ip->version == 6;
	trim->dscp = ip->dsfield >> QUELL_TRIM_DSCP_SHIFT;
	if (ip->protocol == QUELL_FRAME_UDP)
		return at + QUELL_FRAME_UDP_BYTES <= frame->bytes &&
		       quell_frame_u16(frame, at + QUELL_TRIM_UDP_LENGTH_AT) == ip->end - at;
	trim->header_bytes = trim->transport_at + frame->tcp_bytes;
	return frame->tcp_bytes &&
	       !(frame->tcp_flags & (QUELL_FRAME_TCP_SYN | QUELL_FRAME_TCP_RST));
}

/**
 * quell_trim_to_bytes() - compute the length of a packet after trimming
 * @trim:	the packet
 * @link_bytes:	length of its link-layer header
 * @size_bytes:	configured frame length after trimming
 *
 * Headers stay whole, even if they are longer than @size_bytes allows.
 *
 * Context: any.
 * Return: the new length from the IP header on; 0 if the packet is not longer than that.
 */
static inline u32 quell_trim_to_bytes(const struct quell_trim *trim, u32 link_bytes,
				      u32 size_bytes)
{
	u32 to_bytes = size_bytes > link_bytes ? size_bytes - link_bytes : 0;

	if (to_bytes < trim->header_bytes)
		to_bytes = trim->header_bytes;
	return to_bytes < trim->ip_bytes ? to_bytes : 0;
}

/* Fold a one's complement sum to 16 bits; 0 only if all its terms were 0. */
static inline u16 quell_trim_fold(u32 sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16);
}

/* Byte-swap a sum, for bytes that begin at an odd offset. */
static inline u16 quell_trim_swap_bytes(u16 sum)
{
	return (u16)(sum << 8 | sum >> 8);
}

/* Change of a sum when 16 bits of its terms are replaced. */
static inline u32 quell_trim_change(u16 from, u16 to)
{
	return (u16)~from + (u32)to;
}

/* Replace 16 bits of a header; return the change of its sum, byte-swapped at odd offsets. */
static inline u32 quell_trim_put(u8 *header, u32 at, u16 to)
{
	u32 change = quell_trim_change(quell_opt_get_u16(header + at), to);

	quell_opt_put_u16(header + at, to);
	return at & 1 ? quell_trim_swap_bytes(quell_trim_fold(change)) : change;
}

static inline void quell_trim_edit_ipv4(u8 *ip, u32 to_bytes, u8 dscp)
{
	u32 ecn = ip[QUELL_TRIM_IPV4_TOS_AT] & QUELL_TRIM_ECN_MASK;
	u32 sum = (u16)~quell_opt_get_u16(ip + QUELL_TRIM_IPV4_CHECK_AT);

	sum += quell_trim_put(ip, 0, ip[0] << 8 | dscp << QUELL_TRIM_DSCP_SHIFT | ecn);
	sum += quell_trim_put(ip, QUELL_TRIM_IPV4_LENGTH_AT, to_bytes);
	quell_opt_put_u16(ip + QUELL_TRIM_IPV4_CHECK_AT, ~quell_trim_fold(sum));
}

static inline void quell_trim_edit_ipv6(u8 *ip, u32 to_bytes, u8 dscp)
{
	u32 shift = QUELL_TRIM_IPV6_TOS_SHIFT + QUELL_TRIM_DSCP_SHIFT;
	u32 first = quell_opt_get_u16(ip) & ~(0x3fU << shift);

	quell_opt_put_u16(ip, first | (u32)dscp << shift);
	quell_opt_put_u16(ip + QUELL_TRIM_IPV6_LENGTH_AT, to_bytes - QUELL_FRAME_IPV6_BYTES);
}

/**
 * quell_trim_payload_at() - find the payload length in a segment's Quell option
 * @tcp:	  TCP header
 * @header_bytes: its length with options, 20 to 60
 *
 * Context: any.
 * Return: offset of the two bytes in the option's data section; 0 if it was not found.
 */
static inline u32 quell_trim_payload_at(const u8 *tcp, u32 header_bytes)
{
	u32 bytes = header_bytes - QUELL_FRAME_TCP_BYTES, stated = 0;
	const u8 *options = tcp + QUELL_FRAME_TCP_BYTES;
	struct quell_opt opt;
	u32 at;

	at = quell_opt_find(options, bytes, &stated);
	if (at == bytes || !quell_opt_decode(options + at, stated, false, &opt) ||
	    !(opt.flags & QUELL_OPT_F_DATA))
		return 0;
	return QUELL_FRAME_TCP_BYTES + at + QUELL_OPT_HEAD_BYTES;
}

/**
 * quell_trim_is_stated() - does a segment state the length of its payload?
 * @ip:	  headers of the packet, @trim->header_bytes
 * @trim: its parsed headers
 *
 * So its sender knows about trimming, and its receiver learns how much is missing.
 *
 * Context: any.
 * Return: true for TCP with the Quell option and its data section.
 */
static inline bool quell_trim_is_stated(const u8 *ip, const struct quell_trim *trim)
{
	return trim->protocol == QUELL_FRAME_TCP &&
	       quell_trim_payload_at(ip + trim->transport_at,
				     trim->header_bytes - trim->transport_at);
}

/*
 * All segments of a burst segmented later state the length of the shortest.  A segment
 * that states more than it has was trimmed before; its option must stay.
 */
static inline u32 quell_trim_edit_payload(u8 *tcp, const struct quell_trim *trim)
{
	u32 at = quell_trim_payload_at(tcp, trim->header_bytes - trim->transport_at);
	u32 payload_bytes = trim->ip_bytes - trim->header_bytes;

	if (!at || quell_opt_get_u16(tcp + at) >= payload_bytes)
		return 0;
	return quell_trim_put(tcp, at, payload_bytes);
}

static inline u32 quell_trim_edit_tcp(u8 *tcp, const struct quell_trim *trim)
{
	u16 flags = quell_opt_get_u16(tcp + QUELL_TRIM_TCP_FLAGS_AT) & ~QUELL_TRIM_TCP_FIN;

	return quell_trim_put(tcp, QUELL_TRIM_TCP_FLAGS_AT, flags) +
	       quell_trim_edit_payload(tcp, trim);
}

/**
 * struct quell_trim_cut - how a packet is trimmed
 * @to_bytes: result of quell_trim_to_bytes()
 * @sum:      one's complement sum of the bytes cut off, the first the upper half of
 *	      the first 16 bits; unused if @partial
 * @dscp:     new DSCP, 0 to 63
 * @partial:  the TCP or UDP checksum is still to be computed
 */
struct quell_trim_cut {
	u32	to_bytes;
	u16	sum;
	u8	dscp;
	bool	partial;
};

/**
 * quell_trim_edit() - update the headers for trimming
 * @ip:	  the headers, @trim->header_bytes
 * @trim: the packet before trimming
 * @cut:  how it is trimmed
 *
 * Context: any; the caller owns the packet.
 */
static inline void quell_trim_edit(u8 *ip, const struct quell_trim *trim,
				   const struct quell_trim_cut *cut)
{
	u32 to_bytes = cut->to_bytes - trim->transport_at;
	bool tcp = trim->protocol == QUELL_FRAME_TCP;
	u32 check_at = tcp ? QUELL_TRIM_TCP_CHECK_AT : QUELL_TRIM_UDP_CHECK_AT;
	u32 from_bytes = trim->ip_bytes - trim->transport_at;
	u8 *header = ip + trim->transport_at;
	u16 check = quell_opt_get_u16(header + check_at);
	u32 length, fields;
	u16 sum = cut->sum;

	if (trim->ipv6)
		quell_trim_edit_ipv6(ip, cut->to_bytes, cut->dscp);
	else
		quell_trim_edit_ipv4(ip, cut->to_bytes, cut->dscp);
	length = quell_trim_change(from_bytes, to_bytes);
	fields = tcp ? quell_trim_edit_tcp(header, trim) :
		       quell_trim_put(header, QUELL_TRIM_UDP_LENGTH_AT, to_bytes);
	if (cut->partial) {
		quell_opt_put_u16(header + check_at, quell_trim_fold(check + length));
		return;
	}
	/* UDP without a checksum stays without. */
	if (!tcp && !check)
		return;
	if (to_bytes & 1)
		sum = quell_trim_swap_bytes(sum);
	check = ~quell_trim_fold((u16)~check + (u16)~sum + length + fields);
	if (!tcp && !check)
		check = 0xffff;
	quell_opt_put_u16(header + check_at, check);
}

#endif /* _QUELL_TRIM_H */

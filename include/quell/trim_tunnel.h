/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trimming inside of a tunnel, and a NACK that goes back by it.
 *
 * The inner packet is trimmed as without a tunnel (trim.h); outside the lengths and the
 * checksums follow, and the DSCP is that of trimmed packets at both levels: outside for the
 * ports of the path, inside for the receiver.  So the tunnel's end takes a packet that was
 * never longer.  The checksum of an outer UDP header is updated by the difference, as all
 * are, so that damage stays.
 *
 * A NACK goes through the same tunnel with the addresses of all levels swapped, from the end
 * that the segment was for to that it came from.  Only its Ethernet source is no host's.
 *
 * Like a core, this does not depend on packet buffers or clocks.
 */
#ifndef _QUELL_TRIM_TUNNEL_H
#define _QUELL_TRIM_TUNNEL_H

#include <quell/trim_nack.h>

/* Maximum length of a NACK with all that is outside of it. */
#define QUELL_TRIM_TUNNEL_NACK_MAX_BYTES	(QUELL_FRAME_BYTES_MAX + QUELL_TRIM_NACK_MAX_BYTES)

/* Offset of the outer UDP header, or 0. */
static inline u32 quell_trim_tunnel_udp_at(const struct quell_frame *frame)
{
	return frame->tunnel == QUELL_FRAME_IN_VXLAN || frame->tunnel == QUELL_FRAME_IN_GENEVE ?
	       frame->ip[0].transport_at : 0;
}

/**
 * quell_trim_tunnel_may() - does a tunnel allow to shorten the inner packet?
 * @frame: headers of the packet
 * @partial: a checksum is still to be computed
 *
 * Context: any.
 * Return: true without a tunnel; false for GRE with a checksum, and where an outer UDP
 * checksum depends on an inner one that is still to be computed.
 */
static inline bool quell_trim_tunnel_may(const struct quell_frame *frame, bool partial)
{
	u32 udp_at = quell_trim_tunnel_udp_at(frame);

	if (frame->tunnel == QUELL_FRAME_IN_GRE)
		return !(quell_frame_u16(frame, frame->tunnel_at) & QUELL_FRAME_GRE_CHECKSUM);
	return !partial || !udp_at || !quell_frame_u16(frame, udp_at + QUELL_TRIM_UDP_CHECK_AT);
}

/**
 * struct quell_trim_outside - how the outside of a packet follows
 * @end:	new length of the frame
 * @from_sum:	quell_trim_inside_sum() before quell_trim_edit()
 * @cut_sum:	one's complement sum of the bytes cut off the outer packet, the first the upper
 *		half of the first 16 bits; unused without an outer UDP checksum
 * @dscp:	new DSCP, 0 to 63
 */
struct quell_trim_outside {
	u32	end;
	u16	from_sum;
	u16	cut_sum;
	u8	dscp;
};

/**
 * quell_trim_inside_sum() - add up the bytes between outer UDP header and payload
 * @data: the frame
 * @frame: its headers, of a tunnel over UDP
 * @trim: the packet inside
 *
 * Context: any.
 * Return: one's complement sum.
 */
static inline u16 quell_trim_inside_sum(const u8 *data, const struct quell_frame *frame,
					const struct quell_trim *trim)
{
	u32 from = quell_trim_tunnel_udp_at(frame) + QUELL_FRAME_UDP_BYTES;
	u32 to = frame->ip[1].at + trim->header_bytes;

	return quell_trim_fold(quell_trim_sum(data + from, to - from));
}

/* Length and checksum of the outer UDP header. */
static inline void quell_trim_edit_outer_udp(u8 *data, const struct quell_frame *frame,
					     const struct quell_trim *trim,
					     const struct quell_trim_outside *outside)
{
	u32 udp_at = quell_trim_tunnel_udp_at(frame);
	u16 from_bytes = frame->ip[0].end - udp_at, to_bytes = outside->end - udp_at;
	u16 check = quell_opt_get_u16(data + udp_at + QUELL_TRIM_UDP_CHECK_AT);
	u16 cut_sum = outside->cut_sum;
	u32 sum;

	quell_opt_put_u16(data + udp_at + QUELL_TRIM_UDP_LENGTH_AT, to_bytes);
	if (!check)
		return;
	if (to_bytes & 1)
		cut_sum = quell_trim_swap_bytes(cut_sum);
	/* The length is in the header and in the pseudo header. */
	sum = (u16)~check + 2 * quell_trim_change(from_bytes, to_bytes) + (u16)~cut_sum +
	      quell_trim_change(outside->from_sum, quell_trim_inside_sum(data, frame, trim));
	check = ~quell_trim_fold(sum);
	quell_opt_put_u16(data + udp_at + QUELL_TRIM_UDP_CHECK_AT, check ? check : 0xffff);
}

/**
 * quell_trim_edit_outside() - update the headers outside of a packet that was trimmed
 * @data: the frame, from its first header on, after quell_trim_edit()
 * @frame: its headers before, of a tunnel
 * @trim: the packet inside, before
 * @outside: how they follow
 *
 * Context: any; the caller owns the packet.
 */
static inline void quell_trim_edit_outside(u8 *data, const struct quell_frame *frame,
					   const struct quell_trim *trim,
					   const struct quell_trim_outside *outside)
{
	const struct quell_frame_ip *ip = &frame->ip[0];

	if (ip->version == 6)
		quell_trim_edit_ipv6(data + ip->at, outside->end - ip->at, outside->dscp);
	else
		quell_trim_edit_ipv4(data + ip->at, outside->end - ip->at, outside->dscp);
	if (quell_trim_tunnel_udp_at(frame))
		quell_trim_edit_outer_udp(data, frame, trim, outside);
}

/**
 * quell_trim_tunnel_returns() - can a NACK go back by a tunnel?
 * @frame: headers of the segment
 *
 * Context: any.
 * Return: true without a tunnel; false for IPv4 with options, for GRE with a sequence number
 * or checksum, and for Geneve with options, with a meaning unknown for the reverse path.
 */
static inline bool quell_trim_tunnel_returns(const struct quell_frame *frame)
{
	const struct quell_frame_ip *ip = &frame->ip[0];
	u32 flags;

	if (!frame->tunnel)
		return true;
	if (ip->version == 4 && ip->transport_at - ip->at != QUELL_FRAME_IPV4_BYTES)
		return false;
	flags = quell_frame_u16(frame, frame->tunnel_at);
	if (frame->tunnel == QUELL_FRAME_IN_GRE)
		return !(flags & (QUELL_FRAME_GRE_CHECKSUM | QUELL_FRAME_GRE_SEQUENCE));
	return frame->tunnel != QUELL_FRAME_IN_GENEVE ||
	       !(flags >> 8 & QUELL_FRAME_GENEVE_LENGTH);
}

/**
 * quell_trim_nack_source() - change an Ethernet address to the source of a NACK
 * @address: six bytes, of a host or device
 *
 * A bridge forwards to a host where it last saw its address as a source.  The segment may be a copy
 * that was flooded: as its NACK's source, the receiver's address would lead all later frames to
 * the port that dropped the copy.
 *
 * Context: any.
 */
static inline void quell_trim_nack_source(u8 *address)
{
	/* Locally administered, and different from @address if that is, too. */
	address[0] = (address[0] | 0x02) ^ 0x04;
}

/**
 * quell_trim_return() - reverse the outer headers of a NACK
 * @to: the segment's headers up to the inner IP header, and the NACK behind them
 * @frame: the segment's headers, of a tunnel for which quell_trim_tunnel_returns() is true
 * @end: length of all
 * @dscp: DSCP of the NACK, 0 to 63
 *
 * The outermost Ethernet header is left to the caller.
 *
 * Context: any.
 */
static inline void quell_trim_return(u8 *to, const struct quell_frame *frame, u32 end, u8 dscp)
{
	const struct quell_frame_ip *ip = &frame->ip[0];
	u32 udp_at = quell_trim_tunnel_udp_at(frame);
	u32 sum = quell_trim_return_ip(to + ip->at, end - ip->at, ip->version == 6, dscp);
	u32 udp_bytes = end - udp_at;
	u16 check;

	/* A frame is inside. */
	if (frame->link_at >= frame->tunnel_at && frame->link_at < frame->bytes) {
		quell_trim_swap(to + frame->link_at, 6);
		quell_trim_nack_source(to + frame->link_at + 6);
	}
	if (!udp_at)
		return;
	quell_opt_put_u16(to + udp_at + QUELL_TRIM_UDP_LENGTH_AT, udp_bytes);
	if (!quell_opt_get_u16(to + udp_at + QUELL_TRIM_UDP_CHECK_AT))
		return;
	quell_opt_put_u16(to + udp_at + QUELL_TRIM_UDP_CHECK_AT, 0);
	/* All headers and the NACK have even lengths. */
	check = ~quell_trim_fold(sum + QUELL_FRAME_UDP + udp_bytes +
				 quell_trim_sum(to + udp_at, udp_bytes));
	quell_opt_put_u16(to + udp_at + QUELL_TRIM_UDP_CHECK_AT, check ? check : 0xffff);
}

#endif /* _QUELL_TRIM_TUNNEL_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which frames congestion control or the network need in time, and so wait in the switch port's
 * control band: by their headers, which <quell/core/port/frame.h> has read.
 */
#ifndef _QUELL_CORE_PORT_FRAME_CONTROL_H
#define _QUELL_CORE_PORT_FRAME_CONTROL_H

#include <quell/core/port/frame.h>

/* Bytes that may follow an IP packet, to make an Ethernet frame of the least length. */
#define QUELL_FRAME_PADDING_MAX		46U

/* Neighbour discovery, and multicast listener discovery, by the type of ICMPv6. */
#define QUELL_FRAME_ND_FIRST		133
#define QUELL_FRAME_ND_LAST		137
#define QUELL_FRAME_MLD_FIRST		130
#define QUELL_FRAME_MLD_LAST		132
#define QUELL_FRAME_MLD2_REPORT		143
/* Where it is behind a hop-by-hop header of the least length. */
#define QUELL_FRAME_MLD_AT		8U

/* Frame or packet in a tunnel that may be control though it is no ACK: 64 bytes and some room. */
#define QUELL_FRAME_INSIDE_MAX		128U

/* Network control, CS6 and above, by the octet that DSCP shares with ECN. */
#define QUELL_FRAME_CS6			0xc0

/* A pure ACK: no payload, not even by its own length, beyond padding. */
static inline bool quell_frame_is_pure_ack(const struct quell_frame *frame)
{
	const struct quell_frame_ip *flow = quell_frame_flow(frame);
	u8 kind = frame->tcp_flags & (QUELL_FRAME_TCP_ACK | QUELL_FRAME_TCP_SYN |
				      QUELL_FRAME_TCP_FIN | QUELL_FRAME_TCP_RST);

	return kind == QUELL_FRAME_TCP_ACK && flow->end - flow->transport_at == frame->tcp_bytes &&
	       frame->len - flow->end <= QUELL_FRAME_PADDING_MAX;
}

static inline bool quell_frame_is_discovery(struct quell_frame *frame, u32 at)
{
	u8 type;

	if (!quell_frame_has(frame, at, 1))
		return false;
	type = frame->data[at];
	return type >= QUELL_FRAME_ND_FIRST && type <= QUELL_FRAME_ND_LAST;
}

/* Behind a hop-by-hop header of eight bytes, with the router alert (RFC 3810, section 5). */
static inline bool quell_frame_is_mld(struct quell_frame *frame, u32 at)
{
	u8 type;

	if (!quell_frame_has(frame, at, QUELL_FRAME_MLD_AT + 1) ||
	    frame->data[at] != QUELL_FRAME_ICMPV6 || frame->data[at + 1])
		return false;
	type = frame->data[at + QUELL_FRAME_MLD_AT];
	return (type >= QUELL_FRAME_MLD_FIRST && type <= QUELL_FRAME_MLD_LAST) ||
	       type == QUELL_FRAME_MLD2_REPORT;
}

/* Is the innermost frame to a group address that no bridge forwards (IEEE 802.1Q, table 8-1)? */
static inline bool quell_frame_is_link_local(const struct quell_frame *frame)
{
	const u8 *to;

	if (frame->link_at >= frame->bytes)
		return false;
	to = frame->data + frame->link_at;
	return to[0] == 0x01 && to[1] == 0x80 && to[2] == 0xc2 && !to[3] && !to[4] && to[5] < 0x10;
}

static inline bool quell_frame_is_ip_control(struct quell_frame *frame)
{
	const struct quell_frame_ip *flow = quell_frame_flow(frame);

	/* A fragment of it is no less. */
	if (flow->version == 4 && flow->protocol == QUELL_FRAME_IGMP)
		return true;
	if (flow->version != 6 || !flow->transport_at)
		return false;
	if (flow->protocol == QUELL_FRAME_HOP_BY_HOP)
		return quell_frame_is_mld(frame, flow->transport_at);
	return flow->protocol == QUELL_FRAME_ICMPV6 &&
	       quell_frame_is_discovery(frame, flow->transport_at);
}

/* Is the packet in a tunnel no longer than neighbour discovery and group management need? */
static inline bool quell_frame_is_small_inside(const struct quell_frame *frame)
{
	u32 at = frame->link_at < frame->bytes ? frame->link_at : quell_frame_flow(frame)->at;

	return frame->len - at <= QUELL_FRAME_INSIDE_MAX;
}

/*
 * True for TCP's pure ACKs, ARP, neighbour and listener discovery, IGMP, and DSCP CS6 and CS7.  Not
 * in a tunnel also for PTP, EAPOL, and frames for neighbours on the cable.  In a tunnel only for
 * small ones, as the sender there may be another network's.  DSCPs are those outside of a tunnel:
 * the inner ones may be another network's (the pipe model of RFC 2983).  All other checks are of
 * the inner packet.
 */
static inline bool quell_frame_is_control(struct quell_frame *frame)
{
	if (frame->ip[0].dsfield >= QUELL_FRAME_CS6)
		return true;
	if (frame->tcp_bytes)
		return quell_frame_is_pure_ack(frame);
	if (frame->tunnel && !quell_frame_is_small_inside(frame))
		return false;
	switch (frame->ethertype) {
	case QUELL_FRAME_IS_ARP:
		return true;
	case QUELL_FRAME_IS_PTP:
	case QUELL_FRAME_IS_EAPOL:
		return !frame->tunnel;
	case QUELL_FRAME_IS_IPV4:
	case QUELL_FRAME_IS_IPV6:
		return quell_frame_is_ip_control(frame);
	default:
		return !frame->tunnel && quell_frame_is_link_local(frame);
	}
}

#endif /* _QUELL_CORE_PORT_FRAME_CONTROL_H */

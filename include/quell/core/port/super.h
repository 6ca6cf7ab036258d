/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A super-packet: several segments of one flow that the stack and the device handle as
 * one packet, with one copy of their headers (GSO).
 *
 *	memory	headers | payload of all segments
 *	wire	headers | size    headers | size    ...    headers | rest
 *
 * Its length on the wire, and whether a shared buffer has room for all of it.
 */
#ifndef _QUELL_CORE_PORT_SUPER_H
#define _QUELL_CORE_PORT_SUPER_H

#include <quell/core/lib/math.h>
#include <quell/core/port/sharedbuf.h>

/* With more segments, of a few bytes each, a super-packet costs more than it saves. */
#define QUELL_SUPER_SEGMENTS_MAX	1024U

/* Lengths of a super-packet on the wire. */
struct quell_super {
	u32	segments;	/* 2 to QUELL_SUPER_SEGMENTS_MAX */
	u32	bytes;	/* of all, each with its headers */
	u32	last_bytes;	/* of the last one, with its headers */
};

/*
 * False for a packet that is not one: it has fewer than two segments, or more than
 * QUELL_SUPER_SEGMENTS_MAX, or its lengths do not fit together.
 */
static inline bool quell_super_measure(struct quell_super *super, u32 bytes, u32 header_bytes,
				       u32 segment_bytes)
{
	u32 payload_bytes, others;

	if (!header_bytes || header_bytes >= bytes || !segment_bytes)
		return false;
	payload_bytes = bytes - header_bytes;
	if (segment_bytes >= payload_bytes)
		return false;
	others = (payload_bytes - 1) / segment_bytes;
	if (others >= QUELL_SUPER_SEGMENTS_MAX ||
	    (u64)others * header_bytes + bytes > 0xffffffffULL)
		return false;
	super->segments = others + 1;
	super->bytes = bytes + others * header_bytes;
	super->last_bytes = header_bytes + payload_bytes - others * segment_bytes;
	return true;
}

/*
 * Whether quell_sharedbuf_admits() each segment, one after the other.  Each segment that enters
 * takes room from the next, hence the last one decides.
 */
static inline bool quell_super_sharedbuf_admits(const struct quell_super *super, u32 size_bytes,
						u32 used_bytes, u32 alpha_q16, u32 port_bytes)
{
	u32 before_bytes = super->bytes - super->last_bytes;

	if ((u64)used_bytes + super->bytes > size_bytes ||
	    (u64)port_bytes + super->bytes > size_bytes)
		return false;
	return quell_sharedbuf_admits(size_bytes, used_bytes + before_bytes, alpha_q16,
				      port_bytes + before_bytes, super->last_bytes);
}

#endif /* _QUELL_CORE_PORT_SUPER_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A second reading of the headers that <quell/core/port/frame.h> reads, for the tests to
 * compare with: the whole frame is at hand, a reader walks it header by header and gives up
 * where one is not whole, and the headers found so far count.
 */
#ifndef _QUELL_FRAME_MODEL_H
#define _QUELL_FRAME_MODEL_H

#include <string.h>

#include <quell/core/port/frame_control.h>
#include <quell/core/port/fastpath.h>

/**
 * struct frame_model - headers that the reader found
 * @version: of the IP header of each level; 0: no header
 * @at: its offset
 * @transport_at: of the header behind it; 0: no readable one
 * @protocol: of that
 * @end: of the packet
 * @levels: of IP headers looked for, 1 or 2
 * @ethertype: innermost
 * @link_at: innermost Ethernet header; -1: no header
 * @id: of the tunnel
 * @tcp_bytes: innermost TCP header
 */
struct frame_model {
	int version[2], protocol[2];
	long at[2], transport_at[2], end[2];
	int levels;
	unsigned int ethertype;
	long link_at;
	u32 id;
	int tcp_bytes;
};

static inline unsigned int model_u16(const u8 *from)
{
	return from[0] << 8 | from[1];
}

/* Bytes beyond this are not read. */
static inline bool model_can(long at, long bytes, long len)
{
	return at + bytes <= len && at + bytes <= (long)QUELL_FRAME_BYTES_MAX;
}

static inline long model_tags(struct frame_model *m, const u8 *f, long len, long at)
{
	int tags = 0;

	while (at && tags++ < 2 && (m->ethertype == 0x8100 || m->ethertype == 0x88a8)) {
		if (!model_can(at, 4, len))
			return 0;
		m->ethertype = model_u16(f + at + 2);
		at += 4;
	}
	return at;
}

static inline long model_ethernet(struct frame_model *m, const u8 *f, long len, long at)
{
	if (!model_can(at, 14, len))
		return 0;
	m->link_at = at;
	m->ethertype = model_u16(f + at + 12);
	return model_tags(m, f, len, at + 14);
}

static inline void model_ip(struct frame_model *m, const u8 *f, long len, long at, int level)
{
	long end = level ? m->end[0] : len, header = 0, bytes = 0;

	if (!at)
		return;
	if (m->ethertype == 0x0800 && model_can(at, 20, len) && f[at] >> 4 == 4) {
		m->version[level] = 4;
		m->protocol[level] = f[at + 9];
		header = (f[at] & 15) * 4;
		bytes = model_u16(f + at + 2);
		if (header < 20 || bytes < header || model_u16(f + at + 6) & 0x3fff)
			header = 0;
	} else if (m->ethertype == 0x86dd && model_can(at, 40, len) && f[at] >> 4 == 6) {
		m->version[level] = 6;
		m->protocol[level] = f[at + 6];
		header = 40;
		bytes = 40 + model_u16(f + at + 4);
	}
	m->at[level] = at;
	m->end[level] = at + bytes;
	if (!header || m->end[level] > end)
		return;
	m->transport_at[level] = at + header;
	at += header;
	if (m->version[level] == 6 && m->protocol[level] == 60 && model_can(at, 8, len) &&
	    at + 8 <= m->end[level] && !f[at + 1] && f[at + 2] == 4 &&
	    (f[at] == 4 || f[at] == 41 || f[at] == 47)) {
		m->protocol[level] = f[at];
		m->transport_at[level] += 8;
	}
}

static inline void model_inside(struct frame_model *m, const u8 *f, long len, long at,
				unsigned int ethertype)
{
	if (at > m->end[0])
		return;
	m->levels = 2;
	m->ethertype = ethertype;
	if (ethertype == 0x6558)
		at = model_ethernet(m, f, len, at);
	model_ip(m, f, len, at, 1);
}

static inline bool model_carries(unsigned int ethertype)
{
	return ethertype == 0x0800 || ethertype == 0x86dd || ethertype == 0x6558;
}

static inline void model_gre(struct frame_model *m, const u8 *f, long len, long at)
{
	unsigned int flags, ethertype;
	long next = at + 4;

	if (!model_can(at, 4, len))
		return;
	flags = model_u16(f + at);
	ethertype = model_u16(f + at + 2);
	/* Routing, strict source route and recursion (bits 1, 4, 5), version. */
	if (flags & 0x4000 || flags & 0x0c00 || flags & 7 || !model_carries(ethertype))
		return;
	next += flags & 0x8000 ? 4 : 0;
	if (flags & 0x2000) {
		if (!model_can(next, 4, len))
			return;
		m->id = (u32)model_u16(f + next) << 16 | model_u16(f + next + 2);
		next += 4;
	}
	next += flags & 0x1000 ? 4 : 0;
	model_inside(m, f, len, next, ethertype);
}

static inline void model_udp(struct frame_model *m, const u8 *f, long len, long at)
{
	unsigned int port;

	if (!model_can(at, 16, len) || model_u16(f + at + 4) != m->end[0] - at)
		return;
	port = model_u16(f + at + 2);
	if (port == 4789 && (f[at + 8] & 0x7f) == 8 && !f[at + 9]) {
		m->id = f[at + 12] << 16 | model_u16(f + at + 13);
		model_inside(m, f, len, at + 16, 0x6558);
	} else if (port == 6081 && f[at + 8] < 64 && !(f[at + 9] & 0x80) &&
		   model_carries(model_u16(f + at + 10))) {
		m->id = f[at + 12] << 16 | model_u16(f + at + 13);
		model_inside(m, f, len, at + 16 + f[at + 8] * 4, model_u16(f + at + 10));
	}
}

/* Read an Ethernet frame. */
static inline struct frame_model model_frame(const u8 *f, long len)
{
	struct frame_model m = { .levels = 1, .link_at = -1 };
	int last;
	long at;

	model_ip(&m, f, len, model_ethernet(&m, f, len, 0), 0);
	at = m.transport_at[0];
	if (at && m.protocol[0] == 4)
		model_inside(&m, f, len, at, 0x0800);
	else if (at && m.protocol[0] == 41)
		model_inside(&m, f, len, at, 0x86dd);
	else if (at && m.protocol[0] == 47)
		model_gre(&m, f, len, at);
	else if (at && m.protocol[0] == 17)
		model_udp(&m, f, len, at);
	last = m.levels - 1;
	at = m.transport_at[last];
	if (at && m.protocol[last] == 6 && model_can(at, 20, len)) {
		long bytes = (f[at + 12] >> 4) * 4;

		if (bytes >= 20 && at + bytes <= m.end[last] && model_can(at, bytes, len))
			m.tcp_bytes = bytes;
	}
	return m;
}

/* NULL if both agree, or the first difference. */
static inline const char *model_complaint(const struct frame_model *m,
					  const struct quell_frame *frame)
{
	int i;

	if (frame->inner != m->levels - 1)
		return "levels";
	if (frame->tcp_bytes != m->tcp_bytes)
		return "TCP header";
	if (m->levels == 2 && frame->tunnel_id != m->id)
		return "tunnel's number";
	if (m->link_at >= 0 && frame->link_at != m->link_at)
		return "Ethernet header";
	for (i = 0; i < m->levels; i++) {
		const struct quell_frame_ip *ip = &frame->ip[i];

		if (ip->version != m->version[i] || ip->transport_at != m->transport_at[i])
			return i ? "inner header" : "outer header";
		if (ip->version && (ip->at != m->at[i] || ip->protocol != m->protocol[i]))
			return i ? "inner protocol" : "outer protocol";
		if (ip->transport_at && ip->end != m->end[i])
			return i ? "inner length" : "outer length";
	}
	return NULL;
}

/* NULL if quell_fastpath_parse() agrees with quell_frame_parse() on a frame. */
static inline const char *plain_complaint(struct quell_frame *frame, bool *is_plain)
{
	const struct quell_frame_ip *ip = &frame->ip[0];
	struct quell_fastpath plain;

	*is_plain = quell_fastpath_parse(&plain, frame->data, frame->bytes, frame->len);
	if (!*is_plain)
		return NULL;
	if (frame->is_short || frame->inner || frame->tagged || ip->at != QUELL_FASTPATH_IP_AT)
		return "plain, but for tags, tunnels or its length";
	if (plain.tcp_at != ip->transport_at || plain.tcp_bytes != frame->tcp_bytes ||
	    plain.tcp_flags != frame->tcp_flags)
		return "plain TCP header";
	if (plain.dsfield != ip->dsfield || plain.ttl != ip->ttl)
		return "plain IP header";
	if (quell_frame_is_control(frame) && plain.dsfield < QUELL_FRAME_CS6)
		return "plain control";
	return NULL;
}

#endif /* _QUELL_FRAME_MODEL_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Telemetry: the record of the most loaded hop, in data packets that have room.
 *
 * A sender that wants path telemetry leaves an empty record in the Quell TCP option
 * (Documentation/wire-format.md).  A port replaces a record of a less loaded link by its own.
 *
 * Only packets with PSH have one: the last of a burst, so that GRO merges the others.  A
 * super-packet is segmented if its last segment gets a record.
 *
 *	hop		routers from the sender, by the time to live, before and inside a tunnel
 *	load		quell/core/port/portload.h, at dequeue
 *	link rate	`rate`, or the device's speed
 *	queue		the data band without this packet
 *	bytes sent	by this port before this packet, with overhead, at the time below
 *	time		of dequeue, CLOCK_MONOTONIC
 *
 * Not stamped: locally sent packets, SYNs, IP fragments, IPv6 with extension headers.
 */
#ifndef _QUELL_SWPORT_TELEMETRY_H
#define _QUELL_SWPORT_TELEMETRY_H

#include "swport_stamp.h"

static inline u32 swport_load_code(const struct swport_link *link, u32 queue_bytes)
{
	return quell_load_encode(quell_portload_q16(&link->load, &link->load_params, queue_bytes));
}

/* Offset from @tcp of the record that this port may replace; 0 if absent. */
static inline u32 swport_find_record(struct swport_sched *port, const struct sk_buff *skb,
				     const u8 **tcp)
{
	const struct swport_cb *cb = swport_cb(skb);

	if (cb->option_bytes < QUELL_STAMP_RECORD_BYTES_MIN || !port->link.bytes_ps)
		return 0;
	return swport_has_tcp(port, skb, tcp) ? quell_stamp_record_at(*tcp, cb->option_bytes) : 0;
}

/* Must the super-packet be segmented for a record?  The load is advanced to now. */
static bool swport_stamp_is_due(struct swport_sched *port, const struct sk_buff *skb)
{
	u32 queue_bytes = swport_queue_bytes(port) - qdisc_pkt_len(skb), at;
	const u8 *tcp;

	if (!swport_hops(swport_cb(skb)))
		return false;
	at = swport_find_record(port, skb, &tcp);
	return at && quell_telemetry_replaces(swport_load_code(&port->link, queue_bytes), tcp + at);
}

/*
 * Stamp a data packet; time, queue and bytes sent of @record are set.  Without memory to make it
 * writable, or if it is a super-packet that could not be segmented, it is sent unchanged.
 */
static inline void swport_stamp(struct swport_sched *port, struct sk_buff *skb,
				struct quell_telemetry *record)
{
	struct swport_link *link = &port->link;
	u32 load_code, at, first;
	u64 last, diff;
	const u8 *tcp;
	u8 *to;

	record->hop = swport_hops(swport_cb(skb));
	if (!record->hop)
		return;
	at = swport_find_record(port, skb, &tcp);
	if (!at)
		return;
	load_code = swport_load_code(link, record->queue_bytes);
	if (!quell_telemetry_replaces(load_code, tcp + at)) {
		link->stamp_kept_pkts++;
		return;
	}
	if (swport_cb(skb)->segments > 1 ||
	    !swport_make_writable(skb, tcp, at + QUELL_TELEMETRY_BYTES, &to)) {
		link->stamp_fail_pkts++;
		return;
	}
	first = quell_telemetry_pack(record, link->rate_code, load_code, &last);
	diff = quell_stamp_put_u32(to + at, first);
	diff = quell_stamp_put_u64(to + at + sizeof(first), last, diff);
	if (swport_has_checksum(skb))
		quell_stamp_update(to, at, diff);
	link->stamp_pkts++;
}

#endif /* _QUELL_SWPORT_TELEMETRY_H */

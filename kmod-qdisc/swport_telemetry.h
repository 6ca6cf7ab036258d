/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Telemetry: the record of the most loaded hop, in data packets that have room.
 *
 * A sender that wants path telemetry leaves an empty record in the Quell
 * TCP option (Documentation/wire-format.md).  Each port writes its own record there if
 * its link is more loaded than that of the record it finds: compare and replace.
 *
 * Only packets with PSH get one, those that ask for an ACK: of a burst the last.  The
 * others of the burst stay equal, and a receiver's GRO merges them.  A super-packet that
 * would get one is cut, for its last segment only.
 *
 *	hop		routers from the sender, by the time to live: the first is 1; of a tunnel
 *			those before it and those under way in it
 *	load		quell/core/port/portload.h, as this packet leaves
 *	link rate	`rate`, or the device's speed
 *	queue		the data band without this packet
 *	bytes sent	by this port before this packet, with their overhead
 *	time		this packet leaves the port, CLOCK_MONOTONIC
 *
 * Bytes and time are of the same moment: the bytes between two records are exactly
 * those the wire carried between their times.
 *
 * Only the record and the checksum change, not the length or any other field.
 * Left alone: packets without PSH or the record, packets this host sends itself, SYNs,
 * IP fragments, IPv6 packets with extension headers before TCP, and malformed
 * packets.
 */
#ifndef _QUELL_SWPORT_TELEMETRY_H
#define _QUELL_SWPORT_TELEMETRY_H

#include "swport_stamp.h"

/* Code of the load with such a queue. */
static inline u32 swport_load_code(const struct swport_link *link, u32 queue_bytes)
{
	return quell_load_encode(quell_portload_q16(&link->load, &link->load_params, queue_bytes));
}

/* Offset of the record that this port's may replace, from @tcp; 0: none. */
static inline u32 swport_find_record(struct swport_sched *port, const struct sk_buff *skb,
				     const u8 **tcp)
{
	const struct swport_cb *cb = swport_cb(skb);

	if (cb->option_bytes < QUELL_STAMP_RECORD_BYTES_MIN || !port->link.bytes_ps)
		return 0;
	*tcp = swport_tcp(port, skb);
	return *tcp ? quell_stamp_record_at(*tcp, cb->option_bytes) : 0;
}

/*
 * Must the first packet of the data band, a super-packet, be cut, as its last segment would get
 * this port's record?  The load is advanced to now.
 */
static bool swport_stamp_is_due(struct swport_sched *port, const struct sk_buff *skb)
{
	u32 queue_bytes = swport_queue_bytes(port) - qdisc_pkt_len(skb), at;
	const u8 *tcp;

	at = swport_find_record(port, skb, &tcp);
	return at && swport_hops(swport_cb(skb)) &&
	       quell_telemetry_replaces(swport_load_code(&port->link, queue_bytes), tcp + at);
}

/* Write a record over that at @at of a TCP header. */
static inline void swport_write_record(const struct sk_buff *skb, u8 *tcp, u32 at, u64 first,
				       u32 last)
{
	u64 diff = quell_stamp_put_u64(tcp + at, first);

	diff = quell_stamp_add(diff, quell_stamp_put_u32(tcp + at + sizeof(first), last));
	if (swport_has_checksum(skb))
		quell_stamp_update(tcp, at, diff);
}

/*
 * Write the port's record into a packet of the data band that leaves; a super-packet only where it
 * could not be cut, or need not be.  Of the record time, queue and bytes sent are the caller's.
 *
 * If there is no memory to make the packet writable it goes on unchanged.
 */
static inline void swport_stamp(struct swport_sched *port, struct sk_buff *skb,
				struct quell_telemetry *record)
{
	struct swport_link *link = &port->link;
	u32 load_code, at, last;
	const u8 *tcp;
	u64 first;
	u8 *to;

	at = swport_find_record(port, skb, &tcp);
	record->hop = swport_hops(swport_cb(skb));
	if (!at || !record->hop)
		return;
	load_code = swport_load_code(link, record->queue_bytes);
	if (!quell_telemetry_replaces(load_code, tcp + at)) {
		link->keep_pkts++;
		return;
	}
	to = swport_cb(skb)->segments > 1 ? NULL :
	     swport_writable(skb, tcp, at + QUELL_TELEMETRY_BYTES);
	if (!to) {
		link->stamp_fail_pkts++;
		return;
	}
	first = quell_telemetry_pack(record, link->rate_code, load_code, &last);
	swport_write_record(skb, to, at, first, last);
	link->stamp_pkts++;
}

#endif /* _QUELL_SWPORT_TELEMETRY_H */

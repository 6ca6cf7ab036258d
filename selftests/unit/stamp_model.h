/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes of a port into a TCP segment, field by field, for the tests to compare with
 * <quell/core/port/stamp.h> and its users: options are walked one by one, a record and a
 * TCP-INT option are read and written field by field, and the checksum is updated for each word
 * that changes (RFC 1624), or computed anew.
 */
#ifndef _QUELL_STAMP_MODEL_H
#define _QUELL_STAMP_MODEL_H

#include <string.h>

#include <quell/core/port/stamp.h>
#include <quell/tcp_int.h>

#define STAMP_TCP_BYTES_MAX	60

/* State of a port when a segment is dequeued. */
struct stamp_port {
	struct quell_telemetry record;	/* of telemetry, without the load */
	u64 load_q16;	/* the load */
	struct quell_tcp_int_hop hop;	/* of TCP-INT */
};

/* Offset of an option of that kind in a TCP header; 0: not before the end, or malformed. */
static inline long model_option(const u8 *tcp, long tcp_bytes, int kind, int least, int most,
				int exid)
{
	long at = 20, length;

	for (; at < tcp_bytes && tcp[at]; at += length) {
		length = 1;
		if (tcp[at] == 1)
			continue;
		if (at + 1 >= tcp_bytes)
			return 0;
		length = tcp[at + 1];
		if (length < 2 || at + length > tcp_bytes)
			return 0;
		if (tcp[at] == kind && length >= least && length <= most &&
		    (exid < 0 || (tcp[at + 2] << 8 | tcp[at + 3]) == exid))
			return at;
	}
	return 0;
}

/* Offset of the record of a segment with PSH; 0: no record. */
static inline long model_record_at(const u8 *tcp, long tcp_bytes)
{
	long at = model_option(tcp, tcp_bytes, 254, 4, 255, 0x5155), record_at = at + 6, end;

	if (!(tcp[13] & 8) || !at || tcp[at + 1] <= 8 || !(tcp[at + 4] & 4))
		return 0;
	if (tcp[at + 4] & 1)
		record_at += 6;
	if (tcp[at + 4] & 2)
		record_at += 10;
	end = record_at + 12;
	if (tcp[at + 4] & 8)
		end += 12;
	return end <= at + tcp[at + 1] ? record_at : 0;
}

/* Update the checksum of a header for all words that differ from @was. */
static inline void model_update(u8 *tcp, const u8 *was, long tcp_bytes)
{
	u32 sum = (u16)~(tcp[16] << 8 | tcp[17]);
	long at;

	for (at = 0; at + 1 < tcp_bytes; at += 2) {
		sum += (u16)~(was[at] << 8 | was[at + 1]);
		sum += tcp[at] << 8 | tcp[at + 1];
	}
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	tcp[16] = (u8)(~sum >> 8);
	tcp[17] = (u8)~sum;
}

static inline bool model_stamp(u8 *tcp, long tcp_bytes, const struct stamp_port *port)
{
	long at = model_record_at(tcp, tcp_bytes);
	u8 was[STAMP_TCP_BYTES_MAX];

	if (!at || (tcp[at] && quell_load_encode(port->load_q16) <= tcp[at + 1]))
		return false;
	memcpy(was, tcp, tcp_bytes);
	quell_telemetry_encode(&port->record, port->load_q16, tcp + at);
	model_update(tcp, was, tcp_bytes);
	return true;
}

static inline bool model_tcp_int(u8 *tcp, long tcp_bytes, const struct stamp_port *port)
{
	long at = model_option(tcp, tcp_bytes, 0x72, 12, 12, -1);
	u8 was[STAMP_TCP_BYTES_MAX];
	struct quell_tcp_int opt;
	u64 latency;

	if (!at)
		return false;
	memcpy(was, tcp, tcp_bytes);
	quell_tcp_int_decode(tcp + at, &opt);
	latency = opt.latency + (port->hop.latency_ns >> 8);
	opt.latency = latency > 0xffffff ? 0xffffff : latency;
	if (port->hop.value > opt.value) {
		opt.value = port->hop.value;
		opt.speed = port->hop.speed;
		opt.hop_ttl = port->hop.ttl;
	}
	quell_tcp_int_encode(&opt, tcp + at);
	model_update(tcp, was, tcp_bytes);
	return true;
}

/* The model of swport_stamp(); @tcp_bytes is a whole header. */
static inline bool straight_stamp(u8 *tcp, u32 tcp_bytes, const struct stamp_port *port)
{
	u32 bytes = tcp_bytes - QUELL_FRAME_TCP_BYTES, at, first;
	u32 rate_code = quell_telemetry_rate_code(port->record.link_bytes_ps);
	u32 load_code = quell_load_encode(port->load_q16);
	u64 last, diff;

	at = bytes < QUELL_STAMP_RECORD_BYTES_MIN ? 0 : quell_stamp_record_at(tcp, bytes);
	if (!at || !quell_telemetry_replaces(load_code, tcp + at))
		return false;
	first = quell_telemetry_pack(&port->record, rate_code, load_code, &last);
	diff = quell_stamp_put_u32(tcp + at, first);
	diff = quell_stamp_put_u64(tcp + at + sizeof(first), last, diff);
	quell_stamp_update(tcp, at, diff);
	return true;
}

/* The model of swport_tcp_int_stamp(). */
static inline bool straight_tcp_int(u8 *tcp, u32 tcp_bytes, const struct stamp_port *port)
{
	u32 bytes = tcp_bytes - QUELL_FRAME_TCP_BYTES, at;
	u64 first;

	at = quell_tcp_int_find(tcp + QUELL_FRAME_TCP_BYTES, bytes);
	if (at >= bytes || !quell_tcp_int_may_have(tcp + QUELL_FRAME_TCP_BYTES, bytes))
		return false;
	at += QUELL_FRAME_TCP_BYTES;
	first = quell_stamp_get_u64(tcp + at);
	quell_tcp_int_stamp(&first, &port->hop);
	quell_stamp_update(tcp, at, quell_stamp_put_u64(tcp + at, first, 0));
	return true;
}

/* NULL if both write the same into a TCP header, or which of the two they do not. */
static inline const char *stamp_complaint(const u8 *tcp, u32 tcp_bytes,
					  const struct stamp_port *port, u32 *written)
{
	u8 straight[STAMP_TCP_BYTES_MAX], model[STAMP_TCP_BYTES_MAX];
	bool record, tcp_int;

	memcpy(straight, tcp, tcp_bytes);
	memcpy(model, tcp, tcp_bytes);
	record = model_stamp(model, tcp_bytes, port);
	if (straight_stamp(straight, tcp_bytes, port) != record ||
	    memcmp(straight, model, tcp_bytes))
		return "record";
	tcp_int = model_tcp_int(model, tcp_bytes, port);
	if (straight_tcp_int(straight, tcp_bytes, port) != tcp_int ||
	    memcmp(straight, model, tcp_bytes))
		return "TCP-INT option";
	*written = record + tcp_int;
	return NULL;
}

#endif /* _QUELL_STAMP_MODEL_H */

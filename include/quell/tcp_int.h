/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The public TCP-INT option: encoding and decoding, and its processing in a switch
 * and a receiver.
 *
 * The format is that of the agents at p4lang/p4app-TCP-INT, version 0.4.0, on a
 * little-endian host; Documentation/tcp-int.md defines each byte, lists where
 * their description and their code differ, and the inferences.  Like a core,
 * this does not depend on sockets, packets or clocks.
 *
 *	0x72 | 12 | tag frequency, link speed (4 + 4 bits) | value |
 *	hop (its TTL) | latency (3) |
 *	value echoed | hop, link speed echoed (4 + 4 bits) | latency echoed (2, LE)
 *
 * Value is one byte for how congested a link is: below 128 it encodes the available
 * rate, from 128 on the queue.
 */
#ifndef _QUELL_TCP_INT_H
#define _QUELL_TCP_INT_H

#include <quell/core/core.h>
#include <quell/core/lib/types.h>
#include <quell/hops.h>
#include <quell/option.h>

#define QUELL_TCP_INT_KIND		0x72
#define QUELL_TCP_INT_BYTES		12U

/* Offsets in the option. */
#define QUELL_TCP_INT_SPEED_AT		2
#define QUELL_TCP_INT_VALUE_AT		3
#define QUELL_TCP_INT_HOP_AT		4
#define QUELL_TCP_INT_LATENCY_AT	5
#define QUELL_TCP_INT_ECHO_VALUE_AT	8
#define QUELL_TCP_INT_ECHO_HOP_AT	9
#define QUELL_TCP_INT_ECHO_LATENCY_AT	10

/* Bits of speed, value and hop in the first eight bytes as a number; latency is below. */
#define QUELL_TCP_INT_SPEED_SHIFT	40
#define QUELL_TCP_INT_VALUE_SHIFT	32
#define QUELL_TCP_INT_HOP_SHIFT		24
#define QUELL_TCP_INT_HOP_MASK		0xfffff000000ULL

/* Requested tagging frequency: as configured in the switch. */
#define QUELL_TCP_INT_FREQ_SWITCH	15

/* Value: 127 minus the available rate in whole Gbit/s, or 128 plus the queue in 8 KiB. */
#define QUELL_TCP_INT_QUEUE		0x80U
#define QUELL_TCP_INT_VALUE_MAX		0x7fU
#define QUELL_TCP_INT_QUEUE_SHIFT	13
#define QUELL_TCP_INT_RATE_UNIT_BYTES_PS 125000000ULL

/* Latency unit: 256 ns; in an echo with the mark, 65536 ns. */
#define QUELL_TCP_INT_LATENCY_SHIFT	8
#define QUELL_TCP_INT_LATENCY_MAX	0xffffffU
#define QUELL_TCP_INT_ECHO_MARK		0x8000U
#define QUELL_TCP_INT_ECHO_FINE_MAX	0x7fffU
#define QUELL_TCP_INT_ECHO_LATENCY_MAX	0x7fffffU

/* Codes of speeds, 4 bits. */
#define QUELL_TCP_INT_SPEEDS		16U

/* Maximum hop number that fits into 4 bits. */
#define QUELL_TCP_INT_ECHO_HOP_MAX	15U

/**
 * struct quell_tcp_int - contents of one option
 * @tag_freq:		tagging frequency the sender requests, 0 .. 15
 * @speed:		code of the described link's speed, 0 .. 15; 0 unknown
 * @value:		the largest on the path so far
 * @hop_ttl:		time to live at the described hop; 0: no switch has written
 * @latency:		sum of all hops so far, 256 ns each, 24 bits
 * @echo_value:		echoed @value of the other direction
 * @echo_hop:		echoed hop number, from 1; 15 also stands for later hops; 0: no echo
 * @echo_speed:		echoed @speed of the other direction
 * @echo_latency:	echoed latency, encoded by quell_tcp_int_echo_latency()
 */
struct quell_tcp_int {
	u8	tag_freq;
	u8	speed;
	u8	value;
	u8	hop_ttl;
	u32	latency;
	u8	echo_value;
	u8	echo_hop;
	u8	echo_speed;
	u16	echo_latency;
};

/**
 * struct quell_tcp_int_hop - values a switch port writes about itself
 * @value:	quell_tcp_int_value()
 * @speed:	quell_tcp_int_speed()
 * @ttl:	time to live of the packet as it leaves
 * @latency_ns:	time the packet spent in the port
 */
struct quell_tcp_int_hop {
	u8	value;
	u8	speed;
	u8	ttl;
	u64	latency_ns;
};

/**
 * quell_tcp_int_value() - encode how congested a link is
 * @available_bytes_ps:	available rate
 * @queue_bytes:	queue
 *
 * The queue is encoded if it is at least 8 KiB, or if no rate is available.
 *
 * Context: any.
 * Return: the code; it never falls as the rate falls or the queue grows.
 */
static inline u8 quell_tcp_int_value(u64 available_bytes_ps, u64 queue_bytes)
{
	u64 rate = quell_div_u64(available_bytes_ps, QUELL_TCP_INT_RATE_UNIT_BYTES_PS);
	u64 queue = queue_bytes >> QUELL_TCP_INT_QUEUE_SHIFT;

	if (queue || !available_bytes_ps)
		return QUELL_TCP_INT_QUEUE |
		       quell_min_u64(queue, QUELL_TCP_INT_VALUE_MAX);
	return QUELL_TCP_INT_VALUE_MAX - quell_min_u64(rate, QUELL_TCP_INT_VALUE_MAX);
}

/* Decode the available rate, bytes/s, to 1 Gbit/s; 127 Gbit/s also stands for more. */
static inline u64 quell_tcp_int_available_bytes_ps(u8 value)
{
	if (value & QUELL_TCP_INT_QUEUE)
		return 0;
	return (QUELL_TCP_INT_VALUE_MAX - value) * QUELL_TCP_INT_RATE_UNIT_BYTES_PS;
}

/* Decode the queue, bytes, to 8 KiB; 1016 KiB also stands for more. */
static inline u32 quell_tcp_int_queue_bytes(u8 value)
{
	if (!(value & QUELL_TCP_INT_QUEUE))
		return 0;
	return (value & QUELL_TCP_INT_VALUE_MAX) << QUELL_TCP_INT_QUEUE_SHIFT;
}

/**
 * quell_tcp_int_speed_bytes_ps() - decode a link speed
 * @code: 0 .. 15
 *
 * Context: any.
 * Return: bytes/s; 0 for an undefined code.
 */
static inline u64 quell_tcp_int_speed_bytes_ps(u8 code)
{
	static const u16 gbit_ps[QUELL_TCP_INT_SPEEDS] = { 0, 10, 25, 40, 50, 100, 200, 400 };

	return gbit_ps[code & (QUELL_TCP_INT_SPEEDS - 1)] * QUELL_TCP_INT_RATE_UNIT_BYTES_PS;
}

/**
 * quell_tcp_int_speed() - encode a link speed
 * @link_bytes_ps: bytes/s
 *
 * Context: any.
 * Return: the code; 0 for a speed without one.
 */
static inline u8 quell_tcp_int_speed(u64 link_bytes_ps)
{
	u8 code;

	for (code = 1; code < QUELL_TCP_INT_SPEEDS; code++)
		if (link_bytes_ps && quell_tcp_int_speed_bytes_ps(code) == link_bytes_ps)
			return code;
	return 0;
}

/**
 * quell_tcp_int_echo_latency() - encode a latency for the echo
 * @latency: 256 ns each
 *
 * Context: any.
 * Return: up to 8.4 ms @latency itself; beyond, with a mark, 65536 ns each; 2.1 s also
 * stands for more.
 */
static inline u16 quell_tcp_int_echo_latency(u32 latency)
{
	if (latency <= QUELL_TCP_INT_ECHO_FINE_MAX)
		return latency;
	latency = quell_min_u64(latency, QUELL_TCP_INT_ECHO_LATENCY_MAX);
	return QUELL_TCP_INT_ECHO_MARK | latency >> QUELL_TCP_INT_LATENCY_SHIFT;
}

/* Decode an echoed latency, ns, rounded down. */
static inline u64 quell_tcp_int_echo_latency_ns(u16 echoed)
{
	u64 latency_ns = (u64)(echoed & QUELL_TCP_INT_ECHO_FINE_MAX) <<
			 QUELL_TCP_INT_LATENCY_SHIFT;

	if (echoed & QUELL_TCP_INT_ECHO_MARK)
		latency_ns <<= QUELL_TCP_INT_LATENCY_SHIFT;
	return latency_ns;
}

/**
 * quell_tcp_int_encode() - write an option
 * @opt: values, within their bits
 * @to:  QUELL_TCP_INT_BYTES bytes
 *
 * Context: any.
 */
static inline void quell_tcp_int_encode(const struct quell_tcp_int *opt, u8 *to)
{
	to[0] = QUELL_TCP_INT_KIND;
	to[1] = QUELL_TCP_INT_BYTES;
	to[QUELL_TCP_INT_SPEED_AT] = opt->tag_freq << 4 | opt->speed;
	to[QUELL_TCP_INT_VALUE_AT] = opt->value;
	to[QUELL_TCP_INT_HOP_AT] = opt->hop_ttl;
	quell_telemetry_put_u24(to + QUELL_TCP_INT_LATENCY_AT, opt->latency);
	to[QUELL_TCP_INT_ECHO_VALUE_AT] = opt->echo_value;
	to[QUELL_TCP_INT_ECHO_HOP_AT] = opt->echo_hop << 4 | opt->echo_speed;
	to[QUELL_TCP_INT_ECHO_LATENCY_AT] = opt->echo_latency & 0xff;
	to[QUELL_TCP_INT_ECHO_LATENCY_AT + 1] = opt->echo_latency >> 8;
}

/**
 * quell_tcp_int_decode() - read an option
 * @from: QUELL_TCP_INT_BYTES bytes, as quell_tcp_int_find() found them
 * @opt:  set in full
 *
 * Context: any.
 */
static inline void quell_tcp_int_decode(const u8 *from, struct quell_tcp_int *opt)
{
	const u8 *echo_latency = from + QUELL_TCP_INT_ECHO_LATENCY_AT;

	*opt = (struct quell_tcp_int) {
		.tag_freq = from[QUELL_TCP_INT_SPEED_AT] >> 4,
		.speed = from[QUELL_TCP_INT_SPEED_AT] & 0xf,
		.value = from[QUELL_TCP_INT_VALUE_AT],
		.hop_ttl = from[QUELL_TCP_INT_HOP_AT],
		.latency = quell_telemetry_get_u24(from + QUELL_TCP_INT_LATENCY_AT),
		.echo_value = from[QUELL_TCP_INT_ECHO_VALUE_AT],
		.echo_hop = from[QUELL_TCP_INT_ECHO_HOP_AT] >> 4,
		.echo_speed = from[QUELL_TCP_INT_ECHO_HOP_AT] & 0xf,
		.echo_latency = echo_latency[0] | (u32)echo_latency[1] << 8,
	};
}

/**
 * quell_tcp_int_find() - find the TCP-INT option among a segment's options
 * @options: first byte behind the fixed TCP header
 * @bytes:   bytes of options, at most 40
 *
 * Context: any.
 * Return: offset of the option's kind in @options; @bytes if no option of this length was found.
 */
static inline u32 quell_tcp_int_find(const u8 *options, u32 bytes)
{
	u32 at, length;

	/* Behind the last of these there is no room for it. */
	for (at = 0; at + QUELL_TCP_INT_BYTES <= bytes; at += length) {
		if (quell_opt_get_u16(options + at) ==
		    (QUELL_TCP_INT_KIND << 8 | QUELL_TCP_INT_BYTES))
			return at;
		length = options[at + 1];
		if (options[at] == QUELL_OPT_NOP)
			length = 1;
		else if (options[at] == QUELL_OPT_END || length < 2)
			break;
	}
	return bytes;
}

/**
 * quell_tcp_int_may_have() - is it worth looking for the option?
 * @options: first byte behind the fixed TCP header
 * @bytes:   bytes of options, at most 40
 *
 * Context: any.
 * Return: false where quell_tcp_int_find() would find no option, as where timestamps are alone.
 */
static inline bool quell_tcp_int_may_have(const u8 *options, u32 bytes)
{
	return bytes > QUELL_TCP_INT_BYTES ||
	       (bytes == QUELL_TCP_INT_BYTES && options[0] == QUELL_TCP_INT_KIND);
}

/**
 * quell_tcp_int_stamp() - update an option as a switch port
 * @first: its first eight bytes; the echo, which stays, is behind them
 * @hop: the port
 *
 * The port's latency, rounded down, is added to that of the hops before and saturates;
 * the other fields are replaced if this hop is the more congested one.
 *
 * Context: any.
 * Return: true if they were.
 */
static inline bool quell_tcp_int_stamp(u64 *first, const struct quell_tcp_int_hop *hop)
{
	u64 room = ~*first & QUELL_TCP_INT_LATENCY_MAX;

	*first += quell_min_u64(hop->latency_ns >> QUELL_TCP_INT_LATENCY_SHIFT, room);
	if (hop->value <= (u8)(*first >> QUELL_TCP_INT_VALUE_SHIFT))
		return false;
	*first &= ~QUELL_TCP_INT_HOP_MASK;
	*first |= (u64)hop->speed << QUELL_TCP_INT_SPEED_SHIFT |
		  (u64)hop->value << QUELL_TCP_INT_VALUE_SHIFT |
		  (u64)hop->ttl << QUELL_TCP_INT_HOP_SHIFT;
	return true;
}

/**
 * quell_tcp_int_echo() - set the echo of a received option
 * @in:  the option received
 * @out: only the echo is set
 *
 * Context: any.
 * Return: false when no switch has written, so that there is no echo.
 */
static inline bool quell_tcp_int_echo(const struct quell_tcp_int *in,
				      struct quell_tcp_int *out)
{
	if (!in->hop_ttl)
		return false;
	out->echo_value = in->value;
	out->echo_hop = quell_min_u64(quell_hops(in->hop_ttl), QUELL_TCP_INT_ECHO_HOP_MAX);
	out->echo_speed = in->speed;
	out->echo_latency = quell_tcp_int_echo_latency(in->latency);
	return true;
}

/**
 * quell_tcp_int_pack() - pack the echo of an option into one number
 * @opt: the option
 *
 * Context: any.
 * Return: the number; 0 when the option has no echo.
 */
static inline u32 quell_tcp_int_pack(const struct quell_tcp_int *opt)
{
	if (!opt->echo_hop)
		return 0;
	return (u32)opt->echo_value << 24 | (u32)opt->echo_hop << 20 |
	       (u32)opt->echo_speed << 16 | opt->echo_latency;
}

/* Unpack the echo into @opt; its other fields stay. */
static inline void quell_tcp_int_unpack(u32 packed, struct quell_tcp_int *opt)
{
	opt->echo_value = packed >> 24;
	opt->echo_hop = packed >> 20 & 0xf;
	opt->echo_speed = packed >> 16 & 0xf;
	opt->echo_latency = packed;
}

/**
 * struct quell_tcp_int_link - synthetic byte counter of the link in the echoes
 * @bytes:	bytes it has sent since the first echo
 * @time_ns:	when the newest echo came, CLOCK_MONOTONIC, ns; 0 never
 */
struct quell_tcp_int_link {
	u64	bytes;
	u64	time_ns;
};

/**
 * quell_tcp_int_record() - convert an echo to a telemetry record
 * @link:   state from earlier echoes
 * @echo:   the echo
 * @now_ns: arrival time of the echo, CLOCK_MONOTONIC, ns
 * @record: set in full when the result is true
 *
 * A record has a counter and a clock, the option a rate.  The clock is the
 * sender's own, and the counter is advanced by the bytes a link of that rate sent since
 * the last echo: its full speed if there is a queue, else the speed minus the available
 * rate.  So two records of one hop give the rate the switch reported.
 *
 * Context: any; the caller serialises per flow.
 * Return: false if the echo has no hop, or no link speed.
 */
static inline bool quell_tcp_int_record(struct quell_tcp_int_link *link,
					const struct quell_tcp_int *echo, u64 now_ns,
					struct quell_telemetry *record)
{
	u64 speed_bytes_ps = quell_tcp_int_speed_bytes_ps(echo->echo_speed);
	u64 free_bytes_ps = quell_tcp_int_available_bytes_ps(echo->echo_value);
	u64 since_ns;

	if (!echo->echo_hop || !speed_bytes_ps)
		return false;
	/* Records further apart are not compared: no product beyond 2^49. */
	since_ns = quell_min_u64(now_ns - link->time_ns, 2 * QUELL_TELEMETRY_FRESH_NS);
	link->bytes += quell_div_u64(quell_sub_sat_u64(speed_bytes_ps, free_bytes_ps) *
				     since_ns, QUELL_NS_PER_SEC);
	link->time_ns = now_ns;
	*record = (struct quell_telemetry) {
		.link_bytes_ps = speed_bytes_ps,
		.queue_bytes = quell_tcp_int_queue_bytes(echo->echo_value),
		.tx_units = (u32)quell_div_u64(link->bytes, QUELL_TELEMETRY_TX_UNIT_BYTES) &
			    QUELL_TELEMETRY_TX_MASK,
		.time_ns = (u32)now_ns & QUELL_TELEMETRY_TIME_MASK,
		.hop = echo->echo_hop,
	};
	return true;
}

#endif /* _QUELL_TCP_INT_H */

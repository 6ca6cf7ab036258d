/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A telemetry record on the wire: encoding and decoding, and which of two
 * records is kept.
 *
 * Documentation/wire-format.md defines each byte.  Like a core,
 * this does not depend on sockets, packets or clocks, and is compiled into the switch
 * port, into quell.ko and into the user-space tests alike.
 *
 *	hop (1) | load (1) | link rate (2) | queue (2) | bytes sent (3) | time (3)
 *
 * Rate and queue are short floating-point numbers, load a shorter one; all are
 * rounded down.  A record with hop 0 is empty: the sender reserves the space, and
 * each switch with a link more loaded than the one in the record replaces it
 * with its own.
 */
#ifndef _QUELL_TELEMETRY_H
#define _QUELL_TELEMETRY_H

#include <quell/core/core.h>
#include <quell/core/lib/math.h>
#include <quell/core/lib/types.h>

#define QUELL_TELEMETRY_BYTES		12U

/* Short number: 4 bits exponent, 12 bits fraction; exact up to 8191. */
#define QUELL_SHORT_FRACTION_BITS	12
#define QUELL_SHORT_MAX			0xffffU

/*
 * Unit of the rate: 125 kbit/s, in which all usual rates, from 1 Gbit/s to
 * 1.6 Tbit/s, are exact.
 */
#define QUELL_TELEMETRY_RATE_UNIT_BYTES_PS	15625U

/* Load: 3 bits exponent, 5 bits fraction, in 1/64; exact up to 1. */
#define QUELL_LOAD_FRACTION_BITS	5
#define QUELL_LOAD_SHIFT		6	/* 1/64 */
#define QUELL_LOAD_MAX			0xffU

/* Offsets in a record. */
#define QUELL_TELEMETRY_HOP_AT		0
#define QUELL_TELEMETRY_LOAD_AT		1
#define QUELL_TELEMETRY_RATE_AT		2
#define QUELL_TELEMETRY_QUEUE_AT	4
#define QUELL_TELEMETRY_TX_AT		6
#define QUELL_TELEMETRY_TIME_AT		9

/*
 * Encode as unsigned floating point with @fraction_bits, one = 2^@fraction_bits: values
 * below 2 * one unchanged, larger ones as one | fraction, shifted by exponent - 1.
 */
static inline u32 quell_float_encode(u64 value, u32 fraction_bits, u32 most)
{
	u32 shift;

	if (!(value >> (fraction_bits + 1)))
		return value;
	shift = quell_log2_u64(value) - fraction_bits;
	/* The leading bit of a value >= one adds 1 to the exponent field. */
	return quell_min_u64(((u64)shift << fraction_bits) + (value >> shift), most);
}

static inline u64 quell_float_decode(u32 code, u32 fraction_bits)
{
	u64 one = 1ULL << fraction_bits;
	u32 exponent = code >> fraction_bits;
	u64 fraction = code & (one - 1);

	return exponent ? (one | fraction) << (exponent - 1) : fraction;
}

/**
 * quell_load_encode() - encode the load of a link
 * @load_q16: data in flight over the link in bandwidth-delay products, Q16
 *
 * Context: any.
 * Return: the code, monotonic in the load; the largest code also stands for more than 63.
 */
static inline u8 quell_load_encode(u64 load_q16)
{
	return quell_float_encode(load_q16 >> (QUELL_Q16_SHIFT - QUELL_LOAD_SHIFT),
				  QUELL_LOAD_FRACTION_BITS, QUELL_LOAD_MAX);
}

/**
 * quell_load_decode() - decode the load of a link
 * @code: code
 *
 * Context: any.
 * Return: the smallest load with this code, Q16.
 */
static inline u64 quell_load_decode(u8 code)
{
	return quell_float_decode(code, QUELL_LOAD_FRACTION_BITS) <<
	       (QUELL_Q16_SHIFT - QUELL_LOAD_SHIFT);
}

static inline void quell_telemetry_put_u16(u8 *to, u32 value)
{
	to[0] = (value >> 8) & 0xff;
	to[1] = value & 0xff;
}

static inline void quell_telemetry_put_u24(u8 *to, u32 value)
{
	to[0] = (value >> 16) & 0xff;
	quell_telemetry_put_u16(to + 1, value);
}

static inline u32 quell_telemetry_get_u16(const u8 *from)
{
	return (u32)from[0] << 8 | from[1];
}

static inline u32 quell_telemetry_get_u24(const u8 *from)
{
	return (u32)from[0] << 16 | quell_telemetry_get_u16(from + 1);
}

/* Code of a link's rate. */
static inline u32 quell_telemetry_rate_code(u64 link_bytes_ps)
{
	return quell_float_encode(quell_div_u64(link_bytes_ps, QUELL_TELEMETRY_RATE_UNIT_BYTES_PS),
				  QUELL_SHORT_FRACTION_BITS, QUELL_SHORT_MAX);
}

/**
 * quell_telemetry_pack() - a record as two numbers
 * @record:	values; instead of @link_bytes_ps @rate_code is used
 * @rate_code:	quell_telemetry_rate_code()
 * @load_code:	quell_load_encode()
 * @last:	set to the last eight bytes
 *
 * Context: any.
 * Return: the first four bytes.
 */
static inline u32 quell_telemetry_pack(const struct quell_telemetry *record, u32 rate_code,
				       u32 load_code, u64 *last)
{
	u64 queue_code = quell_float_encode(record->queue_bytes, QUELL_SHORT_FRACTION_BITS,
					    QUELL_SHORT_MAX);

	*last = queue_code << 48 | (u64)(record->tx_units & QUELL_TELEMETRY_TX_MASK) << 24 |
		(record->time_ns & QUELL_TELEMETRY_TIME_MASK);
	return (u32)record->hop << 24 | load_code << 16 | rate_code;
}

/**
 * quell_telemetry_encode() - write a record
 * @record:    values; hop 0 writes an empty record
 * @load_q16:  load of the link, see quell_load_encode()
 * @to:        QUELL_TELEMETRY_BYTES bytes
 *
 * Context: any.
 */
static inline void quell_telemetry_encode(const struct quell_telemetry *record,
					  u64 load_q16, u8 *to)
{
	u32 rate_code = quell_telemetry_rate_code(record->link_bytes_ps), first;
	u64 last;

	first = quell_telemetry_pack(record, rate_code, quell_load_encode(load_q16), &last);
	quell_telemetry_put_u16(to, first >> 16);
	quell_telemetry_put_u16(to + 2, first);
	quell_telemetry_put_u16(to + 4, last >> 48);
	quell_telemetry_put_u16(to + 6, last >> 32);
	quell_telemetry_put_u16(to + 8, last >> 16);
	quell_telemetry_put_u16(to + 10, last);
}

/**
 * quell_telemetry_decode() - read a record
 * @from:   QUELL_TELEMETRY_BYTES bytes
 * @record: set in full; all zero when the record is empty
 *
 * Context: any.
 * Return: false when it is empty.
 */
static inline bool quell_telemetry_decode(const u8 *from, struct quell_telemetry *record)
{
	*record = (struct quell_telemetry) { .hop = from[QUELL_TELEMETRY_HOP_AT] };
	if (!record->hop)
		return false;
	record->link_bytes_ps =
		quell_float_decode(quell_telemetry_get_u16(from + QUELL_TELEMETRY_RATE_AT),
				   QUELL_SHORT_FRACTION_BITS) *
		QUELL_TELEMETRY_RATE_UNIT_BYTES_PS;
	record->queue_bytes =
		quell_float_decode(quell_telemetry_get_u16(from + QUELL_TELEMETRY_QUEUE_AT),
				   QUELL_SHORT_FRACTION_BITS);
	record->tx_units = quell_telemetry_get_u24(from + QUELL_TELEMETRY_TX_AT);
	record->time_ns = quell_telemetry_get_u24(from + QUELL_TELEMETRY_TIME_AT);
	return true;
}

/**
 * quell_telemetry_replaces() - must a hop's record replace the one in the packet?
 * @load_code: quell_load_encode() of the hop's link
 * @old:       the record in the packet
 *
 * Of two equally loaded hops the first stays, so that the hop reported
 * to the sender does not depend on chance.
 *
 * Context: any.
 * Return: true when @old is empty or its link is less loaded.
 */
static inline bool quell_telemetry_replaces(u32 load_code, const u8 *old)
{
	return !old[QUELL_TELEMETRY_HOP_AT] || load_code > old[QUELL_TELEMETRY_LOAD_AT];
}

#endif /* _QUELL_TELEMETRY_H */

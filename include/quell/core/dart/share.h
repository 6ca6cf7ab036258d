/* SPDX-License-Identifier: GPL-2.0 */
/*
 * DASR: the number n that a receiver states, and the rate that it means.
 *
 * A sender may use the receiver's line rate divided by n (Dart, section III-A).  n is in
 * units of 1/256, because weights make it fractional: of two senders with weights 2 and 1
 * the first has 2/3 of the line, n = 1.5.  In the option n takes 16 bits:
 *
 *	 15    12 11                    0
 *	+--------+-----------------------+
 *	|exponent|       mantissa        |	n = mantissa * 2^exponent / 256
 *	+--------+-----------------------+
 *
 * Whole numbers up to 15 are exact, and larger ones at most 1/2048 too large: rounding goes
 * up, so that the rates of all senders never exceed the line's.
 */
#ifndef _QUELL_CORE_DART_SHARE_H
#define _QUELL_CORE_DART_SHARE_H

#include <quell/core/core.h>
#include <quell/core/lib/math.h>

/* One sender. */
#define QUELL_SHARE_ONE_Q8	256ULL

#define QUELL_SHARE_SHIFT	12
#define QUELL_SHARE_MANTISSA	0xfffU
/* The largest n that the option can state, 524160. */
#define QUELL_SHARE_MAX_Q8	((u64)QUELL_SHARE_MANTISSA << 15)

/* n as the option has it, rounded up, and limited to QUELL_SHARE_MAX_Q8; 0: not known. */
static inline u16 quell_share_encode(u64 n_q8)
{
	u32 exponent = 0;

	if (n_q8 >= QUELL_SHARE_MAX_Q8)
		return 0xffff;
	while (n_q8 > QUELL_SHARE_MANTISSA) {
		n_q8 = (n_q8 + 1) >> 1;
		exponent++;
	}
	return exponent << QUELL_SHARE_SHIFT | n_q8;
}

/* n in Q8; 0: not known; a number of senders below one counts as one. */
static inline u32 quell_share_decode(u16 field)
{
	u32 n_q8 = (u32)(field & QUELL_SHARE_MANTISSA) << (field >> QUELL_SHARE_SHIFT);

	return n_q8 && n_q8 < QUELL_SHARE_ONE_Q8 ? QUELL_SHARE_ONE_Q8 : n_q8;
}

/* Dart, section III-A: line rate / n, rounded down.  An n of 0, not known, counts as one. */
static inline u64 quell_share_bytes_ps(u64 line_bytes_ps, u32 n_q8)
{
	if (n_q8 <= QUELL_SHARE_ONE_Q8)
		return line_bytes_ps;
	return quell_mul_div_u64(line_bytes_ps, QUELL_SHARE_ONE_Q8, n_q8);
}

/*
 * That of a sender: n divides the receiver's line, of which a slower interface of the sender has
 * as much as it can carry.  A rate of 0 is not known, and the other is the line.
 */
static inline u64 quell_share_of_sender_bytes_ps(u64 own_bytes_ps, u64 peer_bytes_ps, u32 n_q8)
{
	u64 share_bytes_ps = quell_share_bytes_ps(peer_bytes_ps ? peer_bytes_ps : own_bytes_ps,
						  n_q8);

	return own_bytes_ps ? quell_min_u64(own_bytes_ps, share_bytes_ps) : share_bytes_ps;
}

/*
 * A line rate as a packet without data states it, in 8 bits: 0 not known, else
 *
 *	 7       5 4             0
 *	+---------+---------------+
 *	|exponent | mantissa's nr |	mantissa / 10 * 10^exponent Mbit/s
 *	+---------+---------------+
 *
 * The mantissas contain those of all rates that Ethernet and InfiniBand have, but for FDR at 8x
 * and 12x (112 and 168 Gbit/s); other rates are rounded down, by at most 11.2 %.
 */
#define QUELL_LINE_MANTISSAS	32
#define QUELL_LINE_DECADES	8
/* A tenth of a Mbit/s in bytes/s. */
#define QUELL_LINE_UNIT_BYTES_PS	12500ULL

/* Mantissas times 10, ascending: 1.0 to 9.6. */
static const u8 quell_line_mantissas[QUELL_LINE_MANTISSAS] __table = {
	10, 11, 12, 13, 14, 15, 16, 18, 20, 22, 24, 25, 28, 30, 32, 35,
	36, 40, 42, 45, 48, 50, 54, 56, 60, 64, 70, 72, 80, 84, 90, 96,
};

/* Bytes/s; 0: not known. */
static inline u64 quell_line_decode(u8 code)
{
	u64 bytes_ps = quell_line_mantissas[code % QUELL_LINE_MANTISSAS] * QUELL_LINE_UNIT_BYTES_PS;
	u32 decade;

	if (!code)
		return 0;
	/* To a constant end: 6.1's BPF verifier follows no other. */
	for (decade = 0; decade < QUELL_LINE_DECADES; decade++)
		if (decade < code / QUELL_LINE_MANTISSAS)
			bytes_ps *= 10;
	return bytes_ps;
}

/* Code of the largest rate that is not above @bytes_ps; 0 below 1.1 Mbit/s. */
static inline u8 quell_line_encode(u64 bytes_ps)
{
	u32 low = 0, high = QUELL_LINE_MANTISSAS * QUELL_LINE_DECADES - 1, middle;

	while (low < high) {
		middle = (low + high + 1) / 2;
		if (quell_line_decode(middle) <= bytes_ps)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

#endif /* _QUELL_CORE_DART_SHARE_H */

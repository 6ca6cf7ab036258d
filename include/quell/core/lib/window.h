/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Window arithmetic that all cores share, independent of their congestion signal: the
 * initial window, Reno's growth where the signal is missing, the restart after an idle
 * period.  Windows are in bytes, Q16.
 */
#ifndef _QUELL_CORE_LIB_WINDOW_H
#define _QUELL_CORE_LIB_WINDOW_H

#include <quell/core/core.h>
#include <quell/core/lib/math.h>

/* Segments of the initial window on an unknown path (RFC 6928). */
#define QUELL_INIT_SEGMENTS	10
/* Ethernet preamble, header, FCS and gap. */
#define QUELL_FRAMING_BYTES	38
/* Those, IPv4 (20), TCP with timestamps (32). */
#define QUELL_OVERHEAD_BYTES	(QUELL_FRAMING_BYTES + 52)

/* One segment; below 2^48. */
static inline u64 quell_mss_q16(u32 mss_bytes)
{
	return (u64)mss_bytes << QUELL_Q16_SHIFT;
}

/* The initial window on an unknown path; below 2^52. */
static inline u64 quell_init_window_q16(u32 mss_bytes)
{
	return QUELL_INIT_SEGMENTS * quell_mss_q16(mss_bytes);
}

/* quell_bdp_q16() of a product of more than 64 bits. */
__once __rare u64 quell_bdp_long_q16(u64 rtt_ns, u64 link_bytes_ps, u32 mss_bytes)
{
	u64 wire_bytes = (u64)mss_bytes + QUELL_OVERHEAD_BYTES;
	u64 segments = quell_mul_div_ceil_u64(rtt_ns, link_bytes_ps,
					      wire_bytes * QUELL_NS_PER_SEC);

	return quell_mul_sat_u64(quell_add_sat_u64(segments, 1), quell_mss_q16(mss_bytes));
}

/*
 * The number of segments sent until the ACK of the first one returns, so that a single flow keeps
 * its link busy without a gap and without a queue.  The round-trip time excludes the serialisation
 * of the segment itself, hence one segment more.  Bytes Q16, saturated; @mss_bytes at least 1.  A
 * product below 2^64 is less than 2^35 bytes, and two segments are less than 2^33, so the result
 * fits 64 bits.
 */
static inline u64 quell_bdp_q16(u64 rtt_ns, u64 link_bytes_ps, u32 mss_bytes)
{
	u64 divisor = ((u64)mss_bytes + QUELL_OVERHEAD_BYTES) * QUELL_NS_PER_SEC;
	u64 product;

	if (quell_mul_overflows_u64(rtt_ns, link_bytes_ps, &product))
		return quell_bdp_long_q16(rtt_ns, link_bytes_ps, mss_bytes);
	return (quell_div_ceil_u64(product, divisor) + 1) * quell_mss_q16(mss_bytes);
}

/*
 * Additive increase by @step_q16 per window, spread over its ACKs; bytes Q16, saturated.  With a
 * window below one segment, every acknowledged segment adds the whole step.  So the divisor is one
 * segment, @mss_bytes >= 1, at least.
 */
static inline u64 quell_grow_window_q16(u64 window_q16, u64 step_q16, u32 acked_bytes,
					u32 mss_bytes)
{
	u64 per_q16 = quell_max_u64(window_q16, quell_mss_q16(mss_bytes));

	return quell_add_sat_u64(window_q16,
				 quell_mul_div_positive_u64(step_q16,
							    (u64)acked_bytes << QUELL_Q16_SHIFT,
							    per_q16));
}

/*
 * Congestion avoidance of RFC 5681, for flows that lack their algorithm's signal:
 * quell_grow_window_q16() by one segment.  The product of the two u32 is exact, which takes
 * fewer instructions than that of two u64.
 */
static inline u64 quell_reno_window_q16(u64 window_q16, u32 acked_bytes, u32 mss_bytes)
{
	u64 per_q16 = quell_max_u64(window_q16, quell_mss_q16(mss_bytes));

	return quell_add_sat_u64(window_q16,
				 quell_mul_div_positive_u64((u64)mss_bytes * acked_bytes,
							    1ULL << (2 * QUELL_Q16_SHIFT),
							    per_q16));
}

/* Whether an idle period was long enough for the flow to restart; 0 means never. */
static inline bool quell_is_restart(u64 restart_idle_ns, u64 idle_ns)
{
	return restart_idle_ns && idle_ns >= restart_idle_ns;
}

/*
 * @can_rise: the algorithm has its signal and is not in the loss state; otherwise no signal would
 * limit a larger window, and the window can only fall (RFC 5681, section 4.1).  @refused counts
 * that.
 */
static inline u64 quell_restart_window_q16(u64 held_q16, u64 first_q16, bool can_rise,
					   u64 *refused)
{
	if (can_rise || first_q16 <= held_q16)
		return first_q16;
	(*refused)++;
	return held_q16;
}

#endif /* _QUELL_CORE_LIB_WINDOW_H */

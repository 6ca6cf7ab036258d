/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random early detection on the instantaneous queue, as a datacenter switch
 * does it: no averaging, marking probability linear from 0 at min_bytes to
 * prob_q16 just below max_bytes, and 1 from max_bytes on.
 *
 *	probability
 *	  1 |            +-------
 *	    |            |
 *	prob|          . |
 *	    |        .   |
 *	  0 +------+-----+------- queue
 *	          min   max
 *
 * min_bytes == max_bytes is DCTCP's step.  Reference: Floyd and Jacobson, "Random Early Detection
 * Gateways", without its average; RFC 8257 section 3.1 and 4.2 for the step.
 */
#ifndef _QUELL_CORE_PORT_RED_H
#define _QUELL_CORE_PORT_RED_H

#include <quell/core/core.h>

/* Thresholds and probability of marking. */
struct quell_red_params {
	u32	min_bytes;	/* below this no packet is marked */
	u32	max_bytes;	/* from this on every packet is marked; >= @min_bytes */
	u32	prob_q16;	/* just below @max_bytes, 0 to QUELL_Q16_ONE */
};

struct quell_red_vars {
	u64	lottery;	/* never 0 once seeded */
};

/*
 * Equal seeds give equal draws.  The finaliser of splitmix64 (Steele, Lea, Flood 2014) spreads the
 * seed over all bits, so that neighbouring seeds give unrelated draws.
 */
static inline void quell_red_seed(struct quell_red_vars *vars, u64 seed)
{
	u64 z = seed + 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	z ^= z >> 31;
	/* xorshift never leaves the state 0. */
	vars->lottery = z ? z : 1;
}

/* Next 32 random bits: xorshift64* (Vigna 2016), upper half. */
static inline u32 quell_red_draw(struct quell_red_vars *vars)
{
	u64 x = vars->lottery;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	vars->lottery = x;
	return (u32)((x * 0x2545f4914f6cdd1dULL) >> 32);
}

/*
 * draw / 2^32 < prob * (queued - min) / (max - min) is compared without a division: both products
 * stay below 2^64, because draw < 2^32, max - min < 2^32, prob <= 2^32 (Q32) and queued - min <=
 * 2^32 - 2.  There is a draw only between the thresholds.
 */
static inline bool quell_red_marks(const struct quell_red_params *params,
				   struct quell_red_vars *vars,
				   u32 queued_bytes)
{
	u64 range_bytes, above_bytes, prob_q32;

	if (queued_bytes < params->min_bytes)
		return false;
	if (queued_bytes >= params->max_bytes)
		return true;

	range_bytes = params->max_bytes - params->min_bytes;
	above_bytes = queued_bytes - params->min_bytes;
	prob_q32 = (u64)params->prob_q16 << QUELL_Q16_SHIFT;
	return quell_red_draw(vars) * range_bytes < prob_q32 * above_bytes;
}

#endif /* _QUELL_CORE_PORT_RED_H */

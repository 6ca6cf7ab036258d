/* SPDX-License-Identifier: GPL-2.0 */
/* TIMELY: the state of a flow and its counters. */
#ifndef _QUELL_CORE_TIMELY_VARS_H
#define _QUELL_CORE_TIMELY_VARS_H

#include <quell/core/lib/types.h>

/* Fraction bits of weights and cuts. */
#define QUELL_TIMELY_DECREASE_Q		32
#define QUELL_TIMELY_DECREASE_ONE	(1ULL << QUELL_TIMELY_DECREASE_Q)
/* Segments over which the application's demand is averaged. */
#define QUELL_TIMELY_DEMAND_SEGMENTS	8
/* quell_timely_vars.flags */
#define QUELL_TIMELY_F_SIGNAL	0x1 /* a round-trip time was measured */
#define QUELL_TIMELY_F_PREV	0x2 /* prev_rtt_ns and last_ns are valid */
#define QUELL_TIMELY_F_FALLING	0x4 /* the average difference is negative */
#define QUELL_TIMELY_F_LOSS	0x8 /* the window is Reno's until it reaches its bound */

/* State of one flow. */
struct quell_timely_vars {
	u64	rate_q16;	/* target rate, bytes/s */
	u64	window_q16;	/* limit of outstanding data, bytes */
	u64	diff_ns_q16;	/* magnitude of the average difference */
	u64	last_ns;	/* last completion */
	u32	prev_rtt_ns;	/* of the last completion, at most 2^32 - 1 */
	u32	mss_bytes;	/* > 0 */
	u32	since_bytes;	/* acknowledged since the last completion */
	u32	sent_bytes;	/* by the application in the recent past */
	u32	allowed_bytes;	/* by the rate in that time */
	u8	falling_nr;	/* negative differences in a row, at most 255 */
	u8	flags;	/* QUELL_TIMELY_F_* */
};

/* Shares the 104 bytes of a socket's private area with the module's glue. */
static_assert(sizeof(struct quell_timely_vars) <= 64);

/* core.h explains the counters. */
struct quell_timely_stats {
	u64	below_low;
	u64	above_high;
	u64	gradient_up;
	u64	gradient_down;
	u64	hai;
	u64	partial;
	u64	no_rtt;
	u64	app_limited;
	u64	fast_retx;
	u64	rtos;
	u64	restarts;
};

#endif /* _QUELL_CORE_TIMELY_VARS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * TIMELY: the state of a flow and its counters.
 */
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

/**
 * struct quell_timely_vars - state of one flow
 * @rate_q16:		target rate, bytes/s Q16
 * @window_q16:		limit of outstanding data, bytes Q16
 * @diff_ns_q16:	magnitude of the average difference, ns Q16
 * @last_ns:		time of the last completion, ns
 * @prev_rtt_ns:	round-trip time of the last completion, ns, at most 2^32 - 1
 * @mss_bytes:		maximum segment size, > 0
 * @since_bytes:	bytes acknowledged since the last completion
 * @sent_bytes:		bytes that the application sent in the recent past
 * @allowed_bytes:	bytes that the rate would have allowed in that time
 * @falling_nr:		differences in a row that were negative, at most 255
 * @flags:		QUELL_TIMELY_F_*
 *
 * Written by the functions of rate.h and react.h only, under the lock of the flow's socket.
 */
struct quell_timely_vars {
	u64	rate_q16;
	u64	window_q16;
	u64	diff_ns_q16;
	u64	last_ns;
	u32	prev_rtt_ns;
	u32	mss_bytes;
	u32	since_bytes;
	u32	sent_bytes;
	u32	allowed_bytes;
	u8	falling_nr;
	u8	flags;
};

/* Shares the 104 bytes of a socket's private area with the module's glue. */
static_assert(sizeof(struct quell_timely_vars) <= 64);

/**
 * struct quell_timely_stats - free-running counters
 * @below_low:		completions with a round-trip time below t_low
 * @above_high:		completions with a round-trip time above t_high
 * @gradient_up:	completions between the thresholds with a positive gradient
 * @gradient_down:	completions between the thresholds without a positive gradient
 * @hai:		completions of @gradient_down with hyperactive increase
 * @partial:		ACKs for a part of a segment
 * @no_rtt:		ACKs without a round-trip time
 * @app_limited:	increases left out because the application sends too little
 * @fast_retx:		decreases because of a fast retransmit
 * @rtos:		retransmission timeouts
 * @restarts:		starts at the first rate after an idle time
 */
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

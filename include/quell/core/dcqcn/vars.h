/* SPDX-License-Identifier: GPL-2.0 */
/*
 * DCQCN: the state of a flow and its counters.
 */
#ifndef _QUELL_CORE_DCQCN_VARS_H
#define _QUELL_CORE_DCQCN_VARS_H

#include <quell/core/lib/types.h>

/* Round trip assumed for the first rate without a sample. */
#define QUELL_DCQCN_UNKNOWN_RTT_NS	1000000ULL
/* Maximum number of increases of each kind that one ACK performs. */
#define QUELL_DCQCN_MOST_STEPS		64
/* Fraction bits of alpha. */
#define QUELL_DCQCN_ALPHA_Q		30
#define QUELL_DCQCN_ALPHA_ONE		0x40000000ULL
/*
 * Alpha of a flow that starts at the rate measured on its path: there is no overload to halve.
 * That of long flows in windows of 32 segments, sqrt(2 / W): Alizadeh et al., "Data Center TCP".
 */
#define QUELL_DCQCN_ALPHA_FITTED	0x10000000ULL
/* Largest rate, bytes/s: 2^37 is 1.1 Tbit/s. */
#define QUELL_DCQCN_MOST_BYTES_PS	0x2000000000ULL
/* quell_dcqcn_vars.flags */
#define QUELL_DCQCN_F_ECN	0x1 /* the peer echoes marks */
#define QUELL_DCQCN_F_NOTIFIED	0x2 /* a notification came since the start */
#define QUELL_DCQCN_F_LOSS	0x4 /* reno_q16 bounds the window */

/**
 * struct quell_dcqcn_vars - state of one flow
 * @rate_q16:		current rate RC, bytes/s Q16
 * @target_q16:		target rate RT, bytes/s Q16
 * @reno_q16:		bound on the window after a loss, bytes Q16
 * @since_ns:		time of the last notification, loss or start, ns
 * @alpha_q30:		alpha, 2^30 is 1
 * @decays:		alpha timers expired since @since_ns
 * @timer_steps:	increase timers expired since @since_ns: T
 * @byte_steps:		byte counters expired since @since_ns: B
 * @counted_bytes:	bytes acknowledged since the byte counter last expired or
 *			started
 * @min_rtt_ns:		smallest round-trip time, ns; 0 unknown
 * @mss_bytes:		maximum segment size, > 0
 * @flags:		QUELL_DCQCN_F_*
 *
 * Written by the functions of react.h only, under the lock of the flow's socket.
 */
struct quell_dcqcn_vars {
	u64	rate_q16;
	u64	target_q16;
	u64	reno_q16;
	u64	since_ns;
	u32	alpha_q30;
	u32	decays;
	u32	timer_steps;
	u32	byte_steps;
	u32	counted_bytes;
	u32	min_rtt_ns;
	u32	mss_bytes;
	u32	flags;
};

/* Shares the 104 bytes of a socket's private area with the module's glue. */
static_assert(sizeof(struct quell_dcqcn_vars) <= 64);

/**
 * struct quell_dcqcn_stats - free-running counters
 * @marked_bytes:	bytes acknowledged as marked
 * @notifications:	rate cuts because of marks
 * @held:		ACKs with marks within notify_interval of a notification,
 *			or of a loss that followed one
 * @fast_recoveries:	increases toward the target
 * @additive_increases:	increases that also raise the target by ai
 * @hyper_increases:	increases that also raise the target by hai
 * @forgone:		timer periods without an increase, after a long silence
 * @losses:		cuts because of a fast retransmit
 * @rtos:		retransmission timeouts
 * @restarts:		starts at the link's rate after an idle time
 */
struct quell_dcqcn_stats {
	u64	marked_bytes;
	u64	notifications;
	u64	held;
	u64	fast_recoveries;
	u64	additive_increases;
	u64	hyper_increases;
	u64	forgone;
	u64	losses;
	u64	rtos;
	u64	restarts;
};

#endif /* _QUELL_CORE_DCQCN_VARS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* DCQCN: the state of a flow and its counters. */
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

/* State of one flow. */
struct quell_dcqcn_vars {
	u64	rate_q16;	/* current rate RC, bytes/s */
	u64	target_q16;	/* target rate RT, bytes/s */
	u64	reno_q16;	/* bound on the window after a loss, bytes */
	u64	since_ns;	/* last notification, loss or start */
	u32	alpha_q30;	/* 2^30 is 1 */
	u32	decays;	/* alpha timers expired since @since_ns */
	u32	timer_steps;	/* T: increase timers expired since @since_ns */
	u32	byte_steps;	/* B: byte counters expired since @since_ns */
	u32	counted_bytes;	/* acknowledged since the byte counter last expired or started */
	u32	min_rtt_ns;	/* 0 unknown */
	u32	mss_bytes;	/* > 0 */
	u32	flags;	/* QUELL_DCQCN_F_* */
};

/* Shares the 104 bytes of a socket's private area with the module's glue. */
static_assert(sizeof(struct quell_dcqcn_vars) <= 64);

/* core.h explains the counters. */
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

/* SPDX-License-Identifier: GPL-2.0 */
/* Swift: the state of a flow and its counters. */
#ifndef _QUELL_CORE_SWIFT_VARS_H
#define _QUELL_CORE_SWIFT_VARS_H

#include <quell/core/lib/types.h>

/* Fraction bits of the multiplicative decrease. */
#define QUELL_SWIFT_DECREASE_Q		24
/* quell_swift_vars.flags */
#define QUELL_SWIFT_F_DECREASED	0x1 /* last_decrease_ns is valid */
#define QUELL_SWIFT_F_LOSS	0x2 /* no clean round trip since the last loss */
/* <quell/core/swift/split.h> defines 0x4 and 0x8. */
#define QUELL_SWIFT_F_DISREGARDED	0x10 /* the last decrease was skipped at random */

/* State of one flow. */
struct quell_swift_vars {
	u64	window_q16;	/* bytes */
	u64	last_decrease_ns;
	u64	rtt_ns;	/* newest; 0 before the first one */
	u64	min_rtt_ns;	/* 0 before the first one */
	u64	link_bytes_ps;	/* 0 unknown */
	u32	mss_bytes;	/* > 0 */
	u16	rtos;	/* timeouts since the last ACK or fast retransmit */
	u16	flags;	/* QUELL_SWIFT_F_* */
};

/* The module's glue shares the 104 bytes of a socket's private area with this state. */
static_assert(sizeof(struct quell_swift_vars) <= 64);

/*
 * core.h explains the counters.  @held includes ACKs with an old round-trip time (QUELL_S_RTT_OLD).
 */
struct quell_swift_stats {
	u64	increases;
	u64	decreases;
	u64	held;
	u64	disregarded;
	u64	no_rtt;
	u64	app_limited;
	u64	fast_retx;
	u64	rtos;
	u64	rto_resets;
	u64	restarts;
	u64	restarts_refused;
};

#endif /* _QUELL_CORE_SWIFT_VARS_H */

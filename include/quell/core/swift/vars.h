/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Swift: the state of a flow and its counters.
 */
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

/**
 * struct quell_swift_vars - state of one flow
 * @window_q16:		congestion window, bytes Q16
 * @last_decrease_ns:	time of the last decrease, ns
 * @rtt_ns:		newest round-trip time, ns; 0 before the first one
 * @min_rtt_ns:		smallest round-trip time, ns; 0 before the first one
 * @link_bytes_ps:	rate of the interface, bytes/s; 0 unknown
 * @mss_bytes:		maximum segment size, > 0
 * @rtos:		timeouts since the last ACK or fast retransmit
 * @flags:		QUELL_SWIFT_F_*
 *
 * Only the functions of the cores write these fields, under the lock of the flow's socket.
 */
struct quell_swift_vars {
	u64	window_q16;
	u64	last_decrease_ns;
	u64	rtt_ns;
	u64	min_rtt_ns;
	u64	link_bytes_ps;
	u32	mss_bytes;
	u16	rtos;
	u16	flags;
};

/* The module's glue shares the 104 bytes of a socket's private area with this state. */
static_assert(sizeof(struct quell_swift_vars) <= 64);

/**
 * struct quell_swift_stats - free-running counters
 * @increases:		ACKs that grew the window
 * @decreases:		decreases because of delay
 * @held:		ACKs at or above the target that may not decrease the window:
 *			less than a round trip since the last decrease, or their
 *			round-trip time is old (QUELL_S_RTT_OLD)
 * @disregarded:	decreases because of delay that were skipped at random
 * @no_rtt:		ACKs without a round-trip time
 * @app_limited:	ACKs that did not grow the window because the flow was
 *			limited by the application
 * @fast_retx:		decreases because of a fast retransmit
 * @rtos:		retransmission timeouts
 * @rto_resets:		timeouts that reset the window to the minimum
 * @restarts:		restarts after an idle period
 * @restarts_refused:	restarts that did not raise the window, because of a recent
 *			loss or for lack of a delay signal
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

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The last reduction of a flow's window: signal, time and round-trip time, in one word so that
 * readers see all three of one cut.
 */
#ifndef _QUELL_FLOW_CUT_H
#define _QUELL_FLOW_CUT_H

#include <linux/bits.h>
#include <linux/minmax.h>
#include <linux/types.h>

/* Signals; names in quell_cut_names[]. */
enum quell_cut {
	QUELL_CUT_NONE,		/* the window was never reduced */
	QUELL_CUT_DELAY,
	QUELL_CUT_MARK,
	QUELL_CUT_RECORD,
	QUELL_CUT_TRIM,
	QUELL_CUT_SHARE,	/* n, the number of senders that the receiver states */
	QUELL_CUT_LOSS,
	QUELL_CUT_TAIL,		/* a loss that a tail probe repaired */
	QUELL_CUT_TIMEOUT,
	QUELL_CUT_IDLE,
	QUELL_CUT_FIT,		/* the search, or CUBIC, on an acknowledgment */
	QUELL_CUT_OTHER,	/* without the algorithm's signal, on an acknowledgment */
};

/* From the lowest bit: signal; round-trip time, 64 ns; time, 4096 ns, modulo 13 days. */
#define QUELL_CUT_WHY_BITS	4
#define QUELL_CUT_RTT_BITS	22
#define QUELL_CUT_RTT_SHIFT	6
#define QUELL_CUT_TIME_BITS	38
#define QUELL_CUT_TIME_SHIFT	12

/**
 * quell_cut_pack() - pack a cut into a word
 * @why:    its signal
 * @now_ns: its time, CLOCK_MONOTONIC
 * @rtt_ns: round-trip time of the flow then, ns; 0 unknown; up to 268 ms
 */
static inline u64 quell_cut_pack(enum quell_cut why, u64 now_ns, u64 rtt_ns)
{
	u64 rtt = min_t(u64, rtt_ns >> QUELL_CUT_RTT_SHIFT, BIT_ULL(QUELL_CUT_RTT_BITS) - 1);

	return now_ns >> QUELL_CUT_TIME_SHIFT << (QUELL_CUT_WHY_BITS + QUELL_CUT_RTT_BITS) |
	       rtt << QUELL_CUT_WHY_BITS | why;
}

#endif /* _QUELL_FLOW_CUT_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fitting an algorithm to the path: the state of a flow, its target delay, and the obstacles
 * to its algorithm.  See <quell/core/adapt/react.h>.
 */
#ifndef _QUELL_CORE_ADAPT_VARS_H
#define _QUELL_CORE_ADAPT_VARS_H

#include <quell/core/core.h>
#include <quell/core/lib/cubic.h>
#include <quell/core/lib/math.h>
#include <quell/core/lib/window.h>

/* A longer round-trip time is stored as this: only CUBIC suits such paths. */
#define QUELL_ADAPT_MOST_NS		2000000000ULL
/* Part of a round trip that may be due to the flow's own burst, one in so many; in START. */
#define QUELL_ADAPT_BURST_SHARE		2
#define QUELL_ADAPT_BURST_SHARE_START	8
#define QUELL_ADAPT_NS_PER_US		1000U
/* Rate at which full packets take longer than small ones, for algorithms without a least share. */
#define QUELL_ADAPT_BASE_BYTES_PS	12500000ULL
/* Number of samples whose minimum is one standing value (RFC 9406: N_RTT_SAMPLE). */
#define QUELL_ADAPT_SAMPLES		8
/* Lower limit of that number, for a window of fewer packets. */
#define QUELL_ADAPT_SAMPLES_LEAST	1
/* Upper limit of the measured noise. */
#define QUELL_ADAPT_NOISE_MOST_NS	500000ULL
/* Smallest queueing delay that the target allows. */
#define QUELL_ADAPT_ROOM_NS		25000ULL
#define QUELL_ADAPT_ROOM_SHARE		4
/*
 * Part of a segment that a fitted flow's increase adds at least.  Flows that arrive reduce those
 * that are there, which regain their shares too slowly by a step that was set for another network.
 */
#define QUELL_ADAPT_STEP_SHARE		4
/*
 * By how much the first packet of a round with marks is late where the queue stands: at least this
 * part of the base, and this time.
 */
#define QUELL_ADAPT_LATE_SHARE		64
#define QUELL_ADAPT_LATE_NS		6000ULL
/* RFC 9406: CSS_GROWTH_DIVISOR. */
#define QUELL_ADAPT_SLOW_SHARE		4
/* Number of checks that must find a queue before the search ends. */
#define QUELL_ADAPT_CHECKS		3
/* Rounds without a queue after which the flow searches the path again. */
#define QUELL_ADAPT_QUIET_ROUNDS	8
/* Rounds without a mark or a record after which the signal counts as missing. */
#define QUELL_ADAPT_SILENT_ROUNDS	16
/* Rounds above the target after which the flow is not held to cause the delay. */
#define QUELL_ADAPT_ABOVE_ROUNDS	20
/* A round above the target with a small window counts as this many. */
#define QUELL_ADAPT_ABOVE_SMALL		8
/* Minimum rounds of START that measure the noise, where delay is the signal. */
#define QUELL_ADAPT_NOISE_ROUNDS	4
/* Rounds that measure no noise after the application had no more data to send. */
#define QUELL_ADAPT_SLACK_ROUNDS	2
/* Rounds with samples of a connection's first window; its first ACK begins one. */
#define QUELL_ADAPT_FIRST_ROUNDS	2
/* Two losses without prior delay within this many rounds: the path drops before it delays. */
#define QUELL_ADAPT_EARLY_ROUNDS	100
/* A round reduces the rate at which the path delivered by one part in this many. */
#define QUELL_ADAPT_RATE_SHARE		32
/* A round of START reduces the noise by one part in this many. */
#define QUELL_ADAPT_NOISE_SHARE		16
/* Limit on doublings of the number of losses before the algorithm is tried again. */
#define QUELL_ADAPT_TRIES		6

enum quell_adapt_phase {
	QUELL_ADAPT_OFF,
	QUELL_ADAPT_START,
	QUELL_ADAPT_FIT,
	QUELL_ADAPT_FALLBACK,
};

/* The signal that an algorithm uses. */
enum quell_adapt_signal {
	QUELL_ADAPT_DELAY,
	QUELL_ADAPT_MARKS,
	QUELL_ADAPT_RECORDS,
};

/* Why CUBIC governs. */
enum quell_adapt_reason {
	QUELL_ADAPT_FITS,
	QUELL_ADAPT_LONG_PATH,		/* base round trip too long for the algorithm */
	QUELL_ADAPT_SLOW_PATH,		/* its increases would overrun the share of the path */
	QUELL_ADAPT_NOISE,		/* the hosts' noise is more than the target */
	QUELL_ADAPT_EARLY_LOSS,		/* the path drops before it delays */
	QUELL_ADAPT_DELAY_STAYS,	/* a smaller window does not make the delay smaller */
	QUELL_ADAPT_NO_MARKS,		/* no segment was marked CE */
	QUELL_ADAPT_NO_RECORDS,		/* no switch reported its load */
	QUELL_ADAPT_NO_DELAY,		/* no round-trip time was measured */
	QUELL_ADAPT_REASONS,
};

/* quell_adapt.flags */
#define QUELL_ADAPT_F_MARKED	0x1	/* a mark was seen */
#define QUELL_ADAPT_F_RECORD	0x2	/* a record was seen */
#define QUELL_ADAPT_F_OVER	0x4	/* set by the caller: a round trip ended, unsampled */
#define QUELL_ADAPT_F_FULL	0x8	/* set by the caller: the window is full, no recovery */
#define QUELL_ADAPT_F_BEGUN	0x10	/* cleared by the caller: in the first round trip of FIT */
#define QUELL_ADAPT_F_SEARCHED	0x20	/* the last reduction was of START's window */
#define QUELL_ADAPT_F_REDUCED	0x40	/* set by the caller: reduced for this loss episode */
#define QUELL_ADAPT_F_ECE	0x80	/* set by the caller: the current ACK has ECN-Echo */
#define QUELL_ADAPT_F_LOST	0x100	/* set by the caller: with a loss in that round trip */
#define QUELL_ADAPT_F_AGAIN	0x200	/* START goes on after FIT, slowly */
#define QUELL_ADAPT_F_SIGNAL	(QUELL_ADAPT_F_MARKED | QUELL_ADAPT_F_RECORD)

/* Path properties that an algorithm requires; constant. */
struct quell_adapt_needs {
	u8	signal;	/* enum quell_adapt_signal */
	u32	longest_ns;	/* longest base round trip for which delay is of use to it */
	u64	slowest_bytes_ps;	/* least share that its increases do not overrun; 0: any */
	/* In its parameters, of the longest hold time with an own window; 0: no such window. */
	u16	hold_offset;
};

/* Of which data the marks of a round are while CUBIC governs. */
enum quell_adapt_reduced {
	QUELL_ADAPT_REDUCED_NOT,
	QUELL_ADAPT_REDUCED_BEFORE,	/* sent before the last reduction */
	QUELL_ADAPT_REDUCED_BY_LOSS,	/* the same, and those of the next round */
	QUELL_ADAPT_REDUCED_BY_MARKS,	/* as are the packets lost in this round */
};

/* State of one flow. */
struct quell_adapt {
	/* START, FALLBACK: the window; FIT: its first, in ssthresh START's before the drain. */
	struct quell_cubic	cubic;
	u32			base_ns;	/* smallest round-trip time; 0 before the first */
	/* Per byte at the highest rate of delivery lately; 0 before the first round. */
	u32			byte_ns_q16;
	/* Round-trip time of the last round without the own bursts; 0 before the first. */
	u32			stand_ns;
	u32			least_ns;	/* smallest round-trip time of the current round */
	/* START: standing value that first showed a queue. */
	u32			shown_ns;
	/* START: RTT of the current round's first packet; 0 unknown. */
	u32			first_ns;
	/* Delay that all packets of a round trip may share without a queue. */
	u32			noise_ns;
	union {
		u32		raw_ns;	/* START: like @least_ns, with the own bursts */
		/* FIT: target round-trip time of the algorithm; 0 no target. */
		u32		aim_ns;
	};
	/* By the caller: the round trip ends once an ACK exceeds this. */
	u32			round_seq;
	/* Segments that the ACK of @base_ns acknowledged, rounded; 0: less than half. */
	u8			base_pkts;
	u8			slack:6;	/* START: rounds in which data may be short */
	u8			first:2;	/* rounds left with samples of the first window */
	/* Round-trip times in the current round; of two packets or more: twice. */
	u8			samples;
	/* START: measured noise; FIT: without congestion; FALLBACK: until the next try. */
	u8			rounds;
	/*
	 * Delay, FIT: weighted number of rounds above the target, less that of other rounds;
	 * marks, START: rounds in a row with marks; FALLBACK: enum quell_adapt_reduced.
	 */
	u8			above;
	/* QUELL_ADAPT_EARLY_ROUNDS per loss without prior delay, less the rounds since. */
	u8			early;
	/* START: standing values in a row above the target. */
	u8			checks:4;
	u8			tries:4;	/* times that CUBIC took over, limited */
	u8			phase;	/* enum quell_adapt_phase */
	u8			reason;	/* enum quell_adapt_reason */
	u16			flags;	/* QUELL_ADAPT_F_* */
};

/* Whether the algorithm governs the window. */
static inline bool quell_adapt_is_fit(const struct quell_adapt *a)
{
	return a->phase == QUELL_ADAPT_OFF || a->phase == QUELL_ADAPT_FIT;
}

/* Queueing delay that a flow may cause, by its round-trip time without queues. */
static inline u64 quell_adapt_room_ns(u64 base_ns)
{
	return quell_max_u64(base_ns / QUELL_ADAPT_ROOM_SHARE, QUELL_ADAPT_ROOM_NS);
}

/* Target round-trip time; 0 while no round-trip time is known. */
static inline u64 quell_adapt_target_ns(const struct quell_adapt *a)
{
	return a->base_ns ? quell_add_sat_u64(a->base_ns, quell_adapt_room_ns(a->base_ns)) : 0;
}

/*
 * The flow's share of the path: its window per round trip, queueing delay included, or the path's
 * latest delivery rate, if that is more: a window that was just reduced is less than its queue.
 */
static inline u64 quell_adapt_share_bytes_ps(const struct quell_adapt *a)
{
	u64 share_bytes_ps = quell_mul_div_u64(a->cubic.window_q16 >> QUELL_Q16_SHIFT,
					       QUELL_NS_PER_SEC,
					       quell_max_u64(a->stand_ns, a->base_ns));

	if (!a->byte_ns_q16)
		return share_bytes_ps;
	return quell_max_u64(share_bytes_ps, quell_div_u64(QUELL_NS_PER_SEC << QUELL_Q16_SHIFT,
							   a->byte_ns_q16));
}

/* The round-trip time that an algorithm uses, at least the base; @a->stand_ns is known. */
static inline u64 quell_adapt_algo_rtt_ns(const struct quell_adapt *a)
{
	return quell_max_u64(quell_sub_sat_u64(a->stand_ns, a->noise_ns), a->base_ns);
}

/* Whether the hosts' noise is small beside the queueing delay a flow may cause. */
static inline bool quell_adapt_is_quiet(const struct quell_adapt *a)
{
	return a->noise_ns < quell_adapt_room_ns(a->base_ns) / 2;
}

/* Why the algorithm cannot govern; QUELL_ADAPT_FITS if it can. */
static inline u8 quell_adapt_obstacle(const struct quell_adapt *a,
				      const struct quell_adapt_needs *needs)
{
	if (needs->signal == QUELL_ADAPT_MARKS && !(a->flags & QUELL_ADAPT_F_MARKED))
		return QUELL_ADAPT_NO_MARKS;
	if (needs->signal == QUELL_ADAPT_RECORDS)
		return a->flags & QUELL_ADAPT_F_RECORD ? QUELL_ADAPT_FITS : QUELL_ADAPT_NO_RECORDS;
	if (!a->base_ns || (!a->stand_ns && !a->samples))
		return QUELL_ADAPT_NO_DELAY;
	if (a->base_ns > needs->longest_ns)
		return QUELL_ADAPT_LONG_PATH;
	if (a->noise_ns > quell_adapt_target_ns(a))
		return QUELL_ADAPT_NOISE;
	if (a->early > QUELL_ADAPT_EARLY_ROUNDS)
		return QUELL_ADAPT_EARLY_LOSS;
	if (quell_adapt_share_bytes_ps(a) < needs->slowest_bytes_ps)
		return QUELL_ADAPT_SLOW_PATH;
	return QUELL_ADAPT_FITS;
}

/* Smallest window of the search, except after a timeout, and of CUBIC. */
static inline u64 quell_adapt_floor_q16(u32 mss_bytes)
{
	return (u64)2 * mss_bytes << QUELL_Q16_SHIFT;
}

/*
 * Sets the number of losses before the algorithm is tried again, and doubles it each time: each
 * try may search the path anew and fill its buffer, only for the algorithm to give up again.
 */
static inline void quell_adapt_defer(struct quell_adapt *a, u8 reason)
{
	a->rounds = reason ? 1U << a->tries : 0;
	if (reason && a->tries < QUELL_ADAPT_TRIES)
		a->tries++;
}

/* Ends START, or tries the algorithm again: it or CUBIC continues with the current window. */
static __rare void quell_adapt_settle(struct quell_adapt *a,
				      const struct quell_adapt_needs *needs)
{
	a->reason = quell_adapt_obstacle(a, needs);
	a->phase = a->reason ? QUELL_ADAPT_FALLBACK : QUELL_ADAPT_FIT;
	a->aim_ns = 0;
	a->checks = 0;
	a->above = a->reason ? QUELL_ADAPT_REDUCED_BEFORE : 0;
	quell_adapt_defer(a, a->reason);
	/* With marks each loss tries it again, and CUBIC counts rounds without a mark. */
	if (needs->signal == QUELL_ADAPT_MARKS)
		a->rounds = 0;
}

static __rare void quell_adapt_fall_back(struct quell_adapt *a, u64 window_q16, u32 mss_bytes,
					 u8 reason)
{
	quell_cubic_enter(&a->cubic, quell_max_u64(window_q16, quell_adapt_floor_q16(mss_bytes)));
	a->phase = QUELL_ADAPT_FALLBACK;
	a->reason = reason;
	a->above = QUELL_ADAPT_REDUCED_NOT;
	a->flags &= ~QUELL_ADAPT_F_SEARCHED;
	quell_adapt_defer(a, reason);
}

/* Used by the next quell_adapt_on_ack(); 0: no target. */
static inline void quell_adapt_set_aim(struct quell_adapt *a, u64 target_ns)
{
	if (a->phase == QUELL_ADAPT_FIT)
		a->aim_ns = quell_min_u64(target_ns, QUELL_ADAPT_MOST_NS);
}

/* Starts a search for the capacity of the path, from @window_q16 on. */
static __rare void quell_adapt_search(struct quell_adapt *a, u64 window_q16)
{
	quell_cubic_enter(&a->cubic, window_q16);
	a->cubic.ssthresh_bytes = ~0U;
	a->phase = QUELL_ADAPT_START;
	a->checks = 0;
	a->rounds = 0;
	a->above = 0;
	a->first_ns = 0;
	a->flags &= ~(QUELL_ADAPT_F_SEARCHED | QUELL_ADAPT_F_AGAIN);
}

/* @pkts and @mss_bytes are > 0.  The caller serialises per flow, here and below. */
static inline void quell_adapt_init(struct quell_adapt *a, u32 pkts, u32 mss_bytes)
{
	*a = (struct quell_adapt) { .first = QUELL_ADAPT_FIRST_ROUNDS };
	quell_adapt_search(a, (u64)pkts * mss_bytes << QUELL_Q16_SHIFT);
}

/*
 * The first data may follow that of others into a full queue, where its round-trip time is no base.
 * A switch port that sends control packets first, as swport does, has no queue for a SYN.  @rtt_ns
 * of the handshake, or TCP's smoothed one; 0 unknown.
 */
static inline void quell_adapt_note_handshake(struct quell_adapt *a, u64 rtt_ns)
{
	a->base_ns = quell_min_u64(rtt_ns, QUELL_ADAPT_MOST_NS);
}

#endif /* _QUELL_CORE_ADAPT_VARS_H */

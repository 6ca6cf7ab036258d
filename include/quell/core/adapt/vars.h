/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fitting an algorithm to the path: the state of a flow, what it aims at, and what speaks
 * against its algorithm.  See <quell/core/adapt/react.h>.
 */
#ifndef _QUELL_CORE_ADAPT_VARS_H
#define _QUELL_CORE_ADAPT_VARS_H

#include <quell/core/core.h>
#include <quell/core/lib/cubic.h>
#include <quell/core/lib/math.h>
#include <quell/core/lib/window.h>

/* What is kept of a longer round-trip time: no algorithm but CUBIC is for such. */
#define QUELL_ADAPT_MOST_NS		2000000000ULL
/* Round-trip times that one standing value is the least of (RFC 9406: N_RTT_SAMPLE). */
#define QUELL_ADAPT_SAMPLES		8
/* Of a window of fewer packets. */
#define QUELL_ADAPT_SAMPLES_LEAST	1
/* More noise than this is not taken for noise. */
#define QUELL_ADAPT_NOISE_MOST_NS	500000ULL
/* The least queueing delay that is asked for. */
#define QUELL_ADAPT_ROOM_NS		25000ULL
#define QUELL_ADAPT_ROOM_SHARE		4
/* RFC 9406: CSS_GROWTH_DIVISOR. */
#define QUELL_ADAPT_SLOW_SHARE		4
/* So often a queue must be seen before it ends the search. */
#define QUELL_ADAPT_LOOKS		3
/* Rounds without a queue after which the path is tried again. */
#define QUELL_ADAPT_QUIET_ROUNDS	8
/* Rounds without a mark or a record after which there are none. */
#define QUELL_ADAPT_SILENT_ROUNDS	16
/* Rounds above the target after which the delay is not the flow's doing. */
#define QUELL_ADAPT_ABOVE_ROUNDS	20
/* One of a small window counts for so many. */
#define QUELL_ADAPT_ABOVE_SMALL		8
/* Rounds of START that measure the noise at least, where delay is the signal. */
#define QUELL_ADAPT_NOISE_ROUNDS	4
/* Two losses without a delay before, within so many rounds: the buffer shows none. */
#define QUELL_ADAPT_EARLY_ROUNDS	100
/* The part of the noise that a round of START takes away. */
#define QUELL_ADAPT_NOISE_SHARE		16
/* So often the losses before the next try are doubled, at most. */
#define QUELL_ADAPT_TRIES		6

enum quell_adapt_phase {
	QUELL_ADAPT_OFF,
	QUELL_ADAPT_START,
	QUELL_ADAPT_FIT,
	QUELL_ADAPT_FALLBACK,
};

/* What an algorithm goes by. */
enum quell_adapt_signal {
	QUELL_ADAPT_DELAY,
	QUELL_ADAPT_MARKS,
	QUELL_ADAPT_RECORDS,
};

/* Why CUBIC governs. */
enum quell_adapt_reason {
	QUELL_ADAPT_FITS,
	QUELL_ADAPT_LONG_PATH,		/* base round trip beyond what the algorithm is for */
	QUELL_ADAPT_SLOW_PATH,		/* its increases would overrun the share of the path */
	QUELL_ADAPT_NOISE,		/* the hosts' noise is more than the target */
	QUELL_ADAPT_EARLY_LOSS,		/* the path drops before it delays */
	QUELL_ADAPT_DELAY_STAYS,	/* a smaller window does not make the delay smaller */
	QUELL_ADAPT_NO_MARKS,		/* no segment was marked CE */
	QUELL_ADAPT_NO_RECORDS,		/* no switch told of its load */
	QUELL_ADAPT_NO_DELAY,		/* no round-trip time was measured */
	QUELL_ADAPT_REASONS,
};

/* quell_adapt.flags */
#define QUELL_ADAPT_F_MARKED	0x1	/* a mark was seen */
#define QUELL_ADAPT_F_RECORD	0x2	/* a record was seen */
#define QUELL_ADAPT_F_OVER	0x4	/* the caller's: a round trip ended, unsampled */
#define QUELL_ADAPT_F_FULL	0x8	/* the caller's: the window is used up, no recovery */
#define QUELL_ADAPT_F_BEGUN	0x10	/* the caller's: in the first round trip of FIT */
#define QUELL_ADAPT_F_SEARCHED	0x20	/* the last cut was of START's window */
#define QUELL_ADAPT_F_CUT	0x40	/* the caller's: this episode of losses was cut for */
#define QUELL_ADAPT_F_ECE	0x80	/* the caller's: the ACK under way has ECN-Echo */
#define QUELL_ADAPT_F_SIGNAL	(QUELL_ADAPT_F_MARKED | QUELL_ADAPT_F_RECORD)

/**
 * struct quell_adapt_needs - what an algorithm is made for; constant
 * @signal:	      what it goes by, enum quell_adapt_signal
 * @longest_ns:	      longest base round trip for which delay is of use to it, ns
 * @slowest_bytes_ps: least share of the path that its increases do not overrun, bytes/s
 * @hold_offset:      where its parameters have the longest hold time at the receiver that it
 *		      allows for by a window of its own, ns; 0: it has none
 */
struct quell_adapt_needs {
	u8	signal;
	u32	longest_ns;
	u64	slowest_bytes_ps;
	u16	hold_offset;
};

/**
 * struct quell_adapt - state of one flow
 * @cubic:	  window of START and FALLBACK, and CUBIC's own state; FIT: the window it
 *		  began with, ssthresh_bytes what START had found before it drained the queue
 * @base_ns:	  least round-trip time, ns; 0 none yet
 * @stand_ns:	  standing round-trip time of the last whole round, ns; 0 none yet
 * @least_ns:	  least of the round under way, ns
 * @shown_ns:	  START: standing value that first showed a queue, ns
 * @first_ns:	  START: that of the first packet of the round under way, ns; 0 none
 * @noise_ns:	  what all packets of a round trip may be late by without a queue, ns
 * @aim_ns:	  the caller's: round-trip time that the algorithm steers for, ns; 0 none
 * @round_seq:	  the caller's: the round trip ends when more than this is acknowledged
 * @samples:	  round-trip times of the round under way
 * @rounds:	  START: rounds that measured the noise; FIT: in a row without a queue,
 *		  a mark or a record; FALLBACK: losses before the algorithm is tried again
 * @above:	  FIT: what rounds above the target count, less those that were not
 * @early:	  QUELL_ADAPT_EARLY_ROUNDS for each loss without a delay before, less the
 *		  rounds since
 * @looks:	  START: standing values above the target in a row
 * @tries:	  how often CUBIC took over since the flow began or was idle
 * @phase:	  enum quell_adapt_phase
 * @reason:	  enum quell_adapt_reason
 * @flags:	  QUELL_ADAPT_F_*
 */
struct quell_adapt {
	struct quell_cubic	cubic;
	u32			base_ns;
	u32			stand_ns;
	u32			least_ns;
	u32			shown_ns;
	u32			first_ns;
	u32			noise_ns;
	u32			aim_ns;
	u32			round_seq;
	u8			samples;
	u8			rounds;
	u8			above;
	u8			early;
	u8			looks:4;
	u8			tries:4;
	u8			phase;
	u8			reason;
	u8			flags;
};

/* Whether the algorithm's own decision counts. */
static inline bool quell_adapt_is_fit(const struct quell_adapt *a)
{
	return a->phase == QUELL_ADAPT_OFF || a->phase == QUELL_ADAPT_FIT;
}

/**
 * quell_adapt_room_ns() - queueing delay that a flow may cause
 * @base_ns: round-trip time without queues, ns
 *
 * Return: ns.
 */
static inline u64 quell_adapt_room_ns(u64 base_ns)
{
	return quell_max_u64(base_ns / QUELL_ADAPT_ROOM_SHARE, QUELL_ADAPT_ROOM_NS);
}

/**
 * quell_adapt_target_ns() - round-trip time a flow may steer for
 * @a: state of the flow
 *
 * Return: ns; 0 while no round-trip time is known.
 */
static inline u64 quell_adapt_target_ns(const struct quell_adapt *a)
{
	return a->base_ns ? quell_add_sat_u64(a->base_ns, quell_adapt_room_ns(a->base_ns)) : 0;
}

/* What the flow gets of the path: its window in a round trip, with the queue there is. */
static inline u64 quell_adapt_share_bytes_ps(const struct quell_adapt *a)
{
	return quell_mul_div_u64(a->cubic.window_q16 >> QUELL_Q16_SHIFT, QUELL_NS_PER_SEC,
				 quell_max_u64(a->stand_ns, a->base_ns));
}

/**
 * quell_adapt_told_ns() - the round-trip time that an algorithm is to go by
 * @a: state of the flow, @a->stand_ns known
 *
 * Return: ns, at least the base.
 */
static inline u64 quell_adapt_told_ns(const struct quell_adapt *a)
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
	if (needs->signal == QUELL_ADAPT_MARKS)
		return a->flags & QUELL_ADAPT_F_MARKED ? QUELL_ADAPT_FITS : QUELL_ADAPT_NO_MARKS;
	if (needs->signal == QUELL_ADAPT_RECORDS)
		return a->flags & QUELL_ADAPT_F_RECORD ? QUELL_ADAPT_FITS : QUELL_ADAPT_NO_RECORDS;
	if (!a->base_ns)
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

/* The least window of the search, but after a timeout, and of CUBIC. */
static inline u64 quell_adapt_floor_q16(u32 mss_bytes)
{
	return (u64)2 * mss_bytes << QUELL_Q16_SHIFT;
}

/*
 * So many losses before the algorithm is tried again, twice as many each time: where it gives up
 * again soon each try may search the path anew, and fill its buffer.
 */
static inline void quell_adapt_put_off(struct quell_adapt *a, u8 reason)
{
	a->rounds = reason ? 1U << a->tries : 0;
	if (reason && a->tries < QUELL_ADAPT_TRIES)
		a->tries++;
}

/* START is over, or the algorithm is tried again: it or CUBIC goes on with the window there is. */
static inline void quell_adapt_settle(struct quell_adapt *a,
				      const struct quell_adapt_needs *needs)
{
	a->reason = quell_adapt_obstacle(a, needs);
	a->phase = a->reason ? QUELL_ADAPT_FALLBACK : QUELL_ADAPT_FIT;
	a->looks = 0;
	a->above = 0;
	quell_adapt_put_off(a, a->reason);
}

static inline void quell_adapt_fall_back(struct quell_adapt *a, u64 window_q16, u32 mss_bytes,
					 u8 reason)
{
	quell_cubic_enter(&a->cubic, quell_max_u64(window_q16, quell_adapt_floor_q16(mss_bytes)));
	a->phase = QUELL_ADAPT_FALLBACK;
	a->reason = reason;
	a->flags &= ~QUELL_ADAPT_F_SEARCHED;
	quell_adapt_put_off(a, reason);
}

/* Looks for what the path carries, from @window_q16 on. */
static inline void quell_adapt_search(struct quell_adapt *a, u64 window_q16)
{
	quell_cubic_enter(&a->cubic, window_q16);
	a->cubic.ssthresh_bytes = ~0U;
	a->phase = QUELL_ADAPT_START;
	a->looks = 0;
	a->rounds = 0;
	a->first_ns = 0;
	a->flags &= ~QUELL_ADAPT_F_SEARCHED;
}

/**
 * quell_adapt_init() - start a flow
 * @a:		set in full
 * @pkts:	window to start with, segments, > 0
 * @mss_bytes:	maximum segment size, > 0
 *
 * Context: any; the caller serialises per flow, here and below.
 */
static inline void quell_adapt_init(struct quell_adapt *a, u32 pkts, u32 mss_bytes)
{
	*a = (struct quell_adapt) {};
	quell_adapt_search(a, (u64)pkts * mss_bytes << QUELL_Q16_SHIFT);
}

#endif /* _QUELL_CORE_ADAPT_VARS_H */

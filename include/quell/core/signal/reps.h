/* SPDX-License-Identifier: GPL-2.0 */
/*
 * REPS, recycled entropy packet spraying: the choice of a path for the next segment.
 *
 * A switch hashes a packet's entropy, so packets with different entropies spread
 * over all paths.  The entropy of a packet that was received unmarked was good, and is
 * used for one more packet; if no good entropy is left, one is drawn at random.
 * Thus paths that mark or lose packets fall out of use, and draws try them again.
 *
 *	ACK of an unmarked packet	its entropy into a ring of 8, over the oldest
 *	ACK of a marked one, no ACK	that entropy is not used again
 *	next segment			the oldest one in the ring, once; else a draw
 *	retransmission			a draw: the last one's path may be broken
 *
 *	           timeout, ring not empty               10 ms
 *	(normal) ---------------------------> (frozen) ---------+
 *	    ^                                                   |
 *	    +------- 16 draws ------- (exploring) <-------------+
 *
 * Frozen: a path has apparently failed.  Segments use the entropies of the ring in
 * turn, used or not, and the ring accepts no new ones.  Then the ring is emptied, and
 * the next 16 segments use draws.  A timeout while exploring has no effect.
 *
 * Differences: the simulator freezes only where switches trim, because a timeout without trimming
 * may be mere congestion.  TCP's timeout comes so late (200 ms) and so seldom (RACK and the tail
 * probe come first) that it always freezes the ring.  Packets trimmed on the last hop carry no
 * information about paths, but are not distinguished from others.
 *
 * A segment may be a burst of packets, each of which is acknowledged.  Its entropy
 * is still used only once more, and an entropy that was not sent is not accepted.
 * The first packet of the burst decides.
 *
 * Entropies are 1 .. entropies, so that they fit a byte; 0 means no entropy.  The
 * constant 64, the number of entropies, is not here: it is the caller's parameter.
 *
 * References: T. Bonato et al., "REPS: Recycled Entropy Packet Spraying for Adaptive Load Balancing
 * and Failure Mitigation"; SMaRTT, section II-A.  Constants are those of uet-htsim.
 */
#ifndef _QUELL_CORE_SIGNAL_REPS_H
#define _QUELL_CORE_SIGNAL_REPS_H

#include <quell/core/core.h>
#include <quell/core/port/red.h>

#define QUELL_REPS_RING			8U
#define QUELL_REPS_ENTROPIES_MAX	255U
#define QUELL_REPS_FREEZE_NS		10000000ULL
#define QUELL_REPS_EXPLORE		16U

/* Where an entropy came from. */
enum quell_reps_source {
	QUELL_REPS_FRESH,	/* drawn */
	QUELL_REPS_RECYCLED,	/* its last packet was received unmarked */
	QUELL_REPS_FROZEN,	/* the ring in turn, after a timeout */
};

/* The entropies of a flow. */
struct quell_reps {
	struct quell_red_vars	lottery;	/* for the draws */
	u64			thaw_ns;	/* end of the freeze; valid while @frozen */
	/* The newest good ones, 1 .. QUELL_REPS_ENTROPIES_MAX. */
	u8			ring[QUELL_REPS_RING];
	u8			head;	/* next to write, below QUELL_REPS_RING */
	u8			filled;	/* entries of @ring written since it was emptied */
	u8			unused;	/* entries before @head not used yet; at most @filled */
	u8			turn;	/* next to use while @frozen, below @filled */
	/* Segments still to use a draw regardless of @ring. */
	u8			explore;
	bool			frozen;	/* by a timeout */
	/* Segments not acknowledged yet; lost ones stay counted; saturates. */
	u8			out[QUELL_REPS_ENTROPIES_MAX + 1];
};

static inline void quell_reps_empty(struct quell_reps *reps)
{
	reps->head = 0;
	reps->filled = 0;
	reps->unused = 0;
	reps->turn = 0;
}

/* Equal seeds give equal draws. */
static inline void quell_reps_init(struct quell_reps *reps, u64 seed)
{
	u32 i;

	quell_red_seed(&reps->lottery, seed);
	quell_reps_empty(reps);
	for (i = 0; i <= QUELL_REPS_ENTROPIES_MAX; i++)
		reps->out[i] = 0;
	reps->thaw_ns = 0;
	reps->explore = 0;
	reps->frozen = false;
}

/* Even over 1 .. @entropies, to within 2^-24: a product's upper half. */
static inline u8 quell_reps_draw(struct quell_reps *reps, u32 entropies)
{
	return 1 + (((u64)quell_red_draw(&reps->lottery) * entropies) >> 32);
}

static inline void quell_reps_thaw(struct quell_reps *reps, u64 now_ns)
{
	if (!reps->frozen || now_ns < reps->thaw_ns)
		return;
	reps->frozen = false;
	reps->explore = QUELL_REPS_EXPLORE;
	quell_reps_empty(reps);
}

/* While frozen @filled is not 0. */
static inline u8 quell_reps_in_turn(struct quell_reps *reps)
{
	u8 entropy = reps->ring[reps->turn];

	reps->turn = reps->turn + 1 < reps->filled ? reps->turn + 1 : 0;
	return entropy;
}

/* The oldest unused entropy: @unused is not 0. */
static inline u8 quell_reps_oldest(struct quell_reps *reps)
{
	u32 place = (reps->head - reps->unused) & (QUELL_REPS_RING - 1);

	reps->unused--;
	return reps->ring[place];
}

static inline u8 quell_reps_choose(struct quell_reps *reps, u32 entropies, bool again,
				   enum quell_reps_source *source)
{
	if (reps->frozen) {
		*source = QUELL_REPS_FROZEN;
		return quell_reps_in_turn(reps);
	}
	if (!again && !reps->explore && reps->unused) {
		*source = QUELL_REPS_RECYCLED;
		return quell_reps_oldest(reps);
	}
	if (reps->explore)
		reps->explore--;
	*source = QUELL_REPS_FRESH;
	return quell_reps_draw(reps, entropies);
}

/*
 * Entropy, not 0, of 1 .. QUELL_REPS_ENTROPIES_MAX.  A recycled one may exceed @entropies if that
 * number was larger before.  @again: it is a retransmission.
 */
static inline u8 quell_reps_next(struct quell_reps *reps, u32 entropies, bool again,
				 u64 now_ns, enum quell_reps_source *source)
{
	u8 entropy;

	quell_reps_thaw(reps, now_ns);
	entropy = quell_reps_choose(reps, entropies, again, source);
	if (reps->out[entropy] < (u8)~0)
		reps->out[entropy]++;
	return entropy;
}

/*
 * Use no entropy again that came back until now.  Also ends a freeze: the next segments have draws.
 */
static inline void quell_reps_forget(struct quell_reps *reps)
{
	quell_reps_empty(reps);
	reps->frozen = false;
}

/* @entropy is as the peer reported it: any value.  Returns whether it will be used again. */
static inline bool quell_reps_echo(struct quell_reps *reps, u32 entropies, u8 entropy,
				   bool marked)
{
	if (!entropy || !reps->out[entropy])
		return false;
	reps->out[entropy]--;
	if (marked || entropy > entropies || reps->frozen)
		return false;
	reps->ring[reps->head] = entropy;
	reps->head = (reps->head + 1) & (QUELL_REPS_RING - 1);
	if (reps->filled < QUELL_REPS_RING)
		reps->filled++;
	if (reps->unused < QUELL_REPS_RING)
		reps->unused++;
	return true;
}

static inline void quell_reps_on_rto(struct quell_reps *reps, u64 now_ns)
{
	if (reps->frozen || reps->explore || !reps->filled)
		return;
	reps->frozen = true;
	reps->thaw_ns = quell_add_sat_u64(now_ns, QUELL_REPS_FREEZE_NS);
	reps->turn = 0;
}

#endif /* _QUELL_CORE_SIGNAL_REPS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fitting an algorithm to the path: how a flow starts, what delay it may steer for,
 * and when its algorithm has nothing to go by.
 *
 * The papers' algorithms are made for one network whose round-trip time, line rate
 * and noise are known, and start at line rate.  A host that is told nothing about its
 * network knows none of these.  This decides, for a flow of any of them, who
 * governs the window:
 *
 *	START	 nobody yet.  The window doubles per round trip from ten segments
 *		 until the path shows a queue, a mark, a record or a loss (RFC 5681;
 *		 the end by delay as in RFC 9406, with a second look).  It then goes back
 *		 to what the path carries without that queue.  A loss in the first four
 *		 rounds tells nothing of the noise yet: START goes on as CUBIC does.
 *	FIT	 the algorithm, which begins with that window.
 *	FALLBACK CUBIC (RFC 9438), where the algorithm's signal is not there: see
 *		 enum quell_adapt_reason.
 *
 * The delay signal.  A host's noise is never negative, so of the round-trip times of one
 * round trip, and of at least eight where the window has as many, the smallest is the one
 * to go by: the standing one.  The least ever seen is the base.  The time that a receiver
 * says it held an acknowledgment is left out of both.  At high rates all packets of a round
 * trip may be late together, so the noise is measured, too, in START: what the first packet
 * of a round trip is later than all others, for it finds no more of the flow's own queue
 * than they; and what the standing time fell although the window grew, for no queue of the
 * flow's own does.  The target is the base and a fourth of it, or QUELL_ADAPT_ROOM_NS if
 * that is more; it replaces a target that nobody named.  What the algorithm is told is the
 * standing time without the noise.
 *
 * In FIT it is watched whether the signal stays:
 *
 *	delay	 No queue for eight rounds: the path has more to give than the
 *		 algorithm's additive increase finds, and the flow starts again from the
 *		 window it has.  A delay that stays a fourth above what the algorithm steers
 *		 for although the window went down to half: others fill the queue, or
 *		 the path became longer; CUBIC governs.  So it does after two losses
 *		 soon after each other without a delay.  With the next loss the algorithm
 *		 is tried again; if it gives up again, with the second from then, the
 *		 fourth, and so on.
 *	records	 None for sixteen rounds: CUBIC governs until the next.
 *	marks	 A loss after sixteen rounds without: CUBIC governs until the next.
 *
 * Like all cores this knows no packet and no clock.
 *
 * Papers: RFC 5681, RFC 9406, RFC 9438; the idea of a standing round-trip time:
 * Arun and Balakrishnan, "Copa", NSDI 2018, section 2.
 */
#ifndef _QUELL_CORE_ADAPT_REACT_H
#define _QUELL_CORE_ADAPT_REACT_H

#include <quell/core/adapt/start.h>
#include <quell/core/adapt/vars.h>

/* Whether enough was seen for a standing time: of a small window, all of it. */
static inline bool quell_adapt_has_round(const struct quell_adapt *a,
					 const struct quell_sample *s, u64 window_q16)
{
	u64 pkts = quell_div_u64(window_q16 >> QUELL_Q16_SHIFT, s->mss_bytes);

	return a->samples >= quell_min_u64(quell_max_u64(pkts, QUELL_ADAPT_SAMPLES_LEAST),
					   QUELL_ADAPT_SAMPLES);
}

/*
 * The round-trip time that the algorithm steers for.  A target that somebody named and that
 * no packet can meet is taken as it is: the algorithm gives up for it.
 */
static inline u64 quell_adapt_aim_ns(const struct quell_adapt *a)
{
	if (a->aim_ns && a->aim_ns < a->base_ns)
		return a->aim_ns;
	return quell_max_u64(quell_adapt_target_ns(a), a->aim_ns);
}

/*
 * How often the delay stayed above although the window went down to half, less how often it
 * did not.  A round of a window that takes several to send a segment counts for more; where
 * the hosts are noisy, one of a window too small to see through the noise.
 */
static inline void quell_adapt_count_above(struct quell_adapt *a, bool above, u64 window_bytes,
					   u32 mss_bytes)
{
	u64 small_bytes = quell_adapt_is_quiet(a) ? mss_bytes / 4 :
			  (u64)QUELL_ADAPT_SAMPLES * mss_bytes;
	u8 weight = window_bytes < small_bytes ? QUELL_ADAPT_ABOVE_SMALL : 1;

	if (window_bytes >= a->cubic.ssthresh_bytes / 2)
		a->above = 0;
	else if (above)
		a->above += weight;
	else
		a->above = quell_sub_sat_u64(a->above, weight);
}

/* A round of FIT, of an algorithm that goes by delay. */
static inline void quell_adapt_fit_round(struct quell_adapt *a, const struct quell_sample *s,
					 u64 window_q16)
{
	u64 quiet_ns = (u64)a->base_ns + quell_adapt_room_ns(a->base_ns) / 4;
	u64 aim_ns = quell_adapt_aim_ns(a);
	u64 window_bytes = window_q16 >> QUELL_Q16_SHIFT;
	bool above = quell_adapt_told_ns(a) > aim_ns + aim_ns / 4;
	u32 found_bytes;

	/* What cuts for a target that no packet meets finds no queue, and has none to look for. */
	if (quell_adapt_told_ns(a) > quell_min_u64(quiet_ns, aim_ns) ||
	    s->flags & QUELL_S_APP_LIMITED) {
		a->rounds = 0;
	} else if (++a->rounds >= QUELL_ADAPT_QUIET_ROUNDS) {
		quell_adapt_search(a, window_q16);
		return;
	}
	if (above)
		a->early = 0;
	else if (a->early)
		a->early--;
	quell_adapt_count_above(a, above, window_bytes, s->mss_bytes);
	if (a->above < QUELL_ADAPT_ABOVE_ROUNDS)
		return;
	found_bytes = a->cubic.ssthresh_bytes;
	quell_adapt_fall_back(a, window_q16, s->mss_bytes, QUELL_ADAPT_DELAY_STAYS);
	/* More likely than another's queue: what was cut was cut for the noise. */
	if (!quell_adapt_is_quiet(a))
		a->cubic.ssthresh_bytes = quell_max_u64(a->cubic.ssthresh_bytes, found_bytes / 2);
}

/* A round of FIT, of an algorithm that goes by marks or records. */
static inline void quell_adapt_told_round(struct quell_adapt *a,
					  const struct quell_adapt_needs *needs, u64 window_q16,
					  u32 mss_bytes)
{
	if (a->flags & QUELL_ADAPT_F_SIGNAL)
		a->rounds = 0;
	else if (a->rounds < QUELL_ADAPT_SILENT_ROUNDS)
		a->rounds++;
	a->flags &= ~QUELL_ADAPT_F_SIGNAL;
	if (a->rounds >= QUELL_ADAPT_SILENT_ROUNDS && needs->signal == QUELL_ADAPT_RECORDS)
		quell_adapt_fall_back(a, window_q16, mss_bytes, QUELL_ADAPT_NO_RECORDS);
}

static inline void quell_adapt_round(struct quell_adapt *a,
				     const struct quell_adapt_needs *needs,
				     const struct quell_sample *s, u64 window_q16)
{
	a->stand_ns = a->least_ns;
	a->samples = 0;
	if (a->phase != QUELL_ADAPT_FIT)
		return;
	if (needs->signal == QUELL_ADAPT_DELAY)
		quell_adapt_fit_round(a, s, window_q16);
	else
		quell_adapt_told_round(a, needs, window_q16, s->mss_bytes);
}

/**
 * quell_adapt_on_ack() - new data was acknowledged
 * @a:		state of the flow
 * @needs:	what its algorithm is made for
 * @s:		what the ACK said
 * @window_q16:	window that was in force, bytes Q16
 * @round:	the ACK ends a round trip
 *
 * Return: true when FIT begins: the algorithm is to start with the window
 * @a->cubic.window_q16.
 */
static inline bool quell_adapt_on_ack(struct quell_adapt *a,
				      const struct quell_adapt_needs *needs,
				      const struct quell_sample *s, u64 window_q16, bool round)
{
	u8 before = a->phase;

	quell_adapt_observe(a, s);
	if (a->phase == QUELL_ADAPT_START)
		quell_adapt_start_grow(a, needs, s);
	else if (a->phase == QUELL_ADAPT_FALLBACK)
		quell_adapt_cubic(a, s);
	if (a->phase == QUELL_ADAPT_START && round)
		quell_adapt_start_round(a, s);
	if (a->samples >= QUELL_ADAPT_SAMPLES && a->phase == QUELL_ADAPT_START &&
	    quell_adapt_may_look(a, round))
		quell_adapt_start_look(a, needs, s->mss_bytes);
	else if (round && quell_adapt_has_round(a, s, window_q16))
		quell_adapt_round(a, needs, s, window_q16);
	/* Marks and records are there or not; delay takes a round to be told. */
	if (needs->signal != QUELL_ADAPT_DELAY && !quell_adapt_is_fit(a) &&
	    !quell_adapt_obstacle(a, needs))
		quell_adapt_settle(a, needs);
	return a->phase == QUELL_ADAPT_FIT && before != QUELL_ADAPT_FIT;
}

/**
 * quell_adapt_take_over() - the connection had losses before, under another algorithm
 * @a:		    state of the flow, just set up
 * @ssthresh_bytes: where slow start was to end
 *
 * The path was searched already: no other search than the stack's own algorithms would make.
 */
static inline void quell_adapt_take_over(struct quell_adapt *a, u64 ssthresh_bytes)
{
	u64 window_bytes = a->cubic.window_q16 >> QUELL_Q16_SHIFT;

	a->cubic.ssthresh_bytes = quell_min_u64(quell_max_u64(ssthresh_bytes, window_bytes),
						QUELL_U32_MAX);
	a->cubic.prior_bytes = window_bytes;
}

/* Why a loss ends FIT; QUELL_ADAPT_FITS if it is the algorithm's affair. */
static inline u8 quell_adapt_loss_obstacle(const struct quell_adapt *a,
					   const struct quell_adapt_needs *needs)
{
	if (needs->signal == QUELL_ADAPT_DELAY && a->early > QUELL_ADAPT_EARLY_ROUNDS)
		return QUELL_ADAPT_EARLY_LOSS;
	if (needs->signal == QUELL_ADAPT_MARKS && a->rounds >= QUELL_ADAPT_SILENT_ROUNDS)
		return QUELL_ADAPT_NO_MARKS;
	return QUELL_ADAPT_FITS;
}

/*
 * Counts a loss where CUBIC governs; true for the one at which the algorithm is tried again:
 * what stood in the queue was others' and is gone, or was of flows like this one, all of
 * which have CUBIC now and find out together.  Where the hosts are noisy delay tells little,
 * and a wrong try costs much.
 */
static inline bool quell_adapt_count_loss(struct quell_adapt *a)
{
	if (a->reason != QUELL_ADAPT_DELAY_STAYS && a->reason != QUELL_ADAPT_EARLY_LOSS)
		return false;
	if (a->rounds)
		a->rounds--;
	if (a->rounds || !quell_adapt_is_quiet(a))
		return false;
	a->early = 0;
	return true;
}

/* For quell_adapt_on_undo(). */
static inline void quell_adapt_note_cut(struct quell_adapt *a)
{
	a->flags &= ~QUELL_ADAPT_F_SEARCHED;
	if (a->phase == QUELL_ADAPT_START)
		a->flags |= QUELL_ADAPT_F_SEARCHED;
}

/**
 * quell_adapt_cut() - a loss, or a mark that means one, where the algorithm does not govern
 * @a:	   state of the flow
 * @needs: what its algorithm is made for
 * @s:	   mss_bytes
 *
 * A mark once per round trip: RFC 3168, 6.1.2.
 *
 * Return: true when FIT begins.
 */
static inline bool quell_adapt_cut(struct quell_adapt *a,
				   const struct quell_adapt_needs *needs,
				   const struct quell_sample *s)
{
	if (quell_adapt_is_fit(a))
		return false;
	quell_adapt_note_cut(a);
	quell_cubic_on_loss(&a->cubic, s->mss_bytes);
	if (a->phase == QUELL_ADAPT_START ? !quell_adapt_may_settle(a, needs) :
					    !quell_adapt_count_loss(a))
		return false;
	quell_adapt_settle(a, needs);
	return a->phase == QUELL_ADAPT_FIT;
}

/**
 * quell_adapt_on_loss() - fast retransmit began
 * @a:		state of the flow
 * @needs:	what its algorithm is made for
 * @s:		mss_bytes and now_ns
 * @window_q16:	window that was in force, bytes Q16
 *
 * Return: true when FIT begins.
 */
static inline bool quell_adapt_on_loss(struct quell_adapt *a,
				       const struct quell_adapt_needs *needs,
				       const struct quell_sample *s, u64 window_q16)
{
	u8 reason;

	if (needs->signal == QUELL_ADAPT_DELAY &&
	    quell_adapt_told_ns(a) <= quell_adapt_target_ns(a))
		a->early = quell_min_u64(a->early + QUELL_ADAPT_EARLY_ROUNDS,
					 2 * QUELL_ADAPT_EARLY_ROUNDS);
	if (a->phase == QUELL_ADAPT_FIT) {
		quell_adapt_note_cut(a);
		reason = quell_adapt_loss_obstacle(a, needs);
		if (!reason)
			return false;
		quell_adapt_fall_back(a, window_q16, s->mss_bytes, reason);
		quell_cubic_on_loss(&a->cubic, s->mss_bytes);
		return false;
	}
	return quell_adapt_cut(a, needs, s);
}

/**
 * quell_adapt_on_rto() - the retransmission timer expired
 * @a:	   state of the flow
 * @s:	   mss_bytes
 * @again: in an episode of losses that was told already
 *
 * In FIT the algorithm says what a timeout means.
 */
static inline void quell_adapt_on_rto(struct quell_adapt *a, const struct quell_sample *s,
				      bool again)
{
	if (!again)
		quell_adapt_note_cut(a);
	if (quell_adapt_is_fit(a))
		return;
	quell_cubic_on_rto(&a->cubic, s->mss_bytes, again);
	if (a->phase == QUELL_ADAPT_FALLBACK)
		a->rounds = 0;
	a->phase = QUELL_ADAPT_START;
	a->looks = 0;
	a->first_ns = 0;
}

/**
 * quell_adapt_on_undo() - the losses of the last episode were spurious
 * @a: state of the flow
 *
 * A search that they ended goes on, whoever governs since.
 */
static inline void quell_adapt_on_undo(struct quell_adapt *a)
{
	a->early = quell_sub_sat_u64(a->early, QUELL_ADAPT_EARLY_ROUNDS);
	if (a->flags & QUELL_ADAPT_F_SEARCHED) {
		if (a->phase != QUELL_ADAPT_START)
			a->rounds = QUELL_ADAPT_NOISE_ROUNDS;
		a->phase = QUELL_ADAPT_START;
		a->looks = 0;
		a->flags &= ~QUELL_ADAPT_F_SEARCHED;
	}
	if (!quell_adapt_is_fit(a))
		quell_cubic_undo(&a->cubic);
}

/**
 * quell_adapt_on_idle() - sending starts after nothing was outstanding
 * @a:		state of the flow
 * @s:		mss_bytes
 * @window_q16:	window that was in force, bytes Q16
 *
 * After a retransmission timeout's time the path may be another (RFC 5681, 4.1).  The
 * search goes from ten segments, or the window that was, up to that; what was against the
 * algorithm is looked at anew, and half of the noise is still believed.  Where the delay
 * stayed the path may have become longer: its base is measured anew.
 *
 * Context: the caller knows that the flow was idle for so long.
 */
static inline void quell_adapt_on_idle(struct quell_adapt *a, const struct quell_sample *s,
				       u64 window_q16)
{
	u64 first_q16 = quell_init_window_q16(s->mss_bytes);
	u32 threshold_bytes = a->phase == QUELL_ADAPT_START ?
			      a->cubic.ssthresh_bytes : window_q16 >> QUELL_Q16_SHIFT;

	a->samples = 0;
	a->early = 0;
	a->noise_ns /= 2;
	if (a->phase == QUELL_ADAPT_FIT && window_q16 <= first_q16)
		return;
	if (a->phase == QUELL_ADAPT_FALLBACK && a->reason == QUELL_ADAPT_DELAY_STAYS)
		a->base_ns = 0;
	a->flags &= ~QUELL_ADAPT_F_SIGNAL;
	quell_adapt_search(a, quell_min_u64(first_q16,
					    quell_max_u64(window_q16,
							  quell_adapt_floor_q16(s->mss_bytes))));
	a->cubic.ssthresh_bytes = threshold_bytes;
	a->tries = 0;
}

#endif /* _QUELL_CORE_ADAPT_REACT_H */

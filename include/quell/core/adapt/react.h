/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fitting an algorithm to the path: how a flow starts, its target delay, and when
 * its algorithm lacks its signal.
 *
 * The papers' algorithms are made for one network of which round-trip time, line rate and noise are
 * known, and start at line rate.  A host without configuration for its network does not know these
 * values.  The code here decides, for a flow of any algorithm, which phase governs the window:
 *
 *	START	 the search.  The window doubles per round trip from ten segments
 *		 until the path shows a queue, a mark, a record or a loss (RFC 5681;
 *		 the end by delay as in RFC 9406, after more checks).  It then
 *		 returns to the window that the path carries without that queue.  After
 *		 a loss in the first four rounds the noise is still unknown: START goes
 *		 on as CUBIC does.
 *	FIT	 the algorithm, which begins with the window that START found.
 *	FALLBACK CUBIC (RFC 9438), where the algorithm's signal is missing, or the path is not
 *		 one that it is made for: see enum quell_adapt_reason.
 *
 * The delay signal.  A host's noise is never negative, so of the round-trip times of one round
 * trip, and of at least eight where the window has as many, the smallest is used: it is called the
 * standing round-trip time.  The smallest of the whole flow is the base, of full packets once there
 * were any.  Both exclude the time for which the receiver reports that it held an acknowledgment;
 * the standing one also excludes the time of the flow's own burst at the slowest hop
 * (quell_adapt_queue_ns()).  At high rates all packets of a round trip may be late together, so
 * START also measures the noise, in two ways: by how much the first packet of a round trip is later
 * than all others, since it meets no more of the flow's own queue than they do; and by how much the
 * standing time falls although the window grows, since the flow's own queue cannot shrink then.
 * The target is the base plus a fourth of it, or plus QUELL_ADAPT_ROOM_NS if that is more; it is
 * the target of an algorithm without a configured one.  The algorithm uses the standing time minus
 * the noise.
 *
 * Marks end START where the queue stands, quell_adapt_start_marked(): bursts cause marks, too.
 * Where there are marks but the path is too long or too slow for an algorithm that uses them,
 * its timers and steps would fill the buffer before their effect is seen.  CUBIC governs, and
 * the marks of each round reduce its window by half of the bytes marked, as DCTCP's do, but by no
 * more than a loss does, unless the delay shows a longer queue.
 *
 * FIT monitors whether the signal persists:
 *
 *	delay	 No queue for eight rounds: the path has more capacity than the
 *		 algorithm's additive increase finds, and the flow searches again from
 *		 its current window.  A delay that stays a fourth above the target of the
 *		 algorithm although the window fell to half: other flows fill the queue,
 *		 or the path became longer; CUBIC governs.  CUBIC also governs after two
 *		 losses in quick succession without a delay.  At the next loss the
 *		 algorithm is tried again; if CUBIC takes over again, the following try
 *		 waits for two losses, then for four, and so on.
 *	records	 No record for sixteen rounds: CUBIC governs until the next record.
 *	marks	 A loss after sixteen rounds without a mark: CUBIC governs until the
 *		 next mark.  Those of the first round of FIT are of data that START sent, and
 *		 are not reported to the algorithm.
 *
 * Like all cores this code has no access to packets or clocks.
 *
 * Papers: RFC 5681, RFC 8257, RFC 9406, RFC 9438; the idea of a standing round-trip time:
 * Arun and Balakrishnan, "Copa", NSDI 2018, section 2.
 */
#ifndef _QUELL_CORE_ADAPT_REACT_H
#define _QUELL_CORE_ADAPT_REACT_H

#include <quell/core/adapt/start.h>
#include <quell/core/adapt/vars.h>

/* Whether there are enough samples for a standing time: all packets of a small window. */
static inline bool quell_adapt_has_round(const struct quell_adapt *a,
					 const struct quell_sample *s, u64 window_q16)
{
	u64 pkts = quell_div_u64(window_q16 >> QUELL_Q16_SHIFT, s->mss_bytes);

	return a->samples >= quell_min_u64(quell_max_u64(pkts, QUELL_ADAPT_SAMPLES_LEAST),
					   QUELL_ADAPT_SAMPLES);
}

/*
 * The target round-trip time of the algorithm.  A configured target below the base, which no
 * packet can meet, is used unchanged: the delay stays above it, and CUBIC takes over.
 */
static inline u64 quell_adapt_aim_ns(const struct quell_adapt *a)
{
	if (a->aim_ns && a->aim_ns < a->base_ns)
		return a->aim_ns;
	return quell_max_u64(quell_adapt_target_ns(a), a->aim_ns);
}

/*
 * Counts the rounds in which the delay stayed above the target although the window fell to half,
 * less the rounds in which the delay did not.  A round counts for more if the window is so small
 * that a segment takes several rounds or, with noisy hosts, too small to filter the noise.
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

/*
 * Whether the application limits the flow.  One that writes little by little has often no more
 * data to send, although its window is used up in each round trip.
 */
static inline bool quell_adapt_is_limited(const struct quell_adapt *a,
					  const struct quell_sample *s)
{
	return s->flags & QUELL_S_APP_LIMITED && !(a->flags & QUELL_ADAPT_F_FULL);
}

/*
 * Whether the delay is above the target by more than the flow's own queue explains: by a fourth.
 * Any delay counts if the window is less than a fourth of a segment and than half of the least
 * share, that is, than the increase of one round: decreases only leave the path unused.
 */
static inline bool quell_adapt_is_above(const struct quell_adapt *a,
					const struct quell_adapt_needs *needs, u64 window_bytes,
					u32 mss_bytes)
{
	u64 aim_ns = quell_adapt_aim_ns(a);
	u64 least_bytes = quell_mul_div_u64(needs->slowest_bytes_ps, aim_ns, QUELL_NS_PER_SEC);
	u64 small_bytes = quell_min_u64(least_bytes / 2, mss_bytes / 4);

	return quell_adapt_algo_rtt_ns(a) >
	       aim_ns + (window_bytes < small_bytes ? 0 : aim_ns / 4);
}

/* A round of FIT, for an algorithm that uses delay. */
static __rare void quell_adapt_fit_round(struct quell_adapt *a,
					 const struct quell_adapt_needs *needs,
					 const struct quell_sample *s, u64 window_q16)
{
	u64 quiet_ns = (u64)a->base_ns + quell_adapt_room_ns(a->base_ns) / 4;
	u64 aim_ns = quell_adapt_aim_ns(a);
	u64 window_bytes = window_q16 >> QUELL_Q16_SHIFT;
	bool above = quell_adapt_is_above(a, needs, window_bytes, s->mss_bytes);
	u32 found_bytes;

	/* A target that no packet can meet keeps the queue empty: that is no reason to search. */
	if (quell_adapt_algo_rtt_ns(a) > quell_min_u64(quiet_ns, aim_ns) ||
	    quell_adapt_is_limited(a, s)) {
		a->rounds = 0;
	} else if (++a->rounds >= QUELL_ADAPT_QUIET_ROUNDS) {
		quell_adapt_search(a, window_q16);
		/* At the rate of delivery the window takes longer: bursts hide a queue. */
		if (window_bytes * a->byte_ns_q16 >> QUELL_Q16_SHIFT > quell_adapt_target_ns(a))
			a->flags |= QUELL_ADAPT_F_AGAIN;
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
	/* With noisy hosts the noise, not a queue of other flows, likely caused the reductions. */
	if (!quell_adapt_is_quiet(a))
		a->cubic.ssthresh_bytes = quell_max_u64(a->cubic.ssthresh_bytes, found_bytes / 2);
}

/* A round of FIT, for an algorithm that uses marks or records. */
static inline void quell_adapt_signalled_round(struct quell_adapt *a,
					       const struct quell_adapt_needs *needs,
						       u64 window_q16,
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

/* Marks reduce CUBIC's window. */
static inline void quell_adapt_reduce_marked(struct quell_adapt *a, u32 marked_bytes, u32 mss_bytes)
{
	u64 path_q16 = a->cubic.window_q16;

	if (a->stand_ns > a->base_ns)
		path_q16 = quell_mul_div_u64(path_q16, a->base_ns, a->stand_ns);
	quell_cubic_on_marks(&a->cubic, marked_bytes, path_q16, mss_bytes);
	a->above = QUELL_ADAPT_REDUCED_BY_MARKS;
}

/*
 * A round of START with marks.  Marks slow the search, as a delay does, but bursts cause them,
 * too: the first window is one, and on a long path the ACKs of slow start come as one.  The
 * search ends if the queue stands, that is if also the first packet of the round was late, and
 * half of the round was marked or it was the QUELL_ADAPT_CHECKS-th in a row.  For the algorithm the
 * window then returns by as much as was marked: it grew by that, too.  For CUBIC these are marks as
 * any other: of a long round trip a small queue marks all packets.
 */
static __rare void quell_adapt_start_marked(struct quell_adapt *a,
					    const struct quell_adapt_needs *needs,
					    u32 marked_bytes, u32 mss_bytes)
{
	u64 late_ns = quell_max_u64(a->base_ns / QUELL_ADAPT_LATE_SHARE, QUELL_ADAPT_LATE_NS);
	u64 marked_q16 = (u64)marked_bytes << QUELL_Q16_SHIFT, found_q16 = a->cubic.window_q16;

	if (!marked_bytes || !a->rounds) {
		a->above = 0;
		return;
	}
	if (a->above < QUELL_ADAPT_CHECKS)
		a->above++;
	if (quell_sub_sat_u64(a->first_ns, a->noise_ns) < a->base_ns + late_ns ||
	    (a->above < QUELL_ADAPT_CHECKS && marked_q16 < a->cubic.window_q16 / 4))
		return;
	quell_cubic_enter(&a->cubic, quell_cubic_less_q16(&a->cubic, marked_q16, mss_bytes));
	a->flags &= ~QUELL_ADAPT_F_SEARCHED;
	quell_adapt_settle(a, needs);
	if (a->phase == QUELL_ADAPT_FIT) {
		a->flags |= QUELL_ADAPT_F_BEGUN;
		return;
	}
	quell_cubic_enter(&a->cubic, found_q16);
	quell_adapt_reduce_marked(a, marked_bytes, mss_bytes);
}

/*
 * A round of CUBIC on a path that has marks but does not fit the algorithm: half of the bytes
 * marked in a round are taken off the window, without those of data sent before the last reduction.
 * Without a mark for QUELL_ADAPT_QUIET_ROUNDS, and with the window of before the last reduction
 * regained, there is capacity of which that loss did not leave the flow a part.  Below that window
 * a receiver could gain by a mark after each loss.
 */
static __rare void quell_adapt_cubic_marked(struct quell_adapt *a, u32 marked_bytes, u32 mss_bytes)
{
	u8 reduced = a->above;

	a->above = reduced == QUELL_ADAPT_REDUCED_BY_LOSS ? QUELL_ADAPT_REDUCED_BEFORE : 0;
	if (marked_bytes) {
		a->rounds = 0;
		if (!reduced)
			quell_adapt_reduce_marked(a, marked_bytes, mss_bytes);
		return;
	}
	if (a->rounds >= QUELL_ADAPT_QUIET_ROUNDS)
		return;
	if (a->rounds + 1 == QUELL_ADAPT_QUIET_ROUNDS &&
	    a->cubic.window_q16 >> QUELL_Q16_SHIFT < a->cubic.prior_bytes)
		return;
	if (++a->rounds == QUELL_ADAPT_QUIET_ROUNDS)
		quell_cubic_probe(&a->cubic);
}

/* A round of an algorithm that uses marks and does not govern. */
static inline void quell_adapt_marked_round(struct quell_adapt *a,
					    const struct quell_adapt_needs *needs, u32 mss_bytes)
{
	u32 marked_bytes = a->cubic.marked_bytes;

	a->cubic.marked_bytes = 0;
	if (needs->signal != QUELL_ADAPT_MARKS)
		return;
	if (a->phase == QUELL_ADAPT_START)
		quell_adapt_start_marked(a, needs, marked_bytes, mss_bytes);
	else if (a->phase == QUELL_ADAPT_FALLBACK && a->reason != QUELL_ADAPT_NO_MARKS)
		quell_adapt_cubic_marked(a, marked_bytes, mss_bytes);
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
		quell_adapt_fit_round(a, needs, s, window_q16);
	else
		quell_adapt_signalled_round(a, needs, window_q16, s->mss_bytes);
}

/*
 * Whether the signal came that the algorithm lacked: a single record is enough, or a single mark
 * where CUBIC governs for want of marks.  Delay takes a round to measure.
 */
static inline bool quell_adapt_has_signal(const struct quell_adapt *a,
					  const struct quell_adapt_needs *needs)
{
	if (needs->signal == QUELL_ADAPT_RECORDS)
		return !quell_adapt_is_fit(a) && a->flags & QUELL_ADAPT_F_RECORD;
	return a->phase == QUELL_ADAPT_FALLBACK && a->reason == QUELL_ADAPT_NO_MARKS &&
	       a->flags & QUELL_ADAPT_F_MARKED;
}

/*
 * Returns true when FIT begins: the algorithm starts with the window @a->cubic.window_q16.  @round:
 * the ACK ends a round trip.
 */
static inline bool quell_adapt_on_ack(struct quell_adapt *a,
				      const struct quell_adapt_needs *needs,
				      const struct quell_sample *s, u64 window_q16, bool round)
{
	u8 before = a->phase;

	if (round && a->first)
		a->first--;
	quell_adapt_observe(a, needs, s);
	if (a->phase == QUELL_ADAPT_START)
		quell_adapt_start_grow(a, needs, s);
	else if (a->phase == QUELL_ADAPT_FALLBACK)
		quell_adapt_cubic(a, s);
	if (round)
		quell_adapt_marked_round(a, needs, s->mss_bytes);
	if (a->phase == QUELL_ADAPT_START && round)
		quell_adapt_start_round(a, s);
	if (a->samples >= QUELL_ADAPT_SAMPLES && a->phase == QUELL_ADAPT_START &&
	    quell_adapt_may_check(a, round))
		quell_adapt_start_check(a, needs, s->mss_bytes);
	else if (round && quell_adapt_has_round(a, s, window_q16))
		quell_adapt_round(a, needs, s, window_q16);
	if (quell_adapt_has_signal(a, needs))
		quell_adapt_settle(a, needs);
	return a->phase == QUELL_ADAPT_FIT && before != QUELL_ADAPT_FIT;
}

/* Whether marks are of data that the search sent: it reduced its window for them. */
static inline bool quell_adapt_has_responded(const struct quell_adapt *a,
					     const struct quell_adapt_needs *needs)
{
	return needs->signal == QUELL_ADAPT_MARKS && a->phase == QUELL_ADAPT_FIT &&
	       a->flags & QUELL_ADAPT_F_BEGUN;
}

/*
 * Make of an ACK's sample the one that the algorithm gets, after quell_adapt_on_ack().  An
 * algorithm that uses delay gets the standing round-trip time, once, and the base.  @remote_ns:
 * hold time that the receiver reported; 0 if the algorithm has no use for it.
 */
static inline void quell_adapt_filter(const struct quell_adapt *a,
				      const struct quell_adapt_needs *needs,
				      struct quell_sample *s, u64 remote_ns)
{
	if (needs->signal != QUELL_ADAPT_DELAY)
		return;
	if (!quell_adapt_is_limited(a, s))
		s->flags &= ~QUELL_S_APP_LIMITED;
	if (!s->rtt_ns || !a->stand_ns)
		return;
	s->rtt_ns = quell_adapt_algo_rtt_ns(a) + remote_ns;
	s->min_rtt_ns = a->base_ns;
	s->remote_ns = remote_ns;
	if (!a->samples)
		return;
	s->flags |= QUELL_S_RTT_OLD;
	s->flags &= ~QUELL_S_SEGMENT_DONE;
}

/*
 * The connection had losses before, under another algorithm, which searched the path already: slow
 * start ends where it ended there.
 */
static inline void quell_adapt_take_over(struct quell_adapt *a, u64 ssthresh_bytes)
{
	u64 window_bytes = a->cubic.window_q16 >> QUELL_Q16_SHIFT;

	a->cubic.ssthresh_bytes = quell_min_u64(quell_max_u64(ssthresh_bytes, window_bytes),
						QUELL_U32_MAX);
	a->cubic.prior_bytes = window_bytes;
	a->first = 0;
}

/* Why a loss ends FIT; QUELL_ADAPT_FITS if the algorithm handles the loss. */
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
 * Counts a loss while CUBIC governs; true if the algorithm is to be tried again at this loss: the
 * queue of other flows has drained, or it belonged to flows like this one, which all use CUBIC now
 * and try again together.  With noisy hosts delay is a weak signal and a wrong try is expensive.
 */
static inline bool quell_adapt_count_loss(struct quell_adapt *a,
					  const struct quell_adapt_needs *needs)
{
	if (a->reason != QUELL_ADAPT_DELAY_STAYS && a->reason != QUELL_ADAPT_EARLY_LOSS)
		return !quell_adapt_obstacle(a, needs);
	if (a->rounds)
		a->rounds--;
	if (a->rounds || !quell_adapt_is_quiet(a))
		return false;
	a->early = 0;
	return true;
}

/* Records for quell_adapt_on_undo() whether the loss interrupted a search. */
static inline void quell_adapt_record_reduction(struct quell_adapt *a)
{
	a->flags &= ~QUELL_ADAPT_F_SEARCHED;
	if (a->phase == QUELL_ADAPT_START)
		a->flags |= QUELL_ADAPT_F_SEARCHED;
}

/* A loss reduces CUBIC's window. */
static inline void quell_adapt_reduce_lost(struct quell_adapt *a, u32 mss_bytes)
{
	if (a->phase == QUELL_ADAPT_FALLBACK && a->above == QUELL_ADAPT_REDUCED_BY_MARKS)
		quell_cubic_on_marked_loss(&a->cubic, mss_bytes);
	else
		quell_cubic_on_loss(&a->cubic, mss_bytes);
}

/*
 * A loss, or a mark that means one, while the algorithm does not govern; marks at most once per
 * round trip: RFC 3168, 6.1.2.  Returns true when FIT begins.
 */
static __rare bool quell_adapt_cut(struct quell_adapt *a,
				   const struct quell_adapt_needs *needs,
				   const struct quell_sample *s)
{
	if (quell_adapt_is_fit(a))
		return false;
	quell_adapt_record_reduction(a);
	quell_adapt_reduce_lost(a, s->mss_bytes);
	if (a->phase == QUELL_ADAPT_START ? quell_adapt_may_settle(a, needs) :
					    quell_adapt_count_loss(a, needs))
		quell_adapt_settle(a, needs);
	if (a->phase == QUELL_ADAPT_FALLBACK)
		a->above = QUELL_ADAPT_REDUCED_BY_LOSS;
	return a->phase == QUELL_ADAPT_FIT;
}

/* Fast retransmit began.  Returns true when FIT begins. */
static __rare bool quell_adapt_on_loss(struct quell_adapt *a,
				       const struct quell_adapt_needs *needs,
				       const struct quell_sample *s, u64 window_q16)
{
	u8 reason;

	if (needs->signal == QUELL_ADAPT_DELAY &&
	    quell_adapt_algo_rtt_ns(a) <= quell_adapt_target_ns(a))
		a->early = quell_min_u64(a->early + QUELL_ADAPT_EARLY_ROUNDS,
					 2 * QUELL_ADAPT_EARLY_ROUNDS);
	if (a->phase == QUELL_ADAPT_FIT) {
		quell_adapt_record_reduction(a);
		reason = quell_adapt_loss_obstacle(a, needs);
		if (!reason)
			return false;
		quell_adapt_fall_back(a, window_q16, s->mss_bytes, reason);
		quell_cubic_on_loss(&a->cubic, s->mss_bytes);
		return false;
	}
	return quell_adapt_cut(a, needs, s);
}

/*
 * @again: the timeout belongs to a loss episode that was already handled.  In FIT the algorithm
 * handles the timeout.
 */
static __rare void quell_adapt_on_rto(struct quell_adapt *a, const struct quell_sample *s,
				      bool again)
{
	if (!again)
		quell_adapt_record_reduction(a);
	if (quell_adapt_is_fit(a))
		return;
	if (!again)
		quell_adapt_reduce_lost(a, s->mss_bytes);
	quell_cubic_on_rto(&a->cubic, s->mss_bytes, true);
	if (a->phase == QUELL_ADAPT_FALLBACK)
		a->rounds = 0;
	a->phase = QUELL_ADAPT_START;
	a->flags &= ~QUELL_ADAPT_F_AGAIN;
	a->samples = 0;
	a->checks = 0;
	a->above = 0;
	a->first_ns = 0;
}

/* A search that the spurious losses ended is resumed, whichever phase governs now. */
static inline void quell_adapt_on_undo(struct quell_adapt *a)
{
	a->early = quell_sub_sat_u64(a->early, QUELL_ADAPT_EARLY_ROUNDS);
	if (a->phase == QUELL_ADAPT_FALLBACK && a->above == QUELL_ADAPT_REDUCED_BY_LOSS)
		a->above = QUELL_ADAPT_REDUCED_NOT;
	if (a->flags & QUELL_ADAPT_F_SEARCHED) {
		if (a->phase != QUELL_ADAPT_START)
			a->rounds = QUELL_ADAPT_NOISE_ROUNDS;
		a->phase = QUELL_ADAPT_START;
		a->samples = 0;
		a->checks = 0;
		a->above = 0;
		a->flags &= ~QUELL_ADAPT_F_SEARCHED;
	}
	if (!quell_adapt_is_fit(a))
		quell_cubic_undo(&a->cubic);
}

/*
 * After an idle time of one retransmission timeout, which the caller checks, the path may have
 * changed (RFC 5681, 4.1).  The search starts at ten segments, or at the last window if that is
 * smaller, and slow start ends at the last window.  The obstacles to the algorithm are evaluated
 * anew, and the noise is halved.  If the algorithm gave up because the delay stayed, the path may
 * have become longer: the base is measured anew.
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

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * HPCC: congestion control by the load of the links, as reported by the switches.
 *
 * Each ACK echoes a record of the most loaded hop of its packet's path.  Two records of one hop
 * give the rate of that link; with its queue they give its utilisation: the data in flight over the
 * link in bandwidth-delay products.  The algorithm sets the window such that the utilisation of the
 * most loaded link is eta.  T is the base round-trip time, B the rate of the link.
 *
 *	on an ACK with a record that can be compared with the one before:
 *		tau = time between the two
 *		u = bytes sent between the two / (tau * B)
 *		    + min(queue then, queue now) / (B * T)
 *		tau = min(tau, T)
 *		U = (1 - tau / T) * U + tau / T * u
 *		if U >= eta or stage >= max_stage:
 *			window = reference * eta / U + ai * T, next stage 0
 *		else:
 *			window = reference + ai * T, next stage + 1
 *	when a round trip has finished:
 *		if probabilistic, window < reference < random() * largest window:
 *			(no change)
 *		else:
 *			reference = window, stage = next stage
 *	on fast retransmit:
 *		reference = window / 2
 *	on a retransmission timeout:
 *		if it is the retx_reset'th in a row: reference = smallest window
 *		else: reference = window / 2
 *	always:
 *		window, reference within [min_rate * T, rate of the own link * T]
 *		pace at window / T
 *
 * So every ACK computes a new window, but from a reference that changes once per
 * round trip, so that two ACKs never react to the same queue twice.  The flow's state
 * holds the reference, not the window.
 *
 * The largest window is the rate of the own link times T, the window at line rate.
 *
 * The flow starts at line rate, with U = 1.  The first record is only stored.
 *
 * Without records HPCC is Reno without slow start, from ten segments: it adds one segment per round
 * trip, halves the window on loss, falls to one segment after a timeout, never goes below one
 * segment, and is not paced.  A flow without a record in its first ACK falls back at once; a flow
 * that stops getting records does so after QUELL_TELEMETRY_FRESH_NS.
 *
 * The algorithm ignores ECN marks, trimmed packets and all round-trip times except the smallest.
 *
 * Expects: switches that stamp telemetry (swport), a peer that echoes it, and pacing in the stack.
 *
 * Deviations, each with its reason, are in Documentation/hpcc.md.
 *
 * Papers: Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019, in
 * the form of its authors' simulator; Snyder and Lebeck, the VAI/SF paper,
 * sections II, III-D (parameters, line-rate start) and V-B (the reference).
 */
#ifndef _QUELL_CORE_HPCC_REACT_H
#define _QUELL_CORE_HPCC_REACT_H

#include <quell/core/hpcc/vars.h>
#include <quell/core/lib/draw.h>
#include <quell/core/lib/undo.h>

/*
 * Whether this ACK finishes a round trip, because it acknowledges a byte sent after the round trip
 * began.  The next round trip then begins.  A flow's first ACK begins its first round trip.  The
 * count is in bytes in flight, because a core does not see sequence numbers.
 */
static inline bool quell_hpcc_count_round(struct quell_hpcc_vars *v,
					  const struct quell_sample *s)
{
	bool finished = v->flags & QUELL_HPCC_F_ROUND;

	if (s->acked_bytes <= v->round_bytes) {
		v->round_bytes -= s->acked_bytes;
		return false;
	}
	v->round_bytes = quell_sub_sat_u64(s->inflight_bytes, s->acked_bytes);
	v->flags |= QUELL_HPCC_F_ROUND;
	return finished;
}

/* Make the next ACK begin a round trip without finishing one. */
static inline void quell_hpcc_stop_round(struct quell_hpcc_vars *v)
{
	v->round_bytes = 0;
	v->flags &= ~QUELL_HPCC_F_ROUND;
}

/* End a round trip; if U was measured and always below eta, end the loss state, too. */
static inline void quell_hpcc_end_round(struct quell_hpcc_vars *v)
{
	if ((v->flags & QUELL_HPCC_F_MEASURED) && !(v->flags & QUELL_HPCC_F_CONGESTED))
		v->flags &= ~QUELL_HPCC_F_LOSS;
	v->flags &= ~(QUELL_HPCC_F_MEASURED | QUELL_HPCC_F_CONGESTED);
}

/*
 * End a round trip without a measurement: add the step of a normal round trip, but at
 * most one segment, as in Reno.
 */
static __rare void quell_hpcc_blind_step(struct quell_hpcc_vars *v,
					 const struct quell_hpcc_params *p,
					 struct quell_hpcc_stats *st,
					 const struct quell_sample *s)
{
	u64 step_q16 = quell_mss_q16(v->mss_bytes);

	st->blind++;
	v->window_q16 = quell_hpcc_held_q16(v, p);
	v->flags &= ~QUELL_HPCC_F_UTIL;
	if (s->flags & QUELL_S_APP_LIMITED) {
		st->app_limited++;
		return;
	}
	if (quell_hpcc_is_steered(v, p))
		step_q16 = quell_min_u64(step_q16,
					 quell_hpcc_step_q16(p, quell_hpcc_base_rtt_ns(v, p)));
	v->window_q16 = quell_add_sat_u64(v->window_q16, step_q16);
}

/*
 * Whether the window of an ACK may be above the reference: the ACK measured U, or U was measured
 * in the round trip that it finishes.
 */
static inline bool quell_hpcc_may_rise(const struct quell_hpcc_vars *v,
				       const struct quell_sample *s, bool measured, bool finished)
{
	if (s->flags & QUELL_S_APP_LIMITED)
		return false;
	return measured || (finished && (v->flags & QUELL_HPCC_F_MEASURED));
}

/* Set the reference to @window_q16, and advance or reset the stage accordingly. */
static inline void quell_hpcc_commit(struct quell_hpcc_vars *v,
				     const struct quell_hpcc_params *p,
				     struct quell_hpcc_stats *st, u64 window_q16)
{
	st->increases += window_q16 > v->window_q16;
	st->decreases += window_q16 < v->window_q16;
	v->stage = quell_hpcc_is_multiplicative(v, p) ? 0 : v->stage + 1;
	v->window_q16 = window_q16;
}

/*
 * VAI/SF III-D: decide at random whether to skip a decrease of the reference to
 * @window_q16.  A reference of one bandwidth-delay product always decreases, one of half
 * that size decreases with probability 1/2.  Without a known rate of the own link there is
 * no largest window and no decrease is skipped.
 */
static __rare bool quell_hpcc_draws(const struct quell_hpcc_vars *v,
				    const struct quell_hpcc_params *p,
				    const struct quell_sample *s, u64 window_q16)
{
	if (window_q16 >= v->window_q16 || !s->link_bytes_ps)
		return false;
	return v->window_q16 < quell_mul_shr_u64(quell_hpcc_bdp_q16(v, p, s->link_bytes_ps),
						 quell_draw_u32(s->now_ns, v->window_q16),
						 QUELL_DRAW_BITS);
}

/* Whether the option is on, and skips this decrease. */
static inline bool quell_hpcc_disregards(const struct quell_hpcc_vars *v,
					 const struct quell_hpcc_params *p,
					 const struct quell_sample *s, u64 window_q16)
{
	return p->probabilistic && quell_hpcc_draws(v, p, s, window_q16);
}

/* Update the reference at the end of a round trip; @window_q16 is its last window. */
static inline void quell_hpcc_adjust(struct quell_hpcc_vars *v,
				     const struct quell_hpcc_params *p,
				     struct quell_hpcc_stats *st,
				     const struct quell_sample *s, u64 window_q16)
{
	if (!(v->flags & QUELL_HPCC_F_MEASURED))
		quell_hpcc_blind_step(v, p, st, s);
	else if ((s->flags & QUELL_S_APP_LIMITED) && window_q16 >= v->window_q16)
		st->app_limited++;
	else if (quell_hpcc_disregards(v, p, s, window_q16))
		st->disregarded++;
	else
		quell_hpcc_commit(v, p, st, window_q16);
}

/* Set the state of a new flow, except for the window. */
static inline void quell_hpcc_reset(struct quell_hpcc_vars *v, const struct quell_sample *s)
{
	v->recorded_ns = s->now_ns;
	v->queue_bytes = 0;
	v->tx_units = 0;
	v->time_ns = 0;
	v->min_rtt_ns = quell_min_u64(s->min_rtt_ns, QUELL_HPCC_U32_MAX);
	v->mss_bytes = s->mss_bytes ? s->mss_bytes : 1;
	v->rtos = 0;
	v->flags = s->flags & QUELL_S_TELEMETRY ? QUELL_HPCC_F_TELEMETRY : 0;
	quell_hpcc_stop_round(v);
	quell_hpcc_forget(v);
}

/* VAI/SF III-D: flows start at line rate.  Here only flows with telemetry do. */
static inline void quell_hpcc_init(struct quell_hpcc_vars *v, const struct quell_hpcc_params *p,
				   const struct quell_sample *s, struct quell_decision *out)
{
	struct quell_hpcc_path path;

	quell_hpcc_reset(v, s);
	path = quell_hpcc_path(v, p, s);
	v->window_q16 = quell_hpcc_init_window_q16(v, p, s->link_bytes_ps);
	quell_hpcc_decide(v, p, &path, v->window_q16, out);
}

static inline __flatten void quell_hpcc_on_ack(struct quell_hpcc_vars *v,
					       const struct quell_hpcc_params *p,
					       struct quell_hpcc_stats *st,
					       const struct quell_sample *s,
					       struct quell_decision *out)
{
	struct quell_hpcc_path path;
	bool measured, finished;
	u64 window_q16;

	quell_hpcc_observe(v, s);
	v->rtos = 0;
	path = quell_hpcc_path(v, p, s);
	measured = quell_hpcc_take_record(v, p, st, s, path.base_rtt_ns);
	finished = quell_hpcc_count_round(v, s);
	window_q16 = quell_hpcc_window_q16(v, p, quell_hpcc_step_q16(p, path.base_rtt_ns),
					   quell_hpcc_may_rise(v, s, measured, finished));
	if (finished) {
		quell_hpcc_adjust(v, p, st, s, window_q16);
		quell_hpcc_end_round(v);
		window_q16 = v->window_q16;
	}
	quell_hpcc_decide(v, p, &path, window_q16, out);
}

/* Set the window after a loss, reset the stage, and discard U of before the loss. */
static inline void quell_hpcc_decrease_for_loss(struct quell_hpcc_vars *v, u64 window_q16)
{
	v->window_q16 = window_q16;
	v->stage = 0;
	v->flags &= ~(QUELL_HPCC_F_UTIL | QUELL_HPCC_F_MEASURED | QUELL_HPCC_F_CONGESTED);
	v->flags |= QUELL_HPCC_F_LOSS;
}

/* The data in flight was sent before the loss was detected, so a new round trip begins. */
static inline void quell_hpcc_on_loss(struct quell_hpcc_vars *v,
				      const struct quell_hpcc_params *p,
				      struct quell_hpcc_stats *st,
				      const struct quell_sample *s,
				      struct quell_decision *out)
{
	struct quell_hpcc_path path;

	quell_hpcc_observe(v, s);
	path = quell_hpcc_path(v, p, s);
	v->rtos = 0;
	quell_hpcc_decrease_for_loss(v, quell_hpcc_held_q16(v, p) / 2);
	v->round_bytes = s->inflight_bytes;
	v->flags |= QUELL_HPCC_F_ROUND;
	st->fast_retx++;
	quell_hpcc_decide(v, p, &path, v->window_q16, out);
}

/* A flow without a stored record drops to the minimum window at the first timeout. */
static inline void quell_hpcc_on_rto(struct quell_hpcc_vars *v,
				     const struct quell_hpcc_params *p,
				     struct quell_hpcc_stats *st,
				     const struct quell_sample *s,
				     struct quell_decision *out)
{
	struct quell_hpcc_path path;

	quell_hpcc_observe(v, s);
	path = quell_hpcc_path(v, p, s);
	st->rtos++;
	if (v->rtos < 0xff)
		v->rtos++;
	if (v->rtos >= p->retx_reset_rtos || !v->hop) {
		/* quell_hpcc_decide() raises 0 to the minimum window. */
		quell_hpcc_decrease_for_loss(v, 0);
		st->rto_resets++;
	} else {
		quell_hpcc_decrease_for_loss(v, quell_hpcc_held_q16(v, p) / 2);
	}
	quell_hpcc_stop_round(v);
	quell_hpcc_decide(v, p, &path, v->window_q16, out);
}

static inline void quell_hpcc_undo_note(struct quell_undo *u,
					const struct quell_hpcc_vars *before,
					const struct quell_hpcc_vars *after)
{
	quell_undo_record(u, before->flags & QUELL_HPCC_F_LOSS);
	quell_undo_note(&u->part[0], before->window_q16, after->window_q16);
}

static inline void quell_hpcc_on_undo(struct quell_hpcc_vars *v,
				      const struct quell_hpcc_params *p,
				      const struct quell_sample *s,
				      const struct quell_undo *u,
				      struct quell_decision *out)
{
	struct quell_hpcc_path path;

	quell_hpcc_observe(v, s);
	path = quell_hpcc_path(v, p, s);
	v->window_q16 = quell_undo_given_back(&u->part[0], v->window_q16);
	if (!u->lost)
		v->flags &= ~QUELL_HPCC_F_LOSS;
	quell_hpcc_decide(v, p, &path, v->window_q16, out);
}

/* Restart a flow after an idle period; @held_q16 is its window before. */
static inline void quell_hpcc_restart(struct quell_hpcc_vars *v,
				      const struct quell_hpcc_params *p,
				      struct quell_hpcc_stats *st,
				      u64 link_bytes_ps, u64 held_q16)
{
	bool can_rise = quell_hpcc_is_steered(v, p) && !(v->flags & QUELL_HPCC_F_LOSS);

	v->window_q16 = quell_restart_window_q16(held_q16,
						 quell_hpcc_init_window_q16(v, p, link_bytes_ps),
						 can_rise, &st->restarts_refused);
	quell_hpcc_stop_round(v);
	quell_hpcc_forget(v);
	st->restarts++;
}

/*
 * The window no longer reflects the state of the path, so the flow restarts from the initial
 * window.
 */
static inline void quell_hpcc_on_idle_restart(struct quell_hpcc_vars *v,
					      const struct quell_hpcc_params *p,
					      struct quell_hpcc_stats *st,
					      const struct quell_sample *s,
					      struct quell_decision *out)
{
	struct quell_hpcc_path path;
	u64 window_q16;

	quell_hpcc_observe(v, s);
	path = quell_hpcc_path(v, p, s);
	window_q16 = quell_hpcc_held_q16(v, p);
	if (quell_is_restart(p->restart_idle_ns, s->idle_ns)) {
		quell_hpcc_restart(v, p, st, s->link_bytes_ps, window_q16);
		window_q16 = v->window_q16;
	}
	quell_hpcc_decide(v, p, &path, window_q16, out);
}

#endif /* _QUELL_CORE_HPCC_REACT_H */

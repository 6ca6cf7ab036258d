/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Swift with Variable AI and Sampling Frequency.
 *
 * Like <quell/core/swift/react.h> without flow-based scaling, except for the response to an ACK:
 *
 *	on an ACK with round-trip time `delay':
 *		target = base + hops * hop_scale
 *		measured = max(measured, delay)
 *		if a round trip has finished: Algorithm 1 with
 *			token_thresh = target + delay of the smallest BDP
 *			tokens earned = (measured - base_rtt) / token_ns
 *		factor = 1 below the target, otherwise
 *			 max(1 - beta * (delay - target) / delay, 1 - max_mdf)
 *		window = reference * factor
 *			 + ai * base_rtt * (Algorithm 2)
 *		if window < reference:
 *			reference = window, once per sampling_pkts packets,
 *				    with sampling_rtt per round trip as well
 *		else:
 *			reference = window, once per round trip
 *
 * So every ACK computes a new window, but from a reference that changes rarely, and always with the
 * additive increase (section V-B).  The flow's state holds the reference, not the window.
 *
 * On loss, timeout and restart after an idle period Swift's own functions work on the
 * reference.  An ACK without a round-trip time changes the reference only: by Swift's step
 * (at most one segment) per round trip and without tokens.  Without a delay signal the
 * algorithm is therefore Reno without slow start.
 *
 * The algorithm ignores the same signals and expects the same of the network as Swift.
 *
 * Paper: Snyder and Lebeck, the VAI/SF paper, sections IV, V and VI-A.
 */
#ifndef _QUELL_CORE_SWIFT_VAISF_REACT_H
#define _QUELL_CORE_SWIFT_VAISF_REACT_H

#include <quell/core/swift/undo.h>
#include <quell/core/swift_vaisf/params.h>
#include <quell/core/swift_vaisf/vars.h>
#include <quell/core/vaisf/react.h>

/* The two mechanisms begin anew, as for a new flow. */
static inline void quell_swift_vaisf_reset(struct quell_swift_vaisf_vars *v)
{
	quell_vaisf_reset(&v->vaisf);
	v->round_bytes = 0;
}

/*
 * Whether this ACK finishes a round trip, because it acknowledges a byte sent after the round trip
 * began.  The next one then begins.  The count is in bytes in flight, because a core does not see
 * sequence numbers.
 */
static inline bool quell_swift_vaisf_count_round(struct quell_swift_vaisf_vars *v,
						 const struct quell_sample *s)
{
	if (s->acked_bytes <= v->round_bytes) {
		v->round_bytes -= s->acked_bytes;
		return false;
	}
	v->round_bytes = quell_sub_sat_u64(s->inflight_bytes, s->acked_bytes);
	return true;
}

/* Algorithm 1 in units of delay: the queueing delay of the round trip earns tokens. */
static inline void quell_swift_vaisf_finish_round(struct quell_swift_vaisf_vars *v,
						  const struct quell_swift_vaisf_params *p,
						  struct quell_swift_vaisf_stats *st,
						  u64 target_ns)
{
	u64 thresh_ns = quell_add_sat_u64(target_ns, p->token_thresh_ns);
	u64 queueing_ns = quell_sub_sat_u64(v->vaisf.measured, v->swift.min_rtt_ns);

	st->rounds++;
	st->earned += v->vaisf.measured > thresh_ns;
	quell_vaisf_finish_round(&v->vaisf, &p->vaisf, thresh_ns,
				 quell_div_u64(queueing_ns, p->token_ns),
				 v->vaisf.measured > target_ns);
}

/*
 * The window that this ACK computes from the reference, bytes Q16.  The window of an
 * application-limited flow does not grow, as in Swift.
 */
static inline u64 quell_swift_vaisf_window_q16(const struct quell_swift_vaisf_vars *v,
					       const struct quell_swift_vaisf_params *p,
					       const struct quell_sample *s, u64 target_ns)
{
	u64 window_q16 = v->swift.window_q16;
	u64 step_q16;

	if (s->rtt_ns >= target_ns)
		window_q16 -= quell_mul_shr_fits_u64(window_q16,
						     quell_swift_delay_decrease_q24(&p->swift,
										    s->rtt_ns,
										    target_ns),
						     QUELL_SWIFT_DECREASE_Q);
	if (s->flags & QUELL_S_APP_LIMITED)
		return window_q16;
	step_q16 = quell_swift_step_q16(&v->swift, &p->swift, s);
	if (s->rtt_ns)
		step_q16 = quell_vaisf_increase_q16(&v->vaisf, &p->vaisf, step_q16);
	return quell_add_sat_u64(window_q16, step_q16);
}

/* Whether Sampling Frequency lets this ACK change the reference. */
static inline bool quell_swift_vaisf_is_due(const struct quell_swift_vaisf_vars *v,
					    const struct quell_swift_vaisf_params *p,
					    const struct quell_sample *s, bool decrease,
					    bool round_finished)
{
	if (!decrease)
		return round_finished;
	return !(s->flags & QUELL_S_RTT_OLD) &&
	       quell_vaisf_may_decrease(&v->vaisf, &p->vaisf, round_finished);
}

/* Whether to change the reference, which is due; if so, spend the tokens that this uses. */
static inline bool quell_swift_vaisf_adjust(struct quell_swift_vaisf_vars *v,
					    const struct quell_swift_vaisf_params *p,
					    struct quell_swift_vaisf_stats *st,
					    const struct quell_sample *s, bool decrease)
{
	if (!decrease && (s->flags & QUELL_S_APP_LIMITED)) {
		st->swift.app_limited++;
		return false;
	}
	st->swift.decreases += decrease;
	st->swift.increases += !decrease;
	if (s->rtt_ns)
		st->spent += quell_vaisf_adjusted(&v->vaisf, &p->vaisf, decrease);
	return true;
}

static inline void quell_swift_vaisf_init(struct quell_swift_vaisf_vars *v,
					  const struct quell_swift_vaisf_params *p,
					  const struct quell_sample *s,
					  struct quell_decision *out)
{
	quell_swift_vaisf_reset(v);
	quell_swift_init(&v->swift, &p->swift, s, out);
}

static inline __flatten void quell_swift_vaisf_on_ack(struct quell_swift_vaisf_vars *v,
						      const struct quell_swift_vaisf_params *p,
						      struct quell_swift_vaisf_stats *st,
						      const struct quell_sample *s,
						      struct quell_decision *out)
{
	u64 reference_q16, target_ns, window_q16;
	bool decrease, round_finished;

	quell_swift_observe(&v->swift, s);
	v->swift.rtos = 0;
	st->swift.no_rtt += !s->rtt_ns;
	target_ns = quell_swift_target_ns(&v->swift, &p->swift, s->hops);
	if (s->rtt_ns < target_ns)
		quell_swift_recovered(&v->swift, s);
	quell_vaisf_observe(&v->vaisf, s, s->rtt_ns);
	round_finished = quell_swift_vaisf_count_round(v, s);
	if (round_finished)
		quell_swift_vaisf_finish_round(v, p, st, target_ns);

	reference_q16 = v->swift.window_q16;
	window_q16 = quell_swift_vaisf_window_q16(v, p, s, target_ns);
	decrease = window_q16 < reference_q16;
	if (!quell_swift_vaisf_is_due(v, p, s, decrease, round_finished))
		st->swift.held++;
	else if (quell_swift_vaisf_adjust(v, p, st, s, decrease))
		reference_q16 = window_q16;
	if (reference_q16 != window_q16 && !s->rtt_ns)
		window_q16 = reference_q16;
	v->swift.window_q16 = window_q16;
	quell_swift_decide(&v->swift, &p->swift, target_ns, out);
	v->swift.window_q16 = reference_q16;
	quell_swift_clamp(&v->swift, &p->swift);
}

/*
 * Swift's decrease, applied to the reference.  A new sampling period begins; with sampling_rtt, a
 * new round trip begins, too.  Precedes quell_swift_vaisf_on_ack() of the ACK that began the
 * episode: until then the window equals the reference.
 */
static inline void quell_swift_vaisf_on_loss(struct quell_swift_vaisf_vars *v,
					     const struct quell_swift_vaisf_params *p,
					     struct quell_swift_vaisf_stats *st,
					     const struct quell_sample *s,
					     struct quell_decision *out)
{
	quell_swift_on_loss(&v->swift, &p->swift, &st->swift, s, out);
	v->vaisf.sampled_pkts = 0;
	if (p->vaisf.sampling_rtt)
		v->round_bytes = s->inflight_bytes;
}

/*
 * Swift's decrease, applied to the reference.  The tokens are discarded: the congestion that earned
 * them is over.
 */
static inline void quell_swift_vaisf_on_rto(struct quell_swift_vaisf_vars *v,
					    const struct quell_swift_vaisf_params *p,
					    struct quell_swift_vaisf_stats *st,
					    const struct quell_sample *s,
					    struct quell_decision *out)
{
	quell_swift_on_rto(&v->swift, &p->swift, &st->swift, s, out);
	quell_swift_vaisf_reset(v);
}

static inline void quell_swift_vaisf_undo_note(struct quell_undo *u,
					       const struct quell_swift_vaisf_vars *before,
					       const struct quell_swift_vaisf_vars *after)
{
	quell_swift_undo_note(u, &before->swift, &after->swift);
}

static inline void quell_swift_vaisf_on_undo(struct quell_swift_vaisf_vars *v,
					     const struct quell_swift_vaisf_params *p,
					     const struct quell_sample *s,
					     const struct quell_undo *u,
					     struct quell_decision *out)
{
	quell_swift_on_undo(&v->swift, &p->swift, s, u, out);
}

/* A flow that restarts counts as a new flow for the two mechanisms as well. */
static inline void quell_swift_vaisf_on_idle_restart(struct quell_swift_vaisf_vars *v,
						     const struct quell_swift_vaisf_params *p,
						     struct quell_swift_vaisf_stats *st,
						     const struct quell_sample *s,
						     struct quell_decision *out)
{
	quell_swift_on_idle_restart(&v->swift, &p->swift, &st->swift, s, out);
	if (quell_is_restart(p->swift.restart_idle_ns, s->idle_ns))
		quell_swift_vaisf_reset(v);
}

#endif /* _QUELL_CORE_SWIFT_VAISF_REACT_H */

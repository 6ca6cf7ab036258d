/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Swift: congestion control that steers for a target delay.
 *
 * The round-trip time is compared with a target that grows with the number of
 * switches on the path and with the smallness of the flow's own window.  Below
 * the target the window grows by a constant per round trip; above it the
 * window shrinks in proportion to the excess, at most once per round trip.
 *
 *	on an ACK with round-trip time `delay':
 *		target = base + hops * hop_scale
 *			 + clamp(alpha / sqrt(window in packets) + beta_fs, 0, fs_range)
 *		if delay < target:
 *			window += ai * base_rtt * acked / max(window, one segment)
 *		else if a round trip has passed since the last decrease:
 *			if probabilistic and window < random() * largest window:
 *				no change, and that is the round trip's decrease
 *			else:
 *				window *= max(1 - beta * (delay - target) / delay,
 *					      1 - max_mdf)
 *	on fast retransmit:
 *		if a round trip has passed since the last decrease:
 *			window *= 1 - max_mdf
 *	on a retransmission timeout:
 *		if it is the retx_reset'th in a row:
 *			window = min_window
 *		else if a round trip has passed since the last decrease:
 *			window *= 1 - max_mdf
 *	always:
 *		window = clamp(window, min_window, max_window)
 *		window < one segment: pace at window / delay
 *
 *	alpha	= fs_range / (1 / sqrt(fs_min) - 1 / sqrt(fs_max))
 *	beta_fs	= -alpha / sqrt(fs_max)
 *
 * The flow starts at line rate: one bandwidth-delay product.  This is also the "largest window" of
 * the probabilistic decrease.  Skipping a decrease never suppresses the response to a loss.
 *
 * Without a delay signal (no round-trip time was ever measured) the algorithm is
 * Reno without slow start: it adds one segment per window, removes at least half of the
 * window on loss, falls to one segment after a timeout, and never goes below one segment.
 *
 * The algorithm ignores ECN marks, trimmed packets and the remote host's share of the
 * delay: it has one delay and one window, as in the VAI/SF paper.
 * <quell/core/swift/split.h> has two delays and two windows.
 *
 * Deviations from the papers, each with its reason, are in Documentation/swift.md.
 *
 * Expects: an egress queue that does not delay ACKs, and pacing in the stack
 * (the fq qdisc or TCP's own) for windows below one segment.
 *
 * Papers: Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the
 * Datacenter", SIGCOMM 2020 (Algorithm 1 and its target delay); Snyder and Lebeck, the VAI/SF
 * paper, sections II (equation 1) and III-D (parameters, line-rate start).
 */
#ifndef _QUELL_CORE_SWIFT_REACT_H
#define _QUELL_CORE_SWIFT_REACT_H

#include <quell/core/adapt/react.h>
#include <quell/core/core.h>
#include <quell/core/lib/draw.h>
#include <quell/core/lib/math.h>
#include <quell/core/lib/window.h>
#include <quell/core/swift/params.h>
#include <quell/core/swift/vars.h>

/* Whether the flow ever measured a round-trip time. */
static inline bool quell_swift_has_signal(const struct quell_swift_vars *v)
{
	return v->min_rtt_ns != 0;
}

/*
 * Flow-based scaling, ns: alpha / sqrt(window) + beta_fs, in [0, fs_range].
 * Within [fs_min, fs_max] the formula stays in that range by construction; outside, the
 * result is constant at the respective end.
 */
static inline u64 quell_swift_flow_scale_ns(const struct quell_swift_params *p,
					    u64 window_pkts_q16)
{
	u64 rsqrt_q24;

	if (!p->fs_range_ns || window_pkts_q16 >= p->fs_max_pkts_q16)
		return 0;
	/* fs_min is at least 66, fs_max at most 2^32. */
	rsqrt_q24 = quell_rsqrt_u32_q24(quell_max_u64(window_pkts_q16, p->fs_min_pkts_q16));
	if (rsqrt_q24 <= p->fs_offset_q24)
		return 0;
	/* Below 2^63: quell_swift_params_derive(). */
	return quell_min_u64((p->fs_alpha_ns_q10 * (rsqrt_q24 - p->fs_offset_q24)) >>
			     (QUELL_SWIFT_ALPHA_Q + QUELL_RSQRT_Q), p->fs_range_ns);
}

/*
 * Kumar et al., target delay with topology-based and flow-based scaling, saturated.  Without
 * base_target_ns the base is the measured round-trip time of the path, which includes the switches,
 * plus room for a queue.
 */
static inline u64 quell_swift_target_ns(const struct quell_swift_vars *v,
					const struct quell_swift_params *p,
					u8 hops)
{
	u64 scale_ns = 0;
	u64 path_ns;

	if (p->fs_range_ns)
		scale_ns = quell_swift_flow_scale_ns(p, quell_div_positive_u64(v->window_q16,
									       v->mss_bytes));
	/* Three parameters of at most 2^30, 2^8 * 2^20 and 2^27. */
	if (p->base_target_ns)
		return p->base_target_ns + hops * p->hop_scale_ns + scale_ns;
	path_ns = quell_add_sat_u64(v->min_rtt_ns, quell_adapt_room_ns(v->min_rtt_ns));
	return quell_add_sat_u64(path_ns, scale_ns);
}

/* The window a message starts with, before the limits, bytes Q16. */
static inline u64 quell_swift_init_window_q16(const struct quell_swift_vars *v,
					      const struct quell_swift_params *p)
{
	if (p->init_window_bytes)
		return p->init_window_bytes << QUELL_Q16_SHIFT;
	if (!v->link_bytes_ps || !quell_swift_has_signal(v))
		return quell_init_window_q16(v->mss_bytes);
	return quell_bdp_q16(v->min_rtt_ns, v->link_bytes_ps, v->mss_bytes);
}

/*
 * A window within the limits.  Without a delay signal no round-trip time is known
 * to pace a window below one segment, so the minimum is one segment, as in Reno.
 */
static inline u64 quell_swift_limited_q16(const struct quell_swift_vars *v,
					  const struct quell_swift_params *p, u64 window_q16)
{
	u64 max_q16 = p->max_window_bytes << QUELL_Q16_SHIFT;
	u64 min_q16 = quell_mss_q16(v->mss_bytes);

	if (quell_swift_has_signal(v))
		min_q16 = p->min_window_pkts_q16 * v->mss_bytes;
	return quell_max_u64(quell_min_u64(window_q16, max_q16), min_q16);
}

static inline void quell_swift_clamp(struct quell_swift_vars *v,
				     const struct quell_swift_params *p)
{
	v->window_q16 = quell_swift_limited_q16(v, p, v->window_q16);
}

/*
 * Pacing rate: a window below one segment is spread over the newest round-trip time.  That is
 * known, as without a delay signal no window within the limits is below one segment.
 */
static inline u64 quell_swift_pacing_bytes_ps(const struct quell_swift_vars *v, u64 window_q16)
{
	u64 rate_bytes_ps;

	if (window_q16 >= quell_mss_q16(v->mss_bytes))
		return QUELL_RATE_UNLIMITED;
	rate_bytes_ps = quell_mul_div_positive_u64(window_q16, QUELL_NS_PER_SEC,
						   v->rtt_ns) >> QUELL_Q16_SHIFT;
	return quell_max_u64(rate_bytes_ps, 1);
}

/* Fill in the decision @out with a window within the limits. */
static inline void quell_swift_output(const struct quell_swift_vars *v, u64 window_q16,
				      u64 target_ns, struct quell_decision *out)
{
	out->window_q16 = window_q16;
	out->pacing_bytes_ps = quell_swift_pacing_bytes_ps(v, window_q16);
	out->target_ns = target_ns;
	out->change_path = false;
}

/* Clamp the window and fill in the decision @out. */
static inline void quell_swift_decide(struct quell_swift_vars *v,
				      const struct quell_swift_params *p,
				      u64 target_ns, struct quell_decision *out)
{
	quell_swift_clamp(v, p);
	quell_swift_output(v, v->window_q16, target_ns, out);
}

/* Like quell_swift_decide(), but with the target delay of the current window. */
static inline void quell_swift_decide_afresh(struct quell_swift_vars *v,
					     const struct quell_swift_params *p,
					     u8 hops, struct quell_decision *out)
{
	quell_swift_clamp(v, p);
	quell_swift_decide(v, p, quell_swift_target_ns(v, p, hops), out);
}

/*
 * Copy round-trip times, link rate and segment size from a sample.  The sample's minimum
 * replaces the handshake's estimate even where the estimate is smaller: SYN packets
 * are short, a store-and-forward path delays a full segment for longer, and a first
 * window computed from the handshake would not fill the link.
 */
static inline void quell_swift_observe(struct quell_swift_vars *v,
				       const struct quell_sample *s)
{
	if (s->min_rtt_ns)
		v->min_rtt_ns = s->min_rtt_ns;
	else if (s->rtt_ns && (!v->min_rtt_ns || s->rtt_ns < v->min_rtt_ns))
		v->min_rtt_ns = s->rtt_ns;
	if (s->rtt_ns)
		v->rtt_ns = s->rtt_ns;
	else if (!v->rtt_ns)
		v->rtt_ns = v->min_rtt_ns;
	if (s->link_bytes_ps)
		v->link_bytes_ps = s->link_bytes_ps;
	if (s->mss_bytes)
		v->mss_bytes = s->mss_bytes;
}

/* At most one decrease per round trip; unlimited while no round-trip time is known. */
static inline bool quell_swift_may_decrease(const struct quell_swift_vars *v,
					    u64 now_ns)
{
	if (!(v->flags & QUELL_SWIFT_F_DECREASED))
		return true;
	return quell_sub_sat_u64(now_ns, v->last_decrease_ns) >= v->rtt_ns;
}

/* Reduce the window by the fraction @decrease_q24 <= 1, rounded down. */
static inline void quell_swift_decrease(struct quell_swift_vars *v, u64 decrease_q24,
					u64 now_ns)
{
	v->window_q16 -= quell_mul_shr_fits_u64(v->window_q16, decrease_q24,
						QUELL_SWIFT_DECREASE_Q);
	v->last_decrease_ns = now_ns;
	v->flags |= QUELL_SWIFT_F_DECREASED;
	v->flags &= ~QUELL_SWIFT_F_DISREGARDED;
}

/* Whether a loss may decrease the window; a skipped decrease does not count as a response. */
static inline bool quell_swift_may_decrease_for_loss(const struct quell_swift_vars *v,
						     u64 now_ns)
{
	return (v->flags & QUELL_SWIFT_F_DISREGARDED) || quell_swift_may_decrease(v, now_ns);
}

/*
 * Fraction of the window that a loss removes: max_mdf; without a delay signal, at least
 * one half, as in Reno.
 */
static inline u64 quell_swift_loss_decrease_q24(const struct quell_swift_vars *v,
						const struct quell_swift_params *p)
{
	u64 decrease_q16 = quell_min_u64(p->max_mdf_q16, QUELL_Q16_ONE);

	if (!quell_swift_has_signal(v))
		decrease_q16 = quell_max_u64(decrease_q16, QUELL_Q16_ONE / 2);
	return decrease_q16 << (QUELL_SWIFT_DECREASE_Q - QUELL_Q16_SHIFT);
}

/*
 * Additive increase of a round trip without congestion, bytes Q16: ai * base round trip.
 * An ACK without a round-trip time counts as uncongested, but its step is at most that of
 * Reno: one segment per window.
 */
static inline u64 quell_swift_step_q16(const struct quell_swift_vars *v,
				       const struct quell_swift_params *p,
				       const struct quell_sample *s)
{
	u64 mss_q16 = quell_mss_q16(v->mss_bytes);
	u64 step_q16;

	if (!quell_swift_has_signal(v))
		return mss_q16;
	step_q16 = quell_mul_div_u64(p->ai_bytes_ps << QUELL_Q16_SHIFT, v->min_rtt_ns,
				     QUELL_NS_PER_SEC);
	return s->rtt_ns ? step_q16 : quell_min_u64(step_q16, mss_q16);
}

/* The same of a flow that is fitted to its path, at least; VAI/SF's tokens multiply the former. */
static inline u64 quell_swift_fit_step_q16(const struct quell_swift_vars *v,
					   const struct quell_swift_params *p,
					   const struct quell_sample *s)
{
	u64 step_q16 = quell_swift_step_q16(v, p, s);

	if (!p->adapt_bool)
		return step_q16;
	return quell_max_u64(step_q16, quell_mss_q16(v->mss_bytes) / QUELL_ADAPT_STEP_SHARE);
}

/* A delay below the target a round trip or more after the last decrease ends the loss state. */
static inline void quell_swift_recovered(struct quell_swift_vars *v,
					 const struct quell_sample *s)
{
	if ((v->flags & QUELL_SWIFT_F_LOSS) && s->rtt_ns &&
	    quell_swift_may_decrease(v, s->now_ns))
		v->flags &= ~QUELL_SWIFT_F_LOSS;
}

/*
 * The delay is below the target, or this ACK has no round-trip time: the additive increase
 * @step_q16, spread over the ACKs of a round trip.
 */
static inline void quell_swift_uncongested(struct quell_swift_vars *v,
					   struct quell_swift_stats *st,
					   const struct quell_sample *s, u64 step_q16)
{
	quell_swift_recovered(v, s);
	if (s->flags & QUELL_S_APP_LIMITED) {
		st->app_limited++;
		return;
	}
	v->window_q16 = quell_grow_window_q16(v->window_q16, step_q16, s->acked_bytes,
					      v->mss_bytes);
	st->increases++;
}

/*
 * Fraction removed for a delay at or above the target: equation 1 of the VAI/SF paper.  No target
 * is 0, so the delay is not, either, and max_mdf is the fraction removed by a loss.
 */
static inline u64 quell_swift_delay_decrease_q24(const struct quell_swift_params *p,
						 u64 delay_ns, u64 target_ns)
{
	const u32 shift = QUELL_SWIFT_DECREASE_Q - QUELL_Q16_SHIFT;
	u64 decrease_q24 = quell_mul_div_positive_u64(p->beta_q16 << shift, delay_ns - target_ns,
						      delay_ns);

	return quell_min_u64(decrease_q24, p->max_mdf_q16 << shift);
}

/*
 * VAI/SF III-D: decide at random whether to skip this round trip's decrease for a delay at
 * or above the target.  A window of one bandwidth-delay product always decreases, one of
 * half that size decreases with probability 1/2.  Without a known link rate there is no
 * largest window and no decrease is skipped.
 */
static __rare bool quell_swift_draws(struct quell_swift_vars *v, const struct quell_sample *s)
{
	u64 now_ns = s->now_ns;

	if (s->flags & QUELL_S_RTT_OLD || !v->link_bytes_ps ||
	    !quell_swift_may_decrease(v, now_ns))
		return false;
	if (v->window_q16 >= quell_mul_shr_u64(quell_bdp_q16(v->min_rtt_ns, v->link_bytes_ps,
							     v->mss_bytes),
					       quell_draw_u32(now_ns, v->window_q16),
					       QUELL_DRAW_BITS))
		return false;
	v->last_decrease_ns = now_ns;
	v->flags |= QUELL_SWIFT_F_DECREASED | QUELL_SWIFT_F_DISREGARDED;
	return true;
}

/* Whether the option is on, and skips this decrease. */
static inline bool quell_swift_disregards(struct quell_swift_vars *v,
					  const struct quell_swift_params *p,
					  const struct quell_sample *s)
{
	return p->probabilistic && quell_swift_draws(v, s);
}

/* Decrease for a delay at or above the target, once per round trip; true if it did so now. */
static inline bool quell_swift_congested(struct quell_swift_vars *v,
					 const struct quell_swift_params *p,
					 const struct quell_sample *s, u64 delay_ns, u64 target_ns)
{
	if (s->flags & QUELL_S_RTT_OLD || !quell_swift_may_decrease(v, s->now_ns))
		return false;
	quell_swift_decrease(v, quell_swift_delay_decrease_q24(p, delay_ns, target_ns), s->now_ns);
	return true;
}

/* VAI/SF III-D: flows start at line rate. */
static inline void quell_swift_init(struct quell_swift_vars *v,
				    const struct quell_swift_params *p,
				    const struct quell_sample *s,
				    struct quell_decision *out)
{
	v->last_decrease_ns = s->now_ns;
	v->rtt_ns = s->min_rtt_ns;
	v->min_rtt_ns = s->min_rtt_ns;
	v->link_bytes_ps = s->link_bytes_ps;
	v->mss_bytes = s->mss_bytes ? s->mss_bytes : 1;
	v->rtos = 0;
	v->flags = 0;
	v->window_q16 = quell_swift_init_window_q16(v, p);
	quell_swift_decide_afresh(v, p, 0, out);
}

/* The target of the decision is the one the delay was compared with. */
static inline void quell_swift_on_ack(struct quell_swift_vars *v,
				      const struct quell_swift_params *p,
				      struct quell_swift_stats *st,
				      const struct quell_sample *s,
				      struct quell_decision *out)
{
	u64 target_ns;

	quell_swift_observe(v, s);
	v->rtos = 0;
	if (!s->rtt_ns)
		st->no_rtt++;
	target_ns = quell_swift_target_ns(v, p, s->hops);
	if (s->rtt_ns < target_ns)
		quell_swift_uncongested(v, st, s, quell_swift_fit_step_q16(v, p, s));
	else if (quell_swift_disregards(v, p, s))
		st->disregarded++;
	else if (quell_swift_congested(v, p, s, s->rtt_ns, target_ns))
		st->decreases++;
	else
		st->held++;
	quell_swift_decide(v, p, target_ns, out);
}

static inline void quell_swift_on_loss(struct quell_swift_vars *v,
				       const struct quell_swift_params *p,
				       struct quell_swift_stats *st,
				       const struct quell_sample *s,
				       struct quell_decision *out)
{
	quell_swift_observe(v, s);
	v->rtos = 0;
	v->flags |= QUELL_SWIFT_F_LOSS;
	if (quell_swift_may_decrease_for_loss(v, s->now_ns)) {
		quell_swift_decrease(v, quell_swift_loss_decrease_q24(v, p), s->now_ns);
		st->fast_retx++;
	}
	quell_swift_decide_afresh(v, p, s->hops, out);
}

/*
 * Reduce the window for a timeout.  Returns true if the whole window was removed; the
 * clamp then raises it to the minimum window.
 */
static inline bool quell_swift_rto_decrease(struct quell_swift_vars *v,
					    const struct quell_swift_params *p, u64 now_ns)
{
	if (v->rtos >= p->retx_reset_rtos || !quell_swift_has_signal(v)) {
		quell_swift_decrease(v, 1ULL << QUELL_SWIFT_DECREASE_Q, now_ns);
		return true;
	}
	if (quell_swift_may_decrease_for_loss(v, now_ns))
		quell_swift_decrease(v, quell_swift_loss_decrease_q24(v, p), now_ns);
	return false;
}

static inline void quell_swift_on_rto(struct quell_swift_vars *v,
				      const struct quell_swift_params *p,
				      struct quell_swift_stats *st,
				      const struct quell_sample *s,
				      struct quell_decision *out)
{
	quell_swift_observe(v, s);
	st->rtos++;
	v->flags |= QUELL_SWIFT_F_LOSS;
	if (v->rtos < 0xffff)
		v->rtos++;
	st->rto_resets += quell_swift_rto_decrease(v, p, s->now_ns);
	quell_swift_decide_afresh(v, p, s->hops, out);
}

/* The window after an idle period, bytes Q16; @refused: see quell_restart_window_q16(). */
static inline u64 quell_swift_restart_q16(const struct quell_swift_vars *v,
					  const struct quell_swift_params *p, u64 *refused)
{
	bool can_rise = quell_swift_has_signal(v) && !(v->flags & QUELL_SWIFT_F_LOSS);

	return quell_restart_window_q16(v->window_q16, quell_swift_init_window_q16(v, p),
					can_rise, refused);
}

/*
 * The window no longer reflects the state of the path, so the flow restarts from the initial
 * window.
 */
static inline void quell_swift_on_idle_restart(struct quell_swift_vars *v,
					       const struct quell_swift_params *p,
					       struct quell_swift_stats *st,
					       const struct quell_sample *s,
					       struct quell_decision *out)
{
	quell_swift_observe(v, s);
	if (quell_is_restart(p->restart_idle_ns, s->idle_ns)) {
		v->window_q16 = quell_swift_restart_q16(v, p, &st->restarts_refused);
		st->restarts++;
	}
	quell_swift_decide_afresh(v, p, s->hops, out);
}

#endif /* _QUELL_CORE_SWIFT_REACT_H */

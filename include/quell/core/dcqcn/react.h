/* SPDX-License-Identifier: GPL-2.0 */
/*
 * DCQCN: rate control by ECN marks, the reaction point.
 *
 * The receiver's echo of marks is turned into notifications, at most one per notify_interval.  A
 * notification cuts the rate in proportion to alpha, an average of their frequency;
 * without notifications each increase returns the rate by half to the target, its value
 * before the last notification, and later raises the target as well.
 *
 *	on a notification:
 *		target = rate;
 *		rate *= 1 - alpha / 2
 *		alpha = (1 - g) * alpha + g
 *		timers, byte counter, T and B start again
 *	alpha_timer after the last notification or decay:
 *		alpha = (1 - g) * alpha
 *	every `timer' (T counts) and every byte_counter bytes (B counts):
 *		if max(T, B) < F:	-		fast recovery
 *		else if min(T, B) > F:	target += hai	hyper increase
 *		else:			target += ai	additive increase
 *		rate = (rate + target) / 2
 *	on loss:
 *		target = rate = rate / 2
 *	always:
 *		rate, target = clamp(min_rate, link rate)
 *		window = rate * (base round trip + queue_bound)
 *
 * A flow starts at the link's rate with alpha = 1.
 *
 * The core has no timers: both periods are counted from the last notification, and an ACK performs
 * all steps that are due since the previous ACK.  Without an ACK the rate does not increase, and an
 * ACK after a long silence performs at most QUELL_DCQCN_MOST_STEPS increases of the timer.
 *
 * On loss Reno's window applies, too: at most half of the bytes in flight, one
 * segment after a timeout, one segment more per window from there on, until
 * the rate's own window is smaller.  A flow to a peer that does not echo marks has
 * only Reno's window, without slow start, and is not paced.
 *
 * Ignored inputs: delay, trimmed packets, switches on the path.
 *
 * Expects: exact echo of CE, switches that mark, pacing in the stack.
 *
 * Papers: Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015 (section
 * 3, Algorithm 1); the Dart paper, section VI-A (parameters).  Deviations: Documentation/dcqcn.md.
 */
#ifndef _QUELL_CORE_DCQCN_REACT_H
#define _QUELL_CORE_DCQCN_REACT_H

#include <quell/core/core.h>
#include <quell/core/dcqcn/params.h>
#include <quell/core/dcqcn/vars.h>
#include <quell/core/lib/math.h>
#include <quell/core/lib/undo.h>
#include <quell/core/lib/window.h>

/*
 * (@x_q32 / 2^32)^@n in Q32, at most 2^32, too small by 2 * @n * 2^-32 at most; @x_q32 is below
 * 2^32.  By squaring: at most 32 steps.  Every product is rounded down, which takes 2^-32 off a
 * factor, and a factor enters the result at most @n times.
 */
__once __rare u64 quell_dcqcn_pow_q32(u64 x_q32, u32 n)
{
	u64 power_q32 = 1ULL << 32;
	int i;

	for (i = 0; i < 32 && n; i++, n >>= 1) {
		if (n & 1)
			power_q32 = quell_mul_shr_fits_u64(power_q32, x_q32, 32);
		x_q32 = (x_q32 * x_q32) >> 32;
	}
	return power_q32;
}

/*
 * Whether a timer of @period_ns, at most 2^30, has expired more than @expiries times in @span_ns:
 * usually not, and the product avoids a division.
 */
static inline bool quell_dcqcn_is_due(u64 span_ns, u32 expiries, u64 period_ns)
{
	return span_ns >= (expiries + 1ULL) * period_ns;
}

/*
 * quell_dcqcn_decay() of any number of expiries.  The timer may have become longer since it was
 * found due: there may have been more expiries than it gives.
 */
static __rare void quell_dcqcn_decay_often(struct quell_dcqcn_vars *v,
					   const struct quell_dcqcn_params *p, u64 span_ns)
{
	u64 elapsed = quell_min_u64(quell_div_u64(span_ns, p->alpha_timer_ns), 0xffffffff);
	u64 keep_q32;

	keep_q32 = (QUELL_Q16_ONE - p->g_q16) << 16;
	keep_q32 = quell_dcqcn_pow_q32(keep_q32, quell_sub_sat_u64(elapsed, v->decays));
	v->alpha_q30 = quell_mul_shr_fits_u64(v->alpha_q30, keep_q32, 32);
	v->decays = quell_max_u64(elapsed, v->decays);
}

/*
 * Zhu et al., equation 2, once per expiry of the alpha timer within @span_ns: usually one, a
 * product of 2^30 * 2^16 at most.
 */
static inline void quell_dcqcn_decay(struct quell_dcqcn_vars *v,
				     const struct quell_dcqcn_params *p, u64 span_ns)
{
	if (quell_dcqcn_is_due(span_ns, v->decays + 1, p->alpha_timer_ns)) {
		quell_dcqcn_decay_often(v, p, span_ns);
		return;
	}
	v->alpha_q30 = (v->alpha_q30 * (QUELL_Q16_ONE - p->g_q16)) >> QUELL_Q16_SHIFT;
	v->decays++;
}

/* The rate of the link; if it is unknown, the largest rate that the core supports. */
static inline u64 quell_dcqcn_most_q16(u64 link_bytes_ps)
{
	if (!link_bytes_ps)
		link_bytes_ps = QUELL_DCQCN_MOST_BYTES_PS;
	return quell_min_u64(link_bytes_ps, QUELL_DCQCN_MOST_BYTES_PS) << QUELL_Q16_SHIFT;
}

static inline void quell_dcqcn_clamp(struct quell_dcqcn_vars *v,
				     const struct quell_dcqcn_params *p,
				     u64 link_bytes_ps)
{
	u64 most_q16 = quell_dcqcn_most_q16(link_bytes_ps);
	u64 least_q16 = p->min_rate_bytes_ps << QUELL_Q16_SHIFT;

	v->rate_q16 = quell_min_u64(v->rate_q16, most_q16);
	v->target_q16 = quell_min_u64(v->target_q16, most_q16);
	if (v->rate_q16 >= least_q16 && v->target_q16 >= least_q16)
		return;
	least_q16 = quell_min_u64(least_q16, most_q16);
	v->rate_q16 = quell_max_u64(v->rate_q16, least_q16);
	v->target_q16 = quell_max_u64(v->target_q16, least_q16);
}

/*
 * One increase, up to @most_q16; T and B select its kind: Zhu et al., Algorithm 1.  Returns the
 * new rate.
 */
__once __step u64 quell_dcqcn_increase(struct quell_dcqcn_vars *v,
				       const struct quell_dcqcn_params *p,
				       struct quell_dcqcn_stats *st, u64 most_q16)
{
	u64 step_bytes_ps = 0, high, low;

	if (quell_is_absent(v) || quell_is_absent(p) || quell_is_absent(st))
		return 0;
	high = quell_max_u64(v->timer_steps, v->byte_steps);
	low = quell_min_u64(v->timer_steps, v->byte_steps);
	if (high < p->fast_recovery_steps) {
		st->fast_recoveries++;
	} else if (low > p->fast_recovery_steps) {
		step_bytes_ps = p->hai_bytes_ps;
		st->hyper_increases++;
	} else {
		step_bytes_ps = p->ai_bytes_ps;
		st->additive_increases++;
	}
	v->target_q16 = quell_min_u64(v->target_q16 + (step_bytes_ps << QUELL_Q16_SHIFT),
				      most_q16);
	v->rate_q16 = (v->rate_q16 + v->target_q16) >> 1;
	return v->rate_q16;
}

/* quell_dcqcn_run_timer() of any number of expiries. */
static __rare void quell_dcqcn_run_timer_often(struct quell_dcqcn_vars *v,
					       const struct quell_dcqcn_params *p,
					       struct quell_dcqcn_stats *st,
					       const struct quell_sample *s, u64 span_ns)
{
	u64 elapsed = quell_min_u64(quell_div_u64(span_ns, p->timer_ns), 0xffffffff);
	u64 most_q16 = quell_dcqcn_most_q16(s->link_bytes_ps);
	int i;

	for (i = 0; i < QUELL_DCQCN_MOST_STEPS && v->timer_steps < elapsed; i++) {
		v->timer_steps++;
		quell_dcqcn_increase(v, p, st, most_q16);
	}
	if (v->timer_steps < elapsed) {
		st->forgone += elapsed - v->timer_steps;
		v->timer_steps = elapsed;
	}
}

/* The increases of the timer since the last ACK: usually one. */
static inline void quell_dcqcn_run_timer(struct quell_dcqcn_vars *v,
					 const struct quell_dcqcn_params *p,
					 struct quell_dcqcn_stats *st,
					 const struct quell_sample *s, u64 span_ns)
{
	if (quell_dcqcn_is_due(span_ns, v->timer_steps + 1, p->timer_ns)) {
		quell_dcqcn_run_timer_often(v, p, st, s, span_ns);
		return;
	}
	v->timer_steps++;
	quell_dcqcn_increase(v, p, st, quell_dcqcn_most_q16(s->link_bytes_ps));
}

/*
 * Both timers, in one call: their periods are equal by default, so they expire at once.  2^32
 * expiries wrap to 0, which counts as due.
 */
static __rare __flatten void quell_dcqcn_run_timers(struct quell_dcqcn_vars *v,
						    const struct quell_dcqcn_params *p,
						    struct quell_dcqcn_stats *st,
						    const struct quell_sample *s, u64 span_ns)
{
	if (quell_dcqcn_is_due(span_ns, v->decays, p->alpha_timer_ns))
		quell_dcqcn_decay(v, p, span_ns);
	if (quell_dcqcn_is_due(span_ns, v->timer_steps, p->timer_ns))
		quell_dcqcn_run_timer(v, p, st, s, span_ns);
}

/* The increases of the byte counter; @bytes: counted since it expired last. */
static __rare void quell_dcqcn_run_bytes(struct quell_dcqcn_vars *v,
					 const struct quell_dcqcn_params *p,
					 struct quell_dcqcn_stats *st,
					 const struct quell_sample *s, u64 bytes)
{
	u64 expired = quell_div_u64(bytes, p->byte_counter_bytes);
	u64 most_q16 = quell_dcqcn_most_q16(s->link_bytes_ps);
	u32 i;

	v->counted_bytes = bytes - expired * p->byte_counter_bytes;
	for (i = 0; i < QUELL_DCQCN_MOST_STEPS && i < expired; i++) {
		if (v->byte_steps < 0xffffffff)
			v->byte_steps++;
		quell_dcqcn_increase(v, p, st, most_q16);
	}
}

/* Run the timers and the byte counter up to this ACK. */
static inline void quell_dcqcn_expire(struct quell_dcqcn_vars *v,
				      const struct quell_dcqcn_params *p,
				      struct quell_dcqcn_stats *st,
				      const struct quell_sample *s)
{
	u64 span_ns = quell_sub_sat_u64(s->now_ns, v->since_ns);
	u64 bytes = (u64)v->counted_bytes + s->acked_bytes;

	if (quell_dcqcn_is_due(span_ns, v->decays, p->alpha_timer_ns) ||
	    quell_dcqcn_is_due(span_ns, v->timer_steps, p->timer_ns))
		quell_dcqcn_run_timers(v, p, st, s, span_ns);
	if (bytes < p->byte_counter_bytes)
		v->counted_bytes = bytes;
	else
		quell_dcqcn_run_bytes(v, p, st, s, bytes);
}

/* Timers, byte counter and their numbers of steps start again. */
static inline void quell_dcqcn_start_over(struct quell_dcqcn_vars *v, u64 now_ns)
{
	v->since_ns = now_ns;
	v->decays = 0;
	v->timer_steps = 0;
	v->byte_steps = 0;
	v->counted_bytes = 0;
}

/* Zhu et al., equation 1. */
static inline void quell_dcqcn_notify(struct quell_dcqcn_vars *v,
				      const struct quell_dcqcn_params *p, u64 now_ns)
{
	u64 keep_q16 = QUELL_Q16_ONE - p->g_q16;

	v->target_q16 = v->rate_q16;
	v->rate_q16 -= quell_mul_shr_fits_u64(v->rate_q16, v->alpha_q30, QUELL_DCQCN_ALPHA_Q + 1);
	v->alpha_q30 = ((v->alpha_q30 * keep_q16) >> QUELL_Q16_SHIFT) +
		       (p->g_q16 << (QUELL_DCQCN_ALPHA_Q - QUELL_Q16_SHIFT));
	quell_dcqcn_start_over(v, now_ns);
	v->flags |= QUELL_DCQCN_F_NOTIFIED;
}

/* Marks become a notification, or part of the last one. */
static inline void quell_dcqcn_mark(struct quell_dcqcn_vars *v,
				    const struct quell_dcqcn_params *p,
				    struct quell_dcqcn_stats *st,
				    const struct quell_sample *s)
{
	st->marked_bytes += s->marked_bytes;
	if ((v->flags & QUELL_DCQCN_F_NOTIFIED) &&
	    quell_sub_sat_u64(s->now_ns, v->since_ns) < p->notify_interval_ns) {
		st->held++;
		return;
	}
	quell_dcqcn_notify(v, p, s->now_ns);
	st->notifications++;
}

/* The window that the rate needs, bytes Q16. */
static inline u64 quell_dcqcn_rate_window_q16(const struct quell_dcqcn_vars *v,
					      const struct quell_dcqcn_params *p)
{
	u64 bytes = QUELL_INIT_SEGMENTS * (u64)v->mss_bytes;

	if (v->min_rtt_ns)
		bytes = quell_mul_div_u64(v->rate_q16 >> QUELL_Q16_SHIFT,
					  v->min_rtt_ns + p->queue_bound_ns,
					  QUELL_NS_PER_SEC);
	bytes = quell_max_u64(quell_min_u64(bytes, p->max_window_bytes), v->mss_bytes);
	return bytes << QUELL_Q16_SHIFT;
}

/* Limits the rate and fills in the decision. */
static inline void quell_dcqcn_decide(struct quell_dcqcn_vars *v,
				      const struct quell_dcqcn_params *p,
				      u64 link_bytes_ps, struct quell_decision *out)
{
	u64 max_q16 = p->max_window_bytes << QUELL_Q16_SHIFT;

	quell_dcqcn_clamp(v, p, link_bytes_ps);
	v->reno_q16 = quell_max_u64(quell_min_u64(v->reno_q16, max_q16),
				    quell_mss_q16(v->mss_bytes));
	out->target_ns = 0;
	out->change_path = false;
	if (!(v->flags & QUELL_DCQCN_F_ECN)) {
		out->window_q16 = v->reno_q16;
		out->pacing_bytes_ps = QUELL_RATE_UNLIMITED;
		return;
	}
	out->window_q16 = quell_dcqcn_rate_window_q16(v, p);
	/* Neither the least rate nor that of a link is below 1 byte/s. */
	out->pacing_bytes_ps = v->rate_q16 >> QUELL_Q16_SHIFT;
	if (!(v->flags & QUELL_DCQCN_F_LOSS))
		return;
	if (v->reno_q16 < out->window_q16)
		out->window_q16 = v->reno_q16;
	else
		v->flags &= ~QUELL_DCQCN_F_LOSS;
}

/* Stores a sample's smallest round-trip time and segment size. */
static inline void quell_dcqcn_observe(struct quell_dcqcn_vars *v,
				       const struct quell_sample *s)
{
	if (s->min_rtt_ns != v->min_rtt_ns && s->min_rtt_ns)
		v->min_rtt_ns = quell_min_u64(s->min_rtt_ns, 0xffffffff);
	if (s->mss_bytes != v->mss_bytes && s->mss_bytes)
		v->mss_bytes = s->mss_bytes;
}

/* A new flow's rate: the link's, or one initial window per round trip. */
static inline void quell_dcqcn_start(struct quell_dcqcn_vars *v,
				     u64 link_bytes_ps, u64 now_ns)
{
	u64 rtt_ns = v->min_rtt_ns ? v->min_rtt_ns : QUELL_DCQCN_UNKNOWN_RTT_NS;

	if (!link_bytes_ps)
		link_bytes_ps = quell_mul_div_u64(QUELL_INIT_SEGMENTS * (u64)v->mss_bytes,
						  QUELL_NS_PER_SEC, rtt_ns);
	v->rate_q16 = quell_dcqcn_most_q16(link_bytes_ps);
	v->target_q16 = v->rate_q16;
	v->alpha_q30 = QUELL_DCQCN_ALPHA_ONE;
	quell_dcqcn_start_over(v, now_ns);
	v->flags &= ~QUELL_DCQCN_F_NOTIFIED;
}

/* Dart VI-A: flows start at the line rate. */
static inline void quell_dcqcn_init(struct quell_dcqcn_vars *v, const struct quell_dcqcn_params *p,
				    const struct quell_sample *s, struct quell_decision *out)
{
	v->flags = s->flags & QUELL_S_ECN ? QUELL_DCQCN_F_ECN : 0;
	v->mss_bytes = s->mss_bytes ? s->mss_bytes : 1;
	v->min_rtt_ns = quell_min_u64(s->min_rtt_ns, 0xffffffff);
	v->reno_q16 = quell_init_window_q16(v->mss_bytes);
	quell_dcqcn_start(v, s->link_bytes_ps, s->now_ns);
	if (s->flags & QUELL_S_FITTED)
		v->alpha_q30 = QUELL_DCQCN_ALPHA_FITTED;
	quell_dcqcn_decide(v, p, s->link_bytes_ps, out);
}

/* Reno's congestion avoidance: one segment per window. */
static inline void quell_dcqcn_reno_increase(struct quell_dcqcn_vars *v,
					     const struct quell_sample *s)
{
	if (s->flags & QUELL_S_APP_LIMITED)
		return;
	v->reno_q16 = quell_reno_window_q16(v->reno_q16, s->acked_bytes, v->mss_bytes);
}

static inline __flatten void quell_dcqcn_on_ack(struct quell_dcqcn_vars *v,
						const struct quell_dcqcn_params *p,
						struct quell_dcqcn_stats *st,
						const struct quell_sample *s,
						struct quell_decision *out)
{
	quell_dcqcn_observe(v, s);
	if (!(v->flags & QUELL_DCQCN_F_ECN) || (v->flags & QUELL_DCQCN_F_LOSS))
		quell_dcqcn_reno_increase(v, s);
	quell_dcqcn_expire(v, p, st, s);
	if (s->marked_bytes)
		quell_dcqcn_mark(v, p, st, s);
	quell_dcqcn_decide(v, p, s->link_bytes_ps, out);
}

/* A loss halves the rate and sets the target to it; Reno's window applies from now on. */
static inline void quell_dcqcn_decrease_for_loss(struct quell_dcqcn_vars *v, u64 reno_bytes,
						 u64 now_ns)
{
	v->rate_q16 >>= 1;
	v->target_q16 = v->rate_q16;
	v->reno_q16 = quell_min_u64(reno_bytes, 0xffffffff) << QUELL_Q16_SHIFT;
	quell_dcqcn_start_over(v, now_ns);
	v->flags |= QUELL_DCQCN_F_LOSS;
}

/*
 * RFC 5681, equation 4: half of the bytes in flight, at least two segments, and never more than the
 * last window.
 */
static inline void quell_dcqcn_on_loss(struct quell_dcqcn_vars *v,
				       const struct quell_dcqcn_params *p,
				       struct quell_dcqcn_stats *st,
				       const struct quell_sample *s,
				       struct quell_decision *out)
{
	u64 window_q16;

	quell_dcqcn_observe(v, s);
	quell_dcqcn_decide(v, p, s->link_bytes_ps, out);
	window_q16 = quell_min_u64(out->window_q16,
				   (u64)s->inflight_bytes << QUELL_Q16_SHIFT);
	window_q16 = quell_max_u64(window_q16 / 2, 2 * quell_mss_q16(v->mss_bytes));
	window_q16 = quell_min_u64(window_q16, out->window_q16);
	quell_dcqcn_decrease_for_loss(v, window_q16 >> QUELL_Q16_SHIFT, s->now_ns);
	st->losses++;
	quell_dcqcn_decide(v, p, s->link_bytes_ps, out);
}

static inline void quell_dcqcn_on_rto(struct quell_dcqcn_vars *v,
				      const struct quell_dcqcn_params *p,
				      struct quell_dcqcn_stats *st,
				      const struct quell_sample *s,
				      struct quell_decision *out)
{
	quell_dcqcn_observe(v, s);
	quell_dcqcn_decrease_for_loss(v, v->mss_bytes, s->now_ns);
	st->rtos++;
	quell_dcqcn_decide(v, p, s->link_bytes_ps, out);
}

static inline void quell_dcqcn_undo_note(struct quell_undo *u,
					 const struct quell_dcqcn_vars *before,
					 const struct quell_dcqcn_vars *after)
{
	quell_undo_record(u, before->flags & QUELL_DCQCN_F_LOSS);
	quell_undo_note(&u->part[0], before->rate_q16, after->rate_q16);
	quell_undo_note(&u->part[1], before->target_q16, after->target_q16);
	quell_undo_note(&u->part[2], before->reno_q16, after->reno_q16);
}

static inline void quell_dcqcn_on_undo(struct quell_dcqcn_vars *v,
				       const struct quell_dcqcn_params *p,
				       const struct quell_sample *s,
				       const struct quell_undo *u,
				       struct quell_decision *out)
{
	quell_dcqcn_observe(v, s);
	v->rate_q16 = quell_undo_given_back(&u->part[0], v->rate_q16);
	v->target_q16 = quell_undo_given_back(&u->part[1], v->target_q16);
	v->reno_q16 = quell_undo_given_back(&u->part[2], v->reno_q16);
	if (!u->lost)
		v->flags &= ~QUELL_DCQCN_F_LOSS;
	quell_dcqcn_decide(v, p, s->link_bytes_ps, out);
}

/*
 * A message after a pause starts as a new flow does, except that Reno's window, which bounds a flow
 * after a loss or without marks, can only fall to the initial window (RFC 5681, section 4.1).
 */
static inline void quell_dcqcn_on_idle_restart(struct quell_dcqcn_vars *v,
					       const struct quell_dcqcn_params *p,
					       struct quell_dcqcn_stats *st,
					       const struct quell_sample *s,
					       struct quell_decision *out)
{
	quell_dcqcn_observe(v, s);
	if (quell_is_restart(p->restart_idle_ns, s->idle_ns)) {
		v->reno_q16 = quell_min_u64(v->reno_q16, quell_init_window_q16(v->mss_bytes));
		quell_dcqcn_start(v, s->link_bytes_ps, s->now_ns);
		st->restarts++;
	}
	quell_dcqcn_decide(v, p, s->link_bytes_ps, out);
}

#endif /* _QUELL_CORE_DCQCN_REACT_H */

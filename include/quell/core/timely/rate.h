/* SPDX-License-Identifier: GPL-2.0 */
/*
 * TIMELY: the update of a flow's rate on a completion (Algorithm 1, and the
 * additions of section 5).  The limits of the rate and the events of a flow are in
 * quell/core/timely/react.h, which describes the algorithm.
 */
#ifndef _QUELL_CORE_TIMELY_RATE_H
#define _QUELL_CORE_TIMELY_RATE_H

#include <quell/core/core.h>
#include <quell/core/lib/math.h>
#include <quell/core/timely/params.h>
#include <quell/core/timely/vars.h>

/* Whether the gradient is above zero. */
static inline bool quell_timely_rising(const struct quell_timely_vars *v)
{
	return v->diff_ns_q16 && !(v->flags & QUELL_TIMELY_F_FALLING);
}

/*
 * Lines 1 to 3 of Algorithm 1: the moving average of the differences, with signs kept apart from
 * magnitudes.  The product with (1 - alpha) is rounded toward zero, so that the average reaches
 * zero if the round-trip time stays constant.  The average is below 2^48 + 2^48.
 */
static inline void quell_timely_average(struct quell_timely_vars *v,
					const struct quell_timely_params *p,
					u32 rtt_ns)
{
	u64 old_q16 = quell_mul_shr_fits_u64(v->diff_ns_q16, QUELL_Q16_ONE - p->alpha_q16,
					     QUELL_Q16_SHIFT);
	bool old_falls = v->flags & QUELL_TIMELY_F_FALLING;
	bool new_falls = rtt_ns < v->prev_rtt_ns;
	u64 new_q16;
	bool falls;

	new_q16 = new_falls ? v->prev_rtt_ns - rtt_ns : rtt_ns - v->prev_rtt_ns;
	new_q16 *= p->alpha_q16;
	falls = new_q16 > old_q16 ? new_falls : old_falls;
	if (old_falls == new_falls)
		v->diff_ns_q16 = old_q16 + new_q16;
	else
		v->diff_ns_q16 = quell_max_u64(old_q16, new_q16) -
				 quell_min_u64(old_q16, new_q16);
	v->flags &= ~QUELL_TIMELY_F_FALLING;
	if (falls)
		v->flags |= QUELL_TIMELY_F_FALLING;
	v->prev_rtt_ns = rtt_ns;
	if (!new_falls)
		v->falling_nr = 0;
	else if (v->falling_nr < 255)
		v->falling_nr++;
}

/* beta times the gradient's magnitude, not above 1, Q32. */
static inline u64 quell_timely_gradient_decrease_q32(const struct quell_timely_vars *v,
						     const struct quell_timely_params *p,
						     u64 beta_q16)
{
	return quell_min_u64(quell_mul_div_u64(v->diff_ns_q16, beta_q16, p->min_rtt_ns),
			     QUELL_TIMELY_DECREASE_ONE);
}

/*
 * Section 5: the share of a minimum round-trip time that passed since the last
 * completion, Q32, so that all completions within one such time count once.
 */
static inline u64 quell_timely_weight_q32(const struct quell_timely_vars *v,
					  const struct quell_timely_params *p,
					  u64 now_ns)
{
	u64 since_ns = quell_sub_sat_u64(now_ns, v->last_ns);

	if (since_ns >= p->min_rtt_ns)
		return QUELL_TIMELY_DECREASE_ONE;
	return quell_div_u64(since_ns << QUELL_TIMELY_DECREASE_Q, p->min_rtt_ns);
}

/*
 * Section 5: counts the bytes sent since the last completion, and the bytes that
 * the rate would have allowed.  Older bytes fade: both sums are scaled down so
 * that the bytes allowed never exceed a few segments.
 */
static inline void quell_timely_note_demand(struct quell_timely_vars *v,
					    const struct quell_timely_params *p,
					    u64 now_ns)
{
	u64 most_bytes = QUELL_TIMELY_DEMAND_SEGMENTS * p->segment_bytes;
	u64 since_ns = quell_sub_sat_u64(now_ns, v->last_ns);
	u64 allowed_bytes, sent_bytes;

	allowed_bytes = quell_mul_div_u64(v->rate_q16 >> QUELL_Q16_SHIFT, since_ns,
					  QUELL_NS_PER_SEC);
	allowed_bytes = quell_add_sat_u64(v->allowed_bytes, allowed_bytes);
	sent_bytes = (u64)v->sent_bytes + v->since_bytes;
	if (allowed_bytes > most_bytes) {
		sent_bytes = quell_mul_div_u64(sent_bytes, most_bytes, allowed_bytes);
		allowed_bytes = most_bytes;
	}
	/* Bytes sent beyond the limit are not carried over. */
	v->sent_bytes = quell_min_u64(sent_bytes, most_bytes);
	v->allowed_bytes = allowed_bytes;
}

/* Whether the flow sent more than 80 % of the bytes that the rate allowed. */
static inline bool quell_timely_has_demand(const struct quell_timely_vars *v)
{
	return 5ULL * v->sent_bytes > 4ULL * v->allowed_bytes;
}

static inline void quell_timely_increase(struct quell_timely_vars *v,
					 struct quell_timely_stats *st,
					 u64 step_bytes_ps, u64 weight_q32)
{
	if (!quell_timely_has_demand(v)) {
		st->app_limited++;
		return;
	}
	/* At most 2^34 * 1000 * 2^16 < 2^60. */
	v->rate_q16 += quell_mul_shr_fits_u64(step_bytes_ps << QUELL_Q16_SHIFT, weight_q32,
					      QUELL_TIMELY_DECREASE_Q);
}

static inline void quell_timely_decrease(struct quell_timely_vars *v, u64 decrease_q32,
					 u64 weight_q32)
{
	decrease_q32 = quell_mul_shr_fits_u64(decrease_q32, weight_q32, QUELL_TIMELY_DECREASE_Q);
	v->rate_q16 -= quell_mul_shr_fits_u64(v->rate_q16, decrease_q32, QUELL_TIMELY_DECREASE_Q);
}

/* Between the thresholds as Zhu et al. patch it. */
static __rare void quell_timely_patched(struct quell_timely_vars *v,
					const struct quell_timely_params *p,
					struct quell_timely_stats *st,
					u64 rtt_ns, u64 weight_q32)
{
	u64 twice_q32 = quell_timely_gradient_decrease_q32(v, p, 2 * QUELL_Q16_ONE);
	u64 w_q32 = QUELL_TIMELY_DECREASE_ONE / 2;
	u64 error_ns, change_q32;

	w_q32 = quell_timely_rising(v) ?
		quell_min_u64(w_q32 + twice_q32, QUELL_TIMELY_DECREASE_ONE) :
		quell_sub_sat_u64(w_q32, twice_q32);
	error_ns = rtt_ns > p->patched_ref_ns ? rtt_ns - p->patched_ref_ns :
						p->patched_ref_ns - rtt_ns;
	change_q32 = quell_mul_div_u64(p->patched_beta_q16 << 16, error_ns,
				       p->patched_ref_ns);
	change_q32 = quell_mul_shr_u64(quell_min_u64(change_q32, QUELL_TIMELY_DECREASE_ONE),
				       w_q32, QUELL_TIMELY_DECREASE_Q);
	if (rtt_ns > p->patched_ref_ns)
		quell_timely_decrease(v, change_q32, weight_q32);
	else
		quell_timely_increase(v, st,
				      quell_mul_shr_u64(v->rate_q16 >> QUELL_Q16_SHIFT,
							change_q32, QUELL_TIMELY_DECREASE_Q),
				      weight_q32);
	quell_timely_increase(v, st,
			      quell_mul_shr_u64(p->delta_bytes_ps,
						QUELL_TIMELY_DECREASE_ONE - w_q32,
						QUELL_TIMELY_DECREASE_Q),
			      weight_q32);
}

/* Between the thresholds the gradient decides. */
static inline void quell_timely_gradient(struct quell_timely_vars *v,
					 const struct quell_timely_params *p,
					 struct quell_timely_stats *st,
					 u64 weight_q32)
{
	u64 steps = 1;

	if (quell_timely_rising(v)) {
		quell_timely_decrease(v, quell_timely_gradient_decrease_q32(v, p, p->beta_q16),
				      weight_q32);
		return;
	}
	if (v->falling_nr >= p->hai_after_nr) {
		steps = p->hai_nr;
		st->hai++;
	}
	quell_timely_increase(v, st, steps * p->delta_bytes_ps, weight_q32);
}

/* Algorithm 1 from its fifth line on. */
static inline void quell_timely_update(struct quell_timely_vars *v,
				       const struct quell_timely_params *p,
				       struct quell_timely_stats *st,
				       u64 rtt_ns, u64 weight_q32)
{
	if (rtt_ns < p->t_low_ns) {
		st->below_low++;
		quell_timely_increase(v, st, p->delta_bytes_ps, weight_q32);
		return;
	}
	if (rtt_ns > p->t_high_ns) {
		st->above_high++;
		quell_timely_decrease(v, quell_mul_div_u64(p->beta_q16 << 16,
							   rtt_ns - p->t_high_ns, rtt_ns),
				      weight_q32);
		return;
	}
	if (quell_timely_rising(v))
		st->gradient_up++;
	else
		st->gradient_down++;
	if (p->patched_bool)
		quell_timely_patched(v, p, st, rtt_ns, weight_q32);
	else
		quell_timely_gradient(v, p, st, weight_q32);
}

/* A segment was acknowledged in full.  The first such segment gives no difference. */
static inline void quell_timely_complete(struct quell_timely_vars *v,
					 const struct quell_timely_params *p,
					 struct quell_timely_stats *st,
					 const struct quell_sample *s)
{
	u32 rtt_ns = quell_min_u64(s->rtt_ns, 0xffffffffU);
	u64 weight_q32 = QUELL_TIMELY_DECREASE_ONE;

	if (v->flags & QUELL_TIMELY_F_PREV) {
		weight_q32 = quell_timely_weight_q32(v, p, s->now_ns);
		quell_timely_note_demand(v, p, s->now_ns);
		quell_timely_average(v, p, rtt_ns);
	} else {
		v->sent_bytes = v->since_bytes;
		v->prev_rtt_ns = rtt_ns;
		v->flags |= QUELL_TIMELY_F_PREV;
	}
	v->last_ns = s->now_ns;
	v->since_bytes = 0;
	quell_timely_update(v, p, st, rtt_ns, weight_q32);
}

#endif /* _QUELL_CORE_TIMELY_RATE_H */

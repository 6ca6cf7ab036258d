/* SPDX-License-Identifier: GPL-2.0 */
/* SMaRTT: reductions of the window, for marks with delay (equation 1) and for loss. */
#ifndef _QUELL_CORE_SMARTT_DECREASE_H
#define _QUELL_CORE_SMARTT_DECREASE_H

#include <quell/core/smartt/vars.h>

/* At most one decrease per base round trip. */
static inline bool quell_smartt_may_decrease(const struct quell_smartt_vars *v,
					     u64 now_ns)
{
	return !(v->flags & QUELL_SMARTT_F_DECREASED) ||
	       quell_smartt_passed(now_ns, v->decrease_ns, v->base_rtt_ns);
}

/* Takes the fraction @decrease_q24 <= 1 off the window, rounded down. */
static inline void quell_smartt_reduce(struct quell_smartt_vars *v, u64 decrease_q24,
				       u64 now_ns)
{
	v->window_q16 -= quell_mul_shr_fits_u64(v->window_q16, decrease_q24, QUELL_SMARTT_SHARE_Q);
	v->decrease_ns = now_ns;
	v->flags |= QUELL_SMARTT_F_DECREASED;
	v->flags &= ~QUELL_SMARTT_F_FAST;
	v->clear_bytes = 0;
}

/* Equation 1, once per base round trip. */
static inline void quell_smartt_decrease(struct quell_smartt_vars *v,
					 const struct quell_smartt_params *p,
					 struct quell_smartt_stats *st, u64 now_ns,
					 u64 target_ns)
{
	const u32 shift = QUELL_SMARTT_SHARE_Q - QUELL_Q16_SHIFT;
	u64 target_q4 = target_ns << QUELL_SMARTT_AVG_Q;
	u64 whole_q4 = v->avg_rtt_q4;
	u64 decrease_q24;

	if (whole_q4 <= target_q4 || !quell_smartt_may_decrease(v, now_ns)) {
		st->held++;
		return;
	}
	if (p->md_queueing)
		whole_q4 -= (u64)v->base_rtt_ns << QUELL_SMARTT_AVG_Q;
	/* md is below 2^17, times 2^8; the average below 2^32. */
	decrease_q24 = quell_div_u64((p->md_q16 << shift) * (v->avg_rtt_q4 - target_q4),
				     whole_q4);
	quell_smartt_reduce(v, quell_min_u64(decrease_q24, p->max_mdf_q16 << shift), now_ns);
	st->decreases++;
}

/*
 * The fraction by which a loss reduces the window: max_mdf; without a delay
 * signal, at least one half, as in Reno.
 */
static inline u64 quell_smartt_loss_decrease_q24(const struct quell_smartt_vars *v,
						 const struct quell_smartt_params *p)
{
	u64 decrease_q16 = p->max_mdf_q16;

	if (!quell_smartt_has_signal(v))
		decrease_q16 = quell_max_u64(decrease_q16, QUELL_Q16_ONE / 2);
	return decrease_q16 << (QUELL_SMARTT_SHARE_Q - QUELL_Q16_SHIFT);
}

#endif /* _QUELL_CORE_SMARTT_DECREASE_H */

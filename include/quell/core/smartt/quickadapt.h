/* SPDX-License-Identifier: GPL-2.0 */
/* SMaRTT: QuickAdapt (section III-E) and its ignore phase. */
#ifndef _QUELL_CORE_SMARTT_QUICKADAPT_H
#define _QUELL_CORE_SMARTT_QUICKADAPT_H

#include <quell/core/smartt/vars.h>

/* Without trimming: the delay is high and little is delivered (section III-E). */
static inline bool quell_smartt_is_severe(const struct quell_smartt_vars *v,
					  const struct quell_smartt_params *p,
					  const struct quell_smartt_delay *d)
{
	u64 limit_ns = ((d->target_ns - v->base_rtt_ns) * p->qa_delay_q16) >> QUELL_Q16_SHIFT;

	if (d->rtt_ns - v->base_rtt_ns <= limit_ns)
		return false;
	return v->delivered_bytes < ((v->window_q16 >> QUELL_Q16_SHIFT) * p->qa_low_q16) >>
				    QUELL_Q16_SHIFT;
}

/* The window becomes the bytes delivered in the period, and the flight is ignored. */
static __rare void quell_smartt_adapt(struct quell_smartt_vars *v,
				      const struct quell_smartt_params *p,
				      struct quell_smartt_stats *st,
				      const struct quell_sample *s)
{
	v->window_q16 = quell_max_u64((u64)v->delivered_bytes << QUELL_Q16_SHIFT,
				      quell_mss_q16(v->mss_bytes));
	v->pending_bytes2 = 0;
	v->flags &= ~QUELL_SMARTT_F_QA_DUE;
	if (p->ignore)
		v->ignore_bytes = quell_sub_sat_u64(s->inflight_bytes, s->acked_bytes);
	st->quick_adapts++;
}

/* Algorithm 2; true when the window was set. */
static inline bool quell_smartt_quick_adapt(struct quell_smartt_vars *v,
					    const struct quell_smartt_params *p,
					    struct quell_smartt_stats *st,
					    const struct quell_sample *s,
					    const struct quell_smartt_delay *d)
{
	bool adapt = false;

	if (v->flags & QUELL_SMARTT_F_MEASURING) {
		if (!quell_smartt_passed(s->now_ns, v->period_ns, d->target_ns))
			return false;
		adapt = p->qa && ((v->flags & QUELL_SMARTT_F_QA_DUE) ||
				  quell_smartt_is_severe(v, p, d));
		if (adapt)
			quell_smartt_adapt(v, p, st, s);
	}
	v->flags |= QUELL_SMARTT_F_MEASURING;
	v->period_ns = s->now_ns;
	v->delivered_bytes = 0;
	return adapt;
}

/* Whether this ACK falls into the ignore phase; subtracts the bytes that left the network. */
static __rare bool quell_smartt_ignores(struct quell_smartt_vars *v,
					const struct quell_smartt_params *p,
					const struct quell_sample *s)
{
	u64 gone_bytes = (u64)s->acked_bytes + s->trimmed_bytes + s->lost_bytes;

	v->ignore_bytes = quell_sub_sat_u64(v->ignore_bytes, gone_bytes);
	return v->ignore_bytes && (s->marked_bytes || !p->ignore_marked);
}

/*
 * Algorithm 4, packets trimmed by a switch.  Trimmed packets of a flight for which
 * QuickAdapt has acted do not reduce the window (section III-E), although line 16 subtracts all.
 */
static __rare void quell_smartt_on_trim(struct quell_smartt_vars *v,
					const struct quell_smartt_params *p,
					struct quell_smartt_stats *st,
					const struct quell_sample *s, u64 target_ns)
{
	struct quell_smartt_delay d = { .rtt_ns = v->base_rtt_ns, .target_ns = target_ns };
	u64 trimmed_q16 = (u64)s->trimmed_bytes << QUELL_Q16_SHIFT;

	st->trimmed++;
	if (!v->ignore_bytes || !p->ignore_trims)
		v->window_q16 = quell_max_u64(quell_sub_sat_u64(v->window_q16, trimmed_q16),
					      quell_mss_q16(v->mss_bytes));
	v->flags |= QUELL_SMARTT_F_QA_DUE;
	if (!v->ignore_bytes && quell_smartt_has_signal(v))
		quell_smartt_quick_adapt(v, p, st, s, &d);
}

#endif /* _QUELL_CORE_SMARTT_QUICKADAPT_H */

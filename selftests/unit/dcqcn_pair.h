/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The integer core of DCQCN and its floating-point model side by side: state that the model takes
 * over from the core, and by how much the two may differ after a step from the same state.
 */
#ifndef _QUELL_TEST_DCQCN_PAIR_H
#define _QUELL_TEST_DCQCN_PAIR_H

#include <math.h>

#include <quell/core/dcqcn/core.h>

#include "dcqcn_model.h"

static inline void dcqcn_pair_params(struct dcqcn_model_params *mp,
				     const struct quell_dcqcn_params *p)
{
	mp->g = p->g_q16 / 65536.0;
	mp->notify_interval_ns = p->notify_interval_ns;
	mp->alpha_timer_ns = p->alpha_timer_ns;
	mp->timer_ns = p->timer_ns;
	mp->byte_counter_bytes = p->byte_counter_bytes;
	mp->f = p->fast_recovery_steps;
	mp->rai = p->ai_bytes_ps;
	mp->rhai = p->hai_bytes_ps;
	mp->min_rate = p->min_rate_bytes_ps;
	mp->queue_bound_ns = p->queue_bound_ns;
	mp->max_window_bytes = p->max_window_bytes;
	mp->restart_idle_ns = p->restart_idle_ns;
}

/* Set the model to the core's state. */
static inline void dcqcn_pair_follow(struct dcqcn_model *m, const struct quell_dcqcn_vars *v,
				     const struct quell_dcqcn_params *p)
{
	m->rc = v->rate_q16 / 65536.0;
	m->rt = v->target_q16 / 65536.0;
	m->alpha = v->alpha_q30 / (double)QUELL_DCQCN_ALPHA_ONE;
	m->last_notification_ns = v->since_ns;
	m->next_alpha_ns = v->since_ns + (v->decays + 1.0) * p->alpha_timer_ns;
	m->next_timer_ns = v->since_ns + (v->timer_steps + 1.0) * p->timer_ns;
	m->bytes = v->counted_bytes;
	m->t = v->timer_steps;
	m->bc = v->byte_steps;
	m->reno_window = v->reno_q16 / 65536.0;
	m->base_rtt_ns = v->min_rtt_ns;
	m->mss_bytes = v->mss_bytes;
	m->ecn = v->flags & QUELL_DCQCN_F_ECN;
	m->notified = v->flags & QUELL_DCQCN_F_NOTIFIED;
	m->after_loss = v->flags & QUELL_DCQCN_F_LOSS;
}

/*
 * alpha's error after a step: its last bit twice, and that of the power, which
 * is too small by 2 n 2^-32 at most and never below zero.
 */
static inline double dcqcn_pair_alpha_bound(const struct dcqcn_model *before,
					    const struct dcqcn_model_params *mp, double now_ns)
{
	double n = fmax((now_ns - before->next_alpha_ns) / mp->alpha_timer_ns + 1, 0);
	double left = before->alpha * pow(1 - mp->g, floor(n));

	return 0x1p-29 + fmin(n * 0x1p-31, left);
}

/*
 * The rate's error after a step, bytes/s: 2^-17 at every increase, each halving
 * the earlier error, so less than 2^-16 together; a cut adds 2^-16 and half of
 * alpha's error of the rate, which is the target after a cut.  A start without a
 * known link rounds to a byte/s.  Doubles lose 2^-50.
 */
static inline double dcqcn_pair_rate_bound(const struct dcqcn_model *before,
					   const struct dcqcn_model_params *mp,
					   const struct dcqcn_model *after, bool started,
					   double now_ns)
{
	double largest = fmax(fmax(before->rc, before->rt), after->rt);

	return 0x1p-15 + QUELL_DCQCN_MOST_BYTES_PS * 0x1p-50 + started +
	       largest * dcqcn_pair_alpha_bound(before, mp, now_ns) / 2;
}

/*
 * The window's error, bytes: two roundings to a byte; less than a byte in the
 * divisor of Reno's increase; the rate's error and its rounding to bytes/s over
 * the time the window covers.
 */
static inline double dcqcn_pair_window_bound(const struct dcqcn_model *before,
					     const struct dcqcn_model_params *mp,
					     const struct dcqcn_model *after,
					     double acked_bytes, double rate_error)
{
	double reno = fmax(before->reno_window, after->mss_bytes);

	return 2 + after->mss_bytes * acked_bytes / reno / (reno - 1) +
	       (rate_error + 1) * (after->base_rtt_ns + mp->queue_bound_ns) / 1e9;
}

#endif /* _QUELL_TEST_DCQCN_PAIR_H */

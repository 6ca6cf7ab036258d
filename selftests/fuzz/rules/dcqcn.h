/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Promises of DCQCN beside those of every algorithm:
 *
 *	rate and target stay between the smallest rate and the link's
 *	the window stays within its limits, and equals Reno's after a loss
 *	a flow without ECN feedback is not paced and has Reno's window
 *	a notification at most halves the rate, at most once per interval
 *	without a notification the rate does not fall
 *	loss and timeouts never raise the window, nor does a restart after loss
 *	alpha stays within 0 and 1, and does not rise without a notification
 *	every call counts its event exactly once
 */
#ifndef _QUELL_FUZZ_RULES_DCQCN_H
#define _QUELL_FUZZ_RULES_DCQCN_H

#include <quell/core/dcqcn/core.h>

#include "../rules.h"

FUZZ_FLOW(dcqcn)

static u64 most_rate_q16(const struct quell_sample *s)
{
	u64 most = 1ULL << 37;

	return (s->link_bytes_ps && s->link_bytes_ps < most ? s->link_bytes_ps : most) << 16;
}

static u64 least_rate_q16(const struct flow *f, const struct quell_sample *s)
{
	u64 least_q16 = f->p->min_rate_bytes_ps << 16;

	return least_q16 < most_rate_q16(s) ? least_q16 : most_rate_q16(s);
}

static u64 between(u64 value, u64 low, u64 high)
{
	value = value < high ? value : high;
	return value > low ? value : low;
}

static void check_decision(const struct flow *f, const struct quell_sample *s)
{
	u64 mss_q16 = (u64)f->v->mss_bytes << 16;

	require(f->v->mss_bytes > 0, "segment size is positive");
	require(f->v->alpha_q30 <= QUELL_DCQCN_ALPHA_ONE, "alpha is at most 1");
	require(f->out->window_q16 >= mss_q16, "one segment at least");
	require(f->out->window_q16 <= f->p->max_window_bytes << 16 ||
		f->out->window_q16 == mss_q16, "largest window");
	require(f->v->rate_q16 <= most_rate_q16(s) && f->v->target_q16 <= most_rate_q16(s),
		"no more than the link");
	require(f->v->rate_q16 >= least_rate_q16(f, s), "smallest rate");
	require(!f->out->target_ns, "no target delay");
	if (!(f->v->flags & QUELL_DCQCN_F_ECN)) {
		require(f->out->window_q16 == f->v->reno_q16 &&
			f->out->pacing_bytes_ps == QUELL_RATE_UNLIMITED, "Reno alone");
		return;
	}
	require(f->out->pacing_bytes_ps == (f->v->rate_q16 >> 16 ? f->v->rate_q16 >> 16 : 1),
		"paced by the rate");
	if (f->v->flags & QUELL_DCQCN_F_LOSS)
		require(f->out->window_q16 == f->v->reno_q16, "Reno's after a loss");
}

static void check_rate(const struct flow *f, const struct quell_sample *s)
{
	u64 notifications = f->st->notifications - f->counted->notifications;
	u64 steps = f->st->fast_recoveries + f->st->additive_increases + f->st->hyper_increases -
		    f->counted->fast_recoveries - f->counted->additive_increases -
		    f->counted->hyper_increases;
	u64 before_q16 = between(f->before->rate_q16, least_rate_q16(f, s), most_rate_q16(s));

	require(steps <= 2 * QUELL_DCQCN_MOST_STEPS, "bounded number of steps");
	if (!notifications && f->before->target_q16 >= f->before->rate_q16)
		require(f->v->rate_q16 >= before_q16, "without notification no decrease");
	if (!steps && f->before->rate_q16 <= most_rate_q16(s))
		require(f->v->rate_q16 + 1 >= before_q16 / 2, "half at most");
	if (!steps)
		require(f->v->rate_q16 <= before_q16, "no step, no increase");
	if (!notifications)
		require(f->v->alpha_q30 <= f->before->alpha_q30, "alpha decays");
}

static void check_ack(const struct flow *f, const struct quell_sample *s)
{
	u64 since_ns = s->now_ns > f->before->since_ns ? s->now_ns - f->before->since_ns : 0;
	u64 counted = f->counted->notifications + f->counted->held;

	require(f->st->notifications + f->st->held == counted + !!s->marked_bytes,
		"marks count once");
	if (f->st->notifications != f->counted->notifications)
		require(!(f->before->flags & QUELL_DCQCN_F_NOTIFIED) ||
			since_ns >= f->p->notify_interval_ns, "once per interval");
	require(f->v->counted_bytes < f->p->byte_counter_bytes, "byte counter expires");
	check_rate(f, s);
}

/* The window before the event, within the limits now in force. */
static u64 window_before_q16(const struct flow *f, const struct quell_sample *s)
{
	struct quell_dcqcn_vars v = *f->before;
	struct quell_decision out;

	quell_dcqcn_observe(&v, s);
	quell_dcqcn_decide(&v, f->p, s->link_bytes_ps, &out);
	return out.window_q16;
}

static void check_loss(const struct flow *f, const struct quell_sample *s)
{
	u64 window_q16 = window_before_q16(f, s);
	u64 mss_q16 = (u64)f->v->mss_bytes << 16;

	require(f->out->window_q16 <= window_q16, "loss never raises");
	require(f->out->window_q16 <= window_q16 / 2 || f->out->window_q16 <= 2 * mss_q16,
		"half of the window");
	require(f->st->losses == f->counted->losses + 1, "a loss counts");
}

static void check_rto(const struct flow *f, const struct quell_sample *s)
{
	require(f->out->window_q16 == (u64)f->v->mss_bytes << 16, "one segment");
	require(f->st->rtos == f->counted->rtos + 1, "a timeout counts");
}

static void check_idle(const struct flow *f, const struct quell_sample *s)
{
	u64 window_q16 = window_before_q16(f, s);

	if (!f->p->restart_idle_ns || f->ev->sample.idle_ns < f->p->restart_idle_ns)
		require(f->out->window_q16 == window_q16, "too early to restart");
	if (!(f->v->flags & QUELL_DCQCN_F_ECN))
		require(f->out->window_q16 <= window_q16, "restart without marks");
	if (f->v->flags & QUELL_DCQCN_F_LOSS)
		require(f->v->reno_q16 <= f->before->reno_q16 ||
			f->v->reno_q16 == (u64)f->v->mss_bytes << 16, "restart after loss");
}

static const struct fuzz_rules rules = {
	.ack = check_ack, .loss = check_loss, .rto = check_rto, .idle = check_idle,
	.decision = check_decision,
};

#endif /* _QUELL_FUZZ_RULES_DCQCN_H */

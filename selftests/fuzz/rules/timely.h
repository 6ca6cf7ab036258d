/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Promises of TIMELY beside those of every algorithm:
 *
 *	rate and window stay within their limits, the decision repeats the state
 *	an increase is no more than the steps allowed, and needs demand
 *	above t_high, and with a rising gradient, the rate does not grow
 *	two completions at one time count as one
 *	loss takes at least half of rate and window, a timeout all
 *	without an ACK only a restart raises the rate
 *	every completion counts in one zone
 */
#ifndef _QUELL_FUZZ_RULES_TIMELY_H
#define _QUELL_FUZZ_RULES_TIMELY_H

#include <quell/core/timely/core.h>

#include "../rules.h"

FUZZ_FLOW(timely)

static u64 smaller(u64 a, u64 b)
{
	return a < b ? a : b;
}

static u64 larger(u64 a, u64 b)
{
	return a > b ? a : b;
}

/* Largest rate in bytes/s, as the parameters define it. */
static u64 most_rate(const struct flow *f, u64 link_bytes_ps)
{
	u64 most = f->p->max_rate_bytes_ps ? f->p->max_rate_bytes_ps : 1ULL << 40;

	if (link_bytes_ps)
		most = smaller(most, link_bytes_ps);
	return most;
}

/* The rate before the event, within the limits now in force. */
static u64 rate_before_q16(const struct flow *f, u64 link_bytes_ps)
{
	return smaller(larger(f->before->rate_q16, f->p->min_rate_bytes_ps << 16),
		       most_rate(f, link_bytes_ps) << 16);
}

static void check_decision(const struct flow *f, const struct quell_sample *s)
{
	u64 rate = f->v->rate_q16 >> 16;
	u64 most = most_rate(f, s->link_bytes_ps);

	require(f->v->mss_bytes > 0, "segment size is positive");
	require(f->out->window_q16 == f->v->window_q16, "decision is the state");
	require(f->v->window_q16 >= (u64)f->v->mss_bytes << 16, "one packet at least");
	require(f->v->window_q16 <= larger(QUELL_TIMELY_MAX_OUTSTANDING_BYTES_MAX,
					  f->v->mss_bytes) << 16, "largest window");
	if (f->p->max_outstanding_bytes)
		require(f->v->window_q16 <= larger(f->p->max_outstanding_bytes,
						  f->v->mss_bytes) << 16,
			"bound on outstanding data");
	require(rate <= most, "rate of the link");
	require(rate >= smaller(f->p->min_rate_bytes_ps, most), "smallest rate");
	require(f->out->pacing_bytes_ps == (f->v->flags & QUELL_TIMELY_F_SIGNAL ?
					   larger(rate, 1) : QUELL_RATE_UNLIMITED),
		"paced by the rate, with a signal");
}

static u64 zones(const struct quell_timely_stats *st)
{
	return st->below_low + st->above_high + st->gradient_up + st->gradient_down;
}

static void check_completion(const struct flow *f, const struct quell_sample *s)
{
	u64 before_q16 = rate_before_q16(f, s->link_bytes_ps);
	u64 step_q16 = f->p->delta_bytes_ps << 16;
	bool up = f->v->rate_q16 > before_q16;
	u64 rtt_ns = smaller(s->rtt_ns, 0xffffffff);

	require(f->v->last_ns == s->now_ns && f->v->prev_rtt_ns == rtt_ns, "remembered");
	if (rtt_ns > f->p->t_high_ns && rtt_ns >= f->p->t_low_ns)
		require(!up, "no growth above t_high");
	if (f->st->gradient_up > f->counted->gradient_up && !f->p->patched_bool)
		require(!up, "no growth with a rising gradient");
	if (up)
		require(5ULL * f->v->sent_bytes > 4ULL * f->v->allowed_bytes, "demand");
	if (up && !f->p->patched_bool) {
		if (f->st->hai > f->counted->hai)
			step_q16 *= f->p->hai_nr;
		require(f->v->rate_q16 - before_q16 <= step_q16, "one step at most");
	}
	if (f->before->flags & QUELL_TIMELY_F_PREV && s->now_ns <= f->before->last_ns)
		require(f->v->rate_q16 == before_q16, "completions of one time");
}

static void check_ack(const struct flow *f, const struct quell_sample *s)
{
	bool completes = s->rtt_ns && (s->flags & QUELL_S_SEGMENT_DONE ||
				       (u64)f->before->since_bytes + s->acked_bytes >=
				       f->p->segment_bytes);

	require(f->st->no_rtt == f->counted->no_rtt + !s->rtt_ns, "ACKs without a time");
	require(zones(f->st) == zones(f->counted) + completes, "one zone");
	if (completes)
		check_completion(f, s);
	else
		require(f->v->rate_q16 == rate_before_q16(f, s->link_bytes_ps),
			"no completion, no change");
}

static void check_loss(const struct flow *f, const struct quell_sample *s)
{
	u64 least_q16 = smaller(f->p->min_rate_bytes_ps, most_rate(f, s->link_bytes_ps)) << 16;

	require(f->v->rate_q16 <= larger(f->before->rate_q16 / 2, least_q16), "half the rate");
	require(f->v->window_q16 <= larger(f->before->window_q16 / 2,
					  (u64)f->v->mss_bytes << 16) ||
		!(f->v->flags & QUELL_TIMELY_F_LOSS), "half the window");
}

static void check_rto(const struct flow *f, const struct quell_sample *s)
{
	u64 least_q16 = smaller(f->p->min_rate_bytes_ps, most_rate(f, s->link_bytes_ps)) << 16;

	require(f->v->rate_q16 == least_q16, "a timeout takes all");
	require(f->v->window_q16 == (u64)f->v->mss_bytes << 16, "one packet");
}

static void check_idle(const struct flow *f, const struct quell_sample *s)
{
	if (!f->p->restart_idle_ns || f->ev->sample.idle_ns < f->p->restart_idle_ns ||
	    f->before->flags & QUELL_TIMELY_F_LOSS)
		require(f->v->rate_q16 == rate_before_q16(f, s->link_bytes_ps),
			"no restart, no change");
}

static const struct fuzz_rules rules = {
	.ack = check_ack, .loss = check_loss, .rto = check_rto, .idle = check_idle,
	.decision = check_decision,
};

#endif /* _QUELL_FUZZ_RULES_TIMELY_H */

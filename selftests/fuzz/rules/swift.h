/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Promises of Swift beside those of every algorithm, for a flow with one window, if the receiver
 * reports no delay of its own; rules/swift_split.h has those about the second window:
 *
 *	flow scaling falls from its full range at fs_min to zero at fs_max
 *	the window stays within its limits, the decision repeats the state
 *	a window of a segment or more is not paced, a smaller one is, by window over delay
 *	too much delay, and fast retransmit, shrink the window at most once per round trip,
 *	and by no more than max_mdf
 *	an ACK adds at most ai * base delay, without a delay one segment, per window
 *	a restart never raises the window after loss or without a signal
 *	every call counts its event exactly once
 */
#ifndef _QUELL_FUZZ_RULES_SWIFT_H
#define _QUELL_FUZZ_RULES_SWIFT_H

#include <quell/core/swift/core.h>

#include "../rules.h"

FUZZ_FLOW(swift)

static u64 smallest_window_q16(const struct flow *f)
{
	u64 mss_bytes = f->v->mss_bytes;

	return f->v->min_rtt_ns ? f->p->min_window_pkts_q16 * mss_bytes : mss_bytes << 16;
}

/* The window before the event, within the limits now in force. */
static u64 window_before_q16(const struct flow *f)
{
	u64 window_q16 = f->before->window_q16;
	u64 most_q16 = f->p->max_window_bytes << 16;

	if (window_q16 > most_q16)
		window_q16 = most_q16;
	return window_q16 < smallest_window_q16(f) ? smallest_window_q16(f) : window_q16;
}

/* Flow scaling must fall from its full range to zero as the window grows. */
static void check_scaling(const struct flow *f)
{
	u64 range_ns = f->p->fs_range_ns;
	u64 window_pkts_q16 = f->v->window_q16 / f->v->mss_bytes;
	u64 here_ns = quell_swift_flow_scale_ns(f->p, window_pkts_q16);
	u64 all_ns = quell_swift_flow_scale_ns(f->p, f->p->fs_min_pkts_q16);

	require(all_ns + 1 + (range_ns >> 20) >= range_ns, "all at fs_min");
	require(!quell_swift_flow_scale_ns(f->p, f->p->fs_max_pkts_q16), "none at fs_max");
	require(here_ns <= all_ns, "most at fs_min");
		/* Rounding of 1/sqrt may add this much to the value at the larger window. */
	require(quell_swift_flow_scale_ns(f->p, window_pkts_q16 * 2) <=
		here_ns + (range_ns >> 20), "less at twice the window");
}

/* The configured target, or the minimum RTT plus a quarter of it, at least 25 us more. */
static u64 path_ns(const struct quell_swift_params *p, u64 min_rtt_ns, u8 hops)
{
	u64 room_ns = min_rtt_ns / 4 > 25000 ? min_rtt_ns / 4 : 25000;

	if (p->base_target_ns)
		return p->base_target_ns + hops * p->hop_scale_ns;
	return min_rtt_ns + room_ns < min_rtt_ns ? ~0ULL : min_rtt_ns + room_ns;
}

static void check_decision(const struct flow *f, const struct quell_sample *s)
{
	u64 least_ns = path_ns(f->p, f->v->min_rtt_ns, s->hops);
	unsigned __int128 exact;

	require(f->out->window_q16 == f->v->window_q16, "decision is the state");
	require(f->v->window_q16 >= smallest_window_q16(f), "smallest window");
	require(f->v->window_q16 <= f->p->max_window_bytes << 16, "largest window");
	require(f->v->mss_bytes > 0, "segment size is positive");
	require(f->out->target_ns >= least_ns &&
		f->out->target_ns - least_ns <= f->p->fs_range_ns, "target in range");
	check_scaling(f);
	if (f->v->window_q16 >= (u64)f->v->mss_bytes << 16) {
		require(f->out->pacing_bytes_ps == QUELL_RATE_UNLIMITED, "ACK clocked");
		return;
	}
	require(f->v->rtt_ns != 0, "a round trip to pace by");
	exact = (unsigned __int128)f->v->window_q16 * 1000000000 / f->v->rtt_ns >> 16;
	require(f->out->pacing_bytes_ps == (exact ? exact : 1), "window over delay");
}

/* Check a decrease that delay or fast retransmit caused. */
static void check_decrease(const struct flow *f, u64 now_ns, bool loss)
{
	u64 before_q16 = window_before_q16(f);
	u64 decrease_q16 = f->p->max_mdf_q16;
	u64 since_ns = now_ns > f->before->last_decrease_ns ?
		       now_ns - f->before->last_decrease_ns : 0;

	if (f->v->window_q16 >= before_q16)
		return;
	require(!(f->before->flags & QUELL_SWIFT_F_DECREASED) || since_ns >= f->v->rtt_ns ||
		(loss && f->before->flags & QUELL_SWIFT_F_DISREGARDED),
		"one decrease per round trip");
	require(f->v->last_decrease_ns == now_ns &&
		f->v->flags & QUELL_SWIFT_F_DECREASED, "a decrease is remembered");
	if (!f->v->min_rtt_ns && decrease_q16 < 32768)
		decrease_q16 = 32768;
	require((unsigned __int128)f->v->window_q16 * 65536 >=
		(unsigned __int128)f->before->window_q16 * (65536 - decrease_q16) ||
		f->before->window_q16 > f->p->max_window_bytes << 16,
		"a decrease takes max_mdf at most");
}

static void check_increase(const struct flow *f, const struct quell_sample *s)
{
	u64 before_q16 = window_before_q16(f);
	u64 mss_q16 = (u64)f->v->mss_bytes << 16;
	u64 divisor_q16 = f->before->window_q16 > mss_q16 ? f->before->window_q16 : mss_q16;
	unsigned __int128 step_q16 = mss_q16;

	if (f->v->window_q16 <= before_q16)
		return;
	if (s->rtt_ns) {
		step_q16 = (unsigned __int128)f->p->ai_bytes_ps * f->v->min_rtt_ns;
		step_q16 = step_q16 > (unsigned __int128)1 << 80 ? ~0ULL :
			   step_q16 * 65536 / 1000000000;
	}
	require(!(s->flags & QUELL_S_APP_LIMITED), "no growth without demand");
	require(s->rtt_ns < f->out->target_ns, "no growth above the target");
	require((unsigned __int128)(f->v->window_q16 - before_q16) * divisor_q16 <=
		(step_q16 + 1) * ((unsigned __int128)s->acked_bytes << 16),
		"growth per window");
}

static void check_ack(const struct flow *f, const struct quell_sample *s)
{
	u64 counted, counted_before;

	counted = f->st->increases + f->st->decreases + f->st->held + f->st->app_limited +
		  f->st->disregarded;
	counted_before = f->counted->increases + f->counted->decreases +
			 f->counted->held + f->counted->app_limited + f->counted->disregarded;
	require(counted == counted_before + 1, "an ACK counts once");
	require(f->st->no_rtt == f->counted->no_rtt + !s->rtt_ns, "ACKs without delay");
	require(!f->v->rtos, "an ACK ends the row of timeouts");
	check_increase(f, s);
	check_decrease(f, s->now_ns, false);
	if (f->st->disregarded != f->counted->disregarded)
		require(f->p->probabilistic && f->v->window_q16 == window_before_q16(f) &&
			f->v->last_decrease_ns == s->now_ns &&
			f->v->flags & QUELL_SWIFT_F_DISREGARDED,
			"chance leaves the window and ends the round trip");
}

static void check_loss(const struct flow *f, const struct quell_sample *s)
{
	require(f->v->window_q16 <= window_before_q16(f), "loss never raises");
	require(f->v->flags & QUELL_SWIFT_F_LOSS, "loss is remembered");
	if (!f->v->min_rtt_ns && f->before->window_q16 <= f->p->max_window_bytes << 16)
		require(f->v->window_q16 <= f->before->window_q16 / 2 + 1 ||
			f->v->window_q16 == smallest_window_q16(f),
			"without a signal loss takes half");
	require(!(f->v->flags & QUELL_SWIFT_F_DISREGARDED), "a loss is not left out");
	check_decrease(f, s->now_ns, true);
}

static void check_rto(const struct flow *f, const struct quell_sample *s)
{
	require(f->v->window_q16 <= window_before_q16(f), "a timeout never raises");
	require(f->st->rtos == f->counted->rtos + 1, "a timeout counts");
	if (f->v->rtos >= f->p->retx_reset_rtos)
		require(f->v->window_q16 == smallest_window_q16(f) ||
			f->v->window_q16 == 1, "timeouts in a row reset");
	else if (f->v->min_rtt_ns)
		check_decrease(f, s->now_ns, true);
}

static void check_idle(const struct flow *f, const struct quell_sample *s)
{
	if (!f->p->restart_idle_ns || f->ev->sample.idle_ns < f->p->restart_idle_ns)
		require(f->v->window_q16 == window_before_q16(f), "too early to restart");
	if (f->v->flags & QUELL_SWIFT_F_LOSS || !f->v->min_rtt_ns)
		require(f->v->window_q16 <= window_before_q16(f), "restart after loss");
	require(f->v->flags == f->before->flags &&
		f->v->last_decrease_ns == f->before->last_decrease_ns,
		"restart forgets nothing");
}

/* Plain Swift's variables and counters begin those of the algorithm with two windows. */
_Static_assert(!offsetof(struct quell_swift_split_vars, fabric), "first");
_Static_assert(!offsetof(struct quell_swift_split_stats, swift), "first");

static bool has_one_window(const struct flow *f)
{
	return !quell_swift_split_has_host((const void *)f->before) &&
	       !quell_swift_split_has_host((const void *)f->v);
}

static const struct fuzz_rules rules = {
	.apply = has_one_window,
	.ack = check_ack, .loss = check_loss, .rto = check_rto, .idle = check_idle,
	.decision = check_decision,
};

#endif /* _QUELL_FUZZ_RULES_SWIFT_H */

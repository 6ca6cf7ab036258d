/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Promises of SMaRTT beside those of every algorithm:
 *
 *	the window is at least one segment and at most its largest, the decision repeats
 *	the state, is not paced, and its target is the base round trip plus target-delay
 *	or times target-rtt
 *	a change of path is requested at most once per base round trip, on marks only
 *	in the ignore phase only trimmed packets, with ignore-trims off, change the
 *	window
 *	equation 1 and fast retransmit take max_mdf at most, once per base round trip
 *	an ACK adds at most the sum of equations 2 and 3, eta and FastIncrease
 *	loss and timeouts never raise the window, nor does a restart after loss
 */
#ifndef _QUELL_FUZZ_RULES_SMARTT_H
#define _QUELL_FUZZ_RULES_SMARTT_H

#include <quell/core/smartt/core.h>

#include "../rules.h"

FUZZ_FLOW(smartt)

static u64 at_least(u64 a, u64 b)
{
	return a > b ? a : b;
}

/* The window before the event, within the limits now in force. */
static u64 window_before_q16(const struct flow *f)
{
	u64 most_q16 = quell_smartt_max_window_q16(f->v);
	u64 window_q16 = f->before->window_q16;

	if (window_q16 > most_q16)
		window_q16 = most_q16;
	return at_least(window_q16, (u64)f->v->mss_bytes << 16);
}

static void check_decision(const struct flow *f, const struct quell_sample *s)
{
	u64 mss_q16 = (u64)f->v->mss_bytes << 16;

	require(f->out->window_q16 == f->v->window_q16, "decision is the state");
	require(f->out->pacing_bytes_ps == QUELL_RATE_UNLIMITED, "ACK clocked");
	require(f->v->mss_bytes > 0, "segment size is positive");
	require(f->v->window_q16 >= mss_q16, "smallest window");
	require(f->v->window_q16 <= at_least(quell_smartt_max_window_q16(f->v), mss_q16) &&
		f->v->window_q16 <= 1ULL << 46, "largest window");
	require(f->out->target_ns == (f->p->target_delay_ns && f->v->base_rtt_ns ?
				     f->v->base_rtt_ns + f->p->target_delay_ns :
				     f->v->base_rtt_ns * f->p->target_rtt_q16 >> 16), "target");
	require(f->out->change_path == (f->st->path_changes != f->counted->path_changes),
		"a new path is counted");
}

/* Whether a base round trip passed since the last decrease. */
static bool may_decrease(const struct flow *f, u64 now_ns)
{
	return !(f->before->flags & QUELL_SMARTT_F_DECREASED) ||
	       (u32)((u32)now_ns - f->before->decrease_ns) >= f->v->base_rtt_ns;
}

/* A decrease by equation 1 or fast retransmit must leave 1 - max_mdf of the window. */
static void check_decrease(const struct flow *f, u64 now_ns)
{
	u64 decrease_q16 = f->p->max_mdf_q16;

	if (f->v->window_q16 >= window_before_q16(f))
		return;
	require(may_decrease(f, now_ns), "one decrease per base round trip");
	if (!f->v->base_rtt_ns && decrease_q16 < 32768)
		decrease_q16 = 32768;
	require((unsigned __int128)f->v->window_q16 * 65536 >=
		(unsigned __int128)window_before_q16(f) * (65536 - decrease_q16) ||
		f->before->window_q16 > window_before_q16(f),
		"a decrease takes max_mdf at most");
}

/* Largest growth by one ACK times the window, without eta, in bytes squared, Q16. */
static unsigned __int128 most_increase(const struct flow *f, const struct quell_sample *s)
{
		/* Scaled before the event, or by the path's properties in the event. */
	const struct quell_smartt_vars *v = f->v->unit_q8 > f->before->unit_q8 ?
					    f->v : f->before;
	u64 step_q16 = quell_smartt_step_q16(v, f->p->fi_pkts_q16);
	u64 more_q16 = quell_smartt_step_q16(v, f->p->pi_pkts_q16);
	unsigned __int128 sum;

	if (more_q16 > f->before->window_q16)
		more_q16 = f->before->window_q16;
	if (!f->v->base_rtt_ns)
		step_q16 = (u64)f->v->mss_bytes << 16;
	sum = (unsigned __int128)step_q16 + more_q16;
	return sum * s->acked_bytes + ((unsigned __int128)f->before->pending_bytes2 << 16);
}

static void check_ack(const struct flow *f, const struct quell_sample *s)
{
	u64 grown_q16 = f->v->window_q16 - f->before->window_q16;
	unsigned __int128 most;

	require(!f->v->rtos, "an ACK ends the row of timeouts");
	if (f->out->change_path) {
		require(f->v->base_rtt_ns && s->marked_bytes && s->acked_bytes &&
			s->flags & QUELL_S_ECN, "a path changes for marks");
		require(!(f->before->flags & (QUELL_SMARTT_F_REROUTED | QUELL_SMARTT_F_NEW_PATH)),
			"one path per base round trip");
	}
	if (f->st->ignored != f->counted->ignored) {
		require(f->v->ignore_bytes && !f->out->change_path, "the ignore phase ignores");
		require((s->rtt_ns && !f->p->ignore_delay) ||
			f->v->avg_rtt_q4 == f->before->avg_rtt_q4,
			"an average of what was measured");
		if (!s->trimmed_bytes || f->p->ignore_trims)
			require(f->v->window_q16 == window_before_q16(f), "and keeps the window");
	}
	if (f->st->quick_adapts != f->counted->quick_adapts) {
		require(f->p->qa, "QuickAdapt is on");
		require(f->before->flags & QUELL_SMARTT_F_MEASURING || s->trimmed_bytes,
			"QuickAdapt has measured");
		return;
	}
	if (f->v->window_q16 < window_before_q16(f)) {
		require(s->trimmed_bytes || f->st->decreases != f->counted->decreases,
			"an ACK decreases for marks or trims");
		if (!s->trimmed_bytes && f->v->most_bytes == f->before->most_bytes)
			check_decrease(f, s->now_ns);
		return;
	}
	if (f->v->window_q16 <= f->before->window_q16 ||
	    f->before->window_q16 >> 16 < f->v->mss_bytes ||
	    f->st->decreases != f->counted->decreases)
		return;
	if (f->st->fast_increases != f->counted->fast_increases)
		grown_q16 = quell_sub_sat_u64(grown_q16, s->acked_bytes * f->p->fast_q16);
	if (f->p->eta_pkts_q16)
		return;
	most = most_increase(f, s);
	require((unsigned __int128)grown_q16 * (f->before->window_q16 >> 16) <=
		most + ((unsigned __int128)f->before->window_q16 << 1),
		"an ACK adds what the equations give");
}

static void check_loss(const struct flow *f, const struct quell_sample *s)
{
	require(f->v->window_q16 <= window_before_q16(f), "loss never raises");
	require(f->v->flags & QUELL_SMARTT_F_LOSS, "loss is remembered");
	check_decrease(f, s->now_ns);
}

static void check_rto(const struct flow *f, const struct quell_sample *s)
{
	require(f->v->window_q16 <= window_before_q16(f), "a timeout never raises");
	require(!f->v->ignore_bytes, "a timeout ends the ignore phase");
	if (!f->v->base_rtt_ns || f->v->rtos >= f->p->retx_reset_rtos)
		require(f->v->window_q16 >> 16 == f->v->mss_bytes, "one segment");
}

static void check_idle(const struct flow *f, const struct quell_sample *s)
{
	if (f->v->flags & QUELL_SMARTT_F_LOSS || !f->v->base_rtt_ns)
		require(f->v->window_q16 <= window_before_q16(f), "restart after loss");
}

static const struct fuzz_rules rules = {
	.ack = check_ack, .loss = check_loss, .rto = check_rto, .idle = check_idle,
	.decision = check_decision,
};

#endif /* _QUELL_FUZZ_RULES_SMARTT_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Promises of swift_vaisf beside those of every algorithm:
 *
 *	window and reference stay within their limits
 *	a window of a segment or more is not paced, a smaller one is, by window over delay
 *	the reference falls by delay once per sampling period, by max_mdf at most
 *	it rises once per round trip, by one increase times the tokens held at most,
 *	without a delay by one segment at most
 *	the bank stays within its cap, and tokens are spent as the reference moves
 *	loss and timeout never raise the reference, nor does a restart after loss
 *	an ACK counts once
 */
#ifndef _QUELL_FUZZ_RULES_SWIFT_VAISF_H
#define _QUELL_FUZZ_RULES_SWIFT_VAISF_H

#include <quell/core/swift_vaisf/core.h>

#include "../rules.h"

FUZZ_FLOW(swift_vaisf)

static u64 within_limits_q16(const struct flow *f, u64 window_q16)
{
	u64 mss_bytes = f->v->swift.mss_bytes;
	u64 least_q16 = f->v->swift.min_rtt_ns ? f->p->swift.min_window_pkts_q16 * mss_bytes :
						mss_bytes << 16;
	u64 most_q16 = f->p->swift.max_window_bytes << 16;

	if (window_q16 > most_q16)
		window_q16 = most_q16;
	return window_q16 < least_q16 ? least_q16 : window_q16;
}

static u64 reference_before_q16(const struct flow *f)
{
	return within_limits_q16(f, f->before->swift.window_q16);
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
	u64 window_q16 = f->out->window_q16;
	unsigned __int128 exact;

	require(within_limits_q16(f, window_q16) == window_q16, "limits of the window");
	require(within_limits_q16(f, f->v->swift.window_q16) == f->v->swift.window_q16,
		"limits of the reference");
	require(f->v->swift.mss_bytes > 0, "segment size is positive");
	require(f->out->target_ns == path_ns(&f->p->swift, f->v->swift.min_rtt_ns, s->hops),
		"target without flow scaling");
	if (window_q16 >= (u64)f->v->swift.mss_bytes << 16) {
		require(f->out->pacing_bytes_ps == QUELL_RATE_UNLIMITED, "ACK clocked");
		return;
	}
	require(f->v->swift.rtt_ns != 0, "a round trip to pace by");
	exact = (unsigned __int128)window_q16 * 1000000000 / f->v->swift.rtt_ns >> 16;
	require(f->out->pacing_bytes_ps == (exact ? exact : 1), "window over delay");
}

static void check_fall(const struct flow *f, const struct quell_sample *s)
{
	unsigned __int128 most = (unsigned __int128)f->before->swift.window_q16 *
				 (65536 - f->p->swift.max_mdf_q16);

	require(s->rtt_ns > f->out->target_ns, "no fall at the target or below");
	require(f->before->vaisf.sampled_pkts + (u64)s->acked_pkts >= f->p->vaisf.sampling_pkts ||
		(f->p->vaisf.sampling_rtt && s->acked_bytes > f->before->round_bytes),
		"one fall per sampling period or round trip");
	require(f->v->vaisf.sampled_pkts == 0, "a fall begins a sampling period");
	require((unsigned __int128)f->v->swift.window_q16 * 65536 + 65535 >= most ||
		f->before->swift.window_q16 > f->p->swift.max_window_bytes << 16,
		"a fall of max_mdf at most");
}

static void check_rise(const struct flow *f, const struct quell_sample *s)
{
	unsigned __int128 step_q16 = (u64)f->v->swift.mss_bytes << 16;
	u64 rise_q16 = f->v->swift.window_q16 - reference_before_q16(f);
	unsigned __int128 most_q16;

	if (s->rtt_ns) {
		step_q16 = (unsigned __int128)f->p->swift.ai_bytes_ps * f->v->swift.min_rtt_ns;
		step_q16 = step_q16 > (unsigned __int128)1 << 80 ? ~0ULL :
			   step_q16 * 65536 / 1000000000;
	}
	most_q16 = step_q16 * (s->rtt_ns ? f->p->vaisf.ai_cap_tokens : 1);
	require(f->v->swift.window_q16 <= f->p->swift.max_window_bytes << 16 &&
		rise_q16 <= most_q16, "a rise of ai_cap increases at most");
	require(!(s->flags & QUELL_S_APP_LIMITED), "no growth without demand");
	require(s->acked_bytes > f->before->round_bytes, "one rise per round trip");
}

static void check_tokens(const struct flow *f, const struct quell_sample *s)
{
	bool adjusted = f->st->swift.increases + f->st->swift.decreases !=
			f->counted->swift.increases + f->counted->swift.decreases;
	u64 spent = f->st->spent - f->counted->spent;

	require(f->v->vaisf.bank_tokens <= f->p->vaisf.bank_cap_tokens ||
		f->v->vaisf.bank_tokens <= f->before->vaisf.bank_tokens, "bank cap");
	require(spent <= f->p->vaisf.ai_cap_tokens, "AI cap");
	require(!spent || (adjusted && s->rtt_ns), "tokens move the reference");
	require(f->st->earned - f->counted->earned <= f->st->rounds - f->counted->rounds &&
		f->st->rounds - f->counted->rounds <= 1, "tokens are earned per round trip");
}

static void check_ack(const struct flow *f, const struct quell_sample *s)
{
	const struct quell_swift_stats *now = &f->st->swift, *then = &f->counted->swift;

	require(now->increases + now->decreases + now->held + now->app_limited ==
		then->increases + then->decreases + then->held + then->app_limited + 1,
		"an ACK counts once");
	require(now->no_rtt == then->no_rtt + !s->rtt_ns, "ACKs without delay");
	require(!f->v->swift.rtos, "an ACK ends the row of timeouts");
	if (f->v->swift.window_q16 > reference_before_q16(f))
		check_rise(f, s);
	else if (f->v->swift.window_q16 < reference_before_q16(f))
		check_fall(f, s);
	check_tokens(f, s);
	if (!s->rtt_ns)
		require(f->out->window_q16 == f->v->swift.window_q16,
			"without a delay the window is the reference");
}

static void check_loss(const struct flow *f, const struct quell_sample *s)
{
	require(f->v->swift.window_q16 <= reference_before_q16(f), "loss never raises");
	require(f->out->window_q16 == f->v->swift.window_q16, "window is the reference");
	require(f->v->swift.flags & QUELL_SWIFT_F_LOSS, "loss is remembered");
	require(!f->v->vaisf.sampled_pkts, "loss begins a sampling period");
}

static void check_rto(const struct flow *f, const struct quell_sample *s)
{
	require(f->v->swift.window_q16 <= reference_before_q16(f), "a timeout never raises");
	require(f->out->window_q16 == f->v->swift.window_q16, "window is the reference");
	require(!f->v->vaisf.bank_tokens, "a timeout takes the tokens");
}

static void check_idle(const struct flow *f, const struct quell_sample *s)
{
	bool restart = f->p->swift.restart_idle_ns && f->ev->sample.idle_ns >= f->p->swift.restart_idle_ns;

	require(f->out->window_q16 == f->v->swift.window_q16, "window is the reference");
	if (!restart)
		require(f->v->swift.window_q16 == reference_before_q16(f) &&
			!memcmp(&f->v->vaisf, &f->before->vaisf, sizeof(f->v->vaisf)),
			"too early to restart");
	else
		require(!f->v->vaisf.bank_tokens && !f->v->vaisf.dampener_q16,
			"a restart begins as a new flow");
	if (f->v->swift.flags & QUELL_SWIFT_F_LOSS || !f->v->swift.min_rtt_ns)
		require(f->v->swift.window_q16 <= reference_before_q16(f), "restart after loss");
}

static const struct fuzz_rules rules = {
	.ack = check_ack, .loss = check_loss, .rto = check_rto, .idle = check_idle,
	.decision = check_decision,
};

#endif /* _QUELL_FUZZ_RULES_SWIFT_VAISF_H */

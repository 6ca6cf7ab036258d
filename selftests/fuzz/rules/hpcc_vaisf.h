/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Promises of hpcc_vaisf beside those of every algorithm:
 *
 *	window and reference stay within the limits of rate, link and parameter
 *	the window is paced over the base round trip, without records it is not paced
 *	an ACK counts once; only fresh records of one hop, in order, are compared
 *	the reference falls once per sampling period, for a measurement
 *	it rises once per round trip, by one segment at most without a measurement
 *	the two mechanisms' round trips are HPCC's
 *	the bank stays within its cap, and tokens are spent as the reference moves
 *	loss halves; loss and timeout never raise, nor does a restart after loss
 */
#ifndef _QUELL_FUZZ_RULES_HPCC_VAISF_H
#define _QUELL_FUZZ_RULES_HPCC_VAISF_H

#include <quell/core/hpcc_vaisf/core.h>

#include "../rules.h"
#include "hpcc_flow.h"

FUZZ_FLOW(hpcc_vaisf)

static u64 now_limited_q16(const struct flow *f, const struct quell_sample *s, u64 window_q16)
{
	return limited_q16(&f->v->hpcc, &f->p->hpcc, s->link_bytes_ps, window_q16);
}

/* The reference before the event, within the limits now in force. */
static u64 reference_before_q16(const struct flow *f, const struct quell_sample *s)
{
	return now_limited_q16(f, s, f->before->hpcc.window_q16);
}

static void check_decision(const struct flow *f, const struct quell_sample *s)
{
	const char *broken = broken_state(&f->v->hpcc);

	require(!broken, broken);
	require(now_limited_q16(f, s, f->out->window_q16) == f->out->window_q16,
		"limits of the window");
	require(now_limited_q16(f, s, f->v->hpcc.window_q16) == f->v->hpcc.window_q16,
		"limits of the reference");
	require(pacing_fits(&f->v->hpcc, &f->p->hpcc, f->out->window_q16, f->out->pacing_bytes_ps),
		"window over base round trip");
	require(!f->out->target_ns, "no target delay");
}

static void check_fall(const struct flow *f, const struct quell_sample *s)
{
	/* A blind round trip and the loss of all records may lower it without a measurement. */
	if (f->st->hpcc.blind != f->counted->hpcc.blind ||
	    f->st->hpcc.lost != f->counted->hpcc.lost)
		return;
	require(f->st->hpcc.measured != f->counted->hpcc.measured, "a fall is measured");
	require(f->before->vaisf.sampled_pkts + (u64)s->acked_pkts >= f->p->vaisf.sampling_pkts ||
		(f->p->vaisf.sampling_rtt && s->acked_bytes > f->before->hpcc.round_bytes),
		"one fall per sampling period or round trip");
	require(f->v->vaisf.sampled_pkts == 0, "a fall begins a sampling period");
	require(f->st->hpcc.decreases == f->counted->hpcc.decreases + 1, "a fall counts");
}

static void check_rise(const struct flow *f, const struct quell_sample *s)
{
	u64 segment_q16 = (u64)f->v->hpcc.mss_bytes << 16;

	require(!(s->flags & QUELL_S_APP_LIMITED), "no growth without demand");
	require(f->before->hpcc.flags & QUELL_HPCC_F_ROUND &&
		s->acked_bytes > f->before->hpcc.round_bytes, "one rise per round trip");
	if (f->st->hpcc.blind != f->counted->hpcc.blind)
		require(f->v->hpcc.window_q16 <=
			now_limited_q16(f, s, f->before->hpcc.window_q16 + segment_q16),
			"a segment without measurement");
	else
		require(f->before->hpcc.flags & QUELL_HPCC_F_MEASURED ||
			f->st->hpcc.measured != f->counted->hpcc.measured, "a rise is measured");
}

static void check_tokens(const struct flow *f)
{
	u64 spent = f->st->spent - f->counted->spent;

	require(f->v->vaisf.bank_tokens <= f->p->vaisf.bank_cap_tokens ||
		f->v->vaisf.bank_tokens <= f->before->vaisf.bank_tokens, "bank cap");
	require(spent <= f->p->vaisf.ai_cap_tokens, "AI cap");
	require(!spent || f->v->hpcc.flags & QUELL_HPCC_F_UTIL, "tokens need a measurement");
	require(f->st->earned - f->counted->earned <= f->st->rounds - f->counted->rounds &&
		f->st->rounds - f->counted->rounds <= 1, "tokens are earned per round trip");
}

static void check_ack(const struct flow *f, const struct quell_sample *s)
{
	const char *broken;

	broken = broken_record(&f->before->hpcc, &f->v->hpcc, &f->counted->hpcc, &f->st->hpcc, s);
	require(!broken, broken);
	if (f->v->hpcc.window_q16 > reference_before_q16(f, s))
		check_rise(f, s);
	else if (f->v->hpcc.window_q16 < reference_before_q16(f, s))
		check_fall(f, s);
	check_tokens(f);
	if (f->st->hpcc.measured == f->counted->hpcc.measured &&
	    f->v->hpcc.window_q16 <= reference_before_q16(f, s))
		require(f->out->window_q16 <= reference_before_q16(f, s),
			"no rise without a measurement");
}

static void check_loss(const struct flow *f, const struct quell_sample *s)
{
	require(f->v->hpcc.window_q16 <= now_limited_q16(f, s, f->before->hpcc.window_q16 / 2),
		"half");
	require(f->out->window_q16 == f->v->hpcc.window_q16, "window is the reference");
	require(f->v->hpcc.flags & QUELL_HPCC_F_LOSS, "loss is remembered");
	require(!f->v->vaisf.sampled_pkts, "loss begins a sampling period");
}

static void check_rto(const struct flow *f, const struct quell_sample *s)
{
	require(f->v->hpcc.window_q16 <= now_limited_q16(f, s, f->before->hpcc.window_q16 / 2),
		"half");
	require(f->out->window_q16 == f->v->hpcc.window_q16, "window is the reference");
	require(!f->v->vaisf.bank_tokens, "a timeout takes the tokens");
}

static void check_idle(const struct flow *f, const struct quell_sample *s)
{
	bool restart = f->p->hpcc.restart_idle_ns && f->ev->sample.idle_ns >= f->p->hpcc.restart_idle_ns;

	if (!restart)
		require(f->v->hpcc.window_q16 == reference_before_q16(f, s) &&
			f->out->window_q16 <= f->v->hpcc.window_q16 &&
			!memcmp(&f->v->vaisf, &f->before->vaisf, sizeof(f->v->vaisf)),
			"too early to restart");
	else
		require(!f->v->hpcc.hop && !f->v->vaisf.bank_tokens && !f->v->vaisf.dampener_q16,
			"a restart begins as a new flow");
	if (f->v->hpcc.flags & QUELL_HPCC_F_LOSS || !steered(&f->v->hpcc, &f->p->hpcc))
		require(f->v->hpcc.window_q16 <= reference_before_q16(f, s),
			"restart after loss");
}

static const struct fuzz_rules rules = {
	.ack = check_ack, .loss = check_loss, .rto = check_rto, .idle = check_idle,
	.decision = check_decision,
};

#endif /* _QUELL_FUZZ_RULES_HPCC_VAISF_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Promises of HPCC beside those of every algorithm:
 *
 *	window and reference stay within the limits of rate, link and parameter
 *	the window is paced over the base round trip, without records it is not paced
 *	an ACK counts once; only fresh records of one hop, in order, are compared
 *	the reference moves once per round trip, except when all records are lost
 *	a round trip without a measurement adds one segment at most
 *	an ACK without a measurement, or of an application-limited flow, never raises
 *	the window
 *	loss halves; loss and timeout never raise, nor does a restart after loss
 */
#ifndef _QUELL_FUZZ_RULES_HPCC_H
#define _QUELL_FUZZ_RULES_HPCC_H

#include <quell/core/hpcc/core.h>

#include "../rules.h"
#include "hpcc_flow.h"

FUZZ_FLOW(hpcc)

static u64 now_limited_q16(const struct flow *f, const struct quell_sample *s, u64 window_q16)
{
	return limited_q16(f->v, f->p, s->link_bytes_ps, window_q16);
}

/* The reference before the event, within the limits now in force. */
static u64 reference_before_q16(const struct flow *f, const struct quell_sample *s)
{
	return now_limited_q16(f, s, f->before->window_q16);
}

static void check_decision(const struct flow *f, const struct quell_sample *s)
{
	const char *broken = broken_state(f->v);

	require(!broken, broken);
	require(now_limited_q16(f, s, f->out->window_q16) == f->out->window_q16,
		"limits of the window");
	require(now_limited_q16(f, s, f->v->window_q16) == f->v->window_q16,
		"limits of the reference");
	require(pacing_fits(f->v, f->p, f->out->window_q16, f->out->pacing_bytes_ps),
		"window over base round trip");
	require(!f->out->target_ns, "no target delay");
}

static void check_reference(const struct flow *f, const struct quell_sample *s)
{
	bool finished = f->before->flags & QUELL_HPCC_F_ROUND &&
			s->acked_bytes > f->before->round_bytes;
	bool lost = f->st->lost != f->counted->lost;
	u64 before_q16 = reference_before_q16(f, s);
	u64 most_q16 = before_q16;

	if (!finished && !lost)
		require(f->v->window_q16 == before_q16, "one update per round trip");
	if (f->st->blind != f->counted->blind && !(s->flags & QUELL_S_APP_LIMITED))
		most_q16 = now_limited_q16(f, s, f->before->window_q16 +
					   ((u64)f->v->mss_bytes << 16));
	if (!(f->before->flags & QUELL_HPCC_F_MEASURED) && f->st->measured == f->counted->measured)
		require(f->v->window_q16 <= most_q16, "a segment without measurement");
	if (s->flags & QUELL_S_APP_LIMITED)
		require(f->v->window_q16 <= before_q16, "no growth without demand");
	if (f->st->blind == f->counted->blind && finished)
		require(f->out->window_q16 == f->v->window_q16, "window becomes reference");
	if (f->st->disregarded != f->counted->disregarded)
		require(f->p->probabilistic && finished && f->v->window_q16 == before_q16 &&
			f->v->stage == f->before->stage, "chance leaves the reference");
}

static void check_ack(const struct flow *f, const struct quell_sample *s)
{
	const char *broken;

	broken = broken_record(f->before, f->v, f->counted, f->st, s);
	require(!broken, broken);
	check_reference(f, s);
	if ((f->st->measured == f->counted->measured || s->flags & QUELL_S_APP_LIMITED) &&
	    f->v->window_q16 <= reference_before_q16(f, s))
		require(f->out->window_q16 <= reference_before_q16(f, s),
			"no rise without a measurement");
}

/* A loss must leave at most half of the previous reference, within the limits now in force. */
static void check_loss(const struct flow *f, const struct quell_sample *s)
{
	require(f->v->window_q16 <= now_limited_q16(f, s, f->before->window_q16 / 2), "half");
	require(f->out->window_q16 == f->v->window_q16, "window is the reference");
	require(f->v->flags & QUELL_HPCC_F_LOSS, "loss is remembered");
	require(f->st->fast_retx == f->counted->fast_retx + 1, "a loss counts");
}

static void check_rto(const struct flow *f, const struct quell_sample *s)
{
	require(f->v->window_q16 <= now_limited_q16(f, s, f->before->window_q16 / 2), "half");
	if (!steered(f->v, f->p))
		require(f->out->window_q16 == (u64)f->v->mss_bytes << 16 || f->v->hop,
			"one segment without records");
	require(f->out->window_q16 == f->v->window_q16, "window is the reference");
	require(f->st->rtos == f->counted->rtos + 1, "a timeout counts");
}

static void check_idle(const struct flow *f, const struct quell_sample *s)
{
	bool restart = f->p->restart_idle_ns && f->ev->sample.idle_ns >= f->p->restart_idle_ns;

	if (!restart)
		require(f->v->window_q16 == reference_before_q16(f, s) &&
			f->out->window_q16 <= f->v->window_q16, "too early to restart");
	else
		require(!f->v->hop && f->v->util_q24 == QUELL_HPCC_UTIL_ONE,
			"a restart begins as a new flow");
	if (f->v->flags & QUELL_HPCC_F_LOSS || !steered(f->v, f->p))
		require(f->v->window_q16 <= reference_before_q16(f, s), "restart after loss");
	require(f->st->restarts == f->counted->restarts + restart, "a restart counts");
}

static const struct fuzz_rules rules = {
	.ack = check_ack, .loss = check_loss, .rto = check_rto, .idle = check_idle,
	.decision = check_decision,
};

#endif /* _QUELL_FUZZ_RULES_HPCC_H */

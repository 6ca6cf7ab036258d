/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Promises of Swift beside those of every algorithm, for a flow with a second window, if the
 * receiver reports its own delay; rules/swift.h has those about one window:
 *
 *	while the receiver reports no delay, or host_target is 0, all is as Swift's
 *	the window decided on is the smaller of the two, paced below one segment
 *	each window stays within its limits, shrinks at most once per round trip
 *	by no more than max_mdf but for timeouts in a row, and grows only below its
 *	own target, with demand, and not when it is twice the other
 *	neither loss nor a restart after it raises a window
 *	after an undo each window is at least that before the losses, within its limits and less
 *	reductions for other reasons
 *	a host delay below its target does not shrink the host's window
 *	every ACK counts once
 */
#ifndef _QUELL_FUZZ_RULES_SWIFT_SPLIT_H
#define _QUELL_FUZZ_RULES_SWIFT_SPLIT_H

#include <quell/core/swift/core.h>

#include "../rules.h"

FUZZ_FLOW_OF(swift, swift_split)

/* One of the two windows, before and after. */
struct side {
	const struct flow *f;
	u64 before_q16, after_q16;
	u64 before_ns, after_ns;
	bool before_decreased, after_decreased;
};

static struct side fabric_side(const struct flow *f)
{
	return (struct side) {
		f, f->before->fabric.window_q16, f->v->fabric.window_q16,
		f->before->fabric.last_decrease_ns, f->v->fabric.last_decrease_ns,
		f->before->fabric.flags & QUELL_SWIFT_F_DECREASED,
		f->v->fabric.flags & QUELL_SWIFT_F_DECREASED,
	};
}

/* The host's window starts from the fabric's. */
static struct side host_side(const struct flow *f)
{
	bool had = quell_swift_split_has_host(f->before);

	return (struct side) {
		f, had ? f->before->host_window_q16 : f->before->fabric.window_q16,
		f->v->host_window_q16, f->before->host_decrease_ns, f->v->host_decrease_ns,
		had && f->before->fabric.flags & QUELL_SWIFT_SPLIT_F_DECREASED,
		f->v->fabric.flags & QUELL_SWIFT_SPLIT_F_DECREASED,
	};
}

static u64 limited_q16(const struct flow *f, u64 window_q16)
{
	u64 mss_bytes = f->v->fabric.mss_bytes, most_q16 = f->p->max_window_bytes << 16;
	u64 least_q16 = f->v->fabric.min_rtt_ns ? f->p->min_window_pkts_q16 * mss_bytes :
						  mss_bytes << 16;

	if (window_q16 > most_q16)
		window_q16 = most_q16;
	return window_q16 < least_q16 ? least_q16 : window_q16;
}

static void check_side_decrease(const struct side *w, u64 now_ns)
{
	u64 since_ns = now_ns > w->before_ns ? now_ns - w->before_ns : 0;

	if (w->after_q16 >= limited_q16(w->f, w->before_q16))
		return;
	require(!w->before_decreased || since_ns >= w->f->v->fabric.rtt_ns,
		"one decrease per round trip");
	require(w->after_decreased && w->after_ns == now_ns, "a decrease is remembered");
	require((unsigned __int128)w->after_q16 * 65536 >=
		(unsigned __int128)w->before_q16 * (65536 - w->f->p->max_mdf_q16) ||
		w->before_q16 > w->f->p->max_window_bytes << 16 || !w->f->v->fabric.min_rtt_ns,
		"a decrease takes max_mdf at most");
}

static void check_side_ack(const struct side *w, const struct quell_sample *s,
			   u64 delay_ns, u64 target_ns, u64 other_q16)
{
	check_side_decrease(w, s->now_ns);
	if (w->after_q16 < limited_q16(w->f, w->before_q16))
		require(delay_ns >= target_ns, "no decrease below the target");
	if (w->after_q16 <= limited_q16(w->f, w->before_q16))
		return;
	require(delay_ns < target_ns, "no growth above the target");
	require(!(s->flags & QUELL_S_APP_LIMITED), "no growth without demand");
	require(w->before_q16 / 2 < other_q16 || w->before_q16 < 2 * other_q16,
		"no growth when twice the other");
}

static void check_decision(const struct flow *f, const struct quell_sample *s)
{
	u64 least_q16 = f->v->fabric.window_q16;

	require(least_q16 == limited_q16(f, least_q16), "the fabric's limits");
	if (quell_swift_split_has_host(f->v)) {
		require(f->v->host_window_q16 == limited_q16(f, f->v->host_window_q16),
			"the host's limits");
		least_q16 = quell_min_u64(least_q16, f->v->host_window_q16);
	}
	require(f->out->window_q16 == least_q16, "the smaller window");
	require((f->out->pacing_bytes_ps == QUELL_RATE_UNLIMITED) ==
		(least_q16 >= (u64)f->v->fabric.mss_bytes << 16), "paced below a segment");
}

typedef void swift_event(struct quell_swift_vars *v, const struct quell_swift_params *p,
			 struct quell_swift_stats *st, const struct quell_sample *s,
			 struct quell_decision *out);

/* The same event of plain Swift, from the same state. */
static void check_twin(const struct flow *f, const struct quell_sample *s, swift_event *event)
{
	struct quell_swift_stats st;
	struct quell_swift_vars v;
	struct quell_decision out;

	if (quell_swift_split_has_host(f->before) || quell_swift_split_has_host(f->v))
		return;
	memcpy(&v, &f->before->fabric, sizeof(v));
	memcpy(&st, &f->counted->swift, sizeof(st));
	memset(&out, 0, sizeof(out));
	event(&v, f->p, &st, s, &out);
	require(!memcmp(&f->v->fabric, &v, sizeof(v)) && !memcmp(f->out, &out, sizeof(out)) &&
		!memcmp(&f->st->swift, &st, sizeof(st)), "without a host it is Swift");
}

static u64 acks_counted(const struct quell_swift_split_stats *st)
{
	return st->swift.increases + st->swift.decreases + st->swift.held +
	       st->swift.app_limited + st->swift.disregarded + st->unused;
}

static void check_ack(const struct flow *f, const struct quell_sample *s)
{
	struct side fabric = fabric_side(f), host = host_side(f);
	u64 host_ns = quell_min_u64(s->remote_ns, s->rtt_ns);

	check_twin(f, s, quell_swift_on_ack);
	require(acks_counted(f->st) == acks_counted(f->counted) + 1, "an ACK counts once");
	if (!quell_swift_split_has_host(f->v)) {
		check_side_ack(&fabric, s, s->rtt_ns, f->out->target_ns, QUELL_U64_MAX);
		return;
	}
	require(f->p->host_target_ns, "a host only with a target");
	check_side_ack(&fabric, s, s->rtt_ns - host_ns, f->out->target_ns, host.before_q16);
	check_side_ack(&host, s, host_ns, f->p->host_target_ns, fabric.before_q16);
	require(f->st->host_decreases + f->st->host_held == f->counted->host_decreases +
		f->counted->host_held + (host_ns >= f->p->host_target_ns),
		"a slow host counts once");
}

static void check_sides(const struct flow *f, u64 now_ns, bool lowers, bool bounded)
{
	struct side sides[] = { fabric_side(f), host_side(f) };
	int i, count = quell_swift_split_has_host(f->v) ? 2 : 1;

	/* A decrease that chance disregarded does not delay the response to loss. */
	if (f->before->fabric.flags & QUELL_SWIFT_F_DISREGARDED)
		sides[0].before_decreased = false;
	for (i = 0; i < count; i++) {
		if (lowers)
			require(sides[i].after_q16 <= limited_q16(f, sides[i].before_q16),
				"loss never raises");
		if (bounded)
			check_side_decrease(&sides[i], now_ns);
	}
}

static void check_loss(const struct flow *f, const struct quell_sample *s)
{
	check_twin(f, s, quell_swift_on_loss);
	check_sides(f, s->now_ns, true, true);
}

static void check_rto(const struct flow *f, const struct quell_sample *s)
{
	check_twin(f, s, quell_swift_on_rto);
	check_sides(f, s->now_ns, true, f->v->fabric.rtos < f->p->retx_reset_rtos &&
		    f->v->fabric.min_rtt_ns);
}

static void check_idle(const struct flow *f, const struct quell_sample *s)
{
	check_twin(f, s, quell_swift_on_idle_restart);
	check_sides(f, s->now_ns, f->v->fabric.flags & QUELL_SWIFT_F_LOSS, false);
	require(f->v->fabric.flags == f->before->fabric.flags, "restart forgets nothing");
}

static void check_side_undo(const struct side *w, const struct quell_undo_part *losses)
{
	u64 least_q16 = quell_min_u64(losses->before,
				      quell_add_sat_u64(w->before_q16, losses->cut));

	least_q16 = quell_max_u64(least_q16, w->before_q16);
	require(w->after_q16 >= limited_q16(w->f, least_q16), "the window of before the losses");
}

static void check_undo(const struct flow *f, const struct quell_sample *s)
{
	struct side fabric = fabric_side(f), host = host_side(f);

	check_side_undo(&fabric, &f->ev->undo->part[0]);
	if (quell_swift_split_has_host(f->v))
		check_side_undo(&host, &f->ev->undo->part[1]);
}

static const struct fuzz_rules rules = {
	.ack = check_ack, .loss = check_loss, .rto = check_rto, .idle = check_idle,
	.undo = check_undo, .decision = check_decision,
};

#endif /* _QUELL_FUZZ_RULES_SWIFT_SPLIT_H */

// SPDX-License-Identifier: GPL-2.0
/*
 * The integer core against the floating-point model, one step at a time:
 * parameters anywhere in their ranges, any state, any event.  The model starts
 * each step from the core's state, so every error is that of one step and is
 * held against the bound derived in step_bound().
 */
#include <math.h>
#include <string.h>

#include <quell/core/smartt/core.h>

#include "model_error.h"
#include "random_params.h"
#include "smartt_pair.h"
#include "test.h"

#define SMARTT_STEPS		(STEPS / 6 * 7)

/*
 * Set the model to the core's state; stamps are the core's, low halves.  The model keeps
 * the values it derived from the path.
 */
static void model_follow(struct smartt_model *m, const struct quell_smartt_vars *v)
{
	*m = (struct smartt_model) {
		.most = m->most, .unit = m->unit,
		.cwnd = v->window_q16 / 65536.0,
		.pending = v->pending_bytes2,
		.brtt = v->base_rtt_ns, .avg_rtt = v->avg_rtt_q4 / 16.0,
		.mtu = v->mss_bytes, .acked = v->delivered_bytes,
		.to_ignore = v->ignore_bytes, .count = v->clear_bytes,
		.batch_pkts = v->batch_pkts,
		.decrease_at = v->decrease_ns, .period_at = v->period_ns, .round_at = v->round_ns,
		.decreased = v->flags & QUELL_SMARTT_F_DECREASED,
		.rerouted = v->flags & QUELL_SMARTT_F_REROUTED,
		.new_path = v->flags & QUELL_SMARTT_F_NEW_PATH,
		.measuring = v->flags & QUELL_SMARTT_F_MEASURING,
		.trigger_qa = v->flags & QUELL_SMARTT_F_QA_DUE,
		.increase = v->flags & QUELL_SMARTT_F_FAST,
		.loss = v->flags & QUELL_SMARTT_F_LOSS,
		.rtos = v->rtos,
	};
}

/*
 * Bound of the difference of the two windows after one step, bytes.
 *
 * Increases: a scaled segment is rounded down to 2^-8 byte, shares by 2^-24
 * each, steps to 2^-16 byte; the target, and an average that stands in for a
 * missing round-trip time, are rounded down by 1 ns, which moves (target - rtt)
 * base / rtt (target - base) by at most 2 + target / base parts in target -
 * base.  The pending increase is rounded down by two bytes squared and divided by the
 * window, one segment at least.  Decreases: 1 ns of the target, 1/8 ns of the
 * average, over the divisor; and 2^-24 of the window.  An increase in the same
 * step is divided by the decreased window, of which the relative error is larger by
 * 1 / (1 - max_mdf).  QuickAdapt and doubles add no error.
 */
static double step_bound(const struct pair *before, const struct quell_sample *s,
			 const struct smartt_model *after)
{
	const struct smartt_model_params *mp = &before->mp;
	const struct smartt_model *m = &before->m;
	double span = fmax(smartt_model_trtt(m, mp) - m->brtt - 1, 1);
	double ratio = m->brtt > 0 ? smartt_model_trtt(m, mp) / m->brtt : 0;
	double window = fmax(m->cwnd, m->mtu);
	double segments = mp->fi + mp->pi + mp->eta;
	double share = s->acked_bytes / m->mtu + 1;
	double bound = 0x1p-12 + 4 / m->mtu + (window + after->cwnd) * 0x1p-23;

	bound += share * ((segments + 1) * m->unit * 0x1p-22 + segments * 0x1p-8 + 0x1p-14);
	bound += share * mp->pi * m->unit * (2 + ratio) / span;
	if (after->avg_rtt > 0)
		bound += (window + after->cwnd) * mp->md / (1 - mp->max_mdf) * 1.25 /
			 (after->avg_rtt - (mp->md_queueing ? m->brtt : 0));
	return bound;
}

/* Start both at random; returns whether with the same window. */
static bool random_pair(struct random_state *r, struct pair *x)
{
	bool blind = !random_between(r, 0, 15);
	struct quell_sample s = {
		.link_bytes_ps = blind ? 0 : random_magnitude(r, 1000000, 100000000000),
		.min_rtt_ns = blind ? 0 : random_magnitude(r, 1000, 10000000),
		.mss_bytes = random_between(r, 64, 65535),
		.now_ns = random_between(r, 0, 1000000),
	};

	memset(x, 0, sizeof(*x));
	quell_core_params_default(&quell_smartt_core, &x->p);
	random_params(r, &quell_smartt_core, &x->p, 3, false);
	start_pair(x, &s);
	return fabs(x->v.window_q16 / 65536.0 - x->m.cwnd) <= 0x1p-16 && same_memory(x);
}

/* Random state of a flow, at least a minute away from a wrap of its stamps. */
static u64 random_state(struct random_state *r, struct pair *x)
{
	u64 now_ns = 1ULL << 31, base_ns = x->v.base_rtt_ns;
	u64 most = quell_smartt_max_window_q16(&x->v) >> 16;
	u64 window = random_magnitude(r, x->v.mss_bytes, quell_max_u64(most, x->v.mss_bytes));

	x->v.window_q16 = window << 16 | random_between(r, 0, 65535);
	x->v.pending_bytes2 = random_between(r, 0, 3) ? 0 : random_magnitude(r, 0, 1ULL << 34);
	x->v.avg_rtt_q4 = base_ns * 16 + random_magnitude(r, 0, base_ns * 64);
	if (!random_between(r, 0, 15))
		x->v.avg_rtt_q4 = 0;
	x->v.delivered_bytes = random_magnitude(r, 0, 2 * window);
	x->v.ignore_bytes = random_between(r, 0, 3) ? 0 : random_magnitude(r, 0, window);
	x->v.clear_bytes = random_between(r, 0, 1) ? 0 : random_magnitude(r, 0, 2 * window);
	x->v.decrease_ns = now_ns - random_between(r, 0, 2 * base_ns);
	x->v.period_ns = now_ns - random_between(r, 0, 4 * base_ns);
	x->v.round_ns = now_ns - random_between(r, 0, 2 * base_ns);
	x->v.batch_pkts = random_between(r, 0, 20);
	x->v.flags = random_between(r, 0, 0x7f);
	x->v.rtos = random_between(r, 0, 6);
	return now_ns;
}

static void random_sample(struct random_state *r, const struct pair *x,
			  struct quell_sample *s)
{
	u64 target_ns = quell_smartt_target_ns(&x->v, &x->p);

	s->mss_bytes = x->v.mss_bytes;
	s->acked_pkts = random_between(r, 0, 4);
	s->acked_bytes = s->acked_pkts * s->mss_bytes;
	if (s->acked_pkts)
		s->acked_bytes -= random_between(r, 0, 60);
	if (!random_between(r, 0, 1))
		s->marked_bytes = random_between(r, 0, s->acked_bytes);
	if (!random_between(r, 0, 7))
		s->trimmed_bytes = random_between(r, 1, 3) * s->mss_bytes;
	if (!random_between(r, 0, 7))
		s->lost_bytes = s->mss_bytes;
	s->inflight_bytes = random_magnitude(r, 0, 1ULL << 30);
	s->flags = (random_between(r, 0, 9) ? 0 : QUELL_S_APP_LIMITED) |
		   (random_between(r, 0, 4) ? QUELL_S_ECN : 0);
	if (x->v.base_rtt_ns && random_between(r, 0, 15)) {
		s->rtt_ns = random_between(r, 0, 1) ?
			    x->v.base_rtt_ns + random_magnitude(r, 0, 4 * target_ns) :
			    random_between(r, x->v.base_rtt_ns, target_ns);
		s->min_rtt_ns = x->v.base_rtt_ns;
	}
}

struct result {
	struct model_steps n;
	bool starts, windows, pendings, memories, decisions;
	struct model_error window;
};

static void judge(const struct pair *x, const struct pair *before,
		  const struct quell_sample *s, struct result *result)
{
	double bound = step_bound(before, s, &x->m);
	double window = x->v.window_q16 / 65536.0;
	double error = fabs(window - x->m.cwnd);

	result->n.compared++;
	result->windows &= model_error_note(&result->window, error, x->m.cwnd, bound);
	result->pendings = result->pendings &&
			   fabs(x->v.pending_bytes2 - x->m.pending) <=
			   (bound + 1) * fmax(before->m.cwnd, x->m.mtu);
	result->memories = result->memories && same_memory(x);
	result->decisions = result->decisions &&
			    x->out.window_q16 == x->v.window_q16 &&
			    x->out.change_path == x->change_path &&
			    fabs(x->out.target_ns - smartt_model_trtt(&x->m, &x->mp)) <= 1;
}

static void step(struct random_state *r, struct pair *x, struct result *result)
{
	enum event event = random_event(r);
	struct quell_sample s = { 0 };
	struct pair before;

	s.now_ns = random_state(r, x);
	if (event == EVENT_ACK)
		random_sample(r, x, &s);
	model_follow(&x->m, &x->v);
	before = *x;
	s.idle_ns = random_magnitude(r, 0, 1ULL << 43);
	apply(x, event, &s);
	result->n.events[event]++;
	if (x->m.unsure)
		result->n.ambiguous++;
	else
		judge(x, &before, &s, result);
}

TEST(single_steps)
{
	struct result result = {
		.starts = true, .windows = true, .pendings = true, .memories = true, .decisions = true,
	};
	struct random_state r = { 7 };
	struct pair x;
	int i;

	for (i = 0; i < SMARTT_STEPS; i++) {
		if (i % EPISODE == 0)
			result.starts = random_pair(&r, &x) && result.starts;
		step(&r, &x, &result);
	}
	expect(result.starts, "starts_equal");
	expect(result.windows, "windows_within_bound");
	expect(result.pendings, "pending_increase_within_bound");
	expect(result.memories, "state_equal");
	expect(result.decisions, "decisions_equal");
	expect(result.n.compared >= STEPS / 6 * 5 && result.n.ambiguous < SMARTT_STEPS / 10,
	       "steps_were_comparable");
	model_steps_print(&result.n);
	model_error_print(&result.window, "smartt", "any", "window");
}

TEST_HARNESS_MAIN

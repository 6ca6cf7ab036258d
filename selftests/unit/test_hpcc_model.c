// SPDX-License-Identifier: GPL-2.0
/*
 * The integer core of HPCC against the floating-point model.
 *
 * One step at a time: parameters anywhere in their ranges, then the standard
 * ones; any state, any event.  The model starts each step from the core's state,
 * so every error is that of one step and is held against the bounds derived in
 * hpcc_model_step.h.
 *
 * In the long run: both start together and are never reconciled; thousands of
 * ACKs through a bottleneck shared by a number of such flows.
 */
#include <string.h>

#include <quell/core/hpcc/core.h>

#include "hpcc_model_step.h"
#include "model_error.h"
#include "random_params.h"
#include "test.h"

/*
 * With the standard parameters, 8 Gbit/s and 1 us or more: 1000 bytes of product,
 * so U loses 2^-7 / 1000 = 8e-6, and 4e-6 of the value added.  Of a U of 1/16 that is
 * 1.3e-4; a much smaller one makes of nearly every reference the largest window.
 * The smallest window, 12.5 bytes, loses 4 * 2^-16: 5e-6.
 */
#define STANDARD_RELATIVE	2e-4
#define LONG_EPISODES	60
#define LONG_STEPS	5000
/* Above the sum of drift's bounds: additive increase dilutes earlier errors. */
#define LONG_RELATIVE	2e-3

struct pair {
	struct quell_hpcc_params p;
	struct quell_hpcc_vars v;
	struct quell_hpcc_stats st;
	struct quell_decision out;
	struct hpcc_model_params mp;
	struct hpcc_model m;
	u64 link_bytes_ps;
};

struct result {
	struct model_steps n;
	unsigned int measured, multiplied, moved, disregarded;
	bool windows, references, utils, memories, decisions;
	struct model_error window, reference, util;
};

static void start_pair(struct random_state *r, bool any, struct pair *x)
{
	u64 least_ns = any ? 100 : 1000;
	struct quell_sample s = { 0 };

	memset(x, 0, sizeof(*x));
	quell_core_params_default(&quell_hpcc_core, &x->p);
	if (any)
		random_params(r, &quell_hpcc_core, &x->p, 3, false);
	hpcc_model_params_of(&x->mp, &x->p);
	x->link_bytes_ps = random_between(r, 0, 7) ? random_magnitude(r, 1000000, 100000000000) : 0;
	s.link_bytes_ps = x->link_bytes_ps;
	s.now_ns = random_between(r, 0, 1000000);
	s.mss_bytes = random_between(r, 64, 65535);
	if (random_between(r, 0, 7))
		s.min_rtt_ns = random_magnitude(r, least_ns, 1000000);
	s.flags = random_between(r, 0, 1) ? QUELL_S_TELEMETRY : 0;
	quell_hpcc_init(&x->v, &x->p, &s, &x->out);
}

static void apply(struct pair *x, enum event event, const struct quell_sample *s)
{
	struct hpcc_model_event e = hpcc_model_event_of(s);

	e.rand = quell_draw_u32(s->now_ns, x->v.window_q16) * 0x1p-32;
	switch (event) {
	case EVENT_ACK:
		quell_hpcc_on_ack(&x->v, &x->p, &x->st, s, &x->out);
		hpcc_model_ack(&x->m, &x->mp, &e);
		break;
	case EVENT_LOSS:
		quell_hpcc_on_loss(&x->v, &x->p, &x->st, s, &x->out);
		hpcc_model_fast_retransmit(&x->m, &x->mp, &e);
		break;
	case EVENT_RTO:
		quell_hpcc_on_rto(&x->v, &x->p, &x->st, s, &x->out);
		hpcc_model_timeout(&x->m, &x->mp, &e);
		break;
	case EVENT_IDLE:
		quell_hpcc_on_idle_restart(&x->v, &x->p, &x->st, s, &x->out);
		hpcc_model_after_idle(&x->m, &x->mp, &e, s->idle_ns);
		break;
	}
}

/* Whether rounding decides which branch is taken, not only the amount. */
static bool is_ambiguous(const struct pair *x, const struct pair *before,
			 const struct quell_sample *s, double du, double bound)
{
	double w = hpcc_model_compute_wind(&before->m, &x->mp, hpcc_model_w_ai(&x->m, &x->mp));

	if (!isfinite(bound) ||
	    hpcc_line_rate_is_ambiguous(&x->m, &x->mp, s->link_bytes_ps / 1e9))
		return true;
	if (du > 0) {
		struct hpcc_model now = before->m;

		now.u = x->m.u;
		w = hpcc_model_compute_wind(&now, &x->mp, hpcc_model_w_ai(&x->m, &x->mp));
		if (fabs(x->m.u - x->mp.eta) <= du)
			return true;
	}
	return (s->flags & QUELL_S_APP_LIMITED || x->mp.probabilistic) &&
	       fabs(w - before->m.wc) <= bound;
}

static void compare(struct pair *x, const struct pair *before, const struct quell_sample *s,
		    struct result *result)
{
	struct hpcc_model_event e = hpcc_model_event_of(s);
	bool measured = x->st.measured != before->st.measured;
	double t = hpcc_model_t(&x->m, &x->mp);
	double du = measured ? hpcc_util_bound(&before->m, &e.l, t) : 0;
	double bound = hpcc_window_bound(&before->m, &x->m, &x->mp, before->m.wc,
					 hpcc_model_w_ai(&x->m, &x->mp), du);
	double error = fabs(x->out.window_q16 / 65536.0 - x->m.window_bytes);

	if (is_ambiguous(x, before, s, du, bound)) {
		result->n.ambiguous++;
		return;
	}
	result->n.compared++;
	result->windows &= model_error_note(&result->window, error, x->m.window_bytes, bound);
	error = fabs(x->v.window_q16 / 65536.0 - x->m.wc);
	result->references &= model_error_note(&result->reference, error, x->m.wc, bound);
	error = fabs(x->v.util_q24 / 16777216.0 - x->m.u);
	/* U is compared with eta, so below 1 its error is taken relative to 1. */
	if (measured)
		result->utils &= model_error_note(&result->util, error, fmax(x->m.u, 1), du);
	else
		result->utils = result->utils && error == 0;
	result->memories = result->memories && hpcc_same_memory(&x->v, &x->m);
	result->decisions = result->decisions &&
			    hpcc_same_pacing(&x->out, &x->m, &x->mp, bound);
	result->measured += measured;
	result->multiplied += measured && x->m.u >= x->mp.eta;
	result->moved += x->v.window_q16 != before->v.window_q16;
	result->disregarded += x->st.disregarded != before->st.disregarded;
}

static void step(struct random_state *r, struct pair *x, bool any, struct result *result)
{
	enum event event = random_event(r);
	u64 idle_ns = random_magnitude(r, 0, 1ULL << 43);
	struct quell_sample s;
	struct pair before;

	hpcc_random_state(r, &x->v, &x->p);
	hpcc_random_sample(r, &x->v, &x->p, x->link_bytes_ps,
			   random_magnitude(r, any ? 1000000 : 1000000000, 100000000000), &s);
	hpcc_model_follow(&x->m, &x->v);
	before = *x;
	s.idle_ns = idle_ns;
	apply(x, event, &s);
	result->n.events[event]++;
	compare(x, &before, &s, result);
}

static void test_single_steps(struct __test_metadata *_metadata, const char *run)
{
	bool any = !strcmp(run, "any");
	struct result result = {
		.windows = true, .references = true, .utils = true, .memories = true,
		.decisions = true,
		.window.limit = any ? 0 : STANDARD_RELATIVE,
	};
	struct random_state r = { 7 };
	struct pair x;
	int i;

	for (i = 0; i < STEPS; i++) {
		if (i % EPISODE == 0)
			start_pair(&r, any, &x);
		step(&r, &x, any, &result);
	}
	expect(result.windows, "%s_step_windows_within_bound", run);
	expect(result.references, "%s_step_references_within_bound", run);
	expect(result.utils, "%s_step_utilisations_within_bound", run);
	expect(result.memories, "%s_step_state_equal", run);
	expect(result.decisions, "%s_step_decisions_equal", run);
	expect(result.n.compared >= STEPS / 6 * 5 && result.n.ambiguous < STEPS / 20 &&
		       result.measured > STEPS / 4 && result.multiplied > STEPS / 10 &&
		       result.moved > STEPS / 10 &&
		       (any ? result.disregarded > STEPS / 500 : !result.disregarded),
	       "%s_steps_were_comparable", run);
	model_steps_print(&result.n);
	printf("# %u measured, %u of them above eta, %u moved the reference, %u left out\n",
	       result.measured, result.multiplied, result.moved, result.disregarded);
	model_error_print(&result.window, "hpcc", run, "window");
	model_error_print(&result.reference, "hpcc", run, "reference");
	model_error_print(&result.util, "hpcc", run, "utilisation");
}

/*
 * Bound of the difference of the two by now.  U forgets a part of its error with each
 * record and gains that of the step; the reference takes over the window's with
 * each update.
 */
struct drift {
	double wc_bytes, u;
};

/*
 * The record of a link shared by @flows flows with this window: the bytes it has sent
 * since the last record, and its queue, with some noise.  Units are added until
 * rounding does not decide between increase and decrease.
 */
static void shared_record(struct random_state *r, const struct pair *x, u32 flows,
			  struct quell_sample *s)
{
	double bdp = 12.5 * 4300;
	double load = flows * x->m.window_bytes * (1 + random_between(r, 0, 100) / 1000.0);
	double tau = 123 * flows;
	struct hpcc_model_event e;
	struct hpcc_model ahead;

	s->telemetry.hop = 1;
	s->telemetry.link_bytes_ps = 12500000000;
	s->telemetry.time_ns = (s->telemetry.time_ns + (u32)tau) & 0xffffff;
	s->telemetry.queue_bytes = fmax(load - bdp, 0);
	s->telemetry.tx_units += 12.5 * tau * fmin(load / bdp, 1) / 64;
	do {
		s->telemetry.tx_units = (s->telemetry.tx_units + 1) & 0xffffff;
		ahead = x->m;
		e = hpcc_model_event_of(s);
		hpcc_model_record(&ahead, &x->mp, &e);
	} while (fabs(ahead.u - x->mp.eta) <= LONG_RELATIVE);
}

static void long_compare(const struct pair *x, const struct pair *before,
			 const struct quell_sample *s, struct drift *drift,
			 struct result *result)
{
	struct hpcc_model_event e = hpcc_model_event_of(s);
	bool measured = x->st.measured != before->st.measured;
	double weight = fmin(fmod(e.l.ts_ns - before->m.l.ts_ns + 0x1p24, 0x1p24) / 4300, 1);
	double bound, error, factor = 1;

	if (measured)
		drift->u = drift->u * (1 - weight) + hpcc_util_bound(&before->m, &e.l, 4300);
	bound = hpcc_window_bound(&before->m, &x->m, &x->mp, before->m.wc,
				  hpcc_model_w_ai(&x->m, &x->mp), drift->u);
	if (x->m.u >= x->mp.eta || before->m.inc_stage >= x->mp.max_stage)
		factor = x->mp.eta / (x->m.u - drift->u);
	bound += drift->wc_bytes * (measured ? factor : 1);
	error = fabs(x->out.window_q16 / 65536.0 - x->m.window_bytes);
	result->windows &= model_error_note(&result->window, error, x->m.window_bytes, bound);
	if (x->m.wc != before->m.wc)
		drift->wc_bytes = bound;
	error = fabs(x->v.window_q16 / 65536.0 - x->m.wc);
	result->references &= model_error_note(&result->reference, error, x->m.wc,
					       drift->wc_bytes + 0x1p-16);
	error = fabs(x->v.util_q24 / 16777216.0 - x->m.u);
	result->utils &= error <= drift->u;
	result->memories = result->memories && hpcc_same_memory(&x->v, &x->m);
}

static void long_episode(struct random_state *r, u32 flows, struct result *result)
{
	struct quell_sample s = {
		.mss_bytes = 1448, .acked_bytes = 1448, .acked_pkts = 1,
		.link_bytes_ps = 12500000000, .min_rtt_ns = 4300,
	};
	struct drift drift = { 0 };
	struct pair before, x;
	int step;

	memset(&x, 0, sizeof(x));
	quell_core_params_default(&quell_hpcc_core, &x.p);
	hpcc_model_params_of(&x.mp, &x.p);
	quell_hpcc_init(&x.v, &x.p, &(struct quell_sample) {
			.min_rtt_ns = 4300, .link_bytes_ps = 12500000000, .mss_bytes = 1448,
			.flags = QUELL_S_TELEMETRY,
		}, &x.out);
	hpcc_model_follow(&x.m, &x.v);
	for (step = 0; step < LONG_STEPS; step++) {
		s.inflight_bytes = x.m.window_bytes;
		s.now_ns = (u64)step * 123 * flows;
		shared_record(r, &x, flows, &s);
		before = x;
		apply(&x, EVENT_ACK, &s);
		long_compare(&x, &before, &s, &drift, result);
	}
	result->measured += x.st.increases;
	result->moved += x.st.decreases;
}

TEST(long_run)
{
	struct result result = {
		.windows = true, .references = true, .utils = true, .memories = true,
		.window.limit = LONG_RELATIVE, .reference.limit = LONG_RELATIVE,
	};
	struct random_state r = { 8 };
	u32 flows;

	for (flows = 1; flows <= LONG_EPISODES; flows++)
		long_episode(&r, flows, &result);
	expect(result.windows && result.references, "long_run_within_rounding");
	expect(result.utils && result.memories, "long_run_state_equal");
	expect(result.measured > 10 * LONG_EPISODES && result.moved > 10 * LONG_EPISODES,
	       "long_run_saw_congestion");
	printf("# %u increases, %u decreases of the reference\n", result.measured, result.moved);
	model_error_print(&result.window, "hpcc", "long", "window");
	model_error_print(&result.reference, "hpcc", "long", "reference");
}

MODEL_STEPS_TESTS

TEST_HARNESS_MAIN

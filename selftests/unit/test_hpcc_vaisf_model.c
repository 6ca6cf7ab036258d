// SPDX-License-Identifier: GPL-2.0
/*
 * The integer core of hpcc_vaisf against the floating-point model.
 *
 * One step at a time: parameters anywhere in their ranges, then the standard
 * ones; any state, any event.  The model starts each step from the core's state,
 * so every error is that of one step and is held against the bounds derived in
 * hpcc_model_step.h and step_bound().
 *
 * In the long run: both start together and are never reconciled; thousands of
 * ACKs through a bottleneck shared by a number of such flows.
 */
#include <string.h>

#include <quell/core/hpcc_vaisf/core.h>

#include "hpcc_model_step.h"
#include "hpcc_vaisf_model.h"
#include "model_error.h"
#include "random_params.h"
#include "test.h"

/* As test_hpcc_model.c's; and 2^-16 * (1 + 100 / 8) = 2.1e-4 of the increase. */
#define STANDARD_RELATIVE	4e-4
#define LONG_EPISODES	60
#define LONG_STEPS	5000
/* Above the sum of drift's bounds: additive increase dilutes earlier errors. */
#define LONG_RELATIVE	2e-3

struct pair {
	struct quell_hpcc_vaisf_params p;
	struct quell_hpcc_vaisf_vars v;
	struct quell_hpcc_vaisf_stats st;
	struct quell_decision out;
	struct hpcc_vaisf_model_params mp;
	struct hpcc_vaisf_model m;
	u64 link_bytes_ps;
};

struct result {
	struct model_steps n;
	unsigned int measured, earned, multiplied, spent, fell, rose;
	bool windows, references, memories, decisions;
	struct model_error window, reference, dampener;
};

static void model_params(struct hpcc_vaisf_model_params *mp,
			 const struct quell_hpcc_vaisf_params *p)
{
	hpcc_model_params_of(&mp->hpcc, &p->hpcc);
	mp->min_bdp_bytes = p->token_thresh_bytes;
	mp->ai_div_bytes = p->token_bytes;
	mp->bank_cap = p->vaisf.bank_cap_tokens;
	mp->ai_cap = p->vaisf.ai_cap_tokens;
	mp->dampener_constant = p->vaisf.dampener_q16 / 65536.0;
	mp->sampling_frequency = p->vaisf.sampling_pkts;
	mp->or_rtt_finished = p->vaisf.sampling_rtt;
}

/* Set the model to the core's state. */
static void model_follow(struct hpcc_vaisf_model *m, const struct quell_hpcc_vaisf_vars *v)
{
	hpcc_model_follow(&m->hpcc, &v->hpcc);
	m->measured_congestion_bytes = v->vaisf.measured;
	m->ai_bank = v->vaisf.bank_tokens;
	m->dampener = v->vaisf.dampener_q16 / 65536.0;
	m->packets_since_decrease = v->vaisf.sampled_pkts;
	m->spent = 0;
}

static void start_pair(struct random_state *r, bool any, struct pair *x)
{
	u64 least_ns = any ? 100 : 1000;
	struct quell_sample s = { 0 };

	memset(x, 0, sizeof(*x));
	quell_core_params_default(&quell_hpcc_vaisf_core, &x->p);
	if (any)
		random_params(r, &quell_hpcc_vaisf_core, &x->p, 3, false);
	model_params(&x->mp, &x->p);
	x->link_bytes_ps = random_between(r, 0, 7) ? random_magnitude(r, 1000000, 100000000000) : 0;
	s.link_bytes_ps = x->link_bytes_ps;
	s.now_ns = random_between(r, 0, 1000000);
	s.mss_bytes = random_between(r, 64, 65535);
	if (random_between(r, 0, 7))
		s.min_rtt_ns = random_magnitude(r, least_ns, 1000000);
	s.flags = random_between(r, 0, 1) ? QUELL_S_TELEMETRY : 0;
	quell_hpcc_vaisf_init(&x->v, &x->p, &s, &x->out);
}

/* Random state of the two mechanisms, within their types and parameters. */
static void random_state(struct random_state *r, struct pair *x)
{
	struct quell_vaisf_vars *v = &x->v.vaisf;

	hpcc_random_state(r, &x->v.hpcc, &x->p.hpcc);
	v->measured = random_between(r, 0, 1) ? 0 : random_magnitude(r, 0, 1 << 30);
	v->dampener_q16 = random_magnitude(r, 0, 1 << 30);
	v->bank_tokens = random_magnitude(r, 0, x->p.vaisf.bank_cap_tokens);
	v->sampled_pkts = random_magnitude(r, 0, 60000);
}

static void apply(struct pair *x, enum event event, const struct quell_sample *s)
{
	struct hpcc_model_event e = hpcc_model_event_of(s);

	switch (event) {
	case EVENT_ACK:
		quell_hpcc_vaisf_on_ack(&x->v, &x->p, &x->st, s, &x->out);
		hpcc_vaisf_model_ack(&x->m, &x->mp, &e, s->acked_pkts);
		break;
	case EVENT_LOSS:
		quell_hpcc_vaisf_on_loss(&x->v, &x->p, &x->st, s, &x->out);
		hpcc_vaisf_model_fast_retransmit(&x->m, &x->mp, &e);
		break;
	case EVENT_RTO:
		quell_hpcc_vaisf_on_rto(&x->v, &x->p, &x->st, s, &x->out);
		hpcc_vaisf_model_timeout(&x->m, &x->mp, &e);
		break;
	case EVENT_IDLE:
		quell_hpcc_vaisf_on_idle_restart(&x->v, &x->p, &x->st, s, &x->out);
		hpcc_vaisf_model_after_idle(&x->m, &x->mp, &e, s->idle_ns);
		break;
	}
}

/*
 * Bytes the increase adds to HPCC's bound.  The step is rounded down by
 * 2^-16 byte and multiplied; the multiplier is rounded down by 2^-16 and lacks the
 * effect of 2^-16 of dampener, at most tokens / constant times that; one more 2^-16
 * byte in the product.
 */
static double step_bound(const struct pair *x)
{
	double step = hpcc_model_w_ai(&x->m.hpcc, &x->mp.hpcc);
	double slope = fmin(x->mp.ai_cap, x->mp.bank_cap) / x->mp.dampener_constant;

	return 0x1p-16 * (x->mp.ai_cap + step * (1 + slope) + 1) +
	       step * x->mp.ai_cap * 0x1p-44;
}

/* Whether the state other than reference and U is the same, but for the dampener's last bit. */
static bool same_memory(const struct pair *x)
{
	const struct quell_vaisf_vars *v = &x->v.vaisf;

	return hpcc_same_memory(&x->v.hpcc, &x->m.hpcc) &&
	       v->measured == x->m.measured_congestion_bytes &&
	       v->bank_tokens == x->m.ai_bank &&
	       v->sampled_pkts == x->m.packets_since_decrease;
}

/* The window before limits of a flow with the state @before and the U of now. */
static double unlimited_window(const struct pair *x, const struct pair *before)
{
	struct hpcc_vaisf_model now = before->m;

	now.hpcc.u = x->m.hpcc.u;
	/* Use the bank before the tokens were spent. */
	now.ai_bank = fmin(x->m.ai_bank + x->m.spent, x->mp.bank_cap);
	now.dampener = x->m.dampener;
	return hpcc_model_compute_wind(&now.hpcc, &x->mp.hpcc,
				       hpcc_model_w_ai(&x->m.hpcc, &x->mp.hpcc) *
				       hpcc_vaisf_model_multiplier(&now, &x->mp));
}

/* Whether rounding decides which branch is taken, not only the amount. */
static bool is_ambiguous(const struct pair *x, const struct pair *before,
			 const struct quell_sample *s, double du, double bound)
{
	if (!isfinite(bound) ||
	    hpcc_line_rate_is_ambiguous(&x->m.hpcc, &x->mp.hpcc, s->link_bytes_ps / 1e9))
		return true;
	if (du > 0 && fabs(x->m.hpcc.u - x->mp.hpcc.eta) <= du)
		return true;
	return (x->m.hpcc.u_applies || before->m.hpcc.u_applies) &&
	       fabs(unlimited_window(x, before) - before->m.hpcc.wc) <= bound;
}

static void compare(struct pair *x, const struct pair *before, const struct quell_sample *s,
		    struct result *result)
{
	struct hpcc_model_event e = hpcc_model_event_of(s);
	bool measured = x->st.hpcc.measured != before->st.hpcc.measured;
	double t = hpcc_model_t(&x->m.hpcc, &x->mp.hpcc);
	double du = measured ? hpcc_util_bound(&before->m.hpcc, &e.l, t) : 0;
	double bound = step_bound(x) +
		       hpcc_window_bound(&before->m.hpcc, &x->m.hpcc, &x->mp.hpcc,
					 before->m.hpcc.wc,
					 hpcc_model_w_ai(&x->m.hpcc, &x->mp.hpcc), du);
	double error = fabs(x->out.window_q16 / 65536.0 - x->m.hpcc.window_bytes);

	if (is_ambiguous(x, before, s, du, bound)) {
		result->n.ambiguous++;
		return;
	}
	result->n.compared++;
	result->windows &= model_error_note(&result->window, error, x->m.hpcc.window_bytes, bound);
	error = fabs(x->v.hpcc.window_q16 / 65536.0 - x->m.hpcc.wc);
	result->references &= model_error_note(&result->reference, error, x->m.hpcc.wc, bound);
	error = fabs(x->v.vaisf.dampener_q16 / 65536.0 - x->m.dampener);
	/* The dampener is added to 1, so below 1 its error is taken relative to 1. */
	result->memories &= model_error_note(&result->dampener, error,
					     fmax(x->m.dampener, 1), 0x1p-16);
	result->memories = result->memories && same_memory(x) &&
			   fabs(x->v.hpcc.util_q24 / 16777216.0 - x->m.hpcc.u) <= du &&
			   x->st.spent - before->st.spent == x->m.spent;
	result->decisions = result->decisions &&
			    hpcc_same_pacing(&x->out, &x->m.hpcc, &x->mp.hpcc, bound);
	result->measured += measured;
	result->earned += x->st.earned > before->st.earned;
	result->multiplied += hpcc_vaisf_model_multiplier(&x->m, &x->mp) > 1;
	result->spent += x->m.spent > 0;
	result->fell += x->st.hpcc.decreases > before->st.hpcc.decreases;
	result->rose += x->st.hpcc.increases > before->st.hpcc.increases;
}

static void step(struct random_state *r, struct pair *x, bool any, struct result *result)
{
	enum event event = random_event(r);
	u64 idle_ns = random_magnitude(r, 0, 1ULL << 43);
	struct quell_sample s;
	struct pair before;

	random_state(r, x);
	hpcc_random_sample(r, &x->v.hpcc, &x->p.hpcc, x->link_bytes_ps,
			   random_magnitude(r, any ? 1000000 : 1000000000, 100000000000), &s);
	model_follow(&x->m, &x->v);
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
		.windows = true, .references = true, .memories = true, .decisions = true,
		.window.limit = any ? 0 : STANDARD_RELATIVE,
	};
	struct random_state r = { 9 };
	struct pair x;
	int i;

	for (i = 0; i < STEPS; i++) {
		if (i % EPISODE == 0)
			start_pair(&r, any, &x);
		step(&r, &x, any, &result);
	}
	expect(result.windows, "%s_step_windows_within_bound", run);
	expect(result.references, "%s_step_references_within_bound", run);
	expect(result.memories, "%s_step_state_equal", run);
	expect(result.decisions, "%s_step_decisions_equal", run);
	expect(result.n.compared >= STEPS / 6 * 5 && result.n.ambiguous < STEPS / 10 &&
		       result.measured > STEPS / 4 && result.earned > STEPS / 50 &&
		       result.multiplied > STEPS / 50 && result.spent > STEPS / 50 &&
		       result.fell > STEPS / 50 && result.rose > STEPS / 50,
	       "%s_steps_were_comparable", run);
	model_steps_print(&result.n);
	printf("# %u measured, %u earned tokens, %u multiplied the increase, %u spent, %u fell, %u rose\n",
	       result.measured, result.earned, result.multiplied, result.spent, result.fell,
	       result.rose);
	model_error_print(&result.window, "hpcc_vaisf", run, "window");
	model_error_print(&result.reference, "hpcc_vaisf", run, "reference");
	model_error_print(&result.dampener, "hpcc_vaisf", run, "dampener");
}

/*
 * Bound of the difference of the two by now.  U forgets a part of its error with each
 * record and gains that of the step; the reference takes over the window's with
 * each update; the dampener loses a last bit a round trip since it was 0.
 */
struct drift {
	double wc_bytes, u, dampener;
};

/* Whether the flow's drift by now could have decided the branch an ACK takes. */
static bool direction_is_close(const struct pair *x, const struct hpcc_vaisf_model *ahead)
{
	struct pair next = *x;
	double wc = x->m.hpcc.wc;

	next.m = *ahead;
	next.m.spent -= x->m.spent;
	if (fabs(ahead->hpcc.u - x->mp.hpcc.eta) <= LONG_RELATIVE)
		return true;
	/* An additive increase counts as an increase however small it is. */
	return (ahead->hpcc.u >= x->mp.hpcc.eta ||
		x->m.hpcc.inc_stage >= x->mp.hpcc.max_stage) &&
	       fabs(unlimited_window(&next, x) - wc) <= LONG_RELATIVE * wc;
}

/*
 * The record of a link shared by @flows flows with this window: the bytes it has sent
 * since the last record, and its queue, with some noise.  Units are added until
 * rounding does not decide between increase and decrease.
 */
static void shared_record(struct random_state *r, const struct pair *x, u32 flows,
			  struct quell_sample *s)
{
	double bdp = 12.5 * 4300;
	double load = flows * x->m.hpcc.window_bytes * (1 + random_between(r, 0, 100) / 1000.0);
	double tau = 123 * flows;
	struct hpcc_vaisf_model ahead;
	struct hpcc_model_event e;

	s->telemetry.hop = 1;
	s->telemetry.link_bytes_ps = 12500000000;
	s->telemetry.time_ns = (s->telemetry.time_ns + (u32)tau) & 0xffffff;
	s->telemetry.queue_bytes = fmax(load - bdp, 0);
	s->telemetry.tx_units += 12.5 * tau * fmin(load / bdp, 1) / 64;
	do {
		s->telemetry.tx_units = (s->telemetry.tx_units + 1) & 0xffffff;
		ahead = x->m;
		e = hpcc_model_event_of(s);
		hpcc_vaisf_model_ack(&ahead, &x->mp, &e, 1);
	} while (direction_is_close(x, &ahead));
}

static void long_compare(const struct pair *x, const struct pair *before,
			 const struct quell_sample *s, struct drift *drift,
			 struct result *result)
{
	struct hpcc_model_event e = hpcc_model_event_of(s);
	bool measured = x->st.hpcc.measured != before->st.hpcc.measured;
	const struct hpcc_model *m = &x->m.hpcc, *then = &before->m.hpcc;
	double weight = fmin(fmod(e.l.ts_ns - then->l.ts_ns + 0x1p24, 0x1p24) / 4300, 1);
	double w_ai = hpcc_model_w_ai(m, &x->mp.hpcc);
	double bound, error, factor = 1;

	if (measured)
		drift->u = drift->u * (1 - weight) + hpcc_util_bound(then, &e.l, 4300);
	drift->dampener = x->m.dampener > 0 ? drift->dampener : 0;
	if (x->m.dampener != before->m.dampener)
		drift->dampener += 0x1p-16;
	bound = hpcc_window_bound(then, m, &x->mp.hpcc, then->wc, w_ai, drift->u) +
		step_bound(x) + w_ai * x->mp.ai_cap / x->mp.dampener_constant * drift->dampener;
	if (m->u >= x->mp.hpcc.eta || then->inc_stage >= x->mp.hpcc.max_stage)
		factor = x->mp.hpcc.eta / (m->u - drift->u);
	bound += drift->wc_bytes * (measured ? factor : 1);
	error = fabs(x->out.window_q16 / 65536.0 - m->window_bytes);
	result->windows &= model_error_note(&result->window, error, m->window_bytes, bound);
	if (m->wc != then->wc)
		drift->wc_bytes = bound;
	error = fabs(x->v.hpcc.window_q16 / 65536.0 - m->wc);
	result->references &= model_error_note(&result->reference, error, m->wc,
					       drift->wc_bytes + 0x1p-16);
	result->memories = result->memories && same_memory(x) &&
			   fabs(x->v.hpcc.util_q24 / 16777216.0 - m->u) <= drift->u &&
			   fabs(x->v.vaisf.dampener_q16 / 65536.0 - x->m.dampener) <=
			   drift->dampener;
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
	quell_core_params_default(&quell_hpcc_vaisf_core, &x.p);
	model_params(&x.mp, &x.p);
	quell_hpcc_vaisf_init(&x.v, &x.p, &(struct quell_sample) {
			.min_rtt_ns = 4300, .link_bytes_ps = 12500000000, .mss_bytes = 1448,
			.flags = QUELL_S_TELEMETRY,
		}, &x.out);
	model_follow(&x.m, &x.v);
	for (step = 0; step < LONG_STEPS; step++) {
		s.inflight_bytes = x.m.hpcc.window_bytes;
		s.now_ns = (u64)step * 123 * flows;
		shared_record(r, &x, flows, &s);
		before = x;
		apply(&x, EVENT_ACK, &s);
		long_compare(&x, &before, &s, &drift, result);
	}
	result->earned += x.st.earned;
	result->rose += x.st.hpcc.increases;
	result->fell += x.st.hpcc.decreases;
}

TEST(long_run)
{
	struct result result = {
		.windows = true, .references = true, .memories = true,
		.window.limit = LONG_RELATIVE, .reference.limit = LONG_RELATIVE,
	};
	struct random_state r = { 10 };
	u32 flows;

	for (flows = 1; flows <= LONG_EPISODES; flows++)
		long_episode(&r, flows, &result);
	expect(result.windows && result.references, "long_run_within_rounding");
	expect(result.memories, "long_run_state_equal");
	expect(result.earned > 10 * LONG_EPISODES && result.rose > 10 * LONG_EPISODES &&
		       result.fell > 10 * LONG_EPISODES,
	       "long_run_saw_congestion");
	printf("# %u round trips earned tokens, %u increases, %u decreases\n", result.earned,
	       result.rose, result.fell);
	model_error_print(&result.window, "hpcc_vaisf", "long", "window");
	model_error_print(&result.reference, "hpcc_vaisf", "long", "reference");
}

MODEL_STEPS_TESTS

TEST_HARNESS_MAIN

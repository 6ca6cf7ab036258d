// SPDX-License-Identifier: GPL-2.0
/*
 * The integer core of TIMELY against the floating-point model.
 *
 * One step at a time: parameters anywhere in their ranges, then the standard
 * ones; any state, any event.  The model starts each step from the core's state, so every error is
 * that of one step and is held against the bound derived in rate_bound().  A
 * step with a decision by the last bit is skipped and counted.
 *
 * In the long run: both start together and are never reconciled.
 */
#include <math.h>
#include <string.h>

#include <quell/core/timely/core.h>

#include "model_error.h"
#include "model_steps.h"
#include "random_params.h"
#include "test.h"
#include "timely_model.h"

/* 2^-16 ns of difference over the 20 us of minimum round trip, and 2^-29. */
#define STANDARD_RELATIVE	3e-9
#define LONG_EPISODES	20
#define LONG_STEPS	20000
/* 20000 steps, each wrong by 2^-29 of the rate and a step's 2^-30: 4e-5 and as much. */
#define LONG_BOUND	1e-4

struct pair {
	struct quell_timely_params p;
	struct quell_timely_vars v;
	struct quell_timely_stats st;
	struct quell_decision out;
	struct timely_model_params mp;
	struct timely_model m;
};

static void model_params(struct timely_model_params *mp,
			 const struct quell_timely_params *p)
{
	mp->t_low = p->t_low_ns;
	mp->t_high = p->t_high_ns;
	mp->min_rtt = p->min_rtt_ns;
	mp->delta = p->delta_bytes_ps / 1e9;
	mp->alpha = p->alpha_q16 / 65536.0;
	mp->beta = p->beta_q16 / 65536.0;
	mp->hai = p->hai_nr;
	mp->hai_after = p->hai_after_nr;
	mp->segment = p->segment_bytes;
	mp->init_rate = p->init_rate_bytes_ps / 1e9;
	mp->min_rate = p->min_rate_bytes_ps / 1e9;
	mp->max_rate = p->max_rate_bytes_ps / 1e9;
	mp->max_outstanding = p->max_outstanding_bytes;
	mp->restart_idle = p->restart_idle_ns;
	mp->patched = p->patched_bool;
	mp->patched_beta = p->patched_beta_q16 / 65536.0;
	mp->patched_ref = p->patched_ref_ns;
}

static double diff_ns(const struct quell_timely_vars *v)
{
	double magnitude = v->diff_ns_q16 / 65536.0;

	return v->flags & QUELL_TIMELY_F_FALLING ? -magnitude : magnitude;
}

static double rate_bytes_ps(const struct quell_timely_vars *v)
{
	return v->rate_q16 / 65536.0;
}

/* Set the model to the core's state. */
static void model_follow(struct timely_model *m, const struct quell_timely_vars *v)
{
	m->rate = rate_bytes_ps(v) / 1e9;
	m->window = v->window_q16 / 65536.0;
	m->rtt_diff = diff_ns(v);
	m->prev_rtt = v->prev_rtt_ns;
	m->last_completion = v->last_ns;
	m->mss = v->mss_bytes;
	m->since = v->since_bytes;
	m->sent = v->sent_bytes;
	m->allowed = v->allowed_bytes;
	m->falling = v->falling_nr;
	m->signal = v->flags & QUELL_TIMELY_F_SIGNAL;
	m->have_prev = v->flags & QUELL_TIMELY_F_PREV;
	m->after_loss = v->flags & QUELL_TIMELY_F_LOSS;
}

/*
 * Bound of the difference of the two rates after one step, bytes/s.
 *
 * The average loses less than 2^-16 ns, which over the minimum round trip is
 * the error of the gradient; weight, cut and step lose 2^-32 each.  Patched,
 * the gradient counts twice, and two terms are rounded to whole bytes/s.
 */
static double rate_bound(const struct pair *before)
{
	const struct timely_model_params *p = &before->mp;
	double gradient = 0x1p-16 / p->min_rtt;
	double rate = before->m.rate * 1e9, delta = p->delta * 1e9;

	return rate * (0x1p-29 + gradient) + delta * p->hai * 0x1p-30 +
	       (p->patched ? 3 + 4 * gradient * (rate + delta) : 0) + 0x1p-14;
}

/*
 * Bound of the error in the bytes counted for the 80 % rule: one for each rounding,
 * and the rate's own fraction of a byte/s over the time.
 */
static double demand_bound(const struct pair *before)
{
	double rate = before->m.rate * 1e9;
	double sent = before->m.sent + before->m.since;

	return 4 + (sent + 8 * before->mp.segment) * 2 / rate +
	       sent / (4 * before->mp.segment);
}

static void start_pair(struct random_state *r, bool any, struct pair *x)
{
	bool blind = !random_between(r, 0, 7);
	struct quell_sample s = { 0 };

	memset(x, 0, sizeof(*x));
	quell_core_params_default(&quell_timely_core, &x->p);
	if (any)
		random_params(r, &quell_timely_core, &x->p, 3, true);
	model_params(&x->mp, &x->p);
	s.now_ns = random_between(r, 0, 1000000);
	s.other_flows = random_between(r, 0, 63);
	s.mss_bytes = random_between(r, 64, 65535);
	s.min_rtt_ns = blind ? 0 : random_magnitude(r, 100, 1000000);
	s.link_bytes_ps = blind ? 0 : random_magnitude(r, 1000000, 100000000000);
	quell_timely_init(&x->v, &x->p, &s, &x->out);
	model_follow(&x->m, &x->v);
}

/* Near one of the thresholds, near the last one, or 0 for no measurement. */
static u64 random_rtt_ns(struct random_state *r, const struct pair *x)
{
	u64 near[] = { x->p.t_low_ns, x->p.t_high_ns, x->v.prev_rtt_ns, x->v.prev_rtt_ns };
	u64 center = near[random_between(r, 0, 3)];

	if (!random_between(r, 0, 15))
		return 0;
	return quell_min_u64(1 + center * exp2(random_between(r, 0, 2000) / 1000.0 - 1),
			     2000000000);
}

static void apply(struct pair *x, enum event event, const struct quell_sample *s)
{
	struct timely_model_event e = {
		.now = s->now_ns, .rtt = s->rtt_ns, .acked = s->acked_bytes,
		.link = s->link_bytes_ps / 1e9, .inflight = s->inflight_bytes,
		.whole_segment = s->flags & QUELL_S_SEGMENT_DONE,
	};

	x->m.mss = s->mss_bytes;
	switch (event) {
	case EVENT_ACK:
		quell_timely_on_ack(&x->v, &x->p, &x->st, s, &x->out);
		timely_model_ack(&x->m, &x->mp, &e);
		break;
	case EVENT_LOSS:
		quell_timely_on_loss(&x->v, &x->p, &x->st, s, &x->out);
		timely_model_loss(&x->m, &x->mp, &e);
		break;
	case EVENT_RTO:
		quell_timely_on_rto(&x->v, &x->p, &x->st, s, &x->out);
		timely_model_timeout(&x->m, &x->mp, &e);
		break;
	case EVENT_IDLE:
		quell_timely_on_idle_restart(&x->v, &x->p, &x->st, s, &x->out);
		timely_model_idle(&x->m, &x->mp, &e, s->idle_ns, s->min_rtt_ns,
				  s->other_flows);
		break;
	}
}

struct single_result {
	bool rates, windows, memories, decisions;
	struct model_steps n;
	struct model_error rate, gradient, window;
};

static bool is_ambiguous(const struct pair *x, const struct pair *before)
{
	return (x->m.gradient_margin <= 0x1p-15 &&
		(x->v.diff_ns_q16 || before->v.diff_ns_q16)) ||
	       x->m.demand_margin <= 2 * demand_bound(before);
}

static bool same_memory(const struct pair *x, const struct pair *before, double bound)
{
	return x->v.prev_rtt_ns == x->m.prev_rtt && x->v.last_ns == x->m.last_completion &&
	       x->v.since_bytes == x->m.since && x->v.falling_nr == x->m.falling &&
	       fabs(x->v.sent_bytes - x->m.sent) <= demand_bound(before) &&
	       fabs(x->v.allowed_bytes - x->m.allowed) <= demand_bound(before) &&
	       !(x->v.flags & QUELL_TIMELY_F_SIGNAL) == !x->m.signal &&
	       !(x->v.flags & QUELL_TIMELY_F_PREV) == !x->m.have_prev &&
	       (!(x->v.flags & QUELL_TIMELY_F_LOSS) == !x->m.after_loss ||
		fabs(x->m.window - bound) <= 1);
}

static bool same_decision(const struct pair *x)
{
	u64 rate = x->v.rate_q16 >> 16;

	return x->out.window_q16 == x->v.window_q16 &&
	       x->out.pacing_bytes_ps ==
	       (x->m.signal ? (rate ? rate : 1) : QUELL_RATE_UNLIMITED);
}

static void compare(const struct pair *x, const struct pair *before, enum event event,
		    u64 link_bytes_ps, struct single_result *result)
{
	double window_bound = timely_model_bound(&x->m, &x->mp, link_bytes_ps / 1e9);
	/* The first rate is a quotient in whole bytes/s. */
	double bound = rate_bound(before) + (event == EVENT_IDLE);
	double error = fabs(rate_bytes_ps(&x->v) - x->m.rate * 1e9);

	if (is_ambiguous(x, before)) {
		result->n.ambiguous++;
		return;
	}
	result->n.compared++;
	result->rates &= model_error_note(&result->rate, error, x->m.rate * 1e9, bound);
	result->windows &=
		model_error_note(&result->window, fabs(x->v.window_q16 / 65536.0 - x->m.window),
				 x->m.window, 1 + x->m.window * 0x1p-40);
	/* The gradient is the difference in parts of the minimum round trip. */
	result->memories &=
		model_error_note(&result->gradient, fabs(diff_ns(&x->v) - x->m.rtt_diff),
				 x->mp.min_rtt, 0x1p-15 + fabs(x->m.rtt_diff) * 0x1p-48);
	result->memories = result->memories &&
			   same_memory(x, before, window_bound);
	result->decisions = result->decisions && same_decision(x);
}

static void single_step(struct random_state *r, struct pair *x,
			struct single_result *result)
{
	enum event event = random_event(r);
	struct quell_sample s = { .mss_bytes = x->v.mss_bytes };
	struct pair before;

	s.now_ns = x->v.last_ns + random_magnitude(r, 0, 100000000);
	s.rtt_ns = event == EVENT_ACK ? random_rtt_ns(r, x) : 0;
	s.min_rtt_ns = random_magnitude(r, 1, 1000000);
	s.link_bytes_ps = random_between(r, 0, 7) ?
			  random_magnitude(r, 1000000, 100000000000) : 0;
	s.acked_bytes = random_magnitude(r, 1, 2 * x->p.segment_bytes);
	s.inflight_bytes = random_magnitude(r, 0, 1000000);
	s.flags = random_between(r, 0, 1) ? QUELL_S_SEGMENT_DONE : 0;
	model_follow(&x->m, &x->v);
	x->m.gradient_margin = INFINITY;
	x->m.demand_margin = INFINITY;
	before = *x;
	result->n.events[event]++;
	s.idle_ns = random_magnitude(r, 0, 1000000000);
	s.other_flows = random_between(r, 0, 63);
	apply(x, event, &s);
	compare(x, &before, event, s.link_bytes_ps, result);
}

static void test_single_steps(struct __test_metadata *_metadata, const char *run)
{
	bool any = !strcmp(run, "any");
	struct single_result result = {
		.rates = true, .windows = true, .memories = true, .decisions = true,
		.rate.limit = any ? 0 : STANDARD_RELATIVE,
	};
	struct random_state r = { 7 };
	struct pair x;
	int i;

	for (i = 0; i < STEPS; i++) {
		if (i % EPISODE == 0)
			start_pair(&r, any, &x);
		single_step(&r, &x, &result);
	}
	expect(result.rates, "%s_step_rates_within_bound", run);
	expect(result.windows, "%s_step_windows_equal", run);
	expect(result.memories, "%s_step_state_equal", run);
	expect(result.decisions, "%s_step_decisions_equal", run);
	expect(result.n.compared >= STEPS / 6 * 5 && result.n.ambiguous < STEPS / 20,
	       "%s_steps_were_comparable", run);
	model_steps_print(&result.n);
	model_error_print(&result.rate, "timely", run, "rate");
	model_error_print(&result.gradient, "timely", run, "gradient");
	model_error_print(&result.window, "timely", run, "window");
}

/* A flow that always has data; its round-trip time wanders through all zones. */
static bool long_episode(struct random_state *r, struct quell_timely_stats *seen,
			 struct model_error *error)
{
	struct quell_sample s = {
		.mss_bytes = 1448, .acked_bytes = 15928, .link_bytes_ps = 1250000000,
		.flags = QUELL_S_SEGMENT_DONE, .rtt_ns = 60000,
	};
	bool within = true;
	struct pair x;
	int step;

	memset(&x, 0, sizeof(x));
	quell_core_params_default(&quell_timely_core, &x.p);
	model_params(&x.mp, &x.p);
	quell_timely_init(&x.v, &x.p, &(struct quell_sample) {
			.min_rtt_ns = 20000, .link_bytes_ps = s.link_bytes_ps, .mss_bytes = 1448,
			.other_flows = 39,
		}, &x.out);
	model_follow(&x.m, &x.v);
	for (step = 0; step < LONG_STEPS; step++) {
		u64 aim_ns = x.v.rate_q16 >> 16 > 62500000 ? 700000 : 15000;

		s.now_ns += 1 + s.acked_bytes * 1000000000ULL / (x.v.rate_q16 >> 16);
		s.rtt_ns = (s.rtt_ns * 15 + aim_ns) / 16 + random_between(r, 0, 2000);
		apply(&x, EVENT_ACK, &s);
		within &= model_error_note(error, fabs(rate_bytes_ps(&x.v) - x.m.rate * 1e9),
					   x.m.rate * 1e9, LONG_BOUND * x.m.rate * 1e9);
	}
	seen->below_low += x.st.below_low;
	seen->above_high += x.st.above_high;
	seen->gradient_up += x.st.gradient_up;
	seen->hai += x.st.hai;
	return within;
}

TEST(long_run)
{
	struct quell_timely_stats seen = { 0 };
	struct random_state r = { 8 };
	struct model_error error = { .limit = LONG_BOUND };
	bool within = true;
	int i;

	for (i = 0; i < LONG_EPISODES; i++)
		within &= long_episode(&r, &seen, &error);
	expect(within, "long_run_within_rounding");
	expect(seen.below_low > 100 && seen.above_high > 1000 && seen.gradient_up > 1000 &&
		       seen.hai > 1000,
	       "long_run_saw_all_zones");
	model_error_print(&error, "timely", "long", "rate");
	printf("# %llu below t_low, %llu above t_high, %llu rising, %llu hyperactive\n",
	       seen.below_low, seen.above_high, seen.gradient_up, seen.hai);
}

MODEL_STEPS_TESTS

TEST_HARNESS_MAIN

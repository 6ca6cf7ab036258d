// SPDX-License-Identifier: GPL-2.0
/*
 * The integer core against the floating-point model.
 *
 * One step at a time: parameters anywhere in their ranges, then the standard
 * ones; any state, any event.  The model starts each step from the core's state, so every error is
 * that of one step and is held against the bounds derived in dcqcn_pair.h.
 *
 * In the long run: both start together and are never reconciled; marks come from a
 * simulated queue that two such flows fill.
 */
#include <math.h>
#include <string.h>

#include <quell/core/dcqcn/core.h>

#include "dcqcn_pair.h"
#include "model_error.h"
#include "model_steps.h"
#include "random_params.h"
#include "test.h"

/* A start without a known link rounds to a byte/s, of min_rate's 1.25 MB/s or more. */
#define STANDARD_RELATIVE	1e-6
#define LONG_EPISODES		40
#define LONG_STEPS		20000
/* A rounding of alpha enters every later cut; fast recovery forgets them. */
#define LONG_RELATIVE		1e-6

struct pair {
	struct quell_dcqcn_params p;
	struct quell_dcqcn_vars v;
	struct quell_dcqcn_stats st;
	struct quell_decision out;
	struct dcqcn_model_params mp;
	struct dcqcn_model m;
};

static void start_pair(struct random_state *r, bool any, struct pair *x)
{
	struct quell_sample s = { 0 };

	s.link_bytes_ps = random_magnitude(r, 0, 100000000000);
	s.min_rtt_ns = random_magnitude(r, 0, 10000000);
	s.now_ns = random_between(r, 0, 1000000);
	memset(x, 0, sizeof(*x));
	quell_core_params_default(&quell_dcqcn_core, &x->p);
	if (any)
		random_params(r, &quell_dcqcn_core, &x->p, 4, true);
	dcqcn_pair_params(&x->mp, &x->p);
	s.mss_bytes = random_between(r, 64, 65535);
	s.flags = random_between(r, 0, 7) ? QUELL_S_ECN : 0;
	quell_dcqcn_init(&x->v, &x->p, &s, &x->out);
	dcqcn_pair_follow(&x->m, &x->v, &x->p);
}

static void apply(struct pair *x, enum event event, const struct quell_sample *s)
{
	struct dcqcn_model_event e = {
		.now_ns = s->now_ns, .line_rate = s->link_bytes_ps,
		.acked_bytes = s->acked_bytes, .inflight_bytes = s->inflight_bytes,
		.marked = s->marked_bytes, .app_limited = s->flags & QUELL_S_APP_LIMITED,
	};

	switch (event) {
	case EVENT_ACK:
		quell_dcqcn_on_ack(&x->v, &x->p, &x->st, s, &x->out);
		dcqcn_model_ack(&x->m, &x->mp, &e);
		break;
	case EVENT_LOSS:
		quell_dcqcn_on_loss(&x->v, &x->p, &x->st, s, &x->out);
		dcqcn_model_loss(&x->m, &x->mp, &e);
		break;
	case EVENT_RTO:
		quell_dcqcn_on_rto(&x->v, &x->p, &x->st, s, &x->out);
		dcqcn_model_timeout(&x->m, &x->mp, &e);
		break;
	case EVENT_IDLE:
		quell_dcqcn_on_idle_restart(&x->v, &x->p, &x->st, s, &x->out);
		dcqcn_model_after_idle(&x->m, &x->mp, &e, s->idle_ns);
		break;
	}
}

/* Counts, times and flags are whole numbers and must be equal. */
static bool same_memory(const struct pair *x)
{
	const struct quell_dcqcn_vars *v = &x->v;
	const struct dcqcn_model *m = &x->m;

	return v->timer_steps == m->t && v->byte_steps == m->bc &&
	       v->counted_bytes == m->bytes && v->since_ns == m->last_notification_ns &&
	       v->since_ns + (v->decays + 1.0) * x->p.alpha_timer_ns == m->next_alpha_ns &&
	       !(v->flags & QUELL_DCQCN_F_NOTIFIED) == !m->notified &&
	       v->min_rtt_ns == m->base_rtt_ns;
}

/* Whether a loss is over; where Reno's window is that of the rate, rounding decides. */
static bool same_loss(const struct pair *x, double window_bound)
{
	double window = quell_dcqcn_rate_window_q16(&x->v, &x->p) / 65536.0;

	return !(x->v.flags & QUELL_DCQCN_F_LOSS) == !x->m.after_loss ||
	       fabs(x->v.reno_q16 / 65536.0 - window) <= window_bound;
}

struct single_result {
	unsigned int events[EVENT_IDLE + 1];
	unsigned int steps;
	bool rates, alphas, memories, windows;
	struct model_error rate, target, alpha, window;
};

static void compare(const struct pair *x, const struct pair *before,
		    enum event event, const struct quell_sample *s, struct single_result *result)
{
	double bound = dcqcn_pair_rate_bound(&before->m, &x->mp, &x->m, event == EVENT_IDLE,
					     s->now_ns);
	double rate_error = fabs(x->v.rate_q16 / 65536.0 - x->m.rc);
	double target_error = fabs(x->v.target_q16 / 65536.0 - x->m.rt);
	double alpha_error = fabs(x->v.alpha_q30 * 0x1p-30 - x->m.alpha);
	double window = dcqcn_model_window_bytes(&x->m, &x->mp);
	double window_bound = dcqcn_pair_window_bound(&before->m, &x->mp, &x->m, s->acked_bytes,
						      bound);

	result->steps++;
	result->rates &= model_error_note(&result->rate, rate_error, x->m.rc, bound);
	result->rates &= model_error_note(&result->target, target_error, x->m.rt, bound);
	result->alphas &= model_error_note(&result->alpha, alpha_error, 1,
					   dcqcn_pair_alpha_bound(&before->m, &x->mp, s->now_ns));
	result->memories = result->memories && same_memory(x) && same_loss(x, window_bound);
	result->windows &= model_error_note(&result->window,
					    fabs(x->out.window_q16 / 65536.0 - window), window,
					    window_bound);
}

static void single_step(struct random_state *r, struct pair *x,
			struct single_result *result)
{
	enum event event = random_event(r);
	struct quell_sample s = {
		.mss_bytes = x->v.mss_bytes, .idle_ns = random_magnitude(r, 0, 1ULL << 43),
	};
	struct pair before;

	/* Random rates within the limits. */
	s.link_bytes_ps = random_between(r, 0, 7) ? random_magnitude(r, 1, 1ULL << 37) : 0;
	x->v.rate_q16 = random_magnitude(r, 1, 1ULL << 53);
	x->v.target_q16 = random_magnitude(r, 1, 1ULL << 53);
	quell_dcqcn_decide(&x->v, &x->p, s.link_bytes_ps, &x->out);
	x->v.alpha_q30 = random_magnitude(r, 0, 1 << 30);
	s.now_ns = x->v.since_ns + random_magnitude(r, 0, 80 * x->p.timer_ns);
	s.acked_bytes = random_magnitude(r, 1, 16 * (u64)x->v.mss_bytes);
	if (!random_between(r, 0, 9))
		s.acked_bytes = random_magnitude(r, 1, 0xffffffff);
	s.marked_bytes = random_between(r, 0, 2) ? 0 : s.acked_bytes;
	s.inflight_bytes = random_magnitude(r, 0, 1 << 26);
	s.flags = random_between(r, 0, 9) ? 0 : QUELL_S_APP_LIMITED;
	dcqcn_pair_follow(&x->m, &x->v, &x->p);
	before = *x;
	apply(x, event, &s);
	result->events[event]++;
	compare(x, &before, event, &s, result);
}

static void test_single_steps(struct __test_metadata *_metadata, const char *run)
{
	bool any = !strcmp(run, "any");
	struct single_result result = {
		.rates = true, .alphas = true, .memories = true, .windows = true,
		.rate.limit = any ? 0 : STANDARD_RELATIVE,
	};
	struct random_state r = { 5 };
	struct pair x;
	int i;

	for (i = 0; i < STEPS; i++) {
		if (i % EPISODE == 0)
			start_pair(&r, any, &x);
		single_step(&r, &x, &result);
	}
	expect(result.rates, "%s_step_rates_within_bound", run);
	expect(result.alphas, "%s_step_alpha_within_bound", run);
	expect(result.memories, "%s_step_state_equal", run);
	expect(result.windows, "%s_step_windows_within_bound", run);
	expect(result.steps >= STEPS / 6 * 5, "%s_steps_were_enough", run);
	printf("# %u steps (%u ACKs, %u losses, %u timeouts, %u idle)\n", result.steps,
	       result.events[EVENT_ACK], result.events[EVENT_LOSS],
	       result.events[EVENT_RTO], result.events[EVENT_IDLE]);
	model_error_print(&result.rate, "dcqcn", run, "rate");
	model_error_print(&result.target, "dcqcn", run, "target");
	model_error_print(&result.alpha, "dcqcn", run, "alpha");
	model_error_print(&result.window, "dcqcn", run, "window");
}

struct long_result {
	struct model_error rate, alpha;
	u64 notifications, increases;
	bool within, memories;
};

/* A queue with the link's rate, filled by the flow and another equal one. */
static void long_episode(struct random_state *r, u64 timer_ns, struct long_result *result)
{
	double queue_bytes = 0;
	struct pair x;
	u64 now_ns = 0;
	int step;

	memset(&x, 0, sizeof(x));
	quell_core_params_default(&quell_dcqcn_core, &x.p);
	x.p.timer_ns = timer_ns;
	dcqcn_pair_params(&x.mp, &x.p);
	quell_dcqcn_init(&x.v, &x.p, &(struct quell_sample) {
			.min_rtt_ns = 4300, .link_bytes_ps = 12500000000, .mss_bytes = 1448,
			.flags = QUELL_S_ECN,
		}, &x.out);
	dcqcn_pair_follow(&x.m, &x.v, &x.p);
	for (step = 0; step < LONG_STEPS; step++) {
		struct quell_sample s = {
			.mss_bytes = 1448, .acked_bytes = 14480,
			.link_bytes_ps = 12500000000,
		};
		u64 gap_ns = 14480e9 / x.m.rc + 1;

		now_ns += gap_ns;
		queue_bytes = fmax(0, queue_bytes + gap_ns * (2 * x.m.rc - 12.5e9) / 1e9);
		if (queue_bytes > 400000 &&
		    random_between(r, 0, 1200000) * 5 < queue_bytes - 400000)
			s.marked_bytes = 1448;
		s.now_ns = now_ns;
		apply(&x, EVENT_ACK, &s);
		result->within &= model_error_note(&result->rate,
						   fabs(x.v.rate_q16 / 65536.0 - x.m.rc),
						   x.m.rc, LONG_RELATIVE * x.m.rc);
		result->within &= model_error_note(&result->alpha,
						   fabs(x.v.alpha_q30 * 0x1p-30 - x.m.alpha),
						   1, LONG_RELATIVE);
		result->memories = result->memories && same_memory(&x);
	}
	result->notifications += x.st.notifications;
	result->increases += x.st.additive_increases + x.st.hyper_increases;
}

TEST(long_run)
{
	struct long_result result = {
		.within = true, .memories = true,
		.rate.limit = LONG_RELATIVE, .alpha.limit = LONG_RELATIVE,
	};
	struct random_state r = { 6 };
	u64 i;

	for (i = 0; i < LONG_EPISODES; i++)
		long_episode(&r, 5000 * (i % 20 + 1), &result);
	expect(result.within, "long_run_within_bound");
	expect(result.memories, "long_run_state_equal");
	expect(result.notifications > 20 * LONG_EPISODES && result.increases > 100 * LONG_EPISODES,
	       "long_run_saw_congestion");
	printf("# %llu notifications, %llu increases of the target\n",
	       result.notifications, result.increases);
	model_error_print(&result.rate, "dcqcn", "long", "rate");
	model_error_print(&result.alpha, "dcqcn", "long", "alpha");
}

MODEL_STEPS_TESTS

TEST_HARNESS_MAIN

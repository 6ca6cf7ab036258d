// SPDX-License-Identifier: GPL-2.0
/*
 * The integer core of Dart's sender against the floating-point model.
 *
 * One step at a time: parameters anywhere in their ranges, then the standard ones; any state,
 * any event, any n.  The model starts each step from the core's state, so every error is that
 * of one step: DCQCN's, dcqcn_pair.h, and two roundings to a byte/s in the share.
 *
 * In the long run: both start together and are never reconciled; the receiver states n of
 * senders that come and go, and marks pass where it states 1.
 */
#include <math.h>
#include <string.h>

#include <quell/core/dart/core.h>

#include "dart_model.h"
#include "dcqcn_pair.h"
#include "model_error.h"
#include "model_steps.h"
#include "random_params.h"
#include "test.h"

#define LONG_EPISODES		20
#define LONG_STEPS		20000
/* A rounding of alpha, 2^-28, enters each of some hundred cuts between two recoveries. */
#define LONG_RELATIVE		4e-6
#define LINE_BYTES_PS		12500000000ULL
#define MSS			1448

struct pair {
	struct quell_dart_params p;
	struct quell_dart_vars v;
	struct quell_dart_stats st;
	struct quell_event ev;
	struct dart_model_params mp;
	struct dart_model m;
	struct dart_model_decision d;
};

static struct dart_model_event model_event(const struct quell_sample *s)
{
	return (struct dart_model_event) {
		.e = {
			.now_ns = s->now_ns, .acked_bytes = s->acked_bytes,
			.inflight_bytes = s->inflight_bytes, .marked = s->marked_bytes,
			.app_limited = s->flags & QUELL_S_APP_LIMITED,
		},
		.own_line = s->link_bytes_ps, .peer_line = s->peer_link_bytes_ps,
		.n = s->senders_q8 / 256.0, .header_bytes = s->header_bytes,
	};
}

static void apply(struct pair *x, enum event event, const struct quell_sample *s, u64 idle_ns)
{
	struct dart_model_event e = model_event(s);

	x->ev.sample = *s;
	x->ev.sample.idle_ns = idle_ns;
	switch (event) {
	case EVENT_ACK:
		quell_dart_core.on_ack(&x->ev);
		dart_model_ack(&x->m, &x->mp, &e, &x->d);
		break;
	case EVENT_LOSS:
		quell_dart_core.on_loss(&x->ev);
		dart_model_loss(&x->m, &x->mp, &e, &x->d);
		break;
	case EVENT_RTO:
		quell_dart_core.on_rto(&x->ev);
		dart_model_timeout(&x->m, &x->mp, &e, &x->d);
		break;
	case EVENT_IDLE:
		quell_dart_core.on_idle_restart(&x->ev);
		dart_model_after_idle(&x->m, &x->mp, &e, idle_ns, &x->d);
		break;
	}
}

/*
 * The share is rounded down to a byte/s, which may take away the last of the segments that
 * the window is rounded up to: then it may be a segment less.
 */
static bool is_edge(const struct pair *x)
{
	double lost = x->d.time_ns / 1e9 / x->m.dcqcn.mss_bytes + x->d.segments * 0x1p-50;

	return x->d.segments > 0 && ceil(x->d.segments - lost) != ceil(x->d.segments + 1e-12);
}

struct result {
	unsigned int events[EVENT_IDLE + 1], limited, edges;
	bool rates, windows, unpaced;
	struct model_error rate, window;
};

static void compare(const struct pair *x, double rate_bound, double window_bound,
		    struct result *result)
{
	const struct quell_decision *out = &x->ev.decision;

	if (isinf(x->d.rate) || out->pacing_bytes_ps == QUELL_RATE_UNLIMITED)
		result->unpaced = result->unpaced && isinf(x->d.rate) &&
				  out->pacing_bytes_ps == QUELL_RATE_UNLIMITED;
	else
		result->rates &= model_error_note(&result->rate,
						  fabs(out->pacing_bytes_ps - x->d.rate),
						  x->d.rate, rate_bound);
	if (is_edge(x)) {
		result->edges++;
		return;
	}
	result->windows &= model_error_note(&result->window,
					    fabs(out->window_q16 / 65536.0 - x->d.window),
					    x->d.window, window_bound);
}

static void start_pair(struct random_state *r, bool any, struct pair *x, struct result *result)
{
	struct dart_model_event e;

	memset(x, 0, sizeof(*x));
	quell_core_params_default(&quell_dart_core, &x->p);
	if (any)
		random_params(r, &quell_dart_core, &x->p, 4, true);
	dcqcn_pair_params(&x->mp.dcqcn, &x->p.dcqcn);
	x->mp.slack_ns = x->p.slack_ns;
	x->ev = (struct quell_event) {
		.vars = &x->v, .params = &x->p, .stats = &x->st,
		.sample = {
			.min_rtt_ns = random_magnitude(r, 0, 10000000),
			.now_ns = random_between(r, 0, 1000000),
			.link_bytes_ps = random_magnitude(r, 0, 100000000000),
			.peer_link_bytes_ps = random_magnitude(r, 0, 100000000000),
			.mss_bytes = random_between(r, 64, 65535),
			.flags = random_between(r, 0, 7) ? QUELL_S_ECN : 0,
		},
	};
	e = model_event(&x->ev.sample);
	quell_dart_core.init(&x->ev);
	dcqcn_pair_follow(&x->m.dcqcn, &x->v.dcqcn, &x->p.dcqcn);
	dart_model_start(&x->m, &x->mp, &e, &x->d);
	compare(x, 2, dcqcn_pair_window_bound(&x->m.dcqcn, &x->mp.dcqcn, &x->m.dcqcn, 0, 0),
		result);
}

static void random_sample(struct random_state *r, const struct pair *x, struct quell_sample *s)
{
	*s = (struct quell_sample) {
		.mss_bytes = x->v.dcqcn.mss_bytes,
		.header_bytes = random_between(r, 0, 3) ? random_between(r, 78, 200) : 0,
		.link_bytes_ps = random_between(r, 0, 7) ? random_magnitude(r, 1, 1ULL << 37) : 0,
		.peer_link_bytes_ps = random_between(r, 0, 3) ?
				      random_magnitude(r, 1, 1ULL << 37) : 0,
		.senders_q8 = random_between(r, 0, 7) ?
			      random_magnitude(r, 256, QUELL_SHARE_MAX_Q8) : 0,
		.now_ns = x->v.dcqcn.since_ns + random_magnitude(r, 0, 80 * x->p.dcqcn.timer_ns),
		.acked_bytes = random_magnitude(r, 1, 16 * (u64)x->v.dcqcn.mss_bytes),
		.inflight_bytes = random_magnitude(r, 0, 1 << 26),
		.flags = random_between(r, 0, 9) ? 0 : QUELL_S_APP_LIMITED,
	};
	if (!random_between(r, 0, 7))
		s->senders_q8 = QUELL_SHARE_ONE_Q8;
	s->marked_bytes = random_between(r, 0, 2) ? 0 : s->acked_bytes;
}

static void single_step(struct random_state *r, struct pair *x, struct result *result)
{
	enum event event = random_event(r);
	u64 limited = x->st.apportioned;
	struct dcqcn_model before;
	struct quell_sample s;
	double bound;

	random_sample(r, x, &s);
	/* Random rates within the limits. */
	x->v.dcqcn.rate_q16 = random_magnitude(r, 1, 1ULL << 53);
	x->v.dcqcn.target_q16 = random_magnitude(r, 1, 1ULL << 53);
	quell_dcqcn_decide(&x->v.dcqcn, &x->p.dcqcn, quell_dart_line_bytes_ps(&s),
			   &x->ev.decision);
	x->v.dcqcn.alpha_q30 = random_magnitude(r, 0, 1 << 30);
	dcqcn_pair_follow(&x->m.dcqcn, &x->v.dcqcn, &x->p.dcqcn);
	before = x->m.dcqcn;
	apply(x, event, &s, random_magnitude(r, 0, 1ULL << 43));
	result->events[event]++;
	result->limited += x->st.apportioned != limited;
	bound = dcqcn_pair_rate_bound(&before, &x->mp.dcqcn, &x->m.dcqcn, event == EVENT_IDLE,
				      s.now_ns);
	compare(x, bound + 2, dcqcn_pair_window_bound(&before, &x->mp.dcqcn, &x->m.dcqcn,
						      s.acked_bytes, bound), result);
}

static void test_single_steps(struct __test_metadata *_metadata, const char *run)
{
	struct result result = { .rates = true, .windows = true, .unpaced = true };
	struct random_state r = { 8 };
	struct pair x;
	int i;

	for (i = 0; i < STEPS; i++) {
		if (i % EPISODE == 0)
			start_pair(&r, !strcmp(run, "any"), &x, &result);
		single_step(&r, &x, &result);
	}
	expect(result.rates && result.unpaced, "%s_step_rates_within_bound", run);
	expect(result.windows, "%s_step_windows_within_bound", run);
	expect(result.window.steps >= STEPS / 6 * 5 && result.edges < STEPS / 100,
	       "%s_steps_were_enough", run);
	expect(result.limited > STEPS / 10, "%s_share_governed", run);
	printf("# %u ACKs, %u losses, %u timeouts, %u idle; the share governed %u, %u edges\n",
	       result.events[EVENT_ACK], result.events[EVENT_LOSS], result.events[EVENT_RTO],
	       result.events[EVENT_IDLE], result.limited, result.edges);
	model_error_print(&result.rate, "dart", run, "rate");
	model_error_print(&result.window, "dart", run, "window");
}

/* Senders come and go; the network is the bottleneck, and marks, for some of the time. */
static void long_episode(struct random_state *r, struct result *result, u64 *notifications)
{
	u64 now_ns = 0, n_q8 = 256;
	struct pair x;
	int step;

	memset(&x, 0, sizeof(x));
	quell_core_params_default(&quell_dart_core, &x.p);
	dcqcn_pair_params(&x.mp.dcqcn, &x.p.dcqcn);
	x.mp.slack_ns = x.p.slack_ns;
	x.ev = (struct quell_event) {
		.vars = &x.v, .params = &x.p, .stats = &x.st,
		.sample = { .min_rtt_ns = 4300, .link_bytes_ps = 2 * LINE_BYTES_PS,
			    .peer_link_bytes_ps = LINE_BYTES_PS,
			    .mss_bytes = MSS, .flags = QUELL_S_ECN },
	};
	quell_dart_core.init(&x.ev);
	dcqcn_pair_follow(&x.m.dcqcn, &x.v.dcqcn, &x.p.dcqcn);
	x.d.rate = LINE_BYTES_PS;
	for (step = 0; step < LONG_STEPS; step++) {
		struct quell_sample s = {
			.mss_bytes = MSS, .acked_bytes = 10 * MSS,
			.link_bytes_ps = 2 * LINE_BYTES_PS, .peer_link_bytes_ps = LINE_BYTES_PS,
		};

		if (!random_between(r, 0, 99))
			n_q8 = random_between(r, 0, 1) ? random_magnitude(r, 256, 64 * 256) : 256;
		now_ns += 10 * MSS * 1e9 / x.d.rate + 1;
		s.now_ns = now_ns;
		s.senders_q8 = n_q8;
		s.marked_bytes = n_q8 == 256 && !random_between(r, 0, 49) ? MSS : 0;
		apply(&x, EVENT_ACK, &s, 0);
		compare(&x, LONG_RELATIVE * x.d.rate + 3, 2 + LONG_RELATIVE * x.d.window,
			result);
	}
	result->limited += x.st.apportioned;
	*notifications += x.st.dcqcn.notifications;
}

TEST(long_run)
{
	struct result result = { .rates = true, .windows = true, .unpaced = true };
	struct random_state r = { 9 };
	u64 notifications = 0;
	int i;

	for (i = 0; i < LONG_EPISODES; i++)
		long_episode(&r, &result, &notifications);
	expect(result.rates && result.windows && result.unpaced, "long_run_within_bound");
	expect(result.limited > LONG_EPISODES * LONG_STEPS / 10 &&
		       notifications > 20 * LONG_EPISODES,
	       "long_run_saw_both_kinds");
	printf("# the share governed %u, %llu notifications, %u edges\n", result.limited,
	       notifications, result.edges);
	model_error_print(&result.rate, "dart", "long", "rate");
	model_error_print(&result.window, "dart", "long", "window");
}

MODEL_STEPS_TESTS

TEST_HARNESS_MAIN

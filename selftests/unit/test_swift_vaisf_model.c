// SPDX-License-Identifier: GPL-2.0
/*
 * The integer core of swift_vaisf against the floating-point model.
 *
 * One step at a time: parameters anywhere in their ranges, then the standard
 * ones; any state, any event.  The model starts each step from the core's state,
 * so every error is that of one step and is held against the bound derived in
 * step_bound().
 *
 * In the long run: both start together and are never reconciled; thousands of
 * ACKs through a bottleneck shared by a number of such flows.
 */
#include <math.h>
#include <string.h>

#include <quell/core/swift_vaisf/core.h>

#include "model_error.h"
#include "model_steps.h"
#include "random_params.h"
#include "swift_vaisf_model.h"
#include "test.h"

/*
 * With the standard parameters an increase lacks 2^-16 of the multiplier, which
 * is at least 1, and the effect of 2^-16 of dampener, an eighth of that; and the
 * smallest window, 0.01 of 64 bytes, is wrong by 4 * 2^-16 byte: 1.2e-4 together.
 */
#define STANDARD_RELATIVE	1.2e-4
#define LONG_EPISODES	60
#define LONG_STEPS	5000
/* Above the sum of drift's bounds: every decrease reduces earlier errors. */
#define LONG_RELATIVE	1e-5

struct pair {
	struct quell_swift_vaisf_params p;
	struct quell_swift_vaisf_vars v;
	struct quell_swift_vaisf_stats st;
	struct quell_decision out;
	struct vaisf_model_params mp;
	struct vaisf_model m;
};

struct result {
	struct model_steps n;
	unsigned int adjusted, earned, multiplied;
	bool windows, references, memories, decisions, sums;
	struct model_error window, reference, dampener;
};

static void model_params(struct vaisf_model_params *mp,
			 const struct quell_swift_vaisf_params *p)
{
	mp->swift.base_target_ns = p->swift.base_target_ns;
	mp->swift.hop_ns = p->swift.hop_scale_ns;
	mp->swift.fs_range_ns = 0;
	mp->swift.fs_min_cwnd = 0.1;
	mp->swift.fs_max_cwnd = 50;
	mp->swift.ai_bytes_per_ns = p->swift.ai_bytes_ps / 1e9;
	mp->swift.beta = p->swift.beta_q16 / 65536.0;
	mp->swift.max_mdf = p->swift.max_mdf_q16 / 65536.0;
	mp->swift.min_cwnd = p->swift.min_window_pkts_q16 / 65536.0;
	mp->swift.max_window_bytes = p->swift.max_window_bytes;
	mp->swift.init_window_bytes = p->swift.init_window_bytes;
	mp->swift.restart_idle_ns = p->swift.restart_idle_ns;
	mp->swift.retx_reset_threshold = p->swift.retx_reset_rtos;
	mp->min_bdp_ns = p->token_thresh_ns;
	mp->token_ns = p->token_ns;
	mp->bank_cap = p->vaisf.bank_cap_tokens;
	mp->ai_cap = p->vaisf.ai_cap_tokens;
	mp->dampener_constant = p->vaisf.dampener_q16 / 65536.0;
	mp->sampling_frequency = p->vaisf.sampling_pkts;
	mp->or_rtt_finished = p->vaisf.sampling_rtt;
}

/* Set the model to the core's state. */
static void model_follow(struct vaisf_model *m, const struct quell_swift_vaisf_vars *v)
{
	m->swift.fabric.cwnd = v->swift.window_q16 / 65536.0 / v->swift.mss_bytes;
	m->swift.fabric.t_last_decrease_ns = v->swift.last_decrease_ns;
	m->swift.rtt_ns = v->swift.rtt_ns;
	m->swift.base_rtt_ns = v->swift.min_rtt_ns;
	m->swift.link_bytes_per_ns = v->swift.link_bytes_ps / 1e9;
	m->swift.mss_bytes = v->swift.mss_bytes;
	m->swift.retransmit_cnt = v->swift.rtos;
	m->swift.fabric.ever_decreased = v->swift.flags & QUELL_SWIFT_F_DECREASED;
	m->swift.loss_pending = v->swift.flags & QUELL_SWIFT_F_LOSS;
	m->window_bytes = v->swift.window_q16 / 65536.0;
	m->measured_congestion_ns = v->vaisf.measured;
	m->ai_bank = v->vaisf.bank_tokens;
	m->dampener = v->vaisf.dampener_q16 / 65536.0;
	m->packets_since_decrease = v->vaisf.sampled_pkts;
	m->bytes_left_of_rtt = v->round_bytes;
	m->spent = 0;
}

static void start_pair(struct random_state *r, bool any, struct pair *x)
{
	bool blind = !random_between(r, 0, 7);
	struct quell_sample s = { 0 };

	s.link_bytes_ps = blind ? 0 : random_magnitude(r, 1000000, 100000000000);
	s.min_rtt_ns = blind ? 0 : random_magnitude(r, 100, 1000000);
	memset(x, 0, sizeof(*x));
	quell_core_params_default(&quell_swift_vaisf_core, &x->p);
	if (any)
		random_params(r, &quell_swift_vaisf_core, &x->p, 3, false);
	model_params(&x->mp, &x->p);
	s.now_ns = random_between(r, 0, 1000000);
	s.mss_bytes = random_between(r, 64, 65535);
	quell_swift_vaisf_init(&x->v, &x->p, &s, &x->out);
}

/* A delay within a factor of eight of the target, or 0 for no measurement. */
static u64 random_delay_ns(struct random_state *r, const struct pair *x, u32 hops)
{
	double target_ns = vaisf_model_target_ns(&x->m, &x->mp, hops);

	if (!x->v.swift.min_rtt_ns || !random_between(r, 0, 15))
		return 0;
	return 1 + target_ns * exp2(random_between(r, 0, 6000) / 1000.0 - 3);
}

/* Random state of the two mechanisms, within their types and parameters. */
static void random_state(struct random_state *r, struct pair *x)
{
	struct quell_vaisf_vars *v = &x->v.vaisf;

	x->v.swift.window_q16 = random_magnitude(r, 1, x->p.swift.max_window_bytes << 16);
	x->v.round_bytes = random_between(r, 0, 1) ? 0 : random_magnitude(r, 0, 1 << 30);
	v->measured = random_between(r, 0, 1) ? 0 : random_magnitude(r, 0, 1 << 30);
	v->dampener_q16 = random_magnitude(r, 0, 1 << 30);
	v->bank_tokens = random_magnitude(r, 0, x->p.vaisf.bank_cap_tokens);
	v->sampled_pkts = random_magnitude(r, 0, 60000);
}

static void apply(struct pair *x, enum event event, const struct quell_sample *s)
{
	struct vaisf_model_event e = {
		.swift = {
			.now_ns = s->now_ns, .delay_ns = s->rtt_ns,
			.acked_bytes = s->acked_bytes, .hops = s->hops,
			.app_limited = s->flags & QUELL_S_APP_LIMITED,
		},
		.acked_packets = s->acked_pkts,
		.inflight_bytes = s->inflight_bytes,
	};

	switch (event) {
	case EVENT_ACK:
		quell_swift_vaisf_on_ack(&x->v, &x->p, &x->st, s, &x->out);
		vaisf_model_ack(&x->m, &x->mp, &e);
		break;
	case EVENT_LOSS:
		quell_swift_vaisf_on_loss(&x->v, &x->p, &x->st, s, &x->out);
		vaisf_model_fast_retransmit(&x->m, &x->mp, &e);
		break;
	case EVENT_RTO:
		quell_swift_vaisf_on_rto(&x->v, &x->p, &x->st, s, &x->out);
		vaisf_model_timeout(&x->m, &x->mp, &e);
		break;
	case EVENT_IDLE:
		quell_swift_vaisf_on_idle_restart(&x->v, &x->p, &x->st, s, &x->out);
		vaisf_model_after_idle(&x->m, &x->mp, s->idle_ns);
		break;
	}
}

/*
 * Bound of the difference of the two windows after one step, bytes.
 *
 * The step of one round trip is rounded down by 2^-16 byte and multiplied; the
 * multiplier is rounded down by 2^-16 and lacks the effect of 2^-16 of dampener,
 * at most tokens / constant times that; one more 2^-16 byte in the
 * product.  A decrease loses 2^-24 of the window and 2^-16 byte.  Doubles lose
 * 2^-46 of window and step.
 */
static double step_bound(const struct pair *x, double window, double multiplier)
{
	double step = x->mp.swift.ai_bytes_per_ns * x->m.swift.base_rtt_ns;
	double slope = fmin(x->mp.ai_cap, x->mp.bank_cap) / x->mp.dampener_constant;

	return 0x1p-16 * (multiplier + step * (1 + slope) + 4) +
	       window * (0x1p-24 + 0x1p-46) + step * multiplier * 0x1p-46;
}

/* Whether the state other than the window is the same, but for the dampener's last bit. */
static bool same_memory(const struct pair *x)
{
	const struct quell_vaisf_vars *v = &x->v.vaisf;

	return x->v.round_bytes == x->m.bytes_left_of_rtt &&
	       v->measured == x->m.measured_congestion_ns &&
	       v->bank_tokens == x->m.ai_bank &&
	       v->sampled_pkts == x->m.packets_since_decrease &&
	       x->v.swift.rtos == x->m.swift.retransmit_cnt &&
	       x->v.swift.rtt_ns == x->m.swift.rtt_ns &&
	       x->v.swift.min_rtt_ns == x->m.swift.base_rtt_ns &&
	       !(x->v.swift.flags & QUELL_SWIFT_F_LOSS) == !x->m.swift.loss_pending;
}

/* Check the pacing of a window below one segment, and the target. */
static bool same_decision(const struct pair *x, u32 hops, double bound)
{
	double window = x->m.window_bytes;
	double rate = window / x->m.swift.rtt_ns * 1e9;

	if (x->out.target_ns != vaisf_model_target_ns(&x->m, &x->mp, hops))
		return false;
	if (fabs(window - x->m.swift.mss_bytes) <= bound)
		return true;
	if (window >= x->m.swift.mss_bytes)
		return x->out.pacing_bytes_ps == QUELL_RATE_UNLIMITED;
	return fabs(x->out.pacing_bytes_ps - rate) <= 1.001 + rate * bound / window;
}

/* ceil() may round either way if a double cannot decide; without a signal there is no ceil(). */
static bool start_window_is_ambiguous(const struct vaisf_model *m)
{
	double packets = m->swift.base_rtt_ns * m->swift.link_bytes_per_ns /
			 (m->swift.mss_bytes + QUELL_OVERHEAD_BYTES);

	return packets > 0 && fabs(packets - round(packets)) <= packets * 0x1p-40;
}

/*
 * Whether the window is so close to the reference that rounding decides if it
 * fell.  If no decrease was considered it cannot fall.
 */
static bool direction_is_ambiguous(const struct pair *x, const struct pair *before,
				   const struct quell_sample *s, double bound)
{
	double reference = before->m.swift.fabric.cwnd * before->m.swift.mss_bytes;
	double target_ns = vaisf_model_target_ns(&x->m, &x->mp, s->hops);

	return s->rtt_ns >= target_ns && fabs(x->m.unlimited_bytes - reference) <= bound;
}

static void compare(struct pair *x, const struct pair *before, const struct quell_sample *s,
		    enum event event, struct result *result)
{
	double tokens = fmin(before->m.ai_bank + 65536, x->mp.ai_cap);
	double reference = before->m.swift.fabric.cwnd * before->m.swift.mss_bytes;
	double bound = step_bound(x, fmax(reference, x->m.window_bytes), tokens);
	double error = fabs(x->out.window_q16 / 65536.0 - x->m.window_bytes);

	if (event == EVENT_ACK ? direction_is_ambiguous(x, before, s, bound) :
	    event == EVENT_IDLE && start_window_is_ambiguous(&before->m)) {
		result->n.ambiguous++;
		return;
	}
	result->n.compared++;
	result->windows &= model_error_note(&result->window, error, x->m.window_bytes, bound);
	error = fabs(x->v.swift.window_q16 / 65536.0 - x->m.swift.fabric.cwnd * x->m.swift.mss_bytes);
	result->references &= model_error_note(&result->reference, error,
					       x->m.swift.fabric.cwnd * x->m.swift.mss_bytes, bound);
	error = fabs(x->v.vaisf.dampener_q16 / 65536.0 - x->m.dampener);
	/* The dampener is added to 1, so below 1 its error is taken relative to 1. */
	result->memories &= model_error_note(&result->dampener, error,
					     fmax(x->m.dampener, 1), 0x1p-16);
	result->memories = result->memories && same_memory(x);
	result->decisions = result->decisions && same_decision(x, s->hops, bound);
	result->earned += x->st.earned > before->st.earned;
	result->multiplied += vaisf_model_multiplier(&x->m, &x->mp) > 1;
	result->adjusted += x->v.swift.window_q16 != before->v.swift.window_q16;
}

static void step(struct random_state *r, struct pair *x, struct result *result)
{
	enum event event = random_event(r);
	struct quell_sample s = {
		.mss_bytes = x->v.swift.mss_bytes, .idle_ns = random_magnitude(r, 0, 1ULL << 43),
	};
	struct pair before;

	random_state(r, x);
	s.now_ns = x->v.swift.last_decrease_ns +
		   random_magnitude(r, 0, 4 * x->v.swift.rtt_ns + 1);
	s.hops = random_between(r, 0, 8);
	s.acked_pkts = random_magnitude(r, 0, 64);
	s.acked_bytes = s.acked_pkts * x->v.swift.mss_bytes;
	s.inflight_bytes = random_magnitude(r, 0, 1 << 30);
	s.flags = random_between(r, 0, 9) ? 0 : QUELL_S_APP_LIMITED;
	if (event == EVENT_ACK)
		s.rtt_ns = random_delay_ns(r, x, s.hops);
	model_follow(&x->m, &x->v);
	before = *x;
	apply(x, event, &s);
	result->n.events[event]++;
	compare(x, &before, &s, event, result);
}

static void test_single_steps(struct __test_metadata *_metadata, const char *run)
{
	bool any = !strcmp(run, "any");
	struct result result = {
		.windows = true, .references = true, .memories = true, .decisions = true,
		.window.limit = any ? 0 : STANDARD_RELATIVE,
	};
	struct random_state r = { 5 };
	struct pair x;
	int i;

	for (i = 0; i < STEPS; i++) {
		if (i % EPISODE == 0)
			start_pair(&r, any, &x);
		step(&r, &x, &result);
	}
	expect(result.windows, "%s_step_windows_within_bound", run);
	expect(result.references, "%s_step_references_within_bound", run);
	expect(result.memories, "%s_step_state_equal", run);
	expect(result.decisions, "%s_step_decisions_equal", run);
	expect(result.n.compared >= STEPS / 6 * 5 && result.n.ambiguous < STEPS / 20 &&
		       result.earned > STEPS / 50 && result.multiplied > STEPS / 50 &&
		       result.adjusted > STEPS / 50,
	       "%s_steps_were_comparable", run);
	model_steps_print(&result.n);
	printf("# %u earned tokens, %u multiplied the increase, %u moved the reference\n",
	       result.earned, result.multiplied, result.adjusted);
	model_error_print(&result.window, "swift_vaisf", run, "window");
	model_error_print(&result.reference, "swift_vaisf", run, "reference");
	model_error_print(&result.dampener, "swift_vaisf", run, "dampener");
}

/*
 * Bound of the difference of the two by now: the errors of all steps so far, each
 * multiplied by at most 1; and the dampener's last bits, one a round trip
 * since it was 0, each of which moves the multiplier as in step_bound().
 */
struct drift {
	double reference_bytes, dampener;
};

/*
 * The delay that @flows flows with this window cause at a shared bottleneck,
 * with some noise; a nanosecond more where rounding would decide the direction.
 */
static u64 shared_delay_ns(struct random_state *r, const struct pair *x, u32 flows,
			   struct vaisf_model_event *e)
{
	double full_ns = flows * x->m.window_bytes / x->m.swift.link_bytes_per_ns;
	double reference = x->m.swift.fabric.cwnd * x->m.swift.mss_bytes;
	u64 delay_ns = fmax(full_ns, 4300) * (1 + random_between(r, 0, 100) / 1000.0);
	struct vaisf_model ahead;

	for (;; delay_ns++) {
		ahead = x->m;
		e->swift.delay_ns = delay_ns;
		vaisf_model_ack(&ahead, &x->mp, e);
		if (fabs(ahead.unlimited_bytes - reference) > LONG_RELATIVE * reference)
			return delay_ns;
	}
}

static void long_compare(const struct pair *x, const struct pair *before,
			 struct drift *drift, struct result *result)
{
	double reference = x->m.swift.fabric.cwnd * x->m.swift.mss_bytes;
	double step = x->mp.swift.ai_bytes_per_ns * x->m.swift.base_rtt_ns;
	double slope = fmin(x->mp.ai_cap, x->mp.bank_cap) / x->mp.dampener_constant;
	double largest = fmax(before->m.swift.fabric.cwnd * x->m.swift.mss_bytes, x->m.window_bytes);
	double now, error;

	drift->dampener = x->m.dampener > 0 ? drift->dampener : 0;
	if (x->m.dampener != before->m.dampener)
		drift->dampener += 0x1p-16;
	now = step_bound(x, largest, x->mp.ai_cap) + step * slope * drift->dampener;
	error = fabs(x->out.window_q16 / 65536.0 - x->m.window_bytes);
	result->windows &= model_error_note(&result->window, error, x->m.window_bytes,
					    drift->reference_bytes + now);
	if (x->m.swift.fabric.cwnd != before->m.swift.fabric.cwnd)
		drift->reference_bytes += now;
	error = fabs(x->v.swift.window_q16 / 65536.0 - reference);
	result->references &= model_error_note(&result->reference, error, reference,
					       drift->reference_bytes + 0x1p-16);
	result->sums &= x->v.vaisf.bank_tokens == x->m.ai_bank &&
			x->v.vaisf.measured == x->m.measured_congestion_ns &&
			x->v.vaisf.sampled_pkts == x->m.packets_since_decrease &&
			x->v.round_bytes == x->m.bytes_left_of_rtt &&
			fabs(x->v.vaisf.dampener_q16 / 65536.0 - x->m.dampener) <=
			drift->dampener;
}

static void long_episode(struct random_state *r, u32 flows, struct result *result)
{
	struct quell_sample s = {
		.mss_bytes = 1448, .hops = 1, .acked_bytes = 1448, .acked_pkts = 1,
	};
	struct vaisf_model_event e = {
		.swift.acked_bytes = 1448, .swift.hops = 1, .acked_packets = 1,
	};
	struct drift drift = { 0 };
	struct pair before, x;
	int step;

	memset(&x, 0, sizeof(x));
	quell_core_params_default(&quell_swift_vaisf_core, &x.p);
	model_params(&x.mp, &x.p);
	quell_swift_vaisf_init(&x.v, &x.p, &(struct quell_sample) {
			.min_rtt_ns = 4300, .link_bytes_ps = 12500000000, .mss_bytes = 1448,
		}, &x.out);
	model_follow(&x.m, &x.v);
	for (step = 0; step < LONG_STEPS; step++) {
		s.inflight_bytes = x.m.window_bytes;
		e.inflight_bytes = s.inflight_bytes;
		s.now_ns = (u64)step * 123 * flows;
		e.swift.now_ns = s.now_ns;
		s.rtt_ns = shared_delay_ns(r, &x, flows, &e);
		before = x;
		apply(&x, EVENT_ACK, &s);
		long_compare(&x, &before, &drift, result);
	}
	result->earned += x.st.earned;
	result->adjusted += x.st.swift.decreases;
}

TEST(long_run)
{
	struct result result = {
		.windows = true, .references = true, .sums = true,
		.window.limit = LONG_RELATIVE, .reference.limit = LONG_RELATIVE,
	};
	struct random_state r = { 6 };
	u32 flows;

	for (flows = 1; flows <= LONG_EPISODES; flows++)
		long_episode(&r, flows, &result);
	expect(result.windows && result.references, "long_run_within_rounding");
	expect(result.sums, "long_run_state_equal");
	expect(result.earned > 10 * LONG_EPISODES && result.adjusted > 10 * LONG_EPISODES,
	       "long_run_saw_congestion");
	printf("# %u round trips earned tokens, %u decreases\n", result.earned, result.adjusted);
	model_error_print(&result.window, "swift_vaisf", "long", "window");
	model_error_print(&result.reference, "swift_vaisf", "long", "reference");
}

MODEL_STEPS_TESTS

TEST_HARNESS_MAIN

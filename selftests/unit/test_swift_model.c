// SPDX-License-Identifier: GPL-2.0
/*
 * The integer core against the floating-point model.
 *
 * One step at a time: parameters anywhere in their ranges, then the standard
 * ones; any state, any event.  The model starts each step from the core's state, so every error is
 * that of one step and is held against the bound derived in step_bound().
 *
 * In the long run: both start together and are never reconciled; thousands of
 * ACKs through a bottleneck shared by a number of such flows.
 */
#include <math.h>
#include <string.h>

#include <quell/core/swift/core.h>

#include "model_error.h"
#include "model_steps.h"
#include "random_params.h"
#include "swift_model.h"
#include "test.h"

/*
 * With the standard parameters a decrease comes at a delay of at least the base
 * target of 5000 ns, so 1.15 ns of target (see LONG_BELOW_NS) take 0.8 * 2.3e-4
 * of the window.
 */
#define STANDARD_RELATIVE	1.9e-4
#define LONG_EPISODES		60
#define LONG_STEPS		5000
/*
 * In the long run an error of the target counts at every decrease, in one
 * direction.  The core rounds its target down, by 1.1 ns at most (see
 * target_bound()), and its cut down, by 2^-24 of the window, the effect of
 * 0.01 ns more of target at delays below 100 us.  A window that
 * differs grows or shrinks toward the other and never overtakes it, so the
 * core must stay between two models with targets off by just that.
 */
#define LONG_BELOW_NS		1.15
#define LONG_ABOVE_NS		0.05
/* An increase is rounded down twice, by 2^-16 byte at most (see step_bound()). */
#define LONG_LOST_BYTES		0x1p-15
/* Those two must be close together, or the test would be too weak. */
#define LONG_BETWEEN		5e-3

struct pair {
	struct quell_swift_params p;
	struct quell_swift_split_vars v;
	struct quell_swift_split_stats st;
	struct quell_decision out;
	struct swift_model_params mp;
	struct swift_model m;
};

static void model_params(struct swift_model_params *mp,
			 const struct quell_swift_params *p)
{
	mp->base_target_ns = p->base_target_ns;
	mp->hop_ns = p->hop_scale_ns;
	mp->fs_range_ns = p->fs_range_ns;
	mp->fs_min_cwnd = p->fs_min_pkts_q16 / 65536.0;
	mp->fs_max_cwnd = p->fs_max_pkts_q16 / 65536.0;
	mp->endpoint_target_ns = p->host_target_ns;
	mp->ai_bytes_per_ns = p->ai_bytes_ps / 1e9;
	mp->beta = p->beta_q16 / 65536.0;
	mp->max_mdf = p->max_mdf_q16 / 65536.0;
	mp->min_cwnd = p->min_window_pkts_q16 / 65536.0;
	mp->max_window_bytes = p->max_window_bytes;
	mp->init_window_bytes = p->init_window_bytes;
	mp->restart_idle_ns = p->restart_idle_ns;
	mp->retx_reset_threshold = p->retx_reset_rtos;
	mp->probabilistic = p->probabilistic;
}

/* Set the model to the core's state. */
static void model_follow(struct swift_model *m, const struct quell_swift_split_vars *split)
{
	const struct quell_swift_vars *v = &split->fabric;

	m->fabric.cwnd = v->window_q16 / 65536.0 / v->mss_bytes;
	m->fabric.t_last_decrease_ns = v->last_decrease_ns;
	m->fabric.ever_decreased = v->flags & QUELL_SWIFT_F_DECREASED;
	m->fabric.disregarded = v->flags & QUELL_SWIFT_F_DISREGARDED;
	m->has_endpoint = v->flags & QUELL_SWIFT_SPLIT_F_HOST;
	m->endpoint.cwnd = split->host_window_q16 / 65536.0 / v->mss_bytes;
	m->endpoint.t_last_decrease_ns = split->host_decrease_ns;
	m->endpoint.ever_decreased = v->flags & QUELL_SWIFT_SPLIT_F_DECREASED;
	m->rtt_ns = v->rtt_ns;
	m->base_rtt_ns = v->min_rtt_ns;
	m->link_bytes_per_ns = v->link_bytes_ps / 1e9;
	m->mss_bytes = v->mss_bytes;
	m->retransmit_cnt = v->rtos;
	m->loss_pending = v->flags & QUELL_SWIFT_F_LOSS;
}

static double window_bytes(const struct pair *x)
{
	return x->v.fabric.window_q16 / 65536.0;
}

static double model_window_bytes(const struct pair *x)
{
	return x->m.fabric.cwnd * x->m.mss_bytes;
}

static double host_window_bytes(const struct pair *x)
{
	return x->v.host_window_q16 / 65536.0;
}

static double model_host_window_bytes(const struct pair *x)
{
	return x->m.endpoint.cwnd * x->m.mss_bytes;
}

/*
 * Bound of the difference of the core's and the model's target at the same window, ns.
 *
 * 1 for rounding down and 0.03 for alpha's last bit.  The relative error of
 * alpha is that of the difference of two reciprocal roots, at least 0.29 of
 * the larger one: below 2^-21.8.  alpha times the error of the two reciprocal
 * roots is, alpha being at most 3.42 * range * sqrt(fs_min): below 2^-21.9 of
 * the range.  Together below 2^-20 of the range.  The window counts packets in
 * steps of 2^-16, and alpha / sqrt(w) changes by alpha / 2 w^1.5 per packet.
 */
static double target_bound(const struct swift_model *m,
			   const struct swift_model_params *p, double cwnd_error)
{
	double alpha = p->fs_range_ns /
		(1 / sqrt(p->fs_min_cwnd) - 1 / sqrt(p->fs_max_cwnd));
	double cwnd = fmax(m->fabric.cwnd - cwnd_error - 0x1p-16, p->fs_min_cwnd);

	return 1.1 + p->fs_range_ns * 0x1p-20 +
	       (cwnd_error + 0x1p-16) * alpha / 2 / pow(cwnd, 1.5);
}

/*
 * Bound of the difference of the two windows after one step, bytes.
 *
 * An increase loses less than 2^-16 byte of the step, times the windows
 * acknowledged, and 2^-16 in the quotient.  A decrease takes the target's error
 * over the delay, times beta, and 2^-24 of the window.  Doubles lose 2^-50.
 */
static double step_bound(const struct pair *before, double acked_bytes,
			 double delay_ns)
{
	double window = model_window_bytes(before);
	double acked = acked_bytes / fmax(window, before->m.mss_bytes);
	double bound = 0x1p-16 * (acked + 2) + window * (0x1p-24 + 0x1p-48);

	if (delay_ns > 0)
		bound += window * before->mp.beta *
			 target_bound(&before->m, &before->mp, 0) / delay_ns;
	return bound;
}

/* The same bound for the host's window; its target is exact. */
static double host_step_bound(const struct pair *before, double acked_bytes)
{
	double window = before->m.has_endpoint ? model_host_window_bytes(before) :
						 model_window_bytes(before);
	double acked = acked_bytes / fmax(window, before->m.mss_bytes);

	return 0x1p-16 * (acked + 2) + window * (0x1p-24 + 0x1p-48);
}

static void start_pair(struct random_state *r, bool any, struct pair *x)
{
	bool blind = !random_between(r, 0, 7);
	struct quell_sample s = { 0 };

	s.link_bytes_ps = blind ? 0 : random_magnitude(r, 1000000, 100000000000);
	s.min_rtt_ns = blind ? 0 : random_magnitude(r, 100, 1000000);
	memset(x, 0, sizeof(*x));
	quell_core_params_default(&quell_swift_core, &x->p);
	if (any)
		random_params(r, &quell_swift_core, &x->p, 4, true);
	model_params(&x->mp, &x->p);
	s.now_ns = random_between(r, 0, 1000000);
	s.mss_bytes = random_between(r, 64, 65535);
	quell_swift_split_init(&x->v, &x->p, &s, &x->out);
	model_follow(&x->m, &x->v);
}

/* A delay within a factor of eight of the target, or 0 for no measurement. */
static u64 random_delay_ns(struct random_state *r, const struct pair *x, u32 hops)
{
	double target_ns = swift_model_target_ns(&x->m, &x->mp, hops);

	if (!x->v.fabric.min_rtt_ns || !random_between(r, 0, 15))
		return 0;
	return 1 + target_ns * exp2(random_between(r, 0, 6000) / 1000.0 - 3);
}

/* The core's random draw for an ACK, 0 to 1. */
static double drawn(const struct quell_swift_split_vars *v, const struct quell_sample *s)
{
	return quell_draw_u32(s->now_ns, v->fabric.window_q16) * 0x1p-32;
}

static void apply(struct pair *x, enum event event, const struct quell_sample *s)
{
	struct swift_model_event e = {
		.now_ns = s->now_ns, .delay_ns = s->rtt_ns, .endpoint_ns = s->remote_ns,
		.acked_bytes = s->acked_bytes, .hops = s->hops,
		.app_limited = s->flags & QUELL_S_APP_LIMITED,
		.rand = drawn(&x->v, s),
	};

	switch (event) {
	case EVENT_ACK:
		quell_swift_split_on_ack(&x->v, &x->p, &x->st, s, &x->out);
		swift_model_ack(&x->m, &x->mp, &e);
		break;
	case EVENT_LOSS:
		quell_swift_split_on_loss(&x->v, &x->p, &x->st, s, &x->out);
		swift_model_fast_retransmit(&x->m, &x->mp, &e);
		break;
	case EVENT_RTO:
		quell_swift_split_on_rto(&x->v, &x->p, &x->st, s, &x->out);
		swift_model_timeout(&x->m, &x->mp, &e);
		break;
	case EVENT_IDLE:
		quell_swift_split_on_idle_restart(&x->v, &x->p, &x->st, s, &x->out);
		swift_model_after_idle(&x->m, &x->mp, s->idle_ns);
		break;
	}
}

static bool same_decrease(const struct swift_model_window *w, u64 last_ns, bool ever)
{
	return ever == w->ever_decreased && (!ever || last_ns == w->t_last_decrease_ns);
}

/* Whether the state other than the windows is the same. */
static bool same_memory(const struct pair *x)
{
	return x->v.fabric.rtos == x->m.retransmit_cnt &&
	       x->v.fabric.rtt_ns == x->m.rtt_ns && x->v.fabric.min_rtt_ns == x->m.base_rtt_ns &&
	       !(x->v.fabric.flags & QUELL_SWIFT_F_LOSS) == !x->m.loss_pending &&
	       !(x->v.fabric.flags & QUELL_SWIFT_F_DISREGARDED) == !x->m.fabric.disregarded &&
	       quell_swift_split_has_host(&x->v) == x->m.has_endpoint &&
	       same_decrease(&x->m.fabric, x->v.fabric.last_decrease_ns,
			     x->v.fabric.flags & QUELL_SWIFT_F_DECREASED) &&
	       (!x->m.has_endpoint ||
		same_decrease(&x->m.endpoint, x->v.host_decrease_ns,
			      x->v.fabric.flags & QUELL_SWIFT_SPLIT_F_DECREASED));
}

/*
 * An ACK reports the target for the window @before it and the round trip known at that ACK,
 * other events the target for those after.
 */
static bool same_target(const struct pair *x, enum event event, u32 hops,
			const struct pair *before, double window_error,
			struct model_error *seen)
{
	struct swift_model m = event == EVENT_ACK ? before->m : x->m;
	double error = event == EVENT_ACK ? 0 : window_error;
	double target_ns;

	m.base_rtt_ns = x->m.base_rtt_ns;
	target_ns = swift_model_target_ns(&m, &x->mp, hops);
	return model_error_note(seen, fabs(x->out.target_ns - target_ns), target_ns,
				target_bound(&m, &x->mp, error / m.mss_bytes));
}

static bool same_pacing(const struct pair *x, double window_error,
			struct model_error *seen)
{
	double rate = swift_model_pacing_bytes_per_ns(&x->m) * 1e9;
	double window = swift_model_cwnd(&x->m) * x->m.mss_bytes;

	if (fabs(window - x->m.mss_bytes) <= window_error)
		return true;
	if (isinf(rate))
		return x->out.pacing_bytes_ps == QUELL_RATE_UNLIMITED;
	return model_error_note(seen, fabs(x->out.pacing_bytes_ps - rate), rate,
				1.001 + rate * window_error / window);
}

/* ceil() may round either way if a double cannot decide; without a signal there is no ceil(). */
static bool start_window_is_ambiguous(const struct pair *x)
{
	double packets = x->m.base_rtt_ns * x->m.link_bytes_per_ns /
			 (x->m.mss_bytes + QUELL_OVERHEAD_BYTES);

	return packets > 0 && fabs(packets - round(packets)) <= packets * 0x1p-40;
}

/* The rounding of ceil() must not decide whether a decrease is skipped at random, either. */
static bool chance_is_ambiguous(const struct pair *x)
{
	return x->mp.probabilistic && x->v.fabric.link_bytes_ps && start_window_is_ambiguous(x);
}

struct single_result {
	struct model_steps n;
	unsigned int disregarded;
	bool windows, memories, decisions;
	struct model_error window, host, target, pacing;
};

/* The remote host's delay: around its target, all of the delay, or not reported. */
static u64 random_host_ns(struct random_state *r, const struct pair *x, u64 rtt_ns)
{
	u64 host_ns = random_magnitude(r, 0, 4 * x->p.host_target_ns + 1);

	if (random_between(r, 0, 1))
		return 0;
	return random_between(r, 0, 3) ? host_ns : rtt_ns;
}

/* Random windows, at times without one for the host. */
static void random_windows(struct random_state *r, struct pair *x)
{
	x->v.fabric.window_q16 = random_magnitude(r, 1, x->p.max_window_bytes << 16);
	x->v.host_window_q16 = random_magnitude(r, 1, x->p.max_window_bytes << 16);
	x->v.host_decrease_ns = x->v.fabric.last_decrease_ns;
	if (!random_between(r, 0, 7))
		x->v.fabric.flags &= ~QUELL_SWIFT_SPLIT_F_HOST;
}

/* The delay that was compared with the target. */
static double fabric_delay_ns(const struct pair *x, const struct quell_sample *s)
{
	if (!x->m.has_endpoint)
		return s->rtt_ns;
	return s->rtt_ns - fmin(s->rtt_ns, s->remote_ns);
}

/* Check the host's window, and that the decision is the smaller one of the two. */
static bool same_host(const struct pair *x, const struct pair *before, double acked_bytes,
		      struct model_error *seen)
{
	u64 least_q16 = x->v.fabric.window_q16;

	if (!x->m.has_endpoint)
		return x->out.window_q16 == least_q16;
	if (x->v.host_window_q16 < least_q16)
		least_q16 = x->v.host_window_q16;
	return x->out.window_q16 == least_q16 &&
	       model_error_note(seen, fabs(host_window_bytes(x) - model_host_window_bytes(x)),
				model_host_window_bytes(x),
				host_step_bound(before, acked_bytes));
}

static void single_step(struct random_state *r, struct pair *x,
			struct single_result *result)
{
	enum event event = random_event(r);
	struct quell_sample s = {
		.mss_bytes = x->v.fabric.mss_bytes, .idle_ns = random_magnitude(r, 0, 1ULL << 43),
	};
	double bound, delay_ns, error, target_ns;
	struct pair before;

	random_windows(r, x);
	s.now_ns = x->v.fabric.last_decrease_ns + random_magnitude(r, 0, 4 * x->v.fabric.rtt_ns + 1);
	s.hops = random_between(r, 0, 8);
	s.acked_bytes = random_magnitude(r, 0, 16 * (u64)x->v.fabric.mss_bytes);
	s.flags = random_between(r, 0, 9) ? 0 : QUELL_S_APP_LIMITED;
	model_follow(&x->m, &x->v);
	if (event == EVENT_ACK) {
		s.rtt_ns = random_delay_ns(r, x, s.hops);
		s.remote_ns = random_host_ns(r, x, s.rtt_ns);
		if (s.rtt_ns && random_between(r, 0, 7))
			s.rtt_ns += s.remote_ns;
	}
	target_ns = swift_model_target_ns(&x->m, &x->mp, s.hops);
	before = *x;
	apply(x, event, &s);
	result->n.events[event]++;
	delay_ns = fabric_delay_ns(x, &s);
	if ((delay_ns && fabs(delay_ns - target_ns) <= target_bound(&before.m, &x->mp, 0)) ||
	    (event == EVENT_IDLE && start_window_is_ambiguous(&before)) ||
	    chance_is_ambiguous(x)) {
		result->n.ambiguous++;
		return;
	}
	bound = step_bound(&before, s.acked_bytes, delay_ns);
	error = fabs(window_bytes(x) - model_window_bytes(x));
	result->n.compared++;
	result->disregarded += x->st.swift.disregarded != before.st.swift.disregarded;
	result->windows &= model_error_note(&result->window, error, model_window_bytes(x),
					    bound);
	result->memories = result->memories && same_memory(x);
	result->windows &= same_host(x, &before, s.acked_bytes, &result->host);
	result->decisions &= same_pacing(x, fmax(bound, host_step_bound(&before, s.acked_bytes)),
					 &result->pacing);
	result->decisions &= same_target(x, event, s.hops, &before, bound, &result->target);
}

static void test_single_steps(struct __test_metadata *_metadata, const char *run)
{
	bool any = !strcmp(run, "any");
	struct single_result result = {
		.windows = true, .memories = true, .decisions = true,
		.window.limit = any ? 0 : STANDARD_RELATIVE,
	};
	struct random_state r = { 3 };
	struct pair x;
	int i;

	for (i = 0; i < STEPS; i++) {
		if (i % EPISODE == 0)
			start_pair(&r, any, &x);
		single_step(&r, &x, &result);
	}
	expect(result.windows, "%s_step_windows_within_bound", run);
	expect(result.memories, "%s_step_state_equal", run);
	expect(result.decisions, "%s_step_decisions_within_bound", run);
	expect(result.n.compared >= STEPS / 6 * 5 && result.n.ambiguous < STEPS / 20 &&
		       (any ? result.disregarded > STEPS / 500 : !result.disregarded),
	       "%s_steps_were_comparable", run);
	model_steps_print(&result.n);
	model_error_print(&result.window, "swift", run, "window");
	model_error_print(&result.host, "swift", run, "host-window");
	model_error_print(&result.target, "swift", run, "target");
	model_error_print(&result.pacing, "swift", run, "pacing");
}

/* The core, the model, and the two models that bound them. */
struct long_run {
	struct pair x;
	struct swift_model low, high;
	struct swift_model_params low_params, high_params;
};

/*
 * The delay that @flows flows with this window cause at a shared bottleneck,
 * with some noise, adjusted so that all agree which side of the target it is on.
 */
static u64 shared_delay_ns(struct random_state *r, const struct long_run *l, u32 flows)
{
	double full_ns = flows * window_bytes(&l->x) / l->x.m.link_bytes_per_ns;
	u64 delay_ns = fmax(full_ns, 4300) * (1 + random_between(r, 0, 100) / 1000.0);
	double one_ns = swift_model_target_ns(&l->low, &l->low_params, 1);
	double other_ns = swift_model_target_ns(&l->high, &l->high_params, 1);

	/* The lower window has the higher target, the lower base the lower one. */
	if (delay_ns > fmin(one_ns, other_ns) - 2 && delay_ns < fmax(one_ns, other_ns) + 2)
		delay_ns = fmax(one_ns, other_ns) + 3;
	return delay_ns;
}

struct long_result {
	bool enclosed;
	struct model_error window;
	double worst_between;
	u64 decreases;
};

static void long_compare(const struct long_run *l, int step, struct long_result *result)
{
	double window = window_bytes(&l->x) / l->x.m.mss_bytes;
	double lost = LONG_LOST_BYTES * (step + 1) / l->x.m.mss_bytes;

	result->enclosed = result->enclosed && window >= l->low.fabric.cwnd - lost &&
			   window <= l->high.fabric.cwnd * (1 + 1e-12);
	result->enclosed &= model_error_note(&result->window, fabs(window - l->x.m.fabric.cwnd),
					     l->x.m.fabric.cwnd, LONG_BETWEEN * l->x.m.fabric.cwnd);
	result->worst_between = fmax(result->worst_between,
				     l->high.fabric.cwnd / l->low.fabric.cwnd - 1);
}

static void long_start(struct long_run *l, u64 ai_bytes_ps)
{
	struct pair *x = &l->x;

	memset(l, 0, sizeof(*l));
	quell_core_params_default(&quell_swift_core, &x->p);
	x->p.base_target_ns = 5000;
	x->p.ai_bytes_ps = ai_bytes_ps;
	model_params(&x->mp, &x->p);
	l->low_params = x->mp;
	l->low_params.base_target_ns -= LONG_BELOW_NS;
	l->high_params = x->mp;
	l->high_params.base_target_ns += LONG_ABOVE_NS;
	quell_swift_split_init(&x->v, &x->p, &(struct quell_sample) {
			.min_rtt_ns = 4300, .link_bytes_ps = 12500000000, .mss_bytes = 1448,
		}, &x->out);
	model_follow(&x->m, &x->v);
	l->low = x->m;
	l->high = x->m;
}

static void long_episode(struct random_state *r, u32 flows, struct long_result *result)
{
	struct long_run l;
	int step;

	long_start(&l, flows & 1 ? 125000000 : 6250000);
	for (step = 0; step < LONG_STEPS; step++) {
		struct quell_sample s = { .mss_bytes = 1448, .hops = 1 };
		struct swift_model_event e = { .acked_bytes = 1448, .hops = 1 };

		s.acked_bytes = e.acked_bytes;
		s.rtt_ns = shared_delay_ns(r, &l, flows);
		s.now_ns = (u64)step * 123 * flows;
		e.delay_ns = s.rtt_ns;
		e.now_ns = s.now_ns;
		apply(&l.x, EVENT_ACK, &s);
		swift_model_ack(&l.low, &l.low_params, &e);
		swift_model_ack(&l.high, &l.high_params, &e);
		long_compare(&l, step, result);
	}
	result->decreases += l.x.st.swift.decreases;
}

TEST(long_run_cases)
{
	struct long_result result = { .enclosed = true, .window.limit = LONG_BETWEEN };
	struct random_state r = { 4 };
	u32 flows;

	for (flows = 1; flows <= LONG_EPISODES; flows++)
		long_episode(&r, flows, &result);
	expect(result.enclosed, "long_run_within_rounding");
	expect(result.worst_between <= LONG_BETWEEN, "long_run_bounds_are_close");
	expect(result.decreases > 100 * LONG_EPISODES, "long_run_saw_congestion");
	printf("# %llu decreases, the enclosing models %.2e apart\n", result.decreases,
	       result.worst_between);
	model_error_print(&result.window, "swift", "long", "window");
}

MODEL_STEPS_TESTS

TEST_HARNESS_MAIN

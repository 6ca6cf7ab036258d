// SPDX-License-Identifier: GPL-2.0
/*
 * Drives the DCQCN core with any parameters in their ranges, any state a flow
 * can reach and any samples, and stops where a promise is broken:
 *
 *	rate and target stay between the smallest rate and the link's
 *	the window stays within its limits, and equals Reno's after a loss
 *	a flow without ECN feedback is not paced and has Reno's window
 *	a notification at most halves the rate, at most once per interval
 *	without a notification the rate does not fall
 *	loss and timeouts never raise the window, nor does a restart after loss
 *	alpha stays within 0 and 1, and does not rise without a notification
 *	every call counts its event exactly once
 *
 * Input: parameters, then events.  Numbers are read as one byte of magnitude
 * and as many bytes of value as that needs; missing bytes are zero.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quell/core/dcqcn/core.h>

#include "events.h"

struct flow {
	struct quell_dcqcn_params p;
	struct quell_dcqcn_vars v;
	struct quell_dcqcn_stats st;
	struct quell_decision out;
	struct quell_dcqcn_vars before;
	struct quell_dcqcn_stats counted;
};

static void require(bool holds, const char *promise, const struct flow *f)
{
	if (holds)
		return;
	fprintf(stderr, "broken: %s\n", promise);
	fprintf(stderr, "rate %llu -> %llu, target %llu -> %llu Q16\n", f->before.rate_q16,
		f->v.rate_q16, f->before.target_q16, f->v.target_q16);
	fprintf(stderr, "window %llu Q16, flags %u -> %u, alpha %u -> %u\n",
		f->out.window_q16, f->before.flags, f->v.flags, f->before.alpha_q30,
		f->v.alpha_q30);
	abort();
}

static void take_params(struct input *in, struct quell_dcqcn_params *p)
{
	take_some(in, p, &quell_dcqcn_core);
}

static u64 most_rate_q16(const struct quell_sample *s)
{
	u64 most = 1ULL << 37;

	return (s->link_bytes_ps && s->link_bytes_ps < most ? s->link_bytes_ps : most) << 16;
}

static u64 least_rate_q16(const struct flow *f, const struct quell_sample *s)
{
	u64 least_q16 = f->p.min_rate_bytes_ps << 16;

	return least_q16 < most_rate_q16(s) ? least_q16 : most_rate_q16(s);
}

static u64 between(u64 value, u64 low, u64 high)
{
	value = value < high ? value : high;
	return value > low ? value : low;
}

static void check_decision(const struct flow *f, const struct quell_sample *s)
{
	u64 mss_q16 = (u64)f->v.mss_bytes << 16;

	require(f->v.mss_bytes > 0, "segment size is positive", f);
	require(f->v.alpha_q30 <= QUELL_DCQCN_ALPHA_ONE, "alpha is at most 1", f);
	require(f->out.window_q16 >= mss_q16, "one segment at least", f);
	require(f->out.window_q16 <= f->p.max_window_bytes << 16 ||
		f->out.window_q16 == mss_q16, "largest window", f);
	require(f->v.rate_q16 <= most_rate_q16(s) && f->v.target_q16 <= most_rate_q16(s),
		"no more than the link", f);
	require(f->v.rate_q16 >= least_rate_q16(f, s), "smallest rate", f);
	require(!f->out.change_path && !f->out.target_ns, "path is left alone", f);
	if (!(f->v.flags & QUELL_DCQCN_F_ECN)) {
		require(f->out.window_q16 == f->v.reno_q16 &&
			f->out.pacing_bytes_ps == QUELL_RATE_UNLIMITED, "Reno alone", f);
		return;
	}
	require(f->out.pacing_bytes_ps == (f->v.rate_q16 >> 16 ? f->v.rate_q16 >> 16 : 1),
		"paced by the rate", f);
	if (f->v.flags & QUELL_DCQCN_F_LOSS)
		require(f->out.window_q16 == f->v.reno_q16, "Reno's after a loss", f);
}

static void check_rate(const struct flow *f, const struct quell_sample *s)
{
	u64 notifications = f->st.notifications - f->counted.notifications;
	u64 steps = f->st.fast_recoveries + f->st.additive_increases + f->st.hyper_increases -
		    f->counted.fast_recoveries - f->counted.additive_increases -
		    f->counted.hyper_increases;
	u64 before_q16 = between(f->before.rate_q16, least_rate_q16(f, s), most_rate_q16(s));

	require(steps <= 2 * QUELL_DCQCN_MOST_STEPS, "bounded number of steps", f);
	if (!notifications && f->before.target_q16 >= f->before.rate_q16)
		require(f->v.rate_q16 >= before_q16, "without notification no decrease", f);
	if (!steps && f->before.rate_q16 <= most_rate_q16(s))
		require(f->v.rate_q16 + 1 >= before_q16 / 2, "half at most", f);
	if (!steps)
		require(f->v.rate_q16 <= before_q16, "no step, no increase", f);
	if (!notifications)
		require(f->v.alpha_q30 <= f->before.alpha_q30, "alpha decays", f);
}

static void do_ack(struct flow *f, const struct quell_sample *s)
{
	u64 since_ns = s->now_ns > f->before.since_ns ? s->now_ns - f->before.since_ns : 0;
	u64 counted = f->st.notifications + f->st.held;

	quell_dcqcn_on_ack(&f->v, &f->p, &f->st, s, &f->out);
	require(f->st.notifications + f->st.held == counted + !!s->marked_bytes,
		"marks count once", f);
	if (f->st.notifications != f->counted.notifications)
		require(!(f->before.flags & QUELL_DCQCN_F_NOTIFIED) ||
			since_ns >= f->p.notify_interval_ns, "once per interval", f);
	require(f->v.counted_bytes < f->p.byte_counter_bytes, "byte counter expires", f);
	check_rate(f, s);
}

/* The window before the event, within the limits now in force. */
static u64 window_before_q16(const struct flow *f, const struct quell_sample *s)
{
	struct quell_dcqcn_vars v = f->before;
	struct quell_decision out;

	quell_dcqcn_observe(&v, s);
	quell_dcqcn_decide(&v, &f->p, s->link_bytes_ps, &out);
	return out.window_q16;
}

static void do_loss(struct flow *f, const struct quell_sample *s)
{
	u64 window_q16 = window_before_q16(f, s);
	u64 mss_q16;

	quell_dcqcn_on_loss(&f->v, &f->p, &f->st, s, &f->out);
	mss_q16 = (u64)f->v.mss_bytes << 16;
	require(f->out.window_q16 <= window_q16, "loss never raises", f);
	require(f->out.window_q16 <= window_q16 / 2 || f->out.window_q16 <= 2 * mss_q16,
		"half of the window", f);
	require(f->st.losses == f->counted.losses + 1, "a loss counts", f);
}

static void do_rto(struct flow *f, const struct quell_sample *s)
{
	quell_dcqcn_on_rto(&f->v, &f->p, &f->st, s, &f->out);
	require(f->out.window_q16 == (u64)f->v.mss_bytes << 16, "one segment", f);
	require(f->st.rtos == f->counted.rtos + 1, "a timeout counts", f);
}

static void do_idle(struct flow *f, const struct quell_sample *s)
{
	u64 window_q16 = window_before_q16(f, s);

	quell_dcqcn_on_idle_restart(&f->v, &f->p, &f->st, s, &f->out);
	if (!f->p.restart_idle_ns || s->idle_ns < f->p.restart_idle_ns)
		require(f->out.window_q16 == window_q16, "too early to restart", f);
	if (!(f->v.flags & QUELL_DCQCN_F_ECN))
		require(f->out.window_q16 <= window_q16, "restart without marks", f);
	if (f->v.flags & QUELL_DCQCN_F_LOSS)
		require(f->v.reno_q16 <= f->before.reno_q16 ||
			f->v.reno_q16 == (u64)f->v.mss_bytes << 16, "restart after loss", f);
}

static void one_event(struct input *in, struct flow *f)
{
	enum event event = take_byte(in) % EVENTS;
	struct quell_sample s;

	if (event == EVENT_PARAMS) {
		take_params(in, &f->p);
		/* Takes effect with the next event. */
		return;
	}
	take_sample(in, &s);
	f->before = f->v;
	f->counted = f->st;
	if (event == EVENT_ACK) {
		do_ack(f, &s);
	} else if (event == EVENT_LOSS) {
		do_loss(f, &s);
	} else if (event == EVENT_RTO) {
		do_rto(f, &s);
	} else {
		s.idle_ns = take(in, 64);
		do_idle(f, &s);
	}
	check_decision(f, &s);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = { data, size };
	struct flow f = { 0 };
	struct quell_sample s;
	u8 ecn;
	int events;

	quell_core_params_default(&quell_dcqcn_core, &f.p);
	take_params(&in, &f.p);
	ecn = take_byte(&in);
	take_sample(&in, &s);
	s.flags = ecn & 7 ? QUELL_S_ECN : 0;
	quell_dcqcn_init(&f.v, &f.p, &s, &f.out);
	f.before = f.v;
	check_decision(&f, &s);
	for (events = 0; in.size && events < MOST_EVENTS; events++)
		one_event(&in, &f);
	return 0;
}

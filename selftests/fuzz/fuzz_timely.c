// SPDX-License-Identifier: GPL-2.0
/*
 * Drives the TIMELY core with any parameters in their ranges, any state a flow
 * can reach and any samples, and stops where a promise is broken:
 *
 *	rate and window stay within their limits, the decision repeats the state
 *	an increase is no more than the steps allowed, and needs demand
 *	above t_high, and with a rising gradient, the rate does not grow
 *	two completions at one time count as one
 *	loss takes at least half of rate and window, a timeout all
 *	without an ACK only a restart raises the rate
 *	every completion counts in one zone
 *
 * Input: parameters, then events.  Numbers are read as one byte of magnitude
 * and as many bytes of value as that needs; missing bytes are zero.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quell/core/timely/core.h>

#include "events.h"

struct flow {
	struct quell_timely_params p;
	struct quell_timely_vars v;
	struct quell_timely_stats st;
	struct quell_decision out;
	struct quell_timely_vars before;
	struct quell_timely_stats counted;
};

static void require(bool holds, const char *promise, const struct flow *f)
{
	if (holds)
		return;
	fprintf(stderr, "broken: %s\n", promise);
	fprintf(stderr, "rate %llu -> %llu Q16, window %llu -> %llu Q16, flags %u -> %u\n",
		f->before.rate_q16, f->v.rate_q16, f->before.window_q16,
		f->v.window_q16, f->before.flags, f->v.flags);
	abort();
}

static void take_params(struct input *in, struct quell_timely_params *p)
{
	take_some(in, p, &quell_timely_core);
}

static u64 smaller(u64 a, u64 b)
{
	return a < b ? a : b;
}

static u64 larger(u64 a, u64 b)
{
	return a > b ? a : b;
}

/* Largest rate in bytes/s, as the parameters define it. */
static u64 most_rate(const struct flow *f, u64 link_bytes_ps)
{
	u64 most = f->p.max_rate_bytes_ps ? f->p.max_rate_bytes_ps : 1ULL << 40;

	if (link_bytes_ps)
		most = smaller(most, link_bytes_ps);
	return most;
}

/* The rate before the event, within the limits now in force. */
static u64 rate_before_q16(const struct flow *f, u64 link_bytes_ps)
{
	return smaller(larger(f->before.rate_q16, f->p.min_rate_bytes_ps << 16),
		       most_rate(f, link_bytes_ps) << 16);
}

static void check_decision(const struct flow *f, u64 link_bytes_ps)
{
	u64 rate = f->v.rate_q16 >> 16;
	u64 most = most_rate(f, link_bytes_ps);

	require(f->v.mss_bytes > 0, "segment size is positive", f);
	require(f->out.window_q16 == f->v.window_q16, "decision is the state", f);
	require(f->v.window_q16 >= (u64)f->v.mss_bytes << 16, "one packet at least", f);
	require(f->v.window_q16 <= larger(QUELL_TIMELY_MAX_OUTSTANDING_BYTES_MAX,
					  f->v.mss_bytes) << 16, "largest window", f);
	if (f->p.max_outstanding_bytes)
		require(f->v.window_q16 <= larger(f->p.max_outstanding_bytes,
						  f->v.mss_bytes) << 16,
			"bound on outstanding data", f);
	require(rate <= most, "rate of the link", f);
	require(rate >= smaller(f->p.min_rate_bytes_ps, most), "smallest rate", f);
	require(f->out.pacing_bytes_ps == (f->v.flags & QUELL_TIMELY_F_SIGNAL ?
					   larger(rate, 1) : QUELL_RATE_UNLIMITED),
		"paced by the rate, with a signal", f);
	require(!f->out.change_path, "path is left alone", f);
	require(quell_timely_segment_pkts(&f->p, f->v.mss_bytes) >= 1, "a segment to send", f);
}

static u64 zones(const struct quell_timely_stats *st)
{
	return st->below_low + st->above_high + st->gradient_up + st->gradient_down;
}

static void check_completion(const struct flow *f, const struct quell_sample *s)
{
	u64 before_q16 = rate_before_q16(f, s->link_bytes_ps);
	u64 step_q16 = f->p.delta_bytes_ps << 16;
	bool up = f->v.rate_q16 > before_q16;
	u64 rtt_ns = smaller(s->rtt_ns, 0xffffffff);

	require(f->v.last_ns == s->now_ns && f->v.prev_rtt_ns == rtt_ns, "remembered", f);
	if (rtt_ns > f->p.t_high_ns && rtt_ns >= f->p.t_low_ns)
		require(!up, "no growth above t_high", f);
	if (f->st.gradient_up > f->counted.gradient_up && !f->p.patched_bool)
		require(!up, "no growth with a rising gradient", f);
	if (up)
		require(5ULL * f->v.sent_bytes > 4ULL * f->v.allowed_bytes, "demand", f);
	if (up && !f->p.patched_bool) {
		if (f->st.hai > f->counted.hai)
			step_q16 *= f->p.hai_nr;
		require(f->v.rate_q16 - before_q16 <= step_q16, "one step at most", f);
	}
	if (f->before.flags & QUELL_TIMELY_F_PREV && s->now_ns <= f->before.last_ns)
		require(f->v.rate_q16 == before_q16, "completions of one time", f);
}

static void do_ack(struct flow *f, const struct quell_sample *s)
{
	bool completes = s->rtt_ns && (s->flags & QUELL_S_SEGMENT_DONE ||
				       (u64)f->v.since_bytes + s->acked_bytes >=
				       f->p.segment_bytes);

	quell_timely_on_ack(&f->v, &f->p, &f->st, s, &f->out);
	require(f->st.no_rtt == f->counted.no_rtt + !s->rtt_ns, "ACKs without a time", f);
	require(zones(&f->st) == zones(&f->counted) + completes, "one zone", f);
	if (completes)
		check_completion(f, s);
	else
		require(f->v.rate_q16 == rate_before_q16(f, s->link_bytes_ps),
			"no completion, no change", f);
}

static void do_loss(struct flow *f, const struct quell_sample *s)
{
	u64 least_q16 = smaller(f->p.min_rate_bytes_ps, most_rate(f, s->link_bytes_ps)) << 16;

	quell_timely_on_loss(&f->v, &f->p, &f->st, s, &f->out);
	require(f->v.rate_q16 <= larger(f->before.rate_q16 / 2, least_q16), "half the rate", f);
	require(f->v.window_q16 <= larger(f->before.window_q16 / 2,
					  (u64)f->v.mss_bytes << 16) ||
		!(f->v.flags & QUELL_TIMELY_F_LOSS), "half the window", f);
}

static void do_rto(struct flow *f, const struct quell_sample *s)
{
	u64 least_q16 = smaller(f->p.min_rate_bytes_ps, most_rate(f, s->link_bytes_ps)) << 16;

	quell_timely_on_rto(&f->v, &f->p, &f->st, s, &f->out);
	require(f->v.rate_q16 == least_q16, "a timeout takes all", f);
	require(f->v.window_q16 == (u64)f->v.mss_bytes << 16, "one packet", f);
}

static void do_idle(struct flow *f, const struct quell_sample *s)
{
	quell_timely_on_idle_restart(&f->v, &f->p, &f->st, s, &f->out);
	if (!f->p.restart_idle_ns || s->idle_ns < f->p.restart_idle_ns ||
	    f->before.flags & QUELL_TIMELY_F_LOSS)
		require(f->v.rate_q16 == rate_before_q16(f, s->link_bytes_ps),
			"no restart, no change", f);
}

static void one_event(struct input *in, struct flow *f)
{
	enum event event = take_byte(in) % EVENTS;
	struct quell_sample s;

	if (event == EVENT_PARAMS) {
		take_params(in, &f->p);
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
		s.other_flows = take(in, 32);
		s.idle_ns = take(in, 64);
		do_idle(f, &s);
	}
	check_decision(f, s.link_bytes_ps);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = { data, size };
	struct flow f = { 0 };
	struct quell_sample s = { 0 };
	int events;

	quell_core_params_default(&quell_timely_core, &f.p);
	take_params(&in, &f.p);
	s.link_bytes_ps = take(&in, 64);
	s.min_rtt_ns = take(&in, 64);
	s.mss_bytes = take(&in, 16);
	s.other_flows = take(&in, 32);
	s.now_ns = take(&in, 64);
	quell_timely_init(&f.v, &f.p, &s, &f.out);
	f.before = f.v;
	check_decision(&f, s.link_bytes_ps);
	for (events = 0; in.size && events < MOST_EVENTS; events++)
		one_event(&in, &f);
	return 0;
}

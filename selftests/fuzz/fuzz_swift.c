// SPDX-License-Identifier: GPL-2.0
/*
 * Drives the Swift core with any parameters in their ranges, any state a flow
 * can reach and any samples, and stops where a promise is broken:
 *
 *	flow scaling falls from its full range at fs_min to zero at fs_max
 *	the window stays within its limits, the decision repeats the state
 *	a window of a segment or more is not paced, a smaller one is, by window over delay
 *	too much delay, and fast retransmit, shrink the window at most once per round trip,
 *	and by no more than max_mdf
 *	an ACK adds at most ai * base delay, without a delay one segment, per window
 *	a restart never raises the window after loss or without a signal
 *	every call counts its event exactly once
 *
 * Input: parameters, then events.  Numbers are read as one byte of magnitude
 * and as many bytes of value as that needs; missing bytes are zero.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quell/core/swift/core.h>

#include "events.h"

struct flow {
	struct quell_swift_params p;
	struct quell_swift_vars v;
	struct quell_swift_stats st;
	struct quell_decision out;
	struct quell_swift_vars before;
	struct quell_swift_stats counted;
};

static void require(bool holds, const char *promise, const struct flow *f)
{
	if (holds)
		return;
	fprintf(stderr, "broken: %s\n", promise);
	fprintf(stderr, "window %llu -> %llu Q16, flags %u -> %u\n",
		f->before.window_q16, f->v.window_q16, f->before.flags, f->v.flags);
	fprintf(stderr, "mss %u, rtt %llu, min rtt %llu\n",
		f->v.mss_bytes, f->v.rtt_ns, f->v.min_rtt_ns);
	abort();
}

static void take_params(struct input *in, struct quell_swift_params *p)
{
	take_some(in, p, &quell_swift_core);
	quell_swift_params_derive(p);
}

static u64 smallest_window_q16(const struct flow *f)
{
	u64 mss_bytes = f->v.mss_bytes;

	return f->v.min_rtt_ns ? f->p.min_window_pkts_q16 * mss_bytes : mss_bytes << 16;
}

/* The window before the event, within the limits now in force. */
static u64 window_before_q16(const struct flow *f)
{
	u64 window_q16 = f->before.window_q16;
	u64 most_q16 = f->p.max_window_bytes << 16;

	if (window_q16 > most_q16)
		window_q16 = most_q16;
	return window_q16 < smallest_window_q16(f) ? smallest_window_q16(f) : window_q16;
}

/* Flow scaling must fall from its full range to zero as the window grows. */
static void check_scaling(const struct flow *f)
{
	u64 range_ns = f->p.fs_range_ns;
	u64 window_pkts_q16 = f->v.window_q16 / f->v.mss_bytes;
	u64 here_ns = quell_swift_flow_scale_ns(&f->p, window_pkts_q16);
	u64 all_ns = quell_swift_flow_scale_ns(&f->p, f->p.fs_min_pkts_q16);

	require(all_ns + 1 + (range_ns >> 20) >= range_ns, "all at fs_min", f);
	require(!quell_swift_flow_scale_ns(&f->p, f->p.fs_max_pkts_q16), "none at fs_max", f);
	require(here_ns <= all_ns, "most at fs_min", f);
		/* Rounding of 1/sqrt may add this much to the value at the larger window. */
	require(quell_swift_flow_scale_ns(&f->p, window_pkts_q16 * 2) <=
		here_ns + (range_ns >> 20), "less at twice the window", f);
}

/* The configured target, or the minimum RTT plus a quarter of it, at least 25 us more. */
static u64 path_ns(const struct quell_swift_params *p, u64 min_rtt_ns, u8 hops)
{
	u64 room_ns = min_rtt_ns / 4 > 25000 ? min_rtt_ns / 4 : 25000;

	if (p->base_target_ns)
		return p->base_target_ns + hops * p->hop_scale_ns;
	return min_rtt_ns + room_ns < min_rtt_ns ? ~0ULL : min_rtt_ns + room_ns;
}

static void check_decision(const struct flow *f, u8 hops)
{
	u64 least_ns = path_ns(&f->p, f->v.min_rtt_ns, hops);
	unsigned __int128 exact;

	require(f->out.window_q16 == f->v.window_q16, "decision is the state", f);
	require(f->v.window_q16 >= smallest_window_q16(f), "smallest window", f);
	require(f->v.window_q16 <= f->p.max_window_bytes << 16, "largest window", f);
	require(f->v.mss_bytes > 0, "segment size is positive", f);
	require(f->out.target_ns >= least_ns &&
		f->out.target_ns - least_ns <= f->p.fs_range_ns, "target in range", f);
	require(!f->out.change_path, "path is left alone", f);
	check_scaling(f);
	if (f->v.window_q16 >= (u64)f->v.mss_bytes << 16) {
		require(f->out.pacing_bytes_ps == QUELL_RATE_UNLIMITED, "ACK clocked", f);
		return;
	}
	require(f->v.rtt_ns != 0, "a round trip to pace by", f);
	exact = (unsigned __int128)f->v.window_q16 * 1000000000 / f->v.rtt_ns >> 16;
	require(f->out.pacing_bytes_ps == (exact ? exact : 1), "window over delay", f);
}

/* Check a decrease that delay or fast retransmit caused. */
static void check_decrease(const struct flow *f, u64 now_ns, bool loss)
{
	u64 before_q16 = window_before_q16(f);
	u64 cut_q16 = f->p.max_mdf_q16;
	u64 since_ns = now_ns > f->before.last_decrease_ns ?
		       now_ns - f->before.last_decrease_ns : 0;

	if (f->v.window_q16 >= before_q16)
		return;
	require(!(f->before.flags & QUELL_SWIFT_F_DECREASED) || since_ns >= f->v.rtt_ns ||
		(loss && f->before.flags & QUELL_SWIFT_F_DISREGARDED),
		"one decrease per round trip", f);
	require(f->v.last_decrease_ns == now_ns &&
		f->v.flags & QUELL_SWIFT_F_DECREASED, "a decrease is remembered", f);
	if (!f->v.min_rtt_ns && cut_q16 < 32768)
		cut_q16 = 32768;
	require((unsigned __int128)f->v.window_q16 * 65536 >=
		(unsigned __int128)f->before.window_q16 * (65536 - cut_q16) ||
		f->before.window_q16 > f->p.max_window_bytes << 16,
		"a decrease takes max_mdf at most", f);
}

static void check_increase(const struct flow *f, const struct quell_sample *s)
{
	u64 before_q16 = window_before_q16(f);
	u64 mss_q16 = (u64)f->v.mss_bytes << 16;
	u64 divisor_q16 = f->before.window_q16 > mss_q16 ? f->before.window_q16 : mss_q16;
	unsigned __int128 step_q16 = mss_q16;

	if (f->v.window_q16 <= before_q16)
		return;
	if (s->rtt_ns) {
		step_q16 = (unsigned __int128)f->p.ai_bytes_ps * f->v.min_rtt_ns;
		step_q16 = step_q16 > (unsigned __int128)1 << 80 ? ~0ULL :
			   step_q16 * 65536 / 1000000000;
	}
	require(!(s->flags & QUELL_S_APP_LIMITED), "no growth without demand", f);
	require(s->rtt_ns < f->out.target_ns, "no growth above the target", f);
	require((unsigned __int128)(f->v.window_q16 - before_q16) * divisor_q16 <=
		(step_q16 + 1) * ((unsigned __int128)s->acked_bytes << 16),
		"growth per window", f);
}

static void do_ack(struct flow *f, const struct quell_sample *s)
{
	u64 counted, counted_before;

	quell_swift_on_ack(&f->v, &f->p, &f->st, s, &f->out);
	counted = f->st.increases + f->st.decreases + f->st.held + f->st.app_limited +
		  f->st.disregarded;
	counted_before = f->counted.increases + f->counted.decreases +
			 f->counted.held + f->counted.app_limited + f->counted.disregarded;
	require(counted == counted_before + 1, "an ACK counts once", f);
	require(f->st.no_rtt == f->counted.no_rtt + !s->rtt_ns, "ACKs without delay", f);
	require(!f->v.rtos, "an ACK ends the row of timeouts", f);
	check_increase(f, s);
	check_decrease(f, s->now_ns, false);
	if (f->st.disregarded != f->counted.disregarded)
		require(f->p.probabilistic && f->v.window_q16 == window_before_q16(f) &&
			f->v.last_decrease_ns == s->now_ns &&
			f->v.flags & QUELL_SWIFT_F_DISREGARDED,
			"chance leaves the window and ends the round trip", f);
}

static void do_loss(struct flow *f, const struct quell_sample *s)
{
	quell_swift_on_loss(&f->v, &f->p, &f->st, s, &f->out);
	require(f->v.window_q16 <= window_before_q16(f), "loss never raises", f);
	require(f->v.flags & QUELL_SWIFT_F_LOSS, "loss is remembered", f);
	if (!f->v.min_rtt_ns && f->before.window_q16 <= f->p.max_window_bytes << 16)
		require(f->v.window_q16 <= f->before.window_q16 / 2 + 1 ||
			f->v.window_q16 == smallest_window_q16(f),
			"without a signal loss takes half", f);
	require(!(f->v.flags & QUELL_SWIFT_F_DISREGARDED), "a loss is not left out", f);
	check_decrease(f, s->now_ns, true);
}

static void do_rto(struct flow *f, const struct quell_sample *s)
{
	quell_swift_on_rto(&f->v, &f->p, &f->st, s, &f->out);
	require(f->v.window_q16 <= window_before_q16(f), "a timeout never raises", f);
	require(f->st.rtos == f->counted.rtos + 1, "a timeout counts", f);
	if (f->v.rtos >= f->p.retx_reset_rtos)
		require(f->v.window_q16 == smallest_window_q16(f) ||
			f->v.window_q16 == 1, "timeouts in a row reset", f);
	else if (f->v.min_rtt_ns)
		check_decrease(f, s->now_ns, true);
}

static void do_idle(struct flow *f, const struct quell_sample *s)
{
	quell_swift_on_idle_restart(&f->v, &f->p, &f->st, s, &f->out);
	if (!f->p.restart_idle_ns || s->idle_ns < f->p.restart_idle_ns)
		require(f->v.window_q16 == window_before_q16(f), "too early to restart", f);
	if (f->v.flags & QUELL_SWIFT_F_LOSS || !f->v.min_rtt_ns)
		require(f->v.window_q16 <= window_before_q16(f), "restart after loss", f);
	require(f->v.flags == f->before.flags &&
		f->v.last_decrease_ns == f->before.last_decrease_ns,
		"restart forgets nothing", f);
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
		s.idle_ns = take(in, 64);
		do_idle(f, &s);
	}
	check_decision(f, s.hops);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = { data, size };
	struct flow f = { 0 };
	struct quell_sample s = { 0 };
	int events;

	quell_core_params_default(&quell_swift_core, &f.p);
	take_params(&in, &f.p);
	s.link_bytes_ps = take(&in, 64);
	s.min_rtt_ns = take(&in, 64);
	s.mss_bytes = take(&in, 16);
	s.now_ns = take(&in, 64);
	quell_swift_init(&f.v, &f.p, &s, &f.out);
	f.before = f.v;
	check_decision(&f, 0);
	for (events = 0; in.size && events < MOST_EVENTS; events++)
		one_event(&in, &f);
	return 0;
}

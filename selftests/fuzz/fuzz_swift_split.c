// SPDX-License-Identifier: GPL-2.0
/*
 * Drives Swift with the remote host's delay kept separate, with any parameters in
 * their ranges, any state a flow can reach and any samples, and stops where a
 * promise is broken:
 *
 *	while the receiver reports no delay, or host_target is 0, all is as Swift's
 *	the window decided on is the smaller of the two, paced below one segment
 *	each window stays within its limits, shrinks at most once per round trip
 *	by no more than max_mdf but for timeouts in a row, and grows only below its
 *	own target, with demand, and not when it is twice the other
 *	neither loss nor a restart after it raises a window
 *	a host delay below its target does not shrink the host's window
 *	every ACK counts once
 *
 * fuzz_swift checks the promises of Swift about one window.  Input: parameters,
 * then events, numbers as there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quell/core/swift/core.h>

#include "events.h"

struct flow {
	struct quell_swift_params p;
	struct quell_swift_split_vars v, before;
	struct quell_swift_split_stats st, counted;
	struct quell_decision out;
	/* Plain Swift, fed with the same events until the flow has a host window. */
	struct quell_swift_vars twin;
	struct quell_swift_stats twin_st;
	struct quell_decision twin_out;
	bool has_twin;
};

/* One of the two windows, before and after. */
struct side {
	const struct flow *f;
	u64 before_q16, after_q16;
	u64 before_ns, after_ns;
	bool before_decreased, after_decreased;
};

static void require(bool holds, const char *promise, const struct flow *f)
{
	if (holds)
		return;
	fprintf(stderr, "broken: %s\n", promise);
	fprintf(stderr, "fabric %llu -> %llu Q16, host %llu -> %llu Q16, flags %u -> %u\n",
		f->before.fabric.window_q16, f->v.fabric.window_q16,
		f->before.host_window_q16, f->v.host_window_q16,
		f->before.fabric.flags, f->v.fabric.flags);
	abort();
}

static void take_params(struct input *in, struct quell_swift_params *p)
{
	take_some(in, p, &quell_swift_core);
	quell_swift_params_derive(p);
}

static struct side fabric_side(const struct flow *f)
{
	return (struct side) {
		f, f->before.fabric.window_q16, f->v.fabric.window_q16,
		f->before.fabric.last_decrease_ns, f->v.fabric.last_decrease_ns,
		f->before.fabric.flags & QUELL_SWIFT_F_DECREASED,
		f->v.fabric.flags & QUELL_SWIFT_F_DECREASED,
	};
}

/* The host's window starts from the fabric's. */
static struct side host_side(const struct flow *f)
{
	bool had = quell_swift_split_has_host(&f->before);

	return (struct side) {
		f, had ? f->before.host_window_q16 : f->before.fabric.window_q16,
		f->v.host_window_q16, f->before.host_decrease_ns, f->v.host_decrease_ns,
		had && f->before.fabric.flags & QUELL_SWIFT_SPLIT_F_DECREASED,
		f->v.fabric.flags & QUELL_SWIFT_SPLIT_F_DECREASED,
	};
}

static u64 limited_q16(const struct flow *f, u64 window_q16)
{
	u64 mss_bytes = f->v.fabric.mss_bytes, most_q16 = f->p.max_window_bytes << 16;
	u64 least_q16 = f->v.fabric.min_rtt_ns ? f->p.min_window_pkts_q16 * mss_bytes :
						 mss_bytes << 16;

	if (window_q16 > most_q16)
		window_q16 = most_q16;
	return window_q16 < least_q16 ? least_q16 : window_q16;
}

static void check_side_decrease(const struct side *w, u64 now_ns)
{
	u64 since_ns = now_ns > w->before_ns ? now_ns - w->before_ns : 0;

	if (w->after_q16 >= limited_q16(w->f, w->before_q16))
		return;
	require(!w->before_decreased || since_ns >= w->f->v.fabric.rtt_ns,
		"one decrease per round trip", w->f);
	require(w->after_decreased && w->after_ns == now_ns, "a decrease is remembered", w->f);
	require((unsigned __int128)w->after_q16 * 65536 >=
		(unsigned __int128)w->before_q16 * (65536 - w->f->p.max_mdf_q16) ||
		w->before_q16 > w->f->p.max_window_bytes << 16 || !w->f->v.fabric.min_rtt_ns,
		"a decrease takes max_mdf at most", w->f);
}

static void check_side_ack(const struct side *w, const struct quell_sample *s,
			   u64 delay_ns, u64 target_ns, u64 other_q16)
{
	check_side_decrease(w, s->now_ns);
	if (w->after_q16 < limited_q16(w->f, w->before_q16))
		require(delay_ns >= target_ns, "no decrease below the target", w->f);
	if (w->after_q16 <= limited_q16(w->f, w->before_q16))
		return;
	require(delay_ns < target_ns, "no growth above the target", w->f);
	require(!(s->flags & QUELL_S_APP_LIMITED), "no growth without demand", w->f);
	require(w->before_q16 / 2 < other_q16 || w->before_q16 < 2 * other_q16,
		"no growth when twice the other", w->f);
}

static void check_decision(const struct flow *f)
{
	u64 least_q16 = f->v.fabric.window_q16;

	require(least_q16 == limited_q16(f, least_q16), "the fabric's limits", f);
	if (quell_swift_split_has_host(&f->v)) {
		require(f->v.host_window_q16 == limited_q16(f, f->v.host_window_q16),
			"the host's limits", f);
		if (f->v.host_window_q16 < least_q16)
			least_q16 = f->v.host_window_q16;
	}
	require(f->out.window_q16 == least_q16, "the smaller window", f);
	require((f->out.pacing_bytes_ps == QUELL_RATE_UNLIMITED) ==
		(least_q16 >= (u64)f->v.fabric.mss_bytes << 16), "paced below a segment", f);
	require(!f->out.change_path, "path is left alone", f);
	if (!f->has_twin)
		return;
	require(!memcmp(&f->v.fabric, &f->twin, sizeof(f->twin)) &&
		!memcmp(&f->out, &f->twin_out, sizeof(f->out)) &&
		!memcmp(&f->st.swift, &f->twin_st, sizeof(f->twin_st)),
		"without a host it is Swift", f);
}

static u64 acks_counted(const struct quell_swift_split_stats *st)
{
	return st->swift.increases + st->swift.decreases + st->swift.held +
	       st->swift.app_limited + st->swift.disregarded + st->unused;
}

static void do_ack(struct flow *f, const struct quell_sample *s)
{
	struct side fabric, host;
	u64 host_ns;

	quell_swift_split_on_ack(&f->v, &f->p, &f->st, s, &f->out);
	if (quell_swift_split_has_host(&f->v))
		f->has_twin = false;
	if (f->has_twin)
		quell_swift_on_ack(&f->twin, &f->p, &f->twin_st, s, &f->twin_out);
	require(acks_counted(&f->st) == acks_counted(&f->counted) + 1, "an ACK counts once", f);
	fabric = fabric_side(f);
	host = host_side(f);
	if (!quell_swift_split_has_host(&f->v)) {
		check_side_ack(&fabric, s, s->rtt_ns, f->out.target_ns, QUELL_U64_MAX);
		return;
	}
	require(f->p.host_target_ns, "a host only with a target", f);
	host_ns = s->remote_ns < s->rtt_ns ? s->remote_ns : s->rtt_ns;
	check_side_ack(&fabric, s, s->rtt_ns - host_ns, f->out.target_ns, host.before_q16);
	check_side_ack(&host, s, host_ns, f->p.host_target_ns, fabric.before_q16);
	require(f->st.host_decreases + f->st.host_held == f->counted.host_decreases +
		f->counted.host_held + (host_ns >= f->p.host_target_ns), "a slow host counts once", f);
}

static void check_sides(const struct flow *f, u64 now_ns, bool lowers, bool bounded)
{
	struct side sides[] = { fabric_side(f), host_side(f) };
	int i, count = quell_swift_split_has_host(&f->v) ? 2 : 1;

	/* A decrease that chance disregarded does not delay the response to loss. */
	if (f->before.fabric.flags & QUELL_SWIFT_F_DISREGARDED)
		sides[0].before_decreased = false;
	for (i = 0; i < count; i++) {
		if (lowers)
			require(sides[i].after_q16 <= limited_q16(f, sides[i].before_q16),
				"loss never raises", f);
		if (bounded)
			check_side_decrease(&sides[i], now_ns);
	}
}

static void do_loss(struct flow *f, const struct quell_sample *s)
{
	quell_swift_split_on_loss(&f->v, &f->p, &f->st, s, &f->out);
	if (f->has_twin)
		quell_swift_on_loss(&f->twin, &f->p, &f->twin_st, s, &f->twin_out);
	check_sides(f, s->now_ns, true, true);
}

static void do_rto(struct flow *f, const struct quell_sample *s)
{
	quell_swift_split_on_rto(&f->v, &f->p, &f->st, s, &f->out);
	if (f->has_twin)
		quell_swift_on_rto(&f->twin, &f->p, &f->twin_st, s, &f->twin_out);
	check_sides(f, s->now_ns, true, f->v.fabric.rtos < f->p.retx_reset_rtos &&
		    f->v.fabric.min_rtt_ns);
}

static void do_idle(struct flow *f, const struct quell_sample *s)
{
	quell_swift_split_on_idle_restart(&f->v, &f->p, &f->st, s, &f->out);
	if (f->has_twin)
		quell_swift_on_idle_restart(&f->twin, &f->p, &f->twin_st, s, &f->twin_out);
	check_sides(f, s->now_ns, f->v.fabric.flags & QUELL_SWIFT_F_LOSS, false);
	require(f->v.fabric.flags == f->before.fabric.flags, "restart forgets nothing", f);
}

static void one_event(struct input *in, struct flow *f)
{
	enum event event = take_byte(in) % EVENT_UNDO;
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
	check_decision(f);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = { data, size };
	struct flow f = { .has_twin = true };
	struct quell_sample s = { 0 };
	int events;

	quell_core_params_default(&quell_swift_core, &f.p);
	take_params(&in, &f.p);
	s.link_bytes_ps = take(&in, 64);
	s.min_rtt_ns = take(&in, 64);
	s.mss_bytes = take(&in, 16);
	s.now_ns = take(&in, 64);
	quell_swift_split_init(&f.v, &f.p, &s, &f.out);
	quell_swift_init(&f.twin, &f.p, &s, &f.twin_out);
	f.before = f.v;
	check_decision(&f);
	for (events = 0; in.size && events < MOST_EVENTS; events++)
		one_event(&in, &f);
	return 0;
}

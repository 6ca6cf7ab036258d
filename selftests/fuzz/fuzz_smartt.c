// SPDX-License-Identifier: GPL-2.0
/*
 * Drives the SMaRTT core with any parameters in their ranges and any samples,
 * and stops where a promise is broken:
 *
 *	the window is at least one segment and at most its largest, the decision repeats
 *	the state, is not paced, and its target is the base round trip plus target-delay
 *	or times target-rtt
 *	a change of path is requested at most once per base round trip, on marks only
 *	in the ignore phase only trimmed packets, with ignore-trims off, change the
 *	window
 *	equation 1 and fast retransmit take max_mdf at most, once per base round trip
 *	an ACK adds at most the sum of equations 2 and 3, eta and FastIncrease
 *	loss and timeouts never raise the window, nor does a restart after loss
 *
 * Input: parameters, then events.  Numbers are read as one byte of magnitude
 * and as many bytes of value as that needs; missing bytes are zero.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quell/core/smartt/core.h>

#include "events.h"

struct flow {
	struct quell_smartt_params p;
	struct quell_smartt_vars v;
	struct quell_smartt_stats st;
	struct quell_decision out;
	struct quell_smartt_vars before;
	struct quell_smartt_stats counted;
};

static void require(bool holds, const char *promise, const struct flow *f)
{
	if (holds)
		return;
	fprintf(stderr, "broken: %s\n", promise);
	fprintf(stderr, "window %llu -> %llu Q16, flags %u -> %u, mss %u, base rtt %u\n",
		f->before.window_q16, f->v.window_q16, f->before.flags, f->v.flags,
		f->v.mss_bytes, f->v.base_rtt_ns);
	abort();
}

static void take_params(struct input *in, struct quell_smartt_params *p)
{
	take_some(in, p, &quell_smartt_core);
}

static u64 at_least(u64 a, u64 b)
{
	return a > b ? a : b;
}

/* The window before the event, within the limits now in force. */
static u64 window_before_q16(const struct flow *f)
{
	u64 most_q16 = quell_smartt_max_window_q16(&f->v);
	u64 window_q16 = f->before.window_q16;

	if (window_q16 > most_q16)
		window_q16 = most_q16;
	return at_least(window_q16, (u64)f->v.mss_bytes << 16);
}

static void check_decision(const struct flow *f)
{
	u64 mss_q16 = (u64)f->v.mss_bytes << 16;

	require(f->out.window_q16 == f->v.window_q16, "decision is the state", f);
	require(f->out.pacing_bytes_ps == QUELL_RATE_UNLIMITED, "ACK clocked", f);
	require(f->v.mss_bytes > 0, "segment size is positive", f);
	require(f->v.window_q16 >= mss_q16, "smallest window", f);
	require(f->v.window_q16 <= at_least(quell_smartt_max_window_q16(&f->v), mss_q16) &&
		f->v.window_q16 <= 1ULL << 46, "largest window", f);
	require(f->out.target_ns == (f->p.target_delay_ns && f->v.base_rtt_ns ?
				     f->v.base_rtt_ns + f->p.target_delay_ns :
				     f->v.base_rtt_ns * f->p.target_rtt_q16 >> 16), "target", f);
	require(f->out.change_path == (f->st.path_changes != f->counted.path_changes),
		"a new path is counted", f);
}

/* Whether a base round trip passed since the last decrease. */
static bool may_decrease(const struct flow *f, u64 now_ns)
{
	return !(f->before.flags & QUELL_SMARTT_F_DECREASED) ||
	       (u32)((u32)now_ns - f->before.decrease_ns) >= f->v.base_rtt_ns;
}

/* A decrease by equation 1 or fast retransmit must leave 1 - max_mdf of the window. */
static void check_decrease(const struct flow *f, u64 now_ns)
{
	u64 cut_q16 = f->p.max_mdf_q16;

	if (f->v.window_q16 >= window_before_q16(f))
		return;
	require(may_decrease(f, now_ns), "one decrease per base round trip", f);
	if (!f->v.base_rtt_ns && cut_q16 < 32768)
		cut_q16 = 32768;
	require((unsigned __int128)f->v.window_q16 * 65536 >=
		(unsigned __int128)window_before_q16(f) * (65536 - cut_q16) ||
		f->before.window_q16 > window_before_q16(f),
		"a decrease takes max_mdf at most", f);
}

/* Largest growth by one ACK times the window, without eta, in bytes squared, Q16. */
static unsigned __int128 most_increase(const struct flow *f, const struct quell_sample *s)
{
		/* Scaled before the event, or by the path's properties in the event. */
	const struct quell_smartt_vars *v = f->v.unit_q8 > f->before.unit_q8 ?
					    &f->v : &f->before;
	u64 step_q16 = quell_smartt_step_q16(v, f->p.fi_pkts_q16);
	u64 more_q16 = quell_smartt_step_q16(v, f->p.pi_pkts_q16);
	unsigned __int128 sum;

	if (more_q16 > f->before.window_q16)
		more_q16 = f->before.window_q16;
	if (!f->v.base_rtt_ns)
		step_q16 = (u64)f->v.mss_bytes << 16;
	sum = (unsigned __int128)step_q16 + more_q16;
	return sum * s->acked_bytes + ((unsigned __int128)f->before.pending_bytes2 << 16);
}

static void check_ack(const struct flow *f, const struct quell_sample *s)
{
	u64 grown_q16 = f->v.window_q16 - f->before.window_q16;
	unsigned __int128 most;

	if (f->out.change_path) {
		require(f->v.base_rtt_ns && s->marked_bytes && s->acked_bytes &&
			s->flags & QUELL_S_ECN, "a path changes for marks", f);
		require(!(f->before.flags & (QUELL_SMARTT_F_REROUTED | QUELL_SMARTT_F_NEW_PATH)),
			"one path per base round trip", f);
	}
	if (f->st.ignored != f->counted.ignored) {
		require(f->v.ignore_bytes && !f->out.change_path, "the ignore phase ignores", f);
		require((s->rtt_ns && !f->p.ignore_delay) || f->v.avg_rtt_q4 == f->before.avg_rtt_q4,
			"an average of what was measured", f);
		if (!s->trimmed_bytes || f->p.ignore_trims)
			require(f->v.window_q16 == window_before_q16(f), "and keeps the window", f);
	}
	if (f->st.quick_adapts != f->counted.quick_adapts) {
		require(f->p.qa, "QuickAdapt is on", f);
		require(f->before.flags & QUELL_SMARTT_F_MEASURING || s->trimmed_bytes,
			"QuickAdapt has measured", f);
		return;
	}
	if (f->v.window_q16 < window_before_q16(f)) {
		require(s->trimmed_bytes || f->st.decreases != f->counted.decreases,
			"an ACK decreases for marks or trims", f);
		if (!s->trimmed_bytes && f->v.most_bytes == f->before.most_bytes)
			check_decrease(f, s->now_ns);
		return;
	}
	if (f->v.window_q16 <= f->before.window_q16 ||
	    f->before.window_q16 >> 16 < f->v.mss_bytes ||
	    f->st.decreases != f->counted.decreases)
		return;
	if (f->st.fast_increases != f->counted.fast_increases)
		grown_q16 = quell_sub_sat_u64(grown_q16, s->acked_bytes * f->p.fast_q16);
	if (f->p.eta_pkts_q16)
		return;
	most = most_increase(f, s);
	require((unsigned __int128)grown_q16 * (f->before.window_q16 >> 16) <=
		most + ((unsigned __int128)f->before.window_q16 << 1),
		"an ACK adds what the equations give", f);
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
		quell_smartt_on_ack(&f->v, &f->p, &f->st, &s, &f->out);
		require(!f->v.rtos, "an ACK ends the row of timeouts", f);
		check_ack(f, &s);
	} else if (event == EVENT_LOSS) {
		quell_smartt_on_loss(&f->v, &f->p, &f->st, &s, &f->out);
		require(f->v.window_q16 <= window_before_q16(f), "loss never raises", f);
		require(f->v.flags & QUELL_SMARTT_F_LOSS, "loss is remembered", f);
		check_decrease(f, s.now_ns);
	} else if (event == EVENT_RTO) {
		quell_smartt_on_rto(&f->v, &f->p, &f->st, &s, &f->out);
		require(f->v.window_q16 <= window_before_q16(f), "a timeout never raises", f);
		require(!f->v.ignore_bytes, "a timeout ends the ignore phase", f);
		if (!f->v.base_rtt_ns || f->v.rtos >= f->p.retx_reset_rtos)
			require(f->v.window_q16 >> 16 == f->v.mss_bytes, "one segment", f);
	} else {
		s.idle_ns = take(in, 64);
		quell_smartt_on_idle_restart(&f->v, &f->p, &f->st, &s, &f->out);
		if (f->v.flags & QUELL_SMARTT_F_LOSS || !f->v.base_rtt_ns)
			require(f->v.window_q16 <= window_before_q16(f), "restart after loss", f);
	}
	check_decision(f);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = { data, size };
	struct flow f = { 0 };
	struct quell_sample s = { 0 };
	int events;

	quell_core_params_default(&quell_smartt_core, &f.p);
	take_params(&in, &f.p);
	s.link_bytes_ps = take(&in, 64);
	s.min_rtt_ns = take(&in, 64);
	s.mss_bytes = take(&in, 32);
	s.now_ns = take(&in, 64);
	quell_smartt_init(&f.v, &f.p, &s, &f.out);
	f.before = f.v;
	check_decision(&f);
	for (events = 0; in.size && events < MOST_EVENTS; events++)
		one_event(&in, &f);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Drives the swift_vaisf core with any parameters in their ranges, any state a
 * flow can reach and any samples, and stops where a promise is broken:
 *
 *	window and reference stay within their limits
 *	a window of a segment or more is not paced, a smaller one is, by window over delay
 *	the reference falls by delay once per sampling period, by max_mdf at most
 *	it rises once per round trip, by one increase times the tokens held at most,
 *	without a delay by one segment at most
 *	the bank stays within its cap, and tokens are spent as the reference moves
 *	loss and timeout never raise the reference, nor does a restart after loss
 *	an ACK counts once
 *
 * Input: parameters, then events.  Numbers are read as one byte of magnitude
 * and as many bytes of value as that needs; missing bytes are zero.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quell/core/swift_vaisf/core.h>

#include "events.h"

struct flow {
	struct quell_swift_vaisf_params p;
	struct quell_swift_vaisf_vars v;
	struct quell_swift_vaisf_stats st;
	struct quell_decision out;
	struct quell_swift_vaisf_vars before;
	struct quell_swift_vaisf_stats counted;
};

static void require(bool holds, const char *promise, const struct flow *f)
{
	if (holds)
		return;
	fprintf(stderr, "broken: %s\n", promise);
	fprintf(stderr, "reference %llu -> %llu, window %llu Q16\n",
		f->before.swift.window_q16, f->v.swift.window_q16, f->out.window_q16);
	fprintf(stderr, "mss %u, rtt %llu, min rtt %llu, bank %u -> %u, sampled %u -> %u\n",
		f->v.swift.mss_bytes, f->v.swift.rtt_ns, f->v.swift.min_rtt_ns,
		f->before.vaisf.bank_tokens, f->v.vaisf.bank_tokens,
		f->before.vaisf.sampled_pkts, f->v.vaisf.sampled_pkts);
	abort();
}

static void take_params(struct input *in, struct quell_swift_vaisf_params *p)
{
	take_some(in, p, &quell_swift_vaisf_core);
	quell_swift_vaisf_params_derive(p);
}

static u64 within_limits_q16(const struct flow *f, u64 window_q16)
{
	u64 mss_bytes = f->v.swift.mss_bytes;
	u64 least_q16 = f->v.swift.min_rtt_ns ? f->p.swift.min_window_pkts_q16 * mss_bytes :
						mss_bytes << 16;
	u64 most_q16 = f->p.swift.max_window_bytes << 16;

	if (window_q16 > most_q16)
		window_q16 = most_q16;
	return window_q16 < least_q16 ? least_q16 : window_q16;
}

static u64 reference_before_q16(const struct flow *f)
{
	return within_limits_q16(f, f->before.swift.window_q16);
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
	u64 window_q16 = f->out.window_q16;
	unsigned __int128 exact;

	require(within_limits_q16(f, window_q16) == window_q16, "limits of the window", f);
	require(within_limits_q16(f, f->v.swift.window_q16) == f->v.swift.window_q16,
		"limits of the reference", f);
	require(f->v.swift.mss_bytes > 0, "segment size is positive", f);
	require(f->out.target_ns == path_ns(&f->p.swift, f->v.swift.min_rtt_ns, hops),
		"target without flow scaling", f);
	require(!f->out.change_path, "path is left alone", f);
	if (window_q16 >= (u64)f->v.swift.mss_bytes << 16) {
		require(f->out.pacing_bytes_ps == QUELL_RATE_UNLIMITED, "ACK clocked", f);
		return;
	}
	require(f->v.swift.rtt_ns != 0, "a round trip to pace by", f);
	exact = (unsigned __int128)window_q16 * 1000000000 / f->v.swift.rtt_ns >> 16;
	require(f->out.pacing_bytes_ps == (exact ? exact : 1), "window over delay", f);
}

static void check_fall(const struct flow *f, const struct quell_sample *s)
{
	unsigned __int128 most = (unsigned __int128)f->before.swift.window_q16 *
				 (65536 - f->p.swift.max_mdf_q16);

	require(s->rtt_ns > f->out.target_ns, "no fall at the target or below", f);
	require(f->before.vaisf.sampled_pkts + (u64)s->acked_pkts >= f->p.vaisf.sampling_pkts ||
		(f->p.vaisf.sampling_rtt && s->acked_bytes > f->before.vaisf.round_bytes),
		"one fall per sampling period or round trip", f);
	require(f->v.vaisf.sampled_pkts == 0, "a fall begins a sampling period", f);
	require((unsigned __int128)f->v.swift.window_q16 * 65536 + 65535 >= most ||
		f->before.swift.window_q16 > f->p.swift.max_window_bytes << 16,
		"a fall of max_mdf at most", f);
}

static void check_rise(const struct flow *f, const struct quell_sample *s)
{
	unsigned __int128 step_q16 = (u64)f->v.swift.mss_bytes << 16;
	u64 rise_q16 = f->v.swift.window_q16 - reference_before_q16(f);
	unsigned __int128 most_q16;

	if (s->rtt_ns) {
		step_q16 = (unsigned __int128)f->p.swift.ai_bytes_ps * f->v.swift.min_rtt_ns;
		step_q16 = step_q16 > (unsigned __int128)1 << 80 ? ~0ULL :
			   step_q16 * 65536 / 1000000000;
	}
	most_q16 = step_q16 * (s->rtt_ns ? f->p.vaisf.ai_cap_tokens : 1);
	require(f->v.swift.window_q16 <= f->p.swift.max_window_bytes << 16 &&
		rise_q16 <= most_q16, "a rise of ai_cap increases at most", f);
	require(!(s->flags & QUELL_S_APP_LIMITED), "no growth without demand", f);
	require(s->acked_bytes > f->before.vaisf.round_bytes, "one rise per round trip", f);
}

static void check_tokens(const struct flow *f, const struct quell_sample *s)
{
	bool adjusted = f->st.swift.increases + f->st.swift.decreases !=
			f->counted.swift.increases + f->counted.swift.decreases;
	u64 spent = f->st.spent - f->counted.spent;

	require(f->v.vaisf.bank_tokens <= f->p.vaisf.bank_cap_tokens ||
		f->v.vaisf.bank_tokens <= f->before.vaisf.bank_tokens, "bank cap", f);
	require(spent <= f->p.vaisf.ai_cap_tokens, "AI cap", f);
	require(!spent || (adjusted && s->rtt_ns), "tokens move the reference", f);
	require(f->st.earned - f->counted.earned <= f->st.rounds - f->counted.rounds &&
		f->st.rounds - f->counted.rounds <= 1, "tokens are earned per round trip", f);
}

static void do_ack(struct flow *f, const struct quell_sample *s)
{
	const struct quell_swift_stats *now = &f->st.swift, *then = &f->counted.swift;

	quell_swift_vaisf_on_ack(&f->v, &f->p, &f->st, s, &f->out);
	require(now->increases + now->decreases + now->held + now->app_limited ==
		then->increases + then->decreases + then->held + then->app_limited + 1,
		"an ACK counts once", f);
	require(now->no_rtt == then->no_rtt + !s->rtt_ns, "ACKs without delay", f);
	require(!f->v.swift.rtos, "an ACK ends the row of timeouts", f);
	if (f->v.swift.window_q16 > reference_before_q16(f))
		check_rise(f, s);
	else if (f->v.swift.window_q16 < reference_before_q16(f))
		check_fall(f, s);
	check_tokens(f, s);
	if (!s->rtt_ns)
		require(f->out.window_q16 == f->v.swift.window_q16,
			"without a delay the window is the reference", f);
}

static void do_loss(struct flow *f, const struct quell_sample *s)
{
	quell_swift_vaisf_on_loss(&f->v, &f->p, &f->st, s, &f->out);
	require(f->v.swift.window_q16 <= reference_before_q16(f), "loss never raises", f);
	require(f->out.window_q16 == f->v.swift.window_q16, "window is the reference", f);
	require(f->v.swift.flags & QUELL_SWIFT_F_LOSS, "loss is remembered", f);
	require(!f->v.vaisf.sampled_pkts, "loss begins a sampling period", f);
}

static void do_rto(struct flow *f, const struct quell_sample *s)
{
	quell_swift_vaisf_on_rto(&f->v, &f->p, &f->st, s, &f->out);
	require(f->v.swift.window_q16 <= reference_before_q16(f), "a timeout never raises", f);
	require(f->out.window_q16 == f->v.swift.window_q16, "window is the reference", f);
	require(!f->v.vaisf.bank_tokens, "a timeout takes the tokens", f);
}

static void do_idle(struct flow *f, const struct quell_sample *s)
{
	bool restart = f->p.swift.restart_idle_ns && s->idle_ns >= f->p.swift.restart_idle_ns;

	quell_swift_vaisf_on_idle_restart(&f->v, &f->p, &f->st, s, &f->out);
	require(f->out.window_q16 == f->v.swift.window_q16, "window is the reference", f);
	if (!restart)
		require(f->v.swift.window_q16 == reference_before_q16(f) &&
			!memcmp(&f->v.vaisf, &f->before.vaisf, sizeof(f->v.vaisf)),
			"too early to restart", f);
	else
		require(!f->v.vaisf.bank_tokens && !f->v.vaisf.dampener_q16,
			"a restart begins as a new flow", f);
	if (f->v.swift.flags & QUELL_SWIFT_F_LOSS || !f->v.swift.min_rtt_ns)
		require(f->v.swift.window_q16 <= reference_before_q16(f), "restart after loss", f);
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

	quell_core_params_default(&quell_swift_vaisf_core, &f.p);
	take_params(&in, &f.p);
	s.link_bytes_ps = take(&in, 64);
	s.min_rtt_ns = take(&in, 64);
	s.mss_bytes = take(&in, 16);
	s.now_ns = take(&in, 64);
	quell_swift_vaisf_init(&f.v, &f.p, &s, &f.out);
	f.before = f.v;
	check_decision(&f, 0);
	for (events = 0; in.size && events < MOST_EVENTS; events++)
		one_event(&in, &f);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Drives the hpcc_vaisf core with any parameters in their ranges, any state a
 * flow can reach and any samples, and stops where a promise is broken:
 *
 *	window and reference stay within the limits of rate, link and parameter
 *	the window is paced over the base round trip, without records it is not paced
 *	an ACK counts once; only fresh records of one hop, in order, are compared
 *	the reference falls once per sampling period, for a measurement
 *	it rises once per round trip, by one segment at most without a measurement
 *	the two mechanisms' round trips are HPCC's
 *	the bank stays within its cap, and tokens are spent as the reference moves
 *	loss halves; loss and timeout never raise, nor does a restart after loss
 *
 * Input: parameters, then events.  Numbers are read as one byte of magnitude
 * and as many bytes of value as that needs; missing bytes are zero.
 */
#include <stdio.h>
#include <stdlib.h>

#include <quell/core/hpcc_vaisf/core.h>

#include "events.h"
#include "hpcc_flow.h"

struct flow {
	struct quell_hpcc_vaisf_params p;
	struct quell_hpcc_vaisf_vars v;
	struct quell_hpcc_vaisf_stats st;
	struct quell_decision out;
	struct quell_hpcc_vaisf_vars before;
	struct quell_hpcc_vaisf_stats counted;
};

static void require(bool holds, const char *promise, const struct flow *f)
{
	if (holds)
		return;
	fprintf(stderr, "broken: %s\n", promise);
	fprintf(stderr, "reference %llu -> %llu, window %llu Q16, pacing %llu\n",
		f->before.hpcc.window_q16, f->v.hpcc.window_q16, f->out.window_q16,
		f->out.pacing_bytes_ps);
	fprintf(stderr, "U %u -> %u, flags %#x -> %#x, bank %u -> %u, sampled %u -> %u\n",
		f->before.hpcc.util_q24, f->v.hpcc.util_q24, f->before.hpcc.flags,
		f->v.hpcc.flags, f->before.vaisf.bank_tokens, f->v.vaisf.bank_tokens,
		f->before.vaisf.sampled_pkts, f->v.vaisf.sampled_pkts);
	abort();
}

static void take_params(struct input *in, struct quell_hpcc_vaisf_params *p)
{
	take_some(in, p, &quell_hpcc_vaisf_core);
}

static u64 now_limited_q16(const struct flow *f, const struct quell_sample *s, u64 window_q16)
{
	return limited_q16(&f->v.hpcc, &f->p.hpcc, s->link_bytes_ps, window_q16);
}

/* The reference before the event, within the limits now in force. */
static u64 reference_before_q16(const struct flow *f, const struct quell_sample *s)
{
	return now_limited_q16(f, s, f->before.hpcc.window_q16);
}

static void check_decision(const struct flow *f, const struct quell_sample *s)
{
	const char *broken = broken_state(&f->v.hpcc);

	require(!broken, broken, f);
	require(now_limited_q16(f, s, f->out.window_q16) == f->out.window_q16,
		"limits of the window", f);
	require(now_limited_q16(f, s, f->v.hpcc.window_q16) == f->v.hpcc.window_q16,
		"limits of the reference", f);
	require(pacing_fits(&f->v.hpcc, &f->p.hpcc, f->out.window_q16, f->out.pacing_bytes_ps),
		"window over base round trip", f);
	require(f->v.hpcc.round_bytes == f->v.vaisf.round_bytes, "one round trip", f);
	require(!f->out.change_path && !f->out.target_ns, "path is left alone", f);
}

static void check_fall(const struct flow *f, const struct quell_sample *s)
{
	/* A blind round trip and the loss of all records may lower it without a measurement. */
	if (f->st.hpcc.blind != f->counted.hpcc.blind || f->st.hpcc.lost != f->counted.hpcc.lost)
		return;
	require(f->st.hpcc.measured != f->counted.hpcc.measured, "a fall is measured", f);
	require(f->before.vaisf.sampled_pkts + (u64)s->acked_pkts >= f->p.vaisf.sampling_pkts ||
		(f->p.vaisf.sampling_rtt && s->acked_bytes > f->before.vaisf.round_bytes),
		"one fall per sampling period or round trip", f);
	require(f->v.vaisf.sampled_pkts == 0, "a fall begins a sampling period", f);
	require(f->st.hpcc.decreases == f->counted.hpcc.decreases + 1, "a fall counts", f);
}

static void check_rise(const struct flow *f, const struct quell_sample *s)
{
	u64 segment_q16 = (u64)f->v.hpcc.mss_bytes << 16;

	require(!(s->flags & QUELL_S_APP_LIMITED), "no growth without demand", f);
	require(f->before.hpcc.flags & QUELL_HPCC_F_ROUND &&
		s->acked_bytes > f->before.vaisf.round_bytes, "one rise per round trip", f);
	if (f->st.hpcc.blind != f->counted.hpcc.blind)
		require(f->v.hpcc.window_q16 <=
			now_limited_q16(f, s, f->before.hpcc.window_q16 + segment_q16),
			"a segment without measurement", f);
	else
		require(f->before.hpcc.flags & QUELL_HPCC_F_MEASURED ||
			f->st.hpcc.measured != f->counted.hpcc.measured, "a rise is measured", f);
}

static void check_tokens(const struct flow *f)
{
	u64 spent = f->st.spent - f->counted.spent;

	require(f->v.vaisf.bank_tokens <= f->p.vaisf.bank_cap_tokens ||
		f->v.vaisf.bank_tokens <= f->before.vaisf.bank_tokens, "bank cap", f);
	require(spent <= f->p.vaisf.ai_cap_tokens, "AI cap", f);
	require(!spent || f->v.hpcc.flags & QUELL_HPCC_F_UTIL, "tokens need a measurement", f);
	require(f->st.earned - f->counted.earned <= f->st.rounds - f->counted.rounds &&
		f->st.rounds - f->counted.rounds <= 1, "tokens are earned per round trip", f);
}

static void do_ack(struct flow *f, const struct quell_sample *s)
{
	const char *broken;

	quell_hpcc_vaisf_on_ack(&f->v, &f->p, &f->st, s, &f->out);
	broken = broken_record(&f->before.hpcc, &f->v.hpcc, &f->counted.hpcc, &f->st.hpcc, s);
	require(!broken, broken, f);
	if (f->v.hpcc.window_q16 > reference_before_q16(f, s))
		check_rise(f, s);
	else if (f->v.hpcc.window_q16 < reference_before_q16(f, s))
		check_fall(f, s);
	check_tokens(f);
	if (f->st.hpcc.measured == f->counted.hpcc.measured &&
	    f->v.hpcc.window_q16 <= reference_before_q16(f, s))
		require(f->out.window_q16 <= reference_before_q16(f, s),
			"no rise without a measurement", f);
}

static void do_loss(struct flow *f, const struct quell_sample *s)
{
	quell_hpcc_vaisf_on_loss(&f->v, &f->p, &f->st, s, &f->out);
	require(f->v.hpcc.window_q16 <= now_limited_q16(f, s, f->before.hpcc.window_q16 / 2),
		"half", f);
	require(f->out.window_q16 == f->v.hpcc.window_q16, "window is the reference", f);
	require(f->v.hpcc.flags & QUELL_HPCC_F_LOSS, "loss is remembered", f);
	require(!f->v.vaisf.sampled_pkts, "loss begins a sampling period", f);
}

static void do_rto(struct flow *f, const struct quell_sample *s)
{
	quell_hpcc_vaisf_on_rto(&f->v, &f->p, &f->st, s, &f->out);
	require(f->v.hpcc.window_q16 <= now_limited_q16(f, s, f->before.hpcc.window_q16 / 2),
		"half", f);
	require(f->out.window_q16 == f->v.hpcc.window_q16, "window is the reference", f);
	require(!f->v.vaisf.bank_tokens, "a timeout takes the tokens", f);
}

static void do_idle(struct flow *f, const struct quell_sample *s)
{
	bool restart = f->p.hpcc.restart_idle_ns && s->idle_ns >= f->p.hpcc.restart_idle_ns;

	quell_hpcc_vaisf_on_idle_restart(&f->v, &f->p, &f->st, s, &f->out);
	if (!restart)
		require(f->v.hpcc.window_q16 == reference_before_q16(f, s) &&
			f->out.window_q16 <= f->v.hpcc.window_q16 &&
			!memcmp(&f->v.vaisf, &f->before.vaisf, sizeof(f->v.vaisf)),
			"too early to restart", f);
	else
		require(!f->v.hpcc.hop && !f->v.vaisf.bank_tokens && !f->v.vaisf.dampener_q16,
			"a restart begins as a new flow", f);
	if (f->v.hpcc.flags & QUELL_HPCC_F_LOSS || !steered(&f->v.hpcc, &f->p.hpcc))
		require(f->v.hpcc.window_q16 <= reference_before_q16(f, s),
			"restart after loss", f);
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
	if (event == EVENT_LOSS) {
		do_loss(f, &s);
	} else if (event == EVENT_RTO) {
		do_rto(f, &s);
	} else if (event == EVENT_IDLE) {
		s.idle_ns = take(in, 64);
		do_idle(f, &s);
	} else {
		do_ack(f, &s);
	}
	check_decision(f, &s);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = { data, size };
	struct flow f = { 0 };
	struct quell_sample s;
	u8 telemetry;
	int events;

	quell_core_params_default(&quell_hpcc_vaisf_core, &f.p);
	take_params(&in, &f.p);
	telemetry = take_byte(&in);
	take_sample(&in, &s);
	s.flags = telemetry & 7 ? QUELL_S_TELEMETRY : 0;
	quell_hpcc_vaisf_init(&f.v, &f.p, &s, &f.out);
	f.before = f.v;
	check_decision(&f, &s);
	for (events = 0; in.size && events < MOST_EVENTS; events++)
		one_event(&in, &f);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Drives the HPCC core with any parameters in their ranges, any state a flow can
 * reach and any samples, and stops where a promise is broken:
 *
 *	window and reference stay within the limits of rate, link and parameter
 *	the window is paced over the base round trip, without records it is not paced
 *	an ACK counts once; only fresh records of one hop, in order, are compared
 *	the reference moves once per round trip, except when all records are lost
 *	a round trip without a measurement adds one segment at most
 *	an ACK without a measurement, or of an application-limited flow, never raises
 *	the window
 *	loss halves; loss and timeout never raise, nor does a restart after loss
 *
 * Input: parameters, then events.  Numbers are read as one byte of magnitude
 * and as many bytes of value as that needs; missing bytes are zero.
 */
#include <stdio.h>
#include <stdlib.h>

#include <quell/core/hpcc/core.h>

#include "events.h"
#include "hpcc_flow.h"

struct flow {
	struct quell_hpcc_params p;
	struct quell_hpcc_vars v;
	struct quell_hpcc_stats st;
	struct quell_decision out;
	struct quell_hpcc_vars before;
	struct quell_hpcc_stats counted;
};

static void require(bool holds, const char *promise, const struct flow *f)
{
	if (holds)
		return;
	fprintf(stderr, "broken: %s\n", promise);
	fprintf(stderr, "reference %llu -> %llu, window %llu Q16, pacing %llu\n",
		f->before.window_q16, f->v.window_q16, f->out.window_q16,
		f->out.pacing_bytes_ps);
	fprintf(stderr, "U %u -> %u, flags %#x -> %#x, round %u -> %u, hop %u -> %u\n",
		f->before.util_q24, f->v.util_q24, f->before.flags, f->v.flags,
		f->before.round_bytes, f->v.round_bytes, f->before.hop, f->v.hop);
	abort();
}

static void take_params(struct input *in, struct quell_hpcc_params *p)
{
	take_some(in, p, &quell_hpcc_core);
}

static u64 now_limited_q16(const struct flow *f, const struct quell_sample *s, u64 window_q16)
{
	return limited_q16(&f->v, &f->p, s->link_bytes_ps, window_q16);
}

/* The reference before the event, within the limits now in force. */
static u64 reference_before_q16(const struct flow *f, const struct quell_sample *s)
{
	return now_limited_q16(f, s, f->before.window_q16);
}

static void check_decision(const struct flow *f, const struct quell_sample *s)
{
	const char *broken = broken_state(&f->v);

	require(!broken, broken, f);
	require(now_limited_q16(f, s, f->out.window_q16) == f->out.window_q16,
		"limits of the window", f);
	require(now_limited_q16(f, s, f->v.window_q16) == f->v.window_q16,
		"limits of the reference", f);
	require(pacing_fits(&f->v, &f->p, f->out.window_q16, f->out.pacing_bytes_ps),
		"window over base round trip", f);
	require(!f->out.change_path && !f->out.target_ns, "path is left alone", f);
}

static void check_reference(const struct flow *f, const struct quell_sample *s)
{
	bool finished = f->before.flags & QUELL_HPCC_F_ROUND &&
			s->acked_bytes > f->before.round_bytes;
	bool lost = f->st.lost != f->counted.lost;
	u64 before_q16 = reference_before_q16(f, s);
	u64 most_q16 = before_q16;

	if (!finished && !lost)
		require(f->v.window_q16 == before_q16, "one update per round trip", f);
	if (f->st.blind != f->counted.blind && !(s->flags & QUELL_S_APP_LIMITED))
		most_q16 = now_limited_q16(f, s, f->before.window_q16 +
					   ((u64)f->v.mss_bytes << 16));
	if (!(f->before.flags & QUELL_HPCC_F_MEASURED) && f->st.measured == f->counted.measured)
		require(f->v.window_q16 <= most_q16, "a segment without measurement", f);
	if (s->flags & QUELL_S_APP_LIMITED)
		require(f->v.window_q16 <= before_q16, "no growth without demand", f);
	if (f->st.blind == f->counted.blind && finished)
		require(f->out.window_q16 == f->v.window_q16, "window becomes reference", f);
	if (f->st.disregarded != f->counted.disregarded)
		require(f->p.probabilistic && finished && f->v.window_q16 == before_q16 &&
			f->v.stage == f->before.stage, "chance leaves the reference", f);
}

static void do_ack(struct flow *f, const struct quell_sample *s)
{
	const char *broken;

	quell_hpcc_on_ack(&f->v, &f->p, &f->st, s, &f->out);
	broken = broken_record(&f->before, &f->v, &f->counted, &f->st, s);
	require(!broken, broken, f);
	check_reference(f, s);
	if ((f->st.measured == f->counted.measured || s->flags & QUELL_S_APP_LIMITED) &&
	    f->v.window_q16 <= reference_before_q16(f, s))
		require(f->out.window_q16 <= reference_before_q16(f, s),
			"no rise without a measurement", f);
}

/* A loss must leave at most half of the previous reference, within the limits now in force. */
static void do_loss(struct flow *f, const struct quell_sample *s)
{
	quell_hpcc_on_loss(&f->v, &f->p, &f->st, s, &f->out);
	require(f->v.window_q16 <= now_limited_q16(f, s, f->before.window_q16 / 2), "half", f);
	require(f->out.window_q16 == f->v.window_q16, "window is the reference", f);
	require(f->v.flags & QUELL_HPCC_F_LOSS, "loss is remembered", f);
	require(f->st.fast_retx == f->counted.fast_retx + 1, "a loss counts", f);
}

static void do_rto(struct flow *f, const struct quell_sample *s)
{
	quell_hpcc_on_rto(&f->v, &f->p, &f->st, s, &f->out);
	require(f->v.window_q16 <= now_limited_q16(f, s, f->before.window_q16 / 2), "half", f);
	if (!steered(&f->v, &f->p))
		require(f->out.window_q16 == (u64)f->v.mss_bytes << 16 || f->v.hop,
			"one segment without records", f);
	require(f->out.window_q16 == f->v.window_q16, "window is the reference", f);
	require(f->st.rtos == f->counted.rtos + 1, "a timeout counts", f);
}

static void do_idle(struct flow *f, const struct quell_sample *s)
{
	bool restart = f->p.restart_idle_ns && s->idle_ns >= f->p.restart_idle_ns;

	quell_hpcc_on_idle_restart(&f->v, &f->p, &f->st, s, &f->out);
	if (!restart)
		require(f->v.window_q16 == reference_before_q16(f, s) &&
			f->out.window_q16 <= f->v.window_q16, "too early to restart", f);
	else
		require(!f->v.hop && f->v.util_q24 == QUELL_HPCC_UTIL_ONE,
			"a restart begins as a new flow", f);
	if (f->v.flags & QUELL_HPCC_F_LOSS || !steered(&f->v, &f->p))
		require(f->v.window_q16 <= reference_before_q16(f, s), "restart after loss", f);
	require(f->st.restarts == f->counted.restarts + restart, "a restart counts", f);
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

	quell_core_params_default(&quell_hpcc_core, &f.p);
	take_params(&in, &f.p);
	telemetry = take_byte(&in);
	take_sample(&in, &s);
	s.flags = telemetry & 7 ? QUELL_S_TELEMETRY : 0;
	quell_hpcc_init(&f.v, &f.p, &s, &f.out);
	f.before = f.v;
	check_decision(&f, &s);
	for (events = 0; in.size && events < MOST_EVENTS; events++)
		one_event(&in, &f);
	return 0;
}

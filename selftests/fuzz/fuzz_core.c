// SPDX-License-Identifier: GPL-2.0
/*
 * Drives one algorithm, CORE, as an object with any parameters in their ranges, any state a
 * flow can reach and any samples, and stops where a promise of every algorithm is broken:
 *
 *	an event decides all of its decision, by its input and the state alone, and changes
 *	neither parameters nor sample
 *	window and rate are never zero, a window is at most 1 GiB, or one segment
 *	a window is at most "max-window", and a whole segment at least unless the core says
 *	QUELL_CORE_FRACTIONAL
 *	counters never fall
 *	only an ACK of a core with QUELL_CORE_SPRAYS changes the path
 *	loss and timeouts never raise window or rate, and can be undone: then the window is no
 *	smaller than before
 *	an undo never lowers the window
 *	idle time shorter than "restart-idle" has no effect
 *
 * "Before" an event means: within the limits that its sample sets.  A copy of the flow that was
 * idle for no time has that window.  The equations of one algorithm alone are tested by its model,
 * selftests/unit/test_NAME_model.py.
 *
 * Input: parameters, signals that this flow never gets, then events.  Numbers are read as one
 * byte of magnitude and as many bytes of value as that needs; missing bytes are zero.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "events.h"

/* TCP's own limit of a window. */
#define LARGEST_WINDOW_Q16	(1ULL << (30 + QUELL_Q16_SHIFT))

/* Signals that a flow may lack, a bit each. */
#define LACKS_REMOTE	0x1
#define LACKS_RECORDS	0x2
#define LACKS_MARKS	0x4
#define LACKS_RTT	0x8

/* The blocks are allocated, so that the sanitizer finds accesses out of bounds. */
struct fuzz_flow {
	const struct quell_core *core;
	struct quell_event ev;
	struct quell_decision decided;
	struct quell_undo undo;
	void *vars, *before, *twin;
	void *stats, *counted, *twin_stats;
	void *params, *params_copy;
	u64 acked_mss_q16;	/* of the last ACK, or the start */
	u8 lacks;
};

/* One event of a flow after the core has handled it, and the decision before it: for a report. */
struct fuzz_step {
	enum event event;
	const struct quell_event *ev;
	const struct quell_decision *decided;
};

static const char * const event_names[] = {
	"ACK", "loss", "timeout", "idle restart", "parameters", "undo", "start",
};

static const struct fuzz_step *step_now;

static void print_params(const struct quell_core *core, const void *params)
{
	const struct quell_param_desc *desc;

	for (desc = core->params; desc < core->params + core->params_nr; desc++) {
		u64 value = *quell_core_param((void *)params, desc);

		if (value != desc->def)
			fprintf(stderr, " %s %llu", desc->name, value);
	}
	fprintf(stderr, "\n");
}

/* Print @promise and the step, and stop, unless @holds. */
static void require(bool holds, const char *promise)
{
	const struct quell_event *ev = step_now->ev;
	const struct quell_sample *s = &ev->sample;

	if (holds)
		return;
	fprintf(stderr, "broken: %s, %s: %s\n", CORE.name, event_names[step_now->event], promise);
	fprintf(stderr, "window %llu -> %llu Q16, pacing %llu -> %llu\n",
		step_now->decided->window_q16, ev->decision.window_q16,
		step_now->decided->pacing_bytes_ps, ev->decision.pacing_bytes_ps);
	fprintf(stderr, "now %llu, rtt %llu, remote %llu, min rtt %llu ns, link %llu, mss %u\n",
		s->now_ns, s->rtt_ns, s->remote_ns, s->min_rtt_ns, s->link_bytes_ps, s->mss_bytes);
	fprintf(stderr, "acked %u bytes %u pkts, marked %u, trimmed %u, flags %#x, idle %llu ns\n",
		s->acked_bytes, s->acked_pkts, s->marked_bytes, s->trimmed_bytes, s->flags,
		ev->sample.idle_ns);
	print_params(&CORE, ev->params);
	abort();
}

/* The value of a parameter of this name and unit, or @otherwise. */
static u64 param_named(const struct fuzz_flow *f, const char *name, enum quell_unit unit,
		       u64 otherwise)
{
	const struct quell_param_desc *desc;

	for (desc = f->core->params; desc < f->core->params + f->core->params_nr; desc++)
		if (!strcmp(desc->name, name) && desc->unit == unit)
			return *quell_core_param(f->params, desc);
	return otherwise;
}

static void take_params(struct input *in, struct fuzz_flow *f)
{
	take_some(in, f->params, f->core);
	if (f->core->params_derive)
		f->core->params_derive(f->params);
	memcpy(f->params_copy, f->params, f->core->params_bytes);
}

static void take_input(struct input *in, struct fuzz_flow *f)
{
	struct quell_sample *s = &f->ev.sample;

	take_sample(in, s);
	f->ev.sample.other_flows = take(in, 32);
	f->ev.sample.idle_ns = take(in, 64);
	if (f->lacks & LACKS_REMOTE)
		s->remote_ns = 0;
	if (f->lacks & LACKS_RECORDS) {
		s->flags &= ~QUELL_S_TELEMETRY;
		memset(&s->telemetry, 0, sizeof(s->telemetry));
	}
	if (f->lacks & LACKS_MARKS) {
		s->flags &= ~QUELL_S_ECN;
		s->marked_bytes = 0;
	}
	if (f->lacks & LACKS_RTT)
		s->rtt_ns = 0;
}

static void call(const struct quell_core *core, enum event event, struct quell_event *ev)
{
	switch (event) {
	case EVENT_ACK:
		return core->on_ack(ev);
	case EVENT_LOSS:
		return core->on_loss(ev);
	case EVENT_RTO:
		return core->on_rto(ev);
	case EVENT_UNDO:
		return core->on_undo(ev);
	case EVENT_INIT:
		return core->init(ev);
	default:
		return core->on_idle_restart(ev);
	}
}

/*
 * The decision of @event for a copy of the flow as it was before; @fill is the first content
 * of the decision.
 */
static struct quell_decision twin_decides(struct fuzz_flow *f, enum event event, u64 idle_ns,
					  int fill)
{
	struct quell_event ev = f->ev;

	memcpy(f->twin, f->before, f->core->vars_bytes);
	memcpy(f->twin_stats, f->counted, f->core->counters_bytes);
	ev.vars = f->twin;
	ev.stats = f->twin_stats;
	ev.sample.idle_ns = idle_ns;
	memset(&ev.decision, fill, sizeof(ev.decision));
	call(f->core, event, &ev);
	return ev.decision;
}

static bool is_same(const struct quell_decision *a, const struct quell_decision *b)
{
	return a->window_q16 == b->window_q16 && a->pacing_bytes_ps == b->pacing_bytes_ps &&
	       a->target_ns == b->target_ns && a->change_path == b->change_path;
}

static void every_inputs(struct fuzz_flow *f, enum event event, const struct quell_sample *given)
{
	struct quell_decision again = twin_decides(f, event, f->ev.sample.idle_ns, 1);
	const struct quell_core *core = f->core;
	u32 i;

	require(is_same(&again, &f->ev.decision) && !memcmp(f->twin, f->vars, core->vars_bytes),
		"all is decided, by input and state alone");
	require(!memcmp(f->params, f->params_copy, core->params_bytes) &&
		!memcmp(given, &f->ev.sample, sizeof(*given)), "the input is left alone");
	for (i = 0; i < core->counters_nr; i++)
		require(*(u64 *)((char *)f->stats + core->counters[i].offset) >=
			*(u64 *)((char *)f->counted + core->counters[i].offset),
			"counters never fall");
	if (core->segment_pkts)
		require(core->segment_pkts(f->params, f->ev.sample.mss_bytes) >= 1,
			"a segment to send");
}

/* Some cores learn a new segment size from ACKs alone: both sizes count then. */
static void every_bounds(struct fuzz_flow *f, enum event event)
{
	u64 window_q16 = f->ev.decision.window_q16;
	u64 mss_q16 = (u64)f->ev.sample.mss_bytes << QUELL_Q16_SHIFT;
	u64 most_q16 = param_named(f, "max-window", QUELL_UNIT_BYTES, 1ULL << 30) <<
		       QUELL_Q16_SHIFT;

	if (event == EVENT_ACK || event == EVENT_INIT)
		f->acked_mss_q16 = mss_q16;
	require(window_q16 && f->ev.decision.pacing_bytes_ps, "neither window nor rate is zero");
	if (mss_q16 && f->acked_mss_q16) {
		require(window_q16 <= quell_max_u64(LARGEST_WINDOW_Q16,
						    quell_max_u64(mss_q16, f->acked_mss_q16)) &&
			window_q16 <= quell_max_u64(most_q16,
						    quell_max_u64(mss_q16, f->acked_mss_q16)),
			"a window within its limits");
		require(f->core->flags & QUELL_CORE_FRACTIONAL ||
			window_q16 >= quell_min_u64(mss_q16, f->acked_mss_q16),
			"one segment at least");
	}
	if (f->ev.decision.change_path)
		require(event == EVENT_ACK && f->core->flags & QUELL_CORE_SPRAYS,
			"path is left alone");
}

/* The window of a copy of the flow, of which the losses so far are undone. */
static u64 window_after_undo_q16(struct fuzz_flow *f)
{
	struct quell_event ev = f->ev;

	memcpy(f->twin, f->vars, f->core->vars_bytes);
	ev.vars = f->twin;
	f->core->on_undo(&ev);
	return ev.decision.window_q16;
}

static void every_loss(struct fuzz_flow *f)
{
	struct quell_decision before = twin_decides(f, EVENT_IDLE, 0, 0);

	require(f->ev.decision.window_q16 <= before.window_q16, "loss never raises the window");
	require(f->ev.decision.pacing_bytes_ps <= before.pacing_bytes_ps,
		"loss never raises the rate");
	f->ev.before = f->before;
	f->core->undo_note(&f->ev);
	require(f->undo.valid, "a loss can be undone");
	/* With other limits than at the last event a window may also be larger. */
	require(window_after_undo_q16(f) >= quell_min_u64(before.window_q16,
							  step_now->decided->window_q16),
		"an undone loss takes no window");
}

static void every_undo(struct fuzz_flow *f)
{
	struct quell_decision before = twin_decides(f, EVENT_IDLE, 0, 0);

	require(f->ev.decision.window_q16 >= before.window_q16, "an undo never lowers the window");
	memset(&f->undo, 0, sizeof(f->undo));
}

static void every_idle(struct fuzz_flow *f)
{
	u64 restart_ns = param_named(f, "restart-idle", QUELL_UNIT_NS, 0);
	struct quell_decision before;

	if (restart_ns && f->ev.sample.idle_ns >= restart_ns)
		return;
	before = twin_decides(f, EVENT_IDLE, 0, 0);
	require(is_same(&before, &f->ev.decision) &&
		!memcmp(f->twin, f->vars, f->core->vars_bytes), "too early to restart");
}

static void do_event(struct fuzz_flow *f, enum event event)
{
	struct quell_decision decided = f->ev.decision;
	struct fuzz_step step = {
		.event = event, .ev = &f->ev, .decided = &decided,
	};
	struct quell_sample given = f->ev.sample;

	step_now = &step;
	memcpy(f->before, f->vars, f->core->vars_bytes);
	memcpy(f->counted, f->stats, f->core->counters_bytes);
	memset(&f->ev.decision, 0, sizeof(f->ev.decision));
	call(f->core, event, &f->ev);
	every_inputs(f, event, &given);
	every_bounds(f, event);
	if (event == EVENT_LOSS || event == EVENT_RTO)
		every_loss(f);
	else if (event == EVENT_UNDO)
		every_undo(f);
	else if (event == EVENT_IDLE)
		every_idle(f);
}

static void one_event(struct input *in, struct fuzz_flow *f)
{
	enum event event = take_byte(in) % EVENT_INIT;

	if (event == EVENT_PARAMS) {
		/* They take effect with the next event. */
		take_params(in, f);
		return;
	}
	if (event == EVENT_UNDO && !f->undo.valid)
		return;
	take_input(in, f);
	do_event(f, event);
}

static void *zeroed(size_t bytes)
{
	void *block = calloc(1, bytes);

	if (!block)
		abort();
	return block;
}

static void flow_alloc(struct fuzz_flow *f)
{
	f->params = zeroed(f->core->params_bytes);
	f->params_copy = zeroed(f->core->params_bytes);
	f->vars = zeroed(f->core->vars_bytes);
	f->before = zeroed(f->core->vars_bytes);
	f->twin = zeroed(f->core->vars_bytes);
	f->stats = zeroed(f->core->counters_bytes);
	f->counted = zeroed(f->core->counters_bytes);
	f->twin_stats = zeroed(f->core->counters_bytes);
	f->ev = (struct quell_event) {
		.vars = f->vars, .params = f->params, .stats = f->stats, .undo = &f->undo,
	};
}

static void flow_free(struct fuzz_flow *f)
{
	free(f->params);
	free(f->params_copy);
	free(f->vars);
	free(f->before);
	free(f->twin);
	free(f->stats);
	free(f->counted);
	free(f->twin_stats);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct fuzz_flow f = { .core = &CORE };
	struct input in = { data, size };
	int events;

	flow_alloc(&f);
	quell_core_params_default(f.core, f.params);
	take_params(&in, &f);
	f.lacks = take_byte(&in);
	take_input(&in, &f);
	/* No packet has come yet. */
	f.ev.sample.hops = 0;
	do_event(&f, EVENT_INIT);
	for (events = 0; in.size && events < MOST_EVENTS; events++)
		one_event(&in, &f);
	flow_free(&f);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0 */
/* The algorithm of Documentation/tutorial.md as one object, <quell/core/algorithm.h>. */
#ifndef _QUELL_TUTORIAL_TOY_CORE_H
#define _QUELL_TUTORIAL_TOY_CORE_H

#include <quell/core/algorithm.h>

#include "toy.h"

static const struct quell_param_desc quell_toy_core_params[] = {
	{ .name = "adapt", .unit = QUELL_UNIT_BOOL, .max = 1, .def = 1,
	  .doc = "Fit new flows to their path: start, target, fall-back.",
	  .offset = offsetof(struct quell_toy_params, adapt_bool) },
	{ .name = "target", .unit = QUELL_UNIT_NS, .min = 1000, .max = 1000000000, .def = 50000,
	  .doc = "Round-trip time above which the window shrinks.",
	  .offset = offsetof(struct quell_toy_params, target_ns) },
};

static const struct quell_counter_desc quell_toy_core_counters[] = {
	QUELL_COUNTER(struct quell_toy_stats, "decreases", decreases,
		      "Decreases because of delay."),
};

static inline void quell_toy_core_init(struct quell_event *ev)
{
	quell_toy_init(ev->vars, ev->params, &ev->sample, &ev->decision);
}

static inline void quell_toy_core_on_ack(struct quell_event *ev)
{
	quell_toy_on_ack(ev->vars, ev->params, ev->stats, &ev->sample, &ev->decision);
}

static inline void quell_toy_core_on_loss(struct quell_event *ev)
{
	quell_toy_lose(ev->vars, ev->params, &ev->sample, false, &ev->decision);
}

static inline void quell_toy_core_on_rto(struct quell_event *ev)
{
	quell_toy_lose(ev->vars, ev->params, &ev->sample, true, &ev->decision);
}

/* It starts again with the window that it had. */
static inline void quell_toy_core_on_idle_restart(struct quell_event *ev)
{
	quell_toy_decide(ev->vars, ev->params, ev->sample.mss_bytes, &ev->decision);
}

static inline void quell_toy_core_undo_note(struct quell_event *ev)
{
	const struct quell_toy_vars *before = ev->before, *after = ev->vars;

	quell_undo_record(ev->undo, false);
	quell_undo_note(&ev->undo->part[0], before->window_q16, after->window_q16);
}

static inline void quell_toy_core_on_undo(struct quell_event *ev)
{
	struct quell_toy_vars *v = ev->vars;

	v->window_q16 = quell_undo_given_back(&ev->undo->part[0], v->window_q16);
	quell_toy_decide(v, ev->params, ev->sample.mss_bytes, &ev->decision);
}

static const struct quell_core quell_toy_core = {
	.name			= "toy",
	.module			= "tcp_toy",
	.needs			= { .signal = QUELL_ADAPT_DELAY, .longest_ns = 300000,
				    .slowest_bytes_ps = 12500000 },
	QUELL_CORE_MEMBERS(toy, toy),
};

#endif /* _QUELL_TUTORIAL_TOY_CORE_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* Dart as a struct quell_core; the sender is in dart/react.h, the receiver in set.h, machine.h. */
#ifndef _QUELL_CORE_DART_CORE_H
#define _QUELL_CORE_DART_CORE_H

#include <quell/core/algorithm.h>
#include <quell/core/dart/react.h>
#include <quell/core/dcqcn/core.h>

#define DART_PARAM(name_, unit_, field_, range_, doc_) \
	QUELL_PARAM(struct quell_dart_params, name_, unit_, field_, DART_##range_, doc_)

static const struct quell_param_desc quell_dart_core_params[] = {
#include <quell/core/dcqcn/param_rows.h>
	DART_PARAM("slack", NS, slack_ns, SLACK_NS,
		   "Queueing delay the window leaves room for at n > 1; 0: base round trip / 4."),
	DART_PARAM("period", NS, period_ns, PERIOD_NS,
		   "Receiver: time between two checks of the symptoms of congestion."),
	DART_PARAM("clear", NS, clear_ns, CLEAR_NS,
		   "Receiver: time without marks that ends congestion."),
	DART_PARAM("full", Q16, full_q16, FULL_Q16,
		   "Receiver: part of the line rate that counts as line rate."),
	DART_PARAM("periods", NONE, periods, PERIODS,
		   "Receiver: marked periods in a row that change the state."),
	DART_PARAM("idle", NS, idle_ns, IDLE_NS,
		   "Receiver: time without data after which a sender is dead."),
	DART_PARAM("plain-idle", NS, plain_idle_ns, PLAIN_IDLE_NS,
		   "Receiver: the same for senders without the Quell option."),
	DART_PARAM("lookahead", NS, lookahead_ns, LOOKAHEAD_NS,
		   "Receiver: longest time of a look-ahead group; 0 disables look-ahead."),
};

#define DART_COUNTER(name_, field_, doc_) \
	QUELL_COUNTER(struct quell_dart_stats, name_, field_, doc_)

static const struct quell_counter_desc quell_dart_core_counters[] = {
#include <quell/core/dcqcn/counter_rows.h>
	DART_COUNTER("apportioned", apportioned, "Decisions that the receiver's n limited."),
	DART_COUNTER("fallen-back", fallen_back, "Decisions that DCQCN limited, below the share."),
	DART_COUNTER("unstated", unstated, "Acknowledgments of a receiver that states no n."),
};

/* The events are DCQCN's, at the line's rate; then the share limits their decision. */
#define QUELL_DART_CORE_EVENT(event_)						\
static inline void quell_dart_core_##event_(struct quell_event *ev)		\
{										\
	ev->sample.link_bytes_ps = quell_dart_line_bytes_ps(&ev->sample);	\
	quell_dcqcn_core_##event_(ev);						\
	quell_dart_apportion(ev->vars, ev->params, ev->stats, &ev->sample,	\
			     &ev->decision);					\
}

QUELL_DART_CORE_EVENT(on_ack)
QUELL_DART_CORE_EVENT(on_loss)
QUELL_DART_CORE_EVENT(on_rto)
QUELL_DART_CORE_EVENT(on_undo)

static inline void quell_dart_core_undo_note(struct quell_event *ev)
{
	quell_dcqcn_core_undo_note(ev);
}

/* Section III-A: all flows begin at the full line rate. */
static inline void quell_dart_core_init(struct quell_event *ev)
{
	ev->sample.link_bytes_ps = quell_dart_line_bytes_ps(&ev->sample);
	quell_dcqcn_core_init(ev);
	quell_dart_start(ev->vars, ev->params, &ev->sample, &ev->decision);
}

static inline void quell_dart_core_on_idle_restart(struct quell_event *ev)
{
	const struct quell_dart_params *p = ev->params;

	ev->sample.link_bytes_ps = quell_dart_line_bytes_ps(&ev->sample);
	quell_dcqcn_core_on_idle_restart(ev);
	if (quell_is_restart(p->dcqcn.restart_idle_ns, ev->sample.idle_ns))
		quell_dart_start(ev->vars, p, &ev->sample, &ev->decision);
	else
		quell_dart_apportion(ev->vars, p, ev->stats, &ev->sample, &ev->decision);
}

static const struct quell_core quell_dart_core = {
	.name			= "dart",
	.module			= "tcp_dart",
	.flags			= QUELL_CORE_ECN | QUELL_CORE_SENDERS,
	.needs			= { .signal = QUELL_ADAPT_MARKS,
				    .longest_ns = QUELL_DCQCN_LONGEST_NS,
				    .slowest_bytes_ps = QUELL_DCQCN_SLOWEST_BYTES_PS },
	QUELL_CORE_MEMBERS(dart, dart),
};

#endif /* _QUELL_CORE_DART_CORE_H */

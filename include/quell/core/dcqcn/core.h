/* SPDX-License-Identifier: GPL-2.0 */
/*
 * DCQCN as one object, struct quell_core: its parameters, counters and events, for all
 * that goes through algorithms: modules, tests, benchmarks, the laboratory.  The algorithm
 * is described in <quell/core/dcqcn/react.h>.
 */
#ifndef _QUELL_CORE_DCQCN_CORE_H
#define _QUELL_CORE_DCQCN_CORE_H

#include <quell/core/algorithm.h>
#include <quell/core/dcqcn/react.h>

#define DCQCN_PARAM(name_, unit_, field_, range_, doc_) \
	QUELL_PARAM(struct quell_dcqcn_params, name_, unit_, field_, DCQCN_##range_, doc_)

/* The rows of DCQCN's table, for algorithms whose block begins with DCQCN's. */
#define QUELL_DCQCN_PARAM_ROWS \
	DCQCN_PARAM("adapt", BOOL, adapt_bool, ADAPT_BOOL, \
		    "Fit new flows to their path: start, target, fall-back."), \
	DCQCN_PARAM("g", Q16, g_q16, G_Q16, \
		    "Weight of the newest period in alpha."), \
	DCQCN_PARAM("notify-interval", NS, notify_interval_ns, NOTIFY_INTERVAL_NS, \
		    "Marks within this time after a notification are part of it."), \
	DCQCN_PARAM("alpha-timer", NS, alpha_timer_ns, ALPHA_TIMER_NS, \
		    "Alpha decays once per such time without a notification."), \
	DCQCN_PARAM("timer", NS, timer_ns, TIMER_NS, \
		    "The rate increases once per such time."), \
	DCQCN_PARAM("byte-counter", BYTES, byte_counter_bytes, BYTE_COUNTER_BYTES, \
		    "The rate also increases once per so many bytes."), \
	DCQCN_PARAM("fast-recovery", NONE, fast_recovery_steps, FAST_RECOVERY_STEPS, \
		    "Increases of either kind at which the target begins to grow."), \
	DCQCN_PARAM("ai", BYTES_PS, ai_bytes_ps, AI_BYTES_PS, \
		    "Growth of the target in an additive increase."), \
	DCQCN_PARAM("hai", BYTES_PS, hai_bytes_ps, HAI_BYTES_PS, \
		    "Growth of the target in a hyper increase."), \
	DCQCN_PARAM("min-rate", BYTES_PS, min_rate_bytes_ps, MIN_RATE_BYTES_PS, \
		    "Smallest rate."), \
	DCQCN_PARAM("queue-bound", NS, queue_bound_ns, QUEUE_BOUND_NS, \
		    "Queueing delay the window leaves room for."), \
	DCQCN_PARAM("max-window", BYTES, max_window_bytes, MAX_WINDOW_BYTES, \
		    "Largest window."), \
	DCQCN_PARAM("restart-idle", NS, restart_idle_ns, RESTART_IDLE_NS, \
		    "Idle time after which a flow starts anew; 0 is never.")

static const struct quell_param_desc quell_dcqcn_core_params[] = {
	QUELL_DCQCN_PARAM_ROWS,
};

#define DCQCN_COUNTER(name_, field_, doc_) \
	QUELL_COUNTER(struct quell_dcqcn_stats, name_, field_, doc_)

/* The rows of DCQCN's table, for algorithms whose block begins with DCQCN's. */
#define QUELL_DCQCN_COUNTER_ROWS \
	DCQCN_COUNTER("marked-bytes", marked_bytes, \
		      "Bytes acknowledged as marked CE."), \
	DCQCN_COUNTER("notifications", notifications, \
		      "Rate cuts because of marks."), \
	DCQCN_COUNTER("held", held, \
		      "ACKs with marks that were part of the last notification."), \
	DCQCN_COUNTER("fast-recoveries", fast_recoveries, \
		      "Increases toward the target."), \
	DCQCN_COUNTER("additive-increases", additive_increases, \
		      "Increases beyond the target by ai."), \
	DCQCN_COUNTER("hyper-increases", hyper_increases, \
		      "Increases beyond the target by hai."), \
	DCQCN_COUNTER("forgone", forgone, \
		      "Periods of the timer not made up for after a silence."), \
	DCQCN_COUNTER("losses", losses, \
		      "Cuts because of a fast retransmit."), \
	DCQCN_COUNTER("rtos", rtos, \
		      "Retransmission timeouts."), \
	DCQCN_COUNTER("restarts", restarts, \
		      "Starts at the link's rate after an idle time.")

static const struct quell_counter_desc quell_dcqcn_core_counters[] = {
	QUELL_DCQCN_COUNTER_ROWS,
};

QUELL_CORE_EVENTS(dcqcn, dcqcn)

static const struct quell_core quell_dcqcn_core = {
	.name			= "dcqcn",
	.module			= "tcp_dcqcn",
	.flags			= QUELL_CORE_ECN,
	.needs			= { .signal = QUELL_ADAPT_MARKS },
	.vars_bytes		= sizeof(struct quell_dcqcn_vars),
	.params			= quell_dcqcn_core_params,
	.params_nr		= QUELL_ARRAY_NR(quell_dcqcn_core_params),
	.params_bytes		= sizeof(struct quell_dcqcn_params),
	.counters		= quell_dcqcn_core_counters,
	.counters_nr		= QUELL_ARRAY_NR(quell_dcqcn_core_counters),
	.counters_bytes		= sizeof(struct quell_dcqcn_stats),
	.init			= quell_dcqcn_core_init,
	.on_ack			= QUELL_CORE_ON_ACK(quell_dcqcn_core_on_ack),
	.on_loss		= quell_dcqcn_core_on_loss,
	.on_rto			= quell_dcqcn_core_on_rto,
	.on_idle_restart	= quell_dcqcn_core_on_idle_restart,
	.undo_note		= quell_dcqcn_core_undo_note,
	.on_undo		= quell_dcqcn_core_on_undo,
};

#endif /* _QUELL_CORE_DCQCN_CORE_H */

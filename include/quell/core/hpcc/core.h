/* SPDX-License-Identifier: GPL-2.0 */
/* HPCC as a struct quell_core; the algorithm is in <quell/core/hpcc/react.h>. */
#ifndef _QUELL_CORE_HPCC_CORE_H
#define _QUELL_CORE_HPCC_CORE_H

#include <quell/core/algorithm.h>
#include <quell/core/hpcc/react.h>

#define HPCC_PARAM(name_, unit_, field_, range_, doc_) \
	QUELL_PARAM(struct quell_hpcc_params, name_, unit_, field_, HPCC_##range_, doc_)

static const struct quell_param_desc quell_hpcc_core_params[] = {
	HPCC_PARAM("adapt", BOOL, adapt_bool, ADAPT_BOOL,
		   "Fit new flows to their path: start, target, fall-back."),
	HPCC_PARAM("eta", Q16, eta_q16, ETA_Q16,
		   "Utilisation of the most loaded link to steer for."),
	HPCC_PARAM("max-stage", NONE, max_stage_steps, MAX_STAGE_STEPS,
		   "Round trips of additive increase before a multiplicative one."),
	HPCC_PARAM("ai", BYTES_PS, ai_bytes_ps, AI_BYTES_PS,
		   "Additive increase per update, as a rate."),
	HPCC_PARAM("base-rtt", NS, base_rtt_ns, BASE_RTT_NS,
		   "Base round-trip time; 0 is the smallest the flow saw."),
	HPCC_PARAM("min-rate", BYTES_PS, min_rate_bytes_ps, MIN_RATE_BYTES_PS, "Smallest rate."),
	HPCC_PARAM("max-window", BYTES, max_window_bytes, MAX_WINDOW_BYTES, "Largest window."),
	HPCC_PARAM("init-window", BYTES, init_window_bytes, INIT_WINDOW_BYTES,
		   "First window of a message; 0 is one bandwidth-delay product."),
	HPCC_PARAM("restart-idle", NS, restart_idle_ns, RESTART_IDLE_NS,
		   "Idle time after which a flow starts anew; 0 is never."),
	HPCC_PARAM("retx-reset", NONE, retx_reset_rtos, RETX_RESET_RTOS,
		   "Timeouts in a row that put the window to its smallest."),
	HPCC_PARAM("probabilistic", BOOL, probabilistic, PROBABILISTIC_BOOL,
		   "Chance may leave out a decrease, the likelier the smaller the reference."),
};

#define HPCC_COUNTER(name_, field_, doc_) \
	QUELL_COUNTER(struct quell_hpcc_stats, name_, field_, doc_)

static const struct quell_counter_desc quell_hpcc_core_counters[] = {
	HPCC_COUNTER("measured", measured, "ACKs with a record that gave a utilisation."),
	HPCC_COUNTER("stored", stored,
		     "ACKs with a record that was only stored: first, other hop, too late."),
	HPCC_COUNTER("repeated", repeated, "ACKs with a record not newer than the last."),
	HPCC_COUNTER("no-record", no_record,
		     "ACKs without a record, or with an empty one."),
	HPCC_COUNTER("lost", lost, "Times a flow was left without records."),
	HPCC_COUNTER("increases", increases, "Updates that raised the reference."),
	HPCC_COUNTER("decreases", decreases, "Updates that lowered the reference."),
	HPCC_COUNTER("blind", blind, "Round trips without a measurement."),
	HPCC_COUNTER("app-limited", app_limited,
		     "Round trips that did not grow the reference of a flow short of data."),
	HPCC_COUNTER("disregarded", disregarded,
		     "Updates that chance kept from lowering the reference."),
	HPCC_COUNTER("fast-retx", fast_retx, "Decreases because of a fast retransmit."),
	HPCC_COUNTER("rtos", rtos, "Retransmission timeouts."),
	HPCC_COUNTER("rto-resets", rto_resets, "Timeouts that put the window to its smallest."),
	HPCC_COUNTER("restarts", restarts, "Starts at the first window after an idle time."),
	HPCC_COUNTER("restarts-refused", restarts_refused,
		     "Restarts kept from raising the window by a recent loss or no records."),
};

QUELL_CORE_EVENTS(hpcc, hpcc)

static const struct quell_core quell_hpcc_core = {
	.name			= "hpcc",
	.module			= "tcp_hpcc",
	.flags			= QUELL_CORE_FRACTIONAL | QUELL_CORE_TELEMETRY,
	.needs			= { .signal = QUELL_ADAPT_RECORDS },
	QUELL_CORE_MEMBERS(hpcc, hpcc),
};

#endif /* _QUELL_CORE_HPCC_CORE_H */

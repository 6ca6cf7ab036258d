/* SPDX-License-Identifier: GPL-2.0 */
/* HPCC with Variable AI and Sampling Frequency as a struct quell_core; see hpcc_vaisf/react.h. */
#ifndef _QUELL_CORE_HPCC_VAISF_CORE_H
#define _QUELL_CORE_HPCC_VAISF_CORE_H

#include <quell/core/algorithm.h>
#include <quell/core/hpcc_vaisf/react.h>

#define HPCC_VAISF_PARAM(name_, unit_, field_, range_, doc_) \
	QUELL_PARAM(struct quell_hpcc_vaisf_params, name_, unit_, field_, range_, doc_)

static const struct quell_param_desc quell_hpcc_vaisf_core_params[] = {
	HPCC_VAISF_PARAM("adapt", BOOL, hpcc.adapt_bool, HPCC_ADAPT_BOOL,
			 "Fit new flows to their path: start, target, fall-back."),
	HPCC_VAISF_PARAM("eta", Q16, hpcc.eta_q16, HPCC_ETA_Q16,
			 "Utilisation of the most loaded link to steer for."),
	HPCC_VAISF_PARAM("max-stage", NONE, hpcc.max_stage_steps, HPCC_MAX_STAGE_STEPS,
			 "Updates of additive increase before a multiplicative one."),
	HPCC_VAISF_PARAM("ai", BYTES_PS, hpcc.ai_bytes_ps, HPCC_AI_BYTES_PS,
			 "Additive increase of one token, as a rate."),
	HPCC_VAISF_PARAM("base-rtt", NS, hpcc.base_rtt_ns, HPCC_BASE_RTT_NS,
			 "Base round-trip time; 0 is the smallest the flow saw."),
	HPCC_VAISF_PARAM("min-rate", BYTES_PS, hpcc.min_rate_bytes_ps, HPCC_MIN_RATE_BYTES_PS,
			 "Smallest rate."),
	HPCC_VAISF_PARAM("max-window", BYTES, hpcc.max_window_bytes, HPCC_MAX_WINDOW_BYTES,
			 "Largest window."),
	HPCC_VAISF_PARAM("init-window", BYTES, hpcc.init_window_bytes, HPCC_INIT_WINDOW_BYTES,
			 "First window of a message; 0 is one bandwidth-delay product."),
	HPCC_VAISF_PARAM("restart-idle", NS, hpcc.restart_idle_ns, HPCC_RESTART_IDLE_NS,
			 "Idle time after which a flow starts anew; 0 is never."),
	HPCC_VAISF_PARAM("retx-reset", NONE, hpcc.retx_reset_rtos, HPCC_RETX_RESET_RTOS,
			 "Timeouts in a row that put the window to its smallest."),
	HPCC_VAISF_PARAM("token-thresh", BYTES, token_thresh_bytes, HPCC_VAISF_TOKEN_THRESH_BYTES,
			 "Queue above which tokens are earned."),
	HPCC_VAISF_PARAM("token", BYTES, token_bytes, HPCC_VAISF_TOKEN_BYTES,
			 "Queue that earns one token."),
	HPCC_VAISF_PARAM("bank-cap", NONE, vaisf.bank_cap_tokens, VAISF_BANK_CAP_TOKENS,
			 "Most tokens a flow can hold; 0 switches Variable AI off."),
	HPCC_VAISF_PARAM("ai-cap", NONE, vaisf.ai_cap_tokens, VAISF_AI_CAP_TOKENS,
			 "Most tokens one update of the reference uses."),
	HPCC_VAISF_PARAM("dampener", Q16, vaisf.dampener_q16, VAISF_DAMPENER_Q16,
			 "Dampener that halves the additive increase."),
	HPCC_VAISF_PARAM("sampling", PKTS, vaisf.sampling_pkts, VAISF_SAMPLING_PKTS,
			 "Acknowledged packets between decreases of the reference."),
	HPCC_VAISF_PARAM("sampling-rtt", BOOL, vaisf.sampling_rtt, VAISF_SAMPLING_RTT_BOOL,
			 "A finished round trip allows a decrease, too: whichever is first."),
};

#define HPCC_VAISF_COUNTER(name_, field_, doc_) \
	QUELL_COUNTER(struct quell_hpcc_vaisf_stats, name_, field_, doc_)

static const struct quell_counter_desc quell_hpcc_vaisf_core_counters[] = {
	HPCC_VAISF_COUNTER("measured", hpcc.measured,
			   "ACKs with a record that gave a utilisation."),
	HPCC_VAISF_COUNTER("stored", hpcc.stored,
			   "ACKs with a record that was only stored: first, other hop, too late."),
	HPCC_VAISF_COUNTER("repeated", hpcc.repeated,
			   "ACKs with a record not newer than the last."),
	HPCC_VAISF_COUNTER("no-record", hpcc.no_record,
			   "ACKs without a record, or with an empty one."),
	HPCC_VAISF_COUNTER("lost", hpcc.lost, "Times a flow was left without records."),
	HPCC_VAISF_COUNTER("increases", hpcc.increases, "Updates that raised the reference."),
	HPCC_VAISF_COUNTER("decreases", hpcc.decreases, "Updates that lowered the reference."),
	HPCC_VAISF_COUNTER("held", held, "ACKs that lowered the window, not the reference."),
	HPCC_VAISF_COUNTER("blind", hpcc.blind, "Round trips without a measurement."),
	HPCC_VAISF_COUNTER("app-limited", hpcc.app_limited,
			   "Round trips that did not grow the reference of a flow short of data."),
	HPCC_VAISF_COUNTER("fast-retx", hpcc.fast_retx, "Decreases because of a fast retransmit."),
	HPCC_VAISF_COUNTER("rtos", hpcc.rtos, "Retransmission timeouts."),
	HPCC_VAISF_COUNTER("rto-resets", hpcc.rto_resets,
			   "Timeouts that put the window to its smallest."),
	HPCC_VAISF_COUNTER("restarts", hpcc.restarts,
			   "Starts at the first window after an idle time."),
	HPCC_VAISF_COUNTER("restarts-refused", hpcc.restarts_refused,
			   "Restarts kept from raising the window by a recent loss or no records."),
	HPCC_VAISF_COUNTER("rounds", rounds, "Round trips finished."),
	HPCC_VAISF_COUNTER("earned", earned, "Round trips that earned tokens."),
	HPCC_VAISF_COUNTER("spent", spent, "Tokens spent."),
};

QUELL_CORE_EVENTS(hpcc_vaisf, hpcc_vaisf)

static const struct quell_core quell_hpcc_vaisf_core = {
	.name			= "hpcc_vaisf",
	.module			= "tcp_hpcc",
	.flags			= QUELL_CORE_FRACTIONAL | QUELL_CORE_TELEMETRY,
	.needs			= { .signal = QUELL_ADAPT_RECORDS },
	QUELL_CORE_MEMBERS(hpcc_vaisf, hpcc_vaisf),
};

#endif /* _QUELL_CORE_HPCC_VAISF_CORE_H */

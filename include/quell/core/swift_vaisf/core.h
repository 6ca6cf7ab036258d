/* SPDX-License-Identifier: GPL-2.0 */
/* Swift with Variable AI and Sampling Frequency as a struct quell_core; see its react.h. */
#ifndef _QUELL_CORE_SWIFT_VAISF_CORE_H
#define _QUELL_CORE_SWIFT_VAISF_CORE_H

#include <quell/core/algorithm.h>
#include <quell/core/swift_vaisf/react.h>

/* Longest base round-trip time for which delay is used: longer than any in a datacenter. */
#define QUELL_SWIFT_VAISF_LONGEST_NS		300000ULL
/* 2 Gbit/s.  With a hundred tokens, the default cap, the increase is 5 Gbit/s. */
#define QUELL_SWIFT_VAISF_SLOWEST_BYTES_PS	250000000ULL

#define SWIFT_VAISF_PARAM(name_, unit_, field_, range_, doc_) \
	QUELL_PARAM(struct quell_swift_vaisf_params, name_, unit_, field_, range_, doc_)

static const struct quell_param_desc quell_swift_vaisf_core_params[] = {
	SWIFT_VAISF_PARAM("adapt", BOOL, swift.adapt_bool, SWIFT_ADAPT_BOOL,
			  "Fit new flows to their path: start, target, fall-back."),
	SWIFT_VAISF_PARAM("base-target", NS, swift.base_target_ns, SWIFT_BASE_TARGET_NS,
			  "Target delay of a path without switches; 0: from the path."),
	SWIFT_VAISF_PARAM("hop-scale", NS, swift.hop_scale_ns, SWIFT_HOP_SCALE_NS,
			  "Added to the target per switch on the path."),
	SWIFT_VAISF_PARAM("ai", BYTES_PS, swift.ai_bytes_ps, SWIFT_AI_BYTES_PS,
			  "Additive increase per round trip, as a rate."),
	SWIFT_VAISF_PARAM("beta", Q16, swift.beta_q16, SWIFT_BETA_Q16,
			  "Weight of the excess delay in a decrease."),
	SWIFT_VAISF_PARAM("max-mdf", Q16, swift.max_mdf_q16, SWIFT_MAX_MDF_Q16,
			  "Largest part of the reference one decrease takes."),
	SWIFT_VAISF_PARAM("min-window", PKTS_Q16, swift.min_window_pkts_q16,
			  SWIFT_MIN_WINDOW_PKTS_Q16, "Smallest window."),
	SWIFT_VAISF_PARAM("max-window", BYTES, swift.max_window_bytes, SWIFT_MAX_WINDOW_BYTES,
			  "Largest window."),
	SWIFT_VAISF_PARAM("init-window", BYTES, swift.init_window_bytes, SWIFT_INIT_WINDOW_BYTES,
			  "First window of a message; 0 is one bandwidth-delay product."),
	SWIFT_VAISF_PARAM("restart-idle", NS, swift.restart_idle_ns, SWIFT_RESTART_IDLE_NS,
			  "Idle time after which a flow starts anew; 0 is never."),
	SWIFT_VAISF_PARAM("retx-reset", NONE, swift.retx_reset_rtos, SWIFT_RETX_RESET_RTOS,
			  "Timeouts in a row that put the window to its smallest."),
	SWIFT_VAISF_PARAM("token-thresh", NS, token_thresh_ns, SWIFT_VAISF_TOKEN_THRESH_NS,
			  "Delay beyond the target above which tokens are earned."),
	SWIFT_VAISF_PARAM("token", NS, token_ns, SWIFT_VAISF_TOKEN_NS,
			  "Queueing delay that earns one token."),
	SWIFT_VAISF_PARAM("bank-cap", NONE, vaisf.bank_cap_tokens, VAISF_BANK_CAP_TOKENS,
			  "Most tokens a flow can hold; 0 switches Variable AI off."),
	SWIFT_VAISF_PARAM("ai-cap", NONE, vaisf.ai_cap_tokens, VAISF_AI_CAP_TOKENS,
			  "Most tokens one update of the reference uses."),
	SWIFT_VAISF_PARAM("dampener", Q16, vaisf.dampener_q16, VAISF_DAMPENER_Q16,
			  "Dampener that halves the additive increase."),
	SWIFT_VAISF_PARAM("sampling", PKTS, vaisf.sampling_pkts, VAISF_SAMPLING_PKTS,
			  "Acknowledged packets between decreases of the reference."),
	SWIFT_VAISF_PARAM("sampling-rtt", BOOL, vaisf.sampling_rtt, VAISF_SAMPLING_RTT_BOOL,
			  "A finished round trip allows a decrease, too: whichever is first."),
};

#define SWIFT_VAISF_COUNTER(name_, field_, doc_) \
	QUELL_COUNTER(struct quell_swift_vaisf_stats, name_, field_, doc_)

static const struct quell_counter_desc quell_swift_vaisf_core_counters[] = {
	SWIFT_VAISF_COUNTER("increases", swift.increases, "Increases of the reference."),
	SWIFT_VAISF_COUNTER("decreases", swift.decreases,
			    "Decreases of the reference because of delay."),
	SWIFT_VAISF_COUNTER("held", swift.held, "ACKs that moved the window, not the reference."),
	SWIFT_VAISF_COUNTER("no-rtt", swift.no_rtt, "ACKs without a round-trip time."),
	SWIFT_VAISF_COUNTER("app-limited", swift.app_limited,
			    "Round trips that did not grow the reference of a flow short of data."),
	SWIFT_VAISF_COUNTER("fast-retx", swift.fast_retx,
			    "Decreases because of a fast retransmit."),
	SWIFT_VAISF_COUNTER("rtos", swift.rtos, "Retransmission timeouts."),
	SWIFT_VAISF_COUNTER("rto-resets", swift.rto_resets,
			    "Timeouts that put the window to its smallest."),
	SWIFT_VAISF_COUNTER("restarts", swift.restarts,
			    "Starts at the first window after an idle time."),
	SWIFT_VAISF_COUNTER("restarts-refused", swift.restarts_refused,
			    "Restarts that kept the window: recent loss or no delay signal."),
	SWIFT_VAISF_COUNTER("rounds", rounds, "Round trips finished."),
	SWIFT_VAISF_COUNTER("earned", earned, "Round trips that earned tokens."),
	SWIFT_VAISF_COUNTER("spent", spent, "Tokens spent."),
};

QUELL_CORE_EVENTS(swift_vaisf, swift_vaisf)

static inline void quell_swift_vaisf_core_derive(void *params)
{
	quell_swift_vaisf_params_derive(params);
}

static const struct quell_core quell_swift_vaisf_core = {
	.name			= "swift_vaisf",
	.module			= "tcp_swift",
	.flags			= QUELL_CORE_FRACTIONAL,
	.needs			= { .signal = QUELL_ADAPT_DELAY,
				    .longest_ns = QUELL_SWIFT_VAISF_LONGEST_NS,
				    .slowest_bytes_ps = QUELL_SWIFT_VAISF_SLOWEST_BYTES_PS },
	QUELL_CORE_MEMBERS(swift_vaisf, swift_vaisf),
	.params_derive		= quell_swift_vaisf_core_derive,
};

#endif /* _QUELL_CORE_SWIFT_VAISF_CORE_H */

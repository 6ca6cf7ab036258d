/* SPDX-License-Identifier: GPL-2.0 */
/* Swift as a struct quell_core; the algorithm is in <quell/core/swift/split.h>. */
#ifndef _QUELL_CORE_SWIFT_CORE_H
#define _QUELL_CORE_SWIFT_CORE_H

#include <quell/core/algorithm.h>
#include <quell/core/swift/split.h>

/* Longest base round-trip time for which delay is used: longer than any in a datacenter. */
#define QUELL_SWIFT_LONGEST_NS		300000ULL
/*
 * Twice the default additive increase.  If the flow's share of the path is smaller, the
 * increase of one round trip exceeds half of that share's bandwidth-delay product.
 */
#define QUELL_SWIFT_SLOWEST_BYTES_PS	12500000ULL

#define SWIFT_PARAM(name_, unit_, field_, range_, doc_) \
	QUELL_PARAM(struct quell_swift_params, name_, unit_, field_, SWIFT_##range_, doc_)

static const struct quell_param_desc quell_swift_core_params[] = {
	SWIFT_PARAM("adapt", BOOL, adapt_bool, ADAPT_BOOL,
		    "Fit new flows to their path: start, target, fall-back."),
	SWIFT_PARAM("base-target", NS, base_target_ns, BASE_TARGET_NS,
		    "Target delay of a path without switches; 0: from the path."),
	SWIFT_PARAM("hop-scale", NS, hop_scale_ns, HOP_SCALE_NS,
		    "Added to the target per switch on the path."),
	SWIFT_PARAM("fs-range", NS, fs_range_ns, FS_RANGE_NS,
		    "Most that flow-based scaling adds to the target; 0 is off."),
	SWIFT_PARAM("fs-min", PKTS_Q16, fs_min_pkts_q16, FS_MIN_PKTS_Q16,
		    "Window at and below which all of fs-range is added."),
	SWIFT_PARAM("fs-max", PKTS_Q16, fs_max_pkts_q16, FS_MAX_PKTS_Q16,
		    "Window at and above which fs-range is not added."),
	SWIFT_PARAM("host-target", NS, host_target_ns, HOST_TARGET_NS,
		    "Target for the remote host's delay; 0 leaves it in the one delay."),
	SWIFT_PARAM("ai", BYTES_PS, ai_bytes_ps, AI_BYTES_PS,
		    "Additive increase per round trip, as a rate."),
	SWIFT_PARAM("beta", Q16, beta_q16, BETA_Q16, "Weight of the excess delay in a decrease."),
	SWIFT_PARAM("max-mdf", Q16, max_mdf_q16, MAX_MDF_Q16,
		    "Largest part of the window one decrease takes."),
	SWIFT_PARAM("min-window", PKTS_Q16, min_window_pkts_q16, MIN_WINDOW_PKTS_Q16,
		    "Smallest window."),
	SWIFT_PARAM("max-window", BYTES, max_window_bytes, MAX_WINDOW_BYTES, "Largest window."),
	SWIFT_PARAM("init-window", BYTES, init_window_bytes, INIT_WINDOW_BYTES,
		    "First window of a message; 0 is one bandwidth-delay product."),
	SWIFT_PARAM("restart-idle", NS, restart_idle_ns, RESTART_IDLE_NS,
		    "Idle time after which a flow starts anew; 0 is never."),
	SWIFT_PARAM("retx-reset", NONE, retx_reset_rtos, RETX_RESET_RTOS,
		    "Timeouts in a row that put the window to its smallest."),
	SWIFT_PARAM("probabilistic", BOOL, probabilistic, PROBABILISTIC_BOOL,
		    "Chance may leave out a decrease, the likelier the smaller the window."),
};

#define SWIFT_COUNTER(name_, field_, doc_) \
	QUELL_COUNTER(struct quell_swift_split_stats, name_, field_, doc_)

static const struct quell_counter_desc quell_swift_core_counters[] = {
	SWIFT_COUNTER("increases", swift.increases, "ACKs that grew the window."),
	SWIFT_COUNTER("decreases", swift.decreases, "Decreases because of delay."),
	SWIFT_COUNTER("held", swift.held,
		      "ACKs above the target within a round trip of a decrease."),
	SWIFT_COUNTER("disregarded", swift.disregarded,
		      "Decreases because of delay that chance left out."),
	SWIFT_COUNTER("no-rtt", swift.no_rtt, "ACKs without a round-trip time."),
	SWIFT_COUNTER("app-limited", swift.app_limited,
		      "ACKs that did not grow the window of a flow short of data."),
	SWIFT_COUNTER("fast-retx", swift.fast_retx, "Decreases because of a fast retransmit."),
	SWIFT_COUNTER("rtos", swift.rtos, "Retransmission timeouts."),
	SWIFT_COUNTER("rto-resets", swift.rto_resets,
		      "Timeouts that put the window to its smallest."),
	SWIFT_COUNTER("restarts", swift.restarts, "Starts at the first window after an idle time."),
	SWIFT_COUNTER("restarts-refused", swift.restarts_refused,
		      "Restarts that kept the window: recent loss or no delay signal."),
	SWIFT_COUNTER("unused", unused, "ACKs that did not grow a window twice the remote host's."),
	SWIFT_COUNTER("host-decreases", host_decreases,
		      "Decreases because of the remote host's delay."),
	SWIFT_COUNTER("host-held", host_held,
		      "ACKs above host-target within a round trip of a decrease."),
	SWIFT_COUNTER("host-limited", host_limited,
		      "ACKs after which the remote host's window was the smaller one."),
};

QUELL_CORE_EVENTS(swift, swift_split)

static inline void quell_swift_core_derive(void *params)
{
	quell_swift_params_derive(params);
}

static const struct quell_core quell_swift_core = {
	.name			= "swift",
	.module			= "tcp_swift",
	.flags			= QUELL_CORE_FRACTIONAL,
	.needs			= { .signal = QUELL_ADAPT_DELAY,
				    .longest_ns = QUELL_SWIFT_LONGEST_NS,
				    .slowest_bytes_ps = QUELL_SWIFT_SLOWEST_BYTES_PS,
				    .hold_offset = offsetof(struct quell_swift_params,
							    host_target_ns) },
	QUELL_CORE_MEMBERS(swift, swift_split),
	.params_derive		= quell_swift_core_derive,
	.restart_offset		= offsetof(struct quell_swift_params, restart_idle_ns),
};

#endif /* _QUELL_CORE_SWIFT_CORE_H */

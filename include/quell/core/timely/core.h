/* SPDX-License-Identifier: GPL-2.0 */
/* TIMELY as a struct quell_core; the algorithm is in <quell/core/timely/react.h>. */
#ifndef _QUELL_CORE_TIMELY_CORE_H
#define _QUELL_CORE_TIMELY_CORE_H

#include <quell/core/algorithm.h>
#include <quell/core/timely/react.h>

/* The thresholds are absolute: on a longer path the lower one allows little queueing. */
#define QUELL_TIMELY_LONGEST_NS		30000ULL
/* Five hyperactive steps of 10 Mbit/s, twentyfold. */
#define QUELL_TIMELY_SLOWEST_BYTES_PS	125000000ULL

#define TIMELY_PARAM(name_, unit_, field_, range_, doc_) \
	QUELL_PARAM(struct quell_timely_params, name_, unit_, field_, TIMELY_##range_, doc_)

static const struct quell_param_desc quell_timely_core_params[] = {
	TIMELY_PARAM("adapt", BOOL, adapt_bool, ADAPT_BOOL,
		     "Fit new flows to their path: start, target, fall-back."),
	TIMELY_PARAM("t-low", NS, t_low_ns, T_LOW_NS,
		     "Round-trip time below which the rate always grows."),
	TIMELY_PARAM("t-high", NS, t_high_ns, T_HIGH_NS,
		     "Round-trip time above which the rate always shrinks."),
	TIMELY_PARAM("min-rtt", NS, min_rtt_ns, MIN_RTT_NS,
		     "Round-trip time without queues, fixed."),
	TIMELY_PARAM("delta", BYTES_PS, delta_bytes_ps, DELTA_BYTES_PS,
		     "Additive step of the rate."),
	TIMELY_PARAM("alpha", Q16, alpha_q16, ALPHA_Q16,
		     "Weight of the newest difference in the average."),
	TIMELY_PARAM("beta", Q16, beta_q16, BETA_Q16, "Weight of the multiplicative decrease."),
	TIMELY_PARAM("hai", NONE, hai_nr, HAI_NR,
		     "Additive steps taken at once in hyperactive increase."),
	TIMELY_PARAM("hai-after", NONE, hai_after_nr, HAI_AFTER_NR,
		     "Round-trip times in a row that fell, which start it."),
	TIMELY_PARAM("segment", BYTES, segment_bytes, SEGMENT_BYTES,
		     "Payload sent between two pacing delays."),
	TIMELY_PARAM("init-rate", BYTES_PS, init_rate_bytes_ps, INIT_RATE_BYTES_PS,
		     "First rate; 0 shares the link among the host's flows."),
	TIMELY_PARAM("min-rate", BYTES_PS, min_rate_bytes_ps, MIN_RATE_BYTES_PS, "Smallest rate."),
	TIMELY_PARAM("max-rate", BYTES_PS, max_rate_bytes_ps, MAX_RATE_BYTES_PS,
		     "Largest rate; 0 is the link's."),
	TIMELY_PARAM("max-outstanding", BYTES, max_outstanding_bytes, MAX_OUTSTANDING_BYTES,
		     "Limit of outstanding data; 0 is t-high at link rate and two segments."),
	TIMELY_PARAM("restart-idle", NS, restart_idle_ns, RESTART_IDLE_NS,
		     "Idle time after which a flow starts anew; 0 is never."),
	TIMELY_PARAM("patched", BOOL, patched_bool, PATCHED_BOOL,
		     "Patched TIMELY between the thresholds."),
	TIMELY_PARAM("patched-beta", Q16, patched_beta_q16, PATCHED_BETA_Q16,
		     "Its weight of the error."),
	TIMELY_PARAM("patched-ref", NS, patched_ref_ns, PATCHED_REF_NS,
		     "Its reference round-trip time."),
};

#define TIMELY_COUNTER(name_, field_, doc_) \
	QUELL_COUNTER(struct quell_timely_stats, name_, field_, doc_)

static const struct quell_counter_desc quell_timely_core_counters[] = {
	TIMELY_COUNTER("below-low", below_low,
		       "Segments completed with a round-trip time below t-low."),
	TIMELY_COUNTER("above-high", above_high, "Segments completed with one above t-high."),
	TIMELY_COUNTER("gradient-up", gradient_up, "Segments between them, gradient positive."),
	TIMELY_COUNTER("gradient-down", gradient_down,
		       "Segments between them, gradient not positive."),
	TIMELY_COUNTER("hai", hai, "Hyperactive increases."),
	TIMELY_COUNTER("partial", partial, "ACKs for a part of a segment."),
	TIMELY_COUNTER("no-rtt", no_rtt, "ACKs without a round-trip time."),
	TIMELY_COUNTER("app-limited", app_limited,
		       "Increases left out because the application sends too little."),
	TIMELY_COUNTER("fast-retx", fast_retx, "Decreases because of a fast retransmit."),
	TIMELY_COUNTER("rtos", rtos, "Retransmission timeouts."),
	TIMELY_COUNTER("restarts", restarts, "Starts at the first rate after an idle time."),
};

QUELL_CORE_EVENTS(timely, timely)

static inline u32 quell_timely_core_segment_pkts(const void *params, u32 mss_bytes)
{
	return quell_timely_segment_pkts(params, mss_bytes);
}

static const struct quell_core quell_timely_core = {
	.name			= "timely",
	.module			= "tcp_timely",
	.needs			= { .signal = QUELL_ADAPT_DELAY,
				    .longest_ns = QUELL_TIMELY_LONGEST_NS,
				    .slowest_bytes_ps = QUELL_TIMELY_SLOWEST_BYTES_PS },
	QUELL_CORE_MEMBERS(timely, timely),
	.restart_offset		= offsetof(struct quell_timely_params, restart_idle_ns),
	.segment_pkts		= quell_timely_core_segment_pkts,
};

#endif /* _QUELL_CORE_TIMELY_CORE_H */

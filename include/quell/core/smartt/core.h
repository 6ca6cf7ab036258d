/* SPDX-License-Identifier: GPL-2.0 */
/* SMaRTT as a struct quell_core; the algorithm is in <quell/core/smartt/react.h>. */
#ifndef _QUELL_CORE_SMARTT_CORE_H
#define _QUELL_CORE_SMARTT_CORE_H

#include <quell/core/algorithm.h>
#include <quell/core/smartt/react.h>

/*
 * Longest path on which a flow that is fitted to its path uses SMaRTT, that of Swift: of a longer
 * one, few buffers hold the half of a bandwidth-delay product at which marks begin to count.
 */
#define QUELL_SMARTT_LONGEST_NS		300000ULL

#define SMARTT_PARAM(name_, unit_, field_, range_, doc_) \
	QUELL_PARAM(struct quell_smartt_params, name_, unit_, field_, SMARTT_##range_, doc_)

static const struct quell_param_desc quell_smartt_core_params[] = {
	SMARTT_PARAM("adapt", BOOL, adapt_bool, ADAPT_BOOL,
		     "Fit new flows to their path: start, target, fall-back."),
	SMARTT_PARAM("target-rtt", Q16, target_rtt_q16, TARGET_RTT_Q16,
		     "Target round-trip time over the base one."),
	SMARTT_PARAM("target-delay", NS, target_delay_ns, TARGET_DELAY_NS,
		     "Target queueing delay of all paths alike; 0 is by target-rtt."),
	SMARTT_PARAM("scale-bdp", BYTES, scale_bdp_bytes, SCALE_BDP_BYTES,
		     "Bandwidth-delay product at which fi, pi and eta count as given; 0 always."),
	SMARTT_PARAM("fi", PKTS_Q16, fi_pkts_q16, FI_PKTS_Q16, "Fair increase per round trip."),
	SMARTT_PARAM("pi", PKTS_Q16, pi_pkts_q16, PI_PKTS_Q16,
		     "Most that proportional increase adds per round trip."),
	SMARTT_PARAM("pi-fair", BOOL, pi_fair, PI_FAIR_BOOL,
		     "Whether a fair increase follows a proportional one."),
	SMARTT_PARAM("eta", PKTS_Q16, eta_pkts_q16, ETA_PKTS_Q16,
		     "Increase per base round trip for any signals."),
	SMARTT_PARAM("fast", Q16, fast_q16, FAST_Q16,
		     "FastIncrease per byte acknowledged, with adapt at most 1; 0 is off."),
	SMARTT_PARAM("fast-slack", NS, fast_slack_ns, FAST_SLACK_NS,
		     "Delay above the base round trip that still counts as zero."),
	SMARTT_PARAM("md", Q16, md_q16, MD_Q16, "Weight of the excess delay in a decrease."),
	SMARTT_PARAM("max-mdf", Q16, max_mdf_q16, MAX_MDF_Q16,
		     "Largest part of the window one decrease takes."),
	SMARTT_PARAM("md-queueing", BOOL, md_queueing, MD_QUEUEING_BOOL,
		     "Whether a decrease is relative to the queueing delay."),
	SMARTT_PARAM("avg-weight", Q16, avg_weight_q16, AVG_WEIGHT_Q16,
		     "Weight of one packet in the average round-trip time."),
	SMARTT_PARAM("qa", BOOL, qa, QA_BOOL, "Whether QuickAdapt is on."),
	SMARTT_PARAM("qa-delay", Q16, qa_delay_q16, QA_DELAY_Q16,
		     "Queueing delay over its target that QuickAdapt needs without trimming."),
	SMARTT_PARAM("qa-low", Q16, qa_low_q16, QA_LOW_Q16,
		     "Part of the window delivered per target round trip that counts as low."),
	SMARTT_PARAM("ignore", BOOL, ignore, IGNORE_BOOL,
		     "Whether ACKs of the flight that met QuickAdapt are ignored."),
	SMARTT_PARAM("ignore-marked", BOOL, ignore_marked, IGNORE_MARKED_BOOL,
		     "Whether only the marked ones of them are."),
	SMARTT_PARAM("ignore-trims", BOOL, ignore_trims, IGNORE_TRIMS_BOOL,
		     "Whether trimmed packets of it do not reduce the window."),
	SMARTT_PARAM("ignore-delay", BOOL, ignore_delay, IGNORE_DELAY_BOOL,
		     "Whether the delay of ignored ACKs stays out of the average."),
	SMARTT_PARAM("batch", PKTS, batch_pkts, BATCH_PKTS,
		     "Segments acknowledged between changes of the window."),
	SMARTT_PARAM("max-window", Q16, max_window_q16, MAX_WINDOW_Q16,
		     "Largest window over the bandwidth-delay product."),
	SMARTT_PARAM("init-window", BYTES, init_window_bytes, INIT_WINDOW_BYTES,
		     "First window of a message; 0 is the largest."),
	SMARTT_PARAM("restart-idle", NS, restart_idle_ns, RESTART_IDLE_NS,
		     "Idle time after which a flow starts anew; 0 is never."),
	SMARTT_PARAM("retx-reset", NONE, retx_reset_rtos, RETX_RESET_RTOS,
		     "Timeouts in a row that put the window to one segment."),
};

#define SMARTT_COUNTER(name_, field_, doc_) \
	QUELL_COUNTER(struct quell_smartt_stats, name_, field_, doc_)

static const struct quell_counter_desc quell_smartt_core_counters[] = {
	SMARTT_COUNTER("fair-increases", fair_increases, "ACKs with a fair increase."),
	SMARTT_COUNTER("proportional-increases", proportional_increases,
		       "ACKs with a proportional increase."),
	SMARTT_COUNTER("fast-increases", fast_increases, "ACKs with FastIncrease."),
	SMARTT_COUNTER("decreases", decreases, "Multiplicative decreases."),
	SMARTT_COUNTER("held", held,
		       "Congested ACKs soon after a decrease, or on average below the target."),
	SMARTT_COUNTER("marked-low-delay", marked_low_delay,
		       "Marked ACKs below the target, left to the load balancer."),
	SMARTT_COUNTER("path-changes", path_changes, "Requests for another path."),
	SMARTT_COUNTER("quick-adapts", quick_adapts, "QuickAdapt adjustments."),
	SMARTT_COUNTER("ignored", ignored, "ACKs ignored after QuickAdapt."),
	SMARTT_COUNTER("trimmed", trimmed, "ACKs that reported trimmed packets."),
	SMARTT_COUNTER("no-ecn", no_ecn, "ACKs of a connection without ECN."),
	SMARTT_COUNTER("no-rtt", no_rtt, "ACKs without a round-trip time."),
	SMARTT_COUNTER("app-limited", app_limited,
		       "ACKs that did not grow the window of a flow short of data."),
	SMARTT_COUNTER("fast-retx", fast_retx, "Decreases because of a fast retransmit."),
	SMARTT_COUNTER("losses-ignored", losses_ignored,
		       "Losses and timeouts ignored after QuickAdapt."),
	SMARTT_COUNTER("rtos", rtos, "Retransmission timeouts."),
	SMARTT_COUNTER("rto-resets", rto_resets, "Timeouts that put the window to one segment."),
	SMARTT_COUNTER("restarts", restarts, "Starts at the first window after an idle time."),
	SMARTT_COUNTER("restarts-refused", restarts_refused,
		       "Restarts kept from raising the window: recent loss or no delay signal."),
};

QUELL_CORE_EVENTS(smartt, smartt)

static const struct quell_core quell_smartt_core = {
	.name			= "smartt",
	.module			= "tcp_smartt",
	.flags			= QUELL_CORE_ECN | QUELL_CORE_SPRAYS | QUELL_CORE_TRIMS,
	.needs			= { .signal = QUELL_ADAPT_MARKS,
				    .longest_ns = QUELL_SMARTT_LONGEST_NS },
	QUELL_CORE_MEMBERS(smartt, smartt),
	.restart_offset		= offsetof(struct quell_smartt_params, restart_idle_ns),
};

#endif /* _QUELL_CORE_SMARTT_CORE_H */

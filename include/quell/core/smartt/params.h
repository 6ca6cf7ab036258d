/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parameters of SMaRTT: defaults and ranges.
 *
 * Any values within their ranges are compatible, so each can be set without
 * looking at the others.  Sections are those of the SMaRTT paper; where the paper
 * leaves a constant open, Documentation/smartt.md gives the source of our value.
 * It also lists the values that turn SMaRTT into UEC's NSCC.
 */
#ifndef _QUELL_CORE_SMARTT_PARAMS_H
#define _QUELL_CORE_SMARTT_PARAMS_H

#include <quell/core/core.h>

#define QUELL_SMARTT_ADAPT_BOOL_DEFAULT	1ULL		/* Documentation/adapt.md */
#define QUELL_SMARTT_ADAPT_BOOL_MIN	0ULL
#define QUELL_SMARTT_ADAPT_BOOL_MAX	1ULL
#define QUELL_SMARTT_TARGET_RTT_Q16_DEFAULT	98304ULL	/* 1.5, III */
#define QUELL_SMARTT_TARGET_RTT_Q16_MIN	69632ULL
#define QUELL_SMARTT_TARGET_RTT_Q16_MAX	524288ULL
#define QUELL_SMARTT_TARGET_DELAY_NS_DEFAULT	0ULL	/* target-rtt decides */
#define QUELL_SMARTT_TARGET_DELAY_NS_MIN	0ULL
#define QUELL_SMARTT_TARGET_DELAY_NS_MAX	100000000ULL
#define QUELL_SMARTT_SCALE_BDP_BYTES_DEFAULT	150000ULL	/* 100 Gbit/s over 12 us */
#define QUELL_SMARTT_SCALE_BDP_BYTES_MIN	0ULL
#define QUELL_SMARTT_SCALE_BDP_BYTES_MAX	1073741824ULL
#define QUELL_SMARTT_FI_PKTS_Q16_DEFAULT	65536ULL	/* 1, III-J */
#define QUELL_SMARTT_FI_PKTS_Q16_MIN	0ULL
#define QUELL_SMARTT_FI_PKTS_Q16_MAX	4194304ULL
#define QUELL_SMARTT_PI_PKTS_Q16_DEFAULT	65536ULL	/* 1, III-I4 */
#define QUELL_SMARTT_PI_PKTS_Q16_MIN	0ULL
#define QUELL_SMARTT_PI_PKTS_Q16_MAX	4194304ULL
#define QUELL_SMARTT_PI_FAIR_BOOL_DEFAULT	1ULL	/* III-I4 */
#define QUELL_SMARTT_PI_FAIR_BOOL_MIN	0ULL
#define QUELL_SMARTT_PI_FAIR_BOOL_MAX	1ULL
#define QUELL_SMARTT_ETA_PKTS_Q16_DEFAULT	0ULL	/* not in the paper */
#define QUELL_SMARTT_ETA_PKTS_Q16_MIN	0ULL
#define QUELL_SMARTT_ETA_PKTS_Q16_MAX	4194304ULL
#define QUELL_SMARTT_FAST_Q16_DEFAULT	131072ULL	/* 2, III-F */
#define QUELL_SMARTT_FAST_Q16_MIN	0ULL
#define QUELL_SMARTT_FAST_Q16_MAX	1048576ULL
#define QUELL_SMARTT_FAST_SLACK_NS_DEFAULT	1000ULL	/* Documentation/smartt.md */
#define QUELL_SMARTT_FAST_SLACK_NS_MIN	0ULL
#define QUELL_SMARTT_FAST_SLACK_NS_MAX	1000000ULL
#define QUELL_SMARTT_MD_Q16_DEFAULT	52429ULL	/* 0.8, equation 1 */
#define QUELL_SMARTT_MD_Q16_MIN	1ULL
#define QUELL_SMARTT_MD_Q16_MAX	65536ULL
#define QUELL_SMARTT_MAX_MDF_Q16_DEFAULT	32768ULL	/* 0.5, equation 1 */
#define QUELL_SMARTT_MAX_MDF_Q16_MIN	656ULL
#define QUELL_SMARTT_MAX_MDF_Q16_MAX	64880ULL
#define QUELL_SMARTT_MD_QUEUEING_BOOL_DEFAULT	0ULL	/* equation 1 */
#define QUELL_SMARTT_MD_QUEUEING_BOOL_MIN	0ULL
#define QUELL_SMARTT_MD_QUEUEING_BOOL_MAX	1ULL
#define QUELL_SMARTT_AVG_WEIGHT_Q16_DEFAULT	819ULL	/* 0.0125, Documentation/smartt.md */
#define QUELL_SMARTT_AVG_WEIGHT_Q16_MIN	1ULL
#define QUELL_SMARTT_AVG_WEIGHT_Q16_MAX	65536ULL
#define QUELL_SMARTT_QA_BOOL_DEFAULT	1ULL	/* III-E */
#define QUELL_SMARTT_QA_BOOL_MIN	0ULL
#define QUELL_SMARTT_QA_BOOL_MAX	1ULL
#define QUELL_SMARTT_QA_DELAY_Q16_DEFAULT	262144ULL	/* 4, Documentation/smartt.md */
#define QUELL_SMARTT_QA_DELAY_Q16_MIN	32768ULL
#define QUELL_SMARTT_QA_DELAY_Q16_MAX	1048576ULL
#define QUELL_SMARTT_QA_LOW_Q16_DEFAULT	32768ULL	/* 0.5, Documentation/smartt.md */
#define QUELL_SMARTT_QA_LOW_Q16_MIN	0ULL
#define QUELL_SMARTT_QA_LOW_Q16_MAX	65536ULL
#define QUELL_SMARTT_IGNORE_BOOL_DEFAULT	1ULL	/* III-E */
#define QUELL_SMARTT_IGNORE_BOOL_MIN	0ULL
#define QUELL_SMARTT_IGNORE_BOOL_MAX	1ULL
#define QUELL_SMARTT_IGNORE_MARKED_BOOL_DEFAULT	0ULL	/* Algorithm 4 */
#define QUELL_SMARTT_IGNORE_MARKED_BOOL_MIN	0ULL
#define QUELL_SMARTT_IGNORE_MARKED_BOOL_MAX	1ULL
#define QUELL_SMARTT_IGNORE_TRIMS_BOOL_DEFAULT	1ULL	/* III-E */
#define QUELL_SMARTT_IGNORE_TRIMS_BOOL_MIN	0ULL
#define QUELL_SMARTT_IGNORE_TRIMS_BOOL_MAX	1ULL
#define QUELL_SMARTT_IGNORE_DELAY_BOOL_DEFAULT	1ULL	/* III-E */
#define QUELL_SMARTT_IGNORE_DELAY_BOOL_MIN	0ULL
#define QUELL_SMARTT_IGNORE_DELAY_BOOL_MAX	1ULL
#define QUELL_SMARTT_BATCH_PKTS_DEFAULT	1ULL	/* III-G */
#define QUELL_SMARTT_BATCH_PKTS_MIN	1ULL
#define QUELL_SMARTT_BATCH_PKTS_MAX	65535ULL
#define QUELL_SMARTT_MAX_WINDOW_Q16_DEFAULT	98304ULL	/* 1.5, III-J */
#define QUELL_SMARTT_MAX_WINDOW_Q16_MIN	16384ULL
#define QUELL_SMARTT_MAX_WINDOW_Q16_MAX	524288ULL
#define QUELL_SMARTT_INIT_WINDOW_BYTES_DEFAULT	0ULL
#define QUELL_SMARTT_INIT_WINDOW_BYTES_MIN	0ULL
#define QUELL_SMARTT_INIT_WINDOW_BYTES_MAX	1073741824ULL
#define QUELL_SMARTT_RESTART_IDLE_NS_DEFAULT	1000000ULL	/* as Swift's */
#define QUELL_SMARTT_RESTART_IDLE_NS_MIN	0ULL
#define QUELL_SMARTT_RESTART_IDLE_NS_MAX	3600000000000ULL
#define QUELL_SMARTT_RETX_RESET_RTOS_DEFAULT	5ULL	/* as Swift's */
#define QUELL_SMARTT_RETX_RESET_RTOS_MIN	1ULL
#define QUELL_SMARTT_RETX_RESET_RTOS_MAX	100ULL

/**
 * struct quell_smartt_params - parameters of the administrator
 * @adapt_bool:	fit the flow to its path, <quell/core/adapt/react.h>; bounds increases
 * @target_rtt_q16: target round-trip time over the base one, > 1
 * @target_delay_ns: target queueing delay, ns; 0: @target_rtt_q16 gives the target
 * @scale_bdp_bytes: bandwidth-delay product at which increases are as given, bytes;
 *	0 does not scale them
 * @fi_pkts_q16: fair increase, segments per round trip
 * @pi_pkts_q16: most of the proportional increase, segments per round trip
 * @pi_fair: a fair increase follows a proportional one
 * @eta_pkts_q16: increase per base round trip in every state, segments
 * @fast_q16: FastIncrease, bytes per byte acknowledged; 0 off
 * @fast_slack_ns: delay above the base round trip that FastIncrease ignores, ns
 * @md_q16: weight of the excess delay in the decrease
 * @max_mdf_q16: largest fraction of the window one decrease takes
 * @md_queueing: the decrease compares queueing delays, not round trips
 * @avg_weight_q16: weight of one packet in the average
 * @qa: QuickAdapt is on
 * @qa_delay_q16: queueing delay, in targets, above which QuickAdapt may act without trimming
 * @qa_low_q16: bytes delivered, in windows, below which QuickAdapt then acts; 0 never
 * @ignore: the ignore phase of QuickAdapt is on
 * @ignore_marked: the ignore phase concerns marked ACKs only
 * @ignore_trims: trimmed packets of the ignored flight do not reduce the window
 * @ignore_delay: the delay of ignored ACKs stays out of the average
 * @batch_pkts: segments acknowledged between changes of the window
 * @max_window_q16: largest window, bandwidth-delay products
 * @init_window_bytes: window a message starts with, bytes; 0 the largest
 * @restart_idle_ns: idle time after which the flow starts anew, ns; 0 never
 * @retx_reset_rtos: timeouts in a row that put the window to one segment
 *
 * Every field is u64 so that a table of offsets can address it.  The core only
 * reads the block, and takes it to lie within QUELL_SMARTT_*_MIN and _MAX.
 */
struct quell_smartt_params {
	u64	adapt_bool;
	u64	target_rtt_q16;
	u64	target_delay_ns;
	u64	scale_bdp_bytes;
	u64	fi_pkts_q16;
	u64	pi_pkts_q16;
	u64	pi_fair;
	u64	eta_pkts_q16;
	u64	fast_q16;
	u64	fast_slack_ns;
	u64	md_q16;
	u64	max_mdf_q16;
	u64	md_queueing;
	u64	avg_weight_q16;
	u64	qa;
	u64	qa_delay_q16;
	u64	qa_low_q16;
	u64	ignore;
	u64	ignore_marked;
	u64	ignore_trims;
	u64	ignore_delay;
	u64	batch_pkts;
	u64	max_window_q16;
	u64	init_window_bytes;
	u64	restart_idle_ns;
	u64	retx_reset_rtos;
};

#endif /* _QUELL_CORE_SMARTT_PARAMS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parameters of SMaRTT.  Any values within their ranges are compatible.  Sections are those of
 * the paper; where it leaves a constant open, Documentation/smartt.md gives the source
 * of our value.  It also lists the values that turn SMaRTT into UEC's NSCC.
 */
#ifndef _QUELL_CORE_SMARTT_PARAMS_H
#define _QUELL_CORE_SMARTT_PARAMS_H

#include <quell/core/core.h>

#define QUELL_SMARTT_ADAPT_BOOL		QUELL_RANGE(1, 0, 1) /* Documentation/adapt.md */
#define QUELL_SMARTT_TARGET_RTT_Q16	QUELL_RANGE(98304, 69632, 524288) /* 1.5, III */
#define QUELL_SMARTT_TARGET_DELAY_NS	QUELL_RANGE(0, 0, 100000000) /* target-rtt decides */
/* 100 Gbit/s over 12 us */
#define QUELL_SMARTT_SCALE_BDP_BYTES	QUELL_RANGE(150000, 0, 1073741824)
#define QUELL_SMARTT_FI_PKTS_Q16	QUELL_RANGE(65536, 0, 4194304) /* 1, III-J */
#define QUELL_SMARTT_PI_PKTS_Q16	QUELL_RANGE(65536, 0, 4194304) /* 1, III-I4 */
#define QUELL_SMARTT_PI_FAIR_BOOL	QUELL_RANGE(1, 0, 1) /* III-I4 */
#define QUELL_SMARTT_ETA_PKTS_Q16	QUELL_RANGE(0, 0, 4194304) /* not in the paper */
#define QUELL_SMARTT_FAST_Q16		QUELL_RANGE(131072, 0, 1048576) /* 2, III-F */
#define QUELL_SMARTT_FAST_SLACK_NS	QUELL_RANGE(1000, 0, 1000000) /* Documentation/smartt.md */
#define QUELL_SMARTT_MD_Q16		QUELL_RANGE(52429, 1, 65536) /* 0.8, equation 1 */
#define QUELL_SMARTT_MAX_MDF_Q16	QUELL_RANGE(32768, 656, 64880) /* 0.5, equation 1 */
#define QUELL_SMARTT_MD_QUEUEING_BOOL	QUELL_RANGE(0, 0, 1) /* equation 1 */
#define QUELL_SMARTT_AVG_WEIGHT_Q16	QUELL_RANGE(819, 1, 65536) /* 0.0125, smartt.md */
#define QUELL_SMARTT_QA_BOOL		QUELL_RANGE(1, 0, 1) /* III-E */
#define QUELL_SMARTT_QA_DELAY_Q16	QUELL_RANGE(262144, 32768, 1048576) /* 4, smartt.md */
#define QUELL_SMARTT_QA_LOW_Q16		QUELL_RANGE(32768, 0, 65536) /* 0.5, smartt.md */
#define QUELL_SMARTT_IGNORE_BOOL	QUELL_RANGE(1, 0, 1) /* III-E */
#define QUELL_SMARTT_IGNORE_MARKED_BOOL	QUELL_RANGE(0, 0, 1) /* Algorithm 4 */
#define QUELL_SMARTT_IGNORE_TRIMS_BOOL	QUELL_RANGE(1, 0, 1) /* III-E */
#define QUELL_SMARTT_IGNORE_DELAY_BOOL	QUELL_RANGE(1, 0, 1) /* III-E */
#define QUELL_SMARTT_BATCH_PKTS		QUELL_RANGE(1, 1, 65535) /* III-G */
#define QUELL_SMARTT_MAX_WINDOW_Q16	QUELL_RANGE(98304, 16384, 524288) /* 1.5, III-J */
#define QUELL_SMARTT_INIT_WINDOW_BYTES	QUELL_RANGE(0, 0, 1073741824)
#define QUELL_SMARTT_RESTART_IDLE_NS	QUELL_RANGE(1000000, 0, 3600000000000ULL) /* as Swift's */
#define QUELL_SMARTT_RETX_RESET_RTOS	QUELL_RANGE(5, 1, 100) /* as Swift's */

/*
 * Every field is u64 so that a table of offsets can address it; core.h explains them.  The core
 * only reads the block, with values within the ranges.
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

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parameters of SMaRTT as a table, for tests that try all of them.
 */
#ifndef _QUELL_TEST_SMARTT_RANGES_H
#define _QUELL_TEST_SMARTT_RANGES_H

#include <quell/core/smartt_params.h>

#include "param_range.h"

#define SMARTT_RANGE(name, field, NAME) \
	PARAM_RANGE(quell_smartt_params, name, field, SMARTT_##NAME)

static const struct param_range smartt_ranges[] = {
	SMARTT_RANGE("target-rtt", target_rtt_q16, TARGET_RTT_Q16),
	SMARTT_RANGE("target-delay", target_delay_ns, TARGET_DELAY_NS),
	SMARTT_RANGE("scale-bdp", scale_bdp_bytes, SCALE_BDP_BYTES),
	SMARTT_RANGE("fi", fi_pkts_q16, FI_PKTS_Q16),
	SMARTT_RANGE("pi", pi_pkts_q16, PI_PKTS_Q16),
	SMARTT_RANGE("pi-fair", pi_fair, PI_FAIR_BOOL),
	SMARTT_RANGE("eta", eta_pkts_q16, ETA_PKTS_Q16),
	SMARTT_RANGE("fast", fast_q16, FAST_Q16),
	SMARTT_RANGE("fast-slack", fast_slack_ns, FAST_SLACK_NS),
	SMARTT_RANGE("md", md_q16, MD_Q16),
	SMARTT_RANGE("max-mdf", max_mdf_q16, MAX_MDF_Q16),
	SMARTT_RANGE("md-queueing", md_queueing, MD_QUEUEING_BOOL),
	SMARTT_RANGE("avg-weight", avg_weight_q16, AVG_WEIGHT_Q16),
	SMARTT_RANGE("qa", qa, QA_BOOL),
	SMARTT_RANGE("qa-delay", qa_delay_q16, QA_DELAY_Q16),
	SMARTT_RANGE("qa-low", qa_low_q16, QA_LOW_Q16),
	SMARTT_RANGE("ignore", ignore, IGNORE_BOOL),
	SMARTT_RANGE("ignore-marked", ignore_marked, IGNORE_MARKED_BOOL),
	SMARTT_RANGE("batch", batch_pkts, BATCH_PKTS),
	SMARTT_RANGE("max-window", max_window_q16, MAX_WINDOW_Q16),
	SMARTT_RANGE("init-window", init_window_bytes, INIT_WINDOW_BYTES),
	SMARTT_RANGE("restart-idle", restart_idle_ns, RESTART_IDLE_NS),
	SMARTT_RANGE("retx-reset", retx_reset_rtos, RETX_RESET_RTOS),
};

#define SMARTT_RANGES (sizeof(smartt_ranges) / sizeof(smartt_ranges[0]))

static inline u64 *smartt_param(struct quell_smartt_params *p, size_t index)
{
	return param_at(p, &smartt_ranges[index]);
}

#endif /* _QUELL_TEST_SMARTT_RANGES_H */

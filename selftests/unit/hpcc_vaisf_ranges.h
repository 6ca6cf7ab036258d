/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parameters of hpcc_vaisf as a table, for tests that try all of them.
 */
#ifndef _QUELL_TEST_HPCC_VAISF_RANGES_H
#define _QUELL_TEST_HPCC_VAISF_RANGES_H

#include <quell/core/hpcc_vaisf_params.h>

#include "param_range.h"

#define HPCC_VAISF_RANGE(name, field, NAME) \
	PARAM_RANGE(quell_hpcc_vaisf_params, name, field, NAME)

static const struct param_range hpcc_vaisf_ranges[] = {
	HPCC_VAISF_RANGE("eta", hpcc.eta_q16, HPCC_ETA_Q16),
	HPCC_VAISF_RANGE("max-stage", hpcc.max_stage_steps, HPCC_MAX_STAGE_STEPS),
	HPCC_VAISF_RANGE("ai", hpcc.ai_bytes_ps, HPCC_AI_BYTES_PS),
	HPCC_VAISF_RANGE("base-rtt", hpcc.base_rtt_ns, HPCC_BASE_RTT_NS),
	HPCC_VAISF_RANGE("min-rate", hpcc.min_rate_bytes_ps, HPCC_MIN_RATE_BYTES_PS),
	HPCC_VAISF_RANGE("max-window", hpcc.max_window_bytes, HPCC_MAX_WINDOW_BYTES),
	HPCC_VAISF_RANGE("init-window", hpcc.init_window_bytes, HPCC_INIT_WINDOW_BYTES),
	HPCC_VAISF_RANGE("restart-idle", hpcc.restart_idle_ns, HPCC_RESTART_IDLE_NS),
	HPCC_VAISF_RANGE("retx-reset", hpcc.retx_reset_rtos, HPCC_RETX_RESET_RTOS),
	HPCC_VAISF_RANGE("token-thresh", token_thresh_bytes, HPCC_VAISF_TOKEN_THRESH_BYTES),
	HPCC_VAISF_RANGE("token", token_bytes, HPCC_VAISF_TOKEN_BYTES),
	HPCC_VAISF_RANGE("bank-cap", vaisf.bank_cap_tokens, VAISF_BANK_CAP_TOKENS),
	HPCC_VAISF_RANGE("ai-cap", vaisf.ai_cap_tokens, VAISF_AI_CAP_TOKENS),
	HPCC_VAISF_RANGE("dampener", vaisf.dampener_q16, VAISF_DAMPENER_Q16),
	HPCC_VAISF_RANGE("sampling", vaisf.sampling_pkts, VAISF_SAMPLING_PKTS),
};

#define HPCC_VAISF_RANGES (sizeof(hpcc_vaisf_ranges) / sizeof(hpcc_vaisf_ranges[0]))

static inline u64 *hpcc_vaisf_param(struct quell_hpcc_vaisf_params *p, size_t index)
{
	return param_at(p, &hpcc_vaisf_ranges[index]);
}

#endif /* _QUELL_TEST_HPCC_VAISF_RANGES_H */

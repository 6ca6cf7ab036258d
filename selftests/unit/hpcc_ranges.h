/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parameters of HPCC as a table, for tests that try all of them.
 */
#ifndef _QUELL_TEST_HPCC_RANGES_H
#define _QUELL_TEST_HPCC_RANGES_H

#include <quell/core/hpcc_params.h>

#include "param_range.h"

#define HPCC_RANGE(name, field, NAME) \
	PARAM_RANGE(quell_hpcc_params, name, field, HPCC_##NAME)

static const struct param_range hpcc_ranges[] = {
	HPCC_RANGE("eta", eta_q16, ETA_Q16),
	HPCC_RANGE("max-stage", max_stage_steps, MAX_STAGE_STEPS),
	HPCC_RANGE("ai", ai_bytes_ps, AI_BYTES_PS),
	HPCC_RANGE("base-rtt", base_rtt_ns, BASE_RTT_NS),
	HPCC_RANGE("min-rate", min_rate_bytes_ps, MIN_RATE_BYTES_PS),
	HPCC_RANGE("max-window", max_window_bytes, MAX_WINDOW_BYTES),
	HPCC_RANGE("init-window", init_window_bytes, INIT_WINDOW_BYTES),
	HPCC_RANGE("restart-idle", restart_idle_ns, RESTART_IDLE_NS),
	HPCC_RANGE("retx-reset", retx_reset_rtos, RETX_RESET_RTOS),
};

#define HPCC_RANGES (sizeof(hpcc_ranges) / sizeof(hpcc_ranges[0]))

static inline u64 *hpcc_param(struct quell_hpcc_params *p, size_t index)
{
	return param_at(p, &hpcc_ranges[index]);
}

#endif /* _QUELL_TEST_HPCC_RANGES_H */

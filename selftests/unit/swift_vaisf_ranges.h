/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parameters of swift_vaisf as a table, for tests that try all of them.
 */
#ifndef _QUELL_TEST_SWIFT_VAISF_RANGES_H
#define _QUELL_TEST_SWIFT_VAISF_RANGES_H

#include <quell/core/swift_vaisf_params.h>

#include "param_range.h"

#define SWIFT_VAISF_RANGE(name, field, NAME) \
	PARAM_RANGE(quell_swift_vaisf_params, name, field, NAME)

static const struct param_range swift_vaisf_ranges[] = {
	SWIFT_VAISF_RANGE("base-target", swift.base_target_ns, SWIFT_BASE_TARGET_NS),
	SWIFT_VAISF_RANGE("hop-scale", swift.hop_scale_ns, SWIFT_HOP_SCALE_NS),
	SWIFT_VAISF_RANGE("ai", swift.ai_bytes_ps, SWIFT_AI_BYTES_PS),
	SWIFT_VAISF_RANGE("beta", swift.beta_q16, SWIFT_BETA_Q16),
	SWIFT_VAISF_RANGE("max-mdf", swift.max_mdf_q16, SWIFT_MAX_MDF_Q16),
	SWIFT_VAISF_RANGE("min-window", swift.min_window_pkts_q16, SWIFT_MIN_WINDOW_PKTS_Q16),
	SWIFT_VAISF_RANGE("max-window", swift.max_window_bytes, SWIFT_MAX_WINDOW_BYTES),
	SWIFT_VAISF_RANGE("init-window", swift.init_window_bytes, SWIFT_INIT_WINDOW_BYTES),
	SWIFT_VAISF_RANGE("restart-idle", swift.restart_idle_ns, SWIFT_RESTART_IDLE_NS),
	SWIFT_VAISF_RANGE("retx-reset", swift.retx_reset_rtos, SWIFT_RETX_RESET_RTOS),
	SWIFT_VAISF_RANGE("token-thresh", token_thresh_ns, SWIFT_VAISF_TOKEN_THRESH_NS),
	SWIFT_VAISF_RANGE("token", token_ns, SWIFT_VAISF_TOKEN_NS),
	SWIFT_VAISF_RANGE("bank-cap", vaisf.bank_cap_tokens, VAISF_BANK_CAP_TOKENS),
	SWIFT_VAISF_RANGE("ai-cap", vaisf.ai_cap_tokens, VAISF_AI_CAP_TOKENS),
	SWIFT_VAISF_RANGE("dampener", vaisf.dampener_q16, VAISF_DAMPENER_Q16),
	SWIFT_VAISF_RANGE("sampling", vaisf.sampling_pkts, VAISF_SAMPLING_PKTS),
};

#define SWIFT_VAISF_RANGES (sizeof(swift_vaisf_ranges) / sizeof(swift_vaisf_ranges[0]))

static inline u64 *swift_vaisf_param(struct quell_swift_vaisf_params *p, size_t index)
{
	return param_at(p, &swift_vaisf_ranges[index]);
}

#endif /* _QUELL_TEST_SWIFT_VAISF_RANGES_H */

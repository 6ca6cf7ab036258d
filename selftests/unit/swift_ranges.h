/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parameters of Swift as a table, for tests that try all of them.
 */
#ifndef _QUELL_TEST_SWIFT_RANGES_H
#define _QUELL_TEST_SWIFT_RANGES_H

#include <quell/core/swift_params.h>

#include "param_range.h"

#define SWIFT_RANGE(name, field, NAME) \
	PARAM_RANGE(quell_swift_params, name, field, SWIFT_##NAME)

static const struct param_range swift_ranges[] = {
	SWIFT_RANGE("base-target", base_target_ns, BASE_TARGET_NS),
	SWIFT_RANGE("hop-scale", hop_scale_ns, HOP_SCALE_NS),
	SWIFT_RANGE("fs-range", fs_range_ns, FS_RANGE_NS),
	SWIFT_RANGE("fs-min", fs_min_pkts_q16, FS_MIN_PKTS_Q16),
	SWIFT_RANGE("fs-max", fs_max_pkts_q16, FS_MAX_PKTS_Q16),
	SWIFT_RANGE("host-target", host_target_ns, HOST_TARGET_NS),
	SWIFT_RANGE("ai", ai_bytes_ps, AI_BYTES_PS),
	SWIFT_RANGE("beta", beta_q16, BETA_Q16),
	SWIFT_RANGE("max-mdf", max_mdf_q16, MAX_MDF_Q16),
	SWIFT_RANGE("min-window", min_window_pkts_q16, MIN_WINDOW_PKTS_Q16),
	SWIFT_RANGE("max-window", max_window_bytes, MAX_WINDOW_BYTES),
	SWIFT_RANGE("init-window", init_window_bytes, INIT_WINDOW_BYTES),
	SWIFT_RANGE("restart-idle", restart_idle_ns, RESTART_IDLE_NS),
	SWIFT_RANGE("retx-reset", retx_reset_rtos, RETX_RESET_RTOS),
};

#define SWIFT_RANGES (sizeof(swift_ranges) / sizeof(swift_ranges[0]))

static inline u64 *swift_param(struct quell_swift_params *p, size_t index)
{
	return param_at(p, &swift_ranges[index]);
}

#endif /* _QUELL_TEST_SWIFT_RANGES_H */

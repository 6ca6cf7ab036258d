/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parameters of DCQCN as a table, for tests that try all of them.
 */
#ifndef _QUELL_TEST_DCQCN_RANGES_H
#define _QUELL_TEST_DCQCN_RANGES_H

#include <quell/core/dcqcn_params.h>

#include "param_range.h"

#define DCQCN_RANGE(name, field, NAME) \
	PARAM_RANGE(quell_dcqcn_params, name, field, DCQCN_##NAME)

static const struct param_range dcqcn_ranges[] = {
	DCQCN_RANGE("g", g_q16, G_Q16),
	DCQCN_RANGE("notify-interval", notify_interval_ns, NOTIFY_INTERVAL_NS),
	DCQCN_RANGE("alpha-timer", alpha_timer_ns, ALPHA_TIMER_NS),
	DCQCN_RANGE("timer", timer_ns, TIMER_NS),
	DCQCN_RANGE("byte-counter", byte_counter_bytes, BYTE_COUNTER_BYTES),
	DCQCN_RANGE("fast-recovery", fast_recovery_steps, FAST_RECOVERY_STEPS),
	DCQCN_RANGE("ai", ai_bytes_ps, AI_BYTES_PS),
	DCQCN_RANGE("hai", hai_bytes_ps, HAI_BYTES_PS),
	DCQCN_RANGE("min-rate", min_rate_bytes_ps, MIN_RATE_BYTES_PS),
	DCQCN_RANGE("queue-bound", queue_bound_ns, QUEUE_BOUND_NS),
	DCQCN_RANGE("max-window", max_window_bytes, MAX_WINDOW_BYTES),
	DCQCN_RANGE("restart-idle", restart_idle_ns, RESTART_IDLE_NS),
};

#define DCQCN_RANGES (sizeof(dcqcn_ranges) / sizeof(dcqcn_ranges[0]))

static inline u64 *dcqcn_param(struct quell_dcqcn_params *p, size_t index)
{
	return param_at(p, &dcqcn_ranges[index]);
}

#endif /* _QUELL_TEST_DCQCN_RANGES_H */

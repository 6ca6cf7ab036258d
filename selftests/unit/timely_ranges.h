/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parameters of TIMELY as a table, for tests that try all of them.
 */
#ifndef _QUELL_TEST_TIMELY_RANGES_H
#define _QUELL_TEST_TIMELY_RANGES_H

#include <quell/core/timely_params.h>

#include "param_range.h"

#define TIMELY_RANGE(name, field, NAME) \
	PARAM_RANGE(quell_timely_params, name, field, TIMELY_##NAME)

static const struct param_range timely_ranges[] = {
	TIMELY_RANGE("t-low", t_low_ns, T_LOW_NS),
	TIMELY_RANGE("t-high", t_high_ns, T_HIGH_NS),
	TIMELY_RANGE("min-rtt", min_rtt_ns, MIN_RTT_NS),
	TIMELY_RANGE("delta", delta_bytes_ps, DELTA_BYTES_PS),
	TIMELY_RANGE("alpha", alpha_q16, ALPHA_Q16),
	TIMELY_RANGE("beta", beta_q16, BETA_Q16),
	TIMELY_RANGE("hai", hai_nr, HAI_NR),
	TIMELY_RANGE("hai-after", hai_after_nr, HAI_AFTER_NR),
	TIMELY_RANGE("segment", segment_bytes, SEGMENT_BYTES),
	TIMELY_RANGE("init-rate", init_rate_bytes_ps, INIT_RATE_BYTES_PS),
	TIMELY_RANGE("min-rate", min_rate_bytes_ps, MIN_RATE_BYTES_PS),
	TIMELY_RANGE("max-rate", max_rate_bytes_ps, MAX_RATE_BYTES_PS),
	TIMELY_RANGE("max-outstanding", max_outstanding_bytes, MAX_OUTSTANDING_BYTES),
	TIMELY_RANGE("restart-idle", restart_idle_ns, RESTART_IDLE_NS),
	TIMELY_RANGE("patched", patched_bool, PATCHED_BOOL),
	TIMELY_RANGE("patched-beta", patched_beta_q16, PATCHED_BETA_Q16),
	TIMELY_RANGE("patched-ref", patched_ref_ns, PATCHED_REF_NS),
};

#define TIMELY_RANGES (sizeof(timely_ranges) / sizeof(timely_ranges[0]))

static inline u64 *timely_param(struct quell_timely_params *p, size_t index)
{
	return param_at(p, &timely_ranges[index]);
}

#endif /* _QUELL_TEST_TIMELY_RANGES_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parameters of TIMELY as a table, for tests that try all of them.
 */
#ifndef _QUELL_TEST_TIMELY_RANGES_H
#define _QUELL_TEST_TIMELY_RANGES_H

#include <stddef.h>

#include <quell/core/timely_params.h>

#define TIMELY_RANGE(name, field, NAME) {				\
	name, offsetof(struct quell_timely_params, field),		\
	QUELL_TIMELY_##NAME##_MIN, QUELL_TIMELY_##NAME##_MAX,		\
	QUELL_TIMELY_##NAME##_DEFAULT }

static const struct timely_range {
	const char *name;
	size_t offset;
	u64 min, max, standard;
} timely_ranges[] = {
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
	return (u64 *)((char *)p + timely_ranges[index].offset);
}

#endif /* _QUELL_TEST_TIMELY_RANGES_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parameters of TIMELY.  Any values within their ranges are compatible: where t_high is below
 * t_low, t_low is compared first, as in Algorithm 1.  "Section 6" is the paper's paragraph with
 * the values used "unless mentioned otherwise".
 */
#ifndef _QUELL_CORE_TIMELY_PARAMS_H
#define _QUELL_CORE_TIMELY_PARAMS_H

#include <quell/core/core.h>

#define QUELL_TIMELY_ADAPT_BOOL		QUELL_RANGE(1, 0, 1) /* Documentation/adapt.md */
#define QUELL_TIMELY_T_LOW_NS_DEFAULT		50000ULL
/* section 6 */
#define QUELL_TIMELY_T_LOW_NS		QUELL_RANGE(QUELL_TIMELY_T_LOW_NS_DEFAULT, 0, 1000000000)
#define QUELL_TIMELY_T_HIGH_NS		QUELL_RANGE(500000, 1000, 1000000000) /* section 6 */
#define QUELL_TIMELY_MIN_RTT_NS		QUELL_RANGE(20000, 1000, 1000000000) /* section 5 */
/* 10 Mbit/s, section 6; most: 100 Gbit/s */
#define QUELL_TIMELY_DELTA_BYTES_PS	QUELL_RANGE(1250000, 1000, 12500000000ULL)
#define QUELL_TIMELY_ALPHA_Q16		QUELL_RANGE(1311, 1, QUELL_Q16_ONE) /* 0.02, timely.md */
#define QUELL_TIMELY_BETA_Q16		QUELL_RANGE(52429, 1, QUELL_Q16_ONE) /* 0.8, section 6 */
#define QUELL_TIMELY_HAI_NR		QUELL_RANGE(5, 1, 1000) /* Algorithm 1 */
#define QUELL_TIMELY_HAI_AFTER_NR	QUELL_RANGE(5, 1, 200) /* Algorithm 1 */
/* section 6; most: section 3.3 */
#define QUELL_TIMELY_SEGMENT_BYTES	QUELL_RANGE(16384, 1024, 65536)
#define QUELL_TIMELY_INIT_RATE_BYTES_PS	QUELL_RANGE(0, 0, 125000000000ULL) /* most: 1 Tbit/s */
/* one additive step; most: 10 Gbit/s */
#define QUELL_TIMELY_MIN_RATE_BYTES_PS	QUELL_RANGE(1250000, 1000, 1250000000)
#define QUELL_TIMELY_MAX_RATE_BYTES_PS	QUELL_RANGE(0, 0, 125000000000ULL) /* the link's */
#define QUELL_TIMELY_MAX_OUTSTANDING_BYTES_MAX	1073741824ULL
/* most: TCP's own limit */
#define QUELL_TIMELY_MAX_OUTSTANDING_BYTES QUELL_RANGE(0, 0, QUELL_TIMELY_MAX_OUTSTANDING_BYTES_MAX)
/* the paper has no restart */
#define QUELL_TIMELY_RESTART_IDLE_NS	QUELL_RANGE(0, 0, 3600000000000ULL)
#define QUELL_TIMELY_PATCHED_BOOL	QUELL_RANGE(0, 0, 1)
#define QUELL_TIMELY_PATCHED_BETA_Q16	QUELL_RANGE(524, 1, QUELL_Q16_ONE) /* 0.008 */
#define QUELL_TIMELY_PATCHED_REF_NS	QUELL_RANGE(50000, 1000, 1000000000) /* t_low */

/*
 * Every field is u64 so that a table of offsets can address it; core.h explains them.  The core
 * only reads the block, and needs every field within its range.
 */
struct quell_timely_params {
	u64	adapt_bool;
	u64	t_low_ns;
	u64	t_high_ns;
	u64	min_rtt_ns;
	u64	delta_bytes_ps;
	u64	alpha_q16;
	u64	beta_q16;
	u64	hai_nr;
	u64	hai_after_nr;
	u64	segment_bytes;
	u64	init_rate_bytes_ps;
	u64	min_rate_bytes_ps;
	u64	max_rate_bytes_ps;
	u64	max_outstanding_bytes;
	u64	restart_idle_ns;
	u64	patched_bool;
	u64	patched_beta_q16;
	u64	patched_ref_ns;
};

#endif /* _QUELL_CORE_TIMELY_PARAMS_H */

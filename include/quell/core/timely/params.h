/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parameters of TIMELY.  Any values within their ranges are compatible: where t_high is below
 * t_low, t_low is compared first, as in Algorithm 1.  "Section 6" is the paper's paragraph with
 * the values used "unless mentioned otherwise".
 */
#ifndef _QUELL_CORE_TIMELY_PARAMS_H
#define _QUELL_CORE_TIMELY_PARAMS_H

#include <quell/core/core.h>

#define QUELL_TIMELY_ADAPT_BOOL_DEFAULT	1ULL		/* Documentation/adapt.md */
#define QUELL_TIMELY_ADAPT_BOOL_MIN	0ULL
#define QUELL_TIMELY_ADAPT_BOOL_MAX	1ULL
#define QUELL_TIMELY_T_LOW_NS_DEFAULT		50000ULL	/* section 6 */
#define QUELL_TIMELY_T_LOW_NS_MIN		0ULL
#define QUELL_TIMELY_T_LOW_NS_MAX		1000000000ULL
#define QUELL_TIMELY_T_HIGH_NS_DEFAULT		500000ULL	/* section 6 */
#define QUELL_TIMELY_T_HIGH_NS_MIN		1000ULL
#define QUELL_TIMELY_T_HIGH_NS_MAX		1000000000ULL
#define QUELL_TIMELY_MIN_RTT_NS_DEFAULT		20000ULL	/* section 5 */
#define QUELL_TIMELY_MIN_RTT_NS_MIN		1000ULL
#define QUELL_TIMELY_MIN_RTT_NS_MAX		1000000000ULL
#define QUELL_TIMELY_DELTA_BYTES_PS_DEFAULT	1250000ULL	/* 10 Mbit/s, section 6 */
#define QUELL_TIMELY_DELTA_BYTES_PS_MIN		1000ULL
#define QUELL_TIMELY_DELTA_BYTES_PS_MAX		12500000000ULL	/* 100 Gbit/s */
#define QUELL_TIMELY_ALPHA_Q16_DEFAULT		1311ULL		/* 0.02, Documentation/timely.md */
#define QUELL_TIMELY_ALPHA_Q16_MIN		1ULL
#define QUELL_TIMELY_ALPHA_Q16_MAX		QUELL_Q16_ONE
#define QUELL_TIMELY_BETA_Q16_DEFAULT		52429ULL	/* 0.8, section 6 */
#define QUELL_TIMELY_BETA_Q16_MIN		1ULL
#define QUELL_TIMELY_BETA_Q16_MAX		QUELL_Q16_ONE
#define QUELL_TIMELY_HAI_NR_DEFAULT		5ULL		/* Algorithm 1 */
#define QUELL_TIMELY_HAI_NR_MIN			1ULL
#define QUELL_TIMELY_HAI_NR_MAX			1000ULL
#define QUELL_TIMELY_HAI_AFTER_NR_DEFAULT	5ULL		/* Algorithm 1 */
#define QUELL_TIMELY_HAI_AFTER_NR_MIN		1ULL
#define QUELL_TIMELY_HAI_AFTER_NR_MAX		200ULL
#define QUELL_TIMELY_SEGMENT_BYTES_DEFAULT	16384ULL	/* section 6 */
#define QUELL_TIMELY_SEGMENT_BYTES_MIN		1024ULL
#define QUELL_TIMELY_SEGMENT_BYTES_MAX		65536ULL	/* section 3.3 */
#define QUELL_TIMELY_INIT_RATE_BYTES_PS_DEFAULT	0ULL
#define QUELL_TIMELY_INIT_RATE_BYTES_PS_MIN	0ULL
#define QUELL_TIMELY_INIT_RATE_BYTES_PS_MAX	125000000000ULL	/* 1 Tbit/s */
#define QUELL_TIMELY_MIN_RATE_BYTES_PS_DEFAULT	1250000ULL	/* one additive step */
#define QUELL_TIMELY_MIN_RATE_BYTES_PS_MIN	1000ULL
#define QUELL_TIMELY_MIN_RATE_BYTES_PS_MAX	1250000000ULL	/* 10 Gbit/s */
#define QUELL_TIMELY_MAX_RATE_BYTES_PS_DEFAULT	0ULL		/* the link's */
#define QUELL_TIMELY_MAX_RATE_BYTES_PS_MIN	0ULL
#define QUELL_TIMELY_MAX_RATE_BYTES_PS_MAX	125000000000ULL
#define QUELL_TIMELY_MAX_OUTSTANDING_BYTES_DEFAULT	0ULL
#define QUELL_TIMELY_MAX_OUTSTANDING_BYTES_MIN	0ULL
#define QUELL_TIMELY_MAX_OUTSTANDING_BYTES_MAX	1073741824ULL	/* TCP's own limit */
#define QUELL_TIMELY_RESTART_IDLE_NS_DEFAULT	0ULL		/* the paper has no restart */
#define QUELL_TIMELY_RESTART_IDLE_NS_MIN	0ULL
#define QUELL_TIMELY_RESTART_IDLE_NS_MAX	3600000000000ULL
#define QUELL_TIMELY_PATCHED_BOOL_DEFAULT		0ULL
#define QUELL_TIMELY_PATCHED_BOOL_MIN		0ULL
#define QUELL_TIMELY_PATCHED_BOOL_MAX		1ULL
#define QUELL_TIMELY_PATCHED_BETA_Q16_DEFAULT	524ULL		/* 0.008 */
#define QUELL_TIMELY_PATCHED_BETA_Q16_MIN	1ULL
#define QUELL_TIMELY_PATCHED_BETA_Q16_MAX	QUELL_Q16_ONE
#define QUELL_TIMELY_PATCHED_REF_NS_DEFAULT	50000ULL	/* t_low */
#define QUELL_TIMELY_PATCHED_REF_NS_MIN		1000ULL
#define QUELL_TIMELY_PATCHED_REF_NS_MAX		1000000000ULL

/*
 * Every field is u64 so that a table of offsets can address it; core.h explains them.  The core
 * only reads the block, and needs every field within QUELL_TIMELY_*_MIN and _MAX.
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

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parameters of Swift.  The ranges keep the arithmetic of <quell/core/swift/react.h> exact, and
 * any values within them are compatible.
 */
#ifndef _QUELL_CORE_SWIFT_PARAMS_H
#define _QUELL_CORE_SWIFT_PARAMS_H

#include <quell/core/core.h>
#include <quell/core/lib/math.h>

/* Fraction bits of fs_alpha_ns_q10. */
#define QUELL_SWIFT_ALPHA_Q		10

#define QUELL_SWIFT_ADAPT_BOOL_DEFAULT	1ULL		/* Documentation/adapt.md */
#define QUELL_SWIFT_ADAPT_BOOL_MIN	0ULL
#define QUELL_SWIFT_ADAPT_BOOL_MAX	1ULL
#define QUELL_SWIFT_BASE_TARGET_NS_DEFAULT	0ULL	/* from the path; VAI/SF 5 us */
#define QUELL_SWIFT_BASE_TARGET_NS_MIN		0ULL
#define QUELL_SWIFT_BASE_TARGET_NS_MAX		1000000000ULL
#define QUELL_SWIFT_HOP_SCALE_NS_DEFAULT	2000ULL		/* VAI/SF III-D */
#define QUELL_SWIFT_HOP_SCALE_NS_MIN		0ULL
#define QUELL_SWIFT_HOP_SCALE_NS_MAX		1000000ULL
#define QUELL_SWIFT_FS_RANGE_NS_DEFAULT		25000ULL	/* Documentation/swift.md */
#define QUELL_SWIFT_FS_RANGE_NS_MIN		0ULL
#define QUELL_SWIFT_FS_RANGE_NS_MAX		100000000ULL
#define QUELL_SWIFT_FS_MIN_PKTS_Q16_DEFAULT	6554ULL		/* 0.1, Kumar et al. */
#define QUELL_SWIFT_FS_MIN_PKTS_Q16_MIN		66ULL		/* 0.001 */
#define QUELL_SWIFT_FS_MIN_PKTS_Q16_MAX		QUELL_Q16_ONE
#define QUELL_SWIFT_FS_MAX_PKTS_Q16_DEFAULT	(50 * QUELL_Q16_ONE)	/* VAI/SF III-D */
#define QUELL_SWIFT_FS_MAX_PKTS_Q16_MIN		(2 * QUELL_Q16_ONE)
#define QUELL_SWIFT_FS_MAX_PKTS_Q16_MAX		(65536 * QUELL_Q16_ONE)
#define QUELL_SWIFT_HOST_TARGET_NS_DEFAULT	100000ULL	/* Documentation/swift.md */
#define QUELL_SWIFT_HOST_TARGET_NS_MIN		0ULL
#define QUELL_SWIFT_HOST_TARGET_NS_MAX		1000000000ULL
#define QUELL_SWIFT_AI_BYTES_PS_DEFAULT		6250000ULL	/* 50 Mbit/s, VAI/SF III-D */
#define QUELL_SWIFT_AI_BYTES_PS_MIN		1000ULL
#define QUELL_SWIFT_AI_BYTES_PS_MAX		125000000000ULL	/* 1 Tbit/s */
#define QUELL_SWIFT_BETA_Q16_DEFAULT		52429ULL	/* 0.8, VAI/SF III-D */
#define QUELL_SWIFT_BETA_Q16_MIN		1ULL
#define QUELL_SWIFT_BETA_Q16_MAX		QUELL_Q16_ONE
#define QUELL_SWIFT_MAX_MDF_Q16_DEFAULT		32768ULL	/* 0.5, VAI/SF III-D */
#define QUELL_SWIFT_MAX_MDF_Q16_MIN		656ULL		/* 0.01 */
#define QUELL_SWIFT_MAX_MDF_Q16_MAX		64880ULL	/* 0.99 */
#define QUELL_SWIFT_MIN_WINDOW_PKTS_Q16_DEFAULT	656ULL		/* 0.01 */
#define QUELL_SWIFT_MIN_WINDOW_PKTS_Q16_MIN	66ULL		/* 0.001 */
#define QUELL_SWIFT_MIN_WINDOW_PKTS_Q16_MAX	QUELL_Q16_ONE
#define QUELL_SWIFT_MAX_WINDOW_BYTES_DEFAULT	16777216ULL	/* 16 MiB: 400 Gbit/s * 335 us */
#define QUELL_SWIFT_MAX_WINDOW_BYTES_MIN	65536ULL	/* above any segment */
#define QUELL_SWIFT_MAX_WINDOW_BYTES_MAX	1073741824ULL	/* TCP's own limit, 1 GiB */
#define QUELL_SWIFT_INIT_WINDOW_BYTES_DEFAULT	0ULL
#define QUELL_SWIFT_INIT_WINDOW_BYTES_MIN	0ULL
#define QUELL_SWIFT_INIT_WINDOW_BYTES_MAX	1073741824ULL
#define QUELL_SWIFT_RESTART_IDLE_NS_DEFAULT	1000000ULL	/* Documentation/swift.md */
#define QUELL_SWIFT_RESTART_IDLE_NS_MIN		0ULL
#define QUELL_SWIFT_RESTART_IDLE_NS_MAX		3600000000000ULL
#define QUELL_SWIFT_RETX_RESET_RTOS_DEFAULT	5ULL
#define QUELL_SWIFT_RETX_RESET_RTOS_MIN		1ULL
#define QUELL_SWIFT_RETX_RESET_RTOS_MAX		100ULL
#define QUELL_SWIFT_PROBABILISTIC_BOOL_DEFAULT	0ULL
#define QUELL_SWIFT_PROBABILISTIC_BOOL_MIN	0ULL
#define QUELL_SWIFT_PROBABILISTIC_BOOL_MAX	1ULL

/*
 * Every field is u64 so that a table of offsets can address it; core.h explains them.  The caller
 * runs quell_swift_params_derive() on the copy about to be published.  The core only reads the
 * block.  Values within QUELL_SWIFT_*_MIN and _MAX are consistent.
 */
struct quell_swift_params {
	u64	adapt_bool;
	u64	base_target_ns;	/* 0: path's own RTT plus room for a queue; no hop_scale */
	u64	hop_scale_ns;
	u64	fs_range_ns;
	u64	fs_min_pkts_q16;
	u64	fs_max_pkts_q16;
	u64	host_target_ns;	/* 0: the remote host's delay counts towards the path's */
	u64	ai_bytes_ps;
	u64	beta_q16;
	u64	max_mdf_q16;
	u64	min_window_pkts_q16;
	u64	max_window_bytes;
	u64	init_window_bytes;
	u64	restart_idle_ns;
	u64	retx_reset_rtos;
	u64	probabilistic;

	u64	fs_alpha_ns_q10;	/* derived: alpha of flow-based scaling */
	u64	fs_offset_q24;	/* derived: 1 / sqrt(@fs_max_pkts_q16) */
};

/*
 * Two reciprocal square roots and a division here leave only one reciprocal square root to be
 * computed per ACK.  alpha = range / (1/sqrt(min) - 1/sqrt(max)) is at most 3.42 * range *
 * sqrt(min), which in Q10 times 1/sqrt(window) <= 1/sqrt(min) in Q24 stays below 2^63 for every
 * value in range.
 */
static inline void quell_swift_params_derive(struct quell_swift_params *p)
{
	u64 most_q24 = quell_rsqrt_q24(p->fs_min_pkts_q16);
	u64 least_q24 = quell_rsqrt_q24(p->fs_max_pkts_q16);

	p->fs_offset_q24 = least_q24;
	p->fs_alpha_ns_q10 = 0;
	if (most_q24 > least_q24)
		p->fs_alpha_ns_q10 =
			quell_mul_div_u64(p->fs_range_ns << QUELL_SWIFT_ALPHA_Q,
					  1ULL << QUELL_RSQRT_Q,
					  most_q24 - least_q24);
}

#endif /* _QUELL_CORE_SWIFT_PARAMS_H */

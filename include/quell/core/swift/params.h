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

#define QUELL_SWIFT_ADAPT_BOOL		QUELL_RANGE(1, 0, 1) /* Documentation/adapt.md */
#define QUELL_SWIFT_BASE_TARGET_NS_MAX		1000000000ULL
/* from the path; VAI/SF 5 us */
#define QUELL_SWIFT_BASE_TARGET_NS	QUELL_RANGE(0, 0, QUELL_SWIFT_BASE_TARGET_NS_MAX)
#define QUELL_SWIFT_HOP_SCALE_NS_MAX		1000000ULL
/* VAI/SF III-D */
#define QUELL_SWIFT_HOP_SCALE_NS	QUELL_RANGE(2000, 0, QUELL_SWIFT_HOP_SCALE_NS_MAX)
#define QUELL_SWIFT_FS_RANGE_NS		QUELL_RANGE(25000, 0, 100000000) /* swift.md */
#define QUELL_SWIFT_FS_MIN_PKTS_Q16_DEFAULT	6554ULL
/* 0.1, Kumar et al.; least: 0.001 */
#define QUELL_SWIFT_FS_MIN_PKTS_Q16 \
	QUELL_RANGE(QUELL_SWIFT_FS_MIN_PKTS_Q16_DEFAULT, 66, QUELL_Q16_ONE)
#define QUELL_SWIFT_FS_MAX_PKTS_Q16_DEFAULT	(50 * QUELL_Q16_ONE)
/* VAI/SF III-D */
#define QUELL_SWIFT_FS_MAX_PKTS_Q16 \
	QUELL_RANGE(QUELL_SWIFT_FS_MAX_PKTS_Q16_DEFAULT, 2 * QUELL_Q16_ONE, 65536 * QUELL_Q16_ONE)
#define QUELL_SWIFT_HOST_TARGET_NS	QUELL_RANGE(100000, 0, 1000000000) /* swift.md */
/* 50 Mbit/s, VAI/SF III-D; most: 1 Tbit/s */
#define QUELL_SWIFT_AI_BYTES_PS		QUELL_RANGE(6250000, 1000, 125000000000ULL)
#define QUELL_SWIFT_BETA_Q16		QUELL_RANGE(52429, 1, QUELL_Q16_ONE) /* 0.8, VAI/SF III-D */
/* 0.5, VAI/SF III-D; least: 0.01; most: 0.99 */
#define QUELL_SWIFT_MAX_MDF_Q16		QUELL_RANGE(32768, 656, 64880)
#define QUELL_SWIFT_MIN_WINDOW_PKTS_Q16	QUELL_RANGE(656, 66, QUELL_Q16_ONE) /* 0.01; least: 0.001 */
#define QUELL_SWIFT_MAX_WINDOW_BYTES_DEFAULT	16777216ULL
/* 16 MiB: 400 Gbit/s * 335 us; least: above any segment; most: TCP's own limit, 1 GiB */
#define QUELL_SWIFT_MAX_WINDOW_BYTES \
	QUELL_RANGE(QUELL_SWIFT_MAX_WINDOW_BYTES_DEFAULT, 65536, 1073741824)
#define QUELL_SWIFT_INIT_WINDOW_BYTES	QUELL_RANGE(0, 0, 1073741824)
#define QUELL_SWIFT_RESTART_IDLE_NS	QUELL_RANGE(1000000, 0, 3600000000000ULL) /* swift.md */
#define QUELL_SWIFT_RETX_RESET_RTOS	QUELL_RANGE(5, 1, 100)
#define QUELL_SWIFT_PROBABILISTIC_BOOL	QUELL_RANGE(0, 0, 1)

/*
 * Every field is u64 so that a table of offsets can address it; core.h explains them.  The caller
 * runs quell_swift_params_derive() on the copy about to be published.  The core only reads the
 * block.  Values within the ranges are consistent.
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

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parameters of Swift: defaults, ranges and derived fields.
 *
 * The ranges keep the arithmetic of <quell/core/swift/react.h> exact.  They also make
 * the parameters independent of each other: any combination of values within the
 * ranges is valid, so each parameter can be set without looking at the others.
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

/**
 * struct quell_swift_params - parameters of Swift
 * @adapt_bool:	fit the flow to its path, <quell/core/adapt/react.h>; the core itself does not
 *			read it
 * @base_target_ns:	target delay of a path without switches, ns; 0: use the path's own
 *			round-trip time plus room for a queue, and ignore @hop_scale_ns
 * @hop_scale_ns:	increase of the target per switch on the path, ns
 * @fs_range_ns:	maximum that flow-based scaling adds to the target, ns; 0
 *			disables flow-based scaling
 * @fs_min_pkts_q16:	window at and below which flow-based scaling adds all of
 *			@fs_range_ns
 * @fs_max_pkts_q16:	window at and above which flow-based scaling adds 0 ns
 * @host_target_ns:	target for the delay of the remote host, ns; 0: the delay of
 *			the remote host counts towards the delay of the path
 * @ai_bytes_ps:	additive increase, bytes/s: per round trip the window grows
 *			by this rate times the base round-trip time
 * @beta_q16:		weight of the excess delay in a decrease
 * @max_mdf_q16:	maximum fraction of the window that one decrease removes
 * @min_window_pkts_q16: smallest window, segments
 * @max_window_bytes:	largest window, bytes
 * @init_window_bytes:	window a message starts with, bytes; 0 means one
 *			bandwidth-delay product
 * @restart_idle_ns:	idle time after which the flow restarts, ns; 0 never
 * @retx_reset_rtos:	consecutive timeouts that reset the window to the minimum
 * @probabilistic:	skip decreases because of delay at random; the smaller the
 *			window, the more likely the skip
 * @fs_alpha_ns_q10:	derived: alpha of flow-based scaling
 * @fs_offset_q24:	derived: 1 / sqrt(@fs_max_pkts_q16)
 *
 * Every field is u64 so that a table of offsets can address it.  The
 * administrator does not set the two derived fields: after any change to the others,
 * the caller runs quell_swift_params_derive() on the copy about to be published.  The
 * core only reads the block.  A block whose fields lie within QUELL_SWIFT_*_MIN and
 * _MAX is consistent.
 */
struct quell_swift_params {
	u64	adapt_bool;
	u64	base_target_ns;
	u64	hop_scale_ns;
	u64	fs_range_ns;
	u64	fs_min_pkts_q16;
	u64	fs_max_pkts_q16;
	u64	host_target_ns;
	u64	ai_bytes_ps;
	u64	beta_q16;
	u64	max_mdf_q16;
	u64	min_window_pkts_q16;
	u64	max_window_bytes;
	u64	init_window_bytes;
	u64	restart_idle_ns;
	u64	retx_reset_rtos;
	u64	probabilistic;

	u64	fs_alpha_ns_q10;
	u64	fs_offset_q24;
};

/**
 * quell_swift_params_derive() - recompute the derived fields
 * @p: parameters within their ranges
 *
 * Code that changes a parameter calls this before publishing the block.  It costs
 * two reciprocal square roots and a division, and leaves only one reciprocal square
 * root to be computed per ACK.
 *
 * alpha = range / (1/sqrt(min) - 1/sqrt(max)) is at most 3.42 * range *
 * sqrt(min), which in Q10 times 1/sqrt(window) <= 1/sqrt(min) in Q24 stays
 * below 2^63 for every value in range.
 *
 * Context: any.
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

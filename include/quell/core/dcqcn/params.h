/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parameters of DCQCN.  Any values within their ranges are compatible, and within these ranges
 * the arithmetic of <quell/core/dcqcn/react.h> cannot overflow.
 */
#ifndef _QUELL_CORE_DCQCN_PARAMS_H
#define _QUELL_CORE_DCQCN_PARAMS_H

#include <quell/core/core.h>

#define QUELL_DCQCN_ADAPT_BOOL_DEFAULT	1ULL		/* Documentation/adapt.md */
#define QUELL_DCQCN_ADAPT_BOOL_MIN	0ULL
#define QUELL_DCQCN_ADAPT_BOOL_MAX	1ULL
#define QUELL_DCQCN_G_Q16_DEFAULT		256ULL		/* 1/256, Dart VI-A */
#define QUELL_DCQCN_G_Q16_MIN			1ULL
#define QUELL_DCQCN_G_Q16_MAX			65536ULL
#define QUELL_DCQCN_NOTIFY_INTERVAL_NS_DEFAULT	50000ULL	/* Dart VI-A */
#define QUELL_DCQCN_NOTIFY_INTERVAL_NS_MIN	0ULL
#define QUELL_DCQCN_NOTIFY_INTERVAL_NS_MAX	1000000000ULL
#define QUELL_DCQCN_ALPHA_TIMER_NS_DEFAULT	55000ULL	/* Zhu et al.: K */
#define QUELL_DCQCN_ALPHA_TIMER_NS_MIN		1000ULL
#define QUELL_DCQCN_ALPHA_TIMER_NS_MAX		1000000000ULL
#define QUELL_DCQCN_TIMER_NS_DEFAULT		55000ULL	/* Dart VI-A */
#define QUELL_DCQCN_TIMER_NS_MIN		1000ULL
#define QUELL_DCQCN_TIMER_NS_MAX		1000000000ULL
#define QUELL_DCQCN_BYTE_COUNTER_BYTES_DEFAULT	10000000ULL	/* 10 MB, Dart VI-A */
#define QUELL_DCQCN_BYTE_COUNTER_BYTES_MIN	10000ULL
#define QUELL_DCQCN_BYTE_COUNTER_BYTES_MAX	1000000000ULL
#define QUELL_DCQCN_FAST_RECOVERY_STEPS_DEFAULT	5ULL		/* Zhu et al.: F */
#define QUELL_DCQCN_FAST_RECOVERY_STEPS_MIN	1ULL
#define QUELL_DCQCN_FAST_RECOVERY_STEPS_MAX	100ULL
#define QUELL_DCQCN_AI_BYTES_PS_DEFAULT		5000000ULL	/* 40 Mbit/s, Zhu et al. */
#define QUELL_DCQCN_AI_BYTES_PS_MIN		1000ULL
#define QUELL_DCQCN_AI_BYTES_PS_MAX		125000000000ULL	/* 1 Tbit/s */
#define QUELL_DCQCN_HAI_BYTES_PS_DEFAULT	50000000ULL	/* Documentation/dcqcn.md */
#define QUELL_DCQCN_HAI_BYTES_PS_MIN		1000ULL
#define QUELL_DCQCN_HAI_BYTES_PS_MAX		125000000000ULL
#define QUELL_DCQCN_MIN_RATE_BYTES_PS_DEFAULT	1250000ULL	/* 10 Mbit/s */
#define QUELL_DCQCN_MIN_RATE_BYTES_PS_MIN	1000ULL
#define QUELL_DCQCN_MIN_RATE_BYTES_PS_MAX	1250000000ULL	/* 10 Gbit/s */
#define QUELL_DCQCN_QUEUE_BOUND_NS_DEFAULT	100000ULL	/* Documentation/dcqcn.md */
#define QUELL_DCQCN_QUEUE_BOUND_NS_MIN		0ULL
#define QUELL_DCQCN_QUEUE_BOUND_NS_MAX		1000000000ULL
#define QUELL_DCQCN_MAX_WINDOW_BYTES_DEFAULT	16777216ULL	/* 16 MiB: 400 Gbit/s * 335 us */
#define QUELL_DCQCN_MAX_WINDOW_BYTES_MIN	65536ULL	/* above any segment */
#define QUELL_DCQCN_MAX_WINDOW_BYTES_MAX	1073741824ULL	/* TCP's own limit, 1 GiB */
#define QUELL_DCQCN_RESTART_IDLE_NS_DEFAULT	1000000ULL	/* Documentation/dcqcn.md */
#define QUELL_DCQCN_RESTART_IDLE_NS_MIN		0ULL
#define QUELL_DCQCN_RESTART_IDLE_NS_MAX		3600000000000ULL

/* Every field is u64 so that a table of offsets can address it; core.h explains them. */
struct quell_dcqcn_params {
	u64	adapt_bool;
	u64	g_q16;
	u64	notify_interval_ns;
	u64	alpha_timer_ns;
	u64	timer_ns;
	u64	byte_counter_bytes;
	u64	fast_recovery_steps;
	u64	ai_bytes_ps;
	u64	hai_bytes_ps;
	u64	min_rate_bytes_ps;
	u64	queue_bound_ns;
	u64	max_window_bytes;
	u64	restart_idle_ns;
};

#endif /* _QUELL_CORE_DCQCN_PARAMS_H */

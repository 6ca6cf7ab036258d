/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parameters of DCQCN.  Any values within their ranges are compatible, and within these ranges
 * the arithmetic of <quell/core/dcqcn/react.h> cannot overflow.
 */
#ifndef _QUELL_CORE_DCQCN_PARAMS_H
#define _QUELL_CORE_DCQCN_PARAMS_H

#include <quell/core/core.h>

#define QUELL_DCQCN_ADAPT_BOOL		QUELL_RANGE(1, 0, 1) /* Documentation/adapt.md */
#define QUELL_DCQCN_G_Q16		QUELL_RANGE(256, 1, 65536) /* 1/256, Dart VI-A */
#define QUELL_DCQCN_NOTIFY_INTERVAL_NS	QUELL_RANGE(50000, 0, 1000000000) /* Dart VI-A */
#define QUELL_DCQCN_ALPHA_TIMER_NS	QUELL_RANGE(55000, 1000, 1000000000) /* Zhu et al.: K */
#define QUELL_DCQCN_TIMER_NS		QUELL_RANGE(55000, 1000, 1000000000) /* Dart VI-A */
/* 10 MB, Dart VI-A */
#define QUELL_DCQCN_BYTE_COUNTER_BYTES	QUELL_RANGE(10000000, 10000, 1000000000)
#define QUELL_DCQCN_FAST_RECOVERY_STEPS	QUELL_RANGE(5, 1, 100) /* Zhu et al.: F */
/* 40 Mbit/s, Zhu et al.; most: 1 Tbit/s */
#define QUELL_DCQCN_AI_BYTES_PS		QUELL_RANGE(5000000, 1000, 125000000000ULL)
#define QUELL_DCQCN_HAI_BYTES_PS	QUELL_RANGE(50000000, 1000, 125000000000ULL) /* dcqcn.md */
/* 10 Mbit/s; most: 10 Gbit/s */
#define QUELL_DCQCN_MIN_RATE_BYTES_PS	QUELL_RANGE(1250000, 1000, 1250000000)
#define QUELL_DCQCN_QUEUE_BOUND_NS	QUELL_RANGE(100000, 0, 1000000000) /* dcqcn.md */
/* 16 MiB: 400 Gbit/s * 335 us; least: above any segment; most: TCP's own limit, 1 GiB */
#define QUELL_DCQCN_MAX_WINDOW_BYTES	QUELL_RANGE(16777216, 65536, 1073741824)
#define QUELL_DCQCN_RESTART_IDLE_NS_DEFAULT	1000000ULL
/* Documentation/dcqcn.md */
#define QUELL_DCQCN_RESTART_IDLE_NS \
	QUELL_RANGE(QUELL_DCQCN_RESTART_IDLE_NS_DEFAULT, 0, 3600000000000ULL)

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

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parameters of HPCC.  Any values within their ranges are compatible.  "Artifact" is the
 * simulator that the authors of HPCC published.
 */
#ifndef _QUELL_CORE_HPCC_PARAMS_H
#define _QUELL_CORE_HPCC_PARAMS_H

#include <quell/core/core.h>

#define QUELL_HPCC_ADAPT_BOOL_DEFAULT	1ULL		/* Documentation/adapt.md */
#define QUELL_HPCC_ADAPT_BOOL_MIN	0ULL
#define QUELL_HPCC_ADAPT_BOOL_MAX	1ULL
#define QUELL_HPCC_ETA_Q16_DEFAULT		62259ULL	/* 0.95, VAI/SF III-D */
#define QUELL_HPCC_ETA_Q16_MIN			32768ULL	/* 0.5 */
#define QUELL_HPCC_ETA_Q16_MAX			QUELL_Q16_ONE
#define QUELL_HPCC_MAX_STAGE_STEPS_DEFAULT	5ULL		/* VAI/SF III-D */
#define QUELL_HPCC_MAX_STAGE_STEPS_MIN		0ULL		/* always multiplicative */
#define QUELL_HPCC_MAX_STAGE_STEPS_MAX		100ULL
#define QUELL_HPCC_AI_BYTES_PS_DEFAULT		6250000ULL	/* 50 Mbit/s, VAI/SF III-D */
#define QUELL_HPCC_AI_BYTES_PS_MIN		1000ULL
#define QUELL_HPCC_AI_BYTES_PS_MAX		125000000000ULL	/* 1 Tbit/s */
#define QUELL_HPCC_BASE_RTT_NS_DEFAULT		0ULL		/* the flow's minimum */
#define QUELL_HPCC_BASE_RTT_NS_MIN		0ULL
#define QUELL_HPCC_BASE_RTT_NS_MAX		1000000000ULL
#define QUELL_HPCC_MIN_RATE_BYTES_PS_DEFAULT	12500000ULL	/* 100 Mbit/s, artifact */
#define QUELL_HPCC_MIN_RATE_BYTES_PS_MIN	1000ULL
#define QUELL_HPCC_MIN_RATE_BYTES_PS_MAX	1250000000ULL	/* 10 Gbit/s */
#define QUELL_HPCC_MAX_WINDOW_BYTES_DEFAULT	16777216ULL	/* 16 MiB: 400 Gbit/s * 335 us */
#define QUELL_HPCC_MAX_WINDOW_BYTES_MIN		65536ULL	/* above any segment */
#define QUELL_HPCC_MAX_WINDOW_BYTES_MAX		1073741824ULL	/* TCP's own limit, 1 GiB */
#define QUELL_HPCC_INIT_WINDOW_BYTES_DEFAULT	0ULL
#define QUELL_HPCC_INIT_WINDOW_BYTES_MIN	0ULL
#define QUELL_HPCC_INIT_WINDOW_BYTES_MAX	1073741824ULL
#define QUELL_HPCC_RESTART_IDLE_NS_DEFAULT	1000000ULL	/* as Swift's */
#define QUELL_HPCC_RESTART_IDLE_NS_MIN		0ULL
#define QUELL_HPCC_RESTART_IDLE_NS_MAX		3600000000000ULL
#define QUELL_HPCC_RETX_RESET_RTOS_DEFAULT	5ULL		/* as Swift's */
#define QUELL_HPCC_RETX_RESET_RTOS_MIN		1ULL
#define QUELL_HPCC_RETX_RESET_RTOS_MAX		100ULL
#define QUELL_HPCC_PROBABILISTIC_BOOL_DEFAULT	0ULL
#define QUELL_HPCC_PROBABILISTIC_BOOL_MIN	0ULL
#define QUELL_HPCC_PROBABILISTIC_BOOL_MAX	1ULL

/* Every field is u64 so that a table of offsets can address it; core.h explains them. */
struct quell_hpcc_params {
	u64	adapt_bool;
	u64	eta_q16;
	u64	max_stage_steps;
	u64	ai_bytes_ps;
	u64	base_rtt_ns;
	u64	min_rate_bytes_ps;
	u64	max_window_bytes;
	u64	init_window_bytes;
	u64	restart_idle_ns;
	u64	retx_reset_rtos;
	u64	probabilistic;
};

#endif /* _QUELL_CORE_HPCC_PARAMS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parameters of HPCC.  Any values within their ranges are compatible.  "Artifact" is the
 * simulator that the authors of HPCC published.
 */
#ifndef _QUELL_CORE_HPCC_PARAMS_H
#define _QUELL_CORE_HPCC_PARAMS_H

#include <quell/core/core.h>

#define QUELL_HPCC_ADAPT_BOOL		QUELL_RANGE(1, 0, 1) /* Documentation/adapt.md */
/* 0.95, VAI/SF III-D; least: 0.5 */
#define QUELL_HPCC_ETA_Q16		QUELL_RANGE(62259, 32768, QUELL_Q16_ONE)
/* VAI/SF III-D; least: always multiplicative */
#define QUELL_HPCC_MAX_STAGE_STEPS	QUELL_RANGE(5, 0, 100)
/* 50 Mbit/s, VAI/SF III-D; most: 1 Tbit/s */
#define QUELL_HPCC_AI_BYTES_PS		QUELL_RANGE(6250000, 1000, 125000000000ULL)
#define QUELL_HPCC_BASE_RTT_NS		QUELL_RANGE(0, 0, 1000000000) /* the flow's minimum */
/* 100 Mbit/s, artifact; most: 10 Gbit/s */
#define QUELL_HPCC_MIN_RATE_BYTES_PS	QUELL_RANGE(12500000, 1000, 1250000000)
/* 16 MiB: 400 Gbit/s * 335 us; least: above any segment; most: TCP's own limit, 1 GiB */
#define QUELL_HPCC_MAX_WINDOW_BYTES	QUELL_RANGE(16777216, 65536, 1073741824)
#define QUELL_HPCC_INIT_WINDOW_BYTES	QUELL_RANGE(0, 0, 1073741824)
#define QUELL_HPCC_RESTART_IDLE_NS	QUELL_RANGE(1000000, 0, 3600000000000ULL) /* as Swift's */
#define QUELL_HPCC_RETX_RESET_RTOS	QUELL_RANGE(5, 1, 100) /* as Swift's */
#define QUELL_HPCC_PROBABILISTIC_BOOL	QUELL_RANGE(0, 0, 1)

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

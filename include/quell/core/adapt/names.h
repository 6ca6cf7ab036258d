/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Words for the governor of a flow's window, and for the reason: one table for the kernel's replies
 * and for observers which read the numbers.
 */
#ifndef _QUELL_CORE_ADAPT_NAMES_H
#define _QUELL_CORE_ADAPT_NAMES_H

#include <quell/core/adapt/vars.h>

/* By enum quell_adapt_phase; NULL: the flow is not fitted to its path. */
static const char * const quell_adapt_phases[] = {
	[QUELL_ADAPT_START]	= "start",
	[QUELL_ADAPT_FIT]	= "fit",
	[QUELL_ADAPT_FALLBACK]	= "fallback",
};

/* By enum quell_adapt_reason; they count in phase QUELL_ADAPT_FALLBACK only. */
static const char * const quell_adapt_reasons[QUELL_ADAPT_REASONS] = {
	[QUELL_ADAPT_FITS]		= "none",
	[QUELL_ADAPT_LONG_PATH]		= "long-path",
	[QUELL_ADAPT_SLOW_PATH]		= "slow-path",
	[QUELL_ADAPT_NOISE]		= "noise",
	[QUELL_ADAPT_EARLY_LOSS]	= "early-loss",
	[QUELL_ADAPT_DELAY_STAYS]	= "delay-stays",
	[QUELL_ADAPT_NO_MARKS]		= "no-marks",
	[QUELL_ADAPT_NO_RECORDS]	= "no-records",
	[QUELL_ADAPT_NO_DELAY]		= "no-delay",
};

#endif /* _QUELL_CORE_ADAPT_NAMES_H */

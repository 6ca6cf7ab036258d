/* SPDX-License-Identifier: GPL-2.0 */
/* Dart: the state of a sending flow and its counters. */
#ifndef _QUELL_CORE_DART_VARS_H
#define _QUELL_CORE_DART_VARS_H

#include <quell/core/dcqcn/vars.h>

/* The fall-back's; n is in the sample of each acknowledgment. */
struct quell_dart_vars {
	struct quell_dcqcn_vars	dcqcn;
};

/* core.h explains the counters. */
struct quell_dart_stats {
	struct quell_dcqcn_stats	dcqcn;
	u64				apportioned;
	u64				fallen_back;
	u64				unstated;
};

#endif /* _QUELL_CORE_DART_VARS_H */

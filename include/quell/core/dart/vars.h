/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Dart: the state of a sending flow and its counters.
 */
#ifndef _QUELL_CORE_DART_VARS_H
#define _QUELL_CORE_DART_VARS_H

#include <quell/core/dcqcn/vars.h>

/**
 * struct quell_dart_vars - state of one flow
 * @dcqcn: the fall-back; n is in the sample of each acknowledgment
 *
 * Written by the functions of react.h only, under the lock of the flow's socket.
 */
struct quell_dart_vars {
	struct quell_dcqcn_vars	dcqcn;
};

/**
 * struct quell_dart_stats - free-running counters
 * @dcqcn:	  the fall-back's
 * @apportioned:  decisions that the receiver's n limited
 * @fallen_back:  decisions that DCQCN limited, below line rate and below the share
 * @unstated:	  acknowledgments of a receiver that states no n
 */
struct quell_dart_stats {
	struct quell_dcqcn_stats	dcqcn;
	u64				apportioned;
	u64				fallen_back;
	u64				unstated;
};

#endif /* _QUELL_CORE_DART_VARS_H */

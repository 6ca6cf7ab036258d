/* SPDX-License-Identifier: GPL-2.0 */
/* HPCC with Variable AI and Sampling Frequency: the state of a flow and its counters. */
#ifndef _QUELL_CORE_HPCC_VAISF_VARS_H
#define _QUELL_CORE_HPCC_VAISF_VARS_H

#include <quell/core/hpcc/vars.h>
#include <quell/core/vaisf/react.h>

/* The round trips of HPCC drive the two mechanisms. */
struct quell_hpcc_vaisf_vars {
	struct quell_hpcc_vars	hpcc;
	struct quell_vaisf_vars	vaisf;
};

/* The module's glue shares the 104 bytes of a socket's private area with this state. */
static_assert(sizeof(struct quell_hpcc_vaisf_vars) <= 64);

/* core.h explains the counters. */
struct quell_hpcc_vaisf_stats {
	struct quell_hpcc_stats	hpcc;
	u64			held;
	u64			rounds;
	u64			earned;
	u64			spent;
};

#endif /* _QUELL_CORE_HPCC_VAISF_VARS_H */

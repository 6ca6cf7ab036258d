/* SPDX-License-Identifier: GPL-2.0 */
/*
 * HPCC with Variable AI and Sampling Frequency: the state of a flow and its counters.
 */
#ifndef _QUELL_CORE_HPCC_VAISF_VARS_H
#define _QUELL_CORE_HPCC_VAISF_VARS_H

#include <quell/core/hpcc/vars.h>
#include <quell/core/vaisf/react.h>

/**
 * struct quell_hpcc_vaisf_vars - state of one flow
 * @hpcc:  state of HPCC
 * @vaisf: state of the two mechanisms; the round trips of HPCC drive them
 */
struct quell_hpcc_vaisf_vars {
	struct quell_hpcc_vars	hpcc;
	struct quell_vaisf_vars	vaisf;
};

/* The module's glue shares the 104 bytes of a socket's private area with this state. */
static_assert(sizeof(struct quell_hpcc_vaisf_vars) <= 64);

/**
 * struct quell_hpcc_vaisf_stats - free-running counters
 * @hpcc:	counters of HPCC
 * @held:	ACKs that lowered the window but not the reference, because the sampling
 *		period was not over or the ACK did not measure U
 * @rounds:	round trips finished
 * @earned:	round trips that earned tokens
 * @spent:	tokens spent
 */
struct quell_hpcc_vaisf_stats {
	struct quell_hpcc_stats	hpcc;
	u64			held;
	u64			rounds;
	u64			earned;
	u64			spent;
};

#endif /* _QUELL_CORE_HPCC_VAISF_VARS_H */

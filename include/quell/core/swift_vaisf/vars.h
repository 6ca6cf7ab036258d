/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Swift with Variable AI and Sampling Frequency: the state of a flow and its counters.
 */
#ifndef _QUELL_CORE_SWIFT_VAISF_VARS_H
#define _QUELL_CORE_SWIFT_VAISF_VARS_H

#include <quell/core/swift/vars.h>
#include <quell/core/vaisf/react.h>

/**
 * struct quell_swift_vaisf_vars - state of one flow
 * @swift: state of Swift; its window is the reference
 * @vaisf: state of the two mechanisms
 * @round_bytes: bytes in flight when the round trip began that are not yet acknowledged
 */
struct quell_swift_vaisf_vars {
	struct quell_swift_vars	swift;
	struct quell_vaisf_vars	vaisf;
	u32			round_bytes;
};

/* The module's glue shares the 104 bytes of a socket's private area with this state. */
static_assert(sizeof(struct quell_swift_vaisf_vars) <= 64);

/**
 * struct quell_swift_vaisf_stats - free-running counters
 * @swift:	counters of Swift; increases and decreases are those of the reference,
 *		held counts ACKs that were not yet allowed to change the reference
 * @rounds:	round trips finished
 * @earned:	round trips that earned tokens
 * @spent:	tokens spent
 */
struct quell_swift_vaisf_stats {
	struct quell_swift_stats	swift;
	u64				rounds;
	u64				earned;
	u64				spent;
};

#endif /* _QUELL_CORE_SWIFT_VAISF_VARS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* Swift with Variable AI and Sampling Frequency: the state of a flow and its counters. */
#ifndef _QUELL_CORE_SWIFT_VAISF_VARS_H
#define _QUELL_CORE_SWIFT_VAISF_VARS_H

#include <quell/core/swift/vars.h>
#include <quell/core/vaisf/react.h>

/* State of one flow. */
struct quell_swift_vaisf_vars {
	struct quell_swift_vars	swift;	/* its window is the reference */
	struct quell_vaisf_vars	vaisf;
	/* In flight when the round trip began and not yet acknowledged. */
	u32			round_bytes;
};

/* The module's glue shares the 104 bytes of a socket's private area with this state. */
static_assert(sizeof(struct quell_swift_vaisf_vars) <= 64);

/* core.h explains the counters. */
struct quell_swift_vaisf_stats {
	/* Increases, decreases: of the reference; held: ACKs that may not change it. */
	struct quell_swift_stats	swift;
	u64				rounds;
	u64				earned;
	u64				spent;
};

#endif /* _QUELL_CORE_SWIFT_VAISF_VARS_H */

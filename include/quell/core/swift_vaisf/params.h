/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parameters of Swift except for flow-based scaling, of Variable AI and Sampling Frequency, and
 * of the conversion from delay to tokens.  Any values within their ranges are compatible.
 */
#ifndef _QUELL_CORE_SWIFT_VAISF_PARAMS_H
#define _QUELL_CORE_SWIFT_VAISF_PARAMS_H

#include <quell/core/swift/params.h>
#include <quell/core/vaisf/params.h>

#define QUELL_SWIFT_VAISF_TOKEN_THRESH_NS QUELL_RANGE(4000, 0, 1000000000) /* VAI/SF VI-A */
#define QUELL_SWIFT_VAISF_TOKEN_NS	QUELL_RANGE(30, 1, 1000000000) /* VAI/SF VI-A */

/* core.h explains the parameters. */
struct quell_swift_vaisf_params {
	/* fs_range_ns, host_target_ns and probabilistic stay 0. */
	struct quell_swift_params	swift;
	struct quell_vaisf_params	vaisf;
	u64				token_thresh_ns;
	u64				token_ns;
};

/*
 * Before a block is published.  Disables flow-based scaling (section VI-B) and the separate host
 * delay (Documentation/swift_vaisf.md).
 */
static inline void quell_swift_vaisf_params_derive(struct quell_swift_vaisf_params *p)
{
	p->swift.fs_range_ns = 0;
	p->swift.host_target_ns = 0;
	p->swift.fs_min_pkts_q16 = QUELL_SWIFT_FS_MIN_PKTS_Q16_DEFAULT;
	p->swift.fs_max_pkts_q16 = QUELL_SWIFT_FS_MAX_PKTS_Q16_DEFAULT;
	quell_swift_params_derive(&p->swift);
}

#endif /* _QUELL_CORE_SWIFT_VAISF_PARAMS_H */

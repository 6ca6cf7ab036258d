/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parameters of Variable AI and Sampling Frequency that do not depend on how the algorithm
 * measures congestion.  Any values within their ranges are compatible.
 */
#ifndef _QUELL_CORE_VAISF_PARAMS_H
#define _QUELL_CORE_VAISF_PARAMS_H

#include <quell/core/core.h>

#define QUELL_VAISF_BANK_CAP_TOKENS_MAX		65535ULL
/* VAI/SF VI-A; least: no Variable AI */
#define QUELL_VAISF_BANK_CAP_TOKENS	QUELL_RANGE(1000, 0, QUELL_VAISF_BANK_CAP_TOKENS_MAX)
#define QUELL_VAISF_AI_CAP_TOKENS	QUELL_RANGE(100, 1, 65535) /* VAI/SF VI-A */
/* VAI/SF VI-A */
#define QUELL_VAISF_DAMPENER_Q16 \
	QUELL_RANGE(8 * QUELL_Q16_ONE, QUELL_Q16_ONE, 65535 * QUELL_Q16_ONE)
#define QUELL_VAISF_SAMPLING_PKTS	QUELL_RANGE(30, 1, 65535) /* VAI/SF VI-A */
#define QUELL_VAISF_SAMPLING_RTT_BOOL	QUELL_RANGE(0, 0, 1) /* VAI/SF IV-B, literally */

/* Every field is u64 so that a table of offsets can address it. */
struct quell_vaisf_params {
	u64	bank_cap_tokens;	/* that a flow holds; 0 disables Variable AI */
	u64	ai_cap_tokens;	/* that one update of the reference uses */
	u64	dampener_q16;	/* value of the dampener that halves the increase */
	u64	sampling_pkts;	/* acknowledged between two decreases of the reference */
	u64	sampling_rtt;	/* also allow a decrease at the end of each round trip */
};

#endif /* _QUELL_CORE_VAISF_PARAMS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parameters of Variable AI and Sampling Frequency that do not depend on how the algorithm
 * measures congestion.  Any values within their ranges are compatible.
 */
#ifndef _QUELL_CORE_VAISF_PARAMS_H
#define _QUELL_CORE_VAISF_PARAMS_H

#include <quell/core/core.h>

#define QUELL_VAISF_BANK_CAP_TOKENS_DEFAULT	1000ULL		/* VAI/SF VI-A */
#define QUELL_VAISF_BANK_CAP_TOKENS_MIN		0ULL		/* no Variable AI */
#define QUELL_VAISF_BANK_CAP_TOKENS_MAX		65535ULL
#define QUELL_VAISF_AI_CAP_TOKENS_DEFAULT	100ULL		/* VAI/SF VI-A */
#define QUELL_VAISF_AI_CAP_TOKENS_MIN		1ULL
#define QUELL_VAISF_AI_CAP_TOKENS_MAX		65535ULL
#define QUELL_VAISF_DAMPENER_Q16_DEFAULT	(8 * QUELL_Q16_ONE)	/* VAI/SF VI-A */
#define QUELL_VAISF_DAMPENER_Q16_MIN		QUELL_Q16_ONE
#define QUELL_VAISF_DAMPENER_Q16_MAX		(65535 * QUELL_Q16_ONE)
#define QUELL_VAISF_SAMPLING_PKTS_DEFAULT	30ULL		/* VAI/SF VI-A */
#define QUELL_VAISF_SAMPLING_PKTS_MIN		1ULL
#define QUELL_VAISF_SAMPLING_PKTS_MAX		65535ULL
#define QUELL_VAISF_SAMPLING_RTT_BOOL_DEFAULT	0ULL		/* VAI/SF IV-B, literally */
#define QUELL_VAISF_SAMPLING_RTT_BOOL_MIN	0ULL
#define QUELL_VAISF_SAMPLING_RTT_BOOL_MAX	1ULL

/* Every field is u64 so that a table of offsets can address it. */
struct quell_vaisf_params {
	u64	bank_cap_tokens;	/* that a flow holds; 0 disables Variable AI */
	u64	ai_cap_tokens;	/* that one update of the reference uses */
	u64	dampener_q16;	/* value of the dampener that halves the increase */
	u64	sampling_pkts;	/* acknowledged between two decreases of the reference */
	u64	sampling_rtt;	/* also allow a decrease at the end of each round trip */
};

#endif /* _QUELL_CORE_VAISF_PARAMS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parameters of HPCC, of Variable AI and Sampling Frequency, and of the conversion from queue
 * length to tokens.  Any values within their ranges are compatible.
 */
#ifndef _QUELL_CORE_HPCC_VAISF_PARAMS_H
#define _QUELL_CORE_HPCC_VAISF_PARAMS_H

#include <quell/core/hpcc/params.h>
#include <quell/core/vaisf/params.h>

#define QUELL_HPCC_VAISF_TOKEN_THRESH_BYTES QUELL_RANGE(50000, 0, 1073741824) /* VAI/SF VI-A */
#define QUELL_HPCC_VAISF_TOKEN_BYTES	QUELL_RANGE(1000, 1, 1073741824) /* VAI/SF VI-A */

/* core.h explains the parameters. */
struct quell_hpcc_vaisf_params {
	struct quell_hpcc_params	hpcc;	/* probabilistic stays 0 */
	struct quell_vaisf_params	vaisf;
	u64				token_thresh_bytes;
	u64				token_bytes;
};

#endif /* _QUELL_CORE_HPCC_VAISF_PARAMS_H */

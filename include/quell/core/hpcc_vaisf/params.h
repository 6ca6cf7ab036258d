/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parameters of HPCC, of Variable AI and Sampling Frequency, and of the conversion from queue
 * length to tokens.  Any values within their ranges are compatible.
 */
#ifndef _QUELL_CORE_HPCC_VAISF_PARAMS_H
#define _QUELL_CORE_HPCC_VAISF_PARAMS_H

#include <quell/core/hpcc/params.h>
#include <quell/core/vaisf/params.h>

#define QUELL_HPCC_VAISF_TOKEN_THRESH_BYTES_DEFAULT	50000ULL	/* VAI/SF VI-A */
#define QUELL_HPCC_VAISF_TOKEN_THRESH_BYTES_MIN		0ULL
#define QUELL_HPCC_VAISF_TOKEN_THRESH_BYTES_MAX		1073741824ULL
#define QUELL_HPCC_VAISF_TOKEN_BYTES_DEFAULT		1000ULL		/* VAI/SF VI-A */
#define QUELL_HPCC_VAISF_TOKEN_BYTES_MIN		1ULL
#define QUELL_HPCC_VAISF_TOKEN_BYTES_MAX		1073741824ULL

/* core.h explains the parameters. */
struct quell_hpcc_vaisf_params {
	struct quell_hpcc_params	hpcc;	/* probabilistic stays 0 */
	struct quell_vaisf_params	vaisf;
	u64				token_thresh_bytes;
	u64				token_bytes;
};

#endif /* _QUELL_CORE_HPCC_VAISF_PARAMS_H */

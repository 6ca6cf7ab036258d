// SPDX-License-Identifier: GPL-2.0
/*
 * TCP congestion control "bpf_hpcc_vaisf": the core in quell/core/hpcc_vaisf/react.h, bpf_hpcc with
 * additive increases that are delayed and shared out.
 */
#include "vmlinux_types.h"
#include <quell/core/hpcc_vaisf/core.h>
#include "hpcc_vaisf_defaults.h"

#define QUELL_BPF_ALGO		hpcc_vaisf
#define QUELL_BPF_VARS		struct quell_hpcc_vaisf_vars
#define QUELL_BPF_PARAMS	struct quell_hpcc_vaisf_params
#define QUELL_BPF_STATS		struct quell_hpcc_vaisf_stats
#include "quell_bpf.h"

QUELL_BPF_OPS(bpf_hpcc_vaisf);

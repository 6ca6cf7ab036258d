// SPDX-License-Identifier: GPL-2.0
/*
 * TCP congestion control "bpf_hpcc": the core in quell/core/hpcc/react.h.  The records come by the
 * Quell option; without it, or switches that write them, it is Reno.
 */
#include "vmlinux_types.h"
#include <quell/core/hpcc/core.h>
#include "hpcc_defaults.h"

#define QUELL_BPF_ALGO		hpcc
#define QUELL_BPF_VARS		struct quell_hpcc_vars
#define QUELL_BPF_PARAMS	struct quell_hpcc_params
#define QUELL_BPF_STATS		struct quell_hpcc_stats
#include "quell_bpf.h"

QUELL_BPF_OPS(bpf_hpcc);

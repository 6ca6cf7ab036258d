// SPDX-License-Identifier: GPL-2.0
/* TCP congestion control "bpf_dcqcn": the core in quell/core/dcqcn/react.h. */
#include "vmlinux_types.h"
#include <quell/core/dcqcn/core.h>
#include "dcqcn_defaults.h"

#define QUELL_BPF_ALGO		dcqcn
#define QUELL_BPF_VARS		struct quell_dcqcn_vars
#define QUELL_BPF_PARAMS	struct quell_dcqcn_params
#define QUELL_BPF_STATS		struct quell_dcqcn_stats
#include "quell_bpf.h"

QUELL_BPF_OPS(bpf_dcqcn);

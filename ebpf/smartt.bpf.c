// SPDX-License-Identifier: GPL-2.0
/* TCP congestion control "bpf_smartt": the core in quell/core/smartt/react.h. */
#include "vmlinux_types.h"
#include <quell/core/smartt/core.h>
#include "smartt_defaults.h"

#define QUELL_BPF_ALGO		smartt
#define QUELL_BPF_VARS		struct quell_smartt_vars
#define QUELL_BPF_PARAMS	struct quell_smartt_params
#define QUELL_BPF_STATS		struct quell_smartt_stats
#include "quell_bpf.h"

QUELL_BPF_OPS(bpf_smartt);

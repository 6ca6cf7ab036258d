// SPDX-License-Identifier: GPL-2.0
/* TCP congestion control "bpf_swift_vaisf": the core in quell/core/swift_vaisf/react.h. */
#include "vmlinux_types.h"
#include <quell/core/swift_vaisf/core.h>
#include "swift_vaisf_defaults.h"

#define QUELL_BPF_ALGO		swift_vaisf
#define QUELL_BPF_VARS		struct quell_swift_vaisf_vars
#define QUELL_BPF_PARAMS	struct quell_swift_vaisf_params
#define QUELL_BPF_STATS		struct quell_swift_vaisf_stats
#include "quell_bpf.h"

QUELL_BPF_OPS(bpf_swift_vaisf);

// SPDX-License-Identifier: GPL-2.0
/* TCP congestion control "bpf_swift": the core in quell/core/swift/split.h. */
#include "vmlinux_types.h"
#include <quell/core/swift/core.h>
#include "swift_defaults.h"

#define QUELL_BPF_ALGO		swift
#define QUELL_BPF_VARS		struct quell_swift_split_vars
#define QUELL_BPF_PARAMS	struct quell_swift_params
#define QUELL_BPF_STATS		struct quell_swift_split_stats
#include "quell_bpf.h"

QUELL_BPF_OPS(bpf_swift);

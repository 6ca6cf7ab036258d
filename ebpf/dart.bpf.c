// SPDX-License-Identifier: GPL-2.0
/*
 * TCP congestion control "bpf_dart": the core in quell/core/dart/react.h, the sender's.  Without
 * the Quell option no receiver states n, and it is DCQCN.
 */
#include "vmlinux_types.h"
#include <quell/core/dart/core.h>
#include "dart_defaults.h"

#define QUELL_BPF_ALGO		dart
#define QUELL_BPF_VARS		struct quell_dart_vars
#define QUELL_BPF_PARAMS	struct quell_dart_params
#define QUELL_BPF_STATS		struct quell_dart_stats
#include "quell_bpf.h"

QUELL_BPF_OPS(bpf_dart);

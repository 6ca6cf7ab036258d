// SPDX-License-Identifier: GPL-2.0
/* TCP congestion control "bpf_timely": the core in quell/core/timely/react.h. */
#include "vmlinux_types.h"
#include <quell/core/timely/core.h>
#include "timely_defaults.h"

#define QUELL_BPF_ALGO		timely
#define QUELL_BPF_VARS		struct quell_timely_vars
#define QUELL_BPF_PARAMS	struct quell_timely_params
#define QUELL_BPF_STATS		struct quell_timely_stats
#define QUELL_BPF_SEGMENT_PKTS	quell_timely_segment_pkts
#include "quell_bpf.h"

QUELL_BPF_OPS(bpf_timely);

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One flow of any core, for benchmarks.
 */
#ifndef _QUELL_PERF_FLOW_H
#define _QUELL_PERF_FLOW_H

#include <quell/core/algorithm.h>

#define PERF_LINK_BYTES_PS	12500000000ULL	/* 100 Gbit/s */
#define PERF_BASE_RTT_NS	5000ULL
#define PERF_REMOTE_NS		500ULL
#define PERF_MSS_BYTES		1448U		/* MTU 1500, TCP timestamps */

/* Space for the module's state per socket, per network namespace, and per CPU. */
#define PERF_BLOCK_BYTES	1024

/* A core under measurement. */
struct perf_core {
	char name[32];	/* the core's, for a variant with a suffix */
	const struct quell_core *core;	/* algorithm */
	u64 remote_ns;	/* the receiver's own delay as reported, each time */
};

struct perf_flow {
	struct quell_event ev;
	u64 vars[PERF_BLOCK_BYTES / 8];
	u64 params[PERF_BLOCK_BYTES / 8];
	u64 stats[PERF_BLOCK_BYTES / 8];
};

/* All of flow.c's, in the order of <quell/core/cores.h>, then the stub; ends with a NULL core. */
const struct perf_core *perf_cores(void);
const struct perf_core *perf_core_find(const char *name);

/* Start a flow with default parameters; link and base round-trip time are known. */
void perf_flow_start(struct perf_flow *f, const struct perf_core *core);

#endif /* _QUELL_PERF_FLOW_H */

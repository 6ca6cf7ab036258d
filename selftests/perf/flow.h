/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One flow of any core, for benchmarks: the calls of every core in one form.
 */
#ifndef _QUELL_PERF_FLOW_H
#define _QUELL_PERF_FLOW_H

#include <quell/core/cores.h>

#define PERF_LINK_BYTES_PS	12500000000ULL	/* 100 Gbit/s */
#define PERF_BASE_RTT_NS	5000ULL
#define PERF_REMOTE_NS		500ULL
#define PERF_MSS_BYTES		1448U		/* MTU 1500, TCP timestamps */

/* What a flow knows when it begins. */
static const struct quell_sample perf_start = {
	.min_rtt_ns = PERF_BASE_RTT_NS, .link_bytes_ps = PERF_LINK_BYTES_PS,
	.mss_bytes = PERF_MSS_BYTES, .flags = QUELL_S_ECN | QUELL_S_TELEMETRY,
};

/* State that the module keeps per socket, per network namespace, and per CPU. */
struct perf_flow {
	struct quell_sample s;
	struct quell_decision out;
	union {
		struct quell_swift_split_vars swift;
		struct quell_swift_vaisf_vars swift_vaisf;
		struct quell_timely_vars timely;
		struct quell_smartt_vars smartt;
		struct quell_dcqcn_vars dcqcn;
		struct quell_hpcc_vars hpcc;
		struct quell_hpcc_vaisf_vars hpcc_vaisf;
	} v;
	union {
		struct quell_swift_params swift;
		struct quell_swift_vaisf_params swift_vaisf;
		struct quell_timely_params timely;
		struct quell_smartt_params smartt;
		struct quell_dcqcn_params dcqcn;
		struct quell_hpcc_params hpcc;
		struct quell_hpcc_vaisf_params hpcc_vaisf;
	} p;
	union {
		struct quell_swift_split_stats swift;
		struct quell_swift_vaisf_stats swift_vaisf;
		struct quell_timely_stats timely;
		struct quell_smartt_stats smartt;
		struct quell_dcqcn_stats dcqcn;
		struct quell_hpcc_stats hpcc;
		struct quell_hpcc_vaisf_stats hpcc_vaisf;
	} st;
};

/**
 * struct perf_core - a core under measurement
 * @name:	as in net.ipv4.tcp_congestion_control, or the variant measured
 * @vars_bytes:	size of the state of one flow
 * @init:	starts a flow with default parameters, link and base RTT known
 * @on_ack:	the function that is measured, from entry to return
 * @on_loss:	not measured
 */
struct perf_core {
	const char *name;
	unsigned long vars_bytes;
	void (*init)(struct perf_flow *f);
	void (*on_ack)(struct perf_flow *f);
	void (*on_loss)(struct perf_flow *f);
};

/* flow_hpcc_vaisf.c */
void hpcc_vaisf_init(struct perf_flow *f);
void perf_hpcc_vaisf_on_ack(struct perf_flow *f);
void hpcc_vaisf_on_loss(struct perf_flow *f);

extern const struct perf_core perf_cores[];
const struct perf_core *perf_core_find(const char *name);

#endif /* _QUELL_PERF_FLOW_H */

// SPDX-License-Identifier: GPL-2.0
/*
 * The cores, compiled as the kernel compiles its modules: -O2, general registers
 * only.  Each *_on_ack below is one function with the core inlined, as in the
 * module; the tools count from its first instruction to its return.
 */
#include <stddef.h>
#include <string.h>

#include "flow.h"

/* As in the paper: VAI/SF III-D. */
#define PERF_TARGET_NS	5000

#define PERF_STEP	__attribute__((noinline)) static void

static void swift_init(struct perf_flow *f)
{
	quell_core_params_default(&quell_swift_core, &f->p.swift);
	f->p.swift.base_target_ns = PERF_TARGET_NS;
	quell_swift_split_init(&f->v.swift, &f->p.swift, &perf_start, &f->out);
}

PERF_STEP perf_swift_on_ack(struct perf_flow *f)
{
	quell_swift_split_on_ack(&f->v.swift, &f->p.swift, &f->st.swift, &f->s, &f->out);
}

/*
 * The same with a receiver that reports how long it held each packet.  This is a
 * separate copy: otherwise the compiler would share code between the two, unlike in
 * the module.
 */
__attribute__((flatten)) PERF_STEP perf_swift_split_on_ack(struct perf_flow *f)
{
	f->s.remote_ns = PERF_REMOTE_NS;
	quell_swift_split_on_ack(&f->v.swift, &f->p.swift, &f->st.swift, &f->s, &f->out);
}

static void swift_on_loss(struct perf_flow *f)
{
	quell_swift_split_on_loss(&f->v.swift, &f->p.swift, &f->st.swift, &f->s, &f->out);
}

static void swift_vaisf_init(struct perf_flow *f)
{
	quell_core_params_default(&quell_swift_vaisf_core, &f->p.swift_vaisf);
	f->p.swift_vaisf.swift.base_target_ns = PERF_TARGET_NS;
	quell_swift_vaisf_init(&f->v.swift_vaisf, &f->p.swift_vaisf, &perf_start, &f->out);
}

PERF_STEP perf_swift_vaisf_on_ack(struct perf_flow *f)
{
	quell_swift_vaisf_on_ack(&f->v.swift_vaisf, &f->p.swift_vaisf, &f->st.swift_vaisf,
				 &f->s, &f->out);
}

static void swift_vaisf_on_loss(struct perf_flow *f)
{
	quell_swift_vaisf_on_loss(&f->v.swift_vaisf, &f->p.swift_vaisf, &f->st.swift_vaisf,
				  &f->s, &f->out);
}

static void timely_init(struct perf_flow *f)
{
	quell_core_params_default(&quell_timely_core, &f->p.timely);
	quell_timely_init(&f->v.timely, &f->p.timely, &perf_start, &f->out);
}

PERF_STEP perf_timely_on_ack(struct perf_flow *f)
{
	quell_timely_on_ack(&f->v.timely, &f->p.timely, &f->st.timely, &f->s, &f->out);
}

static void timely_on_loss(struct perf_flow *f)
{
	quell_timely_on_loss(&f->v.timely, &f->p.timely, &f->st.timely, &f->s, &f->out);
}

static void smartt_init(struct perf_flow *f)
{
	quell_core_params_default(&quell_smartt_core, &f->p.smartt);
	quell_smartt_init(&f->v.smartt, &f->p.smartt, &perf_start, &f->out);
}

PERF_STEP perf_smartt_on_ack(struct perf_flow *f)
{
	quell_smartt_on_ack(&f->v.smartt, &f->p.smartt, &f->st.smartt, &f->s, &f->out);
}

static void smartt_on_loss(struct perf_flow *f)
{
	quell_smartt_on_loss(&f->v.smartt, &f->p.smartt, &f->st.smartt, &f->s, &f->out);
}

static void dcqcn_init(struct perf_flow *f)
{
	quell_core_params_default(&quell_dcqcn_core, &f->p.dcqcn);
	quell_dcqcn_init(&f->v.dcqcn, &f->p.dcqcn, &perf_start, &f->out);
}

PERF_STEP perf_dcqcn_on_ack(struct perf_flow *f)
{
	quell_dcqcn_on_ack(&f->v.dcqcn, &f->p.dcqcn, &f->st.dcqcn, &f->s, &f->out);
}

static void dcqcn_on_loss(struct perf_flow *f)
{
	quell_dcqcn_on_loss(&f->v.dcqcn, &f->p.dcqcn, &f->st.dcqcn, &f->s, &f->out);
}

static void hpcc_init(struct perf_flow *f)
{
	quell_core_params_default(&quell_hpcc_core, &f->p.hpcc);
	quell_hpcc_init(&f->v.hpcc, &f->p.hpcc, &perf_start, &f->out);
}

PERF_STEP perf_hpcc_on_ack(struct perf_flow *f)
{
	quell_hpcc_on_ack(&f->v.hpcc, &f->p.hpcc, &f->st.hpcc, &f->s, &f->out);
}

static void hpcc_on_loss(struct perf_flow *f)
{
	quell_hpcc_on_loss(&f->v.hpcc, &f->p.hpcc, &f->st.hpcc, &f->s, &f->out);
}

/*
 * A core of known cost (stub.S), to test the tools with: 20 instructions an ACK,
 * 120 for an ACK of more than one segment.
 */
void perf_stub_on_ack(struct perf_flow *f);

static_assert(offsetof(struct perf_flow, s.acked_pkts) == 44);

static void stub_init(struct perf_flow *f)
{
	f->out.window_q16 = 10 * PERF_MSS_BYTES << QUELL_Q16_SHIFT;
	f->out.pacing_bytes_ps = QUELL_RATE_UNLIMITED;
}

static void stub_on_loss(struct perf_flow *f)
{
	f->out.change_path = false;
}

#define CORE(core) {						\
	.name = #core,						\
	.vars_bytes = sizeof(((struct perf_flow *)0)->v.core),	\
	.init = core##_init,					\
	.on_ack = perf_##core##_on_ack,				\
	.on_loss = core##_on_loss,				\
}

const struct perf_core perf_cores[] = {
	CORE(swift),
	{ "swift_split", sizeof(struct quell_swift_split_vars), swift_init,
	  perf_swift_split_on_ack, swift_on_loss },
	CORE(swift_vaisf), CORE(timely), CORE(smartt), CORE(dcqcn), CORE(hpcc), CORE(hpcc_vaisf),
	{ "stub", 0, stub_init, perf_stub_on_ack, stub_on_loss },
	{ NULL }
};

const struct perf_core *perf_core_find(const char *name)
{
	const struct perf_core *core;

	for (core = perf_cores; core->name; core++)
		if (!strcmp(core->name, name))
			return core;
	return NULL;
}

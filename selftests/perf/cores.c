// SPDX-License-Identifier: GPL-2.0
/* The cores under measurement, and a flow of each.  See flow.h. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "flow.h"

#define PERF_CORES_MOST	64

/* As in the paper: VAI/SF III-D. */
#define PERF_TARGET_NS	5000

/* The linker's names of the section that flow.c fills. */
extern const struct quell_core * const __start_perf_objects[];
extern const struct quell_core * const __stop_perf_objects[];

/*
 * A core of known cost (stub.S), to test the tools with: 20 instructions an ACK,
 * 120 for an ACK of more than one segment.
 */
void quell_stub_core_on_ack(struct quell_event *ev);

_Static_assert(offsetof(struct quell_event, sample.acked_pkts) == 76, "stub.S");

static void stub_init(struct quell_event *ev)
{
	ev->decision.window_q16 = 10 * PERF_MSS_BYTES << QUELL_Q16_SHIFT;
	ev->decision.pacing_bytes_ps = QUELL_RATE_UNLIMITED;
}

static void stub_on_loss(struct quell_event *ev)
{
	ev->decision.change_path = false;
}

static const struct quell_core quell_stub_core = {
	.name = "stub", .init = stub_init, .on_ack = quell_stub_core_on_ack,
	.on_loss = stub_on_loss,
};

static const struct quell_param_desc *param_named(const struct quell_core *core, const char *name)
{
	const struct quell_param_desc *desc;

	for (desc = core->params; desc < core->params + core->params_nr; desc++)
		if (!strcmp(desc->name, name))
			return desc;
	return NULL;
}

/* With @suffix, the receiver reports its delay. */
static void add(struct perf_core *to, const struct quell_core *core, const char *suffix)
{
	snprintf(to->name, sizeof(to->name), "%s%s", core->name, suffix);
	to->core = core;
	to->remote_ns = *suffix ? PERF_REMOTE_NS : 0;
}

const struct perf_core *perf_cores(void)
{
	static struct perf_core all[PERF_CORES_MOST];
	const struct quell_core * const *object;
	struct perf_core *next = all;

	if (all[0].core)
		return all;
	for (object = __start_perf_objects; object < __stop_perf_objects; object++) {
		if (next - all > PERF_CORES_MOST - 4)
			break;
		add(next++, *object, "");
		/* Such a core has a second window for the remote host's delay. */
		if (param_named(*object, "host-target"))
			add(next++, *object, "_split");
	}
	add(next, &quell_stub_core, "");
	return all;
}

const struct perf_core *perf_core_find(const char *name)
{
	const struct perf_core *core;

	for (core = perf_cores(); core->core; core++)
		if (!strcmp(core->name, name))
			return core;
	return NULL;
}

void perf_flow_start(struct perf_flow *f, const struct perf_core *core)
{
	const struct quell_param_desc *target = param_named(core->core, "base-target");

	memset(f, 0, sizeof(*f));
	f->ev.vars = f->vars;
	f->ev.params = f->params;
	f->ev.stats = f->stats;
	f->ev.sample.min_rtt_ns = PERF_BASE_RTT_NS;
	f->ev.sample.link_bytes_ps = PERF_LINK_BYTES_PS;
	f->ev.sample.mss_bytes = PERF_MSS_BYTES;
	f->ev.sample.flags = QUELL_S_ECN | QUELL_S_TELEMETRY;
	quell_core_params_default(core->core, f->params);
	if (target) {
		*quell_core_param(f->params, target) = PERF_TARGET_NS;
		if (core->core->params_derive)
			core->core->params_derive(f->params);
	}
	core->core->init(&f->ev);
}

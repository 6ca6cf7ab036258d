// SPDX-License-Identifier: GPL-2.0
/* The cores as a shared library, for the models in Python (models.py). */
#include <quell/core/cores.h>
#include <quell/core/lib/draw.h>

const struct quell_core *core_find(const char *name)
{
	return quell_core_find(name);
}

const struct quell_param_desc *core_param(const struct quell_core *core, u32 index)
{
	return index < core->params_nr ? &core->params[index] : NULL;
}

void core_params_derive(const struct quell_core *core, void *params)
{
	if (core->params_derive)
		core->params_derive(params);
}

void core_event(const struct quell_core *core, u32 event, struct quell_event *ev)
{
	void (* const events[])(struct quell_event *ev) = {
		core->init, core->on_ack, core->on_loss, core->on_rto, core->on_idle_restart,
	};

	events[event](ev);
}

u32 core_draw(u64 now_ns, u64 salt)
{
	return quell_draw_u32(now_ns, salt);
}

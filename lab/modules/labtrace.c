// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labtrace: every algorithm, in place of its own module, with a trace of its core.
 *
 * The cores are those of kmod-cc, compiled with the same flags; between quell.ko and a core is
 * labtrace_event(), which keeps input and output.  The file
 * /sys/kernel/debug/quell_labtrace is the trace of the first "events" events; later ones are
 * counted only.  The format is in labtrace.h.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/vmalloc.h>

#include <quell/core/cores.h>
#include <quell/quell.h>

#include "labtrace.h"

static unsigned int events = 150000;
module_param(events, uint, 0444);
MODULE_PARM_DESC(events, "Events to keep");

static struct labtrace_head *trace;
static struct debugfs_blob_wrapper trace_blob;
static struct dentry *trace_file;
/* Softirq or process context with bottom halves off, of any socket. */
static DEFINE_SPINLOCK(trace_lock);

static struct labtrace_event *trace_at(u64 index)
{
	return (struct labtrace_event *)(trace + 1) + index;
}

/* Whether the event is of the trace's algorithm and parameters, which the first one sets. */
static bool trace_takes(const struct quell_core *core, const struct quell_event *ev)
{
	if (!trace->name[0]) {
		strscpy(trace->name, core->name, sizeof(trace->name));
		trace->params_bytes = core->params_bytes;
		memcpy(trace->params, ev->params, core->params_bytes);
	}
	return !strcmp(trace->name, core->name) &&
	       !memcmp(trace->params, ev->params, core->params_bytes);
}

/* Room for an event, its input filled in, or NULL. */
static struct labtrace_event *trace_begin(const struct quell_core *core, enum labtrace_kind kind,
					  const struct quell_event *ev)
{
	struct labtrace_event *e;

	if (!trace_takes(core, ev)) {
		trace->odd++;
		return NULL;
	}
	if (trace->events == events) {
		trace->left_out++;
		return NULL;
	}
	e = trace_at(trace->events++);
	trace_blob.size += sizeof(*e);
	e->socket = (unsigned long)ev->vars;
	e->kind = kind;
	e->sample = ev->sample;
	if (kind == LABTRACE_INIT)
		memcpy(e->before, ev->vars, core->vars_bytes);
	if (kind == LABTRACE_UNDO)
		e->undo = *ev->undo;
	return e;
}

static __always_inline void labtrace_event(const struct quell_core *core, enum labtrace_kind kind,
					   struct quell_event *ev,
					   void (*tell)(struct quell_event *ev))
{
	struct labtrace_event *e;

	spin_lock_bh(&trace_lock);
	e = trace_begin(core, kind, ev);
	tell(ev);
	if (e) {
		e->decision = ev->decision;
		memcpy(e->vars, ev->vars, core->vars_bytes);
	}
	spin_unlock_bh(&trace_lock);
}

/* quell.ko calls ->undo_note right after the loss or timeout, which is the last event kept. */
static void labtrace_note(struct quell_event *ev, void (*note)(struct quell_event *ev))
{
	struct labtrace_event *e = NULL;

	spin_lock_bh(&trace_lock);
	if (trace->events && !trace->left_out) {
		e = trace_at(trace->events - 1);
		if (e->socket != (unsigned long)ev->vars ||
		    (e->kind != LABTRACE_LOSS && e->kind != LABTRACE_RTO)) {
			trace->odd++;
			e = NULL;
		}
	}
	if (e)
		e->undo = *ev->undo;
	note(ev);
	if (e) {
		e->noted = true;
		e->undo_after = *ev->undo;
	}
	spin_unlock_bh(&trace_lock);
}

#define LABTRACE_EVENT(algo_, event_, kind_)					\
static void algo_##_traced_core_##event_(struct quell_event *ev)		\
{										\
	labtrace_event(&algo_##_core, kind_, ev, algo_##_core_##event_);	\
}

/* NAME_traced_algo with the core quell_NAME_core behind labtrace_event(). */
#define LABTRACE_ALGO(name_)							\
static struct quell_core quell_##name_##_traced_core;				\
LABTRACE_EVENT(quell_##name_, init, LABTRACE_INIT)				\
LABTRACE_EVENT(quell_##name_, on_ack, LABTRACE_ACK)				\
LABTRACE_EVENT(quell_##name_, on_loss, LABTRACE_LOSS)				\
LABTRACE_EVENT(quell_##name_, on_rto, LABTRACE_RTO)				\
LABTRACE_EVENT(quell_##name_, on_idle_restart, LABTRACE_IDLE)			\
LABTRACE_EVENT(quell_##name_, on_undo, LABTRACE_UNDO)				\
static void quell_##name_##_traced_core_undo_note(struct quell_event *ev)	\
{										\
	labtrace_note(ev, quell_##name_##_core_undo_note);			\
}										\
										\
QUELL_ALGO(name_##_traced);							\
										\
static void name_##_traced_fill(void)						\
{										\
	struct quell_core *core = &quell_##name_##_traced_core;			\
										\
	*core = quell_##name_##_core;						\
	core->init = quell_##name_##_traced_core_init;				\
	core->on_loss = quell_##name_##_traced_core_on_loss;			\
	core->on_rto = quell_##name_##_traced_core_on_rto;			\
	core->on_idle_restart = quell_##name_##_traced_core_on_idle_restart;	\
	core->undo_note = quell_##name_##_traced_core_undo_note;		\
	core->on_undo = quell_##name_##_traced_core_on_undo;			\
}

LABTRACE_ALGO(swift)
LABTRACE_ALGO(swift_vaisf)
LABTRACE_ALGO(hpcc)
LABTRACE_ALGO(hpcc_vaisf)
LABTRACE_ALGO(timely)
LABTRACE_ALGO(smartt)
LABTRACE_ALGO(dcqcn)
LABTRACE_ALGO(dart)

static const struct {
	void			(*fill)(void);
	struct quell_algo	*algo;
} algos[] = {
	{ swift_traced_fill,		&swift_traced_algo },
	{ swift_vaisf_traced_fill,	&swift_vaisf_traced_algo },
	{ hpcc_traced_fill,		&hpcc_traced_algo },
	{ hpcc_vaisf_traced_fill,	&hpcc_vaisf_traced_algo },
	{ timely_traced_fill,		&timely_traced_algo },
	{ smartt_traced_fill,		&smartt_traced_algo },
	{ dcqcn_traced_fill,		&dcqcn_traced_algo },
	{ dart_traced_fill,		&dart_traced_algo },
};

static void labtrace_unregister(unsigned int nr)
{
	while (nr--)
		quell_algo_unregister(algos[nr].algo);
}

static int labtrace_register(void)
{
	unsigned int i;
	int err;

	for (i = 0; i < ARRAY_SIZE(algos); i++) {
		const struct quell_core *core = algos[i].algo->core;

		algos[i].fill();
		err = core->params_bytes > LABTRACE_PARAMS_BYTES ||
		      core->vars_bytes > LABTRACE_VARS_BYTES ? -E2BIG :
		      quell_algo_register(algos[i].algo);
		if (err) {
			labtrace_unregister(i);
			return err;
		}
	}
	return 0;
}

static int __init labtrace_init(void)
{
	int err;

	trace = vzalloc(sizeof(*trace) + (u64)events * sizeof(struct labtrace_event));
	if (!trace)
		return -ENOMEM;
	trace->magic = LABTRACE_MAGIC;
	trace->event_bytes = sizeof(struct labtrace_event);
	trace_blob.data = trace;
	trace_blob.size = sizeof(*trace);
	err = labtrace_register();
	if (err) {
		vfree(trace);
		return err;
	}
	trace_file = debugfs_create_blob("quell_labtrace", 0400, NULL, &trace_blob);
	return 0;
}

static void __exit labtrace_exit(void)
{
	labtrace_unregister(ARRAY_SIZE(algos));
	debugfs_remove(trace_file);
	vfree(trace);
}

module_init(labtrace_init);
module_exit(labtrace_exit);

MODULE_AUTHOR("The Quell authors");
MODULE_DESCRIPTION("Trace of a core in the laboratory");
MODULE_LICENSE("GPL");

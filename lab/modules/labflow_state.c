// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labflow: the state of the run, and how it ends.
 */
#include <linux/hrtimer.h>
#include <linux/kernel.h>

#include "labflow.h"

struct labflow lab = {
	.mutex = __MUTEX_INITIALIZER(lab.mutex),
	.listeners = LIST_HEAD_INIT(lab.listeners),
};

/* @state: how it ended.  Any context. */
void labflow_finish(enum labflow_state state)
{
	if (lab.state != LABFLOW_RUNNING)
		return;
	lab.end_ns = ktime_get_ns();
	lab.state = state;
	labflow_part_finished();
}

void labflow_fail(const char *fmt, ...)
{
	va_list args;

	if (lab.error[0])
		return;
	va_start(args, fmt);
	vscnprintf(lab.error, sizeof(lab.error), fmt, args);
	va_end(args);
	labflow_finish(LABFLOW_FAILED);
}

/* Softirq, receiving socket locked. */
void labflow_flow_done(struct labflow_flow *flow)
{
	const struct labflow_flow *connection = flow->connection;

	/* A flow that ends beyond the time limit stays unfinished. */
	if (lab.state != LABFLOW_RUNNING || labflow_part_is_stopped(flow))
		return;
	flow->end_ns = ktime_get_ns();
	labflow_governed_end(flow, flow->end_ns);
	if (connection->delivered_bytes > connection->newest->end_bytes)
		labflow_fail("flow %u: %llu bytes delivered, %llu sent", connection->id,
			     connection->delivered_bytes - connection->warm_bytes,
			     connection->newest->end_bytes - connection->warm_bytes);
	labflow_after_delivered(flow);
	lab.n_done++;
	if (lab.is_part)
		labflow_part_flow_done(flow);
	else if (lab.n_done == lab.n_flows && !lab.is_open)
		labflow_finish(LABFLOW_DONE);
}

void labflow_sleep_ns(u64 ns)
{
	ktime_t expires = ns_to_ktime(ns);

	set_current_state(TASK_UNINTERRUPTIBLE);
	schedule_hrtimeout(&expires, HRTIMER_MODE_REL);
}

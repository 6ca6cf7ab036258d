// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labflow: for how long a flow's algorithm, the search and CUBIC governed its window, from
 * the start of the flow to its end, as quell.ko has it of the connection.
 */
#include <linux/seq_file.h>
#include <quell/quell.h>

#include "labflow.h"

/* Of the connection so far; false without quell.ko, or before it is established. */
static bool governed_read(const struct labflow_flow *flow, u64 now_ns,
			  u64 ns[LABFLOW_GOVERNORS])
{
	struct quell_snapshot snapshot;
	int i;

	memset(ns, 0, LABFLOW_GOVERNORS * sizeof(*ns));
	if (!flow->connection->sock || !labflow_snapshot(flow->connection->sock->sk, &snapshot))
		return false;
	for (i = 0; i < LABFLOW_GOVERNORS; i++)
		ns[i] = quell_governed_ns(&snapshot, i, now_ns);
	return true;
}

/* Softirq. */
void labflow_governed_begin(struct labflow_flow *flow)
{
	governed_read(flow, ktime_get_ns(), flow->governed_ns);
}

/* The flow has started; it ends, or the run does. */
void labflow_governed_end(struct labflow_flow *flow, u64 now_ns)
{
	u64 ns[LABFLOW_GOVERNORS];
	int i;

	if (!flow->is_sender)
		return;
	if (!governed_read(flow, now_ns, ns))
		memcpy(ns, flow->governed_ns, sizeof(ns));
	for (i = 0; i < LABFLOW_GOVERNORS; i++)
		flow->governed_ns[i] = ns[i] - flow->governed_ns[i];
	flow->has_governed = true;
}

/* A row of the table.  lab.mutex held. */
int labflow_governed_show(struct seq_file *seq, void *v)
{
	struct labflow_flow *flow = v;

	/* Of a flow that the end of the run cut short. */
	if (flow->end_bytes && !flow->has_governed && lab.end_ns)
		labflow_governed_end(flow, lab.end_ns);
	if (flow->has_governed)
		seq_printf(seq, "%u %llu %llu %llu\n", flow->id,
			   flow->governed_ns[QUELL_GOVERNOR_ALGORITHM],
			   flow->governed_ns[QUELL_GOVERNOR_SEARCH],
			   flow->governed_ns[QUELL_GOVERNOR_CUBIC]);
	return 0;
}

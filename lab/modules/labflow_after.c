// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labflow: flows that wait for others.
 *
 * A flow may begin only when its host knows that the other is through.  The
 * host that sent the other one knows when all of it is acknowledged, the host
 * that received it when all of it is delivered; no other host knows.
 *
 * TCP calls sk_write_space on every ACK while SOCK_NOSPACE is set.  So a sender
 * that another flow waits for sets it once TCP has all of the message, when no flow
 * waits for space any more.
 */
#include <linux/bitops.h>
#include <net/sock.h>

#include "labflow.h"

struct labflow_flow *labflow_find(u32 id)
{
	u32 i;

	/* As a rule flows are numbered from 1. */
	if (id <= lab.n_flows && lab.flows[id - 1]->id == id)
		return lab.flows[id - 1];
	for (i = 0; i < lab.n_flows; i++)
		if (lab.flows[i]->id == id)
			return lab.flows[i];
	return NULL;
}

/*
 * Find the flows that others wait for.  lab.mutex held.  Returns 0, or -EINVAL with the reason in
 * lab.error.
 */
int labflow_after_resolve(void)
{
	struct labflow_flow *flow, *other;
	u32 i;

	for (i = 0; i < lab.n_flows; i++) {
		flow = lab.flows[i];
		/* Of a network in parts, in that of its host. */
		if (!flow->after_id || !flow->is_sender)
			continue;
		other = labflow_find(flow->after_id);
		if (!other || other == flow) {
			labflow_fail("flow %u: no other flow %u to wait for", flow->id,
				     flow->after_id);
			return -EINVAL;
		}
		if (flow->src_net != other->src_net && flow->src_net != other->dst_net) {
			labflow_fail("flow %u: its host does not see the end of flow %u",
				     flow->id, other->id);
			return -EINVAL;
		}
		if (other->connection->is_shared && flow->src_net != other->dst_net) {
			labflow_fail("flow %u: flow %u is shared, only its receiver sees its end",
				     flow->id, other->id);
			return -EINVAL;
		}
		flow->next_dependent = other->dependents;
		other->dependents = flow;
	}
	return 0;
}

/* Start the flows of a host that wait for this one. */
static void labflow_after_start(const struct labflow_flow *flow, const struct net *net)
{
	u64 now_ns = ktime_get_ns() - lab.t0_ns;
	struct labflow_flow *next;

	for (next = flow->dependents; next; next = next->next_dependent) {
		if (next->src_net != net || next->is_due)
			continue;
		next->is_due = true;
		next->start_ns += now_ns;
		if (lab.is_part)
			labflow_part_flow_started(next);
		hrtimer_start(&next->timer, ns_to_ktime(lab.t0_ns + next->start_ns),
			      HRTIMER_MODE_ABS_SOFT);
	}
}

/* An ACK came; softirq, socket locked. */
static void labflow_after_write_space(struct sock *sk)
{
	struct labflow_flow *flow = sk->sk_user_data;

	if (!flow || !labflow_sock_all_acked(flow))
		return;
	clear_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
	if (lab.state == LABFLOW_RUNNING)
		labflow_after_start(flow, flow->src_net);
}

/* TCP has all of a flow's message.  Sending socket locked. */
void labflow_after_sent(struct labflow_flow *flow)
{
	struct sock *sk = flow->connection->sock->sk;

	if (!flow->dependents || flow->connection->is_shared)
		return;
	write_lock(&sk->sk_callback_lock);
	sk->sk_write_space = labflow_after_write_space;
	write_unlock(&sk->sk_callback_lock);
	set_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
}

/* The last byte of a flow was delivered.  Receiving socket locked. */
void labflow_after_delivered(const struct labflow_flow *flow)
{
	if (flow->dependents)
		labflow_after_start(flow, flow->dst_net);
}

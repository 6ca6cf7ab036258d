// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labflow: messages of a connection, one behind the other.
 *
 * A flow is a message.  It has a connection of its own, or takes that of an
 * earlier flow between the same two ends: then its bytes follow those of the
 * messages that started before it, and it is through when its own last byte is
 * delivered.  What congestion control knows of the path lives from one message
 * to the next.
 *
 * The sending socket's lock guards the list and @unsent, the receiving one's
 * @undelivered; only one softirq runs at a time.
 */
#include <net/sock.h>

#include "labflow.h"

static int labflow_message_take(struct labflow_flow *flow)
{
	struct labflow_flow *other = labflow_find(flow->on_id);

	if (!other || other == flow || other->on_id) {
		labflow_fail("flow %u: flow %u has no connection of its own to take", flow->id,
			     flow->on_id);
		return -EINVAL;
	}
	if (flow->src_net != other->src_net || flow->dst_net != other->dst_net) {
		labflow_fail("flow %u: the connection of flow %u is between others", flow->id,
			     other->id);
		return -EINVAL;
	}
	if (flow->stop_ns || other->stop_ns || flow->dscp != other->dscp) {
		labflow_fail("flow %u: on the connection of flow %u with a stop, or another DSCP",
			     flow->id, other->id);
		return -EINVAL;
	}
	flow->connection = other;
	other->is_shared = true;
	return 0;
}

/**
 * labflow_message_resolve() - find the connections of all flows
 *
 * Context: process context, lab.mutex held.
 * Return: 0, or -EINVAL with the reason in lab.error.
 */
int labflow_message_resolve(void)
{
	int err;
	u32 i;

	for (i = 0; i < lab.n_flows; i++) {
		struct labflow_flow *flow = lab.flows[i];

		flow->connection = flow;
		if (!flow->on_id)
			continue;
		err = labflow_message_take(flow);
		if (err)
			return err;
	}
	return 0;
}

/**
 * labflow_message_enqueue() - put a flow's message behind the last one of its connection
 * @flow: a flow that starts
 *
 * Context: softirq, sending socket locked.
 */
void labflow_message_enqueue(struct labflow_flow *flow)
{
	struct labflow_flow *connection = flow->connection;
	struct labflow_flow *before = connection->newest;

	flow->begin_bytes = before ? before->end_bytes : connection->warm_bytes;
	flow->end_bytes = flow->begin_bytes + flow->bytes;
	if (before)
		before->next_message = flow;
	connection->newest = flow;
	if (!connection->unsent)
		connection->unsent = flow;
	if (!connection->undelivered)
		connection->undelivered = flow;
	labflow_governed_begin(flow);
}

/**
 * labflow_message_push() - give TCP what it takes of the messages that have started
 * @connection: an established connection
 *
 * Each message is pushed as its application's send() would, not joined with the next.
 *
 * Context: softirq, sending socket locked.
 * Return: false after an error, which is recorded.
 */
bool labflow_message_push(struct labflow_flow *connection)
{
	struct labflow_flow *flow;

	for (flow = connection->unsent; flow; flow = connection->unsent) {
		if (!labflow_sock_push(connection, flow->end_bytes))
			return false;
		if (connection->pushed_bytes < flow->end_bytes)
			return true;	/* the buffer is full */
		connection->unsent = flow->next_message;
		labflow_after_sent(flow);
	}
	return true;
}

/**
 * labflow_message_delivered() - finish the messages that the receiver has all of
 * @connection: a connection
 *
 * Context: softirq or BH disabled, receiving socket locked.
 */
void labflow_message_delivered(struct labflow_flow *connection)
{
	struct labflow_flow *flow;

	for (flow = connection->undelivered;
	     flow && connection->delivered_bytes >= flow->end_bytes;
	     flow = connection->undelivered) {
		connection->undelivered = flow->next_message;
		labflow_flow_done(flow);
	}
}

/**
 * labflow_message_part() - how much of a flow's message lies before a position
 * @flow: the flow
 * @position_bytes: position in its connection's stream
 *
 * Return: 0 to the bytes of the flow; 0 before it starts.
 */
u64 labflow_message_part(const struct labflow_flow *flow, u64 position_bytes)
{
	if (!flow->end_bytes || position_bytes <= flow->begin_bytes)
		return 0;
	return min(position_bytes, flow->end_bytes) - flow->begin_bytes;
}

/**
 * labflow_message_due_bytes() - where the message ends that a receiver has not all of
 * @connection: a connection
 *
 * Return: position in the stream; before the first message the end of that one.
 */
u64 labflow_message_due_bytes(const struct labflow_flow *connection)
{
	if (connection->undelivered)
		return connection->undelivered->end_bytes;
	return connection->newest ? connection->newest->end_bytes :
	       connection->warm_bytes + connection->bytes;
}

/**
 * labflow_is_quiet() - test whether a connection has nothing under way
 * @connection: a connection
 *
 * Return: true before its first message and while all that started are delivered.
 */
bool labflow_is_quiet(const struct labflow_flow *connection)
{
	return !connection->started || connection->newest->end_ns;
}

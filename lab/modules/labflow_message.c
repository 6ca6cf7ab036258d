// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labflow: messages of a connection, one behind the other.
 *
 * A flow is a message.  It has a connection of its own, or takes that of an
 * earlier flow between the same two ends: then its bytes follow those of the
 * messages that started before it, and it is through when its own last byte is
 * delivered.  The state of congestion control is kept from one message
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

/*
 * Find the connections of all flows.  lab.mutex held.  Returns 0, or -EINVAL with the reason in
 * lab.error.
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

/* Put a flow's message behind the last one of its connection.  Sending socket locked. */
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

/*
 * Write started messages into the socket as far as it has room.  Each message is pushed as its
 * application's send() would, not joined with the next.  Sending socket locked.  Returns false
 * after an error, which is recorded.
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

/*
 * Finish the messages that the receiver has all of.  Softirq or BH disabled, receiving socket
 * locked.
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

/* 0 to the bytes of the flow; 0 before it starts. */
u64 labflow_message_part(const struct labflow_flow *flow, u64 position_bytes)
{
	if (!flow->end_bytes || position_bytes <= flow->begin_bytes)
		return 0;
	return min(position_bytes, flow->end_bytes) - flow->begin_bytes;
}

/*
 * End of the first message that the receiver has not all of; of the last one if there is no such.
 */
u64 labflow_message_due_bytes(const struct labflow_flow *connection)
{
	if (connection->undelivered)
		return connection->undelivered->end_bytes;
	return connection->newest ? connection->newest->end_bytes :
	       connection->warm_bytes + connection->bytes;
}

/* True before the first message of a connection and while all that started are delivered. */
bool labflow_is_quiet(const struct labflow_flow *connection)
{
	u64 end_ns = connection->started ? connection->newest->end_ns : 1;

	return end_ns && end_ns + lab.known_ns <= ktime_get_ns();
}

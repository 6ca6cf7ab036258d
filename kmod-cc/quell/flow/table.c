// SPDX-License-Identifier: GPL-2.0
/*
 * Which flow a socket has: a hash by the socket's address, and per namespace a table by number
 * for dumps.
 */
#include <linux/hash.h>
#include <linux/rhashtable.h>
#include <net/sock.h>
#include "flow/flow.h"
#include "netns/net.h"

/* The default, for keys of any length, takes several times as many instructions. */
static u32 flow_hash(const void *key, u32 bytes, u32 seed)
{
	return hash_long((unsigned long)*(const struct sock * const *)key ^ seed, 32);
}

static int flow_compare(struct rhashtable_compare_arg *arg, const void *flow)
{
	return ((const struct quell_flow *)flow)->sk != *(const struct sock * const *)arg->key;
}

static const struct rhashtable_params flow_hash_params = {
	.head_offset		= offsetof(struct quell_flow, node),
	.key_offset		= offsetof(struct quell_flow, sk),
	.key_len		= sizeof_field(struct quell_flow, sk),
	.hashfn			= flow_hash,
	.obj_cmpfn		= flow_compare,
	.automatic_shrinking	= true,
};

/* By address of the socket.  Buckets have their own locks; readers RCU. */
static struct rhashtable quell_flows;

/**
 * quell_flow_publish() - let dumps and the hooks find a flow, in this order
 * @flow: flow; its number is set
 *
 * Return: 0 or -errno; a dump may have found the flow by its number before that.
 */
int quell_flow_publish(struct quell_flow *flow)
{
	struct quell_net *qnet = flow->qnet;
	int err;

	err = xa_alloc_cyclic_bh(&qnet->flows, &flow->id, flow, xa_limit_32b,
				 &qnet->flows_next, GFP_ATOMIC);
	if (err < 0)
		return err;
	err = rhashtable_insert_fast(&quell_flows, &flow->node, flow_hash_params);
	if (err)
		xa_erase_bh(&qnet->flows, flow->id);
	return err;
}

/**
 * quell_flow_withdraw() - let no hook and no dump find a flow any more
 * @flow: flow; earlier finders may use it until a grace period has passed
 */
void quell_flow_withdraw(struct quell_flow *flow)
{
	rhashtable_remove_fast(&quell_flows, &flow->node, flow_hash_params);
	xa_erase_bh(&flow->qnet->flows, flow->id);
}

/**
 * quell_flow_find() - the flow of a socket, or NULL
 * @sk: socket, referenced or in an RCU read section; any kind
 * Context: RCU read section; the result is valid until its end.
 */
struct quell_flow *quell_flow_find(const struct sock *sk)
{
	return rhashtable_lookup(&quell_flows, &sk, flow_hash_params);
}

/**
 * quell_sock_snapshot() - the last decision and round-trip times of a socket's flow
 * @sk:  socket of any kind, held or in an RCU read section
 * @out: set if the socket has a flow
 * Context: any but hard interrupts.
 * Return: false when the socket is not a Quell flow.
 */
bool quell_sock_snapshot(const struct sock *sk, struct quell_snapshot *out)
{
	const struct quell_flow *flow;
	u32 i;

	rcu_read_lock();
	flow = quell_flow_find(sk);
	if (flow) {
		out->window_bytes = READ_ONCE(flow->now.window_bytes);
		out->pacing_bytes_ps = READ_ONCE(flow->now.pacing_bytes_ps);
		out->rtt_ns = READ_ONCE(flow->now.rtt_ns);
		out->min_rtt_ns = READ_ONCE(flow->now.min_rtt_ns);
		out->target_ns = READ_ONCE(flow->now.target_ns);
		out->marked_pkts = READ_ONCE(flow->now.marked_pkts);
		out->marked_bytes = READ_ONCE(flow->now.marked_bytes);
		out->hop = READ_ONCE(flow->telemetry.hop);
		out->samples = READ_ONCE(flow->now.samples);
		for (i = 0; i < ARRAY_SIZE(out->governed_ns); i++)
			out->governed_ns[i] = READ_ONCE(flow->now.governed_ns[i]);
		out->governor_ns = READ_ONCE(flow->now.governor_ns);
		out->governor = READ_ONCE(flow->now.governor);
		out->remote_ns = READ_ONCE(flow->now.remote_ns);
		out->clock = READ_ONCE(flow->now.clock);
	}
	rcu_read_unlock();
	return flow;
}
EXPORT_SYMBOL_GPL(quell_sock_snapshot);

int quell_flow_table_init(void)
{
	return rhashtable_init(&quell_flows, &flow_hash_params);
}

void quell_flow_table_exit(void)
{
	rhashtable_destroy(&quell_flows);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Flows: found by their socket, in a hash by its address, and by number, in a table per namespace
 * for dumps; the attributes that identify them, and notifications of their changes.
 *
 * Context of notifications: any but hard interrupts; RCU read section or socket lock, so that the
 * flow and its socket stay.
 */
#include <linux/hash.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include <linux/socket.h>
#include <net/netlink.h>
#include <net/sock.h>
#include "flow/flow.h"

/* Room for a flow's identity, and two words. */
#define FLOW_NTF_BYTES		256

/*
 * The default, for keys of any length, takes several times as many instructions.  Functions that
 * use the table are __flatten, or the compiler calls this hash and keeps the default one, too.
 */
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

struct kmem_cache *quell_flow_cache __ro_after_init;

/* By address of the socket.  Buckets have their own locks; readers RCU. */
static struct rhashtable quell_flows;

/*
 * Let dumps, then the hooks find a flow.  A dump may have found it even if this fails: -errno.  The
 * lowest free number keeps the table small: with ever higher ones each flow that stays among many
 * short ones would hold a node of its own, which is charged to no cgroup.
 */
int __flatten quell_flow_publish(struct quell_flow *flow)
{
	struct quell_net *qnet = flow->qnet;
	int err;

	err = xa_alloc_bh(&qnet->flows, &flow->id, flow, xa_limit_32b, GFP_ATOMIC);
	if (err)
		return err;
	err = rhashtable_insert_fast(&quell_flows, &flow->node, flow_hash_params);
	if (err)
		xa_erase_bh(&qnet->flows, flow->id);
	return err;
}

/* Earlier finders may use the flow until a grace period has passed. */
void __flatten quell_flow_withdraw(struct quell_flow *flow)
{
	rhashtable_remove_fast(&quell_flows, &flow->node, flow_hash_params);
	xa_erase_bh(&flow->qnet->flows, flow->id);
}

/**
 * quell_flow_find() - flow of a socket
 * @sk: socket of any kind
 * Context: RCU read section; not in hard interrupts.
 * Return: NULL without a flow.
 */
struct quell_flow __flatten *quell_flow_find(const struct sock *sk)
{
	return rhashtable_lookup(&quell_flows, &sk, flow_hash_params);
}
EXPORT_SYMBOL_GPL(quell_flow_find);

/**
 * quell_cc_enter() - begin access to parameters and counters
 * @sk: socket of a Quell algorithm, quell_cc_ready()
 * @ev: its pointers are set; the caller must fill sample and decision
 *
 * Disables bottom halves, so that the per-cpu counters have one writer also when a backlog is
 * processed in process context (but see quell_core_call()).  That is an RCU read section as
 * well, which pins the parameter block for the whole event.
 * Context: socket lock.
 */
void quell_cc_enter(struct sock *sk, struct quell_event *ev)
	__acquires(RCU_BH)
{
	const struct quell_flow *flow = quell_cc(sk)->flow;
	struct quell_net *qnet = flow ? flow->qnet : quell_net(sock_net(sk));
	const struct quell_algo_net *an;

	rcu_read_lock_bh();
	an = &qnet->algos[quell_cc(sk)->algo->slot];
	ev->vars = quell_cc_vars(sk);
	ev->params = rcu_dereference_bh(an->params)->data;
	ev->stats = this_cpu_ptr(an->stats);
}
EXPORT_SYMBOL_GPL(quell_cc_enter);

int quell_flows_init(void)
{
	int err;

	quell_flow_cache = KMEM_CACHE(quell_flow, SLAB_HWCACHE_ALIGN | SLAB_ACCOUNT);
	if (!quell_flow_cache)
		return -ENOMEM;
	err = rhashtable_init(&quell_flows, &flow_hash_params);
	if (err)
		kmem_cache_destroy(quell_flow_cache);
	return err;
}

/* All flows are gone: every socket pins this module, and rcu_barrier() was called. */
void quell_flows_exit(void)
{
	rhashtable_destroy(&quell_flows);
	kmem_cache_destroy(quell_flow_cache);
}

static const char * const option_names[] = {
	[QUELL_OPTION_NOT_OFFERED]	= "not-offered",
	[QUELL_OPTION_ON]		= "on",
	[QUELL_OPTION_NO_REPLY]		= "no-reply",
	[QUELL_OPTION_NO_ROOM]		= "no-room",
	[QUELL_OPTION_STRIPPED]		= "stripped",
};

const char *quell_option_name(enum quell_option_state state)
{
	return option_names[state];
}

/* 0 or -EMSGSIZE. */
int quell_put_flow_identity(struct sk_buff *skb, const struct quell_flow *flow)
{
	int addr_bytes = flow->family == AF_INET6 ? sizeof(struct in6_addr) :
						    sizeof(struct in_addr);
	/* The stack assigns a cookie on the first request, for example of ss. */
	u64 cookie = atomic64_read(&flow->sk->sk_cookie);

	if ((cookie && quell_put_u64(skb, QUELL_A_FLOW_COOKIE, cookie, QUELL_A_FLOW_PAD)) ||
	    nla_put_string(skb, QUELL_A_FLOW_CC, flow->algo->core->name) ||
	    nla_put_u16(skb, QUELL_A_FLOW_FAMILY, flow->family) ||
	    nla_put(skb, QUELL_A_FLOW_SADDR, addr_bytes, &flow->saddr) ||
	    nla_put(skb, QUELL_A_FLOW_DADDR, addr_bytes, &flow->daddr) ||
	    nla_put_u16(skb, QUELL_A_FLOW_SPORT, flow->sport) ||
	    nla_put_u16(skb, QUELL_A_FLOW_DPORT, flow->dport) ||
	    quell_put_u32(skb, QUELL_A_FLOW_IFINDEX, READ_ONCE(flow->link.ifindex)))
		return -EMSGSIZE;
	return 0;
}

/* A change of a flow: its new state, @attr, and a reason or NULL. */
struct flow_ntf {
	const struct quell_flow	*flow;
	int			attr;
	const char		*state;
	const char		*reason;
};

static int put_flow_ntf(struct sk_buff *skb, const void *about)
{
	const struct flow_ntf *ntf = about;

	if (quell_put_flow_identity(skb, ntf->flow) ||
	    nla_put_string(skb, ntf->attr, ntf->state) ||
	    (ntf->reason && nla_put_string(skb, QUELL_A_FLOW_FALLBACK, ntf->reason)))
		return -EMSGSIZE;
	return 0;
}

void quell_notify_option(const struct quell_flow *flow, enum quell_option_state state)
{
	struct flow_ntf ntf = { flow, QUELL_A_FLOW_OPTION, quell_option_name(state) };

	if (state != QUELL_OPTION_NOT_OFFERED)
		quell_ntf_send(flow->qnet, QUELL_CMD_FLOW_OPTION_NTF, FLOW_NTF_BYTES,
			       put_flow_ntf, &ntf);
}

/* @reason is NULL if its algorithm governs. */
void quell_notify_adapt(const struct quell_flow *flow, const char *phase, const char *reason)
{
	struct flow_ntf ntf = { flow, QUELL_A_FLOW_ADAPT, phase, reason };

	quell_ntf_send(flow->qnet, QUELL_CMD_FLOW_ADAPT_NTF, FLOW_NTF_BYTES, put_flow_ntf, &ntf);
}

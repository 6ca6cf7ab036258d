// SPDX-License-Identifier: GPL-2.0
/*
 * Namespaces, algorithms, and the parameters and counters of each algorithm in each
 * namespace; independent of flows.
 */
#include <linux/ktime.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <net/netns/generic.h>
#include <net/tcp.h>
#include <compat/local_lock.h>
#include "netns/net.h"

/* Protects quell_algos[], quell_nets and the publication of parameters. */
DEFINE_MUTEX(quell_mutex);
LIST_HEAD(quell_nets);
const struct quell_algo *quell_algos[QUELL_ALGOS_MAX];
/* Incremented with every change of quell_algos[], so that a dump can detect it. */
u32 quell_algos_gen = 1;

unsigned int quell_net_id __read_mostly;

/*
 * Parameters per algorithm and namespace.
 *
 * The values of an algorithm in a namespace are one block, published under RCU and never
 * written again: an ACK reads the pointer once and sees one consistent set; a change checks
 * and publishes an edited copy, and takes effect only if all its values are in range.
 */

/*
 * A block to edit, to be published or freed with kfree(); defaults, if @an has no parameters yet or
 * is NULL.  quell_mutex.
 */
struct quell_params_block *quell_params_copy(const struct quell_algo_net *an,
					     const struct quell_algo *algo)
{
	const struct quell_params_block *old = NULL;
	struct quell_params_block *block;

	block = kzalloc(sizeof(*block) + algo->core->params_bytes, GFP_KERNEL_ACCOUNT);
	if (an)
		old = rcu_dereference_protected(an->params, lockdep_is_held(&quell_mutex));
	if (block && old)
		memcpy(block->data, old->data, algo->core->params_bytes);
	else if (block)
		quell_core_params_default(algo->core, block->data);
	return block;
}

/*
 * It may never have been initialised, or in part.  quell_mutex; no socket uses the algorithm any
 * more.
 */
static void algo_net_exit(struct quell_algo_net *an)
{
	struct quell_params_block *block;

	block = rcu_replace_pointer(an->params, NULL, lockdep_is_held(&quell_mutex));
	kfree_rcu(block, rcu);
	free_percpu(an->stats);
	an->stats = NULL;
	kfree(an->governed);
	an->governed = NULL;
}

/* 0 or -ENOMEM.  quell_mutex. */
static int algo_net_init(struct quell_algo_net *an, const struct quell_algo *algo)
{
	struct quell_params_block *block = quell_params_copy(an, algo);
	const struct quell_core *core = algo->core;

	rcu_assign_pointer(an->params, block);
	if (core->counters_nr)
		an->stats = __alloc_percpu_gfp(core->counters_bytes, sizeof(u64),
					       GFP_KERNEL_ACCOUNT);
	if (core->init)
		an->governed = kzalloc(sizeof(*an->governed), GFP_KERNEL_ACCOUNT);
	if (an->governed)
		spin_lock_init(&an->governed->lock);
	if (block && (an->stats || !core->counters_nr) && (an->governed || !core->init))
		return 0;
	algo_net_exit(an);
	return -ENOMEM;
}

/*
 * The governors of an algorithm's windows in one namespace, by reason, and for how long.
 * Changes are rare, some per flow, so each takes a lock; ACKs do not.
 */

/*
 * QUELL_UNGOVERNED: the flow begins or ends.  @now_ns is rounded down to ms, without bias on
 * average.  Not in hard interrupts.
 */
void quell_governed_count(struct quell_governed *governed, u8 from, u8 to, u64 now_ns)
{
	u64 now_ms = div_u64(now_ns, NSEC_PER_MSEC);

	spin_lock_bh(&governed->lock);
	if (from != QUELL_UNGOVERNED) {
		governed->ended[from]++;
		governed->ms[from] += now_ms;
	}
	if (to != QUELL_UNGOVERNED) {
		governed->begun[to]++;
		governed->ms[to] -= now_ms;
	}
	spin_unlock_bh(&governed->lock);
}

/*
 * Open flows included.  A change that blocked on the lock has a time older than an earlier
 * reading's; a counter never decreases for that.  quell_mutex, under which the counters are freed.
 */
void quell_governed_read(struct quell_governed *governed, struct quell_governed_sum *sum)
{
	u64 now_ms, open;
	int i;

	spin_lock_bh(&governed->lock);
	now_ms = div_u64(ktime_get_ns(), NSEC_PER_MSEC);
	for (i = 0; i < QUELL_GOVERNORS; i++) {
		open = governed->begun[i] - governed->ended[i];
		sum->begun[i] = governed->begun[i];
		sum->ms[i] = governed->ms[i] + open * now_ms;
		/* The difference of two times modulo 2^64. */
		if ((s64)(sum->ms[i] - governed->read_ms[i]) < 0)
			sum->ms[i] = governed->read_ms[i];
		governed->read_ms[i] = sum->ms[i];
	}
	spin_unlock_bh(&governed->lock);
}

/**
 * quell_net() - state of a namespace
 * @net: alive
 * Context: any.
 * Return: never NULL.
 */
struct quell_net *quell_net(const struct net *net)
{
	return net_generic(net, quell_net_id);
}
EXPORT_SYMBOL_GPL(quell_net);

#ifdef CONFIG_PREEMPT_RT
static DEFINE_PER_CPU(local_lock_t, core_lock) = INIT_LOCAL_LOCK(core_lock);

/**
 * quell_core_lock() - exclude other events of cores on this CPU, for the counters of algorithms
 * Context: bottom halves off.
 */
void quell_core_lock(void)
{
	local_lock_nested_bh(&core_lock);
}
EXPORT_SYMBOL_GPL(quell_core_lock);

/* Reverts quell_core_lock(). */
void quell_core_unlock(void)
{
	local_unlock_nested_bh(&core_lock);
}
EXPORT_SYMBOL_GPL(quell_core_unlock);
#endif

#define COUNTER(counter_, name_, doc_) \
	QUELL_COUNTER(struct quell_counters, name_, value[QUELL_N_##counter_], doc_)

const struct quell_counter_desc quell_counter_descs[QUELL_N_MAX] = {
#include "netns/counter_rows.h"
};

/* Each CPU's share has one writer at a time: bottom halves off, or this_cpu_inc(). */
u64 quell_percpu_sum(const void __percpu *block, u32 offset)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		/* Cores add without marks; the shares are not read at one moment. */
		sum += data_race(READ_ONCE(*(const u64 *)(per_cpu_ptr(block, cpu) + offset)));
	return sum;
}

static int algos_free_slot(const struct quell_algo *algo)
{
	int slot = -ENOSPC;
	int i;

	for (i = QUELL_ALGOS_MAX - 1; i >= 0; i--) {
		if (!quell_algos[i])
			slot = i;
		else if (!strcmp(quell_algos[i]->core->name, algo->core->name))
			return -EEXIST;
	}
	return slot;
}

/* @ops is compared, not dereferenced: it may be stale.  NULL: not of ours.  RCU read section. */
const struct quell_algo *quell_algo_of(const struct tcp_congestion_ops *ops)
{
	int i;

	for (i = 0; i < QUELL_ALGOS_MAX; i++) {
		const struct quell_algo *algo = READ_ONCE(quell_algos[i]);

		if (algo && (ops == &algo->ops || ops == &algo->plain_ops))
			return algo;
	}
	return NULL;
}

/*
 * Connections inherit the listener's algorithm only if the application set it, else they get the
 * namespace's current default.  NULL: not of ours.  RCU read section.
 */
const struct quell_algo *quell_algo_of_listener(const struct sock *listener)
{
	const struct inet_connection_sock *icsk = inet_csk(listener);

	/* Its neighbours in the bit-field change under the socket lock. */
	if (data_race(!!icsk->icsk_ca_setsockopt))
		return quell_algo_of(READ_ONCE(icsk->icsk_ca_ops));
	return quell_algo_of(rcu_access_pointer(sock_net(listener)->ipv4.tcp_congestion_control));
}

/* Of a route's metric, not TCP_CA_UNSPEC; NULL: not of ours.  RCU read section. */
const struct quell_algo *quell_algo_by_key(u32 key)
{
	int i;

	for (i = 0; i < QUELL_ALGOS_MAX; i++) {
		const struct quell_algo *algo = READ_ONCE(quell_algos[i]);

		if (algo && READ_ONCE(algo->ops.key) == key)
			return algo;
	}
	return NULL;
}

/* Some may not have been initialised. */
static void algo_leave_nets(const struct quell_algo *algo)
{
	struct quell_net *qnet;

	list_for_each_entry(qnet, &quell_nets, node)
		algo_net_exit(&qnet->algos[algo->slot]);
}

/* -EEXIST: the name is there; -ENOSPC, -ENOMEM.  The operations are complete.  May sleep. */
int quell_algo_join_nets(struct quell_algo *algo)
{
	struct quell_net *qnet;
	int err;

	mutex_lock(&quell_mutex);
	err = algos_free_slot(algo);
	if (err < 0)
		goto unlock;
	algo->slot = err;
	list_for_each_entry(qnet, &quell_nets, node) {
		err = algo_net_init(&qnet->algos[algo->slot], algo);
		if (err) {
			algo_leave_nets(algo);
			goto unlock;
		}
	}
	/* The hooks read the pointer without the mutex. */
	smp_store_release(&quell_algos[algo->slot], algo);
	quell_algos_gen++;
	err = 0;
unlock:
	mutex_unlock(&quell_mutex);
	return err;
}

/* No socket uses the algorithm.  May sleep. */
void quell_algo_leave_nets(struct quell_algo *algo)
{
	mutex_lock(&quell_mutex);
	WRITE_ONCE(quell_algos[algo->slot], NULL);
	quell_algos_gen++;
	/* The hooks may still compare a socket's operations with those of @algo. */
	synchronize_rcu();
	algo_leave_nets(algo);
	mutex_unlock(&quell_mutex);
}

/* @qnet is not yet in quell_nets; on -ENOMEM quell_net_leave_algos() frees.  quell_mutex. */
int quell_net_join_algos(struct quell_net *qnet)
{
	int err = 0, i;

	for (i = 0; i < QUELL_ALGOS_MAX && !err; i++)
		if (quell_algos[i])
			err = algo_net_init(&qnet->algos[i], quell_algos[i]);
	return err;
}

/* @qnet is not in quell_nets.  quell_mutex. */
void quell_net_leave_algos(struct quell_net *qnet)
{
	int i;

	for (i = 0; i < QUELL_ALGOS_MAX; i++)
		algo_net_exit(&qnet->algos[i]);
}

/* Have the hooks registered, soon, for a flow. */
void quell_hooks_request(struct quell_net *qnet)
{
	if (READ_ONCE(qnet->hooks_nr) < QUELL_HOOKS)
		queue_work(system_power_efficient_wq, &qnet->hooks_work);
}

/*
 * Register the hooks now: future connections need them from their SYN on.  May sleep; no lock but
 * quell_mutex.
 */
void quell_hooks_settle(struct quell_net *qnet)
{
	quell_hooks_request(qnet);
	flush_work(&qnet->hooks_work);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * quell.ko: what every Quell algorithm stands on.
 *
 *	flow.c		context of a flow, found by socket
 *	segments.c	rings of departures and arrivals
 *	hooks.c		signal plane: network hooks, per namespace
 *	transmit.c	signal plane: what a packet out is given
 *	receive.c	signal plane: what a packet in tells
 *	signal.c	signal plane: whether the Quell option is spoken
 *	echo.c		signal plane: which data packet an ACK answers
 *	offer.c		signal plane: who offered it while a connection opened
 *	option.c	signal plane: the option in packets
 *	clock.c		signal plane: the cards' clocks, mapped to the host's
 *	tail.c		signal plane: a timer for lost tails
 *	link.c		speed of the interfaces
 *	cc.c		the callbacks of TCP that all algorithms share
 *	sample.c	TCP's state to a sample, a decision to TCP's state
 *	params.c	parameter blocks
 *	stats.c		counters
 *	genl.c, genl_flow.c	generic netlink
 *	main.c		algorithms, namespaces, the module itself
 *
 * Tear-down of the module, in this order (no algorithm module is left, for
 * each pins this one by its symbols, and every socket pins its algorithm):
 *	generic netlink	no request and no dump is running or will come
 *	link notifier	no device event is running or will come
 *	namespaces	per namespace: work item stopped, hooks gone after a
 *			grace period, tables and counters freed
 *	rcu_barrier()	the last kfree_rcu() of flows and blocks is done
 *	flow hash	empty by then
 */
#include <linux/module.h>
#include <net/netns/generic.h>
#include <compat/compat.h>
#include "internal.h"

/* Protects quell_algos[], quell_nets and the publication of parameters. */
DEFINE_MUTEX(quell_mutex);
LIST_HEAD(quell_nets);
const struct quell_algo *quell_algos[QUELL_ALGOS_MAX];
/* Raised with every change of quell_algos[], so that a dump can tell. */
u32 quell_algos_gen = 1;

static unsigned int quell_net_id __read_mostly;

/**
 * quell_net() - what quell.ko keeps for a namespace
 * @net: namespace, alive
 *
 * Context: any.
 * Return: never NULL.
 */
struct quell_net *quell_net(const struct net *net)
{
	return net_generic(net, quell_net_id);
}

static int algos_free_slot(const struct quell_algo *algo)
{
	int slot = -ENOSPC;
	int i;

	for (i = QUELL_ALGOS_MAX - 1; i >= 0; i--) {
		if (!quell_algos[i])
			slot = i;
		else if (!strcmp(quell_algos[i]->ops.name, algo->ops.name))
			return -EEXIST;
	}
	return slot;
}

/* Takes the algorithm out of the namespaces listed before @end. */
static void algo_leave_nets(const struct quell_algo *algo, struct list_head *end)
{
	struct list_head *node;

	for (node = quell_nets.next; node != end; node = node->next) {
		struct quell_net *qnet = list_entry(node, struct quell_net, node);

		quell_algo_net_exit(&qnet->algos[algo->slot]);
	}
}

/**
 * quell_algo_join_nets() - parameters and counters, in every namespace
 * @algo: description; of its operations the name counts
 *
 * Context: process, may sleep.
 * Return: 0; -EEXIST for a name already there, -ENOSPC, -ENOMEM.
 */
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
		err = quell_algo_net_init(&qnet->algos[algo->slot], algo);
		if (err) {
			algo_leave_nets(algo, &qnet->node);
			goto unlock;
		}
	}
	quell_algos[algo->slot] = algo;
	quell_algos_gen++;
	err = 0;
unlock:
	mutex_unlock(&quell_mutex);
	return err;
}

/**
 * quell_algo_leave_nets() - undo quell_algo_join_nets()
 * @algo: description; no socket uses it
 *
 * Context: process, may sleep.
 */
void quell_algo_leave_nets(struct quell_algo *algo)
{
	mutex_lock(&quell_mutex);
	quell_algos[algo->slot] = NULL;
	quell_algos_gen++;
	algo_leave_nets(algo, &quell_nets);
	mutex_unlock(&quell_mutex);
}

/**
 * quell_algo_register() - make an algorithm known to sockets and administrators
 * @algo: description, constant from here on
 *
 * Its parameters and counters are there before the first socket can be.
 *
 * Context: process, may sleep.
 * Return: 0; -EEXIST for a name already there, -ENOSPC, -ENOMEM.
 */
int quell_algo_register(struct quell_algo *algo)
{
	int err;

	err = quell_algo_join_nets(algo);
	if (err)
		return err;
	quell_cc_ops_init(algo);
	quell_telemetry_register(algo);
	err = tcp_register_congestion_control(&algo->ops);
	if (err) {
		quell_telemetry_unregister(algo);
		quell_algo_leave_nets(algo);
	}
	return err;
}
EXPORT_SYMBOL_GPL(quell_algo_register);

/**
 * quell_algo_unregister() - undo quell_algo_register()
 * @algo: description
 *
 * First no new socket and a grace period, then nothing left to show.
 *
 * Context: process, may sleep; no socket uses the algorithm, for each pins its
 * module.
 */
void quell_algo_unregister(struct quell_algo *algo)
{
	tcp_unregister_congestion_control(&algo->ops);
	quell_telemetry_unregister(algo);
	quell_algo_leave_nets(algo);
}
EXPORT_SYMBOL_GPL(quell_algo_unregister);

/* The namespace gets the algorithms there are. */
static int net_join_algos(struct quell_net *qnet)
{
	int err;
	int i;

	for (i = 0; i < QUELL_ALGOS_MAX; i++) {
		if (!quell_algos[i])
			continue;
		err = quell_algo_net_init(&qnet->algos[i], quell_algos[i]);
		if (err)
			return err;
	}
	return 0;
}

static void net_leave_algos(struct quell_net *qnet)
{
	int i;

	for (i = 0; i < QUELL_ALGOS_MAX; i++)
		quell_algo_net_exit(&qnet->algos[i]);
}

static int __net_init quell_net_init(struct net *net)
{
	struct quell_net *qnet = quell_net(net);
	int err;

	qnet->net = net;
	qnet->counters = alloc_percpu(struct quell_counters);
	if (!qnet->counters)
		return -ENOMEM;
	err = quell_offers_net_init(qnet);
	if (err)
		goto free_counters;
	xa_init_flags(&qnet->flows, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_BH);
	quell_links_net_init(qnet);
	quell_clocks_net_init(qnet);

	mutex_lock(&quell_mutex);
	err = net_join_algos(qnet);
	if (err)
		goto leave_algos;
	quell_hooks_init(qnet);
	list_add_tail(&qnet->node, &quell_nets);
	mutex_unlock(&quell_mutex);
	return 0;

leave_algos:
	net_leave_algos(qnet);
	mutex_unlock(&quell_mutex);
	quell_links_net_exit(qnet);
	quell_offers_net_exit(qnet);
free_counters:
	free_percpu(qnet->counters);
	return err;
}

/* No socket of the namespace is left: each holds a reference to it. */
static void __net_exit quell_net_exit(struct net *net)
{
	struct quell_net *qnet = quell_net(net);

	mutex_lock(&quell_mutex);
	list_del(&qnet->node);
	mutex_unlock(&quell_mutex);
	quell_hooks_exit(qnet);
	mutex_lock(&quell_mutex);
	net_leave_algos(qnet);
	mutex_unlock(&quell_mutex);
	quell_links_net_exit(qnet);
	quell_clocks_net_exit(qnet);
	WARN_ON_ONCE(!xa_empty(&qnet->flows));
	xa_destroy(&qnet->flows);
	quell_offers_net_exit(qnet);
	free_percpu(qnet->counters);
}

static struct pernet_operations quell_net_ops = {
	.init	= quell_net_init,
	.exit	= quell_net_exit,
	.id	= &quell_net_id,
	.size	= sizeof(struct quell_net),
};

static int __init quell_init(void)
{
	int err;

	err = quell_flows_init();
	if (err)
		return err;
	/* Before the first namespace, so that each has its parameters from the start. */
	err = quell_signal_init();
	if (err)
		goto flows_exit;
	err = register_pernet_subsys(&quell_net_ops);
	if (err)
		goto signal_exit;
	err = quell_links_init();
	if (err)
		goto unregister_pernet;
	err = quell_genl_init();
	if (err)
		goto links_exit;
	return 0;

links_exit:
	quell_links_exit();
unregister_pernet:
	unregister_pernet_subsys(&quell_net_ops);
signal_exit:
	quell_signal_exit();
flows_exit:
	quell_flows_exit();
	return err;
}

static void __exit quell_exit(void)
{
	quell_genl_exit();
	quell_links_exit();
	unregister_pernet_subsys(&quell_net_ops);
	quell_signal_exit();
	rcu_barrier();
	quell_flows_exit();
}

module_init(quell_init);
module_exit(quell_exit);

MODULE_AUTHOR("The Quell authors");
MODULE_DESCRIPTION("Quell: signals, parameters and counters of datacenter congestion control");
MODULE_LICENSE("GPL");

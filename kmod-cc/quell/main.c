// SPDX-License-Identifier: GPL-2.0
/*
 * quell.ko, the common part of all Quell algorithms: algorithms, namespaces, the module.
 * Documentation/overview.md has its floors.
 *
 * Tear-down of the module, in this order (no algorithm module is left, for
 * each pins this one by its symbols, and every socket pins its algorithm):
 *	notifications	no notification is or will be sent
 *	generic netlink	no request and no dump is or will be running
 *	link notifier	no device event and no work item is or will be running
 *	namespaces	per namespace: work item stopped, hooks gone after a
 *			grace period, tables and counters freed
 *	rcu_barrier()	the last call_rcu() of flows is done
 *	flow hash	empty by then, and so is the cache of contexts
 */
#include <linux/module.h>
#include <net/net_namespace.h>
#include <net/tcp.h>
#include <compat/compat.h>
#include <quell/core/dart/params.h>
#include <quell/version.h>
#include "cc/cc.h"
#include "genl/genl.h"
#include "hooks/hooks.h"
#include "signal/dasr.h"
#include "signal/signal.h"

static bool is_u64_inside(u32 offset, u32 block_bytes)
{
	return IS_ALIGNED(offset, sizeof(u64)) && block_bytes >= sizeof(u64) &&
	       offset <= block_bytes - sizeof(u64);
}

static bool has_params_inside(const struct quell_core *core)
{
	u32 i;

	for (i = 0; i < core->params_nr; i++)
		if (!core->params[i].name ||
		    !is_u64_inside(core->params[i].offset, core->params_bytes))
			return false;
	return is_u64_inside(core->needs.hold_offset, core->params_bytes);
}

static bool has_counters_inside(const struct quell_core *core)
{
	u32 i;

	if (core->counters_nr && !core->counters)
		return false;
	for (i = 0; i < core->counters_nr; i++)
		if (!core->counters[i].name ||
		    !is_u64_inside(core->counters[i].offset, core->counters_bytes))
			return false;
	return true;
}

/* The first missing part; NULL if it is complete. */
static __rare const char *algo_lacks(const struct quell_algo *algo)
{
	const struct quell_core *core = algo->core;

	return !core->name || !core->name[0] ||
	       strnlen(core->name, TCP_CA_NAME_MAX) == TCP_CA_NAME_MAX ? "name" :
	       !algo->ops.cong_control ? "ops.cong_control" :
	       !core->init ? "init" :
	       !core->on_loss ? "on_loss" :
	       !core->on_rto ? "on_rto" :
	       !core->on_idle_restart ? "on_idle_restart" :
	       !core->undo_note ? "undo_note" :
	       !core->on_undo ? "on_undo" :
	       !core->params || !has_params_inside(core) ?
		       "block that has room for its parameters" :
	       /* quell_adapt_open() reads the first parameter as "adapt". */
	       !core->params_nr || core->params[0].offset || strcmp(core->params[0].name, "adapt") ?
		       "parameter adapt, the first of all" :
	       !has_counters_inside(core) ? "block that has room for its counters" :
	       core->flags & QUELL_CORE_SENDERS &&
	       core->params_bytes < sizeof(struct quell_dart_params) ?
		       "parameters of Dart, which count senders" :
	       core->vars_bytes > QUELL_CC_VARS_BYTES ? "variables that a socket has room for" :
	       NULL;
}

/**
 * quell_algo_register_version() - register an algorithm, its parameters and its counters
 * @algo: description, constant from here on; its core has all events
 * @version: QUELL_VERSION of its module
 *
 * Modules share structures that no exported function has, struct quell_cc above all, so the
 * versions of the kernel's symbols do not detect that they differ.  After an upgrade the older
 * quell.ko may be loaded when the newer module of another algorithm is.
 *
 * Context: process, may sleep.
 * Return: 0; -ENOEXEC if the version is not that of quell.ko, -EINVAL if a part is missing, both
 * explained in the kernel log; -EEXIST if the name is in use, -ENOSPC, -ENOMEM.
 */
int quell_algo_register_version(struct quell_algo *algo, const char *version)
{
	const char *lacks;
	int err;

	if (strcmp(version, QUELL_VERSION)) {
		pr_err("quell: a module of version %s is refused, as quell.ko has version %s; unload all modules of Quell first\n",
		       version, QUELL_VERSION);
		return -ENOEXEC;
	}
	if (!algo->core) {
		pr_err("quell: algorithm of module %s has no core\n", module_name(algo->ops.owner));
		return -EINVAL;
	}
	lacks = algo_lacks(algo);
	if (lacks) {
		pr_err("quell: algorithm '%s' has no %s\n", algo->core->name ?: "", lacks);
		return -EINVAL;
	}
	quell_cc_ops_init(algo);
	err = quell_algo_join_nets(algo);
	if (err)
		return err;
	quell_telemetry_register(algo);
	err = tcp_register_congestion_control(&algo->ops);
	if (err) {
		quell_algo_leave_nets(algo);
		return err;
	}
	if (algo->dasr)
		quell_genl_set_dasr(algo->dasr);
	return 0;
}
EXPORT_SYMBOL_GPL(quell_algo_register_version);

/**
 * quell_algo_unregister() - revert quell_algo_register_version()
 * @algo: description
 *
 * Waits for a grace period between new sockets and the end of parameters and counters.
 * Context: process, may sleep; no socket uses the algorithm, for each pins its module.
 */
void quell_algo_unregister(struct quell_algo *algo)
{
	if (algo->dasr)
		quell_genl_set_dasr(NULL);
	tcp_unregister_congestion_control(&algo->ops);
	quell_algo_leave_nets(algo);
}
EXPORT_SYMBOL_GPL(quell_algo_unregister);

static int __net_init quell_net_init(struct net *net)
{
	struct quell_net *qnet = quell_net(net);
	int err;

	qnet->net = net;
	qnet->counters = alloc_percpu_gfp(struct quell_counters, GFP_KERNEL_ACCOUNT);
	if (!qnet->counters)
		return -ENOMEM;
	quell_offer_net_init(qnet);
	quell_ntf_net_init(qnet);
	xa_init_flags(&qnet->flows, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_BH);
	quell_links_net_init(qnet);
	xa_init_flags(&qnet->clocks, XA_FLAGS_LOCK_BH);

	mutex_lock(&quell_mutex);
	err = quell_net_join_algos(qnet);
	if (err)
		goto leave_algos;
	quell_hooks_init(qnet);
	list_add_tail(&qnet->node, &quell_nets);
	mutex_unlock(&quell_mutex);
	return 0;

leave_algos:
	quell_net_leave_algos(qnet);
	mutex_unlock(&quell_mutex);
	quell_links_net_exit(qnet);
	free_percpu(qnet->counters);
	return err;
}

/*
 * No flow of the namespace is left: its socket holds a reference to the namespace (cc.c), as
 * sockets of sunrpc, RDS, SMC and MPTCP do.  A packet may still be in the hooks, so a grace period
 * passes between this and quell_net_exit().
 */
static void __net_exit quell_net_pre_exit(struct net *net)
{
	struct quell_net *qnet = quell_net(net);

	mutex_lock(&quell_mutex);
	list_del(&qnet->node);
	mutex_unlock(&quell_mutex);
	quell_hooks_exit(qnet);
}

static void __net_exit quell_net_exit(struct net *net)
{
	struct quell_net *qnet = quell_net(net);

	mutex_lock(&quell_mutex);
	quell_net_leave_algos(qnet);
	mutex_unlock(&quell_mutex);
	quell_links_net_exit(qnet);
	quell_clocks_net_exit(qnet);
	WARN_ON_ONCE(!xa_empty(&qnet->flows));
	xa_destroy(&qnet->flows);
	quell_offer_net_exit(qnet);
	cancel_delayed_work_sync(&qnet->ntf.work);
	free_percpu(qnet->counters);
}

static struct pernet_operations quell_net_ops = {
	.init		= quell_net_init,
	.pre_exit	= quell_net_pre_exit,
	.exit		= quell_net_exit,
	.id		= &quell_net_id,
	.size		= sizeof(struct quell_net),
};

static int __init quell_init(void)
{
	int err;

	err = quell_flows_init();
	if (err)
		return err;
	/* Before the first namespace, so that each has these parameters from the start. */
	err = quell_algo_join_nets(&quell_signal_algo);
	if (err)
		goto flows_exit;
	err = register_pernet_subsys(&quell_net_ops);
	if (err)
		goto leave_nets;
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
leave_nets:
	quell_algo_leave_nets(&quell_signal_algo);
flows_exit:
	quell_flows_exit();
	return err;
}

static void __exit quell_exit(void)
{
	quell_genl_exit();
	quell_links_exit();
	unregister_pernet_subsys(&quell_net_ops);
	quell_algo_leave_nets(&quell_signal_algo);
	rcu_barrier();
	quell_flows_exit();
}

module_init(quell_init);
module_exit(quell_exit);

MODULE_AUTHOR("The Quell authors");
MODULE_DESCRIPTION("Quell: signals, parameters and counters of datacenter congestion control");
MODULE_LICENSE("GPL");
MODULE_VERSION(QUELL_VERSION);

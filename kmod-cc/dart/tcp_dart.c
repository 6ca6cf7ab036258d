// SPDX-License-Identifier: GPL-2.0
/*
 * TCP congestion control "dart": registers the core in quell/core/dart/react.h, where the
 * algorithm is described, and the receiver, which counts senders.
 *
 * Tear-down: no request is running when quell_algo_unregister() returns, and no socket is left, for
 * each pins this module.  Then the ports of all namespaces go, and with the last of them the meter;
 * unregister_pernet_subsys() waits for a grace period before it frees struct dart_net.
 */
#include <linux/lockdep.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <net/netns/generic.h>
#include <quell/core/dart/core.h>
#include <quell/quell.h>
#include <quell/version.h>
#include "dart.h"

QUELL_ALGO(dart);

static unsigned int dart_net_id __read_mostly;

struct dart_net *dart_net(const struct net *net)
{
	return net_generic(net, dart_net_id);
}

struct quell_dart_params dart_params(const struct quell_net *qnet)
{
	const struct quell_params_block *block;
	struct quell_dart_params params;

	rcu_read_lock();
	block = rcu_dereference(qnet->algos[dart_algo.slot].params);
	params = *(const struct quell_dart_params *)block->data;
	rcu_read_unlock();
	return params;
}

static const struct quell_dasr_ops dart_dasr_ops = {
	.open		= dart_open,
	.close		= dart_close,
	.receive	= dart_receive,
	.reset		= dart_reset,
	.state		= dart_state,
	.put_flow	= dart_put_flow,
	.start		= dart_start,
	.dumpit		= dart_dumpit,
	.doit		= dart_doit,
};

/* xa_init_flags() has one class for all of this file; that of ports is taken in softirqs. */
static struct lock_class_key dart_groups_key;

static int __net_init dart_net_init(struct net *net)
{
	struct dart_net *dnet = dart_net(net);

	xa_init_flags(&dnet->ports, XA_FLAGS_LOCK_BH);
	mutex_init(&dnet->lock);
	xa_init_flags(&dnet->groups, XA_FLAGS_ALLOC1);
	lockdep_set_class(&dnet->groups.xa_lock, &dart_groups_key);
	dnet->gen = 1;
	return 0;
}

/* The kernel's own sockets, which do not keep the namespace, may still receive data. */
static void __net_exit dart_net_pre_exit(struct net *net)
{
	struct dart_net *dnet = dart_net(net);
	struct dart_port *port;
	unsigned long ifindex;

	xa_lock_bh(&dnet->ports);
	dnet->gone = true;
	xa_unlock_bh(&dnet->ports);
	xa_for_each(&dnet->ports, ifindex, port)
		dart_forget(quell_net(net), ifindex);
}

static void __net_exit dart_net_exit(struct net *net)
{
	struct dart_net *dnet = dart_net(net);

	WARN_ON_ONCE(!xa_empty(&dnet->ports) || !xa_empty(&dnet->groups));
	xa_destroy(&dnet->ports);
	xa_destroy(&dnet->groups);
}

static struct pernet_operations dart_net_ops = {
	.init		= dart_net_init,
	.pre_exit	= dart_net_pre_exit,
	.exit		= dart_net_exit,
	.id		= &dart_net_id,
	.size		= sizeof(struct dart_net),
};

static int dart_device_event(struct notifier_block *nb, unsigned long event, void *info)
{
	const struct net_device *dev = netdev_notifier_info_to_dev(info);

	if (event == NETDEV_UNREGISTER)
		dart_forget(quell_net(dev_net(dev)), dev->ifindex);
	return NOTIFY_DONE;
}

static struct notifier_block dart_device_notifier = {
	.notifier_call = dart_device_event,
};

static int __init dart_init(void)
{
	int err = register_pernet_subsys(&dart_net_ops);

	if (err)
		return err;
	err = register_netdevice_notifier(&dart_device_notifier);
	if (err)
		goto unregister_pernet;
	dart_algo.dasr = &dart_dasr_ops;
	err = quell_algo_register(&dart_algo);
	if (err)
		goto unregister_notifier;
	return 0;

unregister_notifier:
	unregister_netdevice_notifier(&dart_device_notifier);
unregister_pernet:
	unregister_pernet_subsys(&dart_net_ops);
	return err;
}

static void __exit dart_exit(void)
{
	quell_algo_unregister(&dart_algo);
	unregister_netdevice_notifier(&dart_device_notifier);
	unregister_pernet_subsys(&dart_net_ops);
}

module_init(dart_init);
module_exit(dart_exit);

MODULE_AUTHOR("The Quell authors");
MODULE_DESCRIPTION("TCP Dart: the line rate shared by the number of senders");
MODULE_LICENSE("GPL");
MODULE_VERSION(QUELL_VERSION);

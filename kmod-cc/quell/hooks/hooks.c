// SPDX-License-Identifier: GPL-2.0
/*
 * The two netfilter hooks per address family of a namespace, transmit.c and receive.c.
 *
 * They are the ones nearest to TCP: first in LOCAL_OUT, where TCP calls them with the socket
 * lock, before another hook can queue the packet; last in LOCAL_IN, so that they do not see
 * packets that a firewall drops.  Of hooks of equal priority the kernel calls the youngest
 * first: conntrack's confirmation and a chain of priority 2147483647 may follow in LOCAL_IN.
 *
 * A namespace has no hooks until a connection may need them:
 *
 *	it is created while Quell is the default	before its first packet
 *	parameter `option' is 1, or an algorithm that	before the first connection that may
 *	offers the option is registered			offer it
 *	first flow					soon after ->init, by a work item:
 *							->init may be in softirq
 *
 * The stack does not report a changed default.  The hooks stay until the namespace or the
 * module ends, as nf_unregister_net_hook() drops all packets in the namespace's NFQUEUEs.  So
 * a failure does not undo the hooks registered either; the next flow registers the rest.
 *
 * quell_hooks_exit() stops the work first, then unregisters the hooks.  Packets may still be
 * in the hooks: their state must be freed a grace period later, main.c.
 */
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <net/tcp.h>
#include "hooks/hooks.h"
#include "signal/signal.h"

static const struct nf_hook_ops hook_ops[] = {
	{
		.hook		= quell_transmit4,
		.pf		= NFPROTO_IPV4,
		.hooknum	= NF_INET_LOCAL_OUT,
		.priority	= NF_IP_PRI_FIRST,
	},
	{
		.hook		= quell_receive4,
		.pf		= NFPROTO_IPV4,
		.hooknum	= NF_INET_LOCAL_IN,
		.priority	= NF_IP_PRI_LAST,
	},
#if IS_ENABLED(CONFIG_IPV6)
	{
		.hook		= quell_transmit6,
		.pf		= NFPROTO_IPV6,
		.hooknum	= NF_INET_LOCAL_OUT,
		.priority	= NF_IP6_PRI_FIRST,
	},
	{
		.hook		= quell_receive6,
		.pf		= NFPROTO_IPV6,
		.hooknum	= NF_INET_LOCAL_IN,
		.priority	= NF_IP6_PRI_LAST,
	},
#endif
};

static_assert(ARRAY_SIZE(hook_ops) == QUELL_HOOKS);

/* Only one caller at a time: quell_hooks_init(), then the work item. */
static void hooks_register(struct quell_net *qnet)
{
	u8 nr = qnet->hooks_nr;

	while (nr < QUELL_HOOKS && !nf_register_net_hook(qnet->net, &hook_ops[nr]))
		nr++;
	if (nr < QUELL_HOOKS)
		quell_count(qnet, QUELL_N_HOOK_REGISTER_FAILED);
	WRITE_ONCE(qnet->hooks_nr, nr);
}

static void hooks_work(struct work_struct *work)
{
	hooks_register(container_of(work, struct quell_net, hooks_work));
}

/* Called before the namespace is in quell_nets. */
void quell_hooks_init(struct quell_net *qnet)
{
	INIT_WORK(&qnet->hooks_work, hooks_work);
	if (quell_signal_needs_hooks(qnet))
		hooks_register(qnet);
}

/* Called after the namespace was removed from quell_nets. */
void quell_hooks_exit(struct quell_net *qnet)
{
	cancel_work_sync(&qnet->hooks_work);
	nf_unregister_net_hooks(qnet->net, hook_ops, qnet->hooks_nr);
}

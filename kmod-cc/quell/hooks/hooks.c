// SPDX-License-Identifier: GPL-2.0
/*
 * Signal plane: when a namespace has its two netfilter hooks per address
 * family.  The hooks themselves are in transmit.c and receive.c.
 *
 * They are the ones nearest to TCP: first in LOCAL_OUT, so that TCP calls them, with the
 * socket lock, before any other hook can queue the packet; last in LOCAL_IN, so that they
 * do not see packets that a firewall drops.  A firewall thus sees the packets as they are
 * on the wire.  Of hooks of equal priority the kernel calls the youngest first:
 * conntrack's confirmation and a chain of priority 2147483647 may come after ours in
 * LOCAL_IN.
 *
 * The hooks are in a namespace only while it has a Quell socket, a Quell
 * algorithm for its default, or offers the Quell option (by default while an
 * algorithm that wants telemetry records is registered); a flow without them has
 * no nanosecond sample yet.  Registering sleeps, and the first socket may
 * appear in softirq: a work item does it.  It also unregisters them, some time
 * after the last socket is gone, and not at the end of each short connection.
 *
 *		socks > 0, or default or option ask	neither, for LINGER
 *	(off) -------------------------------> hooked ----------------------> (off)
 *
 * Lifetime: quell_hooks_exit() stops the work first, then unregisters the hooks.  That
 * does not wait for packets in the hooks: state that these read must be freed a grace
 * period later, main.c.
 */
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <net/tcp.h>
#include "flow/flow.h"
#include "flow/rx.h"
#include "flow/signal.h"
#include "flow/tx.h"
#include "netns/counters.h"
#include "netns/net.h"

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

/* Whether new sockets of the namespace would be Quell sockets. */
static bool hooks_default_is_ours(const struct net *net)
{
	const struct tcp_congestion_ops *ops;
	bool ours;

	rcu_read_lock();
	ops = rcu_dereference(net->ipv4.tcp_congestion_control);
	ours = ops && ops->release == quell_cc_release;
	rcu_read_unlock();
	return ours;
}

static void hooks_work(struct work_struct *work)
{
	struct quell_net *qnet = container_of(to_delayed_work(work),
					      struct quell_net, hooks_work);
	bool want = atomic_read(&qnet->socks) > 0 ||
		    hooks_default_is_ours(qnet->net) || quell_signal_asks(qnet);

	if (want && !qnet->hooked) {
		if (nf_register_net_hooks(qnet->net, hook_ops, ARRAY_SIZE(hook_ops)))
			quell_count(qnet, QUELL_N_HOOK_REGISTER_FAILED);
		else
			WRITE_ONCE(qnet->hooked, true);
	} else if (!want && qnet->hooked) {
		nf_unregister_net_hooks(qnet->net, hook_ops, ARRAY_SIZE(hook_ops));
		WRITE_ONCE(qnet->hooked, false);
	}
	/*
	 * Run again after a failure, to see a change of the default (which is not
	 * notified), and if the first socket came after @want was computed.
	 */
	if (want != qnet->hooked || (want && !atomic_read(&qnet->socks)))
		quell_hooks_linger(qnet);
	else if (atomic_read(&qnet->socks) && !qnet->hooked)
		queue_delayed_work(system_power_efficient_wq, &qnet->hooks_work, 0);
}

/*
 * Called before the namespace is in quell_nets.  A namespace made while Quell is the
 * default inherits that, and needs the hooks from the start.
 */
void quell_hooks_init(struct quell_net *qnet)
{
	INIT_DELAYED_WORK(&qnet->hooks_work, hooks_work);
	if (hooks_default_is_ours(qnet->net) || quell_signal_asks(qnet))
		quell_hooks_want(qnet);
}

/* Called after the namespace was removed from quell_nets. */
void quell_hooks_exit(struct quell_net *qnet)
{
	cancel_delayed_work_sync(&qnet->hooks_work);
	if (qnet->hooked)
		nf_unregister_net_hooks(qnet->net, hook_ops, ARRAY_SIZE(hook_ops));
}

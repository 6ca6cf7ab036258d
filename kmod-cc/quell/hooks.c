// SPDX-License-Identifier: GPL-2.0
/*
 * Signal plane: when a namespace has its two netfilter hooks per address
 * family.  What they do stands in transmit.c and receive.c.
 *
 * The hooks are in a namespace only while it has a Quell socket, a Quell
 * algorithm for its default, or offers the Quell option (as all do while there
 * is an algorithm that wants telemetry records); a flow without them simply has
 * no nanosecond sample yet.  Registering sleeps, and the first socket may
 * appear in softirq: a work item does it.  It also takes them away, some time
 * after the last socket is gone, so that short connections do not come and go
 * with them.
 *
 *		socks > 0, or default or option ask	none of them, for LINGER
 *	(none) ------------------------------> hooked ---------------------> (none)
 *
 * Lifetime: quell_hooks_exit() stops the work first, then takes the hooks
 * away, which waits until no packet is in them.
 */
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <net/tcp.h>
#include "internal.h"

/* How long hooks stay without a socket. */
#define HOOKS_LINGER_SEC	10

static const struct nf_hook_ops hook_ops[] = {
	{
		.hook		= quell_transmit4,
		.pf		= NFPROTO_IPV4,
		.hooknum	= NF_INET_LOCAL_OUT,
		.priority	= NF_IP_PRI_LAST,
	},
	{
		.hook		= quell_receive4,
		.pf		= NFPROTO_IPV4,
		.hooknum	= NF_INET_LOCAL_IN,
		.priority	= NF_IP_PRI_FIRST,
	},
#if IS_ENABLED(CONFIG_IPV6)
	{
		.hook		= quell_transmit6,
		.pf		= NFPROTO_IPV6,
		.hooknum	= NF_INET_LOCAL_OUT,
		.priority	= NF_IP6_PRI_LAST,
	},
	{
		.hook		= quell_receive6,
		.pf		= NFPROTO_IPV6,
		.hooknum	= NF_INET_LOCAL_IN,
		.priority	= NF_IP6_PRI_FIRST,
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
	 * Look again: at a failure, at the default's change (nobody tells), and
	 * for a socket that came between the question and the answer.
	 */
	if (want != qnet->hooked || (want && !atomic_read(&qnet->socks)))
		queue_delayed_work(system_power_efficient_wq, &qnet->hooks_work,
				   HOOKS_LINGER_SEC * HZ);
	else if (atomic_read(&qnet->socks) && !qnet->hooked)
		queue_delayed_work(system_power_efficient_wq, &qnet->hooks_work, 0);
}

/**
 * quell_hooks_want() - a Quell socket appeared
 * @qnet: its namespace
 *
 * Context: any; the hooks come soon after.
 */
void quell_hooks_want(struct quell_net *qnet)
{
	if (!READ_ONCE(qnet->hooked))
		mod_delayed_work(system_power_efficient_wq, &qnet->hooks_work, 0);
}

/**
 * quell_hooks_settle() - parameters changed
 * @qnet: namespace
 *
 * One that is to offer the option needs the hooks before its first connection:
 * they are there on return.
 *
 * Context: process, may sleep; no lock but quell_mutex.
 */
void quell_hooks_settle(struct quell_net *qnet)
{
	quell_hooks_want(qnet);
	flush_delayed_work(&qnet->hooks_work);
}

/**
 * quell_hooks_linger() - the last Quell socket is gone
 * @qnet: its namespace
 *
 * Context: any; the hooks go later, unless another socket appears.
 */
void quell_hooks_linger(struct quell_net *qnet)
{
	queue_delayed_work(system_power_efficient_wq, &qnet->hooks_work,
			   HOOKS_LINGER_SEC * HZ);
}

/*
 * Before the namespace is in quell_nets.  One made while Quell is the default
 * inherits it: hooks from the start.
 */
void quell_hooks_init(struct quell_net *qnet)
{
	INIT_DELAYED_WORK(&qnet->hooks_work, hooks_work);
	if (hooks_default_is_ours(qnet->net) || quell_signal_asks(qnet))
		quell_hooks_want(qnet);
}

/* After it was taken out of quell_nets. */

void quell_hooks_exit(struct quell_net *qnet)
{
	cancel_delayed_work_sync(&qnet->hooks_work);
	if (qnet->hooked)
		nf_unregister_net_hooks(qnet->net, hook_ops, ARRAY_SIZE(hook_ops));
}

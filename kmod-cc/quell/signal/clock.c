// SPDX-License-Identifier: GPL-2.0
/*
 * Receipt times of packets by the clock of the NIC.
 *
 * A receipt is timed in the LOCAL_IN hook, which includes all delay in the host.  A hardware
 * stamp excludes that delay, but is in the NIC's clock, of which offset and drift cannot be
 * queried in this context.  <quell/core/signal/clockmap.h> estimates them from the packets;
 * this file keeps one map per namespace and receiving interface.
 *
 * The receipt keeps its software stamp while the map is not usable or refuses a stamp, as it
 * does with the two clocks below a bond.  Packets merged by GRO have the stamp of the first.
 */
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <quell/core/signal/clockmap.h>
#include "signal/signal.h"

struct clock {
	spinlock_t		lock;	/* @map */
	struct quell_clockmap	map;
	struct rcu_head		rcu;
};

static const enum quell_counter clock_counters[] = {
	[QUELL_CLOCKMAP_MAPPED]		= QUELL_N_HARDWARE_STAMPS,
	[QUELL_CLOCKMAP_WARMING]	= QUELL_N_HARDWARE_WARMING,
	[QUELL_CLOCKMAP_REFUSED]	= QUELL_N_HARDWARE_REFUSED,
	[QUELL_CLOCKMAP_STEPPED]	= QUELL_N_CLOCK_STEPS,
};

/* NULL if an allocation failed.  RCU read side. */
static struct clock *clock_get(struct quell_net *qnet, int ifindex)
{
	struct clock *clock = xa_load(&qnet->clocks, ifindex);
	void *old;

	if (likely(clock))
		return clock;
	clock = kzalloc(sizeof(*clock), GFP_ATOMIC | __GFP_NOWARN);
	if (!clock)
		return NULL;
	spin_lock_init(&clock->lock);
	old = xa_cmpxchg_bh(&qnet->clocks, ifindex, NULL, clock, GFP_ATOMIC | __GFP_NOWARN);
	if (!old)
		return clock;
	/* Another CPU was first, or the table could not be extended. */
	kfree(clock);
	return xa_is_err(old) ? NULL : old;
}

/* 0 without a stamp.  A driver may have left a reference that ndo_get_tstamp resolves. */
static ktime_t clock_hardware_stamp(const struct sk_buff *skb)
{
	struct skb_shared_hwtstamps *stamps = skb_hwtstamps((struct sk_buff *)skb);

	if (!skb->dev)
		return 0;
	if (!(skb_shinfo(skb)->tx_flags & SKBTX_HW_TSTAMP_NETDEV))
		return stamps->hwtstamp;
	return skb->dev->netdev_ops->ndo_get_tstamp ?
	       netdev_get_tstamp(skb->dev, stamps, false) : 0;
}

/* The mapped hardware stamp is never later than the software stamp that it replaces.  RCU. */
void quell_clock_stamp(struct quell_net *qnet, const struct sk_buff *skb,
		       struct quell_ack_rx *ack_rx)
{
	ktime_t stamp = clock_hardware_stamp(skb);
	enum quell_clockmap_result result;
	struct clock *clock;
	u64 host_ns;

	if (!stamp)
		return;
	clock = clock_get(qnet, quell_rx_ifindex(skb));
	if (!clock)
		return;
	spin_lock_bh(&clock->lock);
	result = quell_clockmap_add(&clock->map, ktime_to_ns(stamp), ack_rx->rx_ns, &host_ns);
	spin_unlock_bh(&clock->lock);
	quell_count(qnet, clock_counters[result]);
	if (result != QUELL_CLOCKMAP_MAPPED)
		return;
	ack_rx->rx_ns = host_ns;
	ack_rx->hardware = true;
}

/* RTNL. */
void quell_clock_forget(struct quell_net *qnet, int ifindex)
{
	struct clock *clock = xa_erase_bh(&qnet->clocks, ifindex);

	kfree_rcu(clock, rcu);
}

/* The hooks were unregistered a grace period ago: there are no readers. */
void quell_clocks_net_exit(struct quell_net *qnet)
{
	struct clock *clock;
	unsigned long i;

	xa_for_each(&qnet->clocks, i, clock)
		kfree(clock);
	xa_destroy(&qnet->clocks);
}

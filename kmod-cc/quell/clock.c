// SPDX-License-Identifier: GPL-2.0
/*
 * Signal plane: when a packet arrived, by the clock of the card.
 *
 * A receipt is timed when the LOCAL_IN hook runs: whatever the host was busy
 * with since the last bit came in is in that time.  A card that stamps packets
 * knows better, but in its own clock, whose offset and drift nobody here may
 * ask for.  <quell/core/signal/clockmap.h> learns the map between the two clocks from
 * the packets themselves; this file keeps one map per interface the packets
 * arrive at and namespace, made with the first stamp and gone with the device.
 *
 * Where the map is not usable (yet), or refuses a stamp, the receipt stays in
 * software time and says so.
 *
 * Ignored: which physical card is below a bond.  Two clocks behind one interface
 * never agree with one line, and its receipts stay in software.  Packets merged
 * by GRO have the stamp of the first of them.
 */
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <quell/core/signal/clockmap.h>
#include "counters.h"
#include "net.h"
#include "rx.h"

/**
 * struct clock - the map of one interface's clock
 * @lock: protects @map
 * @map:  the map
 * @rcu:  for freeing after the last reader
 */
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

/* The clock of an interface; NULL when memory was short.  RCU read side. */
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
	/* Another CPU was first, or there was no memory for the table. */
	kfree(clock);
	return xa_is_err(old) ? NULL : old;
}

/*
 * The card's stamp, 0 for none.  A driver may leave in its place where it has
 * it, to be asked for; it is asked if the packet arrived at its own interface.
 */
static ktime_t clock_hardware_stamp(const struct sk_buff *skb)
{
	struct skb_shared_hwtstamps *stamps = skb_hwtstamps((struct sk_buff *)skb);

	if (!stamps->hwtstamp || !skb->dev)
		return 0;
	if (!(skb_shinfo(skb)->tx_flags & SKBTX_HW_TSTAMP_NETDEV))
		return stamps->hwtstamp;
	return skb->dev->netdev_ops->ndo_get_tstamp ?
	       netdev_get_tstamp(skb->dev, stamps, false) : 0;
}

/**
 * quell_clock_stamp() - time a receipt by the card's clock, if that can be
 * @qnet:    namespace
 * @skb:     the packet, as LOCAL_IN has it
 * @arrival: @rx_ns is the software stamp; it becomes the mapped hardware stamp,
 *	     which is never later, and @hardware true, where there is one
 *
 * Context: softirq or process context, RCU read side.
 */
void quell_clock_stamp(struct quell_net *qnet, const struct sk_buff *skb,
		       struct quell_arrival *arrival)
{
	ktime_t stamp = clock_hardware_stamp(skb);
	enum quell_clockmap_result result;
	struct clock *clock;
	u64 host_ns;

	if (!stamp)
		return;
	clock = clock_get(qnet, skb->dev->ifindex);
	if (!clock)
		return;
	spin_lock_bh(&clock->lock);
	result = quell_clockmap_add(&clock->map, ktime_to_ns(stamp), arrival->rx_ns, &host_ns);
	spin_unlock_bh(&clock->lock);
	quell_count(qnet, clock_counters[result]);
	if (result != QUELL_CLOCKMAP_MAPPED)
		return;
	arrival->rx_ns = host_ns;
	arrival->hardware = true;
}

/**
 * quell_clock_forget() - an interface goes
 * @qnet:    namespace
 * @ifindex: its index; nothing arrives at it any more
 *
 * Context: process, RTNL.
 */
void quell_clock_forget(struct quell_net *qnet, int ifindex)
{
	struct clock *clock = xa_erase_bh(&qnet->clocks, ifindex);

	if (clock)
		kfree_rcu(clock, rcu);
}

void quell_clocks_net_init(struct quell_net *qnet)
{
	xa_init_flags(&qnet->clocks, XA_FLAGS_LOCK_BH);
}

/* The hooks are gone, and a grace period with them: nobody reads. */
void quell_clocks_net_exit(struct quell_net *qnet)
{
	struct clock *clock;
	unsigned long i;

	xa_for_each(&qnet->clocks, i, clock)
		kfree(clock);
	xa_destroy(&qnet->clocks);
}

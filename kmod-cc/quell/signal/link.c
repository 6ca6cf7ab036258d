// SPDX-License-Identifier: GPL-2.0
/*
 * Link speed and hardware clock per interface.
 *
 * A congestion-control callback cannot query a driver: that sleeps and needs the RTNL.  So
 * speeds are stored by interface index and namespace when the device comes up or its link
 * changes, in a notifier (as bonding and taprio do), and read without a lock.
 *
 * A bond or team reports the sum over its active ports, and so do VLANs above.  The kernel sends no
 * event for them when it changes, but for the port, maybe with the lock of a device below.  A work
 * item therefore reads their speeds.  A bridge reports the maximum over its ports, of which those
 * of containers and guests report a constant: it is read when it is set up or its link changes.
 *
 * A rate that the administrator set overrides that of the driver until the interface is
 * unregistered: drivers of virtual devices report 10 Gbit/s or no speed.
 *
 * A flow caches the speed until the generation of the namespace's table changes.
 */
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>
#include <net/netlink.h>
#include <net/tcp.h>
#include <compat/ethtool.h>
#include <quell/core/signal/clockmap.h>
#include "signal/signal.h"

/*
 * Receipt times of packets by the clock of the NIC.
 *
 * A receipt is timed in the LOCAL_IN hook, which includes all delay in the host.  A hardware
 * stamp excludes that delay, but is in the NIC's clock, of which offset and drift cannot be
 * queried in this context.  <quell/core/signal/clockmap.h> estimates them from the packets;
 * there is one map per namespace and receiving interface.
 *
 * The receipt keeps its software stamp while the map is not usable or refuses a stamp, as it
 * does with the two clocks below a bond.  Packets merged by GRO have the stamp of the first.
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

/* The hooks were unregistered a grace period ago: there are no readers. */
void quell_clocks_net_exit(struct quell_net *qnet)
{
	struct clock *clock;
	unsigned long i;

	xa_for_each(&qnet->clocks, i, clock)
		kfree(clock);
	xa_destroy(&qnet->clocks);
}

#define BYTES_PS_PER_MBIT	125000ULL
#define BYTES_PS_PER_KBIT	125ULL

/* Room for the attributes of an interface. */
#define LINK_BYTES		64

/* Ports change together, as at boot: one reading is for all of them. */
#define LINK_STACKED_DELAY	(HZ / 10)

/* Bytes/s; 0: unknown, or not set by the administrator. */
static u64 link_load(struct xarray *speeds, int ifindex, u64 unit_bytes_ps)
{
	void *speed = xa_load(speeds, ifindex);

	return speed ? xa_to_value(speed) * unit_bytes_ps : 0;
}

/* 0 or -EMSGSIZE. */
int quell_put_link(struct sk_buff *skb, struct quell_net *qnet, int ifindex)
{
	u64 named_bytes_ps = link_load(&qnet->links_named, ifindex, BYTES_PS_PER_KBIT);
	u64 driver_bytes_ps = link_load(&qnet->links, ifindex, BYTES_PS_PER_MBIT);

	if (quell_put_u32(skb, QUELL_A_LINK_IFINDEX, ifindex) ||
	    (named_bytes_ps && quell_put_u64(skb, QUELL_A_LINK_RATE, named_bytes_ps,
					     QUELL_A_LINK_PAD)) ||
	    (driver_bytes_ps && quell_put_u64(skb, QUELL_A_LINK_DRIVER_RATE, driver_bytes_ps,
					      QUELL_A_LINK_PAD)))
		return -EMSGSIZE;
	return 0;
}

struct link_ntf {
	struct quell_net	*qnet;
	int			ifindex;
};

static int link_put(struct sk_buff *skb, const void *about)
{
	const struct link_ntf *ntf = about;

	return quell_put_link(skb, ntf->qnet, ntf->ifindex);
}

/* Flows read the rates again, listeners are notified.  RTNL. */
static void link_changed(struct quell_net *qnet, int ifindex)
{
	struct link_ntf ntf = { qnet, ifindex };

	atomic_inc_return(&qnet->links_gen);
	quell_ntf_send(qnet, QUELL_CMD_LINK_NTF, LINK_BYTES, link_put, &ntf);
}

/* @settings: as read, NULL if the driver did not report them.  RTNL. */
static void link_store_driver(const struct net_device *dev,
			      const struct ethtool_link_ksettings *settings)
{
	struct quell_net *qnet = quell_net(dev_net(dev));
	void *speed_mbit = NULL;
	void *old;

	ASSERT_RTNL();
	if (settings && settings->base.speed && settings->base.speed != (u32)SPEED_UNKNOWN)
		speed_mbit = xa_mk_value(settings->base.speed);
	old = xa_load(&qnet->links, dev->ifindex);
	if (old == speed_mbit)
		return;
	/* Storing NULL erases the entry; if storing fails the speed becomes unknown. */
	if (xa_err(xa_store(&qnet->links, dev->ifindex, speed_mbit, GFP_KERNEL)))
		xa_erase(&qnet->links, dev->ifindex);
	link_changed(qnet, dev->ifindex);
}

/* RTNL. */
static void link_remove(struct net_device *dev)
{
	struct quell_net *qnet = quell_net(dev_net(dev));
	void *driver_mbit = xa_erase(&qnet->links, dev->ifindex);
	void *named_kbit = xa_erase(&qnet->links_named, dev->ifindex);
	struct clock *clock = xa_erase_bh(&qnet->clocks, dev->ifindex);

	if (driver_mbit || named_kbit)
		link_changed(qnet, dev->ifindex);
	kfree_rcu(clock, rcu);
}

static int link_find_lag(struct net_device *lower, struct netdev_nested_priv *priv)
{
	bool *has_lag = priv->data;

	*has_lag |= netif_is_lag_master(lower);
	return netif_is_bridge_master(lower);
}

/*
 * Reads bonds, teams and devices above them, no others: drivers of NICs may ask firmware, once for
 * each VLAN, with the RTNL.
 */
static void link_read_stacked(struct work_struct *work)
{
	struct ethtool_link_ksettings settings;
	struct netdev_nested_priv priv;
	struct net_device *dev;
	struct net *net;
	bool has_lag;
	int err;

	rtnl_lock();
	down_read(&net_rwsem);
	for_each_net(net) {
		for_each_netdev(net, dev) {
			has_lag = netif_is_lag_master(dev);
			priv.data = &has_lag;
			if (!netif_running(dev) || netif_is_bridge_master(dev) ||
			    netdev_walk_all_lower_dev(dev, link_find_lag, &priv) || !has_lag)
				continue;
			err = __ethtool_get_link_ksettings(dev, &settings);
			link_store_driver(dev, err ? NULL : &settings);
		}
	}
	up_read(&net_rwsem);
	rtnl_unlock();
}

static DECLARE_DELAYED_WORK(link_stacked_work, link_read_stacked);

static int link_event(struct notifier_block *nb, unsigned long event, void *info)
{
	const struct netdev_notifier_changeupper_info *change = info;
	struct net_device *dev = netdev_notifier_info_to_dev(info);
	struct ethtool_link_ksettings settings;
	struct net_device *upper = NULL;
	int err;

	switch (event) {
	case NETDEV_UP:
	case NETDEV_CHANGE:
		err = netif_get_link_ksettings(dev, &settings);
		link_store_driver(dev, err ? NULL : &settings);
		fallthrough;
	case NETDEV_DOWN:
	case NETDEV_CHANGELOWERSTATE:
		upper = netdev_master_upper_dev_get(dev);
		break;
	case NETDEV_CHANGEUPPER:
		upper = change->upper_dev;
		break;
	case NETDEV_UNREGISTER:
		link_remove(dev);
		break;
	}
	/* The speed of a bond or team above may be another one now. */
	if (upper && netif_is_lag_master(upper))
		queue_delayed_work(system_power_efficient_wq, &link_stacked_work,
				   LINK_STACKED_DELAY);
	return NOTIFY_DONE;
}

static struct notifier_block link_notifier = {
	.notifier_call = link_event,
};

/* May sleep.  0 or -errno. */
int quell_links_init(void)
{
	return register_netdevice_notifier(&link_notifier);
}

/* Before the state of namespaces is freed.  May sleep. */
void quell_links_exit(void)
{
	unregister_netdevice_notifier(&link_notifier);
	cancel_delayed_work_sync(&link_stacked_work);
}

/**
 * quell_link_speed() - line rate of an interface
 * @qnet:    its namespace
 * @ifindex: its number
 * Context: any but hard interrupts.
 * Return: bytes/s: the administrator's, else the driver's; 0: unknown.
 */
u64 quell_link_speed(struct quell_net *qnet, int ifindex)
{
	return link_load(&qnet->links_named, ifindex, BYTES_PS_PER_KBIT) ?:
	       link_load(&qnet->links, ifindex, BYTES_PS_PER_MBIT);
}
EXPORT_SYMBOL_GPL(quell_link_speed);

/* The next interface with a speed after @ifindex, by number; 0: the first, and after the last. */
int quell_link_next(struct quell_net *qnet, int ifindex)
{
	unsigned long by_driver = ifindex, named = ifindex;
	bool has_driver = xa_find_after(&qnet->links, &by_driver, INT_MAX, XA_PRESENT);
	bool has_named = xa_find_after(&qnet->links_named, &named, INT_MAX, XA_PRESENT);

	if (has_driver && has_named)
		return min(by_driver, named);
	if (has_driver)
		return by_driver;
	return has_named ? named : 0;
}

/* @bytes_ps is rounded up to 1000 bit/s; 0: use the driver's again.  0 or -ENOMEM.  RTNL. */
int quell_link_name_speed(struct quell_net *qnet, int ifindex, u64 bytes_ps)
{
	u64 kbit = div_u64(bytes_ps + BYTES_PS_PER_KBIT - 1, BYTES_PS_PER_KBIT);
	void *speed_kbit = kbit ? xa_mk_value(kbit) : NULL;
	void *old;

	ASSERT_RTNL();
	old = xa_store(&qnet->links_named, ifindex, speed_kbit, GFP_KERNEL);
	if (!xa_is_err(old) && old != speed_kbit)
		link_changed(qnet, ifindex);
	return xa_err(old);
}

/* Lock of @flow, or before it is published. */
void quell_link_update(struct quell_flow *flow, const struct net_device *dev)
{
	int gen = atomic_read_acquire(&flow->qnet->links_gen);
	struct quell_link *link = &flow->link;
	u64 bytes_ps;

	if (link->ifindex == dev->ifindex && link->gen == gen)
		return;
	bytes_ps = quell_link_speed(flow->qnet, dev->ifindex);
	if (link->ifindex != dev->ifindex || link->bytes_ps != bytes_ps) {
		link->free_ns = 0;
		link->free_q32 = 0;
		link->ns_q32 = bytes_ps ? div64_u64((u64)NSEC_PER_SEC << 32, bytes_ps) : 0;
	}
	WRITE_ONCE(link->bytes_ps, bytes_ps);
	WRITE_ONCE(link->ifindex, dev->ifindex);
	link->gen = gen;
}

/* Of a socket without a flow; 0: unknown.  Socket lock. */
u64 quell_link_bytes_ps(const struct sock *sk)
{
	const struct dst_entry *dst = __sk_dst_get((struct sock *)sk);

	return dst ? quell_link_speed(quell_net(sock_net(sk)), dst->dev->ifindex) : 0;
}

void quell_links_net_init(struct quell_net *qnet)
{
	xa_init(&qnet->links);
	xa_init(&qnet->links_named);
	atomic_set(&qnet->links_gen, 1);
}

void quell_links_net_exit(struct quell_net *qnet)
{
	xa_destroy(&qnet->links);
	xa_destroy(&qnet->links_named);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The rate of a port's link, for telemetry and TCP-INT, and the bytes that its device holds.
 *
 * The rate is `rate`, or else the speed of the device.  Reading that sleeps and needs RTNL, so it
 * is read on configuration and when the device comes up or its link changes.
 *
 * A device with byte queue limits reports to the core the bytes that it accepted and completed.
 * The difference is a queue in front of the wire, and with `bql' counts as queued.
 */
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <compat/ethtool.h>
#include <quell/tcp_int.h>

#include "swport.h"

#define SWPORT_BYTES_PS_PER_MBIT	125000ULL

/* Under RTNL. */
static LIST_HEAD(swport_ports);

/**
 * quell_swport_link_query() - read the speed of a port's device
 * @sch: the port's qdisc
 * @params: parameters; the speed is needed for telemetry and TCP-INT
 * Context: RTNL held, and the device's own lock where it has one; may sleep.
 * Return: bytes/s; 0: unknown or not needed.
 */
u64 quell_swport_link_query(const struct Qdisc *sch, const struct swport_params *params)
{
	struct ethtool_link_ksettings settings;

	ASSERT_RTNL();
	if (!params->telemetry_ns && !params->tcp_int_ns)
		return 0;
	if (netif_get_link_ksettings(qdisc_dev(sch), &settings) ||
	    settings.base.speed == (u32)SPEED_UNKNOWN)
		return 0;
	return settings.base.speed * SWPORT_BYTES_PS_PER_MBIT;
}

/**
 * quell_swport_link_set() - update the link rate for a new device speed or new parameters
 * @port: the switch port
 * @device_bytes_ps: result of quell_swport_link_query()
 * Context: sch_tree_lock held.
 */
void quell_swport_link_set(struct swport_sched *port, u64 device_bytes_ps)
{
	struct swport_link *link = &port->link;

	link->device_bytes_ps = device_bytes_ps;
	link->bytes_ps = port->params.rate_bytes_ps ? port->params.rate_bytes_ps :
						      device_bytes_ps;
	quell_portload_measure(&link->load_params, port->params.telemetry_ns,
			       link->bytes_ps);
	quell_portload_measure(&port->tcp_int.load_params, port->params.tcp_int_ns,
			       link->bytes_ps);
	link->rate_code = quell_telemetry_rate_code(link->bytes_ps);
	port->tcp_int.speed = quell_tcp_int_speed(link->bytes_ps);
}

#ifdef CONFIG_BQL
/*
 * Bytes accepted and not completed; those accepted since boot, modulo 2^32, are added to @taken.
 * Without the driver's locks the counts are inconsistent while it resets its queue: check them.
 */
static u32 swport_txq_bytes(const struct netdev_queue *txq, u32 *taken)
{
	u32 queued = READ_ONCE(txq->dql.num_queued);
	u32 held = queued - READ_ONCE(txq->dql.num_completed);

	*taken += queued;
	if (READ_ONCE(txq->dql.num_queued) - queued > S32_MAX)
		return 0;
	return held > SWPORT_DEVICE_MAX ? 0 : held;
}
#else
static u32 swport_txq_bytes(const struct netdev_queue *txq, u32 *taken)
{
	return 0;
}
#endif

static u32 swport_device_txq_bytes(struct net_device *dev, u32 *taken)
{
	u32 i, count = READ_ONCE(dev->real_num_tx_queues), held = 0;

	for (i = 0; i < count; i++)
		held += swport_txq_bytes(netdev_get_tx_queue(dev, i), taken);
	return held;
}

/*
 * Update the bytes behind a port with `bql': of its transmit queue, or of all of the device.  Bytes
 * dequeued since the device last accepted any are on their way to it, as the core dequeues in
 * bulk.  With `rate' the wire is the port's own.  Context: qdisc lock held, BH disabled.
 */
void quell_swport_device_update(struct swport_sched *port)
{
	const struct Qdisc *sch = port->watchdog.qdisc;
	struct swport_link *link = &port->link;
	u32 taken = 0, all_taken = 0, held = 0;

	if (port->params.rate_bytes_ps) {
		quell_swport_device_reset(port);
		return;
	}
	if (link->of_one_queue)
		held = swport_txq_bytes(sch->dev_queue, &taken);
	if (!link->of_one_queue || port->part.joint)
		held = swport_device_txq_bytes(qdisc_dev(sch), &all_taken);
	if (!link->of_one_queue)
		taken = all_taken;
	if (taken != link->taken_bytes) {
		link->taken_bytes = taken;
		link->between_bytes = 0;
	}
	link->device_bytes = held + link->between_bytes;
}

/*
 * Account for bytes dequeued, after quell_swport_device_update().  A device that never accepted any
 * has no byte queue limits.  Context: qdisc lock held, BH disabled.
 */
void quell_swport_device_sent(struct swport_sched *port, u32 bytes)
{
	struct swport_link *link = &port->link;

	if (link->taken_bytes)
		link->between_bytes = min(link->between_bytes + bytes, SWPORT_BETWEEN_MAX);
}

static void swport_link_update(struct Qdisc *sch)
{
	struct swport_sched *port = qdisc_priv(sch);
	u64 device_bytes_ps = quell_swport_link_query(sch, &port->params);

	if (device_bytes_ps == port->link.device_bytes_ps)
		return;
	sch_tree_lock(sch);
	quell_swport_link_set(port, device_bytes_ps);
	sch_tree_unlock(sch);
}

static int swport_link_event(struct notifier_block *nb, unsigned long event, void *info)
{
	struct net_device *dev = netdev_notifier_info_to_dev(info);
	struct swport_sched *port;

	if (event == NETDEV_UNREGISTER) {
		list_for_each_entry(port, &swport_ports, link.siblings)
			quell_swport_deflect_forget_dev(port->watchdog.qdisc, dev);
	}
	if (event != NETDEV_UP && event != NETDEV_CHANGE)
		return NOTIFY_DONE;
	list_for_each_entry(port, &swport_ports, link.siblings) {
		if (qdisc_dev(port->watchdog.qdisc) == dev)
			swport_link_update(port->watchdog.qdisc);
	}
	return NOTIFY_DONE;
}

static struct notifier_block swport_link_notifier = {
	.notifier_call = swport_link_event,
};

/* Subscribe to the notifier of device changes.  Context: RTNL held. */
void quell_swport_link_add(struct Qdisc *sch)
{
	struct swport_sched *port = qdisc_priv(sch);

	ASSERT_RTNL();
	list_add(&port->link.siblings, &swport_ports);
}

/* Context: RTNL held. */
void quell_swport_link_remove(struct Qdisc *sch)
{
	struct swport_sched *port = qdisc_priv(sch);

	ASSERT_RTNL();
	list_del(&port->link.siblings);
}

int quell_swport_link_init(void)
{
	return register_netdevice_notifier(&swport_link_notifier);
}

void quell_swport_link_exit(void)
{
	unregister_netdevice_notifier(&swport_link_notifier);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The rate of a port's link, for telemetry and load measurement, and what its device holds.
 *
 * It is `rate` if that is set, else the speed of the device.  That may change, and
 * only the driver knows it: asking sleeps and needs the RTNL, so the port asks
 * when it is configured and when the device comes up or its link changes, and keeps
 * the answer.  If the device has no speed or does not know it, the rate is 0.
 *
 * Without telemetry and TCP-INT the device is not asked.
 *
 * A device without a queue of its own sends at once, one with byte queue limits tells the core
 * what it has taken and what it has sent.  The difference waits for the wire as the port's own
 * queue does; with `bql' it counts as queued.
 */
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <compat/ethtool.h>
#include <quell/tcp_int.h>

#include "swport.h"

/* Mbit/s to bytes/s. */
#define SWPORT_BYTES_PS_PER_MBIT	125000ULL

/* All ports; RTNL. */
static LIST_HEAD(swport_ports);

/**
 * quell_swport_link_ask() - ask for the speed of a port's device, if it is needed
 * @sch: the port's qdisc
 * @params: parameters; the speed is needed for telemetry and TCP-INT
 *
 * Context: RTNL held, and the device's own lock where it has one; may sleep.
 * Return: bytes/s; 0 unknown or not asked.
 */
u64 quell_swport_link_ask(const struct Qdisc *sch, const struct swport_params *params)
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
 * quell_swport_link_set() - update the link rate after a change of device speed or parameters
 * @port: the switch port
 * @device_bytes_ps: result of quell_swport_link_ask()
 *
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
	port->tcp_int.speed = quell_tcp_int_speed(link->bytes_ps);
}

/* Bytes that a transmit queue has taken and, if @sent, sent; modulo 2^32, and 0 without BQL. */
static u32 swport_txq_bytes(const struct netdev_queue *txq, bool sent)
{
#ifdef CONFIG_BQL
	/* Without the driver's locks, as sysfs: what is sent meanwhile may still count. */
	return sent ? data_race(txq->dql.num_completed) : data_race(txq->dql.num_queued);
#else
	return 0;
#endif
}

static u32 swport_device_sum(struct net_device *dev, bool sent)
{
	u32 i, bytes = 0;

	for (i = 0; i < READ_ONCE(dev->real_num_tx_queues); i++)
		bytes += swport_txq_bytes(netdev_get_tx_queue(dev, i), sent);
	return bytes;
}

/* Bytes that the transmit queues of this port have ever taken; 0 without BQL. */
static u32 swport_device_taken(const struct swport_sched *port)
{
	const struct Qdisc *sch = port->watchdog.qdisc;

	return port->link.of_one_queue ? swport_txq_bytes(sch->dev_queue, false) :
					 swport_device_sum(qdisc_dev(sch), false);
}

/* Bytes dequeued, but not yet given to the device: the core dequeues several packets at once. */
static u32 swport_between_bytes(const struct swport_sched *port, u32 taken_bytes)
{
	return taken_bytes && taken_bytes == port->link.taken_bytes ? port->link.between_bytes : 0;
}

/**
 * quell_swport_device_gets() - a packet leaves a port for its device
 * @port: the switch port, with `bql'
 * @bytes: of the packet
 *
 * What has left before is with the device if that has taken anything since.
 *
 * Context: softirq, qdisc lock held.
 */
void quell_swport_device_gets(struct swport_sched *port, u32 bytes)
{
	u32 taken_bytes = swport_device_taken(port);

	port->link.between_bytes = swport_between_bytes(port, taken_bytes) + bytes;
	port->link.taken_bytes = taken_bytes;
}

/**
 * quell_swport_device_bytes() - bytes that wait for the wire behind a port
 * @port: the switch port, with `bql'
 *
 * Context: softirq, qdisc lock held.
 * Return: bytes in the transmit queue of the port, or in all those of the device where the port
 * has them, and on the way there; 0 with `rate', whose wire is the port's own.
 */
u32 quell_swport_device_bytes(const struct swport_sched *port)
{
	const struct Qdisc *sch = port->watchdog.qdisc;
	struct net_device *dev = qdisc_dev(sch);
	s32 bytes;

	if (port->params.rate_bytes_ps)
		return 0;
	if (port->link.of_one_queue && !port->part.joint)
		bytes = swport_txq_bytes(sch->dev_queue, false) -
			swport_txq_bytes(sch->dev_queue, true);
	else
		bytes = swport_device_sum(dev, false) - swport_device_sum(dev, true);
	return max(bytes, 0) + swport_between_bytes(port, swport_device_taken(port));
}

static void swport_link_learn(struct Qdisc *sch)
{
	struct swport_sched *port = qdisc_priv(sch);
	u64 device_bytes_ps = quell_swport_link_ask(sch, &port->params);

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
			quell_swport_deflect_leave(port->watchdog.qdisc, dev);
	}
	if (event != NETDEV_UP && event != NETDEV_CHANGE)
		return NOTIFY_DONE;
	list_for_each_entry(port, &swport_ports, link.siblings) {
		if (qdisc_dev(port->watchdog.qdisc) == dev)
			swport_link_learn(port->watchdog.qdisc);
	}
	return NOTIFY_DONE;
}

static struct notifier_block swport_link_notifier = {
	.notifier_call = swport_link_event,
};

/**
 * quell_swport_link_add() - start notifying a port of device changes
 * @sch: the port's qdisc
 *
 * Context: RTNL held.
 */
void quell_swport_link_add(struct Qdisc *sch)
{
	struct swport_sched *port = qdisc_priv(sch);

	ASSERT_RTNL();
	list_add(&port->link.siblings, &swport_ports);
}

/**
 * quell_swport_link_remove() - stop notifying a port of device changes
 * @sch: the port's qdisc
 *
 * Context: RTNL held.
 */
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

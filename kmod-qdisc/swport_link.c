// SPDX-License-Identifier: GPL-2.0
/*
 * The rate of a port's link, for telemetry and load measurement.
 *
 * It is `rate` if that is set, else the speed of the device.  That may change, and
 * only the driver knows it: asking sleeps and needs the RTNL, so the port asks
 * when it is configured and when the device comes up or its link changes, and keeps
 * the answer.  If the device has no speed or does not know it, the rate is 0.
 *
 * Without telemetry and TCP-INT the device is not asked.
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

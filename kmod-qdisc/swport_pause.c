// SPDX-License-Identifier: GPL-2.0
/*
 * Paused priorities, for devices with priority flow control (IEEE 802.1Q, clause 36).  The qdisc
 * pauses them, as stopping the only transmit queue would also stop control and other priorities.
 *
 * A packet's priority is the class selector of its outermost DSCP, or 0.  Control is never paused.
 * Priorities of data share the band's order, its limit, and the backlog by which it marks.
 */
#include <linux/netdevice.h>

#include "swport.h"

/*
 * Move the first packet that is not paused to the head of the data band; false if all are paused.
 * Scans the band each time: a driver that pauses long ones needs a queue per priority.
 * Context: softirq, qdisc lock held.
 */
bool quell_swport_find_data(struct swport_sched *port)
{
	struct sk_buff_head *queue = &port->data.queue;
	struct sk_buff *skb;

	skb_queue_walk(queue, skb) {
		if (port->paused & BIT(swport_cb(skb)->priority))
			continue;
		__skb_unlink(skb, queue);
		__skb_queue_head(queue, skb);
		return true;
	}
	return false;
}

/**
 * quell_swport_pause() - set the paused priorities of data in a device's port
 * @dev: the device, which may still send the packets that it has
 * @priorities: bit per priority; the driver sets it when it is opened, and 0 when it stops
 * Context: softirq, RCU read lock held, not the qdisc's lock.
 * Return: false if the device's root qdisc is no swport.
 */
bool quell_swport_pause(struct net_device *dev, u8 priorities)
{
	struct Qdisc *sch = rcu_dereference(dev->qdisc);
	struct swport_sched *port = qdisc_priv(sch);

	if (sch->dequeue != quell_swport_dequeue)
		return false;
	spin_lock(qdisc_lock(sch));
	port->paused = priorities;
	quell_swport_set_features(port);
	spin_unlock(qdisc_lock(sch));
	/* The transmit queue has another qdisc once the core replaces this one. */
	netif_schedule_queue(netdev_get_tx_queue(dev, 0));
	return true;
}
EXPORT_SYMBOL_GPL(quell_swport_pause);

// SPDX-License-Identifier: GPL-2.0
/*
 * Priorities that wait: what a device does whose link has priority flow control (IEEE 802.1Q,
 * clause 36).  The other end has paused some priorities, and the queue is here, so it is here that
 * packets of the others must be let by.  A device that stopped its transmit queue instead would
 * stop them all, control too, as a port has one queue for the qdisc core.
 *
 * The priority of a packet is the class selector in its DSCP, the upper three of six bits, of the
 * outermost IP header; 0 if there is none.  Control does not wait, whatever its DSCP.
 *
 * All priorities of data share the band: its order where none of them waits, its limit, and the
 * backlog by which packets are marked.
 */
#include <linux/netdevice.h>

#include "swport.h"

/**
 * quell_swport_find_data() - does data wait that may leave now, though some may not?
 * @port: the switch port
 *
 * It looks at all packets of the band before that one, each time: the laboratory's bands are short.
 * A driver that pauses bands of a hundred thousand small packets needs a queue per priority.
 *
 * Context: softirq, qdisc lock held.
 * Return: true after moving the first such packet to the head of the data band.
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
 * quell_swport_pause() - which priorities of data wait in a device's port
 * @dev: the device
 * @priorities: bit per priority; all others may leave
 *
 * What the device has got already, it may send.  The state is the link's, but is kept with the
 * qdisc: the device tells it again when it is opened, and 0 when it stops.
 *
 * Context: softirq, RCU read lock held, not the qdisc's lock.
 * Return: false if the device's root qdisc is no swport: nothing waits then.
 */
bool quell_swport_pause(struct net_device *dev, u8 priorities)
{
	struct Qdisc *sch = rcu_dereference(dev->qdisc);

	if (sch->dequeue != quell_swport_dequeue)
		return false;
	spin_lock(qdisc_lock(sch));
	((struct swport_sched *)qdisc_priv(sch))->paused = priorities;
	spin_unlock(qdisc_lock(sch));
	/* By the transmit queue: it has another qdisc once the core lets go of this one. */
	netif_schedule_queue(netdev_get_tx_queue(dev, 0));
	return true;
}
EXPORT_SYMBOL_GPL(quell_swport_pause);

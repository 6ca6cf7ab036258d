// SPDX-License-Identifier: GPL-2.0
/*
 * One port for many transmit queues: ports with `joint' below mq, each with its own transmit
 * queue, lock and processor, share
 *
 *	bytes queued	an atomic counter, with which each compares its limits and thresholds
 *	the wire	slots (<quell/core/port/slots.h>), under the joint port's lock
 *	load		for telemetry and TCP-INT, under that lock; each queue has a copy as of the
 *			packet being dequeued
 *
 * Rate and the times of telemetry and TCP-INT are the port's: the last value set for any queue
 * applies to all, and to a new queue without one.  It stays in force if the kernel rejects a new
 * queue after its ->init, for instance for a bad estimator.
 *
 * Lifetime: from the first queue's ->init to the last one's ->destroy, both with RTNL held.  The
 * device outlives its qdiscs, so @dev is valid.
 *
 * Locks: the joint port's lock nests inside one qdisc lock; softirqs are off.
 */
#include <linux/ktime.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/netlink.h>

#include "swport.h"

/*
 * A port of many queues.  @queues_nr is written with RTNL and read without; @lock protects the
 * fields below it, and RTNL those before @busy_nr.  The rate of @wire is written with both.
 */
struct swport_joint {
	struct list_head	siblings;
	struct net_device	*dev;
	struct list_head	queues;
	u32			queues_nr;
	u32			telemetry_ns;
	u32			tcp_int_ns;
	atomic_t		busy_nr ____cacheline_aligned_in_smp;
	atomic_t		data_bytes;
	spinlock_t		lock ____cacheline_aligned_in_smp;
	struct quell_slots	wire;
	struct quell_portload	load;
	struct quell_portload	int_load;
};

static LIST_HEAD(swport_joints);

static struct swport_joint *swport_joint_find(const struct net_device *dev)
{
	struct swport_joint *joint;

	ASSERT_RTNL();
	list_for_each_entry(joint, &swport_joints, siblings) {
		if (joint->dev == dev)
			return joint;
	}
	return NULL;
}

static struct swport_joint *swport_joint_make(struct net_device *dev)
{
	struct swport_joint *joint = kzalloc(sizeof(*joint), GFP_KERNEL);

	if (!joint)
		return NULL;
	joint->dev = dev;
	INIT_LIST_HEAD(&joint->queues);
	spin_lock_init(&joint->lock);
	list_add(&joint->siblings, &swport_joints);
	return joint;
}

/* Complete the parameters of a request by those of the joint port.  Context: RTNL held. */
void quell_swport_joint_inherit(const struct Qdisc *sch, struct nlattr **tb,
				struct swport_params *params)
{
	const struct swport_joint *joint = swport_joint_find(qdisc_dev(sch));

	if (!params->joint || !joint)
		return;
	if (!tb[TCA_SWPORT_RATE])
		params->rate_bytes_ps = joint->wire.rate_bytes_ps;
	if (!tb[TCA_SWPORT_TELEMETRY])
		params->telemetry_ns = joint->telemetry_ns;
	if (!tb[TCA_SWPORT_TCP_INT])
		params->tcp_int_ns = joint->tcp_int_ns;
}

/**
 * quell_swport_joint_get() - find or create the joint port of a queue
 * @sch: the queue's qdisc
 * @params: checked parameters of a request
 * @joint: set to the joint port, or to NULL without `joint'
 * Context: RTNL held; may sleep.
 * Return: 0 or -ENOMEM.
 */
int quell_swport_joint_get(const struct Qdisc *sch, const struct swport_params *params,
			   struct swport_joint **joint)
{
	*joint = NULL;
	if (!params->joint)
		return 0;
	*joint = swport_joint_find(qdisc_dev(sch));
	if (!*joint)
		*joint = swport_joint_make(qdisc_dev(sch));
	return *joint ? 0 : -ENOMEM;
}

/* Free a joint port without queues.  Context: RTNL held. */
void quell_swport_joint_put(struct swport_joint *joint)
{
	ASSERT_RTNL();
	if (!joint || joint->queues_nr)
		return;
	WARN_ON_ONCE(atomic_read(&joint->data_bytes) || atomic_read(&joint->busy_nr));
	list_del(&joint->siblings);
	kfree(joint);
}

static void swport_joint_detach(struct swport_sched *port)
{
	struct swport_part *part = &port->part;
	struct swport_joint *joint = part->joint;

	quell_swport_joint_deactivate(port);
	atomic_sub(part->held_bytes, &joint->data_bytes);
	part->held_bytes = 0;
	list_del(&part->siblings);
	WRITE_ONCE(joint->queues_nr, joint->queues_nr - 1);
	part->joint = NULL;
	quell_swport_joint_put(joint);
}

/* Queued packets count, even above a limit. */
static void swport_joint_attach(struct swport_sched *port, struct swport_joint *joint)
{
	struct swport_part *part = &port->part;

	list_add_tail(&part->siblings, &joint->queues);
	WRITE_ONCE(joint->queues_nr, joint->queues_nr + 1);
	part->joint = joint;
	quell_swport_joint_sync(port);
	if (!skb_queue_empty(&port->data.queue) || !skb_queue_empty(&port->control.queue))
		quell_swport_joint_activate(port);
}

/*
 * Set or clear the joint port of a queue.
 * Context: RTNL and the qdisc lock held, or the qdisc out of use.
 */
void quell_swport_joint_set(struct swport_sched *port, struct swport_joint *joint)
{
	if (port->part.joint == joint)
		return;
	if (port->part.joint)
		swport_joint_detach(port);
	if (joint)
		swport_joint_attach(port, joint);
}

/* Apply the joint port's parameters to a queue, and move its slot if the rate has changed. */
static void swport_joint_update(struct swport_sched *port, const struct swport_params *params,
				u64 device_bytes_ps, bool is_rerated)
{
	struct swport_joint *joint = port->part.joint;
	struct quell_slot *slot = &port->part.slot;
	struct Qdisc *sch = port->watchdog.qdisc;

	sch_tree_lock(sch);
	port->params.rate_bytes_ps = params->rate_bytes_ps;
	port->params.telemetry_ns = params->telemetry_ns;
	port->params.tcp_int_ns = params->tcp_int_ns;
	quell_swport_set_features(port);
	quell_swport_link_set(port, device_bytes_ps);
	spin_lock(&joint->lock);
	if (slot->bytes && is_rerated)
		slot->begin_ns = quell_slots_moved_ns(&joint->wire, slot, ktime_get_ns());
	spin_unlock(&joint->lock);
	if (qdisc_qlen(sch))
		qdisc_watchdog_schedule_ns(&port->watchdog, slot->bytes ? slot->begin_ns : 0);
	sch_tree_unlock(sch);
}

/* Apply one queue's rate, telemetry and TCP-INT to all.  Context: RTNL held, no qdisc lock. */
void quell_swport_joint_commit(struct swport_sched *port)
{
	const struct swport_params *params = &port->params;
	struct swport_joint *joint = port->part.joint;
	bool is_rerated = params->rate_bytes_ps != joint->wire.rate_bytes_ps;
	struct swport_sched *queue;

	ASSERT_RTNL();
	if (!is_rerated && params->telemetry_ns == joint->telemetry_ns &&
	    params->tcp_int_ns == joint->tcp_int_ns)
		return;
	joint->telemetry_ns = params->telemetry_ns;
	joint->tcp_int_ns = params->tcp_int_ns;
	spin_lock_bh(&joint->lock);
	quell_shaper_rerate(&joint->wire.end, ktime_get_ns(), joint->wire.rate_bytes_ps,
			    params->rate_bytes_ps);
	joint->wire.rate_bytes_ps = params->rate_bytes_ps;
	spin_unlock_bh(&joint->lock);
	list_for_each_entry(queue, &joint->queues, part.siblings)
		swport_joint_update(queue, params, port->link.device_bytes_ps, is_rerated);
}

/**
 * quell_swport_joint_charge() - charge data to the joint port
 * @port: a queue of it
 * @bytes: of a packet, or of all segments of a super-packet
 * Context: softirq, qdisc lock held.
 * Return: false above the queue's limit.
 */
bool quell_swport_joint_charge(struct swport_sched *port, u32 bytes)
{
	struct swport_joint *joint = port->part.joint;
	int old_bytes = atomic_read(&joint->data_bytes);

	do {
		if ((u64)old_bytes + bytes > port->params.limit_bytes)
			return false;
	} while (!atomic_try_cmpxchg(&joint->data_bytes, &old_bytes, old_bytes + bytes));
	port->part.held_bytes += bytes;
	return true;
}

/* Context: qdisc lock held, or the qdisc out of use. */
void quell_swport_joint_sync(struct swport_sched *port)
{
	struct swport_part *part = &port->part;

	if (part->held_bytes == port->data.backlog_bytes)
		return;
	atomic_add(port->data.backlog_bytes - part->held_bytes, &part->joint->data_bytes);
	part->held_bytes = port->data.backlog_bytes;
}

/* Bytes queued, without a packet of this queue that is charged, but not yet in its band. */
u32 quell_swport_joint_bytes(const struct swport_sched *port)
{
	const struct swport_part *part = &port->part;

	return atomic_read(&part->joint->data_bytes) - part->held_bytes + port->data.backlog_bytes;
}

/* A queue becomes active.  The wire gains no credit while all are idle.  Qdisc lock held. */
void quell_swport_joint_activate(struct swport_sched *port)
{
	struct swport_joint *joint = port->part.joint;

	if (port->part.busy)
		return;
	port->part.busy = true;
	if (atomic_inc_return(&joint->busy_nr) > 1 || !port->params.rate_bytes_ps)
		return;
	spin_lock(&joint->lock);
	quell_shaper_restart(&joint->wire.end, ktime_get_ns());
	spin_unlock(&joint->lock);
}

/* A queue becomes idle: release its slot.  Qdisc lock held, or the qdisc out of use. */
void quell_swport_joint_deactivate(struct swport_sched *port)
{
	struct swport_part *part = &port->part;

	if (part->slot.bytes) {
		spin_lock_bh(&part->joint->lock);
		quell_slots_release(&part->joint->wire, &part->slot, 0);
		spin_unlock_bh(&part->joint->lock);
	}
	if (part->busy)
		atomic_dec(&part->joint->busy_nr);
	part->busy = false;
}

/**
 * quell_swport_joint_ready_ns() - when a queue may send its next packet
 * @port: a queue of a joint port, with `rate'
 * @now_ns: time
 * @bytes: of the packet on the wire, for which a slot is reserved; 0: no packet may be sent
 * Context: softirq, qdisc lock held.
 * Return: time; at most @now_ns: now.
 */
u64 quell_swport_joint_ready_ns(struct swport_sched *port, u64 now_ns, u32 bytes)
{
	struct quell_slot *slot = &port->part.slot;
	struct swport_joint *joint = port->part.joint;

	if (!bytes)
		return now_ns;
	if (slot->bytes)
		return slot->begin_ns;
	spin_lock(&joint->lock);
	/* The rate may have been removed for all queues, but not yet for this one. */
	if (joint->wire.rate_bytes_ps)
		quell_slots_reserve(&joint->wire, slot, now_ns, bytes);
	spin_unlock(&joint->lock);
	return slot->bytes ? slot->begin_ns : now_ns;
}

/**
 * quell_swport_joint_measure() - measure the load of a joint port
 * @port: a queue of it, with telemetry or TCP-INT, to which the loads are copied
 * @now_ns: time
 * Context: softirq, qdisc lock held.
 * Return: @now_ns, or the time at which another processor has measured later: the copy has the
 * bytes sent until then.
 */
u64 quell_swport_joint_measure(struct swport_sched *port, u64 now_ns)
{
	struct swport_joint *joint = port->part.joint;

	spin_lock(&joint->lock);
	if (port->params.telemetry_ns) {
		quell_portload_advance(&joint->load, &port->link.load_params, now_ns);
		port->link.load = joint->load;
		now_ns = joint->load.last_ns;
	}
	if (port->params.tcp_int_ns) {
		quell_portload_advance(&joint->int_load, &port->tcp_int.load_params, now_ns);
		port->tcp_int.load = joint->int_load;
	}
	spin_unlock(&joint->lock);
	return now_ns;
}

/* Account for @bytes sent; 0: no packet could be sent.  Context: softirq, qdisc lock held. */
void quell_swport_joint_sent(struct swport_sched *port, u32 bytes)
{
	bool is_measured = port->params.telemetry_ns || port->params.tcp_int_ns;
	struct quell_slot *slot = &port->part.slot;
	struct swport_joint *joint = port->part.joint;

	/* Usually the slot was as long as the packet, and no lock is needed. */
	if (slot->bytes == bytes)
		slot->bytes = 0;
	if (!slot->bytes && !is_measured)
		return;
	spin_lock(&joint->lock);
	quell_slots_release(&joint->wire, slot, bytes);
	quell_portload_add(&joint->load, bytes);
	quell_portload_add(&joint->int_load, bytes);
	spin_unlock(&joint->lock);
}

/* Set the joint port's statistics, @value by TCA_SWPORT_STATS_*.  Context: qdisc lock held. */
void quell_swport_joint_stats(const struct swport_sched *port, u64 *value)
{
	const struct swport_joint *joint = port->part.joint;

	value[TCA_SWPORT_STATS_JOINT_QUEUES] = joint ? READ_ONCE(joint->queues_nr) : 0;
	value[TCA_SWPORT_STATS_JOINT_BACKLOG_BYTES] =
		joint ? atomic_read(&joint->data_bytes) : 0;
}

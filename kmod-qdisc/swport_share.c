// SPDX-License-Identifier: GPL-2.0
/*
 * State beyond a single port: shared buffers, joint ports, and the link of a port's device.
 */
#include <linux/ktime.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/netlink.h>
#include <compat/ethtool.h>
#include <quell/core/port/sharedbuf.h>
#include <quell/tcp_int.h>

#include "swport.h"

/*
 * The buffer that ports of a network namespace share, each up to a threshold that follows the free
 * space (<quell/core/port/sharedbuf.h>).
 *
 * A namespace has one while one of its ports has `alpha`, of the size configured last.  Data bands
 * are charged to it; control bands have their own limits.  Ports have separate locks: usage is an
 * atomic counter, charged by compare and exchange before a packet is queued, so that two ports
 * cannot use the same space.  A new port is charged for its queue even above its threshold.
 * Shrinking the buffer drops no packet, but admits no packet until there is space.
 */

/*
 * @size_bytes is written with RTNL and read without, the fields before it are under RTNL.  Ports
 * write those behind it for each packet, in a cache line of their own.  A namespace outlives its
 * devices and their qdiscs, so @net is valid.
 */
struct swport_buffer {
	struct list_head	siblings;
	struct net		*net;
	u32			ports;
	u32			size_bytes;
	atomic_t		used_bytes ____cacheline_aligned_in_smp;
	atomic_t		used_max_bytes;
};

static LIST_HEAD(swport_buffers);

static struct swport_buffer *swport_buffer_find(const struct net *net)
{
	struct swport_buffer *buffer;

	ASSERT_RTNL();
	list_for_each_entry(buffer, &swport_buffers, siblings) {
		if (buffer->net == net)
			return buffer;
	}
	return NULL;
}

static struct swport_buffer *swport_buffer_make(struct net *net)
{
	struct swport_buffer *buffer = kzalloc(sizeof(*buffer), GFP_KERNEL);

	if (!buffer)
		return NULL;
	buffer->net = net;
	list_add(&buffer->siblings, &swport_buffers);
	return buffer;
}

static void swport_buffer_raise(struct swport_buffer *buffer, int used_bytes)
{
	int most_bytes = atomic_read(&buffer->used_max_bytes);

	while (most_bytes < used_bytes &&
	       !atomic_try_cmpxchg(&buffer->used_max_bytes, &most_bytes, used_bytes))
		;
}

/**
 * quell_swport_buffer_try_charge() - charge all segments of a packet to the shared buffer, if any
 * @port: the switch port
 * @super: packet or super-packet, which fits the port's own limit
 * Context: softirq, qdisc lock held.
 * Return: false, with no change, if one of the segments would not be admitted.
 */
bool quell_swport_buffer_try_charge(struct swport_sched *port, const struct quell_super *super)
{
	struct swport_buffer *buffer = port->share.buffer;
	u32 size_bytes;
	int used_bytes;

	if (!buffer)
		return true;
	size_bytes = READ_ONCE(buffer->size_bytes);
	used_bytes = atomic_read(&buffer->used_bytes);
	do {
		if (!quell_super_sharedbuf_admits(super, size_bytes, used_bytes,
						  port->params.alpha_q16,
						  port->share.held_bytes))
			return false;
	} while (!atomic_try_cmpxchg(&buffer->used_bytes, &used_bytes,
				     used_bytes + super->bytes));
	swport_buffer_raise(buffer, used_bytes + super->bytes);
	port->share.held_bytes += super->bytes;
	return true;
}

/**
 * quell_swport_buffer_charge() - charge a data packet to the shared buffer, if there is one
 * @port: the switch port
 * @len_bytes: of the packet, which fits the port's own limit
 * Context: softirq, qdisc lock held.
 * Return: false if the caller must drop the packet; the drop is counted.
 */
bool quell_swport_buffer_charge(struct swport_sched *port, u32 len_bytes)
{
	const struct quell_super packet = {
		.segments = 1, .bytes = len_bytes, .last_bytes = len_bytes,
	};
	struct swport_share *share = &port->share;

	if (quell_swport_buffer_try_charge(port, &packet))
		return true;
	share->drop_pkts++;
	share->drop_bytes += len_bytes;
	return false;
}

/* Adjust the charge to the data band's backlog.  Context: qdisc lock held. */
void quell_swport_buffer_sync(struct swport_sched *port)
{
	struct swport_share *share = &port->share;

	if (!share->buffer || share->held_bytes == port->data.backlog_bytes)
		return;
	atomic_add(port->data.backlog_bytes - share->held_bytes, &share->buffer->used_bytes);
	share->held_bytes = port->data.backlog_bytes;
}

/* Check the buffer attributes of a request.  Context: RTNL held.  Returns 0 or -EINVAL. */
int quell_swport_buffer_check(const struct Qdisc *sch, const struct swport_params *params,
			      struct netlink_ext_ack *extack)
{
	if (!params->alpha_q16 || params->buffer_bytes ||
	    swport_buffer_find(dev_net(qdisc_dev(sch))))
		return 0;
	NL_SET_ERR_MSG(extack, "swport: alpha needs buffer: no port here has set its size");
	return -EINVAL;
}

/**
 * quell_swport_buffer_get() - find or create the buffer of a port
 * @sch: the port's qdisc
 * @params: checked parameters of a request
 * @buffer: set to the buffer, or to NULL without `alpha'
 * Context: RTNL held; may sleep.
 * Return: 0, or -ENOMEM and no state has changed.
 */
int quell_swport_buffer_get(const struct Qdisc *sch, const struct swport_params *params,
			    struct swport_buffer **buffer)
{
	struct net *net = dev_net(qdisc_dev(sch));

	*buffer = NULL;
	if (!params->alpha_q16)
		return 0;
	*buffer = swport_buffer_find(net);
	if (!*buffer)
		*buffer = swport_buffer_make(net);
	if (!*buffer)
		return -ENOMEM;
	if (params->buffer_bytes)
		WRITE_ONCE((*buffer)->size_bytes, params->buffer_bytes);
	return 0;
}

/*
 * Set or clear the buffer of a port.
 * Context: RTNL and the qdisc lock held, or the qdisc out of use.
 */
void quell_swport_buffer_set(struct swport_sched *port, struct swport_buffer *buffer)
{
	struct swport_share *share = &port->share;
	struct swport_buffer *old = share->buffer;

	if (old == buffer)
		return;
	if (old) {
		atomic_sub(share->held_bytes, &old->used_bytes);
		old->ports--;
	}
	share->buffer = buffer;
	share->held_bytes = 0;
	if (buffer) {
		buffer->ports++;
		quell_swport_buffer_sync(port);
		swport_buffer_raise(buffer, atomic_read(&buffer->used_bytes));
	}
	if (old && !old->ports) {
		WARN_ON_ONCE(atomic_read(&old->used_bytes));
		list_del(&old->siblings);
		kfree(old);
	}
}

/* Bytes; 0 without a buffer.  Context: RTNL or the qdisc lock held. */
u32 quell_swport_buffer_size(const struct swport_sched *port)
{
	return port->share.buffer ? READ_ONCE(port->share.buffer->size_bytes) : 0;
}

/* Set the buffer's statistics, @value by TCA_SWPORT_STATS_*.  Context: qdisc lock held. */
void quell_swport_buffer_stats(const struct swport_sched *port, u64 *value)
{
	const struct swport_share *share = &port->share;
	u32 used_bytes;

	value[TCA_SWPORT_STATS_BUFFER_DROP_PKTS] = share->drop_pkts;
	value[TCA_SWPORT_STATS_BUFFER_DROP_BYTES] = share->drop_bytes;
	value[TCA_SWPORT_STATS_BUFFER_USED_BYTES] = 0;
	value[TCA_SWPORT_STATS_BUFFER_USED_MAX_BYTES] = 0;
	value[TCA_SWPORT_STATS_BUFFER_THRESHOLD_BYTES] = 0;
	if (!share->buffer)
		return;
	used_bytes = atomic_read(&share->buffer->used_bytes);
	value[TCA_SWPORT_STATS_BUFFER_USED_BYTES] = used_bytes;
	value[TCA_SWPORT_STATS_BUFFER_USED_MAX_BYTES] =
		atomic_read(&share->buffer->used_max_bytes);
	value[TCA_SWPORT_STATS_BUFFER_THRESHOLD_BYTES] =
		quell_sharedbuf_threshold(quell_swport_buffer_size(port), used_bytes,
					  port->params.alpha_q16);
}

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

/*
 * The rate of a port's link, for telemetry and TCP-INT, and the bytes that its device holds.
 *
 * The rate is `rate`, or else the speed of the device.  Reading that sleeps and needs RTNL, so it
 * is read on configuration and when the device comes up or its link changes.
 *
 * A device with byte queue limits reports to the core the bytes that it accepted and completed.
 * The difference is a queue in front of the wire, and with `bql' counts as queued.
 */

/* Bounds of the bytes in a transmit queue, and between the port and the device. */
#define SWPORT_DEVICE_MAX	((u32)SZ_256M)
#define SWPORT_BETWEEN_MAX	((u32)SZ_4M)
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

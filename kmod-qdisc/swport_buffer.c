// SPDX-License-Identifier: GPL-2.0
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
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <quell/core/port/sharedbuf.h>

#include "swport.h"

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

// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labnic: priority flow control (IEEE 802.1Q, clause 36).
 *
 * A switch counts, for each of its ports and each priority, the bytes it holds that came in by
 * that port: from their last bit in to their last bit out by any port.  Up to a threshold
 * they are in its shared memory.  A frame that does not fit under it goes into the headroom of
 * port and priority, and the first one that does has the port send a pause frame (XOFF).  Once the
 * headroom is empty and the shared part so far below the threshold as "resume" says, another frame
 * lets the other end go on (XON).  The threshold is either fixed, or alpha times the free part of
 * the memory that all ports of the switch share.  A frame without headroom is lost.
 *
 * A pause frame is a frame: it waits for the one that is being sent, takes its time on the line
 * and the cable's delay, and a frame half sent is completed.  It precedes all queued frames, and
 * is no packet of the stack: no counter of packets and no byte queue limit has it.  It holds
 * until the XON, as if a switch repeated it in time.  Both ends obey at once.
 *
 * The card takes one frame at a time from the stack, so that paused packets are queued in the port
 * (quell_swport_pause()), where they are counted, marked, and let others by.  Segments that
 * TCP hands over as one are an exception: they are sent together.
 *
 * Between its two cards a frame's mark says how it was counted; skb_iif says where it came in.
 */
#include <linux/etherdevice.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <quell/core/port/frame_control.h>

#include "labnic.h"

#define PFC_COUNTED		BIT(31)
#define PFC_PRIORITY_SHIFT	16
#define PFC_BYTES_MASK		GENMASK(PFC_PRIORITY_SHIFT - 1, 0)
#define PFC_DSFIELD_SHIFT	5

/* Memory that the ports of a switch share. */
struct labnic_pool {
	struct list_head	list;	/* in pfc_pools */
	struct net		*net;	/* namespace of the switch */
	u32			ports;	/* how many use it */
	u64			size_bytes;	/* size, headrooms not counted */
	u64			used_bytes;	/* bytes held of it */
};

static LIST_HEAD(pfc_pools);
static DEFINE_MUTEX(pfc_mutex);	/* the list, and how many use a pool */

static struct labnic_pool *pfc_pool_find(const struct net *net)
{
	struct labnic_pool *pool;

	list_for_each_entry(pool, &pfc_pools, list)
		if (net_eq(pool->net, net))
			return pool;
	return NULL;
}

static struct labnic_pool *pfc_pool_get(struct net *net, u64 size_bytes)
{
	struct labnic_pool *pool;

	mutex_lock(&pfc_mutex);
	pool = pfc_pool_find(net);
	if (!pool) {
		pool = kzalloc(sizeof(*pool), GFP_KERNEL);
		if (!pool)
			goto unlock;
		pool->net = net;
		pool->size_bytes = size_bytes;
		list_add(&pool->list, &pfc_pools);
	}
	pool->ports++;
unlock:
	mutex_unlock(&pfc_mutex);
	return pool;
}

static void pfc_pool_put(struct labnic_pool *pool)
{
	if (!pool)
		return;
	mutex_lock(&pfc_mutex);
	if (!--pool->ports) {
		list_del(&pool->list);
		kfree(pool);
	}
	mutex_unlock(&pfc_mutex);
}

/* Most that a priority may hold outside of its headroom. */
static u64 pfc_threshold_bytes(const struct labnic_pfc *pfc)
{
	const struct labnic_pool *pool = pfc->pool;

	if (!pool)
		return pfc->config.xoff_bytes;
	return ((pool->size_bytes - pool->used_bytes) * pfc->config.alpha_q16) >> 16;
}

static bool pfc_fits(const struct labnic_pfc *pfc, const struct labnic_pfc_class *class, u32 bytes)
{
	const struct labnic_pool *pool = pfc->pool;

	return class->shared_bytes + bytes <= pfc_threshold_bytes(pfc) &&
	       (!pool || pool->used_bytes + bytes <= pool->size_bytes);
}

static bool pfc_may_resume(const struct labnic_pfc *pfc, const struct labnic_pfc_class *class)
{
	return !class->headroom_bytes &&
	       (!class->shared_bytes || class->shared_bytes + pfc->config.resume_bytes <=
					pfc_threshold_bytes(pfc));
}

/* Priority of a frame, as the port it leaves by sees it; negative: control, which never waits. */
static int pfc_priority(const struct sk_buff *skb)
{
	struct quell_frame frame;

	quell_frame_begin(&frame, skb_mac_header(skb), skb_headlen(skb) + ETH_HLEN,
			  skb->len + ETH_HLEN);
	quell_frame_parse(&frame);
	if (quell_frame_is_control(&frame))
		return -1;
	return frame.ip[0].version ? frame.ip[0].dsfield >> PFC_DSFIELD_SHIFT : 0;
}

/* Count a frame that came in; false when there is no room for it. */
bool labnic_pfc_admit(struct labnic_port *port, struct sk_buff *skb, u64 now_ns)
{
	struct labnic_pfc *pfc = port->pfc;
	u32 bytes = skb->len + ETH_HLEN;
	struct labnic_pfc_class *class;
	int priority;

	priority = pfc->counts ? pfc_priority(skb) : -1;
	if (priority < 0)
		return true;
	class = &pfc->class[priority];
	if (pfc_fits(pfc, class, bytes)) {
		class->shared_bytes += bytes;
		if (pfc->pool)
			pfc->pool->used_bytes += bytes;
	} else if (class->headroom_bytes + bytes <= pfc->config.headroom_bytes) {
		class->headroom_bytes += bytes;
	} else {
		class->stats.drop_pkts++;
		return false;
	}
	class->stats.headroom_max_bytes = max_t(u64, class->stats.headroom_max_bytes,
						class->headroom_bytes);
	class->stats.held_max_bytes = max_t(u64, class->stats.held_max_bytes,
					    class->shared_bytes + class->headroom_bytes);
	skb->mark = PFC_COUNTED | priority << PFC_PRIORITY_SHIFT | bytes;
	if (class->headroom_bytes && !class->pausing) {
		class->pausing = true;
		class->moved_ns = now_ns;
		class->stats.xoff_sent++;
		labnic_wire_pause(port, LABNIC_XOFF, priority);
		labnic_deadlock_watch();
	}
	return true;
}

static void pfc_release(struct labnic_port *port, int priority, u32 bytes, u64 now_ns)
{
	struct labnic_pfc *pfc = port->pfc;
	struct labnic_pfc_class *class = &pfc->class[priority];
	u32 headroom_bytes = min(bytes, class->headroom_bytes);

	class->headroom_bytes -= headroom_bytes;
	class->shared_bytes -= bytes - headroom_bytes;
	if (pfc->pool)
		pfc->pool->used_bytes -= bytes - headroom_bytes;
	class->moved_ns = now_ns;
	if (class->pausing && pfc_may_resume(pfc, class)) {
		class->pausing = false;
		class->stats.xon_sent++;
		labnic_wire_pause(port, LABNIC_XON, priority);
	}
}

/* A frame has left, or is lost on the way out. */
void labnic_pfc_transmitted(struct labnic_port *port, struct sk_buff *skb, u64 now_ns)
{
	struct net_device *dev;

	if (!(skb->mark & PFC_COUNTED))
		return;
	rcu_read_lock();
	dev = dev_get_by_index_rcu(dev_net(port->dev), skb->skb_iif);
	if (dev)
		pfc_release(netdev_priv(dev), (skb->mark & ~PFC_COUNTED) >> PFC_PRIORITY_SHIFT,
			    skb->mark & PFC_BYTES_MASK, now_ns);
	rcu_read_unlock();
	skb->mark = 0;
}

/* RCU read lock held. */
void labnic_pfc_receive(struct labnic_port *port, enum labnic_pause kind, u8 priority, u64 now_ns)
{
	struct labnic_pfc *pfc = port->pfc;
	struct labnic_pfc_class *class = &pfc->class[priority];

	if (kind == LABNIC_XOFF) {
		class->stats.xoff_received++;
		class->paused_since_ns = now_ns;
		pfc->paused |= BIT(priority);
	} else {
		class->stats.xon_received++;
		class->stats.paused_ns += now_ns - class->paused_since_ns;
		pfc->paused &= ~BIT(priority);
	}
	WARN_ON_ONCE(!pfc->pause_fn || !pfc->pause_fn(port->dev, pfc->paused));
	labnic_pause_notify(kind == LABNIC_XOFF ? LABNIC_PAUSED : LABNIC_RESUMED, pfc->config.name,
			    priority, now_ns);
}

void labnic_pfc_stats(const struct labnic_port *port, struct quellnic_pfc_stats *stats)
{
	const struct labnic_pfc *pfc = port->pfc;
	u64 now_ns = ktime_get_ns();
	int i;

	for (i = 0; i < QUELLNIC_PFC_PRIORITIES; i++) {
		const struct labnic_pfc_class *class = &pfc->class[i];

		stats[i] = class->stats;
		stats[i].held_bytes = class->shared_bytes + class->headroom_bytes;
		if (pfc->paused & BIT(i))
			stats[i].paused_ns += now_ns - class->paused_since_ns;
	}
}

/* 0 or -ENOMEM.  The port is not registered yet. */
int labnic_pfc_create(struct labnic_port *port, const struct quellnic_pfc *config)
{
	struct labnic_pfc *pfc = kzalloc(sizeof(*pfc), GFP_KERNEL);

	if (!pfc)
		return -ENOMEM;
	pfc->config = *config;
	pfc->config.name[sizeof(pfc->config.name) - 1] = '\0';
	pfc->port = port;
	pfc->counts = config->headroom_bytes;
	if (pfc->counts && config->alpha_q16) {
		pfc->pool = pfc_pool_get(dev_net(port->dev), config->buffer_bytes);
		if (!pfc->pool) {
			kfree(pfc);
			return -ENOMEM;
		}
	}
	pfc->pause_fn = (labnic_pause_fn)__symbol_get("quell_swport_pause");
#ifdef CONFIG_BQL
	netdev_get_tx_queue(port->dev, 0)->dql.max_limit = 0;
#endif
	port->pfc = pfc;
	labnic_deadlock_add(pfc);
	return 0;
}

/* Undo labnic_pfc_create().  Process context; the port is out of use. */
void labnic_pfc_free(struct labnic_port *port)
{
	struct labnic_pfc *pfc = port->pfc;

	if (!pfc)
		return;
	port->pfc = NULL;
	labnic_deadlock_remove(pfc);
	pfc_pool_put(pfc->pool);
	if (pfc->pause_fn)
		__symbol_put("quell_swport_pause");
	kfree(pfc);
}

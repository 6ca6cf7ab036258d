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
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <compat/hrtimer.h>
#include <quell/core/port/frame_control.h>

#include "labnic.h"

/*
 * Deadlocks of paused ports, and reports of pauses.
 *
 * A port is stuck if it pauses the other end of its cable, and no frame received on it has left
 * its switch for 10 ms and more, by however long 64 of the largest frames and a round trip take
 * on the slowest and the longest cable.  Its frames are queued at ports of its switch that are
 * paused themselves.  Where stuck ports wait for each other in a circle, they stay so forever.
 */

#define DEADLOCK_STUCK_NS	(10 * NSEC_PER_MSEC)
#define DEADLOCK_FRAMES		64
#define DEADLOCK_TEXT_BYTES	120

static LIST_HEAD(deadlock_ports);
static DEFINE_SPINLOCK(deadlock_lock);	/* the list, and the fields below */
static u64 deadlock_stuck_ns = DEADLOCK_STUCK_NS;
static bool deadlock_reported;
static struct hrtimer deadlock_timer;

static labnic_pause_notify_fn pause_notify_fn;

/**
 * quell_labnic_pauses() - register a function to be called for every pause
 * @fn: called from now on; NULL removes it
 *
 * Context: process context.
 */
void quell_labnic_pauses(labnic_pause_notify_fn fn)
{
	WRITE_ONCE(pause_notify_fn, fn);
}
EXPORT_SYMBOL_GPL(quell_labnic_pauses);

/* Softirq. */
static void labnic_pause_notify(enum labnic_pause_event event, const char *text, u8 priority,
				u64 time_ns)
{
	labnic_pause_notify_fn fn = READ_ONCE(pause_notify_fn);

	if (fn)
		fn(event, text, priority, time_ns);
}

/* Whether a stuck port's pause holds up the switch that another stuck port belongs to. */
static bool deadlock_is_next(const struct labnic_pfc *pfc, const struct labnic_pfc *next, int i)
{
	const struct net_device *before = rcu_dereference(next->port->peer);

	return next->class[i].stuck && before && before != pfc->port->dev &&
	       net_eq(dev_net(before), dev_net(pfc->port->dev));
}

/* A stuck port that this one may wait for, or NULL. */
static struct labnic_pfc *deadlock_next(const struct labnic_pfc *pfc, int i)
{
	struct labnic_pfc *next;

	list_for_each_entry(next, &deadlock_ports, list)
		if (deadlock_is_next(pfc, next, i))
			return next;
	return NULL;
}

/* Note which ports are stuck; whether any still pauses the other end. */
static bool deadlock_note_stuck(u64 now_ns, int i)
{
	struct labnic_pfc *pfc;
	bool pausing = false;

	list_for_each_entry(pfc, &deadlock_ports, list) {
		struct labnic_pfc_class *class = &pfc->class[i];

		class->stuck = class->pausing && now_ns - class->moved_ns >= deadlock_stuck_ns;
		pausing |= class->pausing;
	}
	return pausing;
}

/* A port of a circle, or NULL.  A port that waits for no stuck one will be resumed. */
static struct labnic_pfc *deadlock_find(int i)
{
	struct labnic_pfc *pfc, *left;
	int stuck, before = INT_MAX;

	for (;;) {
		stuck = 0;
		left = NULL;
		list_for_each_entry(pfc, &deadlock_ports, list) {
			if (!pfc->class[i].stuck)
				continue;
			pfc->class[i].stuck = deadlock_next(pfc, i);
			if (pfc->class[i].stuck) {
				left = pfc;
				stuck++;
			}
		}
		if (stuck == before)
			break;
		before = stuck;
	}
	/* Every one has a next, so after as many steps this is in a circle. */
	while (left && stuck--)
		left = deadlock_next(left, i);
	return left;
}

/*
 * The stuck ports of one part of a network, each with the port that it pauses.  The front end
 * searches those of all parts for a circle.
 */
static void deadlock_print_stuck(u64 now_ns, int i)
{
	const struct labnic_pfc *pfc;

	list_for_each_entry(pfc, &deadlock_ports, list) {
		const struct net_device *dev = rcu_dereference(pfc->port->peer);
		const struct labnic_port *paused = dev ? netdev_priv(dev) : NULL;

		if (pfc->class[i].stuck && paused)
			pr_alert("quell-stuck %llu %d %s %s\n", now_ns, i, pfc->config.name,
				 paused->pfc->config.name);
	}
}

/* The paused ports of a circle, each waiting for the one behind it. */
static void deadlock_report(const struct labnic_pfc *first, int i, u64 now_ns)
{
	const struct labnic_pfc *pfc = first;
	char text[DEADLOCK_TEXT_BYTES];
	size_t used = 0;

	do {
		const struct net_device *dev = rcu_dereference(pfc->port->peer);
		const struct labnic_port *paused = netdev_priv(dev);

		used += scnprintf(text + used, sizeof(text) - used, "%s%s", used ? ", " : "",
				  paused->pfc->config.name);
		pfc = deadlock_next(pfc, i);
	} while (pfc != first);
	labnic_pause_notify(LABNIC_DEADLOCK, text, i, now_ns);
}

static enum hrtimer_restart deadlock_check(struct hrtimer *timer)
{
	u64 now_ns = ktime_get_ns();
	struct labnic_pfc *found;
	bool pausing = false;
	int i;

	spin_lock(&deadlock_lock);
	rcu_read_lock();
	for (i = 0; i < QUELLNIC_PFC_PRIORITIES && !deadlock_reported; i++) {
		pausing |= deadlock_note_stuck(now_ns, i);
		if (labnic_part_is_divided())
			deadlock_print_stuck(now_ns, i);
		found = deadlock_find(i);
		if (found) {
			deadlock_report(found, i, now_ns);
			deadlock_reported = true;
		}
	}
	rcu_read_unlock();
	spin_unlock(&deadlock_lock);
	if (!pausing || deadlock_reported)
		return HRTIMER_NORESTART;
	hrtimer_forward_now(timer, ns_to_ktime(DEADLOCK_STUCK_NS));
	return HRTIMER_RESTART;
}

/* A port has sent a pause: check for deadlocks, in all parts of a network at the same times. */
static void labnic_deadlock_watch(void)
{
	u64 next_ns = ktime_get_ns() + DEADLOCK_STUCK_NS;

	if (labnic_part_is_divided())
		next_ns = roundup_u64(next_ns, DEADLOCK_STUCK_NS);
	if (!hrtimer_active(&deadlock_timer))
		hrtimer_start(&deadlock_timer, ns_to_ktime(next_ns), HRTIMER_MODE_ABS_SOFT);
}

static void labnic_deadlock_add(struct labnic_pfc *pfc)
{
	const struct labnic_port *port = pfc->port;
	u64 bits = 8ULL * DEADLOCK_FRAMES * LABNIC_MTU_MAX_BYTES;

	spin_lock_bh(&deadlock_lock);
	list_add_tail(&pfc->list, &deadlock_ports);
	deadlock_stuck_ns = max(deadlock_stuck_ns, DEADLOCK_STUCK_NS + 2 * port->delay_ns +
				div64_u64(bits * NSEC_PER_SEC, port->rate_bits_ps));
	spin_unlock_bh(&deadlock_lock);
}

static void labnic_deadlock_remove(struct labnic_pfc *pfc)
{
	bool last;

	spin_lock_bh(&deadlock_lock);
	list_del(&pfc->list);
	last = list_empty(&deadlock_ports);
	spin_unlock_bh(&deadlock_lock);
	if (!last)
		return;
	hrtimer_cancel(&deadlock_timer);
	deadlock_stuck_ns = DEADLOCK_STUCK_NS;
	deadlock_reported = false;
}

void labnic_deadlock_init(void)
{
	quell_hrtimer_setup(&deadlock_timer, deadlock_check, CLOCK_MONOTONIC,
			    HRTIMER_MODE_ABS_SOFT);
}

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

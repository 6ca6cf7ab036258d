// SPDX-License-Identifier: GPL-2.0
/*
 * Outlet of deflected packets: a FIFO per port, drained by one work item in softirq context, which
 * does not run on two processors at a time.  So packets are sent in the order of the port's
 * decisions and without its lock: two ports that deflect to each other cannot deadlock.
 *
 * The packet gets the link-layer header of the next hop and passes that device's qdisc.  The
 * neighbour's queue for unresolved addresses is not used, as packets in it could be overtaken: an
 * unresolved neighbour is resolved, the packet dropped, and no new flow deflected to it.
 */
#include <linux/random.h>
#include <net/arp.h>
#include <net/ndisc.h>
#include <net/neighbour.h>

#include "swport_deflect.h"

/* Packets per run; the rest is left to the next run, so that other softirqs proceed. */
#define SWPORT_OUTLET_BATCH	64

/* Other code is unlikely to store it in a packet; not 0. */
static u32 swport_outlet_mark __ro_after_init;

/*
 * A deflected packet, with a mark for the next port, in the qdisc's part of skb->cb.  Between two
 * ports only a bridge, netem and BPF programs at egress write there; then the packet may be
 * deflected again.  A per-CPU flag would not do: in 7.3 the holder of the qdisc's lock enqueues for
 * other processors, and on PREEMPT_RT another task may send on this one.
 */
struct swport_outlet_cb {
	u32	mark;
	u8	alternate;
};

void __init quell_swport_outlet_seed(void)
{
	swport_outlet_mark = get_random_u32() | 1;
}

static struct swport_outlet_cb *swport_outlet_cb(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct swport_outlet_cb));
	return (struct swport_outlet_cb *)qdisc_skb_cb(skb)->data;
}

static struct neigh_table *swport_outlet_table(const struct swport_alternate *alternate)
{
	if (alternate->via.addr_bytes == sizeof(struct in_addr))
		return &arp_tbl;
#if IS_ENABLED(CONFIG_IPV6)
	return &nd_tbl;
#else
	return NULL;
#endif
}

/* Tables read the address by words. */
static_assert(IS_ALIGNED(offsetof(struct swport_alternate, via.addr), sizeof(u32)));

/* With RCU and bottom halves off: kernels differ in which of the two they require. */
static struct neighbour *swport_outlet_neighbour(const struct swport_alternate *alternate,
						 struct net_device *dev)
{
	struct neigh_table *table = swport_outlet_table(alternate);

	return table ? __neigh_lookup_noref(table, alternate->via.addr, dev) : NULL;
}

static bool swport_outlet_is_known(const struct neighbour *neighbour)
{
	return neighbour && READ_ONCE(neighbour->nud_state) & NUD_VALID;
}

/* Takes the alternate's qdisc lock when it sends. */
static void swport_outlet_resolve(const struct swport_alternate *alternate,
				  struct net_device *dev)
{
	struct neigh_table *table = swport_outlet_table(alternate);
	struct neighbour *neighbour;

	if (!table || !netif_running(dev))
		return;
	neighbour = __neigh_lookup_errno(table, alternate->via.addr, dev);
	if (IS_ERR(neighbour))
		return;
	neigh_event_send(neighbour, NULL);
	neigh_release(neighbour);
}

static bool swport_outlet_address(struct sk_buff *skb, const struct swport_alternate *alternate,
				  struct net_device *dev)
{
	char address[MAX_ADDR_LEN] __aligned(8);
	struct neighbour *neighbour;
	bool known;

	rcu_read_lock();
	neighbour = swport_outlet_neighbour(alternate, dev);
	known = swport_outlet_is_known(neighbour);
	if (known) {
		neigh_ha_snapshot(address, neighbour, dev);
		neigh_event_send(neighbour, NULL);
	}
	rcu_read_unlock();
	if (!known) {
		swport_outlet_resolve(alternate, dev);
		return false;
	}

	skb_pull(skb, skb_network_offset(skb));
	if (skb_cow_head(skb, LL_RESERVED_SPACE(dev)))
		return false;
	skb->dev = dev;
	if (dev_hard_header(skb, dev, ntohs(skb->protocol), address, NULL, skb->len) < 0)
		return false;
	skb_reset_mac_header(skb);
	return true;
}

static void swport_outlet_send(struct swport_deflect *deflect, struct sk_buff *skb)
{
	struct swport_alternate *alternate = &deflect->alternate[swport_outlet_cb(skb)->alternate];
	struct net_device *dev = alternate->dev;

	if (!dev || !netif_running(dev) || !swport_outlet_address(skb, alternate, dev)) {
		atomic64_inc(&deflect->drop_pkts);
		kfree_skb(skb);
		return;
	}
	/* The packet was routed to the port's own device. */
	skb_dst_drop(skb);
	dev_queue_xmit(skb);
}

/*
 * Does a packet come from another port's outlet?  Ports of a switch do not decrement the time to
 * live, so it would be deflected back and forth: it is deflected only once.
 * Context: enqueue, before the port writes to the qdisc's part of skb->cb.
 */
bool quell_swport_outlet_sent(const struct sk_buff *skb)
{
	return swport_outlet_cb(skb)->mark == swport_outlet_mark;
}

static struct sk_buff *swport_outlet_pop(struct swport_deflect *deflect)
{
	struct sk_buff *skb;

	spin_lock(&deflect->fifo.lock);
	skb = __skb_dequeue(&deflect->fifo);
	if (skb)
		deflect->fifo_bytes -= qdisc_pkt_len(skb);
	spin_unlock(&deflect->fifo.lock);
	return skb;
}

static void swport_outlet_resolve_all(struct swport_deflect *deflect)
{
	u32 i;

	for (i = 0; i < SWPORT_DEFLECT_VIA_MAX; i++) {
		if (test_and_clear_bit(i, &deflect->resolve) && deflect->alternate[i].dev)
			swport_outlet_resolve(&deflect->alternate[i], deflect->alternate[i].dev);
	}
}

static void swport_outlet_run(struct quell_bh_work *work)
{
	struct swport_deflect *deflect = container_of(work, struct swport_deflect, outlet);
	struct sk_buff *skb;
	u32 sent;

	rcu_read_lock_bh();
	swport_outlet_resolve_all(deflect);
	for (sent = 0; sent < SWPORT_OUTLET_BATCH; sent++) {
		skb = swport_outlet_pop(deflect);
		if (!skb)
			break;
		swport_outlet_send(deflect, skb);
	}
	rcu_read_unlock_bh();
	if (sent == SWPORT_OUTLET_BATCH)
		quell_bh_work_queue(&deflect->outlet);
}

/**
 * quell_swport_outlet_push() - queue a packet for an alternate
 * @deflect: deflection of the port
 * @skb: packet, from its link-layer header on
 * @alternate: index of the alternate
 * @limit_bytes: capacity of the outlet
 * Context: bottom halves off, qdisc lock held.
 * Return: true if queued; if not, the drop is counted and the caller must free @skb.
 */
bool quell_swport_outlet_push(struct swport_deflect *deflect, struct sk_buff *skb,
			      u8 alternate, u32 limit_bytes)
{
	u32 len_bytes = qdisc_pkt_len(skb);
	bool room;

	*swport_outlet_cb(skb) = (struct swport_outlet_cb) {
		.mark = swport_outlet_mark,
		.alternate = alternate,
	};
	spin_lock(&deflect->fifo.lock);
	room = (u64)deflect->fifo_bytes + len_bytes <= limit_bytes;
	if (room) {
		deflect->fifo_bytes += len_bytes;
		__skb_queue_tail(&deflect->fifo, skb);
	}
	spin_unlock(&deflect->fifo.lock);
	if (room)
		quell_bh_work_queue(&deflect->outlet);
	else
		atomic64_inc(&deflect->drop_pkts);
	return room;
}

/**
 * quell_swport_outlet_working() - find the usable alternates
 * @deflect: deflection of the port
 * @mtu_bytes: the port's MTU; alternates with a lower one are unusable
 * Context: bottom halves off, qdisc lock held.  Starts resolution of missing neighbours.
 * Return: bitmap of alternates.
 */
u32 quell_swport_outlet_working(struct swport_deflect *deflect, unsigned int mtu_bytes)
{
	u32 i, working = 0;

	rcu_read_lock();
	for (i = 0; i < deflect->alternate_nr; i++) {
		struct swport_alternate *alternate = &deflect->alternate[i];
		struct net_device *dev = alternate->dev;

		if (!dev || !netif_running(dev) || !netif_carrier_ok(dev) ||
		    READ_ONCE(dev->mtu) < mtu_bytes)
			continue;
		if (swport_outlet_is_known(swport_outlet_neighbour(alternate, dev)))
			working |= 1U << i;
		else if (!test_and_set_bit(i, &deflect->resolve))
			quell_bh_work_queue(&deflect->outlet);
	}
	rcu_read_unlock();
	return working;
}

/**
 * quell_swport_outlet_counts() - does a root qdisc's backlog state the queue of its device?
 * @root: root qdisc
 *
 * Those of mq and mqprio are sums, made by a dump; per-CPU statistics, as pfifo_fast's, are not
 * in it; noqueue has no backlog.
 * Context: any.
 * Return: true if it does.
 */
bool quell_swport_outlet_counts(const struct Qdisc *root)
{
	return root->enqueue && !(root->flags & (TCQ_F_MQROOT | TCQ_F_CPUSTATS));
}

/**
 * quell_swport_outlet_queued() - read the queues of the alternates' devices
 * @deflect: deflection of the port
 * @bytes: set for each alternate: backlog of its device's root qdisc, read without its lock;
 *	U32_MAX without a device, or if quell_swport_outlet_counts() is false for its qdisc
 * Context: bottom halves off, qdisc lock held.
 */
void quell_swport_outlet_queued(const struct swport_deflect *deflect,
				u32 bytes[QUELL_IOFD_ALTERNATES_MAX])
{
	u32 i;

	rcu_read_lock();
	for (i = 0; i < deflect->alternate_nr; i++) {
		const struct net_device *dev = deflect->alternate[i].dev;
		const struct Qdisc *root = dev ? rcu_dereference(dev->qdisc) : NULL;

		bytes[i] = root && quell_swport_outlet_counts(root) ?
			   READ_ONCE(root->qstats.backlog) : U32_MAX;
	}
	rcu_read_unlock();
}

/* Drop all packets in the outlet, and count them.  Context: any. */
void quell_swport_outlet_purge(struct swport_deflect *deflect)
{
	struct sk_buff *skb;

	local_bh_disable();
	while ((skb = swport_outlet_pop(deflect))) {
		atomic64_inc(&deflect->drop_pkts);
		kfree_skb(skb);
	}
	local_bh_enable();
}

void quell_swport_outlet_init(struct swport_deflect *deflect)
{
	skb_queue_head_init(&deflect->fifo);
	quell_bh_work_init(&deflect->outlet, swport_outlet_run);
}

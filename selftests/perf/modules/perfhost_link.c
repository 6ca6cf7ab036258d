// SPDX-License-Identifier: GPL-2.0
/*
 * quell_perfhost: two cables between four NICs, for the cost of a host in
 * instructions.
 *
 *	ph0 (sender) ===== ph1 (router) ph2 ===== ph3 (receiver)
 *
 * A NIC of a host cuts bursts (TSO), computes checksums and delays its interrupts,
 * for received packets and for sent ones alike: the first is raised moderation_us
 * after the first packet, and packets received by then are polled, through GRO.  The
 * router's NICs raise an interrupt for each packet.  Work of hardware is counted as
 * the wire's: xmit from its call on, with the copy to the peer's buffer.  Polling,
 * making the skb around that buffer and freeing sent buffers are the host's.
 *
 * The NICs report the rate of their lines as hardware does, by ethtool.
 *
 * A packet occupies the line for its length and 24 bytes, at least 84 bytes in all,
 * and arrives delay_us after its last bit left.  The one timer of a device is its
 * interrupt.  All runs on one processor.
 */
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <compat/hrtimer.h>
#include <compat/net_gso.h>

#include "perfhost.h"

#define LINE_OVERHEAD_BYTES	24	/* FCS, preamble, gap */
#define LINE_MIN_BYTES		84
#define RING_PKTS		1024
#define RX_ROOM_BYTES		(NET_SKB_PAD + NET_IP_ALIGN)

static unsigned int rate_mbit = 500;
module_param(rate_mbit, uint, 0444);
MODULE_PARM_DESC(rate_mbit, "rate of the lines, Mbit/s");
static unsigned int delay_us = 40;
module_param(delay_us, uint, 0444);
MODULE_PARM_DESC(delay_us, "propagation delay of a cable, us");
static unsigned int moderation_us = 800;
module_param(moderation_us, uint, 0444);
MODULE_PARM_DESC(moderation_us, "delay of the hosts' interrupts, us");

/* A packet on its way. */
struct perfhost_frame {
	struct list_head	list;	/* in the receiving device's @arriving */
	u64			due_ns;	/* when its last bit arrives */
	/* receive buffer with the packet behind RX_ROOM_BYTES */
	void			*buffer;
	u32			buffer_bytes;	/* size of @buffer */
	u32			bytes;	/* length of the packet */
	u32			hash;	/* of its flow */
};

/**
 * struct perfhost_nic - private part of a device
 * @dev: the device
 * @peer: device at the other end of the cable
 * @account: owner of the device
 * @moderation_ns: delay of its interrupts
 * @napi: polls it
 * @timer: its interrupt
 * @lock: protects the fields below
 * @armed: the interrupt is to come, or the poll is under way
 * @arriving: packets on their way to this device, in order of arrival
 * @leaving: skbs handed over, last bit not reported as sent
 * @ring_pkts: packets of @leaving
 * @idle_ns: when the outgoing line falls idle
 * @stats: counters
 */
struct perfhost_nic {
	struct net_device	*dev;
	struct perfhost_nic	*peer;
	enum perfhost_account	account;
	u64			moderation_ns;
	struct napi_struct	napi;
	struct hrtimer		timer;
	spinlock_t		lock;	/* the fields below */
	bool			armed;
	struct list_head	arriving;
	struct sk_buff_head	leaving;
	u32			ring_pkts;
	u64			idle_ns;
	struct perfhost_stats	stats;
};

/* Data of an skb in @leaving. */
struct perfhost_cb {
	u64	left_ns;	/* when its last bit leaves */
	u32	pkts;	/* number of packets it was cut into */
};

static struct net_device *perfhost_devices[PERFHOST_DEVICES];
static struct kmem_cache *perfhost_frames;

static struct perfhost_cb *perfhost_cb(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct perfhost_cb) > sizeof(skb->cb));
	return (struct perfhost_cb *)skb->cb;
}

struct net_device *perfhost_device(int i)
{
	return perfhost_devices[i];
}

static struct perfhost_nic *perfhost_nic(int i)
{
	return netdev_priv(perfhost_devices[i]);
}

const struct perfhost_stats *perfhost_device_stats(int i)
{
	return &perfhost_nic(i)->stats;
}

/* Raise the interrupt for the first packet that arrives or has left, if there is one. */
static void perfhost_arm(struct perfhost_nic *nic)
{
	struct perfhost_frame *frame;
	u64 at_ns = U64_MAX;

	lockdep_assert_held(&nic->lock);
	if (nic->armed)
		return;
	frame = list_first_entry_or_null(&nic->arriving, struct perfhost_frame, list);
	if (frame)
		at_ns = frame->due_ns;
	if (!skb_queue_empty(&nic->leaving))
		at_ns = min(at_ns, perfhost_cb(skb_peek(&nic->leaving))->left_ns);
	if (at_ns == U64_MAX)
		return;
	nic->armed = true;
	hrtimer_start(&nic->timer, ns_to_ktime(at_ns + nic->moderation_ns), HRTIMER_MODE_ABS);
}

static enum hrtimer_restart perfhost_interrupt(struct hrtimer *timer)
{
	struct perfhost_nic *nic = container_of(timer, struct perfhost_nic, timer);

	nic->stats.interrupts++;
	napi_schedule_irqoff(&nic->napi);
	return HRTIMER_NORESTART;
}

enum perfhost_account perfhost_timer_account(const struct hrtimer *timer)
{
	struct perfhost_nic *nic;
	int i;

	for (i = 0; i < PERFHOST_DEVICES; i++) {
		nic = perfhost_nic(i);
		if (timer == &nic->timer)
			return nic->account;
	}
	return PERFHOST_OTHER;
}

/* The line carries the packet; return when its last bit has left. */
static u64 perfhost_serialise(struct perfhost_nic *nic, u32 bytes)
{
	u64 line_bytes = max_t(u64, bytes + LINE_OVERHEAD_BYTES, LINE_MIN_BYTES);
	u64 ns = div_u64(line_bytes * 8 * 1000, rate_mbit);

	nic->idle_ns = max(nic->idle_ns, ktime_get_ns()) + ns;
	nic->stats.busy_ns += ns;
	return nic->idle_ns;
}

/* Copy a packet to a receive buffer of the peer. */
static struct perfhost_frame *perfhost_copy(const struct sk_buff *skb, u32 hash)
{
	u32 bytes = SKB_DATA_ALIGN(RX_ROOM_BYTES + skb->len) +
		    SKB_DATA_ALIGN(sizeof(struct skb_shared_info));
	struct perfhost_frame *frame = kmem_cache_alloc(perfhost_frames, GFP_ATOMIC);

	if (!frame)
		return NULL;
	frame->buffer = netdev_alloc_frag(bytes);
	if (!frame->buffer) {
		kmem_cache_free(perfhost_frames, frame);
		return NULL;
	}
	frame->buffer_bytes = bytes;
	frame->bytes = skb->len;
	frame->hash = hash;
	skb_copy_bits(skb, 0, frame->buffer + RX_ROOM_BYTES, skb->len);
	return frame;
}

/* Put one packet on the line.  Without memory, or to a device that is down, it is lost. */
static u64 perfhost_send(struct perfhost_nic *nic, const struct sk_buff *skb, u32 hash)
{
	struct perfhost_frame *frame = NULL;
	u64 left_ns;

	if (netif_running(nic->peer->dev))
		frame = perfhost_copy(skb, hash);
	lockdep_assert_held(&nic->lock);
	left_ns = perfhost_serialise(nic, skb->len);
	nic->stats.tx_pkts++;
	nic->stats.tx_bytes += skb->len;
	if (!frame)
		return left_ns;
	frame->due_ns = left_ns + delay_us * NSEC_PER_USEC;
	spin_lock(&nic->peer->lock);
	list_add_tail(&frame->list, &nic->peer->arriving);
	perfhost_arm(nic->peer);
	spin_unlock(&nic->peer->lock);
	return left_ns;
}

/* Cut the skb into packets and send them; the skb waits until they have left. */
static void perfhost_transmit(struct perfhost_nic *nic, struct sk_buff *skb)
{
	struct sk_buff *segment, *next, *segments = NULL;
	u32 hash = skb_get_hash(skb), pkts = 0;
	u64 left_ns = 0;

	if (skb_is_gso(skb))
		segments = skb_gso_segment(skb, NETIF_F_SG | NETIF_F_HW_CSUM);
	if (IS_ERR(segments)) {
		dev_kfree_skb_any(skb);
		return;
	}
	spin_lock(&nic->lock);
	skb_list_walk_safe(segments, segment, next) {
		left_ns = perfhost_send(nic, segment, hash);
		kfree_skb(segment);
		pkts++;
	}
	if (!segments) {
		left_ns = perfhost_send(nic, skb, hash);
		pkts = 1;
	}
	nic->stats.tx_skbs++;
	nic->ring_pkts += pkts;
	perfhost_cb(skb)->left_ns = left_ns;
	perfhost_cb(skb)->pkts = pkts;
	__skb_queue_tail(&nic->leaving, skb);
	if (nic->ring_pkts >= RING_PKTS)
		netif_stop_queue(nic->dev);
	perfhost_arm(nic);
	spin_unlock(&nic->lock);
}

static netdev_tx_t perfhost_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct perfhost_nic *nic = netdev_priv(dev);
	enum perfhost_account before;

	perfhost_own(nic->account);
	before = perfhost_enter(PERFHOST_WIRE);
	perfhost_transmit(nic, skb);
	perfhost_enter(before);
	return NETDEV_TX_OK;
}

/* Free sent buffers, as a driver does. */
static void perfhost_reap(struct perfhost_nic *nic, u64 now_ns, int budget)
{
	struct sk_buff *skb;

	while ((skb = skb_peek(&nic->leaving)) && perfhost_cb(skb)->left_ns <= now_ns) {
		__skb_unlink(skb, &nic->leaving);
		nic->ring_pkts -= perfhost_cb(skb)->pkts;
		spin_unlock(&nic->lock);
		napi_consume_skb(skb, budget);
		spin_lock(&nic->lock);
	}
	if (netif_queue_stopped(nic->dev) && nic->ring_pkts < RING_PKTS / 2)
		netif_wake_queue(nic->dev);
}

static struct perfhost_frame *perfhost_next(struct perfhost_nic *nic, u64 now_ns)
{
	struct perfhost_frame *frame;

	frame = list_first_entry_or_null(&nic->arriving, struct perfhost_frame, list);
	if (!frame || frame->due_ns > now_ns)
		return NULL;
	list_del(&frame->list);
	return frame;
}

/* Hand one packet to the stack. */
static void perfhost_receive(struct perfhost_nic *nic, struct perfhost_frame *frame)
{
	struct sk_buff *skb = napi_build_skb(frame->buffer, frame->buffer_bytes);

	if (skb) {
		skb_reserve(skb, RX_ROOM_BYTES);
		skb_put(skb, frame->bytes);
		skb->ip_summed = CHECKSUM_UNNECESSARY;
		skb_set_hash(skb, frame->hash, PKT_HASH_TYPE_L4);
		skb->protocol = eth_type_trans(skb, nic->dev);
		nic->stats.rx_pkts++;
		napi_gro_receive(&nic->napi, skb);
	} else {
		skb_free_frag(frame->buffer);
	}
	kmem_cache_free(perfhost_frames, frame);
}

static int perfhost_poll(struct napi_struct *napi, int budget)
{
	struct perfhost_nic *nic = container_of(napi, struct perfhost_nic, napi);
	enum perfhost_account before = perfhost_enter(nic->account);
	u64 now_ns = ktime_get_ns();
	struct perfhost_frame *frame;
	int done = 0;

	perfhost_own(nic->account);
	spin_lock(&nic->lock);
	perfhost_reap(nic, now_ns, budget);
	while (done < budget && (frame = perfhost_next(nic, now_ns))) {
		spin_unlock(&nic->lock);
		perfhost_receive(nic, frame);
		spin_lock(&nic->lock);
		done++;
	}
	spin_unlock(&nic->lock);
	if (done < budget && napi_complete_done(napi, done)) {
		spin_lock(&nic->lock);
		nic->armed = false;
		perfhost_arm(nic);
		spin_unlock(&nic->lock);
	}
	perfhost_enter(before);
	return done;
}

static int perfhost_open(struct net_device *dev)
{
	struct perfhost_nic *nic = netdev_priv(dev);

	napi_enable(&nic->napi);
	netif_start_queue(dev);
	return 0;
}

static int perfhost_stop(struct net_device *dev)
{
	struct perfhost_nic *nic = netdev_priv(dev);
	struct perfhost_frame *frame;

	netif_stop_queue(dev);
	hrtimer_cancel(&nic->timer);
	napi_disable(&nic->napi);
	spin_lock_bh(&nic->lock);
	nic->armed = false;
	nic->ring_pkts = 0;
	__skb_queue_purge(&nic->leaving);
	while ((frame = perfhost_next(nic, U64_MAX))) {
		skb_free_frag(frame->buffer);
		kmem_cache_free(perfhost_frames, frame);
	}
	spin_unlock_bh(&nic->lock);
	return 0;
}

static const struct net_device_ops perfhost_netdev_ops = {
	.ndo_open = perfhost_open,
	.ndo_stop = perfhost_stop,
	.ndo_start_xmit = perfhost_xmit,
};

static int perfhost_link_ksettings(struct net_device *dev,
				   struct ethtool_link_ksettings *settings)
{
	settings->base.speed = rate_mbit;
	settings->base.duplex = DUPLEX_FULL;
	return 0;
}

static const struct ethtool_ops perfhost_ethtool_ops = {
	.get_link = ethtool_op_get_link,
	.get_link_ksettings = perfhost_link_ksettings,
};

static void perfhost_setup(struct net_device *dev)
{
	ether_setup(dev);
	dev->netdev_ops = &perfhost_netdev_ops;
	dev->ethtool_ops = &perfhost_ethtool_ops;
	dev->features |= NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_TSO | NETIF_F_TSO6 |
			 NETIF_F_TSO_ECN | NETIF_F_HIGHDMA;
	dev->hw_features |= dev->features;
	eth_hw_addr_random(dev);
}

static int perfhost_add(int i)
{
	static const enum perfhost_account accounts[PERFHOST_DEVICES] = {
		PERFHOST_SENDER, PERFHOST_NETWORK, PERFHOST_NETWORK, PERFHOST_RECEIVER,
	};
	struct perfhost_nic *nic;
	struct net_device *dev;
	char name[IFNAMSIZ];

	snprintf(name, sizeof(name), "ph%d", i);
	dev = alloc_netdev(sizeof(*nic), name, NET_NAME_USER, perfhost_setup);
	if (!dev)
		return -ENOMEM;
	nic = netdev_priv(dev);
	nic->dev = dev;
	nic->account = accounts[i];
	if (nic->account != PERFHOST_NETWORK)
		nic->moderation_ns = moderation_us * NSEC_PER_USEC;
	spin_lock_init(&nic->lock);
	lockdep_set_subclass(&nic->lock, i & 1);
	INIT_LIST_HEAD(&nic->arriving);
	__skb_queue_head_init(&nic->leaving);
	quell_hrtimer_setup(&nic->timer, perfhost_interrupt, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	netif_napi_add(dev, &nic->napi, perfhost_poll);
	perfhost_devices[i] = dev;
	return register_netdev(dev);
}

static void perfhost_remove(void)
{
	int i;

	for (i = 0; i < PERFHOST_DEVICES; i++) {
		if (!perfhost_devices[i])
			continue;
		if (perfhost_devices[i]->reg_state == NETREG_REGISTERED)
			unregister_netdev(perfhost_devices[i]);
		free_netdev(perfhost_devices[i]);
	}
	kmem_cache_destroy(perfhost_frames);
}

static int __init perfhost_init(void)
{
	int i, err = 0;

	if (!rate_mbit)
		return -EINVAL;
	perfhost_frames = KMEM_CACHE(perfhost_frame, 0);
	if (!perfhost_frames)
		return -ENOMEM;
	for (i = 0; !err && i < PERFHOST_DEVICES; i++)
		err = perfhost_add(i);
	if (err)
		goto remove;
	for (i = 0; i < PERFHOST_DEVICES; i++)
		perfhost_nic(i)->peer = perfhost_nic(i ^ 1);
	err = perfhost_account_init();
	if (err)
		goto remove;
	return 0;
remove:
	perfhost_remove();
	return err;
}

static void __exit perfhost_exit(void)
{
	perfhost_account_exit();
	perfhost_remove();
}

module_init(perfhost_init);
module_exit(perfhost_exit);
MODULE_AUTHOR("The Quell authors");
MODULE_DESCRIPTION("NICs and an account of instructions for each of their hosts");
MODULE_LICENSE("GPL");

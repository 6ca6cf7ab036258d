// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labnic: the wire.
 *
 * Each direction of a cable is one transmit ring, one line and one hrtimer:
 *
 *	ndo_start_xmit -> sending (ring, BQL) --last bit out--> flying
 *	               --last bit in--> netif_receive_skb() of the peer
 *
 * A frame occupies the line for (max(length, 60) + 24) * 8 bits.  The moment
 * the line falls idle is kept as a whole number of ns and a remainder in
 * units of 1 ns / rate, so a train of packets runs at exactly the line rate
 * although timers have ns resolution; events happen at the next whole ns.
 * A packet handed over at the very event that ended its predecessor starts
 * where the predecessor really ended, less than 1 ns earlier.
 *
 * The stack at the far end sees store and forward: a packet arrives only after
 * its last bit has left and travelled.  Transmit time stamps are taken when the
 * last bit leaves, receive stamps when it arrives, so their difference between
 * two true clocks is the propagation delay whatever the length.
 *
 * Delivery happens in the timer's softirq, by netif_receive_skb(): no GRO, no
 * backlog queue, hence one skb per frame, in order, and without delay, unless
 * the port's host is configured to have one (labnic_noise.c).
 *
 * With priority flow control (labnic_pfc.c) frames that pause the other end go before what waits
 * in the port, and the ring has no more than the packet that is being sent.
 *
 * A cable may be configured to drop, trim or falsify certain data packets, by number
 * (labnic_trim.c); it does not lose other packets.
 */
#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/rcupdate.h>
#include <linux/tcp.h>

#include "labnic.h"

/**
 * struct labnic_cb - data of a packet in skb->cb between the two ends
 * @leave_ns: when its last bit leaves this end
 * @pause: what a pause frame says, no packet of the stack's
 * @priority: of which priority it says that
 */
struct labnic_cb {
	u64			leave_ns;
	enum labnic_pause	pause;
	u8			priority;
};

static struct labnic_cb *labnic_cb(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct labnic_cb) > sizeof(skb->cb));
	return (struct labnic_cb *)skb->cb;
}

/*
 * Book the line for one frame and return when its last bit leaves.
 * The product is below 2^17 bits * 2^30 plus a remainder below 2^42.
 */
static u64 labnic_serialise(struct labnic_port *port, u32 frame_bytes,
			    u64 now_ns)
{
	u64 bits = 8ULL * (max_t(u32, frame_bytes, LABNIC_FRAME_MIN_BYTES) +
			   LABNIC_WIRE_OVERHEAD_BYTES);
	u64 whole_ns;

	if (port->busy_ns + !!port->busy_frac < now_ns) {
		port->busy_ns = now_ns;
		port->busy_frac = 0;
	}
	whole_ns = div64_u64_rem(bits * NSEC_PER_SEC + port->busy_frac,
				 port->rate_bits_ps, &port->busy_frac);
	port->busy_ns += whole_ns;
	return port->busy_ns + !!port->busy_frac;
}

/* Time of the next departure or arrival; U64_MAX when the line is empty. */
static u64 labnic_next_event_ns(struct labnic_port *port)
{
	struct sk_buff *sending = skb_peek(&port->sending);
	struct sk_buff *flying = skb_peek(&port->flying);
	u64 next_ns = U64_MAX;

	lockdep_assert_held(&port->lock);
	if (sending)
		next_ns = labnic_cb(sending)->leave_ns;
	if (flying)
		next_ns = min(next_ns,
			      labnic_cb(flying)->leave_ns + port->delay_ns);
	return next_ns;
}

/* The frame is next in the ring. */
static void labnic_send(struct labnic_port *port, struct sk_buff *skb, u64 now_ns)
{
	bool none_sending = skb_queue_empty(&port->sending);

	lockdep_assert_held(&port->lock);
	labnic_cb(skb)->leave_ns = labnic_serialise(port, skb->len, now_ns);
	__skb_queue_tail(&port->sending, skb);
	/* If the ring was not empty, the timer is armed for an event not later than this one. */
	if (none_sending)
		hrtimer_start(&port->timer,
			      ns_to_ktime(labnic_next_event_ns(port)),
			      HRTIMER_MODE_ABS_SOFT);
}

netdev_tx_t labnic_wire_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct netdev_queue *txq = netdev_get_tx_queue(dev, 0);
	struct labnic_port *port = netdev_priv(dev);
	u64 now_ns = ktime_get_ns();

	if (unlikely(skb_shinfo(skb)->tx_flags & SKBTX_HW_TSTAMP) &&
	    port->hwtstamp.tx_type == HWTSTAMP_TX_ON)
		skb_shinfo(skb)->tx_flags |= SKBTX_IN_PROGRESS;
	if (unlikely(port->credit))
		labnic_credit_leaves(port, skb);

	spin_lock(&port->lock);
	if (unlikely(skb_queue_len(&port->sending) >= port->ring_pkts)) {
		port->stats.ring_drop_pkts++;
		netif_tx_stop_queue(txq);
		spin_unlock(&port->lock);
		if (port->pfc)
			labnic_pfc_left(port, skb, now_ns);
		dev_kfree_skb_any(skb);
		return NETDEV_TX_OK;
	}
	labnic_cb(skb)->pause = LABNIC_NO_PAUSE;
	labnic_send(port, skb, now_ns);
	netdev_tx_sent_queue(txq, skb->len);
	if (skb_queue_len(&port->sending) == port->ring_pkts)
		netif_tx_stop_queue(txq);
	spin_unlock(&port->lock);
	return NETDEV_TX_OK;
}

/**
 * labnic_wire_pause() - send a pause frame
 * @port: port that sends it
 * @kind: what it says
 * @priority: of which priority
 *
 * Context: softirq.
 */
void labnic_wire_pause(struct labnic_port *port, enum labnic_pause kind, u8 priority)
{
	struct sk_buff *skb = alloc_skb(LABNIC_FRAME_MIN_BYTES, GFP_ATOMIC);

	if (WARN_ON_ONCE(!skb))
		return;
	skb_put_zero(skb, LABNIC_FRAME_MIN_BYTES);
	labnic_cb(skb)->pause = kind;
	labnic_cb(skb)->priority = priority;
	spin_lock(&port->lock);
	labnic_send(port, skb, ktime_get_ns());
	spin_unlock(&port->lock);
}

/* Report the departure time on the error queue of the sending socket. */
static void labnic_tx_tstamp(struct labnic_port *port, struct sk_buff *skb)
{
	struct skb_shared_hwtstamps stamp = { };

	if (likely(!(skb_shinfo(skb)->tx_flags & SKBTX_IN_PROGRESS)))
		return;
	stamp.hwtstamp = ns_to_ktime(labnic_phc_ns(&port->phc,
						   labnic_cb(skb)->leave_ns));
	skb_tstamp_tx(skb, &stamp);
	/* The next hop shares these flags, and it has not made a stamp. */
	skb_shinfo(skb)->tx_flags &= ~SKBTX_IN_PROGRESS;
}

/*
 * Set or clear the receive stamp.  TCP's retransmit queue and the error queue
 * may share the memory it lives in, so it is written only to a private copy.
 */
static int labnic_rx_tstamp(struct labnic_port *port, struct sk_buff *skb,
			    u64 arrive_ns)
{
	bool wanted = port->hwtstamp.rx_filter != HWTSTAMP_FILTER_NONE;

	if (likely(!wanted && !skb_hwtstamps(skb)->hwtstamp))
		return 0;
	if (skb_unclone(skb, GFP_ATOMIC))
		return -ENOMEM;
	skb_hwtstamps(skb)->hwtstamp = wanted ?
		ns_to_ktime(labnic_phc_ns(&port->phc, arrive_ns)) : 0;
	return 0;
}

/* The last bit left: free the ring entry and the sender's buffer space. */
static void labnic_departed(struct labnic_port *port, struct sk_buff *skb)
{
	struct netdev_queue *txq = netdev_get_tx_queue(port->dev, 0);

	if (unlikely(labnic_cb(skb)->pause))
		return;
	port->stats.tx_pkts++;
	port->stats.tx_bytes += skb->len;
	labnic_tx_tstamp(port, skb);
	labnic_tell(LABNIC_TAP_LEFT, port->dev, skb, ip_hdr(skb), labnic_cb(skb)->leave_ns);
	if (port->pfc)
		labnic_pfc_left(port, skb, labnic_cb(skb)->leave_ns);
	skb_orphan(skb);
	netdev_tx_completed_queue(txq, 1, skb->len);
	if (netif_tx_queue_stopped(txq))
		netif_tx_wake_queue(txq);
}

/* The last bit arrived: hand the packet to the stack at the other end. */
static void labnic_arrived(struct labnic_port *port, struct sk_buff *skb)
{
	u64 arrive_ns = labnic_cb(skb)->leave_ns + port->delay_ns;
	struct labnic_port *peer_port;
	struct net_device *peer;
	u32 frame_bytes;

	rcu_read_lock();
	peer = rcu_dereference(port->peer);
	if (unlikely(!peer)) {
		kfree_skb(skb);
		goto unlock;
	}
	peer_port = netdev_priv(peer);
	if (unlikely(labnic_cb(skb)->pause)) {
		labnic_pfc_told(peer_port, labnic_cb(skb)->pause, labnic_cb(skb)->priority,
				arrive_ns);
		consume_skb(skb);
		goto unlock;
	}
	frame_bytes = skb->len;
	if (unlikely(!labnic_trim(port, skb) ||
		     labnic_rx_tstamp(peer_port, skb, arrive_ns))) {
		peer_port->stats.rx_drop_pkts++;
		kfree_skb(skb);
		goto unlock;
	}
	labnic_tell(LABNIC_TAP_ARRIVED, peer, skb, ip_hdr(skb), arrive_ns);
	/* Removes state of the sending host; consumes the skb on error. */
	if (unlikely(__dev_forward_skb(peer, skb) != NET_RX_SUCCESS)) {
		peer_port->stats.rx_drop_pkts++;
		goto unlock;
	}
	if (peer_port->pfc && !labnic_pfc_admit(peer_port, skb, arrive_ns)) {
		peer_port->stats.rx_drop_pkts++;
		kfree_skb(skb);
		goto unlock;
	}
	peer_port->stats.rx_pkts++;
	peer_port->stats.rx_bytes += frame_bytes;
	if (unlikely(peer_port->credit))
		labnic_credit_arrives(peer_port, skb, arrive_ns);
	if (unlikely(peer_port->noise.noise_ns))
		labnic_noise_receive(&peer_port->noise, skb, arrive_ns);
	else
		labnic_hand_over(skb, arrive_ns);
	if (unlikely(peer_port->credit))
		labnic_credit_tell(peer_port);
unlock:
	rcu_read_unlock();
}

/*
 * Dequeue the earliest event that is due; a departure goes before an arrival of
 * the same ns.  NULL when no event is due.
 */
static struct sk_buff *labnic_next_due(struct labnic_port *port, u64 now_ns,
				       bool *departed)
{
	struct sk_buff *sending = skb_peek(&port->sending);
	struct sk_buff *flying = skb_peek(&port->flying);
	u64 leave_ns, arrive_ns;

	lockdep_assert_held(&port->lock);
	leave_ns = sending ? labnic_cb(sending)->leave_ns : U64_MAX;
	arrive_ns = flying ? labnic_cb(flying)->leave_ns + port->delay_ns :
		    U64_MAX;
	if (min(leave_ns, arrive_ns) > now_ns)
		return NULL;
	*departed = leave_ns <= arrive_ns;
	if (*departed)
		return __skb_dequeue(&port->sending);
	return __skb_dequeue(&port->flying);
}

static enum hrtimer_restart labnic_timer(struct hrtimer *timer)
{
	struct labnic_port *port = container_of(timer, struct labnic_port, timer);
	u64 now_ns = ktime_get_ns(), next_ns;
	struct sk_buff *skb;
	bool departed;

	spin_lock(&port->lock);
	while ((skb = labnic_next_due(port, now_ns, &departed))) {
		spin_unlock(&port->lock);
		if (departed)
			labnic_departed(port, skb);
		else
			labnic_arrived(port, skb);
		spin_lock(&port->lock);
		if (departed)
			__skb_queue_tail(&port->flying, skb);
	}
	next_ns = labnic_next_event_ns(port);
	if (next_ns != U64_MAX)
		hrtimer_start(timer, ns_to_ktime(next_ns),
			      HRTIMER_MODE_ABS_SOFT);
	spin_unlock(&port->lock);
	return HRTIMER_NORESTART;
}

/**
 * labnic_wire_init() - prepare the outgoing direction of a port
 * @port: port whose rate, delay and ring size are set
 *
 * Context: process context, before the device is registered.
 */
void labnic_wire_init(struct labnic_port *port)
{
	spin_lock_init(&port->lock);
	__skb_queue_head_init(&port->sending);
	__skb_queue_head_init(&port->flying);
	hrtimer_init(&port->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	port->timer.function = labnic_timer;
}

/**
 * labnic_wire_stop() - discard all packets of the outgoing direction
 * @port: port whose transmit queue is stopped and no longer used
 *
 * Context: process context, RTNL held.
 */
void labnic_wire_stop(struct labnic_port *port)
{
	hrtimer_cancel(&port->timer);
	__skb_queue_purge(&port->sending);
	__skb_queue_purge(&port->flying);
	port->busy_ns = 0;
	port->busy_frac = 0;
	netdev_tx_reset_queue(netdev_get_tx_queue(port->dev, 0));
}

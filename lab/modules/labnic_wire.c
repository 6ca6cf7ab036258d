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
 * two true clocks is the propagation delay for any length.
 *
 * Delivery happens in the timer's softirq, by netif_receive_skb(): no GRO, no
 * backlog queue, hence one skb per frame, in order, and without delay, unless
 * the port's host is configured to have one (labnic_noise.c).  At a switch a packet
 * of a flow with a known way goes straight to the port out (labnic_forward.c).
 *
 * With priority flow control (labnic_pfc.c) frames that pause the other end precede frames queued
 * in the port, and the ring has no more than the packet that is being sent.
 *
 * A cable may be configured to drop, trim or falsify certain data packets, by number
 * (labnic_trim.c); it does not lose other packets.
 */
#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/prefetch.h>
#include <linux/rcupdate.h>
#include <linux/tcp.h>

#include <compat/hrtimer.h>

#include "labnic.h"
#include "labnic_part.h"

static enum hrtimer_restart labnic_timer(struct hrtimer *timer);
static enum hrtimer_restart labnic_departure(struct hrtimer *timer);
static enum hrtimer_restart labnic_arrival(struct hrtimer *timer);

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

static struct labnic_frame *labnic_frame(struct labnic_place *place)
{
	if (place->index == LABNIC_CHUNK_PKTS) {
		place->chunk = place->chunk->next;
		place->index = 0;
	}
	return &place->chunk->frame[place->index];
}

/* Take the packet that arrives next off the line, and the chunk that it leaves empty. */
static struct labnic_frame labnic_take(struct labnic_line *line)
{
	struct labnic_frame frame = *labnic_frame(&line->arriving);
	struct labnic_chunk *chunk = line->arriving.chunk;

	line->flying--;
	if (++line->arriving.index < LABNIC_CHUNK_PKTS)
		return frame;
	if (!chunk->next) {
		/* It was the last of all. */
		line->arriving.index = 0;
		line->leaving = line->arriving;
		line->end = line->arriving;
		return frame;
	}
	line->arriving = (struct labnic_place) { chunk->next, 0 };
	if (line->leaving.chunk == chunk)
		line->leaving = line->arriving;
	swap(chunk, line->spare);
	kfree(chunk);
	return frame;
}

/* Time of the next departure or arrival; U64_MAX when the line is empty. */
static u64 labnic_next_event_ns(struct labnic_port *port, bool *departs)
{
	struct labnic_line *line = &port->line;
	u64 leave_ns = U64_MAX, arrive_ns = U64_MAX;

	lockdep_assert_held(&port->lock);
	if (line->sending)
		leave_ns = labnic_frame(&line->leaving)->leave_ns;
	if (line->flying)
		arrive_ns = labnic_frame(&line->arriving)->leave_ns + port->delay_ns;
	/* A departure goes before an arrival of the same ns. */
	*departs = leave_ns <= arrive_ns;
	return min(leave_ns, arrive_ns);
}

/* There is a next event. */
static void labnic_arm(struct labnic_port *port)
{
	struct labnic_line *line = &port->line;
	const struct labnic_frame *frame;
	bool departs;
	u64 next_ns = labnic_next_event_ns(port, &departs);

	frame = labnic_frame(departs ? &line->leaving : &line->arriving);
	port->next_skb = !departs || frame->is_awaited ? frame->skb : NULL;
	hrtimer_start(&port->timer, ns_to_ktime(next_ns), HRTIMER_MODE_ABS_SOFT);
}

/* In a network in parts departures and arrivals have a timer each. */
static void labnic_arm_departure(struct labnic_port *port)
{
	const struct labnic_frame *frame;

	if (!port->line.sending)
		return;
	frame = labnic_frame(&port->line.leaving);
	port->next_skb = frame->is_awaited ? frame->skb : NULL;
	hrtimer_start(&port->timer, ns_to_ktime(frame->leave_ns), HRTIMER_MODE_ABS_SOFT);
}

static void labnic_arm_arrival(struct labnic_port *port)
{
	const struct labnic_frame *frame;

	if (!port->line.flying)
		return;
	frame = labnic_frame(&port->line.arriving);
	port->arriving_skb = frame->skb;
	hrtimer_start(&port->arrival, ns_to_ktime(frame->leave_ns + port->delay_ns),
		      HRTIMER_MODE_ABS_SOFT);
}

/* Room for one more packet on the line. */
static __always_inline bool labnic_make_room(struct labnic_line *line)
{
	struct labnic_chunk *chunk = NULL;

	if (likely(line->end.chunk && line->end.index < LABNIC_CHUNK_PKTS))
		return true;
	swap(chunk, line->spare);
	if (!chunk)
		chunk = kmalloc(sizeof(*chunk), GFP_ATOMIC);
	if (!chunk)
		return false;
	chunk->next = NULL;
	if (line->end.chunk)
		line->end.chunk->next = chunk;
	line->end = (struct labnic_place) { chunk, 0 };
	if (!line->arriving.chunk) {
		line->arriving = line->end;
		line->leaving = line->end;
	}
	return true;
}

/* The frame is next in the ring; false if there is no memory for that. */
static bool labnic_send(struct labnic_port *port, struct labnic_frame frame, u64 now_ns)
{
	bool none_sending = !port->line.sending;

	lockdep_assert_held(&port->lock);
	if (unlikely(!labnic_make_room(&port->line)))
		return false;
	frame.bytes = frame.skb->len;
	frame.leave_ns = labnic_serialise(port, frame.bytes, now_ns);
	*labnic_frame(&port->line.end) = frame;
	port->line.end.index++;
	port->line.sending++;
	/* If the ring was not empty, the timer is armed for an event not later than this one. */
	if (none_sending && port->key)
		labnic_arm_departure(port);
	else if (none_sending)
		labnic_arm(port);
	return true;
}

/* Does its sender or a socket wait for the packet to leave? */
static bool is_awaited(const struct labnic_port *port, const struct sk_buff *skb)
{
	return skb->destructor || port->pfc ||
	       skb_shinfo(skb)->tx_flags & SKBTX_IN_PROGRESS || (port->key && skb_cloned(skb));
}

/* Whether the ring takes another packet.  Softirq, or bottom halves off. */
bool labnic_wire_has_room(const struct labnic_port *port)
{
	return port->line.sending < port->ring_pkts;
}

/* Put a packet on the line, behind those of the ring.  Softirq, or bottom halves off. */
void labnic_wire_send(struct labnic_port *port, struct sk_buff *skb)
{
	struct netdev_queue *txq = netdev_get_tx_queue(port->dev, 0);
	u64 now_ns = ktime_get_ns();
	struct labnic_frame frame;

	frame = (struct labnic_frame) { .skb = skb, .is_awaited = is_awaited(port, skb) };

	spin_lock(&port->lock);
	if (unlikely(port->line.sending >= port->ring_pkts ||
		     !labnic_send(port, frame, now_ns))) {
		port->stats.ring_drop_pkts++;
		if (port->line.sending)
			netif_tx_stop_queue(txq);
		spin_unlock(&port->lock);
		if (port->pfc)
			labnic_pfc_transmitted(port, skb, now_ns);
		dev_kfree_skb_any(skb);
		return;
	}
	netdev_tx_sent_queue(txq, skb->len);
	if (port->line.sending == port->ring_pkts)
		netif_tx_stop_queue(txq);
	spin_unlock(&port->lock);
}

netdev_tx_t labnic_wire_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct labnic_port *port = netdev_priv(dev);

	if (unlikely(port->key && labnic_part_is_early())) {
		consume_skb(skb);
		return NETDEV_TX_OK;
	}
	if (unlikely(skb_shinfo(skb)->tx_flags & SKBTX_HW_TSTAMP) &&
	    port->hwtstamp.tx_type == HWTSTAMP_TX_ON)
		skb_shinfo(skb)->tx_flags |= SKBTX_IN_PROGRESS;
	if (unlikely(port->credit))
		labnic_credit_transmit(port, skb);
	if (likely(!port->pace) || !labnic_pace_holds(port, skb))
		labnic_wire_send(port, skb);
	return NETDEV_TX_OK;
}

void labnic_wire_pause(struct labnic_port *port, enum labnic_pause kind, u8 priority)
{
	struct sk_buff *skb = alloc_skb(LABNIC_FRAME_MIN_BYTES, GFP_ATOMIC);
	struct labnic_frame frame;

	if (WARN_ON_ONCE(!skb))
		return;
	skb_put_zero(skb, LABNIC_FRAME_MIN_BYTES);
	frame = (struct labnic_frame) { .skb = skb, .pause = kind, .priority = priority };
	spin_lock(&port->lock);
	if (WARN_ON_ONCE(!labnic_send(port, frame, ktime_get_ns())))
		kfree_skb(skb);
	spin_unlock(&port->lock);
}

/* Report the departure time on the error queue of the sending socket. */
static void labnic_tx_tstamp(struct labnic_port *port, struct sk_buff *skb, u64 leave_ns)
{
	struct skb_shared_hwtstamps stamp = { };

	if (likely(!(skb_shinfo(skb)->tx_flags & SKBTX_IN_PROGRESS)))
		return;
	stamp.hwtstamp = ns_to_ktime(labnic_phc_ns(&port->phc, leave_ns));
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

/*
 * The last bit left: free the ring entry and the sender's buffer space.
 *
 * This and other functions of each packet-hop have two callers, labnic_timer() and those of a
 * network in parts.  They are inlined in both: a packet-hop has 1 % fewer instructions.
 */
static __always_inline void labnic_departed(struct labnic_port *port,
					    const struct labnic_frame *frame)
{
	struct netdev_queue *txq = netdev_get_tx_queue(port->dev, 0);
	struct sk_buff *skb = frame->skb;

	if (unlikely(frame->pause))
		return;
	port->stats.tx_pkts++;
	port->stats.tx_bytes += frame->bytes;
	/* Of most packets at switches only this is read: their memory is not touched. */
	if (frame->is_awaited)
		labnic_tx_tstamp(port, skb, frame->leave_ns);
	if (labnic_has_tap())
		labnic_trace(LABNIC_TAP_SENT, port->dev, skb, ip_hdr(skb), frame->leave_ns);
	if (port->pfc)
		labnic_pfc_transmitted(port, skb, frame->leave_ns);
	if (frame->is_awaited)
		skb_orphan(skb);
	netdev_tx_completed_queue(txq, 1, frame->bytes);
	if (netif_tx_queue_stopped(txq))
		netif_tx_wake_queue(txq);
}

/* The last bit arrived: hand the packet to the stack at the other end. */
static __always_inline void labnic_received(struct labnic_port *port,
					    const struct labnic_frame *frame)
{
	u64 arrive_ns = frame->leave_ns + port->delay_ns;
	struct sk_buff *skb = frame->skb;
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
	if (unlikely(frame->pause)) {
		labnic_pfc_receive(peer_port, frame->pause, frame->priority, arrive_ns);
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
	labnic_trace(LABNIC_TAP_RECEIVED, peer, skb, ip_hdr(skb), arrive_ns);
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
		labnic_credit_receive(peer_port, skb, arrive_ns);
	if (unlikely(peer_port->noise.noise_ns))
		labnic_noise_receive(&peer_port->noise, skb, arrive_ns);
	else
		labnic_hand_over(skb, arrive_ns);
	if (unlikely(peer_port->credit))
		labnic_credit_send_pulls(peer_port);
unlock:
	rcu_read_unlock();
}

#ifdef QUELL_HAVE_HRTIMER_UPCOMING
static __always_inline const struct labnic_port *labnic_port_of(const struct hrtimer *timer,
								bool in_parts)
{
	if (!timer)
		return NULL;
	if (timer->function == (in_parts ? labnic_departure : labnic_timer))
		return container_of(timer, struct labnic_port, timer);
	return in_parts && timer->function == labnic_arrival ?
	       container_of(timer, struct labnic_port, arrival) : NULL;
}

static __always_inline const struct sk_buff *labnic_skb_of(const struct hrtimer *timer,
							   const struct labnic_port *port,
							   bool in_parts)
{
	if (!port)
		return NULL;
	return in_parts && timer == &port->arrival ? port->arriving_skb : port->next_skb;
}

static void labnic_fetch(const void *memory, size_t bytes)
{
	size_t at;

	for (at = 0; at < bytes; at += L1_CACHE_BYTES)
		prefetch(memory + at);
}

/*
 * While this packet is dealt with, the memory of the next three comes near: a run of some
 * hundred hosts waits for memory most of its time.  Each step here uses memory that an earlier
 * one has fetched.
 */
static __always_inline void labnic_look_ahead(bool in_parts)
{
	const struct hrtimer *first = hrtimer_upcoming(NULL), *second, *third;
	const struct labnic_port *port = labnic_port_of(first, in_parts);
	const struct sk_buff *skb = labnic_skb_of(first, port, in_parts);

	if (!first)
		return;
	if (skb) {
		labnic_fetch(skb->data, 2 * L1_CACHE_BYTES);
		prefetch(skb_shinfo(skb));
	}
	second = hrtimer_upcoming(first);
	port = labnic_port_of(second, in_parts);
	if (port) {
		prefetch(&port->line.leaving.chunk->frame[port->line.leaving.index]);
		prefetch(&port->line.arriving.chunk->frame[port->line.arriving.index]);
	}
	skb = labnic_skb_of(second, port, in_parts);
	if (skb)
		labnic_fetch(skb, sizeof(*skb));
	third = second ? hrtimer_upcoming(second) : NULL;
	if (!third)
		return;
	prefetch(third);
	port = container_of(third, struct labnic_port, timer);
	/* If it is the timer of an arrival, the line follows, too. */
	labnic_fetch(in_parts ? (void *)(third + 1) : (void *)&port->line,
		     (in_parts ? 3 : 2) * L1_CACHE_BYTES);
}
#else
static void labnic_look_ahead(bool in_parts) { }
#endif

static enum hrtimer_restart labnic_timer(struct hrtimer *timer)
{
	struct labnic_port *port = container_of(timer, struct labnic_port, timer);
	struct labnic_line *line = &port->line;
	u64 now_ns = ktime_get_ns();
	struct labnic_frame frame;
	bool departs;

	labnic_look_ahead(false);
	spin_lock(&port->lock);
	while (labnic_next_event_ns(port, &departs) <= now_ns) {
		if (departs) {
			frame = *labnic_frame(&line->leaving);
			line->leaving.index++;
			line->sending--;
			line->flying++;
		} else {
			frame = labnic_take(line);
		}
		spin_unlock(&port->lock);
		if (departs)
			labnic_departed(port, &frame);
		else
			labnic_received(port, &frame);
		spin_lock(&port->lock);
	}
	if (line->sending || line->flying)
		labnic_arm(port);
	spin_unlock(&port->lock);
	return HRTIMER_NORESTART;
}

/*
 * The head that a packet shares with its sender's copy is copied here and not at the first switch,
 * which may be in another part.
 */
static void labnic_unshare(struct sk_buff *skb)
{
	if (skb_cloned(skb))
		WARN_ON_ONCE(pskb_expand_head(skb, 0, 0, GFP_ATOMIC));
}

/* The same as labnic_timer() of a network in parts, for departures. */
static enum hrtimer_restart labnic_departure(struct hrtimer *timer)
{
	struct labnic_port *port = container_of(timer, struct labnic_port, timer);
	ktime_t expires = hrtimer_get_expires(timer);
	struct labnic_line *line = &port->line;
	u64 now_ns = ktime_get_ns();
	struct labnic_frame frame;

	if (unlikely(labnic_part_is_frozen()))
		return HRTIMER_NORESTART;
	labnic_look_ahead(true);
	spin_lock(&port->lock);
	while (line->sending && labnic_frame(&line->leaving)->leave_ns <= now_ns) {
		frame = *labnic_frame(&line->leaving);
		line->leaving.index++;
		line->sending--;
		line->flying++;
		if (port->is_cut)
			labnic_take(line);
		spin_unlock(&port->lock);
		labnic_departed(port, &frame);
		if (frame.is_awaited)
			labnic_unshare(frame.skb);
		if (port->is_cut)
			labnic_cross_send(port, &frame);
		spin_lock(&port->lock);
		if (line->flying == 1)
			labnic_arm_arrival(port);
	}
	labnic_arm_departure(port);
	spin_unlock(&port->lock);
	labnic_part_departed(port, expires);
	return HRTIMER_NORESTART;
}

/* The same for arrivals. */
static enum hrtimer_restart labnic_arrival(struct hrtimer *timer)
{
	labnic_look_ahead(true);
	labnic_part_arrival(container_of(timer, struct labnic_port, arrival));
	return HRTIMER_NORESTART;
}

/* Of a network in parts. */
bool labnic_wire_has_timer(const struct hrtimer *timer)
{
	return timer->function == labnic_departure || timer->function == labnic_arrival;
}

/* Hand over all that arrives until now. */
void labnic_wire_arrive(struct labnic_port *port, u64 now_ns)
{
	struct labnic_line *line = &port->line;
	struct labnic_frame frame;

	if (unlikely(labnic_part_is_frozen()))
		return;
	spin_lock(&port->lock);
	while (line->flying && labnic_frame(&line->arriving)->leave_ns + port->delay_ns <= now_ns) {
		frame = labnic_take(line);
		spin_unlock(&port->lock);
		labnic_received(port, &frame);
		spin_lock(&port->lock);
	}
	labnic_arm_arrival(port);
	spin_unlock(&port->lock);
}

/* A frame of another part is on this line.  Softirq. */
void labnic_wire_arrives(struct labnic_port *port, struct labnic_frame frame)
{
	struct labnic_line *line = &port->line;

	spin_lock(&port->lock);
	if (WARN_ON_ONCE(!labnic_make_room(line))) {
		kfree_skb(frame.skb);
	} else {
		*labnic_frame(&line->end) = frame;
		line->end.index++;
		line->leaving = line->end;
		if (!line->flying++)
			labnic_arm_arrival(port);
	}
	spin_unlock(&port->lock);
}

/* Prepare the outgoing direction of a port.  Before the device is registered. */
void labnic_wire_init(struct labnic_port *port)
{
	spin_lock_init(&port->lock);
	quell_hrtimer_setup(&port->timer, quell_part_is_on() ? labnic_departure : labnic_timer,
			    CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	quell_hrtimer_setup(&port->arrival, labnic_arrival, CLOCK_MONOTONIC,
			    HRTIMER_MODE_ABS_SOFT);
}

/* Discard all packets of the outgoing direction.  RTNL held. */
void labnic_wire_stop(struct labnic_port *port)
{
	struct labnic_line *line = &port->line;

	hrtimer_cancel(&port->timer);
	hrtimer_cancel(&port->arrival);
	line->flying += line->sending;
	line->sending = 0;
	while (line->flying)
		kfree_skb(labnic_take(line).skb);
	line->leaving = line->end;
	port->busy_ns = 0;
	port->busy_frac = 0;
	netdev_tx_reset_queue(netdev_get_tx_queue(port->dev, 0));
}

void labnic_wire_free(struct labnic_port *port)
{
	kfree(port->line.arriving.chunk);
	kfree(port->line.spare);
}

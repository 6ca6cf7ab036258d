// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labnic: a host's card that paces the packets of each flow, as in TIMELY's Figure 16.
 *
 * The stack hands over a segment of many packets at once, and paces segments.  This card sends each
 * packet of a flow when a line of the flow's rate would be through with it, so that those of
 * several flows mix.  Packets without payload do not wait, but for a flow's last.  A delayed packet
 * is not in the ring, and is delayed further while that is full.
 *
 * ethtool reports that rate for the link's, as no flow has more; so quell.ko counts the time that a
 * segment's packets take to leave by it, which the paper subtracts from its round-trip times.
 *
 * Flows are distinguished by TCP's hash of 32 bits.
 */
#include <linux/ktime.h>
#include <linux/slab.h>
#include <compat/hrtimer.h>

#include "labnic.h"
#include "labnic_credit.h"

#define PACE_FLOWS_SHIFT	12
#define PACE_FLOWS_MASK		((1U << PACE_FLOWS_SHIFT) - 1)

/* One flow. */
struct labnic_pace_flow {
	u32	hash;	/* TCP's */
	/*
	 * When a line of its rate is through with its packets; once that is over, anyone's place.
	 */
	u64	next_ns;
};

/* The pacer of one port. */
struct labnic_pace {
	struct labnic_port	*port;	/* the port */
	u64			rate_bits_ps;	/* rate of each flow */
	spinlock_t		lock;	/* the fields below */
	/* By hash, each at the first place from there on that was free. */
	struct labnic_pace_flow	flow[1 << PACE_FLOWS_SHIFT];
	struct sk_buff_head	waiting;	/* packets, in the order in which they may */
	struct hrtimer		timer;	/* fires when the first may */
};

/* Data of a waiting packet in skb->cb. */
struct labnic_pace_cb {
	u64	due_ns;	/* when it may leave */
};

static struct labnic_pace_cb *pace_cb(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct labnic_pace_cb) > sizeof(skb->cb));
	return (struct labnic_pace_cb *)skb->cb;
}

static u64 pace_packet_ns(const struct sk_buff *skb, u64 rate_bits_ps)
{
	u64 bits = 8ULL * (max_t(u32, skb->len, LABNIC_FRAME_MIN_BYTES) +
			   LABNIC_WIRE_OVERHEAD_BYTES);

	return DIV64_U64_ROUND_UP(bits * NSEC_PER_SEC, rate_bits_ps);
}

/* The slot of a flow, or a free one for a flow without data in flight; NULL: all are used. */
static struct labnic_pace_flow *pace_flow(struct labnic_pace *pace, u32 hash, u64 now_ns)
{
	struct labnic_pace_flow *free = NULL, *flow;
	u32 first = hash >> (32 - PACE_FLOWS_SHIFT), i;

	for (i = 0; i <= PACE_FLOWS_MASK; i++) {
		flow = &pace->flow[(first + i) & PACE_FLOWS_MASK];
		if (flow->hash == hash && flow->next_ns > now_ns)
			return flow;
		if (flow->next_ns <= now_ns && !free)
			free = flow;
		if (!flow->next_ns)
			break;
	}
	if (free)
		*free = (struct labnic_pace_flow) { .hash = hash, .next_ns = now_ns };
	return free;
}

static void pace_arm(struct labnic_pace *pace, u64 earliest_ns)
{
	struct sk_buff *skb = skb_peek(&pace->waiting);

	if (skb)
		hrtimer_start(&pace->timer, ns_to_ktime(max(pace_cb(skb)->due_ns, earliest_ns)),
			      HRTIMER_MODE_ABS_SOFT);
}

/* In the order of times; packets with equal ones stay in order of arrival. */
static void pace_queue(struct labnic_pace *pace, struct sk_buff *skb, u64 due_ns)
{
	struct sk_buff *before;

	pace_cb(skb)->due_ns = due_ns;
	skb_queue_reverse_walk(&pace->waiting, before)
		if (pace_cb(before)->due_ns <= due_ns)
			break;
	/* At the end of the walk @before is the list head, a valid place to insert after. */
	__skb_queue_after(&pace->waiting, before, skb);
	if (skb_peek(&pace->waiting) == skb)
		pace_arm(pace, 0);
}

static enum hrtimer_restart pace_timer(struct hrtimer *timer)
{
	struct labnic_pace *pace = container_of(timer, struct labnic_pace, timer);
	u64 now_ns = ktime_get_ns(), earliest_ns = 0;
	struct sk_buff *skb;

	spin_lock_bh(&pace->lock);
	while ((skb = skb_peek(&pace->waiting)) && pace_cb(skb)->due_ns <= now_ns) {
		if (!labnic_wire_has_room(pace->port)) {
			/* One has left by then. */
			earliest_ns = now_ns + pace_packet_ns(skb, pace->port->rate_bits_ps);
			break;
		}
		__skb_unlink(skb, &pace->waiting);
		spin_unlock_bh(&pace->lock);
		labnic_wire_send(pace->port, skb);
		spin_lock_bh(&pace->lock);
	}
	pace_arm(pace, earliest_ns);
	spin_unlock_bh(&pace->lock);
	return HRTIMER_NORESTART;
}

/*
 * Have a packet wait until a line of its flow's rate is through with it.  Softirq, or bottom halves
 * off.  Returns whether it waits.
 */
bool labnic_pace_holds(struct labnic_port *port, struct sk_buff *skb)
{
	struct labnic_pace *pace = port->pace;
	u64 now_ns = ktime_get_ns(), due_ns;
	struct labnic_pace_flow *flow;
	struct labnic_segment segment;
	bool holds;

	if (!labnic_segment_read(skb, skb_network_offset(skb), &segment) ||
	    !(segment.has_data || segment.is_fin || segment.is_rst))
		return false;
	spin_lock_bh(&pace->lock);
	flow = pace_flow(pace, skb_get_hash(skb), now_ns);
	if (WARN_ON_ONCE(!flow)) {
		spin_unlock_bh(&pace->lock);
		return false;
	}
	flow->next_ns += pace_packet_ns(skb, pace->rate_bits_ps);
	due_ns = flow->next_ns - min(pace_packet_ns(skb, port->rate_bits_ps),
				     flow->next_ns - now_ns);
	/* At the line's own rate it may be due while one before it waits for the ring. */
	holds = due_ns > now_ns || !skb_queue_empty(&pace->waiting);
	if (holds)
		pace_queue(pace, skb, due_ns);
	spin_unlock_bh(&pace->lock);
	return holds;
}

/* Rate of each flow; 0: it does not pace. */
u64 labnic_pace_bits_ps(const struct labnic_port *port)
{
	return port->pace ? port->pace->rate_bits_ps : 0;
}

/* Have a port pace; 0 or -ENOMEM.  Before the device is registered. */
int labnic_pace_create(struct labnic_port *port, u64 rate_bits_ps)
{
	struct labnic_pace *pace = kzalloc(sizeof(*pace), GFP_KERNEL);

	if (!pace)
		return -ENOMEM;
	pace->port = port;
	pace->rate_bits_ps = rate_bits_ps;
	spin_lock_init(&pace->lock);
	__skb_queue_head_init(&pace->waiting);
	quell_hrtimer_setup(&pace->timer, pace_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	port->pace = pace;
	return 0;
}

void labnic_pace_stop(struct labnic_port *port)
{
	if (!port->pace)
		return;
	hrtimer_cancel(&port->pace->timer);
	__skb_queue_purge(&port->pace->waiting);
}

void labnic_pace_free(struct labnic_port *port)
{
	labnic_pace_stop(port);
	kfree(port->pace);
	port->pace = NULL;
}

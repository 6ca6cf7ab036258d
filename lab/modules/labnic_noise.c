// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labnic: the delay that a busy host adds between wire and stack.
 *
 * A packet of a flow without a delayed packet is delayed by a random time, uniform
 * from 0 to noise_ns; otherwise it is delivered right behind the last packet of
 * its flow.  So a flow stays in order, no packet waits longer than noise_ns, and
 * a burst is not always as late as the worst of its packets, which would be the
 * result of independent times kept in order.  Receive time stamps are taken
 * before this delay.
 *
 * The times come from a seed, in the order of arrival.
 */
#include <linux/ip.h>
#include <linux/ktime.h>
#include <linux/slab.h>

#include <compat/hrtimer.h>

#include "labnic.h"

/* Flows are distinguished by this many bits of a hash. */
#define LABNIC_NOISE_FLOWS_SHIFT	12

/* Data of a waiting packet in skb->cb. */
struct labnic_noise_cb {
	u64	deliver_ns;	/* when it is handed to the stack */
};

static struct labnic_noise_cb *labnic_noise_cb(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct labnic_noise_cb) > sizeof(skb->cb));
	return (struct labnic_noise_cb *)skb->cb;
}

/* splitmix64, scaled to 0..noise_ns; noise_ns is below 2^32. */
static u64 labnic_noise_draw_ns(struct labnic_noise *noise)
{
	u64 z = (noise->random += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	z ^= z >> 31;
	return ((z >> 32) * (noise->noise_ns + 1)) >> 32;
}

/* Hash of addresses and ports of an IPv4 packet; all other packets are one flow. */
static u32 labnic_noise_flow(const struct sk_buff *skb)
{
	const struct iphdr *iph;
	struct iphdr iph_buffer;
	const __be32 *ports;
	__be32 ports_buffer;
	u64 key;

	if (skb->protocol != htons(ETH_P_IP))
		return 0;
	iph = skb_header_pointer(skb, 0, sizeof(iph_buffer), &iph_buffer);
	if (!iph)
		return 0;
	key = (__force u32)iph->saddr * 0x9e3779b97f4a7c15ULL;
	key = (key ^ (__force u32)iph->daddr) * 0xbf58476d1ce4e5b9ULL;
	ports = skb_header_pointer(skb, iph->ihl * 4, sizeof(ports_buffer),
				   &ports_buffer);
	if (ports)
		key = (key ^ (__force u32)*ports) * 0x94d049bb133111ebULL;
	return key >> (64 - LABNIC_NOISE_FLOWS_SHIFT);
}

/* Queue in order of delivery time; packets with equal times stay in order of arrival. */
static void labnic_noise_queue(struct labnic_noise *noise, struct sk_buff *skb)
{
	struct sk_buff *before;

	skb_queue_reverse_walk(&noise->waiting, before)
		if (labnic_noise_cb(before)->deliver_ns <=
		    labnic_noise_cb(skb)->deliver_ns)
			break;
	/* At the end of the walk @before is the list head, a valid place to insert after. */
	__skb_queue_after(&noise->waiting, before, skb);
}

static void labnic_noise_arm(struct labnic_noise *noise)
{
	struct sk_buff *skb = skb_peek(&noise->waiting);

	if (skb)
		hrtimer_start(&noise->timer,
			      ns_to_ktime(labnic_noise_cb(skb)->deliver_ns),
			      HRTIMER_MODE_ABS_SOFT);
}

static enum hrtimer_restart labnic_noise_timer(struct hrtimer *timer)
{
	struct labnic_noise *noise = container_of(timer, struct labnic_noise, timer);
	u64 now_ns = ktime_get_ns();
	struct sk_buff *skb;

	spin_lock(&noise->lock);
	while ((skb = skb_peek(&noise->waiting)) &&
	       labnic_noise_cb(skb)->deliver_ns <= now_ns) {
		__skb_unlink(skb, &noise->waiting);
		spin_unlock(&noise->lock);
		labnic_hand_over(skb, now_ns);
		spin_lock(&noise->lock);
	}
	labnic_noise_arm(noise);
	spin_unlock(&noise->lock);
	return HRTIMER_NORESTART;
}

/* Hand a packet to the stack after the host's delay; noise_ns is not 0. */
void labnic_noise_receive(struct labnic_noise *noise, struct sk_buff *skb,
			  u64 arrive_ns)
{
	u64 *last_ns = &noise->last_ns[labnic_noise_flow(skb)];

	spin_lock(&noise->lock);
	if (*last_ns < arrive_ns)
		*last_ns = arrive_ns + labnic_noise_draw_ns(noise);
	labnic_noise_cb(skb)->deliver_ns = *last_ns;
	labnic_noise_queue(noise, skb);
	if (skb_peek(&noise->waiting) == skb)
		labnic_noise_arm(noise);
	spin_unlock(&noise->lock);
}

/* Prepare a port's host; 0 or -ENOMEM.  Before the device is registered. */
int labnic_noise_init(struct labnic_noise *noise, u64 noise_ns, u64 seed)
{
	spin_lock_init(&noise->lock);
	__skb_queue_head_init(&noise->waiting);
	quell_hrtimer_setup(&noise->timer, labnic_noise_timer, CLOCK_MONOTONIC,
			    HRTIMER_MODE_ABS_SOFT);
	noise->noise_ns = noise_ns;
	noise->random = seed;
	noise->last_ns = NULL;
	if (!noise_ns)
		return 0;
	noise->last_ns = kcalloc(1 << LABNIC_NOISE_FLOWS_SHIFT,
				 sizeof(*noise->last_ns), GFP_KERNEL);
	return noise->last_ns ? 0 : -ENOMEM;
}

/* RTNL; packets are no longer received. */
void labnic_noise_stop(struct labnic_noise *noise)
{
	hrtimer_cancel(&noise->timer);
	__skb_queue_purge(&noise->waiting);
}

void labnic_noise_free(struct labnic_noise *noise)
{
	labnic_noise_stop(noise);
	kfree(noise->last_ns);
	noise->last_ns = NULL;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labnic: the tap, and handing packets to the stack.
 */
#include <linux/in.h>
#include <linux/ip.h>

#include "labnic.h"

/* Called for every event of a packet; NULL if there is no tap. */
static labnic_tap_fn labnic_tap;

/**
 * quell_labnic_tap() - register a function to be called for every packet
 * @fn: called from now on; NULL removes the tap
 *
 * Context: process context, no packet in flight when @fn is registered.
 */
void quell_labnic_tap(labnic_tap_fn fn)
{
	WRITE_ONCE(labnic_tap, fn);
}
EXPORT_SYMBOL_GPL(quell_labnic_tap);

bool labnic_has_tap(void)
{
	return READ_ONCE(labnic_tap);
}

/* Softirq.  @skb and @iph are NULL for LABNIC_TAP_DONE. */
void labnic_trace(enum labnic_tap_event event, struct net_device *dev,
		  const struct sk_buff *skb, const struct iphdr *iph, u64 time_ns)
{
	labnic_tap_fn fn = READ_ONCE(labnic_tap);

	if (likely(!fn))
		return;
	if (iph && (skb->protocol != htons(ETH_P_IP) || iph->protocol != IPPROTO_TCP))
		iph = NULL;
	fn(event, dev, iph, time_ns);
}

/* Hand a packet to the stack, or to a switch's port it leaves by. */
void labnic_hand_over(struct sk_buff *skb, u64 now_ns)
{
	struct net_device *dev = skb->dev;

	labnic_trace(LABNIC_TAP_STACK, dev, skb, (const struct iphdr *)skb->data, now_ns);
	rcu_read_lock();
	if (!labnic_forward(netdev_priv(dev), skb))
		netif_receive_skb(skb);
	rcu_read_unlock();
	labnic_trace(LABNIC_TAP_DONE, dev, NULL, NULL, now_ns);
}

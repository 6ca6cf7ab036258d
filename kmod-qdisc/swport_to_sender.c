// SPDX-License-Identifier: GPL-2.0
/*
 * Trimming to the sender: the sender of a dropped segment gets a NACK at once.
 *
 * The NACK, built from the segment's headers (<quell/trim_nack.h>), enters the network layer as if
 * the receiver had sent it and it came in through the port's device.  So it is routed or bridged
 * as any reply, passes reverse path filters, and saves the delay to the receiver and back.  In a
 * tunnel it returns through the tunnel, <quell/trim_tunnel.h>.  Its Ethernet source is the port's,
 * so that no bridge learns the receiver's address.
 *
 * netif_rx() only queues, so it may be called with the qdisc's lock held; it drops above
 * net.core.netdev_max_backlog, which is counted.  A dropped segment causes at most one NACK, longer
 * by at most the option, and a NACK, without payload, causes no other: no amplification, no loop.
 *
 * Eligible are TCP segments with payload, of any size, with a length in the Quell option, which may
 * be trimmed and came in by Ethernet.  Locally sent ones are trimmed and sent on; they have no
 * input device, whereas skb->sk may be another namespace's socket beyond a bridge.  Nor are those
 * that tc redirected here, as to an ifb: the receiver's replies come in by another device.
 */
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/netdevice.h>
#include <net/sch_generic.h>
#include <quell/trim_tunnel.h>

#include "swport.h"

/* The outer headers are the segment's, to its sender. */
static int swport_nack_put_outside(struct sk_buff *nack, const struct sk_buff *skb, u32 bytes)
{
	struct ethhdr *eth = skb_put(nack, bytes);

	if (skb_copy_bits(skb, 0, eth, bytes))
		return -EINVAL;
	ether_addr_copy(eth->h_dest, eth->h_source);
	ether_addr_copy(eth->h_source, skb->dev->dev_addr);
	quell_trim_nack_source(eth->h_source);
	if (skb_vlan_tag_present(skb))
		__vlan_hwaccel_put_tag(nack, skb->vlan_proto, skb_vlan_tag_get(skb));
	return 0;
}

static struct sk_buff *swport_nack_make(const struct sk_buff *skb,
					const struct quell_frame *frame,
					const struct quell_trim *trim, u8 dscp)
{
	u32 headroom = LL_MAX_HEADER + NET_IP_ALIGN, at = quell_frame_flow(frame)->at, bytes;
	struct sk_buff *nack;

	nack = alloc_skb(headroom + QUELL_TRIM_TUNNEL_NACK_MAX_BYTES, GFP_ATOMIC | __GFP_NOWARN);
	if (!nack)
		return NULL;
	skb_reserve(nack, headroom);
	if (swport_nack_put_outside(nack, skb, at)) {
		kfree_skb(nack);
		return NULL;
	}
	bytes = quell_trim_nack(frame->data + at, trim, dscp,
				skb_put_zero(nack, QUELL_TRIM_NACK_MAX_BYTES));
	skb_trim(nack, at + bytes);
	if (frame->tunnel)
		quell_trim_return(nack->data, frame, at + bytes, dscp);
	return nack;
}

/**
 * quell_swport_send_nack() - send a NACK to the sender of a dropped segment
 * @sch: the port's qdisc
 * @skb: the segment
 * @frame: its headers
 * @trim: the same, from its IP header on; it may be trimmed
 * Context: softirq, qdisc lock held.
 * Return: true when a NACK was sent, even if the backlog dropped it; false when the segment
 * is not eligible or without memory, so that it may be trimmed instead.
 */
bool quell_swport_send_nack(struct Qdisc *sch, const struct sk_buff *skb,
			    const struct quell_frame *frame, const struct quell_trim *trim)
{
	struct swport_sched *port = qdisc_priv(sch);
	struct net_device *dev = qdisc_dev(sch);
	struct sk_buff *nack;

	/* The segment's sender has to be reachable through the port's device. */
	if (!skb->skb_iif || skb_is_redirected(skb) || dev->type != ARPHRD_ETHER ||
	    !quell_trim_tunnel_returns(frame))
		return false;
	/* Of a segment to a group address each port may drop a copy, which would cause a NACK. */
	if (frame->data[0] & 1 ||
	    !quell_trim_wants_nack(frame->data + quell_frame_flow(frame)->at, trim))
		return false;
	nack = swport_nack_make(skb, frame, trim, port->params.trim.dscp);
	if (!nack)
		return false;
	nack->protocol = eth_type_trans(nack, dev);
	if (netif_rx(nack) == NET_RX_SUCCESS)
		port->trim.to_sender_pkts++;
	else
		port->trim.to_sender_drop_pkts++;
	return true;
}

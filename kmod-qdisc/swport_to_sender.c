// SPDX-License-Identifier: GPL-2.0
/*
 * Trimming to the sender: a segment that is dropped is answered, not sent on.
 *
 * The port makes a NACK out of the segment's headers, <quell/trim_nack.h>, and hands it
 * to the network layer as if the receiver had sent it and it had come in by the port's
 * device.  So it is routed, or bridged, as any answer is, and a filter of reverse paths
 * finds it where it should be.  The sender knows of the loss without the way to the
 * receiver and back.
 *
 * netif_rx() only queues, to the backlog of this processor, so it may be called with the
 * qdisc's lock held; the backlog's limit (net.core.netdev_max_backlog) is that of the
 * NACKs, too, and what it refuses is counted.  There is at most one for each segment
 * dropped, none longer than that by more than its option, and none is for a NACK, which
 * has no payload: nothing is amplified, and there is no loop.
 *
 * Answered are TCP segments with payload whose Quell option states its length, whatever
 * their size, if they may be trimmed and came in by a device of Ethernet kind; what this
 * host sends itself is trimmed and sent on.  That is told by the device it came in by:
 * what crosses a bridge may still belong to a socket of another namespace.
 */
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/netdevice.h>
#include <net/sch_generic.h>
#include <quell/trim_nack.h>

#include "swport.h"

/* The link header of the way back: that of the segment, its addresses swapped. */
static int swport_nack_put_link(struct sk_buff *nack, const struct sk_buff *skb, u32 link_bytes)
{
	struct ethhdr *eth = skb_put(nack, link_bytes);
	u8 source[ETH_ALEN];

	if (skb_copy_bits(skb, 0, eth, link_bytes))
		return -EINVAL;
	ether_addr_copy(source, eth->h_source);
	ether_addr_copy(eth->h_source, eth->h_dest);
	ether_addr_copy(eth->h_dest, source);
	if (skb_vlan_tag_present(skb))
		__vlan_hwaccel_put_tag(nack, skb->vlan_proto, skb_vlan_tag_get(skb));
	return 0;
}

static struct sk_buff *swport_nack_make(const struct sk_buff *skb, const u8 *ip,
					const struct quell_trim *trim, u8 dscp)
{
	u32 headroom = LL_MAX_HEADER + NET_IP_ALIGN, link_bytes = skb_network_offset(skb), bytes;
	struct sk_buff *nack;

	nack = alloc_skb(headroom + link_bytes + QUELL_TRIM_NACK_MAX_BYTES,
			 GFP_ATOMIC | __GFP_NOWARN);
	if (!nack)
		return NULL;
	skb_reserve(nack, headroom);
	if (swport_nack_put_link(nack, skb, link_bytes)) {
		kfree_skb(nack);
		return NULL;
	}
	bytes = quell_trim_nack(ip, trim, dscp, skb_put_zero(nack, QUELL_TRIM_NACK_MAX_BYTES));
	skb_trim(nack, link_bytes + bytes);
	return nack;
}

/**
 * quell_swport_answer() - answer the sender of a segment that is dropped
 * @sch: the port's qdisc
 * @skb: the segment
 * @ip: its headers, @trim->header_bytes
 * @trim: its parts; it may be trimmed
 *
 * Context: softirq, qdisc lock held.
 * Return: true when it was answered, or nobody would listen; false when it is none to
 * be answered, and may be sent on trimmed.
 */
bool quell_swport_answer(struct Qdisc *sch, const struct sk_buff *skb, const u8 *ip,
			 const struct quell_trim *trim)
{
	struct swport_sched *port = qdisc_priv(sch);
	struct net_device *dev = qdisc_dev(sch);
	struct sk_buff *nack;

	if (!skb->skb_iif || dev->type != ARPHRD_ETHER ||
	    skb_network_offset(skb) < ETH_HLEN || !quell_trim_wants_nack(ip, trim))
		return false;
	nack = swport_nack_make(skb, ip, trim, port->params.trim.dscp);
	if (!nack)
		return false;
	nack->protocol = eth_type_trans(nack, dev);
	if (netif_rx(nack) == NET_RX_SUCCESS)
		port->trim.to_sender_pkts++;
	else
		port->trim.to_sender_drop_pkts++;
	return true;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labnic: the short way through a switch.
 *
 * Where a switch has decided once where a TCP flow over IPv4 goes, the port by which the flow
 * comes in remembers that, as the kernel's own route cache did until 3.6: out by which device,
 * with which Ethernet header.  Packets that follow go there at once, with everything done to
 * them that the kernel's way does: TTL, priority by the type of service, iif, headers copied
 * before they are written, the qdisc and the card of the port they leave by.
 *
 * Packets that are not plain take the long way: another protocol, options, fragments, the last hop
 * of the TTL, a packet above the MTU, a route or device that changed since (the generation of
 * routes), a neighbour that must be asked for, a namespace with netfilter, a port with a
 * capture, XDP or an ingress program.  That is all that a plan can have.  Not noticed
 * once a flow is known are a permanent neighbour that changes its address, rp_filter switched on,
 * a capture on all devices; IP's counters of a switch do not count packets of the short way.
 */
#include <linux/if_ether.h>
#include <linux/inetdevice.h>
#include <linux/ip.h>
#include <linux/jhash.h>
#include <linux/module.h>
#include <linux/netfilter.h>
#include <linux/slab.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/neighbour.h>
#include <net/route.h>

#include "labnic.h"

static bool shortcut = true;
module_param(shortcut, bool, 0444);
MODULE_PARM_DESC(shortcut, "remember where flows go; results are the same without (default Y)");

static unsigned long shortcut_pkts;
module_param(shortcut_pkts, ulong, 0444);
MODULE_PARM_DESC(shortcut_pkts, "packets that went by a remembered way");

#define FORWARD_FLOWS	64
#define PORTS_BYTES	4

/* Where packets of a flow leave. */
struct labnic_route {
	__be32			saddr;	/* source */
	__be32			daddr;	/* destination */
	__be32			ports;	/* both ports, as in the TCP header */
	/* Generation of the namespace's routes when this was decided. */
	int			genid;
	u32			mtu;	/* of the route */
	u8			tos;	/* type of service, of which ECN does not matter */
	bool			is_known;	/* this entry holds something */
	/* Device; not held: no device goes without a new generation. */
	struct net_device	*out;
	u8			header[ETH_HLEN];	/* Ethernet header */
};

/* Ways out of a switch by one of its ports in. */
struct labnic_routes {
	struct labnic_route	flow[FORWARD_FLOWS];
};

static bool is_plain_tcp(const struct sk_buff *skb)
{
	const struct iphdr *iph = (const struct iphdr *)skb->data;

	return skb->protocol == htons(ETH_P_IP) && skb->pkt_type == PACKET_HOST &&
	       skb_headlen(skb) >= sizeof(*iph) + PORTS_BYTES &&
	       iph->version == 4 && iph->ihl == 5 && iph->protocol == IPPROTO_TCP &&
	       iph->ttl > 1 && !ip_is_fragment(iph) && ntohs(iph->tot_len) == skb->len &&
	       !ip_fast_csum(iph, iph->ihl);
}

static bool has_ingress_program(const struct net_device *dev)
{
#ifdef CONFIG_NET_XGRESS
	return rcu_access_pointer(dev->tcx_ingress);
#else
	return false;
#endif
}

/* Is there no reader of the packets that a switch forwards? */
static bool is_unwatched(const struct net_device *dev)
{
	const struct net *net = dev_net(dev);

	return !rcu_access_pointer(net->nf.hooks_ipv4[NF_INET_PRE_ROUTING]) &&
	       !rcu_access_pointer(net->nf.hooks_ipv4[NF_INET_FORWARD]) &&
	       !rcu_access_pointer(net->nf.hooks_ipv4[NF_INET_POST_ROUTING]) &&
	       !rcu_access_pointer(dev->rx_handler) && list_empty(&dev->ptype_all) &&
	       !rcu_access_pointer(dev->xdp_prog) && !has_ingress_program(dev);
}

static bool is_for(const struct labnic_route *route, const struct iphdr *iph, __be32 ports)
{
	return route->is_known && route->saddr == iph->saddr && route->daddr == iph->daddr &&
	       route->ports == ports && !((route->tos ^ iph->tos) & ~INET_ECN_MASK);
}

static struct labnic_route *route_of(struct labnic_routes *routes, const struct iphdr *iph,
				     __be32 ports)
{
	u32 hash = jhash_3words((__force u32)iph->saddr, (__force u32)iph->daddr,
				(__force u32)ports, 0);

	return &routes->flow[hash % FORWARD_FLOWS];
}

/* Ask the kernel for the route, which the packet keeps, and remember it. */
static void learn(struct labnic_route *route, struct sk_buff *skb, __be32 ports)
{
	const struct iphdr *iph = (const struct iphdr *)skb->data;
	struct neighbour *neigh;
	struct net_device *out;
	struct rtable *rt;

	if (ip_route_input_noref(skb, iph->daddr, iph->saddr, iph->tos, skb->dev))
		return;
	rt = skb_rtable(skb);
	if (rt->rt_type != RTN_UNICAST || rt->rt_flags || rt->dst.output != ip_output ||
	    rt->dst.lwtstate || !rt->rt_is_input || rt->rt_gw_family == AF_INET6)
		return;
	out = rt->dst.dev;
	if (out == skb->dev || !READ_ONCE(dev_net(out)->ipv4.sysctl_ip_fwd_update_priority))
		return;
	neigh = __ipv4_neigh_lookup_noref(out, (__force u32)rt_nexthop(rt, iph->daddr));
	if (!neigh || !(neigh->nud_state & (NUD_PERMANENT | NUD_NOARP)) ||
	    neigh->hh.hh_len != ETH_HLEN)
		return;
	*route = (struct labnic_route) {
		.saddr = iph->saddr, .daddr = iph->daddr, .ports = ports, .tos = iph->tos,
		.genid = rt_genid_ipv4(dev_net(out)),
		.mtu = ip_dst_mtu_maybe_forward(&rt->dst, true),
		.is_known = true, .out = out
	};
	memcpy(route->header, (u8 *)neigh->hh.hh_data + HH_DATA_OFF(ETH_HLEN), ETH_HLEN);
}

/* The changes of ip_rcv() and ip_forward() to a packet. */
static bool pass_on(const struct labnic_route *route, struct sk_buff *skb)
{
	struct net_device *out = route->out;

	skb->skb_iif = skb->dev->ifindex;
	if (skb_cow(skb, LL_RESERVED_SPACE(out)))
		return false;
	memset(IPCB(skb), 0, sizeof(struct inet_skb_parm));
	IPCB(skb)->iif = skb->skb_iif;
	IPCB(skb)->flags = IPSKB_FORWARDED;
	skb_reset_network_header(skb);
	skb_set_transport_header(skb, sizeof(struct iphdr));
	ip_decrease_ttl(ip_hdr(skb));
	skb->priority = rt_tos2priority(ip_hdr(skb)->tos);
	skb_clear_tstamp(skb);
	skb->dev = out;
	memcpy(__skb_push(skb, ETH_HLEN), route->header, ETH_HLEN);
	dev_queue_xmit(skb);
	return true;
}

/*
 * Send a packet on, if it is of a flow with a known way.  RCU.  Returns true if the packet was
 * consumed.
 */
bool labnic_forward(struct labnic_port *port, struct sk_buff *skb)
{
	const struct iphdr *iph = (const struct iphdr *)skb->data;
	const struct in_device *in_dev = __in_dev_get_rcu(skb->dev);
	struct labnic_route *route;
	__be32 ports;

	if (!shortcut || !in_dev || !IN_DEV_FORWARD(in_dev) || !is_plain_tcp(skb) ||
	    !is_unwatched(skb->dev))
		return false;
	if (!port->routes)
		port->routes = kzalloc(sizeof(*port->routes), GFP_ATOMIC);
	if (!port->routes)
		return false;
	ports = *(const __be32 *)(skb->data + sizeof(*iph));
	route = route_of(port->routes, iph, ports);
	if (!is_for(route, iph, ports) || route->genid != rt_genid_ipv4(dev_net(skb->dev))) {
		route->is_known = false;
		learn(route, skb, ports);
		return false;
	}
	if (skb->len > route->mtu)
		return false;
	shortcut_pkts++;
	if (!pass_on(route, skb))
		kfree_skb(skb);
	return true;
}

void labnic_forward_free(struct labnic_port *port)
{
	kfree(port->routes);
}

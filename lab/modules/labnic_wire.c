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
 * the port's host is configured to have one.  At a switch a packet
 * of a flow with a known way goes straight to the port out.
 *
 * With priority flow control (labnic_pfc.c) frames that pause the other end precede frames queued
 * in the port, and the ring has no more than the packet that is being sent.
 *
 * A cable may be configured to drop, trim or falsify certain data packets, by number; it does not
 * lose other packets.
 */
#include <linux/etherdevice.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/inetdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/jhash.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/netfilter.h>
#include <linux/prefetch.h>
#include <linux/rcupdate.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/neighbour.h>
#include <net/route.h>
#include <net/tcp.h>
#include <compat/hrtimer.h>

#include "labnic.h"
#include "labnic_part.h"

/*
 * The short way through a switch.
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
static bool labnic_forward(struct labnic_port *port, struct sk_buff *skb)
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

/*
 * The tap, and handing packets to the stack.
 */

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

/* Softirq.  @skb and @iph are NULL for LABNIC_TAP_DONE. */
static void labnic_trace(enum labnic_tap_event event, struct net_device *dev,
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
static void labnic_hand_over(struct sk_buff *skb, u64 now_ns)
{
	struct net_device *dev = skb->dev;

	labnic_trace(LABNIC_TAP_STACK, dev, skb, (const struct iphdr *)skb->data, now_ns);
	rcu_read_lock();
	if (!labnic_forward(netdev_priv(dev), skb))
		netif_receive_skb(skb);
	rcu_read_unlock();
	labnic_trace(LABNIC_TAP_DONE, dev, NULL, NULL, now_ns);
}

/*
 * A cable that drops, trims or falsifies data packets by number, so that a test knows
 * in advance which packets it hits.  Switches trim in kmod-qdisc; this is a minimal version: it
 * removes the payload and the FIN flag, corrects the lengths and the checksum, and
 * leaves all else alone, even the payload length stated in the packet's option.
 */

/* Length of the network header of a TCP packet; 0 for other packets. */
static u32 trim_ip_bytes(const struct sk_buff *skb)
{
	if (skb->protocol == htons(ETH_P_IP) && ip_hdr(skb)->protocol == IPPROTO_TCP)
		return ip_hdrlen(skb);
	if (skb->protocol == htons(ETH_P_IPV6) && ipv6_hdr(skb)->nexthdr == IPPROTO_TCP)
		return sizeof(struct ipv6hdr);
	return 0;
}

/* Length of all headers of a TCP packet with payload; 0 for other packets. */
static u32 trim_header_bytes(const struct sk_buff *skb, u32 ip_bytes)
{
	u32 at = skb_network_offset(skb);
	struct tcphdr buffer;
	const struct tcphdr *th;
	u32 bytes;

	if (!ip_bytes)
		return 0;
	th = skb_header_pointer(skb, at + ip_bytes, sizeof(buffer), &buffer);
	bytes = th ? at + ip_bytes + th->doff * 4 : 0;
	return bytes < skb->len ? bytes : 0;
}

static void trim_fix(struct sk_buff *skb, u32 ip_bytes)
{
	struct tcphdr *th = (struct tcphdr *)(skb_network_header(skb) + ip_bytes);
	u32 tcp_bytes = th->doff * 4;
	__wsum sum;

	th->fin = 0;
	th->check = 0;
	sum = csum_partial(th, tcp_bytes, 0);
	if (skb->protocol == htons(ETH_P_IP)) {
		ip_hdr(skb)->tot_len = htons(ip_bytes + tcp_bytes);
		ip_send_check(ip_hdr(skb));
		th->check = tcp_v4_check(tcp_bytes, ip_hdr(skb)->saddr, ip_hdr(skb)->daddr, sum);
	} else {
		ipv6_hdr(skb)->payload_len = htons(tcp_bytes);
		th->check = tcp_v6_check(tcp_bytes, &ipv6_hdr(skb)->saddr,
					 &ipv6_hdr(skb)->daddr, sum);
	}
	skb->ip_summed = CHECKSUM_NONE;
}

static bool trim_hits(u64 number, u64 first, u64 every, u64 pkts)
{
	return first && number >= first && (number - first) % every == 0 &&
	       (number - first) / every < pkts;
}

/*
 * Change a byte of the payload, in memory of this packet alone; false without memory.
 * Nobody notices by the checksum, which is left to the card.
 */
static bool trim_corrupt(struct sk_buff *skb, u32 at)
{
	if (at >= skb->len)
		return true;
	if (skb_unclone(skb, GFP_ATOMIC) || skb_ensure_writable(skb, at + 1))
		return false;
	skb->data[at] ^= 1;
	return true;
}

/*
 * Drop, trim or falsify a frame as configured for the cable.  Returns false when the frame is lost;
 * it may be trimmed or false otherwise.
 */
static bool labnic_trim(struct labnic_port *port, struct sk_buff *skb)
{
	u32 ip_bytes, header_bytes;

	if (likely(!port->drop_first && !port->trim_first && !port->corrupt_pkt))
		return true;
	ip_bytes = trim_ip_bytes(skb);
	header_bytes = trim_header_bytes(skb, ip_bytes);
	if (!header_bytes)
		return true;
	port->data_pkts++;
	if (trim_hits(port->data_pkts, port->drop_first, 1, port->drop_pkts))
		return false;
	if (port->data_pkts == port->corrupt_pkt)
		return trim_corrupt(skb, header_bytes + port->corrupt_at);
	if (!trim_hits(port->data_pkts, port->trim_first, port->trim_every, port->trim_pkts))
		return true;
	if (skb_unclone(skb, GFP_ATOMIC) || skb_ensure_writable(skb, header_bytes) ||
	    pskb_trim(skb, header_bytes))
		return false;
	trim_fix(skb, ip_bytes);
	return true;
}

/*
 * The delay that a busy host adds between wire and stack.
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
static void labnic_noise_receive(struct labnic_noise *noise, struct sk_buff *skb,
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

static enum hrtimer_restart labnic_timer(struct hrtimer *timer);
static enum hrtimer_restart labnic_departure(struct hrtimer *timer);
static enum hrtimer_restart labnic_arrival(struct hrtimer *timer);
static bool labnic_pace_holds(struct labnic_port *port, struct sk_buff *skb);

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
static bool labnic_wire_has_room(const struct labnic_port *port)
{
	return port->line.sending < port->ring_pkts;
}

/* Put a packet on the line, behind those of the ring.  Softirq, or bottom halves off. */
static void labnic_wire_send(struct labnic_port *port, struct sk_buff *skb)
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
	if (READ_ONCE(labnic_tap))
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

/*
 * A host's card that paces the packets of each flow, as in TIMELY's Figure 16.
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
static bool labnic_pace_holds(struct labnic_port *port, struct sk_buff *skb)
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

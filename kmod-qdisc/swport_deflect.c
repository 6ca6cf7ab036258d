// SPDX-License-Identifier: GPL-2.0
/*
 * In-order flow deflection: flows that meet a long data queue are sent through another port (Dart,
 * section IV).
 *
 *	enqueue: flow, tokens, queue -> <quell/core/port/iofd.h> -> own queue
 *						            -> outlet -> other device
 *						            -> drop
 *
 * Control packets are not deflected: they overtake data on the port anyway.
 *
 * The state is allocated when deflection is first enabled and freed with the port.  Deflected flows
 * stay so after a change as long as their packets can be overtaken.  If the alternate of a flow is
 * removed, by a change or with its device, its packets are dropped for the idle time; then the flow
 * uses the port itself again.
 */
#include <linux/inetdevice.h>
#include <linux/jhash.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/netdevice.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/arp.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>
#include <net/ipv6.h>
#include <net/ndisc.h>
#include <net/neighbour.h>
#include <net/netlink.h>
#include <net/pkt_sched.h>
#include <compat/bh_work.h>
#include <quell/option.h>

#include "swport_deflect.h"

/*
 * Dissect a packet for deflection: its flow, and whether it starts or ends a message.
 *
 *			flow			start		end
 *	TCP		addresses, ports	SYN		FIN, RST
 *	with the Quell	the same		START, clean	data without MORE,
 *	option						with PSH
 *	RoCEv2		addresses, ports,	FIRST, ONLY	LAST, ONLY
 *	(UDP 4791)	destination queue pair
 *
 * and the time to live (<quell/core/port/iofd.h>), of the outer header, which routers decrement.
 * In a tunnel the flow is the inner one, with a hash of the tunnel, as tunnels may share addresses.
 *
 * Other packets are not deflected: other protocols, IP fragments, IPv6 with extension headers,
 * packets to a group, and tagged frames, as a tag belongs to the link.  A flow that has both kinds
 * may be reordered.
 */

/* Base transport header: opcode, flags, key (2), reserved, destination QP (3), ... */
#define SWPORT_BTH_QP_AT	4
#define SWPORT_BTH_QP_MASK	0xffffffU

#define SWPORT_IPV4_SADDR_AT	12
#define SWPORT_IPV6_SADDR_AT	8
#define SWPORT_IPV6_ADDR_WORDS	4
#define SWPORT_IPV4_DADDR_AT	16
#define SWPORT_IPV6_DADDR_AT	24
/* The least first octet of a multicast address; in IPv4 reserved and broadcast addresses follow. */
#define SWPORT_IPV4_GROUP	224
#define SWPORT_IPV6_GROUP	0xff

/* Network order. */
static void swport_flow_addresses(const u8 *data, const struct quell_frame_ip *ip, u32 *saddr,
				  u32 *daddr)
{
	u32 bytes = ip->version == 4 ? sizeof(u32) : SWPORT_IPV6_ADDR_WORDS * sizeof(u32);
	const u8 *from = data + ip->at +
			 (ip->version == 4 ? SWPORT_IPV4_SADDR_AT : SWPORT_IPV6_SADDR_AT);

	memcpy(saddr, from, bytes);
	memcpy(daddr, from + bytes, bytes);
}

/* Distinguish flows of different tunnels. */
static u32 swport_flow_tunnel(const struct quell_frame *frame, u32 qp)
{
	u32 words[2 * SWPORT_IPV6_ADDR_WORDS + 3] = { };

	swport_flow_addresses(frame->data, &frame->ip[0], words, words + SWPORT_IPV6_ADDR_WORDS);
	words[2 * SWPORT_IPV6_ADDR_WORDS] = frame->tunnel;
	words[2 * SWPORT_IPV6_ADDR_WORDS + 1] = frame->tunnel_id;
	words[2 * SWPORT_IPV6_ADDR_WORDS + 2] = qp;
	return jhash2(words, ARRAY_SIZE(words), 0);
}

/* Flags and stamp of the Quell option of a non-SYN segment. */
static void swport_flow_option(const struct quell_frame *frame, struct quell_iofd_packet *packet)
{
	u32 bytes = frame->tcp_bytes - QUELL_FRAME_TCP_BYTES, at, stated;
	const u8 *options = frame->data + quell_frame_flow(frame)->transport_at +
			    QUELL_FRAME_TCP_BYTES;
	struct quell_opt opt;

	if (!bytes || frame->tcp_flags & QUELL_FRAME_TCP_SYN)
		return;
	at = quell_opt_find(options, bytes, &stated);
	if (at == bytes || !quell_opt_decode(options + at, stated, false, &opt) ||
	    opt.form != QUELL_OPT_FULL || !(opt.flags & QUELL_OPT_F_DATA))
		return;
	packet->flags |= QUELL_IOFD_STAMPED;
	packet->stamp = opt.depart_ns;
	if (opt.flags & QUELL_OPT_F_START)
		packet->flags |= QUELL_IOFD_START | QUELL_IOFD_CLEAN;
	if (quell_opt_ends(opt.flags, frame->tcp_flags &
				      (QUELL_FRAME_TCP_PSH | QUELL_FRAME_TCP_FIN)))
		packet->flags |= QUELL_IOFD_END;
}

static void swport_flow_tcp(const struct quell_frame *frame, struct quell_iofd_packet *packet)
{
	swport_flow_option(frame, packet);
	if (frame->tcp_flags & QUELL_FRAME_TCP_SYN)
		packet->flags |= QUELL_IOFD_START;
	if (frame->tcp_flags & (QUELL_FRAME_TCP_FIN | QUELL_FRAME_TCP_RST))
		packet->flags |= QUELL_IOFD_END;
}

static bool swport_flow_roce(const struct quell_frame *frame, struct quell_iofd_packet *packet)
{
	u32 at = quell_frame_flow(frame)->transport_at;
	const u8 *bth = frame->data + at + QUELL_FRAME_UDP_BYTES;

	if (at + QUELL_FRAME_UDP_BYTES + QUELL_FRAME_BTH_BYTES > frame->bytes ||
	    quell_frame_u16(frame, at + 2) != QUELL_FRAME_ROCE_PORT)
		return false;
	packet->flow.word[SWPORT_FLOW_QP] = quell_opt_get_u32(bth + SWPORT_BTH_QP_AT) &
					    SWPORT_BTH_QP_MASK;
	packet->flags = quell_iofd_bth(bth[0]);
	return true;
}

/*
 * Set flow, flags and stamp of the zeroed @packet.  Returns false for packets without a flow that
 * could be deflected.
 */
static bool swport_flow_dissect(const struct sk_buff *skb, const struct quell_frame *frame,
				struct quell_iofd_packet *packet)
{
	const struct quell_frame_ip *flow = quell_frame_flow(frame);
	const struct quell_frame_ip *outer = &frame->ip[0];
	u32 *word = packet->flow.word;

	/* The next hop's header replaces that of the frame: both must agree on its end. */
	if (!flow->transport_at || frame->tagged || skb_vlan_tag_present(skb) ||
	    skb_network_offset(skb) != outer->at ||
	    skb->protocol != (outer->version == 4 ? htons(ETH_P_IP) : htons(ETH_P_IPV6)))
		return false;
	/* A next hop does not forward to the members of a group on the port's link. */
	if (outer->version == 4 ?
	    frame->data[outer->at + SWPORT_IPV4_DADDR_AT] >= SWPORT_IPV4_GROUP :
	    frame->data[outer->at + SWPORT_IPV6_DADDR_AT] == SWPORT_IPV6_GROUP)
		return false;
	if (frame->tcp_bytes)
		swport_flow_tcp(frame, packet);
	else if (flow->protocol != IPPROTO_UDP || !swport_flow_roce(frame, packet))
		return false;
	swport_flow_addresses(frame->data, flow, &word[SWPORT_FLOW_SADDR],
			      &word[SWPORT_FLOW_DADDR]);
	word[SWPORT_FLOW_PORTS] = quell_frame_u32(frame, flow->transport_at);
	word[SWPORT_FLOW_KIND] = flow->version << SWPORT_FLOW_VERSION_SHIFT |
				 flow->protocol << SWPORT_FLOW_PROTOCOL_SHIFT | frame->ip[0].ttl;
	if (frame->tunnel)
		word[SWPORT_FLOW_QP] = swport_flow_tunnel(frame, word[SWPORT_FLOW_QP]);
	return true;
}

/*
 * Outlet of deflected packets: a FIFO per port, drained by one work item in softirq context, which
 * does not run on two processors at a time.  So packets are sent in the order of the port's
 * decisions and without its lock: two ports that deflect to each other cannot deadlock.
 *
 * The packet gets the link-layer header of the next hop and passes that device's qdisc.  The
 * neighbour's queue for unresolved addresses is not used, as packets in it could be overtaken: an
 * unresolved neighbour is resolved, the packet dropped, and no new flow deflected to it.
 */

/* Packets per run; the rest is left to the next run, so that other softirqs proceed. */
#define SWPORT_OUTLET_BATCH	64

/* Other code is unlikely to store it in a packet; not 0. */
static u32 swport_outlet_mark __ro_after_init;

/*
 * A deflected packet, with a mark for the next port, in the qdisc's part of skb->cb.  Between two
 * ports only a bridge, netem and BPF programs at egress write there; then the packet may be
 * deflected again.  A per-CPU flag would not do: in 7.3 the holder of the qdisc's lock enqueues for
 * other processors, and on PREEMPT_RT another task may send on this one.
 */
struct swport_outlet_cb {
	u32	mark;
	u8	alternate;
};

void __init quell_swport_outlet_seed(void)
{
	swport_outlet_mark = get_random_u32() | 1;
}

static struct swport_outlet_cb *swport_outlet_cb(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct swport_outlet_cb));
	return (struct swport_outlet_cb *)qdisc_skb_cb(skb)->data;
}

static struct neigh_table *swport_outlet_table(const struct swport_alternate *alternate)
{
	if (alternate->via.addr_bytes == sizeof(struct in_addr))
		return &arp_tbl;
#if IS_ENABLED(CONFIG_IPV6)
	return &nd_tbl;
#else
	return NULL;
#endif
}

/* Tables read the address by words. */
static_assert(IS_ALIGNED(offsetof(struct swport_alternate, via.addr), sizeof(u32)));

/* With RCU and bottom halves off: kernels differ in which of the two they require. */
static struct neighbour *swport_outlet_neighbour(const struct swport_alternate *alternate,
						 struct net_device *dev)
{
	struct neigh_table *table = swport_outlet_table(alternate);

	return table ? __neigh_lookup_noref(table, alternate->via.addr, dev) : NULL;
}

static bool swport_outlet_is_known(const struct neighbour *neighbour)
{
	return neighbour && READ_ONCE(neighbour->nud_state) & NUD_VALID;
}

/* Takes the alternate's qdisc lock when it sends. */
static void swport_outlet_resolve(const struct swport_alternate *alternate,
				  struct net_device *dev)
{
	struct neigh_table *table = swport_outlet_table(alternate);
	struct neighbour *neighbour;

	if (!table || !netif_running(dev))
		return;
	neighbour = __neigh_lookup_errno(table, alternate->via.addr, dev);
	if (IS_ERR(neighbour))
		return;
	neigh_event_send(neighbour, NULL);
	neigh_release(neighbour);
}

static bool swport_outlet_address(struct sk_buff *skb, const struct swport_alternate *alternate,
				  struct net_device *dev)
{
	char address[MAX_ADDR_LEN] __aligned(8);
	struct neighbour *neighbour;
	bool known;

	rcu_read_lock();
	neighbour = swport_outlet_neighbour(alternate, dev);
	known = swport_outlet_is_known(neighbour);
	if (known) {
		neigh_ha_snapshot(address, neighbour, dev);
		neigh_event_send(neighbour, NULL);
	}
	rcu_read_unlock();
	if (!known) {
		swport_outlet_resolve(alternate, dev);
		return false;
	}

	skb_pull(skb, skb_network_offset(skb));
	if (skb_cow_head(skb, LL_RESERVED_SPACE(dev)))
		return false;
	skb->dev = dev;
	if (dev_hard_header(skb, dev, ntohs(skb->protocol), address, NULL, skb->len) < 0)
		return false;
	skb_reset_mac_header(skb);
	return true;
}

static void swport_outlet_send(struct swport_deflect *deflect, struct sk_buff *skb)
{
	struct swport_alternate *alternate = &deflect->alternate[swport_outlet_cb(skb)->alternate];
	struct net_device *dev = alternate->dev;

	if (!dev || !netif_running(dev) || !swport_outlet_address(skb, alternate, dev)) {
		atomic64_inc(&deflect->drop_pkts);
		kfree_skb(skb);
		return;
	}
	/* The packet was routed to the port's own device. */
	skb_dst_drop(skb);
	dev_queue_xmit(skb);
}

static struct sk_buff *swport_outlet_pop(struct swport_deflect *deflect)
{
	struct sk_buff *skb;

	spin_lock(&deflect->fifo.lock);
	skb = __skb_dequeue(&deflect->fifo);
	if (skb)
		deflect->fifo_bytes -= qdisc_pkt_len(skb);
	spin_unlock(&deflect->fifo.lock);
	return skb;
}

static void swport_outlet_resolve_all(struct swport_deflect *deflect)
{
	u32 i;

	for (i = 0; i < SWPORT_DEFLECT_VIA_MAX; i++) {
		if (test_and_clear_bit(i, &deflect->resolve) && deflect->alternate[i].dev)
			swport_outlet_resolve(&deflect->alternate[i], deflect->alternate[i].dev);
	}
}

static void swport_outlet_run(struct quell_bh_work *work)
{
	struct swport_deflect *deflect = container_of(work, struct swport_deflect, outlet);
	struct sk_buff *skb;
	u32 sent;

	rcu_read_lock_bh();
	swport_outlet_resolve_all(deflect);
	for (sent = 0; sent < SWPORT_OUTLET_BATCH; sent++) {
		skb = swport_outlet_pop(deflect);
		if (!skb)
			break;
		swport_outlet_send(deflect, skb);
	}
	rcu_read_unlock_bh();
	if (sent == SWPORT_OUTLET_BATCH)
		quell_bh_work_queue(&deflect->outlet);
}

/*
 * Returns false if @limit_bytes are queued: the drop is counted, and the caller must free @skb.
 * Bottom halves off, qdisc lock.
 */
static bool swport_outlet_push(struct swport_deflect *deflect, struct sk_buff *skb,
			       u8 alternate, u32 limit_bytes)
{
	u32 len_bytes = qdisc_pkt_len(skb);
	bool room;

	*swport_outlet_cb(skb) = (struct swport_outlet_cb) {
		.mark = swport_outlet_mark,
		.alternate = alternate,
	};
	spin_lock(&deflect->fifo.lock);
	room = (u64)deflect->fifo_bytes + len_bytes <= limit_bytes;
	if (room) {
		deflect->fifo_bytes += len_bytes;
		__skb_queue_tail(&deflect->fifo, skb);
	}
	spin_unlock(&deflect->fifo.lock);
	if (room)
		quell_bh_work_queue(&deflect->outlet);
	else
		atomic64_inc(&deflect->drop_pkts);
	return room;
}

/*
 * Bitmap of the usable alternates: not those with a lower MTU than the port's.  Starts resolution
 * of missing neighbours.  Bottom halves off, qdisc lock.
 */
static u32 swport_outlet_working(struct swport_deflect *deflect, unsigned int mtu_bytes)
{
	u32 i, working = 0;

	rcu_read_lock();
	for (i = 0; i < deflect->alternate_nr; i++) {
		struct swport_alternate *alternate = &deflect->alternate[i];
		struct net_device *dev = alternate->dev;

		if (!dev || !netif_running(dev) || !netif_carrier_ok(dev) ||
		    READ_ONCE(dev->mtu) < mtu_bytes)
			continue;
		if (swport_outlet_is_known(swport_outlet_neighbour(alternate, dev)))
			working |= 1U << i;
		else if (!test_and_set_bit(i, &deflect->resolve))
			quell_bh_work_queue(&deflect->outlet);
	}
	rcu_read_unlock();
	return working;
}

/*
 * Does a root qdisc's backlog state the queue of its device?  Those of mq and mqprio are sums, made
 * by a dump; per-CPU statistics, as pfifo_fast's, are not in it; noqueue has no backlog.
 */
bool quell_swport_outlet_counts(const struct Qdisc *root)
{
	return root->enqueue && !(root->flags & (TCQ_F_MQROOT | TCQ_F_CPUSTATS));
}

/*
 * Set @bytes of each alternate to the backlog of its device's root qdisc, read without its lock, or
 * to U32_MAX if that does not state the queue or there is no device.
 */
static void swport_outlet_queued(const struct swport_deflect *deflect,
				 u32 bytes[QUELL_IOFD_ALTERNATES_MAX])
{
	u32 i;

	rcu_read_lock();
	for (i = 0; i < deflect->alternate_nr; i++) {
		const struct net_device *dev = deflect->alternate[i].dev;
		const struct Qdisc *root = dev ? rcu_dereference(dev->qdisc) : NULL;

		bytes[i] = root && quell_swport_outlet_counts(root) ?
			   READ_ONCE(root->qstats.backlog) : U32_MAX;
	}
	rcu_read_unlock();
}

/* Drop all packets in the outlet, and count them.  Any context. */
static void swport_outlet_purge(struct swport_deflect *deflect)
{
	struct sk_buff *skb;

	local_bh_disable();
	while ((skb = swport_outlet_pop(deflect))) {
		atomic64_inc(&deflect->drop_pkts);
		kfree_skb(skb);
	}
	local_bh_enable();
}

static u8 swport_deflect_tokens(const struct swport_deflect_params *params, u8 dscp)
{
	if (dscp < params->token_base || dscp - params->token_base > params->token_max)
		return 0;
	return dscp - params->token_base;
}

/* Remove one token.  The header may be shared with a clone. */
static bool swport_deflect_set_dscp(struct sk_buff *skb, const struct quell_frame_ip *ip)
{
	u8 dsfield = ((ip->dsfield >> SWPORT_DSCP_SHIFT) - 1) << SWPORT_DSCP_SHIFT;

	if (ip->version == 4) {
		if (skb_ensure_writable(skb, ip->at + sizeof(struct iphdr)))
			return false;
		ipv4_change_dsfield((struct iphdr *)(skb->data + ip->at), INET_ECN_MASK, dsfield);
		return true;
	}
	if (skb_ensure_writable(skb, ip->at + sizeof(struct ipv6hdr)))
		return false;
	ipv6_change_dsfield((struct ipv6hdr *)(skb->data + ip->at), INET_ECN_MASK, dsfield);
	return true;
}

/* Bitmap of alternates that would return the packet to its input device. */
static u32 swport_deflect_barred(const struct swport_deflect *deflect,
				 const struct sk_buff *skb)
{
	u32 i, barred = 0;

	for (i = 0; i < deflect->alternate_nr; i++)
		if (deflect->alternate[i].via.ifindex == skb->skb_iif)
			barred |= 1U << i;
	return barred;
}

/* Check the alternates only if the decision needs them; @bytes: room for their queues. */
static void swport_deflect_describe(struct Qdisc *sch, const struct sk_buff *skb,
				    struct quell_iofd_packet *packet,
				    u32 bytes[QUELL_IOFD_ALTERNATES_MAX])
{
	struct swport_sched *port = qdisc_priv(sch);
	struct swport_deflect *deflect = port->deflect;
	bool may_begin;

	packet->bytes = qdisc_pkt_len(skb);
	packet->queued_bytes = port->data.backlog_bytes;
	may_begin = packet->flags & QUELL_IOFD_START && packet->tokens &&
		    packet->queued_bytes > port->params.deflect.iofd.threshold_bytes;
	if (!deflect->vars.used && !may_begin)
		return;
	packet->working = swport_outlet_working(deflect, READ_ONCE(qdisc_dev(sch)->mtu));
	packet->barred = swport_deflect_barred(deflect, skb);
	if (!may_begin || !port->params.deflect.iofd.shorter)
		return;
	/* Of both bands, as that of an alternate. */
	packet->own_bytes = sch->qstats.backlog;
	packet->alternate_bytes = bytes;
	swport_outlet_queued(deflect, bytes);
}

/* Returns false without memory to remove the token. */
static bool swport_deflect_take_token(struct swport_deflect *deflect, struct sk_buff *skb,
				      u8 tokens,
				      const struct quell_frame_ip *ip)
{
	if (!tokens)
		return true;
	if (!swport_deflect_set_dscp(skb, ip)) {
		atomic64_inc(&deflect->drop_pkts);
		return false;
	}
	deflect->tokens++;
	return true;
}

/*
 * The fast path: a packet without a token at a port that has deflected no flow.  The rest is not
 * inlined, as its packet on the stack is initialised by hardened kernels.
 */
static bool swport_deflect_skips(const struct swport_sched *port, const struct quell_frame *frame)
{
	const struct swport_deflect_params *params = &port->params.deflect;

	return params->on &&
	       quell_iofd_is_skipped(&port->deflect->vars,
				     swport_deflect_tokens(params, frame->ip[0].dsfield >>
								   SWPORT_DSCP_SHIFT));
}

/* Returns false if the packet has no flow, or deflection is off and has no flows left. */
static bool swport_deflect_read(struct swport_sched *port, const struct sk_buff *skb,
				const struct quell_frame *frame, struct quell_iofd_packet *packet)
{
	const struct swport_deflect_params *params = &port->params.deflect;
	struct quell_iofd_vars *vars = &port->deflect->vars;

	if (!params->on && !quell_iofd_binds(vars, &params->iofd, ktime_get_ns()))
		return false;
	*packet = (struct quell_iofd_packet) { };
	/*
	 * A packet of another port's outlet is not deflected again: as ports of a switch do not
	 * decrement the time to live, it might go back and forth.  The port has not yet written
	 * to the qdisc's part of skb->cb.
	 */
	if (swport_outlet_cb(skb)->mark == swport_outlet_mark ||
	    !swport_flow_dissect(skb, frame, packet))
		return false;
	packet->tokens = swport_deflect_tokens(params, frame->ip[0].dsfield >> SWPORT_DSCP_SHIFT);
	packet->now_ns = ktime_get_ns();
	if (params->on)
		quell_iofd_watch(vars, &params->iofd, packet);
	return true;
}

static noinline bool swport_deflect_slow(struct Qdisc *sch, struct sk_buff *skb,
					 const struct quell_frame *frame,
					 struct sk_buff **to_free, int *ret)
{
	struct swport_sched *port = qdisc_priv(sch);
	struct swport_deflect_params *params = &port->params.deflect;
	struct swport_deflect *deflect = port->deflect;
	u32 bytes[QUELL_IOFD_ALTERNATES_MAX];
	struct quell_iofd_packet packet;
	u8 alternate = 0;

	if (!swport_deflect_read(port, skb, frame, &packet))
		return false;
	swport_deflect_describe(sch, skb, &packet, bytes);
	switch (quell_iofd_decide(&deflect->vars, &params->iofd, &deflect->stats, &packet,
				  &alternate)) {
	case QUELL_IOFD_DEFLECT:
		if (!swport_deflect_take_token(deflect, skb, packet.tokens, &frame->ip[0]) ||
		    !swport_outlet_push(deflect, skb, alternate, port->params.limit_bytes))
			__qdisc_drop(skb, to_free);
		*ret = NET_XMIT_SUCCESS | __NET_XMIT_STOLEN;
		return true;
	case QUELL_IOFD_LOST:
		*ret = qdisc_drop(skb, sch, to_free);
		return true;
	default:
		return false;
	}
}

/**
 * quell_swport_deflect() - deflect a packet of the data band if necessary
 * @sch: the port's qdisc
 * @skb: wire packet, not GSO
 * @frame: its headers
 * @to_free: list of dropped packets, freed by the caller
 * @ret: set when the result is true: the return value for enqueue; a deflected packet
 *	is neither queued nor dropped for parent qdiscs
 * Context: softirq, qdisc lock held.
 * Return: true if the packet was deflected or dropped, false if it is to be queued.
 */
bool quell_swport_deflect(struct Qdisc *sch, struct sk_buff *skb,
			  const struct quell_frame *frame, struct sk_buff **to_free, int *ret)
{
	return !swport_deflect_skips(qdisc_priv(sch), frame) &&
	       swport_deflect_slow(sch, skb, frame, to_free, ret);
}

static noinline bool swport_deflect_is_local_slow(struct Qdisc *sch, const struct sk_buff *skb,
						  const struct quell_frame *frame,
						  const struct quell_super *super)
{
	struct swport_sched *port = qdisc_priv(sch);
	struct swport_deflect_params *params = &port->params.deflect;
	struct swport_deflect *deflect = port->deflect;
	struct quell_iofd_packet packet;

	if (!swport_deflect_read(port, skb, frame, &packet))
		return true;
	if (skb_shinfo(skb)->gso_type & SKB_GSO_UDP_L4)
		return false;
	packet.queued_bytes = port->data.backlog_bytes + super->bytes - super->last_bytes;
	return quell_iofd_is_local(&deflect->vars, &params->iofd, &packet);
}

/**
 * quell_swport_deflect_is_local() - are all segments of a super-packet queued at this port?
 * @sch: the port's qdisc, of which deflection was enabled at some time
 * @skb: super-packet for the data band; of TCP one flow, of RoCEv2 several
 * @frame: its headers
 * @super: its segments
 * Context: softirq, qdisc lock held; does not write to @skb.
 * Return: false if quell_swport_deflect() must be called for each segment.
 */
bool quell_swport_deflect_is_local(struct Qdisc *sch, const struct sk_buff *skb,
				   const struct quell_frame *frame, const struct quell_super *super)
{
	return swport_deflect_skips(qdisc_priv(sch), frame) ||
	       swport_deflect_is_local_slow(sch, skb, frame, super);
}

static bool swport_via_same(const struct swport_via *a, const struct swport_via *b)
{
	return a->ifindex == b->ifindex && a->addr_bytes == b->addr_bytes &&
	       !memcmp(a->addr, b->addr, sizeof(a->addr));
}

/* Index in the new list, QUELL_IOFD_REMOVED if it is not in it. */
static u8 swport_via_find(const struct swport_deflect_params *params,
			  const struct swport_via *via)
{
	u32 i;

	for (i = 0; i < params->via_nr; i++)
		if (swport_via_same(&params->via[i], via))
			return i;
	return QUELL_IOFD_REMOVED;
}

/* A device that was unregistered, or moved to another namespace, may have returned. */
static bool swport_via_changed(const struct Qdisc *sch, const struct swport_deflect *deflect,
			       const struct swport_deflect_params *params)
{
	struct net *net = dev_net(qdisc_dev(sch));
	u32 i;

	if (deflect->alternate_nr != params->via_nr)
		return true;
	for (i = 0; i < params->via_nr; i++)
		if (!swport_via_same(&deflect->alternate[i].via, &params->via[i]) ||
		    (!deflect->alternate[i].dev && __dev_get_by_index(net, params->via[i].ifindex)))
			return true;
	return false;
}

/* A device that was unregistered meanwhile is NULL. */
static struct swport_alternate *
swport_deflect_hold(const struct Qdisc *sch, const struct swport_deflect_params *params)
{
	struct net *net = dev_net(qdisc_dev(sch));
	struct swport_alternate *alternates;
	u32 i;

	alternates = kcalloc(SWPORT_DEFLECT_VIA_MAX, sizeof(*alternates), GFP_KERNEL);
	for (i = 0; alternates && i < params->via_nr; i++) {
		struct swport_alternate *alternate = &alternates[i];

		alternate->via = params->via[i];
		alternate->dev = __dev_get_by_index(net, alternate->via.ifindex);
		if (alternate->dev)
			netdev_hold(alternate->dev, &alternate->tracker, GFP_KERNEL);
	}
	return alternates;
}

static void swport_deflect_put(struct swport_alternate *alternates)
{
	u32 i;

	for (i = 0; alternates && i < SWPORT_DEFLECT_VIA_MAX; i++)
		if (alternates[i].dev)
			netdev_put(alternates[i].dev, &alternates[i].tracker);
	kfree(alternates);
}

static struct swport_deflect *swport_deflect_new(struct Qdisc *sch, u32 seed)
{
	struct swport_sched *port = qdisc_priv(sch);
	struct swport_deflect *deflect = kvzalloc(sizeof(*deflect), GFP_KERNEL);

	if (!deflect)
		return NULL;
	skb_queue_head_init(&deflect->fifo);
	quell_bh_work_init(&deflect->outlet, swport_outlet_run);
	quell_iofd_seed(&deflect->vars, seed ? seed : get_random_u64());
	sch_tree_lock(sch);
	port->deflect = deflect;
	sch_tree_unlock(sch);
	return deflect;
}

/**
 * quell_swport_deflect_prepare() - allocate for a change
 * @sch: the port's qdisc
 * @params: parameters to be committed; quell_swport_deflect_done() must follow even if not
 * Context: RTNL held, may sleep.
 * Return: 0 or -ENOMEM.
 */
int quell_swport_deflect_prepare(struct Qdisc *sch, const struct swport_params *params)
{
	struct swport_sched *port = qdisc_priv(sch);
	struct swport_deflect *deflect = port->deflect;

	if (!deflect && !params->deflect.on)
		return 0;
	if (!deflect)
		deflect = swport_deflect_new(sch, params->seed);
	if (!deflect)
		return -ENOMEM;
	if (!swport_via_changed(sch, deflect, &params->deflect))
		return 0;
	deflect->fresh = swport_deflect_hold(sch, &params->deflect);
	if (!deflect->fresh)
		return -ENOMEM;
	quell_bh_work_disable(&deflect->outlet);
	deflect->stopped = true;
	return 0;
}

/* Flows of remaining alternates keep them.  Packets in the outlet have old indices: purge it. */
static void swport_deflect_replace(struct swport_deflect *deflect,
				   const struct swport_deflect_params *params)
{
	u8 to[QUELL_IOFD_ALTERNATES_MAX];
	u32 i;

	memset(to, QUELL_IOFD_REMOVED, sizeof(to));
	for (i = 0; i < deflect->alternate_nr; i++)
		to[i] = swport_via_find(params, &deflect->alternate[i].via);
	swport_outlet_purge(deflect);
	quell_iofd_remap(&deflect->vars, to);
	swap(deflect->alternate, deflect->fresh);
	deflect->alternate_nr = params->via_nr;
	deflect->resolve = (1UL << params->via_nr) - 1;
}

/* Apply a change, with the old parameters still in the port.  Context: sch_tree_lock held. */
void quell_swport_deflect_commit(struct swport_sched *port, const struct swport_params *params)
{
	struct swport_deflect *deflect = port->deflect;

	if (!deflect)
		return;
	/* The end of a message freed entries of flows that were last sent by an alternate. */
	if (params->deflect.on && (!port->params.deflect.on ||
				   (port->params.deflect.iofd.end_frees &&
				    !params->deflect.iofd.end_frees)))
		quell_iofd_begin(&deflect->vars, ktime_get_ns());
	if (deflect->stopped)
		swport_deflect_replace(deflect, &params->deflect);
}

/* Finish a change, applied or abandoned.  Context: RTNL held, may sleep. */
void quell_swport_deflect_done(struct swport_sched *port)
{
	struct swport_deflect *deflect = port->deflect;

	if (!deflect || !deflect->stopped)
		return;
	deflect->stopped = false;
	quell_bh_work_enable(&deflect->outlet);
	swport_deflect_put(deflect->fresh);
	deflect->fresh = NULL;
}

/* Drop the references to an unregistered device.  Context: RTNL held, may sleep. */
void quell_swport_deflect_forget_dev(struct Qdisc *sch, const struct net_device *dev)
{
	struct swport_sched *port = qdisc_priv(sch);
	struct swport_deflect *deflect = port->deflect;
	u32 i;

	for (i = 0; deflect && i < deflect->alternate_nr; i++) {
		struct swport_alternate *alternate = &deflect->alternate[i];
		struct net_device *held = alternate->dev;

		if (!held || held != dev)
			continue;
		quell_bh_work_disable(&deflect->outlet);
		sch_tree_lock(sch);
		alternate->dev = NULL;
		sch_tree_unlock(sch);
		quell_bh_work_enable(&deflect->outlet);
		netdev_put(held, &alternate->tracker);
	}
}

/* No packet is enqueued to the port any more.  Context: RTNL held, may sleep. */
void quell_swport_deflect_destroy(struct swport_sched *port)
{
	struct swport_deflect *deflect = port->deflect;

	if (!deflect)
		return;
	port->deflect = NULL;
	quell_bh_work_cancel(&deflect->outlet);
	swport_outlet_purge(deflect);
	swport_deflect_put(deflect->alternate);
	kvfree(deflect);
}

/* Set the counters of deflection, @value by TCA_SWPORT_STATS_*.  Context: qdisc lock held. */
void quell_swport_deflect_stats(const struct swport_sched *port, u64 *value)
{
	const struct swport_deflect *deflect = port->deflect;
	const struct quell_iofd_stats *stats;
	int attr;

	for (attr = TCA_SWPORT_STATS_DEFLECT_FLOWS;
	     attr <= TCA_SWPORT_STATS_DEFLECT_OUT_DROP_PKTS; attr++)
		value[attr] = 0;
	if (!deflect)
		return;
	stats = &deflect->stats;
	value[TCA_SWPORT_STATS_DEFLECT_FLOWS] = stats->flows;
	value[TCA_SWPORT_STATS_DEFLECT_PKTS] = stats->pkts;
	value[TCA_SWPORT_STATS_DEFLECT_BYTES] = stats->bytes;
	value[TCA_SWPORT_STATS_DEFLECT_TOKENS] = deflect->tokens;
	value[TCA_SWPORT_STATS_DEFLECT_USED] =
		quell_iofd_in_use(&deflect->vars, &port->params.deflect.iofd, ktime_get_ns());
	value[TCA_SWPORT_STATS_DEFLECT_USED_MAX] = stats->used_max;
	value[TCA_SWPORT_STATS_DEFLECT_NO_TOKEN_PKTS] = stats->no_token_pkts;
	value[TCA_SWPORT_STATS_DEFLECT_RECENT_PKTS] = stats->recent_pkts;
	value[TCA_SWPORT_STATS_DEFLECT_NO_ALTERNATE_PKTS] = stats->no_alternate_pkts;
	value[TCA_SWPORT_STATS_DEFLECT_FULL_PKTS] = stats->full_pkts;
	value[TCA_SWPORT_STATS_DEFLECT_LOST_PKTS] = stats->lost_pkts;
	value[TCA_SWPORT_STATS_DEFLECT_OUT_DROP_PKTS] = atomic64_read(&deflect->drop_pkts);
}

/* Context: sch_tree_lock held, or the port out of use. */
void quell_swport_deflect_seed(struct swport_sched *port, u64 seed)
{
	if (port->deflect)
		quell_iofd_seed(&port->deflect->vars, seed);
}

/* Flows keep their alternate: packets already sent there may still be overtaken. */
void quell_swport_deflect_reset(struct swport_sched *port)
{
	if (port->deflect)
		swport_outlet_purge(port->deflect);
}

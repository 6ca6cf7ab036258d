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
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>

#include "swport_deflect.h"

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
	packet->working = quell_swport_outlet_working(deflect,
						      READ_ONCE(qdisc_dev(sch)->mtu));
	packet->barred = swport_deflect_barred(deflect, skb);
	if (!may_begin || !port->params.deflect.iofd.shorter)
		return;
	/* Of both bands, as that of an alternate. */
	packet->own_bytes = sch->qstats.backlog;
	packet->alternate_bytes = bytes;
	quell_swport_outlet_queued(deflect, bytes);
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
	if (quell_swport_outlet_sent(skb) || !quell_swport_deflect_flow(skb, frame, packet))
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
		    !quell_swport_outlet_push(deflect, skb, alternate, port->params.limit_bytes))
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
	quell_swport_outlet_init(deflect);
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
	quell_swport_outlet_purge(deflect);
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
	quell_swport_outlet_purge(deflect);
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
		quell_swport_outlet_purge(port->deflect);
}

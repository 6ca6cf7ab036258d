// SPDX-License-Identifier: GPL-2.0
/*
 * Signal plane: what the stack hands down and gets, seen from two netfilter
 * hooks per address family.
 *
 * LOCAL_OUT, last: a segment of a Quell socket leaves.  The socket lock is
 * held (by whoever called TCP's output), so the flow behind the private bytes
 * and its departure ring may be touched.
 *	- New data is recorded with the time its first bit leaves:
 *		depart = max(now, earliest departure time of the pacing,
 *			     when the flow's own last segment has left the link)
 *	  so that a burst queued in the flow's own interface is not taken for
 *	  congestion: the serialisation that TIMELY subtracts (section 3.1),
 *	  extended to more than one segment.  Other flows' packets in the same
 *	  interface are congestion and stay in.
 *	- Every packet out keeps the socket in quick-ACK mode, so that each
 *	  packet received is acknowledged at once: windows below one packet
 *	  would otherwise wait for the 40 ms delayed ACK.
 *
 * LOCAL_IN, first: a segment for a Quell socket came in.  The socket lock is
 * not held, nothing of the socket may be trusted; the flow is found by the
 * socket's address, time and acknowledgment number go into its arrival ring.
 *
 * The hooks are in a namespace only while it has a Quell socket or a Quell
 * algorithm for its default; a flow without them simply has no nanosecond
 * sample yet.  Registering sleeps, and the first socket may appear in softirq:
 * a work item does it.  It also takes them away, some time after the last
 * socket is gone, so that short connections do not come and go with them.
 *
 *		socks > 0 or default is Quell's		neither, for LINGER
 *	(none) ------------------------------> hooked ---------------------> (none)
 *
 * Lifetime: quell_hooks_exit() stops the work first, then takes the hooks
 * away, which waits until no packet is in them.
 *
 * Ignored: IPv6 segments behind extension headers (but the jumbo payload
 * option on output), and a segment that a VRF with a queue of its own passes
 * to LOCAL_OUT again after the socket lock was dropped.
 */
#include <linux/if_arp.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/tcp.h>
#include <net/dst.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/tcp.h>
#include <compat/inet_lookup.h>
#include "internal.h"

/* How long hooks stay without a socket. */
#define HOOKS_LINGER_SEC	10

/* Ethernet on the wire beside the header: preamble and start 8, FCS 4, gap 12. */
#define ETHER_FRAMING_BYTES	24

/* Quick ACKs left, as many as the field counts. */
#define QUICK_ACKS_MAX		255

/*
 * The glue of a Quell socket whose lock is held; NULL for any other.  Resets
 * come from a raw socket of protocol TCP, hence the type.
 */
static struct quell_cc *hook_own_cc(const struct sock *sk)
{
	if (!sk || !sk_fullsock(sk) || sk->sk_type != SOCK_STREAM ||
	    sk->sk_protocol != IPPROTO_TCP ||
	    READ_ONCE(inet_csk(sk)->icsk_ca_ops)->release != quell_cc_release)
		return NULL;
	return quell_cc_ready(sk) ? quell_cc(sk) : NULL;
}

/* Bytes on the wire per packet beside its payload. */
static u32 hook_header_bytes(const struct net_device *dev, u32 ip_tcp_bytes)
{
	u32 framing_bytes = dev->type == ARPHRD_ETHER ? ETHER_FRAMING_BYTES : 0;

	return ip_tcp_bytes + dev->hard_header_len + framing_bytes;
}

/* When the first bit leaves; moves the flow's own end of its link. */
static void hook_depart(struct quell_flow *flow, struct quell_segment *segment,
			u64 earliest_ns, u64 wire_bytes)
{
	struct quell_link *link = &flow->link;

	if (!link->bytes_ps) {
		segment->depart_ns = earliest_ns;
		segment->depart_q16 = 0;
		return;
	}
	/* A link that falls free within this very ns is taken over as it does. */
	if (link->free_ns + !!link->free_rem < earliest_ns) {
		link->free_ns = earliest_ns;
		link->free_rem = 0;
	}
	segment->queued = link->free_ns > earliest_ns;
	segment->depart_ns = link->free_ns;
	/* The rest is below the speed, at most 2^39 bytes/s: 16 bits more fit. */
	segment->depart_q16 = link->free_rem ?
		div64_u64(link->free_rem << 16, link->bytes_ps) : 0;
	link->free_ns += div64_u64_rem(wire_bytes * NSEC_PER_SEC + link->free_rem,
				       link->bytes_ps, &link->free_rem);
}

static void hook_sent(struct quell_flow *flow, const struct sock *sk,
		      const struct sk_buff *skb, const struct tcphdr *th)
{
	u32 header_bytes = skb_transport_offset(skb) - skb_network_offset(skb) +
			   __tcp_hdrlen(th);
	u32 payload_bytes = skb->len - header_bytes;
	struct quell_segment segment = {
		.seq = ntohl(th->seq),
		.packet_bytes = skb_is_gso(skb) ? skb_shinfo(skb)->gso_size :
						  min_t(u32, payload_bytes, U16_MAX),
	};
	u64 earliest_ns = ktime_get_ns();
	u32 packets = 1;

	/* A FIN takes a number but no byte; that byte's time is neglected. */
	segment.end_seq = segment.seq + payload_bytes + th->fin;
	if (segment.end_seq == segment.seq)
		return;
	quell_link_update(flow, skb_dst(skb)->dev);
	if (before(segment.seq, tcp_sk(sk)->snd_nxt)) {
		quell_segments_mark(&flow->segments, segment.seq, segment.end_seq);
		WRITE_ONCE(flow->retransmits, flow->retransmits + 1);
		return;
	}
	if (skb_is_gso(skb))
		packets = DIV_ROUND_UP(payload_bytes, segment.packet_bytes);
	segment.header_bytes = hook_header_bytes(skb_dst(skb)->dev, header_bytes);
	earliest_ns = max_t(u64, earliest_ns, ktime_to_ns(skb->tstamp));
	hook_depart(flow, &segment, earliest_ns,
		    payload_bytes + (u64)packets * segment.header_bytes);
	if (!quell_segments_add(&flow->segments, &segment)) {
		WRITE_ONCE(flow->overruns, flow->overruns + 1);
		quell_count(flow->qnet, QUELL_N_SEGMENT_RING_OVERRUN);
	}
}

/* A packet of the socket itself, not of a tunnel it is carried by. */
static void hook_out(struct sock *sk, const struct sk_buff *skb)
{
	const struct tcphdr *th = tcp_hdr(skb);
	struct quell_cc *cc = hook_own_cc(sk);

	if (!cc || th->source != inet_sk(sk)->inet_sport ||
	    th->dest != inet_sk(sk)->inet_dport)
		return;
	inet_csk(sk)->icsk_ack.quick = QUICK_ACKS_MAX;
	inet_csk_exit_pingpong_mode(sk);
	if (cc->flow)
		hook_sent(cc->flow, sk, skb, th);
}

static unsigned int hook_out4(void *priv, struct sk_buff *skb,
			      const struct nf_hook_state *state)
{
	if (ip_hdr(skb)->protocol == IPPROTO_TCP)
		hook_out(skb->sk, skb);
	return NF_ACCEPT;
}

static unsigned int hook_out6(void *priv, struct sk_buff *skb,
			      const struct nf_hook_state *state)
{
	u8 next = ipv6_hdr(skb)->nexthdr;

	if (next == NEXTHDR_TCP || (next == NEXTHDR_HOP && skb_is_gso(skb)))
		hook_out(skb->sk, skb);
	return NF_ACCEPT;
}

/* Initial time-to-live values in use; the nearest above is what was sent. */
static u8 hook_hops(u8 ttl)
{
	if (ttl <= 64)
		return 64 - ttl;
	if (ttl <= 128)
		return 128 - ttl;
	return 255 - ttl;
}

static void hook_in(const struct sock *sk, const struct tcphdr *th, u8 ttl)
{
	struct quell_flow *flow;

	if (!th->ack || !sk_fullsock(sk))
		return;
	flow = quell_flow_find(sk);
	if (!flow)
		return;
	if (READ_ONCE(flow->hops) != hook_hops(ttl))
		WRITE_ONCE(flow->hops, hook_hops(ttl));
	quell_arrival_add(flow, ntohl(th->ack_seq), ktime_get_ns());
}

static unsigned int hook_in4(void *priv, struct sk_buff *skb,
			     const struct nf_hook_state *state)
{
	const struct iphdr *iph = ip_hdr(skb);
	const struct tcphdr *th;
	struct tcphdr buffer;
	struct sock *sk;

	if (iph->protocol != IPPROTO_TCP)
		return NF_ACCEPT;
	th = skb_header_pointer(skb, ip_hdrlen(skb), sizeof(buffer), &buffer);
	if (!th)
		return NF_ACCEPT;
	if (skb->sk) {
		hook_in(skb->sk, th, iph->ttl);
		return NF_ACCEPT;
	}
	/* Without early demultiplexing nobody has looked yet. */
	sk = quell_inet_lookup(state->net, iph->saddr, th->source, iph->daddr,
			       th->dest, inet_iif(skb), inet_sdif(skb));
	if (sk) {
		hook_in(sk, th, iph->ttl);
		sock_gen_put(sk);
	}
	return NF_ACCEPT;
}

#if IS_ENABLED(CONFIG_IPV6)
static unsigned int hook_in6(void *priv, struct sk_buff *skb,
			     const struct nf_hook_state *state)
{
	const struct ipv6hdr *ip6h = ipv6_hdr(skb);
	const struct tcphdr *th;
	struct tcphdr buffer;
	struct sock *sk;

	if (ip6h->nexthdr != NEXTHDR_TCP)
		return NF_ACCEPT;
	th = skb_header_pointer(skb, sizeof(*ip6h), sizeof(buffer), &buffer);
	if (!th)
		return NF_ACCEPT;
	if (skb->sk) {
		hook_in(skb->sk, th, ip6h->hop_limit);
		return NF_ACCEPT;
	}
	sk = quell_inet6_lookup(state->net, &ip6h->saddr, th->source,
				&ip6h->daddr, th->dest, inet6_iif(skb),
				inet6_sdif(skb));
	if (sk) {
		hook_in(sk, th, ip6h->hop_limit);
		sock_gen_put(sk);
	}
	return NF_ACCEPT;
}
#endif

static const struct nf_hook_ops hook_ops[] = {
	{
		.hook		= hook_out4,
		.pf		= NFPROTO_IPV4,
		.hooknum	= NF_INET_LOCAL_OUT,
		.priority	= NF_IP_PRI_LAST,
	},
	{
		.hook		= hook_in4,
		.pf		= NFPROTO_IPV4,
		.hooknum	= NF_INET_LOCAL_IN,
		.priority	= NF_IP_PRI_FIRST,
	},
#if IS_ENABLED(CONFIG_IPV6)
	{
		.hook		= hook_out6,
		.pf		= NFPROTO_IPV6,
		.hooknum	= NF_INET_LOCAL_OUT,
		.priority	= NF_IP6_PRI_LAST,
	},
	{
		.hook		= hook_in6,
		.pf		= NFPROTO_IPV6,
		.hooknum	= NF_INET_LOCAL_IN,
		.priority	= NF_IP6_PRI_FIRST,
	},
#endif
};

/* Whether new sockets of the namespace would be Quell sockets. */
static bool hooks_default_is_ours(const struct net *net)
{
	const struct tcp_congestion_ops *ops;
	bool ours;

	rcu_read_lock();
	ops = rcu_dereference(net->ipv4.tcp_congestion_control);
	ours = ops && ops->release == quell_cc_release;
	rcu_read_unlock();
	return ours;
}

static void hooks_work(struct work_struct *work)
{
	struct quell_net *qnet = container_of(to_delayed_work(work),
					      struct quell_net, hooks_work);
	bool want = atomic_read(&qnet->socks) > 0 || hooks_default_is_ours(qnet->net);

	if (want && !qnet->hooked) {
		if (nf_register_net_hooks(qnet->net, hook_ops, ARRAY_SIZE(hook_ops)))
			quell_count(qnet, QUELL_N_HOOK_REGISTER_FAILED);
		else
			WRITE_ONCE(qnet->hooked, true);
	} else if (!want && qnet->hooked) {
		nf_unregister_net_hooks(qnet->net, hook_ops, ARRAY_SIZE(hook_ops));
		WRITE_ONCE(qnet->hooked, false);
	}
	/*
	 * Look again: at a failure, at the default's change (nobody tells), and
	 * for a socket that came between the question and the answer.
	 */
	if (want != qnet->hooked || (want && !atomic_read(&qnet->socks)))
		queue_delayed_work(system_power_efficient_wq, &qnet->hooks_work,
				   HOOKS_LINGER_SEC * HZ);
	else if (atomic_read(&qnet->socks) && !qnet->hooked)
		queue_delayed_work(system_power_efficient_wq, &qnet->hooks_work, 0);
}

/**
 * quell_hooks_want() - a Quell socket appeared
 * @qnet: its namespace
 *
 * Context: any; the hooks come soon after.
 */
void quell_hooks_want(struct quell_net *qnet)
{
	if (!READ_ONCE(qnet->hooked))
		mod_delayed_work(system_power_efficient_wq, &qnet->hooks_work, 0);
}

/**
 * quell_hooks_linger() - the last Quell socket is gone
 * @qnet: its namespace
 *
 * Context: any; the hooks go later, unless another socket appears.
 */
void quell_hooks_linger(struct quell_net *qnet)
{
	queue_delayed_work(system_power_efficient_wq, &qnet->hooks_work,
			   HOOKS_LINGER_SEC * HZ);
}

/* A namespace made while Quell is the default inherits it: hooks from the start. */
void quell_hooks_init(struct quell_net *qnet)
{
	INIT_DELAYED_WORK(&qnet->hooks_work, hooks_work);
	if (hooks_default_is_ours(qnet->net))
		quell_hooks_want(qnet);
}

void quell_hooks_exit(struct quell_net *qnet)
{
	cancel_delayed_work_sync(&qnet->hooks_work);
	if (qnet->hooked)
		nf_unregister_net_hooks(qnet->net, hook_ops, ARRAY_SIZE(hook_ops));
}

// SPDX-License-Identifier: GPL-2.0
/*
 * NACKs: segments that report data trimmed by a switch, <quell/nack.h>.
 *
 *	receiver	sends a NACK for a trimmed packet, and drops the packet
 *	sender		parses a NACK and, if recover.c can use it, passes it to TCP as an
 *			ACK of its own snd_una, because TCP retransmits after an ACK
 *
 * Both run in the receive hook, without the socket lock: fields of the socket are read at
 * different moments.  A NACK is not charged to the socket.
 *
 * The numbers of a NACK are not trusted: it may be of a switch, which does not know the
 * receiver's data.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/tcp.h>
#include <net/dst.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ipv6.h>
#include <net/tcp.h>
#include <quell/nack.h>
#include "hooks/hooks.h"
#include "signal/signal.h"

/* NACKs in a burst: as many packets as one port may trim at once. */
#define NACK_BURST		1024U

/* The Quell option with its ACK section, and the NACK. */
#define NACK_OPTIONS_BYTES	28U
#define NACK_TCP_BYTES		(sizeof(struct tcphdr) + NACK_OPTIONS_BYTES)

/* The longest TSO burst that TCP sends. */
#define NACK_BURST_BYTES	65536U

/* Token bucket of NACK_BURST NACKs; each takes 1 / rate seconds. */
static bool nack_allowed(struct quell_flow *flow, u64 now_ns)
{
	u64 rate = quell_signal_params(flow->qnet).nack_rate;
	struct quell_recover *recover = &flow->recover;
	bool allowed = false;
	u64 share_ns;

	if (!rate)
		return false;
	share_ns = max_t(u64, div64_u64(NSEC_PER_SEC, rate), 1);
	spin_lock_bh(&flow->lock);
	if (recover->nack_ns <= now_ns + NACK_BURST * share_ns) {
		recover->nack_ns = max(recover->nack_ns, now_ns) + share_ns;
		allowed = true;
	}
	spin_unlock_bh(&flow->lock);
	return allowed;
}

/* Rest of the last advertised receive window, scaled. */
static u16 nack_window(const struct tcp_sock *tp, u32 rcv_nxt)
{
	u32 edge = READ_ONCE(tp->rcv_wup) + READ_ONCE(tp->rcv_wnd);

	if (!after(edge, rcv_nxt))
		return 0;
	/* Constant after the handshake, beside a bit that is not. */
	return min_t(u32, data_race((edge - rcv_nxt) >> tp->rx_opt.rcv_wscale), U16_MAX);
}

static void nack_put_options(u8 *to, const struct quell_echo *echo)
{
	struct quell_nack nack = { .seq = echo->seq, .bytes = echo->end_seq - echo->seq };
	struct quell_opt opt = {
		.form = QUELL_OPT_FULL,
		.flags = QUELL_OPT_F_ACK | (echo->marked ? QUELL_OPT_F_CE : 0) |
			 (echo->hardware ? QUELL_OPT_F_HARDWARE : 0),
		.echo_ns = echo->depart_ns,
		.hold_ns = min_t(u64, ktime_get_ns() - echo->rx_ns, QUELL_OPT_HOLD_MAX_NS),
		.echo_entropy = echo->entropy,
	};

	to += quell_opt_encode(&opt, to);
	quell_nack_encode(&nack, to);
}

static void nack_put_tcp(struct sk_buff *skb, const struct quell_flow *flow,
			 const struct sock *sk, const struct quell_echo *echo)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 rcv_nxt = READ_ONCE(tp->rcv_nxt);
	struct tcphdr *th;

	skb_reset_transport_header(skb);
	th = skb_put_zero(skb, NACK_TCP_BYTES);
	th->source = htons(flow->sport);
	th->dest = htons(flow->dport);
	th->seq = htonl(READ_ONCE(tp->snd_nxt));
	th->ack_seq = htonl(rcv_nxt);
	th->doff = NACK_TCP_BYTES / 4;
	th->ack = 1;
	th->window = htons(nack_window(tp, rcv_nxt));
	nack_put_options((u8 *)(th + 1), echo);
}

/* False without a route. */
static bool nack_route4(struct sk_buff *skb, struct quell_flow *flow, struct sock *sk)
{
	struct tcphdr *th = tcp_hdr(skb);
	struct iphdr *iph;

	th->check = tcp_v4_check(NACK_TCP_BYTES, flow->saddr.s6_addr32[0],
				 flow->daddr.s6_addr32[0],
				 csum_partial(th, NACK_TCP_BYTES, 0));
	iph = skb_push(skb, sizeof(*iph));
	skb_reset_network_header(skb);
	*iph = (struct iphdr) {
		.version = 4,
		.ihl = sizeof(*iph) / 4,
		.tos = READ_ONCE(inet_sk(sk)->tos) & ~INET_ECN_MASK,
		.tot_len = htons(skb->len),
		.frag_off = htons(IP_DF),
		.protocol = IPPROTO_TCP,
		.saddr = flow->saddr.s6_addr32[0],
		.daddr = flow->daddr.s6_addr32[0],
	};
	skb->protocol = htons(ETH_P_IP);
	if (ip_route_me_harder(sock_net(sk), sk, skb, RTN_LOCAL))
		return false;
	ip_hdr(skb)->ttl = ip4_dst_hoplimit(skb_dst(skb));
	return true;
}

#if IS_ENABLED(CONFIG_IPV6)
static bool nack_route6(struct sk_buff *skb, struct quell_flow *flow, struct sock *sk)
{
	int hop_limit = inet6_sk(sk)->hop_limit;
	struct net *net = sock_net(sk);
	struct tcphdr *th = tcp_hdr(skb);
	struct ipv6hdr *ip6h;

	th->check = tcp_v6_check(NACK_TCP_BYTES, &flow->saddr, &flow->daddr,
				 csum_partial(th, NACK_TCP_BYTES, 0));
	ip6h = skb_push(skb, sizeof(*ip6h));
	skb_reset_network_header(skb);
	ip6_flow_hdr(ip6h, READ_ONCE(inet6_sk(sk)->tclass) & ~INET_ECN_MASK, 0);
	ip6h->payload_len = htons(NACK_TCP_BYTES);
	ip6h->nexthdr = IPPROTO_TCP;
	ip6h->hop_limit = hop_limit >= 0 ? hop_limit :
					   READ_ONCE(net->ipv6.devconf_all->hop_limit);
	ip6h->saddr = flow->saddr;
	ip6h->daddr = flow->daddr;
	skb->protocol = htons(ETH_P_IPV6);
	return !ip6_route_me_harder(net, sk, skb);
}
#else
static bool nack_route6(struct sk_buff *skb, struct quell_flow *flow, struct sock *sk)
{
	return false;
}
#endif

/* False when memory was short, or without a route. */
static bool nack_send(struct quell_flow *flow, struct sock *sk, const struct sk_buff *trimmed,
		      const struct quell_echo *echo)
{
	u32 headroom = LL_MAX_HEADER + sizeof(struct ipv6hdr);
	bool ipv4 = flow->family == AF_INET;
	struct sk_buff *skb;

	skb = alloc_skb(headroom + NACK_TCP_BYTES, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return false;
	skb_reserve(skb, headroom);
	skb->mark = READ_ONCE(sk->sk_mark);
	skb->priority = READ_ONCE(sk->sk_priority);
	nack_put_tcp(skb, flow, sk, echo);
	/* For the route lookup's interface. */
	skb_dst_set_noref(skb, skb_dst(trimmed));
	if (!(ipv4 ? nack_route4(skb, flow, sk) : nack_route6(skb, flow, sk))) {
		kfree_skb(skb);
		return false;
	}
	if (ipv4)
		ip_local_out(sock_net(sk), NULL, skb);
#if IS_ENABLED(CONFIG_IPV6)
	else
		ip6_local_out(sock_net(sk), NULL, skb);
#endif
	return true;
}

/* Returns the counter of the outcome. */
static enum quell_counter nack_decide(struct quell_flow *flow, struct sock *sk,
				      const struct sk_buff *trimmed,
				      const struct quell_echo *echo)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if (!after(echo->end_seq, READ_ONCE(tp->rcv_nxt)))
		return QUELL_N_TRIM_DUPLICATE;
	if (after(echo->end_seq, READ_ONCE(tp->rcv_wup) + READ_ONCE(tp->rcv_wnd)))
		return QUELL_N_TRIM_OUTSIDE;
	if (!nack_allowed(flow, echo->rx_ns))
		return QUELL_N_NACK_LIMITED;
	if (!nack_send(flow, sk, trimmed, echo))
		return QUELL_N_NACK_UNSENT;
	return QUELL_N_NACK_SENT;
}

/*
 * The sequence numbers of @echo are those before the packet was trimmed; numbers and checksum were
 * checked.  LOCAL_IN hook, softirq, RCU read section.
 */
void quell_nack_send(struct quell_flow *flow, struct sock *sk, const struct sk_buff *skb,
		     const struct quell_echo *echo)
{
	struct quell_recover *recover = &flow->recover;
	enum quell_counter outcome = nack_decide(flow, sk, skb, echo);

	WRITE_ONCE(recover->trims, READ_ONCE(recover->trims) + 1);
	if (outcome == QUELL_N_NACK_SENT)
		WRITE_ONCE(recover->sent, READ_ONCE(recover->sent) + 1);
	quell_count(flow->qnet, QUELL_N_TRIM_RECEIVED);
	if (outcome == QUELL_N_NACK_LIMITED || outcome == QUELL_N_TRIM_OUTSIDE)
		quell_count_reported(flow->qnet, outcome);
	else
		quell_count(flow->qnet, outcome);
}

/* LOCAL_IN hook.  Pointers into the headers may be stale afterwards. */
enum quell_nack_result quell_nack_read(struct sk_buff *skb, u32 ip_bytes,
				       struct quell_nack *nack)
{
	const struct tcphdr *th = quell_option_header(skb, ip_bytes);
	u32 bytes, at, stated;
	const u8 *options;

	if (!th || th->doff * 4 < sizeof(*th) + QUELL_NACK_BYTES)
		return QUELL_NACK_ABSENT;
	bytes = th->doff * 4 - sizeof(*th);
	options = (const u8 *)(th + 1);
	at = quell_nack_find(options, bytes, &stated);
	if (at == bytes)
		return QUELL_NACK_ABSENT;
	return quell_nack_decode(options + at, stated, nack) ? QUELL_NACK_READ :
							       QUELL_NACK_MALFORMED;
}

/*
 * A host's NACK has the ACK flag: its acknowledgment number must satisfy RFC 5961, 5.2, and its
 * sequence number be in the window, or up to a burst below, as data may have overtaken it.  The
 * sequence number of a switch's NACK is the trimmed packet's acknowledgment number.  LOCAL_IN hook,
 * without the socket lock.
 */
bool quell_nack_is_plausible(const struct sk_buff *skb, u32 ip_bytes, const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 rcv_nxt = READ_ONCE(tp->rcv_nxt), window = READ_ONCE(tp->rcv_wnd);
	const struct tcphdr *th;
	struct tcphdr buffer;
	u32 seq, ack_seq;

	th = skb_header_pointer(skb, ip_bytes, sizeof(buffer), &buffer);
	if (!th)
		return false;
	seq = ntohl(th->seq);
	ack_seq = ntohl(th->ack_seq);
	if (!th->ack)
		return !after(seq, rcv_nxt) &&
		       !before(seq, rcv_nxt - max_t(u32, window, NACK_BURST_BYTES));
	/* snd_nxt may not be advanced yet when the NACK is received. */
	return !before(seq, rcv_nxt - NACK_BURST_BYTES) && !after(seq, rcv_nxt + window) &&
	       !after(ack_seq, READ_ONCE(tp->write_seq)) &&
	       !before(ack_seq, READ_ONCE(tp->snd_una) - READ_ONCE(tp->max_window));
}

/*
 * Rewrites a NACK to an ACK that TCP accepts but that is not new to it.  Segments in the socket's
 * backlog may make this an old ACK, but are processed first, and recover.c needs only one of them.
 * LOCAL_IN hook, after quell_recover_queue(); on false TCP must not see the segment.
 */
bool quell_nack_to_ack(struct sk_buff *skb, u32 ip_bytes, const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 rcv_nxt, window;
	struct tcphdr *th;

	if (skb_ensure_writable(skb, ip_bytes + sizeof(*th)))
		return false;
	/* Read snd_una after the NACK is queued: pairs with quell_in_ack_event(). */
	smp_mb();
	/* The scale as in nack_window(). */
	window = data_race(READ_ONCE(tp->snd_wnd) >> tp->rx_opt.snd_wscale);
	/* TCP would take a zero window for new and stop a flow that may have one by now. */
	if (!window)
		return false;
	rcv_nxt = READ_ONCE(tp->rcv_nxt);
	th = (struct tcphdr *)(skb->data + ip_bytes);
	if (before(ntohl(th->seq), rcv_nxt))
		th->seq = htonl(rcv_nxt);
	th->ack_seq = htonl(READ_ONCE(tp->snd_una));
	th->window = htons(min_t(u32, window, U16_MAX));
	th->ack = 1;
	skb->ip_summed = CHECKSUM_UNNECESSARY;
	skb->csum_level = 0;
	return true;
}

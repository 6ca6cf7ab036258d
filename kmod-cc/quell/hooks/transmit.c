// SPDX-License-Identifier: GPL-2.0
/*
 * Signal plane, first hook in LOCAL_OUT: a segment of a Quell socket leaves.
 *
 * TCP calls this with the socket lock, but others call it without: a VRF device passes
 * a segment again from its queue, ipvlan after a queue of its own, NFQUEUE when user
 * space has decided, and then the socket may be closed and its algorithm's module
 * unloaded.  As this hook is first, before any that may queue, all of TCP's calls are
 * direct ones; correctness does not depend on it.
 *	- A flow is found in the hash by the address of its socket, and is in the hash only
 *	  while its socket uses it; the flow's own lock protects its changing state.
 *	- The operations of a socket are only compared with known ones, not dereferenced.
 *	- The fields of the socket are not written, and are read at different moments.
 *	- A segment that passes a second time is ignored.  It is recognised by the Quell
 *	  option, which only this hook inserts, or, for data, by TCP's send stamp, which
 *	  equals that of its ring entry or of the newest retransmission.
 *
 * Actions:
 *	- Data is recorded with the time its first bit leaves:
 *		depart = max(now, earliest departure time of the pacing,
 *			     when the flow's own last segment has left the link)
 *	  so that a burst queued in the flow's own interface is not taken for
 *	  congestion: the serialisation that TIMELY subtracts (section 3.1),
 *	  extended to more than one segment.  Other flows' packets in the same
 *	  interface are congestion and stay in.
 *	- If both ends use the Quell option (option.c), data carries the time at which the
 *	  last bit of its first packet leaves, and packets of the other direction echo it;
 *	  if the algorithm wants them, data has room for a telemetry record as well.  The
 *	  option marks where messages start and end: switches may choose a path for each.
 *	- Data that is to be acknowledged at once has PSH, other data has not, signal.c.
 *
 * Address translation in OUTPUT comes later: here a segment has the addresses of the
 * socket.  The firewall also comes later, and may drop packets because of the option.
 *
 * Ignored: IPv6 segments behind extension headers (but the jumbo payload option).
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/tcp.h>
#include <net/dst.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/tcp.h>
#include <quell/core/signal/echo.h>
#include "cc/cc.h"
#include "hooks/hooks.h"
#include "signal/dasr.h"
#include "signal/signal.h"

/* Resets come from a raw socket of protocol TCP, hence the type. */
static bool transmit_is_tcp(const struct sock *sk)
{
	return quell_is_full(sk) && sk->sk_type == SOCK_STREAM &&
	       sk->sk_protocol == IPPROTO_TCP;
}

/* Sets when the first bit of a segment leaves; advances the flow's free time of its link. */
static void transmit_depart(struct quell_flow *flow, struct quell_segment *segment,
			    u64 earliest_ns, u64 wire_bytes)
{
	struct quell_link *link = &flow->link;
	u64 free_q32;

	if (!link->ns_q32) {
		segment->depart_ns = earliest_ns;
		segment->depart_q16 = 0;
		return;
	}
	/* If the link frees up within this nanosecond, start at its exact fractional time. */
	if (link->free_ns + !!link->free_q32 < earliest_ns) {
		link->free_ns = earliest_ns;
		link->free_q32 = 0;
	}
	segment->queued = link->free_ns > earliest_ns;
	segment->depart_ns = link->free_ns;
	segment->depart_q16 = link->free_q32 >> 16;
	free_q32 = (u64)link->free_q32 + (u32)(wire_bytes * link->ns_q32);
	link->free_ns += mul_u64_u64_shr(wire_bytes, link->ns_q32, 32) + (free_q32 >> 32);
	link->free_q32 = free_q32;
}

/* Puts the echo of the data packet that this one acknowledges into the option, if any. */
static void transmit_echo(struct quell_flow *flow, const struct sock *sk, u64 now_ns,
			  struct quell_opt *opt)
{
	struct quell_echo echo QUELL_UNINITIALIZED;

	if (!quell_echo_take(flow, tcp_sk(sk), &echo))
		return;
	opt->flags |= QUELL_OPT_F_ACK | (echo.marked ? QUELL_OPT_F_CE : 0) |
		      (echo.hardware ? QUELL_OPT_F_HARDWARE : 0);
	opt->echo_ns = echo.depart_ns;
	opt->hold_ns = min_t(u64, now_ns - echo.rx_ns, QUELL_OPT_HOLD_MAX_NS);
	opt->echo_entropy = echo.entropy;
	if (flow->dasr)
		flow->algo->dasr->state(flow, tcp_sk(sk), opt);
	if (!quell_telemetry_is_empty(echo.record)) {
		opt->flags |= QUELL_OPT_F_RECORD;
		memcpy(opt->record, echo.record, sizeof(opt->record));
	}
}

/* Where a segment is in its connection; without data or FIN, the first three alone. */
struct transmit_place {
	u64	now_ns;	/* of the hook, CLOCK_MONOTONIC */
	u32	payload_bytes;
	bool	has_data;	/* or FIN */
	u32	seq;
	u32	end_seq;
	bool	resent;
	bool	tail;	/* no data is queued behind it */
	bool	ends;	/* and the application's write, or the connection, ends with it */
	bool	requests_ack;
};

/*
 * In the middle of a write TCP sends full segments, with no data behind them yet.  PSH does not
 * show that, as TCP sets it on each burst (since 5.4), for GRO.
 */
static void transmit_find_place(const struct tcp_sock *tp, const struct tcphdr *th,
				struct transmit_place *place)
{
	place->seq = ntohl(th->seq);
	place->end_seq = place->seq + place->payload_bytes + th->fin;
	place->resent = before(place->seq, READ_ONCE(tp->snd_nxt));
	place->tail = !before(place->end_seq, READ_ONCE(tp->write_seq));
	place->ends = place->tail &&
		      (th->fin || READ_ONCE(tp->pushed_seq) == place->end_seq);
}

/*
 * Fills the option of a packet: departure for data, the echo that is due.  A full
 * segment has no room for both, and leaves the echo to the next ACK.  Returns the
 * length of the option; 0: no option.
 */
static __always_inline u32
transmit_option(struct quell_flow *flow, const struct sock *sk, const struct sk_buff *skb,
		const struct transmit_place *place, struct quell_opt *opt)
{
	u32 payload_bytes = place->payload_bytes, room_bytes = quell_option_room(skb), bytes;
	const struct tcp_sock *tp = tcp_sk(sk);
	u8 flags;

	*opt = (struct quell_opt) { .form = QUELL_OPT_FULL };
	if (payload_bytes) {
		struct quell_opt_place in_queue = {
			.seq = place->seq,
			.end_seq = place->end_seq,
			.snd_una = READ_ONCE(tp->snd_una),
			.snd_nxt = READ_ONCE(tp->snd_nxt),
			.write_seq = READ_ONCE(tp->write_seq),
			.pushed = place->ends,
		};

		/* Whether a message starts with this data, and whether it goes on. */
		opt->flags = QUELL_OPT_F_DATA | quell_opt_message(&in_queue);
		if (quell_algo_has(flow->algo, QUELL_CORE_TELEMETRY) && !quell_tcpint_used(flow))
			opt->flags |= QUELL_OPT_F_TELEMETRY;
		/*
		 * All packets of a burst carry one option: it states the payload of the shortest,
		 * or the last packet would seem trimmed.
		 */
		opt->payload_bytes = payload_bytes;
		if (skb_is_gso(skb))
			opt->payload_bytes = payload_bytes % skb_shinfo(skb)->gso_size ?:
					     skb_shinfo(skb)->gso_size;
	}
	if (!payload_bytes ||
	    ALIGN(quell_opt_stated_bytes(opt) + QUELL_OPT_ACK_BYTES, 4) <= room_bytes)
		transmit_echo(flow, sk, place->now_ns, opt);
	/* The receiver hides marks only from senders that do. */
	if (flow->dasr && opt->flags & QUELL_OPT_F_DATA && !(opt->flags & QUELL_OPT_F_ACK))
		opt->flags |= QUELL_OPT_F_FOLLOWS;
	/* Send an empty option until the peer's is seen, or the option seems stripped. */
	if (!opt->flags && (READ_ONCE(flow->option_seen) || quell_signal_is_vain(flow)))
		return 0;
	flags = opt->flags;
	bytes = quell_option_choose(room_bytes, opt);
	if (!bytes)
		quell_count(flow->qnet, QUELL_N_OPTION_NO_ROOM);
	if (flags != opt->flags)
		quell_count(flow->qnet, QUELL_N_RECORD_NO_ROOM);
	return bytes;
}

/* A retransmission marks the entries of the ring that it overlaps. */
static void transmit_resent(struct quell_flow *flow, const struct quell_segment *segment,
			    u64 depart_ns)
{
	quell_segments_mark(&flow->segments, segment->seq, segment->end_seq, depart_ns);
	flow->resent_ns = segment->stamp_ns;
	flow->resent_seq = segment->seq;
	flow->resent_depart_ns = depart_ns;
	WRITE_ONCE(flow->retransmits, flow->retransmits + 1);
}

struct transmit_options {
	struct quell_opt	opt;	/* the Quell option */
	u32			bytes;	/* of @opt; 0: not sent */
	u32			tcp_int_bytes;	/* 0: not sent */
};

/*
 * Records the segment, and puts into the option when the last bit of its first packet
 * leaves.  Returns when the last bit of the segment has left.
 */
static u64 transmit_sent(struct quell_flow *flow, const struct sock *sk,
			 const struct sk_buff *skb, const struct transmit_place *place,
			 struct transmit_options *options)
{
	const struct net_device *dev = skb_dst(skb)->dev;
	u32 payload_bytes = place->payload_bytes, packets = 1;
	struct quell_segment *segment = NULL, spare QUELL_UNINITIALIZED;
	const struct dst_entry *dst;
	u64 depart_ns;

	if (unlikely(netif_is_l3_master(dev))) {
		/* A VRF with a queue: the socket has the route to the interface below. */
		dst = rcu_dereference(sk->sk_dst_cache);
		dev = dst ? dst->dev : dev;
	}
	if (flow->link.ifindex != dev->ifindex ||
	    flow->link.gen != atomic_read(&flow->qnet->links_gen))
		quell_link_update(flow, dev);
	if (!place->resent) {
		segment = quell_segments_open(flow, sk, place->seq);
		if (!segment) {
			WRITE_ONCE(flow->overruns, flow->overruns + 1);
			quell_count(flow->qnet, QUELL_N_SEGMENT_RING_OVERRUN);
		}
	}
	segment = segment ?: &spare;
	/*
	 * All members: of an incomplete literal the compiler clears the whole first.  A FIN takes a
	 * sequence number but no byte; the time of a byte is neglected.
	 */
	*segment = (struct quell_segment) {
		.depart_ns = 0,
		.seq = place->seq,
		.end_seq = place->end_seq,
		.stamp_ns = ktime_to_ns(skb->tstamp),
		.resent_depart_ns = 0,
		.depart_q16 = 0,
		.header_bytes = skb->len - payload_bytes + options->bytes +
				options->tcp_int_bytes + quell_framing_bytes(dev),
		.packet_bytes = min_t(u32, payload_bytes, U16_MAX),
		.entropy = options->opt.entropy,
		.queued = false,
		.retransmitted = false,
	};
	if (skb_is_gso(skb)) {
		segment->packet_bytes = skb_shinfo(skb)->gso_size;
		packets = skb_shinfo(skb)->gso_segs;
	}
	transmit_depart(flow, segment, max_t(u64, place->now_ns, ktime_to_ns(skb->tstamp)),
			payload_bytes + (u64)packets * segment->header_bytes);
	depart_ns = segment->depart_ns;
	/* Echoes and NACKs name it. */
	if (flow->option == QUELL_OPTION_ON) {
		depart_ns = quell_segment_tx_end_ns(segment, quell_segment_first_end(segment),
						    flow->link.ns_q32);
		options->opt.depart_ns = quell_echo_hide(depart_ns, flow->stamp_secret);
	}
	flow->depart_ns = max(flow->depart_ns, depart_ns);
	if (place->resent)
		transmit_resent(flow, segment, depart_ns);
	return flow->link.ns_q32 ? flow->link.free_ns : segment->depart_ns;
}

/* Whether a segment has the Quell option, which comes first. */
static bool transmit_has_option(const struct sk_buff *skb)
{
	const u8 *options = (const u8 *)(tcp_hdr(skb) + 1);

	return tcp_hdrlen(skb) >= sizeof(struct tcphdr) + QUELL_OPT_EXID_BYTES &&
	       quell_opt_is_experiment(options, options[1], QUELL_OPT_EXID);
}

/* Whether a segment has passed here before: see the top of the file. */
static bool transmit_is_repeat(const struct quell_flow *flow, const struct sk_buff *skb,
			       const struct transmit_place *place)
{
	u32 stamp_ns = ktime_to_ns(skb->tstamp), seq = ntohl(tcp_hdr(skb)->seq);
	const struct quell_segment *segment;

	if (flow->option == QUELL_OPTION_ON && transmit_has_option(skb))
		return true;
	if (!place->has_data)
		return false;
	if (flow->resent_ns == stamp_ns && flow->resent_seq == seq)
		return true;
	segment = quell_segments_find(&flow->segments, seq + 1);
	return segment && segment->stamp_ns == stamp_ns;
}

/* Inserts the options that quell_tcpint_room() and transmit_option() found room for. */
static void transmit_insert(struct quell_flow *flow, struct sk_buff *skb,
			    const struct transmit_options *options)
{
	const struct quell_opt *opt = &options->opt;

	/* The Quell option comes first, so it goes in last. */
	if (options->tcp_int_bytes)
		quell_tcpint_send(flow, skb);
	if (!options->bytes)
		return;
	if (!quell_option_insert(skb, opt, options->bytes)) {
		quell_count(flow->qnet, QUELL_N_OPTION_NO_ROOM);
		return;
	}
	quell_count(flow->qnet, QUELL_N_OPTION_SENT);
	if (opt->flags & QUELL_OPT_F_RECORD)
		quell_count(flow->qnet, QUELL_N_RECORD_ECHOED);
	if (opt->entropy && opt->flags & QUELL_OPT_F_DATA)
		quell_path_label(flow, skb, opt->entropy);
}

/*
 * PSH requests an ACK.  TCP sets it on each burst, too; it is cleared where neither the data
 * ends nor an ACK is requested.  The sum of the segment is computed later, unless a
 * queue of netfilter before this hook has had it computed.  A signature is in it already.
 */
static void transmit_push(const struct sock *sk, struct sk_buff *skb,
			  const struct transmit_place *place)
{
	struct tcphdr *th = tcp_hdr(skb);
	__be32 old = tcp_flag_word(th);

	if (quell_signal_is_signed(sk))
		return;
	if (place->requests_ack)
		th->psh = 1;
	else if (!place->ends)
		th->psh = 0;
	if (tcp_flag_word(th) != old)
		inet_proto_csum_replace4(&th->check, skb, old, tcp_flag_word(th), false);
}

/* Lock of @flow.  Sets the rest of @place. */
static __always_inline void transmit_segment(struct quell_flow *flow, struct sock *sk,
					     struct sk_buff *skb, struct transmit_place *place)
{
	struct transmit_options options QUELL_UNINITIALIZED;
	u64 tx_end_ns = 0;

	place->now_ns = ktime_get_ns();
	options.bytes = 0;
	options.tcp_int_bytes = 0;
	options.opt.entropy = 0;
	if (place->has_data) {
		transmit_find_place(tcp_sk(sk), tcp_hdr(skb), place);
		place->requests_ack = place->resent || place->ends ||
			quell_ack_request_is_due(flow, sk, place->end_seq);
		if (place->requests_ack && !place->resent)
			flow->ack_requested_seq = place->end_seq;
	}
	if (flow->option == QUELL_OPTION_ON)
		options.bytes = transmit_option(flow, sk, skb, place, &options.opt);
	if (quell_tcpint_is_on(flow) && (!place->has_data || place->requests_ack ||
					 READ_ONCE(flow->tcp_int.due)))
		options.tcp_int_bytes = quell_tcpint_room(flow, skb, options.bytes);
	if (place->has_data) {
		if (options.bytes && place->payload_bytes &&
		    quell_algo_has(flow->algo, QUELL_CORE_SPRAYS))
			options.opt.entropy = quell_path_next(flow, sk, skb);
		if (!place->resent && READ_ONCE(flow->delack.has_request))
			quell_delack_data_sent(flow, place->now_ns);
		tx_end_ns = transmit_sent(flow, sk, skb, place, &options);
	}
	transmit_insert(flow, skb, &options);
	if (place->has_data) {
		transmit_push(sk, skb, place);
		quell_tail_sent(flow, place->tail, tx_end_ns, ntohl(tcp_hdr(skb)->ack_seq));
	}
}

static __always_inline void transmit_flow(struct quell_flow *flow, struct sock *sk,
					  struct sk_buff *skb)
{
	struct transmit_place place = {
		.payload_bytes = skb->len - skb_transport_offset(skb) - tcp_hdrlen(skb),
	};

	place.has_data = place.payload_bytes || tcp_hdr(skb)->fin;
	/* A pure ACK without options is the stack's own. */
	if (place.has_data || READ_ONCE(flow->option) == QUELL_OPTION_ON ||
	    quell_tcpint_is_on(flow)) {
		spin_lock_bh(&flow->lock);
		if (!flow->closed && !transmit_is_repeat(flow, skb, &place))
			transmit_segment(flow, sk, skb, &place);
		spin_unlock_bh(&flow->lock);
	}
	if (READ_ONCE(flow->delack.expedited))
		quell_delack_packet_sent(flow, ntohl(tcp_hdr(skb)->ack_seq));
}

static void transmit_offer(struct quell_net *qnet, struct sk_buff *skb)
{
	struct quell_opt opt = { .form = QUELL_OPT_SYN, .version = QUELL_OPT_VERSION };
	u32 bytes;

	if (transmit_has_option(skb))
		return;
	bytes = quell_option_choose(quell_option_room(skb), &opt);
	if (!bytes || !quell_option_insert(skb, &opt, bytes))
		quell_count(qnet, QUELL_N_OPTION_NO_ROOM);
}

/* Accepts the offer of a SYN in the SYN-ACK, if the connection gets a Quell algorithm. */
static void transmit_reply_offer(struct quell_net *qnet, const struct quell_algo *algo,
				 struct sk_buff *skb)
{
	struct quell_offer_key key;

	if (!algo || !quell_signal_listens(qnet))
		return;
	quell_offer_key(&key, skb, tcp_hdr(skb), true, 0);
	if (quell_offer_is_pending(qnet, &key))
		transmit_offer(qnet, skb);
}

/* A SYN, or the SYN-ACK of a full socket: Fast Open or simultaneous open. */
static void transmit_syn(struct sock *sk, struct sk_buff *skb)
{
	const struct quell_algo *algo = quell_algo_of(READ_ONCE(inet_csk(sk)->icsk_ca_ops));
	struct quell_net *qnet = quell_net(sock_net(sk));
	bool syn_ack = tcp_hdr(skb)->ack;

	if (syn_ack && quell_cc_may_be_ready(sk)) {
		transmit_reply_offer(qnet, algo, skb);
		return;
	}
	if (!algo || !quell_signal_offers(qnet, algo))
		return;
	/*
	 * A middlebox may drop SYNs with the option, so later retransmissions omit it.  On
	 * simultaneous open the SYN-ACK must repeat the SYN's offer, not withdraw it.
	 */
	if (syn_ack || READ_ONCE(inet_csk(sk)->icsk_retransmits) <= QUELL_SYN_OFFERS_MAX)
		transmit_offer(qnet, skb);
}

/* Handles a packet of the socket itself, not of a tunnel that carries it. */
static void transmit_packet(struct sock *sk, struct sk_buff *skb)
{
	const struct tcphdr *th = tcp_hdr(skb);
	struct quell_flow *flow;
	u32 key;

	if (th->rst)
		return;
	if (th->syn && READ_ONCE(sk->sk_state) == TCP_NEW_SYN_RECV) {
		sk = inet_reqsk(sk)->rsk_listener;
		/* The route to the peer may name the algorithm of the future connection. */
		key = dst_metric(skb_dst(skb), RTAX_CC_ALGO);
		if (transmit_is_tcp(sk))
			transmit_reply_offer(quell_net(sock_net(sk)), key == TCP_CA_UNSPEC ?
					     quell_algo_of_listener(sk) : quell_algo_by_key(key),
						     skb);
	} else if (th->syn) {
		if (transmit_is_tcp(sk))
			transmit_syn(sk, skb);
	} else {
		flow = quell_flow_find(sk);
		if (flow && ntohs(th->source) == flow->sport && ntohs(th->dest) == flow->dport)
			transmit_flow(flow, sk, skb);
	}
}

/*
 * Whether a packet is of a flow, or opens a connection: most packets beside ours end here.  The
 * private bytes may be another algorithm's by now: they are a hint.
 */
static __always_inline bool transmit_is_ours(const struct sock *sk, const struct sk_buff *skb)
{
	if (!sk)
		return false;
	/* A raw socket's packet may have no TCP header. */
	if (transmit_is_tcp(sk))
		return quell_cc_may_be_ready(sk) || tcp_hdr(skb)->syn;
	return READ_ONCE(sk->sk_state) == TCP_NEW_SYN_RECV;
}

static unsigned int transmit4(void *priv, struct sk_buff *skb,
			      const struct nf_hook_state *state)
{
	if (ip_hdr(skb)->protocol == IPPROTO_TCP && transmit_is_ours(skb->sk, skb))
		transmit_packet(skb->sk, skb);
	return NF_ACCEPT;
}

/* Counts a segment without the option, behind extension headers of the application. */
static void transmit_behind_headers(const struct sock *sk)
{
	struct quell_flow *flow;

	if (!sk || !transmit_is_tcp(sk) || !quell_cc_may_be_ready(sk))
		return;
	flow = quell_flow_find(sk);
	if (flow && READ_ONCE(flow->option) == QUELL_OPTION_ON)
		quell_count(flow->qnet, QUELL_N_OPTION_NO_ROOM);
}

static unsigned int transmit6(void *priv, struct sk_buff *skb,
			      const struct nf_hook_state *state)
{
	u8 next = ipv6_hdr(skb)->nexthdr;

	if (next != NEXTHDR_TCP && !(next == NEXTHDR_HOP && !ipv6_hdr(skb)->payload_len))
		transmit_behind_headers(skb->sk);
	else if (transmit_is_ours(skb->sk, skb))
		transmit_packet(skb->sk, skb);
	return NF_ACCEPT;
}

/*
 * The two netfilter hooks per address family of a namespace, above and in receive.c.
 *
 * They are the ones nearest to TCP: first in LOCAL_OUT, where TCP calls them with the socket
 * lock, before another hook can queue the packet; last in LOCAL_IN, so that they do not see
 * packets that a firewall drops.  Of hooks of equal priority the kernel calls the youngest
 * first: conntrack's confirmation and a chain of priority 2147483647 may follow in LOCAL_IN.
 *
 * A namespace has no hooks until a connection may need them:
 *
 *	it is created while Quell is the default	before its first packet
 *	parameter `option' is 1, or an algorithm that	before the first connection that may
 *	offers the option is registered			offer it
 *	first flow					soon after ->init, by a work item:
 *							->init may be in softirq
 *
 * The stack does not report a changed default.  The hooks stay until the namespace or the
 * module ends, as nf_unregister_net_hook() drops all packets in the namespace's NFQUEUEs.  So
 * a failure does not undo the hooks registered either; the next flow registers the rest.
 *
 * quell_hooks_exit() stops the work first, then unregisters the hooks.  Packets may still be
 * in the hooks: their state must be freed a grace period later, main.c.
 */

static const struct nf_hook_ops hook_ops[] = {
	{
		.hook		= transmit4,
		.pf		= NFPROTO_IPV4,
		.hooknum	= NF_INET_LOCAL_OUT,
		.priority	= NF_IP_PRI_FIRST,
	},
	{
		.hook		= quell_receive4,
		.pf		= NFPROTO_IPV4,
		.hooknum	= NF_INET_LOCAL_IN,
		.priority	= NF_IP_PRI_LAST,
	},
#if IS_ENABLED(CONFIG_IPV6)
	{
		.hook		= transmit6,
		.pf		= NFPROTO_IPV6,
		.hooknum	= NF_INET_LOCAL_OUT,
		.priority	= NF_IP6_PRI_FIRST,
	},
	{
		.hook		= quell_receive6,
		.pf		= NFPROTO_IPV6,
		.hooknum	= NF_INET_LOCAL_IN,
		.priority	= NF_IP6_PRI_LAST,
	},
#endif
};

static_assert(ARRAY_SIZE(hook_ops) == QUELL_HOOKS);

/* Only one caller at a time: quell_hooks_init(), then the work item. */
static void hooks_register(struct quell_net *qnet)
{
	u8 nr = qnet->hooks_nr;

	while (nr < QUELL_HOOKS && !nf_register_net_hook(qnet->net, &hook_ops[nr]))
		nr++;
	if (nr < QUELL_HOOKS)
		quell_count(qnet, QUELL_N_HOOK_REGISTER_FAILED);
	WRITE_ONCE(qnet->hooks_nr, nr);
}

static void hooks_work(struct work_struct *work)
{
	hooks_register(container_of(work, struct quell_net, hooks_work));
}

/* Called before the namespace is in quell_nets. */
void quell_hooks_init(struct quell_net *qnet)
{
	INIT_WORK(&qnet->hooks_work, hooks_work);
	if (quell_signal_needs_hooks(qnet))
		hooks_register(qnet);
}

/* Called after the namespace was removed from quell_nets. */
void quell_hooks_exit(struct quell_net *qnet)
{
	cancel_work_sync(&qnet->hooks_work);
	nf_unregister_net_hooks(qnet->net, hook_ops, qnet->hooks_nr);
}

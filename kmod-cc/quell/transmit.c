// SPDX-License-Identifier: GPL-2.0
/*
 * Signal plane, LOCAL_OUT, last: a segment of a Quell socket leaves.
 *
 * The socket lock is held (by whoever called TCP's output), so the flow behind
 * the private bytes and its departure ring may be touched.
 *	- Data is recorded with the time its first bit leaves:
 *		depart = max(now, earliest departure time of the pacing,
 *			     when the flow's own last segment has left the link)
 *	  so that a burst queued in the flow's own interface is not taken for
 *	  congestion: the serialisation that TIMELY subtracts (section 3.1),
 *	  extended to more than one segment.  Other flows' packets in the same
 *	  interface are congestion and stay in.
 *	- Every packet out keeps the socket in quick-ACK mode, so that each
 *	  packet received is acknowledged at once: windows below one packet
 *	  would otherwise wait for the 40 ms delayed ACK.
 *	- Where both ends offered the Quell option on their SYN, data carries the
 *	  time its last bit leaves, and whatever goes the other way echoes it; if
 *	  the algorithm wants them, room for a telemetry record as well.  It says
 *	  where messages start and end: switches may send one another way.
 *
 * Ignored: IPv6 segments behind extension headers (but the jumbo payload
 * option), and a segment that a VRF with a queue of its own passes to LOCAL_OUT
 * again after the socket lock was dropped.
 */
#include <linux/if_arp.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/tcp.h>
#include <net/dst.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/tcp.h>
#include "internal.h"

/* Ethernet on the wire beside the header: preamble and start 8, FCS 4, gap 12. */
#define ETHER_FRAMING_BYTES	24

/* Quick ACKs left, as many as the field counts. */
#define QUICK_ACKS_MAX		255

/* SYNs with an offer before one without: the first and one retransmission. */
#define SYN_OFFERS_MAX		1

/*
 * The algorithm of a socket.  Of a listener that of connections to come, which is its
 * own only where the application chose it, else the namespace's default as it is
 * then, whatever it was when the listener was made.
 */
static const struct tcp_congestion_ops *transmit_ops(const struct sock *sk)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);

	if (sk->sk_state != TCP_LISTEN || icsk->icsk_ca_setsockopt)
		return READ_ONCE(icsk->icsk_ca_ops);
	return rcu_dereference(sock_net(sk)->ipv4.tcp_congestion_control);
}

/* Whether a full socket is, or listens for, a Quell flow. */
static bool transmit_is_ours(const struct sock *sk)
{
	return sk->sk_type == SOCK_STREAM && sk->sk_protocol == IPPROTO_TCP &&
	       transmit_ops(sk)->release == quell_cc_release;
}

/*
 * The glue of a Quell socket whose lock is held; NULL for any other.  Resets
 * come from a raw socket of protocol TCP, hence the type.
 */
static struct quell_cc *transmit_own_cc(const struct sock *sk)
{
	if (!sk || !sk_fullsock(sk) || !transmit_is_ours(sk))
		return NULL;
	return quell_cc_ready(sk) ? quell_cc(sk) : NULL;
}

/* Bytes on the wire per packet beside its payload. */
static u32 transmit_header_bytes(const struct net_device *dev, u32 ip_tcp_bytes)
{
	u32 framing_bytes = dev->type == ARPHRD_ETHER ? ETHER_FRAMING_BYTES : 0;

	return ip_tcp_bytes + dev->hard_header_len + framing_bytes;
}

/* When the first bit leaves; moves the flow's own end of its link. */
static void transmit_depart(struct quell_flow *flow, struct quell_segment *segment,
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

/* Puts the echo of the data packet this one answers into the option, if any. */
static void transmit_echo(struct quell_flow *flow, const struct sock *sk,
			  struct quell_opt *opt)
{
	struct quell_echo echo;

	if (!quell_echo_take(flow, tcp_sk(sk), &echo))
		return;
	opt->flags |= QUELL_OPT_F_ACK | (echo.marked ? QUELL_OPT_F_CE : 0) |
		      (echo.hardware ? QUELL_OPT_F_HARDWARE : 0);
	opt->echo_ns = echo.depart_ns;
	opt->hold_ns = min_t(u64, ktime_get_ns() - echo.rx_ns, QUELL_OPT_HOLD_MAX_NS);
	opt->echo_entropy = echo.entropy;
	quell_telemetry_echo(&echo, opt);
}

/*
 * Payload of the shortest packet that a segment is cut into: the same is said of all
 * of them, and none is to seem trimmed.
 */
static u32 transmit_payload_bytes(const struct sk_buff *skb, u32 payload_bytes)
{
	u32 rest_bytes;

	if (!skb_is_gso(skb))
		return payload_bytes;
	rest_bytes = payload_bytes % skb_shinfo(skb)->gso_size;
	return rest_bytes ? rest_bytes : skb_shinfo(skb)->gso_size;
}

/* Whether a message starts with this data, and whether it goes on. */
static u8 transmit_message(const struct tcp_sock *tp, const struct tcphdr *th,
			   u32 payload_bytes)
{
	u32 seq = ntohl(th->seq);
	struct quell_opt_place place = {
		.seq = seq,
		.end_seq = seq + payload_bytes + th->fin,
		.snd_una = tp->snd_una,
		.snd_nxt = tp->snd_nxt,
		.write_seq = tp->write_seq,
		.pushed = th->psh || th->fin,
	};

	return quell_opt_message(&place);
}

/*
 * What of the option this packet gets: departure for data, the echo that is
 * due.  A full segment has no room for both, and leaves the echo to the ACK that
 * follows it.  Returns the room it takes, 0 for none.
 */
static u32 transmit_option(struct quell_flow *flow, const struct sock *sk,
			   const struct sk_buff *skb, u32 payload_bytes,
			   struct quell_opt *opt)
{
	u32 bytes;
	u8 flags;

	*opt = (struct quell_opt) { .form = QUELL_OPT_FULL };
	if (payload_bytes) {
		opt->flags = QUELL_OPT_F_DATA |
			     transmit_message(tcp_sk(sk), tcp_hdr(skb), payload_bytes);
		quell_telemetry_send(flow, opt);
		opt->payload_bytes = transmit_payload_bytes(skb, payload_bytes);
	}
	if (!payload_bytes || quell_option_has_room(skb, opt, QUELL_OPT_F_ACK))
		transmit_echo(flow, sk, opt);
	if (!opt->flags)
		return 0;
	flags = opt->flags;
	bytes = quell_option_choose(skb, opt);
	if (!bytes)
		quell_count(flow->qnet, QUELL_N_OPTION_NO_ROOM);
	if (flags != opt->flags)
		quell_count(flow->qnet, QUELL_N_RECORD_NO_ROOM);
	return bytes;
}

/* New data goes into the ring; what goes out again spoils its entries there. */
static void transmit_record(struct quell_flow *flow, const struct sock *sk,
			    const struct quell_segment *segment)
{
	if (before(segment->seq, tcp_sk(sk)->snd_nxt)) {
		quell_segments_mark(&flow->segments, segment->seq, segment->end_seq);
		WRITE_ONCE(flow->retransmits, flow->retransmits + 1);
	} else if (!quell_segments_add(&flow->segments, segment)) {
		WRITE_ONCE(flow->overruns, flow->overruns + 1);
		quell_count(flow->qnet, QUELL_N_SEGMENT_RING_OVERRUN);
	}
}

/* When the last bit of the first packet leaves; the segment is recorded. */
static u64 transmit_sent(struct quell_flow *flow, const struct sock *sk,
			 const struct sk_buff *skb, u32 payload_bytes, u32 option_bytes,
			 u8 entropy)
{
	u32 header_bytes = skb->len - payload_bytes + option_bytes;
	const struct tcphdr *th = tcp_hdr(skb);
	struct quell_segment segment = {
		.seq = ntohl(th->seq),
		.packet_bytes = skb_is_gso(skb) ? skb_shinfo(skb)->gso_size :
						  min_t(u32, payload_bytes, U16_MAX),
		.entropy = entropy,
	};
	u64 earliest_ns = ktime_get_ns();
	u32 packets = 1;

	/* A FIN takes a number but no byte; that byte's time is neglected. */
	segment.end_seq = segment.seq + payload_bytes + th->fin;
	quell_link_update(flow, skb_dst(skb)->dev);
	if (skb_is_gso(skb))
		packets = DIV_ROUND_UP(payload_bytes, segment.packet_bytes);
	segment.header_bytes = transmit_header_bytes(skb_dst(skb)->dev, header_bytes);
	earliest_ns = max_t(u64, earliest_ns, ktime_to_ns(skb->tstamp));
	transmit_depart(flow, &segment, earliest_ns,
			payload_bytes + (u64)packets * segment.header_bytes);
	transmit_record(flow, sk, &segment);
	quell_tail_sent(flow, flow->link.bytes_ps ? flow->link.free_ns : segment.depart_ns);
	return quell_segment_left_ns(&segment, quell_segment_first_end(&segment),
				     flow->link.bytes_ps);
}

static void transmit_flow(struct quell_flow *flow, struct sock *sk, struct sk_buff *skb)
{
	const struct tcphdr *th = tcp_hdr(skb);
	u32 payload_bytes = skb->len - skb_transport_offset(skb) - __tcp_hdrlen(th);
	u32 option_bytes = 0, tcp_int_bytes;
	struct quell_opt opt = {};
	u64 depart_ns;

	if (flow->option == QUELL_OPTION_ON)
		option_bytes = transmit_option(flow, sk, skb, payload_bytes, &opt);
	tcp_int_bytes = quell_tcpint_room(flow, skb, option_bytes);
	if (option_bytes && payload_bytes)
		opt.entropy = quell_path_next(flow, sk, skb);
	if (payload_bytes || th->fin) {
		depart_ns = transmit_sent(flow, sk, skb, payload_bytes,
					  option_bytes + tcp_int_bytes, opt.entropy);
		opt.depart_ns = depart_ns;
		flow->depart_ns = max(flow->depart_ns, depart_ns);
	}
	/* The Quell option comes first, so it goes in last. */
	if (tcp_int_bytes)
		quell_tcpint_send(flow, skb);
	if (!option_bytes)
		return;
	if (!quell_option_insert(skb, &opt)) {
		quell_count(flow->qnet, QUELL_N_OPTION_NO_ROOM);
		return;
	}
	quell_count(flow->qnet, QUELL_N_OPTION_SENT);
	if (opt.flags & QUELL_OPT_F_RECORD)
		quell_count(flow->qnet, QUELL_N_RECORD_ECHOED);
	quell_path_label(flow, skb, opt.entropy);
}

/*
 * The algorithm of a socket that asks for the option.  Where SYNs met, the SYN-ACK
 * says again what the SYN said, and would take it back by not saying it.
 */
static const struct quell_algo *transmit_asks(const struct sock *sk, bool syn_ack)
{
	if (syn_ack && (sk->sk_state != TCP_SYN_RECV || quell_cc_ready(sk)))
		return NULL;
	return quell_cc_algo(sk);
}

/* A SYN, or a SYN-ACK of a connection that is no socket yet. */
static void transmit_syn(struct sock *sk, struct sk_buff *skb)
{
	struct quell_opt opt = { .form = QUELL_OPT_SYN, .version = QUELL_OPT_VERSION };
	struct quell_net *qnet = quell_net(sock_net(sk));
	const struct tcphdr *th = tcp_hdr(skb);
	struct quell_offer_key key;
	u8 own = QUELL_OFFER_MADE;
	bool syn_ack = th->ack;
	struct quell_cc *cc;

	quell_offer_key_of(&key, skb, th, true);
	if (!quell_signal_offers(qnet, &key, transmit_asks(sk, syn_ack), syn_ack))
		return;
	/* Somebody on the way may not like it. */
	if (!syn_ack && inet_csk(sk)->icsk_retransmits > SYN_OFFERS_MAX)
		own = QUELL_OFFER_NONE;
	else if (!quell_option_choose(skb, &opt) || !quell_option_insert(skb, &opt))
		own = QUELL_OFFER_NO_ROOM;
	if (own == QUELL_OFFER_NO_ROOM)
		quell_count(qnet, QUELL_N_OPTION_NO_ROOM);
	quell_offer_own(qnet, &key, own);
	/* The connection of a fast open is there before its SYN-ACK. */
	cc = transmit_own_cc(sk);
	if (cc && cc->flow && syn_ack && cc->flow->option == QUELL_OPTION_NOT_OFFERED)
		quell_signal_open(cc->flow, sk);
}

/* A packet of the socket itself, not of a tunnel it is carried by. */
static void transmit_packet(struct sock *sk, struct sk_buff *skb)
{
	const struct tcphdr *th = tcp_hdr(skb);
	struct quell_cc *cc;

	if (!sk)
		return;
	if (th->syn) {
		if (sk->sk_state == TCP_NEW_SYN_RECV)
			sk = inet_reqsk(sk)->rsk_listener;
		if (sk && sk_fullsock(sk) && transmit_is_ours(sk))
			transmit_syn(sk, skb);
		return;
	}
	cc = transmit_own_cc(sk);
	if (!cc || th->source != inet_sk(sk)->inet_sport ||
	    th->dest != inet_sk(sk)->inet_dport)
		return;
	inet_csk(sk)->icsk_ack.quick = QUICK_ACKS_MAX;
	inet_csk_exit_pingpong_mode(sk);
	if (cc->flow)
		transmit_flow(cc->flow, sk, skb);
}

unsigned int quell_transmit4(void *priv, struct sk_buff *skb,
			     const struct nf_hook_state *state)
{
	if (ip_hdr(skb)->protocol == IPPROTO_TCP)
		transmit_packet(skb->sk, skb);
	return NF_ACCEPT;
}

/* Behind extension headers of the application's: acknowledged at once all the same. */
static void transmit_behind_headers(struct sock *sk)
{
	struct quell_cc *cc = transmit_own_cc(sk);

	if (!cc)
		return;
	inet_csk(sk)->icsk_ack.quick = QUICK_ACKS_MAX;
	inet_csk_exit_pingpong_mode(sk);
	if (cc->flow && cc->flow->option == QUELL_OPTION_ON)
		quell_count(cc->flow->qnet, QUELL_N_OPTION_NO_ROOM);
}

unsigned int quell_transmit6(void *priv, struct sk_buff *skb,
			     const struct nf_hook_state *state)
{
	u8 next = ipv6_hdr(skb)->nexthdr;

	if (next == NEXTHDR_TCP || (next == NEXTHDR_HOP && skb_is_gso(skb)))
		transmit_packet(skb->sk, skb);
	else
		transmit_behind_headers(skb->sk);
	return NF_ACCEPT;
}

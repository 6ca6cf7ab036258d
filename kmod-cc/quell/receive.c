// SPDX-License-Identifier: GPL-2.0
/*
 * Signal plane, LOCAL_IN, first: a segment for a Quell socket came in.
 *
 * The socket lock is not held, nothing of the socket may be trusted; the flow
 * is found by the socket's address.  Time of receipt, acknowledgment number and
 * what the Quell option told go into the flow's arrival ring, for the sample of
 * that ACK; departure and telemetry record that data carried wait for the next
 * packet out.
 * A trimmed packet goes no further: it is answered with a NACK, nack.c.  A NACK that
 * comes in is noted, recover.c, and goes on as an ACK.
 * The option is taken out of the packet.  A segment that TCP will drop, because
 * its checksum or its numbers do not hold, is counted and changes nothing.
 *
 * Ignored: IPv6 segments behind extension headers.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netfilter.h>
#include <linux/tcp.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/tcp.h>
#include <compat/inet_lookup.h>
#include <quell/hops.h>
#include <quell/nack.h>
#include "internal.h"

/* A header this long at most has room for the echo. */
#define IN_ROOM_HEADER_BYTES	32U

/* Numbers this far off are looked at whatever the window. */
#define IN_WINDOW_MIN_BYTES	65536U

/**
 * struct receive_headers - what the headers of a segment that came in say
 * @ip_bytes:	length of the network header
 * @seq:	sequence number
 * @ack_seq:	acknowledgment number
 * @ttl:	time-to-live
 * @marked:	marked CE
 * @had_room:	the header had room for the echo
 * @whole:	the TCP header is all there
 * @acks:	it has the ACK flag
 * @plain:	it has no other
 */
struct receive_headers {
	u32	ip_bytes;
	u32	seq;
	u32	ack_seq;
	u8	ttl;
	bool	marked;
	bool	had_room;
	bool	whole;
	bool	acks;
	bool	plain;
};

/*
 * Whether TCP would look at a segment with these numbers.  The socket is not
 * locked, so the window is taken a little wide: an ACK may be here before the
 * sender has moved snd_nxt, and never is for what was not written.
 */
static bool receive_window(const struct sock *sk, const struct receive_headers *in)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 window = max_t(u32, READ_ONCE(tp->rcv_wnd), IN_WINDOW_MIN_BYTES);
	u32 rcv_nxt = READ_ONCE(tp->rcv_nxt);
	u32 most_bytes = max_t(u32, READ_ONCE(tp->max_window), IN_WINDOW_MIN_BYTES);

	return !before(in->seq, rcv_nxt - window) &&
	       !after(in->seq, rcv_nxt + window) &&
	       (!in->acks ||
		(!after(in->ack_seq, READ_ONCE(tp->write_seq)) &&
		 !before(in->ack_seq, READ_ONCE(tp->snd_una) - most_bytes)));
}

static void receive_seen(struct quell_flow *flow)
{
	quell_count(flow->qnet, QUELL_N_OPTION_RECEIVED);
	if (!READ_ONCE(flow->option_seen))
		WRITE_ONCE(flow->option_seen, true);
}

/* What is to be echoed of a data packet. */
static struct quell_echo receive_echo(const struct receive_headers *in,
				      const struct quell_opt *opt, u32 payload_bytes,
				      const struct quell_arrival *arrival)
{
	return (struct quell_echo) {
		.rx_ns = arrival->rx_ns,
		.seq = in->seq,
		.end_seq = in->seq + payload_bytes,
		.depart_ns = opt->depart_ns,
		.entropy = opt->entropy,
		.marked = in->marked,
		.hardware = arrival->hardware,
	};
}

/* What the other end's option told: into the arrival, and what to echo. */
static void receive_told(struct quell_flow *flow, const struct receive_headers *in,
			 const struct quell_opt *opt, u32 payload_bytes,
			 struct quell_arrival *arrival)
{
	receive_seen(flow);
	if (opt->form == QUELL_OPT_SHORT || opt->flags & QUELL_OPT_F_ACK) {
		arrival->echoed = true;
		arrival->echo_ns = opt->echo_ns;
		arrival->hold_ns = opt->hold_ns;
	}
	quell_telemetry_arrive(flow, opt, arrival);
	arrival->told = opt->flags & QUELL_OPT_F_ACK;
	if (arrival->told)
		quell_path_echo(flow, opt->echo_entropy, opt->flags & QUELL_OPT_F_CE);
	if (opt->flags & QUELL_OPT_F_DATA) {
		struct quell_echo echo = receive_echo(in, opt, payload_bytes, arrival);

		quell_telemetry_note(flow, opt, &echo);
		quell_echo_add(flow, &echo);
	}
}

/* The header was read through, whether the option was taken out or not. */
static u32 receive_payload_bytes(const struct sk_buff *skb, const struct receive_headers *in)
{
	struct tcphdr buffer;
	const struct tcphdr *th;

	th = skb_header_pointer(skb, in->ip_bytes, sizeof(buffer), &buffer);
	return th ? skb->len - in->ip_bytes - __tcp_hdrlen(th) : 0;
}

/*
 * Whether TCP would look at the segment.  What it drops, others may have made up
 * or the way damaged: it must change nothing that is known of the flow, and is
 * counted once.
 */
static bool receive_believed(struct quell_flow *flow, const struct sock *sk,
			     struct sk_buff *skb, const struct receive_headers *in,
			     enum quell_option_result result)
{
	switch (result) {
	case QUELL_OPTION_MALFORMED:
		quell_count(flow->qnet, QUELL_N_OPTION_MALFORMED);
		return receive_window(sk, in);
	case QUELL_OPTION_BAD_CHECKSUM:
		quell_count(flow->qnet, QUELL_N_OPTION_BAD_CHECKSUM);
		return false;
	case QUELL_OPTION_TAKEN:
		if (receive_window(sk, in))
			return true;
		quell_count(flow->qnet, QUELL_N_OPTION_OUT_OF_WINDOW);
		return false;
	case QUELL_OPTION_ABSENT:
		break;
	}
	if (!quell_option_checksum_holds(skb, in->ip_bytes))
		quell_count(flow->qnet, QUELL_N_SEGMENT_BAD_CHECKSUM);
	else if (!receive_window(sk, in))
		quell_count(flow->qnet, QUELL_N_SEGMENT_OUT_OF_WINDOW);
	else
		return true;
	return false;
}

/*
 * A NACK: the segment itself tells TCP nothing, and is dropped where it is of no use.
 * The packet was trimmed where a queue was full, so its entropy is given up as if it
 * had been marked.
 */
static unsigned int receive_nack(struct quell_flow *flow, const struct sock *sk,
				 struct sk_buff *skb, const struct receive_headers *in,
				 const struct quell_nack *nack, const struct quell_opt *opt)
{
	struct quell_lost lost = { .seq = nack->seq, .end_seq = nack->seq + nack->bytes };

	if (opt) {
		receive_seen(flow);
		lost.echoed = opt->flags & QUELL_OPT_F_ACK;
		lost.echo_ns = opt->echo_ns;
		if (lost.echoed)
			quell_path_echo(flow, opt->echo_entropy, true);
	}
	if (quell_recover_note(flow, sk, &lost) && quell_nack_pass(skb, in->ip_bytes, sk))
		return NF_ACCEPT;
	consume_skb(skb);
	return NF_STOLEN;
}

/* Whether a segment is to be read as a NACK; one that is malformed is done with. */
static unsigned int receive_look(struct quell_flow *flow, const struct sock *sk,
				 struct sk_buff *skb, const struct receive_headers *in,
				 const struct quell_opt *opt, bool *done)
{
	enum quell_nack_result found;
	struct quell_nack nack;

	found = quell_nack_read(skb, in->ip_bytes, &nack);
	*done = found != QUELL_NACK_ABSENT;
	if (!*done)
		return NF_ACCEPT;
	WRITE_ONCE(flow->recover.received, flow->recover.received + 1);
	quell_count(flow->qnet, QUELL_N_NACK_RECEIVED);
	if (found == QUELL_NACK_READ)
		return receive_nack(flow, sk, skb, in, &nack, opt);
	quell_count(flow->qnet, QUELL_N_NACK_MALFORMED);
	consume_skb(skb);
	return NF_STOLEN;
}

/* A segment that is the stack's: what it tells is kept for when TCP has seen it. */
static void receive_ordinary(struct quell_flow *flow, const struct receive_headers *in,
			     const struct quell_opt *opt, bool had_room, u32 payload_bytes,
			     struct quell_arrival *arrival)
{
	if (READ_ONCE(flow->hops) != quell_hops(in->ttl))
		WRITE_ONCE(flow->hops, quell_hops(in->ttl));
	if (opt)
		receive_told(flow, in, opt, payload_bytes, arrival);
	else if (had_room && !READ_ONCE(flow->option_seen))
		WRITE_ONCE(flow->option_missed, flow->option_missed + 1);
	quell_arrival_add(flow, arrival);
}

/* A segment TCP would look at; @opt is NULL where there was no option to believe. */
static unsigned int receive_segment(struct quell_flow *flow, struct sock *sk,
				    struct sk_buff *skb, const struct receive_headers *in,
				    const struct quell_opt *opt, bool had_room,
				    struct quell_arrival *arrival)
{
	u32 payload_bytes = receive_payload_bytes(skb, in);
	bool speaks = READ_ONCE(flow->option) == QUELL_OPTION_ON;
	unsigned int verdict;
	bool done;

	if (opt && opt->flags & QUELL_OPT_F_DATA && opt->payload_bytes > payload_bytes) {
		struct quell_echo echo = receive_echo(in, opt, opt->payload_bytes, arrival);

		receive_seen(flow);
		quell_nack_answer(flow, sk, skb, &echo);
		consume_skb(skb);
		return NF_STOLEN;
	}
	if (speaks && !payload_bytes && in->plain) {
		verdict = receive_look(flow, sk, skb, in, opt, &done);
		if (done)
			return verdict;
	}
	if (in->acks)
		receive_ordinary(flow, in, opt, had_room && speaks, payload_bytes, arrival);
	return NF_ACCEPT;
}

static unsigned int receive_flow(struct sock *sk, struct sk_buff *skb,
				 const struct receive_headers *in)
{
	enum quell_option_result result = QUELL_OPTION_ABSENT;
	struct quell_arrival arrival = {
		.ack_seq = in->ack_seq,
		.rx_ns = ktime_get_ns(),
	};
	struct quell_flow *flow;
	struct quell_opt opt;
	bool had_room;

	if (!sk_fullsock(sk))
		return NF_ACCEPT;
	flow = quell_flow_find(sk);
	if (!flow)
		return NF_ACCEPT;
	if (!in->whole) {
		quell_count(flow->qnet, QUELL_N_SEGMENT_MALFORMED);
		return NF_ACCEPT;
	}
	quell_clock_stamp(flow->qnet, skb, &arrival);
	if (READ_ONCE(flow->option) == QUELL_OPTION_ON)
		result = quell_option_take(skb, in->ip_bytes, &opt);
	if (!receive_believed(flow, sk, skb, in, result))
		return NF_ACCEPT;
	quell_tcpint_receive(flow, skb, in->ip_bytes);
	had_room = in->had_room && result == QUELL_OPTION_ABSENT;
	return receive_segment(flow, sk, skb, in, result == QUELL_OPTION_TAKEN ? &opt : NULL,
			       had_room, &arrival);
}

/* A SYN or SYN-ACK: there is no flow yet, what it offers is remembered. */
static void receive_syn(struct net *net, struct sk_buff *skb, const struct tcphdr *th,
			u32 ip_bytes)
{
	struct quell_net *qnet = quell_net(net);
	enum quell_option_result result;
	struct quell_offer_key key;
	struct quell_opt opt;

	if (!quell_signal_listens(qnet))
		return;
	/* TCP drops it, and another comes. */
	if (!quell_option_checksum_holds(skb, ip_bytes)) {
		quell_count(qnet, QUELL_N_SEGMENT_BAD_CHECKSUM);
		return;
	}
	quell_offer_key_of(&key, skb, th, false);
	result = quell_option_take(skb, ip_bytes, &opt);
	if (result == QUELL_OPTION_MALFORMED)
		quell_count(qnet, QUELL_N_OPTION_MALFORMED);
	quell_offer_peer(qnet, &key, result == QUELL_OPTION_TAKEN ? opt.version : 0);
}

static void receive_describe(struct receive_headers *in, const struct sk_buff *skb,
			     const struct tcphdr *th, u32 ip_bytes)
{
	in->ip_bytes = ip_bytes;
	in->seq = ntohl(th->seq);
	in->ack_seq = ntohl(th->ack_seq);
	in->had_room = __tcp_hdrlen(th) <= IN_ROOM_HEADER_BYTES;
	in->whole = __tcp_hdrlen(th) >= sizeof(*th) &&
		    ip_bytes + __tcp_hdrlen(th) <= skb->len;
	in->acks = th->ack;
	in->plain = !(th->fin || th->rst || th->psh || th->urg || th->ece || th->cwr);
}

unsigned int quell_receive4(void *priv, struct sk_buff *skb,
			    const struct nf_hook_state *state)
{
	const struct iphdr *iph = ip_hdr(skb);
	const struct tcphdr *th;
	struct tcphdr buffer;
	unsigned int verdict = NF_ACCEPT;
	struct receive_headers in;
	struct sock *sk;

	if (iph->protocol != IPPROTO_TCP)
		return NF_ACCEPT;
	th = skb_header_pointer(skb, ip_hdrlen(skb), sizeof(buffer), &buffer);
	if (!th)
		return NF_ACCEPT;
	if (th->syn) {
		receive_syn(state->net, skb, th, ip_hdrlen(skb));
		return NF_ACCEPT;
	}
	receive_describe(&in, skb, th, ip_hdrlen(skb));
	if (!in.acks && !in.plain)
		return NF_ACCEPT;
	in.ttl = iph->ttl;
	in.marked = INET_ECN_is_ce(iph->tos);
	if (skb->sk)
		return receive_flow(skb->sk, skb, &in);
	/* Without early demultiplexing nobody has looked yet. */
	sk = quell_inet_lookup(state->net, iph->saddr, th->source, iph->daddr,
			       th->dest, inet_iif(skb), inet_sdif(skb));
	if (sk) {
		verdict = receive_flow(sk, skb, &in);
		sock_gen_put(sk);
	}
	return verdict;
}

#if IS_ENABLED(CONFIG_IPV6)
unsigned int quell_receive6(void *priv, struct sk_buff *skb,
			    const struct nf_hook_state *state)
{
	const struct ipv6hdr *ip6h = ipv6_hdr(skb);
	const struct tcphdr *th;
	struct tcphdr buffer;
	unsigned int verdict = NF_ACCEPT;
	struct receive_headers in;
	struct sock *sk;

	if (ip6h->nexthdr != NEXTHDR_TCP)
		return NF_ACCEPT;
	th = skb_header_pointer(skb, sizeof(*ip6h), sizeof(buffer), &buffer);
	if (!th)
		return NF_ACCEPT;
	if (th->syn) {
		receive_syn(state->net, skb, th, sizeof(*ip6h));
		return NF_ACCEPT;
	}
	receive_describe(&in, skb, th, sizeof(*ip6h));
	if (!in.acks && !in.plain)
		return NF_ACCEPT;
	in.ttl = ip6h->hop_limit;
	in.marked = INET_ECN_is_ce(ipv6_get_dsfield(ip6h));
	if (skb->sk)
		return receive_flow(skb->sk, skb, &in);
	sk = quell_inet6_lookup(state->net, &ip6h->saddr, th->source,
				&ip6h->daddr, th->dest, inet6_iif(skb),
				inet6_sdif(skb));
	if (sk) {
		verdict = receive_flow(sk, skb, &in);
		sock_gen_put(sk);
	}
	return verdict;
}
#endif

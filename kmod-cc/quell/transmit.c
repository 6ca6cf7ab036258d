// SPDX-License-Identifier: GPL-2.0
/*
 * Signal plane, LOCAL_OUT, first: a segment of a Quell socket leaves.
 *
 * TCP calls this with the socket lock, but others call it without: a router of a VRF
 * passes a segment again from its queue, ipvlan after a queue of its own, NFQUEUE when
 * user space has decided, and then the socket may be closed and its algorithm's
 * module gone.  Being first, before whatever may queue, makes all of TCP's calls direct
 * ones; nothing here depends on it.
 *	- A flow is found in the hash by the address of its socket, and is in there only
 *	  while its socket uses it; what changes is under the flow's own lock.
 *	- No operations of a socket are followed, only compared with those known.
 *	- Of the socket nothing is written, and what is read is of its own moment.
 *	- A segment that passes a second time is let go.  Whatever has the Quell option
 *	  has it from here; data has the stamp that TCP gave it when it sent it, which
 *	  is that of its entry, or of the newest retransmission.
 *
 * What is done:
 *	- Data is recorded with the time its first bit leaves:
 *		depart = max(now, earliest departure time of the pacing,
 *			     when the flow's own last segment has left the link)
 *	  so that a burst queued in the flow's own interface is not taken for
 *	  congestion: the serialisation that TIMELY subtracts (section 3.1),
 *	  extended to more than one segment.  Other flows' packets in the same
 *	  interface are congestion and stay in.
 *	- Where both ends speak the Quell option (agree.c), data carries the time its last
 *	  bit leaves, and whatever goes the other way echoes it; if the algorithm
 *	  wants them, room for a telemetry record as well.  It says where messages
 *	  start and end: switches may send one another way.
 *
 * Address translation in OUTPUT comes later: here a segment has the addresses that the
 * socket knows.  So does the firewall, which sees the option, and decides.
 *
 * Ignored: IPv6 segments behind extension headers (but the jumbo payload option).
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
#include <quell/core/signal/echo.h>
#include "agree.h"
#include "counters.h"
#include "flow.h"
#include "net.h"
#include "path.h"
#include "rx.h"
#include "signal.h"
#include "tail.h"
#include "tcpint.h"
#include "tx.h"

/* Ethernet on the wire beside the header: preamble and start 8, FCS 4, gap 12. */
#define ETHER_FRAMING_BYTES	24

/* The algorithm of a connection to come.  The route to the peer may name one. */
static const struct quell_algo *transmit_child_algo(const struct sock *listener,
						    const struct sk_buff *skb)
{
	u32 key = dst_metric(skb_dst(skb), RTAX_CC_ALGO);

	return key == TCP_CA_UNSPEC ? quell_algo_of_listener(listener) : quell_algo_by_key(key);
}

/* Resets come from a raw socket of protocol TCP, hence the type. */
static bool transmit_is_tcp(const struct sock *sk)
{
	return sk && sk_fullsock(sk) && sk->sk_type == SOCK_STREAM &&
	       sk->sk_protocol == IPPROTO_TCP;
}

/*
 * The flow of a socket, NULL for any other.  The private bytes may be another
 * algorithm's by now: they are a hint, which spares others the search.
 */
static struct quell_flow *transmit_find(const struct sock *sk)
{
	if (!transmit_is_tcp(sk) || !quell_cc_ready(sk))
		return NULL;
	return quell_flow_find(sk);
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
	/* If the link frees up within this nanosecond, start at its exact fractional time. */
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
 * Payload of the shortest packet that a segment is cut into.  All packets of a burst carry
 * one option: it states the shortest, or the last packet would look trimmed.
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
	/* Without anything to say it says that it is spoken, until that is in vain. */
	if (!opt->flags && (READ_ONCE(flow->option_seen) || quell_signal_is_vain(flow)))
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
	if (before(segment->seq, READ_ONCE(tcp_sk(sk)->snd_nxt))) {
		quell_segments_mark(&flow->segments, segment->seq, segment->end_seq);
		flow->resent_ns = segment->stamp_ns;
		flow->resent_seq = segment->seq;
		WRITE_ONCE(flow->retransmits, flow->retransmits + 1);
	} else if (!quell_segments_add(flow, sk, segment)) {
		WRITE_ONCE(flow->overruns, flow->overruns + 1);
		quell_count(flow->qnet, QUELL_N_SEGMENT_RING_OVERRUN);
	}
}

/*
 * When the last bit of the first packet leaves; the segment is recorded.  @left_ns is set to
 * when its last bit has left.
 */
static u64 transmit_sent(struct quell_flow *flow, const struct sock *sk,
			 const struct sk_buff *skb, u32 payload_bytes, u32 option_bytes,
			 u8 entropy, u64 *left_ns)
{
	u32 header_bytes = skb->len - payload_bytes + option_bytes;
	const struct tcphdr *th = tcp_hdr(skb);
	struct quell_segment segment = {
		.seq = ntohl(th->seq),
		.packet_bytes = skb_is_gso(skb) ? skb_shinfo(skb)->gso_size :
						  min_t(u32, payload_bytes, U16_MAX),
		.stamp_ns = ktime_to_ns(skb->tstamp),
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
	*left_ns = flow->link.bytes_ps ? flow->link.free_ns : segment.depart_ns;
	return quell_segment_left_ns(&segment, quell_segment_first_end(&segment),
				     flow->link.bytes_ps);
}

/* Whether a segment has the option, which stands first. */
static bool transmit_has_option(const struct sk_buff *skb)
{
	const u8 *options = (const u8 *)(tcp_hdr(skb) + 1);

	return tcp_hdrlen(skb) >= sizeof(struct tcphdr) + QUELL_OPT_EXID_BYTES &&
	       quell_opt_is_experiment(options, options[1], QUELL_OPT_EXID);
}

/* Whether a segment has passed here before: see the top of the file. */
static bool transmit_is_repeat(const struct quell_flow *flow, const struct sk_buff *skb,
			       u32 payload_bytes)
{
	u32 stamp_ns = ktime_to_ns(skb->tstamp), seq = ntohl(tcp_hdr(skb)->seq);
	const struct quell_segment *segment;

	if (transmit_has_option(skb))
		return true;
	if (!payload_bytes && !tcp_hdr(skb)->fin)
		return false;
	if (flow->resent_ns == stamp_ns && flow->resent_seq == seq)
		return true;
	segment = quell_segments_find(&flow->segments, seq + 1);
	return segment && segment->stamp_ns == stamp_ns;
}

/* Puts in what quell_tcpint_room() and transmit_option() found room for. */
static void transmit_insert(struct quell_flow *flow, struct sk_buff *skb,
			    const struct quell_opt *opt, u32 option_bytes, u32 tcp_int_bytes)
{
	/* The Quell option comes first, so it goes in last. */
	if (tcp_int_bytes)
		quell_tcpint_send(flow, skb);
	if (!option_bytes)
		return;
	if (!quell_option_insert(skb, opt)) {
		quell_count(flow->qnet, QUELL_N_OPTION_NO_ROOM);
		return;
	}
	quell_count(flow->qnet, QUELL_N_OPTION_SENT);
	if (opt->flags & QUELL_OPT_F_RECORD)
		quell_count(flow->qnet, QUELL_N_RECORD_ECHOED);
	quell_path_label(flow, skb, opt->entropy);
}

/* When the last bit of the segment has left; 0 for one without a sequence number. */
static u64 transmit_locked(struct quell_flow *flow, struct sock *sk, struct sk_buff *skb,
			   u32 payload_bytes)
{
	u32 option_bytes = 0, tcp_int_bytes;
	struct quell_opt opt = {};
	u64 depart_ns, left_ns = 0;

	if (flow->option == QUELL_OPTION_ON)
		option_bytes = transmit_option(flow, sk, skb, payload_bytes, &opt);
	tcp_int_bytes = quell_tcpint_room(flow, skb, option_bytes);
	if (option_bytes && payload_bytes)
		opt.entropy = quell_path_next(flow, sk, skb);
	if (payload_bytes || tcp_hdr(skb)->fin) {
		depart_ns = transmit_sent(flow, sk, skb, payload_bytes,
					  option_bytes + tcp_int_bytes, opt.entropy, &left_ns);
		opt.depart_ns = quell_echo_hide(depart_ns, flow->stamp_secret);
		flow->depart_ns = max(flow->depart_ns, depart_ns);
	}
	transmit_insert(flow, skb, &opt, option_bytes, tcp_int_bytes);
	return left_ns;
}

static void transmit_flow(struct quell_flow *flow, struct sock *sk, struct sk_buff *skb)
{
	u32 payload_bytes = skb->len - skb_transport_offset(skb) - tcp_hdrlen(skb);
	u64 left_ns = 0;

	spin_lock_bh(&flow->lock);
	if (!flow->closed && !transmit_is_repeat(flow, skb, payload_bytes))
		left_ns = transmit_locked(flow, sk, skb, payload_bytes);
	spin_unlock_bh(&flow->lock);
	if (left_ns)
		quell_tail_sent(flow, left_ns);
}

static void transmit_offer(struct quell_net *qnet, struct sk_buff *skb)
{
	struct quell_opt opt = { .form = QUELL_OPT_SYN, .version = QUELL_OPT_VERSION };

	if (transmit_has_option(skb))
		return;
	if (!quell_option_choose(skb, &opt) || !quell_option_insert(skb, &opt))
		quell_count(qnet, QUELL_N_OPTION_NO_ROOM);
}

/* A SYN-ACK answers what the SYN before it offered, if an algorithm of ours follows. */
static void transmit_answer(struct quell_net *qnet, const struct quell_algo *algo,
			    struct sk_buff *skb)
{
	struct quell_agree_key key;

	if (!algo || !quell_signal_listens(qnet))
		return;
	quell_agree_key(&key, skb, tcp_hdr(skb), true, 0);
	if (quell_agree_answers(qnet, &key))
		transmit_offer(qnet, skb);
}

/* A SYN, or the SYN-ACK of a socket: that of a fast open, or of a simultaneous one. */
static void transmit_syn(struct sock *sk, struct sk_buff *skb)
{
	const struct quell_algo *algo = quell_algo_of(READ_ONCE(inet_csk(sk)->icsk_ca_ops));
	struct quell_net *qnet = quell_net(sock_net(sk));
	bool syn_ack = tcp_hdr(skb)->ack;

	if (syn_ack && quell_cc_ready(sk)) {
		transmit_answer(qnet, algo, skb);
		return;
	}
	if (!algo || !quell_signal_offers(qnet, algo))
		return;
	/*
	 * Somebody on the way may not like it.  On simultaneous open the SYN-ACK must
	 * repeat the offer of the SYN; omitting it would withdraw it.
	 */
	if (syn_ack || READ_ONCE(inet_csk(sk)->icsk_retransmits) <= QUELL_SYN_OFFERS_MAX)
		transmit_offer(qnet, skb);
}

/* A packet of the socket itself, not of a tunnel it is carried by. */
static void transmit_packet(struct sock *sk, struct sk_buff *skb)
{
	const struct tcphdr *th = tcp_hdr(skb);
	struct quell_flow *flow;

	if (!sk || th->rst)
		return;
	if (th->syn && sk->sk_state == TCP_NEW_SYN_RECV) {
		sk = inet_reqsk(sk)->rsk_listener;
		if (transmit_is_tcp(sk))
			transmit_answer(quell_net(sock_net(sk)), transmit_child_algo(sk, skb), skb);
	} else if (th->syn) {
		if (transmit_is_tcp(sk))
			transmit_syn(sk, skb);
	} else {
		flow = transmit_find(sk);
		if (flow && ntohs(th->source) == flow->sport && ntohs(th->dest) == flow->dport)
			transmit_flow(flow, sk, skb);
	}
}

unsigned int quell_transmit4(void *priv, struct sk_buff *skb,
			     const struct nf_hook_state *state)
{
	if (ip_hdr(skb)->protocol == IPPROTO_TCP)
		transmit_packet(skb->sk, skb);
	return NF_ACCEPT;
}

/* Behind extension headers of the application's. */
static void transmit_behind_headers(const struct sock *sk)
{
	struct quell_flow *flow = transmit_find(sk);

	if (flow && READ_ONCE(flow->option) == QUELL_OPTION_ON)
		quell_count(flow->qnet, QUELL_N_OPTION_NO_ROOM);
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

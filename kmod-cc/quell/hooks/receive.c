// SPDX-License-Identifier: GPL-2.0
/*
 * Signal plane, last hook in LOCAL_IN: a segment for a Quell socket was received that no
 * firewall rule, IPsec policy or minimum TTL refuses.
 *
 * The socket lock is not held, so no field of the socket may be trusted; the flow
 * is found by the socket's address.  Time of receipt, acknowledgment number and
 * the contents of the Quell option go into the flow's arrival ring, for the sample
 * of that ACK, unless TCP itself sees the same; departure and telemetry record that data
 * carried are kept for the next packet out.
 * For a trimmed packet a NACK is sent, nack.c, and the packet dropped.  A received NACK is
 * queued, recover.c, and passed on as an ACK.
 * The option is removed from the packet.  A segment that TCP will drop, because its
 * checksum or its numbers are wrong, is counted and changes no state; one that is ordinary
 * (receive_is_ordinary()) changes no state here anyway, and is not checked.  TCP verifies
 * signatures after this hook, so segments of a socket with keys (MD5, TCP-AO) are
 * ignored: such a flow runs on the stack's microsecond clock.
 *
 * Ignored: IPv6 segments behind extension headers.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netfilter.h>
#include <linux/tcp.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/tcp.h>
#include <net/xfrm.h>
#include <compat/inet_lookup.h>
#include <compat/psp.h>
#include <quell/core/signal/echo.h>
#include <quell/hops.h>
#include <quell/nack.h>
#include <quell/option.h>
#include <uapi/linux/pkt_sched_swport.h>
#include "cc/cc.h"
#include "hooks/hooks.h"
#include "signal/dasr.h"
#include "signal/signal.h"

/* As received: the numbers of bytes are those before an option is removed. */
struct receive_headers {
	u32	ip_bytes;
	u32	tcp_bytes;
	s32	payload_bytes;	/* negative: the TCP header is cut off */
	u32	seq;
	u32	ack_seq;
	__be32	flags;	/* tcp_flag_word() */
	u8	ttl;
	bool	marked;	/* CE */
};

/* A received segment of a flow. */
struct receive_segment {
	struct sk_buff			*skb;	/* without the option */
	const struct receive_headers	*in;
	const struct quell_opt		*opt;	/* NULL without a valid one */
	/* It had room for the option, but came without it. */
	bool				missed;
	bool				of_program;	/* where BPF programs put it */
	struct quell_ack_rx		ack_rx;	/* receipt and echo, for the sample */
};

/* Whether the TCP header is complete. */
static inline bool receive_is_whole(const struct receive_headers *in)
{
	return in->tcp_bytes >= sizeof(struct tcphdr) && in->payload_bytes >= 0;
}

/* PSH or FIN. */
static inline bool receive_is_pushed(const struct receive_headers *in)
{
	return in->flags & (TCP_FLAG_PSH | TCP_FLAG_FIN);
}

/*
 * Segments of connections that open, in which offers of the Quell option are noted, option.c.
 */

/*
 * Version of a segment's option, 0 for one that is not of a SYN; -1 without a valid option.
 * With a bad checksum TCP drops the segment, and the peer retransmits it.
 */
static int receive_version(struct net *net, struct sk_buff *skb, u32 ip_bytes)
{
	struct quell_net *qnet = quell_net(net);
	enum quell_option_result result;
	struct quell_opt opt = {};

	result = quell_option_take(skb, ip_bytes, &opt);
	if (result == QUELL_OPTION_MALFORMED)
		quell_count_reported(qnet, QUELL_N_OPTION_MALFORMED);
	if (result == QUELL_OPTION_BAD_CHECKSUM)
		quell_count_reported(qnet, QUELL_N_OPTION_BAD_CHECKSUM);
	return result == QUELL_OPTION_TAKEN ? opt.version : -1;
}

/*
 * The SYN-ACK in SYN_SENT, or the peer's SYN on simultaneous open.  LOCAL_IN hook, RCU; not the
 * socket lock.
 */
static void receive_opening(struct sock *sk, struct sk_buff *skb, const struct tcphdr *th,
			    u32 ip_bytes)
{
	struct quell_net *qnet = quell_net(sock_net(sk));
	const struct tcp_sock *tp = tcp_sk(sk);
	struct quell_offer_key key;

	if (!quell_signal_listens(qnet) ||
	    !quell_algo_of(READ_ONCE(inet_csk(sk)->icsk_ca_ops)))
		return;
	/* Over loopback the SYN-ACK is received before the sender has advanced snd_nxt. */
	if (th->ack && (!after(ntohl(th->ack_seq), READ_ONCE(tp->snd_una)) ||
			after(ntohl(th->ack_seq), READ_ONCE(tp->write_seq))))
		return;
	quell_offer_key(&key, skb, th, false, READ_ONCE(sk->sk_bound_dev_if));
	if (receive_version(sock_net(sk), skb, ip_bytes) > 0)
		quell_offer_store(qnet, &key, 0);
}

/* For a listener, or without a socket.  LOCAL_IN hook, RCU; not the socket lock. */
static void receive_syn(struct net *net, struct sk_buff *skb, const struct receive_headers *in)
{
	struct quell_offer_key key;
	const struct tcphdr *th;
	bool offers;

	if (in->flags & TCP_FLAG_ACK || !quell_signal_listens(quell_net(net)))
		return;
	/* Most SYNs are without the option, and need no key. */
	offers = receive_version(net, skb, in->ip_bytes) > 0;
	if (offers) {
		th = (const struct tcphdr *)(skb->data + in->ip_bytes);
		quell_offer_key(&key, skb, th, false, 0);
	}
	quell_offer_store_syn(quell_net(net), offers ? &key : NULL);
}

/*
 * The segment that completes a passive handshake; TCP calls ->init of the new socket next.
 * LOCAL_IN hook, RCU; not the socket lock.
 */
static void receive_request(const struct request_sock *req, struct sk_buff *skb,
			    const struct tcphdr *th, const struct receive_headers *in)
{
	struct net *net = read_pnet(&inet_rsk(req)->ireq_net);
	struct quell_offer_key key;

	/* With a SYN cookie the numbers are not known yet. */
	if (!(in->flags & TCP_FLAG_ACK) || !receive_is_whole(in) || req->syncookie ||
	    in->ack_seq != tcp_rsk(req)->snt_isn + 1 ||
	    in->seq != tcp_rsk(req)->rcv_isn + 1 || !req->rsk_listener ||
	    !quell_algo_of_listener(req->rsk_listener) || !quell_signal_listens(quell_net(net)))
		return;
	quell_offer_key(&key, skb, th, false, inet_rsk(req)->ir_iif);
	if (receive_version(net, skb, in->ip_bytes) >= 0) {
		quell_count(quell_net(net), QUELL_N_OPTION_RECEIVED);
		quell_offer_store(quell_net(net), &key, 0);
	}
}

/*
 * Data that TCP would accept.
 *
 * It counts for the set of active senders, signal.c, which may take the mark off the packet.
 *
 * When data is acknowledged is TCP's decision, but for two kinds, which are at once:
 *
 *	with PSH	its sender requests that, signal.c; a window of a few packets would
 *			otherwise stall up to 40 ms for a delayed ACK.  A message ends so, too.
 *			With more than ACK_REQUEST_SEGS unacknowledged it is TCP's: it sends an
 *			ACK at once, or when the reader has read the data.  Only the ACK of a
 *			request may be delayed for a prompt reply, probe.c.
 *			A BPF host cannot set PSH: of its data each packet without another in
 *			flight counts as a request, as all of a window of one do
 *	out of order	each hole, and each one filled, is reported to the sender, though TCP
 *			would compress such ACKs (net.ipv4.tcp_comp_sack_nr)
 */

/* A sender of a small window, signal.c, has no more than so many segments in flight. */
#define ACK_REQUEST_SEGS	4

/*
 * Takes the mark off a packet, as if no switch had set it.  Return: false when memory is short,
 * and TCP gets the mark.
 */
static bool receive_hide_mark(struct sk_buff *skb)
{
	bool is_v4 = ip_hdr(skb)->version == 4;
	__be32 before;

	if (skb_ensure_writable(skb, is_v4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr)))
		return false;
	if (is_v4) {
		ipv4_change_dsfield(ip_hdr(skb), (__u8)~INET_ECN_MASK, INET_ECN_ECT_0);
		return true;
	}
	/* TCP subtracts this header from the sum of the packet; IPv4's sums to zero. */
	before = *(__be32 *)ipv6_hdr(skb);
	ipv6_change_dsfield(ipv6_hdr(skb), (__u8)~INET_ECN_MASK, INET_ECN_ECT_0);
	if (skb->ip_summed == CHECKSUM_COMPLETE)
		skb->csum = csum_add(csum_sub(skb->csum, (__force __wsum)before),
				     *(__wsum *)ipv6_hdr(skb));
	return true;
}

/*
 * Whether the packet is beyond missing data, or fills a hole.  Without the lock a hint, and
 * false while a process owns the socket, as TCP does not have the packets before this one either.
 */
static bool receive_is_out_of_order(const struct sock *sk, const struct receive_headers *in)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	/* Either value will do: receive_hasten_ack() checks again with the lock. */
	return !data_race(sock_owned_by_user_nocheck(sk)) &&
	       (in->seq != READ_ONCE(tp->rcv_nxt) ||
		READ_ONCE(tp->out_of_order_queue.rb_node));
}

/*
 * Makes TCP acknowledge a data packet at once, under the lock that TCP takes next anyway.
 * While a process owns the socket the packet goes to the backlog, and TCP decides on its ACK;
 * the flow's timer sends an ACK that is then still due.
 */
static void receive_hasten_ack(struct quell_flow *flow, struct sock *sk,
			       const struct receive_segment *segment)
{
	u32 end_seq = segment->in->seq + segment->in->payload_bytes;
	bool owned;

	local_bh_disable();
	bh_lock_sock_nested(sk);
	owned = sock_owned_by_user(sk);
	if (!owned) {
		inet_csk(sk)->icsk_ack.pending |= ICSK_ACK_NOW;
		/* A process that takes the socket next may send, and must see this. */
		if (!receive_is_out_of_order(sk, segment->in))
			quell_delack_expedite(flow, end_seq);
	}
	bh_unlock_sock(sk);
	local_bh_enable();
	if (owned)
		quell_delack_watch(flow, end_seq);
}

/* Whether the sender requests an ACK that TCP may delay: see "with PSH" above. */
static bool receive_is_ack_requested(const struct sock *sk, const struct receive_segment *segment)
{
	u32 end_seq = segment->in->seq + segment->in->payload_bytes, rcv_wup, full_bytes;

	/* TCP writes it plainly, under its lock: that of a moment ago will do. */
	rcv_wup = data_race(READ_ONCE(tcp_sk(sk)->rcv_wup));
	/* So will this one. */
	full_bytes = data_race(READ_ONCE(inet_csk(sk)->icsk_ack.rcv_mss));
	/* TCP has not measured this segment yet, which may be longer than all before. */
	full_bytes = max_t(u32, full_bytes, skb_is_gso(segment->skb) ?
			   skb_shinfo(segment->skb)->gso_size : segment->in->payload_bytes);
	if (receive_is_pushed(segment->in))
		return end_seq - rcv_wup <= ACK_REQUEST_SEGS * full_bytes;
	return segment->of_program && segment->opt->flags & QUELL_OPT_F_START;
}

/*
 * Whether the ACK of a data packet may be delayed, as the packet ends a message and acknowledges
 * all that this end sent.  Without the option only PSH shows the end.  A sender with a small window
 * sets it within messages, too, signal.c: there, a full last segment, of a packet that GRO may
 * have merged, does not end one.
 */
static bool receive_may_delay_ack(struct quell_flow *flow, const struct sock *sk,
				  const struct receive_segment *segment)
{
	const struct receive_headers *in = segment->in;
	bool ends = receive_is_pushed(in);

	if (segment->opt)
		ends = quell_opt_ends(segment->opt->flags, ends);
	else if (ends && skb_is_gso(segment->skb))
		ends = in->payload_bytes % skb_shinfo(segment->skb)->gso_size;
	else if (ends)
		ends = in->payload_bytes < READ_ONCE(inet_csk(sk)->icsk_ack.rcv_mss);
	if (ends && in->ack_seq == READ_ONCE(tcp_sk(sk)->snd_nxt))
		return quell_delack_start(flow, segment->ack_rx.rx_ns,
					  in->seq + in->payload_bytes, in->marked);
	WRITE_ONCE(flow->delack.has_request, false);
	return false;
}

/* LOCAL_IN hook, RCU; not the socket lock.  The mark of @segment may be taken off. */
static void receive_data(struct quell_flow *flow, struct sock *sk,
			 const struct receive_segment *segment)
{
	if (flow->dasr) {
		struct quell_dasr_packet packet = {
			.ifindex = quell_rx_ifindex(segment->skb),
			.seq = segment->in->seq,
			.end_seq = segment->in->seq + segment->in->payload_bytes,
			.flags = segment->opt ? segment->opt->flags : 0,
			.pushed = receive_is_pushed(segment->in),
			.marked = segment->in->marked,
		};

		if (flow->algo->dasr->receive(flow, sk, &packet) && receive_hide_mark(segment->skb))
			quell_count(flow->qnet, QUELL_N_DASR_MARKS_HIDDEN);
	}
	if (!receive_may_delay_ack(flow, sk, segment) &&
	    (receive_is_ack_requested(sk, segment) || receive_is_out_of_order(sk, segment->in)))
		receive_hasten_ack(flow, sk, segment);
}

/* The hook: the segments that it reads, and their effect. */

/* Maximum length of a TCP header that has room for the echo. */
#define IN_ROOM_HEADER_BYTES	32U

/* Flags by which a segment is more than its numbers, and those of a NACK's segment excluded. */
#define IN_FLAGS	(TCP_FLAG_FIN | TCP_FLAG_SYN | TCP_FLAG_RST | TCP_FLAG_PSH | \
			 TCP_FLAG_ACK | TCP_FLAG_URG)
#define IN_NOT_PLAIN	(TCP_FLAG_FIN | TCP_FLAG_RST | TCP_FLAG_PSH | TCP_FLAG_URG | \
			 TCP_FLAG_ECE | TCP_FLAG_CWR)

/* States of sockets that are not a flow's and of which segments matter: connections that open. */
#define IN_OPENING	(TCPF_SYN_SENT | TCPF_SYN_RECV | TCPF_LISTEN | TCPF_TIME_WAIT | \
			 TCPF_NEW_SYN_RECV)

/* Sequence numbers this far off are accepted with any window. */
#define IN_WINDOW_MIN_BYTES	65536U

/*
 * Whether TCP would accept a segment with these numbers.  The socket is not
 * locked, so the window is taken a little wide: an ACK may be received before the
 * sending CPU has advanced snd_nxt, but never acknowledges data not yet written.
 */
static bool receive_window(const struct sock *sk, const struct receive_headers *in)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 window = max_t(u32, READ_ONCE(tp->rcv_wnd), IN_WINDOW_MIN_BYTES);
	u32 rcv_nxt = READ_ONCE(tp->rcv_nxt);
	u32 most_bytes = max_t(u32, READ_ONCE(tp->max_window), IN_WINDOW_MIN_BYTES);

	return !before(in->seq, rcv_nxt - window) &&
	       !after(in->seq, rcv_nxt + window) &&
	       (!(in->flags & TCP_FLAG_ACK) ||
		(!after(in->ack_seq, READ_ONCE(tp->write_seq)) &&
		 !before(in->ack_seq, READ_ONCE(tp->snd_una) - most_bytes)));
}

static void receive_count_option(struct quell_flow *flow)
{
	quell_count(flow->qnet, QUELL_N_OPTION_RECEIVED);
	if (READ_ONCE(flow->option) != QUELL_OPTION_ON || !READ_ONCE(flow->option_seen) ||
	    READ_ONCE(flow->option_missed))
		quell_signal_confirm(flow);
}

/* Sets the echo of a data packet that was sent with @payload_bytes, but for the record. */
static void receive_set_echo(struct quell_echo *echo, const struct receive_segment *segment,
			     u32 payload_bytes)
{
	echo->rx_ns = segment->ack_rx.rx_ns;
	echo->seq = segment->in->seq;
	echo->end_seq = segment->in->seq + payload_bytes;
	echo->depart_ns = segment->opt->depart_ns;
	echo->entropy = segment->opt->entropy;
	echo->marked = segment->in->marked;
	echo->hardware = segment->ack_rx.hardware;
}

/* Stores the contents of a received option in the arrival. */
static void receive_store_option(struct quell_flow *flow, struct receive_segment *segment)
{
	struct quell_ack_rx *ack_rx = &segment->ack_rx;
	const struct quell_opt *opt = segment->opt;

	receive_count_option(flow);
	if (opt->form == QUELL_OPT_SHORT || opt->flags & QUELL_OPT_F_ACK) {
		ack_rx->has_echo = true;
		ack_rx->echo_ns = opt->echo_ns;
		ack_rx->hold_ns = opt->hold_ns;
	}
	if (flow->dasr)
		quell_dasr_read_option(flow, opt);
	if (opt->flags & QUELL_OPT_F_RECORD && !quell_telemetry_is_empty(opt->record)) {
		quell_count(flow->qnet, QUELL_N_RECORD_RECEIVED);
		memcpy(ack_rx->record, opt->record, sizeof(ack_rx->record));
	}
	ack_rx->has_entropy = opt->flags & QUELL_OPT_F_ACK;
	if (ack_rx->has_entropy && quell_path_is_sprayed(flow))
		quell_path_echo(flow, opt->echo_entropy, opt->flags & QUELL_OPT_F_CE);
}

/*
 * Whether a process owns the socket: TCP then gets the segment from the backlog, later.  If it
 * takes the socket only after this, the ACK gives no sample (ack.c).
 */
static bool receive_is_delayed(const struct sock *sk)
{
	/* A hint: see above. */
	return data_race(sock_owned_by_user_nocheck(sk));
}

/*
 * Queues the receipt of the segment, unless TCP will see the same, and the echo of its data.  If no
 * process owns the socket, TCP has processed the segments before, perhaps without a sample.
 */
static void receive_queue_segment(struct quell_flow *flow, const struct sock *sk,
				  struct receive_segment *segment, bool delayed)
{
	struct quell_ack_rx *ack_rx = &segment->ack_rx, older QUELL_UNINITIALIZED;
	const struct quell_opt *opt = segment->opt;

	spin_lock_bh(&flow->lock);
	if (flow->closed)
		goto unlock;
	/* A flow that does not send the option would never consume echoes. */
	if (opt && opt->flags & QUELL_OPT_F_DATA && flow->option == QUELL_OPTION_ON) {
		struct quell_echo *echo = quell_echo_open(flow, sk);

		receive_set_echo(echo, segment, segment->in->payload_bytes);
		if (opt->flags & QUELL_OPT_F_TELEMETRY) {
			quell_count(flow->qnet, quell_telemetry_is_empty(opt->telemetry) ?
						QUELL_N_RECORD_EMPTY : QUELL_N_RECORD_STAMPED);
			if (!quell_telemetry_is_empty(opt->telemetry))
				memcpy(echo->record, opt->telemetry, sizeof(echo->record));
		}
	}
	if (flow->ack_rx_list.nr && !delayed && quell_ack_rx_take(flow, ack_rx->ack_seq, &older))
		quell_telemetry_keep(ack_rx->record, older.record);
	if (delayed || ack_rx->has_echo || ack_rx->hardware ||
	    !quell_telemetry_is_empty(ack_rx->record))
		quell_ack_rx_add(flow, sk, ack_rx);
unlock:
	spin_unlock_bh(&flow->lock);
}

/*
 * Whether TCP would accept the segment.  A segment that TCP drops may be forged or
 * damaged on the path: it must not change the state of the flow, and is counted
 * once.
 */
static bool receive_believed(struct quell_flow *flow, const struct sock *sk,
			     struct sk_buff *skb, const struct receive_headers *in,
			     enum quell_option_result result)
{
	enum quell_counter fault = result == QUELL_OPTION_TAKEN ? QUELL_N_OPTION_OUT_OF_WINDOW :
								  QUELL_N_SEGMENT_OUT_OF_WINDOW;

	if (result == QUELL_OPTION_MALFORMED)
		quell_count_reported(flow->qnet, QUELL_N_OPTION_MALFORMED);
	if (result == QUELL_OPTION_BAD_CHECKSUM)
		fault = QUELL_N_OPTION_BAD_CHECKSUM;
	else if (result == QUELL_OPTION_ABSENT && !quell_option_checksum_ok(skb, in->ip_bytes))
		fault = QUELL_N_SEGMENT_BAD_CHECKSUM;
	else if (receive_window(sk, in))
		return true;
	if (result != QUELL_OPTION_MALFORMED)
		quell_count_reported(flow->qnet, fault);
	return false;
}

/* Queues a NACK; whether TCP must get it, as an ACK. */
static bool receive_nack(struct quell_flow *flow, const struct sock *sk,
			 const struct receive_segment *segment, const struct quell_nack *nack)
{
	struct quell_lost lost = { .seq = nack->seq, .end_seq = nack->seq + nack->bytes };
	const struct quell_opt *opt = segment->opt;
	u32 ip_bytes = segment->in->ip_bytes;
	struct sk_buff *skb = segment->skb;

	/* A genuine NACK echoes the departure of the trimmed packet. */
	if (!opt || !(opt->flags & QUELL_OPT_F_ACK) ||
	    !quell_nack_is_plausible(skb, ip_bytes, sk)) {
		quell_count_reported(flow->qnet, QUELL_N_NACK_OUTSIDE);
		return false;
	}
	receive_count_option(flow);
	lost.echo_ns = opt->echo_ns;
	lost.entropy = opt->echo_entropy;
	return quell_recover_queue(flow, sk, &lost) && quell_nack_to_ack(skb, ip_bytes, sk);
}

/* Handles a segment that has a NACK, and drops it if it is of no use; @done: it had one. */
static unsigned int receive_check_nack(struct quell_flow *flow, const struct sock *sk,
				       const struct receive_segment *segment, bool *done)
{
	enum quell_nack_result found;
	struct quell_nack nack;

	found = quell_nack_read(segment->skb, segment->in->ip_bytes, &nack);
	*done = found != QUELL_NACK_ABSENT;
	if (!*done)
		return NF_ACCEPT;
	WRITE_ONCE(flow->recover.received, READ_ONCE(flow->recover.received) + 1);
	quell_count(flow->qnet, QUELL_N_NACK_RECEIVED);
	if (found == QUELL_NACK_MALFORMED)
		quell_count_reported(flow->qnet, QUELL_N_NACK_MALFORMED);
	else if (receive_nack(flow, sk, segment, &nack))
		return NF_ACCEPT;
	consume_skb(segment->skb);
	return NF_STOLEN;
}

/*
 * Notes an ordinary segment, for the sample when TCP has processed it; @speaks: the flow
 * uses the option.
 */
static void receive_ordinary(struct quell_flow *flow, const struct sock *sk,
			     struct receive_segment *segment, bool speaks)
{
	u8 hops = quell_hops(segment->in->ttl);
	bool delayed = receive_is_delayed(sk);

	if (READ_ONCE(flow->hops) != hops)
		WRITE_ONCE(flow->hops, hops);
	if (segment->opt)
		receive_store_option(flow, segment);
	else if (segment->missed && speaks && READ_ONCE(flow->option_missed) < U16_MAX)
		WRITE_ONCE(flow->option_missed, READ_ONCE(flow->option_missed) + 1);
	if (segment->opt || segment->ack_rx.hardware || delayed ||
	    READ_ONCE(flow->ack_rx_list.nr))
		receive_queue_segment(flow, sk, segment, delayed);
}

/*
 * Whether a switch has cut off payload: all of it, or the switch states so.  Else the rest is
 * data: a box that cuts segments in two copies the option to both, and neither has as much as
 * it states.  Data of a connection always has the ACK flag; its number was checked.
 */
static bool receive_is_trimmed(const struct receive_segment *segment)
{
	const struct quell_opt *opt = segment->opt;
	const struct sk_buff *skb = segment->skb;
	u8 dsfield;

	if (!opt || !(opt->flags & QUELL_OPT_F_DATA) || !(segment->in->flags & TCP_FLAG_ACK) ||
	    opt->payload_bytes <= segment->in->payload_bytes)
		return false;
	dsfield = ip_hdr(skb)->version == 4 ? ipv4_get_dsfield(ip_hdr(skb)) :
					      ipv6_get_dsfield(ipv6_hdr(skb));
	return !segment->in->payload_bytes || dsfield >> 2 == SWPORT_TRIM_DSCP_DEFAULT;
}

/* A segment that TCP would accept; @speaks: the flow uses the option. */
static __always_inline unsigned int
receive_accepted(struct quell_flow *flow, struct sock *sk, struct receive_segment *segment,
		 bool speaks)
{
	const struct receive_headers *in = segment->in;
	unsigned int verdict;
	bool done;

	if (receive_is_trimmed(segment)) {
		struct quell_echo echo = {};

		receive_set_echo(&echo, segment, segment->opt->payload_bytes);
		receive_count_option(flow);
		quell_nack_send(flow, sk, segment->skb, &echo);
		consume_skb(segment->skb);
		return NF_STOLEN;
	}
	if (speaks && !in->payload_bytes && !(in->flags & IN_NOT_PLAIN)) {
		verdict = receive_check_nack(flow, sk, segment, &done);
		if (done)
			return verdict;
	}
	/* With the ACK flag or without; TCP takes neither data nor acknowledgment of it. */
	if (in->flags & TCP_FLAG_RST) {
		if (flow->dasr)
			flow->algo->dasr->reset(flow, sk, in->seq);
		return NF_ACCEPT;
	}
	/* TCP drops other segments without the ACK flag. */
	if (!(in->flags & TCP_FLAG_ACK))
		return NF_ACCEPT;
	receive_ordinary(flow, sk, segment, speaks);
	if (in->payload_bytes) {
		WRITE_ONCE(flow->data_ack_seq, in->ack_seq);
		receive_data(flow, sk, segment);
	}
	return NF_ACCEPT;
}

/* Whether a whole segment may have the option, though the flow does not use it yet. */
static bool receive_may_offer(const struct quell_flow *flow, const struct sk_buff *skb,
			      const struct receive_headers *in)
{
	return in->tcp_bytes > sizeof(struct tcphdr) &&
	       skb->data[in->ip_bytes + sizeof(struct tcphdr)] == QUELL_OPT_KIND &&
	       quell_signal_listens(flow->qnet);
}

/*
 * The checks that TCP makes before that of the numbers (GTSM of RFC 5082, IPsec policy, PSP), and
 * makes again: a packet that IPsec's policy refuses counts twice in /proc/net/xfrm_stat.
 * A signature cannot be verified here: sockets with keys are refused.
 */
static bool receive_is_admitted(struct sock *sk, struct sk_buff *skb, u8 ttl)
{
	if (quell_signal_is_signed(sk) || !quell_psp_is_authentic(sk, skb))
		return false;
	if (ip_hdr(skb)->version == 4)
		return ttl >= READ_ONCE(inet_sk(sk)->min_ttl) &&
		       xfrm4_policy_check(sk, XFRM_POLICY_IN, skb);
#if IS_ENABLED(CONFIG_IPV6)
	return ttl >= READ_ONCE(inet6_sk(sk)->min_hopcount) &&
	       xfrm6_policy_check(sk, XFRM_POLICY_IN, skb);
#else
	return false;
#endif
}

/*
 * Whether TCP itself finds all that matters in a segment of a flow without the option: its
 * receipt, which is now, and its acknowledgment.  No older receipt is queued.  Data is in order,
 * its sender requests no ACK, and no ACK is delayed for a reply.
 */
static bool receive_is_ordinary(const struct quell_flow *flow, const struct sock *sk,
				const struct sk_buff *skb, const struct receive_headers *in)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if ((in->flags & IN_FLAGS) != TCP_FLAG_ACK || !receive_is_whole(in) || flow->dasr ||
	    quell_tcpint_is_on(flow) || READ_ONCE(flow->ack_rx_list.nr) ||
	    skb_hwtstamps((struct sk_buff *)skb)->hwtstamp ||
	    READ_ONCE(flow->hops) != quell_hops(in->ttl) || receive_is_delayed(sk) ||
	    receive_may_offer(flow, skb, in))
		return false;
	if (!in->payload_bytes)
		return true;
	return !READ_ONCE(flow->delack.has_request) && in->seq == READ_ONCE(tp->rcv_nxt) &&
	       !READ_ONCE(tp->out_of_order_queue.rb_node) &&
	       /* A new number is noted, once the segment was checked. */
	       READ_ONCE(flow->data_ack_seq) == in->ack_seq;
}

static __always_inline unsigned int
receive_flow(struct quell_flow *flow, struct sock *sk, struct sk_buff *skb,
	     const struct receive_headers *in)
{
	/* Before the secret: pairs with quell_signal_open(). */
	bool speaks = smp_load_acquire(&flow->option) == QUELL_OPTION_ON;
	enum quell_option_result result = QUELL_OPTION_ABSENT;
	struct quell_opt opt QUELL_UNINITIALIZED;
	struct receive_segment segment QUELL_UNINITIALIZED;

	if (!(in->flags & (TCP_FLAG_ACK | TCP_FLAG_RST)) && in->flags & IN_NOT_PLAIN)
		return NF_ACCEPT;
	if (!receive_is_whole(in)) {
		quell_count_reported(flow->qnet, QUELL_N_SEGMENT_MALFORMED);
		return NF_ACCEPT;
	}
	if (!receive_is_admitted(sk, skb, in->ttl))
		return NF_ACCEPT;
	segment.skb = skb;
	segment.in = in;
	segment.opt = NULL;
	segment.of_program = false;
	segment.ack_rx = (struct quell_ack_rx) {
		.rx_ns = ktime_get_ns(),
		.ack_seq = in->ack_seq,
	};
	if (skb_hwtstamps(skb)->hwtstamp)
		quell_clock_stamp(flow->qnet, skb, &segment.ack_rx);
	if (speaks || receive_may_offer(flow, skb, in))
		result = quell_option_take(skb, in->ip_bytes, &opt);
	if (!receive_believed(flow, sk, skb, in, result))
		return NF_ACCEPT;
	if (result == QUELL_OPTION_TAKEN) {
		opt.echo_ns = quell_echo_reveal(opt.echo_ns, READ_ONCE(flow->stamp_secret));
		segment.opt = &opt;
		segment.of_program = skb->len == in->ip_bytes + in->tcp_bytes + in->payload_bytes;
	}
	if (in->flags & TCP_FLAG_ACK && quell_tcpint_is_on(flow))
		quell_tcpint_receive(flow, skb, in->ip_bytes);
	segment.missed = in->tcp_bytes <= IN_ROOM_HEADER_BYTES && result == QUELL_OPTION_ABSENT;
	return receive_accepted(flow, sk, &segment, speaks);
}

/*
 * A segment for a socket in any state.  A SYN may be for a listener though it matches
 * another socket: a retransmitted SYN, or one that matches a TIME_WAIT socket.  A program may
 * assign a socket of any protocol (bpf_sk_assign()).
 */
static __always_inline unsigned int
receive_sock(struct sock *sk, struct sk_buff *skb, const struct tcphdr *th,
	     const struct receive_headers *in)
{
	bool full = quell_is_full(sk);
	struct quell_flow *flow;

	if (full && sk->sk_protocol != IPPROTO_TCP)
		return NF_ACCEPT;
	if (full && !th->syn) {
		flow = quell_cc_may_be_ready(sk) ? quell_flow_find(sk) : NULL;
		if (!flow || (READ_ONCE(flow->option) != QUELL_OPTION_ON &&
			      receive_is_ordinary(flow, sk, skb, in)))
			return NF_ACCEPT;
		return receive_flow(flow, sk, skb, in);
	}
	if (full && 1 << READ_ONCE(sk->sk_state) & (TCPF_SYN_SENT | TCPF_SYN_RECV))
		receive_opening(sk, skb, th, in->ip_bytes);
	else if (th->syn)
		receive_syn(sock_net(sk), skb, in);
	else if (READ_ONCE(sk->sk_state) == TCP_NEW_SYN_RECV)
		receive_request(inet_reqsk(sk), skb, th, in);
	return NF_ACCEPT;
}

/* The header is in one piece, as TCP has it next. */
static noinline unsigned int receive_tcp(struct net *net, struct sk_buff *skb, u32 ip_bytes)
{
	struct receive_headers in QUELL_UNINITIALIZED;
	unsigned int verdict = NF_ACCEPT;
	struct sock *sk = skb->sk;
	quell_dasr_meter_t *meter;
	const struct tcphdr *th;
	bool found = false;

	if (!pskb_may_pull(skb, ip_bytes + sizeof(*th)))
		return NF_ACCEPT;
	in.ip_bytes = ip_bytes;
	in.tcp_bytes = __tcp_hdrlen((const struct tcphdr *)(skb->data + ip_bytes));
	in.payload_bytes = skb->len - ip_bytes - in.tcp_bytes;
	if (receive_is_whole(&in) && !pskb_may_pull(skb, ip_bytes + in.tcp_bytes))
		return NF_ACCEPT;
	th = (const struct tcphdr *)(skb->data + ip_bytes);
	in.seq = ntohl(th->seq);
	in.ack_seq = ntohl(th->ack_seq);
	in.flags = tcp_flag_word(th);
	if (ip_hdr(skb)->version == 4) {
		in.ttl = ip_hdr(skb)->ttl;
		in.marked = INET_ECN_is_ce(ip_hdr(skb)->tos);
	} else {
		in.ttl = ipv6_hdr(skb)->hop_limit;
		in.marked = INET_ECN_is_ce(ipv6_get_dsfield(ipv6_hdr(skb)));
	}
	meter = READ_ONCE(quell_dasr_meter);
	if (meter)
		meter(net, skb, ip_bytes + in.tcp_bytes);
	if (!sk) {
		/* Without early demultiplexing there was no lookup of the socket yet. */
#if IS_ENABLED(CONFIG_IPV6)
		if (ip_hdr(skb)->version == 6)
			sk = quell_inet6_lookup(net, skb, th);
		else
#endif
			sk = quell_inet_lookup(net, skb, th);
		found = sk;
	}
	if (sk)
		verdict = receive_sock(sk, skb, th, &in);
	else if (th->syn)
		receive_syn(net, skb, &in);
	if (found)
		sock_gen_put(sk);
	return verdict;
}

/*
 * Whether a segment is for a connection that is no flow's: most segments beside ours end here.  The
 * private bytes are a hint: they may be another algorithm's by now.
 */
static __always_inline bool receive_is_others(const struct sk_buff *skb)
{
	const struct sock *sk = skb->sk;

	return sk && !(1 << READ_ONCE(sk->sk_state) & IN_OPENING) &&
	       (sk->sk_protocol != IPPROTO_TCP || !quell_cc_may_be_ready(sk)) &&
	       !READ_ONCE(quell_dasr_meter);
}

unsigned int quell_receive4(void *priv, struct sk_buff *skb,
			    const struct nf_hook_state *state)
{
	if (ip_hdr(skb)->protocol != IPPROTO_TCP || receive_is_others(skb))
		return NF_ACCEPT;
	return receive_tcp(state->net, skb, ip_hdrlen(skb));
}

#if IS_ENABLED(CONFIG_IPV6)
unsigned int quell_receive6(void *priv, struct sk_buff *skb,
			    const struct nf_hook_state *state)
{
	if (ipv6_hdr(skb)->nexthdr != NEXTHDR_TCP || receive_is_others(skb))
		return NF_ACCEPT;
	return receive_tcp(state->net, skb, sizeof(struct ipv6hdr));
}
#endif

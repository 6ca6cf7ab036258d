// SPDX-License-Identifier: GPL-2.0
/*
 * The signal plane of a connection: TCP-INT, n and line rate of direct apportioning, the state of
 * the Quell option, telemetry, requests for ACKs, paths; and its parameters per namespace, set and
 * shown as an algorithm's under the name "quell".
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/jhash.h>
#include <linux/tcp.h>
#include <net/inet_connection_sock.h>
#include <net/ipv6.h>
#include <net/tcp.h>
#include <compat/net_random.h>
#include <compat/psp.h>
#include <quell/core/dart/share.h>
#include <quell/core/lib/math.h>
#include <quell/option.h>
#include "flow/flow.h"
#include "signal/dasr.h"
#include "signal/signal.h"

/*
 * The hosts' part of the public TCP-INT option (Documentation/tcp-int.md).
 *
 *	out	an empty option, behind the Quell option, in each segment with room for it
 *		that requests an ACK (quell_ack_request_is_due()) or has an echo to carry
 *	in	the values of switches are stored to be echoed; echoes of the peer are
 *		shown and, if enabled, made into telemetry records
 *
 * There is no negotiation: the administrator enables it.  All other options take precedence
 * in the header.  An option directly behind the fixed header is removed for TCP's fast path;
 * elsewhere TCP skips it.
 */

/* 0: no option.  Lock of @flow, LOCAL_OUT hook; the socket lock is not certain. */
u32 quell_tcpint_room(struct quell_flow *flow, const struct sk_buff *skb, u32 other_bytes)
{
	const struct tcphdr *th = tcp_hdr(skb);
	u32 options_bytes = __tcp_hdrlen(th) - sizeof(*th);

	/* It may be inserted already, by another agent of this host or an earlier pass here. */
	if (READ_ONCE(flow->tcp_int_mode) == QUELL_TCPINT_OFF ||
	    quell_tcp_int_find((const u8 *)(th + 1), options_bytes) != options_bytes)
		return 0;
	if (other_bytes + QUELL_TCP_INT_BYTES <= quell_option_room(skb))
		return QUELL_TCP_INT_BYTES;
	quell_count(flow->qnet, QUELL_N_TCP_INT_NO_ROOM);
	return 0;
}

/* Lock of @flow, LOCAL_OUT hook.  Pointers into the headers are stale afterwards. */
void quell_tcpint_send(struct quell_flow *flow, struct sk_buff *skb)
{
	struct quell_tcp_int opt = { .tag_freq = QUELL_TCP_INT_FREQ_SWITCH };
	u8 *place = quell_option_open(skb, QUELL_TCP_INT_BYTES);
	u32 due = READ_ONCE(flow->tcp_int.due);

	if (!place) {
		quell_count(flow->qnet, QUELL_N_TCP_INT_NO_ROOM);
		return;
	}
	quell_tcp_int_unpack(due, &opt);
	quell_tcp_int_encode(&opt, place);
	/* A newer echo is for the next segment. */
	if (due)
		cmpxchg(&flow->tcp_int.due, due, 0);
	quell_count(flow->qnet, QUELL_N_TCP_INT_SENT);
}

static void tcpint_record(struct quell_flow *flow, const struct quell_tcp_int *in)
{
	struct quell_tcp_int out;

	quell_count(flow->qnet, QUELL_N_TCP_INT_RECEIVED);
	if (quell_tcp_int_echo(in, &out))
		WRITE_ONCE(flow->tcp_int.due, quell_tcp_int_pack(&out));
	if (!in->echo_hop)
		return;
	quell_count(flow->qnet, QUELL_N_TCP_INT_ECHOED);
	WRITE_ONCE(flow->tcp_int.newest, quell_tcp_int_pack(in));
	WRITE_ONCE(flow->tcp_int.echoed, quell_tcp_int_pack(in));
}

/*
 * @skb is without the Quell option.  LOCAL_IN hook.  Pointers into the headers may be stale
 * afterwards.
 */
void quell_tcpint_receive(struct quell_flow *flow, struct sk_buff *skb, u32 ip_bytes)
{
	const struct tcphdr *th = quell_option_header(skb, ip_bytes);
	struct quell_tcp_int in;
	u32 options_bytes, at;

	if (!th || __tcp_hdrlen(th) < sizeof(*th) + QUELL_TCP_INT_BYTES)
		return;
	options_bytes = __tcp_hdrlen(th) - sizeof(*th);
	at = quell_tcp_int_find((const u8 *)(th + 1), options_bytes);
	if (at == options_bytes)
		return;
	quell_tcp_int_decode((const u8 *)(th + 1) + at, &in);
	tcpint_record(flow, &in);
	if (!at && skb->len <= IP_MAX_MTU)
		quell_option_remove(skb, ip_bytes, QUELL_TCP_INT_BYTES);
}

/* Such a flow does not request the Quell option's records: no room for both.  Socket lock. */
bool quell_tcpint_used(const struct quell_flow *flow)
{
	return READ_ONCE(flow->tcp_int_mode) == QUELL_TCPINT_USE &&
	       quell_algo_has(flow->algo, QUELL_CORE_TELEMETRY);
}

/* Sets the telemetry in full, or not at all.  Socket lock. */
void quell_tcpint_take(struct quell_flow *flow, struct quell_sample *sample)
{
	struct quell_tcp_int echo = {};
	u32 packed;

	if (!quell_tcpint_used(flow) || !READ_ONCE(flow->tcp_int.echoed))
		return;
	packed = xchg(&flow->tcp_int.echoed, 0);
	quell_tcp_int_unpack(packed, &echo);
	if (quell_tcp_int_record(&flow->tcp_int.link, &echo, sample->now_ns,
				 &sample->telemetry))
		WRITE_ONCE(flow->records, flow->records + 1);
}

/*
 * Direct apportioning of sending rates: a flow as a sender.  The option of the peer's packets has
 * n and, in packets without data, the peer's line rate, both for the next sample.
 *
 * Only packets that TCP would accept, of established connections, get here.
 */

quell_dasr_meter_t *quell_dasr_meter __read_mostly;
EXPORT_SYMBOL_GPL(quell_dasr_meter);

/* @flow has n.  LOCAL_IN hook, RCU read section; TCP would accept the packet. */
void quell_dasr_read_option(struct quell_flow *flow, const struct quell_opt *opt)
{
	struct quell_dasr *dasr = flow->dasr;

	if (opt->form != QUELL_OPT_FULL)
		return;
	if (!(opt->flags & QUELL_OPT_F_ACK)) {
		if (opt->flags & QUELL_OPT_F_DATA)
			WRITE_ONCE(dasr->peer_follows, opt->flags & QUELL_OPT_F_FOLLOWS);
		return;
	}
	WRITE_ONCE(dasr->senders_q8, quell_share_decode(opt->senders));
	if (!(opt->flags & QUELL_OPT_F_DATA)) {
		WRITE_ONCE(dasr->peer_link_bytes_ps, quell_line_decode(opt->entropy));
		WRITE_ONCE(dasr->peer_follows, opt->entropy);
	}
	if (opt->flags & QUELL_OPT_F_CE)
		WRITE_ONCE(dasr->path_marked, true);
}

/* The flow's share counts in the sum of those of its interface; 0: no longer.  Socket lock. */
void quell_dasr_claim(struct quell_flow *flow, u64 bytes_ps)
{
	u32 slot = READ_ONCE(flow->link.ifindex) % QUELL_CLAIMS;
	atomic64_t *claims = flow->qnet->claims;
	struct quell_dasr *dasr = flow->dasr;

	if (dasr->claim_bytes_ps == bytes_ps && (dasr->claim_slot == slot || !bytes_ps))
		return;
	atomic64_sub(dasr->claim_bytes_ps, &claims[dasr->claim_slot]);
	atomic64_add(bytes_ps, &claims[slot]);
	dasr->claim_bytes_ps = bytes_ps;
	dasr->claim_slot = slot;
}

/*
 * The peer's line and n.  Where the own line is slower, and the flows that have data to send would
 * together exceed it by their shares, it is divided in proportion to these: n is larger then.
 * Flows that no n limits do not count, as less than their share may be enough.  Socket lock.
 */
void quell_dasr_sample(struct quell_flow *flow, const struct tcp_sock *tp,
		       struct quell_sample *sample)
{
	u64 peer_bytes_ps = READ_ONCE(flow->dasr->peer_link_bytes_ps), share_bytes_ps = 0, all;
	u64 own_bytes_ps = sample->link_bytes_ps, n_q8 = READ_ONCE(flow->dasr->senders_q8);

	if (n_q8 > QUELL_SHARE_ONE_Q8 && own_bytes_ps && own_bytes_ps < peer_bytes_ps &&
	    (tp->packets_out ||
	     (tp->write_seq != tp->snd_nxt && before(tp->snd_nxt, tcp_wnd_end(tp)))))
		share_bytes_ps = quell_share_of_sender_bytes_ps(own_bytes_ps, peer_bytes_ps, n_q8);
	quell_dasr_claim(flow, share_bytes_ps);
	all = share_bytes_ps ? atomic64_read(&flow->qnet->claims[flow->dasr->claim_slot]) : 0;
	if (all > own_bytes_ps) {
		share_bytes_ps = quell_mul_div_u64(share_bytes_ps, own_bytes_ps, all);
		n_q8 = quell_mul_div_ceil_u64(peer_bytes_ps, QUELL_SHARE_ONE_Q8, share_bytes_ps);
	}
	sample->peer_link_bytes_ps = peer_bytes_ps;
	sample->senders_q8 = min(n_q8, QUELL_SHARE_MAX_Q8);
	WRITE_ONCE(flow->dasr->used_q8, sample->senders_q8);
}

/* Parameters of the signal plane, and the state of the option. */

/* The default of uet-htsim; its cost for TCP: Documentation/path.md. */
#define SIGNAL_ENTROPIES	QUELL_RANGE(64, 0, QUELL_REPS_ENTROPIES_MAX)

/* Reserved in each data segment: without and with a record. */
#define SIGNAL_ROOM_BYTES		12U
#define SIGNAL_ROOM_TELEMETRY_BYTES	(SIGNAL_ROOM_BYTES + QUELL_TELEMETRY_BYTES)

/*
 * Packets in a row without the option, though they had room, that mean it is stripped on the
 * path.  After the first one received, the peer may merely have no echo to send.
 */
#define SIGNAL_MISSED_MAX	32
#define SIGNAL_MISSED_LATER_MAX	1024

/*
 * Probes in a row, and the minimum time before one.  Three at doubling intervals end before
 * TCP's own loss probe is due, after 2 ms at least, and do not postpone that or the timeout.
 * A queue of 1.2 MB at a port of 100 Gbit/s, or interrupt coalescing, may suddenly add 0.1 ms
 * to a round trip.
 */
#define SIGNAL_TAIL_PROBES	QUELL_RANGE(3, 0, 8)
#define SIGNAL_TAIL_FLOOR_NS	QUELL_RANGE(100 * NSEC_PER_USEC, NSEC_PER_USEC, NSEC_PER_SEC)

/*
 * NACKs of a connection per second, a bound on replies to forged trimmed packets.  The default
 * exceeds the rate of 1500-byte packets at 100 Gbit/s.
 */
#define SIGNAL_NACK_RATE	QUELL_RANGE(10000000, 0, 1000000000)

/* Each quarter of a round trip, as bursts are a quarter of the window at most. */
#define SIGNAL_ACKS_PER_RTT	QUELL_RANGE(4, 0, 1000)

/* Half of the time that NICs of 10 to 100 Gbit/s commonly delay their interrupts. */
#define SIGNAL_BURST_NS		QUELL_RANGE(10 * NSEC_PER_USEC, 0, NSEC_PER_MSEC)

#define SIGNAL_PARAM(name_, unit_, field_, range_, doc_) {		\
	.name = (name_), .doc = (doc_), .unit = QUELL_UNIT_##unit_,	\
	.offset = offsetof(struct quell_signal_params, field_), range_,	\
}

static const struct quell_param_desc signal_param_descs[] = {
	SIGNAL_PARAM("option", NONE, option,
		     QUELL_RANGE(QUELL_SIGNAL_OPTION_REPLY, QUELL_SIGNAL_OPTION_OFF,
				 QUELL_SIGNAL_OPTION_REPLY),
		     "Quell TCP option: 0 never, 1 offer it, 2 accept it, offer where needed."),
	SIGNAL_PARAM("tail-probes", NONE, tail_probes, SIGNAL_TAIL_PROBES,
		     "Probes in a row for a lost tail, before TCP's timeout; 0 disables."),
	SIGNAL_PARAM("tail-floor", NS, tail_floor_ns, SIGNAL_TAIL_FLOOR_NS,
		     "Least time without an acknowledgment before a probe."),
	SIGNAL_PARAM("entropies", NONE, entropies, SIGNAL_ENTROPIES,
		     "Path entropies of an IPv6 flow of an algorithm that sprays; 0 disables."),
	SIGNAL_PARAM("recycle", BOOL, recycle, QUELL_RANGE(1, 0, 1),
		     "Path entropies of unmarked packets are used again; 0 draws each."),
	SIGNAL_PARAM("nack-rate", NONE, nack_rate, SIGNAL_NACK_RATE,
		     "NACKs per second for a connection's trimmed packets; 0 disables."),
	SIGNAL_PARAM("acks-per-rtt", NONE, acks_per_rtt, SIGNAL_ACKS_PER_RTT,
		     "ACKs requested per round trip; 0: one for each burst."),
	SIGNAL_PARAM("burst", NS, burst_ns, SIGNAL_BURST_NS,
		     "Time on the link that a window opens by at least; 0 a packet."),
	SIGNAL_PARAM("tcp-int", NONE, tcp_int,
		     QUELL_RANGE(QUELL_TCPINT_OFF, QUELL_TCPINT_OFF, QUELL_TCPINT_USE),
		     "Public TCP-INT option: 0 never, 1 speak it, 2 and use it."),
};

/* Not an algorithm, but it has parameters and a name like one. */
static const struct quell_core signal_core = {
	.name		= "quell",
	.params		= signal_param_descs,
	.params_nr	= ARRAY_SIZE(signal_param_descs),
	.params_bytes	= sizeof(struct quell_signal_params),
};

struct quell_algo quell_signal_algo = { .core = &signal_core };

/* Whether a socket's SYN must offer the option. */
bool quell_signal_offers(const struct quell_net *qnet, const struct quell_algo *algo)
{
	u64 option = quell_signal_params(qnet).option;

	return option == QUELL_SIGNAL_OPTION_OFFER ||
	       (option == QUELL_SIGNAL_OPTION_REPLY && quell_algo_has(algo, QUELL_CORE_OFFERS));
}

/* Whether offers of other hosts are accepted. */
bool quell_signal_listens(const struct quell_net *qnet)
{
	return quell_signal_params(qnet).option != QUELL_SIGNAL_OPTION_OFF;
}

static u32 signal_headers_bytes(const struct sock *sk, const struct quell_flow *flow)
{
	const struct ipv6_txoptions *opt;
	u32 bytes = 0;

	if (flow->family != AF_INET6)
		return 0;
	rcu_read_lock();
	opt = rcu_dereference(inet6_sk(sk)->opt);
	if (opt)
		bytes = opt->opt_flen + opt->opt_nflen;
	rcu_read_unlock();
	return bytes;
}

/*
 * Bytes of each segment that others reserved: extension headers, PSP and IPv4 options.  The
 * stack overwrites the field when an application sets IPv6 options; all else adds to it.
 */
static u32 signal_others_bytes(const struct sock *sk, const struct quell_flow *flow)
{
	u32 now_bytes = inet_csk(sk)->icsk_ext_hdr_len;

	if (flow->family == AF_INET6)
		return signal_headers_bytes(sk, flow) + psp_sk_overhead(sk);
	return now_bytes - min(now_bytes, flow->option_room_bytes);
}

/* Not behind extension headers: 0. */
static u32 signal_room_bytes(const struct sock *sk, const struct quell_flow *flow)
{
	u32 bytes = READ_ONCE(flow->tcp_int_mode) == QUELL_TCPINT_OFF ? 0 : QUELL_TCP_INT_BYTES;

	if (signal_headers_bytes(sk, flow))
		return 0;
	if (READ_ONCE(flow->option) == QUELL_OPTION_ON)
		bytes += quell_algo_has(flow->algo, QUELL_CORE_TELEMETRY) &&
			 !quell_tcpint_used(flow) ?
			 SIGNAL_ROOM_TELEMETRY_BYTES : SIGNAL_ROOM_BYTES;
	return bytes;
}

static void signal_reserve(struct sock *sk, struct quell_flow *flow)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	u32 bytes = signal_room_bytes(sk, flow);

	icsk->icsk_ext_hdr_len = signal_others_bytes(sk, flow) + bytes;
	flow->ext_hdr_bytes = icsk->icsk_ext_hdr_len;
	flow->option_room_bytes = bytes;
	if (sk->sk_state != TCP_CLOSE)
		icsk->icsk_sync_mss(sk, icsk->icsk_pmtu_cookie);
}

/*
 * A signature covers the options; MPTCP's mapping of data (DSS) takes 26 or 28 of the 28 bytes
 * that the timestamps leave.
 */
static bool signal_has_room(const struct sock *sk)
{
	return !quell_signal_is_signed(sk) && !sk_is_mptcp(sk);
}

/* Until the peer sends the option. */
static enum quell_option_state signal_initial_state(const struct quell_flow *flow,
						    const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if (!signal_has_room(sk))
		return quell_signal_listens(flow->qnet) ? QUELL_OPTION_NO_ROOM :
							  QUELL_OPTION_NOT_OFFERED;
	/*
	 * Only the active end offers, in the first two of its SYNs.  The SYN and its data are
	 * acknowledged by now.
	 */
	if (sk->sk_state != TCP_ESTABLISHED || tp->bytes_received ||
	    (tp->bytes_acked > 1 && !tp->syn_data_acked) ||
	    tp->total_retrans > QUELL_SYN_OFFERS_MAX ||
	    !quell_signal_offers(flow->qnet, flow->algo))
		return QUELL_OPTION_NOT_OFFERED;
	return QUELL_OPTION_NO_REPLY;
}

static void signal_key(struct quell_offer_key *key, const struct quell_flow *flow,
		       const struct sock *sk)
{
	*key = (struct quell_offer_key) {
		.local = flow->saddr,
		.peer = flow->daddr,
		.sport = htons(flow->sport),
		.dport = htons(flow->dport),
		.ifindex = sk->sk_bound_dev_if,
	};
}

/* Socket lock, within ->init. */
void quell_signal_open(struct quell_flow *flow, struct sock *sk)
{
	enum quell_option_state state = signal_initial_state(flow, sk);
	u32 stamp_secret = flow->stamp_secret;
	struct quell_offer_key key;

	signal_key(&key, flow, sk);
	if (quell_offer_claim(flow->qnet, &key, &stamp_secret) && signal_has_room(sk)) {
		state = QUELL_OPTION_ON;
		quell_count(flow->qnet, QUELL_N_OPTION_NEGOTIATED);
	}
	spin_lock_bh(&flow->lock);
	WRITE_ONCE(flow->stamp_secret, stamp_secret);
	/* After the secret: pairs with receive_flow(). */
	smp_store_release(&flow->option, state);
	spin_unlock_bh(&flow->lock);
	quell_notify_option(flow, state);
	if (signal_has_room(sk))
		WRITE_ONCE(flow->tcp_int_mode, quell_signal_params(flow->qnet).tcp_int);
	if (!signal_room_bytes(sk, flow))
		return;
	signal_reserve(sk, flow);
	WRITE_ONCE(flow->mss_bytes, tcp_sk(sk)->mss_cache);
}

/*
 * A segment with a valid option was received, the first one or after some without; the next
 * ->cong_control reserves the room.  LOCAL_IN hook, RCU.
 */
void quell_signal_confirm(struct quell_flow *flow)
{
	bool agreed = false;

	WRITE_ONCE(flow->option_seen, true);
	WRITE_ONCE(flow->option_missed, 0);
	if (READ_ONCE(flow->option) == QUELL_OPTION_ON)
		return;
	spin_lock_bh(&flow->lock);
	if (!flow->closed && (flow->option == QUELL_OPTION_NOT_OFFERED ||
			      flow->option == QUELL_OPTION_NO_REPLY)) {
		WRITE_ONCE(flow->option, QUELL_OPTION_ON);
		quell_count(flow->qnet, QUELL_N_OPTION_NEGOTIATED);
		agreed = true;
	}
	spin_unlock_bh(&flow->lock);
	if (agreed)
		quell_notify_option(flow, QUELL_OPTION_ON);
}

/* Stops using the option.  Context: socket lock. */
static void signal_close(struct quell_flow *flow, struct sock *sk, enum quell_option_state state)
{
	spin_lock_bh(&flow->lock);
	WRITE_ONCE(flow->option, state);
	spin_unlock_bh(&flow->lock);
	/* The peer's option is no longer received, nor its n. */
	if (flow->dasr) {
		WRITE_ONCE(flow->dasr->senders_q8, 0);
		WRITE_ONCE(flow->dasr->peer_link_bytes_ps, 0);
		WRITE_ONCE(flow->dasr->peer_follows, false);
	}
	if (flow->option_room_bytes)
		signal_reserve(sk, flow);
}

/* Whether the option seems to be stripped on the path. */
bool quell_signal_is_vain(const struct quell_flow *flow)
{
	return READ_ONCE(flow->option_missed) >= SIGNAL_MISSED_MAX;
}

/*
 * If another Quell algorithm follows, the connection continues to use the option.  Socket lock, or
 * the socket is being destroyed.
 */
void quell_signal_release(struct quell_flow *flow, struct sock *sk)
{
	struct quell_offer_key key;

	if (READ_ONCE(flow->option) == QUELL_OPTION_ON && sk->sk_state == TCP_ESTABLISHED) {
		signal_key(&key, flow, sk);
		quell_offer_store(flow->qnet, &key, flow->stamp_secret);
	}
	WRITE_ONCE(flow->tcp_int_mode, QUELL_TCPINT_OFF);
	signal_close(flow, sk, QUELL_OPTION_NOT_OFFERED);
}

static void signal_give_up(struct quell_flow *flow, struct sock *sk,
			   enum quell_option_state state)
{
	signal_close(flow, sk, state);
	quell_notify_option(flow, state);
}

/* Socket lock, within ->cong_control: not while TCP cuts segments. */
void quell_signal_check(struct quell_flow *flow, struct sock *sk)
{
	u32 most = READ_ONCE(flow->option_seen) ? SIGNAL_MISSED_LATER_MAX : SIGNAL_MISSED_MAX;

	/* An MD5 key may be added to a live connection. */
	if (flow->option_room_bytes && quell_signal_is_signed(sk)) {
		WRITE_ONCE(flow->tcp_int_mode, QUELL_TCPINT_OFF);
		signal_give_up(flow, sk, QUELL_OPTION_NO_ROOM);
		return;
	}
	/* The peer began to use it, or the application's IPv6 options changed. */
	if (signal_room_bytes(sk, flow) != flow->option_room_bytes ||
	    (flow->option_room_bytes && sk->sk_family == AF_INET6 &&
	     inet_csk(sk)->icsk_ext_hdr_len != flow->ext_hdr_bytes))
		signal_reserve(sk, flow);
	if (READ_ONCE(flow->option) != QUELL_OPTION_ON || READ_ONCE(flow->option_missed) < most)
		return;
	quell_count(flow->qnet, QUELL_N_OPTION_STRIPPED);
	signal_give_up(flow, sk, QUELL_OPTION_STRIPPED);
}

/*
 * Telemetry records: from the switches by way of the receiver to the core.
 *
 *	data out	an empty record, if the flow's algorithm requests them
 *	switches	write their record, or leave that of a more loaded hop
 *	data in		the record is stored with the departure to be echoed
 *	ACK out		the record, byte for byte; an empty one is not echoed
 *	ACK in		the record is stored with the receipt until TCP processes the ACK
 *	sample		the newest record of the ACKs processed, decoded
 *
 * A receiver echoes records with any algorithm of its own.  The option is offered in the SYN,
 * so all namespaces but those with `option' 0 need the hooks before a flow exists.
 */

/* Before the first Quell socket: any connection may offer the option, or Quell is the default. */
bool quell_signal_needs_hooks(const struct quell_net *qnet)
{
	bool needs;
	u64 option;
	int i;

	rcu_read_lock_bh();
	option = quell_signal_params_bh(qnet)->option;
	needs = option == QUELL_SIGNAL_OPTION_OFFER ||
		quell_algo_of(rcu_access_pointer(qnet->net->ipv4.tcp_congestion_control));
	for (i = 0; option == QUELL_SIGNAL_OPTION_REPLY && i < QUELL_ALGOS_MAX; i++) {
		const struct quell_algo *algo = READ_ONCE(quell_algos[i]);

		needs = needs || (algo && quell_algo_has(algo, QUELL_CORE_OFFERS));
	}
	rcu_read_unlock_bh();
	return needs;
}

/* After quell_algo_join_nets(), before the algorithm's first socket.  May sleep. */
void quell_telemetry_register(const struct quell_algo *algo)
{
	struct quell_net *qnet;

	if (!quell_algo_has(algo, QUELL_CORE_OFFERS))
		return;
	mutex_lock(&quell_mutex);
	list_for_each_entry(qnet, &quell_nets, node)
		if (quell_signal_needs_hooks(qnet))
			quell_hooks_settle(qnet);
	mutex_unlock(&quell_mutex);
}

/* Socket lock. */
void quell_telemetry_take(struct quell_flow *flow, const struct quell_ack_rx *ack_rx,
			  struct quell_sample *sample)
{
	const struct quell_telemetry *record = &sample->telemetry;

	if (!quell_telemetry_decode(ack_rx->record, &sample->telemetry))
		return;
	WRITE_ONCE(flow->records, flow->records + 1);
	WRITE_ONCE(flow->telemetry.hop, record->hop);
	WRITE_ONCE(flow->telemetry.link_bytes_ps, record->link_bytes_ps);
	WRITE_ONCE(flow->telemetry.queue_bytes, record->queue_bytes);
}

/*
 * ACKs on request, the sender's part: for which data an immediate ACK is requested.
 *
 * A receiver acknowledges as its stack does, every second segment or skb, up to 40 ms late.
 * That suffices for a large window.  A small one cannot afford the delay, and a core needs
 * several samples of a queue per round trip.  So the sender requests ACKs by the PSH flag, the
 * use of which TCP leaves to the sender (RFC 9293, section 3.9.1), and the receiver,
 * receive.c, acknowledges a segment with PSH at once:
 *
 *	small window	ACK_REQUEST_WINDOW_SEGS or less, or so little in flight, as of a paced flow
 *			with a window that is not the limit: with each segment, since the
 *			receiver may have received all data in flight
 *	else		once per window / acks-per-rtt of data: as often per round trip if the
 *			window is the limit, and no more often if something else is; but
 *			not more often than each second burst of the longest, unless a window
 *			has been sent: more than one segment is acknowledged without a request
 *	telemetry	the same, without that limit: switches stamp segments with PSH, and an
 *			ACK without a request has no record
 *	retransmission	always: the ACK reports whether a hole is filled
 *	sprayed flow	with each burst: each tries a path, which the echo names
 *
 * TCP itself sets PSH where the application's data ends, so the last segment of a message
 * always has it; and on each burst, where it is cleared again unless an ACK is requested.  When
 * a burst is segmented, in software or by the NIC, its last packet alone keeps PSH, and the
 * others still merge in GRO.  The flag needs no option, and a receiver without Quell ignores it.
 *
 * The IETF's form of this is the ACK Rate Request option
 * (draft-ietf-tcpm-ack-rate-request), which would need room in each segment with a request.
 */

/*
 * A window of so many segments cannot rely on the receiver's delayed ACKs: it is two of the
 * pairs that these are for, of which a lost ACK may take one.
 */
#define ACK_REQUEST_WINDOW_SEGS	4U

/* An ACK for fewer bursts than a stack without Quell acknowledges would cost more than there. */
#define ACK_REQUEST_BURSTS	2U

/* LOCAL_OUT hook, lock of @flow, bottom halves off; fields of @sk may be of different moments. */
bool quell_ack_request_is_due(const struct quell_flow *flow, const struct sock *sk, u32 end_seq)
{
	u32 acks_per_rtt = quell_signal_params_bh(flow->qnet)->acks_per_rtt;
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 mss_bytes = READ_ONCE(tp->mss_cache), cwnd_pkts = READ_ONCE(tp->snd_cwnd);
	u32 small_bytes = ACK_REQUEST_WINDOW_SEGS * mss_bytes, unrequested_bytes =
		end_seq - flow->ack_requested_seq;
	u64 window_bytes = (u64)cwnd_pkts * mss_bytes;
	u32 burst_bytes = mss_bytes;

	if (!acks_per_rtt || cwnd_pkts <= ACK_REQUEST_WINDOW_SEGS ||
	    unrequested_bytes >= window_bytes ||
	    READ_ONCE(tp->snd_wnd) <= small_bytes ||
	    end_seq - READ_ONCE(tp->snd_una) <= small_bytes)
		return true;
	/* Each burst has an echo of its own, of the path it tried. */
	if (quell_path_is_sprayed(flow))
		return true;
	if ((u64)unrequested_bytes * acks_per_rtt < window_bytes)
		return false;
	/* ACKs without a request echo no record: switches stamp segments with PSH alone. */
	if (quell_algo_has(flow->algo, QUELL_CORE_TELEMETRY))
		return true;
	/* The longest burst; of a route that changes meanwhile it may be the one before. */
	if (data_race(sk_can_gso(sk)))
		burst_bytes = min_t(u32, READ_ONCE(sk->sk_gso_max_segs) * mss_bytes,
				    READ_ONCE(sk->sk_gso_max_size));
	return unrequested_bytes >= ACK_REQUEST_BURSTS * burst_bytes;
}

/*
 * Path of a segment: each segment gets an entropy, recycled as in REPS
 * (<quell/core/signal/reps.h>); Documentation/path.md has the flows that are sprayed.
 *
 *	out:	entropy = REPS
 *		flow label = hash(flow's own label, entropy), in the IPv6 header
 *		entropy, in the Quell option
 *	in:	the ACK echoes entropy and CE mark of the packet acknowledged; the
 *		entropies of unmarked packets are used again
 *
 * The hash is seeded with the label of the first sprayed segment: after a timeout the stack
 * draws another label, which would invalidate the REPS state.  Bit 0x80000, a stateless label
 * (flowlabel_state_ranges), is preserved, and no label becomes 0.
 */

/* Quarters of the minimum round trip; RACK stops at one smoothed round trip. */
#define PATH_REORDERING_STEPS	0xff

#define PATH_LABEL_MASK		((__force u32)ntohl(IPV6_FLOWLABEL_MASK))
#define PATH_LABEL_STATELESS	((__force u32)ntohl(IPV6_FLOWLABEL_STATELESS_FLAG))

/* Lock of @flow, LOCAL_OUT hook.  0: not sprayed. */
u8 quell_path_next(struct quell_flow *flow, const struct sock *sk, const struct sk_buff *skb)
{
	static const enum quell_counter counters[] = {
		[QUELL_REPS_FRESH]	= QUELL_N_ENTROPY_FRESH,
		[QUELL_REPS_RECYCLED]	= QUELL_N_ENTROPY_RECYCLED,
		[QUELL_REPS_FROZEN]	= QUELL_N_ENTROPY_FROZEN,
	};
	bool again = before(ntohl(tcp_hdr(skb)->seq), READ_ONCE(tcp_sk(sk)->snd_nxt));
	struct quell_path *path = &flow->path;
	enum quell_reps_source source;
	u32 entropies = 0;
	u8 entropy;

	/* Not one with a label that the application has set, or without a label. */
	if (quell_algo_has(flow->algo, QUELL_CORE_SPRAYS) && flow->family == AF_INET6 &&
	    !(READ_ONCE(inet6_sk(sk)->flow_label) & IPV6_FLOWLABEL_MASK) &&
	    ip6_flowlabel(ipv6_hdr(skb)))
		entropies = quell_signal_params(flow->qnet).entropies;
	if (entropies && !path->reps) {
		path->reps = quell_sock_alloc(sk, sizeof(*path->reps));
		if (path->reps)
			quell_reps_init(path->reps, quell_net_random_u64(sock_net(sk)));
		else
			entropies = 0;
	}
	if (flow->entropies != entropies)
		WRITE_ONCE(flow->entropies, entropies);
	if (!entropies)
		return 0;
	if (!quell_signal_params(flow->qnet).recycle)
		quell_reps_forget(path->reps);
	entropy = quell_reps_next(path->reps, entropies, again, ktime_get_ns(), &source);
	WRITE_ONCE(path->used[source], path->used[source] + 1);
	quell_count(flow->qnet, counters[source]);
	return entropy;
}

/* Lock of @flow, LOCAL_OUT hook; the headers are writable. */
void quell_path_label(struct quell_flow *flow, struct sk_buff *skb, u8 entropy)
{
	struct ipv6hdr *ip6h = ipv6_hdr(skb);
	u32 label;

	if (!entropy)
		return;
	if (!flow->flow_label)
		flow->flow_label = ntohl(ip6_flowlabel(ip6h));
	label = jhash_2words(flow->flow_label, entropy, 0) & PATH_LABEL_MASK &
		~PATH_LABEL_STATELESS;
	label |= flow->flow_label & PATH_LABEL_STATELESS;
	ip6_flow_hdr(ip6h, ip6_tclass(ip6_flowinfo(ip6h)), htonl(label ? label : 1));
}

/*
 * The smoothed round-trip time in quarters of the minimum.  RACK's own bound is TCP's smoothed
 * round-trip time, which may be 1 ms where the true one is 10 us: TCP measures retransmissions
 * in ticks of its timestamp option.
 */
static u8 path_reo_wnd_steps(const struct quell_flow *flow, const struct tcp_sock *tp)
{
	u32 min_rtt_us = tcp_min_rtt(tp);
	u64 srtt_us = div_u64(flow->tail.srtt_ns + NSEC_PER_USEC - 1, NSEC_PER_USEC);

	if (!srtt_us || min_rtt_us < 4 || min_rtt_us == ~0U)
		return PATH_REORDERING_STEPS;
	return min_t(u64, DIV64_U64_ROUND_UP(srtt_us, min_rtt_us / 4), PATH_REORDERING_STEPS);
}

/*
 * Paths of unequal length reorder segments, so RACK needs its longest window, one round trip.  By
 * itself it widens the window only after spurious retransmissions (DSACK), and resets it.  Socket
 * lock, within ->in_ack_event(), before RACK detects losses.
 */
void quell_path_expect_reordering(const struct quell_flow *flow, struct tcp_sock *tp)
{
	if (!tp->reord_seen)
		tp->reord_seen = 1;
	tp->rack.reo_wnd_steps = path_reo_wnd_steps(flow, tp);
	tp->rack.reo_wnd_persist = TCP_RACK_RECOVERY_THRESH;
}

static void path_echo(struct quell_flow *flow, u8 entropy, bool marked)
{
	struct quell_path *path = &flow->path;
	bool kept;

	if (!flow->entropies || !entropy)
		return;
	kept = quell_reps_echo(path->reps, flow->entropies, entropy,
			       marked || !quell_signal_params(flow->qnet).recycle);
	if (marked) {
		WRITE_ONCE(path->marked, path->marked + 1);
		quell_count(flow->qnet, QUELL_N_ENTROPY_MARKED);
	} else if (kept) {
		WRITE_ONCE(path->kept, path->kept + 1);
		quell_count(flow->qnet, QUELL_N_ENTROPY_KEPT);
	}
}

/* LOCAL_IN hook, RCU read section. */
void quell_path_echo(struct quell_flow *flow, u8 entropy, bool marked)
{
	if (!READ_ONCE(flow->entropies))
		return;
	spin_lock_bh(&flow->lock);
	path_echo(flow, entropy, marked);
	spin_unlock_bh(&flow->lock);
}

/*
 * SACK blocks may leave no room for the echo.  Each reordered packet is acknowledged at once, so
 * such an ACK mostly reports one segment, the entropy of which is in the departure ring.  Lock of
 * @flow, within ->cong_control, before marks are counted.
 */
void quell_path_acked(struct quell_flow *flow, const struct tcp_sock *tp,
		      const struct rate_sample *rs)
{
	const struct quell_segment *segment;

	if (!flow->entropies || !rs->prior_mstamp)
		return;
	segment = quell_segments_find(&flow->segments, rs->last_end_seq);
	if (!segment || segment->retransmitted)
		return;
	path_echo(flow, segment->entropy, tp->delivered_ce !=
		  quell_cc((const struct sock *)tp)->delivered_ce_pkts);
}

/* A path may be dead.  Socket lock; @flow may be NULL. */
void quell_path_on_rto(struct quell_flow *flow)
{
	if (!flow)
		return;
	spin_lock_bh(&flow->lock);
	if (flow->entropies)
		quell_reps_on_rto(flow->path.reps, ktime_get_ns());
	spin_unlock_bh(&flow->lock);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Parameters of the signal plane, per namespace, set and shown as an algorithm's under the name
 * "quell", and the state of the Quell option, per connection.
 */
#include <linux/ipv6.h>
#include <net/inet_connection_sock.h>
#include <net/ipv6.h>
#include <net/tcp.h>
#include <compat/psp.h>
#include "signal/dasr.h"
#include "signal/signal.h"

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
	quell_dasr_forget_n(flow);
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

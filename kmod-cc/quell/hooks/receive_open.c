// SPDX-License-Identifier: GPL-2.0
/*
 * Signal plane, LOCAL_IN: segments of connections that open, in which offers of the Quell option
 * are noted, offer.c.
 */
#include <linux/tcp.h>
#include <net/tcp.h>
#include "hooks/receive.h"
#include "signal/signal.h"

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
void quell_receive_opening(struct sock *sk, struct sk_buff *skb, const struct tcphdr *th,
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
void quell_receive_syn(struct net *net, struct sk_buff *skb, const struct receive_headers *in)
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
void quell_receive_request(const struct request_sock *req, struct sk_buff *skb,
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

// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labnic: values of a sender's socket for the NICs of labnic_credit.c.
 */
#include <linux/net.h>
#include <net/ipv6.h>
#include <net/tcp.h>

#include "labnic_credit.h"

/* Packets that a sender can say to wait for, so that the number is not taken for a smaller one. */
#define CREDIT_WANT_MAX		0x4000

/* Whether an application has more to send than its socket has room for. */
static bool credit_has_writer(const struct sock *sk)
{
	const struct socket *sock = READ_ONCE(sk->sk_socket);

	return sock && test_bit(SOCK_NOSPACE, &sock->flags);
}

/*
 * Packets that a socket would send now, up to CREDIT_WANT_MAX.  Packets lost are included, those
 * that the receiver's window has no room for are not.  A socket may lack the data that
 * waits to be written, so that counts as much as possible.
 */
u32 labnic_credit_pending_pkts(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 again_pkts = tp->lost_out > tp->retrans_out ? tp->lost_out - tp->retrans_out : 0;
	u32 end_seq = before(tp->write_seq, tcp_wnd_end(tp)) ? tp->write_seq : tcp_wnd_end(tp);
	s32 new_bytes = end_seq - tp->snd_nxt;

	if (tp->snd_nxt != tcp_wnd_end(tp) && credit_has_writer(sk))
		return CREDIT_WANT_MAX;
	if (new_bytes > 0)
		again_pkts += DIV_ROUND_UP(new_bytes, max_t(u32, tp->mss_cache, 1));
	return min_t(u32, again_pkts, CREDIT_WANT_MAX);
}

/*
 * How many credits would let a socket send all that it has.  Returns packets since the connection
 * was made.
 */
u32 labnic_credit_wanted_pkts(const struct sock *sk)
{
	return tcp_sk(sk)->data_segs_out + labnic_credit_pending_pkts(sk);
}

struct labnic_credit_key labnic_credit_key_of(const struct sock *sk)
{
	const struct inet_sock *inet = inet_sk(sk);
	struct labnic_credit_key key = {
		.sport = inet->inet_sport, .dport = inet->inet_dport,
	};

	if (sk->sk_family == AF_INET) {
		ipv6_addr_set_v4mapped(inet->inet_saddr, &key.from);
		ipv6_addr_set_v4mapped(inet->inet_daddr, &key.to);
#if IS_ENABLED(CONFIG_IPV6)
	} else {
		key.from = inet6_sk(sk)->saddr;
		key.to = sk->sk_v6_daddr;
#endif
	}
	return key;
}

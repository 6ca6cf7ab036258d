// SPDX-License-Identifier: GPL-2.0
/*
 * For algorithms that are rates: how many share the host, and a departure that
 * is waiting when the rate falls.
 */
#include <linux/math64.h>
#include <net/tcp.h>
#include "internal.h"

/**
 * quell_other_flows() - Quell sockets of the namespace beside this one
 * @sk: socket of a Quell algorithm
 *
 * Idle ones count: whether they will send is not known.
 *
 * Context: socket lock.
 * Return: their number.
 */
u32 quell_other_flows(const struct sock *sk)
{
	int socks = atomic_read(&quell_net(sock_net(sk))->socks);

	return socks > 1 ? socks - 1 : 0;
}
EXPORT_SYMBOL_GPL(quell_other_flows);

/**
 * quell_repace() - put off a departure that a higher rate allowed
 * @sk: socket of a Quell algorithm, after quell_apply()
 *
 * The stack computes the delay after a segment when it sends it.  When the
 * rate fell since, the delay is computed again, as TIMELY's scheduler does
 * (section 5).  The timer that is set for the old time finds the new one and
 * is set again.  Nothing is brought forward, and the fq qdisc, which knows only
 * what it was given, is not affected.
 *
 * Context: socket lock.
 */
void quell_repace(struct sock *sk)
{
	const struct quell_flow *flow = quell_cc(sk)->flow;
	unsigned long rate = READ_ONCE(sk->sk_pacing_rate);
	const struct quell_segment *last;
	struct tcp_sock *tp = tcp_sk(sk);
	u64 next_ns;

	if (!flow || !flow->segments.ring || !rate || rate == ~0UL ||
	    tp->tcp_wstamp_ns <= tp->tcp_clock_cache ||
	    READ_ONCE(sk->sk_pacing_status) != SK_PACING_NEEDED)
		return;
	/* Acknowledged or not: the ring keeps what it drops until it comes round. */
	last = &flow->segments.ring[(flow->segments.tail - 1) & (flow->segments.size - 1)];
	/* A retransmission was paced since: its delay is not in the ring. */
	if (last->end_seq != tp->snd_nxt || last->retransmitted || last->queued)
		return;
	next_ns = last->depart_ns +
		  div64_ul((u64)(last->end_seq - last->seq) * NSEC_PER_SEC, rate);
	tp->tcp_wstamp_ns = max(tp->tcp_wstamp_ns, next_ns);
}
EXPORT_SYMBOL_GPL(quell_repace);

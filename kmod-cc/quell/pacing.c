// SPDX-License-Identifier: GPL-2.0
/*
 * How an algorithm starts, and for those that are rates: how many share the host, how much
 * leaves between two delays, and a departure that is waiting when the rate falls.
 */
#include <linux/math64.h>
#include <net/tcp.h>
#include "flow.h"
#include "net.h"
#include "tx.h"

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

/* Segments the stack may not exceed; a route change makes it forget. */
static u32 limit_burst(struct sock *sk, u32 pkts)
{
	if (sk->sk_gso_max_segs > pkts)
		sk->sk_gso_max_segs = pkts;
	return pkts;
}

/**
 * quell_segment_pkts() - ->min_tso_segs of an algorithm with ->segment_pkts
 * @sk: its socket
 *
 * Packets between two pacing delays.  This is the least the stack's autosizing
 * may choose; the socket's largest burst, set beside it, makes it the most, for
 * at datacenter round-trip times autosizing wants 64 KB whatever the rate.
 *
 * Context: socket lock.
 * Return: packets, at least 1.
 */
u32 quell_segment_pkts(struct sock *sk)
{
	struct quell_event ev;
	u32 pkts;

	if (!quell_cc_ready(sk))
		return 1;
	quell_cc_enter(sk, &ev);
	pkts = quell_cc(sk)->algo->core->segment_pkts(ev.params, tcp_sk(sk)->mss_cache);
	quell_cc_leave();
	return limit_burst(sk, pkts);
}

/**
 * quell_start_core() - an algorithm starts a flow
 * @sk: socket of a Quell algorithm
 * @ev: its event, entered, with its sample; the decision is set
 *
 * Context: socket lock.
 */
void quell_start_core(struct sock *sk, struct quell_event *ev)
{
	const struct quell_core *core = quell_cc(sk)->algo->core;

	ev->first_rtt_ns = quell_first_rtt_ns(sk);
	ev->other_flows = quell_other_flows(sk);
	core->init(ev);
	if (core->segment_pkts)
		limit_burst(sk, core->segment_pkts(ev->params, ev->sample.mss_bytes));
}

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
	struct quell_flow *flow = quell_cc(sk)->flow;
	unsigned long rate = READ_ONCE(sk->sk_pacing_rate);
	struct quell_segment last;
	struct tcp_sock *tp = tcp_sk(sk);
	u64 next_ns;

	if (!flow || !rate || rate == ~0UL || tp->tcp_wstamp_ns <= tp->tcp_clock_cache ||
	    READ_ONCE(sk->sk_pacing_status) != SK_PACING_NEEDED ||
	    !quell_segments_newest(flow, &last))
		return;
	/* A retransmission was paced since: its delay is not in the ring. */
	if (last.end_seq != tp->snd_nxt || last.retransmitted || last.queued)
		return;
	next_ns = last.depart_ns +
		  div64_ul((u64)(last.end_seq - last.seq) * NSEC_PER_SEC, rate);
	tp->tcp_wstamp_ns = max(tp->tcp_wstamp_ns, next_ns);
}
EXPORT_SYMBOL_GPL(quell_repace);

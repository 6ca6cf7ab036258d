// SPDX-License-Identifier: GPL-2.0
/* Start of an algorithm, and pacing of rate-based ones.  Context: socket lock. */
#include <linux/math64.h>
#include <net/tcp.h>
#include "tcp/tcp.h"
#include "tcp/tcp_internals.h"

/* Of the namespace, idle ones included. */
u32 quell_other_flows(const struct sock *sk)
{
	int socks = atomic_read(&quell_net(sock_net(sk))->socks);

	return socks > 1 ? socks - 1 : 0;
}

/*
 * Limits the socket's TSO bursts to @pkts, and to the interface's limit as sk_setup_caps() does; a
 * route change resets the limit to that.  Socket lock.  RCU protects the interface: ->min_tso_segs
 * is called by processes, too.
 */
void quell_limit_burst(struct sock *sk, u32 pkts)
{
	u32 limit_pkts = sk->sk_gso_max_segs;
	const struct dst_entry *dst;

	if (!sk_can_gso(sk))
		return;
	if (pkts > limit_pkts) {
		rcu_read_lock();
		dst = __sk_dst_get(sk);
		pkts = dst ? min_t(u32, pkts, max_t(u32, READ_ONCE(dst->dev->gso_max_segs), 1)) :
			     limit_pkts;
		rcu_read_unlock();
	}
	if (pkts != limit_pkts)
		WRITE_ONCE(sk->sk_gso_max_segs, pkts);
}

/*
 * ->min_tso_segs of an algorithm with ->segment_pkts: packets between two pacing delays, the
 * minimum, and by quell_limit_burst() the maximum of TSO autosizing, which at datacenter
 * round-trip times chooses 64 KB at any rate.
 */
u32 quell_segment_pkts(struct sock *sk)
{
	struct quell_event ev QUELL_UNINITIALIZED;
	u32 pkts;

	if (!quell_cc_ready(sk))
		return 1;
	quell_cc_enter(sk, &ev);
	pkts = quell_cc(sk)->algo->core->segment_pkts(ev.params, tcp_sk(sk)->mss_cache);
	quell_cc_leave();
	quell_limit_burst(sk, pkts);
	return pkts;
}

/* After quell_cc_enter(); completes the sample. */
void quell_start_core(struct sock *sk, struct quell_event *ev)
{
	const struct quell_core *core = quell_cc(sk)->algo->core;

	ev->sample.min_rtt_ns = quell_srtt_ns(sk);
	ev->sample.other_flows = quell_other_flows(sk);
	quell_core_call(ev, core->init);
	if (core->segment_pkts)
		quell_limit_burst(sk, core->segment_pkts(ev->params, ev->sample.mss_bytes));
}

/*
 * The stack computes the delay after a segment when it sends it.  If the rate has fallen since,
 * the delay is computed again, as TIMELY's scheduler does (section 5); the pacing timer set for
 * the old time is set again.  A departure is never brought forward, and flows that the fq qdisc
 * paces are not affected.
 */
void quell_repace(struct sock *sk)
{
	struct quell_flow *flow = quell_cc(sk)->flow;
	unsigned long rate = READ_ONCE(sk->sk_pacing_rate);
	struct quell_segment last QUELL_UNINITIALIZED;
	struct tcp_sock *tp = tcp_sk(sk);
	u64 next_ns;

	if (!flow || !rate || rate == ~0UL || tp->tcp_wstamp_ns <= tp->tcp_clock_cache ||
	    READ_ONCE(sk->sk_pacing_status) != SK_PACING_NEEDED ||
	    !quell_segments_newest(flow, &last))
		return;
	/* The newest delay may be a retransmission's, which is not in the ring. */
	if (last.end_seq != tp->snd_nxt || last.retransmitted || last.queued)
		return;
	next_ns = last.depart_ns +
		  div64_ul((u64)(last.end_seq - last.seq) * NSEC_PER_SEC, rate);
	tp->tcp_wstamp_ns = max(tp->tcp_wstamp_ns, next_ns);
}
EXPORT_SYMBOL_GPL(quell_repace);

/*
 * Ends pacing that began here, unless the application limits its rate since
 * (SO_MAX_PACING_RATE).  The next departure is brought forward but with fq, which sorts by it.
 */
static void release_status(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (READ_ONCE(sk->sk_pacing_status) != SK_PACING_NEEDED)
		return;
	if (READ_ONCE(sk->sk_max_pacing_rate) != ~0UL)
		return;
	tp->tcp_wstamp_ns = min(tp->tcp_wstamp_ns, tp->tcp_clock_cache);
	if (quell_cc(sk)->paces)
		cmpxchg(&sk->sk_pacing_status, SK_PACING_NEEDED, SK_PACING_NONE);
}

/*
 * Resets the limit of bursts to that of the interface; window and MSS are those for the next
 * algorithm.  Socket lock and RCU read section, or the socket is being destroyed.
 */
void quell_pacing_release(struct sock *sk)
{
	release_status(sk);
	if (sk->sk_state == TCP_CLOSE)
		return;
	quell_tcp_update_pacing_rate(sk);
	quell_limit_burst(sk, U32_MAX);
}

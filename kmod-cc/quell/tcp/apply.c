// SPDX-License-Identifier: GPL-2.0
/*
 * Writes to TCP's state: the decisions of cores, pacing, the search and CUBIC of flows fitted to
 * their path, and echoes of CE marks.
 */
#include <linux/jhash.h>
#include <linux/math64.h>
#include <net/inet_ecn.h>
#include <net/tcp.h>
#include <compat/tcp_ecn.h>
#include <quell/core/adapt/names.h>
#include "signal/dasr.h"
#include "signal/signal.h"
#include "tcp/tcp.h"
#include "tcp/tcp_internals.h"

#define CREATE_TRACE_POINTS
#include "tcp/decision.h"

/* Start of an algorithm, and pacing of rate-based ones.  Context: socket lock. */

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
static void limit_burst(struct sock *sk, u32 pkts)
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
 * minimum, and by limit_burst() the maximum of TSO autosizing, which at datacenter
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
	limit_burst(sk, pkts);
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
		limit_burst(sk, core->segment_pkts(ev->params, ev->sample.mss_bytes));
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
	limit_burst(sk, U32_MAX);
}

/*
 * Flows fitted to their path (parameter "adapt", Documentation/adapt.md): applies
 * <quell/core/adapt/react.h> to sockets, between the samples and the algorithms, and between the
 * algorithms' decisions and the stack.  ECN-Echo, unless the algorithm uses marks, and idle times,
 * after which it would restart at line rate, are handled here instead of by the algorithm.
 *
 * Context of all functions: socket lock.
 */

/* Queue of a flow in its host up to which the window grows: the stack's limit is 1 ms. */
#define ADAPT_BACKLOG_NS	(200 * NSEC_PER_USEC)
/* Two of the stack's bursts, which are no queue that the algorithm could remove. */
#define ADAPT_BURSTS_BYTES	(128 * 1024)

/* For user space; NULL if the flow is not fitted. */
const char *quell_adapt_phase_name(const struct quell_flow *flow)
{
	/* The core, shared with user space, writes this byte without marks. */
	return quell_adapt_phases[data_race(flow->adapt.phase)];
}

/* Reason for which CUBIC governs, for user space; NULL if it does not. */
const char *quell_adapt_reason_name(const struct quell_flow *flow)
{
	/* As above; the reason may be of another fallback, or of before it. */
	if (data_race(flow->adapt.phase) != QUELL_ADAPT_FALLBACK)
		return NULL;
	/* As above. */
	return quell_adapt_reasons[data_race(flow->adapt.reason)];
}

/*
 * The window in use, bytes Q16: for a rate-based algorithm, of which the window is only a
 * bound, the data in flight at its rate.
 */
static u64 adapt_window_q16(const struct quell_flow *flow)
{
	const struct quell_adapt *core = &flow->adapt;
	u64 window_bytes = flow->now.window_bytes, paced_bytes;

	if (!quell_adapt_is_fit(core))
		return core->cubic.window_q16;
	if (flow->now.pacing_bytes_ps != QUELL_RATE_UNLIMITED && core->base_ns) {
		paced_bytes = quell_mul_div_u64(flow->now.pacing_bytes_ps,
						max(core->stand_ns, core->base_ns), NSEC_PER_SEC);
		window_bytes = min(window_bytes, paced_bytes);
	}
	return min_t(u64, window_bytes << QUELL_Q16_SHIFT, QUELL_CUBIC_MAX_WINDOW_Q16);
}

/* enum quell_governor, for observers and counters. */
static u8 adapt_governor(const struct quell_flow *flow)
{
	if (flow->adapt.phase == QUELL_ADAPT_FALLBACK)
		return QUELL_GOVERNOR_CUBIC + flow->adapt.reason;
	return flow->adapt.phase == QUELL_ADAPT_START ? QUELL_GOVERNOR_SEARCH :
							QUELL_GOVERNOR_ALGORITHM;
}

static struct quell_governed *adapt_governed(const struct quell_flow *flow)
{
	return flow->qnet->algos[flow->algo->slot].governed;
}

static void adapt_account(struct quell_flow *flow)
{
	enum quell_governor kind = quell_governor_kind(flow->now.governor);
	u8 governor = adapt_governor(flow);
	u64 now_ns;

	if (governor == flow->now.governor)
		return;
	now_ns = ktime_get_ns();
	quell_governed_count(adapt_governed(flow), flow->now.governor, governor, now_ns);
	WRITE_ONCE(flow->now.governed_ns[kind], quell_governed_ns(&flow->now, kind, now_ns));
	WRITE_ONCE(flow->now.governor_ns, now_ns);
	WRITE_ONCE(flow->now.governor, governor);
}

/*
 * The search starts from the stack's window: that of a new connection (ip-route(8), initcwnd),
 * or of the previous algorithm.  After losses it ends at ssthresh: switching algorithms back
 * and forth must gain no more than with the stack's own.
 */
static void adapt_begin(struct quell_flow *flow, u32 mss_bytes)
{
	const struct tcp_sock *tp = tcp_sk(flow->sk);

	quell_adapt_init(&flow->adapt, max(tcp_snd_cwnd(tp), 1U), mss_bytes);
	quell_adapt_note_handshake(&flow->adapt, quell_first_rtt_ns(flow->sk));
	if (!tcp_in_initial_slowstart(tp))
		quell_adapt_take_over(&flow->adapt, (u64)tp->snd_ssthresh * mss_bytes);
	flow->adapt.round_seq = tp->snd_nxt;
}

/* @flow may be NULL. */
void quell_adapt_open(struct quell_flow *flow, const struct quell_event *ev)
{
	if (!flow)
		return;
	/* Parameter "adapt", the first of every algorithm: quell_algo_register() requires it. */
	if (*(const u64 *)ev->params)
		adapt_begin(flow, ev->sample.mss_bytes);
	WRITE_ONCE(flow->now.governor, adapt_governor(flow));
	quell_governed_count(adapt_governed(flow), QUELL_UNGOVERNED, flow->now.governor,
			     flow->now.governor_ns);
}

void quell_adapt_close(struct quell_flow *flow)
{
	quell_governed_count(adapt_governed(flow), flow->now.governor, QUELL_UNGOVERNED,
			     ktime_get_ns());
}

/* A search between two phases is not reported: each request after an idle time begins with one. */
static void adapt_report(struct quell_flow *flow)
{
	u8 phase = flow->adapt.phase;
	u8 reason = phase == QUELL_ADAPT_FALLBACK ? flow->adapt.reason : QUELL_ADAPT_FITS;

	adapt_account(flow);
	if (phase == QUELL_ADAPT_START || reason == flow->fallback_reported)
		return;
	flow->fallback_reported = reason;
	quell_notify_adapt(flow, quell_adapt_phase_name(flow), quell_adapt_reason_name(flow));
}

/* In flight per round trip. */
static u64 adapt_begun_bytes(const struct quell_decision *decision, u64 rtt_ns)
{
	u64 window_bytes = decision->window_q16 >> QUELL_Q16_SHIFT;

	if (decision->pacing_bytes_ps == QUELL_RATE_UNLIMITED)
		return window_bytes;
	return min(window_bytes,
		   quell_mul_div_u64(decision->pacing_bytes_ps, rtt_ns, NSEC_PER_SEC));
}

/*
 * A window that doubled within the last round trip may exceed the path's capacity.  ACK
 * clocking limits a window but not a rate: bound the rate by TCP's delivery rate.  That is of a
 * packet or two if most were lost: two segments per round trip, the search's least window, remain.
 */
static u64 adapt_bound_rate(const struct sock *sk, const struct quell_decision *decision,
			    u64 window_bytes, u64 rtt_ns)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u64 delivered_bytes_ps;

	if (decision->pacing_bytes_ps == QUELL_RATE_UNLIMITED || !tp->rate_interval_us)
		return window_bytes;
	delivered_bytes_ps = quell_mul_div_u64((u64)tp->rate_delivered * tp->mss_cache,
					       USEC_PER_SEC, tp->rate_interval_us);
	return min(window_bytes, quell_mul_div_u64(delivered_bytes_ps, rtt_ns, NSEC_PER_SEC));
}

/*
 * The algorithm starts as if the NIC had the rate measured on the path.  Some start at a
 * fraction of line rate, because they share the NIC or send more than one round trip's worth:
 * scale the line rate so that this fraction is the measured rate.
 */
static __rare void adapt_hand_over(struct sock *sk, const struct quell_sample *sample,
				   struct quell_decision *decision)
{
	struct quell_flow *flow = quell_cc(sk)->flow;
	u64 window_bytes = max_t(u64, flow->adapt.cubic.window_q16 >> QUELL_Q16_SHIFT,
				 sample->mss_bytes);
	u64 rtt_ns = quell_srtt_ns(sk), begun_bytes;
	struct quell_event ev;

	quell_cc_enter(sk, &ev);
	ev.sample = *sample;
	ev.sample.flags |= QUELL_S_FITTED;
	if (rtt_ns)
		ev.sample.link_bytes_ps = quell_mul_div_u64(window_bytes, NSEC_PER_SEC, rtt_ns);
	quell_start_core(sk, &ev);
	begun_bytes = adapt_begun_bytes(&ev.decision, rtt_ns);
	window_bytes = max_t(u64, adapt_bound_rate(sk, &ev.decision, window_bytes, rtt_ns),
			     min_t(u64, window_bytes, 2 * sample->mss_bytes));
	if (rtt_ns && begun_bytes && begun_bytes != window_bytes) {
		ev.sample.link_bytes_ps = quell_mul_div_u64(ev.sample.link_bytes_ps, window_bytes,
							    begun_bytes);
		quell_start_core(sk, &ev);
	}
	*decision = ev.decision;
	/*
	 * Earlier losses did not cut this algorithm, so an undo must restore no cut.  @valid stays:
	 * if they prove spurious, quell_adapt_undone() resumes the search.
	 */
	flow->undo = (struct quell_undo) { .valid = flow->undo.valid };
	flow->adapt.flags &= ~QUELL_ADAPT_F_LOST;
	/* A search ended by a loss or a record left a queue: its losses are the algorithm's. */
	if (flow->algo->core->needs.signal == QUELL_ADAPT_DELAY)
		flow->adapt.flags |= QUELL_ADAPT_F_BEGUN;
	flow->adapt.round_seq = tcp_sk(sk)->snd_nxt;
	quell_cc_leave();
}

/*
 * Bound on the hold time that a receiver reports: the one that the algorithm's own window for
 * it allows, ns; 0 if it has no such window.  Bottom halves are off.
 */
static u64 adapt_hold_ns(const struct quell_flow *flow)
{
	u16 hold_offset = flow->algo->core->needs.hold_offset;
	const struct quell_params_block *block;

	if (!hold_offset)
		return 0;
	block = rcu_dereference_bh(flow->qnet->algos[flow->algo->slot].params);
	return *(const u64 *)((const u8 *)block->data + hold_offset);
}

/*
 * The stack also reduces after each mark if the algorithm requested marks, but then they reduce
 * the window by rounds, quell_adapt_marked_round().
 */
static bool adapt_is_reducing(const struct sock *sk)
{
	u8 state = inet_csk(sk)->icsk_ca_state;

	return state == TCP_CA_Recovery ||
	       (state == TCP_CA_CWR && quell_cc(sk)->flow->adapt.flags & QUELL_ADAPT_F_REDUCED);
}

/* Before the algorithm, with quell_adapt_is_on(); @sample becomes that of the algorithm. */
void quell_adapt_acked(struct sock *sk, struct quell_sample *sample)
{
	struct quell_flow *flow = quell_cc(sk)->flow;
	const struct tcp_sock *tp = tcp_sk(sk);
	u64 remote_ns = sample->remote_ns, hold_ns = adapt_hold_ns(flow), most_ns;
	u64 own_ns = mul_u64_u64_shr(sk_wmem_alloc_get(sk), flow->link.ns_q32, 32), queue_ns;
	u64 bursts_ns = mul_u64_u64_shr(ADAPT_BURSTS_BYTES, flow->link.ns_q32, 32);
	struct quell_adapt *core = &flow->adapt;
	struct quell_decision unused;
	bool round, begins;

	sample->remote_ns = min(remote_ns, hold_ns);
	quell_adapt_set_aim(core, flow->now.target_ns);
	/*
	 * The peer hides these marks from TCP.  They count as marks of the data that this ACK
	 * acknowledges; only whether there was any matters, so one received between both lines
	 * may be merged with those before it.
	 */
	if (flow->dasr && READ_ONCE(flow->dasr->path_marked)) {
		WRITE_ONCE(flow->dasr->path_marked, false);
		quell_adapt_note_marks(core, sample->acked_bytes);
	}
	core->flags &= ~QUELL_ADAPT_F_FULL;
	/*
	 * The window is used up, and by packets in the network.  No round-trip time has a queue of
	 * this host in it: while the own NIC is the bottleneck the window would grow without end.
	 * The departures assume that the flow has the NIC alone.  Beside other flows its queue is
	 * that of its memory in the host: then those with the larger part of it stop growing.  This
	 * does not shrink before a burst is completed, so the stack's bursts are excepted.
	 */
	most_ns = max_t(u64, core->base_ns, ADAPT_BACKLOG_NS) + core->noise_ns;
	if (tcp_is_cwnd_limited(sk) && !adapt_is_reducing(sk) &&
	    quell_backlog_ns(flow, sample->now_ns) <= most_ns && own_ns <= max(most_ns, bursts_ns))
		core->flags |= QUELL_ADAPT_F_FULL;
	/*
	 * Other flows of the host find its queue beyond the stack's bursts in their round-trip
	 * times, and would yield the NIC to a flow that does not have it in its own.  Segments that
	 * fq holds back for their departure are no queue.
	 */
	most_ns = max_t(u64, core->base_ns, bursts_ns);
	queue_ns = min(quell_backlog_ns(flow, max(sample->now_ns, tp->tcp_wstamp_ns)),
		       QUELL_ADAPT_MOST_NS);
	if (sample->rtt_ns)
		sample->rtt_ns += quell_sub_sat_u64(queue_ns, most_ns + core->noise_ns);
	if (after(tp->snd_una, core->round_seq)) {
		core->flags |= QUELL_ADAPT_F_OVER;
		core->flags &= ~(QUELL_ADAPT_F_BEGUN | QUELL_ADAPT_F_LOST);
	}
	round = sample->rtt_ns && core->flags & QUELL_ADAPT_F_OVER;
	if (round) {
		core->flags &= ~QUELL_ADAPT_F_OVER;
		core->round_seq = tp->snd_nxt;
		quell_adapt_note_rate(core, (u64)tp->rate_delivered * tp->mss_cache,
				      tp->rate_interval_us);
	}
	begins = quell_adapt_on_ack(core, &flow->algo->core->needs, sample,
				    adapt_window_q16(flow), round);
	quell_adapt_filter(core, &flow->algo->core->needs, sample, hold_ns ? remote_ns : 0);
	if (quell_adapt_has_responded(core, &flow->algo->core->needs))
		sample->marked_bytes = 0;
	if (begins)
		adapt_hand_over(sk, sample, &unused);
	if (adapt_governor(flow) != flow->now.governor)
		adapt_report(flow);
}

/*
 * The search may have filled a buffer by its end: the first loss found in the algorithm's first
 * round trip, or before that is acknowledged, is no evidence against its first window.  Not without
 * SACK: a recovery takes a round trip per lost packet, and hides all further losses.  @flow may be
 * NULL.
 */
bool quell_adapt_has_begun(const struct quell_flow *flow)
{
	return quell_adapt_is_on(flow) && quell_adapt_is_fit(&flow->adapt) &&
	       tcp_is_sack(tcp_sk(flow->sk)) &&
	       (flow->adapt.flags & (QUELL_ADAPT_F_BEGUN | QUELL_ADAPT_F_LOST)) ==
	       QUELL_ADAPT_F_BEGUN;
}

/* Fast retransmit begins; the decision is replaced if the algorithm takes over now. */
void quell_adapt_lost(struct sock *sk, struct quell_event *ev)
{
	struct quell_flow *flow = quell_cc(sk)->flow;

	if (!quell_adapt_is_on(flow))
		return;
	/* CUBIC has cut for a mark within this round trip: RFC 3168, 6.1.2. */
	if (flow->adapt.flags & QUELL_ADAPT_F_REDUCED && quell_adapt_governs(flow)) {
		flow->adapt.flags &= ~QUELL_ADAPT_F_REDUCED;
		return;
	}
	if (quell_adapt_on_loss(&flow->adapt, &flow->algo->core->needs, &ev->sample,
				adapt_window_q16(flow)))
		adapt_hand_over(sk, &ev->sample, &ev->decision);
	adapt_report(flow);
}

/* A reduction by the stack (cc_on_cwr()); sets the decision in full. */
void quell_adapt_marked(struct sock *sk, struct quell_event *ev)
{
	struct quell_flow *flow = quell_cc(sk)->flow;

	ev->decision = (struct quell_decision) {
		.pacing_bytes_ps = QUELL_RATE_UNLIMITED,
	};
	flow->adapt.flags |= QUELL_ADAPT_F_REDUCED;
	if (quell_adapt_cut(&flow->adapt, &flow->algo->core->needs, &ev->sample))
		adapt_hand_over(sk, &ev->sample, &ev->decision);
	adapt_report(flow);
}

/* @again: the episode of losses was reported before this timeout. */
void quell_adapt_timed_out(struct sock *sk, const struct quell_sample *sample, bool again)
{
	struct quell_flow *flow = quell_cc(sk)->flow;

	if (!quell_adapt_is_on(flow))
		return;
	quell_adapt_on_rto(&flow->adapt, sample, again);
	adapt_report(flow);
}

void quell_adapt_undone(struct sock *sk)
{
	struct quell_flow *flow = quell_cc(sk)->flow;

	if (!quell_adapt_is_on(flow))
		return;
	quell_adapt_on_undo(&flow->adapt);
	adapt_report(flow);
	if (quell_adapt_governs(flow))
		flow->adapt.flags &= ~QUELL_ADAPT_F_BEGUN;
}

static u64 adapt_rto_ns(const struct sock *sk)
{
	return (u64)jiffies_to_usecs(inet_csk(sk)->icsk_rto) * NSEC_PER_USEC;
}

/*
 * Whether an idle time leaves the window as the last ACK did: the common case of an application
 * that sends one request at a time.  False after a timeout's time, or if there is another decision
 * to make.
 */
bool quell_adapt_rested(struct sock *sk, u64 idle_ns)
{
	struct quell_flow *flow = quell_cc(sk)->flow;

	/* A timeout is a tick at least. */
	if (inet_csk(sk)->icsk_ca_state != TCP_CA_Open ||
	    (idle_ns > TICK_NSEC && idle_ns > adapt_rto_ns(sk)))
		return false;
	if (quell_adapt_governs(flow))
		quell_cubic_wait(&flow->adapt.cubic, tcp_sk(sk)->tcp_clock_cache);
	return true;
}

/*
 * False: the algorithm must decide; otherwise the decision keeps the window, unless it is replaced.
 */
bool quell_adapt_idle(struct sock *sk, struct quell_event *ev)
{
	struct quell_flow *flow = quell_cc(sk)->flow;

	if (!quell_adapt_is_on(flow))
		return false;
	ev->decision = (struct quell_decision) {
		.window_q16 = flow->now.window_bytes << QUELL_Q16_SHIFT,
		.pacing_bytes_ps = flow->now.pacing_bytes_ps,
		.target_ns = flow->now.target_ns,
	};
	if (ev->sample.idle_ns > adapt_rto_ns(sk))
		quell_adapt_on_idle(&flow->adapt, &ev->sample, adapt_window_q16(flow));
	else if (quell_adapt_governs(flow))
		quell_cubic_wait(&flow->adapt.cubic, ev->sample.now_ns);
	adapt_report(flow);
	return true;
}

/*
 * While CUBIC governs, the first retransmission is sent at once and ACKs clock all others,
 * quell_apply_event().  RACK's timer retransmits without an ACK.
 */
void quell_adapt_recovers(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (quell_adapt_governs(quell_cc(sk)->flow))
		tcp_snd_cwnd_set(tp, min(tcp_snd_cwnd(tp), tcp_packets_in_flight(tp) + 1));
}

/*
 * The rate by which the stack sizes bursts and limits its queue, as for algorithms without a rate:
 * twice the window per round trip in slow start, 1.2 times later.  The stack paces by it only with
 * the fq qdisc, or if the algorithm has enabled pacing before.
 */
static void adapt_pace(struct sock *sk)
{
	const struct quell_flow *flow = quell_cc(sk)->flow;
	const struct quell_cubic *cubic = &flow->adapt.cubic;
	u64 rtt_ns = quell_srtt_ns(sk), rate_bytes_ps;

	if (!rtt_ns)
		return;
	/* The stack's round-trip times, too, contain the time in its queue. */
	rtt_ns += quell_backlog_ns(flow, tcp_sk(sk)->tcp_clock_cache);
	rate_bytes_ps = quell_mul_div_u64(max_t(u64, cubic->window_q16 >> QUELL_Q16_SHIFT,
						tcp_sk(sk)->mss_cache),
					  NSEC_PER_SEC, rtt_ns);
	if (cubic->window_q16 >> (QUELL_Q16_SHIFT - 1) < cubic->ssthresh_bytes)
		rate_bytes_ps *= 2;
	else
		rate_bytes_ps += rate_bytes_ps / 5;
	WRITE_ONCE(sk->sk_pacing_rate,
		   min_t(u64, max_t(u64, rate_bytes_ps, 1), READ_ONCE(sk->sk_max_pacing_rate)));
}

/* TCP does not pace the first segments of a connection, this many (tcp_output.c). */
#define UNPACED_SEGMENTS	10
/* Least part of a window that TSO may send as one, one in so many, but not fewer packets. */
#define BURST_SHARE		3
#define BURST_LEAST_PKTS	2

/*
 * The stack computes the delay after a segment when it sends it.  With a window below one segment
 * that is many round trips: it is computed again when the segment is acknowledged, as in Swift's
 * Algorithm 1, and ends if the new decision has no rate.  No packet of the flow is left in the
 * host to be overtaken; fq sorts pure ACKs by these times, too.  Algorithms that use no delay
 * decide a rate at any window.
 *
 * Called where no data is in flight and the next departure is in the future.  Not inlined, as the
 * other functions with a struct on the stack, which each ACK would have to protect.
 */
static noinline void apply_departure(struct sock *sk, struct quell_flow *flow, u64 window_bytes,
				     unsigned long rate)
{
	struct quell_segment newest QUELL_UNINITIALIZED;
	struct tcp_sock *tp = tcp_sk(sk);

	if (!flow || READ_ONCE(sk->sk_pacing_status) != SK_PACING_NEEDED || !rate ||
	    flow->algo->core->needs.signal != QUELL_ADAPT_DELAY ||
	    flow->now.pacing_bytes_ps == QUELL_RATE_UNLIMITED ||
	    (rate != ~0UL && window_bytes >= tp->mss_cache) ||
	    !quell_segments_newest(flow, &newest) || newest.end_seq != tp->snd_nxt ||
	    newest.retransmitted)
		return;
	tp->tcp_wstamp_ns = newest.depart_ns +
			    div64_ul((u64)(newest.end_seq - newest.seq) * NSEC_PER_SEC,
				     rate);
	/* tcp_data_snd_check() follows, and sets the timer again. */
	if (hrtimer_try_to_cancel(&tp->pacing_timer) == 1)
		__sock_put(sk);
}

/* Has the stack pace, unless the fq qdisc does. */
static noinline void apply_pace(struct sock *sk, struct quell_flow *flow, unsigned long rate)
{
	struct quell_segment newest QUELL_UNINITIALIZED;
	struct tcp_sock *tp = tcp_sk(sk);
	u64 gap_ns;

	if (cmpxchg(&sk->sk_pacing_status, SK_PACING_NONE, SK_PACING_NEEDED) == SK_PACING_NONE)
		quell_cc(sk)->paces = true;
	/* Not a connection's first segments: put the next departure where pacing would. */
	if (tp->data_segs_out >= UNPACED_SEGMENTS || !flow ||
	    !quell_segments_newest(flow, &newest))
		return;
	gap_ns = div64_u64((u64)tp->mss_cache * NSEC_PER_SEC, max_t(u64, rate, 1));
	tp->tcp_wstamp_ns = max(tp->tcp_wstamp_ns, newest.depart_ns + gap_ns);
}

/*
 * Sets the pacing rate: the algorithm's, or the one that it would send in a round trip through a
 * window that is less than the stack's least one.
 */
static void apply_pacing(struct sock *sk, struct quell_flow *flow,
			 const struct quell_sample *sample, const struct quell_decision *decision)
{
	u64 window_bytes = decision->window_q16 >> QUELL_Q16_SHIFT;
	u64 rate_bytes_ps = decision->pacing_bytes_ps;
	struct tcp_sock *tp = tcp_sk(sk);
	unsigned long rate;

	if (rate_bytes_ps == QUELL_RATE_UNLIMITED && flow && flow->peer_delays &&
	    flow->now.rtt_ns && window_bytes < 2 * (u64)sample->mss_bytes)
		rate_bytes_ps = quell_mul_div_u64(window_bytes, NSEC_PER_SEC, flow->now.rtt_ns);
	rate = min_t(u64, rate_bytes_ps, READ_ONCE(sk->sk_max_pacing_rate));
	WRITE_ONCE(sk->sk_pacing_rate, rate);
	if (sample->acked_pkts && !tp->packets_out && tp->tcp_wstamp_ns > tp->tcp_clock_cache)
		apply_departure(sk, flow, window_bytes, rate);
	if (rate_bytes_ps != QUELL_RATE_UNLIMITED)
		apply_pace(sk, flow, rate);
}

static enum quell_limit apply_limit(const struct tcp_sock *tp,
				    const struct quell_sample *sample,
				    const struct quell_decision *decision)
{
	if (sample->flags & QUELL_S_APP_LIMITED)
		return QUELL_LIMIT_APP;
	if (decision->pacing_bytes_ps != QUELL_RATE_UNLIMITED)
		return QUELL_LIMIT_PACING;
	if (tp->snd_wnd < decision->window_q16 >> QUELL_Q16_SHIFT)
		return QUELL_LIMIT_RECEIVER;
	return QUELL_LIMIT_WINDOW;
}

/*
 * The stack's window for the algorithm's, in whole segments.  Rounding down takes half a segment
 * off on average, a third of a window of 1.5.  With QUELL_CORE_FRACTIONAL the remainder is carried
 * over to the next round trip: 2.5 segments are 2 and 3 in turn.  Per round trip, not per ACK: ACKs
 * come in bunches, and the last one of a bunch releases the data for all of it.  Below one segment
 * pacing does this.
 */
static u32 apply_cwnd_pkts(struct quell_flow *flow, const struct tcp_sock *tp,
			   const struct quell_sample *sample, u64 window_bytes)
{
	u32 mss_bytes = max_t(u32, sample->mss_bytes, 1), pkts;

	if (flow && window_bytes >= mss_bytes &&
	    quell_algo_has(flow->algo, QUELL_CORE_FRACTIONAL)) {
		if (after(tp->snd_una, flow->round_seq)) {
			flow->round_seq = tp->snd_nxt;
			flow->carry_bytes = flow->rest_bytes;
			div_u64_rem(window_bytes + flow->carry_bytes, mss_bytes,
				    &flow->rest_bytes);
		}
		window_bytes += flow->carry_bytes;
	}
	pkts = min_t(u64, div_u64(window_bytes, mss_bytes), U32_MAX);
	/* A receiver that delays ACKs does not acknowledge a lone packet. */
	return clamp_t(u32, max(pkts, flow && flow->peer_delays ? 2U : 1U), 1,
		       max_t(u32, tp->snd_cwnd_clamp, 1));
}

/*
 * The stack's window now.  Each ACK opens it by the data acknowledged, for many flows by a packet
 * or two, and the stack would send them as a burst of their own, which costs each host as much as
 * a large one.  So it stays closed until there is room for a burst, unless less data than that
 * room is queued; the ACKs of the data in flight come anyway.
 *
 * A burst is the packets that the link sends in the time of the parameter `burst', at most half of
 * the window, so that the ACKs of one half release the other, and at most the limit of TSO; one
 * packet where the route forbids bursts.  Where CUBIC or the search governs, the path may be a
 * thousand times slower than the link, and flows that share it would be delayed by the burst.
 */
static u32 apply_burst(struct sock *sk, const struct quell_flow *flow,
		       const struct quell_sample *sample, u32 cwnd_pkts)
{
	u32 inflight_pkts = tcp_packets_in_flight(tcp_sk(sk)), mss_bytes = sample->mss_bytes;
	u32 room_pkts = cwnd_pkts - inflight_pkts;
	const struct tcp_sock *tp = tcp_sk(sk);
	u64 burst_bytes;

	if (tp->write_seq == tp->snd_nxt || !flow || inflight_pkts >= cwnd_pkts ||
	    !sample->acked_pkts || inet_csk(sk)->icsk_ca_state != TCP_CA_Open ||
	    !sk_can_gso(sk) || room_pkts >= min_t(u32, sk->sk_gso_max_segs, cwnd_pkts / 2) ||
	    tp->write_seq - tp->snd_nxt <= quell_mul_sat_u32(room_pkts, mss_bytes))
		return cwnd_pkts;
	burst_bytes = quell_mul_div_u64(READ_ONCE(flow->link.bytes_ps),
					quell_signal_params_bh(flow->qnet)->burst_ns,
					NSEC_PER_SEC);
	/* Another packet would exceed it. */
	return burst_bytes < (room_pkts + 1ULL) * mss_bytes ? cwnd_pkts : max(inflight_pkts, 1U);
}

/*
 * A burst of half a window, the stack's limit, meets the queue as it is at one moment of each round
 * trip, always the same one.  For an algorithm that uses delay, a flow that then meets the longest
 * queue loses its share.  So TSO sends at most a third to a half of the window as one: a part drawn
 * of windows from six segments on, two segments of smaller ones.  A fixed part would have to be
 * small to change the moment, and small bursts cost instructions.  TIMELY has a limit of its own;
 * flows that are fitted to their paths do without, as the time of their own bursts is subtracted.
 *
 * A flow without data queued keeps the limit of an equal window, unless a route change reset it.
 * Socket lock.
 */
static void apply_burst_limit(struct sock *sk, const struct quell_flow *flow,
			      const struct quell_sample *sample, u32 cwnd_pkts)
{
	u32 most_pkts = max(cwnd_pkts / 2, BURST_LEAST_PKTS), least_pkts, random_pkts;
	const struct tcp_sock *tp = tcp_sk(sk);

	if (tp->write_seq == tp->snd_nxt && cwnd_pkts == tcp_snd_cwnd(tp) && sample->acked_pkts &&
	    sk->sk_gso_max_segs <= most_pkts)
		return;
	if (!flow || flow->adapt.phase != QUELL_ADAPT_OFF || flow->algo->core->segment_pkts ||
	    flow->algo->core->needs.signal != QUELL_ADAPT_DELAY)
		return;
	least_pkts = cwnd_pkts / BURST_SHARE;
	random_pkts = reciprocal_scale(jhash_1word(tp->snd_una, 0),
				       cwnd_pkts / 2 - least_pkts + 1);
	limit_burst(sk, max(least_pkts + random_pkts, BURST_LEAST_PKTS));
}

/*
 * After a lost retransmission, see ack_has_lost_again(): as many segments as are delivered, and one
 * more where no further one is lost, as PRR's slow start reduction bound.
 */
static u32 apply_conservation(const struct sock *sk, const struct quell_flow *flow,
			      const struct quell_sample *sample, u32 cwnd_pkts)
{
	u32 conserved_pkts = tcp_packets_in_flight(tcp_sk(sk)) + sample->acked_pkts +
			     (sample->flags & QUELL_S_ADVANCED && !sample->lost_bytes);

	if (!flow || !flow->recover.lost_again ||
	    inet_csk(sk)->icsk_ca_state != TCP_CA_Recovery)
		return cwnd_pkts;
	return min(cwnd_pkts, max(conserved_pkts, 1U));
}

/* The signal that a reduction on an acknowledgment is for. */
static enum quell_reduction apply_ack_signal(const struct quell_flow *flow,
					     const struct quell_sample *sample,
					     const struct quell_decision *decision)
{
	enum quell_adapt_signal signal = flow->algo->core->needs.signal;

	if (quell_adapt_governs(flow))
		return QUELL_REDUCTION_FIT;
	if (sample->trimmed_bytes && quell_algo_has(flow->algo, QUELL_CORE_TRIMS))
		return QUELL_REDUCTION_TRIM;
	if (signal == QUELL_ADAPT_RECORDS)
		return sample->telemetry.hop ? QUELL_REDUCTION_RECORD : QUELL_REDUCTION_OTHER;
	if (signal == QUELL_ADAPT_DELAY)
		return QUELL_REDUCTION_DELAY;
	if (sample->marked_bytes)
		return QUELL_REDUCTION_MARK;
	/* Those that go by marks and something else: dart by n, SMaRTT by delay. */
	if (flow->dasr && sample->senders_q8)
		return QUELL_REDUCTION_SHARE;
	return decision->target_ns ? QUELL_REDUCTION_DELAY : QUELL_REDUCTION_OTHER;
}

/*
 * Notes a reduction, for users who query its reason; before the new window is set.  A rate-based
 * algorithm decides the rate that is paced; its window is a bound that follows the round-trip time,
 * too, and may be reduced as well at a loss.  Below one segment it is the rate that follows.
 */
static void apply_record_reduction(struct quell_flow *flow, const struct quell_sample *sample,
				   const struct quell_decision *decision, enum quell_reduction why)
{
	u64 was_bytes_ps = READ_ONCE(flow->now.pacing_bytes_ps);
	u64 window_bytes = decision->window_q16 >> QUELL_Q16_SHIFT;
	bool reduced = window_bytes < READ_ONCE(flow->now.window_bytes);
	u64 rtt;

	if (was_bytes_ps != QUELL_RATE_UNLIMITED &&
	    decision->pacing_bytes_ps != QUELL_RATE_UNLIMITED && window_bytes >= flow->mss_bytes)
		reduced = decision->pacing_bytes_ps < was_bytes_ps || (why && reduced);
	if (!reduced)
		return;
	if (!why)
		why = apply_ack_signal(flow, sample, decision);
	/* Up to 268 ms. */
	rtt = min_t(u64, (sample->rtt_ns ?: flow->now.rtt_ns) >> QUELL_REDUCTION_RTT_SHIFT,
		    BIT_ULL(QUELL_REDUCTION_RTT_BITS) - 1);
	WRITE_ONCE(flow->reduction, sample->now_ns >> QUELL_REDUCTION_TIME_SHIFT <<
				    (QUELL_REDUCTION_CAUSE_BITS + QUELL_REDUCTION_RTT_BITS) |
				    rtt << QUELL_REDUCTION_CAUSE_BITS | why);
}

/* The tracepoint of a decision. */
static noinline void apply_trace(const struct sock *sk, const struct quell_flow *flow)
{
	const struct quell_snapshot *now = &flow->now;
	const struct quell_bpf_view view = {
		.window_bytes = now->window_bytes,
		.pacing_bytes_ps = now->pacing_bytes_ps,
		.rtt_ns = now->rtt_ns,
		.min_rtt_ns = now->min_rtt_ns,
		.target_ns = now->target_ns,
		.acked_bytes = tcp_sk(sk)->bytes_acked,
		.phase = flow->adapt.phase,
		.reason = flow->adapt.reason,
	};

	trace_quell_decision(sk, &view, sizeof(view));
}

/*
 * A window below one segment becomes one segment, paced; to a peer that delays ACKs one below two
 * becomes two, paced.  One that is no whole number of segments is rounded down, or, with
 * QUELL_CORE_FRACTIONAL, up and down in turn.  The stack's window stays closed until there is room
 * for a burst.  CUBIC's or the search's decision replaces @decision where one of these governs.
 * Returns the whole window, which may be open in part.  Socket lock.
 */
u32 quell_apply_event(struct sock *sk, const struct quell_sample *sample,
		      struct quell_decision *decision, enum quell_reduction why)
{
	struct quell_flow *flow = quell_cc(sk)->flow;
	bool fitting = quell_adapt_governs(flow);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 window_pkts, cwnd_pkts;
	u64 window_bytes;

	if (fitting) {
		decision->window_q16 = flow->adapt.cubic.window_q16;
		decision->pacing_bytes_ps = QUELL_RATE_UNLIMITED;
		decision->target_ns = 0;
	}
	window_bytes = decision->window_q16 >> QUELL_Q16_SHIFT;
	window_pkts = apply_cwnd_pkts(flow, tp, sample, window_bytes);
	apply_burst_limit(sk, flow, sample, window_pkts);
	/*
	 * While CUBIC governs, the window is reduced as the stack's own: in proportion to the data
	 * delivered, and not below room for the first retransmission (quell_adapt_recovers()).  A
	 * segment that a NACK reports trimmed has left the path: it needs no ACK, only room.
	 */
	if (fitting && sample->acked_pkts && adapt_is_reducing(sk))
		cwnd_pkts = quell_tcp_reduce(tp, window_pkts, sample->acked_pkts,
					     sample->flags & QUELL_S_ADVANCED &&
					     !sample->lost_bytes);
	else if (fitting)
		cwnd_pkts = window_pkts;
	else
		cwnd_pkts = apply_conservation(sk, flow, sample,
					       apply_burst(sk, flow, sample, window_pkts));
	/*
	 * Without SACK the stack counts data behind a hole as in flight, however long ago it was
	 * received, so the window may be below that for all of a recovery: the first retransmission
	 * (not if the stack was reducing before), and one for each partial ACK (RFC 6582, 3.2),
	 * have room regardless.
	 */
	if (tcp_is_reno(tp) && inet_csk(sk)->icsk_ca_state == TCP_CA_Recovery &&
	    (!tp->prr_out || sample->flags & QUELL_S_ADVANCED))
		cwnd_pkts = max(cwnd_pkts, tcp_packets_in_flight(tp) + 1);
	/*
	 * After a timeout the window grows as in the stack, from one segment by one per segment
	 * delivered, so that the lost segments are not all retransmitted at once.
	 */
	if (inet_csk(sk)->icsk_ca_state == TCP_CA_Loss)
		cwnd_pkts = min_t(u64, cwnd_pkts, (u64)tcp_snd_cwnd(tp) + sample->acked_pkts);
	tcp_snd_cwnd_set(tp, cwnd_pkts);
	apply_pacing(sk, flow, sample, decision);
	if (fitting)
		adapt_pace(sk);
	/*
	 * By a new flow hash, which sets the IPv6 flow label and this host's choice among next
	 * hops and queues; SO_TXREHASH may forbid it.  A sprayed flow changes paths segment by
	 * segment, signal.c.
	 */
	if (decision->change_path && !(flow && quell_path_is_sprayed(flow)) &&
	    sk_rethink_txhash(sk))
		quell_count(quell_net(sock_net(sk)), QUELL_N_PATH_CHANGES);
	if (!flow)
		return window_pkts;
	apply_record_reduction(flow, sample, decision, why);
	WRITE_ONCE(flow->now.window_bytes, window_bytes);
	WRITE_ONCE(flow->now.pacing_bytes_ps, decision->pacing_bytes_ps);
	WRITE_ONCE(flow->now.target_ns, decision->target_ns);
	WRITE_ONCE(flow->inflight_bytes, sample->inflight_bytes);
	WRITE_ONCE(flow->mss_bytes, sample->mss_bytes);
	WRITE_ONCE(flow->now.limit, apply_limit(tp, sample, decision));
	if (trace_quell_decision_enabled())
		apply_trace(sk, flow);
	return window_pkts;
}

/**
 * quell_apply() - apply an algorithm's decision on an acknowledgment
 * @sk:       socket of a Quell algorithm
 * @sample:   sample of the acknowledgment
 * @decision: as for quell_apply_event()
 *
 * Context: socket lock.
 */
void quell_apply(struct sock *sk, const struct quell_sample *sample,
		 struct quell_decision *decision)
{
	quell_apply_event(sk, sample, decision, QUELL_REDUCTION_NEVER);
}
EXPORT_SYMBOL_GPL(quell_apply);

/*
 * Exact echo of CE marks, the rule of DCTCP's receiver (RFC 8257, section 3.2):
 *
 *	a packet is received of which the mark differs from that of the one before:
 *		data not yet acknowledged is acknowledged first, up to before
 *		this packet, with ECE as the earlier packets had it;
 *		this packet is acknowledged at once
 *	ECE of all segments sent from now on = mark of this packet
 *
 * So no ACK covers packets of both kinds, and the sender's tp->delivered_ce counts marked
 * packets.  In-tree DCTCP tests the timer of a delayed ACK; ACKs deferred without it
 * (net.ipv4.tcp_backlog_ack_defer, net.ipv4.tcp_comp_sack_nr) need the test here: whether data
 * was received that no ACK covers.
 *
 * With Accurate ECN the ACE field counts marks, and ECE, a part of it, is left alone.
 * Limits: Documentation/ecn.md.
 */

static void ecn_echo(struct tcp_sock *tp, bool marked)
{
	if (marked)
		tp->ecn_flags |= TCP_ECN_DEMAND_CWR;
	else
		tp->ecn_flags &= ~TCP_ECN_DEMAND_CWR;
}

/*
 * TCP has scheduled the ACK of an in-order packet by now, but not that of an out-of-order one:
 * with the latter, a scheduled ACK is that of earlier packets.  A packet that fills a hole may
 * cause a spare ACK.
 */
static bool ecn_is_ack_pending(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if (before(tp->rcv_wup, quell_cc(sk)->rcv_nxt_marked))
		return true;
	return !RB_EMPTY_ROOT(&tp->out_of_order_queue) && inet_csk_ack_scheduled(sk);
}

/*
 * The stack accounts every ACK as one for all data received.  Wind rcv_wup back to the end of
 * the data that this ACK covers; otherwise the next packet schedules no ACK.  The window's
 * right edge stays.
 */
static void ecn_ack_earlier(struct sock *sk, u32 rcv_nxt)
{
	struct tcp_sock *tp = tcp_sk(sk);

	quell_send_ack(sk, rcv_nxt);
	if (before(rcv_nxt, tp->rcv_wup)) {
		tp->rcv_wnd += tp->rcv_wup - rcv_nxt;
		tp->rcv_wup = rcv_nxt;
	}
}

/* Socket lock, within ->cwnd_event; the packet is already in rcv_nxt if it was in order. */
void quell_ecn_event(struct sock *sk, enum tcp_ca_event event)
{
	bool marked = event == CA_EVENT_ECN_IS_CE;
	struct tcp_sock *tp = tcp_sk(sk);
	struct quell_cc *cc = quell_cc(sk);

	if ((!marked && event != CA_EVENT_ECN_NO_CE) || !quell_cc_ready(sk) ||
	    !quell_ecn_is_classic(tp))
		return;
	if (marked != cc->rcv_marked) {
		if (ecn_is_ack_pending(sk)) {
			ecn_echo(tp, cc->rcv_marked);
			ecn_ack_earlier(sk, cc->rcv_nxt_marked);
		}
		inet_csk(sk)->icsk_ack.pending |= ICSK_ACK_NOW;
	}
	cc->rcv_nxt_marked = tp->rcv_nxt;
	cc->rcv_marked = marked;
	ecn_echo(tp, marked);
}

/*
 * The stack makes every packet of a TCP_CONG_NEEDS_ECN socket ECN-capable, agreed or not: switches
 * would mark instead of drop, unknown to the sender.  A socket that sets the algorithm before the
 * SYN-ACK also runs without: the flags only state its request.  Socket lock.
 */
void quell_ecn_init(struct sock *sk, const struct tcp_congestion_ops *plain)
{
	if (quell_ecn_is_negotiated(tcp_sk(sk)) && sk->sk_state != TCP_SYN_SENT)
		return;
	WRITE_ONCE(inet_csk(sk)->icsk_ca_ops, plain);
	INET_ECN_dontxmit(sk);
}

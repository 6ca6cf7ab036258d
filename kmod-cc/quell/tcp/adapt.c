// SPDX-License-Identifier: GPL-2.0
/*
 * Flows fitted to their path (parameter "adapt", Documentation/adapt.md): applies
 * <quell/core/adapt/react.h> to sockets, between the samples and the algorithms, and between the
 * algorithms' decisions and the stack.  ECN-Echo, unless the algorithm uses marks, and idle times,
 * after which it would restart at line rate, are handled here instead of by the algorithm.  Before
 * that, what both use: the start of an algorithm, and pacing of rate-based ones.
 *
 * Context of all functions: socket lock.
 */
#include <linux/math64.h>
#include <net/tcp.h>
#include <quell/core/adapt/names.h>
#include "signal/dasr.h"
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
bool quell_adapt_is_reducing(const struct sock *sk)
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
	if (tcp_is_cwnd_limited(sk) && !quell_adapt_is_reducing(sk) &&
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
void quell_adapt_pace(struct sock *sk)
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

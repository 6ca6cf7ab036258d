// SPDX-License-Identifier: GPL-2.0
/*
 * Applies a core's decision to TCP's state.
 */
#include <linux/jhash.h>
#include <linux/math64.h>
#include <net/tcp.h>
#include "signal/signal.h"
#include "tcp/tcp.h"
#include "tcp/tcp_internals.h"

#define CREATE_TRACE_POINTS
#include "tcp/decision.h"

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
	quell_limit_burst(sk, max(least_pkts + random_pkts, BURST_LEAST_PKTS));
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
	if (fitting && sample->acked_pkts && quell_adapt_is_reducing(sk))
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
		quell_adapt_pace(sk);
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

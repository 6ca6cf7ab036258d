// SPDX-License-Identifier: GPL-2.0
/*
 * From TCP's state to a core's sample, and from a core's decision to TCP's
 * state.
 *
 * Round-trip time.  The newest segment this ACK reports delivered is the last
 * cumulatively acknowledged one, or rs->last_end_seq where SACK reached
 * further.  Its departure comes from the departure ring, the ACK's receipt
 * from the arrival ring:
 *
 *	rtt = receipt - (departure + serialisation on the first link)
 *
 * Where the other end speaks the Quell option it echoes that departure, and no
 * ring has to be asked which transmission an ACK answers.
 *
 * Until the first such sample of a flow (its hooks are not there yet, memory
 * was short), the stack's own microsecond value stands in, and the sample says
 * so; a flow that has had nanoseconds never goes back, for the two do not
 * compare.
 */
#include <linux/math64.h>
#include <net/tcp.h>
#include <compat/tcp_ecn.h>
#include "internal.h"

/* TCP's pacing lets this many segments of a connection pass (tcp_output.c). */
#define UNPACED_SEGMENTS	10

/*
 * The least a round trip can be.  Only packets that found the interface free
 * set the minimum: how long the others waited in it was reckoned from its
 * speed, and a virtual one (veth) sends at once whatever speed it claims.  The
 * stack's own minimum helps where every segment is a burst; it is in
 * microseconds, so one less is a bound for certain.
 */
static u64 sample_floor_ns(const struct quell_flow *flow, const struct tcp_sock *tp)
{
	u32 min_us = tcp_min_rtt(tp);
	u64 floor_ns = flow->now.min_rtt_ns;

	if (min_us && min_us != ~0U)
		floor_ns = max(floor_ns, (min_us - 1) * (u64)NSEC_PER_USEC);
	return floor_ns;
}

static u64 sample_floored_ns(struct quell_flow *flow, const struct tcp_sock *tp,
			     s64 rtt_ns)
{
	s64 floor_ns = sample_floor_ns(flow, tp);

	if (rtt_ns >= floor_ns)
		return rtt_ns;
	/* The same to the rounding. */
	if (floor_ns - rtt_ns > 1)
		quell_count(flow->qnet, QUELL_N_RTT_FLOORED);
	return floor_ns;
}

/*
 * Whether the flow had a packet leave then: none before the oldest data that is
 * outstanding, none after the newest departure an option was given.
 */
static bool sample_echo_possible(const struct quell_flow *flow, u64 depart_ns)
{
	const struct quell_segment *oldest = quell_segments_oldest(&flow->segments);

	return depart_ns <= flow->depart_ns && (!oldest || depart_ns >= oldest->depart_ns);
}

/*
 * From the departure the other host echoed: whatever was sent twice, reported
 * selectively or acknowledged by an ACK that got lost, it is that of the packet
 * this ACK answers.  All packets of a burst have the departure of its first:
 * the newest of them is known when the ACK is for that burst.  0 when it cannot
 * be told, or cannot have been.
 */
static u64 sample_echo_ns(struct quell_flow *flow, const struct tcp_sock *tp, u32 seq,
			  const struct quell_segment *segment,
			  const struct quell_arrival *arrival)
{
	u32 rtt_ns = (u32)arrival->rx_ns - arrival->echo_ns;
	u64 left_ns;

	if (!rtt_ns || rtt_ns > S32_MAX ||
	    !sample_echo_possible(flow, arrival->rx_ns - rtt_ns)) {
		quell_count(flow->qnet, QUELL_N_RTT_ECHO_REFUSED);
		return 0;
	}
	if (!segment)
		return sample_floored_ns(flow, tp, rtt_ns);
	left_ns = quell_segment_left_ns(segment, quell_segment_first_end(segment),
					flow->link.bytes_ps);
	if ((u32)left_ns != arrival->echo_ns)
		return segment->end_seq - segment->seq > segment->packet_bytes ?
		       0 : sample_floored_ns(flow, tp, rtt_ns);
	left_ns = quell_segment_left_ns(segment, seq, flow->link.bytes_ps) - left_ns;
	if (segment->queued || left_ns)
		return sample_floored_ns(flow, tp, (s64)rtt_ns - (s64)left_ns);
	return rtt_ns;
}

/* From the departure recorded here. */
static u64 sample_ring_ns(struct quell_flow *flow, const struct tcp_sock *tp, u32 seq,
			  const struct quell_segment *segment,
			  const struct rate_sample *rs, u64 rx_ns)
{
	s64 rtt_ns;

	if (!segment) {
		quell_count(flow->qnet, QUELL_N_RTT_NO_DEPARTURE);
		return 0;
	}
	if (segment->retransmitted || rs->is_retrans) {
		WRITE_ONCE(flow->karn, flow->karn + 1);
		quell_count(flow->qnet, QUELL_N_RTT_KARN);
		return 0;
	}
	if (!rx_ns) {
		quell_count(flow->qnet, QUELL_N_RTT_NO_ARRIVAL);
		return 0;
	}
	rtt_ns = rx_ns - quell_segment_left_ns(segment, seq, flow->link.bytes_ps);
	if (segment->queued || seq - segment->seq > segment->packet_bytes)
		rtt_ns = sample_floored_ns(flow, tp, rtt_ns);
	if (rtt_ns <= 0) {
		quell_count(flow->qnet, QUELL_N_RTT_NOT_POSITIVE);
		return 0;
	}
	return rtt_ns;
}

/* Time of the newest delivered segment in ns; 0 when there is no sample. */
static u64 sample_rtt_ns(struct quell_flow *flow, const struct tcp_sock *tp,
			 u32 acked_seq, const struct rate_sample *rs,
			 struct quell_sample *sample)
{
	const struct quell_segment *segment;
	struct quell_arrival arrival = {};
	u32 seq = tp->snd_una;
	u64 rtt_ns;

	quell_arrival_take(flow, tp->snd_una, &arrival);
	quell_telemetry_take(flow, &arrival, sample);
	quell_tcpint_take(flow, sample);
	if (!arrival.told)
		quell_path_acked(flow, tp, rs);
	/*
	 * Without SACK, an end beyond snd_una is that of the burst whose middle
	 * this ACK acknowledges: nothing of it is known beyond snd_una.
	 */
	if (rs->prior_mstamp && tp->sacked_out && after(rs->last_end_seq, seq))
		seq = rs->last_end_seq;
	else if (seq == acked_seq)
		return 0;
	segment = quell_segments_find(&flow->segments, seq);
	if (arrival.echoed) {
		rtt_ns = sample_echo_ns(flow, tp, seq, segment, &arrival);
		sample->remote_ns = min_t(u64, arrival.hold_ns, rtt_ns);
	} else {
		rtt_ns = sample_ring_ns(flow, tp, seq, segment, rs, arrival.rx_ns);
	}
	if (!rtt_ns)
		return 0;
	if (arrival.echoed) {
		WRITE_ONCE(flow->remote_ns, sample->remote_ns);
		WRITE_ONCE(flow->echoes, flow->echoes + 1);
		quell_count(flow->qnet, QUELL_N_RTT_ECHO);
	}
	if (segment && seq == segment->end_seq)
		sample->flags |= QUELL_S_SEGMENT_DONE;
	if (arrival.hardware)
		sample->flags |= QUELL_S_RTT_HARDWARE;
	quell_count(flow->qnet, QUELL_N_RTT_SAMPLES);
	WRITE_ONCE(flow->samples, flow->samples + 1);
	/* To its timer an ACK is there when the stack sees it. */
	quell_tail_timed(flow, rtt_ns + (max(tp->tcp_clock_cache, arrival.rx_ns) - arrival.rx_ns));
	return rtt_ns;
}

/* The stack's microsecond values, rounded up so that a minimum stays above 0. */
static void sample_kernel_rtt(struct sock *sk, const struct rate_sample *rs,
			      struct quell_sample *sample)
{
	if (rs->rtt_us < 0)
		return;
	sample->rtt_ns = ((u64)rs->rtt_us + 1) * NSEC_PER_USEC;
	sample->min_rtt_ns = ((u64)tcp_min_rtt(tcp_sk(sk)) + 1) * NSEC_PER_USEC;
	sample->flags |= QUELL_S_RTT_KERNEL;
	quell_count(quell_net(sock_net(sk)), QUELL_N_RTT_KERNEL);
}

static void sample_rtt(struct sock *sk, const struct rate_sample *rs,
		       struct quell_sample *sample)
{
	struct quell_cc *cc = quell_cc(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct quell_flow *flow = cc->flow;
	u64 rtt_ns;

	if (!flow) {
		sample_kernel_rtt(sk, rs, sample);
		return;
	}
	quell_signal_check(flow, sk);
	rtt_ns = sample_rtt_ns(flow, tp, cc->acked_seq, rs, sample);
	quell_segments_drop(&flow->segments, tp->snd_una);
	if (rtt_ns) {
		sample->rtt_ns = rtt_ns;
		if (!flow->now.min_rtt_ns || rtt_ns < flow->now.min_rtt_ns)
			WRITE_ONCE(flow->now.min_rtt_ns, rtt_ns);
		WRITE_ONCE(flow->clock, sample->flags & QUELL_S_RTT_HARDWARE ?
					QUELL_CLOCK_HARDWARE : QUELL_CLOCK_SOFTWARE);
	} else if (!flow->now.min_rtt_ns) {
		sample_kernel_rtt(sk, rs, sample);
		if (sample->rtt_ns)
			WRITE_ONCE(flow->clock, QUELL_CLOCK_KERNEL);
	}
	if (flow->now.min_rtt_ns)
		sample->min_rtt_ns = flow->now.min_rtt_ns;
	if (sample->rtt_ns)
		WRITE_ONCE(flow->now.rtt_ns, sample->rtt_ns);
}

/* Payload of the segments delivered: exact without SACK, whole segments with. */
static u32 sample_acked_bytes(const struct tcp_sock *tp, u32 acked_seq, u32 pkts)
{
	u64 most_bytes = (u64)pkts * tp->mss_cache;

	if (!tp->sacked_out && tp->snd_una != acked_seq)
		most_bytes = min_t(u64, most_bytes, tp->snd_una - acked_seq);
	return min_t(u64, most_bytes, U32_MAX);
}

/**
 * quell_sample_state() - a sample of what is known without an ACK
 * @sk:     socket of a Quell algorithm
 * @sample: set in full; no round-trip time, nothing acknowledged
 *
 * Context: socket lock.
 */
void quell_sample_state(struct sock *sk, struct quell_sample *sample)
{
	const struct quell_flow *flow = quell_cc(sk)->flow;
	const struct tcp_sock *tp = tcp_sk(sk);

	*sample = (struct quell_sample) {
		.now_ns = tp->tcp_clock_cache,
		.mss_bytes = max_t(u32, tp->mss_cache, 1),
		.inflight_bytes = tcp_packets_in_flight(tp) * tp->mss_cache,
		.link_bytes_ps = quell_link_bytes_ps(sk),
	};
	if (quell_ecn_is_negotiated(tp))
		sample->flags |= QUELL_S_ECN;
	if (flow) {
		sample->min_rtt_ns = flow->now.min_rtt_ns;
		sample->hops = READ_ONCE(flow->hops);
		if (quell_telemetry_expected(flow))
			sample->flags |= QUELL_S_TELEMETRY;
	}
}

static void sample_count_marks(struct quell_flow *flow, u32 pkts, u64 bytes)
{
	if (!flow || !pkts)
		return;
	WRITE_ONCE(flow->now.marked_pkts, flow->now.marked_pkts + pkts);
	WRITE_ONCE(flow->now.marked_bytes, flow->now.marked_bytes + bytes);
}

/*
 * Whether the core is to hear of a loss within a recovery: of the first that it has no
 * other way to know of, in one that began with nothing of the kind; or, where trimming
 * is a loss like others, of what was trimmed after the last one.
 */
static bool sample_is_loss(const struct sock *sk, const struct quell_flow *flow, u32 lost_pkts)
{
	if (!flow->algo->trims && quell_recover_is_news(flow))
		return true;
	return lost_pkts && flow->recover.unheard &&
	       inet_csk(sk)->icsk_ca_state == TCP_CA_Recovery;
}

/* What was trimmed, and what was lost otherwise. */
static void sample_lost(struct sock *sk, struct quell_flow *flow,
			const struct rate_sample *rs, struct quell_sample *sample)
{
	u32 lost_pkts = max(rs->losses, 0), others_pkts = lost_pkts;

	if (flow)
		sample->trimmed_bytes = quell_recover_take(flow, sk, &others_pkts);
	/* What a timeout marked is not this ACK's. */
	lost_pkts = min(lost_pkts, others_pkts);
	sample->lost_bytes = lost_pkts * tcp_sk(sk)->mss_cache;
	if (flow && sample_is_loss(sk, flow, lost_pkts)) {
		flow->recover.unheard = false;
		quell_cc_on_loss(sk);
	}
}

/**
 * quell_sample_fill() - a sample of one acknowledgment
 * @sk:     socket of a Quell algorithm
 * @rs:     what ->cong_control was given
 * @sample: set in full
 *
 * Context: socket lock, within ->cong_control.
 * Return: false when the ACK reported nothing new as delivered, nor as trimmed to an
 * algorithm that is told of that.
 */
bool quell_sample_fill(struct sock *sk, const struct rate_sample *rs,
		       struct quell_sample *sample)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct quell_cc *cc = quell_cc(sk);
	u32 marked_pkts = tp->delivered_ce - cc->delivered_ce_pkts;

	if (cc->flow)
		quell_tail_answered(cc->flow, sk);
	quell_sample_state(sk, sample);
	sample_rtt(sk, rs, sample);
	sample->acked_pkts = rs->acked_sacked;
	sample->acked_bytes = sample_acked_bytes(tp, cc->acked_seq, rs->acked_sacked);
	sample->marked_bytes = min_t(u64, (u64)marked_pkts * tp->mss_cache,
				     sample->acked_bytes);
	sample_count_marks(cc->flow, marked_pkts, sample->marked_bytes);
	sample_lost(sk, cc->flow, rs, sample);
	sample->inflight_bytes = rs->prior_in_flight * tp->mss_cache;
	if (rs->is_app_limited)
		sample->flags |= QUELL_S_APP_LIMITED;
	cc->acked_seq = tp->snd_una;
	cc->delivered_ce_pkts = tp->delivered_ce;
	cc->active_ns = sample->now_ns;
	cc->backlogged = tp->write_seq != tp->snd_nxt;
	if (cc->flow)
		quell_tail_acked(cc->flow, sk, sample->acked_pkts);
	return sample->acked_pkts > 0 || (sample->trimmed_bytes && cc->algo->trims);
}
EXPORT_SYMBOL_GPL(quell_sample_fill);

/**
 * quell_link_bytes_ps() - speed of the interface a socket sends by
 * @sk: socket of a Quell algorithm
 *
 * Context: socket lock.
 * Return: bytes/s; 0 unknown.
 */
u64 quell_link_bytes_ps(const struct sock *sk)
{
	const struct quell_flow *flow = quell_cc(sk)->flow;
	const struct dst_entry *dst;

	if (flow)
		return flow->link.bytes_ps;
	dst = __sk_dst_get((struct sock *)sk);
	return dst ? quell_link_speed(quell_net(sock_net(sk)), dst->dev->ifindex) : 0;
}

/**
 * quell_first_rtt_ns() - round-trip time for the first window
 * @sk: socket, connected
 *
 * The handshake was timed by the stack, in microseconds; one more, so that the
 * rounding never shortens the window.
 *
 * Context: socket lock.
 * Return: ns; 0 when the handshake gave none.
 */
u64 quell_first_rtt_ns(const struct sock *sk)
{
	u32 srtt_us = tcp_sk(sk)->srtt_us >> 3;

	return tcp_sk(sk)->srtt_us ? (srtt_us + 1ULL) * NSEC_PER_USEC : 0;
}
EXPORT_SYMBOL_GPL(quell_first_rtt_ns);

/**
 * quell_idle_ns() - whether sending starts after nothing was outstanding
 * @sk:      socket of a Quell algorithm
 * @idle_ns: time since the last acknowledgment, ns
 *
 * TX_START also comes with the first retransmission after a timeout, when
 * everything outstanding counts as lost, and with every packet of a window
 * below one segment that was paced; neither is a start.
 *
 * Context: socket lock, within the TX_START event.
 * Return: true for a start.
 */
bool quell_idle_ns(const struct sock *sk, u64 *idle_ns)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u64 active_ns = quell_cc(sk)->active_ns;

	if (tp->packets_out || quell_cc(sk)->backlogged)
		return false;
	*idle_ns = tp->tcp_clock_cache > active_ns ?
		   tp->tcp_clock_cache - active_ns : 0;
	return true;
}

/*
 * After a timeout the window opens again as the stack has it, one segment and
 * then one more per segment delivered, up to what the algorithm allows: the
 * lost segments must not all go out at once.
 */
static u32 apply_after_timeout(const struct sock *sk, u32 cwnd_pkts, u32 acked_pkts)
{
	if (inet_csk(sk)->icsk_ca_state != TCP_CA_Loss)
		return cwnd_pkts;
	return min_t(u64, cwnd_pkts, (u64)tcp_snd_cwnd(tcp_sk(sk)) + acked_pkts);
}

/*
 * The stack paces after a connection's first segments only; for those, put the
 * next departure where pacing would.
 */
static void apply_early_pacing(struct sock *sk, u64 rate_bytes_ps)
{
	const struct quell_flow *flow = quell_cc(sk)->flow;
	struct tcp_sock *tp = tcp_sk(sk);
	const struct quell_segments *segments;
	u64 depart_ns, gap_ns;

	if (tp->data_segs_out >= UNPACED_SEGMENTS || !flow)
		return;
	segments = &flow->segments;
	if (!segments->ring)
		return;
	depart_ns = segments->ring[(segments->tail - 1) & (segments->size - 1)].depart_ns;
	gap_ns = div64_u64((u64)tp->mss_cache * NSEC_PER_SEC, rate_bytes_ps);
	tp->tcp_wstamp_ns = max(tp->tcp_wstamp_ns, depart_ns + gap_ns);
}

static void apply_pacing(struct sock *sk, u64 rate_bytes_ps)
{
	unsigned long rate = min_t(u64, rate_bytes_ps, READ_ONCE(sk->sk_max_pacing_rate));

	WRITE_ONCE(sk->sk_pacing_rate, rate);
	if (rate_bytes_ps == QUELL_RATE_UNLIMITED)
		return;
	/* From here on the stack paces, unless the fq qdisc does. */
	cmpxchg(&sk->sk_pacing_status, SK_PACING_NONE, SK_PACING_NEEDED);
	apply_early_pacing(sk, max_t(u64, rate, 1));
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
 * A sprayed flow changes paths segment by segment, path.c: what was marked is not
 * used again.  Otherwise another path is a new flow hash, which is the IPv6 flow
 * label and what this host spreads flows by.  Switches that hash the IPv4 header
 * alone do not see it, and SO_TXREHASH may forbid it.
 */
static void apply_path(struct sock *sk)
{
	const struct quell_flow *flow = quell_cc(sk)->flow;

	if (flow && flow->path.entropies)
		return;
	if (sk_rethink_txhash(sk))
		quell_count(quell_net(sock_net(sk)), QUELL_N_PATH_CHANGES);
}

/*
 * The window in whole segments.  Rounding down takes half a segment off on
 * average, a third of a window of 1.5.  Where the algorithm asks for better,
 * what is over counts in the next round trip: 2.5 segments are 2 and 3 in turn.
 * By round trip, not by ACK: ACKs come in bunches, and the whole bunch is sent
 * for again by its last one.  Below one segment it is pacing that does this.
 */
static u32 apply_pkts(struct quell_flow *flow, const struct tcp_sock *tp,
		      u64 window_bytes, u32 mss_bytes)
{
	if (flow && flow->algo->fractional_window && window_bytes >= mss_bytes) {
		if (after(tp->snd_una, flow->round_seq)) {
			flow->round_seq = tp->snd_nxt;
			flow->carry_bytes = flow->rest_bytes;
			div_u64_rem(window_bytes + flow->carry_bytes, mss_bytes,
				    &flow->rest_bytes);
		}
		window_bytes += flow->carry_bytes;
	}
	return min_t(u64, div_u64(window_bytes, mss_bytes), U32_MAX);
}

/* What the stack is given of it. */
static u32 apply_cwnd_pkts(struct quell_flow *flow, const struct tcp_sock *tp,
			   const struct quell_sample *sample, u64 window_bytes)
{
	u32 pkts = apply_pkts(flow, tp, window_bytes,
			      max_t(u32, sample->mss_bytes, 1));

	return clamp_t(u32, pkts, 1, max_t(u32, tp->snd_cwnd_clamp, 1));
}

/**
 * quell_apply() - do what an algorithm decided
 * @sk:       socket of a Quell algorithm
 * @sample:   what the decision was made of
 * @decision: window, pacing rate and whether to change paths
 *
 * A window below one segment becomes one segment, paced.  One that is no whole
 * number of segments is rounded down, or, with quell_algo.fractional_window, up
 * and down in turn.
 *
 * Context: socket lock.
 */
void quell_apply(struct sock *sk, const struct quell_sample *sample,
		 const struct quell_decision *decision)
{
	u64 window_bytes = decision->window_q16 >> QUELL_Q16_SHIFT;
	struct quell_flow *flow = quell_cc(sk)->flow;
	struct tcp_sock *tp = tcp_sk(sk);
	u32 cwnd_pkts = apply_cwnd_pkts(flow, tp, sample, window_bytes);

	tcp_snd_cwnd_set(tp, apply_after_timeout(sk, cwnd_pkts, sample->acked_pkts));
	apply_pacing(sk, decision->pacing_bytes_ps);
	if (decision->change_path)
		apply_path(sk);
	if (!flow)
		return;
	WRITE_ONCE(flow->now.window_bytes, window_bytes);
	WRITE_ONCE(flow->now.pacing_bytes_ps, decision->pacing_bytes_ps);
	WRITE_ONCE(flow->now.target_ns, decision->target_ns);
	WRITE_ONCE(flow->inflight_bytes, sample->inflight_bytes);
	WRITE_ONCE(flow->mss_bytes, sample->mss_bytes);
	WRITE_ONCE(flow->limit, apply_limit(tp, sample, decision));
}
EXPORT_SYMBOL_GPL(quell_apply);

/**
 * quell_apply_timeout() - do what an algorithm decided about a timeout
 * @sk:       socket of a Quell algorithm
 * @sample:   what the decision was made of
 * @decision: window and pacing rate
 *
 * As quell_apply(), but the one segment the stack lets out is not raised.
 *
 * Context: socket lock, within ->set_state(TCP_CA_Loss).
 */
void quell_apply_timeout(struct sock *sk, const struct quell_sample *sample,
			 const struct quell_decision *decision)
{
	u32 cwnd_pkts = tcp_snd_cwnd(tcp_sk(sk));

	quell_apply(sk, sample, decision);
	tcp_snd_cwnd_set(tcp_sk(sk), min(cwnd_pkts, tcp_snd_cwnd(tcp_sk(sk))));
}

/**
 * quell_apply_undo() - do what an algorithm decided about losses that were none
 * @sk:       socket of a Quell algorithm
 * @sample:   what the decision was made of
 * @decision: window and pacing rate
 *
 * As quell_apply(), but a timeout that was none leaves no start from one segment.
 *
 * Context: socket lock, within ->undo_cwnd; the state is still that of the recovery.
 */
void quell_apply_undo(struct sock *sk, const struct quell_sample *sample,
		      const struct quell_decision *decision)
{
	struct tcp_sock *tp = tcp_sk(sk);

	quell_apply(sk, sample, decision);
	tcp_snd_cwnd_set(tp, apply_cwnd_pkts(quell_cc(sk)->flow, tp, sample,
					     decision->window_q16 >> QUELL_Q16_SHIFT));
}

// SPDX-License-Identifier: GPL-2.0
/*
 * From TCP's state to a core's sample.
 *
 * Round-trip time.  The newest segment this ACK reports delivered is the last
 * cumulatively acknowledged one, or rs->last_end_seq where SACK reached
 * further.  Its departure comes from the departure ring, the ACK's receipt is when TCP
 * processes it or, from the backlog of a busy socket, by a NIC's stamp or with an option,
 * comes from the arrival ring:
 *
 *	rtt = receipt - (departure + serialisation on the first link)
 *
 * If the other end uses the Quell option it echoes that departure, so the
 * departure ring is not needed to find which transmission an ACK answers.
 *
 * Until the first such sample of a flow (its hooks are not registered yet, memory
 * was short), the stack's own microsecond value is used, with QUELL_S_RTT_KERNEL;
 * a flow that has had nanoseconds never goes back, because the two are not
 * comparable.
 */
#include <linux/math64.h>
#include <net/tcp.h>
#include <compat/tcp_ecn.h>
#include <quell/core/lib/window.h>
#include <quell/core/signal/echo.h>
#include "flow/flow.h"
#include "flow/path.h"
#include "flow/rx.h"
#include "flow/signal.h"
#include "flow/tail.h"
#include "flow/tcpint.h"
#include "flow/tx.h"
#include "netns/counters.h"
#include "netns/net.h"

/*
 * An ACK that took so long, and so many times the least round trip, was delayed.  Linux
 * delays by 40 ms, up to a tick of the clock less.
 */
#define DELAYED_ACK_NS		(20U * NSEC_PER_MSEC)
#define DELAYED_ROUND_TRIPS	8U

/*
 * In place of a round-trip time: the ACK was delayed, by a timer or for the reply that it came
 * with, so that neither its time nor whether the window was enough is known.
 */
#define SAMPLE_WAITED		U64_MAX

/*
 * Lower bound of a round-trip time.  Only packets that found the interface free
 * set the minimum: the time that others waited in it is computed from its
 * speed, and a virtual one (veth) sends at once at any speed that it claims.  The
 * stack's own minimum helps if every segment is a burst; it is in microseconds,
 * so one less is a safe bound.
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
	/* A difference of 1 ns is rounding. */
	if (floor_ns - rtt_ns > 1)
		quell_count(flow->qnet, QUELL_N_RTT_FLOORED);
	return floor_ns;
}

/**
 * struct sample_acked - the data that an ACK was for
 * @segment:  that of the newest data that it delivered; NULL: not recorded
 * @seq:      sequence number after that data
 * @prior_una: acknowledgment number before it
 * @left_ns:  when the last of that data left, ns; valid with @segment
 * @stamp_ns: stamp of the packets of @segment, ns; 0: not computed
 */
struct sample_acked {
	const struct quell_segment	*segment;
	u32				seq;
	u32				prior_una;
	u64				left_ns;
	u64				stamp_ns;
};

/* When the first packet of a segment left, ns. */
static u64 sample_stamp_ns(const struct quell_flow *flow, const struct quell_segment *segment)
{
	return quell_segment_left_ns(segment, quell_segment_first_end(segment),
				     flow->link.ns_q32);
}

/* The same of the segment that an ACK was for: of a lone packet all of it left then. */
static u64 sample_acked_stamp_ns(const struct quell_flow *flow, const struct sample_acked *acked)
{
	return acked->seq == quell_segment_first_end(acked->segment) ?
	       acked->left_ns : sample_stamp_ns(flow, acked->segment);
}

/*
 * The departure of the retransmission that is the newest sent of the data that this ACK delivered,
 * as TCP names it; 0 if that was no retransmission.  The flow's newest one may still be on its way;
 * it bounds only data that the ring has no entry of.
 */
static u64 sample_resent_ns(const struct quell_flow *flow, const struct rate_sample *rs)
{
	const struct quell_segment *segment;
	u32 resent_ns = flow->resent_depart_ns;

	if (!flow->retransmits || !rs->is_retrans)
		return 0;
	segment = quell_segments_find(&flow->segments, rs->last_end_seq);
	if (segment && !segment->retransmitted)
		return 0;	/* TCP's retransmission never left */
	if (segment)
		resent_ns = segment->resent_depart_ns;
	return quell_sub_sat_u64(flow->depart_ns, (u32)flow->depart_ns - resent_ns);
}

/* The newest departure of data that the peer has acknowledged, ns. */
static u64 sample_newest_ns(const struct quell_flow *flow, struct tcp_sock *tp,
			    const struct rate_sample *rs, const struct sample_acked *acked)
{
	const struct quell_segment *segment = acked->segment;
	u64 stamp_ns = acked->stamp_ns;

	if (tp->sacked_out) {
		/* Without SACK a peer does not say which. */
		segment = tcp_is_reno(tp) ? NULL :
			  quell_segments_find(&flow->segments, tcp_highest_sack_seq(tp));
		stamp_ns = segment ? sample_stamp_ns(flow, segment) : 0;
	}
	return segment ? max(stamp_ns, sample_resent_ns(flow, rs)) : flow->depart_ns;
}

/*
 * The range of departures that an ACK can echo: from that of the oldest outstanding segment to
 * the newest delivered.
 */
static struct quell_echo_span sample_span(const struct quell_flow *flow, struct tcp_sock *tp,
					  const struct rate_sample *rs,
					  const struct sample_acked *acked)
{
	const struct quell_segment *oldest = quell_segments_oldest(&flow->segments);

	return (struct quell_echo_span) {
		.oldest_ns = oldest ? oldest->depart_ns : 0,
		.newest_ns = sample_newest_ns(flow, tp, rs, acked),
	};
}

/*
 * Round-trip time from the departure that the other host echoed.  Despite
 * retransmissions, SACK and lost ACKs this is the departure of the packet that
 * this ACK answers.  All packets of a burst carry the departure of its first;
 * that of the newest is computed if the ACK is for that burst.  0 when the
 * departure is ambiguous or impossible.
 */
static u64 sample_echo_ns(struct quell_flow *flow, const struct tcp_sock *tp,
			  const struct quell_echo_span *span, const struct sample_acked *acked,
			  const struct quell_arrival *arrival)
{
	u64 rtt_ns = quell_echo_rtt_ns(span, arrival->rx_ns, arrival->echo_ns);
	const struct quell_segment *segment = acked->segment;
	u64 left_ns;

	if (!rtt_ns) {
		quell_count(flow->qnet, QUELL_N_RTT_ECHO_REFUSED);
		return 0;
	}
	if (!segment)
		return sample_floored_ns(flow, tp, rtt_ns);
	if ((u32)acked->stamp_ns != arrival->echo_ns)
		return segment->end_seq - segment->seq > segment->packet_bytes ?
		       0 : sample_floored_ns(flow, tp, rtt_ns);
	left_ns = acked->left_ns - acked->stamp_ns;
	if (segment->queued || left_ns)
		return sample_floored_ns(flow, tp, (s64)rtt_ns - (s64)left_ns);
	return rtt_ns;
}

/* The other host's share of a round trip, limited to plausible values. */
static u64 sample_hold_ns(struct quell_flow *flow, const struct tcp_sock *tp, u64 rtt_ns,
			  u32 said_ns)
{
	u64 hold_ns = quell_echo_hold_ns(said_ns, rtt_ns, sample_floor_ns(flow, tp));

	if (hold_ns != said_ns)
		quell_count(flow->qnet, QUELL_N_RTT_HOLD_REFUSED);
	return hold_ns;
}

/* Whether the local ring has the departure of a segment; counts the reason if not. */
static bool sample_admits(struct quell_flow *flow, const struct quell_segment *segment,
			  const struct rate_sample *rs)
{
	if (!segment) {
		quell_count(flow->qnet, QUELL_N_RTT_NO_DEPARTURE);
		return false;
	}
	if (segment->retransmitted || rs->is_retrans) {
		WRITE_ONCE(flow->karn, flow->karn + 1);
		quell_count(flow->qnet, QUELL_N_RTT_KARN);
		return false;
	}
	return true;
}

/* Round-trip time from the departure in the local ring; 0 when there is no sample. */
static u64 sample_ring_ns(struct quell_flow *flow, const struct tcp_sock *tp,
			  const struct sample_acked *acked, u64 rx_ns)
{
	const struct quell_segment *segment = acked->segment;
	s64 rtt_ns;

	rtt_ns = rx_ns - acked->left_ns;
	if (segment->queued || acked->seq - segment->seq > segment->packet_bytes)
		rtt_ns = sample_floored_ns(flow, tp, rtt_ns);
	if (rtt_ns <= 0) {
		quell_count(flow->qnet, QUELL_N_RTT_NOT_POSITIVE);
		return 0;
	}
	return rtt_ns;
}

/*
 * Round-trip time from an echo.  Time that the peer added to it counts as hold time, as if it had
 * said so; SAMPLE_WAITED: for nothing, a lone segment waited.  0 when there is no sample.
 */
static u64 sample_echoed_ns(struct quell_flow *flow, struct tcp_sock *tp,
			    const struct rate_sample *rs, const struct sample_acked *acked,
			    struct quell_arrival *arrival)
{
	struct quell_echo_span span = sample_span(flow, tp, rs, acked);
	u64 added_ns = quell_echo_added_ns(&span, arrival->rx_ns, arrival->echo_ns);

	if (added_ns > QUELL_ECHO_WAIT_NS && rs->prior_in_flight == 1) {
		flow->peer_delays = true;
		quell_count(flow->qnet, QUELL_N_RTT_ECHO_WAITED);
		return SAMPLE_WAITED;
	}
	if (added_ns) {
		arrival->echo_ns = span.newest_ns;
		arrival->hold_ns = min_t(u64, arrival->hold_ns + added_ns,
					 QUELL_OPT_HOLD_MAX_NS);
	}
	return sample_echo_ns(flow, tp, &span, acked, arrival);
}

/* Round-trip time by the echo or, without a valid one, by this host's own record; 0: no sample. */
static u64 sample_timed_ns(struct quell_flow *flow, struct tcp_sock *tp,
			   const struct rate_sample *rs, struct sample_acked *acked,
			   struct quell_arrival *arrival)
{
	u64 rtt_ns = 0;

	if (!arrival->rx_ns) {
		quell_count(flow->qnet, QUELL_N_RTT_NO_ARRIVAL);
		return 0;
	}
	if (arrival->has_echo) {
		if (acked->segment)
			acked->stamp_ns = sample_acked_stamp_ns(flow, acked);
		rtt_ns = sample_echoed_ns(flow, tp, rs, acked, arrival);
	}
	if (rtt_ns)
		return rtt_ns;
	arrival->has_echo = false;
	return sample_admits(flow, acked->segment, rs) ?
	       sample_ring_ns(flow, tp, acked, arrival->rx_ns) : 0;
}

/*
 * Whether the ACK came with the answer to all that was sent, and may have waited for it: the
 * time that the peer's program took is no queue.  A flow's first sample may be one.
 */
static bool sample_is_answer(const struct quell_flow *flow, const struct tcp_sock *tp,
			     const struct quell_arrival *arrival)
{
	return READ_ONCE(flow->data_ack_seq) == tp->snd_una && !arrival->has_echo &&
	       tp->snd_una == tp->snd_nxt && flow->now.min_rtt_ns;
}

/*
 * Notes a peer that delays the ACK of a lone packet: one without Quell, 40 ms in Linux, or one
 * that says so.  A queue may be as long, and the peer may lie; the second segment that the
 * window then has room for is paced.
 */
static void sample_check_delay(struct quell_flow *flow, const struct rate_sample *rs, u64 rtt_ns)
{
	u64 min_rtt_ns = flow->now.min_rtt_ns;

	if (rs->prior_in_flight == 1 && rtt_ns >= DELAYED_ACK_NS && min_rtt_ns &&
	    rtt_ns >= DELAYED_ROUND_TRIPS * min_rtt_ns)
		flow->peer_delays = true;
}

/* A round-trip time is a sample: its hold time, its clock, and the counters. */
static void sample_taken(struct quell_flow *flow, const struct tcp_sock *tp,
			 const struct quell_arrival *arrival, u64 rtt_ns,
			 struct quell_sample *sample)
{
	if (arrival->has_echo) {
		sample->remote_ns = sample_hold_ns(flow, tp, rtt_ns, arrival->hold_ns);
		WRITE_ONCE(flow->now.remote_ns, sample->remote_ns);
		WRITE_ONCE(flow->echoes, flow->echoes + 1);
		quell_count(flow->qnet, QUELL_N_RTT_ECHO);
	}
	if (arrival->hardware)
		sample->flags |= QUELL_S_RTT_HARDWARE;
	quell_count(flow->qnet, QUELL_N_RTT_SAMPLES);
	WRITE_ONCE(flow->now.samples, flow->now.samples + 1);
	/* For the tail timer an ACK arrives when the stack processes it. */
	quell_tail_timed(flow, rtt_ns + (max(tp->tcp_clock_cache, arrival->rx_ns) -
					 arrival->rx_ns));
}

/*
 * An ACK that came before its data had left: the interface is faster than its driver says, as a
 * virtual one is.  It is taken for idle then, or the departures of all further data would lie
 * ever further ahead of the clock.
 */
static void sample_check_link(struct quell_flow *flow, const struct sample_acked *acked,
			      u64 rx_ns)
{
	struct quell_link *link = &flow->link;

	if (acked->segment->retransmitted || !rx_ns || acked->left_ns <= rx_ns)
		return;
	link->free_ns = min(link->free_ns, rx_ns);
	link->free_q32 = 0;
}

/*
 * The receipt of the ACK that is processed, with the telemetry record of those since the last: the
 * hook records those that TCP cannot time.  TCP processes all other ACKs as they come in, but those
 * that a process finds in the backlog: their receipt is not known.
 */
static void sample_receipt(struct quell_flow *flow, const struct tcp_sock *tp, u32 acked_seq,
			   struct quell_arrival *arrival)
{
	/* An echo names its data itself; TCP may have dropped another ACK. */
	if (quell_arrival_take(flow, tp->snd_una, arrival) &&
	    (arrival->ack_seq == tp->snd_una ||
	     (arrival->has_echo && after(arrival->ack_seq, acked_seq))))
		return;
	arrival->rx_ns = tp->tcp_clock_cache;
	if (sock_owned_by_user_nocheck(flow->sk) || quell_signal_is_signed(flow->sk))
		arrival->rx_ns = 0;
	arrival->has_echo = false;
	arrival->hardware = false;
}

/*
 * Round-trip time of the newest delivered segment in ns; 0 when there is no sample,
 * SAMPLE_WAITED instead.  The lock of the flow is held.
 */
static u64 sample_rtt_ns(struct quell_flow *flow, struct tcp_sock *tp,
			 u32 acked_seq, const struct rate_sample *rs,
			 struct quell_sample *sample)
{
	struct sample_acked acked = { .seq = tp->snd_una, .prior_una = acked_seq };
	struct quell_arrival arrival = {};
	u64 rtt_ns;

	sample_receipt(flow, tp, acked_seq, &arrival);
	if (!quell_telemetry_is_empty(arrival.record))
		quell_telemetry_take(flow, &arrival, sample);
	if (quell_tcpint_is_on(flow))
		quell_tcpint_take(flow, sample);
	if (flow->path.entropies && !arrival.has_entropy)
		quell_path_acked(flow, tp, rs);
	/*
	 * Without SACK, last_end_seq beyond snd_una is the end of a burst that
	 * this ACK acknowledges in part: the ACK is for data up to snd_una only.
	 */
	if (rs->prior_mstamp && tp->sacked_out && after(rs->last_end_seq, acked.seq))
		acked.seq = rs->last_end_seq;
	else if (acked.seq == acked_seq)
		return 0;
	acked.segment = quell_segments_find(&flow->segments, acked.seq);
	if (acked.segment) {
		acked.left_ns = quell_segment_left_ns(acked.segment, acked.seq,
						      flow->link.ns_q32);
		sample->burst_bytes = acked.seq - acked.segment->seq;
		sample_check_link(flow, &acked, arrival.rx_ns);
	}
	rtt_ns = sample_timed_ns(flow, tp, rs, &acked, &arrival);
	if (!rtt_ns || rtt_ns == SAMPLE_WAITED)
		return rtt_ns;
	if (sample_is_answer(flow, tp, &arrival)) {
		quell_count(flow->qnet, QUELL_N_RTT_ANSWER);
		quell_tail_timed(flow, rtt_ns);
		return SAMPLE_WAITED;
	}
	if (!arrival.has_echo)
		sample_check_delay(flow, rs, rtt_ns);
	if (acked.segment && acked.seq == acked.segment->end_seq)
		sample->flags |= QUELL_S_SEGMENT_DONE;
	sample_taken(flow, tp, &arrival, rtt_ns, sample);
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

/**
 * quell_sample_rtt() - the round-trip time of an acknowledgment
 * @sk:     socket of a Quell algorithm
 * @rs:     argument of ->cong_control
 * @sample: from quell_sample_state(); the round-trip time, telemetry, the other host's
 *	    share and flags are added
 *
 * Context: socket lock, bottom halves off, within ->cong_control.
 */
void quell_sample_rtt(struct sock *sk, const struct rate_sample *rs,
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
	if (READ_ONCE(flow->option) == QUELL_OPTION_ON || flow->option_room_bytes ||
	    quell_tcpint_is_on(flow))
		quell_signal_check(flow, sk);
	spin_lock(&flow->lock);
	rtt_ns = sample_rtt_ns(flow, tp, cc->acked_seq, rs, sample);
	quell_segments_drop(&flow->segments, tp->snd_una);
	quell_tail_acked(flow, tp->tcp_clock_cache, rs->acked_sacked);
	spin_unlock(&flow->lock);
	if (rtt_ns && rtt_ns != SAMPLE_WAITED) {
		sample->rtt_ns = rtt_ns;
		if (!flow->now.min_rtt_ns || rtt_ns < flow->now.min_rtt_ns)
			WRITE_ONCE(flow->now.min_rtt_ns, rtt_ns);
		WRITE_ONCE(flow->now.clock, sample->flags & QUELL_S_RTT_HARDWARE ?
					QUELL_CLOCK_HARDWARE : QUELL_CLOCK_SOFTWARE);
	} else if (rtt_ns == SAMPLE_WAITED) {
		/* It is not known whether the window was enough. */
		sample->flags |= QUELL_S_APP_LIMITED;
	} else if (!flow->now.min_rtt_ns) {
		sample_kernel_rtt(sk, rs, sample);
		if (sample->rtt_ns)
			WRITE_ONCE(flow->now.clock, QUELL_CLOCK_KERNEL);
	}
	if (flow->now.min_rtt_ns)
		sample->min_rtt_ns = flow->now.min_rtt_ns;
	if (sample->rtt_ns)
		WRITE_ONCE(flow->now.rtt_ns, sample->rtt_ns);
}

/**
 * quell_sample_state() - a sample of the state known without an ACK
 * @sk:     socket of a Quell algorithm
 * @sample: set in full; without round-trip time and acknowledged data
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
		.header_bytes = quell_header_bytes(sk),
		.inflight_bytes = quell_mul_sat_u32(tcp_packets_in_flight(tp), tp->mss_cache),
		.link_bytes_ps = quell_link_bytes_ps(sk),
	};
	if (quell_ecn_is_negotiated(tp))
		sample->flags |= QUELL_S_ECN;
	if (flow) {
		sample->min_rtt_ns = flow->now.min_rtt_ns;
		sample->hops = READ_ONCE(flow->hops);
		if (flow->dasr) {
			sample->senders_q8 = READ_ONCE(flow->dasr->senders_q8);
			sample->peer_link_bytes_ps = READ_ONCE(flow->dasr->peer_link_bytes_ps);
		}
		if (quell_telemetry_expected(flow))
			sample->flags |= QUELL_S_TELEMETRY;
	}
}

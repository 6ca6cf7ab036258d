// SPDX-License-Identifier: GPL-2.0
/*
 * Processing of an acknowledgment.  In ->in_ack_event, before TCP detects losses, trimmed segments
 * are marked lost.  From ->cong_control to the core, quell_cong_control():
 *
 *	collect		fill a sample from TCP and the signal plane
 *	classify	find the losses that this acknowledgment is the first to show, and report
 *			them to the core, once
 *	fit		pass the sample through the layer before the core, adapt.c
 *	core		call its on_ack, if quell_ack() returned true
 *	apply		apply its decision, once, apply.c
 *
 * The algorithm's module makes the last two calls.  Losses are reported before the core gets
 * the acknowledgment, so that its decision on the acknowledgment is applied last.
 *
 * Round-trip time.  The newest segment that this ACK reports delivered is the last cumulatively
 * acknowledged one, or rs->last_end_seq where SACK reached further.  Its departure comes from the
 * departure ring; the ACK's receipt is when TCP processes it or, from the backlog of a busy
 * socket, by a NIC's stamp or with an echo, comes from the arrival ring:
 *
 *	rtt = receipt - (departure + serialisation on the first link)
 *
 * A peer that uses the Quell option echoes that departure, so that the ring is not needed to
 * find the transmission that the ACK is for.
 *
 * Until the first such sample of a flow (its hooks are not registered yet, memory was short),
 * the stack's own microsecond value is used, with QUELL_S_RTT_KERNEL; a flow that has had
 * nanoseconds never goes back, because the two are not comparable.
 */
#include <net/tcp.h>
#include <quell/core/lib/window.h>
#include <quell/core/signal/echo.h>
#include "cc/cc.h"
#include "signal/signal.h"
#include "tcp/tcp.h"
#include "tcp/tcp_internals.h"

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
#define SAMPLE_DELAYED		U64_MAX

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

/* The data that an ACK was for. */
struct sample_acked {
	/* Of the newest data that it delivered; NULL: not recorded. */
	const struct quell_segment	*segment;
	u32				seq;	/* after that data */
	/* When the last of it was sent; valid with @segment. */
	u64				tx_end_ns;
	/* Of the packets of @segment; 0: not computed. */
	u64				stamp_ns;
};

/* When the first packet of a segment left, ns. */
static u64 sample_stamp_ns(const struct quell_flow *flow, const struct quell_segment *segment)
{
	return quell_segment_tx_end_ns(segment, quell_segment_first_end(segment),
				       flow->link.ns_q32);
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
 * Round-trip time from the departure that the peer echoed.  Despite retransmissions, SACK and
 * lost ACKs this is the departure of the packet that this ACK is for.  All packets of a burst carry
 * the departure of its first; that of the newest is computed if the ACK is for that burst.
 *
 * Time that the peer added to it counts as hold time, as if it had stated that; SAMPLE_DELAYED: a
 * lone segment was delayed.  0 if the departure is ambiguous or impossible.
 */
static u64 sample_echoed_ns(struct quell_flow *flow, struct tcp_sock *tp,
			    const struct rate_sample *rs, const struct sample_acked *acked,
			    struct quell_ack_rx *ack_rx)
{
	const struct quell_segments *segments = &flow->segments;
	/* From the oldest outstanding segment to the newest delivered. */
	struct quell_echo_span span = {
		.oldest_ns = segments->head == segments->tail ? 0 :
			     quell_segment_at(segments, segments->head)->depart_ns,
		.newest_ns = sample_newest_ns(flow, tp, rs, acked),
	};
	u64 added_ns = quell_echo_added_ns(&span, ack_rx->rx_ns, ack_rx->echo_ns);
	const struct quell_segment *segment = acked->segment;
	u64 rtt_ns, tx_end_ns;

	if (added_ns > QUELL_ECHO_WAIT_NS && rs->prior_in_flight == 1) {
		flow->peer_delays = true;
		quell_count(flow->qnet, QUELL_N_RTT_ECHO_DELAYED);
		return SAMPLE_DELAYED;
	}
	if (added_ns) {
		ack_rx->echo_ns = span.newest_ns;
		ack_rx->hold_ns = min_t(u64, ack_rx->hold_ns + added_ns,
					QUELL_OPT_HOLD_MAX_NS);
	}
	rtt_ns = quell_echo_rtt_ns(&span, ack_rx->rx_ns, ack_rx->echo_ns);
	if (!rtt_ns) {
		quell_count(flow->qnet, QUELL_N_RTT_ECHO_REFUSED);
		return 0;
	}
	if (!segment)
		return sample_floored_ns(flow, tp, rtt_ns);
	if ((u32)acked->stamp_ns != ack_rx->echo_ns)
		return segment->end_seq - segment->seq > segment->packet_bytes ?
		       0 : sample_floored_ns(flow, tp, rtt_ns);
	tx_end_ns = acked->tx_end_ns - acked->stamp_ns;
	if (segment->queued || tx_end_ns)
		return sample_floored_ns(flow, tp, (s64)rtt_ns - (s64)tx_end_ns);
	return rtt_ns;
}

/*
 * Round-trip time from the departure in this host's own ring; 0 if there is no sample, with the
 * reason counted.
 */
static u64 sample_ring_ns(struct quell_flow *flow, const struct tcp_sock *tp,
			  const struct rate_sample *rs, const struct sample_acked *acked,
			  u64 rx_ns)
{
	const struct quell_segment *segment = acked->segment;
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
	rtt_ns = rx_ns - acked->tx_end_ns;
	if (segment->queued || acked->seq - segment->seq > segment->packet_bytes)
		rtt_ns = sample_floored_ns(flow, tp, rtt_ns);
	if (rtt_ns <= 0) {
		quell_count(flow->qnet, QUELL_N_RTT_NOT_POSITIVE);
		return 0;
	}
	return rtt_ns;
}

/* Round-trip time by the echo or, without a valid one, by this host's own record; 0: no sample. */
static u64 sample_timed_ns(struct quell_flow *flow, struct tcp_sock *tp,
			   const struct rate_sample *rs, struct sample_acked *acked,
			   struct quell_ack_rx *ack_rx)
{
	u64 rtt_ns = 0;

	if (!ack_rx->rx_ns) {
		quell_count(flow->qnet, QUELL_N_RTT_NO_RX_TIME);
		return 0;
	}
	if (ack_rx->has_echo) {
		/* Of a lone packet all of it left at the stamp. */
		if (acked->segment)
			acked->stamp_ns = acked->seq == quell_segment_first_end(acked->segment) ?
					  acked->tx_end_ns : sample_stamp_ns(flow, acked->segment);
		rtt_ns = sample_echoed_ns(flow, tp, rs, acked, ack_rx);
	}
	if (rtt_ns)
		return rtt_ns;
	ack_rx->has_echo = false;
	return sample_ring_ns(flow, tp, rs, acked, ack_rx->rx_ns);
}

/* A round-trip time is a sample: its hold time, its clock, and the counters. */
static void sample_count(struct quell_flow *flow, const struct tcp_sock *tp,
			 const struct quell_ack_rx *ack_rx, u64 rtt_ns,
			 struct quell_sample *sample)
{
	if (ack_rx->has_echo) {
		/* Limited to plausible values. */
		sample->remote_ns = quell_echo_hold_ns(ack_rx->hold_ns, rtt_ns,
						       sample_floor_ns(flow, tp));
		if (sample->remote_ns != ack_rx->hold_ns)
			quell_count(flow->qnet, QUELL_N_RTT_HOLD_REFUSED);
		WRITE_ONCE(flow->now.remote_ns, sample->remote_ns);
		WRITE_ONCE(flow->echoes, flow->echoes + 1);
		quell_count(flow->qnet, QUELL_N_RTT_ECHO);
	}
	if (ack_rx->hardware)
		sample->flags |= QUELL_S_RTT_HARDWARE;
	quell_count(flow->qnet, QUELL_N_RTT_SAMPLES);
	WRITE_ONCE(flow->now.samples, flow->now.samples + 1);
	/* For the tail timer an ACK is received when the stack processes it. */
	quell_tail_timed(flow, rtt_ns + (max(tp->tcp_clock_cache, ack_rx->rx_ns) -
					 ack_rx->rx_ns));
}

/*
 * The receipt of the ACK that is processed, with the telemetry record of those since the last: the
 * hook records those that TCP cannot time.  TCP processes all other ACKs as they come in, but those
 * that a process finds in the backlog: their receipt is not known.
 */
static void sample_receipt(struct quell_flow *flow, const struct tcp_sock *tp, u32 acked_seq,
			   struct quell_ack_rx *ack_rx)
{
	/* An echo names its data itself; TCP may have dropped another ACK. */
	if (flow->ack_rx_list.nr && quell_ack_rx_take(flow, tp->snd_una, ack_rx) &&
	    (ack_rx->ack_seq == tp->snd_una ||
	     (ack_rx->has_echo && after(ack_rx->ack_seq, acked_seq))))
		return;
	ack_rx->rx_ns = tp->tcp_clock_cache;
	if (sock_owned_by_user_nocheck(flow->sk) || quell_signal_is_signed(flow->sk))
		ack_rx->rx_ns = 0;
	ack_rx->has_echo = false;
	ack_rx->hardware = false;
	ack_rx->has_entropy = false;
}

/*
 * The segment that an ACK is for.  An ACK that came before its data had left shows that the
 * interface is faster than its driver states, as a virtual one is.  It counts as idle then, or the
 * departures of all further data would be ever further ahead of the clock.
 */
static void sample_find(struct quell_flow *flow, struct sample_acked *acked, u64 rx_ns,
			struct quell_sample *sample)
{
	acked->segment = quell_segments_find(&flow->segments, acked->seq);
	if (!acked->segment)
		return;
	acked->tx_end_ns = quell_segment_tx_end_ns(acked->segment, acked->seq, flow->link.ns_q32);
	sample->burst_bytes = acked->seq - acked->segment->seq;
	if (!acked->segment->retransmitted && rx_ns && acked->tx_end_ns > rx_ns) {
		flow->link.free_ns = min(flow->link.free_ns, rx_ns);
		flow->link.free_q32 = 0;
	}
}

/*
 * Round-trip time of the newest delivered segment in ns; 0 when there is no sample,
 * SAMPLE_DELAYED instead.  The lock of the flow is held.
 */
static u64 sample_rtt_ns(struct quell_flow *flow, struct tcp_sock *tp,
			 u32 acked_seq, const struct rate_sample *rs,
			 struct quell_sample *sample)
{
	struct sample_acked acked = { .seq = tp->snd_una };
	u64 min_rtt_ns = flow->now.min_rtt_ns, rtt_ns;
	struct quell_ack_rx ack_rx = {};

	sample_receipt(flow, tp, acked_seq, &ack_rx);
	if (!quell_telemetry_is_empty(ack_rx.record))
		quell_telemetry_take(flow, &ack_rx, sample);
	if (quell_tcpint_is_on(flow))
		quell_tcpint_take(flow, sample);
	if (flow->entropies && !ack_rx.has_entropy)
		quell_path_acked(flow, tp, rs);
	/*
	 * Without SACK, last_end_seq beyond snd_una is the end of a burst that
	 * this ACK acknowledges in part: the ACK is for data up to snd_una only.
	 */
	if (rs->prior_mstamp && tp->sacked_out && after(rs->last_end_seq, acked.seq))
		acked.seq = rs->last_end_seq;
	else if (acked.seq == acked_seq)
		return 0;
	sample_find(flow, &acked, ack_rx.rx_ns, sample);
	rtt_ns = sample_timed_ns(flow, tp, rs, &acked, &ack_rx);
	if (!rtt_ns || rtt_ns == SAMPLE_DELAYED)
		return rtt_ns;
	/*
	 * The ACK came with the reply to all that was sent, and may have been delayed for it: the
	 * time that the peer's program took is no queue.  A flow's first sample may be one.
	 */
	if (!ack_rx.has_echo && READ_ONCE(flow->data_ack_seq) == tp->snd_una &&
	    tp->snd_una == tp->snd_nxt && min_rtt_ns) {
		quell_count(flow->qnet, QUELL_N_RTT_DELAYED_ACK);
		quell_tail_timed(flow, rtt_ns);
		return SAMPLE_DELAYED;
	}
	/*
	 * The peer delays the ACK of a lone packet.  A queue may be as long, or the peer lie: the
	 * second segment that the window then has room for is paced.
	 */
	if (!ack_rx.has_echo && rs->prior_in_flight == 1 && min_rtt_ns &&
	    rtt_ns >= max_t(u64, DELAYED_ACK_NS, DELAYED_ROUND_TRIPS * min_rtt_ns))
		flow->peer_delays = true;
	if (acked.segment && acked.seq == acked.segment->end_seq)
		sample->flags |= QUELL_S_SEGMENT_DONE;
	sample_count(flow, tp, &ack_rx, rtt_ns, sample);
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

/* The round-trip time, with telemetry, the peer's share and flags. */
static void ack_time(struct sock *sk, const struct rate_sample *rs, struct quell_sample *sample)
{
	struct quell_cc *cc = quell_cc(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct quell_flow *flow = cc->flow;
	struct quell_segments *segments;
	u64 rtt_ns;

	if (!flow) {
		sample_kernel_rtt(sk, rs, sample);
		return;
	}
	if (!quell_signal_is_settled(flow, sk))
		quell_signal_check(flow, sk);
	segments = &flow->segments;
	spin_lock(&flow->lock);
	rtt_ns = sample_rtt_ns(flow, tp, cc->acked_seq, rs, sample);
	/* Those that are acknowledged in full. */
	while (segments->head != segments->tail &&
	       !after(quell_segment_at(segments, segments->head)->end_seq, tp->snd_una))
		segments->head++;
	quell_tail_acked(flow, tp->tcp_clock_cache, rs->acked_sacked);
	spin_unlock(&flow->lock);
	if (rtt_ns && rtt_ns != SAMPLE_DELAYED) {
		sample->rtt_ns = rtt_ns;
		if (!flow->now.min_rtt_ns || rtt_ns < flow->now.min_rtt_ns)
			WRITE_ONCE(flow->now.min_rtt_ns, rtt_ns);
		WRITE_ONCE(flow->now.clock, sample->flags & QUELL_S_RTT_HARDWARE ?
					QUELL_CLOCK_HARDWARE : QUELL_CLOCK_SOFTWARE);
	} else if (rtt_ns == SAMPLE_DELAYED) {
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

/* Fill the sample, and remember the state of TCP that the next one is compared with. */
static void ack_collect(struct sock *sk, const struct rate_sample *rs,
			struct quell_sample *sample)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct quell_cc *cc = quell_cc(sk);
	u32 marked_pkts = tp->delivered_ce - cc->delivered_ce_pkts;
	u64 acked_bytes = (u64)(u32)rs->acked_sacked * tp->mss_cache;
	struct quell_flow *flow = cc->flow;

	quell_sample_state(sk, sample);
	ack_time(sk, rs, sample);
	/* Exact without SACK, in whole segments with it. */
	if (!tp->sacked_out && tp->snd_una != cc->acked_seq)
		acked_bytes = min_t(u64, acked_bytes, tp->snd_una - cc->acked_seq);
	sample->acked_pkts = rs->acked_sacked;
	sample->acked_bytes = min_t(u64, acked_bytes, U32_MAX);
	sample->marked_bytes = min_t(u64, (u64)marked_pkts * tp->mss_cache,
				     sample->acked_bytes);
	if (flow && marked_pkts) {
		WRITE_ONCE(flow->now.marked_pkts, flow->now.marked_pkts + marked_pkts);
		WRITE_ONCE(flow->now.marked_bytes, flow->now.marked_bytes + sample->marked_bytes);
	}
	/* Segments may be short: cores subtract the bytes acknowledged from those in flight. */
	sample->inflight_bytes = min(quell_mul_sat_u32(rs->prior_in_flight, tp->mss_cache),
				     tp->snd_nxt - cc->acked_seq);
	if (rs->is_app_limited)
		sample->flags |= QUELL_S_APP_LIMITED;
	if (tp->snd_una != cc->acked_seq)
		sample->flags |= QUELL_S_ADVANCED;
	cc->acked_seq = tp->snd_una;
	cc->delivered_ce_pkts = tp->delivered_ce;
	cc->active_ns = sample->now_ns;
	cc->backlogged = tp->write_seq != tp->snd_nxt;
}

/*
 * Whether this ACK shows that a retransmission of the oldest segment was lost.  The rest of the
 * recovery then sends no more than is delivered, as with PRR, or a whole window may be lost in each
 * round trip.  Not without parameter "adapt": Documentation/recovery.md.
 */
static bool ack_has_lost_again(const struct sock *sk, const struct quell_flow *flow,
			       const struct rate_sample *rs)
{
	const u8 lost = TCPCB_LOST | TCPCB_EVER_RETRANS;
	const struct sk_buff *head;

	if (rs->losses <= 0 || inet_csk(sk)->icsk_ca_state != TCP_CA_Recovery ||
	    !quell_adapt_is_on(flow))
		return false;
	head = tcp_rtx_queue_head(sk);
	return head && (TCP_SKB_CB(head)->sacked & (lost | TCPCB_SACKED_RETRANS)) == lost &&
	       head->skb_mstamp_ns >= flow->recover.reported_ns;
}

/*
 * Fill in the bytes trimmed and the bytes lost otherwise.  Returns whether to report a loss within
 * a recovery to the core: the first real loss of a recovery that began with trimmed segments only;
 * or, where trimming counts as a loss, trimmed segments that left after the last report.
 */
static bool ack_classify(struct sock *sk, const struct rate_sample *rs,
			 struct quell_sample *sample)
{
	u32 lost_pkts = max(rs->losses, 0), others_pkts = 0;
	struct quell_flow *flow = quell_cc(sk)->flow;
	const struct tcp_sock *tp = tcp_sk(sk);
	const struct quell_recover *recover;

	if (!flow) {
		sample->lost_bytes = quell_mul_sat_u32(lost_pkts, tp->mss_cache);
		return false;
	}
	recover = &flow->recover;
	/* Unless no loss is new or unsettled. */
	if (tp->lost != recover->lost_pkts || recover->pkts || recover->bytes ||
	    recover->due || recover->watched)
		sample->trimmed_bytes = quell_recover_take(flow, sk, &others_pkts);
	/* Segments that a timeout marked lost are not losses of this ACK. */
	lost_pkts = min(lost_pkts, others_pkts);
	sample->lost_bytes = quell_mul_sat_u32(lost_pkts, tp->mss_cache);
	if (!quell_flow_has_trim_signal(flow) && quell_recover_is_news(recover))
		return true;
	if (lost_pkts && ack_has_lost_again(sk, flow, rs))
		flow->recover.lost_again = true;
	return lost_pkts && recover->loss_unreported &&
	       inet_csk(sk)->icsk_ca_state == TCP_CA_Recovery;
}

/* ->in_ack_event of every algorithm: TCP begins to process an ACK.  Socket lock. */
void quell_in_ack_event(struct sock *sk, u32 flags)
{
	struct quell_flow *flow = quell_cc_ready(sk) ? quell_cc(sk)->flow : NULL;

	if (!flow)
		return;
	/* For cc_on_cwr(). */
	quell_cc(sk)->has_ece = flags & CA_ACK_ECE;
	if (quell_path_is_sprayed(flow))
		quell_path_expect_reordering(flow, tcp_sk(sk));
	/* NACKs have the option. */
	if (READ_ONCE(flow->option) != QUELL_OPTION_ON)
		return;
	/*
	 * Pairs with quell_nack_to_ack(), which queues a NACK before it reads snd_una: either the
	 * NACK is seen here, or its segment carries the new snd_una and is not an old ACK.
	 */
	smp_mb();
	if (READ_ONCE(flow->recover.waiting))
		quell_recover_apply(flow, sk);
}

/**
 * quell_ack() - process an acknowledgment up to the call of its core
 * @sk:     socket of a Quell algorithm, between quell_cc_enter() and quell_cc_leave()
 * @rs:     rate sample of ->cong_control
 * @sample: set in full
 *
 * This may report a loss to the core and apply its decision.
 *
 * Context: socket lock, within ->cong_control.
 * Return: true if the ACK reports segments delivered or, with QUELL_CORE_TRIMS, trimmed.
 */
bool quell_ack(struct sock *sk, const struct rate_sample *rs, struct quell_sample *sample)
{
	struct quell_flow *flow = quell_cc(sk)->flow;
	const struct tcp_sock *tp = tcp_sk(sk);
	bool lost, tail_lost = false;

	/* Before ack_collect() updates the round-trip times that the verdict depends on. */
	if (flow && flow->tail.probe != QUELL_PROBE_NONE)
		tail_lost = quell_probe_check_spurious(flow, sk, tp->tcp_clock_cache);
	ack_collect(sk, rs, sample);
	lost = ack_classify(sk, rs, sample);
	if (lost) {
		flow->recover.loss_unreported = false;
		quell_probe_loss_reported(flow);
	}
	if (tail_lost)
		quell_event_tail_loss(sk);
	else if (lost)
		quell_event_loss(sk, QUELL_REDUCTION_LOSS);
	/*
	 * The peer has all, the FIN too, and TCP saves metrics next.  That sprayed segments
	 * overtake each other is not for tcp_update_metrics() to save.
	 */
	if (flow && quell_path_is_sprayed(flow) && tp->snd_una == tp->write_seq &&
	    !((1 << sk->sk_state) & (TCPF_ESTABLISHED | TCPF_CLOSE_WAIT)))
		quell_tcp_reset_reordering(sk);
	if (quell_adapt_is_on(flow))
		quell_adapt_acked(sk, sample);
	quell_cc(sk)->has_ece = false;
	return sample->acked_pkts > 0 ||
	       (sample->trimmed_bytes && quell_algo_has(quell_cc(sk)->algo, QUELL_CORE_TRIMS));
}
EXPORT_SYMBOL_GPL(quell_ack);

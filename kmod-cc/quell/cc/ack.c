// SPDX-License-Identifier: GPL-2.0
/*
 * Processing of an acknowledgment from ->cong_control to its core, quell_cong_control():
 *
 *	collect		fill a sample from TCP and the signal plane
 *	classify	find the losses that this acknowledgment is the first to show
 *	tell		report them to the core, once, and apply its decision
 *	fit		pass the sample through the layer before the core, adapt.c
 *	core		call its on_ack, if quell_ack() returned true
 *	apply		apply its decision, once, apply.c
 *
 * The algorithm's module makes the last two calls.  Losses are reported before the core gets
 * the acknowledgment, so that its decision on the acknowledgment is applied last.
 */
#include <net/tcp.h>
#include "flow/flow.h"
#include "flow/recover.h"
#include "flow/tail.h"
#include "tcp/tcp_internals.h"

/* Losses that an acknowledgment shows. */
#define ACK_LOSS	0x1 /* a loss in a recovery that was not reported to the core yet */
#define ACK_TAIL_LOSS	0x2 /* a tail loss that a probe repaired */

/* Payload of the segments delivered: exact without SACK, in whole segments with it. */
static u32 ack_bytes(const struct tcp_sock *tp, u32 acked_seq, u32 pkts)
{
	u64 most_bytes = (u64)pkts * tp->mss_cache;

	if (!tp->sacked_out && tp->snd_una != acked_seq)
		most_bytes = min_t(u64, most_bytes, tp->snd_una - acked_seq);
	return min_t(u64, most_bytes, U32_MAX);
}

static void ack_count_marks(struct quell_flow *flow, u32 pkts, u64 bytes)
{
	if (!flow || !pkts)
		return;
	WRITE_ONCE(flow->now.marked_pkts, flow->now.marked_pkts + pkts);
	WRITE_ONCE(flow->now.marked_bytes, flow->now.marked_bytes + bytes);
}

/* Fill the sample, and remember the state of TCP that the next one is compared with. */
static void ack_collect(struct sock *sk, const struct rate_sample *rs,
			struct quell_sample *sample)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct quell_cc *cc = quell_cc(sk);
	u32 marked_pkts = tp->delivered_ce - cc->delivered_ce_pkts;

	quell_sample_state(sk, sample);
	quell_sample_rtt(sk, rs, sample);
	sample->acked_pkts = rs->acked_sacked;
	sample->acked_bytes = ack_bytes(tp, cc->acked_seq, rs->acked_sacked);
	sample->marked_bytes = min_t(u64, (u64)marked_pkts * tp->mss_cache,
				     sample->acked_bytes);
	ack_count_marks(cc->flow, marked_pkts, sample->marked_bytes);
	sample->inflight_bytes = quell_mul_sat_u32(rs->prior_in_flight, tp->mss_cache);
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
 * Whether to report a loss within a recovery to the core: the first real loss of a recovery
 * that began with trimmed segments only; or, where trimming counts as a loss, trimmed
 * segments that left after the last report.
 */
static bool ack_has_loss(const struct sock *sk, const struct quell_flow *flow, u32 lost_pkts)
{
	if (!quell_flow_has_trim_signal(flow) && quell_recover_is_news(flow))
		return true;
	return lost_pkts && flow->recover.loss_unreported &&
	       inet_csk(sk)->icsk_ca_state == TCP_CA_Recovery;
}

/* Fill in the bytes trimmed and the bytes lost otherwise. */
static u32 ack_classify(struct sock *sk, const struct rate_sample *rs,
			struct quell_sample *sample)
{
	u32 lost_pkts = max(rs->losses, 0), others_pkts = lost_pkts;
	struct quell_flow *flow = quell_cc(sk)->flow;

	if (flow && quell_recover_has_news(&flow->recover, tcp_sk(sk)))
		sample->trimmed_bytes = quell_recover_take(flow, sk, &others_pkts);
	else if (flow)
		others_pkts = 0;
	/* Segments that a timeout marked lost are not losses of this ACK. */
	lost_pkts = min(lost_pkts, others_pkts);
	sample->lost_bytes = quell_mul_sat_u32(lost_pkts, tcp_sk(sk)->mss_cache);
	return flow && ack_has_loss(sk, flow, lost_pkts) ? ACK_LOSS : 0;
}

static void ack_tell(struct sock *sk, struct quell_flow *flow, u32 losses)
{
	if (losses & ACK_LOSS) {
		flow->recover.loss_unreported = false;
		quell_probe_note_report(flow);
	}
	if (losses & ACK_TAIL_LOSS)
		quell_event_tail_loss(sk);
	else
		quell_event_loss(sk);
}

/* Whether the peer has all, the FIN too: TCP saves metrics next. */
static bool has_ended(const struct sock *sk)
{
	return !((1 << sk->sk_state) & (TCPF_ESTABLISHED | TCPF_CLOSE_WAIT)) &&
	       tcp_sk(sk)->snd_una == tcp_sk(sk)->write_seq;
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
	u32 losses = 0;

	/* Before ack_collect() updates the round-trip times that the verdict depends on. */
	if (flow && flow->tail.probe != QUELL_PROBE_NONE &&
	    quell_probe_judge(flow, sk, tcp_sk(sk)->tcp_clock_cache))
		losses = ACK_TAIL_LOSS;
	ack_collect(sk, rs, sample);
	losses |= ack_classify(sk, rs, sample);
	if (losses)
		ack_tell(sk, flow, losses);
	/* Sprayed segments overtake each other: that is not for tcp_update_metrics() to save. */
	if (flow && quell_path_is_sprayed(flow) && has_ended(sk))
		quell_tcp_reset_reordering(sk);
	if (quell_adapt_is_on(flow))
		quell_adapt_acked(sk, sample);
	if (flow)
		quell_adapt_note_ack(flow, false);
	return sample->acked_pkts > 0 ||
	       (sample->trimmed_bytes && quell_algo_has(quell_cc(sk)->algo, QUELL_CORE_TRIMS));
}
EXPORT_SYMBOL_GPL(quell_ack);

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From a decision to TCP's state, as kmod-cc/quell/tcp/apply.c and adapt.c do it in the module.
 * Missing, because a BPF program may not write the fields: pacing of a connection's first segments,
 * a new departure of packets paced at a higher rate, another path.  Nor is the window kept closed
 * until there is room for a burst, as its size depends on the link.
 */
#ifndef _QUELL_EBPF_APPLY_H
#define _QUELL_EBPF_APPLY_H

#include "fit.h"
#include "signals.h"

/*
 * The window in whole segments.  With QUELL_CORE_FRACTIONAL the remainder is carried over to the
 * next round trip: 2.5 segments are 2 and 3 in turn.
 */
static __always_inline u32 whole_pkts(const struct tcp_sock *tp, struct quell_bpf_flow *flow,
				      u64 window_bytes)
{
	u32 mss_bytes = flow->sample.mss_bytes;
	u64 pkts;

	if (QUELL_BPF_FLAGS & QUELL_CORE_FRACTIONAL && window_bytes >= mss_bytes) {
		if ((s32)(flow->round_seq - tp->snd_una) < 0) {
			flow->round_seq = tp->snd_nxt;
			flow->carry_bytes = flow->rest_bytes;
			flow->rest_bytes = (window_bytes + flow->carry_bytes) % mss_bytes;
		}
		window_bytes += flow->carry_bytes;
	}
	pkts = quell_min_u64(quell_div_u64(window_bytes, mss_bytes), QUELL_U32_MAX);
	pkts = quell_min_u64(pkts, tp->snd_cwnd_clamp);
	return quell_max_u64(pkts, flow->peer_delays ? 2 : 1);
}

static __always_inline void apply_pacing(struct tcp_sock *tp, u64 rate_bytes_ps)
{
	struct sock *sk = (struct sock *)tp;

	sk->sk_pacing_rate = quell_min_u64(rate_bytes_ps, sk->sk_max_pacing_rate);
	/* From here on the stack paces, unless the fq qdisc does. */
	if (rate_bytes_ps != QUELL_RATE_UNLIMITED && sk->sk_pacing_status == SK_PACING_NONE)
		sk->sk_pacing_status = SK_PACING_NEEDED;
}

/*
 * While CUBIC or the search governs, the rate by which the stack sizes bursts and limits its queue:
 * twice the window per round trip in slow start, 1.2 times later.  The stack paces by it only if
 * the qdisc is fq, or the algorithm has enabled pacing before.
 */
static __always_inline void apply_rate(struct tcp_sock *tp, const struct quell_bpf_flow *flow)
{
	const struct quell_cubic *cubic = &flow->adapt.cubic;
	struct sock *sk = (struct sock *)tp;
	u64 rate_bytes_ps;

	if (!quell_bpf_governs(flow) || !flow->tcp.first_rtt_ns)
		return;
	rate_bytes_ps = quell_mul_div_u64(quell_max_u64(cubic->window_q16 >> QUELL_Q16_SHIFT,
							tp->mss_cache),
					  QUELL_NS_PER_SEC, flow->tcp.first_rtt_ns);
	if (cubic->window_q16 >> (QUELL_Q16_SHIFT - 1) < cubic->ssthresh_bytes)
		rate_bytes_ps *= 2;
	else
		rate_bytes_ps += rate_bytes_ps / 5;
	sk->sk_pacing_rate = quell_min_u64(quell_max_u64(rate_bytes_ps, 1), sk->sk_max_pacing_rate);
}

/* The pacing rate: the algorithm's, or that of a window below the stack's minimum. */
static __always_inline u64 paced_bytes_ps(const struct quell_bpf_flow *flow)
{
	u64 window_bytes = flow->view.window_bytes;

	if (flow->decision.pacing_bytes_ps != QUELL_RATE_UNLIMITED || !flow->peer_delays ||
	    !flow->view.rtt_ns || window_bytes >= 2 * (u64)flow->sample.mss_bytes)
		return flow->decision.pacing_bytes_ps;
	return quell_mul_div_u64(window_bytes, QUELL_NS_PER_SEC, flow->view.rtt_ns);
}

/* Apply all but the stack's window, and return the value for that. */
static __always_inline u32 apply_rest(struct tcp_sock *tp, struct quell_bpf_flow *flow)
{
	apply_pacing(tp, paced_bytes_ps(flow));
	apply_rate(tp, flow);
	return whole_pkts(tp, flow, flow->view.window_bytes);
}

/*
 * The window during a reduction to @to_pkts, while CUBIC or the search governs: in proportion to
 * the data delivered (RFC 9937), and not below room for the first retransmission.  The stack
 * leaves it to ->cong_control, and its own count of packets delivered, which a BPF program may not
 * write, stays 0: the flow has one.
 */
static __always_inline u32 reduce(const struct tcp_sock *tp, struct quell_bpf_flow *flow,
				  u32 to_pkts)
{
	const struct quell_sample *s = &flow->sample;
	u32 inflight = inflight_pkts(tp), most_pkts;
	u64 more_pkts;

	if (!quell_bpf_governs(flow) || !s->acked_pkts || !tp->prior_cwnd ||
	    !is_reducing(tp, flow))
		return to_pkts;
	flow->reduced_pkts += s->acked_pkts;
	if (inflight > to_pkts) {
		more_pkts = quell_div_u64((u64)to_pkts * flow->reduced_pkts + tp->prior_cwnd - 1,
					  tp->prior_cwnd);
		more_pkts = quell_sub_sat_u64(more_pkts, tp->prr_out);
	} else {
		most_pkts = to_pkts - inflight;
		more_pkts = quell_max_u64(quell_sub_sat_u64(flow->reduced_pkts, tp->prr_out),
					  s->acked_pkts);
		more_pkts += s->flags & QUELL_S_ADVANCED && !s->lost_bytes;
		more_pkts = quell_min_u64(more_pkts, most_pkts);
	}
	/* The first retransmission is always allowed. */
	return inflight + quell_max_u64(more_pkts, tp->prr_out ? 0 : 1);
}

/*
 * After a timeout the window grows as in the stack, from one segment by one per segment
 * delivered: the lost segments must not all be retransmitted at once.
 */
static __always_inline void apply(struct tcp_sock *tp, struct quell_bpf_flow *flow)
{
	u64 cwnd_pkts = reduce(tp, flow, apply_rest(tp, flow));

	if (ca_state_of(tp) == TCP_CA_Loss)
		cwnd_pkts = quell_min_u64(cwnd_pkts, (u64)tp->snd_cwnd + flow->sample.acked_pkts);
	tp->snd_cwnd = cwnd_pkts;
}

/* A timeout does not raise the stack's window, which lets out one segment. */
static __always_inline void apply_timeout(struct tcp_sock *tp, struct quell_bpf_flow *flow)
{
	tp->snd_cwnd = quell_min_u64(tp->snd_cwnd, apply_rest(tp, flow));
}

/* After a spurious timeout the window need not grow from one segment. */
static __always_inline void apply_undo(struct tcp_sock *tp, struct quell_bpf_flow *flow)
{
	tp->snd_cwnd = apply_rest(tp, flow);
}

#endif /* _QUELL_EBPF_APPLY_H */

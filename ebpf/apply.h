/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From a core's decision to TCP's state, as kmod-cc/quell/tcp/apply.c does it.  Not here, because
 * a BPF program may not write what it takes: pacing of a connection's first segments, a new
 * departure of what was paced at a higher rate, another path.
 */
#ifndef _QUELL_EBPF_APPLY_H
#define _QUELL_EBPF_APPLY_H

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
	return quell_max_u64(pkts, 1);
}

static __always_inline void apply_pacing(struct tcp_sock *tp, u64 rate_bytes_ps)
{
	struct sock *sk = (struct sock *)tp;

	sk->sk_pacing_rate = quell_min_u64(rate_bytes_ps, sk->sk_max_pacing_rate);
	/* From here on the stack paces, unless the fq qdisc does. */
	if (rate_bytes_ps != QUELL_RATE_UNLIMITED && sk->sk_pacing_status == SK_PACING_NONE)
		sk->sk_pacing_status = SK_PACING_NEEDED;
}

/* All but the stack's window; the return value is what it could be. */
static __always_inline u32 apply_rest(struct tcp_sock *tp, struct quell_bpf_flow *flow)
{
	u64 window_bytes = flow->decision.window_q16 >> QUELL_Q16_SHIFT;

	flow->view.window_bytes = window_bytes;
	flow->view.pacing_bytes_ps = flow->decision.pacing_bytes_ps;
	flow->view.target_ns = flow->decision.target_ns;
	apply_pacing(tp, flow->decision.pacing_bytes_ps);
	return whole_pkts(tp, flow, window_bytes);
}

/*
 * After a timeout the window grows as in the stack, from one segment by one per segment
 * delivered: the lost segments must not all be retransmitted at once.
 */
static __always_inline void apply(struct tcp_sock *tp, struct quell_bpf_flow *flow)
{
	u64 cwnd_pkts = apply_rest(tp, flow);

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

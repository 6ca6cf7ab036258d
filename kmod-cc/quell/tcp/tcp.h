/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes to TCP's state: decisions, pacing, echoes of marks; and flows fitted to their path.
 */
#ifndef _QUELL_TCP_H
#define _QUELL_TCP_H

#include "flow/flow.h"

/*
 * Smoothed round-trip time, ns; 0 without one.  The stack's contains samples of retransmitted data,
 * by timestamps of 1 ms, each of which adds 124 us: tcp_rtt_tsopt_us().  Quell's remains that of
 * the handshake where segments are signed.  Socket lock.
 */
static inline u64 quell_srtt_ns(const struct sock *sk)
{
	const struct quell_flow *flow = quell_cc(sk)->flow;

	return min_not_zero(flow ? flow->tail.srtt_ns : 0, quell_first_rtt_ns(sk));
}

/*
 * Time until the last segment sent has left this host, ns.  Without the lock of @flow: LOCAL_OUT
 * may send another one, and on 32-bit machines the value may then be any.
 */
static inline u64 quell_backlog_ns(const struct quell_flow *flow, u64 now_ns)
{
	u64 tx_end_ns = READ_ONCE(flow->tail.tx_end_ns);

	return tx_end_ns > now_ns ? tx_end_ns - now_ns : 0;
}

/* apply.c */
u32 quell_apply_event(struct sock *sk, const struct quell_sample *sample,
		      struct quell_decision *decision, enum quell_reduction why);

/* ecn.c */
void quell_ecn_init(struct sock *sk, const struct tcp_congestion_ops *plain);
void quell_ecn_event(struct sock *sk, enum tcp_ca_event event);

/* adapt.c */
u32 quell_other_flows(const struct sock *sk);
void quell_limit_burst(struct sock *sk, u32 pkts);
u32 quell_segment_pkts(struct sock *sk);
void quell_start_core(struct sock *sk, struct quell_event *ev);
void quell_pacing_release(struct sock *sk);
const char *quell_adapt_phase_name(const struct quell_flow *flow);
const char *quell_adapt_reason_name(const struct quell_flow *flow);
void quell_adapt_open(struct quell_flow *flow, const struct quell_event *ev);
void quell_adapt_close(struct quell_flow *flow);
void quell_adapt_acked(struct sock *sk, struct quell_sample *sample);
void quell_adapt_lost(struct sock *sk, struct quell_event *ev);
void quell_adapt_marked(struct sock *sk, struct quell_event *ev);
void quell_adapt_timed_out(struct sock *sk, const struct quell_sample *sample, bool again);
void quell_adapt_undone(struct sock *sk);
bool quell_adapt_rested(struct sock *sk, u64 idle_ns);
bool quell_adapt_idle(struct sock *sk, struct quell_event *ev);
void quell_adapt_recovers(struct sock *sk);
bool quell_adapt_has_begun(const struct quell_flow *flow);
bool quell_adapt_is_reducing(const struct sock *sk);
void quell_adapt_pace(struct sock *sk);

#endif /* _QUELL_TCP_H */

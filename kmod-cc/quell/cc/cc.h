/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The callbacks of TCP's congestion control, and the functions for events, probes and losses.
 */
#ifndef _QUELL_CC_H
#define _QUELL_CC_H

#include "flow/flow.h"

/* Bounds of the delay of a request's ACK, probe.c. */
#define QUELL_ACK_DELAY_MIN_NS		(50U * NSEC_PER_USEC)
#define QUELL_ACK_DELAY_MAX_NS		(5U * NSEC_PER_MSEC)

/* ack.c */
void quell_in_ack_event(struct sock *sk, u32 flags);

/* cc.c */
void quell_cc_ops_init(struct quell_algo *algo);

/* probe.c */
bool quell_delack_start(struct quell_flow *flow, u64 rx_ns, u32 end_seq, bool marked);
void quell_delack_expedite(struct quell_flow *flow, u32 end_seq);
void quell_delack_packet_sent(struct quell_flow *flow, u32 ack_seq);
void quell_delack_watch(struct quell_flow *flow, u32 end_seq);
void quell_delack_data_sent(struct quell_flow *flow, u64 now_ns);

void quell_tail_sent(struct quell_flow *flow, bool is_tail, u64 tx_end_ns, u32 ack_seq);
void quell_tail_acked(struct quell_flow *flow, u64 now_ns, bool delivered);
void quell_tail_timed(struct quell_flow *flow, u64 rtt_ns);

void quell_probe_init(struct quell_flow *flow, struct sock *sk);
void quell_probe_release(struct quell_flow *flow, struct sock *sk);
void quell_probe_loss_reported(struct quell_flow *flow);
void quell_probe_timed_out(struct quell_flow *flow);
bool quell_probe_check_spurious(struct quell_flow *flow, struct sock *sk, u64 now_ns);

/* recover.c */
void quell_sample_state(struct sock *sk, struct quell_sample *sample);
void quell_event_loss(struct sock *sk, enum quell_reduction why);
void quell_event_tail_loss(struct sock *sk);
void quell_event_timeout(struct sock *sk);
void quell_event_undo(struct sock *sk);

bool quell_recover_queue(struct quell_flow *flow, const struct sock *sk,
			 const struct quell_lost *lost);
void quell_recover_apply(struct quell_flow *flow, struct sock *sk);
void quell_recover_forbid_undo(const struct quell_flow *flow, struct sock *sk);
bool quell_recover_is_trimmed(struct quell_flow *flow, const struct sock *sk);
u32 quell_recover_take(struct quell_flow *flow, struct sock *sk, u32 *others_pkts);

/*
 * How long the ACK of a request may be delayed.  RCU read section, as hooks have: until its end the
 * memory of flow->sk is a TCP socket's, if perhaps another one's, and the result is in bounds.
 */
static inline u32 quell_tail_ack_delay_ns(const struct quell_flow *flow)
{
	/* The handshake's is among them, and has no program's time in it; ~0: not set. */
	u32 min_rtt_us = data_race(READ_ONCE(tcp_sk(flow->sk)->rtt_min.s[0].v));

	/* With the option the time is reported to the peer, and its Swift limits a host's delay. */
	if (min_rtt_us == ~0U || READ_ONCE(flow->option) == QUELL_OPTION_ON)
		return QUELL_ACK_DELAY_MIN_NS;
	return clamp_t(u64, (u64)min_rtt_us * NSEC_PER_USEC / 2, QUELL_ACK_DELAY_MIN_NS,
		       QUELL_ACK_DELAY_MAX_NS);
}

/*
 * Whether data sent after the last cut was trimmed.  Its loss shows that congestion persists, and
 * must be reported to the core: RFC 5681, 4.3, treats the loss of a retransmission as another
 * indication.  Context: socket lock.
 */
static inline bool quell_recover_is_news(const struct quell_recover *recover)
{
	return recover->trimmed_ns && recover->trimmed_ns >= recover->reported_ns;
}

#endif /* _QUELL_CC_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A socket without storage runs Reno, by the kernel's own functions.
 */
#ifndef _QUELL_EBPF_RENO_H
#define _QUELL_EBPF_RENO_H

#include "signals.h"

void tcp_reno_cong_avoid(struct sock *sk, u32 ack, u32 acked) __ksym;
u32 tcp_reno_ssthresh(struct sock *sk) __ksym;
u32 tcp_reno_undo_cwnd(struct sock *sk) __ksym;

/* ->cong_control replaces the stack's own reduction, too: the window falls at once. */
static __always_inline void reno_set_state(struct tcp_sock *tp, u8 new_state)
{
	if (new_state == TCP_CA_CWR || new_state == TCP_CA_Recovery)
		tp->snd_cwnd = quell_max_u64(tp->snd_ssthresh, 1);
}

static __always_inline void reno_ack(struct tcp_sock *tp, const struct rate_sample *rs)
{
	u8 state = ca_state_of(tp);

	if (state != TCP_CA_CWR && state != TCP_CA_Recovery && rs->acked_sacked)
		tcp_reno_cong_avoid((struct sock *)tp, tp->snd_una, rs->acked_sacked);
}

#endif /* _QUELL_EBPF_RENO_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What was negotiated about ECN, and an ACK for less than was received.
 *
 * Kernels with Accurate ECN gave the bit that means "ECN as in RFC 3168" a new
 * name and a second bit beside it.  __tcp_send_ack() got flags for the header
 * in 6.12; none are wanted here.
 */
#ifndef _QUELL_COMPAT_TCP_ECN_H
#define _QUELL_COMPAT_TCP_ECN_H

#include <compat/compat.h>
#include <net/tcp.h>

/* ECE means what RFC 3168 has it mean: not with Accurate ECN. */
static inline bool quell_ecn_is_classic(const struct tcp_sock *tp)
{
#ifdef TCP_ECN_MODE_RFC3168
	return tcp_ecn_mode_rfc3168(tp);
#else
	return tp->ecn_flags & TCP_ECN_OK;
#endif
}

/* The peer tells of CE marks, one way or the other. */
static inline bool quell_ecn_is_negotiated(const struct tcp_sock *tp)
{
#ifdef TCP_ECN_MODE_RFC3168
	return tcp_ecn_mode_any(tp);
#else
	return tp->ecn_flags & TCP_ECN_OK;
#endif
}

static inline void quell_send_ack(struct sock *sk, u32 rcv_nxt)
{
#ifdef QUELL_HAVE_SEND_ACK_FLAGS
	__tcp_send_ack(sk, rcv_nxt, 0);
#else
	__tcp_send_ack(sk, rcv_nxt);
#endif
}

#endif /* _QUELL_COMPAT_TCP_ECN_H */

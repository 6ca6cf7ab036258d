/* SPDX-License-Identifier: GPL-2.0 */
/*
 * State of ECN negotiation, and an ACK for less than was received.
 *
 * Kernels with Accurate ECN renamed the bit that means "ECN as in RFC 3168"
 * and added a second bit.  __tcp_send_ack() got flags for the header
 * in 6.12; this code passes 0.
 */
#ifndef _QUELL_COMPAT_TCP_ECN_H
#define _QUELL_COMPAT_TCP_ECN_H

#include <compat/compat.h>
#include <net/tcp.h>

/* ECE has its RFC 3168 meaning: not with Accurate ECN. */
static inline bool quell_ecn_is_classic(const struct tcp_sock *tp)
{
#ifdef TCP_ECN_MODE_RFC3168
	return tcp_ecn_mode_rfc3168(tp);
#else
	return tp->ecn_flags & TCP_ECN_OK;
#endif
}

/* The peer reports CE marks, by RFC 3168 or Accurate ECN. */
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

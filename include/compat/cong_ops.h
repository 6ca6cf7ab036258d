/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two changes of struct tcp_congestion_ops.
 *
 * cong_control got the ACK number and its flags in 6.9; no algorithm here
 * looks at them.
 *
 * 7.x moved CA_EVENT_TX_START out of cwnd_event into a member of its own.  A
 * module that keeps waiting for the event compiles and never hears it, so the
 * member is probed, not the event.  An algorithm that hears of nothing else
 * names quell_tx_start_member; one that also has a ->cwnd_event of its own
 * handles CA_EVENT_TX_START there and adds quell_tx_start_op(function).
 */
#ifndef _QUELL_COMPAT_CONG_OPS_H
#define _QUELL_COMPAT_CONG_OPS_H

#include <compat/compat.h>
#include <net/tcp.h>

#ifdef QUELL_HAVE_CONG_CONTROL_FLAG
#define quell_cong_control_args \
	struct sock *sk, u32 ack, int flag, const struct rate_sample *rs
#else
#define quell_cong_control_args \
	struct sock *sk, const struct rate_sample *rs
#endif

#ifdef QUELL_HAVE_CWND_EVENT_TX_START
#define quell_tx_start_member	cwnd_event_tx_start
#define quell_tx_start_args	struct sock *sk
#define quell_is_tx_start	true
#define quell_tx_start_op(start)	.cwnd_event_tx_start = (start),
#else
#define quell_tx_start_member	cwnd_event
#define quell_tx_start_args	struct sock *sk, enum tcp_ca_event event
#define quell_is_tx_start	((event) == CA_EVENT_TX_START)
#define quell_tx_start_op(start...)
#endif

#endif /* _QUELL_COMPAT_CONG_OPS_H */

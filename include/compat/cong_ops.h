/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two changes of struct tcp_congestion_ops.
 *
 * cong_control got the ACK number and its flags in 6.9; no algorithm here
 * uses them.
 *
 * 7.x moved CA_EVENT_TX_START out of cwnd_event into a member of its own.  A
 * module that still expects the event compiles but never receives it, so the
 * member is probed, not the event.  A user of the event must handle CA_EVENT_TX_START
 * in ->cwnd_event and call quell_set_tx_start() as well.
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

static inline void quell_set_tx_start(struct tcp_congestion_ops *ops,
				      void (*tx_start)(struct sock *sk))
{
#ifdef QUELL_HAVE_CWND_EVENT_TX_START
	ops->cwnd_event_tx_start = tx_start;
#endif
}

#endif /* _QUELL_COMPAT_CONG_OPS_H */

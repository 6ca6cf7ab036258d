/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Exact echo of CE marks, as kmod-cc/quell/tcp/ecn.c has and explains it: ECE of an ACK states
 * whether exactly the data that it covers was marked.  A BPF program may not wind rcv_wup back
 * after an early ACK.  The packet at hand is to be acknowledged at once, but where a process holds
 * the socket, from Linux 6.7 on, only after those that wait: until then its ACK is owed.
 */
#ifndef _QUELL_EBPF_ECHO_H
#define _QUELL_EBPF_ECHO_H

#include "signals.h"

#define TCP_CONGESTION		13

/* Before the SYN-ACK, the flags are those of the SYN sent. */
static __always_inline bool has_consent(const struct tcp_sock *tp)
{
	return has_ecn(tp) && ((const struct sock *)tp)->__sk_common.skc_state != TCP_SYN_SENT;
}

/*
 * If the algorithm needs ECN, the stack would make the packets ECN-capable without the peer's
 * consent: switches would mark them, and the sender would not learn of it.  As in-tree DCTCP, such
 * a socket uses Reno.  False where the algorithm may not be changed, by a route with "congctl lock"
 * or within another program's choice: the packets stay ECN-capable then.
 */
static __always_inline bool use_reno(struct sock *sk)
{
	char reno[] = "reno";

	return !bpf_setsockopt(sk, SOL_TCP, TCP_CONGESTION, reno, sizeof(reno));
}

static __always_inline void echo_flag(struct tcp_sock *tp, bool marked)
{
	if (marked)
		tp->ecn_flags |= TCP_ECN_DEMAND_CWR;
	else
		tp->ecn_flags &= ~TCP_ECN_DEMAND_CWR;
}

/* Whether data received before this packet is still to be acknowledged. */
static __always_inline bool is_ack_pending(const struct tcp_sock *tp,
					   const struct quell_bpf_flow *flow)
{
	if ((s32)(tp->rcv_wup - flow->rcv_nxt_marked) < 0 ||
	    icsk_of(tp)->icsk_ack.pending & ICSK_ACK_NOW)
		return true;
	return tp->out_of_order_queue.rb_node &&
	       icsk_of(tp)->icsk_ack.pending & ICSK_ACK_SCHED;
}

static __always_inline void echo_mark(struct tcp_sock *tp, struct quell_bpf_flow *flow,
				      bool marked)
{
	if (!(tp->ecn_flags & TCP_ECN_RFC3168))
		return;
	if (marked != flow->rcv_marked) {
		if (is_ack_pending(tp, flow)) {
			echo_flag(tp, flow->rcv_marked);
			bpf_tcp_send_ack(tp, flow->rcv_nxt_marked);
		}
		((struct inet_connection_sock *)tp)->icsk_ack.pending |= ICSK_ACK_NOW;
	}
	flow->rcv_nxt_marked = tp->rcv_nxt;
	flow->rcv_marked = marked;
	echo_flag(tp, marked);
}

/* The same for the option's echo, where its program cannot see the mark (before Linux 6.2). */
static __always_inline void store_mark(struct tcp_sock *tp, bool marked)
{
	struct quell_optconn *conn = optconn_of(tp);

	if (conn)
		conn->echo.marked = marked;
}

#endif /* _QUELL_EBPF_ECHO_H */

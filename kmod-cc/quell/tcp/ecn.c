// SPDX-License-Identifier: GPL-2.0
/*
 * Exact echo of CE marks, the rule of DCTCP's receiver (RFC 8257, section 3.2):
 *
 *	a packet is received of which the mark differs from that of the one before:
 *		data not yet acknowledged is acknowledged first, up to before
 *		this packet, with ECE as the earlier packets had it;
 *		this packet is acknowledged at once
 *	ECE of all segments sent from now on = mark of this packet
 *
 * So no ACK covers packets of both kinds, and the sender's tp->delivered_ce counts marked
 * packets.  In-tree DCTCP tests the timer of a delayed ACK; ACKs deferred without it
 * (net.ipv4.tcp_backlog_ack_defer, net.ipv4.tcp_comp_sack_nr) need the test here: whether data
 * was received that no ACK covers.
 *
 * With Accurate ECN the ACE field counts marks, and ECE, a part of it, is left alone.
 * Limits: Documentation/ecn.md.
 */
#include <net/inet_ecn.h>
#include <net/tcp.h>
#include <compat/tcp_ecn.h>
#include "tcp/tcp.h"

static void ecn_echo(struct tcp_sock *tp, bool marked)
{
	if (marked)
		tp->ecn_flags |= TCP_ECN_DEMAND_CWR;
	else
		tp->ecn_flags &= ~TCP_ECN_DEMAND_CWR;
}

/*
 * TCP has scheduled the ACK of an in-order packet by now, but not that of an out-of-order one:
 * with the latter, a scheduled ACK is that of earlier packets.  A packet that fills a hole may
 * cause a spare ACK.
 */
static bool ecn_is_ack_pending(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if (before(tp->rcv_wup, quell_cc(sk)->rcv_nxt_marked))
		return true;
	return !RB_EMPTY_ROOT(&tp->out_of_order_queue) && inet_csk_ack_scheduled(sk);
}

/*
 * The stack accounts every ACK as one for all data received.  Wind rcv_wup back to the end of
 * the data that this ACK covers; otherwise the next packet schedules no ACK.  The window's
 * right edge stays.
 */
static void ecn_ack_earlier(struct sock *sk, u32 rcv_nxt)
{
	struct tcp_sock *tp = tcp_sk(sk);

	quell_send_ack(sk, rcv_nxt);
	if (before(rcv_nxt, tp->rcv_wup)) {
		tp->rcv_wnd += tp->rcv_wup - rcv_nxt;
		tp->rcv_wup = rcv_nxt;
	}
}

/* Socket lock, within ->cwnd_event; the packet is already in rcv_nxt if it was in order. */
void quell_ecn_event(struct sock *sk, enum tcp_ca_event event)
{
	bool marked = event == CA_EVENT_ECN_IS_CE;
	struct tcp_sock *tp = tcp_sk(sk);
	struct quell_cc *cc = quell_cc(sk);

	if ((!marked && event != CA_EVENT_ECN_NO_CE) || !quell_cc_ready(sk) ||
	    !quell_ecn_is_classic(tp))
		return;
	if (marked != cc->rcv_marked) {
		if (ecn_is_ack_pending(sk)) {
			ecn_echo(tp, cc->rcv_marked);
			ecn_ack_earlier(sk, cc->rcv_nxt_marked);
		}
		inet_csk(sk)->icsk_ack.pending |= ICSK_ACK_NOW;
	}
	cc->rcv_nxt_marked = tp->rcv_nxt;
	cc->rcv_marked = marked;
	ecn_echo(tp, marked);
}

/*
 * The stack makes every packet of a TCP_CONG_NEEDS_ECN socket ECN-capable, agreed or not: switches
 * would mark instead of drop, unknown to the sender.  A socket that sets the algorithm before the
 * SYN-ACK also runs without: the flags only state its request.  Socket lock.
 */
void quell_ecn_init(struct sock *sk, const struct tcp_congestion_ops *plain)
{
	if (quell_ecn_is_negotiated(tcp_sk(sk)) && sk->sk_state != TCP_SYN_SENT)
		return;
	WRITE_ONCE(inet_csk(sk)->icsk_ca_ops, plain);
	INET_ECN_dontxmit(sk);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Delayed ACKs of requests.
 *
 * A receiver of ours acknowledges a packet with PSH at once, receive_data.c, and so each
 * request.  Where two programs take turns, every exchange is then four packets, two of them
 * pure ACKs; the stack's delayed ACK would be part of the reply, and make it two.
 *
 * So the ACK of a request is delayed if the last replies of the program were prompt:
 *
 *	request		the packet ends a message and acknowledges all that this end sent
 *	reply		the next new data of this end
 *	prompt		within quell_tail_ack_delay_ns() of the request; DELACK_PROMPT_MIN in a row
 *
 * If no reply is sent in that time the timer of the flow sends the ACK, and the next ones are
 * not delayed until replies have been prompt again.  A reply moves the timer to the time by which
 * the next request has to be acknowledged, quell_tail_sent(), unless it fires after the next reply
 * anyway.  It would fire for each request, and need not be set for the next one.  The delay is half
 * of tail-floor's default or, without the option, half of a round trip: the peer, which allows for
 * two, sends no tail loss probe meanwhile.
 *
 * The Quell option states how long an ACK was delayed.  Without it the round-trip time of a reply
 * includes the program's time and is no sample (ack.c), so every DELACK_SAMPLE_INTERVAL-th
 * request is then acknowledged at once.
 */
#include <linux/ktime.h>
#include <net/tcp.h>
#include <compat/tcp_ecn.h>
#include "cc/cc.h"

/* Delay of an ACK while a process owns the socket: the time to copy 64 KB. */
#define DELACK_BUSY_NS		(20U * NSEC_PER_USEC)
#define DELACK_PROMPT_MIN	4
#define DELACK_SAMPLE_INTERVAL	64

/*
 * Whether the ACK of a request, received up to @end_seq, may be delayed for the program's reply:
 * then the flow's timer sends it quell_tail_ack_delay_ns() after the oldest request without one.
 * LOCAL_IN hook, neither the socket lock nor that of @flow.
 */
bool quell_delack_start(struct quell_flow *flow, u64 rx_ns, u32 end_seq, bool marked)
{
	struct quell_delack *delack = &flow->delack;
	bool another = READ_ONCE(delack->has_request);
	u8 turn;

	WRITE_ONCE(delack->has_request, true);
	if (!another)
		WRITE_ONCE(delack->request_rx_ns, (u32)rx_ns);
	if (READ_ONCE(delack->prompt) < DELACK_PROMPT_MIN || marked)
		return false;
	turn = READ_ONCE(delack->turn) + 1;
	WRITE_ONCE(delack->turn, turn);
	if (READ_ONCE(flow->option) != QUELL_OPTION_ON && !(turn % DELACK_SAMPLE_INTERVAL))
		return false;
	quell_tail_delay_ack(flow, rx_ns + quell_tail_ack_delay_ns(flow), end_seq, another);
	quell_count(flow->qnet, QUELL_N_ACK_DELAYED);
	return true;
}

/*
 * A process owns the socket, and TCP may then delay the ACK of data.  The flow's timer sends it if
 * it is still pending when the process releases the socket.  Not in hard interrupts, nor with the
 * lock of @flow.
 */
void quell_delack_watch(struct quell_flow *flow, u32 end_seq)
{
	quell_tail_delay_ack(flow, ktime_get_ns() + DELACK_BUSY_NS, end_seq, true);
}

/* TCP will acknowledge data at once, if it gets to it first.  LOCAL_IN hook. */
void quell_delack_expedite(struct quell_flow *flow, u32 end_seq)
{
	WRITE_ONCE(flow->delack.expedite_seq, end_seq);
	WRITE_ONCE(flow->delack.expedited, true);
}

/*
 * A process that takes the socket between the hook and TCP may send a packet, after which TCP has
 * no ACK to send.  The data then comes from the backlog as any other.  LOCAL_OUT hook; not the lock
 * of @flow.
 */
void quell_delack_packet_sent(struct quell_flow *flow, u32 ack_seq)
{
	u32 expedite_seq;

	/* In this order: data that is expedited meanwhile is for the next packet, or this one. */
	WRITE_ONCE(flow->delack.expedited, false);
	expedite_seq = READ_ONCE(flow->delack.expedite_seq);
	if (before(ack_seq, expedite_seq))
		quell_delack_watch(flow, expedite_seq);
}

/*
 * New data is sent, the reply to a request, with the ACK of all that TCP has processed.  The
 * request may be in the socket's backlog instead, while a process sends: quell_tail_sent() compares
 * the numbers, and an expiry checks under the socket lock.  LOCAL_OUT hook.
 */
void quell_delack_data_sent(struct quell_flow *flow, u64 now_ns)
{
	struct quell_delack *delack = &flow->delack;
	u8 prompt = READ_ONCE(delack->prompt);

	WRITE_ONCE(delack->has_request, false);
	if ((u32)now_ns - READ_ONCE(delack->request_rx_ns) > quell_tail_ack_delay_ns(flow))
		WRITE_ONCE(delack->prompt, 0);
	else if (prompt < DELACK_PROMPT_MIN)
		WRITE_ONCE(delack->prompt, prompt + 1);
}

/*
 * Send the ACK that was delayed.  Socket lock, not owned by a process; the flow's timer has fired.
 */
void quell_delack_expire(struct quell_flow *flow, struct sock *sk, u64 now_ns)
{
	struct quell_delack *delack = &flow->delack;

	if (!quell_tail_ack_expired(flow, now_ns))
		return;
	/* It was sent with a reply, or TCP sent it for another reason. */
	if (!inet_csk_ack_scheduled(sk))
		return;
	/* The program was busy, or has not replied. */
	if (READ_ONCE(delack->has_request))
		WRITE_ONCE(delack->prompt, 0);
	quell_count(flow->qnet, QUELL_N_ACK_DELAY_EXPIRED);
	quell_send_ack(sk, tcp_sk(sk)->rcv_nxt);
}

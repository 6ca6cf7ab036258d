// SPDX-License-Identifier: GPL-2.0
/*
 * Requests and answers.
 *
 * A receiver of ours acknowledges a packet with PSH at once, receive_data.c, and so each
 * request.  Where two programs take turns, every exchange is then four packets, two of them
 * pure ACKs; the stack's delayed ACK would be on the answer, and make it two.
 *
 * So the ACK of a request waits if the program's last answers came soon:
 *
 *	request		the packet ends a message and acknowledges all that this end sent
 *	answer		the next new data of this end
 *	soon		within ANSWER_WAIT_NS of the request; ANSWERS_ENOUGH in a row
 *
 * If no answer comes in that time the timer of the flow sends the ACK, and the next ones do
 * not wait until answers have been prompt again.  An answer that comes puts the timer off,
 * quell_tail_sent(): it would fire for each request.  The wait is half of tail-floor's
 * default: the peer sends no tail loss probe meanwhile.
 *
 * The Quell option states how long an ACK was delayed.  Without it an answer's round-trip time
 * has the program's time in it and is no sample (ack.c), so every ANSWERS_A_SAMPLE-th
 * request is then acknowledged at once.
 */
#include <linux/ktime.h>
#include <net/tcp.h>
#include <compat/tcp_ecn.h>
#include "cc/cc.h"
#include "flow/flow.h"
#include "netns/counters.h"
#include "netns/net.h"

#define ANSWER_WAIT_NS		(50U * NSEC_PER_USEC)
/* How long an ACK waits for a process that owns the socket: the time to copy 64 KB. */
#define ANSWER_BUSY_NS		(20U * NSEC_PER_USEC)
#define ANSWERS_ENOUGH		4
#define ANSWERS_A_SAMPLE	64

/**
 * quell_answer_expect() - a data packet came in: may its ACK wait for an answer?
 * @flow:     flow
 * @sk:       its socket
 * @question: the packet
 *
 * Context: LOCAL_IN hook, without the socket lock; not the lock of @flow.
 * Return: true if it may; the flow's timer sends it if no answer does, ANSWER_WAIT_NS after the
 * oldest request without an answer.
 */
bool quell_answer_expect(struct quell_flow *flow, const struct sock *sk,
			 const struct quell_question *question)
{
	bool asked = question->ends && question->ack_seq == READ_ONCE(tcp_sk(sk)->snd_nxt);
	struct quell_answer *answer = &flow->answer;
	bool another = READ_ONCE(answer->asked);
	u8 turn;

	WRITE_ONCE(answer->asked, asked);
	if (!asked)
		return false;
	if (!another)
		WRITE_ONCE(answer->asked_ns, (u32)question->rx_ns);
	if (READ_ONCE(answer->prompt) < ANSWERS_ENOUGH || question->marked)
		return false;
	turn = READ_ONCE(answer->turn) + 1;
	WRITE_ONCE(answer->turn, turn);
	if (READ_ONCE(flow->option) != QUELL_OPTION_ON && !(turn % ANSWERS_A_SAMPLE))
		return false;
	quell_tail_await_ack(flow, question->rx_ns + ANSWER_WAIT_NS, question->end_seq,
			     another);
	quell_count(flow->qnet, QUELL_N_ACK_WAITED);
	return true;
}

/**
 * quell_answer_watch() - a process owns the socket, and TCP may then delay the ACK of data
 * @flow:    flow
 * @end_seq: sequence number after the data
 *
 * The flow's timer sends it if it still waits when the process lets go.
 *
 * Context: any but hard interrupts; not the lock of @flow.
 */
void quell_answer_watch(struct quell_flow *flow, u32 end_seq)
{
	quell_tail_await_ack(flow, ktime_get_ns() + ANSWER_BUSY_NS, end_seq, true);
}

/**
 * quell_answer_hasten() - TCP will acknowledge data at once, if it gets to it first
 * @flow:    flow
 * @end_seq: sequence number after the data
 *
 * Context: LOCAL_IN hook.
 */
void quell_answer_hasten(struct quell_flow *flow, u32 end_seq)
{
	WRITE_ONCE(flow->answer.hasten_seq, end_seq);
	WRITE_ONCE(flow->answer.hastened, true);
}

/**
 * quell_answer_left() - a packet has left since data was hastened, perhaps with its ACK
 * @flow:    flow
 * @ack_seq: its acknowledgment number
 *
 * A process that takes the socket between the hook and TCP may send something, after which TCP
 * has no ACK to send.  The data then comes from the backlog as any other.
 *
 * Context: LOCAL_OUT hook; not the lock of @flow.
 */
void quell_answer_left(struct quell_flow *flow, u32 ack_seq)
{
	u32 hasten_seq;

	/* In this order: data that is hastened meanwhile is for the next packet, or this one. */
	WRITE_ONCE(flow->answer.hastened, false);
	hasten_seq = READ_ONCE(flow->answer.hasten_seq);
	if (before(ack_seq, hasten_seq))
		quell_answer_watch(flow, hasten_seq);
}

/**
 * quell_answer_sent() - new data leaves, the answer to a request, with the ACK of all that TCP
 * has processed
 * @flow:   flow
 * @now_ns: now, CLOCK_MONOTONIC, ns
 *
 * The request may not be of that yet: it waits in the socket's backlog while a process sends
 * something else.  quell_tail_sent() compares the numbers, and whether the ACK still waits is
 * asked with the socket's lock if the timer fires.
 *
 * Context: LOCAL_OUT hook.
 */
void quell_answer_sent(struct quell_flow *flow, u64 now_ns)
{
	struct quell_answer *answer = &flow->answer;
	u8 prompt = READ_ONCE(answer->prompt);

	WRITE_ONCE(answer->asked, false);
	if ((u32)now_ns - READ_ONCE(answer->asked_ns) > ANSWER_WAIT_NS)
		WRITE_ONCE(answer->prompt, 0);
	else if (prompt < ANSWERS_ENOUGH)
		WRITE_ONCE(answer->prompt, prompt + 1);
}

/**
 * quell_answer_run() - send the ACK that has waited long enough
 * @flow:   flow
 * @sk:     its socket
 * @now_ns: now, CLOCK_MONOTONIC, ns
 *
 * Context: socket lock, not owned by a process; the flow's timer has fired.
 */
void quell_answer_run(struct quell_flow *flow, struct sock *sk, u64 now_ns)
{
	struct quell_answer *answer = &flow->answer;

	if (!quell_tail_take_ack(flow, now_ns))
		return;
	/* The ACK left with an answer, or TCP sent it for a reason of its own. */
	if (!inet_csk_ack_scheduled(sk))
		return;
	/* The program was busy, or has not answered. */
	if (READ_ONCE(answer->asked))
		WRITE_ONCE(answer->prompt, 0);
	quell_count(flow->qnet, QUELL_N_ACK_LATE);
	quell_send_ack(sk, tcp_sk(sk)->rcv_nxt);
}

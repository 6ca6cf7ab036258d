/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests and answers: ACKs that wait for the answer to travel with, answer.c.
 */
#ifndef _QUELL_ANSWER_H
#define _QUELL_ANSWER_H

#include <linux/types.h>

struct quell_flow;
struct sock;

/**
 * struct quell_question - a data packet that came in
 * @ack_seq: acknowledgment number
 * @end_seq: sequence number after it
 * @rx_ns:   receipt, CLOCK_MONOTONIC, ns
 * @ends:    it ends a message
 * @marked:  it was marked CE
 */
struct quell_question {
	u32	ack_seq;
	u32	end_seq;
	u64	rx_ns;
	bool	ends;
	bool	marked;
};

/**
 * struct quell_answer - how soon the program of this end answers
 * @asked_ns:	 receipt of the oldest request without an answer, ns modulo 2^32; valid if @asked
 * @hasten_seq:	 sequence number after the newest data that is to be acknowledged at once;
 *		 valid if @hastened
 * @asked:	 a request came in that was not answered yet
 * @hastened:	 no packet left since
 * @prompt:	 answers in a row that came soon enough, up to the number that is needed
 * @turn:	 requests with an ACK that could have waited
 *
 * The hooks write this without a common lock, with WRITE_ONCE(): the values are hints.
 * An ACK that no answer takes along leaves when the flow's timer finds it, quell_tail.ack_ns.
 */
struct quell_answer {
	u32	asked_ns;
	u32	hasten_seq;
	bool	asked;
	bool	hastened;
	u8	prompt;
	u8	turn;
};

/* answer.c */
bool quell_answer_expect(struct quell_flow *flow, const struct sock *sk,
			 const struct quell_question *question);
void quell_answer_hasten(struct quell_flow *flow, u32 end_seq);
void quell_answer_left(struct quell_flow *flow, u32 ack_seq);
void quell_answer_watch(struct quell_flow *flow, u32 end_seq);
void quell_answer_sent(struct quell_flow *flow, u64 now_ns);
void quell_answer_run(struct quell_flow *flow, struct sock *sk, u64 now_ns);

#endif /* _QUELL_ANSWER_H */

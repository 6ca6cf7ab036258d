// SPDX-License-Identifier: GPL-2.0
/*
 * The receiver's side of an echo: which data packet an ACK answers.
 *
 * Data is noted as it comes in, before TCP sees it; between the two it may wait
 * in the backlog of a busy socket, and more may come.  An ACK echoes the newest
 * packet that TCP has processed: it is below rcv_nxt or, out of order, in the
 * first SACK block, which is the one that grew last (RFC 2018, section 4).  What
 * is older than that has been answered, too, and goes.
 *
 * The caller of quell_echo_take() holds the socket lock; the list has the lock
 * of the arrivals.
 */
#include <net/tcp.h>
#include "internal.h"

/**
 * quell_echo_add() - a data packet with a departure came in
 * @flow: flow it belongs to
 * @echo: what is to be echoed
 *
 * Without room the oldest gives way: its ACK will have no echo.
 *
 * Context: softirq or process context, RCU read side.
 */
void quell_echo_add(struct quell_flow *flow, const struct quell_echo *echo)
{
	spin_lock_bh(&flow->arrivals_lock);
	if (flow->echoes_nr == QUELL_ECHOES_MAX) {
		memmove(flow->echo, flow->echo + 1,
			(QUELL_ECHOES_MAX - 1) * sizeof(*flow->echo));
		flow->echoes_nr--;
	}
	flow->echo[flow->echoes_nr++] = *echo;
	spin_unlock_bh(&flow->arrivals_lock);
}

static bool echo_in_block(const struct quell_echo *echo, const struct tcp_sack_block *block)
{
	return !before(echo->seq, block->start_seq) && !after(echo->end_seq, block->end_seq);
}

static bool echo_is_processed(const struct quell_echo *echo, const struct tcp_sock *tp)
{
	if (!after(echo->end_seq, tp->rcv_nxt))
		return true;
	return tp->rx_opt.num_sacks && echo_in_block(echo, &tp->selective_acks[0]);
}

/**
 * quell_echo_take() - the data packet an ACK about to leave answers
 * @flow: flow
 * @tp:   its socket
 * @echo: set when there is one; it is not echoed again
 *
 * Context: socket lock.
 * Return: whether there is one.
 */
bool quell_echo_take(struct quell_flow *flow, const struct tcp_sock *tp,
		     struct quell_echo *echo)
{
	bool found = false;
	u32 i;

	spin_lock_bh(&flow->arrivals_lock);
	for (i = flow->echoes_nr; i > 0 && !found; i--) {
		if (!echo_is_processed(&flow->echo[i - 1], tp))
			continue;
		found = true;
		*echo = flow->echo[i - 1];
		flow->echoes_nr -= i;
		memmove(flow->echo, flow->echo + i, flow->echoes_nr * sizeof(*flow->echo));
	}
	spin_unlock_bh(&flow->arrivals_lock);
	return found;
}

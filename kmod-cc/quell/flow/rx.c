// SPDX-License-Identifier: GPL-2.0
/*
 * Packets kept from their receipt until TCP has processed them, possibly from the backlog of a
 * busy socket and on another CPU.  Lists under the lock of the flow, oldest first:
 *
 *	arrivals	receipts of ACKs, one entry per acknowledgment number, taken by the sample
 *			of that ACK or, if it has no sample, by the hook at the next segment
 *	echo		data packets, of which the next packet out echoes the departure
 *
 * An ACK echoes the newest data packet that TCP has processed: it is below rcv_nxt or, out of
 * order, in the first SACK block, which is the one that grew last (RFC 2018, section 4).  Older
 * packets are dropped then, or when the next one is received, so that an idle receiver needs no
 * memory.
 *
 * Switches stamp the packet of a burst that requests an ACK: an entry without a telemetry record
 * gets that of the newest one that it replaces.
 */
#include <net/tcp.h>
#include "flow/flow.h"
#include "flow/rx.h"

/*
 * Without a telemetry record it gets that of the entry it replaces.  Lock of @flow, which is not
 * closed; RCU.
 */
void quell_ack_rx_add(struct quell_flow *flow, const struct sock *sk,
		      struct quell_ack_rx *ack_rx)
{
	struct quell_list *list = &flow->ack_rx_list;
	struct quell_ack_rx *newest;

	lockdep_assert_held(&flow->lock);
	newest = (struct quell_ack_rx *)list->at + list->nr - 1;
	if (list->nr && newest->ack_seq == ack_rx->ack_seq) {
		quell_telemetry_keep(ack_rx->record, newest->record);
		*newest = *ack_rx;
		return;
	}
	if (list->nr == list->room &&
	    !quell_list_make_room(list, sk, sizeof(*ack_rx), QUELL_ACK_RX_MAX)) {
		WRITE_ONCE(flow->ack_rx_lost, flow->ack_rx_lost + 1);
		quell_count(flow->qnet, QUELL_N_ACK_RING_OVERRUN);
	}
	((struct quell_ack_rx *)list->at)[list->nr] = *ack_rx;
	WRITE_ONCE(list->nr, list->nr + 1);
}

/*
 * The newest receipt that TCP may have processed, with the newest telemetry record of it and the
 * older ones, which are dropped.  Lock of @flow.
 */
bool quell_ack_rx_take(struct quell_flow *flow, u32 una, struct quell_ack_rx *ack_rx)
{
	struct quell_ack_rx *ack_rx_list = flow->ack_rx_list.at;
	u32 taken, i;

	lockdep_assert_held(&flow->lock);
	for (taken = flow->ack_rx_list.nr; taken > 0; taken--)
		if (!after(ack_rx_list[taken - 1].ack_seq, una))
			break;
	if (!taken)
		return false;
	*ack_rx = ack_rx_list[taken - 1];
	for (i = taken - 1; i > 0; i--)
		quell_telemetry_keep(ack_rx->record, ack_rx_list[i - 1].record);
	WRITE_ONCE(flow->ack_rx_list.nr, flow->ack_rx_list.nr - taken);
	if (flow->ack_rx_list.nr)
		memmove(ack_rx_list, ack_rx_list + taken,
			flow->ack_rx_list.nr * sizeof(*ack_rx_list));
	quell_list_settle(&flow->ack_rx_list, flow->ack_rx_few, QUELL_ACK_RX_FEW);
	return true;
}

static bool echo_is_processed(const struct quell_echo *echo, const struct tcp_sock *tp)
{
	const struct tcp_sack_block *block = &tp->selective_acks[0];

	if (!after(echo->end_seq, READ_ONCE(tp->rcv_nxt)))
		return true;
	return READ_ONCE(tp->rx_opt.num_sacks) &&
	       !before(echo->seq, READ_ONCE(block->start_seq)) &&
	       !after(echo->end_seq, READ_ONCE(block->end_seq));
}

/*
 * Entry for a data packet, to be set in full but for the telemetry record: that of the packet which
 * it replaces, or empty.  Without room the oldest packet is dropped: its ACK will have no echo.
 * Lock of @flow, which is not closed; RCU.
 */
struct quell_echo *quell_echo_open(struct quell_flow *flow, const struct sock *sk)
{
	struct quell_list *list = &flow->echo;
	struct quell_echo *echoes = list->at;

	lockdep_assert_held(&flow->lock);
	/*
	 * It replaces the only one, of a delayed ACK, as the ACK of the packet that TCP processes
	 * next is for both.  While a process owns the socket TCP may acknowledge the older one
	 * alone.  A process that takes the socket meanwhile may send such an ACK without an echo.
	 */
	if (list->nr == 1 && !after(echoes->end_seq, READ_ONCE(tcp_sk(sk)->rcv_nxt)) &&
	    /* The owner may change meanwhile: see above. */
	    !data_race(sock_owned_by_user_nocheck(sk)))
		return echoes;
	if (list->nr == list->room)
		quell_list_make_room(list, sk, sizeof(*echoes), QUELL_ECHOES_MAX);
	echoes = list->at;
	memset(echoes[list->nr].record, 0, sizeof(echoes->record));
	return &echoes[list->nr++];
}

/*
 * Without the socket lock, which is not certain, the fields of @tp may be of different moments, and
 * the echo of a packet that this ACK does not acknowledge.  Lock of @flow, LOCAL_OUT hook.
 */
bool quell_echo_take(struct quell_flow *flow, const struct tcp_sock *tp,
		     struct quell_echo *echo)
{
	struct quell_list *list = &flow->echo;
	struct quell_echo *echoes = list->at;
	u32 older, i;

	lockdep_assert_held(&flow->lock);
	for (i = list->nr; i > 0; i--)
		if (echo_is_processed(&echoes[i - 1], tp))
			break;
	if (!i)
		return false;
	*echo = echoes[i - 1];
	for (older = i - 1; older > 0; older--)
		quell_telemetry_keep(echo->record, echoes[older - 1].record);
	list->nr -= i;
	if (list->nr)
		memmove(echoes, echoes + i, list->nr * sizeof(*echoes));
	quell_list_settle(list, flow->echo_few, QUELL_ECHOES_FEW);
	return true;
}

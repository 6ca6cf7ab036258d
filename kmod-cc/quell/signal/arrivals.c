// SPDX-License-Identifier: GPL-2.0
/*
 * Receipt times of acknowledgments: one entry per acknowledgment number, added by the receive
 * hook, taken when TCP has processed it.  In between the segment may be in the socket's
 * backlog, and another CPU process it.
 */
#include "flow/flow.h"
#include "flow/memory.h"
#include "flow/rx.h"
#include "flow/signal.h"
#include "netns/counters.h"
#include "netns/net.h"

/* False if the oldest entry was dropped. */
static bool arrival_make_room(struct quell_flow *flow, const struct sock *sk)
{
	struct quell_list *list = &flow->arrivals;
	struct quell_arrival *arrivals;

	if (list->nr < list->room ||
	    quell_list_grow(list, sk, sizeof(*arrivals), QUELL_ARRIVALS_MAX))
		return true;
	arrivals = list->at;
	memmove(arrivals, arrivals + 1, (list->nr - 1) * sizeof(*arrivals));
	list->nr--;
	WRITE_ONCE(flow->arrivals_lost, flow->arrivals_lost + 1);
	return false;
}

/**
 * quell_arrival_add() - record the receipt of an acknowledgment
 * @flow:    flow it belongs to
 * @sk:      the flow's socket
 * @arrival: the receipt; without a telemetry record it gets that of the entry it replaces
 * Context: lock of @flow, which is not closed; RCU read side.
 */
void quell_arrival_add(struct quell_flow *flow, const struct sock *sk,
		       struct quell_arrival *arrival)
{
	struct quell_list *list = &flow->arrivals;
	struct quell_arrival *newest;

	lockdep_assert_held(&flow->lock);
	newest = (struct quell_arrival *)list->at + list->nr - 1;
	if (list->nr && newest->ack_seq == arrival->ack_seq) {
		list->nr--;
		quell_telemetry_keep(arrival->record, newest->record);
	} else if (!arrival_make_room(flow, sk)) {
		quell_count(flow->qnet, QUELL_N_ARRIVAL_RING_OVERRUN);
	}
	((struct quell_arrival *)list->at)[list->nr++] = *arrival;
}

/**
 * quell_arrival_take() - the receipt of the acknowledgment being processed
 * @flow:    flow
 * @una:     first sequence number not acknowledged
 * @arrival: set when there is one: the newest that TCP may have processed, with the newest
 *           telemetry record of it and the older ones, which are dropped
 * Context: lock of @flow.
 * Return: whether there is one.
 */
bool quell_arrival_take(struct quell_flow *flow, u32 una, struct quell_arrival *arrival)
{
	struct quell_arrival *arrivals = flow->arrivals.at;
	u32 taken, i;

	lockdep_assert_held(&flow->lock);
	for (taken = flow->arrivals.nr; taken > 0; taken--)
		if (!after(arrivals[taken - 1].ack_seq, una))
			break;
	if (!taken)
		return false;
	*arrival = arrivals[taken - 1];
	for (i = taken - 1; i > 0; i--)
		quell_telemetry_keep(arrival->record, arrivals[i - 1].record);
	flow->arrivals.nr -= taken;
	if (flow->arrivals.nr)
		memmove(arrivals, arrivals + taken, flow->arrivals.nr * sizeof(*arrivals));
	quell_list_settle(&flow->arrivals, flow->arrivals_few, QUELL_ARRIVALS_FEW);
	return true;
}

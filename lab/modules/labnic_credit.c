// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labnic: credits of receivers, as EQDS and NDP have them, for comparison; those of
 * ExpressPass, which come otherwise, are in labnic_express.c.
 *
 * A sender may send its first window, "first_bytes", unasked, of new data.  Each further packet,
 * and each retransmission, takes a credit of the receiver's card, which hands out one for each data
 * packet that came in, whole or trimmed, and no faster than its line carries packets of that
 * size:
 *
 *	data packet in	    demand of its flow + 1, then serve
 *	timer		    serve
 *	serve, when due	    the next flow in turn: demand - 1, granted + 1, next due a packet later
 *	acknowledgment out  says how many the flow has been granted; so the pull of a packet
 *			    that need not wait travels with its acknowledgment
 *	otherwise	    a pull: the last acknowledgment once more, without options
 *
 * So data in flight, credits not used and credits held here add up to the first window,
 * always.  Data packets say how many credits their sender would need for all that it has to send;
 * flows that need more are served before others, for which pulls would be wasted.  A trimmed
 * packet has to be sent again, so its flow needs one more, regardless of its sender's number.
 *
 * Both numbers are those of packets modulo 2^16, in the urgent pointer (labnic_segment.c).
 *
 * In the sender's host the algorithm asks how many are left, quell_labnic_credits(), and opens its
 * window by no more (labeqds.c).
 *
 * EQDS, "EQDS: An edge-queued datagram service for all datacenter traffic" (NSDI 2022), takes the
 * place of a transport's own credits with queues in the sender's edge.  Here TCP's send queue is
 * that edge.  A packet that is dropped, not trimmed, takes its credit with it until it is sent
 * again; the next credit pays for a packet that TCP's timers send without one.
 *
 * The flows are in labnic_credit_table.c.
 */
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/slab.h>
#include <net/tcp.h>
#include <compat/hrtimer.h>

#include "labnic.h"
#include "labnic_credit.h"

/* With labnic_credit_lock. */
static u32 credit_first_bytes;		/* the same at all cards */
static bool credit_is_express;		/* as well */
static u32 credit_cards_nr;

/* A first window in packets of this payload. */
static u32 credit_first_pkts(u32 payload_bytes)
{
	return DIV_ROUND_UP(credit_first_bytes, max_t(u32, payload_bytes, 1));
}

/* A reset ends both directions, and a SYN begins anew, for the card that sends or receives it. */
static void credit_reset(const struct labnic_credit *credit, const struct labnic_credit_key *key)
{
	struct labnic_credit_key keys[] = { *key, labnic_credit_reverse(key) };
	struct labnic_credit_flow *flow;
	int i;

	for (i = 0; i < 4; i++) {
		flow = labnic_credit_find(&keys[i / 2], i % 2);
		if (flow && flow->credit == credit)
			labnic_credit_remove(flow);
	}
}

/* A FIN is received or sent: the acknowledgment of it ends the flow; @flow may be NULL. */
static void credit_note_end(struct labnic_credit_flow *flow, const struct labnic_segment *segment)
{
	if (!flow || !segment->is_fin)
		return;
	flow->has_end = true;
	flow->end_seq = segment->seq + segment->payload_bytes + 1;
}

/* Put a flow that has demand where its turn comes; a flow that is there already keeps its turn. */
static void credit_queue(struct labnic_credit_flow *flow)
{
	bool wants = flow->again_pkts ||
		     (s64)(flow->granted_pkts + credit_first_pkts(flow->payload_bytes)) <
		     flow->wanted_pkts;
	struct labnic_credit *credit = flow->credit;

	if (!flow->demand_pkts || (!list_empty(&flow->waits) && flow->is_wanting == wants))
		return;
	flow->is_wanting = wants;
	list_move_tail(&flow->waits, wants ? &credit->wanting : &credit->spare);
}

static struct labnic_credit_flow *credit_next(struct labnic_credit *credit)
{
	return list_first_entry_or_null(&credit->wanting, struct labnic_credit_flow, waits) ?:
	       list_first_entry_or_null(&credit->spare, struct labnic_credit_flow, waits);
}

static void credit_grant(struct labnic_credit_flow *flow)
{
	struct labnic_credit *credit = flow->credit;

	flow->demand_pkts--;
	flow->again_pkts -= !!flow->again_pkts;
	flow->granted_pkts++;
	credit->stats.granted_pkts++;
	list_del_init(&flow->waits);
	credit_queue(flow);
	if (list_empty(&flow->untold))
		list_add_tail(&flow->untold, &credit->untold);
}

/*
 * Book the time of a packet, of which the pacer lets "percent" into the line.  The product is
 * below 2^17 bits * 2^37 plus a remainder below 2^49.
 */
static void credit_book(struct labnic_credit *credit, u32 frame_bytes, u64 now_ns)
{
	u64 bits = 8ULL * (max_t(u32, frame_bytes, LABNIC_FRAME_MIN_BYTES) +
			   LABNIC_WIRE_OVERHEAD_BYTES);

	if (credit->next_ns + !!credit->next_frac < now_ns) {
		credit->next_ns = now_ns;
		credit->next_frac = 0;
	}
	credit->next_ns += div64_u64_rem(bits * NSEC_PER_SEC * 100 + credit->next_frac,
					 credit->port->rate_bits_ps * credit->config.percent,
					 &credit->next_frac);
}

static void credit_serve(struct labnic_credit *credit, u64 now_ns)
{
	struct labnic_credit_flow *flow;

	lockdep_assert_held(&labnic_credit_lock);
	while ((flow = credit_next(credit))) {
		if (credit->next_ns + !!credit->next_frac > now_ns)
			break;
		credit_book(credit, flow->frame_bytes, now_ns);
		credit_grant(flow);
	}
	if (!flow || credit->is_armed)
		return;
	credit->is_armed = true;
	hrtimer_start(&credit->timer, ns_to_ktime(credit->next_ns + !!credit->next_frac),
		      HRTIMER_MODE_ABS_SOFT);
}

/*
 * Send a pull to each sender not yet notified of its credit.  To be called when the host had the
 * chance to acknowledge received packets.
 */
void labnic_credit_send_pulls(struct labnic_port *port)
{
	struct labnic_credit *credit = port->credit;
	struct labnic_credit_flow *flow;
	struct sk_buff *skb;

	spin_lock_bh(&labnic_credit_lock);
	while ((flow = list_first_entry_or_null(&credit->untold, struct labnic_credit_flow,
						untold))) {
		list_del_init(&flow->untold);
		/* Before its first ACK no ACK can be repeated; that will have the number. */
		if (!flow->ack.head_bytes)
			continue;
		skb = labnic_credit_pull(&flow->ack, &flow->key, flow->granted_pkts, 0);
		if (WARN_ON_ONCE(!skb))
			continue;
		skb->dev = port->dev;
		credit->stats.pull_pkts++;
		/* Comes back here by labnic_credit_transmit(). */
		spin_unlock_bh(&labnic_credit_lock);
		dev_queue_xmit(skb);
		spin_lock_bh(&labnic_credit_lock);
	}
	spin_unlock_bh(&labnic_credit_lock);
}

/* Send the credits of ExpressPass that are due. */
static void credit_express(struct labnic_credit *credit)
{
	struct sk_buff *skb;

	spin_lock_bh(&labnic_credit_lock);
	while ((skb = labnic_express_next(credit, ktime_get_ns()))) {
		/* Comes back here by labnic_credit_transmit(). */
		spin_unlock_bh(&labnic_credit_lock);
		dev_queue_xmit(skb);
		spin_lock_bh(&labnic_credit_lock);
	}
	labnic_express_arm(credit);
	spin_unlock_bh(&labnic_credit_lock);
}

static enum hrtimer_restart credit_timer(struct hrtimer *timer)
{
	struct labnic_credit *credit = container_of(timer, struct labnic_credit, timer);

	if (labnic_is_express(credit)) {
		credit_express(credit);
		return HRTIMER_NORESTART;
	}
	spin_lock_bh(&labnic_credit_lock);
	credit->is_armed = false;
	credit_serve(credit, ktime_get_ns());
	spin_unlock_bh(&labnic_credit_lock);
	labnic_credit_send_pulls(credit->port);
	return HRTIMER_NORESTART;
}

/* Data came in. */
static void credit_data(struct labnic_credit *credit, const struct labnic_segment *segment,
			u64 now_ns)
{
	struct labnic_credit_flow *flow = labnic_credit_add(credit, &segment->key, false);
	u32 first_pkts;

	if (!flow)
		return;
	flow->frame_bytes = max(flow->frame_bytes, segment->frame_bytes);
	flow->payload_bytes = max(flow->payload_bytes, segment->payload_bytes);
	if (segment->is_trimmed) {
		flow->again_pkts++;
		credit->stats.trimmed_pkts++;
	} else {
		credit->stats.whole_pkts++;
	}
	if (labnic_is_express(credit)) {
		labnic_express_data(flow, segment, now_ns);
		labnic_express_arm(credit);
		return;
	}
	first_pkts = credit_first_pkts(flow->payload_bytes);
	flow->wanted_pkts = flow->granted_pkts + first_pkts +
		(s16)(segment->number - (u16)(flow->granted_pkts + first_pkts));
	flow->demand_pkts++;
	credit_queue(flow);
	credit_serve(credit, now_ns);
}

/* With ExpressPass: any acknowledgment, a credit among them, or one by which a sender stops. */
static void credit_express_received(struct labnic_segment *segment)
{
	struct labnic_credit_key key = labnic_credit_reverse(&segment->key);
	struct labnic_credit_flow *flow = labnic_credit_find(&key, true);

	if (flow)
		labnic_express_receive(flow, segment);
	flow = segment->is_bare && !segment->is_pull ? labnic_credit_find(&segment->key, false) :
						       NULL;
	if (flow)
		labnic_express_stopped(flow, segment->number);
}

/* An acknowledgment came in: how many credits this host was granted.  An older one says less. */
static void credit_received(const struct labnic_segment *segment)
{
	struct labnic_credit_key key = labnic_credit_reverse(&segment->key);
	struct labnic_credit_flow *flow = labnic_credit_find(&key, true);
	s16 more_pkts;

	if (!flow)
		return;
	more_pkts = segment->number - (u16)flow->reported_pkts;
	flow->reported_pkts += max_t(s16, more_pkts, 0);
}

void labnic_credit_receive(struct labnic_port *port, struct sk_buff *skb, u64 now_ns)
{
	struct labnic_credit_flow *flow;
	struct labnic_credit_key reverse;
	struct labnic_segment segment;

	if (!labnic_segment_read(skb, 0, &segment))
		return;
	spin_lock_bh(&labnic_credit_lock);
	if (segment.is_rst || segment.is_syn)
		credit_reset(port->credit, &segment.key);
	else if (segment.has_data)
		credit_data(port->credit, &segment, now_ns);
	if (labnic_is_express(port->credit))
		credit_express_received(&segment);
	else if (segment.is_bare)
		credit_received(&segment);
	credit_note_end(labnic_credit_find(&segment.key, false), &segment);
	reverse = labnic_credit_reverse(&segment.key);
	flow = labnic_credit_find(&reverse, true);
	if (flow && flow->has_end && segment.ack_seq == flow->end_seq)
		labnic_credit_remove(flow);
	spin_unlock_bh(&labnic_credit_lock);
	if (segment.is_pull)
		WARN_ON_ONCE(!labnic_credit_explain(skb, &segment));
}

/*
 * Number an acknowledgment that is about to leave, and forget its flow if it acknowledges the end.
 * False where no flow of this card is acknowledged.
 */
static bool credit_number_ack(const struct labnic_port *port, const struct sk_buff *skb,
			      const struct labnic_segment *segment, u16 *number)
{
	struct labnic_credit_key key = labnic_credit_reverse(&segment->key);
	struct labnic_credit_flow *flow;

	spin_lock_bh(&labnic_credit_lock);
	flow = labnic_credit_find(&key, false);
	if (!flow || flow->credit != port->credit) {
		spin_unlock_bh(&labnic_credit_lock);
		return false;
	}
	*number = flow->granted_pkts;
	list_del_init(&flow->untold);
	labnic_credit_note_ack(skb, segment, &flow->ack);
	labnic_express_acked(flow, ktime_get_ns());
	if (flow->has_end && segment->ack_seq == flow->end_seq)
		labnic_credit_remove(flow);
	spin_unlock_bh(&labnic_credit_lock);
	return true;
}

/*
 * With ExpressPass, number an acknowledgment that is about to leave; false: the frame keeps its
 * number.  Data acknowledges, too, and has its number from quell_labnic_express_number().
 */
static bool credit_express_number(struct labnic_port *port, const struct sk_buff *skb,
				  const struct labnic_segment *segment, u16 *number)
{
	struct labnic_credit_flow *flow;

	if (segment->is_pull || (!segment->is_bare && !segment->has_data))
		return false;
	credit_number_ack(port, skb, segment, number);
	spin_lock_bh(&labnic_credit_lock);
	labnic_express_arm(port->credit);
	flow = segment->is_bare ? labnic_credit_find(&segment->key, true) : NULL;
	*number = flow ? labnic_express_stops(flow, ktime_get_ns()) : 0;
	spin_unlock_bh(&labnic_credit_lock);
	return segment->is_bare;
}

/* Number a frame that is about to leave.  Softirq, or bottom halves off. */
void labnic_credit_transmit(struct labnic_port *port, struct sk_buff *skb)
{
	struct labnic_segment segment;
	u16 number;

	if (!labnic_segment_read(skb, skb_network_offset(skb), &segment))
		return;
	if (segment.is_rst || segment.is_syn) {
		spin_lock_bh(&labnic_credit_lock);
		credit_reset(port->credit, &segment.key);
		spin_unlock_bh(&labnic_credit_lock);
		return;
	}
	spin_lock_bh(&labnic_credit_lock);
	credit_note_end(segment.has_data ? labnic_credit_add(port->credit, &segment.key, true) :
					   labnic_credit_find(&segment.key, true), &segment);
	spin_unlock_bh(&labnic_credit_lock);
	if (labnic_is_express(port->credit)) {
		if (!credit_express_number(port, skb, &segment, &number))
			return;
	} else if (segment.has_data) {
		if (!skb->sk || !sk_fullsock(skb->sk))
			return;
		number = labnic_credit_wanted_pkts(skb->sk);
	} else if (!segment.is_bare || !credit_number_ack(port, skb, &segment, &number)) {
		return;
	}
	WARN_ON_ONCE(!labnic_segment_number(skb, &segment, number));
}

/*
 * Account data sent since the last request, to credits that the socket had then, or to its
 * first window, and grants since.  At a start only its first window is left.
 */
static void credit_spend(struct labnic_credit_flow *flow, const struct tcp_sock *tp, bool is_start)
{
	u32 sent_pkts = tp->data_segs_out - flow->sent_pkts;
	s64 unasked_pkts = sent_pkts - clamp_t(s64, flow->left_pkts, 0, sent_pkts);

	if (!flow->sent_pkts)
		flow->first_pkts = credit_first_pkts(tp->mss_cache);
	unasked_pkts = min_t(s64, unasked_pkts, flow->first_pkts);
	flow->sent_pkts = tp->data_segs_out;
	flow->first_pkts -= unasked_pkts;
	flow->left_pkts += flow->reported_pkts - flow->seen_pkts - (sent_pkts - unasked_pkts);
	flow->seen_pkts = flow->reported_pkts;
	if (is_start && flow->left_pkts > 0) {
		flow->first_pkts += flow->left_pkts;
		flow->left_pkts = 0;
	}
}

/**
 * quell_labnic_credits() - how many packets a socket may still send
 * @sk: TCP socket, connected; all that it has sent since the last call was allowed by that
 * @is_start: it has no data in flight and begins again
 * @left: set when the result is true
 *
 * Context: any but a hard interrupt.
 * Return: false where no card has credits.
 */
bool quell_labnic_credits(const struct sock *sk, bool is_start, struct quell_labnic_credits *left)
{
	struct labnic_credit_key key = labnic_credit_key_of(sk);
	struct labnic_credit_flow *flow;
	bool has_cards;

	spin_lock_bh(&labnic_credit_lock);
	has_cards = credit_cards_nr;
	flow = has_cards ? labnic_credit_find(&key, true) : NULL;
	if (has_cards && credit_is_express) {
		labnic_express_transmit(flow, sk, left);
	} else if (flow) {
		credit_spend(flow, tcp_sk(sk), is_start);
		left->first_pkts = flow->first_pkts;
		left->granted_pkts = max_t(s64, flow->left_pkts, 0);
	} else if (has_cards) {
		/* It has sent no data. */
		u32 first_pkts = credit_first_pkts(tcp_sk(sk)->mss_cache);

		left->first_pkts = first_pkts - min(first_pkts, tcp_sk(sk)->data_segs_out);
		left->granted_pkts = 0;
	}
	spin_unlock_bh(&labnic_credit_lock);
	return has_cards;
}
EXPORT_SYMBOL_GPL(quell_labnic_credits);

/**
 * quell_labnic_express_number() - number data that TCP hands over
 * @skb: a frame at its host's port, before it waits there
 *
 * TCP sends at once for a credit, so the newest is its own; a request may have any number.  A frame
 * without data does not change.
 *
 * Context: softirq, or bottom halves off.
 */
void quell_labnic_express_number(struct sk_buff *skb)
{
	struct labnic_credit_flow *flow;
	struct labnic_segment segment;
	u16 number = 0;

	if (!skb->sk || !labnic_segment_read(skb, skb_network_offset(skb), &segment) ||
	    !segment.has_data)
		return;
	spin_lock_bh(&labnic_credit_lock);
	flow = labnic_credit_find(&segment.key, true);
	if (flow) {
		labnic_express_sends(flow);
		number = flow->express.told;
	}
	spin_unlock_bh(&labnic_credit_lock);
	WARN_ON_ONCE(!labnic_segment_number(skb, &segment, number));
}
EXPORT_SYMBOL_GPL(quell_labnic_express_number);

/**
 * quell_labnic_is_credit() - whether a packet is a credit of ExpressPass
 * @skb: any
 *
 * Context: any.
 */
bool quell_labnic_is_credit(const struct sk_buff *skb)
{
	struct labnic_segment segment;

	return labnic_segment_read(skb, skb_network_offset(skb), &segment) && segment.is_pull;
}
EXPORT_SYMBOL_GPL(quell_labnic_is_credit);

/* Whether a card has the kind and first window of the others; it then counts as one of them. */
static bool credit_join(const struct quellnic_credit *config)
{
	bool is_same;

	spin_lock_bh(&labnic_credit_lock);
	is_same = !credit_cards_nr || (credit_first_bytes == config->first_bytes &&
				       credit_is_express == !!config->first_q16);
	if (is_same) {
		credit_first_bytes = config->first_bytes;
		credit_is_express = config->first_q16;
		credit_cards_nr++;
	}
	spin_unlock_bh(&labnic_credit_lock);
	return is_same;
}

/*
 * Have a port hand out credits.  Before the device is registered.  Returns 0, -EINVAL for values
 * out of range or another first window than that of other ports, -ENOMEM.
 */
int labnic_credit_create(struct labnic_port *port, const struct quellnic_credit *config,
			 struct netlink_ext_ack *extack)
{
	struct labnic_credit *credit;

	if (!config->percent || config->percent > 100 || !config->first_bytes) {
		NL_SET_ERR_MSG(extack, "quellnic: credits are for 1 to 100 % and a first window");
		return -EINVAL;
	}
	if (config->first_q16 && labnic_express_check(port, config, extack))
		return -EINVAL;
	credit = kzalloc(sizeof(*credit), GFP_KERNEL);
	if (!credit)
		return -ENOMEM;
	credit->port = port;
	credit->config = *config;
	INIT_LIST_HEAD(&credit->wanting);
	INIT_LIST_HEAD(&credit->spare);
	INIT_LIST_HEAD(&credit->untold);
	timerqueue_init_head(&credit->due);
	quell_hrtimer_setup(&credit->timer, credit_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	if (!credit_join(config)) {
		NL_SET_ERR_MSG(extack, "quellnic: kind and first window are the same at all cards");
		kfree(credit);
		return -EINVAL;
	}
	port->credit = credit;
	return 0;
}

/* Forget the flows of a port.  A frame that still arrives begins anew. */
void labnic_credit_stop(struct labnic_port *port)
{
	if (!port->credit)
		return;
	spin_lock_bh(&labnic_credit_lock);
	labnic_credit_remove_all(port->credit);
	spin_unlock_bh(&labnic_credit_lock);
	hrtimer_cancel(&port->credit->timer);
	spin_lock_bh(&labnic_credit_lock);
	port->credit->is_armed = false;
	spin_unlock_bh(&labnic_credit_lock);
}

void labnic_credit_stats(const struct labnic_port *port, struct quellnic_credit_stats *stats)
{
	spin_lock_bh(&labnic_credit_lock);
	*stats = port->credit->stats;
	spin_unlock_bh(&labnic_credit_lock);
}

/* With RTNL or, from the destructor, without; frames are no longer received. */
void labnic_credit_free(struct labnic_port *port)
{
	if (!port->credit)
		return;
	labnic_credit_stop(port);
	kfree(port->credit);
	port->credit = NULL;
	spin_lock_bh(&labnic_credit_lock);
	credit_cards_nr--;
	spin_unlock_bh(&labnic_credit_lock);
}

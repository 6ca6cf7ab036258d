// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labnic: credits of ExpressPass, for comparison (express_rate.h names the source).
 *
 * A sender sends one packet for each credit received, at once; a credit without data to send is
 * lost.  A receiver sends each of its flows credits at a rate of its own, whichever data it
 * receives; ports let only as many pass as data has room for on the way back (labexpress_port.c),
 * and drop the others.  Credits have numbers, which come back in data, so receivers know how many
 * were lost, and change their rates once in a round trip:
 *
 *	data without credit	    a request: credits begin
 *	data for a credit		says for which
 *	timer, when a flow is due	set its rate, send a credit, due again
 *	a credit without data to send	the sender's next acknowledgment says stop, credits end
 *
 * A request of ExpressPass carries no data; here it is the first packet, as a TCP that may send
 * no data does not signal that it has some.
 *
 * A credit is a pull (labnic_segment.c): the last acknowledgment once more, without its options.
 * As in the paper, its length is random: 86, 90 or 94 bytes on the wire, 20 more over IPv6; there
 * it is 84 to 92.  Else the credits of a flow that has filled its own port leave that in step with
 * the next port, and take all room there.  The numbers travel as those of labnic_credit.c do.
 */
#include <linux/ip.h>
#include <linux/jhash.h>
#include <linux/ktime.h>
#include <net/ipv6.h>
#include <net/tcp.h>

#include "labnic.h"
#include "labnic_credit.h"

/* In an acknowledgment of the sender's: no more credits; those of receivers have 0. */
#define EXPRESS_STOP		1
/* Options of a credit, so that no frame is padded. */
#define EXPRESS_OPTION_MIN_BYTES	8
#define EXPRESS_OPTION_STEP_BYTES	4
#define EXPRESS_LENGTHS			3
/* A sender that has said so says it again if credits still come after so many round trips. */
#define EXPRESS_AGAIN_RTTS	4

/* Credits of ExpressPass, or of EQDS. */
bool labnic_is_express(const struct labnic_credit *credit)
{
	return credit->config.first_q16;
}

/* A full packet, a credit and an acknowledgment take so long on a line that they fill. */
static u64 express_interval_ns_q16(const struct labnic_port *port, bool is_ip6)
{
	u32 more_bytes = is_ip6 ? sizeof(struct ipv6hdr) - sizeof(struct iphdr) : 0;
	u64 bits = 8ULL * (LABNIC_EXPRESS_MEAN_BYTES + LABNIC_EXPRESS_ACK_BYTES + 2 * more_bytes +
			   port->dev->mtu + ETH_HLEN + 2 * LABNIC_WIRE_OVERHEAD_BYTES);

	return quell_mul_div_u64(bits * NSEC_PER_SEC, 1ULL << 16, port->rate_bits_ps);
}

static struct express_params express_params(const struct labnic_credit_flow *flow)
{
	const struct labnic_credit *credit = flow->credit;

	return (struct express_params) {
		.interval_ns_q16 = express_interval_ns_q16(credit->port,
							   !ipv6_addr_v4mapped(&flow->key.to)),
		.first_q16 = credit->config.first_q16, .w_q16 = credit->config.w_q16,
	};
}

static void express_queue(struct labnic_credit_flow *flow, u64 due_ns_q16)
{
	struct labnic_express *express = &flow->express;

	express->due_ns_q16 = due_ns_q16;
	express->due.expires = ns_to_ktime((due_ns_q16 + 0xffff) >> 16);
	timerqueue_add(&flow->credit->due, &express->due);
	express->is_due = true;
}

void labnic_express_forget(struct labnic_credit_flow *flow)
{
	struct labnic_express *express = &flow->express;

	if (express->is_due)
		timerqueue_del(&flow->credit->due, &express->due);
	express->is_due = false;
	express->is_served = false;
}

void labnic_express_data(struct labnic_credit_flow *flow, const struct labnic_segment *segment,
			 u64 now_ns)
{
	struct labnic_express *express = &flow->express;
	struct express_params params = express_params(flow);

	if (express->is_served) {
		express_used(&express->rate, segment->number, now_ns);
		return;
	}
	express->is_served = true;
	express_start(&express->rate, &params, now_ns);
	/* No ACK can be repeated before its first acknowledgment. */
	if (flow->ack.head_bytes)
		express_queue(flow, now_ns << 16);
}

void labnic_express_acked(struct labnic_credit_flow *flow, u64 now_ns)
{
	if (flow->express.is_served && !flow->express.is_due && flow->ack.head_bytes)
		express_queue(flow, now_ns << 16);
}

/*
 * The next credit that is due.  labnic_credit_lock held.  Returns the packet, to be sent without
 * the lock; NULL: no credit is due.
 */
struct sk_buff *labnic_express_next(struct labnic_credit *credit, u64 now_ns)
{
	struct timerqueue_node *node = timerqueue_getnext(&credit->due);
	struct labnic_credit_flow *flow;
	struct express_params params;
	struct express_rate *rate;
	struct sk_buff *skb;
	u32 random;

	if (!node || ktime_to_ns(node->expires) > now_ns)
		return NULL;
	flow = container_of(node, struct labnic_credit_flow, express.due);
	rate = &flow->express.rate;
	params = express_params(flow);
	timerqueue_del(&credit->due, node);
	express_update(rate, &params, now_ns);
	random = jhash_1word(express_credit(rate, now_ns), labnic_credit_hash(&flow->key));
	skb = labnic_credit_pull(&flow->ack, &flow->key, rate->number,
				 EXPRESS_OPTION_MIN_BYTES +
				 random % EXPRESS_LENGTHS * EXPRESS_OPTION_STEP_BYTES);
	express_queue(flow, flow->express.due_ns_q16 +
			    express_distance_ns_q16(rate, &params, random));
	if (WARN_ON_ONCE(!skb))
		return NULL;
	skb->dev = credit->port->dev;
	credit->stats.granted_pkts++;
	credit->stats.pull_pkts++;
	return skb;
}

/* Have the card's timer fire for the next credit.  labnic_credit_lock held. */
void labnic_express_arm(struct labnic_credit *credit)
{
	struct timerqueue_node *node = timerqueue_getnext(&credit->due);

	if (node)
		hrtimer_start(&credit->timer, node->expires, HRTIMER_MODE_ABS_SOFT);
}

/* The newest segment of a receiver's among those received at the sender. */
static void express_note(struct labnic_express *express, const struct labnic_segment *segment)
{
	u32 end_seq = segment->seq + segment->payload_bytes + segment->is_fin;

	if (express->has_acked && (before(segment->ack_seq, express->acked) ||
				   before(end_seq, express->seq)))
		return;
	express->acked = segment->ack_seq;
	express->seq = end_seq;
	express->window = segment->window;
	express->has_acked = true;
}

/*
 * A segment of the receiver's came in at a sender, a credit or not.  Ports have credits wait, so
 * other segments overtake them, and TCP does not parse older ones.  labnic_credit_lock held.
 */
void labnic_express_receive(struct labnic_credit_flow *flow, struct labnic_segment *segment)
{
	struct labnic_express *express = &flow->express;

	express_note(express, segment);
	if (!segment->is_pull)
		return;
	segment->ack_seq = express->acked;
	segment->seq = express->seq;
	segment->window = express->window;
	express->told = segment->number;
	flow->reported_pkts++;
}

/* A sender's acknowledgment came in at a receiver.  labnic_credit_lock held. */
void labnic_express_stopped(struct labnic_credit_flow *flow, u16 number)
{
	if (number == EXPRESS_STOP)
		labnic_express_forget(flow);
}

void labnic_express_sends(struct labnic_credit_flow *flow)
{
	flow->express.is_stopped = false;
	flow->express.stops = false;
}

/*
 * Whether an acknowledgment that is about to be sent says stop: its number, or 0.
 * labnic_credit_lock held.
 */
u16 labnic_express_stops(struct labnic_credit_flow *flow, u64 now_ns)
{
	if (!flow->express.stops)
		return 0;
	flow->express.stops = false;
	flow->express.is_stopped = true;
	flow->express.stopped_ns = now_ns;
	return EXPRESS_STOP;
}

/* Whether a received credit had no data to send, and its receiver is to be notified. */
static bool express_wants_stop(const struct labnic_express *express, const struct sock *sk,
			       u64 now_ns)
{
	u64 rtt_ns = (tcp_sk(sk)->srtt_us >> 3) * NSEC_PER_USEC;

	if (labnic_credit_pending_pkts(sk))
		return false;
	return !express->is_stopped ||
	       now_ns >= express->stopped_ns + EXPRESS_AGAIN_RTTS * rtt_ns;
}

/*
 * A credit counts once: for data that was not there it does not pay later.  A sender that has
 * stopped may send a request.  labnic_credit_lock held; @flow is NULL if it has sent no data.
 */
void labnic_express_transmit(struct labnic_credit_flow *flow, const struct sock *sk,
			     struct quell_labnic_credits *left)
{
	struct labnic_express *express;
	u64 new_pkts;

	*left = (struct quell_labnic_credits) { };
	if (!flow) {
		left->first_pkts = !tcp_sk(sk)->data_segs_out;
		return;
	}
	express = &flow->express;
	new_pkts = flow->reported_pkts - flow->seen_pkts;
	flow->seen_pkts = flow->reported_pkts;
	if (new_pkts && express_wants_stop(express, sk, ktime_get_ns())) {
		express->stops = true;
		left->stops = true;
	}
	if (express->is_stopped || express->stops)
		left->first_pkts = 1;
	else
		left->granted_pkts = new_pkts;
}

/* 0 or -EINVAL, with the reason in @extack. */
int labnic_express_check(const struct labnic_port *port, const struct quellnic_credit *config,
			 struct netlink_ext_ack *extack)
{
	if (config->first_q16 <= 1U << 16 && config->w_q16 && config->w_q16 <= 1U << 15 &&
	    express_interval_ns_q16(port, true) <= EXPRESS_INTERVAL_MAX_NS << 16)
		return 0;
	NL_SET_ERR_MSG(extack, "quellnic: first rate above 1, w not up to 0.5, or too slow a line");
	return -EINVAL;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labexpress: qdisc "labexpress", a port of ExpressPass, a switch's or a host's.
 *
 * Credits wait apart from data, few of them, and leave before it, no faster than data fits into
 * the other direction for all of them: of a line that carries full packets, and for each a credit
 * and an acknowledgment, the credits' part, in bytes.  A token bucket holds two.  Both queues drop
 * those without room.
 */
#include <linux/ethtool.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/math64.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/pkt_sched.h>

#include "labexpress.h"
#include "labnic.h"

/* Credits that the bucket holds. */
#define LABEXPRESS_BURST	2

/* The port. */
struct labexpress_sched {
	struct qdisc_watchdog		watchdog;	/* fires when the next credit may leave */
	struct qdisc_skb_head		credits;	/* those that wait */
	struct qdisc_skb_head		data;	/* the rest */
	u32				data_bytes;	/* of @data */
	/* The bucket of credits, in bits of the line for them and their data. */
	u64				tokens_bits;
	u64				filled_ns;	/* when that was so */
	u64				rate_bits_ps;	/* of the line */
	struct labexpress_options	options;	/* as set */
	struct labexpress_stats		stats;	/* counters */
};

/* Bytes by which the family's headers are longer than IPv4's. */
static u32 labexpress_more_bytes(const struct sk_buff *skb)
{
	return skb->protocol == htons(ETH_P_IPV6) ?
	       sizeof(struct ipv6hdr) - sizeof(struct iphdr) : 0;
}

/* Of the line, for a credit of that length, a full packet and an acknowledgment. */
static u64 labexpress_pair_bits(const struct Qdisc *sch, u32 credit_bytes, u32 more_bytes)
{
	return 8ULL * (credit_bytes + LABNIC_EXPRESS_ACK_BYTES + more_bytes + qdisc_dev(sch)->mtu +
		       ETH_HLEN + LABNIC_WIRE_OVERHEAD_BYTES);
}

static int labexpress_drop_credit(struct sk_buff *skb, struct labexpress_sched *q,
				  struct sk_buff **to_free)
{
	q->stats.credit_drop_pkts++;
	__qdisc_drop(skb, to_free);
	return NET_XMIT_DROP;
}

static int labexpress_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct labexpress_sched *q = qdisc_priv(sch);
	bool is_credit = quell_labnic_is_credit(skb);

	quell_labnic_express_number(skb);
	if (is_credit && q->credits.qlen >= q->options.credit_pkts)
		return labexpress_drop_credit(skb, q, to_free);
	if (!is_credit && q->data_bytes + qdisc_pkt_len(skb) > q->options.limit_bytes)
		return qdisc_drop(skb, sch, to_free);
	if (!is_credit) {
		q->data_bytes += qdisc_pkt_len(skb);
		q->stats.backlog_max_bytes = max_t(u64, q->stats.backlog_max_bytes, q->data_bytes);
	}
	__qdisc_enqueue_tail(skb, is_credit ? &q->credits : &q->data);
	qdisc_qstats_backlog_inc(sch, skb);
	sch->q.qlen++;
	return NET_XMIT_SUCCESS;
}

/*
 * Fill the bucket.  One that has been filled for so long that the product could overflow, holds a
 * pair of any size long since.
 */
static void labexpress_fill(struct labexpress_sched *q, u64 now_ns, u64 pair_bits)
{
	u64 time_ns = min_t(u64, now_ns - q->filled_ns, NSEC_PER_SEC);

	q->tokens_bits += mul_u64_u64_div_u64(q->rate_bits_ps, time_ns, NSEC_PER_SEC);
	q->tokens_bits = min(q->tokens_bits, LABEXPRESS_BURST * pair_bits);
	q->filled_ns = now_ns;
}

/* Whether the first credit may leave; else the watchdog fires when it may. */
static bool labexpress_may_credit(struct Qdisc *sch)
{
	struct labexpress_sched *q = qdisc_priv(sch);
	const struct sk_buff *skb = q->credits.head;
	u64 now_ns = ktime_get_ns(), pair_bits, cost_bits;
	u32 more_bytes, mean_bytes;

	if (!skb)
		return false;
	more_bytes = labexpress_more_bytes(skb);
	mean_bytes = LABNIC_EXPRESS_MEAN_BYTES + more_bytes + LABNIC_WIRE_OVERHEAD_BYTES;
	pair_bits = labexpress_pair_bits(sch, mean_bytes, more_bytes);
	labexpress_fill(q, now_ns, pair_bits);
	cost_bits = div_u64(pair_bits * (skb->len + LABNIC_WIRE_OVERHEAD_BYTES), mean_bytes);
	if (q->tokens_bits >= cost_bits) {
		q->tokens_bits -= cost_bits;
		return true;
	}
	qdisc_watchdog_schedule_ns(&q->watchdog, now_ns +
				   div64_u64((cost_bits - q->tokens_bits) * NSEC_PER_SEC,
					     q->rate_bits_ps) + 1);
	return false;
}

static struct sk_buff *labexpress_dequeue(struct Qdisc *sch)
{
	struct labexpress_sched *q = qdisc_priv(sch);
	struct sk_buff *skb;

	if (labexpress_may_credit(sch)) {
		skb = __qdisc_dequeue_head(&q->credits);
		q->stats.credit_pkts++;
	} else {
		skb = __qdisc_dequeue_head(&q->data);
		if (!skb)
			return NULL;
		q->data_bytes -= qdisc_pkt_len(skb);
	}
	qdisc_qstats_backlog_dec(sch, skb);
	qdisc_bstats_update(sch, skb);
	sch->q.qlen--;
	return skb;
}

static void labexpress_empty(struct qdisc_skb_head *queue)
{
	rtnl_kfree_skbs(queue->head, queue->tail);
	*queue = (struct qdisc_skb_head) { };
}

static void labexpress_reset(struct Qdisc *sch)
{
	struct labexpress_sched *q = qdisc_priv(sch);

	qdisc_watchdog_cancel(&q->watchdog);
	labexpress_empty(&q->credits);
	labexpress_empty(&q->data);
	q->data_bytes = 0;
}

static int labexpress_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct labexpress_sched *q = qdisc_priv(sch);
	struct ethtool_link_ksettings settings;

	qdisc_watchdog_init(&q->watchdog, sch);
	if (!opt || nla_len(opt) < sizeof(q->options))
		return -EINVAL;
	q->options = *(const struct labexpress_options *)nla_data(opt);
	if (!q->options.limit_bytes || !q->options.credit_pkts ||
	    q->options.credit_pkts > LABEXPRESS_CREDIT_MAX_PKTS) {
		NL_SET_ERR_MSG(extack, "labexpress: an option is out of its range (labexpress.h)");
		return -ERANGE;
	}
	if (__ethtool_get_link_ksettings(qdisc_dev(sch), &settings) || !settings.base.speed ||
	    settings.base.speed == SPEED_UNKNOWN) {
		NL_SET_ERR_MSG(extack, "labexpress: the device does not tell its speed");
		return -EOPNOTSUPP;
	}
	q->rate_bits_ps = settings.base.speed * 1000000ULL;
	return 0;
}

static void labexpress_destroy(struct Qdisc *sch)
{
	struct labexpress_sched *q = qdisc_priv(sch);

	qdisc_watchdog_cancel(&q->watchdog);
}

static int labexpress_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct labexpress_sched *q = qdisc_priv(sch);
	struct labexpress_stats stats = q->stats;

	return gnet_stats_copy_app(d, &stats, sizeof(stats));
}

static struct Qdisc_ops labexpress_qdisc_ops = {
	.id		= LABEXPRESS_KIND,
	.priv_size	= sizeof(struct labexpress_sched),
	.enqueue	= labexpress_enqueue,
	.dequeue	= labexpress_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= labexpress_init,
	.reset		= labexpress_reset,
	.destroy	= labexpress_destroy,
	.dump_stats	= labexpress_dump_stats,
	.owner		= THIS_MODULE,
};

int labexpress_port_register(void)
{
	return register_qdisc(&labexpress_qdisc_ops);
}

void labexpress_port_unregister(void)
{
	unregister_qdisc(&labexpress_qdisc_ops);
}

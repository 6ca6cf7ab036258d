// SPDX-License-Identifier: GPL-2.0
/*
 * Depth and sojourn percentiles of each band (<quell/core/port/histogram.h>).
 *
 *	depth	bytes in the band when a packet is offered, admitted or not; segments of a whole
 *		GSO packet count with the depth before the first
 *	sojourn	time from enqueue to dequeue
 *
 * Off by default: they need 19 kB a port and two clock readings a packet.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <net/netlink.h>
#include <quell/core/port/histogram.h>

#include "swport.h"

/* In the order of TCA_SWPORT_QUANTILE_*. */
static const u32 swport_permille[] = { 500, 900, 990, 999 };

/* Index 0 data band, 1 control band; sojourn in ns.  Under the qdisc's lock. */
struct swport_percentiles {
	struct quell_histogram depth[2];
	struct quell_histogram sojourn[2];
};

struct swport_quantiles {
	u64 count;
	u64 value[ARRAY_SIZE(swport_permille)];
	u64 max;
};

/**
 * quell_swport_percentiles_get() - allocate or keep histograms as a request requires
 * @port: the switch port
 * @params: parameters of the request
 * @fresh: set to the port's histograms, to new ones, or to NULL if they are off
 * Context: RTNL held; may sleep.
 * Return: 0 or -ENOMEM.
 */
int quell_swport_percentiles_get(const struct swport_sched *port,
				 const struct swport_params *params,
				 struct swport_percentiles **fresh)
{
	*fresh = NULL;
	if (!params->percentiles)
		return 0;
	*fresh = port->percentiles;
	if (!*fresh)
		*fresh = kvzalloc(sizeof(**fresh), GFP_KERNEL);
	return *fresh ? 0 : -ENOMEM;
}

void quell_swport_percentiles_free(struct swport_percentiles *old)
{
	kvfree(old);
}

/* Record depth and time at enqueue, with the number of segments set.  Context: qdisc lock held. */
void quell_swport_record_enqueue(struct swport_sched *port, struct sk_buff *skb, bool control)
{
	const struct swport_band *band = control ? &port->control : &port->data;

	if (port->percentiles)
		quell_histogram_add(&port->percentiles->depth[control], band->backlog_bytes,
				    swport_cb(skb)->segments);
	swport_cb(skb)->enqueue_ns =
		port->percentiles || port->params.tcp_int_ns ? ktime_get_ns() : 0;
}

/* Record the sojourn time at dequeue, with percentiles on.  Context: qdisc lock held. */
void quell_swport_record_dequeue(struct swport_sched *port, const struct sk_buff *skb, bool control,
				 u64 now_ns)
{
	u64 enqueue_ns = swport_cb(skb)->enqueue_ns;

	if (enqueue_ns && now_ns >= enqueue_ns)
		quell_histogram_add(&port->percentiles->sojourn[control], now_ns - enqueue_ns,
				    swport_cb(skb)->segments);
}

static void swport_read(const struct quell_histogram *h, struct swport_quantiles *q)
{
	q->count = h->count;
	q->max = h->max;
	quell_histogram_quantiles(h, swport_permille, q->value, ARRAY_SIZE(swport_permille));
}

static int swport_put_quantiles(struct sk_buff *skb, int type, const struct swport_quantiles *q)
{
	struct nlattr *nest = nla_nest_start(skb, type);
	u32 i;

	if (!nest || quell_swport_put_counter(skb, TCA_SWPORT_QUANTILE_COUNT, q->count,
					      TCA_SWPORT_QUANTILE_PAD) ||
	    quell_swport_put_counter(skb, TCA_SWPORT_QUANTILE_MAX_VALUE, q->max,
				     TCA_SWPORT_QUANTILE_PAD))
		return -EMSGSIZE;
	for (i = 0; i < ARRAY_SIZE(swport_permille); i++) {
		if (quell_swport_put_counter(skb, TCA_SWPORT_QUANTILE_P50 + i, q->value[i],
					     TCA_SWPORT_QUANTILE_PAD))
			return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

/*
 * Context: RTNL held; takes the qdisc lock.  Returns 0, or -EMSGSIZE: the caller must cancel the
 * enclosing nest.
 */
int quell_swport_percentiles_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	const struct swport_sched *port = qdisc_priv(sch);
	struct swport_quantiles q[4];
	struct nlattr *nest;
	u32 i;

	if (!port->percentiles)
		return 0;
	sch_tree_lock(sch);
	for (i = 0; i < 2; i++) {
		swport_read(&port->percentiles->depth[i], &q[2 * i]);
		swport_read(&port->percentiles->sojourn[i], &q[2 * i + 1]);
	}
	sch_tree_unlock(sch);

	nest = nla_nest_start(skb, TCA_SWPORT_STATS_PERCENTILES);
	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < ARRAY_SIZE(q); i++) {
		if (swport_put_quantiles(skb, TCA_SWPORT_PERCENTILES_DATA_DEPTH + i, &q[i]))
			return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

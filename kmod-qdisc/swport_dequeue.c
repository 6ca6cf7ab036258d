// SPDX-License-Identifier: GPL-2.0
/*
 * Dequeue: wire free? -> which band? (-> segment GSO) -> band (-> mark or drop) (-> stamp) -> wire
 */
#include <linux/ktime.h>

#include "swport_band.h"
#include "swport_tcp_int.h"
#include "swport_telemetry.h"

/* Features that write to a packet, also on the fast path, and features without a fast path. */
#define SWPORT_F_STAMP	(SWPORT_F_TELEMETRY | SWPORT_F_TCP_INT)
#define SWPORT_F_OUT	(SWPORT_F_RATE | SWPORT_F_PERCENTILES | SWPORT_F_JOINT | SWPORT_F_BUFFER | \
			 SWPORT_F_BQL | SWPORT_F_MARK_OUT | SWPORT_F_PAUSED)

/* Length on the wire, with the overhead of each segment. */
static u32 swport_wire_bytes(const struct swport_sched *port, const struct sk_buff *skb)
{
	return qdisc_pkt_len(skb) + port->params.overhead_bytes * swport_cb(skb)->segments;
}

/* The same for the packet that will probably be dequeued next; 0: no packet may be. */
static u32 swport_next_bytes(struct swport_sched *port)
{
	const struct sk_buff *skb = skb_peek(&port->control.queue);

	if (!skb && swport_has_data(port))
		skb = skb_peek(&port->data.queue);
	return skb ? swport_wire_bytes(port, skb) : 0;
}

/*
 * If the wire is busy, schedule the watchdog for when it is free, or up to `timer_slack' later:
 * packets due by then are dequeued together, and the rate holds.
 */
static bool swport_wire_busy(struct swport_sched *port, struct Qdisc *sch,
			     u64 now_ns)
{
	u64 ready_ns = port->part.joint ?
		       quell_swport_joint_ready_ns(port, now_ns, swport_next_bytes(port)) :
		       quell_shaper_ready_ns(&port->shaper);

	if (now_ns >= ready_ns)
		return false;
	BUILD_BUG_ON(2 * SWPORT_TIMER_SLACK_MAX > QUELL_SHAPER_LATE_NS);
	qdisc_qstats_overlimit(sch);
	qdisc_watchdog_schedule_range_ns(&port->watchdog, ready_ns, port->params.timer_slack_ns);
	return true;
}

/* Measure the port's load; returns the time of the measurement. */
static u64 swport_measure(struct swport_sched *port, u64 now_ns)
{
	if (port->part.joint)
		return quell_swport_joint_measure(port, now_ns);
	if (port->params.telemetry_ns)
		quell_portload_advance(&port->link.load, &port->link.load_params, now_ns);
	if (port->params.tcp_int_ns)
		quell_portload_advance(&port->tcp_int.load, &port->tcp_int.load_params, now_ns);
	return now_ns;
}

static void swport_wire_sent(struct swport_sched *port, u64 now_ns, u32 wire_bytes)
{
	if (port->part.joint) {
		quell_swport_joint_sent(port, wire_bytes);
		return;
	}
	if (port->features & SWPORT_F_TELEMETRY)
		quell_portload_add(&port->link.load, wire_bytes);
	if (port->features & SWPORT_F_TCP_INT)
		quell_portload_add(&port->tcp_int.load, wire_bytes);
	if (!port->params.rate_bytes_ps)
		return;
	if (now_ns > QUELL_SHAPER_LATE_NS)
		quell_shaper_restart(&port->shaper, now_ns - QUELL_SHAPER_LATE_NS);
	quell_shaper_charge(&port->shaper, port->params.rate_bytes_ps, wire_bytes);
}

static struct sk_buff *swport_pop_control(struct swport_sched *port,
					  const struct quell_bandshare_params *share, bool has_data,
					  u64 now_ns)
{
	struct sk_buff *skb = skb_peek(&port->control.queue);

	if (!skb)
		return NULL;
	swport_band_pop(&port->control, skb, swport_cb(skb)->segments);
	quell_bandshare_sent_control(share, &port->bandshare, swport_wire_bytes(port, skb),
				     has_data);
	if (port->percentiles)
		quell_swport_record_dequeue(port, skb, true, now_ns);
	return skb;
}

/*
 * The next data packet that is not dropped for lack of ECN.  The last one is not dropped: parents
 * must not find the port empty during their ->dequeue.
 */
static struct sk_buff *swport_pop_marked(struct Qdisc *sch)
{
	struct swport_sched *port = qdisc_priv(sch);
	struct sk_buff *skb;

	while (swport_has_data(port)) {
		skb = skb_peek(&port->data.queue);
		if (port->params.telemetry_ns && swport_cb(skb)->segments > 1 &&
		    swport_stamp_is_due(port, skb))
			quell_swport_gso_segment_head(sch);
		skb = skb_peek(&port->data.queue);
		swport_band_pop(&port->data, skb, swport_cb(skb)->segments);
		swport_sync_charges(port);
		if (port->params.ecn_mode != SWPORT_ECN_DEQUEUE ||
		    quell_swport_ecn_mark(port, skb) || !swport_has_data(port))
			return skb;
		port->data.sent_pkts -= swport_cb(skb)->segments;
		port->data.sent_bytes -= qdisc_pkt_len(skb);
		swport_drop_unmarkable(port, skb);
		__qdisc_qstats_drop(sch, swport_cb(skb)->segments);
		qdisc_qstats_backlog_dec(sch, skb);
		qdisc_qlen_dec(sch);
		qdisc_tree_reduce_backlog(sch, 1, qdisc_pkt_len(skb));
		kfree_skb_reason(skb, SKB_DROP_REASON_QDISC_DROP);
	}
	return NULL;
}

/* Mark and stamp by the remaining queue.  selftests/perf/report-host counts calls. */
static noinline struct sk_buff *swport_pop_data(struct Qdisc *sch,
						const struct quell_bandshare_params *share,
						u64 now_ns)
{
	struct swport_sched *port = qdisc_priv(sch);
	struct sk_buff *skb = swport_pop_marked(sch);

	if (!skb)
		return NULL;
	quell_bandshare_sent_data(share, &port->bandshare, swport_wire_bytes(port, skb),
				  swport_has_data(port));
	if (port->percentiles)
		quell_swport_record_dequeue(port, skb, false, now_ns);
	if (port->params.telemetry_ns) {
		struct quell_telemetry record = {
			.queue_bytes = swport_queue_bytes(port),
			.tx_units = quell_portload_tx_units(&port->link.load),
			.time_ns = now_ns,
		};

		swport_stamp(port, skb, &record);
	}
	return skb;
}

/* Control first, unless data is queued and control has used up its share. */
static struct sk_buff *swport_pop(struct Qdisc *sch, u64 now_ns)
{
	struct swport_sched *port = qdisc_priv(sch);
	const struct quell_bandshare_params share = {
		.share_q16 = port->params.control_share_q16,
		.burst_bytes = port->params.control_limit_bytes,
	};
	bool has_data = swport_has_data(port);
	struct sk_buff *skb;

	if (has_data && quell_bandshare_is_data_next(&share, &port->bandshare)) {
		port->control_defer_pkts += !skb_queue_empty(&port->control.queue);
		return swport_pop_data(sch, &share, now_ns);
	}
	skb = swport_pop_control(port, &share, has_data, now_ns);
	return skb ? skb : swport_pop_data(sch, &share, now_ns);
}

static struct sk_buff *swport_dequeue_next(struct Qdisc *sch)
{
	struct swport_sched *port = qdisc_priv(sch);
	struct sk_buff *skb;
	u64 now_ns = 0;

	if (port->features & (SWPORT_F_RATE | SWPORT_F_STAMP | SWPORT_F_PERCENTILES))
		now_ns = ktime_get_ns();
	if (port->params.rate_bytes_ps && swport_wire_busy(port, sch, now_ns))
		return NULL;
	if (port->features & SWPORT_F_STAMP)
		now_ns = swport_measure(port, now_ns);
	if (unlikely(port->features & SWPORT_F_BQL))
		quell_swport_device_update(port);

	skb = swport_pop(sch, now_ns);
	if (!skb) {
		if (port->part.joint)
			quell_swport_joint_sent(port, 0);
		return NULL;
	}
	if (port->params.tcp_int_ns)
		swport_tcp_int_stamp(port, skb, swport_queue_bytes(port), now_ns);
	swport_wire_sent(port, now_ns, swport_wire_bytes(port, skb));
	if (unlikely(port->features & SWPORT_F_BQL))
		quell_swport_device_sent(port, qdisc_pkt_len(skb));
	return skb;
}

/* Returns the packet, for a tail call. */
static noinline struct sk_buff *swport_sent_trimmed(struct swport_sched *port, struct sk_buff *skb)
{
	quell_swport_trim_sent(port, skb);
	return skb;
}

static inline struct sk_buff *swport_sent(struct Qdisc *sch, struct sk_buff *skb, u32 segments)
{
	struct swport_sched *port = qdisc_priv(sch);

	qdisc_qstats_backlog_dec(sch, skb);
	qdisc_qlen_dec(sch);
	port->gso_whole_pkts += segments > 1;
	/* The stack's gso_segs of a packet from another host is a guess. */
	_bstats_update(&sch->bstats, qdisc_pkt_len(skb), segments);
	return likely(!swport_cb(skb)->trimmed) ? skb : swport_sent_trimmed(port, skb);
}

static noinline struct sk_buff *swport_dequeue_featured(struct Qdisc *sch)
{
	struct swport_sched *port = qdisc_priv(sch);
	struct sk_buff *skb = swport_dequeue_next(sch);

	if (!skb)
		return NULL;
	if (port->part.joint && skb_queue_empty(&port->data.queue) &&
	    skb_queue_empty(&port->control.queue))
		quell_swport_joint_deactivate(port);
	return swport_sent(sch, skb, swport_cb(skb)->segments);
}

/* The fast path of a port with telemetry or TCP-INT: as swport_dequeue_featured() for data. */
static noinline __flatten struct sk_buff *swport_dequeue_stamped(struct Qdisc *sch,
								 struct sk_buff *skb)
{
	struct swport_sched *port = qdisc_priv(sch);
	u32 wire_bytes, queue_bytes;
	u64 now_ns;

	/* It may have to be segmented. */
	if (unlikely(swport_cb(skb)->segments > 1))
		return swport_dequeue_featured(sch);
	now_ns = ktime_get_ns();
	swport_band_pop(&port->data, skb, 1);
	queue_bytes = port->data.backlog_bytes;
	wire_bytes = qdisc_pkt_len(skb) + port->params.overhead_bytes;
	if (port->features & SWPORT_F_TELEMETRY) {
		struct quell_telemetry record = { .queue_bytes = queue_bytes, .time_ns = now_ns };

		quell_portload_advance(&port->link.load, &port->link.load_params, now_ns);
		record.tx_units = quell_portload_tx_units(&port->link.load);
		quell_portload_add(&port->link.load, wire_bytes);
		swport_stamp(port, skb, &record);
	}
	if (port->features & SWPORT_F_TCP_INT) {
		quell_portload_advance(&port->tcp_int.load, &port->tcp_int.load_params, now_ns);
		quell_portload_add(&port->tcp_int.load, wire_bytes);
		swport_tcp_int_stamp(port, skb, queue_bytes, now_ns);
	}
	return swport_sent(sch, skb, 1);
}

/**
 * quell_swport_dequeue() - dequeue the next packet
 * @sch: the port's qdisc
 * Context: softirq or BH disabled, qdisc lock held.
 * Return: a packet; or NULL if the port is empty or all its packets are paused (swport_pause.c),
 * or the wire is busy and the watchdog scheduled.
 */
struct sk_buff *quell_swport_dequeue(struct Qdisc *sch)
{
	struct swport_sched *port = qdisc_priv(sch);
	struct sk_buff *skb;
	u32 segments;

	if (!qdisc_qlen(sch))
		return NULL;
	if (port->features & SWPORT_F_OUT || port->bandshare.ahead_q16 ||
	    !skb_queue_empty(&port->control.queue))
		return swport_dequeue_featured(sch);
	/* The only packet may be one at which a parent has peeked. */
	skb = port->data.queue.next;
	if (skb == (struct sk_buff *)&port->data.queue)
		return NULL;
	if (port->features & SWPORT_F_STAMP)
		return swport_dequeue_stamped(sch, skb);
	segments = swport_cb(skb)->segments;
	swport_band_pop(&port->data, skb, segments);
	return swport_sent(sch, skb, segments);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Dequeue: which band, marks at dequeue, and stamps of telemetry and TCP-INT.
 */
#include <linux/ktime.h>
#include <linux/random.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>
#include <quell/core/port/stamp.h>
#include <quell/hops.h>
#include <quell/tcp_int.h>

#include "swport.h"

/*
 * ECN: select packets by RED with the thresholds of their DSCP, and set CE on them.
 *
 * Selected packets that are not ECN-capable are counted and sent, since a switch port drops when it
 * is full.  With ECN_DROP they are dropped, as by switches' WRED, so that they do not fill the
 * queue that others keep short.  Of tunnels the outer header counts (RFC 6040).
 *
 * Other segments of the same super-packet are no queue: a lone burst on an idle wire is not marked.
 * A super-packet is marked as a whole, by the queue behind its last segment (at enqueue: before
 * its first one), so each segment is marked with the same probability as by itself.
 */

/* The first 16 bits of the outermost IP header; 0: not IP. */
static u16 swport_first_bits(const struct sk_buff *skb)
{
	u8 ip_at = swport_cb(skb)->ip_at;
	__be16 *header, buf;

	if (ip_at == SWPORT_NOT_IP)
		return 0;
	header = skb_header_pointer(skb, ip_at, sizeof(buf), &buf);
	return header ? ntohs(*header) : 0;
}

static bool swport_is_ipv6(u16 first_bits)
{
	return first_bits >> 12 == 6;
}

static u32 swport_dscp(const struct sk_buff *skb)
{
	u16 first_bits = swport_first_bits(skb);

	if (!first_bits)
		return QUELL_DSCP_NONE;
	/* The octet with DSCP and ECN is IPv4's second, four bits earlier in IPv6. */
	return (u8)(first_bits >> (swport_is_ipv6(first_bits) ? 4 : 0)) >> SWPORT_DSCP_SHIFT;
}

/*
 * Returns false if the packet is not ECN-capable.  Its header may be shared with a clone; without
 * memory for a copy it stays unmarked, and the next marked packet signals the congestion.
 */
static bool swport_mark(struct swport_sched *port, struct sk_buff *skb,
			struct swport_class_stats *class)
{
	struct swport_mark_stats *stats = &port->mark_stats;
	u32 segments = swport_cb(skb)->segments;
	u16 first_bits = swport_first_bits(skb);
	bool is_ipv6 = swport_is_ipv6(first_bits);
	u32 ip_at = swport_cb(skb)->ip_at;
	void *header;

	if (first_bits && skb_ensure_writable(skb, ip_at + (is_ipv6 ? sizeof(struct ipv6hdr) :
								      sizeof(struct iphdr)))) {
		stats->mark_fail_pkts += segments;
		return true;
	}
	/* Not skb's network header, which behind a bridge may be a tag. */
	header = skb->data + ip_at;
	if (!first_bits ||
	    !(is_ipv6 ? IP6_ECN_set_ce(skb, header) : IP_ECN_set_ce(header))) {
		stats->not_ect_pkts += segments;
		class->not_ect_pkts += segments;
		return false;
	}
	stats->mark_pkts += segments;
	stats->mark_bytes += qdisc_pkt_len(skb);
	class->mark_pkts += segments;
	class->mark_bytes += qdisc_pkt_len(skb);
	return true;
}

/* Queued data, of the whole joint port; with `bql' also the device's bytes at the last update. */
static inline u32 swport_queue_bytes(const struct swport_sched *port)
{
	u32 bytes = likely(!port->part.joint) ? port->data.backlog_bytes :
						quell_swport_joint_bytes(port);

	return likely(!port->params.bql) ? bytes : bytes + port->link.device_bytes;
}

/*
 * Mark a packet of the data band, before enqueue or after dequeue, if RED selects it.  Returns
 * false if it is to be dropped as not ECN-capable; a trimmed one is not.  Qdisc lock.
 */
bool quell_swport_ecn_mark(struct swport_sched *port, struct sk_buff *skb)
{
	const struct swport_params *params = &port->params;
	const struct quell_red_params *red = &params->red;
	u32 i = QUELL_RED_CLASSES_MAX;

	if (params->red_classes.count)
		i = quell_red_class_index(&params->red_classes, swport_dscp(skb));
	if (i < QUELL_RED_CLASSES_MAX)
		red = &params->red_classes.class[i].red;
	port->class_stats[i].pkts += swport_cb(skb)->segments;
	if (!quell_red_marks(red, &port->lottery,
			     swport_queue_bytes(port) - swport_cb(skb)->gso_other_bytes))
		return true;
	return swport_mark(port, skb, &port->class_stats[i]) || !params->ecn_drop ||
	       swport_cb(skb)->trimmed;
}

/*
 * Paused priorities, for devices with priority flow control (IEEE 802.1Q, clause 36).  The qdisc
 * pauses them, as stopping the only transmit queue would also stop control and other priorities.
 *
 * A packet's priority is the class selector of its outermost DSCP, or 0.  Control is never paused.
 * Priorities of data share the band's order, its limit, and the backlog by which it marks.
 */

/*
 * Move the first packet that is not paused to the head of the data band; false if all are paused.
 * Scans the band each time: a driver that pauses long ones needs a queue per priority.  Qdisc lock.
 */
static bool swport_find_data(struct swport_sched *port)
{
	struct sk_buff_head *queue = &port->data.queue;
	struct sk_buff *skb;

	skb_queue_walk(queue, skb) {
		if (port->paused & BIT(swport_cb(skb)->priority))
			continue;
		__skb_unlink(skb, queue);
		__skb_queue_head(queue, skb);
		return true;
	}
	return false;
}

static inline bool swport_has_data(struct swport_sched *port)
{
	return likely(!port->paused) ? !skb_queue_empty(&port->data.queue) :
				       swport_find_data(port);
}

/* Dequeue the first packet, @skb, of @segments segments. */
static inline void swport_band_pop(struct swport_band *band, struct sk_buff *skb, u32 segments)
{
	u32 bytes = qdisc_pkt_len(skb);

	__skb_unlink(skb, &band->queue);
	band->backlog_bytes -= bytes;
	band->memory_bytes -= skb->truesize;
	band->sent_pkts += segments;
	band->sent_bytes += bytes;
}

/*
 * Helpers to write telemetry and TCP-INT into a dequeued TCP segment.
 */

/* Routers that forwarded a segment, before and inside a tunnel; 0: sent by this host. */
static inline u8 swport_hops(const struct swport_cb *cb)
{
	u8 hops = quell_hops(cb->ttl);

	return likely(!cb->inner_ttl) ? hops : hops + quell_hops(cb->inner_ttl);
}

/* TCP header and options; if copied, valid until the port parses another packet. */
static inline bool swport_has_tcp(struct swport_sched *port, const struct sk_buff *skb,
				  const u8 **tcp)
{
	const struct swport_cb *cb = swport_cb(skb);

	*tcp = skb->data + cb->tcp_at;
	if (likely(cb->linear))
		return true;
	*tcp = skb_header_pointer(skb, cb->tcp_at, QUELL_FRAME_TCP_BYTES + cb->option_bytes,
				  port->parsed.headers);
	return *tcp;
}

/*
 * Have @to, the TCP header of swport_has_tcp(), point to one that may be written to.  False without
 * memory: the header may be shared with TCP's retransmit queue or a capture.
 */
static inline bool swport_make_writable(struct sk_buff *skb, const u8 *tcp, u32 bytes, u8 **to)
{
	const struct swport_cb *cb = swport_cb(skb);

	*to = (u8 *)tcp;
	if (likely(!skb->cloned && cb->linear))
		return true;
	if (skb_ensure_writable(skb, cb->tcp_at + bytes))
		return false;
	*to = skb->data + cb->tcp_at;
	return true;
}

/*
 * Must the checksum be updated?  Not if this TCP header's is still to be computed; a partial one
 * may instead be that of a header outside the tunnel.
 */
static inline bool swport_has_checksum(const struct sk_buff *skb)
{
	return skb->ip_summed != CHECKSUM_PARTIAL ||
	       skb_checksum_start_offset(skb) != swport_cb(skb)->tcp_at;
}

/*
 * Telemetry: the record of the most loaded hop, in data packets that have room.
 *
 * A sender that wants path telemetry leaves an empty record in the Quell TCP option
 * (Documentation/wire-format.md).  A port replaces a record of a less loaded link by its own.
 *
 * Only packets with PSH have one: the last of a burst, so that GRO merges the others.  A
 * super-packet is segmented if its last segment gets a record.
 *
 *	hop		routers from the sender, by the time to live, before and inside a tunnel
 *	load		quell/core/port/portload.h, at dequeue
 *	link rate	`rate`, or the device's speed
 *	queue		the data band without this packet
 *	bytes sent	by this port before this packet, with overhead, at the time below
 *	time		of dequeue, CLOCK_MONOTONIC
 *
 * Not stamped: locally sent packets, SYNs, IP fragments, IPv6 with extension headers.
 */

static inline u32 swport_load_code(const struct swport_link *link, u32 queue_bytes)
{
	return quell_load_encode(quell_portload_q16(&link->load, &link->load_params, queue_bytes));
}

/* Offset from @tcp of the record that this port may replace; 0 if absent. */
static inline u32 swport_find_record(struct swport_sched *port, const struct sk_buff *skb,
				     const u8 **tcp)
{
	const struct swport_cb *cb = swport_cb(skb);

	if (cb->option_bytes < QUELL_STAMP_RECORD_BYTES_MIN || !port->link.bytes_ps)
		return 0;
	return swport_has_tcp(port, skb, tcp) ? quell_stamp_record_at(*tcp, cb->option_bytes) : 0;
}

/* Must the super-packet be segmented for a record?  The load is advanced to now. */
static bool swport_stamp_is_due(struct swport_sched *port, const struct sk_buff *skb)
{
	u32 queue_bytes = swport_queue_bytes(port) - qdisc_pkt_len(skb), at;
	const u8 *tcp;

	if (!swport_hops(swport_cb(skb)))
		return false;
	at = swport_find_record(port, skb, &tcp);
	return at && quell_telemetry_replaces(swport_load_code(&port->link, queue_bytes), tcp + at);
}

/*
 * Stamp a data packet; time, queue and bytes sent of @record are set.  Without memory to make it
 * writable, or if it is a super-packet that could not be segmented, it is sent unchanged.
 */
static inline void swport_stamp(struct swport_sched *port, struct sk_buff *skb,
				struct quell_telemetry *record)
{
	struct swport_link *link = &port->link;
	u32 load_code, at, first;
	u64 last, diff;
	const u8 *tcp;
	u8 *to;

	record->hop = swport_hops(swport_cb(skb));
	if (!record->hop)
		return;
	at = swport_find_record(port, skb, &tcp);
	if (!at)
		return;
	load_code = swport_load_code(link, record->queue_bytes);
	if (!quell_telemetry_replaces(load_code, tcp + at)) {
		link->stamp_kept_pkts++;
		return;
	}
	if (swport_cb(skb)->segments > 1 ||
	    !swport_make_writable(skb, tcp, at + QUELL_TELEMETRY_BYTES, &to)) {
		link->stamp_fail_pkts++;
		return;
	}
	first = quell_telemetry_pack(record, link->rate_code, load_code, &last);
	diff = quell_stamp_put_u32(to + at, first);
	diff = quell_stamp_put_u64(to + at + sizeof(first), last, diff);
	if (swport_has_checksum(skb))
		quell_stamp_update(to, at, diff);
	link->stamp_pkts++;
}

/*
 * TCP-INT: update the public telemetry option of hosts that run its agents
 * (Documentation/tcp-int.md).
 *
 *	latency			plus this port's, from enqueue to dequeue
 *	value, speed, hop	replaced where this port's value is larger
 *
 * The value is the link's available rate averaged over `tcp-int` (quell/core/port/portload.h), or
 * the data band's queue.  Packets of both bands are updated: the option serves both directions.
 * Locally sent packets, SYNs, IP fragments and IPv6 with extension headers are not.  The requested
 * frequency is ignored, as its code is not documented.  Segments of a super-packet share a copy.
 */

/* The available rate matters only without a queue. */
static inline u8 swport_tcp_int_value(const struct swport_sched *port, u32 queue_bytes)
{
	u64 available_bytes_ps = 0;

	if (!(queue_bytes >> QUELL_TCP_INT_QUEUE_SHIFT))
		available_bytes_ps = quell_portload_available_bytes_ps(&port->tcp_int.load,
								       &port->tcp_int.load_params,
								       port->link.bytes_ps);
	return quell_tcp_int_value(available_bytes_ps, queue_bytes);
}

/* The load is advanced to @now_ns.  Without memory the packet is sent unchanged. */
static inline void swport_tcp_int_stamp(struct swport_sched *port, struct sk_buff *skb,
					u32 queue_bytes, u64 now_ns)
{
	const struct swport_cb *cb = swport_cb(skb);
	struct quell_tcp_int_hop hop = {
		.speed = port->tcp_int.speed,
		.ttl = cb->ttl,
	};
	u64 first, diff;
	const u8 *tcp;
	u8 *to;
	u32 at;

	if (cb->option_bytes < QUELL_TCP_INT_BYTES || !port->link.bytes_ps || !swport_hops(cb) ||
	    !swport_has_tcp(port, skb, &tcp))
		return;
	at = quell_tcp_int_find(tcp + QUELL_FRAME_TCP_BYTES, cb->option_bytes);
	if (at >= cb->option_bytes)
		return;
	at += QUELL_FRAME_TCP_BYTES;
	if (!swport_make_writable(skb, tcp, at + QUELL_TCP_INT_BYTES, &to)) {
		port->tcp_int.fail_pkts += cb->segments;
		return;
	}
	hop.value = swport_tcp_int_value(port, queue_bytes);
	if (cb->enqueue_ns && now_ns > cb->enqueue_ns)
		hop.latency_ns = now_ns - cb->enqueue_ns;
	first = quell_stamp_get_u64(to + at);
	port->tcp_int.worst_pkts += quell_tcp_int_stamp(&first, &hop) ? cb->segments : 0;
	diff = quell_stamp_put_u64(to + at, first, 0);
	if (swport_has_checksum(skb))
		quell_stamp_update(to, at, diff);
	port->tcp_int.pkts += cb->segments;
}

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
	port->trim.backlog_pkts--;
	port->trim.backlog_bytes -= qdisc_pkt_len(skb);
	port->trim.sent_pkts++;
	port->trim.sent_bytes += qdisc_pkt_len(skb);
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

/*
 * NULL: empty, all packets are paused, or the wire is busy and the watchdog scheduled.  Bottom
 * halves off, qdisc lock.
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

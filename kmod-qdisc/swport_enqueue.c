// SPDX-License-Identifier: GPL-2.0
/*
 * Enqueue, and the accounting of both directions.
 *
 *	enqueue: (segment GSO ->) parse, classify (-> deflect) -> admit, trim or drop (-> mark)
 *	dequeue: wire free? -> which band? (-> segment GSO) -> (mark or drop) (-> stamp) -> wire
 *
 * For each band at any time, in bytes and in packets: offered = sent + dropped + queued.  Deflected
 * packets have their own counters.  sch->q.qlen and sch->qstats.backlog are sums of both bands,
 * and of a packet at which a parent has peeked.
 *
 * A trimmed packet counts as a new one that the port offers; the original counts as dropped.  So
 * for the port, with lengths after trimming, received + trimmed = sent + dropped + queued, and of
 * trimmed packets alone trimmed = sent + dropped + queued.
 *
 * A super-packet that is queued whole (swport_trim.c) is one packet for sch->q.qlen and parents,
 * and as many as its segments for the counters.  Its bytes are those of its segments on the wire.
 */
#include <linux/if_arp.h>
#include <linux/ktime.h>
#include <net/netlink.h>
#include <net/sock.h>
#include <quell/core/port/fastpath.h>
#include <quell/core/port/frame_control.h>
#include <quell/tcp_int.h>

#include "swport.h"

/*
 * Parse the headers of a packet once, at enqueue (<quell/core/port/frame.h>), and classify it.
 *
 * Locally sent packets with TC_PRIO_CONTROL are control, too: the kernel's LACP, STP, IGMP and
 * MLD; programs need CAP_NET_ADMIN or CAP_NET_RAW in their namespace for it.  So those of a socket
 * of another namespace, as a container with a macvlan, are not.  A forwarded packet has no socket.
 *
 * An Ethernet frame is parsed from its first byte.  skb's network header and protocol are ignored:
 * behind a bridge that of a frame with two tags is the inner tag.
 */

static void swport_read_headers(const struct sk_buff *skb, const u8 *data, u32 bytes,
				struct swport_packet *packet)
{
	struct quell_frame *frame = &packet->frame;
	int at = skb_network_offset(skb);

	quell_frame_begin(frame, data, bytes, skb->len);
	if (skb->dev->type == ARPHRD_ETHER || skb->dev->type == ARPHRD_LOOPBACK)
		quell_frame_parse(frame);
	else if (at >= 0 && at < QUELL_FRAME_BYTES_MAX)
		quell_frame_parse_ip(frame, at, ntohs(skb->protocol));
	else
		quell_frame_parse_ip(frame, 0, 0);
	packet->control = quell_frame_is_control(frame);
}

/* Headers in page fragments. */
static noinline void swport_read_copy(const struct sk_buff *skb, struct swport_packet *packet)
{
	u32 bytes = min_t(u32, skb->len, QUELL_FRAME_BYTES_MAX);

	if (!skb_copy_bits(skb, 0, packet->headers, bytes))
		swport_read_headers(skb, packet->headers, bytes, packet);
}

/*
 * Not by a segment of a super-packet, of which often the last one alone has the socket: by the
 * whole.
 */
static bool swport_has_control_priority(const struct sk_buff *skb)
{
	return skb->priority == TC_PRIO_CONTROL &&
	       (!skb->sk || net_eq(sock_net(skb->sk), dev_net(skb->dev)));
}

/*
 * Parse a packet or super-packet; valid until @skb is changed or another packet is parsed.
 * @control: by its priority.  Qdisc lock, which protects the buffer; @skb is not written to.
 */
static const struct swport_packet *swport_read(struct swport_sched *port,
					       const struct sk_buff *skb, bool control)
{
	struct swport_packet *packet = &port->parsed;

	swport_read_headers(skb, skb->data, skb_headlen(skb), packet);
	if (packet->frame.is_short)
		swport_read_copy(skb, packet);
	packet->control = packet->control || control;
	return packet;
}

/* Features that add work to the fast path at enqueue: those that account or decide, and all. */
#define SWPORT_F_IN_ACCOUNT	(SWPORT_F_PERCENTILES | SWPORT_F_JOINT | SWPORT_F_BUFFER | \
				 SWPORT_F_MARK_IN)
#define SWPORT_F_IN		(SWPORT_F_RATE | SWPORT_F_TCP_INT | SWPORT_F_BQL | \
				 SWPORT_F_DEFLECT | SWPORT_F_IN_ACCOUNT)

/* Of the memory limit an eighth is reserved for control, and half for data. */
#define SWPORT_MEMORY_CONTROL_SHIFT	3
#define SWPORT_MEMORY_DATA_SHIFT	1

static void swport_band_purge(struct swport_band *band)
{
	__skb_queue_purge(&band->queue);
	band->backlog_bytes = 0;
	band->memory_bytes = 0;
}

/*
 * Packets trimmed by other ports are for the control band, too.  They have the DSCP this port sets
 * or one of @trim.known: other switches may set another one, or one per egress port (SONiC's
 * asymmetric DSCP).
 */
static struct swport_band *swport_band_of(struct swport_sched *port,
					  const struct swport_packet *packet)
{
	const struct swport_trim_params *trim = &port->params.trim;
	const struct quell_frame_ip *outer = &packet->frame.ip[0];
	u32 dscp = outer->dsfield >> SWPORT_DSCP_SHIFT;

	if (packet->control)
		return &port->control;
	if (trim->size_bytes && trim->queue == SWPORT_TRIM_CONTROL && outer->version &&
	    (dscp == trim->dscp || trim->known >> dscp & 1))
		return &port->control;
	return &port->data;
}

/*
 * Truesize may be many times the length that the limits count.  A reserve for each band means that
 * a flood of small packets in the other cannot exhaust it, and an empty band admits one packet.
 */
static bool swport_has_memory(const struct swport_sched *port, const struct swport_band *band,
			      const struct sk_buff *skb)
{
	bool is_data = band == &port->data;
	const struct swport_band *other = is_data ? &port->control : &port->data;
	u64 used_bytes = band->memory_bytes + skb->truesize, max_bytes = port->memory_max_bytes;
	u64 data_bytes = max_bytes >> SWPORT_MEMORY_DATA_SHIFT;
	u64 control_bytes = max_bytes >> SWPORT_MEMORY_CONTROL_SHIFT;
	u64 kept_bytes = is_data ? control_bytes : data_bytes;

	return !band->memory_bytes || used_bytes <= (is_data ? data_bytes : control_bytes) ||
	       used_bytes + max(other->memory_bytes, kept_bytes) <= max_bytes;
}

/* Check the band's limit, and charge the joint port for data. */
static bool swport_charge_limit(struct swport_sched *port, const struct swport_band *band,
				u32 bytes)
{
	if (band == &port->control)
		return (u64)band->backlog_bytes + bytes <= port->params.control_limit_bytes;
	if (port->part.joint)
		return quell_swport_joint_charge(port, bytes);
	return (u64)band->backlog_bytes + bytes <= port->params.limit_bytes;
}

/* Check memory and limits, and charge the shared buffer for a data packet. */
static bool swport_charge(struct swport_sched *port, const struct swport_band *band,
			  const struct sk_buff *skb)
{
	if (unlikely(!swport_has_memory(port, band, skb))) {
		port->memory_drop_pkts++;
		return false;
	}
	if (!swport_charge_limit(port, band, qdisc_pkt_len(skb)))
		return false;
	if (band == &port->control || quell_swport_buffer_charge(port, qdisc_pkt_len(skb)))
		return true;
	swport_sync_charges(port);
	return false;
}

/* The same for all segments of a super-packet or for no segment. */
static bool swport_charge_gso(struct swport_sched *port, const struct swport_band *band,
			      const struct sk_buff *skb, const struct quell_super *super)
{
	if (!swport_has_memory(port, band, skb) || !swport_charge_limit(port, band, super->bytes))
		return false;
	if (band == &port->control || quell_swport_buffer_try_charge(port, super))
		return true;
	swport_sync_charges(port);
	return false;
}

static inline int swport_queue(struct sk_buff *skb, struct Qdisc *sch, struct swport_band *band)
{
	__skb_queue_tail(&band->queue, skb);
	band->backlog_bytes += qdisc_pkt_len(skb);
	band->memory_bytes += skb->truesize;
	if (band->backlog_bytes > band->backlog_max_bytes)
		band->backlog_max_bytes = band->backlog_bytes;
	qdisc_qstats_backlog_inc(sch, skb);
	qdisc_qlen_inc(sch);
	return NET_XMIT_SUCCESS;
}

static int swport_admit(struct sk_buff *skb, struct Qdisc *sch, struct swport_band *band,
			struct sk_buff **to_free)
{
	struct swport_sched *port = qdisc_priv(sch);

	if (port->params.ecn_mode == SWPORT_ECN_ENQUEUE && band == &port->data &&
	    !quell_swport_ecn_mark(port, skb)) {
		swport_drop_unmarkable(port, skb);
		__qdisc_qstats_drop(sch, swport_cb(skb)->segments - 1);
		return qdisc_drop(skb, sch, to_free);
	}
	/* The wire earns no credit for time while the port was empty. */
	if (port->part.joint)
		quell_swport_joint_activate(port);
	else if (port->params.rate_bytes_ps && !qdisc_qlen(sch))
		quell_shaper_restart(&port->shaper, ktime_get_ns());
	return swport_queue(skb, sch, band);
}

/* Queue a trimmed packet in its band, or drop it as well; the original counts as dropped. */
static int swport_enqueue_trimmed(struct sk_buff *skb, struct Qdisc *sch,
				  struct sk_buff **to_free)
{
	struct swport_sched *port = qdisc_priv(sch);
	struct swport_band *band = port->params.trim.queue == SWPORT_TRIM_CONTROL ?
				   &port->control : &port->data;

	qdisc_qstats_drop(sch);
	quell_swport_record_enqueue(port, skb, band == &port->control);
	if (!swport_charge(port, band, skb)) {
		swport_band_drop(band, skb);
		port->trim.drop_pkts++;
		port->trim.drop_bytes += qdisc_pkt_len(skb);
		return qdisc_drop(skb, sch, to_free);
	}
	port->trim.backlog_pkts++;
	port->trim.backlog_bytes += qdisc_pkt_len(skb);
	return swport_admit(skb, sch, band, to_free);
}

/* Store the headers needed at dequeue.  Qdisc lock. */
static void swport_init_cb(const struct swport_sched *port, struct sk_buff *skb, u32 segments,
			   const struct quell_frame *frame)
{
	const struct quell_frame_ip *outer = &frame->ip[0], *flow = quell_frame_flow(frame);
	struct swport_cb *cb = swport_cb(skb);

	*cb = (struct swport_cb) {
		.gso_other_bytes = port->burst_bytes,
		.segments = segments,
		.ip_at = outer->version ? min_t(u32, outer->at, SWPORT_NOT_IP) : SWPORT_NOT_IP,
		.priority = outer->version ? outer->dsfield >> SWPORT_PRIORITY_SHIFT : 0,
	};
	if (!frame->tcp_bytes || flow->transport_at > U8_MAX)
		return;
	cb->ttl = outer->ttl;
	cb->inner_ttl = frame->inner ? flow->ttl : 0;
	cb->tcp_at = flow->transport_at;
	if (!(frame->tcp_flags & QUELL_FRAME_TCP_SYN))
		cb->option_bytes = frame->tcp_bytes - QUELL_FRAME_TCP_BYTES;
	cb->linear = cb->tcp_at + frame->tcp_bytes <= skb_headlen(skb);
}

/* Queue one wire packet, deflect or trim it, or put it onto to_free if there is no room. */
static int swport_enqueue_one(struct sk_buff *skb, struct Qdisc *sch,
			      struct sk_buff **to_free, bool control)
{
	struct swport_sched *port = qdisc_priv(sch);
	const struct swport_packet *packet = swport_read(port, skb, control);
	struct swport_band *band = swport_band_of(port, packet);
	int ret;

	if (band == &port->data && port->deflect &&
	    quell_swport_deflect(sch, skb, &packet->frame, to_free, &ret))
		return ret;
	swport_init_cb(port, skb, 1, &packet->frame);
	quell_swport_record_enqueue(port, skb, band == &port->control);
	if (swport_charge(port, band, skb))
		return swport_admit(skb, sch, band, to_free);
	swport_band_drop(band, skb);
	if (band == &port->data && quell_swport_trim(sch, skb, &packet->frame))
		return swport_enqueue_trimmed(skb, sch, to_free);
	return qdisc_drop(skb, sch, to_free);
}

/* Queue a super-packet whole if all its segments are treated alike; else change no state. */
static bool swport_enqueue_gso(struct sk_buff *skb, struct Qdisc *sch,
			       struct sk_buff **to_free, int *ret)
{
	struct swport_sched *port = qdisc_priv(sch);
	u32 old_bytes = qdisc_pkt_len(skb);
	const struct swport_packet *packet;
	struct swport_band *band;
	struct quell_super super;

	if (!quell_swport_gso_measure(port, skb, &super) ||
	    /* A parent that shapes could reserve room for ever that a burst never has. */
	    (super.bytes > old_bytes && sch->parent != TC_H_ROOT &&
	     !(sch->flags & TCQ_F_NOPARENT)))
		return false;
	packet = swport_read(port, skb, swport_has_control_priority(skb));
	band = swport_band_of(port, packet);
	if (!swport_charge_gso(port, band, skb, &super))
		return false;
	if (band == &port->data && port->deflect &&
	    !quell_swport_deflect_is_local(sch, skb, &packet->frame, &super)) {
		swport_sync_charges(port);
		return false;
	}
	qdisc_skb_cb(skb)->pkt_len = super.bytes;
	swport_init_cb(port, skb, super.segments, &packet->frame);
	quell_swport_record_enqueue(port, skb, band == &port->control);
	*ret = swport_admit(skb, sch, band, to_free);
	/* As for segments, a size table of the root (tc's stab) does not count. */
	if (*ret == NET_XMIT_SUCCESS)
		qdisc_tree_reduce_backlog(sch, 0, old_bytes - super.bytes);
	return true;
}

/* The parents count one packet of the old length: correct their queue length and backlog. */
static int swport_enqueue_segments(struct sk_buff *skb, struct Qdisc *sch,
				   struct sk_buff **to_free)
{
	struct swport_sched *port = qdisc_priv(sch);
	u32 queued = skb_queue_len(&port->data.queue), begin_bytes = port->data.backlog_bytes;
	u32 old_bytes = qdisc_pkt_len(skb), queued_bytes = 0;
	bool control = swport_has_control_priority(skb);
	struct sk_buff *segs, *next;
	bool deflected = false;
	int queued_pkts = 0;

	segs = quell_swport_gso_segment(port, skb);
	if (!segs) {
		port->alloc_fail_pkts++;
		return qdisc_drop(skb, sch, to_free);
	}

	skb_list_walk_safe(segs, segs, next) {
		int ret;

		skb_mark_not_on_list(segs);
		port->burst_bytes = port->data.backlog_bytes - begin_bytes;
		/* The qdisc lock keeps the segment valid; trimming may shorten it. */
		ret = swport_enqueue_one(segs, sch, to_free, control);
		if (ret == NET_XMIT_SUCCESS) {
			queued_pkts++;
			queued_bytes += qdisc_pkt_len(segs);
		}
		deflected = deflected || ret & __NET_XMIT_STOLEN;
	}
	consume_skb(skb);
	port->burst_bytes = 0;
	quell_swport_gso_account(&port->data.queue, skb_queue_len(&port->data.queue) - queued);
	if (!queued_pkts)
		return deflected ? NET_XMIT_SUCCESS | __NET_XMIT_STOLEN : NET_XMIT_DROP;
	qdisc_tree_reduce_backlog(sch, 1 - queued_pkts,
				  old_bytes - queued_bytes);
	return NET_XMIT_SUCCESS;
}

/*
 * The fast path: TCP data of which quell_fastpath_parse() parses all that the port needs, and that
 * fits the band.  Returns false for other packets, which the slow path parses and counts.
 */
static __always_inline bool swport_parse_fast(const struct swport_sched *port, struct sk_buff *skb)
{
	const struct swport_band *band = &port->data;
	struct quell_fastpath plain;

	if (skb->dev->type != ARPHRD_ETHER || skb->priority == TC_PRIO_CONTROL || skb_is_gso(skb) ||
	    (u64)band->backlog_bytes + qdisc_pkt_len(skb) > port->limit_bytes ||
	    band->memory_bytes + skb->truesize > port->memory_max_bytes >> SWPORT_MEMORY_DATA_SHIFT)
		return false;
	if (!quell_fastpath_parse(&plain, skb->data, skb_headlen(skb), skb->len) ||
	    port->parsed_dscps >> (plain.dsfield >> SWPORT_DSCP_SHIFT) & 1)
		return false;
	*swport_cb(skb) = (struct swport_cb) {
		.segments = 1,
		.ip_at = QUELL_FASTPATH_IP_AT,
		.tcp_at = plain.tcp_at,
		.option_bytes = plain.tcp_flags & QUELL_FRAME_TCP_SYN ? 0 :
				plain.tcp_bytes - QUELL_FRAME_TCP_BYTES,
		.ttl = plain.ttl,
		.priority = plain.dsfield >> SWPORT_PRIORITY_SHIFT,
		.linear = true,
	};
	return true;
}

/* Charge that packet to the joint port and the shared buffer; false: no change. */
static bool swport_charge_fast(struct swport_sched *port, const struct sk_buff *skb)
{
	u32 bytes = qdisc_pkt_len(skb);
	const struct quell_super packet = {
		.segments = 1, .bytes = bytes, .last_bytes = bytes,
	};

	if (port->features & SWPORT_F_JOINT && !quell_swport_joint_charge(port, bytes))
		return false;
	if (!(port->features & SWPORT_F_BUFFER) || quell_swport_buffer_try_charge(port, &packet))
		return true;
	swport_sync_charges(port);
	return false;
}

static noinline int swport_enqueue_slow(struct sk_buff *skb, struct Qdisc *sch,
					struct sk_buff **to_free)
{
	u32 old_bytes = qdisc_pkt_len(skb);
	int verdict;

	if (skb_is_gso(skb))
		return swport_enqueue_gso(skb, sch, to_free, &verdict) ? verdict :
		       swport_enqueue_segments(skb, sch, to_free);
	verdict = swport_enqueue_one(skb, sch, to_free, swport_has_control_priority(skb));
	/* Parents count the length before trimming. */
	if (verdict == NET_XMIT_SUCCESS && swport_cb(skb)->trimmed)
		qdisc_tree_reduce_backlog(sch, 0, old_bytes - qdisc_pkt_len(skb));
	return verdict;
}

/* TCP-INT's latency begins here. */
static inline void swport_stamp_enqueue(const struct swport_sched *port, struct sk_buff *skb)
{
	struct swport_cb *cb = swport_cb(skb);

	if (port->features & SWPORT_F_TCP_INT &&
	    quell_tcp_int_may_have(skb->data + cb->tcp_at + QUELL_FRAME_TCP_BYTES,
				   cb->option_bytes))
		cb->enqueue_ns = ktime_get_ns();
}

static noinline int swport_enqueue_account(struct sk_buff *skb, struct Qdisc *sch,
					   struct sk_buff **to_free)
{
	struct swport_sched *port = qdisc_priv(sch);

	if (!swport_parse_fast(port, skb) || !swport_charge_fast(port, skb))
		return swport_enqueue_slow(skb, sch, to_free);
	if (port->features & SWPORT_F_PERCENTILES)
		quell_swport_record_enqueue(port, skb, false);
	else
		swport_stamp_enqueue(port, skb);
	return swport_admit(skb, sch, &port->data, to_free);
}

static noinline int swport_enqueue_featured(struct sk_buff *skb, struct Qdisc *sch,
					    struct sk_buff **to_free)
{
	struct swport_sched *port = qdisc_priv(sch);

	if (unlikely(port->features & SWPORT_F_BQL))
		quell_swport_device_update(port);
	if (port->features & SWPORT_F_DEFLECT)
		return swport_enqueue_slow(skb, sch, to_free);
	if (port->features & SWPORT_F_IN_ACCOUNT)
		return swport_enqueue_account(skb, sch, to_free);
	if (!swport_parse_fast(port, skb))
		return swport_enqueue_slow(skb, sch, to_free);
	/* As swport_admit(). */
	if (port->features & SWPORT_F_RATE && !qdisc_qlen(sch))
		quell_shaper_restart(&port->shaper, ktime_get_ns());
	swport_stamp_enqueue(port, skb);
	return swport_queue(skb, sch, &port->data);
}

/*
 * Returns NET_XMIT_SUCCESS when all or part of the packet was queued; with __NET_XMIT_STOLEN added
 * when no segment was queued and some were deflected; or NET_XMIT_DROP.  Bottom halves off, qdisc
 * lock.
 */
int quell_swport_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct swport_sched *port = qdisc_priv(sch);

	if (port->features & SWPORT_F_IN)
		return swport_enqueue_featured(skb, sch, to_free);
	return swport_parse_fast(port, skb) ? swport_queue(skb, sch, &port->data) :
					      swport_enqueue_slow(skb, sch, to_free);
}

/* Context: RTNL and the qdisc lock held, or the qdisc out of use. */
void quell_swport_purge(struct swport_sched *port)
{
	swport_band_purge(&port->control);
	swport_band_purge(&port->data);
	port->bandshare = (struct quell_bandshare) { };
	port->trim.backlog_pkts = 0;
	port->trim.backlog_bytes = 0;
	quell_swport_device_reset(port);
	swport_sync_charges(port);
	if (port->part.joint)
		quell_swport_joint_deactivate(port);
}

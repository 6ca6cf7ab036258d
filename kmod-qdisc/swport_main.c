// SPDX-License-Identifier: GPL-2.0
/*
 * swport: the egress port of a datacenter switch, as a classless qdisc.
 *
 * Two bands.  Control (pure ACKs, ARP and neighbour discovery, network control) has priority and
 * its own limit: feedback is neither lost nor delayed by the data that it reports on.  While data
 * is queued, control has at most `control-share' of the wire.
 *
 * Data is a FIFO with a limit in bytes and ECN by RED on its instantaneous length.  A packet that
 * does not fit is dropped, or trimmed and sent with control.  Decisions are about packets on the
 * wire: a GSO packet stays whole only while they are the same for all its segments (swport_trim.c).
 *
 *	            +---------+
 *	ACK, ND  -->| control |--+
 *	         +->+---------+  |  strict   +-------+
 *	                         +---------->| wire  |--> device
 *	    trim |  +---------+  | priority  | rate  |
 *	payload -+->|  data   |--+           +-------+
 *	            +---------+ mark, stamp
 *
 * Work conserving unless `rate` is set; then packets are sent exactly as fast as by a wire of that
 * rate (quell/core/port/shaper.h).
 *
 * Locking: enqueue, dequeue, reset run under the qdisc lock; change commits under sch_tree_lock,
 * so that each packet is subject to either the old or the new parameters.
 */
#include <linux/if_arp.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/pkt_sched.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>
#include <net/netlink.h>
#include <net/sock.h>
#include <quell/core/port/fastpath.h>
#include <quell/core/port/frame_control.h>
#include <quell/core/port/stamp.h>
#include <quell/hops.h>
#include <quell/tcp_int.h>
#include <quell/version.h>

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
static bool swport_ecn_mark(struct swport_sched *port, struct sk_buff *skb)
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

/* Adjust the charges to a shared buffer and to a joint port to the data band's backlog. */
static inline void swport_sync_charges(struct swport_sched *port)
{
	quell_swport_buffer_sync(port);
	if (port->part.joint)
		quell_swport_joint_sync(port);
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

static inline void swport_band_drop(struct swport_band *band, const struct sk_buff *skb)
{
	band->drop_pkts += swport_cb(skb)->segments;
	band->drop_bytes += qdisc_pkt_len(skb);
}

/* Drop a packet to be marked that is not ECN-capable, before enqueue or after dequeue. */
static inline void swport_drop_unmarkable(struct swport_sched *port, const struct sk_buff *skb)
{
	swport_band_drop(&port->data, skb);
	port->mark_stats.drop_pkts += swport_cb(skb)->segments;
	swport_sync_charges(port);
}

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
	    !swport_ecn_mark(port, skb)) {
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
static int swport_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct swport_sched *port = qdisc_priv(sch);

	if (port->features & SWPORT_F_IN)
		return swport_enqueue_featured(skb, sch, to_free);
	return swport_parse_fast(port, skb) ? swport_queue(skb, sch, &port->data) :
					      swport_enqueue_slow(skb, sch, to_free);
}

/* Context: RTNL and the qdisc lock held, or the qdisc out of use. */
static void swport_purge(struct swport_sched *port)
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
		    swport_ecn_mark(port, skb) || !swport_has_data(port))
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
static struct sk_buff *swport_dequeue(struct Qdisc *sch)
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

static const struct swport_params swport_defaults = {
	.limit_bytes = SWPORT_LIMIT_DEFAULT,
	.control_limit_bytes = SWPORT_CONTROL_LIMIT_DEFAULT,
	.control_share_q16 = SWPORT_CONTROL_SHARE_DEFAULT,
	.red.prob_q16 = SWPORT_ECN_PROB_MAX,
	.trim.dscp = SWPORT_TRIM_DSCP_DEFAULT,
	.deflect.iofd.entries = SWPORT_DEFLECT_ENTRIES_DEFAULT,
	.deflect.iofd.idle_ns = SWPORT_DEFLECT_IDLE_DEFAULT,
	.deflect.token_max = SWPORT_DEFLECT_TOKENS_DEFAULT,
};

static void swport_seed(struct swport_sched *port)
{
	u64 seed = port->params.seed;

	if (!seed)
		get_random_bytes(&seed, sizeof(seed));
	quell_red_seed(&port->lottery, seed);
	quell_swport_deflect_seed(port, seed);
}

/* Rate of a wire that is not shared with other queues of a joint port; 0: no rate. */
static u64 swport_unshared_rate(const struct swport_params *params)
{
	return params->joint ? 0 : params->rate_bytes_ps;
}

/* Truesize over length: of full-sized packets with a page of 4 KB each, and of pure ACKs. */
#define SWPORT_MEMORY_SCALE		4
#define SWPORT_MEMORY_CONTROL_SCALE	64

/* The default admits the packets that both limits admit, scaled to the size of pages. */
static u64 swport_memory_max(const struct swport_params *params)
{
	u64 scaled_bytes = ((u64)params->limit_bytes * SWPORT_MEMORY_SCALE +
			    (u64)params->control_limit_bytes * SWPORT_MEMORY_CONTROL_SCALE) *
			   (PAGE_SIZE / SZ_4K);

	if (params->memory_limit_bytes)
		return params->memory_limit_bytes;
	return max_t(u64, scaled_bytes, SWPORT_MEMORY_DEFAULT);
}

/* DSCPs for the control band: CS6 and above, and those of trimmed packets. */
static u64 swport_parsed_dscps(const struct swport_trim_params *trim)
{
	u64 dscps = U64_MAX << (QUELL_FRAME_CS6 >> SWPORT_DSCP_SHIFT);

	if (trim->size_bytes && trim->queue == SWPORT_TRIM_CONTROL)
		dscps |= trim->known | BIT_ULL(trim->dscp);
	return dscps;
}

/**
 * quell_swport_set_features() - update the enabled features, and parameters used for each packet
 * @port: the switch port, with new parameters or paused priorities
 * Context: qdisc lock held.
 */
void quell_swport_set_features(struct swport_sched *port)
{
	const struct swport_params *params = &port->params;

	port->features = (params->rate_bytes_ps ? SWPORT_F_RATE : 0) |
			 (params->telemetry_ns ? SWPORT_F_TELEMETRY : 0) |
			 (params->tcp_int_ns ? SWPORT_F_TCP_INT : 0) |
			 (port->percentiles ? SWPORT_F_PERCENTILES : 0) |
			 (port->part.joint ? SWPORT_F_JOINT : 0) |
			 (port->share.buffer ? SWPORT_F_BUFFER : 0) |
			 (params->bql ? SWPORT_F_BQL : 0) |
			 (params->ecn_mode == SWPORT_ECN_ENQUEUE ? SWPORT_F_MARK_IN : 0) |
			 (params->ecn_mode == SWPORT_ECN_DEQUEUE ? SWPORT_F_MARK_OUT : 0) |
			 (port->deflect ? SWPORT_F_DEFLECT : 0) |
			 (port->paused ? SWPORT_F_PAUSED : 0);
	port->limit_bytes = params->limit_bytes;
	port->parsed_dscps = swport_parsed_dscps(&params->trim);
}

/**
 * quell_swport_pause() - set the paused priorities of data in a device's port
 * @dev: the device, which may still send the packets that it has
 * @priorities: bit per priority; the driver sets it when it is opened, and 0 when it stops
 * Context: softirq, RCU read lock held, not the qdisc's lock.
 * Return: false if the device's root qdisc is no swport.
 */
bool quell_swport_pause(struct net_device *dev, u8 priorities)
{
	struct Qdisc *sch = rcu_dereference(dev->qdisc);
	struct swport_sched *port = qdisc_priv(sch);

	if (sch->dequeue != swport_dequeue)
		return false;
	spin_lock(qdisc_lock(sch));
	port->paused = priorities;
	quell_swport_set_features(port);
	spin_unlock(qdisc_lock(sch));
	/* The transmit queue has another qdisc once the core replaces this one. */
	netif_schedule_queue(netdev_get_tx_queue(dev, 0));
	return true;
}
EXPORT_SYMBOL_GPL(quell_swport_pause);

/* Queued packets are kept even above a limit.  A faster wire is free sooner: reschedule. */
static int swport_commit(struct Qdisc *sch, const struct swport_params *params,
			 bool reseed)
{
	u64 device_bytes_ps = quell_swport_link_query(sch, params);
	struct swport_sched *port = qdisc_priv(sch);
	struct swport_percentiles *percentiles;
	struct swport_buffer *buffer;
	struct swport_joint *joint;
	int err;

	err = quell_swport_percentiles_get(port, params, &percentiles);
	if (err)
		return err;
	err = quell_swport_joint_get(sch, params, &joint);
	if (err)
		goto free_percentiles;
	err = quell_swport_buffer_get(sch, params, &buffer);
	if (err) {
		quell_swport_joint_put(joint);
		goto free_percentiles;
	}
	sch_tree_lock(sch);
	quell_shaper_rerate(&port->shaper, ktime_get_ns(), swport_unshared_rate(&port->params),
			    swport_unshared_rate(params));
	quell_swport_deflect_commit(port, params);
	quell_swport_commit_classes(port, &params->red_classes);
	port->params = *params;
	port->params.buffer_bytes = 0;
	port->memory_max_bytes = swport_memory_max(params);
	quell_swport_buffer_set(port, buffer);
	quell_swport_joint_set(port, joint);
	swap(port->percentiles, percentiles);
	quell_swport_set_features(port);
	port->link.of_one_queue = quell_swport_is_of_one_queue(sch);
	quell_swport_device_reset(port);
	quell_swport_link_set(port, device_bytes_ps);
	if (reseed)
		swport_seed(port);
	/* A timer with slack would otherwise not be moved. */
	qdisc_watchdog_cancel(&port->watchdog);
	if (qdisc_qlen(sch))
		qdisc_watchdog_schedule_ns(&port->watchdog,
					   quell_shaper_ready_ns(&port->shaper));
	sch_tree_unlock(sch);
	if (joint)
		quell_swport_joint_commit(port);
	err = 0;
free_percentiles:
	if (percentiles != port->percentiles)
		quell_swport_percentiles_free(percentiles);
	return err;
}

static int swport_change(struct Qdisc *sch, struct nlattr *opt,
			 struct netlink_ext_ack *extack)
{
	struct swport_params *params = kmalloc(sizeof(*params), GFP_KERNEL);
	bool reseed;
	int err;

	if (!params)
		return -ENOMEM;
	err = quell_swport_parse(sch, opt, params, &reseed, extack);
	if (!err)
		err = quell_swport_buffer_check(sch, params, extack);
	if (!err)
		err = quell_swport_deflect_prepare(sch, params);
	if (err)
		goto free;
	err = swport_commit(sch, params, reseed);
	quell_swport_deflect_done(qdisc_priv(sch));
free:
	kfree(params);
	return err;
}

/* On error the core calls swport_destroy(): first initialise all that it frees. */
static int swport_init(struct Qdisc *sch, struct nlattr *opt,
		       struct netlink_ext_ack *extack)
{
	struct swport_sched *port = qdisc_priv(sch);

	qdisc_watchdog_init(&port->watchdog, sch);
	quell_swport_link_add(sch);
	__skb_queue_head_init(&port->control.queue);
	__skb_queue_head_init(&port->data.queue);
	port->params = swport_defaults;
	port->memory_max_bytes = swport_memory_max(&port->params);
	quell_swport_set_features(port);
	swport_seed(port);
	return opt ? swport_change(sch, opt, extack) : 0;
}

static void swport_reset(struct Qdisc *sch)
{
	struct swport_sched *port = qdisc_priv(sch);

	qdisc_watchdog_cancel(&port->watchdog);
	swport_purge(port);
	quell_swport_deflect_reset(port);
	port->shaper = (struct quell_shaper) { };
}

static void swport_destroy(struct Qdisc *sch)
{
	struct swport_sched *port = qdisc_priv(sch);

	quell_swport_link_remove(sch);
	qdisc_watchdog_cancel(&port->watchdog);
	swport_purge(port);
	quell_swport_buffer_set(port, NULL);
	quell_swport_joint_set(port, NULL);
	quell_swport_percentiles_free(port->percentiles);
	quell_swport_deflect_destroy(port);
}

static struct Qdisc_ops swport_qdisc_ops __read_mostly = {
	.id		= "swport",
	.cl_ops		= &quell_swport_flow_ops,
	.priv_size	= sizeof(struct swport_sched),
	.enqueue	= swport_enqueue,
	.dequeue	= swport_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= swport_init,
	.reset		= swport_reset,
	.destroy	= swport_destroy,
	.change		= swport_change,
	.dump		= quell_swport_dump,
	.dump_stats	= quell_swport_dump_stats,
	.owner		= THIS_MODULE,
};

static int __init swport_module_init(void)
{
	int err;

	quell_swport_outlet_seed();
	err = quell_swport_link_init();
	if (err)
		return err;
	err = register_qdisc(&swport_qdisc_ops);
	if (err)
		quell_swport_link_exit();
	return err;
}

static void __exit swport_module_exit(void)
{
	unregister_qdisc(&swport_qdisc_ops);
	quell_swport_link_exit();
}

module_init(swport_module_init);
module_exit(swport_module_exit);

MODULE_AUTHOR("The Quell authors");
MODULE_DESCRIPTION("Quell switch port: two bands, byte limits, ECN by RED, exact rate, trimming, telemetry, TCP-INT, deflection");
MODULE_LICENSE("GPL");
MODULE_VERSION(QUELL_VERSION);
MODULE_ALIAS_NET_SCH("swport");

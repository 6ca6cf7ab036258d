/* SPDX-License-Identifier: GPL-2.0 */
/*
 * sch_swport's private state and the calls between its files.
 */
#ifndef _QUELL_SWPORT_H
#define _QUELL_SWPORT_H

#include <linux/sizes.h>
#include <linux/skbuff.h>
#include <uapi/linux/pkt_sched_swport.h>
#include <compat/qdisc.h>
#include <quell/core/port/bandshare.h>
#include <quell/core/port/frame.h>
#include <quell/core/port/iofd.h>
#include <quell/core/port/portload.h>
#include <quell/core/port/redclass.h>
#include <quell/core/port/shaper.h>
#include <quell/core/port/slots.h>
#include <quell/core/port/super.h>
#include <quell/trim.h>

/*
 * Trimming, off if @size_bytes, the length of a frame after it, is 0.  @eligible: bit per DSCP of
 * packets to trim; @known: bit per DSCP, besides @dscp, of packets that other ports trimmed.
 */
struct swport_trim_params {
	u32	size_bytes;
	u32	dscp;
	u32	queue;
	u64	eligible;
	u64	known;
	bool	to_sender;
};

/* An alternate next hop: @ifindex in the port's namespace, @addr in network order, zero-padded. */
struct swport_via {
	int	ifindex;
	u8	addr_bytes;
	u8	addr[16] __aligned(4);
};

/* Deflection; the DSCP of a packet is @token_base + its tokens, at most @token_max of them. */
struct swport_deflect_params {
	bool				on;
	struct quell_iofd_params	iofd;
	u32				token_base;
	u32				token_max;
	u32				via_nr;
	struct swport_via		via[SWPORT_DEFLECT_VIA_MAX];
};

/*
 * Configuration of a port
 * @rate_bytes_ps:	rate of the wire; 0: as fast as the device dequeues
 * @overhead_bytes:	wire overhead of each packet beyond its length
 * @control_share_q16:	largest share of the wire for control while data is queued
 * @ecn_mode:		enum swport_ecn_mode
 * @ecn_drop:		drop packets selected for marking that are not ECN-capable
 * @red:		marking thresholds; ignored when @ecn_mode is off
 * @red_classes:	DSCP classes with their own thresholds; empty when @ecn_mode is off
 * @seed:		seed of the random marking decisions; 0: random
 * @telemetry_ns:	base round-trip time of the network, ns; 0: no telemetry
 * @tcp_int_ns:		averaging time of the available rate, ns; 0: no TCP-INT
 * @buffer_bytes:	shared buffer size, in a request that sets it; else 0
 * @alpha_q16:		threshold as a fraction of the shared buffer's free space; 0: not shared
 * @split_gso:		enum swport_split_gso
 * @joint:		one queue of a joint port: rate, telemetry and TCP-INT are the port's
 * @bql:		bytes accepted by the device and not completed count as queued
 * @timer_slack_ns:	how late a packet may be dequeued, so that one timer serves several
 * @memory_limit_bytes:	limit of both bands' truesize; 0: derived from their limits
 *
 * Written with sch_tree_lock and RTNL held, read with either.
 */
struct swport_params {
	u64			rate_bytes_ps;
	u32			overhead_bytes;
	u32			limit_bytes;
	u32			control_limit_bytes;
	u32			control_share_q16;
	u32			ecn_mode;
	u32			ecn_drop;
	struct quell_red_params	red;
	struct quell_red_classes red_classes;
	u32			seed;
	u32			telemetry_ns;
	u32			tcp_int_ns;
	struct swport_trim_params trim;
	u32			buffer_bytes;
	u32			alpha_q16;
	u32			percentiles;
	u32			split_gso;
	u32			joint;
	u32			bql;
	u32			timer_slack_ns;
	u32			memory_limit_bytes;
	struct swport_deflect_params deflect;
};

/* A FIFO and its counters, under the qdisc's lock.  Each segment of a super-packet is a packet. */
struct swport_band {
	struct sk_buff_head	queue;
	u32			backlog_bytes;
	u32			backlog_max_bytes;
	u64			memory_bytes;
	u64			sent_pkts;
	u64			sent_bytes;
	u64			drop_pkts;
	u64			drop_bytes;
};

/*
 * Outcome of marking: packets sent with CE, set here or before; selected packets that are not
 * ECN-capable, of which @drop_pkts were dropped; selected packets without memory to write to them.
 */
struct swport_mark_stats {
	u64	mark_pkts;
	u64	mark_bytes;
	u64	not_ect_pkts;
	u64	mark_fail_pkts;
	u64	drop_pkts;
};

/* The same for one ECN class; @pkts were compared with its thresholds. */
struct swport_class_stats {
	u64	pkts;
	u64	mark_pkts;
	u64	mark_bytes;
	u64	not_ect_pkts;
};

/*
 * Rate and load of the link, and telemetry counters; under the qdisc's lock, @siblings under RTNL.
 * Rates of 0 are unknown: @device_bytes_ps was reported last, @bytes_ps is `rate' or else that.
 * With `bql', @taken_bytes (modulo 2^32) had been accepted by the device's transmit queues at the
 * last update, @between_bytes were dequeued since that last changed, and @device_bytes are queued
 * behind the port.  @stamp_kept_pkts kept the record of a hop with at least this port's load.
 */
struct swport_link {
	struct list_head		siblings;
	u64				device_bytes_ps;
	u64				bytes_ps;
	u32				rate_code;
	struct quell_portload_params	load_params;
	struct quell_portload		load;
	bool				of_one_queue;
	u32				taken_bytes;
	u32				between_bytes;
	u32				device_bytes;
	u64				stamp_pkts;
	u64				stamp_kept_pkts;
	u64				stamp_fail_pkts;
};

/* TCP-INT, under the qdisc's lock.  Of @pkts, @worst_pkts now describe this port. */
struct swport_tcp_int {
	struct quell_portload_params	load_params;
	struct quell_portload		load;
	u8				speed;
	u64				pkts;
	u64				worst_pkts;
	u64				fail_pkts;
};

struct swport_buffer;

/* Bytes of the data band charged to @buffer, which is written with RTNL and the qdisc's lock. */
struct swport_share {
	struct swport_buffer	*buffer;
	u32			held_bytes;
	u64			drop_pkts;
	u64			drop_bytes;
};

struct swport_joint;

/*
 * A queue's part of a joint port, under the qdisc's lock; @joint is written, @siblings used, with
 * RTNL held.  @held_bytes of the data band are charged to @joint, which counts @busy queues.
 */
struct swport_part {
	struct swport_joint	*joint;
	struct list_head	siblings;
	u32			held_bytes;
	bool			busy;
	struct quell_slot	slot;
};

/*
 * Trimming, under the qdisc's lock.  @pkts are those sent, dropped and queued, @bytes their lengths
 * after trimming.  Packets in the last two were dropped, with a NACK sent or dropped.
 */
struct swport_trim {
	u64	pkts;
	u64	bytes;
	u64	sent_pkts;
	u64	sent_bytes;
	u64	drop_pkts;
	u64	drop_bytes;
	u32	backlog_pkts;
	u32	backlog_bytes;
	u64	fail_pkts;
	u64	to_sender_pkts;
	u64	to_sender_drop_pkts;
};

/* The headers of a packet at enqueue; those that are not linear are copied. */
struct swport_packet {
	struct quell_frame	frame;
	bool			control;
	u8			headers[QUELL_FRAME_BYTES_MAX];
};

/*
 * Features that the parameters enable, and paused priorities.  Without any a packet is enqueued and
 * dequeued after a single test of them; the fast paths support some of them.
 */
#define SWPORT_F_RATE		BIT(0)
#define SWPORT_F_TELEMETRY	BIT(1)
#define SWPORT_F_TCP_INT	BIT(2)
#define SWPORT_F_PERCENTILES	BIT(3)
#define SWPORT_F_JOINT		BIT(4)
#define SWPORT_F_BUFFER		BIT(5)
#define SWPORT_F_BQL		BIT(6)
#define SWPORT_F_MARK_IN	BIT(7)
#define SWPORT_F_MARK_OUT	BIT(8)
#define SWPORT_F_DEFLECT	BIT(9)
#define SWPORT_F_PAUSED		BIT(10)

/*
 * One switch port.  A plain packet uses the first two cache lines, in both directions
 * @features:		SWPORT_F_* of @params and @paused
 * @paused:		bit per priority of data that is paused (quell_swport_pause())
 * @bandshare:		by how much @control exceeds its share of the wire
 * @parsed_dscps:	bit per DSCP for which the control band must be considered
 * @memory_max_bytes:	limit of both bands' @memory_bytes
 * @limit_bytes:	that of @params
 * @burst_bytes:	during enqueue, bytes in @data of the super-packet being segmented
 * @gso_whole_pkts:	GSO packets transmitted without segmentation
 * @control_defer_pkts:	data packets sent while @control had used up its share
 * @lottery:		random state of the marking decisions
 * @class_stats:	in the order of @params.red_classes; the last: packets in no class
 * @part:		in a joint port the loads in @link and @tcp_int are copies of the port's
 * @deflect:		NULL until first enabled
 * @parsed:		during enqueue the packet, during dequeue a copy of its headers; not on the
 *			stack, as hardened kernels initialise that
 */
struct swport_sched {
	u32			features;
	u8			paused;
	struct quell_bandshare	bandshare;
	u64			parsed_dscps;
	u64			memory_max_bytes;
	u32			limit_bytes;
	u32			burst_bytes;
	u64			gso_whole_pkts;
	struct swport_band	data;
	struct swport_band	control;
	struct swport_params	params;
	u64			control_defer_pkts;
	struct quell_shaper	shaper;
	struct quell_red_vars	lottery;
	struct swport_mark_stats mark_stats;
	struct swport_class_stats class_stats[QUELL_RED_CLASSES_MAX + 1];
	struct swport_link	link;
	struct swport_tcp_int	tcp_int;
	struct swport_trim	trim;
	struct swport_share	share;
	struct swport_part	part;
	struct swport_percentiles *percentiles;
	struct swport_deflect	*deflect;
	u64			gso_split_pkts;
	u64			alloc_fail_pkts;
	u64			memory_drop_pkts;
	struct qdisc_watchdog	watchdog;
	struct swport_packet	parsed;
};

#if IS_ENABLED(CONFIG_64BIT) && !IS_ENABLED(CONFIG_PREEMPT_RT) && \
	!IS_ENABLED(CONFIG_DEBUG_SPINLOCK) && !IS_ENABLED(CONFIG_DEBUG_LOCK_ALLOC)
static_assert(offsetof(struct swport_sched, control.queue.prev) == 128);
#endif

/**
 * struct swport_cb - per-packet state while queued
 * @enqueue_ns: enqueue time, ns; 0: not recorded
 * @gso_other_bytes: bytes in the data band of other segments of the same super-packet, which are
 *	not compared with thresholds; at enqueue those before it, then those behind it
 * @segments: wire packets in it; 1 unless it is a super-packet
 * @ip_at: outermost IP header, from skb->data; SWPORT_NOT_IP if absent
 * @tcp_at: TCP header, inside a tunnel if there is one, from skb->data; 0 if absent
 * @option_bytes: bytes of TCP options; 0 also for a SYN
 * @ttl: time to live, or hop limit, of the outermost IP header
 * @inner_ttl: of that inside a tunnel; 0 if absent
 * @priority: class selector of the outermost DSCP; 0 without IP
 * @trimmed: this port trimmed the packet
 * @linear: the TCP header is in the skb's linear part
 *
 * Offsets stay valid, since the port moves no header.  Packed: the limit is 20 bytes.
 */
struct swport_cb {
	u64	enqueue_ns;
	u32	gso_other_bytes;
	u16	segments;
	u8	ip_at;
	u8	tcp_at;
	u8	option_bytes;
	u8	ttl;
	u8	inner_ttl;
	u8	priority : 3;
	u8	trimmed : 1;
	u8	linear : 1;
} __packed __aligned(4);

#define SWPORT_NOT_IP		U8_MAX

static inline struct swport_cb *swport_cb(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct swport_cb));
	return (struct swport_cb *)qdisc_skb_cb(skb)->data;
}

#define SWPORT_DSCP_SHIFT	2
/* The class selector is the upper half of the DSCP. */
#define SWPORT_PRIORITY_SHIFT	5

/* swport_main.c */
void quell_swport_set_features(struct swport_sched *port);
bool quell_swport_pause(struct net_device *dev, u8 priorities);

/* swport_enqueue.c */
int quell_swport_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free);
void quell_swport_purge(struct swport_sched *port);

/* swport_dequeue.c */
bool quell_swport_ecn_mark(struct swport_sched *port, struct sk_buff *skb);
struct sk_buff *quell_swport_dequeue(struct Qdisc *sch);

/* swport_trim.c */
bool quell_swport_trim(struct Qdisc *sch, struct sk_buff *skb,
		       const struct quell_frame *frame);
bool quell_swport_gso_measure(const struct swport_sched *port, const struct sk_buff *skb,
			      struct quell_super *super);
struct sk_buff *quell_swport_gso_segment(struct swport_sched *port, struct sk_buff *skb);
void quell_swport_gso_account(struct sk_buff_head *queue, u32 pkts);
void quell_swport_gso_segment_head(struct Qdisc *sch);

/* swport_deflect.c */
void quell_swport_outlet_seed(void);
bool quell_swport_deflect(struct Qdisc *sch, struct sk_buff *skb,
			  const struct quell_frame *frame, struct sk_buff **to_free, int *ret);
bool quell_swport_deflect_is_local(struct Qdisc *sch, const struct sk_buff *skb,
				   const struct quell_frame *frame,
					   const struct quell_super *super);
int quell_swport_deflect_prepare(struct Qdisc *sch, const struct swport_params *params);
void quell_swport_deflect_commit(struct swport_sched *port, const struct swport_params *params);
void quell_swport_deflect_done(struct swport_sched *port);
void quell_swport_deflect_seed(struct swport_sched *port, u64 seed);
void quell_swport_deflect_reset(struct swport_sched *port);
void quell_swport_deflect_forget_dev(struct Qdisc *sch, const struct net_device *dev);
void quell_swport_deflect_destroy(struct swport_sched *port);
void quell_swport_deflect_stats(const struct swport_sched *port, u64 *value);
int quell_swport_deflect_parse(const struct Qdisc *sch, struct nlattr **tb,
			       const struct swport_params *old, struct swport_params *params,
			       struct netlink_ext_ack *extack);
int quell_swport_deflect_dump(const struct swport_deflect_params *params, struct sk_buff *skb);
extern const struct Qdisc_class_ops quell_swport_flow_ops;

/* swport_share.c */
bool quell_swport_buffer_charge(struct swport_sched *port, u32 len_bytes);
bool quell_swport_buffer_try_charge(struct swport_sched *port, const struct quell_super *super);
void quell_swport_buffer_sync(struct swport_sched *port);
int quell_swport_buffer_check(const struct Qdisc *sch, const struct swport_params *params,
			      struct netlink_ext_ack *extack);
int quell_swport_buffer_get(const struct Qdisc *sch, const struct swport_params *params,
			    struct swport_buffer **buffer);
void quell_swport_buffer_set(struct swport_sched *port, struct swport_buffer *buffer);
u32 quell_swport_buffer_size(const struct swport_sched *port);
void quell_swport_buffer_stats(const struct swport_sched *port, u64 *value);
void quell_swport_joint_inherit(const struct Qdisc *sch, struct nlattr **tb,
				struct swport_params *params);
int quell_swport_joint_get(const struct Qdisc *sch, const struct swport_params *params,
			   struct swport_joint **joint);
void quell_swport_joint_put(struct swport_joint *joint);
void quell_swport_joint_set(struct swport_sched *port, struct swport_joint *joint);
void quell_swport_joint_commit(struct swport_sched *port);
bool quell_swport_joint_charge(struct swport_sched *port, u32 bytes);
void quell_swport_joint_sync(struct swport_sched *port);
u32 quell_swport_joint_bytes(const struct swport_sched *port);
void quell_swport_joint_activate(struct swport_sched *port);
void quell_swport_joint_deactivate(struct swport_sched *port);
u64 quell_swport_joint_ready_ns(struct swport_sched *port, u64 now_ns, u32 bytes);
u64 quell_swport_joint_measure(struct swport_sched *port, u64 now_ns);
void quell_swport_joint_sent(struct swport_sched *port, u32 bytes);
void quell_swport_joint_stats(const struct swport_sched *port, u64 *value);
void quell_swport_link_add(struct Qdisc *sch);
void quell_swport_link_remove(struct Qdisc *sch);
u64 quell_swport_link_query(const struct Qdisc *sch, const struct swport_params *params);
void quell_swport_link_set(struct swport_sched *port, u64 device_bytes_ps);
void quell_swport_device_update(struct swport_sched *port);
void quell_swport_device_sent(struct swport_sched *port, u32 bytes);
int quell_swport_link_init(void);
void quell_swport_link_exit(void);

/* Adjust the charges to a shared buffer and to a joint port to the data band's backlog. */
static inline void swport_sync_charges(struct swport_sched *port)
{
	quell_swport_buffer_sync(port);
	if (port->part.joint)
		quell_swport_joint_sync(port);
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

static inline void quell_swport_device_reset(struct swport_sched *port)
{
	port->link.between_bytes = 0;
	port->link.device_bytes = 0;
}

/* swport_netlink.c */
int quell_swport_parse(struct Qdisc *sch, struct nlattr *opt,
		       struct swport_params *params, bool *reseed,
		       struct netlink_ext_ack *extack);
bool quell_swport_is_of_one_queue(const struct Qdisc *sch);
void quell_swport_commit_classes(struct swport_sched *port,
				 const struct quell_red_classes *classes);
int quell_swport_dump(struct Qdisc *sch, struct sk_buff *skb);
int quell_swport_dump_stats(struct Qdisc *sch, struct gnet_dump *d);
int quell_swport_percentiles_get(const struct swport_sched *port,
				 const struct swport_params *params,
				 struct swport_percentiles **fresh);
void quell_swport_percentiles_free(struct swport_percentiles *old);
void quell_swport_record_enqueue(struct swport_sched *port, struct sk_buff *skb, bool control);
void quell_swport_record_dequeue(struct swport_sched *port, const struct sk_buff *skb, bool control,
				 u64 now_ns);

static inline void swport_get_u32(const struct nlattr *attr, u32 *value)
{
	if (attr)
		*value = nla_get_u32(attr);
}

#endif /* _QUELL_SWPORT_H */

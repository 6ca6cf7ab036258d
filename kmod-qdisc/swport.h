/* SPDX-License-Identifier: GPL-2.0 */
/*
 * sch_swport's private state and the calls between its files.
 */
#ifndef _QUELL_SWPORT_H
#define _QUELL_SWPORT_H

#include <linux/sizes.h>
#include <linux/skbuff.h>
#include <compat/qdisc.h>
#include <quell/core/port/frame.h>
#include <quell/core/port/places.h>
#include <quell/core/port/portload.h>
#include <quell/core/port/shaper.h>
#include <quell/core/port/super.h>
#include <quell/core/port/turns.h>
#include <quell/trim.h>

#include "swport_params.h"

/**
 * struct swport_band - one first-in first-out queue and its counters
 * @queue:		wire packets, and super-packets that are whole
 * @backlog_bytes:	bytes in @queue
 * @backlog_max_bytes:	maximum of @backlog_bytes so far
 * @memory_bytes:	of buffers, truesize, of the packets in @queue
 * @sent_pkts:		wire packets transmitted
 * @sent_bytes:		bytes transmitted
 * @drop_pkts:		packets that found the band full
 * @drop_bytes:		bytes of packets that found the band full
 *
 * All under the qdisc's lock.  Each segment of a super-packet counts as a packet.
 */
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

/**
 * struct swport_mark_stats - outcome of the marking decisions
 * @mark_pkts:		packets sent with CE, set here or before
 * @mark_bytes:		bytes of packets sent with CE
 * @not_ect_pkts:	packets selected for marking whose transport is not ECN-capable
 * @mark_fail_pkts:	packets selected for marking, but no memory to make them writable
 * @drop_pkts:		part of @not_ect_pkts: dropped instead
 */
struct swport_mark_stats {
	u64	mark_pkts;
	u64	mark_bytes;
	u64	not_ect_pkts;
	u64	mark_fail_pkts;
	u64	drop_pkts;
};

/**
 * struct swport_class_stats - outcome of the marking decisions in one ECN class
 * @pkts:		packets compared with the thresholds of the class
 * @mark_pkts:		packets sent with CE, set here or before
 * @mark_bytes:		bytes of packets sent with CE
 * @not_ect_pkts:	packets selected for marking whose transport is not ECN-capable
 */
struct swport_class_stats {
	u64	pkts;
	u64	mark_pkts;
	u64	mark_bytes;
	u64	not_ect_pkts;
};

/**
 * struct swport_link - rate and load of the port's link, and its telemetry counters
 * @siblings:		entry in the list of ports notified of device changes; RTNL
 * @device_bytes_ps:	speed the device last reported; 0 unknown
 * @bytes_ps:		rate of the link: as configured, or else the device's; 0 unknown
 * @rate_code:		@bytes_ps in a record
 * @load_params:	parameters of the load measurement
 * @load:		measured load; advanced only with telemetry on
 * @of_one_queue:	the port has one of several transmit queues of the device
 * @taken_bytes:	bytes its transmit queues had ever taken when the port last looked, modulo
 *			2^32; this and the next two only with @params.bql
 * @between_bytes:	bytes that have left since the device last took anything
 * @device_bytes:	bytes that waited for the wire behind the port when it last looked
 * @stamp_pkts:		packets sent with this port's record
 * @keep_pkts:		packets sent with the record of another hop, as loaded or more
 * @stamp_fail_pkts:	packets sent unchanged for lack of memory to make them writable
 *
 * Under the qdisc's lock but for @siblings.
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
	u64				keep_pkts;
	u64				stamp_fail_pkts;
};

/**
 * struct swport_tcp_int - state for writing TCP-INT options
 * @load_params:	parameters of the load measurement
 * @load:		measured load of the link; advanced only with TCP-INT on
 * @speed:		code of the link's rate
 * @pkts:		packets whose option this port updated
 * @worst_pkts:		part of @pkts: the option now describes this port
 * @fail_pkts:		packets sent unchanged for lack of memory to make them writable
 *
 * Under the qdisc's lock.
 */
struct swport_tcp_int {
	struct quell_portload_params	load_params;
	struct quell_portload		load;
	u8				speed;
	u64				pkts;
	u64				worst_pkts;
	u64				fail_pkts;
};

struct swport_buffer;

/**
 * struct swport_share - a port's part of a buffer it shares
 * @buffer:		the shared buffer, or NULL
 * @held_bytes:		bytes of this port's data band charged to @buffer
 * @drop_pkts:		packets dropped above the port's threshold in @buffer
 * @drop_bytes:		bytes of packets dropped above the port's threshold
 *
 * Under the qdisc's lock, @buffer written with RTNL held besides.
 */
struct swport_share {
	struct swport_buffer	*buffer;
	u32			held_bytes;
	u64			drop_pkts;
	u64			drop_bytes;
};

struct swport_joint;

/**
 * struct swport_part - one queue's part of a joint port
 * @joint:		the joint port, or NULL
 * @siblings:		entry in its list of queues; RTNL
 * @held_bytes:		bytes of this queue's data band charged to @joint
 * @busy:		counted as a queue with packets
 * @place:		on the wire, for the next packet
 *
 * Under the qdisc's lock but for @siblings, @joint written with RTNL held besides.
 */
struct swport_part {
	struct swport_joint	*joint;
	struct list_head	siblings;
	u32			held_bytes;
	bool			busy;
	struct quell_place	place;
};

/**
 * struct swport_trim - trimming counters
 * @pkts:		trimmed packets; the sum of those sent, dropped and queued
 * @bytes:		bytes of @pkts after trimming
 * @sent_pkts:		trimmed packets transmitted
 * @sent_bytes:		bytes of trimmed packets transmitted
 * @drop_pkts:		trimmed packets that found their band full
 * @drop_bytes:		bytes of trimmed packets that found their band full
 * @backlog_pkts:	trimmed packets queued now
 * @backlog_bytes:	bytes of trimmed packets queued now
 * @fail_pkts:		packets not trimmed for lack of memory to make them writable
 * @to_sender_pkts:	packets dropped after a NACK was sent to their sender
 * @to_sender_drop_pkts: packets dropped whose NACK was dropped as well
 *
 * Under the qdisc's lock.
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

/**
 * struct swport_packet - the headers of a packet that arrives
 * @frame: what was read of them
 * @control: the packet belongs in the control band by itself
 * @headers: copy of those that are not linear
 */
struct swport_packet {
	struct quell_frame	frame;
	bool			control;
	u8			headers[QUELL_FRAME_BYTES_MAX];
};

/* Features that the straight paths, at enqueue or at dequeue, do not or only partly have. */
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

/**
 * struct swport_sched - one switch port
 * @features:		SWPORT_F_*: what is on, of @params
 * @paused:		bit per priority of data that waits (swport_pause.c)
 * @burst_bytes:	during enqueue, bytes in @data of the super-packet being cut; else 0
 * @parsed_dscps:	bit per DSCP by which a packet may be for the control band
 * @memory_max_bytes:	limit of both bands' @memory_bytes
 * @params:		configuration
 * @data:		payload band
 * @control:		acknowledgements and network control; goes first
 * @turns:		how far @control is ahead of its share of the wire
 * @control_wait_pkts:	packets of @data sent while @control had used up its share
 * @shaper:		the wire, when @params.rate_bytes_ps is set
 * @lottery:		random state of the marking decisions
 * @mark_stats:		outcome of marking
 * @class_stats:	outcome of marking by class, in the order of @params.red_classes;
 *			last, packets in no class
 * @link:		rate, load and telemetry
 * @tcp_int:		the public telemetry option
 * @trim:		trimming
 * @share:		part of a shared buffer
 * @part:		part of a joint port; the loads in @link and @tcp_int are then copies of its
 * @percentiles:	histograms; NULL: not kept
 * @deflect:		deflected flows and their outlet; NULL until first enabled
 * @gso_split_pkts:	GSO packets segmented
 * @gso_whole_pkts:	GSO packets transmitted as they came
 * @alloc_fail_pkts:	GSO packets dropped because segmentation failed
 * @memory_drop_pkts:	packets dropped because of it
 * @watchdog:		wakes the port when the wire is free again
 * @arriving:		during enqueue, the packet, during dequeue a copy of its headers; not on the
 *			stack, which kernels may clear
 */
struct swport_sched {
	u32			features;
	u8			paused;
	u32			burst_bytes;
	u64			parsed_dscps;
	u64			memory_max_bytes;
	struct swport_band	data;
	struct quell_turns	turns;
	struct swport_band	control;
	struct swport_params	params;
	u64			control_wait_pkts;
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
	u64			gso_whole_pkts;
	u64			alloc_fail_pkts;
	u64			memory_drop_pkts;
	struct qdisc_watchdog	watchdog;
	struct swport_packet	arriving;
};

/**
 * struct swport_cb - per-packet state while queued
 * @arrived_ns: arrival time, ns; 0: not recorded
 * @own_bytes: bytes in the data band of other segments of the same super-packet, which do
 *	not count when the packet is judged; at enqueue those before it, then those behind
 * @segments: wire packets it is; 1 unless it is a super-packet
 * @ip_at: outermost IP header, from skb->data; SWPORT_NOT_IP: none
 * @tcp_at: TCP header, inside a tunnel if there is one, from skb->data; 0: none
 * @option_bytes: bytes of TCP options; 0 also for a SYN
 * @ttl: time to live, or hop limit, of the outermost IP header
 * @inner_ttl: of that inside a tunnel; 0: none
 * @priority: class selector of the outermost DSCP; 0 without IP
 * @trimmed: this port trimmed the packet
 *
 * The headers are as quell_swport_read() found them on arrival; what the port writes later
 * moves none of them.  Packed, for qdiscs have 20 bytes.
 */
struct swport_cb {
	u64	arrived_ns;
	u32	own_bytes;
	u16	segments;
	u8	ip_at;
	u8	tcp_at;
	u8	option_bytes;
	u8	ttl;
	u8	inner_ttl;
	u8	priority : 3;
	u8	trimmed : 1;
} __packed __aligned(4);

/* No transmit queue holds more, and no more is between port and device. */
#define SWPORT_DEVICE_MAX	((u32)SZ_256M)
#define SWPORT_BETWEEN_MAX	((u32)SZ_4M)
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

/* swport_classify.c */
const struct swport_packet *quell_swport_read(struct swport_sched *port,
					      const struct sk_buff *skb);
void quell_swport_note(struct sk_buff *skb, const struct quell_frame *frame);

/* swport_mark.c */
bool quell_swport_judge(struct swport_sched *port, struct sk_buff *skb);

/* swport_classes.c */
int quell_swport_parse_classes(const struct nlattr *nest, struct swport_params *params,
			       struct netlink_ext_ack *extack);
int quell_swport_check_classes(const struct swport_params *params,
			       struct netlink_ext_ack *extack);
int quell_swport_dump_classes(struct sk_buff *skb, const struct quell_red_classes *classes);
void quell_swport_commit_classes(struct swport_sched *port,
				 const struct quell_red_classes *classes);
int quell_swport_dump_class_stats(struct Qdisc *sch, struct sk_buff *skb);

/* swport_gso.c */
bool quell_swport_gso_measure(const struct swport_sched *port, const struct sk_buff *skb,
			      struct quell_super *super);
struct sk_buff *quell_swport_gso_cut(struct swport_sched *port, struct sk_buff *skb);
void quell_swport_gso_own(struct sk_buff_head *queue, u32 pkts);
void quell_swport_gso_open(struct Qdisc *sch);

/* swport_to_sender.c */
bool quell_swport_answer(struct Qdisc *sch, const struct sk_buff *skb,
			 const struct quell_frame *frame, const struct quell_trim *trim);

/* swport_trim.c */
bool quell_swport_is_trimmed(const struct swport_trim_params *params,
			     const struct quell_frame *frame);
bool quell_swport_trim(struct Qdisc *sch, struct sk_buff *skb,
		       const struct quell_frame *frame);
void quell_swport_trim_queued(struct swport_sched *port, const struct sk_buff *skb);
void quell_swport_trim_sent(struct swport_sched *port, const struct sk_buff *skb);
void quell_swport_trim_dropped(struct swport_sched *port, const struct sk_buff *skb);

/* swport_deflect.c */
bool quell_swport_deflect(struct Qdisc *sch, struct sk_buff *skb,
			  const struct quell_frame *frame, struct sk_buff **to_free, int *ret);
bool quell_swport_deflect_keeps(struct Qdisc *sch, const struct sk_buff *skb,
				const struct quell_frame *frame, const struct quell_super *super);
int quell_swport_deflect_prepare(struct Qdisc *sch, const struct swport_params *params);
void quell_swport_deflect_commit(struct swport_sched *port, const struct swport_params *params);
void quell_swport_deflect_done(struct swport_sched *port);
void quell_swport_deflect_seed(struct swport_sched *port, u64 seed);
void quell_swport_deflect_reset(struct swport_sched *port);
void quell_swport_deflect_leave(struct Qdisc *sch, const struct net_device *dev);
void quell_swport_deflect_destroy(struct swport_sched *port);
void quell_swport_deflect_stats(const struct swport_sched *port, u64 *value);

/* swport_deflect_flow.c */
bool quell_swport_deflect_flow(const struct sk_buff *skb, const struct quell_frame *frame,
			       struct quell_iofd_packet *packet);

/* swport_deflect_netlink.c */
int quell_swport_deflect_parse(const struct Qdisc *sch, struct nlattr **tb,
			       const struct swport_params *old, struct swport_params *params,
			       struct netlink_ext_ack *extack);
int quell_swport_deflect_dump(const struct swport_deflect_params *params, struct sk_buff *skb);
int quell_swport_via_dump(const struct swport_via *via, int number, struct sk_buff *skb);

/* swport_deflect_show.c */
extern const struct Qdisc_class_ops quell_swport_flow_ops;

/* swport_link.c */
void quell_swport_link_add(struct Qdisc *sch);
void quell_swport_link_remove(struct Qdisc *sch);
u64 quell_swport_link_ask(const struct Qdisc *sch, const struct swport_params *params);
void quell_swport_link_set(struct swport_sched *port, u64 device_bytes_ps);
void quell_swport_device_look(struct swport_sched *port);
void quell_swport_device_gets(struct swport_sched *port, u32 bytes);
int quell_swport_link_init(void);
void quell_swport_link_exit(void);

/* swport_buffer.c */
bool quell_swport_buffer_take(struct swport_sched *port, u32 len_bytes);
bool quell_swport_buffer_take_all(struct swport_sched *port, const struct quell_super *super);
void quell_swport_buffer_settle(struct swport_sched *port);
int quell_swport_buffer_check(const struct Qdisc *sch, const struct swport_params *params,
			      struct netlink_ext_ack *extack);
int quell_swport_buffer_get(const struct Qdisc *sch, const struct swport_params *params,
			    struct swport_buffer **buffer);
void quell_swport_buffer_move(struct swport_sched *port, struct swport_buffer *buffer);
u32 quell_swport_buffer_size(const struct swport_sched *port);
void quell_swport_buffer_stats(const struct swport_sched *port, u64 *value);

/* swport_joint.c */
void quell_swport_joint_inherit(const struct Qdisc *sch, struct nlattr **tb,
				struct swport_params *params);
int quell_swport_joint_get(const struct Qdisc *sch, const struct swport_params *params,
			   struct swport_joint **joint);
void quell_swport_joint_put(struct swport_joint *joint);
void quell_swport_joint_move(struct swport_sched *port, struct swport_joint *joint);
void quell_swport_joint_commit(struct swport_sched *port);
bool quell_swport_joint_take(struct swport_sched *port, u32 bytes);
void quell_swport_joint_settle(struct swport_sched *port);
u32 quell_swport_joint_bytes(const struct swport_sched *port);
void quell_swport_joint_wake(struct swport_sched *port);
void quell_swport_joint_sleep(struct swport_sched *port);
u64 quell_swport_joint_turn_ns(struct swport_sched *port, u64 now_ns, u32 bytes);
u64 quell_swport_joint_measure(struct swport_sched *port, u64 now_ns);
void quell_swport_joint_sent(struct swport_sched *port, u32 bytes);
void quell_swport_joint_stats(const struct swport_sched *port, u64 *value);

/* The port knows nothing of its device's bytes any more. */
static inline void quell_swport_device_forget(struct swport_sched *port)
{
	port->link.between_bytes = 0;
	port->link.device_bytes = 0;
}

/*
 * Bytes of data that wait for the wire, those of a joint port's other queues as well; with
 * `bql' also those of any band that the device had when the port last looked.
 */
static inline u32 swport_queue_bytes(const struct swport_sched *port)
{
	u32 bytes = likely(!port->part.joint) ? port->data.backlog_bytes :
						quell_swport_joint_bytes(port);

	return likely(!port->params.bql) ? bytes : bytes + port->link.device_bytes;
}

/* Packets have left the data band. */
static inline void swport_settle(struct swport_sched *port)
{
	quell_swport_buffer_settle(port);
	if (port->part.joint)
		quell_swport_joint_settle(port);
}

/* swport_pause.c */
bool quell_swport_find_data(struct swport_sched *port);
bool quell_swport_pause(struct net_device *dev, u8 priorities);

/* Does data wait that may leave?  The first packet of the band is then such a one. */
static inline bool swport_has_data(struct swport_sched *port)
{
	return likely(!port->paused) ? !skb_queue_empty(&port->data.queue) :
				       quell_swport_find_data(port);
}

/* swport_percentiles.c */
int quell_swport_percentiles_get(const struct swport_sched *port,
				 const struct swport_params *params,
				 struct swport_percentiles **fresh);
void quell_swport_percentiles_free(struct swport_percentiles *old);
void quell_swport_arrive(struct swport_sched *port, struct sk_buff *skb, bool control);
void quell_swport_leave(struct swport_sched *port, const struct sk_buff *skb, bool control,
			u64 now_ns);
int quell_swport_percentiles_dump(struct Qdisc *sch, struct sk_buff *skb);

/* swport_dequeue.c */
struct sk_buff *quell_swport_dequeue(struct Qdisc *sch);

/* swport_queue.c */
int quell_swport_enqueue(struct sk_buff *skb, struct Qdisc *sch,
			 struct sk_buff **to_free);
void quell_swport_purge(struct swport_sched *port);

/* swport_netlink.c */
int quell_swport_parse(struct Qdisc *sch, struct nlattr *opt,
		       struct swport_params *params, bool *reseed,
		       struct netlink_ext_ack *extack);
int quell_swport_explain(const struct nlattr *nest, int max, const char * const *range_text,
			 int err, struct netlink_ext_ack *extack);
int quell_swport_dump(struct Qdisc *sch, struct sk_buff *skb);
bool quell_swport_is_of_one_queue(const struct Qdisc *sch);

/* swport_stats.c */
int quell_swport_put_counter(struct sk_buff *skb, int attr, u64 value, int pad);
int quell_swport_dump_stats(struct Qdisc *sch, struct gnet_dump *d);

#endif /* _QUELL_SWPORT_H */

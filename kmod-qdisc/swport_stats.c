// SPDX-License-Identifier: GPL-2.0
/*
 * Statistics over netlink, a nest in TCA_STATS_APP: counters, those of each ECN class, percentiles.
 * Counters of 0 are omitted.
 *
 * A dump is retried with an empty buffer if a port does not fit.  A notification has one buffer of
 * NLMSG_GOODSIZE, and the core discards it on overflow.  When a port replaces another it carries
 * both.  So a notification omits a part of the statistics unless another port's options at their
 * maximum still fit behind it; changed options are always reported.
 */
#include <linux/rtnetlink.h>
#include <net/gen_stats.h>
#include <net/netlink.h>
#include <net/pkt_sched.h>

#include "swport.h"

/* Headers, kind, and the core's statistics: 170 bytes, and 50 with an estimator. */
#define SWPORT_MESSAGE_REST_BYTES	256

/* Maximum length of a port's message without statistics. */
static __always_inline int swport_message_bytes(void)
{
	int class_bytes = nla_total_size(nla_total_size_64bit(sizeof(u64)) +
					 3 * nla_total_size(sizeof(u32)));
	int via_bytes = nla_total_size(nla_total_size(sizeof(u32)) +
				       nla_total_size(sizeof(struct in6_addr)));

	return SWPORT_MESSAGE_REST_BYTES + nla_total_size(0) +
	       TCA_SWPORT_MAX * nla_total_size_64bit(sizeof(u64)) +
	       SWPORT_ECN_CLASSES_MAX * class_bytes + SWPORT_DEFLECT_VIA_MAX * via_bytes;
}

/**
 * quell_swport_put_counter() - add a counter to a message, unless it is 0
 * @skb: message
 * @attr: attribute type
 * @value: counter
 * @pad: attribute type for padding
 * Return: 0 or -EMSGSIZE.
 */
int quell_swport_put_counter(struct sk_buff *skb, int attr, u64 value, int pad)
{
	return value ? nla_put_u64_64bit(skb, attr, value, pad) : 0;
}

static void swport_snapshot_trim(const struct swport_trim *trim,
				 u64 value[TCA_SWPORT_STATS_MAX + 1])
{
	value[TCA_SWPORT_STATS_TRIM_PKTS] = trim->pkts;
	value[TCA_SWPORT_STATS_TRIM_BYTES] = trim->bytes;
	value[TCA_SWPORT_STATS_TRIM_SENT_PKTS] = trim->sent_pkts;
	value[TCA_SWPORT_STATS_TRIM_SENT_BYTES] = trim->sent_bytes;
	value[TCA_SWPORT_STATS_TRIM_DROP_PKTS] = trim->drop_pkts;
	value[TCA_SWPORT_STATS_TRIM_DROP_BYTES] = trim->drop_bytes;
	value[TCA_SWPORT_STATS_TRIM_BACKLOG_PKTS] = trim->backlog_pkts;
	value[TCA_SWPORT_STATS_TRIM_BACKLOG_BYTES] = trim->backlog_bytes;
	value[TCA_SWPORT_STATS_TRIM_FAIL_PKTS] = trim->fail_pkts;
	value[TCA_SWPORT_STATS_TO_SENDER_PKTS] = trim->to_sender_pkts;
	value[TCA_SWPORT_STATS_TO_SENDER_DROP_PKTS] = trim->to_sender_drop_pkts;
}

/* A consistent copy of all counters. */
static void swport_snapshot(struct Qdisc *sch,
			    u64 value[TCA_SWPORT_STATS_MAX + 1])
{
	const struct swport_sched *port = qdisc_priv(sch);

	sch_tree_lock(sch);
	value[TCA_SWPORT_STATS_DATA_PKTS] = port->data.sent_pkts;
	value[TCA_SWPORT_STATS_DATA_BYTES] = port->data.sent_bytes;
	value[TCA_SWPORT_STATS_CONTROL_PKTS] = port->control.sent_pkts;
	value[TCA_SWPORT_STATS_CONTROL_BYTES] = port->control.sent_bytes;
	value[TCA_SWPORT_STATS_DATA_DROP_PKTS] = port->data.drop_pkts;
	value[TCA_SWPORT_STATS_DATA_DROP_BYTES] = port->data.drop_bytes;
	value[TCA_SWPORT_STATS_CONTROL_DROP_PKTS] = port->control.drop_pkts;
	value[TCA_SWPORT_STATS_CONTROL_DROP_BYTES] = port->control.drop_bytes;
	value[TCA_SWPORT_STATS_MARK_PKTS] = port->mark_stats.mark_pkts;
	value[TCA_SWPORT_STATS_MARK_BYTES] = port->mark_stats.mark_bytes;
	value[TCA_SWPORT_STATS_NOT_ECT_PKTS] = port->mark_stats.not_ect_pkts;
	value[TCA_SWPORT_STATS_GSO_SPLIT_PKTS] = port->gso_split_pkts;
	value[TCA_SWPORT_STATS_ALLOC_FAIL_PKTS] = port->alloc_fail_pkts;
	value[TCA_SWPORT_STATS_DATA_BACKLOG_BYTES] = port->data.backlog_bytes;
	value[TCA_SWPORT_STATS_DATA_BACKLOG_MAX_BYTES] =
		port->data.backlog_max_bytes;
	value[TCA_SWPORT_STATS_CONTROL_BACKLOG_BYTES] =
		port->control.backlog_bytes;
	value[TCA_SWPORT_STATS_CONTROL_BACKLOG_MAX_BYTES] =
		port->control.backlog_max_bytes;
	value[TCA_SWPORT_STATS_MARK_FAIL_PKTS] = port->mark_stats.mark_fail_pkts;
	value[TCA_SWPORT_STATS_NOT_ECT_DROP_PKTS] = port->mark_stats.drop_pkts;
	value[TCA_SWPORT_STATS_CONTROL_DEFER_PKTS] = port->control_defer_pkts;
	value[TCA_SWPORT_STATS_GSO_WHOLE_PKTS] = port->gso_whole_pkts;
	value[TCA_SWPORT_STATS_STAMP_PKTS] = port->link.stamp_pkts;
	value[TCA_SWPORT_STATS_STAMP_KEPT_PKTS] = port->link.stamp_kept_pkts;
	value[TCA_SWPORT_STATS_STAMP_FAIL_PKTS] = port->link.stamp_fail_pkts;
	value[TCA_SWPORT_STATS_LINK_BYTES_PS] = port->link.bytes_ps;
	if (port->params.bql) {
		quell_swport_device_update(qdisc_priv(sch));
		value[TCA_SWPORT_STATS_DEVICE_BYTES] = port->link.device_bytes;
	}
	value[TCA_SWPORT_STATS_MEMORY_BYTES] =
		port->data.memory_bytes + port->control.memory_bytes;
	value[TCA_SWPORT_STATS_MEMORY_DROP_PKTS] = port->memory_drop_pkts;
	value[TCA_SWPORT_STATS_MEMORY_MAX_BYTES] = port->memory_max_bytes;
	value[TCA_SWPORT_STATS_INT_PKTS] = port->tcp_int.pkts;
	value[TCA_SWPORT_STATS_INT_WORST_PKTS] = port->tcp_int.worst_pkts;
	value[TCA_SWPORT_STATS_INT_FAIL_PKTS] = port->tcp_int.fail_pkts;
	swport_snapshot_trim(&port->trim, value);
	quell_swport_buffer_stats(port, value);
	quell_swport_joint_stats(port, value);
	quell_swport_deflect_stats(port, value);
	sch_tree_unlock(sch);
}

static int swport_dump_counters(struct Qdisc *sch, struct sk_buff *skb)
{
	u64 value[TCA_SWPORT_STATS_MAX + 1] = { };
	int attr, err = 0;

	swport_snapshot(sch, value);
	for (attr = TCA_SWPORT_STATS_PAD + 1; !err && attr <= TCA_SWPORT_STATS_MAX; attr++)
		err = quell_swport_put_counter(skb, attr, value[attr], TCA_SWPORT_STATS_PAD);
	return err;
}

/* Add one part of the statistics, or omit it from a notification without room. */
static int swport_dump_part(struct Qdisc *sch, struct sk_buff *skb, bool *left_out,
			    int (*dump)(struct Qdisc *sch, struct sk_buff *skb))
{
	unsigned char *begin = skb_tail_pointer(skb);
	int err = dump(sch, skb);

	/* A dump's buffer is charged to its reader's socket, a notification's to no socket yet. */
	if (skb->sk)
		return err;
	*left_out = err || skb_tailroom(skb) < swport_message_bytes();
	if (*left_out)
		nlmsg_trim(skb, begin);
	return 0;
}

/* Context: RTNL held; takes the qdisc lock.  Returns 0, or -1 when the message is full. */
int quell_swport_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct sk_buff *skb = d->skb;
	bool left_out = false;
	struct nlattr *nest;

	BUILD_BUG_ON(2 * swport_message_bytes() > NLMSG_GOODSIZE);
	nest = nla_nest_start_noflag(skb, TCA_STATS_APP);
	if (!nest)
		return -1;
	if (swport_dump_part(sch, skb, &left_out, swport_dump_counters))
		goto cancel;
	if (left_out) {
		nla_nest_cancel(skb, nest);
		return 0;
	}
	if (swport_dump_part(sch, skb, &left_out, quell_swport_dump_class_stats) ||
	    swport_dump_part(sch, skb, &left_out, quell_swport_percentiles_dump))
		goto cancel;
	nla_nest_end(skb, nest);
	return 0;

cancel:
	nla_nest_cancel(skb, nest);
	return -1;
}

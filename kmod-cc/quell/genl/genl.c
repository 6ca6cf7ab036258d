// SPDX-License-Identifier: GPL-2.0
/*
 * Generic netlink family "quell": its requests, and parameters and counters.  The API is
 * Documentation/netlink/specs/quell.yaml, of which scripts/generate-netlink makes genl_gen.c,
 * policies and operations.
 *
 * A request is about the namespace of the socket it came on.  Writers need
 * CAP_NET_ADMIN in the user namespace that owns it.  A request changes a copy of
 * the parameters; the first refused value fails the whole request, and the error
 * names the parameter, its range and its unit and points at the attribute.
 */
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/rwsem.h>
#include <linux/slab.h>
#include <linux/socket.h>
#include <net/genetlink.h>
#include <net/sock.h>
#include <quell/core/adapt/names.h>
#include "genl/genl.h"
#include "netns/notify.h"
#include "signal/dasr.h"
#include "signal/signal.h"
#include "tcp/tcp.h"

/*
 * Requests about active senders, their weights, and look-ahead groups, handed to the module that
 * counts senders.  Without it the lists are empty.  Context of all requests: process, may sleep.
 */

static const struct quell_dasr_ops *dasr_ops;
/* Changes with it; for dumps, not 0. */
static u32 dasr_epoch = 1;
/* Protects both; held while a request runs. */
static DECLARE_RWSEM(dasr_lock);

/* NULL: waits until no request runs; later ones are refused. */
void quell_genl_set_dasr(const struct quell_dasr_ops *ops)
{
	down_write(&dasr_lock);
	WARN_ON_ONCE(ops && dasr_ops);
	dasr_ops = ops;
	dasr_epoch += 2;
	up_write(&dasr_lock);
}

int quell_nl_senders_start(struct netlink_callback *cb)
{
	int err;

	down_read(&dasr_lock);
	err = dasr_ops ? dasr_ops->start(cb) : 0;
	up_read(&dasr_lock);
	return err;
}

/* Requests and lists have one body each: the module distinguishes them by their command. */
int quell_nl_lookahead_add_doit(struct sk_buff *skb, struct genl_info *info)
{
	int err;

	down_read(&dasr_lock);
	err = dasr_ops ? dasr_ops->doit(skb, info) :
			 quell_refuse(info->extack, NULL, -EOPNOTSUPP, "needs tcp_dart");
	up_read(&dasr_lock);
	return err;
}

int quell_nl_lookahead_del_doit(struct sk_buff *skb, struct genl_info *info)
	__alias(quell_nl_lookahead_add_doit);
int quell_nl_weight_set_doit(struct sk_buff *skb, struct genl_info *info)
	__alias(quell_nl_lookahead_add_doit);

/* args[5]: epoch of the first message.  If the module went meanwhile the list was interrupted. */
int quell_nl_lookahead_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	int bytes = 0;

	down_read(&dasr_lock);
	if (dasr_ops && (!cb->args[5] || cb->args[5] == dasr_epoch)) {
		cb->args[5] = dasr_epoch;
		bytes = dasr_ops->dumpit(skb, cb);
	} else if (cb->prev_seq) {
		cb->seq = cb->prev_seq + 1;
	}
	up_read(&dasr_lock);
	return bytes;
}

int quell_nl_receiver_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
	__alias(quell_nl_lookahead_get_dumpit);
int quell_nl_sender_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
	__alias(quell_nl_lookahead_get_dumpit);

/* The rates of interfaces.  Context of both requests: process, may sleep. */

/* 1 Tbit/s, the maximum of rate parameters; in kbit/s it fits an entry on 32 bits. */
#define LINK_MOST_BYTES_PS	125000000000ULL

/* args[0]: the last interface shown. */
int quell_nl_link_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct quell_net *qnet = quell_net(sock_net(skb->sk));
	int ifindex;

	while ((ifindex = quell_link_next(qnet, cb->args[0]))) {
		void *hdr = quell_dump_begin(skb, cb);

		if (!hdr || quell_dump_end(skb, hdr, quell_put_link(skb, qnet, ifindex)))
			return skb->len;
		cb->args[0] = ifindex;
	}
	return 0;
}

/* -EINVAL: an attribute is missing; -ERANGE: above LINK_MOST_BYTES_PS; -ENODEV, -ENOMEM. */
int quell_nl_link_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct net *net = genl_info_net(info);
	u64 bytes_ps;
	u32 ifindex;
	int err;

	if (!info->attrs[QUELL_A_LINK_IFINDEX] || !info->attrs[QUELL_A_LINK_RATE])
		return quell_refuse(info->extack, NULL, -EINVAL, "interface or rate is missing");
	ifindex = nla_get_u32(info->attrs[QUELL_A_LINK_IFINDEX]);
	bytes_ps = nla_get_u64(info->attrs[QUELL_A_LINK_RATE]);
	if (bytes_ps > LINK_MOST_BYTES_PS)
		return quell_refuse(info->extack, info->attrs[QUELL_A_LINK_RATE], -ERANGE,
				    "rate: at most 1 Tbit/s");
	rtnl_lock();
	err = __dev_get_by_index(net, ifindex) ?
	      quell_link_name_speed(quell_net(net), ifindex, bytes_ps) : -ENODEV;
	rtnl_unlock();
	if (err == -ENODEV)
		quell_refuse(info->extack, info->attrs[QUELL_A_LINK_IFINDEX], err,
			     "no such interface in this namespace");
	return err;
}

/*
 * Flows.  Any user of a namespace may see its flows, as with inet_diag.
 *
 * A flow has the lowest free number; a dump goes up the numbers and a further part starts after
 * the last number sent.  So flows that are released meanwhile do not matter, and as the numbers are
 * no higher than there were flows at one time, it ends however many are opened.  Flows are not
 * locked, so their values may be of different times.
 */

static const char * const quell_limit_names[] = {
	[QUELL_LIMIT_NONE]	= "nothing-sent",
	[QUELL_LIMIT_WINDOW]	= "window",
	[QUELL_LIMIT_PACING]	= "pacing",
	[QUELL_LIMIT_APP]	= "app",
	[QUELL_LIMIT_RECEIVER]	= "receiver",
};

static const char * const quell_reduction_names[] = {
	[QUELL_REDUCTION_DELAY]	= "delay",
	[QUELL_REDUCTION_MARK]	= "mark",
	[QUELL_REDUCTION_RECORD]	= "record",
	[QUELL_REDUCTION_TRIM]	= "trim",
	[QUELL_REDUCTION_SHARE]	= "share",
	[QUELL_REDUCTION_LOSS]	= "loss",
	[QUELL_REDUCTION_TAIL]	= "tail",
	[QUELL_REDUCTION_TIMEOUT]	= "timeout",
	[QUELL_REDUCTION_IDLE]	= "idle",
	[QUELL_REDUCTION_FIT]	= "fit",
	[QUELL_REDUCTION_OTHER]	= "other",
};

/* A number of a flow, read without its lock: an attribute of 4 or 8 bytes, or a counter. */
struct flow_member {
	const char	*name;	/* of a counter */
	const char	*doc;
	u16		offset;
	u8		bytes;
	u8		attr;
	bool		is_u64;	/* the attribute */
};

#define MEMBER(_attr, _name, _doc, _is_u64, field...)				\
	{ .attr = (_attr), .name = (_name), .doc = (_doc), .is_u64 = (_is_u64),	\
	  .offset = offsetof(struct quell_flow, field),				\
	  .bytes = sizeof_field(struct quell_flow, field) }
#define U32(attr, field)		MEMBER(QUELL_A_FLOW_##attr, NULL, NULL, false, field)
#define U64(attr, field)		MEMBER(QUELL_A_FLOW_##attr, NULL, NULL, true, field)
#define COUNTER(name, field, doc)	MEMBER(0, name, doc, true, field)

static const struct flow_member flow_members[] = {
	U64(LINK_RATE, link.bytes_ps),
	U64(WINDOW, now.window_bytes),
	U64(PACING_RATE, now.pacing_bytes_ps),
	U64(INFLIGHT, inflight_bytes),
	U64(RTT, now.rtt_ns),
	U64(MIN_RTT, now.min_rtt_ns),
	U64(TARGET_DELAY, now.target_ns),
	U64(REMOTE_DELAY, now.remote_ns),
	U32(CLOCK, now.clock),
	U32(HOPS, hops),
	U32(MSS, mss_bytes),
	U32(ENTROPIES, entropies),
};

/* The newest telemetry record. */
static const struct flow_member record_members[] = {
	U32(RECORD_HOP, telemetry.hop),
	U64(RECORD_RATE, telemetry.link_bytes_ps),
	U64(RECORD_QUEUE, telemetry.queue_bytes),
};

static const struct flow_member flow_counters[] = {
	COUNTER("rtt-samples", now.samples, "Round-trip times taken with nanosecond stamps."),
	COUNTER("rtt-echo", echoes,
		"Round-trip times taken from the departure the other host echoed."),
	COUNTER("records", records, "Telemetry records used."),
	COUNTER("rtt-karn", karn, "Samples given up because the segment was retransmitted."),
	COUNTER("retransmits", retransmits, "Segments retransmitted."),
	COUNTER("marked-pkts", now.marked_pkts, "Segments acknowledged as marked CE."),
	COUNTER("marked-bytes", now.marked_bytes, "Their payload, as reported to the algorithm."),
	COUNTER("segment-ring-overrun", overruns,
		"Segments with a departure that could not be recorded."),
	COUNTER("ack-ring-overrun", ack_rx_lost,
		"Receipts overwritten before TCP processed the ACK."),
	COUNTER("tail-probes", tail.probes,
		"Segments retransmitted because no ACK was received in time."),
	COUNTER("entropy-fresh", path.used[QUELL_REPS_FRESH],
		"Segments with a path entropy drawn at random."),
	COUNTER("entropy-recycled", path.used[QUELL_REPS_RECYCLED],
		"Segments with the path entropy of one that came through unmarked."),
	COUNTER("entropy-frozen", path.used[QUELL_REPS_FROZEN],
		"Segments with one of the path entropies known good before a timeout."),
	COUNTER("entropy-kept", path.kept, "Path entropies echoed unmarked, to be used again."),
	COUNTER("entropy-marked", path.marked, "Path entropies echoed marked, and given up."),
	COUNTER("trim-received", recover.trims, "Trimmed packets received."),
	COUNTER("nack-sent", recover.sent, "Trimmed packets for which a NACK was sent."),
	COUNTER("nack-received", recover.received, "NACKs received."),
	COUNTER("nack-recovered", recover.recovered,
		"NACKs of data that was then marked lost, to be retransmitted."),
};

static u64 read_member(const struct quell_flow *flow, const struct flow_member *member)
{
	const void *at = (const void *)flow + member->offset;

	switch (member->bytes) {
	case sizeof(u8):
		return READ_ONCE(*(const u8 *)at);
	case sizeof(u16):
		return READ_ONCE(*(const u16 *)at);
	case sizeof(u32):
		return READ_ONCE(*(const u32 *)at);
	default:
		return READ_ONCE(*(const u64 *)at);
	}
}

static int put_u64(struct sk_buff *skb, int attr, u64 value)
{
	return quell_put_u64(skb, attr, value, QUELL_A_FLOW_PAD);
}

static int put_members(struct sk_buff *skb, const struct quell_flow *flow,
		       const struct flow_member *members, int members_nr)
{
	int err = 0, i;

	for (i = 0; i < members_nr && !err; i++) {
		const struct flow_member *member = &members[i];
		u64 value = read_member(flow, member);

		if (member->name)
			err = quell_put_counter(skb, QUELL_A_FLOW_COUNTER, member->name,
						member->doc, value);
		else if (member->is_u64)
			err = put_u64(skb, member->attr, value);
		else
			err = quell_put_u32(skb, member->attr, value);
	}
	return err;
}

/* The newest telemetry record and TCP-INT echo; without them, no attributes. */
static int put_flow_records(struct sk_buff *skb, const struct quell_flow *flow)
{
	struct quell_tcp_int echo = {};

	if (READ_ONCE(flow->telemetry.hop) &&
	    put_members(skb, flow, record_members, ARRAY_SIZE(record_members)))
		return -EMSGSIZE;
	quell_tcp_int_unpack(READ_ONCE(flow->tcp_int.newest), &echo);
	if (!echo.echo_hop)
		return 0;
	return quell_put_u32(skb, QUELL_A_FLOW_TCP_INT_HOP, echo.echo_hop) ?:
	       put_u64(skb, QUELL_A_FLOW_TCP_INT_RATE,
		       quell_tcp_int_speed_bytes_ps(echo.echo_speed)) ?:
	       put_u64(skb, QUELL_A_FLOW_TCP_INT_AVAILABLE,
		       quell_tcp_int_available_bytes_ps(echo.echo_value)) ?:
	       put_u64(skb, QUELL_A_FLOW_TCP_INT_QUEUE,
		       quell_tcp_int_queue_bytes(echo.echo_value)) ?:
	       put_u64(skb, QUELL_A_FLOW_TCP_INT_LATENCY,
		       quell_tcp_int_echo_latency_ns(echo.echo_latency));
}

/* Whether the search, the algorithm or CUBIC governs; no attributes if it is not fitted. */
static int put_flow_adapt(struct sk_buff *skb, const struct quell_flow *flow)
{
	const char *phase = quell_adapt_phase_name(flow);
	const char *reason = quell_adapt_reason_name(flow);

	if ((phase && nla_put_string(skb, QUELL_A_FLOW_ADAPT, phase)) ||
	    (reason && nla_put_string(skb, QUELL_A_FLOW_FALLBACK, reason)))
		return -EMSGSIZE;
	return 0;
}

/* The time of each governor; that of the algorithm if the flow is not fitted. */
static int put_flow_governed(struct sk_buff *skb, const struct quell_snapshot *now)
{
	u64 now_ns = ktime_get_ns();

	return put_u64(skb, QUELL_A_FLOW_GOVERNOR_AGE,
		       quell_sub_sat_u64(now_ns, READ_ONCE(now->governor_ns))) ?:
	       put_u64(skb, QUELL_A_FLOW_ALGORITHM_TIME,
		       quell_governed_ns(now, QUELL_GOVERNOR_ALGORITHM, now_ns)) ?:
	       put_u64(skb, QUELL_A_FLOW_SEARCH_TIME,
		       quell_governed_ns(now, QUELL_GOVERNOR_SEARCH, now_ns)) ?:
	       put_u64(skb, QUELL_A_FLOW_CUBIC_TIME,
		       quell_governed_ns(now, QUELL_GOVERNOR_CUBIC, now_ns));
}

/* The core writes these without marks, adapt.c; they may be of different ACKs. */
#define adapt_seen(flow, field) data_race(READ_ONCE((flow)->adapt.field))

/* The numbers by which an algorithm is found unfit, and its limits, while CUBIC governs. */
static int put_flow_obstacle(struct sk_buff *skb, const struct quell_flow *flow)
{
	const struct quell_adapt_needs *needs = &flow->algo->core->needs;
	const struct quell_adapt seen = {
		.cubic.window_q16 = adapt_seen(flow, cubic.window_q16),
		.base_ns = adapt_seen(flow, base_ns),
		.byte_ns_q16 = adapt_seen(flow, byte_ns_q16),
		.stand_ns = adapt_seen(flow, stand_ns),
		.noise_ns = adapt_seen(flow, noise_ns),
	};

	if (adapt_seen(flow, phase) != QUELL_ADAPT_FALLBACK ||
	    needs->signal == QUELL_ADAPT_RECORDS || !seen.base_ns)
		return 0;
	return put_u64(skb, QUELL_A_FLOW_BASE_RTT, seen.base_ns) ?:
	       put_u64(skb, QUELL_A_FLOW_LONGEST_RTT, needs->longest_ns) ?:
	       put_u64(skb, QUELL_A_FLOW_STANDING_RTT, quell_adapt_algo_rtt_ns(&seen)) ?:
	       put_u64(skb, QUELL_A_FLOW_FIT_TARGET, quell_adapt_target_ns(&seen)) ?:
	       put_u64(skb, QUELL_A_FLOW_NOISE, seen.noise_ns) ?:
	       put_u64(skb, QUELL_A_FLOW_PATH_RATE, quell_adapt_share_bytes_ps(&seen)) ?:
	       put_u64(skb, QUELL_A_FLOW_LEAST_RATE, needs->slowest_bytes_ps);
}

/* Reason of the last window reduction; no attributes if there was no reduction. */
static int put_flow_reduction(struct sk_buff *skb, const struct quell_flow *flow)
{
	/* Where words have 32 bits a half may be of the cut before. */
	u64 reduction = READ_ONCE(flow->reduction), rtt, age;
	u32 why = reduction & (BIT_ULL(QUELL_REDUCTION_CAUSE_BITS) - 1);

	if (!why)
		return 0;
	rtt = reduction >> QUELL_REDUCTION_CAUSE_BITS & (BIT_ULL(QUELL_REDUCTION_RTT_BITS) - 1);
	age = (ktime_get_ns() >> QUELL_REDUCTION_TIME_SHIFT) -
	      (reduction >> (QUELL_REDUCTION_CAUSE_BITS + QUELL_REDUCTION_RTT_BITS));
	age &= BIT_ULL(QUELL_REDUCTION_TIME_BITS) - 1;
	if (nla_put_string(skb, QUELL_A_FLOW_REDUCTION, quell_reduction_names[why]) ||
	    put_u64(skb, QUELL_A_FLOW_REDUCTION_AGE, age << QUELL_REDUCTION_TIME_SHIFT) ||
	    (rtt && put_u64(skb, QUELL_A_FLOW_REDUCTION_RTT, rtt << QUELL_REDUCTION_RTT_SHIFT)))
		return -EMSGSIZE;
	return 0;
}

static __rare int put_flow(struct sk_buff *skb, struct netlink_callback *cb,
			   struct quell_flow *flow)
{
	void *hdr = quell_dump_begin(skb, cb);

	if (!hdr)
		return -EMSGSIZE;
	return quell_dump_end(skb, hdr,
			      quell_put_flow_identity(skb, flow) ?:
			      put_members(skb, flow, flow_members, ARRAY_SIZE(flow_members)) ?:
			      nla_put_string(skb, QUELL_A_FLOW_LIMITED_BY,
					     quell_limit_names[READ_ONCE(flow->now.limit)]) ?:
			      nla_put_string(skb, QUELL_A_FLOW_OPTION,
					     quell_option_name(READ_ONCE(flow->option))) ?:
			      put_flow_records(skb, flow) ?:
			      put_flow_adapt(skb, flow) ?: put_flow_governed(skb, &flow->now) ?:
			      put_flow_obstacle(skb, flow) ?: put_flow_reduction(skb, flow) ?:
			      (flow->dasr ? flow->algo->dasr->put_flow(skb, flow) : 0) ?:
			      put_members(skb, flow, flow_counters, ARRAY_SIZE(flow_counters)));
}

/* Flows that a dump visits in one RCU read section. */
#define FLOWS_AT_ONCE	64

/*
 * Put the next flows, from number cb->args[0] on, which becomes that of the first that is left;
 * false at the end, or if the message is full.
 */
static bool put_some_flows(struct sk_buff *skb, struct netlink_callback *cb,
			   const struct nlattr *cc)
{
	struct quell_net *qnet = quell_net(sock_net(skb->sk));
	unsigned long id = cb->args[0];
	struct quell_flow *flow;
	bool is_full = false;
	int left;

	rcu_read_lock();
	flow = xa_find(&qnet->flows, &id, ULONG_MAX, XA_PRESENT);
	for (left = FLOWS_AT_ONCE; flow && left; left--) {
		is_full = (!cc || !nla_strcmp(cc, flow->algo->core->name)) &&
			  put_flow(skb, cb, flow);
		if (is_full)
			break;
		flow = xa_find_after(&qnet->flows, &id, ULONG_MAX, XA_PRESENT);
	}
	cb->args[0] = flow ? id : ULONG_MAX;
	rcu_read_unlock();
	return flow && !is_full;
}

/* Replies are bigger than a dump's usual buffer. */
int quell_nl_dump_start(struct netlink_callback *cb)
{
	cb->min_dump_alloc = QUELL_REPLY_BYTES;
	return 0;
}

/* Flows say how many senders there are. */
int quell_nl_flow_get_start(struct netlink_callback *cb)
{
	quell_nl_senders_start(cb);
	return quell_nl_dump_start(cb);
}

/*
 * args[0]: number of the next flow.  No lock is held but RCU's, for a few flows at a time: the path
 * of packets does not wait for a dump, nor does the end of a grace period wait for more than those.
 */
int quell_nl_flow_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct nlattr *cc = nlmsg_find_attr(cb->nlh, GENL_HDRLEN, QUELL_A_FLOW_CC);

	while (put_some_flows(skb, cb, cc))
		cond_resched();
	return (unsigned long)cb->args[0] != ULONG_MAX ? skb->len : 0;
}

/* Room for the name of an algorithm, and for a parameter that changed. */
#define CC_NAME_BYTES	32
#define CC_PARAM_BYTES	96

static const char * const unit_names[] = {
	[QUELL_UNIT_NONE]	= "",
	[QUELL_UNIT_NS]		= " ns",
	[QUELL_UNIT_BYTES]	= " bytes",
	[QUELL_UNIT_BYTES_PS]	= " bytes/s",
	[QUELL_UNIT_Q16]	= " /65536",
	[QUELL_UNIT_PKTS]	= " packets",
	[QUELL_UNIT_PKTS_Q16]	= " /65536 packets",
	[QUELL_UNIT_BOOL]	= "",
};

/* Parameters and counters of an algorithm in a namespace. */

/* By the name attribute of a request; quell_mutex is held. */
static const struct quell_algo *genl_algo(const struct genl_info *info)
{
	const struct nlattr *attr = info->attrs[QUELL_A_CC_NAME];
	int i;

	lockdep_assert_held(&quell_mutex);
	if (!attr)
		return ERR_PTR(quell_refuse(info->extack, NULL, -EINVAL,
					    "name of the algorithm is missing"));
	for (i = 0; i < QUELL_ALGOS_MAX; i++)
		if (quell_algos[i] && !nla_strcmp(attr, quell_algos[i]->core->name))
			return quell_algos[i];
	return ERR_PTR(quell_refuse(info->extack, attr, -ENOENT, "algorithm %s is not loaded",
				    (char *)nla_data(attr)));
}

/* A parameter; a notification is without its range and text (@brief), which cc-get has. */
static int put_param(struct sk_buff *skb, const struct quell_param_desc *desc,
		     u64 value, bool brief)
{
	struct nlattr *nest = nla_nest_start(skb, QUELL_A_CC_PARAM);

	if (!nest ||
	    nla_put_string(skb, QUELL_A_PARAM_NAME, desc->name) ||
	    quell_put_u64(skb, QUELL_A_PARAM_VALUE, value, QUELL_A_PARAM_PAD) ||
	    quell_put_u64(skb, QUELL_A_PARAM_DEFAULT, desc->def, QUELL_A_PARAM_PAD) ||
	    quell_put_u32(skb, QUELL_A_PARAM_UNIT, desc->unit))
		return -EMSGSIZE;
	if (!brief &&
	    (quell_put_u64(skb, QUELL_A_PARAM_RANGE_MIN, desc->min, QUELL_A_PARAM_PAD) ||
	     quell_put_u64(skb, QUELL_A_PARAM_RANGE_MAX, desc->max, QUELL_A_PARAM_PAD) ||
	     nla_put_string(skb, QUELL_A_PARAM_DOC, desc->doc)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* Name, sockets, every parameter; quell.ko as NULL has no message.  quell_mutex is held. */
static __rare int put_cc(struct sk_buff *skb, const struct quell_net *qnet,
			 const struct quell_algo *algo)
{
	const struct quell_params_block *block;
	const struct quell_algo_net *an;
	u32 i;

	if (!algo)
		return -ENODATA;
	an = &qnet->algos[algo->slot];
	block = rcu_dereference_protected(an->params, lockdep_is_held(&quell_mutex));
	if (nla_put_string(skb, QUELL_A_CC_NAME, algo->core->name) ||
	    quell_put_u32(skb, QUELL_A_CC_FLOWS, atomic_read(&qnet->algo_socks[algo->slot])))
		return -EMSGSIZE;
	for (i = 0; i < algo->core->params_nr; i++) {
		const struct quell_param_desc *desc = &algo->core->params[i];
		const u64 *value = (void *)block->data + desc->offset;

		if (put_param(skb, desc, *value, false))
			return -EMSGSIZE;
	}
	return 0;
}

int quell_nl_cc_get_doit(struct sk_buff *request, struct genl_info *info)
{
	struct quell_net *qnet = quell_net(genl_info_net(info));
	const struct quell_algo *algo;
	struct sk_buff *skb;
	int err = -EMSGSIZE;
	void *hdr;

	skb = genlmsg_new(QUELL_REPLY_BYTES, GFP_KERNEL);
	if (!skb)
		return -ENOMEM;
	hdr = genlmsg_put_reply(skb, info, &quell_genl_family, 0, QUELL_CMD_CC_GET);
	if (!hdr)
		goto free;
	mutex_lock(&quell_mutex);
	algo = genl_algo(info);
	err = IS_ERR(algo) ? PTR_ERR(algo) : put_cc(skb, qnet, algo);
	mutex_unlock(&quell_mutex);
	if (err)
		goto free;
	genlmsg_end(skb, hdr);
	return genlmsg_reply(skb, info);
free:
	nlmsg_free(skb);
	return err;
}

/*
 * A message by @put for quell.ko, as NULL, and for each algorithm, unless it returns -ENODATA;
 * cb->args[0] is the next one.
 * As all dumps here it returns 0 with its last message, which then ends the dump: nobody holds the
 * module by one that he does not read.
 */
static int dump_algos(struct sk_buff *skb, struct netlink_callback *cb,
		      int (*put)(struct sk_buff *skb, const struct quell_net *qnet,
				 const struct quell_algo *algo))
{
	const struct quell_net *qnet = quell_net(sock_net(skb->sk));
	unsigned int prev_seq;
	int err = 0;
	long index;
	void *hdr;

	mutex_lock(&quell_mutex);
	cb->seq = quell_algos_gen;
	for (index = cb->args[0]; index <= QUELL_ALGOS_MAX; index++) {
		const struct quell_algo *algo = index ? quell_algos[index - 1] : NULL;

		if (index && !algo)
			continue;
		prev_seq = cb->prev_seq;
		hdr = quell_dump_begin(skb, cb);
		err = hdr ? quell_dump_end(skb, hdr, put(skb, qnet, algo)) : -EMSGSIZE;
		/* The message that would have said that the list has changed is not sent. */
		if (err == -ENODATA)
			cb->prev_seq = prev_seq;
		else if (err)
			break;
	}
	mutex_unlock(&quell_mutex);
	cb->args[0] = index;
	return index <= QUELL_ALGOS_MAX ? skb->len : 0;
}

int quell_nl_cc_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_algos(skb, cb, put_cc);
}

/*
 * Stores one parameter of a request in @block: its value, or its default for a
 * reset.
 */
static int apply_param(const struct quell_algo *algo, const struct nlattr *nest,
		       bool reset, struct quell_params_block *block,
		       struct netlink_ext_ack *extack)
{
	const struct quell_param_desc *desc = algo->core->params;
	struct nlattr *attrs[QUELL_A_PARAM_VALUE + 1];
	u32 left = algo->core->params_nr;
	u64 value;
	int err;

	/* Attributes of replies alone are behind the value, and are refused. */
	err = nla_parse_nested(attrs, QUELL_A_PARAM_VALUE, nest, quell_param_nl_policy, extack);
	if (err)
		return err;
	if (!attrs[QUELL_A_PARAM_NAME])
		return quell_refuse(extack, nest, -EINVAL, "name of the parameter is missing");
	for (; left && nla_strcmp(attrs[QUELL_A_PARAM_NAME], desc->name); left--)
		desc++;
	if (!left)
		return quell_refuse(extack, attrs[QUELL_A_PARAM_NAME], -ENOENT,
				    "%s has no parameter %s", algo->core->name,
				    (char *)nla_data(attrs[QUELL_A_PARAM_NAME]));
	if (!reset && !attrs[QUELL_A_PARAM_VALUE])
		return quell_refuse(extack, nest, -EINVAL, "%s: value is missing", desc->name);
	value = reset ? desc->def : nla_get_u64(attrs[QUELL_A_PARAM_VALUE]);
	if (value < desc->min || value > desc->max)
		return quell_refuse(extack, attrs[QUELL_A_PARAM_VALUE], -ERANGE,
				    "%s: allowed are %llu..%llu%s", desc->name,
				    desc->min, desc->max, unit_names[desc->unit]);
	*(u64 *)((void *)block->data + desc->offset) = value;
	return 0;
}

/* Stores all parameters that a request names; returns their number or an error. */
static int apply_params(const struct quell_algo *algo, struct genl_info *info,
			bool reset, struct quell_params_block *block)
{
	const struct nlattr *attr;
	int params_nr = 0;
	int rem, err;

	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(attr) != QUELL_A_CC_PARAM)
			continue;
		err = apply_param(algo, attr, reset, block, info->extack);
		if (err)
			return err;
		params_nr++;
	}
	return params_nr;
}

struct cc_ntf {
	const struct quell_algo			*algo;
	const struct quell_params_block		*old;
	const struct quell_params_block		*new;
};

static int put_cc_ntf(struct sk_buff *skb, const void *about)
{
	const struct cc_ntf *change = about;
	int err = -ENODATA;
	u32 i;

	if (nla_put_string(skb, QUELL_A_CC_NAME, change->algo->core->name))
		return -EMSGSIZE;
	for (i = 0; i < change->algo->core->params_nr; i++) {
		const struct quell_param_desc *desc = &change->algo->core->params[i];
		u64 value = *(const u64 *)((const void *)change->new->data + desc->offset);

		if (value == *(const u64 *)((const void *)change->old->data + desc->offset))
			continue;
		if (put_param(skb, desc, value, true))
			return -EMSGSIZE;
		err = 0;
	}
	return err;
}

/*
 * Publishes a block, of which the values are in range, and notifies listeners of the changes;
 * quell_mutex is held.
 */
static void cc_publish(struct quell_net *qnet, const struct quell_algo *algo,
		       struct quell_params_block *block)
{
	struct quell_algo_net *an = &qnet->algos[algo->slot];
	struct cc_ntf change = { .algo = algo, .new = block };
	struct quell_params_block *old;

	if (algo->core->params_derive)
		algo->core->params_derive(block->data);
	old = rcu_replace_pointer(an->params, block, lockdep_is_held(&quell_mutex));
	change.old = old;
	quell_ntf_send(qnet, QUELL_CMD_CC_NTF,
		       CC_NAME_BYTES + algo->core->params_nr * CC_PARAM_BYTES, put_cc_ntf,
		       &change);
	kfree_rcu(old, rcu);
}

static __rare int cc_change(struct genl_info *info, bool reset)
{
	struct quell_net *qnet = quell_net(genl_info_net(info));
	bool all = reset && !info->attrs[QUELL_A_CC_PARAM];
	struct quell_params_block *block = NULL;
	const struct quell_algo *algo;
	int err = -ENOMEM;

	mutex_lock(&quell_mutex);
	algo = genl_algo(info);
	if (IS_ERR(algo))
		err = PTR_ERR(algo);
	else
		block = quell_params_copy(all ? NULL : &qnet->algos[algo->slot], algo);
	if (block)
		err = apply_params(algo, info, reset, block);
	if (!err && !all)
		err = quell_refuse(info->extack, NULL, -EINVAL, "no parameter given");
	if (err < 0)
		kfree(block);
	else
		cc_publish(qnet, algo, block);
	mutex_unlock(&quell_mutex);
	if (err >= 0 && quell_signal_needs_hooks(qnet))
		quell_hooks_settle(qnet);
	return min(err, 0);
}

int quell_nl_cc_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	return cc_change(info, false);
}

int quell_nl_cc_reset_doit(struct sk_buff *skb, struct genl_info *info)
{
	return cc_change(info, true);
}

static int put_stat(struct sk_buff *skb, const char *name,
		    const struct quell_counter_desc *counters, u32 counters_nr,
		    const void __percpu *block)
{
	u32 i;

	if (nla_put_string(skb, QUELL_A_STAT_NAME, name))
		return -EMSGSIZE;
	for (i = 0; i < counters_nr; i++)
		if (quell_put_counter(skb, QUELL_A_STAT_COUNTER, counters[i].name,
				      counters[i].doc,
				      quell_percpu_sum(block, counters[i].offset)))
			return -EMSGSIZE;
	return 0;
}

/* Whether CUBIC may govern flows of an algorithm for a reason. */
static bool has_reason(const struct quell_core *core, enum quell_adapt_reason reason)
{
	if (reason == QUELL_ADAPT_NO_MARKS)
		return core->needs.signal == QUELL_ADAPT_MARKS;
	if (reason == QUELL_ADAPT_NO_RECORDS)
		return core->needs.signal == QUELL_ADAPT_RECORDS;
	if (reason == QUELL_ADAPT_EARLY_LOSS || reason == QUELL_ADAPT_DELAY_STAYS)
		return core->needs.signal == QUELL_ADAPT_DELAY;
	return reason != QUELL_ADAPT_FITS && core->needs.signal != QUELL_ADAPT_RECORDS;
}

/* Times that CUBIC took over for a reason, and for how long. */
static int put_reason(struct sk_buff *skb, const struct quell_governed_sum *sum,
		      enum quell_adapt_reason reason)
{
	u32 governor = QUELL_GOVERNOR_CUBIC + reason;
	char name[32];

	snprintf(name, sizeof(name), "cubic-%s", quell_adapt_reasons[reason]);
	if (quell_put_counter(skb, QUELL_A_STAT_COUNTER, name,
			      "Times that CUBIC took over a flow for this reason.",
			      sum->begun[governor]))
		return -EMSGSIZE;
	snprintf(name, sizeof(name), "cubic-%s-ms", quell_adapt_reasons[reason]);
	return quell_put_counter(skb, QUELL_A_STAT_COUNTER, name,
				 "Time for which it governed for this reason, all flows, ms.",
				 sum->ms[governor]);
}

/* Governors of the flows of an algorithm, and for how long each. */
static __rare int put_governed(struct sk_buff *skb, const struct quell_algo *algo,
			       struct quell_governed *governed)
{
	struct quell_governed_sum sum;
	u64 cubic_ms = 0;
	int reason;

	if (!governed)
		return 0;
	quell_governed_read(governed, &sum);
	for (reason = 0; reason < QUELL_ADAPT_REASONS; reason++)
		cubic_ms += sum.ms[QUELL_GOVERNOR_CUBIC + reason];
	if (quell_put_counter(skb, QUELL_A_STAT_COUNTER, "algorithm-ms",
			      "Time for which the algorithm governed windows, all flows, ms.",
			      sum.ms[QUELL_GOVERNOR_ALGORITHM]) ||
	    quell_put_counter(skb, QUELL_A_STAT_COUNTER, "search-ms",
			      "Time for which the search governed windows, all flows, ms.",
			      sum.ms[QUELL_GOVERNOR_SEARCH]) ||
	    quell_put_counter(skb, QUELL_A_STAT_COUNTER, "cubic-ms",
			      "Time for which CUBIC governed windows, all flows, ms.", cubic_ms))
		return -EMSGSIZE;
	for (reason = 0; reason < QUELL_ADAPT_REASONS; reason++)
		if (has_reason(algo->core, reason) && put_reason(skb, &sum, reason))
			return -EMSGSIZE;
	return 0;
}

static int put_stats(struct sk_buff *skb, const struct quell_net *qnet,
		     const struct quell_algo *algo)
{
	if (!algo)
		return put_stat(skb, "quell", quell_counter_descs, QUELL_N_MAX, qnet->counters);
	/* The signal plane has parameters like an algorithm, but no flows. */
	if (!algo->core->init)
		return -ENODATA;
	if (put_stat(skb, algo->core->name, algo->core->counters, algo->core->counters_nr,
		     qnet->algos[algo->slot].stats))
		return -EMSGSIZE;
	return put_governed(skb, algo, qnet->algos[algo->slot].governed);
}

int quell_nl_stat_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_algos(skb, cb, put_stats);
}

/* An operation a command: its dump is behind its do in quell_nl_ops, and has the policy of that. */
static struct genl_ops genl_ops_merged[ARRAY_SIZE(quell_nl_ops)] __ro_after_init;

static u8 __init merge_ops(void)
{
	struct genl_ops *op = genl_ops_merged;
	int i;

	*op = quell_nl_ops[0];
	for (i = 1; i < ARRAY_SIZE(quell_nl_ops); i++) {
		const struct genl_ops *next = &quell_nl_ops[i];

		if (next->cmd == op->cmd) {
			op->start = next->start;
			op->dumpit = next->dumpit;
		} else {
			*++op = *next;
		}
	}
	return op - genl_ops_merged + 1;
}

int __init quell_genl_init(void)
{
	int err;

	quell_genl_family.module = THIS_MODULE;
	quell_genl_family.ops = genl_ops_merged;
	quell_genl_family.n_ops = merge_ops();
	err = genl_register_family(&quell_genl_family);
	if (!err)
		quell_ntf_start();
	return err;
}

void quell_genl_exit(void)
{
	quell_ntf_stop();
	genl_unregister_family(&quell_genl_family);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Generic netlink: flows.  Any user of a namespace may see its flows, as with
 * inet_diag.
 *
 * A flow has the lowest free number; a dump goes up the numbers and a further part starts after
 * the last number sent.  So flows that are released meanwhile do not matter, and as the numbers are
 * no higher than there were flows at one time, it ends however many are opened.  Flows are not
 * locked, so their values may be of different times.
 */
#include <linux/socket.h>
#include <net/genetlink.h>
#include <net/sock.h>
#include "genl/genl.h"
#include "signal/dasr.h"
#include "tcp/tcp.h"

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

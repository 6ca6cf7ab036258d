// SPDX-License-Identifier: GPL-2.0
/*
 * Generic netlink: flows.  Any user of a namespace may see its flows, as with
 * inet_diag.
 *
 * Flows are numbered as they come; a dump goes up the numbers and a further
 * part starts after the last number sent, so flows that are released meanwhile do
 * not matter.  Flows are not locked, so their values may be of different times.
 */
#include <linux/socket.h>
#include <net/genetlink.h>
#include <net/sock.h>
#include "flow/flow.h"
#include "genl/genl.h"
#include "netns/net.h"
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

static int put_u64(struct sk_buff *skb, int attr, u64 value)
{
	return nla_put_u64_64bit(skb, attr, value, QUELL_A_FLOW_PAD);
}

static int put_flow_state(struct sk_buff *skb, const struct quell_flow *flow)
{
	const struct quell_snapshot *now = &flow->now;

	if (put_u64(skb, QUELL_A_FLOW_LINK_RATE, READ_ONCE(flow->link.bytes_ps)) ||
	    put_u64(skb, QUELL_A_FLOW_WINDOW, READ_ONCE(now->window_bytes)) ||
	    put_u64(skb, QUELL_A_FLOW_PACING_RATE, READ_ONCE(now->pacing_bytes_ps)) ||
	    put_u64(skb, QUELL_A_FLOW_INFLIGHT, READ_ONCE(flow->inflight_bytes)) ||
	    put_u64(skb, QUELL_A_FLOW_RTT, READ_ONCE(now->rtt_ns)) ||
	    put_u64(skb, QUELL_A_FLOW_MIN_RTT, READ_ONCE(now->min_rtt_ns)) ||
	    put_u64(skb, QUELL_A_FLOW_TARGET_DELAY, READ_ONCE(now->target_ns)) ||
	    nla_put_u32(skb, QUELL_A_FLOW_CLOCK, READ_ONCE(flow->now.clock)) ||
	    nla_put_u32(skb, QUELL_A_FLOW_HOPS, READ_ONCE(flow->hops)) ||
	    nla_put_u32(skb, QUELL_A_FLOW_MSS, READ_ONCE(flow->mss_bytes)) ||
	    nla_put_string(skb, QUELL_A_FLOW_LIMITED_BY,
			   quell_limit_names[READ_ONCE(flow->now.limit)]) ||
	    nla_put_string(skb, QUELL_A_FLOW_OPTION,
			   quell_option_name(READ_ONCE(flow->option))) ||
	    put_u64(skb, QUELL_A_FLOW_REMOTE_DELAY, READ_ONCE(flow->now.remote_ns)) ||
	    nla_put_u32(skb, QUELL_A_FLOW_ENTROPIES, READ_ONCE(flow->entropies)))
		return -EMSGSIZE;
	return 0;
}

/* The newest telemetry record; without one, no attributes. */
static int put_flow_telemetry(struct sk_buff *skb, const struct quell_telemetry *record)
{
	u8 hop = READ_ONCE(record->hop);

	if (hop && (nla_put_u32(skb, QUELL_A_FLOW_RECORD_HOP, hop) ||
		    put_u64(skb, QUELL_A_FLOW_RECORD_RATE, READ_ONCE(record->link_bytes_ps)) ||
		    put_u64(skb, QUELL_A_FLOW_RECORD_QUEUE, READ_ONCE(record->queue_bytes))))
		return -EMSGSIZE;
	return 0;
}

/* The newest TCP-INT echo; without one, no attributes. */
static int put_flow_tcp_int(struct sk_buff *skb, u32 newest)
{
	struct quell_tcp_int told = {};

	quell_tcp_int_unpack(newest, &told);
	if (!told.echo_hop)
		return 0;
	if (nla_put_u32(skb, QUELL_A_FLOW_TCP_INT_HOP, told.echo_hop) ||
	    put_u64(skb, QUELL_A_FLOW_TCP_INT_RATE,
		    quell_tcp_int_speed_bytes_ps(told.echo_speed)) ||
	    put_u64(skb, QUELL_A_FLOW_TCP_INT_AVAILABLE,
		    quell_tcp_int_available_bytes_ps(told.echo_value)) ||
	    put_u64(skb, QUELL_A_FLOW_TCP_INT_QUEUE,
		    quell_tcp_int_queue_bytes(told.echo_value)) ||
	    put_u64(skb, QUELL_A_FLOW_TCP_INT_LATENCY,
		    quell_tcp_int_echo_latency_ns(told.echo_latency)))
		return -EMSGSIZE;
	return 0;
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

/* What governed the window, and for how long; the algorithm if the flow is not fitted. */
static int put_flow_governed(struct sk_buff *skb, const struct quell_snapshot *now)
{
	u64 now_ns = ktime_get_ns();

	if (put_u64(skb, QUELL_A_FLOW_GOVERNOR_AGE,
		    quell_sub_sat_u64(now_ns, READ_ONCE(now->governor_ns))) ||
	    put_u64(skb, QUELL_A_FLOW_ALGORITHM_TIME,
		    quell_governed_ns(now, QUELL_GOVERNOR_ALGORITHM, now_ns)) ||
	    put_u64(skb, QUELL_A_FLOW_SEARCH_TIME,
		    quell_governed_ns(now, QUELL_GOVERNOR_SEARCH, now_ns)) ||
	    put_u64(skb, QUELL_A_FLOW_CUBIC_TIME,
		    quell_governed_ns(now, QUELL_GOVERNOR_CUBIC, now_ns)))
		return -EMSGSIZE;
	return 0;
}

/* The core writes these without marks, adapt.c; they may be of different ACKs. */
#define adapt_seen(flow, field) data_race(READ_ONCE((flow)->adapt.field))

/* What the obstacles to an algorithm are made of, beside its limits, while CUBIC governs. */
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
	if (put_u64(skb, QUELL_A_FLOW_BASE_RTT, seen.base_ns) ||
	    put_u64(skb, QUELL_A_FLOW_LONGEST_RTT, needs->longest_ns) ||
	    put_u64(skb, QUELL_A_FLOW_STANDING_RTT, quell_adapt_algo_rtt_ns(&seen)) ||
	    put_u64(skb, QUELL_A_FLOW_FIT_TARGET, quell_adapt_target_ns(&seen)) ||
	    put_u64(skb, QUELL_A_FLOW_NOISE, seen.noise_ns) ||
	    put_u64(skb, QUELL_A_FLOW_PATH_RATE, quell_adapt_share_bytes_ps(&seen)) ||
	    put_u64(skb, QUELL_A_FLOW_LEAST_RATE, needs->slowest_bytes_ps))
		return -EMSGSIZE;
	return 0;
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

static int put_flow_counters(struct sk_buff *skb, const struct quell_flow *flow)
{
	const struct quell_recover *recover = &flow->recover;
	const struct quell_path *path = &flow->path;
	const struct {
		const char	*name;
		const char	*doc;
		u64		value;
	} counters[] = {
		{ "rtt-samples", "Round-trip times taken with nanosecond stamps.",
		  READ_ONCE(flow->now.samples) },
		{ "rtt-echo", "Round-trip times taken from the departure the other host echoed.",
		  READ_ONCE(flow->echoes) },
		{ "records", "Telemetry records taken.",
		  READ_ONCE(flow->records) },
		{ "rtt-karn", "Samples given up because the segment was retransmitted.",
		  READ_ONCE(flow->karn) },
		{ "retransmits", "Segments sent again.",
		  READ_ONCE(flow->retransmits) },
		{ "marked-pkts", "Segments acknowledged as marked CE.",
		  READ_ONCE(flow->now.marked_pkts) },
		{ "marked-bytes", "Their payload, as the algorithm was told.",
		  READ_ONCE(flow->now.marked_bytes) },
		{ "segment-ring-overrun",
		  "Segments whose departure found no room to be recorded.",
		  READ_ONCE(flow->overruns) },
		{ "ack-ring-overrun",
		  "Receipts overwritten before TCP processed the ACK.",
		  READ_ONCE(flow->ack_rx_lost) },
		{ "tail-probes",
		  "Segments sent again because nothing was acknowledged in time.",
		  READ_ONCE(flow->tail.probes) },
		{ "entropy-fresh", "Segments with a path entropy drawn at random.",
		  READ_ONCE(path->used[QUELL_REPS_FRESH]) },
		{ "entropy-recycled",
		  "Segments with the path entropy of one that came through unmarked.",
		  READ_ONCE(path->used[QUELL_REPS_RECYCLED]) },
		{ "entropy-frozen",
		  "Segments with one of the path entropies known good before a timeout.",
		  READ_ONCE(path->used[QUELL_REPS_FROZEN]) },
		{ "entropy-kept", "Path entropies echoed unmarked, to be used again.",
		  READ_ONCE(path->kept) },
		{ "entropy-marked", "Path entropies echoed marked, and given up.",
		  READ_ONCE(path->marked) },
		{ "trim-received", "Trimmed packets received.",
		  READ_ONCE(recover->trims) },
		{ "nack-sent", "Trimmed packets answered with a NACK.",
		  READ_ONCE(recover->sent) },
		{ "nack-received", "NACKs received.",
		  READ_ONCE(recover->received) },
		{ "nack-recovered", "NACKs whose data was marked lost, to be sent again.",
		  READ_ONCE(recover->recovered) },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(counters); i++)
		if (quell_put_counter(skb, QUELL_A_FLOW_COUNTER, counters[i].name,
				      counters[i].doc, counters[i].value))
			return -EMSGSIZE;
	return 0;
}

static int put_flow(struct sk_buff *skb, struct netlink_callback *cb, struct quell_flow *flow)
{
	void *hdr = quell_dump_begin(skb, cb);

	if (!hdr)
		return -EMSGSIZE;
	return quell_dump_end(skb, hdr,
			      quell_put_flow_identity(skb, flow) ?: put_flow_state(skb, flow) ?:
			      put_flow_telemetry(skb, &flow->telemetry) ?:
			      put_flow_tcp_int(skb, READ_ONCE(flow->tcp_int.newest)) ?:
			      put_flow_adapt(skb, flow) ?: put_flow_governed(skb, &flow->now) ?:
			      put_flow_obstacle(skb, flow) ?: put_flow_reduction(skb, flow) ?:
			      quell_put_flow_dasr(skb, flow) ?: put_flow_counters(skb, flow));
}

/* How many flows a dump looks at before others have a turn, such as the end of a grace period. */
#define FLOWS_AT_ONCE	64

/*
 * Put the next flows, from number cb->args[0] on, which becomes that of the first that is left;
 * false if none is left or the message is full.
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

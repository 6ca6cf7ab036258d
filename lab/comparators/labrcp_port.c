// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labrcp: qdisc "labrcp", a switch's port that computes RCP's rate (rcp_port.h).
 *
 * One queue, in order, with a limit in bytes.  Bytes for the port are counted at enqueue,
 * dropped or not.  C is the speed of the device.  A packet with room for a telemetry record has in
 * it:
 *
 *	link rate	the least R of the ports so far
 *	queue		the newest round-trip time of the flow, by its host, ns; 0 not known
 *
 * Both have 12 bits of fraction and are rounded down: the rate by 0.025 % or 15625 bytes/s, the
 * time by 0.025 % or 1 ns, whichever is more, at most.  The first port, a host's own, writes the
 * time; a packet is at it as long as it belongs to a socket.
 */
#include <linux/ethtool.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/tcp.h>
#include <net/checksum.h>
#include <net/ip.h>
#include <net/pkt_sched.h>
#include <quell/option.h>
#include <quell/quell.h>

#include "flow/flow.h"
#include "labnic.h"
#include "labrcp.h"
#include "rcp_port.h"

#define LABRCP_OPTIONS_MAX_BYTES	40
/* Number of the hop in a record: not 0, which is an empty one. */
#define LABRCP_HOP			1

/* The port. */
struct labrcp_sched {
	struct rcp_port_params	params;	/* parameters of the equation */
	struct rcp_port		port;	/* its state */
	u32			limit_bytes;	/* of the queue */
	u64			wire_bytes;	/* bytes queued, as on the wire */
};

/* Bytes of a packet on the wire; of one that the NIC will cut, those of its parts. */
static u32 labrcp_wire_bytes(const struct sk_buff *skb)
{
	u32 pkts = skb_is_gso(skb) ? max_t(u32, skb_shinfo(skb)->gso_segs, 1) : 1;

	return max_t(u32, qdisc_pkt_len(skb), LABNIC_FRAME_MIN_BYTES) +
	       pkts * LABNIC_WIRE_OVERHEAD_BYTES;
}

/* Before each packet that comes or leaves. */
static void labrcp_advance(struct Qdisc *sch)
{
	struct labrcp_sched *q = qdisc_priv(sch);

	rcp_port_advance(&q->port, &q->params, ktime_get_ns(), q->wire_bytes);
}

static int labrcp_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct labrcp_sched *q = qdisc_priv(sch);

	labrcp_advance(sch);
	q->port.in_bytes += labrcp_wire_bytes(skb);
	if (sch->qstats.backlog + qdisc_pkt_len(skb) > q->limit_bytes)
		return qdisc_drop(skb, sch, to_free);
	q->wire_bytes += labrcp_wire_bytes(skb);
	return qdisc_enqueue_tail(skb, sch);
}

/* Offset of the TCP header of a packet; 0: no TCP, or a fragment. */
static u32 labrcp_tcp_at(const struct sk_buff *skb)
{
	u32 at = skb_network_offset(skb);

	if (skb->protocol == htons(ETH_P_IP) && ip_hdr(skb)->protocol == IPPROTO_TCP &&
	    !ip_is_fragment(ip_hdr(skb)))
		return at + ip_hdrlen(skb);
	if (skb->protocol == htons(ETH_P_IPV6) && ipv6_hdr(skb)->nexthdr == IPPROTO_TCP)
		return at + sizeof(struct ipv6hdr);
	return 0;
}

/* Offset of the telemetry record of a TCP segment; 0: no record. */
static u32 labrcp_record_at(const struct sk_buff *skb, u32 tcp_at)
{
	u32 at, in_option, bytes, stated = 0;
	u8 buf[LABRCP_OPTIONS_MAX_BYTES];
	struct tcphdr header;
	const struct tcphdr *th;
	const u8 *options;

	th = skb_header_pointer(skb, tcp_at, sizeof(header), &header);
	if (!th || th->syn || th->doff <= 5)
		return 0;
	bytes = th->doff * 4 - sizeof(header);
	options = skb_header_pointer(skb, tcp_at + sizeof(header), bytes, buf);
	if (!options)
		return 0;
	at = quell_opt_find(options, bytes, &stated);
	if (at == bytes)
		return 0;
	in_option = quell_opt_telemetry_at(options + at, stated);
	return in_option ? tcp_at + sizeof(header) + at + in_option : 0;
}

/* Replace bytes of a segment, and update its checksum; one to be computed needs no update. */
static void labrcp_replace(struct sk_buff *skb, u32 tcp_at, u32 at, const u8 *to)
{
	struct tcphdr *th = (struct tcphdr *)(skb->data + tcp_at);
	__wsum before = csum_partial(skb->data + at, QUELL_TELEMETRY_BYTES, 0);
	__wsum after = csum_partial(to, QUELL_TELEMETRY_BYTES, 0);

	memcpy(skb->data + at, to, QUELL_TELEMETRY_BYTES);
	if (skb->ip_summed == CHECKSUM_PARTIAL)
		return;
	before = csum_shift(before, at - tcp_at);
	after = csum_shift(after, at - tcp_at);
	csum_replace_by_diff(&th->check, csum_sub(after, before));
}

/* The request of a host: the device's speed. */
static void labrcp_request_rate(const struct labrcp_sched *q, const struct sock *sk,
				struct quell_telemetry *record)
{
	const struct quell_flow *flow;

	*record = (struct quell_telemetry) {
		.link_bytes_ps = q->params.link_bytes_ps, .hop = LABRCP_HOP,
	};
	rcu_read_lock();
	flow = quell_flow_find(sk);
	if (flow)
		record->queue_bytes = min_t(u64, flow->now.rtt_ns, U32_MAX);
	rcu_read_unlock();
}

/* The grant of a port, a host's too; false where the record does not change. */
static bool labrcp_grant(struct labrcp_sched *q, struct quell_telemetry *record)
{
	u64 rate_bytes_ps = q->port.rate_q16 >> QUELL_Q16_SHIFT;

	if (record->hop && record->queue_bytes)
		rcp_port_add_rtt(&q->port, record->queue_bytes);
	if (record->hop && record->link_bytes_ps <= rate_bytes_ps)
		return false;
	record->hop = LABRCP_HOP;
	record->link_bytes_ps = rate_bytes_ps;
	return true;
}

static void labrcp_stamp(struct Qdisc *sch, struct sk_buff *skb)
{
	struct labrcp_sched *q = qdisc_priv(sch);
	u8 wire[QUELL_TELEMETRY_BYTES];
	struct quell_telemetry record;
	bool granted;
	u32 tcp_at, at;

	tcp_at = labrcp_tcp_at(skb);
	at = tcp_at ? labrcp_record_at(skb, tcp_at) : 0;
	if (!at || skb_copy_bits(skb, at, wire, sizeof(wire)))
		return;
	quell_telemetry_decode(wire, &record);
	if (skb->sk)
		labrcp_request_rate(q, skb->sk, &record);
	granted = labrcp_grant(q, &record);
	if (!skb->sk && !granted)
		return;
	/* It may be shared with TCP's retransmission queue. */
	if (skb_ensure_writable(skb, at + sizeof(wire)))
		return;
	quell_telemetry_encode(&record, 0, wire);
	labrcp_replace(skb, tcp_at, at, wire);
}

static struct sk_buff *labrcp_dequeue(struct Qdisc *sch)
{
	struct labrcp_sched *q = qdisc_priv(sch);
	struct sk_buff *skb;

	labrcp_advance(sch);
	skb = qdisc_dequeue_head(sch);
	if (!skb)
		return NULL;
	q->wire_bytes -= labrcp_wire_bytes(skb);
	labrcp_stamp(sch, skb);
	return skb;
}

static void labrcp_reset(struct Qdisc *sch)
{
	struct labrcp_sched *q = qdisc_priv(sch);

	qdisc_reset_queue(sch);
	q->wire_bytes = 0;
}

static bool labrcp_allowed(const struct labrcp_options *options)
{
	return options->limit_bytes &&
	       options->rtt_ns >= LABRCP_TIME_MIN_NS && options->rtt_ns <= LABRCP_TIME_MAX_NS &&
	       options->interval_ns >= LABRCP_TIME_MIN_NS &&
	       options->interval_ns <= LABRCP_TIME_MAX_NS &&
	       options->least_bytes && options->least_bytes <= LABRCP_LEAST_MAX_BYTES &&
	       options->alpha_q16 && options->alpha_q16 <= LABRCP_GAIN_MAX_Q16 &&
	       options->beta_q16 <= LABRCP_GAIN_MAX_Q16;
}

static int labrcp_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct labrcp_sched *q = qdisc_priv(sch);
	struct ethtool_link_ksettings settings;
	const struct labrcp_options *options;

	if (!opt || nla_len(opt) < sizeof(*options))
		return -EINVAL;
	options = nla_data(opt);
	if (!labrcp_allowed(options)) {
		NL_SET_ERR_MSG(extack, "labrcp: an option is out of its range (labrcp.h)");
		return -ERANGE;
	}
	if (__ethtool_get_link_ksettings(qdisc_dev(sch), &settings) || !settings.base.speed ||
	    settings.base.speed == SPEED_UNKNOWN) {
		NL_SET_ERR_MSG(extack, "labrcp: the device does not tell its speed");
		return -EOPNOTSUPP;
	}
	if (settings.base.speed * 125000ULL > RCP_LINK_MAX_BYTES_PS) {
		NL_SET_ERR_MSG(extack, "labrcp: the device is too fast");
		return -ERANGE;
	}
	q->params = (struct rcp_port_params) {
		.link_bytes_ps = settings.base.speed * 125000ULL, .rtt_ns = options->rtt_ns,
		.interval_max_ns = options->interval_ns, .least_bytes = options->least_bytes,
		.alpha_q16 = options->alpha_q16, .beta_q16 = options->beta_q16,
	};
	q->limit_bytes = options->limit_bytes;
	return 0;
}

static struct Qdisc_ops labrcp_qdisc_ops = {
	.id		= LABRCP_KIND,
	.priv_size	= sizeof(struct labrcp_sched),
	.enqueue	= labrcp_enqueue,
	.dequeue	= labrcp_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= labrcp_init,
	.reset		= labrcp_reset,
	.owner		= THIS_MODULE,
};

int labrcp_port_register(void)
{
	return register_qdisc(&labrcp_qdisc_ops);
}

void labrcp_port_unregister(void)
{
	unregister_qdisc(&labrcp_qdisc_ops);
}

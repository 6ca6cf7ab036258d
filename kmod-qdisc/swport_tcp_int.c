// SPDX-License-Identifier: GPL-2.0
/*
 * TCP-INT: updates the public telemetry option, which hosts with its agents put into
 * their TCP segments (Documentation/tcp-int.md).
 *
 *	latency		this port's latency is added
 *	value, speed, hop	replaced where this port's value is larger
 *
 * Value is the available rate of the link, averaged like the load of telemetry
 * records (quell/core/port/portload.h) over `tcp-int`; or the data band's queue, where
 * there is one.  Latency is the time in the port, from enqueue to dequeue.
 *
 * Packets of both bands are updated, because the option serves both directions.  Left
 * alone: packets this host sends itself, SYNs, IP fragments, IPv6 packets with
 * extension headers before TCP, options of another length.  Each packet with the
 * option is updated; the sender requests a frequency in a code whose meaning is not
 * documented.  A super-packet is updated as it is: its segments leave together, and have
 * one copy of the option.
 */
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <net/sch_generic.h>
#include <quell/tcp_int.h>

#include "swport.h"

/* Offset of the option in the packet; 0 if it has none. */
static u32 swport_tcp_int_find(const struct sk_buff *skb)
{
	u8 buf[SWPORT_TCP_OPTIONS_MAX];
	const u8 *options;
	u32 at, bytes;

	options = quell_swport_options(skb, buf, &bytes);
	if (!options)
		return 0;
	at = quell_tcp_int_find(options, bytes);
	return at < bytes ? swport_cb(skb)->tcp_at + sizeof(struct tcphdr) + at : 0;
}

static void swport_tcp_int_describe(const struct swport_sched *port, const struct sk_buff *skb,
				    u64 now_ns, struct quell_tcp_int_hop *hop)
{
	u64 available_bytes_ps =
		quell_portload_available_bytes_ps(&port->tcp_int.load, &port->tcp_int.load_params,
						  port->link.bytes_ps);
	u64 arrived_ns = swport_cb(skb)->arrived_ns;

	hop->value = quell_tcp_int_value(available_bytes_ps, swport_queue_bytes(port));
	hop->speed = port->tcp_int.speed;
	hop->ttl = swport_cb(skb)->ttl;
	hop->latency_ns = arrived_ns && now_ns > arrived_ns ? now_ns - arrived_ns : 0;
}

/**
 * quell_swport_tcp_int_stamp() - update the TCP-INT option of a packet, if it has one
 * @port: the switch port, with TCP-INT on and its load advanced to @now_ns
 * @skb: packet that leaves
 * @now_ns: time
 *
 * The option is made writable first, as for telemetry records.
 *
 * Context: softirq, qdisc lock held.
 */
void quell_swport_tcp_int_stamp(struct swport_sched *port, struct sk_buff *skb, u64 now_ns)
{
	u32 segments = swport_cb(skb)->segments;
	u8 wire[QUELL_TCP_INT_BYTES];
	struct quell_tcp_int_hop hop;
	struct quell_tcp_int opt;
	u32 at;

	if (!port->link.bytes_ps || !swport_cb(skb)->option_bytes ||
	    !quell_swport_hops(skb))
		return;
	at = swport_tcp_int_find(skb);
	if (!at || skb_copy_bits(skb, at, wire, sizeof(wire)))
		return;
	if (skb_ensure_writable(skb, at + sizeof(wire))) {
		port->tcp_int.fail_pkts += segments;
		return;
	}
	swport_tcp_int_describe(port, skb, now_ns, &hop);
	quell_tcp_int_decode(wire, &opt);
	port->tcp_int.worst_pkts += hop.value > opt.value ? segments : 0;
	quell_tcp_int_stamp(&opt, &hop);
	quell_tcp_int_encode(&opt, wire);
	quell_swport_rewrite(skb, at, wire, sizeof(wire));
	port->tcp_int.pkts += segments;
}

/* SPDX-License-Identifier: GPL-2.0 */
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
#ifndef _QUELL_SWPORT_TCP_INT_H
#define _QUELL_SWPORT_TCP_INT_H

#include <quell/tcp_int.h>

#include "swport_stamp.h"

/* Value of a link with such a queue; the available rate matters where there is none. */
static inline u8 swport_tcp_int_value(const struct swport_sched *port, u32 queue_bytes)
{
	u64 available_bytes_ps = 0;

	if (!(queue_bytes >> QUELL_TCP_INT_QUEUE_SHIFT))
		available_bytes_ps = quell_portload_available_bytes_ps(&port->tcp_int.load,
								       &port->tcp_int.load_params,
								       port->link.bytes_ps);
	return quell_tcp_int_value(available_bytes_ps, queue_bytes);
}

/*
 * Update the option of a packet that leaves, if it has one.  The load is advanced to @now_ns.
 *
 * If there is no memory to make the packet writable it goes on unchanged.
 */
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

	if (cb->option_bytes < QUELL_TCP_INT_BYTES || !port->link.bytes_ps || !swport_hops(cb))
		return;
	tcp = swport_tcp(port, skb);
	if (!tcp)
		return;
	at = quell_tcp_int_find(tcp + QUELL_FRAME_TCP_BYTES, cb->option_bytes);
	if (at >= cb->option_bytes)
		return;
	at += QUELL_FRAME_TCP_BYTES;
	to = swport_writable(skb, tcp, at + QUELL_TCP_INT_BYTES);
	if (!to) {
		port->tcp_int.fail_pkts += cb->segments;
		return;
	}
	hop.value = swport_tcp_int_value(port, queue_bytes);
	if (cb->arrived_ns && now_ns > cb->arrived_ns)
		hop.latency_ns = now_ns - cb->arrived_ns;
	first = quell_stamp_get_u64(to + at);
	port->tcp_int.worst_pkts += quell_tcp_int_stamp(&first, &hop) ? cb->segments : 0;
	diff = quell_stamp_put_u64(to + at, first);
	if (swport_has_checksum(skb))
		quell_stamp_update(to, at, diff);
	port->tcp_int.pkts += cb->segments;
}

#endif /* _QUELL_SWPORT_TCP_INT_H */

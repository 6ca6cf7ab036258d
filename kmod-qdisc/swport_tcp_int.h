/* SPDX-License-Identifier: GPL-2.0 */
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
#ifndef _QUELL_SWPORT_TCP_INT_H
#define _QUELL_SWPORT_TCP_INT_H

#include <quell/tcp_int.h>

#include "swport_stamp.h"

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

#endif /* _QUELL_SWPORT_TCP_INT_H */

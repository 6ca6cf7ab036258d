/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Helpers to write telemetry and TCP-INT into a dequeued TCP segment.
 */
#ifndef _QUELL_SWPORT_STAMP_H
#define _QUELL_SWPORT_STAMP_H

#include <quell/core/port/stamp.h>
#include <quell/hops.h>

#include "swport.h"

/* Routers that forwarded a segment, before and inside a tunnel; 0: sent by this host. */
static inline u8 swport_hops(const struct swport_cb *cb)
{
	u8 hops = quell_hops(cb->ttl);

	return likely(!cb->inner_ttl) ? hops : hops + quell_hops(cb->inner_ttl);
}

/* TCP header and options; if copied, valid until the port parses another packet. */
static inline bool swport_has_tcp(struct swport_sched *port, const struct sk_buff *skb,
				  const u8 **tcp)
{
	const struct swport_cb *cb = swport_cb(skb);

	*tcp = skb->data + cb->tcp_at;
	if (likely(cb->linear))
		return true;
	*tcp = skb_header_pointer(skb, cb->tcp_at, QUELL_FRAME_TCP_BYTES + cb->option_bytes,
				  port->parsed.headers);
	return *tcp;
}

/*
 * Have @to, the TCP header of swport_has_tcp(), point to one that may be written to.  False without
 * memory: the header may be shared with TCP's retransmit queue or a capture.
 */
static inline bool swport_make_writable(struct sk_buff *skb, const u8 *tcp, u32 bytes, u8 **to)
{
	const struct swport_cb *cb = swport_cb(skb);

	*to = (u8 *)tcp;
	if (likely(!skb->cloned && cb->linear))
		return true;
	if (skb_ensure_writable(skb, cb->tcp_at + bytes))
		return false;
	*to = skb->data + cb->tcp_at;
	return true;
}

/*
 * Must the checksum be updated?  Not if this TCP header's is still to be computed; a partial one
 * may instead be that of a header outside the tunnel.
 */
static inline bool swport_has_checksum(const struct sk_buff *skb)
{
	return skb->ip_summed != CHECKSUM_PARTIAL ||
	       skb_checksum_start_offset(skb) != swport_cb(skb)->tcp_at;
}

#endif /* _QUELL_SWPORT_STAMP_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What telemetry and TCP-INT need to write into a TCP segment that leaves.
 */
#ifndef _QUELL_SWPORT_STAMP_H
#define _QUELL_SWPORT_STAMP_H

#include <quell/core/port/stamp.h>
#include <quell/hops.h>

#include "swport.h"

/* Routers that a TCP segment has passed before a tunnel and in it; 0: this host sends it. */
static inline u8 swport_hops(const struct swport_cb *cb)
{
	u8 hops = quell_hops(cb->ttl);

	return likely(!cb->inner_ttl) ? hops : hops + quell_hops(cb->inner_ttl);
}

/*
 * TCP header and options of a segment, which need not be linear: a copy is valid until the port
 * reads another packet.
 */
static inline const u8 *swport_tcp(struct swport_sched *port, const struct sk_buff *skb)
{
	const struct swport_cb *cb = swport_cb(skb);

	return skb_header_pointer(skb, cb->tcp_at, QUELL_FRAME_TCP_BYTES + cb->option_bytes,
				  port->arriving.headers);
}

/*
 * The TCP header, to write to it: it may be shared with TCP's retransmission queue or a packet
 * capture.  NULL for lack of memory.
 */
static inline u8 *swport_writable(struct sk_buff *skb, const u8 *tcp, u32 bytes)
{
	u32 tcp_at = swport_cb(skb)->tcp_at;

	if (unlikely((skb->cloned || tcp != skb->data + tcp_at)) &&
	    skb_ensure_writable(skb, tcp_at + bytes))
		return NULL;
	return skb->data + tcp_at;
}

/*
 * Whether bytes that change do so in the checksum.  One still to be computed, by a device or from
 * skb->csum, needs no update; but one that is left to the device may be that of a header outside
 * of the tunnel.
 */
static inline bool swport_has_checksum(const struct sk_buff *skb)
{
	return skb->ip_summed != CHECKSUM_PARTIAL ||
	       skb_checksum_start_offset(skb) != swport_cb(skb)->tcp_at;
}

#endif /* _QUELL_SWPORT_STAMP_H */

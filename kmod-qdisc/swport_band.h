/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The bands' queues and their counters.
 */
#ifndef _QUELL_SWPORT_BAND_H
#define _QUELL_SWPORT_BAND_H

#include "swport.h"

/* Dequeue the first packet, @skb, of @segments segments. */
static inline void swport_band_pop(struct swport_band *band, struct sk_buff *skb, u32 segments)
{
	u32 bytes = qdisc_pkt_len(skb);

	__skb_unlink(skb, &band->queue);
	band->backlog_bytes -= bytes;
	band->memory_bytes -= skb->truesize;
	band->sent_pkts += segments;
	band->sent_bytes += bytes;
}

static inline void swport_band_drop(struct swport_band *band, const struct sk_buff *skb)
{
	band->drop_pkts += swport_cb(skb)->segments;
	band->drop_bytes += qdisc_pkt_len(skb);
}

/* Drop a packet to be marked that is not ECN-capable, before enqueue or after dequeue. */
static inline void swport_drop_unmarkable(struct swport_sched *port, const struct sk_buff *skb)
{
	swport_band_drop(&port->data, skb);
	port->mark_stats.drop_pkts += swport_cb(skb)->segments;
	swport_sync_charges(port);
}

#endif /* _QUELL_SWPORT_BAND_H */

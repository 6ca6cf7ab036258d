/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What leaves: segments on their way, the link they leave by.
 */
#ifndef _QUELL_TX_H
#define _QUELL_TX_H

#include <linux/types.h>

struct nf_hook_state;
struct quell_flow;
struct sk_buff;
struct sock;

/* Segments kept from their departure until they are acknowledged, in the flow. */
#define QUELL_SEGMENTS_FEW	1

/**
 * struct quell_segment - a segment (a TSO burst is one) on its way
 * @depart_ns:		when its first bit leaves, CLOCK_MONOTONIC, ns
 * @seq:		first sequence number
 * @end_seq:		sequence number after the last
 * @depart_q16:		fraction of a nanosecond to add to @depart_ns
 * @header_bytes:	bytes on the wire beside the payload, per packet
 * @packet_bytes:	payload of one packet of the burst
 * @stamp_ns:		when TCP first sent it, as it stamped it, ns modulo 2^32
 * @queued:		it waited for the flow's own earlier segments
 * @retransmitted:	some of it was sent again: no sample (Karn)
 * @entropy:		its path entropy; 0 none
 */
struct quell_segment {
	u64	depart_ns;
	u32	seq;
	u32	end_seq;
	u32	stamp_ns;
	u16	depart_q16;
	u16	header_bytes;
	u16	packet_bytes;
	bool	queued;
	bool	retransmitted;
	u8	entropy;
};

/**
 * struct quell_segments - segments sent and not yet acknowledged, by sequence
 * @ring:	the segments: @few, or heap while there are more
 * @size:	room in @ring, a power of two
 * @head:	free-running index of the oldest
 * @tail:	free-running index of the next to write
 * @grown:	the room the flow needed last when @few did not do
 * @few:	room that is always there
 */
struct quell_segments {
	struct quell_segment	*ring;
	u32			size;
	u32			head;
	u32			tail;
	u32			grown;
	struct quell_segment	few[QUELL_SEGMENTS_FEW];
};

/**
 * struct quell_link - the interface a flow leaves by
 * @bytes_ps:	its speed, bytes/s; 0 unknown
 * @free_ns:	when the flow's own last segment has left it, ns
 * @free_rem:	rest of that division, in 1 / @bytes_ps ns
 * @ifindex:	its index; 0 not known yet
 * @gen:	quell_net.links_gen at the last look
 */
struct quell_link {
	u64	bytes_ps;
	u64	free_ns;
	u64	free_rem;
	int	ifindex;
	int	gen;
};

/* segments.c */
void quell_segments_init(struct quell_segments *segments);
void quell_segments_free(struct quell_segments *segments);
bool quell_segments_add(struct quell_flow *flow, const struct sock *sk,
			const struct quell_segment *segment);
u32 quell_segments_mark(struct quell_segments *segments, u32 seq, u32 end_seq);
const struct quell_segment *
quell_segments_find(const struct quell_segments *segments, u32 seq);
const struct quell_segment *quell_segments_oldest(const struct quell_segments *segments);
bool quell_segments_newest(struct quell_flow *flow, struct quell_segment *newest);
void quell_segments_drop(struct quell_segments *segments, u32 una);
u32 quell_segment_first_end(const struct quell_segment *segment);
u64 quell_segment_left_ns(const struct quell_segment *segment, u32 seq,
			  u64 link_bytes_ps);

/* transmit.c */
unsigned int quell_transmit4(void *priv, struct sk_buff *skb,
			     const struct nf_hook_state *state);
unsigned int quell_transmit6(void *priv, struct sk_buff *skb,
			     const struct nf_hook_state *state);

#endif /* _QUELL_TX_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The segments in flight and the link that they leave by.
 */
#ifndef _QUELL_SEGMENTS_H
#define _QUELL_SEGMENTS_H

#include <linux/if_arp.h>
#include <linux/netdevice.h>
#include <linux/types.h>
#include <net/tcp.h>

struct quell_flow;
struct sk_buff;
struct sock;

/* Segments in flight that the flow records without an allocation. */
#define QUELL_SEGMENTS_FEW	1

/**
 * struct quell_segment - a segment in flight; a TSO burst is one segment
 * @depart_ns:		when the segment's first bit leaves, CLOCK_MONOTONIC, ns
 * @seq:		first sequence number
 * @end_seq:		sequence number after the last
 * @depart_q16:		fraction of a nanosecond to add to @depart_ns
 * @header_bytes:	bytes on the wire beside the payload, per packet
 * @packet_bytes:	payload of one packet of the burst
 * @stamp_ns:		TCP's stamp of the first transmission, ns modulo 2^32
 * @resent_depart_ns:	when the first packet of its newest retransmission left, ns modulo
 *			2^32; valid if @retransmitted
 * @entropy:		path entropy of the segment; 0: not sprayed
 * @queued:		the segment waited behind earlier segments of the same flow
 * @retransmitted:	part of the segment was retransmitted: this record gives no
 *			sample (Karn)
 */
struct quell_segment {
	u64	depart_ns;
	u32	seq;
	u32	end_seq;
	u32	stamp_ns;
	u32	resent_depart_ns;
	u16	depart_q16;
	u16	header_bytes;
	u16	packet_bytes;
	u8	entropy;
	bool	queued : 1;
	bool	retransmitted : 1;
};

/**
 * struct quell_segments - segments sent and not yet acknowledged, by sequence
 * @ring:	the segments: @few, or heap while there are more
 * @size:	number of entries in @ring, a power of two
 * @head:	free-running index of the oldest entry
 * @tail:	free-running index of the next entry to write
 * @grown:	size to try for the next ring on the heap; halved when one is freed
 * @few:	entries embedded in the flow
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
 * @bytes_ps:	speed of the interface, bytes/s; 0: unknown
 * @ns_q32:	ns that it takes for a byte, Q32, rounded down; 0: unknown
 * @free_ns:	when the flow's newest segment has left the interface, ns
 * @free_q32:	fraction of a nanosecond to add to @free_ns
 * @ifindex:	index of the interface; 0: not known yet
 * @gen:	quell_net.links_gen when @bytes_ps was last updated
 */
struct quell_link {
	u64	bytes_ps;
	u64	ns_q32;
	u64	free_ns;
	u32	free_q32;
	int	ifindex;
	int	gen;
};

/* Ethernet on the wire beside the header: preamble and start 8, FCS 4, gap 12. */
#define QUELL_ETHER_FRAMING_BYTES	24

/* Bytes on the wire per packet beside the network header and all behind it. */
static inline u32 quell_framing_bytes(const struct net_device *dev)
{
	return dev->hard_header_len +
	       (dev->type == ARPHRD_ETHER ? QUELL_ETHER_FRAMING_BYTES : 0);
}

/* segments.c */
void quell_segments_init(struct quell_segments *segments);
void quell_segments_free(struct quell_segments *segments);
bool quell_segments_make_room(struct quell_flow *flow, const struct sock *sk, u32 seq);
u32 quell_segments_mark(struct quell_segments *segments, u32 seq, u32 end_seq,
			u32 resent_depart_ns);
u32 quell_segments_search(const struct quell_segments *segments, u32 seq);
bool quell_segments_newest(struct quell_flow *flow, struct quell_segment *newest);
void quell_segments_settle(struct quell_segments *segments);
u64 quell_segment_tx_end_ns(const struct quell_segment *segment, u32 seq, u64 ns_q32);

static inline struct quell_segment *quell_segment_at(const struct quell_segments *segments,
						     u32 index)
{
	return &segments->ring[index & (segments->size - 1)];
}

/**
 * quell_segments_find() - the segment an acknowledgment ends in
 * @segments: ring
 * @seq:      sequence number after the last byte acknowledged
 *
 * Mostly it is the oldest, or all are older.
 *
 * Context: lock of the flow; the result is valid until it is let go.
 * Return: the entry with seq < @seq <= end_seq, or NULL.
 */
static inline const struct quell_segment *
quell_segments_find(const struct quell_segments *segments, u32 seq)
{
	const struct quell_segment *segment;
	u32 i = segments->head;

	if (i == segments->tail ||
	    before(quell_segment_at(segments, segments->tail - 1)->end_seq, seq))
		return NULL;
	if (before(quell_segment_at(segments, i)->end_seq, seq))
		i = quell_segments_search(segments, seq - 1);
	segment = quell_segment_at(segments, i);
	return before(segment->seq, seq) ? segment : NULL;
}

/**
 * quell_segment_first_end() - where the first packet of a burst ends
 * @segment: entry
 *
 * Context: any.
 * Return: sequence number after its last byte.
 */
static inline u32 quell_segment_first_end(const struct quell_segment *segment)
{
	u32 bytes = segment->end_seq - segment->seq;

	return segment->seq + min_t(u32, bytes, max_t(u32, segment->packet_bytes, 1));
}

#endif /* _QUELL_SEGMENTS_H */

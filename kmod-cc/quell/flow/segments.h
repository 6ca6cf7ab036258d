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

/* Segments in flight that the flow records without an allocation. */
#define QUELL_SEGMENTS_FEW	1

/* A segment in flight; a TSO burst is one segment. */
struct quell_segment {
	u64	depart_ns;	/* of the first bit, CLOCK_MONOTONIC */
	u32	seq;
	u32	end_seq;
	u32	stamp_ns;	/* TCP's, of the first transmission, modulo 2^32 */
	/* Newest retransmission, modulo 2^32; valid if @retransmitted. */
	u32	resent_depart_ns;
	u16	depart_q16;	/* fraction of a ns to add to @depart_ns */
	u16	header_bytes;	/* on the wire beside the payload, per packet */
	u16	packet_bytes;	/* payload of one packet of the burst */
	u8	entropy;	/* 0: not sprayed */
	bool	queued : 1;	/* behind earlier segments of the same flow */
	bool	retransmitted : 1;	/* in part or whole: gives no sample (Karn) */
};

/* Segments not yet acknowledged, by sequence. */
struct quell_segments {
	struct quell_segment	*ring;	/* flow->segment_few, or heap while there are more */
	u32			size;	/* of @ring, a power of two */
	u32			head;	/* free-running index of the oldest entry */
	u32			tail;	/* free-running index of the next entry */
	/* Size to try for the next ring on the heap; halved when one is freed. */
	u32			grown;
};

/* The interface a flow is sent by. */
struct quell_link {
	u64	bytes_ps;	/* 0: unknown */
	u64	ns_q32;	/* per byte, rounded down; 0: unknown */
	u64	free_ns;	/* when the flow's newest segment has been sent */
	u32	free_q32;	/* fraction of a ns to add to @free_ns */
	int	ifindex;	/* 0: not known yet */
	int	gen;	/* quell_net.links_gen at the last update */
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
void quell_segments_init(struct quell_flow *flow);
bool quell_segments_make_room(struct quell_flow *flow, const struct sock *sk, u32 seq);
u32 quell_segments_mark(struct quell_segments *segments, u32 seq, u32 end_seq,
			u32 resent_depart_ns);
u32 quell_segments_search(const struct quell_segments *segments, u32 seq);
bool quell_segments_newest(struct quell_flow *flow, struct quell_segment *newest);
void quell_segments_settle(struct quell_flow *flow);
u64 quell_segment_tx_end_ns(const struct quell_segment *segment, u32 seq, u64 ns_q32);

static inline struct quell_segment *quell_segment_at(const struct quell_segments *segments,
						     u32 index)
{
	return &segments->ring[index & (segments->size - 1)];
}

/* The entry with seq < @seq <= end_seq, mostly the oldest, or NULL.  Lock of the flow. */
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

/* Sequence number after the first packet of a burst. */
static inline u32 quell_segment_first_end(const struct quell_segment *segment)
{
	u32 bytes = segment->end_seq - segment->seq;

	return segment->seq + min_t(u32, bytes, max_t(u32, segment->packet_bytes, 1));
}

#endif /* _QUELL_SEGMENTS_H */

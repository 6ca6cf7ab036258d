// SPDX-License-Identifier: GPL-2.0
/*
 * Departures: one entry per segment handed down (a TSO burst is one segment), sorted by
 * sequence number: only new data is appended.  A retransmission marks the entries it
 * overlaps, and those give no RTT sample (Karn's rule).
 *
 * With more than a few segments in flight the ring is on the heap and doubles up to a bound;
 * segments beyond that are counted and give no sample.  When the timer for tails finds all
 * data acknowledged the heap is freed; the next ring starts at half the size of the last one.
 *
 * The lock of the flow protects the ring.
 */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include "flow/flow.h"
#include "flow/segments.h"

/* First ring on the heap, and the bound: 4096 packets of 1500 bytes are 6 MB in flight. */
#define SEGMENTS_MIN	8
#define SEGMENTS_MAX	4096

/* Before the flow is published. */
void quell_segments_init(struct quell_flow *flow)
{
	flow->segments.ring = flow->segment_few;
	flow->segments.size = QUELL_SEGMENTS_FEW;
}

/* Grows the ring; false when the bound is reached or memory is short. */
static bool segments_grow(struct quell_flow *flow, const struct sock *sk)
{
	struct quell_segments *segments = &flow->segments;
	u32 least = max(2 * segments->size, SEGMENTS_MIN + 0U);
	u32 size = max(segments->grown, least);
	struct quell_segment *ring;
	u32 i;

	if (segments->size >= SEGMENTS_MAX)
		return false;
	ring = quell_sock_alloc(sk, size * sizeof(*ring));
	if (!ring && size > least) {
		size = least;
		ring = quell_sock_alloc(sk, size * sizeof(*ring));
	}
	if (!ring)
		return false;
	/* One entry more: the newest is needed even when it was acknowledged. */
	for (i = segments->head - 1; i != segments->tail; i++)
		ring[i & (size - 1)] = *quell_segment_at(segments, i);
	if (segments->ring != flow->segment_few)
		kfree(segments->ring);
	segments->ring = ring;
	segments->size = size;
	segments->grown = size;
	return true;
}

/* Move an empty ring back into the flow; keeps the newest entry.  Lock of the flow. */
void quell_segments_settle(struct quell_flow *flow)
{
	struct quell_segments *segments = &flow->segments;
	struct quell_segment newest;

	if (segments->head != segments->tail || segments->ring == flow->segment_few)
		return;
	newest = *quell_segment_at(segments, segments->tail - 1);
	/* Halve the next size: a flow that needs all of it doubles it once. */
	segments->grown /= 2;
	kfree(segments->ring);
	quell_segments_init(flow);
	*quell_segment_at(segments, segments->tail - 1) = newest;
}

/*
 * Entries that end after @seq were never sent.  False: the bound is reached or memory is short.
 * Lock of @flow.
 */
bool quell_segments_make_room(struct quell_flow *flow, const struct sock *sk, u32 seq)
{
	struct quell_segments *segments = &flow->segments;

	lockdep_assert_held(&flow->lock);
	while (segments->tail != segments->head &&
	       after(quell_segment_at(segments, segments->tail - 1)->end_seq, seq))
		segments->tail--;
	return segments->tail - segments->head < segments->size || segments_grow(flow, sk);
}

/* Index of the first entry that ends after @seq; tail if there is no such entry. */
u32 quell_segments_search(const struct quell_segments *segments, u32 seq)
{
	u32 low = segments->head;
	u32 count = segments->tail - segments->head;

	while (count) {
		u32 half = count / 2;

		if (after(quell_segment_at(segments, low + half)->end_seq, seq)) {
			count = half;
		} else {
			low += half + 1;
			count -= half + 1;
		}
	}
	return low;
}

/* Mark the entries that a retransmission overlaps; returns their number.  Lock of the flow. */
u32 quell_segments_mark(struct quell_segments *segments, u32 seq, u32 end_seq,
			u32 resent_depart_ns)
{
	u32 i = quell_segments_search(segments, seq);
	u32 marked = 0;

	for (; i != segments->tail; i++) {
		struct quell_segment *segment = quell_segment_at(segments, i);

		if (!before(segment->seq, end_seq))
			break;
		segment->retransmitted = true;
		segment->resent_depart_ns = resent_depart_ns;
		marked++;
	}
	return marked;
}

/* The segment sent last; it may have been acknowledged.  Bottom halves off. */
bool quell_segments_newest(struct quell_flow *flow, struct quell_segment *newest)
{
	spin_lock(&flow->lock);
	*newest = *quell_segment_at(&flow->segments, flow->segments.tail - 1);
	spin_unlock(&flow->lock);
	return newest->depart_ns;
}

/*
 * Departure plus serialisation up to the last bit of the packet that ends at @seq, rounded up.  The
 * packets of a burst are sent one after the other, and an ACK for part of it is compared with that
 * part.  @ns_q32: per byte; 0: unknown, the departure alone.
 */
u64 quell_segment_tx_end_ns(const struct quell_segment *segment, u32 seq, u64 ns_q32)
{
	u32 payload_bytes = seq - segment->seq, packets = 1;
	u64 wire_bytes, fraction_q32;

	if (!ns_q32)
		return segment->depart_ns;
	if (payload_bytes > segment->packet_bytes)
		packets = DIV_ROUND_UP(payload_bytes, max_t(u32, segment->packet_bytes, 1));
	wire_bytes = payload_bytes + (u64)packets * segment->header_bytes;
	fraction_q32 = (u32)(wire_bytes * ns_q32) + ((u64)segment->depart_q16 << 16);
	return segment->depart_ns + mul_u64_u64_shr(wire_bytes, ns_q32, 32) +
	       ((fraction_q32 + U32_MAX) >> 32);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The two rings a nanosecond round-trip time is made of.
 *
 * Departures: one entry per segment handed down (a TSO burst is one segment),
 * sorted by sequence because only new data is appended; a retransmission marks
 * the entries it overlaps instead, and those give no sample (Karn's rule).
 * The ring is allocated with the first segment and doubles up to a bound;
 * what does not fit is counted and gives no sample.
 *
 * Arrivals: one entry per acknowledgment number received, written by the
 * receive hook, taken when TCP has processed it.  Between the two the segment
 * may sit in the socket's backlog, on another CPU, so the time cannot travel
 * in a per-cpu variable.
 *
 * The caller holds the socket lock for departures; arrivals have a lock of
 * their own.
 */
#include <linux/math64.h>
#include <linux/slab.h>
#include "internal.h"

/* First allocation, and the bound: 4096 packets of 1500 bytes are 6 MB in flight. */
#define SEGMENTS_MIN	64
#define SEGMENTS_MAX	4096

static struct quell_segment *segment_at(const struct quell_segments *segments,
					u32 index)
{
	return &segments->ring[index & (segments->size - 1)];
}

void quell_segments_free(struct quell_segments *segments)
{
	kfree(segments->ring);
	segments->ring = NULL;
}

/* Doubles the room; false when the bound is reached or memory is short. */
static bool segments_grow(struct quell_segments *segments)
{
	u32 size = segments->ring ? segments->size * 2 : SEGMENTS_MIN;
	struct quell_segment *ring;
	u32 i;

	if (size > SEGMENTS_MAX)
		return false;
	ring = kmalloc_array(size, sizeof(*ring), GFP_ATOMIC | __GFP_NOWARN);
	if (!ring)
		return false;
	for (i = segments->head; i != segments->tail; i++)
		ring[i & (size - 1)] = *segment_at(segments, i);
	kfree(segments->ring);
	segments->ring = ring;
	segments->size = size;
	return true;
}

/**
 * quell_segments_add() - record new data
 * @segments: ring
 * @segment:  what was sent
 *
 * What was recorded at or after its first number never left, or is seen a
 * second time further down (a VRF passes the hook twice): the new entry
 * replaces it.
 *
 * Context: socket lock.
 * Return: false when there was no room.
 */
bool quell_segments_add(struct quell_segments *segments,
			const struct quell_segment *segment)
{
	while (segments->tail != segments->head &&
	       after(segment_at(segments, segments->tail - 1)->end_seq,
		     segment->seq))
		segments->tail--;
	if ((!segments->ring || segments->tail - segments->head == segments->size) &&
	    !segments_grow(segments))
		return false;
	*segment_at(segments, segments->tail++) = *segment;
	return true;
}

/* Index of the first entry that ends after @seq; tail if there is none. */
static u32 segments_search(const struct quell_segments *segments, u32 seq)
{
	u32 low = segments->head;
	u32 count = segments->tail - segments->head;

	while (count) {
		u32 half = count / 2;

		if (after(segment_at(segments, low + half)->end_seq, seq)) {
			count = half;
		} else {
			low += half + 1;
			count -= half + 1;
		}
	}
	return low;
}

/**
 * quell_segments_mark() - note a retransmission
 * @segments: ring
 * @seq:      first sequence number sent again
 * @end_seq:  sequence number after the last
 *
 * Context: socket lock.
 * Return: entries that overlap.
 */
u32 quell_segments_mark(struct quell_segments *segments, u32 seq, u32 end_seq)
{
	u32 i = segments_search(segments, seq);
	u32 marked = 0;

	for (; i != segments->tail; i++) {
		struct quell_segment *segment = segment_at(segments, i);

		if (!before(segment->seq, end_seq))
			break;
		segment->retransmitted = true;
		marked++;
	}
	return marked;
}

/**
 * quell_segments_find() - the segment an acknowledgment ends in
 * @segments: ring
 * @seq:      sequence number after the last byte acknowledged
 *
 * Context: socket lock; the result is valid until the ring changes.
 * Return: the entry with seq < @seq <= end_seq, or NULL.
 */
const struct quell_segment *
quell_segments_find(const struct quell_segments *segments, u32 seq)
{
	u32 i = segments_search(segments, seq - 1);
	const struct quell_segment *segment;

	if (i == segments->tail)
		return NULL;
	segment = segment_at(segments, i);
	return before(segment->seq, seq) ? segment : NULL;
}

/**
 * quell_segments_oldest() - the first segment not acknowledged in full
 * @segments: ring
 *
 * Context: socket lock; the result is valid until the ring changes.
 * Return: entry, or NULL when there is none.
 */
const struct quell_segment *quell_segments_oldest(const struct quell_segments *segments)
{
	return segments->head == segments->tail ? NULL :
						  segment_at(segments, segments->head);
}

/**
 * quell_segments_drop() - forget what is acknowledged in full
 * @segments: ring
 * @una:      first sequence number not acknowledged
 *
 * Context: socket lock.
 */
void quell_segments_drop(struct quell_segments *segments, u32 una)
{
	while (segments->head != segments->tail &&
	       !after(segment_at(segments, segments->head)->end_seq, una))
		segments->head++;
}

/**
 * quell_segment_first_end() - where the first packet of a burst ends
 * @segment: entry
 *
 * Context: any.
 * Return: sequence number after its last byte.
 */
u32 quell_segment_first_end(const struct quell_segment *segment)
{
	u32 bytes = segment->end_seq - segment->seq;

	return segment->seq + min_t(u32, bytes, max_t(u32, segment->packet_bytes, 1));
}

/**
 * quell_segment_left_ns() - when the packet before @seq had left the interface
 * @segment:       entry with seq < @seq <= end_seq
 * @seq:           sequence number after the last byte of interest
 * @link_bytes_ps: speed of the interface, bytes/s; 0 unknown
 *
 * The packets of a burst leave one after the other, so an acknowledgment for
 * part of it is compared with the part.
 *
 * Context: any.
 * Return: departure plus serialisation up to that packet's last bit, rounded
 * up, for at the next ns it is seen to have left; the departure when the speed
 * is unknown.
 */
u64 quell_segment_left_ns(const struct quell_segment *segment, u32 seq,
			  u64 link_bytes_ps)
{
	u32 payload_bytes = seq - segment->seq;
	u64 wire_bytes, rest, left_ns;
	u32 packets;

	if (!link_bytes_ps)
		return segment->depart_ns;
	packets = DIV_ROUND_UP(payload_bytes, max_t(u32, segment->packet_bytes, 1));
	wire_bytes = payload_bytes + (u64)packets * segment->header_bytes;
	left_ns = div64_u64_rem(wire_bytes * NSEC_PER_SEC, link_bytes_ps, &rest);
	rest = div64_u64(rest << 16, link_bytes_ps) + segment->depart_q16;
	return segment->depart_ns + left_ns + ((rest + BIT(16) - 1) >> 16);
}

/**
 * quell_arrival_add() - note the receipt of an acknowledgment
 * @flow:    flow it belongs to
 * @arrival: what came; a telemetry record may be added, of one that it replaces
 *
 * Context: softirq or process context, RCU read side.
 */
void quell_arrival_add(struct quell_flow *flow, struct quell_arrival *arrival)
{
	struct quell_arrival *arrivals = flow->arrivals;
	bool lost = false;

	spin_lock_bh(&flow->arrivals_lock);
	if (flow->arrivals_nr &&
	    arrivals[flow->arrivals_nr - 1].ack_seq == arrival->ack_seq) {
		flow->arrivals_nr--;
		quell_telemetry_keep(arrival, &arrivals[flow->arrivals_nr]);
	} else if (flow->arrivals_nr == QUELL_ARRIVALS_MAX) {
		memmove(arrivals, arrivals + 1,
			(QUELL_ARRIVALS_MAX - 1) * sizeof(*arrivals));
		flow->arrivals_nr--;
		WRITE_ONCE(flow->arrivals_lost, flow->arrivals_lost + 1);
		lost = true;
	}
	arrivals[flow->arrivals_nr++] = *arrival;
	spin_unlock_bh(&flow->arrivals_lock);
	if (lost)
		quell_count(flow->qnet, QUELL_N_ARRIVAL_RING_OVERRUN);
}

/**
 * quell_arrival_take() - when the acknowledgment being processed came in
 * @flow:    flow
 * @una:     first sequence number not acknowledged
 * @arrival: set when there is one
 *
 * The newest receipt that TCP may have processed wins, and older ones go; of
 * telemetry records the newest that one of them brought.
 *
 * Context: socket lock.
 * Return: whether there is one.
 */
bool quell_arrival_take(struct quell_flow *flow, u32 una, struct quell_arrival *arrival)
{
	struct quell_arrival *arrivals = flow->arrivals;
	u32 taken, i;

	spin_lock_bh(&flow->arrivals_lock);
	for (taken = flow->arrivals_nr; taken > 0; taken--)
		if (!after(arrivals[taken - 1].ack_seq, una))
			break;
	if (taken) {
		*arrival = arrivals[taken - 1];
		for (i = taken - 1; i > 0; i--)
			quell_telemetry_keep(arrival, &arrivals[i - 1]);
		flow->arrivals_nr -= taken;
		memmove(arrivals, arrivals + taken,
			flow->arrivals_nr * sizeof(*arrivals));
	}
	spin_unlock_bh(&flow->arrivals_lock);
	return taken > 0;
}

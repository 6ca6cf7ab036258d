/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One wire for several queues.
 *
 *	places on the wire	| queue 1 | queue 3 |   queue 2   | <- the next place
 *	time			     ^ now
 *
 * A queue with packets takes the next place, as long as its next packet, and sends when the
 * place begins; then it takes another.  It has one place at most.  So queues with packets
 * take turns, packet by packet, and no queue asks for the wire before its time.
 *
 * The packet sent may be longer or shorter than the place: another packet came first, or the
 * packet was cut or dropped.  The places after the last one then begin earlier or later by
 * the difference, those already taken stay.  So at every moment the wire has carried the
 * bytes of its rate, give or take one packet of each queue.
 */
#ifndef _QUELL_CORE_PORT_PLACES_H
#define _QUELL_CORE_PORT_PLACES_H

#include <quell/core/port/shaper.h>

/* A place that so many bytes have been taken behind is one of the past. */
#define QUELL_PLACES_BYTES_MAX	(1ULL << 32)

/**
 * struct quell_places - the wire
 * @rate_bytes_ps:	its rate; 0: any number of packets leave at any time
 * @end:		when the last place ends
 * @taken_bytes:	sum of all places, free-running
 */
struct quell_places {
	u64			rate_bytes_ps;
	struct quell_shaper	end;
	u64			taken_bytes;
};

/**
 * struct quell_place - the place of one queue
 * @begin_ns:	when it begins
 * @at_bytes:	sum of all places before it
 * @bytes:	its length; 0: the queue has no place
 */
struct quell_place {
	u64	begin_ns;
	u64	at_bytes;
	u32	bytes;
};

/**
 * quell_places_take() - take the next place
 * @wire: the wire, of a rate that is not 0
 * @place: of a queue without one; set in full
 * @now_ns: time
 * @bytes: length of the next packet on the wire, 1 to 2^30
 *
 * Context: any; the caller owns both.
 */
static inline void quell_places_take(struct quell_places *wire, struct quell_place *place,
				     u64 now_ns, u32 bytes)
{
	if (now_ns > QUELL_SHAPER_LATE_NS)
		quell_shaper_wake(&wire->end, now_ns - QUELL_SHAPER_LATE_NS);
	place->begin_ns = quell_shaper_ready_ns(&wire->end);
	place->at_bytes = wire->taken_bytes;
	place->bytes = bytes;
	quell_shaper_charge(&wire->end, wire->rate_bytes_ps, bytes);
	wire->taken_bytes += bytes;
}

/**
 * quell_places_leave() - a packet leaves in its queue's place
 * @wire: the wire
 * @place: the queue's, which is void then
 * @bytes: of the packet on the wire; 0: no packet is sent
 *
 * Context: any; the caller owns both.
 */
static inline void quell_places_leave(struct quell_places *wire, struct quell_place *place,
				      u32 bytes)
{
	if (place->bytes && wire->rate_bytes_ps) {
		if (bytes > place->bytes)
			quell_shaper_charge(&wire->end, wire->rate_bytes_ps,
					    bytes - place->bytes);
		else
			quell_shaper_refund(&wire->end, wire->rate_bytes_ps,
					    place->bytes - bytes);
		wire->taken_bytes += (u64)bytes - place->bytes;
	}
	place->bytes = 0;
}

/**
 * quell_places_moved_ns() - where a place begins after the wire's rate has changed
 * @wire: the wire, of its new rate
 * @place: taken before
 * @now_ns: time
 *
 * Context: any; the caller owns both.
 * Return: time; 0 for a place that needs no waiting.
 */
static inline u64 quell_places_moved_ns(const struct quell_places *wire,
					const struct quell_place *place, u64 now_ns)
{
	u64 behind_bytes = wire->taken_bytes - place->at_bytes;
	u64 behind_ns;

	if (!wire->rate_bytes_ps || place->begin_ns <= now_ns ||
	    behind_bytes > QUELL_PLACES_BYTES_MAX)
		return 0;
	behind_ns = quell_div_u64(behind_bytes * QUELL_NS_PER_SEC, wire->rate_bytes_ps);
	return quell_sub_sat_u64(quell_shaper_ready_ns(&wire->end), behind_ns);
}

#endif /* _QUELL_CORE_PORT_PLACES_H */

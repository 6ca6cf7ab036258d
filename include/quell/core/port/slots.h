/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One wire for several queues.
 *
 *	slots on the wire	| queue 1 | queue 3 |   queue 2   | <- the next slot
 *	time			     ^ now
 *
 * A queue with packets takes the next slot, as long as its next packet, and sends when the
 * slot begins; then it takes another.  It has one slot at most.  So queues with packets
 * take turns, packet by packet, and no queue asks for the wire before its time.
 *
 * The packet sent may be longer or shorter than the slot: another packet came first, or the
 * packet was cut or dropped.  The slots after the last one then begin earlier or later by
 * the difference, those already taken stay.  So at every moment the wire has carried the
 * bytes of its rate, give or take one packet of each queue.
 */
#ifndef _QUELL_CORE_PORT_SLOTS_H
#define _QUELL_CORE_PORT_SLOTS_H

#include <quell/core/port/shaper.h>

/* A slot that so many bytes have been taken behind is one of the past. */
#define QUELL_SLOTS_BYTES_MAX	(1ULL << 32)

/**
 * struct quell_slots - the wire
 * @rate_bytes_ps:	its rate; 0: any number of packets leave at any time
 * @end:		when the last slot ends
 * @taken_bytes:	sum of all slots, free-running
 */
struct quell_slots {
	u64			rate_bytes_ps;
	struct quell_shaper	end;
	u64			taken_bytes;
};

/**
 * struct quell_slot - the slot of one queue
 * @begin_ns:	when it begins
 * @at_bytes:	sum of all slots before it
 * @bytes:	its length; 0: the queue has no slot
 */
struct quell_slot {
	u64	begin_ns;
	u64	at_bytes;
	u32	bytes;
};

/**
 * quell_slots_reserve() - take the next slot
 * @wire: the wire, of a rate that is not 0
 * @slot:  of a queue without one; set in full
 * @now_ns: time
 * @bytes: length of the next packet on the wire, 1 to 2^30
 *
 * Context: any; the caller owns both.
 */
static inline void quell_slots_reserve(struct quell_slots *wire, struct quell_slot *slot,
				       u64 now_ns, u32 bytes)
{
	if (now_ns > QUELL_SHAPER_LATE_NS)
		quell_shaper_restart(&wire->end, now_ns - QUELL_SHAPER_LATE_NS);
	slot->begin_ns = quell_shaper_ready_ns(&wire->end);
	slot->at_bytes = wire->taken_bytes;
	slot->bytes = bytes;
	quell_shaper_charge(&wire->end, wire->rate_bytes_ps, bytes);
	wire->taken_bytes += bytes;
}

/**
 * quell_slots_release() - a packet leaves in its queue's slot
 * @wire: the wire
 * @slot:  the queue's, which is void then
 * @bytes: of the packet on the wire; 0: no packet is sent
 *
 * Context: any; the caller owns both.
 */
static inline void quell_slots_release(struct quell_slots *wire, struct quell_slot *slot,
				       u32 bytes)
{
	if (slot->bytes && wire->rate_bytes_ps) {
		if (bytes > slot->bytes)
			quell_shaper_charge(&wire->end, wire->rate_bytes_ps,
					    bytes - slot->bytes);
		else
			quell_shaper_refund(&wire->end, wire->rate_bytes_ps,
					    slot->bytes - bytes);
		wire->taken_bytes += (u64)bytes - slot->bytes;
	}
	slot->bytes = 0;
}

/**
 * quell_slots_moved_ns() - where a slot begins after the wire's rate has changed
 * @wire: the wire, of its new rate
 * @slot:  taken before
 * @now_ns: time
 *
 * Context: any; the caller owns both.
 * Return: time; 0 for a slot that needs no waiting.
 */
static inline u64 quell_slots_moved_ns(const struct quell_slots *wire,
				       const struct quell_slot *slot, u64 now_ns)
{
	u64 behind_bytes = wire->taken_bytes - slot->at_bytes;
	u64 behind_ns;

	if (!wire->rate_bytes_ps || slot->begin_ns <= now_ns ||
	    behind_bytes > QUELL_SLOTS_BYTES_MAX)
		return 0;
	behind_ns = quell_div_u64(behind_bytes * QUELL_NS_PER_SEC, wire->rate_bytes_ps);
	return quell_sub_sat_u64(quell_shaper_ready_ns(&wire->end), behind_ns);
}

#endif /* _QUELL_CORE_PORT_SLOTS_H */

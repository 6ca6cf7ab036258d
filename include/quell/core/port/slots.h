/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One wire for several queues.
 *
 *	slots on the wire	| queue 1 | queue 3 |   queue 2   | <- the next slot
 *	time			     ^ now
 *
 * A queue with packets takes the next slot, as long as its next packet, and sends when the
 * slot begins; then it takes another.  It has one slot at most.  So queues with packets
 * take turns, packet by packet, and no queue wakes up before its time.
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

/* The wire. */
struct quell_slots {
	u64			rate_bytes_ps;	/* 0: any number of packets at any time */
	struct quell_shaper	end;	/* when the last slot ends */
	u64			taken_bytes;	/* sum of all slots, free-running */
};

/* The slot of one queue. */
struct quell_slot {
	u64	begin_ns;
	u64	at_bytes;	/* sum of all slots before it */
	u32	bytes;	/* its length; 0: the queue has no slot */
};

/* The rate is not 0 and the queue has no slot; @bytes on the wire, 1 to 2^30. */
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

/* A packet is sent in its queue's slot, which is void then; @bytes 0: no packet is. */
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

/* Where a slot begins after the wire's rate has changed; 0: no delay is needed. */
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

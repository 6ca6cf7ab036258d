// SPDX-License-Identifier: GPL-2.0
/*
 * Every branch of one wire for several queues (<quell/core/port/slots.h>), and its promise:
 * the wire carries its rate, give or take a packet of each queue.
 */
#include <stddef.h>

#include <quell/core/port/slots.h>

#include "random.h"
#include "test.h"

#define GBIT	125000000ULL
#define QUEUES	8

TEST(take)
{
	struct quell_slots wire = { .rate_bytes_ps = GBIT, .end = { 2000000, 0 } };
	struct quell_slot first, second;

	quell_slots_reserve(&wire, &first, 2000000, 1000);
	quell_slots_reserve(&wire, &second, 2000000, 500);
	expect(first.begin_ns == 2000000 && first.at_bytes == 0 && first.bytes == 1000, "at_once");
	expect(second.begin_ns == 2008000 && second.at_bytes == 1000 &&
		       wire.end.free_ns == 2012000 && wire.taken_bytes == 1500,
	       "behind_it");
	quell_slots_reserve(&wire, &first, 9000000, 1000);
	expect(first.begin_ns == 9000000 - QUELL_SHAPER_LATE_NS, "late");
	wire.end.free_ns = 0;
	quell_slots_reserve(&wire, &first, QUELL_SHAPER_LATE_NS, 1000);
	expect(first.begin_ns == 0, "early_after_boot");
}

TEST(leave)
{
	static const struct {
		const char *name;
		u64 rate_bytes_ps, want_ns, want_taken;
		u32 place_bytes, bytes;
	} cases[] = {
		{ "as_long", GBIT, 8000, 1000, 1000, 1000 },
		{ "longer", GBIT, 12000, 1500, 1000, 1500 },
		{ "shorter", GBIT, 512, 64, 1000, 64 },
		{ "none", GBIT, 0, 0, 1000, 0 },
		{ "without_a_place", GBIT, 0, 0, 0, 64 },
		{ "rate_off", 0, 0, 1000, 1000, 64 },
	};

	for_each_row(row, cases) {
		struct quell_slots wire = { .rate_bytes_ps = GBIT };
		struct quell_slot slot = { };

		if (row->place_bytes)
			quell_slots_reserve(&wire, &slot, 0, row->place_bytes);
		if (!row->rate_bytes_ps)
			wire = (struct quell_slots) { .taken_bytes = wire.taken_bytes };
		quell_slots_release(&wire, &slot, row->bytes);
		expect(wire.end.free_ns == row->want_ns && !wire.end.free_rem &&
			       wire.taken_bytes == row->want_taken && !slot.bytes,
		       "%s", row->name);
	}
}

/* Places of 1000 bytes at 1 Gbit/s, then another rate at 4000 ns, in the middle of the first. */
TEST(moved)
{
	static const struct {
		const char *name;
		u64 rate_bytes_ps, now_ns, want_ns[4];
		u64 behind_bytes;
	} cases[] = {
		{ "faster", 2 * GBIT, 4000, { 0, 6000, 10000, 14000 }, 0 },
		{ "slower", GBIT / 2, 4000, { 0, 12000, 28000, 44000 }, 0 },
		{ "off", 0, 4000, { 0, 0, 0, 0 }, 0 },
		{ "past", 2 * GBIT, 24000, { 0, 0, 0, 0 }, 0 },
		{ "very_old", 2 * GBIT, 4000, { 0, 0, 0, 0 }, QUELL_SLOTS_BYTES_MAX },
	};
	u32 k;

	for_each_row(one, cases) {
		struct quell_slots wire = { .rate_bytes_ps = GBIT };
		struct quell_slot slot[4];
		bool right = true;

		for_each_row(row, slot)
			quell_slots_reserve(&wire, row, 0, 1000);
		quell_shaper_rerate(&wire.end, 4000, GBIT, one->rate_bytes_ps);
		wire.rate_bytes_ps = one->rate_bytes_ps;
		wire.taken_bytes += one->behind_bytes;
		for (k = 0; k < ARRAY_SIZE(slot); k++)
			right = right && one->want_ns[k] ==
						 quell_slots_moved_ns(&wire, &slot[k], one->now_ns);
		expect(right, "%s", one->name);
	}
}

/*
 * Queues always have packets, of random lengths; each sends when its place begins, in every
 * other run something else than it took the place for.
 */
TEST(rate_holds)
{
	struct random_state r = { 11 };
	bool holds = true, in_turn = true;
	int run, i, q;

	for (run = 0; run < 100; run++) {
		u64 rate_bytes_ps = random_magnitude(&r, 1000000, 12500000000ULL);
		struct quell_slots wire = { .rate_bytes_ps = rate_bytes_ps };
		struct quell_slot slot[QUEUES];
		u64 sent_bytes = 0, wire_bytes, now_ns;
		u32 sent[QUEUES] = { };

		for (q = 0; q < QUEUES; q++)
			quell_slots_reserve(&wire, &slot[q], 0, 1500);
		for (i = 0; i < 2000; i++) {
			int next = 0;
			u32 bytes;

			for (q = 1; q < QUEUES; q++)
				if (slot[q].begin_ns < slot[next].begin_ns)
					next = q;
			bytes = run % 2 ? random_magnitude(&r, 64, 1500) : slot[next].bytes;
			now_ns = slot[next].begin_ns;
			wire_bytes = quell_mul_div_u64(now_ns, rate_bytes_ps, QUELL_NS_PER_SEC);
			holds = holds && sent_bytes <= wire_bytes + QUEUES * 1500 &&
				wire_bytes <= sent_bytes + QUEUES * 1500;
			quell_slots_release(&wire, &slot[next], bytes);
			quell_slots_reserve(&wire, &slot[next], now_ns,
					    random_magnitude(&r, 64, 1500));
			sent_bytes += bytes;
			sent[next]++;
		}
		for (q = 0; q < QUEUES; q++)
			in_turn = in_turn && (run % 2 || sent[q] == 2000 / QUEUES);
	}
	expect(holds, "rate_within_a_packet_of_each_queue");
	expect(in_turn, "in_turn");
}

TEST_HARNESS_MAIN

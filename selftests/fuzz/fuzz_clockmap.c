// SPDX-License-Identifier: GPL-2.0
/*
 * Drives the map of a NIC's clock with arbitrary stamps, and stops where a promise
 * is broken:
 *
 *	a mapped time is never after receipt, an unmapped result is the receipt time
 *	a mapped time is at most twice the window's delays plus 0.1 ms before it
 *	the slope stays within the largest drift a clock may have
 *	consecutive refusals end in a step
 *
 * Input: packets, each the kind and the size of the steps of the two clocks.
 */
#include <stdio.h>
#include <stdlib.h>

#include <quell/core/signal/clockmap.h>

#include "input.h"

/* Enough for eight bins and a step forwards; the unit tests cover 4096 packets. */
#define MOST_PKTS	300

static void require(bool holds, const char *promise)
{
	if (holds)
		return;
	fprintf(stderr, "broken: %s\n", promise);
	abort();
}

static void check(const struct quell_clockmap *map, enum quell_clockmap_result result,
		  u64 sw_ns, u64 host_ns, u64 high_ns)
{
	require(host_ns == sw_ns || result == QUELL_CLOCKMAP_MAPPED, "the receipt");
	if (result == QUELL_CLOCKMAP_MAPPED)
		require(sw_ns - host_ns <= 2 * high_ns + QUELL_CLOCKMAP_LATE_NS, "not too early");
	require(map->bins_nr <= QUELL_CLOCKMAP_BINS, "bins");
	require(map->rate_q32 >= QUELL_CLOCKMAP_RATE_ONE - QUELL_CLOCKMAP_DRIFT_MAX &&
		map->rate_q32 <= QUELL_CLOCKMAP_RATE_ONE + QUELL_CLOCKMAP_DRIFT_MAX, "slope");
	require(result != QUELL_CLOCKMAP_STEPPED || (!map->bins_nr && !map->usable), "anew");
	require(map->late_pkts < QUELL_CLOCKMAP_STEP_PKTS &&
		map->early_pkts < QUELL_CLOCKMAP_EARLY_PKTS, "refusals end");
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = { data, size };
	struct quell_clockmap map = { 0 };
	u64 hw_ns = take(&in, 64), sw_ns = take(&in, 62), host_ns;
	u32 pkts = 0;

	while (in.size && pkts < MOST_PKTS) {
		u32 kind = take_byte(&in), times = 1 + (kind >> 2), i;
		u64 gap_ns = take(&in, 28), odd_ns = take(&in, 64);

		for (i = 0; i < times; i++, pkts++) {
			u64 late_ns = kind & 1 ? (odd_ns * (i + 1)) >> 44 : 0;
			u64 high_ns;

			hw_ns += gap_ns + (kind & 2 ? odd_ns : 0);
			sw_ns += gap_ns;
			if (quell_clockmap_bin_is_over(&map, sw_ns + late_ns)) {
				struct quell_clockmap closed = map;

				quell_clockmap_bin_close(&closed, sw_ns + late_ns);
				high_ns = closed.high_ns;
			} else {
				high_ns = map.high_ns;
			}
			check(&map, quell_clockmap_add(&map, hw_ns, sw_ns + late_ns, &host_ns),
			      sw_ns + late_ns, host_ns, high_ns);
		}
	}
	return 0;
}

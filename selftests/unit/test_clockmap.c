// SPDX-License-Identifier: GPL-2.0
/*
 * <quell/core/signal/clockmap.h> against the truth: packets arrive at true times, a
 * NIC's clock with offset, drift and steps timestamps them, and the host handles them
 * late by random times.  Truth and clock are floating point, which the core may not use.
 */
#include <math.h>
#include <stddef.h>

#include <quell/core/signal/clockmap.h>

#include "random.h"
#include "test.h"

#define MS		1e6
#define NEVER		1e300

/* NOISE_BATCHES: late in batches, where packets that meet a pending batch arrive with it. */
enum noise { NOISE_NONE, NOISE_EVEN, NOISE_BATCHES };

/* A NIC's clock and its host; times in ns from the beginning. */
struct world {
	double offset_ns, drift_ppm, wander_ppm_ps;
	double gap_ns, noise_ns;
	enum noise noise;
	double step_at_ns, step_ns;
};

/* A burst of packets every gap_ns, then a pause of up to twice pause_ns. */
struct bursts {
	unsigned int pkts;
	u64 pause_ns;
};

struct outcome {
	double first_ns;		/* mapped for the first time */
	double low_ns, high_ns;		/* error of mapped times */
	double between_ns;		/* worst error from a step to its discovery */
	unsigned long pkts[4], to_find_pkts;
	bool later;			/* a mapped time was after the receipt */
	bool again;			/* the map became unusable after it was usable */
};

static double hardware_ns(const struct world *w, double t_ns)
{
	double clock_ns = t_ns * (1 + w->drift_ppm * 1e-6) +
			  w->wander_ppm_ps * 1e-6 * t_ns * t_ns / 2e9;

	return clock_ns + (w->step_at_ns <= t_ns ? w->step_ns : 0);
}

static double late_ns(const struct world *w, struct random_state *r, double t_ns,
		      double *batch_ns)
{
	double draw_ns = random_between(r, 0, 1000000) / 1e6 * w->noise_ns;

	if (w->noise == NOISE_NONE)
		return 0;
	if (w->noise == NOISE_EVEN)
		return draw_ns;
	if (*batch_ns < t_ns)
		*batch_ns = t_ns + draw_ns;
	return *batch_ns - t_ns;
}

static void judge(const struct world *w, struct outcome *out, double t_ns, double error_ns)
{
	if (w->step_at_ns <= t_ns && !out->pkts[QUELL_CLOCKMAP_STEPPED] && w->step_ns) {
		out->between_ns = fmax(out->between_ns, fabs(error_ns));
		return;
	}
	if (!out->first_ns)
		out->first_ns = t_ns;
	out->low_ns = fmin(out->low_ns, error_ns);
	out->high_ns = fmax(out->high_ns, error_ns);
}

static struct outcome run_bursts(const struct world *w, const struct bursts *bursts,
				 struct quell_clockmap *map, double until_ns, u64 seed)
{
	const u64 host_zero_ns = 5000000000ULL, card_zero_ns = (u64)w->offset_ns;
	struct random_state r = { seed };
	struct outcome out = { 0 };
	double t_ns, batch_ns = -1;
	unsigned long nr = 0;

	for (t_ns = 0; t_ns < until_ns; t_ns += w->gap_ns) {
		double seen_ns = t_ns + late_ns(w, &r, t_ns, &batch_ns);
		u64 hw_ns = card_zero_ns + (u64)(long long)floor(hardware_ns(w, t_ns));
		u64 sw_ns = host_zero_ns + (u64)floor(seen_ns), host_ns;
		enum quell_clockmap_result result = quell_clockmap_add(map, hw_ns, sw_ns, &host_ns);

		out.to_find_pkts += t_ns >= w->step_at_ns && !out.pkts[QUELL_CLOCKMAP_STEPPED];
		out.pkts[result]++;
		out.later |= host_ns > sw_ns ||
			     (result != QUELL_CLOCKMAP_MAPPED && host_ns != sw_ns);
		out.again |= out.first_ns && result == QUELL_CLOCKMAP_WARMING;
		if (result == QUELL_CLOCKMAP_MAPPED)
			judge(w, &out, t_ns, (double)(long long)(host_ns - host_zero_ns) - t_ns);
		if (bursts->pkts && ++nr % bursts->pkts == 0)
			t_ns += random_between(&r, 0, 2 * bursts->pause_ns);
	}
	return out;
}

static struct outcome run(const struct world *w, struct quell_clockmap *map, double until_ns,
			  u64 seed)
{
	return run_bursts(w, &(struct bursts) { 0 }, map, until_ns, seed);
}

TEST(line)
{
	static const struct {
		const char *name;
		struct world world;
		double until_ns, error_ns, first_ns;
	} cases[] = {
		{ "no_noise", { 1.7e18, 0, 0, 1000, 0, NOISE_NONE, NEVER, 0 }, 20 * MS, 2, 4.1 * MS },
		{ "fast_clock", { 1.7e18, 50, 0, 1000, 0, NOISE_NONE, NEVER, 0 }, 20 * MS, 2, 4.1 * MS },
		{ "slow_clock", { 12345, -50, 0, 1000, 0, NOISE_NONE, NEVER, 0 }, 20 * MS, 2, 4.1 * MS },
		{ "card_at_zero", { 0, 10, 0, 1000, 0, NOISE_NONE, NEVER, 0 }, 20 * MS, 2, 4.1 * MS },
		{ "worst_crystal", { 1e9, 900, 0, 1000, 0, NOISE_NONE, NEVER, 0 }, 20 * MS, 2, 4.1 * MS },
		/* beyond the drift of any clock: never usable, never wrong */
		{ "no_clock", { 1e9, 5000, 0, 1000, 0, NOISE_NONE, NEVER, 0 }, 20 * MS, 0, 0 },
		{ "no_clock_slow", { 1e9, -5000, 0, 1000, 0, NOISE_NONE, NEVER, 0 }, 20 * MS, 0, 0 },
		{ "dense_even_noise", { 1.7e18, 50, 0, 121, 200000, NOISE_EVEN, NEVER, 0 },
		  50 * MS, 100, 4.6 * MS },
		{ "dense_batches", { 1.7e18, -50, 0, 121, 200000, NOISE_BATCHES, NEVER, 0 },
		  50 * MS, 60, 5 * MS },
		{ "tenth_of_that", { 1.7e18, 50, 0, 1210, 200000, NOISE_EVEN, NEVER, 0 },
		  200 * MS, 150, 16 * MS },
		/* 10000 packets a second, 640 a bin of 64 ms: D / n is 312 ns */
		{ "sparse", { 1.7e18, 50, 0, 100000, 200000, NOISE_EVEN, NEVER, 0 },
		  5000 * MS, 1600, 300 * MS },
		{ "wander", { 1.7e18, 20, 1, 1000, 0, NOISE_NONE, NEVER, 0 }, 1000 * MS, 5, 4.1 * MS },
		/* one packet in 0.2 s: bins of one; in 2 s: never two that compare */
		{ "five_a_second", { 1.7e18, 20, 0, 200 * MS, 0, NOISE_NONE, NEVER, 0 },
		  9000 * MS, 4, 3000 * MS },
		{ "one_in_two_seconds", { 1.7e18, 20, 0, 2000 * MS, 0, NOISE_NONE, NEVER, 0 },
		  90000 * MS, 0, 0 },
	};

	for_each_row(row, cases) {
		struct quell_clockmap map = { 0 };
		struct outcome out = run(&row->world, &map, row->until_ns, 1);
		bool used = out.pkts[QUELL_CLOCKMAP_MAPPED] > 0;

		expect(used == (row->first_ns > 0) && out.first_ns <= row->first_ns &&
			       out.low_ns >= -row->error_ns && out.high_ns <= row->error_ns &&
			       !out.later && !out.pkts[QUELL_CLOCKMAP_STEPPED],
		       "quell_clockmap_add__%s: from %.3f ms, error %.1f..%.1f ns, steps %lu",
		       row->name, out.first_ns / MS, out.low_ns, out.high_ns,
		       out.pkts[QUELL_CLOCKMAP_STEPPED]);
	}
}

/*
 * Bursts of ACKs at a host that is late itself come ten times a ms.  If some bursts outlast
 * the noise there is a floor, and the map waits until it has seen it; single packets
 * have no floor, and the map waits at most 64 ms and 8 bins of 256 packets.
 */
TEST(bursts_cases)
{
	static const struct {
		const char *name;
		struct bursts bursts;
		double until_ns, error_ns, from_ns, first_ns;
	} cases[] = {
		{ "with_a_floor", { 400, 100000 }, 200 * MS, 100, 4 * MS, 64 * MS },
		{ "without", { 1, 100000 }, 400 * MS, 1000, 64 * MS, 220 * MS },
	};
	u64 seed;

	for_each_row(row, cases) {
		struct world w = { 1.7e18, -50, 0, 10, 200000, NOISE_BATCHES, NEVER, 0 };
		struct outcome worst = { .first_ns = NEVER };
		double last_ns = 0;

		for (seed = 1; seed <= 20; seed++) {
			struct quell_clockmap map = { 0 };
			struct outcome out =
				run_bursts(&w, &row->bursts, &map, row->until_ns, seed);

			worst.again |= out.again;
			worst.low_ns = fmin(worst.low_ns, out.low_ns);
			worst.high_ns = fmax(worst.high_ns, out.high_ns);
			worst.first_ns = fmin(worst.first_ns, out.first_ns);
			last_ns = fmax(last_ns, out.first_ns ? out.first_ns : NEVER);
		}
		expect(!worst.again && worst.low_ns >= -row->error_ns &&
			       worst.high_ns <= row->error_ns && worst.first_ns >= row->from_ns &&
			       last_ns <= row->first_ns,
		       "quell_clockmap_add__bursts_%s: from %.3f..%.3f ms, error %.1f..%.1f ns, again %d",
		       row->name, worst.first_ns / MS, last_ns / MS, worst.low_ns, worst.high_ns,
		       worst.again);
	}
}

TEST(steps_cases)
{
	static const struct {
		const char *name;
		double step_ns, noise_ns;
		enum noise noise;
		unsigned long most_pkts;
		double between_ns, after_ns;
	} cases[] = {
		{ "forward", 1e6, 200000, NOISE_BATCHES, 4, 0, 100 },
		{ "forward_a_year", 3e16, 200000, NOISE_EVEN, 2000, 150, 150 },
		{ "forward_quiet", 1e6, 0, NOISE_NONE, 4, 0, 2 },
		/* below the threshold of a step: the line follows at once */
		{ "forward_little", 900, 0, NOISE_NONE, 0, 1000, 1000 },
		{ "back", -1e6, 200000, NOISE_BATCHES, 20000, 0, 100 },
		{ "back_a_year", -3e16, 200000, NOISE_EVEN, 4096, 0, 150 },
		{ "back_within_noise", -50000, 200000, NOISE_BATCHES, 30000, 50010, 100 },
		{ "back_quiet", -30000, 0, NOISE_NONE, 4096, 30010, 2 },
	};

	for_each_row(row, cases) {
		struct world w = { 1.7e18,	  30,	      0,       121,
				   row->noise_ns, row->noise, 30 * MS, row->step_ns };
		struct quell_clockmap map = { 0 };
		struct outcome out = run(&w, &map, 60 * MS, 3);
		unsigned long steps = row->most_pkts ? 1 : 0;

		expect(out.pkts[QUELL_CLOCKMAP_STEPPED] == steps && !out.later &&
			       (!steps || out.to_find_pkts <= row->most_pkts) &&
			       out.between_ns <= row->between_ns && out.low_ns >= -row->after_ns &&
			       out.high_ns <= row->after_ns,
		       "quell_clockmap_add__step_%s: steps %lu found after %lu, between %.1f, error %.1f..%.1f ns",
		       row->name, out.pkts[QUELL_CLOCKMAP_STEPPED], out.to_find_pkts,
		       out.between_ns, out.low_ns, out.high_ns);
	}
}

/* A usable map at a known time, 1 ns a ns, noise of 1 us. */
static u64 settle(struct quell_clockmap *map)
{
	struct world w = { 1000, 0, 0, 1000, 1000, NOISE_EVEN, NEVER, 0 };

	*map = (struct quell_clockmap) { 0 };
	run(&w, map, 20 * MS, 1);
	return 20 * MS;
}

static enum quell_clockmap_result add(struct quell_clockmap *map, u64 t_ns, u64 hw_error_ns,
				      u64 late, u64 *host_ns)
{
	return quell_clockmap_add(map, 1000 + t_ns + hw_error_ns, 5000000000ULL + t_ns + late,
				  host_ns);
}

/* Stamps that are not a step: refused one by one, forgotten in time. */
TEST(refused)
{
	struct quell_clockmap map;
	u64 t_ns = settle(&map), host_ns;
	bool right = true;
	int i;

	for (i = 0; i < 3; i++)
		right &= add(&map, t_ns, 5000000, 0, &host_ns) == QUELL_CLOCKMAP_REFUSED &&
			 host_ns == 5000000000ULL + t_ns;
	expect(right, "after_the_receipt_refused");
	/* half of the three are forgotten with the next bin, and again */
	for (i = 0; i < 20000; i++)
		add(&map, t_ns += 1000, 0, 0, &host_ns);
	for (i = 0, right = true; i < 3; i++)
		right &= add(&map, t_ns, 5000000, 0, &host_ns) == QUELL_CLOCKMAP_REFUSED;
	expect(right, "after_the_receipt_forgotten");
	expect(add(&map, t_ns, 5000000, 0, &host_ns) == QUELL_CLOCKMAP_STEPPED,
	       "after_the_receipt_is_a_step");
	t_ns = settle(&map);
	for (i = 0, right = true; i < 31; i++)
		right &= add(&map, t_ns + 1000 * i, 0, 9000000, &host_ns) == QUELL_CLOCKMAP_REFUSED;
	right &= add(&map, t_ns + 10000000, 0, 0, &host_ns) == QUELL_CLOCKMAP_MAPPED;
	expect(right && !map.late_pkts, "far_too_late_refused");
}

/* The host stalls for 3 ms: all packets that waited are refused, and there is no step. */
TEST(stall)
{
	struct quell_clockmap map;
	u64 t_ns = settle(&map), host_ns;
	unsigned int counted[4] = { 0 };
	int i;

	for (i = 0; i < 3000; i++)
		counted[add(&map, t_ns + 1000 * i, 0, 3000000 - 1000 * i, &host_ns)]++;
	expect(counted[QUELL_CLOCKMAP_REFUSED] > 2000 && counted[QUELL_CLOCKMAP_MAPPED] > 50 &&
		       !counted[QUELL_CLOCKMAP_STEPPED] && map.usable,
	       "stall_is_no_step");
}

TEST(edges)
{
	struct quell_clockmap map = { 0 };
	u64 host_ns, t_ns, rate_q32;
	u32 i;

	expect(add(&map, 0, 0, 0, &host_ns) == QUELL_CLOCKMAP_WARMING && host_ns == 5000000000ULL,
	       "first_packet");
	t_ns = settle(&map);
	expect(add(&map, t_ns - 500, 0, 0, &host_ns) == QUELL_CLOCKMAP_MAPPED &&
		       map.last_ns > host_ns,
	       "out_of_order");
	expect_eq(5000000000ULL, quell_clockmap_ns(&map, 1000), "before_the_base");
	rate_q32 = map.rate_q32;
	expect(add(&map, t_ns + 1100000000ULL, 7777, 0, &host_ns) == QUELL_CLOCKMAP_WARMING &&
		       !map.bins_nr && map.rate_q32 == rate_q32,
	       "stale_keeps_the_slope");
	/* while warming, a little after the receipt lowers the line, a lot does not */
	expect(add(&map, t_ns + 1100001000ULL, 7777 + 900000, 0, &host_ns) ==
		       QUELL_CLOCKMAP_WARMING,
	       "warming_lowers");
	expect(add(&map, t_ns + 1100002000ULL, 7777 + 9000000, 0, &host_ns) ==
		       QUELL_CLOCKMAP_REFUSED,
	       "warming_refuses");
	/* a NIC clock that runs back for a while, and one that stands still */
	settle(&map);
	map.bins[3].hw_ns = map.bins[2].hw_ns;
	map.bins[5].hw_ns += 1ULL << 40;
	map.bins[7].sw_ns = map.bins[6].sw_ns;
	map.bins[8].sw_ns += 1ULL << 40;
	expect(quell_clockmap_fit(&map) && map.rate_q32 > QUELL_CLOCKMAP_RATE_ONE - 10000 &&
		       map.rate_q32 < QUELL_CLOCKMAP_RATE_ONE + 10000,
	       "bins_passed_over");
	/* each within reach of the last, not of the first */
	settle(&map);
	map.bins[1].hw_ns = map.bins[0].hw_ns + (3ULL << 30);
	map.bins[1].sw_ns = map.bins[0].sw_ns + (3ULL << 30);
	map.bins[2].hw_ns = map.bins[1].hw_ns + (3ULL << 30);
	map.bins[2].sw_ns = map.bins[1].sw_ns + (3ULL << 30);
	map.bins_nr = 3;
	expect(quell_clockmap_fit(&map) && map.base_hw_ns == map.bins[1].hw_ns, "out_of_reach");
	/* lowest points that agree on no line */
	settle(&map);
	for (i = 0; i < map.bins_nr; i++)
		map.bins[i].sw_ns += i % 2 * 100000;
	map.bins[map.bins_nr - 1].sw_ns += 100000;
	map.bins[0].sw_ns += 100000;
	map.bins[map.bins_nr - 1].sw_ns += 100000000;
	map.agreed_ns = 0;
	quell_clockmap_evaluate(&map, true, map.last_ns);
	expect(!map.usable, "no_line");
	settle(&map);
	map.bins_nr = 1;
	expect(!quell_clockmap_fit(&map), "one_point");
}

/* A height that does not fit, a slow clock, a first point too far: each its branch. */
TEST(limits)
{
	struct quell_clockmap map;
	u64 t_ns = settle(&map), host_ns;
	int i;

	expect_eq(0xffffffff, quell_clockmap_u32(1ULL << 33), "saturates");
	map.bins[0].hw_ns += 1ULL << 33;
	expect(!quell_clockmap_height_ns(&map, &map.bins[0]), "below");
	/* late for longer than it is late */
	settle(&map);
	for (i = 0; i < 31; i++)
		add(&map, t_ns + 10000 * i, 0, 200000, &host_ns);
	expect(add(&map, t_ns + 10000 * i, 0, 200000, &host_ns) == QUELL_CLOCKMAP_STEPPED,
	       "late_for_long_is_a_step");
	/* backwards in its own time while far too late: only the number ends that */
	settle(&map);
	for (i = 0; i < 4095; i++)
		add(&map, t_ns + 1000 - i, 0, 90000000, &host_ns);
	expect(map.late_pkts == 4095 &&
		       add(&map, t_ns, 0, 90000000, &host_ns) == QUELL_CLOCKMAP_STEPPED,
	       "far_too_late_is_a_step");
}

/* Any clock within the documented limits keeps the documented bound. */
TEST(random_cases)
{
	struct random_state r = { 11 };
	unsigned int wrong = 0, used = 0;
	int i;

	for (i = 0; i < 60; i++) {
		struct world w = {
			.offset_ns = random_magnitude(&r, 0, 1ULL << 61),
			.drift_ppm = (double)random_between(&r, 0, 200) - 100,
			.gap_ns = random_between(&r, 100, 3000),
			.noise_ns = random_magnitude(&r, 1, 300000),
			.noise = random_between(&r, NOISE_NONE, NOISE_EVEN),
			.step_at_ns = NEVER,
		};
		struct quell_clockmap map = { 0 };
		struct outcome out = run(&w, &map, 40 * MS, i);
		double bin_pkts = fmax(500000 / w.gap_ns, 256);
		double bound_ns = 3 + (w.noise ? 6 * w.noise_ns / bin_pkts : 0);

		used += out.pkts[QUELL_CLOCKMAP_MAPPED] > 0;
		if (out.low_ns < -bound_ns || out.high_ns > bound_ns || out.later ||
		    out.pkts[QUELL_CLOCKMAP_STEPPED]) {
			wrong++;
			printf("# gap %.0f noise %.0f drift %.0f: error %.1f..%.1f, bound %.1f, steps %lu\n",
			       w.gap_ns, w.noise_ns, w.drift_ppm, out.low_ns, out.high_ns, bound_ns,
			       out.pkts[QUELL_CLOCKMAP_STEPPED]);
		}
	}
	expect(!wrong && used == 60, "random_worlds_within_the_bound");
}

TEST_HARNESS_MAIN

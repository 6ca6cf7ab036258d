// SPDX-License-Identifier: GPL-2.0
/*
 * Every branch of the switch port's cores: the wire's clock
 * (<quell/core/port/shaper.h>), random early detection (<quell/core/port/red.h>), and its
 * classes (<quell/core/port/redclass.h>).
 */
#include <math.h>
#include <stddef.h>

#include <quell/core/port/redclass.h>
#include <quell/core/port/shaper.h>

#include "random.h"
#include "test.h"

TEST(charge)
{
	static const struct {
		const char *name;
		u64 rate_bytes_ps, want_ns, want_rem;
		u32 bytes, packets;
	} cases[] = {
		{ "whole_ns", 1000000000, 1538, 0, 1538, 1 },
		/* 1230.4 ns: four tenths of the rate remain */
		{ "fraction_kept", 1250000000, 1230, 500000000, 1538, 1 },
		{ "fractions_add_up", 1250000000, 6152, 0, 1538, 5 },
		/* 123.04 ns a packet */
		{ "hundred_gbit", 12500000000, 12304, 0, 1538, 100 },
		{ "one_byte_ps", 1, 3000000000, 0, 1, 3 },
		{ "nothing", 1000, 0, 0, 0, 7 },
		{ "largest", 1ULL << 44, 61035, 2748779069440, 1 << 30, 1 },
	};
	u32 k;

	for_each_row(row, cases) {
		struct quell_shaper wire = { 0, 0 };

		for (k = 0; k < row->packets; k++)
			quell_shaper_charge(&wire, row->rate_bytes_ps, row->bytes);
		expect(wire.free_ns == row->want_ns && wire.free_rem == row->want_rem, "%s",
		       row->name);
	}
}

/* Over a busy period of random packets the wire carries exactly its rate. */
TEST(charge_is_exact)
{
	struct random_state r = { 5 };
	bool exact = true;
	int period, i;

	for (period = 0; period < 200; period++) {
		u64 rate_bytes_ps = random_magnitude(&r, 1000, 1ULL << 44);
		u64 start_ns = random_magnitude(&r, 0, 1ULL << 50);
		struct quell_shaper wire = { start_ns, 0 };
		u64 all_bytes = 0;

		for (i = 0; i < 1000; i++) {
			u32 bytes = random_magnitude(&r, 0, 100000);
			u64 sent_ns;

			all_bytes += bytes;
			sent_ns = quell_mul_div_u64(all_bytes, QUELL_NS_PER_SEC, rate_bytes_ps);
			quell_shaper_charge(&wire, rate_bytes_ps, bytes);
			exact = exact && wire.free_ns == start_ns + sent_ns &&
				wire.free_rem == all_bytes * QUELL_NS_PER_SEC -
						 sent_ns * rate_bytes_ps;
		}
	}
	expect(exact, "exact_over_busy_periods");
}

/* A charge that is undone leaves no trace. */
TEST(refund)
{
	struct random_state r = { 6 };
	bool exact = true;
	int i;

	for (i = 0; i < 10000; i++) {
		u64 rate_bytes_ps = random_magnitude(&r, 1, 1ULL << 44);
		struct quell_shaper wire = {
			random_magnitude(&r, 0, 1ULL << 50),
			random_magnitude(&r, 1, rate_bytes_ps) - 1,
		};
		struct quell_shaper before = wire;
		u32 bytes = i % 10 ? random_magnitude(&r, 0, 1 << 30) : 0;

		quell_shaper_charge(&wire, rate_bytes_ps, bytes);
		quell_shaper_refund(&wire, rate_bytes_ps, bytes);
		exact = exact && wire.free_ns == before.free_ns &&
			wire.free_rem == before.free_rem;
	}
	expect(exact, "of_what_was_charged");
}

/* At a lower rate an undone charge is longer than the time since the start. */
TEST(refund_at_another_rate)
{
	struct quell_shaper wire = { 1000, 7 };

	quell_shaper_refund(&wire, 8, 64000);
	expect(wire.free_ns == 0 && wire.free_rem < 8, "of_more_than_time");
}

TEST(wake)
{
	struct quell_shaper wire = { 1000, 7 };

	expect_eq(1001, quell_shaper_ready_ns(&wire), "rounds_up");
	quell_shaper_restart(&wire, 1000);
	expect(wire.free_ns == 1000 && wire.free_rem == 7, "busy");
	quell_shaper_restart(&wire, 1001);
	expect(wire.free_ns == 1001 && !wire.free_rem, "idle");
	expect_eq(1001, quell_shaper_ready_ns(&wire), "whole");
}

TEST(rerate)
{
	static const struct {
		const char *name;
		u64 free_ns, free_rem, old_bytes_ps, new_bytes_ps, want_ns, want_rem;
	} cases[] = {
		{ "same", 2000, 7, 1000, 1000, 2000, 7 },
		/* 1000 ns and 500/1000 ns at 1000 B/s, at twice the rate */
		{ "faster", 2000, 500, 1000, 2000, 1500, 500 },
		{ "slower", 2000, 500, 1000, 500, 3001, 0 },
		{ "no_longer_shaped", 2000, 7, 1000, 0, 1000, 0 },
		{ "newly_shaped", 2000, 0, 0, 1000, 1000, 0 },
		{ "idle", 900, 7, 1000, 2000, 1000, 0 },
	};

	for_each_row(row, cases) {
		struct quell_shaper wire = { row->free_ns, row->free_rem };

		quell_shaper_rerate(&wire, 1000, row->old_bytes_ps, row->new_bytes_ps);
		expect(wire.free_ns == row->want_ns && wire.free_rem == row->want_rem, "%s",
		       row->name);
	}
}

TEST(marks_cases)
{
	static const struct {
		const char *name;
		u32 min_bytes, max_bytes, prob_q16, queued_bytes;
		double want;	/* probability */
	} cases[] = {
		{ "below_min", 100, 200, 65536, 99, 0 },
		{ "at_min", 100, 200, 65536, 100, 0 },
		{ "quarter", 100, 200, 65536, 125, 0.25 },
		{ "half_of_a_tenth", 100, 200, 6554, 150, 0.05 },
		{ "nearly_max", 100, 200, 32768, 199, 0.495 },
		{ "at_max", 100, 200, 0, 200, 1 },
		{ "above_max", 100, 200, 0, 4000000000, 1 },
		{ "prob_zero", 100, 200, 0, 150, 0 },
		{ "step_below", 100, 100, 65536, 99, 0 },
		{ "step_at", 100, 100, 65536, 100, 1 },
		{ "widest", 0, 0xffffffff, 65536, 0x80000000, 0.5 },
	};
	const int draws = 100000;
	int k;

	for_each_row(row, cases) {
		struct quell_red_params params = { row->min_bytes, row->max_bytes, row->prob_q16 };
		double want = row->want;
		struct quell_red_vars vars;
		int marks = 0;

		quell_red_seed(&vars, 6);
		for (k = 0; k < draws; k++)
			marks += quell_red_marks(&params, &vars, row->queued_bytes);
		/* Five standard deviations of the binomial distribution; 0 at probability 0, 1. */
		expect(fabs(marks - draws * want) <= 5 * sqrt(draws * want * (1 - want)), "%s",
		       row->name);
	}
}

TEST(lottery)
{
	struct quell_red_params params = { 100, 200, 65536 };
	struct quell_red_vars a, b, c, before;
	bool same = true, alive = true;
	int differ = 0, i;

	quell_red_seed(&a, 1);
	quell_red_seed(&b, 1);
	quell_red_seed(&c, 2);
	for (i = 0; i < 1000; i++) {
		u32 draw = quell_red_draw(&a);

		same = same && draw == quell_red_draw(&b);
		differ += draw != quell_red_draw(&c);
		alive = alive && a.lottery;
	}
	expect(same, "same_seed_same_draws");
	expect(differ > 990, "neighbours_differ");
	expect(alive, "never_stuck_at_zero");
	/* The only seed that the mixing maps to 0. */
	quell_red_seed(&a, 0 - 0x9e3779b97f4a7c15ULL);
	expect_eq(1, a.lottery, "zero_is_avoided");
	before = a;
	quell_red_marks(&params, &a, 99);
	quell_red_marks(&params, &a, 200);
	expect(a.lottery == before.lottery, "no_draw_outside");
	quell_red_marks(&params, &a, 150);
	expect(a.lottery != before.lottery, "draws_between");
}

TEST(class_index)
{
	static const struct quell_red_classes classes = {
		.count = 2,
		.class = {
			{ .dscps = 1ULL << 63 | 1, .red = { 10, 20, 30 } },
			{ .dscps = 0xff00, .red = { 11, 21, 31 } },
			{ .dscps = 1ULL << 30, .red = { 12, 22, 32 } },
		},
	};
	static const struct {
		const char *name;
		u32 dscp;
		u32 want;
	} cases[] = {
		{ "first_bit", 0, 0 },
		{ "last_bit", 63, 0 },
		{ "second_class", 8, 1 },
		{ "its_end", 15, 1 },
		{ "behind_its_end", 16, QUELL_RED_CLASSES_MAX },
		{ "beyond_count", 30, QUELL_RED_CLASSES_MAX },
		{ "no_dscp", QUELL_DSCP_NONE, QUELL_RED_CLASSES_MAX },
		{ "beyond_all", 0xffffffff, QUELL_RED_CLASSES_MAX },
	};

	for_each_row(row, cases) {
		expect(quell_red_class_index(&classes, row->dscp) == row->want, "%s", row->name);
	}
}

TEST(class_overlap)
{
	struct quell_red_classes classes = {
		.count = 2,
		.class = { { .dscps = 0xff }, { .dscps = 0xff00 }, { .dscps = 0x80 } },
	};

	expect(!quell_red_class_overlap(&classes), "apart");
	classes.count = 3;
	expect(quell_red_class_overlap(&classes), "first_and_third");
	classes.count = 0;
	expect(!quell_red_class_overlap(&classes), "none");
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/*
 * <quell/core/adapt/react.h>: when delay that stays, the hosts' noise or losses without delay
 * make CUBIC govern a flow, and when it is given back.
 */
#include "adapt_fixture.h"
#include "test.h"

/*
 * A window of @milli_segments thousandths of a segment, where the start found a hundred
 * segments; @high of ten rounds are above the target.
 */
static int rounds_until_given_up(struct fixture *f, int milli_segments, int high, u32 noise_ns)
{
	int n;

	start_fit(f);
	f->a.cubic.ssthresh_bytes = 100 * MSS;
	f->a.noise_ns = noise_ns;
	f->window_q16 = milli_segments * MSS_Q16 / 1000;
	for (n = 0; f->a.phase == QUELL_ADAPT_FIT && n < 1000; n++)
		acks(f, noise_ns + (n % 10 < high ? 2 * BASE_NS : BASE_NS + 10000), 8);
	return n;
}

/* Delay that goes up and down like noise counts, too; small windows more if hosts are noisy. */
TEST(above)
{
	static const struct {
		const char *name;
		int milli_segments, high, noise_ns, rounds;
	} cases[] = {
		{ "all_of_the_window", 100000, 10, 0, 1000 },
		{ "half", 50000, 10, 0, 1000 },
		{ "less_than_half", 49000, 10, 0, 20 },
		{ "a_segment", 1000, 10, 0, 20 },
		{ "a_part_of_a_segment", 240, 10, 0, 3 },
		{ "most_rounds", 49000, 8, 0, 28 },
		{ "half_the_rounds", 49000, 5, 0, 1000 },
		{ "eight_segments_where_it_is_noisy", 8000, 10, 20000, 20 },
		{ "seven_segments_where_it_is_noisy", 7000, 10, 20000, 3 },
	};
	struct fixture f;

	for_each_row(row, cases) {
		expect_eq(row->rounds,
			  rounds_until_given_up(&f, row->milli_segments, row->high, row->noise_ns),
			  "%s", row->name);
	}
}

/*
 * A window of less than one increase, and than a fourth of a segment, has no queue to reduce: delay
 * between the target and a fourth above it counts as well.  The least share is 125 bytes a round
 * trip, times @scale.
 */
TEST(starved)
{
	static const struct {
		const char *name;
		u64 rtt_ns;
		int scale, window_bytes, rounds;
	} cases[] = {
		{ "below_one_increase", TARGET_NS + 10000, 1, 61, 3 },
		{ "above_one_increase", TARGET_NS + 10000, 1, 62, 1000 },
		{ "not_at_the_target", TARGET_NS, 1, 61, 1000 },
		{ "below_a_fourth_of_a_segment", TARGET_NS + 10000, 10, MSS / 4 - 1, 3 },
		{ "a_fourth_of_a_segment", TARGET_NS + 10000, 10, MSS / 4, 1000 },
	};
	struct fixture f;
	int n;

	for_each_row(row, cases) {
		start_fit(&f);
		f.needs.slowest_bytes_ps *= row->scale;
		f.a.cubic.ssthresh_bytes = 100 * MSS;
		f.window_q16 = (u64)row->window_bytes << 16;
		for (n = 0; f.a.phase == QUELL_ADAPT_FIT && n < 1000; n++)
			acks(&f, row->rtt_ns, 8);
		expect_eq(row->rounds, n, "%s", row->name);
	}
}

/* A decrease due to noise is reverted by slow start, up to half the window found at the start. */
TEST(taken_back)
{
	struct fixture f;
	int n;

	rounds_until_given_up(&f, 500, 10, 20000);
	expect_eq(2 * MSS, f.a.cubic.window_q16 >> 16, "from_two_segments");
	for (n = 0; f.a.cubic.window_q16 < 50 * MSS_Q16 && n < 1000; n++)
		ack(&f, 2 * BASE_NS, false);
	expect_eq(48, n, "a_segment_for_each_to_half");
	acks(&f, 2 * BASE_NS, 8);
	expect(f.a.cubic.window_q16 < 51 * MSS_Q16, "then_as_cubic_grows");
	rounds_until_given_up(&f, 500, 10, 20000);
	quell_adapt_on_loss(&f.a, &f.needs, &f.s, f.window_q16);
	ack(&f, 2 * BASE_NS, false);
	expect(f.a.cubic.window_q16 < 3 * MSS_Q16, "a_loss_ends_it");
	rounds_until_given_up(&f, 500, 10, 0);
	ack(&f, 2 * BASE_NS, false);
	expect(f.a.cubic.window_q16 < 3 * MSS_Q16, "not_from_anothers_queue");
}

/* After a standing queue: a search begins with the first loss, later ones after more losses. */
TEST(tries)
{
	static const int losses[] = { 1, 2, 4, 8 };
	struct fixture f;
	size_t try;
	int i, n;

	start_fit(&f);
	for (try = 0; try < ARRAY_SIZE(losses); try++) {
		f.a.cubic.ssthresh_bytes = 100 * MSS;
		f.window_q16 = 10 * MSS_Q16;
		for (i = 0; i < QUELL_ADAPT_ABOVE_ROUNDS; i++)
			acks(&f, 2 * BASE_NS, 10);
		expect_eq(QUELL_ADAPT_DELAY_STAYS, (u32)f.a.reason, "%d_gives_up", (int)try);
		for (n = 1; f.a.phase == QUELL_ADAPT_FALLBACK && n < 100; n++)
			f.begins = quell_adapt_on_loss(&f.a, &f.needs, &f.s, f.window_q16);
		expect(f.begins && n - 1 == losses[try], "%d_after_%d_losses", (int)try,
		       losses[try]);
	}
		/* A search in progress keeps the count of tries, an idle time clears it. */
	start_fit(&f);
	f.a.tries = 3;
	f.window_q16 = f.a.cubic.window_q16;
	for (i = 0; i < QUELL_ADAPT_QUIET_ROUNDS; i++)
		acks(&f, BASE_NS, 8);
	expect(f.a.phase == QUELL_ADAPT_START && f.a.tries == 3, "a_search_keeps_them");
	f.a.rounds = QUELL_ADAPT_NOISE_ROUNDS;
	f.a.early = 2 * QUELL_ADAPT_EARLY_ROUNDS;
	quell_adapt_on_loss(&f.a, &f.needs, &f.s, f.window_q16);
	expect(f.a.phase == QUELL_ADAPT_FALLBACK && f.a.rounds == 8 && f.a.tries == 4,
	       "a_search_that_ends_for_cubic_is_one");
	quell_adapt_on_idle(&f.a, &f.s, f.window_q16);
	expect_eq(0, (u32)f.a.tries, "idle_forgets_them");
	start_fit(&f);
	f.a.noise_ns = 20000;
	quell_adapt_fall_back(&f.a, f.window_q16, MSS, QUELL_ADAPT_DELAY_STAYS);
	quell_adapt_on_loss(&f.a, &f.needs, &f.s, f.window_q16);
	expect_eq(QUELL_ADAPT_FALLBACK, (u32)f.a.phase, "not_where_hosts_are_noisy");
	f.a.rounds = 64;
	quell_adapt_on_rto(&f.a, &f.s, false);
	expect_eq(0, f.a.rounds, "losses_are_no_rounds_of_the_start");
}

/* Effect of an attacker or a route change on the smallest window. */
TEST(smallest_window)
{
	struct fixture f;

	start(&f, QUELL_ADAPT_DELAY);
	acks(&f, 10000, 10);
	while (f.a.phase == QUELL_ADAPT_START)
		ack(&f, 1000000, false);
	expect_eq(QUELL_ADAPT_FIT, (u32)f.a.phase, "a_queue_is_drained");
	expect_eq(2 * MSS_Q16, f.a.cubic.window_q16, "two_segments_after_a_jump");
	start(&f, QUELL_ADAPT_DELAY);
	acks(&f, 10000, 10);
	while (f.a.phase == QUELL_ADAPT_START)
		ack(&f, 1000000000, false);
	expect(f.a.phase == QUELL_ADAPT_FALLBACK && f.a.cubic.window_q16 >= 20 * MSS_Q16,
	       "cubic_goes_on_with_what_was_found");
	start_fit(&f);
	quell_adapt_fall_back(&f.a, 1, MSS, QUELL_ADAPT_DELAY_STAYS);
	expect_eq(2 * MSS_Q16, f.a.cubic.window_q16, "of_a_fall_back");
}

TEST(noise)
{
	struct fixture f;
	int i;

	start(&f, QUELL_ADAPT_DELAY);
	ack(&f, BASE_NS, true);
	for (i = 0; i < 3; i++) {
		ack(&f, BASE_NS + 40000, true);
		acks(&f, BASE_NS, 9);
	}
	expect_eq(60000, f.a.noise_ns, "half_as_much_again");
	acks(&f, BASE_NS + 80000, 40);
	expect_eq(0, (u32)f.a.checks, "is_no_queue");
	/* TCP calls the data before the first acknowledgment limited by the application. */
	start(&f, QUELL_ADAPT_DELAY);
	f.s.flags = QUELL_S_APP_LIMITED;
	ack(&f, BASE_NS, true);
	acks_within(&f, BASE_NS, 9);
	f.s.flags = 0;
	ack(&f, BASE_NS + 40000, true);
	acks(&f, BASE_NS, 9);
	expect_eq(60000, f.a.noise_ns, "is_measured_from_the_second_round_on");
	start(&f, QUELL_ADAPT_DELAY);
	f.a.noise_ns = 2 * TARGET_NS;
	acks(&f, BASE_NS, 10);
	acks(&f, 5 * BASE_NS, 8);
	acks(&f, 5 * BASE_NS, 8);
	acks(&f, 5 * BASE_NS, 8);
	expect(f.a.phase == QUELL_ADAPT_FALLBACK && f.a.reason == QUELL_ADAPT_NOISE,
	       "of_more_than_the_target_falls_back");
	start(&f, QUELL_ADAPT_DELAY);
	ack(&f, BASE_NS, true);
	ack(&f, 1000000000, true);
	ack(&f, BASE_NS, true);
	expect_eq(QUELL_ADAPT_NOISE_MOST_NS, f.a.noise_ns, "has_a_most");
	for (i = 0; i < 40; i++)
		ack(&f, BASE_NS, true);
	expect(f.a.noise_ns < QUELL_ADAPT_NOISE_MOST_NS / 10, "of_one_packet_goes");
	start(&f, QUELL_ADAPT_DELAY);
	acks(&f, BASE_NS, 10);
	/* Two are left of the ten. */
	acks_within(&f, TARGET_NS + 10000, 6 + 8);
	acks_within(&f, BASE_NS, 8);
	expect(!f.a.checks && f.a.noise_ns == 35000, "is_a_queue_that_went_while_the_window_grew");
}

/* A queue the flow itself builds, growing with each packet, ends START and is not noise. */
TEST(own_queue)
{
	static const u64 bases_ns[] = { 5000, 30000, 100000, 250000 };
	struct fixture f;
	u64 bdp_bytes, queued_ns, in_flight_bytes;
	int n;

	for_each_row(row, bases_ns) {
		/* 10 Gbit/s. */
		bdp_bytes = *row * 5 / 4;
		start(&f, QUELL_ADAPT_DELAY);
		while (f.a.phase == QUELL_ADAPT_START && f.a.cubic.window_q16 < 1ULL << 50) {
			n = (f.a.cubic.window_q16 >> 16) / MSS;
			in_flight_bytes = (u64)n * MSS;
			while (n-- && f.a.phase == QUELL_ADAPT_START) {
				in_flight_bytes += MSS;
				queued_ns = in_flight_bytes > bdp_bytes ?
					    (in_flight_bytes - bdp_bytes) * 4 / 5 : 0;
				ack(&f, *row + queued_ns, !n);
			}
		}
		expect(f.a.phase == QUELL_ADAPT_FIT && f.a.noise_ns < 1000 &&
			       f.a.cubic.window_q16 >> 16 <= 2 * bdp_bytes + 40 * MSS,
		       "ends_the_start_at_%llu_ns", (unsigned long long)*row);
	}
}

/* A loss in the first round trips, before the noise can be known. */
TEST(loss_before_noise)
{
	struct fixture f;
	int i;

	start(&f, QUELL_ADAPT_DELAY);
	acks(&f, BASE_NS, 10);
	quell_adapt_on_loss(&f.a, &f.needs, &f.s, f.window_q16);
	expect(f.a.phase == QUELL_ADAPT_START && f.a.cubic.window_q16 == 14 * MSS_Q16,
	       "the_first_rounds_go_on_as_cubic");
	for (i = 0; i < QUELL_ADAPT_NOISE_ROUNDS; i++)
		acks(&f, BASE_NS, 10);
	expect_eq(QUELL_ADAPT_FIT, (u32)f.a.phase, "fits_once_the_noise_is_known");
}

TEST_HARNESS_MAIN

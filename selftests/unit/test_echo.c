// SPDX-License-Identifier: GPL-2.0
/*
 * Every branch of <quell/core/signal/echo.h>, and its two checks against models.
 *
 * The model of a round trip does not use modular subtraction: it goes through all
 * times that match the echo, and takes the one that is a departure of the flow
 * less than 2^31 ns ago, in signed integers.  The model of the hold time tries every value.
 */
#include <stdio.h>

#include <quell/core/signal/echo.h>

#include "random.h"
#include "test.h"

#define RUNS		2000000
#define WRAP_NS		(1LL << 32)
#define LIMIT_NS	(1LL << 31)
/* Of the clock; a wrap more fits in 64 bits with a sign. */
#define CLOCK_MAX_NS	(1ULL << 62)

TEST(stamp_cases)
{
	static const struct {
		const char *name;
		u64 depart_ns;
		u32 secret, stamp;
	} rows[] = {
		{ "no_secret", 0x123456789abcdef0, 0, 0x9abcdef0 },
		{ "secret", 0x100000005, 0x10, 0x15 },
		{ "wraps", 0xfffffff0, 0x20, 0x10 },
	};

	for_each_row(row, rows) {
		expect_eq(row->stamp, quell_echo_hide(row->depart_ns, row->secret), "%s",
			  row->name);
		expect_eq((u32)row->depart_ns, quell_echo_reveal(row->stamp, row->secret), "%s",
			  row->name);
	}
	/* The short form adds the hold time to the stamp. */
	expect_eq(6, quell_echo_reveal(quell_echo_hide(0xfffffffffULL, 0xdeadbeef) + 7, 0xdeadbeef),
		  "hold_added");
}

TEST(rtt)
{
	static const struct {
		const char *name;
		u64 oldest_ns, newest_ns, rx_ns;
		u32 echo_ns;
		u64 rtt_ns;
	} rows[] = {
		{ "plain", 1000, 3000, 9000, 2000, 7000 },
		{ "of_the_oldest", 1000, 3000, 9000, 1000, 8000 },
		{ "of_the_newest", 1000, 3000, 9000, 3000, 6000 },
		{ "before_the_oldest", 1000, 3000, 9000, 999, 0 },
		{ "after_the_newest", 1000, 3000, 9000, 3001, 0 },
		{ "at_receipt", 1000, 9000, 9000, 9000, 0 },
		{ "after_receipt", 1000, 9001, 9000, 9001, 0 },
		{ "nothing_outstanding", 0, 3000, 9000, 1, 8999 },
		{ "no_time_at_all", 0, 0, 9000, 0, 9000 },
		{ "longest", 0, 1, 0x80000000ULL, 1, 0x7fffffff },
		{ "too_long", 0, 1, 0x80000001ULL, 1, 0 },
		{ "across_the_wrap", 0xfffffff0, 0x100000010, 0x100000100, 0xfffffff8, 0x108 },
		{ "behind_the_wrap", 0xfffffff0, 0x100000010, 0x100000100, 4, 0xfc },
		{ "a_wrap_ago", 0x100000000, 0x100000010, 0x200000004, 0, 0 },
		{ "before_the_clock_began", 0, 100, 100, 0xffffffff, 0 },
	};

	for_each_row(row, rows) {
		struct quell_echo_span span = { row->oldest_ns, row->newest_ns };

		expect_eq(row->rtt_ns, quell_echo_rtt_ns(&span, row->rx_ns, row->echo_ns), "%s",
			  row->name);
	}
}

TEST(added)
{
	static const struct {
		const char *name;
		u64 oldest_ns, newest_ns, rx_ns;
		u32 echo_ns;
		u64 want_ns;
	} rows[] = {
		{ "to_the_newest", 1000, 3000, 9000, 3001, 1 },
		{ "nothing", 1000, 3000, 9000, 3000, 0 },
		{ "to_an_older_one", 1000, 3000, 9000, 2999, 0 },
		{ "till_receipt", 1000, 3000, 9000, 8999, 5999 },
		{ "at_receipt", 1000, 3000, 9000, 9000, 0 },
		{ "after_receipt", 1000, 3000, 9000, 9001, 0 },
		{ "before_the_oldest", 1000, 3000, 9000, 999, 0 },
		{ "before_the_clock_began", 0, 0, 100, 0xffffffff, 0 },
		{ "from_the_first_instant", 0, 0, 100, 1, 1 },
		{ "across_the_wrap", 0xfffffff0, 0x100000010, 0x100000100, 0x10, 0 },
		{ "behind_the_wrap", 0xfffffff0, 0x100000010, 0x100000100, 0x11, 1 },
		{ "longest", 0, 0, 0x80000000ULL, 1, 1 },
		{ "too_long", 0, 0, 0x80000001ULL, 1, 0 },
	};

	for_each_row(row, rows) {
		struct quell_echo_span span = { row->oldest_ns, row->newest_ns };

		expect_eq(row->want_ns, quell_echo_added_ns(&span, row->rx_ns, row->echo_ns), "%s",
			  row->name);
	}
}

TEST(hold)
{
	static const struct {
		const char *name;
		u64 hold_ns, rtt_ns, least_ns, want_ns;
	} rows[] = {
		{ "believed", 300, 1000, 500, 300 },
		{ "half_of_the_least", 500, 1000, 1000, 500 },
		{ "one_more", 501, 1000, 1000, 500 },
		{ "of_an_odd_one", 501, 1000, 999, 500 },
		{ "the_round_trip", 1000, 1000, 800, 600 },
		{ "longer_than_it", 0xffffff, 1000, 800, 600 },
		{ "at_the_floor", 10, 500, 1000, 0 },
		{ "below_the_floor", 10, 400, 1000, 0 },
		{ "no_least_yet", 0xffffff, 1000, 0, 1000 },
		{ "nothing_said", 0, 1000, 500, 0 },
	};

	for_each_row(row, rows) {
		expect_eq(row->want_ns,
			  quell_echo_hold_ns(row->hold_ns, row->rtt_ns, row->least_ns), "%s",
			  row->name);
	}
}

/* The round-trip time of an echo, or 0. */
static u64 model_rtt_ns(const struct quell_echo_span *span, u64 rx_ns, u32 echo_ns)
{
	long long depart_ns, found_ns = 0;
	int k;

	for (k = -1; k <= 1; k++) {
		depart_ns = ((long long)(rx_ns / WRAP_NS) + k) * WRAP_NS + echo_ns;
		if (depart_ns < 0 || depart_ns >= (long long)rx_ns ||
		    (long long)rx_ns - depart_ns >= LIMIT_NS ||
		    depart_ns < (long long)span->oldest_ns ||
		    depart_ns > (long long)span->newest_ns)
			continue;
		found_ns = (long long)rx_ns - depart_ns;
	}
	return found_ns;
}

/* An echo near a limit of the valid span, or any. */
static u32 random_echo(struct random_state *r, const struct quell_echo_span *span, u64 rx_ns)
{
	u64 edges[] = { span->oldest_ns, span->newest_ns, rx_ns,
			rx_ns - QUELL_ECHO_RTT_LIMIT_NS, 0 };

	if (!random_between(r, 0, 3))
		return random_u64(r);
	return edges[random_between(r, 0, ARRAY_SIZE(edges) - 1)] + random_between(r, 0, 4) - 2;
}

TEST(rtt_model)
{
	struct random_state r = { 1 };
	u64 wrong = 0, refused = 0;
	u32 i;

	for (i = 0; i < RUNS; i++) {
		u64 rx_ns = random_magnitude(&r, 1, CLOCK_MAX_NS);
		u64 newest_ns = rx_ns + 1000 - random_magnitude(&r, 0, 1ULL << 33);
		struct quell_echo_span span = { 0, newest_ns > CLOCK_MAX_NS ? 0 : newest_ns };
		u64 got_ns, age_ns = random_magnitude(&r, 0, 1ULL << 33);
		u32 echo_ns;

		if (random_between(&r, 0, 3) && age_ns <= span.newest_ns)
			span.oldest_ns = span.newest_ns - age_ns;
		echo_ns = random_echo(&r, &span, rx_ns);
		got_ns = quell_echo_rtt_ns(&span, rx_ns, echo_ns);
		refused += !got_ns;
		if (got_ns != model_rtt_ns(&span, rx_ns, echo_ns) && !wrong++)
			printf("# oldest %llu newest %llu rx %llu echo %u: %llu\n",
			       span.oldest_ns, span.newest_ns, rx_ns, echo_ns, got_ns);
	}
	expect_eq(0, wrong, "model");
	expect(refused > RUNS / 10 && RUNS - refused > RUNS / 10,
	       "model_sees_both, %llu of %u refused", refused, RUNS);
}

/* The largest part of a reported hold that leaves the network half of the minimum, in float. */
static u64 model_hold_ns(u64 hold_ns, u64 rtt_ns, u64 least_ns)
{
	u64 best_ns = 0, try_ns;

	for (try_ns = 0; try_ns <= hold_ns && try_ns <= rtt_ns; try_ns++)
		if (!try_ns || (double)(rtt_ns - try_ns) >= (double)least_ns / 2)
			best_ns = try_ns;
	return best_ns;
}

TEST(hold_model)
{
	u64 hold_ns, rtt_ns, least_ns, wrong = 0;

	for (hold_ns = 0; hold_ns < 40; hold_ns++)
		for (rtt_ns = 0; rtt_ns < 40; rtt_ns++)
			for (least_ns = 0; least_ns < 90; least_ns++)
				wrong += quell_echo_hold_ns(hold_ns, rtt_ns, least_ns) !=
					 model_hold_ns(hold_ns, rtt_ns, least_ns);
	expect_eq(0, wrong, "model");
}

TEST_HARNESS_MAIN

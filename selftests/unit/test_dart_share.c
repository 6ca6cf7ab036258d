// SPDX-License-Identifier: GPL-2.0
/*
 * The codes of Dart's receiver, <quell/core/dart/share.h>: n in 16 bits, a line rate in 8.
 */
#include <quell/core/dart/share.h>

#include "random.h"
#include "test.h"

#define MBIT_BYTES_PS	125000ULL
#define RANDOM_STEPS	1000000

TEST(encode)
{
	static const struct {
		const char *name;
		u64 n_q8;
		u16 want;
	} cases[] = {
		{ "not_known", 0, 0 },
		{ "one", 256, 0x0100 },
		{ "three_halves", 384, 0x0180 },
		{ "largest_exact", 4095, 0x0fff },
		{ "sixteen", 4096, 0x1800 },
		/* 4097 / 2 is rounded up to 2049 */
		{ "rounded_up", 4097, 0x1801 },
		/* 8191 / 2 rounds up to 4096, which takes another bit */
		{ "carry", 8191, 0x2800 },
		{ "largest", QUELL_SHARE_MAX_Q8, 0xffff },
		{ "below_the_largest", QUELL_SHARE_MAX_Q8 - 1, 0xffff },
		{ "a_step_below_the_largest", QUELL_SHARE_MAX_Q8 - (1 << 15), 0xfffe },
		{ "too_large", QUELL_SHARE_MAX_Q8 + 1, 0xffff },
		{ "most", QUELL_U64_MAX, 0xffff },
	};

	for_each_row(row, cases) {
		expect_eq(row->want, quell_share_encode(row->n_q8), "%s", row->name);
	}
}

TEST(decode)
{
	static const struct {
		const char *name;
		u16 field;
		u32 want;
	} cases[] = {
		{ "not_known", 0, 0 },
		{ "not_known_with_an_exponent", 0xf000, 0 },
		{ "below_one", 1, 256 },
		{ "just_below_one", 255, 256 },
		{ "one", 256, 256 },
		{ "above_one", 257, 257 },
		{ "exponent", 0x3801, 0x801 << 3 },
		{ "below_one_with_an_exponent", 0x7001, 256 },
		{ "largest", 0xffff, QUELL_SHARE_MAX_Q8 },
	};

	for_each_row(row, cases) {
		expect_eq(row->want, quell_share_decode(row->field), "%s", row->name);
	}
}

/* The field means n or up to 1/2048 more; whole numbers up to 15 are exact. */
TEST(round_trip)
{
	struct random_state r = { 1 };
	bool exact = true, close = true, fields = true;
	u32 i;

	for (i = 1; i <= 15; i++)
		exact = exact && quell_share_decode(quell_share_encode(256 * i)) == 256 * i;
	expect(exact, "whole_numbers_are_exact");
	for (i = 0; i < RANDOM_STEPS; i++) {
		u64 n_q8 = random_magnitude(&r, 256, QUELL_SHARE_MAX_Q8);
		u64 stated_q8 = quell_share_decode(quell_share_encode(n_q8));

		close = close && stated_q8 >= n_q8 && (stated_q8 - n_q8) * 2048 <= n_q8;
	}
	expect(close, "rounded_up_by_a_2048th");
	for (i = 0; i <= 0xffff; i++) {
		u32 n_q8 = quell_share_decode(i);

		fields = fields && quell_share_decode(quell_share_encode(n_q8)) == n_q8;
	}
	expect(fields, "every_field_is_a_number_of_its_own_code");
}

TEST(bytes_ps)
{
	static const struct {
		const char *name;
		u64 line_bytes_ps;
		u32 n_q8;
		u64 want;
	} cases[] = {
		{ "not_known", 1000, 0, 1000 },
		{ "one", 1000, 256, 1000 },
		{ "below_one", 1000, 255, 1000 },
		{ "three_halves", 1000, 384, 666 },
		{ "just_above_one", 2570, 257, 2560 },
		{ "ten_thousand", 12500000000, 2560000, 1250000 },
		{ "no_line", 0, 512, 0 },
	};

	for_each_row(row, cases) {
		expect_eq(row->want, quell_share_bytes_ps(row->line_bytes_ps, row->n_q8), "%s",
			  row->name);
	}
}

TEST(sender)
{
	static const struct {
		const char *name;
		u64 own, peer;
		u32 n_q8;
		u64 want;
	} cases[] = {
		{ "slower_than_receiver", 1000, 10000, 12 * 256, 833 },
		{ "slower_than_share", 1000, 10000, 2 * 256, 1000 },
		{ "faster_than_receiver", 10000, 1000, 2 * 256, 500 },
		{ "of_one", 1000, 10000, 256, 1000 },
		{ "own_not_known", 0, 1000, 2 * 256, 500 },
		{ "peer_not_known", 1000, 0, 2 * 256, 500 },
	};

	for_each_row(row, cases) {
		u64 share = quell_share_of_sender_bytes_ps(row->own, row->peer, row->n_q8);

		expect_eq(row->want, share, "%s", row->name);
	}
}

/* Rates that interfaces have, Mbit/s; FDR at 8x and 12x, 112 and 168 Gbit/s, are not exact. */
TEST(line_rates_exact)
{
	static const u64 rates_mbit[] = {
		10, 100, 1000, 2500, 5000, 10000, 14000, 20000, 25000, 28000, 30000, 40000, 50000,
		56000, 60000, 80000, 84000, 100000, 120000, 200000, 300000, 400000, 600000, 800000,
		1200000, 1600000, 3200000,
	};

	for_each_row(row, rates_mbit) {
		expect_eq(*row * MBIT_BYTES_PS,
			  quell_line_decode(quell_line_encode(*row * MBIT_BYTES_PS)), "%llu_mbit",
			  *row);
	}
}

TEST(line_codes)
{
	static const struct {
		const char *name;
		u64 bytes_ps;
		u8 want;
	} cases[] = {
		{ "not_known", 0, 0 },
		{ "one_mbit", 125000, 0 },
		{ "below_the_smallest", 137499, 0 },
		{ "smallest", 137500, 1 },
		{ "ten_mbit", 1250000, 32 },
		{ "below_ten_mbit", 1249999, 31 },
		{ "hundred_gbit", 12500000000, 160 },
		{ "eight_times_fdr", 14000000000, 161 },
		{ "twelve_times_fdr", 21000000000, 166 },
		{ "largest", 96 * 12500ULL * 10000000, 255 },
		{ "too_large", QUELL_U64_MAX, 255 },
	};
	bool ascends = true, returns = true, close = true;
	struct random_state r = { 2 };
	u32 i;

	for_each_row(row, cases) {
		expect_eq(row->want, quell_line_encode(row->bytes_ps), "%s", row->name);
	}
	for (i = 1; i < 256; i++) {
		ascends = ascends && quell_line_decode(i) > quell_line_decode(i - 1);
		returns = returns && quell_line_encode(quell_line_decode(i)) == i &&
			  (i == 1 || quell_line_encode(quell_line_decode(i) - 1) == i - 1);
	}
	expect(ascends, "ascends");
	expect(returns, "codes_return");
	for (i = 0; i < RANDOM_STEPS; i++) {
		u64 bytes_ps = random_magnitude(&r, 137500, 12000000000000);
		u64 stated_bytes_ps = quell_line_decode(quell_line_encode(bytes_ps));

		close = close && stated_bytes_ps <= bytes_ps &&
			(bytes_ps - stated_bytes_ps) * 1000 <= bytes_ps * 112;
	}
	expect(close, "rounded_down_by_11_percent");
}

TEST_HARNESS_MAIN

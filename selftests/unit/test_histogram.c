// SPDX-License-Identifier: GPL-2.0
/*
 * Every branch of the histogram (<quell/core/port/histogram.h>): buckets by hand, and
 * quantiles against sorted arrays, within the documented error.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <quell/core/port/histogram.h>

#include "random.h"
#include "test.h"

#define VALUES		20000

static const u32 permille[] = { 0, 500, 900, 990, 999, 1000 };

TEST(bucket_cases)
{
	static const struct {
		const char *name;
		u64 value;
		u32 bucket;
		u64 middle;
	} cases[] = {
		{ "zero", 0, 0, 0 },
		{ "last_alone", 15, 15, 15 },
		{ "first_octave", 16, 16, 16 },
		{ "its_end", 31, 31, 31 },
		{ "two_wide", 32, 32, 32 },
		{ "same_bucket", 33, 32, 32 },
		{ "four_wide", 64, 48, 65 },
		{ "its_last", 127, 63, 125 },
		{ "largest", (1ULL << 40) - 1, 591, (31ULL << 35) + (1ULL << 34) - 1 },
		{ "beyond", 1ULL << 40, 591, (31ULL << 35) + (1ULL << 34) - 1 },
		{ "all_bits", QUELL_U64_MAX, 591, (31ULL << 35) + (1ULL << 34) - 1 },
	};

	for_each_row(row, cases) {
		expect_eq(row->bucket, quell_histogram_bucket(row->value), "%s", row->name);
		expect_eq(row->middle, quell_histogram_middle(row->bucket), "%s", row->name);
	}
	expect_eq(592, QUELL_HISTOGRAM_BUCKETS, "buckets");
}

/* Buckets follow each other without a gap. */
TEST(order)
{
	bool steps = true;
	u64 value;

	for (value = 1; value < 1 << 22; value++) {
		u32 step = quell_histogram_bucket(value) - quell_histogram_bucket(value - 1);

		steps = steps && step <= 1;
	}
	expect(steps, "without_gaps");
}

TEST(rank_cases)
{
	static const struct {
		u64 count;
		u32 permille;
		u64 want;
	} cases[] = {
		{ 1, 0, 1 }, { 1, 500, 1 }, { 1, 1000, 1 }, { 2, 500, 1 }, { 3, 500, 2 },
		{ 10, 900, 9 }, { 11, 900, 10 }, { 1000, 999, 999 }, { 1001, 999, 1000 },
		{ QUELL_U64_MAX, 1000, QUELL_U64_MAX },
	};

	for_each_row(row, cases) {
		expect_eq(row->want, quell_histogram_rank(row->count, row->permille), "%llu_%u",
			  row->count, row->permille);
	}
}

static int compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* Is @got off by at most 1/32 of @want? */
static bool near(u64 got, u64 want)
{
	return (got > want ? got - want : want - got) * 32 <= want;
}

static void test_against_sorted(struct __test_metadata *_metadata, const char *name, u64 least,
				u64 most, u32 values)
{
	static u64 sorted[VALUES];
	static struct quell_histogram h;
	struct random_state r = { 11 };
	u64 got[ARRAY_SIZE(permille)];
	bool good = true;
	u32 i;

	memset(&h, 0, sizeof(h));
	for (i = 0; i < values; i++) {
		sorted[i] = random_magnitude(&r, least, most);
		quell_histogram_add(&h, sorted[i], 1);
	}
	qsort(sorted, values, sizeof(sorted[0]), compare);
	quell_histogram_quantiles(&h, permille, got, ARRAY_SIZE(permille));
	for (i = 0; i < ARRAY_SIZE(permille); i++) {
		u64 rank = quell_histogram_rank(values, permille[i]);

		good = good && near(got[i], sorted[rank - 1]) && got[i] <= h.max;
	}
	expect(good && h.count == values && h.max == sorted[values - 1], "%s", name);
}

TEST(quantiles)
{
	static struct quell_histogram h;
	u64 got[ARRAY_SIZE(permille)];
	u32 i, zeros = 0;

	quell_histogram_quantiles(&h, permille, got, ARRAY_SIZE(permille));
	for (i = 0; i < ARRAY_SIZE(permille); i++)
		zeros += !got[i];
	expect_eq(ARRAY_SIZE(permille), zeros, "empty");
	test_against_sorted(_metadata, "one", 5000, 5000, 1);
	test_against_sorted(_metadata, "two", 1, 1 << 20, 2);
	test_against_sorted(_metadata, "small", 0, 31, VALUES);
	test_against_sorted(_metadata, "narrow", 1000000, 1010000, VALUES);
	test_against_sorted(_metadata, "wide", 0, (1ULL << 40) - 1, VALUES);
	/* Exact if each value has its own bucket: no quantile is above the maximum. */
	memset(&h, 0, sizeof(h));
	quell_histogram_add(&h, 64, 1);
	quell_histogram_quantiles(&h, permille, got, ARRAY_SIZE(permille));
	expect_eq(64, got[5], "never_above_max");
	/* Several times at once: as often as that. */
	quell_histogram_add(&h, 20, 99);
	quell_histogram_quantiles(&h, permille, got, ARRAY_SIZE(permille));
	expect(h.count == 100 && got[3] == 20 && got[4] == 64, "times");
	/* More quantiles than buckets before the last. */
	quell_histogram_quantiles(&h, permille, got, 0);
	expect_eq(64, got[5], "none_asked");
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/*
 * <quell/core/lib/types.h> and <quell/core/lib/math.h> against 128-bit integers and
 * long double, which the cores themselves may not use.
 */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include <quell/core/lib/draw.h>
#include <quell/core/lib/math.h>

#include "random.h"
#include "test.h"

#define RANDOM_ROUNDS	200000

/* The edges of halves, words and signs: every pair of them is tried. */
static const u64 edges[] = {
	0, 1, 2, 3, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff,
	0x100000000, 0x100000001, 0x1ffffffff, 0x7fffffffffffffff,
	0x8000000000000000, 0xfffffffeffffffff, 0xffffffff00000000,
	0xfffffffffffffffe, 0xffffffffffffffff,
};

/*
 * Digest of all results (FNV-1a by words).  The reference needs a compiler with 128-bit integers;
 * a 32-bit processor must only have the digest that the others have.
 */
static u64 digest;

static void add_results(const u64 *results, size_t number)
{
	while (number--)
		digest = (digest ^ *results++) * 0x100000001b3ULL;
}

#ifdef __SIZEOF_INT128__
typedef unsigned __int128 wide;

static u64 saturate(wide value)
{
	return value >> 64 ? QUELL_U64_MAX : (u64)value;
}

#define RESULTS_ARE(got, ...)							\
({										\
	const u64 reference[] = { __VA_ARGS__ };				\
										\
	sizeof(got) == sizeof(reference) && !memcmp(got, reference, sizeof(got)); \
})
#else
#define RESULTS_ARE(got, ...)	true
#endif

/* All functions of two numbers. */
static bool pair_is_right(u64 a, u64 b)
{
	u64 low;
	u64 overflows = quell_mul_overflows_u64(a, b, &low);
	const u64 got[] = {
		quell_min_u64(a, b), quell_max_u64(a, b), quell_add_sat_u64(a, b),
		quell_sub_sat_u64(a, b), quell_mul_sat_u64(a, b), quell_mul_sat_u32(a, b),
		overflows, low, quell_mul_high_u64(a, b),
	};

	add_results(got, ARRAY_SIZE(got));
	return RESULTS_ARE(got, a < b ? a : b, a < b ? b : a, saturate((wide)a + b),
			   a < b ? 0 : a - b, saturate((wide)a * b),
			   (u64)(u32)a * (u32)b >> 32 ? 0xffffffff : (u32)a * (u32)b,
			   (wide)a * b >> 64 != 0, a * b, (u64)((wide)a * b >> 64));
}

static bool shift_is_right(u64 a, u64 b, u32 shift)
{
	bool fits = !(quell_mul_high_u64(a, b) >> shift);
	const u64 got[] = {
		quell_mul_shr_u64(a, b, shift), fits ? quell_mul_shr_fits_u64(a, b, shift) : 0,
		quell_shl_sat_u64(a, shift),
	};

	add_results(got, ARRAY_SIZE(got));
	return RESULTS_ARE(got, saturate((wide)a * b >> shift),
			   fits ? (u64)((wide)a * b >> shift) : 0, saturate((wide)a << shift));
}

static bool quotient_is_right(u64 a, u64 b, u64 divisor)
{
	const u64 got[] = {
		quell_div_ceil_u64(a, divisor), quell_mul_div_u64(a, b, divisor),
		quell_mul_div_ceil_u64(a, b, divisor),
	};

	add_results(got, ARRAY_SIZE(got));
	if (!divisor)
		return got[0] == QUELL_U64_MAX && got[1] == QUELL_U64_MAX &&
		       got[2] == QUELL_U64_MAX;
	return RESULTS_ARE(got, a / divisor + (a % divisor != 0), saturate((wide)a * b / divisor),
			   saturate((wide)a * b / divisor + ((wide)a * b % divisor != 0)));
}

TEST(fls)
{
	bool right = quell_fls_u64(0) == 0;
	unsigned int bit;

	expect_eq(0, quell_fls_u64(0), "zero");
	for (bit = 0; bit < 64; bit++) {
		u64 lowest = 1ULL << bit;

		right = right && quell_fls_u64(lowest) == bit + 1 &&
			quell_fls_u64(lowest | (lowest - 1)) == bit + 1;
	}
	expect(right, "every_bit");
}

TEST(division)
{
	static const struct {
		const char *name;
		u64 dividend, divisor, want;
	} cases[] = {
		{ "rounds_down", 7, 2, 3 },
		{ "zero_dividend", 0, 5, 0 },
		{ "zero_divisor_saturates", 7, 0, QUELL_U64_MAX },
		{ "largest_by_largest", QUELL_U64_MAX, QUELL_U64_MAX, 1 },
	};

	for_each_row(row, cases) {
		expect_eq(row->want, quell_div_u64(row->dividend, row->divisor), "%s", row->name);
	}
}

TEST(edges_cases)
{
	bool pairs = true, shifts = true, quotients = true;
	size_t i, j, k;
	u32 shift;

	digest = 0;
	for (i = 0; i < ARRAY_SIZE(edges); i++) {
		for (j = 0; j < ARRAY_SIZE(edges); j++) {
			pairs = pairs && pair_is_right(edges[i], edges[j]);
			for (shift = 1; shift < 64; shift++)
				shifts = shifts && shift_is_right(edges[i], edges[j], shift);
			for (k = 0; k < ARRAY_SIZE(edges); k++)
				quotients = quotients &&
					quotient_is_right(edges[i], edges[j], edges[k]);
		}
	}
	expect(pairs, "edges");
	expect(shifts, "edges");
	expect(quotients, "edges");
	expect_eq(11756307599199397395ULL, digest, "edges_on_all_processors");
}

TEST(random_cases)
{
	struct random_state r = { 1 };
	bool pairs = true, shifts = true, quotients = true;
	int i;

	digest = 0;
	for (i = 0; i < RANDOM_ROUNDS; i++) {
		u64 a = random_magnitude(&r, 0, QUELL_U64_MAX);
		u64 b = random_magnitude(&r, 0, QUELL_U64_MAX);
		u64 c = random_magnitude(&r, 0, QUELL_U64_MAX);

		pairs = pairs && pair_is_right(a, b);
		shifts = shifts && shift_is_right(a, b, random_between(&r, 1, 63));
		quotients = quotients && quotient_is_right(a, b, c);
	}
	expect(pairs, "random");
	expect(shifts, "random");
	expect(quotients, "random");
	expect_eq(1282909908233581401ULL, digest, "random_on_all_processors");
}

/* Error the function's documentation allows, in Q24 units. */
static long double rsqrt_allowed(long double exact)
{
	return exact * 0x1p-27L + 0.5L;
}

static long double rsqrt_exact(u64 x_q16)
{
	return 0x1p32L / sqrtl((long double)x_q16);
}

static bool rsqrt_is_right(u64 x_q16, long double *worst)
{
	long double exact = rsqrt_exact(x_q16);
	long double error = fabsl(quell_rsqrt_q24(x_q16) - exact);

	*worst = fmaxl(*worst, error / rsqrt_allowed(exact));
	return error <= rsqrt_allowed(exact);
}

TEST(rsqrt)
{
	const struct {
		const char *name;
		u64 x_q16, want_q24;
	} cases[] = {
		{ "zero_is_smallest", 0, quell_rsqrt_q24(1) },
		{ "quarter", 16384, 2 << 24 },
		{ "one", 65536, 1 << 24 },
		{ "four", 4 << 16, 1 << 23 },
		{ "hundred", 100 << 16, 1677722 },
		{ "2_to_62", 1ULL << 62, 2 },
		{ "largest", QUELL_U64_MAX, 1 },
	};
	struct random_state r = { 2 };
	bool small = true, wide = true, falling = true;
	u64 before_q24 = 1ULL << 32;
	long double worst = 0;
	u64 x_q16;
	size_t i;

	for_each_row(row, cases) {
		expect_eq(row->want_q24, quell_rsqrt_q24(row->x_q16), "%s", row->name);
	}
	for (x_q16 = 1; x_q16 < 1 << 21; x_q16++) {
		u64 now_q24 = quell_rsqrt_q24(x_q16);

		small = small && rsqrt_is_right(x_q16, &worst);
		falling = falling && now_q24 <= before_q24;
		before_q24 = now_q24;
	}
	for (i = 0; i < 5 * RANDOM_ROUNDS; i++)
		wide = wide && rsqrt_is_right(random_magnitude(&r, 1, QUELL_U64_MAX),
					      &worst);
	expect(small, "bound_up_to_32");
	expect(wide, "bound_random");
	expect(falling, "never_rises_up_to_32");
	printf("# quell_rsqrt_q24: largest error %.3Lf of the promised bound\n", worst);
}

/* For neighbouring times and windows all draws are equally likely after any other. */
TEST(draw_cases)
{
	unsigned int now[64] = { 0 }, window[64] = { 0 }, pairs[8][8] = { 0 };
	bool even = true;
	u32 last = 0, i;

	for (i = 0; i < 64000; i++) {
		u32 drawn = quell_draw_u32(1000000 + 1000 * i, 47000ULL << 16);

		now[drawn >> 26]++;
		pairs[last >> 29][drawn >> 29]++;
		last = drawn;
		window[quell_draw_u32(1000000, (47000ULL << 16) + i) >> 26]++;
	}
	/* 1000 each, five times the deviation of 31 */
	for (i = 0; i < 64; i++)
		even = even && now[i] > 845 && now[i] < 1155 && window[i] > 845 &&
		       window[i] < 1155 && pairs[i / 8][i % 8] > 845 &&
		       pairs[i / 8][i % 8] < 1155;
	expect(even, "even");
	expect(quell_draw_u32(5, 7) == quell_draw_u32(5, 7), "repeatable");
}

TEST_HARNESS_MAIN

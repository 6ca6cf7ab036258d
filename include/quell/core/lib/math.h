/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fixed-point arithmetic for the algorithm cores.
 *
 * Every function states its error bound and its result at the edges of its
 * range; selftests/unit/test_math.c checks both.  All are pure, loop a bounded
 * number of times and may be called from any context.
 */
#ifndef _QUELL_CORE_LIB_MATH_H
#define _QUELL_CORE_LIB_MATH_H

#include <quell/core/lib/types.h>

/*
 * Position of the highest set bit counted from 1; 0 for 0.  quell_log2_u64(), of any value but 0,
 * counts from 0.  The second body is written out because the compiler's builtin is a library call
 * on some of the 32-bit targets of the kernel.
 */
#if QUELL_WIDE
static inline u32 quell_fls_u64(u64 x)
{
	return x ? 64 - __builtin_clzll(x) : 0;
}

static inline u32 quell_log2_u64(u64 x)
{
	return 63 - __builtin_clzll(x);
}
#else
static inline u32 quell_fls_u64(u64 x)
{
	u32 bits = 0;

	if (x >> 32) {
		x >>= 32;
		bits += 32;
	}
	if (x >> 16) {
		x >>= 16;
		bits += 16;
	}
	if (x >> 8) {
		x >>= 8;
		bits += 8;
	}
	if (x >> 4) {
		x >>= 4;
		bits += 4;
	}
	if (x >> 2) {
		x >>= 2;
		bits += 2;
	}
	if (x >> 1) {
		x >>= 1;
		bits += 1;
	}
	return bits + (u32)x;
}

static inline u32 quell_log2_u64(u64 x)
{
	return quell_fls_u64(x) - 1;
}
#endif

/* @a * @b modulo 2^64; @high: floor(@a * @b / 2^64), exact. */
#if QUELL_WIDE
static inline u64 quell_mul_full_u64(u64 a, u64 b, u64 *high)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	*high = (u64)(product >> 64);
	return (u64)product;
}
#else
static inline u64 quell_mul_full_u64(u64 a, u64 b, u64 *high)
{
	u64 a_high = a >> 32, b_high = b >> 32;
	u64 a_low = (u32)a, b_low = (u32)b;
	u64 cross = a_high * b_low;
	u64 middle;

	/* At most (2^32 - 1)^2 + 2 (2^32 - 1) = 2^64 - 1: cannot wrap. */
	middle = a_low * b_high + (u32)cross + ((a_low * b_low) >> 32);
	*high = a_high * b_high + (cross >> 32) + (middle >> 32);
	return a * b;
}
#endif

/*
 * Whether @a * @b is 2^64 or more.  A processor that multiplies to 128 bits has a flag for it: the
 * compiler neither stores nor compares the upper half.
 */
#if QUELL_WIDE
static inline bool quell_mul_overflows_u64(u64 a, u64 b, u64 *product)
{
	return __builtin_mul_overflow(a, b, product);
}
#else
static inline bool quell_mul_overflows_u64(u64 a, u64 b, u64 *product)
{
	u64 high;

	*product = quell_mul_full_u64(a, b, &high);
	return high;
}
#endif

/* floor(@a * @b / 2^64), exact. */
static inline u64 quell_mul_high_u64(u64 a, u64 b)
{
	u64 high;

	quell_mul_full_u64(a, b, &high);
	return high;
}

/* floor(@a * @b / 2^@shift), exact, @shift 1 .. 63; QUELL_U64_MAX when that does not fit. */
static inline u64 quell_mul_shr_u64(u64 a, u64 b, u32 shift)
{
	u64 low, high;

	low = quell_mul_full_u64(a, b, &high);
	if (high >> shift)
		return QUELL_U64_MAX;
	return (high << (64 - shift)) | (low >> shift);
}

/*
 * The same of a product that fits after the shift, as a share of a number does: the processor
 * shifts both halves in one instruction.
 */
#if QUELL_WIDE
static inline u64 quell_mul_shr_fits_u64(u64 a, u64 b, u32 shift)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (u64)(product >> shift);
}
#else
static inline u64 quell_mul_shr_fits_u64(u64 a, u64 b, u32 shift)
{
	return quell_mul_shr_u64(a, b, shift);
}
#endif

/*
 * Quotient of the dividend @high * 2^64 + @low, rounded down; QUELL_U64_MAX if it does not fit.
 * Long division, for odd inputs: the dividend shifts out at the top, the quotient in at the bottom.
 * The steps do not branch: BPF's verifier would follow each quotient that there may be.
 */
__once __rare u64 quell_div_long_u64(u64 high, u64 low, u64 divisor)
{
	int i;

	if (high >= divisor)
		return QUELL_U64_MAX;
	for (i = 0; i < 64; i++) {
		u64 carry = high >> 63, rest, borrow, fits;

		high = (high << 1) | (low >> 63);
		rest = high - divisor;
		borrow = ((~high & divisor) | (~(high ^ divisor) & rest)) >> 63;
		fits = carry | (borrow ^ 1);
		high -= divisor & -fits;
		low = (low << 1) | fits;
	}
	return low;
}

/* quell_mul_div_u64() of a product that does not fit into 64 bits. */
__once __rare u64 quell_mul_div_long_u64(u64 a, u64 b, u64 divisor)
{
	u64 high, low = quell_mul_full_u64(a, b, &high);

	return quell_div_long_u64(high, low, divisor);
}

/*
 * floor(@a * @b / @divisor), exact; QUELL_U64_MAX when that does not fit, and for @divisor 0.  One
 * division when the product fits into 64 bits; quell_div_long_u64() when it does not.
 */
static inline u64 quell_mul_div_u64(u64 a, u64 b, u64 divisor)
{
	u64 product;

	if (quell_mul_overflows_u64(a, b, &product))
		return quell_mul_div_long_u64(a, b, divisor);
	return quell_div_u64(product, divisor);
}

/* The same of a divisor that is not 0. */
static inline u64 quell_mul_div_positive_u64(u64 a, u64 b, u64 divisor)
{
	u64 product;

	if (quell_mul_overflows_u64(a, b, &product))
		return quell_mul_div_long_u64(a, b, divisor);
	return quell_div_positive_u64(product, divisor);
}

/* ceil(@a * @b / @divisor), exact; QUELL_U64_MAX when that does not fit, and for @divisor 0. */
static inline u64 quell_mul_div_ceil_u64(u64 a, u64 b, u64 divisor)
{
	u64 quotient = quell_mul_div_u64(a, b, divisor);

	/* The remainder is below 2^64, so comparing the low words suffices. */
	if (quotient != QUELL_U64_MAX && a * b != quotient * divisor)
		quotient++;
	return quotient;
}

/* Fraction bits of quell_rsqrt_q24()'s result. */
#define QUELL_RSQRT_Q		24

/* Parabola through 1/sqrt(m) over [1, 4), within 2.5 % of it: Newton's start. */
#define QUELL_RSQRT_START_Q30	1433893831ULL	/* 1.335 */
#define QUELL_RSQRT_SLOPE_Q30	440953101ULL	/* 0.411 */
#define QUELL_RSQRT_BEND_Q30	54981214ULL	/* 0.051 */

/* A step of Newton's method towards 1/sqrt(@m_q30): squares the relative error, times 1.5. */
static inline u64 quell_rsqrt_step_q30(u64 m_q30, u64 y_q30)
{
	u64 square_q30 = (m_q30 * ((y_q30 * y_q30) >> 30)) >> 30;

	return (y_q30 * ((3ULL << 30) - square_q30)) >> 31;
}

/* 1 / sqrt(@m_q30 * 2^@exponent) of @m in [1, 4) and an even exponent; see quell_rsqrt_q24(). */
static inline u64 quell_rsqrt_scaled_q24(u64 m_q30, u32 exponent)
{
	u64 slope_q30 = QUELL_RSQRT_SLOPE_Q30 - ((m_q30 * QUELL_RSQRT_BEND_Q30) >> 30);
	u64 y_q30 = QUELL_RSQRT_START_Q30 - ((m_q30 * slope_q30) >> 30);

	y_q30 = quell_rsqrt_step_q30(m_q30, y_q30);
	y_q30 = quell_rsqrt_step_q30(m_q30, y_q30);
	y_q30 = quell_rsqrt_step_q30(m_q30, y_q30);
	/* 1/sqrt(x_q16) = y / 2^(exponent / 2), and the result counts 2^-32 of that: rounded. */
	return (((y_q30 << 3) >> (exponent / 2)) + 1) >> 1;
}

/*
 * 1 / sqrt(@x_q16 / 2^16) in Q24, at most 2^32, with an error of at most 2^-27 of the result plus
 * half a unit in its last place; 0 counts as 2^-16.  The argument is brought to m in [1, 4) by a
 * power of four; Newton's method, y = y (3 - m y^2) / 2, squares the relative error (times 1.5) at
 * each step: 2.5 %, 9e-4, 1.2e-6, then the resolution of Q30 remains.  No division, no table.
 * Every product is below 2^64: y < 1.2, m < 4, all in Q30.
 */
static inline u64 quell_rsqrt_q24(u64 x_q16)
{
	u32 exponent;

	x_q16 += !x_q16;
	exponent = (quell_fls_u64(x_q16) - 1) & ~1U;
	return quell_rsqrt_scaled_q24(exponent <= 30 ? x_q16 << (30 - exponent) :
						       x_q16 >> (exponent - 30), exponent);
}

/* The same of an argument in [1, 2^32), which is only shifted to the left. */
static inline u64 quell_rsqrt_u32_q24(u64 x_q16)
{
	u32 exponent = quell_log2_u64(x_q16) & ~1U;

	return quell_rsqrt_scaled_q24(x_q16 << (30 - exponent), exponent);
}

#endif /* _QUELL_CORE_LIB_MATH_H */

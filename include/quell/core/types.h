/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The integer types and the one division the cores use, for each of the three
 * bodies an algorithm has: kernel module, BPF program, user space.
 */
#ifndef _QUELL_CORE_TYPES_H
#define _QUELL_CORE_TYPES_H

#if defined(__KERNEL__)

#include <linux/math64.h>
#include <linux/types.h>

/**
 * quell_div_u64() - the cores' only division
 * @dividend: any value
 * @divisor: any value; 0 gives U64_MAX, so a missing measurement saturates
 *
 * Context: any.
 * Return: the quotient rounded down.
 */
static inline u64 quell_div_u64(u64 dividend, u64 divisor)
{
	return divisor ? div64_u64(dividend, divisor) : ~0ULL;
}

#else

#include <stdbool.h>
#include <stdint.h>

#ifndef __BPF__
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
#endif

static inline u64 quell_div_u64(u64 dividend, u64 divisor)
{
	return divisor ? dividend / divisor : ~0ULL;
}

#endif

static inline u64 quell_min_u64(u64 a, u64 b)
{
	return a < b ? a : b;
}

static inline u64 quell_max_u64(u64 a, u64 b)
{
	return a > b ? a : b;
}

/* Sum that stops at the largest value instead of wrapping. */
static inline u64 quell_add_sat_u64(u64 a, u64 b)
{
	return a + b < a ? ~0ULL : a + b;
}

/* Product that stops at the largest value instead of wrapping. */
static inline u64 quell_mul_sat_u64(u64 a, u64 b)
{
	u64 product;

	return __builtin_mul_overflow(a, b, &product) ? ~0ULL : product;
}

#endif /* _QUELL_CORE_TYPES_H */

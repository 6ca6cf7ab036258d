/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The integer types, the one division and the saturating arithmetic that the cores use, for each of
 * the three environments of an algorithm: kernel module, BPF program, user space.
 *
 * This header avoids library calls: it has 128-bit products only where the processor has
 * them (QUELL_WIDE; BPF lacks them), and divides 64-bit numbers only in quell_div_u64()
 * and quell_div_ceil_u64().
 */
#ifndef _QUELL_CORE_LIB_TYPES_H
#define _QUELL_CORE_LIB_TYPES_H

#if defined(__KERNEL__)

#include <linux/build_bug.h>
#include <linux/math64.h>
#include <linux/stddef.h>
#include <linux/types.h>

#else

/* A BPF program that includes vmlinux.h has these names already. */
#ifndef __VMLINUX_H__
#include <stdbool.h>
#include <stddef.h>
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
#endif

#ifndef static_assert
#define static_assert(expr, ...) extern char quell_static_assert[(expr) ? 1 : -1]
#endif

#endif

/*
 * Inlines all that a function calls.  Parts of ->on_ack are also called by rarer events, and
 * without this attribute the compiler would leave them out of line in ->on_ack too.
 */
#ifndef __flatten
#define __flatten	__attribute__((__flatten__))
#endif

/*
 * "static __rare" is a function of its own, not inlined: rare work costs the common path no
 * registers.
 *
 * "__once __rare" is that of a function of numbers alone, "__once __step" an inlined one, the body
 * of a loop.  In a BPF object both are global functions, which the verifier checks once, instead
 * of following their branches from each call and in each turn of the loop.  A global function
 * returns a number, and as nobody vouches for its pointers, it returns at once if
 * quell_is_absent() is true of one.
 */
#ifdef __bpf__
#define __once
#define __rare		__attribute__((__noinline__, __unused__))	/* in .text, for libbpf */
#define __step		__attribute__((__noinline__))
#define quell_is_absent(pointer)	(!(pointer))
/* libbpf does not find a table that clang puts into a section of constants of its size. */
#define __table		__attribute__((__section__(".rodata")))
#else
#define __once		static
/* gcc before 14 does not align such a function, and tracing by CALL_OPS (arm64) then panics. */
#if defined(CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS) && !defined(CONFIG_CC_HAS_SANE_FUNCTION_ALIGNMENT)
#define __rare		__attribute__((__noinline__, __unused__))
#else
#define __rare		__attribute__((__noinline__, __cold__, __unused__))
#endif
#define __step		inline
#define quell_is_absent(pointer)	((void)(pointer), false)
#define __table
#endif

/*
 * A processor that multiplies 64 by 64 bits to 128 in an instruction or two.  The functions that
 * use it have a second body for 32-bit processors and BPF; both give the same results.
 */
#if (defined(__x86_64__) || defined(__aarch64__)) && defined(__SIZEOF_INT128__) && \
	!defined(__bpf__) && !defined(QUELL_NARROW)
#define QUELL_WIDE	1
#else
#define QUELL_WIDE	0
#endif

#define QUELL_U32_MAX	(~0U)
#define QUELL_U64_MAX	(~0ULL)

/* quell_div_u64() of a divisor that is not 0. */
static inline u64 quell_div_positive_u64(u64 dividend, u64 divisor)
{
#if defined(__KERNEL__)
	return div64_u64(dividend, divisor);
#else
	return dividend / divisor;
#endif
}

/* Rounded down; a divisor of 0 gives QUELL_U64_MAX, so a missing measurement saturates. */
static inline u64 quell_div_u64(u64 dividend, u64 divisor)
{
	return divisor ? quell_div_positive_u64(dividend, divisor) : QUELL_U64_MAX;
}

/* quell_div_u64() rounded up; quotient and rest are of one division. */
static inline u64 quell_div_ceil_u64(u64 dividend, u64 divisor)
{
	u64 quotient, rest;

	if (!divisor)
		return QUELL_U64_MAX;
#if defined(__KERNEL__)
	quotient = div64_u64_rem(dividend, divisor, &rest);
#else
	quotient = dividend / divisor;
	/* For 32 bits, the remainder would be a library call of its own. */
	rest = sizeof(long) == 8 ? dividend % divisor : dividend - quotient * divisor;
#endif
	return quotient + !!rest;
}

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
	return a + b < a ? QUELL_U64_MAX : a + b;
}

/* Difference that stops at 0 instead of wrapping. */
static inline u64 quell_sub_sat_u64(u64 a, u64 b)
{
	return a > b ? a - b : 0;
}

/*
 * Product that stops at the largest value instead of wrapping.  The second body works in
 * halves of 32 bits, because the compiler's own overflow check needs a 128-bit product,
 * which a BPF program cannot use.
 */
#if QUELL_WIDE
static inline u64 quell_mul_sat_u64(u64 a, u64 b)
{
	u64 product;

	return __builtin_mul_overflow(a, b, &product) ? QUELL_U64_MAX : product;
}
#else
static inline u64 quell_mul_sat_u64(u64 a, u64 b)
{
	u64 a_high = a >> 32, b_high = b >> 32;
	u64 a_low = (u32)a, b_low = (u32)b;
	u64 low, middle;

	if (a_high && b_high)
		return QUELL_U64_MAX;
	/* One of the two terms is 0, so the sum is below 2^64. */
	middle = a_high * b_low + b_high * a_low;
	if (middle >> 32)
		return QUELL_U64_MAX;
	low = a_low * b_low;
	return quell_add_sat_u64(low, middle << 32);
}
#endif

/*
 * Product with 2^@shift that stops at the largest value instead of wrapping; @shift is 1 .. 63.
 * It takes a third of the instructions of quell_mul_sat_u64().
 */
static inline u64 quell_shl_sat_u64(u64 a, u32 shift)
{
	return a >> (64 - shift) ? QUELL_U64_MAX : a << shift;
}

/* Product that stops at the largest value instead of wrapping. */
static inline u32 quell_mul_sat_u32(u32 a, u32 b)
{
	u64 whole = (u64)a * b;

	return whole > QUELL_U32_MAX ? QUELL_U32_MAX : (u32)whole;
}

#endif /* _QUELL_CORE_LIB_TYPES_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pseudo-random numbers without generator state: a hash of the time and a flow's state.
 *
 * A flow's state has no room for a generator.  Draws of one flow differ in time, and draws
 * of two flows at the same time differ in their windows.  Equal inputs give equal numbers,
 * so that a run can be repeated.  The numbers are predictable.
 */
#ifndef _QUELL_CORE_LIB_DRAW_H
#define _QUELL_CORE_LIB_DRAW_H

#include <quell/core/lib/types.h>

#define QUELL_DRAW_BITS	32

/*
 * Uniform in 0 .. 2^32 - 1: the finaliser of splitmix64 (Steele, Lea, Flood 2014) spreads both
 * arguments over all bits; a step of xorshift64* (Vigna 2016) follows.
 */
static inline u32 quell_draw_u32(u64 now_ns, u64 state)
{
	u64 z = now_ns + state * 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	z ^= z >> 31;
	z ^= z >> 12;
	z ^= z << 25;
	z ^= z >> 27;
	return (u32)((z * 0x2545f4914f6cdd1dULL) >> 32);
}

#endif /* _QUELL_CORE_LIB_DRAW_H */

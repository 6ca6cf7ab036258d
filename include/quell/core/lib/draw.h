/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Chance without a memory: a draw of what a flow knows at a moment.
 *
 * A flow's state has no room for a generator.  Two moments of a flow differ in
 * time, two flows at one moment in their windows, and equal ones draw equally, so
 * that a run can be repeated.  Nobody is kept from predicting it.
 */
#ifndef _QUELL_CORE_LIB_DRAW_H
#define _QUELL_CORE_LIB_DRAW_H

#include <quell/core/lib/types.h>

#define QUELL_DRAW_BITS	32

/**
 * quell_draw_u32() - a number drawn by chance
 * @now_ns: time, ns
 * @state:  of the flow; whatever differs between flows
 *
 * xorshift64* (Vigna 2016) of the two, spread over all bits with the finaliser of
 * splitmix64 (Steele, Lea, Flood 2014).
 *
 * Return: 0 .. 2^32 - 1, each as likely.
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

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A seeded generator (splitmix64), so that failures are reproducible.
 */
#ifndef _QUELL_TEST_RANDOM_H
#define _QUELL_TEST_RANDOM_H

#include <quell/core/lib/types.h>

struct random_state {
	u64	state;
};

static inline u64 random_u64(struct random_state *r)
{
	u64 z = r->state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* Uniform over @low .. @high, both included. */
static inline u64 random_between(struct random_state *r, u64 low, u64 high)
{
	u64 span = high - low + 1;

	return span ? low + random_u64(r) % span : random_u64(r);
}

/* Uniform over the orders of magnitude of @low .. @high; 0 counts as one of them. */
static inline u64 random_magnitude(struct random_state *r, u64 low, u64 high)
{
	unsigned int low_bits = low ? 64 - __builtin_clzll(low) : 0;
	unsigned int high_bits = high ? 64 - __builtin_clzll(high) : 0;
	unsigned int bits = random_between(r, low_bits, high_bits);
	u64 value = bits ? random_u64(r) >> (64 - bits) : 0;

	if (bits)
		value |= 1ULL << (bits - 1);
	if (value < low)
		return low;
	return value > high ? high : value;
}

#endif /* _QUELL_TEST_RANDOM_H */

// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labspoof: random numbers.
 */
#include "labspoof.h"

static u64 random_state;

void labspoof_seed(u64 seed)
{
	random_state = seed * 0x9e3779b97f4a7c15ULL + 1;
}

/* xorshift64*: not the kernel's generator, so that a seed means the same anywhere. */
u32 labspoof_random(u32 below)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (u32)((random_state * 0x2545f4914f6cdd1dULL) >> 32) % below;
}

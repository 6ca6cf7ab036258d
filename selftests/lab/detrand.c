// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded into user-mode Linux: random numbers from a seed.
 *
 * The kernel inside takes all its randomness from getrandom() of the host
 * (through getrandom(2)'s libc wrapper); with this library it is a function
 * of QUELL_LAB_SEED, and a run can be repeated bit by bit.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>

static uint64_t state;

/* splitmix64: one multiplication chain per 8 bytes, any seed is good. */
static uint64_t next(void)
{
	uint64_t z = (state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

__attribute__((constructor))
static void seed(void)
{
	const char *text = getenv("QUELL_LAB_SEED");

	state = text ? strtoull(text, NULL, 0) : 1;
}

ssize_t getrandom(void *buffer, size_t length, unsigned int flags)
{
	unsigned char *bytes = buffer;
	uint64_t word = 0;
	size_t i;

	(void)flags;
	for (i = 0; i < length; i++) {
		if (i % 8 == 0)
			word = next();
		bytes[i] = word >> (8 * (i % 8));
	}
	return length;
}

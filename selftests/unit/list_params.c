// SPDX-License-Identifier: GPL-2.0
/* Prints name, default, smallest and largest value of every parameter of Swift. */
#include <stdio.h>

#include "swift_ranges.h"

int main(void)
{
	size_t i;

	for (i = 0; i < SWIFT_RANGES; i++)
		printf("%s %llu %llu %llu\n", swift_ranges[i].name,
		       swift_ranges[i].standard, swift_ranges[i].min,
		       swift_ranges[i].max);
	return 0;
}

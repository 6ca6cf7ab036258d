// SPDX-License-Identifier: GPL-2.0
/* Prints name, default, smallest and largest value of every parameter of swift_vaisf. */
#include <stdio.h>

#include "swift_vaisf_ranges.h"

int main(void)
{
	size_t i;

	for (i = 0; i < SWIFT_VAISF_RANGES; i++)
		printf("%s %llu %llu %llu\n", swift_vaisf_ranges[i].name,
		       swift_vaisf_ranges[i].standard, swift_vaisf_ranges[i].min,
		       swift_vaisf_ranges[i].max);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/* Prints name, default, smallest and largest value of every parameter of TIMELY. */
#include <stdio.h>

#include "timely_ranges.h"

int main(void)
{
	size_t i;

	for (i = 0; i < TIMELY_RANGES; i++)
		printf("%s %llu %llu %llu\n", timely_ranges[i].name,
		       timely_ranges[i].standard, timely_ranges[i].min,
		       timely_ranges[i].max);
	return 0;
}

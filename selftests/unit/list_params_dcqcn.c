// SPDX-License-Identifier: GPL-2.0
/* Prints name, default, smallest and largest value of every parameter of DCQCN. */
#include <stdio.h>

#include "dcqcn_ranges.h"

int main(void)
{
	size_t i;

	for (i = 0; i < DCQCN_RANGES; i++)
		printf("%s %llu %llu %llu\n", dcqcn_ranges[i].name,
		       dcqcn_ranges[i].standard, dcqcn_ranges[i].min,
		       dcqcn_ranges[i].max);
	return 0;
}

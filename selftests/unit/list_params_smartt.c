// SPDX-License-Identifier: GPL-2.0
/* Prints name, default, smallest and largest value of every parameter of SMaRTT. */
#include <stdio.h>

#include "smartt_ranges.h"

int main(void)
{
	size_t i;

	for (i = 0; i < SMARTT_RANGES; i++)
		printf("%s %llu %llu %llu\n", smartt_ranges[i].name,
		       smartt_ranges[i].standard, smartt_ranges[i].min,
		       smartt_ranges[i].max);
	return 0;
}

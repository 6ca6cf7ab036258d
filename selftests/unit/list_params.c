// SPDX-License-Identifier: GPL-2.0
/*
 * list_params CORE: prints name, default, smallest and largest value of every
 * parameter of the core.
 */
#include <stdio.h>
#include <string.h>

#include "dcqcn_ranges.h"
#include "hpcc_ranges.h"
#include "hpcc_vaisf_ranges.h"
#include "smartt_ranges.h"
#include "swift_ranges.h"
#include "swift_vaisf_ranges.h"
#include "timely_ranges.h"

static const struct {
	const char *core;
	const struct param_range *ranges;
	size_t ranges_nr;
} cores[] = {
	{ "dcqcn", dcqcn_ranges, DCQCN_RANGES },
	{ "hpcc", hpcc_ranges, HPCC_RANGES },
	{ "hpcc_vaisf", hpcc_vaisf_ranges, HPCC_VAISF_RANGES },
	{ "smartt", smartt_ranges, SMARTT_RANGES },
	{ "swift", swift_ranges, SWIFT_RANGES },
	{ "swift_vaisf", swift_vaisf_ranges, SWIFT_VAISF_RANGES },
	{ "timely", timely_ranges, TIMELY_RANGES },
};

static void list(const struct param_range *ranges, size_t ranges_nr)
{
	size_t i;

	for (i = 0; i < ranges_nr; i++)
		printf("%s %llu %llu %llu\n", ranges[i].name, ranges[i].standard,
		       ranges[i].min, ranges[i].max);
}

int main(int argc, char **argv)
{
	size_t i;

	for (i = 0; argc == 2 && i < sizeof(cores) / sizeof(cores[0]); i++)
		if (!strcmp(argv[1], cores[i].core)) {
			list(cores[i].ranges, cores[i].ranges_nr);
			return 0;
		}
	fprintf(stderr, "usage: list_params CORE\n");
	return 2;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Drives <quell/core/dart/machine.h> with periods of any length, rate and marks, and stops
 * where it differs from the model of Figure 5, or where a call within a period changes
 * something.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../unit/dart_machine_pair.h"
#include "input.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static struct machine_pair x;
	struct input in = { data, size };
	u64 line_bytes_ps;

	x = (struct machine_pair) {
		.p = {
			.period_ns = take_between(&in, 1000, 1000000000),
			.clear_ns = take_between(&in, 1000, 10000000000),
			.full_q16 = take_between(&in, 1, 65536),
			.periods = take_between(&in, 1, 100),
		},
	};
	line_bytes_ps = take(&in, 37);
	while (in.size) {
		u8 what = take_byte(&in);
		const char *differs;

		/* A step of a part of a period, or any; bytes of a part of the line, or any. */
		x.now_ns += what & 0x80 ? take(&in, 34) : x.p.period_ns * (what & 0x3) / 2;
		x.arrivals.hosts = take(&in, 2);
		machine_pair_arrive(&x, what & 0x40 ? take(&in, 40) :
				    (double)line_bytes_ps * (x.now_ns - x.start_ns) / 1e9 *
				    (what >> 2 & 0x3) / 3, what >> 4 & 0x3);
		differs = machine_pair_run(&x, line_bytes_ps);
		if (differs) {
			fprintf(stderr, "broken: %s\n", differs);
			abort();
		}
	}
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Measure the rate of the processor's time-stamp counter: prints ticks per 1000 ns,
 * for report-port.  The counter's rate does not depend on the processor's clock rate.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

#define SPAN_NS	200000000LL

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(void)
{
	int64_t start_ns = now_ns(), end_ns;
	uint64_t start = __rdtsc(), end;

	do {
		end_ns = now_ns();
		end = __rdtsc();
	} while (end_ns - start_ns < SPAN_NS);
	printf("%.0f\n", 1000.0 * (end - start) / (end_ns - start_ns));
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Fills a histogram (<quell/core/port/histogram.h>) with any values, and stops where a
 * promise is broken, against the values themselves:
 *
 *	a value is counted once, in a bucket with a middle within 1/32 of it
 *	quantiles rise, and are within 1/32 of the values of their rank
 *	no quantile exceeds the maximum, which is exact
 *
 * Input: little-endian values of 8 bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quell/core/port/histogram.h>

#define VALUES_MAX	128
#define QUANTILES	5

static const u32 permille[QUANTILES] = { 500, 900, 990, 999, 1000 };

static void require(bool holds, const char *promise)
{
	if (holds)
		return;
	fprintf(stderr, "broken: %s\n", promise);
	abort();
}

static int compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static bool near(u64 got, u64 want)
{
	return want >> QUELL_HISTOGRAM_BITS ||
	       (got > want ? got - want : want - got) <= want / 32;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static struct quell_histogram h;
	u64 values[VALUES_MAX], quantile[QUANTILES], sum = 0, last = 0;
	u32 n, i;

	memset(&h, 0, sizeof(h));
	for (n = 0; n < VALUES_MAX && size >= sizeof(u64); n++) {
		memcpy(&values[n], data, sizeof(u64));
		/* Shift to reach all magnitudes. */
		values[n] >>= data[0] & 63;
		size -= sizeof(u64);
		data += sizeof(u64);
		require(near(quell_histogram_middle(quell_histogram_bucket(values[n])),
			     values[n]), "the middle of its bucket is near a value");
		quell_histogram_add(&h, values[n], 1);
	}
	for (i = 0; i < QUELL_HISTOGRAM_BUCKETS; i++)
		sum += h.bucket[i];
	require(sum == n && h.count == n, "each value is counted once");
	quell_histogram_quantiles(&h, permille, quantile, QUANTILES);
	if (!n)
		return 0;
	qsort(values, n, sizeof(values[0]), compare);
	require(h.max == values[n - 1], "the maximum is exact");
	for (i = 0; i < QUANTILES; i++) {
		u64 want = values[quell_histogram_rank(n, permille[i]) - 1];

		require(quantile[i] >= last && quantile[i] <= h.max, "quantiles rise to the maximum");
		require(near(quantile[i], want), "a quantile is near the value of its rank");
		last = quantile[i];
	}
	return 0;
}

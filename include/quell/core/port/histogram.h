/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A histogram of fixed size for values of any magnitude, and quantiles of it.
 *
 * Each octave is divided into 16 buckets of equal width: below 32 every value has its
 * own, above, a bucket is at most 1/16 as wide as its smallest value.  A quantile is
 * the middle of the bucket it falls in, hence wrong by at most 1/32 of its value
 * (3.2 %); the maximum is exact, and no quantile is above it.
 *
 *	value	0 1 ... 31 | 32-33 34-35 ... 62-63 | 64-67 ... 124-127 | ...
 *	width	    1      |          2            |         4         |
 *
 * Adding is a shift, a find-last-set and two additions.  Values from 2^40 on (18
 * minutes in ns) share the last bucket.
 */
#ifndef _QUELL_CORE_PORT_HISTOGRAM_H
#define _QUELL_CORE_PORT_HISTOGRAM_H

#include <quell/core/lib/math.h>

#define QUELL_HISTOGRAM_SHIFT	4	/* 16 buckets an octave */
#define QUELL_HISTOGRAM_BITS	40
#define QUELL_HISTOGRAM_BUCKETS	\
	((QUELL_HISTOGRAM_BITS - QUELL_HISTOGRAM_SHIFT + 1) << QUELL_HISTOGRAM_SHIFT)

/* Number of values by magnitude; zeroed at first. */
struct quell_histogram {
	u64	count;	/* values added */
	u64	max;
	u64	bucket[QUELL_HISTOGRAM_BUCKETS];
};

/* Index of a value's bucket; it rises with the value. */
static inline u32 quell_histogram_bucket(u64 value)
{
	u32 octave;

	if (value >> QUELL_HISTOGRAM_BITS)
		return QUELL_HISTOGRAM_BUCKETS - 1;
	if (value < 1 << QUELL_HISTOGRAM_SHIFT)
		return value;
	/* 0 for values of 16 to 31. */
	octave = quell_fls_u64(value) - 1 - QUELL_HISTOGRAM_SHIFT;
	return (octave << QUELL_HISTOGRAM_SHIFT) + (u32)(value >> octave);
}

/* The middle of a bucket, rounded down. */
static inline u64 quell_histogram_middle(u32 bucket)
{
	u32 octave;
	u64 first;

	if (bucket < 2 << QUELL_HISTOGRAM_SHIFT)
		return bucket;
	octave = (bucket >> QUELL_HISTOGRAM_SHIFT) - 1;
	first = (u64)(bucket - (octave << QUELL_HISTOGRAM_SHIFT)) << octave;
	return first + (((1ULL << octave) - 1) >> 1);
}

static inline void quell_histogram_add(struct quell_histogram *h, u64 value, u32 times)
{
	h->count += times;
	if (value > h->max)
		h->max = value;
	h->bucket[quell_histogram_bucket(value)] += times;
}

/* Smallest rank that covers at least permille/1000 of all values; 1 to @count. */
static inline u64 quell_histogram_rank(u64 count, u32 permille)
{
	u64 whole = quell_div_u64(count, 1000);
	u64 rest = count - whole * 1000;
	u64 rank = whole * permille + quell_div_u64(rest * permille + 999, 1000);

	return rank ? rank : 1;
}

/*
 * Several in one pass: @permille, 0 to 1000, in rising order; nearest rank, all 0 of an empty
 * histogram.
 */
static inline void quell_histogram_quantiles(const struct quell_histogram *h,
					     const u32 *permille, u64 *quantile, u32 n)
{
	u64 seen = 0;
	u32 bucket, i;

	for (i = 0; i < n; i++)
		quantile[i] = h->count ? quell_histogram_rank(h->count, permille[i]) : 0;
	for (i = 0, bucket = 0; bucket < QUELL_HISTOGRAM_BUCKETS && i < n && h->count; bucket++) {
		seen += h->bucket[bucket];
		while (i < n && seen >= quantile[i])
			quantile[i++] = quell_min_u64(quell_histogram_middle(bucket), h->max);
	}
}

#endif /* _QUELL_CORE_PORT_HISTOGRAM_H */

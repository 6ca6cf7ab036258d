// SPDX-License-Identifier: GPL-2.0
/*
 * Drives the thresholds of a shared buffer (<quell/core/port/sharedbuf.h>) with any
 * arrivals, departures and sizes, and stops where a promise is broken:
 *
 *	a packet that enters leaves the buffer within its size, and its port within
 *	its threshold, against 128-bit arithmetic
 *	a packet that is refused would have broken one of the two limits
 *
 * Input: little-endian records of 8 bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quell/core/port/sharedbuf.h>

#define PORTS	4

struct record {
	u32 kind;
	u32 value;
};

struct buffer {
	u32 size_bytes;
	u32 used_bytes;
	u32 held_bytes[PORTS];
	u32 alpha_q16[PORTS];
};

static void require(bool holds, const char *promise)
{
	if (holds)
		return;
	fprintf(stderr, "broken: %s\n", promise);
	abort();
}

static void arrive(struct buffer *b, u32 port, u32 len_bytes)
{
	unsigned __int128 most = 0;
	bool fits;

	if (b->used_bytes < b->size_bytes)
		most = (unsigned __int128)(b->size_bytes - b->used_bytes) * b->alpha_q16[port] >> 16;
	if (most > b->size_bytes)
		most = b->size_bytes;
	require(quell_sharedbuf_threshold(b->size_bytes, b->used_bytes, b->alpha_q16[port]) == most,
		"the threshold is alpha times what is free");
	fits = (unsigned __int128)b->held_bytes[port] + len_bytes <= most &&
	       (unsigned __int128)b->used_bytes + len_bytes <= b->size_bytes;
	require(quell_sharedbuf_admits(b->size_bytes, b->used_bytes, b->alpha_q16[port],
				       b->held_bytes[port], len_bytes) == fits,
		"what fits enters, and nothing else");
	if (!fits)
		return;
	b->held_bytes[port] += len_bytes;
	b->used_bytes += len_bytes;
	require(b->used_bytes <= b->size_bytes, "never more than its size");
}

static void depart(struct buffer *b, u32 port, u32 len_bytes)
{
	if (len_bytes > b->held_bytes[port])
		len_bytes = b->held_bytes[port];
	b->held_bytes[port] -= len_bytes;
	b->used_bytes -= len_bytes;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct buffer b = {
		.size_bytes = 1 << 20,
		.alpha_q16 = { 65536, 65536, 8192, 524288 },
	};
	struct record r;
	u32 port, sum, i;

	for (; size >= sizeof(r); size -= sizeof(r), data += sizeof(r)) {
		memcpy(&r, data, sizeof(r));
		port = r.kind >> 8 & (PORTS - 1);
		switch (r.kind & 3) {
		case 0:
			arrive(&b, port, r.value >> (r.kind >> 27));
			break;
		case 1:
			depart(&b, port, r.value >> (r.kind >> 27));
			break;
		case 2:
			b.size_bytes = r.value;
			break;
		case 3:
			b.alpha_q16[port] = r.value;
			break;
		}
		for (sum = 0, i = 0; i < PORTS; i++)
			sum += b.held_bytes[i];
		require(sum == b.used_bytes, "the parts add up");
	}
	return 0;
}

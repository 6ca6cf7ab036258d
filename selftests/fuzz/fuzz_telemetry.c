// SPDX-License-Identifier: GPL-2.0
/*
 * Passes a packet's record through any switches, and stops where a promise is
 * broken:
 *
 *	exactly twelve bytes are read and written (they are in a block of their own
 *	size, which AddressSanitizer watches)
 *	a record that was read is written again byte for byte
 *	a value read is at most the value written, and at most 1/4096 of it lower
 *	(load: 1/32), or the largest that can be encoded
 *	the record that arrives is that of the first of the most loaded, by its code
 *
 * Input: a record as it comes, 12 bytes; then switches, 32 bytes each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quell/telemetry.h>

#define LARGEST_SHORT	134201344ULL

struct hop {
	u64 load_q16;
	u64 link_bytes_ps;
	u32 queue_bytes;
	u32 tx_units;
	u32 time_ns;
	u8 hop;
	u8 shift;	/* of load and rate, to reach all magnitudes */
	u8 pad[2];
};

static void require(bool holds, const char *promise)
{
	if (holds)
		return;
	fprintf(stderr, "broken: %s\n", promise);
	abort();
}

static void read_again(const u8 *wire)
{
	u8 again[QUELL_TELEMETRY_BYTES];
	struct quell_telemetry record;
	bool full = quell_telemetry_decode(wire, &record);

	require(full == !!wire[QUELL_TELEMETRY_HOP_AT], "a record has a hop");
	if (!full)
		return;
	quell_telemetry_encode(&record, quell_load_decode(wire[QUELL_TELEMETRY_LOAD_AT]), again);
	require(!memcmp(wire, again, sizeof(again)), "a record is written again as it was");
}

/* @got stands for @was: rounded down by at most a part in @parts, or the largest. */
static bool stands_for(u64 got, u64 was, u64 largest, u64 parts)
{
	return was >= largest ? got == largest : got <= was && was - got <= was / parts;
}

static void check_values(const struct quell_telemetry *was, u64 load_q16, const u8 *wire)
{
	u64 unit = QUELL_TELEMETRY_RATE_UNIT_BYTES_PS;
	struct quell_telemetry got;

	if (!quell_telemetry_decode(wire, &got))
		return;
	require(stands_for(got.queue_bytes, was->queue_bytes, LARGEST_SHORT, 4096), "the queue");
	require(got.link_bytes_ps % unit == 0 &&
		stands_for(got.link_bytes_ps / unit, was->link_bytes_ps / unit,
			   LARGEST_SHORT, 4096), "the rate");
	require(stands_for(quell_load_decode(wire[QUELL_TELEMETRY_LOAD_AT]) >> 10, load_q16 >> 10,
			   63 * 64, 32), "the load");
	require(got.tx_units == (was->tx_units & QUELL_TELEMETRY_TX_MASK), "the bytes sent");
	require(got.time_ns == (was->time_ns & QUELL_TELEMETRY_TIME_MASK), "the time");
	require(got.hop == was->hop, "the hop");
}

/* Pass the port at @hop; true when it wrote its own record. */
static bool pass(const struct hop *hop, u8 *wire)
{
	struct quell_telemetry record = {
		.link_bytes_ps = hop->link_bytes_ps >> (hop->shift & 63),
		.queue_bytes = hop->queue_bytes >> (hop->shift & 31),
		.tx_units = hop->tx_units,
		.time_ns = hop->time_ns,
		.hop = hop->hop,
	};
	u64 load_q16 = hop->load_q16 >> (hop->shift & 63);
	u8 before[QUELL_TELEMETRY_BYTES];

	memcpy(before, wire, sizeof(before));
	if (!hop->hop || !quell_telemetry_replaces(quell_load_encode(load_q16), wire)) {
		require(!memcmp(before, wire, sizeof(before)), "a record kept stays as it is");
		return false;
	}
	quell_telemetry_encode(&record, load_q16, wire);
	check_values(&record, load_q16, wire);
	require(!before[QUELL_TELEMETRY_HOP_AT] ||
		wire[QUELL_TELEMETRY_LOAD_AT] > before[QUELL_TELEMETRY_LOAD_AT],
		"only a more loaded hop replaces");
	return true;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	u32 most;
	struct hop hop;
	bool any;
	u8 *wire;

	if (size < QUELL_TELEMETRY_BYTES)
		return 0;
	wire = malloc(QUELL_TELEMETRY_BYTES);
	if (!wire)
		return 0;
	memcpy(wire, data, QUELL_TELEMETRY_BYTES);
	data += QUELL_TELEMETRY_BYTES;
	size -= QUELL_TELEMETRY_BYTES;
	read_again(wire);
	any = wire[QUELL_TELEMETRY_HOP_AT];
	most = any ? wire[QUELL_TELEMETRY_LOAD_AT] : 0;
	for (; size >= sizeof(hop); size -= sizeof(hop), data += sizeof(hop)) {
		u32 code;

		memcpy(&hop, data, sizeof(hop));
		code = quell_load_encode(hop.load_q16 >> (hop.shift & 63));
		require(pass(&hop, wire) == (hop.hop && (!any || code > most)),
			"the first of the most loaded");
		if (hop.hop) {
			most = any && most > code ? most : code;
			any = true;
		}
		require(!any || wire[QUELL_TELEMETRY_LOAD_AT] == most, "the most loaded arrives");
		read_again(wire);
	}
	free(wire);
	return 0;
}

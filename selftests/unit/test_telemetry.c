// SPDX-License-Identifier: GPL-2.0
/*
 * Every branch of <quell/telemetry.h>.  The expected bytes and codes were written by
 * hand from Documentation/wire-format.md, not by the code.
 */
#include <string.h>

#include <quell/telemetry.h>

#include "random.h"
#include "test.h"

#define GBIT_BYTES_PS	125000000ULL

TEST(load_codes)
{
	static const struct {
		const char *name;
		u64 load_q16;
		u8 code;
	} cases[] = {
		{ "nothing", 0, 0 },
		{ "below_resolution", 1023, 0 },
		{ "resolution", 1024, 1 },
		{ "half", 32768, 32 },
		{ "just_below_one", 65535, 63 },
		{ "one", 65536, 64 },
		/* 65 units have no code of their own. */
		{ "65_units", 65 * 1024, 64 },
		{ "66_units", 66 * 1024, 65 },
		{ "one_and_a_half", 98304, 0x50 },
		{ "two", 2 * 65536, 0x60 },
		{ "just_below_largest", 63 * 65536 - 1, 254 },
		{ "largest", 63 * 65536, 255 },
		{ "beyond", 64 * 65536, 255 },
		{ "all_bits", QUELL_U64_MAX, 255 },
	};

	for_each_row(row, cases) {
		expect_eq(row->code, quell_load_encode(row->load_q16), "%s", row->name);
	}
	expect_eq(98304, quell_load_decode(0x50), "one_and_a_half");
	expect_eq(63 * 65536, quell_load_decode(255), "largest");
}

/* Each code covers the loads from its own value up to just below the next code's. */
TEST(load_is_monotonic)
{
	bool own = true, gaps = true, rises = true;
	u64 load_q16;
	u32 code;

	for (code = 0; code < 256; code++) {
		load_q16 = quell_load_decode(code);
		own = own && quell_load_encode(load_q16) == code;
		if (!code)
			continue;
		rises = rises && load_q16 > quell_load_decode(code - 1);
		gaps = gaps && quell_load_encode(load_q16 - 1) == code - 1;
	}
	expect(own, "every_code_is_its_own");
	expect(rises, "rises");
	expect(gaps, "no_gaps");
}

TEST(short_is_monotonic)
{
	bool own = true, gaps = true, rises = true;
	u64 value, last = 0;
	u32 code;

	for (code = 0; code <= QUELL_SHORT_MAX; code++) {
		value = quell_float_decode(code, QUELL_SHORT_FRACTION_BITS);
		own = own && quell_float_encode(value, QUELL_SHORT_FRACTION_BITS,
						QUELL_SHORT_MAX) == code;
		if (code) {
			rises = rises && value > last;
			gaps = gaps && quell_float_encode(value - 1, QUELL_SHORT_FRACTION_BITS,
							  QUELL_SHORT_MAX) == code - 1;
		}
		last = value;
	}
	expect(own, "every_code_is_its_own");
	expect(rises, "rises");
	expect(gaps, "no_gaps");
}

static const struct {
	const char *name;
	struct quell_telemetry record;
	u64 load_q16;
	u8 wire[QUELL_TELEMETRY_BYTES];
} records[] = {
	{ "example", { .hop = 2, .link_bytes_ps = 100 * GBIT_BYTES_PS, .queue_bytes = 70000,
		       .tx_units = 0x123456, .time_ns = 0x789abc }, 98304,
	  { 2, 0x50, 0x88, 0x6a, 0x51, 0x17, 0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc } },
	{ "idle", { .hop = 1, .link_bytes_ps = GBIT_BYTES_PS }, 0,
	  { 1, 0, 0x1f, 0x40, 0, 0, 0, 0, 0, 0, 0, 0 } },
	{ "small_queue", { .hop = 255, .link_bytes_ps = 15625, .queue_bytes = 4095 }, 65536,
	  { 255, 64, 0, 1, 0x0f, 0xff, 0, 0, 0, 0, 0, 0 } },
	{ "largest", { .hop = 126, .link_bytes_ps = 134201344ULL * 15625,
		       .queue_bytes = 134201344, .tx_units = 0xffffff, .time_ns = 0xffffff },
	  63 * 65536,
	  { 126, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255 } },
	{ "nothing_but_hop", { .hop = 1 }, 0, { 1 } },
};

static bool same(const struct quell_telemetry *a, const struct quell_telemetry *b)
{
	return a->hop == b->hop && a->link_bytes_ps == b->link_bytes_ps &&
	       a->queue_bytes == b->queue_bytes && a->tx_units == b->tx_units &&
	       a->time_ns == b->time_ns;
}

TEST(records_cases)
{

	for_each_row(row, records) {
		struct quell_telemetry back;
		/* The byte behind the record must stay. */
		u8 wire[QUELL_TELEMETRY_BYTES + 1];

		memset(wire, 0xa5, sizeof(wire));
		quell_telemetry_encode(&row->record, row->load_q16, wire);
		expect(!memcmp(wire, row->wire, QUELL_TELEMETRY_BYTES) &&
			       wire[QUELL_TELEMETRY_BYTES] == 0xa5,
		       "%s", row->name);
		memset(&back, 0xa5, sizeof(back));
		expect(quell_telemetry_decode(row->wire, &back) && same(&back, &row->record), "%s",
		       row->name);
	}
}

TEST(empty)
{
	static const struct quell_telemetry none = { .hop = 0 };
	u8 wire[QUELL_TELEMETRY_BYTES];
	struct quell_telemetry back;

	memset(wire, 0xff, sizeof(wire));
	wire[0] = 0;
	memset(&back, 0xa5, sizeof(back));
	expect(!quell_telemetry_decode(wire, &back) && same(&back, &none), "without_hop_nothing");
	quell_telemetry_encode(&none, 0, wire);
	memset(&back, 0, sizeof(back));
	expect(!quell_telemetry_decode(wire, &back), "empty");
}

/* Values out of range become the largest code, but counters and clocks wrap around. */
TEST(edges)
{
	static const struct quell_telemetry huge = {
		.hop = 1, .link_bytes_ps = QUELL_U64_MAX, .queue_bytes = 0xffffffff,
		.tx_units = 0xff000001, .time_ns = 0xabfffffe,
	};
	static const struct quell_telemetry long_sent = { .hop = 1, .tx_units = 0xffffffff };
	u8 wire[QUELL_TELEMETRY_BYTES];
	struct quell_telemetry back;

	quell_telemetry_encode(&huge, QUELL_U64_MAX, wire);
	expect(quell_telemetry_decode(wire, &back), "huge");
	expect_eq(134201344ULL * 15625, back.link_bytes_ps, "rate_saturates");
	expect_eq(134201344, back.queue_bytes, "queue_saturates");
	expect_eq(1, back.tx_units, "bytes_come_round");
	expect_eq(0xfffffe, back.time_ns, "time_comes_round");
	expect_eq(255, wire[QUELL_TELEMETRY_LOAD_AT], "load_saturates");

	quell_telemetry_encode(&long_sent, 0, wire);
	expect(quell_telemetry_decode(wire, &back), "long_sent");
	expect_eq(0, back.queue_bytes, "queue_is_not_that_of_bytes_sent");
}

TEST(usual_rates)
{
	static const u32 tenth_gbit[] = {
		1, 10, 25, 50, 100, 250, 400, 500, 1000, 2000, 4000, 8000, 16000
	};

	for_each_row(row, tenth_gbit) {
		struct quell_telemetry back, record = {
			.hop = 1, .link_bytes_ps = *row * GBIT_BYTES_PS / 10,
		};
		u8 wire[QUELL_TELEMETRY_BYTES];

		quell_telemetry_encode(&record, 0, wire);
		quell_telemetry_decode(wire, &back);
		expect_eq(record.link_bytes_ps, back.link_bytes_ps, "exact_%u.%u_gbit", *row / 10,
			  *row % 10);
	}
}

/* Never more than the original, and at most 1/4096 less; a unit less for rates. */
static bool is_near(const struct quell_telemetry *record, const struct quell_telemetry *back)
{
	u64 rate_loss = record->link_bytes_ps - back->link_bytes_ps;
	u32 queue_loss = record->queue_bytes - back->queue_bytes;

	return back->link_bytes_ps <= record->link_bytes_ps &&
	       rate_loss <= record->link_bytes_ps / 4096 + QUELL_TELEMETRY_RATE_UNIT_BYTES_PS &&
	       back->queue_bytes <= record->queue_bytes &&
	       queue_loss <= record->queue_bytes / 4096 &&
	       (record->queue_bytes > 8192 || !queue_loss) &&
	       back->hop == record->hop && back->tx_units == record->tx_units &&
	       back->time_ns == record->time_ns;
}

TEST(round_trips)
{
	struct random_state r = { 12 };
	bool bytes = true, values = true;
	int k;

	for (k = 0; k < 1000000; k++) {
		u8 wire[QUELL_TELEMETRY_BYTES], again[QUELL_TELEMETRY_BYTES];
		struct quell_telemetry back, record = {
			.hop = random_between(&r, 1, 255),
			.link_bytes_ps = random_magnitude(&r, 0, 134201344ULL * 15625),
			.queue_bytes = random_magnitude(&r, 0, 134201344),
			.tx_units = random_between(&r, 0, QUELL_TELEMETRY_TX_MASK),
			.time_ns = random_between(&r, 0, QUELL_TELEMETRY_TIME_MASK),
		};
		u64 load_q16 = random_magnitude(&r, 0, QUELL_U64_MAX);

		quell_telemetry_encode(&record, load_q16, wire);
		quell_telemetry_decode(wire, &back);
		values = values && is_near(&record, &back);
		quell_telemetry_encode(&back, quell_load_decode(wire[QUELL_TELEMETRY_LOAD_AT]),
				       again);
		bytes = bytes && !memcmp(wire, again, sizeof(wire));
	}
	expect(values, "says_what_was");
	expect(bytes, "same_bytes_again");
}

TEST(replaces)
{
	static const struct {
		const char *name;
		u64 load_q16;
		u8 old_hop, old_load;
		bool want;
	} cases[] = {
		{ "empty", 0, 0, 0, true },
		{ "empty_whatever_it_says", 0, 0, 255, true },
		{ "more_loaded", 65536, 1, 63, true },
		{ "as_loaded", 65536, 1, 64, false },
		{ "as_loaded_in_code", 65 * 1024, 1, 64, false },
		{ "less_loaded", 65535, 1, 64, false },
		{ "idle_both", 0, 1, 0, false },
		{ "largest_both", QUELL_U64_MAX, 7, 255, false },
		{ "largest", QUELL_U64_MAX, 7, 254, true },
	};

	for_each_row(row, cases) {
		u8 old[QUELL_TELEMETRY_BYTES] = { row->old_hop, row->old_load };

		expect(quell_telemetry_replaces(quell_load_encode(row->load_q16), old) == row->want,
		       "%s", row->name);
	}
}

TEST_HARNESS_MAIN

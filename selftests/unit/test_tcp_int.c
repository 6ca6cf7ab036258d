// SPDX-License-Identifier: GPL-2.0
/*
 * Every branch of <quell/tcp_int.h>.  The expected bytes were written by hand from
 * Documentation/tcp-int.md, not by the code.
 */
#include <stdio.h>
#include <string.h>

#include <quell/tcp_int.h>

#include "random.h"
#include "test.h"

#define GBIT_PS		125000000ULL	/* bytes/s */
#define KIB		1024U

/* The second case is the layout of the public agents' structure on x86. */
static const struct {
	const char *name;
	struct quell_tcp_int opt;
	u8 wire[QUELL_TCP_INT_BYTES];
} options[] = {
	{ "empty", { .tag_freq = 15 }, { 0x72, 12, 0xf0, 0, 0, 0, 0, 0, 0, 0, 0, 0 } },
	{ "all_set", { .tag_freq = 15, .speed = 5, .value = 0x81, .hop_ttl = 62,
		       .latency = 0x010203, .echo_value = 0x7f, .echo_hop = 2,
		       .echo_speed = 3, .echo_latency = 0x8123 },
	  { 0x72, 12, 0xf5, 0x81, 62, 1, 2, 3, 0x7f, 0x23, 0x23, 0x81 } },
	{ "largest", { .tag_freq = 15, .speed = 15, .value = 255, .hop_ttl = 255,
		       .latency = 0xffffff, .echo_value = 255, .echo_hop = 15,
		       .echo_speed = 15, .echo_latency = 65535 },
	  { 0x72, 12, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255 } },
};

static bool same(const struct quell_tcp_int *a, const struct quell_tcp_int *b)
{
	return a->tag_freq == b->tag_freq && a->speed == b->speed && a->value == b->value &&
	       a->hop_ttl == b->hop_ttl && a->latency == b->latency &&
	       a->echo_value == b->echo_value && a->echo_hop == b->echo_hop &&
	       a->echo_speed == b->echo_speed && a->echo_latency == b->echo_latency;
}

TEST(bytes_cases)
{

	for_each_row(row, options) {
		u8 wire[QUELL_TCP_INT_BYTES];
		struct quell_tcp_int opt;

		quell_tcp_int_encode(&row->opt, wire);
		expect(!memcmp(wire, row->wire, sizeof(wire)), "%s", row->name);
		quell_tcp_int_decode(row->wire, &opt);
		expect(same(&opt, &row->opt), "%s", row->name);
	}
}

TEST(value_cases)
{
	static const struct {
		const char *name;
		u64 available_bytes_ps;
		u64 queue_bytes;
		u8 value;
		u64 back_bytes_ps;
		u32 back_bytes;
	} cases[] = {
		{ "more_than_fits", 400 * GBIT_PS, 0, 0, 127 * GBIT_PS, 0 },
		{ "just_fits", 127 * GBIT_PS, 0, 0, 127 * GBIT_PS, 0 },
		{ "rounded_down", 127 * GBIT_PS - 1, 0, 1, 126 * GBIT_PS, 0 },
		{ "one_gbit", GBIT_PS, 8191, 126, GBIT_PS, 0 },
		{ "below_one_gbit", GBIT_PS - 1, 0, 127, 0, 0 },
		{ "full", 0, 0, 0x80, 0, 0 },
		{ "queue_counts_first", 50 * GBIT_PS, 8192, 0x81, 0, 8192 },
		{ "queue_rounded_down", 0, 16383, 0x81, 0, 8192 },
		{ "largest_queue", 0, 1016 * KIB, 0xff, 0, 1016 * KIB },
		{ "larger_queue", 0, 1ULL << 40, 0xff, 0, 1016 * KIB },
	};

	for_each_row(row, cases) {
		u8 value = quell_tcp_int_value(row->available_bytes_ps, row->queue_bytes);

		expect_eq(row->value, value, "%s", row->name);
		expect_eq(row->back_bytes_ps, quell_tcp_int_available_bytes_ps(value), "%s",
			  row->name);
		expect_eq(row->back_bytes, quell_tcp_int_queue_bytes(value), "%s", row->name);
	}
}

TEST(value_rises)
{
	unsigned int wrong = 0;
	u8 last = 0, value;
	u64 i;

	for (i = 0; i <= 200; i++) {
		value = quell_tcp_int_value((200 - i) * GBIT_PS, 0);
		wrong += value < last;
		last = value;
	}
	for (i = 0; i <= 2048; i++) {
		value = quell_tcp_int_value(0, i * KIB);
		wrong += value < last;
		last = value;
	}
	expect_eq(0, wrong, "never_falls_with_congestion");
}

TEST(speed)
{
	static const u16 gbit_ps[] = { 10, 25, 40, 50, 100, 200, 400 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(gbit_ps); i++) {
		expect_eq(i + 1, quell_tcp_int_speed(gbit_ps[i] * GBIT_PS), "%u_gbit", gbit_ps[i]);
		expect_eq(gbit_ps[i] * GBIT_PS, quell_tcp_int_speed_bytes_ps(i + 1), "%u_gbit",
			  gbit_ps[i]);
	}
	expect_eq(0, quell_tcp_int_speed(0), "unknown");
	expect_eq(0, quell_tcp_int_speed(GBIT_PS), "has_no_code");
	expect_eq(0, quell_tcp_int_speed_bytes_ps(0), "none");
	expect_eq(0, quell_tcp_int_speed_bytes_ps(8), "without_meaning");
	expect_eq(0, quell_tcp_int_speed_bytes_ps(15), "last");
}

TEST(echo_latency)
{
	static const struct {
		const char *name;
		u32 latency;
		u16 echoed;
		u64 back_ns;
	} cases[] = {
		{ "none", 0, 0, 0 },
		{ "one", 1, 1, 256 },
		{ "last_fine", 0x7fff, 0x7fff, 8388352 },
		{ "first_marked", 0x8000, 0x8080, 8388608 },
		{ "rounded_down", 0x80ff, 0x8080, 8388608 },
		{ "last_marked", 0x7fffff, 0xffff, 2147418112 },
		{ "too_long", 0x800000, 0xffff, 2147418112 },
		{ "largest", 0xffffff, 0xffff, 2147418112 },
	};

	for_each_row(row, cases) {
		expect_eq(row->echoed, quell_tcp_int_echo_latency(row->latency), "%s", row->name);
		expect_eq(row->back_ns, quell_tcp_int_echo_latency_ns(row->echoed), "%s",
			  row->name);
	}
}

TEST(find)
{
	static const struct {
		const char *name;
		u32 bytes;
		u32 at;		/* bytes: not found */
		u8 options[40];
	} cases[] = {
		{ "first", 12, 0, { 0x72, 12 } },
		{ "behind_timestamps", 24, 12, { 1, 1, 8, 10, [12] = 0x72, 12 } },
		{ "behind_quell", 36, 24, { 254, 24, 0x51, 0x55, [24] = 0x72, 12 } },
		{ "other_length", 16, 16, { 0x72, 16 } },
		{ "other_length_before", 20, 8, { 0x72, 8, [8] = 0x72, 12 } },
		{ "behind_the_end", 16, 16, { 0, 1, 1, 1, 0x72, 12 } },
		{ "behind_a_malformed_one", 16, 16, { 8, 1, 1, 1, 0x72, 12 } },
		{ "beyond_the_header", 8, 8, { 0x72, 12 } },
		{ "kind_alone", 1, 1, { 0x72 } },
		{ "nothing", 0, 0, { 0x72, 12 } },
	};

	for_each_row(row, cases) {
		expect_eq(row->at, quell_tcp_int_find(row->options, row->bytes), "%s", row->name);
	}
}

/* The first eight bytes in network order, as a number. */
static u64 first_of(const u8 *wire)
{
	u64 first = 0;
	u32 i;

	for (i = 0; i < 8; i++)
		first = first << 8 | wire[i];
	return first;
}

static void put_first(u8 *wire, u64 first)
{
	u32 i;

	for (i = 8; i-- > 0; first >>= 8)
		wire[i] = first;
}

TEST(stamp)
{
	static const struct {
		const char *name;
		struct quell_tcp_int before;
		struct quell_tcp_int_hop hop;
		struct quell_tcp_int after;
	} cases[] = {
		{ "first", { .tag_freq = 15, .echo_value = 1 }, { 100, 5, 63, 2560 },
		  { .tag_freq = 15, .value = 100, .speed = 5, .hop_ttl = 63, .latency = 10,
		    .echo_value = 1 } },
		{ "more_congested", { .value = 100, .speed = 5, .hop_ttl = 63, .latency = 10 },
		  { 101, 1, 62, 256 },
		  { .value = 101, .speed = 1, .hop_ttl = 62, .latency = 11 } },
		{ "equal_stays", { .value = 100, .speed = 5, .hop_ttl = 63, .latency = 10 },
		  { 100, 1, 62, 511 },
		  { .value = 100, .speed = 5, .hop_ttl = 63, .latency = 11 } },
		{ "less_congested", { .value = 100, .speed = 5, .hop_ttl = 63, .latency = 10 },
		  { 0, 7, 62, 255 },
		  { .value = 100, .speed = 5, .hop_ttl = 63, .latency = 10 } },
		{ "idle_leaves_no_trace", { 0 }, { 0, 7, 63, 255 }, { 0 } },
		{ "latency_saturates", { .latency = 0xfffffe }, { 0, 0, 63, 512 },
		  { .latency = 0xffffff } },
		{ "longest_latency", { .latency = 1 }, { 0, 0, 63, ~0ULL },
		  { .latency = 0xffffff } },
	};

	for_each_row(row, cases) {
		u8 wire[QUELL_TCP_INT_BYTES];
		struct quell_tcp_int opt;
		u64 first;

		quell_tcp_int_encode(&row->before, wire);
		first = first_of(wire);
		expect_eq(row->before.value < row->hop.value,
			  quell_tcp_int_stamp(&first, &row->hop), "%s_replaces", row->name);
		put_first(wire, first);
		quell_tcp_int_decode(wire, &opt);
		expect(same(&opt, &row->after) && wire[0] == 0x72 && wire[1] == 12, "%s",
		       row->name);
	}
}

TEST(answer)
{
	static const struct {
		const char *name;
		struct quell_tcp_int in;
		bool answered;
		struct quell_tcp_int out;
	} cases[] = {
		{ "first_hop", { .value = 9, .speed = 5, .hop_ttl = 63, .latency = 10 }, true,
		  { .tag_freq = 15, .echo_value = 9, .echo_speed = 5, .echo_hop = 1,
		    .echo_latency = 10 } },
		{ "hop_15", { .value = 9, .hop_ttl = 49 }, true,
		  { .tag_freq = 15, .echo_value = 9, .echo_hop = 15 } },
		{ "hop_16", { .value = 9, .hop_ttl = 48 }, true,
		  { .tag_freq = 15, .echo_value = 9, .echo_hop = 15 } },
		{ "from_128", { .value = 9, .hop_ttl = 126, .latency = 0x8000 }, true,
		  { .tag_freq = 15, .echo_value = 9, .echo_hop = 2, .echo_latency = 0x8080 } },
		{ "no_switch", { .latency = 10 }, false, { .tag_freq = 15 } },
	};

	for_each_row(row, cases) {
		struct quell_tcp_int out = { .tag_freq = 15 };

		expect(quell_tcp_int_echo(&row->in, &out) == row->answered && same(&out, &row->out),
		       "%s", row->name);
	}
}

/* All twelve bytes are significant: a decoded option is encoded to the same bytes. */
TEST(round_trip)
{
	struct random_state random = { 1 };
	unsigned int wrong = 0;
	int i, byte;

	for (i = 0; i < 1000000; i++) {
		u8 wire[QUELL_TCP_INT_BYTES] = { 0x72, 12 }, again[QUELL_TCP_INT_BYTES];
		struct quell_tcp_int opt;

		for (byte = 2; byte < 12; byte++)
			wire[byte] = random_u64(&random);
		quell_tcp_int_decode(wire, &opt);
		quell_tcp_int_encode(&opt, again);
		wrong += !!memcmp(wire, again, sizeof(wire));
	}
	expect_eq(0, wrong, "a_million_round_trips");
}

TEST(pack)
{
	struct random_state r = { 5 };
	unsigned int wrong = 0;
	int i;

	for (i = 0; i < 100000; i++) {
		struct quell_tcp_int in = {
			.echo_value = random_between(&r, 0, 255),
			.echo_hop = random_between(&r, 0, 15),
			.echo_speed = random_between(&r, 0, 15),
			.echo_latency = random_between(&r, 0, 65535),
		}, out = { .tag_freq = 3, .value = 9, .hop_ttl = 7 };
		u32 packed = quell_tcp_int_pack(&in);

		quell_tcp_int_unpack(packed, &out);
		wrong += out.tag_freq != 3 || out.value != 9 || out.hop_ttl != 7;
		if (!in.echo_hop)
			wrong += packed || out.echo_hop;
		else
			wrong += out.echo_value != in.echo_value || out.echo_hop != in.echo_hop ||
				 out.echo_speed != in.echo_speed ||
				 out.echo_latency != in.echo_latency;
	}
	expect_eq(0, wrong, "there_and_back");
}

/* Two echoes 10 us apart of a link of 100 Gbit/s, and the records derived from them. */
TEST(record_cases)
{
	static const struct {
		const char *name;
		struct quell_tcp_int told;
		u64 bytes;		/* sent between the two */
		u32 queue_bytes;
	} cases[] = {
		{ "busy_without_queue", { .echo_value = 127, .echo_hop = 2, .echo_speed = 5 },
		  125000, 0 },
		{ "half_used", { .echo_value = 127 - 50, .echo_hop = 2, .echo_speed = 5 },
		  62500, 0 },
		{ "idle", { .echo_value = 127 - 100, .echo_hop = 2, .echo_speed = 5 }, 0, 0 },
		{ "more_available_than_there_is", { .echo_value = 0, .echo_hop = 2, .echo_speed = 5 },
		  0, 0 },
		{ "queue_is_a_busy_link", { .echo_value = 131, .echo_hop = 15, .echo_speed = 5 },
		  125000, 24 * KIB },
	};
	const u64 begin_ns = (1ULL << 40) + QUELL_TELEMETRY_TIME_MASK - 3000;

	for_each_row(row, cases) {
		struct quell_tcp_int_link link = { 0 };
		struct quell_telemetry one, two;
		u32 units;

		expect(quell_tcp_int_record(&link, &row->told, begin_ns, &one) &&
			       quell_tcp_int_record(&link, &row->told, begin_ns + 10000, &two) &&
			       one.hop == row->told.echo_hop && two.hop == one.hop &&
			       two.link_bytes_ps == 100 * GBIT_PS &&
			       two.queue_bytes == row->queue_bytes &&
			       ((two.time_ns - one.time_ns) & QUELL_TELEMETRY_TIME_MASK) == 10000,
		       "%s", row->name);
		units = (two.tx_units - one.tx_units) & QUELL_TELEMETRY_TX_MASK;
		expect(units * 64 >= row->bytes - row->bytes % 64 && units * 64 <= row->bytes + 64,
		       "%s rate", row->name);
	}
}

TEST(no_record)
{
	struct quell_tcp_int_link link = { 0 };
	struct quell_telemetry record = { .hop = 99 };
	struct quell_tcp_int told = { .echo_value = 200, .echo_speed = 5 };

	expect(!quell_tcp_int_record(&link, &told, 1000, &record) && record.hop == 99, "no_hop");
	told.echo_hop = 1;
	told.echo_speed = 9;
	expect(!quell_tcp_int_record(&link, &told, 1000, &record) && record.hop == 99 &&
		       !link.bytes && !link.time_ns,
	       "no_speed");
	/* 400 Gbit/s after a year: the elapsed time is limited, and the record not compared */
	told.echo_speed = 7;
	expect(quell_tcp_int_record(&link, &told, 31536000ULL * QUELL_NS_PER_SEC, &record) &&
		       link.bytes == 400 * GBIT_PS / 1000 * 16,
	       "long_ago");
}

TEST_HARNESS_MAIN

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
	size_t i;

	for (i = 0; i < ARRAY_SIZE(options); i++) {
		u8 wire[QUELL_TCP_INT_BYTES];
		struct quell_tcp_int opt;

		quell_tcp_int_encode(&options[i].opt, wire);
		EXPECT_TRUE(!memcmp(wire, options[i].wire, sizeof(wire)))
			TH_LOG("quell_tcp_int_encode__%s", options[i].name);
		quell_tcp_int_decode(options[i].wire, &opt);
		EXPECT_TRUE(same(&opt, &options[i].opt))
			TH_LOG("quell_tcp_int_decode__%s", options[i].name);
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
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		u8 value = quell_tcp_int_value(cases[i].available_bytes_ps, cases[i].queue_bytes);

		EXPECT_EQ(cases[i].value, value)
			TH_LOG("quell_tcp_int_value__%s", cases[i].name);
		EXPECT_EQ(cases[i].back_bytes_ps, quell_tcp_int_available_bytes_ps(value))
			TH_LOG("quell_tcp_int_available_bytes_ps__%s", cases[i].name);
		EXPECT_EQ(cases[i].back_bytes, quell_tcp_int_queue_bytes(value))
			TH_LOG("quell_tcp_int_queue_bytes__%s", cases[i].name);
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
	EXPECT_EQ(0, wrong)
		TH_LOG("quell_tcp_int_value__never_falls_with_congestion");
}

TEST(speed)
{
	static const u16 gbit_ps[] = { 10, 25, 40, 50, 100, 200, 400 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(gbit_ps); i++) {
		EXPECT_EQ(i + 1, quell_tcp_int_speed(gbit_ps[i] * GBIT_PS))
			TH_LOG("quell_tcp_int_speed__%u_gbit", gbit_ps[i]);
		EXPECT_EQ(gbit_ps[i] * GBIT_PS, quell_tcp_int_speed_bytes_ps(i + 1))
			TH_LOG("quell_tcp_int_speed_bytes_ps__%u_gbit", gbit_ps[i]);
	}
	EXPECT_EQ(0, quell_tcp_int_speed(0))
		TH_LOG("quell_tcp_int_speed__unknown");
	EXPECT_EQ(0, quell_tcp_int_speed(GBIT_PS))
		TH_LOG("quell_tcp_int_speed__has_no_code");
	EXPECT_EQ(0, quell_tcp_int_speed_bytes_ps(0))
		TH_LOG("quell_tcp_int_speed_bytes_ps__none");
	EXPECT_EQ(0, quell_tcp_int_speed_bytes_ps(8))
		TH_LOG("quell_tcp_int_speed_bytes_ps__without_meaning");
	EXPECT_EQ(0, quell_tcp_int_speed_bytes_ps(15))
		TH_LOG("quell_tcp_int_speed_bytes_ps__last");
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
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		EXPECT_EQ(cases[i].echoed, quell_tcp_int_echo_latency(cases[i].latency))
			TH_LOG("quell_tcp_int_echo_latency__%s", cases[i].name);
		EXPECT_EQ(cases[i].back_ns, quell_tcp_int_echo_latency_ns(cases[i].echoed))
			TH_LOG("quell_tcp_int_echo_latency_ns__%s", cases[i].name);
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
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		EXPECT_EQ(cases[i].at, quell_tcp_int_find(cases[i].options, cases[i].bytes))
			TH_LOG("quell_tcp_int_find__%s", cases[i].name);
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
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		u8 wire[QUELL_TCP_INT_BYTES];
		struct quell_tcp_int opt;
		u64 first;

		quell_tcp_int_encode(&cases[i].before, wire);
		first = first_of(wire);
		EXPECT_EQ(cases[i].before.value < cases[i].hop.value,
			  quell_tcp_int_stamp(&first, &cases[i].hop))
			TH_LOG("quell_tcp_int_stamp__%s_replaces", cases[i].name);
		put_first(wire, first);
		quell_tcp_int_decode(wire, &opt);
		EXPECT_TRUE(same(&opt, &cases[i].after) && wire[0] == 0x72 && wire[1] == 12)
			TH_LOG("quell_tcp_int_stamp__%s", cases[i].name);
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
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct quell_tcp_int out = { .tag_freq = 15 };

		EXPECT_TRUE(quell_tcp_int_echo(&cases[i].in, &out) == cases[i].answered &&
			    same(&out, &cases[i].out))
			TH_LOG("quell_tcp_int_answer__%s", cases[i].name);
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
	EXPECT_EQ(0, wrong)
		TH_LOG("quell_tcp_int__a_million_round_trips");
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
	EXPECT_EQ(0, wrong)
		TH_LOG("quell_tcp_int_pack__there_and_back");
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
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct quell_tcp_int_link link = { 0 };
		struct quell_telemetry one, two;
		u32 units;

		EXPECT_TRUE(quell_tcp_int_record(&link, &cases[i].told, begin_ns, &one) &&
			    quell_tcp_int_record(&link, &cases[i].told, begin_ns + 10000,
			    &two) && one.hop == cases[i].told.echo_hop && two.hop == one.hop &&
			    two.link_bytes_ps == 100 * GBIT_PS &&
			    two.queue_bytes == cases[i].queue_bytes &&
			    ((two.time_ns - one.time_ns) & QUELL_TELEMETRY_TIME_MASK) == 10000)
			TH_LOG("quell_tcp_int_record__%s", cases[i].name);
		units = (two.tx_units - one.tx_units) & QUELL_TELEMETRY_TX_MASK;
		EXPECT_TRUE(units * 64 >= cases[i].bytes - cases[i].bytes % 64 &&
			    units * 64 <= cases[i].bytes + 64)
			TH_LOG("quell_tcp_int_record__%s rate", cases[i].name);
	}
}

TEST(no_record)
{
	struct quell_tcp_int_link link = { 0 };
	struct quell_telemetry record = { .hop = 99 };
	struct quell_tcp_int told = { .echo_value = 200, .echo_speed = 5 };

	EXPECT_TRUE(!quell_tcp_int_record(&link, &told, 1000, &record) && record.hop == 99)
		TH_LOG("quell_tcp_int_record__no_hop");
	told.echo_hop = 1;
	told.echo_speed = 9;
	EXPECT_TRUE(!quell_tcp_int_record(&link, &told, 1000, &record) && record.hop == 99 &&
		    !link.bytes && !link.time_ns)
		TH_LOG("quell_tcp_int_record__no_speed");
	/* 400 Gbit/s after a year: the elapsed time is limited, and the record not compared */
	told.echo_speed = 7;
	EXPECT_TRUE(quell_tcp_int_record(&link, &told, 31536000ULL * QUELL_NS_PER_SEC,
		    &record) && link.bytes == 400 * GBIT_PS / 1000 * 16)
		TH_LOG("quell_tcp_int_record__long_ago");
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/*
 * Writes of a port into a TCP segment (<quell/core/port/stamp.h>): where a record is found, by
 * hand; the checksum, by hand and of whole segments; and any options against the model.
 */
#include "random.h"
#include "stamp_model.h"
#include "test.h"

/* A TCP header of 60 bytes with PSH and these options, the rest no-operations. */
static void make_header(u8 *tcp, const u8 *options, u32 bytes)
{
	memset(tcp, 0, STAMP_TCP_BYTES_MAX);
	tcp[12] = 0xf0;
	tcp[13] = 0x18;
	memset(tcp + 20, QUELL_OPT_NOP, 40);
	memcpy(tcp + 20, options, bytes);
}

TEST(record_at)
{
	static const struct {
		const char *name;
		u32 at;
		u8 options[40];
	} cases[] = {
		{ "first", 32, { 254, 24, 0x51, 0x55, 5 } },
		{ "without_data", 26, { 254, 18, 0x51, 0x55, 4 } },
		{ "with_ack", 42, { 254, 34, 0x51, 0x55, 7 } },
		{ "with_echo", 26, { 254, 30, 0x51, 0x55, 12 } },
		{ "no_record", 0, { 254, 24, 0x51, 0x55, 1 } },
		{ "too_short", 0, { 254, 23, 0x51, 0x55, 5 } },
		{ "longer_than_the_header", 0, { 254, 41, 0x51, 0x55, 5 } },
		{ "behind_timestamps", 44, { 1, 1, 8, 10, [12] = 254, 24, 0x51, 0x55, 5 } },
		{ "behind_one_of_another", 36, { 254, 4, 0x51, 0x54, 254, 24, 0x51, 0x55, 5 } },
		{ "behind_one_too_short", 34, { 254, 2, 254, 24, 0x51, 0x55, 5 } },
		{ "behind_without_record", 0, { 1, 1, 254, 24, 0x51, 0x55, 1 } },
		{ "shorter_than_its_number", 0, { 254, 3, 0x51, 0x55, 5 } },
		{ "behind_the_end", 0, { 0, 1, 254, 24, 0x51, 0x55, 5 } },
	};
	u8 tcp[STAMP_TCP_BYTES_MAX];

	for_each_row(row, cases) {
		make_header(tcp, row->options, 40);
		expect_eq(row->at, quell_stamp_record_at(tcp, 40), "%s", row->name);
		expect_eq(row->at, model_record_at(tcp, 60), "%s", row->name);
		tcp[13] = 0x10;
		expect_eq(0, quell_stamp_record_at(tcp, 40), "%s_without_psh", row->name);
	}
}

/* RFC 1624, section 4: a checksum of 0xdd2f, 0x5555 becomes 0x3285, and it is 0, not 0xffff. */
TEST(checksum)
{
	static const struct {
		const char *name;
		u8 was[8], now[8];
		u16 check, want;
		u32 at;
	} cases[] = {
		{ "rfc_1624", { 0x55, 0x55 }, { 0x32, 0x85 }, 0xdd2f, 0x0000, 20 },
		{ "same", { 1, 2, 3 }, { 1, 2, 3 }, 0x1234, 0x1234, 20 },
		{ "same_of_ones", { 1, 2, 3 }, { 1, 2, 3 }, 0xffff, 0x0000, 20 },
		{ "at_an_odd_place", { 0x55 }, { 0x32 }, 0x1000, 0x1023, 21 },
		{ "carries", { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff }, { 0 }, 0x0001,
		  0x0001, 20 },
		{ "nothing_to_add", { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff }, { 0 },
		  0xffff, 0x0000, 20 },
		{ "to_ones", { 0 }, { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff }, 0x0001,
		  0x0001, 20 },
	};
	u8 tcp[STAMP_TCP_BYTES_MAX];

	for_each_row(row, cases) {
		u32 at = row->at;
		u64 diff;

		memset(tcp, 0, sizeof(tcp));
		memcpy(tcp + at, row->was, 8);
		tcp[16] = row->check >> 8;
		tcp[17] = row->check & 0xff;
		diff = quell_stamp_put_u64(tcp + at, quell_stamp_get_u64(row->now), 0);
		quell_stamp_update(tcp, at, diff);
		expect_eq(0, memcmp(tcp + at, row->now, 8), "%s", row->name);
		expect_eq(row->want, tcp[16] << 8 | tcp[17], "%s", row->name);
	}
}

/* Sum of all words of a header; 0xffff with a correct checksum. */
static u32 sum_of(const u8 *tcp, u32 bytes)
{
	u32 sum = 0, at;

	for (at = 0; at < bytes; at += 2)
		sum += tcp[at] << 8 | tcp[at + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

/* Options that a segment may have, whole, and misleading bytes. */
static u32 random_options(struct random_state *r, u8 *options)
{
	u32 bytes = 4 * random_between(r, 0, 10), at = 0, i;

	for (i = 0; i < bytes; i++)
		options[i] = random_u64(r);
	while (at + 2 <= bytes) {
		u8 *option = options + at;

		at += 1;
		switch (random_between(r, 0, 5)) {
		case 0:
			option[0] = QUELL_OPT_NOP;
			continue;
		case 1:
			option[0] = 8;
			option[1] = 10;
			break;
		case 2:
			option[0] = QUELL_TCP_INT_KIND;
			option[1] = random_between(r, 0, 9) ? 12 : random_between(r, 0, 40);
			break;
		case 3:
			if (random_between(r, 0, 9))
				continue;
			break;
		default:
			if (at + 4 > bytes)
				return bytes;
			option[0] = QUELL_OPT_KIND;
			option[1] = 2 * random_between(r, 4, 18) - !random_between(r, 0, 9);
			option[2] = 0x51;
			option[3] = random_between(r, 0, 9) ? 0x55 : 0x54;
			break;
		}
		at += option[1] ? option[1] - 1 : 0;
	}
	return bytes;
}

TEST(as_in_the_long_way)
{
	u8 tcp[STAMP_TCP_BYTES_MAX], options[40];
	struct random_state r = { 20 };
	u32 i, written, once = 0, both = 0;

	for (i = 0; i < 300000; i++) {
		const struct stamp_port port = {
			.record = {
				.link_bytes_ps = random_magnitude(&r, 0, QUELL_U64_MAX),
				.queue_bytes = random_magnitude(&r, 0, QUELL_U32_MAX),
				.tx_units = random_u64(&r), .time_ns = random_u64(&r),
				.hop = random_between(&r, 1, 255),
			},
			.load_q16 = random_magnitude(&r, 0, QUELL_U64_MAX),
			.hop = {
				.value = random_u64(&r), .speed = random_between(&r, 0, 15),
				.ttl = random_u64(&r),
				.latency_ns = random_magnitude(&r, 0, QUELL_U64_MAX),
			},
		};
		u32 tcp_bytes = 20 + random_options(&r, options), sum;
		const char *complaint;

		make_header(tcp, options, tcp_bytes - 20);
		tcp[13] = random_between(&r, 0, 9) ? 0x18 : 0x10;
		sum = sum_of(tcp, tcp_bytes);
		tcp[16] = (u8)(~sum >> 8);
		tcp[17] = (u8)~sum;
		complaint = stamp_complaint(tcp, tcp_bytes, &port, &written);
		ASSERT_EQ(NULL, complaint)
			TH_LOG("random__%u: %s", i, complaint);
		once += written == 1;
		both += written == 2;
		straight_stamp(tcp, tcp_bytes, &port);
		straight_tcp_int(tcp, tcp_bytes, &port);
		ASSERT_EQ(0xffff, sum_of(tcp, tcp_bytes))
			TH_LOG("random__%u: checksum", i);
	}
	EXPECT_GT(once, 50000U);
	EXPECT_GT(both, 100U);
}

TEST_HARNESS_MAIN

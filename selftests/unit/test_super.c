// SPDX-License-Identifier: GPL-2.0
/*
 * Super-packets (<quell/core/port/super.h>): their lengths by hand and against a sum over
 * segments, and a shared buffer's verdict against one segment after the other.
 */
#include <stddef.h>

#include <quell/core/port/super.h>

#include "random.h"
#include "test.h"

#define TRIALS	200000

TEST(by_hand)
{
	static const struct {
		const char *name;
		u32 bytes, header_bytes, segment_bytes;
		bool want;
		struct quell_super super;
	} cases[] = {
		{ "ten_equal", 10054, 54, 1000, true, { 10, 10540, 1054 } },
		{ "short_last", 9055, 54, 1000, true, { 10, 9541, 55 } },
		{ "two", 1055, 54, 1000, true, { 2, 1109, 55 } },
		{ "one", 1054, 54, 1000, false, { 0 } },
		{ "largest", 65549, 66, 1448, true, { 46, 68519, 389 } },
		{ "no_payload", 54, 54, 1000, false, { 0 } },
		{ "header_longer", 54, 1000, 1000, false, { 0 } },
		{ "no_header", 10000, 0, 1000, false, { 0 } },
		{ "no_size", 10054, 54, 0, false, { 0 } },
		{ "most_segments", 54 + 1024, 54, 1, true, { 1024, 54 + 1024 + 1023 * 54, 55 } },
		{ "too_many_segments", 54 + 1025, 54, 1, false, { 0 } },
		{ "does_not_fit", 0xffffffff, 54, 0xfffffff, false, { 0 } },
	};

	for_each_row(row, cases) {
		struct quell_super super = { 0 };
		bool got = quell_super_measure(&super, row->bytes, row->header_bytes,
					       row->segment_bytes);

		expect(got == row->want && super.segments == row->super.segments &&
			       super.bytes == row->super.bytes &&
			       super.last_bytes == row->super.last_bytes,
		       "%s", row->name);
	}
}

static struct quell_super draw(struct random_state *r, u32 *header_bytes, u32 *segment_bytes)
{
	struct quell_super super = { 0 };
	u32 payload_bytes;

	do {
		*header_bytes = random_between(r, 1, 200);
		*segment_bytes = random_magnitude(r, 1, 9000);
		payload_bytes = random_magnitude(r, 1, 600000);
	} while (!quell_super_measure(&super, *header_bytes + payload_bytes, *header_bytes,
				      *segment_bytes));
	return super;
}

/* As many segments as say it, all full but the last, which is not empty. */
TEST(sum_of_segments)
{
	struct random_state r = { 1 };
	u32 i, header_bytes, segment_bytes;
	bool equal = true;

	for (i = 0; i < TRIALS; i++) {
		struct quell_super super = draw(&r, &header_bytes, &segment_bytes);
		u32 full_bytes = header_bytes + segment_bytes;

		equal = equal && super.last_bytes > header_bytes &&
			super.last_bytes <= full_bytes &&
			super.bytes == (super.segments - 1) * full_bytes + super.last_bytes;
	}
	expect(equal, "is_the_sum_of_segments");
}

/* How many of the segments, offered one after the other, are admitted. */
static u32 admitted(const struct quell_super *super, u32 size_bytes, u32 used_bytes,
		    u32 alpha_q16, u32 port_bytes)
{
	u32 full_bytes = (super->bytes - super->last_bytes) / (super->segments - 1);
	u32 i, count = 0;

	for (i = 0; i < super->segments; i++) {
		u32 bytes = i + 1 < super->segments ? full_bytes : super->last_bytes;

		if (!quell_sharedbuf_admits(size_bytes, used_bytes, alpha_q16, port_bytes, bytes))
			continue;
		used_bytes += bytes;
		port_bytes += bytes;
		count++;
	}
	return count;
}

TEST(sharedbuf_as_by_segment)
{
	u32 i, yes = 0, header_bytes, segment_bytes;
	struct random_state r = { 2 };
	bool equal = true;

	for (i = 0; i < TRIALS; i++) {
		struct quell_super super = draw(&r, &header_bytes, &segment_bytes);
		u32 size_bytes = random_magnitude(&r, 64, 1 << 21);
		u32 used_bytes = random_between(&r, 0, size_bytes + size_bytes / 8);
		u32 port_bytes = random_between(&r, 0, used_bytes);
		u32 alpha_q16 = random_magnitude(&r, 1, 1 << 26);
		bool all = admitted(&super, size_bytes, used_bytes, alpha_q16, port_bytes) ==
			   super.segments;

		equal = equal && all == quell_super_sharedbuf_admits(&super, size_bytes, used_bytes,
								     alpha_q16, port_bytes);
		yes += all;
	}
	expect(equal, "as_by_segment");
	expect(yes > TRIALS / 20 && yes < TRIALS / 20 * 19, "both_verdicts_are_drawn");
}

/* A port that holds more than all ports do: no counter wraps, and no packet is admitted. */
TEST(sharedbuf_port_beyond_all)
{
	struct quell_super super = { 2, 2000, 1000 };

	expect(quell_super_sharedbuf_admits(&super, 4000, 1000, 8 << 16, 1000), "room");
	EXPECT_FALSE(quell_super_sharedbuf_admits(&super, 4000, 1000, 8 << 16, 0xffffffff))
		TH_LOG("quell_super_sharedbuf_admits__port_beyond_all");
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/*
 * Window functions shared by the cores, <quell/core/lib/window.h>, by tables.
 */
#include <quell/core/lib/window.h>

#include "random.h"
#include "test.h"

#define Q16(bytes)	((u64)(bytes) << 16)

TEST(first_window)
{
	EXPECT_EQ(Q16(1448), quell_mss_q16(1448));
	EXPECT_EQ(Q16(14480), quell_init_window_q16(1448));
	EXPECT_EQ(Q16(10 * 0xffffffffULL), quell_init_window_q16(0xffffffff));
}

/* A segment of 1448 bytes is 1538 on the wire: 123.04 ns at 100 Gbit/s. */
TEST(bdp)
{
	static const struct {
		const char *name;
		u64 rtt_ns, link_bytes_ps, want_q16;
		u32 mss_bytes;
	} rows[] = {
		{ "no time: the segment itself", 0, 12500000000ULL, Q16(1448), 1448 },
		{ "part of a segment is one", 1, 12500000000ULL, Q16(2 * 1448), 1448 },
		{ "just below two", 246, 12500000000ULL, Q16(3 * 1448), 1448 },
		{ "just above two", 247, 12500000000ULL, Q16(4 * 1448), 1448 },
		{ "no link", 1000000, 0, Q16(1448), 1448 },
		{ "saturates", QUELL_U64_MAX, QUELL_U64_MAX, QUELL_U64_MAX, 1448 },
	};

	for_each_row(row, rows) {
		expect_eq(row->want_q16,
			  quell_bdp_q16(row->rtt_ns, row->link_bytes_ps, row->mss_bytes), "%s",
			  row->name);
	}
}

TEST(growth)
{
	static const struct {
		const char *name;
		u64 window_q16, step_q16, want_q16;
		u32 acked_bytes;
	} rows[] = {
		{ "a window acknowledged adds the step", Q16(10000), Q16(500), Q16(10500), 10000 },
		{ "half of one half of it", Q16(10000), Q16(500), Q16(10250), 5000 },
		{ "nothing acknowledged", Q16(10000), Q16(500), Q16(10000), 0 },
		{ "below a segment a segment adds all", Q16(10), Q16(500), Q16(510), 1000 },
		{ "saturates", QUELL_U64_MAX, QUELL_U64_MAX, QUELL_U64_MAX, 0xffffffff },
	};

	for_each_row(row, rows) {
		expect_eq(row->want_q16,
			  quell_grow_window_q16(row->window_q16, row->step_q16, row->acked_bytes,
						1000),
			  "%s", row->name);
	}
}

/* Reno's growth is that by one segment, in every range. */
TEST(reno)
{
	struct random_state r = { .state = 1 };
	int i;

	EXPECT_EQ(Q16(11000), quell_reno_window_q16(Q16(10000), 10000, 1000));
	for (i = 0; i < 100000; i++) {
		u64 window_q16 = random_magnitude(&r, 0, QUELL_U64_MAX);
		u32 acked_bytes = random_magnitude(&r, 0, 0xffffffff);
		u32 mss_bytes = random_magnitude(&r, 1, 0xffffffff);

		ASSERT_EQ(quell_grow_window_q16(window_q16, quell_mss_q16(mss_bytes), acked_bytes,
						mss_bytes),
			  quell_reno_window_q16(window_q16, acked_bytes, mss_bytes));
	}
}

TEST(restart)
{
	static const struct {
		const char *name;
		u64 held_q16, first_q16, want_q16, refused;
		bool can_rise;
	} rows[] = {
		{ "rises", 100, 300, 300, 0, true },
		{ "falls", 300, 100, 100, 0, true },
		{ "falls without a signal", 300, 100, 100, 0, false },
		{ "does not rise without one", 100, 300, 100, 1, false },
		{ "the same is no rise", 100, 100, 100, 0, false },
	};
	u64 refused;

	EXPECT_FALSE(quell_is_restart(0, QUELL_U64_MAX));
	EXPECT_FALSE(quell_is_restart(1000, 999));
	EXPECT_TRUE(quell_is_restart(1000, 1000));
	for_each_row(row, rows) {
		refused = 0;
		expect_eq(row->want_q16,
			  quell_restart_window_q16(row->held_q16, row->first_q16, row->can_rise,
						   &refused),
			  "%s", row->name);
		expect_eq(row->refused, refused, "%s", row->name);
	}
}

TEST_HARNESS_MAIN

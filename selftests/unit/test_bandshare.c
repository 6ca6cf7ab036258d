// SPDX-License-Identifier: GPL-2.0
/*
 * The next band, control or data (<quell/core/port/bandshare.h>): by hand, and against
 * the bound and the share that the header promises.
 */
#include <math.h>
#include <stddef.h>

#include <quell/core/port/bandshare.h>

#include "random.h"
#include "test.h"

TEST(by_hand)
{
	static const struct {
		const char *name;
		u32 share_q16, burst_bytes;
		u64 ahead_q16;
		bool want;
	} cases[] = {
		{ "nothing_sent", QUELL_Q16_ONE / 2, 1000, 0, false },
		{ "burst_not_used_up", QUELL_Q16_ONE / 2, 1000, 65536000, false },
		{ "burst_used_up", QUELL_Q16_ONE / 2, 1000, 65536001, true },
		{ "no_burst_not_ahead", QUELL_Q16_ONE / 2, 0, 0, false },
		{ "no_burst_ahead", QUELL_Q16_ONE / 2, 0, 1, true },
		{ "whole_wire", QUELL_Q16_ONE, 0, 1, false },
		{ "largest_burst", 1, 0xffffffff, (0xffffffffULL << 16) + 1, true },
	};

	for_each_row(row, cases) {
		struct quell_bandshare_params params = { row->share_q16, row->burst_bytes };
		struct quell_bandshare bandshare = { row->ahead_q16 };

		expect_eq(row->want, quell_bandshare_is_data_next(&params, &bandshare), "%s",
			  row->name);
	}
}

/* Three quarters of the wire: 400 bytes of control put it 100 ahead, 100 of data 75 back. */
TEST(what_counts)
{
	struct quell_bandshare_params params = { QUELL_Q16_ONE / 4 * 3, 1000 };
	struct quell_bandshare bandshare = { 0 };

	quell_bandshare_sent_control(&params, &bandshare, 400, true);
	expect_eq(100 << 16, bandshare.ahead_q16, "data_waits");
	quell_bandshare_sent_data(&params, &bandshare, 100, true);
	expect_eq(25 << 16, bandshare.ahead_q16, "more_waits");
	quell_bandshare_sent_data(&params, &bandshare, 100, true);
	expect_eq(0, bandshare.ahead_q16, "not_below_0");
	quell_bandshare_sent_control(&params, &bandshare, 4000, true);
	quell_bandshare_sent_data(&params, &bandshare, 4, false);
	expect_eq(0, bandshare.ahead_q16, "last");
	quell_bandshare_sent_control(&params, &bandshare, 4000, true);
	quell_bandshare_sent_control(&params, &bandshare, 4, false);
	expect_eq(0, bandshare.ahead_q16, "no_data_waits");
}

/*
 * Both bands never run empty: the bound after every packet, the share at the end, with a
 * burst of two packets or more to within the burst and two packets.
 */
TEST(share_and_bound)
{
	struct random_state r = { 11 };
	bool bound = true, share = true;
	int run, i;

	for (run = 0; run < 300; run++) {
		struct quell_bandshare_params params = {
			.share_q16 = random_between(&r, 1, QUELL_Q16_ONE),
			.burst_bytes = run % 2 ? random_between(&r, 18000, 100000) :
				       random_between(&r, 0, 18000),
		};
		double part = params.share_q16 / (double)QUELL_Q16_ONE;
		double control = 0, data = 0, less;
		struct quell_bandshare bandshare = { 0 };

		for (i = 0; i < 20000; i++) {
			u32 bytes = random_between(&r, 64, 9000);

			if (quell_bandshare_is_data_next(&params, &bandshare)) {
				quell_bandshare_sent_data(&params, &bandshare, bytes, true);
				data += bytes;
			} else {
				quell_bandshare_sent_control(&params, &bandshare, bytes, true);
				control += bytes;
			}
			bound = bound && control * (1 - part) <=
				data * part + params.burst_bytes + 9000;
		}
		less = fabs(data * part - control * (1 - part));
		share = share && (!(run % 2) || less <= params.burst_bytes + 18000);
	}
	expect(bound, "control_stays_within_share_and_burst");
	expect(share, "share_of_the_wire");
}

TEST_HARNESS_MAIN

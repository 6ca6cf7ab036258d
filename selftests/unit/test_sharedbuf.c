// SPDX-License-Identifier: GPL-2.0
/*
 * Every branch of the shared buffer's thresholds (<quell/core/port/sharedbuf.h>), and
 * the final shares of equal ports, against Choudhury and Hahne's formula.
 */
#include <stddef.h>

#include <quell/core/port/sharedbuf.h>

#include "test.h"

#define ONE		65536
#define PORTS_MAX	64

TEST(threshold)
{
	static const struct {
		const char *name;
		u32 size_bytes, used_bytes, alpha_q16, want_bytes;
	} cases[] = {
		{ "empty_one", 1000, 0, ONE, 1000 },
		{ "half_used", 1000, 500, ONE, 500 },
		{ "half_alpha", 1000, 500, ONE / 2, 250 },
		{ "rounded_down", 1000, 999, ONE / 2, 0 },
		{ "never_above_size", 1000, 500, 8 * ONE, 1000 },
		{ "full", 1000, 1000, ONE, 0 },
		{ "made_smaller", 1000, 4000, ONE, 0 },
		{ "alpha_zero", 1000, 0, 0, 0 },
		{ "smallest_alpha", 1 << 30, 0, 1, 1 << 14 },
		{ "largest", 0xffffffff, 0, 0xffffffff, 0xffffffff },
	};

	for_each_row(row, cases) {
		expect_eq(row->want_bytes,
			  quell_sharedbuf_threshold(row->size_bytes, row->used_bytes,
						    row->alpha_q16),
			  "%s", row->name);
	}
}

TEST(admits)
{
	static const struct {
		const char *name;
		u32 size_bytes, used_bytes, alpha_q16, port_bytes, len_bytes;
		bool want;
	} cases[] = {
		{ "at_threshold", 1000, 400, ONE, 400, 200, true },
		{ "above_threshold", 1000, 400, ONE, 400, 201, false },
		{ "at_size", 1000, 900, 1024 * ONE, 100, 100, true },
		{ "above_size", 1000, 900, 1024 * ONE, 100, 101, false },
		{ "made_smaller", 1000, 4000, ONE, 0, 1, false },
		{ "no_wrap_of_used", 1000, 0xffffffff, ONE, 0, 64, false },
		{ "no_wrap_of_port", 0xffffffff, 0, 0xffffffff, 0xffffffff, 64, false },
	};

	for_each_row(row, cases) {
		expect(quell_sharedbuf_admits(row->size_bytes, row->used_bytes, row->alpha_q16,
					      row->port_bytes, row->len_bytes) == row->want,
		       "%s", row->name);
	}
}

/* Offer packets to n ports in turn until all are refused. */
static void fill(u32 ports, u32 alpha_q16, u32 size_bytes, u32 len_bytes, u32 *held)
{
	u32 used_bytes = 0, i, entered;

	do {
		for (entered = 0, i = 0; i < ports; i++) {
			if (!quell_sharedbuf_admits(size_bytes, used_bytes, alpha_q16, held[i],
						    len_bytes))
				continue;
			held[i] += len_bytes;
			used_bytes += len_bytes;
			entered++;
		}
	} while (entered);
}

/* alpha * size / (1 + n * alpha) each, to within a packet of each of the ports. */
TEST(equal_parts)
{
	static const u32 alphas_q16[] = { ONE / 16, ONE / 2, ONE, 8 * ONE };
	const u32 size_bytes = 10000000, len_bytes = 1500;
	bool equal = true, formula = true;
	u32 n, i;

	for_each_row(row, alphas_q16) {
		for (n = 1; n <= PORTS_MAX; n++) {
			double alpha = *row / (double)ONE;
			double want = alpha * size_bytes / (1 + n * alpha);
			u32 held[PORTS_MAX] = { 0 };

			fill(n, *row, size_bytes, len_bytes, held);
			for (i = 0; i < n; i++) {
				equal = equal && held[i] <= held[0] &&
					held[0] - held[i] <= len_bytes;
				formula = formula && held[i] <= want + len_bytes &&
					  held[i] >= want - 2 * len_bytes;
			}
		}
	}
	expect(equal, "equal_ports_hold_equal_parts");
	expect(formula, "as_choudhury_and_hahne_say");
}

TEST_HARNESS_MAIN

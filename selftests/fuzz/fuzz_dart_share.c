// SPDX-License-Identifier: GPL-2.0
/*
 * The codes of <quell/core/dart/share.h> for any input: n never becomes less by being stated,
 * a line rate never more, and a stated value is stated again without a change.
 */
#include <stdio.h>
#include <stdlib.h>

#include <quell/core/dart/share.h>

#include "input.h"

static void require(bool holds, const char *promise)
{
	if (holds)
		return;
	fprintf(stderr, "broken: %s\n", promise);
	abort();
}

static void share(u64 n_q8, u64 more_q8, u64 line_bytes_ps)
{
	u16 field = quell_share_encode(n_q8);
	u32 stated_q8 = quell_share_decode(field);
	u64 rate = quell_share_bytes_ps(line_bytes_ps, stated_q8);

	require(!n_q8 == !stated_q8, "known is known");
	require(!stated_q8 || stated_q8 >= QUELL_SHARE_ONE_Q8, "at least one");
	require(stated_q8 >= n_q8 || stated_q8 == QUELL_SHARE_MAX_Q8, "rounded up");
	require(n_q8 < QUELL_SHARE_ONE_Q8 || stated_q8 <= n_q8 + n_q8 / 2048,
		"by a 2048th at most");
	require(quell_share_decode(quell_share_encode(stated_q8)) == stated_q8, "stated again");
	require(quell_share_decode(quell_share_encode(quell_add_sat_u64(n_q8, more_q8))) >=
		stated_q8, "more senders, larger n");
	require(rate <= line_bytes_ps, "at most the line");
	/* Without rounding, rate * n / 256 is the line; 128 bits for the compiler alone. */
	require(!stated_q8 || (unsigned __int128)rate * stated_q8 <=
		(unsigned __int128)line_bytes_ps * QUELL_SHARE_ONE_Q8, "all shares fit");
}

static void line(u64 bytes_ps, u64 more_bytes_ps)
{
	u8 code = quell_line_encode(bytes_ps);
	u64 stated_bytes_ps = quell_line_decode(code);

	require(stated_bytes_ps <= bytes_ps, "rounded down");
	require(code == 255 || quell_line_decode(code + 1) > bytes_ps, "the largest code");
	require(quell_line_encode(stated_bytes_ps) == code, "line stated again");
	require(quell_line_encode(quell_add_sat_u64(bytes_ps, more_bytes_ps)) >= code,
		"faster line, larger code");
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = { data, size };

	while (in.size) {
		u64 n_q8 = take(&in, 64), more = take(&in, 64), bytes_ps = take(&in, 64);
		u16 field = take(&in, 16);

		share(n_q8, more, bytes_ps);
		share(quell_share_decode(field), more, bytes_ps);
		line(bytes_ps, more);
	}
	return 0;
}

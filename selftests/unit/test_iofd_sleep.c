// SPDX-License-Identifier: GPL-2.0
/*
 * When deflection need not look at packets without tokens (<quell/core/port/iofd.h>).
 */
#include <stdlib.h>

#include <quell/core/port/iofd.h>

#include "test.h"

/* A port without tokens falls asleep once no flow is bound; a token wakes it. */
TEST(falls_asleep)
{
	const struct quell_iofd_params params = { .entries = 8, .idle_ns = 1000000 };
	struct quell_iofd_packet none = { .now_ns = QUELL_IOFD_SLEEP_NS - 1 + 7 };
	struct quell_iofd_packet token = { .tokens = 1 };
	struct quell_iofd_vars *vars = calloc(1, sizeof(*vars));

	quell_iofd_begin(vars, 7);
	quell_iofd_watch(vars, &params, &none);
	expect(!quell_iofd_is_skipped(vars, 0), "after_begin");
	none.now_ns++;
	quell_iofd_watch(vars, &params, &none);
	expect(quell_iofd_is_skipped(vars, 0), "no_token_for_long");
	expect(!quell_iofd_is_skipped(vars, 1), "a_token");

	token.now_ns = none.now_ns + 5;
	quell_iofd_watch(vars, &params, &token);
	expect(!quell_iofd_is_skipped(vars, 0), "after_a_token");
	expect_eq(token.now_ns, vars->since_ns, "all_flows_just_seen");
	none.now_ns = token.now_ns + QUELL_IOFD_SLEEP_NS - 1;
	quell_iofd_watch(vars, &params, &none);
	expect(!vars->asleep, "a_token_counts");

	/* One flow has packets until now, then it is quiet. */
	none.now_ns++;
	vars->used = 1;
	vars->entry[3].state = QUELL_IOFD_ACTIVE;
	vars->entry[3].seen_ns = none.now_ns - params.idle_ns + 1;
	quell_iofd_watch(vars, &params, &none);
	expect(!vars->asleep, "a_flow_is_bound");
	none.now_ns++;
	quell_iofd_watch(vars, &params, &none);
	expect_eq(1, vars->used, "not_looked_at_each_packet");
	none.now_ns += params.idle_ns;
	quell_iofd_watch(vars, &params, &none);
	expect(vars->asleep && !vars->used, "quiet");
	free(vars);
}

TEST_HARNESS_MAIN

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
	EXPECT_FALSE(quell_iofd_is_skipped(vars, 0))
		TH_LOG("awake__after_begin");
	none.now_ns++;
	quell_iofd_watch(vars, &params, &none);
	EXPECT_TRUE(quell_iofd_is_skipped(vars, 0))
		TH_LOG("asleep__no_token_for_long");
	EXPECT_FALSE(quell_iofd_is_skipped(vars, 1))
		TH_LOG("asleep__a_token");

	token.now_ns = none.now_ns + 5;
	quell_iofd_watch(vars, &params, &token);
	EXPECT_FALSE(quell_iofd_is_skipped(vars, 0))
		TH_LOG("awake__after_a_token");
	EXPECT_EQ(token.now_ns, vars->since_ns)
		TH_LOG("awake__all_flows_just_seen");
	none.now_ns = token.now_ns + QUELL_IOFD_SLEEP_NS - 1;
	quell_iofd_watch(vars, &params, &none);
	EXPECT_FALSE(vars->asleep)
		TH_LOG("awake__a_token_counts");

	/* One flow has packets until now, then it is quiet. */
	none.now_ns++;
	vars->used = 1;
	vars->entry[3].state = QUELL_IOFD_ACTIVE;
	vars->entry[3].seen_ns = none.now_ns - params.idle_ns + 1;
	quell_iofd_watch(vars, &params, &none);
	EXPECT_FALSE(vars->asleep)
		TH_LOG("awake__a_flow_is_bound");
	none.now_ns++;
	quell_iofd_watch(vars, &params, &none);
	EXPECT_EQ(1, vars->used)
		TH_LOG("awake__not_looked_at_each_packet");
	none.now_ns += params.idle_ns;
	quell_iofd_watch(vars, &params, &none);
	EXPECT_TRUE(vars->asleep && !vars->used)
		TH_LOG("asleep__quiet");
	free(vars);
}

TEST_HARNESS_MAIN

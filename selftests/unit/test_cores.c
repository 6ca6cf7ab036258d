// SPDX-License-Identifier: GPL-2.0
/*
 * Properties of every algorithm as an object: its tables are complete, its defaults in their
 * ranges, its variables fit into a socket, and a short rest changes no decision.  That each of
 * its events decides: ../fuzz/fuzz_core.c.
 */
#include <stdlib.h>
#include <string.h>

#include <quell/core/cores.h>

#include "../../lab/tutorial/toy_core.h"
#include "random.h"
#include "test.h"

/* Space in struct quell_cc for variables, include/quell/quell.h. */
#define VARS_BYTES_MOST	64
#define NAME_BYTES	16	/* TCP_CA_NAME_MAX */
#define MSS_BYTES	1448
#define STARTS		1000

static bool is_named(const char *name, const char *doc)
{
	return name && doc && strlen(name) && strspn(name, "abcdefghijklmnopqrstuvwxyz-") ==
	       strlen(name) && doc[strlen(doc) - 1] == '.';
}

static void test_params(struct __test_metadata *_metadata, const struct quell_core *core)
{
	u32 i, other;

	expect(!strcmp(core->params[0].name, "adapt") && !core->params[0].offset,
	       "%s__adapt_is_the_first_parameter", core->name);
	for (i = 0; i < core->params_nr; i++) {
		const struct quell_param_desc *desc = &core->params[i];
		bool alone = true;

		for (other = 0; other < i; other++)
			alone = alone && strcmp(desc->name, core->params[other].name) &&
				desc->offset != core->params[other].offset;
		expect(is_named(desc->name, desc->doc) && alone && desc->offset % 8 == 0 &&
			       desc->offset + 8 <= core->params_bytes,
		       "%s__%s_has_a_name_and_a_place", core->name, desc->name);
		expect(desc->min <= desc->def && desc->def <= desc->max &&
			       (desc->unit != QUELL_UNIT_BOOL || (!desc->min && desc->max == 1)),
		       "%s__%s_default_in_range", core->name, desc->name);
	}
}

static void test_counters(struct __test_metadata *_metadata, const struct quell_core *core)
{
	u32 i, other;

	for (i = 0; i < core->counters_nr; i++) {
		const struct quell_counter_desc *desc = &core->counters[i];
		bool alone = true;

		for (other = 0; other < i; other++)
			alone = alone && strcmp(desc->name, core->counters[other].name) &&
				desc->offset != core->counters[other].offset;
		expect(is_named(desc->name, desc->doc) && alone && desc->offset % 8 == 0 &&
			       desc->offset + 8 <= core->counters_bytes,
		       "%s__%s_has_a_name_and_a_place", core->name, desc->name);
	}
	/* The variants with Variable AI never count ACKs that chance left out. */
	expect(core->counters_nr * 8 == core->counters_bytes ||
		       (strstr(core->name, "_vaisf") &&
			core->counters_nr * 8 + 8 == core->counters_bytes),
	       "%s__every_counter_is_in_the_table", core->name);
}

/* Changes one parameter of three on average. */
static void random_params(struct random_state *r, const struct quell_core *core, void *params)
{
	u32 i;

	for (i = 0; i < core->params_nr; i++)
		if (!random_between(r, 0, 2))
			*quell_core_param(params, &core->params[i]) =
				random_magnitude(r, core->params[i].min, core->params[i].max);
	if (core->params_derive)
		core->params_derive(params);
}

/*
 * Random ACKs, at times a loss, and a rest shorter than the parameter at restart_offset.  Returns
 * whether the rest changed the last ACK's decision.
 */
static bool is_changed_by_rest(const struct quell_core *core, struct random_state *r, void *params,
			       void *vars, void *stats)
{
	struct quell_event ev = { .vars = vars, .params = params, .stats = stats };
	u64 shortest_ns = *(u64 *)((char *)params + core->restart_offset);
	struct quell_decision last;
	int i, acks = random_between(r, 1, 20);

	ev.sample.min_rtt_ns = random_magnitude(r, 0, 1000000);
	ev.sample.link_bytes_ps = random_magnitude(r, 0, 100000000000);
	ev.sample.mss_bytes = MSS_BYTES;
	core->init(&ev);
	for (i = 0; i < acks; i++) {
		ev.sample.now_ns += random_magnitude(r, 1, 10000000);
		ev.sample.rtt_ns = ev.sample.min_rtt_ns + random_magnitude(r, 0, 1000000);
		ev.sample.acked_pkts = random_between(r, 1, 20);
		ev.sample.acked_bytes = ev.sample.acked_pkts * MSS_BYTES;
		ev.sample.marked_bytes = random_between(r, 0, 3) ? 0 : MSS_BYTES;
		ev.sample.inflight_bytes = random_between(r, 1, 40) * MSS_BYTES;
		if (!random_between(r, 0, 9))
			core->on_loss(&ev);
		core->on_ack(&ev);
	}
	last = ev.decision;
	ev.sample = (struct quell_sample) {
		.now_ns = ev.sample.now_ns,
		.min_rtt_ns = ev.sample.min_rtt_ns,
		.link_bytes_ps = ev.sample.link_bytes_ps,
		.mss_bytes = MSS_BYTES,
		.idle_ns = shortest_ns ? random_between(r, 0, shortest_ns - 1) : 1ULL << 40,
	};
	ev.sample.now_ns += ev.sample.idle_ns;
	core->on_idle_restart(&ev);
	return ev.decision.window_q16 != last.window_q16 ||
	       ev.decision.pacing_bytes_ps != last.pacing_bytes_ps;
}

/* Where the kernel need not ask a core about short rests, they must not matter to it. */
static void test_rest(struct __test_metadata *_metadata, const struct quell_core *core)
{
	struct random_state r = { .state = 2 };
	void *params = calloc(1, core->params_bytes), *vars = calloc(1, core->vars_bytes);
	void *stats = calloc(1, core->counters_bytes);
	u32 i, changed = 0;

	for (i = 0; i < STARTS; i++) {
		quell_core_params_default(core, params);
		if (i)
			random_params(&r, core, params);
		memset(vars, 0, core->vars_bytes);
		changed += is_changed_by_rest(core, &r, params, vars, stats);
	}
	expect_eq(0, changed, "%s__a_short_rest_changes_no_decision", core->name);
	free(params);
	free(vars);
	free(stats);
}

static void test_core(struct __test_metadata *_metadata, const struct quell_core *core)
{
	expect(strlen(core->name) && strlen(core->name) < NAME_BYTES &&
		       !strncmp(core->module, "tcp_", 4),
	       "%s__has_a_name_and_a_module", core->name);
	expect(core->vars_bytes <= VARS_BYTES_MOST, "%s__fits_into_a_socket", core->name);
	test_params(_metadata, core);
	test_counters(_metadata, core);
	if (core->restart_offset)
		test_rest(_metadata, core);
}

TEST(cores)
{
	size_t i, other;
	bool alone = true;

	for (i = 0; i < QUELL_CORES_NR; i++) {
		for (other = 0; other < i; other++)
			alone = alone && strcmp(quell_cores[i]->name, quell_cores[other]->name);
		test_core(_metadata, quell_cores[i]);
	}
	/* The core of the tutorial must be complete, too. */
	test_core(_metadata, &quell_toy_core);
	expect(alone, "each_has_a_name_of_its_own");
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/*
 * Parameters that follow from a network: the presets named after one match the rules, the papers'
 * networks give the papers' values, all values are in range, and values for paths of all kinds are
 * no more aggressive than the defaults.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <linux/quell.h>

#include "preset.h"
#include "qty.h"
#include "tune.h"
#include "util.h"

#include <quell/core/cores.h>

#include "test.h"

#define GBIT	125000000ULL
#define US	1000ULL

static const struct tune_value *value_of(const struct tune *tune, const char *name)
{
	size_t i;

	for (i = 0; i < tune->n; i++)
		if (!strcmp(tune->list[i].name, name))
			return &tune->list[i];
	return NULL;
}

/* A value that follows from a network; UINT64_MAX if the parameter does not. */
static uint64_t derived(const char *algo, uint64_t rate_bytes_ps, uint64_t rtt_ns, bool closed,
			const char *name)
{
	const struct tune_path path = { rate_bytes_ps, rtt_ns, closed };
	const struct tune_value *v;
	struct tune tune;

	if (!tune_derive(algo, &path, &tune))
		return UINT64_MAX;
	v = value_of(&tune, name);
	return v ? v->value : UINT64_MAX;
}

static const struct preset *preset_of(const char *algo, const char *name)
{
	const struct preset *preset;

	for (preset = presets; preset->cc; preset++)
		if (!strcmp(preset->cc, algo) && !strcmp(preset->name, name))
			return preset;
	return NULL;
}

TEST(presets_of_networks)
{
	const struct tune_network *network;
	const struct preset *preset;
	char set[TUNE_SET_LEN];
	struct tune tune;
	size_t i;

	for (i = 0; i < QUELL_CORES_NR; i++) {
		for (network = tune_networks; network->name; network++) {
			const struct tune_path path = {
				network->rate_bytes_ps, network->rtt_ns, true,
			};

			preset = preset_of(quell_cores[i]->name, network->name);
			EXPECT_TRUE(preset && tune_derive(quell_cores[i]->name, &path, &tune))
				TH_LOG("networks__%s_%s", quell_cores[i]->name, network->name);
			if (!preset)
				continue;
			tune_write(&tune, set, sizeof(set));
			EXPECT_TRUE(!strcasecmp(set, preset->set))
				TH_LOG("networks__%s_%s is %s, not %s", preset->cc, preset->name,
				       preset->set, set);
		}
	}
}

/* The rules give the values of their sources on the networks of these. */
TEST(papers_values)
{
	static const struct {
		const char	*algo;
		uint64_t	rate_gbit;
		uint64_t	rtt_us;
		const char	*name;
		uint64_t	want;
	} cases[] = {
		{ "timely", 10, 20, "t-low", 50 * US },
		{ "timely", 10, 20, "t-high", 500 * US },
		{ "timely", 10, 20, "min-rtt", 20 * US },
		{ "timely", 10, 20, "delta", 10 * GBIT / 1000 },
		{ "timely", 100, 20, "delta", 100 * GBIT / 1000 },
		{ "swift", 100, 12, "base-target", 15 * US },
		{ "swift", 100, 12, "ai", 50 * GBIT / 1000 },
		{ "swift_vaisf", 100, 12, "token-thresh", 4 * US },
		{ "swift_vaisf", 100, 12, "token", 30 },
		{ "hpcc", 100, 12, "ai", 50 * GBIT / 1000 },
		{ "hpcc_vaisf", 100, 12, "token-thresh", 50000 },
		{ "hpcc_vaisf", 100, 12, "token", 1000 },
		{ "smartt", 100, 12, "target-delay", 6 * US },
		{ "dcqcn", 40, 20, "ai", 40 * GBIT / 1000 },
		{ "dcqcn", 40, 20, "hai", 400 * GBIT / 1000 },
		{ "dcqcn", 40, 20, "byte-counter", 10000000 },
		{ "dcqcn", 40, 20, "notify-interval", 50 * US },
		{ "dcqcn", 40, 20, "timer", 55 * US },
		{ "dart", 40, 20, "alpha-timer", 55 * US },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		EXPECT_TRUE(derived(cases[i].algo, cases[i].rate_gbit * GBIT, cases[i].rtt_us * US,
				    true, cases[i].name) == cases[i].want)
			TH_LOG("papers__%s_%s", cases[i].algo, cases[i].name);
	}
}

static const struct quell_param_desc *param_of(const struct quell_core *core, const char *name)
{
	u32 i;

	for (i = 0; i < core->params_nr; i++)
		if (!strcmp(core->params[i].name, name))
			return &core->params[i];
	return NULL;
}

/* Larger values of these ask a path for more. */
static bool is_increase(const char *name)
{
	static const char * const names[] = { "ai", "hai", "delta", "min-rate" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

/* Smaller values of these make a flow yield sooner, or more often. */
static bool is_threshold(const char *name)
{
	static const char * const names[] = {
		"t-low", "t-high", "min-rtt", "notify-interval", "queue-bound",
		"token-thresh", "token",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

/* Targets of each path: no value of these fits another path than the one it is from. */
static bool is_absolute(const char *name)
{
	return !strcmp(name, "base-target") || !strcmp(name, "target-delay") ||
	       !strcmp(name, "base-rtt");
}

static bool is_harmless(const struct tune_value *v, const struct quell_param_desc *p)
{
	if (!strcmp(v->name, "adapt"))
		return v->value == 1;
	if (is_increase(v->name))
		return v->value <= p->def;
	if (is_threshold(v->name))
		return v->value >= p->def;
	return !is_absolute(v->name) || !v->value;
}

static void check_values(struct __test_metadata *_metadata, const struct quell_core *core,
			 const struct tune *tune, bool closed)
{
	const struct quell_param_desc *p;
	size_t i;

	for (i = 0; i < tune->n; i++) {
		const struct tune_value *v = &tune->list[i];

		p = param_of(core, v->name);
		EXPECT_TRUE(p && v->value >= p->min && v->value <= p->max && *v->reason &&
			    strlen(v->reason) < TUNE_REASON_LEN - 1)
			TH_LOG("range__%s_%s %llu", core->name, v->name,
			       (unsigned long long)v->value);
		EXPECT_TRUE(closed || (p && is_harmless(v, p)))
			TH_LOG("harmless__%s_%s %llu", core->name, v->name,
			       (unsigned long long)v->value);
	}
}

/* Every rate and round trip that the command takes. */
TEST(all_paths)
{
	struct tune_path path = {};
	struct tune tune;
	size_t i;

	for (i = 0; i < 2 * QUELL_CORES_NR; i++) {
		const struct quell_core *core = quell_cores[i / 2];

		path.closed = i % 2;
		path.rate_bytes_ps = path.closed ? GBIT / 10 : TUNE_RATE_LEAST;
		for (; path.rate_bytes_ps <= (path.closed ? 800 * GBIT : TUNE_RATE_MOST);
		     path.rate_bytes_ps *= 2) {
			for (path.rtt_ns = TUNE_RTT_LEAST_NS; path.rtt_ns <= TUNE_RTT_MOST_NS;
			     path.rtt_ns += 13 * US) {
				ASSERT_TRUE(tune_derive(core->name, &path, &tune));
				check_values(_metadata, core, &tune, path.closed);
			}
		}
	}
	EXPECT_TRUE(!tune_derive("quell", &path, &tune))
		TH_LOG("rules__not_for_what_is_no_algorithm");
}

TEST(network_of_rate)
{
	EXPECT_TRUE(!strcmp(tune_network_of(GBIT / 10)->name, "lan-1g") &&
		    !strcmp(tune_network_of(GBIT)->name, "lan-1g") &&
		    !strcmp(tune_network_of(10 * GBIT - 1)->name, "lan-1g") &&
		    !strcmp(tune_network_of(10 * GBIT)->name, "dc-10g") &&
		    !strcmp(tune_network_of(40 * GBIT)->name, "dc-25g") &&
		    !strcmp(tune_network_of(200 * GBIT)->name, "dc-100g") &&
		    !strcmp(tune_network_of(800 * GBIT)->name, "dc-400g"))
		TH_LOG("network__the_fastest_that_is_not_faster");
}

TEST_HARNESS_MAIN

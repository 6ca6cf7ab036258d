// SPDX-License-Identifier: GPL-2.0
/*
 * Algorithms as BPF objects, without a kernel: which there are, the words of a command line, the
 * block of parameters that goes into the map, the counters that come out.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "bpf_parts.h"
#include "quell.h"
#include "util.h"

#include <quell/core/cores.h>

#include "complaint.h"
#include "test.h"

/* An algorithm with its defaults; the test ends if it is unknown. */
static struct bpf_model model_of(const char *name)
{
	const struct quell_core *core = NULL;
	struct bpf_model model;

	if (bpf_core_find(name, &core) || bpf_model_init(&model, core)) {
		fprintf(stderr, "no %s: %s\n", name, complaint);
		exit(KSFT_FAIL);
	}
	return model;
}

static const struct param *param_of(const struct bpf_model *model, const char *name)
{
	return cc_find_param(&model->cc, name);
}

/* Parse a line of words; the result refers to the line. */
static int read_words(struct bpf_args *words, const struct bpf_model *model, char *line)
{
	char *argv[WORDS_MAX];
	int argc = split_words(line, argv);

	return bpf_args_parse(words, model, argc, argv);
}

TEST(algorithms)
{
	static const char * const names[] = {
		"swift", "swift_vaisf", "hpcc", "hpcc_vaisf", "timely", "smartt", "dcqcn", "dart",
	};
	const struct quell_core *core;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		expect(bpf_core_find(names[i], &core) == STATUS_OK && core == bpf_core_at(i) &&
			       !strcmp(core->name, names[i]),
		       "%zu", i);
	expect(!bpf_core_at(i), "no_others");
	expect(bpf_core_find("swif", &core) == STATUS_INPUT &&
		       !strcmp(complaint,
			       "unknown algorithm 'swif' (there are: swift, swift_vaisf, hpcc, hpcc_vaisf, timely, smartt, dcqcn, dart)"),
	       "unknown (%s)", complaint);
}

/* The kernel's limit of a name is 16 bytes, and longer ones are cut without a word. */
TEST(names_and_sizes)
{
	const struct quell_core *core;
	struct bpf_model model;
	size_t i, n;

	for (n = 0; (core = bpf_core_at(n)); n++) {
		expect(strlen("bpf_") + strlen(core->name) < BPF_CC_NAME_LEN, "%s_fits",
		       core->name);
		expect(!strcmp(core->params[0].name, "adapt") && !core->params[0].offset,
		       "%s_begins_with_adapt", core->name);
		model = model_of(core->name);
		for (i = 0; i < core->counters_nr; i++)
			expect(core->counters[i].offset + sizeof(uint64_t) <= core->counters_bytes,
			       "%s_%s", core->name, core->counters[i].name);
		expect(!strncmp(model.name, "bpf_", 4) && !strcmp(model.name + 4, core->name), "%s",
		       model.name);
		bpf_model_free(&model);
	}
}

/* A block as the core makes it, without the parameters that only quell.ko has. */
TEST(defaults)
{
	const struct quell_core *core;
	struct bpf_model model;
	size_t n;

	for (n = 0; (core = bpf_core_at(n)); n++) {
		void *want = calloc(1, core->params_bytes);

		quell_core_params_default(core, want);
		model = model_of(core->name);
		expect(!memcmp(want, model.block, core->params_bytes), "%s", core->name);
		expect(param_of(&model, "adapt")->value == 1 &&
			       !param_is_changed(param_of(&model, "adapt")),
		       "%s_adapt_is_on", core->name);
		bpf_model_free(&model);
		free(want);
	}
}

/* Both spellings, alone and mixed, mean the same. */
TEST(words_accepted)
{
	static const char * const lines[] = {
		"ai 1gbit preset vaisf-iii-d dir /some/wh=ere beta 0.5",
		"ai=1gbit beta=0.5 preset=vaisf-iii-d dir=/some/wh=ere",
		"ai=1gbit beta 0.5 preset vaisf-iii-d dir=/some/wh=ere",
	};

	for_each_row(text, lines) {
		struct bpf_model model = model_of("swift");
		struct quell_swift_params *block = model.block, want;
		struct bpf_args words;
		char line[128];

		snprintf(line, sizeof(line), "%s", *text);
		expect(read_words(&words, &model, line) == STATUS_OK && words.preset &&
			       !strcmp(words.preset->name, "vaisf-iii-d") &&
			       !strcmp(words.dir, "/some/wh=ere"),
		       "%s (%s)", *text, complaint);
		bpf_model_apply(&model, &words.changes);
		expect(block->ai_bytes_ps == 125000000 && block->beta_q16 == 32768,
		       "%s: typed values precede the preset", *text);
		expect(block->base_target_ns == 5000 && block->hop_scale_ns == 2000,
		       "%s: values of the preset", *text);
		expect(param_of(&model, "ai")->value == 125000000 &&
			       param_is_changed(param_of(&model, "ai")),
		       "%s: shown as changed", *text);
		want = *block;
		quell_swift_params_derive(&want);
		expect(!memcmp(&want, block, sizeof(want)), "%s: derived fields", *text);
		bpf_args_free(&words);
		bpf_model_free(&model);
	}
}

TEST(words_refused)
{
	static const struct {
		const char	*line;
		const char	*text;
	} cases[] = {
		{ "ai", "the value of 'ai' is missing" },
		{ "ai 1gbit preset", "the value of 'preset' is missing" },
		{ "ai 1gbit dir", "the value of 'dir' is missing" },
		{ "aj 1gbit", "swift has no parameter 'aj' (it has: adapt, base-target, " },
		{ "ai 5", "swift ai: '5' has no unit; expected a rate such as" },
		{ "ai 2tbit", "swift ai: '2tbit' is out of range 8Kbit .. 1Tbit" },
		{ "ai 1gbit ai 1gbit", "swift ai: given twice" },
		{ "preset nscc", "swift has no preset 'nscc' (it has: vaisf-iii-d, " },
		{ "preset vaisf-iii-d preset vaisf-iii-d", "swift preset: given twice" },
		{ "ai=1gbit ai 1gbit", "swift ai: given twice" },
		{ "ai=5", "swift ai: '5' has no unit; expected a rate such as" },
		{ "ai=", "the value of 'ai' is missing behind 'ai='" },
		{ "ai= 1gbit", "the value of 'ai' is missing behind 'ai='" },
		{ "ai =1gbit", "'ai =1gbit': expected ai=VALUE, without spaces" },
		{ "ai = 1gbit", "'ai =': expected ai=VALUE, without spaces" },
		{ "=1gbit", "'=1gbit': expected NAME=VALUE, without spaces" },
		{ "ai beta=0.5", "the value of 'ai' is missing in front of 'beta=0.5'" },
		{ "ai=1gbit=2gbit", "swift ai: '1gbit=2gbit' cannot be read" },
		{ "aj=1gbit", "swift has no parameter 'aj' (it has: adapt, base-target, " },
	};
	struct bpf_model model = model_of("swift");
	struct bpf_args words;

	for_each_row(row, cases) {
		char line[128];

		snprintf(line, sizeof(line), "%s", row->line);
		expect(read_words(&words, &model, line) == STATUS_INPUT &&
			       strstr(complaint, row->text),
		       "%s (%s)", row->line, complaint);
		bpf_args_free(&words);
	}
	bpf_model_free(&model);
}

/* Every preset of these algorithms is for them, too. */
TEST(all_presets)
{
	const struct quell_core *core;
	const struct preset *preset;
	struct bpf_args words;
	char line[128];

	for (preset = presets; preset->cc; preset++) {
		struct bpf_model model;

		if (bpf_core_find(preset->cc, &core))
			continue;
		model = model_of(preset->cc);
		snprintf(line, sizeof(line), "preset %s", preset->name);
		expect(read_words(&words, &model, line) == STATUS_OK, "%s_%s (%s)", preset->cc,
		       preset->name, complaint);
		bpf_model_apply(&model, &words.changes);
		expect(preset_in_force(presets, &model.cc) == preset, "%s_%s_in_force", preset->cc,
		       preset->name);
		bpf_args_free(&words);
		bpf_model_free(&model);
	}
}

TEST(block_of_the_map)
{
	struct bpf_model model = model_of("timely"), other = model_of("timely");
	struct quell_timely_params zero = {};
	struct bpf_args words;
	char line[] = "t-low 70us";

	expect(read_words(&words, &other, line) == STATUS_OK, "words");
	bpf_model_apply(&other, &words.changes);
	bpf_model_take(&model, other.block);
	expect(param_of(&model, "t-low")->value == 70000 &&
		       param_of(&model, "t-high")->value == param_of(&model, "t-high")->def &&
		       !memcmp(model.block, other.block, sizeof(zero)),
	       "taken_over");
	bpf_model_take(&model, &zero);
	expect(!param_is_changed(param_of(&model, "t-low")) &&
		       memcmp(model.block, &zero, sizeof(zero)),
	       "zero_is_the_defaults");
	bpf_args_free(&words);
	bpf_model_free(&model);
	bpf_model_free(&other);
}

TEST(counters_of_all_cpus)
{
	struct bpf_model model = model_of("timely");
	size_t stride = (model.core->counters_bytes + 7) / 8 * 8;
	char *values = calloc(3, stride);
	uint32_t offset = model.core->counters[1].offset;
	size_t cpu;

	for (cpu = 0; cpu < 3; cpu++) {
		uint64_t value = 1ULL << (20 * cpu);

		memcpy(values + cpu * stride + offset, &value, sizeof(value));
	}
	bpf_model_sum(&model, values, 3);
	expect(model.counters.list[0].value == 0 &&
		       model.counters.list[1].value == 1 + (1ULL << 20) + (1ULL << 40) &&
		       model.counters.list[2].value == 0,
	       "sum");
	bpf_model_sum(&model, values, 1);
	expect(model.counters.list[1].value == 1, "not_added_to_the_last_sum");
	free(values);
	bpf_model_free(&model);
}

TEST(words_of_sysctls)
{
	expect(bpf_list_has("reno bpf_swift cubic\n", "bpf_swift"), "middle");
	expect(bpf_list_has("reno bpf_swift\n", "bpf_swift"), "last");
	expect(!bpf_list_has("reno bpf_swift_vaisf\n", "bpf_swift"), "longer_name");
	expect(!bpf_list_has("reno bpf_swift\n", "bpf_swift_vaisf"), "shorter_name");
	expect(!bpf_list_has("", "bpf_swift") && !bpf_list_has(" \n", "bpf_swift"), "empty");
}

TEST_HARNESS_MAIN

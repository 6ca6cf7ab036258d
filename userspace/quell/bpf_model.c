// SPDX-License-Identifier: GPL-2.0
/*
 * The parameters and counters of an algorithm that runs as a BPF object.
 *
 * The kernel knows a block of bytes.  Names, units and ranges are those of the core's tables,
 * which are compiled into this program; the object is compiled from the same.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <quell/bpf.h>
#include <quell/core/cores.h>

#include "bpf_parts.h"
#include "quell.h"

#define BIT(attr)	(1U << (attr))

/*
 * List the algorithms, all of which run as BPF objects, by @index from 0 on; NULL behind the last.
 */
const struct quell_core *bpf_core_at(size_t index)
{
	return index < QUELL_CORES_NR ? quell_cores[index] : NULL;
}

int bpf_core_find(const char *name, const struct quell_core **core)
{
	char known[256] = "";
	size_t i;

	for (i = 0; i < QUELL_CORES_NR; i++) {
		if (!strcmp(quell_cores[i]->name, name)) {
			*core = quell_cores[i];
			return STATUS_OK;
		}
		append_name(known, sizeof(known), quell_cores[i]->name);
	}
	return complain("unknown algorithm '%s' (there are: %s)", name, known);
}

static uint64_t *value_at(const struct bpf_model *model, size_t i)
{
	return (uint64_t *)quell_core_param(model->block, &model->core->params[i]);
}

static void reset_block(struct bpf_model *model)
{
	size_t i;

	memset(model->block, 0, model->core->params_bytes);
	for (i = 0; i < model->cc.n_params; i++) {
		*value_at(model, i) = model->cc.params[i].def;
		model->cc.params[i].value = model->cc.params[i].def;
	}
	if (model->core->params_derive)
		model->core->params_derive(model->block);
}

/* Begin with an algorithm's defaults; @model must be freed even on failure. */
int bpf_model_init(struct bpf_model *model, const struct quell_core *core)
{
	size_t i;

	*model = (struct bpf_model){
		.core = core,
		.cc = { .name = (char *)core->name, .n_params = core->params_nr },
		.counters = { .n = core->counters_nr },
		.block = calloc(1, core->params_bytes),
	};
	snprintf(model->name, sizeof(model->name), QUELL_BPF_PREFIX "%s", core->name);
	model->cc.params = calloc(core->params_nr + 1, sizeof(*model->cc.params));
	model->counters.list = calloc(core->counters_nr + 1, sizeof(*model->counters.list));
	if (!model->block || !model->cc.params || !model->counters.list)
		return complain_fault("%s", strerror(ENOMEM));
	for (i = 0; i < core->params_nr; i++)
		model->cc.params[i] = (struct param){
			.name = (char *)core->params[i].name,
			.doc = (char *)core->params[i].doc,
			.unit = core->params[i].unit,
			.min = core->params[i].min,
			.max = core->params[i].max,
			.def = core->params[i].def,
			.have = BIT(QUELL_A_PARAM_VALUE) | BIT(QUELL_A_PARAM_DEFAULT) |
				BIT(QUELL_A_PARAM_RANGE_MIN) | BIT(QUELL_A_PARAM_RANGE_MAX),
		};
	for (i = 0; i < core->counters_nr; i++)
		model->counters.list[i] = (struct counter){
			.name = (char *)core->counters[i].name,
			.doc = (char *)core->counters[i].doc,
		};
	reset_block(model);
	return STATUS_OK;
}

void bpf_model_free(struct bpf_model *model)
{
	free(model->cc.params);
	free(model->counters.list);
	free(model->block);
}

static bool is_zero(const unsigned char *bytes, size_t len)
{
	while (len && !bytes[len - 1])
		len--;
	return !len;
}

/* Take over the value of the map of parameters; all zero means the defaults. */
void bpf_model_take(struct bpf_model *model, const void *block)
{
	size_t i;

	if (is_zero(block, model->core->params_bytes)) {
		reset_block(model);
		return;
	}
	memcpy(model->block, block, model->core->params_bytes);
	for (i = 0; i < model->cc.n_params; i++)
		model->cc.params[i].value = *value_at(model, i);
}

/* Change parameters in the block to values that are checked. */
void bpf_model_apply(struct bpf_model *model, const struct changes *changes)
{
	size_t i;

	for (i = 0; i < changes->n; i++) {
		size_t index = changes->list[i].param - model->cc.params;

		model->cc.params[index].value = changes->list[i].value;
		*value_at(model, index) = changes->list[i].value;
	}
	if (model->core->params_derive)
		model->core->params_derive(model->block);
}

/* Add the counters of all CPUs; @values has a block for each, rounded up to 8 bytes. */
void bpf_model_sum(struct bpf_model *model, const void *values, unsigned int cpus)
{
	size_t stride = (model->core->counters_bytes + 7) / 8 * 8;
	unsigned int cpu;
	size_t i;

	for (i = 0; i < model->counters.n; i++) {
		const char *at = (const char *)values + model->core->counters[i].offset;
		uint64_t sum = 0, value;

		for (cpu = 0; cpu < cpus; cpu++, at += stride) {
			memcpy(&value, at, sizeof(value));
			sum += value;
		}
		model->counters.list[i].value = sum;
	}
}

static int take_preset(struct bpf_args *words, const char *algo, const char *name)
{
	if (words->preset)
		return complain("%s preset: given twice", algo);
	words->preset = preset_find(algo, name);
	return words->preset ? STATUS_OK : STATUS_INPUT;
}

/*
 * Read the arguments behind the algorithm: "preset NAME", "dir DIR", parameters and values, or each
 * as NAME=VALUE. @words must be freed even on failure.
 */
int bpf_args_parse(struct bpf_args *words, const struct bpf_model *model, int argc,
		   char **argv)
{
	struct pair pair;
	int status, i = 0;

	*words = (struct bpf_args){};
	status = changes_alloc(&words->changes, &model->cc);
	while (!status && i < argc) {
		status = pair_next(argc, argv, &i, &pair);
		if (status)
			break;
		if (!strcmp(pair.name, "preset"))
			status = take_preset(words, model->core->name, pair.value);
		else if (!strcmp(pair.name, "dir"))
			words->dir = pair.value;
		else
			status = changes_add(&words->changes, pair.name, pair.value);
	}
	if (!status && words->preset)
		status = changes_add_preset(&words->changes, words->preset);
	return status;
}

void bpf_args_free(struct bpf_args *words)
{
	changes_free(&words->changes);
}

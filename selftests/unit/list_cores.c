// SPDX-License-Identifier: GPL-2.0
/*
 * list_cores CORE: prints name, default, smallest and largest value of every parameter of an
 * algorithm.
 * list_cores: prints all algorithms with their modules, parameters and presets as JSON for the
 * laboratory (lab/init/Makefile).
 */
#include <stdio.h>
#include <string.h>

#include <quell/core/cores.h>

#include "../../userspace/quell/preset.h"

/* As in netlink/specs/quell.yaml. */
static const char * const unit_names[] = {
	[QUELL_UNIT_NONE]	= "none",
	[QUELL_UNIT_NS]		= "ns",
	[QUELL_UNIT_BYTES]	= "bytes",
	[QUELL_UNIT_BYTES_PS]	= "bytes-ps",
	[QUELL_UNIT_Q16]	= "q16",
	[QUELL_UNIT_PKTS]	= "pkts",
	[QUELL_UNIT_PKTS_Q16]	= "pkts-q16",
	[QUELL_UNIT_BOOL]	= "bool",
};

static void list(const struct quell_core *core)
{
	u32 i;

	for (i = 0; i < core->params_nr; i++)
		printf("%s %llu %llu %llu\n", core->params[i].name, core->params[i].def,
		       core->params[i].min, core->params[i].max);
}

/* The texts printed need no escaping in JSON. */
static void print_presets(const struct quell_core *core)
{
	const struct preset *preset;
	const char *comma = "";

	for (preset = presets; preset->cc; preset++) {
		if (strcmp(preset->cc, core->name))
			continue;
		printf("%s\n   \"%s\": {\"source\": \"%s\",\n    \"set\": \"%s\"}", comma,
		       preset->name, preset->source, preset->set);
		comma = ",";
	}
}

static void print_core(const struct quell_core *core)
{
	u32 i;

	printf(" \"%s\": {\n  \"module\": \"%s\",\n  \"parameters\": {", core->name, core->module);
	for (i = 0; i < core->params_nr; i++) {
		const struct quell_param_desc *desc = &core->params[i];

		printf("%s\n   \"%s\": {\"unit\": \"%s\", \"default\": %llu, \"min\": %llu, "
		       "\"max\": %llu}", i ? "," : "", desc->name, unit_names[desc->unit],
		       desc->def, desc->min, desc->max);
	}
	printf("\n  },\n  \"presets\": {");
	print_presets(core);
	printf("\n  }\n }");
}

/* A preset must belong to a core, or the output would silently omit it. */
static bool has_core(const struct preset *preset)
{
	size_t i;

	for (i = 0; i < QUELL_CORES_NR; i++)
		if (!strcmp(preset->cc, quell_cores[i]->name))
			return true;
	fprintf(stderr, "list_cores: preset %s is of no algorithm: %s\n", preset->name,
		preset->cc);
	return false;
}

int main(int argc, char **argv)
{
	const struct preset *preset;
	size_t i;

	for (preset = presets; preset->cc; preset++)
		if (!has_core(preset))
			return 1;
	for (i = 0; i < QUELL_CORES_NR; i++) {
		if (argc == 1) {
			puts(i ? "," : "{\n\"cores\": {");
			print_core(quell_cores[i]);
		} else if (!strcmp(argv[1], quell_cores[i]->name)) {
			list(quell_cores[i]);
			return 0;
		}
	}
	if (argc == 1) {
		puts("\n}\n}");
		return 0;
	}
	fprintf(stderr, "usage: list_cores [CORE]\n");
	return 2;
}

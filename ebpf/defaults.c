// SPDX-License-Identifier: GPL-2.0
/*
 * Write an algorithm's constants that its BPF object is built with: requirements of the path,
 * default parameters with derived fields, and a parameter which is never zero.
 *
 *	defaults ALGORITHM > ALGORITHM_defaults.h
 */
#include <stdio.h>
#include <stdlib.h>

#include <quell/core/cores.h>

/* Index of a word of the block that a block in force never has at zero. */
static int never_zero(const struct quell_core *core)
{
	u32 i;

	for (i = 0; i < core->params_nr; i++)
		if (core->params[i].min)
			return core->params[i].offset / sizeof(u64);
	return -1;
}

static void print_needs(const struct quell_adapt_needs *needs)
{
	printf("#define QUELL_BPF_NEEDS { .signal = %u, .longest_ns = %uU, \\\n",
	       needs->signal, needs->longest_ns);
	printf("\t.slowest_bytes_ps = %lluULL, .hold_offset = %u }\n",
	       needs->slowest_bytes_ps, needs->hold_offset);
}

static void print_defaults(const struct quell_core *core)
{
	u32 i, words = core->params_bytes / sizeof(u64);
	u64 *block = calloc(words, sizeof(u64));

	if (!block)
		exit(1);
	quell_core_params_default(core, block);
	printf("/* The build made this of <quell/core/%s/core.h>. */\n", core->name);
	printf("#define QUELL_BPF_FLAGS\t%#xU\t/* QUELL_CORE_* */\n", core->flags);
	print_needs(&core->needs);
	printf("#define QUELL_BPF_NEVER_ZERO\t%d\n", never_zero(core));
	printf("#define QUELL_BPF_DEFAULTS\t\\\n");
	for (i = 0; i < words; i++)
		printf("\t%lluULL,%s", block[i], i + 1 < words ? " \\\n" : "\n");
	free(block);
}

int main(int argc, char **argv)
{
	const struct quell_core *core = argc == 2 ? quell_core_find(argv[1]) : NULL;

	if (!core) {
		fprintf(stderr, "usage: defaults ALGORITHM\n");
		return 2;
	}
	if (never_zero(core) < 0) {
		fprintf(stderr, "defaults: every parameter of %s may be zero\n", core->name);
		return 1;
	}
	print_defaults(core);
	return 0;
}

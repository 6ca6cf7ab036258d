/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Presets: sets of values with a name and a source.
 */
#ifndef QUELL_CLI_PRESET_H
#define QUELL_CLI_PRESET_H

#include <stdbool.h>

#include "model.h"

/* Length of the longest name of a parameter and the longest value in a preset. */
#define PRESET_WORD_LEN	32

struct preset {
	const char	*cc;
	const char	*name;	/* unique within the algorithm */
	/* source of the numbers, one line */
	const char	*source;
	const char	*set;	/* alternating names and values, separated by single spaces */
};

/* One parameter of a preset, as written there. */
struct preset_word {
	char	name[PRESET_WORD_LEN];
	char	value[PRESET_WORD_LEN];
};

/* The presets of one algorithm are contiguous; the last entry has no cc. */
extern const struct preset presets[];

bool is_quell_cc(const char *name);
bool preset_next(const char **at, struct preset_word *word);
const struct preset *preset_in_force(const struct preset *table, const struct cc *cc);

#endif /* QUELL_CLI_PRESET_H */

// SPDX-License-Identifier: GPL-2.0
/*
 * Parsing presets, and finding the one in force.
 */
#include <stdio.h>
#include <string.h>

#include "preset.h"
#include "qty.h"

/*
 * Parse the next parameter of a preset, from *@at, first @preset->set, on; false at the end. Texts
 * that do not fit are truncated.
 */
bool preset_next(const char **at, struct preset_word *word)
{
	size_t name = strcspn(*at, " ");
	const char *rest = *at + name + strspn(*at + name, " ");
	size_t value = strcspn(rest, " ");

	if (!name)
		return false;
	snprintf(word->name, sizeof(word->name), "%.*s", (int)name, *at);
	snprintf(word->value, sizeof(word->value), "%.*s", (int)value, rest);
	*at = rest + value + strspn(rest + value, " ");
	return true;
}

/* The value, in @word, that a preset sets a parameter to; NULL if the preset leaves the default. */
const char *preset_value(const struct preset *preset, const char *name,
			 struct preset_word *word)
{
	const char *at = preset->set;

	while (preset_next(&at, word))
		if (!strcmp(word->name, name))
			return word->value;
	return NULL;
}

static bool has_values(const struct cc *cc, const struct preset *preset)
{
	struct preset_word word;
	const char *at = preset->set;
	size_t i;

	while (preset_next(&at, &word))
		if (!cc_param(cc, word.name))
			return false;
	for (i = 0; i < cc->n_params; i++) {
		const struct param *p = &cc->params[i];
		const char *text = preset_value(preset, p->name, &word);
		uint64_t want = p->def;

		if (text ? qty_parse(text, p->unit, &want) : !HAVE(p, QUELL_A_PARAM_DEFAULT))
			return false;
		if (p->value != want)
			return false;
	}
	return true;
}

/*
 * The preset of which all values, and the defaults of all other parameters, are in force, or NULL.
 */
const struct preset *preset_in_force(const struct preset *table, const struct cc *cc)
{
	for (; table->cc; table++)
		if (!strcmp(table->cc, cc->name) && has_values(cc, table))
			return table;
	return NULL;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * quell cc preset: list the presets, without a request to the kernel, or apply one; parsing them,
 * and finding the one in force.
 */
#include <stdio.h>
#include <string.h>

#include "change.h"
#include "preset.h"
#include "qty.h"
#include "quell.h"

#define LINE_LEN	79	/* characters */
#define INDENT		6
#define NAME_COLUMNS	16	/* of the longest name of a preset */

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
static const char *preset_value(const struct preset *preset, const char *name,
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

/* Print all settings of a preset: in JSON an object, in text lines wrapped at the margin. */
static void print_settings(struct out *o, const struct preset *preset)
{
	struct preset_word word;
	const char *at = preset->set;
	int column = 0, len;
	char text[2 * PRESET_WORD_LEN];

	out_open_object(o, "set");
	while (preset_next(&at, &word)) {
		snprintf(text, sizeof(text), "%s %s", word.name, word.value);
		len = strlen(text) + 2;
		if (!column || column + len > LINE_LEN) {
			if (column)
				out_text(o, "\n");
			out_text(o, "    ");
			column = INDENT - 2;
		}
		out_text(o, "  ");
		out_text(o, text);
		column += len;
		out_str(o, word.name, NULL, word.value);
	}
	out_text(o, "\n");
	out_close_object(o);
}

static void print_preset(struct out *o, const struct preset *preset)
{
	char cell[64];

	snprintf(cell, sizeof(cell), "  %-*s  ", NAME_COLUMNS, preset->name);
	out_open_object(o, NULL);
	out_str(o, "cc", NULL, preset->cc);
	out_str(o, "name", "%s", o->json ? preset->name : cell);
	out_str(o, "source", "%s\n", preset->source);
	print_settings(o, preset);
	out_close_object(o);
}

static int list_presets(struct out *o, const char *algo)
{
	const struct preset *preset;
	const char *last = "";

	out_open_array(o, NULL);
	for (preset = presets; preset->cc; preset++) {
		if (algo && strcmp(algo, preset->cc))
			continue;
		if (strcmp(last, preset->cc)) {
			out_text(o, preset->cc);
			out_text(o, "\n");
		}
		last = preset->cc;
		print_preset(o, preset);
	}
	out_close_array(o);
	return STATUS_OK;
}

static int check_algo(const char *algo)
{
	const struct preset *preset;
	const char *last = "";
	char known[256] = "";

	for (preset = presets; preset->cc; preset++) {
		if (!strcmp(preset->cc, algo))
			return STATUS_OK;
		if (strcmp(last, preset->cc))
			append_name(known, sizeof(known), preset->cc);
		last = preset->cc;
	}
	return complain("no presets of '%s' (there are some of: %s)", algo, known);
}

static int set_preset(struct app *app, const struct preset *preset)
{
	struct cc_list list;
	const struct cc *cc;
	int status;

	status = app_connect(app, preset->cc);
	if (status)
		return status;
	status = cc_fetch(app, &list);
	if (!status) {
		cc = cc_lookup(&list, preset->cc);
		status = cc ? cc_apply_preset(app, cc, preset) : cc_not_loaded(preset->cc);
	}
	cc_list_free(&list);
	return status;
}

int cc_preset(struct app *app, int argc, char **argv)
{
	const struct preset *preset;
	bool list = argc < 2;

	if (argc && (!strcmp(argv[0], "list") || !strcmp(argv[0], "show"))) {
		list = true;
		argc--;
		argv++;
	}
	if (argc && check_algo(argv[0]))
		return STATUS_INPUT;
	if (list)
		return list_presets(&app->out, argc ? argv[0] : NULL);
	preset = preset_find(argv[0], argv[1]);
	return preset ? set_preset(app, preset) : STATUS_INPUT;
}

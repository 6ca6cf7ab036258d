// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as a file of settings: an accepted one must survive being written and read again, a
 * refused one must name a line of the file and give the reason in plain letters.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned int count_lines(const char *text, size_t len)
{
	unsigned int lines = 1;
	size_t i;

	for (i = 0; i < len; i++)
		lines += text[i] == '\n';
	return lines;
}

static void check_error(const struct settings_error *error, unsigned int lines)
{
	const char *c;

	if (!error->line || error->line > lines || !*error->text)
		abort();
	for (c = error->text; *c; c++)
		if (*c < 0x20 || *c >= 0x7f)
			abort();
}

static bool is_same(const struct settings *a, const struct settings *b)
{
	size_t i, j;

	if (a->n != b->n)
		return false;
	for (i = 0; i < a->n; i++) {
		const struct settings_part *x = &a->list[i], *y = &b->list[i];

		if (x->n_words != y->n_words || x->n != y->n)
			return false;
		for (j = 0; j < x->n_words; j++)
			if (strcmp(x->words[j], y->words[j]))
				return false;
		for (j = 0; j < x->n; j++)
			if (strcmp(x->list[j].key, y->list[j].key) ||
			    strcmp(x->list[j].value, y->list[j].value))
				return false;
	}
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct settings_error error = {};
	struct settings first, again;
	char *written = NULL;
	size_t len = 0;
	FILE *file;

	if (settings_parse(&first, text, size, &error)) {
		check_error(&error, count_lines(text, size));
		settings_free(&first);
		return 0;
	}
	file = open_memstream(&written, &len);
	settings_write(file, &first);
	fclose(file);
	if (settings_parse(&again, written, len, &error) || !is_same(&first, &again))
		abort();
	settings_free(&first);
	settings_free(&again);
	free(written);
	return 0;
}

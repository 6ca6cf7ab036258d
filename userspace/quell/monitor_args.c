// SPDX-License-Identifier: GPL-2.0
/*
 * The arguments of "quell monitor".
 */
#include <limits.h>
#include <string.h>

#include "monitor.h"
#include "quell.h"

/* As ip monitor has it by default. */
#define BUFFER_BYTES	(1024 * 1024)

static const struct quantity buffer_range = { QUELL_UNIT_BYTES, 1, 1 << 30 };
static const struct word buffer = { .word = "rcvbuf", .data = &buffer_range };

static bool read_stamp(struct monitor_args *words, const char *word)
{
	if (!strcmp(word, "-t") || !strcmp(word, "--timestamp"))
		words->stamp = STAMP_LONG;
	else if (!strcmp(word, "-ts") || !strcmp(word, "--tshort"))
		words->stamp = STAMP_SHORT;
	else
		return false;
	return true;
}

/*
 * Parse the arguments of "quell monitor", in any order: all groups without "flows" or "settings".
 */
int monitor_args_parse(struct monitor_args *words, int argc, char **argv)
{
	static const struct suggest_list known = { { "settings", "flows", "rcvbuf" }, 3 };
	const char *word, *text;
	int i = 0;

	*words = (struct monitor_args){ .buffer_bytes = BUFFER_BYTES };
	while (i < argc) {
		if (read_stamp(words, argv[i])) {
			i++;
			continue;
		}
		word = suggest_resolve(&known, "argument", argv[i]);
		if (!word)
			return STATUS_INPUT;
		if (!strcmp(word, "rcvbuf")) {
			if (keyword_value(word, argc, argv, &i, &text) ||
			    word_quantity(&buffer, text, &words->buffer_bytes))
				return STATUS_INPUT;
			continue;
		}
		words->settings |= !strcmp(word, "settings");
		words->flows |= !strcmp(word, "flows");
		i++;
	}
	if (!words->settings && !words->flows) {
		words->settings = true;
		words->flows = true;
	}
	return STATUS_OK;
}

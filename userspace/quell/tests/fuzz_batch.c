// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as a batch: each word must be read as the same after it was written as a name, and a
 * refused line gives a reason.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "batch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Names of the kernel are shorter than a fourth of the buffer, and not empty. */
static void check_word(const char *word)
{
	char text[BATCH_WORD_LEN], name[BATCH_WORD_LEN / 4];
	struct batch_line line = {};
	FILE *file;

	snprintf(name, sizeof(name), "%s", word);
	batch_word(text, name);
	if (!*name || *name == '[')
		return;
	file = fmemopen(text, strlen(text), "r");
	if (batch_next(file, &line) != 1 || line.argc != 1u + (*name == '-') ||
	    strcmp(line.argv[line.argc - 1], name))
		abort();
	batch_line_free(&line);
	fclose(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FILE *file = fmemopen((void *)data, size, "r");
	struct batch_line line = {};
	int ret = 1;
	size_t i;

	while (ret > 0) {
		ret = batch_next(file, &line);
		if (ret < 0 && !line.error)
			abort();
		for (i = 0; ret > 0 && i < line.argc; i++)
			check_word(line.argv[i]);
		batch_line_free(&line);
	}
	fclose(file);
	return 0;
}

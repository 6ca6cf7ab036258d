/* SPDX-License-Identifier: GPL-2.0 */
/* Complaints of the code under test, kept instead of printed. */
#ifndef _QUELL_TEST_COMPLAINT_H
#define _QUELL_TEST_COMPLAINT_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define WORDS_MAX	32

static char complaint[512];

/* Split a line into words, in place, for a parser of them; no complaint yet. Their number. */
static inline int split_words(char *line, char **argv)
{
	int argc = 0;
	char *word;

	*complaint = '\0';
	for (word = strtok(line, " "); word && argc < WORDS_MAX; word = strtok(NULL, " "))
		argv[argc++] = word;
	return argc;
}

int complain(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(complaint, sizeof(complaint), fmt, args);
	va_end(args);
	return STATUS_INPUT;
}

int complain_kernel(const char *request, const struct nl_error *err)
{
	snprintf(complaint, sizeof(complaint), "%s: %s", request, err->text);
	return STATUS_KERNEL;
}

/* No test has a kernel. */
int app_connect(struct app *app, const char *algo)
{
	(void)app;
	(void)algo;
	return STATUS_KERNEL;
}

#endif /* _QUELL_TEST_COMPLAINT_H */

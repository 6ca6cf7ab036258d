/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Abbreviated and misspelt words of the command line.
 */
#ifndef QUELL_CLI_SUGGEST_H
#define QUELL_CLI_SUGGEST_H

#include <stddef.h>

struct suggest_list {
	const char	*words[64];	/* the words */
	size_t		n;
};

void suggest_add(struct suggest_list *list, const char *word);
const char *suggest_resolve(const struct suggest_list *list, const char *kind, const char *word);
unsigned int suggest_distance(const char *a, const char *b);

#endif /* QUELL_CLI_SUGGEST_H */

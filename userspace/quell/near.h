/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Words of the command line that are not spelt in full, or wrong.
 */
#ifndef QUELL_CLI_NEAR_H
#define QUELL_CLI_NEAR_H

#include <stddef.h>

/**
 * struct near_list - words there are
 * @words: the words
 * @n: their number
 */
struct near_list {
	const char	*words[64];
	size_t		n;
};

void near_add(struct near_list *list, const char *word);
const char *near_resolve(const struct near_list *list, const char *kind, const char *word);
unsigned int near_distance(const char *a, const char *b);

#endif /* QUELL_CLI_NEAR_H */

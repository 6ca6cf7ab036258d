// SPDX-License-Identifier: GPL-2.0
/*
 * Abbreviated and misspelt words of the command line.  A unique prefix stands for its word;
 * the error about any other word suggests the nearest.
 */
#include <string.h>

#include "quell.h"
#include "util.h"

/* Longest word that is compared with others. */
#define WORD_LEN	24

/* Mistakes up to which a word is taken for another. */
#define DISTANCE_MAX	2

/* Add a word, unless it is there. */
void suggest_add(struct suggest_list *list, const char *word)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		if (!strcmp(list->words[i], word))
			return;
	if (list->n < ARRAY_SIZE(list->words))
		list->words[list->n++] = word;
}

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/*
 * How many mistakes one word is from another: a letter missing, too many, wrong, or in the place of
 * its neighbour. For words longer than any there is, the length of the longest.
 */
static unsigned int distance_of(const char *a, const char *b)
{
	unsigned int d[WORD_LEN + 1][WORD_LEN + 1];
	size_t i, j, len_a = strlen(a), len_b = strlen(b);

	if (len_a > WORD_LEN || len_b > WORD_LEN)
		return WORD_LEN;
	for (i = 0; i <= len_a; i++)
		d[i][0] = i;
	for (j = 0; j <= len_b; j++)
		d[0][j] = j;
	for (i = 1; i <= len_a; i++) {
		for (j = 1; j <= len_b; j++) {
			d[i][j] = least(least(d[i - 1][j], d[i][j - 1]) + 1,
					d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
		}
	}
	return d[len_a][len_b];
}

/* The word that is the fewest mistakes away; fewer than half of its letters are wrong. */
static const char *nearest(const struct suggest_list *list, const char *word)
{
	unsigned int best = DISTANCE_MAX + 1, distance;
	const char *found = NULL;
	size_t i;

	for (i = 0; i < list->n; i++) {
		distance = distance_of(word, list->words[i]);
		if (distance < best && 2 * distance < strlen(list->words[i])) {
			best = distance;
			found = list->words[i];
		}
	}
	return found;
}

static void complain_word(const struct suggest_list *list, const char *kind, const char *word)
{
	const char *meant = nearest(list, word);
	char known[192] = "";
	size_t i;

	for (i = 0; i < list->n; i++)
		append_name(known, sizeof(known), list->words[i]);
	if (meant)
		complain("unknown %s '%s', did you mean '%s'? try: quell help", kind, word, meant);
	else
		complain("unknown %s '%s' (there are: %s), try: quell help", kind, word, known);
}

/*
 * The word of the list that @word is, or of which alone it is the beginning; NULL after a complaint
 * about a word of that @kind.
 */
const char *suggest_resolve(const struct suggest_list *list, const char *kind, const char *word)
{
	const char *found = NULL;
	char candidates[128] = "";
	size_t i, n = 0;

	for (i = 0; i < list->n; i++) {
		if (!strcmp(word, list->words[i]))
			return list->words[i];
		if (*word && !strncmp(word, list->words[i], strlen(word))) {
			found = list->words[i];
			append_name(candidates, sizeof(candidates), found);
			n++;
		}
	}
	if (n == 1)
		return found;
	if (n)
		complain("%s '%s' may be any of: %s", kind, word, candidates);
	else
		complain_word(list, kind, word);
	return NULL;
}

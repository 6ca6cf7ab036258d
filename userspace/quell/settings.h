/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The file of "quell save": sections of settings, as text.
 *
 *	# a comment, also behind a value
 *	[dev eth0]
 *	rate = 25Gbit
 *
 * A word in brackets is any printable ASCII; other bytes, brackets and backslashes are \xHH.
 */
#ifndef QUELL_CLI_SETTINGS_H
#define QUELL_CLI_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Longest file; one with all that the kernel takes of a user has a fifth of it. */
#define SETTINGS_BYTES_MAX	(1024 * 1024)

/* Words of a section's name. */
#define SETTINGS_WORDS_MAX	2

/**
 * struct setting - a line
 * @key: before the equals sign
 * @value: behind it
 * @line: its number, from 1
 */
struct setting {
	char		*key;
	char		*value;
	unsigned int	line;
};

/**
 * struct settings_part - a section
 * @words: its name
 * @n_words: words of it, at least one
 * @list: its lines
 * @n: number of @list
 * @line: number of the line with its name
 */
struct settings_part {
	char		*words[SETTINGS_WORDS_MAX];
	size_t		n_words;
	struct setting	*list;
	size_t		n;
	unsigned int	line;
};

/* A file as parsed, not yet checked against the kernel. */
struct settings {
	struct settings_part	*list;
	size_t			n;
};

/* Why a file is refused. */
struct settings_error {
	unsigned int	line;
	char		text[160];
};

/* The key that may be there several times: its values are joined. */
#define SETTINGS_MEMBERS	"members"

int settings_parse(struct settings *s, const char *text, size_t len,
		   struct settings_error *error);
void settings_free(struct settings *s);
void settings_write_name(FILE *file, const char *const *words, size_t n);
void settings_write_value(FILE *file, const char *value);
void settings_write(FILE *file, const struct settings *s);

#endif /* QUELL_CLI_SETTINGS_H */

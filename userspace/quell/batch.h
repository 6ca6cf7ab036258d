/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files of commands, a line each, as those of ip(8) and tc(8):
 *
 *	cc set swift base-target 50us	# a comment
 *	link set 'eth0' rate 25gbit
 *
 * A quote keeps blanks and "#", a backslash at the end of a line continues it, and \xHH is a byte
 * of that value.
 */
#ifndef QUELL_CLI_BATCH_H
#define QUELL_CLI_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct app;

/* Longest text of batch_word(): each byte of an interface's or a group's name takes four. */
#define BATCH_WORD_LEN	(4 * 32)

/* A longest line: many times that of a look-ahead group of 1024 hosts. */
#define BATCH_LINE_BYTES	1000000

/* All lines of a file that is read as a whole, with what each takes besides its text. */
#define BATCH_FILE_BYTES	100000000

struct batch_line {
	char		*text;	/* memory of its words */
	char		**argv;	/* the words; no word: a blank line */
	size_t		argc;	/* number of @argv */
	size_t		bytes;	/* memory that it takes */
	unsigned int	number;	/* of its last line in the file, from 1 */
	const char	*error;	/* why it is refused, once it is */
};

struct batch {
	struct batch_line	*list;
	size_t			n;
};

/* batch_line.c: without a kernel */
int batch_next(FILE *file, struct batch_line *line);
void batch_line_free(struct batch_line *line);
char *batch_word(char buf[BATCH_WORD_LEN], const char *name);

/* batch.c */
int batch_run(struct app *app);

/* save.c and the file of each object: commands that make its settings, and that reset them */
int save_settings(const struct app *app, char **set, char **reset);
int link_save(struct app *app, FILE *set, FILE *reset);
int hwstamp_save(FILE *set, FILE *reset);
int sender_save(struct app *app, FILE *set, FILE *reset);
int lookahead_save(struct app *app, uint64_t limit_ns, FILE *set, FILE *reset);

#endif /* QUELL_CLI_BATCH_H */

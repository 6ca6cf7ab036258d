// SPDX-License-Identifier: GPL-2.0
/*
 * quell -batch: commands of a file, one by one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "batch.h"
#include "quell.h"

static FILE *open_file(const char *name)
{
	FILE *file = strcmp(name, "-") ? fopen(name, "re") : stdin;

	if (!file)
		complain("%s: %s", name, strerror(errno));
	return file;
}

static void close_file(FILE *file)
{
	if (file != stdin)
		fclose(file);
}

/* The exit status for the result of batch_next(), after a complaint. */
static int check_line(const struct batch_line *line, int ret)
{
	if (ret >= 0)
		return STATUS_OK;
	complain_line(line->number);
	complain("%s", line->error);
	return ret == -EINVAL ? STATUS_INPUT : STATUS_KERNEL;
}

static int run_line(const struct app *app, const struct batch_line *line)
{
	/* Parsing options moves words. */
	char **argv = calloc(line->argc + 1, sizeof(*argv));
	int status = STATUS_KERNEL;

	complain_line(line->number);
	if (argv && line->argc)
		memcpy(argv, line->argv, line->argc * sizeof(*argv));
	if (!argv)
		complain("%s", strerror(ENOMEM));
	else
		status = line->argc ? run_words(app, line->argc, argv) : STATUS_OK;
	free(argv);
	fflush(stdout);
	return status;
}

/**
 * batch_run() - carry the commands of a file out as they are read
 * @app: with the options; not connected to the kernel
 * @name: the file, "-": standard input
 *
 * Return: an exit status, the first other than 0; the reason of a failure has been printed.
 */
int batch_run(struct app *app, const char *name)
{
	struct batch_line line = {};
	int status = STATUS_OK, ret = 1, one;
	FILE *file;

	if (app->netns)
		status = netns_enter(app->netns);
	if (status)
		return status;
	app->netns = NULL;
	app->in_batch = true;
	file = open_file(name);
	if (!file)
		return STATUS_INPUT;
	complain_at(name);
	while (ret && !ferror(file) && (!status || app->force)) {
		ret = batch_next(file, &line);
		one = check_line(&line, ret);
		if (ret > 0)
			one = run_line(app, &line);
		status = status ? status : one;
		batch_line_free(&line);
	}
	complain_at(NULL);
	close_file(file);
	return status;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * quell -batch: commands of a file one by one; restore and sync: all settings of a file, or no change.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "attr.h"
#include "batch.h"
#include "quell.h"

static void close_file(FILE *file)
{
	if (file != stdin)
		fclose(file);
}

/* fopen() opens directories, too: reading them fails. */
static FILE *open_file(const char *name)
{
	FILE *file = strcmp(name, "-") ? fopen(name, "re") : stdin;
	struct stat st;

	if (!file) {
		complain("%s: %s", name, strerror(errno));
	} else if (!fstat(fileno(file), &st) && S_ISDIR(st.st_mode)) {
		complain("%s: %s", name, strerror(EISDIR));
		close_file(file);
		file = NULL;
	}
	return file;
}

static void free_batch(struct batch *batch)
{
	size_t i;

	for (i = 0; i < batch->n; i++)
		batch_line_free(&batch->list[i]);
	free(batch->list);
}

/* The exit status for the result of batch_next(), after a complaint. */
static int check_line(const struct batch_line *line, int ret)
{
	if (ret >= 0)
		return STATUS_OK;
	complain_line(line->number);
	complain("%s", line->error);
	return ret == -EINVAL || ret == -EBADMSG ? STATUS_INPUT : STATUS_KERNEL;
}

/* All commands of a file; @batch must be freed even on failure. */
static int read_batch(FILE *file, struct batch *batch)
{
	unsigned int number = 0;
	size_t bytes = 0;
	int status, ret;

	do {
		struct batch_line *line = list_grow(&batch->list, &batch->n, sizeof(*line));

		if (!line)
			return complain_fault("%s", strerror(ENOMEM));
		line->number = number;
		ret = batch_next(file, line);
		number = line->number;
		bytes += line->bytes;
		if (bytes > BATCH_FILE_BYTES)
			return complain("takes more than %d bytes of memory", BATCH_FILE_BYTES);
		status = check_line(line, ret);
	} while (ret > 0);
	return status;
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

/*
 * Carry the commands of a file, "-" for standard input, out as they are read; returns the first
 * exit status other than 0.
 */
int batch_run(struct app *app)
{
	const char *name = app->batch;
	struct batch_line line = {};
	int status = STATUS_OK, ret = 1, one;
	FILE *file;

	if (app->netns)
		status = netns_enter(app->netns);
	if (status)
		return status;
	app->netns = NULL;
	app->batch = NULL;
	app->in_batch = true;
	file = open_file(name);
	if (!file)
		return STATUS_INPUT;
	complain_at(name);
	while ((ret > 0 || ret == -EINVAL) && (!status || app->force)) {
		ret = batch_next(file, &line);
		one = check_line(&line, ret);
		if (ret > 0)
			one = run_line(app, &line);
		status = status ?: one;
		batch_line_free(&line);
	}
	complain_at(NULL);
	close_file(file);
	return status;
}

struct state {
	struct batch	set;	/* commands that make them */
	struct batch	reset;	/* by index, commands that reset them */
};

static void free_state(struct state *state)
{
	free_batch(&state->set);
	free_batch(&state->reset);
}

static int read_text(char *text, struct batch *batch)
{
	FILE *file = fmemopen(text, strlen(text), "r");
	int status;

	if (!file)
		return complain_fault("%s", strerror(errno));
	status = read_batch(file, batch);
	fclose(file);
	return status;
}

/* @state must be freed even on failure. */
static int read_state(const struct app *app, struct state *state)
{
	char *set = NULL, *reset = NULL;
	int status;

	*state = (struct state){};
	status = save_settings(app, &set, &reset) ?:
		 read_text(set, &state->set) ?:
		 read_text(reset, &state->reset);
	free(set);
	free(reset);
	return status;
}

static bool is_same(const struct batch_line *a, const struct batch_line *b)
{
	size_t i;

	for (i = 0; i < a->argc && i < b->argc && !strcmp(a->argv[i], b->argv[i]); i++)
		;
	return i == a->argc && i == b->argc;
}

static bool has_line(const struct batch *batch, const struct batch_line *line)
{
	size_t i;

	for (i = 0; i < batch->n; i++)
		if (is_same(&batch->list[i], line))
			return true;
	return false;
}

/*
 * Whether a line sets all that @now sets: "cc set" and "link set" have pairs behind their subject.
 * The values may differ, or be written in other units.
 */
static bool sets_all(const struct batch_line *line, const struct batch_line *now)
{
	enum { VERB = 1, SUBJECT, FIRST };
	size_t i, j;

	if (now->argc <= FIRST || line->argc <= FIRST || strcmp(now->argv[VERB], "set"))
		return false;
	for (i = 0; i <= SUBJECT; i++)
		if (strcmp(line->argv[i], now->argv[i]))
			return false;
	for (i = FIRST; i < now->argc; i += 2) {
		for (j = FIRST; j < line->argc && strcmp(line->argv[j], now->argv[i]); j += 2)
			;
		if (j >= line->argc)
			return false;
	}
	return true;
}

/* Reset the settings that a file has otherwise, or not at all. */
static int reset_others(const struct app *app, const struct state *state,
			const struct batch *batch)
{
	int status = STATUS_OK;
	size_t i, j;

	for (i = 0; !status && i < state->set.n; i++) {
		const struct batch_line *now = &state->set.list[i];

		for (j = 0; j < batch->n; j++)
			if (is_same(&batch->list[j], now) || sets_all(&batch->list[j], now))
				break;
		if (j == batch->n)
			status = run_line(app, &state->reset.list[i]);
	}
	return status;
}

static int run_all(const struct app *app, const struct batch *batch)
{
	int status = STATUS_OK;
	size_t i;

	for (i = 0; !status && i < batch->n; i++)
		status = run_line(app, &batch->list[i]);
	return status;
}

/* Each mistake is reported, not the first alone. */
static int check_all(const struct app *app, const struct batch *batch)
{
	struct app checking = *app;
	int status = STATUS_OK, one;
	size_t i;

	checking.check = true;
	for (i = 0; i < batch->n; i++) {
		one = run_line(&checking, &batch->list[i]);
		status = status ?: one;
	}
	return status;
}

/* The algorithm, interface or group that a command is about; NULL if it has no third word. */
static const char *subject_of(const struct batch_line *line)
{
	size_t at = line->argc > 2 && !strcmp(line->argv[2], "--") ? 3 : 2;

	return line->argc > at ? line->argv[at] : NULL;
}

/* Others may change settings meanwhile; the batch changed only those of its own subjects. */
static bool is_concerned(const struct batch *batch, const struct batch_line *line)
{
	const char *subject = subject_of(line), *other;
	size_t i;

	for (i = 0; i < batch->n; i++) {
		other = subject_of(&batch->list[i]);
		if (subject && other && !strcmp(subject, other))
			return true;
	}
	return false;
}

/*
 * Goes on after a command that fails.  @all: sync has reset settings, too, that the batch does not
 * mention.
 */
static int go_back(struct app *app, const struct state *before, const struct batch *batch, bool all)
{
	struct state now, left = {};
	int status, one;
	size_t i;

	status = read_state(app, &now);
	for (i = 0; !status && i < now.set.n; i++)
		if (!has_line(&before->set, &now.set.list[i]) &&
		    is_concerned(batch, &now.set.list[i])) {
			one = run_line(app, &now.reset.list[i]);
			status = status ?: one;
		}
	one = read_state(app, &left);
	status = status ?: one;
	for (i = 0; !one && i < before->set.n; i++)
		if (!has_line(&left.set, &before->set.list[i]) &&
		    (all || is_concerned(batch, &before->set.list[i])))
			status = run_line(app, &before->set.list[i]) ? STATUS_KERNEL : status;
	free_state(&now);
	free_state(&left);
	return status;
}

static int apply(struct app *app, const char *name, const struct batch *batch, bool defaults)
{
	struct state before;
	int status;

	status = read_state(app, &before);
	complain_at(name);
	if (!status)
		status = check_all(app, batch);
	complain_at(NULL);
	if (status || app->check)
		goto free_state;
	if (defaults)
		status = reset_others(app, &before, batch);
	complain_at(name);
	if (!status)
		status = run_all(app, batch);
	complain_at(NULL);
	if (status)
		complain("%s", go_back(app, &before, batch, defaults) ? "some settings are changed" :
						       "no setting is changed");
free_state:
	free_state(&before);
	return status;
}

/* Carry out the commands of a file; as "sync" also reset the settings that it does not have. */
int restore(struct app *app, int argc, char **argv)
{
	bool defaults = !strcmp(app->verb, "sync");
	const char *name = argv[0];
	struct batch batch = {};
	int status;
	FILE *file;

	if (app->in_batch)
		return complain("not within a batch");
	file = open_file(name);
	if (!file)
		return STATUS_INPUT;
	app->netns = NULL;
	app->in_batch = true;
	complain_at(name);
	status = read_batch(file, &batch);
	complain_at(NULL);
	if (!status)
		status = apply(app, name, &batch, defaults);
	close_file(file);
	free_batch(&batch);
	return status;
}

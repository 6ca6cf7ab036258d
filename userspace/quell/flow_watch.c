// SPDX-License-Identifier: GPL-2.0
/*
 * quell flow watch: the flows in a terminal, by the program flow-watch, or as JSON.
 */
#include <errno.h>
#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "flow.h"
#include "quell.h"

#define NS_PER_SEC	1000000000ULL

/* The program of the screen, and an environment variable that names another. */
#define SCREEN		"flow-watch"
#define SCREEN_VARIABLE	"QUELL_FLOW_WATCH"

/* Each sample a document on a line of its own, until interrupted or a write fails. */
static int watch_as_json(struct app *app, struct flow_args *words)
{
	const struct timespec pause = {
		.tv_sec = words->interval_ns / NS_PER_SEC,
		.tv_nsec = words->interval_ns % NS_PER_SEC,
	};
	int status;

	status = app_connect(app, words->cc) ?: flow_check_cc(app, words->cc);
	if (status)
		return status;
	do {
		status = flow_show_once(app, words);
		if (fflush(app->out.file))
			break;
	} while (!status && !nanosleep(&pause, NULL));
	return status;
}

static int check_terminal(void)
{
	const char *term = getenv("TERM");

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		complain("flow watch: standard %s is no terminal; try: quell -j flow watch",
			 isatty(STDOUT_FILENO) ? "input" : "output");
	else if (!term || !*term || !strcmp(term, "dumb"))
		complain("flow watch: TERM '%s' has no cursor; try: quell -j flow watch",
			 term ? term : "");
	else
		return STATUS_OK;
	return STATUS_INPUT;
}

/* The filters of a command line: pairs of words, but for the arguments that have others' places. */
static void add_filters(char **to, int argc, char **argv)
{
	int i;

	for (i = 0; i < argc; i++) {
		if (*argv[i] == '-')
			continue;
		if (strcmp(argv[i], "sort") && strcmp(argv[i], "interval")) {
			*to++ = argv[i];
			*to++ = argv[i + 1];
		}
		i++;
	}
	*to = NULL;
}

/*
 * The path of the program of the screen, PATH_MAX bytes: that of the environment, or beside
 * @program as built, or PREFIX/lib/quell beside PREFIX/sbin; @dir_len: of its directory.
 */
static int find_screen(char *path, const char *program, int dir_len)
{
	const char *named = getenv(SCREEN_VARIABLE);

	if (named && *named) {
		snprintf(path, PATH_MAX, "%s", named);
	} else {
		snprintf(path, PATH_MAX, "%.*s" SCREEN, dir_len, program);
		if (access(path, X_OK))
			snprintf(path, PATH_MAX, "%.*s" LIB_FROM_PROGRAM "/" SCREEN, dir_len, program);
	}
	if (!access(path, X_OK))
		return STATUS_OK;
	complain("no program %s: %s (another: " SCREEN_VARIABLE ")", path, strerror(errno));
	return STATUS_KERNEL;
}

/* Become the program of the screen, which samples the flows by "quell -j flow show". */
static int run_screen(const struct app *app, const struct flow_args *words, int argc, char **argv)
{
	const char *sort = flow_sort_name(words->order.sort >= 0 ? words->order.sort : 0);
	const char *no_color = getenv("NO_COLOR");
	bool color = !words->no_color && !(no_color && *no_color);
	char script[PATH_MAX], program[PATH_MAX], interval[24], key[24], flags[4];
	char **args = calloc(argc + 7, sizeof(*args));
	size_t dir_len = find_program(program);
	bool utf8;

	if (!args || !dir_len || find_screen(script, program, dir_len)) {
		free(args);
		return STATUS_KERNEL;
	}
	snprintf(interval, sizeof(interval), "%llu", (unsigned long long)words->interval_ns);
	snprintf(key, sizeof(key), "%s%s", words->order.ascending ? "-" : "", sort);
	/* The user's locale, or that of C if it is not installed; Python would take another. */
	setlocale(LC_CTYPE, "");
	utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	snprintf(flags, sizeof(flags), "%s%s%s", app->details ? "d" : "",
		 color ? "c" : "", utf8 ? "u" : "");
	memcpy(args, (char *[]){ script, program, interval, key, flags,
				 app->netns ? (char *)app->netns : "" }, 6 * sizeof(*args));
	add_filters(args + 6, argc, argv);
	execv(script, args);
	/* It exists, so that its interpreter does not. */
	if (errno == ENOENT)
		complain("cannot run %s: no interpreter (try: apt install python3)", script);
	else
		complain("cannot run %s: %s", script, strerror(errno));
	free(args);
	return STATUS_KERNEL;
}

int flow_watch(struct app *app, int argc, char **argv)
{
	struct flow_args words;
	int status;

	status = flow_args_parse(&words, true, argc, argv);
	if (!status && app->out.json)
		return watch_as_json(app, &words);
	if (!status && app->in_batch)
		return complain("flow watch: not within a batch");
	if (!status)
		status = check_terminal();
	return status ? status : run_screen(app, &words, argc, argv);
}

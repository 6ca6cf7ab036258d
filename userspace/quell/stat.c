// SPDX-License-Identifier: GPL-2.0
/*
 * quell stat: counters of quell.ko and of the algorithms in one namespace, in the manner of
 * nstat(8): increments since the last call, without zeros.  JSON and metrics always have all
 * counters from the start.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <time.h>

#include "preset.h"
#include "quell.h"
#include "stat.h"
#include "util.h"

/* Room for the id of a boot and the number of a namespace. */
#define HISTORY_ID_LEN	128

#define NS_PER_SEC	1000000000ULL

struct stat_args {
	const char	*only;		/* algorithm, or "quell"; NULL for all */
	bool		zeros;		/* counters at zero, too */
	bool		absolute;	/* from the start, not since the last time */
	bool		metrics;	/* as metrics for Prometheus */
};

int stat_fetch(struct app *app, struct stat_list *list)
{
	*list = (struct stat_list){};
	return app_fetch(app, QUELL_CMD_STAT_GET, &stat_kind, list, "cannot read the counters");
}

static void print_json(struct out *o, const struct stat_list *list, const char *only)
{
	size_t i;

	out_open_array(o, NULL);
	for (i = 0; i < list->n; i++) {
		const struct stat_group *s = &list->list[i];

		if (only && strcmp(only, s->name))
			continue;
		out_open_object(o, NULL);
		out_str(o, "name", NULL, s->name);
		out_counters(o, &s->counters);
		out_close_object(o);
	}
	out_close_array(o);
}

/* A counter with its rate; with details, its meaning on a second line. */
static void print_counter(struct app *app, const struct counter *c, uint64_t count,
			  uint64_t past_ns)
{
	char line[128], rate[32] = "";

	if (past_ns)
		snprintf(rate, sizeof(rate), " %12.1f/s", (double)count * NS_PER_SEC / past_ns);
	snprintf(line, sizeof(line), "  %-24s %16" PRIu64 "%s\n", c->name, count, rate);
	out_text(&app->out, line);
	if (app->details)
		out_str(&app->out, NULL, "      %s\n", c->doc ? c->doc : "");
}

/* A group below its name, which is not printed without counters; the number of lines. */
static size_t print_group(struct app *app, const struct stat_args *words,
			  const struct stat_group *group, const struct history *h, uint64_t now_ns)
{
	size_t i, lines = 0;

	for (i = 0; i < group->counters.n; i++) {
		const struct counter *c = &group->counters.list[i];
		const struct past *past = history_find(h, group->name, c->name);
		uint64_t count = history_count(past, c->value);

		if (!count && !words->zeros)
			continue;
		if (!lines++)
			out_str(&app->out, NULL, "%s\n", group->name);
		print_counter(app, c, count, past ? now_ns - h->time_ns : 0);
	}
	return lines;
}

static uint64_t boot_time_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return now.tv_sec * NS_PER_SEC + now.tv_nsec;
}

static void print_counted(struct app *app, const struct stat_args *words,
			  const struct stat_list *list, const struct history *h, uint64_t now_ns)
{
	size_t i, lines = 0;

	for (i = 0; i < list->n; i++)
		if (!words->only || !strcmp(words->only, list->list[i].name))
			lines += print_group(app, words, &list->list[i], h, now_ns);
	if (!lines)
		out_text(&app->out, h->n ? "no counts since the last call\n" : "no counts\n");
}

static int complain_history(const char *path, int code, const char *so)
{
	return complain_fault("stat: history %s: %s (%s)", path, strerror(code), so);
}

/*
 * The history of this user and namespace.  Where there is none, or it cannot be read, *@path is
 * empty, and everything is from the start.
 */
static int load_history(struct history *h, char *path, char *id)
{
	int ret = history_path(path, PATH_MAX, id, HISTORY_ID_LEN);

	if (!ret && *path)
		ret = history_load(h, path, id);
	if (!ret || ret == -ENOMEM)
		return ret;
	history_free(h);
	complain_history(path, -ret, "all from the start");
	*path = '\0';
	return 0;
}

/* Counters that could not be printed are not history either. */
static int print_text(struct app *app, const struct stat_args *words,
		      const struct stat_list *list)
{
	char path[PATH_MAX] = "", id[HISTORY_ID_LEN];
	uint64_t now_ns = boot_time_ns();
	struct history h = {};
	int ret = 0;

	if (!words->absolute)
		ret = load_history(&h, path, id);
	if (!ret)
		print_counted(app, words, list, &h, now_ns);
	if (!ret && *path && !fflush(app->out.file) && !ferror(app->out.file))
		ret = history_store(list, now_ns, path, id);
	history_free(&h);
	return ret ? complain_history(path, -ret, "all from the start: quell stat -a") : STATUS_OK;
}

static int print_metrics(struct app *app, const struct stat_list *list)
{
	struct metrics metrics = { list, NULL, app->netns };
	struct cc_list ccs;
	int status;

	status = cc_fetch(app, &ccs);
	metrics.ccs = &ccs;
	if (!status)
		metrics_print(app->out.file, &metrics);
	cc_list_free(&ccs);
	return status;
}

static bool stat_has(const struct stat_list *list, const char *name)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		if (!strcmp(list->list[i].name, name))
			return true;
	return false;
}

static int read_words(struct stat_args *words, bool json, int argc, char **argv)
{
	static const struct word known[] = {
		{ "-a", NULL, offsetof(struct stat_args, absolute), NULL },
		{ "-z", NULL, offsetof(struct stat_args, zeros), NULL },
		{ "--metrics", NULL, offsetof(struct stat_args, metrics), NULL },
	};
	const struct words all = {
		.name = "stat", .list = known, .n = ARRAY_SIZE(known),
	};

	*words = (struct stat_args){};
	words_take(&all, words, &argc, &argv);
	if (argc && **argv != '-') {
		words->only = *argv++;
		argc--;
	}
	if (words_read(&all, words, argc, argv))
		return STATUS_INPUT;
	if (!words->metrics || (!words->only && !json))
		return STATUS_OK;
	return complain("stat: metrics are of all modules, and not JSON");
}

static int print(struct app *app, const struct stat_args *words, const struct stat_list *list)
{
	if (words->metrics)
		return print_metrics(app, list);
	if (!app->out.json)
		return print_text(app, words, list);
	print_json(&app->out, list, words->only);
	return STATUS_OK;
}

int stat_show(struct app *app, int argc, char **argv)
{
	struct stat_args words;
	struct stat_list list;
	int status;

	status = read_words(&words, app->out.json, argc, argv) ?: app_connect(app, words.only);
	if (status)
		return status;
	status = stat_fetch(app, &list);
	if (!status && words.only && !stat_has(&list, words.only))
		status = is_quell_cc(words.only) ? cc_not_loaded(words.only) :
			 complain("no counters of '%s'; see: quell stat", words.only);
	if (!status)
		status = print(app, &words, &list);
	stat_list_free(&list);
	return status;
}

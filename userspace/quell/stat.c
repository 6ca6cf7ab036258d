// SPDX-License-Identifier: GPL-2.0
/*
 * quell stat: counters of quell.ko and of the algorithms in one namespace.
 */
#include <inttypes.h>
#include <string.h>

#include "quell.h"

static int take_stat(const struct nlmsghdr *nlh, void *data)
{
	return stat_list_add(data, nlh);
}

static void restart_stat(void *data)
{
	stat_list_free(data);
}

static int stat_fetch(struct app *app, struct stat_list *list)
{
	struct nl_reader reader = {
		.message = take_stat,
		.restart = restart_stat,
		.data = list,
	};
	char buf[NL_BUFFER_LEN] __attribute__((aligned(8)));
	struct nl_error err;

	*list = (struct stat_list){};
	if (nl_dump(&app->nl, nl_prepare(&app->nl, buf, QUELL_CMD_STAT_GET), &reader, &err))
		return complain_kernel("cannot read the counters", &err);
	return STATUS_OK;
}

/**
 * out_counters() - print counters in JSON: an object of name and value
 * @o: the printer; no output in text
 * @counters: the counters
 */
void out_counters(struct out *o, const struct counters *counters)
{
	size_t i;

	out_open_object(o, "counters");
	for (i = 0; i < counters->n; i++)
		out_u64(o, counters->list[i].name, NULL, counters->list[i].value);
	out_close_object(o);
}

/**
 * out_counter_lines() - print counters in text: one line per counter, with its explanation
 * @o: the printer; no output in JSON
 * @counters: the counters
 */
void out_counter_lines(struct out *o, const struct counters *counters)
{
	size_t i;

	for (i = 0; i < counters->n; i++) {
		const struct counter *c = &counters->list[i];
		char line[128];

		snprintf(line, sizeof(line), "  %-22s %12" PRIu64, c->name, c->value);
		out_text(o, line);
		out_str(o, NULL, "  %s\n", c->doc ? c->doc : "");
	}
}

static void print_stats(struct out *o, const struct stat_list *list, const char *only)
{
	size_t i;

	out_open_array(o, NULL);
	for (i = 0; i < list->n; i++) {
		const struct stat_group *s = &list->list[i];

		if (only && strcmp(only, s->name))
			continue;
		out_open_object(o, NULL);
		out_str(o, "name", "%s\n", s->name);
		out_counter_lines(o, &s->counters);
		out_counters(o, &s->counters);
		out_close_object(o);
	}
	out_close_array(o);
	out_document_end(o);
}

static bool stat_has(const struct stat_list *list, const char *name)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		if (!strcmp(list->list[i].name, name))
			return true;
	return false;
}

/* quell stat [ALGO] */
int stat_show(struct app *app, int argc, char **argv)
{
	const char *only = argc ? argv[0] : NULL;
	struct stat_list list;
	int status;

	status = stat_fetch(app, &list);
	if (!status && only && !stat_has(&list, only)) {
		complain("no counters of '%s'; see: quell stat", only);
		status = STATUS_INPUT;
	}
	if (!status)
		print_stats(&app->out, &list, only);
	stat_list_free(&list);
	return status;
}

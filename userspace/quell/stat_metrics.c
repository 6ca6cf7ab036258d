// SPDX-License-Identifier: GPL-2.0
/*
 * The counters as metrics, a family per counter with a sample per module that has it, in the text
 * format of Prometheus, which the textfile collector of node_exporter reads.
 */
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "out.h"
#include "stat.h"

#define NAME_LEN	96

/* The family of a counter: letters, digits and underscores. */
static void write_name(char *buf, size_t len, const char *name)
{
	size_t i;

	snprintf(buf, len, "quell_%s_total", name);
	for (i = 0; buf[i]; i++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
			    buf[i]))
			buf[i] = '_';
}

/* The value of a label, or with @quotes false a help text. */
static void put_escaped(FILE *file, const char *text, bool quotes)
{
	for (; *text; text++) {
		if (*text == '\n')
			fputs("\\n", file);
		else if (*text == '\\' || (*text == '"' && quotes))
			fprintf(file, "\\%c", *text);
		else
			fputc(*text, file);
	}
}

static void put_sample(FILE *file, const struct metrics *m, const char *name, const char *module,
		       uint64_t value)
{
	char netns[OUT_ESCAPED * NAME_MAX + 1];

	fprintf(file, "%s{", name);
	if (m->netns) {
		fputs("netns=\"", file);
		put_escaped(file, out_escape(netns, sizeof(netns), m->netns), true);
		fputs("\",", file);
	}
	fputs("module=\"", file);
	put_escaped(file, module, true);
	fprintf(file, "\"} %" PRIu64 "\n", value);
}

static void put_head(FILE *file, const char *family, const char *type, const char *help)
{
	fprintf(file, "# HELP %s ", family);
	put_escaped(file, help, false);
	fprintf(file, "\n# TYPE %s %s\n", family, type);
}

static const struct counter *find_counter(const struct stat_group *group, const char *name)
{
	size_t i;

	for (i = 0; i < group->counters.n; i++)
		if (!strcmp(group->counters.list[i].name, name))
			return &group->counters.list[i];
	return NULL;
}

/* A family, of all groups from the one on that has it first. */
static void put_family(FILE *file, const struct metrics *m, size_t first, const struct counter *c)
{
	char family[NAME_LEN];
	size_t i;

	write_name(family, sizeof(family), c->name);
	put_head(file, family, "counter", c->doc ? c->doc : "");
	for (i = first; i < m->stats->n; i++) {
		const struct stat_group *group = &m->stats->list[i];
		const struct counter *one = find_counter(group, c->name);

		if (one)
			put_sample(file, m, family, group->name, one->value);
	}
}

static bool is_known_before(const struct stat_list *stats, size_t group, const char *name)
{
	size_t i;

	for (i = 0; i < group; i++)
		if (find_counter(&stats->list[i], name))
			return true;
	return false;
}

/* Print counters and numbers of flows as metrics. */
void metrics_print(FILE *file, const struct metrics *m)
{
	size_t i, j;

	put_head(file, "quell_flows", "gauge", "Open sockets that use the algorithm.");
	for (i = 0; i < m->ccs->n; i++)
		if (HAVE(&m->ccs->list[i], QUELL_A_CC_FLOWS) &&
		    strcmp(m->ccs->list[i].name, QUELL_FAMILY_NAME))
			put_sample(file, m, "quell_flows", m->ccs->list[i].name,
				   m->ccs->list[i].flows);
	for (i = 0; i < m->stats->n; i++) {
		const struct counters *counters = &m->stats->list[i].counters;

		for (j = 0; j < counters->n; j++)
			if (!is_known_before(m->stats, i, counters->list[j].name))
				put_family(file, m, i, &counters->list[j]);
	}
}

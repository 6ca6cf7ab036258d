// SPDX-License-Identifier: GPL-2.0
/*
 * quell save: the settings of a namespace as the commands that make them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch.h"
#include "preset.h"
#include "quell.h"

/* The parameters of an algorithm change in one request: they may limit each other. */
static void save_cc(const struct cc *cc, FILE *set, FILE *reset)
{
	const struct preset *preset = preset_in_force(presets, cc);
	char text[QTY_TEXT_LEN];
	bool has_any = false;
	size_t i;

	for (i = 0; i < cc->n_params; i++) {
		const struct param *p = &cc->params[i];

		if (!param_is_changed(p))
			continue;
		if (!has_any)
			fprintf(set, "cc %s %s", preset ? "preset" : "set", cc->name);
		has_any = true;
		if (!preset)
			fprintf(set, " %s %s", p->name,
				qty_format(text, sizeof(text), p->unit, p->value));
	}
	if (has_any && preset)
		fprintf(set, " %s", preset->name);
	if (has_any) {
		fputc('\n', set);
		fprintf(reset, "cc reset %s\n", cc->name);
	}
}

static int save_ccs(struct app *app, uint64_t *limit_ns, FILE *set, FILE *reset)
{
	struct cc_list list;
	int status = cc_fetch(app, &list);
	const struct param *lookahead = cc_param(cc_lookup(&list, "dart"), "lookahead");
	size_t i;

	for (i = 0; !status && i < list.n; i++)
		save_cc(&list.list[i], set, reset);
	if (lookahead)
		*limit_ns = lookahead->value;
	cc_list_free(&list);
	return status;
}

/*
 * The settings that differ from their defaults: commands that make them, and as many, line by line,
 * that reset them. Both must be freed even on failure. @app is not connected.
 */
int save_settings(const struct app *app, char **set, char **reset)
{
	size_t set_len, reset_len;
	FILE *to_set = open_memstream(set, &set_len);
	FILE *to_reset = open_memstream(reset, &reset_len);
	struct app own = *app;
	int status = STATUS_KERNEL;
	uint64_t limit_ns = 0;

	if (to_set && to_reset)
		status = app_connect(&own, NULL);
	else
		complain("%s", strerror(errno));
	if (!status) {
		status = save_ccs(&own, &limit_ns, to_set, to_reset) ?:
			 link_save(&own, to_set, to_reset) ?:
			 hwstamp_save(to_set, to_reset) ?:
			 sender_save(&own, to_set, to_reset) ?:
			 lookahead_save(&own, limit_ns, to_set, to_reset);
		nl_close(&own.nl);
	}
	if (to_set)
		fclose(to_set);
	if (to_reset)
		fclose(to_reset);
	return status;
}

int save(struct app *app, int argc, char **argv)
{
	char *set = NULL, *reset = NULL;
	int status;

	if (app->out.json)
		return complain("save: commands, which are not JSON");
	status = save_settings(app, &set, &reset);
	if (!status)
		printf("# Commands for quell restore, sync and -batch: quell(8)\n%s", set);
	free(set);
	free(reset);
	return status;
}

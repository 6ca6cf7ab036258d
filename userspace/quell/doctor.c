// SPDX-License-Identifier: GPL-2.0
/*
 * quell doctor: diagnose problems of this host and print fixes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf_parts.h"
#include "doctor.h"
#include "flow.h"
#include "quell.h"
#include "util.h"

#define LINE_LEN	79	/* characters */
#define INDENT		7

static const char * const level_names[] = {
	[DOCTOR_FAULT] = "FAULT",
	[DOCTOR_NOTE] = "note",
	[DOCTOR_HELD] = "held",
	[DOCTOR_EFFECT] = "effect",
};

/* Text in lines behind the margin; the first goes on where @used characters are. */
static void print_wrapped(struct out *o, const char *text, size_t used)
{
	char word[OUT_ESCAPED * DOCTOR_TEXT_LEN];
	size_t len;

	while (*text) {
		len = strcspn(text, " ");
		if (used > INDENT && used + 1 + len > LINE_LEN) {
			out_text(o, "\n       ");
			used = INDENT;
		}
		snprintf(word, sizeof(word), "%s%.*s", used > INDENT ? " " : "", (int)len, text);
		out_text(o, word);
		used += strlen(word);
		text += len + (text[len] == ' ');
	}
	out_text(o, "\n");
}

static void print_finding(struct out *o, const struct finding *f)
{
	char level[INDENT + 1], plain[OUT_ESCAPED * DOCTOR_TEXT_LEN];

	out_open_object(o, NULL);
	out_str(o, "level", NULL, f->level == DOCTOR_FAULT ? "fault" : level_names[f->level]);
	out_str(o, "check", NULL, f->check);
	out_str(o, "text", NULL, f->text);
	if (*f->command)
		out_str(o, "command", NULL, f->command);
	else
		out_null(o, "command", NULL);
	out_close_object(o);
	if (o->json)
		return;
	snprintf(level, sizeof(level), "%-*s", INDENT, level_names[f->level]);
	out_text(o, level);
	print_wrapped(o, out_escape(plain, sizeof(plain), f->text), INDENT);
	/* A command is one line, to be copied. */
	if (*f->command)
		out_str(o, NULL, "         %s\n", f->command);
}

/* The exit status for them. */
static int print_findings(struct out *o, const struct findings *findings)
{
	char line[DOCTOR_NAME_LEN];
	int faults = 0, notes = 0;
	size_t i;

	out_open_array(o, NULL);
	for (i = 0; i < findings->n; i++) {
		faults += findings->list[i].level == DOCTOR_FAULT;
		notes += findings->list[i].level == DOCTOR_NOTE;
		print_finding(o, &findings->list[i]);
	}
	out_close_array(o);
	snprintf(line, sizeof(line), "%d fault%s, %d note%s\n", faults, faults == 1 ? "" : "s",
		 notes, notes == 1 ? "" : "s");
	out_text(o, line);
	return faults ? STATUS_FINDINGS : STATUS_OK;
}

/* The rates that Quell uses, which an administrator may have set. */
static int fetch_rates(struct app *app, struct doctor_host *host)
{
	struct link_list links = {};
	int status = app_fetch(app, QUELL_CMD_LINK_GET, &link_kind, &links, "cannot read the rates");
	size_t i, j;

	for (i = 0; !status && i < links.n; i++)
		for (j = 0; j < host->n_devs; j++)
			if (host->devs[j].ifindex == links.list[i].ifindex)
				host->devs[j].bytes_ps = links.list[i].bytes_ps ?
					links.list[i].bytes_ps : links.list[i].driver_bytes_ps;
	link_list_free(&links);
	return status;
}

static int fetch_flows(struct app *app, struct doctor_host *host)
{
	const struct flow_args all = { .order.sort = -1, .brief = true };
	struct nl_error err;

	if (nl_open(&app->nl, &err))
		return STATUS_OK;	/* one of the findings */
	app->connected = true;
	return cc_fetch(app, &host->ccs) ?:
	       flow_fetch(app, &all, &host->flows) ?:
	       fetch_rates(app, host);
}

/* The facts without a file; not read for another root. */
static int examine_kernel(struct app *app, struct doctor_host *host)
{
	int ret = doctor_read_devs(host);
	int status = ret ? STATUS_OK : fetch_flows(app, host);

	if (status)
		return status;
	if (!ret && host->ccs.n)
		ret = doctor_read_holders(host);
	if (!ret)
		return STATUS_OK;
	return complain_fault("doctor: %s", strerror(-ret));
}

static int examine_change(struct doctor_change *change)
{
	int ret = diag_fetch(&change->sockets, true);

	if (!ret || ret == -ENOENT)
		ret = doctor_read_routes(change);
	if (!ret)
		return STATUS_OK;
	return complain_fault("doctor: %s", strerror(-ret));
}

/* Parse "--if ALGO"; without it @core is NULL. */
static int parse_args(int argc, char **argv, const struct quell_core **core)
{
	static const struct word known[] = { { "--if", word_text, 0, NULL } };
	const struct words words = { .name = "doctor", .list = known, .n = ARRAY_SIZE(known) };
	const char *name = NULL;
	int status = words_read(&words, &name, argc, argv);

	*core = NULL;
	return status || !name ? status : bpf_core_find(name, core);
}

int doctor(struct app *app, int argc, char **argv)
{
	const char *root = getenv("QUELL_DOCTOR_ROOT");
	bool live = !root || !*root;
	struct doctor_change change = {};
	struct findings findings = {};
	struct doctor_host host = {};
	int status;

	status = parse_args(argc, argv, &change.core);
	if (status)
		return status;
	doctor_read_files(&host, root ? root : "");
	if (live)
		status = examine_kernel(app, &host);
	if (live && !status && change.core)
		status = examine_change(&change);
	if (!status && change.core) {
		change.cc = cc_lookup(&host.ccs, change.core->name);
		doctor_if(&host, &change, &findings);
	} else if (!status) {
		doctor_check(&host, &findings);
	}
	if (!status)
		status = print_findings(&app->out, &findings);
	free(findings.list);
	free(host.devs);
	free(host.holders);
	free(change.routes);
	diag_list_free(&change.sockets);
	flow_list_free(&host.flows);
	cc_list_free(&host.ccs);
	return status;
}

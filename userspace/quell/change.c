// SPDX-License-Identifier: GPL-2.0
/*
 * quell cc set, reset and preset: the verbs that change parameters.
 *
 * Values are parsed by the units the kernel reports and checked against its ranges.
 * All changes go into one request, which the kernel applies as a whole or
 * not at all.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "change.h"
#include "preset.h"
#include "qty.h"
#include "quell.h"

static int read_value(const struct cc *cc, struct change *c)
{
	const struct param *p = c->param;
	enum qty_status why;
	char range[CC_RANGE_LEN];

	cc_format_range(range, sizeof(range), p);
	why = qty_parse(c->text, p->unit, &c->value);
	if (why)
		return complain("%s %s: '%s' %s; expected %s, range %s", cc->name, p->name,
				c->text, qty_status_text(why), qty_expected(p->unit), range);
	if ((HAVE(p, QUELL_A_PARAM_RANGE_MIN) && c->value < p->min) ||
	    (HAVE(p, QUELL_A_PARAM_RANGE_MAX) && c->value > p->max)) {
		return complain("%s %s: '%s' is out of range %s", cc->name, p->name,
				c->text, range);
	}
	return STATUS_OK;
}

/* One of the first @n changes is of this parameter. */
static bool is_listed(const struct changes *changes, const char *name, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(changes->list[i].param->name, name))
			return true;
	return false;
}

/* Check a new value as typed, NULL for the default, and add it. */
int changes_add(struct changes *changes, const char *name, const char *text)
{
	struct change *c = &changes->list[changes->n];
	const struct param *param;

	param = cc_find_param(changes->cc, name);
	if (!param)
		return STATUS_INPUT;
	if (is_listed(changes, name, changes->n))
		return complain("%s %s: given twice", changes->cc->name, name);
	*c = (struct change){ .param = param, .text = text, .value = param->def };
	if (text && read_value(changes->cc, c))
		return STATUS_INPUT;
	changes->n++;
	return STATUS_OK;
}

/* Report an error of the kernel, with the parameter it refers to if known. */
static int complain_changes(const struct changes *changes, const struct nl_error *err)
{
	char request[256];
	size_t i;

	snprintf(request, sizeof(request), "%s", changes->cc->name);
	for (i = 0; err->has_offset && i < changes->n; i++) {
		const struct change *c = &changes->list[i];

		if (err->offset < c->end) {
			snprintf(request, sizeof(request), "%s %s%s%s", changes->cc->name,
				 c->param->name, c->text ? " " : "",
				 c->text ? c->text : "");
			break;
		}
	}
	return complain_kernel(request, err);
}

static int changes_send(struct app *app, struct changes *changes, uint8_t cmd)
{
	char buf[NL_BUFFER_LEN] __attribute__((aligned(8)));
	struct nlmsghdr *nlh = nl_prepare(&app->nl, buf, cmd);
	struct nl_error err;
	size_t i;

	if (app->check)
		return STATUS_OK;
	mnl_attr_put_strz(nlh, QUELL_A_CC_NAME, changes->cc->name);
	for (i = 0; i < changes->n; i++) {
		struct change *c = &changes->list[i];
		struct nlattr *nest;

		nest = mnl_attr_nest_start(nlh, QUELL_A_CC_PARAM);
		mnl_attr_put_strz(nlh, QUELL_A_PARAM_NAME, c->param->name);
		if (cmd == QUELL_CMD_CC_SET)
			mnl_attr_put_u64(nlh, QUELL_A_PARAM_VALUE, c->value);
		mnl_attr_nest_end(nlh, nest);
		c->end = nlh->nlmsg_len;
	}
	if (nl_do(&app->nl, nlh, NULL, &err))
		return complain_changes(changes, &err);
	return STATUS_OK;
}

/* Begin a request without a change; it must be freed even on failure. */
int changes_alloc(struct changes *changes, const struct cc *cc)
{
	changes->cc = cc;
	changes->n = 0;
	changes->list = calloc(cc->n_params + 1, sizeof(*changes->list));
	changes->words = calloc(cc->n_params + 1, sizeof(*changes->words));
	if (changes->list && changes->words)
		return STATUS_OK;
	return complain_fault("%s", strerror(ENOMEM));
}

void changes_free(struct changes *changes)
{
	free(changes->list);
	free(changes->words);
}

/* Names with their values, or names alone for the defaults. */
static int read_params(struct changes *changes, int argc, char **argv, bool with_values)
{
	int status = STATUS_OK, i = 0;
	struct pair pair;

	while (!status && i < argc) {
		if (with_values) {
			status = pair_next(argc, argv, &i, &pair) ?:
				 changes_add(changes, pair.name, pair.value);
		} else {
			status = changes_add(changes, argv[i++], NULL);
		}
	}
	return status;
}

/* Set parameters, or reset them. */
int cc_change(struct app *app, int argc, char **argv)
{
	uint8_t cmd = strcmp(app->verb, "set") ? QUELL_CMD_CC_RESET : QUELL_CMD_CC_SET;
	struct changes changes = {};
	struct cc_list list = {};
	const struct cc *cc;
	int status;

	status = app_connect(app, argv[0]) ?: cc_fetch(app, &list);
	if (status)
		goto free_list;

	status = cc_find(&list, argv[0], &cc);
	if (status)
		goto free_list;
	status = changes_alloc(&changes, cc) ?:
		 read_params(&changes, argc - 1, argv + 1, cmd == QUELL_CMD_CC_SET) ?:
		 changes_send(app, &changes, cmd);
	changes_free(&changes);

free_list:
	cc_list_free(&list);
	return status;
}

/*
 * Add a preset's values, and the defaults of all other parameters; values added earlier take
 * precedence.
 */
int changes_add_preset(struct changes *changes, const struct preset *preset)
{
	struct preset_word *word = changes->words;
	const struct cc *cc = changes->cc;
	const char *at = preset->set;
	size_t typed = changes->n;
	size_t i;

	for (; preset_next(&at, word); word++)
		if (!is_listed(changes, word->name, typed) &&
		    changes_add(changes, word->name, word->value))
			return STATUS_INPUT;
	for (i = 0; i < cc->n_params; i++) {
		const struct param *p = &cc->params[i];

		if (is_listed(changes, p->name, changes->n))
			continue;
		if (!HAVE(p, QUELL_A_PARAM_DEFAULT))
			return complain_fault("%s %s: the kernel does not report the default",
					      cc->name, p->name);
		changes->list[changes->n++] = (struct change){ .param = p, .value = p->def };
	}
	return STATUS_OK;
}

/* The preset of a name as typed, or NULL after a complaint. */
const struct preset *preset_find(const char *algo, const char *name)
{
	const struct preset *preset;
	char known[512] = "";

	for (preset = presets; preset->cc; preset++) {
		if (strcmp(preset->cc, algo))
			continue;
		if (!strcmp(preset->name, name))
			return preset;
		append_name(known, sizeof(known), preset->name);
	}
	complain("%s has no preset '%s' (it has: %s)", algo, name, known);
	return NULL;
}

/* Set an algorithm to a preset's values, and otherwise to its defaults, by one request. */
int cc_apply_preset(struct app *app, const struct cc *cc, const struct preset *preset)
{
	struct changes changes;
	int status;

	status = changes_alloc(&changes, cc) ?:
		 changes_add_preset(&changes, preset) ?:
		 changes_send(app, &changes, QUELL_CMD_CC_SET);
	changes_free(&changes);
	return status;
}

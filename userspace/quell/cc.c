// SPDX-License-Identifier: GPL-2.0
/*
 * quell cc show: algorithms and their parameters in one network namespace.
 *
 * Names, units and ranges come from the kernel and are not built into this program:
 * every verb first requests the table.
 */
#include <string.h>

#include "preset.h"
#include "qty.h"
#include "quell.h"

int cc_fetch(struct app *app, struct cc_list *list)
{
	*list = (struct cc_list){};
	return app_fetch(app, QUELL_CMD_CC_GET, &cc_kind, list, "cannot list the algorithms");
}

/* Join names for a message, which is truncated at the end of the buffer. */
void append_name(char *text, size_t len, const char *name)
{
	size_t used = strlen(text);

	snprintf(text + used, len - used, "%s%s", used ? ", " : "", name);
}

/* Complain that one of Quell's algorithms is not loaded; returns the exit status for it. */
int cc_not_loaded(const char *name)
{
	return complain_fault("%s is not loaded (try: modprobe tcp_%s)", name, name);
}

int cc_find(const struct cc_list *list, const char *name, const struct cc **cc)
{
	bool any_algorithm = false;
	char known[256] = "";
	size_t i;

	*cc = cc_lookup(list, name);
	if (*cc)
		return STATUS_OK;
	if (is_quell_cc(name))
		return cc_not_loaded(name);
	for (i = 0; i < list->n; i++) {
		append_name(known, sizeof(known), list->list[i].name);
		/* The parameters common to all algorithms are listed as "quell". */
		any_algorithm |= strcmp(list->list[i].name, "quell") != 0;
	}
	if (any_algorithm)
		complain("unknown algorithm '%s' (loaded: %s)", name, known);
	else
		complain("unknown algorithm '%s' (none is loaded, try: modprobe tcp_swift)",
			 name);
	return STATUS_INPUT;
}

/* The parameter of a name as typed, or NULL after a complaint. */
const struct param *cc_find_param(const struct cc *cc, const char *name)
{
	const struct param *found = cc_param(cc, name);
	char known[1024] = "";
	size_t i;

	if (found)
		return found;
	for (i = 0; i < cc->n_params; i++)
		append_name(known, sizeof(known), cc->params[i].name);
	if (strchr(name, '='))
		complain("'%s': expected the name of a parameter, without a value", name);
	else
		complain("%s has no parameter '%s' (it has: %s)", cc->name, name,
			 cc->n_params ? known : "none");
	return NULL;
}

enum { NAME, VALUE, DEFAULT, RANGE, CELLS };

struct row {
	char	cell[CELLS][CC_RANGE_LEN];
};

/* Write the range of a parameter, CC_RANGE_LEN bytes at most. */
void cc_format_range(char *buf, size_t len, const struct param *p)
{
	char min[QTY_TEXT_LEN], max[QTY_TEXT_LEN];

	snprintf(buf, len, "%s .. %s",
		 HAVE(p, QUELL_A_PARAM_RANGE_MIN) ?
			qty_format(min, sizeof(min), p->unit, p->min) : "",
		 HAVE(p, QUELL_A_PARAM_RANGE_MAX) ?
			qty_format(max, sizeof(max), p->unit, p->max) : "");
}

static void fill_row(struct row *row, const struct param *p)
{
	strcpy(row->cell[VALUE], "-");
	strcpy(row->cell[DEFAULT], "-");
	out_escape(row->cell[NAME], CC_RANGE_LEN, p->name);
	if (HAVE(p, QUELL_A_PARAM_VALUE))
		qty_format(row->cell[VALUE], CC_RANGE_LEN, p->unit, p->value);
	if (HAVE(p, QUELL_A_PARAM_DEFAULT))
		qty_format(row->cell[DEFAULT], CC_RANGE_LEN, p->unit, p->def);
	cc_format_range(row->cell[RANGE], CC_RANGE_LEN, p);
}

static void widen(int *width, const struct row *row)
{
	int i, len;

	for (i = 0; i < CELLS; i++) {
		len = strlen(row->cell[i]);
		if (width[i] < len)
			width[i] = len;
	}
}

static void print_row(struct out *o, const char *mark, const struct row *row, const int *width)
{
	char text[CC_RANGE_LEN + 3];
	int i;

	out_text(o, mark);
	for (i = 0; i < CELLS; i++) {
		snprintf(text, sizeof(text), "%-*s  ", width[i], row->cell[i]);
		out_text(o, text);
	}
}

bool param_is_changed(const struct param *p)
{
	return HAVE(p, QUELL_A_PARAM_DEFAULT) && p->value != p->def;
}

/* In JSON; a value that the kernel does not report is left out. */
static void print_values(struct out *o, const struct param *p)
{
	char unit[32];

	out_str(o, "name", NULL, p->name);
	out_str(o, "unit", NULL, qty_unit_name(p->unit, unit, sizeof(unit)));
	if (HAVE(p, QUELL_A_PARAM_VALUE))
		out_u64(o, "value", NULL, p->value);
	if (HAVE(p, QUELL_A_PARAM_DEFAULT))
		out_u64(o, "default", NULL, p->def);
	if (HAVE(p, QUELL_A_PARAM_RANGE_MIN))
		out_u64(o, "min", NULL, p->min);
	if (HAVE(p, QUELL_A_PARAM_RANGE_MAX))
		out_u64(o, "max", NULL, p->max);
}

/*
 * Print the table of parameters, or @only one; in JSON the array "params". Returns the number of
 * those printed that differ from the default.
 */
unsigned int cc_print_params(struct out *o, const struct cc *cc, const char *only)
{
	static const struct row header = { { "PARAMETER", "VALUE", "DEFAULT", "RANGE" } };
	unsigned int changed = 0;
	int width[CELLS] = {};
	struct row row;
	size_t i;

	widen(width, &header);
	for (i = 0; i < cc->n_params; i++) {
		fill_row(&row, &cc->params[i]);
		if (!only || !strcmp(only, cc->params[i].name))
			widen(width, &row);
	}
	out_open_array(o, "params");
	if (cc->n_params) {
		print_row(o, "  ", &header, width);
		out_text(o, "MEANING\n");
	}
	for (i = 0; i < cc->n_params; i++) {
		const struct param *p = &cc->params[i];

		if (only && strcmp(only, p->name))
			continue;
		changed += param_is_changed(p);
		out_open_object(o, NULL);
		print_values(o, p);
		fill_row(&row, p);
		print_row(o, param_is_changed(p) ? "* " : "  ", &row, width);
		out_str(o, "doc", "%s\n", p->doc ? p->doc : "");
		out_close_object(o);
	}
	out_close_array(o);
	return changed;
}

/* Print the preset in force; null in JSON without one. */
void cc_print_preset(struct out *o, const struct cc *cc)
{
	const struct preset *preset = preset_in_force(presets, cc);

	if (preset)
		out_str(o, "preset", ", preset %s", preset->name);
	else
		out_null(o, "preset", NULL);
}

/* One algorithm; @only restricts it to one parameter.  Counts marked rows. */
static unsigned int print_cc(struct out *o, const struct cc *cc, const char *only)
{
	unsigned int changed;

	out_open_object(o, NULL);
	out_str(o, "name", "%s", cc->name);
	if (HAVE(cc, QUELL_A_CC_FLOWS))
		out_u64(o, "flows", cc->flows == 1 ? ": %s flow" : ": %s flows", cc->flows);
	cc_print_preset(o, cc);
	out_text(o, "\n");
	changed = cc_print_params(o, cc, only);
	out_close_object(o);
	return changed;
}

static void print_cc_list(struct out *o, const struct cc_list *list,
			  const struct cc *only_cc, const struct param *only_param)
{
	unsigned int changed = 0;
	size_t i;

	out_open_array(o, NULL);
	for (i = 0; i < list->n; i++) {
		if (only_cc && only_cc != &list->list[i])
			continue;
		changed += print_cc(o, &list->list[i],
				    only_param ? only_param->name : NULL);
	}
	out_close_array(o);
	if (changed)
		out_text(o, "* differs from the default\n");
}

int cc_show(struct app *app, int argc, char **argv)
{
	const struct param *param = NULL;
	const struct cc *cc = NULL;
	struct cc_list list = {};
	int status;

	status = app_connect(app, argc ? argv[0] : NULL) ?: cc_fetch(app, &list);
	if (!status && argc > 0)
		status = cc_find(&list, argv[0], &cc);
	if (!status && argc > 1) {
		param = cc_find_param(cc, argv[1]);
		if (!param)
			status = STATUS_INPUT;
	}
	if (!status)
		print_cc_list(&app->out, &list, cc, param);
	cc_list_free(&list);
	return status;
}

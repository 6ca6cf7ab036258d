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
	complain("%s is not loaded (try: modprobe tcp_%s)", name, name);
	return STATUS_KERNEL;
}

/* An algorithm is one of Quell's if it has presets. */
static bool is_ours(const char *name)
{
	const struct preset *preset;

	for (preset = presets; preset->cc; preset++)
		if (!strcmp(preset->cc, name))
			return true;
	return false;
}

int cc_find(const struct cc_list *list, const char *name, const struct cc **cc)
{
	bool any_algorithm = false;
	char known[256] = "";
	size_t i;

	*cc = cc_lookup(list, name);
	if (*cc)
		return STATUS_OK;
	if (is_ours(name))
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

/* Widths of the columns of one table, except the last. */
struct widths {
	int	name;
	int	value;
	int	def;
	int	range;
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

static void widen(int *width, const char *text)
{
	int len = strlen(text);

	if (*width < len)
		*width = len;
}

static struct widths measure(const struct cc *cc, const char *only)
{
	struct widths w = {
		strlen("PARAMETER"), strlen("VALUE"), strlen("DEFAULT"), strlen("RANGE"),
	};
	char text[CC_RANGE_LEN];
	size_t i;

	for (i = 0; i < cc->n_params; i++) {
		const struct param *p = &cc->params[i];

		if (only && strcmp(only, p->name))
			continue;
		widen(&w.name, p->name);
		widen(&w.value, qty_format(text, sizeof(text), p->unit, p->value));
		widen(&w.def, qty_format(text, sizeof(text), p->unit, p->def));
		cc_format_range(text, sizeof(text), p);
		widen(&w.range, text);
	}
	return w;
}

static void print_cell(struct out *o, const char *key, const char *text, int width)
{
	char cell[256];

	snprintf(cell, sizeof(cell), "%-*s  ", width, text);
	out_str(o, key, "%s", o->json ? text : cell);
}

/* Print a value of a parameter; NULL: not reported by the kernel. */
static void print_qty_cell(struct out *o, const char *key, const struct param *p,
			   const uint64_t *value, int width)
{
	char text[QTY_TEXT_LEN];
	char cell[256];

	if (o->json && !value)
		return;
	snprintf(cell, sizeof(cell), "%-*s  ", width,
		 value ? qty_format(text, sizeof(text), p->unit, *value) : "-");
	out_u64_as(o, key, "%s", value ? *value : 0, cell);
}

bool param_is_changed(const struct param *p)
{
	return HAVE(p, QUELL_A_PARAM_DEFAULT) && p->value != p->def;
}

static void print_param(struct out *o, const struct param *p, const struct widths *w)
{
	char range[CC_RANGE_LEN];
	char unit[32];

	cc_format_range(range, sizeof(range), p);

	out_open_object(o, NULL);
	out_text(o, param_is_changed(p) ? "* " : "  ");
	print_cell(o, "name", p->name, w->name);
	out_str(o, "unit", NULL, qty_unit_name(p->unit, unit, sizeof(unit)));
	print_qty_cell(o, "value", p, HAVE(p, QUELL_A_PARAM_VALUE) ? &p->value : NULL, w->value);
	print_qty_cell(o, "default", p, HAVE(p, QUELL_A_PARAM_DEFAULT) ? &p->def : NULL, w->def);
	print_cell(o, NULL, range, w->range);
	if (HAVE(p, QUELL_A_PARAM_RANGE_MIN))
		out_u64(o, "min", NULL, p->min);
	if (HAVE(p, QUELL_A_PARAM_RANGE_MAX))
		out_u64(o, "max", NULL, p->max);
	out_str(o, "doc", "%s", p->doc ? p->doc : "");
	out_text(o, "\n");
	out_close_object(o);
}

static void print_header(struct out *o, const struct widths *w)
{
	out_text(o, "  ");
	print_cell(o, NULL, "PARAMETER", w->name);
	print_cell(o, NULL, "VALUE", w->value);
	print_cell(o, NULL, "DEFAULT", w->def);
	print_cell(o, NULL, "RANGE", w->range);
	out_text(o, "MEANING\n");
}

/*
 * Print the table of parameters, or @only one; in JSON the array "params". Returns the number of
 * those printed that differ from the default.
 */
unsigned int cc_print_params(struct out *o, const struct cc *cc, const char *only)
{
	struct widths w = measure(cc, only);
	unsigned int changed = 0;
	size_t i;

	out_open_array(o, "params");
	if (cc->n_params)
		print_header(o, &w);
	for (i = 0; i < cc->n_params; i++) {
		if (only && strcmp(only, cc->params[i].name))
			continue;
		changed += param_is_changed(&cc->params[i]);
		print_param(o, &cc->params[i], &w);
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

/* quell cc show [ALGO [PARAM]] */
int cc_show(struct app *app, int argc, char **argv)
{
	const struct param *param = NULL;
	const struct cc *cc = NULL;
	struct cc_list list = {};
	int status;

	status = app_connect(app, "swift");
	if (!status)
		status = cc_fetch(app, &list);
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

// SPDX-License-Identifier: GPL-2.0
/*
 * quell bpf show: algorithms loaded as BPF objects, their parameters and counters.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <quell/bpf.h>

#include "bpf_parts.h"
#include "quell.h"

static const uint32_t the_entry;

/* Sum of the counters of all processors, from the map @fd; those of another version stay 0. */
int bpf_read_counters(struct bpf_model *model, int fd)
{
	size_t stride = (model->core->counters_bytes + 7) / 8 * 8;
	int cpus = libbpf_num_possible_cpus();
	int status = STATUS_OK;
	void *values;

	if (cpus < 0)
		return complain_bpf("cannot count the processors", -cpus);
	if (!bpf_code_fits_counters(fd, model->core))
		return STATUS_OK;
	values = calloc(cpus, stride);
	if (!values || bpf_map_lookup_elem(fd, &the_entry, values))
		status = complain_bpf("cannot read the counters", errno);
	else
		bpf_model_sum(model, values, cpus);
	free(values);
	return status;
}

static int read_loaded(struct bpf_model *model)
{
	const char *algo = model->core->name;
	int params_fd, stats_fd, status;

	params_fd = bpf_pin_get(algo, QUELL_BPF_PARAMS_MAP);
	stats_fd = bpf_pin_get(algo, QUELL_BPF_STATS_MAP);
	if (params_fd < 0 || stats_fd < 0)
		status = complain_bpf("cannot open the pinned maps", errno);
	else
		status = bpf_read_params(model, params_fd);
	if (!status)
		status = bpf_read_counters(model, stats_fd);
	if (params_fd >= 0)
		close(params_fd);
	if (stats_fd >= 0)
		close(stats_fd);
	return status;
}

/* Users are left out where the kernel does not report them. */
static void print_state(struct out *o, const struct bpf_model *model,
			const struct bpf_pinned *pinned)
{
	struct bpf_state state;

	out_str(o, "state", NULL, pinned->map_id ? "registered" : "detached");
	if (bpf_state_read(&state, model->name, pinned->map_id))
		return;
	if (state.version[0])
		out_str(o, "version", ", version %s", state.version);
	else
		out_null(o, "version", NULL);
	out_u64(o, "users", state.users == 1 ? ", %s user" : ", %s users", state.users);
	out_u64(o, "old_users", state.old_users ? ", %s of old code" : NULL, state.old_users);
}

static void print_registration(struct out *o, const struct bpf_model *model,
			       const struct bpf_pinned *pinned)
{
	out_str(o, "name", "%s", model->core->name);
	out_str(o, "cc", ": %s", model->name);
	if (pinned->is_link)
		out_u64(o, "link_id", ", link %s", pinned->link_id);
	if (pinned->map_id)
		out_u64(o, "map_id", ", map %s", pinned->map_id);
	else
		out_null(o, "map_id", ", detached");
	print_state(o, model, pinned);
	cc_print_preset(o, &model->cc);
	out_text(o, "\n");
}

/* In text without details: deviations from the defaults, and counters above 0. */
static void print_summary(struct out *o, const struct bpf_model *model)
{
	char line[2 * QTY_TEXT_LEN + 64];
	char value[QTY_TEXT_LEN], def[QTY_TEXT_LEN];
	size_t i;

	for (i = 0; i < model->cc.n_params; i++) {
		const struct param *p = &model->cc.params[i];

		if (!param_is_changed(p))
			continue;
		snprintf(line, sizeof(line), "* %s %s (default %s)\n", p->name,
			 qty_format(value, sizeof(value), p->unit, p->value),
			 qty_format(def, sizeof(def), p->unit, p->def));
		out_text(o, line);
	}
	for (i = 0; i < model->counters.n; i++) {
		const struct counter *c = &model->counters.list[i];

		if (!c->value)
			continue;
		out_text(o, "  ");
		out_text(o, c->name);
		out_u64(o, NULL, " %s\n", c->value);
	}
}

static void print_loaded(struct out *o, const struct bpf_model *model,
			 const struct bpf_pinned *pinned, bool details)
{
	out_open_object(o, NULL);
	print_registration(o, model, pinned);
	if (!details && !o->json) {
		print_summary(o, model);
	} else {
		if (cc_print_params(o, &model->cc, NULL))
			out_text(o, "* differs from the default\n");
		out_text(o, "\n");
		out_counter_lines(o, &model->counters);
		out_counters(o, &model->counters);
	}
	out_close_object(o);
}

/* Unloaded code is freed with its last user. */
static int complain_unloaded(const struct quell_core *core)
{
	char name[BPF_CC_NAME_LEN];
	struct bpf_state state;

	snprintf(name, sizeof(name), QUELL_BPF_PREFIX "%s", core->name);
	if (bpf_state_read(&state, name, 0) || !state.old_users)
		return bpf_not_loaded(core->name);
	complain("%s is not loaded as BPF; its code has %llu users left, connections or network "
		 "namespaces whose default it is", core->name,
		 (unsigned long long)state.old_users);
	return STATUS_KERNEL;
}

/* One algorithm, if it is loaded or was named.  Adds the number shown to *@nr. */
static int show_core(struct app *app, const struct quell_core *core, bool named, size_t *nr)
{
	struct bpf_pinned pinned;
	struct bpf_model model;
	int status;

	if (bpf_pinned_open(core->name, &pinned)) {
		if (errno != ENOENT)
			return complain_bpf("cannot open the pins", errno);
		return named ? complain_unloaded(core) : STATUS_OK;
	}
	status = bpf_model_init(&model, core) ?: read_loaded(&model);
	if (!status)
		print_loaded(&app->out, &model, &pinned, named || app->details);
	bpf_model_free(&model);
	close(pinned.fd);
	++*nr;
	return status;
}

static int show_all(struct app *app)
{
	const struct quell_core *core;
	int status = STATUS_OK;
	size_t i, nr = 0;

	for (i = 0; !status && (core = bpf_core_at(i)); i++)
		status = show_core(app, core, false, &nr);
	if (!status && !nr)
		out_text(&app->out, "none loaded\n");
	return status;
}

int bpf_show(struct app *app, int argc, char **argv)
{
	const struct quell_core *core = NULL;
	size_t nr = 0;
	int status;

	if (argc && bpf_core_find(argv[0], &core))
		return STATUS_INPUT;
	status = bpf_pins_check();
	if (status)
		return status;
	out_open_array(&app->out, NULL);
	status = core ? show_core(app, core, true, &nr) : show_all(app);
	out_close_array(&app->out);
	return status;
}

/* Print for completion which algorithms there are, or the parameters of one. */
int bpf_list_args(const char *algo)
{
	const struct quell_core *core;
	size_t i;

	if (algo && bpf_core_find(algo, &core))
		return STATUS_INPUT;
	for (i = 0; !algo && (core = bpf_core_at(i)); i++)
		puts(core->name);
	for (i = 0; algo && i < core->params_nr; i++)
		puts(core->params[i].name);
	return STATUS_OK;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * quell bpf load, replace, unload, set and reset: algorithms as BPF objects, for kernels into
 * which modules cannot be loaded.
 *
 * A registration and the maps of parameters and counters are pinned (bpf_pin.c), so that later
 * commands find them and no process has to keep running.
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

/* Complain that an algorithm is not loaded as BPF; returns the exit status for it. */
int bpf_not_loaded(const char *algo)
{
	return complain_fault("%s is not loaded as BPF (try: quell bpf load %s)", algo, algo);
}

static int begin(struct bpf_model *model, const char *name)
{
	const struct quell_core *core;

	*model = (struct bpf_model){};
	if (bpf_core_find(name, &core))
		return STATUS_INPUT;
	return bpf_model_init(model, core);
}

static int write_params(const struct bpf_model *model, int fd)
{
	if (bpf_map_update_elem(fd, &the_entry, model->block, BPF_ANY))
		return complain_bpf("cannot write the parameters", errno);
	return STATUS_OK;
}

/* Take over the parameters in force, from the map @fd. */
int bpf_read_params(struct bpf_model *model, int fd)
{
	int status = STATUS_OK;
	void *block;

	if (!bpf_code_fits_params(fd, model->core))
		return complain_fault("%s was loaded by another version of this program "
				      "(try: quell bpf replace %s)",
				      model->core->name, model->core->name);
	block = malloc(model->core->params_bytes);
	if (!block || bpf_map_lookup_elem(fd, &the_entry, block))
		status = complain_bpf("cannot read the parameters", errno);
	else
		bpf_model_take(model, block);
	free(block);
	return status;
}

static int pin_maps(const struct bpf_model *model, const struct bpf_code *code)
{
	const char *algo = model->core->name;

	if (bpf_pin_put(algo, QUELL_BPF_PARAMS_MAP, bpf_map__fd(code->params)) ||
	    bpf_pin_put(algo, QUELL_BPF_STATS_MAP, bpf_map__fd(code->stats)))
		return complain_bpf("cannot pin the maps", errno);
	return STATUS_OK;
}

/* Parameters come first and the registration last: no connection sees less than all of it. */
static int register_code(const struct bpf_model *model, struct bpf_code *code)
{
	const char *algo = model->core->name;
	int status, fd;

	status = write_params(model, bpf_map__fd(code->params));
	if (status)
		return status;
	if (bpf_pin_dir_make(algo))
		return complain_bpf("cannot make a directory for the pins", errno);
	status = pin_maps(model, code) ?: bpf_code_register(code, &fd);
	if (status)
		goto remove_pins;
	if (bpf_pin_put(algo, code->has_links ? BPF_PIN_LINK : BPF_PIN_MAP, fd)) {
		status = complain_bpf("cannot pin the registration", errno);
		/* A link goes with its last descriptor, a map does not. */
		if (!code->has_links)
			bpf_map_delete_elem(fd, &the_entry);
	}
	close(fd);
	if (!status)
		return STATUS_OK;

remove_pins:
	bpf_pin_dir_remove(algo);
	return status;
}

/*
 * Let the new code use the maps that are there: connections of the old code read and count in
 * them as before.
 */
static bool share_maps(const struct bpf_model *model, struct bpf_code *code, int *params_fd)
{
	int stats_fd = bpf_pin_get(model->core->name, QUELL_BPF_STATS_MAP);
	bool shared;

	*params_fd = bpf_pin_get(model->core->name, QUELL_BPF_PARAMS_MAP);
	shared = *params_fd >= 0 && stats_fd >= 0 &&
		 !bpf_code_share(code, model->core, *params_fd, stats_fd);
	if (!shared)
		complain("note: parameters and counters of the code that was loaded do not fit, "
			 "those of the new begin anew");
	if (stats_fd >= 0)
		close(stats_fd);
	return shared;
}

/*
 * The kernel keeps choice and permission by the old code, not by the name.  Once the new code is in
 * force all the rest is tried, even after a failure. @params_fd is -1 if the maps are new.
 */
static int update_code(const struct bpf_model *model, struct bpf_code *code, int link_fd,
		       int params_fd)
{
	bool is_allowed = bpf_is_allowed(model->name);
	bool is_default = bpf_is_default(model->name);
	int status = bpf_check_renewal(model->name);

	if (!status)
		status = bpf_code_update(code, link_fd);
	if (status)
		return status;
	status = params_fd < 0 ? pin_maps(model, code) : write_params(model, params_fd);
	if (is_allowed && bpf_allow(model->name))
		status = STATUS_KERNEL;
	if (is_default && bpf_make_default(model->name))
		status = STATUS_KERNEL;
	return status;
}

static int replace_code(struct bpf_model *model, struct bpf_code *code,
			const struct bpf_args *words, const struct bpf_pinned *old)
{
	int params_fd, status;
	bool shared;

	if (!old->is_link || !code->has_links)
		return complain_fault("this kernel cannot replace %s in place "
				      "(try: quell bpf unload %s, then load)",
				      model->name, model->core->name);
	shared = share_maps(model, code, &params_fd);
	status = shared ? bpf_read_params(model, params_fd) : STATUS_OK;
	if (!status)
		status = bpf_code_load(code);
	bpf_model_apply(model, &words->changes);
	if (!status && !shared)
		status = write_params(model, bpf_map__fd(code->params));
	if (!status)
		status = update_code(model, code, old->fd, shared ? params_fd : -1);
	if (params_fd >= 0)
		close(params_fd);
	return status;
}

static int load_code(struct bpf_model *model, struct bpf_code *code,
		     const struct bpf_args *words)
{
	int status = bpf_code_load(code);

	bpf_model_apply(model, &words->changes);
	return status ? status : register_code(model, code);
}

static int load_or_replace(struct bpf_model *model, const struct bpf_args *words, bool replace)
{
	const char *algo = model->core->name;
	struct bpf_pinned old;
	struct bpf_code code;
	bool loaded;
	int status;

	status = bpf_pins_make() ?: bpf_pins_lock();
	if (status)
		return status;
	loaded = !bpf_pinned_open(algo, &old);
	if (!loaded && errno != ENOENT)
		return complain_bpf("cannot open the pins", errno);
	if (loaded && !replace)
		return complain_fault("%s is loaded already (try: quell bpf set %s, or quell bpf"
				      " replace %s)", algo, algo, algo);
	status = bpf_code_open(&code, model, words->dir) ?:
		 (loaded ? replace_code(model, &code, words, &old) :
			   load_code(model, &code, words));
	bpf_code_close(&code);
	if (loaded)
		close(old.fd);
	return status;
}

/* Load an algorithm, or replace one that is loaded. */
int bpf_load(struct app *app, int argc, char **argv)
{
	bool replace = !strcmp(app->verb, "replace");
	struct bpf_args words = {};
	struct bpf_model model;
	int status;

	status = begin(&model, argv[0]) ?:
		 bpf_args_parse(&words, &model, argc - 1, argv + 1) ?:
		 bpf_check_privilege(replace ? "bpf replace" : "bpf load") ?:
		 load_or_replace(&model, &words, replace);
	bpf_args_free(&words);
	bpf_model_free(&model);
	return status;
}

/* Linux 6.4 to 6.9 cannot detach: there the link goes with its pin, a little later. */
static int unregister(const struct bpf_model *model, const struct bpf_pinned *pinned)
{
	int err;

	err = pinned->is_link ? bpf_link_detach(pinned->fd) :
				bpf_map_delete_elem(pinned->fd, &the_entry);
	if (err && errno != EOPNOTSUPP && errno != ENOENT && errno != EINPROGRESS)
		return complain_bpf("cannot unregister", errno);
	close(pinned->fd);
	bpf_pin_dir_remove(model->core->name);
	return STATUS_OK;
}

static int unload(const struct bpf_model *model)
{
	struct bpf_pinned pinned;
	int status;

	status = bpf_pins_lock();
	if (status)
		return status;
	if (bpf_pinned_open(model->core->name, &pinned))
		return errno == ENOENT ? bpf_not_loaded(model->core->name) :
					 complain_bpf("cannot open the pins", errno);
	status = unregister(model, &pinned) ?: bpf_wait_until_gone(model->name);
	if (!status && bpf_is_default(model->name))
		complain("note: new connections of this network namespace still use %s, its "
			 "default, until net.ipv4.tcp_congestion_control is set to another",
			 model->name);
	return status;
}

int bpf_unload(struct app *app, int argc, char **argv)
{
	struct bpf_model model;
	int status;

	status = begin(&model, argv[0]) ?: unload(&model);
	bpf_model_free(&model);
	return status;
}

/* Change the parameters of a loaded algorithm, under the lock: others may change them, too. */
static int change_loaded(struct bpf_model *model, const struct changes *changes)
{
	int status, fd;

	status = bpf_pins_lock();
	if (status)
		return status;
	fd = bpf_pin_get(model->core->name, QUELL_BPF_PARAMS_MAP);
	if (fd < 0)
		return errno == ENOENT ? bpf_not_loaded(model->core->name) :
					 complain_bpf("cannot open the pins", errno);
	status = bpf_read_params(model, fd);
	if (!status) {
		bpf_model_apply(model, changes);
		status = write_params(model, fd);
	}
	close(fd);
	return status;
}

/* The parameters named, or all of them, to be put back to their defaults. */
static int add_defaults(struct changes *changes, const struct bpf_model *model, int argc,
			char **argv)
{
	int status = changes_alloc(changes, &model->cc);
	size_t i;

	for (i = 0; !status && i < (size_t)argc; i++)
		status = changes_add(changes, argv[i], NULL);
	for (i = 0; !status && !argc && i < model->cc.n_params; i++)
		status = changes_add(changes, model->cc.params[i].name, NULL);
	return status;
}

/* Set parameters, or reset them. */
int bpf_change(struct app *app, int argc, char **argv)
{
	bool reset = !strcmp(app->verb, "reset");
	struct bpf_args words = {};
	struct bpf_model model;
	int status;

	status = begin(&model, argv[0]) ?:
		 (reset ? add_defaults(&words.changes, &model, argc - 1, argv + 1) :
			  bpf_args_parse(&words, &model, argc - 1, argv + 1));
	if (!status && words.dir)
		status = complain("bpf set: a directory is for load and replace");
	if (!status)
		status = change_loaded(&model, &words.changes);
	bpf_args_free(&words);
	bpf_model_free(&model);
	return status;
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An algorithm that runs as a BPF object: the blocks in its maps, by the core's own tables.
 *
 * No function here calls the kernel, so that all of it is under unit test.
 */
#ifndef QUELL_CLI_BPF_MODEL_H
#define QUELL_CLI_BPF_MODEL_H

#include <quell/core/algorithm.h>

#include "change.h"
#include "model.h"

/* Length of the longest name of a congestion control, with its terminator: TCP_CA_NAME_MAX. */
#define BPF_CC_NAME_LEN	16

/* An algorithm, its parameters and its counters. */
struct bpf_model {
	const struct quell_core	*core;
	char			name[BPF_CC_NAME_LEN];	/* of its congestion control */
	/* its parameters; their texts belong to @core */
	struct cc		cc;
	/* its counters; their texts belong to @core */
	struct counters		counters;
	/* value of the map of parameters, params_bytes */
	void			*block;
};

/* Arguments of a command that loads an object. */
struct bpf_args {
	const struct preset	*preset;	/* applied before @changes, or NULL */
	/* directory of the objects, NULL for the usual one */
	const char		*dir;
	struct changes		changes;	/* parameters and values */
};

const struct quell_core *bpf_core_at(size_t index);
int bpf_core_find(const char *name, const struct quell_core **core);
int bpf_model_init(struct bpf_model *model, const struct quell_core *core);
void bpf_model_free(struct bpf_model *model);
void bpf_model_take(struct bpf_model *model, const void *block);
void bpf_model_apply(struct bpf_model *model, const struct changes *changes);
void bpf_model_sum(struct bpf_model *model, const void *values, unsigned int cpus);
int bpf_args_parse(struct bpf_args *words, const struct bpf_model *model, int argc,
		   char **argv);
void bpf_args_free(struct bpf_args *words);

/* bpf.c */
int bpf_not_loaded(const char *algo);
int bpf_read_params(struct bpf_model *model, int fd);

#endif /* QUELL_CLI_BPF_MODEL_H */

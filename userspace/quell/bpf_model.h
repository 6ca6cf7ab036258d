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

/**
 * struct bpf_model - an algorithm, its parameters and its counters
 * @core: the algorithm
 * @name: of its congestion control
 * @cc: its parameters; their texts belong to @core
 * @counters: its counters; their texts belong to @core
 * @block: value of the map of parameters, params_bytes
 */
struct bpf_model {
	const struct quell_core	*core;
	char			name[BPF_CC_NAME_LEN];
	struct cc		cc;
	struct counters		counters;
	void			*block;
};

/**
 * struct bpf_args - arguments of a command that loads an object
 * @preset: applied before @changes, or NULL
 * @dir: directory of the objects, NULL for the usual one
 * @changes: parameters and values
 */
struct bpf_args {
	const struct preset	*preset;
	const char		*dir;
	struct changes		changes;
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

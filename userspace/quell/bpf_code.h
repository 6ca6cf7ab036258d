/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The code of an algorithm: its object file in libbpf's hands.
 */
#ifndef QUELL_CLI_BPF_CODE_H
#define QUELL_CLI_BPF_CODE_H

#include <stdbool.h>

#include "bpf_model.h"

struct bpf_object;
struct bpf_map;

/* An object, opened or loaded. */
struct bpf_code {
	struct bpf_object	*object;	/* libbpf's handle */
	struct bpf_map		*ops;		/* its struct_ops map */
	struct bpf_map		*params;	/* its map of parameters */
	struct bpf_map		*stats;		/* its map of counters */
	struct bpf_map		*options;	/* its map of sockets that speak the Quell option */
	const char		*name;		/* of the congestion control, for messages */
	bool			has_links;	/* this kernel registers struct_ops by links */
};

int bpf_code_open(struct bpf_code *code, const struct bpf_model *model, const char *dir);
bool bpf_code_fits_params(int fd, const struct quell_core *core);
bool bpf_code_fits_counters(int fd, const struct quell_core *core);
int bpf_code_share(struct bpf_code *code, const struct quell_core *core, int params_fd,
		   int stats_fd);
int bpf_code_load(struct bpf_code *code);
int bpf_code_register(struct bpf_code *code, int *fd);
int bpf_code_update(struct bpf_code *code, int link_fd);
void bpf_code_close(struct bpf_code *code);

/* bpf_option.c */
bool bpf_options_share(struct bpf_map *map);
int bpf_options_keep(const struct bpf_map *map);

#endif /* QUELL_CLI_BPF_CODE_H */

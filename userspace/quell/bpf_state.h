/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the kernel has of the code of an algorithm: who uses it, and of which version it is.
 */
#ifndef QUELL_CLI_BPF_STATE_H
#define QUELL_CLI_BPF_STATE_H

#include <stdint.h>

#include "model.h"

/* Room for a version, with its terminator; a longer one is cut. */
#define BPF_VERSION_LEN	32

/**
 * struct bpf_state - the code of an algorithm, of all its generations
 * @users: sockets, and network namespaces whose default it is, that use the code in force
 * @old_users: the same of code that was replaced or unloaded
 * @version: of the code in force; empty if it does not tell
 */
struct bpf_state {
	uint64_t	users;
	uint64_t	old_users;
	char		version[BPF_VERSION_LEN];
};

int bpf_state_read(struct bpf_state *state, const char *name, uint32_t map_id);

#endif /* QUELL_CLI_BPF_STATE_H */

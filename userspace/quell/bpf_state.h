/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's state of the code of an algorithm: number of users and version.
 */
#ifndef QUELL_CLI_BPF_STATE_H
#define QUELL_CLI_BPF_STATE_H

#include <stdint.h>

#include "model.h"

/* Room for a version, with its terminator; a longer one is cut. */
#define BPF_VERSION_LEN	32

/* The code of an algorithm, of all its generations. */
struct bpf_state {
	/* sockets that use the code in force, and network namespaces with it as the default */
	uint64_t	users;
	/* the same for code that was replaced or unloaded */
	uint64_t	old_users;
	/* of the code in force; empty if not recorded */
	char		version[BPF_VERSION_LEN];
};

int bpf_state_read(struct bpf_state *state, const char *name, uint32_t map_id);

#endif /* QUELL_CLI_BPF_STATE_H */

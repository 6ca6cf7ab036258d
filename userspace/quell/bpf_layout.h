/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether the blocks in the maps of a BPF object are laid out as this program's.
 *
 * A block whose parameters have changed places, or meaning and name, has the same size; its BTF
 * differs.
 */
#ifndef QUELL_CLI_BPF_LAYOUT_H
#define QUELL_CLI_BPF_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include <quell/core/algorithm.h>

struct btf;

bool bpf_has_params(const struct btf *btf, uint32_t type_id, const struct quell_core *core);
bool bpf_has_counters(const struct btf *btf, uint32_t type_id, const struct quell_core *core);

#endif /* QUELL_CLI_BPF_LAYOUT_H */

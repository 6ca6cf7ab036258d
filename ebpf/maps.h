/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Maps of a BPF object of an algorithm, by the names of <quell/bpf.h>, and its parameters in
 * force.
 *
 * bpftool leaves the parameters all zero.  NAME_defaults.h, which ebpf/defaults.c writes when the
 * object is built, has the defaults, derived fields included, and the offset of a parameter that is
 * never zero: it is zero only in a block not written yet.  The defaults are data, not read-only
 * data, because a global function may be given writable memory only.
 */
#ifndef _QUELL_EBPF_MAPS_H
#define _QUELL_EBPF_MAPS_H

#include <quell/version.h>

#include "event.h"
#include "optconn_map.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, QUELL_BPF_PARAMS);
} quell_params SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, QUELL_BPF_STATS);
} quell_stats SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct quell_bpf_flow);
} quell_flows SEC(".maps");

union quell_bpf_block {
	u64			words[sizeof(QUELL_BPF_PARAMS) / sizeof(u64)];
	QUELL_BPF_PARAMS	params;
};

/* "quell bpf show" finds the version among the object's types. */
union quell_bpf_block quell_defaults SEC(".data")
	__attribute__((btf_decl_tag(QUELL_BPF_VERSION_TAG QUELL_VERSION))) = {
	.words = { QUELL_BPF_DEFAULTS },
};

static __always_inline QUELL_BPF_PARAMS *quell_bpf_params(void)
{
	union quell_bpf_block *block;
	u32 key = 0;

	block = bpf_map_lookup_elem(&quell_params, &key);
	if (!block)
		return NULL;
	if (!block->words[QUELL_BPF_NEVER_ZERO])
		return &quell_defaults.params;
	return &block->params;
}

/*
 * The counters of this processor.  A program that interrupts another on it may make it miss a
 * count.
 */
static __always_inline QUELL_BPF_STATS *quell_bpf_stats(void)
{
	u32 key = 0;

	return bpf_map_lookup_elem(&quell_stats, &key);
}

#endif /* _QUELL_EBPF_MAPS_H */

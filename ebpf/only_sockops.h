/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether other programs of type sock_ops are called for a socket, too.
 *
 * The calls that a socket makes are one word of flags, shared by all programs.  A set flag has no
 * owner, and a program called earlier for the same event may have set it.  So this program clears a
 * flag only where no other program could miss it.
 */
#ifndef _QUELL_EBPF_ONLY_SOCKOPS_H
#define _QUELL_EBPF_ONLY_SOCKOPS_H

#include "vmlinux_types.h"

/*
 * Program @index of those that a cgroup's sockets call, those of its ancestors included, or NULL.
 */
static __always_inline const struct bpf_prog *sock_ops_of(const struct cgroup *cgroup, u32 index)
{
	u32 type = bpf_core_enum_value(enum cgroup_bpf_attach_type, CGROUP_SOCK_OPS);
	const struct bpf_prog_array_item *item;
	const struct bpf_prog_array *array;
	const void *at;

	at = __builtin_preserve_access_index(&cgroup->bpf.effective);
	if (bpf_probe_read_kernel(&array, sizeof(array), at + type * sizeof(array)) || !array)
		return NULL;
	at = __builtin_preserve_access_index(&array->items);
	item = at + index * bpf_core_type_size(struct bpf_prog_array_item);
	return BPF_CORE_READ(item, prog);
}

/*
 * Set by a loader which knows that there is no other program, as the laboratory does: its kernel
 * has no perf events, and without them no bpf_probe_read_kernel().  It is not const, or the
 * compiler would fold it; to the kernel it is read-only.
 */
SEC(".rodata.only_sockops") bool quell_option_only_sockops;

/* Of those that are called this program is one, unless the list could not be read. */
static __always_inline bool is_only_sockops(const struct tcp_sock *tp)
{
	const struct cgroup *cgroup;

	if (quell_option_only_sockops)
		return true;
	cgroup = BPF_CORE_READ((const struct sock *)tp, sk_cgrp_data.cgroup);
	return sock_ops_of(cgroup, 0) && !sock_ops_of(cgroup, 1);
}

#endif /* _QUELL_EBPF_ONLY_SOCKOPS_H */

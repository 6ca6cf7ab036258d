/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether other programs of type sock_ops get a socket's calls, too.
 *
 * Which calls a socket makes is one word of flags, the same for all programs.  A flag that is set
 * does not tell who set it, and a program may have set it that was called before this one for the
 * same event.  So this one takes a flag away only where no other could miss it.
 */
#ifndef _QUELL_EBPF_ALONE_H
#define _QUELL_EBPF_ALONE_H

#include "vmlinux_types.h"

/* Program @index of those that a cgroup's sockets call, its parents' among them; NULL: none. */
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
 * Who loads the program knows that there is no other.  The laboratory says so: its kernel has no
 * perf events, and without them no bpf_probe_read_kernel().  Were it const, the compiler would not
 * look; to the kernel it is.
 */
SEC(".rodata.alone") bool quell_option_alone;

/* Of those that are called this program is one, unless the list could not be read. */
static __always_inline bool is_alone(const struct tcp_sock *tp)
{
	const struct cgroup *cgroup;

	if (quell_option_alone)
		return true;
	cgroup = BPF_CORE_READ((const struct sock *)tp, sk_cgrp_data.cgroup);
	return sock_ops_of(cgroup, 0) && !sock_ops_of(cgroup, 1);
}

#endif /* _QUELL_EBPF_ALONE_H */

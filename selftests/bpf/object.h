/* SPDX-License-Identifier: GPL-2.0 */
/* An object with a program "replay" for single events, for replay.c. */
#ifndef _QUELL_SELFTESTS_BPF_OBJECT_H
#define _QUELL_SELFTESTS_BPF_OBJECT_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include <quell/bpf.h>
#include <quell/core/cores.h>

#include "fit.h"

/* An object of a program to run, and where its blocks are in the map's memory. */
struct replay {
	const struct quell_core	*core;
	struct bpf_object	*object;
	int			program_fd;
	size_t			map_bytes;
	u64			*event;
	void			*params, *stats, *vars, *undo;
	struct quell_sample	*sample;
	struct quell_decision	*decision;
	struct quell_bpf_view	*view;
	struct quell_adapt	*adapt;
	struct fit_tcp		*tcp;
};

static inline int print_nothing(enum libbpf_print_level level, const char *format,
				va_list args)
{
	return level == LIBBPF_WARN ? vfprintf(stderr, format, args) : 0;
}

/* Place of a member of a struct of the object, which must be @bytes long; -1: it is not. */
static inline long member_at(const struct btf *btf, const char *type, const char *member,
			     size_t bytes)
{
	const struct btf_type *t;
	const struct btf_member *m;
	int id, i;

	id = btf__find_by_name_kind(btf, type, BTF_KIND_STRUCT);
	if (id < 0)
		return -1;
	t = btf__type_by_id(btf, id);
	for (i = 0, m = btf_members(t); i < btf_vlen(t); i++, m++)
		if (!strcmp(btf__name_by_offset(btf, m->name_off), member))
			return (size_t)btf__resolve_size(btf, m->type) == bytes ?
			       m->offset / 8 : -1;
	return -1;
}

/* The member itself; @base is where the struct begins. */
static inline void *block_at(const struct replay *r, void *base, const char *type,
			     const char *member, size_t bytes)
{
	long at = member_at(bpf_object__btf(r->object), type, member, bytes);

	if (at < 0) {
		fprintf(stderr, "%s: %s has no %s of %zu bytes\n",
			r->core->name, type, member, bytes);
		exit(1);
	}
	return (char *)base + at;
}

static inline void find_blocks(struct replay *r)
{
	const struct btf *btf = bpf_object__btf(r->object);
	void *map = r->event, *flow;

	flow = block_at(r, map, "quell_replay", "flow",
			btf__resolve_size(btf, btf__find_by_name_kind(btf, "quell_bpf_flow",
								      BTF_KIND_STRUCT)));
	r->params = block_at(r, map, "quell_replay", "params", r->core->params_bytes);
	r->stats = block_at(r, map, "quell_replay", "stats", r->core->counters_bytes);
	r->vars = block_at(r, flow, "quell_bpf_flow", "vars", r->core->vars_bytes);
	r->undo = block_at(r, flow, "quell_bpf_flow", "undo", sizeof(struct quell_undo));
	r->sample = block_at(r, flow, "quell_bpf_flow", "sample", sizeof(*r->sample));
	r->decision = block_at(r, flow, "quell_bpf_flow", "decision", sizeof(*r->decision));
	r->view = block_at(r, flow, "quell_bpf_flow", "view", sizeof(*r->view));
	r->adapt = block_at(r, flow, "quell_bpf_flow", "adapt", sizeof(*r->adapt));
	r->tcp = block_at(r, flow, "quell_bpf_flow", "tcp", sizeof(*r->tcp));
}

/* Loads the object's program alone; its reports are in shared memory. */
static inline bool replay_open(struct replay *r, const char *path)
{
	struct bpf_program *program;
	struct bpf_map *map;
	long page_bytes = sysconf(_SC_PAGESIZE);

	r->object = bpf_object__open(path);
	if (!r->object)
		return false;
	bpf_object__for_each_program(program, r->object)
		bpf_program__set_autoload(program, !strcmp(bpf_program__name(program), "replay"));
	bpf_object__for_each_map(map, r->object)
		if (bpf_map__type(map) == BPF_MAP_TYPE_STRUCT_OPS)
			bpf_map__set_autocreate(map, false);
	if (bpf_object__load(r->object))
		return false;
	r->program_fd = bpf_program__fd(bpf_object__find_program_by_name(r->object, "replay"));
	map = bpf_object__find_map_by_name(r->object, "quell_replay");
	r->map_bytes = (bpf_map__value_size(map) + page_bytes - 1) / page_bytes * page_bytes;
	r->event = mmap(NULL, r->map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			bpf_map__fd(map), 0);
	if (r->event == MAP_FAILED)
		return false;
	find_blocks(r);
	return true;
}

static inline void replay_close(struct replay *r)
{
	if (r->event && r->event != MAP_FAILED)
		munmap(r->event, r->map_bytes);
	bpf_object__close(r->object);
}

/* Why this machine cannot run BPF programs, or NULL. */
static inline const char *excuse(void)
{
	struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, options, .prog_flags = BPF_F_SLEEPABLE);
	int fd;

	if (access("/sys/kernel/btf/vmlinux", R_OK))
		return "the kernel does not describe its types (CONFIG_DEBUG_INFO_BTF)";
	fd = bpf_prog_load(BPF_PROG_TYPE_SYSCALL, "excuse", "GPL", insns, 2, &options);
	if (fd < 0)
		return errno == EPERM ? "this user may not load BPF programs" :
					"the kernel loads no BPF program of type syscall";
	close(fd);
	return NULL;
}

#endif /* _QUELL_SELFTESTS_BPF_OBJECT_H */

// SPDX-License-Identifier: GPL-2.0
/*
 * State of the code of an algorithm, as its struct_ops maps have it: one for each generation of
 * code that is still in use, all with the name of the congestion control.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include <quell/bpf.h>

#include "bpf_parts.h"

static const uint32_t the_entry;

/* The beginning of such a map's value, in all kernels that have them. */
struct ops_value {
	uint32_t	refcnt;
	uint32_t	state;
};

/* The map's count: a reference of the registration, and one of each user. */
static uint64_t references(int fd, const struct bpf_map_info *info)
{
	struct ops_value *value = calloc(1, info->value_size);
	uint64_t refs = 0;

	if (value && info->value_size >= sizeof(*value) &&
	    !bpf_map_lookup_elem(fd, &the_entry, value))
		refs = value->refcnt;
	free(value);
	return refs;
}

/* The text of a tag that the object has among its types. */
static void read_version(char *version, uint32_t btf_id)
{
	struct btf *btf = btf__load_from_kernel_by_id(btf_id);
	uint32_t i, n = libbpf_get_error(btf) ? 0 : btf__type_cnt(btf);

	for (i = 1; i < n; i++) {
		const struct btf_type *type = btf__type_by_id(btf, i);
		const char *tag = btf__name_by_offset(btf, type->name_off);

		if (btf_kind(type) != BTF_KIND_DECL_TAG ||
		    strncmp(tag, QUELL_BPF_VERSION_TAG, strlen(QUELL_BPF_VERSION_TAG)))
			continue;
		snprintf(version, BPF_VERSION_LEN, "%s", tag + strlen(QUELL_BPF_VERSION_TAG));
		break;
	}
	if (n)
		btf__free(btf);
}

static void add(struct bpf_state *state, const char *name, uint32_t id, uint32_t map_id)
{
	struct bpf_map_info info = {};
	uint32_t len = sizeof(info);
	int fd = bpf_map_get_fd_by_id(id);
	uint64_t refs;

	/* It may have gone since its number was read. */
	if (fd < 0)
		return;
	if (!bpf_obj_get_info_by_fd(fd, &info, &len) && info.type == BPF_MAP_TYPE_STRUCT_OPS &&
	    !strcmp(info.name, name)) {
		refs = references(fd, &info);
		if (id == map_id) {
			state->users = refs ? refs - 1 : 0;
			read_version(state->version, info.btf_id);
		} else {
			state->old_users += refs;
		}
	}
	close(fd);
}

/*
 * Request the state of the code of a congestion control; @map_id is that of the code in force, or
 * 0. The numbers are those of a moment, and approximate: the kernel does not stop for them. Returns
 * 0, or -1 with errno: EPERM without CAP_SYS_ADMIN.
 */
int bpf_state_read(struct bpf_state *state, const char *name, uint32_t map_id)
{
	uint32_t id = 0;

	*state = (struct bpf_state){};
	while (!bpf_map_get_next_id(id, &id))
		add(state, name, id, map_id);
	return errno == ENOENT ? 0 : -1;
}

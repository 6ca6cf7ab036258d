// SPDX-License-Identifier: GPL-2.0
/*
 * The layout of a block, as its BTF has it, against an algorithm's tables.
 */
#include <stdio.h>
#include <string.h>

#include <bpf/btf.h>

#include "bpf_parts.h"

/* Room for the longest path of a member, "vaisf.token_threshold_bytes" or the like. */
#define PATH_ROOM	128

/* The member of a struct that has the byte at *@offset, which is counted from it afterwards. */
static const struct btf_member *member_at(const struct btf *btf, const struct btf_type *type,
					  uint32_t *offset)
{
	const struct btf_member *member = btf_members(type);
	uint32_t first;
	int64_t size;
	int i;

	for (i = 0; i < btf_vlen(type); i++, member++) {
		first = btf_member_bit_offset(type, i) / 8;
		size = btf__resolve_size(btf, member->type);
		if (size > 0 && *offset >= first && *offset - first < size) {
			*offset -= first;
			return member;
		}
	}
	return NULL;
}

/* Whether a path is of this field, or of it in an outer struct: rows are shared with those. */
static bool ends_with(const char *path, const char *field)
{
	size_t more = strlen(path) - strlen(field);

	return strlen(path) >= strlen(field) && !strcmp(path + more, field) &&
	       (!more || path[more - 1] == '.');
}

/* Whether at the byte begins a u64 of this name, "outer.inner" if it is in a struct inside. */
static bool has_field(const struct btf *btf, uint32_t type_id, uint32_t offset, const char *field)
{
	const struct btf_member *member;
	const struct btf_type *type;
	char path[PATH_ROOM] = "";
	size_t len;

	for (;;) {
		type = btf__type_by_id(btf, btf__resolve_type(btf, type_id));
		if (!type || !btf_is_struct(type))
			break;
		member = member_at(btf, type, &offset);
		if (!member)
			return false;
		len = strlen(path);
		snprintf(path + len, sizeof(path) - len, "%s%s", len ? "." : "",
			 btf__name_by_offset(btf, member->name_off));
		type_id = member->type;
	}
	return !offset && btf__resolve_size(btf, type_id) == sizeof(uint64_t) &&
	       ends_with(path, field);
}

/*
 * Whether a block has the parameters of an algorithm in their places, by the types @btf of its
 * object or map.
 */
bool bpf_has_params(const struct btf *btf, uint32_t type_id, const struct quell_core *core)
{
	uint32_t i;

	for (i = 0; i < core->params_nr; i++)
		if (!has_field(btf, type_id, core->params[i].offset, core->params[i].field))
			return false;
	return btf__resolve_size(btf, type_id) == core->params_bytes;
}

/* The same for its counters. */
bool bpf_has_counters(const struct btf *btf, uint32_t type_id, const struct quell_core *core)
{
	uint32_t i;

	for (i = 0; i < core->counters_nr; i++)
		if (!has_field(btf, type_id, core->counters[i].offset, core->counters[i].field))
			return false;
	return btf__resolve_size(btf, type_id) == core->counters_bytes;
}

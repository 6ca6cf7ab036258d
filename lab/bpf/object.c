// SPDX-License-Identifier: GPL-2.0
/*
 * Reading an object file: libbpf finds programs and maps, by their types.
 *
 * libbpf before 1.2 does not know the section ".struct_ops.link", and later ones register the
 * in it by a link, which goes with its process.  Here a registration is to stay, so both sections
 * are made one: the name is cut in the copy that libbpf reads.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gelf.h>

#include "object.h"

#define OPS_TYPE	"tcp_congestion_ops"
#define OPS_SECTION	".struct_ops"
#define LINK_SECTION	OPS_SECTION ".link"
#define MESSAGE_LINES	20

static char *messages;
static size_t messages_len;

static int collect(enum libbpf_print_level level, const char *fmt, va_list args)
{
	char *text, *grown;
	int len;

	if (level != LIBBPF_WARN)
		return 0;
	len = vasprintf(&text, fmt, args);
	if (len < 0)
		return 0;
	grown = realloc(messages, messages_len + len + 1);
	if (grown) {
		messages = grown;
		memcpy(messages + messages_len, text, len + 1);
		messages_len += len;
	}
	free(text);
	return len;
}

/* The last lines state the reason; the first of a verifier's log are thousands. */
static void print_messages(void)
{
	const char *at = messages + messages_len;
	int lines = 0;

	while (at > messages && lines <= MESSAGE_LINES)
		if (*--at == '\n' && ++lines > MESSAGE_LINES)
			at++;
	for (; at < messages + messages_len; at += strcspn(at, "\n") + 1)
		fprintf(stderr, "  %.*s\n", (int)strcspn(at, "\n"), at);
}

/**
 * die() - end the program with a message and the last that libbpf said
 * @fmt: as for printf()
 */
void die(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	if (messages_len)
		print_messages();
	exit(1);
}

/**
 * grow() - make room for one more element
 * @array: NULL if it has no array
 * @count: elements that there are
 * @size: of an element
 *
 * Return: the array, perhaps elsewhere.
 */
void *grow(void *array, size_t count, size_t size)
{
	array = realloc(array, (count + 1) * size);
	if (!array)
		die("out of memory");
	return array;
}

static void read_file(struct object *object)
{
	int fd = open(object->path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	ssize_t len;

	if (fd < 0 || fstat(fd, &status))
		die("cannot read %s: %s", object->path, strerror(errno));
	object->text_bytes = status.st_size;
	object->text = malloc(object->text_bytes + 1);
	if (!object->text)
		die("out of memory");
	len = read(fd, object->text, object->text_bytes);
	if (len != (ssize_t)object->text_bytes)
		die("cannot read %s: %s", object->path, strerror(len < 0 ? errno : EISDIR));
	close(fd);
	if (object->text_bytes < SELFMAG || memcmp(object->text, ELFMAG, SELFMAG))
		die("%s is not an object file", object->path);
}

/* As long as before: one zero more, which ends the shorter name. */
static void cut_link_sections(struct object *object)
{
	char *at = object->text, *end = at + object->text_bytes;

	while ((at = memmem(at, end - at, LINK_SECTION, sizeof(LINK_SECTION)))) {
		at += strlen(OPS_SECTION);
		*at = '\0';
	}
}

/* Contents of a section; NULL if no section has that name. */
static const char *section(const struct object *object, const char *name, size_t *bytes)
{
	const char *found = NULL;
	Elf_Scn *scn = NULL;
	GElf_Shdr header;
	size_t names;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_memory(object->text, object->text_bytes);
	if (!elf || elf_getshdrstrndx(elf, &names))
		die("%s is not an object file: %s", object->path, elf_errmsg(-1));
	while (!found && (scn = elf_nextscn(elf, scn))) {
		const char *got = gelf_getshdr(scn, &header) ?
				  elf_strptr(elf, names, header.sh_name) : NULL;

		if (!got || strcmp(got, name) || header.sh_type != SHT_PROGBITS ||
		    header.sh_offset > object->text_bytes ||
		    header.sh_size > object->text_bytes - header.sh_offset)
			continue;
		found = object->text + header.sh_offset;
		*bytes = header.sh_size;
	}
	elf_end(elf);
	return found;
}

/* Offset of the member "name", bytes; -1 without it. */
static int name_offset(const struct btf *btf, const struct btf_type *type)
{
	const struct btf_member *member = btf_members(type);
	int i;

	for (i = 0; i < btf_vlen(type); i++)
		if (!strcmp(btf__name_by_offset(btf, member[i].name_off), "name"))
			return btf_member_bit_offset(type, i) / 8;
	return -1;
}

static void add_ops(struct object *object, const struct btf_var_secinfo *var, const char *data,
		    size_t bytes)
{
	const struct btf *btf = bpf_object__btf(object->bpf);
	const struct btf_type *type = btf__type_by_id(btf, var->type);
	const char *map = btf__name_by_offset(btf, type->name_off);
	int id = btf__resolve_type(btf, type->type), offset;
	struct ops *ops;

	type = btf__type_by_id(btf, id);
	if (strcmp(btf__name_by_offset(btf, type->name_off), OPS_TYPE))
		return;
	offset = name_offset(btf, type);
	if (offset < 0 || var->offset + offset + CC_NAME_BYTES > bytes)
		die("%s: %s has no name", object->path, map);
	object->ops = grow(object->ops, object->ops_nr, sizeof(*object->ops));
	ops = &object->ops[object->ops_nr++];
	ops->map = map;
	snprintf(ops->name, sizeof(ops->name), "%s", data + var->offset + offset);
}

static void find_ops(struct object *object)
{
	const struct btf *btf = bpf_object__btf(object->bpf);
	int id = btf__find_by_name_kind(btf, OPS_SECTION, BTF_KIND_DATASEC), i;
	const struct btf_type *type;
	const char *data;
	size_t bytes;

	data = id > 0 ? section(object, OPS_SECTION, &bytes) : NULL;
	if (data) {
		type = btf__type_by_id(btf, id);
		for (i = 0; i < btf_vlen(type); i++)
			add_ops(object, &btf_var_secinfos(type)[i], data, bytes);
	}
	if (!object->ops_nr)
		die("%s has no struct " OPS_TYPE " in a section " OPS_SECTION, object->path);
}

static void add_global(struct object *object, struct bpf_map *map,
		       const struct btf_var_secinfo *info)
{
	const struct btf *btf = bpf_object__btf(object->bpf);
	const struct btf_type *var = btf__type_by_id(btf, info->type), *type;
	bool is_number;

	if (!btf_is_var(var) || btf_var(var)->linkage != BTF_VAR_GLOBAL_ALLOCATED)
		return;
	type = btf__type_by_id(btf, btf__resolve_type(btf, var->type));
	is_number = btf_is_int(type) || btf_is_enum(type);
	if (!is_number || type->size > sizeof(uint64_t))
		return;
	object->globals = grow(object->globals, object->globals_nr, sizeof(*object->globals));
	object->globals[object->globals_nr++] = (struct global){
		.name = btf__name_by_offset(btf, var->name_off),
		.map = map,
		.offset = info->offset,
		.bytes = type->size,
		.is_signed = btf_is_int(type) && btf_int_encoding(type) & BTF_INT_SIGNED,
	};
}

static bool is_data(const char *name)
{
	return !strncmp(name, ".rodata", 7) || !strncmp(name, ".data", 5) ||
	       !strncmp(name, ".bss", 4);
}

static void find_globals(struct object *object)
{
	const struct btf *btf = bpf_object__btf(object->bpf);
	const struct btf_type *type;
	struct bpf_map *map;
	uint32_t id;
	int i;

	for (id = 1; id < btf__type_cnt(btf); id++) {
		type = btf__type_by_id(btf, id);
		if (!btf_is_datasec(type) || !is_data(btf__name_by_offset(btf, type->name_off)))
			continue;
		map = bpf_object__find_map_by_name(object->bpf,
						   btf__name_by_offset(btf, type->name_off));
		for (i = 0; map && i < btf_vlen(type); i++)
			add_global(object, map, &btf_var_secinfos(type)[i]);
	}
}

/**
 * object_open() - read an object file; an error in it ends the program
 * @object: filled in
 * @path: of the file
 */
void object_open(struct object *object, const char *path)
{
	LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = basename(path));

	*object = (struct object){ .path = path };
	libbpf_set_print(collect);
	read_file(object);
	cut_link_sections(object);
	object->bpf = bpf_object__open_mem(object->text, object->text_bytes, &options);
	if (libbpf_get_error(object->bpf))
		die("cannot read %s: %s", path, strerror(errno));
	if (!bpf_object__btf(object->bpf))
		die("%s has no types: compile it with -g", path);
	find_ops(object);
	find_globals(object);
}

/**
 * global_at() - where a variable is, before the object is loaded
 * @global: the variable
 *
 * Return: its bytes.
 */
void *global_at(const struct global *global)
{
	size_t bytes;
	char *value = (char *)bpf_map__initial_value(global->map, &bytes);

	if (!value || global->offset + global->bytes > bytes)
		die("%s is out of its section", global->name);
	return value + global->offset;
}

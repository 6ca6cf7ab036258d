// SPDX-License-Identifier: GPL-2.0
/*
 * lab-bpf - algorithms as BPF objects, for the laboratory
 *
 *	lab-bpf describe FILE			on the host, as JSON: congestion controls and
 *						the parameters; loads no program
 *	lab-bpf load FILE MAP [NAME=VALUE]...	in the guest: load it, register MAP, end
 *	lab-bpf speak OPTION FILE MAP [NAME=VALUE]...	the same, with hosts that speak the Quell
 *						option by the program of OPTION
 *
 * Values are numbers.  In an object of Quell's own they are those of the core's table, in base
 * units, else those of global variables.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <quell/bpf.h>
#include <quell/core/cores.h>

#include "bpf_parts.h"
#include "object.h"
#include "option.h"

#define JIT_SYSCTL	"/proc/sys/net/core/bpf_jit_enable"

static const struct ops *ops_find(const struct object *object, const char *map)
{
	size_t i;

	for (i = 0; i < object->ops_nr; i++)
		if (!strcmp(object->ops[i].map, map))
			return &object->ops[i];
	die("%s has no %s", object->path, map);
}

/* The core that a congestion control is made of, if it is one of ours. */
static const struct quell_core *core_of(const struct object *object, const struct ops *ops)
{
	struct bpf_map *params = bpf_object__find_map_by_name(object->bpf, QUELL_BPF_PARAMS_MAP);
	const size_t prefix = strlen(QUELL_BPF_PREFIX);
	const struct quell_core *core;

	if (!params || strncmp(ops->name, QUELL_BPF_PREFIX, prefix))
		return NULL;
	core = quell_core_find(ops->name + prefix);
	if (core && !bpf_has_params(bpf_object__btf(object->bpf),
				    bpf_map__btf_value_type_id(params), core))
		die("%s is of another version than the laboratory: its parameters differ",
		    object->path);
	return core;
}

static void print_value(const struct global *global)
{
	uint64_t value = 0;
	int shift = 64 - 8 * global->bytes;

	memcpy(&value, global_at(global), global->bytes);
	if (global->is_signed)
		printf("%" PRId64, (int64_t)(value << shift) >> shift);
	else
		printf("%" PRIu64, value);
}

static void describe(const struct object *object)
{
	size_t i;

	printf("{\"ops\": [");
	for (i = 0; i < object->ops_nr; i++) {
		const struct quell_core *core = core_of(object, &object->ops[i]);

		printf("%s{\"map\": \"%s\", \"name\": \"%s\", \"core\": %s%s%s, \"offers\": %s}",
		       i ? ", " : "", object->ops[i].map, object->ops[i].name, core ? "\"" : "",
		       core ? core->name : "null", core ? "\"" : "",
		       core && core->flags & QUELL_CORE_OFFERS ? "true" : "false");
	}
	printf("], \"globals\": {");
	for (i = 0; i < object->globals_nr; i++) {
		const struct global *global = &object->globals[i];

		printf("%s\"%s\": {\"bytes\": %u, \"signed\": %s, \"value\": ", i ? ", " : "",
		       global->name, global->bytes, global->is_signed ? "true" : "false");
		print_value(global);
		printf("}");
	}
	printf("}}\n");
}

/* The value of NAME=VALUE, and the end of NAME. */
static uint64_t value_of(const char *word, size_t *len)
{
	const char *text = strchr(word, '=');
	char *end;
	uint64_t value;

	if (!text)
		die("'%s' is not NAME=VALUE", word);
	*len = text - word;
	errno = 0;
	/* Of a negative number this is its two's complement. */
	value = strtoull(text + 1, &end, 10);
	if (errno || *end || end == text + 1)
		die("'%s': not a number", word);
	return value;
}

static bool is_word(const char *name, const char *word, size_t len)
{
	return strlen(name) == len && !memcmp(name, word, len);
}

static void set_global(const struct object *object, const char *word)
{
	size_t len, i;
	uint64_t value = value_of(word, &len);

	for (i = 0; i < object->globals_nr; i++) {
		if (!is_word(object->globals[i].name, word, len))
			continue;
		memcpy(global_at(&object->globals[i]), &value, object->globals[i].bytes);
		return;
	}
	die("%s has no variable for '%s'", object->path, word);
}

static void set_param(const struct quell_core *core, void *block, const char *word)
{
	size_t len;
	uint64_t value = value_of(word, &len);
	uint32_t i;

	for (i = 0; i < core->params_nr; i++) {
		if (!is_word(core->params[i].name, word, len))
			continue;
		*quell_core_param(block, &core->params[i]) = value;
		return;
	}
	die("%s has no parameter for '%s'", core->name, word);
}

static void write_params(const struct object *object, const struct quell_core *core,
			 char **words)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object->bpf, QUELL_BPF_PARAMS_MAP);
	void *block = malloc(core->params_bytes);
	const uint32_t key = 0;

	if (!block)
		die("out of memory");
	quell_core_params_default(core, block);
	for (; *words; words++)
		set_param(core, block, *words);
	if (core->params_derive)
		core->params_derive(block);
	if (bpf_map_update_elem(bpf_map__fd(map), &key, block, BPF_ANY))
		die("cannot write the parameters of %s: %s", object->path, strerror(errno));
	free(block);
}

/* struct_ops are called by code that only the compiler makes. */
static void enable_jit(void)
{
	int fd = open(JIT_SYSCTL, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, "1", 1) != 1)
		die("this kernel of the laboratory runs no BPF: %s: %s", JIT_SYSCTL,
		    strerror(errno));
	close(fd);
}

/* Programs of other kinds, of a test's for example, are ignored. */
static void leave_others(const struct object *object)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, object->bpf)
		if (bpf_program__type(program) != BPF_PROG_TYPE_STRUCT_OPS)
			bpf_program__set_autoload(program, false);
}

/* With @option, the file of option.bpf.c's object, all hosts speak the option. */
static void load(const struct object *object, const char *option, const char *map, char **words)
{
	const struct ops *ops = ops_find(object, map);
	const struct quell_core *core = core_of(object, ops);
	struct bpf_link *link;
	int err;

	enable_jit();
	leave_others(object);
	if (option)
		option_enable(option, object->bpf);
	for (; !core && *words; words++)
		set_global(object, *words);
	err = bpf_object__load(object->bpf);
	/* The verifier refuses with this. */
	if (err == -EACCES || err == -EINVAL)
		die("the kernel refuses %s: %s", ops->name, strerror(-err));
	if (err)
		die("the kernel does not load %s: %s", ops->name, strerror(-err));
	if (core)
		write_params(object, core, words);
	link = bpf_map__attach_struct_ops(bpf_object__find_map_by_name(object->bpf, map));
	err = libbpf_get_error(link);
	if (err)
		die("the kernel does not register %s: %s", ops->name, strerror(-err));
	/* A registration outlives this process. */
	bpf_link__disconnect(link);
	bpf_link__destroy(link);
}

int main(int argc, char **argv)
{
	struct object object;

	if (argc == 3 && !strcmp(argv[1], "describe")) {
		object_open(&object, argv[2]);
		describe(&object);
	} else if (argc >= 4 && !strcmp(argv[1], "load")) {
		object_open(&object, argv[2]);
		load(&object, NULL, argv[3], argv + 4);
	} else if (argc >= 5 && !strcmp(argv[1], "speak")) {
		object_open(&object, argv[3]);
		load(&object, argv[2], argv[4], argv + 5);
	} else {
		fprintf(stderr, "usage: lab-bpf describe FILE | load FILE MAP [NAME=VALUE]... |\n"
			"       speak OPTION FILE MAP [NAME=VALUE]...\n");
		return 2;
	}
	return 0;
}

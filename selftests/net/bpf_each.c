// SPDX-License-Identifier: GPL-2.0
/*
 * Loads each struct_ops of an object by itself, not registered, and prints the kernel's
 * verdict.
 *
 *	bpf_each FILE
 *
 * Programs of the struct_ops NAME are named NAME_..., those of all any_....  A line for each:
 * "NAME accepted", or "NAME refused: " with the verifier's message, and the error.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>

#define LOG_BYTES	(1 << 16)

static char log_text[LOG_BYTES];

static bool is_struct_ops(const struct bpf_map *map)
{
	return bpf_map__type(map) == BPF_MAP_TYPE_STRUCT_OPS;
}

/* Only programs of @name; the log is that of its own programs, of which one is at fault. */
static void choose(struct bpf_object *object, const char *name)
{
	struct bpf_program *program;
	struct bpf_map *map;
	char prefix[64];

	snprintf(prefix, sizeof(prefix), "%s_", name);
	bpf_object__for_each_map(map, object)
		if (is_struct_ops(map))
			bpf_map__set_autocreate(map, !strcmp(bpf_map__name(map), name));
	bpf_object__for_each_program(program, object) {
		const char *of = bpf_program__name(program);
		bool own = !strncmp(of, prefix, strlen(prefix));

		bpf_program__set_autoload(program, own || !strncmp(of, "any_", strlen("any_")));
		if (own)
			bpf_program__set_log_buf(program, log_text, sizeof(log_text));
	}
}

/* Lines of the log that say no; newer kernels add advice. */
static void print_reason(void)
{
	static const char * const words[] = {
		"cannot", "not allow", "no write", "not support", "unknown", NULL
	};
	char *line, *save = NULL;
	size_t i;

	for (line = strtok_r(log_text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		for (i = 0; words[i]; i++)
			if (strstr(line, words[i])) {
				printf(" %s;", line);
				break;
			}
}

static void load(const char *path, const char *name)
{
	struct bpf_object *object = bpf_object__open(path);
	int err;

	log_text[0] = '\0';
	choose(object, name);
	err = bpf_object__load(object);
	printf("%s %s", name, err ? "refused:" : "accepted");
	if (err) {
		print_reason();
		printf(" %d", err);
	}
	printf("\n");
	bpf_object__close(object);
}

int main(int argc, char **argv)
{
	struct bpf_object *object;
	struct bpf_map *map;

	libbpf_set_print(NULL);
	object = argc == 2 ? bpf_object__open(argv[1]) : NULL;
	if (!object) {
		fprintf(stderr, "usage: bpf_each FILE\n");
		return 2;
	}
	bpf_object__for_each_map(map, object)
		if (is_struct_ops(map))
			load(argv[1], bpf_map__name(map));
	bpf_object__close(object);
	return 0;
}

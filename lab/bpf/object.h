/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An object file with BPF programs: its congestion controls and parameters.
 */
#ifndef QUELL_LAB_BPF_OBJECT_H
#define QUELL_LAB_BPF_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#define CC_NAME_BYTES	16	/* TCP_CA_NAME_MAX */

/**
 * struct ops - one struct tcp_congestion_ops of an object
 * @map: the variable, which is the name of its map
 * @name: its member name
 */
struct ops {
	const char	*map;
	char		name[CC_NAME_BYTES];
};

/**
 * struct global - a global variable of a program that holds a number
 * @name: its name
 * @map: libbpf's, of the section that it is in
 * @offset: in the value of that map, bytes
 * @bytes: 1, 2, 4 or 8
 * @is_signed: of a signed type
 */
struct global {
	const char		*name;
	struct bpf_map		*map;
	uint32_t		offset;
	uint32_t		bytes;
	bool			is_signed;
};

/**
 * struct object - an object file, opened
 * @path: of the file
 * @text: its content
 * @text_bytes: length of that
 * @bpf: libbpf's handle
 * @ops: its congestion controls
 * @ops_nr: number of them
 * @globals: its variables
 * @globals_nr: number of them
 */
struct object {
	const char		*path;
	char			*text;
	size_t			text_bytes;
	struct bpf_object	*bpf;
	struct ops		*ops;
	size_t			ops_nr;
	struct global		*globals;
	size_t			globals_nr;
};

/* An error ends the program, with libbpf's messages. */
__attribute__((noreturn, format(printf, 1, 2)))
void die(const char *fmt, ...);
void *grow(void *array, size_t count, size_t size);

void object_open(struct object *object, const char *path);
void *global_at(const struct global *global);

#endif /* QUELL_LAB_BPF_OBJECT_H */

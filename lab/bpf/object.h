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

/* One struct tcp_congestion_ops of an object. */
struct ops {
	const char	*map;	/* the variable, which is the name of its map */
	char		name[CC_NAME_BYTES];	/* its member name */
};

/* A global variable of a program that holds a number. */
struct global {
	const char		*name;	/* its name */
	struct bpf_map		*map;	/* libbpf's, of the section that it is in */
	uint32_t		offset;	/* in the value of that map, bytes */
	uint32_t		bytes;	/* 1, 2, 4 or 8 */
	bool			is_signed;	/* of a signed type */
};

/* An object file, opened. */
struct object {
	const char		*path;	/* of the file */
	char			*text;	/* its content */
	size_t			text_bytes;	/* length of that */
	struct bpf_object	*bpf;	/* libbpf's handle */
	struct ops		*ops;	/* its congestion controls */
	size_t			ops_nr;	/* number of them */
	struct global		*globals;	/* its variables */
	size_t			globals_nr;	/* number of them */
};

/* An error ends the program, with libbpf's messages. */
__attribute__((noreturn, format(printf, 1, 2)))
void die(const char *fmt, ...);
void *grow(void *array, size_t count, size_t size);

void object_open(struct object *object, const char *path);
void *global_at(const struct global *global);

#endif /* QUELL_LAB_BPF_OBJECT_H */

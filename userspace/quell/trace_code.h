/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tracer's BPF object in libbpf's hands.
 */
#ifndef QUELL_CLI_TRACE_CODE_H
#define QUELL_CLI_TRACE_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "trace_args.h"

#define TRACE_LINKS_MAX	8

struct bpf_object;
struct bpf_link;
struct ring_buffer;

/* The tracer, opened or attached. */
struct trace_code {
	struct bpf_object	*object;			/* libbpf's handle */
	/* attachments; not pinned, so all go with this process */
	struct bpf_link		*links[TRACE_LINKS_MAX];
	size_t			n_links;
	struct ring_buffer	*ring;				/* the records */
};

/* Called for each record; a result other than 0 ends the round. */
typedef int trace_take(void *data, void *record, size_t bytes);

int trace_code_open(struct trace_code *code, const struct trace_args *words);
int trace_code_attach(struct trace_code *code, trace_take *take, void *data);
void trace_code_detach(struct trace_code *code);
uint64_t trace_code_drops(const struct trace_code *code);
uint64_t trace_code_misses(const struct trace_code *code);
void trace_code_close(struct trace_code *code);

#endif /* QUELL_CLI_TRACE_CODE_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parts of "quell trace": the command line, the tracer's BPF object, the table that is written.
 */
#ifndef QUELL_CLI_TRACE_PARTS_H
#define QUELL_CLI_TRACE_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <quell/trace.h>

struct bpf_link;
struct bpf_object;
struct ring_buffer;

struct trace_args {
	struct quell_trace_config	config;	/* which flows; without the network namespace */
	/* those of all network namespaces */
	bool				any_netns;
	uint64_t			count;	/* end after so many records; 0: never */
	uint64_t			for_ns;	/* end after so long; 0: never */
	/* room for records that wait to be written */
	uint64_t			buffer_bytes;
	/* directory of the BPF object; NULL for the usual one */
	const char			*dir;
	/* file for the records; NULL for standard output */
	const char			*output;
};

int trace_args_parse(struct trace_args *words, int argc, char **argv);

#define TRACE_LINKS_MAX	8


/* The tracer, opened or attached. */
struct trace_code {
	struct bpf_object	*object;	/* libbpf's handle */
	/* attachments; not pinned, so all go with this process */
	struct bpf_link		*links[TRACE_LINKS_MAX];
	size_t			n_links;
	struct ring_buffer	*ring;		/* the records */
};

/* Called for each record; a result other than 0 ends the round. */
typedef int trace_take(void *data, void *record, size_t bytes);

int trace_code_open(struct trace_code *code, const struct trace_args *words);
int trace_code_attach(struct trace_code *code, trace_take *take, void *data);
void trace_code_detach(struct trace_code *code);
uint64_t trace_code_drops(const struct trace_code *code);
uint64_t trace_code_misses(const struct trace_code *code);
void trace_code_close(struct trace_code *code);

/* trace_csv.c */
void trace_csv_header(FILE *file);
void trace_csv_row(FILE *file, const struct quell_trace_record *record);

#endif /* QUELL_CLI_TRACE_PARTS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The command line of "quell trace".
 */
#ifndef QUELL_CLI_TRACE_ARGS_H
#define QUELL_CLI_TRACE_ARGS_H

#include <stdbool.h>
#include <stdint.h>

#include <quell/trace.h>

/* Flows to trace, for how long, and the output. */
struct trace_args {
	/* which flows; without the network namespace */
	struct quell_trace_config	config;
	bool				any_netns;	/* those of all network namespaces */
	uint64_t			count;		/* end after so many records; 0: never */
	uint64_t			for_ns;		/* end after so long; 0: never */
	/* room for records that wait to be written */
	uint64_t			buffer_bytes;
	/* directory of the BPF object; NULL for the usual one */
	const char			*dir;
	/* file for the records; NULL for standard output */
	const char			*output;
	const char			*plot;		/* file for the plot; NULL: no plot */
};

int trace_args_parse(struct trace_args *words, int argc, char **argv);

#endif /* QUELL_CLI_TRACE_ARGS_H */

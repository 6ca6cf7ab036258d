/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The command line of "quell trace".
 */
#ifndef QUELL_CLI_TRACE_ARGS_H
#define QUELL_CLI_TRACE_ARGS_H

#include <stdbool.h>
#include <stdint.h>

#include <quell/trace.h>

/**
 * struct trace_args - flows to trace, for how long, and the output
 * @config: which flows; without the network namespace
 * @any_netns: those of all network namespaces
 * @count: end after so many records; 0: never
 * @for_ns: end after so long; 0: never
 * @buffer_bytes: room for records that wait to be written
 * @dir: directory of the BPF object; NULL for the usual one
 * @output: file for the records; NULL for standard output
 * @plot: file for the plot; NULL: no plot
 */
struct trace_args {
	struct quell_trace_config	config;
	bool				any_netns;
	uint64_t			count;
	uint64_t			for_ns;
	uint64_t			buffer_bytes;
	const char			*dir;
	const char			*output;
	const char			*plot;
};

int trace_args_parse(struct trace_args *words, int argc, char **argv);

#endif /* QUELL_CLI_TRACE_ARGS_H */

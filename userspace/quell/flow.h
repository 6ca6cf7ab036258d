/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parts of "quell flow": which flows, in which order, and how they are printed.
 */
#ifndef QUELL_CLI_FLOW_H
#define QUELL_CLI_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <net/if.h>
#include <quell/trace.h>

#include "model.h"
#include "out.h"

/* A full IPv6 address, a scope, brackets, a port. */
#define FLOW_ADDRESS_LEN	(INET6_ADDRSTRLEN + IF_NAMESIZE + 10)

/* Pacing rate of a flow that is not paced. */
#define RATE_UNLIMITED		UINT64_MAX

/* Columns of a terminal that is narrower, or of unknown width. */
#define FLOW_COLUMNS		80

/* As a filter, a governor that is the flow's own algorithm. */
#define FLOW_BY_ALGORITHM	"algorithm"

/* The position of the key in the table, or -1 for the kernel's order; smallest first. */
struct flow_order {
	int	sort;
	bool	ascending;
};

struct flow_args {
	const char			*cc;		/* algorithm, or NULL for all */
	struct quell_trace_prefix	src;		/* local addresses */
	struct quell_trace_prefix	dst;		/* remote addresses */
	uint16_t			sport;		/* local port, 0 for all */
	uint16_t			dport;		/* remote port, 0 for all */
	uint32_t			ifindex;	/* interface, 0 for all */
	uint8_t				state;		/* state of the connection, 0 for all */
	/* governor or reason for CUBIC, NULL for all */
	const char			*by;
	/* a line for each algorithm and remote network */
	bool				summary;
	/* length of its prefix, 0 for the default of the address family */
	uint8_t				prefix_bits;
	struct flow_order		order;		/* of the flows */
	bool				brief;		/* flows without their counters */
	bool				no_color;	/* of "flow watch" */
	uint64_t			interval_ns;	/* of "flow watch" */
};

/* flow_args.c */
int flow_args_parse(struct flow_args *words, bool watch, int argc, char **argv);
bool flow_matches(const struct flow_args *words, const struct flow *f);
void flow_sort(const struct flow_args *words, struct flow_list *list);
const char *flow_sort_name(int sort);

/* flow_summary.c */
void flow_print_summary(struct out *o, const struct flow_args *words, struct flow_list *list);

/* flow_detail.c */
void flow_format_address(char *buf, size_t len, const struct flow *f, const uint8_t *address);
void flow_print_ends(struct out *o, const struct flow *f);
void flow_print_detail(struct out *o, const struct flow *f);

/* The longest text of a cell. */
#define FLOW_CELL_LEN	(FLOW_ADDRESS_LEN + 2)

/* Digits and unit of a time, or of a rate. */
#define FLOW_NUMBER_LEN	24

/* flow_cell.c */
double flow_percent(const struct flow *f, uint64_t ns);
const char *flow_governor(const struct flow *f);
void flow_format_time(char *cell, uint64_t ns);
void flow_format_rate(char *cell, uint64_t bytes_ps);
void flow_format_count(char *cell, uint64_t count);
void flow_format_window(char *cell, const struct flow *f);
void flow_format_peer(char *cell, const struct flow *f);
void flow_format_governor(char *cell, const struct flow *f);
void flow_format_governed(char *cell, const struct flow *f, uint64_t ns);

/* flow_line.c */
void flow_print_lines(struct out *o, const struct flow_list *list, size_t columns);

#endif /* QUELL_CLI_FLOW_H */

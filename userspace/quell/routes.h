/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Routes of the namespace and the congestion control that they have ("congctl" of ip-route(8)).
 */
#ifndef QUELL_CLI_ROUTES_H
#define QUELL_CLI_ROUTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model.h"

/* Longest name of a congestion control that the kernel has, with its terminator. */
#define ROUTE_CC_LEN	16

/* Longest text of route_format(): prefix, interface, metric, table, type of service. */
#define ROUTE_TEXT_LEN	128

/**
 * struct route - a route
 * @dst: beginning of their addresses; its length selects IPv4 or IPv6
 * @dst_bits: length of that beginning, bits
 * @tos: type of service, IPv4 only
 * @table: number of its table
 * @metric: which of several comes first
 * @ifindex: interface; 0: several, or no interface
 * @is_fixed: not to be changed: it goes by itself, a routing daemon owns it, it leads to no hosts,
 *	      or its hop is an object
 * @cc: its algorithm, or empty
 */
struct route {
	struct address	dst;
	uint8_t		dst_bits;
	uint8_t		tos;
	uint32_t	table;
	uint32_t	metric;
	uint32_t	ifindex;
	bool		is_fixed;
	char		cc[ROUTE_CC_LEN];
};

struct route_list {
	struct route	*list;
	size_t		n;
};

/**
 * struct route_words - routes, as a file names them
 * @route: the attributes given
 * @has_metric: the metric counts
 * @has_dev: the interface counts
 */
struct route_words {
	struct route	route;
	bool		has_metric;
	bool		has_dev;
};

int routes_fetch(struct route_list *list);
void routes_free(struct route_list *list);
int route_read(const char *text, struct route_words *words);
bool route_is_named(const struct route *route, const struct route_words *words);
size_t routes_of_key(const struct route_list *list, const struct route *route);
void route_format(const struct route *route, char *buf, size_t len);
int route_set_cc(const struct route *route, const char *cc, bool *changed);

#endif /* QUELL_CLI_ROUTES_H */

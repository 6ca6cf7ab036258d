/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The settings of a namespace, each as it is and as it is to be.
 */
#ifndef QUELL_CLI_PLAN_H
#define QUELL_CLI_PLAN_H

#include <net/if.h>

#include "quell.h"
#include "routes.h"
#include "settings.h"

/* Longest name of a congestion control, with its terminator, and more. */
#define PLAN_CC_LEN	32

/* Longest name of a setting in its section, with its terminator. */
#define PLAN_KEY_LEN	ROUTE_TEXT_LEN

enum plan_kind {
	PLAN_DEFAULT,	/* net.ipv4.tcp_congestion_control */
	PLAN_PARAM,	/* parameter of an algorithm */
	PLAN_RATE,	/* rate of an interface; 0: the driver's */
	PLAN_STAMPS,	/* RX hardware timestamps of a NIC */
	PLAN_WEIGHT,	/* weight of a sender */
	PLAN_GROUP,	/* look-ahead group of the calling user */
	PLAN_ROUTE,	/* algorithm of a route */
};

/**
 * struct plan_item - one setting
 * @kind: selects the fields in use
 * @line: of the file that names it; 0: no line does
 * @now: as it is
 * @want: as it is to be
 * @cc: algorithm
 * @param: its parameter
 * @dev: interface
 * @ifindex: its index
 * @address: sender
 * @can_stamp: the NIC can stamp all packets, as far as is known
 * @is_shared: the NIC's stamps are used by another program, too
 * @group_now: the group as it is, or NULL
 * @group_want: the group as it is to be, or NULL
 * @route: the route, with its algorithm as it is
 * @route_cc: its algorithm as it is to be, or empty
 */
struct plan_item {
	enum plan_kind		kind;
	unsigned int		line;
	uint64_t		now;
	uint64_t		want;
	const struct cc		*cc;
	const struct param	*param;
	char			dev[IF_NAMESIZE];
	uint32_t		ifindex;
	struct address		address;
	bool			can_stamp;
	bool			is_shared;
	const struct lookahead	*group_now;
	const struct lookahead	*group_want;
	const struct route	*route;
	const char		*route_cc;
};

/**
 * struct plan - all settings
 * @ccs: algorithms of the kernel
 * @groups: look-ahead groups of the kernel
 * @senders: senders of the kernel
 * @routes: routes of the kernel; those that have an algorithm, or are named, are settings
 * @items: first PLAN_DEFAULT, then the others by section
 * @n: number of @items
 * @cc_now: default algorithm
 * @cc_want: the same as it is to be
 * @named: groups of the file
 * @n_named: number of @named
 */
struct plan {
	struct cc_list		ccs;
	struct lookahead_list	groups;
	struct sender_list	senders;
	struct route_list	routes;
	struct plan_item	*items;
	size_t			n;
	char			cc_now[PLAN_CC_LEN];
	char			cc_want[PLAN_CC_LEN];
	struct lookahead	**named;
	size_t			n_named;
};

/* plan.c: the kernel's side */
int plan_load(struct plan *plan, struct app *app);
void plan_free(struct plan *plan);
struct plan_item *plan_add(struct plan *plan, enum plan_kind kind);
void plan_want_defaults(struct plan *plan);
bool plan_is_changed(const struct plan *plan, const struct plan_item *item);
bool plan_is_group_limit(const struct plan_item *item);
bool plan_is_default(const struct plan_item *item);
struct plan_item *plan_find_param(struct plan *plan, const char *cc, const char *name);
struct plan_item *plan_add_route(struct plan *plan, const struct route *route);
struct plan_item *plan_find_dev(struct plan *plan, enum plan_kind kind, const char *dev);

/* plan_text.c: words */
size_t plan_section(const struct plan_item *item, const char **words);
void plan_socket(const struct address *address, struct sockaddr_storage *to);
void plan_key(const struct plan_item *item, char *buf, size_t len);
void plan_value(const struct plan *plan, const struct plan_item *item, bool want, char *buf,
		size_t len);

/* plan_read.c: the file's side */
int plan_read(struct plan *plan, const struct settings *settings, const char *file);

/* plan_apply.c */
int plan_apply(struct plan *plan, struct app *app);

#endif /* QUELL_CLI_PLAN_H */

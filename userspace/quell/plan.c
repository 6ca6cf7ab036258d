// SPDX-License-Identifier: GPL-2.0
/*
 * The settings of a namespace as the kernel has them, for save, restore and sync.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/net_tstamp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attr.h"
#include "bpf_sysctl.h"
#include "doctor.h"
#include "plan.h"
#include "stamps.h"

#define WEIGHT_DEFAULT	1

static int no_memory(void)
{
	complain("%s", strerror(ENOMEM));
	return STATUS_KERNEL;
}

/**
 * plan_add() - add a setting
 * @plan: the settings; items move
 * @kind: its kind
 *
 * Return: the setting, zeroed, or NULL after a complaint.
 */
struct plan_item *plan_add(struct plan *plan, enum plan_kind kind)
{
	struct plan_item *item = list_grow(&plan->items, &plan->n, sizeof(*item));

	if (item)
		item->kind = kind;
	else
		no_memory();
	return item;
}

static int load_default(struct plan *plan)
{
	if (!plan_add(plan, PLAN_DEFAULT))
		return STATUS_KERNEL;
	if (!doctor_read_line("", "/proc/sys/net/ipv4/tcp_congestion_control", plan->cc_now,
			      sizeof(plan->cc_now))) {
		complain("cannot read net.ipv4.tcp_congestion_control: %s", strerror(errno));
		return STATUS_KERNEL;
	}
	memcpy(plan->cc_want, plan->cc_now, sizeof(plan->cc_want));
	return STATUS_OK;
}

static int load_params(struct plan *plan, struct app *app)
{
	int status = cc_fetch(app, &plan->ccs);
	size_t i, j;

	for (i = 0; !status && i < plan->ccs.n; i++) {
		const struct cc *cc = &plan->ccs.list[i];

		for (j = 0; !status && j < cc->n_params; j++) {
			struct plan_item *item = plan_add(plan, PLAN_PARAM);

			if (!item)
				return STATUS_KERNEL;
			item->cc = cc;
			item->param = &cc->params[j];
			item->now = item->param->value;
		}
	}
	return status;
}

static struct plan_item *add_dev(struct plan *plan, enum plan_kind kind,
				 const struct if_nameindex *dev)
{
	struct plan_item *item = plan_add(plan, kind);

	if (item) {
		snprintf(item->dev, sizeof(item->dev), "%s", dev->if_name);
		item->ifindex = dev->if_index;
	}
	return item;
}

static int add_stamps(struct plan *plan, struct stamps_kernel *kernel,
		      const struct if_nameindex *dev)
{
	struct plan_item *item = add_dev(plan, PLAN_STAMPS, dev);
	struct stamps stamps;

	if (!item)
		return STATUS_KERNEL;
	stamps_read(kernel, dev->if_name, &stamps);
	if (stamps.config_err)
		return STATUS_OK;
	item->now = stamps.rx_filter == HWTSTAMP_FILTER_ALL;
	item->can_stamp = !stamps.rx_filters || stamps.rx_filters >> HWTSTAMP_FILTER_ALL & 1;
	item->is_shared = stamps.tx_type != HWTSTAMP_TX_OFF;
	return STATUS_OK;
}

static int add_weights(struct plan *plan, const struct if_nameindex *dev)
{
	size_t i;

	for (i = 0; i < plan->senders.n; i++) {
		const struct sender *sender = &plan->senders.list[i];
		struct plan_item *item;

		if (sender->ifindex != dev->if_index || sender->weight == WEIGHT_DEFAULT)
			continue;
		item = add_dev(plan, PLAN_WEIGHT, dev);
		if (!item)
			return STATUS_KERNEL;
		item->address = sender->address;
		item->now = sender->weight;
	}
	return STATUS_OK;
}

static int take_rate(const struct nlmsghdr *nlh, void *data)
{
	struct plan *plan = data;
	const struct nlattr *attr;
	uint32_t ifindex = 0;
	uint64_t rate = 0;
	size_t i;

	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr))
		if ((mnl_attr_get_type(attr) == QUELL_A_LINK_IFINDEX && attr_u32(attr, &ifindex)) ||
		    (mnl_attr_get_type(attr) == QUELL_A_LINK_RATE && attr_uint(attr, &rate)))
			return -EBADMSG;
	for (i = 0; i < plan->n; i++)
		if (plan->items[i].kind == PLAN_RATE && plan->items[i].ifindex == ifindex)
			plan->items[i].now = rate;
	return 0;
}

/* A dump that was interrupted begins anew. */
static void forget_rates(void *data)
{
	struct plan *plan = data;
	size_t i;

	for (i = 0; i < plan->n; i++)
		if (plan->items[i].kind == PLAN_RATE)
			plan->items[i].now = 0;
}

static int load_rates(struct plan *plan, struct app *app)
{
	char buf[NL_BUFFER_LEN] __attribute__((aligned(8)));
	struct nl_reader reader = {
		.message = take_rate, .restart = forget_rates, .data = plan,
	};
	struct nl_error err;

	if (nl_dump(&app->nl, nl_prepare(&app->nl, buf, QUELL_CMD_LINK_GET), &reader, &err))
		return complain_kernel("cannot read the rates", &err);
	return STATUS_OK;
}

static int load_devs(struct plan *plan, struct app *app)
{
	struct if_nameindex *names = if_nameindex(), *dev;
	struct stamps_kernel kernel;
	int status = STATUS_OK;

	if (!names || stamps_open(&kernel)) {
		complain("cannot list the interfaces: %s", strerror(errno));
		if_freenameindex(names);
		return STATUS_KERNEL;
	}
	for (dev = names; !status && dev->if_index; dev++) {
		if (!add_dev(plan, PLAN_RATE, dev))
			status = STATUS_KERNEL;
		if (!status)
			status = add_stamps(plan, &kernel, dev);
		if (!status)
			status = add_weights(plan, dev);
	}
	stamps_close(&kernel);
	if_freenameindex(names);
	return status ? status : load_rates(plan, app);
}

/* The groups of the calling user: no other can register those of others. */
static int load_groups(struct plan *plan)
{
	size_t i;

	for (i = 0; i < plan->groups.n; i++) {
		struct plan_item *item;

		if (plan->groups.list[i].uid != geteuid())
			continue;
		item = plan_add(plan, PLAN_GROUP);
		if (!item)
			return STATUS_KERNEL;
		item->group_now = &plan->groups.list[i];
	}
	return STATUS_OK;
}

/**
 * plan_add_route() - add the algorithm of a route
 * @plan: the settings; items move
 * @route: one of the plan's
 *
 * Return: the setting, wanted as it is, or NULL after a complaint.
 */
struct plan_item *plan_add_route(struct plan *plan, const struct route *route)
{
	struct plan_item *item = plan_add(plan, PLAN_ROUTE);

	if (item) {
		item->route = route;
		item->route_cc = route->cc;
	}
	return item;
}

/*
 * A route without an algorithm of its own is not a setting until a file names it; nor is one of
 * several with the same key, which the kernel does not replace one by one.
 */
static int load_routes(struct plan *plan)
{
	int status = routes_fetch(&plan->routes);
	size_t i;

	for (i = 0; !status && i < plan->routes.n; i++) {
		const struct route *route = &plan->routes.list[i];

		if (*route->cc && !route->is_fixed && routes_of_key(&plan->routes, route) == 1 &&
		    !plan_add_route(plan, route))
			status = STATUS_KERNEL;
	}
	return status;
}

/* The default: no change. */
static void keep_current(struct plan *plan)
{
	size_t i;

	for (i = 0; i < plan->n; i++) {
		plan->items[i].want = plan->items[i].now;
		plan->items[i].group_want = plan->items[i].group_now;
	}
}

/**
 * plan_load() - read all settings of the namespace
 * @plan: filled in, wanted as it is; the caller must free it even on failure
 * @app: connected to the kernel
 *
 * Return: an exit status; the reason of a failure has been printed.
 */
int plan_load(struct plan *plan, struct app *app)
{
	int status;

	*plan = (struct plan){};
	status = load_default(plan);
	if (!status)
		status = load_params(plan, app);
	if (!status)
		status = sender_fetch(app, &plan->senders);
	if (!status)
		status = lookahead_fetch(app, &plan->groups);
	if (!status)
		status = load_devs(plan, app);
	if (!status)
		status = load_groups(plan);
	if (!status)
		status = load_routes(plan);
	if (!status)
		keep_current(plan);
	return status;
}

/**
 * plan_free() - free a plan
 * @plan: the plan; zeroed is allowed
 */
void plan_free(struct plan *plan)
{
	size_t i;

	for (i = 0; i < plan->n_named; i++) {
		free(plan->named[i]->name);
		free(plan->named[i]->members);
		free(plan->named[i]);
	}
	free(plan->named);
	free(plan->items);
	cc_list_free(&plan->ccs);
	lookahead_list_free(&plan->groups);
	sender_list_free(&plan->senders);
	routes_free(&plan->routes);
}

/* An algorithm of Quell gives way to that of the kernel; others are not Quell's to change. */
static void want_default_cc(struct plan *plan)
{
	char available[512];

	if (!cc_lookup(&plan->ccs, plan->cc_now))
		return;
	doctor_read_line("", "/proc/sys/net/ipv4/tcp_available_congestion_control", available,
			 sizeof(available));
	strcpy(plan->cc_want, bpf_list_has(available, "cubic") ? "cubic" : "reno");
}

/**
 * plan_want_defaults() - want the defaults of all settings
 * @plan: the settings
 *
 * Stamps that another program uses stay: it has switched them on, perhaps, and needs them.  So does
 * the algorithm of a route, if it is not Quell's.
 */
void plan_want_defaults(struct plan *plan)
{
	size_t i;

	for (i = 0; i < plan->n; i++) {
		struct plan_item *item = &plan->items[i];

		if (item->kind == PLAN_PARAM)
			item->want = HAVE(item->param, QUELL_A_PARAM_DEFAULT) ? item->param->def :
										item->now;
		else if (item->kind == PLAN_STAMPS)
			item->want = item->now && item->is_shared;
		else
			item->want = item->kind == PLAN_WEIGHT ? WEIGHT_DEFAULT : 0;
		item->group_want = NULL;
		if (item->kind == PLAN_ROUTE && cc_lookup(&plan->ccs, item->route->cc) &&
		    routes_of_key(&plan->routes, item->route) == 1)
			item->route_cc = "";
	}
	want_default_cc(plan);
}

static bool has_address(const struct lookahead *group, const struct address *address)
{
	size_t i;

	for (i = 0; i < group->n_members; i++)
		if (group->members[i].len == address->len &&
		    !memcmp(group->members[i].bytes, address->bytes, address->len))
			return true;
	return false;
}

/* No address is in a group twice, so that as many, and each of them, are the same. */
static bool is_same_group(const struct lookahead *a, const struct lookahead *b)
{
	size_t i;

	if (!a || !b)
		return a == b;
	if (a->ifindex != b->ifindex || a->time_ns != b->time_ns || a->n_members != b->n_members)
		return false;
	for (i = 0; i < a->n_members; i++)
		if (!has_address(b, &a->members[i]))
			return false;
	return true;
}

/**
 * plan_is_changed() - whether a setting is to be other than it is
 * @plan: the settings
 * @item: one of them
 */
bool plan_is_changed(const struct plan *plan, const struct plan_item *item)
{
	if (item->kind == PLAN_DEFAULT)
		return strcmp(plan->cc_now, plan->cc_want);
	if (item->kind == PLAN_GROUP)
		return !is_same_group(item->group_now, item->group_want);
	if (item->kind == PLAN_ROUTE)
		return strcmp(item->route->cc, item->route_cc);
	return item->now != item->want;
}

/**
 * plan_is_group_limit() - whether a setting is the parameter that limits the time of groups
 * @item: the setting
 */
bool plan_is_group_limit(const struct plan_item *item)
{
	return item->kind == PLAN_PARAM && !strcmp(item->cc->name, "dart") &&
	       !strcmp(item->param->name, "lookahead");
}

/**
 * plan_is_default() - whether a setting need not be in a file
 * @item: the setting
 */
bool plan_is_default(const struct plan_item *item)
{
	switch (item->kind) {
	case PLAN_PARAM:
		return !param_is_changed(item->param);
	case PLAN_RATE:
	case PLAN_STAMPS:
		return !item->now;
	default:
		return false;
	}
}

/**
 * plan_find_param() - a parameter
 * @plan: the settings
 * @cc: algorithm
 * @name: of the parameter
 *
 * Return: the setting, or NULL.
 */
struct plan_item *plan_find_param(struct plan *plan, const char *cc, const char *name)
{
	size_t i;

	for (i = 0; i < plan->n; i++) {
		struct plan_item *item = &plan->items[i];

		if (item->kind == PLAN_PARAM && !strcmp(item->cc->name, cc) &&
		    !strcmp(item->param->name, name))
			return item;
	}
	return NULL;
}

/**
 * plan_find_dev() - a setting of an interface
 * @plan: the settings
 * @kind: PLAN_RATE or PLAN_STAMPS
 * @dev: the interface
 *
 * Return: the setting, or NULL.
 */
struct plan_item *plan_find_dev(struct plan *plan, enum plan_kind kind, const char *dev)
{
	size_t i;

	for (i = 0; i < plan->n; i++)
		if (plan->items[i].kind == kind && !strcmp(plan->items[i].dev, dev))
			return &plan->items[i];
	return NULL;
}

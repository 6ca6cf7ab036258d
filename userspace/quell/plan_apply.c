// SPDX-License-Identifier: GPL-2.0
/*
 * Apply the settings of a plan, all or no one: if the kernel refuses a change in spite of the
 * checks, the changes before it are undone.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <quell_lookahead.h>

#include "bpf_sysctl.h"
#include "change.h"
#include "plan.h"
#include "stamps.h"

/* Apply the wanted settings, or restore the earlier ones. */
enum direction { FORTH, BACK };

/*
 * The kernel refuses a new group whose time is above dart's parameter lookahead, and keeps an old
 * one when the parameter is lowered below its time.  To restore such a group, the parameter is as
 * high as the changed groups need it while they are registered, and gets its value last.
 */
static uint64_t value_meanwhile(const struct plan *plan, const struct plan_item *item)
{
	uint64_t value = item->want;
	size_t i;

	if (!plan_is_group_limit(item))
		return value;
	for (i = 0; i < plan->n; i++) {
		const struct plan_item *group = &plan->items[i];

		if (group->kind != PLAN_GROUP || !plan_is_changed(plan, group))
			continue;
		if (group->group_now && group->group_now->time_ns > value)
			value = group->group_now->time_ns;
		if (group->group_want && group->group_want->time_ns > value)
			value = group->group_want->time_ns;
	}
	return value;
}

/* The parameters of one algorithm that change go in one request. */
static int apply_params(const struct plan *plan, struct app *app, size_t first,
			enum direction direction)
{
	struct changes changes;
	int status;
	size_t i;

	status = changes_alloc(&changes, plan->items[first].cc);
	for (i = first; !status && i < plan->n && plan->items[i].cc == changes.cc; i++) {
		const struct plan_item *item = &plan->items[i];
		uint64_t value = value_meanwhile(plan, item);

		if (value != item->now)
			changes.list[changes.n++] = (struct change){
				.param = item->param,
				.value = direction == FORTH ? value : item->now,
			};
	}
	if (!status && changes.n)
		status = changes_send(app, &changes, QUELL_CMD_CC_SET);
	changes_free(&changes);
	return status;
}

/* The limit of groups, once they are made. */
static int apply_group_limit(struct plan *plan, struct app *app)
{
	const struct plan_item *limit = plan_find_param(plan, "dart", "lookahead");
	struct changes changes;
	int status;

	if (!limit || value_meanwhile(plan, limit) == limit->want)
		return STATUS_OK;
	status = changes_alloc(&changes, limit->cc);
	if (status)
		return status;
	changes.list[changes.n++] = (struct change){
		.param = limit->param, .value = limit->want,
	};
	status = changes_send(app, &changes, QUELL_CMD_CC_SET);
	changes_free(&changes);
	return status;
}

static int add_group(const struct lookahead *group)
{
	char text[QUELL_LOOKAHEAD_ERROR_BYTES];
	struct sockaddr_storage *members = calloc(group->n_members, sizeof(*members));
	const struct quell_lookahead_group spec = {
		.name = group->name, .ifindex = group->ifindex, .time_ns = group->time_ns,
		.members = members, .members_nr = group->n_members,
	};
	int ret;
	size_t i;

	if (!members) {
		complain("%s", strerror(ENOMEM));
		return STATUS_KERNEL;
	}
	for (i = 0; i < group->n_members; i++)
		plan_socket(&group->members[i], &members[i]);
	ret = quell_lookahead_add(&spec, text, sizeof(text));
	free(members);
	return ret ? complain_lookahead(group->name, ret, text) : STATUS_OK;
}

/* From one group to another, either of which may be NULL; on failure it is as it was. */
static int apply_group(const struct lookahead *from, const struct lookahead *to)
{
	char text[QUELL_LOOKAHEAD_ERROR_BYTES];
	int ret = from ? quell_lookahead_del(from->name, NULL, text, sizeof(text)) : 0;
	int status;

	/* One that a program has deleted meanwhile is gone, as wanted. */
	if (ret && ret != -ENOENT)
		return complain_lookahead(from->name, ret, text);
	status = to ? add_group(to) : STATUS_OK;
	if (status && from)
		add_group(from);
	return status;
}

static int apply_weight(struct app *app, const struct plan_item *item, uint64_t weight)
{
	struct sockaddr_storage address;
	char name[64];

	plan_key(item, name, sizeof(name));
	plan_socket(&item->address, &address);
	return sender_set_weight(app, item->ifindex, &address, name, weight);
}

/* A route that the kernel or somebody else keeps as it is counts as wanted so. */
static int apply_route(struct plan_item *item, enum direction direction)
{
	const char *cc = direction == FORTH ? item->route_cc : item->route->cc;
	bool changed;
	int status = route_set_cc(item->route, cc, &changed);

	if (!status && !changed && direction == FORTH)
		item->route_cc = item->route->cc;
	return status;
}

static int apply_item(const struct plan *plan, struct app *app, size_t i,
		      enum direction direction)
{
	struct plan_item *item = &plan->items[i];
	uint64_t value = direction == FORTH ? item->want : item->now;
	struct stamps stamps;

	if (!plan_is_changed(plan, item))
		return STATUS_OK;
	switch (item->kind) {
	case PLAN_DEFAULT:
		return bpf_make_default(direction == FORTH ? plan->cc_want : plan->cc_now);
	case PLAN_RATE:
		return link_set_rate(app, item->dev, value);
	case PLAN_STAMPS:
		return hwstamp_switch(item->dev, value, &stamps);
	case PLAN_WEIGHT:
		return apply_weight(app, item, value);
	case PLAN_GROUP:
		return direction == FORTH ? apply_group(item->group_now, item->group_want) :
					    apply_group(item->group_want, item->group_now);
	case PLAN_ROUTE:
		return apply_route(item, direction);
	default:
		return STATUS_OK;
	}
}

/* The step that begins with a setting, if one does. */
static int apply_step(const struct plan *plan, struct app *app, size_t i,
		      enum direction direction)
{
	const struct plan_item *item = &plan->items[i];

	if (item->kind != PLAN_PARAM)
		return apply_item(plan, app, i, direction);
	if (plan->items[i - 1].cc == item->cc)
		return STATUS_OK;
	return apply_params(plan, app, i, direction);
}

/**
 * plan_apply() - make all settings as wanted
 * @plan: from plan_read()
 * @app: connected to the kernel
 *
 * The default algorithm, the first item, comes behind all others: connections of it begin with its
 * settings.
 *
 * Return: an exit status; the reason of a failure has been printed, and the settings are as
 * they were, or a complaint says of each that is not.
 */
int plan_apply(struct plan *plan, struct app *app)
{
	int status = STATUS_OK;
	size_t i;

	for (i = 1; i <= plan->n && !status; i++)
		status = apply_step(plan, app, i % plan->n, FORTH);
	if (!status) {
		status = apply_group_limit(plan, app);
		i++;
	}
	if (!status)
		return status;
	complain("no setting is changed");
	for (i -= 1; i > 1; i--)
		apply_step(plan, app, (i - 1) % plan->n, BACK);
	return status;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Replies of the kernel as plain structs: where each attribute is stored.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "util.h"

#define PARAM(attr, form, member) \
	{ ATTR_ROW(QUELL_A_PARAM_##attr, form, struct param, member) }

static const struct attr_row param_rows[] = {
	PARAM(NAME, TEXT, name),
	PARAM(VALUE, U64, value),
	PARAM(DEFAULT, U64, def),
	PARAM(RANGE_MIN, U64, min),
	PARAM(RANGE_MAX, U64, max),
	PARAM(UNIT, U32, unit),
	PARAM(DOC, TEXT, doc),
};

static const struct attr_kind param_kind =
	ATTR_KIND(param_rows, 0, struct param, ATTR_BIT(QUELL_A_PARAM_NAME));

#define COUNTER(attr, form, member) \
	{ ATTR_ROW(QUELL_A_COUNTER_##attr, form, struct counter, member) }

/* Ten thousand flows have the same meanings ten thousand times: theirs are not stored. */
static const struct attr_row counter_rows[] = {
	COUNTER(DOC, TEXT, doc),
	COUNTER(NAME, TEXT, name),
	COUNTER(VALUE, U64, value),
};

static const struct attr_kind counter_kind =
	ATTR_KIND(counter_rows, 0, struct counter, ATTR_BIT(QUELL_A_COUNTER_NAME));

const struct attr_kind flow_counter_kind =
	ATTR_KIND(counter_rows, 1, struct counter, ATTR_BIT(QUELL_A_COUNTER_NAME));

static const struct attr_row cc_rows[] = {
	{ ATTR_ROW(QUELL_A_CC_NAME, TEXT, struct cc, name) },
	{ ATTR_ROW_LIST(QUELL_A_CC_PARAM, param_kind, struct cc, params) },
	{ ATTR_ROW(QUELL_A_CC_FLOWS, U32, struct cc, flows) },
};

const struct attr_kind cc_kind = ATTR_KIND(cc_rows, 0, struct cc, ATTR_BIT(QUELL_A_CC_NAME));

static const struct attr_row stat_rows[] = {
	{ ATTR_ROW(QUELL_A_STAT_NAME, TEXT, struct stat_group, name) },
	{ ATTR_ROW_LIST(QUELL_A_STAT_COUNTER, counter_kind, struct stat_group, counters) },
};

const struct attr_kind stat_kind =
	ATTR_KIND(stat_rows, 0, struct stat_group, ATTR_BIT(QUELL_A_STAT_NAME));

#define LINK(attr, form, member) \
	{ ATTR_ROW(QUELL_A_LINK_##attr, form, struct link, member) }

static const struct attr_row link_rows[] = {
	LINK(IFINDEX, U32, ifindex),
	LINK(RATE, U64, bytes_ps),
	LINK(DRIVER_RATE, U64, driver_bytes_ps),
};

const struct attr_kind link_kind =
	ATTR_KIND(link_rows, 0, struct link, ATTR_BIT(QUELL_A_LINK_IFINDEX));

#define SENDER(attr, form, member) \
	{ ATTR_ROW(QUELL_A_SENDER_##attr, form, struct sender, member) }

static const struct attr_row sender_rows[] = {
	SENDER(IFINDEX, U32, ifindex),
	SENDER(ADDRESS, ADDRESS, address),
	SENDER(WEIGHT, U32, weight),
	SENDER(CONNECTIONS, U32, connections),
	SENDER(WAITING, U32, waiting),
};

const struct attr_kind sender_kind =
	ATTR_KIND(sender_rows, 0, struct sender, ATTR_BIT(QUELL_A_SENDER_ADDRESS));

#define RECEIVER(attr, form, member) \
	{ ATTR_ROW(QUELL_A_RECEIVER_##attr, form, struct receiver, member) }

static const struct attr_row receiver_rows[] = {
	RECEIVER(IFINDEX, U32, ifindex),
	RECEIVER(STATE, TEXT, state),
	RECEIVER(SENDERS, U32, senders),
	RECEIVER(WEIGHT, U64, weight),
	RECEIVER(RATE, U64, bytes_ps),
};

const struct attr_kind receiver_kind =
	ATTR_KIND(receiver_rows, 0, struct receiver,
		  ATTR_BIT(QUELL_A_RECEIVER_IFINDEX) | ATTR_BIT(QUELL_A_RECEIVER_STATE));

#define LOOKAHEAD(attr, form, member) \
	{ ATTR_ROW(QUELL_A_LOOKAHEAD_##attr, form, struct lookahead, member) }

static const struct attr_row lookahead_rows[] = {
	LOOKAHEAD(NAME, TEXT, name),
	LOOKAHEAD(IFINDEX, U32, ifindex),
	LOOKAHEAD(UID, U32, uid),
	LOOKAHEAD(TIME, U64, time_ns),
	LOOKAHEAD(WAITING, U32, waiting),
	LOOKAHEAD(MEMBERS, U32, members_nr),
	LOOKAHEAD(MEMBER, ADDRESSES, members),
};

/* Append the last group's members to the one before, if that was too long for a message. */
static int join_last(void *list)
{
	struct lookahead_list *l = list;
	struct lookahead *more = &l->list[l->n - 1], *group = more - 1;
	struct address *members;

	if (l->n < 2 || group->uid != more->uid || strcmp(group->name, more->name))
		return 0;
	members = reallocarray(group->members, group->n_members + more->n_members + 1,
			       sizeof(*members));
	if (!members)
		return -ENOMEM;
	group->members = members;
	if (more->n_members)
		memcpy(members + group->n_members, more->members,
		       more->n_members * sizeof(*members));
	group->n_members += more->n_members;
	entry_free(&lookahead_kind, more);
	l->n--;
	return 0;
}

const struct attr_kind lookahead_kind =
	ATTR_KIND(lookahead_rows, 0, struct lookahead, ATTR_BIT(QUELL_A_LOOKAHEAD_NAME),
		  .after = join_last);

const struct cc *cc_lookup(const struct cc_list *list, const char *name)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		if (!strcmp(list->list[i].name, name))
			return &list->list[i];
	return NULL;
}

/* The parameter of a name, or NULL; @cc may be NULL. */
const struct param *cc_param(const struct cc *cc, const char *name)
{
	size_t i;

	for (i = 0; cc && i < cc->n_params; i++)
		if (!strcmp(cc->params[i].name, name))
			return &cc->params[i];
	return NULL;
}

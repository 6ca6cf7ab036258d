// SPDX-License-Identifier: GPL-2.0
/*
 * Conversion of netlink messages to plain structs: senders, receivers, look-ahead groups.
 * Attributes of unknown types are ignored.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>

#include "attr.h"
#include "model.h"

static int get_any_address(const struct nlattr *attr, struct address *address)
{
	int ret = attr_address(attr, address->bytes);

	if (!ret)
		address->len = mnl_attr_get_payload_len(attr);
	return ret;
}

static int add_member(struct lookahead *group, const struct nlattr *attr)
{
	struct address *member = list_grow(&group->members, &group->n_members, sizeof(*member));

	return member ? get_any_address(attr, member) : -ENOMEM;
}

static int lookahead_attr(struct lookahead *group, const struct nlattr *attr)
{
	switch (mnl_attr_get_type(attr)) {
	case QUELL_A_LOOKAHEAD_NAME:
		return attr_string(attr, &group->name);
	case QUELL_A_LOOKAHEAD_IFINDEX:
		return attr_u32(attr, &group->ifindex);
	case QUELL_A_LOOKAHEAD_UID:
		return attr_u32(attr, &group->uid);
	case QUELL_A_LOOKAHEAD_TIME:
		return attr_uint(attr, &group->time_ns);
	case QUELL_A_LOOKAHEAD_WAITING:
		return attr_u32(attr, &group->waiting);
	case QUELL_A_LOOKAHEAD_MEMBER:
		return add_member(group, attr);
	}
	return 0;
}

/* Whether @more is the rest of @group, which was too long for one message. */
static bool is_continued(const struct lookahead *group, const struct lookahead *more)
{
	return group->uid == more->uid && !strcmp(group->name, more->name);
}

/* Append the members of the last group to those of the one before, and drop it. */
static int join_last(struct lookahead_list *l)
{
	struct lookahead *group = &l->list[l->n - 2], *more = &l->list[l->n - 1];
	size_t n = group->n_members + more->n_members;
	struct address *members;

	members = reallocarray(group->members, n + 1, sizeof(*members));
	if (!members)
		return -ENOMEM;
	group->members = members;
	if (more->n_members)
		memcpy(members + group->n_members, more->members,
		       more->n_members * sizeof(*members));
	group->n_members = n;
	free(more->members);
	free(more->name);
	l->n--;
	return 0;
}

/**
 * lookahead_list_add() - add one group, or the rest of the last one, from a reply
 * @l: the list; the entry stays in it on failure, for lookahead_list_free()
 * @nlh: message of lookahead-get
 *
 * Return: 0, -EBADMSG for a malformed message, or -ENOMEM.
 */
int lookahead_list_add(struct lookahead_list *l, const struct nlmsghdr *nlh)
{
	struct lookahead *group = list_grow(&l->list, &l->n, sizeof(*group));
	const struct nlattr *attr;
	int ret;

	if (!group)
		return -ENOMEM;
	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		ret = lookahead_attr(group, attr);
		if (ret)
			return ret;
		attr_mark(&group->have, attr);
	}
	if (!HAVE(group, QUELL_A_LOOKAHEAD_NAME))
		return -EBADMSG;
	return l->n > 1 && is_continued(group - 1, group) ? join_last(l) : 0;
}

static int sender_attr(struct sender *s, const struct nlattr *attr)
{
	switch (mnl_attr_get_type(attr)) {
	case QUELL_A_SENDER_IFINDEX:
		return attr_u32(attr, &s->ifindex);
	case QUELL_A_SENDER_ADDRESS:
		return get_any_address(attr, &s->address);
	case QUELL_A_SENDER_WEIGHT:
		return attr_u32(attr, &s->weight);
	case QUELL_A_SENDER_CONNECTIONS:
		return attr_u32(attr, &s->connections);
	case QUELL_A_SENDER_WAITING:
		return attr_u32(attr, &s->waiting);
	}
	return 0;
}

/**
 * sender_list_add() - add one host from a reply
 * @l: the list
 * @nlh: message of sender-get
 *
 * Return: 0, -EBADMSG for a malformed message, or -ENOMEM.
 */
int sender_list_add(struct sender_list *l, const struct nlmsghdr *nlh)
{
	struct sender *s = list_grow(&l->list, &l->n, sizeof(*s));
	const struct nlattr *attr;
	int ret;

	if (!s)
		return -ENOMEM;
	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		ret = sender_attr(s, attr);
		if (ret)
			return ret;
		attr_mark(&s->have, attr);
	}
	return s->address.len ? 0 : -EBADMSG;
}

static int receiver_attr(struct receiver *r, const struct nlattr *attr)
{
	switch (mnl_attr_get_type(attr)) {
	case QUELL_A_RECEIVER_IFINDEX:
		return attr_u32(attr, &r->ifindex);
	case QUELL_A_RECEIVER_STATE:
		return attr_string(attr, &r->state);
	case QUELL_A_RECEIVER_SENDERS:
		return attr_u32(attr, &r->senders);
	case QUELL_A_RECEIVER_WEIGHT:
		return attr_uint(attr, &r->weight);
	case QUELL_A_RECEIVER_RATE:
		return attr_uint(attr, &r->bytes_ps);
	}
	return 0;
}

/**
 * receiver_list_add() - add one interface from a reply
 * @l: the list; the entry stays in it on failure, for receiver_list_free()
 * @nlh: message of receiver-get
 *
 * Return: 0, -EBADMSG for a malformed message, or -ENOMEM.
 */
int receiver_list_add(struct receiver_list *l, const struct nlmsghdr *nlh)
{
	struct receiver *r = list_grow(&l->list, &l->n, sizeof(*r));
	const struct nlattr *attr;
	int ret;

	if (!r)
		return -ENOMEM;
	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		ret = receiver_attr(r, attr);
		if (ret)
			return ret;
		attr_mark(&r->have, attr);
	}
	return HAVE(r, QUELL_A_RECEIVER_IFINDEX) && r->state ? 0 : -EBADMSG;
}

/* Empty a list; it may be filled again. */
void lookahead_list_free(struct lookahead_list *l)
{
	size_t i;

	for (i = 0; i < l->n; i++) {
		free(l->list[i].name);
		free(l->list[i].members);
	}
	free(l->list);
	*l = (struct lookahead_list){};
}

/* Empty a list; it may be filled again. */
void sender_list_free(struct sender_list *l)
{
	free(l->list);
	*l = (struct sender_list){};
}

/* Empty a list; it may be filled again. */
void receiver_list_free(struct receiver_list *l)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		free(l->list[i].state);
	free(l->list);
	*l = (struct receiver_list){};
}

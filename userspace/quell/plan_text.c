// SPDX-License-Identifier: GPL-2.0
/*
 * The settings of a namespace as words of a file.
 */
#include <arpa/inet.h>
#include <string.h>

#include "plan.h"

/**
 * plan_socket() - an address as the socket functions have it
 * @address: IPv4 or IPv6
 * @to: filled in
 */
void plan_socket(const struct address *address, struct sockaddr_storage *to)
{
	memset(to, 0, sizeof(*to));
	to->ss_family = address->len == sizeof(struct in_addr) ? AF_INET : AF_INET6;
	if (to->ss_family == AF_INET)
		memcpy(&((struct sockaddr_in *)to)->sin_addr, address->bytes, address->len);
	else
		memcpy(&((struct sockaddr_in6 *)to)->sin6_addr, address->bytes, address->len);
}

/**
 * plan_section() - the section of a setting
 * @item: the setting
 * @words: filled in, SETTINGS_WORDS_MAX of them at most
 *
 * Return: their number.
 */
size_t plan_section(const struct plan_item *item, const char **words)
{
	const struct lookahead *group = item->group_now ? item->group_now : item->group_want;

	switch (item->kind) {
	case PLAN_DEFAULT:
		words[0] = "namespace";
		return 1;
	case PLAN_PARAM:
		words[0] = item->cc->name;
		return 1;
	case PLAN_GROUP:
		words[0] = "lookahead";
		words[1] = group->name;
		return 2;
	case PLAN_ROUTE:
		words[0] = "routes";
		return 1;
	default:
		words[0] = "dev";
		words[1] = item->dev;
		return 2;
	}
}

/**
 * plan_key() - the name of a setting in its section
 * @item: the setting
 * @buf: destination
 * @len: its size
 */
void plan_key(const struct plan_item *item, char *buf, size_t len)
{
	char text[INET6_ADDRSTRLEN] = "";

	switch (item->kind) {
	case PLAN_DEFAULT:
		snprintf(buf, len, "congestion-control");
		break;
	case PLAN_PARAM:
		snprintf(buf, len, "%s", item->param->name);
		break;
	case PLAN_RATE:
		snprintf(buf, len, "rate");
		break;
	case PLAN_STAMPS:
		snprintf(buf, len, "stamps");
		break;
	case PLAN_WEIGHT:
		inet_ntop(item->address.len == sizeof(struct in_addr) ? AF_INET : AF_INET6,
			  item->address.bytes, text, sizeof(text));
		snprintf(buf, len, "weight %s", text);
		break;
	case PLAN_GROUP:
		snprintf(buf, len, "group");
		break;
	case PLAN_ROUTE:
		route_format(item->route, buf, len);
		break;
	}
}

static void group_text(const struct lookahead *group, char *buf, size_t len)
{
	char dev[IF_NAMESIZE], time[QTY_TEXT_LEN];

	if (!group)
		snprintf(buf, len, "none");
	else
		snprintf(buf, len, "dev %s, time %s, %zu members",
			 if_indextoname(group->ifindex, dev) ? dev : "?",
			 qty_format(time, sizeof(time), QUELL_UNIT_NS, group->time_ns),
			 group->n_members);
}

/**
 * plan_value() - the value of a setting, as a file has it
 * @plan: the settings
 * @item: one of them; a group is described only
 * @want: as it is to be, not as it is
 * @buf: destination
 * @len: its size
 */
void plan_value(const struct plan *plan, const struct plan_item *item, bool want, char *buf,
		size_t len)
{
	uint64_t value = want ? item->want : item->now;
	const char *cc;

	switch (item->kind) {
	case PLAN_DEFAULT:
		snprintf(buf, len, "%s", want ? plan->cc_want : plan->cc_now);
		break;
	case PLAN_PARAM:
		qty_format(buf, len, item->param->unit, value);
		break;
	case PLAN_RATE:
		if (value)
			qty_format(buf, len, QUELL_UNIT_BYTES_PS, value);
		else
			snprintf(buf, len, "default");
		break;
	case PLAN_STAMPS:
		snprintf(buf, len, "%s", value ? "on" : "off");
		break;
	case PLAN_WEIGHT:
		snprintf(buf, len, "%u", (unsigned int)value);
		break;
	case PLAN_GROUP:
		group_text(want ? item->group_want : item->group_now, buf, len);
		break;
	case PLAN_ROUTE:
		cc = want ? item->route_cc : item->route->cc;
		snprintf(buf, len, "%s", *cc ? cc : "default");
		break;
	}
}

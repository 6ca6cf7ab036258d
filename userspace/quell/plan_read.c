// SPDX-License-Identifier: GPL-2.0
/*
 * Parse a file of settings against the running kernel.  Everything is checked before any change:
 * names, values and their ranges, modules, interfaces.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <quell_lookahead.h>

#include "attr.h"
#include "bpf_sysctl.h"
#include "change.h"
#include "doctor.h"
#include "plan.h"
#include "util.h"

#define PROC_ALLOWED	"/proc/sys/net/ipv4/tcp_allowed_congestion_control"

/* 1 Tbit/s, as the kernel has it. */
#define RATE_MAX_BYTES_PS	125000000000ULL

#define MEMBERS_MAX	1024

/* The kernel goes by bytes; a longer one it would not have. */
#define V4_MAPPED_LEN	12

static int unknown_key(const struct settings_part *part, const struct setting *s,
		       const char *known)
{
	complain("[%s] has no setting '%s' (it has: %s)", part->words[0], s->key, known);
	return STATUS_INPUT;
}

static int read_switch(const struct setting *s, uint64_t *value)
{
	if (!qty_parse(s->value, QUELL_UNIT_BOOL, value))
		return STATUS_OK;
	complain("%s: '%s' is neither on nor off", s->key, s->value);
	return STATUS_INPUT;
}

static int check_loaded(const char *key, const char *name)
{
	char available[512];

	doctor_read_line("", "/proc/sys/net/ipv4/tcp_available_congestion_control", available,
			 sizeof(available));
	if (!strpbrk(name, " \t") && bpf_list_has(available, name))
		return STATUS_OK;
	complain("%s: '%s' is not loaded (there are: %s)", key, name, available);
	return STATUS_INPUT;
}

/* In a namespace other than the initial one, only algorithms allowed to all users may be chosen. */
static int check_cc(const struct plan *plan, const char *name)
{
	if (!strcmp(name, plan->cc_now))
		return STATUS_OK;
	if (check_loaded("congestion-control", name))
		return STATUS_INPUT;
	if (bpf_is_allowed(name) || !access(PROC_ALLOWED, W_OK))
		return STATUS_OK;
	complain("congestion-control: '%s' is not in the host's "
		 "net.ipv4.tcp_allowed_congestion_control", name);
	return STATUS_INPUT;
}

static int read_namespace(struct plan *plan, const struct settings_part *part)
{
	size_t i;

	for (i = 0; i < part->n; i++) {
		const struct setting *s = &part->list[i];

		complain_line(s->line);
		if (strcmp(s->key, "congestion-control"))
			return unknown_key(part, s, "congestion-control");
		if (strlen(s->value) >= sizeof(plan->cc_want)) {
			complain("congestion-control: '%.32s...' is too long", s->value);
			return STATUS_INPUT;
		}
		if (check_cc(plan, s->value))
			return STATUS_INPUT;
		strcpy(plan->cc_want, s->value);
		plan->items[0].line = s->line;
	}
	return STATUS_OK;
}

static int want_changes(struct plan *plan, const struct changes *changes, unsigned int line)
{
	size_t i;

	for (i = 0; i < changes->n; i++) {
		const struct change *c = &changes->list[i];
		struct plan_item *item = plan_find_param(plan, changes->cc->name, c->param->name);

		item->want = c->value;
		item->line = line;
	}
	return STATUS_OK;
}

static const struct setting *find_preset_line(const struct settings_part *part)
{
	size_t i;

	for (i = 0; i < part->n; i++)
		if (!strcmp(part->list[i].key, "preset"))
			return &part->list[i];
	return NULL;
}

/* Each parameter that the section names, then those of its preset. */
static int add_params(struct changes *changes, const struct settings_part *part)
{
	const struct setting *of_preset = find_preset_line(part);
	const struct preset *preset;
	size_t i;

	for (i = 0; i < part->n; i++) {
		const struct setting *s = &part->list[i];
		bool is_default = !strcmp(s->value, "default");

		complain_line(s->line);
		if (s != of_preset && changes_add(changes, s->key, is_default ? NULL : s->value))
			return STATUS_INPUT;
	}
	if (!of_preset)
		return STATUS_OK;
	complain_line(of_preset->line);
	preset = preset_find(changes->cc->name, of_preset->value);
	return preset ? changes_add_preset(changes, preset) : STATUS_INPUT;
}

static int read_params(struct plan *plan, const struct settings_part *part)
{
	struct changes changes = {};
	const struct cc *cc;
	int status;

	status = cc_find(&plan->ccs, part->words[0], &cc);
	if (status)
		return status;
	status = changes_alloc(&changes, cc);
	if (!status)
		status = add_params(&changes, part);
	if (!status)
		status = want_changes(plan, &changes, part->line);
	changes_free(&changes);
	return status;
}

static int read_rate(struct plan_item *item, const struct setting *s)
{
	enum qty_status why;

	item->line = s->line;
	item->want = 0;
	if (!strcmp(s->value, "default"))
		return STATUS_OK;
	why = qty_parse(s->value, QUELL_UNIT_BYTES_PS, &item->want);
	if (why) {
		complain("rate: '%s' %s; expected %s", s->value, qty_status_text(why),
			 qty_expected(QUELL_UNIT_BYTES_PS));
		return STATUS_INPUT;
	}
	if (item->want && item->want <= RATE_MAX_BYTES_PS)
		return STATUS_OK;
	complain("rate: '%s' is out of range 8bit .. 1Tbit", s->value);
	return STATUS_INPUT;
}

static int read_stamps(struct plan_item *item, const struct setting *s)
{
	item->line = s->line;
	if (read_switch(s, &item->want))
		return STATUS_INPUT;
	if (!item->want || item->now || item->can_stamp)
		return STATUS_OK;
	complain("stamps: %s cannot stamp all packets (see: quell hwtstamp show %s)", item->dev,
		 item->dev);
	return STATUS_INPUT;
}

/* Any address that a host can send from; IPv4 in IPv6 is IPv4, as the kernel reports it. */
static int read_host(const char *text, struct address *address)
{
	static const uint8_t mapped[V4_MAPPED_LEN] = { [10] = 0xff, [11] = 0xff };
	static const uint8_t any[ADDRESS_BYTES];
	struct sockaddr_storage from;
	bool is_host;

	if (read_address(text, &from))
		return STATUS_INPUT;
	*address = (struct address){ .len = from.ss_family == AF_INET ? 4 : ADDRESS_BYTES };
	if (from.ss_family == AF_INET)
		memcpy(address->bytes, &((struct sockaddr_in *)&from)->sin_addr, 4);
	else
		memcpy(address->bytes, &((struct sockaddr_in6 *)&from)->sin6_addr, ADDRESS_BYTES);
	if (address->len > 4 && !memcmp(address->bytes, mapped, V4_MAPPED_LEN)) {
		memmove(address->bytes, address->bytes + V4_MAPPED_LEN, 4);
		memset(address->bytes + 4, 0, V4_MAPPED_LEN);
		address->len = 4;
	}
	if (address->len == 4)
		is_host = address->bytes[0] && address->bytes[0] >> 4 != 0xe &&
			  memcmp(address->bytes, "\xff\xff\xff\xff", 4);
	else
		is_host = memcmp(address->bytes, any, sizeof(any)) && address->bytes[0] != 0xff;
	if (is_host)
		return STATUS_OK;
	complain("'%s' is not the address of a host", text);
	return STATUS_INPUT;
}

static int check_dart(const struct plan *plan)
{
	return cc_lookup(&plan->ccs, "dart") ? STATUS_OK : cc_not_loaded("dart");
}

/* The weight of a sender, which has one, or is to have. */
static struct plan_item *find_weight(struct plan *plan, const char *dev,
				     const struct address *address)
{
	struct plan_item *item;
	size_t i;

	for (i = 0; i < plan->n; i++) {
		item = &plan->items[i];
		if (item->kind == PLAN_WEIGHT && !strcmp(item->dev, dev) &&
		    item->address.len == address->len &&
		    !memcmp(item->address.bytes, address->bytes, address->len))
			return item;
	}
	item = plan_add(plan, PLAN_WEIGHT);
	if (!item)
		return NULL;
	item->now = 1;
	item->address = *address;
	snprintf(item->dev, sizeof(item->dev), "%s", dev);
	item->ifindex = if_nametoindex(dev);
	return item;
}

static int read_weight(struct plan *plan, const char *dev, const struct setting *s)
{
	struct plan_item *item;
	struct address address;
	uint64_t weight;
	int status;

	status = check_dart(plan);
	if (status)
		return status;
	if (read_host(s->key + strlen("weight "), &address) ||
	    sender_read_weight(s->value, &weight))
		return STATUS_INPUT;
	item = find_weight(plan, dev, &address);
	if (!item)
		return STATUS_KERNEL;
	if (item->line) {
		complain("%s: given twice, first in line %u", s->key, item->line);
		return STATUS_INPUT;
	}
	item->line = s->line;
	item->want = weight;
	return STATUS_OK;
}

static int read_dev(struct plan *plan, const struct settings_part *part)
{
	int status = STATUS_OK;
	char dev[IF_NAMESIZE];
	size_t i;

	if (find_dev_name(part->words[1], dev))
		return STATUS_INPUT;
	if (!plan_find_dev(plan, PLAN_RATE, dev)) {
		complain("there is no such interface");
		return STATUS_INPUT;
	}
	for (i = 0; !status && i < part->n; i++) {
		const struct setting *s = &part->list[i];

		complain_line(s->line);
		if (!strcmp(s->key, "rate"))
			status = read_rate(plan_find_dev(plan, PLAN_RATE, dev), s);
		else if (!strcmp(s->key, "stamps"))
			status = read_stamps(plan_find_dev(plan, PLAN_STAMPS, dev), s);
		else if (!strncmp(s->key, "weight ", strlen("weight ")))
			status = read_weight(plan, dev, s);
		else
			status = unknown_key(part, s, "rate, stamps, weight ADDR");
	}
	return status;
}

static int add_member(struct lookahead *group, const char *text)
{
	struct address address, *slot;
	size_t i;

	if (read_host(text, &address))
		return STATUS_INPUT;
	for (i = 0; i < group->n_members; i++) {
		if (memcmp(&group->members[i], &address, sizeof(address)))
			continue;
		complain("members: '%s' is given twice", text);
		return STATUS_INPUT;
	}
	if (group->n_members == MEMBERS_MAX) {
		complain("members: more than %d", MEMBERS_MAX);
		return STATUS_INPUT;
	}
	slot = list_grow(&group->members, &group->n_members, sizeof(*slot));
	if (!slot) {
		complain("%s", strerror(ENOMEM));
		return STATUS_KERNEL;
	}
	*slot = address;
	return STATUS_OK;
}

static int add_members(struct lookahead *group, char *text)
{
	char *word, *rest = text;
	int status = STATUS_OK;

	while (!status && (word = strsep(&rest, " ")))
		status = add_member(group, word);
	return status;
}

static int read_group_line(struct lookahead *group, const struct settings_part *part,
			   const struct setting *s)
{
	if (!strcmp(s->key, SETTINGS_MEMBERS))
		return add_members(group, s->value);
	if (!strcmp(s->key, "time"))
		return lookahead_read_time(s->value, &group->time_ns);
	if (!strcmp(s->key, "dev"))
		return find_dev(s->value, &group->ifindex);
	return unknown_key(part, s, "dev, time, members");
}

/*
 * A group keeps its time when the limit is lowered below it.  So a file may have one like that, and
 * it counts as far as the limit allows.
 */
static int complete_time(const struct plan_item *limit, struct lookahead *group)
{
	char time[QTY_TEXT_LEN], most[QTY_TEXT_LEN];

	if (!limit)
		return STATUS_OK;
	if (!group->time_ns)
		group->time_ns = limit->want;
	qty_format(time, sizeof(time), QUELL_UNIT_NS, group->time_ns);
	if (!group->time_ns || group->time_ns > limit->param->max) {
		qty_format(most, sizeof(most), QUELL_UNIT_NS, limit->param->max);
		complain("time: %s is not over 0 and at most %s", time, most);
		return STATUS_INPUT;
	}
	if (group->time_ns <= limit->want)
		return STATUS_OK;
	qty_format(most, sizeof(most), QUELL_UNIT_NS, limit->want);
	complain("time: %s counts as %s, dart's parameter lookahead", time, most);
	return STATUS_OK;
}

/* The kernel's defaults and limits. */
static int complete_group(struct plan *plan, struct lookahead *group)
{
	char text[QUELL_LOOKAHEAD_ERROR_BYTES];
	struct sockaddr_storage first = {};
	int ret;

	if (!group->n_members) {
		complain("members: there are none");
		return STATUS_INPUT;
	}
	if (complete_time(plan_find_param(plan, "dart", "lookahead"), group))
		return STATUS_INPUT;
	if (group->ifindex)
		return STATUS_OK;
	plan_socket(&group->members[0], &first);
	ret = quell_lookahead_ifindex(&first, text, sizeof(text));
	if (ret < 0)
		return complain_lookahead("members", ret, text);
	group->ifindex = ret;
	return STATUS_OK;
}

static struct lookahead *add_named(struct plan *plan, const char *name)
{
	struct lookahead **slot = list_grow(&plan->named, &plan->n_named, sizeof(*slot));
	struct lookahead *group = slot ? calloc(1, sizeof(*group)) : NULL;

	if (group)
		group->name = strdup(name);
	if (group && group->name) {
		*slot = group;
		return group;
	}
	free(group);
	plan->n_named -= slot ? 1 : 0;
	complain("%s", strerror(ENOMEM));
	return NULL;
}

static int want_group(struct plan *plan, struct lookahead *group, unsigned int line)
{
	struct plan_item *item = NULL;
	size_t i;

	for (i = 0; i < plan->n && !item; i++)
		if (plan->items[i].group_now &&
		    !strcmp(plan->items[i].group_now->name, group->name))
			item = &plan->items[i];
	item = item ? item : plan_add(plan, PLAN_GROUP);
	if (!item)
		return STATUS_KERNEL;
	item->group_want = group;
	item->line = line;
	return STATUS_OK;
}

/* The kernel's rule: printable, and no colon. */
static int check_group_name(const char *name)
{
	const char *c;

	for (c = name; *c > ' ' && *c < 0x7f && *c != ':'; c++)
		;
	if (!*c)
		return lookahead_check_name(name);
	complain("a name of a group has letters, digits and signs, no ':'");
	return STATUS_INPUT;
}

static int read_group(struct plan *plan, const struct settings_part *part)
{
	struct lookahead *group;
	int status;
	size_t i;

	status = check_group_name(part->words[1]);
	if (!status)
		status = check_dart(plan);
	if (status)
		return status;
	group = add_named(plan, part->words[1]);
	if (!group)
		return STATUS_KERNEL;
	for (i = 0; !status && i < part->n; i++) {
		complain_line(part->list[i].line);
		status = read_group_line(group, part, &part->list[i]);
	}
	if (status)
		return status;
	complain_line(part->line);
	status = complete_group(plan, group);
	return status ? status : want_group(plan, group, part->line);
}

static struct plan_item *find_route(struct plan *plan, const struct route *route)
{
	size_t i;

	for (i = 0; i < plan->n; i++)
		if (plan->items[i].route == route)
			return &plan->items[i];
	return plan_add_route(plan, route);
}

/* Each is a line of its own: that one cannot be had keeps no other from its setting. */
static int want_route(struct plan *plan, const struct route *route, const struct setting *s,
		      const char *cc)
{
	struct plan_item *item = find_route(plan, route);

	if (!item)
		return STATUS_KERNEL;
	if (item->line) {
		complain("%s: the route is given twice, first in line %u", s->key, item->line);
		return STATUS_INPUT;
	}
	item->line = s->line;
	if (strcmp(route->cc, cc) && routes_of_key(&plan->routes, route) > 1)
		complain("%s: left as it is, the kernel cannot distinguish it in this metric",
			 s->key);
	else
		item->route_cc = cc;
	return STATUS_OK;
}

static int read_route(struct plan *plan, const struct setting *s)
{
	const char *cc = strcmp(s->value, "default") ? s->value : "";
	struct route_words words;
	bool is_there = false;
	int status;
	size_t i;

	status = route_read(s->key, &words);
	if (!status && *cc)
		status = check_loaded(s->key, cc);
	for (i = 0; !status && i < plan->routes.n; i++) {
		const struct route *route = &plan->routes.list[i];

		if (route->is_fixed || !route_is_named(route, &words))
			continue;
		is_there = true;
		status = want_route(plan, route, s, cc);
	}
	if (!status && !is_there)
		complain("%s: there is no such route, none is made", s->key);
	return status;
}

static int read_routes(struct plan *plan, const struct settings_part *part)
{
	int status = STATUS_OK;
	size_t i;

	for (i = 0; !status && i < part->n; i++) {
		complain_line(part->list[i].line);
		status = read_route(plan, &part->list[i]);
	}
	return status;
}

static int unknown_section(struct plan *plan, const struct settings_part *part)
{
	(void)plan;
	(void)part;
	complain("unknown section; expected [namespace], [ALGO], [dev DEV], [lookahead NAME] or "
		 "[routes]");
	return STATUS_INPUT;
}

/* Groups come last: dart's parameters limit them, wherever in the file these are. */
static bool is_group(const struct settings_part *part)
{
	return part->n_words == 2 && !strcmp(part->words[0], "lookahead");
}

static int read_part(struct plan *plan, const struct settings_part *part)
{
	int (*reader)(struct plan *plan, const struct settings_part *part) = unknown_section;

	if (part->n_words == 1 && !strcmp(part->words[0], "routes"))
		reader = read_routes;
	else if (part->n_words == 1)
		reader = strcmp(part->words[0], "namespace") ? read_params : read_namespace;
	else if (is_group(part))
		reader = read_group;
	else if (!strcmp(part->words[0], "dev"))
		reader = read_dev;
	complain_line(part->line);
	return reader(plan, part);
}

/**
 * plan_read() - parse a file of settings into a plan
 * @plan: from plan_load()
 * @settings: the file; its values are split in place
 * @file: its name, for complaints
 *
 * Return: an exit status; the reason of a failure has been printed, with the line.
 */
int plan_read(struct plan *plan, const struct settings *settings, const char *file)
{
	int status = STATUS_OK, pass;
	size_t i;

	complain_at(file);
	for (pass = 0; pass < 2; pass++)
		for (i = 0; !status && i < settings->n; i++)
			if (is_group(&settings->list[i]) == (pass == 1))
				status = read_part(plan, &settings->list[i]);
	complain_at(NULL);
	return status;
}

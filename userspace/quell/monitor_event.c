// SPDX-License-Identifier: GPL-2.0
/*
 * An event of the kernel as a line of text, or as a line of JSON.
 *
 * Events of a newer kernel that this program does not know are passed over.
 */
#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>

#include "flow.h"
#include "monitor.h"
#include "qty.h"
#include "quell.h"
#include "util.h"

#define NS_PER_SEC	1000000000ULL
#define NS_PER_US	1000

/* The beginning of each line, in the form of ip(8). */
static void begin(struct monitor_view *view, const char *event)
{
	char text[64], line[128];
	struct tm local;

	localtime_r(&view->now.tv_sec, &local);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &local);
	snprintf(line, sizeof(line), "[%s.%06ld] ", text, view->now.tv_nsec / NS_PER_US);
	out_open_object(view->o, NULL);
	if (view->stamp)
		out_u64_as(view->o, "timestamp_ns", "%s",
			   view->now.tv_sec * NS_PER_SEC + view->now.tv_nsec, line);
	out_str(view->o, "event", NULL, event);
}

static void end(struct monitor_view *view)
{
	out_text(view->o, "\n");
	out_close_object(view->o);
}

/* An interface that is gone has no name any more; ip(8) prints it so, too. */
static const char *dev_name(char *dev, uint32_t ifindex)
{
	if (!if_indextoname(ifindex, dev))
		snprintf(dev, IF_NAMESIZE, "if%" PRIu32, ifindex);
	return dev;
}

static void print_dev(struct out *o, const char *fmt, uint32_t ifindex)
{
	char dev[IF_NAMESIZE];

	out_str(o, "dev", fmt, dev_name(dev, ifindex));
}

static void print_param(struct out *o, const struct param *p)
{
	char unit[32];

	out_open_object(o, NULL);
	out_str(o, "name", " %s", p->name);
	out_qty(o, "value", " %s", p->unit, p->value);
	if (HAVE(p, QUELL_A_PARAM_DEFAULT))
		out_qty(o, "default", NULL, p->unit, p->def);
	out_str(o, "unit", NULL, qty_unit_name(p->unit, unit, sizeof(unit)));
	out_close_object(o);
}

static void print_cc(struct monitor_view *view, const void *entry)
{
	const struct cc *cc = entry;
	size_t i;

	out_str(view->o, "name", "cc %s:", cc->name);
	out_open_array(view->o, "params");
	for (i = 0; i < cc->n_params; i++)
		print_param(view->o, &cc->params[i]);
	out_close_array(view->o);
}

static void print_link(struct monitor_view *view, const void *entry)
{
	const struct link *link = entry;
	char dev[IF_NAMESIZE];

	link_print(view->o, dev_name(dev, link->ifindex), "link %s:", link);
}

static void print_weight(struct monitor_view *view, const void *entry)
{
	const struct sender *sender = entry;

	out_address(view->o, "address", "sender %s", &sender->address);
	print_dev(view->o, " dev %s", sender->ifindex);
	out_u64(view->o, "weight", " weight %s", sender->weight);
}

static void print_lookahead(struct monitor_view *view, const void *entry)
{
	const struct lookahead *group = entry;

	out_bool(view->o, "deleted", view->deleted);
	out_text(view->o, view->deleted ? "Deleted " : "");
	out_str(view->o, "name", "lookahead %s:", group->name);
	out_u64(view->o, "uid", " uid %s", group->uid);
	print_dev(view->o, " dev %s", group->ifindex);
	out_qty(view->o, "time_ns", " time %s", QUELL_UNIT_NS, group->time_ns);
	out_u64(view->o, "members_nr", " members %s", group->members_nr);
}

static void print_flow(struct monitor_view *view, const void *entry)
{
	const struct flow *f = entry;

	out_text(view->o, "flow ");
	flow_print_ends(view->o, f);
	out_str(view->o, "cc", " %s", f->cc ? f->cc : "?");
	if (f->option)
		out_str(view->o, "option", " option %s", f->option);
	if (f->adapt)
		out_str(view->o, "adapt", f->fallback ? " %s to cubic:" : " %s", f->adapt);
	if (f->fallback)
		out_str(view->o, "fallback", " %s", f->fallback);
}

/* The counter of that name as it is known, or NULL. */
static struct counter *find_counter(struct stat_list *list, const char *group, const char *name)
{
	size_t i, j;

	for (i = 0; i < list->n; i++)
		for (j = 0; !strcmp(list->list[i].name, group) && j < list->list[i].counters.n; j++)
			if (!strcmp(list->list[i].counters.list[j].name, name))
				return &list->list[i].counters.list[j];
	return NULL;
}

/*
 * How much each counter of a group rose; whether any did.  An event
 * that was on its way when counters were read has no more than is known.
 */
static bool take_rises(struct monitor_view *view, struct stat_group *group)
{
	uint64_t rises, any = 0;
	size_t i;

	for (i = 0; i < group->counters.n; i++) {
		struct counter *c = &group->counters.list[i];
		struct counter *known = find_counter(&view->counters, group->name, c->name);

		rises = c->value;
		if (known) {
			rises = c->value > known->value ? c->value - known->value : 0;
			known->value += rises;
		}
		c->rise = rises;
		any |= rises;
	}
	return any;
}

static void print_stat(struct monitor_view *view, const void *entry)
{
	const struct stat_group *group = entry;
	size_t i;

	out_str(view->o, "name", "stat %s:", group->name);
	out_open_array(view->o, "counters");
	for (i = 0; i < group->counters.n; i++) {
		const struct counter *c = &group->counters.list[i];

		if (!c->rise)
			continue;
		out_open_object(view->o, NULL);
		out_str(view->o, "name", " %s", c->name);
		out_u64(view->o, "new", " +%s", c->rise);
		out_u64(view->o, "value", NULL, c->value);
		out_close_object(view->o);
	}
	out_close_array(view->o);
}

static const struct {
	uint8_t			cmd;
	const char		*event;
	const struct attr_kind	*kind;
	void			(*print)(struct monitor_view *view, const void *entry);
} events[] = {
	{ QUELL_CMD_CC_NTF, "cc", &cc_kind, print_cc },
	{ QUELL_CMD_LINK_NTF, "link", &link_kind, print_link },
	{ QUELL_CMD_WEIGHT_NTF, "sender", &sender_kind, print_weight },
	{ QUELL_CMD_LOOKAHEAD_ADD_NTF, "lookahead", &lookahead_kind, print_lookahead },
	{ QUELL_CMD_LOOKAHEAD_DEL_NTF, "lookahead", &lookahead_kind, print_lookahead },
	{ QUELL_CMD_FLOW_OPTION_NTF, "option", &flow_kind, print_flow },
	{ QUELL_CMD_FLOW_ADAPT_NTF, "adapt", &flow_kind, print_flow },
	{ QUELL_CMD_FLOW_STAT_NTF, "stat", &stat_kind, print_stat },
	{ QUELL_CMD_SETTING_STAT_NTF, "stat", &stat_kind, print_stat },
};

/*
 * Print an event, a message of a multicast group of the family. Returns 0, -EBADMSG for a malformed
 * message, or -ENOMEM.
 */
int monitor_print(struct monitor_view *view, const struct nlmsghdr *nlh)
{
	const struct genlmsghdr *genl = mnl_nlmsg_get_payload(nlh);
	struct stat_list list = {};	/* of any kind */
	size_t i;
	int ret;

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*genl))
		return -EBADMSG;
	for (i = 0; i < ARRAY_SIZE(events) && events[i].cmd != genl->cmd; i++)
		;
	if (i == ARRAY_SIZE(events))
		return 0;
	ret = list_add(events[i].kind, &list, nlh);
	view->deleted = genl->cmd == QUELL_CMD_LOOKAHEAD_DEL_NTF;
	if (!ret && (events[i].kind != &stat_kind || take_rises(view, list.list))) {
		begin(view, events[i].event);
		events[i].print(view, list.list);
		end(view);
	}
	list_free(events[i].kind, &list);
	return ret;
}

/* Print between the events, for programs, too, that some were lost before they were read. */
void monitor_print_overrun(struct monitor_view *view)
{
	begin(view, "overrun");
	out_text(view->o, "overrun: events were lost, they came faster than they were read");
	end(view);
}

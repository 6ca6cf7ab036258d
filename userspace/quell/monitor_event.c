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
	out_open_object(view->o, NULL);
	if (view->stamp == STAMP_LONG) {
		strftime(text, sizeof(text), "%a %b %e %H:%M:%S %Y", &local);
		snprintf(line, sizeof(line), "Timestamp: %s %ld usec\n", text,
			 view->now.tv_nsec / NS_PER_US);
	} else if (view->stamp == STAMP_SHORT) {
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &local);
		snprintf(line, sizeof(line), "[%s.%06ld] ", text, view->now.tv_nsec / NS_PER_US);
	}
	if (view->stamp)
		out_u64_as(view->o, "timestamp_ns", "%s",
			   view->now.tv_sec * NS_PER_SEC + view->now.tv_nsec, line);
	out_str(view->o, "event", NULL, event);
}

static void end(struct monitor_view *view)
{
	out_text(view->o, "\n");
	out_close_object(view->o);
	out_document_end(view->o);
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

static int print_cc(struct monitor_view *view, const struct nlmsghdr *nlh)
{
	struct cc_list list = {};
	int ret = cc_list_add(&list, nlh);
	size_t i;

	if (!ret) {
		begin(view, "cc");
		out_str(view->o, "name", "cc %s:", list.list[0].name);
		out_open_array(view->o, "params");
		for (i = 0; i < list.list[0].n_params; i++)
			print_param(view->o, &list.list[0].params[i]);
		out_close_array(view->o);
		end(view);
	}
	cc_list_free(&list);
	return ret;
}

static int print_link(struct monitor_view *view, const struct nlmsghdr *nlh)
{
	struct link_list list = {};
	int ret = link_list_add(&list, nlh);
	char dev[IF_NAMESIZE];

	if (!ret) {
		begin(view, "link");
		link_print(view->o, dev_name(dev, list.list[0].ifindex), "link %s:", list.list);
		end(view);
	}
	link_list_free(&list);
	return ret;
}

static int print_weight(struct monitor_view *view, const struct nlmsghdr *nlh)
{
	struct sender_list list = {};
	int ret = sender_list_add(&list, nlh);

	if (!ret) {
		begin(view, "sender");
		out_address(view->o, "address", "sender %s", &list.list[0].address);
		print_dev(view->o, " dev %s", list.list[0].ifindex);
		out_u64(view->o, "weight", " weight %s", list.list[0].weight);
		end(view);
	}
	sender_list_free(&list);
	return ret;
}

static int print_lookahead(struct monitor_view *view, const struct nlmsghdr *nlh, bool deleted)
{
	struct lookahead_list list = {};
	int ret = lookahead_list_add(&list, nlh);

	if (!ret) {
		begin(view, "lookahead");
		out_bool(view->o, "deleted", deleted);
		out_text(view->o, deleted ? "Deleted " : "");
		out_str(view->o, "name", "lookahead %s:", list.list[0].name);
		out_u64(view->o, "uid", " uid %s", list.list[0].uid);
		print_dev(view->o, " dev %s", list.list[0].ifindex);
		out_qty(view->o, "time_ns", " time %s", QUELL_UNIT_NS, list.list[0].time_ns);
		out_u64(view->o, "members_nr", " members %s", list.list[0].members_nr);
		end(view);
	}
	lookahead_list_free(&list);
	return ret;
}

static void print_flow_news(struct out *o, const struct flow *f)
{
	out_str(o, "cc", " %s", f->cc ? f->cc : "?");
	if (f->option)
		out_str(o, "option", " option %s", f->option);
	if (f->adapt)
		out_str(o, "adapt", f->fallback ? " %s to cubic:" : " %s", f->adapt);
	if (f->fallback)
		out_str(o, "fallback", " %s", f->fallback);
}

static int print_flow(struct monitor_view *view, const struct nlmsghdr *nlh, const char *event)
{
	struct flow_list list = {};
	int ret = flow_list_add(&list, nlh);

	if (!ret) {
		begin(view, event);
		out_text(view->o, "flow ");
		flow_print_ends(view->o, &list.list[0]);
		print_flow_news(view->o, &list.list[0]);
		end(view);
	}
	flow_list_free(&list);
	return ret;
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
 * How much each counter of a group rose; their number that did.  An event that was on its way when
 * counters were read has no more than is known.
 */
static size_t take_rises(struct monitor_view *view, struct stat_group *group, uint64_t *rises)
{
	size_t i, n = 0;

	for (i = 0; i < group->counters.n; i++) {
		const struct counter *c = &group->counters.list[i];
		struct counter *known = find_counter(&view->counters, group->name, c->name);

		rises[i] = c->value;
		if (known) {
			rises[i] = c->value > known->value ? c->value - known->value : 0;
			known->value += rises[i];
		}
		n += rises[i] != 0;
	}
	return n;
}

static void print_rises(struct monitor_view *view, const struct stat_group *group,
			const uint64_t *rises)
{
	size_t i;

	begin(view, "stat");
	out_str(view->o, "name", "stat %s:", group->name);
	out_open_array(view->o, "counters");
	for (i = 0; i < group->counters.n; i++) {
		if (!rises[i])
			continue;
		out_open_object(view->o, NULL);
		out_str(view->o, "name", " %s", group->counters.list[i].name);
		out_u64(view->o, "new", " +%s", rises[i]);
		out_u64(view->o, "value", NULL, group->counters.list[i].value);
		out_close_object(view->o);
	}
	out_close_array(view->o);
	end(view);
}

static int print_stat(struct monitor_view *view, const struct nlmsghdr *nlh)
{
	struct stat_list list = {};
	int ret = stat_list_add(&list, nlh);
	/* One for each attribute that the message can have. */
	uint64_t rises[NL_BUFFER_LEN / sizeof(struct nlattr)];

	if (!ret && take_rises(view, &list.list[0], rises))
		print_rises(view, &list.list[0], rises);
	stat_list_free(&list);
	return ret;
}

/**
 * monitor_print() - print an event
 * @view: how
 * @nlh: message of a multicast group of the family, NL_BUFFER_LEN at most
 *
 * Return: 0, -EBADMSG for a malformed message, or -ENOMEM.
 */
int monitor_print(struct monitor_view *view, const struct nlmsghdr *nlh)
{
	const struct genlmsghdr *genl = mnl_nlmsg_get_payload(nlh);

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*genl))
		return -EBADMSG;
	switch (genl->cmd) {
	case QUELL_CMD_CC_NTF:
		return print_cc(view, nlh);
	case QUELL_CMD_LINK_NTF:
		return print_link(view, nlh);
	case QUELL_CMD_WEIGHT_NTF:
		return print_weight(view, nlh);
	case QUELL_CMD_LOOKAHEAD_ADD_NTF:
		return print_lookahead(view, nlh, false);
	case QUELL_CMD_LOOKAHEAD_DEL_NTF:
		return print_lookahead(view, nlh, true);
	case QUELL_CMD_FLOW_OPTION_NTF:
		return print_flow(view, nlh, "option");
	case QUELL_CMD_FLOW_ADAPT_NTF:
		return print_flow(view, nlh, "adapt");
	case QUELL_CMD_FLOW_STAT_NTF:
	case QUELL_CMD_SETTING_STAT_NTF:
		return print_stat(view, nlh);
	}
	return 0;
}

/**
 * monitor_print_overrun() - print that events were lost before they were read
 * @view: how
 *
 * Programs find it between the events; people, too, for it is where it belongs.
 */
void monitor_print_overrun(struct monitor_view *view)
{
	begin(view, "overrun");
	out_text(view->o, "overrun: events were lost, they came faster than they were read");
	end(view);
}

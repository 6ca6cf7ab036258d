// SPDX-License-Identifier: GPL-2.0
/*
 * quell monitor: events as they happen, a line each.
 *
 * The groups are joined first and counters are read then, by another socket: events carry totals,
 * so an event between both is not counted twice.  The totals of an event sent before may be less
 * than the counters read.
 *
 * The module may be unloaded meanwhile.  The kernel then removes listeners from its groups without
 * notice; nlctrl, the family of families, reports the removal.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "monitor.h"
#include "quell.h"
#include "util.h"

/* As ip monitor has it by default. */
#define BUFFER_BYTES	(1024 * 1024)

#define AT(member)	offsetof(struct monitor_args, member)

static const struct quantity buffer_range = { QUELL_UNIT_BYTES, 1, 1 << 30 };

static const struct word known[] = {
	{ "settings", NULL, AT(settings), NULL },
	{ "flows", NULL, AT(flows), NULL },
	{ "-ts", NULL, AT(stamp), NULL },
	{ "rcvbuf", word_quantity, AT(buffer_bytes), &buffer_range },
};

/* Parse the arguments, in any order: all groups without "flows" or "settings". */
int monitor_args_parse(struct monitor_args *words, int argc, char **argv)
{
	const struct words all = { .name = "monitor", .list = known, .n = ARRAY_SIZE(known) };
	int status;

	*words = (struct monitor_args){ .buffer_bytes = BUFFER_BYTES };
	status = words_read(&all, words, argc, argv);
	if (!words->settings && !words->flows) {
		words->settings = true;
		words->flows = true;
	}
	return status;
}

/* Output is flushed already.  A write blocked by a slow reader must end, too. */
static void exit_now(int number)
{
	_exit(STATUS_OK);
}

/* Signals that are ignored from the start, as by nohup, stay so. */
static void catch_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = exit_now }, old;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(signals); i++)
		if (!sigaction(signals[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static int join(struct nl *nl, const struct monitor_args *words, struct nl_error *err)
{
	int ret = 0;

	nl_set_buffer(nl, words->buffer_bytes);
	if (words->settings)
		ret = nl_join(nl, nl->groups[NL_SETTINGS], err);
	if (!ret && words->flows)
		ret = nl_join(nl, nl->groups[NL_FLOWS], err);
	/* Its number is fixed. */
	return ret ? ret : nl_join(nl, GENL_ID_CTRL, err);
}

/* Whether the kernel says that the family is gone. */
static bool is_end(const struct nlmsghdr *nlh, uint16_t family)
{
	const struct genlmsghdr *genl = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *attr;

	if (nlh->nlmsg_type != GENL_ID_CTRL || mnl_nlmsg_get_payload_len(nlh) < sizeof(*genl) ||
	    genl->cmd != CTRL_CMD_DELFAMILY)
		return false;
	mnl_attr_for_each(attr, nlh, sizeof(*genl))
		if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID &&
		    mnl_attr_get_payload_len(attr) == sizeof(family) &&
		    mnl_attr_get_u16(attr) == family)
			return true;
	return false;
}

static int take_event(struct monitor_view *view, const struct nlmsghdr *nlh, uint16_t family)
{
	struct nl_error err = {};

	if (is_end(nlh, family))
		return complain_fault("monitor: kernel module quell was unloaded");
	if (nlh->nlmsg_type != family)
		return STATUS_OK;
	err.code = -monitor_print(view, nlh);
	return err.code ? complain_kernel("monitor: cannot read an event", &err) : STATUS_OK;
}

/* Print all pending events; the newline ends them, so that a pipe has it at once. */
static int take_events(struct monitor_view *view, struct nl *nl)
{
	char buf[NL_BUFFER_LEN] __attribute__((aligned(8)));
	const struct nlmsghdr *nlh = (const struct nlmsghdr *)buf;
	ssize_t got = nl_receive(nl->sock, buf, sizeof(buf));
	struct nl_error err = { .code = errno };
	int status = STATUS_OK;
	int len = got;

	clock_gettime(CLOCK_REALTIME, &view->now);
	if (got < 0 && err.code == ENOBUFS)
		view->lost = true;
	else if (got < 0 && err.code != EINTR && err.code != EAGAIN)
		return complain_kernel("monitor", &err);
	for (; !status && got > 0 && mnl_nlmsg_ok(nlh, len); nlh = mnl_nlmsg_next(nlh, &len))
		status = take_event(view, nlh, nl->family);
	return status;
}

/*
 * The kernel reports an overrun before the events queued earlier, and drops more until these are
 * read.  The notification of the module's removal may be among those dropped.
 */
static int report_loss(struct app *app, struct monitor_view *view, struct pollfd *events)
{
	struct stat_list now = {};
	int status;

	if (!view->lost || poll(events, 1, 0))
		return STATUS_OK;
	view->lost = false;
	monitor_print_overrun(view);
	status = stat_fetch(app, &now);
	stat_list_free(&now);
	return status;
}

/* Until a signal comes, nobody reads the output any more, or the module goes. */
static int follow(struct app *app, struct monitor_view *view, struct nl *nl)
{
	struct pollfd fds[] = {
		{ .fd = mnl_socket_get_fd(nl->sock), .events = POLLIN },
		{ .fd = STDOUT_FILENO },
	};
	int status = STATUS_OK;

	catch_signals();
	while (!status && !ferror(view->o->file)) {
		if (poll(fds, ARRAY_SIZE(fds), -1) < 0)
			continue;
		if (fds[1].revents)
			break;
		status = take_events(view, nl) ?: report_loss(app, view, fds);
		/* A closed pipe is no error; a full disk is. */
		if (fflush(view->o->file) && errno == EPIPE)
			_exit(STATUS_OK);
	}
	return status;
}

static int listen_to(struct app *app, const struct monitor_args *words)
{
	struct monitor_view view = { .o = &app->out, .stamp = words->stamp };
	struct nl_error err;
	struct nl nl;
	int status;

	if (nl_open(&nl, &err))
		return complain_kernel("cannot reach the kernel", &err);
	if (join(&nl, words, &err))
		status = complain_kernel("monitor: cannot listen", &err);
	else
		status = stat_fetch(app, &view.counters);
	if (!status)
		status = follow(app, &view, &nl);
	stat_list_free(&view.counters);
	nl_close(&nl);
	return status;
}

int monitor(struct app *app, int argc, char **argv)
{
	struct monitor_args words;

	return monitor_args_parse(&words, argc, argv) ?:
	       app_connect(app, NULL) ?:
	       listen_to(app, &words);
}

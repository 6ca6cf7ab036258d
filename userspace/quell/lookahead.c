// SPDX-License-Identifier: GPL-2.0
/*
 * quell lookahead: groups of hosts that are expected to send at the same time.
 */
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include <quell_lookahead.h>

#include "qty.h"
#include "quell.h"

static int take_group(const struct nlmsghdr *nlh, void *data)
{
	return lookahead_list_add(data, nlh);
}

static void restart_groups(void *data)
{
	lookahead_list_free(data);
}

static void print_member(struct out *o, const char *fmt, const struct address *member)
{
	out_open_object(o, NULL);
	out_address(o, "address", fmt, member);
	out_close_object(o);
}

static void print_group(struct out *o, const struct lookahead *group)
{
	char dev[IF_NAMESIZE];
	size_t i;

	out_open_object(o, NULL);
	out_str(o, "name", "%s:", group->name);
	out_u64(o, "uid", " uid %s", group->uid);
	out_str(o, "dev", " dev %s", if_indextoname(group->ifindex, dev) ? dev : "?");
	out_qty(o, "time_ns", " time %s", QUELL_UNIT_NS, group->time_ns);
	out_u64(o, NULL, " members %s", group->n_members);
	out_u64(o, "waiting", " waiting %s", group->waiting);
	out_text(o, "\n\t");
	out_open_array(o, "members");
	for (i = 0; i < group->n_members; i++)
		print_member(o, i ? " %s" : "%s", &group->members[i]);
	out_close_array(o);
	out_text(o, "\n");
	out_close_object(o);
}

/**
 * lookahead_fetch() - request all look-ahead groups of the namespace
 * @app: connected to the kernel
 * @list: filled in; zeroed before; the caller must free it even on failure
 *
 * Return: an exit status; the reason of a failure has been printed.
 */
int lookahead_fetch(struct app *app, struct lookahead_list *list)
{
	char buf[NL_BUFFER_LEN] __attribute__((aligned(8)));
	struct nl_reader reader = {
		.message = take_group,
		.restart = restart_groups,
		.data = list,
	};
	struct nl_error err;

	if (nl_dump(&app->nl, nl_prepare(&app->nl, buf, QUELL_CMD_LOOKAHEAD_GET), &reader, &err))
		return complain_kernel("cannot list the groups", &err);
	return STATUS_OK;
}

/* quell lookahead show */
int lookahead_show(struct app *app, int argc, char **argv)
{
	struct lookahead_list list = {};
	int status;
	size_t i;

	(void)argc;
	(void)argv;
	if (app_connect(app, "dart"))
		return STATUS_KERNEL;
	status = lookahead_fetch(app, &list);
	if (status)
		goto free_list;
	out_open_array(&app->out, NULL);
	for (i = 0; i < list.n; i++)
		print_group(&app->out, &list.list[i]);
	out_close_array(&app->out);
	out_document_end(&app->out);
free_list:
	lookahead_list_free(&list);
	return status;
}

/**
 * complain_lookahead() - print an error of <quell_lookahead.h> to stderr
 * @request: description of the request
 * @code: negative errno value
 * @text: its text
 *
 * Return: the exit status for it.
 */
int complain_lookahead(const char *request, int code, const char *text)
{
	struct nl_error err = { .code = -code };

	if (strcmp(text, strerror(-code)))
		snprintf(err.text, sizeof(err.text), "%s", text);
	return complain_kernel(request, &err);
}

/**
 * lookahead_read_time() - parse how long members are waited for
 * @text: a time over 0
 * @time_ns: the time, ns
 *
 * Return: an exit status, after a complaint.
 */
int lookahead_read_time(const char *text, uint64_t *time_ns)
{
	enum qty_status why = qty_parse(text, QUELL_UNIT_NS, time_ns);

	if (!why && *time_ns)
		return STATUS_OK;
	complain("time: '%s' %s; expected %s", text, why ? qty_status_text(why) : "is no time",
		 qty_expected(QUELL_UNIT_NS));
	return STATUS_INPUT;
}

/* Parse [dev DEV] [time TIME] in any order; @i is then the index of the next word. */
static int read_keywords(int argc, char **argv, int *i, struct quell_lookahead_group *group)
{
	const char *value;

	while (*i < argc) {
		if (!strcmp(argv[*i], "dev")) {
			if (keyword_value("dev", argc, argv, i, &value) ||
			    find_dev(value, &group->ifindex))
				return STATUS_INPUT;
		} else if (!strcmp(argv[*i], "time")) {
			if (keyword_value("time", argc, argv, i, &value) ||
			    lookahead_read_time(value, &group->time_ns))
				return STATUS_INPUT;
		} else {
			break;
		}
	}
	if (*i < argc)
		return STATUS_OK;
	complain("lookahead: addresses are missing");
	return STATUS_INPUT;
}

static int add_members(struct app *app, struct quell_lookahead_group *group, int argc,
		       char **argv)
{
	char text[QUELL_LOOKAHEAD_ERROR_BYTES];
	struct sockaddr_storage *members;
	int status, i, ret;

	members = calloc(argc, sizeof(*members));
	if (!members) {
		complain("%s", strerror(ENOMEM));
		return STATUS_KERNEL;
	}
	status = STATUS_OK;
	for (i = 0; i < argc && !status; i++)
		status = read_address(argv[i], &members[i]);
	/* For the complaint if there is no such module: the helper has a socket of its own. */
	if (!status)
		status = app_connect(app, "dart");
	if (status)
		goto free_members;
	group->members = members;
	group->members_nr = argc;
	ret = quell_lookahead_add(group, text, sizeof(text));
	status = ret ? complain_lookahead(group->name, ret, text) : STATUS_OK;
free_members:
	free(members);
	return status;
}

/**
 * lookahead_check_name() - check the name of a group
 * @name: as typed
 *
 * Return: an exit status, after a complaint.
 */
int lookahead_check_name(const char *name)
{
	if (*name && strlen(name) < 32)
		return STATUS_OK;
	complain("name: '%s' has not 1 to 31 bytes", name);
	return STATUS_INPUT;
}

/* quell lookahead add NAME [dev DEV] [time TIME] ADDR... */
int lookahead_add(struct app *app, int argc, char **argv)
{
	struct quell_lookahead_group group = { .name = argv[0] };
	int i = 1;

	if (lookahead_check_name(group.name) || read_keywords(argc, argv, &i, &group))
		return STATUS_INPUT;
	return add_members(app, &group, argc - i, argv + i);
}

/* quell lookahead del NAME [uid UID] */
int lookahead_del(struct app *app, int argc, char **argv)
{
	char text[QUELL_LOOKAHEAD_ERROR_BYTES];
	uint64_t number = 0;
	uid_t uid;
	int ret;

	if (lookahead_check_name(argv[0]))
		return STATUS_INPUT;
	if (argc > 1 && (argc < 3 || strcmp(argv[1], "uid"))) {
		complain("unknown word '%s', usage: quell lookahead del NAME [uid UID]", argv[1]);
		return STATUS_INPUT;
	}
	if (argc > 1 && (qty_parse(argv[2], QUELL_UNIT_NONE, &number) || number >= UINT32_MAX)) {
		complain("uid: '%s' is out of range 0 .. 4294967294", argv[2]);
		return STATUS_INPUT;
	}
	if (app_connect(app, "dart"))
		return STATUS_KERNEL;
	uid = number;
	ret = quell_lookahead_del(argv[0], argc > 1 ? &uid : NULL, text, sizeof(text));
	return ret ? complain_lookahead(argv[0], ret, text) : STATUS_OK;
}

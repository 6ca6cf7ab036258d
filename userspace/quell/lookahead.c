// SPDX-License-Identifier: GPL-2.0
/*
 * quell lookahead: groups of hosts that are expected to send at the same time.
 */
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <quell_lookahead.h>

#include "batch.h"
#include "qty.h"
#include "quell.h"
#include "util.h"

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

static int fetch_groups(struct app *app, struct lookahead_list *list)
{
	return app_fetch(app, QUELL_CMD_LOOKAHEAD_GET, &lookahead_kind, list,
			 "cannot list the groups");
}

int lookahead_show(struct app *app, int argc, char **argv)
{
	struct lookahead_list list = {};
	int status;
	size_t i;

	if (app_connect(app, "dart"))
		return STATUS_KERNEL;
	status = fetch_groups(app, &list);
	if (status)
		goto free_list;
	out_open_array(&app->out, NULL);
	for (i = 0; i < list.n; i++)
		print_group(&app->out, &list.list[i]);
	out_close_array(&app->out);
free_list:
	lookahead_list_free(&list);
	return status;
}

/*
 * Print an error of <quell_lookahead.h>, a negative errno value and its text; returns the exit
 * status for it.
 */
int complain_lookahead(const char *request, int code, const char *text)
{
	struct nl_error err = { .code = -code };

	if (strcmp(text, strerror(-code)))
		snprintf(err.text, sizeof(err.text), "%s", text);
	return complain_kernel(request, &err);
}

/*
 * Check that dart is loaded, and can look ahead for a time, 0 for its default. Its parameter
 * lookahead may be another when the time counts, so that its range is the limit.
 */
int dart_check(struct app *app, uint64_t time_ns)
{
	struct cc_list list;
	int status = cc_fetch(app, &list);
	char text[QTY_TEXT_LEN];
	const struct param *limit;
	const struct cc *cc;

	if (!status)
		status = cc_find(&list, "dart", &cc);
	if (!status && time_ns) {
		limit = cc_find_param(cc, "lookahead");
		status = limit ? STATUS_OK : STATUS_KERNEL;
		if (limit && time_ns > limit->max)
			status = complain("time: '%s' is out of range",
					  qty_format(text, sizeof(text), QUELL_UNIT_NS, time_ns));
	}
	cc_list_free(&list);
	return status;
}

static int check_name(const char *name)
{
	if (*name && strlen(name) < 32)
		return STATUS_OK;
	return complain("name: '%s' has not 1 to 31 bytes", name);
}

static const struct quantity time_range = { QUELL_UNIT_NS, 1, UINT64_MAX };

static const struct word keywords[] = {
	{ "dev", word_dev, offsetof(struct quell_lookahead_group, ifindex), NULL },
	{ "time", word_quantity, offsetof(struct quell_lookahead_group, time_ns), &time_range },
};

/* Whether there are dart, its range of times and a route; members are the kernel's to check. */
static int check_group(struct app *app, const struct quell_lookahead_group *group, char **words)
{
	char text[QUELL_LOOKAHEAD_ERROR_BYTES];
	int ret = group->ifindex ? 0 : quell_lookahead_ifindex(group->members, text, sizeof(text));

	return ret < 0 ? complain_lookahead(words[0], ret, text) : dart_check(app, group->time_ns);
}

/* Of the groups of this user; the one of a name, or NULL. */
static const struct lookahead *find_group(const struct lookahead_list *list, const char *name)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		if (list->list[i].uid == geteuid() && !strcmp(list->list[i].name, name))
			return &list->list[i];
	return NULL;
}

static void add_again(const struct lookahead *old)
{
	struct sockaddr_storage *members = calloc(old->n_members + 1, sizeof(*members));
	struct quell_lookahead_group group = {
		.name = old->name, .ifindex = old->ifindex, .time_ns = old->time_ns,
		.members = members, .members_nr = old->n_members,
	};
	char text[QUELL_LOOKAHEAD_ERROR_BYTES] = "", address[INET6_ADDRSTRLEN];
	int ret = members ? 0 : -ENOMEM;
	size_t i;

	for (i = 0; !ret && i < old->n_members; i++)
		ret = read_address(address_text(&old->members[i], address), &members[i]);
	if (!ret)
		ret = quell_lookahead_add(&group, text, sizeof(text));
	if (ret)
		complain("%s: the group of before is lost: %s", old->name,
			 *text ? text : strerror(-ret));
	free(members);
}

/* The group of before is registered again if the kernel refuses the new one. */
static int replace_group(struct app *app, const struct quell_lookahead_group *group)
{
	char text[QUELL_LOOKAHEAD_ERROR_BYTES];
	struct lookahead_list list = {};
	const struct lookahead *old;
	int ret, status = fetch_groups(app, &list);

	if (status)
		goto free_list;
	old = find_group(&list, group->name);
	ret = old ? quell_lookahead_del(group->name, NULL, text, sizeof(text)) : 0;
	if (!ret) {
		ret = quell_lookahead_add(group, text, sizeof(text));
		if (ret && old)
			add_again(old);
	}
	status = ret ? complain_lookahead(group->name, ret, text) : STATUS_OK;
free_list:
	lookahead_list_free(&list);
	return status;
}

static int add_group(const struct quell_lookahead_group *group)
{
	char text[QUELL_LOOKAHEAD_ERROR_BYTES];
	int ret = quell_lookahead_add(group, text, sizeof(text));

	return ret ? complain_lookahead(group->name, ret, text) : STATUS_OK;
}

/* Register a group, or replace the one of its name. */
int lookahead_add(struct app *app, int argc, char **argv)
{
	static const struct words words = {
		.name = "lookahead", .list = keywords, .n = ARRAY_SIZE(keywords),
	};
	struct quell_lookahead_group group = { .name = *argv++ };
	bool replace = !strcmp(app->verb, "replace");
	struct sockaddr_storage *members;
	int status;
	size_t n;

	argc--;
	if (check_name(group.name) || words_take(&words, &group, &argc, &argv))
		return STATUS_INPUT;
	if (!argc)
		return complain("lookahead: addresses are missing");
	group.members_nr = argc;
	members = calloc(group.members_nr, sizeof(*members));
	group.members = members;
	if (!members)
		return complain_fault("%s", strerror(ENOMEM));
	status = STATUS_OK;
	for (n = 0; n < group.members_nr && !status; n++)
		status = read_address(argv[n], &members[n]);
	/* For the complaint if there is no such module: the helper has a socket of its own. */
	status = status ?: app_connect(app, "dart") ?:
		 (app->check ? check_group(app, &group, argv) :
		  replace    ? replace_group(app, &group) : add_group(&group));
	free(members);
	return status;
}

static void save_group(const struct lookahead *group, const char *dev, FILE *set, FILE *reset)
{
	char word[BATCH_WORD_LEN], time[QTY_TEXT_LEN], text[INET6_ADDRSTRLEN];
	size_t i;

	fprintf(reset, "lookahead del %s\n", batch_word(word, group->name));
	fprintf(set, "lookahead replace %s", word);
	fprintf(set, " dev %s time %s", batch_word(word, dev),
		qty_format(time, sizeof(time), QUELL_UNIT_NS, group->time_ns));
	for (i = 0; i < group->n_members; i++)
		fprintf(set, " %s", address_text(&group->members[i], text));
	fputc('\n', set);
}

static void save_limit(uint64_t limit_ns, FILE *set, FILE *reset)
{
	char text[QTY_TEXT_LEN];

	fprintf(set, "cc set dart lookahead %s\n",
		qty_format(text, sizeof(text), QUELL_UNIT_NS, limit_ns));
	fputs("cc reset dart lookahead\n", reset);
}

/*
 * Write commands that make the groups of the calling user, and commands that delete them. Dart's
 * parameter lookahead, @limit_ns, is raised meanwhile if it was higher when a group was made.
 */
int lookahead_save(struct app *app, uint64_t limit_ns, FILE *set, FILE *reset)
{
	struct lookahead_list list = {};
	int status = fetch_groups(app, &list);
	uint64_t most_ns = limit_ns;
	char dev[IF_NAMESIZE];
	size_t i;

	for (i = 0; !status && i < list.n; i++)
		if (list.list[i].uid == geteuid() && list.list[i].time_ns > most_ns)
			most_ns = list.list[i].time_ns;
	if (most_ns > limit_ns)
		save_limit(most_ns, set, reset);
	for (i = 0; !status && i < list.n; i++)
		if (list.list[i].uid == geteuid() && if_indextoname(list.list[i].ifindex, dev))
			save_group(&list.list[i], dev, set, reset);
	if (most_ns > limit_ns)
		save_limit(limit_ns, set, reset);
	lookahead_list_free(&list);
	return status;
}

int lookahead_del(struct app *app, int argc, char **argv)
{
	char text[QUELL_LOOKAHEAD_ERROR_BYTES];
	uint64_t number = 0;
	uid_t uid;
	int ret;

	if (check_name(argv[0]))
		return STATUS_INPUT;
	if (argc > 1 && (argc < 3 || strcmp(argv[1], "uid")))
		return complain("unknown word '%s', usage: quell lookahead del NAME [uid UID]",
				argv[1]);
	if (argc > 1 && (qty_parse(argv[2], QUELL_UNIT_NONE, &number) || number >= UINT32_MAX))
		return complain("uid: '%s' is out of range 0 .. 4294967294", argv[2]);
	if (app_connect(app, "dart"))
		return STATUS_KERNEL;
	if (app->check)
		return STATUS_OK;
	uid = number;
	ret = quell_lookahead_del(argv[0], argc > 1 ? &uid : NULL, text, sizeof(text));
	return ret ? complain_lookahead(argv[0], ret, text) : STATUS_OK;
}

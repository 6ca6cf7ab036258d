// SPDX-License-Identifier: GPL-2.0
/*
 * Parameters and counters of congestion control algorithms, through generic
 * netlink.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/genetlink.h>
#include <stdio.h>
#include <string.h>

#include "../../include/uapi/linux/quell.h"
#include "init.h"

/* Store the family id in @arg if this message of the dump describes Quell's family. */
static void each_family(const struct nlmsghdr *nlh, void *arg)
{
	const struct nlattr *tb[CTRL_ATTR_MAX + 1];
	int header = NLMSG_HDRLEN + GENL_HDRLEN;

	nl_parse(tb, CTRL_ATTR_MAX, (const char *)nlh + header,
		 nlh->nlmsg_len - header);
	if (tb[CTRL_ATTR_FAMILY_ID] && tb[CTRL_ATTR_FAMILY_NAME] &&
	    !strcmp(nl_data(tb[CTRL_ATTR_FAMILY_NAME]), QUELL_FAMILY_NAME))
		memcpy(arg, nl_data(tb[CTRL_ATTR_FAMILY_ID]), sizeof(uint16_t));
}

static uint16_t family_id(int fd)
{
	struct genlmsghdr genl = { .cmd = CTRL_CMD_GETFAMILY, .version = 1 };
	static uint16_t id;
	struct request req;

	if (id)
		return id;
	nl_start(&req, GENL_ID_CTRL, NLM_F_DUMP, &genl, sizeof(genl));
	nl_dump(fd, &req, each_family, &id);
	if (!id)
		fail("no netlink family '" QUELL_FAMILY_NAME
		     "': is quell.ko loaded?");
	return id;
}

/* The generic netlink socket of a namespace, opened on first use. */
static int node_genl(int index)
{
	struct node *node = &nodes[index];

	if (node->genl_fd < 0) {
		net_enter(index);
		node->genl_fd = nl_open(NETLINK_GENERIC);
	}
	return node->genl_fd;
}

/* param NODE ALGO NAME VALUE */
void cmd_param(void)
{
	struct genlmsghdr genl = {
		.cmd = QUELL_CMD_CC_SET,
		.version = QUELL_FAMILY_VERSION,
	};
	struct nlattr *param;
	struct request req;
	int fd;

	need_words(4, 4);
	fd = node_genl(node_index(line.word[1]));
	nl_start(&req, family_id(fd), 0, &genl, sizeof(genl));
	nl_put_string(&req, QUELL_A_CC_NAME, line.word[2]);
	param = nl_nest(&req, QUELL_A_CC_PARAM);
	nl_put_string(&req, QUELL_A_PARAM_NAME, line.word[3]);
	nl_put_u64(&req, QUELL_A_PARAM_VALUE, number(line.word[4], 0, UINT64_MAX));
	nl_nest_end(&req, param);
	nl_do(fd, &req);
}

/* lookahead NODE DEV NAME TIME_NS ADDRESS... */
void cmd_lookahead(void)
{
	struct genlmsghdr genl = {
		.cmd = QUELL_CMD_LOOKAHEAD_ADD,
		.version = QUELL_FAMILY_VERSION,
	};
	const struct port *port;
	struct request req;
	int fd, i;

	need_words(5, PLAN_WORDS_MAX);
	port = port_find(line.word[1], line.word[2]);
	fd = node_genl(port->node);
	nl_start(&req, family_id(fd), 0, &genl, sizeof(genl));
	nl_put_string(&req, QUELL_A_LOOKAHEAD_NAME, line.word[3]);
	nl_put_u32(&req, QUELL_A_LOOKAHEAD_IFINDEX, port->ifindex);
	nl_put_u64(&req, QUELL_A_LOOKAHEAD_TIME, number(line.word[4], 0, UINT64_MAX));
	for (i = 5; i < line.n; i++) {
		struct address addr = address(line.word[i]);

		nl_put(&req, QUELL_A_LOOKAHEAD_MEMBER, addr.bytes, addr.size);
	}
	nl_do(fd, &req);
}

/* Where each_stat() writes. */
struct counters_to {
	FILE		*file;	/* counters.out */
	const char	*node;	/* namespace being asked */
};

static void write_counter(const struct counters_to *to, const char *name,
			  const struct nlattr *counter)
{
	const struct nlattr *tb[QUELL_A_COUNTER_MAX + 1];
	uint64_t value;

	nl_parse(tb, QUELL_A_COUNTER_MAX, nl_data(counter), nl_len(counter));
	if (!tb[QUELL_A_COUNTER_NAME] || !tb[QUELL_A_COUNTER_VALUE])
		fail("a counter without name or value");
	memcpy(&value, nl_data(tb[QUELL_A_COUNTER_VALUE]), sizeof(value));
	if (value)
		fprintf(to->file, "%s %s %s %" PRIu64 "\n", to->node, name,
			(const char *)nl_data(tb[QUELL_A_COUNTER_NAME]), value);
}

/* Write the counters of one message, which has one attribute per counter of an algorithm. */
static void each_stat(const struct nlmsghdr *nlh, void *arg)
{
	const char *at = (const char *)nlh + NLMSG_HDRLEN + GENL_HDRLEN;
	const char *end = (const char *)nlh + nlh->nlmsg_len;
	const struct nlattr *attr;
	const char *name = "";

	for (; end - at >= NLA_HDRLEN; at += NLA_ALIGN(attr->nla_len)) {
		attr = (const struct nlattr *)at;
		if (attr->nla_len < NLA_HDRLEN || attr->nla_len > end - at)
			fail("a broken attribute among the counters");
		if ((attr->nla_type & NLA_TYPE_MASK) == QUELL_A_STAT_NAME)
			name = nl_data(attr);
		else if ((attr->nla_type & NLA_TYPE_MASK) == QUELL_A_STAT_COUNTER)
			write_counter(arg, name, attr);
	}
}

/* Write counters.out: Quell's non-zero counters in each namespace. */
void counters_collect(void)
{
	struct genlmsghdr genl = {
		.cmd = QUELL_CMD_STAT_GET,
		.version = QUELL_FAMILY_VERSION,
	};
	struct counters_to to;
	struct request req;
	int i;

	for (i = 0; i < n_modules && strcmp(modules[i], "quell"); i++)
		;
	if (i == n_modules)
		return;
	to.file = fopen(OUT_DIR "counters.out", "we");
	if (!to.file)
		fail("opening counters.out: %s", strerror(errno));
	for (i = 0; i < n_nodes; i++) {
		int fd = node_genl(i);

		to.node = nodes[i].name;
		nl_start(&req, family_id(fd), NLM_F_DUMP, &genl, sizeof(genl));
		nl_dump(fd, &req, each_stat, &to);
	}
	if (fclose(to.file))
		fail("writing counters.out: %s", strerror(errno));
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Parameters of congestion control algorithms, through generic netlink.
 */
#include <linux/genetlink.h>
#include <string.h>

#include "../../../include/uapi/linux/quell.h"
#include "init.h"

/* Keep the id of our family, if this message of the list is about it. */
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

/* param NODE ALGO NAME VALUE */
void cmd_param(void)
{
	struct genlmsghdr genl = {
		.cmd = QUELL_CMD_CC_SET,
		.version = QUELL_FAMILY_VERSION,
	};
	struct nlattr *param;
	struct request req;
	struct node *node;
	int index;

	need_words(4, 4);
	index = node_index(line.word[1]);
	node = &nodes[index];
	if (node->genl_fd < 0) {
		net_enter(index);
		node->genl_fd = nl_open(NETLINK_GENERIC);
	}
	nl_start(&req, family_id(node->genl_fd), 0, &genl, sizeof(genl));
	nl_put_string(&req, QUELL_A_CC_NAME, line.word[2]);
	param = nl_nest(&req, QUELL_A_CC_PARAM);
	nl_put_string(&req, QUELL_A_PARAM_NAME, line.word[3]);
	nl_put_u64(&req, QUELL_A_PARAM_VALUE, number(line.word[4], 0, UINT64_MAX));
	nl_nest_end(&req, param);
	nl_do(node->genl_fd, &req);
}

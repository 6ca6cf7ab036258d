// SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/quell.yaml */
/* YNL-GEN kernel source */

#include <net/netlink.h>
#include <net/genetlink.h>

#include "genl_gen.h"

#include <uapi/linux/quell.h>
#include <compat/genl.h>

/* Common nested types */
const struct nla_policy quell_param_nl_policy[QUELL_A_PARAM_DOC + 1] = {
	[QUELL_A_PARAM_NAME] = { .type = NLA_NUL_STRING, .len = 31, },
	[QUELL_A_PARAM_VALUE] = { .type = NLA_U64, },
	[QUELL_A_PARAM_DEFAULT] = { .type = NLA_U64, },
	[QUELL_A_PARAM_RANGE_MIN] = { .type = NLA_U64, },
	[QUELL_A_PARAM_RANGE_MAX] = { .type = NLA_U64, },
	[QUELL_A_PARAM_UNIT] = NLA_POLICY_MAX(NLA_U32, 7),
	[QUELL_A_PARAM_DOC] = { .type = NLA_NUL_STRING, },
};

/* QUELL_CMD_CC_GET - do */
static const struct nla_policy quell_cc_get_nl_policy[QUELL_A_CC_NAME + 1] = {
	[QUELL_A_CC_NAME] = { .type = NLA_NUL_STRING, .len = 15, },
};

/* QUELL_CMD_CC_SET - do */
static const struct nla_policy quell_cc_set_nl_policy[QUELL_A_CC_PARAM + 1] = {
	[QUELL_A_CC_NAME] = { .type = NLA_NUL_STRING, .len = 15, },
	[QUELL_A_CC_PARAM] = NLA_POLICY_NESTED(quell_param_nl_policy),
};

/* QUELL_CMD_CC_RESET - do */
static const struct nla_policy quell_cc_reset_nl_policy[QUELL_A_CC_PARAM + 1] = {
	[QUELL_A_CC_NAME] = { .type = NLA_NUL_STRING, .len = 15, },
	[QUELL_A_CC_PARAM] = NLA_POLICY_NESTED(quell_param_nl_policy),
};

/* QUELL_CMD_FLOW_GET - dump */
static const struct nla_policy quell_flow_get_nl_policy[QUELL_A_FLOW_CC + 1] = {
	[QUELL_A_FLOW_CC] = { .type = NLA_NUL_STRING, .len = 15, },
};

/* QUELL_CMD_LINK_SET - do */
static const struct nla_policy quell_link_set_nl_policy[QUELL_A_LINK_RATE + 1] = {
	[QUELL_A_LINK_IFINDEX] = { .type = NLA_U32, },
	[QUELL_A_LINK_RATE] = { .type = NLA_U64, },
};

/* QUELL_CMD_LOOKAHEAD_ADD - do */
static const struct nla_policy quell_lookahead_add_nl_policy[QUELL_A_LOOKAHEAD_MEMBER + 1] = {
	[QUELL_A_LOOKAHEAD_NAME] = { .type = NLA_NUL_STRING, .len = 31, },
	[QUELL_A_LOOKAHEAD_IFINDEX] = { .type = NLA_U32, },
	[QUELL_A_LOOKAHEAD_TIME] = { .type = NLA_U64, },
	[QUELL_A_LOOKAHEAD_MEMBER] = { .type = NLA_BINARY, },
};

/* QUELL_CMD_LOOKAHEAD_DEL - do */
static const struct nla_policy quell_lookahead_del_nl_policy[QUELL_A_LOOKAHEAD_UID + 1] = {
	[QUELL_A_LOOKAHEAD_NAME] = { .type = NLA_NUL_STRING, .len = 31, },
	[QUELL_A_LOOKAHEAD_UID] = { .type = NLA_U32, },
};

/* QUELL_CMD_WEIGHT_SET - do */
static const struct nla_policy quell_weight_set_nl_policy[QUELL_A_SENDER_WEIGHT + 1] = {
	[QUELL_A_SENDER_IFINDEX] = { .type = NLA_U32, },
	[QUELL_A_SENDER_ADDRESS] = { .type = NLA_BINARY, },
	[QUELL_A_SENDER_WEIGHT] = { .type = NLA_U32, },
};

/* Ops table for quell */
const struct genl_split_ops quell_nl_ops[14] = {
	{
		.cmd		= QUELL_CMD_CC_GET,
		.doit		= quell_nl_cc_get_doit,
		.policy		= quell_cc_get_nl_policy,
		.maxattr	= QUELL_A_CC_NAME,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd	= QUELL_CMD_CC_GET,
		.start	= quell_nl_dump_start,
		.dumpit	= quell_nl_cc_get_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= QUELL_CMD_CC_SET,
		.doit		= quell_nl_cc_set_doit,
		.policy		= quell_cc_set_nl_policy,
		.maxattr	= QUELL_A_CC_PARAM,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= QUELL_CMD_CC_RESET,
		.doit		= quell_nl_cc_reset_doit,
		.policy		= quell_cc_reset_nl_policy,
		.maxattr	= QUELL_A_CC_PARAM,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= QUELL_CMD_FLOW_GET,
		.start		= quell_nl_flow_get_start,
		.dumpit		= quell_nl_flow_get_dumpit,
		.policy		= quell_flow_get_nl_policy,
		.maxattr	= QUELL_A_FLOW_CC,
		.flags		= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd	= QUELL_CMD_STAT_GET,
		.start	= quell_nl_dump_start,
		.dumpit	= quell_nl_stat_get_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd	= QUELL_CMD_LINK_GET,
		.dumpit	= quell_nl_link_get_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= QUELL_CMD_LINK_SET,
		.doit		= quell_nl_link_set_doit,
		.policy		= quell_link_set_nl_policy,
		.maxattr	= QUELL_A_LINK_RATE,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= QUELL_CMD_LOOKAHEAD_ADD,
		.doit		= quell_nl_lookahead_add_doit,
		.policy		= quell_lookahead_add_nl_policy,
		.maxattr	= QUELL_A_LOOKAHEAD_MEMBER,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd		= QUELL_CMD_LOOKAHEAD_DEL,
		.doit		= quell_nl_lookahead_del_doit,
		.policy		= quell_lookahead_del_nl_policy,
		.maxattr	= QUELL_A_LOOKAHEAD_UID,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd	= QUELL_CMD_LOOKAHEAD_GET,
		.start	= quell_nl_senders_start,
		.dumpit	= quell_nl_lookahead_get_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd	= QUELL_CMD_SENDER_GET,
		.start	= quell_nl_senders_start,
		.dumpit	= quell_nl_sender_get_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= QUELL_CMD_WEIGHT_SET,
		.doit		= quell_nl_weight_set_doit,
		.policy		= quell_weight_set_nl_policy,
		.maxattr	= QUELL_A_SENDER_WEIGHT,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd	= QUELL_CMD_RECEIVER_GET,
		.start	= quell_nl_senders_start,
		.dumpit	= quell_nl_receiver_get_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
};

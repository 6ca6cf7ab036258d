/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/quell.yaml */
/* YNL-GEN kernel header */

#ifndef _LINUX_QUELL_GEN_H
#define _LINUX_QUELL_GEN_H

#include <net/netlink.h>
#include <net/genetlink.h>

#include <uapi/linux/quell.h>
#include <compat/genl.h>

/* Common nested types */
extern const struct nla_policy quell_param_nl_policy[QUELL_A_PARAM_DOC + 1];

/* Ops table for quell */
extern const struct genl_split_ops quell_nl_ops[14];

int quell_nl_dump_start(struct netlink_callback *cb);
int quell_nl_flow_get_start(struct netlink_callback *cb);
int quell_nl_senders_start(struct netlink_callback *cb);

int quell_nl_cc_get_doit(struct sk_buff *skb, struct genl_info *info);
int quell_nl_cc_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int quell_nl_cc_set_doit(struct sk_buff *skb, struct genl_info *info);
int quell_nl_cc_reset_doit(struct sk_buff *skb, struct genl_info *info);
int quell_nl_flow_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int quell_nl_stat_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int quell_nl_link_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int quell_nl_link_set_doit(struct sk_buff *skb, struct genl_info *info);
int quell_nl_lookahead_add_doit(struct sk_buff *skb, struct genl_info *info);
int quell_nl_lookahead_del_doit(struct sk_buff *skb, struct genl_info *info);
int quell_nl_lookahead_get_dumpit(struct sk_buff *skb,
				  struct netlink_callback *cb);
int quell_nl_sender_get_dumpit(struct sk_buff *skb,
			       struct netlink_callback *cb);
int quell_nl_weight_set_doit(struct sk_buff *skb, struct genl_info *info);
int quell_nl_receiver_get_dumpit(struct sk_buff *skb,
				 struct netlink_callback *cb);

#endif /* _LINUX_QUELL_GEN_H */

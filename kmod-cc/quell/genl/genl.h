/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The netlink family.
 */
#ifndef _QUELL_GENL_H
#define _QUELL_GENL_H

#include <net/genetlink.h>
#include <quell/quell.h>

struct quell_flow;

/* genl_link.c */
extern const struct nla_policy quell_link_set_policy[QUELL_A_LINK_RATE + 1];
int quell_link_dump(struct sk_buff *skb, struct netlink_callback *cb);
int quell_link_set_doit(struct sk_buff *skb, struct genl_info *info);

/* genl_dasr.c */
extern const struct nla_policy quell_lookahead_add_policy[QUELL_A_LOOKAHEAD_MEMBER + 1];
extern const struct nla_policy quell_lookahead_del_policy[QUELL_A_LOOKAHEAD_UID + 1];
extern const struct nla_policy quell_weight_policy[QUELL_A_SENDER_WEIGHT + 1];
int quell_put_flow_dasr(struct sk_buff *skb, struct quell_flow *flow);
int quell_receiver_dump(struct sk_buff *skb, struct netlink_callback *cb);
int quell_senders_start(struct netlink_callback *cb);
int quell_sender_dump(struct sk_buff *skb, struct netlink_callback *cb);
int quell_weight_set_doit(struct sk_buff *skb, struct genl_info *info);
int quell_lookahead_add_doit(struct sk_buff *skb, struct genl_info *info);
int quell_lookahead_del_doit(struct sk_buff *skb, struct genl_info *info);
int quell_lookahead_dump(struct sk_buff *skb, struct netlink_callback *cb);

/* genl_flow.c */
int quell_flow_dump(struct sk_buff *skb, struct netlink_callback *cb);

/* genl.c */
int quell_genl_init(void);
void quell_genl_exit(void);

#endif /* _QUELL_GENL_H */

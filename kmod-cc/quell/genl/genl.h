/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The netlink family.
 */
#ifndef _QUELL_GENL_H
#define _QUELL_GENL_H

#include <net/genetlink.h>
#include <quell/quell.h>

/* genl_link.c */
extern const struct nla_policy quell_link_set_policy[QUELL_A_LINK_RATE + 1];
int quell_link_dump(struct sk_buff *skb, struct netlink_callback *cb);
int quell_link_set_doit(struct sk_buff *skb, struct genl_info *info);

/* genl_flow.c */
int quell_flow_dump(struct sk_buff *skb, struct netlink_callback *cb);

/* genl_put.c */
extern struct genl_family quell_genl_family;
int quell_put_counter(struct sk_buff *skb, int attr, const char *name,
		      const char *doc, u64 value);

/* genl.c */
int quell_genl_init(void);
void quell_genl_exit(void);

#endif /* _QUELL_GENL_H */

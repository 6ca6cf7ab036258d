/* SPDX-License-Identifier: GPL-2.0 */
/* Notifications by netlink multicast, and parts of other messages, notify.c. */
#ifndef _QUELL_NOTIFY_H
#define _QUELL_NOTIFY_H

#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include "netns/counters.h"

struct genl_family;
struct netlink_callback;
struct netlink_ext_ack;
struct nlattr;
struct quell_net;
struct sk_buff;

/*
 * Events that peers and users can cause in any number: each has its own quota, so that a
 * flood of one does not suppress the others.  In the order of their QUELL_N_NTF_SUPPRESSED_*.
 */
enum quell_ntf_quota {
	QUELL_QUOTA_OPTION,
	QUELL_QUOTA_ADAPT,
	QUELL_QUOTA_LOOKAHEAD,
	QUELL_QUOTAS,
};

/* Length of ntf_counters[]. */
#define QUELL_NTF_COUNTERS	16

/* State of a namespace's notifications. */
struct quell_ntf_state {
	spinlock_t		lock;	/* protects @until and @sent */
	unsigned long		until[QUELL_QUOTAS];	/* end of a quota's second, jiffies */
	u32			sent[QUELL_QUOTAS];	/* within it */
	struct delayed_work	work;	/* reports counters */
	unsigned long		next;	/* earliest next run of @work, jiffies; written by @work */
	/* Counters as last reported, as in ntf_counters[]; @work. */
	u64			reported[QUELL_NTF_COUNTERS];
};

extern struct genl_family quell_genl_family;

void quell_ntf_send(struct quell_net *qnet, u8 cmd, size_t bytes,
		    int (*put)(struct sk_buff *skb, const void *about), const void *about);
void quell_count_reported(struct quell_net *qnet, enum quell_counter counter);
void quell_ntf_net_init(struct quell_net *qnet);
void quell_ntf_start(void);
void quell_ntf_stop(void);

void *quell_dump_begin(struct sk_buff *skb, struct netlink_callback *cb);
int quell_dump_end(struct sk_buff *skb, void *hdr, int err);
int quell_put_u64(struct sk_buff *skb, int attr, u64 value, int pad_attr);
int quell_put_u32(struct sk_buff *skb, int attr, u32 value);
int quell_put_counter(struct sk_buff *skb, int attr, const char *name, const char *doc,
		      u64 value);
__printf(4, 5)
int quell_refuse(struct netlink_ext_ack *extack, const struct nlattr *attr, int err,
		 const char *fmt, ...);

#endif /* _QUELL_NOTIFY_H */

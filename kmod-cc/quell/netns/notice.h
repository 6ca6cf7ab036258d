/* SPDX-License-Identifier: GPL-2.0 */
/* Notifications by netlink multicast, notice.c. */
#ifndef _QUELL_NOTICE_H
#define _QUELL_NOTICE_H

#include <linux/in6.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include "netns/counters.h"

struct genl_family;
struct quell_net;
struct sk_buff;

/* Kinds of notifications, a message of the family each. */
enum quell_notice {
	QUELL_NOTICE_CC,
	QUELL_NOTICE_LINK,
	QUELL_NOTICE_WEIGHT,
	QUELL_NOTICE_LOOKAHEAD_ADD,
	QUELL_NOTICE_LOOKAHEAD_DEL,
	QUELL_NOTICE_OPTION,
	QUELL_NOTICE_ADAPT,
	QUELL_NOTICE_FLOW_STAT,
	QUELL_NOTICE_SETTING_STAT,
};

/*
 * Events that peers and users can cause in any number: each has its own quota, so that a
 * flood of one does not suppress the others.
 */
enum quell_notice_quota {
	QUELL_QUOTA_LOOKAHEAD,
	QUELL_QUOTA_OPTION,
	QUELL_QUOTA_ADAPT,
	QUELL_QUOTAS,
};

/* Length of notice_counters[]. */
#define QUELL_NOTICE_COUNTERS	16

/**
 * struct quell_notices - state of a namespace's notifications
 * @lock:     protects @until and @sent
 * @until:    end of a quota's second, jiffies
 * @sent:     notifications sent within it
 * @work:     reports counters
 * @next:     earliest next run of @work, jiffies; written by @work
 * @reported: counters as last reported, by their place in notice_counters[]; @work only
 */
struct quell_notices {
	spinlock_t		lock;	/* protects the next two */
	unsigned long		until[QUELL_QUOTAS];
	u32			sent[QUELL_QUOTAS];
	struct delayed_work	work;
	unsigned long		next;
	u64			reported[QUELL_NOTICE_COUNTERS];
};

extern struct genl_family quell_genl_family;

bool quell_notice_is_heard(const struct quell_net *qnet, enum quell_notice notice);
void quell_notice_send(struct quell_net *qnet, enum quell_notice notice, size_t bytes,
		       int (*put)(struct sk_buff *skb, const void *about), const void *about);
void quell_count_told(struct quell_net *qnet, enum quell_counter counter);
void quell_notices_net_init(struct quell_net *qnet);
void quell_notices_net_exit(struct quell_net *qnet);
void quell_notices_start(void);
void quell_notices_stop(void);

int quell_put_counter(struct sk_buff *skb, int attr, const char *name, const char *doc,
		      u64 value);
int quell_put_host(struct sk_buff *skb, int attr, const struct in6_addr *addr);

#endif /* _QUELL_NOTICE_H */

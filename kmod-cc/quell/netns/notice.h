/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Notices: events that are told to whoever listens, notice.c.
 */
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

/* What listeners are told; a message of the family each. */
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
 * What others than the administrator can cause in any number: each has its own quota, so that
 * no peer and no user can hide other notices by causing many of one.
 */
enum quell_notice_quota {
	QUELL_QUOTA_LOOKAHEAD,
	QUELL_QUOTA_OPTION,
	QUELL_QUOTA_ADAPT,
	QUELL_QUOTAS,
};

/* Counters that listeners are told of. */
#define QUELL_NOTICE_COUNTERS	16

/**
 * struct quell_notices - what the listeners of a namespace are told
 * @lock:   protects @until and @sent
 * @until:  when the second of a quota ends, jiffies
 * @sent:   notices sent within it
 * @work:   tells counters
 * @next:   when @work may tell them again, jiffies; written by @work
 * @told:   counters as they were told last, by their place in notice_counters[]; @work only
 */
struct quell_notices {
	spinlock_t		lock;	/* protects the next two */
	unsigned long		until[QUELL_QUOTAS];
	u32			sent[QUELL_QUOTAS];
	struct delayed_work	work;
	unsigned long		next;
	u64			told[QUELL_NOTICE_COUNTERS];
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

// SPDX-License-Identifier: GPL-2.0
/*
 * Notifications of the netlink family's multicast groups; Documentation/netlink.md has their
 * costs and limits.
 *
 * Messages are made and sent within an RCU read section, so that quell_notices_stop() can
 * wait for them before the family is unregistered.  Memory is therefore allocated without
 * sleeping; if it is short, listeners get ENOBUFS.
 *
 * Context unless stated otherwise: any but hard interrupts; callers may hold locks.
 */
#include <linux/jiffies.h>
#include <linux/rcupdate.h>
#include <net/genetlink.h>
#include <net/ipv6.h>
#include "netns/net.h"
#include "netns/notice.h"

/* Of one quota.  A listener's default buffer holds at least 160 of them. */
#define NOTICES_PER_S		256U
#define NOTICE_UNLIMITED	QUELL_QUOTAS

/* Room for a counter: nest, name, value, padding. */
#define NOTICE_COUNTER_BYTES	64

enum notice_group {
	NOTICE_SETTINGS,
	NOTICE_FLOWS,
};

static const struct genl_multicast_group notice_groups[] = {
	[NOTICE_SETTINGS]	= { .name = QUELL_MCGRP_SETTINGS },
	[NOTICE_FLOWS]		= { .name = QUELL_MCGRP_FLOWS },
};

/* quell_genl_init() adds the operations before it registers the family. */
struct genl_family quell_genl_family __ro_after_init = {
	.name		= QUELL_FAMILY_NAME,
	.version	= QUELL_FAMILY_VERSION,
	.netnsok	= true,
	.mcgrps		= notice_groups,
	.n_mcgrps	= ARRAY_SIZE(notice_groups),
};

static const struct notice_kind {
	u8	cmd;
	u8	group;
	u8	quota;
} notice_kinds[] = {
	[QUELL_NOTICE_CC]		= { QUELL_CMD_CC_NTF, NOTICE_SETTINGS, NOTICE_UNLIMITED },
	[QUELL_NOTICE_LINK]		= { QUELL_CMD_LINK_NTF, NOTICE_SETTINGS,
					    NOTICE_UNLIMITED },
	[QUELL_NOTICE_WEIGHT]		= { QUELL_CMD_WEIGHT_NTF, NOTICE_SETTINGS,
					    NOTICE_UNLIMITED },
	[QUELL_NOTICE_LOOKAHEAD_ADD]	= { QUELL_CMD_LOOKAHEAD_ADD_NTF, NOTICE_SETTINGS,
					    QUELL_QUOTA_LOOKAHEAD },
	[QUELL_NOTICE_LOOKAHEAD_DEL]	= { QUELL_CMD_LOOKAHEAD_DEL_NTF, NOTICE_SETTINGS,
					    QUELL_QUOTA_LOOKAHEAD },
	[QUELL_NOTICE_OPTION]		= { QUELL_CMD_FLOW_OPTION_NTF, NOTICE_FLOWS,
					    QUELL_QUOTA_OPTION },
	[QUELL_NOTICE_ADAPT]		= { QUELL_CMD_FLOW_ADAPT_NTF, NOTICE_FLOWS,
					    QUELL_QUOTA_ADAPT },
	[QUELL_NOTICE_FLOW_STAT]	= { QUELL_CMD_FLOW_STAT_NTF, NOTICE_FLOWS,
					    NOTICE_UNLIMITED },
	[QUELL_NOTICE_SETTING_STAT]	= { QUELL_CMD_SETTING_STAT_NTF, NOTICE_SETTINGS,
					    NOTICE_UNLIMITED },
};

/* Counters of notifications beyond a quota. */
static const u8 notice_suppressed[QUELL_QUOTAS] = {
	[QUELL_QUOTA_LOOKAHEAD]	= QUELL_N_UNTOLD_LOOKAHEAD,
	[QUELL_QUOTA_OPTION]	= QUELL_N_UNTOLD_OPTION,
	[QUELL_QUOTA_ADAPT]	= QUELL_N_UNTOLD_ADAPT,
};

/* The counters that quell_count_told() counts, and their notification. */
static const struct notice_counter {
	u8	counter;
	u8	notice;
} notice_counters[] = {
	{ QUELL_N_OPTION_MALFORMED,		QUELL_NOTICE_FLOW_STAT },
	{ QUELL_N_OPTION_BAD_CHECKSUM,		QUELL_NOTICE_FLOW_STAT },
	{ QUELL_N_OPTION_OUT_OF_WINDOW,		QUELL_NOTICE_FLOW_STAT },
	{ QUELL_N_OPTION_FORGOTTEN,		QUELL_NOTICE_FLOW_STAT },
	{ QUELL_N_SEGMENT_MALFORMED,		QUELL_NOTICE_FLOW_STAT },
	{ QUELL_N_SEGMENT_BAD_CHECKSUM,		QUELL_NOTICE_FLOW_STAT },
	{ QUELL_N_SEGMENT_OUT_OF_WINDOW,	QUELL_NOTICE_FLOW_STAT },
	{ QUELL_N_TRIM_OUTSIDE,			QUELL_NOTICE_FLOW_STAT },
	{ QUELL_N_NACK_LIMITED,			QUELL_NOTICE_FLOW_STAT },
	{ QUELL_N_NACK_MALFORMED,		QUELL_NOTICE_FLOW_STAT },
	{ QUELL_N_NACK_OUTSIDE,			QUELL_NOTICE_FLOW_STAT },
	{ QUELL_N_FLOW_ALLOC_FAILED,		QUELL_NOTICE_FLOW_STAT },
	{ QUELL_N_DASR_NO_MEMORY,		QUELL_NOTICE_FLOW_STAT },
	{ QUELL_N_UNTOLD_OPTION,		QUELL_NOTICE_FLOW_STAT },
	{ QUELL_N_UNTOLD_ADAPT,			QUELL_NOTICE_FLOW_STAT },
	{ QUELL_N_UNTOLD_LOOKAHEAD,		QUELL_NOTICE_SETTING_STAT },
};

static_assert(ARRAY_SIZE(notice_counters) == QUELL_NOTICE_COUNTERS);

/* Set while the family, and so the numbers of its groups, are registered. */
static bool notice_registered __read_mostly;

/**
 * quell_notice_is_heard() - whether a notification may have listeners
 * @qnet:   namespace
 * @notice: its kind
 * Return: false if no namespace has a listener.
 */
bool quell_notice_is_heard(const struct quell_net *qnet, enum quell_notice notice)
{
	return READ_ONCE(notice_registered) &&
	       genl_has_listeners(&quell_genl_family, qnet->net, notice_kinds[notice].group);
}

/* Has the work item report the counters, once a second at most. */
static void notice_counters_later(struct quell_net *qnet)
{
	struct quell_notices *notices = &qnet->notices;
	unsigned long next = READ_ONCE(notices->next), now = jiffies;

	/* Work that is no longer pending sums counters after this one has risen. */
	smp_mb();
	if (!delayed_work_pending(&notices->work))
		queue_delayed_work(system_power_efficient_wq, &notices->work,
				   time_before(now, next) ? min_t(unsigned long, next - now, HZ) :
							    0);
}

/**
 * quell_count_told() - count one of notice_counters[], and have it reported
 * @qnet:    namespace
 * @counter: counter
 */
void quell_count_told(struct quell_net *qnet, enum quell_counter counter)
{
	quell_count(qnet, counter);
	if (quell_notice_is_heard(qnet, QUELL_NOTICE_FLOW_STAT) ||
	    quell_notice_is_heard(qnet, QUELL_NOTICE_SETTING_STAT))
		notice_counters_later(qnet);
}

/* Charges one notification to its quota; counts it if that is used up. */
static bool notice_within_quota(struct quell_net *qnet, u8 quota)
{
	struct quell_notices *notices = &qnet->notices;
	bool left;

	if (quota == NOTICE_UNLIMITED)
		return true;
	spin_lock_bh(&notices->lock);
	if (!time_in_range_open(jiffies, notices->until[quota] - HZ, notices->until[quota])) {
		notices->until[quota] = jiffies + HZ;
		notices->sent[quota] = 0;
	}
	left = notices->sent[quota] < NOTICES_PER_S;
	if (left)
		notices->sent[quota]++;
	spin_unlock_bh(&notices->lock);
	if (!left)
		quell_count_told(qnet, notice_suppressed[quota]);
	return left;
}

static struct sk_buff *notice_make(u8 cmd, size_t bytes,
				   int (*put)(struct sk_buff *skb, const void *about),
				   const void *about)
{
	struct sk_buff *skb = genlmsg_new(bytes, GFP_ATOMIC | __GFP_NOWARN);
	int err = -EMSGSIZE;
	void *hdr;

	if (!skb)
		return ERR_PTR(-ENOMEM);
	hdr = genlmsg_put(skb, 0, 0, &quell_genl_family, 0, cmd);
	if (hdr)
		err = put(skb, about);
	if (err) {
		nlmsg_free(skb);
		return ERR_PTR(err);
	}
	genlmsg_end(skb, hdr);
	return skb;
}

/**
 * quell_notice_send() - notify the listeners, within the quota
 * @qnet:   namespace
 * @notice: kind of notification
 * @bytes:  room for its attributes
 * @put:    puts these; 0, -ENODATA to send no message, or -EMSGSIZE
 * @about:  argument of @put
 */
void quell_notice_send(struct quell_net *qnet, enum quell_notice notice, size_t bytes,
		       int (*put)(struct sk_buff *skb, const void *about), const void *about)
{
	const struct notice_kind *kind = &notice_kinds[notice];
	struct sk_buff *skb;

	rcu_read_lock();
	if (!quell_notice_is_heard(qnet, notice) || !notice_within_quota(qnet, kind->quota))
		goto unlock;
	skb = notice_make(kind->cmd, bytes, put, about);
	WARN_ON_ONCE(skb == ERR_PTR(-EMSGSIZE));
	if (!IS_ERR(skb))
		genlmsg_multicast_netns(&quell_genl_family, qnet->net, skb, 0, kind->group,
					GFP_ATOMIC);
	else if (skb != ERR_PTR(-ENODATA))
		genl_set_err(&quell_genl_family, qnet->net, 0, kind->group, -ENOBUFS);
unlock:
	rcu_read_unlock();
}

/* The counters of one kind of notification, to be reported. */
struct notice_stat {
	struct quell_net	*qnet;
	enum quell_notice	notice;
};

/* Counters that rose since they were last reported. */
static int notice_put_stat(struct sk_buff *skb, const void *about)
{
	const struct notice_stat *stat = about;
	struct quell_net *qnet = stat->qnet;
	int err = -ENODATA;
	u32 i;

	if (nla_put_string(skb, QUELL_A_STAT_NAME, "quell"))
		return -EMSGSIZE;
	for (i = 0; i < ARRAY_SIZE(notice_counters); i++) {
		const struct quell_counter_desc *desc =
			&quell_counter_descs[notice_counters[i].counter];
		u64 value;

		if (notice_counters[i].notice != stat->notice)
			continue;
		value = quell_percpu_sum(qnet->counters, desc->offset);
		if (value == qnet->notices.reported[i])
			continue;
		if (quell_put_counter(skb, QUELL_A_STAT_COUNTER, desc->name, NULL, value))
			return -EMSGSIZE;
		qnet->notices.reported[i] = value;
		err = 0;
	}
	return err;
}

static void notice_work(struct work_struct *work)
{
	struct quell_notices *notices = container_of(to_delayed_work(work),
						     struct quell_notices, work);
	struct quell_net *qnet = container_of(notices, struct quell_net, notices);
	struct notice_stat flow = { qnet, QUELL_NOTICE_FLOW_STAT };
	struct notice_stat setting = { qnet, QUELL_NOTICE_SETTING_STAT };
	size_t bytes = (QUELL_NOTICE_COUNTERS + 1) * NOTICE_COUNTER_BYTES;

	WRITE_ONCE(notices->next, jiffies + HZ);
	quell_notice_send(qnet, flow.notice, bytes, notice_put_stat, &flow);
	quell_notice_send(qnet, setting.notice, bytes, notice_put_stat, &setting);
}

void quell_notices_net_init(struct quell_net *qnet)
{
	spin_lock_init(&qnet->notices.lock);
	INIT_DELAYED_WORK(&qnet->notices.work, notice_work);
	qnet->notices.next = jiffies;
}

/* Called when hooks, sockets and registered groups of the namespace are gone. */
void quell_notices_net_exit(struct quell_net *qnet)
{
	cancel_delayed_work_sync(&qnet->notices.work);
}

void quell_notices_start(void)
{
	WRITE_ONCE(notice_registered, true);
}

/* Called before it is unregistered: no notification is being sent on return, or will be. */
void quell_notices_stop(void)
{
	WRITE_ONCE(notice_registered, false);
	synchronize_rcu();
}

/**
 * quell_put_counter() - put one counter into a message
 * @skb:   message
 * @attr:  type of the nest
 * @name:  counter's name
 * @doc:   its explanation, or NULL
 * @value: its value
 * Return: 0 or -EMSGSIZE.
 */
int quell_put_counter(struct sk_buff *skb, int attr, const char *name,
		      const char *doc, u64 value)
{
	struct nlattr *nest = nla_nest_start(skb, attr);

	if (!nest ||
	    nla_put_string(skb, QUELL_A_COUNTER_NAME, name) ||
	    nla_put_u64_64bit(skb, QUELL_A_COUNTER_VALUE, value, QUELL_A_COUNTER_PAD) ||
	    (doc && nla_put_string(skb, QUELL_A_COUNTER_DOC, doc)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/**
 * quell_put_host() - put the address of a host into a message
 * @skb:  message
 * @attr: type
 * @addr: address, IPv4 as a mapped one
 * Return: 0 or -EMSGSIZE.
 */
int quell_put_host(struct sk_buff *skb, int attr, const struct in6_addr *addr)
{
	if (ipv6_addr_v4mapped(addr))
		return nla_put_in_addr(skb, attr, addr->s6_addr32[3]);
	return nla_put_in6_addr(skb, attr, addr);
}

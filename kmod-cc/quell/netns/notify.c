// SPDX-License-Identifier: GPL-2.0
/*
 * Notifications of the netlink family's multicast groups; Documentation/netlink.md has their
 * costs and limits.
 *
 * Messages are made and sent within an RCU read section, so that quell_ntf_stop() can
 * wait for them before the family is unregistered.  Memory is therefore allocated without
 * sleeping; if it is short, listeners get ENOBUFS.
 *
 * Context unless stated otherwise: any but hard interrupts; callers may hold locks.
 */
#include <linux/jiffies.h>
#include <linux/rcupdate.h>
#include <net/genetlink.h>
#include <compat/extack.h>
#include "netns/net.h"
#include "netns/notify.h"

/* Of one quota.  A listener's default buffer holds at least 160 of them. */
#define NTFS_PER_S		256U
#define NTF_UNLIMITED		QUELL_QUOTAS

/* Room for a counter: nest, name, value, padding. */
#define NTF_COUNTER_BYTES	64

enum ntf_group {
	NTF_SETTINGS,
	NTF_FLOWS,
};

static const struct genl_multicast_group ntf_groups[] = {
	[NTF_SETTINGS]		= { .name = QUELL_MCGRP_SETTINGS },
	[NTF_FLOWS]		= { .name = QUELL_MCGRP_FLOWS },
};

/* quell_genl_init() adds the operations before it registers the family. */
struct genl_family quell_genl_family __ro_after_init = {
	.name		= QUELL_FAMILY_NAME,
	.version	= QUELL_FAMILY_VERSION,
	.netnsok	= true,
	.mcgrps		= ntf_groups,
	.n_mcgrps	= ARRAY_SIZE(ntf_groups),
};

/* By QUELL_CMD_*_NTF. */
static const struct ntf_type {
	u8	group;
	u8	quota;
} ntf_types[] = {
	[QUELL_CMD_CC_NTF]		= { NTF_SETTINGS, NTF_UNLIMITED },
	[QUELL_CMD_LINK_NTF]		= { NTF_SETTINGS, NTF_UNLIMITED },
	[QUELL_CMD_WEIGHT_NTF]		= { NTF_SETTINGS, NTF_UNLIMITED },
	[QUELL_CMD_LOOKAHEAD_ADD_NTF]	= { NTF_SETTINGS, QUELL_QUOTA_LOOKAHEAD },
	[QUELL_CMD_LOOKAHEAD_DEL_NTF]	= { NTF_SETTINGS, QUELL_QUOTA_LOOKAHEAD },
	[QUELL_CMD_FLOW_OPTION_NTF]	= { NTF_FLOWS, QUELL_QUOTA_OPTION },
	[QUELL_CMD_FLOW_ADAPT_NTF]	= { NTF_FLOWS, QUELL_QUOTA_ADAPT },
	[QUELL_CMD_FLOW_STAT_NTF]	= { NTF_FLOWS, NTF_UNLIMITED },
	[QUELL_CMD_SETTING_STAT_NTF]	= { NTF_SETTINGS, NTF_UNLIMITED },
};

/* Counters of quell_count_reported(): the last in setting-stat-ntf, the others in flow-stat-ntf. */
static const u8 ntf_counters[] = {
	QUELL_N_OPTION_MALFORMED,
	QUELL_N_OPTION_BAD_CHECKSUM,
	QUELL_N_OPTION_OUT_OF_WINDOW,
	QUELL_N_OPTION_FORGOTTEN,
	QUELL_N_SEGMENT_MALFORMED,
	QUELL_N_SEGMENT_BAD_CHECKSUM,
	QUELL_N_SEGMENT_OUT_OF_WINDOW,
	QUELL_N_TRIM_OUTSIDE,
	QUELL_N_NACK_LIMITED,
	QUELL_N_NACK_MALFORMED,
	QUELL_N_NACK_OUTSIDE,
	QUELL_N_FLOW_ALLOC_FAILED,
	QUELL_N_DASR_NO_MEMORY,
	QUELL_N_NTF_SUPPRESSED_OPTION,
	QUELL_N_NTF_SUPPRESSED_ADAPT,
	QUELL_N_NTF_SUPPRESSED_LOOKAHEAD,
};

static_assert(ARRAY_SIZE(ntf_counters) == QUELL_NTF_COUNTERS);
/* Counters of suppressed notifications have the order of the quotas. */
static_assert(QUELL_N_NTF_SUPPRESSED_ADAPT - QUELL_N_NTF_SUPPRESSED_OPTION ==
	      QUELL_QUOTA_ADAPT - QUELL_QUOTA_OPTION &&
	      QUELL_N_NTF_SUPPRESSED_LOOKAHEAD - QUELL_N_NTF_SUPPRESSED_OPTION ==
	      QUELL_QUOTA_LOOKAHEAD - QUELL_QUOTA_OPTION);

/* Set while the family, and so the numbers of its groups, are registered. */
static bool ntf_registered __read_mostly;

/* False: no namespace has a listener. */
static bool ntf_has_listeners(const struct quell_net *qnet, u8 cmd)
{
	return READ_ONCE(ntf_registered) &&
	       genl_has_listeners(&quell_genl_family, qnet->net, ntf_types[cmd].group);
}

/* Has the work item report the counters, once a second at most. */
static void ntf_schedule_counters(struct quell_net *qnet)
{
	struct quell_ntf_state *ntf = &qnet->ntf;
	unsigned long next = READ_ONCE(ntf->next), now = jiffies;

	/* Work that is no longer pending sums counters after this one has risen. */
	smp_mb();
	if (!delayed_work_pending(&ntf->work))
		queue_delayed_work(system_power_efficient_wq, &ntf->work,
				   time_before(now, next) ? min_t(unsigned long, next - now, HZ) :
							    0);
}

/**
 * quell_count_reported() - count an event, and notify listeners of it, once a second at most
 * @qnet:    its namespace
 * @counter: one of ntf_counters[]
 * Context: any but hard interrupts; callers may hold locks.
 */
void quell_count_reported(struct quell_net *qnet, enum quell_counter counter)
{
	quell_count(qnet, counter);
	if (ntf_has_listeners(qnet, QUELL_CMD_FLOW_STAT_NTF) ||
	    ntf_has_listeners(qnet, QUELL_CMD_SETTING_STAT_NTF))
		ntf_schedule_counters(qnet);
}
EXPORT_SYMBOL_GPL(quell_count_reported);

/* Charges one notification to its quota; counts it if that is used up. */
static bool ntf_within_quota(struct quell_net *qnet, u8 quota)
{
	struct quell_ntf_state *ntf = &qnet->ntf;
	bool left;

	if (quota == NTF_UNLIMITED)
		return true;
	spin_lock_bh(&ntf->lock);
	if (!time_in_range_open(jiffies, ntf->until[quota] - HZ, ntf->until[quota])) {
		ntf->until[quota] = jiffies + HZ;
		ntf->sent[quota] = 0;
	}
	left = ntf->sent[quota] < NTFS_PER_S;
	if (left)
		ntf->sent[quota]++;
	spin_unlock_bh(&ntf->lock);
	if (!left)
		quell_count_reported(qnet, QUELL_N_NTF_SUPPRESSED_OPTION + quota);
	return left;
}

/**
 * quell_ntf_send() - send a notification, within its quota
 * @qnet:  the namespace
 * @cmd:   QUELL_CMD_*_NTF
 * @bytes: room for its attributes
 * @put:   puts them; returns 0, -ENODATA to send no message, or -EMSGSIZE
 * @about: argument of @put
 * Context: any but hard interrupts; callers may hold locks.
 */
void quell_ntf_send(struct quell_net *qnet, u8 cmd, size_t bytes,
		    int (*put)(struct sk_buff *skb, const void *about), const void *about)
{
	const struct ntf_type *type = &ntf_types[cmd];
	struct sk_buff *skb;
	int err = -ENOMEM;
	void *hdr;

	rcu_read_lock();
	if (!ntf_has_listeners(qnet, cmd) || !ntf_within_quota(qnet, type->quota))
		goto unlock;
	skb = genlmsg_new(bytes, GFP_ATOMIC | __GFP_NOWARN);
	if (skb) {
		hdr = genlmsg_put(skb, 0, 0, &quell_genl_family, 0, cmd);
		err = hdr ? put(skb, about) : -EMSGSIZE;
	}
	WARN_ON_ONCE(err == -EMSGSIZE);
	if (!err) {
		genlmsg_end(skb, hdr);
		genlmsg_multicast_netns(&quell_genl_family, qnet->net, skb, 0, type->group,
					GFP_ATOMIC);
		goto unlock;
	}
	nlmsg_free(skb);
	if (err != -ENODATA)
		genl_set_err(&quell_genl_family, qnet->net, 0, type->group, -ENOBUFS);
unlock:
	rcu_read_unlock();
}
EXPORT_SYMBOL_GPL(quell_ntf_send);

/* The counters of a notification, to be reported. */
struct ntf_stat {
	struct quell_net	*qnet;
	u8			cmd;
};

/* Counters that rose since they were last reported. */
static int ntf_put_stat(struct sk_buff *skb, const void *about)
{
	const struct ntf_stat *stat = about;
	struct quell_net *qnet = stat->qnet;
	int err = -ENODATA;
	u32 i;

	if (nla_put_string(skb, QUELL_A_STAT_NAME, "quell"))
		return -EMSGSIZE;
	for (i = 0; i < QUELL_NTF_COUNTERS; i++) {
		const struct quell_counter_desc *desc = &quell_counter_descs[ntf_counters[i]];
		u8 cmd = ntf_counters[i] == QUELL_N_NTF_SUPPRESSED_LOOKAHEAD ?
			 QUELL_CMD_SETTING_STAT_NTF : QUELL_CMD_FLOW_STAT_NTF;
		u64 value;

		if (cmd != stat->cmd)
			continue;
		value = quell_percpu_sum(qnet->counters, desc->offset);
		if (value == qnet->ntf.reported[i])
			continue;
		if (quell_put_counter(skb, QUELL_A_STAT_COUNTER, desc->name, NULL, value))
			return -EMSGSIZE;
		qnet->ntf.reported[i] = value;
		err = 0;
	}
	return err;
}

static void ntf_work(struct work_struct *work)
{
	struct quell_ntf_state *ntf = container_of(to_delayed_work(work),
						   struct quell_ntf_state, work);
	struct quell_net *qnet = container_of(ntf, struct quell_net, ntf);
	struct ntf_stat flow = { qnet, QUELL_CMD_FLOW_STAT_NTF };
	struct ntf_stat setting = { qnet, QUELL_CMD_SETTING_STAT_NTF };
	size_t bytes = (QUELL_NTF_COUNTERS + 1) * NTF_COUNTER_BYTES;

	WRITE_ONCE(ntf->next, jiffies + HZ);
	quell_ntf_send(qnet, flow.cmd, bytes, ntf_put_stat, &flow);
	quell_ntf_send(qnet, setting.cmd, bytes, ntf_put_stat, &setting);
}

void quell_ntf_net_init(struct quell_net *qnet)
{
	spin_lock_init(&qnet->ntf.lock);
	INIT_DELAYED_WORK(&qnet->ntf.work, ntf_work);
	qnet->ntf.next = jiffies;
}

void quell_ntf_start(void)
{
	WRITE_ONCE(ntf_registered, true);
}

/* Called before it is unregistered: no notification is being sent on return, or will be. */
void quell_ntf_stop(void)
{
	WRITE_ONCE(ntf_registered, false);
	synchronize_rcu();
}

/* 0 or -EMSGSIZE.  The kernel's, inlined, needs a variable and a guard on each caller's stack. */
int quell_put_u64(struct sk_buff *skb, int attr, u64 value, int pad_attr)
{
	return nla_put_u64_64bit(skb, attr, value, pad_attr);
}

/* The same of an attribute of 4 bytes. */
int quell_put_u32(struct sk_buff *skb, int attr, u32 value)
{
	return nla_put_u32(skb, attr, value);
}

/* 0 or -EMSGSIZE.  @doc may be NULL. */
int quell_put_counter(struct sk_buff *skb, int attr, const char *name,
		      const char *doc, u64 value)
{
	struct nlattr *nest = nla_nest_start(skb, attr);

	if (!nest ||
	    nla_put_string(skb, QUELL_A_COUNTER_NAME, name) ||
	    quell_put_u64(skb, QUELL_A_COUNTER_VALUE, value, QUELL_A_COUNTER_PAD) ||
	    (doc && nla_put_string(skb, QUELL_A_COUNTER_DOC, doc)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/**
 * quell_refuse() - explain the error of a request
 * @extack: of the request; may be NULL
 * @attr:   that is refused; may be NULL
 * @err:    negative error
 * @fmt:    text, of at most 79 characters
 *
 * The text is copied, as a module that refuses a request may be gone when the reply is sent.
 * Context: any but hard interrupts.
 * Return: @err.
 */
int quell_refuse(struct netlink_ext_ack *extack, const struct nlattr *attr, int err,
		 const char *fmt, ...)
{
	va_list args;

	if (!extack)
		return err;
	va_start(args, fmt);
	extack->_msg = quell_extack_text(extack, fmt, args);
	va_end(args);
	do_trace_netlink_extack(extack->_msg);
	if (attr)
		NL_SET_BAD_ATTR(extack, attr);
	return err;
}
EXPORT_SYMBOL_GPL(quell_refuse);

/**
 * quell_dump_begin() - begin a message of a dump
 * @skb: of the dump
 * @cb:  its seq is that of the listed objects, or remains 0
 * Context: any but hard interrupts.
 * Return: for quell_dump_end(); NULL: @skb is full.
 */
void *quell_dump_begin(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct genlmsghdr *request = nlmsg_data(cb->nlh);
	void *hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				&quell_genl_family, NLM_F_MULTI, request->cmd);

	if (hdr)
		genl_dump_check_consistent(cb, hdr);
	return hdr;
}
EXPORT_SYMBOL_GPL(quell_dump_begin);

/**
 * quell_dump_end() - end a message of a dump
 * @skb: of the dump
 * @hdr: of quell_dump_begin()
 * @err: 0, or a negative error, which removes the message
 * Return: @err.
 */
int quell_dump_end(struct sk_buff *skb, void *hdr, int err)
{
	if (err)
		genlmsg_cancel(skb, hdr);
	else
		genlmsg_end(skb, hdr);
	return err;
}
EXPORT_SYMBOL_GPL(quell_dump_end);

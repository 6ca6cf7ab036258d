// SPDX-License-Identifier: GPL-2.0
/*
 * Notifications of look-ahead groups and weights.
 *
 * Context: process, quell_lookahead_net.lock, so that listeners get changes in order.
 */
#include <net/netlink.h>
#include "netns/net.h"
#include "netns/notice.h"
#include "signal/dasr.h"

#define LOOKAHEAD_NOTICE_BYTES	160

static int put_lookahead_notice(struct sk_buff *skb, const void *about)
{
	const struct quell_lookahead *ahead = about;
	/* Users are those of the user namespace that owns the network namespace. */
	struct user_namespace *owner = ahead->port->qnet->net->user_ns;

	if (nla_put_string(skb, QUELL_A_LOOKAHEAD_NAME, ahead->name) ||
	    nla_put_u32(skb, QUELL_A_LOOKAHEAD_IFINDEX, ahead->port->ifindex) ||
	    nla_put_u32(skb, QUELL_A_LOOKAHEAD_UID, from_kuid_munged(owner, ahead->uid)) ||
	    nla_put_u64_64bit(skb, QUELL_A_LOOKAHEAD_TIME, ahead->group.time_ns,
			      QUELL_A_LOOKAHEAD_PAD) ||
	    nla_put_u32(skb, QUELL_A_LOOKAHEAD_MEMBERS, ahead->group.members_nr))
		return -EMSGSIZE;
	return 0;
}

/**
 * quell_tell_lookahead() - report that a look-ahead group was registered, or is being deleted
 * @ahead:  group
 * @notice: kind of notification
 */
void quell_tell_lookahead(const struct quell_lookahead *ahead, enum quell_notice notice)
{
	quell_notice_send(ahead->port->qnet, notice, LOOKAHEAD_NOTICE_BYTES,
			  put_lookahead_notice, ahead);
}

struct weight_notice {
	const struct quell_dasr_port	*port;
	const struct quell_dasr_host	*host;
	u32				value;
};

static int put_weight_notice(struct sk_buff *skb, const void *about)
{
	const struct weight_notice *notice = about;

	if (nla_put_u32(skb, QUELL_A_SENDER_IFINDEX, notice->port->ifindex) ||
	    quell_put_host(skb, QUELL_A_SENDER_ADDRESS, &notice->host->addr) ||
	    nla_put_u32(skb, QUELL_A_SENDER_WEIGHT, notice->value))
		return -EMSGSIZE;
	return 0;
}

/**
 * quell_tell_weight() - report the new weight of a sender
 * @port:  interface on which its data is received
 * @host:  sender
 * @value: its weight
 */
void quell_tell_weight(const struct quell_dasr_port *port, const struct quell_dasr_host *host,
		       u32 value)
{
	struct weight_notice notice = { port, host, value };

	quell_notice_send(port->qnet, QUELL_NOTICE_WEIGHT, LOOKAHEAD_NOTICE_BYTES,
			  put_weight_notice, &notice);
}

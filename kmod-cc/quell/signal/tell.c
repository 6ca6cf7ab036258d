// SPDX-License-Identifier: GPL-2.0
/*
 * Changes of look-ahead groups and of weights, for who listens.
 *
 * Context, for all of it: process, quell_lookahead_net.lock: listeners get changes in their
 * order.
 */
#include <net/netlink.h>
#include "flow/dasr.h"
#include "netns/lookahead.h"
#include "netns/net.h"
#include "netns/notice.h"

/* Room for the attributes of a group or of a weight. */
#define TELL_BYTES	160

static int tell_put_lookahead(struct sk_buff *skb, const void *about)
{
	const struct quell_lookahead *ahead = about;
	/* Who registers a group is of the user namespace that owns the network namespace. */
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
 * quell_tell_lookahead() - a look-ahead group was registered, or is being deleted
 * @ahead:  group
 * @notice: which of both
 */
void quell_tell_lookahead(const struct quell_lookahead *ahead, enum quell_notice notice)
{
	quell_notice_send(ahead->port->qnet, notice, TELL_BYTES, tell_put_lookahead, ahead);
}

struct tell_weight {
	const struct quell_dasr_port	*port;
	const struct quell_dasr_host	*host;
	u32				value;
};

static int tell_put_weight(struct sk_buff *skb, const void *about)
{
	const struct tell_weight *what = about;

	if (nla_put_u32(skb, QUELL_A_SENDER_IFINDEX, what->port->ifindex) ||
	    quell_put_host(skb, QUELL_A_SENDER_ADDRESS, &what->host->addr) ||
	    nla_put_u32(skb, QUELL_A_SENDER_WEIGHT, what->value))
		return -EMSGSIZE;
	return 0;
}

/**
 * quell_tell_weight() - the weight of a sender changed
 * @port:  interface by which its data comes
 * @host:  sender
 * @value: its weight
 */
void quell_tell_weight(const struct quell_dasr_port *port, const struct quell_dasr_host *host,
		       u32 value)
{
	struct tell_weight what = { port, host, value };

	quell_notice_send(port->qnet, QUELL_NOTICE_WEIGHT, TELL_BYTES, tell_put_weight, &what);
}

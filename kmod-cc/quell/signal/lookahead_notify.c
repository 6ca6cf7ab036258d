// SPDX-License-Identifier: GPL-2.0
/*
 * Notifications of look-ahead groups and weights.
 *
 * Context: process, quell_lookahead_net.lock, so that listeners get changes in order.
 */
#include <net/netlink.h>
#include "netns/net.h"
#include "netns/notify.h"
#include "signal/dasr.h"

#define LOOKAHEAD_NTF_BYTES	160

static int put_lookahead_ntf(struct sk_buff *skb, const void *about)
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

void quell_notify_lookahead(const struct quell_lookahead *ahead, enum quell_ntf ntf)
{
	quell_ntf_send(ahead->port->qnet, ntf, LOOKAHEAD_NTF_BYTES,
		       put_lookahead_ntf, ahead);
}

struct weight_ntf {
	const struct quell_dasr_port	*port;
	const struct quell_dasr_host	*host;
	u32				value;
};

static int put_weight_ntf(struct sk_buff *skb, const void *about)
{
	const struct weight_ntf *ntf = about;

	if (nla_put_u32(skb, QUELL_A_SENDER_IFINDEX, ntf->port->ifindex) ||
	    quell_put_host(skb, QUELL_A_SENDER_ADDRESS, &ntf->host->addr) ||
	    nla_put_u32(skb, QUELL_A_SENDER_WEIGHT, ntf->value))
		return -EMSGSIZE;
	return 0;
}

void quell_notify_weight(const struct quell_dasr_port *port, const struct quell_dasr_host *host,
			 u32 value)
{
	struct weight_ntf ntf = { port, host, value };

	quell_ntf_send(port->qnet, QUELL_NTF_WEIGHT, LOOKAHEAD_NTF_BYTES,
		       put_weight_ntf, &ntf);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * What becomes of a flow, for who listens, and how messages name flows.
 *
 * Context: any but hard interrupts; RCU read section or socket lock, so that the flow and its
 * socket stay.
 */
#include <linux/socket.h>
#include <net/netlink.h>
#include <net/sock.h>
#include "flow/flow.h"
#include "netns/notice.h"

/* Room for what names a flow, and two words. */
#define TELL_BYTES	256

static const char * const option_names[] = {
	[QUELL_OPTION_NOT_OFFERED]	= "not-offered",
	[QUELL_OPTION_ON]		= "on",
	[QUELL_OPTION_NO_ANSWER]	= "no-answer",
	[QUELL_OPTION_NO_ROOM]		= "no-room",
	[QUELL_OPTION_STRIPPED]		= "stripped",
};

/**
 * quell_option_name() - word for whether a connection uses the option
 * @state: state of the option
 *
 * Context: any.
 * Return: the word.
 */
const char *quell_option_name(enum quell_option_state state)
{
	return option_names[state];
}

/**
 * quell_put_flow_identity() - put what names a flow into a message
 * @skb:  message
 * @flow: flow
 *
 * Return: 0 or -EMSGSIZE.
 */
int quell_put_flow_identity(struct sk_buff *skb, const struct quell_flow *flow)
{
	int addr_bytes = flow->family == AF_INET6 ? sizeof(struct in6_addr) :
						    sizeof(struct in_addr);
	/* The stack assigns a cookie when one is first asked for, for example by ss. */
	u64 cookie = atomic64_read(&flow->sk->sk_cookie);

	if ((cookie && nla_put_u64_64bit(skb, QUELL_A_FLOW_COOKIE, cookie, QUELL_A_FLOW_PAD)) ||
	    nla_put_string(skb, QUELL_A_FLOW_CC, flow->algo->core->name) ||
	    nla_put_u16(skb, QUELL_A_FLOW_FAMILY, flow->family) ||
	    nla_put(skb, QUELL_A_FLOW_SADDR, addr_bytes, &flow->saddr) ||
	    nla_put(skb, QUELL_A_FLOW_DADDR, addr_bytes, &flow->daddr) ||
	    nla_put_u16(skb, QUELL_A_FLOW_SPORT, flow->sport) ||
	    nla_put_u16(skb, QUELL_A_FLOW_DPORT, flow->dport) ||
	    nla_put_u32(skb, QUELL_A_FLOW_IFINDEX, READ_ONCE(flow->link.ifindex)))
		return -EMSGSIZE;
	return 0;
}

struct tell_option {
	const struct quell_flow	*flow;
	enum quell_option_state	state;
};

static int tell_put_option(struct sk_buff *skb, const void *about)
{
	const struct tell_option *what = about;

	if (quell_put_flow_identity(skb, what->flow) ||
	    nla_put_string(skb, QUELL_A_FLOW_OPTION, quell_option_name(what->state)))
		return -EMSGSIZE;
	return 0;
}

/**
 * quell_tell_option() - whether a connection uses the option has changed
 * @flow:  its context
 * @state: what it changed to; not offered is no news
 */
void quell_tell_option(const struct quell_flow *flow, enum quell_option_state state)
{
	struct tell_option what = { flow, state };

	if (state != QUELL_OPTION_NOT_OFFERED)
		quell_notice_send(flow->qnet, QUELL_NOTICE_OPTION, TELL_BYTES, tell_put_option,
				  &what);
}

struct tell_adapt {
	const struct quell_flow	*flow;
	const char		*phase;
	const char		*reason;
};

static int tell_put_adapt(struct sk_buff *skb, const void *about)
{
	const struct tell_adapt *what = about;

	if (quell_put_flow_identity(skb, what->flow) ||
	    nla_put_string(skb, QUELL_A_FLOW_ADAPT, what->phase) ||
	    (what->reason && nla_put_string(skb, QUELL_A_FLOW_FALLBACK, what->reason)))
		return -EMSGSIZE;
	return 0;
}

/**
 * quell_tell_adapt() - another than before governs the window of a flow
 * @flow:   its context
 * @phase:  who, quell_adapt_phase_name()
 * @reason: why, quell_adapt_reason_name(); NULL if its algorithm governs
 */
void quell_tell_adapt(const struct quell_flow *flow, const char *phase, const char *reason)
{
	struct tell_adapt what = { flow, phase, reason };

	quell_notice_send(flow->qnet, QUELL_NOTICE_ADAPT, TELL_BYTES, tell_put_adapt, &what);
}

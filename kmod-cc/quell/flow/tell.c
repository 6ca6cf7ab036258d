// SPDX-License-Identifier: GPL-2.0
/*
 * Notifications of a flow's changes, and the attributes that identify a flow.
 *
 * Context: any but hard interrupts; RCU read section or socket lock, so that the flow and its
 * socket stay.
 */
#include <linux/socket.h>
#include <net/netlink.h>
#include <net/sock.h>
#include "flow/flow.h"
#include "netns/notice.h"

/* Room for a flow's identity, and two words. */
#define FLOW_NOTICE_BYTES	256

static const char * const option_names[] = {
	[QUELL_OPTION_NOT_OFFERED]	= "not-offered",
	[QUELL_OPTION_ON]		= "on",
	[QUELL_OPTION_NO_ANSWER]	= "no-answer",
	[QUELL_OPTION_NO_ROOM]		= "no-room",
	[QUELL_OPTION_STRIPPED]		= "stripped",
};

/**
 * quell_option_name() - name of an option state, for user space
 * @state: state of the option
 */
const char *quell_option_name(enum quell_option_state state)
{
	return option_names[state];
}

/**
 * quell_put_flow_identity() - put a flow's cookie, algorithm, addresses and interface
 * @skb:  message
 * @flow: flow
 * Return: 0 or -EMSGSIZE.
 */
int quell_put_flow_identity(struct sk_buff *skb, const struct quell_flow *flow)
{
	int addr_bytes = flow->family == AF_INET6 ? sizeof(struct in6_addr) :
						    sizeof(struct in_addr);
	/* The stack assigns a cookie on the first request, for example of ss. */
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

struct option_notice {
	const struct quell_flow	*flow;
	enum quell_option_state	state;
};

static int put_option_notice(struct sk_buff *skb, const void *about)
{
	const struct option_notice *notice = about;

	if (quell_put_flow_identity(skb, notice->flow) ||
	    nla_put_string(skb, QUELL_A_FLOW_OPTION, quell_option_name(notice->state)))
		return -EMSGSIZE;
	return 0;
}

/**
 * quell_tell_option() - report whether a connection uses the option
 * @flow:  its context
 * @state: the new state; QUELL_OPTION_NOT_OFFERED is not reported
 */
void quell_tell_option(const struct quell_flow *flow, enum quell_option_state state)
{
	struct option_notice notice = { flow, state };

	if (state != QUELL_OPTION_NOT_OFFERED)
		quell_notice_send(flow->qnet, QUELL_NOTICE_OPTION, FLOW_NOTICE_BYTES,
				  put_option_notice, &notice);
}

struct adapt_notice {
	const struct quell_flow	*flow;
	const char		*phase;
	const char		*reason;
};

static int put_adapt_notice(struct sk_buff *skb, const void *about)
{
	const struct adapt_notice *notice = about;

	if (quell_put_flow_identity(skb, notice->flow) ||
	    nla_put_string(skb, QUELL_A_FLOW_ADAPT, notice->phase) ||
	    (notice->reason && nla_put_string(skb, QUELL_A_FLOW_FALLBACK, notice->reason)))
		return -EMSGSIZE;
	return 0;
}

/**
 * quell_tell_adapt() - report a change of a flow's governor
 * @flow:   its context
 * @phase:  governor, quell_adapt_phase_name()
 * @reason: quell_adapt_reason_name(); NULL if its algorithm governs
 */
void quell_tell_adapt(const struct quell_flow *flow, const char *phase, const char *reason)
{
	struct adapt_notice notice = { flow, phase, reason };

	quell_notice_send(flow->qnet, QUELL_NOTICE_ADAPT, FLOW_NOTICE_BYTES, put_adapt_notice,
			  &notice);
}

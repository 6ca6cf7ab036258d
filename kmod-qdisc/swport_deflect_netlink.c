// SPDX-License-Identifier: GPL-2.0
/*
 * Deflection over netlink: its options, and deflected flows as classes.
 */
#include <linux/inetdevice.h>
#include <linux/ktime.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/stringify.h>
#include <net/ipv6.h>
#include <net/netlink.h>
#include <net/pkt_sched.h>

#include "swport_deflect.h"

#define SWPORT_VIA_COUNT_TEXT	"swport: deflect via must be given 1 to "	\
	__stringify(SWPORT_DEFLECT_VIA_MAX) " times"

static const struct nla_policy swport_via_policy[TCA_SWPORT_VIA_MAX + 1] = {
	[TCA_SWPORT_VIA_DEV]	= NLA_POLICY_MIN(NLA_U32, 1),
	[TCA_SWPORT_VIA_ADDR]	= NLA_POLICY_RANGE(NLA_BINARY, sizeof(struct in_addr),
						   sizeof(struct in6_addr)),
};

/* A next hop must be a unicast address, neither unspecified nor loopback. */
static bool swport_via_is_host(const struct swport_via *via)
{
	if (via->addr_bytes == sizeof(struct in_addr)) {
		__be32 address;

		memcpy(&address, via->addr, sizeof(address));
		return !ipv4_is_zeronet(address) && !ipv4_is_multicast(address) &&
		       !ipv4_is_lbcast(address) && !ipv4_is_loopback(address);
	}
	return !ipv6_addr_any((const struct in6_addr *)via->addr) &&
	       !ipv6_addr_is_multicast((const struct in6_addr *)via->addr) &&
	       !ipv6_addr_loopback((const struct in6_addr *)via->addr);
}

/* Error message if a device cannot be an alternate; NULL if it can. */
static const char *swport_via_objection(const struct Qdisc *sch, const struct swport_via *via)
{
	const struct net_device *own = qdisc_dev(sch);
	const struct net_device *dev = __dev_get_by_index(dev_net(own), via->ifindex);

	if (!dev)
		return "swport: deflect via: no such device";
	if (dev == own)
		return "swport: deflect via: the port's own device";
	if (dev->flags & IFF_LOOPBACK)
		return "swport: deflect via: a loopback device";
	if (dev->mtu < own->mtu)
		return "swport: deflect via: MTU of the device below the port's";
	return NULL;
}

static int swport_via_parse(const struct Qdisc *sch, struct nlattr *attr,
			    struct swport_via *via, struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_SWPORT_VIA_MAX + 1];
	const char *objection;
	int err;

	err = nla_parse_nested(tb, TCA_SWPORT_VIA_MAX, attr, swport_via_policy, extack);
	if (err)
		return err;
	if (!tb[TCA_SWPORT_VIA_DEV] || !tb[TCA_SWPORT_VIA_ADDR]) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "swport: deflect via needs an address and a device");
		return -EINVAL;
	}
	via->ifindex = nla_get_u32(tb[TCA_SWPORT_VIA_DEV]);
	via->addr_bytes = nla_len(tb[TCA_SWPORT_VIA_ADDR]);
	nla_memcpy(via->addr, tb[TCA_SWPORT_VIA_ADDR], sizeof(via->addr));
	if ((via->addr_bytes != sizeof(struct in_addr) &&
	     via->addr_bytes != sizeof(struct in6_addr)) || !swport_via_is_host(via)) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_SWPORT_VIA_ADDR],
				    "swport: deflect via: must be a unicast IPv4 or IPv6 address");
		return -EINVAL;
	}
	objection = swport_via_objection(sch, via);
	if (!objection)
		return 0;
	NL_SET_BAD_ATTR(extack, tb[TCA_SWPORT_VIA_DEV]);
	if (extack)
		extack->_msg = objection;
	return -EINVAL;
}

/* All alternates, numbered from 1; others are removed. */
static int swport_via_list(const struct Qdisc *sch, struct nlattr *list,
			   struct swport_deflect_params *params, struct netlink_ext_ack *extack)
{
	struct nlattr *attr;
	int err, left;

	params->via_nr = 0;
	memset(params->via, 0, sizeof(params->via));
	nla_for_each_nested(attr, list, left) {
		if (params->via_nr == SWPORT_DEFLECT_VIA_MAX)
			break;
		if (nla_type(attr) != params->via_nr + 1) {
			NL_SET_ERR_MSG_ATTR(extack, attr,
					    "swport: deflect via must be numbered from 1");
			return -EINVAL;
		}
		err = swport_via_parse(sch, attr, &params->via[params->via_nr++], extack);
		if (err)
			return err;
	}
	if (params->via_nr && left <= 0)
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, list, SWPORT_VIA_COUNT_TEXT);
	return -EINVAL;
}

/* The shorter queue needs a root qdisc with a backlog at each alternate. */
static int swport_via_check_queues(const struct Qdisc *sch, struct nlattr *blame,
				   const struct swport_deflect_params *deflect,
				   struct netlink_ext_ack *extack)
{
	const struct net_device *dev;
	u32 i;

	for (i = 0; i < deflect->via_nr; i++) {
		dev = __dev_get_by_index(dev_net(qdisc_dev(sch)), deflect->via[i].ifindex);
		if (!dev || quell_swport_outlet_counts(rtnl_dereference(dev->qdisc)))
			continue;
		NL_SET_ERR_MSG_ATTR(extack, blame,
				    "swport: deflect choice: alternate's root qdisc has no backlog");
		return -EINVAL;
	}
	return 0;
}

/* Check constraints between attributes. */
static int swport_deflect_check(struct nlattr **tb, const struct swport_params *params,
				struct netlink_ext_ack *extack)
{
	const struct swport_deflect_params *deflect = &params->deflect;
	u32 threshold_bytes = deflect->iofd.threshold_bytes;
	int blame = TCA_SWPORT_DEFLECT_THRESHOLD;
	const char *text = NULL;

	if (threshold_bytes >= params->limit_bytes) {
		text = "swport: deflect threshold must be below limit";
	} else if (params->ecn_mode != SWPORT_ECN_OFF &&
		   threshold_bytes >= params->red.min_bytes) {
		text = "swport: deflect threshold must be below ecn min";
	} else if (deflect->token_base + deflect->token_max > SWPORT_DEFLECT_DSCP_MAX) {
		blame = TCA_SWPORT_DEFLECT_TOKEN_MAX;
		text = "swport: deflect tokens: base plus maximum must be 0 to "
			__stringify(SWPORT_DEFLECT_DSCP_MAX);
	} else if (params->rate_bytes_ps &&
		   div64_u64((u64)params->limit_bytes * NSEC_PER_SEC, params->rate_bytes_ps) >=
		   deflect->iofd.idle_ns) {
		/* The data band drains for longer: a flow would expire with packets queued. */
		blame = TCA_SWPORT_DEFLECT_IDLE;
		text = "swport: deflect idle must exceed the drain time of limit at rate";
	}
	if (!text)
		return 0;
	/* Without the attribute, the one that turned deflection on. */
	NL_SET_BAD_ATTR(extack, tb[blame] ?: tb[TCA_SWPORT_DEFLECT]);
	if (extack)
		extack->_msg = text;
	return -EINVAL;
}

/**
 * quell_swport_deflect_parse() - parse and check the deflection attributes of a request
 * @sch: the port's qdisc
 * @tb: attributes, ranges checked
 * @old: current parameters
 * @params: parameters after the request, to which those of deflection are added
 * @extack: names the attribute on error
 * Context: RTNL held.
 * Return: 0, or a negative error; only @params is modified.
 */
int quell_swport_deflect_parse(const struct Qdisc *sch, struct nlattr **tb,
			       const struct swport_params *old, struct swport_params *params,
			       struct netlink_ext_ack *extack)
{
	struct swport_deflect_params *deflect = &params->deflect;
	struct nlattr *blame;
	int err;

	if (tb[TCA_SWPORT_DEFLECT])
		deflect->on = nla_get_u32(tb[TCA_SWPORT_DEFLECT]);
	swport_get_u32(tb[TCA_SWPORT_DEFLECT_THRESHOLD], &deflect->iofd.threshold_bytes);
	swport_get_u32(tb[TCA_SWPORT_DEFLECT_ENTRIES], &deflect->iofd.entries);
	swport_get_u32(tb[TCA_SWPORT_DEFLECT_TOKEN_BASE], &deflect->token_base);
	swport_get_u32(tb[TCA_SWPORT_DEFLECT_TOKEN_MAX], &deflect->token_max);
	if (tb[TCA_SWPORT_DEFLECT_IDLE])
		deflect->iofd.idle_ns = nla_get_u32(tb[TCA_SWPORT_DEFLECT_IDLE]);
	if (tb[TCA_SWPORT_DEFLECT_RELEASE])
		deflect->iofd.end_frees = nla_get_u32(tb[TCA_SWPORT_DEFLECT_RELEASE]);
	if (tb[TCA_SWPORT_DEFLECT_CHOICE])
		deflect->iofd.shorter = nla_get_u32(tb[TCA_SWPORT_DEFLECT_CHOICE]);
	if (!deflect->on) {
		deflect->via_nr = 0;
		memset(deflect->via, 0, sizeof(deflect->via));
		return 0;
	}
	if (!old->deflect.on && (!tb[TCA_SWPORT_DEFLECT_THRESHOLD] ||
				 !tb[TCA_SWPORT_DEFLECT_VIA])) {
		NL_SET_ERR_MSG(extack, "swport: turning deflect on needs threshold and via");
		return -EINVAL;
	}
	if (tb[TCA_SWPORT_DEFLECT_VIA]) {
		err = swport_via_list(sch, tb[TCA_SWPORT_DEFLECT_VIA], deflect, extack);
		if (err)
			return err;
	}
	/* Only a request that names either: a device's qdisc may have been replaced since. */
	blame = tb[TCA_SWPORT_DEFLECT_CHOICE] ?: tb[TCA_SWPORT_DEFLECT_VIA];
	if (deflect->iofd.shorter && blame) {
		err = swport_via_check_queues(sch, blame, deflect, extack);
		if (err)
			return err;
	}
	return swport_deflect_check(tb, params, extack);
}

/* Dump an alternate as attribute @number; after -EMSGSIZE the caller cancels. */
static int swport_via_dump(const struct swport_via *via, int number, struct sk_buff *skb)
{
	struct nlattr *nest = nla_nest_start(skb, number);

	if (!nest || nla_put_u32(skb, TCA_SWPORT_VIA_DEV, via->ifindex) ||
	    nla_put(skb, TCA_SWPORT_VIA_ADDR, via->addr_bytes, via->addr))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* RTNL.  After -EMSGSIZE the caller cancels. */
int quell_swport_deflect_dump(const struct swport_deflect_params *params, struct sk_buff *skb)
{
	struct nlattr *list;
	u32 i;

	if (nla_put_u32(skb, TCA_SWPORT_DEFLECT, params->on) ||
	    nla_put_u32(skb, TCA_SWPORT_DEFLECT_THRESHOLD, params->iofd.threshold_bytes) ||
	    nla_put_u32(skb, TCA_SWPORT_DEFLECT_ENTRIES, params->iofd.entries) ||
	    nla_put_u32(skb, TCA_SWPORT_DEFLECT_TOKEN_BASE, params->token_base) ||
	    nla_put_u32(skb, TCA_SWPORT_DEFLECT_TOKEN_MAX, params->token_max) ||
	    nla_put_u32(skb, TCA_SWPORT_DEFLECT_IDLE, params->iofd.idle_ns) ||
	    nla_put_u32(skb, TCA_SWPORT_DEFLECT_RELEASE,
			params->iofd.end_frees ? SWPORT_RELEASE_END : SWPORT_RELEASE_IDLE) ||
	    nla_put_u32(skb, TCA_SWPORT_DEFLECT_CHOICE,
			params->iofd.shorter ? SWPORT_CHOICE_SHORTER : SWPORT_CHOICE_RANDOM))
		return -EMSGSIZE;
	list = nla_nest_start(skb, TCA_SWPORT_DEFLECT_VIA);
	if (!list)
		return -EMSGSIZE;
	for (i = 0; i < params->via_nr; i++)
		if (swport_via_dump(&params->via[i], i + 1, skb))
			return -EMSGSIZE;
	nla_nest_end(skb, list);
	return 0;
}

/*
 * Deflected flows for "tc class show", a class each, as of fq_codel and sfq, numbered from 1 as the
 * table's entries.
 */

#define SWPORT_FLOW_IPV4	4

/* Returns false if the entry is not in use. */
static bool swport_flow_copy(struct Qdisc *sch, unsigned long class, u64 now_ns,
			     struct quell_iofd_entry *entry)
{
	struct swport_sched *port = qdisc_priv(sch);
	bool in_use = false;

	if (!class || class > QUELL_IOFD_ENTRIES_MAX)
		return false;
	sch_tree_lock(sch);
	if (port->deflect) {
		*entry = port->deflect->vars.entry[class - 1];
		in_use = quell_iofd_is_in_use(entry, &port->params.deflect.iofd, now_ns);
	}
	sch_tree_unlock(sch);
	return in_use;
}

static struct Qdisc *swport_flow_leaf(struct Qdisc *sch, unsigned long class)
{
	return NULL;
}

static unsigned long swport_flow_find(struct Qdisc *sch, u32 classid)
{
	unsigned long class = TC_H_MIN(classid);
	struct quell_iofd_entry entry;

	return swport_flow_copy(sch, class, ktime_get_ns(), &entry) ? class : 0;
}

static void swport_flow_walk(struct Qdisc *sch, struct qdisc_walker *arg)
{
	struct quell_iofd_entry entry;
	unsigned long class;

	for (class = 1; class <= QUELL_IOFD_ENTRIES_MAX && !arg->stop; class++) {
		if (arg->count >= arg->skip &&
		    swport_flow_copy(sch, class, ktime_get_ns(), &entry) &&
		    arg->fn(sch, class, arg) < 0) {
			arg->stop = 1;
			return;
		}
		arg->count++;
	}
}

static int swport_flow_put_key(struct sk_buff *skb, const struct quell_iofd_flow *flow)
{
	u32 kind = flow->word[SWPORT_FLOW_KIND], ports = flow->word[SWPORT_FLOW_PORTS];
	bool ipv4 = kind >> SWPORT_FLOW_VERSION_SHIFT == SWPORT_FLOW_IPV4;
	u32 bytes = ipv4 ? sizeof(struct in_addr) : sizeof(struct in6_addr);
	u8 protocol = kind >> SWPORT_FLOW_PROTOCOL_SHIFT;

	if (nla_put(skb, TCA_SWPORT_FLOW_SRC, bytes, &flow->word[SWPORT_FLOW_SADDR]) ||
	    nla_put(skb, TCA_SWPORT_FLOW_DST, bytes, &flow->word[SWPORT_FLOW_DADDR]) ||
	    nla_put_u32(skb, TCA_SWPORT_FLOW_PROTOCOL, protocol) ||
	    nla_put_u32(skb, TCA_SWPORT_FLOW_SPORT, ports >> 16) ||
	    nla_put_u32(skb, TCA_SWPORT_FLOW_DPORT, ports & U16_MAX) ||
	    (protocol == IPPROTO_UDP &&
	     nla_put_u32(skb, TCA_SWPORT_FLOW_QP, flow->word[SWPORT_FLOW_QP])) ||
	    nla_put_u32(skb, TCA_SWPORT_FLOW_TTL, kind & U8_MAX))
		return -EMSGSIZE;
	return 0;
}

/* RTNL keeps the alternates.  For a flow that was just removed only the handle is dumped. */
static int swport_flow_dump(struct Qdisc *sch, unsigned long class, struct sk_buff *skb,
			    struct tcmsg *tcm)
{
	struct swport_sched *port = qdisc_priv(sch);
	const struct swport_deflect *deflect = port->deflect;
	struct quell_iofd_entry entry;
	u64 now_ns = ktime_get_ns();
	struct nlattr *options;

	tcm->tcm_handle |= TC_H_MIN(class);
	if (!swport_flow_copy(sch, class, now_ns, &entry))
		return 0;
	options = nla_nest_start_noflag(skb, TCA_OPTIONS);
	if (!options)
		return -EMSGSIZE;
	if (swport_flow_put_key(skb, &entry.flow) ||
	    (entry.alternate < deflect->alternate_nr &&
	     swport_via_dump(&deflect->alternate[entry.alternate].via,
			     TCA_SWPORT_FLOW_VIA, skb)) ||
	    nla_put_u32(skb, TCA_SWPORT_FLOW_ENDED, entry.state == QUELL_IOFD_ENDED) ||
	    nla_put_u64_64bit(skb, TCA_SWPORT_FLOW_AGE,
			      quell_sub_sat_u64(now_ns, entry.begun_ns), TCA_SWPORT_FLOW_PAD) ||
	    nla_put_u64_64bit(skb, TCA_SWPORT_FLOW_IDLE,
			      quell_sub_sat_u64(now_ns, entry.seen_ns), TCA_SWPORT_FLOW_PAD) ||
	    nla_put_u64_64bit(skb, TCA_SWPORT_FLOW_PKTS, entry.pkts, TCA_SWPORT_FLOW_PAD)) {
		nla_nest_cancel(skb, options);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, options);
	return 0;
}

const struct Qdisc_class_ops quell_swport_flow_ops = {
	.leaf	= swport_flow_leaf,
	.find	= swport_flow_find,
	.walk	= swport_flow_walk,
	.dump	= swport_flow_dump,
};

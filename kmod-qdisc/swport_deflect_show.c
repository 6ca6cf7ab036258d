// SPDX-License-Identifier: GPL-2.0
/*
 * Deflected flows for "tc class show", a class each, as of fq_codel and sfq, numbered from 1 as the
 * table's entries.
 */
#include <linux/ktime.h>
#include <linux/rtnetlink.h>
#include <net/pkt_sched.h>

#include "swport_deflect.h"

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
	     quell_swport_via_dump(&deflect->alternate[entry.alternate].via,
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

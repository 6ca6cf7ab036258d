// SPDX-License-Identifier: GPL-2.0
/*
 * ECN by DSCP: netlink attributes of classes with thresholds of their own.  A
 * request replaces all classes or keeps all; they are cleared when ECN is turned off.
 */
#include <linux/stringify.h>
#include <net/netlink.h>

#include "swport.h"

static_assert(QUELL_RED_CLASSES_MAX == SWPORT_ECN_CLASSES_MAX);

static const struct nla_policy swport_class_policy[TCA_SWPORT_CLASS_MAX + 1] = {
	[TCA_SWPORT_CLASS_DSCPS] = { .type = NLA_U64 },
	[TCA_SWPORT_CLASS_MIN] = SWPORT_RANGE(NLA_U32, 0, SWPORT_LIMIT_MAX),
	[TCA_SWPORT_CLASS_MAX_BYTES] = SWPORT_RANGE(NLA_U32, 0, SWPORT_LIMIT_MAX),
	[TCA_SWPORT_CLASS_PROB] = SWPORT_RANGE(NLA_U32, 0, SWPORT_ECN_PROB_MAX),
};

static int swport_parse_class(const struct nlattr *attr, struct quell_red_class *class,
			      struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_SWPORT_CLASS_MAX + 1];
	int err;

	if (nla_type(attr) != TCA_SWPORT_ECN_CLASS) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "swport: unknown attribute among ecn-classes");
		return -EINVAL;
	}
	err = nla_parse_nested(tb, TCA_SWPORT_CLASS_MAX, attr, swport_class_policy, extack);
	if (err)
		return err;
	if (!tb[TCA_SWPORT_CLASS_DSCPS] || !nla_get_u64(tb[TCA_SWPORT_CLASS_DSCPS]) ||
	    !tb[TCA_SWPORT_CLASS_MIN] || !tb[TCA_SWPORT_CLASS_MAX_BYTES]) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "swport: ecn-class needs a DSCP, ecn-class min and max");
		return -EINVAL;
	}
	class->dscps = nla_get_u64(tb[TCA_SWPORT_CLASS_DSCPS]);
	class->red.min_bytes = nla_get_u32(tb[TCA_SWPORT_CLASS_MIN]);
	class->red.max_bytes = nla_get_u32(tb[TCA_SWPORT_CLASS_MAX_BYTES]);
	class->red.prob_q16 = tb[TCA_SWPORT_CLASS_PROB] ?
			      nla_get_u32(tb[TCA_SWPORT_CLASS_PROB]) : SWPORT_ECN_PROB_MAX;
	return 0;
}

/**
 * quell_swport_parse_classes() - parse the ECN classes of a request
 * @nest: TCA_SWPORT_ECN_CLASSES, or NULL to keep the classes
 * @params: parameters of the request, with the ECN mode already set; the classes are set
 * @extack: error message
 * Context: RTNL held.
 * Return: 0 or a negative error.
 */
int quell_swport_parse_classes(const struct nlattr *nest, struct swport_params *params,
			       struct netlink_ext_ack *extack)
{
	struct quell_red_classes *classes = &params->red_classes;
	const struct nlattr *attr;
	int left, err;

	if (nest)
		classes->count = 0;
	if (nest && nla_len(nest) && params->ecn_mode == SWPORT_ECN_OFF) {
		NL_SET_ERR_MSG_ATTR(extack, nest, "swport: ecn-class needs ecn");
		return -EINVAL;
	}
	if (params->ecn_mode == SWPORT_ECN_OFF)
		classes->count = 0;
	if (!nest)
		return 0;
	nla_for_each_nested(attr, nest, left) {
		if (classes->count == QUELL_RED_CLASSES_MAX) {
			NL_SET_ERR_MSG_ATTR(extack, attr, "swport: ecn-class may be given "
					    __stringify(SWPORT_ECN_CLASSES_MAX) " times");
			return -ERANGE;
		}
		err = swport_parse_class(attr, &classes->class[classes->count], extack);
		if (err)
			return err;
		classes->count++;
	}
	if (left > 0) {
		NL_SET_ERR_MSG_ATTR(extack, nest, "swport: trailing bytes after ecn-classes");
		return -EINVAL;
	}
	if (quell_red_class_overlap(classes)) {
		NL_SET_ERR_MSG_ATTR(extack, nest, "swport: ecn-class: a DSCP is in two classes");
		return -EINVAL;
	}
	return 0;
}

/* Check thresholds against each other and the limit.  Returns 0 or -EINVAL. */
int quell_swport_check_classes(const struct swport_params *params,
			       struct netlink_ext_ack *extack)
{
	u32 i;

	for (i = 0; i < params->red_classes.count; i++) {
		const struct quell_red_params *red = &params->red_classes.class[i].red;

		if (red->min_bytes > red->max_bytes) {
			NL_SET_ERR_MSG(extack,
				       "swport: ecn-class min must be at most ecn-class max");
			return -EINVAL;
		}
		if (red->max_bytes > params->limit_bytes) {
			NL_SET_ERR_MSG(extack,
				       "swport: ecn-class min and max must be at most limit");
			return -EINVAL;
		}
	}
	return 0;
}

static int swport_dump_class(struct sk_buff *skb, const struct quell_red_class *class)
{
	struct nlattr *nest = nla_nest_start(skb, TCA_SWPORT_ECN_CLASS);

	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u64_64bit(skb, TCA_SWPORT_CLASS_DSCPS, class->dscps,
			      TCA_SWPORT_CLASS_PAD) ||
	    nla_put_u32(skb, TCA_SWPORT_CLASS_MIN, class->red.min_bytes) ||
	    nla_put_u32(skb, TCA_SWPORT_CLASS_MAX_BYTES, class->red.max_bytes) ||
	    nla_put_u32(skb, TCA_SWPORT_CLASS_PROB, class->red.prob_q16))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* Returns 0, or -EMSGSIZE: the caller must cancel the enclosing nest.  Context: RTNL held. */
int quell_swport_dump_classes(struct sk_buff *skb, const struct quell_red_classes *classes)
{
	struct nlattr *nest;
	u32 i;

	if (!classes->count)
		return 0;
	nest = nla_nest_start(skb, TCA_SWPORT_ECN_CLASSES);
	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < classes->count; i++) {
		if (swport_dump_class(skb, &classes->class[i]))
			return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

/*
 * A new class with the DSCPs of an old one keeps its counters.
 * Context: RTNL and the qdisc lock held.
 */
void quell_swport_commit_classes(struct swport_sched *port,
				 const struct quell_red_classes *classes)
{
	const struct quell_red_classes *old = &port->params.red_classes;
	struct swport_class_stats was[QUELL_RED_CLASSES_MAX];
	u32 i, j;

	memcpy(was, port->class_stats, sizeof(was));
	memset(port->class_stats, 0, sizeof(was));
	for (i = 0; i < classes->count; i++) {
		for (j = 0; j < old->count; j++) {
			if (classes->class[i].dscps == old->class[j].dscps)
				port->class_stats[i] = was[j];
		}
	}
}

static int swport_put_class_stats(struct sk_buff *skb, u64 dscps,
				  const struct swport_class_stats *stats)
{
	struct nlattr *nest = nla_nest_start(skb, TCA_SWPORT_STATS_CLASS);

	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u64_64bit(skb, TCA_SWPORT_CLASS_STATS_DSCPS, dscps,
			      TCA_SWPORT_CLASS_STATS_PAD) ||
	    quell_swport_put_counter(skb, TCA_SWPORT_CLASS_STATS_PKTS, stats->pkts,
				     TCA_SWPORT_CLASS_STATS_PAD) ||
	    quell_swport_put_counter(skb, TCA_SWPORT_CLASS_STATS_MARK_PKTS, stats->mark_pkts,
				     TCA_SWPORT_CLASS_STATS_PAD) ||
	    quell_swport_put_counter(skb, TCA_SWPORT_CLASS_STATS_MARK_BYTES,
				     stats->mark_bytes, TCA_SWPORT_CLASS_STATS_PAD) ||
	    quell_swport_put_counter(skb, TCA_SWPORT_CLASS_STATS_NOT_ECT_PKTS,
				     stats->not_ect_pkts, TCA_SWPORT_CLASS_STATS_PAD))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* As quell_swport_dump_classes(); takes the qdisc lock. */
int quell_swport_dump_class_stats(struct Qdisc *sch, struct sk_buff *skb)
{
	struct swport_class_stats stats[QUELL_RED_CLASSES_MAX];
	struct swport_sched *port = qdisc_priv(sch);
	const struct quell_red_classes *classes = &port->params.red_classes;
	struct nlattr *nest;
	u32 i;

	if (!classes->count)
		return 0;
	sch_tree_lock(sch);
	memcpy(stats, port->class_stats, sizeof(stats));
	sch_tree_unlock(sch);
	nest = nla_nest_start(skb, TCA_SWPORT_STATS_CLASSES);
	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < classes->count; i++) {
		if (swport_put_class_stats(skb, classes->class[i].dscps, &stats[i]))
			return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Options and statistics over netlink, and the histograms of delays and queues.  A request is
 * validated as a whole into a copy of the parameters, so that a rejected one changes no state.
 * Parsing is strict.
 */
#include <linux/mm.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/stringify.h>
#include <net/gen_stats.h>
#include <net/netlink.h>
#include <net/pkt_sched.h>
#include <quell/core/port/histogram.h>

#include "swport.h"

/* The policy of a number; not const, as until 6.1 its pointer to the range is not. */
#define SWPORT_RANGE(type_, min_, max_)						\
	NLA_POLICY_FULL_RANGE(type_, (&(struct netlink_range_validation) {	\
		.min = (min_), .max = (max_) }))

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

/*
 * A request replaces all classes, or with @nest NULL keeps all; they are cleared when ECN is turned
 * off.  The mode in @params is already the new one.
 */
static int swport_parse_classes(const struct nlattr *nest, struct swport_params *params,
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

/* Check thresholds against each other and the limit. */
static int swport_check_classes(const struct swport_params *params,
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

/* RTNL.  After -EMSGSIZE the caller cancels the enclosing nest. */
static int swport_dump_classes(struct sk_buff *skb, const struct quell_red_classes *classes)
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

static const struct nla_policy swport_policy[TCA_SWPORT_MAX + 1] = {
	[TCA_SWPORT_RATE]	= SWPORT_RANGE(NLA_U64, 0, SWPORT_RATE_MAX),
	[TCA_SWPORT_OVERHEAD]	= SWPORT_RANGE(NLA_U32, 0, SWPORT_OVERHEAD_MAX),
	[TCA_SWPORT_LIMIT]	= SWPORT_RANGE(NLA_U32, SWPORT_LIMIT_MIN, SWPORT_LIMIT_MAX),
	[TCA_SWPORT_CONTROL_LIMIT] = SWPORT_RANGE(NLA_U32, SWPORT_LIMIT_MIN, SWPORT_LIMIT_MAX),
	[TCA_SWPORT_CONTROL_SHARE] = SWPORT_RANGE(NLA_U32, 1, SWPORT_CONTROL_SHARE_MAX),
	[TCA_SWPORT_ECN_MODE]	= NLA_POLICY_MAX(NLA_U32, SWPORT_ECN_MAX),
	[TCA_SWPORT_ECN_DROP]	= NLA_POLICY_MAX(NLA_U32, 1),
	[TCA_SWPORT_ECN_MIN]	= SWPORT_RANGE(NLA_U32, 0, SWPORT_LIMIT_MAX),
	[TCA_SWPORT_ECN_MAX]	= SWPORT_RANGE(NLA_U32, 0, SWPORT_LIMIT_MAX),
	[TCA_SWPORT_ECN_PROB]	= SWPORT_RANGE(NLA_U32, 0, SWPORT_ECN_PROB_MAX),
	[TCA_SWPORT_SEED]	= { .type = NLA_U32 },
	[TCA_SWPORT_TELEMETRY]	= SWPORT_RANGE(NLA_U32, 0, SWPORT_TELEMETRY_MAX),
	[TCA_SWPORT_TCP_INT]	= SWPORT_RANGE(NLA_U32, 0, SWPORT_TCP_INT_MAX),
	[TCA_SWPORT_ECN_CLASSES] = { .type = NLA_NESTED },
	[TCA_SWPORT_TRIM_SIZE]	= SWPORT_RANGE(NLA_U32, 0, SWPORT_TRIM_SIZE_MAX),
	[TCA_SWPORT_TRIM_DSCP]	= SWPORT_RANGE(NLA_U32, SWPORT_TRIM_DSCP_MIN, SWPORT_TRIM_DSCP_MAX),
	[TCA_SWPORT_TRIM_QUEUE]	= NLA_POLICY_MAX(NLA_U32, SWPORT_TRIM_QUEUE_MAX),
	[TCA_SWPORT_TRIM_ELIGIBLE] = { .type = NLA_U64 },
	[TCA_SWPORT_TRIM_TO_SENDER] = NLA_POLICY_MAX(NLA_U32, 1),
	[TCA_SWPORT_TRIM_KNOWN]	= { .type = NLA_U64 },
	[TCA_SWPORT_BUFFER]	= SWPORT_RANGE(NLA_U32, SWPORT_LIMIT_MIN, SWPORT_LIMIT_MAX),
	[TCA_SWPORT_ALPHA]	= SWPORT_RANGE(NLA_U32, 0, SWPORT_ALPHA_MAX),
	[TCA_SWPORT_PERCENTILES] = NLA_POLICY_MAX(NLA_U32, 1),
	[TCA_SWPORT_SPLIT_GSO]	= NLA_POLICY_MAX(NLA_U32, SWPORT_GSO_MAX),
	[TCA_SWPORT_JOINT]	= NLA_POLICY_MAX(NLA_U32, 1),
	[TCA_SWPORT_BQL]	= NLA_POLICY_MAX(NLA_U32, 1),
	[TCA_SWPORT_TIMER_SLACK] = SWPORT_RANGE(NLA_U32, 0, SWPORT_TIMER_SLACK_MAX),
	[TCA_SWPORT_MEMORY_LIMIT] = { .type = NLA_U32 },
	[TCA_SWPORT_DEFLECT]	= NLA_POLICY_MAX(NLA_U32, 1),
	[TCA_SWPORT_DEFLECT_THRESHOLD] = SWPORT_RANGE(NLA_U32, 0, SWPORT_LIMIT_MAX),
	[TCA_SWPORT_DEFLECT_ENTRIES] = NLA_POLICY_MAX(NLA_U32, SWPORT_DEFLECT_ENTRIES_MAX),
	[TCA_SWPORT_DEFLECT_TOKEN_BASE] = NLA_POLICY_MAX(NLA_U32, SWPORT_DEFLECT_DSCP_MAX),
	[TCA_SWPORT_DEFLECT_TOKEN_MAX] = NLA_POLICY_MAX(NLA_U32, SWPORT_DEFLECT_TOKENS_MAX),
	[TCA_SWPORT_DEFLECT_IDLE] =
		SWPORT_RANGE(NLA_U32, SWPORT_DEFLECT_IDLE_MIN, SWPORT_DEFLECT_IDLE_MAX),
	[TCA_SWPORT_DEFLECT_VIA] = { .type = NLA_NESTED },
	[TCA_SWPORT_DEFLECT_RELEASE] = NLA_POLICY_MAX(NLA_U32, SWPORT_RELEASE_END),
	[TCA_SWPORT_DEFLECT_CHOICE] = NLA_POLICY_MAX(NLA_U32, SWPORT_CHOICE_SHORTER),
};

/* Messages for a port that has one of several queues of a device. */
#define SWPORT_QUEUE_TEXT(option, instead) \
	"swport: " option " is not supported on one of several queues (mq): use " \
	instead "swport as root"

static const char * const swport_queue_text[TCA_SWPORT_MAX + 1] = {
	[TCA_SWPORT_RATE] = SWPORT_QUEUE_TEXT("rate", "joint, or "),
	[TCA_SWPORT_TELEMETRY] = SWPORT_QUEUE_TEXT("telemetry", "joint, or "),
	[TCA_SWPORT_TCP_INT] = SWPORT_QUEUE_TEXT("tcp-int", "joint, or "),
	[TCA_SWPORT_DEFLECT] = SWPORT_QUEUE_TEXT("deflect", ""),
	[TCA_SWPORT_JOINT] = "swport: joint needs a parent with a qdisc per transmit queue (mq)",
};

/*
 * Ranges of 0, or at least a minimum, which a policy cannot express.  A function in the policy
 * would, but 6.12 warns (WARN_ON_ONCE) when it reports the policy of a number that has one.
 */
static int swport_check_off_or(struct nlattr **tb, struct netlink_ext_ack *extack)
{
	static const struct {
		u32 attr;
		u32 min;
	} ranges[] = {
		{ TCA_SWPORT_TELEMETRY, SWPORT_TELEMETRY_MIN },
		{ TCA_SWPORT_TCP_INT, SWPORT_TCP_INT_MIN },
		{ TCA_SWPORT_TRIM_SIZE, SWPORT_TRIM_SIZE_MIN },
		{ TCA_SWPORT_MEMORY_LIMIT, SWPORT_MEMORY_MIN },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ranges); i++) {
		const struct nlattr *attr = tb[ranges[i].attr];

		if (!attr || !nla_get_u32(attr) || nla_get_u32(attr) >= ranges[i].min)
			continue;
		NL_SET_ERR_MSG_ATTR(extack, attr, "swport: below the minimum, and not 0");
		return -ERANGE;
	}
	return 0;
}

/* A buffer's size without alpha sets alpha to 1 if it was 0. */
static void swport_parse_share(struct nlattr **tb, struct swport_params *params)
{
	swport_get_u32(tb[TCA_SWPORT_BUFFER], &params->buffer_bytes);
	swport_get_u32(tb[TCA_SWPORT_ALPHA], &params->alpha_q16);
	if (tb[TCA_SWPORT_BUFFER] && !tb[TCA_SWPORT_ALPHA] && !params->alpha_q16)
		params->alpha_q16 = QUELL_Q16_ONE;
}

static int swport_check_ecn(struct nlattr **tb, const struct swport_params *old,
			    const struct swport_params *params,
			    struct netlink_ext_ack *extack)
{
	if (params->ecn_mode == SWPORT_ECN_OFF)
		return 0;
	if (old->ecn_mode == SWPORT_ECN_OFF &&
	    (!tb[TCA_SWPORT_ECN_MIN] || !tb[TCA_SWPORT_ECN_MAX])) {
		NL_SET_ERR_MSG(extack,
			       "swport: turning ecn on needs ecn min and ecn max");
		return -EINVAL;
	}
	if (params->red.min_bytes > params->red.max_bytes) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_SWPORT_ECN_MIN] ?
				    tb[TCA_SWPORT_ECN_MIN] :
				    tb[TCA_SWPORT_ECN_MAX],
				    "swport: ecn min must be at most ecn max");
		return -EINVAL;
	}
	if (params->red.max_bytes > params->limit_bytes) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_SWPORT_ECN_MAX] ? tb[TCA_SWPORT_ECN_MAX] :
				    tb[TCA_SWPORT_LIMIT],
				    "swport: ecn min and max must be at most limit");
		return -EINVAL;
	}
	return swport_check_classes(params, extack);
}

static int swport_check_trim_fits(struct nlattr *attr, const struct swport_params *params,
				  struct netlink_ext_ack *extack)
{
	const struct swport_trim_params *trim = &params->trim;

	if (trim->queue == SWPORT_TRIM_CONTROL &&
	    trim->size_bytes > params->control_limit_bytes) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "swport: trim size must be at most control-limit");
		return -EINVAL;
	}
	if (trim->queue == SWPORT_TRIM_DATA && trim->size_bytes > params->limit_bytes) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "swport: trim size must be at most limit");
		return -EINVAL;
	}
	return 0;
}

static int swport_check_trim(struct nlattr **tb, const struct swport_params *params,
			     struct netlink_ext_ack *extack)
{
	const struct swport_trim_params *trim = &params->trim;

	if (!trim->size_bytes)
		return 0;
	if (trim->eligible != SWPORT_TRIM_ELIGIBLE_ALL &&
	    trim->eligible & (trim->known | BIT_ULL(trim->dscp))) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_SWPORT_TRIM_ELIGIBLE],
				    "swport: trim eligible must not include trim dscp or known");
		return -EINVAL;
	}
	if (trim->known & 1) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_SWPORT_TRIM_KNOWN],
				    "swport: trim known must not include DSCP 0");
		return -EINVAL;
	}
	return swport_check_trim_fits(tb[TCA_SWPORT_TRIM_SIZE], params, extack);
}

static void swport_get_trim(struct nlattr **tb, struct swport_trim_params *trim)
{
	swport_get_u32(tb[TCA_SWPORT_TRIM_SIZE], &trim->size_bytes);
	swport_get_u32(tb[TCA_SWPORT_TRIM_DSCP], &trim->dscp);
	swport_get_u32(tb[TCA_SWPORT_TRIM_QUEUE], &trim->queue);
	if (tb[TCA_SWPORT_TRIM_ELIGIBLE])
		trim->eligible = nla_get_u64(tb[TCA_SWPORT_TRIM_ELIGIBLE]);
	if (tb[TCA_SWPORT_TRIM_KNOWN])
		trim->known = nla_get_u64(tb[TCA_SWPORT_TRIM_KNOWN]);
	if (tb[TCA_SWPORT_TRIM_TO_SENDER])
		trim->to_sender = nla_get_u32(tb[TCA_SWPORT_TRIM_TO_SENDER]);
}

/*
 * Below mq and similar qdiscs a port has one of several transmit queues.  The device's root is
 * still the old one while a new root is set up.  Context: RTNL held.
 */
bool quell_swport_is_of_one_queue(const struct Qdisc *sch)
{
	return sch->parent != TC_H_ROOT &&
	       rtnl_dereference(qdisc_dev(sch)->qdisc)->flags & TCQ_F_MQROOT;
}

/* The attribute that is not supported at the port's place; 0: all are. */
static int swport_find_misplaced(const struct Qdisc *sch, const struct swport_params *params)
{
	if (!quell_swport_is_of_one_queue(sch))
		return params->joint ? TCA_SWPORT_JOINT : 0;
	if (params->deflect.on)
		return TCA_SWPORT_DEFLECT;
	if (params->joint)
		return 0;
	if (params->rate_bytes_ps)
		return TCA_SWPORT_RATE;
	if (params->telemetry_ns)
		return TCA_SWPORT_TELEMETRY;
	return params->tcp_int_ns ? TCA_SWPORT_TCP_INT : 0;
}

/* The lowest threshold or limit of the port. */
static u32 swport_lowest_threshold(const struct swport_params *params)
{
	u32 least_bytes = min(params->limit_bytes, params->control_limit_bytes), i;

	if (params->ecn_mode == SWPORT_ECN_OFF)
		return least_bytes;
	least_bytes = min(least_bytes, params->red.min_bytes);
	for (i = 0; i < params->red_classes.count; i++)
		least_bytes = min(least_bytes, params->red_classes.class[i].red.min_bytes);
	return least_bytes;
}

/*
 * Packets due within the slack count as queued, and their records have one time.  Queues of a joint
 * port that alternate would each send those of a whole slack at once.
 */
static const char *swport_slack_fault(const struct swport_params *params)
{
	u64 due_bytes = quell_mul_div_u64(params->rate_bytes_ps, params->timer_slack_ns,
					  NSEC_PER_SEC);

	if (!params->timer_slack_ns)
		return NULL;
	if (params->joint)
		return "swport: timer_slack is not supported with joint";
	if (params->telemetry_ns && params->timer_slack_ns > params->telemetry_ns / 4)
		return "swport: timer_slack must be at most a quarter of telemetry's time";
	if (params->tcp_int_ns && params->timer_slack_ns > params->tcp_int_ns / 4)
		return "swport: timer_slack must be at most a quarter of tcp-int's time";
	if (due_bytes > swport_lowest_threshold(params) / 2)
		return "swport: rate times timer_slack must be at most half of limits and ecn min";
	return NULL;
}

static int swport_check_slack(struct nlattr **tb, const struct swport_params *params,
			      struct netlink_ext_ack *extack)
{
	const char *fault = swport_slack_fault(params);

	if (!fault)
		return 0;
	if (extack) {
		NL_SET_BAD_ATTR(extack, tb[TCA_SWPORT_TIMER_SLACK]);
		extack->_msg = fault;
	}
	return -EINVAL;
}

static int swport_check_bql(struct nlattr **tb, const struct swport_params *params,
			    struct netlink_ext_ack *extack)
{
	if (!params->bql || IS_ENABLED(CONFIG_BQL))
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, tb[TCA_SWPORT_BQL],
			    "swport: bql: this kernel has no byte queue limits");
	return -EOPNOTSUPP;
}

/* Options of the whole device need a root, or a joint port on its queues. */
static int swport_check_queues(const struct Qdisc *sch, struct nlattr **tb,
			       const struct swport_params *params,
			       struct netlink_ext_ack *extack)
{
	int blame = swport_find_misplaced(sch, params);

	if (!blame)
		return 0;
	NL_SET_BAD_ATTR(extack, tb[blame]);
	if (extack)
		extack->_msg = swport_queue_text[blame];
	return -EOPNOTSUPP;
}

/**
 * quell_swport_parse() - parse and check a request
 * @sch: the port's qdisc, with the current parameters
 * @opt: TCA_OPTIONS
 * @params: result; attributes that are absent keep their old values
 * @reseed: set when the request has a seed
 * @extack: names the attribute and its range on error
 * Context: RTNL held.
 * Return: 0, or a negative error; only @params and @reseed are modified.
 */
int quell_swport_parse(struct Qdisc *sch, struct nlattr *opt,
		       struct swport_params *params, bool *reseed,
		       struct netlink_ext_ack *extack)
{
	const struct swport_params *old = &((struct swport_sched *)qdisc_priv(sch))->params;
	struct nlattr *tb[TCA_SWPORT_MAX + 1];
	int err;

	err = nla_parse_nested(tb, TCA_SWPORT_MAX, opt, swport_policy, extack);
	if (!err)
		err = swport_check_off_or(tb, extack);
	if (err)
		return err;

	*params = *old;
	if (tb[TCA_SWPORT_RATE])
		params->rate_bytes_ps = nla_get_u64(tb[TCA_SWPORT_RATE]);
	swport_get_u32(tb[TCA_SWPORT_OVERHEAD], &params->overhead_bytes);
	swport_get_u32(tb[TCA_SWPORT_LIMIT], &params->limit_bytes);
	swport_get_u32(tb[TCA_SWPORT_CONTROL_LIMIT],
		       &params->control_limit_bytes);
	swport_get_u32(tb[TCA_SWPORT_CONTROL_SHARE], &params->control_share_q16);
	swport_get_u32(tb[TCA_SWPORT_ECN_MODE], &params->ecn_mode);
	swport_get_u32(tb[TCA_SWPORT_ECN_DROP], &params->ecn_drop);
	swport_get_u32(tb[TCA_SWPORT_ECN_MIN], &params->red.min_bytes);
	swport_get_u32(tb[TCA_SWPORT_ECN_MAX], &params->red.max_bytes);
	swport_get_u32(tb[TCA_SWPORT_ECN_PROB], &params->red.prob_q16);
	swport_get_u32(tb[TCA_SWPORT_SEED], &params->seed);
	swport_get_u32(tb[TCA_SWPORT_TELEMETRY], &params->telemetry_ns);
	swport_get_u32(tb[TCA_SWPORT_TCP_INT], &params->tcp_int_ns);
	swport_get_trim(tb, &params->trim);
	swport_get_u32(tb[TCA_SWPORT_PERCENTILES], &params->percentiles);
	swport_get_u32(tb[TCA_SWPORT_SPLIT_GSO], &params->split_gso);
	swport_get_u32(tb[TCA_SWPORT_JOINT], &params->joint);
	swport_get_u32(tb[TCA_SWPORT_BQL], &params->bql);
	swport_get_u32(tb[TCA_SWPORT_TIMER_SLACK], &params->timer_slack_ns);
	swport_get_u32(tb[TCA_SWPORT_MEMORY_LIMIT], &params->memory_limit_bytes);
	quell_swport_joint_inherit(sch, tb, params);
	swport_parse_share(tb, params);
	*reseed = tb[TCA_SWPORT_SEED];
	err = swport_parse_classes(tb[TCA_SWPORT_ECN_CLASSES], params, extack);
	if (!err)
		err = swport_check_trim(tb, params, extack);
	if (!err)
		err = swport_check_ecn(tb, old, params, extack);
	if (!err)
		err = swport_check_slack(tb, params, extack);
	if (!err)
		err = swport_check_bql(tb, params, extack);
	if (!err)
		err = quell_swport_deflect_parse(sch, tb, old, params, extack);
	return err ? err : swport_check_queues(sch, tb, params, extack);
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

/* Context: RTNL held.  Returns the length of @skb, or -EMSGSIZE with @skb unchanged. */
int quell_swport_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct swport_sched *port = qdisc_priv(sch);
	const struct swport_params *params = &port->params;
	const struct swport_trim_params *trim = &params->trim;
	struct nlattr *nest;

	nest = nla_nest_start_noflag(skb, TCA_OPTIONS);
	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u64_64bit(skb, TCA_SWPORT_RATE, params->rate_bytes_ps,
			      TCA_SWPORT_PAD) ||
	    nla_put_u32(skb, TCA_SWPORT_OVERHEAD, params->overhead_bytes) ||
	    nla_put_u32(skb, TCA_SWPORT_LIMIT, params->limit_bytes) ||
	    nla_put_u32(skb, TCA_SWPORT_CONTROL_LIMIT,
			params->control_limit_bytes) ||
	    nla_put_u32(skb, TCA_SWPORT_CONTROL_SHARE, params->control_share_q16) ||
	    nla_put_u32(skb, TCA_SWPORT_ECN_MODE, params->ecn_mode) ||
	    nla_put_u32(skb, TCA_SWPORT_ECN_DROP, params->ecn_drop) ||
	    nla_put_u32(skb, TCA_SWPORT_ECN_MIN, params->red.min_bytes) ||
	    nla_put_u32(skb, TCA_SWPORT_ECN_MAX, params->red.max_bytes) ||
	    nla_put_u32(skb, TCA_SWPORT_ECN_PROB, params->red.prob_q16) ||
	    nla_put_u32(skb, TCA_SWPORT_SEED, params->seed) ||
	    nla_put_u32(skb, TCA_SWPORT_TELEMETRY, params->telemetry_ns) ||
	    nla_put_u32(skb, TCA_SWPORT_TCP_INT, params->tcp_int_ns) ||
	    nla_put_u32(skb, TCA_SWPORT_TRIM_SIZE, trim->size_bytes) ||
	    nla_put_u32(skb, TCA_SWPORT_TRIM_DSCP, trim->dscp) ||
	    nla_put_u32(skb, TCA_SWPORT_TRIM_QUEUE, trim->queue) ||
	    nla_put_u64_64bit(skb, TCA_SWPORT_TRIM_ELIGIBLE, trim->eligible, TCA_SWPORT_PAD) ||
	    (trim->known && nla_put_u64_64bit(skb, TCA_SWPORT_TRIM_KNOWN, trim->known,
					      TCA_SWPORT_PAD)) ||
	    nla_put_u32(skb, TCA_SWPORT_TRIM_TO_SENDER, trim->to_sender) ||
	    (params->alpha_q16 &&
	     nla_put_u32(skb, TCA_SWPORT_BUFFER, quell_swport_buffer_size(port))) ||
	    nla_put_u32(skb, TCA_SWPORT_ALPHA, params->alpha_q16) ||
	    nla_put_u32(skb, TCA_SWPORT_PERCENTILES, params->percentiles) ||
	    nla_put_u32(skb, TCA_SWPORT_SPLIT_GSO, params->split_gso) ||
	    (params->joint && nla_put_u32(skb, TCA_SWPORT_JOINT, 1)) ||
	    (params->bql && nla_put_u32(skb, TCA_SWPORT_BQL, 1)) ||
	    (params->timer_slack_ns &&
	     nla_put_u32(skb, TCA_SWPORT_TIMER_SLACK, params->timer_slack_ns)) ||
	    (params->memory_limit_bytes &&
	     nla_put_u32(skb, TCA_SWPORT_MEMORY_LIMIT, params->memory_limit_bytes)) ||
	    swport_dump_classes(skb, &params->red_classes) ||
	    quell_swport_deflect_dump(&params->deflect, skb)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, nest);
}

/*
 * Statistics over netlink, a nest in TCA_STATS_APP: counters, those of each ECN class, percentiles.
 * Counters of 0 are omitted.
 *
 * A dump is retried with an empty buffer if a port does not fit.  A notification has one buffer of
 * NLMSG_GOODSIZE, and the core discards it on overflow.  When a port replaces another it carries
 * both.  So a notification omits a part of the statistics unless another port's options at their
 * maximum still fit behind it; changed options are always reported.
 */

/* Headers, kind, and the core's statistics: 170 bytes, and 50 with an estimator. */
#define SWPORT_MESSAGE_REST_BYTES	256

/* Maximum length of a port's message without statistics. */
static __always_inline int swport_message_bytes(void)
{
	int class_bytes = nla_total_size(nla_total_size_64bit(sizeof(u64)) +
					 3 * nla_total_size(sizeof(u32)));
	int via_bytes = nla_total_size(nla_total_size(sizeof(u32)) +
				       nla_total_size(sizeof(struct in6_addr)));

	return SWPORT_MESSAGE_REST_BYTES + nla_total_size(0) +
	       TCA_SWPORT_MAX * nla_total_size_64bit(sizeof(u64)) +
	       SWPORT_ECN_CLASSES_MAX * class_bytes + SWPORT_DEFLECT_VIA_MAX * via_bytes;
}

static int swport_put_counter(struct sk_buff *skb, int attr, u64 value, int pad)
{
	return value ? nla_put_u64_64bit(skb, attr, value, pad) : 0;
}

static int swport_put_class_stats(struct sk_buff *skb, u64 dscps,
				  const struct swport_class_stats *stats)
{
	struct nlattr *nest = nla_nest_start(skb, TCA_SWPORT_STATS_CLASS);

	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u64_64bit(skb, TCA_SWPORT_CLASS_STATS_DSCPS, dscps,
			      TCA_SWPORT_CLASS_STATS_PAD) ||
	    swport_put_counter(skb, TCA_SWPORT_CLASS_STATS_PKTS, stats->pkts,
			       TCA_SWPORT_CLASS_STATS_PAD) ||
	    swport_put_counter(skb, TCA_SWPORT_CLASS_STATS_MARK_PKTS, stats->mark_pkts,
			       TCA_SWPORT_CLASS_STATS_PAD) ||
	    swport_put_counter(skb, TCA_SWPORT_CLASS_STATS_MARK_BYTES,
			       stats->mark_bytes, TCA_SWPORT_CLASS_STATS_PAD) ||
	    swport_put_counter(skb, TCA_SWPORT_CLASS_STATS_NOT_ECT_PKTS,
			       stats->not_ect_pkts, TCA_SWPORT_CLASS_STATS_PAD))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* RTNL; takes the qdisc lock. */
static int swport_dump_class_stats(struct Qdisc *sch, struct sk_buff *skb)
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

static void swport_snapshot_trim(const struct swport_trim *trim,
				 u64 value[TCA_SWPORT_STATS_MAX + 1])
{
	value[TCA_SWPORT_STATS_TRIM_PKTS] = trim->pkts;
	value[TCA_SWPORT_STATS_TRIM_BYTES] = trim->bytes;
	value[TCA_SWPORT_STATS_TRIM_SENT_PKTS] = trim->sent_pkts;
	value[TCA_SWPORT_STATS_TRIM_SENT_BYTES] = trim->sent_bytes;
	value[TCA_SWPORT_STATS_TRIM_DROP_PKTS] = trim->drop_pkts;
	value[TCA_SWPORT_STATS_TRIM_DROP_BYTES] = trim->drop_bytes;
	value[TCA_SWPORT_STATS_TRIM_BACKLOG_PKTS] = trim->backlog_pkts;
	value[TCA_SWPORT_STATS_TRIM_BACKLOG_BYTES] = trim->backlog_bytes;
	value[TCA_SWPORT_STATS_TRIM_FAIL_PKTS] = trim->fail_pkts;
	value[TCA_SWPORT_STATS_TO_SENDER_PKTS] = trim->to_sender_pkts;
	value[TCA_SWPORT_STATS_TO_SENDER_DROP_PKTS] = trim->to_sender_drop_pkts;
}

/* A consistent copy of all counters. */
static void swport_snapshot(struct Qdisc *sch,
			    u64 value[TCA_SWPORT_STATS_MAX + 1])
{
	const struct swport_sched *port = qdisc_priv(sch);

	sch_tree_lock(sch);
	value[TCA_SWPORT_STATS_DATA_PKTS] = port->data.sent_pkts;
	value[TCA_SWPORT_STATS_DATA_BYTES] = port->data.sent_bytes;
	value[TCA_SWPORT_STATS_CONTROL_PKTS] = port->control.sent_pkts;
	value[TCA_SWPORT_STATS_CONTROL_BYTES] = port->control.sent_bytes;
	value[TCA_SWPORT_STATS_DATA_DROP_PKTS] = port->data.drop_pkts;
	value[TCA_SWPORT_STATS_DATA_DROP_BYTES] = port->data.drop_bytes;
	value[TCA_SWPORT_STATS_CONTROL_DROP_PKTS] = port->control.drop_pkts;
	value[TCA_SWPORT_STATS_CONTROL_DROP_BYTES] = port->control.drop_bytes;
	value[TCA_SWPORT_STATS_MARK_PKTS] = port->mark_stats.mark_pkts;
	value[TCA_SWPORT_STATS_MARK_BYTES] = port->mark_stats.mark_bytes;
	value[TCA_SWPORT_STATS_NOT_ECT_PKTS] = port->mark_stats.not_ect_pkts;
	value[TCA_SWPORT_STATS_GSO_SPLIT_PKTS] = port->gso_split_pkts;
	value[TCA_SWPORT_STATS_ALLOC_FAIL_PKTS] = port->alloc_fail_pkts;
	value[TCA_SWPORT_STATS_DATA_BACKLOG_BYTES] = port->data.backlog_bytes;
	value[TCA_SWPORT_STATS_DATA_BACKLOG_MAX_BYTES] =
		port->data.backlog_max_bytes;
	value[TCA_SWPORT_STATS_CONTROL_BACKLOG_BYTES] =
		port->control.backlog_bytes;
	value[TCA_SWPORT_STATS_CONTROL_BACKLOG_MAX_BYTES] =
		port->control.backlog_max_bytes;
	value[TCA_SWPORT_STATS_MARK_FAIL_PKTS] = port->mark_stats.mark_fail_pkts;
	value[TCA_SWPORT_STATS_NOT_ECT_DROP_PKTS] = port->mark_stats.drop_pkts;
	value[TCA_SWPORT_STATS_CONTROL_DEFER_PKTS] = port->control_defer_pkts;
	value[TCA_SWPORT_STATS_GSO_WHOLE_PKTS] = port->gso_whole_pkts;
	value[TCA_SWPORT_STATS_STAMP_PKTS] = port->link.stamp_pkts;
	value[TCA_SWPORT_STATS_STAMP_KEPT_PKTS] = port->link.stamp_kept_pkts;
	value[TCA_SWPORT_STATS_STAMP_FAIL_PKTS] = port->link.stamp_fail_pkts;
	value[TCA_SWPORT_STATS_LINK_BYTES_PS] = port->link.bytes_ps;
	if (port->params.bql) {
		quell_swport_device_update(qdisc_priv(sch));
		value[TCA_SWPORT_STATS_DEVICE_BYTES] = port->link.device_bytes;
	}
	value[TCA_SWPORT_STATS_MEMORY_BYTES] =
		port->data.memory_bytes + port->control.memory_bytes;
	value[TCA_SWPORT_STATS_MEMORY_DROP_PKTS] = port->memory_drop_pkts;
	value[TCA_SWPORT_STATS_MEMORY_MAX_BYTES] = port->memory_max_bytes;
	value[TCA_SWPORT_STATS_INT_PKTS] = port->tcp_int.pkts;
	value[TCA_SWPORT_STATS_INT_WORST_PKTS] = port->tcp_int.worst_pkts;
	value[TCA_SWPORT_STATS_INT_FAIL_PKTS] = port->tcp_int.fail_pkts;
	swport_snapshot_trim(&port->trim, value);
	quell_swport_buffer_stats(port, value);
	quell_swport_joint_stats(port, value);
	quell_swport_deflect_stats(port, value);
	sch_tree_unlock(sch);
}

static int swport_dump_counters(struct Qdisc *sch, struct sk_buff *skb)
{
	u64 value[TCA_SWPORT_STATS_MAX + 1] = { };
	int attr, err = 0;

	swport_snapshot(sch, value);
	for (attr = TCA_SWPORT_STATS_PAD + 1; !err && attr <= TCA_SWPORT_STATS_MAX; attr++)
		err = swport_put_counter(skb, attr, value[attr], TCA_SWPORT_STATS_PAD);
	return err;
}

/*
 * Depth and sojourn percentiles of each band (<quell/core/port/histogram.h>).
 *
 *	depth	bytes in the band when a packet is offered, admitted or not; segments of a whole
 *		GSO packet count with the depth before the first
 *	sojourn	time from enqueue to dequeue
 *
 * Off by default: they need 19 kB a port and two clock readings a packet.
 */

/* In the order of TCA_SWPORT_QUANTILE_*. */
static const u32 swport_permille[] = { 500, 900, 990, 999 };

/* Index 0 data band, 1 control band; sojourn in ns.  Under the qdisc's lock. */
struct swport_percentiles {
	struct quell_histogram depth[2];
	struct quell_histogram sojourn[2];
};

struct swport_quantiles {
	u64 count;
	u64 value[ARRAY_SIZE(swport_permille)];
	u64 max;
};

/**
 * quell_swport_percentiles_get() - allocate or keep histograms as a request requires
 * @port: the switch port
 * @params: parameters of the request
 * @fresh: set to the port's histograms, to new ones, or to NULL if they are off
 * Context: RTNL held; may sleep.
 * Return: 0 or -ENOMEM.
 */
int quell_swport_percentiles_get(const struct swport_sched *port,
				 const struct swport_params *params,
				 struct swport_percentiles **fresh)
{
	*fresh = NULL;
	if (!params->percentiles)
		return 0;
	*fresh = port->percentiles;
	if (!*fresh)
		*fresh = kvzalloc(sizeof(**fresh), GFP_KERNEL);
	return *fresh ? 0 : -ENOMEM;
}

void quell_swport_percentiles_free(struct swport_percentiles *old)
{
	kvfree(old);
}

/* Record depth and time at enqueue, with the number of segments set.  Context: qdisc lock held. */
void quell_swport_record_enqueue(struct swport_sched *port, struct sk_buff *skb, bool control)
{
	const struct swport_band *band = control ? &port->control : &port->data;

	if (port->percentiles)
		quell_histogram_add(&port->percentiles->depth[control], band->backlog_bytes,
				    swport_cb(skb)->segments);
	swport_cb(skb)->enqueue_ns =
		port->percentiles || port->params.tcp_int_ns ? ktime_get_ns() : 0;
}

/* Record the sojourn time at dequeue, with percentiles on.  Context: qdisc lock held. */
void quell_swport_record_dequeue(struct swport_sched *port, const struct sk_buff *skb, bool control,
				 u64 now_ns)
{
	u64 enqueue_ns = swport_cb(skb)->enqueue_ns;

	if (enqueue_ns && now_ns >= enqueue_ns)
		quell_histogram_add(&port->percentiles->sojourn[control], now_ns - enqueue_ns,
				    swport_cb(skb)->segments);
}

static void swport_quantiles_read(const struct quell_histogram *h, struct swport_quantiles *q)
{
	q->count = h->count;
	q->max = h->max;
	quell_histogram_quantiles(h, swport_permille, q->value, ARRAY_SIZE(swport_permille));
}

static int swport_put_quantiles(struct sk_buff *skb, int type, const struct swport_quantiles *q)
{
	struct nlattr *nest = nla_nest_start(skb, type);
	u32 i;

	if (!nest || swport_put_counter(skb, TCA_SWPORT_QUANTILE_COUNT, q->count,
					TCA_SWPORT_QUANTILE_PAD) ||
	    swport_put_counter(skb, TCA_SWPORT_QUANTILE_MAX_VALUE, q->max,
			       TCA_SWPORT_QUANTILE_PAD))
		return -EMSGSIZE;
	for (i = 0; i < ARRAY_SIZE(swport_permille); i++) {
		if (swport_put_counter(skb, TCA_SWPORT_QUANTILE_P50 + i, q->value[i],
				       TCA_SWPORT_QUANTILE_PAD))
			return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

/* RTNL; takes the qdisc lock. */
static int swport_dump_percentiles(struct Qdisc *sch, struct sk_buff *skb)
{
	const struct swport_sched *port = qdisc_priv(sch);
	struct swport_quantiles q[4];
	struct nlattr *nest;
	u32 i;

	if (!port->percentiles)
		return 0;
	sch_tree_lock(sch);
	for (i = 0; i < 2; i++) {
		swport_quantiles_read(&port->percentiles->depth[i], &q[2 * i]);
		swport_quantiles_read(&port->percentiles->sojourn[i], &q[2 * i + 1]);
	}
	sch_tree_unlock(sch);

	nest = nla_nest_start(skb, TCA_SWPORT_STATS_PERCENTILES);
	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < ARRAY_SIZE(q); i++) {
		if (swport_put_quantiles(skb, TCA_SWPORT_PERCENTILES_DATA_DEPTH + i, &q[i]))
			return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

/* Add one part of the statistics, or omit it from a notification without room. */
static int swport_dump_part(struct Qdisc *sch, struct sk_buff *skb, bool *left_out,
			    int (*dump)(struct Qdisc *sch, struct sk_buff *skb))
{
	unsigned char *begin = skb_tail_pointer(skb);
	int err = dump(sch, skb);

	/* A dump's buffer is charged to its reader's socket, a notification's to no socket yet. */
	if (skb->sk)
		return err;
	*left_out = err || skb_tailroom(skb) < swport_message_bytes();
	if (*left_out)
		nlmsg_trim(skb, begin);
	return 0;
}

/* Context: RTNL held; takes the qdisc lock.  Returns 0, or -1 when the message is full. */
int quell_swport_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct sk_buff *skb = d->skb;
	bool left_out = false;
	struct nlattr *nest;

	BUILD_BUG_ON(2 * swport_message_bytes() > NLMSG_GOODSIZE);
	nest = nla_nest_start_noflag(skb, TCA_STATS_APP);
	if (!nest)
		return -1;
	if (swport_dump_part(sch, skb, &left_out, swport_dump_counters))
		goto cancel;
	if (left_out) {
		nla_nest_cancel(skb, nest);
		return 0;
	}
	if (swport_dump_part(sch, skb, &left_out, swport_dump_class_stats) ||
	    swport_dump_part(sch, skb, &left_out, swport_dump_percentiles))
		goto cancel;
	nla_nest_end(skb, nest);
	return 0;

cancel:
	nla_nest_cancel(skb, nest);
	return -1;
}

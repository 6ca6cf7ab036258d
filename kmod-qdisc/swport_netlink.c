// SPDX-License-Identifier: GPL-2.0
/*
 * Options over netlink; swport_stats.c has the statistics.  A request is validated as a whole into
 * a copy of the parameters, so that a rejected one changes no state.  Parsing is strict.
 */
#include <linux/rtnetlink.h>
#include <net/netlink.h>

#include "swport.h"

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
	return quell_swport_check_classes(params, extack);
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
	err = quell_swport_parse_classes(tb[TCA_SWPORT_ECN_CLASSES], params, extack);
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
	    quell_swport_dump_classes(skb, &params->red_classes) ||
	    quell_swport_deflect_dump(&params->deflect, skb)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, nest);
}

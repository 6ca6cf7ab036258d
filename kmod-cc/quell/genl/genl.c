// SPDX-License-Identifier: GPL-2.0
/*
 * Generic netlink family "quell": its requests, and parameters and counters.  The API is
 * Documentation/netlink/specs/quell.yaml, of which scripts/generate-netlink makes genl_gen.c,
 * policies and operations.
 *
 * A request is about the namespace of the socket it came on.  Writers need
 * CAP_NET_ADMIN in the user namespace that owns it.  A request changes a copy of
 * the parameters; the first refused value fails the whole request, and the error
 * names the parameter, its range and its unit and points at the attribute.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <net/genetlink.h>
#include <quell/core/adapt/names.h>
#include "genl/genl.h"
#include "signal/signal.h"

/* Room for the name of an algorithm, and for a parameter that changed. */
#define CC_NAME_BYTES	32
#define CC_PARAM_BYTES	96

static const char * const unit_names[] = {
	[QUELL_UNIT_NONE]	= "",
	[QUELL_UNIT_NS]		= " ns",
	[QUELL_UNIT_BYTES]	= " bytes",
	[QUELL_UNIT_BYTES_PS]	= " bytes/s",
	[QUELL_UNIT_Q16]	= " /65536",
	[QUELL_UNIT_PKTS]	= " packets",
	[QUELL_UNIT_PKTS_Q16]	= " /65536 packets",
	[QUELL_UNIT_BOOL]	= "",
};

/* By the name attribute of a request; quell_mutex is held. */
static const struct quell_algo *genl_algo(const struct genl_info *info)
{
	const struct nlattr *attr = info->attrs[QUELL_A_CC_NAME];
	int i;

	lockdep_assert_held(&quell_mutex);
	if (!attr)
		return ERR_PTR(quell_refuse(info->extack, NULL, -EINVAL,
					    "name of the algorithm is missing"));
	for (i = 0; i < QUELL_ALGOS_MAX; i++)
		if (quell_algos[i] && !nla_strcmp(attr, quell_algos[i]->core->name))
			return quell_algos[i];
	return ERR_PTR(quell_refuse(info->extack, attr, -ENOENT, "algorithm %s is not loaded",
				    (char *)nla_data(attr)));
}

/* A parameter; a notification is without its range and text (@brief), which cc-get has. */
static int put_param(struct sk_buff *skb, const struct quell_param_desc *desc,
		     u64 value, bool brief)
{
	struct nlattr *nest = nla_nest_start(skb, QUELL_A_CC_PARAM);

	if (!nest ||
	    nla_put_string(skb, QUELL_A_PARAM_NAME, desc->name) ||
	    quell_put_u64(skb, QUELL_A_PARAM_VALUE, value, QUELL_A_PARAM_PAD) ||
	    quell_put_u64(skb, QUELL_A_PARAM_DEFAULT, desc->def, QUELL_A_PARAM_PAD) ||
	    quell_put_u32(skb, QUELL_A_PARAM_UNIT, desc->unit))
		return -EMSGSIZE;
	if (!brief &&
	    (quell_put_u64(skb, QUELL_A_PARAM_RANGE_MIN, desc->min, QUELL_A_PARAM_PAD) ||
	     quell_put_u64(skb, QUELL_A_PARAM_RANGE_MAX, desc->max, QUELL_A_PARAM_PAD) ||
	     nla_put_string(skb, QUELL_A_PARAM_DOC, desc->doc)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* Name, sockets, every parameter; quell.ko as NULL has no message.  quell_mutex is held. */
static __rare int put_cc(struct sk_buff *skb, const struct quell_net *qnet,
			 const struct quell_algo *algo)
{
	const struct quell_params_block *block;
	const struct quell_algo_net *an;
	u32 i;

	if (!algo)
		return -ENODATA;
	an = &qnet->algos[algo->slot];
	block = rcu_dereference_protected(an->params, lockdep_is_held(&quell_mutex));
	if (nla_put_string(skb, QUELL_A_CC_NAME, algo->core->name) ||
	    quell_put_u32(skb, QUELL_A_CC_FLOWS, atomic_read(&qnet->algo_socks[algo->slot])))
		return -EMSGSIZE;
	for (i = 0; i < algo->core->params_nr; i++) {
		const struct quell_param_desc *desc = &algo->core->params[i];
		const u64 *value = (void *)block->data + desc->offset;

		if (put_param(skb, desc, *value, false))
			return -EMSGSIZE;
	}
	return 0;
}

int quell_nl_cc_get_doit(struct sk_buff *request, struct genl_info *info)
{
	struct quell_net *qnet = quell_net(genl_info_net(info));
	const struct quell_algo *algo;
	struct sk_buff *skb;
	int err = -EMSGSIZE;
	void *hdr;

	skb = genlmsg_new(QUELL_REPLY_BYTES, GFP_KERNEL);
	if (!skb)
		return -ENOMEM;
	hdr = genlmsg_put_reply(skb, info, &quell_genl_family, 0, QUELL_CMD_CC_GET);
	if (!hdr)
		goto free;
	mutex_lock(&quell_mutex);
	algo = genl_algo(info);
	err = IS_ERR(algo) ? PTR_ERR(algo) : put_cc(skb, qnet, algo);
	mutex_unlock(&quell_mutex);
	if (err)
		goto free;
	genlmsg_end(skb, hdr);
	return genlmsg_reply(skb, info);
free:
	nlmsg_free(skb);
	return err;
}

/*
 * A message by @put for quell.ko, as NULL, and for each algorithm, unless it returns -ENODATA;
 * cb->args[0] is the next one.
 * As all dumps here it returns 0 with its last message, which then ends the dump: nobody holds the
 * module by one that he does not read.
 */
static int dump_algos(struct sk_buff *skb, struct netlink_callback *cb,
		      int (*put)(struct sk_buff *skb, const struct quell_net *qnet,
				 const struct quell_algo *algo))
{
	const struct quell_net *qnet = quell_net(sock_net(skb->sk));
	unsigned int prev_seq;
	int err = 0;
	long index;
	void *hdr;

	mutex_lock(&quell_mutex);
	cb->seq = quell_algos_gen;
	for (index = cb->args[0]; index <= QUELL_ALGOS_MAX; index++) {
		const struct quell_algo *algo = index ? quell_algos[index - 1] : NULL;

		if (index && !algo)
			continue;
		prev_seq = cb->prev_seq;
		hdr = quell_dump_begin(skb, cb);
		err = hdr ? quell_dump_end(skb, hdr, put(skb, qnet, algo)) : -EMSGSIZE;
		/* The message that would have said that the list has changed is not sent. */
		if (err == -ENODATA)
			cb->prev_seq = prev_seq;
		else if (err)
			break;
	}
	mutex_unlock(&quell_mutex);
	cb->args[0] = index;
	return index <= QUELL_ALGOS_MAX ? skb->len : 0;
}

int quell_nl_cc_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_algos(skb, cb, put_cc);
}

/*
 * Stores one parameter of a request in @block: its value, or its default for a
 * reset.
 */
static int apply_param(const struct quell_algo *algo, const struct nlattr *nest,
		       bool reset, struct quell_params_block *block,
		       struct netlink_ext_ack *extack)
{
	const struct quell_param_desc *desc = algo->core->params;
	struct nlattr *attrs[QUELL_A_PARAM_VALUE + 1];
	u32 left = algo->core->params_nr;
	u64 value;
	int err;

	/* Attributes of replies alone are behind the value, and are refused. */
	err = nla_parse_nested(attrs, QUELL_A_PARAM_VALUE, nest, quell_param_nl_policy, extack);
	if (err)
		return err;
	if (!attrs[QUELL_A_PARAM_NAME])
		return quell_refuse(extack, nest, -EINVAL, "name of the parameter is missing");
	for (; left && nla_strcmp(attrs[QUELL_A_PARAM_NAME], desc->name); left--)
		desc++;
	if (!left)
		return quell_refuse(extack, attrs[QUELL_A_PARAM_NAME], -ENOENT,
				    "%s has no parameter %s", algo->core->name,
				    (char *)nla_data(attrs[QUELL_A_PARAM_NAME]));
	if (!reset && !attrs[QUELL_A_PARAM_VALUE])
		return quell_refuse(extack, nest, -EINVAL, "%s: value is missing", desc->name);
	value = reset ? desc->def : nla_get_u64(attrs[QUELL_A_PARAM_VALUE]);
	if (value < desc->min || value > desc->max)
		return quell_refuse(extack, attrs[QUELL_A_PARAM_VALUE], -ERANGE,
				    "%s: allowed are %llu..%llu%s", desc->name,
				    desc->min, desc->max, unit_names[desc->unit]);
	*(u64 *)((void *)block->data + desc->offset) = value;
	return 0;
}

/* Stores all parameters that a request names; returns their number or an error. */
static int apply_params(const struct quell_algo *algo, struct genl_info *info,
			bool reset, struct quell_params_block *block)
{
	const struct nlattr *attr;
	int params_nr = 0;
	int rem, err;

	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(attr) != QUELL_A_CC_PARAM)
			continue;
		err = apply_param(algo, attr, reset, block, info->extack);
		if (err)
			return err;
		params_nr++;
	}
	return params_nr;
}

struct cc_ntf {
	const struct quell_algo			*algo;
	const struct quell_params_block		*old;
	const struct quell_params_block		*new;
};

static int put_cc_ntf(struct sk_buff *skb, const void *about)
{
	const struct cc_ntf *change = about;
	int err = -ENODATA;
	u32 i;

	if (nla_put_string(skb, QUELL_A_CC_NAME, change->algo->core->name))
		return -EMSGSIZE;
	for (i = 0; i < change->algo->core->params_nr; i++) {
		const struct quell_param_desc *desc = &change->algo->core->params[i];
		u64 value = *(const u64 *)((const void *)change->new->data + desc->offset);

		if (value == *(const u64 *)((const void *)change->old->data + desc->offset))
			continue;
		if (put_param(skb, desc, value, true))
			return -EMSGSIZE;
		err = 0;
	}
	return err;
}

/*
 * Publishes a block, of which the values are in range, and notifies listeners of the changes;
 * quell_mutex is held.
 */
static void cc_publish(struct quell_net *qnet, const struct quell_algo *algo,
		       struct quell_params_block *block)
{
	struct quell_algo_net *an = &qnet->algos[algo->slot];
	struct cc_ntf change = { .algo = algo, .new = block };
	struct quell_params_block *old;

	if (algo->core->params_derive)
		algo->core->params_derive(block->data);
	old = rcu_replace_pointer(an->params, block, lockdep_is_held(&quell_mutex));
	change.old = old;
	quell_ntf_send(qnet, QUELL_CMD_CC_NTF,
		       CC_NAME_BYTES + algo->core->params_nr * CC_PARAM_BYTES, put_cc_ntf,
		       &change);
	kfree_rcu(old, rcu);
}

static __rare int cc_change(struct genl_info *info, bool reset)
{
	struct quell_net *qnet = quell_net(genl_info_net(info));
	bool all = reset && !info->attrs[QUELL_A_CC_PARAM];
	struct quell_params_block *block = NULL;
	const struct quell_algo *algo;
	int err = -ENOMEM;

	mutex_lock(&quell_mutex);
	algo = genl_algo(info);
	if (IS_ERR(algo))
		err = PTR_ERR(algo);
	else
		block = quell_params_copy(all ? NULL : &qnet->algos[algo->slot], algo);
	if (block)
		err = apply_params(algo, info, reset, block);
	if (!err && !all)
		err = quell_refuse(info->extack, NULL, -EINVAL, "no parameter given");
	if (err < 0)
		kfree(block);
	else
		cc_publish(qnet, algo, block);
	mutex_unlock(&quell_mutex);
	if (err >= 0 && quell_signal_needs_hooks(qnet))
		quell_hooks_settle(qnet);
	return min(err, 0);
}

int quell_nl_cc_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	return cc_change(info, false);
}

int quell_nl_cc_reset_doit(struct sk_buff *skb, struct genl_info *info)
{
	return cc_change(info, true);
}

static int put_stat(struct sk_buff *skb, const char *name,
		    const struct quell_counter_desc *counters, u32 counters_nr,
		    const void __percpu *block)
{
	u32 i;

	if (nla_put_string(skb, QUELL_A_STAT_NAME, name))
		return -EMSGSIZE;
	for (i = 0; i < counters_nr; i++)
		if (quell_put_counter(skb, QUELL_A_STAT_COUNTER, counters[i].name,
				      counters[i].doc,
				      quell_percpu_sum(block, counters[i].offset)))
			return -EMSGSIZE;
	return 0;
}

/* Whether CUBIC may govern flows of an algorithm for a reason. */
static bool has_reason(const struct quell_core *core, enum quell_adapt_reason reason)
{
	if (reason == QUELL_ADAPT_NO_MARKS)
		return core->needs.signal == QUELL_ADAPT_MARKS;
	if (reason == QUELL_ADAPT_NO_RECORDS)
		return core->needs.signal == QUELL_ADAPT_RECORDS;
	if (reason == QUELL_ADAPT_EARLY_LOSS || reason == QUELL_ADAPT_DELAY_STAYS)
		return core->needs.signal == QUELL_ADAPT_DELAY;
	return reason != QUELL_ADAPT_FITS && core->needs.signal != QUELL_ADAPT_RECORDS;
}

/* Times that CUBIC took over for a reason, and for how long. */
static int put_reason(struct sk_buff *skb, const struct quell_governed_sum *sum,
		      enum quell_adapt_reason reason)
{
	u32 governor = QUELL_GOVERNOR_CUBIC + reason;
	char name[32];

	snprintf(name, sizeof(name), "cubic-%s", quell_adapt_reasons[reason]);
	if (quell_put_counter(skb, QUELL_A_STAT_COUNTER, name,
			      "Times that CUBIC took over a flow for this reason.",
			      sum->begun[governor]))
		return -EMSGSIZE;
	snprintf(name, sizeof(name), "cubic-%s-ms", quell_adapt_reasons[reason]);
	return quell_put_counter(skb, QUELL_A_STAT_COUNTER, name,
				 "Time for which it governed for this reason, all flows, ms.",
				 sum->ms[governor]);
}

/* Governors of the flows of an algorithm, and for how long each. */
static __rare int put_governed(struct sk_buff *skb, const struct quell_algo *algo,
			       struct quell_governed *governed)
{
	struct quell_governed_sum sum;
	u64 cubic_ms = 0;
	int reason;

	if (!governed)
		return 0;
	quell_governed_read(governed, &sum);
	for (reason = 0; reason < QUELL_ADAPT_REASONS; reason++)
		cubic_ms += sum.ms[QUELL_GOVERNOR_CUBIC + reason];
	if (quell_put_counter(skb, QUELL_A_STAT_COUNTER, "algorithm-ms",
			      "Time for which the algorithm governed windows, all flows, ms.",
			      sum.ms[QUELL_GOVERNOR_ALGORITHM]) ||
	    quell_put_counter(skb, QUELL_A_STAT_COUNTER, "search-ms",
			      "Time for which the search governed windows, all flows, ms.",
			      sum.ms[QUELL_GOVERNOR_SEARCH]) ||
	    quell_put_counter(skb, QUELL_A_STAT_COUNTER, "cubic-ms",
			      "Time for which CUBIC governed windows, all flows, ms.", cubic_ms))
		return -EMSGSIZE;
	for (reason = 0; reason < QUELL_ADAPT_REASONS; reason++)
		if (has_reason(algo->core, reason) && put_reason(skb, &sum, reason))
			return -EMSGSIZE;
	return 0;
}

static int put_stats(struct sk_buff *skb, const struct quell_net *qnet,
		     const struct quell_algo *algo)
{
	if (!algo)
		return put_stat(skb, "quell", quell_counter_descs, QUELL_N_MAX, qnet->counters);
	/* The signal plane has parameters like an algorithm, but no flows. */
	if (!algo->core->init)
		return -ENODATA;
	if (put_stat(skb, algo->core->name, algo->core->counters, algo->core->counters_nr,
		     qnet->algos[algo->slot].stats))
		return -EMSGSIZE;
	return put_governed(skb, algo, qnet->algos[algo->slot].governed);
}

int quell_nl_stat_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_algos(skb, cb, put_stats);
}

/* An operation a command: its dump is behind its do in quell_nl_ops, and has the policy of that. */
static struct genl_ops genl_ops_merged[ARRAY_SIZE(quell_nl_ops)] __ro_after_init;

static u8 __init merge_ops(void)
{
	struct genl_ops *op = genl_ops_merged;
	int i;

	*op = quell_nl_ops[0];
	for (i = 1; i < ARRAY_SIZE(quell_nl_ops); i++) {
		const struct genl_ops *next = &quell_nl_ops[i];

		if (next->cmd == op->cmd) {
			op->start = next->start;
			op->dumpit = next->dumpit;
		} else {
			*++op = *next;
		}
	}
	return op - genl_ops_merged + 1;
}

int __init quell_genl_init(void)
{
	int err;

	quell_genl_family.module = THIS_MODULE;
	quell_genl_family.ops = genl_ops_merged;
	quell_genl_family.n_ops = merge_ops();
	err = genl_register_family(&quell_genl_family);
	if (!err)
		quell_ntf_start();
	return err;
}

void quell_genl_exit(void)
{
	quell_ntf_stop();
	genl_unregister_family(&quell_genl_family);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Conversion of netlink messages to plain structs: parameters, counters, flows.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>

#include "attr.h"
#include "model.h"

static int param_attr(struct param *p, const struct nlattr *attr)
{
	switch (mnl_attr_get_type(attr)) {
	case QUELL_A_PARAM_NAME:
		return attr_string(attr, &p->name);
	case QUELL_A_PARAM_VALUE:
		return attr_uint(attr, &p->value);
	case QUELL_A_PARAM_DEFAULT:
		return attr_uint(attr, &p->def);
	case QUELL_A_PARAM_RANGE_MIN:
		return attr_uint(attr, &p->min);
	case QUELL_A_PARAM_RANGE_MAX:
		return attr_uint(attr, &p->max);
	case QUELL_A_PARAM_UNIT:
		return attr_u32(attr, &p->unit);
	case QUELL_A_PARAM_DOC:
		return attr_string(attr, &p->doc);
	}
	return 0;
}

static int add_param(struct cc *cc, const struct nlattr *nest)
{
	struct param *p = list_grow(&cc->params, &cc->n_params, sizeof(*p));
	const struct nlattr *attr;
	int ret;

	if (!p)
		return -ENOMEM;
	mnl_attr_for_each_nested(attr, nest) {
		ret = param_attr(p, attr);
		if (ret)
			return ret;
		attr_mark(&p->have, attr);
	}
	return HAVE(p, QUELL_A_PARAM_NAME) ? 0 : -EBADMSG;
}

static int counter_attr(struct counter *c, const struct nlattr *attr, bool with_doc)
{
	switch (mnl_attr_get_type(attr)) {
	case QUELL_A_COUNTER_NAME:
		return attr_string(attr, &c->name);
	case QUELL_A_COUNTER_VALUE:
		return attr_uint(attr, &c->value);
	case QUELL_A_COUNTER_DOC:
		return with_doc ? attr_string(attr, &c->doc) : 0;
	}
	return 0;
}

static int add_counter(struct counters *counters, const struct nlattr *nest, bool with_doc)
{
	struct counter *c = list_grow(&counters->list, &counters->n, sizeof(*c));
	const struct nlattr *attr;
	int ret;

	if (!c)
		return -ENOMEM;
	mnl_attr_for_each_nested(attr, nest) {
		ret = counter_attr(c, attr, with_doc);
		if (ret)
			return ret;
		attr_mark(&c->have, attr);
	}
	return HAVE(c, QUELL_A_COUNTER_NAME) ? 0 : -EBADMSG;
}

static int cc_attr(struct cc *cc, const struct nlattr *attr)
{
	switch (mnl_attr_get_type(attr)) {
	case QUELL_A_CC_NAME:
		return attr_string(attr, &cc->name);
	case QUELL_A_CC_PARAM:
		return add_param(cc, attr);
	case QUELL_A_CC_FLOWS:
		return attr_u32(attr, &cc->flows);
	}
	return 0;
}

/**
 * cc_list_add() - add one algorithm from a reply
 * @l: the list; the entry stays in it on failure, for cc_list_free()
 * @nlh: message of cc-get
 *
 * Return: 0, -EBADMSG for a malformed message, or -ENOMEM.
 */
int cc_list_add(struct cc_list *l, const struct nlmsghdr *nlh)
{
	struct cc *cc = list_grow(&l->list, &l->n, sizeof(*cc));
	const struct nlattr *attr;
	int ret;

	if (!cc)
		return -ENOMEM;
	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		ret = cc_attr(cc, attr);
		if (ret)
			return ret;
		attr_mark(&cc->have, attr);
	}
	return HAVE(cc, QUELL_A_CC_NAME) ? 0 : -EBADMSG;
}

static int stat_attr(struct stat_group *s, const struct nlattr *attr)
{
	switch (mnl_attr_get_type(attr)) {
	case QUELL_A_STAT_NAME:
		return attr_string(attr, &s->name);
	case QUELL_A_STAT_COUNTER:
		return add_counter(&s->counters, attr, true);
	}
	return 0;
}

/**
 * stat_list_add() - add one group of counters from a reply
 * @l: the list; the entry stays in it on failure, for stat_list_free()
 * @nlh: message of stat-get
 *
 * Return: 0, -EBADMSG for a malformed message, or -ENOMEM.
 */
int stat_list_add(struct stat_list *l, const struct nlmsghdr *nlh)
{
	struct stat_group *s = list_grow(&l->list, &l->n, sizeof(*s));
	const struct nlattr *attr;
	int ret;

	if (!s)
		return -ENOMEM;
	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		ret = stat_attr(s, attr);
		if (ret)
			return ret;
		attr_mark(&s->have, attr);
	}
	return HAVE(s, QUELL_A_STAT_NAME) ? 0 : -EBADMSG;
}

static int flow_attr(struct flow *f, const struct nlattr *attr, bool brief)
{
	switch (mnl_attr_get_type(attr)) {
	case QUELL_A_FLOW_COOKIE:
		return attr_uint(attr, &f->cookie);
	case QUELL_A_FLOW_CC:
		return attr_string(attr, &f->cc);
	case QUELL_A_FLOW_FAMILY:
		return attr_u16(attr, &f->family);
	case QUELL_A_FLOW_SADDR:
		return attr_address(attr, f->saddr);
	case QUELL_A_FLOW_DADDR:
		return attr_address(attr, f->daddr);
	case QUELL_A_FLOW_SPORT:
		return attr_u16(attr, &f->sport);
	case QUELL_A_FLOW_DPORT:
		return attr_u16(attr, &f->dport);
	case QUELL_A_FLOW_IFINDEX:
		return attr_u32(attr, &f->ifindex);
	case QUELL_A_FLOW_LINK_RATE:
		return attr_uint(attr, &f->link_bytes_ps);
	case QUELL_A_FLOW_WINDOW:
		return attr_uint(attr, &f->window_bytes);
	case QUELL_A_FLOW_PACING_RATE:
		return attr_uint(attr, &f->pacing_bytes_ps);
	case QUELL_A_FLOW_INFLIGHT:
		return attr_uint(attr, &f->inflight_bytes);
	case QUELL_A_FLOW_RTT:
		return attr_uint(attr, &f->rtt_ns);
	case QUELL_A_FLOW_MIN_RTT:
		return attr_uint(attr, &f->min_rtt_ns);
	case QUELL_A_FLOW_TARGET_DELAY:
		return attr_uint(attr, &f->target_ns);
	case QUELL_A_FLOW_CLOCK:
		return attr_u32(attr, &f->clock);
	case QUELL_A_FLOW_HOPS:
		return attr_u32(attr, &f->hops);
	case QUELL_A_FLOW_MSS:
		return attr_u32(attr, &f->mss_bytes);
	case QUELL_A_FLOW_LIMITED_BY:
		return attr_string(attr, &f->limited_by);
	case QUELL_A_FLOW_ADAPT:
		return attr_string(attr, &f->adapt);
	case QUELL_A_FLOW_FALLBACK:
		return attr_string(attr, &f->fallback);
	case QUELL_A_FLOW_OPTION:
		return attr_string(attr, &f->option);
	case QUELL_A_FLOW_REDUCTION:
		return attr_string(attr, &f->reduction);
	case QUELL_A_FLOW_REDUCTION_AGE:
		return attr_uint(attr, &f->reduction_age_ns);
	case QUELL_A_FLOW_REDUCTION_RTT:
		return attr_uint(attr, &f->reduction_rtt_ns);
	case QUELL_A_FLOW_GOVERNOR_AGE:
		return attr_uint(attr, &f->governor_age_ns);
	case QUELL_A_FLOW_ALGORITHM_TIME:
		return attr_uint(attr, &f->algorithm_ns);
	case QUELL_A_FLOW_SEARCH_TIME:
		return attr_uint(attr, &f->search_ns);
	case QUELL_A_FLOW_CUBIC_TIME:
		return attr_uint(attr, &f->cubic_ns);
	case QUELL_A_FLOW_BASE_RTT:
		return attr_uint(attr, &f->base_ns);
	case QUELL_A_FLOW_LONGEST_RTT:
		return attr_uint(attr, &f->longest_ns);
	case QUELL_A_FLOW_STANDING_RTT:
		return attr_uint(attr, &f->standing_ns);
	case QUELL_A_FLOW_FIT_TARGET:
		return attr_uint(attr, &f->fit_target_ns);
	case QUELL_A_FLOW_NOISE:
		return attr_uint(attr, &f->noise_ns);
	case QUELL_A_FLOW_PATH_RATE:
		return attr_uint(attr, &f->path_bytes_ps);
	case QUELL_A_FLOW_LEAST_RATE:
		return attr_uint(attr, &f->least_bytes_ps);
	case QUELL_A_FLOW_REMOTE_DELAY:
		return attr_uint(attr, &f->remote_ns);
	case QUELL_A_FLOW_RECORD_HOP:
		return attr_u32(attr, &f->record_hop);
	case QUELL_A_FLOW_RECORD_RATE:
		return attr_uint(attr, &f->record_bytes_ps);
	case QUELL_A_FLOW_RECORD_QUEUE:
		return attr_uint(attr, &f->record_queue_bytes);
	case QUELL_A_FLOW_ENTROPIES:
		return attr_u32(attr, &f->entropies);
	case QUELL_A_FLOW_TCP_INT_HOP:
		return attr_u32(attr, &f->tcp_int_hop);
	case QUELL_A_FLOW_TCP_INT_RATE:
		return attr_uint(attr, &f->tcp_int_bytes_ps);
	case QUELL_A_FLOW_TCP_INT_AVAILABLE:
		return attr_uint(attr, &f->tcp_int_available_bytes_ps);
	case QUELL_A_FLOW_TCP_INT_QUEUE:
		return attr_uint(attr, &f->tcp_int_queue_bytes);
	case QUELL_A_FLOW_TCP_INT_LATENCY:
		return attr_uint(attr, &f->tcp_int_latency_ns);
	case QUELL_A_FLOW_N:
		return attr_u32(attr, &f->n_q8);
	case QUELL_A_FLOW_SHARE:
		return attr_uint(attr, &f->share_bytes_ps);
	case QUELL_A_FLOW_RECEIVER_STATE:
		return attr_string(attr, &f->receiver_state);
	case QUELL_A_FLOW_RECEIVER_SENDERS:
		return attr_u32(attr, &f->receiver_senders);
	case QUELL_A_FLOW_COUNTER:
		/* Ten thousand flows have the same meanings ten thousand times. */
		return brief ? 0 : add_counter(&f->counters, attr, false);
	}
	return 0;
}

/**
 * flow_list_add() - add one flow from a reply
 * @l: the list; the entry stays in it on failure, for flow_list_free(); its brief is the caller's
 * @nlh: message of flow-get
 *
 * Return: 0, -EBADMSG for a malformed message, or -ENOMEM.
 */
int flow_list_add(struct flow_list *l, const struct nlmsghdr *nlh)
{
	struct flow *f = list_grow(&l->list, &l->n, sizeof(*f));
	const struct nlattr *attr;
	int ret;

	if (!f)
		return -ENOMEM;
	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		ret = flow_attr(f, attr, l->brief);
		if (ret)
			return ret;
		attr_mark(&f->have, attr);
	}
	return 0;
}

static void counters_free(struct counters *counters)
{
	size_t i;

	for (i = 0; i < counters->n; i++) {
		free(counters->list[i].name);
		free(counters->list[i].doc);
	}
	free(counters->list);
}

/* Empty a list; it may be filled again. */
void cc_list_free(struct cc_list *l)
{
	size_t i, j;

	for (i = 0; i < l->n; i++) {
		struct cc *cc = &l->list[i];

		for (j = 0; j < cc->n_params; j++) {
			free(cc->params[j].name);
			free(cc->params[j].doc);
		}
		free(cc->params);
		free(cc->name);
	}
	free(l->list);
	*l = (struct cc_list){};
}

/* Empty a list; it may be filled again. */
void stat_list_free(struct stat_list *l)
{
	size_t i;

	for (i = 0; i < l->n; i++) {
		counters_free(&l->list[i].counters);
		free(l->list[i].name);
	}
	free(l->list);
	*l = (struct stat_list){};
}

/* Free the counters of a flow, which are most of it. */
void flow_forget_counters(struct flow *f)
{
	counters_free(&f->counters);
	f->counters = (struct counters){};
}

void flow_release(struct flow *f)
{
	counters_free(&f->counters);
	free(f->cc);
	free(f->limited_by);
	free(f->option);
	free(f->adapt);
	free(f->fallback);
	free(f->reduction);
	free(f->receiver_state);
}

/* Empty a list; it may be filled again, as brief as before. */
void flow_list_free(struct flow_list *l)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		flow_release(&l->list[i]);
	free(l->list);
	*l = (struct flow_list){ .brief = l->brief };
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Conversion of netlink messages to plain structs.
 *
 * Integers may have any length up to 64 bits, strings may lack the
 * terminator; attributes of unknown types are ignored.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>

#include "model.h"

/* Append a zeroed entry; the count rises only if the allocation succeeds. */
static void *grow(void *list_ptr, size_t *n, size_t size)
{
	char *list, *slot;

	memcpy(&list, list_ptr, sizeof(list));
	list = reallocarray(list, *n + 1, size);
	if (!list)
		return NULL;
	memcpy(list_ptr, &list, sizeof(list));
	slot = list + *n * size;
	memset(slot, 0, size);
	(*n)++;
	return slot;
}

static int get_uint(const struct nlattr *attr, uint64_t *value)
{
	const void *payload = mnl_attr_get_payload(attr);
	uint16_t u16;
	uint32_t u32;

	switch (mnl_attr_get_payload_len(attr)) {
	case sizeof(uint8_t):
		*value = *(const uint8_t *)payload;
		return 0;
	case sizeof(u16):
		memcpy(&u16, payload, sizeof(u16));
		*value = u16;
		return 0;
	case sizeof(u32):
		memcpy(&u32, payload, sizeof(u32));
		*value = u32;
		return 0;
	case sizeof(*value):
		memcpy(value, payload, sizeof(*value));
		return 0;
	}
	return -EBADMSG;
}

static int get_u32(const struct nlattr *attr, uint32_t *value)
{
	uint64_t wide;
	int ret;

	ret = get_uint(attr, &wide);
	if (ret || wide > UINT32_MAX)
		return -EBADMSG;
	*value = wide;
	return 0;
}

static int get_u16(const struct nlattr *attr, uint16_t *value)
{
	uint64_t wide;
	int ret;

	ret = get_uint(attr, &wide);
	if (ret || wide > UINT16_MAX)
		return -EBADMSG;
	*value = wide;
	return 0;
}

static int get_string(const struct nlattr *attr, char **s)
{
	free(*s);
	*s = strndup(mnl_attr_get_payload(attr), mnl_attr_get_payload_len(attr));
	return *s ? 0 : -ENOMEM;
}

static int get_address(const struct nlattr *attr, uint8_t *address)
{
	size_t len = mnl_attr_get_payload_len(attr);

	if (len != 4 && len != 16)
		return -EBADMSG;
	memcpy(address, mnl_attr_get_payload(attr), len);
	return 0;
}

/* Record that an attribute was present; types beyond the word are unknown ones. */
static void mark(uint32_t *have, const struct nlattr *attr)
{
	uint16_t type = mnl_attr_get_type(attr);

	if (type < 32)
		*have |= 1U << type;
}

static int param_attr(struct param *p, const struct nlattr *attr)
{
	switch (mnl_attr_get_type(attr)) {
	case QUELL_A_PARAM_NAME:
		return get_string(attr, &p->name);
	case QUELL_A_PARAM_VALUE:
		return get_uint(attr, &p->value);
	case QUELL_A_PARAM_DEFAULT:
		return get_uint(attr, &p->def);
	case QUELL_A_PARAM_RANGE_MIN:
		return get_uint(attr, &p->min);
	case QUELL_A_PARAM_RANGE_MAX:
		return get_uint(attr, &p->max);
	case QUELL_A_PARAM_UNIT:
		return get_u32(attr, &p->unit);
	case QUELL_A_PARAM_DOC:
		return get_string(attr, &p->doc);
	}
	return 0;
}

static int add_param(struct cc *cc, const struct nlattr *nest)
{
	struct param *p = grow(&cc->params, &cc->n_params, sizeof(*p));
	const struct nlattr *attr;
	int ret;

	if (!p)
		return -ENOMEM;
	mnl_attr_for_each_nested(attr, nest) {
		ret = param_attr(p, attr);
		if (ret)
			return ret;
		mark(&p->have, attr);
	}
	return HAVE(p, QUELL_A_PARAM_NAME) ? 0 : -EBADMSG;
}

static int counter_attr(struct counter *c, const struct nlattr *attr)
{
	switch (mnl_attr_get_type(attr)) {
	case QUELL_A_COUNTER_NAME:
		return get_string(attr, &c->name);
	case QUELL_A_COUNTER_VALUE:
		return get_uint(attr, &c->value);
	case QUELL_A_COUNTER_DOC:
		return get_string(attr, &c->doc);
	}
	return 0;
}

static int add_counter(struct counters *counters, const struct nlattr *nest)
{
	struct counter *c = grow(&counters->list, &counters->n, sizeof(*c));
	const struct nlattr *attr;
	int ret;

	if (!c)
		return -ENOMEM;
	mnl_attr_for_each_nested(attr, nest) {
		ret = counter_attr(c, attr);
		if (ret)
			return ret;
		mark(&c->have, attr);
	}
	return HAVE(c, QUELL_A_COUNTER_NAME) ? 0 : -EBADMSG;
}

static int cc_attr(struct cc *cc, const struct nlattr *attr)
{
	switch (mnl_attr_get_type(attr)) {
	case QUELL_A_CC_NAME:
		return get_string(attr, &cc->name);
	case QUELL_A_CC_PARAM:
		return add_param(cc, attr);
	case QUELL_A_CC_FLOWS:
		return get_u32(attr, &cc->flows);
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
	struct cc *cc = grow(&l->list, &l->n, sizeof(*cc));
	const struct nlattr *attr;
	int ret;

	if (!cc)
		return -ENOMEM;
	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		ret = cc_attr(cc, attr);
		if (ret)
			return ret;
		mark(&cc->have, attr);
	}
	return HAVE(cc, QUELL_A_CC_NAME) ? 0 : -EBADMSG;
}

static int stat_attr(struct stat_group *s, const struct nlattr *attr)
{
	switch (mnl_attr_get_type(attr)) {
	case QUELL_A_STAT_NAME:
		return get_string(attr, &s->name);
	case QUELL_A_STAT_COUNTER:
		return add_counter(&s->counters, attr);
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
	struct stat_group *s = grow(&l->list, &l->n, sizeof(*s));
	const struct nlattr *attr;
	int ret;

	if (!s)
		return -ENOMEM;
	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		ret = stat_attr(s, attr);
		if (ret)
			return ret;
		mark(&s->have, attr);
	}
	return HAVE(s, QUELL_A_STAT_NAME) ? 0 : -EBADMSG;
}

static int flow_attr(struct flow *f, const struct nlattr *attr)
{
	switch (mnl_attr_get_type(attr)) {
	case QUELL_A_FLOW_COOKIE:
		return get_uint(attr, &f->cookie);
	case QUELL_A_FLOW_CC:
		return get_string(attr, &f->cc);
	case QUELL_A_FLOW_FAMILY:
		return get_u16(attr, &f->family);
	case QUELL_A_FLOW_SADDR:
		return get_address(attr, f->saddr);
	case QUELL_A_FLOW_DADDR:
		return get_address(attr, f->daddr);
	case QUELL_A_FLOW_SPORT:
		return get_u16(attr, &f->sport);
	case QUELL_A_FLOW_DPORT:
		return get_u16(attr, &f->dport);
	case QUELL_A_FLOW_IFINDEX:
		return get_u32(attr, &f->ifindex);
	case QUELL_A_FLOW_LINK_RATE:
		return get_uint(attr, &f->link_bytes_ps);
	case QUELL_A_FLOW_WINDOW:
		return get_uint(attr, &f->window_bytes);
	case QUELL_A_FLOW_PACING_RATE:
		return get_uint(attr, &f->pacing_bytes_ps);
	case QUELL_A_FLOW_INFLIGHT:
		return get_uint(attr, &f->inflight_bytes);
	case QUELL_A_FLOW_RTT:
		return get_uint(attr, &f->rtt_ns);
	case QUELL_A_FLOW_MIN_RTT:
		return get_uint(attr, &f->min_rtt_ns);
	case QUELL_A_FLOW_TARGET_DELAY:
		return get_uint(attr, &f->target_ns);
	case QUELL_A_FLOW_CLOCK:
		return get_u32(attr, &f->clock);
	case QUELL_A_FLOW_HOPS:
		return get_u32(attr, &f->hops);
	case QUELL_A_FLOW_MSS:
		return get_u32(attr, &f->mss_bytes);
	case QUELL_A_FLOW_LIMITED_BY:
		return get_string(attr, &f->limited_by);
	case QUELL_A_FLOW_ADAPT:
		return get_string(attr, &f->adapt);
	case QUELL_A_FLOW_FALLBACK:
		return get_string(attr, &f->fallback);
	case QUELL_A_FLOW_OPTION:
		return get_string(attr, &f->option);
	case QUELL_A_FLOW_REMOTE_DELAY:
		return get_uint(attr, &f->remote_ns);
	case QUELL_A_FLOW_RECORD_HOP:
		return get_u32(attr, &f->record_hop);
	case QUELL_A_FLOW_RECORD_RATE:
		return get_uint(attr, &f->record_bytes_ps);
	case QUELL_A_FLOW_RECORD_QUEUE:
		return get_uint(attr, &f->record_queue_bytes);
	case QUELL_A_FLOW_ENTROPIES:
		return get_u32(attr, &f->entropies);
	case QUELL_A_FLOW_TCP_INT_HOP:
		return get_u32(attr, &f->tcp_int_hop);
	case QUELL_A_FLOW_TCP_INT_RATE:
		return get_uint(attr, &f->tcp_int_bytes_ps);
	case QUELL_A_FLOW_TCP_INT_AVAILABLE:
		return get_uint(attr, &f->tcp_int_available_bytes_ps);
	case QUELL_A_FLOW_TCP_INT_QUEUE:
		return get_uint(attr, &f->tcp_int_queue_bytes);
	case QUELL_A_FLOW_TCP_INT_LATENCY:
		return get_uint(attr, &f->tcp_int_latency_ns);
	case QUELL_A_FLOW_COUNTER:
		return add_counter(&f->counters, attr);
	}
	return 0;
}

/**
 * flow_list_add() - add one flow from a reply
 * @l: the list; the entry stays in it on failure, for flow_list_free()
 * @nlh: message of flow-get
 *
 * Return: 0, -EBADMSG for a malformed message, or -ENOMEM.
 */
int flow_list_add(struct flow_list *l, const struct nlmsghdr *nlh)
{
	struct flow *f = grow(&l->list, &l->n, sizeof(*f));
	const struct nlattr *attr;
	int ret;

	if (!f)
		return -ENOMEM;
	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		ret = flow_attr(f, attr);
		if (ret)
			return ret;
		mark(&f->have, attr);
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

/* Empty a list; it may be filled again. */
void flow_list_free(struct flow_list *l)
{
	size_t i;

	for (i = 0; i < l->n; i++) {
		counters_free(&l->list[i].counters);
		free(l->list[i].cc);
		free(l->list[i].limited_by);
		free(l->list[i].option);
		free(l->list[i].adapt);
		free(l->list[i].fallback);
	}
	free(l->list);
	*l = (struct flow_list){};
}

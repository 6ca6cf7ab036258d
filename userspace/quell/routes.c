// SPDX-License-Identifier: GPL-2.0
/*
 * Routes by rtnetlink: reading all of them, and changing the algorithm of one.
 *
 * The kernel has no request that changes an attribute of a route.  The route is read and put back
 * whole, with another value of that attribute.  The kernel finds the route to replace by prefix,
 * table, metric and type of service only, so that of several with the same key no one is changed.
 * Nor is one whose hop is an object of its own: kernels up to 6.18 at least take the new route for
 * the old one.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <linux/rtnetlink.h>

#include "attr.h"
#include "nl.h"
#include "quell.h"
#include "routes.h"

#define V4_LEN		sizeof(struct in_addr)

static void take_metrics(struct route *route, const struct nlattr *nest)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, nest)
		if (mnl_attr_get_type(attr) == RTAX_CC_ALGO)
			snprintf(route->cc, sizeof(route->cc), "%.*s",
				 (int)mnl_attr_get_payload_len(attr),
				 (const char *)mnl_attr_get_payload(attr));
}

static int take_attr(struct route *route, const struct nlattr *attr)
{
	const struct rta_cacheinfo *info = mnl_attr_get_payload(attr);

	switch (mnl_attr_get_type(attr)) {
	case RTA_DST:
		if (mnl_attr_get_payload_len(attr) != route->dst.len)
			return -EBADMSG;
		memcpy(route->dst.bytes, mnl_attr_get_payload(attr), route->dst.len);
		return 0;
	case RTA_TABLE:
		return attr_u32(attr, &route->table);
	case RTA_PRIORITY:
		return attr_u32(attr, &route->metric);
	case RTA_OIF:
		return attr_u32(attr, &route->ifindex);
	case RTA_METRICS:
		take_metrics(route, attr);
		return 0;
	case RTA_CACHEINFO:
		if (mnl_attr_get_payload_len(attr) >= sizeof(*info) && info->rta_expires)
			route->is_fixed = true;
		return 0;
	case RTA_NH_ID:
		route->is_fixed = true;
		return 0;
	default:
		return 0;
	}
}

/*
 * One of another type than to hosts, such as a blackhole, counts among those of its key, for the
 * kernel may replace it by another, and is not changed.  Return: 1 if it is a route, 0, or -EBADMSG.
 */
static int parse_route(const struct nlmsghdr *nlh, struct route *route)
{
	const struct rtmsg *msg = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *attr;

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*msg))
		return -EBADMSG;
	if (nlh->nlmsg_type != RTM_NEWROUTE || (msg->rtm_flags & RTM_F_CLONED) ||
	    (msg->rtm_family != AF_INET && msg->rtm_family != AF_INET6))
		return 0;
	*route = (struct route){
		.dst.len = msg->rtm_family == AF_INET ? V4_LEN : ADDRESS_BYTES,
		.dst_bits = msg->rtm_dst_len,
		.tos = msg->rtm_tos,
		.table = msg->rtm_table,
		.is_fixed = msg->rtm_type != RTN_UNICAST || msg->rtm_protocol == RTPROT_RA ||
			    msg->rtm_protocol == RTPROT_REDIRECT,
	};
	mnl_attr_for_each(attr, nlh, sizeof(*msg))
		if (take_attr(route, attr))
			return -EBADMSG;
	return 1;
}

static int take_route(const struct nlmsghdr *nlh, void *data)
{
	struct route_list *list = data;
	struct route route, *slot;
	int ret = parse_route(nlh, &route);

	if (ret <= 0)
		return ret;
	slot = list_grow(&list->list, &list->n, sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	*slot = route;
	return 0;
}

static void forget_routes(void *data)
{
	routes_free(data);
}

static int dump(const struct nl_reader *reader)
{
	char buf[NL_BUFFER_LEN] __attribute__((aligned(8))) = {};
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct nl_error err;
	struct nl nl;

	if (!nl_open_route(&nl, &err)) {
		nlh->nlmsg_type = RTM_GETROUTE;
		mnl_nlmsg_put_extra_header(nlh, sizeof(struct rtmsg));
		nl_dump(&nl, nlh, reader, &err);
		nl_close(&nl);
	}
	return err.code ? complain_kernel("cannot list the routes", &err) : STATUS_OK;
}

/**
 * routes_fetch() - read all routes
 * @list: filled in; zeroed before; the caller must free it even on failure
 *
 * Return: an exit status; the reason of a failure has been printed.
 */
int routes_fetch(struct route_list *list)
{
	struct nl_reader reader = {
		.message = take_route, .restart = forget_routes, .data = list,
	};

	return dump(&reader);
}

/**
 * routes_free() - free the list of routes_fetch()
 * @list: the routes; zeroed is allowed
 */
void routes_free(struct route_list *list)
{
	free(list->list);
	*list = (struct route_list){};
}

static bool has_same_key(const struct route *a, const struct route *b)
{
	return a->dst.len == b->dst.len && a->dst_bits == b->dst_bits && a->tos == b->tos &&
	       a->table == b->table && a->metric == b->metric &&
	       !memcmp(a->dst.bytes, b->dst.bytes, sizeof(a->dst.bytes));
}

/**
 * routes_of_key() - number of routes that the kernel cannot distinguish in a replacement
 * @list: all routes
 * @route: one of them
 */
size_t routes_of_key(const struct route_list *list, const struct route *route)
{
	size_t i, n = 0;

	for (i = 0; i < list->n; i++)
		n += has_same_key(&list->list[i], route);
	return n;
}

/* "default", "10.0.0.0/8", "fd00::1" */
static int read_dst(char *text, struct route *route)
{
	char *slash = strchr(text, '/');
	uint64_t bits;

	if (!strcmp(text, "default")) {
		route->dst.len = V4_LEN;
		return STATUS_OK;
	}
	if (slash)
		*slash = '\0';
	if (inet_pton(AF_INET, text, route->dst.bytes) == 1)
		route->dst.len = V4_LEN;
	else if (inet_pton(AF_INET6, text, route->dst.bytes) == 1)
		route->dst.len = ADDRESS_BYTES;
	bits = route->dst.len * 8;
	if (!bits || (slash && (!is_number(slash + 1, 10, &bits) || bits > route->dst.len * 8))) {
		complain("'%s' is no network, such as 10.0.0.0/8", text);
		return STATUS_INPUT;
	}
	route->dst_bits = bits;
	return STATUS_OK;
}

static int read_count(const char *word, const char *text, int base, uint64_t most,
		      uint64_t *value)
{
	if (!strncmp(text, "0x", 2) && base == 16)
		text += 2;
	if (is_number(text, base, value) && *value <= most)
		return STATUS_OK;
	complain("%s: '%s' is out of range 0 .. %llu", word, text, (unsigned long long)most);
	return STATUS_INPUT;
}

static int read_word(const char *word, const char *value, struct route_words *words)
{
	struct route *route = &words->route;
	uint64_t number = 0;
	int status;

	if (!strcmp(word, "dev")) {
		words->has_dev = true;
		return find_dev(value, &route->ifindex);
	}
	if (!strcmp(word, "metric")) {
		words->has_metric = true;
		status = read_count(word, value, 10, UINT32_MAX, &number);
		route->metric = number;
	} else if (!strcmp(word, "table")) {
		number = RT_TABLE_MAIN;
		status = strcmp(value, "main") ?
			 read_count(word, value, 10, UINT32_MAX, &number) : STATUS_OK;
		route->table = number;
	} else if (!strcmp(word, "tos")) {
		status = read_count(word, value, 16, UINT8_MAX, &number);
		route->tos = number;
	} else {
		complain("'%s' is none of dev, metric, table, tos", word);
		status = STATUS_INPUT;
	}
	return status;
}

/**
 * route_read() - parse the name of routes
 * @text: such as "10.0.0.0/8 dev eth0 metric 100 table 7"; table main and tos 0 unless they are
 *	  there, any interface and metric
 * @words: filled in
 *
 * Return: an exit status, after a complaint.
 */
int route_read(const char *text, struct route_words *words)
{
	char copy[ROUTE_TEXT_LEN], *rest = copy, *dst, *word, *value;
	int status;

	*words = (struct route_words){ .route.table = RT_TABLE_MAIN };
	if (snprintf(copy, sizeof(copy), "%s", text) >= (int)sizeof(copy)) {
		complain("'%.32s...' is too long for a route", text);
		return STATUS_INPUT;
	}
	dst = strsep(&rest, " ");
	status = read_dst(dst, &words->route);
	while (!status && (word = strsep(&rest, " "))) {
		value = strsep(&rest, " ");
		if (value) {
			status = read_word(word, value, words);
			continue;
		}
		complain("nothing behind '%s'", word);
		status = STATUS_INPUT;
	}
	return status;
}

/**
 * route_is_named() - whether words mean a route
 * @route: the route
 * @words: the words
 */
bool route_is_named(const struct route *route, const struct route_words *words)
{
	struct route wanted = words->route;

	if (!words->has_metric)
		wanted.metric = route->metric;
	return has_same_key(route, &wanted) &&
	       (!words->has_dev || route->ifindex == wanted.ifindex);
}

/* Other names of interfaces would need quotes. */
static bool is_plain(const char *name)
{
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && !strchr("._-@:+", *name))
			return false;
	return true;
}

static void __attribute__((format(printf, 3, 4)))
append(char *buf, size_t len, const char *fmt, ...)
{
	size_t used = strlen(buf);
	va_list args;

	va_start(args, fmt);
	vsnprintf(buf + used, len - used, fmt, args);
	va_end(args);
}

/**
 * route_format() - the name of a route, which route_read() reads
 * @route: the route
 * @buf: destination
 * @len: its size
 */
void route_format(const struct route *route, char *buf, size_t len)
{
	char text[INET6_ADDRSTRLEN], dev[IF_NAMESIZE];

	inet_ntop(route->dst.len == V4_LEN ? AF_INET : AF_INET6, route->dst.bytes, text,
		  sizeof(text));
	if (route->dst.len == V4_LEN && !route->dst_bits)
		snprintf(buf, len, "default");
	else
		snprintf(buf, len, "%s/%u", text, route->dst_bits);
	if (route->ifindex && if_indextoname(route->ifindex, dev) && is_plain(dev))
		append(buf, len, " dev %s", dev);
	if (route->metric)
		append(buf, len, " metric %u", route->metric);
	if (route->table != RT_TABLE_MAIN)
		append(buf, len, " table %u", route->table);
	if (route->tos)
		append(buf, len, " tos 0x%02x", route->tos);
}

/**
 * struct change_cc - a route that is put back
 * @route: which
 * @cc: its algorithm from then on, or empty
 * @request: the message, once it has been found
 * @found: number of routes with the same key
 * @is_whole: the request has room for all of it
 */
struct change_cc {
	const struct route	*route;
	const char		*cc;
	struct nlmsghdr		*request;
	size_t			found;
	bool			is_whole;
};

static void put_metrics(struct nlmsghdr *to, const struct nlattr *from, const char *cc)
{
	struct nlattr *nest = mnl_attr_nest_start(to, RTA_METRICS);
	const struct nlattr *attr;
	bool is_empty = !*cc;

	if (from)
		mnl_attr_for_each_nested(attr, from) {
			uint32_t lock;

			if (mnl_attr_get_type(attr) == RTAX_CC_ALGO)
				continue;
			is_empty = false;
			if (mnl_attr_get_type(attr) != RTAX_LOCK || *cc || attr_u32(attr, &lock)) {
				mnl_attr_put(to, attr->nla_type, mnl_attr_get_payload_len(attr),
					     mnl_attr_get_payload(attr));
				continue;
			}
			mnl_attr_put_u32(to, RTAX_LOCK, lock & ~(1U << RTAX_CC_ALGO));
		}
	if (*cc)
		mnl_attr_put_str(to, RTAX_CC_ALGO, cc);
	if (is_empty)
		mnl_attr_nest_cancel(to, nest);
	else
		mnl_attr_nest_end(to, nest);
}

/* The state of a link is reported only; the kernel refuses it in a request. */
static void put_hops(struct nlmsghdr *to, const struct nlattr *from)
{
	struct nlattr *attr = mnl_nlmsg_get_payload_tail(to);
	struct rtnexthop *hop;
	int left;

	mnl_attr_put(to, RTA_MULTIPATH, mnl_attr_get_payload_len(from),
		     mnl_attr_get_payload(from));
	hop = mnl_attr_get_payload(attr);
	left = mnl_attr_get_payload_len(attr);
	for (; RTNH_OK(hop, left); left -= RTNH_ALIGN(hop->rtnh_len), hop = RTNH_NEXT(hop))
		hop->rtnh_flags &= RTNH_F_ONLINK;
}

static const struct nlattr *find_attr(const struct nlmsghdr *nlh, uint16_t type)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, sizeof(struct rtmsg))
		if (mnl_attr_get_type(attr) == type)
			return attr;
	return NULL;
}

static void copy_route(struct nlmsghdr *to, const struct nlmsghdr *from, const char *cc)
{
	struct rtmsg *msg = mnl_nlmsg_put_extra_header(to, sizeof(*msg));
	const struct nlattr *attr;

	memcpy(msg, mnl_nlmsg_get_payload(from), sizeof(*msg));
	msg->rtm_flags &= RTNH_F_ONLINK;
	mnl_attr_for_each(attr, from, sizeof(*msg)) {
		uint16_t type = mnl_attr_get_type(attr);

		if (type == RTA_METRICS || type == RTA_CACHEINFO)
			continue;
		if (type == RTA_MULTIPATH)
			put_hops(to, attr);
		else
			mnl_attr_put(to, attr->nla_type, mnl_attr_get_payload_len(attr),
				     mnl_attr_get_payload(attr));
	}
	put_metrics(to, find_attr(from, RTA_METRICS), cc);
}

static int take_old(const struct nlmsghdr *nlh, void *data)
{
	struct change_cc *change = data;
	struct route route;
	int ret = parse_route(nlh, &route);

	if (ret <= 0 || !has_same_key(&route, change->route))
		return ret < 0 ? ret : 0;
	change->found++;
	if (route.ifindex != change->route->ifindex || route.is_fixed)
		return 0;
	change->is_whole = nlh->nlmsg_len + ROUTE_TEXT_LEN <= NL_BUFFER_LEN;
	if (!change->is_whole)
		return 0;
	memset(change->request, 0, NL_BUFFER_LEN);
	mnl_nlmsg_put_header(change->request);
	change->request->nlmsg_type = RTM_NEWROUTE;
	copy_route(change->request, nlh, change->cc);
	return 0;
}

static void forget_old(void *data)
{
	struct change_cc *change = data;

	change->found = 0;
	change->is_whole = false;
}

/**
 * route_set_cc() - change the algorithm of a route, and no other attribute
 * @route: from routes_fetch()
 * @cc: name of the algorithm; empty: that of the namespace
 * @changed: whether it has it
 *
 * Routes come and go: that one has changed meanwhile, or that the kernel does not put it back, as
 * with an interface of several down, is said, and no failure.
 *
 * Return: an exit status; the reason of a failure has been printed.
 */
int route_set_cc(const struct route *route, const char *cc, bool *changed)
{
	char buf[NL_BUFFER_LEN] __attribute__((aligned(8)));
	struct change_cc change = {
		.route = route, .cc = cc, .request = (struct nlmsghdr *)buf,
	};
	struct nl_reader reader = {
		.message = take_old, .restart = forget_old, .data = &change,
	};
	char text[ROUTE_TEXT_LEN];
	struct nl_error err;
	struct nl nl;
	int status;

	*changed = false;
	route_format(route, text, sizeof(text));
	status = dump(&reader);
	if (status)
		return status;
	if (change.found != 1 || !change.is_whole) {
		complain("route %s: it is not as it was, and left as it is", text);
		return STATUS_OK;
	}
	if (!nl_open_route(&nl, &err)) {
		change.request->nlmsg_flags = NLM_F_REPLACE;
		nl_do(&nl, change.request, NULL, &err);
		nl_close(&nl);
	}
	*changed = !err.code;
	if (*changed)
		return STATUS_OK;
	status = complain_kernel(text, &err);
	return err.code == EPERM ? status : STATUS_OK;
}

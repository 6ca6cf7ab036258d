// SPDX-License-Identifier: GPL-2.0
/*
 * Dumps of sock_diag: all TCP sockets of the network namespace but those in TIME-WAIT.  A dump
 * assigns cookies to sockets without one, so a dump before that of the flows lets the two be
 * joined.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>

#include "attr.h"
#include "sock_diag.h"
#include "nl.h"
#include "util.h"

/* Numbers of the kernel's states, which no header of user space has beside <linux/tcp.h>. */
#define STATE_TIME_WAIT		6
#define STATE_LISTEN		10
#define STATE_NEW_SYN_RECV	12
#define STATES_LEFT_OUT		(1U << STATE_TIME_WAIT | 1U << STATE_NEW_SYN_RECV)

/* In the words of ss(8). */
static const char * const state_names[] = {
	[1] = "established", [2] = "syn-sent", [3] = "syn-recv", [4] = "fin-wait-1",
	[5] = "fin-wait-2", [STATE_TIME_WAIT] = "time-wait", [7] = "closed",
	[8] = "close-wait", [9] = "last-ack", [STATE_LISTEN] = "listening", [11] = "closing",
};

/* The name that ss(8) has for a state, or "unknown". */
const char *diag_state_name(uint8_t state)
{
	return state < ARRAY_SIZE(state_names) && state_names[state] ? state_names[state] :
								       "unknown";
}

/* The kernel's number of a state of ss(8). Returns 0, or -EINVAL if there is no such state. */
int diag_state_number(const char *name, uint8_t *state)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(state_names); i++) {
		if (state_names[i] && !strcmp(name, state_names[i])) {
			*state = i;
			return 0;
		}
	}
	return -EINVAL;
}

/* An older kernel has a shorter struct. */
static void take_info(struct diag *d, const struct nlattr *attr)
{
	struct tcp_info info = {};
	size_t len = mnl_attr_get_payload_len(attr);

	memcpy(&info, mnl_attr_get_payload(attr), len < sizeof(info) ? len : sizeof(info));
	d->delivery_bytes_ps = info.tcpi_delivery_rate;
	d->acked_bytes = info.tcpi_bytes_acked;
	d->retrans_segs = info.tcpi_total_retrans;
	d->sent_segs = info.tcpi_data_segs_out;
	d->lost_segs = info.tcpi_lost;
	d->min_rtt_us = info.tcpi_min_rtt == UINT32_MAX ? 0 : info.tcpi_min_rtt;
	d->mss_bytes = info.tcpi_snd_mss;
	d->marked_pkts = info.tcpi_delivered_ce;
	d->has_ecn = info.tcpi_options & TCPI_OPT_ECN;
	d->app_limited = info.tcpi_delivery_rate_app_limited;
	d->has_info = true;
}

/* Add one socket from a reply. Returns 0, -EBADMSG for a malformed message, or -ENOMEM. */
int diag_list_add(struct diag_list *l, const struct nlmsghdr *nlh)
{
	const struct inet_diag_msg *msg = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *attr;
	struct diag *d;
	bool is_mapped;

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*msg))
		return -EBADMSG;
	d = list_grow(&l->list, &l->n, sizeof(*d));
	if (!d)
		return -ENOMEM;
	d->cookie = (uint64_t)msg->id.idiag_cookie[1] << 32 | msg->id.idiag_cookie[0];
	d->state = msg->idiag_state;
	d->ifindex = msg->id.idiag_if;
	/* A socket of IPv6 may be connected over IPv4: its routes and addresses are those of IPv4. */
	is_mapped = msg->idiag_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(msg->id.idiag_dst);
	d->family = is_mapped ? AF_INET : msg->idiag_family;
	if (is_mapped)
		memcpy(d->daddr, &msg->id.idiag_dst[3], sizeof(msg->id.idiag_dst[3]));
	else
		memcpy(d->daddr, msg->id.idiag_dst, sizeof(d->daddr));
	mnl_attr_for_each(attr, nlh, sizeof(*msg)) {
		if (mnl_attr_get_type(attr) == INET_DIAG_INFO)
			take_info(d, attr);
		else if (mnl_attr_get_type(attr) == INET_DIAG_CONG)
			snprintf(d->cc, sizeof(d->cc), "%.*s", (int)mnl_attr_get_payload_len(attr),
				 (const char *)mnl_attr_get_payload(attr));
	}
	return 0;
}

static int compare_cookies(const void *a, const void *b)
{
	const struct diag *one = a, *two = b;

	return (one->cookie > two->cookie) - (one->cookie < two->cookie);
}

void diag_list_sort(struct diag_list *l)
{
	if (l->n)
		qsort(l->list, l->n, sizeof(*l->list), compare_cookies);
}

/* The socket of a cookie in a sorted list, or NULL. */
const struct diag *diag_list_find(const struct diag_list *l, uint64_t cookie)
{
	const struct diag key = { .cookie = cookie };

	return l->n ? bsearch(&key, l->list, l->n, sizeof(key), compare_cookies) : NULL;
}

void diag_list_free(struct diag_list *l)
{
	free(l->list);
	*l = (struct diag_list){};
}

static int take_socket(const struct nlmsghdr *nlh, void *data)
{
	return diag_list_add(data, nlh);
}

/* The entries of a complete dump stay in the list: it is not repeated with the next family. */
static void keep(void *data)
{
}

static int dump_family(struct nl *nl, uint8_t family, uint32_t states, struct diag_list *l)
{
	struct nl_reader reader = { .message = take_socket, .restart = keep, .data = l };
	char buf[NL_BUFFER_LEN] __attribute__((aligned(8)));
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct inet_diag_req_v2 *req;
	struct nl_error err;

	nlh->nlmsg_type = SOCK_DIAG_BY_FAMILY;
	req = mnl_nlmsg_put_extra_header(nlh, sizeof(*req));
	req->sdiag_family = family;
	req->sdiag_protocol = IPPROTO_TCP;
	req->idiag_ext = 1U << (INET_DIAG_INFO - 1) | 1U << (INET_DIAG_CONG - 1);
	req->idiag_states = states;
	return nl_dump(nl, nlh, &reader, &err);
}

/*
 * List the TCP sockets of the namespace, sorted; the list must be freed even on failure. Returns 0
 * or a negative errno value, -ENOENT if the kernel has no tcp_diag.
 */
int diag_fetch(struct diag_list *l, bool listening)
{
	uint32_t states = ~(STATES_LEFT_OUT | (listening ? 0 : 1U << STATE_LISTEN));
	struct nl nl = { .seq = time(NULL) };
	int ret;

	*l = (struct diag_list){};
	nl.sock = mnl_socket_open2(NETLINK_SOCK_DIAG, SOCK_CLOEXEC);
	if (!nl.sock)
		return -errno;
	ret = mnl_socket_bind(nl.sock, 0, MNL_SOCKET_AUTOPID) < 0 ? -errno : 0;
	if (!ret)
		ret = dump_family(&nl, AF_INET, states, l);
	if (!ret && dump_family(&nl, AF_INET6, states, l) == -ENOMEM)
		ret = -ENOMEM;
	nl_close(&nl);
	diag_list_sort(l);
	return ret;
}

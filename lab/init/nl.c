// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink, as far as a set-up program needs it.
 *
 * The kernel processes requests inside sendto(), and answers only failures (no
 * NLM_F_ACK), so a request costs two system calls and needs no batching.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "init.h"

#ifndef SOL_NETLINK
#define SOL_NETLINK	270
#endif

static char reply[1 << 17];

/* Open a socket in the current namespace. */
int nl_open(int protocol)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
	int one = 1;

	if (fd < 0)
		fail("netlink socket: %s", strerror(errno));
	if (setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one)) ||
	    setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one)))
		fail("netlink socket options: %s", strerror(errno));
	return fd;
}

void nl_append(struct request *req, const void *data, size_t size)
{
	size_t at = NLMSG_ALIGN(req->nlh.nlmsg_len);

	if (at + NLMSG_ALIGN(size) > sizeof(req->buffer))
		fail("netlink request too long");
	memset(req->buffer + at, 0, NLMSG_ALIGN(size));
	memcpy(req->buffer + at, data, size);
	req->nlh.nlmsg_len = at + NLMSG_ALIGN(size);
}

void nl_start(struct request *req, int type, int flags, const void *header,
	      size_t size)
{
	req->nlh = (struct nlmsghdr) {
		.nlmsg_len = NLMSG_HDRLEN,
		.nlmsg_type = type,
		.nlmsg_flags = NLM_F_REQUEST | flags,
	};
	nl_append(req, header, size);
}

void nl_put(struct request *req, int type, const void *data, size_t size)
{
	struct nlattr attr = { .nla_len = NLA_HDRLEN + size, .nla_type = type };

	nl_append(req, &attr, sizeof(attr));
	if (size)
		nl_append(req, data, size);
}

void nl_put_u32(struct request *req, int type, uint32_t value)
{
	nl_put(req, type, &value, sizeof(value));
}

void nl_put_u64(struct request *req, int type, uint64_t value)
{
	nl_put(req, type, &value, sizeof(value));
}

void nl_put_string(struct request *req, int type, const char *text)
{
	nl_put(req, type, text, strlen(text) + 1);
}

/* The options of the line, from word @from on, that are there. */
void nl_put_numbers(struct request *req, int from, const struct number_option *options, size_t n)
{
	const struct number_option *o;

	for (o = options; o < options + n; o++) {
		uint64_t most = o->most ?: o->wide ? UINT64_MAX : UINT32_MAX;
		const char *value = option(from, o->key);

		if (value && o->wide)
			nl_put_u64(req, o->attr, number(value, o->least, most));
		else if (value)
			nl_put_u32(req, o->attr, number(value, o->least, most));
	}
}

struct nlattr *nl_nest(struct request *req, int type)
{
	struct nlattr *nest = (void *)(req->buffer + req->nlh.nlmsg_len);

	nl_put(req, type | NLA_F_NESTED, NULL, 0);
	return nest;
}

void nl_nest_end(struct request *req, struct nlattr *nest)
{
	nest->nla_len = req->buffer + req->nlh.nlmsg_len - (char *)nest;
}

const void *nl_data(const struct nlattr *attr)
{
	return (const char *)attr + NLA_HDRLEN;
}

int nl_len(const struct nlattr *attr)
{
	return attr->nla_len - NLA_HDRLEN;
}

void nl_parse(const struct nlattr **tb, int max, const void *attrs, int size)
{
	const struct nlattr *attr = attrs;

	memset(tb, 0, (max + 1) * sizeof(*tb));
	while (size >= NLA_HDRLEN && attr->nla_len >= NLA_HDRLEN &&
	       attr->nla_len <= size) {
		int type = attr->nla_type & NLA_TYPE_MASK;

		if (type <= max)
			tb[type] = attr;
		size -= NLA_ALIGN(attr->nla_len);
		attr = (const void *)((const char *)attr +
				      NLA_ALIGN(attr->nla_len));
	}
}

/* Fail with errno and the kernel's extended error message, if it sent one. */
static void nl_check_error(const struct nlmsghdr *nlh)
{
	const struct nlattr *tb[NLMSGERR_ATTR_MAX + 1];
	const struct nlmsgerr *err = NLMSG_DATA(nlh);
	int header = NLMSG_HDRLEN + sizeof(*err);
	const char *text = NULL;

	if (!err->error)
		return;
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
		header += err->msg.nlmsg_len - sizeof(err->msg);
	if (nlh->nlmsg_flags & NLM_F_ACK_TLVS) {
		nl_parse(tb, NLMSGERR_ATTR_MAX, (const char *)nlh + header,
			 nlh->nlmsg_len - header);
		if (tb[NLMSGERR_ATTR_MSG])
			text = nl_data(tb[NLMSGERR_ATTR_MSG]);
	}
	fail("%s%s%s", strerror(-err->error), text ? ": " : "", text ?: "");
}

static void nl_send(int fd, struct request *req)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };

	if (sendto(fd, req->buffer, req->nlh.nlmsg_len, 0,
		   (struct sockaddr *)&kernel, sizeof(kernel)) < 0)
		fail("netlink send: %s", strerror(errno));
}

void nl_do(int fd, struct request *req)
{
	const struct nlmsghdr *nlh = (void *)reply;
	ssize_t size;

	nl_send(fd, req);
	size = recv(fd, reply, sizeof(reply), MSG_DONTWAIT);
	if (size < 0 && errno == EAGAIN)
		return;
	if (size < 0)
		fail("netlink receive: %s", strerror(errno));
	if (NLMSG_OK(nlh, size) && nlh->nlmsg_type == NLMSG_ERROR)
		nl_check_error(nlh);
}

/* Pass every message of the answer to @each; also for single answers. */
void nl_dump(int fd, struct request *req,
	     void (*each)(const struct nlmsghdr *nlh, void *arg), void *arg)
{
	nl_send(fd, req);
	for (;;) {
		const struct nlmsghdr *nlh = (void *)reply;
		ssize_t size = recv(fd, reply, sizeof(reply), 0);

		if (size <= 0)
			fail("netlink receive: %s", strerror(errno));
		for (; NLMSG_OK(nlh, size); nlh = NLMSG_NEXT(nlh, size)) {
			if (nlh->nlmsg_type == NLMSG_DONE)
				return;
			if (nlh->nlmsg_type == NLMSG_ERROR) {
				nl_check_error(nlh);
				return;
			}
			each(nlh, arg);
			if (!(nlh->nlmsg_flags & NLM_F_MULTI))
				return;
		}
	}
}

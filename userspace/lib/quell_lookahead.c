// SPDX-License-Identifier: GPL-2.0
/*
 * Look-ahead for applications: requests to the kernel, one socket each.
 *
 * All functions return 0 or more, or a negative errno value; then they also leave a text in
 * @error, which is the kernel's if it has one.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/quell.h>
#include <linux/rtnetlink.h>

#include "quell_lookahead.h"

#define REPLY_BYTES		8192
/* Header and all attributes but the members, for the longest name. */
#define REQUEST_BYTES		1024
#define MEMBER_BYTES		(MNL_ATTR_HDRLEN + sizeof(struct in6_addr))
/* Largest request that a socket sends with the usual net.core.wmem_default. */
#define MEMBERS_MOST		4096
/* A socket has one request at a time, so sequence numbers need not differ. */
#define SEQ			1

/* Where the text of an error goes. */
struct error {
	char	*text;
	size_t	bytes;
};

static int __attribute__((format(printf, 3, 4))) fail(const struct error *error, int code,
						      const char *fmt, ...)
{
	va_list args;

	if (error->bytes) {
		va_start(args, fmt);
		vsnprintf(error->text, error->bytes, fmt, args);
		va_end(args);
	}
	return -code;
}

/* Without the end of a string, and the blanks that kernels before 6.2 fill texts up with. */
static int text_len(const struct nlattr *attr)
{
	const char *text = mnl_attr_get_payload(attr);
	int len = strnlen(text, mnl_attr_get_payload_len(attr));

	while (len && text[len - 1] == ' ')
		len--;
	return len;
}

/* The kernel's extack text, behind the copy of the request. */
static int fail_kernel(const struct error *error, const struct nlmsghdr *nlh, int code)
{
	size_t len = mnl_nlmsg_get_payload_len(nlh), skip = sizeof(struct nlmsgerr);
	const struct nlmsgerr *report = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *attr;
	const void *attrs;

	if (!(nlh->nlmsg_flags & NLM_F_CAPPED) && report->msg.nlmsg_len > sizeof(report->msg))
		skip += MNL_ALIGN(report->msg.nlmsg_len) - sizeof(report->msg);
	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS) || skip >= len)
		return fail(error, code, "%s", strerror(code));
	attrs = mnl_nlmsg_get_payload_offset(nlh, skip);
	mnl_attr_for_each_payload(attrs, len - skip)
		if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_MSG)
			return fail(error, code, "%.*s", text_len(attr),
				    (const char *)mnl_attr_get_payload(attr));
	return fail(error, code, "%s", strerror(code));
}

/* Parse a reply: the result of the request, or a message, of which @reader returns a number. */
static int read_reply(const struct nlmsghdr *nlh, int (*reader)(const struct nlmsghdr *nlh),
		      bool *done, const struct error *error)
{
	const struct nlmsgerr *report = mnl_nlmsg_get_payload(nlh);

	if (nlh->nlmsg_type != NLMSG_ERROR)
		return reader ? reader(nlh) : 0;
	*done = true;
	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*report))
		return fail(error, EBADMSG, "a malformed answer of the kernel");
	return report->error ? fail_kernel(error, nlh, -report->error) : 0;
}

/* From the kernel, as others of the namespace may send, too, or -1; EAGAIN if it was not. */
static ssize_t receive(struct mnl_socket *sock, void *buf, size_t len)
{
	struct sockaddr_nl from = {};
	socklen_t from_len = sizeof(from);
	/* MSG_TRUNC: the full length, even if the buffer is shorter. */
	ssize_t got = recvfrom(mnl_socket_get_fd(sock), buf, len, MSG_TRUNC,
			       (struct sockaddr *)&from, &from_len);

	if (got < 0 || (!from.nl_pid && (size_t)got <= len))
		return got;
	errno = from.nl_pid ? EAGAIN : ENOSPC;
	return -1;
}

/* Send a request and read its result: the value of @reader, or 0. */
static int transact(struct mnl_socket *sock, struct nlmsghdr *nlh,
		    int (*reader)(const struct nlmsghdr *nlh), const struct error *error)
{
	char buf[REPLY_BYTES] __attribute__((aligned(8)));
	int read = 0, ret;
	bool done = false;

	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	nlh->nlmsg_seq = SEQ;
	if (mnl_socket_sendto(sock, nlh, nlh->nlmsg_len) < 0)
		return fail(error, errno, "cannot send a request: %s", strerror(errno));
	while (!done) {
		const struct nlmsghdr *reply = (const struct nlmsghdr *)buf;
		ssize_t got = receive(sock, buf, sizeof(buf));
		int len = got;

		if (got < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (got < 0)
			return fail(error, errno, "no answer: %s", strerror(errno));
		for (; mnl_nlmsg_ok(reply, len); reply = mnl_nlmsg_next(reply, &len)) {
			ret = read_reply(reply, reader, &done, error);
			if (ret < 0)
				return ret;
			read = ret ? ret : read;
		}
	}
	return read;
}

static struct mnl_socket *open_socket(int bus, const struct error *error, int *ret)
{
	struct mnl_socket *sock = mnl_socket_open2(bus, SOCK_CLOEXEC);
	int one = 1;

	if (!sock || mnl_socket_bind(sock, 0, MNL_SOCKET_AUTOPID) < 0) {
		*ret = fail(error, errno, "cannot open a socket: %s", strerror(errno));
		if (sock)
			mnl_socket_close(sock);
		return NULL;
	}
	/* The kernel's texts, and without the request, which may be larger than the buffer. */
	mnl_socket_setsockopt(sock, NETLINK_EXT_ACK, &one, sizeof(one));
	mnl_socket_setsockopt(sock, NETLINK_CAP_ACK, &one, sizeof(one));
	return sock;
}

static struct nlmsghdr *prepare(void *buf, uint16_t family, uint8_t cmd, uint8_t version)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *genl;

	nlh->nlmsg_type = family;
	genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));
	genl->cmd = cmd;
	genl->version = version;
	return nlh;
}

static int read_family(const struct nlmsghdr *nlh)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID &&
		    mnl_attr_get_payload_len(attr) == sizeof(uint16_t))
			return mnl_attr_get_u16(attr);
	return 0;
}

static int find_family(struct mnl_socket *sock, const struct error *error)
{
	char buf[REQUEST_BYTES] __attribute__((aligned(8))) = {};
	struct nlmsghdr *nlh = prepare(buf, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1);
	int ret;

	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, QUELL_FAMILY_NAME);
	ret = transact(sock, nlh, read_family, error);
	if (!ret || ret == -ENOENT)
		return fail(error, EOPNOTSUPP, "kernel module quell is not loaded");
	return ret;
}

/* Send a request to family quell, after a look-up of the family's id. */
static int request(struct nlmsghdr *nlh, const struct error *error)
{
	struct mnl_socket *sock;
	int ret;

	sock = open_socket(NETLINK_GENERIC, error, &ret);
	if (!sock)
		return ret;
	ret = find_family(sock, error);
	if (ret > 0) {
		nlh->nlmsg_type = ret;
		ret = transact(sock, nlh, NULL, error);
	}
	mnl_socket_close(sock);
	return ret;
}

/* Bytes of a member's address and where they are; NULL if it is neither IPv4 nor IPv6. */
static const void *address_of(const struct sockaddr_storage *member, size_t *bytes)
{
	switch (member->ss_family) {
	case AF_INET:
		*bytes = sizeof(struct in_addr);
		return &((const struct sockaddr_in *)member)->sin_addr;
	case AF_INET6:
		*bytes = sizeof(struct in6_addr);
		return &((const struct sockaddr_in6 *)member)->sin6_addr;
	}
	return NULL;
}

static int put_members(struct nlmsghdr *nlh, const struct quell_lookahead_group *group,
		       const struct error *error)
{
	const void *address;
	size_t bytes, i;

	for (i = 0; i < group->members_nr; i++) {
		address = address_of(&group->members[i], &bytes);
		if (!address)
			return fail(error, EAFNOSUPPORT, "member %zu: neither IPv4 nor IPv6", i);
		mnl_attr_put(nlh, QUELL_A_LOOKAHEAD_MEMBER, bytes, address);
	}
	return 0;
}

static int send_group(const struct quell_lookahead_group *group, void *buf,
		      const struct error *error)
{
	struct nlmsghdr *nlh = prepare(buf, 0, QUELL_CMD_LOOKAHEAD_ADD, QUELL_FAMILY_VERSION);
	int ifindex = group->ifindex, ret;

	if (!ifindex) {
		ifindex = quell_lookahead_ifindex(&group->members[0], error->text, error->bytes);
		if (ifindex < 0)
			return ifindex;
	}
	mnl_attr_put_strz(nlh, QUELL_A_LOOKAHEAD_NAME, group->name);
	mnl_attr_put_u32(nlh, QUELL_A_LOOKAHEAD_IFINDEX, ifindex);
	if (group->time_ns)
		mnl_attr_put_u64(nlh, QUELL_A_LOOKAHEAD_TIME, group->time_ns);
	ret = put_members(nlh, group, error);
	return ret ? ret : request(nlh, error);
}

static int check_name(const char *name, const struct error *error)
{
	if (!*name || strlen(name) > 31)
		return fail(error, EINVAL, "name: 1 to 31 bytes");
	return 0;
}

/**
 * quell_lookahead_add() - register a group, for the effective user of the calling thread
 * @group: the group; read during the call only
 * @error: where the text of an error goes
 * @error_bytes: room there; 0: the text is not wanted
 *
 * The group lasts until it is deleted or its interface goes; the process that registered it
 * may end before.
 *
 * Return: 0; -EOPNOTSUPP the kernel has no look-ahead, -EEXIST the user has a group of this
 * name, -ERANGE time or number of members.  -EDQUOT too many groups or members of the user or
 * of the namespace, -EINVAL name or address, or a member is there twice, -EAFNOSUPPORT.
 * -ENODEV no such interface, -ENETUNREACH no route to the first member, -ENOMEM.
 */
int quell_lookahead_add(const struct quell_lookahead_group *group, char *error,
			size_t error_bytes)
{
	const struct error where = { .text = error, .bytes = error_bytes };
	void *buf;
	int ret;

	ret = check_name(group->name, &where);
	if (ret)
		return ret;
	if (!group->members_nr || group->members_nr > MEMBERS_MOST)
		return fail(&where, ERANGE, "members: 1 to 1024");
	/* Zeroed: libmnl before 1.0.5 leaves the padding of an attribute as it is. */
	buf = calloc(1, REQUEST_BYTES + group->members_nr * MEMBER_BYTES);
	if (!buf)
		return fail(&where, ENOMEM, "%s", strerror(ENOMEM));
	ret = send_group(group, buf, &where);
	free(buf);
	return ret;
}

/**
 * quell_lookahead_del() - forget a group
 * @name: its name
 * @uid: its user, which needs CAP_NET_ADMIN if it is another's; NULL: the calling thread's
 * @error: where the text of an error goes
 * @error_bytes: room there; 0: the text is not wanted
 *
 * Return: 0; -ENOENT no such group, -EPERM, -EINVAL name, -EOPNOTSUPP quell is not loaded.
 */
int quell_lookahead_del(const char *name, const uid_t *uid, char *error, size_t error_bytes)
{
	const struct error where = { .text = error, .bytes = error_bytes };
	char buf[REQUEST_BYTES] __attribute__((aligned(8))) = {};
	struct nlmsghdr *nlh;
	int ret;

	ret = check_name(name, &where);
	if (ret)
		return ret;
	nlh = prepare(buf, 0, QUELL_CMD_LOOKAHEAD_DEL, QUELL_FAMILY_VERSION);
	mnl_attr_put_strz(nlh, QUELL_A_LOOKAHEAD_NAME, name);
	if (uid)
		mnl_attr_put_u32(nlh, QUELL_A_LOOKAHEAD_UID, *uid);
	return request(nlh, &where);
}

static int read_route(const struct nlmsghdr *nlh)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, sizeof(struct rtmsg))
		if (mnl_attr_get_type(attr) == RTA_OIF &&
		    mnl_attr_get_payload_len(attr) == sizeof(uint32_t))
			return mnl_attr_get_u32(attr);
	return 0;
}

/**
 * quell_lookahead_ifindex() - the interface of the route to a host
 * @member: its address
 * @error: where the text of an error goes
 * @error_bytes: room there; 0: the text is not wanted
 *
 * Return: index; -ENETUNREACH and others no route, -EAFNOSUPPORT.
 */
int quell_lookahead_ifindex(const struct sockaddr_storage *member, char *error,
			    size_t error_bytes)
{
	const struct error where = { .text = error, .bytes = error_bytes };
	char buf[REQUEST_BYTES] __attribute__((aligned(8))) = {};
	struct mnl_socket *sock;
	const void *address;
	struct nlmsghdr *nlh;
	struct rtmsg *route;
	size_t bytes;
	int ret;

	address = address_of(member, &bytes);
	if (!address)
		return fail(&where, EAFNOSUPPORT, "address: neither IPv4 nor IPv6");
	sock = open_socket(NETLINK_ROUTE, &where, &ret);
	if (!sock)
		return ret;
	nlh = mnl_nlmsg_put_header(buf);
	nlh->nlmsg_type = RTM_GETROUTE;
	route = mnl_nlmsg_put_extra_header(nlh, sizeof(*route));
	route->rtm_family = member->ss_family;
	route->rtm_dst_len = bytes * 8;
	mnl_attr_put(nlh, RTA_DST, bytes, address);
	ret = transact(sock, nlh, read_route, &where);
	mnl_socket_close(sock);
	return ret ? ret : fail(&where, ENETUNREACH, "%s", strerror(ENETUNREACH));
}

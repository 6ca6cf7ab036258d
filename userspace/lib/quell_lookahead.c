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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libmnl/libmnl.h>
#include <linux/quell.h>
#include <linux/rtnetlink.h>

#include "nl.h"
#include "quell_lookahead.h"

#define MEMBER_BYTES		(MNL_ATTR_HDRLEN + sizeof(struct in6_addr))
/* Largest request that a socket sends with the usual net.core.wmem_default. */
#define MEMBERS_MOST		4096

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

static int fail_nl(const struct error *error, const struct nl_error *err)
{
	return fail(error, err->code, "%s", *err->text ? err->text : strerror(err->code));
}

static int request(struct nlmsghdr *nlh, const struct error *error)
{
	struct nl_error err;
	struct nl nl;

	if (nl_open(&nl, &err)) {
		if (err.code == ENOENT)
			return fail(error, EOPNOTSUPP, "kernel module quell is not loaded");
		return fail_nl(error, &err);
	}
	nlh->nlmsg_type = nl.family;
	nl_do(&nl, nlh, NULL, &err);
	nl_close(&nl);
	return err.code ? fail_nl(error, &err) : 0;
}

/*
 * Bytes of a member's address and where they are; NULL if it is neither IPv4 nor IPv6. The IPv4
 * peer of an IPv6 socket, ::ffff:10.0.0.1, has the routes of IPv4.
 */
static const void *address_of(const struct sockaddr_storage *member, size_t *bytes)
{
	const struct in6_addr *in6 = &((const struct sockaddr_in6 *)member)->sin6_addr;

	*bytes = sizeof(struct in_addr);
	if (member->ss_family == AF_INET)
		return &((const struct sockaddr_in *)member)->sin_addr;
	if (member->ss_family != AF_INET6)
		return NULL;
	if (IN6_IS_ADDR_V4MAPPED(in6))
		return &in6->s6_addr32[3];
	*bytes = sizeof(*in6);
	return in6;
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
	struct nlmsghdr *nlh = nl_prepare(&(struct nl){}, buf, QUELL_CMD_LOOKAHEAD_ADD);
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
	buf = calloc(1, NL_BUFFER_LEN + group->members_nr * MEMBER_BYTES);
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
	char buf[NL_BUFFER_LEN] __attribute__((aligned(8)));
	struct nlmsghdr *nlh;
	int ret;

	ret = check_name(name, &where);
	if (ret)
		return ret;
	nlh = nl_prepare(&(struct nl){}, buf, QUELL_CMD_LOOKAHEAD_DEL);
	mnl_attr_put_strz(nlh, QUELL_A_LOOKAHEAD_NAME, name);
	if (uid)
		mnl_attr_put_u32(nlh, QUELL_A_LOOKAHEAD_UID, *uid);
	return request(nlh, &where);
}

static int read_route(const struct nlmsghdr *nlh, void *ifindex)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, sizeof(struct rtmsg))
		if (mnl_attr_get_type(attr) == RTA_OIF &&
		    mnl_attr_get_payload_len(attr) == sizeof(uint32_t))
			*(int *)ifindex = mnl_attr_get_u32(attr);
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
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)member;
	const struct error where = { .text = error, .bytes = error_bytes };
	char buf[MNL_NLMSG_HDRLEN + sizeof(struct rtmsg) + MEMBER_BYTES]
		__attribute__((aligned(8))) = {};
	int ifindex = 0;
	const struct nl_reader reader = { .message = read_route, .data = &ifindex };
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct nl_error err;
	const void *address;
	struct rtmsg *route;
	struct nl nl;
	size_t bytes;

	address = address_of(member, &bytes);
	if (!address)
		return fail(&where, EAFNOSUPPORT, "address: neither IPv4 nor IPv6");
	/* Every interface has a route to link-local addresses. */
	if (bytes == sizeof(struct in6_addr) && IN6_IS_ADDR_LINKLOCAL(address) &&
	    in6->sin6_scope_id)
		return in6->sin6_scope_id;
	nlh->nlmsg_type = RTM_GETROUTE;
	route = mnl_nlmsg_put_extra_header(nlh, sizeof(*route));
	route->rtm_family = bytes == sizeof(struct in_addr) ? AF_INET : AF_INET6;
	route->rtm_dst_len = bytes * 8;
	mnl_attr_put(nlh, RTA_DST, bytes, address);
	if (!nl_open_route(&nl, &err)) {
		nl_do(&nl, nlh, &reader, &err);
		nl_close(&nl);
	}
	if (err.code)
		return fail_nl(&where, &err);
	return ifindex ? ifindex : fail(&where, ENETUNREACH, "%s", strerror(ENETUNREACH));
}

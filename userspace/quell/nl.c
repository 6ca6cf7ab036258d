// SPDX-License-Identifier: GPL-2.0
/*
 * Transport: one generic netlink socket, single requests and dumps, extended
 * error reports.
 *
 * A dump that changed while it was read (NLM_F_DUMP_INTR) may miss entries or
 * contain them twice.  It is read to its end, discarded and requested again a
 * bounded number of times; on a host that opens sockets all the time the result of the
 * last try is shown, with a note.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/quell.h>

#include "nl.h"

#define DUMP_TRIES	8

static int fail(struct nl_error *err, int code)
{
	err->code = code;
	return -code;
}

static void parse_error_attrs(const void *attrs, size_t len, struct nl_error *err)
{
	const struct nlattr *attr;
	size_t used;

	mnl_attr_for_each_payload(attrs, len) {
		switch (mnl_attr_get_type(attr)) {
		case NLMSGERR_ATTR_MSG:
			snprintf(err->text, sizeof(err->text), "%.*s",
				 (int)mnl_attr_get_payload_len(attr),
				 (const char *)mnl_attr_get_payload(attr));
			/* Texts of kernels before 6.2 are filled up with blanks. */
			for (used = strlen(err->text); used && err->text[used - 1] == ' ';)
				err->text[--used] = '\0';
			break;
		case NLMSGERR_ATTR_OFFS:
			if (mnl_attr_get_payload_len(attr) < sizeof(uint32_t))
				break;
			err->offset = mnl_attr_get_u32(attr);
			err->has_offset = true;
			break;
		}
	}
}

/*
 * Decode the final message of a request, NLMSG_ERROR or NLMSG_DONE; the code is 0 when it reports
 * success.
 */
void nl_parse_error(const struct nlmsghdr *nlh, struct nl_error *err)
{
	size_t len = mnl_nlmsg_get_payload_len(nlh);
	const struct nlmsgerr *report;
	const char *payload;
	size_t skip;
	int code;

	memset(err, 0, sizeof(*err));
	payload = mnl_nlmsg_get_payload(nlh);
	if (len < sizeof(code)) {
		err->code = EBADMSG;
		return;
	}
	memcpy(&code, payload, sizeof(code));
	err->code = -code;

	skip = sizeof(code);
	if (nlh->nlmsg_type == NLMSG_ERROR) {
		if (len < sizeof(*report)) {
			err->code = EBADMSG;
			return;
		}
		report = (const struct nlmsgerr *)payload;
		skip = sizeof(*report);
		if (!(nlh->nlmsg_flags & NLM_F_CAPPED) &&
		    report->msg.nlmsg_len > sizeof(report->msg))
			skip += report->msg.nlmsg_len - sizeof(report->msg);
	}
	skip = MNL_ALIGN(skip);
	if ((nlh->nlmsg_flags & NLM_F_ACK_TLVS) && skip < len)
		parse_error_attrs(payload + skip, len - skip, err);
}

struct exchange {
	/* sequence number of the request; messages with another one are stale */
	uint32_t		seq;
	const struct nl_reader	*reader;	/* receives the messages, or NULL */
	bool			done;		/* the last message has been seen */
	bool			interrupted;	/* the dump changed while it was read */
	int			code;		/* first negative errno value returned by @reader */
};

static void take_message(const struct nlmsghdr *nlh, struct exchange *x,
			 struct nl_error *err)
{
	int ret;

	if (nlh->nlmsg_seq != x->seq)
		return;
	if (nlh->nlmsg_flags & NLM_F_DUMP_INTR)
		x->interrupted = true;

	switch (nlh->nlmsg_type) {
	case NLMSG_NOOP:
		return;
	case NLMSG_ERROR:
	case NLMSG_DONE:
		nl_parse_error(nlh, err);
		x->done = true;
		return;
	default:
		if (!x->reader || x->code)
			return;
		ret = x->reader->message(nlh, x->reader->data);
		if (ret < 0)
			x->code = ret;
	}
}

/*
 * Receive a message of the kernel. CAP_NET_ADMIN over a network namespace, such as a container's
 * root has, is enough to send to sockets of others in it. Returns bytes, or -1 with errno; EAGAIN
 * after a message of another sender, which is dropped.
 */
ssize_t nl_receive(struct mnl_socket *sock, void *buf, size_t len)
{
	struct iovec whole = { .iov_base = buf, .iov_len = len };
	struct sockaddr_nl from = {};
	struct msghdr message = {
		.msg_name = &from, .msg_namelen = sizeof(from), .msg_iov = &whole, .msg_iovlen = 1,
	};
	ssize_t got = recvmsg(mnl_socket_get_fd(sock), &message, 0);

	if (got < 0)
		return got;
	if (from.nl_pid) {
		errno = EAGAIN;
		return -1;
	}
	if (message.msg_flags & MSG_TRUNC) {
		errno = ENOSPC;
		return -1;
	}
	return got;
}

static int transact(struct nl *nl, struct nlmsghdr *req, struct exchange *x,
		    struct nl_error *err)
{
	char buf[NL_BUFFER_LEN] __attribute__((aligned(8)));

	memset(err, 0, sizeof(*err));
	req->nlmsg_seq = ++nl->seq;
	x->seq = req->nlmsg_seq;
	if (mnl_socket_sendto(nl->sock, req, req->nlmsg_len) < 0)
		return fail(err, errno);

	while (!x->done) {
		const struct nlmsghdr *nlh = (const struct nlmsghdr *)buf;
		ssize_t got = nl_receive(nl->sock, buf, sizeof(buf));
		int len = got;

		if (got < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (got < 0)
			return fail(err, errno);
		for (; mnl_nlmsg_ok(nlh, len); nlh = mnl_nlmsg_next(nlh, &len))
			take_message(nlh, x, err);
	}

	if (!err->code && x->code)
		err->code = -x->code;
	return -err->code;
}

/* Send a request and receive its reply; @reader is NULL if it has no reply. */
int nl_do(struct nl *nl, struct nlmsghdr *req, const struct nl_reader *reader,
	  struct nl_error *err)
{
	struct exchange x = { .reader = reader };

	req->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	return transact(nl, req, &x, err);
}

/*
 * Send a dump request and receive all entries; before each further try the reader's restart is
 * called.
 */
int nl_dump(struct nl *nl, struct nlmsghdr *req, const struct nl_reader *reader,
	    struct nl_error *err)
{
	struct exchange x;
	int try, ret;

	req->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_DUMP;
	for (try = 0; try < DUMP_TRIES; try++) {
		if (try)
			reader->restart(reader->data);
		x = (struct exchange){ .reader = reader };
		ret = transact(nl, req, &x, err);
		if (ret == -EINTR)	/* how some kernels report the same */
			continue;
		if (ret || !x.interrupted)
			return ret;
	}
	if (!ret)
		fputs("quell: the list changed while it was read and may be incomplete\n",
		      stderr);
	return ret;
}

/*
 * Start a request to the socket's family in NL_BUFFER_LEN bytes; returns the message, ready for
 * attributes.
 */
struct nlmsghdr *nl_prepare(struct nl *nl, void *buf, uint8_t cmd)
{
	struct genlmsghdr *genl;
	struct nlmsghdr *nlh;

	memset(buf, 0, NL_BUFFER_LEN);	/* the kernel gets the padding of attributes, too */
	nlh = mnl_nlmsg_put_header(buf);
	nlh->nlmsg_type = nl->family;
	genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));
	genl->cmd = cmd;
	genl->version = QUELL_FAMILY_VERSION;
	return nlh;
}

static void take_group(struct nl *nl, const struct nlattr *nest)
{
	static const char * const names[NL_GROUPS] = { QUELL_MCGRP_SETTINGS, QUELL_MCGRP_FLOWS };
	const struct nlattr *attr;
	char name[GENL_NAMSIZ] = "";
	uint32_t id = 0;
	size_t i;

	mnl_attr_for_each_nested(attr, nest) {
		if (mnl_attr_get_type(attr) == CTRL_ATTR_MCAST_GRP_NAME)
			snprintf(name, sizeof(name), "%.*s", (int)mnl_attr_get_payload_len(attr),
				 (const char *)mnl_attr_get_payload(attr));
		else if (mnl_attr_get_type(attr) == CTRL_ATTR_MCAST_GRP_ID &&
			 mnl_attr_get_payload_len(attr) == sizeof(id))
			id = mnl_attr_get_u32(attr);
	}
	for (i = 0; i < NL_GROUPS; i++)
		if (!strcmp(name, names[i]))
			nl->groups[i] = id;
}

static int family_message(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attr, *nest;
	struct nl *nl = data;

	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID &&
		    mnl_attr_get_payload_len(attr) == sizeof(uint16_t))
			nl->family = mnl_attr_get_u16(attr);
		else if (mnl_attr_get_type(attr) == CTRL_ATTR_MCAST_GROUPS)
			mnl_attr_for_each_nested(nest, attr)
				take_group(nl, nest);
	}
	return 0;
}

/* The family's id, and those of its groups. */
static int resolve_family(struct nl *nl, struct nl_error *err)
{
	struct nl_reader reader = { .message = family_message, .data = nl };
	char buf[NL_BUFFER_LEN] __attribute__((aligned(8)));
	struct nlmsghdr *nlh = nl_prepare(nl, buf, CTRL_CMD_GETFAMILY);

	nlh->nlmsg_type = GENL_ID_CTRL;
	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, QUELL_FAMILY_NAME);
	if (nl_do(nl, nlh, &reader, err))
		return -err->code;
	return nl->family ? 0 : fail(err, EBADMSG);
}

/* Join a multicast group; requests on this socket would skip notifications. */
int nl_join(struct nl *nl, uint32_t group, struct nl_error *err)
{
	if (!group)
		return fail(err, ENOENT);
	if (!mnl_socket_setsockopt(nl->sock, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group)))
		return 0;
	return fail(err, errno);
}

/* Set the size of the receive buffer; without privilege it is at most net.core.rmem_max. */
void nl_set_buffer(struct nl *nl, int bytes)
{
	int fd = mnl_socket_get_fd(nl->sock);

	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
}

static int open_socket(struct nl *nl, int protocol, struct nl_error *err)
{
	int one = 1;

	memset(err, 0, sizeof(*err));
	*nl = (struct nl){ .seq = time(NULL) };
	nl->sock = mnl_socket_open2(protocol, SOCK_CLOEXEC);
	if (!nl->sock)
		return fail(err, errno);

	/* Only improves reports: ignore errors of kernels without it. */
	mnl_socket_setsockopt(nl->sock, NETLINK_EXT_ACK, &one, sizeof(one));
	/* Without the request, which may be larger than the buffer. */
	mnl_socket_setsockopt(nl->sock, NETLINK_CAP_ACK, &one, sizeof(one));
	if (!mnl_socket_bind(nl->sock, 0, MNL_SOCKET_AUTOPID))
		return 0;
	fail(err, errno);
	mnl_socket_close(nl->sock);
	return -err->code;
}

/* Open an rtnetlink socket in the current network namespace; it must be closed on success only. */
int nl_open_route(struct nl *nl, struct nl_error *err)
{
	return open_socket(nl, NETLINK_ROUTE, err);
}

/* The same for the family "quell"; ENOENT when the kernel has no such family. */
int nl_open(struct nl *nl, struct nl_error *err)
{
	int one = 1;

	if (open_socket(nl, NETLINK_GENERIC, err))
		return -err->code;
	/* Only improves checks: ignore errors of kernels without it. */
	mnl_socket_setsockopt(nl->sock, NETLINK_GET_STRICT_CHK, &one, sizeof(one));
	if (!resolve_family(nl, err))
		return 0;
	mnl_socket_close(nl->sock);
	return -err->code;
}

void nl_close(struct nl *nl)
{
	mnl_socket_close(nl->sock);
}

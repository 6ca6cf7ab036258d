// SPDX-License-Identifier: GPL-2.0
/*
 * Transport against a scripted kernel: the linker sends the calls that touch a
 * socket here.
 */
#include <errno.h>
#include <string.h>

#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "nl.h"
#include "test.h"

#define FAMILY		0x20
#define PARTS_MAX	32

ssize_t __wrap_mnl_socket_sendto(const struct mnl_socket *sock, const void *buf, size_t len);
int __wrap_mnl_socket_get_fd(const struct mnl_socket *sock);
ssize_t __wrap_recvmsg(int fd, struct msghdr *message, int flags);

/* One receive: an errno value, or a message of this type, flags and payload. */
struct part {
	int		fail;
	uint16_t	type;
	uint16_t	flags;
	int32_t		payload;
	int		seq_offset;	/* from that of the request */
	uint32_t	sender;		/* 0: the kernel */
	int		msg_flags;
};

static struct {
	const struct part	*parts;
	unsigned int		next;
	unsigned int		requests;
	uint32_t		seq;
	uint16_t		request_flags;
} kernel;

ssize_t __wrap_mnl_socket_sendto(const struct mnl_socket *sock, const void *buf, size_t len)
{
	const struct nlmsghdr *nlh = buf;

	(void)sock;
	kernel.requests++;
	kernel.seq = nlh->nlmsg_seq;
	kernel.request_flags = nlh->nlmsg_flags;
	return len;
}

int __wrap_mnl_socket_get_fd(const struct mnl_socket *sock)
{
	(void)sock;
	return -1;
}

ssize_t __wrap_recvmsg(int fd, struct msghdr *message, int flags)
{
	const struct part *part = &kernel.parts[kernel.next++ % PARTS_MAX];
	struct sockaddr_nl *from = message->msg_name;
	void *buf = message->msg_iov->iov_base;
	struct nlmsghdr *nlh;

	(void)fd;
	(void)flags;
	if (part->fail) {
		errno = part->fail;
		return -1;
	}
	from->nl_family = AF_NETLINK;
	from->nl_pid = part->sender;
	message->msg_namelen = sizeof(*from);
	message->msg_flags = part->msg_flags;
	nlh = mnl_nlmsg_put_header(buf);
	nlh->nlmsg_type = part->type;
	nlh->nlmsg_flags = part->flags;
	nlh->nlmsg_seq = kernel.seq + part->seq_offset;
	memcpy(mnl_nlmsg_put_extra_header(nlh, sizeof(part->payload)), &part->payload,
	       sizeof(part->payload));
	if (part->type == NLMSG_ERROR)	/* header of the request, as the kernel sends */
		mnl_nlmsg_put_extra_header(nlh, sizeof(struct nlmsghdr));
	return nlh->nlmsg_len;
}

/* Calls of the reader. */
static struct {
	unsigned int	messages;
	unsigned int	restarts;
	int		answer;
} seen;

static int message(const struct nlmsghdr *nlh, void *data)
{
	(void)nlh;
	(void)data;
	seen.messages++;
	return seen.answer;
}

static void restart(void *data)
{
	(void)data;
	seen.messages = 0;
	seen.restarts++;
}

static const struct nl_reader reader = { .message = message, .restart = restart };

static int run(bool dump, const struct part *parts, struct nl_error *err)
{
	char buf[NL_BUFFER_LEN] __attribute__((aligned(8)));
	struct nl nl = { .family = FAMILY, .seq = 41 };
	struct nlmsghdr *nlh = nl_prepare(&nl, buf, 1);
	int answer = seen.answer;

	memset(&kernel, 0, sizeof(kernel));
	memset(&seen, 0, sizeof(seen));
	seen.answer = answer;
	kernel.parts = parts;
	return dump ? nl_dump(&nl, nlh, &reader, err) : nl_do(&nl, nlh, &reader, err);
}

TEST(nl_dump__whole_cases)
{
	static const struct part parts[PARTS_MAX] = {
		{ .type = FAMILY, .flags = NLM_F_MULTI },
		{ .type = FAMILY, .flags = NLM_F_MULTI },
		{ .type = NLMSG_DONE, .flags = NLM_F_MULTI },
	};
	struct nl_error err;

	expect_eq(0, run(true, parts, &err), "whole status");
	expect_eq(2, seen.messages, "whole messages");
	expect_eq(1, kernel.requests, "whole asks once");
	expect((kernel.request_flags & NLM_F_DUMP) == NLM_F_DUMP, "whole flags");
}

/* Read to its end, thrown away, asked for anew. */
TEST(nl_dump__interrupted_cases)
{
	static const struct part parts[PARTS_MAX] = {
		{ .type = FAMILY, .flags = NLM_F_MULTI },
		{ .type = FAMILY, .flags = NLM_F_MULTI | NLM_F_DUMP_INTR },
		{ .type = FAMILY, .flags = NLM_F_MULTI },
		{ .type = NLMSG_DONE, .flags = NLM_F_MULTI },
		{ .type = FAMILY, .flags = NLM_F_MULTI },
		{ .type = NLMSG_DONE, .flags = NLM_F_MULTI },
	};
	struct nl_error err;

	expect_eq(0, run(true, parts, &err), "interrupted status");
	expect_eq(2, kernel.requests, "interrupted asks again");
	expect_eq(1, seen.restarts, "interrupted throws away");
	expect_eq(1, seen.messages, "interrupted keeps the second try");
}

TEST(nl_dump__always_interrupted_cases)
{
	static struct part parts[PARTS_MAX];
	struct nl_error err;
	unsigned int i;

	for (i = 0; i < PARTS_MAX; i += 2) {
		parts[i] = (struct part){ .type = FAMILY, .flags = NLM_F_DUMP_INTR };
		parts[i + 1] = (struct part){ .type = NLMSG_DONE };
	}
	expect_eq(0, run(true, parts, &err), "always_interrupted status");
	expect_eq(8, kernel.requests, "always_interrupted gives up asking");
	expect_eq(1, seen.messages, "always_interrupted keeps the last try");
}

TEST(nl_dump__refused_cases)
{
	static const struct part parts[PARTS_MAX] = {
		{ .type = NLMSG_DONE, .payload = -EINVAL },
	};
	struct nl_error err;

	expect(run(true, parts, &err) == -EINVAL && err.code == EINVAL, "refused");
}

TEST(nl_do__answers_cases)
{
	static const struct part leftovers[PARTS_MAX] = {
		{ .type = FAMILY, .seq_offset = -1 },
		{ .type = NLMSG_ERROR, .payload = -EPERM, .seq_offset = -1 },
		{ .fail = EINTR },
		{ .type = NLMSG_NOOP },
		{ .type = FAMILY },
		{ .type = NLMSG_ERROR },
	};
	static const struct part refusal[PARTS_MAX] = {
		{ .type = NLMSG_ERROR, .payload = -EPERM },
	};
	static const struct part forged[PARTS_MAX] = {
		{ .type = FAMILY, .sender = 4711 },
		{ .type = NLMSG_ERROR, .payload = -EPERM, .sender = 4711 },
		{ .type = NLMSG_ERROR },
	};
	static const struct part cut[PARTS_MAX] = {
		{ .type = FAMILY, .msg_flags = MSG_TRUNC },
	};
	static const struct part overrun[PARTS_MAX] = {
		{ .fail = ENOBUFS },
	};
	struct nl_error err;

	expect_eq(0, run(false, leftovers, &err), "leftovers status");
	expect_eq(1, seen.messages, "leftovers are passed over");
	expect_eq(6, kernel.next, "leftovers reads up to the acknowledgement");
	expect(run(false, forged, &err) == 0 && !seen.messages && kernel.next == 3,
	       "forged: others' messages are passed over");
	expect(run(false, cut, &err) == -ENOSPC, "cut");
	expect(run(false, refusal, &err) == -EPERM && err.code == EPERM, "refused");
	expect(run(false, overrun, &err) == -ENOBUFS, "receive_fails");

	seen.answer = -EBADMSG;
	expect(run(false, leftovers, &err) == -EBADMSG && err.code == EBADMSG && kernel.next == 6,
	       "reader_refuses, read to the end all the same");
	seen.answer = 0;
}

TEST_HARNESS_MAIN

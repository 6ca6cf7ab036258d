// SPDX-License-Identifier: GPL-2.0
/*
 * deflect_pkt - RoCEv2 messages for deflect.sh, and the judge of their order
 *
 *	deflect_pkt send ADDR FLOWS MESSAGES PACKETS GAP_US TOS [BYTES [OPEN [PAUSE_MS]]]
 *		So many messages of so many packets each, of FLOWS queue pairs in turn,
 *		a packet every GAP_US.  Each is a UDP datagram to port 4791 with a base
 *		transport header (SEND FIRST, MIDDLE, LAST or ONLY) and a number that
 *		counts the packets of its queue pair.  With OPEN 1 the last packet of each
 *		message is left out.  After each message of all of them PAUSE_MS.
 *	deflect_pkt recv ADDR IDLE_MS
 *		Says "ready"; after so long without a packet, reports in JSON
 *		how many packets and flows came, how many of them behind a later one of
 *		their flow, and how many with each DSCP.
 *	deflect_pkt flood ADDR GAP_US
 *		Datagrams that are no flow's, until killed.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <quell/option.h>

#define ROCE_PORT	"4791"
#define DISCARD_PORT	"9"
#define FLOWS_MAX	256
#define BTH_QP_AT	5
#define NUMBER_AT	12
#define BYTES_MIN	20
#define BYTES_MAX	1400
#define SEND_FIRST	0
#define SEND_MIDDLE	1
#define SEND_LAST	2
#define SEND_ONLY	4
#define SOCKET_BYTES	(16 << 20)

static void usage(void)
{
	fprintf(stderr,
		"usage: deflect_pkt send ADDR FLOWS MESSAGES PACKETS GAP_US TOS [BYTES [OPEN [PAUSE_MS]]]\n"
		"       deflect_pkt recv ADDR IDLE_MS\n"
		"       deflect_pkt flood ADDR GAP_US\n");
	exit(2);
}

static struct addrinfo *resolve(const char *address, const char *port)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
				  .ai_socktype = SOCK_DGRAM }, *found;

	if (getaddrinfo(address, port, &hints, &found))
		err(2, "%s", address);
	return found;
}

static int connected(const char *address, const char *port, int tos)
{
	struct addrinfo *to = resolve(address, port);
	int fd = socket(to->ai_family, SOCK_DGRAM, 0);

	if (fd < 0 || connect(fd, to->ai_addr, to->ai_addrlen))
		err(2, "connect");
	if (to->ai_family == AF_INET ? setsockopt(fd, IPPROTO_IP, IP_TOS, &tos, sizeof(tos)) :
				       setsockopt(fd, IPPROTO_IPV6, IPV6_TCLASS, &tos, sizeof(tos)))
		err(2, "tos");
	freeaddrinfo(to);
	return fd;
}

static void wait_until(struct timespec *when, long gap_us)
{
	when->tv_nsec += gap_us * 1000;
	when->tv_sec += when->tv_nsec / 1000000000;
	when->tv_nsec %= 1000000000;
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, when, NULL);
}

static uint8_t opcode(int packet, int packets)
{
	if (packets == 1)
		return SEND_ONLY;
	if (!packet)
		return SEND_FIRST;
	return packet == packets - 1 ? SEND_LAST : SEND_MIDDLE;
}

static int send_messages(int argc, char **argv)
{
	static uint8_t datagram[BYTES_MAX];
	static uint32_t number[FLOWS_MAX];
	int fd[FLOWS_MAX], flows, messages, packets, tos, bytes = 1000;
	struct timespec when;
	bool open = argc > 7 && atoi(argv[7]);
	long gap_us, pause_ms;

	if (argc < 6)
		usage();
	flows = atoi(argv[1]);
	messages = atoi(argv[2]);
	packets = atoi(argv[3]);
	gap_us = atol(argv[4]);
	pause_ms = argc > 8 ? atol(argv[8]) : 0;
	tos = strtol(argv[5], NULL, 0);
	if (argc > 6)
		bytes = atoi(argv[6]);
	if (flows < 1 || flows > FLOWS_MAX || bytes < BYTES_MIN || bytes > BYTES_MAX)
		usage();
	for (int i = 0; i < flows; i++)
		fd[i] = connected(argv[0], ROCE_PORT, tos);
	clock_gettime(CLOCK_MONOTONIC, &when);
	for (int message = 0; message < messages; message++) {
		for (int packet = 0; packet < packets - open; packet++) {
			for (int i = 0; i < flows; i++) {
				datagram[0] = opcode(packet, packets);
				quell_opt_put_u32(datagram + BTH_QP_AT - 1, 0x100 + i);
				quell_opt_put_u32(datagram + NUMBER_AT, number[i]++);
				if (send(fd[i], datagram, bytes, 0) < 0 && errno != ENOBUFS &&
				    errno != ECONNREFUSED)
					err(2, "send");
				wait_until(&when, gap_us);
			}
		}
		wait_until(&when, pause_ms * 1000);
	}
	return 0;
}

struct count {
	uint64_t packets, behind, dscp[64];
	uint32_t flows, next[FLOWS_MAX];
	bool seen[FLOWS_MAX];
};

static int dscp_of(struct msghdr *msg)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c))
		if ((c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS) ||
		    (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_TCLASS))
			return *(uint8_t *)CMSG_DATA(c) >> 2;
	return 0;
}

static void receive_one(int fd, struct count *count)
{
	uint8_t datagram[BYTES_MAX];
	char control[256];
	struct iovec iov = { datagram, sizeof(datagram) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
			      .msg_controllen = sizeof(control) };
	uint32_t number, flow;

	if (recvmsg(fd, &msg, 0) < BYTES_MIN)
		err(2, "recvmsg");
	flow = (quell_opt_get_u32(datagram + BTH_QP_AT - 1) - 0x100) % FLOWS_MAX;
	number = quell_opt_get_u32(datagram + NUMBER_AT);
	count->packets++;
	count->dscp[dscp_of(&msg)]++;
	count->flows += !count->seen[flow];
	count->seen[flow] = true;
	if (number < count->next[flow])
		count->behind++;
	else
		count->next[flow] = number + 1;
}

static int receive(int argc, char **argv)
{
	struct addrinfo *at;
	static struct count count;
	int one = 1, bytes = SOCKET_BYTES;
	const char *comma = "";
	struct pollfd ready = { .events = POLLIN };

	if (argc < 2)
		usage();
	at = resolve(argv[0], ROCE_PORT);
	ready.fd = socket(at->ai_family, SOCK_DGRAM, 0);
	if (ready.fd < 0 || bind(ready.fd, at->ai_addr, at->ai_addrlen))
		err(2, "bind");
	if (setsockopt(ready.fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)))
		err(2, "buffer");
	if (at->ai_family == AF_INET ?
	    setsockopt(ready.fd, IPPROTO_IP, IP_RECVTOS, &one, sizeof(one)) :
	    setsockopt(ready.fd, IPPROTO_IPV6, IPV6_RECVTCLASS, &one, sizeof(one)))
		err(2, "tos");
	puts("ready");
	fflush(stdout);
	while (poll(&ready, 1, count.packets ? atoi(argv[1]) : 20000) > 0)
		receive_one(ready.fd, &count);
	printf("{\"packets\":%llu,\"flows\":%u,\"behind\":%llu,\"dscp\":{",
	       (unsigned long long)count.packets, count.flows,
	       (unsigned long long)count.behind);
	for (int i = 0; i < 64; i++) {
		if (!count.dscp[i])
			continue;
		printf("%s\"%d\":%llu", comma, i, (unsigned long long)count.dscp[i]);
		comma = ",";
	}
	puts("}}");
	return 0;
}

static void flood(int argc, char **argv)
{
	static uint8_t datagram[1000];
	struct timespec when;
	int fd;

	if (argc < 2)
		usage();
	fd = connected(argv[0], DISCARD_PORT, 0);
	clock_gettime(CLOCK_MONOTONIC, &when);
	for (;;) {
		send(fd, datagram, sizeof(datagram), 0);
		wait_until(&when, atol(argv[1]));
	}
}

int main(int argc, char **argv)
{
	if (argc < 3)
		usage();
	if (!strcmp(argv[1], "send"))
		return send_messages(argc - 2, argv + 2);
	if (!strcmp(argv[1], "recv"))
		return receive(argc - 2, argv + 2);
	if (!strcmp(argv[1], "flood"))
		flood(argc - 2, argv + 2);
	usage();
	return 2;
}

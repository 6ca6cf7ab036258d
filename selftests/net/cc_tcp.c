// SPDX-License-Identifier: GPL-2.0
/*
 * A connection driven by commands, and the state of its congestion control.
 *
 *	cc_tcp sink PORT			read and forget, one connection after another
 *	cc_tcp flow ADDRESS PORT [ALGORITHM]	connect; the algorithm is chosen before the
 *						peer has answered
 *
 * Of standard input, each line answered by one of standard output:
 *	send BYTES	until all of it is acknowledged
 *	cc ALGORITHM
 *
 * The answer is: algorithm, window in packets, ssthresh, smoothed round-trip time in
 * microseconds, pacing rate in bytes per second, MSS, segments sent again, marked packets as
 * reported by the peer, ECN bits of the packets that it sends.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/sockios.h>
#include <linux/tcp.h>

#define CHUNK_BYTES	20000
#define ACK_POLL_US	1000
#define ACK_POLLS_MAX	20000
#define ANSWER_MS	5000

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static int sink(uint16_t port)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = htons(port) };
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1, peer;
	static char buf[1 << 16];

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (fd < 0 || bind(fd, (struct sockaddr *)&addr, sizeof(addr)) || listen(fd, 8))
		die("listen");
	while ((peer = accept(fd, NULL, NULL)) >= 0) {
		while (read(peer, buf, sizeof(buf)) > 0)
			;
		close(peer);
	}
	die("accept");
	return 1;
}

static void choose(int fd, const char *cc)
{
	if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, cc, strlen(cc)))
		die(cc);
}

static int open_flow(const char *address, uint16_t port, const char *cc)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = htons(port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), err = 0;
	struct pollfd answer = { .fd = fd, .events = POLLOUT };
	socklen_t len = sizeof(err);

	if (inet_pton(AF_INET, address, &addr.sin_addr) != 1)
		die(address);
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)) && errno != EINPROGRESS)
		die("connect");
	if (cc)
		choose(fd, cc);
	if (poll(&answer, 1, ANSWER_MS) != 1 ||
	    getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len) || err)
		die("no answer");
	if (fcntl(fd, F_SETFL, 0))
		die("fcntl");
	return fd;
}

static void send_bytes(int fd, long long bytes)
{
	static const char zeros[CHUNK_BYTES];
	int unacked, i;
	ssize_t n;

	for (; bytes > 0; bytes -= n) {
		n = write(fd, zeros, bytes < CHUNK_BYTES ? bytes : CHUNK_BYTES);
		if (n < 0)
			die("write");
	}
	for (i = 0; !ioctl(fd, SIOCOUTQ, &unacked) && unacked; i++) {
		if (i == ACK_POLLS_MAX) {
			fprintf(stderr, "%d bytes are not acknowledged\n", unacked);
			exit(1);
		}
		usleep(ACK_POLL_US);
	}
}

static void show(int fd)
{
	struct tcp_info info = {};
	socklen_t len = sizeof(info);
	char cc[17] = "";
	int tos;

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len))
		die("TCP_INFO");
	len = sizeof(cc) - 1;
	if (getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, cc, &len))
		die("TCP_CONGESTION");
	len = sizeof(tos);
	if (getsockopt(fd, IPPROTO_IP, IP_TOS, &tos, &len))
		die("IP_TOS");
	printf("%s %u %u %u %llu %u %u %u %d\n", cc, info.tcpi_snd_cwnd, info.tcpi_snd_ssthresh,
	       info.tcpi_rtt, (unsigned long long)info.tcpi_pacing_rate, info.tcpi_snd_mss,
	       info.tcpi_total_retrans, info.tcpi_delivered_ce,
	       tos & 3);
	fflush(stdout);
}

static int flow(int fd)
{
	char line[64], word[64];
	long long bytes;

	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "send %lld", &bytes) == 1)
			send_bytes(fd, bytes);
		else if (sscanf(line, "cc %63s", word) == 1)
			choose(fd, word);
		else
			return 2;
		show(fd);
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "sink"))
		return sink(atoi(argv[2]));
	if ((argc == 4 || argc == 5) && !strcmp(argv[1], "flow"))
		return flow(open_flow(argv[2], atoi(argv[3]), argv[4]));
	fprintf(stderr, "usage: cc_tcp sink PORT | cc_tcp flow ADDRESS PORT [ALGORITHM]\n");
	return 2;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * option_tcp - TCP connections with all features that may get in the way of a TCP
 * option, for fallback.sh
 *
 *	option_tcp serve PORT [COMMAND]...
 *		Checks the bytes it gets and sends them back, on every connection to
 *		the port, over IPv4 and IPv6.  Prints "ready".  The commands, a word
 *		each, are executed before it listens.
 *	option_tcp talk
 *		Executes commands from standard input, one a line, and answers
 *		each with "ok COMMAND [RESULT]" or "failed COMMAND: reason".
 *
 * Commands; "," separates their words for serve:
 *
 *	open 4|6 [mptcp]	a new socket; the old one is closed
 *	cc NAME			congestion control
 *	md5 ADDRESS KEY		sign segments to and from ADDRESS (RFC 2385)
 *	ao ADDRESS KEY		the same by RFC 5925
 *	fastopen [QUEUE]	TCP Fast Open; for a listener with its queue length
 *	backlog N		of the listener, existing or future
 *	bind ADDRESS PORT
 *	listen, accept		the socket becomes the connection
 *	echo			send back the bytes received, until the other end closes
 *	sink			of a server: do not send data back
 *	think US		of a server: wait so long before it does
 *	connect ADDRESS PORT [CC]	choose CC between the SYN and its reply
 *	xfer BYTES		send BYTES, and receive as many
 *	turns N BYTES		N times: send BYTES, and receive as many
 *	send BYTES		send BYTES, waiting for room in the socket
 *	writes N BYTES US	N times: the same, and wait for US
 *	acked			wait until all bytes sent are acknowledged
 *	push BYTES		send BYTES and a FIN, wait until the other end closes
 *	disconnect		so that the socket may connect again
 *	tos BYTE		for all packets from the SYN on; TCP keeps the ECN field
 *	dstopts on		IPv6 destination options, 8 bytes; without "on": remove them
 *	hopopts on		the same, hop-by-hop options
 *	via ADDRESS		IPv4 source route over a router
 *	maxseg BYTES		longest segment, before connect
 *	device NAME		bind to this device
 *	minttl N		drop segments that arrive with a lower time-to-live
 *	numbers			result: next sequence numbers to write and to receive
 *	mss			result: bytes of payload in a segment
 *	window			result: the congestion window in segments
 *	info			result: CC, window and ssthresh in segments, srtt in us, pacing
 *				rate in bytes/s, MSS, retransmissions, marks that the peer
 *				reported, ECN field of sent packets
 *	fastopened		result: 1 if the data of the SYN was accepted
 *	state			result: fields of the kernel's socket (modules/sockstate.c)
 *	close			and wait until the other end closed, too
 *	reset			close at once
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CHUNK_BYTES	65536
#define WORDS_MAX	4
#define XFER_MS		30000
#define AO_ADD_KEY	38
#define SOCKSTATE	0x5155

/* TCP_AO_ADD_KEY as of Linux 6.7; older headers lack it. */
struct ao_add {
	struct sockaddr_storage	addr;
	char			alg_name[64];
	int32_t			ifindex;
	uint32_t		flags;
	uint16_t		reserved;
	uint8_t			prefix;
	uint8_t			sndid;
	uint8_t			rcvid;
	uint8_t			maclen;
	uint8_t			keyflags;
	uint8_t			keylen;
	uint8_t			key[80];
} __attribute__((aligned(8)));

/* One direction of a connection. */
struct stream {
	uint64_t at;	/* bytes that have passed */
};

static int sock = -1, listener = -1;
/* Of a server: do not send back the bytes received. */
static bool sinking;
/* Of a server: how long it thinks before it does. */
static struct timespec thought;
static int backlog = 16;
static struct stream sent, received;
static char result[1024];

static uint8_t byte_at(uint64_t at)
{
	return (uint8_t)(at * 131 + (at >> 8) * 7 + (at >> 16));
}

static void fill(const struct stream *stream, uint8_t *to, size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes; i++)
		to[i] = byte_at(stream->at + i);
}

static bool matches(struct stream *stream, const uint8_t *from, size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes; i++)
		if (from[i] != byte_at(stream->at + i))
			return false;
	stream->at += bytes;
	return true;
}

/* A socket address of either family; 0 bytes if the text is not an address. */
static socklen_t address(struct sockaddr_storage *to, const char *text, const char *port)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)to;
	struct sockaddr_in *in = (struct sockaddr_in *)to;

	memset(to, 0, sizeof(*to));
	if (inet_pton(AF_INET, text, &in->sin_addr) == 1) {
		in->sin_family = AF_INET;
		in->sin_port = htons(atoi(port));
		return sizeof(*in);
	}
	if (inet_pton(AF_INET6, text, &in6->sin6_addr) == 1) {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(atoi(port));
		return sizeof(*in6);
	}
	errno = EINVAL;
	return 0;
}

static int set_int(int level, int name, int value)
{
	return setsockopt(sock, level, name, &value, sizeof(value));
}

static int cmd_open(char **word)
{
	if (sock >= 0)
		close(sock);
	sent.at = 0;
	received.at = 0;
	sock = socket(word[1][0] == '6' ? AF_INET6 : AF_INET, SOCK_STREAM,
		      word[2] ? IPPROTO_MPTCP : 0);
	return sock < 0 ? -1 : set_int(SOL_SOCKET, SO_REUSEADDR, 1);
}

static int cmd_cc(char **word)
{
	return setsockopt(sock, IPPROTO_TCP, TCP_CONGESTION, word[1], strlen(word[1]));
}

static int cmd_md5(char **word)
{
	struct tcp_md5sig sig = { .tcpm_keylen = strlen(word[2]) };

	if (!address((struct sockaddr_storage *)&sig.tcpm_addr, word[1], "0"))
		return -1;
	memcpy(sig.tcpm_key, word[2], sig.tcpm_keylen);
	return setsockopt(sock, IPPROTO_TCP, TCP_MD5SIG, &sig, sizeof(sig));
}

static int cmd_ao(char **word)
{
	struct ao_add add = {
		.alg_name = "hmac(sha1)", .sndid = 1, .rcvid = 1,
		.keylen = strlen(word[2]),
	};

	if (!address(&add.addr, word[1], "0"))
		return -1;
	add.prefix = add.addr.ss_family == AF_INET || !strncmp(word[1], "::ffff:", 7) ? 32 : 128;
	memcpy(add.key, word[2], add.keylen);
	return setsockopt(sock, IPPROTO_TCP, AO_ADD_KEY, &add, sizeof(add));
}

static int cmd_fastopen(char **word)
{
	if (word[1])
		return set_int(IPPROTO_TCP, TCP_FASTOPEN, atoi(word[1]));
	return set_int(IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 1);
}

static int cmd_backlog(char **word)
{
	backlog = atoi(word[1]);
	return listener < 0 ? 0 : listen(listener, backlog);
}

static int cmd_bind(char **word)
{
	struct sockaddr_storage addr;
	socklen_t bytes = address(&addr, word[1], word[2]);

	return bytes ? bind(sock, (struct sockaddr *)&addr, bytes) : -1;
}

static int cmd_connect(char **word)
{
	struct sockaddr_storage addr;
	socklen_t bytes = address(&addr, word[1], word[2]);

	struct pollfd fd = { .fd = sock, .events = POLLOUT };

	if (!bytes)
		return -1;
	if (!word[3])
		return connect(sock, (struct sockaddr *)&addr, bytes);
	if (fcntl(sock, F_SETFL, O_NONBLOCK) || !connect(sock, (struct sockaddr *)&addr, bytes) ||
	    errno != EINPROGRESS || cmd_cc(word + 2) || poll(&fd, 1, XFER_MS) != 1 ||
	    fcntl(sock, F_SETFL, 0))
		return -1;
	bytes = sizeof(errno);
	return getsockopt(sock, SOL_SOCKET, SO_ERROR, &errno, &bytes) || errno ? -1 : 0;
}

static int cmd_listen(char **word)
{
	(void)word;
	if (listener >= 0)
		close(listener);
	listener = sock;
	sock = -1;
	return listen(listener, backlog);
}

static int cmd_accept(char **word)
{
	(void)word;
	if (sock >= 0)
		close(sock);
	received.at = 0;
	sock = accept(listener, NULL, NULL);
	return sock < 0 ? -1 : 0;
}

static int cmd_disconnect(char **word)
{
	struct sockaddr addr = { .sa_family = AF_UNSPEC };

	(void)word;
	sent.at = 0;
	received.at = 0;
	return connect(sock, &addr, sizeof(addr));
}

/* Send some more; return the number of bytes left, or -1. */
static int64_t send_some(int64_t left)
{
	static uint8_t chunk[CHUNK_BYTES];
	size_t bytes = left < CHUNK_BYTES ? left : CHUNK_BYTES;
	ssize_t n;

	fill(&sent, chunk, bytes);
	n = send(sock, chunk, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n < 0 && errno == EAGAIN)
		return left;
	if (n < 0)
		return -1;
	sent.at += n;
	return left - n;
}

static int64_t receive_some(int64_t left)
{
	static uint8_t chunk[CHUNK_BYTES];
	ssize_t n = recv(sock, chunk, left < CHUNK_BYTES ? left : CHUNK_BYTES, 0);

	if (n > 0 && matches(&received, chunk, n))
		return left - n;
	if (n >= 0)
		errno = n ? EBADMSG : ECONNRESET;
	return -1;
}

static int cmd_xfer(char **word)
{
	int64_t to_send = atoll(word[1]), to_get = to_send;

	/* With Fast Open the first data opens the connection. */
	to_send = send_some(to_send);
	while (to_send >= 0 && to_send + to_get > 0) {
		struct pollfd fd = {
			.fd = sock,
			.events = (to_get ? POLLIN : 0) | (to_send ? POLLOUT : 0),
		};
		int n = poll(&fd, 1, XFER_MS);

		if (n <= 0) {
			errno = n ? errno : ETIMEDOUT;
			return -1;
		}
		if (to_get && fd.revents & (POLLIN | POLLERR | POLLHUP))
			to_get = receive_some(to_get);
		if (to_get < 0)
			return -1;
		if (to_send && fd.revents & (POLLOUT | POLLERR | POLLHUP))
			to_send = send_some(to_send);
	}
	return to_send < 0 ? -1 : 0;
}

static int cmd_turns(char **word)
{
	char *bytes[] = { word[0], word[2] };
	int i;

	for (i = 0; i < atoi(word[1]); i++)
		if (cmd_xfer(bytes))
			return -1;
	return 0;
}

static int cmd_send(char **word)
{
	int64_t to_send = send_some(atoll(word[1]));

	while (to_send > 0) {
		struct pollfd fd = { .fd = sock, .events = POLLOUT };
		int n = poll(&fd, 1, XFER_MS);

		if (n <= 0) {
			errno = n ? errno : ETIMEDOUT;
			return -1;
		}
		to_send = send_some(to_send);
	}
	return to_send;
}

static int cmd_writes(char **word)
{
	for (int i = 0; i < atoi(word[1]); i++)
		if (cmd_send(word + 1) || usleep(atoi(word[3])))
			return -1;
	return 0;
}

static int cmd_acked(char **word)
{
	int unacked, i;

	(void)word;
	for (i = 0; i < XFER_MS; i++) {
		if (ioctl(sock, SIOCOUTQ, &unacked))
			return -1;
		if (!unacked)
			return 0;
		usleep(1000);
	}
	errno = ETIMEDOUT;
	return -1;
}

static int cmd_push(char **word)
{
	char none;

	if (cmd_send(word) || shutdown(sock, SHUT_WR))
		return -1;
	return recv(sock, &none, 1, 0);
}

static int cmd_tos(char **word)
{
	int tos = atoi(word[1]);
	int four = setsockopt(sock, IPPROTO_IP, IP_TOS, &tos, sizeof(tos));
	int six = setsockopt(sock, IPPROTO_IPV6, IPV6_TCLASS, &tos, sizeof(tos));

	/* An IPv4 socket accepts only IP_TOS. */
	return four && six ? -1 : 0;
}

static int set_ipv6_header(int name, bool on)
{
	/* Next header, length, and a PadN of six bytes: hosts drop longer padding. */
	uint8_t options[8] = { 0, 0, 1, 4 };

	return setsockopt(sock, IPPROTO_IPV6, name, on ? options : NULL, on ? sizeof(options) : 0);
}

static int cmd_dstopts(char **word)
{
	return set_ipv6_header(IPV6_DSTOPTS, word[1]);
}

static int cmd_hopopts(char **word)
{
	return set_ipv6_header(IPV6_HOPOPTS, word[1]);
}

static int cmd_via(char **word)
{
	/* No operation, loose source route, its length, pointer, address. */
	uint8_t options[8] = { 1, 131, 7, 4 };

	if (inet_pton(AF_INET, word[1], options + 4) != 1) {
		errno = EINVAL;
		return -1;
	}
	return setsockopt(sock, IPPROTO_IP, IP_OPTIONS, options, sizeof(options));
}

static int cmd_maxseg(char **word)
{
	return set_int(IPPROTO_TCP, TCP_MAXSEG, atoi(word[1]));
}

static int cmd_device(char **word)
{
	return setsockopt(sock, SOL_SOCKET, SO_BINDTODEVICE, word[1], strlen(word[1]));
}

static int cmd_minttl(char **word)
{
	return set_int(IPPROTO_IP, IP_MINTTL, atoi(word[1]));
}

static int number_of(int queue, uint32_t *number)
{
	socklen_t bytes = sizeof(*number);

	return set_int(IPPROTO_TCP, TCP_REPAIR_QUEUE, queue) ||
	       getsockopt(sock, IPPROTO_TCP, TCP_QUEUE_SEQ, number, &bytes) ? -1 : 0;
}

/* Read the numbers in repair mode, and leave it without a window probe. */
static int cmd_numbers(char **word)
{
	uint32_t next = 0, awaited = 0;
	int status;

	(void)word;
	if (set_int(IPPROTO_TCP, TCP_REPAIR, TCP_REPAIR_ON))
		return -1;
	status = number_of(TCP_SEND_QUEUE, &next) || number_of(TCP_RECV_QUEUE, &awaited);
	if (set_int(IPPROTO_TCP, TCP_REPAIR, TCP_REPAIR_OFF_NO_WP) || status)
		return -1;
	snprintf(result, sizeof(result), " %u %u", next, awaited);
	return 0;
}

static int cmd_mss(char **word)
{
	socklen_t bytes = sizeof(int);
	int mss;

	(void)word;
	if (getsockopt(sock, IPPROTO_TCP, TCP_MAXSEG, &mss, &bytes))
		return -1;
	snprintf(result, sizeof(result), " %d", mss);
	return 0;
}

static int read_info(struct tcp_info *info)
{
	socklen_t bytes = sizeof(*info);

	return getsockopt(sock, IPPROTO_TCP, TCP_INFO, info, &bytes);
}

static int cmd_fastopened(char **word)
{
	struct tcp_info info;

	(void)word;
	if (read_info(&info))
		return -1;
	snprintf(result, sizeof(result), " %d", !!(info.tcpi_options & TCPI_OPT_SYN_DATA));
	return 0;
}

static int cmd_window(char **word)
{
	struct tcp_info info;

	(void)word;
	if (read_info(&info))
		return -1;
	snprintf(result, sizeof(result), " %u", info.tcpi_snd_cwnd);
	return 0;
}

static int cmd_info(char **word)
{
	socklen_t cc_bytes = 16, tos_bytes = sizeof(int);
	struct tcp_info info;
	char cc[17] = "";
	int tos;

	(void)word;
	if (read_info(&info) || getsockopt(sock, IPPROTO_TCP, TCP_CONGESTION, cc, &cc_bytes) ||
	    getsockopt(sock, IPPROTO_IP, IP_TOS, &tos, &tos_bytes))
		return -1;
	snprintf(result, sizeof(result), " %s %u %u %u %llu %u %u %u %d", cc, info.tcpi_snd_cwnd,
		 info.tcpi_snd_ssthresh, info.tcpi_rtt, (unsigned long long)info.tcpi_pacing_rate,
		 info.tcpi_snd_mss, info.tcpi_total_retrans, info.tcpi_delivered_ce, tos & 3);
	return 0;
}

static int cmd_close(char **word)
{
	char byte;
	int n;

	(void)word;
	if (shutdown(sock, SHUT_WR))
		return -1;
	n = recv(sock, &byte, 1, 0);
	close(sock);
	sock = -1;
	return n;
}

static int cmd_reset(char **word)
{
	struct linger linger = { .l_onoff = 1 };

	(void)word;
	if (setsockopt(sock, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)))
		return -1;
	close(sock);
	sock = -1;
	return 0;
}

static int cmd_sink(char **word)
{
	(void)word;
	sinking = true;
	return 0;
}

static int cmd_think(char **word)
{
	thought.tv_sec = atol(word[1]) / 1000000;
	thought.tv_nsec = atol(word[1]) % 1000000 * 1000;
	return prctl(PR_SET_TIMERSLACK, 1);
}

/* Send back the bytes of one connection; a wrong byte ends it with a reset. */
static int cmd_echo(char **word)
{
	static uint8_t chunk[CHUNK_BYTES];
	ssize_t n;

	(void)word;
	while ((n = recv(sock, chunk, sizeof(chunk), 0)) > 0) {
		if (!matches(&received, chunk, n)) {
			fprintf(stderr, "option_tcp: wrong bytes at %llu\n",
				(unsigned long long)received.at);
			cmd_reset(NULL);
			errno = EBADMSG;
			return -1;
		}
		if (thought.tv_sec || thought.tv_nsec)
			nanosleep(&thought, NULL);
		if (!sinking && send(sock, chunk, n, MSG_NOSIGNAL) != n)
			return -1;
	}
	close(sock);
	sock = -1;
	return n;
}

/* quell_sockstate.ko answers. */
static int cmd_state(char **word)
{
	socklen_t bytes = sizeof(result) - 2;
	int family = 0;
	socklen_t family_bytes = sizeof(family);

	(void)word;
	if (getsockopt(sock, SOL_SOCKET, SO_DOMAIN, &family, &family_bytes) ||
	    getsockopt(sock, family == AF_INET ? IPPROTO_IP : IPPROTO_IPV6, SOCKSTATE,
		       result + 1, &bytes))
		return -1;
	result[0] = ' ';
	result[1 + bytes] = '\0';
	return 0;
}

static const struct {
	const char *name;
	int least, most;
	int (*run)(char **word);
} commands[] = {
	{ "open", 1, 2, cmd_open },		{ "cc", 1, 1, cmd_cc },
	{ "md5", 2, 2, cmd_md5 },		{ "ao", 2, 2, cmd_ao },
	{ "fastopen", 0, 1, cmd_fastopen },	{ "backlog", 1, 1, cmd_backlog },
	{ "bind", 2, 2, cmd_bind },		{ "connect", 2, 3, cmd_connect },
	{ "xfer", 1, 1, cmd_xfer },		{ "disconnect", 0, 0, cmd_disconnect },
	{ "dstopts", 0, 1, cmd_dstopts },	{ "mss", 0, 0, cmd_mss },
	{ "fastopened", 0, 0, cmd_fastopened },	{ "close", 0, 0, cmd_close },
	{ "tos", 1, 1, cmd_tos },		{ "reset", 0, 0, cmd_reset },
	{ "listen", 0, 0, cmd_listen },		{ "accept", 0, 0, cmd_accept },
	{ "echo", 0, 0, cmd_echo },		{ "device", 1, 1, cmd_device },
	{ "minttl", 1, 1, cmd_minttl },		{ "numbers", 0, 0, cmd_numbers },
	{ "push", 1, 1, cmd_push },		{ "sink", 0, 0, cmd_sink },
	{ "window", 0, 0, cmd_window },		{ "send", 1, 1, cmd_send },
	{ "think", 1, 1, cmd_think },		{ "turns", 2, 2, cmd_turns },
	{ "writes", 3, 3, cmd_writes },
	{ "state", 0, 0, cmd_state },		{ "hopopts", 0, 1, cmd_hopopts },
	{ "via", 1, 1, cmd_via },		{ "maxseg", 1, 1, cmd_maxseg },
	{ "acked", 0, 0, cmd_acked },		{ "info", 0, 0, cmd_info },
};

/* Execute one command, split into words at @separators; -1 with errno on failure. */
static int execute(char *line, const char *separators)
{
	char *word[WORDS_MAX + 1] = { NULL };
	size_t i;
	int n = 0;

	result[0] = '\0';
	for (line = strtok(line, separators); line && n < WORDS_MAX;
	     line = strtok(NULL, separators))
		word[n++] = line;
	for (i = 0; n && i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(commands[i].name, word[0]) && n - 1 >= commands[i].least &&
		    n - 1 <= commands[i].most)
			return commands[i].run(word);
	errno = ENOSYS;
	return -1;
}

static int talk(void)
{
	char line[256], copy[256];

	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		strcpy(copy, line);
		if (execute(line, " "))
			printf("failed %s: %s\n", copy, strerror(errno));
		else
			printf("ok %s%s\n", copy, result);
		fflush(stdout);
	}
	return 0;
}

static int serve(int argc, char **argv)
{
	struct sockaddr_in6 any = {
		.sin6_family = AF_INET6,
		.sin6_port = htons(atoi(argv[2])),
	};
	char family[] = "open 6";
	int i;

	signal(SIGCHLD, SIG_IGN);
	if (execute(family, " "))
		return 2;
	for (i = 3; i < argc; i++)
		if (execute(argv[i], ",")) {
			perror(argv[i]);
			return 2;
		}
	if (bind(sock, (struct sockaddr *)&any, sizeof(any)) || cmd_listen(NULL)) {
		perror("listen");
		return 2;
	}
	puts("ready");
	fflush(stdout);
	for (;;) {
		if (!cmd_accept(NULL) && !fork()) {
			close(listener);
			return cmd_echo(NULL) ? 1 : 0;
		}
	}
}

int main(int argc, char **argv)
{
	if (argc >= 3 && !strcmp(argv[1], "serve"))
		return serve(argc, argv);
	if (argc == 2 && !strcmp(argv[1], "talk"))
		return talk();
	fprintf(stderr, "usage: option_tcp serve PORT [COMMAND]... | talk\n");
	return 2;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * many_tcp - many TCP connections opened at once, and requests with replies on each, for tests of
 * the cost and the behaviour of many connections
 *
 *	many_tcp listen PORT PORTS [first|close|reply]
 *		Accepts connections to PORTS ports from PORT on and sends back the
 *		bytes it gets; first: sends one byte before that; close: closes instead;
 *		reply: replies to requests, which begin with their length and the reply's.
 *		Prints "ready".
 *	many_tcp connect ADDRESS PORT PORTS COUNT BYTES [first|close|cut|reply]
 *		Opens COUNT connections to those ports in turn, all at once.  Each sends
 *		BYTES once it is open and waits for as many; first: for one more; close:
 *		for the end; cut: for any bytes.  Prints "done COUNT SECONDS SENT RECEIVED",
 *		the latter in bytes, when all have that, and keeps them until it is stopped;
 *		cut: for CUT_MS.  A number on standard input sends and awaits that many bytes
 *		on each, and prints "done" again.
 *		reply: one after the other, with 0 for BYTES.  "ROUNDS REQUEST REPLY" on
 *		standard input sends ROUNDS requests of so many bytes on each, one after the
 *		other's reply, and prints "done".  Ends with its input.
 *
 * IPv4.  A connection that fails, and a reply of other length, ends it with status 1.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CHUNK_BYTES	65536
#define EVENTS		256
#define SPARE_FDS	64
#define WAIT_MS		150000
#define CUT_MS		300

/* The beginning of a request. */
struct head {
	uint32_t	request_bytes;
	uint32_t	reply_bytes;
};

/* One end of a connection. */
struct conn {
	int	fd;	/* its socket */
	bool	listens;	/* it is a listening socket */
	bool	full;	/* epoll reports when it can send */
	int64_t	to_send;	/* bytes it has yet to send */
	/* bytes it has yet to receive; 1 for a client that awaits the end ("close") */
	int64_t	to_get;
	bool	opening;	/* its SYN is not yet answered */
	int64_t	reply_bytes;	/* of the request that is being received */
	int64_t	rounds;	/* requests to send after this one */
};

static uint8_t chunk[CHUNK_BYTES];
static bool first, closes, cuts, replies;
static struct head head;
/* Since all had their bytes last. */
static long long sent_bytes, got_bytes;
static int events;

static void die(const char *what)
{
	fprintf(stderr, "many_tcp: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void watch(struct conn *conn, int how, uint32_t what)
{
	struct epoll_event event = { .events = what, .data.ptr = conn };

	if (epoll_ctl(events, how, conn->fd, &event))
		die("epoll_ctl");
}

static void want_files(rlim_t files)
{
	struct rlimit limit = { .rlim_cur = files, .rlim_max = files };

	if (setrlimit(RLIMIT_NOFILE, &limit))
		die("setrlimit");
}

static double now(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	return at.tv_sec + at.tv_nsec / 1e9;
}

static struct sockaddr_in address(const char *text, int port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port) };

	if (inet_pton(AF_INET, text, &to.sin_addr) != 1) {
		errno = EINVAL;
		die(text);
	}
	return to;
}

static struct conn *listen_at(int port)
{
	struct sockaddr_in any = address("0.0.0.0", port);
	struct conn *conn = calloc(1, sizeof(*conn));
	int one = 1;

	conn->listens = true;
	conn->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	setsockopt(conn->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(conn->fd, (struct sockaddr *)&any, sizeof(any)) || listen(conn->fd, 1 << 20))
		die("listen");
	return conn;
}

static void accept_all(const struct conn *listener)
{
	struct conn *conn;
	int fd;

	while ((fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
		if (closes) {
			close(fd);
			continue;
		}
		conn = calloc(1, sizeof(*conn));
		conn->fd = fd;
		if (first && send(fd, "", 1, MSG_NOSIGNAL) != 1)
			die("send");
		watch(conn, EPOLL_CTL_ADD, EPOLLIN);
	}
	if (errno != EAGAIN)
		die("accept");
}

/*
 * Send once, of requests and replies as much as there is room for; -1 when the connection has
 * failed.
 */
static int send_some(struct conn *conn)
{
	bool was_full = conn->full;
	ssize_t n = 1;

	while (conn->to_send && n > 0) {
		n = send(conn->fd, chunk,
			 conn->to_send < CHUNK_BYTES ? conn->to_send : CHUNK_BYTES,
			 MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno != EAGAIN)
			return -1;
		conn->to_send -= n > 0 ? n : 0;
		sent_bytes += n > 0 ? n : 0;
		n = replies ? n : 0;
	}
	conn->full = conn->to_send;
	if (conn->full != was_full)
		watch(conn, EPOLL_CTL_MOD, EPOLLIN | (conn->full ? EPOLLOUT : 0));
	return 0;
}

static ssize_t receive(struct conn *conn)
{
	ssize_t n = recv(conn->fd, chunk, sizeof(chunk), MSG_DONTWAIT);

	got_bytes += n > 0 ? n : 0;
	return n;
}

/* Count @bytes of a request, of which the head is received in one piece; -1 if it is too long. */
static int take_request(struct conn *conn, ssize_t bytes)
{
	struct head asked;

	errno = EPROTO;
	if (!conn->to_get) {
		memcpy(&asked, chunk, sizeof(asked));
		if (bytes < (ssize_t)sizeof(asked) || conn->to_send)
			return -1;
		conn->to_get = asked.request_bytes;
		conn->reply_bytes = asked.reply_bytes;
	}
	conn->to_get -= bytes;
	if (!conn->to_get)
		conn->to_send = conn->reply_bytes;
	return conn->to_get < 0 ? -1 : 0;
}

/* Receive bytes, and send back these or a reply; close a connection that has failed or ended. */
static void answer(struct conn *conn, uint32_t what)
{
	ssize_t n = what & EPOLLOUT ? 0 : receive(conn);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n > 0 && !replies)
		conn->to_send += n;
	else if (n > 0 && take_request(conn, n))
		die("request");
	if ((n > 0 || what & EPOLLOUT) && !send_some(conn))
		return;
	close(conn->fd);
	free(conn);
}

static int serve(int port, int ports)
{
	struct epoll_event got[EVENTS];
	int i, n;

	for (i = 0; i < ports; i++)
		watch(listen_at(port + i), EPOLL_CTL_ADD, EPOLLIN);
	puts("ready");
	fflush(stdout);
	while ((n = epoll_wait(events, got, EVENTS, -1)) > 0) {
		for (i = 0; i < n; i++) {
			struct conn *conn = got[i].data.ptr;

			if (conn->listens)
				accept_all(conn);
			else
				answer(conn, got[i].events);
		}
	}
	die("epoll_wait");
	return 1;
}

/* Mark the connection as open; -1 with errno if it failed. */
static int opened(struct conn *conn)
{
	socklen_t bytes = sizeof(errno);

	conn->opening = false;
	return getsockopt(conn->fd, SOL_SOCKET, SO_ERROR, &errno, &bytes) || errno ? -1 : 0;
}

/* The head goes alone: the rest of the request is anything. */
static int send_request(struct conn *conn)
{
	conn->to_send = head.request_bytes;
	conn->to_get = head.reply_bytes;
	memcpy(chunk, &head, sizeof(head));
	return send_some(conn);
}

/* 1 when all bytes, and all replies, are received, 0 when some are missing, -1 on failure. */
static int get_more(struct conn *conn)
{
	ssize_t n = receive(conn);

	if (n < 0)
		return errno == EAGAIN ? 0 : -1;
	if (!n && !closes) {
		errno = ECONNRESET;
		return -1;
	}
	conn->to_get = cuts ? 0 : conn->to_get - (n ? n : 1);
	if (!conn->to_get && (closes || cuts) && epoll_ctl(events, EPOLL_CTL_DEL, conn->fd, NULL))
		return -1;
	if (replies && (conn->to_get < 0 || conn->to_send)) {
		errno = EPROTO;
		return -1;
	}
	if (conn->to_get || !conn->rounds)
		return !conn->to_get;
	conn->rounds--;
	return send_request(conn);
}

static int advance(struct conn *conn, uint32_t what)
{
	bool idle = conn->opening && !conn->to_get;

	if (conn->opening && opened(conn))
		return -1;
	if (what & EPOLLOUT && send_some(conn))
		return -1;
	return idle ? 1 : what & (EPOLLIN | EPOLLHUP | EPOLLERR) ? get_more(conn) : 0;
}

/* Wait until every connection has received its bytes. */
static void wait_all(int count)
{
	struct epoll_event got[EVENTS];
	double start = now();
	int left = count, i, n;

	while (left) {
		n = epoll_wait(events, got, EVENTS, WAIT_MS);
		if (!n)
			errno = ETIMEDOUT;
		for (i = 0; i < n; i++) {
			int done = advance(got[i].data.ptr, got[i].events);

			if (done < 0)
				die("connection");
			left -= done;
		}
		if (n <= 0)
			die("waiting");
	}
	printf("done %d %.6f %lld %lld\n", count, now() - start, sent_bytes, got_bytes);
	fflush(stdout);
	sent_bytes = 0;
	got_bytes = 0;
}

static void connect_one(struct conn *conn, const struct sockaddr_in *to, int64_t bytes)
{
	conn->fd = socket(AF_INET, SOCK_STREAM | (replies ? 0 : SOCK_NONBLOCK), 0);
	if (conn->fd < 0)
		die("socket");
	conn->opening = true;
	conn->full = true;
	conn->to_send = bytes;
	conn->to_get = closes ? 1 : bytes + first;
	if (connect(conn->fd, (const struct sockaddr *)to, sizeof(*to)) && errno != EINPROGRESS)
		die("connect");
	watch(conn, EPOLL_CTL_ADD, EPOLLIN | EPOLLOUT);
}

/* Send and await @bytes more on each connection. */
static void go_on(struct conn *conns, int count, int64_t bytes)
{
	int i;

	for (i = 0; i < count; i++) {
		conns[i].to_send = bytes;
		conns[i].to_get = bytes;
		conns[i].full = true;
		watch(&conns[i], EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
	}
	wait_all(count);
}

/* Send @rounds requests on each connection. */
static void request_all(struct conn *conns, int count, int64_t rounds)
{
	int i;

	for (i = 0; i < count; i++) {
		conns[i].rounds = rounds - 1;
		if (send_request(&conns[i]))
			die("request");
	}
	wait_all(count);
}

static int crowd(const char *host, int port, int ports, int count, int64_t bytes)
{
	struct conn *conns = calloc(count, sizeof(*conns));
	long long rounds;
	char line[16];
	int got, i;

	for (i = 0; i < count; i++) {
		struct sockaddr_in to = address(host, port + i % ports);

		connect_one(&conns[i], &to, bytes);
	}
	wait_all(count);
	if (cuts)
		return usleep(CUT_MS * 1000);
	while (replies) {
		got = scanf("%lld %u %u", &rounds, &head.request_bytes, &head.reply_bytes);
		if (got == EOF)
			return 0;
		if (got != 3 || rounds < 1 || head.request_bytes < sizeof(head))
			return 1;
		request_all(conns, count, rounds);
	}
	while (fgets(line, sizeof(line), stdin))
		go_on(conns, count, atoll(line));
	pause();
	return 0;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[argc - 1] : "";

	first = !strcmp(how, "first");
	closes = !strcmp(how, "close");
	cuts = !strcmp(how, "cut");
	replies = !strcmp(how, "reply");
	argc -= first || closes || cuts || replies;
	events = epoll_create1(0);
	want_files(argc > 5 ? atoi(argv[5]) + SPARE_FDS : 200000);
	if (argc == 4 && !strcmp(argv[1], "listen"))
		return serve(atoi(argv[2]), atoi(argv[3]));
	if (argc == 7 && !strcmp(argv[1], "connect"))
		return crowd(argv[2], atoi(argv[3]), atoi(argv[4]), atoi(argv[5]), atoll(argv[6]));
	fprintf(stderr, "usage: many_tcp listen PORT PORTS [first|close|reply]\n"
			"       many_tcp connect ADDRESS PORT PORTS COUNT BYTES [first|close|cut|reply]\n");
	return 2;
}

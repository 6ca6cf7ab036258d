// SPDX-License-Identifier: GPL-2.0
/*
 * host_tcp - requests and answers over TCP, for measurements of their cost for a host
 *
 *	host_tcp serve PORT
 *		Answers requests of any connection until it is stopped.
 *	host_tcp ask ADDRESS PORT FLOWS
 *		Opens FLOWS connections, prints "open", and for each line
 *		"ROUNDS REQUEST ANSWER" of standard input sends ROUNDS requests of so
 *		many bytes on every connection, one after the other's answer, and
 *		prints "done SENT RECEIVED", in bytes.
 *
 * IPv4.  A request begins with its own length and the answer's.  A connection that
 * fails, or one byte more or less than asked, ends it with status 1.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define CHUNK_BYTES	65536
#define EVENTS		64
#define FLOWS_MAX	4096

struct head {
	uint32_t	request_bytes;
	uint32_t	answer_bytes;
};

/* One end of a connection. */
struct conn {
	int		fd;	/* its socket */
	bool		listens;	/* it is a listening socket */
	bool		waits;	/* epoll reports when it can send */
	uint64_t	to_send;	/* bytes it has yet to send of this message */
	uint64_t	to_get;	/* bytes it has yet to receive of this message */
	uint64_t	answer;	/* bytes to answer the request with that is being received */
	uint64_t	rounds;	/* requests to send after this one */
};

static char chunk[CHUNK_BYTES];
static struct conn conns[FLOWS_MAX];
static struct head head;
static uint64_t sent_bytes, got_bytes;
static int events, flows, busy;

static void die(const char *what)
{
	fprintf(stderr, "host_tcp: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void watch(struct conn *conn, int how, uint32_t what)
{
	struct epoll_event event = { .events = what, .data.ptr = conn };

	if (epoll_ctl(events, how, conn->fd, &event))
		die("epoll_ctl");
}

/* Send as much as there is room for, of the message in @chunk with a head or without. */
static void send_some(struct conn *conn)
{
	ssize_t n = 1;

	while (conn->to_send && n > 0) {
		n = send(conn->fd, chunk,
			 conn->to_send < CHUNK_BYTES ? conn->to_send : CHUNK_BYTES,
			 MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno != EAGAIN)
			die("send");
		conn->to_send -= n > 0 ? n : 0;
		sent_bytes += n > 0 ? n : 0;
	}
	if (conn->waits == !!conn->to_send)
		return;
	conn->waits = conn->to_send;
	watch(conn, EPOLL_CTL_MOD, EPOLLIN | (conn->waits ? EPOLLOUT : 0));
}

/* The head goes alone: the rest of the request is anything. */
static void send_request(struct conn *conn)
{
	conn->to_send = head.request_bytes;
	conn->to_get = head.answer_bytes;
	memcpy(chunk, &head, sizeof(head));
	send_some(conn);
}

static ssize_t receive(struct conn *conn)
{
	ssize_t n = recv(conn->fd, chunk, sizeof(chunk), MSG_DONTWAIT);

	if (n < 0 && errno != EAGAIN)
		die("recv");
	got_bytes += n > 0 ? n : 0;
	return n;
}

/* A client: part of an answer. */
static void take_answer(struct conn *conn)
{
	ssize_t n = receive(conn);

	if (n < 0)
		return;
	errno = EPROTO;
	if (!n || (uint64_t)n > conn->to_get || conn->to_send)
		die("answer");
	conn->to_get -= n;
	if (conn->to_get)
		return;
	if (!conn->rounds) {
		busy--;
		return;
	}
	conn->rounds--;
	send_request(conn);
}

/* A server: part of a request; its head is received in one piece. */
static void take_request(struct conn *conn)
{
	ssize_t n = receive(conn);
	struct head asked;

	if (!n) {
		close(conn->fd);
		free(conn);
		return;
	}
	if (n < 0)
		return;
	if (!conn->to_get) {
		errno = EPROTO;
		memcpy(&asked, chunk, sizeof(asked));
		if (n < (ssize_t)sizeof(asked) || conn->to_send)
			die("request");
		conn->to_get = asked.request_bytes;
		conn->answer = asked.answer_bytes;
	}
	if ((uint64_t)n > conn->to_get)
		die("request too long");
	conn->to_get -= n;
	if (conn->to_get)
		return;
	conn->to_send = conn->answer;
	send_some(conn);
}

static void accept_one(const struct conn *listener)
{
	struct conn *conn = calloc(1, sizeof(*conn));

	conn->fd = accept(listener->fd, NULL, NULL);
	if (conn->fd < 0)
		die("accept");
	watch(conn, EPOLL_CTL_ADD, EPOLLIN);
}

static void serve(int port)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct conn *conn = calloc(1, sizeof(*conn));
	struct epoll_event ready[EVENTS];
	int i, n, one = 1;

	conn->listens = true;
	conn->fd = socket(AF_INET, SOCK_STREAM, 0);
	/* Connections of a server before, that it closed first, may still wait for their time. */
	setsockopt(conn->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(conn->fd, (struct sockaddr *)&any, sizeof(any)) || listen(conn->fd, FLOWS_MAX))
		die("listen");
	watch(conn, EPOLL_CTL_ADD, EPOLLIN);
	for (;;) {
		n = epoll_wait(events, ready, EVENTS, -1);
		for (i = 0; i < n; i++) {
			conn = ready[i].data.ptr;
			if (conn->listens)
				accept_one(conn);
			else if (ready[i].events & EPOLLOUT)
				send_some(conn);
			else
				take_request(conn);
		}
	}
}

static void open_all(const char *to, int port)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct conn *conn;

	if (inet_pton(AF_INET, to, &at.sin_addr) != 1)
		die(to);
	for (conn = conns; conn < conns + flows; conn++) {
		conn->fd = socket(AF_INET, SOCK_STREAM, 0);
		if (connect(conn->fd, (struct sockaddr *)&at, sizeof(at)))
			die("connect");
		watch(conn, EPOLL_CTL_ADD, EPOLLIN);
	}
}

static void ask(uint64_t rounds)
{
	struct epoll_event ready[EVENTS];
	struct conn *conn;
	int i, n;

	busy = flows;
	sent_bytes = 0;
	got_bytes = 0;
	for (conn = conns; conn < conns + flows; conn++) {
		conn->rounds = rounds - 1;
		send_request(conn);
	}
	while (busy) {
		n = epoll_wait(events, ready, EVENTS, -1);
		for (i = 0; i < n; i++) {
			conn = ready[i].data.ptr;
			if (ready[i].events & EPOLLOUT)
				send_some(conn);
			if (ready[i].events & ~EPOLLOUT)
				take_answer(conn);
		}
	}
	errno = EPROTO;
	if (sent_bytes != rounds * flows * head.request_bytes ||
	    got_bytes != rounds * flows * head.answer_bytes)
		die("bytes");
	printf("done %llu %llu\n", (unsigned long long)sent_bytes,
	       (unsigned long long)got_bytes);
}

int main(int argc, char **argv)
{
	unsigned long long rounds;

	events = epoll_create1(0);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 3 && !strcmp(argv[1], "serve"))
		serve(atoi(argv[2]));
	if (argc != 5 || strcmp(argv[1], "ask")) {
		fprintf(stderr, "usage: host_tcp serve PORT | ask ADDRESS PORT FLOWS\n");
		return 1;
	}
	flows = atoi(argv[4]);
	errno = EINVAL;
	if (flows < 1 || flows > FLOWS_MAX)
		die(argv[4]);
	open_all(argv[2], atoi(argv[3]));
	puts("open");
	while (scanf("%llu %u %u", &rounds, &head.request_bytes, &head.answer_bytes) == 3) {
		if (!rounds || head.request_bytes < sizeof(head) || !head.answer_bytes)
			die("a line of standard input");
		ask(rounds);
	}
	return 0;
}

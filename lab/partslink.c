// SPDX-License-Identifier: GPL-2.0
/*
 * A network in parts on several machines: the memory that the parts share, by TCP.
 *
 * Each machine has memory for all parts, and runs some of them (labnic_part.c).  This program
 * meets its machine's parts at each barrier as one more part would.  It sends their words, and the
 * buffers that they have filled for parts of other machines, and receives those of the others.
 * Only then do the others' parts come to the barrier here, so that a part of this machine does not
 * go on before all data of the window are here.
 *
 *	parts-link MEMORY_FD PARTS BUFFER_BYTES FIRST END [SOCKET_FD FIRST END]...
 *
 * FIRST to END - 1 are the parts of this machine, and of the machine at each connected socket.
 * Ends with status 0 once all parts have ended, with 1 and a line when a machine is lost.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "modules/labnic_part_memory.h"

#define SPINS		2000
#define WAIT_NS		100000000

/* A part, in a message. */
struct part_head {
	uint32_t		is_gone;
	uint32_t		reserved;
	struct part_word	word;
};

/* Some parts, and for those of another machine the way to it. */
struct machine {
	int		fd;
	unsigned int	first, end;
	bool		is_gone;	/* all its parts have ended */
	uint8_t		*out;
	size_t		out_bytes, sent_bytes;
	uint8_t		*in;
	size_t		in_size, in_bytes;
};

static uint8_t *memory;
static unsigned int parts, buffer_bytes;
static struct machine own, *peers;
static int n_peers;

static void fail(const char *text, const struct machine *machine)
{
	fprintf(stderr, "parts-link: the machine of parts %u to %u: %s\n", machine->first,
		machine->end - 1, text);
	exit(1);
}

static struct part_slot *slot_of(unsigned int part)
{
	return (struct part_slot *)(memory + part * PART_SLOT_BYTES);
}

static struct part_buffer *buffer_of(unsigned int from, unsigned int to, uint32_t barrier)
{
	return (void *)(memory + part_buffer_offset(parts, from, to, barrier, buffer_bytes));
}

static bool has_met(const struct part_slot *slot, uint32_t barrier)
{
	return (int32_t)(__atomic_load_n(&slot->mark.met, __ATOMIC_ACQUIRE) - barrier) >= 0 ||
	       __atomic_load_n(&slot->is_gone, __ATOMIC_ACQUIRE);
}

/* As wait_for_all() in labnic_part.c, for one part of this machine. */
static void wait_for(struct part_slot *slot, uint32_t barrier)
{
	static const struct timespec limit = { .tv_nsec = WAIT_NS };
	struct part_mark *mark = &slot->mark;
	int i;

	for (i = 0; i < SPINS; i++) {
		if (has_met(slot, barrier))
			return;
		__builtin_ia32_pause();
	}
	for (;;) {
		uint32_t met = __atomic_load_n(&mark->met, __ATOMIC_RELAXED);

		__atomic_store_n(&mark->awaited[barrier % 2], barrier, __ATOMIC_SEQ_CST);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		if (has_met(slot, barrier))
			return;
		syscall(SYS_futex, &mark->met, FUTEX_WAIT, met, &limit);
	}
}

/* As announce() there, after parts of another machine have come. */
static void announce(uint32_t barrier)
{
	struct part_mark *mark = (struct part_mark *)(memory + PART_MARK_OFFSET);
	unsigned int part;

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (part = 0; part < parts; part++)
		if (!has_met(slot_of(part), barrier))
			return;
	__atomic_store_n(&mark->met, barrier, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__atomic_load_n(&mark->awaited[barrier % 2], __ATOMIC_SEQ_CST) == barrier)
		syscall(SYS_futex, &mark->met, FUTEX_WAKE, INT32_MAX, NULL);
}

/* The parts of this machine come to a barrier; whether all have ended. */
static bool meet_own(uint32_t barrier)
{
	bool is_gone = true;
	unsigned int part;

	for (part = own.first; part < own.end; part++) {
		wait_for(slot_of(part), barrier);
		is_gone &= (int32_t)(slot_of(part)->mark.met - barrier) < 0;
	}
	return is_gone;
}

static void put(struct machine *peer, const void *bytes, size_t length)
{
	memcpy(peer->out + peer->out_bytes, bytes, length);
	peer->out_bytes += length;
}

/* The message of a barrier: its length, a head of each part, then all buffers. */
static void compose(struct machine *peer, uint32_t barrier)
{
	unsigned int from, to;
	uint32_t length;

	peer->out_bytes = sizeof(length);
	peer->sent_bytes = 0;
	for (from = own.first; from < own.end; from++) {
		const struct part_slot *slot = slot_of(from);
		struct part_head head = {
			.is_gone = (int32_t)(slot->mark.met - barrier) < 0,
			.word = slot->word[barrier % 2],
		};

		put(peer, &head, sizeof(head));
	}
	for (from = own.first; from < own.end; from++)
		for (to = peer->first; to < peer->end; to++) {
			struct part_buffer *buffer = buffer_of(from, to, barrier);

			put(peer, buffer, sizeof(*buffer) + buffer->used_bytes);
			buffer->used_bytes = 0;
		}
	length = peer->out_bytes;
	memcpy(peer->out, &length, sizeof(length));
}

/* Whether some of a message is not yet received. */
static bool is_receiving(const struct machine *peer)
{
	uint32_t length;

	if (peer->in_bytes < sizeof(length))
		return true;
	memcpy(&length, peer->in, sizeof(length));
	if (length > peer->in_size)
		fail("a message that is too long", peer);
	return peer->in_bytes < length;
}

static bool is_busy(const struct machine *peer)
{
	return !peer->is_gone && (peer->sent_bytes < peer->out_bytes || is_receiving(peer));
}

/* Send and receive as much as a socket takes now; not the beginning of the next message. */
static void move(struct machine *peer)
{
	uint32_t length = sizeof(length);
	ssize_t bytes;

	if (peer->sent_bytes < peer->out_bytes) {
		bytes = send(peer->fd, peer->out + peer->sent_bytes,
			     peer->out_bytes - peer->sent_bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (bytes < 0 && errno != EAGAIN)
			fail(strerror(errno), peer);
		peer->sent_bytes += bytes < 0 ? 0 : bytes;
	}
	while (is_receiving(peer)) {
		if (peer->in_bytes >= sizeof(length))
			memcpy(&length, peer->in, sizeof(length));
		bytes = recv(peer->fd, peer->in + peer->in_bytes, length - peer->in_bytes,
			     MSG_DONTWAIT);
		if (bytes < 0 && errno == EAGAIN)
			return;
		if (bytes <= 0)
			fail(bytes ? strerror(errno) : "connection lost", peer);
		peer->in_bytes += bytes;
	}
}

static void exchange(void)
{
	struct pollfd sockets[PARTS_MAX];
	bool is_any_busy = true;
	int i;

	while (is_any_busy) {
		is_any_busy = false;
		for (i = 0; i < n_peers; i++) {
			struct machine *peer = &peers[i];

			if (is_busy(peer))
				move(peer);
			sockets[i] = (struct pollfd){ .fd = is_busy(peer) ? peer->fd : -1 };
			if (sockets[i].fd < 0)
				continue;
			is_any_busy = true;
			sockets[i].events = POLLIN |
				(peer->sent_bytes < peer->out_bytes ? POLLOUT : 0);
		}
		if (is_any_busy)
			poll(sockets, n_peers, -1);
	}
}

/* Put a machine's message into the memory: its parts come to the barrier. */
static void apply(struct machine *peer, uint32_t barrier)
{
	const uint8_t *at = peer->in + sizeof(uint32_t);
	struct part_head heads[PARTS_MAX];
	unsigned int part, to;

	memcpy(heads, at, (peer->end - peer->first) * sizeof(*heads));
	at += (peer->end - peer->first) * sizeof(*heads);
	for (part = peer->first; part < peer->end; part++)
		for (to = own.first; to < own.end; to++) {
			struct part_buffer head;

			memcpy(&head, at, sizeof(head));
			if (head.used_bytes > buffer_bytes - sizeof(head) ||
			    head.used_bytes > peer->in + peer->in_bytes - at - sizeof(head))
				fail("a message that is too long", peer);
			memcpy(buffer_of(part, to, barrier), at, sizeof(head) + head.used_bytes);
			at += sizeof(head) + head.used_bytes;
		}
	peer->in_bytes = 0;
	peer->is_gone = true;
	for (part = peer->first; part < peer->end; part++) {
		const struct part_head *head = &heads[part - peer->first];
		struct part_slot *slot = slot_of(part);

		slot->word[barrier % 2] = head->word;
		if (head->is_gone)
			__atomic_store_n(&slot->is_gone, 1, __ATOMIC_RELEASE);
		else
			__atomic_store_n(&slot->mark.met, barrier, __ATOMIC_RELEASE);
		peer->is_gone &= head->is_gone;
	}
	announce(barrier);
}

static void run(void)
{
	uint32_t barrier;
	bool is_gone;
	int i;

	for (barrier = 1, is_gone = false; !is_gone; barrier++) {
		is_gone = meet_own(barrier);
		for (i = 0; i < n_peers; i++)
			if (!peers[i].is_gone)
				compose(&peers[i], barrier);
		exchange();
		for (i = 0; i < n_peers; i++)
			if (!peers[i].is_gone)
				apply(&peers[i], barrier);
	}
}

static void prepare(struct machine *peer)
{
	size_t pairs = (own.end - own.first) * (peer->end - peer->first);

	peer->in_size = sizeof(uint32_t) + PARTS_MAX * sizeof(struct part_head) +
			pairs * buffer_bytes;
	peer->in = malloc(peer->in_size);
	peer->out = malloc(peer->in_size);
	if (!peer->in || !peer->out)
		fail("no memory for its messages", peer);
}

int main(int argc, char **argv)
{
	struct stat stat;
	int i, fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (argc < 6 || argc % 3)
		return 2;
	fd = atoi(argv[1]);
	parts = atoi(argv[2]);
	buffer_bytes = strtoul(argv[3], NULL, 10);
	own = (struct machine){ .first = atoi(argv[4]), .end = atoi(argv[5]) };
	n_peers = argc / 3 - 2;
	peers = calloc(n_peers + 1, sizeof(*peers));
	if (!peers || n_peers > PARTS_MAX || fstat(fd, &stat))
		return 2;
	memory = mmap(NULL, stat.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		return 2;
	for (i = 0; i < n_peers; i++) {
		char **words = argv + 6 + 3 * i;

		peers[i] = (struct machine){
			.fd = atoi(words[0]), .first = atoi(words[1]), .end = atoi(words[2]),
		};
		prepare(&peers[i]);
	}
	run();
	return 0;
}

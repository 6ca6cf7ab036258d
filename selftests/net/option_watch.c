// SPDX-License-Identifier: GPL-2.0
/*
 * option_watch - messages and the host's clock in the Quell option, for
 * message.sh and stamps.sh
 *
 *	option_watch DEV
 *		Says "ready", and until terminated writes of each TCP segment but SYNs
 *		that leaves by the device and carries the option a line of JSON:
 *		port	 it comes from
 *		seq	 counted from the first seen of its connection
 *		bytes	 of payload
 *		start	 START
 *		more	 MORE
 *		push	 PSH or FIN
 *		stamp	 departure
 *		offset	 that less CLOCK_MONOTONIC now, modulo 2^32 ns
 *		again	 it begins below data sent before
 *		acked	 no data sent before was outstanding, by the
 *			 acknowledgments that came in by the device
 *
 * Of one connection at a time to or from a port.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "pkt.h"

#define PACKET_MAX	(1 << 17)
#define SOCKET_BYTES	(32 << 20)

/* State of the connection from a port, by the port. */
static struct seen {
	bool any;
	uint32_t first;
	uint32_t next;
	uint32_t acked;
} seen[65536];

static volatile sig_atomic_t ended;

static void on_term(int number)
{
	(void)number;
	ended = 1;
}

static bool find_option(const uint8_t *tcp, struct quell_opt *opt)
{
	uint32_t bytes = (tcp[12] >> 4) * 4 - TCP_BYTES, stated;
	uint32_t at = quell_opt_find(tcp + TCP_BYTES, bytes, &stated);

	return at < bytes && quell_opt_decode(tcp + TCP_BYTES + at, stated, false, opt) &&
	       opt->form == QUELL_OPT_FULL;
}

/* Offset of a stamp from CLOCK_MONOTONIC, modulo 2^32 ns. */
static uint32_t stamp_offset_ns(uint32_t stamp)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return stamp - (uint32_t)(now.tv_sec * 1000000000ULL + now.tv_nsec);
}

static void leaves(const uint8_t *tcp, size_t bytes)
{
	uint32_t payload_bytes = bytes - (tcp[12] >> 4) * 4;
	uint32_t seq = quell_opt_get_u32(tcp + 4);
	struct seen *own = &seen[quell_opt_get_u16(tcp)];
	struct quell_opt opt;

	if (tcp[13] & TH_SYN) {
		*own = (struct seen){ .any = true, .first = seq + 1, .next = seq + 1,
				      .acked = seq };
		return;
	}
	if (!own->any || !find_option(tcp, &opt))
		return;
	printf("{\"port\":%u,\"seq\":%u,\"bytes\":%u,\"start\":%u,\"more\":%u,\"push\":%u,",
	       quell_opt_get_u16(tcp), seq - own->first, payload_bytes,
	       !!(opt.flags & QUELL_OPT_F_START), !!(opt.flags & QUELL_OPT_F_MORE),
	       !!(tcp[13] & (TH_PUSH | TH_FIN)));
	printf("\"stamp\":%u,\"offset\":%u,\"again\":%u,\"acked\":%u}\n", opt.depart_ns,
	       stamp_offset_ns(opt.depart_ns), payload_bytes && (int32_t)(seq - own->next) < 0,
	       own->acked == own->next);
	if ((int32_t)(seq + payload_bytes - own->next) > 0)
		own->next = seq + payload_bytes;
}

static void comes(const uint8_t *tcp)
{
	struct seen *other = &seen[quell_opt_get_u16(tcp + 2)];
	uint32_t acked = quell_opt_get_u32(tcp + 8);

	if (tcp[13] & TH_ACK && other->any && (int32_t)(acked - other->acked) > 0)
		other->acked = acked;
}

static int open_device(const char *name)
{
	int fd = open_packet(name, ETH_P_ALL, true), bytes = SOCKET_BYTES;

	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)))
		err(2, "%s", name);
	return fd;
}

/* All that waits. */
static void look(int fd)
{
	static uint8_t packet[PACKET_MAX];
	struct sockaddr_ll from;
	socklen_t from_bytes;
	size_t bytes, at;
	ssize_t got;

	for (;;) {
		from_bytes = sizeof(from);
		got = recvfrom(fd, packet, sizeof(packet), MSG_DONTWAIT,
			       (struct sockaddr *)&from, &from_bytes);
		if (got < 0 && errno == EAGAIN)
			return;
		if (got < 0)
			err(2, "recvfrom");
		bytes = got;
		at = find_tcp(packet, &bytes);
		if (at && from.sll_pkttype == PACKET_OUTGOING)
			leaves(packet + at, bytes);
		else if (at)
			comes(packet + at);
	}
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_term };
	struct pollfd device = { .events = POLLIN };
	sigset_t term, none;

	if (argc != 2) {
		fprintf(stderr, "usage: option_watch DEV\n");
		return 2;
	}
	/* It ends the wait for packets, and comes at no other time. */
	sigemptyset(&none);
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, NULL);
	sigaction(SIGTERM, &action, NULL);
	device.fd = open_device(argv[1]);
	puts("ready");
	fflush(stdout);
	while (!ended) {
		if (ppoll(&device, 1, NULL, &none) < 0 && errno != EINTR)
			err(2, "poll");
		look(device.fd);
	}
	return 0;
}

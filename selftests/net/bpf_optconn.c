// SPDX-License-Identifier: GPL-2.0
/*
 * bpf_optconn - state of a process's connection in the BPF object of the Quell option
 *
 *	bpf_optconn PIN PROCESS
 *		PIN is the map of storage, pinned; of the process's descriptors the first socket
 *		that speaks the option counts.  Prints it as JSON, or "null" without one.
 */
#include <err.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../ebpf/optconn.h"

#define DESCRIPTORS	64

static int open_pin(const char *path)
{
	union bpf_attr attr = { .pathname = (unsigned long)path };

	return syscall(SYS_bpf, BPF_OBJ_GET, &attr, sizeof(attr));
}

/* Whether the socket has storage. */
static int read_storage(int map, int sock, struct quell_optconn *conn)
{
	union bpf_attr attr = {
		.map_fd = map,
		.key = (unsigned long)&sock,
		.value = (unsigned long)conn,
	};

	return !syscall(SYS_bpf, BPF_MAP_LOOKUP_ELEM, &attr, sizeof(attr));
}

static void print(const struct quell_optconn *conn)
{
	printf("{\"min_rtt_ns\":%llu,\"rtt_ns\":%llu,\"hold_ns\":%llu,\"echoes\":%llu,"
	       "\"senders_q8\":%u,\"peer_link_bytes_ps\":%llu,\"heard\":%d,\"marked\":%d,"
	       "\"follows\":%d,\"marks\":%u,\"silent\":%u}\n",
	       conn->min_rtt_ns, conn->rtt_ns, conn->hold_ns, conn->echoes, conn->senders_q8,
	       conn->peer_link_bytes_ps, conn->option_seen, conn->echo.marked, conn->follows,
	       conn->marks_nr, conn->no_echo_acks);
}

int main(int argc, char **argv)
{
	struct quell_optconn conn;
	int map, process, fd, sock;

	if (argc != 3) {
		fprintf(stderr, "usage: bpf_optconn PIN PROCESS\n");
		return 2;
	}
	map = open_pin(argv[1]);
	if (map < 0)
		err(2, "%s", argv[1]);
	process = syscall(SYS_pidfd_open, atoi(argv[2]), 0);
	if (process < 0)
		err(2, "process %s", argv[2]);
	for (fd = 0; fd < DESCRIPTORS; fd++) {
		sock = syscall(SYS_pidfd_getfd, process, fd, 0);
		if (sock < 0)
			continue;
		if (read_storage(map, sock, &conn)) {
			print(&conn);
			return 0;
		}
		close(sock);
	}
	puts("null");
	return 0;
}

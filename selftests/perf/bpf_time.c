// SPDX-License-Identifier: GPL-2.0
/*
 * Time of the programs of a BPF congestion control on this machine, by the kernel's own
 * statistics.
 *
 *	bpf_time NAME=FILE...		the congestion control NAME, bpf_..., of each object
 *
 * Each is registered for the time of a transfer over the loopback device of a network namespace
 * that is made for it, where two sockets ask for it by name: nobody else has it, the default of
 * no namespace changes, and it goes with this process.  A line for each program that ran:
 *
 *	NAME PROGRAM RUNS NS		ns of a run, the clock's two readings included
 *
 * Needs root and a kernel with links of struct_ops (6.4).
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#define TRANSFER_BYTES	(1L << 30)
#define CHUNK_BYTES	65536
#define MAP_FLAG_LINK	(1U << 13)	/* the kernel's BPF_F_LINK */
#define ATTACH_STRUCT_OPS 44		/* its BPF_STRUCT_OPS */

static char chunk[CHUNK_BYTES];

static void die(const char *what)
{
	fprintf(stderr, "bpf_time: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* A namespace of our own, with its loopback device alone. */
static void enter_netns(void)
{
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd;

	if (unshare(CLONE_NEWNET))
		die("network namespace");
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &lo))
		die("loopback device");
	close(fd);
}

static int tcp_socket(const char *cc)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, cc, strlen(cc)))
		die(cc);
	return fd;
}

static void receive_all(int listener)
{
	int fd = accept(listener, NULL, NULL);

	while (read(fd, chunk, sizeof(chunk)) > 0)
		;
	_exit(0);
}

/* Both ends by @cc; ECN is asked for by those that need it. */
static void transfer(const char *cc)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t bytes = sizeof(address);
	int listener = tcp_socket(cc), fd, status;
	long left = TRANSFER_BYTES;
	pid_t receiver;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&address, &bytes))
		die("listener");
	receiver = fork();
	if (!receiver)
		receive_all(listener);
	fd = tcp_socket(cc);
	if (receiver < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
		die("connection");
	for (; left > 0; left -= sizeof(chunk))
		if (write(fd, chunk, sizeof(chunk)) != sizeof(chunk))
			die("transfer");
	close(fd);
	if (waitpid(receiver, &status, 0) != receiver || status)
		die("receiver");
	close(listener);
}

/* Links go with the process that holds them; older ways of registering do not. */
static void link_ops(struct bpf_map *map)
{
	struct bpf_link *link = bpf_map__attach_struct_ops(map);

	if (libbpf_get_error(link))
		die("struct_ops");
	if (bpf_link__fd(link) == bpf_map__fd(map) &&
	    bpf_link_create(bpf_map__fd(map), 0, ATTACH_STRUCT_OPS, NULL) < 0)
		die("link");
	bpf_link__disconnect(link);
}

static void print_programs(const char *cc, const struct bpf_object *object)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, object) {
		struct bpf_prog_info info = {};
		__u32 bytes = sizeof(info);

		if (bpf_program__fd(program) < 0 ||
		    bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &bytes) ||
		    !info.run_cnt)
			continue;
		printf("%s %s %llu %llu\n", cc, bpf_program__name(program),
		       (unsigned long long)info.run_cnt,
		       (unsigned long long)(info.run_time_ns / info.run_cnt));
	}
}

/* The map is called as the congestion control, the kernel's without bpf_; the others stay out. */
static struct bpf_map *open_ops(struct bpf_object *object, const char *cc)
{
	struct bpf_map *map, *found = NULL;

	bpf_object__for_each_map(map, object) {
		const char *name = bpf_map__name(map);

		if (bpf_map__type(map) != BPF_MAP_TYPE_STRUCT_OPS)
			continue;
		if (!strcmp(name, cc) || !strcmp(name, cc + strlen("bpf_")))
			found = map;
		else
			bpf_map__set_autocreate(map, false);
		bpf_map__set_map_flags(map, bpf_map__map_flags(map) | MAP_FLAG_LINK);
	}
	return found;
}

static void measure(const char *cc, const char *path)
{
	struct bpf_object *object = bpf_object__open(path);
	struct bpf_map *map = object ? open_ops(object, cc) : NULL;
	int statistics;

	if (!map || bpf_object__load(object))
		die(path);
	enter_netns();
	link_ops(map);
	statistics = bpf_enable_stats(BPF_STATS_RUN_TIME);
	if (statistics < 0)
		die("statistics");
	transfer(cc);
	print_programs(cc, object);
	exit(0);
}

int main(int argc, char **argv)
{
	int i, status, failed = argc < 2;

	for (i = 1; i < argc; i++) {
		char *path = strchr(argv[i], '=');
		pid_t child;

		if (!path)
			return 2;
		*path++ = '\0';
		child = fork();
		if (!child)
			measure(argv[i], path);
		if (child < 0 || waitpid(child, &status, 0) != child)
			die("fork");
		failed |= !!status;
	}
	return failed;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * One datagram with hardware time stamps at both ends: shows that the wire
 * takes the time it should and that the clocks have the errors configured.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "init.h"

#define PROBE_PORT	9
#define PROBE_MAX_BYTES	9000

/* A UDP socket in the port's namespace with the NIC's time stamps enabled. */
static int probe_socket(const struct port *port, const struct sockaddr_in *local)
{
	struct hwtstamp_config config = {
		.tx_type = HWTSTAMP_TX_ON,
		.rx_filter = HWTSTAMP_FILTER_ALL,
	};
	int flags = SOF_TIMESTAMPING_TX_HARDWARE | SOF_TIMESTAMPING_RX_HARDWARE |
		    SOF_TIMESTAMPING_RAW_HARDWARE;
	struct ifreq ifr = { .ifr_data = (void *)&config };
	int fd;

	net_enter(port->node);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", port->name);
	if (fd < 0 || ioctl(fd, SIOCSHWTSTAMP, &ifr))
		fail("stamps on '%s': %s", port->name, strerror(errno));
	if (setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &flags, sizeof(flags)))
		fail("asking for stamps: %s", strerror(errno));
	if (local && bind(fd, (const struct sockaddr *)local, sizeof(*local)))
		fail("bind: %s", strerror(errno));
	return fd;
}

/* stamps NODE DEV */
void cmd_stamps(void)
{
	need_words(2, 2);
	close(probe_socket(port_find(line.word[1], line.word[2]), NULL));
}

/* The hardware stamp of the next message or error of a socket. */
static uint64_t read_stamp(int fd, int flags)
{
	union {
		struct cmsghdr header;
		char buffer[512];
	} control;
	struct msghdr msg = {
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	const struct scm_timestamping *stamps;
	struct cmsghdr *cmsg;

	if (recvmsg(fd, &msg, flags) < 0)
		fail("receiving a stamp: %s", strerror(errno));
	for (cmsg = CMSG_FIRSTHDR(&msg); cmsg; cmsg = CMSG_NXTHDR(&msg, cmsg)) {
		if (cmsg->cmsg_level != SOL_SOCKET ||
		    cmsg->cmsg_type != SO_TIMESTAMPING)
			continue;
		stamps = (const void *)CMSG_DATA(cmsg);
		return stamps->ts[2].tv_sec * 1000000000ULL +
		       stamps->ts[2].tv_nsec;
	}
	fail("a message without a stamp");
}

/* probe SRC DEV DST DEV DADDR BYTES */
void cmd_probe(void)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons(PROBE_PORT),
	};
	static const char payload[PROBE_MAX_BYTES];
	uint64_t sent_ns, received_ns;
	size_t bytes;
	int src, dst;
	FILE *out;

	need_words(6, 6);
	to.sin_addr.s_addr = ipv4(line.word[5]);
	bytes = number(line.word[6], 1, PROBE_MAX_BYTES);
	src = probe_socket(port_find(line.word[1], line.word[2]), NULL);
	dst = probe_socket(port_find(line.word[3], line.word[4]), &to);
	if (sendto(src, payload, bytes, 0, (struct sockaddr *)&to,
		   sizeof(to)) != (ssize_t)bytes)
		fail("send: %s", strerror(errno));
	received_ns = read_stamp(dst, 0);
	sent_ns = read_stamp(src, MSG_ERRQUEUE);
	out = fopen(OUT_DIR "probes.out", "a");
	if (!out)
		fail("opening probes.out: %s", strerror(errno));
	fprintf(out, "%s %s %zu %" PRIu64 " %" PRIu64 "\n", line.word[1],
		line.word[3], bytes, sent_ns, received_ns);
	fclose(out);
	close(src);
	close(dst);
}

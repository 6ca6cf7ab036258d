// SPDX-License-Identifier: GPL-2.0
/*
 * Packets of cables in pcap files, as a packet socket at one end sees them: those that come in
 * when the stack gets them, those that go out when the card does.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "init.h"
#include "program.h"

#define PCAP_MAGIC_NS		0xa1b23c4d	/* stamps in nanoseconds */
#define PCAP_SNAP_BYTES		262144
#define PCAP_ETHERNET		1
#define BUFFER_BYTES		(64 << 20)	/* bytes received between two polls */
#define PART_BUFFER_BYTES	(1 << 29)	/* of a part: in the whole run, read at its end */
#define FRAME_MAX_BYTES		16384	/* above the longest that a cable carries */
#define FRAMES_AT_ONCE		64

/* A NIC with packets that are written to a file. */
struct capture {
	int	port;	/* index of the card */
	int	fd;	/* packet socket in the card's namespace */
	FILE	*file;	/* pcap file */
};

static struct capture *captures;
static int n_captures;
static uint64_t start_ns;	/* T0 by CLOCK_REALTIME, of which stamps are */

bool has_captures(void)
{
	return n_captures;
}

static void put_header(const struct capture *capture)
{
	const struct {
		uint32_t	magic;
		uint16_t	major, minor;
		int32_t		zone;
		uint32_t	accuracy, snap_bytes, link;
	} header = { PCAP_MAGIC_NS, 2, 4, 0, 0, PCAP_SNAP_BYTES, PCAP_ETHERNET };

	if (fwrite(&header, sizeof(header), 1, capture->file) != 1)
		fail("writing a pcap file: %s", strerror(errno));
}

/* capture NODE DEV */
void cmd_capture(void)
{
	int bytes = is_part() ? PART_BUFFER_BYTES : BUFFER_BYTES, on = 1;
	struct capture *capture;
	struct port *port;
	char path[128];

	need_words(2, 2);
	port = port_find(line.word[1], line.word[2]);
	captures = grow(captures, n_captures, sizeof(*captures));
	capture = &captures[n_captures++];
	capture->port = port - ports;
	net_enter(port->node);
	/* Of no protocol until T0: the warm-up is not written. */
	capture->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (capture->fd < 0 ||
	    setsockopt(capture->fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) ||
	    setsockopt(capture->fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on)))
		fail("a packet socket: %s", strerror(errno));
	snprintf(path, sizeof(path), OUT_DIR "%s-%s.pcap", line.word[1], line.word[2]);
	capture->file = fopen(path, "we");
	if (!capture->file)
		fail("opening %s: %s", path, strerror(errno));
	put_header(capture);
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * UINT64_C(1000000000) + now.tv_nsec;
}

/* Begin: packets received from now on are written, with times from T0 on. */
void captures_start(uint64_t t0_ns)
{
	struct sockaddr_ll address = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
	};
	/* Each reading of a clock takes one ns here. */
	uint64_t before_ns = clock_ns(CLOCK_MONOTONIC);
	int i;

	start_ns = t0_ns + clock_ns(CLOCK_REALTIME) - (before_ns + 1);
	for (i = 0; i < n_captures; i++) {
		address.sll_ifindex = ports[captures[i].port].ifindex;
		net_enter(ports[captures[i].port].node);
		if (bind(captures[i].fd, (const struct sockaddr *)&address, sizeof(address)))
			fail("binding a packet socket: %s", strerror(errno));
	}
}

static void put_frame(const struct capture *capture, const char *frame, uint32_t bytes,
		      uint64_t time_ns)
{
	const uint32_t header[] = {
		time_ns / 1000000000, time_ns % 1000000000, bytes, bytes,
	};

	if (fwrite(header, sizeof(header), 1, capture->file) != 1 ||
	    fwrite(frame, bytes, 1, capture->file) != 1)
		fail("writing a pcap file: %s", strerror(errno));
}

static void put_message(const struct capture *capture, struct mmsghdr *message)
{
	struct msghdr *header = &message->msg_hdr;
	const struct cmsghdr *stamp = CMSG_FIRSTHDR(header);
	struct timespec at;
	uint64_t time_ns;

	if (!stamp || stamp->cmsg_type != SCM_TIMESTAMPNS)
		fail("a packet without a time");
	if (header->msg_flags & MSG_TRUNC)
		fail("a packet longer than %d bytes", FRAME_MAX_BYTES);
	memcpy(&at, CMSG_DATA(stamp), sizeof(at));
	time_ns = at.tv_sec * UINT64_C(1000000000) + at.tv_nsec;
	if (time_ns >= start_ns)
		put_frame(capture, header->msg_iov->iov_base, message->msg_len,
			  time_ns - start_ns);
}

/* Write the received packets, one at least; whether there may be more. */
static bool read_frames(const struct capture *capture)
{
	static char frames[FRAMES_AT_ONCE][FRAME_MAX_BYTES];
	static char stamps[FRAMES_AT_ONCE][CMSG_SPACE(sizeof(struct timespec))];
	struct mmsghdr messages[FRAMES_AT_ONCE];
	struct iovec wholes[FRAMES_AT_ONCE];
	int count, i;

	for (i = 0; i < FRAMES_AT_ONCE; i++) {
		wholes[i] = (struct iovec){ frames[i], sizeof(frames[i]) };
		messages[i].msg_hdr = (struct msghdr){
			.msg_iov = &wholes[i],
			.msg_iovlen = 1,
			.msg_control = stamps[i],
			.msg_controllen = sizeof(stamps[i]),
		};
	}
	count = recvmmsg(capture->fd, messages, FRAMES_AT_ONCE, MSG_DONTWAIT, NULL);
	if (count < 0)
		fail("reading packets: %s", strerror(errno));
	for (i = 0; i < count; i++)
		put_message(capture, &messages[i]);
	return count == FRAMES_AT_ONCE;
}

static bool has_frame(const struct capture *capture)
{
	struct pollfd socket = { .fd = capture->fd, .events = POLLIN };

	return poll(&socket, 1, 0) > 0;
}

/* Write all that has come; asked first, since a call that fails takes time. */
void captures_read(void)
{
	int i;

	for (i = 0; i < n_captures; i++)
		while (has_frame(&captures[i]) && read_frames(&captures[i]))
			;
}

/* The end; a capture with a hole is an error. */
void captures_end(void)
{
	struct tpacket_stats stats;
	socklen_t size;
	int i;

	captures_read();
	for (i = 0; i < n_captures; i++) {
		const struct port *port = &ports[captures[i].port];

		size = sizeof(stats);
		if (getsockopt(captures[i].fd, SOL_PACKET, PACKET_STATISTICS, &stats, &size))
			fail("counting packets: %s", strerror(errno));
		if (stats.tp_drops)
			fail("%s-%s.pcap lacks %u packets of %u", nodes[port->node].name,
			     port->name, stats.tp_drops, stats.tp_packets);
		close(captures[i].fd);
		if (fclose(captures[i].file))
			fail("writing %s-%s.pcap: %s", nodes[port->node].name, port->name,
			     strerror(errno));
	}
}

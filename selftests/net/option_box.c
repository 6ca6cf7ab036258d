// SPDX-License-Identifier: GPL-2.0
/*
 * option_box - a middlebox that does not like the Quell option, for fallback.sh
 *
 *	option_box MODE DEV DEV
 *		Bridges two devices and says "ready".  MODE:
 *		pass		nothing else
 *		strip-syn	no-operations in place of the option, on SYNs
 *		strip-data	on all segments but SYNs
 *		strip-all	on all segments
 *		drop-syn	SYNs with the option get lost
 *		lose-syn, lose-syn-ack, lose-ack
 *				of each connection of those that begin the first such
 *				segment gets lost, with or without the option
 *		gaps		a few times every second of the full segments that come
 *				by the first device gets lost
 *		damage		of four segments that are no SYNs a bit of the option is
 *				wrong, and so is the checksum; of two of them it is not
 *				recognised as the option any more
 *		Terminated, it says "seen N changed N": segments that carried
 *		the option, and what it did to some of them.
 *
 * The devices' neighbours must not leave checksums or segmentation to the card.
 */
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <arpa/inet.h>
#include <unistd.h>

#define FRAME_MAX	65536
#define ETH_BYTES	14
#define IP6_BYTES	40
#define TCP_BYTES	20
#define TCP_SYN		0x02
#define TCP_ACK		0x10
#define PORTS		65536
#define KIND_NOP	1
#define KIND_EXPERIMENT	254
#define EXID		0x5155

/* Payload of a segment that is called full. */
#define FULL_BYTES	1000
/* Full segments before the first that gets lost, and until the last. */
#define GAPS_FROM	20
#define GAPS_TO		32
/* One in so many segments is damaged, up to so many. */
#define DAMAGE_EACH	20
#define DAMAGED_MAX	4

enum mode {
	PASS, STRIP_SYN, STRIP_DATA, STRIP_ALL, DROP_SYN, LOSE_SYN, LOSE_SYN_ACK, LOSE_ACK,
	GAPS, DAMAGE, MODES
};

static const char * const mode_names[MODES] = {
	"pass", "strip-syn", "strip-data", "strip-all", "drop-syn", "lose-syn",
	"lose-syn-ack", "lose-ack", "gaps", "damage",
};

static volatile sig_atomic_t ended;
static unsigned long seen, changed;

static void die(const char *what)
{
	fprintf(stderr, "option_box: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void on_term(int number)
{
	(void)number;
	ended = 1;
}

static uint16_t get16(const uint8_t *from)
{
	return from[0] << 8 | from[1];
}

static uint32_t sum16(uint32_t sum, const uint8_t *from, size_t bytes)
{
	size_t i;

	for (i = 0; i + 1 < bytes; i += 2)
		sum += get16(from + i);
	if (bytes & 1)
		sum += from[bytes - 1] << 8;
	return sum;
}

/**
 * struct segment - a TCP segment in a frame
 * @addresses:	both, of the IP header
 * @addresses_bytes: of them together
 * @tcp:	TCP header
 * @bytes:	of header and payload
 */
struct segment {
	const uint8_t	*addresses;
	size_t		addresses_bytes;
	uint8_t		*tcp;
	size_t		bytes;
};

/* Finds the TCP segment of a frame, if there is one. */
static bool find_segment(uint8_t *frame, size_t bytes, struct segment *segment)
{
	uint8_t *ip = frame + ETH_BYTES;
	size_t ip_bytes, total;

	if (bytes < ETH_BYTES + IP6_BYTES)
		return false;
	if (get16(frame + 12) == ETH_P_IP && ip[9] == IPPROTO_TCP) {
		ip_bytes = (ip[0] & 15) * 4;
		total = get16(ip + 2);
		segment->addresses = ip + 12;
		segment->addresses_bytes = 8;
	} else if (get16(frame + 12) == ETH_P_IPV6 && ip[6] == IPPROTO_TCP) {
		ip_bytes = IP6_BYTES;
		total = IP6_BYTES + get16(ip + 4);
		segment->addresses = ip + 8;
		segment->addresses_bytes = 32;
	} else {
		return false;
	}
	if (total > bytes - ETH_BYTES || total < ip_bytes + TCP_BYTES)
		return false;
	segment->tcp = ip + ip_bytes;
	segment->bytes = total - ip_bytes;
	return (size_t)(segment->tcp[12] >> 4) * 4 <= segment->bytes;
}

/* The Quell option among a segment's; NULL when there is none. */
static uint8_t *find_option(const struct segment *segment)
{
	uint8_t *at = segment->tcp + TCP_BYTES;
	uint8_t *end = segment->tcp + (segment->tcp[12] >> 4) * 4;

	while (at + 1 < end && *at) {
		if (*at == KIND_NOP) {
			at++;
			continue;
		}
		if (at[1] < 2 || at + at[1] > end)
			return NULL;
		if (*at == KIND_EXPERIMENT && at[1] >= 4 && get16(at + 2) == EXID)
			return at;
		at += at[1];
	}
	return NULL;
}

static void set_checksum(const struct segment *segment)
{
	uint32_t sum = IPPROTO_TCP + segment->bytes;

	memset(segment->tcp + 16, 0, 2);
	sum = sum16(sum, segment->addresses, segment->addresses_bytes);
	sum = sum16(sum, segment->tcp, segment->bytes);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	segment->tcp[16] = (uint8_t)(~sum >> 8);
	segment->tcp[17] = (uint8_t)~sum;
}

/* Whether the segment is one of those that leave gaps. */
static bool in_gap(const struct segment *segment)
{
	static unsigned long full;

	if (segment->bytes < (size_t)(segment->tcp[12] >> 4) * 4 + FULL_BYTES)
		return false;
	full++;
	return full > GAPS_FROM && full <= GAPS_TO && full % 2;
}

/* Flips a bit of some options: of what they say, or of their kind. */
static bool damage(uint8_t *option)
{
	static unsigned long segments;

	if (changed == DAMAGED_MAX || ++segments % DAMAGE_EACH)
		return false;
	option[changed % 2 ? 0 : option[1] - 1] ^= 1;
	return true;
}

/* Whether the segment is the first of its kind of the connection of a client's port. */
static bool is_first(const struct segment *segment, bool first)
{
	static bool known[PORTS];
	bool *this = &known[get16(segment->tcp + (first ? 0 : 2))];
	bool was = *this;

	*this = true;
	return !was;
}

/* Whether a segment gets lost whatever it carries. */
static bool loses(enum mode mode, const struct segment *segment, bool first)
{
	uint8_t kind = segment->tcp[13] & (TCP_SYN | TCP_ACK);

	switch (mode) {
	case LOSE_SYN:
		return first && kind == TCP_SYN && is_first(segment, first);
	case LOSE_SYN_ACK:
		return !first && kind == (TCP_SYN | TCP_ACK) && is_first(segment, first);
	case LOSE_ACK:
		return first && kind == TCP_ACK && is_first(segment, first);
	default:
		return false;
	}
}

static bool mode_wants(enum mode mode, const struct segment *segment, bool first)
{
	bool syn = segment->tcp[13] & TCP_SYN;

	switch (mode) {
	case STRIP_SYN:
	case DROP_SYN:
		return syn;
	case STRIP_DATA:
	case DAMAGE:
		return !syn;
	case STRIP_ALL:
		return true;
	case GAPS:
		return first && in_gap(segment);
	default:
		return false;
	}
}

/*
 * Does to a frame what the mode says; false: it is lost.  @first: it came by the
 * first device.
 */
static bool treat(enum mode mode, uint8_t *frame, size_t bytes, bool first)
{
	struct segment segment;
	uint8_t *option;

	if (!find_segment(frame, bytes, &segment))
		return true;
	if (loses(mode, &segment, first)) {
		changed++;
		return false;
	}
	option = find_option(&segment);
	if (!option)
		return true;
	seen++;
	if (!mode_wants(mode, &segment, first) || (mode == DAMAGE && !damage(option)))
		return true;
	changed++;
	if (mode == DROP_SYN || mode == GAPS)
		return false;
	if (mode == DAMAGE)
		return true;
	memset(option, KIND_NOP, option[1]);
	set_checksum(&segment);
	return true;
}

static int open_device(const char *name)
{
	struct sockaddr_ll addr = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = if_nametoindex(name),
	};
	struct packet_mreq all = {
		.mr_ifindex = addr.sll_ifindex,
		.mr_type = PACKET_MR_PROMISC,
	};
	int one = 1, fd;

	fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, 0);
	if (fd < 0 || !addr.sll_ifindex ||
	    setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof(one)) ||
	    setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all, sizeof(all)) ||
	    bind(fd, (struct sockaddr *)&addr, sizeof(addr)))
		die(name);
	return fd;
}

/* All that waits on one device goes out by the other. */
static void forward(enum mode mode, int from, int to, bool first)
{
	static uint8_t frame[FRAME_MAX];
	ssize_t bytes;

	while ((bytes = recv(from, frame, sizeof(frame), 0)) > 0)
		if (treat(mode, frame, bytes, first) && send(to, frame, bytes, 0) < 0 &&
		    errno != ENOBUFS && errno != EAGAIN && errno != ENETDOWN)
			die("send");
	if (bytes < 0 && errno != EAGAIN && errno != EINTR && errno != ENETDOWN)
		die("recv");
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_term };
	struct pollfd devices[2];
	enum mode mode = PASS;
	sigset_t term, none;
	int i;

	if (argc != 4) {
		fprintf(stderr, "usage: option_box MODE DEV DEV\n");
		return 2;
	}
	while (mode < MODES && strcmp(argv[1], mode_names[mode]))
		mode++;
	if (mode == MODES) {
		fprintf(stderr, "option_box: no mode '%s'\n", argv[1]);
		return 2;
	}
	/* It ends the wait for frames, and comes at no other time. */
	sigemptyset(&none);
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, NULL);
	sigaction(SIGTERM, &action, NULL);
	for (i = 0; i < 2; i++)
		devices[i] = (struct pollfd){ .fd = open_device(argv[2 + i]), .events = POLLIN };
	puts("ready");
	fflush(stdout);
	while (!ended) {
		if (ppoll(devices, 2, NULL, &none) < 0 && errno != EINTR)
			die("poll");
		for (i = 0; i < 2 && !ended; i++)
			forward(mode, devices[i].fd, devices[!i].fd, !i);
	}
	printf("seen %lu changed %lu\n", seen, changed);
	return 0;
}

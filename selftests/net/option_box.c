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
 *		forge, cut, other, unsent
 *				of four segments of the first device that acknowledge something
 *				and have an echo, its departure is one that never was, before or
 *				after; a part of the option is cut off; it is another
 *				experiment's; they acknowledge data that was never sent.  The checksum
 *				is right
 *		Terminated, it says "seen N changed N": segments that carried
 *		the option, and its effect on some of them.
 *
 * The devices' neighbours must not leave checksums or segmentation to the card.
 */
#include <err.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "pkt.h"

#define PORTS		65536

/* Payload of a segment that is called full. */
#define FULL_BYTES	1000
/* Full segments before the first that gets lost, and until the last. */
#define GAPS_FROM	20
#define GAPS_TO		32
/* One in so many segments is damaged, up to so many. */
#define DAMAGE_EACH	20
#define DAMAGED_MAX	4
/* Likewise of echoes. */
#define FALSIFY_EACH	5
#define SECOND_NS	1000000000U
/* More than is ever in flight here. */
#define UNSENT_BYTES	(1U << 24)

enum mode {
	PASS, STRIP_SYN, STRIP_DATA, STRIP_ALL, DROP_SYN, LOSE_SYN, LOSE_SYN_ACK, LOSE_ACK,
	GAPS, DAMAGE, FORGE, CUT, OTHER, UNSENT, MODES
};

static const char * const mode_names[MODES] = {
	"pass", "strip-syn", "strip-data", "strip-all", "drop-syn", "lose-syn",
	"lose-syn-ack", "lose-ack", "gaps", "damage",
	"forge", "cut", "other", "unsent",
};

static volatile sig_atomic_t ended;
static unsigned long seen, changed;

static void on_term(int number)
{
	(void)number;
	ended = 1;
}

/* A TCP segment in a frame. */
struct segment {
	uint8_t	*ip;	/* IP header */
	uint8_t	*tcp;	/* TCP header */
	size_t	bytes;	/* of header and payload */
};

/* The Quell option among a segment's; NULL without one. */
static uint8_t *find_option(const struct segment *segment)
{
	uint8_t *at = segment->tcp + TCP_BYTES;
	uint8_t *end = segment->tcp + (segment->tcp[12] >> 4) * 4;

	while (at + 1 < end && *at) {
		if (*at == QUELL_OPT_NOP) {
			at++;
			continue;
		}
		if (at[1] < 2 || at + at[1] > end)
			return NULL;
		if (*at == QUELL_OPT_KIND && at[1] >= 4 &&
		    quell_opt_get_u16(at + 2) == QUELL_OPT_EXID)
			return at;
		at += at[1];
	}
	return NULL;
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

/* Flips a bit of some options: of their contents, or of their kind. */
static bool damage(uint8_t *option)
{
	static unsigned long segments;

	if (changed == DAMAGED_MAX || ++segments % DAMAGE_EACH)
		return false;
	option[changed % 2 ? 0 : option[1] - 1] ^= 1;
	return true;
}

/* Whether the segment acknowledges more than the one before; of one direction. */
static bool is_news(const struct segment *segment)
{
	static uint32_t last;
	uint32_t was = last;

	last = quell_opt_get_u32(segment->tcp + 8);
	return last != was;
}

/* Whether it is the turn of an echo to be falsified. */
static bool is_due(const struct segment *segment, const uint8_t *option)
{
	static unsigned long segments;

	return is_news(segment) && option[1] > QUELL_OPT_SHORT_BYTES &&
	       option[4] & QUELL_OPT_F_ACK && changed < DAMAGED_MAX &&
	       !(++segments % FALSIFY_EACH);
}

/* Sets false values in the option. */
static bool falsify(enum mode mode, const struct segment *segment, uint8_t *option)
{
	uint32_t at = QUELL_OPT_HEAD_BYTES +
		      (option[4] & QUELL_OPT_F_DATA ? QUELL_OPT_DATA_BYTES : 0);
	uint8_t *ack = segment->tcp + 8;

	if (!is_due(segment, option))
		return false;
	switch (mode) {
	case FORGE:
		quell_opt_put_u32(option + at, quell_opt_get_u32(option + at) +
				  (changed % 2 ? SECOND_NS : -SECOND_NS));
		break;
	case CUT:
		memset(option + at + 4, QUELL_OPT_NOP, option[1] - at - 4);
		option[1] = at + 4;
		break;
	case OTHER:
		option[3] ^= 1;
		break;
	default:
		quell_opt_put_u32(ack, quell_opt_get_u32(ack) + UNSENT_BYTES);
	}
	return true;
}

/* Modes that leave the option there, with a right checksum. */
static bool is_falsifying(enum mode mode)
{
	return mode >= FORGE;
}

/* Whether the segment is the first of its kind of the connection of a client's port. */
static bool is_first(const struct segment *segment, bool first)
{
	static bool known[PORTS];
	bool *this = &known[quell_opt_get_u16(segment->tcp + (first ? 0 : 2))];
	bool was = *this;

	*this = true;
	return !was;
}

/* Whether a segment of any kind is lost. */
static bool loses(enum mode mode, const struct segment *segment, bool first)
{
	uint8_t kind = segment->tcp[13] & (TH_SYN | TH_ACK);

	switch (mode) {
	case LOSE_SYN:
		return first && kind == TH_SYN && is_first(segment, first);
	case LOSE_SYN_ACK:
		return !first && kind == (TH_SYN | TH_ACK) && is_first(segment, first);
	case LOSE_ACK:
		return first && kind == TH_ACK && is_first(segment, first);
	default:
		return false;
	}
}

static bool mode_wants(enum mode mode, const struct segment *segment, bool first)
{
	bool syn = segment->tcp[13] & TH_SYN;

	switch (mode) {
	case STRIP_SYN:
	case DROP_SYN:
		return syn;
	case STRIP_DATA:
	case DAMAGE:
		return !syn;
	case FORGE:
	case CUT:
	case OTHER:
	case UNSENT:
		return !syn && first;
	case STRIP_ALL:
		return true;
	case GAPS:
		return first && in_gap(segment);
	default:
		return false;
	}
}

/*
 * Treats a frame as the mode says; false: it is lost.  @first: it came by the
 * first device.
 */
static bool treat(enum mode mode, uint8_t *frame, size_t bytes, bool first)
{
	struct segment segment = { .ip = frame + ETH_HLEN, .bytes = bytes };
	uint8_t *option;

	segment.tcp = frame + find_tcp(frame, &segment.bytes);
	if (segment.tcp == frame)
		return true;
	if (loses(mode, &segment, first)) {
		changed++;
		return false;
	}
	option = find_option(&segment);
	if (!option)
		return true;
	seen++;
	if (!mode_wants(mode, &segment, first) || (mode == DAMAGE && !damage(option)) ||
	    (is_falsifying(mode) && !falsify(mode, &segment, option)))
		return true;
	changed++;
	if (mode == DROP_SYN || mode == GAPS)
		return false;
	if (mode == DAMAGE)
		return true;
	if (!is_falsifying(mode))
		memset(option, QUELL_OPT_NOP, option[1]);
	put_check(segment.ip, segment.tcp, IPPROTO_TCP, segment.bytes, false);
	return true;
}

static int open_device(const char *name)
{
	struct packet_mreq all = {
		.mr_ifindex = if_nametoindex(name),
		.mr_type = PACKET_MR_PROMISC,
	};
	int fd = open_packet(name, ETH_P_ALL, false);

	if (setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all, sizeof(all)))
		err(2, "%s", name);
	return fd;
}

/* All that waits on one device goes out by the other. */
static void forward(enum mode mode, int from, int to, bool first)
{
	static uint8_t frame[FRAME_MAX];
	ssize_t bytes;

	while ((bytes = recv(from, frame, sizeof(frame), MSG_DONTWAIT)) > 0)
		if (treat(mode, frame, bytes, first) && send(to, frame, bytes, MSG_DONTWAIT) < 0 &&
		    errno != ENOBUFS && errno != EAGAIN && errno != ENETDOWN)
			err(2, "send");
	if (bytes < 0 && errno != EAGAIN && errno != EINTR && errno != ENETDOWN)
		err(2, "recv");
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
			err(2, "poll");
		for (i = 0; i < 2 && !ended; i++)
			forward(mode, devices[i].fd, devices[!i].fd, !i);
	}
	printf("seen %lu changed %lu\n", seen, changed);
	return 0;
}

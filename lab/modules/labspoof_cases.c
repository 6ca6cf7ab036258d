// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labspoof: the kinds of bad packets, and the reaction each must cause.
 *
 * Each case starts from a genuine packet of a flow, with the numbers of that
 * packet, and changes one thing.  The expected counter is derived here from
 * the text of Documentation/wire-format.md, without calling the codec.
 *
 * No payload gets a made-up sequence number inside the window, and options that
 * TCP itself reads are not made up: TCP would accept both, with or without Quell.
 */
#include <linux/ip.h>
#include <linux/ktime.h>
#include <linux/string.h>
#include <linux/unaligned.h>
#include <net/tcp.h>
#include <quell/core/signal/echo.h>

#include "flow/flow.h"
#include "flow/segments.h"
#include "labspoof.h"

#define KIND_END		0
#define KIND_NOP		1
#define KIND_EXPERIMENT		254

#define FLAG_DATA		0x01
#define FLAG_ACK		0x02
#define FLAG_TELEMETRY		0x04
#define FLAG_RECORD		0x08

/* quell.ko accepts numbers this far from the expected ones, however small the window. */
#define WINDOW_LEAST_BYTES	65536U
/* Sequence numbers this far off are outside every window. */
#define FAR_BYTES		(1U << 29)

static void random_bytes(u8 *to, u32 bytes)
{
	while (bytes--)
		*to++ = labspoof_random(256);
}

/* Length of an option with these flags. */
static u32 claimed_bytes(u8 flags)
{
	return 6 + (flags & FLAG_DATA ? 6 : 0) + (flags & FLAG_ACK ? 10 : 0) +
	       (flags & FLAG_TELEMETRY ? 12 : 0) + (flags & FLAG_RECORD ? 12 : 0);
}

/* The verdict on a packet that is valid but perhaps for its options. */
static enum labspoof_verdict options_verdict(const u8 *options, u32 bytes)
{
	const u8 *end = options + bytes;

	while (options < end && *options != KIND_END) {
		u32 left = end - options;

		if (*options == KIND_NOP) {
			options++;
			continue;
		}
		if (left < 2 || options[1] < 2 || options[1] > left)
			return LABSPOOF_NO_OPTION;
		if (*options == KIND_EXPERIMENT && options[1] >= 4 &&
		    options[2] == 0x51 && options[3] == 0x55) {
			if (options[1] == 8)
				return LABSPOOF_RECEIVED;
			if (options[1] < 6 || options[1] < claimed_bytes(options[4]))
				return LABSPOOF_MALFORMED;
			return LABSPOOF_RECEIVED;
		}
		options += options[1];
	}
	return LABSPOOF_NO_OPTION;
}

/* Change the identifier of a NACK to that of another experiment. */
static void tame_exid(u8 *option, u32 left)
{
	if (left >= 4 && option[2] == 0x51 && option[3] == 0x4e)
		option[3] = 0;
}

/* Make every option an experiment that is not a NACK, so that TCP does not read it. */
static void tame(u8 *options, u32 bytes)
{
	u8 *end = options + bytes;

	while (options < end && *options != KIND_END) {
		if (*options == KIND_NOP) {
			options++;
			continue;
		}
		*options = KIND_EXPERIMENT;
		tame_exid(options, end - options);
		if (end - options < 2 || options[1] < 2)
			return;
		options += options[1];
	}
}

/* A single option with these flags and that length, followed by no-operations. */
static void set_option(struct labspoof_packet *packet, u8 flags, u8 stated_bytes)
{
	u8 *options = packet->options;
	u32 bytes = min_t(u32, ALIGN(max_t(u32, stated_bytes, 8), 4), LABSPOOF_OPTIONS_MAX);

	memset(options, KIND_NOP, bytes);
	random_bytes(options, min_t(u32, bytes, max_t(u32, stated_bytes, 6)));
	options[0] = KIND_EXPERIMENT;
	options[1] = stated_bytes;
	options[2] = 0x51;
	options[3] = 0x55;
	options[4] = flags;
	packet->options_bytes = bytes;
}

/* A valid option, with any sections that fit into a header. */
static void set_good(struct labspoof_packet *packet)
{
	u8 flags;

	do {
		flags = labspoof_random(256);
	} while (claimed_bytes(flags) > LABSPOOF_OPTIONS_MAX);
	set_option(packet, flags, claimed_bytes(flags));
	packet->verdict = LABSPOOF_RECEIVED;
}

static void make_good(struct labspoof_packet *packet)
{
	set_good(packet);
}

/* A length too short for the sections; 8 is excluded, being the short form. */
static void make_short_length(struct labspoof_packet *packet)
{
	u8 flags, bytes;

	do {
		flags = labspoof_random(256);
		bytes = 4 + labspoof_random(claimed_bytes(flags) - 4);
	} while (bytes == 8 || bytes > LABSPOOF_OPTIONS_MAX);
	set_option(packet, flags, bytes);
	packet->verdict = LABSPOOF_MALFORMED;
}

/* The flags claim a record of which at most a part is present. */
static void make_cut_record(struct labspoof_packet *packet)
{
	static const u8 flags[] = {
		FLAG_TELEMETRY, FLAG_RECORD, FLAG_DATA | FLAG_TELEMETRY,
		FLAG_ACK | FLAG_RECORD, FLAG_TELEMETRY | FLAG_RECORD,
		FLAG_ACK | FLAG_TELEMETRY,
	};
	u8 flag = flags[labspoof_random(ARRAY_SIZE(flags))];
	u8 bytes;

	do {
		bytes = claimed_bytes(flag) - 1 - labspoof_random(12);
	} while (bytes == 8);
	set_option(packet, flag, bytes);
	packet->verdict = LABSPOOF_MALFORMED;
}

/* The option's length reaches beyond the header. */
static void make_beyond_header(struct labspoof_packet *packet)
{
	set_good(packet);
	packet->options[1] = packet->options_bytes + 1 + labspoof_random(100);
	packet->verdict = LABSPOOF_NO_OPTION;
}

static void make_other_exid(struct labspoof_packet *packet)
{
	set_good(packet);
	packet->options[2 + labspoof_random(2)] ^= 1 + labspoof_random(255);
	tame_exid(packet->options, packet->options_bytes);
	packet->verdict = LABSPOOF_NO_OPTION;
}

/* The option of a SYN, which reads as the short form, an echo, in other segments. */
static void make_syn_form(struct labspoof_packet *packet)
{
	static const u8 option[] = { KIND_EXPERIMENT, 8, 0x51, 0x55, 1, 0, 0, 0 };

	memcpy(packet->options, option, sizeof(option));
	packet->options_bytes = sizeof(option);
	packet->verdict = LABSPOOF_RECEIVED;
}

/*
 * An echo of a made-up departure: at any time or near now; with a hold time longer
 * than any round trip, or not.  It has the genuine packet's numbers, so few are sampled.
 */
static void make_echo(struct labspoof_packet *packet)
{
	u32 echo_ns = (u32)ktime_get_ns() - labspoof_random(20000) + 2000;

	set_option(packet, FLAG_ACK, claimed_bytes(FLAG_ACK));
	if (labspoof_random(2))
		put_unaligned_be32(echo_ns, packet->options + 6);
	memset(packet->options + 10, 0xff, labspoof_random(4));
	packet->verdict = LABSPOOF_RECEIVED;
}

/* A made-up echo on an ACK that is sampled, if the genuine ACK acknowledges enough data. */
static void make_echo_sampled(struct labspoof_packet *packet)
{
	if (labspoof_echo_room(packet->sk, packet->ack_seq) > 1)
		labspoof_make_echo(packet);
	else
		make_echo(packet);
}

static void make_noise(struct labspoof_packet *packet)
{
	packet->options_bytes = 4 * labspoof_random(LABSPOOF_OPTIONS_MAX / 4 + 1);
	random_bytes(packet->options, packet->options_bytes);
	tame(packet->options, packet->options_bytes);
	packet->verdict = options_verdict(packet->options, packet->options_bytes);
}

/* A valid option with some bytes changed. */
static void make_flips(struct labspoof_packet *packet)
{
	u32 n = 1 + labspoof_random(4);

	set_good(packet);
	while (n--)
		packet->options[labspoof_random(packet->options_bytes)] =
			labspoof_random(256);
	tame(packet->options, packet->options_bytes);
	packet->verdict = options_verdict(packet->options, packet->options_bytes);
}

/* A valid option three times out of four, else no option. */
static void set_any(struct labspoof_packet *packet)
{
	if (labspoof_random(4))
		set_good(packet);
}

static void out_of_window(struct labspoof_packet *packet)
{
	packet->verdict = packet->verdict == LABSPOOF_RECEIVED ?
			  LABSPOOF_OUT_OF_WINDOW : LABSPOOF_SEGMENT_OUT_OF_WINDOW;
	packet->rejected = true;
}

static void make_far_seq(struct labspoof_packet *packet)
{
	set_any(packet);
	packet->seq += FAR_BYTES + labspoof_random(2 * FAR_BYTES);
	out_of_window(packet);
}

/* A sequence number one beyond either edge. */
static void make_seq_at_edge(struct labspoof_packet *packet)
{
	const struct tcp_sock *tp = tcp_sk(packet->sk);
	u32 window_bytes = max_t(u32, tp->rcv_wnd, WINDOW_LEAST_BYTES);

	set_any(packet);
	packet->seq = labspoof_random(2) ? tp->rcv_nxt + window_bytes + 1 :
					   tp->rcv_nxt - window_bytes - 1;
	out_of_window(packet);
}

/* An acknowledgment of data never written, from the first such number on. */
static void make_ack_unsent(struct labspoof_packet *packet)
{
	u32 more = labspoof_random(2) ? 0 : labspoof_random(FAR_BYTES);

	set_any(packet);
	packet->ack_seq = tcp_sk(packet->sk)->write_seq + 1 + more;
	out_of_window(packet);
}

static void make_ack_old(struct labspoof_packet *packet)
{
	const struct tcp_sock *tp = tcp_sk(packet->sk);
	u32 more = labspoof_random(2) ? 0 : labspoof_random(FAR_BYTES);

	set_any(packet);
	packet->ack_seq = tp->snd_una - max(tp->max_window, WINDOW_LEAST_BYTES) - 1 - more;
	out_of_window(packet);
}

/* A wrong checksum must be counted as such, whichever other faults there are. */
static void make_bad_checksum(struct labspoof_packet *packet)
{
	if (labspoof_random(2))
		make_flips(packet);
	else
		set_any(packet);
	packet->sum = labspoof_random(2) ? LABSPOOF_SUM_WRONG : LABSPOOF_SUM_WRONG_COMPLETE;
	packet->verdict = packet->verdict == LABSPOOF_NO_OPTION ?
			  LABSPOOF_SEGMENT_BAD_CHECKSUM : LABSPOOF_BAD_CHECKSUM;
	packet->rejected = true;
}

/* Neither Quell nor TCP verifies a checksum that the NIC claims to have verified. */
static void make_trusted_checksum(struct labspoof_packet *packet)
{
	set_any(packet);
	packet->sum = LABSPOOF_SUM_WRONG_TRUSTED;
}

/* A header length that is below the minimum, or beyond the end of the packet. */
static void make_bad_doff(struct labspoof_packet *packet)
{
	u32 tcp_bytes = packet->skb->len - ip_hdrlen(packet->skb);

	set_good(packet);
	packet->doff = labspoof_random(5);
	if (tcp_bytes < 60 && labspoof_random(2)) {
		/* Without the option, so that the packet is shorter than the header claimed. */
		packet->options_bytes = 0;
		packet->doff = 15;
	}
	if (!packet->doff)
		packet->doff = 4;
	packet->verdict = LABSPOOF_SEGMENT_MALFORMED;
	packet->rejected = true;
}

/* A NACK in a segment of its own, as from a switch or a host. */
static void set_nack(struct labspoof_packet *packet, u8 stated_bytes, u32 seq, u16 bytes)
{
	u8 *options = packet->options;

	memset(options, KIND_NOP, ALIGN(max_t(u32, stated_bytes, 12), 4));
	options[0] = KIND_EXPERIMENT;
	options[1] = stated_bytes;
	options[2] = 0x51;
	options[3] = 0x4e;
	put_unaligned_be32(seq, options + 4);
	put_unaligned_be16(bytes, options + 8);
	packet->options_bytes = ALIGN(max_t(u32, stated_bytes, 12), 4);
	packet->alone = true;
	packet->bare = labspoof_random(2);
}

/* A NACK too short for its fields, or covering zero bytes. */
static void make_nack_malformed(struct labspoof_packet *packet)
{
	u32 una = tcp_sk(packet->sk)->snd_una;

	if (labspoof_random(2))
		set_nack(packet, 4 + labspoof_random(6), una, 1000);
	else
		set_nack(packet, 10 + labspoof_random(20), una, 0);
	packet->verdict = LABSPOOF_NACK_MALFORMED;
	packet->rejected = true;
}

/* A NACK of data never written, from one byte on, or acknowledged long ago. */
static void make_nack_outside(struct labspoof_packet *packet)
{
	const struct tcp_sock *tp = tcp_sk(packet->sk);
	u16 bytes = 1 + labspoof_random(65535);
	u32 more = labspoof_random(2) ? 0 : labspoof_random(FAR_BYTES);

	if (labspoof_random(2))
		set_nack(packet, 10, tp->write_seq + 1 - bytes + more, bytes);
	else
		set_nack(packet, 10, tp->snd_una - max_t(u32, tp->max_window, 65535) - 1 - more,
			 bytes);
	packet->verdict = LABSPOOF_NACK_OUTSIDE;
	packet->rejected = true;
}

/* A NACK of acknowledged data, up to its last byte. */
static void make_nack_stale(struct labspoof_packet *packet)
{
	u16 bytes = 1 + labspoof_random(30000);
	u32 more = labspoof_random(2) ? 0 : labspoof_random(30000);

	set_nack(packet, 10 + labspoof_random(20), tcp_sk(packet->sk)->snd_una - bytes - more,
		 bytes);
	/* It has no echo, so it is not examined any further. */
	packet->verdict = LABSPOOF_NACK_OUTSIDE;
	packet->rejected = true;
}

/* The segment's own sequence number must be checked first. */
static void make_nack_out_of_window(struct labspoof_packet *packet)
{
	set_nack(packet, 10, tcp_sk(packet->sk)->snd_una, 1000);
	packet->seq += FAR_BYTES + labspoof_random(2 * FAR_BYTES);
	packet->verdict = LABSPOOF_SEGMENT_OUT_OF_WINDOW;
	packet->rejected = true;
}

static void make_nack_bad_checksum(struct labspoof_packet *packet)
{
	set_nack(packet, 10, tcp_sk(packet->sk)->snd_una, 1000);
	packet->sum = labspoof_random(2) ? LABSPOOF_SUM_WRONG : LABSPOOF_SUM_WRONG_COMPLETE;
	packet->verdict = LABSPOOF_SEGMENT_BAD_CHECKSUM;
	packet->rejected = true;
}

/* Departure time (low 32 bits) of @seq by the flow's records; 0 without a record. */
static u32 departure_ns(const struct sock *sk, u32 seq)
{
	const struct quell_segments *segments = &quell_cc(sk)->flow->segments;
	u32 i;

	for (i = segments->head; i != segments->tail; i++) {
		const struct quell_segment *segment = &segments->ring[i & (segments->size - 1)];

		if (!before(seq, segment->seq) && before(seq, segment->end_seq))
			return (u32)segment->depart_ns;
	}
	return 0;
}

/* Insert an option with an echo before the NACK. */
static void add_echo(struct labspoof_packet *packet, u32 echo_ns)
{
	u8 *options = packet->options;
	u32 bytes = claimed_bytes(FLAG_ACK);

	memmove(options + bytes, options, packet->options_bytes);
	memset(options, 0, bytes);
	options[0] = KIND_EXPERIMENT;
	options[1] = bytes;
	options[2] = 0x51;
	options[3] = 0x55;
	options[4] = FLAG_ACK;
	put_unaligned_be32(quell_echo_hide(echo_ns, quell_cc(packet->sk)->flow->stamp_secret),
			   options + 6);
	packet->options_bytes += bytes;
}

/*
 * A NACK of outstanding data, with the echo of its departure or of another time.  TCP
 * accepts such numbers, so data with the right echo is retransmitted.  A flow without
 * outstanding data gets a stale NACK instead.
 */
static void make_nack_of_data(struct labspoof_packet *packet)
{
	const struct tcp_sock *tp = tcp_sk(packet->sk);
	u32 due_bytes = tp->snd_nxt - tp->snd_una;
	u32 from_bytes, bytes;

	if (!due_bytes) {
		make_nack_stale(packet);
		return;
	}
	from_bytes = labspoof_random(due_bytes);
	bytes = 1 + labspoof_random(min_t(u32, due_bytes - from_bytes, 65535));
	set_nack(packet, 10, tp->snd_una + from_bytes, bytes);
	add_echo(packet, departure_ns(packet->sk, tp->snd_una + from_bytes) +
			 (labspoof_random(4) ? 0 : labspoof_random(FAR_BYTES)));
	packet->ack_seq = tp->snd_una - labspoof_random(min_t(u32, tp->max_window,
							      WINDOW_LEAST_BYTES));
	packet->verdict = LABSPOOF_NACK_CHECKED;
}

/* With payload or another flag the NACK is an unknown option, to be ignored. */
static void make_nack_misplaced(struct labspoof_packet *packet)
{
	set_nack(packet, 10, tcp_sk(packet->sk)->snd_una, 1000);
	packet->alone = false;
	packet->bare = false;
	if (packet->skb->len == skb_transport_offset(packet->skb) + tcp_hdrlen(packet->skb) &&
	    !tcp_hdr(packet->skb)->psh) {
		make_nack_stale(packet);
		return;
	}
	packet->verdict = LABSPOOF_NO_OPTION;
}

/* Without any flag, otherwise valid; every segment of a connection must have ACK set. */
static void make_flagless(struct labspoof_packet *packet)
{
	set_any(packet);
	packet->verdict = LABSPOOF_NO_OPTION;
	packet->flagless = true;
	packet->rejected = true;
}

/*
 * The option states a longer payload than the packet has.  That payload may be there
 * already, be beyond the window, or be expected, and then a NACK is sent.
 */
static void make_trimmed(struct labspoof_packet *packet)
{
	const struct tcp_sock *tp = tcp_sk(packet->sk);

	packet->alone = true;
	if (labspoof_random(2))
		packet->seq = tp->rcv_nxt + tp->rcv_wnd - labspoof_random(1000);
	else
		packet->seq = tp->rcv_nxt - labspoof_random(WINDOW_LEAST_BYTES);
	set_option(packet, FLAG_DATA, claimed_bytes(FLAG_DATA));
	put_unaligned_be16(labspoof_random(65536), packet->options + 6);
	packet->verdict = LABSPOOF_RECEIVED;
}

static void (* const makers[])(struct labspoof_packet *packet) = {
	make_echo,
	[LABSPOOF_CASE_ECHO_SAMPLED] = make_echo_sampled,
	make_good, make_short_length, make_cut_record, make_beyond_header,
	make_other_exid, make_syn_form, make_noise, make_flips,
	make_far_seq, make_seq_at_edge, make_ack_unsent, make_ack_old,
	make_bad_checksum, make_trusted_checksum, make_bad_doff,
	make_nack_malformed, make_nack_outside, make_nack_stale, make_nack_out_of_window,
	make_nack_bad_checksum, make_nack_of_data, make_nack_misplaced, make_trimmed,
	make_flagless,
};

const char * const labspoof_case_names[] = {
	"echo",
	[LABSPOOF_CASE_ECHO_SAMPLED] = "echo-sampled",
	"good", "short-length", "cut-record", "beyond-header",
	"other-exid", "syn-form", "noise", "flips",
	"far-seq", "seq-at-edge", "ack-unsent", "ack-old",
	"bad-checksum", "trusted-checksum", "bad-doff",
	"nack-malformed", "nack-outside", "nack-stale", "nack-out-of-window",
	"nack-bad-checksum", "nack-of-data", "nack-misplaced", "trimmed",
	"flagless",
};

const u32 labspoof_cases_nr = ARRAY_SIZE(makers);

/* Make up a packet of one case.  The socket is not owned by a process. */
void labspoof_make(u32 number, struct labspoof_packet *packet)
{
	const struct tcphdr *th = tcp_hdr(packet->skb);

	static_assert(ARRAY_SIZE(makers) == ARRAY_SIZE(labspoof_case_names));
	packet->options_bytes = 0;
	packet->seq = ntohl(th->seq);
	packet->ack_seq = ntohl(th->ack_seq);
	packet->doff = 0;
	packet->alone = false;
	packet->bare = false;
	packet->flagless = false;
	packet->sum = LABSPOOF_SUM_RIGHT;
	packet->verdict = LABSPOOF_NO_OPTION;
	packet->rejected = false;
	packet->echo = LABSPOOF_ECHO_ANY;
	makers[number](packet);
}

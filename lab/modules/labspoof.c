// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labspoof: bad input for quell.ko, at full speed, in the laboratory.
 *
 * Before a genuine packet of a Quell flow reaches its host, a number of made-up
 * packets of the same connection do: options and numbers changed, checksums
 * wrong, cut, in pages, cloned.  After each
 * of them this module checks:
 *
 *	- quell.ko counted it once, in the counter of its defect
 *	- if it must be refused: the flow's context, to the byte, its exported state
 *	  and TCP's state of the connection are as they were
 *	- an echo on an ACK that is sampled was refused, and counted, or believed,
 *	  as labspoof_make_echo() requires
 *	- an echo that was believed is of a departure the flow had, not before its
 *	  oldest data outstanding nor after its newest
 *	- a clone, as a sniffer has it, was not written to
 *
 * The genuine packet follows, so the flow goes on, and must complete unharmed.
 *
 *	debugfs quell_labspoof:	"case NAME sent", "expected COUNTER sent", then
 *				"NAME number" for totals and errors
 *
 * Everything happens in softirq, of which the laboratory has one at a time.
 */
#include <linux/debugfs.h>
#include <linux/ip.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/netfilter_ipv4.h>
#include <linux/percpu.h>
#include <linux/seq_file.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/unaligned.h>
#include <net/ip.h>
#include <net/tcp.h>
#include <compat/inet_lookup.h>
#include <quell/core/signal/echo.h>

#include "flow/flow.h"
#include "netns/counters.h"
#include "netns/net.h"
#include "signal/signal.h"

/* Longest header options. */
#define LABSPOOF_OPTIONS_MAX	40

/* The one counter of quell.ko that must count a packet. */
enum labspoof_verdict {
	LABSPOOF_NO_OPTION,		/* accepted, has no option: not counted */
	LABSPOOF_RECEIVED,
	LABSPOOF_MALFORMED,
	LABSPOOF_BAD_CHECKSUM,
	LABSPOOF_OUT_OF_WINDOW,
	LABSPOOF_SEGMENT_MALFORMED,
	LABSPOOF_SEGMENT_BAD_CHECKSUM,
	LABSPOOF_SEGMENT_OUT_OF_WINDOW,
	LABSPOOF_NACK_MALFORMED,
	LABSPOOF_NACK_OUTSIDE,
	LABSPOOF_NACK_STALE,
	LABSPOOF_NACK_CHECKED,		/* of outstanding data: useful, outside or stale */
	LABSPOOF_VERDICTS,
};

/* The state of a packet's checksum. */
enum labspoof_sum {
	LABSPOOF_SUM_RIGHT,
	LABSPOOF_SUM_WRONG,		/* to be found by software */
	LABSPOOF_SUM_WRONG_COMPLETE,	/* the NIC gave the sum of the packet */
	LABSPOOF_SUM_WRONG_TRUSTED,	/* the NIC claims that it is right */
	LABSPOOF_SUMS,
};

/* The result required for a packet's echo. */
enum labspoof_echo {
	LABSPOOF_ECHO_ANY,		/* either result is allowed */
	LABSPOOF_ECHO_REFUSED,
	LABSPOOF_ECHO_BELIEVED,
	LABSPOOF_ECHO_DELAYED,		/* neither: a lone segment's ACK waited */
	LABSPOOF_ECHOES,
};

/* Departure times of a flow's packets. */
struct labspoof_departures {
	/* Departure of the oldest data outstanding; 0 if there is no such data. */
	u64	oldest_ns;
	u64	newest_ns;	/* newest departure a packet was stamped with */
	u32	flight_pkts;	/* segments in flight */
	bool	has_resent;	/* some packet left again since the oldest */
	u32	stamp_secret;	/* secret added to departure times to form stamps */
};

/* A packet to be made up. */
struct labspoof_packet {
	/* Genuine packet to start from, from the network header on. */
	const struct sk_buff	*skb;
	const struct sock	*sk;	/* receiving socket */
	u8			options[LABSPOOF_OPTIONS_MAX];	/* TCP options */
	u32			options_bytes;	/* length of @options, a multiple of 4 */
	u32			seq;	/* sequence number */
	u32			ack_seq;	/* acknowledgment number */
	u8			doff;	/* header length to claim, in words; 0: the true one */
	bool			alone;	/* no payload, and no PSH, URG, ECE or CWR flag */
	bool			bare;	/* with @alone: no ACK flag either */
	/* No flags, payload kept; TCP drops the packet and does not answer. */
	bool			flagless;
	enum labspoof_sum	sum;	/* state of the checksum */
	enum labspoof_verdict	verdict;	/* counter that must count the packet */
	bool			rejected;	/* the packet must not change the flow's state */
	struct labspoof_departures left;	/* departures of the flow */
	enum labspoof_echo	echo;	/* result required for the echo */
};

static u64 random_state;

static void labspoof_seed(u64 seed)
{
	random_state = seed * 0x9e3779b97f4a7c15ULL + 1;
}

/* xorshift64*: not the kernel's generator, so that a seed means the same anywhere. */
static u32 labspoof_random(u32 below)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (u32)((random_state * 0x2545f4914f6cdd1dULL) >> 32) % below;
}

/* Flags of the option. */
#define FLAG_DATA		0x01
#define FLAG_ACK		0x02
#define FLAG_TELEMETRY		0x04
#define FLAG_RECORD		0x08

/*
 * Made-up echoes on ACKs that are sampled.
 *
 * quell.ko reads an echo when TCP has processed its ACK, and only if that ACK
 * acknowledged new data.  So such an ACK is made from the genuine one that follows: it
 * acknowledges a few bytes of the genuine ACK's, which the receiver has.  The result
 * required for each echo follows from the flow's departures:
 *
 *	before the oldest data outstanding	refused
 *	at receipt, or after			refused
 *	from the oldest to the newest		believed
 *	after the newest, before receipt	believed: the rest was held; but of a lone
 *						segment neither, it waited more than 50 us
 */

/* Bytes of an option with the ACK section, and of the short form. */
#define ACK_BYTES		16
#define SHORT_BYTES		8

/* Most bytes that each ACK acknowledges, so that enough are left for many ACKs. */
#define STEP_MAX_BYTES		8
/* A round trip is below 2^31 ns. */
#define LIMIT_NS		0x80000000U

/* A distance beyond an edge: 1 ns to 2^30 ns, of any magnitude. */
static u64 beyond_ns(void)
{
	return 1 + labspoof_random(1U << labspoof_random(31));
}

/* A time between the two, both included. */
static u64 within_ns(u64 low_ns, u64 high_ns)
{
	return low_ns + labspoof_random(min_t(u64, high_ns - low_ns, LIMIT_NS) + 1);
}

static enum labspoof_echo result_of(const struct labspoof_departures *left, u64 now_ns,
				    u32 echo_ns)
{
	u32 rtt_ns = (u32)now_ns - echo_ns;
	u64 depart_ns = now_ns - rtt_ns;

	if (!rtt_ns || rtt_ns >= LIMIT_NS || rtt_ns > now_ns || depart_ns < left->oldest_ns)
		return LABSPOOF_ECHO_REFUSED;
	if (left->flight_pkts != 1 || (depart_ns <= left->newest_ns && !left->has_resent))
		return LABSPOOF_ECHO_BELIEVED;
	/* The packet that the ACK acknowledges may have left before the newest. */
	return depart_ns > left->newest_ns + QUELL_ECHO_WAIT_NS ? LABSPOOF_ECHO_DELAYED :
								  LABSPOOF_ECHO_ANY;
}

static u32 pick_echo(const struct labspoof_departures *left, u64 now_ns)
{
	switch (labspoof_random(6)) {
	case 0:
		return left->oldest_ns - beyond_ns();
	case 1:
		return left->newest_ns + beyond_ns();
	case 2:
		return now_ns + labspoof_random(2) * beyond_ns();
	case 3:
		return labspoof_random(U32_MAX);
	case 4:
		return within_ns(left->newest_ns, max(left->newest_ns, now_ns));
	default:
		return within_ns(left->oldest_ns, left->newest_ns);
	}
}

static void put_option(struct labspoof_packet *packet, u32 stamp)
{
	u8 *option = packet->options;
	bool full = labspoof_random(4);

	packet->options_bytes = full ? ACK_BYTES : SHORT_BYTES;
	memset(option, 0, ACK_BYTES);
	option[0] = 254;
	option[1] = packet->options_bytes;
	option[2] = 0x51;
	option[3] = 0x55;
	if (full) {
		option[4] = FLAG_ACK;
		/* Any hold time, mostly longer than the round trip. */
		put_unaligned_be32(labspoof_random(U32_MAX), option + 10);
		option += 2;
	}
	put_unaligned_be32(stamp, option + 4);
}

/* Outstanding bytes that an ACK acknowledges.  The socket is not owned by a process. */
static u32 labspoof_echo_room(const struct sock *sk, u32 ack_seq)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return after(ack_seq, tp->snd_una) && !after(ack_seq, tp->snd_nxt) ?
	       ack_seq - tp->snd_una : 0;
}

/*
 * Make up an ACK that is sampled, with a made-up echo; labspoof_echo_room() is 2 or more.  The
 * socket is not owned by a process.
 */
static void labspoof_make_echo(struct labspoof_packet *packet)
{
	u32 room = labspoof_echo_room(packet->sk, packet->ack_seq);
	u64 now_ns = ktime_get_ns();
	u32 echo_ns = pick_echo(&packet->left, now_ns);

	packet->ack_seq = tcp_sk(packet->sk)->snd_una + 1 +
			  labspoof_random(min_t(u32, room - 1, STEP_MAX_BYTES));
	packet->echo = result_of(&packet->left, now_ns, echo_ns);
	put_option(packet, echo_ns + packet->left.stamp_secret);
	packet->verdict = LABSPOOF_RECEIVED;
}

/*
 * Bytes of a made-up packet, and the shapes drivers and GRO give
 * packets in memory.
 */

#define HEADROOM_BYTES	128

static u32 payload_bytes(const struct sk_buff *skb)
{
	return skb->len - skb_transport_offset(skb) - tcp_hdrlen(skb);
}

/* Length of the genuine payload that the packet keeps. */
static u32 kept_bytes(const struct labspoof_packet *packet)
{
	return packet->alone ? 0 : payload_bytes(packet->skb);
}

/* The headers of the genuine packet with other options and numbers. */
static void put_headers(struct sk_buff *skb, const struct labspoof_packet *packet)
{
	u32 tcp_bytes = sizeof(struct tcphdr) + packet->options_bytes;
	struct tcphdr *th;
	struct iphdr *iph;

	iph = skb_put_data(skb, ip_hdr(packet->skb), sizeof(*iph));
	iph->ihl = sizeof(*iph) / 4;
	iph->tot_len = htons(sizeof(*iph) + tcp_bytes + kept_bytes(packet));
	ip_send_check(iph);
	th = skb_put_data(skb, tcp_hdr(packet->skb), sizeof(*th));
	th->seq = htonl(packet->seq);
	th->ack_seq = htonl(packet->ack_seq);
	th->doff = packet->doff ?: tcp_bytes / 4;
	th->check = 0;
	if (packet->alone) {
		tcp_flag_word(th) &= ~(TCP_FLAG_PSH | TCP_FLAG_URG | TCP_FLAG_ECE | TCP_FLAG_CWR);
		th->ack = !packet->bare;
	}
	if (packet->flagless)
		((u8 *)th)[13] = 0;
	skb_put_data(skb, packet->options, packet->options_bytes);
}

static void put_checksum(struct sk_buff *skb, enum labspoof_sum sum)
{
	u32 tcp_bytes = skb->len - sizeof(struct iphdr);
	struct tcphdr *th = tcp_hdr(skb);
	__wsum whole;

	th->check = tcp_v4_check(tcp_bytes, ip_hdr(skb)->saddr, ip_hdr(skb)->daddr,
				 csum_partial(th, tcp_bytes, 0));
	/* XOR with 1..0xfffe: 0xffff could turn one zero of the sum into the other. */
	if (sum != LABSPOOF_SUM_RIGHT)
		th->check = (__force __sum16)((__force u16)th->check ^
					      (1 + labspoof_random(0xfffe)));
	skb->ip_summed = CHECKSUM_NONE;
	if (sum == LABSPOOF_SUM_WRONG_TRUSTED)
		skb->ip_summed = CHECKSUM_UNNECESSARY;
	if (sum == LABSPOOF_SUM_WRONG_COMPLETE) {
		whole = csum_partial(skb->data, skb->len, 0);
		skb->csum = whole;
		skb->ip_summed = CHECKSUM_COMPLETE;
	}
}

/* Linear, from the network header on; NULL if out of memory. */
static struct sk_buff *labspoof_build(const struct labspoof_packet *packet)
{
	u32 offset = skb_transport_offset(packet->skb) + tcp_hdrlen(packet->skb);
	u32 payload = kept_bytes(packet);
	struct sk_buff *skb;

	skb = alloc_skb(HEADROOM_BYTES + sizeof(struct iphdr) + sizeof(struct tcphdr) +
			packet->options_bytes + payload, GFP_ATOMIC);
	if (!skb)
		return NULL;
	skb_reserve(skb, HEADROOM_BYTES);
	skb_reset_mac_header(skb);
	skb_reset_network_header(skb);
	skb_set_transport_header(skb, sizeof(struct iphdr));
	put_headers(skb, packet);
	if (skb_copy_bits(packet->skb, offset, skb_put(skb, payload), payload)) {
		kfree_skb(skb);
		return NULL;
	}
	put_checksum(skb, packet->sum);
	skb->dev = packet->skb->dev;
	skb->skb_iif = packet->skb->skb_iif;
	skb->protocol = htons(ETH_P_IP);
	skb->pkt_type = PACKET_HOST;
	skb->mac_len = 0;
	return skb;
}

/* Move all but the first @linear bytes into a page, options or not. */
static bool into_page(struct sk_buff *skb, u32 linear)
{
	u32 bytes = skb->len - linear;
	struct page *page;

	page = alloc_page(GFP_ATOMIC);
	if (!page)
		return false;
	skb_copy_bits(skb, linear, page_address(page), bytes);
	__skb_trim(skb, linear);
	skb_add_rx_frag(skb, 0, page, 0, bytes, PAGE_SIZE);
	return true;
}

static void mark_gso(struct sk_buff *skb)
{
	u32 payload = payload_bytes(skb);

	skb_shinfo(skb)->gso_size = payload / 2;
	skb_shinfo(skb)->gso_segs = 2;
	skb_shinfo(skb)->gso_type = SKB_GSO_TCPV4;
}

/*
 * Give a packet one of the layouts that drivers and GRO produce.  Any part of it, headers included,
 * may lie in a page; it may share its data with a clone, as under tcpdump; it may be marked as
 * merged by GRO.  Returns the clone, to be freed by the caller, or NULL.
 */
static struct sk_buff *labspoof_dress(struct sk_buff *skb)
{
	u32 tcp_at = sizeof(struct iphdr);
	u32 header = tcp_at + tcp_hdrlen(skb);
	bool right = tcp_hdrlen(skb) >= sizeof(struct tcphdr) && header <= skb->len;

	if (right && payload_bytes(skb) > 1 && !labspoof_random(4))
		mark_gso(skb);
	switch (labspoof_random(4)) {
	case 0:		/* from somewhere in the headers on */
		if (right)
			into_page(skb, tcp_at + labspoof_random(header - tcp_at));
		break;
	case 1:		/* from the payload on, as most drivers do */
		if (right && skb->len > header)
			into_page(skb, header);
		break;
	}
	return labspoof_random(3) ? NULL : skb_clone(skb, GFP_ATOMIC);
}

/*
 * The kinds of bad packets, and the reaction each must cause.
 *
 * Each case starts from a genuine packet of a flow, with the numbers of that
 * packet, and changes one thing.  The expected counter is derived here from
 * the text of Documentation/wire-format.md, without calling the codec.
 *
 * No payload gets a made-up sequence number inside the window, and options that
 * TCP itself reads are not made up: TCP would accept both, with or without Quell.
 */

#define KIND_END		0
#define KIND_NOP		1
#define KIND_EXPERIMENT		254

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

#define LABSPOOF_CASE_ECHO_SAMPLED	1

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

static const char * const labspoof_case_names[] = {
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

static const u32 labspoof_cases_nr = ARRAY_SIZE(makers);

/* Make up a packet of one case.  The socket is not owned by a process. */
static void labspoof_make(u32 number, struct labspoof_packet *packet)
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

/* Marks made-up packets, so that they do not cause more of them. */
#define LABSPOOF_MARK		0x73706f6f
#define LABSPOOF_COPIES_MAX	10000
/* Copies with a sampled echo come first: later copies acknowledge the data themselves. */
#define LABSPOOF_SAMPLED_FIRST	16
/* One in this many genuine packets without news is used: most answer made-up packets. */
#define LABSPOOF_IDLE_OF	16
/* Errors of a kind that are printed; all are counted. */
#define LABSPOOF_SHOWN_MAX	20

static unsigned int seed = 1;
module_param(seed, uint, 0444);
MODULE_PARM_DESC(seed, "Decides what is made up");

static unsigned int copies = 16;
module_param(copies, uint, 0444);
MODULE_PARM_DESC(copies, "Packets made up before each genuine one, 1..10000");

static unsigned int packets = 100000;
module_param(packets, uint, 0444);
MODULE_PARM_DESC(packets, "Packets made up in all");

static const struct {
	const char *name;
	enum quell_counter counter;
} verdicts[LABSPOOF_VERDICTS] = {
	[LABSPOOF_RECEIVED] = { "option-received", QUELL_N_OPTION_RECEIVED },
	[LABSPOOF_MALFORMED] = { "option-malformed", QUELL_N_OPTION_MALFORMED },
	[LABSPOOF_BAD_CHECKSUM] = { "option-bad-checksum", QUELL_N_OPTION_BAD_CHECKSUM },
	[LABSPOOF_OUT_OF_WINDOW] = { "option-out-of-window", QUELL_N_OPTION_OUT_OF_WINDOW },
	[LABSPOOF_SEGMENT_MALFORMED] = { "segment-malformed", QUELL_N_SEGMENT_MALFORMED },
	[LABSPOOF_SEGMENT_BAD_CHECKSUM] = { "segment-bad-checksum",
					    QUELL_N_SEGMENT_BAD_CHECKSUM },
	[LABSPOOF_SEGMENT_OUT_OF_WINDOW] = { "segment-out-of-window",
					     QUELL_N_SEGMENT_OUT_OF_WINDOW },
	[LABSPOOF_NACK_MALFORMED] = { "nack-malformed", QUELL_N_NACK_MALFORMED },
	[LABSPOOF_NACK_OUTSIDE] = { "nack-outside", QUELL_N_NACK_OUTSIDE },
	[LABSPOOF_NACK_STALE] = { "nack-stale", QUELL_N_NACK_STALE },
	[LABSPOOF_NACK_CHECKED] = { "nack-recovered", QUELL_N_NACK_RECOVERED },
};

/* State that a refused packet must not change. */
struct labspoof_state {
	struct quell_flow	flow;	/* the flow's context */
	/* Departure of the oldest data outstanding; 0 if there is no such data. */
	u64			oldest_ns;
	/* Round trips taken from echoes, and echoes refused. */
	u64			echoes[LABSPOOF_ECHOES];
	/* Counters, by enum labspoof_verdict. */
	u64			counted[LABSPOOF_VERDICTS];
	/* From here on: state of the socket. */
	u32			snd_una, snd_nxt, rcv_nxt, snd_cwnd, snd_ssthresh;
	u32			srtt_us, min_rtt_us, mss_cache, sacked_out, lost_out, retrans_out;
	u16			ext_hdr_len;
	u8			quick_acks;
	u8			ca_state;
};

static struct labspoof_state was, now;
static u64 *sent_by_case;
static u64 sent_by_verdict[LABSPOOF_VERDICTS];
static u64 sent_by_echo[LABSPOOF_ECHOES];
static u64 sent, wrong, changed, impossible, misjudged, refused, overwritten;
static struct dentry *labspoof_file;

static u64 counter_value(const struct quell_net *qnet, enum quell_counter counter)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu_ptr(qnet->counters, cpu)->value[counter];
	return sum;
}

static void take_state(struct labspoof_state *state, const struct sock *sk,
		       const struct quell_flow *flow)
{
	const struct quell_segments *segments = &flow->segments;
	const struct tcp_sock *tp = tcp_sk(sk);
	int i;

	state->oldest_ns = segments->head == segments->tail ? 0 :
		segments->ring[segments->head & (segments->size - 1)].depart_ns;
	memcpy(&state->flow, flow, sizeof(*flow));
	for (i = LABSPOOF_RECEIVED; i < LABSPOOF_VERDICTS; i++)
		state->counted[i] = counter_value(flow->qnet, verdicts[i].counter);
	state->echoes[LABSPOOF_ECHO_REFUSED] = counter_value(flow->qnet,
							     QUELL_N_RTT_ECHO_REFUSED);
	state->echoes[LABSPOOF_ECHO_BELIEVED] = counter_value(flow->qnet, QUELL_N_RTT_ECHO);
	state->snd_una = tp->snd_una;
	state->snd_nxt = tp->snd_nxt;
	state->rcv_nxt = tp->rcv_nxt;
	state->snd_cwnd = tp->snd_cwnd;
	state->snd_ssthresh = tp->snd_ssthresh;
	state->srtt_us = tp->srtt_us;
	state->min_rtt_us = tcp_min_rtt(tp);
	state->mss_cache = tp->mss_cache;
	state->sacked_out = tp->sacked_out;
	state->lost_out = tp->lost_out;
	state->retrans_out = tp->retrans_out;
	state->ext_hdr_len = inet_csk(sk)->icsk_ext_hdr_len;
	state->quick_acks = inet_csk(sk)->icsk_ack.quick;
	state->ca_state = inet_csk(sk)->icsk_ca_state;
}

/*
 * A NACK of outstanding data may be counted as recovered, stale or outside: accept any of
 * them.  Do not count the option that carries its echo.
 */
static void merge_nacks(enum labspoof_verdict verdict)
{
	if (verdict != LABSPOOF_NACK_CHECKED)
		return;
	now.counted[LABSPOOF_RECEIVED] = was.counted[LABSPOOF_RECEIVED];
	now.counted[LABSPOOF_NACK_CHECKED] += now.counted[LABSPOOF_NACK_OUTSIDE] -
					      was.counted[LABSPOOF_NACK_OUTSIDE];
	now.counted[LABSPOOF_NACK_OUTSIDE] = was.counted[LABSPOOF_NACK_OUTSIDE];
	now.counted[LABSPOOF_NACK_CHECKED] += now.counted[LABSPOOF_NACK_STALE] -
					      was.counted[LABSPOOF_NACK_STALE];
	now.counted[LABSPOOF_NACK_STALE] = was.counted[LABSPOOF_NACK_STALE];
}

/* The packet must be counted once, in the counter of its verdict. */
static void check_counters(u32 number, enum labspoof_verdict verdict)
{
	int i;

	for (i = LABSPOOF_RECEIVED; i < LABSPOOF_VERDICTS; i++) {
		if (now.counted[i] - was.counted[i] == (u64)(i == verdict))
			continue;
		if (wrong++ < LABSPOOF_SHOWN_MAX)
			pr_err("quell_labspoof: packet %llu, case %s: %s counted %llu, not %d\n",
			       sent, labspoof_case_names[number], verdicts[i].name,
			       now.counted[i] - was.counted[i], i == verdict);
		return;
	}
}

/*
 * Ignore lockdep data in locks, set when they are first taken, and the timer's
 * neighbours in the timer tree.
 */
static void skip_plumbing(void)
{
	memcpy(&now.flow.lock, &was.flow.lock, sizeof(spinlock_t));
	memcpy(&now.flow.tail.timer.node.node, &was.flow.tail.timer.node.node,
	       sizeof(struct rb_node));
}

/*
 * TCP may answer with an ACK, which carries the pending echo: pending echoes may
 * become fewer but not more.  If data that was to be acknowledged at once is not, because TCP
 * has not taken it, the timer looks for its ACK.
 */
static void check_state(u32 number, bool is_answered)
{
	const u8 *a = (const u8 *)&was, *b = (const u8 *)&now;
	u32 at = 0;

	if (now.flow.echo.nr < was.flow.echo.nr) {
		now.flow.echo = was.flow.echo;
		memcpy(now.flow.echo_few, was.flow.echo_few, sizeof(now.flow.echo_few));
	}
	skip_plumbing();
	if (is_answered)
		now.quick_acks = was.quick_acks;
	if (is_answered && was.flow.delack.expedited && !now.flow.delack.expedited) {
		now.flow.delack.expedited = true;
		now.flow.tail = was.flow.tail;
	}
	/* Every NACK is counted, useful or not. */
	now.flow.recover.received = was.flow.recover.received;
	memcpy(now.counted, was.counted, sizeof(now.counted));
	if (!memcmp(&was, &now, sizeof(was)))
		return;
	while (a[at] == b[at])
		at++;
	if (changed++ < LABSPOOF_SHOWN_MAX)
		pr_err("quell_labspoof: packet %llu, case %s: the flow changed at byte %u of %zu\n",
		       sent, labspoof_case_names[number], at, sizeof(was.flow));
}

/*
 * Every packet is a sample of its own here: the sample's round-trip time is that of the
 * echo, or the flow's or the stack's minimum if the echo's is less.
 */
static void check_echo(u32 number)
{
	u64 floor_ns = max_t(u64, was.flow.now.min_rtt_ns, was.min_rtt_us * (u64)NSEC_PER_USEC);
	u64 most_ns = max(ktime_get_ns() - was.oldest_ns, floor_ns);
	u64 least_ns = max(ktime_get_ns(), was.flow.depart_ns) - was.flow.depart_ns;

	if (now.flow.echoes == was.flow.echoes ||
	    (now.flow.now.rtt_ns >= least_ns && now.flow.now.rtt_ns <= most_ns))
		return;
	if (impossible++ < LABSPOOF_SHOWN_MAX)
		pr_err("quell_labspoof: packet %llu, case %s: round trip of %llu ns, not %llu..%llu\n",
		       sent, labspoof_case_names[number], now.flow.now.rtt_ns, least_ns, most_ns);
}

/* The echo must be refused or believed as required. */
static void check_outcome(u32 number, enum labspoof_echo echo)
{
	u64 moved[LABSPOOF_ECHOES] = {
		[LABSPOOF_ECHO_REFUSED] = now.echoes[LABSPOOF_ECHO_REFUSED] -
					  was.echoes[LABSPOOF_ECHO_REFUSED],
		[LABSPOOF_ECHO_BELIEVED] = now.echoes[LABSPOOF_ECHO_BELIEVED] -
					   was.echoes[LABSPOOF_ECHO_BELIEVED],
	};
	u64 refuse = echo == LABSPOOF_ECHO_REFUSED, believe = echo == LABSPOOF_ECHO_BELIEVED;

	refused += moved[LABSPOOF_ECHO_REFUSED];
	if (echo == LABSPOOF_ECHO_ANY || (moved[LABSPOOF_ECHO_REFUSED] == refuse &&
					  moved[LABSPOOF_ECHO_BELIEVED] == believe))
		return;
	if (misjudged++ < LABSPOOF_SHOWN_MAX)
		pr_err("quell_labspoof: packet %llu, case %s: %llu echoes refused, %llu believed, not %llu and %llu\n",
		       sent, labspoof_case_names[number], moved[LABSPOOF_ECHO_REFUSED],
		       moved[LABSPOOF_ECHO_BELIEVED], refuse, believe);
}

static void check_clone(u32 number, struct sk_buff *clone, __wsum sum, u32 bytes)
{
	if (clone->len == bytes && skb_checksum(clone, 0, bytes, 0) == sum)
		return;
	if (overwritten++ < LABSPOOF_SHOWN_MAX)
		pr_err("quell_labspoof: packet %llu, case %s: its clone was written to\n",
		       sent, labspoof_case_names[number]);
}

static void send_one(struct sk_buff *skb, u32 number)
{
	struct sk_buff *clone = labspoof_dress(skb);
	u32 bytes = skb->len;
	__wsum sum = 0;

	if (clone)
		sum = skb_checksum(clone, 0, bytes, 0);
	skb->mark = LABSPOOF_MARK;
	netif_receive_skb(skb);
	if (!clone)
		return;
	check_clone(number, clone, sum, bytes);
	kfree_skb(clone);
}

/* Context of a flow that negotiated the option; NULL if a process owns the socket. */
static const struct quell_flow *flow_of(const struct sock *sk)
{
	if (!sk_fullsock(sk) || sk->sk_state != TCP_ESTABLISHED || sock_owned_by_user_nocheck(sk) ||
	    !quell_cc_ready(sk) || !quell_cc(sk)->flow || quell_cc(sk)->flow->sk != sk ||
	    quell_cc(sk)->flow->option != QUELL_OPTION_ON)
		return NULL;
	return quell_cc(sk)->flow;
}

static bool spoof_one(const struct sock *sk, const struct sk_buff *genuine, u32 number)
{
	const struct quell_flow *flow = flow_of(sk);
	struct labspoof_packet packet = { .skb = genuine, .sk = sk };
	struct sk_buff *skb;

	if (!flow)
		return false;
	take_state(&was, sk, flow);
	packet.left = (struct labspoof_departures) {
		.oldest_ns = was.oldest_ns,
		.newest_ns = was.flow.depart_ns,
		.has_resent = was.flow.retransmits &&
			      (s32)(was.flow.resent_depart_ns - (u32)was.oldest_ns) >= 0,
		.flight_pkts = tcp_packets_in_flight(tcp_sk(sk)),
		.stamp_secret = was.flow.stamp_secret,
	};
	labspoof_make(number, &packet);
	skb = labspoof_build(&packet);
	if (!skb)
		return false;
	send_one(skb, number);
	sent++;
	sent_by_case[number]++;
	sent_by_verdict[packet.verdict]++;
	sent_by_echo[packet.echo]++;
	if (flow_of(sk) != flow)
		return false;
	take_state(&now, sk, flow);
	merge_nacks(packet.verdict);
	check_counters(number, packet.verdict);
	check_echo(number);
	check_outcome(number, packet.echo);
	if (packet.rejected)
		check_state(number, !packet.flagless);
	return true;
}

/* Use packets with data or a new acknowledgment, and some of the others. */
static bool is_worth_it(const struct sock *sk, const struct sk_buff *skb,
			const struct tcphdr *th)
{
	return skb->len > skb_transport_offset(skb) + __tcp_hdrlen(th) ||
	       labspoof_echo_room(sk, ntohl(th->ack_seq)) ||
	       !labspoof_random(LABSPOOF_IDLE_OF);
}

static void spoof(struct net *net, struct sk_buff *skb, const struct tcphdr *th)
{
	struct sock *sk;
	u32 i, number;

	sk = quell_inet_lookup(net, skb, th);
	if (!sk)
		return;
	if (!sk_fullsock(sk) || !is_worth_it(sk, skb, th))
		goto out;
	for (i = 0; i < copies && sent < packets; i++) {
		number = labspoof_random(labspoof_cases_nr);
		if (i < LABSPOOF_SAMPLED_FIRST &&
		    labspoof_echo_room(sk, ntohl(th->ack_seq)) > 1)
			number = LABSPOOF_CASE_ECHO_SAMPLED;
		if (!spoof_one(sk, skb, number))
			break;
	}
out:
	sock_gen_put(sk);
}

static unsigned int labspoof_hook(void *priv, struct sk_buff *skb,
				  const struct nf_hook_state *state)
{
	const struct tcphdr *th;

	if (sent >= packets || skb->mark == LABSPOOF_MARK ||
	    ip_hdr(skb)->protocol != IPPROTO_TCP || ip_is_fragment(ip_hdr(skb)) ||
	    !pskb_may_pull(skb, ip_hdrlen(skb) + sizeof(*th)))
		return NF_ACCEPT;
	skb_set_transport_header(skb, ip_hdrlen(skb));
	th = tcp_hdr(skb);
	if (th->ack && !th->syn && !th->fin && !th->rst)
		spoof(state->net, skb, th);
	return NF_ACCEPT;
}

static const struct nf_hook_ops labspoof_hook_ops = {
	.hook		= labspoof_hook,
	.pf		= NFPROTO_IPV4,
	.hooknum	= NF_INET_PRE_ROUTING,
	.priority	= NF_IP_PRI_FIRST,
};

static int __net_init labspoof_net_init(struct net *net)
{
	return nf_register_net_hook(net, &labspoof_hook_ops);
}

static void __net_exit labspoof_net_exit(struct net *net)
{
	nf_unregister_net_hook(net, &labspoof_hook_ops);
}

static struct pernet_operations labspoof_net_ops = {
	.init	= labspoof_net_init,
	.exit	= labspoof_net_exit,
};

static int labspoof_show(struct seq_file *seq, void *unused)
{
	int i;

	for (i = 0; i < labspoof_cases_nr; i++)
		seq_printf(seq, "case %s %llu\n", labspoof_case_names[i], sent_by_case[i]);
	for (i = LABSPOOF_RECEIVED; i < LABSPOOF_VERDICTS; i++)
		seq_printf(seq, "expected %s %llu\n", verdicts[i].name, sent_by_verdict[i]);
	seq_printf(seq, "plain %llu\nsent %llu\n", sent_by_verdict[LABSPOOF_NO_OPTION], sent);
	seq_printf(seq, "miscounted %llu\nchanged %llu\nimpossible %llu\noverwritten %llu\n",
		   wrong, changed, impossible, overwritten);
	seq_printf(seq, "misjudged %llu\nrefused %llu\nmust-refuse %llu\nmust-believe %llu\n",
		   misjudged, refused, sent_by_echo[LABSPOOF_ECHO_REFUSED],
		   sent_by_echo[LABSPOOF_ECHO_BELIEVED]);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(labspoof);

static int __init labspoof_init(void)
{
	int err;

	if (!copies || copies > LABSPOOF_COPIES_MAX) {
		pr_err("quell_labspoof: copies=%u must be 1..%u\n", copies,
		       LABSPOOF_COPIES_MAX);
		return -EINVAL;
	}
	labspoof_seed(seed);
	sent_by_case = kcalloc(labspoof_cases_nr, sizeof(*sent_by_case), GFP_KERNEL);
	if (!sent_by_case)
		return -ENOMEM;
	err = register_pernet_subsys(&labspoof_net_ops);
	if (err) {
		kfree(sent_by_case);
		return err;
	}
	labspoof_file = debugfs_create_file("quell_labspoof", 0400, NULL, NULL,
					    &labspoof_fops);
	return 0;
}
module_init(labspoof_init);

static void __exit labspoof_exit(void)
{
	debugfs_remove(labspoof_file);
	unregister_pernet_subsys(&labspoof_net_ops);
	kfree(sent_by_case);
}
module_exit(labspoof_exit);

MODULE_DESCRIPTION("Bad input for the Quell TCP option, for the laboratory");
MODULE_AUTHOR("The Quell authors");
MODULE_LICENSE("GPL");

// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labspoof: made-up echoes on ACKs that are sampled.
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
#include <linux/ktime.h>
#include <linux/string.h>
#include <linux/unaligned.h>
#include <net/tcp.h>

#include <quell/core/signal/echo.h>

#include "labspoof.h"

#define FLAG_ACK		0x02

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
u32 labspoof_echo_room(const struct sock *sk, u32 ack_seq)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return after(ack_seq, tp->snd_una) && !after(ack_seq, tp->snd_nxt) ?
	       ack_seq - tp->snd_una : 0;
}

/*
 * Make up an ACK that is sampled, with a made-up echo; labspoof_echo_room() is 2 or more.  The
 * socket is not owned by a process.
 */
void labspoof_make_echo(struct labspoof_packet *packet)
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

// SPDX-License-Identifier: GPL-2.0
/*
 * Signal plane, last hook in LOCAL_IN: data that TCP would accept.
 *
 * It counts for the set of active senders, dasr.c, which may take the mark off the packet.
 *
 * Each data packet must be acknowledged at once: windows below one packet would
 * otherwise wait for the 40 ms of a delayed ACK.  The socket is kept in quick-ACK mode
 * under its lock, which TCP takes next for the packet anyway.  Only the ACK of a request
 * may wait for a prompt answer, answer.c.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>
#include <net/tcp.h>
#include <quell/option.h>
#include "flow/answer.h"
#include "flow/dasr.h"
#include "flow/flow.h"
#include "hooks/receive.h"
#include "netns/counters.h"
#include "netns/net.h"

/* Quick ACKs granted, the maximum of the field; renewed when half are used. */
#define QUICK_ACKS_MAX		255
#define QUICK_ACKS_FEW		128

/*
 * Takes the mark off a packet, as if no switch had set it.  Return: false when memory is short,
 * and TCP gets the mark.
 */
static bool receive_hide_mark(struct sk_buff *skb)
{
	bool is_v4 = ip_hdr(skb)->version == 4;
	__be32 before;

	if (skb_ensure_writable(skb, is_v4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr)))
		return false;
	if (is_v4) {
		ipv4_change_dsfield(ip_hdr(skb), (__u8)~INET_ECN_MASK, INET_ECN_ECT_0);
		return true;
	}
	/* TCP subtracts this header from the sum of the packet; IPv4's sums to zero. */
	before = *(__be32 *)ipv6_hdr(skb);
	ipv6_change_dsfield(ipv6_hdr(skb), (__u8)~INET_ECN_MASK, INET_ECN_ECT_0);
	if (skb->ip_summed == CHECKSUM_COMPLETE)
		skb->csum = csum_add(csum_sub(skb->csum, (__force __wsum)before),
				     *(__wsum *)ipv6_hdr(skb));
	return true;
}

/* Data for the set of active senders. */
static void receive_count_sender(struct quell_flow *flow, const struct sock *sk,
				 const struct receive_segment *segment)
{
	struct quell_dasr_packet packet = {
		.ifindex = segment->skb->dev->ifindex,
		.seq = segment->in->seq,
		.end_seq = segment->in->seq + segment->payload_bytes,
		.flags = segment->opt ? segment->opt->flags : 0,
		.pushed = segment->in->pushed,
		.marked = segment->in->marked,
	};

	if (quell_dasr_receive(flow, sk, &packet) && receive_hide_mark(segment->skb))
		quell_count(flow->qnet, QUELL_N_DASR_MARKS_HIDDEN);
}

/*
 * Makes TCP acknowledge a data packet at once, under the lock that TCP takes next anyway;
 * while a process owns the socket, TCP decides on that packet's ACK.
 */
static void receive_hasten_ack(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);

	if (READ_ONCE(icsk->icsk_ack.quick) >= QUICK_ACKS_FEW && !inet_csk_in_pingpong_mode(sk))
		return;
	local_bh_disable();
	bh_lock_sock_nested(sk);
	if (!sock_owned_by_user(sk)) {
		icsk->icsk_ack.quick = QUICK_ACKS_MAX;
		inet_csk_exit_pingpong_mode(sk);
	}
	bh_unlock_sock(sk);
	local_bh_enable();
}

/* Whether the ACK of a data packet may wait. */
static bool receive_may_wait(struct quell_flow *flow, const struct sock *sk,
			     const struct receive_segment *segment)
{
	u8 flags = segment->opt ? segment->opt->flags : 0;
	struct quell_question question = {
		.ack_seq = segment->in->ack_seq,
		.rx_ns = segment->arrival.rx_ns,
		.ends = quell_opt_ends(flags, segment->in->pushed),
		.marked = segment->in->marked,
	};

	return quell_answer_expect(flow, sk, &question);
}

/**
 * quell_receive_data() - data for its sender's count, and how soon it is acknowledged
 * @flow:    flow
 * @sk:	     its socket
 * @segment: data that TCP would accept; its mark may be taken off
 *
 * Context: LOCAL_IN hook, RCU read section; not the socket lock.
 */
void quell_receive_data(struct quell_flow *flow, struct sock *sk,
			const struct receive_segment *segment)
{
	receive_count_sender(flow, sk, segment);
	if (!receive_may_wait(flow, sk, segment))
		receive_hasten_ack(sk);
}

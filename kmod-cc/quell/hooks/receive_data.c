// SPDX-License-Identifier: GPL-2.0
/*
 * Signal plane, last hook in LOCAL_IN: data that TCP would accept.
 *
 * It counts for the set of active senders, dasr.c, which may take the mark off the packet.
 *
 * When data is acknowledged is TCP's decision, but for two kinds, which are at once:
 *
 *	with PSH	its sender requests that, ack_request.c; a window of a few packets would
 *			otherwise stall up to 40 ms for a delayed ACK.  A message ends so, too.
 *			With more than ACK_REQUEST_SEGS unacknowledged it is TCP's: it sends an
 *			ACK at once, or when the reader has read the data.  Only the ACK of a
 *			request may be delayed for a prompt reply, delack.c.
 *			A BPF host cannot set PSH: of its data each packet without another in
 *			flight counts as a request, as all of a window of one do
 *	out of order	each hole, and each one filled, is reported to the sender, though TCP
 *			would compress such ACKs (net.ipv4.tcp_comp_sack_nr)
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>
#include <net/tcp.h>
#include <quell/option.h>
#include "cc/cc.h"
#include "hooks/receive.h"
#include "signal/dasr.h"
#include "signal/signal.h"

/* A sender of a small window, ack_request.c, has no more than so many segments in flight. */
#define ACK_REQUEST_SEGS	4

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

/*
 * Whether the packet is beyond missing data, or fills a hole.  Without the lock a hint, and
 * false while a process owns the socket, as TCP does not have the packets before this one either.
 */
static bool receive_is_out_of_order(const struct sock *sk, const struct receive_headers *in)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	/* Either value will do: receive_hasten_ack() checks again with the lock. */
	return !data_race(sock_owned_by_user_nocheck(sk)) &&
	       (in->seq != READ_ONCE(tp->rcv_nxt) ||
		READ_ONCE(tp->out_of_order_queue.rb_node));
}

/*
 * Makes TCP acknowledge a data packet at once, under the lock that TCP takes next anyway.
 * While a process owns the socket the packet goes to the backlog, and TCP decides on its ACK;
 * the flow's timer sends an ACK that is then still due.
 */
static void receive_hasten_ack(struct quell_flow *flow, struct sock *sk,
			       const struct receive_segment *segment)
{
	u32 end_seq = segment->in->seq + segment->in->payload_bytes;
	bool owned;

	local_bh_disable();
	bh_lock_sock_nested(sk);
	owned = sock_owned_by_user(sk);
	if (!owned) {
		inet_csk(sk)->icsk_ack.pending |= ICSK_ACK_NOW;
		/* A process that takes the socket next may send, and must see this. */
		if (!receive_is_out_of_order(sk, segment->in))
			quell_delack_expedite(flow, end_seq);
	}
	bh_unlock_sock(sk);
	local_bh_enable();
	if (owned)
		quell_delack_watch(flow, end_seq);
}

/* Whether the sender requests an ACK that TCP may delay: see the top of the file. */
static bool receive_is_ack_requested(const struct sock *sk, const struct receive_segment *segment)
{
	u32 end_seq = segment->in->seq + segment->in->payload_bytes, rcv_wup, full_bytes;

	/* TCP writes it plainly, under its lock: that of a moment ago will do. */
	rcv_wup = data_race(READ_ONCE(tcp_sk(sk)->rcv_wup));
	/* So will this one. */
	full_bytes = data_race(READ_ONCE(inet_csk(sk)->icsk_ack.rcv_mss));
	/* TCP has not measured this segment yet, which may be longer than all before. */
	full_bytes = max_t(u32, full_bytes, skb_is_gso(segment->skb) ?
			   skb_shinfo(segment->skb)->gso_size : segment->in->payload_bytes);
	if (receive_is_pushed(segment->in))
		return end_seq - rcv_wup <= ACK_REQUEST_SEGS * full_bytes;
	return segment->of_program && segment->opt->flags & QUELL_OPT_F_START;
}

/*
 * Whether the ACK of a data packet may be delayed, as the packet ends a message and acknowledges
 * all that this end sent.  Without the option only PSH shows the end.  A sender with a small window
 * sets it within messages, too, ack_request.c: there, a full last segment, of a packet that GRO may
 * have merged, does not end one.
 */
static bool receive_may_delay_ack(struct quell_flow *flow, const struct sock *sk,
				  const struct receive_segment *segment)
{
	const struct receive_headers *in = segment->in;
	bool ends = receive_is_pushed(in);

	if (segment->opt)
		ends = quell_opt_ends(segment->opt->flags, ends);
	else if (ends && skb_is_gso(segment->skb))
		ends = in->payload_bytes % skb_shinfo(segment->skb)->gso_size;
	else if (ends)
		ends = in->payload_bytes < READ_ONCE(inet_csk(sk)->icsk_ack.rcv_mss);
	if (ends && in->ack_seq == READ_ONCE(tcp_sk(sk)->snd_nxt))
		return quell_delack_start(flow, segment->ack_rx.rx_ns,
					  in->seq + in->payload_bytes, in->marked);
	WRITE_ONCE(flow->delack.has_request, false);
	return false;
}

/* LOCAL_IN hook, RCU; not the socket lock.  The mark of @segment may be taken off. */
void quell_receive_data(struct quell_flow *flow, struct sock *sk,
			const struct receive_segment *segment)
{
	if (flow->dasr) {
		struct quell_dasr_packet packet = {
			.ifindex = quell_rx_ifindex(segment->skb),
			.seq = segment->in->seq,
			.end_seq = segment->in->seq + segment->in->payload_bytes,
			.flags = segment->opt ? segment->opt->flags : 0,
			.pushed = receive_is_pushed(segment->in),
			.marked = segment->in->marked,
		};

		if (flow->algo->dasr->receive(flow, sk, &packet) && receive_hide_mark(segment->skb))
			quell_count(flow->qnet, QUELL_N_DASR_MARKS_HIDDEN);
	}
	if (!receive_may_delay_ack(flow, sk, segment) &&
	    (receive_is_ack_requested(sk, segment) || receive_is_out_of_order(sk, segment->in)))
		receive_hasten_ack(flow, sk, segment);
}

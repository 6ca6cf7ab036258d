// SPDX-License-Identifier: GPL-2.0
/*
 * ACKs on demand, the sender's half: which data asks to be acknowledged at once.
 *
 * A receiver acknowledges as its stack does, every second segment or skb, up to 40 ms late.
 * That suffices for a large window; a small one must not wait, and a core must hear of a
 * queue several times per round trip.  So the sender asks, by the PSH flag, which TCP
 * leaves to the sender (RFC 9293, section 3.9.1), and the receiver, receive_data.c,
 * acknowledges a segment with PSH at once:
 *
 *	small window	ACK_REQUEST_WINDOW_SEGS or less, or so little in flight, as of a paced flow
 *			whose window is not the limit: each segment asks, since the receiver
 *			may have received all there is, and the next be far behind
 *	else		once per window / acks-per-rtt of data: as often per round trip if the
 *			window is the limit, and no more often if something else is; but
 *			not more often than each second burst of the longest, unless a window
 *			has left: a stack acknowledges more than one segment without being asked
 *	telemetry	the same, without that limit: switches stamp segments with PSH, and an
 *			ACK that the stack sends unasked has no record
 *	retransmission	asks: the sender must learn whether a hole is filled
 *	sprayed flow	each burst asks: each tries a path, which the echo names
 *
 * TCP itself sets PSH where the application's data ends, so the last segment of a message
 * always asks; and on each burst, where it is taken off again unless the burst asks.  A
 * burst keeps PSH on its last packet alone when it is cut, in software or by the NIC: one
 * packet asks for all, and the others still merge in GRO.  The flag needs no option, and a
 * receiver without Quell ignores it.
 *
 * The IETF's form of this is the ACK Rate Request option
 * (draft-ietf-tcpm-ack-rate-request), which would need room in each segment that asks.
 */
#include <net/tcp.h>
#include "flow/flow.h"
#include "signal/signal.h"

/*
 * A window of so many segments cannot rely on the receiver's delayed ACKs: it is two of the
 * pairs that these are for, of which a lost ACK may take one.
 */
#define ACK_REQUEST_WINDOW_SEGS	4U

/* An ACK for fewer bursts than a stack without Quell answers would cost more than there. */
#define ACK_REQUEST_BURSTS	2U

/* LOCAL_OUT hook, lock of @flow, bottom halves off; fields of @sk may be of different moments. */
bool quell_ack_request_is_due(const struct quell_flow *flow, const struct sock *sk, u32 end_seq)
{
	u32 acks_per_rtt = quell_signal_params_bh(flow->qnet)->acks_per_rtt;
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 mss_bytes = READ_ONCE(tp->mss_cache), cwnd_pkts = READ_ONCE(tp->snd_cwnd);
	u32 small_bytes = ACK_REQUEST_WINDOW_SEGS * mss_bytes, unrequested_bytes =
		end_seq - flow->ack_requested_seq;
	u64 window_bytes = (u64)cwnd_pkts * mss_bytes;
	u32 burst_bytes = mss_bytes;

	if (!acks_per_rtt || cwnd_pkts <= ACK_REQUEST_WINDOW_SEGS ||
	    unrequested_bytes >= window_bytes ||
	    READ_ONCE(tp->snd_wnd) <= small_bytes ||
	    end_seq - READ_ONCE(tp->snd_una) <= small_bytes)
		return true;
	/* Each burst has an echo of its own, of the path it tried. */
	if (quell_path_is_sprayed(flow))
		return true;
	if ((u64)unrequested_bytes * acks_per_rtt < window_bytes)
		return false;
	/* The ACKs that a stack sends unasked echo no record: switches stamp requests alone. */
	if (quell_algo_has(flow->algo, QUELL_CORE_TELEMETRY))
		return true;
	/* The longest burst; of a route that changes meanwhile it may be the one before. */
	if (data_race(sk_can_gso(sk)))
		burst_bytes = min_t(u32, READ_ONCE(sk->sk_gso_max_segs) * mss_bytes,
				    READ_ONCE(sk->sk_gso_max_size));
	return unrequested_bytes >= ACK_REQUEST_BURSTS * burst_bytes;
}

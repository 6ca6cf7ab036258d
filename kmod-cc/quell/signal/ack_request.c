// SPDX-License-Identifier: GPL-2.0
/*
 * ACKs on request, the sender's part: for which data an immediate ACK is requested.
 *
 * A receiver acknowledges as its stack does, every second segment or skb, up to 40 ms late.
 * That suffices for a large window.  A small one cannot afford the delay, and a core needs
 * several samples of a queue per round trip.  So the sender requests ACKs by the PSH flag, the
 * use of which TCP leaves to the sender (RFC 9293, section 3.9.1), and the receiver,
 * receive_data.c, acknowledges a segment with PSH at once:
 *
 *	small window	ACK_REQUEST_WINDOW_SEGS or less, or so little in flight, as of a paced flow
 *			with a window that is not the limit: with each segment, since the
 *			receiver may have received all data in flight
 *	else		once per window / acks-per-rtt of data: as often per round trip if the
 *			window is the limit, and no more often if something else is; but
 *			not more often than each second burst of the longest, unless a window
 *			has been sent: more than one segment is acknowledged without a request
 *	telemetry	the same, without that limit: switches stamp segments with PSH, and an
 *			ACK without a request has no record
 *	retransmission	always: the ACK reports whether a hole is filled
 *	sprayed flow	with each burst: each tries a path, which the echo names
 *
 * TCP itself sets PSH where the application's data ends, so the last segment of a message
 * always has it; and on each burst, where it is cleared again unless an ACK is requested.  When
 * a burst is segmented, in software or by the NIC, its last packet alone keeps PSH, and the
 * others still merge in GRO.  The flag needs no option, and a receiver without Quell ignores it.
 *
 * The IETF's form of this is the ACK Rate Request option
 * (draft-ietf-tcpm-ack-rate-request), which would need room in each segment with a request.
 */
#include <net/tcp.h>
#include "signal/signal.h"

/*
 * A window of so many segments cannot rely on the receiver's delayed ACKs: it is two of the
 * pairs that these are for, of which a lost ACK may take one.
 */
#define ACK_REQUEST_WINDOW_SEGS	4U

/* An ACK for fewer bursts than a stack without Quell acknowledges would cost more than there. */
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
	/* ACKs without a request echo no record: switches stamp segments with PSH alone. */
	if (quell_algo_has(flow->algo, QUELL_CORE_TELEMETRY))
		return true;
	/* The longest burst; of a route that changes meanwhile it may be the one before. */
	if (data_race(sk_can_gso(sk)))
		burst_bytes = min_t(u32, READ_ONCE(sk->sk_gso_max_segs) * mss_bytes,
				    READ_ONCE(sk->sk_gso_max_size));
	return unrequested_bytes >= ACK_REQUEST_BURSTS * burst_bytes;
}

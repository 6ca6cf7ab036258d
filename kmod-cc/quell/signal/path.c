// SPDX-License-Identifier: GPL-2.0
/*
 * Path of a segment: each segment gets an entropy, recycled as in REPS
 * (<quell/core/signal/reps.h>); Documentation/path.md has the flows that are sprayed.
 *
 *	out:	entropy = REPS
 *		flow label = hash(flow's own label, entropy), in the IPv6 header
 *		entropy, in the Quell option
 *	in:	the ACK echoes entropy and CE mark of the packet acknowledged; the
 *		entropies of unmarked packets are used again
 *
 * The hash is seeded with the label of the first sprayed segment: after a timeout the stack
 * draws another label, which would invalidate the REPS state.  Bit 0x80000, a stateless label
 * (flowlabel_state_ranges), is preserved, and no label becomes 0.
 */
#include <linux/ipv6.h>
#include <linux/jhash.h>
#include <linux/tcp.h>
#include <net/ipv6.h>
#include <net/tcp.h>

#include <compat/net_random.h>

#include "signal/signal.h"

/* Quarters of the minimum round trip; RACK stops at one smoothed round trip. */
#define PATH_REORDERING_STEPS	0xff

#define PATH_LABEL_MASK		((__force u32)ntohl(IPV6_FLOWLABEL_MASK))
#define PATH_LABEL_STATELESS	((__force u32)ntohl(IPV6_FLOWLABEL_STATELESS_FLAG))

/* Lock of @flow, LOCAL_OUT hook.  0: not sprayed. */
u8 quell_path_next(struct quell_flow *flow, const struct sock *sk, const struct sk_buff *skb)
{
	static const enum quell_counter counters[] = {
		[QUELL_REPS_FRESH]	= QUELL_N_ENTROPY_FRESH,
		[QUELL_REPS_RECYCLED]	= QUELL_N_ENTROPY_RECYCLED,
		[QUELL_REPS_FROZEN]	= QUELL_N_ENTROPY_FROZEN,
	};
	bool again = before(ntohl(tcp_hdr(skb)->seq), READ_ONCE(tcp_sk(sk)->snd_nxt));
	struct quell_path *path = &flow->path;
	enum quell_reps_source source;
	u32 entropies = 0;
	u8 entropy;

	/* Not one with a label that the application has set, or without a label. */
	if (quell_algo_has(flow->algo, QUELL_CORE_SPRAYS) && flow->family == AF_INET6 &&
	    !(READ_ONCE(inet6_sk(sk)->flow_label) & IPV6_FLOWLABEL_MASK) &&
	    ip6_flowlabel(ipv6_hdr(skb)))
		entropies = quell_signal_params(flow->qnet).entropies;
	if (entropies && !path->reps) {
		path->reps = quell_sock_alloc(sk, sizeof(*path->reps));
		if (path->reps)
			quell_reps_init(path->reps, quell_net_random_u64(sock_net(sk)));
		else
			entropies = 0;
	}
	if (flow->entropies != entropies)
		WRITE_ONCE(flow->entropies, entropies);
	if (!entropies)
		return 0;
	if (!quell_signal_params(flow->qnet).recycle)
		quell_reps_forget(path->reps);
	entropy = quell_reps_next(path->reps, entropies, again, ktime_get_ns(), &source);
	WRITE_ONCE(path->used[source], path->used[source] + 1);
	quell_count(flow->qnet, counters[source]);
	return entropy;
}

/* Lock of @flow, LOCAL_OUT hook; the headers are writable. */
void quell_path_label(struct quell_flow *flow, struct sk_buff *skb, u8 entropy)
{
	struct ipv6hdr *ip6h = ipv6_hdr(skb);
	u32 label;

	if (!entropy)
		return;
	if (!flow->flow_label)
		flow->flow_label = ntohl(ip6_flowlabel(ip6h));
	label = jhash_2words(flow->flow_label, entropy, 0) & PATH_LABEL_MASK &
		~PATH_LABEL_STATELESS;
	label |= flow->flow_label & PATH_LABEL_STATELESS;
	ip6_flow_hdr(ip6h, ip6_tclass(ip6_flowinfo(ip6h)), htonl(label ? label : 1));
}

/*
 * The smoothed round-trip time in quarters of the minimum.  RACK's own bound is TCP's smoothed
 * round-trip time, which may be 1 ms where the true one is 10 us: TCP measures retransmissions
 * in ticks of its timestamp option.
 */
static u8 path_reo_wnd_steps(const struct quell_flow *flow, const struct tcp_sock *tp)
{
	u32 min_rtt_us = tcp_min_rtt(tp);
	u64 srtt_us = div_u64(flow->tail.srtt_ns + NSEC_PER_USEC - 1, NSEC_PER_USEC);

	if (!srtt_us || min_rtt_us < 4 || min_rtt_us == ~0U)
		return PATH_REORDERING_STEPS;
	return min_t(u64, DIV64_U64_ROUND_UP(srtt_us, min_rtt_us / 4), PATH_REORDERING_STEPS);
}

/*
 * Paths of unequal length reorder segments, so RACK needs its longest window, one round trip.  By
 * itself it widens the window only after spurious retransmissions (DSACK), and resets it.  Socket
 * lock, within ->in_ack_event(), before RACK detects losses.
 */
void quell_path_expect_reordering(const struct quell_flow *flow, struct tcp_sock *tp)
{
	if (!tp->reord_seen)
		tp->reord_seen = 1;
	tp->rack.reo_wnd_steps = path_reo_wnd_steps(flow, tp);
	tp->rack.reo_wnd_persist = TCP_RACK_RECOVERY_THRESH;
}

static void path_echo(struct quell_flow *flow, u8 entropy, bool marked)
{
	struct quell_path *path = &flow->path;
	bool kept;

	if (!flow->entropies || !entropy)
		return;
	kept = quell_reps_echo(path->reps, flow->entropies, entropy,
			       marked || !quell_signal_params(flow->qnet).recycle);
	if (marked) {
		WRITE_ONCE(path->marked, path->marked + 1);
		quell_count(flow->qnet, QUELL_N_ENTROPY_MARKED);
	} else if (kept) {
		WRITE_ONCE(path->kept, path->kept + 1);
		quell_count(flow->qnet, QUELL_N_ENTROPY_KEPT);
	}
}

/* LOCAL_IN hook, RCU read section. */
void quell_path_echo(struct quell_flow *flow, u8 entropy, bool marked)
{
	if (!READ_ONCE(flow->entropies))
		return;
	spin_lock_bh(&flow->lock);
	path_echo(flow, entropy, marked);
	spin_unlock_bh(&flow->lock);
}

/*
 * SACK blocks may leave no room for the echo.  Each reordered packet is acknowledged at once, so
 * such an ACK mostly reports one segment, the entropy of which is in the departure ring.  Lock of
 * @flow, within ->cong_control, before marks are counted.
 */
void quell_path_acked(struct quell_flow *flow, const struct tcp_sock *tp,
		      const struct rate_sample *rs)
{
	const struct quell_segment *segment;

	if (!flow->entropies || !rs->prior_mstamp)
		return;
	segment = quell_segments_find(&flow->segments, rs->last_end_seq);
	if (!segment || segment->retransmitted)
		return;
	path_echo(flow, segment->entropy, tp->delivered_ce !=
		  quell_cc((const struct sock *)tp)->delivered_ce_pkts);
}

/* A path may be dead.  Socket lock; @flow may be NULL. */
void quell_path_on_rto(struct quell_flow *flow)
{
	if (!flow)
		return;
	spin_lock_bh(&flow->lock);
	if (flow->entropies)
		quell_reps_on_rto(flow->path.reps, ktime_get_ns());
	spin_unlock_bh(&flow->lock);
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Dart: the sender's half.
 *
 * The receiver counts its active senders (set.h), weighs them, and states n in every
 * acknowledgment.  A sender uses its part of the receiver's line from the acknowledgment on
 * that brings n:
 *
 *	line = min(rate of its own interface, rate of the receiver's)
 *	rate = line / n
 *	window = rate * (base round trip + slack), and one segment; at n = 1 DCQCN's
 *
 * so that all senders have their fair share one round trip after one joins or leaves
 * (section III-A).  The window takes back, within a round trip, the queue that senders built
 * until they knew of each other; rates alone would leave it standing.
 *
 * Where the network is the bottleneck and not the receiver, the receiver states n = 1 and
 * passes marks on (machine.h), and DCQCN governs (section III-C), <quell/core/dcqcn/react.h>.
 * The smaller of both rates applies at all times: with n above 1 the receiver hides the marks,
 * so DCQCN's rate recovers meanwhile.
 *
 * A flow starts at line rate, also after an idle time.  Losses, and a peer that does not echo
 * marks, are handled by DCQCN's core: Reno's window bounds the flow.  A receiver that states
 * no n leaves the flow to DCQCN.
 *
 * The line is in bytes on the wire, rates are in bytes of payload: headers are taken off the
 * share, options of the connection included, or the sum of all senders would exceed the line.
 *
 * Paper: Xue et al., "Dart: Divide and Specialize for Fast Response to Congestion in RDMA-Based
 * Datacenter Networks", ToN 2020 (sections III-A to III-C).  Deviations: Documentation/dart.md.
 */
#ifndef _QUELL_CORE_DART_REACT_H
#define _QUELL_CORE_DART_REACT_H

#include <quell/core/dart/params.h>
#include <quell/core/dart/share.h>
#include <quell/core/dart/vars.h>
#include <quell/core/dcqcn/react.h>
#include <quell/core/lib/window.h>

/*
 * The smaller of the rates of both hosts' interfaces, on the wire; if one is not known the other;
 * 0: neither is.
 */
static inline u64 quell_dart_line_bytes_ps(const struct quell_sample *s)
{
	if (!s->peer_link_bytes_ps)
		return s->link_bytes_ps;
	if (!s->link_bytes_ps)
		return s->peer_link_bytes_ps;
	return quell_min_u64(s->link_bytes_ps, s->peer_link_bytes_ps);
}

/*
 * Payload bytes/s that fit into a rate on the wire, in full segments; @header_bytes: of each, 0
 * as without options but for timestamps.
 */
static inline u64 quell_dart_payload_bytes_ps(u64 wire_bytes_ps, u32 mss_bytes, u32 header_bytes)
{
	return quell_mul_div_u64(wire_bytes_ps, mss_bytes, (u64)mss_bytes +
				 (header_bytes ? header_bytes : QUELL_OVERHEAD_BYTES));
}

/* Limits a decision's rate to a rate of payload. */
static inline void quell_dart_pace(u64 rate_bytes_ps, struct quell_decision *out)
{
	out->pacing_bytes_ps = quell_max_u64(quell_min_u64(out->pacing_bytes_ps,
							   rate_bytes_ps), 1);
}

/*
 * Limits a decision's window to that of a rate on the wire, if the round-trip time is known.  A
 * slack of 0 is a part of the base round trip.
 */
static inline void quell_dart_fit_window(const struct quell_dart_vars *v,
					 const struct quell_dart_params *p, u64 wire_bytes_ps,
					 struct quell_decision *out)
{
	u64 base_ns = v->dcqcn.min_rtt_ns, slack_ns = p->slack_ns;

	if (!base_ns)
		return;
	if (!slack_ns)
		slack_ns = base_ns >> QUELL_DART_SLACK_RTT_SHIFT;
	out->window_q16 = quell_min_u64(out->window_q16,
					quell_bdp_q16(base_ns + slack_ns, wire_bytes_ps,
						      v->dcqcn.mss_bytes));
}

/*
 * Dart, section III-A: a sender has the line rate for the round trip until it knows n.  In a queue
 * that others built the first acknowledgment takes longer; DCQCN's window has room for that, and
 * each sender that joins would make it longer still for the next: the window is that of the line
 * and the slack.
 */
static inline void quell_dart_start(const struct quell_dart_vars *v,
				    const struct quell_dart_params *p,
				    const struct quell_sample *s, struct quell_decision *out)
{
	if (s->link_bytes_ps)
		quell_dart_fit_window(v, p, s->link_bytes_ps, out);
}

/* The limits of quell_dart_apportion() by an n that is stated, of a line whose rate is known. */
static inline void quell_dart_share(const struct quell_dart_vars *v,
				    const struct quell_dart_params *p,
				    struct quell_dart_stats *st, const struct quell_sample *s,
				    struct quell_decision *out)
{
	bool is_shared = s->senders_q8 > QUELL_SHARE_ONE_Q8;
	u64 wire_bytes_ps, rate_bytes_ps;

	wire_bytes_ps = quell_share_of_sender_bytes_ps(s->link_bytes_ps, s->peer_link_bytes_ps,
						       s->senders_q8);
	wire_bytes_ps = quell_max_u64(wire_bytes_ps, p->dcqcn.min_rate_bytes_ps);
	rate_bytes_ps = quell_dart_payload_bytes_ps(wire_bytes_ps, v->dcqcn.mss_bytes,
						    s->header_bytes);
	if (out->pacing_bytes_ps < (is_shared ? rate_bytes_ps : s->link_bytes_ps))
		st->fallen_back++;
	else
		st->apportioned += is_shared;
	quell_dart_pace(rate_bytes_ps, out);
	if (is_shared)
		quell_dart_fit_window(v, p, wire_bytes_ps, out);
}

/*
 * Dart, section III-A: limit DCQCN's decision to the flow's share of the receiver's line.  With n
 * at most 1 the window stays DCQCN's and the rate has the whole line, less headers: a higher rate
 * would queue at the sender's own interface, and would still be sent at line rate when n grows.
 * With n not stated the decision stays.
 */
static inline void quell_dart_apportion(const struct quell_dart_vars *v,
					const struct quell_dart_params *p,
					struct quell_dart_stats *st,
					const struct quell_sample *s,
					struct quell_decision *out)
{
	if (s->senders_q8 && s->link_bytes_ps) {
		quell_dart_share(v, p, st, s, out);
		return;
	}
	st->unstated += !s->senders_q8;
	st->fallen_back += out->pacing_bytes_ps < s->link_bytes_ps;
}

#endif /* _QUELL_CORE_DART_REACT_H */

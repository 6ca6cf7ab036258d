/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SMaRTT: the state of a flow and its path, and the limits of its window.
 *
 * The values derived from link rate, base round-trip time, segment size and
 * parameters are computed when the base round-trip time or the segment size
 * changes, at loss, timeout, undo and restart, and otherwise once per base round
 * trip: a new link rate or a new parameter takes effect in the next round trip.
 */
#ifndef _QUELL_CORE_SMARTT_VARS_H
#define _QUELL_CORE_SMARTT_VARS_H

#include <quell/core/core.h>
#include <quell/core/lib/math.h>
#include <quell/core/lib/window.h>
#include <quell/core/smartt/params.h>

/* TCP's own limit of a window, and the largest BDP that is stored, bytes. */
#define QUELL_SMARTT_MOST_BYTES		(1ULL << 30)
/* Round-trip times are limited to this, ns: in Q4 they fit into 32 bits. */
#define QUELL_SMARTT_MOST_NS		((1ULL << 28) - 1)
/* Fraction bits of a segment scaled by the bandwidth-delay product. */
#define QUELL_SMARTT_UNIT_Q		8
/* Fraction bits of the average round-trip time. */
#define QUELL_SMARTT_AVG_Q		4
/* Fraction bits of shares: delays over delays, cuts. */
#define QUELL_SMARTT_SHARE_Q		24

/* quell_smartt_vars.flags */
#define QUELL_SMARTT_F_DECREASED	0x01 /* decrease_ns is valid */
#define QUELL_SMARTT_F_REROUTED		0x02 /* the path changed in this round trip */
#define QUELL_SMARTT_F_MEASURING	0x04 /* period_ns is valid */
#define QUELL_SMARTT_F_QA_DUE		0x08 /* a packet was trimmed */
#define QUELL_SMARTT_F_FAST		0x10 /* FastIncrease is active */
#define QUELL_SMARTT_F_LOSS		0x20 /* no clean round trip since the last loss */
#define QUELL_SMARTT_F_NEW_PATH		0x40 /* the path changed in the previous round trip */

/*
 * State of one flow.  Times are compared by unsigned difference: after 4.3 s without an ACK a
 * period may seem younger than it is, by one round trip at most.
 */
struct quell_smartt_vars {
	u64	window_q16;	/* bytes */
	u64	pending_bytes2;	/* pending increase times the window, bytes squared */
	u32	base_rtt_ns;	/* 0 unknown */
	u32	avg_rtt_q4;	/* ns; 0 unknown */
	u32	most_bytes;	/* largest window; 0 unknown */
	u32	unit_q8;	/* one segment scaled by the path's BDP (III-J), bytes */
	u32	delivered_bytes;	/* acknowledged in this QuickAdapt period */
	u32	ignore_bytes;	/* of the flight still to be ignored after QuickAdapt */
	u32	clear_bytes;	/* acknowledged in a row without congestion */
	u32	decrease_ns;	/* last decrease, low half */
	u32	period_ns;	/* start of the QuickAdapt period, low half */
	/* Start of the base RTT that eta, batches and path changes count, low half. */
	u32	round_ns;
	u16	mss_bytes;	/* > 0 */
	u16	batch_pkts;	/* acknowledged since the window changed last */
	u8	flags;	/* QUELL_SMARTT_F_* */
	u8	rtos;	/* timeouts since the last ACK */
};

/* Shares the 104 bytes of a socket's private area with the module's glue. */
static_assert(sizeof(struct quell_smartt_vars) <= 64);

/* core.h explains the counters. */
struct quell_smartt_stats {
	u64	fair_increases;
	u64	proportional_increases;
	u64	fast_increases;
	u64	decreases;
	u64	held;
	u64	marked_low_delay;
	u64	path_changes;
	u64	quick_adapts;
	u64	ignored;
	u64	trimmed;
	u64	no_ecn;
	u64	no_rtt;
	u64	app_limited;
	u64	fast_retx;
	u64	losses_ignored;
	u64	rtos;
	u64	rto_resets;
	u64	restarts;
	u64	restarts_refused;
};

/* Delay of an ACK and its target. */
struct quell_smartt_delay {
	u64	rtt_ns;	/* at least the base */
	u64	target_ns;
};

/* Whether the flow ever measured a round-trip time. */
static inline bool quell_smartt_has_signal(const struct quell_smartt_vars *v)
{
	return v->base_rtt_ns != 0;
}

/* Target round-trip time, ns; 0 without a delay signal. */
static inline u64 quell_smartt_target_ns(const struct quell_smartt_vars *v,
					 const struct quell_smartt_params *p)
{
	if (p->target_delay_ns && v->base_rtt_ns)
		return v->base_rtt_ns + p->target_delay_ns;
	return (v->base_rtt_ns * p->target_rtt_q16) >> QUELL_Q16_SHIFT;
}

/* Whether @span_ns passed since the stamp @since_ns. */
static inline bool quell_smartt_passed(u64 now_ns, u32 since_ns, u64 span_ns)
{
	return (u32)((u32)now_ns - since_ns) >= span_ns;
}

/* Adds bytes to a counter that stops at its largest value. */
static inline u32 quell_smartt_count_bytes(u32 bytes, u32 more_bytes)
{
	return bytes + more_bytes < bytes ? QUELL_U32_MAX : bytes + more_bytes;
}

/* Section III-J: 1.5 bandwidth-delay products, bytes Q16. */
static inline u64 quell_smartt_max_window_q16(const struct quell_smartt_vars *v)
{
	return (v->most_bytes ? v->most_bytes : QUELL_SMARTT_MOST_BYTES) << QUELL_Q16_SHIFT;
}

static inline void quell_smartt_clamp(struct quell_smartt_vars *v)
{
	v->window_q16 = quell_max_u64(quell_min_u64(v->window_q16,
						    quell_smartt_max_window_q16(v)),
				      quell_mss_q16(v->mss_bytes));
}

/* The window a message starts with, before the limits, bytes Q16. */
static inline u64 quell_smartt_init_window_q16(const struct quell_smartt_vars *v,
					       const struct quell_smartt_params *p)
{
	if (p->init_window_bytes)
		return p->init_window_bytes << QUELL_Q16_SHIFT;
	if (!v->most_bytes)
		return quell_init_window_q16(v->mss_bytes);
	return quell_smartt_max_window_q16(v);
}

/* Limits the window and fills in the decision. */
static inline void quell_smartt_decide(struct quell_smartt_vars *v, u64 target_ns,
				       bool change_path, struct quell_decision *out)
{
	quell_smartt_clamp(v);
	out->window_q16 = v->window_q16;
	out->pacing_bytes_ps = QUELL_RATE_UNLIMITED;
	out->target_ns = target_ns;
	out->change_path = change_path;
}

/*
 * Section III-J: largest window and scaled segment.  A round-trip time excludes
 * the serialisation of the segment itself, hence one segment more in the
 * bandwidth-delay product.  mss * BDP is below 2^46.
 */
static inline void quell_smartt_scale(struct quell_smartt_vars *v,
				      const struct quell_smartt_params *p,
				      u64 link_bytes_ps)
{
	u64 unit_q8 = (u64)v->mss_bytes << QUELL_SMARTT_UNIT_Q;
	u64 bdp_bytes, most_bytes;

	if (!v->most_bytes)
		v->unit_q8 = unit_q8;
	if (!link_bytes_ps || !v->base_rtt_ns)
		return;
	bdp_bytes = quell_mul_div_u64(v->base_rtt_ns, link_bytes_ps, QUELL_NS_PER_SEC);
	bdp_bytes = quell_min_u64(quell_add_sat_u64(bdp_bytes, v->mss_bytes),
				  QUELL_SMARTT_MOST_BYTES);
	most_bytes = quell_min_u64((bdp_bytes * p->max_window_q16) >> QUELL_Q16_SHIFT,
				   QUELL_SMARTT_MOST_BYTES);
	v->most_bytes = quell_max_u64(most_bytes, 1);
	if (p->scale_bdp_bytes)
		unit_q8 = quell_div_u64(unit_q8 * bdp_bytes, p->scale_bdp_bytes);
	v->unit_q8 = quell_min_u64(unit_q8, 0xffffffffULL);
}

/* The base round-trip time after a sample: the sample's minimum, or the flow's, ns. */
static inline u32 quell_smartt_base_ns(const struct quell_smartt_vars *v, u64 rtt_ns,
				       u64 min_rtt_ns)
{
	u64 least_ns = min_rtt_ns;

	if (!least_ns) {
		least_ns = v->base_rtt_ns;
		if (rtt_ns && (!least_ns || rtt_ns < least_ns))
			least_ns = rtt_ns;
	}
	return quell_min_u64(least_ns, QUELL_SMARTT_MOST_NS);
}

/* Stores a sample's segment size, and scales by that and by the rate of the link. */
static inline void quell_smartt_resize(struct quell_smartt_vars *v,
				       const struct quell_smartt_params *p,
				       const struct quell_sample *s)
{
	if (s->mss_bytes)
		v->mss_bytes = quell_min_u64(s->mss_bytes, 0xffff);
	quell_smartt_scale(v, p, s->link_bytes_ps);
}

/*
 * Stores a sample's values of the path.  The sample's minimum replaces the
 * estimate from the handshake even if that is smaller: SYN packets are short.
 */
static __rare void quell_smartt_observe(struct quell_smartt_vars *v,
					const struct quell_smartt_params *p,
					const struct quell_sample *s)
{
	v->base_rtt_ns = quell_smartt_base_ns(v, s->rtt_ns, s->min_rtt_ns);
	quell_smartt_resize(v, p, s);
}

/* Does the same for every ACK, but only if base round trip or segment size changed. */
static inline void quell_smartt_observe_ack(struct quell_smartt_vars *v,
					    const struct quell_smartt_params *p,
					    const struct quell_sample *s)
{
	if (s->min_rtt_ns && s->min_rtt_ns == v->base_rtt_ns && s->mss_bytes == v->mss_bytes)
		return;
	if (quell_smartt_base_ns(v, s->rtt_ns, s->min_rtt_ns) != v->base_rtt_ns ||
	    s->mss_bytes != v->mss_bytes)
		quell_smartt_observe(v, p, s);
}

/*
 * Exponentially weighted average, one step per packet: n packets of one ACK count n times, at most
 * in full.  Steps are rounded away from 0, so that the average reaches a constant round-trip time.
 */
static inline void quell_smartt_average(struct quell_smartt_vars *v,
					const struct quell_smartt_params *p,
					u64 rtt_ns, u32 pkts)
{
	u64 weight_q16 = quell_min_u64(p->avg_weight_q16 * ((u64)pkts + !pkts), QUELL_Q16_ONE);
	u64 rtt_q4 = rtt_ns << QUELL_SMARTT_AVG_Q;
	u64 avg_q4 = v->avg_rtt_q4;
	u64 round_q16 = QUELL_Q16_ONE - 1;

	if (!avg_q4)
		avg_q4 = rtt_q4;
	else if (rtt_q4 > avg_q4)
		avg_q4 += ((rtt_q4 - avg_q4) * weight_q16 + round_q16) >> QUELL_Q16_SHIFT;
	else
		avg_q4 -= ((avg_q4 - rtt_q4) * weight_q16 + round_q16) >> QUELL_Q16_SHIFT;
	v->avg_rtt_q4 = avg_q4;
}

/* Round-trip time that an ACK is classified by, ns: its own, or the average. */
static inline u64 quell_smartt_rtt_ns(struct quell_smartt_vars *v,
				      const struct quell_smartt_params *p,
				      struct quell_smartt_stats *st,
				      const struct quell_sample *s)
{
	u64 rtt_ns = quell_min_u64(s->rtt_ns, QUELL_SMARTT_MOST_NS);

	if (!rtt_ns) {
		st->no_rtt++;
		return quell_max_u64(v->avg_rtt_q4 >> QUELL_SMARTT_AVG_Q, v->base_rtt_ns);
	}
	rtt_ns = quell_max_u64(rtt_ns, v->base_rtt_ns);
	quell_smartt_average(v, p, rtt_ns, s->acked_pkts);
	return rtt_ns;
}

#endif /* _QUELL_CORE_SMARTT_VARS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * HPCC: the state of a flow and its path.  This header handles the records of the switches,
 * computes the utilisation from them and the window from the utilisation and the reference, and
 * applies the limits.  quell/core/hpcc/react.h updates the reference and describes the algorithm.
 */
#ifndef _QUELL_CORE_HPCC_VARS_H
#define _QUELL_CORE_HPCC_VARS_H

#include <quell/core/core.h>
#include <quell/core/hpcc/params.h>
#include <quell/core/lib/math.h>
#include <quell/core/lib/window.h>

/*
 * Utilisation: resolution 6e-8, saturated just below 256, which is a queue of 255
 * bandwidth-delay products.  Its product with a weight of at most 1 in Q32 fits 64 bits.
 */
#define QUELL_HPCC_UTIL_Q		24
#define QUELL_HPCC_UTIL_ONE		(1U << QUELL_HPCC_UTIL_Q)
#define QUELL_HPCC_U32_MAX		0xffffffffULL
/* Fraction bits of a record's weight in the average. */
#define QUELL_HPCC_WEIGHT_Q		32
#define QUELL_HPCC_WEIGHT_ONE		(1ULL << QUELL_HPCC_WEIGHT_Q)
/* Fraction bits of byte counts below a bandwidth-delay product. */
#define QUELL_HPCC_LOAD_Q		8
/*
 * Fraction bits of the window in the computation of the pacing rate: its product fits 64
 * bits, and so avoids the slow division, up to 17 MB.
 */
#define QUELL_HPCC_PACE_Q		10
/* Above any window, bytes Q16: a sum of two of these does not overflow. */
#define QUELL_HPCC_MOST_Q16		(1ULL << 62)
/* 2^-13 is more than 2^16 / 10^9, bytes Q16 per byte and nanosecond. */
#define QUELL_HPCC_LEAST_SHIFT		13

/* quell_hpcc_vars.flags */
#define QUELL_HPCC_F_TELEMETRY	0x01 /* records steer the flow, or are expected to */
#define QUELL_HPCC_F_UTIL	0x02 /* util_q24 was measured with this reference or the last */
#define QUELL_HPCC_F_MEASURED	0x04 /* util_q24 was measured in this round trip */
#define QUELL_HPCC_F_CONGESTED	0x08 /* and util_q24 was eta or more in this round trip */
#define QUELL_HPCC_F_ROUND	0x10 /* a round trip has begun */
#define QUELL_HPCC_F_LOSS	0x20 /* no clean round trip since the last loss */

/* State of one flow. */
struct quell_hpcc_vars {
	u64	window_q16;	/* the reference, bytes */
	/* Receipt of the stored record; before the first, start of the flow. */
	u64	recorded_ns;
	/* Stored record, as @tx_units, @time_ns (the switch's clock) and @hop. */
	u32	queue_bytes;
	u32	tx_units;
	u32	time_ns;
	u32	util_q24;	/* U, the average utilisation, saturated */
	u32	min_rtt_ns;	/* saturated; 0 before the first one */
	u32	mss_bytes;	/* > 0 */
	u32	round_bytes;	/* in flight when the round trip began and not yet acknowledged */
	u8	rtos;	/* timeouts since the last ACK */
	u8	hop;	/* 0 if no record is stored */
	u8	stage;	/* additive updates since the last multiplicative one */
	u8	flags;	/* QUELL_HPCC_F_* */
};

/* The module's glue shares the 104 bytes of a socket's private area with this state. */
static_assert(sizeof(struct quell_hpcc_vars) <= 64);

/*
 * Each ACK is counted in exactly one of @measured, @stored, @repeated and @no_record.  core.h
 * explains the counters.
 */
struct quell_hpcc_stats {
	u64	measured;
	u64	stored;
	u64	repeated;
	u64	no_record;
	u64	lost;
	u64	increases;
	u64	decreases;
	u64	blind;
	u64	app_limited;
	u64	disregarded;
	u64	fast_retx;
	u64	rtos;
	u64	rto_resets;
	u64	restarts;
	u64	restarts_refused;
};

/* T, ns, below 2^32; 0 unknown. */
static inline u64 quell_hpcc_base_rtt_ns(const struct quell_hpcc_vars *v,
					 const struct quell_hpcc_params *p)
{
	return p->base_rtt_ns ? p->base_rtt_ns : v->min_rtt_ns;
}

/* The path of an event's flow, after quell_hpcc_observe(). */
struct quell_hpcc_path {
	u64	base_rtt_ns;	/* T, below 2^32; 0 unknown */
	u64	link_bytes_ps;	/* of the own link; 0 unknown */
};

static inline struct quell_hpcc_path quell_hpcc_path(const struct quell_hpcc_vars *v,
						     const struct quell_hpcc_params *p,
						     const struct quell_sample *s)
{
	struct quell_hpcc_path path = { quell_hpcc_base_rtt_ns(v, p), s->link_bytes_ps };

	return path;
}

/* Whether HPCC governs window, pacing and limits; otherwise Reno does. */
static inline bool quell_hpcc_is_steered(const struct quell_hpcc_vars *v,
					 const struct quell_hpcc_params *p)
{
	return (v->flags & QUELL_HPCC_F_TELEMETRY) && quell_hpcc_base_rtt_ns(v, p);
}

/*
 * Bytes sent at a rate that is a parameter in a base round-trip time, bytes Q16: at most
 * 2^37 * 2^16 * 2^32 / 2^29.
 */
static inline u64 quell_hpcc_rate_q16(u64 base_rtt_ns, u64 bytes_ps)
{
	return quell_mul_div_u64(bytes_ps << QUELL_Q16_SHIFT, base_rtt_ns, QUELL_NS_PER_SEC);
}

/* One bandwidth-delay product, bytes Q16. */
static inline u64 quell_hpcc_bdp_q16(const struct quell_hpcc_vars *v,
				     const struct quell_hpcc_params *p,
				     u64 link_bytes_ps)
{
	return quell_bdp_q16(quell_hpcc_base_rtt_ns(v, p), link_bytes_ps, v->mss_bytes);
}

/* The window a message starts with, before the limits, bytes Q16. */
static inline u64 quell_hpcc_init_window_q16(const struct quell_hpcc_vars *v,
					     const struct quell_hpcc_params *p,
					     u64 link_bytes_ps)
{
	if (p->init_window_bytes)
		return p->init_window_bytes << QUELL_Q16_SHIFT;
	if (!link_bytes_ps || !quell_hpcc_is_steered(v, p))
		return quell_init_window_q16(v->mss_bytes);
	return quell_hpcc_bdp_q16(v, p, link_bytes_ps);
}

/* The smallest window of a governed flow: the bytes sent in T at the minimum rate, bytes Q16. */
static __rare u64 quell_hpcc_least_q16(const struct quell_hpcc_params *p, u64 base_rtt_ns,
				       u64 most_q16)
{
	u64 least_q16 = quell_hpcc_rate_q16(base_rtt_ns, p->min_rate_bytes_ps);

	return quell_max_u64(quell_min_u64(least_q16, most_q16), 1);
}

/* The largest window of a flow that is steered, bytes Q16. */
static inline u64 quell_hpcc_most_q16(const struct quell_hpcc_vars *v,
				      const struct quell_hpcc_params *p,
				      const struct quell_hpcc_path *path)
{
	u64 most_q16 = p->max_window_bytes << QUELL_Q16_SHIFT;

	if (!path->link_bytes_ps)
		return most_q16;
	return quell_min_u64(most_q16, quell_bdp_q16(path->base_rtt_ns, path->link_bytes_ps,
						     v->mss_bytes));
}

/* The windows to be limited, bytes. */
struct quell_hpcc_windows {
	u64	window_q16;	/* of this ACK */
	u64	reference_q16;
};

/*
 * Applies the limits given by the rate of the link and the minimum rate, of a flow that is steered.
 *
 * The minimum, minimum rate * T * 2^16 / 10^9, is less than minimum rate * T / 2^13: a product
 * below 2^63.  Values above this are not limited, and the division is saved.
 */
static inline void quell_hpcc_limit(const struct quell_hpcc_vars *v,
				    const struct quell_hpcc_params *p,
				    const struct quell_hpcc_path *path,
				    struct quell_hpcc_windows *w)
{
	u64 low_q16 = (p->min_rate_bytes_ps * path->base_rtt_ns) >> QUELL_HPCC_LEAST_SHIFT;
	u64 most_q16 = quell_hpcc_most_q16(v, p, path);
	u64 least_q16;

	w->window_q16 = quell_min_u64(w->window_q16, most_q16);
	w->reference_q16 = quell_min_u64(w->reference_q16, most_q16);
	if (w->window_q16 > low_q16 && w->reference_q16 > low_q16)
		return;
	least_q16 = quell_hpcc_least_q16(p, path->base_rtt_ns, most_q16);
	w->window_q16 = quell_max_u64(w->window_q16, least_q16);
	w->reference_q16 = quell_max_u64(w->reference_q16, least_q16);
}

/*
 * The limits without records: the flow is not paced and cannot use a window below one segment,
 * so the minimum is one segment, as in Reno.
 */
static inline u64 quell_hpcc_reno_limited_q16(const struct quell_hpcc_vars *v,
					      const struct quell_hpcc_params *p, u64 window_q16)
{
	return quell_max_u64(quell_min_u64(window_q16, p->max_window_bytes << QUELL_Q16_SHIFT),
			     quell_mss_q16(v->mss_bytes));
}

/* Pacing rate: the window spread over a base round-trip time, saturated at 2^54 bytes/s. */
static inline u64 quell_hpcc_pacing_bytes_ps(u64 base_rtt_ns, u64 window_q16)
{
	u64 rate_bytes_ps;

	rate_bytes_ps = quell_mul_div_u64(window_q16 >> (QUELL_Q16_SHIFT - QUELL_HPCC_PACE_Q),
					  QUELL_NS_PER_SEC, base_rtt_ns) >> QUELL_HPCC_PACE_Q;
	return quell_max_u64(rate_bytes_ps, 1);
}

/* Clamp the reference and the window of this ACK, and fill in the decision @out. */
static inline void quell_hpcc_decide(struct quell_hpcc_vars *v,
				     const struct quell_hpcc_params *p,
				     const struct quell_hpcc_path *path, u64 window_q16,
				     struct quell_decision *out)
{
	struct quell_hpcc_windows w = { window_q16, v->window_q16 };

	if ((v->flags & QUELL_HPCC_F_TELEMETRY) && path->base_rtt_ns) {
		quell_hpcc_limit(v, p, path, &w);
		out->pacing_bytes_ps = quell_hpcc_pacing_bytes_ps(path->base_rtt_ns, w.window_q16);
	} else {
		w.window_q16 = quell_hpcc_reno_limited_q16(v, p, w.window_q16);
		w.reference_q16 = quell_hpcc_reno_limited_q16(v, p, w.reference_q16);
		out->pacing_bytes_ps = QUELL_RATE_UNLIMITED;
	}
	v->window_q16 = w.reference_q16;
	out->window_q16 = w.window_q16;
	out->target_ns = 0;
	out->change_path = false;
}

/*
 * Copy minimum round-trip time and segment size from a sample.  The sample's minimum replaces the
 * handshake's estimate even where the estimate is smaller, because SYN packets are short.
 */
static inline void quell_hpcc_observe(struct quell_hpcc_vars *v,
				      const struct quell_sample *s)
{
	if (s->min_rtt_ns != v->min_rtt_ns && s->min_rtt_ns)
		v->min_rtt_ns = quell_min_u64(s->min_rtt_ns, QUELL_HPCC_U32_MAX);
	if (s->mss_bytes != v->mss_bytes && s->mss_bytes)
		v->mss_bytes = s->mss_bytes;
}

/* Reset the state of the path to unknown: U = 1, and the next record is only stored. */
static inline void quell_hpcc_forget(struct quell_hpcc_vars *v)
{
	v->util_q24 = QUELL_HPCC_UTIL_ONE;
	v->hop = 0;
	v->stage = 0;
	v->flags &= ~(QUELL_HPCC_F_UTIL | QUELL_HPCC_F_MEASURED | QUELL_HPCC_F_CONGESTED);
}

/* Whether the next update multiplies: U / eta >= 1, or max_stage additive updates are over. */
static inline bool quell_hpcc_is_multiplicative(const struct quell_hpcc_vars *v,
						const struct quell_hpcc_params *p)
{
	return v->util_q24 >= p->eta_q16 << (QUELL_HPCC_UTIL_Q - QUELL_Q16_SHIFT) ||
	       v->stage >= p->max_stage_steps;
}

/*
 * The window computed from U and the reference, before the limits, bytes Q16: above any limit
 * on an idle link, U = 0.  @step_q16 is at most QUELL_HPCC_MOST_Q16.
 */
static inline u64 quell_hpcc_candidate_q16(const struct quell_hpcc_vars *v,
					   const struct quell_hpcc_params *p,
					   u64 step_q16)
{
	u64 eta_q24 = p->eta_q16 << (QUELL_HPCC_UTIL_Q - QUELL_Q16_SHIFT);
	u64 window_q16 = v->window_q16;

	if (quell_hpcc_is_multiplicative(v, p))
		window_q16 = quell_min_u64(quell_mul_div_u64(window_q16, eta_q24, v->util_q24),
					   QUELL_HPCC_MOST_Q16);
	return window_q16 + step_q16;
}

/* Additive increase of one update, bytes Q16. */
static inline u64 quell_hpcc_step_q16(const struct quell_hpcc_params *p, u64 base_rtt_ns)
{
	return quell_hpcc_rate_q16(base_rtt_ns, p->ai_bytes_ps);
}

/*
 * The window computed from U and the reference, bytes Q16; not above the reference
 * unless @may_rise.  The window is the reference itself if U was not measured recently
 * (see QUELL_HPCC_F_UTIL).
 */
static inline u64 quell_hpcc_window_q16(const struct quell_hpcc_vars *v,
					const struct quell_hpcc_params *p,
					u64 step_q16, bool may_rise)
{
	u64 window_q16;

	if (!(v->flags & QUELL_HPCC_F_UTIL))
		return v->window_q16;
	window_q16 = quell_hpcc_candidate_q16(v, p, step_q16);
	if (!may_rise && window_q16 > v->window_q16)
		return v->window_q16;
	return window_q16;
}

/* The window between two ACKs that measure U: never above the reference. */
static inline u64 quell_hpcc_held_q16(const struct quell_hpcc_vars *v,
				      const struct quell_hpcc_params *p)
{
	return quell_hpcc_window_q16(v, p, quell_hpcc_step_q16(p, quell_hpcc_base_rtt_ns(v, p)),
				     false);
}

/*
 * The flow has no records, or no longer gets any: fall back to Reno.  A flow without
 * a stored record, because it is new or just restarted, sends at a rate that no switch
 * confirmed, so its window drops to at most Reno's initial window.
 */
static inline void quell_hpcc_lose_records(struct quell_hpcc_vars *v,
					   const struct quell_hpcc_params *p,
					   struct quell_hpcc_stats *st)
{
	u64 window_q16 = quell_hpcc_held_q16(v, p);

	if (!v->hop)
		window_q16 = quell_min_u64(window_q16, quell_init_window_q16(v->mss_bytes));
	v->window_q16 = window_q16;
	quell_hpcc_forget(v);
	v->flags &= ~QUELL_HPCC_F_TELEMETRY;
	st->lost++;
}

/*
 * U of the stored record and a newer one of the same hop.
 *
 * For tau <= T, tau / T * (bytes / (tau * B) + queue / (B * T)) equals (bytes + queue * tau / T) /
 * (B * T).  In this form the rounding errors of bytes and timestamps do not add up over the ACKs of
 * a round trip.  For tau > T the weight is 1, and the bytes are scaled down to a period of T.
 *
 * The decay is rounded up and the addend down: on an idle link without a queue U reaches
 * 0; at a constant u it converges below u, by at most 1 / weight times 2^-23 and 2^-8 byte
 * in a product, and with a weight of 1 to u itself, rounded down.  A bandwidth-delay
 * product of less than 2^-8 byte saturates U.
 */
static inline void quell_hpcc_measure(struct quell_hpcc_vars *v,
				      const struct quell_hpcc_params *p,
				      const struct quell_telemetry *t, u64 base_rtt_ns, u32 tau_ns)
{
	u64 units = (t->tx_units - v->tx_units) & QUELL_TELEMETRY_TX_MASK;
	u64 queue_bytes = quell_min_u64(t->queue_bytes, v->queue_bytes);
	u64 load_q8 = (units * QUELL_TELEMETRY_TX_UNIT_BYTES) << QUELL_HPCC_LOAD_Q;
	u64 bdp_q8 = quell_mul_div_u64(t->link_bytes_ps, base_rtt_ns << QUELL_HPCC_LOAD_Q,
				       QUELL_NS_PER_SEC);
	u64 weight_q32 = QUELL_HPCC_WEIGHT_ONE;
	u64 util_q24 = v->util_q24;

	if (tau_ns < base_rtt_ns)
		weight_q32 = quell_div_u64((u64)tau_ns << QUELL_HPCC_WEIGHT_Q, base_rtt_ns);
	else
		load_q8 = quell_mul_div_u64(load_q8, base_rtt_ns, tau_ns);
	/* At most (2^32 - 1) * 2^32. */
	load_q8 += (queue_bytes * weight_q32) >> (QUELL_HPCC_WEIGHT_Q - QUELL_HPCC_LOAD_Q);
	/* At most (2^32 - 1) * 2^32 + 2^32 - 1. */
	util_q24 -= (util_q24 * weight_q32 + QUELL_HPCC_WEIGHT_ONE - 1) >> QUELL_HPCC_WEIGHT_Q;
	util_q24 = quell_add_sat_u64(util_q24, quell_mul_div_u64(load_q8, QUELL_HPCC_UTIL_ONE,
								 bdp_q8));
	v->util_q24 = quell_min_u64(util_q24, QUELL_HPCC_U32_MAX);

	v->flags |= QUELL_HPCC_F_UTIL | QUELL_HPCC_F_MEASURED;
	if (v->util_q24 >= p->eta_q16 << (QUELL_HPCC_UTIL_Q - QUELL_Q16_SHIFT))
		v->flags |= QUELL_HPCC_F_CONGESTED;
}

/*
 * Whether the stored record, if one exists, is too old to compare with a new one.  The sum does
 * not overflow: a clock that counts from boot stays below 2^63 ns.
 */
static inline bool quell_hpcc_is_stale(const struct quell_hpcc_vars *v, u64 now_ns)
{
	return now_ns > v->recorded_ns + QUELL_TELEMETRY_FRESH_NS;
}

/* An ACK without a usable record: without one for too long, the flow loses them. */
static __rare void quell_hpcc_miss_record(struct quell_hpcc_vars *v,
					  const struct quell_hpcc_params *p,
					  struct quell_hpcc_stats *st, u64 now_ns)
{
	st->no_record++;
	if ((v->flags & QUELL_HPCC_F_TELEMETRY) && (!v->hop || quell_hpcc_is_stale(v, now_ns)))
		quell_hpcc_lose_records(v, p, st);
}

/*
 * A record that is not newer than the stored one came with a reordered or duplicate ACK; the stored
 * record stays.  Returns whether the record gave a new utilisation.
 */
static inline bool quell_hpcc_take_record(struct quell_hpcc_vars *v,
					  const struct quell_hpcc_params *p,
					  struct quell_hpcc_stats *st,
					  const struct quell_sample *s, u64 base_rtt_ns)
{
	const struct quell_telemetry *t = &s->telemetry;
	u32 tau_ns = (t->time_ns - v->time_ns) & QUELL_TELEMETRY_TIME_MASK;
	bool comparable;

	if (!t->hop || !t->link_bytes_ps || !base_rtt_ns) {
		quell_hpcc_miss_record(v, p, st, s->now_ns);
		return false;
	}
	comparable = v->hop == t->hop && !quell_hpcc_is_stale(v, s->now_ns);
	if (comparable && (!tau_ns || tau_ns > QUELL_TELEMETRY_TIME_MASK / 2)) {
		st->repeated++;
		return false;
	}
	if (comparable) {
		quell_hpcc_measure(v, p, t, base_rtt_ns, tau_ns);
		st->measured++;
	} else {
		st->stored++;
	}
	v->flags |= QUELL_HPCC_F_TELEMETRY;
	v->recorded_ns = s->now_ns;
	v->queue_bytes = t->queue_bytes;
	v->tx_units = t->tx_units;
	v->time_ns = t->time_ns;
	v->hop = t->hop;
	return comparable;
}

#endif /* _QUELL_CORE_HPCC_VARS_H */

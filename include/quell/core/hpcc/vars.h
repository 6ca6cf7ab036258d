/* SPDX-License-Identifier: GPL-2.0 */
/*
 * HPCC: what is known of a flow and its path - the records of the switches, the
 * utilisation they give, the window that makes of the reference, and its limits.
 * What becomes of the reference is in quell/core/hpcc/react.h, which describes the
 * algorithm.
 */
#ifndef _QUELL_CORE_HPCC_VARS_H
#define _QUELL_CORE_HPCC_VARS_H

#include <quell/core/core.h>
#include <quell/core/hpcc/params.h>
#include <quell/core/lib/math.h>
#include <quell/core/lib/window.h>

/*
 * Utilisation: resolution 6e-8, saturated just below 256, which is a queue of 255
 * bandwidth-delay products.  Times a weight of at most 1 in Q32 it fits 64 bits.
 */
#define QUELL_HPCC_UTIL_Q		24
#define QUELL_HPCC_UTIL_ONE		(1U << QUELL_HPCC_UTIL_Q)
#define QUELL_HPCC_U32_MAX		0xffffffffULL
/* Fraction bits of a record's weight in the average. */
#define QUELL_HPCC_WEIGHT_Q		32
#define QUELL_HPCC_WEIGHT_ONE		(1ULL << QUELL_HPCC_WEIGHT_Q)
/* Fraction bits of byte counts below a bandwidth-delay product. */
#define QUELL_HPCC_LOAD_Q		8
/* Fraction bits of the window where it becomes a rate: fast up to 17 MB. */
#define QUELL_HPCC_PACE_Q		10

/* quell_hpcc_vars.flags */
#define QUELL_HPCC_F_TELEMETRY	0x01 /* records steer the flow, or are expected to */
#define QUELL_HPCC_F_UTIL	0x02 /* util_q24 was measured with this reference or the last */
#define QUELL_HPCC_F_MEASURED	0x04 /* util_q24 was measured in this round trip */
#define QUELL_HPCC_F_CONGESTED	0x08 /* and was eta or more */
#define QUELL_HPCC_F_ROUND	0x10 /* a round trip has begun */
#define QUELL_HPCC_F_LOSS	0x20 /* no clean round trip since the last loss */

/**
 * struct quell_hpcc_vars - state of one flow
 * @window_q16:		the reference, bytes Q16
 * @recorded_ns:	arrival of the stored record, ns; without one, of nothing
 * @queue_bytes:	stored record: queue
 * @tx_units:		stored record: bytes sent
 * @time_ns:		stored record: the switch's clock
 * @util_q24:		U, the average utilisation, saturated
 * @min_rtt_ns:		smallest round-trip time, ns, saturated; 0 none yet
 * @mss_bytes:		maximum segment size, > 0
 * @round_bytes:	of what was in flight when the round trip began, not yet
 *			acknowledged, bytes
 * @rtos:		timeouts since the last ACK
 * @hop:		stored record: the hop; 0 no record is stored
 * @stage:		round trips of additive increase so far
 * @flags:		QUELL_HPCC_F_*
 *
 * Written by the functions below only, under the lock of the flow's socket.
 */
struct quell_hpcc_vars {
	u64	window_q16;
	u64	recorded_ns;
	u32	queue_bytes;
	u32	tx_units;
	u32	time_ns;
	u32	util_q24;
	u32	min_rtt_ns;
	u32	mss_bytes;
	u32	round_bytes;
	u8	rtos;
	u8	hop;
	u8	stage;
	u8	flags;
};

/* Shares the 104 bytes of a socket's private area with the module's glue. */
static_assert(sizeof(struct quell_hpcc_vars) <= 64);

/**
 * struct quell_hpcc_stats - free-running counters
 * @measured:		ACKs whose record gave a utilisation
 * @stored:		ACKs whose record was only stored: the first, one of another
 *			hop, one too long after the last
 * @repeated:		ACKs whose record was not newer than the last
 * @no_record:		ACKs without a record, or with one that says nothing
 * @lost:		times a flow was left without records
 * @increases:		updates that raised the reference
 * @decreases:		updates that lowered the reference
 * @blind:		round trips without a measurement
 * @app_limited:	round trips that would have raised the reference of a flow
 *			with nothing more to send
 * @disregarded:	updates that would have lowered the reference, left out by
 *			chance
 * @fast_retx:		decreases because of a fast retransmit
 * @rtos:		retransmission timeouts
 * @rto_resets:		timeouts that put the window to its smallest
 * @restarts:		starts at the initial window after an idle time
 * @restarts_refused:	those that a recent loss, or the lack of records, kept from
 *			raising the window
 *
 * The first four count each ACK once.
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

/* Whether window, pacing and limits are HPCC's; otherwise they are Reno's. */
static inline bool quell_hpcc_is_steered(const struct quell_hpcc_vars *v,
					 const struct quell_hpcc_params *p)
{
	return (v->flags & QUELL_HPCC_F_TELEMETRY) && quell_hpcc_base_rtt_ns(v, p);
}

/*
 * What a rate makes in a base round trip, bytes Q16.  In the ranges of the
 * parameters 2^37 * 2^16 * 2^32 / 2^29 at most, or saturated.
 */
static inline u64 quell_hpcc_rate_q16(const struct quell_hpcc_vars *v,
				      const struct quell_hpcc_params *p, u64 bytes_ps)
{
	return quell_mul_div_u64(quell_mul_sat_u64(bytes_ps, QUELL_Q16_ONE),
				 quell_hpcc_base_rtt_ns(v, p), QUELL_NS_PER_SEC);
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

/*
 * A window within its limits: what the smallest rate and the link make of it.
 * Without records there is nothing to pace a smaller window by, so it stops at
 * one segment, as Reno's.
 */
static inline u64 quell_hpcc_limited_q16(const struct quell_hpcc_vars *v,
					 const struct quell_hpcc_params *p,
					 u64 link_bytes_ps, u64 window_q16)
{
	u64 max_q16 = p->max_window_bytes << QUELL_Q16_SHIFT;
	u64 min_q16 = quell_mss_q16(v->mss_bytes);

	if (quell_hpcc_is_steered(v, p)) {
		if (link_bytes_ps)
			max_q16 = quell_min_u64(max_q16,
						quell_hpcc_bdp_q16(v, p, link_bytes_ps));
		min_q16 = quell_hpcc_rate_q16(v, p, p->min_rate_bytes_ps);
		min_q16 = quell_max_u64(quell_min_u64(min_q16, max_q16), 1);
	}
	return quell_max_u64(quell_min_u64(window_q16, max_q16), min_q16);
}

/* The window spread over a base round trip, saturated at 2^54 bytes/s. */
static inline u64 quell_hpcc_pacing_bytes_ps(const struct quell_hpcc_vars *v,
					     const struct quell_hpcc_params *p,
					     u64 window_q16)
{
	u64 rate_bytes_ps;

	if (!quell_hpcc_is_steered(v, p))
		return QUELL_RATE_UNLIMITED;
	rate_bytes_ps = quell_mul_div_u64(window_q16 >> (QUELL_Q16_SHIFT - QUELL_HPCC_PACE_Q),
					  QUELL_NS_PER_SEC,
					  quell_hpcc_base_rtt_ns(v, p)) >> QUELL_HPCC_PACE_Q;
	return quell_max_u64(rate_bytes_ps, 1);
}

/* Limits the reference and this ACK's window, and says what is to be done. */
static inline void quell_hpcc_decide(struct quell_hpcc_vars *v,
				     const struct quell_hpcc_params *p,
				     u64 link_bytes_ps, u64 window_q16,
				     struct quell_decision *out)
{
	v->window_q16 = quell_hpcc_limited_q16(v, p, link_bytes_ps, v->window_q16);
	out->window_q16 = quell_hpcc_limited_q16(v, p, link_bytes_ps, window_q16);
	out->pacing_bytes_ps = quell_hpcc_pacing_bytes_ps(v, p, out->window_q16);
	out->target_ns = 0;
	out->change_path = false;
}

/*
 * Takes over what a sample says about the flow itself.  The sample's minimum
 * replaces the handshake's even where that is smaller: SYN packets are short.
 */
static inline void quell_hpcc_observe(struct quell_hpcc_vars *v,
				      const struct quell_sample *s)
{
	if (s->min_rtt_ns)
		v->min_rtt_ns = quell_min_u64(s->min_rtt_ns, QUELL_HPCC_U32_MAX);
	if (s->mss_bytes)
		v->mss_bytes = s->mss_bytes;
}

/* Nothing is known of the path: U = 1, the next record is only stored. */
static inline void quell_hpcc_forget(struct quell_hpcc_vars *v)
{
	v->util_q24 = QUELL_HPCC_UTIL_ONE;
	v->hop = 0;
	v->stage = 0;
	v->flags &= ~(QUELL_HPCC_F_UTIL | QUELL_HPCC_F_MEASURED | QUELL_HPCC_F_CONGESTED);
}

/* Whether the next update multiplies: k = U / eta >= 1, or it is its turn. */
static inline bool quell_hpcc_is_multiplicative(const struct quell_hpcc_vars *v,
						const struct quell_hpcc_params *p)
{
	return v->util_q24 >= p->eta_q16 << (QUELL_HPCC_UTIL_Q - QUELL_Q16_SHIFT) ||
	       v->stage >= p->max_stage_steps;
}

/*
 * The window that U makes of the reference, before the limits, bytes Q16.  An
 * idle link, U = 0, saturates.
 */
static inline u64 quell_hpcc_candidate_q16(const struct quell_hpcc_vars *v,
					   const struct quell_hpcc_params *p,
					   u64 step_q16)
{
	u64 eta_q24 = p->eta_q16 << (QUELL_HPCC_UTIL_Q - QUELL_Q16_SHIFT);
	u64 window_q16 = v->window_q16;

	if (quell_hpcc_is_multiplicative(v, p))
		window_q16 = quell_mul_div_u64(window_q16, eta_q24, v->util_q24);
	return quell_add_sat_u64(window_q16, step_q16);
}

/* What an update adds, bytes Q16. */
static inline u64 quell_hpcc_step_q16(const struct quell_hpcc_vars *v,
				      const struct quell_hpcc_params *p)
{
	return quell_hpcc_rate_q16(v, p, p->ai_bytes_ps);
}

/*
 * The window that U makes of the reference, bytes Q16; not above the reference
 * unless it @may_rise.  The reference itself, when U is of another time.
 */
static inline u64 quell_hpcc_window_q16(const struct quell_hpcc_vars *v,
					const struct quell_hpcc_params *p,
					u64 step_q16, bool may_rise)
{
	u64 window_q16;

	if (!(v->flags & QUELL_HPCC_F_UTIL))
		return v->window_q16;
	window_q16 = quell_hpcc_candidate_q16(v, p, step_q16);
	return may_rise ? window_q16 : quell_min_u64(window_q16, v->window_q16);
}

/* The window between two ACKs that measure: never above what they decided. */
static inline u64 quell_hpcc_held_q16(const struct quell_hpcc_vars *v,
				      const struct quell_hpcc_params *p)
{
	return quell_hpcc_window_q16(v, p, quell_hpcc_step_q16(v, p), false);
}

/*
 * The flow has no records, or none any more: Reno from here.  One that never had
 * any started at a rate nobody vouched for, and goes back to Reno's first window.
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
 * tau / T * (bytes / (tau * B) + queue / (B * T)) is, where tau <= T,
 * (bytes + queue * tau / T) / (B * T): so rounding of bytes and stamps does not
 * add up over the ACKs of a round trip.  Above T the weight is 1 and the bytes
 * are those of T.
 *
 * The decay is rounded up, what is added rounded down: with nothing sent and no
 * queue U reaches 0; at a constant u it comes to rest below u, by at most
 * 1 / weight times 2^-23 and 2^-8 byte in a product, and with a weight of 1 at u
 * itself, rounded down.  A product of less than 2^-8 byte saturates U.
 */
static inline void quell_hpcc_measure(struct quell_hpcc_vars *v,
				      const struct quell_hpcc_params *p,
				      const struct quell_telemetry *t, u32 tau_ns)
{
	u64 units = (t->tx_units - v->tx_units) & QUELL_TELEMETRY_TX_MASK;
	u64 base_rtt_ns = quell_hpcc_base_rtt_ns(v, p);
	u64 queue_q8 = quell_min_u64(t->queue_bytes, v->queue_bytes) << QUELL_HPCC_LOAD_Q;
	u64 load_q8 = (units * QUELL_TELEMETRY_TX_UNIT_BYTES) << QUELL_HPCC_LOAD_Q;
	u64 bdp_q8 = quell_mul_div_u64(quell_mul_sat_u64(t->link_bytes_ps,
							 1U << QUELL_HPCC_LOAD_Q),
				       base_rtt_ns, QUELL_NS_PER_SEC);
	u64 weight_q32 = QUELL_HPCC_WEIGHT_ONE;
	u64 util_q24 = v->util_q24;

	if (tau_ns < base_rtt_ns)
		weight_q32 = quell_div_u64((u64)tau_ns << QUELL_HPCC_WEIGHT_Q, base_rtt_ns);
	else
		load_q8 = quell_mul_div_u64(load_q8, base_rtt_ns, tau_ns);
	load_q8 += quell_mul_shr_u64(queue_q8, weight_q32, QUELL_HPCC_WEIGHT_Q);
	/* At most (2^32 - 1) * 2^32 + 2^32 - 1. */
	util_q24 -= (util_q24 * weight_q32 + QUELL_HPCC_WEIGHT_ONE - 1) >> QUELL_HPCC_WEIGHT_Q;
	util_q24 = quell_add_sat_u64(util_q24, quell_mul_div_u64(load_q8, QUELL_HPCC_UTIL_ONE,
								 bdp_q8));
	v->util_q24 = quell_min_u64(util_q24, QUELL_HPCC_U32_MAX);

	v->flags |= QUELL_HPCC_F_UTIL | QUELL_HPCC_F_MEASURED;
	if (v->util_q24 >= p->eta_q16 << (QUELL_HPCC_UTIL_Q - QUELL_Q16_SHIFT))
		v->flags |= QUELL_HPCC_F_CONGESTED;
}

/* Whether a stored record, if there is one, is too old to compare with. */
static inline bool quell_hpcc_is_stale(const struct quell_hpcc_vars *v, u64 now_ns)
{
	return quell_sub_sat_u64(now_ns, v->recorded_ns) > QUELL_TELEMETRY_FRESH_NS;
}

/* Whether a sample's record says enough to steer by. */
static inline bool quell_hpcc_has_record(const struct quell_hpcc_vars *v,
					 const struct quell_hpcc_params *p,
					 const struct quell_sample *s)
{
	return s->telemetry.hop && s->telemetry.link_bytes_ps &&
	       quell_hpcc_base_rtt_ns(v, p);
}

/**
 * quell_hpcc_take_record() - what an ACK's record says of its hop
 * @v:  state of the flow
 * @p:  parameters, within their ranges
 * @st: counters
 * @s:  what the ACK said
 *
 * A record of the time of the last, or older, came with an ACK overtaken by
 * another or repeated; the stored one stays.
 *
 * Context: any; the caller serialises per flow.
 * Return: whether it gave a new utilisation.
 */
static inline bool quell_hpcc_take_record(struct quell_hpcc_vars *v,
					  const struct quell_hpcc_params *p,
					  struct quell_hpcc_stats *st,
					  const struct quell_sample *s)
{
	const struct quell_telemetry *t = &s->telemetry;
	u32 tau_ns = (t->time_ns - v->time_ns) & QUELL_TELEMETRY_TIME_MASK;
	bool comparable = v->hop == t->hop && !quell_hpcc_is_stale(v, s->now_ns);

	if (!quell_hpcc_has_record(v, p, s)) {
		st->no_record++;
		if ((v->flags & QUELL_HPCC_F_TELEMETRY) &&
		    (!v->hop || quell_hpcc_is_stale(v, s->now_ns)))
			quell_hpcc_lose_records(v, p, st);
		return false;
	}
	if (comparable && (!tau_ns || tau_ns > QUELL_TELEMETRY_TIME_MASK / 2)) {
		st->repeated++;
		return false;
	}
	if (comparable)
		quell_hpcc_measure(v, p, t, tau_ns);
	st->measured += comparable;
	st->stored += !comparable;
	v->flags |= QUELL_HPCC_F_TELEMETRY;
	v->recorded_ns = s->now_ns;
	v->queue_bytes = t->queue_bytes;
	v->tx_units = t->tx_units;
	v->time_ns = t->time_ns;
	v->hop = t->hop;
	return comparable;
}

#endif /* _QUELL_CORE_HPCC_VARS_H */

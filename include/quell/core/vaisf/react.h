/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Variable Additive Increase and Sampling Frequency: two mechanisms that bring flows to a fair
 * share faster, for any algorithm that adds a constant and multiplies by a measure of congestion.
 *
 * Variable AI.  More congestion than the algorithm causes by itself indicates new
 * flows and thus unfair shares.  Such congestion earns tokens; the number of tokens used
 * multiplies the additive increase.  A dampener that grows with lasting congestion keeps
 * the larger increase from causing the congestion that earns further tokens.
 *
 *	when a round trip has finished (Algorithm 1):
 *		if measured > token_thresh:
 *			bank = min(bank + measured / ai_div, bank_cap)
 *			dampener += measured / token_thresh
 *		else if bank == 0:
 *			if there was no congestion: dampener = 0
 *			else if measured < token_thresh: dampener = max(dampener - 1, 0)
 *		measured = 0
 *	for an increase (Algorithm 2):
 *		tokens = min(ai_cap, bank)
 *		if the reference is being adjusted: bank -= tokens
 *		increase = max(tokens / (dampener / dampener_constant + 1), 1) * ai
 *
 * Sampling Frequency.  The algorithm computes its window on every ACK from a
 * reference.  The reference may decrease once per sampling_pkts acknowledged packets, so
 * flows with more packets decrease it more often; it may increase once per round trip.
 * The mechanism counts packets, not ACKs, because receive offload merges ACKs.  With
 * sampling_rtt the reference may also decrease at the end of a round trip, so that flows
 * of fewer than sampling_pkts packets per round trip decrease it once per round trip.
 *
 * The algorithm defines the unit of congestion, the threshold and the number of tokens
 * earned: Swift uses delay, HPCC queued bytes.
 *
 * The algorithm counts round trips.  As in HPCC, one ends when the first packet sent after its
 * beginning is acknowledged.
 *
 * The mechanisms have no requirements of the network.  Paper: Snyder and Lebeck, the VAI/SF paper,
 * sections IV, V and VI-A.  Departures: Documentation/swift_vaisf.md.
 */
#ifndef _QUELL_CORE_VAISF_REACT_H
#define _QUELL_CORE_VAISF_REACT_H

#include <quell/core/core.h>
#include <quell/core/lib/math.h>
#include <quell/core/vaisf/params.h>

#define QUELL_VAISF_U32_MAX	0xffffffffULL
#define QUELL_VAISF_U16_MAX	0xffffULL

/* State of one flow; all zero when it begins. */
struct quell_vaisf_vars {
	u32	measured;	/* largest congestion in this round trip, saturated */
	u32	dampener_q16;	/* saturated */
	u16	bank_tokens;	/* at most QUELL_VAISF_BANK_CAP_TOKENS_MAX */
	u16	sampled_pkts;	/* acknowledged since the last decrease, saturated */
};

static inline void quell_vaisf_reset(struct quell_vaisf_vars *v)
{
	v->measured = 0;
	v->dampener_q16 = 0;
	v->bank_tokens = 0;
	v->sampled_pkts = 0;
}

/*
 * Where the ACK finishes a round trip, the caller has to call quell_vaisf_finish_round() next.
 * @measured: congestion in the algorithm's unit, 0 without.
 */
static inline void quell_vaisf_observe(struct quell_vaisf_vars *v,
				       const struct quell_sample *s, u64 measured)
{
	if (measured > v->measured)
		v->measured = quell_min_u64(measured, QUELL_VAISF_U32_MAX);
	v->sampled_pkts = quell_min_u64((u64)v->sampled_pkts + s->acked_pkts,
					QUELL_VAISF_U16_MAX);
}

/* Add measured / token_thresh to the dampener; a threshold of 0 saturates the dampener. */
static inline void quell_vaisf_dampen(struct quell_vaisf_vars *v, u64 token_thresh)
{
	u64 ratio_q16 = quell_div_u64((u64)v->measured << QUELL_Q16_SHIFT, token_thresh);

	v->dampener_q16 = quell_min_u64(quell_add_sat_u64(v->dampener_q16, ratio_q16),
					QUELL_VAISF_U32_MAX);
}

/*
 * Earn tokens, set the dampener (Algorithm 1).  @token_thresh is in the unit of @v->measured, which
 * earns @tokens above it.
 */
static inline void quell_vaisf_finish_round(struct quell_vaisf_vars *v,
					    const struct quell_vaisf_params *p,
					    u64 token_thresh, u64 tokens,
					    bool congested)
{
	if (v->measured > token_thresh) {
		v->bank_tokens = quell_min_u64(quell_add_sat_u64(v->bank_tokens, tokens),
					       p->bank_cap_tokens);
		quell_vaisf_dampen(v, token_thresh);
	} else if (!v->bank_tokens) {
		if (!congested)
			v->dampener_q16 = 0;
		else if (v->measured < token_thresh)
			v->dampener_q16 = quell_sub_sat_u64(v->dampener_q16, QUELL_Q16_ONE);
	}
	v->measured = 0;
}

/* Tokens that the next adjustment of the reference uses: Algorithm 2, line 2. */
static inline u64 quell_vaisf_tokens(const struct quell_vaisf_vars *v,
				     const struct quell_vaisf_params *p)
{
	return quell_min_u64(p->ai_cap_tokens, v->bank_tokens);
}

/*
 * Algorithm 2, lines 6 and 7: tokens / (dampener / constant + 1), at least 1 and rounded down,
 * times @step_q16, saturated.  One token is at most 1, so most ACKs need no division.  The product
 * of tokens and constant is below 2^16 * 2^16 * 2^32.
 */
static inline u64 quell_vaisf_increase_q16(const struct quell_vaisf_vars *v,
					   const struct quell_vaisf_params *p, u64 step_q16)
{
	u64 tokens = quell_vaisf_tokens(v, p);
	u64 damped_q16;

	if (tokens <= 1)
		return step_q16;
	damped_q16 = quell_div_u64((tokens << QUELL_Q16_SHIFT) * p->dampener_q16,
				   p->dampener_q16 + v->dampener_q16);
	return quell_mul_shr_u64(step_q16, quell_max_u64(damped_q16, QUELL_Q16_ONE),
				 QUELL_Q16_SHIFT);
}

/* True once per sampling period and, with sampling_rtt, once per round trip. */
static inline bool quell_vaisf_may_decrease(const struct quell_vaisf_vars *v,
					    const struct quell_vaisf_params *p,
					    bool round_finished)
{
	return v->sampled_pkts >= p->sampling_pkts || (p->sampling_rtt && round_finished);
}

/*
 * Algorithm 2, lines 3 to 5.  @decreased: the reference did, which begins a new sampling period.
 * Returns the tokens spent.
 */
static inline u64 quell_vaisf_adjusted(struct quell_vaisf_vars *v,
				       const struct quell_vaisf_params *p,
				       bool decreased)
{
	u64 tokens = quell_vaisf_tokens(v, p);

	v->bank_tokens -= tokens;
	if (decreased)
		v->sampled_pkts = 0;
	return tokens;
}

#endif /* _QUELL_CORE_VAISF_REACT_H */

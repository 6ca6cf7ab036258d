/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CUBIC, for flows without their algorithm's congestion signal.
 *
 *	on an ACK, where the window is used up:
 *		t = time since the epoch began, without times of an unused window
 *		W_cubic(t) = C * (t - K)^3 + W_max,	K = cbrt((W_max - W) / C)
 *		W_est += alpha * acked / W
 *		window = max(W_est,
 *			     window + (clamp(W_cubic(t + RTT), W, 1.5 W) - W) * acked / W)
 *			and at least 5 % a round trip while no loss was seen
 *	on a loss, or the first mark of a round trip:
 *		prior = window
 *		W_max = window, or window * (1 + beta) / 2 if it was below the last W_max
 *		window *= beta
 *
 *	C = 0.4 segments/s^3, beta = 0.7,
 *	alpha = 3 (1 - beta) / (1 + beta), and 1 from W_est = prior on
 *
 * The cores cannot call the kernel's tcp_cubic for a socket that may return to its own algorithm:
 * tcp_cubic keeps its state in the same private area as Quell's modules, and exports no function.
 * Times are in ms: on shorter round trips W_est governs.  The 5 % are from the kernel's tcp_cubic,
 * not from the RFC: the capacity of the path is unknown before the first loss.
 *
 * Paper: RFC 9438, sections 4.1 to 4.9.
 */
#ifndef _QUELL_CORE_LIB_CUBIC_H
#define _QUELL_CORE_LIB_CUBIC_H

#include <quell/core/core.h>
#include <quell/core/lib/math.h>

#define QUELL_CUBIC_BETA_NUM		7
#define QUELL_CUBIC_BETA_DEN		10
/* Fast convergence, (1 + beta) / 2. */
#define QUELL_CUBIC_LESS_NUM		17
#define QUELL_CUBIC_LESS_DEN		20
/* alpha = 9 / 17. */
#define QUELL_CUBIC_ALPHA_NUM		9
#define QUELL_CUBIC_ALPHA_DEN		17
/* 1 / C in ms^3 per segment: 2.5e9. */
#define QUELL_CUBIC_SCALE_MS3		2500000000ULL
/* Cap of the time in the cubic function: TCP's window limit of 1 GiB governs beyond it. */
#define QUELL_CUBIC_FAR_MS		1000000ULL
#define QUELL_CUBIC_NS_PER_MS		1000000
/* tcp_cubic: before a loss the window grows by one segment per 20 acknowledged, at least. */
#define QUELL_CUBIC_UNKNOWN_SHARE	20
#define QUELL_CUBIC_MAX_WINDOW_Q16	(1ULL << (30 + QUELL_Q16_SHIFT))

/* State of one flow. */
struct quell_cubic {
	u64	window_q16;	/* bytes */
	u64	reno_q16;	/* W_est, bytes */
	u32	epoch_ms;	/* start, modulo 2^32; 0: the next ACK starts an epoch */
	u32	seen_ms;	/* last ACK, modulo 2^32 */
	u32	ssthresh_bytes;
	u32	max_bytes;	/* W_max; 0 before the first epoch and loss */
	u32	prior_bytes;	/* window before the last reduction; 0 before the first one */
	u32	prior_ssthresh_bytes;	/* before the last reduction */
	u32	k_ms;	/* K */
	u32	marked_bytes;	/* by the caller: in the current round trip */
};

static inline u64 quell_cubic_max_q16(const struct quell_cubic *c)
{
	return (u64)c->max_bytes << QUELL_Q16_SHIFT;
}

/*
 * Cube root, rounded down; x below 2^63.  The steps do not branch: BPF's verifier would follow
 * each root that there may be.
 */
static inline u64 quell_cubic_root(u64 x)
{
	u64 root = 0, bit;

	for (bit = 1ULL << 20; bit; bit >>= 1) {
		u64 next = root | bit;
		u64 exceeds = (x - next * next * next) >> 63;

		root |= bit & (exceeds - 1);
	}
	return root;
}

static inline void quell_cubic_enter(struct quell_cubic *c, u64 window_q16)
{
	*c = (struct quell_cubic) {
		.window_q16 = quell_min_u64(window_q16, QUELL_CUBIC_MAX_WINDOW_Q16),
	};
	c->ssthresh_bytes = c->window_q16 >> QUELL_Q16_SHIFT;
}

static inline void quell_cubic_add(struct quell_cubic *c, u64 more_q16)
{
	c->window_q16 = quell_min_u64(quell_add_sat_u64(c->window_q16, more_q16),
				      QUELL_CUBIC_MAX_WINDOW_Q16);
}

/* Start an epoch, at the first ACK of the flow or after a reduction. */
static __rare void quell_cubic_epoch(struct quell_cubic *c, u32 now_ms, u32 mss_bytes)
{
	u64 below_q16 = quell_sub_sat_u64(quell_cubic_max_q16(c), c->window_q16);
	u64 below_pkts_q10 = quell_div_u64(below_q16 >> (QUELL_Q16_SHIFT - 10), mss_bytes);

	c->epoch_ms = quell_max_u64(now_ms, 1);
	c->reno_q16 = c->window_q16;
	if (!below_q16)
		c->max_bytes = c->window_q16 >> QUELL_Q16_SHIFT;
	c->k_ms = quell_cubic_root(quell_mul_shr_u64(below_pkts_q10, QUELL_CUBIC_SCALE_MS3, 10));
}

/* W_cubic at @at_ms, bytes Q16. */
static inline u64 quell_cubic_at_q16(const struct quell_cubic *c, u32 at_ms, u32 mss_bytes)
{
	u64 t_ms = quell_min_u64(at_ms - c->epoch_ms, QUELL_CUBIC_FAR_MS);
	u64 off_ms = t_ms > c->k_ms ? t_ms - c->k_ms : c->k_ms - t_ms;
	u64 off_pkts_q16 = quell_mul_div_u64(off_ms * off_ms * off_ms, QUELL_Q16_ONE,
					     QUELL_CUBIC_SCALE_MS3);
	u64 off_q16 = quell_mul_sat_u64(off_pkts_q16, mss_bytes);

	return t_ms > c->k_ms ? quell_add_sat_u64(quell_cubic_max_q16(c), off_q16) :
				quell_sub_sat_u64(quell_cubic_max_q16(c), off_q16);
}

/* W_est after an ACK: alpha is 9/17 below the window before the last cut, then 1. */
static inline void quell_cubic_reno(struct quell_cubic *c, u64 acked_q16, u64 window_q16,
				    u64 mss_q16)
{
	u64 step_q16 = quell_mul_div_u64(mss_q16, acked_q16, window_q16);

	if (c->reno_q16 < (u64)c->prior_bytes << QUELL_Q16_SHIFT)
		step_q16 = quell_mul_div_u64(step_q16, QUELL_CUBIC_ALPHA_NUM,
					     QUELL_CUBIC_ALPHA_DEN);
	c->reno_q16 = quell_add_sat_u64(c->reno_q16, step_q16);
}

/* The window is fully used.  @mss_bytes is > 0, here and below.  RFC 9438, 4.2 to 4.5. */
static inline void quell_cubic_on_ack(struct quell_cubic *c, u64 now_ns, u64 rtt_ns,
				      u32 acked_bytes, u32 mss_bytes)
{
	u64 mss_q16 = (u64)mss_bytes << QUELL_Q16_SHIFT;
	u64 acked_q16 = (u64)acked_bytes << QUELL_Q16_SHIFT;
	u64 window_q16 = quell_max_u64(c->window_q16, mss_q16);
	u32 now_ms = quell_div_u64(now_ns, QUELL_CUBIC_NS_PER_MS);
	u32 rtt_ms = quell_div_u64(rtt_ns, QUELL_CUBIC_NS_PER_MS);
	u64 to_q16;

	c->seen_ms = now_ms;
	if (!c->epoch_ms)
		quell_cubic_epoch(c, now_ms, mss_bytes);
	quell_cubic_reno(c, acked_q16, window_q16, mss_q16);
	to_q16 = quell_max_u64(quell_cubic_at_q16(c, now_ms + rtt_ms, mss_bytes), window_q16);
	to_q16 = quell_min_u64(to_q16, window_q16 + window_q16 / 2);
	quell_cubic_add(c, quell_mul_div_u64(to_q16 - window_q16, acked_q16, window_q16));
	if (!c->prior_bytes && c->window_q16 < window_q16 + acked_q16 / QUELL_CUBIC_UNKNOWN_SHARE)
		quell_cubic_add(c, window_q16 + acked_q16 / QUELL_CUBIC_UNKNOWN_SHARE -
				   c->window_q16);
	if (c->reno_q16 > c->window_q16)
		quell_cubic_add(c, c->reno_q16 - c->window_q16);
}

/*
 * The window is not fully used: it stays, and the epoch is extended by the time since the last ACK
 * (RFC 9438, 4.2 and 5.8).
 */
static inline void quell_cubic_wait(struct quell_cubic *c, u64 now_ns)
{
	u32 now_ms = quell_div_u64(now_ns, QUELL_CUBIC_NS_PER_MS);

	if (c->epoch_ms)
		c->epoch_ms = quell_max_u64(c->epoch_ms + (now_ms - c->seen_ms), 1);
	c->seen_ms = now_ms;
}

/* A loss or mark, once per episode.  RFC 9438, 4.6 and 4.7. */
static __rare void quell_cubic_on_loss(struct quell_cubic *c, u32 mss_bytes)
{
	u64 least_q16 = (u64)2 * mss_bytes << QUELL_Q16_SHIFT;
	u64 window_bytes = c->window_q16 >> QUELL_Q16_SHIFT;

	c->prior_bytes = window_bytes;
	c->prior_ssthresh_bytes = c->ssthresh_bytes;
	c->max_bytes = window_bytes < c->max_bytes ?
		       quell_mul_div_u64(window_bytes, QUELL_CUBIC_LESS_NUM,
					 QUELL_CUBIC_LESS_DEN) : window_bytes;
	c->window_q16 = quell_max_u64(quell_mul_div_u64(c->window_q16, QUELL_CUBIC_BETA_NUM,
							QUELL_CUBIC_BETA_DEN), least_q16);
	c->ssthresh_bytes = c->window_q16 >> QUELL_Q16_SHIFT;
	c->epoch_ms = 0;
}

/* The window less @less_q16, half of it at most, but two segments at least if it had them. */
static inline u64 quell_cubic_less_q16(const struct quell_cubic *c, u64 less_q16, u32 mss_bytes)
{
	u64 least_q16 = quell_min_u64((u64)2 * mss_bytes << QUELL_Q16_SHIFT, c->window_q16);

	return quell_max_u64(c->window_q16 - quell_min_u64(less_q16, c->window_q16 / 2), least_q16);
}

/*
 * RFC 8257, 3.3, with the part marked in one round trip in place of its average: reduces by half of
 * it, but by no more than a loss does (RFC 9438, 4.6) if @path_q16, the window without a queue,
 * is not less: a burst alone may be marked as a whole.  W_max is the window as it was.  Before the
 * first loss the window grows by 5 % a round trip as before.
 */
static inline void quell_cubic_on_marks(struct quell_cubic *c, u32 marked_bytes, u64 path_q16,
					u32 mss_bytes)
{
	u64 least_q16 = quell_min_u64(path_q16, quell_mul_div_u64(c->window_q16,
								  QUELL_CUBIC_BETA_NUM,
								  QUELL_CUBIC_BETA_DEN));

	c->max_bytes = c->window_q16 >> QUELL_Q16_SHIFT;
	c->window_q16 = quell_cubic_less_q16(c, (u64)marked_bytes << (QUELL_Q16_SHIFT - 1),
					     mss_bytes);
	c->window_q16 = quell_max_u64(c->window_q16, least_q16);
	c->ssthresh_bytes = c->window_q16 >> QUELL_Q16_SHIFT;
	c->epoch_ms = 0;
}

/*
 * A loss of data sent before quell_cubic_on_marks() reduced the window: it is the same congestion,
 * and the reductions of the window of before that are not added.  An undo restores that window.
 */
static inline void quell_cubic_on_marked_loss(struct quell_cubic *c, u32 mss_bytes)
{
	u64 window_q16 = c->window_q16;

	c->window_q16 = quell_cubic_max_q16(c);
	quell_cubic_on_loss(c, mss_bytes);
	c->window_q16 = quell_min_u64(c->window_q16, window_q16);
	c->ssthresh_bytes = c->window_q16 >> QUELL_Q16_SHIFT;
}

/* The capacity of the path is unknown again: the window grows as before the first loss. */
static inline void quell_cubic_probe(struct quell_cubic *c)
{
	c->prior_bytes = 0;
}

/*
 * RFC 9438, 4.8; RFC 5681, 3.1: a further timeout of the episode (@again) leaves ssthresh
 * unchanged.
 */
static inline void quell_cubic_on_rto(struct quell_cubic *c, u32 mss_bytes, bool again)
{
	if (!again)
		quell_cubic_on_loss(c, mss_bytes);
	c->window_q16 = (u64)mss_bytes << QUELL_Q16_SHIFT;
	c->epoch_ms = 0;
}

/* RFC 9438, 4.9; the reduction of W_max by fast convergence is not undone. */
static inline void quell_cubic_undo(struct quell_cubic *c)
{
	u64 prior_q16 = (u64)c->prior_bytes << QUELL_Q16_SHIFT;

	c->window_q16 = quell_max_u64(c->window_q16, prior_q16);
	c->ssthresh_bytes = quell_max_u64(c->ssthresh_bytes, c->prior_ssthresh_bytes);
	c->epoch_ms = 0;
}

#endif /* _QUELL_CORE_LIB_CUBIC_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fitting an algorithm to the path: how a flow searches for the capacity of the path, and
 * measures its noise meanwhile.  See <quell/core/adapt/react.h>.
 */
#ifndef _QUELL_CORE_ADAPT_START_H
#define _QUELL_CORE_ADAPT_START_H

#include <quell/core/adapt/vars.h>

/* The round-trip time without the hold time of the receiver; 0 unknown. */
static inline u32 quell_adapt_rtt_ns(const struct quell_sample *s)
{
	u64 rtt_ns = s->remote_ns < s->rtt_ns ? s->rtt_ns - s->remote_ns : s->rtt_ns;

	return quell_min_u64(rtt_ns, QUELL_ADAPT_MOST_NS);
}

/* Marks, which may be of bytes that are not reported as marked, @marked_bytes > 0. */
static inline void quell_adapt_note_marks(struct quell_adapt *a, u32 marked_bytes)
{
	a->flags |= QUELL_ADAPT_F_MARKED;
	a->cubic.marked_bytes = quell_min_u64((u64)a->cubic.marked_bytes + marked_bytes,
					      QUELL_U32_MAX);
}

/* Payload that reached the slowest hop together with the newest byte acknowledged. */
static inline u64 quell_adapt_burst_bytes(const struct quell_sample *s)
{
	return quell_max_u64(s->acked_bytes, s->burst_bytes);
}

/*
 * The longest base of full packets, after that of small ones.  On a path that is fast enough for
 * the algorithm it is longer by no more than a packet takes at the least rate for it.  One without
 * a least rate is for slower paths as well, as long as their round trip is short enough for it.
 */
static inline u64 quell_adapt_longest_base_ns(const struct quell_adapt *a,
					      const struct quell_adapt_needs *needs, u32 mss_bytes)
{
	u64 rate_bytes_ps = needs->slowest_bytes_ps ?: QUELL_ADAPT_BASE_BYTES_PS;
	u64 longest_ns = a->base_ns +
			 quell_div_u64((u64)mss_bytes * QUELL_NS_PER_SEC, rate_bytes_ps);

	if (needs->slowest_bytes_ps)
		return longest_ns;
	return quell_max_u64(longest_ns, (u64)needs->longest_ns + 1);
}

/*
 * Store-and-forward hops delay full packets for longer than small ones: once full ones were
 * measured, the base is theirs.  The first of them may have met a queue, so it is bounded.
 */
static inline void quell_adapt_note_base(struct quell_adapt *a,
					 const struct quell_adapt_needs *needs,
					 const struct quell_sample *s, u32 rtt_ns)
{
	u32 pkts;

	if (a->base_pkts && rtt_ns >= a->base_ns)
		return;
	pkts = quell_div_u64(quell_adapt_burst_bytes(s) + s->mss_bytes / 2, s->mss_bytes);
	if (a->base_ns && rtt_ns >= a->base_ns && !pkts)
		return;
	if (a->base_pkts && !pkts)
		return;
	if (a->base_ns && !a->base_pkts && pkts)
		rtt_ns = quell_min_u64(rtt_ns, quell_adapt_longest_base_ns(a, needs, s->mss_bytes));
	a->base_ns = rtt_ns;
	a->base_pkts = quell_min_u64(pkts, 0xff);
}

/*
 * A round-trip time without that of the flow's own burst.  The last packet of a burst is behind
 * the others for as long as the slowest hop takes for them: that is no queue which a smaller window
 * would shorten.  The time that they took to leave this host is not part of a round-trip time.
 * The rate of the hop may be higher than the one known: at most 1/@share of it is due to a burst.
 */
static inline u32 quell_adapt_queue_ns(const struct quell_adapt *a, const struct quell_sample *s,
				       u32 rtt_ns, u32 share)
{
	u64 more_bytes = quell_sub_sat_u64(quell_adapt_burst_bytes(s),
					   (u64)a->base_pkts * s->mss_bytes);
	u64 burst_ns = more_bytes * a->byte_ns_q16 >> QUELL_Q16_SHIFT;

	if (more_bytes && s->link_bytes_ps)
		burst_ns = quell_sub_sat_u64(burst_ns,
					     quell_div_u64(more_bytes * QUELL_NS_PER_SEC,
							   s->link_bytes_ps));
	return rtt_ns - quell_min_u64(burst_ns, rtt_ns / share);
}

/*
 * TCP measured the rate of delivery; once in a round trip.  While the application limits the flow
 * TCP measures as before, or more, for however long: less data is no measure of the path,
 * tcp_bbr.c.
 */
static inline void quell_adapt_note_rate(struct quell_adapt *a, u64 delivered_bytes,
					 u32 interval_us)
{
	u64 byte_ns_q16 = quell_div_u64((u64)interval_us * QUELL_ADAPT_NS_PER_US << QUELL_Q16_SHIFT,
					delivered_bytes);
	u64 slower_q16 = (u64)a->byte_ns_q16 + a->byte_ns_q16 / QUELL_ADAPT_RATE_SHARE;

	if (!delivered_bytes || !interval_us)
		return;
	if (a->byte_ns_q16)
		byte_ns_q16 = quell_min_u64(byte_ns_q16, slower_q16);
	a->byte_ns_q16 = quell_max_u64(quell_min_u64(byte_ns_q16, QUELL_U32_MAX), 1);
}

/* Receivers delay ACKs: that of two packets speaks for both of them. */
static inline void quell_adapt_observe(struct quell_adapt *a,
				       const struct quell_adapt_needs *needs,
				       const struct quell_sample *s)
{
	u32 rtt_ns = quell_adapt_rtt_ns(s);

	if (s->marked_bytes)
		quell_adapt_note_marks(a, s->marked_bytes);
	if (s->telemetry.hop)
		a->flags |= QUELL_ADAPT_F_RECORD;
	if (!rtt_ns)
		return;
	/* A connection's first data is flagged as well, but follows no queue. */
	if (s->flags & QUELL_S_APP_LIMITED && !a->first)
		a->slack = QUELL_ADAPT_SLACK_ROUNDS;
	quell_adapt_note_base(a, needs, s, rtt_ns);
	if (a->phase == QUELL_ADAPT_START && (!a->samples || rtt_ns < a->raw_ns))
		a->raw_ns = rtt_ns;
	/* Slow start sends in bursts, and is to end before they have made a queue. */
	rtt_ns = quell_adapt_queue_ns(a, s, rtt_ns, a->phase == QUELL_ADAPT_START ?
						    QUELL_ADAPT_BURST_SHARE_START :
						    QUELL_ADAPT_BURST_SHARE);
	if (!a->samples || rtt_ns < a->least_ns)
		a->least_ns = rtt_ns;
	a->samples = quell_min_u64(a->samples + (s->acked_pkts > 1 ? 2U : 1U), 0xff);
}

static inline void quell_adapt_note_noise(struct quell_adapt *a, u64 late_ns)
{
	late_ns = quell_min_u64(late_ns, QUELL_ADAPT_NOISE_MOST_NS);
	a->noise_ns = quell_max_u64(a->noise_ns, late_ns);
}

/*
 * The window that fills the path and half of the allowed queue.  The rate is the window divided
 * by the standing round-trip time.
 */
static inline u64 quell_adapt_drained_q16(const struct quell_adapt *a, u32 mss_bytes)
{
	u64 aim_ns = (u64)a->base_ns + quell_adapt_room_ns(a->base_ns) / 2 + a->noise_ns;

	if (a->stand_ns <= aim_ns)
		return a->cubic.window_q16;
	return quell_max_u64(quell_mul_div_u64(a->cubic.window_q16, aim_ns, a->stand_ns),
			     quell_adapt_floor_q16(mss_bytes));
}

/*
 * A check of START: the first check that finds a queue slows the search, and QUELL_ADAPT_CHECKS
 * such checks in a row, with no less delay than the first, end it.  If CUBIC governs from here it
 * continues with the window that START found, as after HyStart++ (RFC 9406), because a longer path
 * cannot be distinguished from a queue.
 */
static inline void quell_adapt_start_check(struct quell_adapt *a,
					   const struct quell_adapt_needs *needs, u32 mss_bytes)
{
	u64 found_q16 = a->cubic.window_q16;

	a->stand_ns = a->least_ns;
	a->samples = 0;
	if (a->checks && !a->slack && a->raw_ns < a->shown_ns) {
		quell_adapt_note_noise(a, a->shown_ns - a->raw_ns);
		a->checks = 0;
		return;
	}
	if (quell_adapt_algo_rtt_ns(a) < quell_adapt_target_ns(a)) {
		a->checks = 0;
		return;
	}
	if (!a->checks++)
		a->shown_ns = a->stand_ns;
	if (a->checks < QUELL_ADAPT_CHECKS)
		return;
	quell_cubic_enter(&a->cubic, quell_adapt_drained_q16(a, mss_bytes));
	a->cubic.ssthresh_bytes = found_q16 >> QUELL_Q16_SHIFT;
	a->flags &= ~QUELL_ADAPT_F_SEARCHED;
	quell_adapt_settle(a, needs);
	if (a->phase == QUELL_ADAPT_FALLBACK)
		quell_cubic_enter(&a->cubic, found_q16);
}

/*
 * A round of START begins with the packet that @s acknowledges.  If the first packet of the
 * previous round was later than all others of that round, the difference is noise: the flow's own
 * queue only grew after it, unless there was no more data to send.  A single round proves little,
 * so each round reduces the noise.
 */
static inline void quell_adapt_start_round(struct quell_adapt *a, const struct quell_sample *s)
{
	u64 late_ns = quell_sub_sat_u64(a->first_ns, quell_max_u64(a->raw_ns, a->base_ns));

	a->noise_ns -= a->noise_ns / QUELL_ADAPT_NOISE_SHARE;
	if (a->slack)
		a->slack--;
	else
		quell_adapt_note_noise(a, late_ns + late_ns / 2);
	a->first_ns = quell_adapt_queue_ns(a, s, quell_adapt_rtt_ns(s), QUELL_ADAPT_BURST_SHARE);
	if (a->early)
		a->early--;
	if (a->rounds < QUELL_ADAPT_NOISE_ROUNDS)
		a->rounds++;
}

/* Whether a loss, or the threshold of the last loss, may end START: the noise is known. */
static inline bool quell_adapt_may_settle(const struct quell_adapt *a,
					  const struct quell_adapt_needs *needs)
{
	return needs->signal != QUELL_ADAPT_DELAY || a->rounds >= QUELL_ADAPT_NOISE_ROUNDS;
}

/*
 * Whether there are enough samples for a check: eight round-trip times without noise, a whole
 * round with noise.
 */
static inline bool quell_adapt_may_check(const struct quell_adapt *a, bool round)
{
	return round || quell_adapt_is_quiet(a);
}

/*
 * An ACK while CUBIC governs.  Below its threshold CUBIC grows by slow start, which restores a
 * reduction that an algorithm made without need; otherwise the threshold equals the window.
 */
static inline void quell_adapt_cubic(struct quell_adapt *a, const struct quell_sample *s)
{
	if (!(a->flags & QUELL_ADAPT_F_FULL))
		quell_cubic_wait(&a->cubic, s->now_ns);
	else if (a->cubic.window_q16 >> QUELL_Q16_SHIFT < a->cubic.ssthresh_bytes)
		quell_cubic_add(&a->cubic, (u64)s->acked_bytes << QUELL_Q16_SHIFT);
	else
		quell_cubic_on_ack(&a->cubic, s->now_ns, a->stand_ns, s->acked_bytes,
				   s->mss_bytes);
}

/*
 * The growth of START while the window is full: all of the bytes acknowledged, or a fourth of them
 * once a check found a queue, or if bursts hide one from FIT, which searches again.
 */
static inline void quell_adapt_start_grow(struct quell_adapt *a,
					  const struct quell_adapt_needs *needs,
					  const struct quell_sample *s)
{
	u64 acked_q16 = (u64)s->acked_bytes << QUELL_Q16_SHIFT;

	if (a->checks || a->flags & QUELL_ADAPT_F_AGAIN ||
	    (needs->signal == QUELL_ADAPT_MARKS && a->above))
		acked_q16 /= QUELL_ADAPT_SLOW_SHARE;
	if (a->cubic.window_q16 >> QUELL_Q16_SHIFT < a->cubic.ssthresh_bytes) {
		if (a->flags & QUELL_ADAPT_F_FULL)
			quell_cubic_add(&a->cubic, acked_q16);
	} else if (quell_adapt_may_settle(a, needs)) {
		quell_adapt_settle(a, needs);
	} else {
		quell_adapt_cubic(a, s);
	}
}

#endif /* _QUELL_CORE_ADAPT_START_H */

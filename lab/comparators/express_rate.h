/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rate of a receiver's credits in ExpressPass (Cho, Jang and Han, "Credit-scheduled
 * delay-bounded congestion control for datacenters", SIGCOMM 2017), for quell_labnic and the unit
 * tests.  The Dart paper compares itself with its authors' simulator in section VI.D, so the
 * equations are those of that simulator, with its constants:
 *
 *	once in a round trip, from the loss of credits in it:
 *	target = (1 - rate / most) / 8
 *	loss > target:	rate = min(rate, credits that were used / time * (1 + target))
 *			w = max(w / 2, 0.01)
 *	otherwise:	w = min(w + 0.05, 0.5), but for the first time after such a loss or a start
 *			rate = w most + (1 - w) rate
 *	always:		one credit in a round trip <= rate <= most
 *
 * "most" is the rate of credits for which data fills the line.  The receiver knows of a loss by the
 * numbers of credits, which come back in data.
 */
#ifndef _QUELL_LAB_EXPRESS_RATE_H
#define _QUELL_LAB_EXPRESS_RATE_H

#include <quell/core/core.h>
#include <quell/core/lib/math.h>

#define EXPRESS_Q32_SHIFT		32
#define EXPRESS_Q32_ONE			(1ULL << EXPRESS_Q32_SHIFT)
/* Part of the idle rest of the line that may be lost: an eighth. */
#define EXPRESS_TARGET_SHIFT		3
#define EXPRESS_W_MIN_Q32		42949673ULL	/* 0.01 */
#define EXPRESS_W_MAX_Q32		(EXPRESS_Q32_ONE / 2)
#define EXPRESS_W_STEP_Q32		214748365ULL	/* 0.05 */
/* Weight of a round trip in the average: a fifth. */
#define EXPRESS_RTT_WEIGHTS		5U
/* Credits come at distances that differ by up to a tenth from those of the rate. */
#define EXPRESS_JITTER_PARTS		10U
/* Largest time between two credits at the whole rate in the arithmetic: 64 bits of Q32 allow it. */
#define EXPRESS_INTERVAL_MAX_NS		(1ULL << 30)

/* Largest mean time between two credits. */
#define EXPRESS_DISTANCE_MAX_NS		(1ULL << 32)

/* Parameters of a receiver. */
struct express_params {
	/* Time from one credit to the next at the rate at which data fills the line. */
	u64	interval_ns_q16;
	u32	first_q16;	/* first rate, as a part of that one, above 0, at most 1 */
	u32	w_q16;	/* first w, above 0, at most 0.5 */
};

/* Credits of one flow. */
struct express_rate {
	u64	rate_q32;	/* of the most, EXPRESS_Q32_ONE */
	u64	w_q32;	/* w */
	u64	rtt_ns;	/* average time from a credit to its data; 0: not measured yet */
	u64	updated_ns;	/* when the rate was set last */
	u32	total_pkts;	/* credits since then of which the receiver knows the fate */
	u32	lost_pkts;	/* of them, lost */
	u16	number;	/* of the newest credit */
	u16	seen;	/* of the newest credit that came back */
	u16	timed;	/* of the credit that measures a round trip */
	u64	timed_ns;	/* when it was sent; 0: not sent yet */
	bool	grows;	/* w may grow */
};

/*
 * A sender asks for credits.  The simulator begins more slowly if the sender has fewer than 40
 * packets; a TCP that is about to send the first does not know of those that will be written.
 */
static inline void express_start(struct express_rate *rate, const struct express_params *p,
				 u64 now_ns)
{
	rate->rate_q32 = (u64)p->first_q16 << 16;
	rate->w_q32 = (u64)p->w_q16 << 16;
	rate->updated_ns = now_ns;
	rate->total_pkts = 0;
	rate->lost_pkts = 0;
	rate->seen = rate->number;
	rate->timed_ns = 0;
	rate->grows = false;
}

static inline u16 express_credit(struct express_rate *rate, u64 now_ns)
{
	rate->number++;
	if (!rate->timed_ns) {
		rate->timed = rate->number;
		rate->timed_ns = now_ns;
	}
	return rate->number;
}

/* Data came in for a credit; an older number than before, or that again, has no effect. */
static inline void express_used(struct express_rate *rate, u16 number, u64 now_ns)
{
	u16 distance = number - rate->seen;
	u64 rtt_ns = now_ns - rate->timed_ns;

	if (!distance || distance > (u16)(rate->number - rate->seen))
		return;
	if (rate->timed_ns && number == rate->timed)
		rate->rtt_ns = rate->rtt_ns ?
			       quell_div_u64(rate->rtt_ns * (EXPRESS_RTT_WEIGHTS - 1) + rtt_ns,
					     EXPRESS_RTT_WEIGHTS) : rtt_ns;
	/* If it was lost, another measures. */
	if ((u16)(rate->timed - rate->seen - 1) < distance)
		rate->timed_ns = 0;
	rate->total_pkts += distance;
	rate->lost_pkts += distance - 1;
	rate->seen = number;
}

/* Credits that were used, as a part of those that the line has room for in that time. */
static inline u64 express_used_q32(const struct express_rate *rate, const struct express_params *p,
				   u64 time_ns)
{
	u64 used_pkts = rate->total_pkts - rate->lost_pkts;

	return quell_mul_div_u64(p->interval_ns_q16, used_pkts << 16, time_ns);
}

/* Set the rate, if a round trip is over. */
static inline void express_update(struct express_rate *rate, const struct express_params *p,
				  u64 now_ns)
{
	u64 time_ns = now_ns - rate->updated_ns, target_q32, least_q32;

	if (!rate->rtt_ns || time_ns < rate->rtt_ns || !rate->total_pkts)
		return;
	target_q32 = (EXPRESS_Q32_ONE - rate->rate_q32) >> EXPRESS_TARGET_SHIFT;
	if (((u64)rate->lost_pkts << EXPRESS_Q32_SHIFT) > target_q32 * rate->total_pkts) {
		u64 used_q32 = express_used_q32(rate, p, time_ns);

		used_q32 = quell_add_sat_u64(used_q32, quell_mul_shr_u64(used_q32, target_q32,
									 EXPRESS_Q32_SHIFT));
		rate->rate_q32 = quell_min_u64(rate->rate_q32, used_q32);
		rate->w_q32 = quell_max_u64(rate->w_q32 / 2, EXPRESS_W_MIN_Q32);
		rate->grows = false;
	} else {
		if (rate->grows)
			rate->w_q32 = quell_min_u64(rate->w_q32 + EXPRESS_W_STEP_Q32,
						    EXPRESS_W_MAX_Q32);
		rate->grows = true;
		rate->rate_q32 += quell_mul_shr_u64(EXPRESS_Q32_ONE - rate->rate_q32, rate->w_q32,
						    EXPRESS_Q32_SHIFT);
	}
	least_q32 = quell_mul_div_u64(p->interval_ns_q16, 1ULL << 16, rate->rtt_ns);
	rate->rate_q32 = quell_min_u64(quell_max_u64(rate->rate_q32, least_q32), EXPRESS_Q32_ONE);
	rate->total_pkts = 0;
	rate->lost_pkts = 0;
	rate->updated_ns = now_ns;
}

/*
 * Time until the next credit: that of the rate, and a tenth more or less, up to
 * EXPRESS_DISTANCE_MAX_NS.
 */
static inline u64 express_distance_ns_q16(const struct express_rate *rate,
					  const struct express_params *p, u32 random)
{
	u64 rate_q32 = quell_max_u64(rate->rate_q32, 1);
	u64 mean_q16 = quell_min_u64(quell_mul_div_u64(p->interval_ns_q16, EXPRESS_Q32_ONE,
						       rate_q32),
				     EXPRESS_DISTANCE_MAX_NS << 16);
	u64 part_q16 = quell_div_u64(mean_q16, EXPRESS_JITTER_PARTS);

	return mean_q16 - part_q16 + quell_mul_shr_u64(2 * part_q16, random, 32);
}

#endif /* _QUELL_LAB_EXPRESS_RATE_H */

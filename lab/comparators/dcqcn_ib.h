/* SPDX-License-Identifier: GPL-2.0 */
/*
 * InfiniBand's congestion control, with which the Dart paper compares itself (its Figure 10), for
 * quell_labib and the unit tests: the sender of the InfiniBand Architecture's annex on congestion
 * control in place of DCQCN's.
 *
 *	on a packet acknowledged as marked (a BECN):
 *		index = min(index + increase, limit)
 *	every timer, at any time:
 *		index = max(index - 1, 0)
 *	always:
 *		delay between two packets = table[index] times of a packet
 *		rate = link / (1 + table[index])
 *
 * The annex leaves the numbers to the administrator, and the Dart paper does not give them.  Ours
 * are one step of the index for each mark, a timer of 150 units of 1.024 us, and an index of at
 * most 127.  Entry i of the table is i times the packet's time on the link, or a part of it
 * (ib-step).  Each connection has an index, not each service level.
 *
 * The frame of DCQCN is kept: the marks' echo, the window, and Reno's window after a loss.  Losses,
 * timeouts and pauses leave the index and its timer, so the rate is as above then, too.  Of DCQCN's
 * state timer_steps is the index, since_ns the last expiry of the timer.  Of its parameters of the
 * rate min-rate alone has an effect: the rate does not fall below it.  The counter of notifications
 * counts BECNs.
 */
#ifndef _QUELL_LAB_DCQCN_IB_H
#define _QUELL_LAB_DCQCN_IB_H

#include <quell/core/dcqcn/core.h>

#define QUELL_DCQCN_IB_TIMER_NS_DEFAULT		153600ULL
/* 150 times 1.024 us */
#define QUELL_DCQCN_IB_TIMER_NS \
	QUELL_RANGE(QUELL_DCQCN_IB_TIMER_NS_DEFAULT, 1000, 1000000000)
#define QUELL_DCQCN_IB_INCREASE_STEPS	QUELL_RANGE(1, 0, 127)
#define QUELL_DCQCN_IB_LIMIT_STEPS	QUELL_RANGE(127, 0, 16383) /* most: the annex's */
#define QUELL_DCQCN_IB_STEP_Q16		QUELL_RANGE(65536, 1, 65536)

#define DCQCN_IB_PARAM(name_, unit_, field_, range_, doc_) \
	QUELL_PARAM(struct dcqcn_ib_params, name_, unit_, field_, DCQCN_IB_##range_, doc_)

/* Parameters of the annex. */
struct dcqcn_ib_params {
	struct quell_dcqcn_params	dcqcn;	/* DCQCN's */
	u64				timer_ns;	/* CCTI_Timer */
	u64				increase_steps;	/* CCTI_Increase */
	u64				limit_steps;	/* CCTI_Limit */
	u64				step_q16;	/* table[i] / i, in times of a packet */
};

static const struct quell_param_desc dcqcn_ib_own_params[] = {
	DCQCN_IB_PARAM("ib-timer", NS, timer_ns, TIMER_NS,
		       "The index decreases by one per such time."),
	DCQCN_IB_PARAM("ib-increase", NONE, increase_steps, INCREASE_STEPS,
		       "Growth of the index for each marked packet."),
	DCQCN_IB_PARAM("ib-limit", NONE, limit_steps, LIMIT_STEPS, "Largest index."),
	DCQCN_IB_PARAM("ib-step", Q16, step_q16, STEP_Q16,
		       "Growth of the table's delay per index, in times of a packet."),
};

#define DCQCN_IB_PARAMS_NR \
	(QUELL_ARRAY_NR(quell_dcqcn_core_params) + QUELL_ARRAY_NR(dcqcn_ib_own_params))

/* The expiries of the timer since the last ACK: it runs whether the index is above zero or not. */
static inline void dcqcn_ib_expire(struct quell_dcqcn_vars *v, const struct dcqcn_ib_params *p,
				   u64 now_ns)
{
	u64 expiries = quell_div_u64(quell_sub_sat_u64(now_ns, v->since_ns), p->timer_ns);

	v->since_ns += expiries * p->timer_ns;
	v->timer_steps = quell_sub_sat_u64(v->timer_steps, expiries);
}

/* A BECN for each packet of the marked bytes. */
static inline void dcqcn_ib_mark(struct quell_dcqcn_vars *v, const struct dcqcn_ib_params *p,
				 struct quell_dcqcn_stats *st, u64 marked_bytes)
{
	u64 becns = quell_div_u64(marked_bytes + v->mss_bytes - 1, v->mss_bytes);

	st->marked_bytes += marked_bytes;
	st->notifications += becns;
	v->timer_steps = quell_min_u64(v->timer_steps + becns * p->increase_steps,
				       p->limit_steps);
}

/* link / (1 + index * step), at least a byte per second: the divisor is below 2^31. */
static inline u64 dcqcn_ib_rate_q16(const struct quell_dcqcn_vars *v,
				    const struct dcqcn_ib_params *p, u64 link_bytes_ps)
{
	u64 divisor_q16 = QUELL_Q16_ONE + v->timer_steps * p->step_q16;

	return quell_mul_div_u64(quell_dcqcn_most_q16(link_bytes_ps), QUELL_Q16_ONE, divisor_q16);
}

/* The index's rate, and what follows from it. */
static inline void dcqcn_ib_decide(struct quell_event *ev)
{
	const struct dcqcn_ib_params *p = ev->params;
	struct quell_dcqcn_vars *v = ev->vars;

	v->rate_q16 = dcqcn_ib_rate_q16(v, p, ev->sample.link_bytes_ps);
	v->target_q16 = v->rate_q16;
	quell_dcqcn_decide(v, &p->dcqcn, ev->sample.link_bytes_ps, &ev->decision);
}

static inline void dcqcn_ib_on_ack(struct quell_event *ev)
{
	const struct dcqcn_ib_params *p = ev->params;
	const struct quell_sample *s = &ev->sample;
	struct quell_dcqcn_vars *v = ev->vars;

	quell_dcqcn_observe(v, s);
	if (!(v->flags & QUELL_DCQCN_F_ECN) || (v->flags & QUELL_DCQCN_F_LOSS))
		quell_dcqcn_reno_increase(v, s);
	dcqcn_ib_expire(v, p, s->now_ns);
	if (s->marked_bytes)
		dcqcn_ib_mark(v, p, ev->stats, s->marked_bytes);
	dcqcn_ib_decide(ev);
}

/*
 * An event of DCQCN's, which starts its own timers again: not ours.  It may clear @flags as its own
 * rate, which is lower, makes Reno's window superfluous.
 */
static inline void dcqcn_ib_keep(struct quell_event *ev, void (*event)(struct quell_event *ev),
				 u32 flags)
{
	struct quell_dcqcn_vars *v = ev->vars;
	u64 since_ns = v->since_ns;
	u32 index = v->timer_steps;

	event(ev);
	v->since_ns = since_ns;
	v->timer_steps = index;
	v->flags |= flags;
	dcqcn_ib_expire(v, ev->params, ev->sample.now_ns);
	dcqcn_ib_decide(ev);
}

static inline void dcqcn_ib_on_loss(struct quell_event *ev)
{
	dcqcn_ib_keep(ev, quell_dcqcn_core_on_loss, QUELL_DCQCN_F_LOSS);
}

static inline void dcqcn_ib_on_rto(struct quell_event *ev)
{
	dcqcn_ib_keep(ev, quell_dcqcn_core_on_rto, QUELL_DCQCN_F_LOSS);
}

static inline void dcqcn_ib_on_idle_restart(struct quell_event *ev)
{
	dcqcn_ib_keep(ev, quell_dcqcn_core_on_idle_restart, 0);
}

/* The annex's sender as an algorithm: DCQCN's core with these parameters and this event. */
static inline struct quell_core dcqcn_ib_core(struct quell_param_desc *params)
{
	struct quell_core core = quell_dcqcn_core;

	__builtin_memcpy(params, quell_dcqcn_core_params, sizeof(quell_dcqcn_core_params));
	__builtin_memcpy(params + QUELL_ARRAY_NR(quell_dcqcn_core_params), dcqcn_ib_own_params,
			 sizeof(dcqcn_ib_own_params));
	core.params = params;
	core.params_nr = DCQCN_IB_PARAMS_NR;
	core.params_bytes = sizeof(struct dcqcn_ib_params);
	core.on_ack = QUELL_CORE_ON_ACK(dcqcn_ib_on_ack);
	core.on_loss = dcqcn_ib_on_loss;
	core.on_rto = dcqcn_ib_on_rto;
	core.on_idle_restart = dcqcn_ib_on_idle_restart;
	return core;
}

#endif /* _QUELL_LAB_DCQCN_IB_H */

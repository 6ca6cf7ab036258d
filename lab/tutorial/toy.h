/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The algorithm of Documentation/tutorial.md: a segment more per round trip below a target
 * delay, a fourth less, once per round trip, above it.
 */
#ifndef _QUELL_TUTORIAL_TOY_H
#define _QUELL_TUTORIAL_TOY_H

#include <quell/core/core.h>
#include <quell/core/lib/undo.h>

struct quell_toy_params {
	u64	adapt_bool;
	u64	target_ns;
};

struct quell_toy_vars {
	u64	window_q16;
	u64	cut_ns;		/* time of the last cut */
};

struct quell_toy_stats {
	u64	decreases;
};

/* At least two segments: with less, the receiver would delay the only ACK. */
static inline void quell_toy_decide(struct quell_toy_vars *v, const struct quell_toy_params *p,
				    u32 mss_bytes, struct quell_decision *out)
{
	v->window_q16 = quell_max_u64(v->window_q16, (u64)2 * mss_bytes << QUELL_Q16_SHIFT);
	*out = (struct quell_decision) {
		.window_q16 = v->window_q16, .pacing_bytes_ps = QUELL_RATE_UNLIMITED,
		.target_ns = p->target_ns,
	};
}

static inline void quell_toy_init(struct quell_toy_vars *v, const struct quell_toy_params *p,
				  const struct quell_sample *s, struct quell_decision *out)
{
	u64 bytes = quell_mul_div_u64(s->link_bytes_ps, s->min_rtt_ns, QUELL_NS_PER_SEC);

	v->window_q16 = quell_min_u64(bytes, QUELL_U32_MAX) << QUELL_Q16_SHIFT;
	quell_toy_decide(v, p, s->mss_bytes, out);
}

static inline void quell_toy_on_ack(struct quell_toy_vars *v, const struct quell_toy_params *p,
				    struct quell_toy_stats *st, const struct quell_sample *s,
				    struct quell_decision *out)
{
	u64 mss_q16 = (u64)s->mss_bytes << QUELL_Q16_SHIFT;
	u64 acked_q16 = (u64)s->acked_bytes << QUELL_Q16_SHIFT;

	if (s->rtt_ns > p->target_ns && s->now_ns - v->cut_ns > s->rtt_ns) {
		v->window_q16 -= v->window_q16 / 4;
		v->cut_ns = s->now_ns;
		st->decreases++;
	} else if (s->rtt_ns && s->rtt_ns <= p->target_ns && !(s->flags & QUELL_S_APP_LIMITED)) {
		v->window_q16 += quell_mul_div_u64(mss_q16, acked_q16, v->window_q16);
	}
	v->window_q16 = quell_min_u64(v->window_q16, (u64)1 << (30 + QUELL_Q16_SHIFT));
	quell_toy_decide(v, p, s->mss_bytes, out);
}

/* A loss takes half of the window, as Reno's does, and a timeout all of it. */
static inline void quell_toy_lose(struct quell_toy_vars *v, const struct quell_toy_params *p,
				  const struct quell_sample *s, bool all,
				  struct quell_decision *out)
{
	v->window_q16 = all ? 0 : v->window_q16 / 2;
	quell_toy_decide(v, p, s->mss_bytes, out);
}

#endif /* _QUELL_TUTORIAL_TOY_H */

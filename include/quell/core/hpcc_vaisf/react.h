/* SPDX-License-Identifier: GPL-2.0 */
/*
 * HPCC with Variable AI and Sampling Frequency.
 *
 * Like <quell/core/hpcc/react.h>, except for the response to an ACK:
 *
 *	on an ACK with a record that can be compared with the one before:
 *		U as HPCC's
 *		window = reference * eta / U, or reference
 *			 + ai * T * (Algorithm 2)
 *		if window < reference:
 *			reference = window, once per sampling_pkts packets,
 *				    with sampling_rtt per round trip as well
 *		else:
 *			reference = window, once per round trip
 *	when a round trip has finished: Algorithm 1 with
 *		measured = the largest queue of its records
 *		token_thresh = the smallest bandwidth-delay product
 *		tokens earned = measured / token_bytes
 *		congestion = U >= eta at any of its ACKs
 *
 * The stage changes with the reference, as in HPCC.
 *
 * On loss, timeout and restart after an idle period HPCC's own functions work on the reference.  A
 * round trip without a measurement raises the reference by HPCC's step, at most one segment,
 * without tokens.  Without records the algorithm is therefore Reno without slow start.
 *
 * The algorithm ignores the same signals and expects the same of the network as HPCC.
 *
 * Paper: Snyder and Lebeck, the VAI/SF paper, sections IV, V and VI-A.
 */
#ifndef _QUELL_CORE_HPCC_VAISF_REACT_H
#define _QUELL_CORE_HPCC_VAISF_REACT_H

#include <quell/core/hpcc/react.h>
#include <quell/core/hpcc_vaisf/params.h>
#include <quell/core/hpcc_vaisf/vars.h>
#include <quell/core/vaisf/react.h>

/* Algorithm 1 in units of queued bytes. */
static inline void quell_hpcc_vaisf_finish_round(struct quell_hpcc_vaisf_vars *v,
						 const struct quell_hpcc_vaisf_params *p,
						 struct quell_hpcc_vaisf_stats *st)
{
	st->rounds++;
	st->earned += v->vaisf.measured > p->token_thresh_bytes;
	quell_vaisf_finish_round(&v->vaisf, &p->vaisf, p->token_thresh_bytes,
				 quell_div_u64(v->vaisf.measured, p->token_bytes),
				 v->hpcc.flags & QUELL_HPCC_F_CONGESTED);
}

/*
 * Additive increase of one update, bytes Q16: HPCC's step times the factor of Algorithm 2, at most
 * QUELL_HPCC_MOST_Q16.
 */
static inline u64 quell_hpcc_vaisf_step_q16(const struct quell_hpcc_vaisf_vars *v,
					    const struct quell_hpcc_vaisf_params *p,
					    u64 base_rtt_ns)
{
	return quell_min_u64(quell_vaisf_increase_q16(&v->vaisf, &p->vaisf,
						      quell_hpcc_step_q16(&p->hpcc, base_rtt_ns)),
			     QUELL_HPCC_MOST_Q16);
}

/* Store @window_q16 as the reference, and spend the tokens it used. */
static inline void quell_hpcc_vaisf_commit(struct quell_hpcc_vaisf_vars *v,
					   const struct quell_hpcc_vaisf_params *p,
					   struct quell_hpcc_vaisf_stats *st, u64 window_q16)
{
	bool decrease = window_q16 < v->hpcc.window_q16;

	quell_hpcc_commit(&v->hpcc, &p->hpcc, &st->hpcc, window_q16);
	st->spent += quell_vaisf_adjusted(&v->vaisf, &p->vaisf, decrease);
}

/* The window is below the reference: store it as the reference if @may_fall. */
static inline void quell_hpcc_vaisf_fall(struct quell_hpcc_vaisf_vars *v,
					 const struct quell_hpcc_vaisf_params *p,
					 struct quell_hpcc_vaisf_stats *st,
					 u64 window_q16, bool may_fall)
{
	if (may_fall)
		quell_hpcc_vaisf_commit(v, p, st, window_q16);
	else
		st->held++;
}

/* The window is at or above the reference at the end of a round trip: store it. */
static inline void quell_hpcc_vaisf_rise(struct quell_hpcc_vaisf_vars *v,
					 const struct quell_hpcc_vaisf_params *p,
					 struct quell_hpcc_vaisf_stats *st,
					 const struct quell_sample *s, u64 window_q16)
{
	if (s->flags & QUELL_S_APP_LIMITED)
		st->hpcc.app_limited++;
	else
		quell_hpcc_vaisf_commit(v, p, st, window_q16);
}

static inline void quell_hpcc_vaisf_init(struct quell_hpcc_vaisf_vars *v,
					 const struct quell_hpcc_vaisf_params *p,
					 const struct quell_sample *s, struct quell_decision *out)
{
	quell_vaisf_reset(&v->vaisf);
	quell_hpcc_init(&v->hpcc, &p->hpcc, s, out);
}

/* The queue of a record that, together with T, suffices to compute a utilisation; or 0. */
static inline u32 quell_hpcc_vaisf_queue_bytes(const struct quell_telemetry *t, u64 base_rtt_ns)
{
	return t->hop && t->link_bytes_ps && base_rtt_ns ? t->queue_bytes : 0;
}

static inline __flatten void quell_hpcc_vaisf_on_ack(struct quell_hpcc_vaisf_vars *v,
						     const struct quell_hpcc_vaisf_params *p,
						     struct quell_hpcc_vaisf_stats *st,
						     const struct quell_sample *s,
						     struct quell_decision *out)
{
	u64 reference_q16, window_q16;
	struct quell_hpcc_path path;
	bool measured, finished;

	quell_hpcc_observe(&v->hpcc, s);
	v->hpcc.rtos = 0;
	path = quell_hpcc_path(&v->hpcc, &p->hpcc, s);
	measured = quell_hpcc_take_record(&v->hpcc, &p->hpcc, &st->hpcc, s, path.base_rtt_ns);
	finished = quell_hpcc_count_round(&v->hpcc, s);
	quell_vaisf_observe(&v->vaisf, s, quell_hpcc_vaisf_queue_bytes(&s->telemetry,
								       path.base_rtt_ns));
	if (finished)
		quell_hpcc_vaisf_finish_round(v, p, st);

	reference_q16 = v->hpcc.window_q16;
	window_q16 = quell_hpcc_window_q16(&v->hpcc, &p->hpcc,
					   quell_hpcc_vaisf_step_q16(v, p, path.base_rtt_ns),
					   quell_hpcc_may_rise(&v->hpcc, s, measured, finished));
	if (finished && !(v->hpcc.flags & QUELL_HPCC_F_MEASURED)) {
		quell_hpcc_blind_step(&v->hpcc, &p->hpcc, &st->hpcc, s);
		window_q16 = v->hpcc.window_q16;
	} else if (window_q16 < reference_q16) {
		quell_hpcc_vaisf_fall(v, p, st, window_q16, measured &&
				      quell_vaisf_may_decrease(&v->vaisf, &p->vaisf, finished));
	} else if (finished) {
		quell_hpcc_vaisf_rise(v, p, st, s, window_q16);
	}
	if (finished)
		quell_hpcc_end_round(&v->hpcc);
	quell_hpcc_decide(&v->hpcc, &p->hpcc, &path, window_q16, out);
}

/* HPCC's decrease, applied to the reference; a new sampling period and a new round trip begin. */
static inline void quell_hpcc_vaisf_on_loss(struct quell_hpcc_vaisf_vars *v,
					    const struct quell_hpcc_vaisf_params *p,
					    struct quell_hpcc_vaisf_stats *st,
					    const struct quell_sample *s,
					    struct quell_decision *out)
{
	quell_hpcc_on_loss(&v->hpcc, &p->hpcc, &st->hpcc, s, out);
	v->vaisf.sampled_pkts = 0;
}

/*
 * HPCC's decrease, applied to the reference.  The tokens are discarded: the congestion that earned
 * them is over.
 */
static inline void quell_hpcc_vaisf_on_rto(struct quell_hpcc_vaisf_vars *v,
					   const struct quell_hpcc_vaisf_params *p,
					   struct quell_hpcc_vaisf_stats *st,
					   const struct quell_sample *s,
					   struct quell_decision *out)
{
	quell_hpcc_on_rto(&v->hpcc, &p->hpcc, &st->hpcc, s, out);
	quell_vaisf_reset(&v->vaisf);
}

static inline void quell_hpcc_vaisf_undo_note(struct quell_undo *u,
					      const struct quell_hpcc_vaisf_vars *before,
					      const struct quell_hpcc_vaisf_vars *after)
{
	quell_hpcc_undo_note(u, &before->hpcc, &after->hpcc);
}

static inline void quell_hpcc_vaisf_on_undo(struct quell_hpcc_vaisf_vars *v,
					    const struct quell_hpcc_vaisf_params *p,
					    const struct quell_sample *s,
					    const struct quell_undo *u,
					    struct quell_decision *out)
{
	quell_hpcc_on_undo(&v->hpcc, &p->hpcc, s, u, out);
}

/* A flow that restarts counts as a new flow for the two mechanisms as well. */
static inline void quell_hpcc_vaisf_on_idle_restart(struct quell_hpcc_vaisf_vars *v,
						    const struct quell_hpcc_vaisf_params *p,
						    struct quell_hpcc_vaisf_stats *st,
						    const struct quell_sample *s,
						    struct quell_decision *out)
{
	struct quell_hpcc_path path;
	u64 window_q16;

	quell_hpcc_observe(&v->hpcc, s);
	path = quell_hpcc_path(&v->hpcc, &p->hpcc, s);
	window_q16 = quell_hpcc_held_q16(&v->hpcc, &p->hpcc);
	if (quell_is_restart(p->hpcc.restart_idle_ns, s->idle_ns)) {
		quell_hpcc_restart(&v->hpcc, &p->hpcc, &st->hpcc, s->link_bytes_ps, window_q16);
		window_q16 = v->hpcc.window_q16;
		quell_vaisf_reset(&v->vaisf);
	}
	quell_hpcc_decide(&v->hpcc, &p->hpcc, &path, window_q16, out);
}

#endif /* _QUELL_CORE_HPCC_VAISF_REACT_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SMaRTT: congestion control by delay, marks and trimmed packets.
 *
 * The window is bytes in flight.  Delay and mark of an ACK together choose one
 * of four cases.  Two mechanisms take precedence over these: when congestion is
 * severe QuickAdapt sets the window to the bytes delivered, and FastIncrease
 * takes the capacity that other flows have left.
 *
 *	on an ACK:					Algorithm 4
 *		delivered += acked
 *		within the ignore phase: update avg_rtt unless ignore_delay, return
 *		avg_rtt += weight * (rtt - avg_rtt)
 *		QuickAdapt and FastIncrease; if neither acted:	Algorithm 1
 *			marked, rtt >= target:			equation 1
 *				once per base_rtt, window *= max(1 - max_mdf,
 *					1 - md * (avg_rtt - target) / avg_rtt)
 *			marked, rtt < target:
 *				another path, window unchanged
 *			unmarked, rtt >= target:		equation 2
 *				window += acked / window * mtu * fi
 *			unmarked, rtt < target:			equation 3
 *				window += min(acked, (target - rtt) / rtt
 *					      * acked / window * mtu * pi)
 *				and the fair increase
 *		trimmed packets: QuickAdapt is due; not within the ignore phase:
 *			window -= trimmed
 *		window = clamp(window, mtu, 1.5 BDP)
 *
 *	QuickAdapt, at the end of each target round trip:	Algorithm 2
 *		due: window = delivered; ignore the bytes in flight
 *		delivered = 0
 *		due without trimming: queueing delay > qa_delay targets and
 *			delivered < qa_low windows
 *	FastIncrease:						Algorithm 3
 *		more than a window in a row unmarked, rtt ~ base_rtt:
 *			window += 2 * acked
 *
 *	target = target_rtt * base_rtt, fi and pi grow with BDP (section III-J)
 *
 * With QuickAdapt, a flight passes three phases:
 *
 *	measuring --(due at the end of a target_rtt)--> ignoring
 *	    ^                                               |
 *	    +------(bytes in flight are accounted for)------+
 *
 * A connection without ECN treats delay above the target as a mark (the delay variant of the
 * paper's Figure 5).  Without a delay signal the flow is Reno without slow start.  A loss found by
 * fast retransmit takes max_mdf, once per base round trip and not in the ignore phase.
 *
 * Ignored inputs: the remote host's share of the delay, the number of hops.
 *
 * vars.h has the state, quickadapt.h, increase.h and decrease.h have the parts; this file combines
 * them.  Deviations from the paper, each with its reason, are in Documentation/smartt.md.
 *
 * Expects: marks at dequeue between 20 % and 80 % of one BDP of queue.
 *
 * Paper: Bonato et al., "SMaRTT: Sender-based Marked Rapidly-adapting Trimmed & Timed Transport".
 */
#ifndef _QUELL_CORE_SMARTT_REACT_H
#define _QUELL_CORE_SMARTT_REACT_H

#include <quell/core/lib/undo.h>
#include <quell/core/smartt/decrease.h>
#include <quell/core/smartt/increase.h>
#include <quell/core/smartt/quickadapt.h>

/*
 * Marks without delay: request another path of the load balancer, but not again in this base round
 * trip or the next, so that the first marks of the new path precede another request.
 */
static inline bool quell_smartt_reroute(struct quell_smartt_vars *v,
					struct quell_smartt_stats *st)
{
	st->marked_low_delay++;
	if (v->flags & (QUELL_SMARTT_F_REROUTED | QUELL_SMARTT_F_NEW_PATH))
		return false;
	v->flags |= QUELL_SMARTT_F_REROUTED;
	st->path_changes++;
	return true;
}

/*
 * Algorithm 1.  An ACK may cover marked and unmarked packets: each part is
 * treated as an ACK of its own, the unmarked one first.  Returns true to change paths.
 */
static inline bool quell_smartt_core_cases(struct quell_smartt_vars *v,
					   const struct quell_smartt_params *p,
					   struct quell_smartt_stats *st,
					   const struct quell_sample *s,
					   const struct quell_smartt_delay *d)
{
	u32 marked_bytes = quell_min_u64(s->marked_bytes, s->acked_bytes);
	u32 clear_bytes;

	if (!(s->flags & QUELL_S_ECN))
		marked_bytes = d->rtt_ns >= d->target_ns ? s->acked_bytes : 0;
	clear_bytes = s->acked_bytes - marked_bytes;
	if ((v->flags & QUELL_SMARTT_F_LOSS) && clear_bytes && d->rtt_ns < d->target_ns &&
	    quell_smartt_may_decrease(v, s->now_ns))
		v->flags &= ~QUELL_SMARTT_F_LOSS;
	if (clear_bytes && (s->flags & QUELL_S_APP_LIMITED))
		st->app_limited++;
	else if (clear_bytes)
		quell_smartt_increase(v, p, st, clear_bytes, d);
	if (!marked_bytes)
		return false;
	if (d->rtt_ns < d->target_ns)
		return quell_smartt_reroute(v, st);
	quell_smartt_decrease(v, p, st, s->now_ns, d->target_ns);
	return false;
}

/* No round-trip time known: one segment more per window. */
static __rare void quell_smartt_increase_blind(struct quell_smartt_vars *v,
					       struct quell_smartt_stats *st,
					       const struct quell_sample *s)
{
	st->no_rtt++;
	if (s->flags & QUELL_S_APP_LIMITED) {
		st->app_limited++;
		return;
	}
	v->window_q16 = quell_reno_window_q16(v->window_q16, s->acked_bytes, v->mss_bytes);
}

/* Algorithm 4, an ACK.  Returns true to change paths. */
static inline bool quell_smartt_congestion_loop(struct quell_smartt_vars *v,
						const struct quell_smartt_params *p,
						struct quell_smartt_stats *st,
						const struct quell_sample *s,
						u64 target_ns)
{
	struct quell_smartt_delay d = { .target_ns = target_ns };
	bool change_path = false, adapted, increased;

	if (v->ignore_bytes && quell_smartt_ignores(v, p, s)) {
		st->ignored++;
		if (!p->ignore_delay)
			quell_smartt_rtt_ns(v, p, st, s);
		return false;
	}
	d.rtt_ns = quell_smartt_rtt_ns(v, p, st, s);
	adapted = quell_smartt_quick_adapt(v, p, st, s, &d);
	increased = quell_smartt_fast_increase(v, p, st, s, d.rtt_ns);
	if (adapted)
		return false;
	if (!increased)
		change_path = quell_smartt_core_cases(v, p, st, s, &d);
	quell_smartt_settle(v, p, s);
	return change_path;
}

static inline void quell_smartt_init(struct quell_smartt_vars *v,
				     const struct quell_smartt_params *p,
				     const struct quell_sample *s, struct quell_decision *out)
{
	*v = (struct quell_smartt_vars) {
		.round_ns = s->now_ns,
		.base_rtt_ns = quell_min_u64(s->min_rtt_ns, QUELL_SMARTT_MOST_NS),
		.mss_bytes = 1,
	};
	quell_smartt_resize(v, p, s);
	v->window_q16 = quell_smartt_init_window_q16(v, p);
	quell_smartt_decide(v, quell_smartt_target_ns(v, p), false, out);
}

static inline __flatten void quell_smartt_on_ack(struct quell_smartt_vars *v,
						 const struct quell_smartt_params *p,
						 struct quell_smartt_stats *st,
						 const struct quell_sample *s,
						 struct quell_decision *out)
{
	bool change_path = false;
	u64 target_ns;

	quell_smartt_observe_ack(v, p, s);
	target_ns = quell_smartt_target_ns(v, p);
	v->rtos = 0;
	if (!(s->flags & QUELL_S_ECN))
		st->no_ecn++;
	v->delivered_bytes = quell_smartt_count_bytes(v->delivered_bytes, s->acked_bytes);
	if (quell_smartt_has_signal(v))
		change_path = quell_smartt_congestion_loop(v, p, st, s, target_ns);
	else
		quell_smartt_increase_blind(v, st, s);
	if (s->trimmed_bytes)
		quell_smartt_on_trim(v, p, st, s, target_ns);
	quell_smartt_decide(v, target_ns, change_path, out);
}

/* Once per episode.  Losses of a flight that QuickAdapt has acted on do not reduce again. */
static inline void quell_smartt_on_loss(struct quell_smartt_vars *v,
					const struct quell_smartt_params *p,
					struct quell_smartt_stats *st,
					const struct quell_sample *s,
					struct quell_decision *out)
{
	quell_smartt_observe(v, p, s);
	v->rtos = 0;
	v->flags |= QUELL_SMARTT_F_LOSS;
	v->pending_bytes2 = 0;
	if (v->ignore_bytes) {
		st->losses_ignored++;
	} else if (quell_smartt_may_decrease(v, s->now_ns)) {
		quell_smartt_reduce(v, quell_smartt_loss_decrease_q24(v, p), s->now_ns);
		st->fast_retx++;
	}
	quell_smartt_decide(v, quell_smartt_target_ns(v, p), false, out);
}

/* No data is in flight: discards the measurements of the last flight. */
static inline void quell_smartt_forget_flight(struct quell_smartt_vars *v)
{
	v->flags &= ~(QUELL_SMARTT_F_MEASURING | QUELL_SMARTT_F_QA_DUE |
		      QUELL_SMARTT_F_FAST);
	v->pending_bytes2 = 0;
	v->delivered_bytes = 0;
	v->ignore_bytes = 0;
	v->clear_bytes = 0;
}

static inline void quell_smartt_on_rto(struct quell_smartt_vars *v,
				       const struct quell_smartt_params *p,
				       struct quell_smartt_stats *st,
				       const struct quell_sample *s,
				       struct quell_decision *out)
{
	bool reduced = v->ignore_bytes;

	quell_smartt_observe(v, p, s);
	st->rtos++;
	v->flags |= QUELL_SMARTT_F_LOSS;
	if (v->rtos < 0xff)
		v->rtos++;
	quell_smartt_forget_flight(v);
	if (v->rtos >= p->retx_reset_rtos || !quell_smartt_has_signal(v)) {
		/* Cuts the whole window; quell_smartt_decide() raises it to one segment. */
		quell_smartt_reduce(v, 1ULL << QUELL_SMARTT_SHARE_Q, s->now_ns);
		st->rto_resets++;
	} else if (reduced) {
		st->losses_ignored++;
	} else if (quell_smartt_may_decrease(v, s->now_ns)) {
		quell_smartt_reduce(v, quell_smartt_loss_decrease_q24(v, p), s->now_ns);
	}
	quell_smartt_decide(v, quell_smartt_target_ns(v, p), false, out);
}

static inline void quell_smartt_undo_note(struct quell_undo *u,
					  const struct quell_smartt_vars *before,
					  const struct quell_smartt_vars *after)
{
	quell_undo_record(u, before->flags & QUELL_SMARTT_F_LOSS);
	quell_undo_note(&u->part[0], before->window_q16, after->window_q16);
}

static inline void quell_smartt_on_undo(struct quell_smartt_vars *v,
					const struct quell_smartt_params *p,
					const struct quell_sample *s,
					const struct quell_undo *u,
					struct quell_decision *out)
{
	quell_smartt_observe(v, p, s);
	v->window_q16 = quell_undo_given_back(&u->part[0], v->window_q16);
	if (!u->lost)
		v->flags &= ~QUELL_SMARTT_F_LOSS;
	quell_smartt_decide(v, quell_smartt_target_ns(v, p), false, out);
}

/* A message after a pause starts as a new flow does. */
static inline void quell_smartt_on_idle_restart(struct quell_smartt_vars *v,
						const struct quell_smartt_params *p,
						struct quell_smartt_stats *st,
						const struct quell_sample *s,
						struct quell_decision *out)
{
	quell_smartt_observe(v, p, s);
	if (quell_is_restart(p->restart_idle_ns, s->idle_ns)) {
		bool can_rise = quell_smartt_has_signal(v) && !(v->flags & QUELL_SMARTT_F_LOSS);

		v->window_q16 = quell_restart_window_q16(v->window_q16,
							 quell_smartt_init_window_q16(v, p),
							 can_rise, &st->restarts_refused);
		v->avg_rtt_q4 = 0;
		quell_smartt_forget_flight(v);
		st->restarts++;
	}
	quell_smartt_decide(v, quell_smartt_target_ns(v, p), false, out);
}

#endif /* _QUELL_CORE_SMARTT_REACT_H */

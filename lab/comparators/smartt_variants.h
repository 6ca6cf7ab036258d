/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SMaRTT in the variants that its paper compares it with, for quell_labsmartt and the unit tests.
 * The core is that of tcp_smartt.  Here samples are changed before it gets them, and the window
 * after its decision; QuickAdapt and its ignore phase are unchanged.  MP-RDMA alone
 * answers ACKs by itself: of the presets' parameters it heeds the first and the largest window.
 */
#ifndef _QUELL_LAB_SMARTT_VARIANTS_H
#define _QUELL_LAB_SMARTT_VARIANTS_H

#include <quell/core/smartt/core.h>

/* Half of the marked bytes off the window, as far as one segment. */
static inline void smartt_variant_decrease(struct quell_event *ev)
{
	struct quell_smartt_vars *v = ev->vars;
	u64 marked_bytes = quell_min_u64(ev->sample.marked_bytes, ev->sample.acked_bytes);

	v->window_q16 = quell_sub_sat_u64(v->window_q16, marked_bytes << (QUELL_Q16_SHIFT - 1));
	quell_smartt_decide(v, ev->decision.target_ns, ev->decision.change_path, &ev->decision);
}

/* The core gets a delay equal to its target: it then increases, and does not decrease. */
static inline void smartt_variant_by_marks(struct quell_event *ev)
{
	struct quell_smartt_vars *v = ev->vars;
	const struct quell_smartt_stats *stats = ev->stats;
	u64 before = stats->ignored + stats->quick_adapts;

	quell_smartt_observe_ack(v, ev->params, &ev->sample);
	if (ev->sample.rtt_ns)
		ev->sample.rtt_ns = quell_smartt_target_ns(v, ev->params);
	quell_smartt_core_on_ack(ev);
	if (stats->ignored + stats->quick_adapts == before)
		smartt_variant_decrease(ev);
}

/* As the core's: a clean ACK a round trip after a loss lets the flow begin anew when idle. */
static inline void smartt_variant_forget_loss(struct quell_smartt_vars *v, u64 now_ns)
{
	if ((v->flags & QUELL_SMARTT_F_LOSS) && quell_smartt_may_decrease(v, now_ns))
		v->flags &= ~QUELL_SMARTT_F_LOSS;
}

/*
 * MP-RDMA's window (Lu et al., NSDI 2018): a packet acknowledged without a mark adds 1 / window,
 * one with a mark takes half a packet.  MP-RDMA knows no trimmed packets; one takes itself, as in
 * uet-htsim's algorithm by marks.  The first window, the limits, losses and timeouts are the
 * core's; there is no QuickAdapt, the delay has no effect, and the flow requests no other
 * path: entropies, where it has any, are chosen by marks as ever.
 */
static inline void smartt_variant_mprdma(struct quell_event *ev)
{
	struct quell_smartt_vars *v = ev->vars;
	const struct quell_sample *s = &ev->sample;
	u64 marked_bytes = quell_min_u64(s->marked_bytes, s->acked_bytes);
	u64 clear_bytes = s->acked_bytes - marked_bytes;
	u64 off_q16 = (marked_bytes << (QUELL_Q16_SHIFT - 1)) +
		      ((u64)s->trimmed_bytes << QUELL_Q16_SHIFT);

	quell_smartt_observe_ack(v, ev->params, s);
	v->rtos = 0;
	if (clear_bytes)
		smartt_variant_forget_loss(v, s->now_ns);
	if (clear_bytes && !(s->flags & QUELL_S_APP_LIMITED))
		v->window_q16 = quell_reno_window_q16(v->window_q16, clear_bytes, v->mss_bytes);
	v->window_q16 = quell_sub_sat_u64(v->window_q16, off_q16);
	quell_smartt_decide(v, quell_smartt_target_ns(v, ev->params), false, &ev->decision);
}

/* The core without ECN. */
static inline void smartt_variant_by_delay(struct quell_event *ev)
{
	ev->sample.flags &= ~QUELL_S_ECN;
	ev->sample.marked_bytes = 0;
	quell_smartt_core_on_ack(ev);
}

/* A mark with low delay takes half of its bytes off the window. */
static inline void smartt_variant_decreasing(struct quell_event *ev)
{
	const struct quell_smartt_stats *stats = ev->stats;
	u64 before = stats->marked_low_delay;

	quell_smartt_core_on_ack(ev);
	if (stats->marked_low_delay != before)
		smartt_variant_decrease(ev);
}

/* Of PLB's paper: so many rounds in a row with more than half of the bytes marked. */
#define SMARTT_PLB_ROUNDS	3U

/* PLB's counts of a flow. */
struct smartt_plb {
	u64	round_end_ns;	/* end of the round trip that is counted */
	u64	acked_bytes;	/* acknowledged in it */
	u64	marked_bytes;	/* those of them that were marked */
	u32	rounds;	/* congested ones in a row */
};

static inline bool smartt_plb_is_over(struct smartt_plb *plb)
{
	bool is_congested = 2 * plb->marked_bytes > plb->acked_bytes;

	plb->rounds = is_congested ? plb->rounds + 1 : 0;
	plb->acked_bytes = 0;
	plb->marked_bytes = 0;
	if (plb->rounds < SMARTT_PLB_ROUNDS)
		return false;
	plb->rounds = 0;
	return true;
}

/*
 * The window is SMaRTT's; the flow changes its path after rounds in a row that were congested, as
 * PLB (Qureshi et al., SIGCOMM 2022, section 3) does, instead of at each mark with low delay.
 */
static inline void smartt_variant_by_plb(struct quell_event *ev, struct smartt_plb *plb)
{
	const struct quell_smartt_vars *v = ev->vars;

	plb->acked_bytes += ev->sample.acked_bytes;
	plb->marked_bytes += ev->sample.marked_bytes;
	quell_smartt_core_on_ack(ev);
	ev->decision.change_path = false;
	if (ev->sample.now_ns < plb->round_end_ns)
		return;
	/* An ACK without a round trip, as of a retransmission, makes no short round. */
	plb->round_end_ns = ev->sample.now_ns + quell_max_u64(ev->sample.rtt_ns, v->base_rtt_ns);
	ev->decision.change_path = smartt_plb_is_over(plb);
}

#endif /* _QUELL_LAB_SMARTT_VARIANTS_H */

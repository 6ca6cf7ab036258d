/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Flows fitted to their path, <quell/core/adapt/react.h>, without sockets: the twin of
 * kmod-cc/quell/tcp/adapt.c, between the events of the congestion control and those of the core.
 *
 *	quell_bpf_began()	core->init; the search begins, the core's first window waits
 *	quell_bpf_acked()	the core gets the sample that the fit leaves it
 *	quell_bpf_lost(), quell_bpf_timed_out(), quell_bpf_undone()
 *				reported both to the core and here
 *	quell_bpf_reduced()	of CUBIC or the search alone
 *	quell_bpf_resumed()	of the core only if the flow is not fitted
 *
 * Each leaves in @decision the governor's window.  A flow is fitted if the parameter "adapt", the
 * first of every algorithm, is set when it begins.
 */
#ifndef _QUELL_EBPF_FIT_H
#define _QUELL_EBPF_FIT_H

#include <quell/core/adapt/react.h>

#include "event.h"

#define FIT_US_PER_SEC	1000000ULL

static const struct quell_adapt_needs quell_bpf_needs = QUELL_BPF_NEEDS;

static __always_inline bool fit_is_on(const struct quell_bpf_flow *flow)
{
	return flow->adapt.phase != QUELL_ADAPT_OFF;
}

/* Whether CUBIC or the search governs the window. */
static __always_inline bool quell_bpf_governs(const struct quell_bpf_flow *flow)
{
	return fit_is_on(flow) && !quell_adapt_is_fit(&flow->adapt);
}

/* The window in use, bytes Q16; under a rate, the bytes it keeps in flight. */
static __always_inline u64 fit_window_q16(const struct quell_bpf_flow *flow)
{
	const struct quell_adapt *core = &flow->adapt;
	u64 window_bytes = flow->view.window_bytes, paced_bytes;

	if (!quell_adapt_is_fit(core))
		return core->cubic.window_q16;
	if (flow->view.pacing_bytes_ps != QUELL_RATE_UNLIMITED && core->base_ns) {
		paced_bytes = quell_mul_div_u64(flow->view.pacing_bytes_ps,
						quell_max_u64(core->stand_ns, core->base_ns),
						QUELL_NS_PER_SEC);
		window_bytes = quell_min_u64(window_bytes, paced_bytes);
	}
	return quell_min_u64(window_bytes << QUELL_Q16_SHIFT, QUELL_CUBIC_MAX_WINDOW_Q16);
}

/* The decision is the governor's; observers read the governor in the view. */
static __always_inline void fit_decide(struct quell_bpf_flow *flow)
{
	struct quell_decision *decision = &flow->decision;
	const struct quell_adapt *core = &flow->adapt;

	if (quell_bpf_governs(flow)) {
		decision->window_q16 = core->cubic.window_q16;
		decision->pacing_bytes_ps = QUELL_RATE_UNLIMITED;
		decision->target_ns = 0;
	}
	flow->view.window_bytes = decision->window_q16 >> QUELL_Q16_SHIFT;
	flow->view.pacing_bytes_ps = decision->pacing_bytes_ps;
	flow->view.target_ns = decision->target_ns;
	flow->view.phase = core->phase;
	flow->view.reason = core->phase == QUELL_ADAPT_FALLBACK ? core->reason : QUELL_ADAPT_FITS;
}

/* Bytes that the core's decision puts in flight per round trip. */
static __always_inline u64 fit_begun_bytes(const struct quell_bpf_flow *flow)
{
	u64 window_bytes = flow->decision.window_q16 >> QUELL_Q16_SHIFT;

	if (flow->decision.pacing_bytes_ps == QUELL_RATE_UNLIMITED)
		return window_bytes;
	return quell_min_u64(window_bytes,
			     quell_mul_div_u64(flow->decision.pacing_bytes_ps,
					       flow->tcp.first_rtt_ns, QUELL_NS_PER_SEC));
}

/* ACKs clock a window but not a rate, which is bounded by TCP's delivery rate. */
static __always_inline u64 fit_bound_rate(const struct quell_bpf_flow *flow, u64 window_bytes)
{
	u64 delivered_bytes_ps;

	if (flow->decision.pacing_bytes_ps == QUELL_RATE_UNLIMITED || !flow->tcp.interval_us)
		return window_bytes;
	delivered_bytes_ps = quell_mul_div_u64(flow->tcp.delivered_bytes, FIT_US_PER_SEC,
					       flow->tcp.interval_us);
	return quell_min_u64(window_bytes,
			     quell_mul_div_u64(delivered_bytes_ps, flow->tcp.first_rtt_ns,
					       QUELL_NS_PER_SEC));
}

/* Bytes that the search had in flight, a segment or more. */
static __always_inline u64 fit_found_bytes(const struct quell_bpf_flow *flow)
{
	return quell_max_u64(flow->adapt.cubic.window_q16 >> QUELL_Q16_SHIFT,
			     flow->sample.mss_bytes);
}

/* The link as if it had the rate measured on the path. */
__noinline int quell_bpf_fit_link(struct quell_bpf_flow *flow)
{
	u64 rtt_ns;

	if (!flow)
		return 0;
	rtt_ns = flow->tcp.first_rtt_ns;
	flow->sample.flags |= QUELL_S_FITTED;
	flow->sample.min_rtt_ns = rtt_ns;
	if (rtt_ns)
		flow->sample.link_bytes_ps = quell_mul_div_u64(fit_found_bytes(flow),
							       QUELL_NS_PER_SEC, rtt_ns);
	return 1;
}

/* 2: the core, having started, puts more or less than that in flight; the link is scaled. */
__noinline int quell_bpf_fit_scale(struct quell_bpf_flow *flow)
{
	u64 window_bytes, begun_bytes;

	if (!flow)
		return 0;
	begun_bytes = fit_begun_bytes(flow);
	window_bytes = fit_found_bytes(flow);
	window_bytes = quell_max_u64(fit_bound_rate(flow, window_bytes),
				     quell_min_u64(window_bytes, 2 * flow->sample.mss_bytes));
	if (!flow->tcp.first_rtt_ns || !begun_bytes || begun_bytes == window_bytes)
		return 1;
	flow->sample.link_bytes_ps = quell_mul_div_u64(flow->sample.link_bytes_ps, window_bytes,
						       begun_bytes);
	return 2;
}

/*
 * Start the core, again if it puts more or less in flight than the search had.  No variables on the
 * stack: 6.1 adds up those of all functions of a call chain, and this one is in its middle.
 */
__noinline int quell_bpf_fit_start(struct quell_bpf_flow *flow, QUELL_BPF_PARAMS *params,
				   QUELL_BPF_STATS *stats)
{
	if (!flow || !params || !stats)
		return 0;
	quell_bpf_fit_link(flow);
	quell_bpf_init(flow, params, stats);
	return quell_bpf_fit_scale(flow) == 2 ? quell_bpf_init(flow, params, stats) : 1;
}

/* The core takes over; the sample of the event stays as it is. */
static __always_inline void fit_hand_over(struct quell_bpf_flow *flow, QUELL_BPF_PARAMS *params,
					  QUELL_BPF_STATS *stats)
{
	u64 link_bytes_ps = flow->sample.link_bytes_ps, min_rtt_ns = flow->sample.min_rtt_ns;
	bool valid = flow->undo.valid;

	quell_bpf_fit_start(flow, params, stats);
	flow->sample.flags &= ~QUELL_S_FITTED;
	flow->sample.link_bytes_ps = link_bytes_ps;
	flow->sample.min_rtt_ns = min_rtt_ns;
	/* Earlier losses did not cut this core, but if they were spurious the search resumes. */
	__builtin_memset(&flow->undo, 0, sizeof(flow->undo));
	flow->undo.valid = valid;
	/* A search that a loss or a record ended left its queue: its losses are the core's. */
	if (quell_bpf_needs.signal == QUELL_ADAPT_DELAY)
		flow->adapt.flags |= QUELL_ADAPT_F_BEGUN;
	flow->adapt.round_seq = flow->tcp.snd_nxt;
}

static __always_inline u64 fit_hold_ns(const QUELL_BPF_PARAMS *params)
{
	if (!quell_bpf_needs.hold_offset)
		return 0;
	return *(const u64 *)((const u8 *)params + quell_bpf_needs.hold_offset);
}

/* Whether this ACK ends a round trip; one without a round-trip time leaves that to the next. */
static __always_inline bool fit_ends_round(struct quell_bpf_flow *flow)
{
	struct quell_adapt *core = &flow->adapt;

	if ((s32)(core->round_seq - flow->tcp.snd_una) < 0) {
		core->flags |= QUELL_ADAPT_F_OVER;
		core->flags &= ~QUELL_ADAPT_F_BEGUN;
	}
	if (!flow->sample.rtt_ns || !(core->flags & QUELL_ADAPT_F_OVER))
		return false;
	core->flags &= ~QUELL_ADAPT_F_OVER;
	core->round_seq = flow->tcp.snd_nxt;
	quell_adapt_note_rate(core, flow->tcp.delivered_bytes, flow->tcp.interval_us);
	return true;
}

/* An ACK before the core gets it; 2: the core takes over. */
__noinline int quell_bpf_fit_ack(struct quell_bpf_flow *flow, QUELL_BPF_PARAMS *params)
{
	struct quell_adapt *core;
	u64 remote_ns, hold_ns;
	bool begins;

	if (!flow || !params)
		return 0;
	core = &flow->adapt;
	remote_ns = flow->sample.remote_ns;
	hold_ns = fit_hold_ns(params);
	flow->sample.remote_ns = quell_min_u64(remote_ns, hold_ns);
	quell_adapt_set_aim(core, flow->view.target_ns);
	core->flags &= ~QUELL_ADAPT_F_FULL;
	if (flow->tcp.is_full)
		core->flags |= QUELL_ADAPT_F_FULL;
	begins = quell_adapt_on_ack(core, &quell_bpf_needs, &flow->sample, fit_window_q16(flow),
				    fit_ends_round(flow));
	quell_adapt_filter(core, &quell_bpf_needs, &flow->sample, hold_ns ? remote_ns : 0);
	if (quell_adapt_has_responded(core, &quell_bpf_needs))
		flow->sample.marked_bytes = 0;
	return begins ? 2 : 1;
}

/* The first round trip of a core: its losses are due to the search, not to the core's window. */
static __always_inline bool fit_has_begun(const struct quell_bpf_flow *flow)
{
	return fit_is_on(flow) && quell_adapt_is_fit(&flow->adapt) &&
	       flow->adapt.flags & QUELL_ADAPT_F_BEGUN;
}

/* A loss, which the core got; 2: the core takes over. */
__noinline int quell_bpf_fit_loss(struct quell_bpf_flow *flow)
{
	struct quell_adapt *core;

	if (!flow)
		return 0;
	core = &flow->adapt;
	/* CUBIC has cut for a mark within this round trip: RFC 3168, 6.1.2. */
	if (core->flags & QUELL_ADAPT_F_REDUCED && quell_bpf_governs(flow)) {
		core->flags &= ~QUELL_ADAPT_F_REDUCED;
		return 1;
	}
	return quell_adapt_on_loss(core, &quell_bpf_needs, &flow->sample,
				   fit_window_q16(flow)) ? 2 : 1;
}

/* A mark, while CUBIC or the search governs; 2: the core takes over. */
__noinline int quell_bpf_fit_reduce(struct quell_bpf_flow *flow)
{
	if (!flow)
		return 0;
	flow->adapt.flags |= QUELL_ADAPT_F_REDUCED;
	return quell_adapt_cut(&flow->adapt, &quell_bpf_needs, &flow->sample) ? 2 : 1;
}

/* Sending resumes: the window stays, unless that took longer than a retransmission timeout. */
__noinline int quell_bpf_fit_idle(struct quell_bpf_flow *flow)
{
	if (!flow)
		return 0;
	flow->decision.window_q16 = flow->view.window_bytes << QUELL_Q16_SHIFT;
	flow->decision.pacing_bytes_ps = flow->view.pacing_bytes_ps;
	flow->decision.target_ns = flow->view.target_ns;
	flow->decision.change_path = false;
	if (flow->sample.idle_ns > flow->tcp.rto_ns)
		quell_adapt_on_idle(&flow->adapt, &flow->sample, fit_window_q16(flow));
	else if (quell_bpf_governs(flow))
		quell_cubic_wait(&flow->adapt.cubic, flow->sample.now_ns);
	return 1;
}

/* The search starts from the stack's window, and ends where the last algorithm's slow start did. */
static __always_inline void fit_open(struct quell_bpf_flow *flow)
{
	quell_adapt_init(&flow->adapt, quell_max_u64(flow->tcp.cwnd_pkts, 1),
			 flow->sample.mss_bytes);
	quell_adapt_note_handshake(&flow->adapt, flow->tcp.first_rtt_ns);
	if (flow->tcp.ssthresh_pkts)
		quell_adapt_take_over(&flow->adapt,
				      (u64)flow->tcp.ssthresh_pkts * flow->sample.mss_bytes);
	flow->adapt.round_seq = flow->tcp.snd_nxt;
}

static __always_inline int quell_bpf_began(struct quell_bpf_flow *flow, QUELL_BPF_PARAMS *params,
					   QUELL_BPF_STATS *stats)
{
	if (!params)
		return 0;
	quell_bpf_init(flow, params, stats);
	if (*(const u64 *)params)
		fit_open(flow);
	fit_decide(flow);
	return 1;
}

/* An ACK without newly delivered data does not go to the core. */
static __always_inline int quell_bpf_acked(struct quell_bpf_flow *flow, QUELL_BPF_PARAMS *params,
					   QUELL_BPF_STATS *stats)
{
	int ran = 1;

	if (fit_is_on(flow) && quell_bpf_fit_ack(flow, params) == 2)
		fit_hand_over(flow, params, stats);
	if (flow->sample.acked_pkts) {
		ran = quell_bpf_on_ack(flow, params, stats);
		fit_decide(flow);
	}
	return ran;
}

/* 0 if the search handles the loss: there is no decision. */
static __always_inline int quell_bpf_lost(struct quell_bpf_flow *flow, QUELL_BPF_PARAMS *params,
					  QUELL_BPF_STATS *stats)
{
	int ran;

	if (fit_has_begun(flow))
		return 0;
	ran = quell_bpf_on_loss(flow, params, stats);
	if (fit_is_on(flow) && quell_bpf_fit_loss(flow) == 2)
		fit_hand_over(flow, params, stats);
	fit_decide(flow);
	return ran;
}

/* The stack reduces for ECN-Echo or a full queue of this host, and the core does not govern. */
static __always_inline int quell_bpf_reduced(struct quell_bpf_flow *flow,
					     QUELL_BPF_PARAMS *params, QUELL_BPF_STATS *stats)
{
	int ran;

	flow->decision.change_path = false;
	ran = quell_bpf_fit_reduce(flow);
	if (ran == 2)
		fit_hand_over(flow, params, stats);
	fit_decide(flow);
	return ran > 0;
}

static __always_inline int quell_bpf_timed_out(struct quell_bpf_flow *flow,
					       QUELL_BPF_PARAMS *params, QUELL_BPF_STATS *stats)
{
	/* If this timeout begins an episode, both were just cleared. */
	bool again = flow->undo.valid || flow->adapt.flags & QUELL_ADAPT_F_REDUCED;
	int ran = quell_bpf_on_rto(flow, params, stats);

	if (fit_is_on(flow))
		quell_adapt_on_rto(&flow->adapt, &flow->sample, again);
	fit_decide(flow);
	return ran;
}

static __always_inline int quell_bpf_resumed(struct quell_bpf_flow *flow,
					     QUELL_BPF_PARAMS *params, QUELL_BPF_STATS *stats)
{
	int ran;

	if (fit_is_on(flow))
		ran = quell_bpf_fit_idle(flow);
	else
		ran = quell_bpf_on_idle_restart(flow, params, stats);
	fit_decide(flow);
	return ran;
}

/* All losses of the episode were spurious, and @undo is valid. */
static __always_inline int quell_bpf_undone(struct quell_bpf_flow *flow,
					    QUELL_BPF_PARAMS *params, QUELL_BPF_STATS *stats)
{
	int ran = quell_bpf_on_undo(flow, params, stats);

	if (fit_is_on(flow)) {
		quell_adapt_on_undo(&flow->adapt);
		if (quell_bpf_governs(flow))
			flow->adapt.flags &= ~QUELL_ADAPT_F_BEGUN;
	}
	fit_decide(flow);
	__builtin_memset(&flow->undo, 0, sizeof(flow->undo));
	return ran;
}

/* An episode of losses or marks begins. */
static __always_inline void quell_bpf_new_episode(struct quell_bpf_flow *flow)
{
	__builtin_memset(&flow->undo, 0, sizeof(flow->undo));
	flow->adapt.flags &= ~QUELL_ADAPT_F_REDUCED;
}

#endif /* _QUELL_EBPF_FIT_H */

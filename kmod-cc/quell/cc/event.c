// SPDX-License-Identifier: GPL-2.0
/*
 * Events other than acknowledgments: reported to the core, and its decision applied.  They are
 * rare, so the core is called through pointers.  Context of all functions: socket lock.
 */
#include <net/tcp.h>
#include <compat/tcp_ecn.h>
#include "cc/cc.h"
#include "signal/dasr.h"
#include "signal/signal.h"
#include "tcp/tcp.h"

/* A sample without round-trip time and acknowledged data.  Socket lock. */
void quell_sample_state(struct sock *sk, struct quell_sample *sample)
{
	struct quell_flow *flow = quell_cc(sk)->flow;
	const struct tcp_sock *tp = tcp_sk(sk);

	*sample = (struct quell_sample) {
		.now_ns = tp->tcp_clock_cache,
		.mss_bytes = max_t(u32, tp->mss_cache, 1),
		.header_bytes = quell_header_bytes(sk),
		.inflight_bytes = quell_mul_sat_u32(tcp_packets_in_flight(tp), tp->mss_cache),
		.link_bytes_ps = flow ? READ_ONCE(flow->link.bytes_ps) : quell_link_bytes_ps(sk),
	};
	if (quell_ecn_is_negotiated(tp))
		sample->flags |= QUELL_S_ECN;
	if (flow) {
		sample->min_rtt_ns = flow->now.min_rtt_ns;
		sample->hops = READ_ONCE(flow->hops);
		if (flow->dasr)
			quell_dasr_sample(flow, tp, sample);
		/* Records are requested, and the peer echoes them. */
		if (quell_algo_has(flow->algo, QUELL_CORE_TELEMETRY) &&
		    (READ_ONCE(flow->option) == QUELL_OPTION_ON || quell_tcpint_used(flow)))
			sample->flags |= QUELL_S_TELEMETRY;
	}
}

/* Also records the cut for an undo. */
static void event_report(struct sock *sk, struct quell_event *ev,
			 void (*report)(struct quell_event *ev))
{
	struct quell_flow *flow = quell_cc(sk)->flow;
	u64 before[QUELL_CC_VARS_BYTES / sizeof(u64)];

	memcpy(before, ev->vars, sizeof(before));
	quell_core_call(ev, report);
	if (!flow)
		return;
	ev->before = before;
	ev->undo = &flow->undo;
	quell_core_call(ev, flow->algo->core->undo_note);
	/* Losses of segments that left before now belong to the congestion just reported. */
	flow->recover.reported_ns = tcp_sk(sk)->tcp_clock_cache;
}

/* @why: QUELL_REDUCTION_LOSS or _TAIL. */
void quell_event_loss(struct sock *sk, enum quell_reduction why)
{
	struct quell_flow *flow = quell_cc(sk)->flow;
	struct quell_event ev;

	if (quell_adapt_has_begun(flow)) {
		/* The next loss is of segments sent from now on. */
		flow->adapt.flags |= QUELL_ADAPT_F_LOST;
		flow->recover.reported_ns = tcp_sk(sk)->tcp_clock_cache;
		return;
	}
	quell_cc_enter(sk, &ev);
	quell_sample_state(sk, &ev.sample);
	event_report(sk, &ev, quell_cc(sk)->algo->core->on_loss);
	quell_adapt_lost(sk, &ev);
	quell_apply_event(sk, &ev.sample, &ev.decision, why);
	quell_cc_leave();
}

/*
 * The probe was a retransmission that was needed: neither the reduction for it nor earlier ones of
 * the episode may be undone (RFC 3708 requires each retransmission to be unnecessary).  If the same
 * ACK has shown another loss, one reduction is for both, and stands.
 */
void quell_event_tail_loss(struct sock *sk)
{
	quell_event_loss(sk, QUELL_REDUCTION_TAIL);
	quell_cc(sk)->flow->undo = (struct quell_undo) {};
}

void quell_event_timeout(struct sock *sk)
{
	struct quell_flow *flow = quell_cc(sk)->flow;
	/* If this timeout begins an episode, cc_ssthresh() has just cleared both. */
	bool again = flow && (flow->undo.valid || flow->adapt.flags & QUELL_ADAPT_F_REDUCED);
	struct tcp_sock *tp = tcp_sk(sk);
	struct quell_event ev;
	u32 cwnd_pkts;

	quell_cc_enter(sk, &ev);
	quell_sample_state(sk, &ev.sample);
	event_report(sk, &ev, quell_cc(sk)->algo->core->on_rto);
	quell_adapt_timed_out(sk, &ev.sample, again);
	/* The stack's window, which lets out one segment, is not raised. */
	cwnd_pkts = tcp_snd_cwnd(tp);
	quell_apply_event(sk, &ev.sample, &ev.decision, QUELL_REDUCTION_TIMEOUT);
	tcp_snd_cwnd_set(tp, min(cwnd_pkts, tcp_snd_cwnd(tp)));
	quell_path_on_rto(flow);
	/* Until the next ACK: the peer may be gone. */
	if (flow && flow->dasr)
		quell_dasr_claim(flow, 0);
	quell_cc_leave();
}

/* The losses of the last episode were spurious. */
void quell_event_undo(struct sock *sk)
{
	struct quell_flow *flow = quell_cc(sk)->flow;
	struct quell_event ev;

	if (!flow->undo.valid)
		return;
	quell_cc_enter(sk, &ev);
	quell_sample_state(sk, &ev.sample);
	ev.undo = &flow->undo;
	quell_core_call(&ev, flow->algo->core->on_undo);
	quell_adapt_undone(sk);
	/* After a spurious timeout, too, the window need not grow from one segment. */
	tcp_snd_cwnd_set(tcp_sk(sk), quell_apply_event(sk, &ev.sample, &ev.decision,
						       QUELL_REDUCTION_NEVER));
	quell_count(flow->qnet, QUELL_N_UNDONE);
	quell_cc_leave();
	flow->undo = (struct quell_undo) {};
}

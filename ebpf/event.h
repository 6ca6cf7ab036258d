/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events of a core within a BPF object, without sockets: the interface of the congestion control
 * (quell_bpf.h) and of the replay of selftests/bpf.
 *
 * Each event is a global function, which the verifier checks once, by itself, for all callers:
 * the core's paths do not multiply with those of its callers.  Such a function takes pointers to
 * memory of a known size and returns a number.  Its caller needs not exist yet, hence the
 * tests for NULL, and the sample and the decision in struct quell_bpf_flow.
 *
 * The including file defines QUELL_BPF_ALGO, the algorithm's name, and QUELL_BPF_VARS,
 * QUELL_BPF_PARAMS and QUELL_BPF_STATS, the types of its blocks.
 */
#ifndef _QUELL_EBPF_EVENT_H
#define _QUELL_EBPF_EVENT_H

#include <quell/bpf.h>
#include <quell/core/algorithm.h>

/* TCP's state needed by the fit to the path, besides the sample. */
struct quell_bpf_tcp {
	u64	first_rtt_ns;	/* TCP's smoothed round-trip time; 0 not yet known */
	u64	rto_ns;	/* retransmission timeout */
	u64	delivered_bytes;	/* payload that TCP saw delivered in its last interval */
	u32	interval_us;	/* that interval; 0 not yet known */
	u32	snd_una;	/* sequence number of the oldest segment outstanding */
	u32	snd_nxt;	/* sequence number of the next one */
	u32	cwnd_pkts;	/* the stack's window, packets */
	u32	ssthresh_pkts;	/* where slow start ends, packets; 0 no loss so far */
	bool	is_full;	/* the window is used up, and is not being reduced */
};

#define QUELL_BPF_PASTE3(a_, b_, c_)	a_##b_##c_
#define QUELL_BPF_CORE(algo_, event_)	QUELL_BPF_PASTE3(quell_, algo_, _core_##event_)

/* A flow; an observer reads @view alone. The socket lock protects all of it. */
struct quell_bpf_flow {
	struct quell_bpf_view	view;	/* copied by observers */
	QUELL_BPF_VARS		vars;	/* the algorithm's variables */
	QUELL_BPF_VARS		before;	/* copy of @vars from before the last loss or timeout */
	struct quell_undo	undo;	/* reductions of the episode of losses */
	struct quell_sample	sample;	/* input of the next event */
	struct quell_decision	decision;	/* output of the last event */
	struct quell_adapt	adapt;	/* fit to the path */
	struct quell_bpf_tcp	tcp;	/* TCP's state at the next event */
	u64			active_ns;	/* time of the last ACK */
	u32			acked_seq;	/* snd_una after the last ACK */
	u32			delivered_ce_pkts;	/* tp->delivered_ce after the last ACK */
	/* end of the round trip that @rest_bytes belongs to */
	u32			round_seq;
	u32			carry_bytes;	/* added to the window in this round trip */
	u32			rest_bytes;	/* remainder for the next one */
	u32			resumed_seq;	/* snd_nxt when sending resumed last */
	/* packets delivered since the last reduction began */
	u32			reduced_pkts;
	u32			rcv_nxt_marked;	/* rcv_nxt after the last packet received */
	bool			backlogged;	/* data waited to be sent at the last ACK */
	bool			rcv_marked;	/* the last packet received was marked CE */
	/* the peer said that it delays the ACKs of lone segments */
	bool			peer_delays;
	/* at this ACK a retransmission that the stack sent as a probe is outstanding */
	bool			tail_probed;
};

static __always_inline void quell_bpf_fill(struct quell_event *ev, struct quell_bpf_flow *flow,
					   const QUELL_BPF_PARAMS *params,
					   QUELL_BPF_STATS *stats)
{
	ev->vars = &flow->vars;
	ev->params = params;
	ev->stats = stats;
	ev->before = &flow->before;
	ev->undo = &flow->undo;
	ev->sample = flow->sample;
}

/* After an event; Dart's core replaces the sample's link rate by the minimum of both ends. */
static __always_inline void quell_bpf_keep(struct quell_bpf_flow *flow,
					   const struct quell_event *ev)
{
	flow->decision = ev->decision;
	flow->sample.link_bytes_ps = ev->sample.link_bytes_ps;
}

/* An event that the core alone handles. */
#define QUELL_BPF_EVENT(event_)							\
__noinline int quell_bpf_##event_(struct quell_bpf_flow *flow,			\
				  QUELL_BPF_PARAMS *params, QUELL_BPF_STATS *stats) \
{										\
	struct quell_event ev;							\
										\
	if (!flow || !params || !stats)						\
		return 0;							\
	quell_bpf_fill(&ev, flow, params, stats);				\
	QUELL_BPF_CORE_EVENT(event_)(&ev);					\
	quell_bpf_keep(flow, &ev);						\
	return 1;								\
}

/* The same for a loss or timeout; the reduction is recorded for an undo. */
#define QUELL_BPF_REDUCTION(event_)						\
__noinline int quell_bpf_##event_(struct quell_bpf_flow *flow,			\
				  QUELL_BPF_PARAMS *params, QUELL_BPF_STATS *stats) \
{										\
	struct quell_event ev;							\
										\
	if (!flow || !params || !stats)						\
		return 0;							\
	flow->before = flow->vars;						\
	quell_bpf_fill(&ev, flow, params, stats);				\
	QUELL_BPF_CORE_EVENT(event_)(&ev);					\
	QUELL_BPF_CORE_EVENT(undo_note)(&ev);					\
	quell_bpf_keep(flow, &ev);						\
	return 1;								\
}

#define QUELL_BPF_CORE_OF(algo_, event_)	QUELL_BPF_CORE(algo_, event_)
#define QUELL_BPF_CORE_EVENT(event_)	QUELL_BPF_CORE_OF(QUELL_BPF_ALGO, event_)

QUELL_BPF_EVENT(init)
QUELL_BPF_EVENT(on_ack)
QUELL_BPF_REDUCTION(on_loss)
QUELL_BPF_REDUCTION(on_rto)
QUELL_BPF_EVENT(on_idle_restart)
QUELL_BPF_EVENT(on_undo)

#endif /* _QUELL_EBPF_EVENT_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RCP's sender: it paces at the rate that the newest telemetry record of an ACK has, the least of
 * the path's switches (rcp_port.h).
 *
 * RCP asks for a rate in the SYN.  Here a sender has line rate until its first record comes, as
 * after a time without outstanding data: a SYN's rate where one flow or no flow fills the line.
 * The window only bounds the data in flight.  Loss has no effect but that of the stack by
 * itself: RCP has no answer to it.
 */
#ifndef _QUELL_LAB_RCP_SENDER_H
#define _QUELL_LAB_RCP_SENDER_H

#include <quell/core/algorithm.h>
#include <quell/core/lib/math.h>
#include <quell/core/lib/window.h>

/* The window: a multiple of the rate's bytes in a round trip, and some packets. */
#define RCP_WINDOW_RTTS		2
#define RCP_WINDOW_SEGMENTS	4
#define RCP_WINDOW_MAX_BYTES	(1ULL << 30)	/* TCP's own limit */
/* The parameter that each algorithm has; it is off. */
#define QUELL_RCP_ADAPT_BOOL		QUELL_RANGE(0, 0, 0)

/* Parameters; it has only the common one. */
struct rcp_sender_params {
	u64	adapt_bool;	/* 0 */
};

/* State of a flow. */
struct rcp_sender {
	u64	wire_bytes_ps;	/* rate as received, bytes/s on the wire */
	u64	rtt_ns;	/* newest round-trip time; 0 not known */
	bool	has_rate;	/* whether a rate was received since the start or an idle time */
};

/* Counters. */
struct rcp_sender_stats {
	u64	rate_acks;	/* ACKs with a rate */
	u64	rateless_acks;	/* ACKs without */
};

static const struct quell_param_desc rcp_sender_params[] = {
	QUELL_PARAM(struct rcp_sender_params, "adapt", BOOL, adapt_bool, RCP_ADAPT_BOOL,
		    "Off: RCP has nothing to fit."),
};

static const struct quell_counter_desc rcp_sender_counters[] = {
	QUELL_COUNTER(struct rcp_sender_stats, "rate-acks", rate_acks, "ACKs with a rate."),
	QUELL_COUNTER(struct rcp_sender_stats, "rateless-acks", rateless_acks,
		      "ACKs without a rate."),
};

/* Rate and window by the known rate. */
static inline void rcp_sender_decide(struct quell_event *ev)
{
	const struct rcp_sender *v = ev->vars;
	const struct quell_sample *s = &ev->sample;
	u64 wire_bytes_ps = v->has_rate ? v->wire_bytes_ps : s->link_bytes_ps;
	u64 mss_bytes = s->mss_bytes ? s->mss_bytes : 1;
	u64 window_bytes;

	/* Without a rate there is the first window alone. */
	ev->decision = (struct quell_decision) {
		.window_q16 = quell_init_window_q16(mss_bytes),
		.pacing_bytes_ps = QUELL_RATE_UNLIMITED,
	};
	if (!v->has_rate && !wire_bytes_ps)
		return;
	ev->decision.pacing_bytes_ps =
		quell_max_u64(quell_mul_div_u64(wire_bytes_ps, mss_bytes,
						mss_bytes + s->header_bytes), 1);
	window_bytes = RCP_WINDOW_SEGMENTS * mss_bytes +
		       quell_mul_div_u64(wire_bytes_ps, RCP_WINDOW_RTTS * v->rtt_ns,
					 QUELL_NS_PER_SEC);
	window_bytes = quell_min_u64(window_bytes, RCP_WINDOW_MAX_BYTES);
	ev->decision.window_q16 = window_bytes << QUELL_Q16_SHIFT;
}

static inline void rcp_sender_init(struct quell_event *ev)
{
	struct rcp_sender *v = ev->vars;

	*v = (struct rcp_sender) { .rtt_ns = ev->sample.min_rtt_ns };
	rcp_sender_decide(ev);
}

static inline void rcp_sender_on_ack(struct quell_event *ev)
{
	struct rcp_sender_stats *stats = ev->stats;
	struct rcp_sender *v = ev->vars;

	if (ev->sample.rtt_ns)
		v->rtt_ns = ev->sample.rtt_ns;
	if (ev->sample.telemetry.hop) {
		v->wire_bytes_ps = ev->sample.telemetry.link_bytes_ps;
		v->has_rate = true;
		stats->rate_acks++;
	} else {
		stats->rateless_acks++;
	}
	rcp_sender_decide(ev);
}

/* As a SYN, which requests a rate. */
static inline void rcp_sender_on_idle_restart(struct quell_event *ev)
{
	struct rcp_sender *v = ev->vars;

	v->has_rate = false;
	rcp_sender_decide(ev);
}

/* A loss causes no reduction, so there is no undo. */
static inline void rcp_sender_undo_note(struct quell_event *ev)
{
	ev->undo->valid = false;
}

static const struct quell_core quell_rcp_core = {
	.name			= "rcp",
	.module			= "quell_labrcp",
	.flags			= QUELL_CORE_TELEMETRY,
	.vars_bytes		= sizeof(struct rcp_sender),
	.params			= rcp_sender_params,
	.params_nr		= QUELL_ARRAY_NR(rcp_sender_params),
	.params_bytes		= sizeof(struct rcp_sender_params),
	.counters		= rcp_sender_counters,
	.counters_nr		= QUELL_ARRAY_NR(rcp_sender_counters),
	.counters_bytes		= sizeof(struct rcp_sender_stats),
	.init			= rcp_sender_init,
	.on_ack			= QUELL_CORE_ON_ACK(rcp_sender_on_ack),
	.on_loss		= rcp_sender_decide,
	.on_rto			= rcp_sender_decide,
	.on_idle_restart	= rcp_sender_on_idle_restart,
	.undo_note		= rcp_sender_undo_note,
	.on_undo		= rcp_sender_decide,
};

#endif /* _QUELL_LAB_RCP_SENDER_H */

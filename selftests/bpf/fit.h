/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fit of a flow to its path in user space, for replay.c: written after
 * kmod-cc/quell/tcp/adapt.c and the events that call it, not after ebpf/fit.h, to which it is
 * compared.
 */
#ifndef _QUELL_SELFTESTS_BPF_FIT_H
#define _QUELL_SELFTESTS_BPF_FIT_H

#include <string.h>

#include <quell/bpf.h>
#include <quell/core/adapt/react.h>
#include <quell/core/algorithm.h>

#include "replay.h"

/* struct quell_bpf_tcp of ebpf/event.h */
struct fit_tcp {
	u64	first_rtt_ns;
	u64	rto_ns;
	u64	delivered_bytes;
	u32	interval_us;
	u32	snd_una;
	u32	snd_nxt;
	u32	cwnd_pkts;
	u32	ssthresh_pkts;
	bool	is_full;
};

/* A flow. */
struct model {
	const struct quell_core	*core;
	struct quell_event	ev;
	struct quell_undo	undo;
	struct quell_adapt	adapt;
	struct quell_bpf_view	view;
	struct fit_tcp		tcp;
	void			*vars, *before, *stats, *params;
};

static inline bool model_is_on(const struct model *m)
{
	return m->adapt.phase != QUELL_ADAPT_OFF;
}

static inline bool model_governs(const struct model *m)
{
	return m->adapt.phase == QUELL_ADAPT_START || m->adapt.phase == QUELL_ADAPT_FALLBACK;
}

/* Whether the congestion control would report such an event now. */
static inline bool model_takes(const struct model *m, enum replay_event event)
{
	if (event == REPLAY_UNDO)
		return m->undo.valid;
	return event != REPLAY_REDUCTION || model_governs(m);
}

static inline u64 model_window_q16(const struct model *m)
{
	u64 window_bytes = m->view.window_bytes, rtt_ns;

	if (model_governs(m))
		return m->adapt.cubic.window_q16;
	rtt_ns = quell_max_u64(m->adapt.stand_ns, m->adapt.base_ns);
	if (m->view.pacing_bytes_ps != QUELL_RATE_UNLIMITED && m->adapt.base_ns)
		window_bytes = quell_min_u64(window_bytes,
					     quell_mul_div_u64(m->view.pacing_bytes_ps, rtt_ns,
							       QUELL_NS_PER_SEC));
	return quell_min_u64(window_bytes << QUELL_Q16_SHIFT, QUELL_CUBIC_MAX_WINDOW_Q16);
}

/* Bytes in flight by the core's decision; the part of @window_bytes that its rate may use. */
static inline u64 model_in_flight_bytes(const struct model *m, const struct quell_decision *d)
{
	u64 window_bytes = d->window_q16 >> QUELL_Q16_SHIFT;

	return d->pacing_bytes_ps == QUELL_RATE_UNLIMITED ? window_bytes :
	       quell_min_u64(window_bytes, quell_mul_div_u64(d->pacing_bytes_ps,
							     m->tcp.first_rtt_ns,
							     QUELL_NS_PER_SEC));
}

static inline u64 model_bound_bytes(const struct model *m, const struct quell_decision *d,
				    u64 window_bytes)
{
	u64 bytes_ps;

	if (d->pacing_bytes_ps == QUELL_RATE_UNLIMITED || !m->tcp.interval_us)
		return window_bytes;
	bytes_ps = quell_mul_div_u64(m->tcp.delivered_bytes, 1000000, m->tcp.interval_us);
	return quell_min_u64(window_bytes, quell_mul_div_u64(bytes_ps, m->tcp.first_rtt_ns,
							     QUELL_NS_PER_SEC));
}

static inline void model_hand_over(struct model *m)
{
	u64 mss_bytes = m->ev.sample.mss_bytes, rtt_ns = m->tcp.first_rtt_ns, begun_bytes;
	u64 window_bytes = quell_max_u64(m->adapt.cubic.window_q16 >> QUELL_Q16_SHIFT, mss_bytes);
	struct quell_event ev = m->ev;

	ev.sample.flags |= QUELL_S_FITTED;
	ev.sample.min_rtt_ns = rtt_ns;
	if (rtt_ns)
		ev.sample.link_bytes_ps = quell_mul_div_u64(window_bytes, QUELL_NS_PER_SEC, rtt_ns);
	m->core->init(&ev);
	begun_bytes = model_in_flight_bytes(m, &ev.decision);
	window_bytes = quell_max_u64(model_bound_bytes(m, &ev.decision, window_bytes),
				     quell_min_u64(window_bytes, 2 * mss_bytes));
	if (rtt_ns && begun_bytes && begun_bytes != window_bytes) {
		ev.sample.link_bytes_ps = quell_mul_div_u64(ev.sample.link_bytes_ps, window_bytes,
							    begun_bytes);
		m->core->init(&ev);
	}
	m->ev.decision = ev.decision;
	m->undo = (struct quell_undo) { .valid = m->undo.valid };
	if (m->core->needs.signal == QUELL_ADAPT_DELAY)
		m->adapt.flags |= QUELL_ADAPT_F_BEGUN;
	m->adapt.round_seq = m->tcp.snd_nxt;
}

static inline bool model_round(struct model *m)
{
	if ((int)(m->tcp.snd_una - m->adapt.round_seq) > 0)
		m->adapt.flags = (m->adapt.flags | QUELL_ADAPT_F_OVER) & ~QUELL_ADAPT_F_BEGUN;
	if (!m->ev.sample.rtt_ns || !(m->adapt.flags & QUELL_ADAPT_F_OVER))
		return false;
	m->adapt.flags &= ~QUELL_ADAPT_F_OVER;
	m->adapt.round_seq = m->tcp.snd_nxt;
	quell_adapt_note_rate(&m->adapt, m->tcp.delivered_bytes, m->tcp.interval_us);
	return true;
}

static inline void model_ack(struct model *m)
{
	u64 remote_ns = m->ev.sample.remote_ns, hold_ns = 0;
	u16 hold_offset = m->core->needs.hold_offset;
	bool round, begins;

	if (!model_is_on(m))
		return;
	if (hold_offset)
		memcpy(&hold_ns, (char *)m->params + hold_offset, sizeof(hold_ns));
	m->ev.sample.remote_ns = quell_min_u64(remote_ns, hold_ns);
	quell_adapt_set_aim(&m->adapt, m->view.target_ns);
	m->adapt.flags &= ~QUELL_ADAPT_F_FULL;
	if (m->tcp.is_full)
		m->adapt.flags |= QUELL_ADAPT_F_FULL;
	round = model_round(m);
	begins = quell_adapt_on_ack(&m->adapt, &m->core->needs, &m->ev.sample,
				    model_window_q16(m), round);
	quell_adapt_filter(&m->adapt, &m->core->needs, &m->ev.sample, hold_ns ? remote_ns : 0);
	if (quell_adapt_has_responded(&m->adapt, &m->core->needs))
		m->ev.sample.marked_bytes = 0;
	if (begins)
		model_hand_over(m);
}

static inline void model_lost(struct model *m)
{
	if (!model_is_on(m))
		return;
	if (m->adapt.flags & QUELL_ADAPT_F_REDUCED && model_governs(m))
		m->adapt.flags &= ~QUELL_ADAPT_F_REDUCED;
	else if (quell_adapt_on_loss(&m->adapt, &m->core->needs, &m->ev.sample,
				     model_window_q16(m)))
		model_hand_over(m);
}

static inline void model_reduction(struct model *m)
{
	m->ev.decision.change_path = false;
	m->adapt.flags |= QUELL_ADAPT_F_REDUCED;
	if (quell_adapt_cut(&m->adapt, &m->core->needs, &m->ev.sample))
		model_hand_over(m);
}

static inline void model_idle(struct model *m)
{
	if (!model_is_on(m)) {
		m->core->on_idle_restart(&m->ev);
		return;
	}
	m->ev.decision = (struct quell_decision) {
		.window_q16 = m->view.window_bytes << QUELL_Q16_SHIFT,
		.pacing_bytes_ps = m->view.pacing_bytes_ps,
		.target_ns = m->view.target_ns,
	};
	if (m->ev.sample.idle_ns > m->tcp.rto_ns)
		quell_adapt_on_idle(&m->adapt, &m->ev.sample, model_window_q16(m));
	else if (model_governs(m))
		quell_cubic_wait(&m->adapt.cubic, m->ev.sample.now_ns);
}

static inline void model_undo(struct model *m)
{
	m->core->on_undo(&m->ev);
	if (!model_is_on(m))
		return;
	quell_adapt_on_undo(&m->adapt);
	if (model_governs(m))
		m->adapt.flags &= ~QUELL_ADAPT_F_BEGUN;
}

static inline void model_begin(struct model *m)
{
	m->core->init(&m->ev);
	if (!*(u64 *)m->params)
		return;
	quell_adapt_init(&m->adapt, quell_max_u64(m->tcp.cwnd_pkts, 1), m->ev.sample.mss_bytes);
	quell_adapt_note_handshake(&m->adapt, m->tcp.first_rtt_ns);
	if (m->tcp.ssthresh_pkts)
		quell_adapt_take_over(&m->adapt,
				      (u64)m->tcp.ssthresh_pkts * m->ev.sample.mss_bytes);
	m->adapt.round_seq = m->tcp.snd_nxt;
}

/* A loss or a timeout to the core, then to the fit. */
static inline void model_report(struct model *m, enum replay_event event)
{
	bool again = m->undo.valid || m->adapt.flags & QUELL_ADAPT_F_REDUCED;

	memcpy(m->before, m->vars, m->core->vars_bytes);
	if (event == REPLAY_LOSS)
		m->core->on_loss(&m->ev);
	else
		m->core->on_rto(&m->ev);
	m->core->undo_note(&m->ev);
	if (event == REPLAY_LOSS)
		model_lost(m);
	else if (model_is_on(m))
		quell_adapt_on_rto(&m->adapt, &m->ev.sample, again);
}

/* The parts of quell_adapt_replace() and of struct quell_flow.now that are quell_apply()'s. */
static inline void model_apply(struct model *m)
{
	struct quell_decision *d = &m->ev.decision;

	if (model_governs(m)) {
		d->window_q16 = m->adapt.cubic.window_q16;
		d->pacing_bytes_ps = QUELL_RATE_UNLIMITED;
		d->target_ns = 0;
	}
	m->view.window_bytes = d->window_q16 >> QUELL_Q16_SHIFT;
	m->view.pacing_bytes_ps = d->pacing_bytes_ps;
	m->view.target_ns = d->target_ns;
	m->view.phase = m->adapt.phase;
	m->view.reason = m->adapt.phase == QUELL_ADAPT_FALLBACK ? m->adapt.reason : 0;
}

static inline void model_event(struct model *m, enum replay_event event)
{
	m->ev.vars = m->vars;
	m->ev.params = m->params;
	m->ev.stats = m->stats;
	m->ev.before = m->before;
	m->ev.undo = &m->undo;
	if (event == REPLAY_INIT)
		model_begin(m);
	else if (event == REPLAY_ACK)
		model_ack(m);
	else if (event == REPLAY_REDUCTION)
		model_reduction(m);
	else if (event == REPLAY_IDLE)
		model_idle(m);
	else if (event == REPLAY_UNDO)
		model_undo(m);
	if (event == REPLAY_EPISODE || (event == REPLAY_LOSS && model_is_on(m) &&
					!model_governs(m) &&
					m->adapt.flags & QUELL_ADAPT_F_BEGUN)) {
		if (event == REPLAY_EPISODE) {
			m->undo = (struct quell_undo) {};
			m->adapt.flags &= ~QUELL_ADAPT_F_REDUCED;
		}
		return;
	}
	if (event == REPLAY_LOSS || event == REPLAY_RTO)
		model_report(m, event);
	if (event == REPLAY_ACK && !m->ev.sample.acked_pkts)
		return;
	if (event == REPLAY_ACK)
		m->core->on_ack(&m->ev);
	model_apply(m);
	if (event == REPLAY_UNDO)
		m->undo = (struct quell_undo) {};
}

#endif /* _QUELL_SELFTESTS_BPF_FIT_H */

// SPDX-License-Identifier: GPL-2.0
/*
 * TCP congestion control "hpcc_vaisf", part of tcp_hpcc.ko: the sockets' side
 * of the core in quell/core/hpcc_vaisf.h, where the algorithm is described.
 */
#include <linux/module.h>
#include <net/tcp.h>
#include <compat/cong_ops.h>
#include <quell/core/hpcc_vaisf.h>
#include <quell/quell.h>
#include "tcp_hpcc.h"

static_assert(sizeof(struct quell_hpcc_vaisf_vars) <= QUELL_CC_VARS_BYTES);

#define VAISF_PARAM(name_, unit_, field_, range_, doc_) \
	QUELL_PARAM(struct quell_hpcc_vaisf_params, name_, unit_, field_, range_, doc_)

static const struct quell_param_desc vaisf_params[] = {
	VAISF_PARAM("eta", Q16, hpcc.eta_q16, HPCC_ETA_Q16,
		    "Utilisation of the most loaded link to steer for."),
	VAISF_PARAM("max-stage", NONE, hpcc.max_stage_steps, HPCC_MAX_STAGE_STEPS,
		    "Updates of additive increase before a multiplicative one."),
	VAISF_PARAM("ai", BYTES_PS, hpcc.ai_bytes_ps, HPCC_AI_BYTES_PS,
		    "Additive increase of one token, as a rate."),
	VAISF_PARAM("base-rtt", NS, hpcc.base_rtt_ns, HPCC_BASE_RTT_NS,
		    "Base round-trip time; 0 is the smallest the flow saw."),
	VAISF_PARAM("min-rate", BYTES_PS, hpcc.min_rate_bytes_ps, HPCC_MIN_RATE_BYTES_PS,
		    "Smallest rate."),
	VAISF_PARAM("max-window", BYTES, hpcc.max_window_bytes, HPCC_MAX_WINDOW_BYTES,
		    "Largest window."),
	VAISF_PARAM("init-window", BYTES, hpcc.init_window_bytes, HPCC_INIT_WINDOW_BYTES,
		    "First window of a message; 0 is one bandwidth-delay product."),
	VAISF_PARAM("restart-idle", NS, hpcc.restart_idle_ns, HPCC_RESTART_IDLE_NS,
		    "Idle time after which a flow starts anew; 0 is never."),
	VAISF_PARAM("retx-reset", NONE, hpcc.retx_reset_rtos, HPCC_RETX_RESET_RTOS,
		    "Timeouts in a row that put the window to its smallest."),
	VAISF_PARAM("token-thresh", BYTES, token_thresh_bytes, HPCC_VAISF_TOKEN_THRESH_BYTES,
		    "Queue above which tokens are earned."),
	VAISF_PARAM("token", BYTES, token_bytes, HPCC_VAISF_TOKEN_BYTES,
		    "Queue that earns one token."),
	VAISF_PARAM("bank-cap", NONE, vaisf.bank_cap_tokens, VAISF_BANK_CAP_TOKENS,
		    "Most tokens a flow can hold; 0 switches Variable AI off."),
	VAISF_PARAM("ai-cap", NONE, vaisf.ai_cap_tokens, VAISF_AI_CAP_TOKENS,
		    "Most tokens one update of the reference uses."),
	VAISF_PARAM("dampener", Q16, vaisf.dampener_q16, VAISF_DAMPENER_Q16,
		    "Dampener that halves the additive increase."),
	VAISF_PARAM("sampling", PKTS, vaisf.sampling_pkts, VAISF_SAMPLING_PKTS,
		    "Acknowledged packets between decreases of the reference."),
};

#define VAISF_COUNTER(name_, field_, doc_) \
	QUELL_COUNTER(struct quell_hpcc_vaisf_stats, name_, field_, doc_)

static const struct quell_counter_desc vaisf_counters[] = {
	VAISF_COUNTER("measured", hpcc.measured,
		      "ACKs whose record gave a utilisation."),
	VAISF_COUNTER("stored", hpcc.stored,
		      "ACKs whose record was only stored: first, of another hop, too late."),
	VAISF_COUNTER("repeated", hpcc.repeated,
		      "ACKs whose record was not newer than the last."),
	VAISF_COUNTER("no-record", hpcc.no_record,
		      "ACKs without a record, or with one that says nothing."),
	VAISF_COUNTER("lost", hpcc.lost,
		      "Times a flow was left without records."),
	VAISF_COUNTER("increases", hpcc.increases,
		      "Updates that raised the reference."),
	VAISF_COUNTER("decreases", hpcc.decreases,
		      "Updates that lowered the reference."),
	VAISF_COUNTER("held", held,
		      "ACKs that lowered the window, not the reference."),
	VAISF_COUNTER("blind", hpcc.blind,
		      "Round trips without a measurement."),
	VAISF_COUNTER("app-limited", hpcc.app_limited,
		      "Round trips that did not grow the reference of a flow short of data."),
	VAISF_COUNTER("fast-retx", hpcc.fast_retx,
		      "Decreases because of a fast retransmit."),
	VAISF_COUNTER("rtos", hpcc.rtos,
		      "Retransmission timeouts."),
	VAISF_COUNTER("rto-resets", hpcc.rto_resets,
		      "Timeouts that put the window to its smallest."),
	VAISF_COUNTER("restarts", hpcc.restarts,
		      "Starts at the first window after an idle time."),
	VAISF_COUNTER("restarts-refused", hpcc.restarts_refused,
		      "Restarts kept from raising the window by a recent loss or no records."),
	VAISF_COUNTER("rounds", rounds,
		      "Round trips finished."),
	VAISF_COUNTER("earned", earned,
		      "Round trips that earned tokens."),
	VAISF_COUNTER("spent", spent,
		      "Tokens spent."),
};

static void vaisf_cong_control(quell_cong_control_args)
{
	struct quell_event ev;

	if (!quell_cc_ready(sk))
		return;
	quell_cc_enter(sk, &ev);
	if (quell_sample_fill(sk, rs, &ev.sample)) {
		quell_hpcc_vaisf_on_ack(ev.vars, ev.params, ev.stats,
					&ev.sample, &ev.decision);
		quell_apply(sk, &ev.sample, &ev.decision);
	}
	quell_cc_leave();
}

static void vaisf_init(struct sock *sk, struct quell_event *ev)
{
	quell_hpcc_vaisf_init(ev->vars, ev->params, ev->sample.flags & QUELL_S_TELEMETRY,
			      ev->sample.link_bytes_ps, quell_first_rtt_ns(sk),
			      ev->sample.mss_bytes, ev->sample.now_ns, &ev->decision);
}

static void vaisf_on_loss(struct sock *sk, struct quell_event *ev)
{
	quell_hpcc_vaisf_on_loss(ev->vars, ev->params, ev->stats, &ev->sample,
				 &ev->decision);
}

static void vaisf_on_rto(struct sock *sk, struct quell_event *ev)
{
	quell_hpcc_vaisf_on_rto(ev->vars, ev->params, ev->stats, &ev->sample,
				&ev->decision);
}

static void vaisf_undo_note(struct quell_undo *undo, const void *before,
			    const void *after)
{
	quell_hpcc_vaisf_undo_note(undo, before, after);
}

static void vaisf_on_undo(struct sock *sk, struct quell_event *ev,
			  const struct quell_undo *undo)
{
	quell_hpcc_vaisf_on_undo(ev->vars, ev->params, &ev->sample, undo, &ev->decision);
}

static void vaisf_on_idle_restart(struct sock *sk, struct quell_event *ev,
				  u64 idle_ns)
{
	quell_hpcc_vaisf_on_idle_restart(ev->vars, ev->params, ev->stats,
					 &ev->sample, idle_ns, &ev->decision);
}

struct quell_algo quell_hpcc_vaisf_algo __read_mostly = {
	.ops = {
		.name		= "hpcc_vaisf",
		.owner		= THIS_MODULE,
		.flags		= TCP_CONG_NON_RESTRICTED,
		.cong_control	= vaisf_cong_control,
	},
	.init			= vaisf_init,
	.on_loss		= vaisf_on_loss,
	.on_rto			= vaisf_on_rto,
	.on_idle_restart	= vaisf_on_idle_restart,
	.undo_note		= vaisf_undo_note,
	.on_undo		= vaisf_on_undo,
	.params			= vaisf_params,
	.params_nr		= ARRAY_SIZE(vaisf_params),
	.params_bytes		= sizeof(struct quell_hpcc_vaisf_params),
	.fractional_window	= true,
	.telemetry		= true,
	.counters		= vaisf_counters,
	.counters_nr		= ARRAY_SIZE(vaisf_counters),
	.counters_bytes		= sizeof(struct quell_hpcc_vaisf_stats),
};

// SPDX-License-Identifier: GPL-2.0
/*
 * TCP congestion control "swift_vaisf", part of tcp_swift.ko: the sockets' side
 * of the core in quell/core/swift_vaisf.h, where the algorithm is described.
 */
#include <linux/module.h>
#include <net/tcp.h>
#include <compat/cong_ops.h>
#include <quell/core/swift_vaisf.h>
#include <quell/quell.h>
#include "tcp_swift.h"

static_assert(sizeof(struct quell_swift_vaisf_vars) <= QUELL_CC_VARS_BYTES);

#define VAISF_PARAM(name_, unit_, field_, range_, doc_) \
	QUELL_PARAM(struct quell_swift_vaisf_params, name_, unit_, field_, range_, doc_)

static const struct quell_param_desc vaisf_params[] = {
	VAISF_PARAM("base-target", NS, swift.base_target_ns, SWIFT_BASE_TARGET_NS,
		    "Target delay of a path without switches."),
	VAISF_PARAM("hop-scale", NS, swift.hop_scale_ns, SWIFT_HOP_SCALE_NS,
		    "Added to the target per switch on the path."),
	VAISF_PARAM("ai", BYTES_PS, swift.ai_bytes_ps, SWIFT_AI_BYTES_PS,
		    "Additive increase per round trip, as a rate."),
	VAISF_PARAM("beta", Q16, swift.beta_q16, SWIFT_BETA_Q16,
		    "Weight of the excess delay in a decrease."),
	VAISF_PARAM("max-mdf", Q16, swift.max_mdf_q16, SWIFT_MAX_MDF_Q16,
		    "Largest part of the reference one decrease takes."),
	VAISF_PARAM("min-window", PKTS_Q16, swift.min_window_pkts_q16, SWIFT_MIN_WINDOW_PKTS_Q16,
		    "Smallest window."),
	VAISF_PARAM("max-window", BYTES, swift.max_window_bytes, SWIFT_MAX_WINDOW_BYTES,
		    "Largest window."),
	VAISF_PARAM("init-window", BYTES, swift.init_window_bytes, SWIFT_INIT_WINDOW_BYTES,
		    "First window of a message; 0 is one bandwidth-delay product."),
	VAISF_PARAM("restart-idle", NS, swift.restart_idle_ns, SWIFT_RESTART_IDLE_NS,
		    "Idle time after which a flow starts anew; 0 is never."),
	VAISF_PARAM("retx-reset", NONE, swift.retx_reset_rtos, SWIFT_RETX_RESET_RTOS,
		    "Timeouts in a row that put the window to its smallest."),
	VAISF_PARAM("token-thresh", NS, token_thresh_ns, SWIFT_VAISF_TOKEN_THRESH_NS,
		    "Delay beyond the target above which tokens are earned."),
	VAISF_PARAM("token", NS, token_ns, SWIFT_VAISF_TOKEN_NS,
		    "Queueing delay that earns one token."),
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
	QUELL_COUNTER(struct quell_swift_vaisf_stats, name_, field_, doc_)

static const struct quell_counter_desc vaisf_counters[] = {
	VAISF_COUNTER("increases", swift.increases,
		      "Increases of the reference."),
	VAISF_COUNTER("decreases", swift.decreases,
		      "Decreases of the reference because of delay."),
	VAISF_COUNTER("held", swift.held,
		      "ACKs that moved the window, not the reference."),
	VAISF_COUNTER("no-rtt", swift.no_rtt,
		      "ACKs without a round-trip time."),
	VAISF_COUNTER("app-limited", swift.app_limited,
		      "Round trips that did not grow the reference of a flow short of data."),
	VAISF_COUNTER("fast-retx", swift.fast_retx,
		      "Decreases because of a fast retransmit."),
	VAISF_COUNTER("rtos", swift.rtos,
		      "Retransmission timeouts."),
	VAISF_COUNTER("rto-resets", swift.rto_resets,
		      "Timeouts that put the window to its smallest."),
	VAISF_COUNTER("restarts", swift.restarts,
		      "Starts at the first window after an idle time."),
	VAISF_COUNTER("restarts-refused", swift.restarts_refused,
		      "Restarts kept from raising the window by a recent loss or no delay signal."),
	VAISF_COUNTER("rounds", rounds,
		      "Round trips finished."),
	VAISF_COUNTER("earned", earned,
		      "Round trips that earned tokens."),
	VAISF_COUNTER("spent", spent,
		      "Tokens spent."),
};

static void vaisf_params_derive(void *params)
{
	quell_swift_vaisf_params_derive(params);
}

static void vaisf_cong_control(quell_cong_control_args)
{
	struct quell_event ev;

	if (!quell_cc_ready(sk))
		return;
	quell_cc_enter(sk, &ev);
	if (quell_sample_fill(sk, rs, &ev.sample)) {
		quell_swift_vaisf_on_ack(ev.vars, ev.params, ev.stats,
					 &ev.sample, &ev.decision);
		quell_apply(sk, &ev.sample, &ev.decision);
	}
	quell_cc_leave();
}

static void vaisf_init(struct sock *sk, struct quell_event *ev)
{
	quell_swift_vaisf_init(ev->vars, ev->params, ev->sample.link_bytes_ps,
			       quell_first_rtt_ns(sk), ev->sample.mss_bytes,
			       ev->sample.now_ns, &ev->decision);
}

static void vaisf_on_loss(struct sock *sk, struct quell_event *ev)
{
	quell_swift_vaisf_on_loss(ev->vars, ev->params, ev->stats, &ev->sample,
				  &ev->decision);
}

static void vaisf_on_rto(struct sock *sk, struct quell_event *ev)
{
	quell_swift_vaisf_on_rto(ev->vars, ev->params, ev->stats, &ev->sample,
				 &ev->decision);
}

static void vaisf_undo_note(struct quell_undo *undo, const void *before,
			    const void *after)
{
	quell_swift_vaisf_undo_note(undo, before, after);
}

static void vaisf_on_undo(struct sock *sk, struct quell_event *ev,
			  const struct quell_undo *undo)
{
	quell_swift_vaisf_on_undo(ev->vars, ev->params, &ev->sample, undo, &ev->decision);
}

static void vaisf_on_idle_restart(struct sock *sk, struct quell_event *ev,
				  u64 idle_ns)
{
	quell_swift_vaisf_on_idle_restart(ev->vars, ev->params, ev->stats,
					  &ev->sample, idle_ns, &ev->decision);
}

struct quell_algo quell_swift_vaisf_algo __read_mostly = {
	.ops = {
		.name		= "swift_vaisf",
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
	.params_bytes		= sizeof(struct quell_swift_vaisf_params),
	.params_derive		= vaisf_params_derive,
	.fractional_window	= true,
	.counters		= vaisf_counters,
	.counters_nr		= ARRAY_SIZE(vaisf_counters),
	.counters_bytes		= sizeof(struct quell_swift_vaisf_stats),
};

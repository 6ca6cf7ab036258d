// SPDX-License-Identifier: GPL-2.0
/*
 * TCP congestion control "hpcc": the sockets' side of the core in
 * quell/core/hpcc.h, where the algorithm is described.
 */
#include <linux/module.h>
#include <net/tcp.h>
#include <compat/cong_ops.h>
#include <quell/core/hpcc.h>
#include <quell/quell.h>
#include "tcp_hpcc.h"

static_assert(sizeof(struct quell_hpcc_vars) <= QUELL_CC_VARS_BYTES);

#define HPCC_PARAM(name_, unit_, field_, range_, doc_) \
	QUELL_PARAM(struct quell_hpcc_params, name_, unit_, field_, HPCC_##range_, doc_)

static const struct quell_param_desc hpcc_params[] = {
	HPCC_PARAM("eta", Q16, eta_q16, ETA_Q16,
		   "Utilisation of the most loaded link to steer for."),
	HPCC_PARAM("max-stage", NONE, max_stage_steps, MAX_STAGE_STEPS,
		   "Round trips of additive increase before a multiplicative one."),
	HPCC_PARAM("ai", BYTES_PS, ai_bytes_ps, AI_BYTES_PS,
		   "Additive increase per update, as a rate."),
	HPCC_PARAM("base-rtt", NS, base_rtt_ns, BASE_RTT_NS,
		   "Base round-trip time; 0 is the smallest the flow saw."),
	HPCC_PARAM("min-rate", BYTES_PS, min_rate_bytes_ps, MIN_RATE_BYTES_PS,
		   "Smallest rate."),
	HPCC_PARAM("max-window", BYTES, max_window_bytes, MAX_WINDOW_BYTES,
		   "Largest window."),
	HPCC_PARAM("init-window", BYTES, init_window_bytes, INIT_WINDOW_BYTES,
		   "First window of a message; 0 is one bandwidth-delay product."),
	HPCC_PARAM("restart-idle", NS, restart_idle_ns, RESTART_IDLE_NS,
		   "Idle time after which a flow starts anew; 0 is never."),
	HPCC_PARAM("retx-reset", NONE, retx_reset_rtos, RETX_RESET_RTOS,
		   "Timeouts in a row that put the window to its smallest."),
};

#define HPCC_COUNTER(name_, field_, doc_) \
	QUELL_COUNTER(struct quell_hpcc_stats, name_, field_, doc_)

static const struct quell_counter_desc hpcc_counters[] = {
	HPCC_COUNTER("measured", measured,
		     "ACKs whose record gave a utilisation."),
	HPCC_COUNTER("stored", stored,
		     "ACKs whose record was only stored: first, of another hop, too late."),
	HPCC_COUNTER("repeated", repeated,
		     "ACKs whose record was not newer than the last."),
	HPCC_COUNTER("no-record", no_record,
		     "ACKs without a record, or with one that says nothing."),
	HPCC_COUNTER("lost", lost,
		     "Times a flow was left without records."),
	HPCC_COUNTER("increases", increases,
		     "Updates that raised the reference."),
	HPCC_COUNTER("decreases", decreases,
		     "Updates that lowered the reference."),
	HPCC_COUNTER("blind", blind,
		     "Round trips without a measurement."),
	HPCC_COUNTER("app-limited", app_limited,
		     "Round trips that did not grow the reference of a flow short of data."),
	HPCC_COUNTER("fast-retx", fast_retx,
		     "Decreases because of a fast retransmit."),
	HPCC_COUNTER("rtos", rtos,
		     "Retransmission timeouts."),
	HPCC_COUNTER("rto-resets", rto_resets,
		     "Timeouts that put the window to its smallest."),
	HPCC_COUNTER("restarts", restarts,
		     "Starts at the first window after an idle time."),
	HPCC_COUNTER("restarts-refused", restarts_refused,
		     "Restarts kept from raising the window by a recent loss or no records."),
};

static void hpcc_cong_control(quell_cong_control_args)
{
	struct quell_event ev;

	if (!quell_cc_ready(sk))
		return;
	quell_cc_enter(sk, &ev);
	if (quell_sample_fill(sk, rs, &ev.sample)) {
		quell_hpcc_on_ack(ev.vars, ev.params, ev.stats,
				  &ev.sample, &ev.decision);
		quell_apply(sk, &ev.sample, &ev.decision);
	}
	quell_cc_leave();
}

static void hpcc_init(struct sock *sk, struct quell_event *ev)
{
	quell_hpcc_init(ev->vars, ev->params, ev->sample.flags & QUELL_S_TELEMETRY,
			ev->sample.link_bytes_ps, quell_first_rtt_ns(sk),
			ev->sample.mss_bytes, ev->sample.now_ns, &ev->decision);
}

static void hpcc_on_loss(struct sock *sk, struct quell_event *ev)
{
	quell_hpcc_on_loss(ev->vars, ev->params, ev->stats, &ev->sample,
			   &ev->decision);
}

static void hpcc_on_rto(struct sock *sk, struct quell_event *ev)
{
	quell_hpcc_on_rto(ev->vars, ev->params, ev->stats, &ev->sample,
			  &ev->decision);
}

static void hpcc_undo_note(struct quell_undo *undo, const void *before,
			   const void *after)
{
	quell_hpcc_undo_note(undo, before, after);
}

static void hpcc_on_undo(struct sock *sk, struct quell_event *ev,
			 const struct quell_undo *undo)
{
	quell_hpcc_on_undo(ev->vars, ev->params, &ev->sample, undo, &ev->decision);
}

static void hpcc_on_idle_restart(struct sock *sk, struct quell_event *ev,
				 u64 idle_ns)
{
	quell_hpcc_on_idle_restart(ev->vars, ev->params, ev->stats,
				   &ev->sample, idle_ns, &ev->decision);
}

static struct quell_algo hpcc_algo __read_mostly = {
	.ops = {
		.name		= "hpcc",
		.owner		= THIS_MODULE,
		.flags		= TCP_CONG_NON_RESTRICTED,
		.cong_control	= hpcc_cong_control,
	},
	.init			= hpcc_init,
	.on_loss		= hpcc_on_loss,
	.on_rto			= hpcc_on_rto,
	.on_idle_restart	= hpcc_on_idle_restart,
	.undo_note		= hpcc_undo_note,
	.on_undo		= hpcc_on_undo,
	.params			= hpcc_params,
	.params_nr		= ARRAY_SIZE(hpcc_params),
	.params_bytes		= sizeof(struct quell_hpcc_params),
	.fractional_window	= true,
	.telemetry		= true,
	.counters		= hpcc_counters,
	.counters_nr		= ARRAY_SIZE(hpcc_counters),
	.counters_bytes		= sizeof(struct quell_hpcc_stats),
};

static int __init hpcc_register(void)
{
	int err;

	err = quell_algo_register(&hpcc_algo);
	if (err)
		return err;
	err = quell_algo_register(&quell_hpcc_vaisf_algo);
	if (err)
		quell_algo_unregister(&hpcc_algo);
	return err;
}

static void __exit hpcc_unregister(void)
{
	quell_algo_unregister(&quell_hpcc_vaisf_algo);
	quell_algo_unregister(&hpcc_algo);
}

module_init(hpcc_register);
module_exit(hpcc_unregister);

MODULE_AUTHOR("The Quell authors");
MODULE_DESCRIPTION("TCP HPCC: congestion control by the load that switches tell of");
MODULE_LICENSE("GPL");
/* What the sysctl asks for by name. */
MODULE_ALIAS("tcp_hpcc_vaisf");

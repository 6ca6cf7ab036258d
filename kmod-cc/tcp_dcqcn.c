// SPDX-License-Identifier: GPL-2.0
/*
 * TCP congestion control "dcqcn": the sockets' side of the core in
 * quell/core/dcqcn.h, where the algorithm is described.
 *
 * Marks are echoed packet by packet (quell/ecn.c); the packets of a flow whose
 * peer did not agree to ECN are not ECN-capable.
 */
#include <linux/module.h>
#include <net/tcp.h>
#include <compat/cong_ops.h>
#include <quell/core/dcqcn.h>
#include <quell/quell.h>

static_assert(sizeof(struct quell_dcqcn_vars) <= QUELL_CC_VARS_BYTES);

#define DCQCN_PARAM(name_, unit_, field_, range_, doc_) \
	QUELL_PARAM(struct quell_dcqcn_params, name_, unit_, field_, DCQCN_##range_, doc_)

static const struct quell_param_desc dcqcn_params[] = {
	DCQCN_PARAM("g", Q16, g_q16, G_Q16,
		    "Weight of the newest period in alpha."),
	DCQCN_PARAM("notify-interval", NS, notify_interval_ns, NOTIFY_INTERVAL_NS,
		    "Marks within this time after a notification are part of it."),
	DCQCN_PARAM("alpha-timer", NS, alpha_timer_ns, ALPHA_TIMER_NS,
		    "Alpha decays once per such time without a notification."),
	DCQCN_PARAM("timer", NS, timer_ns, TIMER_NS,
		    "The rate increases once per such time."),
	DCQCN_PARAM("byte-counter", BYTES, byte_counter_bytes, BYTE_COUNTER_BYTES,
		    "The rate also increases once per so many bytes."),
	DCQCN_PARAM("fast-recovery", NONE, fast_recovery_steps, FAST_RECOVERY_STEPS,
		    "Increases of either kind at which the target begins to grow."),
	DCQCN_PARAM("ai", BYTES_PS, ai_bytes_ps, AI_BYTES_PS,
		    "Growth of the target in an additive increase."),
	DCQCN_PARAM("hai", BYTES_PS, hai_bytes_ps, HAI_BYTES_PS,
		    "Growth of the target in a hyper increase."),
	DCQCN_PARAM("min-rate", BYTES_PS, min_rate_bytes_ps, MIN_RATE_BYTES_PS,
		    "Smallest rate."),
	DCQCN_PARAM("queue-bound", NS, queue_bound_ns, QUEUE_BOUND_NS,
		    "Queueing delay the window leaves room for."),
	DCQCN_PARAM("max-window", BYTES, max_window_bytes, MAX_WINDOW_BYTES,
		    "Largest window."),
	DCQCN_PARAM("restart-idle", NS, restart_idle_ns, RESTART_IDLE_NS,
		    "Idle time after which a flow starts anew; 0 is never."),
};

#define DCQCN_COUNTER(name_, field_, doc_) \
	QUELL_COUNTER(struct quell_dcqcn_stats, name_, field_, doc_)

static const struct quell_counter_desc dcqcn_counters[] = {
	DCQCN_COUNTER("marked-bytes", marked_bytes,
		      "Bytes acknowledged as marked CE."),
	DCQCN_COUNTER("notifications", notifications,
		      "Rate cuts because of marks."),
	DCQCN_COUNTER("held", held,
		      "ACKs with marks that were part of the last notification."),
	DCQCN_COUNTER("fast-recoveries", fast_recoveries,
		      "Increases toward the target."),
	DCQCN_COUNTER("additive-increases", additive_increases,
		      "Increases beyond the target by ai."),
	DCQCN_COUNTER("hyper-increases", hyper_increases,
		      "Increases beyond the target by hai."),
	DCQCN_COUNTER("forgone", forgone,
		      "Periods of the timer not made up for after a silence."),
	DCQCN_COUNTER("losses", losses,
		      "Cuts because of a fast retransmit."),
	DCQCN_COUNTER("rtos", rtos,
		      "Retransmission timeouts."),
	DCQCN_COUNTER("restarts", restarts,
		      "Starts at the link's rate after an idle time."),
};

static void dcqcn_cong_control(quell_cong_control_args)
{
	struct quell_event ev;

	if (!quell_cc_ready(sk))
		return;
	quell_cc_enter(sk, &ev);
	if (quell_sample_fill(sk, rs, &ev.sample)) {
		quell_dcqcn_on_ack(ev.vars, ev.params, ev.stats,
				   &ev.sample, &ev.decision);
		quell_apply(sk, &ev.sample, &ev.decision);
	}
	quell_cc_leave();
}

static void dcqcn_init(struct sock *sk, struct quell_event *ev)
{
	quell_dcqcn_init(ev->vars, ev->params, ev->sample.flags & QUELL_S_ECN,
			 ev->sample.link_bytes_ps, quell_first_rtt_ns(sk),
			 ev->sample.mss_bytes, ev->sample.now_ns,
			 &ev->decision);
}

static void dcqcn_on_loss(struct sock *sk, struct quell_event *ev)
{
	quell_dcqcn_on_loss(ev->vars, ev->params, ev->stats, &ev->sample,
			    &ev->decision);
}

static void dcqcn_on_rto(struct sock *sk, struct quell_event *ev)
{
	quell_dcqcn_on_rto(ev->vars, ev->params, ev->stats, &ev->sample,
			   &ev->decision);
}

static void dcqcn_undo_note(struct quell_undo *undo, const void *before,
			    const void *after)
{
	quell_dcqcn_undo_note(undo, before, after);
}

static void dcqcn_on_undo(struct sock *sk, struct quell_event *ev,
			  const struct quell_undo *undo)
{
	quell_dcqcn_on_undo(ev->vars, ev->params, &ev->sample, undo, &ev->decision);
}

static void dcqcn_on_idle_restart(struct sock *sk, struct quell_event *ev,
				  u64 idle_ns)
{
	quell_dcqcn_on_idle_restart(ev->vars, ev->params, ev->stats,
				    &ev->sample, idle_ns, &ev->decision);
}

static struct quell_algo dcqcn_algo __read_mostly = {
	.ops = {
		.name		= "dcqcn",
		.owner		= THIS_MODULE,
		.flags		= TCP_CONG_NON_RESTRICTED | TCP_CONG_NEEDS_ECN,
		.cong_control	= dcqcn_cong_control,
	},
	.init			= dcqcn_init,
	.on_loss		= dcqcn_on_loss,
	.on_rto			= dcqcn_on_rto,
	.on_idle_restart	= dcqcn_on_idle_restart,
	.undo_note		= dcqcn_undo_note,
	.on_undo		= dcqcn_on_undo,
	.params			= dcqcn_params,
	.params_nr		= ARRAY_SIZE(dcqcn_params),
	.params_bytes		= sizeof(struct quell_dcqcn_params),
	.counters		= dcqcn_counters,
	.counters_nr		= ARRAY_SIZE(dcqcn_counters),
	.counters_bytes		= sizeof(struct quell_dcqcn_stats),
};

static int __init dcqcn_register(void)
{
	return quell_algo_register(&dcqcn_algo);
}

static void __exit dcqcn_unregister(void)
{
	quell_algo_unregister(&dcqcn_algo);
}

module_init(dcqcn_register);
module_exit(dcqcn_unregister);

MODULE_AUTHOR("The Quell authors");
MODULE_DESCRIPTION("TCP DCQCN: rate control by ECN marks");
MODULE_LICENSE("GPL");

// SPDX-License-Identifier: GPL-2.0
/*
 * TCP congestion control "swift": the sockets' side of the cores in
 * quell/core/swift.h and quell/core/swift_split.h, where the algorithm is
 * described.
 */
#include <linux/module.h>
#include <net/tcp.h>
#include <compat/cong_ops.h>
#include <quell/core/swift_split.h>
#include <quell/quell.h>
#include "tcp_swift.h"

static_assert(sizeof(struct quell_swift_split_vars) <= QUELL_CC_VARS_BYTES);

#define SWIFT_PARAM(name_, unit_, field_, range_, doc_) \
	QUELL_PARAM(struct quell_swift_params, name_, unit_, field_, SWIFT_##range_, doc_)

static const struct quell_param_desc swift_params[] = {
	SWIFT_PARAM("base-target", NS, base_target_ns, BASE_TARGET_NS,
		    "Target delay of a path without switches."),
	SWIFT_PARAM("hop-scale", NS, hop_scale_ns, HOP_SCALE_NS,
		    "Added to the target per switch on the path."),
	SWIFT_PARAM("fs-range", NS, fs_range_ns, FS_RANGE_NS,
		    "Most that flow-based scaling adds to the target; 0 is off."),
	SWIFT_PARAM("fs-min", PKTS_Q16, fs_min_pkts_q16, FS_MIN_PKTS_Q16,
		    "Window at and below which all of fs-range is added."),
	SWIFT_PARAM("fs-max", PKTS_Q16, fs_max_pkts_q16, FS_MAX_PKTS_Q16,
		    "Window at and above which none of fs-range is added."),
	SWIFT_PARAM("host-target", NS, host_target_ns, HOST_TARGET_NS,
		    "Target for the remote host's delay; 0 leaves it in the one delay."),
	SWIFT_PARAM("ai", BYTES_PS, ai_bytes_ps, AI_BYTES_PS,
		    "Additive increase per round trip, as a rate."),
	SWIFT_PARAM("beta", Q16, beta_q16, BETA_Q16,
		    "Weight of the excess delay in a decrease."),
	SWIFT_PARAM("max-mdf", Q16, max_mdf_q16, MAX_MDF_Q16,
		    "Largest part of the window one decrease takes."),
	SWIFT_PARAM("min-window", PKTS_Q16, min_window_pkts_q16, MIN_WINDOW_PKTS_Q16,
		    "Smallest window."),
	SWIFT_PARAM("max-window", BYTES, max_window_bytes, MAX_WINDOW_BYTES,
		    "Largest window."),
	SWIFT_PARAM("init-window", BYTES, init_window_bytes, INIT_WINDOW_BYTES,
		    "First window of a message; 0 is one bandwidth-delay product."),
	SWIFT_PARAM("restart-idle", NS, restart_idle_ns, RESTART_IDLE_NS,
		    "Idle time after which a flow starts anew; 0 is never."),
	SWIFT_PARAM("retx-reset", NONE, retx_reset_rtos, RETX_RESET_RTOS,
		    "Timeouts in a row that put the window to its smallest."),
};

#define SWIFT_COUNTER(name_, field_, doc_) \
	QUELL_COUNTER(struct quell_swift_split_stats, name_, field_, doc_)

static const struct quell_counter_desc swift_counters[] = {
	SWIFT_COUNTER("increases", swift.increases,
		      "ACKs that grew the window."),
	SWIFT_COUNTER("decreases", swift.decreases,
		      "Decreases because of delay."),
	SWIFT_COUNTER("held", swift.held,
		      "ACKs above the target within a round trip of a decrease."),
	SWIFT_COUNTER("no-rtt", swift.no_rtt,
		      "ACKs without a round-trip time."),
	SWIFT_COUNTER("app-limited", swift.app_limited,
		      "ACKs that did not grow the window of a flow short of data."),
	SWIFT_COUNTER("fast-retx", swift.fast_retx,
		      "Decreases because of a fast retransmit."),
	SWIFT_COUNTER("rtos", swift.rtos,
		      "Retransmission timeouts."),
	SWIFT_COUNTER("rto-resets", swift.rto_resets,
		      "Timeouts that put the window to its smallest."),
	SWIFT_COUNTER("restarts", swift.restarts,
		      "Starts at the first window after an idle time."),
	SWIFT_COUNTER("restarts-refused", swift.restarts_refused,
		      "Restarts kept from raising the window by a recent loss or no delay signal."),
	SWIFT_COUNTER("unused", unused,
		      "ACKs that did not grow a window twice the remote host's."),
	SWIFT_COUNTER("host-decreases", host_decreases,
		      "Decreases because of the remote host's delay."),
	SWIFT_COUNTER("host-held", host_held,
		      "ACKs above host-target within a round trip of a decrease."),
	SWIFT_COUNTER("host-limited", host_limited,
		      "ACKs after which the remote host's window was the smaller one."),
};

static void swift_params_derive(void *params)
{
	quell_swift_params_derive(params);
}

static void swift_cong_control(quell_cong_control_args)
{
	struct quell_event ev;

	if (!quell_cc_ready(sk))
		return;
	quell_cc_enter(sk, &ev);
	if (quell_sample_fill(sk, rs, &ev.sample)) {
		quell_swift_split_on_ack(ev.vars, ev.params, ev.stats,
					 &ev.sample, &ev.decision);
		quell_apply(sk, &ev.sample, &ev.decision);
	}
	quell_cc_leave();
}

static void swift_init(struct sock *sk, struct quell_event *ev)
{
	quell_swift_split_init(ev->vars, ev->params, ev->sample.link_bytes_ps,
			       quell_first_rtt_ns(sk), ev->sample.mss_bytes,
			       ev->sample.now_ns, &ev->decision);
}

static void swift_on_loss(struct sock *sk, struct quell_event *ev)
{
	quell_swift_split_on_loss(ev->vars, ev->params, ev->stats, &ev->sample,
				  &ev->decision);
}

static void swift_on_rto(struct sock *sk, struct quell_event *ev)
{
	quell_swift_split_on_rto(ev->vars, ev->params, ev->stats, &ev->sample,
				 &ev->decision);
}

static void swift_undo_note(struct quell_undo *undo, const void *before,
			    const void *after)
{
	quell_swift_split_undo_note(undo, before, after);
}

static void swift_on_undo(struct sock *sk, struct quell_event *ev,
			  const struct quell_undo *undo)
{
	quell_swift_split_on_undo(ev->vars, ev->params, &ev->sample, undo, &ev->decision);
}

static void swift_on_idle_restart(struct sock *sk, struct quell_event *ev,
				  u64 idle_ns)
{
	quell_swift_split_on_idle_restart(ev->vars, ev->params, ev->stats,
					  &ev->sample, idle_ns, &ev->decision);
}

static struct quell_algo swift_algo __read_mostly = {
	.ops = {
		.name		= "swift",
		.owner		= THIS_MODULE,
		.flags		= TCP_CONG_NON_RESTRICTED,
		.cong_control	= swift_cong_control,
	},
	.init			= swift_init,
	.on_loss		= swift_on_loss,
	.on_rto			= swift_on_rto,
	.on_idle_restart	= swift_on_idle_restart,
	.undo_note		= swift_undo_note,
	.on_undo		= swift_on_undo,
	.params			= swift_params,
	.params_nr		= ARRAY_SIZE(swift_params),
	.params_bytes		= sizeof(struct quell_swift_params),
	.params_derive		= swift_params_derive,
	.fractional_window	= true,
	.counters		= swift_counters,
	.counters_nr		= ARRAY_SIZE(swift_counters),
	.counters_bytes		= sizeof(struct quell_swift_split_stats),
};

static int __init swift_register(void)
{
	int err;

	err = quell_algo_register(&swift_algo);
	if (err)
		return err;
	err = quell_algo_register(&quell_swift_vaisf_algo);
	if (err)
		quell_algo_unregister(&swift_algo);
	return err;
}

static void __exit swift_unregister(void)
{
	quell_algo_unregister(&quell_swift_vaisf_algo);
	quell_algo_unregister(&swift_algo);
}

module_init(swift_register);
module_exit(swift_unregister);

MODULE_AUTHOR("The Quell authors");
MODULE_DESCRIPTION("TCP Swift: congestion control by target delay");
MODULE_LICENSE("GPL");
/* What the sysctl asks for by name. */
MODULE_ALIAS("tcp_swift_vaisf");

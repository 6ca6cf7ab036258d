// SPDX-License-Identifier: GPL-2.0
/*
 * TCP congestion control "swift": the sockets' side of the core in
 * quell/core/swift.h, where the algorithm is described.
 *
 * Every callback fills a sample, asks the core and applies what it decided.
 * The recovery of lost segments stays TCP's; only how much may be in flight is
 * decided here, so ssthresh and undo_cwnd leave the window alone.
 */
#include <linux/module.h>
#include <net/tcp.h>
#include <compat/cong_ops.h>
#include <quell/core/swift.h>
#include <quell/quell.h>
#include "tcp_swift.h"

static_assert(sizeof(struct quell_swift_vars) <= QUELL_CC_VARS_BYTES);

#define SWIFT_PARAM(name_, unit_, field_, FIELD_, doc_) {		\
	.name = (name_), .doc = (doc_), .unit = QUELL_UNIT_##unit_,	\
	.offset = offsetof(struct quell_swift_params, field_),		\
	.min = QUELL_SWIFT_##FIELD_##_MIN,				\
	.max = QUELL_SWIFT_##FIELD_##_MAX,				\
	.def = QUELL_SWIFT_##FIELD_##_DEFAULT,				\
}

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

#define SWIFT_COUNTER(name_, field_, doc_) {				\
	.name = (name_), .doc = (doc_),					\
	.offset = offsetof(struct quell_swift_stats, field_),		\
}

static const struct quell_counter_desc swift_counters[] = {
	SWIFT_COUNTER("increases", increases,
		      "ACKs that grew the window."),
	SWIFT_COUNTER("decreases", decreases,
		      "Decreases because of delay."),
	SWIFT_COUNTER("held", held,
		      "ACKs above the target within a round trip of a decrease."),
	SWIFT_COUNTER("no-rtt", no_rtt,
		      "ACKs without a round-trip time."),
	SWIFT_COUNTER("app-limited", app_limited,
		      "ACKs that did not grow the window of a flow short of data."),
	SWIFT_COUNTER("fast-retx", fast_retx,
		      "Decreases because of a fast retransmit."),
	SWIFT_COUNTER("rtos", rtos,
		      "Retransmission timeouts."),
	SWIFT_COUNTER("rto-resets", rto_resets,
		      "Timeouts that put the window to its smallest."),
	SWIFT_COUNTER("restarts", restarts,
		      "Starts at the first window after an idle time."),
	SWIFT_COUNTER("restarts-refused", restarts_refused,
		      "Restarts kept from raising the window by a recent loss or no delay signal."),
};

static void swift_params_derive(void *params)
{
	quell_swift_params_derive(params);
}

static struct quell_algo swift_algo = {
	.name		= "swift",
	.params		= swift_params,
	.params_nr	= ARRAY_SIZE(swift_params),
	.params_bytes	= sizeof(struct quell_swift_params),
	.params_derive	= swift_params_derive,
	.counters	= swift_counters,
	.counters_nr	= ARRAY_SIZE(swift_counters),
	.counters_bytes	= sizeof(struct quell_swift_stats),
};

static void swift_cong_control(quell_cong_control_args)
{
	struct quell_decision decision;
	struct quell_sample sample;

	if (!quell_cc_ready(sk))
		return;
	quell_cc_enter();
	if (quell_sample_fill(sk, rs, &sample)) {
		quell_swift_on_ack(quell_cc_vars(sk), quell_cc_params(sk),
				   quell_cc_stats(sk), &sample, &decision);
		quell_apply(sk, &sample, &decision);
	}
	quell_cc_leave();
}

static void swift_on_loss(struct sock *sk)
{
	struct quell_decision decision;
	struct quell_sample sample;

	quell_cc_enter();
	quell_sample_state(sk, &sample);
	quell_swift_on_loss(quell_cc_vars(sk), quell_cc_params(sk),
			    quell_cc_stats(sk), &sample, &decision);
	quell_apply(sk, &sample, &decision);
	quell_cc_leave();
}

static void swift_on_rto(struct sock *sk)
{
	struct quell_decision decision;
	struct quell_sample sample;

	quell_cc_enter();
	quell_sample_state(sk, &sample);
	quell_swift_on_rto(quell_cc_vars(sk), quell_cc_params(sk),
			   quell_cc_stats(sk), &sample, &decision);
	quell_apply_timeout(sk, &sample, &decision);
	quell_cc_leave();
}

static void swift_set_state(struct sock *sk, u8 new_state)
{
	if (!quell_cc_ready(sk))
		return;
	if (new_state == TCP_CA_Loss)
		swift_on_rto(sk);
	else if (new_state == TCP_CA_Recovery)
		swift_on_loss(sk);
}

static void swift_tx_start(quell_tx_start_args)
{
	struct quell_decision decision;
	struct quell_sample sample;
	u64 idle_ns;

	if (!quell_is_tx_start || !quell_cc_ready(sk) || !quell_idle_ns(sk, &idle_ns))
		return;
	quell_cc_enter();
	quell_sample_state(sk, &sample);
	quell_swift_on_idle_restart(quell_cc_vars(sk), quell_cc_params(sk),
				    quell_cc_stats(sk), &sample, idle_ns,
				    &decision);
	quell_apply(sk, &sample, &decision);
	quell_cc_leave();
}

static void swift_init(struct sock *sk)
{
	struct quell_decision decision;
	struct quell_sample sample;

	quell_cc_init(sk, &swift_algo);
	quell_cc_enter();
	quell_sample_state(sk, &sample);
	quell_swift_init(quell_cc_vars(sk), quell_cc_params(sk),
			 sample.link_bytes_ps, quell_first_rtt_ns(sk),
			 sample.mss_bytes, sample.now_ns, &decision);
	quell_apply(sk, &sample, &decision);
	quell_cc_leave();
	/* A handshake that timed out twice counts as a timeout (RFC 5681, 3.1). */
	if (tcp_sk(sk)->total_retrans > 1)
		swift_on_rto(sk);
}

u32 quell_swift_ssthresh(struct sock *sk)
{
	return max(tcp_snd_cwnd(tcp_sk(sk)), 2U);
}

u32 quell_swift_undo_cwnd(struct sock *sk)
{
	return tcp_snd_cwnd(tcp_sk(sk));
}

static struct tcp_congestion_ops swift_ops __read_mostly = {
	.name			= "swift",
	.owner			= THIS_MODULE,
	.flags			= TCP_CONG_NON_RESTRICTED,
	.init			= swift_init,
	.release		= quell_cc_release,
	.cong_control		= swift_cong_control,
	.set_state		= swift_set_state,
	.quell_tx_start_member	= swift_tx_start,
	.ssthresh		= quell_swift_ssthresh,
	.undo_cwnd		= quell_swift_undo_cwnd,
};

static int __init swift_register(void)
{
	int err;

	err = quell_algo_register(&swift_algo);
	if (err)
		return err;
	err = tcp_register_congestion_control(&swift_ops);
	if (err)
		goto unregister_algo;
	err = quell_swift_vaisf_register();
	if (err)
		goto unregister_ops;
	return 0;

unregister_ops:
	tcp_unregister_congestion_control(&swift_ops);
unregister_algo:
	quell_algo_unregister(&swift_algo);
	return err;
}

/* Of each first no new socket and a grace period, then nothing left to show. */
static void __exit swift_unregister(void)
{
	quell_swift_vaisf_unregister();
	tcp_unregister_congestion_control(&swift_ops);
	quell_algo_unregister(&swift_algo);
}

module_init(swift_register);
module_exit(swift_unregister);

MODULE_AUTHOR("The Quell authors");
MODULE_DESCRIPTION("TCP Swift: congestion control by target delay");
MODULE_LICENSE("GPL");
/* What the sysctl asks for by name. */
MODULE_ALIAS("tcp_swift_vaisf");

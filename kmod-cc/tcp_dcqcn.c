// SPDX-License-Identifier: GPL-2.0
/*
 * TCP congestion control "dcqcn": the sockets' side of the core in
 * quell/core/dcqcn.h, where the algorithm is described.
 *
 * Every callback fills a sample, asks the core and applies what it decided.
 * Marks are echoed packet by packet (quell/ecn.c); a flow whose peer did not
 * agree to ECN runs with dcqcn_plain_ops, whose packets are not ECN-capable.
 */
#include <linux/module.h>
#include <net/tcp.h>
#include <compat/cong_ops.h>
#include <quell/core/dcqcn.h>
#include <quell/quell.h>

static_assert(sizeof(struct quell_dcqcn_vars) <= QUELL_CC_VARS_BYTES);

#define DCQCN_PARAM(name_, unit_, field_, FIELD_, doc_) {		\
	.name = (name_), .doc = (doc_), .unit = QUELL_UNIT_##unit_,	\
	.offset = offsetof(struct quell_dcqcn_params, field_),		\
	.min = QUELL_DCQCN_##FIELD_##_MIN,				\
	.max = QUELL_DCQCN_##FIELD_##_MAX,				\
	.def = QUELL_DCQCN_##FIELD_##_DEFAULT,				\
}

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

#define DCQCN_COUNTER(name_, field_, doc_) {				\
	.name = (name_), .doc = (doc_),					\
	.offset = offsetof(struct quell_dcqcn_stats, field_),		\
}

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

static struct quell_algo dcqcn_algo = {
	.name		= "dcqcn",
	.params		= dcqcn_params,
	.params_nr	= ARRAY_SIZE(dcqcn_params),
	.params_bytes	= sizeof(struct quell_dcqcn_params),
	.counters	= dcqcn_counters,
	.counters_nr	= ARRAY_SIZE(dcqcn_counters),
	.counters_bytes	= sizeof(struct quell_dcqcn_stats),
};

/* dcqcn_ops without TCP_CONG_NEEDS_ECN. */
static struct tcp_congestion_ops dcqcn_plain_ops __read_mostly;

static void dcqcn_cong_control(quell_cong_control_args)
{
	struct quell_decision decision;
	struct quell_sample sample;

	if (!quell_cc_ready(sk))
		return;
	quell_cc_enter();
	if (quell_sample_fill(sk, rs, &sample)) {
		quell_dcqcn_on_ack(quell_cc_vars(sk), quell_cc_params(sk),
				   quell_cc_stats(sk), &sample, &decision);
		quell_apply(sk, &sample, &decision);
	}
	quell_cc_leave();
}

static void dcqcn_on_loss(struct sock *sk)
{
	struct quell_decision decision;
	struct quell_sample sample;

	quell_cc_enter();
	quell_sample_state(sk, &sample);
	quell_dcqcn_on_loss(quell_cc_vars(sk), quell_cc_params(sk),
			    quell_cc_stats(sk), &sample, &decision);
	quell_apply(sk, &sample, &decision);
	quell_cc_leave();
}

static void dcqcn_on_rto(struct sock *sk)
{
	struct quell_decision decision;
	struct quell_sample sample;

	quell_cc_enter();
	quell_sample_state(sk, &sample);
	quell_dcqcn_on_rto(quell_cc_vars(sk), quell_cc_params(sk),
			   quell_cc_stats(sk), &sample, &decision);
	quell_apply_timeout(sk, &sample, &decision);
	quell_cc_leave();
}

static void dcqcn_set_state(struct sock *sk, u8 new_state)
{
	if (!quell_cc_ready(sk))
		return;
	if (new_state == TCP_CA_Loss)
		dcqcn_on_rto(sk);
	else if (new_state == TCP_CA_Recovery)
		dcqcn_on_loss(sk);
}

static void dcqcn_tx_start(struct sock *sk)
{
	struct quell_decision decision;
	struct quell_sample sample;
	u64 idle_ns;

	if (!quell_cc_ready(sk) || !quell_idle_ns(sk, &idle_ns))
		return;
	quell_cc_enter();
	quell_sample_state(sk, &sample);
	quell_dcqcn_on_idle_restart(quell_cc_vars(sk), quell_cc_params(sk),
				    quell_cc_stats(sk), &sample, idle_ns,
				    &decision);
	quell_apply(sk, &sample, &decision);
	quell_cc_leave();
}

static void dcqcn_cwnd_event(struct sock *sk, enum tcp_ca_event event)
{
	if (event == CA_EVENT_TX_START)
		dcqcn_tx_start(sk);
	else
		quell_ecn_event(sk, event);
}

static void dcqcn_init(struct sock *sk)
{
	struct quell_decision decision;
	struct quell_sample sample;
	bool ecn;

	quell_cc_init(sk, &dcqcn_algo);
	ecn = quell_ecn_init(sk, &dcqcn_plain_ops);
	quell_cc_enter();
	quell_sample_state(sk, &sample);
	quell_dcqcn_init(quell_cc_vars(sk), quell_cc_params(sk), ecn,
			 sample.link_bytes_ps, quell_first_rtt_ns(sk),
			 sample.mss_bytes, sample.now_ns, &decision);
	quell_apply(sk, &sample, &decision);
	quell_cc_leave();
	/* A handshake that timed out twice counts as a timeout (RFC 5681, 3.1). */
	if (tcp_sk(sk)->total_retrans > 1)
		dcqcn_on_rto(sk);
}

static u32 dcqcn_ssthresh(struct sock *sk)
{
	return max(tcp_snd_cwnd(tcp_sk(sk)), 2U);
}

static u32 dcqcn_undo_cwnd(struct sock *sk)
{
	return tcp_snd_cwnd(tcp_sk(sk));
}

static struct tcp_congestion_ops dcqcn_ops __read_mostly = {
	.name			= "dcqcn",
	.owner			= THIS_MODULE,
	.flags			= TCP_CONG_NON_RESTRICTED | TCP_CONG_NEEDS_ECN,
	.init			= dcqcn_init,
	.release		= quell_cc_release,
	.cong_control		= dcqcn_cong_control,
	.set_state		= dcqcn_set_state,
	.cwnd_event		= dcqcn_cwnd_event,
	quell_tx_start_op(dcqcn_tx_start)
	.ssthresh		= dcqcn_ssthresh,
	.undo_cwnd		= dcqcn_undo_cwnd,
};

static int __init dcqcn_register(void)
{
	int err;

	dcqcn_plain_ops = dcqcn_ops;
	dcqcn_plain_ops.flags &= ~TCP_CONG_NEEDS_ECN;
	err = quell_algo_register(&dcqcn_algo);
	if (err)
		return err;
	err = tcp_register_congestion_control(&dcqcn_ops);
	if (err)
		quell_algo_unregister(&dcqcn_algo);
	return err;
}

/* First no new socket and a grace period, then nothing left to show. */
static void __exit dcqcn_unregister(void)
{
	tcp_unregister_congestion_control(&dcqcn_ops);
	quell_algo_unregister(&dcqcn_algo);
}

module_init(dcqcn_register);
module_exit(dcqcn_unregister);

MODULE_AUTHOR("The Quell authors");
MODULE_DESCRIPTION("TCP DCQCN: rate control by ECN marks");
MODULE_LICENSE("GPL");

// SPDX-License-Identifier: GPL-2.0
/*
 * TCP congestion control "timely": the sockets' side of the core in
 * quell/core/timely.h, where the algorithm is described.
 */
#include <linux/module.h>
#include <net/tcp.h>
#include <compat/cong_ops.h>
#include <quell/core/timely.h>
#include <quell/quell.h>

static_assert(sizeof(struct quell_timely_vars) <= QUELL_CC_VARS_BYTES);

#define TIMELY_PARAM(name_, unit_, field_, range_, doc_) \
	QUELL_PARAM(struct quell_timely_params, name_, unit_, field_, TIMELY_##range_, doc_)

static const struct quell_param_desc timely_params[] = {
	TIMELY_PARAM("t-low", NS, t_low_ns, T_LOW_NS,
		     "Round-trip time below which the rate always grows."),
	TIMELY_PARAM("t-high", NS, t_high_ns, T_HIGH_NS,
		     "Round-trip time above which the rate always shrinks."),
	TIMELY_PARAM("min-rtt", NS, min_rtt_ns, MIN_RTT_NS,
		     "Round-trip time without queues, fixed."),
	TIMELY_PARAM("delta", BYTES_PS, delta_bytes_ps, DELTA_BYTES_PS,
		     "Additive step of the rate."),
	TIMELY_PARAM("alpha", Q16, alpha_q16, ALPHA_Q16,
		     "Weight of the newest difference in the average."),
	TIMELY_PARAM("beta", Q16, beta_q16, BETA_Q16,
		     "Weight of the multiplicative decrease."),
	TIMELY_PARAM("hai", NONE, hai_nr, HAI_NR,
		     "Additive steps taken at once in hyperactive increase."),
	TIMELY_PARAM("hai-after", NONE, hai_after_nr, HAI_AFTER_NR,
		     "Round-trip times in a row that fell, which start it."),
	TIMELY_PARAM("segment", BYTES, segment_bytes, SEGMENT_BYTES,
		     "Payload sent between two pacing delays."),
	TIMELY_PARAM("init-rate", BYTES_PS, init_rate_bytes_ps, INIT_RATE_BYTES_PS,
		     "First rate; 0 shares the link among the host's flows."),
	TIMELY_PARAM("min-rate", BYTES_PS, min_rate_bytes_ps, MIN_RATE_BYTES_PS,
		     "Smallest rate."),
	TIMELY_PARAM("max-rate", BYTES_PS, max_rate_bytes_ps, MAX_RATE_BYTES_PS,
		     "Largest rate; 0 is the link's."),
	TIMELY_PARAM("max-outstanding", BYTES, max_outstanding_bytes, MAX_OUTSTANDING_BYTES,
		     "Limit of outstanding data; 0 is t-high at link rate and two segments."),
	TIMELY_PARAM("restart-idle", NS, restart_idle_ns, RESTART_IDLE_NS,
		     "Idle time after which a flow starts anew; 0 is never."),
	TIMELY_PARAM("patched", BOOL, patched_bool, PATCHED_BOOL,
		     "Patched TIMELY between the thresholds."),
	TIMELY_PARAM("patched-beta", Q16, patched_beta_q16, PATCHED_BETA_Q16,
		     "Its weight of the error."),
	TIMELY_PARAM("patched-ref", NS, patched_ref_ns, PATCHED_REF_NS,
		     "Its reference round-trip time."),
};

#define TIMELY_COUNTER(name_, field_, doc_) \
	QUELL_COUNTER(struct quell_timely_stats, name_, field_, doc_)

static const struct quell_counter_desc timely_counters[] = {
	TIMELY_COUNTER("below-low", below_low,
		       "Segments completed with a round-trip time below t-low."),
	TIMELY_COUNTER("above-high", above_high,
		       "Segments completed with one above t-high."),
	TIMELY_COUNTER("gradient-up", gradient_up,
		       "Segments between them, gradient positive."),
	TIMELY_COUNTER("gradient-down", gradient_down,
		       "Segments between them, gradient not positive."),
	TIMELY_COUNTER("hai", hai,
		       "Hyperactive increases."),
	TIMELY_COUNTER("partial", partial,
		       "ACKs for a part of a segment."),
	TIMELY_COUNTER("no-rtt", no_rtt,
		       "ACKs without a round-trip time."),
	TIMELY_COUNTER("app-limited", app_limited,
		       "Increases left out because the application sends too little."),
	TIMELY_COUNTER("fast-retx", fast_retx,
		       "Decreases because of a fast retransmit."),
	TIMELY_COUNTER("rtos", rtos,
		       "Retransmission timeouts."),
	TIMELY_COUNTER("restarts", restarts,
		       "Starts at the first rate after an idle time."),
};

/* Segments the stack may not exceed; a route change makes it forget. */
static u32 timely_limit_burst(struct sock *sk, u32 pkts)
{
	if (sk->sk_gso_max_segs > pkts)
		sk->sk_gso_max_segs = pkts;
	return pkts;
}

/*
 * Packets between two pacing delays.  This is the least the stack's autosizing
 * may choose; the socket's largest burst, set beside it, makes it the most, for
 * at datacenter round-trip times autosizing wants 64 KB whatever the rate.
 */
static u32 timely_segment_pkts(struct sock *sk)
{
	struct quell_event ev;
	u32 pkts;

	if (!quell_cc_ready(sk))
		return 1;
	quell_cc_enter(sk, &ev);
	pkts = quell_timely_segment_pkts(ev.params, tcp_sk(sk)->mss_cache);
	quell_cc_leave();
	return timely_limit_burst(sk, pkts);
}

static void timely_cong_control(quell_cong_control_args)
{
	struct quell_event ev;

	if (!quell_cc_ready(sk))
		return;
	quell_cc_enter(sk, &ev);
	if (quell_sample_fill(sk, rs, &ev.sample)) {
		quell_timely_on_ack(ev.vars, ev.params, ev.stats,
				    &ev.sample, &ev.decision);
		quell_apply(sk, &ev.sample, &ev.decision);
		quell_repace(sk);
	}
	quell_cc_leave();
}

static void timely_init(struct sock *sk, struct quell_event *ev)
{
	quell_timely_init(ev->vars, ev->params, ev->sample.link_bytes_ps,
			  quell_first_rtt_ns(sk), ev->sample.mss_bytes,
			  quell_other_flows(sk), ev->sample.now_ns,
			  &ev->decision);
	timely_limit_burst(sk, quell_timely_segment_pkts(ev->params,
							 ev->sample.mss_bytes));
}

static void timely_on_loss(struct sock *sk, struct quell_event *ev)
{
	quell_timely_on_loss(ev->vars, ev->params, ev->stats, &ev->sample,
			     &ev->decision);
}

static void timely_on_rto(struct sock *sk, struct quell_event *ev)
{
	quell_timely_on_rto(ev->vars, ev->params, ev->stats, &ev->sample,
			    &ev->decision);
}

static void timely_undo_note(struct quell_undo *undo, const void *before,
			     const void *after)
{
	quell_timely_undo_note(undo, before, after);
}

static void timely_on_undo(struct sock *sk, struct quell_event *ev,
			   const struct quell_undo *undo)
{
	quell_timely_on_undo(ev->vars, ev->params, &ev->sample, undo, &ev->decision);
}

static void timely_on_idle_restart(struct sock *sk, struct quell_event *ev,
				   u64 idle_ns)
{
	quell_timely_on_idle_restart(ev->vars, ev->params, ev->stats,
				     &ev->sample, quell_other_flows(sk),
				     idle_ns, &ev->decision);
}

static struct quell_algo timely_algo __read_mostly = {
	.ops = {
		.name		= "timely",
		.owner		= THIS_MODULE,
		.flags		= TCP_CONG_NON_RESTRICTED,
		.cong_control	= timely_cong_control,
		.min_tso_segs	= timely_segment_pkts,
	},
	.init			= timely_init,
	.on_loss		= timely_on_loss,
	.on_rto			= timely_on_rto,
	.on_idle_restart	= timely_on_idle_restart,
	.undo_note		= timely_undo_note,
	.on_undo		= timely_on_undo,
	.params			= timely_params,
	.params_nr		= ARRAY_SIZE(timely_params),
	.params_bytes		= sizeof(struct quell_timely_params),
	.counters		= timely_counters,
	.counters_nr		= ARRAY_SIZE(timely_counters),
	.counters_bytes		= sizeof(struct quell_timely_stats),
};

static int __init timely_register(void)
{
	return quell_algo_register(&timely_algo);
}

static void __exit timely_unregister(void)
{
	quell_algo_unregister(&timely_algo);
}

module_init(timely_register);
module_exit(timely_unregister);

MODULE_AUTHOR("The Quell authors");
MODULE_DESCRIPTION("TCP TIMELY: congestion control by delay gradient");
MODULE_LICENSE("GPL");

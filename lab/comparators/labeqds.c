// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labeqds: senders that go by their receivers' credits, as in EQDS, in place of tcp_smartt.
 *
 * The credits are those of the cards (labnic_credit.c).  The data in flight of a flow may grow by
 * those that it has and has not used, whether for new packets or for those trimmed; the window of
 * an algorithm at the sender may be the smaller bound:
 *
 *	sender=open	no window: EQDS by itself
 *	sender=smartt	SMaRTT (Figure 17)
 *	sender=mprdma	MP-RDMA (Figure 17): variant=5 of quell_labsmartt
 *
 * The entropies of paths are SMaRTT's for all of them.  Without credits the window is 0, which
 * TCP itself never sets, but heeds; its timers send one packet, for which the next credit pays.
 */
#include <linux/math64.h>
#include <linux/module.h>
#include <quell/core/smartt/core.h>
#include <quell/quell.h>

#include "flow/flow.h"
#include "labnic_tap.h"
#include "smartt_variants.h"

/* More than any buffer of a socket. */
#define LABEQDS_OPEN_BYTES	(1ULL << 31)

static char *sender = "open";
module_param(sender, charp, 0444);
MODULE_PARM_DESC(sender, "What bounds the window beside credits: open (nothing, default), smartt or mprdma");

/* Constant once registered. */
static void (*labeqds_on_ack)(struct quell_event *ev);

/* As quell.ko set them up. */
static struct tcp_congestion_ops labeqds_ops, labeqds_plain_ops;

static void labeqds_open(struct quell_event *ev)
{
	ev->decision = (struct quell_decision) {
		.window_q16 = LABEQDS_OPEN_BYTES << QUELL_Q16_SHIFT,
		.pacing_bytes_ps = QUELL_RATE_UNLIMITED,
	};
}

static void labeqds_open_init(struct quell_event *ev)
{
	quell_smartt_core.init(ev);
	labeqds_open(ev);
}

static void quell_eqds_core_on_ack(struct quell_event *ev)
{
	labeqds_on_ack(ev);
}

static struct quell_core quell_eqds_core;

QUELL_ALGO(eqds);

/*
 * The algorithm's window, which is not that of TCP: a pull acknowledges no data, so TCP's is still
 * the bound of the last credit.  After a timeout TCP's own grows from one segment.
 */
static u32 labeqds_window_pkts(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	const struct quell_flow *flow = quell_cc(sk)->flow;

	if (inet_csk(sk)->icsk_ca_state == TCP_CA_Loss || !flow)
		return tcp_snd_cwnd(tp);
	return max_t(u64, div_u64(flow->now.window_bytes, max(tp->mss_cache, 1U)), 1);
}

/* TCP sends lost data first, and not within the rest of a first window. */
static u32 labeqds_left_pkts(const struct sock *sk, bool is_start)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 again_pkts = tp->lost_out > tp->retrans_out ? tp->lost_out - tp->retrans_out : 0;
	struct quell_labnic_credits left;

	if (!quell_labnic_credits(sk, is_start, &left))
		return U32_MAX;
	return left.granted_pkts + (again_pkts > left.granted_pkts ? 0 : left.first_pkts);
}

/* The window: data in flight, and a packet for each credit that is left. */
static void labeqds_bound(struct sock *sk, bool is_start)
{
	bool is_timeout = inet_csk(sk)->icsk_ca_state == TCP_CA_Loss;
	u64 may_pkts = labeqds_left_pkts(sk, is_start);
	struct tcp_sock *tp = tcp_sk(sk);

	may_pkts += tcp_packets_in_flight(tp);
	may_pkts = clamp_t(u64, may_pkts, is_timeout, labeqds_window_pkts(sk));
	/* tcp_snd_cwnd_set() warns of 0. */
	tp->snd_cwnd = may_pkts;
}

static void labeqds_cong_control(quell_cong_control_args)
{
#ifdef QUELL_HAVE_CONG_CONTROL_FLAG
	labeqds_ops.cong_control(sk, ack, flag, rs);
#else
	labeqds_ops.cong_control(sk, rs);
#endif
	if (quell_cc_ready(sk))
		labeqds_bound(sk, false);
}

/* A pull without data in flight does not reach ->cong_control(). */
static void labeqds_in_ack_event(struct sock *sk, u32 flags)
{
	labeqds_ops.in_ack_event(sk, flags);
	if (quell_cc_ready(sk) && !tcp_sk(sk)->packets_out)
		labeqds_bound(sk, false);
}

static void labeqds_init(struct sock *sk)
{
	labeqds_ops.init(sk);
	labeqds_bound(sk, true);
}

static void labeqds_init_plain(struct sock *sk)
{
	labeqds_plain_ops.init(sk);
	labeqds_bound(sk, true);
}

static void labeqds_tx_start(struct sock *sk)
{
	labeqds_ops.cwnd_event(sk, CA_EVENT_TX_START);
	if (quell_cc_ready(sk))
		labeqds_bound(sk, !tcp_sk(sk)->packets_out);
}

static void labeqds_cwnd_event(struct sock *sk, enum tcp_ca_event event)
{
	if (event == CA_EVENT_TX_START)
		labeqds_tx_start(sk);
	else
		labeqds_ops.cwnd_event(sk, event);
}

/* Before there are sockets: the operations were registered, but no socket uses them yet. */
static void labeqds_wrap(struct tcp_congestion_ops *ops, void (*init)(struct sock *sk))
{
	ops->init = init;
	ops->cong_control = labeqds_cong_control;
	ops->in_ack_event = labeqds_in_ack_event;
	ops->cwnd_event = labeqds_cwnd_event;
	quell_set_tx_start(ops, labeqds_tx_start);
}

static int labeqds_choose(void)
{
	quell_eqds_core = quell_smartt_core;
	quell_eqds_core.on_ack = quell_eqds_core_on_ack;
	if (!strcmp(sender, "smartt")) {
		labeqds_on_ack = quell_smartt_core_on_ack;
	} else if (!strcmp(sender, "mprdma")) {
		labeqds_on_ack = smartt_variant_mprdma;
	} else if (!strcmp(sender, "open")) {
		labeqds_on_ack = labeqds_open;
		quell_eqds_core.init = labeqds_open_init;
		quell_eqds_core.on_loss = labeqds_open;
		quell_eqds_core.on_rto = labeqds_open;
		quell_eqds_core.on_idle_restart = labeqds_open;
		quell_eqds_core.on_undo = labeqds_open;
	} else {
		pr_err("quell_labeqds: sender=%s must be open, smartt or mprdma\n", sender);
		return -EINVAL;
	}
	return 0;
}

static int __init labeqds_register(void)
{
	int err = labeqds_choose();

	if (!err)
		err = quell_algo_register(&eqds_algo);
	if (err)
		return err;
	labeqds_ops = eqds_algo.ops;
	labeqds_plain_ops = eqds_algo.plain_ops;
	labeqds_wrap(&eqds_algo.ops, labeqds_init);
	labeqds_wrap(&eqds_algo.plain_ops, labeqds_init_plain);
	return 0;
}

static void __exit labeqds_unregister(void)
{
	quell_algo_unregister(&eqds_algo);
}

module_init(labeqds_register);
module_exit(labeqds_unregister);

MODULE_AUTHOR("The Quell authors");
MODULE_DESCRIPTION("Senders that go by credits as in EQDS, in the laboratory");
MODULE_LICENSE("GPL");

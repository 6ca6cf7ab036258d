// SPDX-License-Identifier: GPL-2.0
/*
 * The congestion control callbacks that all algorithms share.
 *
 * TCP still recovers lost segments; the core only decides how much may be in flight.  Cores
 * are called through pointers here, once per event; ->cong_control is in the algorithm's
 * module, which calls its core directly for each ACK.
 */
#include <net/tcp.h>
#include <compat/cong_ops.h>
#include "cc/cc.h"
#include "signal/signal.h"
#include "tcp/tcp.h"
#include "tcp/tcp_internals.h"

/*
 * While CUBIC governs, a mark counts as a loss, unless the algorithm requested marks: those of
 * a round trip reduce the window together.  Without ECN-Echo the reduction is for a tail loss
 * that the stack's own probe repaired (RFC 8985, 7.4), or for a full queue of this host.
 */
static void cc_on_cwr(struct sock *sk)
{
	const struct quell_flow *flow = quell_cc(sk)->flow;
	struct quell_event ev;

	if (!quell_adapt_governs(flow) ||
	    (quell_cc(sk)->algo->ops.flags & TCP_CONG_NEEDS_ECN && quell_cc(sk)->has_ece))
		return;
	quell_cc_enter(sk, &ev);
	quell_sample_state(sk, &ev.sample);
	quell_adapt_marked(sk, &ev);
	quell_apply_event(sk, &ev.sample, &ev.decision,
			  quell_cc(sk)->has_ece ? QUELL_REDUCTION_MARK : QUELL_REDUCTION_TAIL);
	quell_cc_leave();
}

/*
 * Reports a loss to the core, unless all lost segments were trimmed and the core either gets
 * trimming as a signal or has cut since they left.
 */
static void cc_on_recovery(struct sock *sk)
{
	struct quell_flow *flow = quell_cc(sk)->flow;

	if (flow) {
		flow->recover.lost_again = false;
		flow->recover.loss_unreported =
			quell_recover_is_trimmed(flow, sk) &&
			(quell_flow_has_trim_signal(flow) ||
			 !quell_recover_is_news(&flow->recover));
		if (flow->recover.loss_unreported)
			return;
		quell_probe_loss_reported(flow);
	}
	quell_event_loss(sk, QUELL_REDUCTION_LOSS);
	quell_adapt_recovers(sk);
}

static void cc_set_state(struct sock *sk, u8 new_state)
{
	if (!quell_cc_ready(sk))
		return;
	if (new_state == TCP_CA_CWR)
		cc_on_cwr(sk);
	/* No congestion if segments too long for the path, or refused, are retransmitted. */
	if (new_state < TCP_CA_Recovery ||
	    (new_state == TCP_CA_Loss && !quell_tcp_has_timed_out(sk)))
		return;
	if (quell_cc(sk)->flow) {
		if (new_state == TCP_CA_Loss)
			quell_probe_timed_out(quell_cc(sk)->flow);
		quell_recover_forbid_undo(quell_cc(sk)->flow, sk);
	}
	if (new_state == TCP_CA_Loss)
		quell_event_timeout(sk);
	else
		cc_on_recovery(sk);
}

/*
 * TX_START also comes with the first retransmission after a timeout, when everything
 * outstanding counts as lost, and with every paced packet of a window below one segment;
 * neither is a restart.
 */
static bool cc_restarts_after_idle(const struct sock *sk, u64 *idle_ns)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u64 active_ns = quell_cc(sk)->active_ns;

	if (tp->packets_out || quell_cc(sk)->backlogged)
		return false;
	*idle_ns = tp->tcp_clock_cache > active_ns ?
		   tp->tcp_clock_cache - active_ns : 0;
	return true;
}

/*
 * Too short for core->on_idle_restart to change the last ACK's decision, as between the
 * requests of an application that sends one at a time.
 */
static bool cc_is_short_idle(const struct sock *sk, u64 idle_ns)
{
	const struct quell_flow *flow = quell_cc(sk)->flow;
	const struct quell_algo *algo = quell_cc(sk)->algo;
	const struct quell_params_block *block;
	u64 shortest_ns;

	if (!flow || !algo->core->restart_offset || inet_csk(sk)->icsk_ca_state != TCP_CA_Open)
		return false;
	rcu_read_lock();
	block = rcu_dereference(flow->qnet->algos[algo->slot].params);
	shortest_ns = *(const u64 *)((const u8 *)block->data + algo->core->restart_offset);
	rcu_read_unlock();
	return !shortest_ns || idle_ns < shortest_ns;
}

/* Not inlined: most idle times change no decision, and need no event on the stack. */
static noinline void cc_restart(struct sock *sk, u64 idle_ns)
{
	struct quell_event ev QUELL_UNINITIALIZED;

	quell_cc_enter(sk, &ev);
	quell_sample_state(sk, &ev.sample);
	ev.sample.idle_ns = idle_ns;
	ev.sample.other_flows = quell_other_flows(sk);
	if (!quell_adapt_idle(sk, &ev))
		quell_core_call(&ev, quell_cc(sk)->algo->core->on_idle_restart);
	quell_apply_event(sk, &ev.sample, &ev.decision, QUELL_REDUCTION_IDLE);
	quell_cc_leave();
}

static void cc_tx_start(struct sock *sk)
{
	const struct quell_flow *flow = quell_cc(sk)->flow;
	u64 idle_ns;

	if (!quell_cc_ready(sk) || !cc_restarts_after_idle(sk, &idle_ns))
		return;
	if (!(quell_adapt_is_on(flow) ? quell_adapt_rested(sk, idle_ns) :
					cc_is_short_idle(sk, idle_ns)))
		cc_restart(sk, idle_ns);
}

/* The stack reports ECN events only to algorithms with TCP_CONG_NEEDS_ECN. */
static void cc_cwnd_event(struct sock *sk, enum tcp_ca_event event)
{
	if (event == CA_EVENT_TX_START)
		cc_tx_start(sk);
	else
		quell_ecn_event(sk, event);
}

static void cc_init(struct sock *sk)
{
	/* Also plain operations: those of a socket that reconnects stay.  It pins the algorithm. */
	const struct quell_algo *algo = quell_algo_of(inet_csk(sk)->icsk_ca_ops);
	/* RFC 5681, 3.1, as in tcp_init_transfer(): not if the timeouts were spurious. */
	bool has_timed_out = tcp_sk(sk)->total_retrans > 1 && tcp_sk(sk)->undo_marker &&
			     tcp_snd_cwnd(tcp_sk(sk)) == 1;
	struct quell_event ev;

	quell_cc_init(sk, algo);
	if (algo->ops.flags & TCP_CONG_NEEDS_ECN)
		quell_ecn_init(sk, &algo->plain_ops);
	quell_cc_enter(sk, &ev);
	quell_sample_state(sk, &ev.sample);
	quell_start_core(sk, &ev);
	quell_adapt_open(quell_cc(sk)->flow, &ev);
	quell_apply(sk, &ev.sample, &ev.decision);
	quell_cc_leave();
	if (has_timed_out)
		quell_event_timeout(sk);
}

/*
 * Called when a recovery, a timeout or CWR begins, before ->set_state().  Returns the window
 * from before, because the core decides the cut.
 */
static u32 cc_ssthresh(struct sock *sk)
{
	struct quell_flow *flow = quell_cc_ready(sk) ? quell_cc(sk)->flow : NULL;

	if (flow) {
		flow->undo = (struct quell_undo) {};
		flow->adapt.flags &= ~QUELL_ADAPT_F_REDUCED;
	}
	return max(tcp_snd_cwnd(tcp_sk(sk)), 2U);
}

/*
 * DSACK, timestamps or F-RTO show that all retransmissions of the episode were spurious.  A
 * socket without a context has no record of its cuts.
 */
static u32 cc_undo_cwnd(struct sock *sk)
{
	if (quell_cc_ready(sk) && quell_cc(sk)->flow)
		quell_event_undo(sk);
	return tcp_snd_cwnd(tcp_sk(sk));
}

/* Before the operations are registered; core, owner and ->cong_control are set. */
void quell_cc_ops_init(struct quell_algo *algo)
{
	struct tcp_congestion_ops *ops = &algo->ops;

	strscpy(ops->name, algo->core->name, sizeof(ops->name));
	if (quell_algo_has(algo, QUELL_CORE_ECN))
		ops->flags |= TCP_CONG_NEEDS_ECN;
	if (algo->core->segment_pkts)
		ops->min_tso_segs = quell_segment_pkts;
	ops->init = cc_init;
	/* Identifies a Quell algorithm to the hooks. */
	ops->release = quell_cc_release;
	ops->set_state = cc_set_state;
	ops->cwnd_event = cc_cwnd_event;
	ops->in_ack_event = quell_in_ack_event;
	quell_set_tx_start(ops, cc_tx_start);
	ops->ssthresh = cc_ssthresh;
	ops->undo_cwnd = cc_undo_cwnd;

	algo->plain_ops = *ops;
	algo->plain_ops.flags &= ~TCP_CONG_NEEDS_ECN;
}

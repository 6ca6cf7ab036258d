// SPDX-License-Identifier: GPL-2.0
/*
 * What the congestion control of every algorithm has in common: which calls of
 * the stack are events for a core, and what becomes of its answer.
 *
 *	->init			algo->init, or its state after a timeout
 *	->cong_control		the algorithm's own, see <quell/quell.h>
 *	->set_state(Recovery)	algo->on_loss, but not where all that is lost was trimmed
 *				and the algorithm knows of that, recover.c
 *	a NACK			the same, when what was trimmed left after the last on_loss
 *	a probe's answer	the same, tail.c
 *	->set_state(Loss)	algo->on_rto
 *	TX_START, when idle	algo->on_idle_restart
 *	->in_ack_event		trimmed segments marked lost, recover.c
 *	->cwnd_event, ECN	exact echo of marks, ecn.c
 *	->ssthresh		a new episode of losses; the window is the core's alone
 *	->undo_cwnd		algo->on_undo: all that was sent again had only been late
 *
 * The recovery of lost segments stays TCP's; only how much may be in flight is
 * decided by the core, at each of these events, and what it decided stands.
 *
 * Cores are reached through pointers here; these events come once per loss,
 * timeout or start.  An ACK is another matter: ->cong_control belongs to the
 * algorithm's module, which calls its core directly.
 */
#include <net/tcp.h>
#include <compat/cong_ops.h>
#include "internal.h"

/**
 * quell_cc_enter() - begin a look at parameters and counters
 * @sk: socket of a Quell algorithm, quell_cc_ready()
 * @ev: its pointers are set; sample and decision are the caller's to fill
 *
 * The backlog of a socket is worked off in process context: bottom halves are
 * kept off so that the per-cpu counters have one writer, and the RCU read side
 * pins the parameter block for the whole event.
 *
 * Context: socket lock.
 */
void quell_cc_enter(struct sock *sk, struct quell_event *ev)
	__acquires(RCU)
{
	const struct quell_algo_net *an;

	local_bh_disable();
	rcu_read_lock();
	an = &quell_net(sock_net(sk))->algos[quell_cc(sk)->algo->slot];
	ev->vars = quell_cc_vars(sk);
	ev->params = rcu_dereference(an->params)->data;
	ev->stats = this_cpu_ptr(an->stats);
}
EXPORT_SYMBOL_GPL(quell_cc_enter);

/* Tells the core of a loss or a timeout, and remembers what it took for that. */
static void cc_tell(struct sock *sk, struct quell_event *ev,
		    void (*tell)(struct sock *sk, struct quell_event *ev))
{
	struct quell_flow *flow = quell_cc(sk)->flow;
	u64 before[QUELL_CC_VARS_BYTES / sizeof(u64)];

	memcpy(before, ev->vars, sizeof(before));
	tell(sk, ev);
	if (!flow)
		return;
	flow->algo->undo_note(&flow->undo, before, ev->vars);
	/* What left before now is lost to what the core has just been told of. */
	flow->recover.told_ns = tcp_sk(sk)->tcp_clock_cache;
}

/**
 * quell_cc_on_loss() - tell the core of a loss, and do what it decides
 * @sk: socket of a Quell algorithm, quell_cc_ready()
 *
 * Context: socket lock.
 */
void quell_cc_on_loss(struct sock *sk)
{
	struct quell_event ev;

	quell_cc_enter(sk, &ev);
	quell_sample_state(sk, &ev.sample);
	cc_tell(sk, &ev, quell_cc(sk)->algo->on_loss);
	quell_apply(sk, &ev.sample, &ev.decision);
	quell_cc_leave();
}

static void cc_on_rto(struct sock *sk)
{
	struct quell_event ev;

	quell_cc_enter(sk, &ev);
	quell_sample_state(sk, &ev.sample);
	cc_tell(sk, &ev, quell_cc(sk)->algo->on_rto);
	quell_apply_timeout(sk, &ev.sample, &ev.decision);
	quell_path_on_rto(quell_cc(sk)->flow);
	quell_cc_leave();
}

/*
 * Whether the core knows what this recovery is about: it is told of trimming, or nothing
 * was trimmed that left after it was told of a loss.
 */
static bool cc_was_trimmed(struct sock *sk)
{
	struct quell_flow *flow = quell_cc(sk)->flow;

	if (!flow)
		return false;
	flow->recover.unheard = quell_recover_explains(flow, sk) &&
				(flow->algo->trims || !quell_recover_is_news(flow));
	return flow->recover.unheard;
}

static void cc_set_state(struct sock *sk, u8 new_state)
{
	if (!quell_cc_ready(sk) || new_state < TCP_CA_Recovery)
		return;
	if (quell_cc(sk)->flow) {
		quell_tail_heard(quell_cc(sk)->flow, new_state == TCP_CA_Loss);
		quell_recover_is_certain(quell_cc(sk)->flow, sk);
	}
	if (new_state == TCP_CA_Loss)
		cc_on_rto(sk);
	else if (!cc_was_trimmed(sk))
		quell_cc_on_loss(sk);
}

static void cc_in_ack_event(struct sock *sk, u32 flags)
{
	if (quell_cc_ready(sk) && quell_cc(sk)->flow)
		quell_recover_apply(quell_cc(sk)->flow, sk);
}

static void cc_tx_start(struct sock *sk)
{
	struct quell_event ev;
	u64 idle_ns;

	if (!quell_cc_ready(sk) || !quell_idle_ns(sk, &idle_ns))
		return;
	quell_cc_enter(sk, &ev);
	quell_sample_state(sk, &ev.sample);
	quell_cc(sk)->algo->on_idle_restart(sk, &ev, idle_ns);
	quell_apply(sk, &ev.sample, &ev.decision);
	quell_cc_leave();
}

/* Of ECN the stack tells only those that have TCP_CONG_NEEDS_ECN. */
static void cc_cwnd_event(struct sock *sk, enum tcp_ca_event event)
{
	if (event == CA_EVENT_TX_START)
		cc_tx_start(sk);
	else
		quell_ecn_event(sk, event);
}

static void cc_start(struct sock *sk, const struct quell_algo *algo)
{
	struct quell_event ev;

	quell_cc_init(sk, algo);
	if (algo->ops.flags & TCP_CONG_NEEDS_ECN)
		quell_ecn_init(sk, &algo->plain_ops);
	quell_cc_enter(sk, &ev);
	quell_sample_state(sk, &ev.sample);
	algo->init(sk, &ev);
	quell_apply(sk, &ev.sample, &ev.decision);
	quell_cc_leave();
	/* A handshake that timed out twice counts as a timeout (RFC 5681, 3.1). */
	if (tcp_sk(sk)->total_retrans > 1)
		cc_on_rto(sk);
}

static void cc_init(struct sock *sk)
{
	cc_start(sk, container_of(inet_csk(sk)->icsk_ca_ops, struct quell_algo, ops));
}

/* A socket that was disconnected keeps the operations it had. */
static void cc_init_plain(struct sock *sk)
{
	cc_start(sk, container_of(inet_csk(sk)->icsk_ca_ops, struct quell_algo,
				  plain_ops));
}

/**
 * quell_cc_algo() - the algorithm behind a socket's operations
 * @sk: socket whose operations are Quell's, locked; it may not be connected yet
 *
 * Context: socket lock.
 * Return: the algorithm.
 */
const struct quell_algo *quell_cc_algo(const struct sock *sk)
{
	const struct tcp_congestion_ops *ops = inet_csk(sk)->icsk_ca_ops;

	if (ops->init == cc_init_plain)
		return container_of(ops, struct quell_algo, plain_ops);
	return container_of(ops, struct quell_algo, ops);
}

/*
 * The stack asks when a recovery or a timeout begins an episode, before it tells of
 * it; what it calls the window before is what it would return to.
 */
static u32 cc_ssthresh(struct sock *sk)
{
	if (quell_cc_ready(sk) && quell_cc(sk)->flow)
		quell_cc(sk)->flow->undo = (struct quell_undo) {};
	return max(tcp_snd_cwnd(tcp_sk(sk)), 2U);
}

/*
 * DSACK, TCP's timestamps or F-RTO say that all that was sent again since then had
 * arrived.  A flow without a context remembers nothing.
 */
static u32 cc_undo_cwnd(struct sock *sk)
{
	struct quell_event ev;
	struct quell_flow *flow = quell_cc_ready(sk) ? quell_cc(sk)->flow : NULL;

	if (flow && flow->undo.told) {
		quell_cc_enter(sk, &ev);
		quell_sample_state(sk, &ev.sample);
		flow->algo->on_undo(sk, &ev, &flow->undo);
		quell_apply_undo(sk, &ev.sample, &ev.decision);
		quell_count(flow->qnet, QUELL_N_UNDONE);
		quell_cc_leave();
		flow->undo = (struct quell_undo) {};
	}
	return tcp_snd_cwnd(tcp_sk(sk));
}

/**
 * quell_cc_ops_init() - complete the operations of an algorithm
 * @algo: name, owner, flags and ->cong_control of its ops are set
 *
 * Context: before the operations are registered.
 */
void quell_cc_ops_init(struct quell_algo *algo)
{
	struct tcp_congestion_ops *ops = &algo->ops;

	ops->init = cc_init;
	/* By this one the hooks tell Quell's sockets from all others. */
	ops->release = quell_cc_release;
	ops->set_state = cc_set_state;
	ops->cwnd_event = cc_cwnd_event;
	ops->in_ack_event = cc_in_ack_event;
	quell_set_tx_start(ops, cc_tx_start);
	ops->ssthresh = cc_ssthresh;
	ops->undo_cwnd = cc_undo_cwnd;

	algo->plain_ops = *ops;
	algo->plain_ops.init = cc_init_plain;
	algo->plain_ops.flags &= ~TCP_CONG_NEEDS_ECN;
}

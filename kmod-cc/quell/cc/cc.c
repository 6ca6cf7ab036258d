// SPDX-License-Identifier: GPL-2.0
/*
 * The congestion control callbacks that all algorithms share.
 *
 * TCP still recovers lost segments; the core only decides how much may be in flight.  Cores
 * are called through pointers here, once per event; ->cong_control is in the algorithm's
 * module, which calls its core directly for each ACK.
 */
#include <linux/random.h>
#include <linux/slab.h>
#include <net/inet_sock.h>
#include <net/ipv6.h>
#include <net/tcp.h>
#include <compat/cong_ops.h>
#include <compat/hrtimer.h>
#include "cc/cc.h"
#include "signal/dasr.h"
#include "signal/signal.h"
#include "tcp/tcp.h"
#include "tcp/tcp_internals.h"

/*
 * The context of a flow: the state of a Quell socket beyond its 104 private bytes.
 *
 * ->init allocates it, which may run in softirq: if the allocation fails, or for some sockets of
 * the kernel, the algorithm runs on the stack's microsecond clock.
 *
 * The holder of the socket lock follows the pointer in the private bytes.  The hooks, which do
 * not hold the lock, cannot: setsockopt(TCP_CONGESTION) may be changing their owner.  They
 * find the socket's address in a hash under RCU, where it is only while the socket lives.
 *
 * Tear-down, in ->release, in this order:
 *	closed		 under its lock: earlier finders add no entry and do not start the
 *			 timer, probe.c
 *	out of the hash	 no new receive hook or observer finds it
 *	out of the table no new dump finds it
 *	call_rcu()	 freed with its lists when all earlier finders, and the timer, are done
 * The socket may be gone before the last step, so readers use only its cookie (sockets are
 * freed to their own type).
 */

/* Memory of an idle connection.  Some kernels have large locks, newer ones a larger timer. */
#define FLOW_MAX_BYTES	(1024 + sizeof(struct hrtimer) - 64)

/* Locks have their usual size. */
#define FLOW_LOCKS	(IS_ENABLED(CONFIG_64BIT) && IS_ENABLED(CONFIG_SMP) && \
			 !IS_ENABLED(CONFIG_PREEMPT_RT) && \
			 !IS_ENABLED(CONFIG_DEBUG_SPINLOCK) && !IS_ENABLED(CONFIG_DEBUG_LOCK_ALLOC))

static_assert(sizeof(struct quell_flow) <= FLOW_MAX_BYTES || !FLOW_LOCKS);

/* The fields of a use fill the cache lines that struct quell_flow lists. */
#define FLOW_LINE(field)	(offsetof(struct quell_flow, field) / 64)
#define FLOW_LINE_BEGINS(field, line) \
	(offsetof(struct quell_flow, field) == 64 * (line) || !FLOW_LOCKS)

static_assert(FLOW_LINE_BEGINS(node, 0));
static_assert(FLOW_LINE_BEGINS(dasr, 1));
static_assert(FLOW_LINE(recover.trimmed_ns) == 1 || !FLOW_LOCKS);
static_assert(FLOW_LINE(adapt.base_ns) == 3 || !FLOW_LOCKS);
static_assert((FLOW_LINE(adapt.phase) == 4 && FLOW_LINE(now.governor) == 4) || !FLOW_LOCKS);
static_assert(FLOW_LINE_BEGINS(link, 6));
static_assert(FLOW_LINE_BEGINS(segments, 7));
static_assert(FLOW_LINE_BEGINS(ack_rx_few, 8));
static_assert(FLOW_LINE_BEGINS(echo, 9));
static_assert(FLOW_LINE_BEGINS(tail, 10));
static_assert(FLOW_LINE_BEGINS(tail.timer, 11));

static void flow_set_addresses(struct quell_flow *flow, const struct sock *sk)
{
	const struct inet_sock *inet = inet_sk(sk);

	flow->family = sk->sk_family;
	flow->sport = ntohs(inet->inet_sport);
	flow->dport = ntohs(inet->inet_dport);
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6 && !ipv6_addr_v4mapped(&sk->sk_v6_daddr)) {
		flow->saddr = sk->sk_v6_rcv_saddr;
		flow->daddr = sk->sk_v6_daddr;
		return;
	}
#endif
	flow->family = AF_INET;
	flow->saddr.s6_addr32[0] = inet->inet_saddr;
	flow->daddr.s6_addr32[0] = inet->inet_daddr;
}

static void flow_free_rcu(struct rcu_head *rcu)
{
	struct quell_flow *flow = container_of(rcu, struct quell_flow, rcu);

	/* The handler takes no lock that is held here. */
	quell_hrtimer_cancel(&flow->tail.timer);
	if (flow->segments.ring != flow->segment_few)
		kfree(flow->segments.ring);
	if (flow->ack_rx_list.heap)
		kfree(flow->ack_rx_list.at);
	if (flow->echo.heap)
		kfree(flow->echo.at);
	kfree(flow->path.reps);
	kfree(flow->recover.lost);
	kfree(flow->dasr);
	kmem_cache_free(quell_flow_cache, flow);
}

static struct quell_flow *flow_alloc(struct sock *sk, struct quell_net *qnet,
				     const struct quell_algo *algo)
{
	const struct dst_entry *dst = __sk_dst_get(sk);
	struct quell_flow *flow;

	flow = quell_sock_zalloc(sk, quell_flow_cache);
	if (!flow)
		return NULL;
	flow->sk = sk;
	flow->qnet = qnet;
	flow->algo = algo;
	flow->mss_bytes = tcp_sk(sk)->mss_cache;
	flow->round_seq = tcp_sk(sk)->snd_nxt;
	flow->recover.lost_pkts = tcp_sk(sk)->lost;
	flow->now.pacing_bytes_ps = QUELL_RATE_UNLIMITED;
	flow->now.governor_ns = ktime_get_ns();
	/* Of data that the connection sent by another algorithm. */
	flow->depart_ns = flow->now.governor_ns;
	flow->stamp_secret = get_random_u32();
	spin_lock_init(&flow->lock);
	quell_segments_init(flow);
	quell_list_init(&flow->ack_rx_list, flow->ack_rx_few, QUELL_ACK_RX_FEW);
	quell_list_init(&flow->echo, flow->echo_few, QUELL_ECHOES_FEW);
	/* The timeout for tails depends on it. */
	if (dst)
		quell_link_update(flow, dst->dev);
	quell_probe_init(flow, sk);
	flow_set_addresses(flow, sk);
	if (algo->dasr && !algo->dasr->open(flow, sk)) {
		kmem_cache_free(quell_flow_cache, flow);
		return NULL;
	}
	/* A dump may have found the flow by its number before quell_flow_publish() failed. */
	if (quell_flow_publish(flow)) {
		call_rcu(&flow->rcu, flow_free_rcu);
		return NULL;
	}
	return flow;
}

/*
 * A flow has a timer, which uses its namespace.  A socket of the kernel without a reference to its
 * namespace may outlive it, as TCP only stops its own timers (tcp_close()): it has no flow, unless
 * the namespace never ends.
 */
static bool cc_may_have_flow(const struct sock *sk)
{
	return sk->sk_net_refcnt || net_eq(sock_net(sk), &init_net);
}

/* First in ->init.  Socket lock, softirq or process context. */
static void cc_open(struct sock *sk, const struct quell_algo *algo)
{
	struct quell_net *qnet = quell_net(sock_net(sk));
	struct quell_cc *cc = quell_cc(sk);

	cc->algo = algo;
	cc->acked_seq = tcp_sk(sk)->snd_una;
	cc->delivered_ce_pkts = tcp_sk(sk)->delivered_ce;
	cc->rcv_nxt_marked = tcp_sk(sk)->rcv_nxt;
	cc->rcv_marked = false;
	cc->paces = false;
	cc->reorders = false;
	cc->active_ns = tcp_sk(sk)->tcp_clock_cache;
	cc->flow = cc_may_have_flow(sk) ? flow_alloc(sk, qnet, algo) : NULL;
	if (cc->flow)
		quell_signal_open(cc->flow, sk);
	cc->magic = QUELL_CC_MAGIC;
	if (cc->flow) {
		quell_count(qnet, QUELL_N_FLOWS_OPENED);
		/* Its socket keeps the namespace, which otherwise may be about to end. */
		quell_hooks_request(qnet);
	} else if (cc_may_have_flow(sk)) {
		quell_count_reported(qnet, QUELL_N_FLOW_ALLOC_FAILED);
	}
	atomic_inc(&qnet->algo_socks[algo->slot]);
	atomic_inc(&qnet->socks);
}

static void flow_release(struct quell_flow *flow)
{
	struct quell_net *qnet = flow->qnet;

	quell_flow_withdraw(flow);
	quell_adapt_close(flow);
	if (flow->dasr) {
		quell_dasr_claim(flow, 0);
		spin_lock_bh(&flow->lock);
		flow->algo->dasr->close(flow);
		spin_unlock_bh(&flow->lock);
	}
	quell_count(qnet, QUELL_N_FLOWS_CLOSED);
	call_rcu(&flow->rcu, flow_free_rcu);
}

/*
 * A rate-based algorithm's window is only a bound, and may be far above the path's capacity:
 * the next algorithm gets the data in flight.
 */
static void release_rate(struct sock *sk)
{
	const struct quell_flow *flow = quell_cc(sk)->flow;
	u64 rate_bytes_ps = flow ? flow->now.pacing_bytes_ps : READ_ONCE(sk->sk_pacing_rate);
	struct tcp_sock *tp = tcp_sk(sk);
	u64 paced_bytes;

	if (rate_bytes_ps == QUELL_RATE_UNLIMITED || !tp->srtt_us)
		return;
	paced_bytes = quell_mul_div_u64(rate_bytes_ps, quell_srtt_ns(sk), NSEC_PER_SEC);
	tcp_snd_cwnd_set(tp, clamp_t(u64, div_u64(paced_bytes, max_t(u32, tp->mss_cache, 1)),
				     1, tcp_snd_cwnd(tp)));
}

/*
 * 6.1 and 6.12 also call it without ->init, then there is no magic.  Socket lock, or the socket is
 * being destroyed.
 */
static void cc_release(struct sock *sk)
{
	struct quell_net *qnet = quell_net(sock_net(sk));
	struct quell_cc *cc = quell_cc(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (!quell_cc_ready(sk))
		return;
	release_rate(sk);
	quell_tcp_forget_reordering(sk, cc->flow && quell_path_is_sprayed(cc->flow));
	cc->magic = 0;
	if (cc->flow) {
		quell_probe_release(cc->flow, sk);
		quell_signal_release(cc->flow, sk);
		flow_release(cc->flow);
	}
	cc->flow = NULL;
	/* cc_ssthresh() returned the window before the last cut: slow start would end there. */
	if (!tcp_in_initial_slowstart(tp))
		tp->snd_ssthresh = min(tp->snd_ssthresh, max(tcp_snd_cwnd(tp), 2U));
	quell_pacing_release(sk);
	atomic_dec(&qnet->algo_socks[cc->algo->slot]);
	atomic_dec(&qnet->socks);
}

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

	cc_open(sk, algo);
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
	ops->release = cc_release;
	ops->set_state = cc_set_state;
	ops->cwnd_event = cc_cwnd_event;
	ops->in_ack_event = quell_in_ack_event;
	quell_set_tx_start(ops, cc_tx_start);
	ops->ssthresh = cc_ssthresh;
	ops->undo_cwnd = cc_undo_cwnd;

	algo->plain_ops = *ops;
	algo->plain_ops.flags &= ~TCP_CONG_NEEDS_ECN;
}

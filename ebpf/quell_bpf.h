/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A core as a BPF congestion control: which calls of the stack are its events.  It is the twin of
 * kmod-cc/quell/cc/cc.c; NAME.bpf.c chooses the core and includes this file.
 *
 *	->init			core->init, then core->on_rto if the handshake timed out; Reno for a
 *				peer without ECN, where the algorithm requires it
 *	->cong_control		core->on_ack
 *	->set_state(Recovery)	core->on_loss
 *	->set_state(Loss)	core->on_rto, if a timer expired
 *	->set_state(CWR)	CUBIC, if it governs, cuts as for a loss; else core->on_loss, if a
 *				probe of the stack's repaired a tail loss
 *	->in_ack_event		whether that reduction is for ECN-Echo, or may be for such a loss
 *	->min_tso_segs		core->on_idle_restart, when sending resumes: called before the stack
 *				sends.  Newer kernels call another member than ->cwnd_event at
 *				that time, which an object for older ones must not name
 *	->cwnd_event, ECN	exact echo of marks, echo.h
 *	->ssthresh		a new episode of losses; only the core sets the window
 *	->undo_cwnd		core->on_undo: all retransmissions were spurious
 *
 * Between these and the core is the fit of a flow to its path, fit.h.  Of the signals of quell.ko's
 * hooks echoes, n and records are here, if option.bpf.c speaks the Quell option on the connection;
 * tail losses are not.
 *
 * The stack calls some of these before ->init, and on a socket without ->init: they return then.  A
 * socket without storage (no memory, or no ECN consent where the algorithm may not be changed) runs
 * Reno, reno.h.
 */
#ifndef _QUELL_EBPF_QUELL_BPF_H
#define _QUELL_EBPF_QUELL_BPF_H

#include "apply.h"
#include "echo.h"
#include "reno.h"

char _license[] SEC("license") = "GPL";

/* In the private bytes of a socket on which ->init ran. */
#define QUELL_BPF_MAGIC		0x7175656c6c627066ULL

/*
 * ->cong_control got the number and flags of the ACK before the rate sample in 6.10.  No type of
 * the kernel shows it, so its version decides, which the verifier knows: it follows only the
 * branch that is taken.
 */
#define QUELL_BPF_ACK_FLAGS_SINCE	(6 << 16 | 10 << 8)
extern int LINUX_KERNEL_VERSION __kconfig;

/* In assembler, because the compiler would make one load at a computed place of the two. */
static __always_inline const struct rate_sample *rate_sample_of(const unsigned long long *ctx)
{
	const struct rate_sample *rs;

	if (LINUX_KERNEL_VERSION >= QUELL_BPF_ACK_FLAGS_SINCE)
		asm volatile("%0 = *(u64 *)(%1 + 24)" : "=r"(rs) : "r"(ctx));
	else
		asm volatile("%0 = *(u64 *)(%1 + 8)" : "=r"(rs) : "r"(ctx));
	return rs;
}

static __always_inline struct tcp_sock *tcp_of(const void *sk)
{
	return (struct tcp_sock *)sk;
}

static __always_inline bool is_ready(const struct tcp_sock *tp)
{
	return icsk_of(tp)->icsk_ca_priv[0] == QUELL_BPF_MAGIC;
}

static __always_inline void set_magic(struct tcp_sock *tp, u64 magic)
{
	((struct inet_connection_sock *)tp)->icsk_ca_priv[0] = magic;
}

/* The flow of a socket on which ->init ran and found memory, else NULL. */
static __always_inline struct quell_bpf_flow *flow_of(struct tcp_sock *tp)
{
	return is_ready(tp) ? bpf_sk_storage_get(&quell_flows, tp, NULL, 0) : NULL;
}

static __always_inline void event_timeout(struct tcp_sock *tp, struct quell_bpf_flow *flow)
{
	fill_state(tp, flow);
	flow->view.timeouts++;
	quell_bpf_timed_out(flow, quell_bpf_params(), quell_bpf_stats());
	apply_timeout(tp, flow);
}

static __always_inline void event_loss(struct tcp_sock *tp, struct quell_bpf_flow *flow)
{
	fill_state(tp, flow);
	flow->view.losses++;
	if (quell_bpf_lost(flow, quell_bpf_params(), quell_bpf_stats()))
		apply(tp, flow);
	/* The first retransmission leaves at once, and ACKs clock all others: reduce(). */
	if (quell_bpf_governs(flow))
		tp->snd_cwnd = quell_min_u64(tp->snd_cwnd, inflight_pkts(tp) + 1);
}

/*
 * A tail loss that the stack's own probe repaired (RFC 8985, 7.4).  It was real: the cut must not
 * be undone, nor those before it in the episode.
 */
static __always_inline void event_tail_loss(struct tcp_sock *tp, struct quell_bpf_flow *flow)
{
	event_loss(tp, flow);
	__builtin_memset(&flow->undo, 0, sizeof(flow->undo));
}

/*
 * While CUBIC governs, a mark counts as a loss, unless the algorithm uses marks: those of a
 * round trip reduce the window together.  Without ECN-Echo the reduction is for a tail loss, which
 * is reported to the core, too, or for a full queue of this host.
 */
static __always_inline void event_reduction(struct tcp_sock *tp, struct quell_bpf_flow *flow)
{
	bool has_echo = flow->adapt.flags & QUELL_ADAPT_F_ECE;

	if (!quell_bpf_governs(flow)) {
		if (flow->tail_probed && !has_echo)
			event_tail_loss(tp, flow);
		return;
	}
	if (QUELL_BPF_FLAGS & QUELL_CORE_ECN && has_echo)
		return;
	fill_state(tp, flow);
	quell_bpf_reduced(flow, quell_bpf_params(), quell_bpf_stats());
	apply(tp, flow);
}

static __always_inline void event_ack(struct tcp_sock *tp, const struct rate_sample *rs,
				      struct quell_bpf_flow *flow)
{
	fill_state(tp, flow);
	fill_rtt(tp, rs, flow);
	fill_ack(tp, rs, flow);
	quell_bpf_acked(flow, quell_bpf_params(), quell_bpf_stats());
	flow->adapt.flags &= ~QUELL_ADAPT_F_ECE;
	flow->tail_probed = false;
	if (flow->sample.acked_pkts)
		apply(tp, flow);
}

static __always_inline void start(struct tcp_sock *tp, struct quell_bpf_flow *flow)
{
	bool has_timed_out = tp->total_retrans > 1 && tp->undo_marker && tp->snd_cwnd == 1;

	__builtin_memset(flow, 0, sizeof(*flow));
	flow->acked_seq = tp->snd_una;
	flow->delivered_ce_pkts = tp->delivered_ce;
	flow->rcv_nxt_marked = tp->rcv_nxt;
	flow->active_ns = tp->tcp_clock_cache;
	flow->round_seq = tp->snd_nxt;
	flow->resumed_seq = tp->snd_nxt - 1;
	set_follows(tp, true);
	set_wants_records(tp, true);
	fill_state(tp, flow);
	flow->sample.min_rtt_ns = first_rtt_ns(tp);
	quell_bpf_began(flow, quell_bpf_params(), quell_bpf_stats());
	apply(tp, flow);
	if (has_timed_out)
		event_timeout(tp, flow);
}

SEC("struct_ops/quell_init")
void BPF_PROG(quell_init, struct sock *sk)
{
	struct tcp_sock *tp = tcp_of(sk);
	struct quell_bpf_flow *flow;

	if (QUELL_BPF_FLAGS & QUELL_CORE_ECN && !has_consent(tp)) {
		/* Without storage it is Reno by reno.h. */
		if (!use_reno(sk))
			set_magic(tp, QUELL_BPF_MAGIC);
		return;
	}
	set_magic(tp, QUELL_BPF_MAGIC);
	flow = bpf_sk_storage_get(&quell_flows, tp, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	if (flow)
		start(tp, flow);
}

/* The window of a rate-governed flow only bounds it: continue with the rate's bytes in flight. */
static __always_inline void release_rate(struct tcp_sock *tp, const struct quell_bpf_flow *flow)
{
	u64 rate_bytes_ps = flow->view.pacing_bytes_ps, paced_bytes;

	if (rate_bytes_ps == QUELL_RATE_UNLIMITED || !tp->srtt_us)
		return;
	paced_bytes = quell_mul_div_u64(rate_bytes_ps, first_rtt_ns(tp), QUELL_NS_PER_SEC);
	tp->snd_cwnd = quell_min_u64(tp->snd_cwnd,
				     quell_max_u64(quell_div_u64(paced_bytes, tp->mss_cache), 1));
}

/* The next algorithm would slow-start back to the window from before the last cut. */
SEC("struct_ops/quell_release")
void BPF_PROG(quell_release, struct sock *sk)
{
	struct tcp_sock *tp = tcp_of(sk);
	struct quell_bpf_flow *flow = flow_of(tp);

	if (!is_ready(tp))
		return;
	if (flow)
		release_rate(tp, flow);
	set_magic(tp, 0);
	set_follows(tp, false);
	set_wants_records(tp, false);
	if (tp->snd_ssthresh < TCP_INFINITE_SSTHRESH)
		tp->snd_ssthresh = quell_min_u64(tp->snd_ssthresh,
						 quell_max_u64(tp->snd_cwnd, 2));
	bpf_sk_storage_delete(&quell_flows, tp);
}

/* The stack gets the window from before, because the core decides the cut. */
SEC("struct_ops/quell_ssthresh")
u32 BPF_PROG(quell_ssthresh, struct sock *sk)
{
	struct tcp_sock *tp = tcp_of(sk);
	struct quell_bpf_flow *flow = flow_of(tp);

	if (flow) {
		quell_bpf_new_episode(flow);
		flow->reduced_pkts = 0;
	} else if (is_ready(tp)) {
		return tcp_reno_ssthresh(sk);
	}
	return quell_max_u64(tp->snd_cwnd, 2);
}

/* As quell_tcp_has_timed_out() of kmod-cc: not for segments too long for the path, or refused. */
static __always_inline bool has_timed_out(const struct tcp_sock *tp)
{
	return ca_state_of(tp) == TCP_CA_Loss || tp->undo_marker || tp->prior_ssthresh ||
	       tp->high_seq != tp->snd_nxt || tp->snd_cwnd == inflight_pkts(tp) + 1;
}

SEC("struct_ops/quell_set_state")
void BPF_PROG(quell_set_state, struct sock *sk, u8 new_state)
{
	struct tcp_sock *tp = tcp_of(sk);
	struct quell_bpf_flow *flow = flow_of(tp);

	if (flow && new_state == TCP_CA_Recovery)
		event_loss(tp, flow);
	else if (flow && new_state == TCP_CA_CWR)
		event_reduction(tp, flow);
	else if (flow && new_state == TCP_CA_Loss && has_timed_out(tp))
		event_timeout(tp, flow);
	else if (!flow && is_ready(tp))
		reno_set_state(tp, new_state);
}

static __always_inline u32 burst_pkts(const struct tcp_sock *tp)
{
#ifdef QUELL_BPF_SEGMENT_PKTS
	const void *params = quell_bpf_params();

	if (params)
		return QUELL_BPF_SEGMENT_PKTS(params, tp->mss_cache);
#endif
	return ((const struct sock *)tp)->__sk_common.skc_net.net->ipv4.sysctl_tcp_min_tso_segs;
}

/*
 * Sending resumes: no data is outstanding, new data is queued, and was not at the last ACK.  A
 * second call before that data is sent does not restart the flow again.
 */
static __always_inline void resume(struct tcp_sock *tp)
{
	struct quell_bpf_flow *flow = flow_of(tp);

	if (!flow || flow->backlogged || flow->resumed_seq == tp->snd_nxt)
		return;
	flow->resumed_seq = tp->snd_nxt;
	fill_state(tp, flow);
	flow->sample.idle_ns = quell_sub_sat_u64(tp->tcp_clock_cache, flow->active_ns);
	quell_bpf_resumed(flow, quell_bpf_params(), quell_bpf_stats());
	apply(tp, flow);
}

SEC("struct_ops/quell_min_tso_segs")
u32 BPF_PROG(quell_min_tso_segs, struct sock *sk)
{
	struct tcp_sock *tp = tcp_of(sk);

	if (!tp->packets_out && tp->write_seq != tp->snd_nxt)
		resume(tp);
	return burst_pkts(tp);
}

SEC("struct_ops/quell_cong_control")
void quell_cong_control(unsigned long long *ctx)
{
	struct tcp_sock *tp = tcp_of((void *)ctx[0]);
	const struct rate_sample *rs = rate_sample_of(ctx);
	struct quell_bpf_flow *flow = flow_of(tp);

	if (flow)
		event_ack(tp, rs, flow);
	else if (is_ready(tp))
		reno_ack(tp, rs);
}

#if QUELL_BPF_FLAGS & QUELL_CORE_ECN
#define QUELL_BPF_OPS_ECN	.flags = TCP_CONG_NEEDS_ECN,
#else
#define QUELL_BPF_OPS_ECN
#endif

/* Comes before the stack reduces, for which it forgets that a probe is outstanding. */
SEC("struct_ops/quell_in_ack_event")
void BPF_PROG(quell_in_ack_event, struct sock *sk, u32 flags)
{
	struct tcp_sock *tp = tcp_of(sk);
	struct quell_bpf_flow *flow = flow_of(tp);

	if (!flow)
		return;
	flow->tail_probed = tp->tlp_high_seq && BPF_CORE_READ_BITFIELD(tp, tlp_retrans);
	flow->adapt.flags &= ~QUELL_ADAPT_F_ECE;
	if (flags & CA_ACK_ECE)
		flow->adapt.flags |= QUELL_ADAPT_F_ECE;
}

SEC("struct_ops/quell_cwnd_event")
void BPF_PROG(quell_cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
	struct tcp_sock *tp = tcp_of(sk);
	struct quell_bpf_flow *flow;

	if (event != CA_EVENT_ECN_IS_CE && event != CA_EVENT_ECN_NO_CE)
		return;
	flow = flow_of(tp);
	if (!flow)
		return;
	echo_mark(tp, flow, event == CA_EVENT_ECN_IS_CE);
	store_mark(tp, event == CA_EVENT_ECN_IS_CE);
}

SEC("struct_ops/quell_undo_cwnd")
u32 BPF_PROG(quell_undo_cwnd, struct sock *sk)
{
	struct tcp_sock *tp = tcp_of(sk);
	struct quell_bpf_flow *flow = flow_of(tp);

	if (!flow && is_ready(tp))
		return tcp_reno_undo_cwnd(sk);
	if (flow && flow->undo.valid) {
		fill_state(tp, flow);
		quell_bpf_undone(flow, quell_bpf_params(), quell_bpf_stats());
		apply_undo(tp, flow);
	}
	return tp->snd_cwnd;
}

/**
 * QUELL_BPF_OPS() - the operations of an algorithm
 * @name_: of the map and of the congestion control, without quotation marks
 */
#define QUELL_BPF_OPS(name_)						\
SEC(".struct_ops")							\
struct tcp_congestion_ops name_ = {					\
	.init		= (void *)quell_init,				\
	.release	= (void *)quell_release,			\
	.ssthresh	= (void *)quell_ssthresh,			\
	.set_state	= (void *)quell_set_state,			\
	.in_ack_event	= (void *)quell_in_ack_event,			\
	.cwnd_event	= (void *)quell_cwnd_event,			\
	.min_tso_segs	= (void *)quell_min_tso_segs,			\
	.cong_control	= (void *)quell_cong_control,			\
	.undo_cwnd	= (void *)quell_undo_cwnd,			\
	QUELL_BPF_OPS_ECN						\
	.name		= #name_,					\
}

#endif /* _QUELL_EBPF_QUELL_BPF_H */

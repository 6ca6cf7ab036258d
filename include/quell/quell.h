/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Interface of quell.ko to the modules around it.
 *
 * An algorithm is a struct quell_core; its module registers it with QUELL_ALGO() and
 * quell_algo_register().  The module itself only supplies ->cong_control, which is
 * quell_cong_control() with that core; quell.ko supplies the rest of its tcp_congestion_ops
 * (kmod-cc/quell/cc/cc.c).
 */
#ifndef _QUELL_QUELL_H
#define _QUELL_QUELL_H

#include <linux/bottom_half.h>
#include <linux/rcupdate.h>
#include <linux/types.h>
#include <net/tcp.h>
#include <compat/cong_ops.h>
#include <quell/core/adapt/react.h>
#include <quell/core/algorithm.h>
#include <quell/uninitialized.h>
#include <quell/version.h>

struct quell_dasr_ops;
struct quell_flow;

/* "QU": ->init ran on this socket. */
#define QUELL_CC_MAGIC		0x5155U

/* Space for an algorithm's variables behind struct quell_cc. */
#define QUELL_CC_VARS_BYTES	64

/**
 * struct quell_cc - the part of icsk_ca_priv that belongs to quell.ko
 * @flow:		flow context; NULL if its allocation failed; then the
 *			algorithm runs on the stack's own microsecond RTT
 * @algo:		algorithm of this socket
 * @active_ns:		time of the last acknowledgment or of the start, ns
 * @acked_seq:		snd_una at the last sample
 * @delivered_ce_pkts:	tcp_sock.delivered_ce at the last sample
 * @rcv_nxt_marked:	rcv_nxt up to which @rcv_marked was echoed
 * @magic:		QUELL_CC_MAGIC once initialised; 6.1 and 6.12 call
 *			->release without ->init, so check it first
 * @rcv_marked:		the newest packet received was marked CE
 * @backlogged:		data was waiting at the last sample: the next packet starts
 *			no new message, however long pacing delays it
 * @paces:		pacing by the stack was enabled for this algorithm
 * @reorders:		tcp_sock.reord_seen was raised from 0 for this algorithm
 * @has_ece:		the ACK that is processed has ECN-Echo
 *
 * Written under the socket lock only.  The algorithm's variables follow.
 */
struct quell_cc {
	struct quell_flow	*flow;
	const struct quell_algo	*algo;
	u64			active_ns;
	u32			acked_seq;
	u32			delivered_ce_pkts;
	u32			rcv_nxt_marked;
	u16			magic;
	bool			rcv_marked:1;
	bool			backlogged:1;
	bool			paces:1;
	bool			reorders:1;
	bool			has_ece:1;
};

static_assert(ALIGN(sizeof(struct quell_cc), 8) + QUELL_CC_VARS_BYTES <=
	      ICSK_CA_PRIV_SIZE);

/**
 * struct quell_algo - an algorithm registered with quell.ko
 * @core:	the algorithm itself; set by the caller
 * @ops:	the caller sets owner and cong_control; quell_algo_register() sets the
 *		other members, which all algorithms share
 * @plain_ops:	@ops without TCP_CONG_NEEDS_ECN, for sockets of a peer that refused ECN; set by
 *		quell_algo_register()
 * @dasr:	receiver that counts senders, for QUELL_CORE_SENDERS; NULL: senders are not counted
 * @slot:	set by quell_algo_register()
 *
 * The events of @core are called between quell_cc_enter() and quell_cc_leave(): socket lock,
 * bottom halves off, RCU read section.  Their decisions are applied when they return.
 *
 * Constant once registered.
 */
struct quell_algo {
	const struct quell_core		*core;
	struct tcp_congestion_ops	ops;
	struct tcp_congestion_ops	plain_ops;
	const struct quell_dasr_ops	*dasr;
	u32				slot;
};

/* Whether an algorithm has a flag QUELL_CORE_*. */
static inline bool quell_algo_has(const struct quell_algo *algo, u32 flag)
{
	return algo->core->flags & flag;
}

/**
 * QUELL_ALGO() - define NAME_algo, the algorithm quell_NAME_core, for quell_algo_register()
 * @name_: NAME
 */
#define QUELL_ALGO(name_)							\
static void name_##_cong_control(quell_cong_control_args)			\
{										\
	quell_cong_control(sk, rs, &quell_##name_##_core,			\
			   quell_##name_##_core_on_ack);			\
}										\
										\
extern struct quell_algo name_##_algo;						\
struct quell_algo name_##_algo __read_mostly = {				\
	.core = &quell_##name_##_core,						\
	.ops = { .owner = THIS_MODULE, .cong_control = name_##_cong_control },	\
}

/*
 * Governor of a flow's window: its algorithm, the search, or CUBIC; enum quell_adapt_reason is
 * added to the last.
 */
enum quell_governor {
	QUELL_GOVERNOR_ALGORITHM,
	QUELL_GOVERNOR_SEARCH,
	QUELL_GOVERNOR_CUBIC,
};

#define QUELL_GOVERNORS		(QUELL_GOVERNOR_CUBIC + QUELL_ADAPT_REASONS)

/* CUBIC for any reason. */
static inline enum quell_governor quell_governor_kind(u8 governor)
{
	return min_t(u8, governor, QUELL_GOVERNOR_CUBIC);
}

/**
 * struct quell_snapshot - a flow's last decision and measurements, for observers
 * @window_bytes:	congestion window, bytes
 * @pacing_bytes_ps:	pacing rate, bytes/s; QUELL_RATE_UNLIMITED if not paced
 * @rtt_ns:		newest round-trip time, ns; 0 not yet known
 * @min_rtt_ns:		smallest round-trip time, ns; 0 not yet known
 * @target_ns:		target delay, ns; 0 the algorithm has no target
 * @samples:		round-trip times taken in ns so far
 * @remote_ns:		hold time of the newest echo at the other host, ns
 * @clock:		enum quell_clock of @rtt_ns
 * @governor:		governor of the window, enum quell_governor and the reason
 * @limit:		why the flow does not send more, enum quell_limit
 * @marked_pkts:	segments acknowledged as marked CE so far
 * @marked_bytes:	payload of marked segments, as reported to the algorithm
 * @governed_ns:	by enum quell_governor: for how long it governed the window before
 *			@governor began to, ns
 * @governor_ns:	when that was, CLOCK_MONOTONIC, ns
 */
struct quell_snapshot {
	u64	window_bytes;
	u64	pacing_bytes_ps;
	u64	rtt_ns;
	u64	min_rtt_ns;
	u64	target_ns;
	u64	samples;
	u32	remote_ns;
	u8	clock;
	u8	governor;
	u8	limit;
	u64	marked_pkts;
	u64	marked_bytes;
	u64	governed_ns[QUELL_GOVERNOR_CUBIC + 1];
	u64	governor_ns;
};

/**
 * quell_governed_ns() - for how long one of them governed a flow's window so far
 * @of:	    the flow; its fields may be of before and after a change
 * @kind:   of enum quell_governor
 * @now_ns: CLOCK_MONOTONIC, ns
 *
 * Return: ns.
 */
static inline u64 quell_governed_ns(const struct quell_snapshot *of, enum quell_governor kind,
				    u64 now_ns)
{
	u64 begun_ns = READ_ONCE(of->governor_ns), ns = READ_ONCE(of->governed_ns[kind]);

	if (quell_governor_kind(READ_ONCE(of->governor)) == kind && now_ns > begun_ns)
		ns += now_ns - begun_ns;
	return ns;
}

int quell_algo_register_version(struct quell_algo *algo, const char *version);
void quell_algo_unregister(struct quell_algo *algo);

/**
 * quell_algo_register() - register an algorithm of a module that was built with this header
 * @algo: description, as of quell_algo_register_version()
 * Context: process, may sleep.
 * Return: as quell_algo_register_version().
 */
static inline int quell_algo_register(struct quell_algo *algo)
{
	return quell_algo_register_version(algo, QUELL_VERSION);
}

/**
 * QUELL_ALGO_MODULE() - a module with one algorithm, quell_NAME_core
 * @name_: NAME
 */
#define QUELL_ALGO_MODULE(name_)						\
QUELL_ALGO(name_);								\
										\
static int __init name_##_register(void)					\
{										\
	return quell_algo_register(&name_##_algo);				\
}										\
										\
static void __exit name_##_unregister(void)					\
{										\
	quell_algo_unregister(&name_##_algo);					\
}										\
										\
module_init(name_##_register);							\
module_exit(name_##_unregister)

/**
 * QUELL_ALGO_MODULE_PAIR() - a module with two algorithms, quell_NAME_core and quell_OTHER_core
 * @name_:  NAME
 * @other_: OTHER, with QUELL_ALGO() in another file of the module: in one file the compiler would
 *	    share the common code of the two cores, not inline it
 */
#define QUELL_ALGO_MODULE_PAIR(name_, other_)					\
QUELL_ALGO(name_);								\
extern struct quell_algo other_##_algo;						\
										\
static int __init name_##_register(void)					\
{										\
	int err = quell_algo_register(&name_##_algo);				\
										\
	if (err)								\
		return err;							\
	err = quell_algo_register(&other_##_algo);				\
	if (err)								\
		quell_algo_unregister(&name_##_algo);				\
	return err;								\
}										\
										\
static void __exit name_##_unregister(void)					\
{										\
	quell_algo_unregister(&other_##_algo);					\
	quell_algo_unregister(&name_##_algo);					\
}										\
										\
module_init(name_##_register);							\
module_exit(name_##_unregister)

void quell_cc_enter(struct sock *sk, struct quell_event *ev);
bool quell_ack(struct sock *sk, const struct rate_sample *rs, struct quell_sample *sample);
void quell_apply(struct sock *sk, const struct quell_sample *sample,
		 struct quell_decision *decision);
void quell_repace(struct sock *sk);

#ifdef CONFIG_PREEMPT_RT
void quell_core_lock(void);
void quell_core_unlock(void);
#else
static inline void quell_core_lock(void) { }
static inline void quell_core_unlock(void) { }
#endif

/**
 * quell_header_bytes() - overhead of a full segment of a socket beside its payload
 * @sk: TCP socket, not a listener
 *
 * Context: socket lock; without it, the bytes of before or after a change of options.
 * Return: framing, IP, TCP with timestamps, and the room reserved for options, bytes.
 */
static inline u32 quell_header_bytes(const struct sock *sk)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);

	return QUELL_FRAMING_BYTES + icsk->icsk_af_ops->net_header_len +
	       tcp_sk(sk)->tcp_header_len + icsk->icsk_ext_hdr_len;
}

/* The glue of a socket with the ops of a Quell algorithm. */
static inline struct quell_cc *quell_cc(const struct sock *sk)
{
	return inet_csk_ca(sk);
}

/**
 * quell_cc_ready() - whether ->init ran on a socket
 * @sk: socket with one of the caller's congestion controls
 *
 * The stack calls ->cong_control for the ACK of a SYN, and ->set_state for its
 * timeout, before ->init.
 *
 * Context: socket lock.
 */
static inline bool quell_cc_ready(const struct sock *sk)
{
	return quell_cc(sk)->magic == QUELL_CC_MAGIC;
}

/**
 * quell_cc_may_be_ready() - quell_cc_ready() without the socket lock: a hint
 * @sk: TCP socket, with any congestion control
 *
 * A flow is then found by its socket's address, or is not.
 *
 * Context: RCU read section.
 */
static inline bool quell_cc_may_be_ready(const struct sock *sk)
{
	/* The bytes may be another algorithm's, which writes them as it likes. */
	return data_race(quell_cc(sk)->magic) == QUELL_CC_MAGIC;
}

/**
 * quell_is_full() - sk_fullsock() without the socket lock
 * @sk: socket, request or TIME_WAIT
 *
 * Context: RCU read section.
 */
static inline bool quell_is_full(const struct sock *sk)
{
	/* The state may change, but not between those of a full socket and the others. */
	return data_race(sk_fullsock(sk));
}

/**
 * quell_cc_vars() - the algorithm's variables of a socket
 * @sk: socket with one of the caller's congestion controls
 *
 * Context: socket lock.
 * Return: QUELL_CC_VARS_BYTES of memory, zero before the first use.
 */
static inline void *quell_cc_vars(const struct sock *sk)
{
	return (char *)inet_csk_ca(sk) + ALIGN(sizeof(struct quell_cc), 8);
}

/**
 * quell_cc_leave() - end the section entered by quell_cc_enter()
 */
static inline void quell_cc_leave(void)
	__releases(RCU_BH)
{
	rcu_read_unlock_bh();
}

/**
 * quell_first_rtt_ns() - round-trip time for the first window
 * @sk: socket, connected
 *
 * The stack timed the handshake in microseconds; add one, so that the
 * rounding never shortens the window.
 *
 * Context: socket lock.
 * Return: ns; 0 when the handshake gave no round-trip time.
 */
static inline u64 quell_first_rtt_ns(const struct sock *sk)
{
	u32 srtt_us = tcp_sk(sk)->srtt_us >> 3;

	return tcp_sk(sk)->srtt_us ? (srtt_us + 1ULL) * NSEC_PER_USEC : 0;
}

/**
 * quell_core_call() - call an event of a core
 * @ev:    event
 * @event: the core's function for it
 *
 * A core increments counters of this CPU.  On PREEMPT_RT softirqs preempt each other, and the
 * lock excludes them; elsewhere it is no code.
 *
 * Context: between quell_cc_enter() and quell_cc_leave().
 */
static __always_inline void quell_core_call(struct quell_event *ev,
					    void (*event)(struct quell_event *ev))
{
	quell_core_lock();
	event(ev);
	quell_core_unlock();
}

/**
 * quell_cong_control() - ->cong_control of an algorithm
 * @sk:     its socket
 * @rs:     the stack's rate sample of the ACK
 * @core:   the algorithm, a compile-time constant
 * @on_ack: its event handler, inlined here
 *
 * Context: socket lock.
 */
static __always_inline void quell_cong_control(struct sock *sk, const struct rate_sample *rs,
					       const struct quell_core *core,
					       void (*on_ack)(struct quell_event *ev))
{
	struct quell_event ev QUELL_UNINITIALIZED;

	if (!quell_cc_ready(sk))
		return;
	quell_cc_enter(sk, &ev);
	if (quell_ack(sk, rs, &ev.sample)) {
		quell_core_call(&ev, on_ack);
		quell_apply(sk, &ev.sample, &ev.decision);
		if (core->segment_pkts)
			quell_repace(sk);
	}
	quell_cc_leave();
}

#endif /* _QUELL_QUELL_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What quell.ko offers to the modules around it.
 *
 * An algorithm module describes itself with a struct quell_algo and registers
 * it.  Its own are the tables of parameters and counters, callbacks that
 * hand an event to the core, and ->cong_control, which reads as one sentence:
 *
 *	if (!quell_cc_ready(sk))
 *		return;
 *	quell_cc_enter(sk, &ev);
 *	if (quell_sample_fill(sk, rs, &ev.sample)) {
 *		ALGO_on_ack(ev.vars, ev.params, ev.stats, &ev.sample, &ev.decision);
 *		quell_apply(sk, &ev.sample, &ev.decision);
 *	}
 *	quell_cc_leave();
 *
 * Everything else of its tcp_congestion_ops is quell.ko's, kmod-cc/quell/cc.c.
 */
#ifndef _QUELL_QUELL_H
#define _QUELL_QUELL_H

#include <linux/bottom_half.h>
#include <linux/rcupdate.h>
#include <linux/types.h>
#include <net/tcp.h>
#include <quell/core/core.h>
#include <quell/core/undo.h>
#include <uapi/linux/quell.h>

struct quell_flow;

/* "QU": quell_cc_init() ran on this socket. */
#define QUELL_CC_MAGIC		0x5155U

/* Room for an algorithm's variables beside struct quell_cc. */
#define QUELL_CC_VARS_BYTES	64

/**
 * struct quell_cc - the part of icsk_ca_priv that belongs to quell.ko
 * @flow:		flow context; NULL when memory was short, and then the
 *			algorithm runs on the stack's own microsecond RTT
 * @algo:		algorithm of this socket
 * @active_ns:		time of the last acknowledgment or of the start, ns
 * @acked_seq:		snd_una at the last sample
 * @delivered_ce_pkts:	tcp_sock.delivered_ce at the last sample
 * @rcv_nxt_marked:	rcv_nxt up to which @rcv_marked was echoed
 * @magic:		QUELL_CC_MAGIC once initialised; 6.1 and 6.12 call
 *			->release without ->init, so it is looked at first
 * @rcv_marked:		the newest packet received was marked CE
 * @backlogged:		data was waiting at the last sample: what comes next is
 *			no new message, however long pacing holds it back
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
	bool			rcv_marked;
	bool			backlogged;
};

static_assert(ALIGN(sizeof(struct quell_cc), 8) + QUELL_CC_VARS_BYTES <=
	      ICSK_CA_PRIV_SIZE);

/**
 * struct quell_param_desc - one parameter of an algorithm
 * @name:	as the administrator writes it
 * @doc:	one line of explanation
 * @unit:	what the value counts
 * @offset:	place of the u64 in the parameter block
 * @min:	smallest value accepted
 * @max:	largest value accepted
 * @def:	value after a reset
 */
struct quell_param_desc {
	const char	*name;
	const char	*doc;
	enum quell_unit	unit;
	u32		offset;
	u64		min;
	u64		max;
	u64		def;
};

/**
 * QUELL_PARAM() - an entry of a table of parameters
 * @type_:	the algorithm's struct of parameters
 * @name_:	name
 * @unit_:	enum quell_unit without its prefix
 * @field_:	field of @type_
 * @range_:	QUELL_@range_ begins the names of its _MIN, _MAX and _DEFAULT
 * @doc_:	one line of explanation
 */
#define QUELL_PARAM(type_, name_, unit_, field_, range_, doc_) {	\
	.name = (name_), .doc = (doc_), .unit = QUELL_UNIT_##unit_,	\
	.offset = offsetof(type_, field_),				\
	.min = QUELL_##range_##_MIN,					\
	.max = QUELL_##range_##_MAX,					\
	.def = QUELL_##range_##_DEFAULT,				\
}

/**
 * struct quell_counter_desc - one counter
 * @name:	as user space sees it
 * @doc:	one line of explanation
 * @offset:	place of the u64 in the block of counters
 */
struct quell_counter_desc {
	const char	*name;
	const char	*doc;
	u32		offset;
};

/**
 * QUELL_COUNTER() - an entry of a table of counters
 * @type_:	the algorithm's struct of counters
 * @name_:	name
 * @field_:	field of @type_
 * @doc_:	one line of explanation
 */
#define QUELL_COUNTER(type_, name_, field_, doc_) {			\
	.name = (name_), .doc = (doc_), .offset = offsetof(type_, field_), \
}

/**
 * struct quell_event - what a core is asked about, and what it answers
 * @vars:	the algorithm's variables of the socket, QUELL_CC_VARS_BYTES;
 *		zero before the algorithm's ->init
 * @params:	its parameters in force, params_bytes
 * @stats:	its counters on this CPU, counters_bytes
 * @sample:	what is known
 * @decision:	the answer; the core fills all of it
 *
 * Valid between quell_cc_enter() and quell_cc_leave().
 */
struct quell_event {
	void			*vars;
	const void		*params;
	void			*stats;
	struct quell_sample	sample;
	struct quell_decision	decision;
};

/**
 * struct quell_algo - a congestion-control algorithm
 * @ops:		the algorithm's own members: name, owner, flags,
 *			cong_control and what else no other has; the members
 *			all have in common are set by quell_algo_register()
 * @plain_ops:		@ops without TCP_CONG_NEEDS_ECN, for sockets whose peer
 *			refused ECN; set by quell_algo_register()
 * @init:		a connection begins
 * @on_loss:		fast retransmit begins
 * @on_rto:		the retransmission timer fired
 * @on_idle_restart:	sending begins after nothing was outstanding for
 *			idle_ns nanoseconds
 * @undo_note:		remember what ->on_loss or ->on_rto took, from copies of the
 *			variables before and after
 * @on_undo:		it was for nothing: give it back
 * @params:		table of parameters
 * @params_nr:		their number
 * @params_bytes:	size of the parameter block
 * @params_derive:	optional: recompute derived fields of a block about to
 *			be published
 * @counters:		table of counters
 * @counters_nr:	their number; 0 none
 * @counters_bytes:	size of the block of counters
 * @fractional_window:	windows that are no whole number of segments are kept on
 *			average, see quell_apply(); otherwise rounded down
 * @telemetry:		it wants telemetry records: its sockets ask for the Quell
 *			option, and their data leaves switches the room
 * @sprays:		segments may go different ways: each of an IPv6 flow has an
 *			entropy of its own, where the namespace wants it; path.c
 * @trims:		it is told of trimmed packets: an ACK that reports nothing else is
 *			a sample, and a recovery from nothing else no ->on_loss
 * @slot:		set by quell_algo_register()
 *
 * The callbacks are given a sample without an acknowledgment, and what they
 * decide is applied when they return.  Their context: socket lock, bottom
 * halves off, RCU read section.
 *
 * Constant once registered.
 */
struct quell_algo {
	struct tcp_congestion_ops	ops;
	struct tcp_congestion_ops	plain_ops;
	void				(*init)(struct sock *sk, struct quell_event *ev);
	void				(*on_loss)(struct sock *sk, struct quell_event *ev);
	void				(*on_rto)(struct sock *sk, struct quell_event *ev);
	void				(*on_idle_restart)(struct sock *sk,
							   struct quell_event *ev,
							   u64 idle_ns);
	void				(*undo_note)(struct quell_undo *undo,
						     const void *before, const void *after);
	void				(*on_undo)(struct sock *sk, struct quell_event *ev,
						   const struct quell_undo *undo);
	const struct quell_param_desc	*params;
	u32				params_nr;
	u32				params_bytes;
	void				(*params_derive)(void *params);
	const struct quell_counter_desc	*counters;
	u32				counters_nr;
	u32				counters_bytes;
	bool				fractional_window;
	bool				telemetry;
	bool				sprays;
	bool				trims;
	u32				slot;
};

/**
 * struct quell_snapshot - what a flow last decided, for observers
 * @window_bytes:	congestion window, bytes
 * @pacing_bytes_ps:	pacing rate, bytes/s; QUELL_RATE_UNLIMITED if not paced
 * @rtt_ns:		newest round-trip time, ns; 0 none yet
 * @min_rtt_ns:		smallest round-trip time, ns; 0 none yet
 * @target_ns:		delay steered for, ns; 0 none
 * @marked_pkts:	segments acknowledged as marked CE so far
 * @marked_bytes:	their payload, as the algorithm was told
 * @hop:		hop of the newest telemetry record; 0 none yet
 * @samples:		round-trip times taken in ns so far
 * @remote_ns:		how long the other host held the newest echo, ns
 * @clock:		enum quell_clock of @rtt_ns
 */
struct quell_snapshot {
	u64	window_bytes;
	u64	pacing_bytes_ps;
	u64	rtt_ns;
	u64	min_rtt_ns;
	u64	target_ns;
	u64	marked_pkts;
	u64	marked_bytes;
	u64	samples;
	u32	remote_ns;
	u8	clock;
	u8	hop;
};

int quell_algo_register(struct quell_algo *algo);
void quell_algo_unregister(struct quell_algo *algo);

void quell_cc_enter(struct sock *sk, struct quell_event *ev);
u64 quell_first_rtt_ns(const struct sock *sk);
bool quell_sample_fill(struct sock *sk, const struct rate_sample *rs,
		       struct quell_sample *sample);
void quell_apply(struct sock *sk, const struct quell_sample *sample,
		 const struct quell_decision *decision);
u32 quell_other_flows(const struct sock *sk);
void quell_repace(struct sock *sk);

bool quell_sock_snapshot(const struct sock *sk, struct quell_snapshot *out);

/* The glue of a socket whose ops are known to be a Quell algorithm's. */
static inline struct quell_cc *quell_cc(const struct sock *sk)
{
	return inet_csk_ca(sk);
}

/**
 * quell_cc_ready() - whether quell_cc_init() ran on a socket
 * @sk: socket whose congestion control is the caller's
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
 * quell_cc_vars() - the algorithm's variables of a socket
 * @sk: socket whose congestion control is the caller's
 *
 * Context: socket lock.
 * Return: QUELL_CC_VARS_BYTES of memory, zero before the first use.
 */
static inline void *quell_cc_vars(const struct sock *sk)
{
	return (char *)inet_csk_ca(sk) + ALIGN(sizeof(struct quell_cc), 8);
}

/**
 * quell_cc_leave() - end what quell_cc_enter() began
 */
static inline void quell_cc_leave(void)
	__releases(RCU)
{
	rcu_read_unlock();
	local_bh_enable();
}

#endif /* _QUELL_QUELL_H */

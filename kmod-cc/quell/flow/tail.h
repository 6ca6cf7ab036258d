/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The timer that detects tail loss: tail.c arms it, probe.c handles its expiry.  An ACK that
 * waits for an answer, answer.c, uses it, too.
 *
 * Lifetime: a queued timer holds no reference.
 *
 *	probe_enter()		unless the flow is closed, the expiry takes a reference to the
 *				socket, and only then the socket lock
 *	quell_probe_release()	closes the flow, after which the timer is not started, and
 *				cancels it unless its handler runs, not to wait for a handler
 *				with the socket lock.  On PREEMPT_RT that would be to wait for
 *				all handlers of a CPU, TCP's among them, which may wait for
 *				this very socket
 *	flow_free_rcu()		cancels a timer that was queued while its handler ran, and
 *				waits for the handler, without a lock
 *
 * The lock of the flow protects these steps, and @timer, @left_ns, @ack_ns and @ack_seq with them,
 * for LOCAL_OUT sets them with or without the socket lock.
 */
#ifndef _QUELL_TAIL_H
#define _QUELL_TAIL_H

#include <linux/hrtimer.h>
#include <linux/types.h>

struct quell_flow;
struct sock;

/* State of a flow's last probe. */
enum quell_probe {
	QUELL_PROBE_NONE,
	QUELL_PROBE_OPEN,
	QUELL_PROBE_ANSWERED,
};

/**
 * struct quell_tail - the timer that detects tail loss
 * @timer:	fires when a probe may be due
 * @ack_ns:	when the ACK must leave that may wait for an answer, modulo 2^32; valid if
 *		@ack_waits
 * @ack_seq:	sequence number after the data that it is for
 * @probes:	probes sent; read by dumps
 * @ack_waits:	an ACK may wait, until it leaves with data or the timer has looked
 * @tries:	probes since data was last delivered
 * @patience:	doublings of the timeout for spurious probes
 * @probe:	enum quell_probe; written with WRITE_ONCE(), for LOCAL_OUT
 * @loss_reported: ->on_loss was called for the loss the last probe is about
 * @calm:	expiries since something was lost before which no probe was due, up to a
 *		number; written with WRITE_ONCE(), for LOCAL_OUT
 * @busy:	expiries in a row that found the socket owned by a process, up to a number;
 *		only expiries use it
 * @timeout_ns:	time without an acknowledgment before a probe; 0: no probe; written with both
 *		locks, as words may have 32 bits
 * @since_ns:	when data was last acknowledged, or a probe could not be sent,
 *		CLOCK_MONOTONIC, ns
 * @left_ns:	when the last segment sent has left the interface
 * @srtt_ns:	smoothed round-trip time; 0: not known yet
 * @var_ns:	mean deviation of the round-trip time
 * @probe_ns:	when the last probe left
 * @wait_ns:	age of the last probe's segment when it was sent again, at least the timeout
 * @verdict_ns:	a probe that was acknowledged counts as needed if no DSACK comes before
 * @probe_end:	sequence number after the last probe
 * @dsacks:	tcp_sock.dsack_dups when the last probe left
 *
 * The lock of the flow protects @timer, @ack_ns, @ack_seq, @ack_waits and @left_ns, the socket lock
 * the other fields.
 */
struct quell_tail {
	struct hrtimer		timer;
	u64			timeout_ns;
	u64			since_ns;
	u64			left_ns;
	u64			srtt_ns;
	u64			var_ns;
	u32			ack_ns;
	u32			ack_seq;
	bool			ack_waits;
	u8			tries;
	u8			patience;
	u8			probe;
	bool			loss_reported;
	u8			calm;
	u8			busy;
	u32			probes;
	u32			probe_end;
	u32			dsacks;
	u64			probe_ns;
	union {
		u64		wait_ns;	/* QUELL_PROBE_OPEN */
		u64		verdict_ns;	/* QUELL_PROBE_ANSWERED */
	};
};

/* tail.c */
void quell_tail_update(struct quell_flow *flow);
void quell_tail_wake(struct quell_flow *flow, u64 at_ns);
void quell_tail_await_ack(struct quell_flow *flow, u64 at_ns, u32 ack_seq, bool keep);
bool quell_tail_take_ack(struct quell_flow *flow, u64 now_ns);
u64 quell_tail_due_ns(struct quell_flow *flow);
void quell_tail_expect(struct quell_flow *flow, u64 at_ns);
void quell_tail_sent(struct quell_flow *flow, bool is_tail, u64 left_ns, u32 ack_seq);
void quell_tail_acked(struct quell_flow *flow, u64 now_ns, bool delivered);
void quell_tail_timed(struct quell_flow *flow, u64 rtt_ns);

/* probe.c */
void quell_probe_init(struct quell_flow *flow, struct sock *sk);
void quell_probe_release(struct quell_flow *flow, struct sock *sk);
void quell_probe_note_report(struct quell_flow *flow);
void quell_probe_note_timeout(struct quell_flow *flow);
bool quell_probe_judge(struct quell_flow *flow, struct sock *sk, u64 now_ns);

#endif /* _QUELL_TAIL_H */

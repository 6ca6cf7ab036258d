/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The timer that finds lost tails: when it fires, tail.c, and what it does then, probe.c.
 *
 * Lifetime: the timer holds the socket, once when queued and once when it fires;
 * the flow is freed after a grace period, which ends after the softirq it fires in.
 * The socket's owner must be able to stop it, so nobody waits for an expiry that
 * waits for the socket lock:
 *
 *	fires		unless closed or queued anew it says that it runs, and
 *			only then waits for the socket lock
 *	start		where it runs, a time is left for it, and nothing queued
 *	its end		says that it no longer runs, starts the timer for the time
 *			left, and takes no lock from there on
 *	release		says closed; where one runs, that is all, for nothing is
 *			queued nor will be.  Else the timer is cancelled, and an
 *			expiry that is waited for has no lock to wait for
 *
 * This is under ->lock, inside the socket lock and with nothing inside.
 */
#ifndef _QUELL_TAIL_H
#define _QUELL_TAIL_H

#include <linux/hrtimer.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct quell_flow;
struct sock;

/* What is known of a flow's last probe. */
enum quell_probe {
	QUELL_PROBE_NONE,
	QUELL_PROBE_OPEN,
	QUELL_PROBE_ANSWERED,
};

/**
 * struct quell_tail - the timer that finds a lost tail
 * @timer:	fires when something outstanding may be due
 * @lock:	protects the next three, and starting @timer
 * @closed:	the flow is released
 * @running:	@timer has fired and waits for the socket lock, or has it
 * @again:	it is to be started for @at_ns when it has run
 * @sk:		the flow's socket
 * @at_ns:	when @timer fires, CLOCK_MONOTONIC, ns
 * @due_ns:	when what is outstanding is due; 0 never
 * @left_ns:	when the last segment sent has left the interface
 * @srtt_ns:	smoothed round-trip time; 0 none yet
 * @var_ns:	its mean deviation
 * @probe_ns:	when the last probe left
 * @wait_ns:	how long before that its segment had left, or the timeout
 * @verdict_ns:	when it is known that no DSACK comes for it
 * @probe_end:	sequence number after it
 * @dsacks:	tcp_sock.dsack_dups then
 * @tries:	probes since something was delivered
 * @patience:	doublings of the timeout for spurious probes
 * @probe:	enum quell_probe
 * @loss_reported: ->on_loss was called for the loss the last probe is about
 * @probes:	probes sent; read by dumps
 */
struct quell_tail {
	struct hrtimer		timer;
	spinlock_t		lock;	/* the next three, and starting @timer */
	bool			closed;
	bool			running;
	bool			again;
	struct sock		*sk;
	u64			at_ns;
	u64			due_ns;
	u64			left_ns;
	u64			srtt_ns;
	u64			var_ns;
	u64			probe_ns;
	u64			wait_ns;
	u64			verdict_ns;
	u32			probe_end;
	u32			dsacks;
	u8			tries;
	u8			patience;
	u8			probe;
	bool			loss_reported;
	u64			probes;
};

/* tail.c */
u64 quell_tail_timeout_ns(const struct quell_flow *flow);
void quell_tail_queue(struct quell_tail *tail, u64 at_ns);
void quell_tail_start(struct quell_tail *tail, u64 at_ns);
void quell_tail_wake(struct quell_tail *tail, u64 at_ns);
void quell_tail_put_off(struct quell_flow *flow, u64 now_ns);
void quell_tail_sent(struct quell_flow *flow, u64 left_ns);
void quell_tail_acked(struct quell_flow *flow, const struct sock *sk, u32 pkts);
void quell_tail_timed(struct quell_flow *flow, u64 rtt_ns);

/* probe.c */
void quell_probe_init(struct quell_flow *flow, struct sock *sk);
void quell_probe_release(struct quell_flow *flow, struct sock *sk);
void quell_probe_note_recovery(struct quell_flow *flow, bool timeout);
bool quell_probe_judge(struct quell_flow *flow, struct sock *sk, u64 now_ns);

#endif /* _QUELL_TAIL_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The timer that finds lost tails, tail.c, as the rest of quell.ko sees it.
 */
#ifndef _QUELL_TAIL_H
#define _QUELL_TAIL_H

#include <linux/hrtimer.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct quell_flow;
struct sock;

/* What is known of a flow's last probe; tail.c. */
enum quell_probe {
	QUELL_PROBE_NONE,
	QUELL_PROBE_OPEN,
	QUELL_PROBE_ANSWERED,
};

/**
 * struct quell_tail - the timer that finds a lost tail; tail.c
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
 * @heard:	the core was told of the loss the last probe is about
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
	bool			heard;
	u64			probes;
};

void quell_tail_init(struct quell_flow *flow, struct sock *sk);
void quell_tail_release(struct quell_flow *flow, struct sock *sk);
void quell_tail_sent(struct quell_flow *flow, u64 left_ns);
void quell_tail_heard(struct quell_flow *flow, bool timeout);
void quell_tail_answered(struct quell_flow *flow, struct sock *sk);
void quell_tail_acked(struct quell_flow *flow, const struct sock *sk, u32 pkts);
void quell_tail_timed(struct quell_flow *flow, u64 rtt_ns);

#endif /* _QUELL_TAIL_H */

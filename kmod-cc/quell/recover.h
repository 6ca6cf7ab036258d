/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Recovery of data that a switch trimmed, nack.c (segments) and recover.c (what
 * becomes of them), as the rest of quell.ko sees it.
 */
#ifndef _QUELL_RECOVER_H
#define _QUELL_RECOVER_H

#include <linux/spinlock.h>
#include <linux/types.h>

struct quell_echo;
struct quell_flow;
struct quell_nack;
struct sk_buff;
struct sock;

/* NACKs kept between their receipt and TCP's next look at an ACK; a power of two. */
#define QUELL_LOST_MAX	128

/**
 * struct quell_lost - data a NACK names
 * @seq:	first sequence number
 * @end_seq:	sequence number after the last
 * @echo_ns:	departure of the packet trimmed, ns modulo 2^32
 * @echoed:	that is known
 */
struct quell_lost {
	u32	seq;
	u32	end_seq;
	u32	echo_ns;
	bool	echoed;
};

/**
 * struct quell_recover - what was trimmed on a flow's way; nack.c, recover.c
 * @lock:	protects @lost to @nack_ns
 * @lost:	NACKs received
 * @head:	free-running index of the oldest
 * @tail:	free-running index of the next to write
 * @nack_ns:	when the next NACK would be sent at the rate allowed
 * @pkts:	segments marked lost since the last sample
 * @bytes:	their payload
 * @lost_pkts:	tcp_sock.lost at the last sample
 * @end_seq:	sequence number after the last data marked lost
 * @due:	some of that is not acknowledged
 * @others:	something else was lost since a recovery began
 * @unheard:	this recovery began with nothing else lost, of which the core knew, and
 *		was told of no loss
 * @trimmed_ns:	when the newest of the copies trimmed left; 0: none was
 * @told_ns:	when the core was told of a loss or timeout last
 * @trims:	trimmed packets received
 * @sent:	NACKs sent
 * @received:	NACKs received
 * @recovered:	NACKs whose data was marked lost
 *
 * @pkts to @told_ns belong to the holder of the socket lock, who also writes
 * @recovered; the receive hook writes the other counters.  Those that others read
 * are written with WRITE_ONCE().
 */
struct quell_recover {
	spinlock_t		lock;	/* see above */
	struct quell_lost	lost[QUELL_LOST_MAX];
	u32			head;
	u32			tail;
	u64			nack_ns;
	u32			pkts;
	u32			bytes;
	u32			lost_pkts;
	u32			end_seq;
	bool			due;
	bool			others;
	bool			unheard;
	u64			trimmed_ns;
	u64			told_ns;
	u64			trims;
	u64			sent;
	u64			received;
	u64			recovered;
};

/* What quell_nack_read() found in a segment. */
enum quell_nack_result {
	QUELL_NACK_ABSENT,
	QUELL_NACK_READ,
	QUELL_NACK_MALFORMED,
};

/* nack.c */
void quell_nack_answer(struct quell_flow *flow, struct sock *sk, const struct sk_buff *skb,
		       const struct quell_echo *echo);
enum quell_nack_result quell_nack_read(const struct sk_buff *skb, u32 ip_bytes,
				       struct quell_nack *nack);
bool quell_nack_pass(struct sk_buff *skb, u32 ip_bytes, const struct sock *sk);

/* recover.c */
void quell_recover_init(struct quell_flow *flow, const struct sock *sk);
bool quell_recover_note(struct quell_flow *flow, const struct sock *sk,
			const struct quell_lost *lost);
void quell_recover_apply(struct quell_flow *flow, struct sock *sk);
void quell_recover_is_certain(const struct quell_flow *flow, struct sock *sk);
bool quell_recover_explains(struct quell_flow *flow, const struct sock *sk);
bool quell_recover_is_news(const struct quell_flow *flow);
u32 quell_recover_take(struct quell_flow *flow, const struct sock *sk, u32 *others_pkts);

#endif /* _QUELL_RECOVER_H */

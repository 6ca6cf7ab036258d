/* SPDX-License-Identifier: GPL-2.0 */
/* Recovery of data that a switch trimmed: nack.c (NACK segments) and recover.c. */
#ifndef _QUELL_RECOVER_H
#define _QUELL_RECOVER_H

#include <linux/build_bug.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <net/tcp.h>

struct quell_echo;
struct quell_flow;
struct quell_nack;
struct sk_buff;
struct sock;

/* NACKs queued until TCP processes an ACK: initial and maximum ring size. */
#define QUELL_LOST_MIN	16
#define QUELL_LOST_MAX	128

/**
 * struct quell_lost - data that a NACK reports as trimmed
 * @seq:	first sequence number
 * @end_seq:	sequence number after the last
 * @echo_ns:	departure of the trimmed packet, ns modulo 2^32
 * @entropy:	path entropy of the trimmed packet
 */
struct quell_lost {
	u32	seq;
	u32	end_seq;
	u32	echo_ns;
	u8	entropy;
};

struct quell_lost_ring {
	u32			head;
	u32			size;
	struct quell_lost	lost[];
};

enum quell_recover_cause {
	QUELL_RECOVER_TRIMMED,		/* all of them were trimmed */
	QUELL_RECOVER_OTHER_LOSS,
};

/**
 * struct quell_recover - trimmed data of a flow and its recovery; nack.c, recover.c
 * @lock:        protects @waiting, @closed, @ring with its entries, and @nack_ns
 * @waiting:     NACKs in @ring
 * @closed:      the flow is released
 * @due:         some data below @end_seq is not acknowledged
 * @other_loss:  a segment that was not trimmed was lost since a recovery began
 * @loss_unreported: all lost segments of this recovery were trimmed, ->on_loss not called
 * @watched:     DSACKs may still show that all retransmissions since @again were spurious
 * @ring:        NACKs received; freed when all data that they name is acknowledged
 * @nack_ns:     earliest time of the next NACK by the rate limit
 * @pkts:        segments marked lost by a NACK since the last sample
 * @bytes:       payload of the segments in @pkts
 * @lost_pkts:   tcp_sock.lost at the last sample
 * @end_seq:     sequence number after the last data marked lost by a NACK
 * @trimmed_ns:  transmission time of the newest copy that was trimmed; 0: never
 * @reported_ns: time of the last call of ->on_loss or ->on_rto
 * @again:       tcp_sock.total_retrans when @due was last set
 * @dsacks:      tcp_sock.dsack_dups when @due was last set
 * @trims:       trimmed packets received
 * @sent:        NACKs sent
 * @received:    NACKs received
 * @recovered:   NACKs that marked data lost
 *
 * The socket lock protects @pkts to @dsacks and writes to @recovered; the receive hook
 * writes the other counters.  Those that dumps read are written with WRITE_ONCE().
 */
struct quell_recover {
	spinlock_t		lock;	/* see above */
	u8			waiting;
	bool			closed;
	bool			due : 1;
	bool			other_loss : 1;
	bool			loss_unreported : 1;
	bool			watched : 1;
	struct quell_lost_ring	*ring;
	u64			nack_ns;
	u32			pkts;
	u32			bytes;
	u32			lost_pkts;
	u32			end_seq;
	u64			trimmed_ns;
	u64			reported_ns;
	u32			again;
	u32			dsacks;
	u32			trims;
	u32			sent;
	u32			received;
	u32			recovered;
};

/* Where a lock is four bytes, it is 80. */
static_assert(sizeof(struct quell_recover) <= 80 + sizeof(spinlock_t));

enum quell_nack_result {
	QUELL_NACK_ABSENT,
	QUELL_NACK_READ,
	QUELL_NACK_MALFORMED,
};

/* nack.c */
void quell_nack_answer(struct quell_flow *flow, struct sock *sk, const struct sk_buff *skb,
		       const struct quell_echo *echo);
enum quell_nack_result quell_nack_read(struct sk_buff *skb, u32 ip_bytes,
				       struct quell_nack *nack);
bool quell_nack_holds(const struct sk_buff *skb, u32 ip_bytes, const struct sock *sk);
bool quell_nack_pass(struct sk_buff *skb, u32 ip_bytes, const struct sock *sk);

/* recover.c */
void quell_recover_init(struct quell_flow *flow, const struct sock *sk);
void quell_recover_release(struct quell_flow *flow);
bool quell_recover_note(struct quell_flow *flow, const struct sock *sk,
			const struct quell_lost *lost);
void quell_recover_apply(struct quell_flow *flow, struct sock *sk);
void quell_recover_forbid_undo(const struct quell_flow *flow, struct sock *sk);
enum quell_recover_cause quell_recover_classify(struct quell_flow *flow, const struct sock *sk);
u32 quell_recover_take(struct quell_flow *flow, struct sock *sk, u32 *others_pkts);

/*
 * Whether data sent after the last cut was trimmed.  Its loss shows that congestion persists, and
 * must be reported to the core: RFC 5681, 4.3, treats the loss of a retransmission as another
 * indication.  Context: socket lock.
 */
static inline bool quell_recover_is_news(const struct quell_recover *recover)
{
	return recover->trimmed_ns && recover->trimmed_ns >= recover->reported_ns;
}

#endif /* _QUELL_RECOVER_H */

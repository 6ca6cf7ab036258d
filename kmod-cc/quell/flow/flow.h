/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The context of a socket: struct quell_flow and its parts.  Lock order and ownership of fields:
 * Documentation/locking.md.
 */
#ifndef _QUELL_FLOW_H
#define _QUELL_FLOW_H

#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/hrtimer.h>
#include <linux/if_arp.h>
#include <linux/in6.h>
#include <linux/netdevice.h>
#include <linux/rhashtable-types.h>
#include <linux/spinlock.h>
#include <net/tcp.h>
#include <quell/core/signal/reps.h>
#include <quell/quell.h>
#include <quell/tcp_int.h>
#include <quell/telemetry.h>
#include "netns/net.h"

struct quell_dasr;
struct quell_flow;

/* A short array of equal elements. */
struct quell_list {
	void	*at;	/* in the flow or on the heap */
	u16	nr;	/* elements */
	u16	room;	/* elements that fit at @at */
	bool	heap;	/* @at is on the heap */
};

void *quell_sock_alloc(const struct sock *sk, size_t bytes);
void *quell_sock_zalloc(const struct sock *sk, struct kmem_cache *cache);
void quell_list_init(struct quell_list *list, void *few, u32 room);

/*
 * Arrivals kept from a packet's receipt until TCP processes it: embedded in the flow, and
 * the maximum.  There is more than one only while a process owns the socket.
 */
#define QUELL_ACK_RX_FEW	1
#define QUELL_ACK_RX_MAX	64

/*
 * Data packets kept between their receipt and their ACK.  There is more than one
 * only while a process owns the socket.
 */
#define QUELL_ECHOES_FEW	1
#define QUELL_ECHOES_MAX	64

/* Receipt of a segment that carried an ACK. */
struct quell_ack_rx {
	u64	rx_ns;	/* CLOCK_MONOTONIC */
	u32	ack_seq;
	u32	echo_ns;	/* departure that the segment echoed, modulo 2^32 */
	u32	hold_ns;	/* of the echo by the other host; 0: not stated */
	bool	has_echo;	/* @echo_ns and @hold_ns are set */
	bool	hardware;	/* @rx_ns is a NIC's stamp, mapped to CLOCK_MONOTONIC */
	bool	has_entropy;	/* the ACK echoed a path entropy */
	u8	record[QUELL_TELEMETRY_BYTES];	/* empty if it carried no record */
};

/* A data packet, the departure of which is to be echoed. */
struct quell_echo {
	u64	rx_ns;	/* CLOCK_MONOTONIC */
	u32	seq;
	u32	end_seq;
	u32	depart_ns;	/* as its sender stamped it, modulo 2^32 */
	u8	entropy;
	bool	marked;	/* CE */
	bool	hardware;	/* @rx_ns is a NIC's stamp, mapped to CLOCK_MONOTONIC */
	u8	record[QUELL_TELEMETRY_BYTES];	/* empty if it carried no record */
};

void quell_ack_rx_add(struct quell_flow *flow, const struct sock *sk,
		      struct quell_ack_rx *ack_rx);
bool quell_ack_rx_take(struct quell_flow *flow, u32 una, struct quell_ack_rx *ack_rx);

struct quell_echo *quell_echo_open(struct quell_flow *flow, const struct sock *sk);
bool quell_echo_take(struct quell_flow *flow, const struct tcp_sock *tp,
		     struct quell_echo *echo);

/* Whether a record was never written to. */
static inline bool quell_telemetry_is_empty(const u8 *record)
{
	return !record[QUELL_TELEMETRY_HOP_AT];
}

/* Keep the record of a packet that a newer one without a record replaces.  Lock of the flow. */
static inline void quell_telemetry_keep(u8 *newer, const u8 *older)
{
	if (quell_telemetry_is_empty(newer) && !quell_telemetry_is_empty(older))
		memcpy(newer, older, QUELL_TELEMETRY_BYTES);
}

/* Segments in flight that the flow records without an allocation. */
#define QUELL_SEGMENTS_FEW	1

/* A segment in flight; a TSO burst is one segment. */
struct quell_segment {
	u64	depart_ns;	/* of the first bit, CLOCK_MONOTONIC */
	u32	seq;
	u32	end_seq;
	u32	stamp_ns;	/* TCP's, of the first transmission, modulo 2^32 */
	/* Newest retransmission, modulo 2^32; valid if @retransmitted. */
	u32	resent_depart_ns;
	u16	depart_q16;	/* fraction of a ns to add to @depart_ns */
	u16	header_bytes;	/* on the wire beside the payload, per packet */
	u16	packet_bytes;	/* payload of one packet of the burst */
	u8	entropy;	/* 0: not sprayed */
	bool	queued : 1;	/* behind earlier segments of the same flow */
	bool	retransmitted : 1;	/* in part or whole: gives no sample (Karn) */
};

/* Segments not yet acknowledged, by sequence. */
struct quell_segments {
	struct quell_segment	*ring;	/* flow->segment_few, or heap while there are more */
	u32			size;	/* of @ring, a power of two */
	u32			head;	/* free-running index of the oldest entry */
	u32			tail;	/* free-running index of the next entry */
	/* Size to try for the next ring on the heap; halved when one is freed. */
	u32			grown;
};

/* The interface a flow is sent by. */
struct quell_link {
	u64	bytes_ps;	/* 0: unknown */
	u64	ns_q32;	/* per byte, rounded down; 0: unknown */
	u64	free_ns;	/* when the flow's newest segment has been sent */
	u32	free_q32;	/* fraction of a ns to add to @free_ns */
	int	ifindex;	/* 0: not known yet */
	int	gen;	/* quell_net.links_gen at the last update */
};

/* Ethernet on the wire beside the header: preamble and start 8, FCS 4, gap 12. */
#define QUELL_ETHER_FRAMING_BYTES	24

/* Bytes on the wire per packet beside the network header and all behind it. */
static inline u32 quell_framing_bytes(const struct net_device *dev)
{
	return dev->hard_header_len +
	       (dev->type == ARPHRD_ETHER ? QUELL_ETHER_FRAMING_BYTES : 0);
}

void quell_segments_init(struct quell_flow *flow);
bool quell_segments_make_room(struct quell_flow *flow, const struct sock *sk, u32 seq);
u32 quell_segments_mark(struct quell_segments *segments, u32 seq, u32 end_seq,
			u32 resent_depart_ns);
u32 quell_segments_search(const struct quell_segments *segments, u32 seq);
bool quell_segments_newest(struct quell_flow *flow, struct quell_segment *newest);
void quell_segments_settle(struct quell_flow *flow);
u64 quell_segment_tx_end_ns(const struct quell_segment *segment, u32 seq, u64 ns_q32);

static inline struct quell_segment *quell_segment_at(const struct quell_segments *segments,
						     u32 index)
{
	return &segments->ring[index & (segments->size - 1)];
}

/* The entry with seq < @seq <= end_seq, mostly the oldest, or NULL.  Lock of the flow. */
static inline const struct quell_segment *
quell_segments_find(const struct quell_segments *segments, u32 seq)
{
	const struct quell_segment *segment;
	u32 i = segments->head;

	if (i == segments->tail ||
	    before(quell_segment_at(segments, segments->tail - 1)->end_seq, seq))
		return NULL;
	if (before(quell_segment_at(segments, i)->end_seq, seq))
		i = quell_segments_search(segments, seq - 1);
	segment = quell_segment_at(segments, i);
	return before(segment->seq, seq) ? segment : NULL;
}

/* Sequence number after the first packet of a burst. */
static inline u32 quell_segment_first_end(const struct quell_segment *segment)
{
	u32 bytes = segment->end_seq - segment->seq;

	return segment->seq + min_t(u32, bytes, max_t(u32, segment->packet_bytes, 1));
}

/* Why a flow does not send more; names in quell_limit_names[]. */
enum quell_limit {
	QUELL_LIMIT_NONE,
	QUELL_LIMIT_WINDOW,
	QUELL_LIMIT_PACING,
	QUELL_LIMIT_APP,
	QUELL_LIMIT_RECEIVER,
};

/* Whether a connection uses the option, and if not, why; quell_option_name(). */
enum quell_option_state {
	QUELL_OPTION_NOT_OFFERED,
	QUELL_OPTION_ON,
	QUELL_OPTION_NO_REPLY,
	QUELL_OPTION_NO_ROOM,
	QUELL_OPTION_STRIPPED,
};

/*
 * The last reduction of a flow's window: signal, time and round-trip time, in one word so that
 * readers see all three of one cut.  Signals; names in quell_reduction_names[].
 */
enum quell_reduction {
	QUELL_REDUCTION_NEVER,	/* the window was never reduced */
	QUELL_REDUCTION_DELAY,
	QUELL_REDUCTION_MARK,
	QUELL_REDUCTION_RECORD,
	QUELL_REDUCTION_TRIM,
	QUELL_REDUCTION_SHARE,	/* n, the number of senders that the receiver states */
	QUELL_REDUCTION_LOSS,
	QUELL_REDUCTION_TAIL,	/* a loss that a tail probe repaired */
	QUELL_REDUCTION_TIMEOUT,
	QUELL_REDUCTION_IDLE,
	QUELL_REDUCTION_FIT,	/* the search, or CUBIC, on an acknowledgment */
	QUELL_REDUCTION_OTHER,	/* without the algorithm's signal, on an acknowledgment */
};

/* From the lowest bit: signal; round-trip time, 64 ns; time, 4096 ns, modulo 13 days. */
#define QUELL_REDUCTION_CAUSE_BITS	4
#define QUELL_REDUCTION_RTT_BITS	22
#define QUELL_REDUCTION_RTT_SHIFT	6
#define QUELL_REDUCTION_TIME_BITS	38
#define QUELL_REDUCTION_TIME_SHIFT	12

/*
 * How soon the program of this end replies.  The hooks write this without a common lock, with
 * WRITE_ONCE(): the values are hints.  A delayed ACK is sent at quell_tail.ack_ns.
 */
struct quell_delack {
	/* Oldest request without a reply, modulo 2^32; valid if @has_request. */
	u32	request_rx_ns;
	/* After the newest data to be acknowledged at once; valid if @expedited. */
	u32	expedite_seq;
	bool	has_request;
	bool	expedited;	/* no packet was sent since */
	u8	prompt;	/* replies in a row that came soon enough, limited */
	u8	turn;	/* requests with an ACK that could have waited */
};

/*
 * Path entropies of a flow, with its @entropies and @flow_label; signal.c.  The lock of the flow
 * protects all fields; those that dumps read without it are written with WRITE_ONCE().
 */
struct quell_path {
	struct quell_reps	*reps;	/* NULL until the first segment is sprayed */
	/* Segments, by enum quell_reps_source. */
	u64			used[QUELL_REPS_FROZEN + 1];
	u64			kept;	/* echoes of unmarked packets */
	u64			marked;	/* echoes of marked packets */
};

/* Parameter "tcp-int" of the signal plane. */
#define QUELL_TCPINT_OFF	0U
#define QUELL_TCPINT_SEND	1U
#define QUELL_TCPINT_USE	2U

/*
 * TCP-INT state of a flow, with its @tcp_int_mode.  The socket lock protects @link.  The receive
 * hook writes the other fields; LOCAL_OUT consumes @due, the holder of the socket lock @echoed.
 */
struct quell_tcpint {
	struct quell_tcp_int_link	link;	/* makes echoes into telemetry records */
	u32				due;	/* echo for the next segment, packed; 0: no echo */
	u32				echoed;	/* newest, for the next sample; 0: already used */
	u32				newest;	/* for display */
};

/* State of a flow's last probe. */
enum quell_probe {
	QUELL_PROBE_NONE,
	QUELL_PROBE_SENT,
	QUELL_PROBE_ACKED,
};

/*
 * The timer that detects tail loss and sends delayed ACKs.  The lock of the flow protects @timer,
 * @fires_ns, @ack_ns, @ack_seq, @delack_pending and @tx_end_ns, the socket lock the other fields.
 * Segments and ACKs use the fields before @timer, which is another line; they compare with
 * @fires_ns and rarely start it.
 */
struct quell_tail {
	/* Expiry of @timer; 0: not started since its handler began. */
	u64			fires_ns;
	/* 0: no probe; written with both locks, as words may have 32 bits. */
	u64			timeout_ns;
	u64			since_ns;	/* last ACK of data, or probe that was not sent */
	u64			tx_end_ns;	/* end of the last segment on the link */
	u64			srtt_ns;	/* 0: not known yet */
	u64			var_ns;
	/* When a delayed ACK is due, modulo 2^32; valid if @delack_pending. */
	u32			ack_ns;
	u32			ack_seq;	/* after the data that it is for */
	/* Until the ACK is sent with data or the timer has fired. */
	bool			delack_pending;
	u8			tries;	/* probes since data was last delivered */
	u8			patience;	/* doublings of the timeout for spurious probes */
	u8			probe;	/* enum quell_probe; WRITE_ONCE(), for LOCAL_OUT */
	/* ->on_loss was called for the loss of the last probe. */
	bool			loss_reported;
	/* Without a probe due, limited; WRITE_ONCE(), for LOCAL_OUT. */
	u8			idle_expiries;
	/* Expiries in a row with the socket owned by a process, limited. */
	u8			busy;
	/* The timer fired late, and that was not handled yet; of its handler alone. */
	bool			late;
	struct hrtimer		timer;
	u32			probes;	/* for dumps */
	u32			probe_end;	/* after the last probe */
	u32			dsacks;	/* tcp_sock.dsack_dups at the last probe */
	u32			late_seq;	/* snd_una when a late timer last had an effect */
	union {
		u64	wait_ns;	/* PROBE_SENT: age of its segment, at least the timeout */
		u64	verdict_ns;	/* PROBE_ACKED: needed unless a DSACK comes before */
	};
};

/* NACKs queued until TCP processes an ACK: first and last size of the array. */
#define QUELL_LOST_MIN	16
#define QUELL_LOST_MAX	128

/* Data that a NACK reports as trimmed. */
struct quell_lost {
	u32	seq;
	u32	end_seq;
	u32	echo_ns;	/* departure of the packet, modulo 2^32 */
	u8	entropy;
};

/*
 * Trimmed data of a flow and its recovery; nack.c, recover.c.  The lock of the flow protects
 * @waiting, @room, @lost and @nack_ns; the socket lock @due to @watched, @pkts to @trimmed_ns,
 * @reported_ns to @dsacks and writes to @recovered; the receive hook writes the other counters.
 * Those that dumps read are written with WRITE_ONCE().
 */
struct quell_recover {
	u8			waiting;	/* NACKs in @lost */
	u8			room;	/* of @lost */
	bool			due : 1;	/* some data below @end_seq is not acknowledged */
	/* A segment that was not trimmed was lost since a recovery began. */
	bool			other_loss : 1;
	/* All lost segments were trimmed, ->on_loss not called. */
	bool			loss_unreported : 1;
	/* A retransmission of this recovery was lost. */
	bool			lost_again : 1;
	/* DSACKs may yet show all retransmissions since @again spurious. */
	bool			watched : 1;
	struct quell_lost	*lost;	/* NULL without NACKs */
	u32			pkts;	/* marked lost by a NACK since the last sample */
	u32			bytes;	/* payload of @pkts */
	u32			lost_pkts;	/* tcp_sock.lost at the last sample */
	u32			end_seq;	/* after the last data marked lost by a NACK */
	/* Transmission of the newest copy that was trimmed; 0: never. */
	u64			trimmed_ns;
	/* The fields above are read for each ACK, those below for losses. */
	u64			nack_ns;	/* earliest next NACK by the rate limit */
	u64			reported_ns;	/* last call of ->on_loss or ->on_rto */
	u32			again;	/* tcp_sock.total_retrans when @due was last set */
	u32			dsacks;	/* tcp_sock.dsack_dups when @due was last set */
	u32			trims;	/* trimmed packets received */
	u32			sent;	/* NACKs */
	u32			received;	/* NACKs */
	u32			recovered;	/* NACKs that marked data lost */
};

static_assert(sizeof(struct quell_recover) <= 80);

/*
 * Context of one Quell socket.  Its fields are in the order of their use, so that a packet touches
 * few cache lines; cc.c asserts where these begin.
 *
 *	line 0		each packet, in and out
 *	line 1		the same, and losses that an ACK may show
 *	2, 3		losses; fitting to the path, for an ACK with parameter "adapt"
 *	line 4		each ACK: the decision
 *	5		governors, marks and counters, for dumps
 *	line 6		each segment of data sent, and its ACK: the link
 *	line 7		the same: the segments in flight, and the window
 *	line 8		each ACK with the option, or of a process that owns the socket
 *	line 9		data received with the option, and its ACK
 *	line 10		each segment of data sent, and its ACK: the tail timer
 *	11 to 15	the timer itself; a lone segment, records, losses, dumps, the flow's end
 *
 * @node to @algo, @sport and @dport, @dasr, @family, @id, @saddr and @daddr are constant once the
 * flow is in the hash.  @lock protects @closed, @ack_requested_seq, @stamp_secret, @entropies,
 * @link to @ack_rx_list, @ack_rx_few, @echo, @echo_few, @segment_few, @flow_label and @path.
 * @link is read with READ_ONCE() without it, and @delack is written without it.  The socket lock
 * protects @peer_delays, @tcp_int_mode, @fallback_reported, @adapt, @now and @round_seq to
 * @inflight_bytes.  Fields for dumps are written with WRITE_ONCE() by the holder of the socket
 * lock (@retransmits, @overruns and @option: of @lock), or by the receive hook where noted, and
 * read with READ_ONCE() in any RCU read section.
 */
struct quell_flow {
	struct rhash_head	node;	/* in quell_flows, by @sk */
	/*
	 * Without the socket lock only its address, its cookie and, in an RCU read section, which
	 * keeps its memory that of a TCP socket, rtt_min may be used: as quell_tail_ack_delay_ns().
	 */
	const struct sock	*sk;
	struct quell_net	*qnet;
	const struct quell_algo	*algo;
	spinlock_t		lock;	/* see above */
	bool			closed;	/* no entry may be added */
	u8			option;	/* enum quell_option_state */
	u8			hops;	/* switches on the path; receive hook */
	bool			peer_delays;	/* all ACKs: it is without Quell, or says so */
	u16			sport;	/* host order */
	u16			dport;	/* host order */
	u32			data_ack_seq;	/* of the newest data received; receive hook */
	struct quell_delack	delack;
	/* After the newest data that requested an ACK. */
	u32			ack_requested_seq;

	struct quell_dasr	*dasr;	/* NULL without QUELL_CORE_SENDERS; constant */
	u32			stamp_secret;	/* added to departures on the wire */
	u32			entropies;	/* 0: this flow is not sprayed */
	/* Packets in a row without the option despite room; receive hook. */
	u16			option_missed;
	u8			tcp_int_mode;	/* QUELL_TCPINT_*, written with WRITE_ONCE() */
	bool			option_seen;	/* from the peer; receive hook */
	/* Why CUBIC governs, as reported last; 0: not. */
	u8			fallback_reported;
	u8			family;
	/* icsk_ext_hdr_len last set, option's room included. */
	u16			ext_hdr_bytes;
	struct quell_recover	recover;

	struct quell_adapt	adapt;
	struct quell_snapshot	now;
	u32			karn;	/* RTT samples discarded because of a retransmission */
	/* Segments not recorded because the ring was full. */
	u32			overruns;
	u64			reduction;	/* the last, see quell_reduction_pack(); 0 never */

	struct quell_link	link;
	u64			depart_ns;	/* newest departure of a segment, CLOCK_MONOTONIC */
	/* TCP's stamp of the newest retransmission, modulo 2^32. */
	u32			resent_ns;
	u32			resent_seq;	/* of the newest retransmission */
	/* Newest departure of a retransmission, modulo 2^32. */
	u32			resent_depart_ns;
	u32			ack_rx_lost;	/* receipts overwritten before TCP saw them */

	struct quell_segments	segments;
	/* struct quell_ack_rx, newest receipts, oldest first. */
	struct quell_list	ack_rx_list;
	/* The round trip ends when more than this is acknowledged. */
	u32			round_seq;
	/* For the windows of this round trip, apply_cwnd_pkts(). */
	u32			carry_bytes;
	u32			rest_bytes;	/* of its first window beyond whole segments */
	/* Payload per segment given up for options. */
	u32			option_room_bytes;
	u32			mss_bytes;
	u32			inflight_bytes;	/* before the last ACK */

	/* Of @ack_rx_list while it is short. */
	struct quell_ack_rx	ack_rx_few[QUELL_ACK_RX_FEW];
	u64			echoes;	/* RTTs taken from echoes */
	u64			records;	/* telemetry records taken */
	u64			retransmits;

	/* struct quell_echo, data packets to be echoed, oldest first. */
	struct quell_list	echo;
	struct quell_echo	echo_few[QUELL_ECHOES_FEW];	/* of @echo while it is short */
	/* Own flow label, host order; 0 before the first sprayed segment. */
	u32			flow_label;
	u32			id;	/* in quell_net.flows */

	struct quell_tail	tail;
	/* Of @segments while it is short; the timer is as long as the kernel makes it. */
	struct quell_segment	segment_few[QUELL_SEGMENTS_FEW];
	struct quell_telemetry	telemetry;	/* its fields may be of different records */
	struct quell_path	path;
	struct quell_tcpint	tcp_int;
	union {
		/* To restore if the newest losses prove spurious; socket lock. */
		struct quell_undo	undo;
		struct rcu_head		rcu;	/* @undo is not used any more */
	};
	struct in6_addr		saddr;
	struct in6_addr		daddr;
};

/* Whether the public TCP-INT option may be in a flow's packets. */
static inline bool quell_tcpint_is_on(const struct quell_flow *flow)
{
	return READ_ONCE(flow->tcp_int_mode) != QUELL_TCPINT_OFF;
}

/* Whether the segments of a flow are sprayed over paths. */
static inline bool quell_path_is_sprayed(const struct quell_flow *flow)
{
	return READ_ONCE(flow->entropies);
}

/* Whether a flow is fitted to its path: its algorithm need not govern its window. */
static inline bool quell_adapt_is_on(const struct quell_flow *flow)
{
	return flow && flow->adapt.phase != QUELL_ADAPT_OFF;
}

/* Whether CUBIC or the search governs.  Socket lock; @flow may be NULL. */
static inline bool quell_adapt_governs(const struct quell_flow *flow)
{
	return flow && !quell_adapt_is_fit(&flow->adapt);
}

/* Entry for new data, to be set in full; NULL: no room.  Lock of @flow. */
static inline struct quell_segment *quell_segments_open(struct quell_flow *flow,
							const struct sock *sk, u32 seq)
{
	struct quell_segments *segments = &flow->segments;

	if ((segments->tail - segments->head == segments->size ||
	     (segments->tail != segments->head &&
	      after(quell_segment_at(segments, segments->tail - 1)->end_seq, seq))) &&
	    !quell_segments_make_room(flow, sk, seq))
		return NULL;
	return quell_segment_at(segments, segments->tail++);
}

/* Whether trimming is a signal to the algorithm; CUBIC and the search take it for a loss. */
static inline bool quell_flow_has_trim_signal(const struct quell_flow *flow)
{
	return quell_algo_has(flow->algo, QUELL_CORE_TRIMS) && !quell_adapt_governs(flow);
}

/* flow.c */
int quell_flow_publish(struct quell_flow *flow);
void quell_flow_withdraw(struct quell_flow *flow);
struct quell_flow *quell_flow_find(const struct sock *sk);
extern struct kmem_cache *quell_flow_cache;
int quell_flows_init(void);
void quell_flows_exit(void);
const char *quell_option_name(enum quell_option_state state);
int quell_put_flow_identity(struct sk_buff *skb, const struct quell_flow *flow);
void quell_notify_option(const struct quell_flow *flow, enum quell_option_state state);
void quell_notify_adapt(const struct quell_flow *flow, const char *phase, const char *reason);

#endif /* _QUELL_FLOW_H */

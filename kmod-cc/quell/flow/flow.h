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
#include <linux/in6.h>
#include <linux/rhashtable-types.h>
#include <linux/spinlock.h>
#include <net/tcp.h>
#include <quell/core/signal/reps.h>
#include <quell/quell.h>
#include <quell/tcp_int.h>
#include <quell/telemetry.h>
#include "flow/rx.h"
#include "flow/segments.h"
#include "netns/net.h"

struct quell_dasr;
struct sk_buff;
struct sock;

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

/**
 * struct quell_delack - how soon the program of this end answers
 * @request_rx_ns:	 receipt of the oldest request without an answer, ns modulo 2^32; valid if
 *			 @has_request
 * @expedite_seq:	 sequence number after the newest data that is to be acknowledged at once;
 *		 valid if @expedited
 * @has_request:	 a request came in that was not answered yet
 * @expedited:	 no packet left since
 * @prompt:	 answers in a row that came soon enough, up to the number that is needed
 * @turn:	 requests with an ACK that could have waited
 *
 * The hooks write this without a common lock, with WRITE_ONCE(): the values are hints.
 * An ACK that no answer takes along leaves when the flow's timer finds it, quell_tail.ack_ns.
 */
struct quell_delack {
	u32	request_rx_ns;
	u32	expedite_seq;
	bool	has_request;
	bool	expedited;
	u8	prompt;
	u8	turn;
};

/**
 * struct quell_path - path entropies of a flow; path.c
 * @reps:      REPS state; NULL until the first segment is sprayed
 * @label:     the flow's own flow label, host order; 0 before the first sprayed segment
 * @entropies: number of path entropies; 0: this flow is not sprayed
 * @used:      segments sent, by enum quell_reps_source of their entropy
 * @kept:      echoes of unmarked packets; their entropy may be used again
 * @marked:    echoes of marked packets
 *
 * The lock of the flow protects all fields.  Those that dumps read without it are written
 * with WRITE_ONCE().
 */
struct quell_path {
	struct quell_reps	*reps;
	u32			label;
	u32			entropies;
	u64			used[QUELL_REPS_FROZEN + 1];
	u64			kept;
	u64			marked;
};

/* Parameter "tcp-int" of the signal plane. */
#define QUELL_TCPINT_OFF	0U
#define QUELL_TCPINT_SEND	1U
#define QUELL_TCPINT_USE	2U

/**
 * struct quell_tcpint - TCP-INT state of a flow
 * @mode:   QUELL_TCPINT_*
 * @due:    echo for the next segment, quell_tcp_int_pack(); 0: no echo
 * @echoed: newest echo received, for the next sample; 0: already used
 * @newest: newest echo received, for display
 * @link:   state from which echoes are made into telemetry records
 *
 * The socket lock protects @mode, written with WRITE_ONCE(), and @link.  The receive hook writes
 * the other fields; LOCAL_OUT consumes @due, the holder of the socket lock @echoed.
 */
struct quell_tcpint {
	u32				mode;
	u32				due;
	u32				echoed;
	u32				newest;
	struct quell_tcp_int_link	link;
};

/* State of a flow's last probe. */
enum quell_probe {
	QUELL_PROBE_NONE,
	QUELL_PROBE_SENT,
	QUELL_PROBE_ACKED,
};

/**
 * struct quell_tail - the timer that detects tail loss
 * @timer:	fires when a probe may be due
 * @ack_ns:	when the ACK must leave that may wait for an answer, modulo 2^32; valid if
 *		@delack_pending
 * @ack_seq:	sequence number after the data that it is for
 * @probes:	probes sent; read by dumps
 * @delack_pending:	an ACK may wait, until it leaves with data or the timer has looked
 * @tries:	probes since data was last delivered
 * @patience:	doublings of the timeout for spurious probes
 * @probe:	enum quell_probe; written with WRITE_ONCE(), for LOCAL_OUT
 * @loss_reported: ->on_loss was called for the loss the last probe is about
 * @idle_expiries:	expiries since something was lost before which no probe was due, up to a
 *		number; written with WRITE_ONCE(), for LOCAL_OUT
 * @busy:	expiries in a row that found the socket owned by a process, up to a number;
 *		only expiries use it
 * @timeout_ns:	time without an acknowledgment before a probe; 0: no probe; written with both
 *		locks, as words may have 32 bits
 * @since_ns:	when data was last acknowledged, or a probe could not be sent,
 *		CLOCK_MONOTONIC, ns
 * @tx_end_ns:	when the last segment sent has left the interface
 * @srtt_ns:	smoothed round-trip time; 0: not known yet
 * @var_ns:	mean deviation of the round-trip time
 * @probe_ns:	when the last probe left
 * @wait_ns:	age of the last probe's segment when it was sent again, at least the timeout
 * @verdict_ns:	a probe that was acknowledged counts as needed if no DSACK comes before
 * @probe_end:	sequence number after the last probe
 * @dsacks:	tcp_sock.dsack_dups when the last probe left
 *
 * The lock of the flow protects @timer, @ack_ns, @ack_seq, @delack_pending and @tx_end_ns, the
 * socket lock the other fields.
 */
struct quell_tail {
	struct hrtimer		timer;
	u64			timeout_ns;
	u64			since_ns;
	u64			tx_end_ns;
	u64			srtt_ns;
	u64			var_ns;
	u32			ack_ns;
	u32			ack_seq;
	bool			delack_pending;
	u8			tries;
	u8			patience;
	u8			probe;
	bool			loss_reported;
	u8			idle_expiries;
	u8			busy;
	u32			probes;
	u32			probe_end;
	u32			dsacks;
	u64			probe_ns;
	union {
		u64		wait_ns;	/* QUELL_PROBE_SENT */
		u64		verdict_ns;	/* QUELL_PROBE_ACKED */
	};
};

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

/**
 * struct quell_flow - context of one Quell socket
 * @node:		in quell_flows, by @sk
 * @sk:			the socket; without the socket lock only its address and its
 *			cookie may be used
 * @qnet:		namespace of the socket
 * @algo:		algorithm of the socket
 * @lock:		protects @closed to @segments, and @path
 * @closed:		the socket has released the flow: no entry may be added to it
 * @peer_delays:	the peer delays all ACKs: it is without Quell, or says
 *			so; only the holder of the socket lock uses it
 * @fallback_reported:	why CUBIC governs, as reported last, if there was a listener; 0: not; only
 *			the holder of the socket lock uses it
 * @resent_ns:		TCP's stamp of the newest retransmission, ns modulo 2^32
 * @resent_seq:		first sequence number of the newest retransmission
 * @stamp_secret:	added to departures on the wire; constant
 * @depart_ns:		newest departure of a segment, CLOCK_MONOTONIC, ns
 * @link:		interface the flow leaves by
 * @ack_rx_list:	newest receipts, oldest first: struct quell_ack_rx
 * @echo:		newest data packets to be echoed, oldest first: struct quell_echo
 * @ack_rx_lost:	receipts overwritten before TCP saw them
 * @segments:		segments sent
 * @delack:		whether ACKs wait for the program's answers; see struct quell_delack
 * @ack_requested_seq:	sequence number after the newest data that asked for an ACK
 * @round_seq:		the round trip ends when more than this is acknowledged
 * @carry_bytes:	added to the windows of this round trip, see apply_cwnd_pkts()
 * @rest_bytes:		remainder, beyond whole segments, of this round trip's first window
 * @option_room_bytes:	payload bytes per segment given up to make room for options
 * @ext_hdr_bytes:	icsk_ext_hdr_len as last set, @option_room_bytes included
 * @adapt:		whether CUBIC, the search or the algorithm governs the window;
 *			socket lock
 * @path:		path entropies of the flow's segments
 * @tail:		timer that detects tail loss; see struct quell_tail
 * @dasr:		its part in the sets of active senders; NULL if its algorithm has
 *			none; constant
 * @now:		the flow's last decision and round-trip times
 * @reduction:		reason of the last window reduction, see quell_reduction_pack(); 0 never
 * @retransmits:	segments retransmitted
 * @karn:		RTT samples discarded because of a retransmission
 * @overruns:		segments not recorded because the ring was full
 * @data_ack_seq:	acknowledgment number of the newest data received; written by the
 *			receive hook
 * @mss_bytes:		maximum segment size
 * @limit:		enum quell_limit
 * @hops:		switches on the path; written by the receive hook
 * @option:		enum quell_option_state
 * @option_seen:	the peer has sent the option; written by the receive hook
 * @inflight_bytes:	bytes in flight before the last ACK
 * @echoes:		round-trip times taken from echoes
 * @records:		telemetry records taken
 * @telemetry:		newest telemetry record; its fields may be of different records
 * @recover:		recovery of trimmed segments, see struct quell_recover
 * @tcp_int:		the public TCP-INT option, see struct quell_tcpint
 * @undo:		cuts for the newest episode of losses, to restore if these prove
 *			spurious; socket lock
 * @rcu:		for freeing after the last reader; the socket lock no longer uses @undo then
 * @id:			number in quell_net.flows
 * @family:		AF_INET or AF_INET6
 * @sport:		local port, host order
 * @dport:		remote port, host order
 * @option_missed:	packets in a row with room for the option but without it, limited;
 *			written by the receive hook
 * @saddr:		local address
 * @daddr:		remote address
 * @resent_depart_ns:	newest departure of a retransmission, CLOCK_MONOTONIC, ns modulo 2^32
 * @ack_rx_few:		room of @ack_rx_list while it is short
 * @echo_few:		room of @echo while it is short
 *
 * The first three cache lines are those of each packet in and out, the fourth has the timer that
 * segments set; each ACK uses up to @path and the first of @recover.  @node to @algo, @sport and
 * @dport, and @id to @daddr are constant once the flow is in the hash.
 * The holder of @lock owns @closed, @ack_requested_seq to @segments, @ack_rx_list, @echo,
 * @ack_rx_few and
 * @echo_few (@link is read with READ_ONCE() without it, and @delack is written without it); the
 * holder of the socket lock owns @peer_delays, @fallback_reported and @round_seq to @adapt.
 * @mss_bytes and @now to @telemetry are written with WRITE_ONCE() by the holder of the socket
 * lock (@retransmits, @overruns and @option: of @lock), or by the receive hook where noted,
 * and read with READ_ONCE() in any RCU read section.
 */
struct quell_flow {
	/* Each packet, in and out. */
	struct rhash_head	node;
	const struct sock	*sk;
	struct quell_net	*qnet;
	const struct quell_algo	*algo;
	spinlock_t		lock;	/* see above */
	bool			closed;
	u8			option;
	u8			hops;
	bool			peer_delays;
	u16			sport;
	u16			dport;
	u32			data_ack_seq;
	struct quell_delack	delack;

	/* Each segment of data sent, and its ACK. */
	u32			ack_requested_seq;
	struct quell_link	link;
	u64			depart_ns;
	u32			resent_ns;
	u32			resent_seq;
	u32			resent_depart_ns;
	u32			stamp_secret;
	struct quell_dasr	*dasr;
	struct quell_segments	segments;
	struct quell_tail	tail;

	/* Each ACK: the window and the snapshot for observers. */
	u32			round_seq;
	u32			carry_bytes;
	u32			rest_bytes;
	u32			option_room_bytes;
	u32			mss_bytes;
	u32			inflight_bytes;
	struct quell_snapshot	now;
	struct quell_adapt	adapt;
	u64			reduction;
	u8			limit;
	u8			fallback_reported;
	bool			option_seen;
	struct quell_path	path;
	struct quell_tcpint	tcp_int;
	struct quell_recover	recover;

	/* With the option, or a process that owns the socket. */
	struct quell_list	ack_rx_list;
	struct quell_list	echo;
	struct quell_ack_rx	ack_rx_few[QUELL_ACK_RX_FEW];
	struct quell_echo	echo_few[QUELL_ECHOES_FEW];
	u64			echoes;
	u64			records;
	struct quell_telemetry	telemetry;
	u32			ack_rx_lost;
	u16			option_missed;

	/* Losses, dumps and the flow's end. */
	u16			family;
	u64			retransmits;
	u32			karn;
	u32			overruns;
	union {
		struct quell_undo	undo;
		struct rcu_head		rcu;
	};
	u32			ext_hdr_bytes;
	u32			id;
	struct in6_addr		saddr;
	struct in6_addr		daddr;
};

/* Whether the public TCP-INT option may be in a flow's packets. */
static inline bool quell_tcpint_is_on(const struct quell_flow *flow)
{
	return READ_ONCE(flow->tcp_int.mode) != QUELL_TCPINT_OFF;
}

/* Whether the segments of a flow are sprayed over paths. */
static inline bool quell_path_is_sprayed(const struct quell_flow *flow)
{
	return READ_ONCE(flow->path.entropies);
}

/* Whether a flow is fitted to its path: its algorithm need not govern its window. */
static inline bool quell_adapt_is_on(const struct quell_flow *flow)
{
	return flow && flow->adapt.phase != QUELL_ADAPT_OFF;
}

/**
 * quell_adapt_governs() - whether CUBIC or the search governs a flow's window
 * @flow: flow, or NULL
 *
 * Context: socket lock.
 * Return: false if the algorithm governs it.
 */
static inline bool quell_adapt_governs(const struct quell_flow *flow)
{
	return flow && !quell_adapt_is_fit(&flow->adapt);
}

/**
 * quell_adapt_note_ack() - TCP begins to process an ACK
 * @flow:    flow
 * @has_ece: the ACK carries ECN-Echo
 *
 * Lets cc_on_cwr() distinguish a reduction for ECN-Echo from others.
 */
static inline void quell_adapt_note_ack(struct quell_flow *flow, bool has_ece)
{
	flow->adapt.flags &= ~QUELL_ADAPT_F_ECE;
	if (has_ece)
		flow->adapt.flags |= QUELL_ADAPT_F_ECE;
}

/**
 * quell_segments_open() - an entry for new data
 * @flow: flow it belongs to
 * @sk:   the flow's socket
 * @seq:  its first sequence number
 *
 * Context: lock of @flow.
 * Return: entry to be set in full; NULL when there was no room.
 */
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
int quell_flow_table_init(void);
void quell_flow_table_exit(void);
const char *quell_option_name(enum quell_option_state state);
int quell_put_flow_identity(struct sk_buff *skb, const struct quell_flow *flow);
void quell_notify_option(const struct quell_flow *flow, enum quell_option_state state);
void quell_notify_adapt(const struct quell_flow *flow, const char *phase, const char *reason);

#endif /* _QUELL_FLOW_H */

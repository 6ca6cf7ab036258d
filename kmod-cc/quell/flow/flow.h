/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The context of a socket, and the functions for its events, samples and decisions.  Lock
 * order and ownership of fields: Documentation/locking.md.
 */
#ifndef _QUELL_FLOW_H
#define _QUELL_FLOW_H

#include <linux/in6.h>
#include <linux/rhashtable-types.h>
#include <linux/spinlock.h>
#include <quell/quell.h>
#include <quell/telemetry.h>
#include "flow/answer.h"
#include "flow/cut.h"
#include "flow/dasr.h"
#include "flow/path.h"
#include "flow/recover.h"
#include "flow/rx.h"
#include "flow/signal.h"
#include "flow/tail.h"
#include "flow/tcpint.h"
#include "flow/tx.h"
#include "netns/net.h"

struct rate_sample;
struct sk_buff;

/* Why a flow does not send more; names in quell_limit_names[]. */
enum quell_limit {
	QUELL_LIMIT_NONE,
	QUELL_LIMIT_WINDOW,
	QUELL_LIMIT_PACING,
	QUELL_LIMIT_APP,
	QUELL_LIMIT_RECEIVER,
};

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
 * @fallback_told:	why CUBIC governs, as was told last, if anyone listened; 0: not; only
 *			the holder of the socket lock uses it
 * @resent_ns:		TCP's stamp of the newest retransmission, ns modulo 2^32
 * @resent_seq:		first sequence number of the newest retransmission
 * @stamp_secret:	added to departures on the wire; constant
 * @depart_ns:		newest departure of a segment, CLOCK_MONOTONIC, ns
 * @link:		interface the flow leaves by
 * @arrivals:		newest receipts, oldest first: struct quell_arrival
 * @echo:		newest data packets to be echoed, oldest first: struct quell_echo
 * @arrivals_lost:	receipts overwritten before TCP saw them
 * @segments:		segments sent
 * @answer:		whether ACKs wait for the program's answers; see struct quell_answer
 * @asked_seq:		sequence number after the newest data that asked for an ACK
 * @round_seq:		the round trip ends when more than this is acknowledged
 * @carry_bytes:	added to the windows of this round trip, see apply_pkts()
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
 * @cut:		what the window was last reduced for, see quell_cut_pack(); 0 never
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
 * @arrivals_few:	room of @arrivals while it is short
 * @echo_few:		room of @echo while it is short
 *
 * The first three cache lines are those of each packet in and out, the fourth has the timer that
 * segments set; each ACK uses up to @path and the first of @recover.  @node to @algo, @sport and
 * @dport, and @id to @daddr are constant once the flow is in the hash.
 * The holder of @lock owns @closed, @asked_seq to @segments, @arrivals, @echo, @arrivals_few and
 * @echo_few (@link is read with READ_ONCE() without it, and @answer is written without it); the
 * holder of the socket lock owns @peer_delays, @fallback_told and @round_seq to @adapt.
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
	struct quell_answer	answer;

	/* Each segment of data sent, and its ACK. */
	u32			asked_seq;
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
	u64			cut;
	u8			limit;
	u8			fallback_told;
	bool			option_seen;
	struct quell_path	path;
	struct quell_tcpint	tcp_int;
	struct quell_recover	recover;

	/* With the option, or a process that owns the socket. */
	struct quell_list	arrivals;
	struct quell_list	echo;
	struct quell_arrival	arrivals_few[QUELL_ARRIVALS_FEW];
	struct quell_echo	echo_few[QUELL_ECHOES_FEW];
	u64			echoes;
	u64			records;
	struct quell_telemetry	telemetry;
	u32			arrivals_lost;
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

/* tell.c */
const char *quell_option_name(enum quell_option_state state);
int quell_put_flow_identity(struct sk_buff *skb, const struct quell_flow *flow);
void quell_tell_option(const struct quell_flow *flow, enum quell_option_state state);
void quell_tell_adapt(const struct quell_flow *flow, const char *phase, const char *reason);

/* table.c */
int quell_flow_publish(struct quell_flow *flow);
void quell_flow_withdraw(struct quell_flow *flow);
struct quell_flow *quell_flow_find(const struct sock *sk);
int quell_flow_table_init(void);
void quell_flow_table_exit(void);

/* cc.c */
void quell_cc_ops_init(struct quell_algo *algo);

/* event.c */
void quell_sample_state(struct sock *sk, struct quell_sample *sample);
void quell_event_loss(struct sock *sk);
void quell_event_tail_loss(struct sock *sk);
void quell_event_timeout(struct sock *sk);
void quell_event_undo(struct sock *sk);

/* flow.c */
void quell_cc_init(struct sock *sk, const struct quell_algo *algo);
void quell_cc_release(struct sock *sk);
int quell_flows_init(void);
void quell_flows_exit(void);

/* apply.c */
void quell_apply_event(struct sock *sk, const struct quell_sample *sample,
		       struct quell_decision *decision, enum quell_cut why);
void quell_apply_timeout(struct sock *sk, const struct quell_sample *sample,
			 struct quell_decision *decision);
void quell_apply_undo(struct sock *sk, const struct quell_sample *sample,
		      struct quell_decision *decision);

/* pacing.c */
u32 quell_other_flows(const struct sock *sk);
u32 quell_segment_pkts(struct sock *sk);
void quell_start_core(struct sock *sk, struct quell_event *ev);
void quell_pacing_release(struct sock *sk);

/* ecn.c */
void quell_ecn_init(struct sock *sk, const struct tcp_congestion_ops *plain);
void quell_ecn_event(struct sock *sk, enum tcp_ca_event event);

/* adapt.c */
const char *quell_adapt_phase_name(const struct quell_flow *flow);
const char *quell_adapt_reason_name(const struct quell_flow *flow);
void quell_adapt_open(struct quell_flow *flow, const struct quell_event *ev);
void quell_adapt_close(struct quell_flow *flow);
void quell_adapt_acked(struct sock *sk, struct quell_sample *sample);
void quell_adapt_lost(struct sock *sk, struct quell_event *ev);
void quell_adapt_marked(struct sock *sk, struct quell_event *ev);
void quell_adapt_timed_out(struct sock *sk, const struct quell_sample *sample, bool again);
void quell_adapt_undone(struct sock *sk);
bool quell_adapt_rested(struct sock *sk, u64 idle_ns);
bool quell_adapt_idle(struct sock *sk, struct quell_event *ev);
void quell_adapt_replace(const struct quell_flow *flow, struct quell_decision *decision);
void quell_adapt_recovers(struct sock *sk);
void quell_adapt_new_episode(struct quell_flow *flow);
bool quell_adapt_has_begun(const struct quell_flow *flow);
u32 quell_adapt_reduce(struct sock *sk, const struct quell_sample *sample, u32 cwnd_pkts);
void quell_adapt_pace(struct sock *sk);

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

#endif /* _QUELL_FLOW_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of quell.ko share.  Lock order and who may touch what:
 * Documentation/locking.md.
 */
#ifndef _QUELL_INTERNAL_H
#define _QUELL_INTERNAL_H

#include <linux/atomic.h>
#include <linux/in6.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rhashtable-types.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>
#include <quell/option.h>
#include <quell/quell.h>
#include <quell/telemetry.h>
#include "offer.h"
#include "path.h"
#include "recover.h"
#include "tail.h"
#include "tcpint.h"

struct net_device;
struct nf_hook_state;
struct tcphdr;

/* Algorithms at one time; DESIGN.md names eight. */
#define QUELL_ALGOS_MAX		16

/* Arrivals kept between a packet's receipt and TCP's look at it. */
#define QUELL_ARRIVALS_MAX	64

/* Counters of quell.ko in one namespace: quell_counter_descs[] says what they count. */
enum quell_counter {
	QUELL_N_FLOWS_OPENED,
	QUELL_N_FLOWS_CLOSED,
	QUELL_N_FLOW_ALLOC_FAILED,
	QUELL_N_HOOK_REGISTER_FAILED,
	QUELL_N_RTT_SAMPLES,
	QUELL_N_RTT_KERNEL,
	QUELL_N_RTT_KARN,
	QUELL_N_RTT_NO_ARRIVAL,
	QUELL_N_RTT_NO_DEPARTURE,
	QUELL_N_RTT_NOT_POSITIVE,
	QUELL_N_RTT_FLOORED,
	QUELL_N_SEGMENT_RING_OVERRUN,
	QUELL_N_ARRIVAL_RING_OVERRUN,
	QUELL_N_PATH_CHANGES,
	QUELL_N_RTT_ECHO,
	QUELL_N_RTT_ECHO_REFUSED,
	QUELL_N_OPTION_AGREED,
	QUELL_N_OPTION_SENT,
	QUELL_N_OPTION_RECEIVED,
	QUELL_N_OPTION_NO_ROOM,
	QUELL_N_OPTION_MALFORMED,
	QUELL_N_OPTION_BAD_CHECKSUM,
	QUELL_N_OPTION_OUT_OF_WINDOW,
	QUELL_N_OPTION_STRIPPED,
	QUELL_N_RECORD_STAMPED,
	QUELL_N_RECORD_EMPTY,
	QUELL_N_RECORD_ECHOED,
	QUELL_N_RECORD_RECEIVED,
	QUELL_N_RECORD_NO_ROOM,
	QUELL_N_SEGMENT_MALFORMED,
	QUELL_N_SEGMENT_BAD_CHECKSUM,
	QUELL_N_SEGMENT_OUT_OF_WINDOW,
	QUELL_N_HARDWARE_STAMPS,
	QUELL_N_HARDWARE_WARMING,
	QUELL_N_HARDWARE_REFUSED,
	QUELL_N_CLOCK_STEPS,
	QUELL_N_TAIL_PROBES,
	QUELL_N_TAIL_PROBES_SPURIOUS,
	QUELL_N_TAIL_RECOVERED,
	QUELL_N_ENTROPY_FRESH,
	QUELL_N_ENTROPY_RECYCLED,
	QUELL_N_ENTROPY_FROZEN,
	QUELL_N_ENTROPY_KEPT,
	QUELL_N_ENTROPY_MARKED,
	QUELL_N_TRIM_RECEIVED,
	QUELL_N_TRIM_DUPLICATE,
	QUELL_N_TRIM_OUTSIDE,
	QUELL_N_NACK_SENT,
	QUELL_N_NACK_LIMITED,
	QUELL_N_NACK_UNSENT,
	QUELL_N_NACK_RECEIVED,
	QUELL_N_NACK_RECOVERED,
	QUELL_N_NACK_MALFORMED,
	QUELL_N_NACK_OUTSIDE,
	QUELL_N_NACK_STALE,
	QUELL_N_NACK_OVERFLOW,
	QUELL_N_NACK_UNABLE,
	QUELL_N_TCP_INT_SENT,
	QUELL_N_TCP_INT_NO_ROOM,
	QUELL_N_TCP_INT_RECEIVED,
	QUELL_N_TCP_INT_ECHOED,
	QUELL_N_UNDONE,
	QUELL_N_MAX,
};

/**
 * struct quell_counters - one CPU's share of quell.ko's counters
 * @value: by enum quell_counter
 */
struct quell_counters {
	u64	value[QUELL_N_MAX];
};

/**
 * struct quell_params_block - published parameters, never changed again
 * @rcu:  for freeing after the last reader
 * @data: the algorithm's own struct
 */
struct quell_params_block {
	struct rcu_head	rcu;
	u64		data[];
};

/**
 * struct quell_algo_net - an algorithm in a namespace
 * @params: parameter block; replaced under quell_mutex
 * @stats:  per-cpu block of the algorithm's counters
 * @socks:  sockets that use it
 */
struct quell_algo_net {
	struct quell_params_block __rcu	*params;
	void __percpu			*stats;
	atomic_t			socks;
};

/**
 * struct quell_net - what quell.ko keeps for a network namespace
 * @node:	in quell_nets; quell_mutex
 * @net:	the namespace
 * @links:	interface index -> link speed in Mbit/s
 * @links_gen:	raised with every change of @links
 * @clocks:	interface index -> map of its clock; clock.c
 * @flows:	flow contexts by number, for dumps
 * @flows_next:	where to look for a free number; lock of @flows
 * @socks:	Quell sockets, with or without a context
 * @hooks_work:	registers and unregisters the hooks
 * @hooked:	the hooks are registered; written by @hooks_work only
 * @offers:	who offered the option, by hash of the connection; offer.c
 * @counters:	per-cpu counters
 * @algos:	by slot
 */
struct quell_net {
	struct list_head		node;
	struct net			*net;
	struct xarray			links;
	atomic_t			links_gen;
	struct xarray			clocks;
	struct xarray			flows;
	u32				flows_next;
	atomic_t			socks;
	struct delayed_work		hooks_work;
	bool				hooked;
	atomic64_t			*offers;
	struct quell_counters __percpu	*counters;
	struct quell_algo_net		algos[QUELL_ALGOS_MAX];
};

/**
 * struct quell_segment - a segment (a TSO burst is one) on its way
 * @depart_ns:		when its first bit leaves, CLOCK_MONOTONIC, ns
 * @seq:		first sequence number
 * @end_seq:		sequence number after the last
 * @depart_q16:		fraction of a nanosecond to add to @depart_ns
 * @header_bytes:	bytes on the wire beside the payload, per packet
 * @packet_bytes:	payload of one packet of the burst
 * @queued:		it waited for the flow's own earlier segments
 * @retransmitted:	some of it was sent again: no sample (Karn)
 * @entropy:		its path entropy; 0 none
 */
struct quell_segment {
	u64	depart_ns;
	u32	seq;
	u32	end_seq;
	u16	depart_q16;
	u16	header_bytes;
	u16	packet_bytes;
	bool	queued;
	bool	retransmitted;
	u8	entropy;
};

/**
 * struct quell_segments - segments sent and not yet acknowledged, by sequence
 * @ring:	the segments; NULL until the first is sent
 * @size:	room in @ring, a power of two
 * @head:	free-running index of the oldest
 * @tail:	free-running index of the next to write
 */
struct quell_segments {
	struct quell_segment	*ring;
	u32			size;
	u32			head;
	u32			tail;
};

/**
 * struct quell_link - the interface a flow leaves by
 * @bytes_ps:	its speed, bytes/s; 0 unknown
 * @free_ns:	when the flow's own last segment has left it, ns
 * @free_rem:	rest of that division, in 1 / @bytes_ps ns
 * @ifindex:	its index; 0 not known yet
 * @gen:	quell_net.links_gen at the last look
 */
struct quell_link {
	u64	bytes_ps;
	u64	free_ns;
	u64	free_rem;
	int	ifindex;
	int	gen;
};

/**
 * struct quell_arrival - receipt of a segment that carried an ACK
 * @rx_ns:	CLOCK_MONOTONIC, ns
 * @ack_seq:	its acknowledgment number
 * @echo_ns:	departure it echoed, ns modulo 2^32
 * @hold_ns:	how long the other host had held that echo, ns; 0 not said
 * @echoed:	the two are there
 * @record:	telemetry record it brought; empty: none
 * @hardware:	@rx_ns is a stamp of the card, mapped
 * @told:	and so was the entropy
 */
struct quell_arrival {
	u64	rx_ns;
	u32	ack_seq;
	u32	echo_ns;
	u32	hold_ns;
	bool	echoed;
	bool	hardware;
	bool	told;
	u8	record[QUELL_TELEMETRY_BYTES];
};

/* Data packets kept between their receipt and the ACK that answers them. */
#define QUELL_ECHOES_MAX	64

/**
 * struct quell_echo - a data packet whose departure is to be echoed
 * @rx_ns:	its receipt, CLOCK_MONOTONIC, ns
 * @seq:	first sequence number
 * @end_seq:	sequence number after the last
 * @depart_ns:	its departure, the sender's clock, ns modulo 2^32
 * @entropy:	its path entropy
 * @marked:	it was marked CE
 * @record:	its telemetry record; empty: none
 * @hardware:	@rx_ns is a stamp of the card, mapped
 */
struct quell_echo {
	u64	rx_ns;
	u32	seq;
	u32	end_seq;
	u32	depart_ns;
	u8	entropy;
	bool	marked;
	bool	hardware;
	u8	record[QUELL_TELEMETRY_BYTES];
};

/* Whether the option is spoken on a connection, and why not; quell_option_names[]. */
enum quell_option_state {
	QUELL_OPTION_NOT_OFFERED,
	QUELL_OPTION_ON,
	QUELL_OPTION_NO_ANSWER,
	QUELL_OPTION_NO_ROOM,
	QUELL_OPTION_STRIPPED,
};

/* What quell_option_take() made of a packet. */
enum quell_option_result {
	QUELL_OPTION_ABSENT,
	QUELL_OPTION_TAKEN,
	QUELL_OPTION_MALFORMED,
	QUELL_OPTION_BAD_CHECKSUM,
};

/* What holds a flow back; quell_limit_names[]. */
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
 * @rcu:		for freeing after the last reader; within the first page, as
 *			kfree_rcu() wants it
 * @sk:			the socket; compared, never followed without its lock
 *			but for the cookie
 * @qnet:		its namespace
 * @algo:		its algorithm
 * @id:			number in quell_net.flows
 * @family:		AF_INET or AF_INET6
 * @sport:		local port, host order
 * @dport:		remote port, host order
 * @saddr:		local address
 * @daddr:		remote address
 * @segments:		segments sent
 * @link:		interface the flow leaves by
 * @round_seq:		the round trip ends when more than this is acknowledged
 * @carry_bytes:	added to the windows of this round trip, see apply_pkts()
 * @rest_bytes:		what the window had beyond whole segments when it began
 * @option_room_bytes:	taken from the segments for the options
 * @ext_hdr_bytes:	icsk_ext_hdr_len with that
 * @depart_ns:		newest departure an option was given, CLOCK_MONOTONIC, ns
 * @arrivals_lock:	protects from @arrivals to @echoes_nr
 * @arrivals:		newest receipts, oldest first
 * @arrivals_nr:	how many of them
 * @arrivals_lost:	receipts overwritten before TCP saw them
 * @echo:		newest data packets to be echoed, oldest first
 * @echoes_nr:		how many of them
 * @now:		what the flow last decided
 * @inflight_bytes:	bytes in flight before the last ACK
 * @samples:		round-trip times taken in ns
 * @karn:		samples given up because of a retransmission
 * @retransmits:	segments sent again
 * @overruns:		segments not recorded because the ring was full
 * @mss_bytes:		maximum segment size
 * @clock:		enum quell_clock of the newest round-trip time
 * @limit:		enum quell_limit
 * @hops:		switches on the path; written by the receive hook
 * @option:		enum quell_option_state
 * @option_seen:	the other end's option came; written by the receive hook
 * @option_missed:	packets without it before that; written by the receive hook
 * @remote_ns:		how long the other host held the newest echo, ns
 * @echoes:		round-trip times taken from echoes
 * @records:		telemetry records taken
 * @telemetry:		newest of them, each field of its own moment
 * @tail:		timer for lost tails; socket lock, see there
 * @path:		entropies of its segments
 * @recover:		what was trimmed on its way, see there
 * @tcp_int:		the public TCP-INT option, see there
 * @undo:		what the newest episode of losses took, should they prove none;
 *			socket lock
 *
 * Fields down to @daddr are constant once the flow is in the hash.  From
 * @segments to @depart_ns they belong to the holder of the socket lock.
 * From @now on the holder of the socket lock (where said so, the receive hook)
 * writes with WRITE_ONCE() and anybody in an RCU read section reads with
 * READ_ONCE().
 */
struct quell_flow {
	struct rhash_head	node;
	struct rcu_head		rcu;
	const struct sock	*sk;
	struct quell_net	*qnet;
	const struct quell_algo	*algo;
	u32			id;
	u16			family;
	u16			sport;
	u16			dport;
	struct in6_addr		saddr;
	struct in6_addr		daddr;

	struct quell_segments	segments;
	struct quell_link	link;
	u32			round_seq;
	u32			carry_bytes;
	u32			rest_bytes;
	u32			option_room_bytes;
	u32			ext_hdr_bytes;
	u64			depart_ns;

	spinlock_t		arrivals_lock;	/* protects the five below */
	struct quell_arrival	arrivals[QUELL_ARRIVALS_MAX];
	u32			arrivals_nr;
	u32			arrivals_lost;
	struct quell_echo	echo[QUELL_ECHOES_MAX];
	u32			echoes_nr;

	struct quell_snapshot	now;
	u64			inflight_bytes;
	u64			samples;
	u64			karn;
	u64			retransmits;
	u64			overruns;
	u32			mss_bytes;
	u8			clock;
	u8			limit;
	u8			hops;
	u8			option;
	bool			option_seen;
	u32			option_missed;
	u32			remote_ns;
	u64			echoes;
	u64			records;
	struct quell_telemetry	telemetry;

	struct quell_tail	tail;
	struct quell_path	path;
	struct quell_recover	recover;
	struct quell_tcpint	tcp_int;
	struct quell_undo	undo;
};

/* main.c */
extern struct mutex quell_mutex;
extern struct list_head quell_nets;
extern const struct quell_algo *quell_algos[QUELL_ALGOS_MAX];
extern u32 quell_algos_gen;
struct quell_net *quell_net(const struct net *net);
int quell_algo_join_nets(struct quell_algo *algo);
void quell_algo_leave_nets(struct quell_algo *algo);

/* cc.c */
void quell_cc_ops_init(struct quell_algo *algo);
const struct quell_algo *quell_cc_algo(const struct sock *sk);
void quell_cc_on_loss(struct sock *sk);

/* flow.c */
void quell_cc_init(struct sock *sk, const struct quell_algo *algo);
void quell_cc_release(struct sock *sk);
int quell_flows_init(void);
void quell_flows_exit(void);
struct quell_flow *quell_flow_find(const struct sock *sk);

/* segments.c */
void quell_segments_free(struct quell_segments *segments);
bool quell_segments_add(struct quell_segments *segments,
			const struct quell_segment *segment);
u32 quell_segments_mark(struct quell_segments *segments, u32 seq, u32 end_seq);
const struct quell_segment *
quell_segments_find(const struct quell_segments *segments, u32 seq);
const struct quell_segment *quell_segments_oldest(const struct quell_segments *segments);
void quell_segments_drop(struct quell_segments *segments, u32 una);
u32 quell_segment_first_end(const struct quell_segment *segment);
u64 quell_segment_left_ns(const struct quell_segment *segment, u32 seq,
			  u64 link_bytes_ps);
void quell_arrival_add(struct quell_flow *flow, struct quell_arrival *arrival);
bool quell_arrival_take(struct quell_flow *flow, u32 una, struct quell_arrival *arrival);

/* echo.c */
void quell_echo_add(struct quell_flow *flow, const struct quell_echo *echo);
bool quell_echo_take(struct quell_flow *flow, const struct tcp_sock *tp,
		     struct quell_echo *echo);

/* signal.c */
int quell_signal_init(void);
void quell_signal_exit(void);
bool quell_signal_offers(struct quell_net *qnet, const struct quell_offer_key *key,
			 const struct quell_algo *algo, bool answers);
bool quell_signal_asks(const struct quell_net *qnet);
bool quell_signal_listens(const struct quell_net *qnet);
u32 quell_signal_tail(const struct quell_net *qnet, u64 *floor_ns);
u32 quell_signal_entropies(const struct quell_net *qnet);
u64 quell_signal_nack_rate(const struct quell_net *qnet);
void quell_signal_open(struct quell_flow *flow, struct sock *sk);
void quell_signal_close(struct quell_flow *flow, struct sock *sk,
			enum quell_option_state state);
void quell_signal_check(struct quell_flow *flow, struct sock *sk);

/* telemetry.c */
void quell_telemetry_register(struct quell_algo *algo);
void quell_telemetry_unregister(const struct quell_algo *algo);
bool quell_telemetry_asks(void);
bool quell_telemetry_expected(const struct quell_flow *flow);
void quell_telemetry_send(const struct quell_flow *flow, struct quell_opt *opt);
void quell_telemetry_note(struct quell_flow *flow, const struct quell_opt *opt,
			  struct quell_echo *echo);
void quell_telemetry_echo(const struct quell_echo *echo, struct quell_opt *opt);
void quell_telemetry_arrive(struct quell_flow *flow, const struct quell_opt *opt,
			    struct quell_arrival *arrival);
void quell_telemetry_keep(struct quell_arrival *newer, const struct quell_arrival *older);
void quell_telemetry_take(struct quell_flow *flow, const struct quell_arrival *arrival,
			  struct quell_sample *sample);
/* option.c */
bool quell_option_has_room(const struct sk_buff *skb, const struct quell_opt *opt, u8 flags);
u32 quell_option_choose(const struct sk_buff *skb, struct quell_opt *opt);
bool quell_option_fits(const struct sk_buff *skb, u32 bytes);
u8 *quell_option_open(struct sk_buff *skb, u32 bytes);
bool quell_option_remove(struct sk_buff *skb, u32 ip_bytes, u32 bytes);
bool quell_option_insert(struct sk_buff *skb, const struct quell_opt *opt);
bool quell_option_checksum_holds(struct sk_buff *skb, u32 ip_bytes);
enum quell_option_result quell_option_take(struct sk_buff *skb, u32 ip_bytes,
					   struct quell_opt *opt);

/* transmit.c */
unsigned int quell_transmit4(void *priv, struct sk_buff *skb,
			     const struct nf_hook_state *state);
unsigned int quell_transmit6(void *priv, struct sk_buff *skb,
			     const struct nf_hook_state *state);

/* receive.c */
unsigned int quell_receive4(void *priv, struct sk_buff *skb,
			    const struct nf_hook_state *state);
unsigned int quell_receive6(void *priv, struct sk_buff *skb,
			    const struct nf_hook_state *state);

/* hooks.c */
void quell_hooks_init(struct quell_net *qnet);
void quell_hooks_exit(struct quell_net *qnet);
void quell_hooks_want(struct quell_net *qnet);
void quell_hooks_settle(struct quell_net *qnet);
void quell_hooks_linger(struct quell_net *qnet);

/* sample.c */
u64 quell_link_bytes_ps(const struct sock *sk);
void quell_sample_state(struct sock *sk, struct quell_sample *sample);
void quell_apply_timeout(struct sock *sk, const struct quell_sample *sample,
			 const struct quell_decision *decision);
void quell_apply_undo(struct sock *sk, const struct quell_sample *sample,
		      const struct quell_decision *decision);
bool quell_idle_ns(const struct sock *sk, u64 *idle_ns);

/* ecn.c */
void quell_ecn_init(struct sock *sk, const struct tcp_congestion_ops *plain);
void quell_ecn_event(struct sock *sk, enum tcp_ca_event event);

/* link.c */
int quell_links_init(void);
void quell_links_exit(void);
void quell_links_net_init(struct quell_net *qnet);
void quell_links_net_exit(struct quell_net *qnet);
void quell_link_update(struct quell_flow *flow, const struct net_device *dev);
u64 quell_link_speed(struct quell_net *qnet, int ifindex);

/* clock.c */
void quell_clocks_net_init(struct quell_net *qnet);
void quell_clocks_net_exit(struct quell_net *qnet);
void quell_clock_forget(struct quell_net *qnet, int ifindex);
void quell_clock_stamp(struct quell_net *qnet, const struct sk_buff *skb,
		       struct quell_arrival *arrival);

/* params.c */
int quell_algo_net_init(struct quell_algo_net *an, const struct quell_algo *algo);
void quell_algo_net_exit(struct quell_algo_net *an);
struct quell_params_block *quell_params_copy(const struct quell_algo_net *an,
					     const struct quell_algo *algo);
void quell_params_publish(struct quell_algo_net *an, const struct quell_algo *algo,
			  struct quell_params_block *block);
const struct quell_param_desc *quell_param_find(const struct quell_algo *algo,
						const char *name);

/* stats.c */
extern const struct quell_counter_desc quell_counter_descs[QUELL_N_MAX];
u64 quell_percpu_sum(const void __percpu *block, u32 offset);

static inline void quell_count(struct quell_net *qnet, enum quell_counter counter)
{
	this_cpu_inc(qnet->counters->value[counter]);
}

/* genl.c, genl_flow.c */
int quell_genl_init(void);
void quell_genl_exit(void);
int quell_put_counter(struct sk_buff *skb, int attr, const char *name,
		      const char *doc, u64 value);
int quell_flow_dump(struct sk_buff *skb, struct netlink_callback *cb);
extern struct genl_family quell_genl_family;

#endif /* _QUELL_INTERNAL_H */

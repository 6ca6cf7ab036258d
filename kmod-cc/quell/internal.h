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
#include "agree.h"
#include "counters.h"
#include "path.h"
#include "recover.h"
#include "tail.h"
#include "tcpint.h"

struct kmem_cache;
struct net_device;
struct nf_hook_state;
struct tcphdr;

/* Algorithms registered at one time, the signal plane's parameters among them. */
#define QUELL_ALGOS_MAX		16

/*
 * Arrivals kept between a packet's receipt and TCP's look at it: in the flow, and at
 * most.  More than one is there only while a process owns the socket.
 */
#define QUELL_ARRIVALS_FEW	1
#define QUELL_ARRIVALS_MAX	64

/* Data packets kept between their receipt and the ACK that answers them. */
#define QUELL_ECHOES_FEW	1
#define QUELL_ECHOES_MAX	64

/* Segments kept from their departure until they are acknowledged, in the flow. */
#define QUELL_SEGMENTS_FEW	1

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
 * @links_named: interface index -> speed in kbit/s that counts instead; RTNL
 * @links_gen:	raised with every change of the two
 * @clocks:	interface index -> map of its clock; clock.c
 * @flows:	flow contexts by number, for dumps
 * @flows_next:	where to look for a free number; lock of @flows
 * @socks:	Quell sockets, with or without a context
 * @hooks_work:	registers and unregisters the hooks
 * @hooked:	the hooks are registered; written by @hooks_work only
 * @agreements:	offers of the option that wait for ->init; agree.c
 * @counters:	per-cpu counters
 * @algos:	by slot
 */
struct quell_net {
	struct list_head		node;
	struct net			*net;
	struct xarray			links;
	struct xarray			links_named;
	atomic_t			links_gen;
	struct xarray			clocks;
	struct xarray			flows;
	u32				flows_next;
	atomic_t			socks;
	struct delayed_work		hooks_work;
	bool				hooked;
	struct quell_agreements		agreements;
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
 * @stamp_ns:		when TCP first sent it, as it stamped it, ns modulo 2^32
 * @queued:		it waited for the flow's own earlier segments
 * @retransmitted:	some of it was sent again: no sample (Karn)
 * @entropy:		its path entropy; 0 none
 */
struct quell_segment {
	u64	depart_ns;
	u32	seq;
	u32	end_seq;
	u32	stamp_ns;
	u16	depart_q16;
	u16	header_bytes;
	u16	packet_bytes;
	bool	queued;
	bool	retransmitted;
	u8	entropy;
};

/**
 * struct quell_segments - segments sent and not yet acknowledged, by sequence
 * @ring:	the segments: @few, or heap while there are more
 * @size:	room in @ring, a power of two
 * @head:	free-running index of the oldest
 * @tail:	free-running index of the next to write
 * @grown:	the room the flow needed last when @few did not do
 * @few:	room that is always there
 */
struct quell_segments {
	struct quell_segment	*ring;
	u32			size;
	u32			head;
	u32			tail;
	u32			grown;
	struct quell_segment	few[QUELL_SEGMENTS_FEW];
};

/**
 * struct quell_list - a short list of equal elements, in one piece
 * @at:		the elements: a place in the flow, or heap while there are more
 * @few:	that place
 * @nr:		how many there are
 * @room:	how many @at has room for
 */
struct quell_list {
	void	*at;
	void	*few;
	u16	nr;
	u16	room;
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
 * @has_echo:	@echo_ns and @hold_ns are set
 * @record:	telemetry record it brought; empty: none
 * @hardware:	@rx_ns is a stamp of the card, mapped
 * @has_entropy: the ACK echoed the path entropy of the packet it answers
 */
struct quell_arrival {
	u64	rx_ns;
	u32	ack_seq;
	u32	echo_ns;
	u32	hold_ns;
	bool	has_echo;
	bool	hardware;
	bool	has_entropy;
	u8	record[QUELL_TELEMETRY_BYTES];
};

/**
 * struct quell_echo - a data packet whose departure is to be echoed
 * @rx_ns:	its receipt, CLOCK_MONOTONIC, ns
 * @seq:	first sequence number
 * @end_seq:	sequence number after the last
 * @depart_ns:	its departure as the sender stamped it, ns modulo 2^32
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
 * @rcu:		for freeing after the last reader
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
 * @lock:		protects from @closed to @echo, and what says so of @path
 * @closed:		the socket uses the flow no more: nothing is added
 * @segments:		segments sent
 * @link:		interface the flow leaves by
 * @round_seq:		the round trip ends when more than this is acknowledged
 * @carry_bytes:	added to the windows of this round trip, see apply_pkts()
 * @rest_bytes:		what the window had beyond whole segments when it began
 * @option_room_bytes:	taken from the segments for the options
 * @ext_hdr_bytes:	icsk_ext_hdr_len with that
 * @depart_ns:		newest departure an option was given, CLOCK_MONOTONIC, ns
 * @resent_ns:		TCP's stamp of the newest retransmission, ns modulo 2^32
 * @resent_seq:		its first sequence number
 * @stamp_secret:	added to departures on the wire; constant
 * @arrivals:		newest receipts, oldest first: struct quell_arrival
 * @arrivals_few:	room for the usual ones
 * @arrivals_lost:	receipts overwritten before TCP saw them
 * @echo:		newest data packets to be echoed, oldest first: struct quell_echo
 * @echo_few:		room for the usual ones
 * @now:		what the flow last decided
 * @inflight_bytes:	bytes in flight before the last ACK
 * @karn:		samples given up because of a retransmission
 * @retransmits:	segments sent again
 * @overruns:		segments not recorded because the ring was full
 * @mss_bytes:		maximum segment size
 * @limit:		enum quell_limit
 * @hops:		switches on the path; written by the receive hook
 * @option:		enum quell_option_state
 * @option_seen:	the other end's option came; written by the receive hook
 * @option_missed:	packets without it before that; written by the receive hook
 * @echoes:		round-trip times taken from echoes
 * @records:		telemetry records taken
 * @telemetry:		newest of them, each field of its own moment
 * @tail:		timer for lost tails; socket lock, see there
 * @path:		entropies of its segments
 * @recover:		what was trimmed on its way, see there
 * @tcp_int:		the public TCP-INT option, see there
 * @adapt:		who governs its window; socket lock
 * @undo:		what the newest episode of losses took, should they prove none;
 *			socket lock
 *
 * Fields down to @daddr are constant once the flow is in the hash.  From
 * @round_seq to @ext_hdr_bytes they belong to the holder of the socket lock, from
 * @closed to @echo_few to that of @lock (@link is read with READ_ONCE() without it).
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

	u32			round_seq;
	u32			carry_bytes;
	u32			rest_bytes;
	u32			option_room_bytes;
	u32			ext_hdr_bytes;

	spinlock_t		lock;	/* protects from here to echo_few */
	bool			closed;
	struct quell_segments	segments;
	struct quell_link	link;
	u64			depart_ns;
	u32			resent_ns;
	u32			resent_seq;
	u32			stamp_secret;
	u32			arrivals_lost;
	struct quell_list	arrivals;
	struct quell_list	echo;
	struct quell_arrival	arrivals_few[QUELL_ARRIVALS_FEW];
	struct quell_echo	echo_few[QUELL_ECHOES_FEW];

	struct quell_snapshot	now;
	u64			inflight_bytes;
	u64			karn;
	u64			retransmits;
	u64			overruns;
	u32			mss_bytes;
	u8			limit;
	u8			hops;
	u8			option;
	bool			option_seen;
	u32			option_missed;
	u64			echoes;
	u64			records;
	struct quell_telemetry	telemetry;

	struct quell_tail	tail;
	struct quell_path	path;
	struct quell_recover	recover;
	struct quell_tcpint	tcp_int;
	struct quell_undo	undo;
	struct quell_adapt	adapt;
};

/* net.c */
extern unsigned int quell_net_id;
extern struct mutex quell_mutex;
extern struct list_head quell_nets;
extern const struct quell_algo *quell_algos[QUELL_ALGOS_MAX];
extern u32 quell_algos_gen;
const struct quell_algo *quell_algo_of(const struct tcp_congestion_ops *ops);
const struct quell_algo *quell_algo_of_listener(const struct sock *listener);
const struct quell_algo *quell_algo_by_key(u32 key);
struct quell_net *quell_net(const struct net *net);
int quell_algo_join_nets(struct quell_algo *algo);
void quell_algo_leave_nets(struct quell_algo *algo);

int quell_net_join_algos(struct quell_net *qnet);
void quell_net_leave_algos(struct quell_net *qnet);
void quell_hooks_want(struct quell_net *qnet);
void quell_hooks_settle(struct quell_net *qnet);
void quell_hooks_linger(struct quell_net *qnet);

/* cc.c */
void quell_cc_ops_init(struct quell_algo *algo);

/* event.c */
void quell_event_loss(struct sock *sk);
void quell_event_tail_loss(struct sock *sk);
void quell_event_timeout(struct sock *sk);
void quell_event_undo(struct sock *sk);

/* flow.c */
void quell_cc_init(struct sock *sk, const struct quell_algo *algo);
void quell_cc_release(struct sock *sk);
int quell_flows_init(void);
void quell_flows_exit(void);
struct quell_flow *quell_flow_find(const struct sock *sk);

/* segments.c */
void quell_segments_init(struct quell_segments *segments);
void quell_segments_free(struct quell_segments *segments);
bool quell_segments_add(struct quell_flow *flow, const struct sock *sk,
			const struct quell_segment *segment);
u32 quell_segments_mark(struct quell_segments *segments, u32 seq, u32 end_seq);
const struct quell_segment *
quell_segments_find(const struct quell_segments *segments, u32 seq);
const struct quell_segment *quell_segments_oldest(const struct quell_segments *segments);
bool quell_segments_newest(struct quell_flow *flow, struct quell_segment *newest);
void quell_segments_drop(struct quell_segments *segments, u32 una);
u32 quell_segment_first_end(const struct quell_segment *segment);
u64 quell_segment_left_ns(const struct quell_segment *segment, u32 seq,
			  u64 link_bytes_ps);

/* arrivals.c */
void quell_arrival_add(struct quell_flow *flow, const struct sock *sk,
		       struct quell_arrival *arrival);
bool quell_arrival_take(struct quell_flow *flow, u32 una, struct quell_arrival *arrival);

/* echo.c */
void quell_echo_add(struct quell_flow *flow, const struct sock *sk,
		    const struct quell_echo *echo);
bool quell_echo_take(struct quell_flow *flow, const struct tcp_sock *tp,
		     struct quell_echo *echo);

/* memory.c */
void *quell_sock_alloc(const struct sock *sk, size_t bytes);
void *quell_sock_zalloc(const struct sock *sk, struct kmem_cache *cache);
void quell_list_init(struct quell_list *list, void *few, u32 room);
void quell_list_free(struct quell_list *list);
bool quell_list_grow(struct quell_list *list, const struct sock *sk, u32 element_bytes,
		     u32 most);
void quell_list_settle(struct quell_list *list, u32 room);

/* signal.c */
int quell_signal_init(void);
void quell_signal_exit(void);
bool quell_signal_offers(const struct quell_net *qnet, const struct quell_algo *algo);
bool quell_signal_asks(const struct quell_net *qnet);
bool quell_signal_listens(const struct quell_net *qnet);
u32 quell_signal_tail(const struct quell_net *qnet, u64 *floor_ns);
u32 quell_signal_entropies(const struct quell_net *qnet);
u64 quell_signal_nack_rate(const struct quell_net *qnet);
void quell_signal_open(struct quell_flow *flow, struct sock *sk);
void quell_signal_close(struct quell_flow *flow, struct sock *sk,
			enum quell_option_state state);
bool quell_signal_is_signed(const struct sock *sk);
void quell_signal_heard(struct quell_flow *flow);
bool quell_signal_is_vain(const struct quell_flow *flow);
void quell_signal_release(struct quell_flow *flow, struct sock *sk);
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

/* sample.c */
void quell_sample_state(struct sock *sk, struct quell_sample *sample);
void quell_sample_rtt(struct sock *sk, const struct rate_sample *rs,
		      struct quell_sample *sample);

/* apply.c */
void quell_apply_timeout(struct sock *sk, const struct quell_sample *sample,
			 struct quell_decision *decision);
void quell_apply_undo(struct sock *sk, const struct quell_sample *sample,
		      struct quell_decision *decision);

/* pacing.c */
u32 quell_other_flows(const struct sock *sk);
u32 quell_segment_pkts(struct sock *sk);
void quell_start_core(struct sock *sk, struct quell_event *ev);

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
u64 quell_link_bytes_ps(const struct sock *sk);
int quell_link_next(struct quell_net *qnet, int ifindex);
u64 quell_link_driver_speed(struct quell_net *qnet, int ifindex);
u64 quell_link_named_speed(struct quell_net *qnet, int ifindex);
int quell_link_name_speed(struct quell_net *qnet, int ifindex, u64 bytes_ps);

/* clock.c */
void quell_clocks_net_init(struct quell_net *qnet);
void quell_clocks_net_exit(struct quell_net *qnet);
void quell_clock_forget(struct quell_net *qnet, int ifindex);
void quell_clock_stamp(struct quell_net *qnet, const struct sk_buff *skb,
		       struct quell_arrival *arrival);

/* adapt.c */
const char *quell_adapt_phase_name(const struct quell_flow *flow);
const char *quell_adapt_reason_name(const struct quell_flow *flow);
void quell_adapt_open(struct quell_flow *flow, const struct quell_event *ev);
void quell_adapt_acked(struct sock *sk, struct quell_sample *sample);
void quell_adapt_lost(struct sock *sk, struct quell_event *ev);
bool quell_adapt_governs(const struct quell_flow *flow);
void quell_adapt_marked(struct sock *sk, struct quell_event *ev);
void quell_adapt_timed_out(struct sock *sk, const struct quell_sample *sample, bool again);
void quell_adapt_undone(struct sock *sk);
bool quell_adapt_idle(struct sock *sk, struct quell_event *ev);
void quell_adapt_replace(const struct quell_flow *flow, struct quell_decision *decision);
void quell_adapt_recovers(struct sock *sk);
void quell_adapt_note_ack(struct quell_flow *flow, bool has_ece);
void quell_adapt_new_episode(struct quell_flow *flow);
bool quell_adapt_has_begun(const struct quell_flow *flow);
u32 quell_adapt_reduce(struct sock *sk, const struct quell_sample *sample, u32 cwnd_pkts);
void quell_adapt_pace(struct sock *sk);

/* Whether who governs the window takes trimming for a signal, and not for a loss. */
static inline bool quell_flow_has_trim_signal(const struct quell_flow *flow)
{
	return quell_algo_has(flow->algo, QUELL_CORE_TRIMS) && !quell_adapt_governs(flow);
}

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

/* genl_link.c */
struct genl_info;
extern const struct nla_policy quell_link_set_policy[QUELL_A_LINK_RATE + 1];
int quell_link_dump(struct sk_buff *skb, struct netlink_callback *cb);
int quell_link_set_doit(struct sk_buff *skb, struct genl_info *info);

/* genl_flow.c */
int quell_flow_dump(struct sk_buff *skb, struct netlink_callback *cb);

/* genl_put.c */
extern struct genl_family quell_genl_family;
int quell_put_counter(struct sk_buff *skb, int attr, const char *name,
		      const char *doc, u64 value);

/* genl.c */
int quell_genl_init(void);
void quell_genl_exit(void);

#endif /* _QUELL_INTERNAL_H */

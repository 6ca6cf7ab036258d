// SPDX-License-Identifier: GPL-2.0
/*
 * Flows: found by their socket, in a hash by its address, and by number, in a table per namespace
 * for dumps; the attributes that identify them, and notifications of their changes.
 *
 * Context of notifications: any but hard interrupts; RCU read section or socket lock, so that the
 * flow and its socket stay.
 */
#include <linux/hash.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/rhashtable.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/socket.h>
#include <net/netlink.h>
#include <net/sock.h>
#include <net/tcp.h>
#include <compat/local_lock.h>
#include <compat/memcg.h>
#include "flow/flow.h"

/*
 * Memory of a flow beyond its context: allocated and freed on demand, and charged to the
 * memory cgroup of its socket.  A flow embeds room for the few elements that it usually
 * keeps; a list that outgrows this is on the heap until it is empty.
 */

#define LIST_ROOM_MIN	8U

/*
 * In softirqs the cgroup to charge is per CPU.  On PREEMPT_RT these preempt each other, and
 * one that restored the other's would leave it there.
 */
static DEFINE_PER_CPU(local_lock_t, memory_lock) = INIT_LOCAL_LOCK(memory_lock);

static noinline void *memory_alloc(const struct sock *sk, struct kmem_cache *cache, size_t bytes,
				   gfp_t gfp)
{
	struct mem_cgroup *before;
	void *memory;

	local_bh_disable();
	local_lock_nested_bh(&memory_lock);
	before = set_active_memcg(quell_sock_memcg(sk));
	memory = cache ? kmem_cache_zalloc(cache, gfp | __GFP_NOWARN) :
			 kmalloc(bytes, gfp | __GFP_NOWARN | __GFP_ACCOUNT);
	set_active_memcg(before);
	local_unlock_nested_bh(&memory_lock);
	local_bh_enable();
	return memory;
}

/**
 * quell_sock_alloc() - allocate memory that is charged to a socket's cgroup, in softirq too
 * @sk:    the socket
 * @bytes: above PAGE_ALLOC_COSTLY_ORDER pages the atomic reserves are left alone
 * Context: any but hard interrupts.
 * Return: memory for kfree(), not cleared; NULL: memory is short.
 */
void *quell_sock_alloc(const struct sock *sk, size_t bytes)
{
	return memory_alloc(sk, NULL, bytes, bytes > PAGE_SIZE << PAGE_ALLOC_COSTLY_ORDER ?
					     GFP_NOWAIT : GFP_ATOMIC);
}
EXPORT_SYMBOL_GPL(quell_sock_alloc);

/*
 * All zero, for kmem_cache_free(); NULL: memory is short.  A passive connection has no cgroup
 * before accept().  Not in hard interrupts.
 */
void *quell_sock_zalloc(const struct sock *sk, struct kmem_cache *cache)
{
	return memory_alloc(sk, cache, 0, GFP_ATOMIC);
}

void quell_list_init(struct quell_list *list, void *few, u32 room)
{
	list->at = few;
	list->nr = 0;
	list->room = room;
	list->heap = false;
}

/* For a full list; false: it has room for @most already, or memory is short. */
static bool list_grow(struct quell_list *list, const struct sock *sk, u32 element_bytes, u32 most)
{
	u32 room = min(max(2U * list->room, LIST_ROOM_MIN), most);
	void *at;

	if (list->room >= most)
		return false;
	at = quell_sock_alloc(sk, (size_t)room * element_bytes);
	if (!at)
		return false;
	memcpy(at, list->at, (size_t)list->nr * element_bytes);
	if (list->heap)
		kfree(list->at);
	list->at = at;
	list->room = room;
	list->heap = true;
	return true;
}

/* For a full list; false: the oldest element was dropped.  Lock of the list. */
static bool list_make_room(struct quell_list *list, const struct sock *sk, u32 element_bytes,
			   u32 most)
{
	if (list_grow(list, sk, element_bytes, most))
		return true;
	WRITE_ONCE(list->nr, list->nr - 1);
	memmove(list->at, list->at + element_bytes, list->nr * element_bytes);
	return false;
}

/* Free the heap memory of an empty list.  Lock of the list. */
static void list_settle(struct quell_list *list, void *few, u32 room)
{
	if (!list->heap || list->nr)
		return;
	kfree(list->at);
	quell_list_init(list, few, room);
}

/*
 * Departures: one entry per segment handed down (a TSO burst is one segment), sorted by
 * sequence number: only new data is appended.  A retransmission marks the entries it
 * overlaps, and those give no RTT sample (Karn's rule).
 *
 * With more than a few segments in flight the ring is on the heap and doubles up to a bound;
 * segments beyond that are counted and give no sample.  When the timer for tails finds all
 * data acknowledged the heap is freed; the next ring starts at half the size of the last one.
 *
 * The lock of the flow protects the ring.
 */

/* First ring on the heap, and the bound: 4096 packets of 1500 bytes are 6 MB in flight. */
#define SEGMENTS_MIN	8
#define SEGMENTS_MAX	4096

/* Before the flow is published. */
void quell_segments_init(struct quell_flow *flow)
{
	flow->segments.ring = flow->segment_few;
	flow->segments.size = QUELL_SEGMENTS_FEW;
}

/* Grows the ring; false when the bound is reached or memory is short. */
static bool segments_grow(struct quell_flow *flow, const struct sock *sk)
{
	struct quell_segments *segments = &flow->segments;
	u32 least = max(2 * segments->size, SEGMENTS_MIN + 0U);
	u32 size = max(segments->grown, least);
	struct quell_segment *ring;
	u32 i;

	if (segments->size >= SEGMENTS_MAX)
		return false;
	ring = quell_sock_alloc(sk, size * sizeof(*ring));
	if (!ring && size > least) {
		size = least;
		ring = quell_sock_alloc(sk, size * sizeof(*ring));
	}
	if (!ring)
		return false;
	/* One entry more: the newest is needed even when it was acknowledged. */
	for (i = segments->head - 1; i != segments->tail; i++)
		ring[i & (size - 1)] = *quell_segment_at(segments, i);
	if (segments->ring != flow->segment_few)
		kfree(segments->ring);
	segments->ring = ring;
	segments->size = size;
	segments->grown = size;
	return true;
}

/* Move an empty ring back into the flow; keeps the newest entry.  Lock of the flow. */
void quell_segments_settle(struct quell_flow *flow)
{
	struct quell_segments *segments = &flow->segments;
	struct quell_segment newest;

	if (segments->head != segments->tail || segments->ring == flow->segment_few)
		return;
	newest = *quell_segment_at(segments, segments->tail - 1);
	/* Halve the next size: a flow that needs all of it doubles it once. */
	segments->grown /= 2;
	kfree(segments->ring);
	quell_segments_init(flow);
	*quell_segment_at(segments, segments->tail - 1) = newest;
}

/*
 * Entries that end after @seq were never sent.  False: the bound is reached or memory is short.
 * Lock of @flow.
 */
bool quell_segments_make_room(struct quell_flow *flow, const struct sock *sk, u32 seq)
{
	struct quell_segments *segments = &flow->segments;

	lockdep_assert_held(&flow->lock);
	while (segments->tail != segments->head &&
	       after(quell_segment_at(segments, segments->tail - 1)->end_seq, seq))
		segments->tail--;
	return segments->tail - segments->head < segments->size || segments_grow(flow, sk);
}

/* Index of the first entry that ends after @seq; tail if there is no such entry. */
u32 quell_segments_search(const struct quell_segments *segments, u32 seq)
{
	u32 low = segments->head;
	u32 count = segments->tail - segments->head;

	while (count) {
		u32 half = count / 2;

		if (after(quell_segment_at(segments, low + half)->end_seq, seq)) {
			count = half;
		} else {
			low += half + 1;
			count -= half + 1;
		}
	}
	return low;
}

/* Mark the entries that a retransmission overlaps; returns their number.  Lock of the flow. */
u32 quell_segments_mark(struct quell_segments *segments, u32 seq, u32 end_seq,
			u32 resent_depart_ns)
{
	u32 i = quell_segments_search(segments, seq);
	u32 marked = 0;

	for (; i != segments->tail; i++) {
		struct quell_segment *segment = quell_segment_at(segments, i);

		if (!before(segment->seq, end_seq))
			break;
		segment->retransmitted = true;
		segment->resent_depart_ns = resent_depart_ns;
		marked++;
	}
	return marked;
}

/* The segment sent last; it may have been acknowledged.  Bottom halves off. */
bool quell_segments_newest(struct quell_flow *flow, struct quell_segment *newest)
{
	spin_lock(&flow->lock);
	*newest = *quell_segment_at(&flow->segments, flow->segments.tail - 1);
	spin_unlock(&flow->lock);
	return newest->depart_ns;
}

/*
 * Departure plus serialisation up to the last bit of the packet that ends at @seq, rounded up.  The
 * packets of a burst are sent one after the other, and an ACK for part of it is compared with that
 * part.  @ns_q32: per byte; 0: unknown, the departure alone.
 */
u64 quell_segment_tx_end_ns(const struct quell_segment *segment, u32 seq, u64 ns_q32)
{
	u32 payload_bytes = seq - segment->seq, packets = 1;
	u64 wire_bytes, fraction_q32;

	if (!ns_q32)
		return segment->depart_ns;
	if (payload_bytes > segment->packet_bytes)
		packets = DIV_ROUND_UP(payload_bytes, max_t(u32, segment->packet_bytes, 1));
	wire_bytes = payload_bytes + (u64)packets * segment->header_bytes;
	fraction_q32 = (u32)(wire_bytes * ns_q32) + ((u64)segment->depart_q16 << 16);
	return segment->depart_ns + mul_u64_u64_shr(wire_bytes, ns_q32, 32) +
	       ((fraction_q32 + U32_MAX) >> 32);
}

/*
 * Packets kept from their receipt until TCP has processed them, possibly from the backlog of a
 * busy socket and on another CPU.  Lists under the lock of the flow, oldest first:
 *
 *	arrivals	receipts of ACKs, one entry per acknowledgment number, taken by the sample
 *			of that ACK or, if it has no sample, by the hook at the next segment
 *	echo		data packets, of which the next packet out echoes the departure
 *
 * An ACK echoes the newest data packet that TCP has processed: it is below rcv_nxt or, out of
 * order, in the first SACK block, which is the one that grew last (RFC 2018, section 4).  Older
 * packets are dropped then, or when the next one is received, so that an idle receiver needs no
 * memory.
 *
 * Switches stamp the packet of a burst that requests an ACK: an entry without a telemetry record
 * gets that of the newest one that it replaces.
 */

/*
 * Without a telemetry record it gets that of the entry it replaces.  Lock of @flow, which is not
 * closed; RCU.
 */
void quell_ack_rx_add(struct quell_flow *flow, const struct sock *sk,
		      struct quell_ack_rx *ack_rx)
{
	struct quell_list *list = &flow->ack_rx_list;
	struct quell_ack_rx *newest;

	lockdep_assert_held(&flow->lock);
	newest = (struct quell_ack_rx *)list->at + list->nr - 1;
	if (list->nr && newest->ack_seq == ack_rx->ack_seq) {
		quell_telemetry_keep(ack_rx->record, newest->record);
		*newest = *ack_rx;
		return;
	}
	if (list->nr == list->room &&
	    !list_make_room(list, sk, sizeof(*ack_rx), QUELL_ACK_RX_MAX)) {
		WRITE_ONCE(flow->ack_rx_lost, flow->ack_rx_lost + 1);
		quell_count(flow->qnet, QUELL_N_ACK_RING_OVERRUN);
	}
	((struct quell_ack_rx *)list->at)[list->nr] = *ack_rx;
	WRITE_ONCE(list->nr, list->nr + 1);
}

/*
 * The newest receipt that TCP may have processed, with the newest telemetry record of it and the
 * older ones, which are dropped.  Lock of @flow.
 */
bool quell_ack_rx_take(struct quell_flow *flow, u32 una, struct quell_ack_rx *ack_rx)
{
	struct quell_ack_rx *ack_rx_list = flow->ack_rx_list.at;
	u32 taken, i;

	lockdep_assert_held(&flow->lock);
	for (taken = flow->ack_rx_list.nr; taken > 0; taken--)
		if (!after(ack_rx_list[taken - 1].ack_seq, una))
			break;
	if (!taken)
		return false;
	*ack_rx = ack_rx_list[taken - 1];
	for (i = taken - 1; i > 0; i--)
		quell_telemetry_keep(ack_rx->record, ack_rx_list[i - 1].record);
	WRITE_ONCE(flow->ack_rx_list.nr, flow->ack_rx_list.nr - taken);
	if (flow->ack_rx_list.nr)
		memmove(ack_rx_list, ack_rx_list + taken,
			flow->ack_rx_list.nr * sizeof(*ack_rx_list));
	list_settle(&flow->ack_rx_list, flow->ack_rx_few, QUELL_ACK_RX_FEW);
	return true;
}

static bool echo_is_processed(const struct quell_echo *echo, const struct tcp_sock *tp)
{
	const struct tcp_sack_block *block = &tp->selective_acks[0];

	if (!after(echo->end_seq, READ_ONCE(tp->rcv_nxt)))
		return true;
	return READ_ONCE(tp->rx_opt.num_sacks) &&
	       !before(echo->seq, READ_ONCE(block->start_seq)) &&
	       !after(echo->end_seq, READ_ONCE(block->end_seq));
}

/*
 * Entry for a data packet, to be set in full but for the telemetry record: that of the packet which
 * it replaces, or empty.  Without room the oldest packet is dropped: its ACK will have no echo.
 * Lock of @flow, which is not closed; RCU.
 */
struct quell_echo *quell_echo_open(struct quell_flow *flow, const struct sock *sk)
{
	struct quell_list *list = &flow->echo;
	struct quell_echo *echoes = list->at;

	lockdep_assert_held(&flow->lock);
	/*
	 * It replaces the only one, of a delayed ACK, as the ACK of the packet that TCP processes
	 * next is for both.  While a process owns the socket TCP may acknowledge the older one
	 * alone.  A process that takes the socket meanwhile may send such an ACK without an echo.
	 */
	if (list->nr == 1 && !after(echoes->end_seq, READ_ONCE(tcp_sk(sk)->rcv_nxt)) &&
	    /* The owner may change meanwhile: see above. */
	    !data_race(sock_owned_by_user_nocheck(sk)))
		return echoes;
	if (list->nr == list->room)
		list_make_room(list, sk, sizeof(*echoes), QUELL_ECHOES_MAX);
	echoes = list->at;
	memset(echoes[list->nr].record, 0, sizeof(echoes->record));
	return &echoes[list->nr++];
}

/*
 * Without the socket lock, which is not certain, the fields of @tp may be of different moments, and
 * the echo of a packet that this ACK does not acknowledge.  Lock of @flow, LOCAL_OUT hook.
 */
bool quell_echo_take(struct quell_flow *flow, const struct tcp_sock *tp,
		     struct quell_echo *echo)
{
	struct quell_list *list = &flow->echo;
	struct quell_echo *echoes = list->at;
	u32 older, i;

	lockdep_assert_held(&flow->lock);
	for (i = list->nr; i > 0; i--)
		if (echo_is_processed(&echoes[i - 1], tp))
			break;
	if (!i)
		return false;
	*echo = echoes[i - 1];
	for (older = i - 1; older > 0; older--)
		quell_telemetry_keep(echo->record, echoes[older - 1].record);
	list->nr -= i;
	if (list->nr)
		memmove(echoes, echoes + i, list->nr * sizeof(*echoes));
	list_settle(list, flow->echo_few, QUELL_ECHOES_FEW);
	return true;
}

/* Room for a flow's identity, and two words. */
#define FLOW_NTF_BYTES		256

/*
 * The default, for keys of any length, takes several times as many instructions.  Functions that
 * use the table are __flatten, or the compiler calls this hash and keeps the default one, too.
 */
static u32 flow_hash(const void *key, u32 bytes, u32 seed)
{
	return hash_long((unsigned long)*(const struct sock * const *)key ^ seed, 32);
}

static int flow_compare(struct rhashtable_compare_arg *arg, const void *flow)
{
	return ((const struct quell_flow *)flow)->sk != *(const struct sock * const *)arg->key;
}

static const struct rhashtable_params flow_hash_params = {
	.head_offset		= offsetof(struct quell_flow, node),
	.key_offset		= offsetof(struct quell_flow, sk),
	.key_len		= sizeof_field(struct quell_flow, sk),
	.hashfn			= flow_hash,
	.obj_cmpfn		= flow_compare,
	.automatic_shrinking	= true,
};

struct kmem_cache *quell_flow_cache __ro_after_init;

/* By address of the socket.  Buckets have their own locks; readers RCU. */
static struct rhashtable quell_flows;

/*
 * Let dumps, then the hooks find a flow.  A dump may have found it even if this fails: -errno.  The
 * lowest free number keeps the table small: with ever higher ones each flow that stays among many
 * short ones would hold a node of its own, which is charged to no cgroup.
 */
int __flatten quell_flow_publish(struct quell_flow *flow)
{
	struct quell_net *qnet = flow->qnet;
	int err;

	err = xa_alloc_bh(&qnet->flows, &flow->id, flow, xa_limit_32b, GFP_ATOMIC);
	if (err)
		return err;
	err = rhashtable_insert_fast(&quell_flows, &flow->node, flow_hash_params);
	if (err)
		xa_erase_bh(&qnet->flows, flow->id);
	return err;
}

/* Earlier finders may use the flow until a grace period has passed. */
void __flatten quell_flow_withdraw(struct quell_flow *flow)
{
	rhashtable_remove_fast(&quell_flows, &flow->node, flow_hash_params);
	xa_erase_bh(&flow->qnet->flows, flow->id);
}

/**
 * quell_flow_find() - flow of a socket
 * @sk: socket of any kind
 * Context: RCU read section; not in hard interrupts.
 * Return: NULL without a flow.
 */
struct quell_flow __flatten *quell_flow_find(const struct sock *sk)
{
	return rhashtable_lookup(&quell_flows, &sk, flow_hash_params);
}
EXPORT_SYMBOL_GPL(quell_flow_find);

/**
 * quell_cc_enter() - begin access to parameters and counters
 * @sk: socket of a Quell algorithm, quell_cc_ready()
 * @ev: its pointers are set; the caller must fill sample and decision
 *
 * Disables bottom halves, so that the per-cpu counters have one writer also when a backlog is
 * processed in process context (but see quell_core_call()).  That is an RCU read section as
 * well, which pins the parameter block for the whole event.
 * Context: socket lock.
 */
void quell_cc_enter(struct sock *sk, struct quell_event *ev)
	__acquires(RCU_BH)
{
	const struct quell_flow *flow = quell_cc(sk)->flow;
	struct quell_net *qnet = flow ? flow->qnet : quell_net(sock_net(sk));
	const struct quell_algo_net *an;

	rcu_read_lock_bh();
	an = &qnet->algos[quell_cc(sk)->algo->slot];
	ev->vars = quell_cc_vars(sk);
	ev->params = rcu_dereference_bh(an->params)->data;
	ev->stats = this_cpu_ptr(an->stats);
}
EXPORT_SYMBOL_GPL(quell_cc_enter);

int quell_flows_init(void)
{
	int err;

	quell_flow_cache = KMEM_CACHE(quell_flow, SLAB_HWCACHE_ALIGN | SLAB_ACCOUNT);
	if (!quell_flow_cache)
		return -ENOMEM;
	err = rhashtable_init(&quell_flows, &flow_hash_params);
	if (err)
		kmem_cache_destroy(quell_flow_cache);
	return err;
}

/* All flows are gone: every socket pins this module, and rcu_barrier() was called. */
void quell_flows_exit(void)
{
	rhashtable_destroy(&quell_flows);
	kmem_cache_destroy(quell_flow_cache);
}

static const char * const option_names[] = {
	[QUELL_OPTION_NOT_OFFERED]	= "not-offered",
	[QUELL_OPTION_ON]		= "on",
	[QUELL_OPTION_NO_REPLY]		= "no-reply",
	[QUELL_OPTION_NO_ROOM]		= "no-room",
	[QUELL_OPTION_STRIPPED]		= "stripped",
};

const char *quell_option_name(enum quell_option_state state)
{
	return option_names[state];
}

/* 0 or -EMSGSIZE. */
int quell_put_flow_identity(struct sk_buff *skb, const struct quell_flow *flow)
{
	int addr_bytes = flow->family == AF_INET6 ? sizeof(struct in6_addr) :
						    sizeof(struct in_addr);
	/* The stack assigns a cookie on the first request, for example of ss. */
	u64 cookie = atomic64_read(&flow->sk->sk_cookie);

	if ((cookie && quell_put_u64(skb, QUELL_A_FLOW_COOKIE, cookie, QUELL_A_FLOW_PAD)) ||
	    nla_put_string(skb, QUELL_A_FLOW_CC, flow->algo->core->name) ||
	    nla_put_u16(skb, QUELL_A_FLOW_FAMILY, flow->family) ||
	    nla_put(skb, QUELL_A_FLOW_SADDR, addr_bytes, &flow->saddr) ||
	    nla_put(skb, QUELL_A_FLOW_DADDR, addr_bytes, &flow->daddr) ||
	    nla_put_u16(skb, QUELL_A_FLOW_SPORT, flow->sport) ||
	    nla_put_u16(skb, QUELL_A_FLOW_DPORT, flow->dport) ||
	    quell_put_u32(skb, QUELL_A_FLOW_IFINDEX, READ_ONCE(flow->link.ifindex)))
		return -EMSGSIZE;
	return 0;
}

/* A change of a flow: its new state, @attr, and a reason or NULL. */
struct flow_ntf {
	const struct quell_flow	*flow;
	int			attr;
	const char		*state;
	const char		*reason;
};

static int put_flow_ntf(struct sk_buff *skb, const void *about)
{
	const struct flow_ntf *ntf = about;

	if (quell_put_flow_identity(skb, ntf->flow) ||
	    nla_put_string(skb, ntf->attr, ntf->state) ||
	    (ntf->reason && nla_put_string(skb, QUELL_A_FLOW_FALLBACK, ntf->reason)))
		return -EMSGSIZE;
	return 0;
}

void quell_notify_option(const struct quell_flow *flow, enum quell_option_state state)
{
	struct flow_ntf ntf = { flow, QUELL_A_FLOW_OPTION, quell_option_name(state) };

	if (state != QUELL_OPTION_NOT_OFFERED)
		quell_ntf_send(flow->qnet, QUELL_CMD_FLOW_OPTION_NTF, FLOW_NTF_BYTES,
			       put_flow_ntf, &ntf);
}

/* @reason is NULL if its algorithm governs. */
void quell_notify_adapt(const struct quell_flow *flow, const char *phase, const char *reason)
{
	struct flow_ntf ntf = { flow, QUELL_A_FLOW_ADAPT, phase, reason };

	quell_ntf_send(flow->qnet, QUELL_CMD_FLOW_ADAPT_NTF, FLOW_NTF_BYTES, put_flow_ntf, &ntf);
}

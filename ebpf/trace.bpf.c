// SPDX-License-Identifier: GPL-2.0
/*
 * The tracer of "quell trace": a record of each decision of any congestion control.
 *
 *	fexit tcp_ack			state after an acknowledgment
 *	fexit tcp_set_ca_state		the state of recovery was set, and the algorithm called
 *	tp_btf tcp_retransmit_skb	a segment was retransmitted
 *	fexit tcp_enter_loss		retransmission timeout, or the receiver has
 *					reneged on SACKed data
 *	raw_tp quell_decision		decisions of quell.ko's algorithms
 *
 * Each socket of the machine calls these programs, so the filter is first, and needs no memory: it
 * reads the socket and compares with constants that the verifier knows, which removes disabled
 * conditions.  A decision of an algorithm of quell.ko is stored under the socket's cookie for the
 * record of the same acknowledgment; BPF variants keep it in storage of the socket.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_tracing.h>

#ifndef NULL
#define NULL		((void *)0)
#endif

#include <quell/trace.h>

#define AF_INET		2
#define AF_INET6	10
/* Decisions stored at a time; the map is LRU. */
#define MODULE_FLOWS	16384
#define MAPPED_WORD	2	/* of an IPv6 address, before the IPv4 one */

char _license[] SEC("license") = "GPL";

/* Not "const", or the compiler would take the zeros for the values. */
struct quell_trace_config cfg SEC(".rodata") = {};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} quell_records SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} quell_drops SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, MODULE_FLOWS);
	__type(key, u64);
	__type(value, struct quell_bpf_view);
} quell_decisions SEC(".maps");

/* Replaced, before the object is loaded, by maps quell_flows of the variants that are loaded. */
#define VIEW_MAP(number_)						\
struct {								\
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);				\
	__uint(map_flags, BPF_F_NO_PREALLOC);				\
	__type(key, int);						\
	__type(value, struct quell_bpf_view);				\
} quell_view_##number_ SEC(".maps")

VIEW_MAP(0);
VIEW_MAP(1);
VIEW_MAP(2);
VIEW_MAP(3);
VIEW_MAP(4);
VIEW_MAP(5);
VIEW_MAP(6);
VIEW_MAP(7);

static __always_inline bool is_of_netns(const struct sock *sk)
{
	return !cfg.netns_inum || sk->__sk_common.skc_net.net->ns.inum == cfg.netns_inum;
}

/* The ports, of which the local one is in host order. */
static __always_inline bool has_ports(const struct sock *sk)
{
	return (!cfg.sport || sk->__sk_common.skc_num == cfg.sport) &&
	       (!cfg.dport || sk->__sk_common.skc_dport == cfg.dport);
}

/* A word of the local or remote address as of IPv6. */
static __always_inline u32 addr_word(const struct sock *sk, bool is_local, int i)
{
	if (sk->__sk_common.skc_family == AF_INET6)
		return is_local ? sk->__sk_common.skc_v6_rcv_saddr.in6_u.u6_addr32[i] :
				  sk->__sk_common.skc_v6_daddr.in6_u.u6_addr32[i];
	if (i < MAPPED_WORD)
		return 0;
	if (i == MAPPED_WORD)
		return bpf_htonl(0xffff);
	return is_local ? sk->__sk_common.skc_rcv_saddr : sk->__sk_common.skc_daddr;
}

static __always_inline bool is_word_of(const struct sock *sk, bool is_local, int i)
{
	u32 addr = is_local ? cfg.src.addr[i] : cfg.dst.addr[i];
	u32 mask = is_local ? cfg.src.mask[i] : cfg.dst.mask[i];

	return !mask || !((addr_word(sk, is_local, i) ^ addr) & mask);
}

static __always_inline bool has_addresses(const struct sock *sk)
{
	return is_word_of(sk, true, 3) && is_word_of(sk, true, 2) && is_word_of(sk, true, 1) &&
	       is_word_of(sk, true, 0) && is_word_of(sk, false, 3) && is_word_of(sk, false, 2) &&
	       is_word_of(sk, false, 1) && is_word_of(sk, false, 0);
}

/* The stack numbers a socket on the first request. */
static __always_inline u64 cookie_of(struct sock *sk)
{
	u64 cookie = sk->__sk_common.skc_cookie.counter;

	return cookie ? cookie : bpf_get_socket_cookie(sk);
}

static __always_inline bool is_chosen(u64 cookie)
{
	return (!cfg.cookie || cookie == cfg.cookie) &&
	       (!cfg.sample_below || quell_trace_is_sampled(cookie, cfg.sample_below));
}

static __always_inline void read_cc(const struct tcp_sock *tp, char *name)
{
	bpf_probe_read_kernel_str(name, QUELL_TRACE_CC_BYTES, tp->inet_conn.icsk_ca_ops->name);
}

static __always_inline bool has_cc(struct sock *sk)
{
	char name[QUELL_TRACE_CC_BYTES] = {};
	const struct tcp_sock *tp;
	int i;

	if (!cfg.cc[0])
		return true;
	tp = bpf_skc_to_tcp_sock(sk);
	if (!tp)
		return false;
	read_cc(tp, name);
#pragma unroll
	for (i = 0; i < QUELL_TRACE_CC_BYTES; i++)
		if (name[i] != cfg.cc[i])
			return false;
	return true;
}

/* Cheapest first. */
static __always_inline bool is_wanted(struct sock *sk)
{
	bool is_any = !cfg.cookie && !cfg.sample_below;

	return has_ports(sk) && is_of_netns(sk) && has_addresses(sk) &&
	       (is_any || is_chosen(cookie_of(sk))) && has_cc(sk);
}

static __always_inline void read_addresses(const struct sock *sk, struct quell_trace_record *r)
{
	int i;

#pragma unroll
	for (i = 0; i < QUELL_TRACE_ADDR_WORDS; i++) {
		r->saddr[i] = addr_word(sk, true, i);
		r->daddr[i] = addr_word(sk, false, i);
	}
	r->sport = sk->__sk_common.skc_num;
	r->dport = sk->__sk_common.skc_dport;
}

static __always_inline void read_tcp(const struct tcp_sock *tp, struct quell_trace_record *r)
{
	r->acked_bytes = tp->bytes_acked;
	r->cwnd_pkts = tp->snd_cwnd;
	r->ssthresh_pkts = tp->snd_ssthresh;
	r->srtt_us = tp->srtt_us >> 3;
	r->rtt_us = tp->rack.rtt_us;
	r->min_rtt_us = tp->rtt_min.s[0].v;
	r->inflight_pkts = tp->packets_out - tp->sacked_out - tp->lost_out + tp->retrans_out;
	r->delivered_pkts = tp->delivered;
	r->marked_pkts = tp->delivered_ce;
	r->lost_pkts = tp->lost;
	r->retrans_pkts = tp->total_retrans;
	r->mss_bytes = tp->mss_cache;
	r->app_limited = tp->app_limited != 0;
}

static __always_inline void take_view(struct quell_trace_record *r,
				      const struct quell_bpf_view *view)
{
	if (!view)
		return;
	r->view = *view;
	r->has_view = true;
}

/* A socket has storage in the map of the variant that governs it, if in any. */
static __always_inline void read_variant(struct sock *sk, struct quell_trace_record *r)
{
	if (cfg.views > 0)
		take_view(r, bpf_sk_storage_get(&quell_view_0, sk, NULL, 0));
	if (cfg.views > 1)
		take_view(r, bpf_sk_storage_get(&quell_view_1, sk, NULL, 0));
	if (cfg.views > 2)
		take_view(r, bpf_sk_storage_get(&quell_view_2, sk, NULL, 0));
	if (cfg.views > 3)
		take_view(r, bpf_sk_storage_get(&quell_view_3, sk, NULL, 0));
	if (cfg.views > 4)
		take_view(r, bpf_sk_storage_get(&quell_view_4, sk, NULL, 0));
	if (cfg.views > 5)
		take_view(r, bpf_sk_storage_get(&quell_view_5, sk, NULL, 0));
	if (cfg.views > 6)
		take_view(r, bpf_sk_storage_get(&quell_view_6, sk, NULL, 0));
	if (cfg.views > 7)
		take_view(r, bpf_sk_storage_get(&quell_view_7, sk, NULL, 0));
}

/* The last decision of quell.ko's algorithm; the first record makes room for it. */
static __always_inline void read_module(struct quell_trace_record *r)
{
	u64 cookie = r->cookie;	/* on the stack, where 6.1 wants a key */
	struct quell_bpf_view *view = bpf_map_lookup_elem(&quell_decisions, &cookie);
	struct quell_bpf_view empty = {};

	if (!view)
		bpf_map_update_elem(&quell_decisions, &cookie, &empty, BPF_NOEXIST);
	else if (view->window_bytes)
		take_view(r, view);
}

static __always_inline void count_drop(void)
{
	u32 key = 0;
	u64 *drops = bpf_map_lookup_elem(&quell_drops, &key);

	if (drops)
		__sync_fetch_and_add(drops, 1);
}

static __always_inline u64 drops_so_far(void)
{
	u32 key = 0;
	u64 *drops = bpf_map_lookup_elem(&quell_drops, &key);

	return drops ? *drops : 0;
}

static __always_inline u64 wake_flags(void)
{
	return bpf_ringbuf_query(&quell_records, BPF_RB_AVAIL_DATA) >= cfg.wake_bytes ?
	       BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
}

static __always_inline void record(struct sock *sk, u8 event)
{
	const struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);
	struct quell_trace_record *r;

	if (!tp)
		return;
	r = bpf_ringbuf_reserve(&quell_records, sizeof(*r), 0);
	if (!r) {
		count_drop();
		return;
	}
	__builtin_memset(r, 0, sizeof(*r));
	r->time_ns = bpf_ktime_get_ns();
	r->cookie = cookie_of(sk);
	r->dropped = drops_so_far();
	r->event = event;
	r->ca_state = BPF_CORE_READ_BITFIELD(&tp->inet_conn, icsk_ca_state);
	r->pacing_bytes_ps = sk->sk_pacing_rate;
	read_addresses(sk, r);
	read_cc(tp, r->cc);
	read_tcp(tp, r);
	read_variant(sk, r);
	if (!r->has_view)
		read_module(r);
	bpf_ringbuf_submit(r, wake_flags());
}

SEC("fexit/tcp_ack")
int BPF_PROG(trace_ack, struct sock *sk)
{
	if (is_wanted(sk))
		record(sk, QUELL_TRACE_ACK);
	return 0;
}

SEC("fexit/tcp_set_ca_state")
int BPF_PROG(trace_state, struct sock *sk)
{
	if (is_wanted(sk))
		record(sk, QUELL_TRACE_STATE);
	return 0;
}

SEC("fexit/tcp_enter_loss")
int BPF_PROG(trace_timeout, struct sock *sk)
{
	if (is_wanted(sk))
		record(sk, QUELL_TRACE_TIMEOUT);
	return 0;
}

SEC("tp_btf/tcp_retransmit_skb")
int BPF_PROG(trace_retransmit, struct sock *sk)
{
	if (is_wanted(sk))
		record(sk, QUELL_TRACE_RETRANSMIT);
	return 0;
}

/*
 * quell.ko has no BTF, so its pointers are numbers here; decisions are stored of traced flows only.
 */
SEC("raw_tp/quell_decision")
int trace_decision(struct bpf_raw_tracepoint_args *ctx)
{
	struct sock *sk = (struct sock *)ctx->args[0];
	const void *view = (const void *)ctx->args[1];
	struct quell_bpf_view *stored;
	u64 cookie;

	cookie = BPF_CORE_READ(sk, __sk_common.skc_cookie.counter);
	if (!is_chosen(cookie) || ctx->args[2] != sizeof(*stored))
		return 0;
	stored = bpf_map_lookup_elem(&quell_decisions, &cookie);
	if (stored)
		bpf_probe_read_kernel(stored, sizeof(*stored), view);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The Quell option of a cgroup's sockets, by the header options that the stack lets programs of
 * type sock_ops write and read; Documentation/wire-format.md.  The stack's calls:
 *
 *	connect()		enables the calls on the SYN
 *	listen()		the same, on SYN-ACKs
 *	SYN			an offer, if the algorithm is one of ours
 *	SYN-ACK			acceptance of an offer; echoes do not depend on the algorithm,
 *				but quell.ko's algorithms accept offers themselves
 *	SYN-ACK received	with the option the connection uses it
 *	third ACK received	the same; else from the first segment that has it
 *	segment to send		the stack reserves the option's length, then has it written;
 *				without a segment for the room to keep beside data
 *	segment received	with an option that TCP does not know, in its window, before
 *				the stack processes the ACK and the data
 *
 * A connection with the option has a struct quell_optconn in its socket's storage.  Others have no
 * storage, and no cost after the handshake unless a segment carries the option.
 *
 * The option is the last in the header, where the module's is the first: the stack calls last.
 */
#include "vmlinux_types.h"
#include <quell/bpf.h>
#include "only_sockops.h"
#include "cc_kind.h"
#include "optconn_map.h"

#define TCP_FLAG_FIN		0x01U
#define TCP_FLAG_SYN		0x02U
#define TCP_FLAG_RST		0x04U
#define TCP_HEADER_BYTES	20U

/* A SYN sent for the third time has no option, in case a device drops those that have. */
#define SYN_OFFERS_MAX		1U

#define DSFIELD_ECN_MASK	3U
#define DSFIELD_CE		3U

/* Of the SACK option: the bytes before the blocks, two no-operations included, and of each. */
#define SACK_BASE_BYTES		4U
#define SACK_BLOCK_BYTES	8U

/* Forms of the option for a segment, from the longest to no option. */
#define OPTION_FORMS		4

#define WRITE_FLAG		BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG
#define PARSE_FLAG		BPF_SOCK_OPS_PARSE_UNKNOWN_HDR_OPT_CB_FLAG

char _license[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct quell_bpf_option_stats);
} quell_option_stats SEC(".maps");

static __always_inline void count_at(u32 offset_bytes)
{
	struct quell_bpf_option_stats *stats;
	u32 key = 0;

	stats = bpf_map_lookup_elem(&quell_option_stats, &key);
	if (stats)
		++*(u64 *)((u8 *)stats + offset_bytes);
}

#define COUNT(counter)	count_at(offsetof(struct quell_bpf_option_stats, counter))

/* Result of parsing the options of a segment. */
enum parsed {
	PARSED_MISSING,
	PARSED_MALFORMED,
	PARSED_OPTION,
};

/*
 * The steps below are global functions, which the verifier checks once, each by itself; hence the
 * tests for NULL.
 */
__noinline int option_receive(struct quell_optconn *conn, struct quell_opt *opt,
			      struct quell_optconn_tcp *tcp, struct quell_optconn_segment *segment)
{
	if (!conn || !opt || !tcp || !segment)
		return 0;
	return quell_optconn_receive(conn, opt, tcp, segment);
}

__noinline int option_sent(struct quell_optconn *conn, struct quell_optconn_tcp *tcp, u32 end_seq,
			   u64 depart_ns)
{
	if (!conn || !tcp)
		return 0;
	quell_optconn_sent(conn, tcp, end_seq, depart_ns);
	return 1;
}

__noinline int option_choose(struct quell_optconn *conn, struct quell_optconn_tcp *tcp,
			     struct quell_optconn_room *room, struct quell_opt *opt)
{
	if (!conn || !tcp || !room || !opt)
		return 0;
	return quell_optconn_choose(conn, tcp, room, opt);
}

struct option_bytes {
	u8	at[QUELL_OPT_MAX_BYTES];
};

/* 1 if the option is well-formed. */
__noinline int option_decode(struct option_bytes *bytes, u32 stated_bytes, int syn,
			     struct quell_opt *opt)
{
	if (!bytes || !opt)
		return 0;
	return quell_opt_decode(bytes->at, stated_bytes, syn, opt);
}

__noinline int option_encode(struct quell_opt *opt, struct option_bytes *bytes)
{
	if (!opt || !bytes)
		return 0;
	return quell_opt_encode(opt, bytes->at);
}

static __always_inline struct tcp_sock *tcp_of(struct bpf_sock_ops *skops)
{
	struct bpf_sock *sk = skops->sk;

	return sk ? bpf_skc_to_tcp_sock(sk) : NULL;
}

/*
 * Have the stack make these calls and, unless another program may need them, no others.  Calls
 * that were not enabled here are harmless: they find no storage, or begin an agreement that the
 * peer has requested.
 */
static __always_inline void enable_calls(struct bpf_sock_ops *skops, const struct tcp_sock *tp,
					 u32 flags)
{
	u32 others = skops->bpf_sock_ops_cb_flags;

	if (tp && is_only_sockops(tp))
		others &= ~(WRITE_FLAG | PARSE_FLAG);
	bpf_sock_ops_cb_flags_set(skops, others | flags);
}

static __always_inline struct quell_optconn *optconn_of(struct bpf_sock_ops *skops, u64 flags)
{
	struct bpf_sock *sk = skops->sk;

	return sk ? bpf_sk_storage_get(&quell_options, sk, NULL, flags) : NULL;
}

static __always_inline void fill_tcp(const struct tcp_sock *tp, struct quell_optconn_tcp *tcp)
{
	__builtin_memset(tcp, 0, sizeof(*tcp));
	tcp->now_ns = bpf_ktime_get_ns();
	tcp->rcv_nxt = tp->rcv_nxt;
	tcp->block_seq = tp->selective_acks[0].start_seq;
	tcp->block_end = tp->rx_opt.num_sacks ? tp->selective_acks[0].end_seq : tcp->block_seq;
	tcp->snd_una = tp->snd_una;
	tcp->snd_nxt = tp->snd_nxt;
	tcp->window_bytes = tp->max_window;
	tcp->segs_in = tp->segs_in;
	tcp->flight_pkts = tp->packets_out - tp->sacked_out - tp->lost_out + tp->retrans_out;
	tcp->sacked_pkts = tp->sacked_out;
}

/* Whether the segment is CE-marked; older kernels report it to algorithms with ECN only. */
static __always_inline bool is_marked(struct bpf_sock_ops *skops)
{
	const struct bpf_sock_ops_kern *kern;
	const struct tcp_skb_cb *cb;
	const struct sk_buff *skb;

	if (!bpf_cast_to_kern_ctx)
		return false;
	kern = bpf_cast_to_kern_ctx(skops);
	skb = kern->skb;
	if (!skb)
		return false;
	cb = (const void *)__builtin_preserve_access_index(&skb->cb);
	return (cb->ip_dsfield & DSFIELD_ECN_MASK) == DSFIELD_CE;
}

static __always_inline const u8 *header_of(struct bpf_sock_ops *skops)
{
	const u8 *header = skops->skb_data, *end = skops->skb_data_end;

	return header + TCP_HEADER_BYTES <= end ? header : NULL;
}

static __always_inline u32 header_bytes(const u8 *header)
{
	return header[12] >> 4 << 2;
}

/* Of @flags BPF_LOAD_HDR_OPT_TCP_SYN is the SYN of which this is the SYN-ACK. */
static __always_inline enum parsed parse_option(struct bpf_sock_ops *skops, bool syn, u64 flags,
						struct quell_opt *opt)
{
	struct option_bytes option = { {
		QUELL_OPT_KIND, QUELL_OPT_EXID_BYTES, QUELL_OPT_EXID >> 8, QUELL_OPT_EXID & 0xff,
	} };
	long bytes;

	__builtin_memset(opt, 0, sizeof(*opt));
	bytes = bpf_load_hdr_opt(skops, &option, sizeof(option), flags);
	if (bytes < (long)QUELL_OPT_EXID_BYTES || bytes > (long)sizeof(option))
		return PARSED_MISSING;
	return option_decode(&option, bytes, syn, opt) ? PARSED_OPTION : PARSED_MALFORMED;
}

static __always_inline void count_found(u32 found)
{
	if (found & QUELL_OPTCONN_OUTSIDE) {
		COUNT(out_of_window);
		return;
	}
	COUNT(received);
	if (found & QUELL_OPTCONN_SAMPLED)
		COUNT(rtt_echo);
	if (found & QUELL_OPTCONN_ECHO_REFUSED)
		COUNT(rtt_echo_refused);
	if (found & QUELL_OPTCONN_DELAYED)
		COUNT(rtt_echo_delayed);
	if (found & QUELL_OPTCONN_HOLD_REFUSED)
		COUNT(rtt_hold_refused);
}

static __always_inline void process_option(struct bpf_sock_ops *skops, const struct tcp_sock *tp,
					   struct quell_optconn *conn, struct quell_opt *opt)
{
	const u8 *header = header_of(skops);
	struct quell_optconn_segment segment;
	struct quell_optconn_tcp tcp;
	u32 least_us;

	if (!header)
		return;
	__builtin_memset(&segment, 0, sizeof(segment));
	fill_tcp(tp, &tcp);
	segment.rx_ns = tp->tcp_clock_cache;
	/* In microseconds: one less is a safe bound. */
	least_us = tp->rtt_min.s[0].v;
	segment.least_ns = least_us && least_us != QUELL_U32_MAX ? (least_us - 1) * 1000ULL : 0;
	segment.seq = quell_opt_get_u32(header + 4);
	segment.ack_seq = quell_opt_get_u32(header + 8);
	segment.payload_bytes = quell_sub_sat_u64(skops->skb_len, header_bytes(header));
	segment.marked = is_marked(skops);
	count_found(option_receive(conn, opt, &tcp, &segment));
}

/* Set the longest time of a delayed ACK; the stack may refuse it. */
static __always_inline bool set_ack_delay(struct bpf_sock_ops *skops, u32 delay_us)
{
	return !bpf_setsockopt(skops, SOL_TCP, TCP_BPF_DELACK_MAX, &delay_us, sizeof(delay_us));
}

/*
 * A window of one segment waits for delayed ACKs, usually of 40 ms.  The stack takes no less than
 * two of its ticks, of which there are 1000, 250 or 100 a second.
 */
static __always_inline void shorten_delays(struct bpf_sock_ops *skops)
{
	/* Unrolled: the verifier of 6.1 forgets a counter once its address is an argument. */
	if (set_ack_delay(skops, 2000) || set_ack_delay(skops, 8000))
		return;
	set_ack_delay(skops, 32000);
}

/* The connection speaks the option from here on. */
static __always_inline struct quell_optconn *agree(struct bpf_sock_ops *skops,
						   const struct tcp_sock *tp)
{
	struct quell_optconn *conn = optconn_of(skops, BPF_SK_STORAGE_GET_F_CREATE);

	if (!conn)
		return NULL;
	__builtin_memset(conn, 0, sizeof(*conn));
	conn->secret = bpf_get_prandom_u32();
	conn->option_segs = tp->segs_in;
	conn->send_records = wants_records(tp);
	enable_calls(skops, tp, WRITE_FLAG | PARSE_FLAG);
	shorten_delays(skops);
	COUNT(agreed);
	return conn;
}

static __always_inline void opened_active(struct bpf_sock_ops *skops, const struct tcp_sock *tp)
{
	struct quell_opt opt;

	bool is_ours = cc_kind_of(tp) == CC_KIND_BPF;

	if (is_ours && !is_closed_to_options(tp) &&
	    parse_option(skops, true, 0, &opt) == PARSED_OPTION && opt.version && agree(skops, tp))
		return;
	enable_calls(skops, tp, is_ours ? PARSE_FLAG : 0);
}

static __always_inline void opened_passive(struct bpf_sock_ops *skops, const struct tcp_sock *tp)
{
	struct quell_optconn *conn;
	struct quell_opt opt;

	bool is_modules = cc_kind_of(tp) == CC_KIND_MODULE;

	enable_calls(skops, tp, is_modules ? 0 : PARSE_FLAG);
	/* With Fast Open this is the SYN. */
	if (is_modules || is_closed_to_options(tp) || skops->skb_tcp_flags & TCP_FLAG_SYN ||
	    parse_option(skops, false, 0, &opt) != PARSED_OPTION)
		return;
	conn = agree(skops, tp);
	if (conn)
		process_option(skops, tp, conn, &opt);
}

static __always_inline void parse(struct bpf_sock_ops *skops)
{
	struct tcp_sock *tp = tcp_of(skops);
	struct quell_optconn *conn;
	struct quell_opt opt;
	enum parsed parsed;

	if (!tp || is_closed_to_options(tp))
		return;
	parsed = parse_option(skops, false, 0, &opt);
	if (parsed == PARSED_MALFORMED)
		COUNT(malformed);
	if (parsed != PARSED_OPTION)
		return;
	conn = optconn_of(skops, 0);
	/* Another program may have enabled this call. */
	if (!conn && cc_kind_of(tp) != CC_KIND_MODULE)
		conn = agree(skops, tp);
	if (conn)
		process_option(skops, tp, conn, &opt);
}

/* A device on the path removes the option, or the peer has left: its room is for data again. */
static __always_inline void give_up(struct bpf_sock_ops *skops, const struct tcp_sock *tp)
{
	struct bpf_sock *sk = skops->sk;

	if (sk)
		bpf_sk_storage_delete(&quell_options, sk);
	enable_calls(skops, tp, 0);
	COUNT(stripped);
}

/* Whether a SYN offers the option, or a SYN-ACK accepts an offer; a SYN cookie does not. */
static __always_inline bool has_option_on_syn(struct bpf_sock_ops *skops)
{
	struct tcp_sock *tp = tcp_of(skops);
	struct quell_opt opt;

	if (tp)
		return skops->total_retrans <= SYN_OFFERS_MAX && cc_kind_of(tp) == CC_KIND_BPF &&
		       !is_closed_to_options(tp);
	return skops->args[0] != BPF_WRITE_HDR_TCP_SYNACK_COOKIE &&
	       parse_option(skops, true, BPF_LOAD_HDR_OPT_TCP_SYN, &opt) == PARSED_OPTION &&
	       opt.version;
}

/*
 * The room of a segment in the path's MTU, by the stack's segments, which leave room for
 * timestamps; SACK blocks come on top.  A burst is cut later, into packets that leave room for a
 * data section.  The size of other programs' options is not known before the stack has called all
 * of them.  Beside them a segment has no more than the data section, for which room is kept, unless
 * it has room for a header of any length.
 */
static __always_inline void find_room(const struct tcp_sock *tp, const struct quell_optconn *conn,
				      u32 payload_bytes, struct quell_optconn_room *room)
{
	u32 blocks = tp->rx_opt.num_sacks + BPF_CORE_READ_BITFIELD(tp, rx_opt.dsack);
	u32 sack_bytes = blocks ? SACK_BASE_BYTES + blocks * SACK_BLOCK_BYTES : 0;
	u32 data_bytes = quell_optconn_data_bytes(conn);

	room->option_bytes = QUELL_OPTCONN_HEADER_MAX_BYTES;
	room->packet_bytes = quell_sub_sat_u64(tp->mss_cache, sack_bytes);
	room->payload_bytes = payload_bytes;
	if (payload_bytes > tp->mss_cache)
		room->payload_bytes = quell_sub_sat_u64(room->packet_bytes, data_bytes);
	if (room->payload_bytes + QUELL_OPTCONN_HEADER_MAX_BYTES > room->packet_bytes &&
	    !is_only_sockops(tp))
		room->packet_bytes = quell_min_u64(room->packet_bytes,
						   room->payload_bytes + data_bytes);
}

/* The longest option wanted for which SACK blocks and others leave room in the header. */
static __always_inline void reserve_longest(struct bpf_sock_ops *skops, const struct tcp_sock *tp,
					    struct quell_optconn *conn)
{
	struct quell_opt opt = {};
	struct quell_optconn_room room;
	struct quell_optconn_tcp tcp;
	u32 bytes, i;

	fill_tcp(tp, &tcp);
	find_room(tp, conn, skops->skb_len, &room);
	for (i = 0; i < OPTION_FORMS; i++) {
		bytes = option_choose(conn, &tcp, &room, &opt);
		if (!bytes || !bpf_reserve_hdr_opt(skops, bytes, 0))
			break;
		room.option_bytes = bytes - 1;
	}
	if (!bytes && (room.payload_bytes || quell_optconn_has_echo(conn, &tcp)))
		COUNT(no_room);
}

static __always_inline void reserve(struct bpf_sock_ops *skops)
{
	u32 flags = skops->skb_tcp_flags;
	struct quell_optconn *conn;
	struct tcp_sock *tp;

	if (flags & TCP_FLAG_SYN) {
		if (has_option_on_syn(skops) && bpf_reserve_hdr_opt(skops, QUELL_OPT_SYN_BYTES, 0))
			COUNT(no_room);
		return;
	}
	tp = tcp_of(skops);
	conn = optconn_of(skops, 0);
	if (!tp || !conn || flags & TCP_FLAG_RST || is_closed_to_options(tp))
		return;
	if (skops->args[0] == BPF_WRITE_HDR_TCP_CURRENT_MSS)
		bpf_reserve_hdr_opt(skops, quell_optconn_data_bytes(conn), 0);
	else if (quell_optconn_is_stripped(conn, tp->segs_in))
		give_up(skops, tp);
	else
		reserve_longest(skops, tp, conn);
}

static __always_inline int store(struct bpf_sock_ops *skops, struct quell_opt *opt)
{
	struct option_bytes option = {};

	option_encode(opt, &option);
	return bpf_store_hdr_opt(skops, &option, sizeof(option), 0);
}

/*
 * Payload of the shortest packet that a burst is cut into, as in transmit.c: a segment of the stack
 * less its options and the room kept.
 */
static __always_inline u32 shortest_bytes(const struct tcp_sock *tp, u32 payload_bytes,
					  u32 header_bytes)
{
	u32 segment_bytes = tp->mss_cache + tp->tcp_header_len - header_bytes, rest_bytes;

	if (payload_bytes <= segment_bytes || !segment_bytes)
		return payload_bytes;
	rest_bytes = payload_bytes % segment_bytes;
	return rest_bytes ?: segment_bytes;
}

/* A segment with data that is about to leave. */
struct sent {
	u32	end_seq;	/* sequence number behind its last byte */
	u64	depart_ns;	/* its departure */
};

/* The data section, and the flags of its message; the pacing's departure if that is later. */
static __always_inline void fill_data(const struct tcp_sock *tp, const u8 *header,
				      u32 payload_bytes, u64 now_ns, struct quell_opt *opt,
				      struct sent *sent)
{
	bool fin = header[13] & TCP_FLAG_FIN;
	struct quell_opt_place place = {
		.seq = quell_opt_get_u32(header + 4),
		.snd_una = tp->snd_una,
		.snd_nxt = tp->snd_nxt,
		.write_seq = tp->write_seq,
	};

	place.end_seq = place.seq + payload_bytes + fin;
	place.pushed = !quell_optconn_is_before(place.end_seq, place.write_seq) &&
		       (fin || tp->pushed_seq == place.end_seq);
	opt->flags |= quell_opt_message(&place);
	opt->payload_bytes = shortest_bytes(tp, payload_bytes, header_bytes(header));
	sent->end_seq = place.end_seq;
	sent->depart_ns = quell_max_u64(now_ns, tp->tcp_wstamp_ns);
}

/* Bytes of the header that are written: behind them is the room reserved. */
static __always_inline u32 written_bytes(struct bpf_sock_ops *skops)
{
	const u8 *header = skops->skb_data, *end = skops->skb_data_end;

	return end - header;
}

static __always_inline void write_option(struct bpf_sock_ops *skops, const struct tcp_sock *tp,
					 struct quell_optconn *conn)
{
	const u8 *header = header_of(skops);
	struct quell_optconn_room room;
	struct quell_opt opt = {};
	struct quell_optconn_tcp tcp;
	struct sent sent = {};
	u32 payload_bytes;
	bool waited;

	if (!header)
		return;
	fill_tcp(tp, &tcp);
	payload_bytes = skops->skb_len - header_bytes(header);
	/* As it was reserved: the rest of the room may be another program's. */
	find_room(tp, conn, payload_bytes, &room);
	room.option_bytes = header_bytes(header) - written_bytes(skops);
	if (!option_choose(conn, &tcp, &room, &opt))
		return;
	if (payload_bytes) {
		fill_data(tp, header, payload_bytes, tcp.now_ns, &opt, &sent);
		opt.depart_ns = quell_echo_hide(sent.depart_ns, conn->secret);
	}
	waited = quell_optconn_fill(conn, &opt, tcp.now_ns);
	if (store(skops, &opt))
		return;
	COUNT(sent);
	if (waited)
		COUNT(waited);
	if (payload_bytes)
		option_sent(conn, &tcp, sent.end_seq, sent.depart_ns);
}

/* The stack has the room that reserve() requested. */
static __always_inline void write(struct bpf_sock_ops *skops)
{
	struct quell_opt syn = { .form = QUELL_OPT_SYN, .version = QUELL_OPT_VERSION };
	struct quell_optconn *conn;
	struct tcp_sock *tp;

	if (skops->skb_tcp_flags & TCP_FLAG_SYN) {
		if (!store(skops, &syn))
			COUNT(sent);
		return;
	}
	tp = tcp_of(skops);
	conn = optconn_of(skops, 0);
	if (tp && conn)
		write_option(skops, tp, conn);
}

SEC("sockops")
int quell_option(struct bpf_sock_ops *skops)
{
	struct tcp_sock *tp;

	switch (skops->op) {
	case BPF_SOCK_OPS_TCP_CONNECT_CB:
		/* The route may choose the algorithm, later. */
		enable_calls(skops, tcp_of(skops), WRITE_FLAG);
		break;
	case BPF_SOCK_OPS_TCP_LISTEN_CB:
		tp = tcp_of(skops);
		enable_calls(skops, tp, tp && cc_kind_of(tp) == CC_KIND_MODULE ? 0 : WRITE_FLAG);
		break;
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
		tp = tcp_of(skops);
		if (tp)
			opened_active(skops, tp);
		break;
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		tp = tcp_of(skops);
		if (tp)
			opened_passive(skops, tp);
		break;
	case BPF_SOCK_OPS_HDR_OPT_LEN_CB:
		reserve(skops);
		break;
	case BPF_SOCK_OPS_WRITE_HDR_OPT_CB:
		write(skops);
		break;
	case BPF_SOCK_OPS_PARSE_HDR_OPT_CB:
		parse(skops);
		break;
	}
	return 1;
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From TCP's state to a core's sample, as kmod-cc/quell/cc does it for a socket without a context:
 * round-trip times are the stack's, in microseconds; number of hops and link rate are unknown.
 * Unknown fields are 0.  On a connection with the Quell option, optconn.h, echoes carry round-trip
 * time and records of switches, and the peer may state n.
 */
#ifndef _QUELL_EBPF_SIGNALS_H
#define _QUELL_EBPF_SIGNALS_H

#include <quell/core/lib/window.h>

#include "maps.h"

#define NSEC_PER_USEC		1000ULL

/* RFC 6298, 2.1: the retransmission timeout before the first round-trip time. */
#define FIRST_RTO_NS		1000000000ULL

/* ssthresh of a socket that never had a loss */
#define TCP_INFINITE_SSTHRESH	0x7fffffff

/*
 * tp->ecn_flags: bits that mean that the peer agreed to ECN.  The second is for Accurate ECN,
 * which older kernels lack; their bit of this number is unused.
 */
#define TCP_ECN_RFC3168		0x01
#define TCP_ECN_DEMAND_CWR	0x04
#define TCP_ECN_ACCURATE	0x10

static __always_inline const struct inet_connection_sock *icsk_of(const struct tcp_sock *tp)
{
	return (const struct inet_connection_sock *)tp;
}

static __always_inline u8 ca_state_of(const struct tcp_sock *tp)
{
	return BPF_CORE_READ_BITFIELD(icsk_of(tp), icsk_ca_state);
}

static __always_inline u32 inflight_pkts(const struct tcp_sock *tp)
{
	return tp->packets_out - (tp->sacked_out + tp->lost_out) + tp->retrans_out;
}

/* Framing, IP, TCP with its options, as quell_header_bytes() of <quell/quell.h>. */
static __always_inline u32 header_bytes(const struct tcp_sock *tp)
{
	return QUELL_FRAMING_BYTES + icsk_of(tp)->icsk_af_ops->net_header_len +
	       tp->tcp_header_len + icsk_of(tp)->icsk_ext_hdr_len;
}

static __always_inline bool has_ecn(const struct tcp_sock *tp)
{
	return tp->ecn_flags & (TCP_ECN_RFC3168 | TCP_ECN_ACCURATE);
}

/* The handshake's round-trip time, as quell_first_rtt_ns() of <quell/quell.h>. */
static __always_inline u64 first_rtt_ns(const struct tcp_sock *tp)
{
	return tp->srtt_us ? ((tp->srtt_us >> 3) + 1ULL) * NSEC_PER_USEC : 0;
}

/*
 * As tcp_set_rto(): icsk_rto counts jiffies of an unknown length.  A back-off that the last
 * ACK did not end is not in it.
 */
static __always_inline u64 rto_ns(const struct tcp_sock *tp)
{
	return tp->srtt_us ? ((tp->srtt_us >> 3) + (u64)tp->rttvar_us) * NSEC_PER_USEC :
			     FIRST_RTO_NS;
}

/* As tcp_is_cwnd_limited(): while slow start lasts, a window half full is full. */
static __always_inline bool is_cwnd_limited(const struct tcp_sock *tp)
{
	if (BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited))
		return true;
	return tp->snd_cwnd < tp->snd_ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out;
}

/* Whether the stack reduces the window, and not for a mark that the algorithm uses. */
static __always_inline bool is_reducing(const struct tcp_sock *tp,
					const struct quell_bpf_flow *flow)
{
	u8 state = ca_state_of(tp);

	return state == TCP_CA_Recovery ||
	       (state == TCP_CA_CWR && flow->adapt.flags & QUELL_ADAPT_F_REDUCED);
}

/* TCP's state for the fit to the path. */
static __always_inline void fill_tcp(const struct tcp_sock *tp, struct quell_bpf_flow *flow)
{
	struct quell_bpf_tcp *tcp = &flow->tcp;

	tcp->first_rtt_ns = first_rtt_ns(tp);
	tcp->rto_ns = rto_ns(tp);
	tcp->delivered_bytes = (u64)tp->rate_delivered * tp->mss_cache;
	tcp->interval_us = tp->rate_interval_us;
	tcp->snd_una = tp->snd_una;
	tcp->snd_nxt = tp->snd_nxt;
	tcp->cwnd_pkts = tp->snd_cwnd;
	tcp->ssthresh_pkts = tp->snd_ssthresh < TCP_INFINITE_SSTHRESH ? tp->snd_ssthresh : 0;
	tcp->is_full = is_cwnd_limited(tp) && !is_reducing(tp, flow);
}

/* State of the connection's option, or NULL. */
static __always_inline struct quell_optconn *optconn_of(struct tcp_sock *tp)
{
	return bpf_sk_storage_get(&quell_options, tp, NULL, 0);
}

#if QUELL_BPF_FLAGS & QUELL_CORE_SENDERS
static __always_inline void fill_senders(struct tcp_sock *tp, struct quell_sample *s)
{
	const struct quell_optconn *conn = optconn_of(tp);

	if (!conn)
		return;
	s->senders_q8 = conn->senders_q8;
	s->peer_link_bytes_ps = conn->peer_link_bytes_ps;
}

/* The receiver is notified whether the rate of this connection follows n. */
static __always_inline void set_follows(struct tcp_sock *tp, bool follows)
{
	struct quell_optconn *conn = optconn_of(tp);

	if (conn)
		conn->follows = follows;
}
#else
static __always_inline void fill_senders(struct tcp_sock *tp, struct quell_sample *s)
{
}

static __always_inline void set_follows(struct tcp_sock *tp, bool follows)
{
}
#endif

#if QUELL_BPF_FLAGS & QUELL_CORE_TELEMETRY
/* A peer that speaks the option echoes records; whether switches write any is not known. */
static __always_inline void fill_expected(struct tcp_sock *tp, struct quell_sample *s)
{
	const struct quell_optconn *conn = optconn_of(tp);

	if (conn && conn->send_records)
		s->flags |= QUELL_S_TELEMETRY;
}

static __always_inline void fill_record(const struct quell_optconn *conn, struct quell_sample *s)
{
	quell_telemetry_decode(conn->record, &s->telemetry);
}

/* Whether data of this connection leaves with room for records. */
static __always_inline void set_wants_records(struct tcp_sock *tp, bool send_records)
{
	struct quell_optconn *conn = optconn_of(tp);

	if (conn)
		conn->send_records = send_records;
}
#else
static __always_inline void fill_expected(struct tcp_sock *tp, struct quell_sample *s)
{
}

static __always_inline void fill_record(const struct quell_optconn *conn, struct quell_sample *s)
{
}

static __always_inline void set_wants_records(struct tcp_sock *tp, bool send_records)
{
}
#endif

/* Fields of the sample that do not depend on an ACK. */
static __always_inline void fill_state(struct tcp_sock *tp, struct quell_bpf_flow *flow)
{
	struct quell_sample *s = &flow->sample;

	__builtin_memset(s, 0, sizeof(*s));
	s->now_ns = tp->tcp_clock_cache;
	s->mss_bytes = tp->mss_cache ?: 1;
	s->header_bytes = header_bytes(tp);
	s->inflight_bytes = quell_mul_sat_u32(inflight_pkts(tp), tp->mss_cache);
	s->min_rtt_ns = flow->view.min_rtt_ns;
	if (has_ecn(tp))
		s->flags |= QUELL_S_ECN;
	fill_senders(tp, s);
	fill_expected(tp, s);
	fill_tcp(tp, flow);
}

/*
 * The round-trip time by the echo of this ACK, which the option's program has just parsed.  Return:
 * false if there are no echoes to rely on.
 */
static __always_inline bool fill_echo(struct tcp_sock *tp, const struct rate_sample *rs,
				      struct quell_bpf_flow *flow)
{
	struct quell_sample *s = &flow->sample;
	struct quell_optconn *conn = optconn_of(tp);
	/* TCP's clock starts a little earlier, and marks are as coarse. */
	u64 least_ns = rs->rtt_us > 0 ? (rs->rtt_us - 1) * NSEC_PER_USEC / 4 * 3 : 0;
	u64 rtt_ns = 0;
	bool waited = false;

	if (!conn)
		return false;
	if (rs->acked_sacked) {
		rtt_ns = quell_optconn_take(conn, tp->tcp_clock_cache, least_ns);
		waited = conn->waited;
	}
	if (waited) {
		flow->peer_delays = true;
		/* The window may have been too small or not: unknown. */
		s->flags |= QUELL_S_APP_LIMITED;
	}
	if (!quell_optconn_has_rtt(conn))
		return waited;
	s->min_rtt_ns = conn->min_rtt_ns;
	flow->view.min_rtt_ns = conn->min_rtt_ns;
	if (!rtt_ns)
		return true;
	s->rtt_ns = rtt_ns;
	s->remote_ns = conn->hold_ns;
	fill_record(conn, s);
	flow->view.rtt_ns = rtt_ns;
	flow->view.remote_ns = conn->hold_ns;
	flow->view.echoes = conn->echoes;
	return true;
}

/* Else the stack's microseconds, rounded up so that a minimum stays above 0. */
static __always_inline void fill_rtt(struct tcp_sock *tp, const struct rate_sample *rs,
				     struct quell_bpf_flow *flow)
{
	struct quell_sample *s = &flow->sample;

	if (fill_echo(tp, rs, flow) || rs->rtt_us < 0)
		return;
	s->rtt_ns = ((u64)rs->rtt_us + 1) * NSEC_PER_USEC;
	s->min_rtt_ns = ((u64)tp->rtt_min.s[0].v + 1) * NSEC_PER_USEC;
	s->flags |= QUELL_S_RTT_KERNEL;
	flow->view.rtt_ns = s->rtt_ns;
	flow->view.min_rtt_ns = s->min_rtt_ns;
}

/* Payload of the segments delivered: exact without SACK, in whole segments with it. */
static __always_inline u32 acked_bytes(const struct tcp_sock *tp, u32 acked_seq, u32 pkts)
{
	u64 most_bytes = (u64)pkts * tp->mss_cache;

	if (!tp->sacked_out && tp->snd_una != acked_seq)
		most_bytes = quell_min_u64(most_bytes, tp->snd_una - acked_seq);
	return quell_min_u64(most_bytes, QUELL_U32_MAX);
}

/* Add an ACK's fields, and store TCP's state for the comparison at the next one. */
static __always_inline void fill_ack(const struct tcp_sock *tp, const struct rate_sample *rs,
				     struct quell_bpf_flow *flow)
{
	u32 marked_pkts = tp->delivered_ce - flow->delivered_ce_pkts;
	u32 lost_pkts = rs->losses > 0 ? rs->losses : 0;
	struct quell_sample *s = &flow->sample;

	s->acked_pkts = rs->acked_sacked;
	s->acked_bytes = acked_bytes(tp, flow->acked_seq, s->acked_pkts);
	s->marked_bytes = quell_min_u64((u64)marked_pkts * tp->mss_cache, s->acked_bytes);
	s->lost_bytes = quell_mul_sat_u32(lost_pkts, tp->mss_cache);
	/* Segments may be short: cores subtract the bytes acknowledged from those in flight. */
	s->inflight_bytes = quell_min_u64((u64)rs->prior_in_flight * tp->mss_cache,
					  tp->snd_nxt - flow->acked_seq);
	if (rs->is_app_limited)
		s->flags |= QUELL_S_APP_LIMITED;
	if (tp->snd_una != flow->acked_seq)
		s->flags |= QUELL_S_ADVANCED;
	flow->acked_seq = tp->snd_una;
	flow->delivered_ce_pkts = tp->delivered_ce;
	flow->active_ns = s->now_ns;
	flow->backlogged = tp->write_seq != tp->snd_nxt;
	flow->view.acked_bytes += s->acked_bytes;
}

#endif /* _QUELL_EBPF_SIGNALS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interface between the tracer's BPF object (ebpf/trace.bpf.c) and "quell trace", which loads
 * it: the flows to trace, and the record of a decision.
 *
 * Addresses are those of IPv6, IPv4 ones mapped into it (::ffff:192.0.2.1), as sockets that
 * serve both have them.
 */
#ifndef _QUELL_TRACE_H
#define _QUELL_TRACE_H

#include <quell/core/lib/types.h>
#include <quell/bpf.h>

/* Ring buffer of struct quell_trace_record, and an array of one u64: records dropped. */
#define QUELL_TRACE_RING_MAP	"quell_records"
#define QUELL_TRACE_DROPS_MAP	"quell_drops"
/* QUELL_TRACE_VIEWS of them, numbered: where BPF variants keep struct quell_bpf_view. */
#define QUELL_TRACE_VIEW_MAP	"quell_view_"
#define QUELL_TRACE_VIEWS	8
/* quell.ko's tracepoint of a decision, by which its view is seen. */
#define QUELL_TRACE_POINT	"quell_decision"

#define QUELL_TRACE_ADDR_WORDS	4
#define QUELL_TRACE_CC_BYTES	16

/* Cause of a record. */
enum quell_trace_event {
	QUELL_TRACE_ACK,		/* an acknowledgment was processed */
	QUELL_TRACE_STATE,		/* the state of recovery was set */
	QUELL_TRACE_RETRANSMIT,		/* a segment, or several in one, left again */
	QUELL_TRACE_TIMEOUT,		/* the retransmission timer expired */
	QUELL_TRACE_EVENTS,
};

/**
 * struct quell_trace_prefix - which addresses of one side
 * @addr: network order
 * @mask: ones where @addr counts, network order; all zero: any address
 */
struct quell_trace_prefix {
	u32	addr[QUELL_TRACE_ADDR_WORDS];
	u32	mask[QUELL_TRACE_ADDR_WORDS];
};

/**
 * struct quell_trace_config - which flows are traced; set before the object is loaded
 * @cookie:	 of the one flow; 0: any
 * @sample_below: flows whose hash is below, see quell_trace_is_sampled(); 0: all
 * @wake_bytes:	 wake the reader when so much is in the ring; it also polls
 * @src:	 local address
 * @dst:	 remote address
 * @cc:		 name of the congestion control; empty: any
 * @netns_inum:	 inode number of the network namespace; 0: any
 * @views:	 number of QUELL_TRACE_VIEW_MAP maps in use
 * @sport:	 local port; 0: any
 * @dport:	 remote port, network order; 0: any
 */
struct quell_trace_config {
	u64				cookie;
	u64				sample_below;
	u64				wake_bytes;
	struct quell_trace_prefix	src;
	struct quell_trace_prefix	dst;
	char				cc[QUELL_TRACE_CC_BYTES];
	u32				netns_inum;
	u32				views;
	u16				sport;
	u16				dport;
	u32				pad;
};

/**
 * struct quell_trace_record - a flow behind a decision
 * @time_ns:	     CLOCK_MONOTONIC
 * @cookie:	     the socket's
 * @dropped:	     records that found no room so far, of all flows
 * @pacing_bytes_ps: pacing rate; all ones: not paced
 * @acked_bytes:     payload acknowledged so far
 * @view:	     state of the algorithm, if @has_view
 * @cwnd_pkts:	     congestion window
 * @ssthresh_pkts:   slow start threshold; 0x7fffffff: not yet set
 * @srtt_us:	     smoothed round-trip time; 0 not yet known
 * @rtt_us:	     newest round-trip time; 0 not yet known
 * @min_rtt_us:	     smallest round-trip time of the last minutes; all ones: not yet known
 * @inflight_pkts:   segments in flight
 * @delivered_pkts:  segments delivered so far
 * @marked_pkts:     segments delivered as marked CE so far
 * @lost_pkts:	     segments marked lost so far
 * @retrans_pkts:    segments sent again so far
 * @mss_bytes:	     segment size
 * @saddr:	     local address
 * @daddr:	     remote address
 * @cc:		     name of the congestion control
 * @sport:	     local port
 * @dport:	     remote port, network order
 * @event:	     enum quell_trace_event
 * @ca_state:	     TCP_CA_*
 * @app_limited:     the program, not the window, limits sending
 * @has_view:	     an algorithm of Quell governs, and reported its state
 */
struct quell_trace_record {
	u64			time_ns;
	u64			cookie;
	u64			dropped;
	u64			pacing_bytes_ps;
	u64			acked_bytes;
	struct quell_bpf_view	view;
	u32			cwnd_pkts;
	u32			ssthresh_pkts;
	u32			srtt_us;
	u32			rtt_us;
	u32			min_rtt_us;
	u32			inflight_pkts;
	u32			delivered_pkts;
	u32			marked_pkts;
	u32			lost_pkts;
	u32			retrans_pkts;
	u32			mss_bytes;
	u32			saddr[QUELL_TRACE_ADDR_WORDS];
	u32			daddr[QUELL_TRACE_ADDR_WORDS];
	char			cc[QUELL_TRACE_CC_BYTES];
	u16			sport;
	u16			dport;
	u8			event;
	u8			ca_state;
	u8			app_limited;
	u8			has_view;
	u32			pad;
};

/**
 * quell_trace_is_sampled() - whether a flow is one of those sampled
 * @cookie: the socket's; consecutive numbers are common
 * @below:  2^32 / N for one flow in N
 *
 * The same for all records of a flow.  The mixing is that of MurmurHash3 for 64 bits.
 */
static inline bool quell_trace_is_sampled(u64 cookie, u64 below)
{
	cookie ^= cookie >> 33;
	cookie *= 0xff51afd7ed558ccdULL;
	cookie ^= cookie >> 33;
	cookie *= 0xc4ceb9fe1a85ec53ULL;
	return cookie >> 32 < below;
}

#endif /* _QUELL_TRACE_H */

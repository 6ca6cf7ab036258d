/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The input and the output of every algorithm core.
 *
 * A core is a header without sockets, packets, clocks or locks.  The same text is compiled into the
 * kernel module, the BPF program and the user-space tests, so it uses only operations that all
 * three support: unsigned 64-bit arithmetic, division only through quell_div_u64(), 128-bit
 * products only in lib, no floating point.  Time is u64 nanoseconds, rates are u64 bytes per
 * second, sizes are bytes; a "_q16" value counts 1/65536 of its unit.
 */
#ifndef _QUELL_CORE_CORE_H
#define _QUELL_CORE_CORE_H

#include <quell/core/lib/types.h>

#define QUELL_Q16_SHIFT		16
#define QUELL_Q16_ONE		65536ULL

#define QUELL_NS_PER_SEC	1000000000ULL

/* Of a parameter: its value after a reset, the smallest and the largest that is accepted. */
#define QUELL_RANGE(def_, min_, max_)	.def = (def_), .min = (min_), .max = (max_)

/* No pacing: send as fast as the window and the link allow. */
#define QUELL_RATE_UNLIMITED	(~0ULL)

/* quell_sample.flags */
#define QUELL_S_APP_LIMITED	0x1 /* the application had no more data to send */
#define QUELL_S_RTT_HARDWARE	0x2 /* rtt_ns comes from hardware stamps */
#define QUELL_S_RTT_KERNEL	0x4 /* rtt_ns is the stack's microsecond estimate */
#define QUELL_S_ECN		0x8 /* the peer reports which data it received marked CE */
#define QUELL_S_SEGMENT_DONE	0x10 /* rtt_ns is that of a TSO burst now acknowledged in full */
#define QUELL_S_TELEMETRY	0x20 /* the peer echoes telemetry records */
#define QUELL_S_RTT_OLD		0x40 /* rtt_ns is that of the previous round, already reported */
#define QUELL_S_ADVANCED	0x80 /* the oldest segment outstanding was acknowledged */
#define QUELL_S_FITTED		0x100 /* ->init: link_bytes_ps is the rate measured on the path */

/* quell_telemetry.tx_units: bytes per unit, and mask of the counter. */
#define QUELL_TELEMETRY_TX_UNIT_BYTES	64U
#define QUELL_TELEMETRY_TX_MASK		0xffffffU	/* 1 GiB */
/* quell_telemetry.time_ns: mask of the clock. */
#define QUELL_TELEMETRY_TIME_MASK	0xffffffU	/* 16.8 ms */
/*
 * Two records with ACKs received further apart cannot be compared: the clock may have wrapped.  8
 * ms are less than half of its period: a difference of more than half means that this record is
 * older than the last, unless the last took 0.4 ms longer on its way back, and then this record may
 * be ignored safely.  An older record would be mistaken for a newer one only if it took 8.7 ms
 * longer.  The byte counter wraps in 8 ms at 1.07 Tbit/s.
 */
#define QUELL_TELEMETRY_FRESH_NS	8000000ULL

/**
 * struct quell_telemetry - the most loaded hop of a packet's path, at dequeue
 * @link_bytes_ps:	rate of the link, wire bytes/s
 * @queue_bytes:	queue the packet left behind, bytes
 * @tx_units:		wire bytes sent so far, QUELL_TELEMETRY_TX_UNIT_BYTES each,
 *			modulo QUELL_TELEMETRY_TX_MASK + 1
 * @time_ns:		the switch's clock, ns, modulo QUELL_TELEMETRY_TIME_MASK + 1
 * @hop:		number of the hop, 1 .. 255; 0: no record, other fields are unset
 *
 * Counters and clocks of different hops are unrelated and cannot be compared.
 */
struct quell_telemetry {
	u64	link_bytes_ps;
	u32	queue_bytes;
	u32	tx_units;
	u32	time_ns;
	u8	hop;
};

/**
 * struct quell_sample - measurements from one ACK; for other events, the state of the flow
 * @now_ns:		time of processing, CLOCK_MONOTONIC, ns
 * @rtt_ns:		round-trip time of the newest acknowledged segment with the
 *			time to serialise it subtracted (TIMELY, section 3.1), ns;
 *			0 if this ACK gives no measurement
 * @min_rtt_ns:		smallest @rtt_ns of the flow so far, ns; 0 if not known; for ->init the
 *			smoothed round-trip time, at first that of the handshake
 * @remote_ns:		part of @rtt_ns spent in the remote host, ns; 0 unknown
 * @link_bytes_ps:	rate of the interface the flow leaves by; 0 unknown
 * @peer_link_bytes_ps:	rate of the interface by which the receiver gets it; 0 unknown
 * @acked_bytes:	payload newly acknowledged, cumulative and selective
 * @acked_pkts:		@acked_bytes in segments of at most @mss_bytes
 * @burst_bytes:	payload that left the sender as one burst, up to the newest acknowledged
 *			byte; 0 unknown
 * @marked_bytes:	part of @acked_bytes that reached the receiver marked CE
 * @trimmed_bytes:	payload reported trimmed by a switch
 * @lost_bytes:		payload newly declared lost
 * @inflight_bytes:	payload in flight before this ACK
 * @mss_bytes:		maximum segment size, > 0
 * @senders_q8:		n that the receiver stated, <quell/core/dart/share.h>; 0 unknown
 * @flags:		QUELL_S_*
 * @header_bytes:	bytes of a full segment on the wire beside @mss_bytes; 0 unknown
 * @telemetry:		record of the packet that this ACK acknowledges
 * @idle_ns:		for a restart after an idle period: time during which no data was
 *			outstanding, ns
 * @other_flows:	for a start or restart: number of other Quell flows in the namespace
 * @hops:		switches on the path from the receiver, from the time-to-live
 */
struct quell_sample {
	u64	now_ns;
	u64	rtt_ns;
	u64	min_rtt_ns;
	u64	remote_ns;
	u64	link_bytes_ps;
	u64	peer_link_bytes_ps;
	u32	acked_bytes;
	u32	acked_pkts;
	u32	burst_bytes;
	u32	marked_bytes;
	u32	trimmed_bytes;
	u32	lost_bytes;
	u32	inflight_bytes;
	u32	mss_bytes;
	u32	senders_q8;
	u16	flags;
	u16	header_bytes;
	struct quell_telemetry	telemetry;
	u64	idle_ns;
	u32	other_flows;
	u8	hops;
};

/**
 * struct quell_decision - output of the algorithm
 * @window_q16:		congestion window in bytes, Q16: below one segment is legal
 *			and becomes one segment paced at @pacing_bytes_ps
 * @pacing_bytes_ps:	pacing rate in payload bytes per second, or
 *			QUELL_RATE_UNLIMITED
 * @target_ns:		target delay of the algorithm, ns, for display; 0 if it has no target
 * @change_path:	request another path through the network
 */
struct quell_decision {
	u64	window_q16;
	u64	pacing_bytes_ps;
	u64	target_ns;
	bool	change_path;
};

#endif /* _QUELL_CORE_CORE_H */

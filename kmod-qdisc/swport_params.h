/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The administrator's configuration of a port, as swport_netlink.c reads it.
 */
#ifndef _QUELL_SWPORT_PARAMS_H
#define _QUELL_SWPORT_PARAMS_H

#include <linux/types.h>
#include <quell/core/port/iofd.h>
#include <quell/core/port/redclass.h>
#include <uapi/linux/pkt_sched_swport.h>

/**
 * struct swport_trim_params - how packets are trimmed that do not fit the data band
 * @size_bytes:	length a frame is trimmed to; 0: the packet is dropped
 * @dscp:	DSCP of trimmed packets, by which other ports recognise them
 * @queue:	enum swport_trim_queue
 * @eligible:	bit per DSCP whose packets are trimmed
 * @known:	bit per DSCP, besides @dscp, of packets trimmed by other ports
 * @to_sender:	send a NACK to senders that understand it
 */
struct swport_trim_params {
	u32	size_bytes;
	u32	dscp;
	u32	queue;
	u64	eligible;
	u64	known;
	bool	to_sender;
};

/**
 * struct swport_via - one alternate next hop, as the administrator configured it
 * @ifindex:	device, in the port's namespace
 * @addr_bytes:	4 of IPv4, 16 of IPv6
 * @addr:	next hop, network order; zero beyond @addr_bytes
 */
struct swport_via {
	int	ifindex;
	u8	addr_bytes;
	u8	addr[16];
};

/**
 * struct swport_deflect_params - which flows are deflected, and to which next hops
 * @on:		deflection is enabled; if not, the other fields are ignored
 * @iofd:	threshold, entries, idle time
 * @token_base:	DSCP of a packet without tokens
 * @token_max:	maximum number of tokens; the DSCP is @token_base + tokens
 * @via_nr:	number of alternates
 * @via:	the alternates
 */
struct swport_deflect_params {
	bool				on;
	struct quell_iofd_params	iofd;
	u32				token_base;
	u32				token_max;
	u32				via_nr;
	struct swport_via		via[SWPORT_DEFLECT_VIA_MAX];
};

/**
 * struct swport_params - the administrator's configuration
 * @rate_bytes_ps:	speed of the port; 0: as fast as the device takes packets
 * @overhead_bytes:	wire overhead of each packet beyond its length
 * @limit_bytes:	capacity of the data band
 * @control_limit_bytes: capacity of the control band
 * @control_share_q16:	most that control gets of the wire while data waits
 * @ecn_mode:		enum swport_ecn_mode
 * @ecn_drop:		drop what is to be marked and is not ECN-capable
 * @red:		marking thresholds; ignored when @ecn_mode is off
 * @red_classes:	DSCP classes with their own thresholds; empty when @ecn_mode is off
 * @seed:		seed of the random marking decisions; 0: random
 * @telemetry_ns:	base round-trip time of the network, ns; 0: no telemetry
 * @tcp_int_ns:		time the rate available is averaged over, ns; 0: TCP-INT
 *			options pass as they are
 * @trim:		trimming
 * @buffer_bytes:	shared buffer size, in a request that sets it; else 0
 * @alpha_q16:		threshold as a fraction of the shared buffer's free space; 0: not shared
 * @percentiles:	keep depth and sojourn percentiles
 * @split_gso:		enum swport_split_gso
 * @joint:		this is one queue of a port of many, whose rate, telemetry and TCP-INT
 *			parameters all its queues have alike
 * @bql:		what the device has taken and not reported sent counts as queued
 * @timer_slack_ns:	time by which a packet may leave late, that several leave by one timer
 * @memory_limit_bytes:	most that the buffers of both bands take; 0: by the limits
 * @deflect:		deflection of flows when the queue is long
 *
 * Written with sch_tree_lock and RTNL held, read with either.
 */
struct swport_params {
	u64			rate_bytes_ps;
	u32			overhead_bytes;
	u32			limit_bytes;
	u32			control_limit_bytes;
	u32			control_share_q16;
	u32			ecn_mode;
	u32			ecn_drop;
	struct quell_red_params	red;
	struct quell_red_classes red_classes;
	u32			seed;
	u32			telemetry_ns;
	u32			tcp_int_ns;
	struct swport_trim_params trim;
	u32			buffer_bytes;
	u32			alpha_q16;
	u32			percentiles;
	u32			split_gso;
	u32			joint;
	u32			bql;
	u32			timer_slack_ns;
	u32			memory_limit_bytes;
	struct swport_deflect_params deflect;
};

#endif /* _QUELL_SWPORT_PARAMS_H */

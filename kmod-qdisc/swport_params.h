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

/*
 * Trimming, off if @size_bytes, the length of a frame after it, is 0.  @eligible: bit per DSCP of
 * packets to trim; @known: bit per DSCP, besides @dscp, of packets that other ports trimmed.
 */
struct swport_trim_params {
	u32	size_bytes;
	u32	dscp;
	u32	queue;
	u64	eligible;
	u64	known;
	bool	to_sender;
};

/* An alternate next hop: @ifindex in the port's namespace, @addr in network order, zero-padded. */
struct swport_via {
	int	ifindex;
	u8	addr_bytes;
	u8	addr[16] __aligned(4);
};

/* Deflection; the DSCP of a packet is @token_base + its tokens, at most @token_max of them. */
struct swport_deflect_params {
	bool				on;
	struct quell_iofd_params	iofd;
	u32				token_base;
	u32				token_max;
	u32				via_nr;
	struct swport_via		via[SWPORT_DEFLECT_VIA_MAX];
};

/*
 * Configuration of a port
 * @rate_bytes_ps:	rate of the wire; 0: as fast as the device dequeues
 * @overhead_bytes:	wire overhead of each packet beyond its length
 * @control_share_q16:	largest share of the wire for control while data is queued
 * @ecn_mode:		enum swport_ecn_mode
 * @ecn_drop:		drop packets selected for marking that are not ECN-capable
 * @red:		marking thresholds; ignored when @ecn_mode is off
 * @red_classes:	DSCP classes with their own thresholds; empty when @ecn_mode is off
 * @seed:		seed of the random marking decisions; 0: random
 * @telemetry_ns:	base round-trip time of the network, ns; 0: no telemetry
 * @tcp_int_ns:		averaging time of the available rate, ns; 0: no TCP-INT
 * @buffer_bytes:	shared buffer size, in a request that sets it; else 0
 * @alpha_q16:		threshold as a fraction of the shared buffer's free space; 0: not shared
 * @split_gso:		enum swport_split_gso
 * @joint:		one queue of a joint port: rate, telemetry and TCP-INT are the port's
 * @bql:		bytes accepted by the device and not completed count as queued
 * @timer_slack_ns:	how late a packet may be dequeued, so that one timer serves several
 * @memory_limit_bytes:	limit of both bands' truesize; 0: derived from their limits
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

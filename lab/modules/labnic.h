/* SPDX-License-Identifier: GPL-2.0 */
/*
 * quell_labnic: declarations shared by its source files.
 */
#ifndef _QUELL_LABNIC_H
#define _QUELL_LABNIC_H

#include <linux/hrtimer.h>
#include <linux/net_tstamp.h>
#include <linux/netdevice.h>
#include <linux/ptp_clock_kernel.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/timerqueue.h>
#include <linux/types.h>

#include "labnic_pause.h"
#include "labnic_tap.h"
#include "quellnic_uapi.h"

/* Added to every frame on the wire: FCS, preamble with SFD, inter-frame gap. */
#define LABNIC_WIRE_OVERHEAD_BYTES	(4 + 8 + 12)
/* Shorter frames are padded to this, FCS not counted (IEEE 802.3, 3.2.8). */
#define LABNIC_FRAME_MIN_BYTES		60

#define LABNIC_RATE_MIN_BITS_PS		1000000ULL		/* 1 Mbit/s */
#define LABNIC_RATE_MAX_BITS_PS		3200000000000ULL	/* 3.2 Tbit/s */
#define LABNIC_DELAY_MAX_NS		10000000000ULL		/* 10 s */
#define LABNIC_RING_MIN_PKTS		2
#define LABNIC_RING_MAX_PKTS		65536
#define LABNIC_RING_DEFAULT_PKTS	64
#define LABNIC_TSO_MAX_PKTS		64
#define LABNIC_NOISE_MAX_NS		100000000ULL		/* 100 ms */
#define LABNIC_MTU_MAX_BYTES		9216
#define LABNIC_DRIFT_MAX_PPB		1000000	/* 0.1 %, ten times a bad crystal */

/**
 * struct labnic_phc - the hardware clock of a NIC
 * @info: operations registered with the PTP subsystem
 * @clock: registered clock, NULL without PTP support
 * @lock: protects the four fields below
 * @base_host_ns: CLOCK_MONOTONIC at the last adjustment
 * @base_phc_ns: this clock at @base_host_ns
 * @drift_ppb: error of the oscillator, fixed at creation
 * @adj_scaled_ppm: correction by clock_adjtime(), in ppm with 16 binary places
 */
struct labnic_phc {
	struct ptp_clock_info	info;
	struct ptp_clock	*clock;
	spinlock_t		lock;	/* the fields below */
	u64			base_host_ns;
	s64			base_phc_ns;
	s32			drift_ppb;
	s64			adj_scaled_ppm;
};

/**
 * struct labnic_noise - delay of a host between wire and stack
 * @noise_ns: longest time a packet waits; 0: packets do not wait
 * @lock: protects the fields below
 * @random: state of the generator
 * @last_ns: per hash of flows, delivery time of its last packet
 * @waiting: packets, in order of delivery
 * @timer: fires at the first delivery
 */
struct labnic_noise {
	u64			noise_ns;
	spinlock_t		lock;	/* the fields below */
	u64			random;
	u64			*last_ns;
	struct sk_buff_head	waiting;
	struct hrtimer		timer;
};

/**
 * struct labnic_stats - free-running counters of one NIC
 * @tx_pkts: packets whose last bit has left
 * @tx_bytes: bytes of @tx_pkts, without FCS, preamble and gap
 * @rx_pkts: packets that arrived for the stack
 * @rx_bytes: bytes of @rx_pkts
 * @ring_drop_pkts: packets refused because the ring was full
 * @rx_drop_pkts: packets lost at this end: device down, out of memory or dropped
 *	as configured
 *
 * Written in softirq under the port's lock or by its timer alone; read by
 * anyone with READ_ONCE().
 */
struct labnic_stats {
	u64	tx_pkts;
	u64	tx_bytes;
	u64	rx_pkts;
	u64	rx_bytes;
	u64	ring_drop_pkts;
	u64	rx_drop_pkts;
};

/**
 * enum labnic_pause - what a pause frame says of a priority
 * @LABNIC_NO_PAUSE: it is none
 * @LABNIC_XOFF: send no more
 * @LABNIC_XON: go on
 */
enum labnic_pause {
	LABNIC_NO_PAUSE,
	LABNIC_XOFF,
	LABNIC_XON,
};

/**
 * struct labnic_pfc_class - one priority of a port
 * @shared_bytes: held of what came in by the port, headroom not counted
 * @headroom_bytes: the same in the headroom
 * @pausing: the other end was told to pause
 * @stuck: while looking for deadlocks
 * @moved_ns: when any of it left last, or, if that was later, when @pausing began
 * @paused_since_ns: since when this end is paused, if it is
 * @stats: counters; but for what is held now
 */
struct labnic_pfc_class {
	u32				shared_bytes;
	u32				headroom_bytes;
	bool				pausing;
	bool				stuck;
	u64				moved_ns;
	u64				paused_since_ns;
	struct quellnic_pfc_stats	stats;
};

/* quell_swport_pause() */
typedef bool (*labnic_pause_fn)(struct net_device *dev, u8 priorities);

struct labnic_pace;
struct labnic_pool;
struct labnic_routes;

/**
 * struct labnic_pfc - priority flow control of a port
 * @list: entry in the list of all ports that have it
 * @port: the port
 * @config: what the end of the cable was told
 * @counts: what comes in is counted: it is a switch's port
 * @paused: bit per priority in which this end is paused
 * @pool: memory shared with other ports; NULL: the threshold is fixed
 * @pause_fn: tells the port's qdisc; NULL without sch_swport
 * @class: by priority
 *
 * Written in softirq, of which the laboratory has one at a time.
 */
struct labnic_pfc {
	struct list_head	list;
	struct labnic_port	*port;
	struct quellnic_pfc	config;
	bool			counts;
	u8			paused;
	struct labnic_pool	*pool;
	labnic_pause_fn		pause_fn;
	struct labnic_pfc_class	class[QUELLNIC_PFC_PRIORITIES];
};

/**
 * struct labnic_credit - credits that a host's card hands out, labnic_credit.c
 * @port: the card
 * @config: what the end of the cable was told
 * @wanting: flows with demand whose senders have more to send than they have credits for
 * @spare: the other flows with demand
 * @untold: flows whose senders have not been told of a grant
 * @due: with ExpressPass, flows by the times of their next credits
 * @next_ns: when the next credit is due, whole part
 * @next_frac: fraction of that time, in units of 1 ns / (rate of the port * percent)
 * @is_armed: @timer is to fire
 * @timer: fires when the next credit is due and a flow waits for it
 * @stats: counters
 */
struct labnic_credit {
	struct labnic_port		*port;
	struct quellnic_credit		config;
	struct list_head		wanting;
	struct list_head		spare;
	struct list_head		untold;
	struct timerqueue_head		due;
	u64				next_ns;
	u64				next_frac;
	bool				is_armed;
	struct hrtimer			timer;
	struct quellnic_credit_stats	stats;
};

/**
 * struct labnic_frame - a packet between the two ends of a cable
 * @skb: the packet
 * @leave_ns: when its last bit leaves this end
 * @bytes: its length when it was sent
 * @pause: what a pause frame says, no packet of the stack's
 * @priority: of which priority it says that
 * @is_awaited: someone at this end wants to know when it has left
 */
struct labnic_frame {
	struct sk_buff	*skb;
	u64		leave_ns;
	u32		bytes;
	u8		pause;
	u8		priority;
	bool		is_awaited;
};

/* So many make a kilobyte. */
#define LABNIC_CHUNK_PKTS	42

/**
 * struct labnic_chunk - packets in a row
 * @next: those after it; NULL: none yet
 * @frame: the packets
 */
struct labnic_chunk {
	struct labnic_chunk	*next;
	struct labnic_frame	frame[LABNIC_CHUNK_PKTS];
};

/**
 * struct labnic_place - a packet's place on a line
 * @chunk: where it is; NULL before the first packet of all
 * @index: which one there; LABNIC_CHUNK_PKTS: the first of the next chunk, if that is there
 */
struct labnic_place {
	struct labnic_chunk	*chunk;
	u32			index;
};

/**
 * struct labnic_line - the packets on one direction of a cable, in their order
 * @arriving: the next that arrives
 * @leaving: the next that leaves
 * @end: one beyond the last
 * @flying: how many have left and not arrived
 * @sending: how many are in the transmit ring
 * @spare: an empty chunk; NULL: none
 */
struct labnic_line {
	struct labnic_place	arriving;
	struct labnic_place	leaving;
	struct labnic_place	end;
	u32			flying;
	u32			sending;
	struct labnic_chunk	*spare;
};

/**
 * struct labnic_port - one end of a cable, the private part of its net_device
 * @timer: fires at the next departure or arrival
 * @next_skb: the packet that @timer will be about, if that looks at it
 * @line: packets that were sent and have not arrived
 * @dev: the device
 * @peer: device at the other end; NULL while the pair is taken apart (RTNL)
 * @rate_bits_ps: line rate of the outgoing direction
 * @delay_ns: propagation time of the outgoing direction
 * @ring_pkts: size of the transmit ring
 * @lock: protects @line, @next_skb, @busy_ns and @busy_frac
 * @busy_ns: when the line falls idle, whole part
 * @busy_frac: fraction of that time, in units of 1 ns / @rate_bits_ps
 * @drop_first: number of the first data packet the cable drops; 0: no drops
 * @drop_pkts: number of consecutive packets it drops
 * @trim_first: number of the first data packet the cable trims; 0: no trimming
 * @trim_every: distance from one trimmed data packet to the next
 * @trim_pkts: number of packets it trims
 * @corrupt_pkt: number of the data packet of which the cable falsifies a byte; 0: none
 * @corrupt_at: which byte of its payload
 * @data_pkts: data packets that passed the cable, counted if it does any of these
 * @pfc: priority flow control; NULL without
 * @routes: where flows go that came in by this port of a switch; NULL before the first
 * @credit: credits that the host hands out; NULL without
 * @pace: has the packets of each flow wait for each other; NULL without
 * @noise: delay of the host behind this port
 * @stats: counters
 * @hwtstamp: timestamping configured by user space (RTNL to write)
 * @phc: hardware clock
 */
struct labnic_port {
	struct hrtimer			timer;
	struct sk_buff			*next_skb;
	struct labnic_line		line;
	struct net_device		*dev;
	struct net_device __rcu		*peer;
	u64				rate_bits_ps;
	u64				delay_ns;
	u32				ring_pkts;
	spinlock_t			lock;	/* @line, @next_skb and the two fields below */
	u64				busy_ns;
	u64				busy_frac;
	u64				drop_first;
	u32				drop_pkts;
	u64				trim_first;
	u32				trim_every;
	u32				trim_pkts;
	u64				corrupt_pkt;
	u32				corrupt_at;
	u64				data_pkts;
	struct labnic_pfc		*pfc;
	struct labnic_routes		*routes;
	struct labnic_credit		*credit;
	struct labnic_pace		*pace;
	struct labnic_noise		noise;
	struct labnic_stats		stats;
	struct kernel_hwtstamp_config	hwtstamp;
	struct labnic_phc		phc;
};

/* labnic_wire.c */
void labnic_wire_init(struct labnic_port *port);
void labnic_wire_stop(struct labnic_port *port);
void labnic_wire_free(struct labnic_port *port);
netdev_tx_t labnic_wire_xmit(struct sk_buff *skb, struct net_device *dev);
void labnic_wire_send(struct labnic_port *port, struct sk_buff *skb);
bool labnic_wire_has_room(const struct labnic_port *port);
void labnic_wire_pause(struct labnic_port *port, enum labnic_pause kind, u8 priority);

/* labnic_forward.c */
bool labnic_forward(struct labnic_port *port, struct sk_buff *skb);
void labnic_forward_free(struct labnic_port *port);

/* labnic_pfc.c */
int labnic_pfc_create(struct labnic_port *port, const struct quellnic_pfc *config);
void labnic_pfc_free(struct labnic_port *port);
bool labnic_pfc_admit(struct labnic_port *port, struct sk_buff *skb, u64 now_ns);
void labnic_pfc_transmitted(struct labnic_port *port, struct sk_buff *skb, u64 now_ns);
void labnic_pfc_receive(struct labnic_port *port, enum labnic_pause kind, u8 priority, u64 now_ns);
void labnic_pfc_stats(const struct labnic_port *port, struct quellnic_pfc_stats *stats);

/* labnic_credit.c */
int labnic_credit_create(struct labnic_port *port, const struct quellnic_credit *config,
			 struct netlink_ext_ack *extack);
void labnic_credit_stop(struct labnic_port *port);
void labnic_credit_stats(const struct labnic_port *port, struct quellnic_credit_stats *stats);
void labnic_credit_free(struct labnic_port *port);
void labnic_credit_receive(struct labnic_port *port, struct sk_buff *skb, u64 now_ns);
void labnic_credit_transmit(struct labnic_port *port, struct sk_buff *skb);
void labnic_credit_send_pulls(struct labnic_port *port);

/* labnic_pace.c */
int labnic_pace_create(struct labnic_port *port, u64 rate_bits_ps);
void labnic_pace_stop(struct labnic_port *port);
void labnic_pace_free(struct labnic_port *port);
bool labnic_pace_holds(struct labnic_port *port, struct sk_buff *skb);
u64 labnic_pace_bits_ps(const struct labnic_port *port);

/* labnic_deadlock.c */
void labnic_deadlock_init(void);
void labnic_deadlock_add(struct labnic_pfc *pfc);
void labnic_deadlock_remove(struct labnic_pfc *pfc);
void labnic_deadlock_watch(void);
void labnic_pause_notify(enum labnic_pause_event event, const char *text, u8 priority, u64 time_ns);

/* labnic_tap.c */
bool labnic_has_tap(void);
void labnic_trace(enum labnic_tap_event event, struct net_device *dev,
		  const struct sk_buff *skb, const struct iphdr *iph, u64 time_ns);
void labnic_hand_over(struct sk_buff *skb, u64 now_ns);

/* labnic_trim.c */
bool labnic_trim(struct labnic_port *port, struct sk_buff *skb);

/* labnic_noise.c */
int labnic_noise_init(struct labnic_noise *noise, u64 noise_ns, u64 seed);
void labnic_noise_stop(struct labnic_noise *noise);
void labnic_noise_free(struct labnic_noise *noise);
void labnic_noise_receive(struct labnic_noise *noise, struct sk_buff *skb,
			  u64 arrive_ns);

/* labnic_phc.c */
int labnic_phc_register(struct labnic_port *port, s64 offset_ns, s32 drift_ppb);
void labnic_phc_unregister(struct labnic_port *port);
int labnic_phc_adjtime(struct ptp_clock_info *info, s64 delta_ns);
u64 labnic_phc_ns(struct labnic_phc *phc, u64 host_ns);

#endif /* _QUELL_LABNIC_H */

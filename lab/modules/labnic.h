/* SPDX-License-Identifier: GPL-2.0 */
/*
 * quell_labnic: declarations shared by its source files.
 */
#ifndef _QUELL_LABNIC_H
#define _QUELL_LABNIC_H

#include <linux/hrtimer.h>
#include <linux/in6.h>
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

/* The hardware clock of a NIC. */
struct labnic_phc {
	struct ptp_clock_info	info;	/* operations registered with the PTP subsystem */
	struct ptp_clock	*clock;	/* registered clock, NULL without PTP support */
	spinlock_t		lock;	/* the fields below */
	u64			base_host_ns;	/* CLOCK_MONOTONIC at the last adjustment */
	s64			base_phc_ns;	/* this clock at @base_host_ns */
	s32			drift_ppb;	/* error of the oscillator, fixed at creation */
	/* Correction by clock_adjtime(), in ppm with 16 binary places. */
	s64			adj_scaled_ppm;
};

/* Delay of a host between wire and stack. */
struct labnic_noise {
	/* Longest time a packet waits; 0: packets do not wait. */
	u64			noise_ns;
	spinlock_t		lock;	/* the fields below */
	u64			random;	/* state of the generator */
	/* Per hash of flows, delivery time of its last packet. */
	u64			*last_ns;
	struct sk_buff_head	waiting;	/* packets, in order of delivery */
	struct hrtimer		timer;	/* fires at the first delivery */
};

/*
 * Free-running counters of one NIC.  Written in softirq under the port's lock or by its timer
 * alone; read by anyone with READ_ONCE().
 */
struct labnic_stats {
	u64	tx_pkts;	/* packets sent to their last bit */
	u64	tx_bytes;	/* bytes of @tx_pkts, without FCS, preamble and gap */
	u64	rx_pkts;	/* packets that arrived for the stack */
	u64	rx_bytes;	/* bytes of @rx_pkts */
	u64	ring_drop_pkts;	/* packets refused because the ring was full */
	/* Packets lost at this end: device down, out of memory or dropped as configured. */
	u64	rx_drop_pkts;
};

/* The content of a pause frame for a priority. */
enum labnic_pause {
	LABNIC_NO_PAUSE,	/* no pause frame */
	LABNIC_XOFF,	/* send no more */
	LABNIC_XON,	/* go on */
};

/* One priority of a port. */
struct labnic_pfc_class {
	/* Bytes held of frames received on the port, without headroom. */
	u32				shared_bytes;
	u32				headroom_bytes;	/* the same in the headroom */
	bool				pausing;	/* the other end was paused */
	bool				stuck;	/* while looking for deadlocks */
	/* When any of it left last, or, if that was later, when @pausing began. */
	u64				moved_ns;
	/* Since when this end is paused, if it is. */
	u64				paused_since_ns;
	struct quellnic_pfc_stats	stats;	/* counters; but for the bytes held now */
};

/* quell_swport_pause() */
typedef bool (*labnic_pause_fn)(struct net_device *dev, u8 priorities);

struct labnic_pace;
struct labnic_pool;
struct labnic_routes;

/*
 * Priority flow control of a port.  Written in softirq, of which the laboratory has one at a time.
 */
struct labnic_pfc {
	struct list_head	list;	/* entry in the list of all ports that have it */
	struct labnic_port	*port;	/* the port */
	struct quellnic_pfc	config;	/* as set at the end of the cable */
	bool			counts;	/* received frames are counted: it is a switch's port */
	u8			paused;	/* bit per priority in which this end is paused */
	/* Memory shared with other ports; NULL: the threshold is fixed. */
	struct labnic_pool	*pool;
	/* Notifies the port's qdisc; NULL without sch_swport. */
	labnic_pause_fn		pause_fn;
	struct labnic_pfc_class	class[QUELLNIC_PFC_PRIORITIES];	/* by priority */
};

/*
 * The direction of a connection in which data flows.  Without padding, as it is hashed and compared
 * byte by byte.
 */
struct labnic_credit_key {
	struct in6_addr	from;	/* address of the sender, IPv4 mapped into IPv6 */
	struct in6_addr	to;	/* address of the receiver */
	__be16		sport;	/* port of the sender */
	__be16		dport;	/* port of the receiver */
};

/* A TCP segment as a card reads it. */
struct labnic_segment {
	struct labnic_credit_key	key;	/* from its sender to its receiver */
	/* Where its TCP header is, from the frame's first byte. */
	u32				tcp_at;
	u32				payload_bytes;	/* of it, before a switch trimmed it */
	/* Of the whole frame before that, Ethernet header counted. */
	u32				frame_bytes;
	u32				seq;	/* sequence number */
	u32				ack_seq;	/* acknowledgment number */
	__be16				window;	/* as in the header, scaled */
	/* The urgent pointer, which TCP ignores without URG. */
	u16				number;
	/* It has payload, or had it before a switch trimmed it. */
	bool				has_data;
	bool				is_trimmed;	/* of its payload something is missing */
	bool				is_bare;	/* an acknowledgment alone */
	/* That, sent for a number alone; TCP sends no data with it. */
	bool				is_pull;
	bool				is_syn;	/* of a handshake */
	bool				is_rst;	/* the connection ends at once */
	bool				is_fin;	/* the direction ends */
};

/* Credits that a host's card hands out, labnic_credit.c. */
struct labnic_credit {
	struct labnic_port		*port;	/* the card */
	struct quellnic_credit		config;	/* as set at the end of the cable */
	/* Flows with demand of senders that have more to send than credits. */
	struct list_head		wanting;
	struct list_head		spare;	/* the other flows with demand */
	/* Flows of senders that were not notified of a grant. */
	struct list_head		untold;
	/* With ExpressPass, flows by the times of their next credits. */
	struct timerqueue_head		due;
	/* When the next credit is due, whole part. */
	u64				next_ns;
	/* Fraction of that time, in units of 1 ns / (rate of the port * percent). */
	u64				next_frac;
	bool				is_armed;	/* @timer is to fire */
	/* Fires when the next credit is due and a flow waits for it. */
	struct hrtimer			timer;
	struct quellnic_credit_stats	stats;	/* counters */
};

/* A packet between the two ends of a cable. */
struct labnic_frame {
	struct sk_buff	*skb;	/* the packet */
	u64		leave_ns;	/* when its last bit leaves this end */
	u32		bytes;	/* its length when it was sent */
	u8		pause;	/* content of a pause frame, no packet of the stack's */
	u8		priority;	/* of which priority it says that */
	bool		is_awaited;	/* someone at this end wants to know when it has left */
};

/* So many make a kilobyte. */
#define LABNIC_CHUNK_PKTS	42

/* Packets in a row. */
struct labnic_chunk {
	struct labnic_chunk	*next;	/* those after it; NULL: not yet */
	struct labnic_frame	frame[LABNIC_CHUNK_PKTS];	/* the packets */
};

/* A packet's place on a line. */
struct labnic_place {
	struct labnic_chunk	*chunk;	/* where it is; NULL before the first packet of all */
	/* Which one there; LABNIC_CHUNK_PKTS: the first of the next chunk, if that is there. */
	u32			index;
};

/* The packets on one direction of a cable, in their order. */
struct labnic_line {
	struct labnic_place	arriving;	/* the next that arrives */
	struct labnic_place	leaving;	/* the next that leaves */
	struct labnic_place	end;	/* one beyond the last */
	u32			flying;	/* how many have left and not arrived */
	u32			sending;	/* how many are in the transmit ring */
	struct labnic_chunk	*spare;	/* an empty chunk, or NULL */
};

/* One end of a cable, the private part of its net_device. */
struct labnic_port {
	struct hrtimer			timer;	/* fires at the next departure or arrival */
	/* Of a network in parts, labnic_part.c: fires at the next arrival at the other end. */
	struct hrtimer			arrival;
	struct labnic_line		line;	/* packets that were sent and have not arrived */
	/* The packet that @timer will be about, if that looks at it. */
	struct sk_buff			*next_skb;
	struct net_device		*dev;	/* the device */
	/* Device at the other end; NULL while the pair is taken apart (RTNL). */
	struct net_device __rcu		*peer;
	u64				rate_bits_ps;	/* line rate of the outgoing direction */
	/* Propagation time of the outgoing direction. */
	u64				delay_ns;
	u32				ring_pkts;	/* size of the transmit ring */
	spinlock_t			lock;	/* @line, @next_skb and the two fields below */
	u64				busy_ns;	/* when the line falls idle, whole part */
	/* Fraction of that time, in units of 1 ns / @rate_bits_ps. */
	u64				busy_frac;
	/* In parts: the packet that @arrival will be about. */
	struct sk_buff			*arriving_skb;
	struct list_head		tie;	/* among ports with an arrival in this ns */
	u32				key;	/* number of this direction of this cable */
	bool				is_cut;	/* the other end is in another part */
	struct labnic_pfc		*pfc;	/* priority flow control; NULL without */
	/* Where flows go that came in by this port of a switch; NULL before the first. */
	struct labnic_routes		*routes;
	/* Credits that the host hands out; NULL without. */
	struct labnic_credit		*credit;
	/* Has the packets of each flow wait for each other; NULL without. */
	struct labnic_pace		*pace;
	/* Number of the first data packet the cable drops; 0: no drops. */
	u64				drop_first;
	u32				drop_pkts;	/* number of consecutive packets it drops */
	/* Number of the first data packet the cable trims; 0: no trimming. */
	u64				trim_first;
	/* Distance from one trimmed data packet to the next. */
	u32				trim_every;
	u32				trim_pkts;	/* number of packets it trims */
	/* Number of the data packet of which the cable falsifies a byte; 0: off. */
	u64				corrupt_pkt;
	u32				corrupt_at;	/* which byte of its payload */
	/* Data packets that passed the cable, counted if it does any of these. */
	u64				data_pkts;
	struct labnic_noise		noise;	/* delay of the host behind this port */
	struct labnic_stats		stats;	/* counters */
	/* Timestamping configured by user space (RTNL to write). */
	struct kernel_hwtstamp_config	hwtstamp;
	struct labnic_phc		phc;	/* hardware clock */
	u32				away_part;	/* part of the other end, if @is_cut */
};

/* labnic_link.c */
u64 labnic_phc_ns(struct labnic_phc *phc, u64 host_ns);

/* labnic_wire.c */
void labnic_wire_init(struct labnic_port *port);
void labnic_wire_stop(struct labnic_port *port);
void labnic_wire_free(struct labnic_port *port);
netdev_tx_t labnic_wire_xmit(struct sk_buff *skb, struct net_device *dev);
bool labnic_wire_has_timer(const struct hrtimer *timer);
void labnic_wire_arrive(struct labnic_port *port, u64 now_ns);
void labnic_wire_arrives(struct labnic_port *port, struct labnic_frame frame);
void labnic_wire_pause(struct labnic_port *port, enum labnic_pause kind, u8 priority);
void labnic_forward_free(struct labnic_port *port);
int labnic_noise_init(struct labnic_noise *noise, u64 noise_ns, u64 seed);
void labnic_noise_stop(struct labnic_noise *noise);
void labnic_noise_free(struct labnic_noise *noise);
int labnic_pace_create(struct labnic_port *port, u64 rate_bits_ps);
void labnic_pace_stop(struct labnic_port *port);
void labnic_pace_free(struct labnic_port *port);
u64 labnic_pace_bits_ps(const struct labnic_port *port);

/* labnic_part.c */
#ifdef CONFIG_UML
int labnic_part_init(void);
int labnic_part_create(struct labnic_port *port, const struct quellnic_part *config, bool is_near);
void labnic_part_arrival(struct labnic_port *port);
void labnic_part_departed(const struct labnic_port *port, ktime_t now);
bool labnic_part_is_divided(void);
u64 labnic_part_base_ns(void);
bool labnic_part_is_frozen(void);
bool labnic_part_is_early(void);
void labnic_cross_send(struct labnic_port *port, const struct labnic_frame *frame);
#else
static inline int labnic_part_init(void)
{
	return 0;
}

static inline int labnic_part_create(struct labnic_port *port,
				     const struct quellnic_part *config, bool is_near)
{
	return -EOPNOTSUPP;
}

static inline void labnic_part_arrival(struct labnic_port *port)
{
}

static inline void labnic_part_departed(const struct labnic_port *port, ktime_t now)
{
}

static inline bool labnic_part_is_divided(void)
{
	return false;
}

static inline u64 labnic_part_base_ns(void)
{
	return 0;
}

static inline bool labnic_part_is_frozen(void)
{
	return false;
}

static inline bool labnic_part_is_early(void)
{
	return false;
}

static inline void labnic_cross_send(struct labnic_port *port, const struct labnic_frame *frame)
{
}
#endif

/* labnic_pfc.c */
int labnic_pfc_create(struct labnic_port *port, const struct quellnic_pfc *config);
void labnic_pfc_free(struct labnic_port *port);
bool labnic_pfc_admit(struct labnic_port *port, struct sk_buff *skb, u64 now_ns);
void labnic_pfc_transmitted(struct labnic_port *port, struct sk_buff *skb, u64 now_ns);
void labnic_pfc_receive(struct labnic_port *port, enum labnic_pause kind, u8 priority, u64 now_ns);
void labnic_pfc_stats(const struct labnic_port *port, struct quellnic_pfc_stats *stats);
void labnic_deadlock_init(void);

/* labnic_credit.c */
bool labnic_segment_read(const struct sk_buff *skb, u32 ip_at, struct labnic_segment *segment);
int labnic_credit_create(struct labnic_port *port, const struct quellnic_credit *config,
			 struct netlink_ext_ack *extack);
void labnic_credit_stop(struct labnic_port *port);
void labnic_credit_stats(const struct labnic_port *port, struct quellnic_credit_stats *stats);
void labnic_credit_free(struct labnic_port *port);
void labnic_credit_receive(struct labnic_port *port, struct sk_buff *skb, u64 now_ns);
void labnic_credit_transmit(struct labnic_port *port, struct sk_buff *skb);
void labnic_credit_send_pulls(struct labnic_port *port);

#endif /* _QUELL_LABNIC_H */

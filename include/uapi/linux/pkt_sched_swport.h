/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Netlink attributes of sch_swport, the switch-port queueing discipline.
 *
 * Options travel in TCA_OPTIONS, statistics in TCA_STATS_APP; both are nests
 * of the attributes below.
 *
 * A request is parsed strictly: every nest carries NLA_F_NESTED, and an attribute that is
 * unknown, or not of the type and length given here, is refused.  An option that is absent
 * stays as it is.  Readers of the kernel's messages skip attributes they do not know.
 */
#ifndef _UAPI_LINUX_PKT_SCHED_SWPORT_H
#define _UAPI_LINUX_PKT_SCHED_SWPORT_H

/**
 * enum swport_ecn_mode - where the data band is marked
 * @SWPORT_ECN_OFF: never
 * @SWPORT_ECN_DEQUEUE: at dequeue, by the bytes still queued
 * @SWPORT_ECN_ENQUEUE: at enqueue, by the bytes queued before
 */
enum swport_ecn_mode {
	SWPORT_ECN_OFF,
	SWPORT_ECN_DEQUEUE,
	SWPORT_ECN_ENQUEUE,
	__SWPORT_ECN_MAX
};

#define SWPORT_ECN_MAX (__SWPORT_ECN_MAX - 1)

/**
 * enum swport_trim_queue - where trimmed packets wait
 * @SWPORT_TRIM_CONTROL: in the control band
 * @SWPORT_TRIM_DATA: in the data band
 */
enum swport_trim_queue {
	SWPORT_TRIM_CONTROL,
	SWPORT_TRIM_DATA,
	__SWPORT_TRIM_QUEUE_MAX
};

#define SWPORT_TRIM_QUEUE_MAX (__SWPORT_TRIM_QUEUE_MAX - 1)

/**
 * enum swport_split_gso - whether super-packets are cut on entry
 * @SWPORT_GSO_AUTO: where `rate' is set
 * @SWPORT_GSO_SPLIT: always
 * @SWPORT_GSO_WHOLE: only where their segments are treated differently
 */
enum swport_split_gso {
	SWPORT_GSO_AUTO,
	SWPORT_GSO_SPLIT,
	SWPORT_GSO_WHOLE,
	__SWPORT_GSO_MAX
};

#define SWPORT_GSO_MAX (__SWPORT_GSO_MAX - 1)

/* Ranges and defaults, checked by tc before the kernel checks them again. */
#define SWPORT_RATE_MAX			1250000000000	/* bytes/s, 10 Tbit/s */
#define SWPORT_OVERHEAD_MAX		65535		/* bytes */
#define SWPORT_LIMIT_MIN		64		/* bytes, either band */
#define SWPORT_LIMIT_MAX		1073741824
#define SWPORT_LIMIT_DEFAULT		1048576
#define SWPORT_CONTROL_LIMIT_DEFAULT	65536
#define SWPORT_CONTROL_SHARE_MAX	65536		/* Q16: 1, all of the wire */
#define SWPORT_CONTROL_SHARE_DEFAULT	58982		/* 0.9 */
#define SWPORT_ECN_PROB_MAX		65536		/* Q16: 1 */
#define SWPORT_ECN_CLASSES_MAX		8
#define SWPORT_ALPHA_ONE		65536		/* Q16: 1 */
#define SWPORT_ALPHA_MAX		67108864	/* Q16: 1024 */
#define SWPORT_TELEMETRY_MIN		100		/* ns, or 0: off */
#define SWPORT_TELEMETRY_MAX		1000000000
#define SWPORT_TCP_INT_MIN		100		/* ns, or 0: off */
#define SWPORT_TCP_INT_MAX		1000000000
#define SWPORT_TRIM_SIZE_MIN		64		/* bytes, or 0: off */
#define SWPORT_TRIM_SIZE_MAX		65535
#define SWPORT_TRIM_DSCP_MIN		1
#define SWPORT_TRIM_DSCP_MAX		63
#define SWPORT_TRIM_DSCP_DEFAULT	43		/* of those for local use, RFC 2474 */
#define SWPORT_TRIM_ELIGIBLE_ALL	(~0ULL)		/* 0: the Quell option decides alone */
#define SWPORT_TIMER_SLACK_MAX		500000		/* ns: a late timer is made good for 1 ms */
#define SWPORT_MEMORY_MIN		65536		/* bytes of buffers, or 0: the default */
#define SWPORT_MEMORY_DEFAULT		33554432	/* or more, by both limits */
#define SWPORT_DEFLECT_ENTRIES_MAX	64		/* flows deflected at a time */
#define SWPORT_DEFLECT_ENTRIES_DEFAULT	8
#define SWPORT_DEFLECT_VIA_MAX		16		/* alternates */
#define SWPORT_DEFLECT_TOKENS_MAX	15
#define SWPORT_DEFLECT_TOKENS_DEFAULT	4
#define SWPORT_DEFLECT_DSCP_MAX		47		/* of base and tokens together */
#define SWPORT_DEFLECT_IDLE_MIN		1000		/* ns */
#define SWPORT_DEFLECT_IDLE_MAX		4000000000
#define SWPORT_DEFLECT_IDLE_DEFAULT	10000000

/* When the table forgets a deflected flow. */
enum swport_release {
	SWPORT_RELEASE_IDLE,	/* DEFLECT_IDLE after its last packet: packets keep their order */
	SWPORT_RELEASE_END,	/* with the end of a message: in order within it alone */
};

/* Which of the alternates that work a flow is sent by. */
enum swport_choice {
	SWPORT_CHOICE_RANDOM,
	SWPORT_CHOICE_SHORTER,	/* the shorter root qdisc of two, if shorter than the port */
};

enum {
	TCA_SWPORT_UNSPEC,
	TCA_SWPORT_PAD,
	TCA_SWPORT_RATE,		/* u64, bytes per second; 0: device speed */
	TCA_SWPORT_OVERHEAD,		/* u32, bytes of a packet's wire beyond its length */
	TCA_SWPORT_LIMIT,		/* u32, bytes the data band may hold */
	TCA_SWPORT_CONTROL_LIMIT,	/* u32, bytes the control band may hold */
	TCA_SWPORT_ECN_MODE,		/* u32, enum swport_ecn_mode */
	TCA_SWPORT_ECN_MIN,		/* u32, bytes: below this no packet is marked */
	TCA_SWPORT_ECN_MAX,		/* u32, bytes: from this on everything is */
	TCA_SWPORT_ECN_PROB,		/* u32, Q16: probability just below ECN_MAX */
	TCA_SWPORT_SEED,		/* u32: seed of the marking lottery; 0: random */
	TCA_SWPORT_TELEMETRY,		/* u32, ns: base round-trip time of the network; 0: off */
	TCA_SWPORT_TCP_INT,		/* u32, ns: averaging of the rate available; 0: off */
	TCA_SWPORT_ECN_CLASSES,		/* nest of TCA_SWPORT_ECN_CLASS, replacing all there are */
	TCA_SWPORT_TRIM_SIZE,		/* u32, bytes a frame is cut to; 0: dropped whole */
	TCA_SWPORT_TRIM_DSCP,		/* u32: DSCP of trimmed packets */
	TCA_SWPORT_TRIM_QUEUE,		/* u32, enum swport_trim_queue */
	TCA_SWPORT_TRIM_ELIGIBLE,	/* u64: bit per DSCP to be trimmed */
	TCA_SWPORT_BUFFER,		/* u32, bytes the ports of the namespace share; not 0 */
	TCA_SWPORT_ALPHA,		/* u32, Q16: share of its free bytes; 0: no buffer */
	TCA_SWPORT_PERCENTILES,		/* u32: 1 to keep percentiles, 0 to forget them */
	TCA_SWPORT_DEFLECT,		/* u32, 1: deflect flows, 0: off */
	TCA_SWPORT_DEFLECT_THRESHOLD,	/* u32, bytes: begin where more is queued */
	TCA_SWPORT_DEFLECT_ENTRIES,	/* u32: flows deflected at a time */
	TCA_SWPORT_DEFLECT_TOKEN_BASE,	/* u32: DSCP of a packet without tokens */
	TCA_SWPORT_DEFLECT_TOKEN_MAX,	/* u32: most tokens a packet may have */
	TCA_SWPORT_DEFLECT_IDLE,	/* u32, ns: above the delay difference of paths */
	TCA_SWPORT_DEFLECT_VIA,		/* nest of TCA_SWPORT_VIA_* nests from 1 on, all */
	TCA_SWPORT_TRIM_TO_SENDER,	/* u32, 0 or 1: NACKs to senders that know them */
	TCA_SWPORT_CONTROL_SHARE,	/* u32, Q16: most of the wire for control, if data waits */
	TCA_SWPORT_TRIM_KNOWN,		/* u64: bit per further DSCP of packets trimmed elsewhere */
	TCA_SWPORT_ECN_DROP,		/* u32, 1: drop instead of a mark if not ECT */
	TCA_SWPORT_SPLIT_GSO,		/* u32, enum swport_split_gso */
	TCA_SWPORT_JOINT,		/* u32, 1: the port is one queue of a port of many */
	TCA_SWPORT_BQL,			/* u32, 1: bytes in the device count as queued */
	TCA_SWPORT_TIMER_SLACK,		/* u32, ns: tolerated delay of the rate's timer */
	TCA_SWPORT_MEMORY_LIMIT,	/* u32, bytes of both bands' buffers; 0: the default */
	TCA_SWPORT_DEFLECT_RELEASE,	/* u32, enum swport_release */
	TCA_SWPORT_DEFLECT_CHOICE,	/* u32, enum swport_choice */
	__TCA_SWPORT_MAX
};

#define TCA_SWPORT_MAX (__TCA_SWPORT_MAX - 1)

/* Up to SWPORT_ECN_CLASSES_MAX of these, one after the other. */
#define TCA_SWPORT_ECN_CLASS	1

/* A class of DSCPs, marked by thresholds of its own; all are needed but PROB. */
enum {
	TCA_SWPORT_CLASS_UNSPEC,
	TCA_SWPORT_CLASS_PAD,
	TCA_SWPORT_CLASS_DSCPS,		/* u64: bit per DSCP; not in two classes */
	TCA_SWPORT_CLASS_MIN,		/* u32, as TCA_SWPORT_ECN_MIN */
	TCA_SWPORT_CLASS_MAX_BYTES,	/* u32, as TCA_SWPORT_ECN_MAX */
	TCA_SWPORT_CLASS_PROB,		/* u32, as TCA_SWPORT_ECN_PROB; absent: 1 */
	__TCA_SWPORT_CLASS_MAX
};

#define TCA_SWPORT_CLASS_MAX (__TCA_SWPORT_CLASS_MAX - 1)

/* One alternate of TCA_SWPORT_DEFLECT_VIA. */
enum {
	TCA_SWPORT_VIA_UNSPEC,
	TCA_SWPORT_VIA_DEV,		/* u32: number of the device */
	TCA_SWPORT_VIA_ADDR,		/* next hop, 4 bytes of IPv4 or 16 of IPv6 */
	__TCA_SWPORT_VIA_MAX
};

#define TCA_SWPORT_VIA_MAX (__TCA_SWPORT_VIA_MAX - 1)

/* A deflected flow: options of a class; its minor number is that of the entry. */
enum {
	TCA_SWPORT_FLOW_UNSPEC,
	TCA_SWPORT_FLOW_PAD,
	TCA_SWPORT_FLOW_SRC,		/* 4 bytes of IPv4 or 16 of IPv6 */
	TCA_SWPORT_FLOW_DST,
	TCA_SWPORT_FLOW_PROTOCOL,	/* u32: of IP */
	TCA_SWPORT_FLOW_SPORT,		/* u32 */
	TCA_SWPORT_FLOW_DPORT,		/* u32 */
	TCA_SWPORT_FLOW_QP,		/* u32: destination queue pair; UDP only */
	TCA_SWPORT_FLOW_TTL,		/* u32: time to live, or hop limit, as it comes here */
	TCA_SWPORT_FLOW_VIA,		/* nest of TCA_SWPORT_VIA_*; missing: taken away */
	TCA_SWPORT_FLOW_ENDED,		/* u32, 1: its end packet has passed */
	TCA_SWPORT_FLOW_AGE,		/* u64, ns: since it began to be deflected */
	TCA_SWPORT_FLOW_IDLE,		/* u64, ns: since its last packet went by */
	TCA_SWPORT_FLOW_PKTS,		/* u64: that did */
	__TCA_SWPORT_FLOW_MAX
};

#define TCA_SWPORT_FLOW_MAX (__TCA_SWPORT_FLOW_MAX - 1)

/*
 * Statistics, all u64 and free-running unless said otherwise.  Zeros are left out.  A
 * notification that would be too long has no CLASSES, no PERCENTILES, or no TCA_STATS_APP.
 */
enum {
	TCA_SWPORT_STATS_UNSPEC,
	TCA_SWPORT_STATS_PAD,
	TCA_SWPORT_STATS_DATA_PKTS,		/* sent from the data band */
	TCA_SWPORT_STATS_DATA_BYTES,
	TCA_SWPORT_STATS_CONTROL_PKTS,		/* sent from the control band */
	TCA_SWPORT_STATS_CONTROL_BYTES,
	TCA_SWPORT_STATS_DATA_DROP_PKTS,	/* data band full */
	TCA_SWPORT_STATS_DATA_DROP_BYTES,
	TCA_SWPORT_STATS_CONTROL_DROP_PKTS,	/* control band full */
	TCA_SWPORT_STATS_CONTROL_DROP_BYTES,
	TCA_SWPORT_STATS_MARK_PKTS,		/* marked CE */
	TCA_SWPORT_STATS_MARK_BYTES,
	TCA_SWPORT_STATS_NOT_ECT_PKTS,		/* to be marked, but not ECN-capable */
	TCA_SWPORT_STATS_GSO_SPLIT_PKTS,	/* super-packets cut */
	TCA_SWPORT_STATS_ALLOC_FAIL_PKTS,	/* dropped: no memory to cut */
	TCA_SWPORT_STATS_DATA_BACKLOG_BYTES,	/* queued now */
	TCA_SWPORT_STATS_DATA_BACKLOG_MAX_BYTES, /* most ever queued */
	TCA_SWPORT_STATS_CONTROL_BACKLOG_BYTES,
	TCA_SWPORT_STATS_CONTROL_BACKLOG_MAX_BYTES,
	TCA_SWPORT_STATS_MARK_FAIL_PKTS,	/* sent unmarked: no memory to mark */
	TCA_SWPORT_STATS_STAMP_PKTS,		/* sent with this port's telemetry record */
	TCA_SWPORT_STATS_STAMP_KEPT_PKTS,	/* sent with the record of a hop more loaded */
	TCA_SWPORT_STATS_STAMP_FAIL_PKTS,	/* sent as they were: no memory to stamp */
	TCA_SWPORT_STATS_LINK_BYTES_PS,		/* rate of the link now; 0: unknown, no stamps */
	TCA_SWPORT_STATS_INT_PKTS,		/* sent with a TCP-INT option this port wrote to */
	TCA_SWPORT_STATS_INT_WORST_PKTS,	/* part of it: with this port's value */
	TCA_SWPORT_STATS_INT_FAIL_PKTS,		/* sent as they were: no memory to write */
	TCA_SWPORT_STATS_TRIM_PKTS,		/* trimmed: sent, dropped or queued trimmed */
	TCA_SWPORT_STATS_TRIM_BYTES,		/* bytes left of them, here and below */
	TCA_SWPORT_STATS_TRIM_SENT_PKTS,	/* sent trimmed */
	TCA_SWPORT_STATS_TRIM_SENT_BYTES,
	TCA_SWPORT_STATS_TRIM_DROP_PKTS,	/* trimmed, but their band was full, too */
	TCA_SWPORT_STATS_TRIM_DROP_BYTES,
	TCA_SWPORT_STATS_TRIM_BACKLOG_PKTS,	/* queued trimmed now */
	TCA_SWPORT_STATS_TRIM_BACKLOG_BYTES,
	TCA_SWPORT_STATS_TRIM_FAIL_PKTS,	/* dropped whole: no memory to trim */
	TCA_SWPORT_STATS_BUFFER_DROP_PKTS,	/* part of DATA_DROP: above the shared buffer's */
	TCA_SWPORT_STATS_BUFFER_DROP_BYTES,	/* threshold, not above the port's limit */
	TCA_SWPORT_STATS_BUFFER_USED_BYTES,	/* by all ports that share it, now */
	TCA_SWPORT_STATS_BUFFER_USED_MAX_BYTES,	/* the most, since there is one */
	TCA_SWPORT_STATS_BUFFER_THRESHOLD_BYTES, /* this port's limit now */
	TCA_SWPORT_STATS_PERCENTILES,		/* nest of TCA_SWPORT_PERCENTILES_*, where on */
	TCA_SWPORT_STATS_DEFLECT_FLOWS,		/* times a flow began to be deflected */
	TCA_SWPORT_STATS_DEFLECT_PKTS,		/* deflected: neither sent nor dropped here */
	TCA_SWPORT_STATS_DEFLECT_BYTES,
	TCA_SWPORT_STATS_DEFLECT_TOKENS,	/* taken, one from each packet that had one */
	TCA_SWPORT_STATS_DEFLECT_USED,		/* flows in the table now */
	TCA_SWPORT_STATS_DEFLECT_USED_MAX,	/* most there ever were */
	TCA_SWPORT_STATS_DEFLECT_NO_TOKEN_PKTS,	/* starts not deflected: no token */
	TCA_SWPORT_STATS_DEFLECT_RECENT_PKTS,	/* the same: might overtake */
	TCA_SWPORT_STATS_DEFLECT_NO_ALTERNATE_PKTS,	/* the same: no alternate works */
	TCA_SWPORT_STATS_DEFLECT_FULL_PKTS,	/* the same: no free entry */
	TCA_SWPORT_STATS_DEFLECT_LOST_PKTS,	/* dropped: alternate of its flow broken */
	TCA_SWPORT_STATS_DEFLECT_OUT_DROP_PKTS,	/* part of DEFLECT_PKTS: dropped on the way out */
	TCA_SWPORT_STATS_TO_SENDER_PKTS,	/* dropped, and a NACK sent back */
	TCA_SWPORT_STATS_TO_SENDER_DROP_PKTS,	/* dropped, and so was the NACK */
	TCA_SWPORT_STATS_CLASSES,		/* nest of TCA_SWPORT_STATS_CLASS, where any */
	TCA_SWPORT_STATS_NOT_ECT_DROP_PKTS,	/* part of DATA_DROP and NOT_ECT: by ECN_DROP */
	TCA_SWPORT_STATS_CONTROL_DEFER_PKTS,	/* data sent before control, by CONTROL_SHARE */
	TCA_SWPORT_STATS_GSO_WHOLE_PKTS,	/* super-packets sent whole */
	TCA_SWPORT_STATS_JOINT_QUEUES,		/* of a joint port: its queues now */
	TCA_SWPORT_STATS_JOINT_BACKLOG_BYTES,	/* in the data bands of all of them now */
	TCA_SWPORT_STATS_DEVICE_BYTES,		/* with BQL: counted of the device */
	TCA_SWPORT_STATS_MEMORY_BYTES,		/* of the buffers of queued packets */
	TCA_SWPORT_STATS_MEMORY_DROP_PKTS,	/* part of both bands' drops: by MEMORY_LIMIT */
	TCA_SWPORT_STATS_MEMORY_MAX_BYTES,	/* MEMORY_LIMIT, or the sum of the limits */
	__TCA_SWPORT_STATS_MAX
};

#define TCA_SWPORT_STATS_MAX (__TCA_SWPORT_STATS_MAX - 1)

/* One for each class of TCA_SWPORT_ECN_CLASSES, in their order. */
#define TCA_SWPORT_STATS_CLASS	1

/* All u64; 0 is left out.  The rest of the port's own counters belongs to no class. */
enum {
	TCA_SWPORT_CLASS_STATS_UNSPEC,
	TCA_SWPORT_CLASS_STATS_PAD,
	TCA_SWPORT_CLASS_STATS_DSCPS,		/* bit per DSCP, not a counter */
	TCA_SWPORT_CLASS_STATS_PKTS,		/* compared with the thresholds */
	TCA_SWPORT_CLASS_STATS_MARK_PKTS,	/* part of TCA_SWPORT_STATS_MARK_PKTS */
	TCA_SWPORT_CLASS_STATS_MARK_BYTES,	/* part of TCA_SWPORT_STATS_MARK_BYTES */
	TCA_SWPORT_CLASS_STATS_NOT_ECT_PKTS,	/* part of TCA_SWPORT_STATS_NOT_ECT_PKTS */
	__TCA_SWPORT_CLASS_STATS_MAX
};

#define TCA_SWPORT_CLASS_STATS_MAX (__TCA_SWPORT_CLASS_STATS_MAX - 1)

/* Each a nest of TCA_SWPORT_QUANTILE_*; depths in bytes, sojourn times in ns. */
enum {
	TCA_SWPORT_PERCENTILES_UNSPEC,
	TCA_SWPORT_PERCENTILES_DATA_DEPTH,
	TCA_SWPORT_PERCENTILES_DATA_SOJOURN,
	TCA_SWPORT_PERCENTILES_CONTROL_DEPTH,
	TCA_SWPORT_PERCENTILES_CONTROL_SOJOURN,
	__TCA_SWPORT_PERCENTILES_MAX
};

#define TCA_SWPORT_PERCENTILES_MAX (__TCA_SWPORT_PERCENTILES_MAX - 1)

/* All u64; 0 is left out.  Quantiles are right to 1/32 of their value, the maximum exactly. */
enum {
	TCA_SWPORT_QUANTILE_UNSPEC,
	TCA_SWPORT_QUANTILE_PAD,
	TCA_SWPORT_QUANTILE_COUNT,		/* packets they are of */
	TCA_SWPORT_QUANTILE_P50,
	TCA_SWPORT_QUANTILE_P90,
	TCA_SWPORT_QUANTILE_P99,
	TCA_SWPORT_QUANTILE_P999,
	TCA_SWPORT_QUANTILE_MAX_VALUE,
	__TCA_SWPORT_QUANTILE_MAX
};

#define TCA_SWPORT_QUANTILE_MAX (__TCA_SWPORT_QUANTILE_MAX - 1)

#endif /* _UAPI_LINUX_PKT_SCHED_SWPORT_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * quell_labflow: declarations shared by its source files.
 *
 * One run exists at a time.  It is described through debugfs and driven (labflow_main.c),
 * connections are made and warmed (labflow_sock.c) and watched (labflow_sample.c); results are
 * read back through debugfs.
 *
 * Locking: the description changes only under lab.mutex and only while the
 * run is idle.  During a run everything happens in softirq, of which the
 * laboratory kernel has one at a time; flow fields written by the two sockets
 * of a flow are written under those sockets' locks.
 */
#ifndef _QUELL_LABFLOW_H
#define _QUELL_LABFLOW_H

#include <linux/hrtimer.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/net.h>
#include <linux/netdevice.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>
#include <net/sock.h>
#include <quell/quell.h>

/*
 * Flow i sends from this port plus i modulo the number of ports.  The receiver identifies
 * the flow by that port, its own port and its namespace: of flows to one port of one
 * receiver no two may send from the same.
 */
#define LABFLOW_SPORT_BASE		16384
#define LABFLOW_SPORTS			49000
#define LABFLOW_FLOWS_MAX		2000000
/* Kernel TCP paces only after ten data segments (KERNEL: tcp_update_skb_after_send). */
#define LABFLOW_WARM_SEGS		12
#define LABFLOW_DSCP_SHIFT		2
#define LABFLOW_WARM_POLL_NS		(20 * NSEC_PER_USEC)
#define LABFLOW_WARM_TIMEOUT_NS		(5 * NSEC_PER_SEC)
/* T0 is a multiple of this, and at least one jiffy away. */
#define LABFLOW_T0_STEP_NS		(100 * NSEC_PER_MSEC)

/* State of the one run. */
enum labflow_state {
	LABFLOW_IDLE,	/* being described */
	LABFLOW_RUNNING,	/* T0 chosen, flows start by themselves */
	LABFLOW_DONE,	/* every flow delivered its last byte */
	LABFLOW_TIMEOUT,	/* the time limit came first */
	LABFLOW_FAILED,	/* the run failed with lab.error */
};

/* Address and port of one end, either family. */
union labflow_addr {
	struct sockaddr		sa;	/* has the family */
	struct sockaddr_in	in4;	/* IPv4 */
	struct sockaddr_in6	in6;	/* IPv6 */
};

/* A listening socket, shared by flows to one port. */
struct labflow_listener {
	struct list_head	node;	/* in lab.listeners */
	struct net		*net;	/* namespace of the receiver */
	union labflow_addr	addr;	/* address and port listened on */
	struct socket		*sock;	/* the socket */
};

/* The limit of a flow's rate. */
enum labflow_limiter {
	LABFLOW_LINE,	/* the line alone */
	LABFLOW_N,	/* the receiver's n */
	LABFLOW_DCQCN,	/* DCQCN, below the share that n leaves */
};

/* Both ends of a flow that counts senders. */
struct labflow_dart {
	/* n of its connection at the receiver, stated or not; 0 no data yet. */
	u32	counted_q8;
	u32	reported_q8;	/* n that the sender received; 0: not yet */
	u8	state;	/* enum quell_dart_state of the receiving interface */
	u8	limiter;	/* enum labflow_limiter of the sender */
	bool	is_sending;	/* the values count */
};

/* The algorithm, the search, CUBIC. */
#define LABFLOW_GOVERNORS	(QUELL_GOVERNOR_CUBIC + 1)

/* One flow. */
struct labflow_flow {
	u32			id;	/* number given by the plan */
	u32			index;	/* position in lab.flows */
	bool			warm;	/* the connection exists and knows its RTT before T0 */
	/* In a network in parts: its sender, and its receiver, is in this one. */
	bool			is_sender;
	bool			is_receiver;
	bool			started;	/* the payload may be sent */
	bool			connecting;	/* a cold flow's SYN is out */
	bool			stopped;	/* the sender was reset at @stop_ns */
	u8			dscp;	/* DSCP of the sender's packets */
	/* Size of a write, and the unsent bytes from which the writer waits; 0: neither. */
	u32			queued_bytes;
	u32			wake_ns;	/* time that a writer takes to write again */
	struct net		*src_net;	/* namespace of the sender, reference held */
	struct net		*dst_net;	/* namespace of the receiver, reference held */
	union labflow_addr	daddr;	/* address and port of the receiver */
	u16			dport;	/* port of the receiver, host order */
	u64			bytes;	/* payload */
	u64			warm_bytes;	/* bytes sent before T0, not counted in results */
	/*
	 * Start, relative to T0; of a flow that waits for another, from that one's end until it is
	 * due.
	 */
	u64			start_ns;
	u64			stop_ns;	/* reset, relative to T0; 0 never */
	u32			after_id;	/* the flow that it waits for; 0: it does not */
	/* Number of the flow with the connection that it uses; 0: its own. */
	u32			on_id;
	bool			is_due;	/* @after_id is through, and @start_ns relative to T0 */
	struct labflow_flow	*dependents;	/* flows that wait for this one */
	struct labflow_flow	*next_dependent;	/* the next that waits for the same */
	/* Last byte delivered, CLOCK_MONOTONIC; 0 while unfinished. */
	u64			end_ns;
	/*
	 * The flow with the connection that it uses, or itself; the fields below from
	 * @pushed_bytes on are that flow's.
	 */
	struct labflow_flow	*connection;
	u64			begin_bytes;	/* where its message begins in the stream */
	u64			end_bytes;	/* where it ends; 0 until the flow starts */
	struct labflow_flow	*next_message;	/* the one behind it in the stream */
	bool			is_shared;	/* other flows take this one's connection */
	struct labflow_flow	*unsent;	/* first message that TCP has not all of */
	struct labflow_flow	*undelivered;	/* first message that the receiver has not all of */
	struct labflow_flow	*newest;	/* last message of the stream */
	/* Bytes given to the sending socket, warm-up included. */
	u64			pushed_bytes;
	/* Bytes that may be given to the sending socket by now. */
	u64			limit_bytes;
	/* Consumed from the receiving socket, warm-up included. */
	u64			delivered_bytes;
	u32			base_retrans_segs;	/* retransmissions before the start */
	u32			base_segs_out;	/* segments sent before the start */
	struct socket		*sock;	/* sending socket */
	/* Receiving socket, reference held; NULL before it is established. */
	struct sock		*receiver;
	/* Fires at the start, after a cold connect, and to refill the buffer. */
	struct hrtimer		timer;
	struct work_struct	connect_work;	/* starts a cold connect */
	struct hrtimer		stop_timer;	/* fires at @stop_ns */
	struct work_struct	stop_work;	/* resets the connection */
	/* Window in the last row written, to write only changes. */
	u64			last_cwnd_bytes;
	u64			last_pacing_bytes_ps;	/* pacing rate in that row */
	u64			last_rtt_ns;	/* round-trip time in that row */
	u8			last_hop;	/* hop in that row */
	/* Bytes in the last row of the delivery sampler. */
	u64			last_delivered_bytes;
	/*
	 * Packets as seen on the wire, by hash of the sequence number; NULL unless the run writes
	 * the truth table.
	 */
	struct labflow_sent	*sent;
	/* Row last written to the table of Dart's flows; zeros before the first. */
	struct labflow_dart	last_dart;
	/* Quell.ko's count of round-trip samples when last read. */
	u64			last_samples;
	/*
	 * By enum quell_governor: for how long it governed the window before the start, after
	 * @has_governed from the start to the end.
	 */
	u64			governed_ns[LABFLOW_GOVERNORS];
	bool			has_governed;	/* the flow has ended */
};

/* ECN marks, duplicates, reordering and packets of a flow. */
struct labflow_marks {
	u32	delivered_pkts;	/* segments acknowledged, the SYN among them */
	u32	delivered_ce_pkts;	/* those of @delivered_pkts acknowledged as marked */
	u32	dsack_pkts;	/* segments the receiver got twice */
	/* Marked segments quell.ko reported to the algorithm; 0 if not Quell's. */
	u64	reported_pkts;
	u64	reported_bytes;	/* payload of the segments in @reported_pkts */
	u32	unordered_pkts;	/* segments that reached the receiver before one sent earlier */
	u32	sent_pkts;	/* segments that the sender sent, SYN and ACKs among them */
	u32	answered_pkts;	/* the same of the receiver, but for the SYN-ACK */
};

#define LABFLOW_LABEL_LEN	96

/* A port with a sampled queue. */
struct labflow_watch {
	struct net_device	*dev;	/* the device, reference held */
	netdevice_tracker	tracker;	/* of the reference to @dev */
	char			label[LABFLOW_LABEL_LEN];	/* "node dev", as in the plan */
	u32			last_bytes;	/* backlog last written */
	bool			sampled;	/* @last_bytes is valid */
};

struct labflow_queue_row {
	u64	time_ns;
	u32	watch;
	u32	backlog_bytes;
};

struct labflow_cwnd_row {
	u64	time_ns;
	u64	cwnd_bytes;
	u64	pacing_bytes_ps;
	u64	rtt_ns;
	u32	flow;
	u8	hop;
};

/* Which of its values a row of Dart's table has: of a network in parts those of one end. */
enum labflow_dart_end {
	LABFLOW_DART_BOTH,
	LABFLOW_DART_SENDER,
	LABFLOW_DART_RECEIVER,
};

struct labflow_dart_row {
	u64			time_ns;
	u32			flow;
	u8			end;	/* enum labflow_dart_end */
	struct labflow_dart	value;
};

/* A round-trip time as quell.ko measured it, and the true one. */
struct labflow_truth_row {
	u64	time_ns;	/* when the stack processed the ACK */
	u64	rtt_ns;	/* quell.ko's, from the last bit out to the ACK's last bit in */
	u64	hold_ns;	/* hold time of the packet as reported by the receiver */
	u64	true_rtt_ns;	/* round-trip time on the wire */
	u64	true_hold_ns;	/* from the packet's last bit in to the receiver's stack */
	u32	flow;	/* position in lab.flows */
	u32	clock;	/* enum quell_clock */
};

/* A data packet as seen on the wire. */
struct labflow_sent {
	u32	end_seq;	/* sequence number after its last byte */
	u32	sent;	/* how often it left the sender */
	u64	left_ns;	/* when its last bit left the sender */
	u64	arrived_ns;	/* when its last bit arrived at the receiver */
	u64	stack_ns;	/* when the receiver's stack got it */
	u64	ack_ns;	/* when the first ACK of just this packet arrived at the sender */
};

/* A step of a NIC's clock. */
struct labflow_step {
	struct hrtimer		timer;	/* fires at @at_ns */
	struct net_device	*dev;	/* the NIC, reference held; NULL if there is no step */
	netdevice_tracker	tracker;	/* of the reference to @dev */
	u64			at_ns;	/* time of the step, relative to T0 */
	s64			step_ns;	/* size of the step */
};

/* A port was paused, or goes on. */
struct labflow_pause_row {
	u64		time_ns;	/* when */
	const char	*port;	/* name of the port */
	u8		priority;	/* of which priority */
	bool		paused;	/* it was paused */
};

struct labflow_delivered_row {
	u64	time_ns;
	u64	bytes;
	u32	flow;
};

/* Growing table of samples. */
struct labflow_rows {
	void	**chunks;	/* pages of rows, allocated when first needed */
	u32	row_bytes;	/* size of a row */
	u32	rows_per_chunk;	/* rows in a page */
	u64	count;	/* rows used */
	u64	max;	/* rows allowed */
};

/* One periodic measurement. */
struct labflow_sampler {
	struct hrtimer		timer;	/* fires at T0 + k * @interval_ns */
	u64			interval_ns;	/* 0 switches the sampler off */
	struct labflow_rows	rows;	/* table it writes */
};

/* The run. */
struct labflow {
	struct mutex		mutex;	/* the description */
	enum labflow_state	state;	/* enum labflow_state */
	struct labflow_flow	**flows;	/* the flows, in the order of the plan */
	u32			n_flows;	/* number of them */
	u32			n_done;	/* flows that are delivered whole */
	struct list_head	listeners;	/* listening sockets */
	struct labflow_watch	**watches;	/* sampled ports */
	u32			n_watches;	/* number of them */
	struct labflow_sampler	queue;	/* backlog sampler */
	struct labflow_sampler	cwnd;	/* congestion window sampler */
	struct labflow_sampler	delivered;	/* progress sampler */
	/* Rows of struct labflow_dart_row, written with those of @cwnd. */
	struct labflow_rows	dart;
	struct labflow_rows	pauses;	/* rows of struct labflow_pause_row */
	struct labflow_rows	truth;	/* rows of struct labflow_truth_row */
	bool			want_truth;	/* write @truth */
	/* The one step of a NIC's clock; without a device there is no step. */
	struct labflow_step	step;
	struct hrtimer		until_timer;	/* ends the run at @until_ns */
	u64			until_ns;	/* time limit, relative to T0; 0 never */
	bool			is_open;	/* the run goes on when all flows are done */
	/* The network is in parts: an end of a flow takes so long until all know. */
	bool			is_part;
	u64			known_ns;	/* 0 if not */
	u64			t0_ns;	/* origin of all times written, CLOCK_MONOTONIC */
	u64			end_ns;	/* when the run ended, CLOCK_MONOTONIC */
	char			error[200];	/* first error, empty without an error */
};

extern struct labflow lab;

/* labflow_main.c */
__printf(1, 2) void labflow_fail(const char *fmt, ...);
void labflow_flow_done(struct labflow_flow *flow);
void labflow_sleep_ns(u64 ns);
void labflow_part_flow_started(const struct labflow_flow *flow);

/* labflow_sock.c */
int labflow_sock_init(void);
void labflow_sock_exit(void);
int labflow_sock_prepare(struct labflow_flow *flow);
int labflow_hold_start(void);
int labflow_sock_connect(struct labflow_flow *flow, int flags);
void labflow_sock_abort(struct labflow_flow *flow);
bool labflow_sock_push(struct labflow_flow *flow, u64 limit_bytes);
bool labflow_sock_all_acked(const struct labflow_flow *flow);
void labflow_sock_close_all(void);
struct page *labflow_sock_payload(u32 *bytes);
int labflow_after_resolve(void);
void labflow_after_delivered(const struct labflow_flow *flow);
int labflow_message_resolve(void);
void labflow_message_enqueue(struct labflow_flow *flow);
bool labflow_message_push(struct labflow_flow *connection);
u64 labflow_message_part(const struct labflow_flow *flow, u64 position_bytes);
bool labflow_is_quiet(const struct labflow_flow *connection);

/* labflow_sample.c */
int labflow_sample_init(void);
void labflow_sample_exit(void);
void labflow_sample_start(void);
void labflow_sample_stop(void);
void labflow_sample_reset(void);
int labflow_marks_show(struct seq_file *seq, void *v);
const void *labflow_rows_get(const struct labflow_rows *rows, u64 index);
void labflow_governed_begin(struct labflow_flow *flow);
void labflow_governed_end(struct labflow_flow *flow, u64 now_ns);
int labflow_governed_show(struct seq_file *seq, void *v);
int labflow_truth_init(void);
void labflow_truth_exit(void);
int labflow_truth_start(void);
void labflow_truth_stop(void);
void labflow_truth_held(struct labflow_flow *flow, u32 end_seq, u64 arrived_ns, u64 stack_ns);
void labflow_truth_reset(void);

#endif /* _QUELL_LABFLOW_H */

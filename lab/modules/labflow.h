/* SPDX-License-Identifier: GPL-2.0 */
/*
 * quell_labflow: declarations shared by its source files.
 *
 * One run exists at a time.  It is described through debugfs (labflow_main.c),
 * connections are made, warmed and driven (labflow_sock.c, labflow_run.c) and
 * watched (labflow_sample.c); results are read back through debugfs.
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

/**
 * enum labflow_state - state of the one run
 * @LABFLOW_IDLE: being described
 * @LABFLOW_RUNNING: T0 chosen, flows start by themselves
 * @LABFLOW_DONE: every flow delivered its last byte
 * @LABFLOW_TIMEOUT: the time limit came first
 * @LABFLOW_FAILED: the run failed with lab.error
 */
enum labflow_state {
	LABFLOW_IDLE,
	LABFLOW_RUNNING,
	LABFLOW_DONE,
	LABFLOW_TIMEOUT,
	LABFLOW_FAILED,
};

/**
 * union labflow_addr - address and port of one end, either family
 * @sa: has the family
 * @in4: IPv4
 * @in6: IPv6
 */
union labflow_addr {
	struct sockaddr		sa;
	struct sockaddr_in	in4;
	struct sockaddr_in6	in6;
};

/**
 * struct labflow_listener - a listening socket, shared by flows to one port
 * @node: in lab.listeners
 * @net: namespace of the receiver
 * @addr: address and port listened on
 * @sock: the socket
 */
struct labflow_listener {
	struct list_head	node;
	struct net		*net;
	union labflow_addr	addr;
	struct socket		*sock;
};

/**
 * enum labflow_limiter - what holds a flow's rate down
 * @LABFLOW_LINE: nothing but the line
 * @LABFLOW_N: the receiver's n
 * @LABFLOW_DCQCN: DCQCN, below the share that n leaves
 */
enum labflow_limiter {
	LABFLOW_LINE,
	LABFLOW_N,
	LABFLOW_DCQCN,
};

/**
 * struct labflow_dart - both ends of a flow that counts senders
 * @counted_q8: n of its connection at the receiver, stated or not; 0 no data yet
 * @reported_q8: n that the sender heard; 0 none yet
 * @state: enum quell_dart_state of the receiving interface
 * @limiter: enum labflow_limiter of the sender
 */
struct labflow_dart {
	u32	counted_q8;
	u32	reported_q8;
	u8	state;
	u8	limiter;
};

/* The algorithm, the search, CUBIC. */
#define LABFLOW_GOVERNORS	(QUELL_GOVERNOR_CUBIC + 1)

/**
 * struct labflow_flow - one flow
 * @id: number given by the plan
 * @index: position in lab.flows
 * @warm: the connection exists and knows its RTT before T0
 * @started: the payload may be sent
 * @connecting: a cold flow's SYN is out
 * @stopped: the sender was reset at @stop_ns
 * @dscp: DSCP of the sender's packets
 * @queued_bytes: size of a write, and the unsent bytes from which the writer waits; 0: neither
 * @wake_ns: time that a writer takes to write again
 * @src_net: namespace of the sender, reference held
 * @dst_net: namespace of the receiver, reference held
 * @daddr: address and port of the receiver
 * @dport: port of the receiver, host order
 * @bytes: payload
 * @warm_bytes: bytes sent before T0, not counted in results
 * @start_ns: start, relative to T0; of a flow that waits for another, from that one's end
 *	until it is due
 * @stop_ns: reset, relative to T0; 0 never
 * @after_id: number of the flow that it waits for; 0 none
 * @on_id: number of the flow whose connection it takes; 0 it has its own
 * @is_due: @after_id is through, and @start_ns relative to T0
 * @dependents: flows that wait for this one
 * @next_dependent: the next that waits for the same
 * @end_ns: last byte delivered, CLOCK_MONOTONIC; 0 while unfinished
 * @connection: the flow whose connection it takes, itself with its own; the fields below
 *	from @pushed_bytes on are that flow's
 * @begin_bytes: where its message begins in the stream
 * @end_bytes: where it ends; 0 until the flow starts
 * @next_message: the one behind it in the stream
 * @is_shared: other flows take this one's connection
 * @unsent: first message that TCP has not all of
 * @undelivered: first message that the receiver has not all of
 * @newest: last message of the stream
 * @pushed_bytes: bytes given to the sending socket, warm-up included
 * @limit_bytes: bytes that may be given to the sending socket by now
 * @delivered_bytes: consumed from the receiving socket, warm-up included
 * @base_retrans_segs: retransmissions before the start
 * @base_segs_out: segments sent before the start
 * @sock: sending socket
 * @receiver: receiving socket, reference held; NULL before it is established
 * @timer: fires at the start, after a cold connect, and to refill the buffer
 * @connect_work: starts a cold connect
 * @stop_timer: fires at @stop_ns
 * @stop_work: resets the connection
 * @last_cwnd_bytes: window in the last row written, to write only changes
 * @last_pacing_bytes_ps: pacing rate in that row
 * @last_rtt_ns: round-trip time in that row
 * @last_hop: hop in that row
 * @last_delivered_bytes: bytes in the last row of the delivery sampler
 * @sent: packets as seen on the wire, by hash of the sequence number; NULL
 *	unless the run writes the truth table
 * @last_dart: row last written to the table of Dart's flows, after @has_dart
 * @has_dart: a row was written
 * @last_samples: quell.ko's count of round-trip samples when last read
 * @governed_ns: by enum quell_governor: for how long it governed the window before the start,
 *	after @has_governed from the start to the end
 * @has_governed: the flow has ended
 */
struct labflow_flow {
	u32			id;
	u32			index;
	bool			warm;
	bool			started;
	bool			connecting;
	bool			stopped;
	u8			dscp;
	u32			queued_bytes;
	u32			wake_ns;
	struct net		*src_net;
	struct net		*dst_net;
	union labflow_addr	daddr;
	u16			dport;
	u64			bytes;
	u64			warm_bytes;
	u64			start_ns;
	u64			stop_ns;
	u32			after_id;
	u32			on_id;
	bool			is_due;
	struct labflow_flow	*dependents;
	struct labflow_flow	*next_dependent;
	u64			end_ns;
	struct labflow_flow	*connection;
	u64			begin_bytes;
	u64			end_bytes;
	struct labflow_flow	*next_message;
	bool			is_shared;
	struct labflow_flow	*unsent;
	struct labflow_flow	*undelivered;
	struct labflow_flow	*newest;
	u64			pushed_bytes;
	u64			limit_bytes;
	u64			delivered_bytes;
	u32			base_retrans_segs;
	u32			base_segs_out;
	struct socket		*sock;
	struct sock		*receiver;
	struct hrtimer		timer;
	struct work_struct	connect_work;
	struct hrtimer		stop_timer;
	struct work_struct	stop_work;
	u64			last_cwnd_bytes;
	u64			last_pacing_bytes_ps;
	u64			last_rtt_ns;
	u8			last_hop;
	u64			last_delivered_bytes;
	struct labflow_sent	*sent;
	struct labflow_dart	last_dart;
	bool			has_dart;
	u64			last_samples;
	u64			governed_ns[LABFLOW_GOVERNORS];
	bool			has_governed;
};

/**
 * struct labflow_marks - ECN marks, duplicates, reordering and packets of a flow
 * @delivered_pkts: segments acknowledged, the SYN among them
 * @delivered_ce_pkts: those of @delivered_pkts acknowledged as marked
 * @dsack_pkts: segments the receiver got twice
 * @reported_pkts: marked segments quell.ko reported to the algorithm; 0 if not Quell's
 * @reported_bytes: payload of the segments in @reported_pkts
 * @unordered_pkts: segments that reached the receiver before one sent earlier
 * @sent_pkts: segments that the sender sent, SYN and ACKs among them
 * @answered_pkts: the same of the receiver, but for the SYN-ACK
 */
struct labflow_marks {
	u32	delivered_pkts;
	u32	delivered_ce_pkts;
	u32	dsack_pkts;
	u64	reported_pkts;
	u64	reported_bytes;
	u32	unordered_pkts;
	u32	sent_pkts;
	u32	answered_pkts;
};

#define LABFLOW_LABEL_LEN	96

/**
 * struct labflow_watch - a port whose queue is sampled
 * @dev: the device, reference held
 * @tracker: of the reference to @dev
 * @label: "node dev", as in the plan
 * @last_bytes: backlog last written
 * @sampled: @last_bytes is valid
 */
struct labflow_watch {
	struct net_device	*dev;
	netdevice_tracker	tracker;
	char			label[LABFLOW_LABEL_LEN];
	u32			last_bytes;
	bool			sampled;
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

struct labflow_dart_row {
	u64			time_ns;
	u32			flow;
	struct labflow_dart	value;
};

/**
 * struct labflow_truth_row - a round-trip time as quell.ko measured it, and the true one
 * @time_ns: when the stack processed the ACK
 * @rtt_ns: quell.ko's, from the last bit out to the ACK's last bit in
 * @hold_ns: hold time of the packet as reported by the receiver
 * @true_rtt_ns: round-trip time on the wire
 * @true_hold_ns: from the packet's last bit in to the receiver's stack
 * @flow: position in lab.flows
 * @clock: enum quell_clock
 */
struct labflow_truth_row {
	u64	time_ns;
	u64	rtt_ns;
	u64	hold_ns;
	u64	true_rtt_ns;
	u64	true_hold_ns;
	u32	flow;
	u32	clock;
};

/**
 * struct labflow_sent - a data packet as seen on the wire
 * @end_seq: sequence number after its last byte
 * @sent: how often it left the sender
 * @left_ns: when its last bit left the sender
 * @arrived_ns: when its last bit arrived at the receiver
 * @stack_ns: when the receiver's stack got it
 * @ack_ns: when the first ACK of just this packet arrived at the sender
 */
struct labflow_sent {
	u32	end_seq;
	u32	sent;
	u64	left_ns;
	u64	arrived_ns;
	u64	stack_ns;
	u64	ack_ns;
};

/**
 * struct labflow_step - a step of a NIC's clock
 * @timer: fires at @at_ns
 * @dev: the NIC, reference held; NULL if there is no step
 * @tracker: of the reference to @dev
 * @at_ns: time of the step, relative to T0
 * @step_ns: size of the step
 */
struct labflow_step {
	struct hrtimer		timer;
	struct net_device	*dev;
	netdevice_tracker	tracker;
	u64			at_ns;
	s64			step_ns;
};

/**
 * struct labflow_pause_row - a port was paused, or goes on
 * @time_ns: when
 * @port: name of the port
 * @priority: of which priority
 * @paused: it was paused
 */
struct labflow_pause_row {
	u64		time_ns;
	const char	*port;
	u8		priority;
	bool		paused;
};

struct labflow_delivered_row {
	u64	time_ns;
	u64	bytes;
	u32	flow;
};

/**
 * struct labflow_rows - growing table of samples
 * @chunks: pages of rows, allocated when first needed
 * @row_bytes: size of a row
 * @rows_per_chunk: rows in a page
 * @count: rows used
 * @max: rows allowed
 */
struct labflow_rows {
	void	**chunks;
	u32	row_bytes;
	u32	rows_per_chunk;
	u64	count;
	u64	max;
};

/**
 * struct labflow_sampler - one periodic measurement
 * @timer: fires at T0 + k * @interval_ns
 * @interval_ns: 0 switches the sampler off
 * @rows: table it writes
 */
struct labflow_sampler {
	struct hrtimer		timer;
	u64			interval_ns;
	struct labflow_rows	rows;
};

/**
 * struct labflow - the run
 * @mutex: protects the description and everything done from user space
 * @state: enum labflow_state
 * @flows: the flows, in the order of the plan
 * @n_flows: number of them
 * @n_done: flows whose last byte was delivered
 * @listeners: listening sockets
 * @watches: sampled ports
 * @n_watches: number of them
 * @queue: backlog sampler
 * @cwnd: congestion window sampler
 * @delivered: progress sampler
 * @dart: rows of struct labflow_dart_row, written with those of @cwnd
 * @pauses: rows of struct labflow_pause_row
 * @truth: rows of struct labflow_truth_row
 * @want_truth: write @truth
 * @step: the one step of a NIC's clock; without a device there is no step
 * @until_timer: ends the run at @until_ns
 * @until_ns: time limit, relative to T0; 0 never
 * @is_open: the run goes on when all flows are done
 * @t0_ns: origin of all times written, CLOCK_MONOTONIC
 * @end_ns: when the run ended, CLOCK_MONOTONIC
 * @error: first error, empty without an error
 */
struct labflow {
	struct mutex		mutex;	/* the description */
	enum labflow_state	state;
	struct labflow_flow	**flows;
	u32			n_flows;
	u32			n_done;
	struct list_head	listeners;
	struct labflow_watch	**watches;
	u32			n_watches;
	struct labflow_sampler	queue;
	struct labflow_sampler	cwnd;
	struct labflow_sampler	delivered;
	struct labflow_rows	dart;
	struct labflow_rows	pauses;
	struct labflow_rows	truth;
	bool			want_truth;
	struct labflow_step	step;
	struct hrtimer		until_timer;
	u64			until_ns;
	bool			is_open;
	u64			t0_ns;
	u64			end_ns;
	char			error[200];
};

extern struct labflow lab;

/* labflow_state.c */
void labflow_finish(enum labflow_state state);
__printf(1, 2) void labflow_fail(const char *fmt, ...);
void labflow_flow_done(struct labflow_flow *flow);
void labflow_sleep_ns(u64 ns);

/* labflow_after.c */
struct labflow_flow *labflow_find(u32 id);
int labflow_after_resolve(void);
void labflow_after_sent(struct labflow_flow *flow);
void labflow_after_delivered(const struct labflow_flow *flow);

/* labflow_message.c */
int labflow_message_resolve(void);
void labflow_message_enqueue(struct labflow_flow *flow);
bool labflow_message_push(struct labflow_flow *connection);
void labflow_message_delivered(struct labflow_flow *connection);
u64 labflow_message_part(const struct labflow_flow *flow, u64 position_bytes);
u64 labflow_message_due_bytes(const struct labflow_flow *connection);
bool labflow_is_quiet(const struct labflow_flow *connection);

/* labflow_run.c */
void labflow_run_init(void);
int labflow_run_start(bool is_open);
void labflow_run_stop(void);

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

/* labflow_sample.c */
int labflow_sample_init(void);
void labflow_sample_exit(void);
void labflow_sample_start(void);
void labflow_sample_stop(void);
void labflow_sample_reset(void);
int labflow_marks_show(struct seq_file *seq, void *v);
int labflow_rows_init(struct labflow_rows *rows, u32 row_bytes);
void labflow_rows_reset(struct labflow_rows *rows);
void *labflow_rows_add(struct labflow_rows *rows, const char *what);
bool labflow_snapshot(const struct sock *sk, struct quell_snapshot *out);
const void *labflow_rows_get(const struct labflow_rows *rows, u64 index);

/* labflow_governed.c */
void labflow_governed_begin(struct labflow_flow *flow);
void labflow_governed_end(struct labflow_flow *flow, u64 now_ns);
int labflow_governed_show(struct seq_file *seq, void *v);

/* labflow_dart.c */
int labflow_dart_init(void);
void labflow_dart_exit(void);
void labflow_dart_start(void);
void labflow_dart_stop(void);
void labflow_dart_reset(void);
void labflow_dart_sample(u64 now_ns);

/* labflow_pause.c */
int labflow_pause_init(void);
void labflow_pause_exit(void);
void labflow_pause_start(void);
void labflow_pause_stop(void);
void labflow_pause_reset(void);

/* labflow_truth.c */
int labflow_truth_init(void);
void labflow_truth_exit(void);
int labflow_truth_start(void);
void labflow_truth_stop(void);
void labflow_truth_reset(void);

#endif /* _QUELL_LABFLOW_H */

// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labflow: periodic measurements.
 *
 * Three samplers, each a soft hrtimer at T0 + k * interval: backlog of watched
 * ports, window, pacing rate, RTT and hop of the flows, bytes delivered to the
 * receivers.  A row is written when the value differs from the last one
 * written, so an idle port or flow costs no memory.  Tables have a bound; a
 * full table is an error of the run, not a silent gap.
 */
#include <linux/gfp.h>
#include <linux/hash.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <net/pkt_sched.h>
#include <net/tcp.h>
#include <compat/hrtimer.h>
#include <quell/core/dart/react.h>
#include <quell/quell.h>

#include "dart/dart.h"
#include "flow/flow.h"
#include "labflow.h"
#include "labnic_part.h"
#include "labnic_pause.h"
#include "labnic_tap.h"

#define LABFLOW_ROWS_MIN	1000u
#define LABFLOW_ROWS_MAX	100000000u

static unsigned int max_rows = 2000000;
module_param(max_rows, uint, 0444);
MODULE_PARM_DESC(max_rows, "Rows a table of samples may hold, 1000..100000000");

typedef struct quell_flow *(*labflow_find_fn)(const struct sock *sk);
static labflow_find_fn find_fn;

/* 0 or -ENOMEM. */
static int labflow_rows_init(struct labflow_rows *rows, u32 row_bytes)
{
	rows->row_bytes = row_bytes;
	rows->rows_per_chunk = PAGE_SIZE / row_bytes;
	rows->max = max_rows;
	rows->chunks = kvcalloc(DIV_ROUND_UP(rows->max, rows->rows_per_chunk),
				sizeof(*rows->chunks), GFP_KERNEL);
	return rows->chunks ? 0 : -ENOMEM;
}

static void labflow_rows_reset(struct labflow_rows *rows)
{
	u64 i;

	for (i = 0; i * rows->rows_per_chunk < rows->count; i++) {
		free_page((unsigned long)rows->chunks[i]);
		rows->chunks[i] = NULL;
	}
	rows->count = 0;
}

/* NULL after recording the error. */
static void *labflow_rows_add(struct labflow_rows *rows, const char *what)
{
	u64 chunk = rows->count / rows->rows_per_chunk;
	u32 row = rows->count % rows->rows_per_chunk;

	if (rows->count == rows->max) {
		labflow_fail("more than max_rows=%llu rows of %s samples",
			     rows->max, what);
		return NULL;
	}
	if (!rows->chunks[chunk]) {
		rows->chunks[chunk] = (void *)__get_free_page(GFP_ATOMIC |
							      __GFP_NOWARN);
		if (!rows->chunks[chunk]) {
			labflow_fail("no memory for row %llu of %s samples",
				     rows->count, what);
			return NULL;
		}
	}
	rows->count++;
	return rows->chunks[chunk] + row * rows->row_bytes;
}

/* Read a table.  Returns the row, NULL beyond the last one. */
const void *labflow_rows_get(const struct labflow_rows *rows, u64 index)
{
	if (index >= rows->count)
		return NULL;
	return rows->chunks[index / rows->rows_per_chunk] +
	       (index % rows->rows_per_chunk) * rows->row_bytes;
}

/* NULL when it is not a Quell flow.  RCU read section. */
static struct quell_flow *labflow_quell(const struct sock *sk)
{
	return find_fn ? find_fn(sk) : NULL;
}

/* False when it is not a Quell flow. */
static bool labflow_snapshot(const struct sock *sk, struct quell_snapshot *out)
{
	const struct quell_flow *flow;

	rcu_read_lock();
	flow = labflow_quell(sk);
	if (flow)
		*out = flow->now;
	rcu_read_unlock();
	return flow;
}

/*
 * For how long a flow's algorithm, the search and CUBIC governed its window, from
 * the start of the flow to its end, as quell.ko has it of the connection.
 */

/* Of the connection so far; false without quell.ko, or before it is established. */
static bool governed_read(const struct labflow_flow *flow, u64 now_ns,
			  u64 ns[LABFLOW_GOVERNORS])
{
	struct quell_snapshot snapshot;
	int i;

	memset(ns, 0, LABFLOW_GOVERNORS * sizeof(*ns));
	if (!flow->connection->sock || !labflow_snapshot(flow->connection->sock->sk, &snapshot))
		return false;
	for (i = 0; i < LABFLOW_GOVERNORS; i++)
		ns[i] = quell_governed_ns(&snapshot, i, now_ns);
	return true;
}

/* Softirq. */
void labflow_governed_begin(struct labflow_flow *flow)
{
	governed_read(flow, ktime_get_ns(), flow->governed_ns);
}

/* The flow has started; it ends, or the run does. */
void labflow_governed_end(struct labflow_flow *flow, u64 now_ns)
{
	u64 ns[LABFLOW_GOVERNORS];
	int i;

	if (!flow->is_sender)
		return;
	if (!governed_read(flow, now_ns, ns))
		memcpy(ns, flow->governed_ns, sizeof(ns));
	for (i = 0; i < LABFLOW_GOVERNORS; i++)
		flow->governed_ns[i] = ns[i] - flow->governed_ns[i];
	flow->has_governed = true;
}

/* A row of the table.  lab.mutex held. */
int labflow_governed_show(struct seq_file *seq, void *v)
{
	struct labflow_flow *flow = v;

	/* Of a flow that the end of the run cut short. */
	if (flow->end_bytes && !flow->has_governed && lab.end_ns)
		labflow_governed_end(flow, lab.end_ns);
	if (flow->has_governed)
		seq_printf(seq, "%u %llu %llu %llu\n", flow->id,
			   flow->governed_ns[QUELL_GOVERNOR_ALGORITHM],
			   flow->governed_ns[QUELL_GOVERNOR_SEARCH],
			   flow->governed_ns[QUELL_GOVERNOR_CUBIC]);
	return 0;
}

/*
 * The governor of Dart's flows.
 *
 * With each sample of the windows: the state and n of the interface by which a flow's data
 * is received, n as its sender received it, and the sender's limit.  quell.ko has the first
 * three; the limit is computed from the sender's rate by the core's arithmetic.
 */

/* A flow's knowledge of n at this end. */
struct dart_view {
	u64	share_bytes_ps;	/* sender: by n, or the line, on the wire; 0 not known */
	u32	reported_q8;	/* sender: n that the peer stated; 0 not known */
	u32	counted_q8;	/* receiver: n of the flow's connection; 0 no data yet */
	u8	state;	/* receiver: of the interface its data comes in by */
};

/* False when it is not a flow with n.  Softirq. */
static bool dart_read(const struct sock *sk, struct dart_view *out)
{
	const struct quell_flow *flow;
	struct dart_flow *dart = NULL;

	rcu_read_lock();
	flow = labflow_quell(sk);
	if (!flow || !flow->dasr)
		goto unlock;
	dart = dart_flow(flow);
	*out = (struct dart_view) {
		.share_bytes_ps = quell_share_of_sender_bytes_ps(flow->link.bytes_ps,
								 dart->dasr.peer_link_bytes_ps,
								 dart->dasr.used_q8),
		.reported_q8 = dart->dasr.senders_q8,
	};
	/* The laboratory has one processor: no packet changes the set meanwhile. */
	if (dart->port) {
		out->counted_q8 = quell_dasr_n_q8(&dart->port->set, &dart->conn);
		out->state = dart->port->machine.state;
	}
unlock:
	rcu_read_unlock();
	return dart;
}

/* The limit of a sender; its rate is unlimited before the first acknowledgment. */
static enum labflow_limiter dart_limiter(const struct sock *sk,
					 const struct dart_view *view)
{
	struct quell_snapshot snapshot;
	u64 share_bytes_ps;

	if (!view->share_bytes_ps || !labflow_snapshot(sk, &snapshot))
		return LABFLOW_LINE;
	share_bytes_ps = quell_dart_payload_bytes_ps(view->share_bytes_ps, tcp_sk(sk)->mss_cache,
						     quell_header_bytes(sk));
	if (snapshot.pacing_bytes_ps < share_bytes_ps)
		return LABFLOW_DCQCN;
	return view->reported_q8 > QUELL_SHARE_ONE_Q8 ? LABFLOW_N : LABFLOW_LINE;
}

/* The values that the sender has; false if it runs another algorithm, or does not send. */
static bool dart_read_sender(const struct labflow_flow *flow, struct labflow_dart *out)
{
	struct dart_view view;

	if (labflow_is_quiet(flow) || flow->stopped || !dart_read(flow->sock->sk, &view))
		return false;
	out->reported_q8 = view.reported_q8;
	out->limiter = dart_limiter(flow->sock->sk, &view);
	return true;
}

/* Those that the receiver has; it may run another algorithm: nobody counts then. */
static void dart_read_receiver(const struct labflow_flow *flow, struct labflow_dart *out)
{
	struct dart_view view;

	if (!flow->receiver || !dart_read(flow->receiver, &view))
		return;
	out->counted_q8 = view.counted_q8;
	out->state = view.state;
}

/* Write a row if it differs from the flow's last; false after an error, which is recorded. */
static bool dart_add(struct labflow_flow *flow, enum labflow_dart_end end,
		     const struct labflow_dart *value, u64 now_ns)
{
	struct labflow_dart_row *row;

	if (!memcmp(value, &flow->last_dart, sizeof(*value)))
		return true;
	row = labflow_rows_add(&lab.dart, "dart");
	if (!row)
		return false;
	row->time_ns = now_ns - lab.t0_ns;
	row->flow = flow->index;
	row->end = end;
	row->value = *value;
	flow->last_dart = *value;
	return true;
}

/*
 * Of a network in parts the two ends may be in two of them: each has rows of its own.  The front
 * end joins them.
 */
static bool dart_sample_ends(struct labflow_flow *flow, u64 now_ns)
{
	struct labflow_dart value = flow->last_dart;

	dart_read_receiver(flow, &value);
	if (!dart_add(flow, LABFLOW_DART_RECEIVER, &value, now_ns))
		return false;
	value.is_sending = dart_read_sender(flow, &value);
	return dart_add(flow, LABFLOW_DART_SENDER, &value, now_ns);
}

static bool dart_sample_both(struct labflow_flow *flow, u64 now_ns)
{
	struct labflow_dart value;

	memset(&value, 0, sizeof(value));
	value.is_sending = true;
	if (!dart_read_sender(flow, &value))
		return true;
	dart_read_receiver(flow, &value);
	return dart_add(flow, LABFLOW_DART_BOTH, &value, now_ns);
}

/* Write rows for each flow of Dart that differs from its last. */
static void labflow_dart_sample(u64 now_ns)
{
	u32 i;

	for (i = 0; i < lab.n_flows; i++) {
		struct labflow_flow *flow = lab.flows[i];
		bool is_added = true;

		if (flow->connection == flow)
			is_added = lab.is_part ? dart_sample_ends(flow, now_ns) :
						 dart_sample_both(flow, now_ns);
		if (!is_added)
			return;
	}
}

/* Empty the table.  Samplers stopped. */
static void labflow_dart_reset(void)
{
	labflow_rows_reset(&lab.dart);
}

/* 0 or -ENOMEM. */
static int labflow_dart_init(void)
{
	return labflow_rows_init(&lab.dart, sizeof(struct labflow_dart_row));
}

static void labflow_dart_exit(void)
{
	labflow_dart_reset();
	kvfree(lab.dart.chunks);
}

/*
 * Pauses of ports with priority flow control, from T0 on.  A deadlock ends the run.
 */

static void labflow_pause_notify(enum labnic_pause_event event, const char *text, u8 priority,
				 u64 time_ns)
{
	struct labflow_pause_row *row;

	if (event == LABNIC_DEADLOCK) {
		labflow_fail("deadlock: by priority %u each waits for the next, in a ring: %s",
			     priority, text);
		return;
	}
	if (time_ns < lab.t0_ns)
		return;
	row = labflow_rows_add(&lab.pauses, "pause");
	if (!row)
		return;
	row->time_ns = time_ns - lab.t0_ns;
	row->port = text;
	row->priority = priority;
	row->paused = event == LABNIC_PAUSED;
}

static void labflow_pause_start(void)
{
	quell_labnic_pauses(labflow_pause_notify);
}

static void labflow_pause_stop(void)
{
	quell_labnic_pauses(NULL);
}

/* Empty the table.  Nobody listens. */
static void labflow_pause_reset(void)
{
	labflow_rows_reset(&lab.pauses);
}

/* 0 or -ENOMEM. */
static int labflow_pause_init(void)
{
	return labflow_rows_init(&lab.pauses, sizeof(struct labflow_pause_row));
}

static void labflow_pause_exit(void)
{
	labflow_pause_reset();
	kvfree(lab.pauses.chunks);
}

/*
 * Round-trip times as quell.ko takes them, beside the truth.
 *
 * The NICs' tap reports when a data packet's last bit left the sender and arrived
 * at the receiver, when the receiver's stack got it, and when the ACK's last bit
 * arrived at the sender: by the laboratory's one clock, before noise and the
 * errors of the NICs' clocks.  A packet and its ACK are matched by sequence
 * number, never by Quell's option.  When the sender's stack has processed
 * that ACK and quell.ko took a sample of it, both go into a row:
 *
 *	true round-trip time	ACK's arrival - packet's departure
 *	true hold time		receiver's stack - packet's arrival
 *
 * In the laboratory a host's work takes no time, so the ACK leaves the stack
 * when the packet came, and the hold time is the noise alone.
 *
 * Ignored: packets that left more than once, and ACKs of several packets: their
 * sample is of another packet's departure.  This module also makes the step of a
 * NIC's clock, at most one per run, because only this module knows T0.
 */

/* Packets remembered per flow, as a power of two. */
#define LABFLOW_SENT_SHIFT	14

/* The flow and packet of the ACK that the sender's stack processes. */
static struct labflow_flow *truth_flow;
static const struct labflow_sent *truth_sent;

static struct labflow_sent *truth_packet(struct labflow_flow *flow, u32 end_seq)
{
	return &flow->sent[hash_32(end_seq, LABFLOW_SENT_SHIFT)];
}

static struct labflow_flow *truth_find(__be16 port)
{
	u32 index = ntohs(port) - LABFLOW_SPORT_BASE;

	return index < lab.n_flows ? lab.flows[index] : NULL;
}

static void truth_data(enum labnic_tap_event event, struct labflow_flow *flow,
		       const struct net *net, u32 end_seq, u64 time_ns)
{
	struct labflow_sent *sent = truth_packet(flow, end_seq);

	if (event == LABNIC_TAP_SENT && net == flow->src_net) {
		u32 before = sent->end_seq == end_seq ? sent->sent : 0;

		*sent = (struct labflow_sent) {
			.end_seq = end_seq, .sent = before + 1, .left_ns = time_ns,
		};
		return;
	}
	if (net != flow->dst_net)
		return;
	/* Of a sender in another part a place for the time of arrival alone. */
	if (!flow->is_sender && event == LABNIC_TAP_RECEIVED)
		sent->end_seq = end_seq;
	if (sent->end_seq != end_seq)
		return;
	if (event == LABNIC_TAP_RECEIVED)
		sent->arrived_ns = time_ns;
	else if (event == LABNIC_TAP_STACK && flow->is_sender)
		sent->stack_ns = time_ns;
	else if (event == LABNIC_TAP_STACK)
		quell_part_notify(&(struct quell_part_note) {
			.kind = QUELL_PART_HELD, .flow = flow->index, .end_seq = end_seq,
			.arrived_ns = sent->arrived_ns, .time_ns = time_ns,
		});
}

/* A receiver in another part has a packet of a flow that this one sends.  Softirq. */
void labflow_truth_held(struct labflow_flow *flow, u32 end_seq, u64 arrived_ns, u64 stack_ns)
{
	struct labflow_sent *sent = flow->sent ? truth_packet(flow, end_seq) : NULL;

	if (!sent || sent->end_seq != end_seq)
		return;
	sent->arrived_ns = arrived_ns;
	sent->stack_ns = stack_ns;
}

static void truth_ack(enum labnic_tap_event event, struct labflow_flow *flow,
		      const struct net *net, u32 ack_seq, u64 time_ns)
{
	struct labflow_sent *sent = truth_packet(flow, ack_seq);

	if (net != flow->src_net || sent->end_seq != ack_seq)
		return;
	if (event == LABNIC_TAP_RECEIVED && !sent->ack_ns) {
		sent->ack_ns = time_ns;
	} else if (event == LABNIC_TAP_STACK) {
		truth_flow = flow;
		truth_sent = sent;
	}
}

/* The sender's stack has processed an ACK; add a row if quell.ko took a sample of it. */
static void truth_done(u64 time_ns)
{
	struct labflow_flow *flow = truth_flow;
	struct quell_snapshot snapshot;
	struct labflow_truth_row *row;
	bool taken;

	truth_flow = NULL;
	if (!flow || !flow->sock || !labflow_snapshot(flow->sock->sk, &snapshot))
		return;
	taken = snapshot.samples == flow->last_samples + 1;
	flow->last_samples = snapshot.samples;
	if (!taken || time_ns < lab.t0_ns || truth_sent->sent != 1 || !truth_sent->stack_ns)
		return;
	row = labflow_rows_add(&lab.truth, "truth");
	if (!row)
		return;
	*row = (struct labflow_truth_row) {
		.time_ns = time_ns - lab.t0_ns,
		.rtt_ns = snapshot.rtt_ns,
		.hold_ns = snapshot.remote_ns,
		.true_rtt_ns = truth_sent->ack_ns - truth_sent->left_ns,
		.true_hold_ns = truth_sent->stack_ns - truth_sent->arrived_ns,
		.flow = flow->index,
		.clock = snapshot.clock,
	};
}

static void truth_tap(enum labnic_tap_event event, struct net_device *dev,
		      const struct iphdr *iph, u64 time_ns)
{
	const struct net *net = dev_net(dev);
	struct labflow_flow *flow;
	const struct tcphdr *th;
	u32 payload_bytes;

	if (event == LABNIC_TAP_DONE)
		truth_done(time_ns);
	if (!iph)
		return;
	th = (const void *)iph + iph->ihl * 4;
	payload_bytes = ntohs(iph->tot_len) - iph->ihl * 4 - __tcp_hdrlen(th);
	flow = truth_find(th->source);
	if (flow) {
		if (payload_bytes)
			truth_data(event, flow, net, ntohl(th->seq) + payload_bytes, time_ns);
		return;
	}
	flow = truth_find(th->dest);
	if (flow && !payload_bytes)
		truth_ack(event, flow, net, ntohl(th->ack_seq), time_ns);
}

static enum hrtimer_restart truth_step_timer(struct hrtimer *timer)
{
	if (quell_labnic_step(lab.step.dev, lab.step.step_ns))
		labflow_fail("%s has no clock to step", lab.step.dev->name);
	return HRTIMER_NORESTART;
}

/* Register the tap, arm the step; 0 or -ENOMEM.  T0 is chosen. */
int labflow_truth_start(void)
{
	u32 i;

	if (lab.step.dev)
		hrtimer_start(&lab.step.timer, ns_to_ktime(lab.t0_ns + lab.step.at_ns),
			      HRTIMER_MODE_ABS_SOFT);
	if (!lab.want_truth)
		return 0;
	if (lab.n_flows > LABFLOW_SPORTS) {
		labflow_fail("truth of %u flows: at most %u", lab.n_flows, LABFLOW_SPORTS);
		return -E2BIG;
	}
	for (i = 0; i < lab.n_flows; i++) {
		if (lab.flows[i]->on_id)
			continue;
		lab.flows[i]->sent = kvcalloc(1 << LABFLOW_SENT_SHIFT,
					      sizeof(*lab.flows[i]->sent), GFP_KERNEL);
		if (!lab.flows[i]->sent)
			return -ENOMEM;
	}
	quell_labnic_tap(truth_tap);
	return 0;
}

void labflow_truth_stop(void)
{
	quell_labnic_tap(NULL);
	hrtimer_cancel(&lab.step.timer);
	/* A softirq may still run the tap for a packet; wait for it. */
	synchronize_net();
}

void labflow_truth_reset(void)
{
	labflow_rows_reset(&lab.truth);
	if (lab.step.dev)
		netdev_put(lab.step.dev, &lab.step.tracker);
	lab.step.dev = NULL;
	lab.want_truth = false;
	truth_flow = NULL;
}

/* 0 or -ENOMEM. */
int labflow_truth_init(void)
{
	quell_hrtimer_setup(&lab.step.timer, truth_step_timer, CLOCK_MONOTONIC,
			    HRTIMER_MODE_ABS_SOFT);
	return labflow_rows_init(&lab.truth, sizeof(struct labflow_truth_row));
}

void labflow_truth_exit(void)
{
	labflow_truth_reset();
	kvfree(lab.truth.chunks);
}

static void labflow_sample_queue(u64 now_ns)
{
	u32 i;

	for (i = 0; i < lab.n_watches; i++) {
		struct labflow_watch *watch = lab.watches[i];
		struct labflow_queue_row *row;
		u32 backlog_bytes;

		rcu_read_lock();
		backlog_bytes = READ_ONCE(rcu_dereference(watch->dev->qdisc)->qstats.backlog);
		rcu_read_unlock();
		if (watch->sampled && backlog_bytes == watch->last_bytes)
			continue;
		row = labflow_rows_add(&lab.queue.rows, "queue");
		if (!row)
			return;
		row->time_ns = now_ns - lab.t0_ns;
		row->watch = i;
		row->backlog_bytes = backlog_bytes;
		watch->last_bytes = backlog_bytes;
		watch->sampled = true;
	}
}

static void labflow_read_cwnd(const struct labflow_flow *flow,
			      struct labflow_cwnd_row *row)
{
	struct sock *sk = flow->sock->sk;
	const struct quell_flow *ours;
	struct tcp_sock *tp = tcp_sk(sk);

	rcu_read_lock();
	ours = labflow_quell(sk);
	if (ours) {
		row->cwnd_bytes = ours->now.window_bytes;
		row->pacing_bytes_ps = ours->now.pacing_bytes_ps;
		row->rtt_ns = ours->now.rtt_ns;
		row->hop = ours->telemetry.hop;
	}
	rcu_read_unlock();
	if (ours)
		return;
	row->cwnd_bytes = (u64)tcp_snd_cwnd(tp) * tp->mss_cache;
	row->pacing_bytes_ps = READ_ONCE(sk->sk_pacing_rate);
	row->rtt_ns = (u64)tp->rack.rtt_us * NSEC_PER_USEC;
	row->hop = 0;
}

/* The counts of marks, duplicates and reordering; they may change while they are read. */
static void read_marks(const struct labflow_flow *flow, struct labflow_marks *marks)
{
	const struct tcp_sock *tp = flow->sock ? tcp_sk(flow->sock->sk) : NULL;
	struct quell_snapshot snapshot;

	*marks = (struct labflow_marks) { 0 };
	if (flow->receiver) {
		marks->unordered_pkts = READ_ONCE(tcp_sk(flow->receiver)->rcv_ooopack);
		marks->answered_pkts = READ_ONCE(tcp_sk(flow->receiver)->segs_out);
	}
	if (!tp)
		return;
	marks->delivered_pkts = READ_ONCE(tp->delivered);
	marks->delivered_ce_pkts = READ_ONCE(tp->delivered_ce);
	marks->dsack_pkts = READ_ONCE(tp->dsack_dups);
	marks->sent_pkts = READ_ONCE(tp->segs_out);
	if (!labflow_snapshot(flow->sock->sk, &snapshot))
		return;
	marks->reported_pkts = snapshot.marked_pkts;
	marks->reported_bytes = snapshot.marked_bytes;
}

/* A row of the table of marks.  lab.mutex held. */
int labflow_marks_show(struct seq_file *seq, void *v)
{
	const struct labflow_flow *flow = v;
	struct labflow_marks marks;

	read_marks(flow, &marks);
	seq_printf(seq, "%u %u %u %u %llu %llu %u %u %u\n", flow->id,
		   marks.delivered_pkts, marks.delivered_ce_pkts,
		   marks.dsack_pkts, marks.reported_pkts, marks.reported_bytes,
		   marks.unordered_pkts, marks.sent_pkts, marks.answered_pkts);
	return 0;
}

static void labflow_sample_cwnd(u64 now_ns)
{
	struct labflow_cwnd_row value, *row;
	u32 i;

	for (i = 0; i < lab.n_flows; i++) {
		struct labflow_flow *flow = lab.flows[i];

		if (flow->connection != flow || labflow_is_quiet(flow) || flow->stopped)
			continue;
		labflow_read_cwnd(flow, &value);
		if (value.cwnd_bytes == flow->last_cwnd_bytes &&
		    value.pacing_bytes_ps == flow->last_pacing_bytes_ps &&
		    value.rtt_ns == flow->last_rtt_ns &&
		    value.hop == flow->last_hop)
			continue;
		row = labflow_rows_add(&lab.cwnd.rows, "flow");
		if (!row)
			return;
		value.flow = flow->index;
		value.time_ns = now_ns - lab.t0_ns;
		*row = value;
		flow->last_cwnd_bytes = value.cwnd_bytes;
		flow->last_pacing_bytes_ps = value.pacing_bytes_ps;
		flow->last_rtt_ns = value.rtt_ns;
		flow->last_hop = value.hop;
	}
}

static void labflow_sample_delivered(u64 now_ns)
{
	struct labflow_delivered_row *row;
	u64 bytes;
	u32 i;

	for (i = 0; i < lab.n_flows; i++) {
		struct labflow_flow *flow = lab.flows[i];

		bytes = labflow_message_part(flow, flow->connection->delivered_bytes);
		if (bytes == flow->last_delivered_bytes)
			continue;
		row = labflow_rows_add(&lab.delivered.rows, "delivered");
		if (!row)
			return;
		row->flow = flow->index;
		row->time_ns = now_ns - lab.t0_ns;
		row->bytes = bytes;
		flow->last_delivered_bytes = bytes;
	}
}

static void labflow_sample_flows(u64 now_ns)
{
	labflow_sample_cwnd(now_ns);
	labflow_dart_sample(now_ns);
}

static enum hrtimer_restart labflow_sample_timer(struct hrtimer *timer)
{
	struct labflow_sampler *sampler = container_of(timer,
						struct labflow_sampler, timer);
	/* The expiry is the time of the sample; the softirq may run later. */
	u64 now_ns = ktime_to_ns(hrtimer_get_expires(timer));
	bool last = lab.state != LABFLOW_RUNNING;

	if (sampler == &lab.queue)
		labflow_sample_queue(now_ns);
	else if (sampler == &lab.cwnd)
		labflow_sample_flows(now_ns);
	else
		labflow_sample_delivered(now_ns);
	/* Take one more sample after the end, so that every table shows it. */
	if (last)
		return HRTIMER_NORESTART;
	hrtimer_add_expires_ns(timer, sampler->interval_ns);
	return HRTIMER_RESTART;
}

static void labflow_sampler_start(struct labflow_sampler *sampler)
{
	if (sampler->interval_ns)
		hrtimer_start(&sampler->timer, ns_to_ktime(lab.t0_ns),
			      HRTIMER_MODE_ABS_SOFT);
}

void labflow_sample_start(void)
{
	if (!find_fn)
		find_fn = (labflow_find_fn)__symbol_get("quell_flow_find");
	labflow_pause_start();
	labflow_sampler_start(&lab.queue);
	labflow_sampler_start(&lab.cwnd);
	labflow_sampler_start(&lab.delivered);
}

void labflow_sample_stop(void)
{
	hrtimer_cancel(&lab.queue.timer);
	hrtimer_cancel(&lab.cwnd.timer);
	hrtimer_cancel(&lab.delivered.timer);
	if (find_fn)
		__symbol_put("quell_flow_find");
	find_fn = NULL;
	labflow_pause_stop();
}

/* Delete all samples.  Samplers stopped. */
void labflow_sample_reset(void)
{
	labflow_rows_reset(&lab.queue.rows);
	labflow_rows_reset(&lab.cwnd.rows);
	labflow_rows_reset(&lab.delivered.rows);
	labflow_dart_reset();
	labflow_pause_reset();
}

static int labflow_sampler_init(struct labflow_sampler *sampler, u32 row_bytes)
{
	quell_hrtimer_setup(&sampler->timer, labflow_sample_timer, CLOCK_MONOTONIC,
			    HRTIMER_MODE_ABS_SOFT);
	return labflow_rows_init(&sampler->rows, row_bytes);
}

/* Make the tables.  Returns 0, -EINVAL for a parameter out of range, -ENOMEM. */
int labflow_sample_init(void)
{
	int err;

	if (max_rows < LABFLOW_ROWS_MIN || max_rows > LABFLOW_ROWS_MAX) {
		pr_err("quell_labflow: max_rows=%u must be %u..%u\n", max_rows,
		       LABFLOW_ROWS_MIN, LABFLOW_ROWS_MAX);
		return -EINVAL;
	}
	err = labflow_sampler_init(&lab.queue, sizeof(struct labflow_queue_row));
	if (!err)
		err = labflow_sampler_init(&lab.cwnd,
					   sizeof(struct labflow_cwnd_row));
	if (!err)
		err = labflow_sampler_init(&lab.delivered,
					   sizeof(struct labflow_delivered_row));
	if (!err)
		err = labflow_dart_init();
	if (!err)
		err = labflow_pause_init();
	if (err)
		labflow_sample_exit();
	return err;
}

void labflow_sample_exit(void)
{
	labflow_sample_reset();
	kvfree(lab.queue.rows.chunks);
	kvfree(lab.cwnd.rows.chunks);
	kvfree(lab.delivered.rows.chunks);
	labflow_dart_exit();
	labflow_pause_exit();
}

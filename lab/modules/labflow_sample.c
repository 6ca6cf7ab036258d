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
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <net/pkt_sched.h>
#include <net/tcp.h>
#include <quell/quell.h>

#include <compat/hrtimer.h>

#include "flow/flow.h"
#include "labflow.h"

#define LABFLOW_ROWS_MIN	1000u
#define LABFLOW_ROWS_MAX	100000000u

static unsigned int max_rows = 2000000;
module_param(max_rows, uint, 0444);
MODULE_PARM_DESC(max_rows, "Rows a table of samples may hold, 1000..100000000");

typedef struct quell_flow *(*labflow_find_fn)(const struct sock *sk);
static labflow_find_fn find_fn;

/* 0 or -ENOMEM. */
int labflow_rows_init(struct labflow_rows *rows, u32 row_bytes)
{
	rows->row_bytes = row_bytes;
	rows->rows_per_chunk = PAGE_SIZE / row_bytes;
	rows->max = max_rows;
	rows->chunks = kvcalloc(DIV_ROUND_UP(rows->max, rows->rows_per_chunk),
				sizeof(*rows->chunks), GFP_KERNEL);
	return rows->chunks ? 0 : -ENOMEM;
}

void labflow_rows_reset(struct labflow_rows *rows)
{
	u64 i;

	for (i = 0; i * rows->rows_per_chunk < rows->count; i++) {
		free_page((unsigned long)rows->chunks[i]);
		rows->chunks[i] = NULL;
	}
	rows->count = 0;
}

/* NULL after recording the error. */
void *labflow_rows_add(struct labflow_rows *rows, const char *what)
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

/* NULL when it is not a Quell flow.  RCU read section. */
struct quell_flow *labflow_quell(const struct sock *sk)
{
	return find_fn ? find_fn(sk) : NULL;
}

/* False when it is not a Quell flow. */
bool labflow_snapshot(const struct sock *sk, struct quell_snapshot *out)
{
	const struct quell_flow *flow;

	rcu_read_lock();
	flow = labflow_quell(sk);
	if (flow)
		*out = flow->now;
	rcu_read_unlock();
	return flow;
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

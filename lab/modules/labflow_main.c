// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labflow: TCP flows between namespaces, timed to the ns, for the
 * laboratory.
 *
 * Directory quell_labflow in debugfs:
 *
 *	control		write one command a line:
 *	  flow ID SRC_FD DST_FD DADDR DPORT BYTES START_NS warm|cold STOP_NS DSCP AFTER_ID ON_ID
 *	       QUEUED_BYTES WAKE_NS
 *	  watch FD NODE DEV		sample the root qdisc of that device
 *	  sample QUEUE_NS FLOW_NS DELIVERED_NS	intervals, 0: off
 *	  truth				compare quell.ko's round trips with the wire's
 *	  step FD DEV AT_NS STEP_NS	step the clock of that device
 *	  until NS			time limit, counted from T0; 0: none
 *	  run [open]			connect, warm up, choose T0; returns before T0
 *	  finish			end it; an open one does not end with its flows
 *	  stop				close all sockets
 *	  wait				sleep until the network of a part has stopped
 *	  clear				delete flows, watches and results
 *	state		"STATE T0_NS NOW_NS END_NS DONE TOTAL", times absolute,
 *			then the error on a line of its own
 *	flows marks queues cwnd delivered dart pauses truth	results, one row a line; times
 *			from T0
 *
 * *_FD are descriptors of namespaces, of the process that writes.
 */
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/inet.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/wait.h>
#include <net/inet_connection_sock.h>
#include <net/inet_dscp.h>
#include <net/tcp.h>
#include <compat/hrtimer.h>

#include "labflow.h"
#include "labnic_part.h"

static void labflow_finish(enum labflow_state state);

/*
 * Flows of a network in parts (labnic_part.h).
 *
 * All parts have all flows in the order of the plan, so that a flow has its ports whichever part it
 * is in; of each a part makes the socket of the sender, of the receiver, of both or of neither.
 * The receiver's part has the sender's times of start, and knows the end.
 *
 * All parts warm up the next flow, or end the run, at one time: some time after all can know of the
 * cause, the same for any number of parts.  The tables are read after the network
 * was stopped, for each part reads for another time.
 */

/* The next warm-up begins at a multiple of this. */
#define PART_TURN_STEP_NS	(100 * NSEC_PER_USEC)
/* From the end of a run until its network stops; init reads tables no earlier than that. */
#define PART_SETTLE_NS		(50 * NSEC_PER_MSEC)

/* Progress is printed whenever so much of the time since T0 has passed, at first after this. */
#define PART_PROGRESS_NS	(50 * NSEC_PER_USEC)
#define PART_PROGRESS_PART	20

static struct quell_part_state said;	/* of this part */
static struct quell_part_state heard;	/* of all */
static DECLARE_WAIT_QUEUE_HEAD(changes);
static bool is_over;		/* the network has stopped */
static u64 progress_ns;		/* of virtual time, when it is printed next */
static struct hrtimer finish_timer, freeze_timer;

/* As init does it for a whole network, from a process. */
static void print_progress(u64 now_ns)
{
	u64 passed_ns = now_ns > lab.t0_ns ? now_ns - lab.t0_ns : 0;

	pr_alert("quell-progress %llu %u %u\n", passed_ns, lab.n_done, lab.n_flows);
	progress_ns = now_ns + max(PART_PROGRESS_NS, passed_ns / PART_PROGRESS_PART);
}

/* A barrier.  Softirq. */
static void part_met(const struct quell_part_state *all)
{
	bool is_end = all->done == lab.n_flows && heard.done != all->done &&
		      lab.state == LABFLOW_RUNNING;
	bool is_turn = heard.turn != all->turn;

	heard = *all;
	if (is_turn)
		wake_up_all(&changes);
	if (is_end)
		hrtimer_start(&finish_timer, ns_to_ktime(all->done_ns + lab.known_ns),
			      HRTIMER_MODE_ABS_SOFT);
	if (lab.state == LABFLOW_RUNNING && ktime_get_ns() >= progress_ns)
		print_progress(ktime_get_ns());
}

/* An event of a flow in another part, of which this one may have the other end.  Softirq. */
static void part_noted(const struct quell_part_note *note)
{
	struct labflow_flow *flow = lab.flows[note->flow];

	switch (note->kind) {
	case QUELL_PART_STARTED:
		if (flow->is_receiver)
			labflow_message_enqueue(flow);
		break;
	case QUELL_PART_ENDED:
		flow->end_ns = note->time_ns;
		labflow_governed_end(flow, note->time_ns);
		break;
	case QUELL_PART_HELD:
		if (flow->is_sender)
			labflow_truth_held(flow, note->end_seq, note->arrived_ns, note->time_ns);
		break;
	}
}

static const struct quell_part_ops part_ops = {
	.met	= part_met,
	.noted	= part_noted,
};

static enum hrtimer_restart part_finish_timer(struct hrtimer *timer)
{
	if (lab.state != LABFLOW_RUNNING)
		return HRTIMER_NORESTART;
	labflow_finish(LABFLOW_DONE);
	lab.end_ns = heard.done_ns;
	return HRTIMER_NORESTART;
}

static enum hrtimer_restart part_freeze_timer(struct hrtimer *timer)
{
	quell_part_freeze();
	is_over = true;
	wake_up_all(&changes);
	return HRTIMER_NORESTART;
}

/* A receiver of this part has all of a flow.  Softirq. */
static void labflow_part_flow_done(const struct labflow_flow *flow)
{
	said.done = lab.n_done;
	said.done_ns = max(said.done_ns, flow->end_ns);
	quell_part_report(&said);
	if (!flow->is_sender)
		quell_part_notify(&(struct quell_part_note) {
			.kind = QUELL_PART_ENDED, .flow = flow->index, .time_ns = flow->end_ns,
		});
}

/* A flow that waited for another starts; its receiver does not know when.  Softirq. */
void labflow_part_flow_started(const struct labflow_flow *flow)
{
	if (!flow->is_receiver)
		quell_part_notify(&(struct quell_part_note) {
			.kind = QUELL_PART_STARTED, .flow = flow->index,
		});
}

/* The stop of a flow has come, of which its sender's part resets it later. */
static bool labflow_part_is_stopped(const struct labflow_flow *flow)
{
	return lab.is_part && flow->stop_ns && ktime_get_ns() >= lab.t0_ns + flow->stop_ns;
}

/* The run ends in this ns, in all parts. */
static void labflow_part_finished(void)
{
	if (lab.is_part)
		hrtimer_start(&freeze_timer, ktime_add_ns(ktime_get(), PART_SETTLE_NS),
			      HRTIMER_MODE_ABS_SOFT);
}

static void labflow_part_leave(void)
{
	if (!lab.is_part)
		return;
	quell_part_end();
	hrtimer_cancel(&finish_timer);
	hrtimer_cancel(&freeze_timer);
}

/*
 * Sleep until the network has stopped: a process that did anything earlier would let time pass
 * by reading the clock.
 */
static int labflow_part_wait(void)
{
	int err;

	if (!lab.is_part)
		return -EOPNOTSUPP;
	err = wait_event_interruptible(changes, is_over);
	print_progress(lab.end_ns);
	return err;
}

/* The first work of all makes a thread, by which time passes: not while packets are under way. */
static void part_first_work(struct work_struct *work)
{
}

static DECLARE_WORK(first_work, part_first_work);

static void sleep_until(u64 ns)
{
	ktime_t expires = ns_to_ktime(ns);

	set_current_state(TASK_UNINTERRUPTIBLE);
	schedule_hrtimeout(&expires, HRTIMER_MODE_ABS);
}

/*
 * Warm up the flows of all parts one after the other, each at its turn.  @ready_ns: when all are
 * through.  Process context.
 */
static int labflow_part_warm_up(int (*warm_up)(struct labflow_flow *flow), u64 *ready_ns)
{
	struct labflow_flow *flow;
	struct page *payload;
	u32 payload_bytes, i;
	u64 turn = 0;
	int err;

	queue_work(system_highpri_wq, &first_work);
	flush_work(&first_work);
	payload = labflow_sock_payload(&payload_bytes);
	heard.turn_ns = quell_part_begin(&part_ops, payload, payload_bytes) + PART_TURN_STEP_NS;
	for (i = 0; i < lab.n_flows; i++) {
		flow = lab.flows[i];
		if (!flow->warm || flow->on_id)
			continue;
		if (flow->is_sender) {
			wait_event(changes, heard.turn == turn);
			sleep_until(heard.turn_ns);
			err = warm_up(flow);
			if (err)
				return err;
			said.turn = turn + 1;
			said.turn_ns = roundup_u64(ktime_get_ns() + 2 * lab.known_ns,
						   PART_TURN_STEP_NS);
			quell_part_report(&said);
		}
		turn++;
	}
	wait_event(changes, heard.turn == turn);
	*ready_ns = heard.turn_ns;
	sleep_until(*ready_ns);
	for (i = 0; i < lab.n_flows; i++)
		if (!lab.flows[i]->is_sender)
			lab.flows[i]->warm_bytes = lab.flows[i]->delivered_bytes;
	progress_ns = 0;
	return 0;
}

/* When the module is loaded. */
static void labflow_part_init(void)
{
	lab.is_part = quell_part_is_on();
	lab.known_ns = quell_part_known_ns();
	quell_hrtimer_setup(&finish_timer, part_finish_timer, CLOCK_MONOTONIC,
			    HRTIMER_MODE_ABS_SOFT);
	quell_hrtimer_setup(&freeze_timer, part_freeze_timer, CLOCK_MONOTONIC,
			    HRTIMER_MODE_ABS_SOFT);
}

struct labflow lab = {
	.mutex = __MUTEX_INITIALIZER(lab.mutex),
	.listeners = LIST_HEAD_INIT(lab.listeners),
};

/* @state: how it ended.  Any context. */
static void labflow_finish(enum labflow_state state)
{
	if (lab.state != LABFLOW_RUNNING)
		return;
	lab.end_ns = ktime_get_ns();
	lab.state = state;
	labflow_part_finished();
}

void labflow_fail(const char *fmt, ...)
{
	va_list args;

	if (lab.error[0])
		return;
	va_start(args, fmt);
	vscnprintf(lab.error, sizeof(lab.error), fmt, args);
	va_end(args);
	labflow_finish(LABFLOW_FAILED);
}

/* Softirq, receiving socket locked. */
void labflow_flow_done(struct labflow_flow *flow)
{
	const struct labflow_flow *connection = flow->connection;

	/* A flow that ends beyond the time limit stays unfinished. */
	if (lab.state != LABFLOW_RUNNING || labflow_part_is_stopped(flow))
		return;
	flow->end_ns = ktime_get_ns();
	labflow_governed_end(flow, flow->end_ns);
	if (connection->delivered_bytes > connection->newest->end_bytes)
		labflow_fail("flow %u: %llu bytes delivered, %llu sent", connection->id,
			     connection->delivered_bytes - connection->warm_bytes,
			     connection->newest->end_bytes - connection->warm_bytes);
	labflow_after_delivered(flow);
	lab.n_done++;
	if (lab.is_part)
		labflow_part_flow_done(flow);
	else if (lab.n_done == lab.n_flows && !lab.is_open)
		labflow_finish(LABFLOW_DONE);
}

void labflow_sleep_ns(u64 ns)
{
	ktime_t expires = ns_to_ktime(ns);

	set_current_state(TASK_UNINTERRUPTIBLE);
	schedule_hrtimeout(&expires, HRTIMER_MODE_REL);
}

/*
 * The course of a run.
 *
 *	warm flows: connect, WARM_SEGS one-segment messages, one flow after the
 *	other on an otherwise idle network
 *	T0: the next multiple of 100 ms
 *	T0 + start: a warm flow sends its message, a cold one connects first;
 *	of a flow that waits for another, the other's end + start; of one that takes
 *	another's connection, behind the messages there
 *	T0 + stop: an unfinished flow with a stop time is reset
 *	end: all delivered, or of an open run "finish", or T0 + until, or the first error
 *
 * Starts are soft hrtimers at absolute times, so events before T0 do not shift
 * any event after it.
 */

/* Send started messages; the socket must be established. */
static void labflow_send_messages(struct labflow_flow *connection)
{
	struct tcp_sock *tp = tcp_sk(connection->sock->sk);

	if (!connection->started) {
		connection->started = true;
		connection->base_retrans_segs = tp->total_retrans;
		connection->base_segs_out = connection->warm ? tp->segs_out : 0;
	}
	labflow_message_push(connection);
}

/* A flow starts; its connection does not, or not yet. */
static bool labflow_is_early(const struct labflow_flow *flow)
{
	return flow->connection != flow && !flow->connection->end_bytes;
}

/* The start of a flow; of one with a connection, its other timed events, too. */
static enum hrtimer_restart labflow_start_timer(struct hrtimer *timer)
{
	struct labflow_flow *flow = container_of(timer, struct labflow_flow, timer);
	struct labflow_flow *connection = flow->connection;
	struct sock *sk;

	if (lab.state != LABFLOW_RUNNING || flow->stopped)
		return HRTIMER_NORESTART;
	if (labflow_is_early(flow)) {
		labflow_fail("flow %u starts before flow %u, whose connection it takes", flow->id,
			     connection->id);
		return HRTIMER_NORESTART;
	}
	if (!flow->is_sender) {
		labflow_message_enqueue(flow);
		return HRTIMER_NORESTART;
	}
	if (!flow->end_bytes && connection == flow && !flow->warm) {
		/* No one else holds the socket yet. */
		labflow_message_enqueue(flow);
		flow->connecting = true;
		queue_work(system_highpri_wq, &flow->connect_work);
		return HRTIMER_NORESTART;
	}
	sk = connection->sock->sk;
	bh_lock_sock(sk);
	if (sock_owned_by_user(sk)) {
		/* connect() has not returned yet; it does so without virtual time passing. */
		bh_unlock_sock(sk);
		hrtimer_forward_now(timer, ns_to_ktime(1));
		return HRTIMER_RESTART;
	}
	if (!flow->end_bytes)
		labflow_message_enqueue(flow);
	if (sk->sk_state == TCP_ESTABLISHED)
		labflow_send_messages(connection);
	else if (connection->started)
		labflow_fail("flow %u: the connection of flow %u is closed", flow->id,
			     connection->id);
	bh_unlock_sock(sk);
	return HRTIMER_NORESTART;
}

/*
 * A reset takes the socket's lock, for which only a process may wait.  Of a network in parts, when
 * it is known that the flow did not end by its stop.
 */
static enum hrtimer_restart labflow_stop_timer(struct hrtimer *timer)
{
	struct labflow_flow *flow = container_of(timer, struct labflow_flow, stop_timer);

	if (lab.state != LABFLOW_RUNNING || flow->end_ns)
		return HRTIMER_NORESTART;
	flow->stopped = true;
	if (flow->end_bytes)
		labflow_governed_end(flow, ktime_get_ns());
	queue_work(system_highpri_wq, &flow->stop_work);
	return HRTIMER_NORESTART;
}

static void labflow_stop_work(struct work_struct *work)
{
	/* As of a connect. */
	if (lab.is_part)
		local_bh_disable();
	labflow_sock_abort(container_of(work, struct labflow_flow, stop_work));
	if (lab.is_part)
		local_bh_enable();
}

static void labflow_connect_work(struct work_struct *work)
{
	struct labflow_flow *flow = container_of(work, struct labflow_flow,
						 connect_work);
	int err;

	/* A process lets time pass when it reads the clock, which other hosts see that are here. */
	if (lab.is_part)
		local_bh_disable();
	err = labflow_sock_connect(flow, O_NONBLOCK);
	if (lab.is_part)
		local_bh_enable();
	if (err && err != -EINPROGRESS)
		labflow_fail("flow %u: cannot connect: error %d", flow->id, err);
}

static enum hrtimer_restart labflow_until_timer(struct hrtimer *timer)
{
	labflow_finish(LABFLOW_TIMEOUT);
	return HRTIMER_NORESTART;
}

/* Send one message and wait for its ACK. */
static int labflow_warm_once(struct labflow_flow *flow, u32 bytes)
{
	u64 give_up_ns = ktime_get_ns() + LABFLOW_WARM_TIMEOUT_NS;
	struct sock *sk = flow->sock->sk;
	bool pushed;

	local_bh_disable();
	bh_lock_sock(sk);
	pushed = labflow_sock_push(flow, flow->limit_bytes + bytes);
	bh_unlock_sock(sk);
	local_bh_enable();
	if (!pushed)
		return -EIO;
	do {
		labflow_sleep_ns(LABFLOW_WARM_POLL_NS);
		if (labflow_sock_all_acked(flow))
			return 0;
	} while (ktime_get_ns() < give_up_ns);
	labflow_fail("flow %u: warm-up byte %llu not acknowledged", flow->id,
		     flow->limit_bytes);
	return -ETIMEDOUT;
}

/*
 * Messages of one full segment: the smallest RTT learned must be that of the
 * packets the flow will send, which switches store before they forward.
 */
static int labflow_warm_up(struct labflow_flow *flow)
{
	u32 mss_bytes;
	int err, i;

	err = labflow_sock_connect(flow, 0);
	if (err) {
		labflow_fail("flow %u: cannot connect: error %d", flow->id, err);
		return err;
	}
	mss_bytes = tcp_sk(flow->sock->sk)->mss_cache;
	flow->warm_bytes = LABFLOW_WARM_SEGS * mss_bytes;
	for (i = 0; i < LABFLOW_WARM_SEGS; i++) {
		err = labflow_warm_once(flow, mss_bytes);
		if (err)
			return err;
	}
	return 0;
}

/* Sockets, and warm connections; @ready_ns: a time behind that. */
static int labflow_prepare_all(u64 *ready_ns)
{
	u32 i;
	int err;

	for (i = 0; i < lab.n_flows; i++) {
		if (lab.flows[i]->on_id)
			continue;
		err = labflow_sock_prepare(lab.flows[i]);
		if (err) {
			labflow_fail("flow %u: cannot make its sockets: error %d",
				     lab.flows[i]->id, err);
			return err;
		}
	}
	if (lab.is_part)
		return labflow_part_warm_up(labflow_warm_up, ready_ns);
	for (i = 0; i < lab.n_flows; i++) {
		if (!lab.flows[i]->warm || lab.flows[i]->on_id)
			continue;
		err = labflow_warm_up(lab.flows[i]);
		if (err)
			return err;
	}
	*ready_ns = 0;
	return 0;
}

/*
 * Connect, warm up, choose T0 and arm everything; lab.mutex held.  Returns before T0.  @is_open: it
 * does not end with its flows.
 */
static int labflow_run_start(bool is_open)
{
	struct labflow_flow *flow;
	u64 now_ns, ready_ns;
	int err;
	u32 i;

	if (!lab.n_flows && !is_open) {
		labflow_fail("a run without a flow");
		return -ENOENT;
	}
	lab.is_open = is_open;
	for (i = 0; i < lab.n_flows; i++) {
		flow = lab.flows[i];
		quell_hrtimer_setup(&flow->timer, labflow_start_timer, CLOCK_MONOTONIC,
				    HRTIMER_MODE_ABS_SOFT);
		INIT_WORK(&flow->connect_work, labflow_connect_work);
		quell_hrtimer_setup(&flow->stop_timer, labflow_stop_timer, CLOCK_MONOTONIC,
				    HRTIMER_MODE_ABS_SOFT);
		INIT_WORK(&flow->stop_work, labflow_stop_work);
	}
	err = labflow_message_resolve();
	if (err)
		return err;
	err = labflow_after_resolve();
	if (err)
		return err;
	err = labflow_prepare_all(&ready_ns);
	if (err)
		return err;

	err = labflow_hold_start();
	if (err)
		return err;
	now_ns = max(ktime_get_ns(), ready_ns);
	lab.t0_ns = roundup_u64(now_ns + 2 * TICK_NSEC, LABFLOW_T0_STEP_NS);
	lab.n_done = 0;
	lab.state = LABFLOW_RUNNING;
	labflow_sample_start();
	err = labflow_truth_start();
	if (err)
		return err;
	for (i = 0; i < lab.n_flows; i++) {
		flow = lab.flows[i];
		if (!flow->is_sender && !flow->is_receiver)
			continue;
		if (!flow->after_id)
			hrtimer_start(&flow->timer, ns_to_ktime(lab.t0_ns + flow->start_ns),
				      HRTIMER_MODE_ABS_SOFT);
		if (flow->stop_ns && flow->is_sender)
			hrtimer_start(&flow->stop_timer,
				      ns_to_ktime(lab.t0_ns + flow->stop_ns + lab.known_ns),
				      HRTIMER_MODE_ABS_SOFT);
	}
	if (lab.until_ns)
		hrtimer_start(&lab.until_timer, ns_to_ktime(lab.t0_ns + lab.until_ns),
			      HRTIMER_MODE_ABS_SOFT);
	return 0;
}

/* Stop all timers and close all sockets.  lab.mutex held. */
static void labflow_run_stop(void)
{
	u32 i;

	labflow_finish(LABFLOW_TIMEOUT);
	labflow_part_leave();
	hrtimer_cancel(&lab.until_timer);
	labflow_truth_stop();
	labflow_sample_stop();
	for (i = 0; i < lab.n_flows; i++) {
		struct labflow_flow *flow = lab.flows[i];

		if (!flow->timer.function)
			continue;
		hrtimer_cancel(&flow->timer);
		cancel_work_sync(&flow->connect_work);
		hrtimer_cancel(&flow->stop_timer);
		cancel_work_sync(&flow->stop_work);
	}
	labflow_sock_close_all();
}

/* Prepare the timer that all runs share. */
static void labflow_run_init(void)
{
	quell_hrtimer_setup(&lab.until_timer, labflow_until_timer, CLOCK_MONOTONIC,
			    HRTIMER_MODE_ABS_SOFT);
}

#define LABFLOW_LINE_MAX	256
#define LABFLOW_WATCHES_MAX	65536

static struct dentry *labflow_dir;

static const char * const labflow_state_names[] = {
	[LABFLOW_IDLE]		= "idle",
	[LABFLOW_RUNNING]	= "running",
	[LABFLOW_DONE]		= "done",
	[LABFLOW_TIMEOUT]	= "timeout",
	[LABFLOW_FAILED]	= "failed",
};

/* Make room for one more pointer; arrays grow by doubling. */
static int labflow_grow(void ***array, u32 count)
{
	void **bigger;

	if (count & (count - 1))
		return 0;
	bigger = kvcalloc(count ? 2 * count : 1, sizeof(*bigger), GFP_KERNEL);
	if (!bigger)
		return -ENOMEM;
	if (count)
		memcpy(bigger, *array, count * sizeof(*bigger));
	kvfree(*array);
	*array = bigger;
	return 0;
}

static void labflow_flow_free(struct labflow_flow *flow)
{
	if (flow->src_net)
		put_net(flow->src_net);
	if (flow->dst_net)
		put_net(flow->dst_net);
	kvfree(flow->sent);
	kfree(flow);
}

static int labflow_flow_nets(struct labflow_flow *flow, int src_fd, int dst_fd)
{
	struct net *net = get_net_ns_by_fd(src_fd);

	if (IS_ERR(net))
		return PTR_ERR(net);
	flow->src_net = net;
	net = get_net_ns_by_fd(dst_fd);
	if (IS_ERR(net))
		return PTR_ERR(net);
	flow->dst_net = net;
	/* Of a network in parts, - stands for a host in another one. */
	flow->is_sender = !lab.is_part || flow->src_net != &init_net;
	flow->is_receiver = !lab.is_part || flow->dst_net != &init_net;
	return 0;
}

static bool labflow_set_daddr(struct labflow_flow *flow, const char *addr, u16 port)
{
	union labflow_addr *to = &flow->daddr;

	if (in4_pton(addr, -1, (u8 *)&to->in4.sin_addr, -1, NULL)) {
		to->in4.sin_family = AF_INET;
		to->in4.sin_port = htons(port);
		return true;
	}
	to->in6.sin6_family = AF_INET6;
	to->in6.sin6_port = htons(port);
	return in6_pton(addr, -1, to->in6.sin6_addr.s6_addr, -1, NULL);
}

static int labflow_cmd_flow(const char *args)
{
	struct labflow_flow *flow;
	int src_fd, dst_fd, err;
	char addr[46], temp[5];
	unsigned int dport, dscp;

	if (lab.n_flows >= LABFLOW_FLOWS_MAX)
		return -E2BIG;
	flow = kzalloc(sizeof(*flow), GFP_KERNEL);
	if (!flow)
		return -ENOMEM;
	err = -EINVAL;
	if (sscanf(args, "%u %d %d %45s %u %llu %llu %4s %llu %u %u %u %u %u", &flow->id, &src_fd,
		   &dst_fd, addr, &dport, &flow->bytes, &flow->start_ns,
		   temp, &flow->stop_ns, &dscp, &flow->after_id, &flow->on_id,
		   &flow->queued_bytes, &flow->wake_ns) != 14)
		goto free_flow;
	if (!labflow_set_daddr(flow, addr, dport) || !dport ||
	    dport >= LABFLOW_SPORT_BASE || !flow->bytes)
		goto free_flow;
	if (strcmp(temp, "warm") && strcmp(temp, "cold"))
		goto free_flow;
	if (flow->stop_ns && (flow->after_id || flow->stop_ns <= flow->start_ns))
		goto free_flow;
	if (dscp > INET_DSCP_MASK >> LABFLOW_DSCP_SHIFT)
		goto free_flow;
	flow->dscp = dscp;
	flow->warm = temp[0] == 'w';
	flow->dport = dport;
	flow->index = lab.n_flows;
	err = labflow_flow_nets(flow, src_fd, dst_fd);
	if (err)
		goto free_flow;
	err = labflow_grow((void ***)&lab.flows, lab.n_flows);
	if (err)
		goto free_flow;
	lab.flows[lab.n_flows++] = flow;
	return 0;

free_flow:
	labflow_flow_free(flow);
	return err;
}

static int labflow_cmd_watch(const char *args)
{
	char node[64], name[IFNAMSIZ];
	struct labflow_watch *watch;
	struct net *net;
	int fd, err;

	if (sscanf(args, "%d %63s %15s", &fd, node, name) != 3)
		return -EINVAL;
	if (lab.n_watches >= LABFLOW_WATCHES_MAX)
		return -E2BIG;
	net = get_net_ns_by_fd(fd);
	if (IS_ERR(net))
		return PTR_ERR(net);
	watch = kzalloc(sizeof(*watch), GFP_KERNEL);
	err = watch ? labflow_grow((void ***)&lab.watches, lab.n_watches) : -ENOMEM;
	if (err)
		goto free_watch;
	err = -ENODEV;
	watch->dev = netdev_get_by_name(net, name, &watch->tracker, GFP_KERNEL);
	if (!watch->dev)
		goto free_watch;
	snprintf(watch->label, sizeof(watch->label), "%s %s", node, name);
	lab.watches[lab.n_watches++] = watch;
	put_net(net);
	return 0;

free_watch:
	kfree(watch);
	put_net(net);
	return err;
}

static int labflow_cmd_sample(const char *args)
{
	u64 queue_ns, flow_ns, delivered_ns;

	if (sscanf(args, "%llu %llu %llu", &queue_ns, &flow_ns,
		   &delivered_ns) != 3)
		return -EINVAL;
	lab.queue.interval_ns = queue_ns;
	lab.cwnd.interval_ns = flow_ns;
	lab.delivered.interval_ns = delivered_ns;
	return 0;
}

static int labflow_cmd_truth(const char *args)
{
	lab.want_truth = true;
	return 0;
}

/* step NETNS-FD DEV AT STEP */
static int labflow_cmd_step(const char *args)
{
	char name[IFNAMSIZ];
	struct net *net;
	int fd;

	if (lab.step.dev)
		return -EEXIST;
	if (sscanf(args, "%d %15s %llu %lld", &fd, name, &lab.step.at_ns,
		   &lab.step.step_ns) != 4)
		return -EINVAL;
	net = get_net_ns_by_fd(fd);
	if (IS_ERR(net))
		return PTR_ERR(net);
	lab.step.dev = netdev_get_by_name(net, name, &lab.step.tracker, GFP_KERNEL);
	put_net(net);
	return lab.step.dev ? 0 : -ENODEV;
}

static int labflow_cmd_finish(const char *args)
{
	labflow_finish(LABFLOW_DONE);
	return 0;
}

static int labflow_cmd_run(const char *args)
{
	return labflow_run_start(!strcmp(args, "open"));
}

static int labflow_cmd_until(const char *args)
{
	return kstrtou64(args, 0, &lab.until_ns);
}

static void labflow_clear(void)
{
	u32 i;

	labflow_run_stop();
	for (i = 0; i < lab.n_flows; i++)
		labflow_flow_free(lab.flows[i]);
	kvfree(lab.flows);
	for (i = 0; i < lab.n_watches; i++) {
		netdev_put(lab.watches[i]->dev, &lab.watches[i]->tracker);
		kfree(lab.watches[i]);
	}
	kvfree(lab.watches);
	labflow_sample_reset();
	labflow_truth_reset();
	lab.flows = NULL;
	lab.n_flows = 0;
	lab.watches = NULL;
	lab.n_watches = 0;
	lab.until_ns = 0;
	lab.error[0] = '\0';
	lab.state = LABFLOW_IDLE;
}

static int labflow_cmd_stop(const char *args)
{
	labflow_run_stop();
	return 0;
}

/* Returns when the network of a part has stopped. */
static int labflow_cmd_wait(const char *args)
{
	return labflow_part_wait();
}

static int labflow_cmd_clear(const char *args)
{
	labflow_clear();
	return 0;
}

static const struct {
	const char *name;
	bool idle_only;
	int (*handler)(const char *args);
} labflow_commands[] = {
	{ "flow",	true,	labflow_cmd_flow },
	{ "watch",	true,	labflow_cmd_watch },
	{ "sample",	true,	labflow_cmd_sample },
	{ "truth",	true,	labflow_cmd_truth },
	{ "step",	true,	labflow_cmd_step },
	{ "until",	true,	labflow_cmd_until },
	{ "run",	true,	labflow_cmd_run },
	{ "finish",	false,	labflow_cmd_finish },
	{ "stop",	false,	labflow_cmd_stop },
	{ "wait",	false,	labflow_cmd_wait },
	{ "clear",	false,	labflow_cmd_clear },
};

static int labflow_command(char *line)
{
	char *name = strsep(&line, " ");
	int i;

	for (i = 0; i < ARRAY_SIZE(labflow_commands); i++) {
		if (strcmp(name, labflow_commands[i].name))
			continue;
		if (labflow_commands[i].idle_only && lab.state != LABFLOW_IDLE)
			return -EBUSY;
		return labflow_commands[i].handler(line ?: "");
	}
	return -EINVAL;
}

static ssize_t labflow_control_write(struct file *file, const char __user *from,
				     size_t count, loff_t *pos)
{
	char line[LABFLOW_LINE_MAX];
	int err;

	if (!count || count >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, from, count))
		return -EFAULT;
	line[count] = '\0';
	mutex_lock(&lab.mutex);
	err = labflow_command(strim(line));
	mutex_unlock(&lab.mutex);
	return err ?: count;
}

static const struct file_operations labflow_control_fops = {
	.owner	= THIS_MODULE,
	.write	= labflow_control_write,
};

static int labflow_state_show(struct seq_file *seq, void *unused)
{
	seq_printf(seq, "%s %llu %llu %llu %u %u\n%s\n",
		   labflow_state_names[lab.state], lab.t0_ns, ktime_get_ns(),
		   lab.end_ns, lab.n_done, lab.n_flows, lab.error);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(labflow_state);

static int labflow_queue_show(struct seq_file *seq, void *v)
{
	const struct labflow_queue_row *row = v;

	seq_printf(seq, "%s %llu %u\n", lab.watches[row->watch]->label,
		   row->time_ns, row->backlog_bytes);
	return 0;
}

static int labflow_cwnd_show(struct seq_file *seq, void *v)
{
	const struct labflow_cwnd_row *row = v;

	seq_printf(seq, "%u %llu %llu %llu %llu %u\n", lab.flows[row->flow]->id,
		   row->time_ns, row->cwnd_bytes, row->pacing_bytes_ps,
		   row->rtt_ns, row->hop);
	return 0;
}

static int labflow_dart_show(struct seq_file *seq, void *v)
{
	const struct labflow_dart_row *row = v;

	seq_printf(seq, "%u %llu ", lab.flows[row->flow]->id, row->time_ns);
	if (row->end != LABFLOW_DART_SENDER)
		seq_printf(seq, "%u %u ", row->value.state, row->value.counted_q8);
	else
		seq_puts(seq, "- - ");
	if (row->end != LABFLOW_DART_RECEIVER && row->value.is_sending)
		seq_printf(seq, "%u %u\n", row->value.reported_q8, row->value.limiter);
	else
		seq_puts(seq, "- -\n");
	return 0;
}

static int labflow_pause_show(struct seq_file *seq, void *v)
{
	const struct labflow_pause_row *row = v;

	seq_printf(seq, "%s %llu %u %u\n", row->port, row->time_ns, row->priority, row->paused);
	return 0;
}

static int labflow_truth_show(struct seq_file *seq, void *v)
{
	const struct labflow_truth_row *row = v;

	seq_printf(seq, "%u %llu %u %llu %llu %llu %llu\n", lab.flows[row->flow]->id,
		   row->time_ns, row->clock, row->rtt_ns, row->hold_ns,
		   row->true_rtt_ns, row->true_hold_ns);
	return 0;
}

static int labflow_delivered_show(struct seq_file *seq, void *v)
{
	const struct labflow_delivered_row *row = v;

	seq_printf(seq, "%u %llu %llu\n", lab.flows[row->flow]->id, row->time_ns,
		   row->bytes);
	return 0;
}

static int labflow_flows_show(struct seq_file *seq, void *v)
{
	const struct labflow_flow *flow = v;
	const struct labflow_flow *connection = flow->connection ?: flow;
	u32 retrans_segs = 0, segs_out = 0;

	if (flow->sock && flow->started) {
		const struct tcp_sock *tp = tcp_sk(flow->sock->sk);

		retrans_segs = tp->total_retrans - flow->base_retrans_segs;
		segs_out = tp->segs_out - flow->base_segs_out;
	}
	seq_printf(seq, "%u %lld %lld %llu %llu %u %u\n", flow->id,
		   flow->after_id && !flow->is_due ? -1LL : (s64)flow->start_ns,
		   flow->end_ns ? (s64)(flow->end_ns - lab.t0_ns) : -1LL,
		   labflow_message_part(flow, connection->pushed_bytes),
		   labflow_message_part(flow, connection->delivered_bytes),
		   retrans_segs, segs_out);
	return 0;
}

/* A results file. */
static const struct labflow_table {
	const char		*name;	/* its name in debugfs */
	int			(*show)(struct seq_file *seq, void *row);
	struct labflow_rows	*rows;	/* its samples; NULL: a row per flow */
} labflow_tables[] = {
	{ "flows",	labflow_flows_show,	NULL },
	{ "marks",	labflow_marks_show,	NULL },
	{ "governed",	labflow_governed_show,	NULL },
	{ "queues",	labflow_queue_show,	&lab.queue.rows },
	{ "cwnd",	labflow_cwnd_show,	&lab.cwnd.rows },
	{ "delivered",	labflow_delivered_show,	&lab.delivered.rows },
	{ "dart",	labflow_dart_show,	&lab.dart },
	{ "pauses",	labflow_pause_show,	&lab.pauses },
	{ "truth",	labflow_truth_show,	&lab.truth },
};

static void *labflow_seq_row(const struct seq_file *seq, loff_t pos)
{
	const struct labflow_table *table = seq->private;

	if (table->rows)
		return (void *)labflow_rows_get(table->rows, pos);
	return pos < lab.n_flows ? lab.flows[pos] : NULL;
}

/* The row number *pos is the only state a seq_file keeps. */
static void *labflow_seq_start(struct seq_file *seq, loff_t *pos)
{
	mutex_lock(&lab.mutex);
	return labflow_seq_row(seq, *pos);
}

static void *labflow_seq_next(struct seq_file *seq, void *row, loff_t *pos)
{
	return labflow_seq_row(seq, ++*pos);
}

static void labflow_seq_stop(struct seq_file *seq, void *row)
{
	mutex_unlock(&lab.mutex);
}

static int labflow_seq_show(struct seq_file *seq, void *row)
{
	const struct labflow_table *table = seq->private;

	return table->show(seq, row);
}

static const struct seq_operations labflow_seq = {
	.start	= labflow_seq_start,
	.next	= labflow_seq_next,
	.stop	= labflow_seq_stop,
	.show	= labflow_seq_show,
};

static int labflow_table_open(struct inode *inode, struct file *file)
{
	int err = seq_open(file, &labflow_seq);

	if (!err)
		((struct seq_file *)file->private_data)->private = inode->i_private;
	return err;
}

static const struct file_operations labflow_table_fops = {
	.owner		= THIS_MODULE,
	.open		= labflow_table_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= seq_release,
};

static int __init labflow_module_init(void)
{
	int err, i;

	err = labflow_sock_init();
	if (err)
		return err;
	err = labflow_sample_init();
	if (err) {
		labflow_sock_exit();
		return err;
	}
	err = labflow_truth_init();
	if (err) {
		labflow_sample_exit();
		labflow_sock_exit();
		return err;
	}
	labflow_run_init();
	labflow_part_init();
	labflow_dir = debugfs_create_dir("quell_labflow", NULL);
	debugfs_create_file("control", 0200, labflow_dir, NULL,
			    &labflow_control_fops);
	debugfs_create_file("state", 0400, labflow_dir, NULL,
			    &labflow_state_fops);
	for (i = 0; i < ARRAY_SIZE(labflow_tables); i++)
		debugfs_create_file(labflow_tables[i].name, 0400, labflow_dir,
				    (void *)&labflow_tables[i],
				    &labflow_table_fops);
	return 0;
}
module_init(labflow_module_init);

static void __exit labflow_module_exit(void)
{
	debugfs_remove(labflow_dir);
	labflow_clear();
	labflow_truth_exit();
	labflow_sample_exit();
	labflow_sock_exit();
}
module_exit(labflow_module_exit);

MODULE_DESCRIPTION("Flow generator of the Quell laboratory");
MODULE_AUTHOR("The Quell authors");
MODULE_LICENSE("GPL");

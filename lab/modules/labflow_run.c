// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labflow: the course of a run.
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
#include <linux/kthread.h>
#include <linux/slab.h>
#include <net/inet_connection_sock.h>
#include <net/tcp.h>

#include <compat/hrtimer.h>

#include "labflow.h"

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
int labflow_run_start(bool is_open)
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
void labflow_run_stop(void)
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
void labflow_run_init(void)
{
	quell_hrtimer_setup(&lab.until_timer, labflow_until_timer, CLOCK_MONOTONIC,
			    HRTIMER_MODE_ABS_SOFT);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labflow: flows of a network in parts (labnic_part.h).
 *
 * All parts have all flows in the order of the plan, so that a flow has its ports whichever part it
 * is in; of each a part makes the socket of the sender, of the receiver, of both or of neither.
 * The receiver's part has the sender's times of start, and knows the end.
 *
 * All parts warm up the next flow, or end the run, at one time: some time after all can know of the
 * cause, the same for any number of parts.  The tables are read after the network
 * was stopped, for each part reads for another time.
 */
#include <linux/hrtimer.h>
#include <linux/wait.h>

#include <compat/hrtimer.h>

#include "labflow.h"
#include "labnic_part.h"

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
void labflow_part_flow_done(const struct labflow_flow *flow)
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
bool labflow_part_is_stopped(const struct labflow_flow *flow)
{
	return lab.is_part && flow->stop_ns && ktime_get_ns() >= lab.t0_ns + flow->stop_ns;
}

/* The run ends in this ns, in all parts. */
void labflow_part_finished(void)
{
	if (lab.is_part)
		hrtimer_start(&freeze_timer, ktime_add_ns(ktime_get(), PART_SETTLE_NS),
			      HRTIMER_MODE_ABS_SOFT);
}

void labflow_part_leave(void)
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
int labflow_part_wait(void)
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
int labflow_part_warm_up(int (*warm_up)(struct labflow_flow *flow), u64 *ready_ns)
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
void labflow_part_init(void)
{
	lab.is_part = quell_part_is_on();
	lab.known_ns = quell_part_known_ns();
	quell_hrtimer_setup(&finish_timer, part_finish_timer, CLOCK_MONOTONIC,
			    HRTIMER_MODE_ABS_SOFT);
	quell_hrtimer_setup(&freeze_timer, part_freeze_timer, CLOCK_MONOTONIC,
			    HRTIMER_MODE_ABS_SOFT);
}

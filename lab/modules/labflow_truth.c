// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labflow: round-trip times as quell.ko takes them, beside the truth.
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
#include <linux/hash.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <net/tcp.h>

#include <compat/hrtimer.h>

#include "labflow.h"
#include "labnic_part.h"
#include "labnic_tap.h"

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

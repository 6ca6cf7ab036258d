// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labflow: the governor of Dart's flows.
 *
 * With each sample of the windows: the state and n of the interface by which a flow's data
 * is received, n as its sender received it, and the sender's limit.  quell.ko has the first
 * three; the limit is computed from the sender's rate by the core's arithmetic.
 */
#include <linux/gfp.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <net/tcp.h>
#include <quell/core/dart/react.h>
#include <quell/quell.h>

#include "dart/dart.h"
#include "labflow.h"

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
void labflow_dart_sample(u64 now_ns)
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
void labflow_dart_reset(void)
{
	labflow_rows_reset(&lab.dart);
}

/* 0 or -ENOMEM. */
int labflow_dart_init(void)
{
	return labflow_rows_init(&lab.dart, sizeof(struct labflow_dart_row));
}

void labflow_dart_exit(void)
{
	labflow_dart_reset();
	kvfree(lab.dart.chunks);
}

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

#include "labflow.h"

typedef bool (*labflow_dasr_fn)(const struct sock *sk, struct quell_dasr_view *out);
static labflow_dasr_fn dasr_fn;

/* The limit of a sender; its rate is unlimited before the first acknowledgment. */
static enum labflow_limiter dart_limiter(const struct sock *sk,
					 const struct quell_dasr_view *view)
{
	struct quell_snapshot snapshot;
	u64 share_bytes_ps;

	if (!view->line_bytes_ps || !labflow_snapshot(sk, &snapshot))
		return LABFLOW_LINE;
	share_bytes_ps = view->line_bytes_ps;
	if (view->reported_q8 > QUELL_SHARE_ONE_Q8)
		share_bytes_ps = quell_share_bytes_ps(share_bytes_ps, view->reported_q8);
	share_bytes_ps = quell_dart_payload_bytes_ps(share_bytes_ps, tcp_sk(sk)->mss_cache,
						     quell_header_bytes(sk));
	if (snapshot.pacing_bytes_ps < share_bytes_ps)
		return LABFLOW_DCQCN;
	return view->reported_q8 > QUELL_SHARE_ONE_Q8 ? LABFLOW_N : LABFLOW_LINE;
}

static bool dart_read(const struct labflow_flow *flow, struct labflow_dart *out)
{
	const struct sock *sk = flow->sock->sk;
	struct quell_dasr_view sender, receiver;

	/* The receiver may run another algorithm: nobody counts then. */
	if (!dasr_fn(sk, &sender))
		return false;
	memset(out, 0, sizeof(*out));
	out->reported_q8 = sender.reported_q8;
	out->limiter = dart_limiter(sk, &sender);
	if (flow->receiver && dasr_fn(flow->receiver, &receiver)) {
		out->counted_q8 = receiver.counted_q8;
		out->state = receiver.state;
	}
	return true;
}

/* Write a row for each flow of Dart that differs from its last. */
void labflow_dart_sample(u64 now_ns)
{
	struct labflow_dart_row *row;
	struct labflow_dart value;
	u32 i;

	if (!dasr_fn)
		return;
	for (i = 0; i < lab.n_flows; i++) {
		struct labflow_flow *flow = lab.flows[i];

		if (flow->connection != flow || labflow_is_quiet(flow) || flow->stopped ||
		    !dart_read(flow, &value))
			continue;
		if (flow->has_dart && !memcmp(&value, &flow->last_dart, sizeof(value)))
			continue;
		row = labflow_rows_add(&lab.dart, "dart");
		if (!row)
			return;
		row->time_ns = now_ns - lab.t0_ns;
		row->flow = flow->index;
		row->value = value;
		flow->last_dart = value;
		flow->has_dart = true;
	}
}

void labflow_dart_start(void)
{
	if (!dasr_fn)
		dasr_fn = (labflow_dasr_fn)__symbol_get("quell_sock_dasr");
}

void labflow_dart_stop(void)
{
	if (dasr_fn)
		__symbol_put("quell_sock_dasr");
	dasr_fn = NULL;
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

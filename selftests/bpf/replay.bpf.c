// SPDX-License-Identifier: GPL-2.0
/*
 * Events of an algorithm without a socket, for replay.c: each run of the program performs the
 * event in quell_replay by the function that the congestion control calls.  The compiler reads
 * ebpf/NAME.bpf.c before this file, so that the object is NAME's and this program.
 */
#include "replay.h"

struct quell_replay {
	u64			event;
	QUELL_BPF_PARAMS	params;
	QUELL_BPF_STATS		stats;
	struct quell_bpf_flow	flow;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, u32);
	__type(value, struct quell_replay);
} quell_replay SEC(".maps");

static __always_inline int replay_core(struct quell_replay *r)
{
	switch (r->event) {
	case REPLAY_CORE_INIT:
		return quell_bpf_init(&r->flow, &r->params, &r->stats);
	case REPLAY_CORE_ACK:
		return quell_bpf_on_ack(&r->flow, &r->params, &r->stats);
	case REPLAY_CORE_LOSS:
		return quell_bpf_on_loss(&r->flow, &r->params, &r->stats);
	case REPLAY_CORE_RTO:
		return quell_bpf_on_rto(&r->flow, &r->params, &r->stats);
	case REPLAY_CORE_IDLE:
		return quell_bpf_on_idle_restart(&r->flow, &r->params, &r->stats);
	case REPLAY_CORE_UNDO:
		return quell_bpf_on_undo(&r->flow, &r->params, &r->stats);
	}
	return 0;
}

SEC("syscall")
int replay(void *ctx)
{
	struct quell_replay *r;
	u32 key = 0;

	r = bpf_map_lookup_elem(&quell_replay, &key);
	if (!r)
		return 0;
	switch (r->event) {
	case REPLAY_INIT:
		return quell_bpf_began(&r->flow, &r->params, &r->stats);
	case REPLAY_ACK:
		return quell_bpf_acked(&r->flow, &r->params, &r->stats);
	case REPLAY_LOSS:
		quell_bpf_lost(&r->flow, &r->params, &r->stats);
		return 1;
	case REPLAY_RTO:
		return quell_bpf_timed_out(&r->flow, &r->params, &r->stats);
	case REPLAY_IDLE:
		return quell_bpf_resumed(&r->flow, &r->params, &r->stats);
	case REPLAY_UNDO:
		return quell_bpf_undone(&r->flow, &r->params, &r->stats);
	case REPLAY_EPISODE:
		quell_bpf_new_episode(&r->flow);
		return 1;
	case REPLAY_REDUCTION:
		return quell_bpf_reduced(&r->flow, &r->params, &r->stats);
	}
	return replay_core(r);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Fields that a congestion control in BPF may not write, for bpf_each.c: a flow over several
 * paths begins with RACK's longest reordering window, which quell.ko sets in these fields
 * (kmod-cc/quell/signal/signal.c).  See Documentation/ebpf.md,
 * "Impossible in BPF".
 */
#include <linux/types.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct sock {
	int		sk_pacing_status;
};

struct tcp_rack {
	__u8		reo_wnd_steps;
};

struct tcp_sock {
	__u32		snd_cwnd;
	__u32		reord_seen;
	struct tcp_rack	rack;
};

struct tcp_congestion_ops {
	char		name[16];
	__u32		(*ssthresh)(struct sock *sk);
	void		(*cong_avoid)(struct sock *sk, __u32 ack, __u32 acked);
	__u32		(*undo_cwnd)(struct sock *sk);
};

#pragma clang attribute pop

char _license[] SEC("license") = "GPL";

SEC("struct_ops/cong_avoid")
void BPF_PROG(any_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
}

SEC("struct_ops/undo_cwnd")
__u32 BPF_PROG(any_undo_cwnd, struct sock *sk)
{
	return ((struct tcp_sock *)sk)->snd_cwnd;
}

/* CASE() - a congestion control that writes a field of the socket in ->ssthresh */
#define CASE(name_, field_)							\
SEC("struct_ops/ssthresh")							\
__u32 BPF_PROG(name_##_ssthresh, struct sock *sk)				\
{										\
	((struct tcp_sock *)sk)->field_ = 10;					\
	return 10;								\
}										\
										\
SEC(".struct_ops")								\
struct tcp_congestion_ops name_ = {						\
	.ssthresh	= (void *)name_##_ssthresh,				\
	.cong_avoid	= (void *)any_cong_avoid,				\
	.undo_cwnd	= (void *)any_undo_cwnd,				\
	.name		= #name_,						\
}

CASE(may_window, snd_cwnd);
CASE(not_reord_seen, reord_seen);
CASE(not_rack, rack.reo_wnd_steps);

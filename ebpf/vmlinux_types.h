/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's types, from vmlinux.h, which "make ebpf" writes; included before any core.
 *
 * libbpf finds fields by their names in the kernel that loads the object, so a field may have
 * moved.  It refuses a struct_ops map with a member that this kernel's struct lacks, used or not,
 * so tcp_congestion_ops is given here with the members used; all kernels from 6.1 on have them.
 */
#ifndef _QUELL_EBPF_VMLINUX_TYPES_H
#define _QUELL_EBPF_VMLINUX_TYPES_H

#define tcp_congestion_ops	tcp_congestion_ops_of_vmlinux
#include "vmlinux.h"
#undef tcp_congestion_ops

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#ifndef NULL
#define NULL		((void *)0)
#endif

#define TCP_CONG_NEEDS_ECN	0x2
#define TCP_CA_NAME_MAX		16

struct tcp_congestion_ops {
	void	(*init)(struct sock *sk);
	void	(*release)(struct sock *sk);
	u32	(*ssthresh)(struct sock *sk);
	void	(*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
	void	(*set_state)(struct sock *sk, u8 new_state);
	void	(*cwnd_event)(struct sock *sk, enum tcp_ca_event event);
	void	(*in_ack_event)(struct sock *sk, u32 flags);
	u32	(*min_tso_segs)(struct sock *sk);
	void	(*cong_control)(struct sock *sk, const struct rate_sample *rs);
	u32	(*undo_cwnd)(struct sock *sk);
	void	(*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	char	name[TCP_CA_NAME_MAX];
	u32	flags;
};

#endif /* _QUELL_EBPF_VMLINUX_TYPES_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's types, from vmlinux.h, which "make ebpf" writes; included before any core.
 *
 * libbpf finds fields by their names in the kernel that loads the object, so a field may have
 * moved.  It refuses a struct_ops map with a member that this kernel's struct lacks, used or not,
 * so tcp_congestion_ops is given here with the members used; all kernels from 6.1 on have them.
 * Nor may a program find fields of its context so: that of sock_ops is user-space API.
 */
#ifndef _QUELL_EBPF_VMLINUX_TYPES_H
#define _QUELL_EBPF_VMLINUX_TYPES_H

#define tcp_congestion_ops	tcp_congestion_ops_of_vmlinux
#define bpf_sock_ops		bpf_sock_ops_of_vmlinux
#include "vmlinux.h"
#undef bpf_sock_ops
#undef tcp_congestion_ops

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

/* Linux 6.2 and newer. */
void *bpf_cast_to_kern_ctx(void *ctx) __ksym __weak;

#ifndef NULL
#define NULL		((void *)0)
#endif

#define SOL_TCP			6
#define TCP_CONG_NEEDS_ECN	0x2
#define TCP_CA_NAME_MAX		16

/* As <linux/bpf.h> has it; @skb_hwtstamp since Linux 6.2. */
struct bpf_sock_ops {
	u32		op;
	u32		args[4];
	u32		family;
	u32		remote_ip4;
	u32		local_ip4;
	u32		remote_ip6[4];
	u32		local_ip6[4];
	u32		remote_port;
	u32		local_port;
	u32		is_fullsock;
	u32		snd_cwnd;
	u32		srtt_us;
	u32		bpf_sock_ops_cb_flags;
	u32		state;
	u32		rtt_min;
	u32		snd_ssthresh;
	u32		rcv_nxt;
	u32		snd_nxt;
	u32		snd_una;
	u32		mss_cache;
	u32		ecn_flags;
	u32		rate_delivered;
	u32		rate_interval_us;
	u32		packets_out;
	u32		retrans_out;
	u32		total_retrans;
	u32		segs_in;
	u32		data_segs_in;
	u32		segs_out;
	u32		data_segs_out;
	u32		lost_out;
	u32		sacked_out;
	u32		sk_txhash;
	u64		bytes_received;
	u64		bytes_acked;
	struct bpf_sock	*sk;
	void		*skb_data;
	void		*skb_data_end;
	u32		skb_len;
	u32		skb_tcp_flags;
	u64		skb_hwtstamp;
};

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

// SPDX-License-Identifier: GPL-2.0
/* TCP congestion control "bpf_toy", of Documentation/tutorial.md. */
#include "vmlinux_types.h"

char _license[] SEC("license") = "GPL";

/* Set when it is loaded: bpf:toy.bpf.o:target_us=30. */
const volatile __u32 target_us = 50;

/* The connection's, in the bytes that TCP keeps for its congestion control. */
struct toy {
	__u32	rtt_us;		/* the newest; 0 not yet known */
	__u32	cut_seq;	/* data sent before the last cut ends here */
};

static struct toy *toy_of(struct sock *sk)
{
	return (struct toy *)((struct inet_connection_sock *)sk)->icsk_ca_priv;
}

SEC("struct_ops/toy_init")
void BPF_PROG(toy_init, struct sock *sk)
{
	struct toy *toy = toy_of(sk);

	toy->rtt_us = 0;
	toy->cut_seq = ((struct tcp_sock *)sk)->snd_una;
}

SEC("struct_ops/toy_pkts_acked")
void BPF_PROG(toy_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	if (sample->rtt_us > 0)
		toy_of(sk)->rtt_us = sample->rtt_us;
}

static void toy_decrease(struct tcp_sock *tp, struct toy *toy)
{
	__u32 left = tp->snd_cwnd - tp->snd_cwnd / 4;

	tp->snd_cwnd = left > 2 ? left : 2;
	tp->snd_ssthresh = tp->snd_cwnd;
	toy->cut_seq = tp->snd_nxt;
}

SEC("struct_ops/toy_cong_avoid")
void BPF_PROG(toy_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct toy *toy = toy_of(sk);

	if (toy->rtt_us > target_us) {
		if ((__s32)(ack - toy->cut_seq) > 0)
			toy_decrease(tp, toy);
	} else if (BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited)) {
		tp->snd_cwnd_cnt += acked;
		if (tp->snd_cwnd < tp->snd_ssthresh || tp->snd_cwnd_cnt >= tp->snd_cwnd) {
			tp->snd_cwnd_cnt = 0;
			tp->snd_cwnd++;
		}
	}
}

SEC("struct_ops/toy_ssthresh")
__u32 BPF_PROG(toy_ssthresh, struct sock *sk)
{
	__u32 half = ((struct tcp_sock *)sk)->snd_cwnd / 2;

	return half > 2 ? half : 2;
}

SEC("struct_ops/toy_undo_cwnd")
__u32 BPF_PROG(toy_undo_cwnd, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;

	return tp->snd_cwnd > tp->prior_cwnd ? tp->snd_cwnd : tp->prior_cwnd;
}

SEC(".struct_ops")
struct tcp_congestion_ops toy = {
	.init		= (void *)toy_init,
	.pkts_acked	= (void *)toy_pkts_acked,
	.cong_avoid	= (void *)toy_cong_avoid,
	.ssthresh	= (void *)toy_ssthresh,
	.undo_cwnd	= (void *)toy_undo_cwnd,
	.name		= "bpf_toy",
};

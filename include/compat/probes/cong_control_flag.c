// SPDX-License-Identifier: GPL-2.0
/* tcp_congestion_ops.cong_control(sk, ack, flag, rs) */
#include <net/tcp.h>

static void probe(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
}

struct tcp_congestion_ops quell_probe = { .cong_control = probe };

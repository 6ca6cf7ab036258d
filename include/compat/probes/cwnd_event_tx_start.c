// SPDX-License-Identifier: GPL-2.0
/* tcp_congestion_ops.cwnd_event_tx_start(sk) */
#include <net/tcp.h>

static void probe(struct sock *sk)
{
}

struct tcp_congestion_ops quell_probe = { .cwnd_event_tx_start = probe };

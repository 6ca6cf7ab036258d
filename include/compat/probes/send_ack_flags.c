// SPDX-License-Identifier: GPL-2.0
/* __tcp_send_ack(sk, rcv_nxt, flags) */
#include <net/tcp.h>

void quell_probe(struct sock *sk);

void quell_probe(struct sock *sk)
{
	__tcp_send_ack(sk, tcp_sk(sk)->rcv_nxt, 0);
}

// SPDX-License-Identifier: GPL-2.0
/* psp_sk_overhead(sk) */
#include <net/psp.h>

unsigned int quell_probe(const struct sock *sk);
unsigned int quell_probe(const struct sock *sk)
{
	return psp_sk_overhead(sk);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * TCP congestion control "hpcc_vaisf", part of tcp_hpcc.ko: registers the core in
 * quell/core/hpcc_vaisf/react.h, where the algorithm is described.  A file of its own, for in one
 * the compiler shares what the two cores have in common instead of inlining it.
 */
#include <linux/module.h>
#include <quell/core/hpcc_vaisf/core.h>
#include <quell/quell.h>
#include "tcp_hpcc.h"

QUELL_ALGO(hpcc_vaisf);

int __init hpcc_vaisf_register(void)
{
	return quell_algo_register(&hpcc_vaisf_algo);
}

void hpcc_vaisf_unregister(void)
{
	quell_algo_unregister(&hpcc_vaisf_algo);
}

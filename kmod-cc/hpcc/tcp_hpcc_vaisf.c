// SPDX-License-Identifier: GPL-2.0
/*
 * TCP congestion control "hpcc_vaisf", part of tcp_hpcc.ko: registers the core in
 * quell/core/hpcc_vaisf/react.h, where the algorithm is described.  It has a file of its own:
 * in one file the compiler would share the common code of the two cores, not inline it.
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

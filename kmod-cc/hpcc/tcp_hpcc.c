// SPDX-License-Identifier: GPL-2.0
/*
 * TCP congestion control "hpcc": registers the core in
 * quell/core/hpcc/react.h, where the algorithm is described.
 */
#include <linux/module.h>
#include <quell/core/hpcc/core.h>
#include <quell/quell.h>
#include <quell/version.h>

QUELL_ALGO_MODULE_PAIR(hpcc, hpcc_vaisf);

MODULE_AUTHOR("The Quell authors");
MODULE_DESCRIPTION("TCP HPCC: congestion control by the load that switches report");
MODULE_LICENSE("GPL");
MODULE_VERSION(QUELL_VERSION);
/* Name under which the kernel loads the module for hpcc_vaisf. */
MODULE_ALIAS("tcp_hpcc_vaisf");

// SPDX-License-Identifier: GPL-2.0
/*
 * TCP congestion control "hpcc_vaisf", part of tcp_hpcc.ko: registers the core in
 * quell/core/hpcc_vaisf/react.h, where the algorithm is described.
 */
#include <linux/module.h>
#include <quell/core/hpcc_vaisf/core.h>
#include <quell/quell.h>

QUELL_ALGO(hpcc_vaisf);

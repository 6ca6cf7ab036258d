// SPDX-License-Identifier: GPL-2.0
/*
 * TCP congestion control "dcqcn": registers the core in quell/core/dcqcn/react.h, where the
 * algorithm is described.
 */
#include <linux/module.h>
#include <quell/core/dcqcn/core.h>
#include <quell/quell.h>
#include <quell/version.h>

QUELL_ALGO_MODULE(dcqcn);

MODULE_AUTHOR("The Quell authors");
MODULE_DESCRIPTION("TCP DCQCN: rate control by ECN marks");
MODULE_LICENSE("GPL");
MODULE_VERSION(QUELL_VERSION);

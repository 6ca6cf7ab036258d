// SPDX-License-Identifier: GPL-2.0
/*
 * TCP congestion control "timely": registers the core in quell/core/timely/react.h, where the
 * algorithm is described.
 */
#include <linux/module.h>
#include <quell/core/timely/core.h>
#include <quell/quell.h>
#include <quell/version.h>

QUELL_ALGO_MODULE(timely);

MODULE_AUTHOR("The Quell authors");
MODULE_DESCRIPTION("TCP TIMELY: congestion control by delay gradient");
MODULE_LICENSE("GPL");
MODULE_VERSION(QUELL_VERSION);

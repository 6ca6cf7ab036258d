// SPDX-License-Identifier: GPL-2.0
/*
 * TCP congestion control "smartt": registers the core in quell/core/smartt/react.h, where the
 * algorithm is described.
 */
#include <linux/module.h>
#include <quell/core/smartt/core.h>
#include <quell/quell.h>
#include <quell/version.h>

QUELL_ALGO_MODULE(smartt);

MODULE_AUTHOR("The Quell authors");
MODULE_DESCRIPTION("TCP SMaRTT: congestion control by delay and marks");
MODULE_LICENSE("GPL");
MODULE_VERSION(QUELL_VERSION);

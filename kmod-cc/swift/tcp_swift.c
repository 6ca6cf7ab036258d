// SPDX-License-Identifier: GPL-2.0
/*
 * TCP congestion control "swift": registers the cores in
 * quell/core/swift/react.h and quell/core/swift/split.h, where the algorithm is described.
 */
#include <linux/module.h>
#include <quell/core/swift/core.h>
#include <quell/quell.h>
#include <quell/version.h>

QUELL_ALGO_MODULE_PAIR(swift, swift_vaisf);

MODULE_AUTHOR("The Quell authors");
MODULE_DESCRIPTION("TCP Swift: congestion control by target delay");
MODULE_LICENSE("GPL");
MODULE_VERSION(QUELL_VERSION);
/* Name under which the kernel loads the module for swift_vaisf. */
MODULE_ALIAS("tcp_swift_vaisf");

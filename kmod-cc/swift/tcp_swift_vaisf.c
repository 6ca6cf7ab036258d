// SPDX-License-Identifier: GPL-2.0
/*
 * TCP congestion control "swift_vaisf", part of tcp_swift.ko: registers the core in
 * quell/core/swift_vaisf/react.h, where the algorithm is described.
 */
#include <linux/module.h>
#include <quell/core/swift_vaisf/core.h>
#include <quell/quell.h>

QUELL_ALGO(swift_vaisf);

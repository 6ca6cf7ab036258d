// SPDX-License-Identifier: GPL-2.0
/*
 * TCP congestion control "swift_vaisf", part of tcp_swift.ko: registers the core in
 * quell/core/swift_vaisf/react.h, where the algorithm is described.  It has a file of its own:
 * in one file the compiler would share the common code of the two cores, not inline it.
 */
#include <linux/module.h>
#include <quell/core/swift_vaisf/core.h>
#include <quell/quell.h>
#include "tcp_swift.h"

QUELL_ALGO(swift_vaisf);

int __init swift_vaisf_register(void)
{
	return quell_algo_register(&swift_vaisf_algo);
}

void swift_vaisf_unregister(void)
{
	quell_algo_unregister(&swift_vaisf_algo);
}

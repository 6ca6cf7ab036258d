// SPDX-License-Identifier: GPL-2.0
/*
 * TCP congestion control "swift": registers the cores in
 * quell/core/swift/react.h and quell/core/swift/split.h, where the algorithm is described.
 */
#include <linux/module.h>
#include <quell/core/swift/core.h>
#include <quell/quell.h>
#include <quell/version.h>
#include "tcp_swift.h"

QUELL_ALGO(swift);

static int __init swift_register(void)
{
	int err;

	err = quell_algo_register(&swift_algo);
	if (err)
		return err;
	err = swift_vaisf_register();
	if (err)
		quell_algo_unregister(&swift_algo);
	return err;
}

static void __exit swift_unregister(void)
{
	swift_vaisf_unregister();
	quell_algo_unregister(&swift_algo);
}

module_init(swift_register);
module_exit(swift_unregister);

MODULE_AUTHOR("The Quell authors");
MODULE_DESCRIPTION("TCP Swift: congestion control by target delay");
MODULE_LICENSE("GPL");
MODULE_VERSION(QUELL_VERSION);
/* Name under which the kernel loads the module for swift_vaisf. */
MODULE_ALIAS("tcp_swift_vaisf");

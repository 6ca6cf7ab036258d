// SPDX-License-Identifier: GPL-2.0
/*
 * TCP congestion control "dart": registers the core in quell/core/dart/react.h, where the
 * algorithm is described.
 */
#include <linux/module.h>
#include <quell/core/dart/core.h>
#include <quell/quell.h>
#include <quell/version.h>

QUELL_ALGO(dart);

static int __init dart_register(void)
{
	return quell_algo_register(&dart_algo);
}

static void __exit dart_unregister(void)
{
	quell_algo_unregister(&dart_algo);
}

module_init(dart_register);
module_exit(dart_unregister);

MODULE_AUTHOR("The Quell authors");
MODULE_DESCRIPTION("TCP Dart: the line rate shared by the number of senders");
MODULE_LICENSE("GPL");
MODULE_VERSION(QUELL_VERSION);

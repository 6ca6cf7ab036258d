// SPDX-License-Identifier: GPL-2.0
/*
 * TCP congestion control "smartt": registers the core in quell/core/smartt/react.h, where the
 * algorithm is described.
 */
#include <linux/module.h>
#include <quell/core/smartt/core.h>
#include <quell/quell.h>
#include <quell/version.h>

QUELL_ALGO(smartt);

static int __init smartt_register(void)
{
	return quell_algo_register(&smartt_algo);
}

static void __exit smartt_unregister(void)
{
	quell_algo_unregister(&smartt_algo);
}

module_init(smartt_register);
module_exit(smartt_unregister);

MODULE_AUTHOR("The Quell authors");
MODULE_DESCRIPTION("TCP SMaRTT: congestion control by delay and marks");
MODULE_LICENSE("GPL");
MODULE_VERSION(QUELL_VERSION);

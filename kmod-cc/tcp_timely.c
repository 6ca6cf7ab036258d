// SPDX-License-Identifier: GPL-2.0
/*
 * TCP congestion control "timely": registers the core in quell/core/timely/react.h, where the
 * algorithm is described.
 */
#include <linux/module.h>
#include <quell/core/timely/core.h>
#include <quell/quell.h>
#include <quell/version.h>

QUELL_ALGO(timely);

static int __init timely_register(void)
{
	return quell_algo_register(&timely_algo);
}

static void __exit timely_unregister(void)
{
	quell_algo_unregister(&timely_algo);
}

module_init(timely_register);
module_exit(timely_unregister);

MODULE_AUTHOR("The Quell authors");
MODULE_DESCRIPTION("TCP TIMELY: congestion control by delay gradient");
MODULE_LICENSE("GPL");
MODULE_VERSION(QUELL_VERSION);

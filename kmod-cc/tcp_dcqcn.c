// SPDX-License-Identifier: GPL-2.0
/*
 * TCP congestion control "dcqcn": registers the core in quell/core/dcqcn/react.h, where the
 * algorithm is described.
 */
#include <linux/module.h>
#include <quell/core/dcqcn/core.h>
#include <quell/quell.h>
#include <quell/version.h>

QUELL_ALGO(dcqcn);

static int __init dcqcn_register(void)
{
	return quell_algo_register(&dcqcn_algo);
}

static void __exit dcqcn_unregister(void)
{
	quell_algo_unregister(&dcqcn_algo);
}

module_init(dcqcn_register);
module_exit(dcqcn_unregister);

MODULE_AUTHOR("The Quell authors");
MODULE_DESCRIPTION("TCP DCQCN: rate control by ECN marks");
MODULE_LICENSE("GPL");
MODULE_VERSION(QUELL_VERSION);

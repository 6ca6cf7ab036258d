// SPDX-License-Identifier: GPL-2.0
/* TCP congestion control "toy", of Documentation/tutorial.md. */
#include <linux/module.h>
#include <quell/quell.h>
#include "toy_core.h"

QUELL_ALGO(toy);

static int __init toy_register(void)
{
	return quell_algo_register(&toy_algo);
}

static void __exit toy_unregister(void)
{
	quell_algo_unregister(&toy_algo);
}

module_init(toy_register);
module_exit(toy_unregister);

MODULE_AUTHOR("The Quell authors");
MODULE_DESCRIPTION("TCP toy: the algorithm of the tutorial");
MODULE_LICENSE("GPL");

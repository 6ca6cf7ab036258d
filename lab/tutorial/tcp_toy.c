// SPDX-License-Identifier: GPL-2.0
/* TCP congestion control "toy", of Documentation/tutorial.md. */
#include <linux/module.h>
#include <quell/quell.h>
#include "toy_core.h"

QUELL_ALGO_MODULE(toy);

MODULE_AUTHOR("The Quell authors");
MODULE_DESCRIPTION("TCP toy: the algorithm of the tutorial");
MODULE_LICENSE("GPL");

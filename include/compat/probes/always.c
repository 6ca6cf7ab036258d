// SPDX-License-Identifier: GPL-2.0
/* Compiles everywhere: distinguishes an unusable kernel tree from a missing feature. */
#include <linux/module.h>

MODULE_LICENSE("GPL");

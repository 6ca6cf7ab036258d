// SPDX-License-Identifier: GPL-2.0
/* Compiles everywhere: tells a kernel tree that cannot build from a missing feature. */
#include <linux/module.h>

MODULE_LICENSE("GPL");

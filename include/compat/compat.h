/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The oldest kernel version supported, and the results of the compile probes.
 * This is the only version test of the project: all other code
 * tests for a feature (Documentation/compat.md).
 */
#ifndef _QUELL_COMPAT_H
#define _QUELL_COMPAT_H

#include <linux/version.h>
#include <generated-compat/quell_have.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#error "Quell needs Linux 6.1 or newer"
#endif

#endif /* _QUELL_COMPAT_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Operations split by do and dump came with 6.2, and in 6.12 a dump among these that has no policy
 * takes any attribute.  The generated table, of an entry each, is therefore one of the operations
 * that all kernels have; quell_genl_init() merges the two entries of a command.
 */
#ifndef _QUELL_COMPAT_GENL_H
#define _QUELL_COMPAT_GENL_H

#include <net/genetlink.h>

#define genl_split_ops	genl_ops

#endif /* _QUELL_COMPAT_GENL_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory that kernels of user-mode Linux share, by the option iomem=NAME,FILE.  7.3 has it no more.
 */
#ifndef _QUELL_COMPAT_UM_IOMEM_H
#define _QUELL_COMPAT_UM_IOMEM_H

#include <compat/compat.h>

#ifdef QUELL_HAVE_UM_IOMEM
#include <shared/mem_user.h>

static inline void *quell_find_iomem(char *name, unsigned long *bytes)
{
	return (void *)find_iomem(name, bytes);
}
#else
static inline void *quell_find_iomem(char *name, unsigned long *bytes)
{
	return NULL;
}
#endif

#endif /* _QUELL_COMPAT_UM_IOMEM_H */

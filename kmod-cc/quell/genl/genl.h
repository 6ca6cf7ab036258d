/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The netlink family; genl_gen.h has its requests, which the specification names.
 */
#ifndef _QUELL_GENL_H
#define _QUELL_GENL_H

#include <net/genetlink.h>
#include <quell/quell.h>
#include "genl/genl_gen.h"

/* Enough for a reply with forty parameters, each with one line of explanation. */
#define QUELL_REPLY_BYTES	16384

struct quell_dasr_ops;

/* genl.c */
void quell_genl_set_dasr(const struct quell_dasr_ops *ops);
int quell_genl_init(void);
void quell_genl_exit(void);

#endif /* _QUELL_GENL_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * skb_gso_segment() moved from linux/netdevice.h to net/gso.h.  The header
 * itself is the feature, so no probe is needed.
 */
#ifndef _QUELL_COMPAT_NET_GSO_H
#define _QUELL_COMPAT_NET_GSO_H

#include <linux/netdevice.h>
#if __has_include("net/gso.h")
#include <net/gso.h>
#endif

#endif /* _QUELL_COMPAT_NET_GSO_H */

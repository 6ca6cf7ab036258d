/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Formatted error texts came with 6.2.  Before, an extack holds a pointer to a constant, which the
 * kernel measures and copies after the request's handler returned.  quell_extack_fmt() lends one of
 * some static buffers in turn, all texts filled up with blanks to the same length, so that one that
 * is overwritten, as when as many requests fail at the same moment, is as long as it was measured.
 */
#ifndef _QUELL_COMPAT_EXTACK_H
#define _QUELL_COMPAT_EXTACK_H

#include <compat/compat.h>
#include <linux/netlink.h>

#ifdef QUELL_HAVE_EXTACK_FMT
#define quell_extack_fmt(extack, fmt, args...) \
	NL_SET_ERR_MSG_FMT(extack, fmt, ##args)
#else
#define QUELL_EXTACK_BYTES	80

__printf(2, 3) void quell_extack_fmt(struct netlink_ext_ack *extack, const char *fmt, ...);
#endif

/* A constant text and a number; before 6.2 without it, for callers without such a buffer. */
static inline void quell_extack_number(struct netlink_ext_ack *extack, const char *text,
				       int number)
{
#ifdef QUELL_HAVE_EXTACK_FMT
	NL_SET_ERR_MSG_FMT(extack, "%s %d", text, number);
#else
	if (extack)
		extack->_msg = text;
#endif
}

#endif /* _QUELL_COMPAT_EXTACK_H */

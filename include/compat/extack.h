/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Formatted error texts came with 6.2.  Before, an extack holds a pointer to a
 * constant, read after the request's handler returned; quell_extack_buffer()
 * lends one of a few static buffers in turn, so that a text is overwritten
 * only when several requests fail at the same moment.
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

char *quell_extack_buffer(void);

#define quell_extack_fmt(extack, fmt, args...) do {			\
	struct netlink_ext_ack *__extack = (extack);			\
									\
	if (__extack) {							\
		char *__text = quell_extack_buffer();			\
									\
		snprintf(__text, QUELL_EXTACK_BYTES, fmt, ##args);	\
		__extack->_msg = __text;				\
	}								\
} while (0)
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
